"""What a log of nccl-tests says of a machine: each row against the model of NCCL, and why rows are low.

The model's constants were fitted to published runs; its band is BAND times the mean error on rows that the fit had not
seen. A cause is only named with what it would bring, so that a reader can check it; where several fit, all are named.
"""

from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any, NamedTuple

from hwlib.calibrated.nccl import collective_time, nodes_allreduce_time
from hwlib.calibrated.nccl_causes import Cause, nccl_lines, results_and_machine
from hwlib.calibrated.nccl_log import LogError, LogRow, NcclLog
from hwlib.collectives import bus_factor, nvls_port_bandwidth
from hwlib.specs import Node
from hwlib.specs.fitted import CollectiveConstants, TreeConstants, collective_constants, tree_constants
from hwlib.units import show

__all__ = ["Cause", "JudgedRow", "LogVerdict", "binary", "judge_log"]

BAND = 2.5  # mean errors: 95 of 100 rows of a normal error lie within
WIRE = 0.5  # share of the best expected bandwidth from which on a row says something of the wires
NEAR = 0.06  # how near a fraction of the rails a measured fraction has to be
SOFTWARE = "nccl-tests"


class JudgedRow(NamedTuple):
    """A row beside the model's: seconds and B/s; `regime` is "latency", "ring", "switch" or "nodes", and `verdict` is
    "ok", "slow" (beyond the band), "fast", or "wrong" at any speed: its results are false, or may be.
    """

    S: int
    time: float
    busbw: float
    expected_time: float
    expected_busbw: float
    regime: str
    verdict: str

    @property
    def share(self) -> float:
        """Measured bandwidth over the expected one."""
        return self.expected_time / self.time


class LogVerdict(NamedTuple):
    """All that is found: the machine, the rows, the causes, and the band (a fraction) and its source; `unread` are the
    numbers of the log's lines that are cut.
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

    @property
    def passed(self) -> bool:
        """Whether every row of the log was read, none is wrong and none slow."""
        return not self.unread and all(row.verdict in ("ok", "fast") for row in self.rows)

    @property
    def slow(self) -> tuple[JudgedRow, ...]:
        """The rows that are slower than the band allows."""
        return tuple(row for row in self.rows if row.verdict == "slow")


class _Model(NamedTuple):
    constants: CollectiveConstants | TreeConstants
    network: str
    time: Callable[[float], float]


def judge_log(
    log: NcclLog, node: Node, n: int | None = None, collective: str | None = None, network: str | None = None
) -> LogVerdict:
    """Hold a log against the model of NCCL on n GPUs of such nodes; what is None is what the log says.

    `network` joins the nodes, by the names of `tree_constants`: the only one that is known, or EFA if the log names it,
    or NVLSTree (over InfiniBand). Raises LogError if the log does not say what is not given, contradicts it, or if no
    constants were fitted for the chip, the collective or the network: a machine that is not known is not guessed.
    """
    collective = _agreed("collective", collective, log.collective)
    n = _agreed("n (ranks)", n, log.n)
    if n < 2:
        raise LogError(f"n (ranks): at least 2 were expected, got {n}: one rank sends nothing")
    if log.hosts and log.hosts > 1 and n <= node.chips and not node.chips > 8:
        raise LogError(
            f"hosts: the log has {n} ranks on {log.hosts} hosts, and nodes of {node.chips} are modelled full"
        )
    if n > node.chips and n % node.chips:
        raise LogError(f"n (ranks): {n} do not fill nodes of {node.chips} GPUs ({node.key})")
    if not any(row.S for row in log.rows):
        raise LogError("size: a row of more than 0 bytes was expected, and all rows of this log have 0")
    model = _model(node, n, collective, network, log)
    rows = tuple(_judged(row, n, collective, model) for row in log.rows if row.S)
    known = model.constants
    error = known.held_out if known.held_out == known.held_out else known.error
    verdict = LogVerdict(
        node.chip.key,
        collective,
        n,
        max(n // node.chips, 1),
        model.network,
        BAND * error,
        known.source,
        rows,
        (),
        log.unread,
    )
    rows = tuple(row._replace(verdict=row.verdict or _verdict(row, verdict.band)) for row in rows)
    verdict = verdict._replace(rows=rows)
    return verdict._replace(causes=tuple(_causes(verdict, node, log, model)))


def _agreed(name: str, given: Any, read: Any) -> Any:
    if given is None and read is None:
        raise LogError(f"{name}: the log does not say it; give it")
    if given is not None and read is not None and given != read:
        raise LogError(f"{name}: {given} is given, and the log says {read}")
    return read if given is None else given


def _model(node: Node, n: int, collective: str, network: str | None, log: NcclLog) -> _Model:
    chip = node.chip.key
    trees = {name: c for (of, name), c in tree_constants().items() if of == chip and c.op == collective}
    if n > node.chips or (node.chips > 8 < n and trees):
        if not trees:
            known = ", ".join(f"{of} ({name})" for of, name in tree_constants())
            raise LogError(f"no constants of {collective} over several nodes are fitted for {chip}; known: {known}")
        named = network or next(iter(trees) if len(trees) == 1 else iter(["EFA" if "EFA" in log.text else "NVLSTree"]))
        if named not in trees:
            raise LogError(f"network: one of {', '.join(trees)} was expected for {chip}, got {named!r}")
        return _Model(trees[named], named, lambda S: nodes_allreduce_time(chip, n, S, named))
    try:
        c = collective_constants()[chip, collective, SOFTWARE]
    except KeyError:
        known = ", ".join(f"{of} {op}" for of, op, software in collective_constants() if software == SOFTWARE)
        raise LogError(f"no constants of {collective} are fitted for {chip}; known: {known}") from None
    return _Model(c, "", lambda S: collective_time(c, n, S))


def _judged(row: LogRow, n: int, collective: str, model: _Model) -> JudgedRow:
    expected = float(model.time(row.S))
    factor = bus_factor(collective, n)
    verdict = "wrong" if row.check == "failed" else ""
    return JudgedRow(row.S, row.time, row.busbw, expected, factor * row.S / expected, _regime(row.S, n, model), verdict)


def _regime(S: float, n: int, model: _Model) -> str:
    """What decides the expected time: latency where half of it is spent before the bytes count."""
    if model.time(S) < 2 * model.time(1.0):
        return "latency"
    c = model.constants
    if isinstance(c, TreeConstants):
        return "nodes"
    return "switch" if c.W_switch < float("inf") and model.time(S) < 0.999 * collective_time(c, n, S, False) else "ring"


def _verdict(row: JudgedRow, band: float) -> str:
    return "slow" if row.share < 1 / (1 + band) else "fast" if row.share > 1 + band else "ok"


def _causes(v: LogVerdict, node: Node, log: NcclLog, model: _Model) -> Iterator[Cause]:
    yield from results_and_machine(log, node)
    yield from _of_the_columns(v, log)
    yield from nccl_lines(log)
    yield from _of_large_rows(v, node, model)
    yield from _of_small_rows(v)


def _of_the_columns(v: LogVerdict, log: NcclLog) -> Iterator[Cause]:
    """What the two bandwidths and the average say of each other."""
    factor = bus_factor(v.collective, v.n)
    odd = tuple(row.S for row in log.rows if row.algbw > 1e9 and abs(row.busbw / row.algbw / factor - 1) > 0.03)
    best = max(log.rows, key=lambda row: (row.algbw > 1e9, row.busbw))
    if odd:
        plain = abs(best.busbw / best.algbw - 1) < 0.03
        statement = (
            "busbw is S/t, which is the algorithm bandwidth" if plain else f"{best.busbw / best.algbw:.3f} was printed"
        )
        yield Cause(
            "columns",
            f"busbw is {factor:.3f} times algbw in {v.collective} of {v.n} ranks, and here {statement}: "
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


def _of_large_rows(v: LogVerdict, node: Node, model: _Model) -> Iterator[Cause]:
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
        yield from _between_nodes(slow, sizes, node)
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


def _between_nodes(slow: Sequence[JudgedRow], sizes: tuple[int, ...], node: Node) -> Iterator[Cause]:
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
    if nics and abs(share - round(nics * share) / nics) < NEAR / 2 and round(nics * share) < nics:
        left = round(nics * share)
        yield Cause(
            "rails",
            f"the large sizes reach {share:.0%} of what is expected, and {left} of {nics} NICs would bring "
            f"{left / nics:.0%}: "
            "look for a port that is down or slower, or a NIC that NCCL_IB_HCA leaves out",
            sizes,
        )
    yield Cause(
        "host-copies",
        f"another candidate for {share:.0%}: data go through the host's memory because GPUDirect RDMA is not in use "
        "(GDRDMA is missing behind NET/IB in NCCL_DEBUG=INFO), or the network is shared or oversubscribed",
        sizes,
    )


def _inside(
    slow: Sequence[JudgedRow], sizes: tuple[int, ...], v: LogVerdict, node: Node, model: _Model
) -> Iterator[Cause]:
    best, c = max(row.busbw for row in slow), model.constants
    if node.pcie_bandwidth and best < 1.05 * node.pcie_bandwidth:
        yield Cause(
            "pcie",
            f"{show(best, 'B/s', 3)} is no more than PCIe carries ({show(node.pcie_bandwidth, 'B/s', 3)}): NVLink is "
            "not in "
            "use. Look for NV entries in `nvidia-smi topo -m`, for SHM or PHB in NCCL_DEBUG=INFO, for NCCL_P2P_DISABLE",
            sizes,
        )
        return
    if isinstance(c, CollectiveConstants) and slow[-1].regime == "switch":
        ring = [bus_factor(c.op, v.n) * row.S / float(collective_time(c, v.n, row.S, False)) for row in slow]
        ratios = [row.busbw / by_ring for row, by_ring in zip(slow, ring, strict=True)]
        if abs(median(ratios) - 1) < v.band:
            yield Cause(
                "no-nvls",
                f"{show(slow[-1].busbw, 'B/s', 3)} is what a ring brings ({show(ring[-1], 'B/s', 3)}) where the "
                "switch could "
                f"reduce ({show(slow[-1].expected_busbw, 'B/s', 3)}): NVLS is off or not available. Look for NVLS in "
                "NCCL_DEBUG=INFO, for NCCL_NVLS_ENABLE=0, for a fabric manager that does not run",
                sizes,
            )
            return
    share = median(row.share for row in slow)
    yield Cause(
        "unknown",
        f"the large sizes reach {share:.0%} of what is expected and fit neither a ring nor PCIe. Candidates: links "
        "that are "
        "down (`nvidia-smi nvlink --status`), fewer channels than usual (NCCL_MAX_NCHANNELS), a capped clock, "
        "another job",
        sizes,
    )


def _of_small_rows(v: LogVerdict) -> Iterator[Cause]:
    waiting = [row for row in v.rows if row.regime == "latency" and row.verdict != "wrong"]
    if waiting:
        yield Cause(
            "latency",
            f"up to {binary(waiting[-1].S)} the time is latency, and NCCL sends by LL or LL128: read the time, not the "
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


def binary(S: float) -> str:
    """A size in the unit in which benchmarks step: 32768 as 32 KiB; in bytes where it is no multiple of one.

    >>> [binary(S) for S in (1000, 1536, 2**33)]
    ['1000 B', '1.5 KiB', '8 GiB']
    """
    for name, unit in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if unit <= S and (S / unit * 64).is_integer():
            return f"{S / unit:g} {name}"
    return f"{S:g} B"
