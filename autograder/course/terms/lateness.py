"""What a late penalty follows from, beside the notebook: kept with a grade, so that a run can tell whether it holds."""

from dataclasses import dataclass
from typing import Any, Self

DIGITS = 9  # of the points: a sum of floats is not the same in every order


@dataclass(frozen=True)
class Lateness:
    """How late a submission counts as: the time that counts, as `timestamp.txt` has it ("" where none does), whether it
    counts only by a teacher's trust, until when the learner had time (UTC, "" without a deadline), and the points lost.

    The rule of the course is in these points: another rule that takes the same changes nothing.
    """

    submitted: str = ""
    trusted: bool = False
    due: str = ""
    penalty: float = 0.0

    def __post_init__(self):
        object.__setattr__(self, "penalty", round(float(self.penalty), DIGITS))

    @classmethod
    def of(cls, plain: dict[str, Any] | None) -> Self | None:
        """From JSON; None of an earlier version, which kept none."""
        return None if plain is None else cls(**plain)

    def reasons(self, before: "Lateness") -> str:
        """Why another penalty follows than before."""
        time = "trust in its time" if self.trusted != before.trusted else "time of submission"
        reasons = [time] * (self.submitted != before.submitted) + ["deadline or extension"] * (self.due != before.due)
        return ", ".join(reasons or ["late rule or points"])
