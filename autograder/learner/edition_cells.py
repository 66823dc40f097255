"""What the cells of a chapter's notebook are: which of them the book made, in which exercise, and what is a learner's.

A cell is the plain data of the notebook's file. Those of the book have ids that stay from edition to edition: the
exercise's id, with the part behind it, or a digest of the cell's text as it stands in the chapter's source.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

Cell = dict[str, Any]
LOCKED = ("prompt", "numbers", "grade")  # parts of an exercise that a learner does not write
THE_BOOKS = ("nbgrader", "gpubook", "deletable", "editable")  # metadata of a cell that is never a learner's
DIGEST = re.compile(r"([0-9a-f]{12})(-\d+)?(-caption)?")  # the id of a cell that no exercise made
OPTIONS = (*THE_BOOKS, "alt", "tags")  # what a chapter's source may set of a cell's metadata
SAME_NUMBER = 0.2  # what an equal number adds to the similarity of two questions
TITLE = re.compile(
    r"\*\*Exercise [^*]*\*\*(?: · (?!\d\S* points?$)(?P<title>.+?))?(?: · \d\S* points?)?$", re.MULTILINE
)


def text(cell: Mapping[str, Any]) -> str:
    """The source of a cell, which a file has as one text or as lines."""
    source = cell.get("source", "")
    return source if isinstance(source, str) else "".join(source)


def mark_of(cell: Cell) -> dict[str, Any]:
    """What the book notes in a cell's metadata: the exercise, the part, the number."""
    mark = cell.get("metadata", {}).get("gpubook")
    return mark if isinstance(mark, dict) else {}


def prompts_of(cells: Iterable[Cell]) -> dict[str, Cell]:
    """The prompts among cells, by their exercises; the first of each."""
    prompts: dict[str, Cell] = {}
    for cell in cells:
        mark = mark_of(cell)
        if mark.get("part") == "prompt" and cell["id"] == f"{mark.get('exercise')}-prompt":
            prompts.setdefault(str(mark["exercise"]), cell)
    return prompts


def similarity(one: Cell, other: Cell) -> float:
    """How much two prompts ask the same, between 0 and 1; an equal number of the exercise adds a little."""
    words, others = (question(prompt).split() for prompt in (one, other))
    same = mark_of(one).get("number") == mark_of(other).get("number")
    return SequenceMatcher(a=words, b=others, autojunk=False).ratio() + SAME_NUMBER * same


def question(prompt: Cell) -> str:
    """What a prompt asks: without its head, and without what is said in italics of how to answer."""
    parts = text(prompt).split("\n\n")
    return "\n\n".join(part for part in parts if not part.startswith(("**Exercise", "*")))


def named(exercise: str, prompt: Cell | None) -> str:
    """An exercise in a sentence: its id, and of its prompt the number and the title."""
    if prompt is None:
        return f"`{exercise}`"
    match = TITLE.match(text(prompt))
    number = mark_of(prompt).get("number")
    title = f", *{match['title']}*," if match and match["title"] else ""
    return f"`{exercise}`{f' ({number})' if number else ''}{title}"


def identified(cells: Sequence[Cell], before: Sequence[Cell]) -> list[Cell]:
    """The cells with an id each: one that an editor lost is found again by what the cell is, or by its text in the
    edition `before`; a second one of the same id is the learner's."""
    texts: dict[tuple[str, str], list[str]] = defaultdict(list)
    for cell in before:
        texts[cell["cell_type"], text(cell)].append(cell["id"])
    taken = {cell["id"] for cell in cells if "id" in cell}
    out: list[Cell] = []
    seen: set[str] = set()
    for number, cell in enumerate(cells):
        mark = mark_of(cell)
        name = cell.get("id")
        if name is None and (exercise := mark.get("exercise")):
            name = exercise if mark.get("part") == "answer" else f"{exercise}-{mark.get('part')}"
        elif name is None:
            free = (one for one in texts[cell["cell_type"], text(cell)] if one not in taken | seen)
            name = next(free, None)
        if name is None or name in seen:
            name = f"own-{digest(number, cell['cell_type'], text(cell))}"
        seen.add(name)
        out.append({**cell, "id": name})
    return out


def proven(cell: Cell) -> Cell | None:
    """The cell as the book had it, where it shows that by itself; else None."""
    mark = mark_of(cell)
    bare = as_kind(cell, cell["cell_type"])
    bare["metadata"] = {key: value for key, value in cell.get("metadata", {}).items() if key in OPTIONS}
    if mark.get("part") in LOCKED:
        return bare
    if mark.get("part") == "answer" and isinstance(mark.get("stub"), str):
        return {**bare, "source": mark["stub"]}
    match = DIGEST.fullmatch(cell["id"])
    if match and match[1] == hashlib.sha256(f"{cell['cell_type']}\0{text(cell)}".encode()).hexdigest()[:12]:
        return bare
    return None


def looks_like_ours(cell: Cell) -> bool:
    """Whether a cell has such an id as only the book gives."""
    mark = mark_of(cell)
    if exercise := mark.get("exercise"):
        return cell["id"] in (exercise, f"{exercise}-{mark.get('part')}")
    return DIGEST.fullmatch(cell["id"]) is not None


def added_attachments(mine: Cell, was: Cell | None) -> dict[str, Any]:
    """The attachments that the learner added or replaced."""
    before = (was or {}).get("attachments", {})
    return {name: data for name, data in mine.get("attachments", {}).items() if before.get(name) != data}


def as_kind(cell: Cell, kind: str) -> Cell:
    """The cell as one of another kind, with the fields that such a one has."""
    out = {key: value for key, value in cell.items() if key not in ("outputs", "execution_count", "attachments")}
    out["cell_type"] = kind
    return out | ({"outputs": [], "execution_count": None} if kind == "code" else {})


def freed(cell: Cell) -> Cell:
    """A cell of the book as one of the learner's own: nothing of it is locked or graded, and code does not run."""
    kind = "raw" if cell["cell_type"] == "code" else cell["cell_type"]
    out = as_kind(cell, kind) | {key: cell[key] for key in ("attachments",) if key in cell}
    out["metadata"] = {key: value for key, value in cell.get("metadata", {}).items() if key not in THE_BOOKS}
    return out


def digest(*parts: object) -> str:
    """A short name for what is made of these parts."""
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:12]
