"""Trains of chunks give, to the last bit, what an event for every chunk and link gives."""

import math
from collections import Counter
from fractions import Fraction

import pytest

from hwlib.simulate.event_loop import EventLoop, Pace
from hwlib.simulate.mailbox import SimulationError
from hwlib.simulate.message_schedule import MessageSchedule
from tests.hwlib.chunk_by_chunk import ChunkByChunk, random_run

FIELDS = ("finish", "arrived", "left", "launched")


def passed(clock):
    """The bytes of each message over each link."""
    total = Counter()
    for link, message, size in zip(clock.traffic.link, clock.traffic.message, clock.traffic.bytes, strict=True):
        total[link, message] += size
    return +total


@pytest.mark.parametrize("block", range(8))
def test_trains_are_exact_where_messages_meet_queue_wait_and_are_lost(block):
    seen = Counter()
    for seed in range(60 * block, 60 * block + 60):
        fast, slow = (kind(*random_run(seed)) for kind in (EventLoop, ChunkByChunk))
        try:
            timing = fast.run()
        except SimulationError:
            with pytest.raises(SimulationError) as error:
                slow.run()
            assert error.value.reason == "deadlock"
            continue
        slow.run()
        for name in FIELDS:
            assert getattr(fast, name) == getattr(slow, name), f"seed {seed}: {name}"
        assert passed(fast) == passed(slow), f"seed {seed}"
        assert fast.resent_bytes == slow.resent_bytes
        assert None not in fast.arrived
        assert fast.chunks == sum(slow.pieces_of(message) for message in range(len(fast.arrived)))
        seen["cuts"] += timing.cuts
        seen["lost"] += timing.resent_bytes > 0
    assert seen["cuts"] > 20, "the seeds are to try what trains are cut by"
    assert seen["lost"] > 3


class Line:
    """Links in a row; every message takes the same ones, from the place of its sender on."""

    def __init__(self, bandwidth, latency):
        self.bandwidth, self.latency = bandwidth, latency
        self.dies = [math.inf] * len(bandwidth)

    def way(self, src, dst, time):
        return tuple(range(src, dst))


def send(pairs, ranks):
    """A schedule of one message for each (src, dst, bytes), all at once."""
    pairs = sorted(pairs)
    src, dst, size = ([pair[i] for pair in pairs] for i in range(3))
    starts = [sum(s < rank for s in src) for rank in range(ranks + 1)]
    wanted = [[m for m, d in enumerate(dst) if d == rank] for rank in range(ranks)]
    return MessageSchedule(
        [None] * ranks,
        src,
        dst,
        size,
        [starts[r : r + 2] for r in range(ranks)],
        [[0, len(w)] for w in wanted],
        wanted,
        [0] * len(src),
    )


def arrivals(pairs, bandwidth, latency=0, chunk=math.inf, store_and_forward=False):
    network = Line(bandwidth, [latency] * len(bandwidth))
    pace = Pace(chunk_bytes=chunk, store_and_forward=store_and_forward)
    return EventLoop(send(pairs, len(bandwidth) + 1), network, pace).run()


# 12 bytes over links of 1, 3 and 2 B/s with a latency of 5 s each. The arithmetic is in the names of the cases.
@pytest.mark.parametrize(
    ("chunk", "store_and_forward", "expected"),
    [
        (math.inf, False, 12 + 15),  # cut-through: the slowest link, and all latencies
        (math.inf, True, 12 + 4 + 6 + 15),  # each link after the other
        (3, True, 12 + 1 + Fraction(3, 2) + 15),  # the first link takes 12 s; the last chunk then 1 s and 1.5 s
        (3, False, 12 + 15),  # chunks do not help where nothing waits
        (5, True, 10 + Fraction(5, 3) + Fraction(5, 2) + 1 + 15),  # 5, 5, 2: the rest queues behind the second 5
    ],
)
def test_one_message_takes_what_a_pencil_says(chunk, store_and_forward, expected):
    bandwidth = [Fraction(1), Fraction(3), Fraction(2)]
    timing = arrivals([(0, 3, 12.0)], bandwidth, Fraction(5), chunk, store_and_forward)
    assert timing.arrived == [expected]
    assert timing.left == [12]


def test_two_messages_share_a_link_by_turns_if_they_come_in_chunks():
    # Rank 0 sends 8 bytes over links 0 and 1, rank 1 sends 4 over link 1 alone; 1 B/s, chunks of 1 byte.
    # At 0 s the head of rank 0's first chunk and all of rank 1's are at link 1, and the lower number goes first:
    # then rank 1's four, then the other seven.
    one = [Fraction(1)] * 2
    assert arrivals([(0, 2, 8.0), (1, 2, 4.0)], one, chunk=1).arrived == [12, 5]
    # In whole messages, rank 1's waits for all of rank 0's.
    assert arrivals([(0, 2, 8.0), (1, 2, 4.0)], one).arrived == [8, 12]


def test_a_train_is_cut_by_whoever_comes_between():
    # Links 0 and 1 of 1 B/s, link 2 of 2 B/s. 6 chunks from rank 0 come to link 2 at 0, 1, 2, ..., 3 from rank 1
    # at the same times. They take turns: rank 0's start half a second late, as their data comes at half the
    # rate, and rank 1's right after them.
    bandwidth = [Fraction(1), Fraction(1), Fraction(2)]
    network = Line(bandwidth, [Fraction(0)] * 3)
    network.way = lambda src, dst, time: (src, 2)
    timing = EventLoop(send([(0, 2, 6.0), (1, 2, 3.0)], 3), network, Pace(chunk_bytes=1)).run()
    assert timing.arrived == [6, Fraction(7, 2)]
    assert timing.cuts > 0
