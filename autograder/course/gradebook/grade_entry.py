"""A learner's grades in one transaction: the one place that is tied to the internals of nbgrader 0.9.6.

nbgrader's own steps open the gradebook again for each step and commit for each cell: slow, and where they are killed a
learner is half entered. Here the same rows are written, all of them or none. The price, to be paid with each new
version of nbgrader, which `pyproject.toml` pins for that reason:

- `JoinedGradebook` is made without `Gradebook.__init__`, and sets the attributes that the methods of `Gradebook` use;
- `_enter` repeats what `SaveAutoGrades` does, `_penalize` what `AssignLatePenalties`, and `_show` what `GetGrades`.

`test_two_runs_and_nbgrader_itself_give_the_same` compares every row with those of nbgrader's own commands.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    InvalidEntry,
    MissingEntry,
    SubmittedAssignment,
    SubmittedNotebook,
)
from nbgrader.preprocessors import AssignLatePenalties
from nbgrader.utils import compute_checksum, determine_grade, is_grade, is_solution, is_task
from sqlalchemy import create_engine, select
from sqlalchemy.engine import Connection
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session, joinedload
from traitlets.config import Config

from ...book.course_error import CourseError
from ...grading.attachments import text_with_pictures
from ...grading.restore import grade_cell
from ..gradebook_url import first_line, location, of_database, opened
from ..terms.page_basis import HandGrade

PATIENCE = 30.0  # seconds to wait for a database that another program has locked


class JoinedGradebook(Gradebook):
    """nbgrader's gradebook in a transaction of ours: what it commits is there once ours is."""

    def __init__(self, connection: Connection):
        self.engine, self.course_id, self.authenticator = connection.engine, "default_course", None
        self.db: Any = Session(connection, join_transaction_mode="rollback_only", expire_on_commit=False)


class GradeEntry:
    """Enters the grades of the assignment `name` into the gradebook at `url`; `close` it in the end.

    Raises CourseError where the gradebook does not have the assignment, or cannot be used.
    """

    def __init__(self, folder: Path, name: str, url: str, config: Config, log: logging.Logger):
        self.folder, self.name, self.url, self.log = folder, name, url, log
        late = AssignLatePenalties(config=config, log=log)
        late.assignment_id, late.db_url = name, url  # which a rule over the term looks at
        self.penalties: Any = late.plugin_class(parent=late)
        with opened(url) as gradebook:
            try:
                gradebook.find_assignment(name)
            except MissingEntry:
                problem = f"{location(url)} has no assignment {name!r}; `gpubook course assign` enters it"
                raise CourseError(problem) from None
        waits = {"timeout": PATIENCE} if url.startswith("sqlite") else {}
        self.engine = create_engine(url, connect_args=waits)

    def close(self) -> None:
        self.engine.dispose()

    def learners(self) -> set[str]:
        """Those with a submission in the gradebook."""
        with self._transaction() as gradebook:
            query = select(SubmittedAssignment.student_id).join(Assignment).where(Assignment.name == self.name)
            return set(gradebook.db.execute(query).scalars())

    def hand_grades(self, learner: str = "") -> dict[str, dict[str, HandGrade]]:
        """What a teacher gave and said by hand, by learner and cell: of one learner, or of everybody."""
        by_hand: dict[str, dict[str, HandGrade]] = {}
        with self._transaction() as gradebook:

            def ask(*columns: Any) -> Any:
                rows = gradebook.db.query(SubmittedAssignment.student_id, BaseCell.name, *columns)
                rows = rows.select_from(SubmittedAssignment).join(SubmittedAssignment.assignment)
                rows = rows.join(SubmittedAssignment.notebooks).filter(Assignment.name == self.name)
                return rows.filter(SubmittedAssignment.student_id == learner) if learner else rows

            grades = ask(Grade.manual_score, Grade.extra_credit, Grade.needs_manual_grade)
            for who, cell, points, extra, waits in grades.join(SubmittedNotebook.grades).join(Grade.cell):
                if points is not None or extra:
                    by_hand.setdefault(who, {})[cell] = points, extra, bool(waits), ""
            comments = ask(Comment.manual_comment).join(SubmittedNotebook.comments).join(Comment.cell)
            for who, cell, comment in comments:
                if comment:
                    points, extra, waits, _ = by_hand.get(who, {}).get(cell, (None, None, False, ""))
                    by_hand.setdefault(who, {})[cell] = points, extra, waits, comment
        return by_hand

    def enter(
        self, learner: str, nb: Any, former: Callable[[], Mapping[str, str]], **submission: Any
    ) -> dict[str, Any]:
        """Enter what was graded in `nb`, and write into its cells what feedback shows; returns the notebook's scores.

        `former`: gives the texts of the notebook that was graded before, by cell. `submission`: its `timestamp`.
        """
        with self._transaction() as gradebook:
            gradebook.update_or_create_student(learner)
            with gradebook.db.no_autoflush:  # nbgrader joins a new submission to its learner before it adds it
                submitted = gradebook.update_or_create_submission(self.name, learner, **submission)
            notebook = gradebook.find_submission_notebook(self.name, self.name, learner)
            self._enter(gradebook, notebook, nb, former)
            self._penalize(gradebook, submitted, notebook)
            return _show(gradebook, notebook, nb)

    def show(self, learner: str, nb: Any) -> dict[str, Any]:
        """Write into the cells what feedback shows of the gradebook as it is; returns the notebook's scores."""
        with self._transaction() as gradebook:
            return _show(gradebook, gradebook.find_submission_notebook(self.name, self.name, learner), nb)

    @contextmanager
    def _transaction(self) -> Iterator[JoinedGradebook]:
        """A gradebook whose changes are all made at the end of the block, or none."""
        try:
            with self.engine.begin() as connection:
                yield JoinedGradebook(connection)
        except (SQLAlchemyError, InvalidEntry) as error:
            raised = of_database(error)
            if raised is None:
                raise
            problem = f"{location(self.url)}: {first_line(raised)}"
            if "locked" in problem:
                problem += f", for {PATIENCE:g} s, by another program"
            raise CourseError(
                f"{problem}; nothing is lost: `gpubook grade {self.folder} {self.name} --resume`"
            ) from error

    def _enter(
        self, gradebook: JoinedGradebook, notebook: SubmittedNotebook, nb: Any, former: Callable[[], Mapping[str, str]]
    ) -> None:
        """The points and the comments that nbgrader makes, by cell.

        A grade that a teacher gave stays reviewed where nothing has changed under it: neither the automatic score
        nor, of a written answer, the text.
        """
        grades = {g.cell.name: g for g in _rows(gradebook, Grade, notebook)}
        comments = {c.cell.name: c for c in _rows(gradebook, Comment, notebook)}
        by_hand = {g.cell.name for g in grades.values() if g.manual_score is not None and not g.needs_manual_grade}
        before, now = former() if by_hand else {}, {}
        for cell in nb.cells:
            if "nbgrader" not in cell.metadata:
                continue
            name = cell.metadata.nbgrader.get("grade_id")
            now[name] = text_with_pictures(cell.source, cell.get("attachments"))
            if is_grade(cell):
                grade = grades[name]
                score = automatic_score(cell, self.log)
                same = grade.auto_score == score and before.get(name) == now[name]
                grade.needs_manual_grade = score is None or grade.manual_score is not None
                if name in by_hand and same:
                    grade.needs_manual_grade = False
                grade.auto_score = score
            if is_solution(cell) or is_task(cell):
                untouched = cell.metadata.nbgrader.get("checksum") == compute_checksum(cell) and not is_task(cell)
                comments[name].auto_comment = "No response." if untouched else None
        gradebook.db.flush()

    def _penalize(
        self, gradebook: JoinedGradebook, submitted: SubmittedAssignment, notebook: SubmittedNotebook
    ) -> None:
        """What a late submission loses, as nbgrader's own step works it out: between nothing and the score."""
        notebook.late_submission_penalty = None
        gradebook.db.flush()
        gradebook.db.refresh(notebook)
        gradebook.db.refresh(submitted)
        notebook.late_submission_penalty = self.penalty(
            submitted.student_id, notebook.score, submitted.total_seconds_late
        )
        gradebook.db.flush()

    def penalty(self, learner: str, score: float, seconds_late: float) -> float | None:
        """What a score that was submitted so late loses; None where the course's rule says nothing."""
        if seconds_late <= 0:
            return None
        penalty = self.penalties.late_submission_penalty(learner, score, seconds_late)
        return None if penalty is None else max(0, min(penalty, score))


def automatic_score(cell: Any, log: logging.Logger) -> float | None:
    """What nbgrader reads as a grade cell's own score, and where the answer does not matter, what everybody has."""
    role = grade_cell(cell)
    if role is not None and role.part == "written" and (role.full or not role.points):
        return role.points
    score, _ = determine_grade(cell, log)
    return None if score is None else float(score)


def _rows(gradebook: JoinedGradebook, kind: Any, notebook: SubmittedNotebook) -> list[Any]:
    """The grades or comments of a submitted notebook, with their cells, in one query."""
    query = select(kind).where(kind.notebook_id == notebook.id).options(joinedload(kind.cell))
    return list(gradebook.db.execute(query.execution_options(populate_existing=True)).scalars())


def _show(gradebook: JoinedGradebook, notebook: SubmittedNotebook, nb: Any) -> dict[str, Any]:
    """Write into the cells what nbgrader's feedback shows, scores and comments; returns the notebook's scores."""
    gradebook.db.flush()
    gradebook.db.refresh(notebook)
    grades = {g.cell.name: g for g in _rows(gradebook, Grade, notebook)}
    comments = {c.cell.name: c for c in _rows(gradebook, Comment, notebook)}
    for cell in nb.cells:
        own = cell.metadata.get("nbgrader", {})
        if is_solution(cell) or is_task(cell):
            own["comment"] = comments[own["grade_id"]].comment
        if is_grade(cell) or is_task(cell):
            grade = grades[own["grade_id"]]
            own["score"], own["points"], own["waits"] = grade.score, grade.max_score, bool(grade.needs_manual_grade)
    penalty = notebook.late_submission_penalty or 0
    return {"score": notebook.score - penalty, "max_score": notebook.max_score, "late_penalty": penalty}
