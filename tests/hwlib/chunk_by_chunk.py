"""The event simulation the slow way, to check the fast one: an event for every chunk and every link."""

import math
import random
from collections import Counter
from fractions import Fraction
from heapq import heappop, heappush
from itertools import product

import pytest

from hwlib.simulate.event_loop import ARRIVAL, START, EventLoop, Pace
from hwlib.simulate.mailbox import SimulationError
from hwlib.simulate.message_schedule import MessageSchedule


class ChunkByChunk(EventLoop):
    """The same ranks and plans; links that see one chunk at a time and know of no trains."""

    def run(self):
        free = [0] * len(self.network.dies)
        missing, unsent = {}, {}
        self.pieces = missing, unsent
        for rank in range(len(self.step)):
            self.advance(rank, self.pace.starts[rank] if self.pace.starts else 0)
        while self.heap:
            self.now, order, what = heappop(self.heap)
            now = self.now
            if order < ARRIVAL:
                self.begin(order - START, now)
                continue
            if order < 0:
                message = order - ARRIVAL
                missing[message] -= 1
                if not missing[message]:
                    self.arrive(message, now)
                continue
            chunk, size, plan, hop, again = what
            link, service, slack, offset, after = plan[hop]
            start, message = max(now + slack, free[link]), order >> 1
            if start + service > self.network.dies[link]:
                time = self.after_loss(size, max(now, self.network.dies[link]))
                plan = self.plan_of(self.schedule.src[message], self.schedule.dst[message], size, time)
                heappush(self.heap, (time, order, (chunk, size, plan, 0, again or hop > 0)))
                continue
            free[link] = start + service
            self.traffic.add(link, message, size, start, start + service)
            if after < 0:
                heappush(self.heap, (start + offset, ARRIVAL + message, (chunk, size)))
            else:
                heappush(self.heap, (start + offset, order, (chunk, size, plan, after, again)))
            if not hop and not again:
                unsent[message] -= 1
                if not unsent[message]:
                    self.leave(message, start + service)
        if self.held:
            raise SimulationError(self.stuck(), "deadlock")
        return self.finish, self.arrived, self.left

    def launch(self, message, src, now):
        size, dst, limit = self.schedule.bytes[message], self.schedule.dst[message], self.pace.chunk_bytes
        self.launched[message] = now
        full = 0 if size <= limit else size // limit
        sizes = [limit] * int(full)
        sizes += [size - sum(sizes)] if len(sizes) < self.pieces_of(message) else []
        missing, unsent = self.pieces
        missing[message] = unsent[message] = len(sizes)
        for chunk, piece in enumerate(sizes):
            plan = self.plan_of(src, dst, piece, now)
            order = 2 * message + (chunk > 0 and chunk == full)
            heappush(self.heap, (now + self.pace.alpha, order, (chunk, piece, plan, 0, False)))

    def pieces_of(self, message):
        """Into how many chunks a message is cut: at least one, which may be empty."""
        return max(1, math.ceil(self.schedule.bytes[message] / self.pace.chunk_bytes))


class Tangle:
    """Links of random rates and random ways over them; those of the upper half may die, and ways avoid them then."""

    def __init__(self, rng, ranks, links):
        self.bandwidth = [Fraction(rng.choice([1, 2, 3, 4, 8]), rng.choice([1, 1, 3])) for _ in range(links)]
        self.latency = [Fraction(rng.choice([0, 0, 1, 2, 5]), 4) for _ in range(links)]
        half, mortal = links // 2, rng.random() < 0.4
        self.dies = [Fraction(rng.randint(0, 200), 3) if mortal and link >= half else math.inf for link in range(links)]
        pairs = list(product(range(ranks), range(ranks)))
        self.first = {pair: tuple(rng.sample(range(links), rng.randint(1, min(4, links)))) for pair in pairs}
        self.safe = {pair: tuple(rng.sample(range(half), rng.randint(1, min(4, half)))) for pair in pairs}

    def way(self, src, dst, time):
        first = self.first[src, dst]
        return first if all(self.dies[link] > time for link in first) else self.safe[src, dst]


def random_schedule(rng, ranks):
    """Messages of many sizes between any two ranks; a rank waits early for lower ranks only, so none waits forever."""
    src, dst, size, sends = [], [], [], []
    for rank in range(ranks):
        sends.append([len(src)])
        for _ in range(rng.randint(0, 5)):
            for _ in range(rng.choice([1, 1, 1, 2])):
                src.append(rank)
                dst.append(rng.choice([other for other in range(ranks) if other != rank]))
                size.append(float(rng.choice([0, 1, 5, 12, 24, 25, 60, 100])))
            sends[-1].append(len(src))
    taken, waits, wanted = [0] * len(src), [], []
    for rank in range(ranks):
        left = [message for message in range(len(src)) if dst[message] == rank]
        wanted.append([])
        waits.append([0])
        steps = len(sends[rank])
        sends[rank].append(sends[rank][-1])
        for step in range(steps):
            last = step == steps - 1
            for message in [m for m in left if last or (src[m] < rank and rng.random() < 0.5)]:
                left.remove(message)
                wanted[-1].append(message)
                taken[message] = step
            waits[-1].append(len(wanted[-1]))
    return MessageSchedule([None] * ranks, src, dst, size, sends, waits, wanted, taken)


def random_run(seed):
    """A schedule, a network and a pace, all in fractions, so that two ways to simulate them agree to the last bit."""
    rng = random.Random(seed)
    ranks, links = rng.randint(2, 6), rng.choice([2, 3, 4, 6, 10])
    network, schedule = Tangle(rng, ranks, links), random_schedule(rng, ranks)
    starts = [Fraction(rng.choice([0, 0, 3, 7])) for _ in range(ranks)]
    pace = Pace(
        alpha=Fraction(rng.choice([0, 1, 3]), 2),
        eager_bytes=rng.choice([math.inf, math.inf, 30]),
        chunk_bytes=rng.choice([math.inf, 1, 3, 5, 7, 10, 12]),
        store_and_forward=rng.random() < 0.3,
        # Above 0: these ways may come back over their sender's first link, where a chunk that is sent again in no
        # time would pass its own message. No way in a graph does.
        timeout=Fraction(rng.choice([1, 2]), 2),
        starts=starts,
        delay=(lambda rank, step: Fraction(rank % 2, 2)) if rng.random() < 0.3 else None,
    )
    return schedule, network, pace


def both_ways(seed):
    """Runs a random schedule by trains and by chunks, which must agree; counts what it had trains cut and lost by."""
    fast, slow = (kind(*random_run(seed)) for kind in (EventLoop, ChunkByChunk))
    try:
        timing = fast.run()
    except SimulationError:
        with pytest.raises(SimulationError) as slow_error:
            slow.run()
        assert slow_error.value.reason == "deadlock"
        return Counter(deadlocks=1)
    slow.run()
    for name in ("finish", "arrived", "left", "launched", "resent_bytes"):
        assert getattr(fast, name) == getattr(slow, name), f"seed {seed}: {name}"
    assert _passed(fast) == _passed(slow), f"seed {seed}"
    assert None not in fast.arrived
    assert fast.chunks == sum(slow.pieces_of(message) for message in range(len(fast.arrived)))
    return Counter(cuts=timing.cuts, lost=int(timing.resent_bytes > 0))


def _passed(clock):
    """The bytes of each message over each link."""
    total = Counter()
    for link, message, size in zip(clock.traffic.link, clock.traffic.message, clock.traffic.bytes, strict=True):
        total[link, message] += size
    return +total
