"""How a table of this folder is read and checked: one record a key, one value a line, each with its source.

A line of a TOML file reads

    bandwidth = { value = 25e9, unit = "B/s", printed = "50 GB/s", factor = 0.5, source = "...", confidence = "..." }

with `value` in SI, and `value = printed * factor`. `read` refuses whatever breaks these rules and names the
file, the key and the field. `Table` is the mapping that a reader gets: filled when first asked for, and an
unknown key is answered with those that look like it.
"""

import csv
import math
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from difflib import get_close_matches
from functools import cached_property
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from hwlib.units import show

FEW = 12
"""Names that an error lists in full."""


class SpecError(ValueError):
    """A table of this folder that breaks its own rules; the message names file, key and field."""


class Datum(NamedTuple):
    """One value of one record, and where it comes from.

    `printed` is the source's figure; times `factor` it is `value` (0.5: both directions were printed, or the
    sparse rate; 1.048576: the source's MB is a MiB). `also` lists what other sources print, `note` says why
    we side as we do.
    """

    value: float
    unit: str
    printed: str
    meaning: str
    source: str
    confidence: str
    note: str = ""
    factor: float = 1.0
    also: tuple[str, ...] = ()


def quantity(unit: str, meaning: str) -> Any:
    """A field that the tables give a value with a source; None where nobody confirms one."""
    return field(default=None, metadata={"unit": unit, "meaning": meaning})


def needed(unit: str, meaning: str) -> Any:
    """A field that every record of its kind has a value for, with a source."""
    return field(default=None, metadata={"unit": unit, "meaning": meaning, "needed": True})


def text() -> Any:
    """A field of text that a record may lack; then it is empty."""
    return field(default="", metadata={"text": True})


@dataclass(frozen=True, repr=False)
class Record:
    """What every row of every table has: its key, a name, and the source of each of its values.

    A subclass adds texts (fields without a default, or `text()`) and values (fields made by `quantity`).
    """

    key: str
    name: str
    data: Mapping[str, Datum]

    def __repr__(self) -> str:
        return f"<{self.name}: {', '.join(f'{name} {_shown(datum)}' for name, datum in self.data.items())}>"

    def _repr_markdown_(self) -> str:
        texts = [(f.name, getattr(self, f.name)) for f in fields(self) if _is_text(f) and f.name != "name"]
        rows = [(name, value, "", "", "") for name, value in texts if value]
        for name, datum in self.data.items():
            rows.append((name, _shown(datum), datum.meaning, datum.printed, datum.source))
        return f"**{self.name}** (`{self.key}`)\n\n" + _markdown(("", "value", "what", "printed", "source"), rows)

    def datum(self, name: str) -> Datum:
        """The value of `name` with its source. KeyError, naming the fields there are, where there is none."""
        known = quantities(type(self))
        if name in self.data:
            return self.data[name]
        if name in known:
            raise KeyError(f"{self.key} has no confirmed {name}; it has {', '.join(self.data)}")
        raise KeyError(unknown("field", name, known))


def _shown(datum: Datum) -> str:
    """A value to be read, with its unit; clocks and powers in the units that are named for them."""
    return show(datum.value, {"1/s": "Hz", "J/s": "W"}.get(datum.unit, datum.unit))


def _markdown(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A table for a notebook; the first column is names as code writes them."""
    cells = [[str(cell).replace("|", "\\|") for cell in row] for row in rows]
    lines = [f"`{first}` | {' | '.join(rest)}" for first, *rest in cells]
    head = tuple(head)
    return "\n".join(f"| {line} |" for line in [" | ".join(head), " | ".join([":--"] * len(head)), *lines])


class Named(Protocol):
    """What a `Table` holds: a record, or another row that has a key and a name."""

    @property
    def key(self) -> str:
        """What it is asked for by."""

    @property
    def name(self) -> str:
        """What people call it."""


R = TypeVar("R", bound=Record)
Row = TypeVar("Row", bound=Named)


def quantities(record: type[Record]) -> Mapping[str, tuple[str, str]]:
    """The values that a kind of record may have: each with its unit and its meaning."""
    rows = {f.name: (f.metadata["unit"], f.metadata["meaning"]) for f in fields(record) if "unit" in f.metadata}
    return MappingProxyType(rows)


def _texts(record: type[Record]) -> dict[str, bool]:
    """The texts of a kind of record, and whether each must be there."""
    return {f.name: f.default is MISSING for f in fields(record) if _is_text(f)}


def _is_text(f: Field[Any]) -> bool:
    return "unit" not in f.metadata and f.name not in ("key", "data")


def unknown(what: str, name: object, known: Iterable[str]) -> str:
    """The sentence about a name that is not there: the close ones, if there are any, and of few names all."""
    known = list(known)
    lower = {one.lower(): one for one in known}
    close = [lower[one] for one in get_close_matches(str(name).lower(), lower, 3, 0.4 if len(known) <= FEW else 0.5)]
    rest = [one for one in known if one not in close]
    return f"no {what} {name!r}; there is {', '.join([*close, *rest] if len(known) <= FEW else close or known)}"


def file_text(file: str) -> str:
    """The text of a file of this folder."""
    return files(__package__).joinpath(file).read_text("utf-8")


def csv_rows(file: str) -> Iterator[dict[str, str]]:
    """The rows of a CSV of this folder, without its lines of comment."""
    return csv.DictReader(line for line in file_text(file).splitlines() if not line.startswith("#"))


def read(record: type[R], file: str, content: str) -> Iterator[R]:
    """The records of one table, checked: known fields, the field's own unit, a value, what was printed, a
    source.

    `file` is only for the messages. Raises SpecError, which names file, key and field.
    """
    try:
        rows = tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        raise SpecError(f"{file}: {error}") from None
    known, texts = quantities(record), _texts(record)
    musts = [f.name for f in fields(record) if "needed" in f.metadata]
    for key, row in rows.items():
        if not isinstance(row, dict):
            raise SpecError(f"{file}, {key}: expected a table of fields, got {row!r}")
        head = {name: row.pop(name, "") for name in texts}
        for name in row:
            if name not in known:
                raise SpecError(f"{file}, {key}: " + unknown("field", name, [*known, *texts]))
        data = {name: _datum(f"{file}, {key}.{name}", cell, *known[name]) for name, cell in row.items()}
        for name, must in texts.items():
            if not isinstance(head[name], str) or (must and not head[name]):
                raise SpecError(f"{file}, {key}.{name}: expected a text, got {head[name]!r}")
        if lacks := [name for name in musts if name not in data]:
            raise SpecError(f"{file}, {key}: {', '.join(lacks)} missing")
        values: dict[str, Any] = {name: datum.value for name, datum in data.items()}
        yield record(key=key, data=MappingProxyType(data), **head, **values)


def _datum(where: str, cell: Any, unit: str, meaning: str) -> Datum:
    """One line of a table, checked; `where` names it in the messages."""
    try:
        datum = Datum(meaning=meaning, **cell | {"also": tuple(cell.get("also", ()))})
    except (AttributeError, TypeError) as error:
        raise SpecError(f"{where}: {error}") from None
    if datum.unit != unit:
        raise SpecError(f"{where}: expected the unit {unit!r}, got {datum.unit!r}")
    good = isinstance(datum.value, int | float) and not isinstance(datum.value, bool)
    if not good or not 0 <= datum.value < math.inf:
        raise SpecError(f"{where}: expected a finite value of at least 0, got {datum.value!r}")
    return datum


def refer(file: str, row: Record, name: str, table: Mapping[str, Any]) -> None:
    """Check that the text `name` of a record is a key of another table, or empty. Raises SpecError."""
    key = getattr(row, name)
    if key and key not in table:
        raise SpecError(f"{file}, {row.key}.{name}: " + unknown(name, key, table))


def _words(name: str) -> list[str]:
    """The words and numbers of a name: those of "Llama 3 8B" are those of "llama3-8b"."""
    return re.findall(r"[^\W\d_]+|[\d.]+", name.casefold())


class Table(Mapping[str, Row], Generic[Row]):
    """Every record of some files by key, read once, when first asked for.

    `read` gives the records of one file. An unknown key raises KeyError with the close ones.
    """

    def __init__(self, what: str, read: Callable[[str], Iterable[Row]], files: Iterable[str]):
        self._what, self._read, self._files = what, read, tuple(files)

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

    def of(self, row: Row | str) -> Row:
        """The row that `find` finds; a record of this kind as it is. Raises KeyError, and TypeError for neither."""
        if isinstance(row, str):
            return self.find(row) or self[row]
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
        return _markdown(("key", self._what), [(key, row.name) for key, row in self.items()])
