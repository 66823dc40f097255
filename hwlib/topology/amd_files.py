"""What `amd-smi topology --json` and `rocm-smi --showtopo --json` write, as the tables that they print otherwise.

amd-smi writes a list of GPUs, each with its links (amdsmi_cli/amdsmi_commands.py of ROCm/amdsmi, October 2024), later
releases within `topology`; rocm-smi a pair of devices in each key, upper triangle only (ROCm/rocm_smi_lib).
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hwlib.topology.link_rate import TopologyError

__all__ = ["amd_tables"]

PAIR = re.compile(r"\(topology\) (link type|hops) between drm devices (\d{1,4}) and (\d{1,4})", re.IGNORECASE)
NODE = re.compile(r"card(\d{1,4})")
TITLES = {"link type": "Link Type between two GPUs", "hops": "Hops between two GPUs"}
MOST_GPUS = 1024
WORD = 40  # characters of a cell


def amd_tables(text: str) -> str:
    """The tables of a JSON file of amd-smi or rocm-smi; any other text as it is. Raises TopologyError for a file of
    theirs without links.
    """
    start = text.lstrip("\ufeff \t\r\n")
    if start[:1] not in ("{", "[") or not any(mark in start for mark in ('"link_type"', "DRM devices", "drm devices")):
        return text
    try:
        content = json.loads(start)
    except (ValueError, RecursionError) as error:
        raise TopologyError(f"JSON of amd-smi or rocm-smi was expected: {str(error)[:200]}") from None
    if isinstance(content, Mapping) and isinstance(content.get("topology"), list):
        content = content["topology"]
    lines = [*_of_gpus(content)] if isinstance(content, list) else [*_of_pairs(content)]
    if not lines:
        raise TopologyError("JSON of amd-smi or rocm-smi has the links of each GPU; these were not found")
    return "\n".join(lines)


def _maps(values: Any) -> list[Mapping[str, Any]]:
    return [value for value in values if isinstance(value, Mapping)] if isinstance(values, list) else []


def _of_gpus(content: list[Any]) -> Iterator[str]:
    gpus = _maps(content)[:MOST_GPUS]
    names = [_word(gpu.get("bdf", "")) for gpu in gpus]
    for title, key in (("LINK TYPE TABLE:", "link_type"), ("HOPS TABLE:", "num_hops")):
        rows = [[_word(link.get(key, "N/A")) for link in _maps(gpu.get("links"))[:MOST_GPUS]] for gpu in gpus]
        if any(rows):
            yield from (title, "  ".join(names))
            yield from (f"{name}  {'  '.join(row)}" for name, row in zip(names, rows, strict=True))


def _of_pairs(content: Mapping[str, Any]) -> Iterator[str]:
    system = content.get("system")
    cells: dict[str, dict[tuple[int, int], str]] = {name: {} for name in TITLES}
    for key, value in system.items() if isinstance(system, Mapping) else ():
        if match := PAIR.fullmatch(str(key)[:200]):
            pair = int(match[2]), int(match[3])
            cells[match[1].lower()] |= {pair: _word(value), pair[::-1]: _word(value)}
    devices = sorted({device for pairs in cells.values() for pair in pairs for device in pair})[:MOST_GPUS]
    for name, title in TITLES.items():
        if cells[name]:
            yield from (f"===== {title} =====", "  ".join(f"GPU{device}" for device in devices))
            yield from (_row(device, devices, cells[name]) for device in devices)
    if devices:
        yield "===== Numa Nodes ====="
    for card, values in content.items():
        if (match := NODE.fullmatch(str(card)[:20])) and isinstance(values, Mapping):
            yield f"GPU[{match[1]}] : (Topology) Numa Node: {_word(values.get('(Topology) Numa Node', ''))}"


def _row(device: int, devices: Sequence[int], cells: Mapping[tuple[int, int], str]) -> str:
    return "  ".join([f"GPU{device}", *(cells.get((device, other), "0") for other in devices)])


def _word(value: Any) -> str:
    return "".join(str(value)[:WORD].split()) or "N/A"
