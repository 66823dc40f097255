"""Two steps of nbconvert: formgrader's page shows rubric and model answer, a feedback page the criteria reached."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from nbconvert.preprocessors import Preprocessor
from nbformat import from_dict
from nbformat.v4 import new_markdown_cell
from traitlets import Bool

from ...answers.written import rubric_markdown
from ...grading.restore import grade_cell
from ..layout import CONFIG_FILE
from ..terms import group_shares
from . import marks
from .questions import WrittenQuestion, questions, shown_criteria

LINK = "#by-hand:"  # how a link to the page of a question begins; formgrader's page makes an address of it


class RubricInFormgrader(Preprocessor):
    """Adds what only graders see below each answer in words, to the page and to no file.

    It works in formgrader alone: its handler names a submission, which neither a release nor a feedback page does.
    """

    enabled = Bool(True).tag(config=True)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """The notebook with a note below each written answer."""
        if not {"submission_id", "assignment_id", "student"} <= set(resources):
            return nb, resources
        written = {role.exercise for cell in nb.cells if (role := grade_cell(cell)) and role.part == "written"}
        if not written:
            return nb, resources
        here = Path(resources.get("metadata", {}).get("path") or ".").resolve()
        folder = next((one for one in (here, *here.parents) if (one / CONFIG_FILE).is_file()), here)
        name = resources["assignment_id"]
        try:
            notes = {one.exercise: graders_note(one, resources["student"]) for one in questions(folder, name)}
        except Exception as error:  # a teacher's declarations are run: grading goes on without them
            notes = dict.fromkeys(written, f"> **Rubric and model answer cannot be shown**: {error}")
        return _with_notes(nb, notes, "graders"), resources


def graders_note(question: WrittenQuestion, owner: str) -> str:
    """Rubric and model answer, with the way to the page of this question."""
    hidden = " Learners do not see these criteria." if question.hidden else ""
    parts = (
        f"**For graders**: [grade this question over all learners]({LINK}{quote(question.assignment)}"
        f"/{quote(question.exercise)}).{hidden}",
        rubric_markdown(question.rubric),
        "**Model answer**",
        question.model_answer(owner),
    )
    return "\n".join(f"> {line}" for line in "\n\n".join(parts).splitlines())


class CriteriaInFeedback(Preprocessor):
    """Adds below each answer graded by criterion what was given for each, as long as it is what the grade is made of.

    A criterion that the release does not show keeps its text to itself, unless `hidden_too`, or where the page shows
    the worked solution, which has it.
    """

    enabled = Bool(True).tag(config=True)
    hidden_too = Bool(False, help="Whether feedback shows the text of hidden criteria too.").tag(config=True)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """The notebook with the points by criterion."""
        exporter: Any = self.parent  # whose parent is nbgrader's converter
        about, folder = resources["nbgrader"], Path(exporter.parent.coursedir.root)
        by_exercise = marks.exercises(folder, about["assignment"])
        if not by_exercise:
            return nb, resources
        notes, group = {}, group_shares.mates(folder, about["assignment"], about["student"])
        for cell in nb.cells:
            role = grade_cell(cell)
            if role is None or role.part != "written" or role.exercise not in by_exercise:
                continue
            known, own = marks.load(folder, about["assignment"], role.exercise), cell.metadata["nbgrader"]
            marked = [known[who] for who in group if who in known]
            mark = next((one for one in marked if self._stands(one, own, about)), None)
            if mark is None:
                continue
            shown = self._shown(folder, about["assignment"], role.exercise)
            free = self.hidden_too or about.get("solutions_shown", False)
            texts = [criterion if free or criterion in shown else None for criterion, _ in mark.rubric]
            notes[role.exercise] = marks.as_markdown(mark, texts)
        return _with_notes(nb, notes, "criteria"), resources

    @staticmethod
    def _stands(mark: marks.Mark, own: Any, about: Any) -> bool:
        """Whether the page's score is the sum of the criteria; where it is not, that may be extra credit."""
        if own.get("waits") or own.get("score") is None:
            return False
        if mark.stands(own["score"]):
            return True
        from ..gradebook import by_hand

        entered = by_hand(about["db_url"], about["assignment"]).get((about["student"], own["grade_id"]))
        return entered is not None and mark.stands(entered[0])

    @cache  # noqa: B019  (one of these is made for a run)
    def _shown(self, folder: Path, name: str, exercise: str) -> frozenset[str]:
        return shown_criteria(folder, name, exercise)


def _with_notes(nb: Any, notes: dict[str, str], kind: str) -> Any:
    cells = []
    for cell in nb.cells:
        cells.append(cell)
        role = grade_cell(cell)
        if role is not None and role.part == "written" and role.exercise in notes:
            own = {"id": f"{role.exercise[:50]}-{kind}", "metadata": {"gpubook": {"part": kind}}}
            cells.append(new_markdown_cell(notes[role.exercise], **own))
    return from_dict({**nb, "cells": cells})
