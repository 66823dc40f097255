"""The times of a step of a program on a simulated cluster."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from hwlib.collectives import alltoall_bytes, bus_factor
from hwlib.simulate.trace import row_names, slice_event
from hwlib.units import show
from hwlib.virtual.clock import ClockSpan

ROUNDING = 1e-9  # of a step's time, by which sums in another order differ


class CallTotals(NamedTuple):
    """The collectives of one kind in groups of n ranks: the outermost level that they cross, how many there were, the
    bytes of their full buffers together, and their seconds, hidden or not.
    """

    call: str
    n: int
    level: str
    number: int
    bytes: float
    time: float

    @property
    def sent_bytes(self) -> float:
        """What a rank sends for them, as a ring does; for a root's calls, the mean over the ranks."""
        if self.call == "all_to_all":
            return float(alltoall_bytes(self.n, self.bytes))
        rooted = self.call in ("broadcast", "reduce", "gather", "scatter")
        return float(self.bytes * ((self.n - 1) / self.n if rooted else bus_factor(self.call, self.n)))


@dataclass(frozen=True, repr=False)
class StepTiming:
    """One step of one rank. `step_time` is `compute` (kernels of the main stream) plus `exposed`: its waits for the
    network. `flops` are those that the rank's kernels do, recomputation included.
    """

    rank: int
    ranks: int
    step_time: float
    compute: float
    flops: float
    calls: tuple[CallTotals, ...]
    spans: tuple[ClockSpan, ...]

    @property
    def exposed(self) -> float:
        """Seconds in which the main stream waited: communication that nothing hid."""
        waits = self.step_time - self.compute
        return waits if waits > ROUNDING * self.step_time else 0.0

    @property
    def communication(self) -> float:
        """Seconds of all collectives, hidden or not; groups may overlap."""
        return sum(calls.time for calls in self.calls)

    @property
    def kernels(self) -> int:
        """How many kernels ran, on all streams."""
        return sum(not span.ranks for span in self.spans)

    def of(self, call: str, n: int | None = None) -> CallTotals:
        """The collectives of one kind, in groups of n ranks. Raises KeyError if there were none, or of several n."""
        matching = [c for c in self.calls if c.call == call and n in (None, c.n)]
        if len(matching) != 1:
            there = ", ".join(f"{c.call} of {c.n}" for c in self.calls) or "none"
            raise KeyError(f"step: no single kind of {call} of {n or 'any number of'} ranks; there are {there}")
        return matching[0]

    def chrome_trace(self, path: str | PathLike[str] | None = None) -> dict[str, Any]:
        """The step for Perfetto or chrome://tracing, as `hwlib.simulate.chrome_trace` does for an algorithm."""
        return trace_of([self], path)

    def __repr__(self) -> str:
        head = (
            f"rank {self.rank} of {self.ranks}: {show(self.step_time, 's')}, of that {show(self.exposed, 's')} "
            f"exposed; {self.kernels} kernels, {show(self.flops, 'FLOP')}"
        )
        rows = [
            f"  {c.number} x {c.call} of {c.n} ranks over {c.level}: {show(c.bytes, 'B')}, {show(c.time, 's')}"
            for c in self.calls
        ]
        return "\n".join([head, *rows])


def trace_of(steps: Sequence[StepTiming], path: str | PathLike[str] | None = None) -> dict[str, Any]:
    """The steps of ranks side by side, each with a row for every stream and group; written to `path` if given."""
    trace = {"traceEvents": [event for step in steps for event in _events(step)], "displayTimeUnit": "ns"}
    if path is not None:
        Path(path).write_text(json.dumps(trace), "utf-8")
    return trace


def _events(step: StepTiming) -> Iterator[dict[str, Any]]:
    rows = list(dict.fromkeys(["compute", *(span.row for span in step.spans)]))
    yield from row_names(step.rank, f"rank {step.rank}", rows)
    for span in step.spans:
        about = {"bytes": span.bytes} | ({"ranks": len(span.ranks)} if span.ranks else {"flops": span.flops})
        yield slice_event(step.rank, rows.index(span.row), span.name, span.start, span.end, about)


def summed(spans: Sequence[ClockSpan], levels: dict[tuple[int, ...], str]) -> tuple[CallTotals, ...]:
    """The collectives among spans by kind, group size and level, in the order of their first."""
    totals: dict[tuple[str, int, str], list[float]] = {}
    for span in spans:
        if span.ranks:
            total = totals.setdefault((span.name, len(span.ranks), levels[span.ranks]), [0, 0.0, 0.0])
            for i, more in enumerate((1, span.bytes, span.end - span.start)):
                total[i] += more
    return tuple(CallTotals(*key, int(count), size, time) for key, (count, size, time) in totals.items())
