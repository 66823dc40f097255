"""Late penalties: the rule of this package, and those of a course computed again."""

from __future__ import annotations

import logging
import math
from datetime import timedelta
from pathlib import Path
from typing import Any

from nbformat.v4 import new_notebook
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties
from traitlets import Float

from ..gradebook_url import opened
from ..layout import read_config
from .course_database import url_of
from .learner_scores import scores

DAY = 86400


class LatePerDay(LateSubmissionPlugin):
    """Takes a fraction of the score for each day begun after the deadline, all of it at most.

    For `c.AssignLatePenalties.plugin_class`; nbgrader's own plugin knows only none of the score and all of it.
    """

    fraction = Float(0.1, min=0.0, max=1.0, help="Of the score, for each day begun.").tag(config=True)
    grace = Float(0.0, min=0.0, help="Minutes after the deadline that cost nothing.").tag(config=True)

    def late_submission_penalty(self, student_id, score, total_seconds_late):  # noqa: ARG002
        """The points to take away, between 0 and the score."""
        late = total_seconds_late - 60 * self.grace
        days = math.ceil(late / DAY) if late > 0 else 0
        return score * min(1.0, self.fraction * days)


def late_period(config: Any) -> timedelta | None:
    """How long after its deadline work is still worth something by the course's penalties; None: for ever.

    A course without penalties of ours has no such period: work is in time, or is the teacher's to decide about.
    """
    if not issubclass(AssignLatePenalties(config=config, log=_quiet()).plugin_class, LatePerDay):
        return timedelta()
    penalty = LatePerDay(config=config)
    if penalty.fraction == 0:
        return None
    return timedelta(days=math.ceil(1 / penalty.fraction) - 1, minutes=penalty.grace)


def _quiet() -> logging.Logger:
    """A log for nbgrader, which warns of every penalty."""
    quiet = logging.getLogger("gpubook.late")
    quiet.addHandler(logging.NullHandler())
    quiet.propagate = False
    return quiet


def update_late_penalties(folder: Path | str, name: str) -> list[tuple[str, float]]:
    """Recompute the late penalties of an assignment, and return the points that each learner loses.

    nbgrader computes them while it grades, from the score and the deadline of that moment: grades given by hand and
    extensions come later.
    """
    folder = Path(folder).resolve()
    config, db_url = read_config(folder), url_of(folder)
    concerned = {s.person.id for s in scores(folder, [name])[name] if s.late or s.late_penalty}
    with opened(db_url) as gradebook:
        submissions = [s for s in gradebook.assignment_submissions(name) if s.student_id in concerned]
        todo = [(s.student_id, notebook.name) for s in submissions for notebook in s.notebooks]
    for learner, notebook in todo:
        about = {"assignment": name, "student": learner, "notebook": notebook, "db_url": db_url}
        AssignLatePenalties(config=config, log=_quiet()).preprocess(new_notebook(), {"nbgrader": about})
    return [(s.person.id, s.late_penalty) for s in scores(folder, [name])[name] if s.late_penalty]
