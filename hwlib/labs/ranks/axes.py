"""Ranks as a grid: for each axis, the ranks that differ along it alone, as a process group."""

from math import prod
from typing import Any, NamedTuple


class Axis(NamedTuple):
    """The line of ranks through one rank along an axis: its `ranks` in order, this rank's `place` among them, and
    their process `group`."""

    name: str
    place: int
    ranks: tuple[int, ...]
    group: Any

    @property
    def size(self) -> int:
        """How many ranks there are along it."""
        return len(self.ranks)


def grid_axes(rank: int, **sizes: int) -> tuple[Axis, ...]:
    """The axes of a grid of all ranks, as this rank sees them, in the order of their names; the last varies fastest.

    `pp, dp, tp = grid_axes(rank, pp=2, dp=2, tp=2)` makes rank 4 p + 2 d + t the one of stage p, replica d and tensor
    rank t. Every rank makes the groups of all, as torch.distributed asks, so all call this with the same sizes. Raises
    ValueError where the grid has not as many places as there are ranks.
    """
    import torch.distributed as dist

    names, shape = [*sizes], [*sizes.values()]
    if not names or prod(shape) != dist.get_world_size():
        sizes_text = " x ".join(f"{name} {size}" for name, size in sizes.items())
        raise ValueError(f"grid_axes: a grid of the {dist.get_world_size()} ranks, got {sizes_text or 'no axes'}")
    axes: list[Axis] = []
    for axis, (name, size) in enumerate(sizes.items()):
        step = prod(shape[axis + 1 :])
        for first in (one for one in range(prod(shape)) if one // step % size == 0):
            line = tuple(first + step * place for place in range(size))
            group = dist.new_group(list(line))
            if rank in line:
                axes.append(Axis(name, line.index(rank), line, group))
    return tuple(axes)
