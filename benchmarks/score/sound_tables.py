"""Published tables of collectives on sound machines, written as nccl-tests prints them, and faults planted in them.

A fault changes the part of each measured time that it would: by the ratio of the model's times with and without it, so
that what the row has of its own stays. It is planted only where it costs something by the data sheet.
"""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.rows.allreduce_rows import NodesAllReduce
from benchmarks.rows.published import Collective, PublishedRow, case_of, read_rows
from hwlib.calibrated import Timed, collective_time, tree_time
from hwlib.calibrated.nccl import mesh_links
from hwlib.calibrated.nccl_bound import between_nodes
from hwlib.calibrated.nccl_expected import ETHERNET, RCCL_PAIR, Expected, expected_of
from hwlib.calibrated.nccl_log import LogError, read_log
from hwlib.calibrated.nccl_verdict import LogVerdict, judge_log
from hwlib.collectives import bus_factor
from hwlib.specs import Node, nodes
from hwlib.specs.fitted import CollectiveConstants, TreeConstants

NETWORKS = ("NVLSTree", "EFA", "InfiniBand SHARP")
PAIRS = {"nccl-tests, two nodes": "EFA", RCCL_PAIR: ETHERNET}
"""What joins the two nodes that some software was timed on."""
CARDS = re.compile(r"(\d+)x ?(\d+)Gb")
SLOW_LINK = 2 / 3  # of a chip's links are left, or of a rate
COSTS = 1.05  # times as long, from which on a fault is one
HALF_NICS, NO_NVLS, SLOW = "half of the NICs", "NVLS off", "one slow link"
CAUSES = {
    HALF_NICS: {"rails"},
    NO_NVLS: {"no-nvls"},
    SLOW: {"unknown", "rails", "host-copies"},
}
"""The causes that name a fault."""


class SoundTable(NamedTuple):
    """One run: what was measured where, and rows by size. Without `switch` NVLS was off. `egress` is what the cards of
    a node carry (B/s), 0 where a run has one node; `fitted` says that constants may be fitted to its rows.
    """

    name: str
    node: Node
    collective: str
    n: int
    network: str
    software: str
    switch: bool
    egress: float
    fitted: bool
    rows: tuple[Timed, ...]

    @property
    def text(self) -> str:
        """As nccl-tests prints it."""
        return "\n".join(_line(timed, self.collective) for timed in self.rows)

    @property
    def expected(self) -> Expected:
        """What it is held against."""
        return expected_of(self.node, self.n, self.collective, self.network or None, self.software)

    @property
    def rests(self) -> bool:
        """Whether the constants that it is held against were fitted to its rows."""
        c = self.expected.constants
        begins = c is not None and any(self.name.startswith(begin) for begin in c.rows.split(", "))
        return begins and self.fitted and self.n in c.ranks  # type: ignore[union-attr]

    @property
    def system(self) -> str:
        """The chip, what joins the nodes, or what timed the calls inside one."""
        return f"{self.node.chip.key}, {self.network or self.software}"

    def judged(self) -> LogVerdict:
        """What `gpubook bandwidth` says of it."""
        return judge_log(read_log(self.text), self.node, self.n, self.collective, self.network or None, self.software)


def _line(timed: Timed, collective: str) -> str:
    S, n, time = timed
    factor = float(bus_factor(collective, n))
    half = f"{time * 1e6:.2f} {S / time / 1e9:.4f} {factor * S / time / 1e9:.4f} 0"
    operation = "sum" if "reduce" in collective else "none"
    return f"{S:>14.0f} {S / 4:>14.0f} float {operation} -1 {half} {half}"


def sound_tables(path: Path) -> list[SoundTable]:
    """All runs of collectives in a file, or in a folder of files, that are held against constants: those of chips with
    a machine in the tables, which they fill.
    """
    tables: dict[Any, list[Timed]] = {}
    for row in read_rows(path)[0]:
        if row.kind in ("collective", "allreduce") and (run := _machine(row, case_of(row, path))):
            key, timed = run
            tables.setdefault(key, []).append(timed)
    runs = (_table(key, rows) for key, rows in tables.items())
    return [table for table in runs if table and _is_modelled(table)]


def _is_modelled(table: SoundTable) -> bool:
    try:
        return table.expected.constants is not None
    except LogError:  # software that nobody timed there
        return False


def _machine(row: PublishedRow, case: Any) -> tuple[Any, Timed] | None:
    """What tells runs apart, and what was timed."""
    if isinstance(case, NodesAllReduce):
        op, network, software, switch = "all_reduce", case.network, "", True
    elif isinstance(case, Collective):
        nodes_too = case.software in NETWORKS
        op, switch = case.op, case.switch
        network = case.software if nodes_too else PAIRS.get(case.software, "")
        software = "" if network else case.software
    else:
        return None
    words = f"{row.system} {row.config.get('network', '')}"
    cards = CARDS.search(words)
    egress = int(cards[1]) * int(cards[2]) / 8 * 1e9 if cards else 0.0
    fitted = row.cells["use"] == "fit"
    return (row.set, case.chip, op, case.timed.n, network, software, switch, egress, fitted), case.timed


def _table(key: Any, rows: list[Timed]) -> SoundTable | None:
    name, chip, op, n, network, software, switch, cards, fitted = key
    node = next((node for node in nodes.values() if node.accelerator == chip), None)
    if node is None or (n > node.chips and n % node.chips):
        return None
    egress = (cards or node.egress_bandwidth) if n > node.chips else 0.0
    ordered = tuple(sorted(rows))
    return SoundTable(name, node, op, n, network, software, switch, egress, fitted, ordered)


# Faults


def faults(table: SoundTable) -> Iterator[tuple[str, SoundTable]]:
    """The table with each fault that would show in it."""
    if not table.switch:
        return
    expected = table.expected
    for name, slowed in ((HALF_NICS, _half_nics), (NO_NVLS, _without_switch), (SLOW, _slow_link)):
        time = slowed(table, expected)
        if time is None:
            continue
        rows = tuple(t._replace(time=t.time * max(time(t.S) / expected.time(t.S), 1)) for t in table.rows)
        if rows[-1].time > COSTS * table.rows[-1].time:
            yield name, table._replace(rows=rows)


Slowed = Callable[[float], float] | None


def _half_nics(table: SoundTable, expected: Expected) -> Slowed:
    """Half the cards carry what all did."""
    return _with_cards(table, expected, 1 / 2)


def _with_cards(table: SoundTable, expected: Expected, share: float) -> Slowed:
    """Times where the cards of a node carry a share of their rate, if they are what limits the run."""
    c = expected.constants
    if not table.egress or c is None:
        return None
    ring = c.software == RCCL_PAIR or (isinstance(c, TreeConstants) and c.stages == "ring")
    each = between_nodes(table.collective, table.n / table.node.chips, table.node.chips, table.network)
    W = c.W * share if ring else bus_factor(table.collective, table.n) / each * table.egress * share
    return _at(c, table.n, min(float(W), c.W))


def _at(c: CollectiveConstants | TreeConstants, n: int, W: float) -> Slowed:
    if isinstance(c, TreeConstants):
        return lambda S: float(tree_time(replace(c, W=W), n, S))
    return lambda S: float(collective_time(replace(c, W=W, W_low=min(c.W_low, W)), n, S))


def _without_switch(table: SoundTable, expected: Expected) -> Slowed:
    """NVLS off: a ring does what the switch did."""
    return expected.ring if not table.egress else None


def _slow_link(table: SoundTable, expected: Expected) -> Slowed:
    """A third of the links of one chip are down, or a card has trained to half its rate: all wait for the slowest. In a
    mesh each ring has links of its own and an equal part of the bytes, so one link at half its rate is enough.
    """
    c = expected.constants
    if table.egress:
        return _with_cards(table, expected, 1 / 2)
    if not isinstance(c, CollectiveConstants):
        return None
    left = 1 / 2 if mesh_links(c.chip) else SLOW_LINK
    slow = replace(
        c,
        W=c.W * left,
        W_low=min(c.W_low, c.W * left),
        W_switch=c.W_switch * left if math.isfinite(c.W_switch) else c.W_switch,
    )
    return lambda S: float(collective_time(slow, table.n, S))
