"""What a log of nccl-tests is held against: constants and where they hold, or what the wires allow at best.

Constants hold for the chips, ranks and bytes of the rows that they were fitted to. Beyond them the error that is to be
expected grows with each doubling, as it did where rows show it; and what is beyond is named. Releases of NCCL other
than the rows' are named, too, and widen nothing: published runs of others lie within the same bands.
"""

import math
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from hwlib.calibrated.nccl import (
    FILLED,
    collective_time,
    holds_among,
    nodes_allreduce_time,
    rank_doublings,
    size_region,
    tree_time,
)
from hwlib.calibrated.nccl_bound import bound_time
from hwlib.calibrated.nccl_machine import DescribedNode
from hwlib.calibrated.nccl_table import LogError
from hwlib.specs import Node, links
from hwlib.specs.fitted import CollectiveConstants, TreeConstants, collective_constants, tree_constants, trees_over
from hwlib.units import plural

__all__ = ["INFINIBAND", "SOFTWARE", "Expected", "KnownNodes", "expected_of", "known_between", "network_of", "span"]

SOFTWARE = "nccl-tests"
RCCL, RCCL_PAIR = "rccl-tests", "rccl-tests, two nodes"
"""The same on AMD's chips, and on two nodes of them."""
ONE_PROCESS = "nccl-tests, one process"
INFINIBAND, TREES = "InfiniBand", "NVLSTree"
"""A network, and the name of its constants: that of the algorithm that NCCL takes over it."""
EFA = "EFA"
SHARP = "InfiniBand SHARP"
ETHERNET = "Ethernet"
AMD = ("mi300x", "mi325x", "mi350x", "mi355x")
TWO_NODES = {("a100-80gb-sxm", EFA): "nccl-tests, two nodes"} | {
    (chip, network): RCCL_PAIR for chip in AMD for network in (ETHERNET, TREES)
}
"""Software of constants for a pair of nodes, that are fitted as those inside one are."""
UNSEEN = 1 / 3
"""What a doubling of ranks or bytes adds to |ln(measured/predicted)| where rows of a chip do not show it: 20 racks of
GB200 took up to 3.1 times as long as constants of one and two racks have it, over 3.3 doublings: ln(3.1)/3.3."""
OTHER = 1.5
"""By how much a band is wider on another chip of the same die and links, and over a network that is like another."""
RUNS = 2.5
"""Mean errors that a band is at least: the rows behind most constants are of a single run, and other runs differ; of a
normal error 95 of 100 lie within.
"""
AS_MEASURED = 1.01  # an amount that exceeds another by no more is the same, rounded
RELEASE = re.compile(r"NCCL version (\d+(?:\.\d+)+)|nccl-library=(\d+)", re.IGNORECASE)


class Expected(NamedTuple):
    """The expected time of a size in seconds, with the constants behind it, None for the wires' bound.

    `least` is the bound in any case, `ring` the time without a switch, and `slowest` that of the slowest algorithm that
    may run on so many ranks, where nobody knows which does. `other` says that chip or network are not those of the
    rows, `doublings` how far the ranks are beyond theirs, and `beyond` in words all that is.
    """

    constants: CollectiveConstants | TreeConstants | None
    network: str
    time: Callable[[float], float]
    least: Callable[[float], float]
    ring: Callable[[float], float] | None = None
    slowest: Callable[[float], float] | None = None
    other: bool = False
    doublings: float = 0.0
    beyond: tuple[str, ...] = ()

    def band(self, S: float) -> float:
        """How far a sound run's time of S bytes may be from the expected one within the rows' range, as a share."""
        c = self.constants
        if c is None:
            return math.inf
        error = c.held_out if c.held_out == c.held_out else c.error
        own = getattr(c, f"band_{size_region(self.time, S)}")
        band = max(RUNS * error, own if own == own else 0.0)
        return (1 + band) ** (OTHER if self.other else 1) - 1

    def wide_band(self, S: float) -> float:
        """The same with what the distance from the rows adds."""
        c = self.constants
        if c is None:
            return math.inf
        of_ranks, of_bytes = _seen(c.growth_ranks), _seen(c.growth_bytes)
        away = of_ranks * self.doublings + of_bytes * _byte_doublings(c, S, self.time)
        most = math.exp(away)
        if self.slowest:
            most = max(most, self.slowest(S) / self.time(S))
        return (1 + self.band(S)) * most - 1


def _seen(growth: float) -> float:
    return growth if growth == growth else UNSEEN


def _byte_doublings(c: CollectiveConstants | TreeConstants, S: float, time: Callable[[float], float]) -> float:
    """How often the bytes of the rows are doubled or halved, up to where latency alone decides, or bytes alone do: from
    FILLED^2 times the time of one byte on a call is proportional to its bytes.
    """
    if c.S_least / AS_MEASURED <= S <= c.S_most * AS_MEASURED:
        return 0.0
    if c.S_most < S:
        left = math.log2(FILLED**2 * time(1.0) / time(c.S_most))
        return max(min(math.log2(S / c.S_most), left), 0.0)
    return min(math.log2(c.S_least / S), math.log2(FILLED))


def network_of(node: Node, text: str, network: str | None) -> str:
    """What joins the nodes: as it is given, or as the log names Amazon's, or else what the node's cards are for; empty
    for a node whose cards no source names.
    """
    if network:
        return TREES if network == INFINIBAND else network
    if EFA in text:
        return EFA
    if not node.nic:
        return ""
    return TREES if INFINIBAND in links[node.nic].name else ETHERNET


def expected_of(
    node: Node,
    n: int,
    collective: str,
    network: str | None = None,
    software: str | None = None,
    text: str = "",
    bound: bool = False,
) -> Expected:
    """What n chips of such nodes are expected to take, by constants if some are fitted, and else, or where only the
    `bound` is wanted, by the wires.

    Raises LogError for a network that nobody knows, and for software that was not timed.
    """
    chip = node.chip.key
    known = {TREES, INFINIBAND, EFA, SHARP, ETHERNET}
    if network is not None and network not in known:
        raise LogError(f"network: one of {', '.join(sorted(known))} was expected, got {network!r}")
    own = isinstance(node, DescribedNode)
    in_a_rack = (
        not own and collective == "all_reduce" and node.chips > 8 < n and any(of == chip for of, _ in tree_constants())
    )
    if bound or own:
        expected = _by_wires(node, n, collective, _usual(node, text, network), bound)
    elif n > node.chips or in_a_rack:
        expected = _between(node, n, collective, _usual(node, text, network))
    else:
        expected = _inside(node, n, collective, software)
    return expected._replace(beyond=tuple(_beyond(expected, chip, n, text)))


def _by_wires(node: Node, n: int, collective: str, network: str, bound: bool) -> Expected:
    """The bound of a node whose rates are said, or of some of its chips; among these constants still hold."""
    if not bound and n <= node.chips and isinstance(node, DescribedNode) and node.port is None:
        return _inside(node, n, collective, None)

    def least(S: float) -> float:
        return bound_time(node, collective, n, S, network)

    joined = INFINIBAND if network == TREES else network
    return Expected(None, joined if n > node.chips else "", least, least)


def _usual(node: Node, text: str, network: str | None) -> str:
    """The network, where it is not said: on a rack that was only timed with one, that one."""
    measured = {name.split(",")[0] for of, name in tree_constants() if of == node.chip.key}
    only = next(iter(measured)) if node.chips > 8 and len(measured) == 1 else ""
    return network_of(node, text, network or only or None)


def _between(node: Node, n: int, collective: str, network: str) -> Expected:
    chip = node.chip.key

    def least(S: float) -> float:
        return bound_time(node, collective, n, S, network)

    known = known_between(chip, n, network) if collective == "all_reduce" else None
    joined = INFINIBAND if network == TREES else network
    if known is None:
        return Expected(None, joined, least, least)
    c = known.constants
    doublings = _doublings(c, n)
    slowest = known.slowest if doublings else None
    return Expected(c, joined, known.time, least, None, slowest, known.other(chip), doublings)


class KnownNodes(NamedTuple):
    """Constants of an all-reduce over several nodes, and the seconds of a size; `slowest` are those by any constants of
    the network, and `like` is the network of the rows where that is another.
    """

    constants: CollectiveConstants | TreeConstants
    time: Callable[[float], float]
    slowest: Callable[[float], float]
    like: str = ""

    def other(self, chip: str) -> bool:
        """Whether the rows are of another chip or network."""
        return bool(self.like) or self.constants.chip != chip


def known_between(chip: str, n: int, network: str) -> KnownNodes | None:
    """The constants of an all-reduce on n GPUs of several nodes; None where nothing was fitted.

    A network that reduces is taken for one that does not, where only that was timed: NCCL reaches no less over it.
    """
    c = collective_constants().get((chip, "all_reduce", TWO_NODES.get((chip, network), "")))
    if c:
        pair = lambda S: float(collective_time(c, n, S))
        return KnownNodes(c, pair, pair, ETHERNET if network == TREES else "")
    name = network if (chip, network) in tree_constants() else TREES if network == SHARP else ""
    if (chip, name) not in tree_constants():
        return None
    trees = trees_over(chip, name)
    return KnownNodes(
        min(trees, key=lambda entry: _doublings(entry, n)),
        lambda S: float(nodes_allreduce_time(chip, n, S, name)),
        lambda S: max(float(tree_time(entry, n, S)) for entry in trees),
        "" if name == network else name,
    )


def _inside(node: Node, n: int, collective: str, software: str | None) -> Expected:
    chip = node.chip.key
    entries = {
        name: c
        for (of, op, name), c in collective_constants().items()
        if (of, op) == (chip, collective) and name not in TWO_NODES.values()
    }

    def least(S: float) -> float:
        return bound_time(node, collective, n, S)

    if software not in (None, ONE_PROCESS) and software not in entries:
        raise LogError(
            f"software: one of {', '.join(entries) or 'none'} was timed on {chip} with {collective}, got {software!r}"
        )
    usual = next((entries[name] for name in (SOFTWARE, RCCL, "torch") if name in entries), None)
    c = entries.get(software or SOFTWARE) or usual
    if c is None or not holds_among(c, n):
        return Expected(None, "", least, least)
    return Expected(
        c,
        "",
        lambda S: float(collective_time(c, n, S)),
        least,
        lambda S: float(collective_time(c, n, S, False)),
        None,
        c.chip != chip,
        _doublings(c, n),
    )


def _doublings(c: CollectiveConstants | TreeConstants, n: int) -> float:
    return float(rank_doublings(c, n))


def _beyond(expected: Expected, chip: str, n: int, text: str) -> Iterator[str]:
    """What of the question no row behind the constants has."""
    c = expected.constants
    if c is None:
        return
    if c.chip != chip:
        yield f"{chip}, by constants of {c.chip}"
    if expected.other and c.chip == chip:
        yield f"{expected.network}, by constants of {c.software}"
    if expected.doublings:
        yield f"{plural(n, 'rank')}, by rows of {span(min(c.ranks), max(c.ranks))}"
    if (release := _release(text)) and c.releases and f"NCCL {release}" not in c.releases:
        yield f"NCCL {release}, by rows of {', '.join(c.releases)}"


def span(least: float, most: float) -> str:
    """A range in words."""
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _release(text: str) -> str:
    """The release of NCCL that a log names: 2.29.2, as `NCCL version` or as a number of the library's header, 22902."""
    match = RELEASE.search(text)
    if not match:
        return ""
    if match[1]:
        return match[1]
    code = int(match[2])
    return f"{code // 10000}.{code // 100 % 100}.{code % 100}"
