"""Sends and receives of several ranks' traces: which meet, who waits, and which are left alone."""

import json

import pytest

from hwlib.traces.profiles.answers import answer
from hwlib.traces.profiles.messages import channel_of
from hwlib.traces.profiles.profile import CollectiveCall
from tests.hwlib.test_traces import collective, kernel

NCCL = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage)"


def message(way, peer, ts, dur, group="pp", **args):
    about = {"Collective name": way, "Process Group Name": group, "In msg nelems": 1024, "dtype": "BFloat16"}
    about |= {"Process Group Ranks": "[0, 1, 2, 3]", ("Dst Rank" if way == "send" else "Src Rank"): peer}
    return kernel(ts, dur, 20, NCCL, **{**about, **args})


def text(rank, *events):
    return json.dumps({"traceEvents": events, "distributedInfo": {"rank": rank, "world_size": 4}})


def waits(*ranks):
    got = answer({str(number): text(number, *events) for number, events in enumerate(ranks)}).waits
    return {pair: round(1e6 * seconds, 3) for pair, seconds in got.waits.items()}, got


def test_a_stage_waits_for_the_one_before_it():
    """us: rank 1 asks at 0 and 100, rank 0 sends at 40 and 130; both leave together."""
    first = (kernel(0, 40), message("send", 1, 40, 10), kernel(50, 80), message("send", 1, 130, 10))
    second = (message("recv", 0, 0, 50), kernel(50, 50), message("recv", 0, 100, 40))
    got, whole = waits(first, second)
    assert got == {("1", "0"): 40 + 30}
    assert (whole.matched, whole.unmet) == (1.0, 0)
    assert "rank 1 for rank 0" in answer({"0": text(0, *first), "1": text(1, *second)}).text


def test_a_send_waits_for_its_receiver_only_until_it_leaves():
    """A short send is put into NCCL's buffer and ends before the other side has come."""
    got, _ = waits((message("send", 1, 0, 5), kernel(70, 1)), (kernel(0, 60), message("recv", 0, 60, 5)))
    assert got == {("0", "1"): 5}
    got, _ = waits((message("send", 1, 0, 64),), (kernel(0, 60), message("recv", 0, 60, 4)))
    assert got == {("0", "1"): 60}


def test_both_ways_of_a_pair_are_matched_apart():
    first = (message("send", 1, 0, 10), message("recv", 1, 20, 40), kernel(10, 5))
    second = (message("recv", 0, 0, 10), kernel(10, 40), message("send", 0, 50, 10))
    assert waits(first, second)[0] == {("0", "1"): 30}


@pytest.mark.parametrize("peer", ["1", 1])
def test_a_peer_is_a_number_or_its_text(peer):
    _, whole = waits((message("send", peer, 0, 10),), (message("recv", 0, 0, 10),))
    assert whole.matched == 1.0


@pytest.mark.parametrize("peer", [-1, "-1", "x", None, 1.0, True, "9" * 9])
def test_a_peer_that_is_none_is_not_matched(peer):
    _, whole = waits((message("send", peer, 0, 10),), (message("recv", 0, 0, 10),))
    assert (whole.matched, whole.unmet) == (0.0, 2)


def test_traces_with_more_on_one_side_are_left_alone_and_said_to_be():
    first = (message("send", 1, 0, 10), message("send", 1, 20, 10))
    second = (message("recv", 0, 0, 10),)
    got, whole = waits(first, second)
    assert (got, whole.matched, whole.unmet) == ({}, 0.0, 3)
    assert "3 sends and receives" in answer({"0": text(0, *first), "1": text(1, *second)}).text


def test_batched_messages_are_matched_in_groups_of_two():
    def batched(ts, dur, ranks):
        about = {"Collective name": "coalesced", "Process Group Name": "9", "Process Group Ranks": ranks}
        return kernel(ts, dur, 20, NCCL, **about)

    pair, four = "[0, 1]", "[0, 1, 2, 3]"
    assert waits((batched(0, 30, pair),), (kernel(0, 20), batched(20, 10, pair)))[0] == {("0", "1"): 20}
    assert waits((batched(0, 30, four),), (kernel(0, 20), batched(20, 10, four)))[1].matched == 0.0


def test_clocks_are_aligned_by_collectives_and_else_by_messages():
    """us: rank 1's clock is a second ahead."""
    late = 1_000_000
    first = (kernel(0, 40), message("send", 1, 40, 10))
    alone, whole = waits(first, (message("recv", 0, late, 50),))
    assert alone == {("1", "0"): 40}
    assert whole.shifts["1"] == pytest.approx(-1.0, abs=1e-6)
    with_collective = (message("recv", 0, late + 15, 30), collective(late + 60, 10))  # ends 5 us before the send does
    _, whole = waits((*first, collective(60, 10)), with_collective)
    assert whole.shifts["1"] == pytest.approx(-1.0, abs=1e-9)


@pytest.mark.parametrize(
    ("rank", "group", "way", "peer", "channel"),
    [
        (0, "a", "send", 1, "0 to 1 in a"),
        (1, "a", "recv", 0, "0 to 1 in a"),
        (None, "a", "send", 1, ""),
        (0, "a [0, 1]", "", -1, "between a [0, 1]"),
        (0, "a [0, 1, 2]", "", -1, ""),
        (0, "a [0", "", -1, ""),
        (0, "a", "", -1, ""),
    ],
)
def test_the_channel_of_a_message(rank, group, way, peer, channel):
    assert channel_of(rank, CollectiveCall("send_recv", group, -1, 0.0, 0, 1, way, peer)) == channel
