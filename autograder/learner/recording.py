"""What `check` and `grade` write into the progress file: never where work is graded, nor at the cost of a verdict."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from typing import Any

from ..declaration.verdict import Verdict
from .progress import Progress
from .record import MOST_MISTAKES

GRADING = ("NBGRADER_EXECUTION", "GPUBOOK_GRADING")  # set where a submission runs


def remember(public: Mapping[str, Any], verdict: Verdict, source: str) -> None:
    """Record an attempt at an exercise, given by its public record; where nothing can be written, nothing is."""
    if any(os.environ.get(name) for name in GRADING):
        return
    with contextlib.suppress(OSError, ValueError):
        Progress.here().attempt(public["id"], source, told(verdict, public["points"]))


def told(verdict: Verdict, points: float) -> dict[str, Any]:
    """A verdict as the record has it, its sentence as HTML, for an exercise of so many points."""
    from ..values.inline_html import inline_html

    score = min(max(float(verdict.score), 0.0), 1.0)
    return {
        "say": str(inline_html(verdict.say)),
        "kind": verdict.kind,
        "reason": verdict.reason,
        "score": score,
        "points": round(score * float(points), 9),
        "mistakes": list(verdict.mistakes)[:MOST_MISTAKES],
        **({"wants_hint": True} if verdict.wants_hint else {}),
    }
