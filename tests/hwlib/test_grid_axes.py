"""Groups along the axes of a grid of ranks, on real ranks."""

import pytest

from hwlib.labs import RankError, grid_axes, run_ranks

torch = pytest.importorskip("torch")
dist = torch.distributed


def test_each_axis_has_the_ranks_that_differ_along_it_alone():
    def sums(rank, n):
        found = {}
        for axis in grid_axes(rank, pp=3, tp=2):
            total = torch.tensor([10.0**rank])
            dist.all_reduce(total, group=axis.group)
            found[axis.name] = axis.place, axis.ranks, axis.size, float(total)
        return found

    for rank, found in enumerate(run_ranks(sums, 6).results):
        stage, half = divmod(rank, 2)
        column, row = (half, half + 2, half + 4), (2 * stage, 2 * stage + 1)
        assert found["pp"] == (stage, column, 3, sum(10.0**r for r in column))
        assert found["tp"] == (half, row, 2, sum(10.0**r for r in row))


def test_a_grid_of_another_size_is_refused():
    with pytest.raises(RankError, match="a grid of the 2 ranks, got pp 3 x tp 2"):
        run_ranks(lambda rank, n: grid_axes(rank, pp=3, tp=2), 2)
