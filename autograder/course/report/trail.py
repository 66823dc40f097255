"""The trail of a learner's grades: who or what set them, when, from which submission and by which key.

It is put together from what runs have entered, what was decided in the course, and what the gradebook and the marks of
written answers have now; nothing is graded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .. import gradebook
from ..by_hand import marks
from ..class_results.results_table import short
from ..class_results.stored_results import results
from ..gradebook.question_points import by_question
from ..layout import read_config, released
from ..run.trail_file import TrailFile, TrailLine
from ..terms import agreed_terms, history, history_text
from ..terms.history import Event

DIGEST = 8  # letters of a digest that are shown
NOW = "now"


@dataclass(frozen=True)
class TrailStep:
    """One step of a trail: when (UTC, or "now"), who did it, and what."""

    at: str
    by: str
    what: str

    def as_plain(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)

    def __str__(self) -> str:
        if self.at == NOW:
            return f"{NOW:23}  {self.what}"
        return f"{f'{self.at} UTC' if self.at else 'at a time not on record':23}  {self.by or 'somebody'}  {self.what}"


def of(folder: Path | str, name: str, subject: str) -> list[TrailStep]:
    """The trail of LEARNER, or of LEARNER/EXERCISE (its id, or its name or number in the table's legend); KeyError
    lists the known ones."""
    folder = Path(folder).resolve()
    read_config(folder)
    released(folder, name)
    learner, _, wanted = subject.partition("/")
    result = results(folder, name)
    result.learner(learner)
    ids = list(result.exercises)
    also = dict(zip(short(ids), ids, strict=True)) | {
        str(number): name_of for number, name_of in enumerate(ids, start=1)
    }
    exercise = wanted if wanted in ids else also.get(wanted, "")
    if wanted and not exercise:
        raise KeyError(f"{name} has no exercise {wanted!r}; known: {', '.join(ids)}")
    steps = [*_of_runs(folder, name, learner, exercise), *_of_course(folder, name, learner, exercise)]
    steps += _by_hand(folder, name, learner, [exercise] if exercise else ids)
    return [*sorted(steps, key=lambda step: step.at), *_now(folder, name, learner, exercise)]


def _of_runs(folder: Path, name: str, learner: str, exercise: str) -> Iterator[TrailStep]:
    for line in TrailFile(folder, name).lines(learner):
        noticed = [text for text in line.noticed if not exercise or text.split()[0] in (exercise, f"{exercise}-grade")]
        rows = {key: row for key, row in line.results.items() if exercise in ("", key)}
        if noticed:
            yield TrailStep(line.at, line.by, f"a run noticed {'; '.join(noticed)}")
        if rows or (line.how != "noticed" and line.late):
            yield TrailStep(line.at, line.by, _entered(line, rows, bool(exercise)))


def _entered(line: TrailLine, rows: dict[str, Any], single: bool) -> str:
    """What a run has entered, and what it follows from."""
    points = [f"{name} {score:g} of {most:g} ({kind})" for name, (score, most, kind, _) in rows.items()]
    keys = sorted({key[:DIGEST] for *_, key in rows.values() if key})
    parts = [f"grade, {line.how}: {', '.join(points) or 'no other points'}"]
    parts += [f"submission {line.submission[:DIGEST]}" + (f" of {line.submitter}" if line.submitter else "")]
    parts += [f"submitted {line.submitted}"] * bool(line.submitted)
    parts += [f"key {key}" for key in keys[:single]]
    return "; ".join([*parts, *[f"{line.late:g} points off for being late"] * bool(line.late)])


def _of_course(folder: Path, name: str, learner: str, exercise: str) -> Iterator[TrailStep]:
    """What was decided for everybody, or for this learner."""
    group = agreed_terms.read(folder, name).group_of(learner)
    for event in history.events(folder, name):
        if event.what != "grade" and _concerns(event, learner, exercise, group):
            yield TrailStep(event.at, event.by, history_text.line(event, named=False).split("  ", 2)[2])


def _concerns(event: Event, learner: str, exercise: str, group: str | None) -> bool:
    if event.learners:
        return learner in event.learners
    if event.what == "groups":
        return group is not None or any(learner in members for members in event.about.get("groups", {}).values())
    return not exercise or not event.concerns or exercise in event.concerns


def _by_hand(folder: Path, name: str, learner: str, exercises: list[str]) -> Iterator[TrailStep]:
    """The grades by hand that the gradebook has, with who gave them and when, where the page for written answers
    knows it."""
    grades = gradebook.by_hand(gradebook.url_of(folder), name)
    for exercise in exercises:
        points = grades.get((learner, exercise), (None, ""))[0]
        mark = marks.load(folder, name, exercise).get(learner)
        if mark is not None and mark.stands(points):
            yield TrailStep(mark.at[:19].replace("T", " "), mark.by, f"by hand: {exercise} {points:g}")
        elif points is not None:
            yield TrailStep("", "", f"by hand, in formgrader or by nbgrader: {exercise} {points:g}")


def _now(folder: Path, name: str, learner: str, exercise: str) -> Iterator[TrailStep]:
    """What the gradebook has."""
    points = by_question(folder, name)
    theirs = points.of.get(learner, {})
    for question in [exercise] if exercise else []:
        if question in theirs:
            value = theirs[question]
            worth = "to be graded by hand" if value is None else f"{value:g} of {points.most[question]:g}"
            yield TrailStep(NOW, "", f"{question} {worth} in the gradebook")
    for score in gradebook.scores(folder, [name])[name]:
        if score.person.id == learner and score.graded:
            late = f", {score.late_penalty:g} off for being late" if score.late_penalty else ""
            yield TrailStep(NOW, "", f"{score.score:g} of {score.max_score:g} for {name}{late}")
