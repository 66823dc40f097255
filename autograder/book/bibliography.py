"""The sources of the book, docs/references.bib: "Williams et al., 2009" with a link.

Where a year is not enough, letters tell works apart: "NVIDIA, 2025c".
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from string import ascii_lowercase
from typing import Any

TITLE = re.compile(r"(\btitle\s*=\s*)(\{(?:[^{}]|\{[^{}]*\})*\})")


@dataclass(frozen=True)
class Bibliography:
    """docs/references.bib, read by pybtex."""

    path: Path

    def __contains__(self, key: str) -> bool:
        return key in self._all()

    def cite(self, key: str) -> str:
        """ "[Williams et al., 2009](https://doi.org/...)"; KeyError names the file and a close key."""
        text, url = self._entry(key)
        return f"[{text}]({url})" if url else text

    def described(self, key: str) -> tuple[str, str, str]:
        """Who and when, the address and the title of a source; the last two are empty where its entry has none."""
        return *self._entry(key), _titles(str(self.path), self.path.stat().st_mtime_ns)[key]

    def _all(self) -> dict[str, tuple[str, str]]:
        return _entries(str(self.path), self.path.stat().st_mtime_ns if self.path.is_file() else 0)

    def _entry(self, key: str) -> tuple[str, str]:
        entries = self._all()
        if key not in entries:
            close = difflib.get_close_matches(key, list(entries), n=1, cutoff=0.5)
            more = f"; did you mean {close[0]}?" if close else ""
            raise KeyError(f"{{cite}}`{key}`: unknown key; it is not in {self.path}{more}")
        return entries[key]


def for_page(text: str) -> str:
    """The text of a .bib file as Sphinx is to read it: a letter behind each year that an author has more than once, and
    titles with their own capitals."""
    from pybtex.database import parse_string

    for key, letter in _letters(parse_string(text, "bibtex").entries).items():
        entry = re.compile(rf"(@\w+\s*\{{\s*{re.escape(key)}\s*,.*?\byear\s*=\s*[{{\"]?\d{{4}})", re.S)
        text = entry.sub(rf"\g<1>{letter}", text, count=1)
    return TITLE.sub(r"\1{\2}", text)


@cache
def _entries(path: str, _changed: int) -> dict[str, tuple[str, str]]:
    from pybtex.database import parse_file

    if not Path(path).is_file():
        return {}
    entries = parse_file(path, "bibtex").entries
    letters = _letters(entries)
    return {key: (_author_year(entry) + letters.get(key, ""), _url(entry.fields)) for key, entry in entries.items()}


@cache
def _titles(path: str, _changed: int) -> dict[str, str]:
    from pybtex.database import parse_file

    entries = parse_file(path, "bibtex").entries
    return {key: re.sub(r"[{}\\]", "", entry.fields.get("title", "")) for key, entry in entries.items()}


def _letters(entries: Mapping[str, Any]) -> dict[str, str]:
    """a, b, c, ... for the works of one author in one year, in the order of their titles, as the page lists them."""
    alike: dict[str, list[str]] = {}
    for key, entry in entries.items():
        if re.fullmatch(r"\d{4}", entry.fields.get("year", "")):
            alike.setdefault(_author_year(entry), []).append(key)
    return {
        key: letter
        for keys in alike.values()
        if len(keys) > 1
        for letter, key in zip(_alphabet(), sorted(keys, key=lambda key: _title(entries[key])), strict=False)
    }


def _alphabet() -> Iterator[str]:
    """a to z, then aa to zz."""
    yield from ascii_lowercase
    yield from map("".join, product(ascii_lowercase, repeat=2))


def _title(entry: Any) -> str:
    return re.sub(r"[{}\\]", "", entry.fields.get("title", "")).casefold()


def _author_year(entry: Any) -> str:
    people = entry.persons.get("author") or entry.persons.get("editor") or []
    names = [" ".join((*p.prelast_names, *p.last_names)) for p in people]
    names += ["and more"] * (names[-1:] == ["others"])  # "A and others" are more than two
    who = {0: entry.fields.get("title", entry.key), 1: names[0] if names else ""}.get(len(names)) or (
        " and ".join(names) if len(names) == 2 else f"{names[0]} et al."
    )
    return f"{re.sub(r'[{}]', '', who)}, {entry.fields.get('year', 'n.d.')}"


def _url(fields: Mapping[str, str]) -> str:
    if fields.get("url"):
        return fields["url"]
    if fields.get("doi"):
        return f"https://doi.org/{fields['doi']}"
    return f"https://arxiv.org/abs/{fields['eprint']}" if fields.get("eprint") else ""
