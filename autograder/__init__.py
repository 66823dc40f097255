"""What a notebook of the book calls: `card`, `check`, `exercise`, `given`, `grade`, `hint`, `progress` and more.

The verbs read declarations (the key) where `solutions/` is at hand, and otherwise the `exercises.json` beside
the notebook, which holds prompts, numbers and hints but no solution: then an answer is recorded, not judged.
They load when first used, which the commands of `gpubook` do without, and load neither numpy, sympy, torch nor
nbgrader.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .learner.exam_sitting import exam
    from .learner.exercise_widget import card
    from .learner.overview import progress
    from .learner.verbs import check, exercise, given, grade, hint, how_to_answer, reveal, solution, symbols

_HOME = {
    "autograder.learner.exam_sitting": "exam",
    "autograder.learner.exercise_widget": "card",
    "autograder.learner.overview": "progress",
    "autograder.learner.verbs": "check exercise given grade hint how_to_answer reveal solution symbols",
}
_MODULE = {name: module for module, names in _HOME.items() for name in names.split()}

__all__ = [
    "card",
    "check",
    "exam",
    "exercise",
    "given",
    "grade",
    "hint",
    "how_to_answer",
    "progress",
    "reveal",
    "solution",
    "symbols",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE:
        raise AttributeError(f"autograder has no {name!r}")
    return getattr(import_module(_MODULE[name]), name)
