"""What every kind of answer does, and how a number is read out of plain data."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from . import plain
from .declaration import Verdict, call_with
from .prompts import quoted

if TYPE_CHECKING:
    from .declaration import Exercise, Given


Call = Callable[[tuple], Any]


class Unreadable(ValueError):
    """An answer that cannot be taken for one; the message is for the learner. `kind` is the verdict's."""

    def __init__(self, say: str, kind: str = "unreadable"):
        super().__init__(say)
        self.kind = kind


class Answer:
    """What every kind of answer does for an exercise."""

    answer_name: Any = "answer"
    predictable: ClassVar[bool] = False
    in_ranks: ClassVar[bool] = False  # whether `call` asks ranks, each in a process of its own
    plays: ClassVar[str] = ""  # what a rank is then: a "generator" or a function for "torch.distributed"

    def declare(self, exercise: Exercise) -> None:
        """Raise DeclarationError where the exercise does not fit its answer kind."""

    def public(self) -> dict[str, Any]:
        """What of it learners may see, as JSON."""
        return {}

    def stub(self, exercise: Exercise) -> str:
        """The answer cell before an answer."""
        return f"answer = ...  # {exercise.size}"

    def expected(self, exercise: Exercise, given: Given) -> Any:
        """The solution for these numbers."""
        return call_with(exercise.solution, given)

    def collisions(self, exercise: Exercise, given: Given) -> list[str]:  # noqa: ARG002
        """What two wrong answers are not told apart with these numbers."""
        return []

    def local_call(self, value: Any, withholds: Sequence[str] = ()) -> Call | None:  # noqa: ARG002
        """The `call` for `judge` that runs a learner's function in this process; None where nothing is called."""
        return None

    def declared_call(self, value: Any) -> Call | None:
        """The same for a solution or mistake of the declaration."""
        return self.local_call(value)

    def readable(self, value: Any) -> str:
        """Say back what was understood, or raise Unreadable; needs no key."""
        raise NotImplementedError

    def judge(self, exercise: Exercise, value: Any, given: Given, call: Call | None = None) -> Verdict:
        """The verdict on plain data."""
        raise NotImplementedError


def number(value: Any) -> Fraction:
    """A number of plain data, exactly; Unreadable for whatever is not one, and for nan and infinity."""
    kind = type(value)
    if kind is bool:
        raise Unreadable(f"{value} is a truth value; a number was expected")
    if kind in (int, Fraction):
        return Fraction(value)
    if kind is float:
        if not math.isfinite(value):
            raise Unreadable(f"{value} is not a number to compare; a finite one was expected")
        return Fraction(value)
    if kind is complex:
        if value.imag:
            raise Unreadable("a complex number; a real one was expected")
        return number(value.real)
    if kind.__name__ == "ndarray" and kind.__module__ == "numpy":
        if value.size != 1:
            raise Unreadable(f"an array of {value.size} numbers; one number was expected")
        return number(value.reshape(-1)[0].item())
    if kind.__name__ == "Tree":
        from .evaluation import constant
        from .trees import TreeError

        try:
            return constant(value)
        except TreeError as error:
            raise Unreadable(str(error)) from None
    if kind is plain.Callable:
        raise Unreadable(f"{quoted(value.name)} is a function; a number was expected (was it called?)")
    raise Unreadable(f"{described(value)}; a number was expected")


NAMES = {
    "int": "a number", "float": "a number", "Fraction": "a number", "complex": "a complex number",
    "str": "a text", "bool": "a truth value", "NoneType": "nothing (None)", "ndarray": "an array",
    "Tree": "an expression", "Callable": "a function", "ellipsis": "no answer (...)",
}  # fmt: skip


def named(value: Any) -> str:
    """The kind of a value of plain data, for a sentence: "a number", "a list"."""
    name = plain.type_name(value)
    return NAMES.get(name, f"a {name}")


def described(value: Any) -> str:
    """`named`, with a text quoted: "a list", "a text `...`"."""
    return f"{named(value)} {quoted(value)}" if type(value) is str else named(value)


def as_float(value: Fraction) -> float:
    """The nearest float; infinite where there is none."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
