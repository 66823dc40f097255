"""What there is to assign: the book's chapters and exercises, a course's assignments, the teacher's own exercises."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ...book.course_error import CourseError
from ...book.source.syllabus import BookCounts
from ...grading.restore import grade_cell, read_notebook
from ...values.book_root import book_root
from ...values.own_file import json_of
from ..layout import read_config, released


@dataclass(frozen=True)
class Listed:
    """An exercise as a teacher chooses it: its id, the kind of its answer, its points, an estimate of the minutes that
    it takes, its title; and in an assignment, `note`s on what it counts."""

    id: str
    kind: str
    points: float
    minutes: float
    title: str
    note: str = ""


@dataclass(frozen=True)
class CataloguePart:
    """A chapter, an assignment or the teacher's own exercises, with its exercises; `facts` are what else is known."""

    name: str
    title: str
    exercises: tuple[Listed, ...]
    facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def points(self) -> float:
        """The points of all its exercises."""
        return sum(one.points for one in self.exercises)

    @property
    def minutes(self) -> float:
        """The minutes of all its exercises."""
        return sum(one.minutes for one in self.exercises)

    def as_plain(self) -> dict[str, Any]:
        """As JSON has it."""
        exercises = [vars(one) for one in self.exercises]
        sums = {"points": self.points, "minutes": self.minutes}
        return {"name": self.name, "title": self.title, **self.facts, **sums, "exercises": exercises}


def chapters() -> list[CataloguePart]:
    """The book's chapters that have exercises, in its order."""
    by_chapter: dict[str, list[dict[str, Any]]] = {}
    for record in _book().exercises.values():
        by_chapter.setdefault(record["chapter"], []).append(record)
    titles = {entry.name: entry.title for entry in _book().entries}
    return [CataloguePart(name, titles[name], _listed(records, {})) for name, records in by_chapter.items()]


def chapter(name: str) -> CataloguePart:
    """One of them; CourseError lists their names."""
    by_name = {part.name: part for part in chapters()}
    if name not in by_name:
        raise CourseError(f"the book has no chapter {name!r} with exercises; it has {', '.join(by_name)}")
    return by_name[name]


def own(folder: Path) -> tuple[CataloguePart, list[str]]:
    """The teacher's own exercises, and of each of their files that cannot be loaded, why."""
    read_config(folder)
    records, left_out = _own_records(folder)
    return CataloguePart("exercises", "Your own exercises", _listed(records.values(), records)), left_out


def assignments(folder: Path) -> list[CataloguePart]:
    """What the course has released, by name."""
    read_config(folder)
    names = sorted(path.name for path in (folder / "release").glob("*") if (path / f"{path.name}.ipynb").is_file())
    return [assignment(folder, name) for name in names]


def assignment(folder: Path, name: str) -> CataloguePart:
    """A released assignment, with the points that its exercises have there, and what is agreed about it."""
    from .. import gradebook
    from ..terms import agreed_terms
    from ..terms.deadline_time import shown

    path = released(folder, name)
    anew = f"assign it again, which writes it anew: `gpubook course assign {folder} {name}`"
    records = json_of(path.parent / "exercises.json", anew, lambda plain: dict(plain["exercises"]), CourseError)
    graded = [role for cell in read_notebook(path).cells if (role := grade_cell(cell)) is not None]
    roles = {role.exercise: role for role in graded if role.part in ("grade", "written")}
    exercises = []
    for listed in _listed(records.values(), _own_records(folder)[0]):
        role = roles.get(listed.id)
        note = "" if role is None else "full marks for all" if role.full else "" if role.points else "dropped"
        points = listed.points if role is None else role.points
        exercises.append(Listed(listed.id, listed.kind, points, listed.minutes, listed.title, note))
    due = gradebook.due_date(gradebook.url_of(folder), name)
    agreed = agreed_terms.read(folder, name)
    facts = {
        "due": shown(due) if due is not None else "",
        "extensions": str(len(agreed.extensions) or ""),
        "groups": str(len(agreed.groups) or ""),
    }
    return CataloguePart(name, "", tuple(exercises), {key: said for key, said in facts.items() if said})


def _own_records(folder: Path) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """The public records of the teacher's own exercises, and why each file that cannot be loaded cannot be."""
    from ...declaration.bank import load_bank
    from ..banks import load_own

    banks, left_out = load_own(sorted((folder / "exercises").glob("*.py")), load_bank, ())
    return {key: exercise.public() for bank in banks for key, exercise in bank.items()}, left_out


def _listed(records: Iterable[Mapping[str, Any]], own: Mapping[str, Any]) -> tuple[Listed, ...]:
    """The exercises of public records; other points than declared, `own` or the book's, make no other work."""
    book = _book()
    return tuple(
        Listed(
            one["id"],
            "prediction" if one["predict"] else one["kind"],
            one["points"],
            book.priced(own.get(one["id"], book.exercises.get(one["id"], one))).minutes,
            one["title"],
        )
        for one in records
    )


@cache
def _book() -> BookCounts:
    return BookCounts(book_root())
