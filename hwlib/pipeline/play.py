"""Simulation of a schedule: when each op runs, and how long the ranks wait."""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from hwlib.pipeline.schedule import Op, Schedule

Times = float | Sequence[float]  # one for all ranks, or one for each


class Deadlock(ValueError):
    """No rank of the schedule can continue."""


class Span(NamedTuple):
    """An op, from `start` to `end`."""

    op: Op
    start: float
    end: float


@dataclass(frozen=True, repr=False)
class Played:
    """A schedule with its times: `spans[rank]` in the order of its ops, `busy[rank]` the time in which a rank
    computes, and `time` the end of the last op.
    """

    schedule: Schedule
    spans: tuple[tuple[Span, ...], ...]
    busy: tuple[float, ...]

    def __repr__(self) -> str:
        return f"<Played {repr(self.schedule)[1:-1]}; time {self.time:.4g}, bubble {self.bubble_fraction:.1%}>"

    @cached_property
    def time(self) -> float:
        """The end of the last op: the time of the step, which ends for all ranks together."""
        return max(spans[-1].end for spans in self.spans)

    @property
    def bubble_fraction(self) -> float:
        """The fraction of all ranks' time in which they do not compute."""
        return 1 - sum(self.busy) / (len(self.busy) * self.time)

    @property
    def bubbles(self) -> tuple[float, ...]:
        """The time in which each rank does not compute, in the whole step."""
        return tuple(self.time - busy for busy in self.busy)

    @property
    def gaps(self) -> tuple[float, ...]:
        """The time in which each rank does not compute between its first op and its last: the remaining bubble if
        no rank waits for the others before its next step.
        """
        return tuple(s[-1].end - s[0].start - busy for s, busy in zip(self.spans, self.busy, strict=True))

    @property
    def in_flight(self) -> tuple[float, ...]:
        """The most microbatches whose activations each rank keeps at once; see `Schedule.in_flight`."""
        return self.schedule.in_flight()


def play(
    schedule: Schedule,
    t_F: Times = 1.0,
    t_B: Times = 2.0,
    t_W: Times | None = None,
    *,
    t_comm: float = 0.0,
    t_FB: Times | None = None,
    blocking: bool = False,
) -> Played:
    """Simulate a schedule: every op starts as soon as its rank is free and its inputs have arrived.

    Times are of one microbatch and all layers that it passes on a rank, so that schedules can be compared: one
    of `v` chunks takes 1/v of them. `t_B` is the whole backward, `t_W` the part that computes the gradient
    of the weights (by default half), `t_FB` the time of an overlapped forward and backward (by default their
    sum). Each may be a sequence with a time for each rank. `t_comm` is the time of a message from rank to
    rank; ranks compute in the meantime, unless `blocking`: then a message delays its sender's next op.

    Raises ValueError for impossible times, and Deadlock (a ValueError) where ranks wait for each other.
    """
    n, forward, backward = schedule.stages, _times("t_F", t_F, schedule), _times("t_B", t_B, schedule)
    weight = [b / 2 for b in backward] if t_W is None else _times("t_W", t_W, schedule)
    both = [f + b for f, b in zip(forward, backward, strict=True)] if t_FB is None else _times("t_FB", t_FB, schedule)
    if not 0 <= t_comm < float("inf"):
        raise ValueError(f"t_comm: at least 0, got {t_comm!r}")
    if any(w > b for w, b in zip(weight, backward, strict=True)):
        raise ValueError("t_W: a part of t_B, got a longer time")
    if not any(forward) and not any(backward):
        raise ValueError("t_F and t_B: more than 0 on some rank, got 0 on all")
    cost = [{"F": f, "B": b, "I": b - w, "W": w} for f, b, w in zip(forward, backward, weight, strict=True)]
    slots = [list(schedule.slots(rank)) for rank in range(n)]
    there: dict[tuple[str, int, int], float] = {}  # results, and when each has left its rank
    waiting: dict[tuple[str, int, int], list[int]] = {}
    at, clock, busy = [0] * n, [0.0] * n, [0.0] * n
    spans: list[list[Span]] = [[] for _ in range(n)]
    runnable = deque(range(n))
    while runnable:
        rank = runnable.popleft()
        while at[rank] < len(slots[rank]):
            slot, start = slots[rank][at[rank]], clock[rank]
            needs = [need for op in slot for need in _needs(schedule, rank, op)]
            missing = next((need for need in needs if need not in there), None)
            if missing:
                waiting.setdefault(missing, []).append(rank)
                break
            for need in needs:
                remote = schedule.holder[need[1:]] != rank and not blocking
                start = max(start, there[need] + (t_comm if remote else 0))
            took = (both[rank] if len(slot) > 1 else cost[rank][slot[0].kind]) / schedule.v
            end = start + took
            left = end + (t_comm if blocking and any(_sends(schedule, rank, op) for op in slot) else 0)
            spans[rank] += [Span(op, start, end) for op in slot]
            at[rank], clock[rank], busy[rank] = at[rank] + 1, left, busy[rank] + took
            for op in slot:
                key = ("B" if op.kind == "I" else op.kind, schedule.part(rank, op.chunk), op.microbatch)
                there[key] = left
                runnable.extend(waiting.pop(key, ()))
    if any(at[rank] < len(slots[rank]) for rank in range(n)):
        stuck = ", ".join(f"rank {r} at {slots[r][at[r]][0]}" for r in range(n) if at[r] < len(slots[r]))
        raise Deadlock(f"{schedule.name}: all unfinished ranks wait for each other: {stuck}")
    return Played(schedule, tuple(map(tuple, spans)), tuple(busy))


def _times(name: str, times: Times, schedule: Schedule) -> list[float]:
    each = [float(t) for t in times] if isinstance(times, Iterable) else [float(times)] * schedule.stages
    if len(each) != schedule.stages:
        raise ValueError(f"{name}: one time, or one for each of {schedule.stages} ranks, got {len(each)}")
    if not all(0 <= t < float("inf") for t in each):
        raise ValueError(f"{name}: times are at least 0, got {times!r}")
    return each


def _needs(schedule: Schedule, rank: int, op: Op) -> list[tuple[str, int, int]]:
    """The inputs of an op: the previous part in the forward pass, the next part in the backward."""
    part = schedule.part(rank, op.chunk)
    if op.kind == "F":
        return [("F", part - 1, op.microbatch)] if part else []
    if op.kind == "W":
        return []  # the schedule's order ensures that its rank has computed the gradient of the input before
    return [("B", part + 1, op.microbatch)] if part < schedule.depth - 1 else []


def _sends(schedule: Schedule, rank: int, op: Op) -> bool:
    """Whether another rank needs the op's result."""
    part = schedule.part(rank, op.chunk)
    to = {"F": part + 1, "W": -1}.get(op.kind, part - 1)
    return schedule.holder.get((to, op.microbatch), rank) != rank
