"""A course in nbgrader's own layout.

nbgrader releases, keeps the gradebook, late penalties and manual grades, and writes the feedback. Running the code of
a learner and deciding on it is ours: see `autograder.grading`. With `book.release` this package is all that imports
nbgrader.
"""

from ..book.release import CourseError, release
from .layout import FOLDERS, init
from .operations import assign, drop, grade, results, show_feedback
from .steps import AUTOGRADE, SANITIZE, GradeInSandbox, configure

__all__ = [
    "AUTOGRADE", "FOLDERS", "SANITIZE", "CourseError", "GradeInSandbox", "assign", "configure", "drop", "grade", "init",
    "release", "results", "show_feedback",
]  # fmt: skip
