"""What every kind of answer does, and how a number is read out of plain data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from .given import Given, call_with
from .verdict import Verdict

if TYPE_CHECKING:
    from .exercise import Exercise


Call = Callable[[tuple], Any]


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


def other_variant() -> Verdict:
    """The verdict on an answer that is right for another learner's numbers."""
    return Verdict(
        0.0,
        "That is right for other numbers than yours: compute with the numbers of your own prompt.",
        "variant",
    )


def not_yet(exercise: Exercise) -> str:
    """What a wrong answer is told of which nothing more is known: the first hint."""
    return "Not yet." + (f" A hint: {exercise.hints[0]}" if exercise.hints else "")
