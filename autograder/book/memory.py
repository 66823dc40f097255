"""What the scripts of the page that remember are told about the book: which exercises each chapter has."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..values.inline_html import inline_html
from .contents import Entry

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from .chapters import Chapter


def write(
    static: Path, asked: Sequence[tuple[Chapter, NotebookNode]], entries: Sequence[Entry], *, course: bool
) -> None:
    """Write the scripts into a folder; `asked` are the chapters, each with its learner's notebook."""
    (static / "book-data.js").write_text(book_js(asked, entries), encoding="utf-8")


def book_js(asked: Sequence[tuple[Chapter, NotebookNode]], entries: Sequence[Entry]) -> str:
    """The script `book-data.js`, for every chapter with its learner's notebook: exercises with ids, numbers, titles,
    kinds and points, and whether they are predictions. It has no answers, so both editions have it."""
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


def _exercises(chapter: Chapter, learner: NotebookNode) -> list[dict[str, Any]]:
    own = [cell.metadata.get("gpubook", {}) for cell in learner.cells]
    found = [(chapter.bank[one["exercise"]], one["number"]) for one in own if one.get("part") == "prompt"]
    return [
        {
            "id": exercise.id,
            "number": number,
            "title": str(inline_html(exercise.title)),
            "kind": exercise.kind,
            "points": exercise.points,
            "predict": exercise.predict,
        }
        for exercise, number in found
    ]


def _script(name: str, data: Any) -> str:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"window.gpubook = Object.assign(window.gpubook ?? {{}}, {{ {name}: {text} }});\n"
