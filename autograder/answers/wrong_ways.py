"""Standard wrong ways to a number, which an exercise's numbers must tell from the right one.

Nobody lists them in an exercise: they are derived from its solution, which is computed again with an operation
replaced (the sum for the maximum, one of its sides alone, no rounding up) or with a number of the prompt misread (both
directions of a link, bits for bytes, GiB for GB, a share for the rest of it, one rank more). What comes out must lie
`ENOUGH` tolerances from the right answer, or be a declared mistake or a slip that the judge recognises: otherwise a
learner with a wrong idea is told that it is right, or nearly.
"""

from __future__ import annotations

import builtins
import math
import re
import types
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from operator import itemgetter
from typing import Any, NamedTuple

from ..declaration.answer import Weakness
from ..declaration.exercise import Exercise
from ..declaration.given import call_with
from ..declaration.isolation import names
from ..values.texts import FIELD

ENOUGH = 5.0  # tolerances between a wrong way and the right answer
REFUSED = 1.5  # of one rank more or less, throughout: nodes of eight GPUs tell no better, and it is refused at that
SMALL = 16  # of more ranks, one more or less is lost in a tolerance of one percent
CALLS = 6  # operations of a kind that are replaced one by one
EQUAL = 1e-9  # tolerances within which two ways are the same number
GIB = 2**30 / 1e9
# How a number of the prompt is misread, by its unit: what it is multiplied by.
MISREAD = {
    "B/s": (("both directions", 2.0), ("half of it, for one direction", 0.5), ("bits", 8.0), ("bytes", 0.125)),
    "FLOP/s": (("the rate with sparsity", 2.0), ("half of it, for the dense rate", 0.5)),
    "B": (("bits", 8.0), ("bytes", 0.125), ("GiB", GIB), ("GB", 1 / GIB)),
}
BINARY = re.compile(r"\{(\w+)\} (KiB|MiB|GiB)\b")  # a number of the prompt whose unit stands behind it as a word
THOUSANDS = {"KiB": 1000 / 2**10, "MiB": 1e6 / 2**20, "GiB": 1e9 / 2**30}
TIMES = {
    2.0: ("twice", "are two counted for one?"),
    0.5: ("half of", "is one counted for two?"),
    8.0: ("eight times", "bits for bytes, or eight for one?"),
    0.125: ("an eighth of", "bytes for bits, or one for eight?"),
}


class WrongResult(NamedTuple):
    """What a wrong way comes to with one row of numbers."""

    row: Mapping[str, Any]
    value: float
    tolerances: float  # from the right answer
    inert: bool = False  # the row's answer does not depend on what was altered


@dataclass
class WrongWay:
    """A wrong way, what it comes to with each row, and what is asked of it."""

    name: str
    enough: float = ENOUGH
    side: bool = False  # one side of a max or min alone: right where that side decides
    told: str = ""  # what a learner who went that way has done, after "Yours is what comes out"
    factor: bool = False  # a number taken so many times: other errors with that factor come to the same
    found: list[WrongResult] = field(default_factory=list)

    def weak(self) -> Iterator[WrongResult]:
        """Where it is too near to the right answer."""
        equal = [result.tolerances < EQUAL for result in self.found]
        if self.side:
            yield from self.found[:1] if all(equal) else ()
        elif all(equal):
            return  # what it alters does not matter in this exercise
        for result, same in zip(self.found, equal, strict=True):
            if result.tolerances < self.enough and not (same and (self.side or result.inert)):
                yield result


Tolerances = Callable[[float, float], float]  # of the right answer and another: how many lie between them


def weak_numbers(
    exercise: Exercise, rows: Sequence[Mapping[str, Any]], tolerances: Tolerances, *, exact: bool = False
) -> list[Weakness]:
    """The wrong ways that come too near to the right answer with some of these rows. `exact`: an answer is right or
    wrong, and nothing lies between."""
    if not callable(exercise.solution):
        return []
    weaknesses = []
    for way in _ways(exercise, rows, tolerances, exact):
        near = [one for one in way.weak() if not _told(exercise, one)]
        if near:
            weaknesses.append(Weakness(way.name, _sentence(way, near[0])))
    return weaknesses


def _sentence(way: WrongWay, result: WrongResult) -> str:
    if result.tolerances >= EQUAL:
        how = f"gives {result.value:.6g}, {result.tolerances:.2g} tolerances from the right answer "
        how += f"({way.enough:g} are asked for)"
    else:
        how = "gives the right answer" + (", and so it does with all others" if way.side else "")
    return f"with {dict(result.row)}, {way.name} {how}: choose other numbers, or declare it a mistake"


def _told(exercise: Exercise, result: WrongResult) -> bool:
    """Whether a learner who gives this is told a mistake or a slip."""
    return result.tolerances > 1 and exercise.judge(result.value, result.row).kind in ("mistake", "slip", "unreadable")


def _ways(
    exercise: Exercise, rows: Sequence[Mapping[str, Any]], tolerances: Tolerances, exact: bool
) -> Iterable[WrongWay]:
    ways: dict[str, WrongWay] = {}
    calls = [_calls(exercise.solution, row) for row in rows]
    guards = _guards(exercise.solution, rows[0], calls)
    for row, its_calls in zip(rows, calls, strict=True):
        want = _number(exercise.solution, row)
        if not want:
            continue
        tried = [(way, value, False) for way, value in _replaced(exercise.solution, row, its_calls, guards)]
        for way, letter, value in _misread(exercise, row, exact):
            tried.append((way, value, not exact and _inert(exercise.solution, row, letter, want)))
        for way, value, inert in tried:
            if value is not None and math.isfinite(value):
                ways.setdefault(way.name, way).found.append(WrongResult(row, value, tolerances(want, value), inert))
    return ways.values()


def ways_from(exercise: Exercise, row: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """What each wrong way comes to with these numbers, after what is told of it."""
    for way, value in ways_of(exercise, row):
        yield way.told, value


def ways_of(exercise: Exercise, row: Mapping[str, Any]) -> Iterator[tuple[WrongWay, float]]:
    """The wrong ways of which something is told, and what each comes to with these numbers."""
    if callable(exercise.solution):
        calls = _calls(exercise.solution, row)
        guards = _guards(exercise.solution, row, [calls])
        for ways in (_replaced, _means):
            for way, value in ways(exercise.solution, row, calls, guards):
                if value is not None and way.told:
                    yield way, value
        printed = {match[1] for match in FIELD.finditer(exercise.prompt)}
        for way, letter, value in _misread(exercise, row, exact=False):
            if value is not None and way.told and letter in printed:
                yield way, value


def _number(function: Any, row: Mapping[str, Any]) -> float | None:
    """What a function of the declaration gives, where it is a number."""
    with suppress(ArithmeticError, ValueError, TypeError, LookupError):
        value = call_with(function, row)
        return float(value) if isinstance(value, (int, float)) else None
    return None


# Operations replaced


class Call(NamedTuple):
    """A call of an operation: what it chose from, or rounded."""

    kind: str
    items: tuple[Any, ...]


Replacement = Callable[[tuple[Any, ...]], Any]


@dataclass
class Operations:
    """The operations of a solution, as they are called: counted, and some of them replaced."""

    kind: str = ""
    which: int | None = None  # the one to replace; None for all of the kind
    by: Replacement | None = None
    calls: list[Call] = field(default_factory=list)

    def called(self, kind: str, plain: Callable[..., Any], *args: Any, **options: Any) -> Any:
        items = tuple(args[0]) if len(args) == 1 and hasattr(args[0], "__iter__") else args
        if "key" in options or not items:
            return plain(items, **options) if len(args) == 1 else plain(*args, **options)
        mine = sum(call.kind == kind for call in self.calls)
        self.calls.append(Call(kind, items))
        if self.by is not None and kind == self.kind and self.which in (None, mine):
            return self.by(items)
        return plain(items) if len(args) == 1 and items is not args else plain(*items)


@cache
def _kinds() -> dict[Any, str]:
    """The operations that are replaced, by the function that does them."""
    from hwlib import formula

    return {
        builtins.max: "max",
        formula.maximum: "max",
        formula.max_of: "max",
        builtins.min: "min",
        formula.minimum: "min",
        math.ceil: "ceil",
        formula.ceil: "ceil",
        math.floor: "floor",
        formula.floor: "floor",
    }


@lru_cache(maxsize=64)
def _places(function: Any) -> list[tuple[dict[str, Any], str, Any]]:
    """Where the operations of a function are looked up, in its own module and in those that it calls: the module's
    names, the name there, and the operation."""
    kinds, places, waiting, seen = _kinds(), {}, [function], set()
    home = str(getattr(function, "__module__", "")).partition(".")[0]
    while waiting:
        called = waiting.pop()
        called = getattr(called, "function", None) or getattr(called, "func", None) or called
        if not isinstance(called, types.FunctionType) or called in seen:
            continue
        seen.add(called)
        scope = called.__globals__
        cells = [cell.cell_contents for cell in called.__closure__ or () if cell.cell_contents is not called]
        values = {name: scope.get(name, getattr(builtins, name, None)) for name in names(called.__code__)}
        for name, value in values.items():
            if _hashable(value) and value in kinds:
                places[id(scope), name] = scope, name, value
        for value in (*values.values(), *cells):
            module = str(getattr(value, "__module__", ""))
            ours = module.partition(".")[0] in ("hwlib", home) and callable(value) and not isinstance(value, type)
            if ours and not (_hashable(value) and value in kinds):
                waiting.append(value)
    return list(places.values())


def _hashable(value: Any) -> bool:
    return isinstance(value, (types.FunctionType, types.BuiltinFunctionType))


@contextmanager
def through(function: Any, operations: Operations) -> Iterator[None]:
    """In this block the function, and what it calls, find `operations` where they look for theirs."""
    kinds, missing = _kinds(), object()
    places = _places(function)
    before = [(scope, name, scope.get(name, missing)) for scope, name, _ in places]
    try:
        for scope, name, plain in places:
            scope[name] = partial(operations.called, kinds[plain], plain)
        yield
    finally:
        for scope, name, value in before:
            if value is missing:
                del scope[name]
            else:
                scope[name] = value


def _observed(function: Any, row: Mapping[str, Any], operations: Operations) -> float | None:
    with through(function, operations):
        return _number(function, row)


def _calls(function: Any, row: Mapping[str, Any]) -> list[Call]:
    operations = Operations()
    if _places(function):  # else it calls none of them
        _observed(function, row, operations)
    return operations.calls


def _guards(function: Any, first: Mapping[str, Any], observed: Sequence[Sequence[Call]]) -> set[tuple[str, int]]:
    """The calls of a max or min with a side that is the same number whatever is given: the library's own bounds, such
    as max(..., 0), which no learner writes. `observed`: what it calls with each row, of which `first` is the first."""
    sides: dict[tuple[str, int], list[tuple[Any, ...]]] = defaultdict(list)
    other = {name: x * 1.01 ** (i + 1) if type(x) is float else x for i, (name, x) in enumerate(first.items())}
    for calls in (*observed, _calls(function, other)):
        count: dict[str, int] = defaultdict(int)
        for call in calls:
            sides[call.kind, count[call.kind]].append(call.items)
            count[call.kind] += 1
    return {key for key, items in sides.items() if any(len(set(side)) == 1 for side in zip(*items, strict=False))}


def _replaced(
    function: Any, row: Mapping[str, Any], calls: Sequence[Call], guards: set[tuple[str, int]]
) -> Iterator[tuple[WrongWay, float | None]]:
    """The ways with another operation: each max or min in turn; the last rounding, and all of a kind at once."""
    for kind in ("max", "min", "ceil", "floor"):
        mine = [call for call in calls if call.kind == kind]
        open_ones = [i for i in range(len(mine)) if kind in ("ceil", "floor") or (kind, i) not in guards]
        one_by_one = open_ones[:CALLS] if kind in ("max", "min") else open_ones[-1:]
        for which in one_by_one:
            place = f"the {kind}" if len(mine) == 1 else f"{kind} no. {which + 1}"
            for way, by in replacements(kind, place, mine[which].items):
                yield way, _observed(function, row, Operations(kind, which, by))
        if kind in ("ceil", "floor") and len(mine) > 1:
            for way, by in replacements(kind, f"every {kind}", mine[0].items):
                yield way, _observed(function, row, Operations(kind, None, by))


def _means(
    function: Any, row: Mapping[str, Any], calls: Sequence[Call], guards: set[tuple[str, int]]
) -> Iterator[tuple[WrongWay, float | None]]:
    """The ways with the mean of several amounts of which the largest or smallest counts."""
    for kind, side in (("max", "largest"), ("min", "smallest")):
        count = min(CALLS, sum(call.kind == kind for call in calls))
        for which in (each for each in range(count) if (kind, each) not in guards):
            way = WrongWay(
                f"the mean for {kind} no. {which + 1}", told=f"with half of the sum, or the mean, for the {side}"
            )
            yield way, _observed(function, row, Operations(kind, which, lambda items: sum(items) / len(items)))


def replacements(kind: str, place: str, items: Sequence[Any]) -> Iterator[tuple[WrongWay, Replacement]]:
    """What a call with these items may be replaced by; `place` names it."""
    if kind in ("ceil", "floor"):
        other, rounded = ("floor", math.floor) if kind == "ceil" else ("ceil", math.ceil)
        effect = "without rounding: what happens to the part that is left over?"
        yield WrongWay(f"{place} left out", told=effect), lambda items: items[0]
        effect = "with rounding to the other side"
        yield WrongWay(f"the {other} for {place}", told=effect), lambda items: rounded(items[0])
    elif len(items) > 1:
        effect = f"if all are added of which the {'largest' if kind == 'max' else 'smallest'} alone counts"
        yield WrongWay(f"the sum for {place}", told=effect), sum
        for i in range(len(items)):
            other = "larger" if kind == "max" else "smaller"
            effect = f"if one of several amounts decides by itself: may another be {other}, and decide instead?"
            yield WrongWay(f"side {i + 1} of {place} alone", side=True, told=effect), itemgetter(i)


# Numbers misread


class _Miscounted(int):
    """A number of ranks of which one more or less is forgotten: `n - 1` comes out as n + `shift`."""

    shift = 0

    def __sub__(self, other: Any) -> Any:
        return int(self) + self.shift if type(other) is int and other == 1 else int(self) - other


def _misread(exercise: Exercise, row: Mapping[str, Any], exact: bool) -> Iterator[tuple[WrongWay, str, float | None]]:
    """The ways with another number in place of one that is given, and its letter."""
    units = {match[1]: match[2] for match in FIELD.finditer(exercise.prompt)}
    yield from _in_thousands(exercise, row)
    for letter, value in row.items():
        if isinstance(value, (bool, str)) or not isinstance(value, (int, float)):
            continue
        unit = units.get(letter) or ""
        shown = exercise.fill(f"{{{letter}{':' + unit if unit else ''}}}", row)
        for name, factor in MISREAD.get(unit, ()):
            words, question = TIMES.get(factor, (f"{name} for", ""))
            effect = f"with {words} {shown}" + (f": {question}" if question else "")
            yield (
                WrongWay(f"{letter} taken for {name}", told=effect, factor=True),
                letter,
                _with(exercise, row, letter, value * factor),
            )
        if isinstance(value, float) and 0 < value < 1:
            for sign, other in (("-", 1 - value), ("+", 1 + value)):
                effect = "" if unit else f"with 1 {sign} {shown} for {shown}"
                way = WrongWay(f"1 {sign} {letter} for {letter}", told=effect)
                yield way, letter, _with(exercise, row, letter, other)
        if isinstance(value, int) and value > 1:
            for shift, all_of in ((0, letter), (1, f"{letter} + 1")):
                counted = _Miscounted(value)
                counted.shift = shift
                effect = "" if shift else f"if all {shown} count where one does not"
                yield WrongWay(f"{all_of} for {letter} - 1", told=effect), letter, _with(exercise, row, letter, counted)
            for more in (-1, 1) if value <= SMALL and not exact else ():
                name = f"{letter} {'+' if more > 0 else '-'} 1 for {letter} throughout"
                effect = f"with {value + more} for {shown}"
                yield WrongWay(name, REFUSED, told=effect), letter, _with(exercise, row, letter, value + more)


def _in_thousands(exercise: Exercise, row: Mapping[str, Any]) -> Iterator[tuple[WrongWay, str, float | None]]:
    """The ways with powers of 1,000 for powers of 1,024, where the prompt spells the unit behind a number."""
    for letter, unit in BINARY.findall(exercise.prompt):
        effect = f"with powers of 1,000 for {row[letter]} {unit}"
        value = _with(exercise, row, letter, row[letter] * THOUSANDS[unit])
        yield WrongWay(f"powers of 1,000 for {letter} {unit}", told=effect), letter, value


def _with(exercise: Exercise, row: Mapping[str, Any], letter: str, value: Any) -> float | None:
    return _number(exercise.solution, {**row, letter: value})


def _inert(function: Any, row: Mapping[str, Any], letter: str, want: float) -> bool:
    """Whether the answer does not depend on that number, near where it is; a solution may take whole ones only."""
    value = row[letter]
    steps = [value * (1 - 1e-6), value * (1 + 1e-6)]
    if isinstance(value, int) and _number(function, {**row, letter: steps[0]}) is None:
        steps = [value - 1, value + 1]
    return all(_number(function, {**row, letter: step}) == want for step in steps)
