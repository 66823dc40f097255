"""The rows of software.toml, checked to be rows with sections; the module of each section reads what stands in it.

A row is a software and release. It has sections: `time`, with one for each chip, `memory`, `features`, `serving`, and
`recipes`, with one for each name. What SHARED names holds for all sections of a row that do not say it themselves.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from hwlib.specs.reader import given, rows_of, text, values_of
from hwlib.specs.table import SpecError, unknown

FILE = "software.toml"
SHARED = ("name", "software", "released", "source")


def _table(place: str, cell: Any) -> Mapping[str, Any]:
    if not isinstance(cell, dict):
        raise SpecError(f"{place}: expected a section of fields, got {cell!r}")
    return cell


def _tables(place: str, cell: Any) -> Mapping[str, Mapping[str, Any]]:
    return {name: _table(f"{place}.{name}", part) for name, part in _table(place, cell).items()}


def _section() -> Any:
    """A section that a row may have; None where it has none."""
    return field(default=None, metadata={"bare": _table})


def _sections() -> Any:
    """Sections of which a row may have several, by name."""
    return field(default_factory=dict, metadata={"bare": _tables, "needed": False})


class SoftwareSection(NamedTuple):
    """A section as it is written: where it stands, the key of its record, its fields, and those that follow from where
    it stands.
    """

    place: str
    key: str
    fields: Mapping[str, Any]
    placed: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class SoftwareRow:
    """A row as it is written. With a `base` it has the memory and the features of that row where it has none itself."""

    key: str
    name: str = text()
    software: str = text()
    released: str = text()
    source: str = text()
    base: str = text()
    time: Mapping[str, Mapping[str, Any]] = _sections()
    memory: Mapping[str, Any] | None = _section()
    features: Mapping[str, Any] | None = _section()
    serving: Mapping[str, Any] | None = _section()
    recipes: Mapping[str, Mapping[str, Any]] = _sections()

    def sections(self, file: str, name: str, features: str) -> Iterator[SoftwareSection]:
        """Its sections of one name; `features` is the key of the row that has its features.

        A section of `time` has the key of the row and the chip's, up to a hyphen.
        """
        cells, place = getattr(self, name), f"{file}, {self.key}.{name}"
        if name == "time":
            for chip, fields in cells.items():
                placed = {"chip": chip, "features": features}
                yield SoftwareSection(f"{place}.{chip}", stack_key(self.key, chip), fields, placed)
        elif name == "recipes":
            for key, fields in cells.items():
                yield SoftwareSection(f"{place}.{key}", key, fields, {"features": features})
        elif cells is not None:
            yield SoftwareSection(place, self.key, cells, {})


def stack_key(row: str, chip: str) -> str:
    """The key of a row's stack for a chip: with the first word of its key, or all of it where that has no number.

    >>> stack_key("megatron-core", "gb200-nvl72"), stack_key("pytorch", "rtx-4090")
    ('megatron-core-gb200', 'pytorch-rtx-4090')
    """
    first = chip.partition("-")[0]
    return f"{row}-{first if any(map(str.isdigit, first)) else chip}"


def row_with(rows: Mapping[str, SoftwareRow], row: SoftwareRow, name: str) -> str:
    """The key of the row whose section of this name a row has: its own, or that of its base; empty for none."""
    return next((key for key in (row.key, row.base) if key and getattr(rows[key], name) is not None), "")


@lru_cache(maxsize=4)
def software_rows(file: str, content: str) -> Mapping[str, SoftwareRow]:
    """The rows of a file's text. Raises SpecError, naming file, row and field."""
    rows = {}
    for key, cells in rows_of(file, content).items():
        rows[key] = SoftwareRow(key=key, **values_of(SoftwareRow, f"{file}, {key}", cells))
    bases = [key for key, row in rows.items() if not row.base]
    for row in rows.values():
        if row.base and row.base not in bases:
            raise SpecError(f"{file}, {row.key}.base: " + unknown("row without a base", row.base, bases))
    return rows


def sections_of(kind: type, file: str, content: str, name: str) -> Iterator[tuple[SoftwareSection, dict[str, Any]]]:
    """All sections of one name, each with the values of its fields, those of its row included, as a kind of record has
    them. Raises SpecError, naming file, row, section and field.
    """
    rows = software_rows(file, content)
    places: dict[str, str] = {}
    for row in rows.values():
        shared = {field: getattr(row, field) for field in SHARED if field in given(kind) and getattr(row, field)}
        for section in row.sections(file, name, row_with(rows, row, "features")):
            if section.key in places:
                raise SpecError(f"{section.place}: {places[section.key]} has the key {section.key}, too")
            places[section.key] = section.place
            if odd := [field for field in section.placed if field in section.fields]:
                raise SpecError(f"{section.place}.{odd[0]}: follows from where the section stands")
            yield section, values_of(kind, section.place, {**shared, **section.fields, **section.placed})
