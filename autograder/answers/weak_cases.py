"""Cases of a function that do not tell a wrong way from the right one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from ..declaration.answer import Weakness
from .wrong_ways import Operations, replacements, through

FEW_DIGITS = 0.01  # of results below it, six decimals are few


def weak_cases(
    function: Callable[..., Any], cases: Sequence[tuple], same: Callable[[list[Any]], bool]
) -> list[Weakness]:
    """The ways with another operation in a function that these cases do not tell from the right one: `same` says
    whether what it gives in each is what is expected."""
    operations = Operations()
    with through(function, operations):
        for case in cases:
            function(*case)
    weaknesses = []
    kinds = {call.kind: max(len(c.items) for c in operations.calls if c.kind == call.kind) for call in operations.calls}
    for kind, most in kinds.items():
        for way, by in replacements(kind, f"the {kind}", range(min(most, 2))):
            with suppress(Exception), through(function, Operations(kind, None, by)):
                if same([function(*case) for case in cases]):
                    weaknesses.append(
                        Weakness(way.name, f"{way.name} gives the right result in every case: add another")
                    )
    return weaknesses


def untried(letters: Sequence[str], cases: Sequence[tuple], function: Callable[..., Any]) -> list[Weakness]:
    """The whole numbers that cases lack of an argument that is one in all, and not the same: an odd prime, which tells
    n/2 from n//2 and a divisor from a size, and 1, where the function takes it."""
    weaknesses = []
    for place, letter in enumerate(letters):
        values = {case[place] for case in cases if place < len(case) and type(case[place]) is int}
        if len(values) < 2 or not all(place < len(case) and type(case[place]) is int for case in cases):
            continue
        if not any(_is_odd_prime(value) for value in values):
            weaknesses.append(Weakness(f"no odd prime for {letter}", f"no case has an odd prime for {letter}: add one"))
        if 1 not in values and any(_takes(function, case[:place], 1, case[place + 1 :]) for case in cases):
            weaknesses.append(
                Weakness(f"no 1 for {letter}", f"no case has 1 for {letter}, which the solution takes: add one")
            )
    return weaknesses


def round_results(results: Any) -> list[Weakness]:
    """Whether every small number among the results, nested or not, is a whole number of microseconds: then one that is
    rounded to six digits passes."""
    small = [x for x in _floats(results) if 0 < abs(x) < FEW_DIGITS]
    if not small or not all(math.isclose(x, round(x, 6), rel_tol=1e-9) for x in small):
        return []
    say = "every small result is a whole number of millionths, so one that is rounded passes: choose others"
    return [Weakness("results rounded to six digits", say)]


def _floats(value: Any) -> Iterator[float]:
    if isinstance(value, float):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _floats(item)


def _is_odd_prime(n: int) -> bool:
    return n > 2 and all(n % divisor for divisor in range(2, math.isqrt(n) + 1))


def _takes(function: Callable[..., Any], before: tuple, value: Any, after: tuple) -> bool:
    with suppress(Exception):
        function(*before, value, *after)
        return True
    return False
