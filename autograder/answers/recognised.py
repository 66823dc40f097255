"""What a wrong number is the number of, where no mistake and no slip says it.

It is compared with what the solution gives if an operation is replaced, a number of the prompt misread or left out
(`wrong_ways`), with the prompt's own numbers, their products and quotients, and with multiples of the answer. A
sentence says what the number is, which holds even if the learner came to it another way, and asks; it never says what
to correct.

Reasons: wrong-way, number-left-out, number-of-prompt, factor-of-prompt, multiple, too-large, too-small.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from fractions import Fraction
from functools import partial
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Any, NamedTuple

from ..declaration.given import call_with
from ..values.finding import Finding
from ..values.step_limit import TooManySteps, limited
from ..values.texts import FIELD
from .wrong_ways import TIMES, ways_from

if TYPE_CHECKING:
    from ..declaration.exercise import Exercise

STEPS = 200_000  # lines that looking may run: ten times what the dearest exercise of the book takes
NEAR = 1e-3  # relative: what a number typed with four digits is off by
ROUNDED = 0.03  # relative: what a rounding to whole numbers changes, at most
MANY = 8  # numbers of a prompt whose products and quotients are tried
TOLD_APART = 10  # below it, too many quotients of the prompt's numbers come to the same by chance
FEW = 3  # of a smaller number of things one cannot tell what was counted
ENDLESS = 1e30  # times as much: a bandwidth that takes no time
NUMBER = re.compile(r"(?<![\w.,])(\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)(?:\s?([A-Za-z]+(?:/[A-Za-z]+)*))?")
SIMPLE = sorted({Fraction(p, q) for p in range(1, 9) for q in range(1, 9)} - {Fraction(1)}, key=lambda x: x.denominator)
MULTIPLES = [Fraction(power) ** sign for power in (16, 32, 64, 128, 256) for sign in (1, -1)]


class Number(NamedTuple):
    """A number of the prompt: as it stands there, and in SI."""

    shown: str
    value: float


def recognise(exercise: Exercise, answer: float, want: float, given: Mapping[str, Any], near: float = NEAR) -> Finding:
    """What is known of a wrong answer: the first that holds of the ways, the prompt's numbers and the multiples; else
    how far it is off, and to which side, as where the solution takes too many steps to be computed again and again."""
    known = partial(_recognised, exercise, answer, want, given, near)
    with suppress(TooManySteps):
        return limited(known, STEPS) or _far(answer, want)
    return _far(answer, want)


def _recognised(
    exercise: Exercise, answer: float, want: float, given: Mapping[str, Any], near: float
) -> Finding | None:
    for say, value, reason in _known(exercise, want, given):
        if reason == "number-of-prompt" and not near and abs(answer) < TOLD_APART:
            continue
        if value and math.isfinite(value) and not _within(value, want, near) and _within(answer, value, near):
            return Finding(f"Yours is {say}", reason)
    return None


def _within(a: float, b: float, near: float) -> bool:
    return a == b if not near else math.isclose(a, b, rel_tol=near)


def _known(exercise: Exercise, want: float, given: Mapping[str, Any]) -> Iterator[tuple[str, float, str]]:
    for told, value in ways_from(exercise, given):
        near = [words for ratio, (words, _) in TIMES.items() if math.isclose(value, want * ratio, rel_tol=ROUNDED)]
        if near:  # whichever number was misread for it
            yield f"about {near[0]} what is asked for: is a part left out, or counted too often?", value, "multiple"
        else:
            yield _asking(f"what comes out {told}"), value, "wrong-way"
    for shown, value in _without(exercise, given):
        yield f"what comes out if {shown} plays no part: where does it enter?", value, "number-left-out"
    numbers = numbers_of(exercise, given)
    for one in numbers:
        yield f"{one.shown}, a number of the prompt: what follows from it?", one.value, "number-of-prompt"
    for shown, factor in _counts(numbers):
        say = f"times the answer, and {shown} stands in the prompt: is it one of them, or all, that is asked for?"
        yield f"{shown} {say}", want * factor, "factor-of-prompt"
        yield f"1/{shown} {say.replace('times', 'of', 1)}", want / factor, "factor-of-prompt"
    say = "and what of the rest of the prompt?"
    for one, other in permutations(numbers, 2):
        yield f"{one.shown} over {other.shown}: {say}", one.value / other.value, "number-of-prompt"
    for one, other in combinations(numbers, 2):
        yield f"{one.shown} times {other.shown}: {say}", one.value * other.value, "number-of-prompt"
    less_one = [Fraction(int(n) - 1, int(n)) for _, n in _counts(numbers)]
    for ratio in (*SIMPLE, *MULTIPLES, *less_one, *(1 / one for one in less_one)):
        shown = f"{ratio} {'times' if ratio.denominator == 1 else 'of'} the answer"
        yield f"{shown}: is a part of it left out, or counted too often?", want * float(ratio), "multiple"


def _asking(text: str) -> str:
    return text if text.endswith("?") else f"{text}."


def _without(exercise: Exercise, given: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """What the solution gives if a number of the prompt is nothing, or so much that it takes no time."""
    for letter, unit in {match[1]: match[2] for match in FIELD.finditer(exercise.prompt)}.items():
        value = given.get(letter)
        if type(value) is not float:
            continue
        for other in (0.0, value * ENDLESS):
            with suppress(ArithmeticError, ValueError, TypeError, LookupError):
                found = call_with(exercise.solution, {**given, letter: other})
                yield exercise.fill(f"{{{letter}{':' + unit if unit else ''}}}", given), float(found)


def numbers_of(exercise: Exercise, given: Mapping[str, Any]) -> list[Number]:
    """The numbers of the prompt, the given ones exactly as they are and the typed ones as they are read."""
    found: dict[float, Number] = {}
    for match in FIELD.finditer(exercise.prompt):
        value = given.get(match[1])
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value:
            found.setdefault(float(value), Number(exercise.fill(match[0], given), float(value)))
    for match in NUMBER.finditer(FIELD.sub(" ", exercise.prompt)):
        one = _typed(match[1], match[2] or "")
        if one.value:
            found.setdefault(one.value, one)
    return list(found.values())[:MANY]


def _typed(digits: str, unit: str) -> Number:
    from hwlib.units import UnitError, parse

    plain = digits.replace(",", "")
    with suppress(UnitError):
        return Number(f"{digits} {unit}".strip(), parse(f"{plain} {unit}".strip()).value)
    return Number(digits, float(plain))


def _counts(numbers: list[Number]) -> Iterator[tuple[str, float]]:
    """The whole numbers of things among them."""
    for one in numbers:
        if one.value.is_integer() and FEW <= one.value < 1e6 and re.fullmatch(r"[\d,]+", one.shown):
            yield one.shown, one.value


def _far(answer: float, want: float) -> Finding:
    """To which side it is off, and how far at least."""
    large = abs(answer) > abs(want)
    times = abs(answer / want if large else want / answer) if answer and want else 0.0
    side, reason = ("large", "too-large") if large else ("small", "too-small")
    for least, words in ((10, "more than ten times "), (2, "more than twice ")):
        if times > least:
            return Finding(f"Yours is {words}too {side}.", reason)
    return Finding(f"Yours is too {side}, by less than a factor of 2.", reason) if times else Finding("", "")
