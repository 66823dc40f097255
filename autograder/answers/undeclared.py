"""What a teacher is told of wrong numbers that no mistake explains: how they relate to the right one, and how a
`Mistake` that recognises them may begin."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..declaration.given import Given
from ..values.texts import FIELD

if TYPE_CHECKING:
    from ..declaration.exercise import Exercise

NEAR = 1e-3  # relative: a number typed with four digits
MOST_LETTERS = 5  # in whose products a formula is looked for
MOST_FACTORS = 4  # in one formula
SIMPLE = 12  # the largest denominator and numerator of a ratio that is told as one
FACTORS = sorted({Fraction(p, q) for p in (1, 2, 3, 4, 8, 16) for q in (1, 2, 3, 4, 8, 16)})
LOGS = [math.log(factor) for factor in FACTORS]
COUNT = 1 << 20  # beyond it a whole number is not one of things, of which one may be left out


def letters_of(exercise: Exercise) -> str:
    """The numbers that a formula of the exercise may have, as the parameters of a lambda."""
    numbers = exercise.variant()
    return ", ".join([name for name, value in numbers.items() if _is_number(value)] or numbers)


def ratio_to(answer: float, want: float) -> str:
    """ "3/2 of the right answer", where a simple fraction is near enough; "0.43 times …" where none is."""
    if not want or not answer or not math.isfinite(answer / want):
        return ""
    ratio = answer / want
    simple = Fraction(ratio).limit_denominator(SIMPLE)
    if 0 < abs(simple.numerator) <= SIMPLE and math.isclose(simple, ratio, rel_tol=NEAR):
        return f"{simple} of the right answer" if simple.denominator > 1 else f"{simple} times the right answer"
    return f"{ratio:.3g} times the right answer"


def lambda_for(exercise: Exercise, wrong: Sequence[tuple[float, Given]], unit: str = "1") -> str:
    """A lambda in the letters of the exercise that gives each of these answers for its numbers, as far as a product of
    them does; else one that gives the first answer, in whose place the formula is to be written."""
    letters = letters_of(exercise)
    head = f"lambda {letters}:" if letters else "lambda:"
    return f"{head} {product(exercise, wrong, unit) or _number(wrong[0][0])}"


def product(exercise: Exercise, wrong: Sequence[tuple[float, Given]], unit: str) -> str:
    """The simplest product of the given numbers that comes to each of these answers; "" where there is none."""
    candidates = products(exercise, wrong, unit)
    shared = set(candidates[0]).intersection(*candidates[1:])
    return min(shared, key=lambda formula: (candidates[0][formula], formula), default="")


def products(exercise: Exercise, wrong: Sequence[tuple[float, Given]], unit: str) -> list[dict[str, int]]:
    """For each of these answers the products of the given numbers that come to it for its own, as Python, with how many
    factors each has.

    A product has powers -1, 0 and 1 of the numbers, and of one less than a count, and a simple factor. Where the units
    of all of them are known, its unit is that of the answer.
    """
    names = [name for name, value in wrong[0][1].items() if _is_number(value)]
    if not 0 < len(names) <= MOST_LETTERS:
        return [{} for _ in wrong]
    rows = [given for _, given in wrong]
    terms = [(name, [float(row[name]) for row in rows]) for name in names]
    terms += [
        (f"({name} - 1)", [value - 1 for value in values])
        for name, values in terms
        if all(value.is_integer() and 2 <= value < COUNT for value in values)
    ]
    terms = [(name, values) for name, values in terms if all(value > 0 for value in values)]
    units = {match[1]: match[2] or "1" for match in FIELD.finditer(exercise.prompt)}
    candidates: list[dict[str, int]] = [{} for _ in wrong]
    logs = [[math.log(value) for value in values] for _, values in terms]
    wanted = [math.log(answer) if answer > 0 and math.isfinite(answer) else math.nan for answer, _ in wrong]
    for powers in itertools.product((0, 1, -1), repeat=len(terms)):
        factors = {name: power for (name, _), power in zip(terms, powers, strict=True) if power}
        if len(factors) > MOST_FACTORS:
            continue
        used = [(log, power) for log, power in zip(logs, powers, strict=True) if power]
        fits = None
        for at, want in enumerate(wanted):
            factor = _factor(want - sum(power * log[at] for log, power in used))
            if factor is None:
                continue
            if fits is None:
                fits = _fits(factors, units, unit)
            if fits:
                candidates[at][_written(factors, factor)] = len(factors) + (factor != 1)
    return candidates


def _factor(log: float) -> Fraction | None:
    """The simple factor with this logarithm."""
    at = bisect.bisect_left(LOGS, log - NEAR)
    return FACTORS[at] if at < len(LOGS) and LOGS[at] <= log + NEAR else None


def _fits(factors: Mapping[str, int], units: Mapping[str, str], unit: str) -> bool:
    """Whether the units of the factors come to `unit`; True where one of them is not known."""
    from hwlib.units import UnitError, dimension

    total: dict[str, int] = {}
    try:
        for name, power in factors.items():
            if name not in units and not name.startswith("("):
                return True
            for base, exponent in dimension(units.get(name, "1")).items():
                total[base] = total.get(base, 0) + power * exponent
        return {base: power for base, power in total.items() if power} == dimension(unit or "1")
    except UnitError:
        return True


def _written(factors: Mapping[str, int], factor: Fraction) -> str:
    above = [name for name, power in factors.items() if power > 0]
    below = [name for name, power in factors.items() if power < 0]
    above = [str(factor.numerator)] * (factor.numerator != 1 or not above) + above
    below = [str(factor.denominator)] * (factor.denominator != 1) + below
    if not below:
        return "*".join(above)
    return f"{'*'.join(above)}/{below[0] if len(below) == 1 else '(' + '*'.join(below) + ')'}"


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else f"{value:.6g}"


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
