"""The explorer of numbers: every row of the tables of hardware and models, each value with what its source printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, NamedTuple

from ..render import render
from .sources import NamedSource, source_of
from .uses import Thing, Uses, by_chapter, tables

if TYPE_CHECKING:
    from hwlib.specs import Datum
    from hwlib.specs.measured import Measurements
    from hwlib.specs.reader import Record

    from ..bibliography import Bibliography
    from ..source.chapters import Chapter

TITLES = {
    "chips": "Chips",
    "links": "Links",
    "switches": "Switches",
    "nodes": "Nodes",
    "clusters": "Clusters",
    "models": "Language models",
}
FIRST = {
    "chips": (
        "vendor", "arch", "bf16_flops", "fp8_flops", "hbm_bytes", "hbm_bandwidth", "scaleup_bandwidth",
        "scaleup_domain", "nic_bandwidth", "tdp",
    ),
    "links": ("kind", "bandwidth", "lanes", "signal_rate"),
    "switches": ("link", "ports", "bandwidth"),
    "nodes": ("accelerator", "chips", "link", "links_per_chip", "switches", "nics", "fabric_bandwidth"),
    "clusters": ("node", "nodes", "leaf_size", "leaf_bandwidth", "spine_size", "spine_bandwidth", "oversubscription"),
    "models": (
        "published_parameters", "layers", "width", "ffn", "heads", "kv_heads", "vocab", "context", "experts",
        "experts_per_token",
    ),
}  # fmt: skip
"""The columns of a table that are shown before a reader chooses."""
REFERS = {
    "accelerator": "chips",
    "link": "links",
    "nic": "links",
    "pcie": "links",
    "c2c": "links",
    "cable": "links",
    "switch": "switches",
    "node": "nodes",
}
"""The fields that are the key of a row of another table."""
APART = ("name", "source", "confidence", "note")
"""Texts of a row that are not columns."""


class Value(NamedTuple):
    """One value of a row as the page shows it; `number` sorts it."""

    name: str
    shown: str
    number: float
    datum: Datum
    source: NamedSource


class SpecsRow(NamedTuple):
    """A row of a table, ready for the page; `said` are its texts, `refers` the addresses of the rows that some name."""

    key: str
    anchor: str
    name: str
    note: str
    said: Mapping[str, str]
    refers: Mapping[str, str]
    values: Mapping[str, Value]
    source: NamedSource | None
    confidence: str
    used: Sequence[tuple[str, Sequence[tuple[str, str]]]]
    parts: Sequence[tuple[str, str]]


class Column(NamedTuple):
    """A column of an overview: its name in code, and what it is."""

    name: str
    meaning: str
    first: bool


def anchor(kind: str, key: str) -> str:
    """The anchor of a row: its key; with the word for its table in front where an earlier table has the same key."""
    for earlier, table in tables().items():
        if earlier == kind:
            return key
        if key in table:
            return f"{kind}-{key}"
    raise KeyError(kind)


def specs_page(chapters: Sequence[Chapter], uses: Uses) -> str:
    """The page of the explorer, as Markdown around tables."""
    bibliography = chapters[0].roles.bibliography if chapters else None
    parts = ["# Numbers and their sources", "", render("specs_intro.md.j2", tables=tables(), titles=TITLES), ""]
    for kind, table in tables().items():
        rows = [row_of(kind, record, bibliography, uses) for record in table.values()]
        body = render("specs_table.html.j2", kind=kind, title=TITLES[kind], columns=columns(kind, rows), rows=rows)
        parts += [f"## {TITLES[kind]}", "", raw(body), ""]
    listed = [measured(one, bibliography) for one in measurements()]
    parts += ["## Published measurements", "", render("measurements.md.j2"), ""]
    parts += [raw(render("measurements.html.j2", tables=listed)), ""]
    return "\n".join(parts)


def raw(html: str) -> str:
    """HTML in a page's Markdown."""
    return f"````{{raw}} html\n{html}\n````"


def columns(kind: str, rows: Sequence[SpecsRow]) -> list[Column]:
    """The columns that some row of a table fills, those that are shown first in front."""
    record = type(next(iter(tables()[kind].values())))
    meanings = {f.name: str(f.metadata.get("meaning", f.name.replace("_", " "))) for f in fields(record)}
    filled = {name for row in rows for name in (*row.said, *row.values)}
    names = [name for name in (*FIRST[kind], *(n for n in meanings if n not in FIRST[kind])) if name in filled]
    return [Column(name, meanings[name], name in FIRST[kind]) for name in names]


def row_of(kind: str, record: Record, bibliography: Bibliography | None, uses: Uses) -> SpecsRow:
    """A record as the page shows it."""
    texts = {
        f.name: str(getattr(record, f.name))
        for f in fields(record)
        if f.name not in ("key", "data", *APART) and "unit" not in f.metadata and getattr(record, f.name)
    }
    shown_texts = dict(texts)
    if kind == "chips":
        shown_texts["state"] = record.state
    refers = {name: f"#{anchor(REFERS[name], key)}" for name, key in texts.items() if name in REFERS}
    whole = getattr(record, "source", "")
    return SpecsRow(
        record.key,
        anchor(kind, record.key),
        record.name,
        getattr(record, "note", ""),
        shown_texts,
        refers,
        {name: _value(name, datum, bibliography) for name, datum in record.data.items()},
        source_of(bibliography, whole) if whole else None,
        getattr(record, "confidence", ""),
        by_chapter(uses.get(Thing(kind, record.key), ())),
        list(_part_of(kind, record.key)),
    )


def _part_of(kind: str, key: str) -> Iterator[tuple[str, str]]:
    """The rows of other tables that name this one."""
    for other, table in tables().items():
        names = [name for name, referred in REFERS.items() if referred == kind]
        for row in table.values():
            if any(getattr(row, name, None) == key for name in names):
                yield f"#{anchor(other, row.key)}", row.name


def _value(name: str, datum: Datum, bibliography: Bibliography | None) -> Value:
    flag = isinstance(datum.value, bool)
    whole = isinstance(datum.value, int) and not flag
    shown = ("yes" if datum.value else "no") if flag else f"{datum.value:,}" if whole else datum.shown
    return Value(name, shown, float(datum.value), datum, source_of(bibliography, datum.source))


class MeasuredTable(NamedTuple):
    """A table of published measurements: its file, what a row is, how many it has and how many of them are of sources
    that it holds whole, their columns and sources."""

    file: str
    about: str
    rows: int
    whole: int
    columns: Sequence[str]
    sources: Sequence[NamedSource]


def measurements() -> list[Measurements[Any]]:
    """The tables of published measurements, measured_*.csv, by the names of their files."""
    import importlib
    import pkgutil

    import hwlib.specs
    from hwlib.specs.measured import Measurements as Table

    modules = [importlib.import_module(f"hwlib.specs.{one.name}") for one in pkgutil.iter_modules(hwlib.specs.__path__)]
    by_file = {value.file: value for module in modules for value in vars(module).values() if isinstance(value, Table)}
    return [by_file[file] for file in sorted(by_file) if file.startswith("measured_")]


def measured(table: Measurements[Any], bibliography: Bibliography | None) -> MeasuredTable:
    """A table of measurements as the page lists it."""
    from hwlib.specs.extents import extent_of
    from hwlib.specs.table import csv_rows

    cells = list(csv_rows(table.file))
    whole = sum(extent_of(table.file, row["source"]).complete for row in cells)
    words = " ".join((table.record.__doc__ or "").split("\n\n")[0].split())
    sources = {(source := source_of(bibliography, row["source"])).key: source._replace(rest="") for row in cells}
    names = [name for name in cells[0] if name != "source"]
    return MeasuredTable(table.file, words, len(cells), whole, names, list(sources.values()))
