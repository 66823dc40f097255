"""The clock of the event simulation: messages in chunks over few links, by hand and chunk by chunk."""

import math
from collections import Counter
from fractions import Fraction

import pytest

from hwlib.simulate.chunk_trains import GROWTH, Hop, Train, TrainLinks
from hwlib.simulate.event_loop import EventLoop, LinkTraffic, Pace
from hwlib.simulate.mailbox import SimulationError
from hwlib.simulate.message_schedule import MessageSchedule
from tests.hwlib.chunk_by_chunk import both_ways


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


def test_trains_are_exact_where_messages_meet_queue_wait_and_are_lost():
    seen = Counter()
    for seed in range(44):
        seen += both_ways(seed)
    assert seen["cuts"] > 20, "the seeds are to try what trains are cut by"
    assert seen["lost"] > 3
    assert seen["deadlocks"] > 0


@pytest.mark.parametrize(
    ("size", "chunk", "chunks"),
    [(12.0, math.inf, 1), (12.0, 12, 1), (12.0, 11, 2), (12.0, 4, 3), (12.0, 5, 3), (0.0, 5, 1)],
)
def test_chunks_are_counted_once_and_once_a_link(size, chunk, chunks):
    timing = arrivals([(0, 3, size)], [Fraction(1)] * 3, chunk=chunk)
    assert (timing.chunks, timing.chunk_hops, timing.cuts, timing.resent_bytes) == (chunks, 3 * chunks, 0, 0)


def test_what_passed_is_a_row_until_it_is_shortened():
    traffic = LinkTraffic()
    assert [traffic.add(3, 7, 10, 0.5, 2.5), traffic.add(4, 8, 20, 1, 2)] == [0, 1]
    traffic.shorten(0, 6, 1.5)
    assert (list(traffic.link), list(traffic.message)) == ([3, 4], [7, 8])
    assert (list(traffic.bytes), list(traffic.start), list(traffic.end)) == ([6, 20], [0.5, 1], [1.5, 2])


@pytest.mark.parametrize(("dies", "resent", "arrived"), [(4, 0, 4), (Fraction(39, 10), 4, Fraction(79, 10))])
def test_a_message_that_ends_as_its_link_dies_is_not_lost(dies, resent, arrived):
    """It is sent again when the link has died, over another: 4 bytes at 1 B/s."""
    network = Line([Fraction(1)] * 2, [0, 0])
    network.dies = [dies, math.inf]
    network.way = lambda src, dst, time: (0,) if time < dies else (1,)
    loop = EventLoop(send([(0, 1, 4.0)], 2), network, Pace())
    timing = loop.run()
    assert (timing.resent_bytes, timing.arrived) == (resent, [arrived])
    assert [loop.age(time) for time in (0, dies, 5)] == [0, 1, 1]


@pytest.mark.parametrize(("dies", "resent"), [(6, 0), (Fraction(23, 4), 1), (Fraction(1, 2), 6)])
def test_of_a_train_only_the_chunks_after_the_death_are_lost(dies, resent):
    network = Line([Fraction(1)] * 2, [0, 0])
    network.dies = [dies, math.inf]
    network.way = lambda src, dst, time: (0,) if time < dies else (1,)
    timing = EventLoop(send([(0, 1, 6.0)], 2), network, Pace(chunk_bytes=1)).run()
    assert timing.resent_bytes == resent
    assert timing.arrived == [dies + resent if resent else 6]


@pytest.mark.parametrize(("messages", "more"), [(4, ""), (5, "; and 1 more messages"), (6, "; and 2 more messages")])
def test_a_deadlock_names_four_messages(messages, more):
    """Each rank sends to the next one first, and asks only then."""
    rank = range(messages)
    schedule = MessageSchedule(
        [None] * messages,
        [*rank],
        [(r + 1) % messages for r in rank],
        [8.0] * messages,
        [[r, r + 1, r + 1] for r in rank],
        [[0, 0, 1] for _ in rank],
        [[(r - 1) % messages] for r in rank],
        [1] * messages,
    )
    network = Line([Fraction(1)] * messages, [0] * messages)
    network.way = lambda src, dst, time: (src,)
    assert max(EventLoop(schedule, network, Pace(eager_bytes=8)).run().finish) == 8
    with pytest.raises(SimulationError) as caught:
        EventLoop(schedule, network, Pace(eager_bytes=7)).run()
    assert caught.value.reason == "deadlock"
    assert str(caught.value).count("cannot send") == 4
    assert str(caught.value).endswith(f"receives{more}")
    assert "over 7 bytes" in str(caught.value)


@pytest.mark.parametrize(("size", "chunk", "alone"), [(0.0, 4, 1), (8.0, 4, 9), (9.0, 4, 10), (3.0, math.inf, 4)])
def test_a_flight_is_the_time_of_a_message_alone(size, chunk, alone):
    """Over links of 1 and 2 B/s, of half a second each: the bytes over the narrowest, and both latencies."""
    network = Line([Fraction(1), Fraction(2)], [Fraction(1, 2)] * 2)
    loop = EventLoop(send([(0, 2, size)], 3), network, Pace(chunk_bytes=chunk))
    assert loop.flight(0, 0) == alone
    assert loop.run().arrived == [alone]


def links_of_trains():
    """One link, which never dies."""
    return TrainLinks([], [math.inf], LinkTraffic(), lambda message, time: None, lambda train, time: None)


def train(order, count, ready=0, period=0):
    """Chunks of 1 byte at the second hop of their way, link 0, which takes a second for each."""
    return Train(order, (Hop(1, 1, 0, 1, 1), Hop(0, 1, 0, 1, -1)), 1, 1, 0, count, ready, period)


def test_a_train_that_contends_is_cut_after_the_chunks_that_came_before():
    """Four chunks come at 0, 2, 4 and 6 s, and another message at 3 s, between the second and the third."""
    lines = links_of_trains()
    first = train(2, 4, period=2)
    for each in (first, train(4, 1, ready=3)):
        lines.enter(each)
        lines.reach(each)
    assert (first.count, lines.cuts, lines.grasp) == (2, 1, [1])
    assert (list(lines.log.bytes), list(lines.log.end)) == ([2, 1], [3, 4])
    (rest,) = [entry[2] for entry in lines.heap if entry[0] == 4 and entry[2].count == 2]
    assert (rest.first, rest.ready, rest.period) == (2, 4, 2)
    assert lines.missing == {1: 4, 2: 1}
    lines.reach(rest)
    assert (rest.count, lines.grasp) == (1, [GROWTH])


@pytest.mark.parametrize(("ready", "order", "kept"), [(4, 4, 3), (4, 0, 2), (5, 0, 3), (0, 4, 1), (0, 0, 0), (9, 4, 4)])
def test_at_one_time_the_lower_number_goes_first(ready, order, kept):
    """Chunks of message 1 come at 0, 2, 4 and 6 s."""
    lines = links_of_trains()
    first = train(2, 4, period=2)
    lines.enter(first)
    lines.reach(first)
    lines.interrupt(0, ready, order)
    assert first.count == kept
    assert lines.cuts == (kept < 4)
    assert lines.free == [2 * kept - 1 if kept else 0]


def test_chunks_of_a_message_are_ordered_by_their_number():
    first, second = train(2, 1), train(2, 1)
    second.first = 1
    assert first < second
    assert not second < first
    assert not first < train(2, 1)
