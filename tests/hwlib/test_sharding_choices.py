"""Gathering a weight against adding up a result: the formulas against the plans that they stand for, and a bound."""

import pytest

from hwlib.sharding import Mesh, gather_multiply_time, matmul_plans, multiply_reduce_time
from hwlib.units import GB

C, W = 1e15, 450 * GB
SHAPE = {"B": 2048, "D": 8192, "F": 4096}
PLANS = matmul_plans("x[B, D]", "W[D_X, F]", "y[B, F]", Mesh(X=8), SHAPE)


@pytest.mark.parametrize(
    ("time", "split", "ops"),
    [(gather_multiply_time, "", ["all_gather"]), (multiply_reduce_time, "D", ["all_reduce"])],
)
def test_the_times_are_those_of_the_plans(time, split, ops):
    plan = next(plan for plan in PLANS if plan.split["X"] == split)
    assert [move.op for move in plan.moves] == ops
    assert time(**SHAPE, n=8, C=C, W=W) == pytest.approx(plan.time(C, W))


def test_the_published_bound_holds_for_large_batches():
    """Scaling-book, chapter 3, question 4: for a large batch adding up is faster from D = 2*C/W on, 5,100 there."""
    ratio, many = 2550, 10**6
    for D, faster in ((5000, False), (5200, True)):
        gather = gather_multiply_time(10**5, D, 8192, many, ratio * W, W)
        add = multiply_reduce_time(10**5, D, 8192, many, ratio * W, W)
        assert (add < gather) == faster
