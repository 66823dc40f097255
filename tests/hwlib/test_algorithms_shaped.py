"""Rings on arrays with shapes: the results keep theirs, and what went in stays as it was."""

import numpy as np
import pytest

from hwlib.algorithms import gathered, scattered, summed
from hwlib.simulate import lockstep


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("kind", [np.asarray, pytest.param("torch", id="torch")])
def test_shapes_and_numbers(n, kind):
    whole = np.random.default_rng(n).normal(size=(n, 2 * n, 3))
    if kind == "torch":
        kind = pytest.importorskip("torch").from_numpy
    xs = [kind(x.copy()) for x in whole]
    total = whole.sum(0)
    run = lockstep(summed, xs)
    for rank in range(n):
        np.testing.assert_allclose(run.outputs[rank], total)
        np.testing.assert_array_equal(xs[rank], whole[rank])
    parts = lockstep(scattered, xs).outputs
    for rank, part in enumerate(parts):
        np.testing.assert_allclose(part, total[2 * rank : 2 * rank + 2])
    for got in lockstep(gathered, list(parts)).outputs:
        np.testing.assert_allclose(got, total)
    assert lockstep(scattered, xs).rounds == n - 1
