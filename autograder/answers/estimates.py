"""Estimates: several numbers of one kind, one for each row of a table, judged together by their median error.

The error of a number is |it - right|/right; half of the numbers are as near as the median says. As a prediction it is
shown row by row beside what came out, and beside what others had predicted, such as a model.

Reasons: those of a Quantity for each number; not-a-list, another-count, missing-row, unknown-row, not-above-zero;
median-error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from statistics import median
from typing import TYPE_CHECKING, Any, ClassVar

from ..declaration.answer import Answer, Box, Call, is_empty, not_read
from ..declaration.given import Given, call_with
from ..declaration.verdict import DeclarationError, Verdict
from ..values.numbers import Unreadable, as_float, described
from ..values.texts import quoted
from .quantity import Quantity
from .undeclared import letters_of

if TYPE_CHECKING:
    from ..declaration.exercise import Exercise

FEWEST, MOST = 2, 40  # rows
ALIKE = 0.02  # by which each number may differ from a mistake's
LEAST, LARGE = 0.01, 1e4  # between them a number is shown in the unit itself
WORST = 2  # rows that a verdict names
SPLIT = re.compile(r"(?:(?<!\s)\s+)?(?:;\s*|,\s+|\n\s*)")  # of one text with several numbers; "1,024" is one of them


@dataclass(frozen=True)
class Estimates(Answer):
    """A number in SI, or a string with a unit, for each of the `rows`: names with descriptions. They are right
    together if half of them are within `rtol`.

    `truth` is what the solution is called ("measured"), and `beside` has the numbers of others by who they are, or
    functions of the given: they are shown with what comes out.
    """

    rows: Mapping[str, str]
    unit: str = "1"
    rtol: float = 0.1
    truth: str = "right"
    beside: Mapping[str, Any] = field(default_factory=dict)
    predictable: ClassVar[bool] = True
    shows_stub: ClassVar[bool] = True

    # Asked

    @property
    def how(self) -> str:
        """A list, and in which unit."""
        unit = "" if self.unit in ("", "1") else f" in SI ({self.unit}), or strings with their unit"
        return f"`answer` is a list of {len(self.rows)} numbers{unit}, in the order of the table"

    def asked_with(self) -> str:
        """The rows."""
        lines = [f"| {name} | {words} |" for name, words in self.rows.items()]
        return "\n".join(["| name | what it is |", "|:--|:--|", *lines])

    def stub(self, exercise: Exercise) -> str:
        """The list with no number in it yet."""
        return "\n".join(["answer = [", *(f"    ...,  # {name}" for name in self.rows), "]"])

    # Declared and published

    def declare(self, exercise: Exercise) -> None:
        """There are rows with names and a tolerance, and as many numbers for all who have some."""
        name = exercise.id
        if not FEWEST <= len(self.rows) <= MOST:
            raise DeclarationError(f"{name}: {len(self.rows)} rows; {FEWEST} to {MOST} were expected")
        for words in (*self.rows, *self.rows.values()):
            if not isinstance(words, str) or not words.isprintable() or "|" in words:
                raise DeclarationError(f"{name}: the row {words!r}; one line of words without | was expected")
        if not 0 < self.rtol < 1:
            raise DeclarationError(f"{name}: rtol is {self.rtol}; a tolerance between 0 and 1 was expected")
        for value in (exercise.solution, *self.beside.values(), *(mistake.value for mistake in exercise.mistakes)):
            numbers = self._numbers(value, exercise.variant())
            if len(numbers) != len(self.rows) or not all(number > 0 for number in numbers):
                raise DeclarationError(f"{name}: {numbers!r}; a number above 0 for each of the rows was expected")

    def public(self) -> dict[str, Any]:
        """The rows, the unit and the tolerance; not what others have predicted."""
        return {"rows": dict(self.rows), "unit": self.unit, "rtol": self.rtol, "truth": self.truth}

    # Read and judged

    def blank(self, value: Any) -> bool:
        """Nothing, or a list in which every number is still missing."""
        inner = value.values() if type(value) is dict else value if type(value) in (list, tuple) else ()
        return is_empty(value) or (len(inner) > 0 and all(map(is_empty, inner)))

    def read(self, value: Any) -> list[Fraction]:
        """The numbers in SI, in the order of the rows; Unreadable names the first row at fault."""
        numbers, kind = [], Quantity(self.unit)
        for name, item in zip(self.rows, self._items(value), strict=True):
            if is_empty(item):
                raise Unreadable(f"{quoted(name)}: a number is missing", reason="missing-row")
            try:
                numbers.append(kind.read(item))
            except Unreadable as error:
                say = str(error).removesuffix(".").replace("The answer", "the answer", 1)
                raise Unreadable(f"{quoted(name)}: {say}.", error.kind, error.reason) from None
            if numbers[-1] <= 0:
                say = f"{quoted(name)}: {kind.readable(item)}; a number above zero was expected"
                raise Unreadable(say, reason="not-above-zero")
        return numbers

    def _items(self, value: Any) -> Sequence[Any]:
        kind, count = type(value), len(self.rows)
        if kind is dict:
            if missing := [name for name in self.rows if name not in value]:
                raise Unreadable(f"{quoted(missing[0])} is missing", reason="missing-row")
            if unknown := [name for name in value if name not in self.rows]:
                named = quoted(unknown[0]) if type(unknown[0]) is str else described(unknown[0])
                raise Unreadable(f"{named} is not a row", reason="unknown-row")
            return [value[name] for name in self.rows]
        if kind is str:
            text = value.strip().strip("[]()")
            value = next((parts for parts in (SPLIT.split(text), text.split(",")) if len(parts) == count), [text])
        elif kind.__name__ == "ndarray" and kind.__module__ == "numpy" and value.ndim == 1:
            value = value[: count + 1].tolist()
        elif kind not in (list, tuple):
            raise Unreadable(f"{described(value)}; a list of {count} numbers was expected", reason="not-a-list")
        if len(value) != count:
            say = f"{len(value):,} number{'' if len(value) == 1 else 's'}; {count} were expected"
            raise Unreadable(say, reason="another-count")
        return value

    def readable(self, value: Any) -> str:
        """The numbers with their unit."""
        return "; ".join(self._shown(number) for number in self.read(value))

    def _shown(self, number: Any) -> str:
        from hwlib.units import show

        value = as_float(Fraction(number))
        plain = self.unit not in ("", "1") and LEAST <= value < LARGE  # no minutes beside seconds in one column
        return f"{value:.4g} {self.unit}" if plain else show(value, self.unit, 4)

    def _numbers(self, value: Any, given: Given) -> list[float]:
        return [float(number) for number in call_with(value, given)]

    def expected(self, exercise: Exercise, given: Given) -> list[float]:
        """The right numbers in SI."""
        return self._numbers(exercise.solution, given)

    def judge(self, exercise: Exercise, value: Any, given: Given, call: Call | None = None) -> Verdict:
        """Right if half of them are near enough; else a mistake's sentence, or how far they are, and which most."""
        try:
            answer = [as_float(number) for number in self.read(value)]
        except Unreadable as error:
            return not_read(error)
        off = _errors(answer, self.expected(exercise, given))
        if (middle := median(map(abs, off))) <= self.rtol:
            return exercise.right()
        sentences = [
            exercise.fill(mistake.say, given)
            for mistake in exercise.mistakes
            if max(map(abs, _errors(answer, self._numbers(mistake.value, given)))) <= ALIKE
        ]
        if sentences:
            return Verdict(0.0, " ".join(dict.fromkeys(sentences)), "mistake")
        return Verdict(
            0.0, f"Half of them are off by {_percent(middle)} or more. {self._worst(off)}", "wrong", "median-error"
        )

    def _worst(self, off: Sequence[float]) -> str:
        """On which side the numbers are, and the rows that are furthest off."""
        low = sum(error < 0 for error in off)
        side = f"{max(low, len(off) - low)} of {len(off)} are too {'low' if 2 * low >= len(off) else 'high'}"
        order = sorted(range(len(off)), key=lambda i: -_ratio(off[i]))[:WORST]
        names = [*self.rows]
        worst = " and ".join(f"{quoted(names[i])} (too {'low' if off[i] < 0 else 'high'})" for i in order)
        return f"{side}; furthest off {'are' if len(order) > 1 else 'is'} {worst}."

    def compared(self, exercise: Exercise, value: Any, given: Given) -> str:
        """A row each: the learner's number and others' with their errors, and the right one; below the medians."""
        want = self.expected(exercise, given)
        mine = {} if value is None else {"yours": [as_float(number) for number in self.read(value)]}
        columns = mine | {name: self._numbers(numbers, given) for name, numbers in self.beside.items()}
        off = {name: _errors(numbers, want) for name, numbers in columns.items()}
        head = ["name", *(word for name in columns for word in (name, "off")), self.truth]
        lines = [[name] for name in self.rows]
        for name, numbers in columns.items():
            for line, number, error in zip(lines, numbers, off[name], strict=True):
                line += [self._shown(number), _signed(error)]
        for line, number in zip(lines, want, strict=True):
            line.append(self._shown(number))
        last = ["median error"]
        for name in columns:
            last += ["", _percent(median(map(abs, off[name])))]
        rule = "|:--|" + "--:|" * (len(head) - 1)
        table = "\n".join([_line(head), rule, *map(_line, [*lines, [*last, ""]])])
        return f"{table}\n\n{_common(mine['yours'], want)}" if mine else table

    # Shown, offered in the page, and tested

    def shown(self, exercise: Exercise, value: Any, given: Given) -> str:
        """The numbers with their unit."""
        return "; ".join(map(self._shown, self._numbers(value, given)))

    def tolerance(self, exercise: Exercise, given: Given) -> str:
        """For the half of them."""
        return f"half of the numbers within {_percent(self.rtol)}"

    def declared_as(self, exercise: Exercise, wrong: Sequence[tuple[Any, Given]]) -> str:
        """A lambda that gives the numbers."""
        numbers = ", ".join(f"{as_float(one):.4g}" for one in self.read(wrong[0][0]))
        return f"lambda {letters_of(exercise)}: [{numbers}]".replace("lambda :", "lambda:")

    def box(self, exercise: Exercise) -> Box:
        """A field for the numbers, one a line."""
        ending = "" if self.unit in ("", "1") else f", in {self.unit} or with units"
        ask = f"Your {len(self.rows)} numbers{ending}, one a line or with semicolons between them"
        return Box("lines", ask, lines=len(self.rows), above=self.asked_with(), echo=True)

    def as_learner(self, exercise: Exercise, function: Any, given: Given) -> Any:
        """The numbers."""
        return self._numbers(function, given)

    def collisions(self, exercise: Exercise, given: Given) -> list[str]:
        """Mistakes that are right, or alike."""
        made = [(self._numbers(mistake.value, given), mistake.say) for mistake in exercise.mistakes]
        want = self.expected(exercise, given)
        problems = [
            f"the mistake {say!r} is within tolerance of the solution"
            for numbers, say in made
            if median(map(abs, _errors(numbers, want))) <= self.rtol
        ]
        pairs = [(one, other) for i, one in enumerate(made) for other in made[:i]]
        return problems + [
            f"the mistakes {one[1]!r} and {other[1]!r} look alike"
            for one, other in pairs
            if max(map(abs, _errors(one[0], other[0]))) <= 2 * ALIKE
        ]


def _errors(numbers: Sequence[float], want: Sequence[float]) -> list[float]:
    """By which share each number is too high."""
    return [number / right - 1 for number, right in zip(numbers, want, strict=True)]


def _ratio(error: float) -> float:
    """How many times too high or too low: 2 for +100 % and for -50 %."""
    return max(1 + error, 1 / (1 + error)) if error > -1 else float("inf")


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 1 else f"{100 * share:,.0f} %"


def _signed(share: float) -> str:
    return ("+" if share >= 0 else "−") + _percent(abs(share))


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _common(numbers: Sequence[float], want: Sequence[float]) -> str:
    """The factor that all have in common, and what is left without it."""
    factor = median(number / right for number, right in zip(numbers, want, strict=True))
    left = median(abs(number / (factor * right) - 1) for number, right in zip(numbers, want, strict=True))
    times = f"{factor:.3g} times" if factor >= 1 else f"1/{1 / factor:.3g} of"
    return (
        f"In the median yours are {times} what came out; with that factor taken out, half are within {_percent(left)}."
    )
