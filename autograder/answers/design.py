"""Designs: a record of named values, such as a plan, a schedule or a network, that the library's own models judge.

A record that breaks a condition is infeasible, and the verdict says which and by how much; any other scores the points
of the best par that it reaches. The judge evaluates the models for one record, with a limit on their steps. What takes
a search, the pars and the best known value, is computed when the book is built, and kept beside the declaration.

Reasons: those of `answers.fields`; not-a-record, missing-field, unknown-field; infeasible (a model rejects the record),
over-limit (a condition is broken), too-involved; misses-pars; some-points; those of `values.slips`, of a learner's own
number.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from keyword import iskeyword
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ..declaration.answer import Answer, Box, BoxField, Call, is_empty, not_read
from ..declaration.given import Given, call_with
from ..declaration.verdict import DeclarationError, Verdict
from ..values.finding import Finding
from ..values.numbers import Unreadable, described
from ..values.slips import Slip
from ..values.step_limit import TooManySteps, limited
from ..values.texts import quoted
from .deciding import DesignSearch
from .fields import Field, fields_from, shown_number
from .goals import BEST, GOALS, Breakdown, Condition, Known, Par, as_json, breakdown, goals_of, reaches, terms
from .own_numbers import brought_back, own_numbers, side_of, slip_in

if TYPE_CHECKING:
    from ..declaration.exercise import Exercise

ITEMS = re.compile(r"(?:(?<!\s)\s+)?[;,\n]\s*")  # between those of a list that is typed
MOST_VARIANTS = 20  # each has pars of its own
MOST_FIELDS = 40
MOST_FAULTS = 4  # of a record that one verdict names
DRAWN = 20  # records on which the self-test tries the models
MOST_NAMES = 6  # of fields that one fault lists
MOST_TEXT = 400  # characters of what a model says
STEPS = 1_000_000  # lines of Python: about a second


@dataclass(frozen=True)
class Design(Answer):
    """A record of the `fields`, as a dict; `objective` is a function of the given and the fields, by name, and gives a
    number or a `Breakdown` in `unit`, the less the better, or the more with `most`.

    `measure` says in words what it is. A ValueError of a model means that no such thing can be built, and its message
    is shown. `steps` limits the lines of Python that judge one record. With `priced`, a record that breaks a condition
    is told its measure all the same.
    """

    fields: Mapping[str, Field]
    objective: Callable[..., Any] | None = None
    measure: str = "the objective"
    unit: str = "1"
    most: bool = False
    conditions: Sequence[Condition] = ()
    pars: Sequence[Par] = ()
    known: Sequence[Known] = ()
    steps: int = STEPS
    priced: bool = False
    _goals: tuple[dict[str, Any], ...] = ()
    builds: ClassVar[bool] = True
    partial: ClassVar[bool] = True
    shows_stub: ClassVar[bool] = True

    # Asked

    @property
    def how(self) -> str:
        """A record, and of which fields."""
        fields = f"{len(self.fields)} fields" if len(self.fields) > 1 else "one field"
        return f"`answer` is a dict of {fields}, judged by the models of the library"

    def asked_with(self) -> str:
        """The fields with their meaning and range, and the objective."""
        rows = [f"| `{name}` | {one.meaning} | {one.allowed} |" for name, one in self.fields.items()]
        table = "\n".join(["| field | what it is | allowed |", "|---|---|---|", *rows])
        return f"{table}\n\n{self._aim}"

    @property
    def _aim(self) -> str:
        return f"The measure is {self.measure}: {'higher' if self.most else 'lower'} is better."

    def asked_of(self, given: Given | None) -> str:
        """Also the conditions, the pars and the best known value, where the numbers are known."""
        return "\n\n".join(part for part in (self.asked_with(), self._goals_text(given)) if part)

    def _goals_text(self, given: Given | None) -> str:
        if given is None:
            return ""
        goals = self._goals_of(given)
        limits = [f"- {name}: {words} {shown_number(limit, unit)}" for name, words, limit, unit in goals["limits"]]
        sources = any(source for _, _, source in goals["pars"])
        head = f"| points | {self.measure}, {'at least' if self.most else 'at most'} |{' from |' if sources else ''}"
        rows = [
            f"| {points:g} | {self._shown(value)} |{f' {source} |' if sources else ''}"
            for points, value, source in goals["pars"]
        ]
        pars = "\n".join([head, f"|---|---|{'---|' if sources else ''}", *rows])
        best = f"Best known: {self._best(goals)}." if goals["holder"] else ""
        conditions = "\n".join(["Conditions:\n", *limits]) if limits else ""
        return "\n\n".join(part for part in (conditions, pars, best) if part)

    def stub(self, exercise: Exercise) -> str:
        """The record with no value in it yet."""
        lines = [f"    {name}=...,  # {one.meaning}" for name, one in self.fields.items()]
        return "\n".join(["answer = dict(", *lines, ")"])

    def box(self, exercise: Exercise) -> Box:
        """A field of text, or options, for each field of the record."""
        rows = [
            BoxField(name, one.meaning, one.allowed, tuple(one.options) if not one.items else (), bool(one.items))
            for name, one in self.fields.items()
        ]
        above = "\n\n".join(part for part in (self._aim, self._goals_text(exercise.variant())) if part)
        return Box("fields", "Your design", fields=rows, above=above)

    def typed(self, entered: Any) -> Any:
        """The record: a list from a text with commas, semicolons or lines where a field is one."""
        if type(entered) is not dict:
            return entered
        lists = {
            name: [item.strip("'\"") for item in ITEMS.split(text.strip().strip("[]"))]
            for name, text in entered.items()
            if name in self.fields and self.fields[name].items and type(text) is str and text.strip()
        }
        return {**entered, **lists}

    # Declared and published

    def declare(self, exercise: Exercise) -> None:
        """The fields must be bounded, the functions be there, and the points end with those of the exercise."""
        name = exercise.id
        if not 0 < len(self.fields) <= MOST_FIELDS or not all(_is_name(part) for part in self.fields):
            raise DeclarationError(f"{name}: fields are {', '.join(map(repr, self.fields))}; 1 to {MOST_FIELDS} names")
        for key, part in self.fields.items():
            if not isinstance(part, Field):
                raise DeclarationError(f"{name}: the field {key} is {part!r}; a Field was expected")
            part.declare(f"{name}: the field {key}")
        if taken := {*exercise.variant(), BEST} & set(self.fields):
            raise DeclarationError(f"{name}: {', '.join(sorted(taken))} cannot be fields: given, or kept for a par")
        if BEST in exercise.variant():
            raise DeclarationError(f"{name}: {BEST} is given, but is kept for a par; another name was expected")
        if not callable(self.objective) or not all(callable(part.of) for part in self.conditions):
            raise DeclarationError(f"{name}: the objective and what conditions are of are functions of the fields")
        if any((part.at_most is None) == (part.at_least is None) for part in self.conditions):
            raise DeclarationError(f"{name}: a condition has one limit, at_most or at_least")
        if not self.pars or not all(isinstance(part, Par) and part.points > 0 for part in self.pars):
            raise DeclarationError(f"{name}: pars is {self.pars!r}; a Par or more with points were expected")
        if exercise.points not in (1, self.pars[-1].points):
            raise DeclarationError(f"{name}: points is {exercise.points}; the last par has {self.pars[-1].points:g}")
        if exercise.variant_count > MOST_VARIANTS:
            raise DeclarationError(f"{name}: {exercise.variant_count} variants; at most {MOST_VARIANTS} were expected")

    def worth(self, exercise: Exercise) -> float:
        """The points of the last par."""
        return self.pars[-1].points

    def public(self) -> dict[str, Any]:
        """The fields, and the goals: pars and the best known value are no answers."""
        return {
            "fields": {name: one.public() for name, one in self.fields.items()},
            "measure": self.measure,
            "unit": self.unit,
            "most": self.most,
            "goals": list(self._goals),
        }

    @classmethod
    def from_public(cls, public: Mapping[str, Any]) -> Self:
        """The kind with its fields and goals, without what judges."""
        own = {name: public[name] for name in ("measure", "unit", "most")}
        return cls(fields_from(public["fields"]), **own).with_built(public["goals"])

    # Built

    @property
    def built(self) -> Any:
        """For each variant its numbers, its pars and limits, and the best known value with its holder."""
        return list(self._goals) or None

    def build(self, exercise: Exercise) -> Any:
        """The same, computed now."""
        return [
            goals_of(given, self.pars, self.known, self.conditions, most=self.most) for given in exercise.variants()
        ]

    def with_built(self, built: Any) -> Self:
        """The kind with these goals."""
        if not isinstance(built, list) or not all(isinstance(row, dict) and row.keys() == GOALS for row in built):
            raise ValueError("a list of goals was expected")
        return replace(self, _goals=tuple(built))

    def _goals_of(self, given: Given) -> dict[str, Any]:
        numbers = as_json(dict(given))
        for row in self._goals:
            if row["given"] == numbers:
                return row
        raise DeclarationError(
            f"the pars for {numbers} are not computed yet: `gpubook chapters` does it for the book, and "
            "`gpubook course check` for a course"
        )

    # Read and judged

    def blank(self, value: Any) -> bool:
        """Nothing, or a record in which every field is still to be filled in."""
        return is_empty(value) or (type(value) is dict and bool(value) and all(map(is_empty, value.values())))

    def read(self, value: Any) -> dict[str, Any]:
        """The record as the models take it; Unreadable names every field at fault."""
        if type(value) is not dict:
            raise Unreadable(
                f"{described(value)}; a dict was expected, as in the cell of the answer", "unreadable", "not-a-record"
            )
        missing = [f"`{name}`" for name in self.fields if is_empty(value.get(name))]
        unknown = [quoted(name) if type(name) is str else described(name) for name in value if name not in self.fields]
        faults: list[tuple[str, str, str]] = []
        if missing:
            say = f"{_some(missing)} {'is' if len(missing) == 1 else 'are'} missing"
            faults.append((say, "unreadable", "missing-field"))
        record: dict[str, Any] = {}
        for name, field in self.fields.items():
            if is_empty(value.get(name)):
                continue
            try:
                record[name] = field.read(value[name], name)
            except Unreadable as error:
                say = str(error).removesuffix(".").replace("The answer", "the field", 1)
                faults.append((f"`{name}`: {say}", error.kind, error.reason))
        if unknown:
            say = f"{_some(unknown)} {'is not a field' if len(unknown) == 1 else 'are not fields'}"
            faults.append((say, "unreadable", "unknown-field"))
        if faults:
            more = f"; and {len(faults) - MOST_FAULTS} more" if len(faults) > MOST_FAULTS else ""
            say = "; ".join(say for say, _, _ in faults[:MOST_FAULTS]) + more
            raise Unreadable(say, "unreadable", faults[0][2])
        return record

    def readable(self, value: Any) -> str:
        """Each field with its value."""
        record = self.read(value)
        return ", ".join(f"{name} = {one.shown(record[name])}" for name, one in self.fields.items())

    def judge(self, exercise: Exercise, value: Any, given: Given, call: Call | None = None) -> Verdict:
        """Infeasible, and why; or the points of the best par that is reached, with where the measure goes."""
        try:
            record = self.read(value)
        except Unreadable as error:
            return not_read(error)
        goals = self._goals_of(given)
        sentences = " ".join(
            dict.fromkeys(
                exercise.fill(m.say, given) for m in exercise.mistakes if self.read(call_with(m.value, given)) == record
            )
        )
        result = self._evaluated(record, given, goals)
        if isinstance(result, Finding):
            return self._infeasible(exercise, record, given, sentences, result)
        points = max((worth for worth, par, _ in goals["pars"] if self._reaches(result.total, par)), default=0)
        line = self._line(exercise, result.total, points, goals)
        if points == exercise.points:
            return Verdict(1.0, f"Right. {line} {exercise.explain}".strip(), "right")
        say = " ".join(part for part in (sentences, line, terms(result, self.unit)) if part)
        kind, reason = ("partial", "some-points") if points else ("wrong", "misses-pars")
        return Verdict(points / exercise.points, say, "mistake" if sentences else kind, reason)

    def _infeasible(
        self, exercise: Exercise, record: Mapping[str, Any], given: Given, sentences: str, result: Finding
    ) -> Verdict:
        """Why a record is infeasible, after the sentences of mistakes, or else of the slips in the learner's own
        numbers."""
        if sentences or result.reason != "over-limit":
            kind = "mistake" if sentences else "wrong"
            return Verdict(0.0, f"{sentences} {result.say}".strip(), kind, result.reason)
        slipped, sides = self._slips(exercise, record, given)
        if not slipped:
            return Verdict(0.0, " ".join([result.say, *sides]), "wrong", result.reason)
        return Verdict(0.0, " ".join([*(slip.say for slip in slipped), result.say]), "slip", slipped[0].reason)

    def _slips(self, exercise: Exercise, record: Mapping[str, Any], given: Given) -> tuple[list[Slip], list[str]]:
        """The slips in the learner's own numbers, of which the models give others; of those without one, on which side
        they are."""
        limits = [row[2] for row in self._goals_of(given)["limits"]]
        about, slipped, sides = exercise.prompt_text(given), [], []
        for name in own_numbers(self.fields, self.objective):
            with suppress(TooManySteps, ValueError, ArithmeticError, RecursionError):
                parts = record, name, self.conditions, limits, given
                corrected = limited(partial(brought_back, *parts), self.steps)
                if corrected is None:
                    continue
                slip = slip_in(record, corrected, name, self.fields[name], about)
                slipped += [slip] if slip else []
                sides.append(side_of(record[name], corrected[name], name))
        return slipped, sides

    def _evaluated(self, record: Mapping[str, Any], given: Given, goals: Mapping[str, Any]) -> Breakdown | Finding:
        """What the models say of a record: the measure, or why it is infeasible."""
        names = {**given, **record}
        try:
            return limited(lambda: self._feasible(names, [row[2] for row in goals["limits"]]), self.steps)
        except TooManySteps:
            return Finding(f"Judging this record takes more than {self.steps:,} steps of its model.", "too-involved")
        except ValueError as error:
            return Finding(f"Infeasible: {_said(error)}", "infeasible")
        except (ArithmeticError, RecursionError) as error:
            what = "divides by zero" if isinstance(error, ZeroDivisionError) else "leaves the range of numbers"
            return Finding(f"Infeasible: the model {what} with this record.", "infeasible")

    def _feasible(self, names: Given, limits: Sequence[float]) -> Breakdown | Finding:
        result = breakdown(call_with(self.objective, names))
        limited = zip(self.conditions, limits, strict=True)
        broken = [one.broken(breakdown(call_with(one.of, names)), limit) for one, limit in limited]
        if any(broken):
            first, *others = filter(None, broken)
            say = " ".join([f"Infeasible: {first}", *(one[:1].upper() + one[1:] for one in others)])
            if self.priced and math.isfinite(result.total):
                say += f" The measure, {self.measure}, would be {self._shown(result.total)}."
            return Finding(say, "over-limit")
        if not math.isfinite(result.total):
            return Finding(f"Infeasible: {self.measure} has no finite value.", "infeasible")
        return result

    def _line(self, exercise: Exercise, total: float, points: float, goals: Mapping[str, Any]) -> str:
        """ "2 of 3 points: 31.2 us; 3 points at 30 us; best known 28.9 us (the planner)." """
        ahead = next(((worth, par) for worth, par, _ in goals["pars"] if worth > points), None)
        parts = [f"{points:g} of {exercise.points:g} points: {self._shown(total)}"]
        if ahead is not None:
            parts.append(f"{ahead[0]:g} point{'' if ahead[0] == 1 else 's'} at {self._shown(ahead[1])}")
        if goals["holder"]:
            beaten = not self._reaches(goals["best"], total)
            parts.append(f"best known {'until now ' if beaten else ''}{self._best(goals)}")
        return "; ".join(parts) + "."

    def _reaches(self, total: float, par: float) -> bool:
        return reaches(total, par, most=self.most)

    def _shown(self, value: float) -> str:
        return shown_number(value, self.unit)

    def _best(self, goals: Mapping[str, Any]) -> str:
        return f"{self._shown(goals['best'])} ({goals['holder']})"

    # Shown and tested

    def shown(self, exercise: Exercise, value: Any, given: Given) -> str:
        """The record, and what it comes to."""
        try:
            record = self.read(call_with(value, given))
        except Unreadable:
            return ""
        result = self._evaluated(record, given, self._goals_of(given))
        comes_to = "infeasible" if isinstance(result, Finding) else self._shown(result.total)
        return f"{self.readable(record)}: {comes_to}"

    def problems(self, exercise: Exercise) -> list[str]:
        """Pars must rise in points and in value, be reachable, and the best known value be known; and each condition
        decides."""
        faults = [one for given in exercise.variants() for one in self._faults(exercise, given)]
        failures = [*self._failures(exercise)]
        return [*super().problems(exercise), *faults, *(failures or self._undecided(exercise))]

    def _undecided(self, exercise: Exercise) -> list[str]:
        """The conditions that may be dropped in every variant without a change of the best record."""
        undecided = dict(enumerate(self.conditions))
        for given in exercise.variants():
            if undecided:
                search = self._search(exercise, given)
                declared = [row.without for row in undecided.values() if row.without is not None]
                declared += [mistake.value for mistake in exercise.mistakes]
                for place in search.deciding([self.read(call_with(value, given)) for value in declared]):
                    undecided.pop(place, None)
                    if not undecided:
                        break
        return [
            f"the condition {one.name!r} never decides: no record was found that breaks it alone and is as good as the "
            "solution; change the numbers, drop it, or name such a record (`without`)"
            for one in undecided.values()
        ]

    def _search(self, exercise: Exercise, given: Given) -> DesignSearch:
        """Where records as good as the solution are looked for, with the numbers of one variant."""
        assert self.objective is not None
        limits = [row[2] for row in self._goals_of(given)["limits"]]
        solution = self.read(call_with(exercise.solution, given))
        parts = self.fields, self.objective, self.conditions, limits, self.most
        return DesignSearch(*parts, given, solution)

    def _failures(self, exercise: Exercise) -> Iterator[str]:
        """Records of the fields' own ranges on which a model neither gives a number nor says why it cannot."""
        rng, numbers = Random(exercise.id), exercise.variant()
        for _ in range(DRAWN):
            record = {name: one.drawn(rng) for name, one in self.fields.items()}
            try:
                self._evaluated(record, numbers, self._goals_of(numbers))
            except Exception as error:
                yield f"a model raises {type(error).__name__} ({error}) for {record}; a ValueError says what is wrong"
                return

    def _faults(self, exercise: Exercise, given: Given) -> Iterator[str]:
        goals = self._goals_of(given)
        at = f" with {dict(given)}" if given else ""
        for (less, before, _), (more, after, _) in zip(goals["pars"], goals["pars"][1:], strict=False):
            if not less < more or self._reaches(before, after):
                yield f"the par of {more:g} points at {self._shown(after)} does not ask for more than that before{at}"
        if not goals["holder"]:
            yield "no value is known that reaches the last par: a Known was expected"
        elif not self._reaches(goals["best"], goals["pars"][-1][1]):
            yield f"the best known value, {self._best(goals)}, does not reach the last par{at}"
        declared = (exercise.solution, *(mistake.value for mistake in exercise.mistakes))
        records = [self.read(call_with(value, given)) for value in declared]
        if any(one in records[:number] for number, one in enumerate(records)):
            yield f"two of the records of the solution and the mistakes are the same{at}"
        result = self._evaluated(records[0], given, goals)
        if isinstance(result, Finding):
            yield f"the solution{at} is told: {result.say}"
        elif goals["holder"] and not self._reaches(goals["best"], result.total):
            yield f"the solution{at} is better than the best known value: it should be among the known"
        if self.readable(records[0]) in json.dumps(exercise.public(variants=True), ensure_ascii=False):
            yield "the solution's record stands in the learner's edition"


def _some(names: Sequence[str]) -> str:
    """ "a, b and c", cut where there are many."""
    if len(names) > MOST_NAMES:
        return f"{', '.join(names[:MOST_NAMES])} and {len(names) - MOST_NAMES} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _is_name(name: Any) -> bool:
    return isinstance(name, str) and name.isidentifier() and not iskeyword(name)


def _said(error: ValueError) -> str:
    """What a model says of a record that it rejects, as a sentence."""
    text = str(error)
    plain = text.isprintable() and len(text) < MOST_TEXT and not set("<>&`*_$") & set(text)
    return f"{(text if plain else quoted(text, MOST_TEXT)).removesuffix('.')}."
