"""A course's gradebook, through nbgrader's own API: scores, late penalties, points by question.

Nothing here runs or judges anything.
"""

from .course_database import deadlines, due_date, names_with_deadline, set_due, url_of
from .late_penalties import (
    DaysToSpend,
    LatePerDay,
    days_to_spend,
    late_period,
    late_rule,
    update_late_penalties,
)
from .learner_scores import (
    AssignmentScore,
    GradebookLearner,
    by_hand,
    full_name,
    learners,
    scores,
    waiting,
    waiting_by_cell,
)
from .notebook_cells import cell_texts

__all__ = [
    "AssignmentScore",
    "DaysToSpend",
    "GradebookLearner",
    "LatePerDay",
    "by_hand",
    "cell_texts",
    "days_to_spend",
    "deadlines",
    "due_date",
    "full_name",
    "late_period",
    "late_rule",
    "learners",
    "names_with_deadline",
    "scores",
    "set_due",
    "update_late_penalties",
    "url_of",
    "waiting",
    "waiting_by_cell",
]  # fmt: skip
