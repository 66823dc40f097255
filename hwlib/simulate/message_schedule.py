"""An algorithm's actions without their times: every rank's steps, and the messages that connect them.

A program cannot see the order in which ranks are run, so neither its results nor its messages depend on time:
it is run once, by `run_programs`, and written down here. The schedule can then be timed on any network, as
often as one likes.
"""

import gc
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from hwlib.algorithms.protocol import Step
from hwlib.simulate.mailbox import RankProgram, run_programs


@dataclass(frozen=True)
class MessageSchedule:
    """The messages of a program, numbered sender by sender, and the steps they belong to.

    `src`, `dst` and `bytes` are by message. Rank r's messages are `sends[r][0]` up to `sends[r][-1]`: its step
    s sends those from `sends[r][s]` to `sends[r][s + 1]`, and waits for the messages
    `wanted[r][waits[r][s]:waits[r][s + 1]]`. `taken` is, by message, the receiver's step that waits for it.
    """

    outputs: list[Any]
    src: list[int]
    dst: list[int]
    bytes: list[float]
    sends: list[list[int]]
    waits: list[list[int]]
    wanted: list[list[int]]
    taken: list[int]

    def sent(self, rank: int, step: int) -> range:
        """The messages that a rank's step sends, by number."""
        return range(self.sends[rank][step], self.sends[rank][step + 1])

    def awaited(self, rank: int, step: int) -> list[int]:
        """The messages that a rank's step waits for, by number."""
        return self.wanted[rank][self.waits[rank][step] : self.waits[rank][step + 1]]


class _StepRecorder:
    """A program that writes down the steps of another one."""

    def __init__(self, program: RankProgram):
        self.program = program
        self.to, self.frm, self.bytes = array("q"), array("q"), array("d")
        self.sends, self.waits = array("q", [0]), array("q", [0])

    def send(self, value: Any) -> Step | list[Step]:
        yielded = self.program.send(value)
        for step in [yielded] if type(yielded) is Step else yielded if isinstance(yielded, list | tuple) else ():
            if isinstance(step, Step):  # anything else is refused by the caller, who names the rank
                send, to, frm = step
                if to is not None and hasattr(to, "__index__") and (size := getattr(send, "nbytes", None)) is not None:
                    self.to.append(to)
                    self.bytes.append(size)
                if frm is not None and hasattr(frm, "__index__"):
                    self.frm.append(frm)
        self.sends.append(len(self.to))
        self.waits.append(len(self.frm))
        return yielded


@contextmanager
def without_collector() -> Iterator[None]:
    """Millions of small objects, none of them in a cycle: looking for cycles would take a third of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def record(programs: Sequence[RankProgram], limit: int | None = None) -> MessageSchedule:
    """Runs the programs to their end, as `run_programs` does, errors included, and returns their schedule."""
    import numpy as np

    recorders = [_StepRecorder(program) for program in programs]
    with without_collector():
        outputs = run_programs(recorders, limit=limit).outputs
    n = len(recorders)
    src = np.repeat(np.arange(n), [len(r.to) for r in recorders])
    dst = np.concatenate([np.asarray(r.to, dtype=np.int64) for r in recorders])
    receiver = np.repeat(np.arange(n), [len(r.frm) for r in recorders])
    sender = np.concatenate([np.asarray(r.frm, dtype=np.int64) for r in recorders])
    # From one rank to another messages keep their order: the k-th one asked for is the k-th one sent.
    sent, by_receiver = np.lexsort((dst, src)), np.lexsort((receiver, sender))
    message = np.empty(len(src), np.int64)  # by receipt, in the order of the receiver's program
    message[by_receiver] = sent
    step = np.concatenate([np.repeat(np.arange(len(r.waits) - 1), np.diff(r.waits)) for r in recorders])
    taken = np.empty(len(src), np.int64)
    taken[message] = step
    ends = np.cumsum([0, *(len(r.to) for r in recorders)])
    asks = np.cumsum([0, *(len(r.frm) for r in recorders)])
    return MessageSchedule(
        outputs,
        src.tolist(),
        dst.tolist(),
        np.concatenate([r.bytes for r in recorders]).tolist(),
        [(np.asarray(r.sends) + ends[i]).tolist() for i, r in enumerate(recorders)],
        [list(r.waits) for r in recorders],
        [message[asks[i] : asks[i + 1]].tolist() for i in range(n)],
        taken.tolist(),
    )
