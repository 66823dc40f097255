"""Collectives that no reader was written for: by what a row says of its chip, its wires and its message.

No constants are fitted to these wires, so a row is compared with the time that its bytes take at the data sheets'
rates: a bound, which says no more than how far the measured message was from its wires. A bus bandwidth printed without
a size is a plateau. A network is that of nodes of eight GPUs; with SHARP its switches add up.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.rows.published_row import PublishedRow
from benchmarks.rows.read_keys import unread
from benchmarks.rows.row_chips import chip_of_words
from benchmarks.rows.training_step import Unmodelled, number
from hwlib.arguments import is_number
from hwlib.calibrated.serving_network import scaleup_rate
from hwlib.collectives import bus_factor, nvls_allreduce_limit, nvls_sharp_levels_allreduce_time
from hwlib.specs import Accelerator, links, nodes

PLATEAU = 2.0**34  # B, of a bus bandwidth printed without a size: 16 GiB, as its neighbours
NODE = 8  # GPUs
KEYS = {"op", "bytes", "time_us", "network", "nvls", "algo", "tokens", "hidden", "topk", "groups", "dtype"}
NODES = (
    (r"DGX[ -]A100", "dgx-a100"),
    (r"DGX[ -]H100", "dgx-h100"),
    (r"DGX[ -]H200", "dgx-h200"),
    (r"DGX[ -]B200", "dgx-b200"),
)
"""Nodes whose cards are those of their data sheet, where a row does not print them."""


@dataclass(frozen=True)
class WireBound:
    """Seconds that a message takes at the rate of its wires, and those measured."""

    bound: float
    seconds: float


@dataclass(frozen=True)
class RowWires:
    """What a row says of its wires: B/s of a GPU in its node, NaN where it does not say; B/s of the network of a whole
    node, 0 where there is none; and whether switches add up.
    """

    chip: Accelerator | None
    inside: float | None
    node: float
    in_switch: bool


def wire_case(row: PublishedRow) -> WireBound | Unmodelled:
    """What a row measured, or the cell that it lacks."""
    if odd := unread(row.config, KEYS):
        return Unmodelled(odd)
    op = str(row.config.get("op", ""))
    for pattern, read in OPERATIONS:
        if re.match(pattern, op):
            try:
                return read(row, wires_of(row))
            except ValueError as error:
                return Unmodelled(str(error))
    return Unmodelled(f"op is {op!r}, no collective that there is a bound of")


def wires_of(row: PublishedRow) -> RowWires:
    """The wires that the words of a row name. Raises ValueError for a system that names none."""
    words = f"{row.system}, {row.config.get('network', '')}"
    try:
        chip = chip_of_words(words)
        inside: float | None = scaleup_rate(chip, min(row.gpus, NODE))
    except ValueError:
        chip, inside = None, _lanes(words)
    node = _network(words)
    if chip and not node and row.gpus > max(chip.scaleup_domain or NODE, NODE):
        node = next((nodes[key].egress_bandwidth for pattern, key in NODES if re.search(pattern, words)), 0.0)
    if inside is None and not node:
        raise ValueError(f"system is {row.system!r}, which names neither a chip nor the rate of a wire")
    off = row.config.get("nvls") in (0, "off") or row.config.get("algo") == "Ring"
    return RowWires(chip, inside, node, ("SHARP" in words or row.config.get("nvls") in (1, "on")) and not off)


def _lanes(words: str) -> float | None:
    """The rate of 16 lanes of PCIe, of the generation that some words name."""
    generation = re.search(r"PCIe Gen ?(\d)", words)
    key = f"pcie{generation[1]}-x16" if generation else ""
    return links[key].bandwidth if key in links else None


def _network(words: str) -> float:
    """B/s of the cards that some words name, "8x200Gb" or "400G"; 0 where they name none."""
    cards = re.search(r"(?:(\d+) ?x ?)?(\d+) ?(?:Gb\b|GbE|Gbit|G\b)", words)
    return int(cards[1] or 1) * int(cards[2]) * 1e9 / 8 if cards else 0.0


def seconds_of(row: PublishedRow, op: str, S: float) -> float:
    """The measured seconds of a collective of S bytes. Raises ValueError for a unit that gives none."""
    if "time_us" in row.config:
        timed = row.config["time_us"]
        if not is_number(timed) or not timed > 0:
            raise ValueError(f"time_us is a number above 0, got {timed!r}")
        return float(timed) * 1e-6
    if row.unit == "us":
        return row.value * 1e-6
    if row.unit == "GB/s busbw" and bus_factor(op, row.gpus):
        return bus_factor(op, row.gpus) * S / (row.value * 1e9)
    raise ValueError(f"the unit of {op} on {row.gpus} GPUs is us or GB/s busbw, not {row.unit!r}")


def _sum(row: PublishedRow, wires: RowWires) -> WireBound:
    """An all-reduce: of a ring that enters each node by all its cards, or in switches."""
    S, n = float(row.config.get("bytes", PLATEAU)), row.gpus
    seconds = seconds_of(row, "all_reduce", S)
    inside = wires.inside or wires.node
    if wires.node and wires.in_switch:
        bound = float(nvls_sharp_levels_allreduce_time(S, NODE, inside, wires.node / NODE))
    elif wires.in_switch:
        bound = float(nvls_allreduce_limit(n, S, inside))
    else:
        bound = float(bus_factor("all_reduce", n)) * S / min(inside, wires.node or inside)
    return WireBound(bound, seconds)


def _exchange(row: PublishedRow, wires: RowWires) -> WireBound:
    """An all-to-all: what leaves a node shares its cards, the rest the links inside."""
    S, n = float(row.config.get("bytes", PLATEAU)), row.gpus
    seconds = seconds_of(row, "all_to_all", S)
    if not wires.node and re.search(r"\d+x\d+$", row.system):
        raise ValueError(f"system is {row.system!r}, which does not say what joins its halves")
    bound = (1 - 1 / n) * S / wires.inside if wires.inside else 0.0
    if wires.node:
        bound = max(bound, (1 - NODE / n) * S * NODE / wires.node)
    return WireBound(bound, seconds)


def _copy(row: PublishedRow, wires: RowWires) -> WireBound:
    """A copy from one GPU to another, or both ways at once: the time of a byte."""
    both = 2 if "duplex" in row.unit else 1
    if not row.unit.startswith("GB/s") or not wires.inside:
        raise ValueError(f"the unit of a copy between two chips is GB/s, not {row.unit!r}")
    return WireBound(1 / (both * wires.inside), 1 / (row.value * 1e9))


def _tokens(row: PublishedRow, wires: RowWires) -> WireBound:
    """Tokens that go to their experts, or come back: the time of a byte of the wire that the unit names as the slowest,
    or of all of a rank's tokens that leave it, each by the network for each of its experts.
    """
    if slowest := re.fullmatch(r"GB/s (NVLink|RDMA) bottleneck", row.unit):
        rate = wires.inside if slowest[1] == "NVLink" else wires.node
        if not rate:
            raise ValueError(f"system is {row.system!r}, which does not name the rate of {slowest[1]}")
        return WireBound(1 / rate, 1 / (row.value * 1e9))
    if row.unit != "us" or not wires.node:
        raise ValueError(f"the unit of {row.config['op']} is us or the rate of a bottleneck, not {row.unit!r}")
    each = 1 if "fp8" in str(row.config["op"]) else 2
    count = number(row.config, "tokens") * number(row.config, "topk") * number(row.config, "hidden")
    return WireBound(count * each * (1 - 1 / row.gpus) / wires.node, row.value * 1e-6)


OPERATIONS: tuple[tuple[str, Callable[[PublishedRow, RowWires], WireBound]], ...] = (
    (r"all_?reduce", _sum),
    (r"all_?to_?all", _exchange),
    (r"p2p", _copy),
    (r"(a2a|low-latency) (dispatch|combine)", _tokens),
)
