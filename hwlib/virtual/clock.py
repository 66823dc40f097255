"""The virtual clock of one rank: streams of kernels, and a stream for the collectives of each group.

As on a GPU, the program runs ahead and only queues: kernels of one stream follow one another, a collective starts when
its stream has reached it and its group is free, and a wait lasts until its end.

Software hides only a part of its transfers: beside a kernel of a second, they advance by `hide` seconds. So the clock
keeps the time of streams and groups as the network sees it; `lag` is how far the main stream is behind this time.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

COMPUTE = None  # the stream of kernels that a program has without asking for another


class ClockSpan(NamedTuple):
    """An activity with its start and end in seconds; `row` is "compute", "stream 1" and so on, or a group."""

    row: str
    name: str
    start: float
    end: float
    flops: float = 0.0
    bytes: float = 0.0
    ranks: tuple[int, ...] = ()


class _Begun(NamedTuple):
    """The last collective: its group and end, the main stream's time if it asked for it, and the place of its span."""

    group: str
    end: float
    start: float
    at_once: bool
    span: int


@dataclass
class VirtualClock:
    """The time that each stream has reached. `current` is the stream that kernels go to.

    `hide_blocking` is the share of a kernel that a collective which the main stream waits for at once runs beside, as
    those of tensor parallelism do where they are cut into parts.
    """

    hide: float = 1.0
    hide_blocking: float = 0.0
    lag: float = 0.0
    at: dict[Hashable, float] = field(default_factory=lambda: defaultdict(float))
    free: dict[Hashable, float] = field(default_factory=lambda: defaultdict(float))
    spans: list[ClockSpan] = field(default_factory=list)
    current: Hashable = COMPUTE
    _streams: list[Hashable] = field(default_factory=list)  # of kernels, in the order of their first
    _real: set[int] = field(default_factory=set)  # spans whose times are the main stream's
    _points: list[tuple[float, float]] = field(default_factory=list)  # the network's time, and the main stream's
    _beside: float = 0.0  # what the next blocking collective has to run beside
    _begun: _Begun | None = None

    def _number(self, stream: Hashable) -> int:
        if stream not in self._streams:
            self._streams.append(stream)
        return self._streams.index(stream) + 1

    def restart(self) -> None:
        """Clear the record."""
        self.at.clear()
        self.free.clear()
        self.spans.clear()

    def _occupy(self, time: float) -> float:
        """Keep the main stream busy; returns when, in its own time."""
        start = self.at[COMPUTE]
        begin = start + self.lag
        self.at[COMPUTE] = start + self.hide * time
        if self.hide < 1:
            self.lag += (1 - self.hide) * time
            self._points += [(start, begin), (self.at[COMPUTE], begin + time)]
        return begin

    def kernel(self, name: str, time: float, flops: float, bytes: float, beside: bool = True) -> None:
        """Put a kernel on the current stream; `beside` says whether blocking collectives can run beside it."""
        if self.current is not COMPUTE:
            start = self.at[self.current]
            self.at[self.current] = end = start + time
            row = f"stream {self._number(self.current)}"
            self.spans.append(ClockSpan(row, name, start, end, flops, bytes))
            return
        start = self._occupy(time)
        self._beside += beside * self.hide_blocking * time
        self._real.add(len(self.spans))
        self.spans.append(ClockSpan("compute", name, start, start + time, flops, bytes))

    def call(
        self, name: str, time: float, S: float, group: str, ranks: Sequence[int], start: float | None = None
    ) -> float:
        """Put a collective on its stream, started by the current stream now or at `start`, which does not wait for it;
        returns its end."""
        now = self.at[self.current]
        start = max(now, self.free[group]) if start is None else start
        self.free[group] = end = start + time
        self._begun = _Begun(group, end, start, self.current is COMPUTE and start == now, len(self.spans))
        self.spans.append(ClockSpan(f"group {group}", name, start, end, 0.0, S, tuple(ranks)))
        return end

    def wait(self, until: float, stream: Hashable = COMPUTE) -> None:
        """Let a stream continue at that time."""
        begun = self._begun if self.hide < 1 or self.hide_blocking else None
        if begun and begun.at_once and (stream, until, begun.start) == (COMPUTE, begun.end, self.at[COMPUTE]):
            self._block(begun)
        else:
            self.at[stream] = max(self.at[stream], until)

    def _block(self, begun: _Begun) -> None:
        """The main stream waits for what it has just asked for: transfers of others go on as beside a kernel."""
        time = begun.end - begun.start
        sent = self.spans[begun.span].name == "all_to_all"  # tokens to experts: no product can be cut around it
        hidden = 0.0 if sent else min(time, self._beside)
        self._beside -= hidden
        start = self._occupy(time - hidden)
        self.free[begun.group] = self.at[COMPUTE]
        self._begun = None
        self._real.add(begun.span)
        self.spans[begun.span] = self.spans[begun.span]._replace(start=start - hidden, end=start + time - hidden)

    def real(self, time: float) -> float:
        """A time of streams and groups as one of the main stream."""
        at = bisect_right(self._points, (time, float("inf")))
        if at == len(self._points) or not at:
            return time + (self.lag if at else 0.0)
        (t0, r0), (t1, r1) = self._points[at - 1 : at + 1]
        return r0 + (r1 - r0) * (time - t0) / (t1 - t0)

    def real_spans(self) -> list[ClockSpan]:
        """All spans in the time of the main stream."""
        if self.hide == 1:
            return list(self.spans)
        return [
            span if i in self._real else span._replace(start=self.real(span.start), end=self.real(span.end))
            for i, span in enumerate(self.spans)
        ]

    @property
    def end(self) -> float:
        """The time at which everything queued is done, as the main stream sees it."""
        return max([0.0, *self.at.values(), *self.free.values()]) + self.lag
