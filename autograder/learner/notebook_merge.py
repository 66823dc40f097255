"""A learner's notebook carried over to a new edition of its chapter: a three-way merge by the ids of cells.

What the learner has not touched becomes the new edition's, and whatever they wrote stays: their answers, their own
cells, what they changed in the book's, outputs, attachments. Text of the book that is locked is always the new
edition's. A cell that is not in the book any more goes, unless the learner changed it: then it is kept below a note,
as text that does not run, since the names that it used may be gone.

Cells stand in the order of the new edition; a learner's own follows the cell that it followed before. One of the
book's that the learner deleted stays deleted, but for questions and their answer cells.

Where the edition is not known that a notebook came from, a cell counts as the learner's unless it proves to be the
book's: a question, an answer cell that holds its stub, a cell whose id is the digest of its text.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from .edition_cells import (
    LOCKED,
    THE_BOOKS,
    Cell,
    added_attachments,
    as_kind,
    digest,
    freed,
    identified,
    looks_like_ours,
    mark_of,
    named,
    prompts_of,
    proven,
    similarity,
    text,
)
from .edition_cells import question as asked
from .notebook_file import Notebook

ALIKE = 0.6  # of the words of two questions, for one to be the other under a new id


@dataclass
class Changes:
    """What became of a notebook's cells, for a sentence to the learner."""

    new: int = 0
    gone: int = 0
    changed: int = 0
    renamed: dict[str, str] = field(default_factory=dict)  # the exercises that are asked under another id
    left_out: list[str] = field(default_factory=list)  # the exercises that are gone, and were answered
    asked_anew: list[str] = field(default_factory=list)  # the answered exercises whose question is another now
    kept: int = 0  # other cells of the book that the learner had changed and the edition has not any more
    retaken: list[str] = field(default_factory=list)  # the locked cells that the learner had written into
    unsure: int = 0  # passages of which nobody knows whether the learner changed them


@dataclass(frozen=True)
class Merged:
    """The notebook that comes out, and what has changed in it."""

    notebook: Notebook
    changes: Changes


def merge(
    base: Notebook | None, mine: Notebook, new: Notebook, elsewhere: Mapping[str, str] = MappingProxyType({})
) -> Merged:
    """The learner's notebook `mine`, which came from the edition `base` (None: unknown), brought to the edition `new`.

    All three have a list of cells. Where nothing of the learner's is in it, the notebook equals `new`. `elsewhere` has
    the chapters of the exercises that the new edition asks in others.
    """
    return _Merge(base, mine, new, elsewhere).result()


class _Merge:
    """One merge: the cells of the three notebooks by their ids, and what is made of them."""

    def __init__(self, base: Notebook | None, mine: Notebook, new: Notebook, elsewhere: Mapping[str, str]):
        self.base, self.mine, self.new, self.elsewhere = base, mine, new, elsewhere
        self.known = base is not None
        before = identified((base or {"cells": []})["cells"], ())
        self.cells = identified(mine["cells"], before)
        self.theirs = {cell["id"]: cell for cell in self.cells}
        if self.known:
            self.was = {cell["id"]: cell for cell in before}
        else:
            self.was = {cell["id"]: origin for cell in self.cells if (origin := proven(cell)) is not None}
        self.coming = {cell["id"]: cell for cell in identified(new["cells"], ())}
        self.before, self.now = prompts_of((*self.was.values(), *self.cells)), prompts_of(self.coming.values())
        self.changes = Changes()
        self.changes.renamed = self._renamed()

    def result(self) -> Merged:
        """Merge."""
        book = [self._merged(cell) for cell in self.coming.values() if not self._deleted(cell)]
        placed = {cell["id"]: cell for cell in book}
        last = {mark_of(cell).get("exercise"): cell["id"] for cell in book}
        after: dict[str | None, list[Cell]] = defaultdict(list)
        kept_at: dict[str | None, list[Cell]] = defaultdict(list)
        unsure: list[Cell] = []
        anchor = None
        for cell in self.cells:
            name = cell["id"]
            if name in placed:
                anchor = name
                if self._is_other_kind(name) and self._touched(name):
                    kept_at[last.get(mark_of(cell).get("exercise"), name)] += self._kept(cell)
            elif not self._is_books(cell):
                after[anchor].append(cell)
            elif not self._touched(name):
                self.changes.gone += 1
                self._retake(cell)
            elif not self.known and cell["cell_type"] == "markdown" and "exercise" not in mark_of(cell):
                unsure.append(freed(cell))
                self.changes.unsure += 1
            elif successor := self.changes.renamed.get(mark_of(cell).get("exercise", "")):
                kept_at[last.get(successor, anchor)] += self._kept(cell)
            else:
                after[anchor] += self._kept(cell)
        cells = after[None]
        for cell in book:
            cells += [cell, *kept_at[cell["id"]], *after[cell["id"]]]
        cells += kept_at[None]
        notebook = {**self.new, "metadata": self._metadata(), "cells": _once(cells + _passages(unsure))}
        if (minor := self.mine.get("nbformat_minor", 0)) > self.new.get("nbformat_minor", 0):
            notebook["nbformat_minor"] = minor
        return Merged(notebook, self.changes)

    def _is_books(self, cell: Cell) -> bool:
        """Whether the book made this cell, in whatever edition."""
        return cell["id"] in (self.was if self.known else self.coming) or (not self.known and looks_like_ours(cell))

    def _touched(self, name: str) -> bool:
        """Whether the learner wrote into the cell, as far as is known; outputs are no writing."""
        cell, was = self.theirs[name], self.was.get(name)
        if mark_of(was or cell).get("part") in LOCKED:
            return False
        return self._wrote(name) or bool(added_attachments(cell, was))

    def _wrote(self, name: str) -> bool:
        """Whether the text of the cell is the learner's, or its kind."""
        cell, was = self.theirs[name], self.was.get(name, self.coming.get(name))
        return was is None or text(cell) != text(was) or cell["cell_type"] != was["cell_type"]

    def _retake(self, mine: Cell) -> None:
        """Note a locked cell that an editor let the learner write into."""
        was = self.was.get(mine["id"])
        if was is not None and mark_of(was).get("part") in LOCKED and self.known:
            now = self.coming.get(mine["id"], was)
            if text(mine) not in (text(was), text(now)):
                self.changes.retaken.append(mine["id"])

    def _deleted(self, cell: Cell) -> bool:
        """Whether the learner took the cell out; one of an exercise always comes back."""
        gone = self.known and cell["id"] in self.was and cell["id"] not in self.theirs
        return gone and "exercise" not in mark_of(cell)

    def _is_other_kind(self, name: str) -> bool:
        """Whether the edition has made code of text, or text of code, under the same id."""
        was, now = self.was.get(name), self.coming[name]["cell_type"]
        return was is not None and now not in (was["cell_type"], self.theirs[name]["cell_type"])

    def _merged(self, new: Cell) -> Cell:
        """A cell of the new edition with what is the learner's in it."""
        name = new["id"]
        mine, was = self.theirs.get(name), self.was.get(name)
        if mine is None:
            self.changes.new += self.was.get(name) is None
            return new
        out = copy.deepcopy(new)
        if self._is_other_kind(name):
            self.changes.changed += 1
            return out
        if mark_of(new).get("part") in LOCKED:
            self._retake(mine)
            self.changes.changed += text(mine) != text(new)
            self._ask_anew(new, was)
        elif self._wrote(name):
            if text(mine) != text(new):
                out["source"] = mine["source"]
            if mine["cell_type"] != new["cell_type"]:
                out = {**as_kind(out, mine["cell_type"]), "source": mine["source"]}
            unproven = was is None and "exercise" not in mark_of(new)
            self.changes.unsure += unproven and text(mine) != text(new)
        else:
            self.changes.changed += text(mine) != text(new)
        if attachments := {**new.get("attachments", {}), **added_attachments(mine, was)}:
            out["attachments"] = attachments
        if out["cell_type"] == mine["cell_type"] == "code":
            for key in ("outputs", "execution_count"):
                if key in mine and (was is None or mine[key] != was.get(key)):
                    out[key] = mine[key]
        out["metadata"] = _metadata(was, mine, new)
        return out

    def _ask_anew(self, new: Cell, was: Cell | None) -> None:
        """Note an answered exercise whose question, or the form of whose answer, is another now."""
        exercise = str(mark_of(new).get("exercise"))
        if mark_of(new).get("part") != "prompt" or not {exercise} <= self.theirs.keys() & self.coming.keys():
            return
        before, now = self.was.get(exercise), self.coming[exercise]
        if was is None or before is None or not self.known or not self._touched(exercise):
            return
        if asked(was) != asked(new) or mark_of(before).get("stub") != mark_of(now).get("stub"):
            self.changes.asked_anew.append(exercise)

    def _renamed(self) -> dict[str, str]:
        """The exercises that are asked under another id: the most similar questions first, each once."""
        before, now = self.before, self.now
        pairs = [
            (similarity(before[old], now[fresh]), old, fresh)
            for old in sorted(before.keys() - now.keys())
            for fresh in sorted(now.keys() - before.keys())
        ]
        renamed: dict[str, str] = {}
        for score, old, fresh in sorted(pairs, key=lambda pair: (-pair[0], *pair[1:])):
            if score >= ALIKE and old not in renamed and fresh not in renamed.values():
                renamed[old] = fresh
        return renamed

    def _kept(self, cell: Cell) -> list[Cell]:
        """A cell of the book that is not in it any more, or not of this kind: a note, and what the learner wrote."""
        exercise = str(mark_of(cell).get("exercise", ""))
        if not exercise:
            self.changes.kept += 1
        elif exercise in self.now and exercise not in self.changes.asked_anew:
            self.changes.asked_anew.append(exercise)
        elif exercise not in (*self.now, *self.changes.renamed, *self.changes.left_out):
            self.changes.left_out.append(exercise)
        name = f"kept-{digest(cell['id'], text(cell))}"
        note = {
            "cell_type": "markdown",
            "id": f"{name}-note",
            "metadata": {},
            "source": [f"**Yours, from an earlier edition.** {self._why(cell, exercise)}"],
        }
        return [note, {**freed(cell), "id": name}]

    def _why(self, cell: Cell, exercise: str) -> str:
        inert = " It does not run." if cell["cell_type"] == "code" else ""
        if not exercise:
            return (
                f"The book has this cell, which you had changed, no longer as it was; yours is kept as it was.{inert}"
            )
        which = named(exercise, self.before.get(exercise))
        if successor := self.changes.renamed.get(exercise):
            return f"The exercise {which} is now `{successor}`, above; this was your answer to it.{inert}"
        if exercise in self.now:
            return f"The exercise {which} asks for something else now; this was your answer to it.{inert}"
        if chapter := self.elsewhere.get(exercise):
            return f"The exercise {which} is now in the chapter {chapter}; this was your answer to it.{inert}"
        return f"The exercise {which} is not in the book any more; this was your answer to it.{inert}"

    def _metadata(self) -> dict[str, Any]:
        """The notebook's: the book's own is the new edition's, with the learner's id."""
        was = (self.base or {}).get("metadata", {})
        return _metadata({"metadata": was}, {"metadata": self.mine.get("metadata", {})}, self.new, ("gpubook",))


def _metadata(
    was: Mapping[str, Any] | None, mine: Mapping[str, Any], new: Mapping[str, Any], books: Sequence[str] = THE_BOOKS
) -> dict[str, Any]:
    """The new edition's metadata with what the learner, or their editor, has set since `was`; of the keys in `books`
    only what the book does not have."""
    before, own, out = (dict((part or {}).get("metadata", {})) for part in (was, mine, new))
    for key, value in own.items():
        if key not in books and (key not in before or before[key] != value):
            out[key] = value
        elif key in books and isinstance(value, dict) and key in out:
            had = before.get(key, {}) if isinstance(before.get(key), dict) else {}
            out[key] = {**{name: one for name, one in value.items() if name not in had}, **out[key]}
    for key in before:
        if key not in own and key not in books and out.get(key) == before[key]:
            del out[key]
    return out


def _passages(cells: list[Cell]) -> list[Cell]:
    """The end of a notebook whose edition is not known: what may be the learner's, below one note."""
    if not cells:
        return []
    name = f"kept-{digest(*(cell['id'] for cell in cells))}"
    note = "**From an earlier edition.** You may have written into these passages; delete them once you have looked."
    out = [{"cell_type": "markdown", "id": f"{name}-note", "metadata": {}, "source": [note]}]
    return out + [{**cell, "id": f"kept-{digest(cell['id'], text(cell))}"} for cell in cells]


def _once(cells: list[Cell]) -> list[Cell]:
    """The cells with different ids: what is kept already is not kept again."""
    seen: dict[str, Cell] = {}
    for cell in cells:
        name = cell["id"]
        while name in seen and text(seen[name]) != text(cell):
            name += "x"
        seen.setdefault(name, {**cell, "id": name})
    return list(seen.values())
