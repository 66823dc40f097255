"""Our steps of nbgrader's feedback: grades that are still to come, and worked solutions once nobody can submit."""

from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from nbformat import from_dict, read
from nbformat.v4 import new_markdown_cell
from nbgrader.preprocessors import GetGrades, NbGraderPreprocessor
from traitlets import Bool, Float

from ...declaration.bank import Bank
from ...grading.restore import grade_cell
from ..banks import bank_of
from ..gradebook import deadlines, late_period
from ..terms import group_shares


class ShowGrades(GetGrades):
    """nbgrader's step that writes scores and comments into a feedback page, and also which grades are still to come."""

    def _get_score(self, cell: Any, resources: Any) -> None:
        super()._get_score(cell, resources)
        own = cell.metadata["nbgrader"]
        grade = self.gradebook.find_grade(own["grade_id"], self.notebook_id, self.assignment_id, self.student_id)
        own["waits"] = bool(grade.needs_manual_grade)


class WorkedSolutions(NbGraderPreprocessor):
    """Shows under each exercise of a feedback page how it is solved, once nobody can submit it any more.

    That is after the deadline of this learner, an extension included, and after the time for which late work is
    taken; an assignment without a deadline never shows any.
    """

    after_due = Bool(False, help="Whether feedback shows worked solutions, from then on.").tag(config=True)
    late_days = Float(
        None, allow_none=True, help="For how long late work is taken. [default: until LatePerDay takes all points]"
    ).tag(config=True)

    @staticmethod
    def clock() -> datetime:  # in UTC
        return datetime.now(UTC).replace(tzinfo=None)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Add the solutions that may be shown by now."""
        about = resources["nbgrader"]
        if not self.after_due or not self._over(about):
            return nb, resources
        about["solutions_shown"] = True
        owner = self._owner(about) if self.config.GradeInSandbox.get("variants", False) else None
        worked, cells = self._worked(about["assignment"], about["notebook"], owner), []
        for cell in nb.cells:
            cells.append(cell)
            role = grade_cell(cell)
            if role is not None and role.part in ("grade", "written") and role.exercise in worked:
                own = {"id": f"{role.exercise}-worked", "metadata": {"gpubook": {"part": "solution"}}}
                cells.append(new_markdown_cell(worked[role.exercise], **own))
        return from_dict({**nb, "cells": cells}), resources

    def _owner(self, about: Any) -> str:
        """Whose numbers the learner's answers are for: of a group, those of who submitted."""
        folder = Path(self.parent.parent.coursedir.root)
        return group_shares.submitters(folder, about["assignment"]).get(about["student"], about["student"])

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
