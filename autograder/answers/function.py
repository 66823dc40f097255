"""Function answers: the judge asks, the learner's function replies, and only plain data passes between
them.

Reasons: those of `AnswerError`, of `values.slips`, of `values.compare.kinds` and of `dimension_probe`; not-a-function,
cannot-be-called, returns-nothing, too-large, nearly-right, wrong-value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from ..declaration.answer import Call, Weakness
from ..declaration.calling import local_call, through_json
from ..declaration.verdict import AnswerError, DeclarationError, Verdict, unreadable
from ..declaration.withholding import Withheld, write_it_yourself
from ..values import slips
from ..values.compare import Path, at, difference, equal, is_sequence, kinds, listed, place
from ..values.error_advice import ErrorContext, advice_on
from ..values.excerpts import element, excerpt, fitted, size_of, text_of
from ..values.finding import Finding
from ..values.numbers import Unreadable, as_float, number
from ..values.texts import quoted
from .case_patterns import numbers_in, off_by, right_where
from .code import Coded, Program
from .dimension_probe import wrong_dimension
from .weak_cases import round_results, untried, weak_cases

if TYPE_CHECKING:
    from ..declaration.exercise import Exercise
    from ..declaration.given import Given

MAX_CASES = 500
MOST_ELEMENTS = 1_000_000  # of arrays, of all results together: they are compared one by one, a third of a second
SAMPLES = 12  # cases to compare a formula of the library on
CALL = 120  # letters of a call that are shown
SHOWN = 120  # letters of a result that are shown
TRIED = 400  # the same, where nothing is said of it
MOST_DIGITS = 17  # of a number in a unit: as many tell any two apart
NOT_RIGHT = "which is not right"
NEARLY = 1e-4  # as close as that on every case is rounding, or a term that hardly counts


@dataclass(frozen=True)
class Function(Coded):
    """A Python function, compared with the solution on `cases`: a list of argument tuples, whose expected values a
    learner may see (as those of `drawn`, if there are any), or a callable of a `random.Random` that makes the list,
    whose expected values are never shown.

    Numbers are right within `rtol`, everything else exactly. `unit` is that of the result; with `units`, those of
    the arguments by name, a wrong function is told where its dimension is not that of the result. Whole numbers
    without a unit may be labels, a rank or a place in an order, which are not too small; `counts` says that they count.
    """

    rtol: float = 1e-9
    unit: str | None = None
    units: Mapping[str, str] = field(default_factory=dict)
    counts: bool = False

    def __post_init__(self):
        signature = self.signature or f"{self.name}(x)"
        if not self.name.isidentifier() or not re.fullmatch(rf"{self.name}\([^()\n]*\)", signature):
            raise DeclarationError(
                f"the signature {self.signature!r} of {self.name!r}: '{self.name}(a, b)' was expected"
            )
        object.__setattr__(self, "signature", signature)

    def declare(self, exercise: Exercise) -> None:
        """The solution and the mistakes must be functions, and there must be cases."""
        if not callable(exercise.solution) or not all(callable(m.value) for m in exercise.mistakes):
            raise DeclarationError(f"{exercise.id}: the solution and mistakes of a Function are functions")
        if not self.cases:
            raise DeclarationError(f"{exercise.id}: a Function needs cases")
        names = self.letters
        if self.units and (list(self.units) != names or not self.unit):
            raise DeclarationError(
                f"{exercise.id}: units has {', '.join(self.units)}; those of {', '.join(names)} "
                "in this order, and the unit of the result, were expected"
            )

    @property
    def letters(self) -> list[str]:
        """The names of its arguments."""
        return re.findall(r"(?<!\w)(\w++)\s*(?:=[^,]*)?(?:,|$)", self.signature.partition("(")[2].rstrip(")"))

    @property
    def how(self) -> str:
        """The function, by its signature."""
        return f"write `{self.signature}`"

    def public(self) -> dict[str, Any]:
        """The signature and the unit of the result."""
        return {"name": self.name, "signature": self.signature, "unit": self.unit}

    def local_call(self, value: Any, withholds: Sequence[str] = ()) -> Call | None:
        """Calls of the function, here."""
        return local_call(value, withholds)

    def inputs(self, exercise: Exercise) -> list[tuple]:
        """The arguments of every case, the smallest first: the first that fails is then the easiest to think about."""
        key = f"inputs {self.seed}"
        if key not in self._memory:
            rows = self.rows(exercise, lambda row: tuple(row) if isinstance(row, (tuple, list)) else (row,), MAX_CASES)
            self._memory[key] = sorted(rows, key=size_of)
        drawn: list[tuple] = self._memory[key]
        return drawn

    def outputs(self, exercise: Exercise, function: Callable[..., Any]) -> list[Any]:
        """What `function`, of the declaration, gives on every case, as plain data."""
        key = f"outputs {id(function)} {self.seed}"
        if key not in self._memory:
            self._memory[key] = [through_json(function(*through_json(args))) for args in self.inputs(exercise)]
            self._memory[f"kept {key}"] = function
        return self._memory[key]

    def samples(self, exercise: Exercise) -> Iterator[tuple[tuple[float, ...], float]]:
        """The cases in which numbers make a number."""
        cases = zip(self.inputs(exercise), self.outputs(exercise, exercise.solution), strict=True)
        numbers = [(args, want) for args, want in cases if all(type(x) in (int, float) for x in (*args, want))]
        return iter(numbers[:: math.ceil(len(numbers) / SAMPLES) or 1])  # small ones and large ones

    def taken_for_right(self, exercise: Exercise, programs: Sequence[Program], rows: Sequence[Any]) -> list[Program]:
        """Those that give what the solution does in all these cases; one that fails in any is told apart."""
        expected = cache(lambda place: through_json(exercise.solution(*through_json(rows[place]))))

        def wrong(function: Any, place: int) -> bool:
            return not self._gives(function, rows[place], expected(place))

        places = range(len(rows))
        return [(name, f) for name, f in programs if not self.shows_wrong(f, places, partial(wrong, f))]

    def accepted(self, exercise: Exercise, programs: Sequence[Program]) -> list[Program]:
        """Those that give what the solution does in all cases."""
        return self.taken_for_right(exercise, programs, self.inputs(exercise))

    def _gives(self, program: Any, args: Any, want: Any) -> bool:
        try:
            return equal(through_json(program(*through_json(args))), want, self.rtol)
        except Exception:
            return False

    def weaknesses(self, exercise: Exercise, rows: Sequence[Given]) -> list[Weakness]:
        """Those that no case tells from the right way, of `wrong_ways`: operations, rounded results, and whole numbers
        that are not tried."""
        rounded = round_results(self.outputs(exercise, exercise.solution))
        return [*untried(self.letters, self.inputs(exercise), exercise.solution), *rounded, *self._unnoticed(exercise)]

    def _unnoticed(self, exercise: Exercise) -> list[Weakness]:
        wanted = self.outputs(exercise, exercise.solution)

        def same(results: list[Any]) -> bool:
            return all(equal(through_json(one), want, self.rtol) for one, want in zip(results, wanted, strict=True))

        return weak_cases(exercise.solution, [through_json(args) for args in self.inputs(exercise)], same)

    def judge(self, exercise: Exercise, value: Any, given: Given, call: Call | None = None) -> Verdict:
        """Right on every case; else where it fails, whose mistake it makes, or a case that it gets wrong."""
        try:
            self.readable(value)
        except Unreadable as error:
            return unreadable(str(error), error.reason)
        if call is None:
            return unreadable("the function cannot be called here", "cannot-be-called")
        wanted, got, left = self.outputs(exercise, exercise.solution), [], MOST_ELEMENTS
        for args in self.inputs(exercise):
            try:
                got.append(call(args))
                if (left := left - _elements(got[-1])) < 0:
                    say = f"its arrays have more than {MOST_ELEMENTS:,} elements in all"
                    raise AnswerError(say, "too-large")
            except AnswerError as error:
                return self._failed(exercise, args, error)
        right = [equal(g, w, self.rtol) for g, w in zip(got, wanted, strict=True)]
        if all(right):
            return exercise.right()
        if all(g is None or g is ... for g in got):
            say = f"No answer yet: {self.name} returns None in every case. Is there a `return`, and is it reached?"
            return Verdict(0.0, say, "empty", "returns-nothing")
        return self._wrong(exercise, got, wanted, right, call)

    def declared_as(self, exercise: Exercise, wrong: Sequence[tuple[Any, Given]]) -> str:
        """A lambda of the arguments, whose formula is to be written: no result says which function gives it."""
        return f"lambda {', '.join(self.letters)}: ..."

    def tried(self, exercise: Exercise, value: Any, call: Call) -> list[Any]:
        """What it gives for the arguments of the case that is quickest to read."""
        args = min(self.inputs(exercise), key=lambda one: len(self._called(one, None)))
        try:
            got = call(args)
        except AnswerError as error:
            return [self._failed(exercise, args, error).say]
        if got is None or got is ...:
            return [f"{self._called(args)} returns nothing. Is there a `return`, and is it reached?"]
        return [f"{self._called(args)} gives {quoted(self._shown(got), TRIED)}."]

    def _failed(self, exercise: Exercise, args: tuple, error: AnswerError) -> Verdict:
        if isinstance(error, Withheld) and error.name in exercise.withholds:
            return Verdict(0.0, write_it_yourself(error.name), "wrong", error.reason)
        more = advice_on(str(error), ErrorContext.of(exercise.public()))
        return Verdict(0.0, f"{self._called(args)} fails: {quoted(str(error), 200)}.{more}", "wrong", error.reason)

    def _wrong(self, exercise: Exercise, got: list, wanted: list, right: list[bool], call: Call) -> Verdict:
        sentences = [
            m.say
            for m in exercise.mistakes
            if all(equal(g, w, self.rtol) for g, w in zip(got, self.outputs(exercise, m.value), strict=True))
        ]
        if sentences:
            return Verdict(0.0, " ".join(dict.fromkeys(sentences)), "mistake")
        failed = [index for index, ok in enumerate(right) if not ok]
        index = min(failed, key=lambda at: len(self._called(self.inputs(exercise)[at], None)))  # for work by hand
        args, mine, want = self.inputs(exercise)[index], got[index], wanted[index]
        about = exercise.prompt
        if slip := self._slip(got, wanted, about) or self._slip_of_element(got, wanted, about):
            return Verdict(0.0, slip.say, "slip", slip.reason)
        if self.units and (dimension := self._wrong_dimension(call, args)):
            return Verdict(0.0, f"{dimension.say[0].upper()}{dimension.say[1:]}.", "unit", dimension.reason)
        nearly = all(equal(g, w, NEARLY) for g, w in zip(got, wanted, strict=True))
        finding = self._difference(mine, want, nearly)
        shown = quoted(self._shown(mine, place(mine, want, self.rtol), want), SHOWN)
        say = f"{self._called(args)} gives {shown}{finding.say}"
        say += "" if say.endswith("?") else "."
        count = self._count(exercise, got, wanted, right)
        return Verdict(0.0, f"{say}{count}", "wrong", finding.reason, wants_hint=True)

    def _count(self, exercise: Exercise, got: list, wanted: list, right: list[bool]) -> str:
        """How many cases are right, what these have in common, and how far off all are."""
        rows = [numbers_in(self.letters, args) for args in self.inputs(exercise)]
        shared = right_where(rows, right)
        shared = f": those in which {shared}" if shared else ""
        count = f" ({sum(right)} of {len(right)} cases are right{shared}.)" if any(right) else ""
        if all(type(one) in (int, float) for one in (*got, *wanted)):
            relation = off_by(rows, list(zip(got, wanted, strict=True)))
            count += f" {relation}" if relation else ""
        return count

    def _difference(self, mine: Any, want: Any, nearly: bool) -> Finding:
        """How a result differs from the expected one, of which only public cases tell more than the order of
        magnitude."""
        path = difference(mine, want, self.rtol) or ()
        element_got, right = at(mine, path), at(want, path)
        start = f"; element {element(path)} is {quoted(self._shown(element_got, (), right), SHOWN)}" if path else ""
        if kind := kinds(element_got, right):
            return Finding(f"{start}, {kind.say}", kind.reason)
        if not callable(self.cases):
            wanted = quoted(self._shown(right, place(element_got, right, self.rtol), element_got), SHOWN)
            return Finding(f"{start}; {wanted} was expected", "wrong-value")
        if nearly:
            close = "very close, but not exact: is something rounded, or a small term missing?"
            return Finding(f"{start}, which is {close}", "nearly-right")
        labels = type(right) is int and not self.unit and not self.counts
        far = NOT_RIGHT if labels else how_far(element_got, right)
        return Finding(f"{start}, {'' if path or far.startswith('which') else 'which is '}{far}", "wrong-value")

    def _wrong_dimension(self, call: Call, args: tuple) -> Finding | None:
        try:
            return wrong_dimension(call, args, self.units, self.unit or "1")
        except AnswerError:
            return None

    def _slip(self, got: list, wanted: list, about: str, unit: str = "") -> slips.Slip | None:
        try:
            common = {
                slips.find(number(g), number(w), self.rtol, unit or self.unit or "1", about)
                for g, w in zip(got, wanted, strict=True)
                if number(w)
            }
        except Unreadable:
            return None
        return common.pop() if len(common) == 1 else None

    def _slip_of_element(self, got: list, wanted: list, about: str) -> Finding | None:
        """The slip of the first element that has one in every case, where the results are records of one length."""
        columns = [list(zip(*map(listed, rows), strict=True)) for rows in (got, wanted) if _records(rows)]
        if len(columns) < 2 or len(columns[0]) != len(columns[1]):
            return None
        for index, (mine, right) in enumerate(zip(*columns, strict=True)):
            if slip := self._slip(list(mine), list(right), about, self.unit or "B"):
                return Finding(f"Element {element((index,))}: {slip.say}", slip.reason)
        return None

    def _called(self, args: tuple, most: int | None = CALL) -> str:
        if most is None:
            return f"{self.name}({', '.join(map(text_of, args))})"
        return quoted(f"{self.name}({fitted(args, most - len(self.name) - len('()'))})", most)

    def _shown(self, value: Any, path: Path = (), beside: Any = None) -> str:
        """A value, a number in the unit with as many digits as tell it from another one `beside` it."""
        if not self.unit and type(value) is type(beside) is float:
            text = excerpt(value, path)
            return text if text != excerpt(beside, path) else repr(value)
        if not self.unit or type(value) not in (int, float):
            return excerpt(value, path)
        from hwlib.units import show

        sizes = [
            as_float(number(one)) if type(one) is int else one for one in (value, beside) if type(one) in (int, float)
        ]
        several = ([show(size, self.unit, digits) for size in sizes] for digits in range(4, MOST_DIGITS + 1))
        written = [show(size, self.unit) for size in sizes]
        return next((shown for shown in several if len({*shown}) > 1), written)[0]


def _elements(value: Any) -> int:
    """The elements of all arrays in a result, which a message holds as a text, however many they are."""
    if isinstance(value, (list, tuple, dict)):
        return sum(map(_elements, value.values() if isinstance(value, dict) else value))
    size = getattr(value, "size", 0)
    return size if type(size) is int else 0


def _records(rows: list) -> bool:
    """Whether they are tuples, or what stands for these, of one length, and more than one."""
    records = [listed(row) for row in rows]
    return len(records) > 1 and all(is_sequence(row) for row in records) and len({len(row) for row in records}) == 1


def how_far(mine: Any, want: Any) -> str:
    """What a wrong number is told of which the right one must not be: on which side it lies, and its order of
    magnitude."""
    try:
        ratio = number(mine) / number(want)
    except (Unreadable, ZeroDivisionError):
        return NOT_RIGHT
    if ratio <= 0:
        return "of the wrong sign" if ratio else NOT_RIGHT
    power = math.floor(abs(math.log10(as_float(ratio))) + 1e-6) if 0 < as_float(ratio) < math.inf else 300
    exactly = math.isclose(abs(math.log10(as_float(ratio))), power, abs_tol=1e-6) if power < 300 else False
    times = f"{'' if exactly else 'more than '}10{f'^{power}' if power > 1 else ''} times " if power else ""
    return times + ("too large" if ratio > 1 else "too small")
