"""Published all-reduces on several nodes: which chip, and what joins the nodes.

A row of kind `allreduce` names both in words ("2x p5.48xlarge (16 H100, EFA 32x100Gb)"), with its nodes or racks
beside them. Sets are named by machine.
"""

import math
import re
from dataclasses import dataclass

from benchmarks.rows.published_row import PublishedRow
from benchmarks.rows.read_keys import ALLREDUCE, unread
from benchmarks.rows.training_step import Unmodelled
from hwlib.calibrated import Timed
from hwlib.calibrated.nccl_expected import known_between
from hwlib.collectives import bus_factor
from hwlib.specs.fitted import TreeConstants

# The first that the words of a row hold. An Amazon instance stands for its chip, and for EFA.
CHIPS = (
    (r"GB300", "gb300-nvl72"),
    (r"GB200", "gb200-nvl72"),
    (r"B300|p6-b300", "b300-sxm"),
    (r"B200|p6-b200", "b200-sxm"),
    (r"H200|p5en?\.", "h200-sxm"),
    (r"H100|p5\.", "h100-sxm"),
    (r"A100", "a100-80gb-sxm"),
    (r"MI355X", "mi355x"),
    (r"MI350X", "mi350x"),
    (r"MI325X", "mi325x"),
    (r"MI300X", "mi300x"),
)
NETWORKS = (
    (r"SHARP", "InfiniBand SHARP"),
    (r"EFA|\bp[4-6][a-z]*[-.]", "EFA"),
    (r"NVLSTree|InfiniBand|\bIB\b", "NVLSTree"),
    (r"Ethernet|RoCE|AINIC|Pollara", "Ethernet"),
)
EIGHT = 8  # GPUs of the nodes that were timed in pairs
NO_CONSTANTS = "system and network without constants:"
LARGE = 2**26  # bytes from which on bandwidth counts more than latency: reported apart


@dataclass(frozen=True)
class NodesAllReduce:
    """A timed all-reduce on several nodes, and what joins these: see `hwlib.calibrated.nccl_expected.known_between`."""

    chip: str
    network: str
    timed: Timed


def allreduce_case(row: PublishedRow, network: str = "") -> NodesAllReduce | Unmodelled:
    """What a row measured, or why no model speaks about it: another operation, an unknown machine, odd nodes.

    The words of its system, network and set name the machine; `network` is that of rows which do not say.
    """
    config = row.config
    if odd := unread(config, ALLREDUCE):
        return Unmodelled(odd)
    words = f"{row.system}, {config.get('network', '')}, {row.set.upper()}"
    if config.get("op", "all_reduce") != "all_reduce":
        return Unmodelled(f"{config['op']} on several nodes")
    chip = _first(CHIPS, words)
    network = _first(NETWORKS, words) or network
    if (known := known_between(chip, row.gpus, network)) is None:
        return Unmodelled(f"{NO_CONSTANTS} {chip or 'an unknown chip'} over {network or 'an unknown network'}")
    size = known.constants.node if isinstance(known.constants, TreeConstants) else EIGHT
    ranks = _number(config.get("ranks_per_node", size))
    nodes = _number(config.get("racks", config.get("nodes", math.ceil(row.gpus / size))))
    if ranks != size or (row.gpus != nodes * size if row.gpus > size else nodes != 1):
        return Unmodelled(f"{row.gpus} GPUs in {nodes:g} nodes, where constants are of nodes of {size}")
    S = _number(config.get("bytes"))
    if not S > 0:
        return Unmodelled("the row does not give bytes")
    share = bus_factor("all_reduce", row.gpus)
    if "time_us" in config:
        time = _number(config["time_us"]) * 1e-6
    elif row.unit == "us":
        time = row.value * 1e-6
    elif row.unit == "GB/s busbw":
        time = share * S / (row.value * 1e9)
    else:
        return Unmodelled(f"the unit of an all-reduce is us or GB/s busbw, not {row.unit!r}")
    if not time > 0:
        return Unmodelled(f"time_us is a number above 0, got {config['time_us']!r}")
    return NodesAllReduce(chip, network, Timed(S, row.gpus, time))


def _first(names: tuple[tuple[str, str], ...], words: str) -> str:
    return next((name for pattern, name in names if re.search(pattern, words)), "")


def _number(cell: object) -> float:
    """A cell as a number; NaN for anything else, and for what is not above zero."""
    fits = isinstance(cell, int | float) and not isinstance(cell, bool) and 0 < cell < math.inf
    return float(cell) if fits else math.nan  # type: ignore[arg-type]
