"""Inputs for the algorithms of hwlib.algorithms, and what numpy says that each rank must return."""

from typing import Any

import numpy as np

from hwlib.algorithms import ALGORITHMS

JUNK = -1e300  # where a rank has nothing valid yet: it shows wherever it gets to


def cut(x: np.ndarray, n: int) -> list[np.ndarray]:
    """The blocks of an array of any length: those that numpy splits off at multiples of ceil(len/n)."""
    size = -(-len(x) // n)
    return np.split(x, [min(size * i, len(x)) for i in range(1, n)])


def place(i: int, count: int, n: int) -> slice:
    """Where block i lies."""
    indices = cut(np.arange(count), n)[i]
    return slice(indices[0], indices[-1] + 1) if len(indices) else slice(0, 0)


def inputs_of(name: str, n: int, count: int, **options: Any) -> list[np.ndarray]:
    """Whole numbers, so sums are exact in any order; all that a rank should not need is junk."""
    draw = np.random.default_rng([n, count])
    counts = options.get("counts")
    sizes = [count] * n if counts is None else [sum(row) for row in counts]
    xs = [draw.integers(-1000, 1000, size).astype(float) for size in sizes]
    collective = ALGORITHMS[name].collective
    for rank, x in enumerate(xs):
        full = x.copy()
        if collective in ("all_gather", "gather"):
            x[:] = JUNK
            x[place(rank, count, n)] = full[place(rank, count, n)]
        if collective in ("broadcast", "scatter") and rank != options.get("root", 0):
            x[:] = JUNK
        if collective == "send" and rank:
            x[:] = JUNK
    return xs


def expected(name: str, xs: list[np.ndarray], root: int = 0, counts: Any = None) -> list[np.ndarray | None]:
    """What each rank must return."""
    n, count = len(xs), len(xs[0])
    total = np.sum(xs, axis=0) if counts is None else None
    gathered = np.concatenate([xs[r][place(r, count, n)] for r in range(n)])
    ends = [np.cumsum(row)[:-1] for row in counts or []]
    match ALGORITHMS[name].collective:
        case "all_gather":
            return [gathered] * n
        case "gather":
            return [gathered if r == root else None for r in range(n)]
        case "all_reduce":
            return [total] * n
        case "reduce":
            return [total if r == root else None for r in range(n)]
        case "reduce_scatter":
            return cut(total, n)
        case "scatter":
            return cut(xs[root], n)
        case "broadcast":
            return [xs[root]] * n
        case "send":
            return [*xs[:-1], xs[0]]
        case "all_to_all":
            sent = [np.split(x, ends[i]) if counts else cut(x, n) for i, x in enumerate(xs)]
            return [np.concatenate([sent[i][j] for i in range(n)]) for j in range(n)]
    raise KeyError(name)
