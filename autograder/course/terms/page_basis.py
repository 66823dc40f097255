"""What stands in a learner's files beside verdicts and lateness: kept with a grade, so that a run can tell whether they
are still as the gradebook and the submission have it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

HandGrade = tuple[float | None, float | None, bool, str]  # points, extra credit, whether it waits, comment


@dataclass(frozen=True)
class PageBasis:
    """What a teacher gave by hand, by cell, and the digest of the `files` beside the notebook."""

    by_hand: Mapping[str, HandGrade] = field(default_factory=dict)
    files: str = ""

    @classmethod
    def of(cls, plain: dict[str, Any] | None) -> Self | None:
        """From JSON; None of an earlier version, which kept none."""
        if plain is None:
            return None
        return cls({cell: _hand_grade(*row) for cell, row in plain["by_hand"].items()}, plain["files"])

    def differences(self, before: "PageBasis") -> list[tuple[str, str]]:
        """What is another than before: a cell or "files", and from what to what."""
        cells = sorted(self.by_hand.keys() | before.by_hand.keys())
        rows = [(cell, before.by_hand.get(cell), self.by_hand.get(cell)) for cell in cells]
        changed = [(cell, f"by hand: {_shown(was)} → {_shown(now)}") for cell, was, now in rows if was != now]
        return changed + [("files", "other files beside the notebook")] * (self.files != before.files)


def _hand_grade(points: float | None, extra: float | None, waits: bool, comment: str) -> HandGrade:
    return points, extra, waits, comment


def _shown(grade: HandGrade | None) -> str:
    if grade is None:
        return "nothing"
    points, extra, waits, comment = grade
    parts = [] if points is None else [f"{points:g}"]
    if extra:
        parts.append(f"{extra:g} extra")
    if comment:
        parts.append("a comment")
    return " and ".join(parts) + " to be looked at again" * waits
