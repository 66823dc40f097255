"""What a learner has done of the book, as a notebook shows it: each chapter, where to go on, what to repeat.

It reads what lies in the study folder, the chapters as the book wrote them and the record; no declaration and no
solution, so it costs no more than that and says the same in a course, of whose exercises nothing is recorded.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

from .edition_cells import TITLE, mark_of, prompts_of, text
from .progress import EDITIONS, Progress, done, totals
from .record import Data, empty, last_done
from .shown import START

TEMPLATE = Path(__file__).with_suffix(".html.j2")
REPEATED = 5  # exercises to repeat that are named
QUESTION = re.compile(r"\*(“[^”]+”)\*")


@dataclass(frozen=True)
class ChapterProgress:
    """A chapter of the folder: its name, its notebook's cells as the book wrote them, its exercises' public records."""

    name: str
    cells: Sequence[Mapping[str, Any]]
    exercises: Sequence[Mapping[str, Any]]

    @cached_property
    def opening(self) -> list[str]:
        """The paragraphs of the first text."""
        first = next((text(cell) for cell in self.cells if cell["cell_type"] == "markdown"), "")
        return [part.strip() for part in first.split("\n\n")]

    @property
    def title(self) -> str:
        """The heading, or the name where there is none."""
        return self.opening[0][2:] if self.opening[0].startswith("# ") else self.name

    @property
    def question(self) -> str:
        """The question that it opens with; "" where it opens with none."""
        match = QUESTION.fullmatch(self.opening[1]) if len(self.opening) > 1 else None
        return match[1] if match else ""

    @cached_property
    def prompts(self) -> dict[str, Any]:
        """The prompts by their exercises."""
        return prompts_of([dict(cell) for cell in self.cells])

    def label(self, exercise: str) -> str:
        """ "Exercise 3.1: The simplest kernel"."""
        prompt = self.prompts.get(exercise)
        match = TITLE.match(text(prompt)) if prompt else None
        number = mark_of(prompt).get("number", exercise) if prompt else exercise
        return f"Exercise {number}" + (f": {match['title']}" if match and match["title"] else "")

    def section(self, heading: str) -> str | None:
        """The id of the cell that has a heading."""
        line = re.compile(rf"^#+ {re.escape(heading)}$", re.M)
        return next(
            (cell["id"] for cell in self.cells if cell["cell_type"] == "markdown" and line.search(text(cell))), None
        )


@dataclass(frozen=True)
class Missed:
    """An exercise whose last answer was wrong, and what the learner did there, as far as that has a name."""

    chapter: ChapterProgress
    exercise: str
    did: Sequence[tuple[str, ChapterProgress | None, str]]  # what, and the chapter and section that explain it


@dataclass(frozen=True)
class ProgressOverview:
    """A learner's record of the `chapters`, as seen from the notebook in the folder `at`; `home` is the study folder,
    None outside of one; `trouble` says why the record cannot be read. A notebook shows a table, a terminal a few
    lines."""

    chapters: Sequence[ChapterProgress]
    data: Data
    at: Path
    home: Path | None = None
    trouble: str = ""

    @cached_property
    def last(self) -> tuple[ChapterProgress, str] | None:
        """The exercise about which something was done last, with its chapter."""
        known = [
            (last_done(self._entry(one)), chapter, one["id"]) for chapter in self.chapters for one in chapter.exercises
        ]
        time, chapter, exercise = max(known, key=lambda one: one[0], default=("", None, ""))
        return (chapter, exercise) if time and chapter else None

    @property
    def onward(self) -> tuple[ChapterProgress, str] | None:
        """Where to go on: the last exercise while it is not done, else the first one after it that is not, from the end
        of the book on again from its beginning. None before anything is done, and where all is."""
        if self.last is None:
            return None
        chapters = sorted(self.chapters, key=lambda chapter: chapter.name)
        exercises = [(chapter, one) for chapter in chapters for one in chapter.exercises]
        at = next(i for i, (_, one) in enumerate(exercises) if one["id"] == self.last[1])
        opened = (
            (chapter, one["id"]) for chapter, one in exercises[at:] + exercises[:at] if not done(self._entry(one), one)
        )
        return next(opened, None)

    @property
    def missed(self) -> list[Missed]:
        """The exercises to repeat, those missed last first."""
        dated = []
        for chapter in self.chapters:
            for exercise in chapter.exercises:
                entry = self._entry(exercise)
                attempts = entry.get("attempts", {})
                latest = max(attempts, default="")
                if latest and attempts[latest]["score"] < 1 and not done(entry, exercise):
                    dated.append((latest, Missed(chapter, exercise["id"], self._did(attempts[latest]))))
        dated.sort(key=lambda exercise: exercise[0], reverse=True)
        return [missed for _, missed in dated]

    def sums(self, chapter: ChapterProgress | None = None) -> tuple[int, int, str, str]:
        """Of a chapter, or of all: the exercises done, how many there are, the points, and what they come to."""
        exercises = [one for part in ([chapter] if chapter else self.chapters) for one in part.exercises]
        finished, reached, available = totals(self.data, exercises)
        return finished, len(exercises), f"{reached:.4g}", f"{available:.4g}"

    def link(self, chapter: ChapterProgress, cell: str | None = None) -> str:
        """The address of a chapter's notebook, or of a cell in it, as JupyterLab follows it."""
        path = f"{chapter.name}/{chapter.name}.ipynb" if self.home else f"{chapter.name}.ipynb"
        return self._address(path) + (f"#cell-id={quote(cell)}" if cell else "")

    @property
    def back(self) -> str:
        """The address of the start page; "" where this is it, or there is none."""
        if self.home is None or self.at == self.home or not (self.home / START).is_file():
            return ""
        return self._address(START)

    def _repr_html_(self) -> str:
        from jinja2 import Environment, StrictUndefined

        from ..values.inline_html import inline_html

        environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
        template = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
        return template.render(overview=self, md=inline_html, missed=self.missed[:REPEATED]).strip()

    def __str__(self) -> str:
        lines = [self.trouble] if self.trouble else []
        lines += [f"{chapter.title}: {_said(self.sums(chapter))}" for chapter in self.chapters]
        if self.onward:
            chapter, exercise = self.onward
            lines.append(f"Continue: {chapter.label(exercise)}")
        return "\n".join([*lines, f"In all: {_said(self.sums())}"])

    __repr__ = __str__

    def _entry(self, exercise: Mapping[str, Any]) -> Data:
        return self.data["exercises"].get(exercise["id"], {})

    def _did(self, attempt: Mapping[str, Any]) -> list[tuple[str, ChapterProgress | None, str]]:
        chapters = {chapter.name: chapter for chapter in self.chapters}
        known = [_named()[name] for name in attempt.get("mistakes", []) if name in _named()]
        return [(one.did, chapters.get(one.page), one.section) for one in known]

    def _address(self, path: str) -> str:
        here = self.home / path if self.home else self.at / path
        return quote(Path(os.path.relpath(here, self.at)).as_posix())


def progress() -> ProgressOverview:
    """What you have done of each chapter, this one first; where to go on, and what to repeat."""
    return overview()


def overview(at: Path | None = None) -> ProgressOverview:
    """What is done in the study folder that `at` is, or is in (default: the current folder), the chapter there first;
    outside of one, what is done of the exercises beside the notebook."""
    at = (at or Path.cwd()).resolve()
    record = Progress.below(at) if at != Path.cwd().resolve() else Progress.here()
    home = next((above for above in (at, *at.parents) if (above / EDITIONS).is_dir()), None)
    folders = sorted((home / EDITIONS).glob("*/")) if home else [at]
    present = [chapter for folder in folders if (chapter := _chapter(folder)) is not None]
    present.sort(key=lambda chapter: chapter.name != at.name)
    try:
        return ProgressOverview(present, record.data(), at, home)
    except OSError as error:
        return ProgressOverview(present, empty(), at, home, f"The record cannot be read: {error.strerror or error}.")


def _chapter(folder: Path) -> ChapterProgress | None:
    """The chapter in a folder; None where there is none that can be read."""
    try:
        exercises = json.loads((folder / "exercises.json").read_text(encoding="utf-8"))["exercises"]
        notebook = json.loads((folder / f"{folder.name}.ipynb").read_text(encoding="utf-8"))
        return ChapterProgress(folder.name, notebook["cells"], list(exercises.values()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _named() -> Mapping[str, Any]:
    """The misconceptions that the book knows by name; none where it is not at hand."""
    from ..declaration.misconceptions import misconceptions
    from ..values.book_root import book_root

    try:
        return misconceptions(book_root())
    except FileNotFoundError:
        return {}


def _said(sums: tuple[int, int, str, str]) -> str:
    finished, count, reached, available = sums
    return f"{finished} of {count} exercises done, {reached} of {available} points"


__all__ = ["ChapterProgress", "ProgressOverview", "overview", "progress"]
