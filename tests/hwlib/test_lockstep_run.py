"""Lockstep among many ranks."""

import numpy as np
import pytest

from hwlib.simulate import lockstep


@pytest.mark.parametrize(
    ("name", "rounds"),
    [
        ("halving_doubling_allreduce", 20),
        ("tree_allreduce", 20),
        pytest.param("double_tree_allreduce", 2 * (10 + 4 - 1), marks=pytest.mark.slow),
        ("switch_allreduce", 5),
        pytest.param("hierarchical_allreduce", 4 * 31, marks=pytest.mark.slow),
    ],
)
def test_a_thousand_ranks(name, rounds):
    run = lockstep(name, [np.full(1024, float(rank)) for rank in range(1024)])
    assert run.rounds == rounds
    assert all((output == 1023 * 512).all() for output in run.outputs)


@pytest.mark.parametrize("n", [256, pytest.param(1024, marks=[pytest.mark.slow, pytest.mark.nightly])])
def test_a_ring_of_many_ranks(n):
    run = lockstep("ring_allreduce", [np.full(n, float(rank)) for rank in range(n)], alpha=1.0)
    assert run.rounds == run.time == 2 * (n - 1)
    assert len(run.messages) == 2 * (n - 1) * n
    assert all((output == (n - 1) * n / 2).all() for output in run.outputs)
