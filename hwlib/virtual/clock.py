"""The virtual clock of one rank: streams of kernels, and a stream for the collectives of each group.

As on a GPU, the program runs ahead and only queues: kernels of one stream follow one another, a collective starts when
its stream has reached it and its group is free, and a wait lasts until its end.
"""

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


@dataclass
class VirtualClock:
    """The time that each stream has reached. `current` is the stream that kernels go to."""

    at: dict[Hashable, float] = field(default_factory=lambda: defaultdict(float))
    free: dict[Hashable, float] = field(default_factory=lambda: defaultdict(float))
    spans: list[ClockSpan] = field(default_factory=list)
    current: Hashable = COMPUTE
    _streams: list[Hashable] = field(default_factory=list)  # of kernels, in the order of their first

    def _number(self, stream: Hashable) -> int:
        if stream not in self._streams:
            self._streams.append(stream)
        return self._streams.index(stream) + 1

    def restart(self) -> None:
        """Clear the record."""
        self.at.clear()
        self.free.clear()
        self.spans.clear()

    def kernel(self, name: str, time: float, flops: float, bytes: float) -> None:
        """Put a kernel on the current stream."""
        start = self.at[self.current]
        self.at[self.current] = end = start + time
        row = "compute" if self.current is COMPUTE else f"stream {self._number(self.current)}"
        self.spans.append(ClockSpan(row, name, start, end, flops, bytes))

    def call(
        self, name: str, time: float, S: float, group: str, ranks: Sequence[int], start: float | None = None
    ) -> float:
        """Put a collective on its stream, started by the current stream now or at `start`, which does not wait for it;
        returns its end."""
        start = max(self.at[self.current], self.free[group]) if start is None else start
        self.free[group] = end = start + time
        self.spans.append(ClockSpan(f"group {group}", name, start, end, 0.0, S, tuple(ranks)))
        return end

    def wait(self, until: float, stream: Hashable = COMPUTE) -> None:
        """Let a stream continue at that time."""
        self.at[stream] = max(self.at[stream], until)

    @property
    def end(self) -> float:
        """The time at which everything queued is done."""
        return max([0.0, *self.at.values(), *self.free.values()])
