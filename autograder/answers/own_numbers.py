"""A learner's own numbers in a record: predictions of what the models give, which only conditions take.

Such a number is where a slip happens: milliseconds for seconds, hours for days, a share in per cent.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ..declaration.given import Given, call_with
from ..values import slips
from ..values.slips import Slip
from .fields import Field, unit_of
from .goals import Condition, breakdown

NEAR = 0.02  # of what the models give: a number with two digits
CORRECTIONS: tuple[Callable[[float, float], float], ...] = (  # from its error, or its ratio to the model's
    lambda own, error: own / (1 + error),
    lambda own, error: own / (1 - error),
    lambda own, ratio: own / ratio,
    lambda own, ratio: own * ratio,
    lambda own, error: own * (1 + error),
    lambda own, error: own * (1 - error),
)

Record = Mapping[str, Any]


def own_numbers(fields: Mapping[str, Field], objective: Any) -> list[str]:
    """The fields with a learner's own number: one that is not whole, and that the measure does not take."""
    taken = _parameters(objective)
    return [
        name for name, field in fields.items() if not (name in taken or field.options or field.items or field.whole)
    ]


def holds(condition: Condition, limit: float, names: Given) -> bool:
    """Whether a condition is kept."""
    return not condition.broken(breakdown(call_with(condition.of, names)), limit)


def brought_back(
    record: Record, name: str, conditions: Sequence[Condition], limits: Sequence[float], given: Given
) -> Record | None:
    """The record with about the number that the models give, by the conditions that this one breaks: of those that take
    it, as many are kept as can be."""
    own = record[name]
    rows = [row for row in zip(conditions, limits, strict=True) if name in _parameters(row[0].of)]
    broken = [row for row in rows if not holds(*row, {**given, **record})]
    values = [breakdown(call_with(condition.of, {**given, **record})).total for condition, _ in broken]
    numbers = dict.fromkeys(number for value in values for number in _corrected(own, value))
    records = [{**record, name: number} for number in numbers if number * own > 0]
    keeps = [_count_kept(rows, {**given, **each}) for each in records]
    best = max(keeps, default=0)
    return records[keeps.index(best)] if best > len(rows) - len(broken) else None


def _count_kept(rows: Sequence[tuple[Condition, float]], names: Given) -> int:
    return sum(holds(condition, limit, names) for condition, limit in rows)


def _corrected(own: float, value: float) -> Iterator[float]:
    """What the models give, if a condition's value is the number's error or its ratio to that."""
    for correct in CORRECTIONS:
        with suppress(ZeroDivisionError):
            yield correct(own, value)


def slip_in(record: Record, corrected: Record, name: str, field: Field, about: str) -> Slip | None:
    """The slip in a number of the record, by what the models give for it: the sentence names the field."""
    own, want, unit = record[name], corrected[name], unit_of(field, name)
    if slip := slips.scale(own, want, NEAR, unit):
        return slip._replace(say=f"`{name}` {slip.say}")
    slip = slips.find(own, want, NEAR, unit)
    if slip is None:
        return None
    say = slips.twice(about) if slip.ratio == 2 else slip.say
    return slip._replace(say=f"`{name}`: {say[:1].lower()}{say[1:]}")


def side_of(own: float, models: float, name: str) -> str:
    """On which side of what the models give a learner's number is, and what that may come from."""
    if abs(own) < abs(models):
        return f"`{name}` is less than the models give: is a part left out, or divided among too many?"
    return f"`{name}` is more than the models give: is a part counted too often, or not shared out?"


def _parameters(function: Any) -> set[str]:
    return set(inspect.signature(function).parameters)
