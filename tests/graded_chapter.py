"""The course of the sample class, laid out and graded in a process that grades many: they share a zygote."""

import functools
from pathlib import Path

from nbgrader import api

from autograder import course
from autograder.grading import worker
from autograder.sandbox import Zygote
from tests.autograder.tiny import Lent
from tests.sample_class.layout import lay_out


def begin() -> None:
    """Have the courses of this process share what takes seconds to make: the zygote, and the schema of a gradebook."""
    shared = Lent(Zygote())
    worker.Zygote = lambda: shared  # type: ignore[assignment, misc]
    api.get_alembic_version = functools.cache(api.get_alembic_version)


def grade(folder: Path, learners: tuple[str, ...], chapter: str) -> None:
    """Grade what these learners submit to a chapter."""
    course.grade(lay_out(folder / "course", learners, chapter), chapter)
