"""What the solution gives with another number in the place of one of the prompt's: another of the prompt, two that
change places, or the next row of a chip's data sheet, or the same row of another chip's."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Any, NamedTuple

from ..declaration.given import call_with
from .prompt_numbers import Number

if TYPE_CHECKING:
    from hwlib.specs import Accelerator

    from ..declaration.exercise import Exercise

SAME = 1e-9  # relative: a number of the prompt is the data sheet's
FEWEST = 10  # what a chip has fewer of, many another thing has as many of


class DataSheetValue(NamedTuple):
    """A value of a chip's data sheet in SI, its unit, and what it is of which chip."""

    value: float
    unit: str
    name: str

    @property
    def shown(self) -> str:
        from hwlib.units import show

        return show(self.value, self.unit)


def load_sheets() -> None:
    """Read the data sheets, once; it takes 60 ms."""
    list(_chips())


def exchanged(exercise: Exercise, given: Mapping[str, Any], numbers: Iterable[Number]) -> Iterator[tuple[str, float]]:
    """What comes out with another number in the place of one, after "Yours is". What is a power of two from the right
    answer is left out: it has likelier causes."""
    numbers = list(numbers)
    want = _with(exercise, given, {})
    for exchange, value in (*_of_prompt(exercise, given, numbers), *_of_sheet(exercise, given, numbers)):
        if want and value and not math.log2(abs(value / want)).is_integer():
            yield exchange, value


def rows_named(exercise: Exercise, given: Mapping[str, Any], unit: str) -> Iterator[tuple[str, float]]:
    """Of the chips that the prompt names, the values in this unit, with their names; of counts those that are neither
    small nor a power of two, which many other things come to."""
    prompt = exercise.fill(exercise.prompt, given)
    for chip in _chips():
        if re.search(rf"\b{_short(chip)}s?\b", prompt):
            for row in _rows(chip):
                common = unit == "1" and (row.value <= FEWEST or math.log2(row.value).is_integer())
                if row.unit == unit and not common:
                    yield f"{row.shown} ({row.name})", row.value


def _of_prompt(exercise: Exercise, given: Mapping[str, Any], numbers: list[Number]) -> Iterator[tuple[str, float]]:
    for number, other in permutations(numbers, 2):
        if number.letter and _alike(number, other):
            say = f"what comes out with {other.shown} in place of {number.shown}: which of them belongs there?"
            yield say, _with(exercise, given, {number.letter: other.value})
    for number, other in combinations(numbers, 2):
        if number.letter and other.letter and _alike(number, other):
            say = f"what comes out with {number.shown} and {other.shown} exchanged: which is which?"
            yield say, _with(exercise, given, {number.letter: other.value, other.letter: number.value})


def _of_sheet(exercise: Exercise, given: Mapping[str, Any], numbers: list[Number]) -> Iterator[tuple[str, float]]:
    for number in numbers:
        if not number.letter or number.unit == "1":  # many a thing has as many
            continue
        for instead in _beside(number):
            say = f"what comes out with {instead.shown} in place of {number.shown}"
            yield f"{say} ({instead.name}): which is asked for?", _with(exercise, given, {number.letter: instead.value})


def _beside(number: Number) -> Iterator[DataSheetValue]:
    """On the data sheets that have this value: the others in its unit, and the same of other chips."""
    beside: dict[float, DataSheetValue] = {}
    for chip in _chips():
        rows = _rows(chip)
        if any(row.unit == number.unit and math.isclose(row.value, number.value, rel_tol=SAME) for row in rows):
            for row in rows:
                if row.unit == number.unit and not math.isclose(row.value, number.value, rel_tol=SAME):
                    beside.setdefault(row.value, row)
    yield from beside.values()


def _chips() -> Iterable[Accelerator]:
    from hwlib.specs import accelerators

    return accelerators.values()


def _short(chip: Accelerator) -> str:
    """As a text calls it: H100, TPU v5p."""
    first, second, *_ = [*chip.name.split(), ""]
    return f"{first} {second}" if first == "TPU" else first


def _rows(chip: Accelerator) -> list[DataSheetValue]:
    from hwlib.specs.accelerator import QUANTITIES

    known = [(getattr(chip, field), *about) for field, about in QUANTITIES.items()]
    return [
        DataSheetValue(v, unit, f"{_short(chip)}, {re.split('[;:]', meaning)[0]}") for v, unit, meaning in known if v
    ]


def _alike(left: Number, right: Number) -> bool:
    """Whether one can be taken for the other: of one dimension."""
    from hwlib.units import dimension

    return dimension(left.unit) == dimension(right.unit)


def _with(exercise: Exercise, given: Mapping[str, Any], others: Mapping[str, float]) -> float:
    """What the solution gives with other numbers, or nan; what was an integer stays one."""
    typed = {letter: int(value) if isinstance(given[letter], int) else value for letter, value in others.items()}
    with suppress(ArithmeticError, ValueError, TypeError, LookupError):
        return float(call_with(exercise.solution, {**given, **typed}))
    return math.nan
