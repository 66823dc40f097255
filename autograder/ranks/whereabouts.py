"""Where a wrong array is right: which elements, which of a rank's results, which ranks; said of one that is wrong for
no known reason, so that the learner need not look everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

MOST_RANGES = 3  # of places along an axis that are listed
MOST_NAMED = 4  # results, or ranks, that are listed


def of_elements(wrong: Any) -> str:
    """Where elements are right, of an array of whether each is wrong: along an axis, or how many; as a sentence with a
    space before it, "" of a single number."""
    size = int(wrong.size)
    count = int(wrong.sum())
    if size < 2 or not count:
        return ""
    if count == size:
        return f" None of its {size:,} elements is right."
    for axis, length in enumerate(wrong.shape):
        others = tuple(other for other in range(wrong.ndim) if other != axis)
        any_wrong = wrong.any(axis=others)
        right = [at for at in range(length) if not any_wrong[at]]
        ranges = _ranges(right)
        if right and len(ranges) <= MOST_RANGES:
            places = _places(ranges)
            along = f" along axis {axis}" if wrong.ndim > 1 else ""
            all_others = "" if bool((any_wrong == wrong.all(axis=others)).all()) else " some of"
            return f" It is right at {places} of the {length:,}{along}, and{all_others} the others are wrong."
    return f" {size - count:,} of its {size:,} elements are right."


def _ranges(places: Sequence[int]) -> list[tuple[int, int]]:
    """Neighbours together: the first and the last of each row of them."""
    ranges: list[tuple[int, int]] = []
    for at in places:
        if ranges and ranges[-1][1] == at - 1:
            ranges[-1] = (ranges[-1][0], at)
        else:
            ranges.append((at, at))
    return ranges


def _places(ranges: Sequence[tuple[int, int]]) -> str:
    return _and([" to ".join(map(str, dict.fromkeys(places))) for places in ranges])


def _and(words: Sequence[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def of_results(right: Mapping[str, bool], name: str) -> str:
    """Which of a rank's other results are right, beside the one of this name; "" where there are none."""
    others = {other: ok for other, ok in right.items() if other != name}
    if not others:
        return ""
    good, bad = ([other for other, ok in others.items() if ok is side] for side in (True, False))
    if not good:
        return f" Nor is any other of its {len(right)} results right."
    if not bad:
        return f" {_all(good)} right."
    short = good if len(good) <= len(bad) else bad
    if len(short) > MOST_NAMED:
        return f" {len(good)} of its other {len(others)} results are right."
    listed = f"{_and(short)} {'is' if len(short) == 1 else 'are'}"
    return f" Of its other results {listed} {'right' if short is good else 'wrong too'}, and no more."


def _all(names: Sequence[str]) -> str:
    if len(names) > MOST_NAMED:
        return f"All of its other {len(names)} results are"
    return f"Its {_and(names)} {'is' if len(names) == 1 else 'are'}"


def of_ranks(right: Sequence[bool], rank: int) -> str:
    """On which other ranks that result is right, as a sentence with a space before it; "" where there is one only."""
    others = [other for other in range(len(right)) if other != rank]
    if not others:
        return ""
    good = [other for other in others if right[other]]
    if not good:
        return " It is wrong on every rank." if len(right) > 2 else " It is wrong on both ranks."
    if len(good) == len(others):
        return f" On {'the other rank' if len(others) == 1 else 'all other ranks'} it is right."
    ranges = _ranges(good)
    if len(ranges) <= MOST_RANGES:
        return f" On rank{'s' if len(good) > 1 else ''} {_places(ranges)} it is right."
    return f" It is right on {len(good)} of {len(right)} ranks."
