"""What the scripts of the page that remember are told about the book: which exercises each chapter has, and which of
them catch a misconception."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...declaration.answer import JudgedBy
from ...declaration.exercise import Exercise
from ...values.inline_html import inline_html
from ..source.contents import ContentsEntry
from .misconceptions import for_pages, misconceptions

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from ..source.chapters import Chapter


def write(
    static: Path,
    root: Path,
    asked: Sequence[tuple[Chapter, NotebookNode]],
    entries: Sequence[ContentsEntry],
    *,
    course: bool,
) -> None:
    """Write the scripts into a folder; `asked` are the chapters, each with its learner's notebook. A `course` gets no
    word on mistakes."""
    (static / "book-data.js").write_text(book_js(asked, entries), encoding="utf-8")
    text = "" if course else mistakes_js(root, [chapter for chapter, _ in asked])
    (static / "misconceptions.js").write_text(text, encoding="utf-8")


def book_js(asked: Sequence[tuple[Chapter, NotebookNode]], entries: Sequence[ContentsEntry]) -> str:
    """The script `book-data.js`, for every chapter with its learner's notebook: exercises with ids, numbers, titles,
    kinds and points, and whether they are predictions and judged by machine. It has no answers: both editions have
    it."""
    titles = {entry.name: entry for entry in entries}
    chapters = [
        {
            "name": chapter.name,
            "number": titles[chapter.name].number,
            "title": titles[chapter.name].title,
            "exercises": _exercises(chapter, learner),
        }
        for chapter, learner in asked
    ]
    return _script("book", {"chapters": chapters})


def mistakes_js(root: Path, chapters: Sequence[Chapter]) -> str:
    """The script `misconceptions.js`: what is said of each misconception, where it is explained and what catches it."""
    exercises = [chapter.bank[name] for chapter in chapters for name in chapter.exercises]
    pages = {chapter.name for chapter in chapters} | {path.stem for path in (root / "docs").glob("*.md")}
    return _script("misconceptions", for_pages(misconceptions(root), exercises, pages))


def _exercises(chapter: Chapter, learner: NotebookNode) -> list[dict[str, Any]]:
    own = [cell.metadata.get("gpubook", {}) for cell in learner.cells]
    prompts = [(chapter.bank[one["exercise"]], one["number"]) for one in own if one.get("part") == "prompt"]
    return [_record(exercise, number) for exercise, number in prompts]


def _record(exercise: Exercise, number: str) -> dict[str, Any]:
    """What scripts know of an exercise: of those that are no predictions nothing is said, as most are none."""
    record = {
        "id": exercise.id,
        "number": number,
        "title": str(inline_html(exercise.title)),
        "kind": exercise.kind,
        "points": exercise.points,
        "judged": exercise.answer.judged_by is not JudgedBy.TEACHER,
    }
    return record | {"predict": True} if exercise.predict else record


def _script(name: str, data: Any) -> str:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"window.gpubook = Object.assign(window.gpubook ?? {{}}, {{ {name}: {text} }});\n"
