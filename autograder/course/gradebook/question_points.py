"""The points of an assignment by question, as the gradebook has them: grades by hand and extra credit included."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from nbgrader.api import Assignment, BaseCell, Grade, GradeCell, Notebook, SubmittedAssignment, SubmittedNotebook

from ..gradebook_url import opened
from ..spreadsheet import inert, number
from . import cell_texts, url_of

GRADE = "-grade"  # the end of a grade cell's name; a written answer is its own grade cell


@dataclass(frozen=True)
class QuestionPoints:
    """Of one assignment: the most that each question gives, in the notebook's order, and what each learner has.

    A learner has a number for each question, which add up to the gradebook's raw score; None where a teacher has
    still to grade the answer.
    """

    most: dict[str, float]
    of: dict[str, dict[str, float | None]] = field(default_factory=dict)

    def title(self, question: str) -> str:
        """The head of the question's column: "rooflines-ridge (2 points)"."""
        most = self.most[question]
        return inert(f"{question} ({number(most)} point{'' if most == 1 else 's'})")

    def cells(self, learner: str, blank: str = "") -> dict[str, str]:
        """By the head of a column, what stands in it for this learner; `blank` where nothing was submitted."""
        theirs = self.of.get(learner)
        if theirs is None:
            return {self.title(question): blank for question in self.most}
        points = {question: theirs.get(question) for question in self.most}
        return {self.title(name): "" if value is None else number(value) for name, value in points.items()}


def by_question(folder: Path | str, name: str) -> QuestionPoints:
    """The points of the assignment `name` of a course, in two queries."""
    folder = Path(folder).resolve()
    with opened(url_of(folder)) as gradebook:
        query = gradebook.db.query(GradeCell.name, GradeCell.max_score).join(Notebook, GradeCell.notebook)
        most = {cell: float(points) for cell, points in query.join(Assignment).filter(Assignment.name == name)}
        rows = gradebook.db.query(
            SubmittedAssignment.student_id, BaseCell.name, Grade.score, Grade.manual_score, Grade.needs_manual_grade
        )
        rows = rows.select_from(Grade).join(Grade.cell).join(Grade.notebook).join(SubmittedNotebook.assignment)
        graded = rows.join(SubmittedAssignment.assignment).filter(Assignment.name == name).all()
    order = {cell: at for at, cell in enumerate(cell_texts(folder / "release" / name / f"{name}.ipynb"))}
    cells = sorted(most, key=lambda cell: (order.get(cell, len(order)), cell))
    made = QuestionPoints({cell.removesuffix(GRADE): most[cell] for cell in cells})
    for learner, cell, score, by_hand, waits in graded:
        open_still = waits and by_hand is None and not score
        made.of.setdefault(learner, {})[cell.removesuffix(GRADE)] = None if open_still else float(score)
    return made
