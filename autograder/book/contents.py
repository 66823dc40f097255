"""The chapters of a book, written or not: docs/chapters.toml, the one place for their titles.

A book without that file has the chapters that have a source, under their own headings.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .drafts import is_draft
from .notebook import ChapterError

HEADING = re.compile(r"^# (.+)$", re.M)
WRITTEN, IN_WORK, PLANNED = "written", "in work", "not written yet"


@dataclass(frozen=True)
class Entry:
    """A chapter in the contents: "13-expert-parallelism", its title, what it is about, and its state."""

    name: str
    title: str
    about: str
    state: str

    @property
    def number(self) -> str:
        """ "13"; "" for a chapter without a number."""
        number = self.name.partition("-")[0].lstrip("0")
        return number if number.isdigit() else ""

    @property
    def topic(self) -> str:
        """ "expert-parallelism"."""
        return self.name.partition("-")[2] if self.number else self.name

    @property
    def label(self) -> str:
        """ "chapter 13"; the title of a chapter without a number."""
        return f"chapter {self.number}" if self.number else self.title


def contents(root: Path) -> list[Entry]:
    """The chapters of the book at `root`, in their order. ChapterError for a file that cannot be read."""
    path = root / "docs" / "chapters.toml"
    sources = {p.stem: p for p in sorted((root / "solutions").glob("*/*.md")) if p.stem == p.parent.name}
    stamps = tuple(p.stat().st_mtime_ns for p in (path, *sources.values()) if p.is_file())
    return list(_contents(path, tuple(sources.items()), stamps))


def find(entries: list[Entry], key: str) -> Entry:
    """The chapter of a number, a name, a topic or a word of it or of its title ("experts"); ChapterError if there is
    none, or more than one."""
    exact = [e for e in entries if key in (e.number, e.name, e.topic)]
    word = key.casefold().removesuffix("s")
    alike = exact or [e for e in entries if word and word in f"{e.topic} {e.title}".casefold()]
    if len(alike) != 1:
        listed = ", ".join(e.name for e in alike or entries)
        found = "may be any of" if alike else "is not a chapter; known are"
        raise ChapterError(f"{{chapter}}`{key}` {found}: {listed}")
    return alike[0]


def numbered(title: str, name: str) -> str:
    """A chapter's title with its number: "6. Collectives"."""
    number = Entry(name, title, "", PLANNED).number
    return f"{number}. {title}" if number else title


@cache
def _contents(path: Path, sources: tuple[tuple[str, Path], ...], _stamps: tuple[int, ...]) -> tuple[Entry, ...]:
    try:
        listed = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except tomllib.TOMLDecodeError as error:
        raise ChapterError(f"{path}: {error}; a table of each chapter was expected") from None
    states = {name: IN_WORK if is_draft(source) else WRITTEN for name, source in sources}
    headings = {name: HEADING.search(source.read_text(encoding="utf-8")) for name, source in sources}
    return tuple(
        Entry(
            name,
            title=listed.get(name, {}).get("title") or (found[1] if (found := headings.get(name)) else name),
            about=listed.get(name, {}).get("about", ""),
            state=states.get(name, PLANNED),
        )
        for name in sorted({*listed, *states})
    )
