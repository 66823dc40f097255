"""Places in a grid of ranks, the last axis innermost: along which axes two lie apart, and whether side by side."""

from collections.abc import Sequence


def axes_between(one: int, other: int, shape: Sequence[int]) -> list[int]:
    """The axes of a grid of ranks along which two of them differ."""
    return [axis for axis, by in enumerate(_apart(one, other, shape)) if by]


def _apart(rank: int, other: int, shape: Sequence[int]) -> list[int]:
    """How far it is from one rank of a grid to another along each axis, in the rising direction round its ring."""
    distances = []
    for side in reversed(shape):
        (rank, mine), (other, its) = divmod(rank, side), divmod(other, side)
        distances.append((its - mine) % side)
    return distances[::-1]


def side_by_side(one: int, other: int, shape: Sequence[int]) -> bool:
    """Whether two ranks of a torus are one place apart, on one axis."""
    ways = [(by, side) for by, side in zip(_apart(one, other, shape), shape, strict=True) if by]
    return len(ways) == 1 and ways[0][0] in (1, ways[0][1] - 1)
