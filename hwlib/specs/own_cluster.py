"""A cluster of one's own: described in a line of text, or in a TOML file.

>>> lab = described("4x8 a100-sxm-80gb, node 300 GB/s, network 100 Gbit/s, price 1.8")
>>> lab.chip.name, lab.gpus, [(level.name, level.size, level.bandwidth) for level in lab.levels]
('A100 80GB SXM', 32, [('node', 8, 300000000000.0), ('network', 4, 12500000000.0)])
>>> described("128 x dgx-a100").levels[1]
Level(name='network', size=128, bandwidth=200000000000.0)

A file says the same, and more: several levels of switches, a chip of one's own. See `OwnFile` for its fields. Every
bandwidth is that of one direction: of one chip within its node, and of a whole node into the network.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from hwlib.specs.accelerator import Accelerator, accelerators
from hwlib.specs.level import Level
from hwlib.specs.node import Node, nodes
from hwlib.specs.reader import measure, number, rows_of, text, values_of
from hwlib.specs.regular_file import regular_text
from hwlib.specs.table import SpecError, unknown
from hwlib.units import show

MOST_NODES = 2**20
A_NODE = 8  # chips of most nodes, for an example
TYPICAL = "node 300 GB/s"  # for an example, of a chip whose links are not in the tables
TIERS = ("leaf", "spine", "core")
SAME = r"(\d{1,9})\s*x\s*"
CHIPS = re.compile(SAME + r"(\d{1,6})\s+(\S[^,]*?)\s*(?:,(.*))?")
NODES = re.compile(SAME + r"(\S[^,]*?)\s*(?:,(.*))?")
WORDS = {
    "node": "node_bandwidth",
    "network": "network",
    "host": "host_bandwidth",
    "price": "price",
    "oversubscription": "oversubscription",
}
LINE = "4x8 a100-80gb-sxm, network 100 Gbit/s"
"""A cluster described in a line, as an example."""
ABOUT_BOTH = 1.01  # so much more than a chip's links carry was printed for both directions, or is a mistake


class OwnCluster(NamedTuple):
    """A described cluster: its chips and the levels that join them, what a chip sends to its host (B/s, one direction;
    None where nobody says), and dollars for a chip and hour. Where the description does not say the link to the host,
    `host_as` is the node of the tables whose link was taken. The chips of a node may be a slice of a `torus`, whose
    links then stand as if all of a chip's met in one switch: no torus is faster.
    """

    name: str
    chip: Accelerator
    levels: tuple[Level, ...]
    host: float | None = None
    price: float = 0.0
    host_as: str = ""
    torus: bool = False

    @property
    def gpus(self) -> int:
        """Chips of the whole cluster."""
        return prod(level.size for level in self.levels)


# What a file may say


@dataclass(frozen=True, kw_only=True)
class OwnChip:
    """A chip by figures of its data sheet. Rates are dense."""

    name: str = text(needed=True)
    memory: float = measure("B", needed=True)
    memory_bandwidth: float = measure("B/s", needed=True)
    bf16: float | None = measure("FLOP/s")
    fp16: float | None = measure("FLOP/s")
    fp8: float | None = measure("FLOP/s")
    fp4: float | None = measure("FLOP/s")
    fp32: float | None = measure("FLOP/s")


@dataclass(frozen=True, kw_only=True)
class OwnLevel:
    """One level of switches above the nodes: `size` nodes, or groups of the level below, which it joins. `bandwidth` is
    what a node sends into it, divided by the `oversubscription`; without one it is that of the level below.
    """

    name: str = text()
    size: int | None = number(None, whole=True, above_0=True)
    bandwidth: float | None = measure("B/s")
    oversubscription: float = number(1.0, above_0=True)


def _chip_cell(place: str, cell: Any) -> Accelerator:
    """A chip of the tables, by its key or part of it; or of one's own, by its figures."""
    if isinstance(cell, str):
        return chip_of(cell, place)
    own = OwnChip(**values_of(OwnChip, place, cell))
    rates = {f"{name}_flops": getattr(own, name) for name in ("bf16", "fp16", "fp8", "fp4", "fp32")}
    if not (own.bf16 or own.fp16):
        raise SpecError(f"{place}: bf16 missing; expected its dense rate, such as '312 TFLOP/s'")
    key = "own-" + re.sub(r"[^\w.]+", "-", own.name).strip("-").lower()
    return Accelerator(
        key=key,
        name=own.name,
        data=MappingProxyType({}),
        vendor="own",
        arch="own",
        scaleup_name="own",
        hbm_bytes=own.memory,
        hbm_bandwidth=own.memory_bandwidth,
        **rates,
    )


def _network_cell(place: str, cell: Any) -> tuple[OwnLevel, ...]:
    """The levels of the network: a list of them, one alone, or the bandwidth of the only one."""
    cell = {"bandwidth": cell} if isinstance(cell, str) else cell
    cells = cell if isinstance(cell, list) else [cell]
    return tuple(
        OwnLevel(**values_of(OwnLevel, f"{place}[{i}]" if isinstance(cell, list) else place, one))
        for i, one in enumerate(cells)
    )


def _torus_cell(place: str, cell: Any) -> tuple[int, ...]:
    good = isinstance(cell, list) and cell and all(type(axis) is int and axis > 0 for axis in cell)
    if not good:
        raise SpecError(f"{place}: expected the chips along each axis, such as [4, 4, 8], got {cell!r}")
    return tuple(cell)


@dataclass(frozen=True, kw_only=True)
class OwnFile:
    """The fields of a cluster's file. `node` names a node of the tables, in place of `chips`, `chip` and
    `node_bandwidth`; what the file says besides comes before what the table says. `host_bandwidth` is by default that
    of the tables' nodes with this chip, whose sources stand in nodes.toml and links.toml, if all say the same.
    """

    name: str = text()
    nodes: int | None = number(None, whole=True, above_0=True)
    node: str = text()
    chips: int | None = number(None, whole=True, above_0=True)
    chip: Accelerator | None = field(default=None, metadata={"bare": _chip_cell})
    node_bandwidth: float | None = measure("B/s")
    host_bandwidth: float | None = measure("B/s")
    network: tuple[OwnLevel, ...] = field(default=(), metadata={"bare": _network_cell})
    torus: tuple[int, ...] = field(default=(), metadata={"bare": _torus_cell})
    price: float = number(0.0)


# Reading


def described(where: str) -> OwnCluster | None:
    """The cluster of a file's path, which ends in .toml, or of a text; None for what is neither. Raises SpecError."""
    where = where.strip()
    if where.endswith(".toml"):
        return read_cluster(where)
    if match := CHIPS.fullmatch(where):
        row = {"nodes": int(match[1]), "chips": int(match[2]), "chip": match[3], **_words(where, match[4])}
        label = f"{match[1]}x{match[2]} {match[3]}"
        return _built(label, label, row)
    if match := NODES.fullmatch(where):
        if hint := chip_hint(match[2], int(match[1])):
            raise SpecError(f"{match[1]} x {match[2]}: {hint}; {_unknown_node(match[2])}")
        row = {"nodes": int(match[1]), "node": match[2], **_words(where, match[3])}
        return _built(f"{match[1]} x {match[2]}", "", row)
    return None


def read_cluster(path: str | Path) -> OwnCluster:
    """The cluster of a TOML file, whose fields are those of `OwnFile`. Raises SpecError, which names file and field."""
    content = regular_text(path, "utf-8", "expected a TOML file that describes a cluster")
    return cluster_of_text(content, str(path), Path(path).stem)


def cluster_of_text(content: str, where: str, name: str = "") -> OwnCluster:
    """The cluster of a file's text; `where` stands in errors. Raises SpecError."""
    return _built(where, name, rows_of(where, content))


def _words(where: str, said: str | None) -> dict[str, Any]:
    """What a text says after the nodes: a word and its value, between commas."""
    row: dict[str, Any] = {}
    for part in (said or "").split(",") if said is not None else ():
        word, _, value = part.strip().partition(" ")
        if word not in WORDS or not value.strip():
            raise SpecError(f"{where!r}: expected one of {', '.join(WORDS)} and its value, got {part.strip()!r}")
        if WORDS[word] in row:
            raise SpecError(f"{where!r}: {word} is said twice")
        row[WORDS[word]] = _number(where, word, value) if word in ("price", "oversubscription") else value.strip()
    if "oversubscription" in row:
        level = {"oversubscription": row.pop("oversubscription")}
        row["network"] = level | ({"bandwidth": row["network"]} if "network" in row else {})
    return row


def _number(where: str, word: str, value: str) -> float:
    try:
        return float(value.strip().removeprefix("$"))
    except ValueError:
        raise SpecError(f"{where!r}: {word}: expected a number, got {value.strip()!r}") from None


def _built(where: str, name: str, row: Mapping[str, Any]) -> OwnCluster:
    """The cluster of a row's fields, checked."""
    own = OwnFile(**values_of(OwnFile, where, row))
    node = _node_of(where, own)
    chip = own.chip or (node.chip if node else None)
    torus = bool(own.torus) or (chip is not None and own.node_bandwidth is None and in_torus(chip))
    if torus:
        own = _slice(where, own, node, chip)
    if own.nodes is None:
        raise SpecError(f"{where}: nodes missing; expected how many there are")
    if own.nodes > MOST_NODES:
        raise SpecError(f"{where}: expected 1 to {MOST_NODES:,} nodes, got {own.nodes:,}")
    chips = own.chips or (node.chips if node else None)
    if chip is None or chips is None:
        lacks = "chip" if chip is None else "chips"
        raise SpecError(f"{where}: {lacks} missing; expected chips and chip, or a node of the tables, such as dgx-h100")
    inside = Level("node", chips, _node_bandwidth(where, own, node, chip, chips))
    levels = (inside, *_network(where, own, own.nodes, node))
    host, host_as = own.host_bandwidth, ""
    if host is None:
        host, host_as = _host_of(node, chip)
    many = f"{own.nodes:,} x " if own.nodes > 1 else ""
    whole = own.name or name or (f"{many}{node.name}" if node else where)
    return OwnCluster(whole, chip, levels, host, own.price, host_as, torus)


def in_torus(chip: Accelerator) -> bool:
    """Whether the tables have this chip's nodes in a torus."""
    return any(node.accelerator == chip.key and node.shape == "torus" for node in nodes.values())


def _slice(where: str, own: OwnFile, node: Node | None, chip: Accelerator | None) -> OwnFile:
    """The same with all chips of a slice in one node: the links of a torus go on from host to host. With a network
    each node is a slice of its own.
    """
    count = 1 if own.nodes is None and own.torus else own.nodes
    chips = prod(own.torus) if own.torus else own.chips or (node.chips if node else None)
    if chip is None or chips is None or count is None:
        return replace(own, nodes=count, chips=chips)
    most, joined = chip.scaleup_domain or chips, bool(own.network) or count == 1
    if not joined and count * chips <= most:
        return replace(own, nodes=1, chips=count * chips)
    if chips > most or not (joined or chips == most):
        raise SpecError(
            f"{where}: a torus of {chip.name} has at most {most:,} chips; several are joined by a network, as in "
            f"'2x{most} {chip.key}, network 400 Gbit/s'"
        )
    return replace(own, nodes=count, chips=chips)


def _host_of(node: Node | None, chip: Accelerator) -> tuple[float | None, str]:
    """The link of a chip to its host in that node; or in the nodes of the tables that have this chip, and the name of
    the first of them; None where they differ, or there are none.
    """
    if node and node.accelerator == chip.key:
        return node.to_host_bandwidth, ""
    alike = [one for one in nodes.values() if one.accelerator == chip.key]
    links = {one.to_host_bandwidth for one in alike}
    return (links.pop(), alike[0].name) if len(links) == 1 and None not in links else (None, "")


def _node_of(where: str, own: OwnFile) -> Node | None:
    if not own.node:
        return None
    if known := nodes.find(own.node):
        return known
    raise SpecError(f"{where}: {_unknown_node(own.node)}")


def _unknown_node(name: str) -> str:
    return unknown("node", name, nodes)


def chip_hint(name: str, count: int = A_NODE) -> str:
    """For the name of a chip where that of a node was expected: the line that describes so many. Empty for any other
    name.

    >>> chip_hint("l40s", 8)
    "'l40s' is a chip, not a node: 8 of them are '1x8 l40s'"
    """
    words = re.findall(r"[a-z0-9]+", name.lower())
    exact = accelerators.find(name)
    chips = [exact] if exact else [chip for chip in accelerators.alike(name) if chip.key.split("-")[0] in words]
    if nodes.find(name) or not chips or not count:
        return ""
    chip = chips[0]
    many = count > A_NODE and count % A_NODE == 0
    shape = f"{count // A_NODE}x{A_NODE}" if many else f"1x{count}"
    mesh = _mesh_too_small(chip, A_NODE if many else count)
    inside = f", {_beyond(mesh)}" if mesh else "" if chip.scaleup_bandwidth else f", {TYPICAL}"
    network = ", network 400 Gbit/s" if many else ""
    return f"{name!r} is a chip, not a node: {count} of them are '{shape} {chip.key}{inside}{network}'"


def chip_of(name: str, where: str) -> Accelerator:
    """The chip that a key, a name or a part of one tells, if it is the only such. Raises SpecError."""
    if known := accelerators.find(name):
        return known
    alike = accelerators.alike(name)
    if len(alike) == 1:
        return alike[0]
    if alike:
        raise SpecError(f"{where}: {name!r} is one of several chips: {', '.join(one.key for one in alike)}")
    raise SpecError(f"{where}: {unknown('chip', name, accelerators)}; a chip of one's own needs a file")


def _node_bandwidth(where: str, own: OwnFile, node: Node | None, chip: Accelerator, chips: int) -> float:
    """What one chip sends within its node."""
    sheet = chip.scaleup_bandwidth
    if own.node_bandwidth is not None:
        if sheet and own.node_bandwidth > ABOUT_BOTH * sheet:
            expected = f"at most the {show(sheet, 'B/s')} that the links of {chip.name} carry in one direction"
            raise SpecError(f"{where}: node_bandwidth: expected {expected}, got {show(own.node_bandwidth, 'B/s')}")
        return own.node_bandwidth
    if node is not None and own.chip is None:
        return node.scaleup_bandwidth
    mesh = _mesh_too_small(chip, chips)
    if sheet and not mesh:
        return sheet
    ends = f": its own links join {mesh.chips}, as in {mesh.key}" if mesh else ""
    raise SpecError(
        f"{where}: node_bandwidth missing{ends}; expected what one {chip.name} sends within its node, in one "
        f"direction, as in {_beyond(mesh)!r}"
    )


def _mesh_too_small(chip: Accelerator, chips: int) -> Node | None:
    """The largest mesh of the tables that has this chip, if fewer than so many are in it: links from chip to chip, as
    those of a bridge, end there.
    """
    meshes = [node for node in nodes.values() if node.accelerator == chip.key and node.shape == "mesh"]
    largest = max(meshes, key=lambda node: node.chips, default=None)
    return largest if largest and largest.chips < chips else None


def _beyond(mesh: Node | None) -> str:
    """How a line says what a chip sends to more than its mesh: through its slot, or by the same links and a switch."""
    return f"node {show(mesh.pcie_bandwidth or mesh.scaleup_bandwidth, 'B/s')}" if mesh else TYPICAL


def _network(where: str, own: OwnFile, count: int, node: Node | None) -> list[Level]:
    """The levels above the nodes."""
    if count == 1:
        if own.network:
            raise SpecError(f"{where}: network: expected none, as one node has nothing to join")
        return []
    described = own.network or (OwnLevel(),)
    a_node = node.egress_bandwidth or None if node and own.chip is None else None
    levels, below = [], 1
    for i, level in enumerate(described):
        size, a_node = level.size, level.bandwidth or a_node
        if a_node is None:
            raise SpecError(
                f"{where}: network missing; expected what a node sends into the network, as in 'network 400 Gbit/s'"
            )
        if size is None and i < len(described) - 1:
            raise SpecError(f"{where}: network[{i}].size missing; expected how many nodes or groups it joins")
        size = size or max(count // below, 1)
        a_node = a_node / level.oversubscription
        usual = "network" if len(described) == 1 else TIERS[i] if i < len(TIERS) else f"level {i + 1}"
        levels.append(Level(level.name or usual, size, a_node * below))
        below *= size
    if below != count:
        raise SpecError(f"{where}: network: expected levels that join {count:,} nodes, got sizes that join {below:,}")
    return levels


__all__ = [
    "CHIPS",
    "LINE",
    "NODES",
    "OwnCluster",
    "OwnFile",
    "chip_hint",
    "chip_of",
    "cluster_of_text",
    "described",
    "in_torus",
    "read_cluster",
]
