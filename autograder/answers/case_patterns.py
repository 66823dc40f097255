"""What the cases that a function gets right have in common, and how far off it is in all of them: said beside one case.

Only what holds of every case is said, and of enough of them that it is hardly chance.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any

ENOUGH = 3  # cases on either side that a condition must tell apart
FEWEST = 4  # cases in which a relation must hold
MOST_NUMBERS = 16  # arguments that conditions and relations are made of
SAME = 1e-9  # relative: two relations are one
SIMPLE = (1, 2, 3, 4, 8)  # how often something may be counted

Numbers = Mapping[str, float]


def numbers_in(letters: Sequence[str], args: Sequence[Any]) -> dict[str, float]:
    """The numbers among the arguments by name, with the lengths of lists and what stands in records."""
    numbers: dict[str, float] = {}
    for letter, value in zip(letters, args, strict=False):
        numbers |= dict(_numbers(letter, value))
    return dict(list(numbers.items())[:MOST_NUMBERS])


def _numbers(name: str, value: Any) -> Iterator[tuple[str, float]]:
    if type(value) in (int, float) and _is_finite(value):
        yield f"`{name}`", value
    elif type(value) in (list, tuple, str):
        yield f"the length of `{name}`", len(value)
    elif type(value) is dict:
        for key, inner in value.items():
            if type(inner) in (int, float) and _is_finite(inner):
                yield f"`{key}`", inner


def _is_finite(value: float) -> bool:
    """Whether it is finite, and no integer beyond the range of floats."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def right_where(rows: Sequence[Numbers], right: Sequence[bool]) -> str:
    """The condition that tells the right cases from the wrong ones: "`k` = 1"; "" where none of those tried does."""
    if min(sum(right), len(right) - sum(right)) < ENOUGH or any(row.keys() != rows[0].keys() for row in rows):
        return ""
    for say, holds in _conditions(rows, right):
        if all(holds(row) is ok for row, ok in zip(rows, right, strict=True)):
            return say
    return ""


def _conditions(rows: Sequence[Numbers], right: Sequence[bool]) -> Iterator[tuple[str, Callable[[Numbers], bool]]]:
    for name in rows[0]:
        good = [row[name] for row, ok in zip(rows, right, strict=True) if ok]
        bad = [row[name] for row, ok in zip(rows, right, strict=True) if not ok]
        if len(set(good)) == 1:
            yield f"{name} is {good[0]:g}", partial(_compared, operator.eq, name, good[0])
        if len(set(bad)) == 1:
            yield f"{name} is not {bad[0]:g}", partial(_compared, operator.ne, name, bad[0])
        if max(good) < min(bad):
            yield f"{name} is at most {max(good):g}", partial(_compared, operator.le, name, max(good))
        if min(good) > max(bad):
            yield f"{name} is at least {min(good):g}", partial(_compared, operator.ge, name, min(good))
    for name, other in combinations(rows[0], 2):
        for say, holds in COMPARED.items():
            yield f"{name} {say} {other}", partial(_together, holds, name, other)


def _compared(how: Callable[[float, float], bool], name: str, value: float, row: Numbers) -> bool:
    return how(row[name], value)


def _together(how: Callable[[float, float], Any], name: str, other: str, row: Numbers) -> Any:
    return how(row[name], row[other])


COMPARED: dict[str, Callable[[float, float], bool]] = {
    "equals": lambda a, b: a == b,
    "is not": lambda a, b: a != b,
    "is less than": lambda a, b: a < b,
    "is more than": lambda a, b: a > b,
    "is at least": lambda a, b: a >= b,
    "is at most": lambda a, b: a <= b,
    "is a multiple of": lambda a, b: b != 0 and a % b == 0,
    "divides": lambda a, b: a != 0 and b % a == 0,
}


def off_by(rows: Sequence[Numbers], pairs: Sequence[tuple[float, float]]) -> str:
    """How the results and the right ones are related in every case; "" where no relation that is tried is."""
    known = [(row, mine, right) for row, (mine, right) in zip(rows, pairs, strict=True)]
    if not all(_is_finite(mine) and _is_finite(right) for mine, right in pairs):
        return ""
    return _relation(rows, known)


def _relation(rows: Sequence[Numbers], known: Sequence[tuple[Numbers, float, float]]) -> str:
    if sum(mine != right for _, mine, right in known) < FEWEST or any(row.keys() != rows[0].keys() for row in rows):
        return ""
    for say, of in _terms(rows):
        factors = {name: of(row) for name, (row, _, _) in enumerate(known)}
        if len({round(value, 12) for value in factors.values()}) == 1 and say != "1":
            continue
        for times in SIMPLE:
            amount = {at: times * value for at, value in factors.items()}
            shown = f"{times} times {say}" if times > 1 else say
            if say != "1":
                if all(_same(mine, right * amount[at]) for at, (_, mine, right) in enumerate(known)):
                    return f"In every case yours is what was expected times {shown}."
                if all(_same(mine * amount[at], right) for at, (_, mine, right) in enumerate(known)):
                    return f"In every case yours is what was expected over {shown}."
            for sign, words in ((1, "more"), (-1, "less")):
                if all(_same(mine, right + sign * amount[at]) for at, (_, mine, right) in enumerate(known)):
                    return f"In every case yours is {shown} {words} than what was expected."
    return ""


def _terms(rows: Sequence[Numbers]) -> Iterator[tuple[str, Callable[[Numbers], float]]]:
    yield "1", lambda _row: 1.0
    for name in rows[0]:
        yield name, operator.itemgetter(name)
    for name, other in combinations(rows[0], 2):
        yield f"{name} x {other}", partial(_together, operator.mul, name, other)
    for name in rows[0]:
        for other in rows[0]:
            if name != other and all(row[other] for row in rows):
                yield f"{name} over {other}", partial(_together, operator.truediv, name, other)


def _same(a: float, b: float) -> bool:
    return _is_finite(a) and _is_finite(b) and math.isclose(a, b, rel_tol=SAME, abs_tol=0.0)
