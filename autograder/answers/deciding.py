"""Whether each condition of a design decides: some record breaks it alone, and is as good as the solution.

A condition for which no variant has such a record may be overlooked, and the best record is found all the same. The
self-test looks among the records that the declaration names, then near the solution: one or two fields are changed at a
time, and a learner's own prediction, which the measure does not take, is brought back to what the models give.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations, islice, product
from typing import Any

from ..declaration.given import Given, call_with
from .fields import Field
from .goals import Condition, breakdown, reaches
from .own_numbers import Record, brought_back, holds, own_numbers

MOST_TRIED = 1200  # records of one exercise
FEW_VALUES = 16  # whole numbers from which on not all that a field may have are tried
FACTORS = (0.5, 2.0, 0.75, 1.25, 0.25, 4.0, 0.9, 1.1)  # by which a number is changed
ASIDE = (1, -1, 2, -2)  # by which a whole number is changed as well
REJECTED = (ValueError, ArithmeticError, RecursionError)  # how models say that there is no such thing


@dataclass(frozen=True)
class DesignSearch:
    """Where records are looked for: a design's parts, the numbers of one variant with the limits that they give, and
    its solution."""

    fields: Mapping[str, Field]
    objective: Callable[..., Any]
    conditions: Sequence[Condition]
    limits: Sequence[float]
    most: bool
    given: Given
    solution: Record

    def deciding(self, declared: Sequence[Record], *, tried: int = MOST_TRIED) -> Iterator[int]:
        """The conditions that decide, by their places, as records show it: those declared, then those nearby."""
        least = self._least()
        for record in (*declared, *islice(self._nearby(), tried)):
            for changed in self._with_corrections(record):
                broken = self._broken(changed, least)
                if broken is not None and len(broken) == 1:
                    yield broken[0]

    def _least(self) -> float:
        """The solution's measure; nothing is as good as a solution that its own models reject."""
        with suppress(*REJECTED):
            return self._measure(self.solution)
        return math.nan

    def _measure(self, record: Record) -> float:
        return breakdown(call_with(self.objective, {**self.given, **record})).total

    def _broken(self, record: Record, least: float) -> list[int] | None:
        """The conditions that a record breaks; None where it is not as good, or the models reject it."""
        with suppress(*REJECTED):
            if reaches(self._measure(record), least, most=self.most):
                names = {**self.given, **record}
                return [at for at, row in enumerate(self.conditions) if not holds(row, self.limits[at], names)]
        return None

    def _with_corrections(self, record: Record) -> Iterator[Record]:
        """The record, and with one prediction after the other as its conditions want it."""
        yield record
        for name in own_numbers(self.fields, self.objective):
            with suppress(*REJECTED):
                if changed := brought_back(record, name, self.conditions, self.limits, self.given):
                    record = changed
                    yield record

    def _nearby(self) -> Iterator[Record]:
        """Records near the solution: one field changed, first the predictions, then two of the others."""
        own = own_numbers(self.fields, self.objective)
        others = [name for name in self.fields if name not in own]
        for name in (*own, *others):
            yield from ({**self.solution, name: value} for value in self._values(name))
        for one, other in combinations(others, 2):
            pairs = product(self._values(one), self._values(other))
            yield from ({**self.solution, one: first, other: second} for first, second in pairs)

    def _values(self, name: str) -> list[Any]:
        """Other values that a field may have; a list is left as it is."""
        field, value = self.fields[name], self.solution[name]
        if field.items:
            return []
        if field.options:
            return [option for option in field.options if option != value]
        if field.whole and field.most - field.least < FEW_VALUES:
            values: list[float] = [*range(int(field.least), int(field.most) + 1)]
        else:
            values = [field.least, field.most, *(value * factor for factor in FACTORS)]
            values += [value + step for step in ASIDE if field.whole]
        values = [round(x) for x in values] if field.whole else values
        return [x for x in dict.fromkeys(values) if field.least <= x <= field.most and x != value]
