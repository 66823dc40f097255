"""Late penalties: the rule of this package, and those of a course computed again."""

from __future__ import annotations

import itertools
import logging
import math
from datetime import timedelta
from pathlib import Path
from typing import Any

from nbformat.v4 import new_notebook
from nbgrader.api import Assignment, SubmittedAssignment
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy import and_
from traitlets import Float

from ..gradebook_url import opened
from ..layout import read_config
from .course_database import names_with_deadline, url_of
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
        return score * min(1.0, self.fraction * self.days_begun(total_seconds_late))

    def days_begun(self, seconds_late: float) -> int:
        """The days after the deadline that have begun, the grace left out."""
        late = seconds_late - 60 * self.grace
        return math.ceil(late / DAY) if late > 0 else 0


class DaysToSpend(LatePerDay):
    """Gives each learner some days to spend over the term, and takes what `LatePerDay` takes for each day beyond them.

    They are spent in the order of the deadlines, each assignment taking as many as it is late, so that what is spent
    does not depend on the order in which assignments are graded.
    """

    days = Float(5.0, min=0.0, help="Days that each learner may be late in all, over the term.").tag(config=True)

    def late_submission_penalty(self, student_id, score, total_seconds_late):
        """The points to take away, between 0 and the score."""
        late = self.days_begun(total_seconds_late)
        beyond = max(0.0, late - self._left(student_id)) if late else 0.0
        return score * min(1.0, self.fraction * beyond)

    def _left(self, learner: str) -> float:
        """The days that the assignments with an earlier deadline have left to a learner."""
        spent = self.spent(getattr(self.parent, "db_url", ""), learner)
        earlier = itertools.takewhile(lambda item: item[0] != getattr(self.parent, "assignment_id", ""), spent.items())
        return self.days - sum(days for _, days in earlier)

    def spent(self, db_url: str, learner: str) -> dict[str, float]:
        """By assignment with a deadline, in the order of these, the days that a learner spends on it."""
        left, spent = self.days, dict[str, float]()
        for name, seconds in _seconds_late(db_url, learner):
            spent[name] = min(left, self.days_begun(seconds))
            left -= spent[name]
        return spent


def _seconds_late(db_url: str, learner: str) -> list[tuple[str, float]]:
    """By how many seconds a learner's submissions are late, by assignment, in the order of the deadlines."""
    with opened(db_url) as gradebook:
        query = gradebook.db.query(Assignment.name, Assignment.duedate, SubmittedAssignment)
        query = query.outerjoin(
            SubmittedAssignment,
            and_(SubmittedAssignment.assignment_id == Assignment.id, SubmittedAssignment.student_id == learner),
        )
        rows = query.filter(Assignment.duedate.isnot(None)).order_by(Assignment.duedate, Assignment.name)
        return [(name, getattr(submitted, "total_seconds_late", 0.0)) for name, _, submitted in rows]


def days_to_spend(config: Any) -> DaysToSpend | None:
    """The course's rule, where it gives days to spend."""
    is_it = issubclass(AssignLatePenalties(config=config, log=_quiet()).plugin_class, DaysToSpend)
    return DaysToSpend(config=config) if is_it else None


def late_period(config: Any) -> timedelta | None:
    """How long after its deadline work is still worth something by the course's penalties; None: for ever.

    A course without penalties of ours has no such period: work is in time, or is the teacher's to decide about.
    """
    if not issubclass(AssignLatePenalties(config=config, log=_quiet()).plugin_class, LatePerDay):
        return timedelta()
    penalty = days_to_spend(config) or LatePerDay(config=config)
    if penalty.fraction == 0:
        return None
    days = math.ceil(1 / penalty.fraction) - 1 + getattr(penalty, "days", 0.0)
    return timedelta(days=days, minutes=penalty.grace)


def late_rule(config: Any) -> str:
    """The rule for late work of a course's configuration, in a word and its settings."""
    plugin = AssignLatePenalties(config=config, log=_quiet()).plugin_class
    if not issubclass(plugin, LatePerDay):
        own = getattr(config, plugin.__name__, {})
        return ", ".join([plugin.__name__, *(f"{name} {value}" for name, value in sorted(own.items()))])
    rule = plugin(config=config)
    days = f", days {rule.days:g}" if isinstance(rule, DaysToSpend) else ""
    return f"{plugin.__name__}, fraction {rule.fraction:g}, grace {rule.grace:g}{days}"


def _quiet() -> logging.Logger:
    """A log for nbgrader, which warns of every penalty."""
    quiet = logging.getLogger("gpubook.late")
    quiet.addHandler(logging.NullHandler())
    quiet.propagate = False
    return quiet


def update_late_penalties(folder: Path | str, name: str) -> list[tuple[str, float]]:
    """Recompute the late penalties of an assignment, and return the points that each learner loses.

    nbgrader computes them while it grades, from the score and the deadline of that moment: grades given by hand and
    extensions come later. Where learners have days to spend, what they spend on one assignment is missing in the next,
    so those with a later deadline follow.
    """
    folder = Path(folder).resolve()
    config, db_url = read_config(folder), url_of(folder)
    for later in _with_later_deadline(db_url, name) if days_to_spend(config) else ():
        _update(folder, later, config, db_url)
    return _update(folder, name, config, db_url)


def _with_later_deadline(db_url: str, name: str) -> list[str]:
    names = names_with_deadline(db_url)
    return names[names.index(name) + 1 :] if name in names else []


def _update(folder: Path, name: str, config: Any, db_url: str) -> list[tuple[str, float]]:
    concerned = {s.person.id for s in scores(folder, [name])[name] if s.late or s.late_penalty}
    with opened(db_url) as gradebook:
        submissions = [s for s in gradebook.assignment_submissions(name) if s.student_id in concerned]
        todo = [(s.student_id, notebook.name) for s in submissions for notebook in s.notebooks]
    for learner, notebook in todo:
        about = {"assignment": name, "student": learner, "notebook": notebook, "db_url": db_url}
        AssignLatePenalties(config=config, log=_quiet()).preprocess(new_notebook(), {"nbgrader": about})
    return [(s.person.id, s.late_penalty) for s in scores(folder, [name])[name] if s.late_penalty]
