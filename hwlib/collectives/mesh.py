"""Meshes and tori: every axis is a ring of its own links, and several axes can work at once.

W is the bandwidth of one link in one direction; an axis with wraparound gives a chip two of them.
"""

from collections.abc import Sequence
from math import prod

from hwlib.collectives.ring import bidirectional_ring_allgather_time, line_allgather_time
from hwlib.formula import formula


@formula("t", cite="scaling-book")
def torus_allgather_limit(S, W, paths):
    """To first order: `paths` links bring the S bytes in at once, two for each axis with wraparound.

    How many chips an axis has does not matter. A reduce-scatter takes as long, an all-reduce twice.
    """
    return S / (paths * W)


def torus_allgather_time(
    shape: Sequence[int], S: float, alpha: float, W: float, wrap: bool | Sequence[bool] = True
) -> float:
    """Exact time of an all-gather, one axis after another, in both directions of each, with or without wraparound.

    The first axis moves the least and the last one the most of S, so put the longest axis last.
    A plain function, because the number of axes is variable. Raises ValueError as the formulas of rings do, and if
    `wrap` and `shape` differ in length.
    """
    closed = [wrap] * len(shape) if isinstance(wrap, bool) else list(wrap)
    if len(closed) != len(shape):
        raise ValueError(f"torus_allgather_time: wrap has {len(shape)} values, one an axis, got {len(closed)}")
    ranks, gathered, time = prod(shape), 1, 0.0
    for n, ring in zip(shape, closed, strict=True):
        gathered *= n
        one_axis = bidirectional_ring_allgather_time if ring else line_allgather_time
        time += one_axis(n, S * gathered / max(ranks, 1), alpha, W)
    return time
