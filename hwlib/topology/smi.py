"""Reading `nvidia-smi topo -m`: how the GPUs and NICs of one machine are joined.

Each cell names the farthest thing that two devices have between them: one PCIe bridge (PIX), several (PXB), the
host bridge of a CPU (PHB), the inside of one NUMA node (NODE), the link between sockets (SYS; SOC in old drivers),
or # NVLinks (NV#). The nearest of these is printed, so NVLink hides what PCIe would do. The table gives no rates:
they are arguments here.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Any, NamedTuple

from hwlib.specs.cluster import Level
from hwlib.topology.graph import Topology, finish, new_graph, wire
from hwlib.topology.link_rate import LinkRate, TopologyError, as_rate
from hwlib.topology.pasted import pasted_lines

if TYPE_CHECKING:
    from networkx import DiGraph

NEARER = ("PIX", "PXB", "PHB", "NODE", "SYS")
CODES = ("X", *NEARER, "SOC", "NV#")
MOST_DEVICES = 256  # of a machine
LONGEST = 600  # characters of a sentence on a line, whose names may be anything
MOST_NAMED = 40  # devices in a sentence
MOST_NVLINKS = 18  # ports of one GPU, up to NVLink 5: more than these in a row must share a switch
FENCES = ("```", "~~~")  # around what is pasted into Markdown
_GPU = re.compile(r"GPU[0-9]+")
_NVLINKS = re.compile(r"NV([1-9][0-9]{0,3})")
_COLUMNS = ("CPU Affinity", "NUMA Affinity", "GPU NUMA ID")


@dataclass(frozen=True, repr=False)
class TopoTable:
    """The printed matrix: the relation of each two devices, CPU affinity by GPU, device names of the NICs.

    `unprinted` are the devices whose rows the text lacks: NICs, whose relations are those of their columns, and among
    themselves the nearest that these allow; and GPUs, which `devices` then has not, and `beyond` has what others' rows
    say of them.
    """

    devices: tuple[str, ...]
    relation: Mapping[tuple[str, str], str]
    affinity: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    legend: Mapping[str, str] = field(default_factory=dict)
    unprinted: tuple[str, ...] = ()
    beyond: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def __repr__(self) -> str:
        cells = [["", *self.devices]]
        cells += [[one, *(self.relation[one, other] for other in self.devices)] for one in self.devices]
        width = max(len(cell) for row in cells for cell in row)
        return "\n".join("  ".join(cell.ljust(width) for cell in row).rstrip() for row in cells)

    @property
    def gpus(self) -> tuple[str, ...]:
        return tuple(device for device in self.devices if _GPU.fullmatch(device))

    @property
    def nics(self) -> tuple[str, ...]:
        return tuple(device for device in self.devices if device not in self.gpus)

    def nvlinks(self, one: str, other: str) -> int:
        """How many NVLinks lie between two devices, through a switch or not; 0 for none."""
        match = _NVLINKS.fullmatch(self.relation[one, other])
        return int(match[1]) if match else 0

    def nearest_nics(self, gpu: str) -> tuple[str, ...]:
        """The NICs with the least between them and a GPU: those its traffic should take."""
        distance = {nic: NEARER.index(self.relation[gpu, nic]) for nic in self.nics}
        return tuple(nic for nic in self.nics if distance[nic] == min(distance.values()))


def read_topo(text: str, cut: bool = False) -> TopoTable:
    """The matrix that `nvidia-smi topo -m` printed; prompts before it, and marks before its lines, are skipped.

    The last rows of NICs may be missing, and of a text that is `cut` any last rows and a part of the last that is
    there. Raises TopologyError, with the number of the line and the line, for any other text: an unknown code, a
    row that is missing, too short or named differently, or two cells of one pair that disagree.
    """
    if not isinstance(text, str):
        raise TopologyError(f"nvidia-smi topo -m prints text, got {type(text).__name__}")
    lines = pasted_lines(text)
    if _of_amd(lines):
        raise TopologyError("this is a matrix of rocm-smi or amd-smi, not of nvidia-smi; `gpubook topo` reads it")
    start = next((i for i, line in enumerate(lines) if _is_header(line)), None)
    if start is None:
        first = next((line[:200] for line in lines if line.strip()), "")
        raise TopologyError(f"no header line such as 'GPU0  GPU1  CPU Affinity' in the text; it begins {first!r}")
    header = lines[start]
    columns = [name for name in _COLUMNS if name in header]
    end = min((header.index(name) for name in columns), default=len(header))
    devices = header[:end].split()
    if len(devices) > MOST_DEVICES:
        raise TopologyError(_at(start, header, f"at most {MOST_DEVICES} devices were expected, got {len(devices)}"))
    if twice := [name for name, count in Counter(devices).items() if count > 1]:
        raise TopologyError(_at(start, header, f"{_some(sorted(twice))} stands there twice"))
    rows = _rows(lines, start, devices, columns, cut)
    missing = [name for name in devices if name not in rows]
    may_miss = rows and missing == devices[-len(missing) :] and (cut or not any(map(_GPU.fullmatch, missing)))
    if missing and not may_miss:
        raise TopologyError(_at(start, header, f"no row for {_some(missing)} follows"))
    relation = {(one, other): code for one in rows for other, code in zip(devices, rows[one].cells, strict=True)}
    _check_pairs(relation, rows, lines)
    beyond = {(one, other): code for (one, other), code in relation.items() if _is_gpu_of(missing, other)}
    devices = [name for name in devices if name in rows or not _GPU.fullmatch(name)]
    relation = _completed(relation, devices, [*rows])
    affinity = {name: row.affinity for name, row in rows.items() if row.affinity}
    legend = dict(re.findall(r"^\s+(NIC[0-9]+)\s*:\s*(\S+)\s*$", "\n".join(lines[start:]), re.MULTILINE))
    return TopoTable(tuple(devices), relation, affinity, legend, tuple(missing), beyond)


def _is_gpu_of(missing: Iterable[str], name: str) -> bool:
    return name in missing and _GPU.fullmatch(name) is not None


def _completed(
    relation: dict[tuple[str, str], str], devices: list[str], printed: list[str]
) -> dict[tuple[str, str], str]:
    """The relations of `devices`, with those that only columns have, and of two without rows the nearest that their
    ways to all others allow: in a tree no pair is farther apart than the farther of its ways to a third.
    """
    whole = {(one, other): relation[one, other] for one in printed for other in devices}
    whole |= {(other, one): code for (one, other), code in whole.items()}
    left = [name for name in devices if name not in printed]
    whole |= {(one, other): _least_far(whole, one, other, printed) for one, other in permutations(left, 2)}
    whole |= {(one, one): "X" for one in left}
    return whole


def _least_far(relation: Mapping[tuple[str, str], str], one: str, other: str, printed: list[str]) -> str:
    ways = (max(_far(relation[one, way]), _far(relation[way, other])) for way in printed)
    return NEARER[min(ways, default=len(NEARER) - 1)]


def _far(code: str) -> int:
    return NEARER.index(code) if code in NEARER else 0


class _Row(NamedTuple):
    """A device's row: the number of its line, its cells, and the columns after the matrix."""

    line: int
    cells: list[str]
    affinity: dict[str, str]


def _rows(lines: list[str], start: int, devices: list[str], columns: list[str], cut: bool) -> dict[str, _Row]:
    """The rows that follow the header, by device, up to the legend; of a cut text up to one that is cut."""
    last = max((i for i, line in enumerate(lines) if line.strip()), default=0)
    rows: dict[str, _Row] = {}
    for i in range(start + 1, len(lines)):
        words = lines[i].split()
        if not words or words[0].rstrip(":") in ("Legend", "NIC") or words[0].startswith(FENCES):
            if rows:
                break
            continue
        name, cells, rest = words[0], words[1 : len(devices) + 1], words[len(devices) + 1 :]
        if cut and i == last and (name not in devices or len(cells) < len(devices)):
            break
        if name not in devices and len(rows) == len(devices):
            break
        if name not in devices:
            raise TopologyError(_at(i, lines[i], f"a row of {_some(devices)} was expected"))
        if name in rows:
            raise TopologyError(_at(i, lines[i], f"{name} has a row already"))
        if len(cells) < len(devices):
            raise TopologyError(_at(i, lines[i], f"{len(devices)} cells were expected, there are {len(cells)}"))
        codes = [_code(i, lines[i], cell) for cell in cells]
        rows[name] = _Row(i, codes, _affinity(lines[i], rest, columns) if rest else {})
    return rows


def _check_pairs(relation: Mapping[tuple[str, str], str], rows: Mapping[str, _Row], lines: list[str]) -> None:
    """Every device meets itself at X, and two devices each other in the same way from both sides."""
    for (device, other), code in relation.items():
        i = rows[device].line
        if (code == "X") != (device == other):
            raise TopologyError(_at(i, lines[i], f"X stands where a device meets itself, {device}-{other} is {code}"))
    for (device, other), code in relation.items():
        i = rows[device].line
        if code != relation.get((other, device), code):
            what = f"{device}-{other} is {code}, but {other}-{device} is {relation[other, device]}"
            raise TopologyError(_at(i, lines[i], what))


def _is_header(line: str) -> bool:
    words = line.split()
    return bool(words) and words[0] == "GPU0" and "X" not in words and (len(words) == 1 or words[1] not in CODES)


def _of_amd(lines: Iterable[str]) -> bool:
    return any("two GPUs" in line or line.strip() == "LINK TYPE TABLE:" for line in lines)


def _at(index: int, line: str, what: str) -> str:
    return f"line {index + 1}: {what[:LONGEST]}: {line.strip()[:200]!r}"


def _some(names: list[str]) -> str:
    return ", ".join(names[:MOST_NAMED]) + ", ..." * (len(names) > MOST_NAMED)


def _code(index: int, line: str, cell: str) -> str:
    if cell == "SOC":
        return "SYS"
    if cell in CODES[:-1] or _NVLINKS.fullmatch(cell):
        return cell
    raise TopologyError(_at(index, line, f"{cell[:40]!r} is not a relation; known: {', '.join(CODES)}"))


def _affinity(line: str, rest: list[str], columns: Iterable[str]) -> dict[str, str]:
    """The columns after the matrix; where the text is tabbed, an empty one stays empty."""
    names = list(columns)
    if "\t" in line and len(rest) < len(names):
        rest = [cell.strip() for cell in line.split("\t")]
        rest = [*filter(None, rest[-len(names) - 1 :])] if "" in rest else rest[-len(names) :]
    return dict(zip(names, rest, strict=False))


def parse_nvidia_smi_topo(
    text: str | TopoTable,
    nvlink: Any = "nvlink4",
    pcie: Any = "pcie5-x16",
    nic: Any = "ndr",
    sockets: Any = None,
) -> Topology:
    """The machine behind the table as a graph: GPUs, NICs, PCIe bridges, CPUs, and NVLink or its switch.

    `nvlink` is one link's rate (NVLink 5 carries twice that of 2 to 4), `pcie` that of a device's slot, `nic` the
    line rate of a card, `sockets` that between CPUs (as PCIe, unless said). GPUs that all have the same number
    of links to each other, more than one GPU has ports for, meet in an NVSwitch; else the links are direct. What
    PCIe would be between GPUs joined by NVLink is not printed: it is inferred from their NICs and NUMA nodes. A
    cut of the whole graph counts PCIe beside NVLink; `level_bandwidth` counts NVLink alone.
    """
    table = text if isinstance(text, TopoTable) else read_topo(text)
    slot = as_rate("parse_nvidia_smi_topo: pcie", pcie)
    line = as_rate("parse_nvidia_smi_topo: nic", nic)
    far = as_rate("parse_nvidia_smi_topo: sockets", sockets) if sockets is not None else LinkRate(slot.bandwidth)
    far = far._replace(link=far.link or "between sockets")
    graph = new_graph()
    for i, gpu in enumerate(table.gpus):
        graph.add_node(gpu, kind="gpu", tier=0, place=(i,), **_plain(table.affinity.get(gpu, {})))
    for card in table.nics:
        graph.add_node(card, kind="nic", tier=1, bandwidth=line.bandwidth, device=table.legend.get(card, card))
    levels = _nvlink(graph, table, as_rate("parse_nvidia_smi_topo: nvlink", nvlink))
    _pcie(graph, table, slot, far)
    return finish(f"machine of {len(table.gpus)} GPUs", graph, table.gpus, levels, ["node"])


def _plain(affinity: Mapping[str, str]) -> dict[str, str]:
    return {name.lower().replace(" ", "_"): value for name, value in affinity.items()}


def _nvlink(graph: "DiGraph", table: TopoTable, one: LinkRate) -> list[Level]:
    """Direct links, or a switch for each set of GPUs that share one."""
    levels = []
    for number, members in enumerate(_clusters(table.gpus, lambda a, b: table.nvlinks(a, b) > 0)):
        counts = {table.nvlinks(a, b) for a, b in combinations(members, 2)}
        links = max(counts, default=0)
        if len(counts) == 1 and len(members) > 2 and links * (len(members) - 1) > MOST_NVLINKS:
            switch = f"nvswitch{number}"
            graph.add_node(switch, kind="nvswitch", tier=0, chips=1)
            for gpu in members:
                wire(graph, gpu, switch, one, links)
            if len(members) == len(table.gpus):
                levels = [Level("node", len(members), links * one.bandwidth)]
        else:
            for a, b in combinations(members, 2):
                if table.nvlinks(a, b):
                    wire(graph, a, b, one, table.nvlinks(a, b))
    return levels


def _clusters(devices: Iterable[str], near: Any) -> Iterator[list[str]]:
    """Devices in sets of those that are near each other, directly or by way of others."""
    left = list(devices)
    while left:
        cluster = [left.pop(0)]
        for device in cluster:
            cluster += (more := [other for other in left if near(device, other)])
            left = [other for other in left if other not in more]
        yield cluster


def _pcie(graph: "DiGraph", table: TopoTable, slot: LinkRate, far: LinkRate) -> None:
    """Join the devices by bridges, from the nearest relation to the farthest; each joins what the last left."""
    kinds = {"PIX": "pcie", "PXB": "pcie", "PHB": "cpu", "NODE": "cpu", "SYS": "cpu"}
    parts = {device: [device] for device in table.devices}  # a vertex to what hangs below it
    for level, code in enumerate(NEARER):
        tops = {device: top for top, below in parts.items() for device in below}

        def near(member: str, other: str, level: int = level) -> bool:
            return _distance(table, member, other) <= level

        merged: dict[str, list[str]] = {}
        for number, members in enumerate(_clusters(table.devices, near)):
            below = list(dict.fromkeys(tops[device] for device in members))
            if len(below) == 1:
                merged[below[0]] = members
                continue
            top = f"{code.lower()}{number}"
            graph.add_node(top, kind=kinds[code], tier=1)
            for member in below:
                wire(graph, member, top, far if code == "SYS" else LinkRate(slot.bandwidth, slot.latency, slot.link))
            merged[top] = members
        parts = merged


def _distance(table: TopoTable, one: str, other: str) -> int:
    """The place of a relation among NEARER; that of GPUs on NVLink by NUMA node, where it is printed."""
    code = table.relation[one, other]
    if code in NEARER:
        return NEARER.index(code)
    numa = [table.affinity.get(device, {}) for device in (one, other)]
    same = any(numa[0].get(name) and numa[0].get(name) == numa[1].get(name) for name in _COLUMNS[:2])
    return NEARER.index("NODE" if same else "SYS")
