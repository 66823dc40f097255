"""What a wrong number is the number of, where no mistake and no slip says it.

It is compared with what the solution gives if an operation is replaced, a number of the prompt misread or left out
(`wrong_ways`), with the prompt's own numbers, their products and quotients, with what one or two steps of the solution
give if they are done otherwise (`changed_steps`), and with multiples of the answer. A sentence says what the number is,
which holds even if the learner came to it another way, and asks; it never says what to correct.

Reasons: wrong-way, number-left-out, number-of-prompt, number-of-table, number-exchanged, factor-of-prompt,
value-on-the-way, step-changed, two-steps-changed, number-replaced, turned-over, multiple, those of `related`; of
`how_far` too-large, too-small.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from fractions import Fraction
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Any, NamedTuple

from ..declaration.given import call_with
from ..values.finding import Finding
from ..values.step_limit import TooManySteps, limited
from ..values.texts import FIELD
from .changed_steps import SolutionChanges
from .exchanged import exchanged, load_sheets, rows_named
from .prompt_numbers import Number, numbers_of
from .related import related
from .wrong_ways import TIMES, ways_from

if TYPE_CHECKING:
    from ..declaration.exercise import Exercise

STEPS = 200_000  # lines that looking may run: ten times what the dearest exercise of the book takes
NEAR = 1e-3  # relative: what a number typed with four digits is off by
AS_TYPED = 1e-4  # what a program's number is off by whose data were typed with five
PRINTED = 1e-2  # relative: what a prompt rounds a number by, at most
ROUNDED = 0.03  # relative: what a rounding to whole numbers changes, at most
TOLD_APART = 10  # below it, too many quotients of the prompt's numbers come to the same by chance
ASKED = "is that what is asked for?"
# Another way may come to the same number: what it is is told as a remark, and whether it was meant is asked.
BY_CHANCE = frozenset({"wrong-way", "number-left-out", "number-exchanged", "number-of-prompt", "number-of-table"})
BY_CHANCE |= {"power", "power-of-answer", "turned-over", "value-on-the-way", "step-changed", "two-steps-changed"}
BY_CHANCE |= {"number-replaced"}
OF_THE_PROMPT = ("number-of-prompt", "number-exchanged", "value-on-the-way", "step-changed")
FEW = 3  # of a smaller number of things one cannot tell what was counted
MOST_KEPT = 256  # rows of exercises
ENDLESS = 1e30  # times as much: a bandwidth that takes no time
SIMPLE = sorted({Fraction(p, q) for p in range(1, 9) for q in range(1, 9)} - {Fraction(1)}, key=lambda x: x.denominator)
MULTIPLES = [Fraction(power) ** sign for power in (16, 32, 64, 128, 256) for sign in (1, -1)]


class Candidate(NamedTuple):
    """A number that is recognised: what is said of it after "Yours is", and why."""

    say: str
    value: float
    reason: str


class Looked(NamedTuple):
    """What is looked for with some numbers of an exercise."""

    candidates: list[Candidate]
    changes: SolutionChanges

    def of(self, answer: float, want: float, near: float) -> Finding | None:
        """The first that a number is."""
        matching = [each for each in self.candidates if self._is(each, answer, want, near)]
        if not matching:
            return None
        say, _, reason = matching[0]
        if reason == "step-changed":  # of the other ways to it, one more is named
            says = list(dict.fromkeys(each.say for each in matching if each.reason == reason))
            say = ", or ".join([says[0], *(other.removeprefix("what comes out ") for other in says[1:2])]) + "."
        return Finding(f"{'Your number is also' if reason in BY_CHANCE else 'Yours is'} {say}", reason)

    def _is(self, candidate: Candidate, answer: float, want: float, near: float) -> bool:
        if candidate.reason == "number-replaced" and (not near or near > AS_TYPED):
            return False  # among so many, one comes near by chance
        if candidate.reason in OF_THE_PROMPT and not near and abs(answer) < TOLD_APART:
            return False
        return not _within(candidate.value, want, near) and _within(answer, candidate.value, near)


_kept: dict[tuple[int, str, str], tuple[Exercise, Looked]] = {}  # an exercise that is held keeps its id


def recognise(
    exercise: Exercise, answer: float, want: float, given: Mapping[str, Any], *, unit: str = "1", near: float = NEAR
) -> Finding | None:
    """What is known of a wrong answer in this unit: the first that holds of the ways, the prompt's and the data sheets'
    numbers, and the multiples. None too where the solution takes too many steps to be computed again and again."""

    looked = _looked_up(exercise, want, given, unit)
    if finding := looked.of(answer, want, near):
        return finding
    if not near or near > AS_TYPED:
        return None
    printed = _as_printed(exercise, given)
    rows = [looked]
    if printed != given:  # a program into which the prompt's numbers are typed
        wanted = float(call_with(exercise.solution, printed))
        rows.append(_looked_up(exercise, wanted, printed, unit))
        if finding := rows[-1].of(answer, wanted, near):
            return finding
    for row in rows:
        if say := row.changes.pair(answer, near):
            return Finding(f"Your number is also what comes out {say}.", "two-steps-changed")
    return looked.of(answer, want, AS_TYPED)


def _as_printed(exercise: Exercise, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """The numbers as the prompt prints them, rounded to some digits."""
    from hwlib.units import UnitError, parse

    row = dict(given)
    for match in FIELD.finditer(exercise.prompt):
        with suppress(UnitError, LookupError):
            value = parse(exercise.fill(match[0], given).replace(",", "")).value
            if type(given[match[1]]) is float and math.isclose(value, given[match[1]], rel_tol=PRINTED):
                row[match[1]] = value
    return row


def _fits(number: Number, other: Number, unit: str, power: int) -> bool:
    """Whether a number times this power of another is in the unit of the answer: else nobody meant their product."""
    from hwlib.units import UnitError, dimension

    try:
        left, right, wanted = (dimension(each) for each in (number.unit, other.unit, unit))
    except UnitError:
        return True
    together = {name: left.get(name, 0) + power * right.get(name, 0) for name in {*left, *right}}
    return {name: n for name, n in together.items() if n} == {name: n for name, n in wanted.items() if n}


def _looked_up(exercise: Exercise, want: float, given: Mapping[str, Any], unit: str) -> Looked:
    """All numbers that are recognised, in the order in which they are tried; kept, for a class gives the same again."""
    key = id(exercise), repr(sorted(given.items())), unit
    if key not in _kept:
        load_sheets()  # what is loaded takes no steps of the solution's
        changes = SolutionChanges.of(exercise, given)
        recognised: list[Candidate] = []
        numbers = numbers_of(exercise, given)

        def look() -> list[Candidate]:
            return [*_known(exercise, want, given, unit), *_of_steps(changes), *_multiples(numbers, want)]

        with suppress(TooManySteps):
            recognised = limited(look, STEPS)
        usable = [one for one in recognised if one.value and math.isfinite(one.value)]
        if len(_kept) >= MOST_KEPT:
            del _kept[next(iter(_kept))]
        _kept[key] = exercise, Looked(usable, changes)
    return _kept[key][1]


def _within(a: float, b: float, near: float) -> bool:
    return a == b if not near else math.isclose(a, b, rel_tol=near)


def _known(exercise: Exercise, want: float, given: Mapping[str, Any], unit: str) -> Iterator[Candidate]:
    for description, value in ways_from(exercise, given):
        near = [about for ratio, about in TIMES.items() if math.isclose(value, want * ratio, rel_tol=ROUNDED)]
        if near:  # whichever number was misread for it
            words, question = near[0]
            yield Candidate(f"about {words} what is asked for: {question}", value, "multiple")
        else:
            yield Candidate(_asking(f"what comes out {description}"), value, "wrong-way")
    yield from _powers(float(want))
    for shown, value in _without(exercise, given):
        yield Candidate(f"what comes out if {shown} plays no part: where does it enter?", value, "number-left-out")
    numbers = numbers_of(exercise, given)
    for number in numbers:
        yield Candidate(f"{number.shown}, a number of the prompt: {ASKED}", number.value, "number-of-prompt")
    for description, value in rows_named(exercise, given, unit):
        yield Candidate(f"{description}: {ASKED}", value, "number-of-table")
    for description, value in exchanged(exercise, given, numbers):
        yield Candidate(description, value, "number-exchanged")
    for shown, factor in _counts(numbers):
        say = f"times the answer, and {shown} stands in the prompt: is it one of them, or all, that is asked for?"
        yield Candidate(f"{shown} {say}", want * factor, "factor-of-prompt")
        yield Candidate(f"1/{shown} {say.replace('times', 'of', 1)}", want / factor, "factor-of-prompt")
    if unit == "1":
        yield Candidate("one over the answer: what is divided by what?", 1 / want if want else 0.0, "turned-over")
    for description, value, reason in related(want, numbers, unit, list(_counts(numbers))):
        yield Candidate(description, value, reason)
    yield from _pairs(numbers, want, unit)


def _of_steps(changes: SolutionChanges) -> Iterator[Candidate]:
    for description, value in changes.on_the_way:
        yield Candidate(description, value, "value-on-the-way")
    for step in changes.steps:
        yield Candidate(f"what comes out {step.say}", step.value, "step-changed")
    for description, value in changes.replaced:
        yield Candidate(f"what comes out {description}", value, "number-replaced")


def _multiples(numbers: list[Number], want: float) -> Iterator[Candidate]:
    for ratio in (*SIMPLE, *MULTIPLES):
        yield Candidate(_multiple(ratio), want * float(ratio), "multiple")
    yield from _with_a_part_less(numbers, want)


def _pairs(numbers: list[Number], want: float, unit: str) -> Iterator[Candidate]:
    """Quotients and products of two numbers of the prompt that are in the answer's unit."""
    rest = "does the rest of the prompt play no part?" if len(numbers) > 2 else "are the two to be combined like that?"
    for number, other in permutations(numbers, 2):
        if not _fits(number, other, unit, -1):
            continue
        turned = math.isclose(other.value, number.value * want, rel_tol=NEAR)
        say = "which is divided by which?" if turned else rest
        yield Candidate(f"{number.shown} over {other.shown}: {say}", number.value / other.value, "number-of-prompt")
    # What small numbers come to, others do too.
    large = [number for number in numbers if number.value >= TOLD_APART or unit != "1"]
    for number, other in combinations(large, 2):
        if _fits(number, other, unit, 1):
            product = number.value * other.value
            yield Candidate(f"{number.shown} times {other.shown}: {rest}", product, "number-of-prompt")


def _with_a_part_less(numbers: list[Number], want: float) -> Iterator[Candidate]:
    """The answer times n - 1 over n, or its square, and the other way round, for each count of the prompt."""
    for shown, n in _counts(numbers):
        for power in (1, -1, 2, -2):
            ratio = Fraction(int(n) - 1, int(n)) ** power
            question = f"does one of the {shown} not count, or is one left out?"
            yield Candidate(f"too {_side(ratio)} by a small part: {question}", want * float(ratio), "multiple")


def _powers(want: float) -> Iterator[Candidate]:
    """The square of the answer, and its root: a variance for a deviation."""
    if want > 0 and not want.is_integer():  # the square of a count is a count of pairs
        question = "is a root still to be taken, as of a variance, or is something multiplied by itself?"
        yield Candidate(f"the square of what is asked for: {question}", want * want, "power")
        question = "is a root taken too often, or does a square belong to it?"
        yield Candidate(f"the root of what is asked for: {question}", math.sqrt(want), "power")


def _side(ratio: Fraction) -> str:
    return "large" if ratio > 1 else "small"


def _multiple(ratio: Fraction) -> str:
    """What is told of a number that is so many times the answer, without the ratio: that would tell the answer."""
    p, q = ratio.as_integer_ratio()
    if (p & (p - 1), q & (q - 1)) == (0, 0):
        question = "is something doubled or halved too often, or not often enough?"
        return f"too {_side(ratio)} by a power of two: {question}"
    if q == 1:
        return "too large by a small whole factor: is one thing counted several times, or each of several for all?"
    if p == 1:
        return "too small by a small whole factor: is one of several parts taken for all, or shared out among too many?"
    question = "is a part counted too often or left out, or does a number stand where another belongs?"
    return f"too {_side(ratio)} by a simple fraction, which may be chance: {question}"


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
                result = call_with(exercise.solution, {**given, letter: other})
                yield exercise.fill(f"{{{letter}{':' + unit if unit else ''}}}", given), float(result)


def _counts(numbers: list[Number]) -> Iterator[tuple[str, float]]:
    """The whole numbers of things among them."""
    for number in numbers:
        if number.value.is_integer() and FEW <= number.value < 1e6 and re.fullmatch(r"[\d,]+", number.shown):
            yield number.shown, number.value


def how_far(answer: float, want: float) -> Finding:
    """To which side it is off, and how far at least."""
    if answer * want < 0:
        side = ("negative", "positive") if answer < 0 else ("positive", "negative")
        return Finding(f"Yours is {side[0]}, and {side[1]} is what was expected.", "other-sign")
    large = abs(answer) > abs(want)
    times = abs(answer / want if large else want / answer) if answer and want else 0.0
    side, reason = ("large", "too-large") if large else ("small", "too-small")
    for least, words in ((10, "more than ten times "), (2, "more than twice ")):
        if times > least:
            return Finding(f"Yours is {words}too {side}.", reason)
    return Finding(f"Yours is too {side}, by less than a factor of 2.", reason) if times else Finding("", "")
