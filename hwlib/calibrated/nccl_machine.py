"""The machine that a log of nccl-tests is of: by the GPU that it names, or as it is described to the planner."""

from dataclasses import dataclass, replace
from math import ceil
from types import MappingProxyType
from typing import NamedTuple

from hwlib.calibrated.nccl_table import LogError
from hwlib.specs import Node, accelerators, clusters, nodes
from hwlib.specs.card import CARDS, card_of
from hwlib.specs.own_cluster import CHIPS, NODES, OwnCluster, chip_hint, chip_of, described

__all__ = [
    "DescribedNode",
    "LoggedGpu",
    "LoggedMachine",
    "described_machine",
    "hosts_of",
    "logged_gpu",
    "logged_node",
    "partly_full",
    "usual_node",
]


class LoggedGpu(NamedTuple):
    """The chip of a name, and the machine that it is usually part of, by their keys."""

    chip: str
    node: str


class LoggedMachine(NamedTuple):
    """A node, and the GPUs and nodes that a description has, None where it does not say how many."""

    node: Node
    n: int | None = None
    hosts: int | None = None


@dataclass(frozen=True, repr=False)
class DescribedNode(Node):
    """A node with rates that are not those of the tables: of a chip's port, and of all its cards (B/s, one direction);
    None where they are. No constants were fitted to such a node, nor to a part of the chips of a full one.
    """

    port: float | None = None
    cards: float | None = None
    part: bool = False

    @property
    def scaleup_bandwidth(self) -> float:
        return super().scaleup_bandwidth if self.port is None else self.port

    @property
    def egress_bandwidth(self) -> float:
        return super().egress_bandwidth if self.cards is None else self.cards


SAME_BOARD = {"a100-40gb-sxm": "a100-80gb-sxm"}
"""Chips whose machine has a row with another memory."""
NO_MACHINE = "no machine of {} is in the tables, whose links would be known; say its links, as in {!r}"
RACK = 8  # chips of a node, beyond which the hosts of a log are the trays of a rack
COMMON = {"nvidia", "amd", "80gb", "40gb", "120gb", "pcie", "sxm", "sxm4", "nvl", "geforce", "rtx", "pro", "edition"}
"""Words of names that say nothing of the chip."""
SAME_RATE = 0.02  # by which rates differ that are the same, rounded


def logged_gpu(name: str) -> LoggedGpu | None:
    """The chip of a name in a log, None if it is not known as a whole.

    >>> logged_gpu("NVIDIA H100 80GB HBM3").node, logged_gpu("NVIDIA H100 NVL").node, logged_gpu("NVIDIA H100 64GB")
    ('dgx-h100', 'h100-nvl-pair', None)
    """
    chip = card_of(name)
    node = usual_node(chip.key) if chip else None
    return LoggedGpu(chip.key, node.key) if chip and node else None


def usual_node(chip: str) -> Node | None:
    """The machine that a chip is usually part of: the first of the tables; None where there is none."""
    board = SAME_BOARD.get(chip, chip)
    return next((node for node in nodes.values() if node.accelerator == board), None)


def logged_node(name: str) -> Node:
    """The usual machine of a name. Raises LogError for one that is not known, and for none."""
    if gpu := logged_gpu(name):
        return nodes[gpu.node]
    if name:
        raise LogError(f"the log's GPU is {name[:200]!r}, which is not the whole name of a card here{_alike(name)}")
    raise LogError("the log does not name its GPU")


def _alike(name: str) -> str:
    """Cards that share a word with a name, in words."""
    words = set(name.lower().replace("-", " ").split()) - COMMON
    alike = [card for card in CARDS if words & {*card.replace("-", " ").split()}]
    return f"; there are {', '.join(alike[:8])}" if alike else ""


def described_machine(line: str) -> LoggedMachine:
    """The machine of a line as `plan` takes it: a node or cluster of the tables, "4xdgx-h100", "2x1 rtx-5090, network
    200 Gbit/s", or a chip alone for the machine that it is usually part of. Raises LogError or SpecError.

    >>> described_machine("2x1 rtx-5090, network 200 Gbit/s").n, described_machine("4xdgx-h100").n
    (2, 32)
    """
    line = line.strip()
    if own := CHIPS.fullmatch(line):
        return _of_chips(line, int(own[1]), int(own[2]), own[3], own[4])
    if (own := NODES.fullmatch(line)) and (own[3] is not None or not clusters.find(own[2])):
        return _of_nodes(line, int(own[1]), own[2], own[3])
    cluster = clusters.find(line)
    node = cluster.members if cluster else nodes.find(line) or usual_node(line)
    if node:
        return LoggedMachine(node)
    if chip := accelerators.find(line):
        raise LogError(f"--on: {line!r}: {NO_MACHINE.format(chip.name, f'1x8 {chip.key}, node 300 GB/s')}")
    raise LogError(f"--on: {line!r} is no machine of the tables; known: {', '.join([*nodes, *clusters])}")


def _of_nodes(line: str, count: int, name: str, more: str | None) -> LoggedMachine:
    node = nodes.find(name)
    if not node:
        hint = chip_hint(name, count) or f"known: {', '.join(nodes)}"
        raise LogError(f"--on: {line!r}: {name!r} is no machine of the tables; {hint}")
    own = described(line) if more else None
    return LoggedMachine(_with_rates(node, own, count) if own else node, count * node.chips, count)


def _of_chips(line: str, count: int, chips: int, name: str, more: str | None) -> LoggedMachine:
    chip = chip_of(name, f"--on: {line!r}")
    node = usual_node(chip.key)
    rates = more if more is None or "network" in more or count == 1 else f"{more}, network 1 GB/s"
    if node and more is None and chips <= node.chips:
        full = chips == node.chips or count == 1
        return LoggedMachine(node if full else partly_full(node, chips), count * chips, count)
    if more is None:
        return LoggedMachine(_without_rates(line, node, count, chips, chip.name, chip.key), count * chips, count)
    own = described(f"{count}x{chips} {chip.key},{rates}" if rates != more else line)
    if own is None:
        raise LogError(f"--on: {line!r}: a line such as '2x8 {chip.key}, node 300 GB/s' was expected")
    base = node or _bare_node(chip.key, chip.name)
    base = replace(base, chips=chips) if chips > base.chips else base
    if chips < base.chips and count > 1:
        base = partly_full(base, chips)
    return LoggedMachine(_with_rates(base, own, count, network=rates == more), count * chips, count)


def _without_rates(line: str, node: Node | None, count: int, chips: int, name: str, key: str) -> Node:
    """Never a node: says what a line without rates lacks."""
    example = (
        f"{count}x{chips} {key}, node {node.pcie_bandwidth / 1e9:.0f} GB/s" if node and node.pcie_bandwidth else ""
    )
    if node:
        raise LogError(
            f"--on: {line!r}: {chips} do not fit in the nodes of {name}, {node.chips} each: {node.key}; say what each "
            f"sends to the others, as in {example or f'{count}x{chips} {key}, node 300 GB/s'!r}"
        )
    raise LogError(f"--on: {line!r}: {NO_MACHINE.format(name, f'{count}x{chips} {key}, node 300 GB/s')}")


def _bare_node(chip: str, name: str) -> Node:
    """A node of a chip that no row of the tables has."""
    return DescribedNode(
        key=f"own-{chip}",
        name=name,
        data=MappingProxyType({}),
        accelerator=chip,
        link="",
        shape="crossbar",
        links_per_chip=0,
        switches=0,
        nics=0,
        chips=1,
        hosts=1,
    )


def _with_rates(node: Node, own: OwnCluster, count: int, network: bool = True) -> Node:
    """The node with the rates that a description has beside what the tables say."""
    port = own.levels[0].bandwidth
    cards = own.levels[1].bandwidth if count > 1 and network else None
    own_port = not node.link or abs(port / node.scaleup_bandwidth - 1) > SAME_RATE
    own_cards = cards is not None and abs(cards - node.egress_bandwidth) > SAME_RATE * cards
    if not own_port and not own_cards:
        return node
    return _described(node, port=port if own_port else None, cards=cards if own_cards else None)


def _described(node: Node, **changes: object) -> DescribedNode:
    values = {name: getattr(node, name) for name in node.__dataclass_fields__}
    return DescribedNode(**{**values, **changes})


def partly_full(node: Node, chips: int) -> Node:
    """The node with so many of its chips in use, each of which reaches the cards through a slot of its own; where
    nobody says what cards there are, the slots bound what leaves a node.
    """
    if chips >= node.chips and (node.egress_bandwidth or not node.pcie_bandwidth):
        return node
    cards, slots = node.egress_bandwidth, chips * (node.pcie_bandwidth or 0.0)
    if slots and not node.c2c:
        cards = min(cards, slots) if cards else slots
    port = node.port if isinstance(node, DescribedNode) else None
    if node.shape == "mesh" and chips < node.chips:
        port = node.scaleup_bandwidth * (chips - 1) / (node.chips - 1)
    return _described(node, chips=chips, hosts=1, port=port, cards=cards, part=True)


def hosts_of(n: int, node: Node, hosts: int | None) -> int:
    """The nodes that n ranks are on."""
    return max(ceil(n / node.chips), 1) if node.chips > RACK or not hosts else hosts
