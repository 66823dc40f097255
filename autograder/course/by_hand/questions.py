"""The questions of an assignment that a teacher grades: prompt, rubric, model answer, as they are declared now."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...book.course_error import CourseError
from ...declaration.exercise import Exercise
from ...grading.restore import grade_cell
from ..banks import bank_of, checked_name
from ..layout import read_config, released

Rubric = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class WrittenQuestion:
    """A written exercise of an assignment, and the cell of its notebook that holds the answers.

    `shown`: the criteria that learners read in their release; `variants`: whether learners have numbers of their own.
    """

    assignment: str
    exercise: str
    cell: str
    title: str
    prompt: str
    rubric: Rubric
    max_score: float
    shown: frozenset[str]
    declared: Exercise
    variants: bool = False

    def model_answer(self, owner: str | None = None) -> str:
        """The model answer in Markdown, with the book's numbers or those of `owner`, and why it is so."""
        numbers = self.declared.variant(owner if self.has_own_numbers else None)
        why = self.declared.fill(self.declared.explain, numbers)
        return "\n\n".join(part for part in (self.declared.answer.expected(self.declared, numbers), why) if part)

    @property
    def has_own_numbers(self) -> bool:
        """Whether each learner has a model answer of their own."""
        return self.variants and bool(self.declared.given)

    @property
    def hidden(self) -> bool:
        """Whether learners do not know what the points are for."""
        return not all(criterion in self.shown for criterion, _ in self.rubric)

    @property
    def scale(self) -> float:
        """What a point of the rubric is worth: an assignment may give an exercise other points than the rubric's."""
        return self.max_score / sum(points for _, points in self.rubric)


@dataclass(frozen=True)
class _Cells:
    prompt: str = ""
    number: str = ""
    answer: Mapping[str, Any] = field(default_factory=dict)


def questions(folder: Path | str, name: str) -> list[WrittenQuestion]:
    """The written exercises of the assignment `name`, in its order; CourseError where it was never released."""
    import nbformat

    folder, name = Path(folder).resolve(), checked_name(name)
    variants = bool(read_config(folder).GradeInSandbox.get("variants", False))
    released(folder, name)
    path = folder / "source" / name / f"{name}.ipynb"
    if not path.is_file():
        raise CourseError(f"{path} is missing; the instructor's notebook was expected there")
    source = nbformat.read(path, as_version=4)
    cells_of = _written(source)
    if not cells_of:
        return []
    bank = bank_of(folder, source, path)
    made = []
    for exercise, cells in cells_of.items():
        declared = bank.get(exercise)
        if declared is None or not (rubric := declared.answer.graded_by()):
            continue
        own, title = cells.answer["nbgrader"], declared.title or exercise
        if not own["points"]:  # dropped: it counts for nobody
            continue
        made.append(
            WrittenQuestion(
                name,
                exercise,
                own["grade_id"],
                f"{cells.number} · {title}" if cells.number else title,
                cells.prompt,
                rubric,
                float(own["points"]),
                shown_criteria(folder, name, exercise),
                declared,
                variants,
            )
        )
    return made


def question(folder: Path | str, name: str, exercise: str) -> WrittenQuestion:
    """One of them; CourseError lists what the assignment asks in words."""
    every = questions(folder, name)
    for candidate in every:
        if candidate.exercise == exercise:
            return candidate
    known = ", ".join(candidate.exercise for candidate in every) or "none"
    raise CourseError(f"{name} has no written exercise {exercise!r}; it has {known}")


def shown_criteria(folder: Path, name: str, exercise: str) -> frozenset[str]:
    """The criteria of an exercise that stand in the release of an assignment: what its learners read anyway."""
    try:
        public = json.loads((folder / "release" / name / "exercises.json").read_text(encoding="utf-8"))
        return frozenset(criterion for criterion, _ in public["exercises"][exercise]["rubric"])
    except (OSError, ValueError, LookupError, TypeError, RecursionError):  # of another make: nothing is known of it
        return frozenset()


def assignments(folder: Path | str) -> list[str]:
    """What was released in a course, by name."""
    names = (path.parent.name for path in (Path(folder) / "release").glob("*/*.ipynb") if path.stem == path.parent.name)
    return sorted(names)


def _written(source: Any) -> dict[str, _Cells]:
    """The cells of each exercise whose answer is graded by hand."""
    prompts: dict[str, tuple[str, str]] = {}
    cells_of: dict[str, _Cells] = {}
    for cell in source.cells:
        own = cell.metadata.get("gpubook", {})
        if own.get("part") == "prompt":
            prompts[own.get("exercise", "")] = (cell.source, str(own.get("number", "")))
        role = grade_cell(cell)
        if role is not None and role.part == "written":
            prompt, number = prompts.get(role.exercise, ("", ""))
            cells_of[role.exercise] = _Cells(prompt, number, cell.metadata)
    return cells_of
