"""Clusters: frozen records read from clusters.toml beside this file.

A cluster of switches is a tree, told by its levels from the inside out: `Level(name, size, bandwidth)` joins `size`
children, each of which sends `bandwidth` into it, one direction. A cluster of TPUs is a torus, told by its shape.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from hwlib.specs.level import Level
from hwlib.specs.link import links
from hwlib.specs.link import switches as switch_table
from hwlib.specs.node import Node, nodes
from hwlib.specs.own_cluster import LINE, OwnCluster, described
from hwlib.specs.reader import Record, count, quantity, read, text
from hwlib.specs.table import SpecError, Table, file_text, refer, unknown

TIERS = ("leaf", "spine", "core")


@dataclass(frozen=True, repr=False)
class Cluster(Record):
    """One cluster. `node`, `switch` and `cable` are keys of the other tables; the last two are empty for a torus.

    The tree: `leaf_size` nodes under one group of leaf switches, `spine_size` such groups under the spines,
    `core_size` of those under the cores. The torus: `torus_x`, `torus_y`, `torus_z` chips an axis.
    """

    node: str
    switch: str = text()
    cable: str = text()
    note: str = text()

    nodes: int = count("nodes", needed=True)
    leaf_size: int | None = count("nodes under one group of leaf switches")
    leaf_bandwidth: float | None = quantity("B/s", "one node into its leaf switches, one direction")
    spine_size: int | None = count("groups of leaf switches under one group of spines")
    spine_bandwidth: float | None = quantity("B/s", "one group of leaf switches into the spines, one direction")
    core_size: int | None = count("groups of spines under the cores")
    core_bandwidth: float | None = quantity("B/s", "one group of spines into the cores, one direction")
    leaf_switches: int | None = count("leaf switches of the whole cluster")
    spine_switches: int | None = count("spine switches of the whole cluster")
    core_switches: int | None = count("core switches of the whole cluster")
    node_leaf_cables: int | None = count("cables from nodes to leaf switches")
    leaf_spine_cables: int | None = count("cables from leaf to spine switches")
    spine_core_cables: int | None = count("cables from spine to core switches")
    links_per_leaf_spine: int | None = count("cables between one leaf and one spine that are joined")
    oversubscription: float | None = quantity("1", "bandwidth below the top level over the bandwidth into it")
    torus_x: int | None = count("chips along the first axis")
    torus_y: int | None = count("chips along the second axis")
    torus_z: int | None = count("chips along the third axis")
    wrap_cube: int | None = count("a slice closes to rings on every axis if all its axes are multiples of it")
    wrap_length: int | None = count("an axis of a slice closes to a ring if it is as long")
    bisection_bandwidth: float | None = quantity("B/s", "links between two halves of the torus, one direction")

    @property
    def members(self) -> Node:
        """The record of the nodes it is made of."""
        return nodes[self.node]

    @property
    def chips(self) -> int:
        """Accelerators of the whole cluster."""
        return self.nodes * self.members.chips

    @property
    def levels(self) -> tuple[Level, ...]:
        """The levels of the tree, innermost first; empty for a torus."""
        if self.torus:
            return ()
        levels = [Level("node", self.members.chips, self.members.scaleup_bandwidth)]
        for tier in TIERS:
            size, bandwidth = getattr(self, f"{tier}_size"), getattr(self, f"{tier}_bandwidth")
            if size is not None and bandwidth is not None:
                levels.append(Level(tier, size, bandwidth))
        return tuple(levels)

    @property
    def switches(self) -> int | None:
        """Every switch, those within the nodes too; None where the source does not count them all."""
        counts = [getattr(self, f"{level.name}_switches") for level in self.levels[1:]]
        if None in counts:
            return None
        outer = sum(getattr(self, f"{tier}_switches") or 0 for tier in TIERS)
        return self.nodes * self.members.switches + outer

    @property
    def switch_ports(self) -> int:
        """Ports of one leaf, spine or core switch; 0 where the source names no switch."""
        return switch_table[self.switch].ports if self.switch else 0

    @property
    def torus(self) -> tuple[int, ...]:
        """Chips along each axis, or () for a tree."""
        return tuple(size for size in (self.torus_x, self.torus_y, self.torus_z) if size is not None)

    @property
    def wrap(self) -> tuple[bool, ...]:
        """Which axes of the whole torus close to a ring."""
        return self.wraps(self.torus)

    def wraps(self, shape: Sequence[int]) -> tuple[bool, ...]:
        """Which axes of a slice of `shape` close to a ring.

        Where optical switches join cubes, all of them if the slice is made of whole cubes, else none; elsewhere an
        axis that is as long as the pod. Raises ValueError for a tree, and for a shape that does not lie within the
        torus.
        """
        if not self.torus:
            joins = ", ".join(level.name for level in self.levels)
            raise ValueError(f"{self.key} is not a torus: its levels are {joins}")
        ours, whole = sorted(shape, reverse=True), sorted(self.torus, reverse=True)
        if not 0 < len(ours) <= len(whole) or any(not 1 <= a <= b for a, b in zip(ours, whole, strict=False)):
            raise ValueError(f"shape: a slice of {self.key} lies within {self.torus}, got {tuple(shape)}")
        if self.wrap_cube is not None:
            cubes = len(ours) == len(whole) and all(size % self.wrap_cube == 0 for size in shape)
            return (cubes,) * len(shape)
        return tuple(size == self.wrap_length for size in shape)


def _read(file: str) -> Iterator[Cluster]:
    for row in read(Cluster, file, file_text(file)):
        refer(file, row, "node", nodes)
        refer(file, row, "switch", switch_table)
        refer(file, row, "cable", links)
        chips = prod(row.torus or (level.size for level in row.levels))
        if chips != row.chips:
            raise SpecError(f"{file}, {row.key}.nodes: {row.chips} chips, but its levels or axes hold {chips}")
        yield row


clusters: Table[Cluster] = Table("cluster", _read, ("clusters.toml",))
Place = Cluster | Node | OwnCluster
"""What can be named as a cluster."""


def place_of(where: str) -> Place:
    """The cluster or node of a key, or of a name; or the cluster that a line or a file describes
    (`hwlib.specs.own_cluster`). Raises KeyError, and SpecError for a description that cannot be.
    """
    if place := described(where) or clusters.find(where) or nodes.find(where):
        return place
    known = unknown("cluster or node", where, [*clusters, *nodes])
    raise KeyError(f"{known} One of your own is a .toml file or a line such as {LINE!r}")


def levels_of(where: Any) -> tuple[Level, ...]:
    """The levels of a cluster, a node or the key of one, or of a description (`hwlib.specs.own_cluster`); of a
    topology; or levels as they are.

    Raises KeyError for an unknown key, and ValueError for a torus and for what has no levels.

    >>> [level.size for level in levels_of("superpod-h100-4su")]
    [8, 32, 4]
    """
    if isinstance(where, str):
        named: Any = place_of(where)
        where = named
    if isinstance(where, Node):
        return (Level("node", where.chips, where.scaleup_bandwidth),)
    if isinstance(where, Cluster) and where.torus:
        raise ValueError(f"levels: the cluster {where.key} is a torus, and the levels of a tree were expected")
    levels = getattr(where, "levels", where)
    if isinstance(levels, str) or not isinstance(levels, Sequence) or not levels:
        raise ValueError(f"levels: a cluster, a node, their key, a topology with levels or levels, got {where!r}")
    return tuple(Level(*level) for level in levels)
