"""Numbers that come of the solution's own calculation: a value on the way, or the answer with a step done otherwise.

A part of a sum left out, a factor too few or one twice, a quotient turned over, plus for minus, one more or less in a
count: each step of the solution is done so in turn. What a sentence says holds of the number, whatever led to it.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from ..declaration.given import call_with
from ..values import texts
from ..values.step_limit import TooManySteps, limited
from . import traced_numbers
from .traced_numbers import BINARY, Change, Side, TooLong, TracedStep, altered, calculated

if TYPE_CHECKING:
    from ..declaration.exercise import Exercise

LINES = 12_000  # lines that looking may run
UNCOUNTED = (__file__, traced_numbers.__file__, texts.__file__)  # each step costs as much
SAME_RATIO = 1e-9
SAME = 1e-12  # relative: two ways to one number
PART = "the part made of "
FEW = 3  # letters that a part is named by
TIMES = (2, 3, 4, 5, 6, 8, 10, 16)  # how often a number may be taken
MOST_COUNTED = 40  # other counts of one thing that are tried
SIMPLE = 32  # the largest denominator of a simple fraction
SMALL = 16  # a plain number of the solution that may be one more or less
MOST_TRIED = 12  # pairs of changes that are tried together


class ChangedStep(NamedTuple):
    """A step that is done otherwise: what is said behind "what comes out", where, how, and what it comes to."""

    say: str
    place: int
    change: Change
    value: float


@dataclass(frozen=True)
class SolutionChanges:
    """All changes of one step, with what each comes to, and the values on the way, with what is said of each."""

    exercise: Exercise
    given: Mapping[str, Any]
    want: float
    steps: Sequence[ChangedStep]
    on_the_way: Sequence[tuple[str, float]]
    replaced: Sequence[tuple[str, float]]

    @classmethod
    def of(cls, exercise: Exercise, given: Mapping[str, Any]) -> SolutionChanges:
        """Those of an exercise with these numbers, as many as are seen within LINES."""
        changed: list[ChangedStep] = []
        on_the_way: list[tuple[str, float]] = []
        want = math.nan

        names = Names.in_prompt(exercise, given)

        def look() -> None:
            nonlocal want
            calculation = calculated(exercise.solution, given)
            want = float(call_with(exercise.solution, given))
            on_the_way.extend(_values(calculation, names, want))
            for place, step in enumerate(calculation):
                for say, change in _changes(step, names):
                    value = altered(exercise.solution, given, {place: change})
                    if math.isfinite(value) and value and not math.isclose(value, want, rel_tol=SAME):
                        changed.append(ChangedStep(say, place, change, value))

        if callable(exercise.solution):
            with suppress(TooManySteps, TooLong, ArithmeticError, ValueError, TypeError, LookupError):
                limited(look, LINES, UNCOUNTED)
        replaced: list[tuple[str, float]] = []
        if callable(exercise.solution) and math.isfinite(want):
            with suppress(TooManySteps):
                limited(lambda: replaced.extend(_replaced(exercise, given, names.shown, want)), LINES, UNCOUNTED)
        return cls(exercise, given, want, changed, on_the_way, replaced)

    def pair(self, answer: float, near: float) -> str:
        """What is said of an answer that two changes come to together; "" where none do. They are sought by their
        ratios to the right answer, and then done both."""
        if not self.want or not answer or not math.isfinite(self.want):
            return ""
        whole = math.log(abs(self.want))  # a quotient could be beyond every float
        rows = sorted((math.log(abs(each.value)) - whole, at) for at, each in enumerate(self.steps))
        logs = [log for log, _ in rows]
        wanted = math.log(abs(answer)) - whole
        for first, second in islice(self._together(rows, logs, wanted, near), MOST_TRIED):
            changes = {first.place: first.change, second.place: second.change}
            value = math.nan
            with suppress(TooManySteps):
                value = limited(partial(altered, self.exercise.solution, self.given, changes), LINES, UNCOUNTED)
            if math.isclose(value, answer, rel_tol=near):
                return f"{first.say}, and {second.say}"
        return ""

    def _altered(self, changes: Mapping[int, Change]) -> float:
        try:
            return float(limited(lambda: altered(self.exercise.solution, self.given, changes), LINES, UNCOUNTED))
        except TooManySteps:
            return math.nan

    def _together(
        self, rows: Sequence[tuple[float, int]], logs: Sequence[float], wanted: float, near: float
    ) -> Iterator[tuple[ChangedStep, ChangedStep]]:
        for log, at in rows:
            for other in range(bisect_left(logs, wanted - log - near), len(rows)):
                if logs[other] > wanted - log + near:
                    break
                first, second = self.steps[at], self.steps[rows[other][1]]
                if first.place < second.place:
                    yield first, second


@dataclass(frozen=True)
class Names:
    """How what a step takes is named: a number of the prompt as it stands there, a part by those that it is made of."""

    shown: Mapping[str, str]

    @classmethod
    def in_prompt(cls, exercise: Exercise, given: Mapping[str, Any]) -> Names:
        """The letters as the prompt shows them."""
        fields = {match[1]: match[0] for match in reversed([*texts.FIELD.finditer(exercise.prompt)])}
        return cls({name: exercise.fill(text, given) for name, text in fields.items() if name in given})

    def of(self, side: Side) -> str:
        """What a side is called; "" of one that nothing in the prompt names."""
        shown = [self.shown[name] for name in side.letters if name in self.shown]
        if side.is_letter:
            return shown[0] if shown else ""
        if not side.letters:
            return f"{side.value:g}" if abs(side.value) != 1 else "1"
        if not shown or len(shown) < len(side.letters):
            return ""
        return f"{PART}{_in_words(shown)}"


def _in_words(shown: Sequence[str]) -> str:
    """The first of them, and whether there are more."""
    *first, last = shown if len(shown) <= FEW else (*shown[:FEW], "more")
    return f"{', '.join(first)} and {last}" if first else last


def _replaced(
    exercise: Exercise, given: Mapping[str, Any], shown: Mapping[str, str], want: float
) -> Iterator[tuple[str, float]]:
    """What comes out with another number in the place of one of the prompt: of a count each that is not much larger,
    of another one those that are some times as large. Left out is what is a simple fraction of the answer, which any
    number of a product may make of it."""
    for name, text in shown.items():
        for other, written in _others(given[name], text):
            value = altered(exercise.solution, {**given, name: other}, {})
            if value and math.isfinite(value) and not _simple(value / want):
                yield f"with {written}: is that what belongs there?", value


def _others(number: Any, text: str) -> Iterator[tuple[Any, str]]:
    if type(number) is int and number > 1:
        near = range(1, min(2 * number, MOST_COUNTED) + 1)
        times = [number * k for k in TIMES] + [number // k for k in TIMES if number % k == 0]
        yield from ((n, f"{n:,} in place of {text}") for n in dict.fromkeys((*near, *times)) if n != number)
    elif type(number) is float:
        for k in TIMES:
            yield number * k, f"{k} times {text} in its place"
            yield number / k, f"1/{k} of {text} in its place"


def _simple(ratio: float) -> bool:
    near = Fraction(ratio).limit_denominator(SIMPLE)
    return math.isclose(near, ratio, rel_tol=SAME_RATIO)


def _values(steps: Sequence[TracedStep], names: Names, want: float) -> Iterator[tuple[str, float]]:
    """What each step but the last comes to."""
    seen: set[float] = set()
    for step in steps:
        whole = Side(step.result, tuple(dict.fromkeys((*step.left.letters, *step.right.letters))))
        name = names.of(whole).removeprefix(PART)
        value = float(step.result)
        known = value in seen or not math.isfinite(value) or math.isclose(value, want, rel_tol=SAME)
        if name and len(whole.letters) > 1 and not known:
            seen.add(value)
            yield f"a value on the way to the answer, made of {name}: what is still to be done with it?", value


def _changes(step: TracedStep, names: Names) -> Iterator[tuple[str, Change]]:
    """The ways to do a step otherwise of which something can be said."""
    left, right = names.of(step.left), names.of(step.right)
    if left and right:
        yield from OTHERWISE.get(step.kind, _none)(step, left, right)
    for mine, beside, first in ((step.left, right, True), (step.right, left, False)):
        if beside and not mine.letters and step.kind in ("+", "-", "*", "/", "**"):
            yield from _recounted(step, mine.value, beside, first)


def _none(_step: TracedStep, _left: str, _right: str) -> Iterator[tuple[str, Change]]:
    return iter(())


def _left(a: Any, _b: Any) -> Any:
    return a


def _right(_a: Any, b: Any) -> Any:
    return b


def _sum(step: TracedStep, left: str, right: str) -> Iterator[tuple[str, Change]]:
    if step.right.value:
        yield f"if {right} is not added to {left}", _left
    if step.left.value:
        yield f"if {left} is not added to {right}", _right
    yield f"if {right} is taken off {left}, not added", lambda a, b: a - b
    if step.left.letters and step.right.letters:
        yield f"if {left} is taken off {right}, not added", lambda a, b: b - a
        yield f"with the mean of {left} and {right} in place of their sum", lambda a, b: (a + b) / 2
        yield f"if {left} is counted twice in its sum with {right}", lambda a, b: 2 * a + b
        yield f"if {right} is counted twice in its sum with {left}", lambda a, b: a + 2 * b


def _difference(step: TracedStep, left: str, right: str) -> Iterator[tuple[str, Change]]:
    if step.right.value:
        yield f"if {right} is not taken off {left}", _left
        yield f"if {right} is added to {left}, not taken off", lambda a, b: a + b
    if step.left.value:
        yield f"with {right} alone, where it is taken off {left}", _right
        yield f"if {left} is taken off {right}, and not the other way round", lambda a, b: b - a
    if step.left.letters and step.right.letters:
        yield f"if {right} is taken off {left} twice", lambda a, b: a - 2 * b


def _product(step: TracedStep, left: str, right: str) -> Iterator[tuple[str, Change]]:
    yield f"if {left} is not multiplied by {right}", _left
    if step.left.letters and step.right.letters:
        yield f"if {right} is not multiplied by {left}", _right
        yield f"if {right} is divided by {left}, not multiplied", lambda a, b: b / a
        yield f"if {left} is counted twice as a factor", lambda a, b: a * a * b
    yield f"if {left} is divided by {right}, not multiplied", lambda a, b: a / b
    if step.right.letters:
        yield f"if {right} is counted twice as a factor", lambda a, b: a * b * b


def _quotient(step: TracedStep, left: str, right: str) -> Iterator[tuple[str, Change]]:
    yield f"if {left} is not divided by {right}", _left
    yield f"if {left} is multiplied by {right}, not divided", lambda a, b: a * b
    if step.left.letters and step.right.letters:
        yield f"if {right} is divided by {left}, and not the other way round", lambda a, b: b / a
        yield f"if {left} is divided by {right} twice", lambda a, b: a / b / b
        yield f"with {right} alone in place of {left} over it", _right


def _power(step: TracedStep, left: str, right: str) -> Iterator[tuple[str, Change]]:
    yield f"if {left} is not raised to the power of {right}", _left
    yield f"if {left} is multiplied by {right}, not raised to that power", lambda a, b: a * b
    yield f"if the power {right} of {left} has the other sign", lambda a, b: a**-b
    if step.left.letters and step.right.letters:
        yield f"if {right} is raised to the power of {left}", lambda a, b: b**a


OTHERWISE: dict[str, Callable[[TracedStep, str, str], Iterator[tuple[str, Change]]]] = {
    "+": _sum,
    "-": _difference,
    "*": _product,
    "/": _quotient,
    "**": _power,
}


def _recounted(step: TracedStep, plain: Any, beside: str, first: bool) -> Iterator[tuple[str, Change]]:
    """With another plain number in the place of a small whole one, beside what is named."""
    if plain != int(plain) or not 1 <= plain <= SMALL:
        return
    for other in dict.fromkeys((plain + 1, plain - 1, 2 * plain, plain / 2)):
        if other and other != plain:
            yield f"with {other:g} in place of the {plain:g} beside {beside}", _with(step.kind, other, first)


def _with(kind: str, other: Any, first: bool) -> Change:
    how = BINARY[kind]
    return (lambda _a, b: how(other, b)) if first else (lambda a, _b: how(a, other))
