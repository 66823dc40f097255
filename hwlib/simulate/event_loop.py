"""The clock of the event simulation: times a schedule on links that take chunks first come, first served.

Every event lies in one heap as (time, order, what). At one time, what ranks do comes before what links do, and
a link takes the message with the lower number first, so a run is the same every time. A link needs no queue:
as chunks reach it in the order of their events, the time at which it is free again is its whole state.
"""

import math
from array import array
from bisect import bisect_right
from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any, NamedTuple, Protocol

from hwlib.simulate.chunk_trains import ARRIVAL, Hop, Train, TrainLinks
from hwlib.simulate.mailbox import SimulationError
from hwlib.simulate.message_schedule import MessageSchedule

START = 2 * ARRIVAL  # order of the event that starts rank 0's step; the arrival of message m is ARRIVAL + m


class RoutedLinks(Protocol):
    """The event loop's view of a topology: numbered links, and ways over them between the programs' places."""

    bandwidth: list[Any]
    latency: list[Any]
    dies: list[Any]

    def way(self, src: int, dst: int, time: Any) -> tuple[int, ...]:
        """The links from one program's place to another's, as of a given time."""


class Pace(NamedTuple):
    """How messages and ranks behave: see `hwlib.simulate.events.simulate_events`."""

    alpha: Any = 0
    eager_bytes: float = math.inf
    chunk_bytes: float = math.inf
    store_and_forward: bool = False
    timeout: Any = 0
    starts: list[Any] | None = None
    delay: Callable[[int, int], Any] | None = None


class LinkTraffic:
    """What passed over which link, and when, as columns."""

    def __init__(self) -> None:
        self.link, self.message = array("l"), array("q")
        self.bytes, self.start, self.end = array("d"), array("d"), array("d")

    def add(self, link: int, message: int, size: Any, start: Any, end: Any) -> int:
        """A new row; its number."""
        self.link.append(link)
        self.message.append(message)
        self.bytes.append(size)
        self.start.append(start)
        self.end.append(end)
        return len(self.link) - 1

    def shorten(self, row: int, size: Any, end: Any) -> None:
        """Shorten a row: fewer bytes passed, and it ended sooner."""
        self.bytes[row], self.end[row] = size, end


class Timing(NamedTuple):
    """When everything happened: by rank, by step, by message, by link."""

    finish: list[Any]
    step_start: list[array]
    step_end: list[array]
    posted: list[Any]
    launched: list[Any]
    left: list[Any]
    arrived: list[Any]
    traffic: LinkTraffic
    chunks: int
    chunk_hops: int
    resent_bytes: float
    cuts: int


class EventLoop:
    """One run of a schedule over a network."""

    def __init__(self, schedule: MessageSchedule, network: RoutedLinks, pace: Pace):
        self.schedule, self.network, self.pace = schedule, network, pace
        ranks, messages = len(schedule.sends), len(schedule.src)
        self.heap: list[tuple] = []
        self.traffic = LinkTraffic()
        self.train_links = TrainLinks(self.heap, network.dies, self.traffic, self.leave, self.resend)
        self.plans: dict[tuple, tuple[Hop, ...]] = {}
        self.plan: list[tuple[Hop, ...]] = [()] * messages
        self.posted: list[Any] = [None] * messages
        self.launched: list[Any] = [None] * messages
        self.left: list[Any] = [None] * messages
        self.arrived: list[Any] = [None] * messages
        self.step, self.pending = [-1] * ranks, [0] * ranks
        self.free: list[Any] = [0] * ranks  # when what the rank's step sends has left
        self.finish: list[Any] = [None] * ranks
        self.step_start = [array("d") for _ in range(ranks)]
        self.step_end = [array("d") for _ in range(ranks)]
        self.held: set[int] = set()  # messages too large to be sent unasked
        self.now: Any = -math.inf
        self.chunks = self.chunk_hops = 0
        self.resent_bytes = 0.0
        self.changes = sorted({time for time in network.dies if time < math.inf})

    def run(self) -> Timing:
        """Runs until nothing is left to happen."""
        heap, plans, arrive, reach = self.heap, self.plan, self.arrive, self.train_links.reach
        trains, dies = self.train_links, self.network.dies
        free, last, interrupt = trains.free, trains.last, trains.interrupt
        links, messages, sizes = self.traffic.link.append, self.traffic.message.append, self.traffic.bytes.append
        starts, ends, volume = self.traffic.start.append, self.traffic.end.append, self.schedule.bytes
        for rank in range(len(self.step)):
            self.advance(rank, self.pace.starts[rank] if self.pace.starts else 0)
        while heap:
            now, order, what = heappop(heap)
            if order < 0:
                self.now = now
                if order < ARRIVAL:
                    self.begin(order - START, now)
                elif what is None or self.train_links.complete(what, now):
                    arrive(order - ARRIVAL, now)
            elif what.__class__ is int:  # a message of one chunk, at this hop
                message = order >> 1
                link, service, slack, offset, after = plans[message][what]
                if last[link] is not None:
                    interrupt(link, now, order)
                start, begin = free[link], now + slack
                if start < begin:
                    start = begin
                end = start + service
                if end > dies[link]:
                    self.resend_all(message, what, max(now, dies[link]))
                    continue
                free[link] = end
                links(link)
                messages(message)
                sizes(volume[message])
                starts(start)
                ends(end)
                if after < 0:
                    heappush(heap, (start + offset, ARRIVAL + message, None))
                else:
                    heappush(heap, (start + offset, order, after))
                if not what:
                    self.now = now
                    self.leave(message, end)
            else:
                self.now = now
                reach(what)
        if self.held:
            raise SimulationError(self.stuck(), "deadlock")
        return Timing(
            self.finish,
            self.step_start,
            self.step_end,
            self.posted,
            self.launched,
            self.left,
            self.arrived,
            self.traffic,
            self.chunks,
            self.chunk_hops,
            self.resent_bytes,
            self.train_links.cuts,
        )

    # Ranks

    def advance(self, rank: int, end: Any) -> None:
        """A rank's step ends, now or at a time that is known: its next one begins after the rank's delay."""
        sends, waits, delay = self.schedule.sends[rank], self.schedule.waits[rank], self.pace.delay
        while True:
            step = self.step[rank] = self.step[rank] + 1
            if step == len(sends) - 1:
                self.finish[rank] = end
                return
            begin = end + delay(rank, step) if delay else end
            if begin > self.now:
                heappush(self.heap, (begin, START + rank, None))
                return
            end = begin
            if sends[step] < sends[step + 1] or waits[step] < waits[step + 1]:
                if not self.post(rank, step, begin):
                    return
            else:
                self.step_start[rank].append(begin)
            self.step_end[rank].append(end)

    def begin(self, rank: int, now: Any) -> None:
        """A rank has computed what it does before its step."""
        if self.post(rank, self.step[rank], now):
            self.step_end[rank].append(now)
            self.advance(rank, now)

    def post(self, rank: int, step: int, now: Any) -> bool:
        """A step's messages are sent and asked for; whether all that it waits for is there already."""
        schedule, arrived = self.schedule, self.arrived
        self.step_start[rank].append(now)
        sent = schedule.sent(rank, step)
        missing, self.free[rank] = len(sent), now
        for message in sent:
            self.inject(message, rank, now)
        for message in schedule.awaited(rank, step):
            if arrived[message] is None:
                missing += 1
                if message in self.held:
                    self.held.remove(message)
                    self.launch(message, schedule.src[message], now)
        self.pending[rank] = missing
        return not missing

    def leave(self, message: int, end: Any) -> None:
        """The last chunk will have left its sender at `end`: what was sent may be overwritten."""
        self.left[message] = end
        rank = self.schedule.src[message]
        if end > self.free[rank]:
            self.free[rank] = end
        self.less(rank, self.now)

    def arrive(self, message: int, now: Any) -> None:
        """All of a message is at its receiver, who may not have asked for it yet."""
        self.arrived[message] = now
        rank = self.schedule.dst[message]
        if self.pending[rank] and self.schedule.taken[message] == self.step[rank]:
            self.less(rank, now)

    def less(self, rank: int, now: Any) -> None:
        """A step has one thing less to wait for."""
        self.pending[rank] -= 1
        if not self.pending[rank]:
            end = max(now, self.free[rank])
            self.step_end[rank].append(end)
            self.advance(rank, end)

    # Messages

    def inject(self, message: int, src: int, now: Any) -> None:
        """A message is sent, if it may be: a large one waits until its receiver asks for it."""
        self.posted[message] = now
        if self.schedule.bytes[message] > self.pace.eager_bytes:
            dst = self.schedule.dst[message]
            if not self.pending[dst] or self.schedule.taken[message] != self.step[dst]:
                self.held.add(message)
                return
        self.launch(message, src, now)

    def launch(self, message: int, src: int, now: Any) -> None:
        """A message enters the network: cut into chunks, all of them at once at the sender's port."""
        schedule, pace = self.schedule, self.pace
        size, dst = schedule.bytes[message], schedule.dst[message]
        self.launched[message] = now
        whole = size <= pace.chunk_bytes
        plan = self.plan_of(src, dst, size if whole else pace.chunk_bytes, now)
        ready = now + pace.alpha
        if whole:
            self.plan[message] = plan
            self.chunks += 1
            self.chunk_hops += len(plan)
            heappush(self.heap, (ready, 2 * message, 0))
            return
        full, rest = divmod(size, pace.chunk_bytes)
        full = int(full)
        self.train_links.enter(Train(2 * message, plan, 0, pace.chunk_bytes, 0, full, ready, 0))
        if rest:
            plan = self.plan_of(src, dst, rest, now)
            self.train_links.enter(Train(2 * message + 1, plan, 0, rest, full, 1, ready, 0))
        chunks = full + bool(rest)
        self.chunks += chunks
        self.chunk_hops += chunks * len(plan)

    def age(self, time: Any) -> int:
        """How many link failures have occurred by then; a route is valid until the next one."""
        return bisect_right(self.changes, time)

    def plan_of(self, src: int, dst: int, size: Any, now: Any) -> tuple[Hop, ...]:
        """The hops of a chunk of this size, with the network as it stands now."""
        key = src, dst, size, self.age(now)
        if key not in self.plans:
            way = self.network.way(src, dst, now)
            size = int(size) if float(size).is_integer() else size
            service = [size / self.network.bandwidth[link] for link in way]
            hops, slack = [], 0
            for i, link in enumerate(way):
                last, latency = i == len(way) - 1, self.network.latency[link]
                whole = last or self.pace.store_and_forward
                offset = latency + service[i] if whole else latency - slack
                hops.append(Hop(link, service[i], slack, offset, -1 if last else i + 1))
                slack = 0 if whole else max(0, slack + service[i] - service[i + 1])
            self.plans[key] = tuple(hops)
        return self.plans[key]

    def stuck(self) -> str:
        """Which ranks wait for one another to receive."""
        src, dst = self.schedule.src, self.schedule.dst
        pairs = [f"rank {src[m]} cannot send to rank {dst[m]} before that one receives" for m in sorted(self.held)]
        more = f"; and {len(pairs) - 4} more messages" if len(pairs) > 4 else ""
        large = f"messages over {self.pace.eager_bytes:g} bytes wait to be asked for"
        return f"deadlock: {large}: {'; '.join(pairs[:4])}{more}"

    def flight(self, message: int, now: Any) -> Any:
        """From its sender's port to its arrival, with the network to itself."""
        schedule, size = self.schedule, self.schedule.bytes[message]
        src, dst = schedule.src[message], schedule.dst[message]
        limit = min(size, self.pace.chunk_bytes)
        full, rest = divmod(size, limit) if limit else (1, 0)
        plan = self.plan_of(src, dst, limit, now)
        tail = self.plan_of(src, dst, rest, now) if rest else ()
        head = behind = end = gap = 0
        for i, hop in enumerate(plan):
            gap = max(gap, hop.service)
            first = head + hop.slack
            last = first + (full - 1) * gap
            if tail:
                behind = max(behind + tail[i].slack, last + hop.service) + tail[i].offset
            head, end = first + hop.offset, last + hop.offset
        return max(end, behind)

    # Failures

    def resend_all(self, message: int, hop: int, now: Any) -> None:
        """A message of one chunk met a dead link: its sender sends it again, over what remains."""
        schedule = self.schedule
        time = self.after_loss(schedule.bytes[message], now)
        plan = self.plan_of(schedule.src[message], schedule.dst[message], schedule.bytes[message], time)
        if hop:  # it has left already: a train that does not leave again
            train = Train(2 * message, plan, 0, schedule.bytes[message], 0, 1, time, 0, again=1)
            self.train_links.missing[message] = 1
            heappush(self.heap, (time, 2 * message, train))
        else:
            self.plan[message] = plan
            heappush(self.heap, (time, 2 * message, 0))

    def resend(self, train: Train, now: Any) -> None:
        """The same for one chunk of a train."""
        message = train.order >> 1
        time = self.after_loss(train.size, now)
        plan = self.plan_of(self.schedule.src[message], self.schedule.dst[message], train.size, time)
        again = train.again or bool(train.hop)
        new = Train(train.order, plan, 0, train.size, train.first, 1, time, 0, again=again)
        heappush(self.heap, (time, new.order, new))

    def after_loss(self, size: Any, now: Any) -> Any:
        """The time at which bytes that are lost now are sent again."""
        self.resent_bytes += size
        return now + self.pace.timeout
