"""Hangs that are drawn are found, by our reading and by PyTorch's own analyser."""

import copy
from argparse import Namespace

import pytest

from hwlib.traces import HANGS, draw_flight, find_hang, flight_entries


@pytest.mark.parametrize(
    ("hang", "at", "reason"),
    [
        ("absent", 20, "missing"),
        ("absent", 14, "missing"),
        ("order", 13, "operation"),
        ("size", 18, "size"),
        ("operation", 18, "operation"),
        ("skip", 13, "size"),
    ],
)
@pytest.mark.parametrize("rank", [0, 5, 10, 15])
def test_the_rank_that_hangs_a_job_is_named(hang, at, reason, rank):
    found = find_hang(draw_flight(hang, rank, at))
    assert found.reason == reason
    assert found.ranks == (rank,)


def test_most_of_those_who_are_missing_are_victims():
    """One rank is absent; others are missing from later calls of other groups because they wait for it."""
    dumps = draw_flight("absent", 3, 20)
    states = {rank: [e.state for e in flight_entries(rank, dump)] for rank, dump in dumps.items()}
    assert set(states[3]) == {"completed"}
    assert all("started" in own for rank, own in states.items() if rank != 3)
    assert find_hang(dumps).ranks == (3,)


def test_a_call_left_out_among_equal_ones_leaves_a_circle():
    assert find_hang(draw_flight("skip", 5, 1))[0] == "circle"


def test_of_two_ranks_that_differ_neither_is_the_odd_one():
    assert find_hang(draw_flight("size", 2, 18, tp=2, dp=2)).ranks == (2, 3)


def test_a_job_that_ends_does_not_hang():
    dumps = draw_flight("none")
    assert find_hang(dumps) is None
    assert {e.state for rank in dumps for e in flight_entries(rank, dumps[rank])} == {"completed"}


@pytest.mark.parametrize(("hang", "at"), [("absent", 20), ("order", 13), ("size", 18)])
def test_pytorch_reads_these_dumps_and_names_the_same_group(hang, at):
    from torch.distributed.flight_recorder.components.builder import build_db

    dumps = draw_flight(hang, 2, at)
    details = {
        f"rank_{rank}": {**copy.deepcopy(dump), "rank": rank, "host_name": f"host_rank{rank}"}
        for rank, dump in dumps.items()
    }
    about = Namespace(
        verbose=False,
        just_print_entries=False,
        allow_incomplete_ranks=False,
        mismatch_cap=10,
        pg_filters=None,
        selected_ranks=None,
        print_stack_trace=False,
    )
    base = build_db(details, about, "2.10")
    ours = find_hang(dumps)
    bad = [one for one in base.collectives if not one.pass_check or one.missing_ranks]
    assert any(one.group_id == ours.group and one.collective_seq_id == ours.number for one in bad)


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="hang is one of"):
        draw_flight("tired")
    with pytest.raises(ValueError, match="rank"):
        draw_flight("size", 16)
    assert "size" in HANGS
