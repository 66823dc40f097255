"""The tables of this folder: mappings that are read on first use.

The error for an unknown key lists similar ones. `hwlib.specs.reader` says how a row is written and checked.
"""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cached_property
from importlib.resources import files
from typing import Any, Generic, Protocol, TypeVar

from hwlib.specs.shortened import short

LONGEST_NAME = 200  # characters of a name that an error repeats, and compares with others
FEW = 12
"""Names that an error lists in full."""


class SpecError(ValueError):
    """A table of this folder that breaks its own rules; the message names file, key and field."""


def markdown(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A table for a notebook; the first column is names as code writes them."""
    cells = [[str(cell).replace("|", "\\|") for cell in row] for row in rows]
    lines = [f"`{first}` | {' | '.join(rest)}" for first, *rest in cells]
    head = tuple(head)
    return "\n".join(f"| {line} |" for line in [" | ".join(head), " | ".join([":--"] * len(head)), *lines])


class Named(Protocol):
    """What a `Table` holds: a record, or another row that has a key and a name."""

    @property
    def key(self) -> str:
        """The key of the row."""

    @property
    def name(self) -> str:
        """The name that people use."""


Row = TypeVar("Row", bound=Named)


def unknown(what: str, name: object, known: Iterable[str]) -> str:
    """The message for an unknown name: it lists the known ones if they are few, else those that are close, if any."""
    known = list(known)
    text = str(name)[:LONGEST_NAME]
    shown = repr(name) if len(text) < LONGEST_NAME else short(text)
    lower = {one.lower(): one for one in known}
    close = [lower[one] for one in get_close_matches(text.lower(), lower, 3, 0.4 if len(known) <= FEW else 0.5)]
    rest = [one for one in known if one not in close]
    if close and len(known) > FEW:
        return f"unknown {what} {shown}; did you mean {' or '.join(close)}?"
    return f"unknown {what} {shown}; known: {', '.join([*close, *rest])}"


def file_text(file: str) -> str:
    """The text of a file of this folder."""
    return files(__package__).joinpath(file).read_text("utf-8")


def csv_rows(file: str) -> Iterator[dict[str, str]]:
    """The rows of a CSV of this folder, without its lines of comment."""
    return csv.DictReader(line for line in file_text(file).splitlines() if not line.startswith("#"))


def refer(file: str, row: Named, name: str, table: Mapping[str, Any]) -> None:
    """Check that the text `name` of a record is a key of another table, or empty. Raises SpecError."""
    key = getattr(row, name)
    if key and key not in table:
        raise SpecError(f"{file}, {row.key}.{name}: " + unknown(name, key, table))


def _words(name: str) -> list[str]:
    """The words and numbers of a name: those of "Llama 3 8B" are those of "llama3-8b"."""
    return re.findall(r"[^\W\d_]+|[\d.]+", name.casefold())


class Table(Mapping[str, Row], Generic[Row]):
    """Every record of some files by key, read once, when first asked for.

    `read` gives the records of one file; `described` the record that a text describes, such as the path of a file of
    one's own, or None. An unknown key raises KeyError with the close ones.
    """

    def __init__(
        self,
        what: str,
        read: Callable[[str], Iterable[Row]],
        files: Iterable[str],
        described: Callable[[str], Row | None] = lambda _: None,
    ):
        self._what, self._read, self._files, self._described = what, read, tuple(files), described

    @cached_property
    def _rows(self) -> dict[str, Row]:
        return {row.key: row for file in self._files for row in self._read(file)}

    def __getitem__(self, key: str) -> Row:
        if key not in self._rows:
            raise KeyError(unknown(self._what, key, self._rows))
        return self._rows[key]

    def find(self, text: str) -> Row | None:
        """The row of a key, or the only one whose key or name this is but for case, spaces and hyphens."""
        if text in self:
            return self[text]
        alike = [row for row in self.values() if _words(text) in (_words(row.key), _words(row.name))]
        return alike[0] if len(alike) == 1 else None

    def alike(self, text: str) -> list[Row]:
        """The rows whose key or name has every word and number of a text, in any order."""
        words = set(_words(text))
        return [row for row in self.values() if any(words <= set(_words(name)) for name in (row.key, row.name))]

    def of(self, row: Row | str) -> Row:
        """The row that `find` finds, or the record that the text describes; a record of this kind as it is. Raises
        KeyError, TypeError for neither, and SpecError for a description that cannot be.
        """
        if isinstance(row, str):
            return self.find(row) or self._described(row) or self[row]
        if not isinstance(row, kind := type(next(iter(self._rows.values())))):
            raise TypeError(f"{self._what}: a key or a {kind.__name__} was expected, got {row!r}")
        return row

    def __contains__(self, key: object) -> bool:
        return key in self._rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return f"{self._what}{'es' if self._what.endswith('ch') else 's'}({', '.join(self)})"

    def _repr_markdown_(self) -> str:
        return markdown(("key", self._what), [(key, row.name) for key, row in self.items()])
