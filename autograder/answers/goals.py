"""What a design is measured by: its conditions, the pars and who has reached what, and the goals that follow.

The goals of one variant are plain data, computed once when the book is built, so that learners and judges have them
without the search or the planner that may be behind them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..declaration.given import Given, call_with
from .fields import shown_number

BEST = "best"  # the name by which a par takes the best known value
GOALS = {"given", "pars", "limits", "best", "holder"}
DIGITS = 8  # of a value that is kept
ROUNDING = 1e-6  # by which a value may miss what was kept of it
MOST_TERMS = 3  # of a breakdown
MANY = 10  # times a limit: from there on no percentage says it


@dataclass(frozen=True)
class Breakdown:
    """A total, and the named terms of which it consists, in the same unit. `where` is a sentence on what decides it,
    such as the link that is busiest: whoever misses a par is told it."""

    total: float
    terms: Mapping[str, float] = field(default_factory=dict)
    where: str = ""


@dataclass(frozen=True)
class Condition:
    """What a record must keep to: `of` is a function of the given and the fields, by name, and its number or
    `Breakdown` in `unit` is at most, or at least, so much: a number, or a function of the given.

    `without`: a record, or a function of the given that returns one, which breaks this condition alone and is as good
    as the solution: the self-test takes it where it finds none by itself.
    """

    name: str
    of: Callable[..., Any]
    at_most: Any = None
    at_least: Any = None
    unit: str = "1"
    without: Any = None

    @property
    def limit(self) -> Any:
        """The number that bounds it."""
        return self.at_least if self.at_most is None else self.at_most

    @property
    def words(self) -> str:
        """On which side of the limit it is."""
        return "at least" if self.at_most is None else "at most"

    def broken(self, got: Breakdown, limit: float) -> str:
        """What is said where the limit is not kept: by how much, and what the total consists of; else ""."""
        if reaches(got.total, limit, most=self.at_most is None):
            return ""
        off = abs(got.total - limit)
        ratio = off / abs(limit) if limit else 0.0
        share = f" ({f'{ratio:.3g} times' if ratio >= MANY else f'{percent(ratio)} of'} the limit)" if limit else ""
        beyond = f", {shown_number(off, self.unit)}{share} too {'little' if self.at_most is None else 'much'}"
        shown, allowed = shown_number(got.total, self.unit), shown_number(limit, self.unit)
        say = f"{self.name} is {shown}; {self.words} {allowed} was expected{beyond if math.isfinite(off) else ''}."
        return f"{say} {terms(got, self.unit)}".rstrip()


@dataclass(frozen=True)
class Known:
    """A value that somebody has reached, in the unit of the objective: a number, or a function of the given; `holder`
    says who, such as "the planner" or a published schedule with its source."""

    value: Any
    holder: str


@dataclass(frozen=True)
class Par:
    """The points of a record that reaches `value`: a number, or a function of the given and of `best`, the best known
    value. `source` says where a number is from."""

    points: float
    value: Any
    source: str = ""


def breakdown(value: Any) -> Breakdown:
    """What a model gave, a number or a Breakdown, as the latter."""
    result = value if isinstance(value, Breakdown) else Breakdown(value)
    return replace(result, total=float(result.total))


def terms(result: Breakdown, unit: str) -> str:
    """Where a total goes: its largest terms, as a sentence, and what decides it; "" where it has neither."""
    if not 0 < result.total < math.inf:
        return result.where
    largest = [one for one in sorted(result.terms.items(), key=lambda one: -one[1]) if one[1] > 0][:MOST_TERMS]
    shares = [f"{name} {shown_number(value, unit)} ({percent(value / result.total)})" for name, value in largest]
    consists = f"It consists of {', '.join(shares)}." if shares else ""
    return " ".join(filter(None, (consists, result.where)))


def percent(share: float) -> str:
    """A share, as one reads it."""
    return f"{100 * share:.3g} %"


def reaches(total: float, par: float, *, most: bool) -> bool:
    """Whether a total is as good as a par, of which the more or the less is the better; nan is not."""
    slack = ROUNDING * abs(par)
    return total >= par - slack if most else total <= par + slack


def goals_of(
    given: Given, pars: Sequence[Par], known: Sequence[Known], conditions: Sequence[Condition], *, most: bool
) -> dict[str, Any]:
    """The goals for these numbers, as JSON: points, value and source of each par; name, side, limit and unit of each
    condition; the best known value, and who holds it."""
    reached = [(_kept(call_with(one.value, given)), one.holder) for one in known]
    best, holder = (max if most else min)(reached, key=lambda one: one[0], default=(None, ""))
    values = [(one.points, _kept(call_with(one.value, {**given, BEST: best})), one.source) for one in pars]
    limits = [(one.name, one.words, _kept(call_with(one.limit, given)), one.unit) for one in conditions]
    return as_json({"given": dict(given), "pars": values, "limits": limits, "best": best, "holder": holder})


def _kept(value: Any) -> float:
    """A number as it is kept: the same on every machine."""
    rounded = float(f"{float(value):.{DIGITS}g}")
    if not math.isfinite(rounded):
        raise ValueError(f"a par, a limit or a best known value is {value!r}; a finite number was expected")
    return rounded


def as_json(data: Any) -> Any:
    """Data as it comes back from a file."""
    return json.loads(json.dumps(data))
