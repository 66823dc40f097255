"""What leaves a node, as a limit of an algorithm."""

import pytest

from autograder.answers import Algorithm, Case, at_most
from autograder.declaration import DeclarationError, Exercise, Mistake
from tests.autograder import lab
from tests.autograder.lab import judge, make


def flat(rank, n, x, inner):
    return (yield from lab.ring(rank, n, x))


def nested(rank, n, x, inner):
    from hwlib.algorithms.grid import hierarchical_allreduce

    return (yield from hierarchical_allreduce(rank, n, x, inner=inner))


def in_nodes(**options):
    cases = [Case(4, 8, options={"inner": 2}), Case(6, 12, options={"inner": 3})]
    answer = Algorithm("f", signature="f(rank, n, x, inner)", cases=cases, collective="all_reduce", **options)
    return Exercise(
        id="t-nodes",
        prompt="Write it.",
        answer=answer,
        solution=nested,
        mistakes=(Mistake(lab.whole_ring, "One."), Mistake(lab.scattered, "Two.")),
    )


def test_what_leaves_a_node_can_be_limited():
    exercise = in_nodes(leaving_bytes=at_most(), rounds=None)
    assert judge(exercise, nested).score == 1
    wrong = judge(exercise, flat)
    assert (wrong.score, wrong.reason) == (0.0, "leaving-bytes")
    assert judge(in_nodes(rounds=None), flat).score == 1


def test_a_limit_of_what_leaves_a_node_needs_to_know_the_node():
    with pytest.raises(DeclarationError, match=r"t-ring: leaving_bytes .*`inner`"):
        make(answer=Algorithm("ring", cases=[(4, 8)], collective="all_reduce", leaving_bytes=at_most()))
