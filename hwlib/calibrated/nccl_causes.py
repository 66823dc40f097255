"""What a log of nccl-tests says of itself: its results, its ranks, its GPU, and where its bandwidth falls."""

import re
from collections.abc import Iterator
from math import ceil

from hwlib.calibrated.nccl_log import NcclLog
from hwlib.calibrated.nccl_machine import logged_gpu
from hwlib.calibrated.nccl_settings import Cause
from hwlib.calibrated.nccl_table import binary
from hwlib.specs import Node
from hwlib.units import plural, show

__all__ = ["Cause", "alone", "cards_that_carry", "falls", "of_the_results", "results_and_machine"]

LINES = 5  # that are named of those that could not be read
A_NODE = 8  # ranks that most nodes have
PORTS = (100, 200, 400, 800)  # Gbit/s of usual network cards
MOST_OF = 0.9  # of its rate a card carries at its best
SMALLEST = 10e9  # B/s, below which many a number of ports would do
FALLS = 0.85  # of its best bandwidth a log's largest size has, where it falls
BITS = re.compile(r"Bitwise mismatches ?: ?[1-9]")


def results_and_machine(log: NcclLog, node: Node) -> Iterator[Cause]:
    """What has to be known before any bandwidth is read."""
    yield from of_the_results(log)
    yield from _of_the_machine(log, node)


def of_the_results(log: NcclLog) -> Iterator[Cause]:
    """What was not right, what was not looked at, and what was not read."""
    if any(row.bits for row in log.rows) or BITS.search(log.text):
        yield Cause(
            "not-repeatable",
            "#bitdiff is not 0: the same call gives other bits from run to run, as an order of sums that changes does; "
            "values may be right all the same",
            tuple(row.S for row in log.rows if row.bits),
        )
    failed = [row for row in log.rows if row.check == "failed"]
    if failed:
        seen = any(row.wrong for row in failed)
        sign = "#wrong is not 0" if seen else "the end of the log says FAILED, and no row shows which values are wrong"
        yield Cause(
            "wrong-results",
            f"{sign}: results are false, and no bandwidth of this run counts",
            tuple(row.S for row in failed),
        )
    if unchecked := tuple(row.S for row in log.rows if row.check == "none"):
        yield Cause(
            "unchecked",
            "#wrong is N/A: whether the results are right was not checked, only how long they took",
            unchecked,
        )
    if log.unread:
        lines = ", ".join(map(str, log.unread[:LINES])) + ", ..." * (len(log.unread) > LINES)
        yield Cause("unread", f"{len(log.unread)} rows are cut, and were not judged: lines {lines} of the log")
    if empty := sum(not row.S for row in log.rows):
        yield Cause("empty", f"{empty} rows of 0 bytes send nothing, and were not judged")


def _of_the_machine(log: NcclLog, node: Node) -> Iterator[Cause]:
    if log.apart > 1:
        yield Cause(
            "no-mpi",
            f"{log.apart} processes each list a rank 0: each ran a test of its own of {log.n} ranks, and "
            "nothing went between them. nccl-tests was built without MPI (make MPI=1 MPI_HOME=...)",
        )
    gpu = logged_gpu(log.gpu)
    if not log.gpu or (gpu and gpu.chip == node.chip.key):
        return
    yield Cause(
        "machine", f"the log's GPU is {log.gpu!r}, and what is expected was measured on another: {node.chip.name}"
    )


def alone(log: NcclLog) -> Cause:
    """Why a log of processes that ran each for itself says nothing of links."""
    if log.alone > 1:
        return Cause(
            "no-mpi",
            f"{log.alone} processes ran, and each calls itself rank 0: busbw is 0 because each was the only rank and "
            "sent nothing. nccl-tests was built without MPI (make MPI=1 MPI_HOME=...), or was started by another MPI "
            "than the one it was built with",
        )
    return Cause(
        "one-rank",
        "busbw is 0 because one rank sends nothing: give a process several GPUs (-g 8), or start several processes of "
        "a program that was built with MPI=1",
    )


def cards_that_carry(log: NcclLog) -> Iterator[Cause]:
    """How many network cards of usual rates would carry the best bandwidth of several nodes that nobody knows."""
    best = max(log.rows, key=lambda row: row.busbw)
    if log.hosts == 1 or (log.n or 0) <= A_NODE or best.busbw < SMALLEST:
        return
    counts = {rate: ceil(best.busbw / (rate / 8 * 1e9)) for rate in PORTS}
    near = {rate: k for rate, k in counts.items() if best.busbw > MOST_OF * k * rate / 8 * 1e9}
    if near:
        words = " or ".join(f"{plural(k, 'port')} of {rate} Gbit/s" for rate, k in near.items())
        yield Cause(
            "cards",
            f"{show(best.busbw, 'B/s', 3)} of busbw is {MOST_OF:.0%} or more of what {words} of a node carry, if these "
            "ranks fill several nodes",
            (best.S,),
        )


def falls(log: NcclLog) -> Iterator[Cause]:
    """Whether the bandwidth falls from some size on."""
    rows = [row for row in log.rows if row.S and row.check != "failed"]
    if len(rows) < 2:
        return
    best, last = max(rows, key=lambda row: row.busbw), rows[-1]
    if last.busbw < FALLS * best.busbw and best.S < last.S:
        yield Cause(
            "falls",
            f"busbw is at its best of {show(best.busbw, 'B/s', 3)} at {binary(best.S)}, and "
            f"{show(last.busbw, 'B/s', 3)} at {binary(last.S)}: on sound links it only grows. Candidates: another "
            "algorithm or protocol from this size on (NCCL_DEBUG_SUBSYS=TUNING tells), buffers that are not "
            "registered, a network that is congested, a clock that is capped",
            tuple(row.S for row in rows if row.S > best.S and row.busbw < FALLS * best.busbw),
        )
