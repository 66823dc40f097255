"""Warps: the cost of sharing one instruction per cycle among the threads of a warp.

A kernel is written for one thread, as a generator: each `yield` is an instruction, and its line number is its
program counter. `trace` runs every thread separately and records its counters; a *machine* turns the traces of one
warp into a schedule, a list of (counter, threads that run it), one entry per cycle; `run` runs all warps on a machine,
and checks that each thread executed its own instructions in order. The machine itself is an exercise of the first
chapter.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from hwlib.arguments import as_int
from hwlib.formula import formula

WARP = 32  # threads of a warp (NVIDIA); a wavefront of AMD's CDNA has 64
MOST = 100_000  # instructions of one thread

Trace = list[int]
WarpSchedule = list[tuple[int, list[int]]]
WarpMachine = Callable[[list[Trace]], Any]


@formula("ways_warp", cite="cuda-guide")
def warp_ways(ways, width=32):
    """Expected number of paths of a branch that a warp executes, if each thread takes one of `ways` at random.

    A path costs its instructions if any thread takes it: 1 minus the probability that no thread does.
    """
    return ways * (1 - (1 - 1 / ways) ** width)


@formula("busy", cite="cuda-guide")
def lane_fraction(ways, width=32):
    """Fraction of the lanes that are active inside such a branch: each path is issued for the threads that take it."""
    return 1 / warp_ways(ways, width)


class WarpRun(NamedTuple):
    """A machine's schedules of some warps, and a note if they are not the machine's own."""

    schedules: tuple[WarpSchedule, ...]
    width: int = WARP
    note: str = ""

    @property
    def cycles(self) -> int:
        """Instructions issued by all warps together: a scheduler issues one per cycle."""
        return sum(map(len, self.schedules))

    @property
    def thread_instructions(self) -> int:
        """Instructions executed, counted for each thread."""
        return sum(len(threads) for schedule in self.schedules for _, threads in schedule)

    @property
    def busy(self) -> float:
        """Fraction of the lanes that were active, over all cycles; 0 without a cycle."""
        return self.thread_instructions / (self.cycles * self.width) if self.cycles else 0.0

    def __repr__(self) -> str:
        what = f"{len(self.schedules)} warp{'' if len(self.schedules) == 1 else 's'}, {self.cycles} cycles"
        return f"<{what}, {self.busy:.0%} of the lanes busy{'; ' + self.note if self.note else ''}>"


def trace(kernel: Callable[..., Any], data: Iterable[Any], width: int = WARP) -> list[list[Trace]]:
    """The program counters of every thread, warp by warp: `kernel(x)` is one thread's program, x its data.

    A counter is the line of the `yield` relative to that of the `def`. Threads are grouped into warps in the order of
    `data`; the last warp may be smaller. Raises TypeError for a kernel that is not a generator, ValueError for one
    that does not end.
    """
    return pack((_thread(kernel, x) for x in data), width)


def pack(traces: Iterable[Trace], width: int = WARP) -> list[list[Trace]]:
    """Traces grouped into warps, in order."""
    width, threads = as_int("pack: width", width, 1), list(traces)
    return [threads[first : first + width] for first in range(0, len(threads), width)]


def _thread(kernel: Callable[..., Any], x: Any) -> Trace:
    program = kernel(x)
    if not hasattr(program, "gi_frame"):
        raise TypeError(f"trace: a kernel is a generator (each instruction a `yield`), got {type(program).__name__}")
    first, counters = program.gi_code.co_firstlineno, []
    for _ in program:
        counters.append(program.gi_frame.f_lineno - first)
        if len(counters) > MOST:
            raise ValueError(f"trace: a thread has run {MOST:,} instructions and does not end")
    return counters


def one_by_one(traces: Sequence[Trace]) -> WarpSchedule:
    """The machine without sharing: one thread after the other, one lane active and the others idle."""
    return [(counter, [thread]) for thread, counters in enumerate(traces) for counter in counters]


def run(machine: WarpMachine, warps: Sequence[Sequence[Trace]], width: int = WARP) -> WarpRun:
    """Run every warp on a machine. If a machine returns nothing yet, or not a schedule of these traces, `one_by_one`
    replaces it, and the note of the run says why.
    """
    schedules = []
    for traces in warps:
        schedule = machine([list(counters) for counters in traces])
        if wrong := check(schedule, traces):
            alone = tuple(one_by_one(traces) for traces in warps)
            return WarpRun(alone, width, f"one thread at a time, because {wrong}")
        schedules.append([(counter, list(threads)) for counter, threads in schedule])
    return WarpRun(tuple(schedules), width)


def check(schedule: Any, traces: Sequence[Trace]) -> str:
    """What is wrong with a schedule of these traces, as a phrase; "" if each thread runs exactly its own."""
    if schedule is None or schedule is ...:
        return "the machine returns nothing yet"
    at = [0] * len(traces)
    try:
        for counter, threads in schedule:
            for thread in threads:
                if at[thread] == len(traces[thread]):
                    return f"thread {thread} runs line {counter} after its end"
                if traces[thread][at[thread]] != counter:
                    return f"thread {thread} runs line {counter}, and its next is {traces[thread][at[thread]]}"
                at[thread] += 1
    except (TypeError, ValueError, IndexError):
        return "the machine returns no list of (line, threads)"
    left = [thread for thread, counters in enumerate(traces) if at[thread] < len(counters)]
    return f"thread {left[0]} does not come to its end" if left else ""
