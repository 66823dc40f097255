"""The results of the last run over an assignment, with what a teacher has graded by hand since."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ...values.own_folder import own
from .. import gradebook
from .class_result import ClassResult, load

GRADED = "Graded by your teacher."


def results(folder: Path | str, name: str) -> ClassResult:
    """The results of the last `grade`, with the grades that a teacher has given to written answers since."""
    return with_grades_by_hand(load(results_path(Path(folder), name)))


def with_grades_by_hand(result: ClassResult) -> ClassResult:
    """Put what a teacher gave for written answers, and said of them, in place of their waiting."""
    if not any(answer.kind == "waiting" for learner in result.learners for answer in learner.results):
        return result
    grades = gradebook.by_hand(gradebook.url_of(result.folder), result.assignment)
    for learner in result.learners:
        for at, answer in enumerate(learner.results):
            if answer.kind == "waiting" and (learner.name, answer.exercise) in grades:
                points, comment = grades[learner.name, answer.exercise]
                learner.results[at] = replace(answer, points=points, say=comment or GRADED, kind="by hand")
    return result


def results_path(folder: Path, name: str) -> Path:
    """Where the results of the assignment `name` are kept."""
    return own(folder, f"{name}.results.json")
