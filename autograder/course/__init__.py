"""A course in nbgrader's own layout.

nbgrader releases, keeps the gradebook, late penalties and manual grades, and writes the feedback. Running a learner's
code and deciding on it is ours: see `autograder.grading`. Apart from `book.release` only this package imports nbgrader.

Its rooms, from below: `terms`, `gradebook`, `class_results`, `feedback`, `moodle`, `regrades`, `by_hand`,
`submissions`, `intake`, `run`, `agreements`, `report`, `service`, `assigning`. `class_grading`,
above them, grades a class.

The names below load when first used: laying out a course or naming an assignment takes none of nbgrader's two seconds.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..book.course_error import CourseError
    from ..book.source.release import release
    from .assigning.assign_and_drop import assign, drop, full_marks
    from .class_grading import grade, show_feedback
    from .class_results.stored_results import results
    from .layout import FOLDERS, init
    from .run.nbgrader_steps import AUTOGRADE, SANITIZE, GradeInSandbox, configure

_HOME = {
    "autograder.book.course_error": "CourseError",
    "autograder.book.source.release": "release",
    "autograder.course.assigning.assign_and_drop": "assign drop full_marks",
    "autograder.course.layout": "FOLDERS init",
    "autograder.course.class_grading": "grade show_feedback",
    "autograder.course.run.nbgrader_steps": "AUTOGRADE SANITIZE GradeInSandbox configure",
    "autograder.course.class_results.stored_results": "results",
}
_MODULE = {name: module for module, names in _HOME.items() for name in names.split()}

__all__ = [
    "AUTOGRADE", "FOLDERS", "SANITIZE", "CourseError", "GradeInSandbox", "assign", "configure", "drop", "full_marks",
    "grade", "init", "release", "results", "show_feedback",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _MODULE:
        raise AttributeError(f"autograder.course has no {name!r}")
    return getattr(import_module(_MODULE[name]), name)
