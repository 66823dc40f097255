"""Function answers: the judge asks, the learner's function replies, and only plain data passes between
them.

Reasons: those of `AnswerError`, of `values.slips`, of `values.compare.kinds` and of `dimension_probe`; not-a-function,
cannot-be-called, returns-nothing, nearly-right, wrong-value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..declaration.answer import Call
from ..declaration.calling import local_call, through_json
from ..declaration.verdict import AnswerError, DeclarationError, Verdict, unreadable
from ..declaration.withholding import Withheld, write_it_yourself
from ..values import encoding, slips
from ..values.compare import equal, is_array, kinds
from ..values.finding import Finding
from ..values.numbers import Unreadable, as_float, number
from ..values.texts import quoted
from .code import Coded
from .dimension_probe import wrong_dimension

if TYPE_CHECKING:
    from ..declaration.exercise import Exercise
    from ..declaration.given import Given

MAX_CASES = 500
SAMPLES = 12  # cases to compare a formula of the library on
NEARLY = 1e-4  # as close as that on every case is rounding, or a term that hardly counts


@dataclass(frozen=True)
class Function(Coded):
    """A Python function, compared with the solution on `cases`: a list of argument tuples, which learners may
    see, or a callable of a `random.Random` that makes the list, whose expected values are never shown.

    Numbers are right within `rtol`, everything else exactly. `unit` is that of the result; with `units`, those of
    the arguments by name, a wrong function is told where its dimension is not that of the result.
    """

    rtol: float = 1e-9
    unit: str | None = None
    units: Mapping[str, str] = field(default_factory=dict)

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
        names = re.findall(r"(\w+)\s*(?:=[^,]*)?(?:,|$)", self.signature.partition("(")[2].rstrip(")"))
        if self.units and (list(self.units) != names or not self.unit):
            raise DeclarationError(
                f"{exercise.id}: units has {', '.join(self.units)}; those of {', '.join(names)} "
                "in this order, and the unit of the result, were expected"
            )

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
        """The arguments of every case, the same at each call."""
        return self.rows(exercise, lambda row: tuple(row) if isinstance(row, (tuple, list)) else (row,), MAX_CASES)

    def outputs(self, exercise: Exercise, function: Callable[..., Any]) -> list[Any]:
        """What `function`, of the declaration, gives on every case, as plain data."""
        key = f"outputs {id(function)}"
        if key not in self._memory:
            self._memory[key] = [through_json(function(*through_json(args))) for args in self.inputs(exercise)]
            self._memory[f"kept {key}"] = function
        return self._memory[key]

    def samples(self, exercise: Exercise) -> Iterator[tuple[tuple[float, ...], float]]:
        """The cases in which numbers make a number."""
        cases = zip(self.inputs(exercise), self.outputs(exercise, exercise.solution), strict=True)
        numbers = ((args, want) for args, want in cases if all(type(x) in (int, float) for x in (*args, want)))
        return islice(numbers, SAMPLES)

    def judge(self, exercise: Exercise, value: Any, given: Given, call: Call | None = None) -> Verdict:
        """Right on every case; else where it fails, whose mistake it makes, or a case that it gets wrong."""
        try:
            self.readable(value)
        except Unreadable as error:
            return unreadable(str(error), error.reason)
        if call is None:
            return unreadable("the function cannot be called here", "cannot-be-called")
        wanted, got = self.outputs(exercise, exercise.solution), []
        for args in self.inputs(exercise):
            try:
                got.append(call(args))
            except AnswerError as error:
                return self._failed(exercise, args, error)
        right = [equal(g, w, self.rtol) for g, w in zip(got, wanted, strict=True)]
        if all(right):
            return exercise.right()
        if all(g is None or g is ... for g in got):
            say = f"No answer yet: {self.name} returns nothing (is there a `return`?)."
            return Verdict(0.0, say, "empty", "returns-nothing")
        return self._wrong(exercise, got, wanted, right, call)

    def _failed(self, exercise: Exercise, args: tuple, error: AnswerError) -> Verdict:
        if isinstance(error, Withheld) and error.name in exercise.withholds:
            return Verdict(0.0, write_it_yourself(error.name), "wrong", error.reason)
        return Verdict(0.0, f"{self._called(args)} fails: {quoted(str(error), 200)}.", "wrong", error.reason)

    def _wrong(self, exercise: Exercise, got: list, wanted: list, right: list[bool], call: Call) -> Verdict:
        said = [
            m.say
            for m in exercise.mistakes
            if all(equal(g, w, self.rtol) for g, w in zip(got, self.outputs(exercise, m.value), strict=True))
        ]
        if said:
            return Verdict(0.0, " ".join(dict.fromkeys(said)), "mistake")
        index = right.index(False)
        args, mine, want = self.inputs(exercise)[index], got[index], wanted[index]
        if slip := self._slip(got, wanted):
            return Verdict(0.0, slip.say, "slip", slip.reason)
        if self.units and (dimension := self._wrong_dimension(call, args)):
            return Verdict(0.0, f"{dimension.say[0].upper()}{dimension.say[1:]}.", "unit", dimension.reason)
        say, reason = f"{self._called(args)} gives {quoted(self._shown(mine))}", "wrong-value"
        if kind := kinds(mine, want):
            say, reason = f"{say}, {kind.say}", kind.reason
        elif not callable(self.cases):
            say += f"; {quoted(self._shown(want))} was expected"
        elif all(equal(g, w, NEARLY) for g, w in zip(got, wanted, strict=True)):
            say += ", which is very close, but not exact: is something rounded, or a small term missing?"
            reason = "nearly-right"
        else:
            say += ", which is not right"
        say += "" if say.endswith("?") else "."
        count = f" ({sum(right)} of {len(right)} cases are right.)" if any(right) else ""
        hint = f" A hint: {exercise.hints[0]}" if exercise.hints else ""
        return Verdict(0.0, f"{say}{count}{hint}", "wrong", reason)

    def _wrong_dimension(self, call: Call, args: tuple) -> Finding | None:
        try:
            return wrong_dimension(call, args, self.units, self.unit or "1")
        except AnswerError:
            return None

    def _slip(self, got: list, wanted: list) -> slips.Slip | None:
        try:
            found = {
                slips.find(number(g), number(w), self.rtol, self.unit or "1")
                for g, w in zip(got, wanted, strict=True)
                if number(w)
            }
        except Unreadable:
            return None
        return found.pop() if len(found) == 1 else None

    def _called(self, args: tuple) -> str:
        return quoted(f"{self.name}({', '.join(_text(a) for a in args)})", 120)

    def _shown(self, value: Any) -> str:
        if self.unit and type(value) in (int, float):
            from hwlib.units import show

            return show(as_float(number(value)) if type(value) is int else value, self.unit)
        return _text(value)


def _text(value: Any) -> str:
    """A value of plain data, short."""
    if is_array(value):
        return f"array of shape {value.shape}" if value.size > 8 else f"array({value.tolist()})"
    if type(value) is float:
        return f"{value:.10g}"
    if type(value) is int and value.bit_length() > 200:
        return f"an integer of {value.bit_length()} bits"
    if type(value) is tuple and len(value) == 1:
        return f"({_text(value[0])},)"
    if type(value) in (list, tuple):
        inner = ", ".join(_text(v) for v in value[:12]) + (", …" if len(value) > 12 else "")
        return f"[{inner}]" if type(value) is list else f"({inner})"
    if type(value) is dict:
        pairs = [f"{_text(k)}: {_text(v)}" for k, v in list(value.items())[:12]]
        return "{" + ", ".join(pairs) + (", …" if len(value) > 12 else "") + "}"
    if type(value) is Fraction:
        return f"{as_float(value):.10g}"
    if isinstance(value, encoding.Callable):
        return f"the function {value.name}"
    known = (int, str, bool, complex, type(None))
    return repr(value)[:200] if type(value) in known else encoding.type_name(value)
