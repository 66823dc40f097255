"""Sets of times as sorted, disjoint intervals (start, end): how traces add up what overlaps."""

from collections.abc import Iterable, Iterator

__all__ = ["Intervals", "length", "minus", "overlap", "union"]

Intervals = tuple[tuple[float, float], ...]


def union(intervals: Iterable[tuple[float, float]]) -> Intervals:
    """The same times as sorted intervals that do not touch: what is busy twice at once is busy once.

    >>> union([(4, 6), (0, 2), (1, 3)])
    ((0, 3), (4, 6))
    """
    merged: list[tuple[float, float]] = []
    for start, end in sorted(intervals):
        if end <= start:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return tuple(merged)


def overlap(some: Iterable[tuple[float, float]], others: Iterable[tuple[float, float]]) -> Intervals:
    """The times in both.

    >>> overlap([(0, 3), (4, 6)], [(2, 5)])
    ((2, 3), (4, 5))
    """
    return tuple(_both(union(some), union(others)))


def _both(some: Intervals, others: Intervals) -> Iterator[tuple[float, float]]:
    i = j = 0
    while i < len(some) and j < len(others):
        start, end = max(some[i][0], others[j][0]), min(some[i][1], others[j][1])
        if start < end:
            yield start, end
        if some[i][1] <= others[j][1]:
            i += 1
        else:
            j += 1


def minus(some: Iterable[tuple[float, float]], others: Iterable[tuple[float, float]]) -> Intervals:
    """The times in the first and not in the second.

    >>> minus([(0, 3), (4, 6)], [(2, 5)])
    ((0, 2), (5, 6))
    """
    some, others = union(some), union(others)
    edges = [float("-inf"), *(edge for pair in others for edge in pair), float("inf")]
    return overlap(some, zip(edges[::2], edges[1::2], strict=True))


def length(intervals: Iterable[tuple[float, float]]) -> float:
    """Their time together, each moment counted once.

    >>> length([(0, 2), (1, 3)])
    3
    """
    return sum(end - start for start, end in union(intervals))
