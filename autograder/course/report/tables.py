"""A report as tables for a spreadsheet: a folder of CSV files, or the one of the exercises."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from ...book.course_error import CourseError
from ..class_results.results_table import in_order
from ..layout import PRIVATE
from ..spreadsheet import SheetContents, inert, number
from ..spreadsheet import write as write_table
from .gathered_answers import OUTCOMES
from .of_class import AssignmentReport, Term

EXERCISES = "exercises"  # the table that a single file holds
NUMBER = re.compile(r"-?\d+(\.\d+)?")  # whose minus begins no formula
Rows = list[list[str]]


def of(found: AssignmentReport | Term) -> dict[str, SheetContents]:
    """The tables by their names; those of a term have the assignment in each row."""
    reports = found.reports if isinstance(found, Term) else [found]
    made = {
        EXERCISES: _joined(_exercises, reports),
        "points": SheetContents(
            [_words(row) for row in (_term_points(found) if isinstance(found, Term) else _points(found))]
        ),
        "mistakes": _joined(_mistakes, reports),
        "unexplained": _joined(_unexplained, reports),
        "others-numbers": _joined(_borrowed, reports),
        "alike": _joined(_alike, reports),
    }
    if isinstance(found, Term):
        head = ["misconception", "you", "learners", "answers"]
        rows = [[name, did, str(learners), str(times)] for name, did, learners, times in found.recurring]
        made["misconceptions"] = SheetContents([_words(row) for row in (head, *rows)])
    return made


def write(made: dict[str, SheetContents], target: Path) -> list[Path]:
    """Write them into the folder `target`, or the table of the exercises into a file of that name with .csv; each file
    whole or not at all. Returns the files."""
    if target.suffix.lower() == ".csv":
        write_table(made[EXERCISES], target)
        return [target]
    if target.exists() and not target.is_dir():
        raise CourseError(f"{target} is a file; a folder, or a file NAME.csv, was expected")
    if not target.is_dir():
        target.mkdir(mode=PRIVATE)
    paths = [target / f"{name}.csv" for name in made]
    for path, table in zip(paths, made.values(), strict=True):
        write_table(table, path)
    return paths


def _joined(rows_of: Callable[[AssignmentReport], Rows], reports: Sequence[AssignmentReport]) -> SheetContents:
    head, made = [], []
    for report in reports:
        head, *rows = rows_of(report)
        made += [[report.name, *row] for row in rows]
    return SheetContents([_words(row) for row in (["assignment", *head], *made)])


def _words(row: Iterable[str]) -> list[str]:
    return [cell if NUMBER.fullmatch(cell) else inert(cell) for cell in row]


def _exercises(report: AssignmentReport) -> Rows:
    head = [
        "number",
        "exercise",
        "title",
        "points",
        "graded",
        "right_share",
        "mean_share",
        "discrimination",
        *(f"n_{key}" for key in OUTCOMES),
    ]
    rows = [
        [
            str(one.number),
            one.exercise,
            one.title,
            number(one.max_points),
            str(one.graded),
            _share(one.right),
            _share(one.mean),
            _share(one.discrimination),
            *(str(one.outcomes.get(key, 0)) for key in OUTCOMES),
        ]
        for one in report.items
    ]
    return [head, *rows]


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _points(report: AssignmentReport) -> Rows:
    ids = list(report.result.exercises)
    rows = []
    for learner in in_order(report.result.learners, report.scores):
        points = {one.exercise: "" if one.kind == "waiting" else number(one.points) for one in learner.results}
        score = report.scores.get(learner.name)
        sums = (
            [number(learner.points), number(score.late_penalty if score else 0.0), number(report.points[learner.name])]
            if learner.results
            else ["", "", ""]
        )
        rows.append(
            [learner.name, report.names[learner.name], *(points.get(name, "") for name in ids), *sums, learner.problem]
        )
    gone = [[who, report.names[who], *[""] * (len(ids) + 3), "nothing submitted"] for who in report.missing]
    graded = {learner.name for learner in report.result.learners}
    refused = {who: why for who, why in report.result.refused.items() if who not in graded}
    gone += [
        [who, report.names.get(who, who), *[""] * (len(ids) + 3), f"refused when it was collected, {why}"]
        for who, why in refused.items()
    ]
    return [["learner", "name", *ids, "total", "late_penalty", "grade", "problem"], *rows, *gone]


def _term_points(term: Term) -> Rows:
    head = ["learner", "name", *(report.name for report in term.reports), "total"]
    most = [report.result.max_points for report in term.reports]
    rows = [
        [
            who,
            term.names[who],
            *("" if value is None else number(value) for value in points),
            number(sum(value or 0.0 for value in points)),
        ]
        for who, points in sorted(term.table.items())
    ]
    return [head, *rows, ["of", "", *map(number, most), number(sum(most))]]


def _mistakes(report: AssignmentReport) -> Rows:
    rows = [
        [one.exercise, one.key, str(len(one.learners)), one.say, one.did, " ".join(one.learners)]
        for one in report.beliefs
    ]
    return [["exercise", "mistake", "count", "sentence", "misconception", "learners"], *rows]


def _unexplained(report: AssignmentReport) -> Rows:
    rows = [
        [
            one.exercise,
            str(len(one.learners)),
            one.shown,
            one.relation,
            one.told,
            one.declaration,
            " ".join(one.learners),
        ]
        for one in report.unexplained
    ]
    return [["exercise", "count", "answer", "relation", "told", "declaration", "learners"], *rows]


def _borrowed(report: AssignmentReport) -> Rows:
    rows = [[one.exercise, one.learner, " ".join(one.owners)] for one in report.borrowed]
    return [["exercise", "learner", "right_for"], *rows]


def _alike(report: AssignmentReport) -> Rows:
    rows = [
        [
            one.exercise,
            f"{one.share:.2f}",
            "yes" if one.book else "no",
            "yes" if one.usual else "no",
            str(len(one.learners)),
            " ".join(one.learners),
        ]
        for one in report.copies
    ]
    return [["exercise", "share", "is_the_solution", "may_be_usual", "count", "learners"], *rows]
