"""What one submission may use, and what each of several ranks has of it."""

import pytest

from autograder.sandbox.limits import Limits

MIB = 1 << 20
DEFAULTS = {
    "cell": 30.0,
    "total": 600.0,
    "memory": 4096 * MIB,
    "ranks": 1,
    "processes": 256,
    "open_files": 256,
    "file_size": 64 * MIB,
    "scratch": 256 * MIB,
    "output": 200_000,
    "shown": 2_000_000,
    "sent": 64 * MIB,
    "sent_values": 2 * MIB,
    "sent_by_all": 4,
    "grace": 0.9,
}


def test_the_limits_of_a_submission_are_those_documented():
    assert Limits().as_plain() == DEFAULTS


@pytest.mark.parametrize(
    ("memory", "ranks", "share"),
    [
        (4096, 1, 4096),
        (4096, 16, 256),
        (4096, 32, 128),
        (4096, 64, 128),  # never less than what it takes to run a chapter's cells again
        (64, 1, 64),  # nor more than the whole submission has
        (64, 4, 64),
    ],
)
def test_a_rank_holds_its_share_but_never_too_little(memory, ranks, share):
    assert Limits(memory=memory * MIB, ranks=ranks).share == share * MIB


@pytest.mark.parametrize(
    ("scratch", "ranks", "left"), [(256, 1, 256), (256, 8, 32), (256, 16, 16), (256, 32, 16), (8, 1, 8), (8, 2, 8)]
)
def test_a_private_folder_is_divided_but_never_too_small(scratch, ranks, left):
    limits = Limits(scratch=scratch * MIB, cell=7.0).among(ranks)
    assert (limits.scratch, limits.ranks, limits.cell) == (left * MIB, ranks, 7.0)


@pytest.mark.parametrize(("ranks", "sent", "values"), [(1, 64, 2048), (2, 32, 1024), (4, 16, 1024), (8, 16, 1024)])
def test_what_a_rank_may_send_is_divided_but_one_message_at_least(ranks, sent, values):
    limits = Limits().among(ranks)
    assert (limits.sent, limits.sent_values) == (sent * MIB, values * 1024)
