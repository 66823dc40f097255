"""What a notebook of the book calls: `card`, `check`, `exercise`, `given`, `grade`, `hint`, `progress` and more.

The verbs read declarations (the key) where `solutions/` is at hand, and otherwise the `exercises.json` beside
the notebook, which holds prompts, numbers and hints but no solution: then an answer is recorded, not judged.
Importing this loads neither numpy, sympy, torch nor nbgrader.
"""

from .learner.exercise_widget import card
from .learner.overview import progress
from .learner.verbs import check, exercise, given, grade, hint, how_to_answer, reveal, solution, symbols

__all__ = [
    "card",
    "check",
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
