"""What a log of nccl-tests says of itself: its results, its GPU, and NCCL's own lines in it."""

from collections.abc import Iterator
from typing import NamedTuple

from hwlib.calibrated.nccl_log import NcclLog
from hwlib.calibrated.nccl_machine import logged_gpu
from hwlib.specs import Node

__all__ = ["Cause", "nccl_lines", "results_and_machine"]

LINES = 5  # that are named of those that could not be read
SAID = (
    (
        "NET/Socket",
        "sockets",
        "the log says NET/Socket: messages between nodes go by TCP through the host, not by RDMA",
    ),
    ("via SHM", "host-memory", "the log says SHM: ranks of a node exchange through the host's memory, not over NVLink"),
    ("NVLS comm", "nvls", "the log says NVLS: the switch of the node reduces"),
)


class Cause(NamedTuple):
    """Something found in a log: its kind, one sentence, and the sizes that it is about (none: all)."""

    kind: str
    sentence: str
    sizes: tuple[int, ...] = ()


def results_and_machine(log: NcclLog, node: Node) -> Iterator[Cause]:
    """What has to be known before any bandwidth is read."""
    yield from _of_the_results(log)
    yield from _of_the_machine(log, node)


def _of_the_results(log: NcclLog) -> Iterator[Cause]:
    """What was not right, what was not looked at, and what was not read."""
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
    gpu = logged_gpu(log.gpu)
    if not log.gpu or (gpu and gpu.chip == node.chip.key):
        return
    yield Cause(
        "machine", f"the log's GPU is {log.gpu!r}, and what is expected was measured on another: {node.chip.name}"
    )


def nccl_lines(log: NcclLog) -> Iterator[Cause]:
    """What NCCL's log of its own tells, where it is among the lines."""
    yield from (Cause(kind, sentence) for sign, kind, sentence in SAID if sign in log.text)
