"""Enter graded notebooks into nbgrader's gradebook, autograded/ and feedback/: all of a learner in one transaction.

What stands there in the end is what `nbgrader autograde` and `nbgrader generate_feedback` leave with the course's
configuration; they open the gradebook anew, and commit, for each step and cell. With `course` and `gradebook` all
that imports nbgrader.
"""

import json
import logging
import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Self

from nbformat import from_dict, read, writes
from nbformat.v4 import new_markdown_cell
from nbgrader.api import Assignment, Comment, Grade, Gradebook, MissingEntry, SubmittedAssignment, SubmittedNotebook
from nbgrader.converters import Autograde, GenerateFeedback
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import (
    AssignLatePenalties,
    CheckCellMetadata,
    GetGrades,
    NbGraderPreprocessor,
    SaveAutoGrades,
)
from nbgrader.utils import compute_checksum, determine_grade, find_all_files, is_grade, is_solution, is_task, parse_utc
from sqlalchemy import create_engine, select
from sqlalchemy.engine import Connection
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session, joinedload
from traitlets import Bool, Float
from traitlets.config import Config

from ..book.course_error import CourseError
from ..declaration.bank import Bank
from ..grading.attachments import whole
from ..grading.restore import SubmissionError, grade_cell
from ..values.atomic_write import write_whole
from .banks import bank_of
from .gradebook import deadlines, late_period, texts
from .gradebook_url import first_line, opened, place

PATIENCE = 30.0  # seconds to wait for a database that another program has locked


class _Joined(Gradebook):
    """nbgrader's gradebook in a transaction of ours: what it commits is there once ours is."""

    def __init__(self, connection: Connection):
        self.engine, self.course_id, self.authenticator = connection.engine, "default_course", None
        self.db: Any = Session(connection, join_transaction_mode="rollback_only", expire_on_commit=False)


class ShowGrades(GetGrades):
    """nbgrader's step that writes scores and comments into a feedback page, and also which grades are still to come."""

    def _get_score(self, cell: Any, resources: Any) -> None:
        super()._get_score(cell, resources)
        own = cell.metadata["nbgrader"]
        found = self.gradebook.find_grade(own["grade_id"], self.notebook_id, self.assignment_id, self.student_id)
        own["waits"] = bool(found.needs_manual_grade)


class WorkedSolutions(NbGraderPreprocessor):
    """Shows under each exercise of a feedback page how it is solved, once nobody can hand it in any more.

    That is after the deadline of this learner, an extension included, and after the time for which late work is
    taken; an assignment without a deadline never shows any.
    """

    after_due = Bool(False, help="Whether feedback shows worked solutions, from then on.").tag(config=True)
    late_days = Float(
        None, allow_none=True, help="For how long late work is taken. [default: until LatePerDay takes all points]"
    ).tag(config=True)

    @staticmethod
    def clock() -> datetime:
        """The time, in UTC."""
        return datetime.now(UTC).replace(tzinfo=None)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Add the solutions that may be shown by now."""
        about = resources["nbgrader"]
        if not self.after_due or not self._over(about):
            return nb, resources
        owner = about["student"] if self.config.GradeInSandbox.get("variants", False) else None
        worked, cells = self._worked(about["assignment"], about["notebook"], owner), []
        for cell in nb.cells:
            cells.append(cell)
            role = grade_cell(cell)
            if role is not None and role.part in ("grade", "written") and role.exercise in worked:
                own = {"id": f"{role.exercise}-worked", "metadata": {"gpubook": {"part": "solution"}}}
                cells.append(new_markdown_cell(worked[role.exercise], **own))
        return from_dict({**nb, "cells": cells}), resources

    def _over(self, about: Any) -> bool:
        period = late_period(self.config) if self.late_days is None else timedelta(days=self.late_days)
        due, extensions = self._deadlines(about["db_url"], about["assignment"])
        if due is None or period is None:
            return False
        return self.clock() > due + extensions.get(about["student"], timedelta()) + period

    @cache  # noqa: B019  (one of these is made for a run)
    def _deadlines(self, db_url: str, name: str) -> tuple[datetime | None, dict[str, timedelta]]:
        return deadlines(db_url, name)

    @cache  # noqa: B019
    def _worked(self, name: str, notebook: str, owner: str | None) -> dict[str, str]:
        course = self.parent.parent.coursedir  # this step, its exporter, nbgrader's converter
        folder = Path(course.root)
        path = Path(course.format_path(course.source_directory, ".", name)) / f"{notebook}.ipynb"
        if not path.is_file():
            return {}
        from .worked_solutions import solutions  # with all that a page of the book needs

        source = read(path, as_version=4)
        return solutions(source, self._bank(folder, path), owner)

    @cache  # noqa: B019
    def _bank(self, folder: Path, path: Path) -> Bank:
        return bank_of(folder, read(path, as_version=4), path)


class GradebookWriter:
    """The one writer of a run over a class: `record` a learner's executed notebook. A context manager.

    `decided`: the preprocessor of the configuration that executes and judges, which is done by now.
    """

    def __init__(self, folder: Path, name: str, config: Config, decided: type):
        self.folder, self.name = folder, name
        quiet = logging.getLogger("gpubook.recording")  # nbgrader tells of each step and penalty
        quiet.addHandler(logging.NullHandler())
        quiet.propagate = False
        self.course = CourseDirectory(config=config, log=quiet)
        self.autograde = Autograde(coursedir=self.course, config=config, log=quiet)
        self.feedback = GenerateFeedback(coursedir=self.course, config=config, log=quiet)
        own = (decided, SaveAutoGrades, AssignLatePenalties, CheckCellMetadata)  # the metadata is the release's
        steps = [step for step in self.autograde.autograde_preprocessors if step not in own]
        self.steps = [step(config=config, parent=self.autograde) for step in steps]
        self.late = AssignLatePenalties(config=config, log=quiet)
        self.late.init_plugin()
        self.page = self.feedback.exporter_class(parent=self.feedback, config=self.feedback.config)
        for step in self.feedback.preprocessors:
            if not issubclass(step, GetGrades):
                self.page.register_preprocessor(step)
        url = self.course.db_url
        with opened(url) as gradebook:
            try:
                gradebook.find_assignment(name)
            except MissingEntry:
                said = f"{place(url)} has no assignment {name!r}; `gpubook course assign` enters it"
                raise CourseError(said) from None
        waits = {"timeout": PATIENCE} if url.startswith("sqlite") else {}
        self.engine = create_engine(url, connect_args=waits)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.engine.dispose()

    @contextmanager
    def _transaction(self) -> Iterator[_Joined]:
        """A gradebook whose changes are all made at the end of the block, or none."""
        try:
            with self.engine.begin() as connection:
                yield _Joined(connection)
        except SQLAlchemyError as error:
            where = place(self.course.db_url)
            said = f"{where}: {first_line(error)}"
            if "locked" in said:
                said += f", for {PATIENCE:g} s, by another program"
            raise CourseError(f"{said}; nothing is lost: `gpubook grade {self.folder} {self.name} --resume`") from error

    def has(self) -> set[str]:
        """The learners with a submission in the gradebook, and files of their own."""
        with self._transaction() as gradebook:
            asked = select(SubmittedAssignment.student_id).join(Assignment).where(Assignment.name == self.name)
            found = gradebook.db.execute(asked).scalars().all()
        return {who for who in found if self._notebook(who).is_file() and self.page_of(who).is_file()}

    def _notebook(self, learner: str) -> Path:
        return self.folder / "autograded" / learner / self.name / f"{self.name}.ipynb"

    def page_of(self, learner: str) -> Path:
        """The learner's feedback."""
        return self.folder / "feedback" / learner / self.name / f"{self.name}.html"

    def record(self, learner: str, text: str) -> Path:
        """Enter what was graded, and write the learner's files; returns the feedback page.

        Done again it changes nothing. The gradebook comes first: what a teacher graded by hand is told from the
        notebook that was there before.
        """
        nb, resources = from_dict(json.loads(text)), self._resources(learner)
        for step in self.steps:
            nb, resources = step.preprocess(nb, resources)
        autograded = writes(nb, version=4)
        timestamp = self._timestamp(learner)
        with self._transaction() as gradebook:
            gradebook.update_or_create_student(learner)
            with gradebook.db.no_autoflush:  # nbgrader joins a new submission to its learner before it adds it
                submission = gradebook.update_or_create_submission(self.name, learner, **timestamp)
            notebook = gradebook.find_submission_notebook(self.name, self.name, learner)
            self._enter(gradebook, notebook, nb, learner)
            self._penalty(gradebook, submission, notebook)
            _show(gradebook, notebook, nb, resources["nbgrader"])
        self._write(learner, autograded)
        return self._write_page(learner, nb, resources)

    def show(self, learner: str) -> Path:
        """Write the learner's feedback page anew, from what is graded and from the gradebook as it is now."""
        nb, resources = read(self._notebook(learner), as_version=4), self._resources(learner)
        with self._transaction() as gradebook:
            notebook = gradebook.find_submission_notebook(self.name, self.name, learner)
            _show(gradebook, notebook, nb, resources["nbgrader"])
        return self._write_page(learner, nb, resources)

    def _resources(self, learner: str) -> dict[str, Any]:
        about = {"student": learner, "assignment": self.name, "notebook": self.name, "db_url": self.course.db_url}
        return {"unique_key": self.name, "output_files_dir": f"{self.name}_files", "nbgrader": about}

    def _write_page(self, learner: str, nb: Any, resources: dict[str, Any]) -> Path:
        page, _ = self.page.from_notebook_node(nb, {**resources, "metadata": {"name": self.name}})
        beside, target = self._notebook(learner).parent, self.page_of(learner).parent
        target.mkdir(parents=True, exist_ok=True)
        for found in map(Path, find_all_files(str(beside), [*self.course.ignore, "*.ipynb"])):
            inside = found.relative_to(beside)
            if inside.parts[0] != self.page_of(learner).name:
                _make_way(target, inside)
                shutil.copyfile(found, target / inside)
        if self.page_of(learner).is_dir():
            shutil.rmtree(self.page_of(learner))
        write_whole(self.page_of(learner), page)
        self.feedback.set_permissions(self.name, learner)
        return self.page_of(learner)

    def _timestamp(self, learner: str) -> dict[str, Any]:
        path = self.folder / "submitted" / learner / self.name / "timestamp.txt"
        if not path.is_file() or not (said := path.read_text(encoding="utf-8", errors="replace")[:100].strip()):
            return {}
        try:
            return {"timestamp": parse_utc(said)}
        except (ValueError, OverflowError):
            expected = "one like 2027-02-01 22:00:00 UTC was expected"
            raise SubmissionError(f"{path}: {said!r} is no time; {expected}") from None

    def _enter(self, gradebook: _Joined, notebook: SubmittedNotebook, nb: Any, learner: str) -> None:
        """The points and the comments that nbgrader makes, by cell.

        A grade that a teacher gave stays reviewed where nothing has changed under it: neither the automatic score
        nor, of a written answer, the text.
        """
        grades = {g.cell.name: g for g in _rows(gradebook, Grade, notebook)}
        comments = {c.cell.name: c for c in _rows(gradebook, Comment, notebook)}
        by_hand = {g.cell.name for g in grades.values() if g.manual_score is not None and not g.needs_manual_grade}
        before, now = texts(self._notebook(learner)) if by_hand else {}, {}
        for cell in nb.cells:
            if "nbgrader" not in cell.metadata:
                continue
            name = cell.metadata.nbgrader.get("grade_id")
            now[name] = whole(cell.source, cell.get("attachments"))
            if is_grade(cell):
                grade = grades[name]
                score, _ = determine_grade(cell, self.autograde.log)
                same = grade.auto_score == score and before.get(name) == now[name]
                grade.needs_manual_grade = score is None or grade.manual_score is not None
                if name in by_hand and same:
                    grade.needs_manual_grade = False
                grade.auto_score = score
            if is_solution(cell) or is_task(cell):
                untouched = cell.metadata.nbgrader.get("checksum") == compute_checksum(cell) and not is_task(cell)
                comments[name].auto_comment = "No response." if untouched else None
        gradebook.db.flush()

    def _penalty(self, gradebook: _Joined, submission: SubmittedAssignment, notebook: SubmittedNotebook) -> None:
        """What a late submission loses, as nbgrader's own step works it out."""
        notebook.late_submission_penalty = None
        gradebook.db.flush()
        gradebook.db.refresh(notebook)
        gradebook.db.refresh(submission)
        if (late := submission.total_seconds_late) > 0:
            plugin = self.late.plugin_inst
            penalty = plugin.late_submission_penalty(submission.student_id, notebook.score, late)
            if penalty is not None:
                notebook.late_submission_penalty = self.late._check_late_penalty(notebook, penalty)
        gradebook.db.flush()

    def _write(self, learner: str, text: str) -> None:
        """autograded/: the notebook, what else was handed in, and over it what the teacher has in source/."""
        target = self._notebook(learner).parent
        target.mkdir(parents=True, exist_ok=True)
        ignored = [*self.course.ignore, "*.ipynb"]
        kept = {self._notebook(learner)}
        own = self.autograde.exclude_overwriting.get(self.name, [])
        for folder in (self.folder / "submitted" / learner / self.name, self.folder / "source" / self.name):
            for found in map(Path, find_all_files(str(folder), ignored)):
                inside = found.relative_to(folder)
                if folder.parent.name == "source" and str(inside) in own:
                    continue
                kept.add(target / inside)
                _make_way(target, inside)
                shutil.copyfile(found, target / inside)  # its permissions are the course's
        write_whole(self._notebook(learner), text if text.endswith("\n") else text + "\n")
        self._remove_others(target, kept)
        self.autograde.set_permissions(self.name, learner)

    def _remove_others(self, target: Path, kept: Collection[Path]) -> None:
        for folder, _, files in os.walk(target, topdown=False):
            for file in files:
                if Path(folder, file) not in kept:
                    Path(folder, file).unlink()
            if folder != str(target) and not os.listdir(folder):
                os.rmdir(folder)


def _make_way(target: Path, inside: Path) -> None:
    """Make the folders for a file below `target`; what lies there under the name of one of them, or of the file, and is
    something else, goes: it was handed in before, or is not the teacher's."""
    for folder in reversed(inside.parents[:-1]):
        if (target / folder).is_file():
            (target / folder).unlink()
    (target / inside).parent.mkdir(parents=True, exist_ok=True)
    if (target / inside).is_dir():
        shutil.rmtree(target / inside)
    (target / inside).unlink(missing_ok=True)


def _rows(gradebook: _Joined, kind: Any, notebook: SubmittedNotebook) -> list[Any]:
    """The grades or comments of a submitted notebook, with their cells, in one query."""
    asked = select(kind).where(kind.notebook_id == notebook.id).options(joinedload(kind.cell))
    return list(gradebook.db.execute(asked.execution_options(populate_existing=True)).scalars())


def _show(gradebook: _Joined, notebook: SubmittedNotebook, nb: Any, about: dict[str, Any]) -> None:
    """Write into the cells what nbgrader's feedback shows of them: scores and comments."""
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
    about |= {"score": notebook.score - penalty, "max_score": notebook.max_score, "late_penalty": penalty}
