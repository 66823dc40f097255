"""What a log of nccl-tests says of a machine: each row against the model of NCCL, and why rows are low.

The model's constants were fitted to published runs; its band is the error of their rows, where latency decides and
where bytes do. A cause is only named with what it would bring, so that a reader can check it; where several fit, all
are named. Where nothing was fitted, rows are held against what the wires allow, and none is called slow.
"""

from collections.abc import Iterator, Sequence
from math import ceil, inf, nan
from statistics import median
from typing import Any, NamedTuple

from hwlib.calibrated.nccl import size_region
from hwlib.calibrated.nccl_bound import between_nodes
from hwlib.calibrated.nccl_causes import Cause, alone, cards_that_carry, falls, of_the_results, results_and_machine
from hwlib.calibrated.nccl_expected import Expected, expected_of, span
from hwlib.calibrated.nccl_log import COLLECTIVES, LogError, LogRow, NcclLog
from hwlib.calibrated.nccl_machine import DescribedNode, hosts_of, partly_full
from hwlib.calibrated.nccl_settings import nccl_lines, settings_of
from hwlib.calibrated.nccl_table import MachineError, binary
from hwlib.collectives import bus_factor, nvls_port_bandwidth
from hwlib.specs import Node, links
from hwlib.specs.fitted import CollectiveConstants, TreeConstants
from hwlib.units import plural, show

__all__ = [
    "Cause",
    "JudgedRow",
    "LogVerdict",
    "binary",
    "check_collective",
    "judge_alone",
    "judge_log",
    "judge_unplaced",
]

WIRE = 0.5  # share of the best expected bandwidth from which on a row says something of the wires
NEAR_HALF = 0.4  # of what is expected: from here on half of a link would explain it, too
NEAR = 0.0625  # how near a fraction of the rails a measured fraction is at least, with eight of them
SMALL = 2**26  # bytes up to which NCCL takes its protocols of low latency, on many ranks
RING = 2  # mean errors within which a time is that of a ring
ONE_CARD, AT_MOST = 0.7, 1.05  # shares of a card's rate that its only user reaches
IMPOSSIBLE = 1.02  # times the wires' rate, beyond which no run is: clocks and printed digits are not exact
OPERATIONS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce", "gather", "scatter")
OPERATIONS += ("send",)
GIVEN_BY = {"n (ranks)": ", as in --gpus 8 or --on '1x8 h100-sxm'", "collective": ", as in --collective all_gather"}
ODD_TESTS = ("hypercube", "alltoallv")
"""Tests that do in their own way what constants were fitted to: the wires alone bound them."""


class JudgedRow(NamedTuple):
    """A row beside the model's: seconds and B/s.

    `regime` is "latency", "ring", "switch", "nodes", "wires" (nothing was fitted) or "unknown" (no machine is known,
    and what is expected is nan). `verdict` is "ok", "slow" (beyond the band), "fast", "unknown" (beyond what was
    measured or what is possible, or nothing was measured), or "wrong" at any speed: its results are false, or may be.
    `band` is how far the time of a sound run may be from the expected one, as a share; infinite where nothing was
    measured.
    """

    S: int
    time: float
    busbw: float
    expected_time: float
    expected_busbw: float
    regime: str
    verdict: str
    band: float = 0.0

    @property
    def share(self) -> float:
        """Measured bandwidth over the expected one."""
        return self.expected_time / self.time


class LogVerdict(NamedTuple):
    """All that is found: the machine, the rows, the causes, and the band (a share, where bytes decide) and its source;
    `holds` says in words where its constants hold, and `beyond` what of this log does not; `unread` are the numbers of
    the log's lines that are cut.
    """

    chip: str
    collective: str
    n: int
    hosts: int
    network: str
    band: float
    source: str
    rows: tuple[JudgedRow, ...]
    causes: tuple[Cause, ...]
    unread: tuple[int, ...] = ()
    holds: str = ""
    beyond: tuple[str, ...] = ()
    ranks_by: str = ""

    @property
    def passed(self) -> bool:
        """Whether every row of the log was read, none is wrong and none slow."""
        return not self.unread and all(row.verdict in ("ok", "fast", "unknown") for row in self.rows)

    @property
    def certified(self) -> bool:
        """Whether nothing is to be looked at: it passed, some row is judged, none is faster than links allow, and the
        processes ran together.
        """
        return self.passed and self.judged and not self.impossible and all(c.kind != "no-mpi" for c in self.causes)

    @property
    def impossible(self) -> tuple[int, ...]:
        """The sizes that take less time than any run."""
        return next((cause.sizes for cause in self.causes if cause.kind == "impossible"), ())

    @property
    def judged(self) -> bool:
        """Whether any row could be held against what was measured."""
        return any(row.verdict != "unknown" for row in self.rows)

    @property
    def slow(self) -> tuple[JudgedRow, ...]:
        """The rows that are slower than the band allows."""
        return tuple(row for row in self.rows if row.verdict == "slow")


def judge_log(
    log: NcclLog,
    node: Node,
    n: int | None = None,
    collective: str | None = None,
    network: str | None = None,
    software: str | None = None,
    hosts: int | None = None,
) -> LogVerdict:
    """Hold a log against the model of NCCL on n GPUs of such nodes; what is None is what the log says.

    `network` joins the nodes: "InfiniBand", "EFA", "InfiniBand SHARP", "Ethernet"; the one that the log names, or that
    the node's cards are for. `software` timed the calls, by the names of `collective_constants`: nccl-tests, where
    nothing is said in one process or in many, as the log has it. Raises LogError if the log does not say what is not
    given, contradicts it, or if the collective is not one of OPERATIONS. Where nothing was fitted the wires are what
    rows are held against. `hosts` are the nodes, of which some or all may be partly full.
    """
    collective = _agreed_collective(collective, log)
    n = _agreed("n (ranks)", n, log.n)
    hosts = _agreed_hosts(hosts, log)
    _check_ranks(node, n, hosts)
    nodes_used = hosts_of(n, node, hosts)
    node = partly_full(node, ceil(n / nodes_used)) if nodes_used > 1 else node
    if not any(row.S for row in log.rows):
        raise LogError("size: a row of more than 0 bytes was expected, and all rows of this log have 0")
    timed_by = software or ("nccl-tests, one process" if log.processes == 1 else None)
    expected = expected_of(node, n, collective, network, timed_by, log.text, log.test in ODD_TESTS)
    known = expected.constants
    verdict = LogVerdict(
        node.chip.key,
        collective,
        n,
        nodes_used,
        expected.network,
        expected.band(max(row.S for row in log.rows)),
        known.source if known else "",
        tuple(_judged(row, n, collective, expected) for row in log.rows if row.S),
        (),
        log.unread,
        _holds(known),
        expected.beyond,
        log.ranks_by,
    )
    return verdict._replace(causes=tuple(_causes(verdict, node, log, expected)))


def judge_alone(log: NcclLog) -> LogVerdict:
    """What a log says whose processes each ran as their only rank: nothing of links, and why."""
    causes = (*of_the_results(log), alone(log))
    return _unheld(log, log.collective, 1, 0, causes)


def judge_unplaced(log: NcclLog, why: str, collective: str | None = None, n: int | None = None) -> LogVerdict:
    """What a log says of itself where nobody knows its machine, and why that is."""
    collective = _agreed_collective(collective, log) if collective or log.collective else ""
    n = _agreed("n (ranks)", n, log.n) if n or log.n else 0
    hosts = log.hosts or 0
    causes = [
        Cause("no-machine", f"{why}. No row is held against anything"),
        *of_the_results(log),
        *(_of_the_columns(log, collective, n) if n > 1 and collective else ()),
        *cards_that_carry(log),
        *nccl_lines(log.text),
        *settings_of(log.text, hosts, n),
        *falls(log),
    ]
    return _unheld(log, collective, n, hosts, tuple(causes))


def _unheld(log: NcclLog, collective: str | None, n: int, hosts: int, causes: tuple[Cause, ...]) -> LogVerdict:
    rows = tuple(map(_unheld_row, log.rows))
    return LogVerdict("", collective or "", n, hosts, "", inf, "", rows, causes, log.unread, ranks_by=log.ranks_by)


def _unheld_row(row: LogRow) -> JudgedRow:
    verdict = "wrong" if row.check == "failed" else "unknown"
    return JudgedRow(row.S, row.time, row.busbw, nan, nan, "unknown", verdict, inf)


def check_collective(collective: str | None) -> None:
    """Raises LogError for a collective that is known and not modelled."""
    if collective is not None and collective not in OPERATIONS:
        raise LogError(f"collective: one of {', '.join(OPERATIONS)} was expected, got {collective!r}: no model of it")


def _agreed_collective(collective: str | None, log: NcclLog) -> str:
    """The collective, which may be said by the name of its test. Raises LogError for one that is not modelled."""
    collective = COLLECTIVES.get(collective or "", collective)
    check_collective(collective)
    agreed: str = _agreed("collective", collective, log.collective)
    check_collective(agreed)
    return agreed


def _agreed_hosts(hosts: int | None, log: NcclLog) -> int | None:
    if hosts and log.hosts and hosts != log.hosts:
        raise LogError(f"nodes: {hosts} are given, and the log says {log.hosts}")
    return hosts or log.hosts


def _check_ranks(node: Node, n: int, hosts: int | None) -> None:
    if n < 2:
        raise LogError(
            f"n (ranks): at least 2 were expected, got {n}: one rank sends nothing; if several processes were started, "
            "each of them is alone, as where nccl-tests was built without MPI=1"
        )
    if hosts == 1 and n > node.chips and not node.egress_bandwidth:
        joined = " that bridges between GPUs join" if node.shape == "mesh" else ""
        raise MachineError(
            f"n (ranks): the log has {n} on one host, and {node.key} has {node.chips}{joined}: no machine of the "
            f"tables has so many {node.chip.name}; say what each sends to all others, as in --on '1x{n} "
            f"{node.chip.key}, node {show(node.pcie_bandwidth or node.scaleup_bandwidth, 'B/s', 2)}'"
        )
    if n > node.chips and n % node.chips and not hosts:
        raise MachineError(
            f"n (ranks): {n} do not fill nodes of {node.chips} GPUs ({node.key}); say how many each has, as in --on "
            f"'{_shape(n, node)} {node.chip.key}'"
        )


def _shape(n: int, node: Node) -> str:
    """Nodes and chips of each that have n ranks, with as many of a node's chips as divide them."""
    each = max(k for k in range(1, node.chips + 1) if n % k == 0)
    return f"{n // each}x{each}"


def _holds(c: CollectiveConstants | TreeConstants | None) -> str:
    """Where constants hold, in words."""
    if c is None:
        return ""
    releases = f", {', '.join(c.releases)}" * bool(c.releases)
    return f"{c.chip}, {span(min(c.ranks), max(c.ranks))} ranks, {binary(c.S_least)} to {binary(c.S_most)}{releases}"


def _agreed(name: str, given: Any, read: Any) -> Any:
    if given is None and read is None:
        raise LogError(f"{name}: the log does not say it; give it{GIVEN_BY.get(name, '')}")
    if given is not None and read is not None and given != read:
        raise LogError(f"{name}: {given} is given, and the log says {read}")
    return read if given is None else given


def _judged(row: LogRow, n: int, collective: str, model: Expected) -> JudgedRow:
    expected = float(model.time(row.S))
    factor = bus_factor(collective, n)
    judged = JudgedRow(
        row.S,
        row.time,
        row.busbw,
        expected,
        factor * row.S / expected,
        _regime(row.S, model),
        "",
        model.wide_band(row.S),
    )
    if row.check == "failed":
        return judged._replace(verdict="wrong")
    impossible = _impossible(row.S, row.time, model)
    return judged._replace(verdict="unknown" if impossible else _verdict(judged, model.band(row.S)))


def _impossible(S: float, time: float, model: Expected) -> bool:
    """Whether a run takes less time than its bytes need at the data sheet's rates."""
    return time * IMPOSSIBLE < model.least(S)


def _regime(S: float, model: Expected) -> str:
    """What decides the expected time."""
    c = model.constants
    if c is None:
        return "wires"
    if size_region(model.time, S) == "latency":
        return "latency"
    if isinstance(c, TreeConstants):
        return "nodes"
    return "switch" if model.ring and model.time(S) < 0.999 * model.ring(S) else "ring"


def _verdict(row: JudgedRow, band: float) -> str:
    """Beyond the rows that were measured a time may be further from the expected one, and then nobody knows."""
    if row.share < 1 / (1 + row.band):
        return "slow"
    if row.share > 1 + row.band:
        return "fast"
    return "ok" if band < inf and 1 / (1 + band) <= row.share <= 1 + band else "unknown"


def _causes(v: LogVerdict, node: Node, log: NcclLog, model: Expected) -> Iterator[Cause]:
    yield from results_and_machine(log, node)
    yield from _of_the_range(v, model)
    yield from _of_the_columns(log, v.collective, v.n)
    yield from nccl_lines(log.text)
    yield from settings_of(log.text, v.hosts, v.n)
    yield from _of_large_rows(v, node, model)
    yield from falls(log)
    if model.constants is None:
        yield from _of_the_cards(v, node)
    yield from _of_small_rows(v)


def _of_the_range(v: LogVerdict, model: Expected) -> Iterator[Cause]:
    """Where the constants hold, and what is faster than any machine of this kind."""
    if model.constants is None:
        yield Cause(
            "unmeasured",
            f"no run of {v.collective} on {v.chip}{f' over {v.network}' if v.network else ''} is behind any constants "
            "here: what is expected is the least time that the data sheet's rates allow, which no run reaches, and no "
            "row is judged by it",
        )
    elif v.beyond:
        yield Cause(
            "beyond",
            f"not as measured: {'; '.join(v.beyond)}. The constants are of {v.holds}; the further from there, the "
            "wider the band, and what is between is called unknown",
        )
    impossible = tuple(row.S for row in v.rows if _impossible(row.S, row.time, model))
    if impossible:
        yield Cause(
            "impossible",
            f"{len(impossible)} sizes take less time than their bytes need at the data sheet's rate of "
            f"{'the links' if v.hosts == 1 else 'the links and the cards'}: another machine, another number of ranks, "
            "or a clock that was read before the calls had ended",
            impossible,
        )


def _of_the_cards(v: LogVerdict, node: Node) -> Iterator[Cause]:
    """Whether what leaves a node is what one of its cards carries."""
    if v.hosts < 2 or not node.nic or node.nics < 2 or (isinstance(node, DescribedNode) and not node.part):
        return
    card = links[node.nic].bandwidth
    best = max(v.rows, key=lambda row: row.busbw)
    leaves = between_nodes(v.collective, v.hosts, node.chips, v.network) * best.S / best.time
    if ONE_CARD * card < leaves < AT_MOST * min(card, node.egress_bandwidth):
        slot = node.pcie_bandwidth
        each = f"; the slot of a GPU carries {show(slot, 'B/s', 3)}, whatever cards there are" if slot else ""
        yield Cause(
            "one-nic",
            f"at its best {show(leaves, 'B/s', 3)} leave a node, about what one of its {node.nics} cards carries "
            f"({show(card, 'B/s', 3)}): a GPU sends through the card nearest to it, and with "
            f"{plural(node.chips, 'GPU')} in use the others carry nothing{each}",
            (best.S,),
        )


def _of_the_columns(log: NcclLog, collective: str, n: int) -> Iterator[Cause]:
    """What the two bandwidths and the average say of each other."""
    factor = bus_factor(collective, n)
    odd = tuple(row.S for row in log.rows if row.algbw > 1e9 and abs(row.busbw / row.algbw / factor - 1) > 0.03)
    best = max(log.rows, key=lambda row: (row.algbw > 1e9, row.busbw))
    if odd:
        plain = abs(best.busbw / best.algbw - 1) < 0.03
        statement = (
            "busbw is S/t, which is the algorithm bandwidth" if plain else f"{best.busbw / best.algbw:.3f} was printed"
        )
        yield Cause(
            "columns",
            f"busbw is {factor:.3f} times algbw in {collective} of {n} ranks, and here {statement}: "
            "another number of ranks, another collective, or columns of another program",
            odd,
        )
    elif factor > 1.01 or factor < 0.99:
        yield Cause(
            "algbw",
            f"compare busbw with a link, not algbw: at its best the log has {show(best.algbw, 'B/s', 3)} and "
            f"{show(best.busbw, 'B/s', 3)}, {factor:.3f} times as much, in the same {show(best.time, 's', 3)}",
            (best.S,),
        )
    if log.average and log.average < 0.8 * best.busbw:
        yield Cause(
            "average",
            f"the average of {show(log.average, 'B/s', 3)} mixes sizes that wait with sizes that send: it is a "
            "number of "
            f"the list of sizes, and the machine's is the largest row's, {show(best.busbw, 'B/s', 3)}",
        )


def _of_large_rows(v: LogVerdict, node: Node, model: Expected) -> Iterator[Cause]:
    """The rows whose bytes decide: what all of them lack, or what only the middle ones do."""
    rows = [row for row in v.rows if row.verdict != "wrong"]
    if not rows:
        return
    peak = max(row.expected_busbw for row in rows)
    wire = [row for row in rows if row.regime != "latency" and row.expected_busbw >= WIRE * peak]
    if not wire:
        yield Cause(
            "too-small",
            f"no size here is large enough to show a bandwidth: the model takes "
            f"{show(rows[-1].expected_time, 's', 3)} "
            "for the largest, most of it latency; add sizes up to -e 8G",
        )
        return
    slow, last = [row for row in wire if row.verdict == "slow"], wire[-1]
    above = [row for row in wire if row.busbw > node.scaleup_bandwidth and row.regime == "switch"]
    if above and not slow:
        port = nvls_port_bandwidth(v.n, above[-1].busbw)
        yield Cause(
            "above-line-rate",
            f"busbw exceeds the port's {show(node.scaleup_bandwidth, 'B/s', 3)} because the switch reduces (NVLS): "
            f"{show(port, 'B/s', 3)} of bytes cross a port, (n + 1)/(2(n - 1)) of what is printed",
            tuple(row.S for row in above),
        )
    if not slow:
        return
    sizes = tuple(row.S for row in slow)
    if last.verdict != "slow":
        yield _settings(slow, sizes, v)
    elif v.hosts > 1:
        yield from _between_nodes(slow, sizes, node, v)
    else:
        yield from _inside(slow, sizes, v, node, model)


def _settings(slow: Sequence[JudgedRow], sizes: tuple[int, ...], v: LogVerdict) -> Cause:
    if len(slow) == 1:
        return Cause(
            "dip",
            f"one size takes {1 / slow[0].share:.2f} times the expected time and larger ones do not: NCCL may have "
            "changed "
            "algorithm or protocol there too early or too late; compare with NCCL_ALGO and NCCL_PROTO set",
            sizes,
        )
    wires = "wires between the nodes" if v.hosts > 1 else "links"
    return Cause(
        "settings",
        f"{len(slow)} sizes take up to {1 / min(row.share for row in slow):.2f} times the expected time, and the "
        "largest is "
        f"as expected: the {wires} are all there. Candidates: the protocol and its limits, chunk size, channels, a "
        "plugin "
        "or its environment that is not loaded, neighbours on the network",
        sizes,
    )


def _between_nodes(slow: Sequence[JudgedRow], sizes: tuple[int, ...], node: Node, v: LogVerdict) -> Iterator[Cause]:
    share, nics = median(row.share for row in slow), int(node.nics or 0)
    if nics and share < 0.9 / nics:
        yield Cause(
            "sockets",
            f"the large sizes reach {share:.0%} of what is expected, less than one of {nics} NICs would bring "
            f"({1 / nics:.0%}). Candidates: TCP sockets instead of RDMA (NET/Socket in NCCL_DEBUG=INFO), one NIC for "
            "all GPUs",
            sizes,
        )
        return
    if left := _cards_left(slow, share, nics, node, v):
        yield Cause(
            "rails",
            f"the large sizes reach {share:.0%} of what is expected, as with {left} of {nics} NICs: look for a port "
            "that is down or slower, or a NIC that NCCL_IB_HCA leaves out",
            sizes,
        )
    yield Cause(
        "host-copies",
        f"another candidate for {share:.0%}: data go through the host's memory because GPUDirect RDMA is not in use "
        "(GDRDMA is missing behind NET/IB in NCCL_DEBUG=INFO), or the network is shared or oversubscribed",
        sizes,
    )


def _cards_left(slow: Sequence[JudgedRow], share: float, nics: int, node: Node, v: LogVerdict) -> int:
    """How many cards would bring such times: by their share, or by what they carry at most; 0 if no number fits."""
    if not nics:
        return 0
    last = slow[-1]
    needs = between_nodes(v.collective, v.hosts, node.chips, v.network) * last.S / node.egress_bandwidth
    for reached in (share, needs / last.time):
        left = round(nics * reached)
        if 0 < left < nics and abs(reached - left / nics) < NEAR:
            return left
    return 0


def _inside(
    slow: Sequence[JudgedRow], sizes: tuple[int, ...], v: LogVerdict, node: Node, model: Expected
) -> Iterator[Cause]:
    best, c = max(row.busbw for row in slow), model.constants
    share = median(row.share for row in slow)
    if node.pcie_bandwidth and best < 1.05 * node.pcie_bandwidth:
        maybe = share > NEAR_HALF  # a link that has lost half its lanes brings as much
        yield Cause(
            "pcie",
            f"{show(best, 'B/s', 3)} is no more than PCIe carries ({show(node.pcie_bandwidth, 'B/s', 3)}): the links "
            f"between GPUs {'may not be' if maybe else 'are not'} in use. Look for NV or XGMI entries in `nvidia-smi "
            "topo -m` or `rocm-smi --showtopo`, for SHM or PHB in NCCL_DEBUG=INFO, for NCCL_P2P_DISABLE",
            sizes,
        )
        if not maybe:
            return
    by_ring = _beside_ring(slow, model)
    if by_ring < max(v.band, RING * c.error if c else 0.0):
        yield Cause(
            "no-nvls",
            f"{show(slow[-1].busbw, 'B/s', 3)} is about what a ring brings where the switch could reduce "
            f"({show(slow[-1].expected_busbw, 'B/s', 3)}): NVLS is off or not available. Look for NVLS in "
            "NCCL_DEBUG=INFO, for NCCL_NVLS_ENABLE=0, for a fabric manager that does not run",
            sizes,
        )
        if by_ring < (c.error if c else 0.0):
            return
    yield Cause(
        "unknown",
        f"the large sizes reach {share:.0%} of what is expected. Candidates: links that are down or have lost half of "
        "their lanes (`nvidia-smi nvlink --status`, `amd-smi xgmi`), fewer channels than usual (NCCL_MAX_NCHANNELS), a "
        "capped clock, another job",
        sizes,
    )


def _beside_ring(slow: Sequence[JudgedRow], model: Expected) -> float:
    """How far the rows are from a ring's time, as a share; infinite where the switch does not reduce."""
    if not model.ring or slow[-1].regime != "switch":
        return inf
    return abs(median(model.ring(row.S) / row.time for row in slow) - 1)


def _of_small_rows(v: LogVerdict) -> Iterator[Cause]:
    waiting = [row for row in v.rows if row.regime == "latency" and row.verdict != "wrong"]
    if waiting:
        protocol = ", and NCCL sends by LL or LL128" * (waiting[-1].S <= SMALL)
        yield Cause(
            "latency",
            f"up to {binary(waiting[-1].S)} the time is latency{protocol}: read the time, not the "
            f"bandwidth; of the smallest {show(waiting[0].expected_time, 's', 3)} is expected, and "
            f"{show(waiting[0].time, 's', 3)} measured",
            tuple(row.S for row in waiting),
        )
    if len(slow := [row for row in waiting if row.verdict == "slow"]) > len(waiting) / 3:
        more = median(row.time - row.expected_time for row in slow)
        yield Cause(
            "slow-calls",
            f"small sizes take {show(more, 's', 2)} more than expected. Candidates: a launch from Python or without "
            "a CUDA "
            "graph is in the time, an older NCCL, a protocol that is switched off (NCCL_PROTO), a busy host",
            tuple(row.S for row in slow),
        )
