"""A report as a page: one file without a script, which asks nobody for anything and reads on a telephone, in the light
and in the dark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from markupsafe import Markup

from ...book.course_error import CourseError
from ...values.atomic_write import write_whole
from ...values.inline_html import harmless, inline_html
from ...values.mathml import with_mathml
from ...values.templates import rendered
from ..class_results.results_table import in_order, is_right, short
from . import beliefs, copies, plots
from .gathered_answers import OUTCOMES
from .of_class import AssignmentReport, Term, histogram, summary
from .terminal_report import assignment_row, hardest, how_alike

HERE = Path(__file__).parent
MOST_SENTENCE = 4000  # letters of a sentence


def of(found: AssignmentReport | Term) -> str:
    """The page of a report, or that of a term with all of its reports."""
    tools = {
        "sentence": sentence,
        "plots": plots,
        "outcomes": OUTCOMES,
        "how_alike": how_alike,
        "pairs": beliefs.pairs,
        "together": copies.pairs,
        "limit": copies.LIMIT,
        "view": view,
    }
    if isinstance(found, Term):
        more: dict[str, Any] = {"term": found, "hardest": hardest(found), "row": assignment_row}
        return f"{rendered(HERE, 'term.html.j2', title=found.course, **tools, **more)}\n"
    return f"{rendered(HERE, 'report.html.j2', title=found.name, report=found, **tools)}\n"


def write(text: str, path: Path) -> None:
    """Write the page whole or not at all, readable by you alone."""
    if not path.parent.is_dir():
        raise CourseError(f"{path.parent} is missing; the folder for {path.name} was expected there")
    write_whole(path, text)


def sentence(markdown: str) -> Markup:
    """A sentence of a verdict, with what a learner wrote in it made harmless, and its formulas drawn."""
    return Markup(with_mathml(harmless(inline_html(markdown[:MOST_SENTENCE]))))


def view(report: AssignmentReport) -> dict[str, Any]:
    """What the template shows of a report and would have to compute."""
    points, ids = report.points, list(report.result.exercises)
    most = report.result.max_points
    rows = []
    for learner in in_order(report.result.learners, report.scores):
        by = {one.exercise: one for one in learner.results}
        cells = [_cell(by.get(name)) for name in ids]
        score = report.scores.get(learner.name)
        penalty = score.late_penalty if score else 0.0
        name = report.names[learner.name]
        rows.append(
            {
                "id": learner.name,
                "name": "" if name == learner.name else name,
                "cells": cells,
                "total": f"{learner.points:g}" if learner.results else "none",
                "late": f"-{penalty:g}" if penalty else "",
                "grade": f"{points[learner.name]:.4g}" if learner.results else "",
                "problem": learner.problem,
            }
        )
    return {
        "called": dict(zip(ids, short(ids), strict=True)),
        "graded": {item.exercise: item.graded for item in report.items},
        "beliefs": sorted(report.beliefs, key=lambda one: -len(one.learners)),
        "rare": [one for one in report.beliefs if len(one.learners) == 1],
        "summary": summary(list(points.values()), most),
        "histogram": plots.histogram(histogram(list(points.values()), most), f"points, of {most:g}"),
        "rows": rows,
        "late": any(row["late"] or row["grade"] != row["total"] for row in rows if row["grade"]),
        "seen": [key for key in OUTCOMES if any(item.outcomes.get(key) for item in report.items)],
    }


def _cell(result: Any) -> tuple[str, str]:
    """The points in a cell of the learners' table, and its class."""
    if result is None:
        return "–", "empty"
    if result.kind == "waiting":
        return "…", "waiting"
    style = "right" if is_right(result) else "empty" if result.kind == "empty" else "part" if result.points else "wrong"
    return f"{result.points:g}", style
