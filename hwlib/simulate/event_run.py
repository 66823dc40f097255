"""The result of an event simulation: outputs, times, and which rank kept which waiting."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar, overload

from hwlib.simulate.event_loop import EventLoop, Pace, Timing
from hwlib.simulate.fabric import Fabric
from hwlib.simulate.message_schedule import MessageSchedule

Row = TypeVar("Row")


class EventMessage(NamedTuple):
    """A message, sent in the `step` of rank `src` at `start`; it has left at `left`, and is there at `end`."""

    step: int
    src: int
    dst: int
    bytes: float
    start: float
    left: float
    end: float


class EventStep(NamedTuple):
    """A rank's step, by its number in the rank's program: it sends and asks at `start`, and has all at `end`."""

    rank: int
    step: int
    start: float
    end: float


class Passage(NamedTuple):
    """`bytes` of a message that passed the link `src` to `dst` one after another; `message` is its number."""

    src: str
    dst: str
    message: int
    bytes: float
    start: float
    end: float


class LinkUse(NamedTuple):
    """One direction of a link: what it carried, for how long it was busy, and the share of the run that is."""

    src: str
    dst: str
    bytes: float
    busy: float
    share: float


class Rows(Sequence[Row]):
    """A sequence whose rows are created on access: a million of them take no memory."""

    def __init__(self, count: int, make: Callable[[int], Row]):
        self._count, self._make = count, make

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, i: int) -> Row: ...
    @overload
    def __getitem__(self, i: slice) -> Sequence[Row]: ...
    def __getitem__(self, i: int | slice) -> Row | Sequence[Row]:
        if isinstance(i, slice):
            return [self._make(k) for k in range(self._count)[i]]
        return self._make(range(self._count)[i])

    def __iter__(self) -> Iterator[Row]:
        return map(self._make, range(self._count))

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self[:3]))
        return f"[{shown}{', ...' if self._count > 3 else ''}] ({self._count} rows)"


@dataclass(frozen=True, repr=False)
class EventRun:
    """The result of `simulate_events`.

    `outputs` and `finish` (s) are by rank, and `time` is the last of those. `messages`, `steps` and `passages`
    (what passed which link) are sequences of records. A switch that computes is a program after the last rank.
    """

    schedule: MessageSchedule = field(repr=False)
    fabric: Fabric = field(repr=False)
    pace: Pace = field(repr=False)
    timing: Timing = field(repr=False)
    n: int

    def __repr__(self) -> str:
        return f"<{len(self.messages)} messages among {self.n} ranks of {self.fabric.topology.name}: {self.time:.6g} s>"

    @property
    def outputs(self) -> list[Any]:
        """What each rank's program returned."""
        return self.schedule.outputs[: self.n]

    @property
    def finish(self) -> list[float]:
        """When each rank's program ended, in s."""
        return self.timing.finish[: self.n]

    @property
    def time(self) -> float:
        """When the last rank's program ended, in s."""
        return max(self.finish)

    @property
    def chunks(self) -> int:
        """Into how many chunks all messages were cut."""
        return self.timing.chunks

    @property
    def resent_bytes(self) -> float:
        """What met a link that died, and was sent again; not counted in what ranks send and receive."""
        return self.timing.resent_bytes

    @property
    def messages(self) -> Sequence[EventMessage]:
        """Every message, sender by sender."""
        schedule, timing, step = self.schedule, self.timing, self._step_of

        def message(i: int) -> EventMessage:
            return EventMessage(
                step[i],
                schedule.src[i],
                schedule.dst[i],
                schedule.bytes[i],
                timing.posted[i],
                timing.left[i],
                timing.arrived[i],
            )

        return Rows(len(schedule.src), message)

    @property
    def steps(self) -> Sequence[EventStep]:
        """Every step of every program, in the order of time for each."""
        starts, ends = self.timing.step_start, self.timing.step_end
        where = [(rank, step) for rank, times in enumerate(starts) for step in range(len(times))]

        def one(i: int) -> EventStep:
            rank, step = where[i]
            return EventStep(rank, step, starts[rank][step], ends[rank][step])

        return Rows(len(where), one)

    @property
    def passages(self) -> Sequence[Passage]:
        """What passed each link, in the order in which it became ready there."""
        traffic, links = self.timing.traffic, self.fabric.links

        def passage(i: int) -> Passage:
            src, dst = links[traffic.link[i]]
            return Passage(src, dst, traffic.message[i], traffic.bytes[i], traffic.start[i], traffic.end[i])

        return Rows(len(traffic.link), passage)

    @cached_property
    def sent_bytes(self) -> list[float]:
        """By rank, what its program sent."""
        return self._by_rank(self.schedule.src)

    @cached_property
    def received_bytes(self) -> list[float]:
        """By rank, what its program received."""
        return self._by_rank(self.schedule.dst)

    @cached_property
    def links(self) -> dict[tuple[str, str], LinkUse]:
        """Each link that carried something, one direction each."""
        import numpy as np

        traffic, fabric, time = self.timing.traffic, self.fabric, float(self.time)
        count = len(fabric.links)
        carried = np.bincount(np.asarray(traffic.link, dtype=np.int64), np.asarray(traffic.bytes), count).tolist()
        uses = {}
        for link, bandwidth, size in zip(fabric.links, fabric.bandwidth, carried, strict=True):
            if size:
                busy = size / float(bandwidth)
                uses[link] = LinkUse(*link, size, busy, busy / time if time else 0.0)
        return uses

    @property
    def busiest(self) -> list[LinkUse]:
        """The links, the busiest first: a slow or congested link stands out here."""
        return sorted(self.links.values(), key=lambda use: -use.busy)

    @cached_property
    def waits(self) -> dict[tuple[int, int], float]:
        """{(rank, partner): seconds} that the rank was ready for a message that the partner had not sent yet.

        In a step that waits for several, the latest counts. What a message takes under way is not in here.
        """
        schedule, timing = self.schedule, self.timing
        waits: dict[tuple[int, int], float] = defaultdict(float)
        for rank, wanted in enumerate(schedule.wanted):
            starts = timing.step_start[rank]
            for step, (first, end) in enumerate(pairwise(schedule.waits[rank])):
                if first < end:
                    last = max(wanted[first:end], key=lambda message: timing.posted[message])
                    late = timing.posted[last] - starts[step]
                    if late > 0:
                        waits[rank, schedule.src[last]] += late
        return dict(waits)

    @cached_property
    def lateness(self) -> list[float]:
        """By rank, the seconds that others waited for it, less those that it waited itself.

        Waiting spreads: who waits for a straggler is late for the next one. The straggler is waited for without waiting
        itself, so it has the largest number.
        """
        late = [0.0] * len(self.schedule.sends)
        for (rank, partner), seconds in self.waits.items():
            late[partner] += seconds
            late[rank] -= seconds
        return late[: self.n]

    @cached_property
    def contention(self) -> list[float]:
        """By message, the seconds that it took longer under way than with the network to itself."""
        alone: dict[tuple, float] = {}
        late = []
        clock = EventLoop(self.schedule, self.fabric, self.pace)
        for i, message in enumerate(self.messages):
            start = self.timing.launched[i]
            key = message.src, message.dst, message.bytes, clock.age(start)
            if key not in alone:
                alone[key] = clock.flight(i, start) + self.pace.alpha
            late.append(message.end - start - alone[key])
        return late

    @cached_property
    def _step_of(self) -> list[int]:
        return [
            step
            for sends in self.schedule.sends
            for step, (first, end) in enumerate(pairwise(sends))
            for _ in range(first, end)
        ]

    def _by_rank(self, ends: list[int]) -> list[float]:
        import numpy as np

        total = np.bincount(ends, self.schedule.bytes, self.n) if ends else np.zeros(self.n)
        return total[: self.n].tolist()
