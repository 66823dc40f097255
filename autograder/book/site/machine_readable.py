"""The book for programs: its registries as JSON below data/, and llms.txt, which says in plain text what is where.

data.md in docs/ tells what is in each file. Of an exercise only what its notebook's learners have is written.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...values import encoding
from ..indexes.exercise_index import asked_in
from ..indexes.specs import anchor, measurements
from ..indexes.uses import Thing, Uses, tables
from ..source.contents import ContentsEntry, numbered

if TYPE_CHECKING:
    from hwlib.formula import Formula
    from hwlib.specs import Datum
    from hwlib.specs.reader import Record

    from ..source.chapters import Chapter

SUMMARY = (
    "A textbook on GPU hardware, networks, collectives and the parallelism of large models: every number is computed "
    "by a library, all exercises but the written ones are judged by machine, and every lab runs on a laptop and on a "
    "cluster."
)
PAGES = {
    "glossary": "every term, in the sentence that first uses it",
    "formulas": "every formula with its equation, symbols, source and where it is used",
    "notation": "every symbol with its unit and meaning",
    "specs": "every chip, link, switch, node, cluster and language model, each value as its source printed it",
    "disagreements": "figures of which others print another one, and published errors as exercises",
    "exercises": "all exercises with kind, points and section",
    "bibliography": "the sources",
    "answers": "which numbers, units and formulas an answer may be",
    "planning": "plans of a training run for a cluster of one's own",
    "serving": "plans of a server within limits of latency",
    "models": "plans and servers of models of today on H100, H200, B200 and GB200, beside published runs",
    "plan": "the training planner, which computes in the page",
    "fill": "what fills a GPU: the memory and the time of one plan, by part, computed in the page",
    "serve": "plans of a server within limits of latency, computed in the page",
    "read": "logs, matrices of links, traces and configurations of one's own, read in the page",
    "fidelity": "how well the models predict published measurements",
    "cells": "measured and predicted, row by row, by chip, kind of model, software and release",
    "limits": "where the models break",
    "recordings": "what traces of torch.profiler and dumps of a hang show: where time went, who entered which call",
    "training-logs": "why a training run is slow: each field that ten programs log, and the gap to the model in parts",
    "virtual": "unchanged torch.distributed programs on a simulated cluster",
    "course": "plans of courses and paths for reading alone",
    "teaching": "how to run a course",
    "staff": "grading by hand with several people, and learners who ask for another look",
    "kept": "what a course keeps of learners, where and how long, and a text on the use of AI",
    "service": "a course's service that checks answers before the deadline, without the key",
    "platforms": "work from and grades for Canvas, Moodle and JupyterHub, and a gradebook in PostgreSQL",
    "grading": "how grading works, what it costs, and what the sandbox promises",
    "study": "learning alone: a folder of one's own, its record, and new editions",
    "data": "what is in the JSON files",
    "coverage": "what the book covers, and where",
    "contribute": "how to extend the book, its library and its grader",
    "authors/chapter": "how to write a chapter: its text and its rules",
    "authors/exercise": "how to declare an exercise, and numbers that tell a wrong idea from a right one",
    "authors/kinds": "the answer kinds with their parameters and an example of each",
    "authors/figures": "figures, tables and numbers that a reader drags",
    "developers/library": "the modules of the library; how to add a formula, an algorithm, a chip",
    "developers/measured-rows": "the measured rows that constants are fitted to, and how to add one",
    "developers/grader": "the packages of the grader, and where a learner's messages come from",
    "developers/answer-kind": "how to add an answer kind",
    "developers/book": "how the site is made, and how to add a page",
    "developers/commands": "how to add a command, and an option to a plan",
    "developers/tests": "which tests run when",
}
DATA = {
    "specs.json": "chips, links, switches, nodes and clusters: each value with unit, print, source and confidence",
    "models.json": "language models, likewise",
    "formulas.json": "the formulas: LaTeX, arguments, unit, source, docstring, module",
    "notation.json": "the symbols: LaTeX, unit, meaning, domain",
    "exercises.json": "the exercises as learners have them, without solutions",
    "measurements.json": "the tables of published measurements: columns, number of rows, sources",
}


def write(site: Path, chapters: Sequence[Chapter], uses: Uses, entries: Iterable[ContentsEntry]) -> None:
    """Write data/*.json and llms.txt into a book's folder."""
    files = registries(chapters, uses)
    (site / "data").mkdir(exist_ok=True)
    for file, data in files.items():
        text = json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
        (site / "data" / file).write_text(text, encoding="utf-8")
    (site / "llms.txt").write_text(llms_txt(site, entries), encoding="utf-8")


def registries(chapters: Sequence[Chapter], uses: Uses) -> dict[str, Any]:
    """What each file of data/ holds."""
    kinds = {kind: {key: _record(kind, row, uses) for key, row in table.items()} for kind, table in tables().items()}
    return {
        "specs.json": {kind: rows for kind, rows in kinds.items() if kind != "models"},
        "models.json": kinds["models"],
        "formulas.json": _formulas(uses),
        "notation.json": _notation(),
        "exercises.json": _exercises(chapters),
        "measurements.json": _measurements(),
    }


def llms_txt(site: Path, entries: Iterable[ContentsEntry]) -> str:
    """The pages of a book with a line about each, after https://llmstxt.org."""
    title = "GPUs, networks and parallelism"
    lines = [f"# {title}", "", f"> {SUMMARY}", ""]
    lines += [
        "The library is `hwlib` (`pip install gpubook`); bandwidth is one direction, rates are dense, GB is 1e9.",
        "",
    ]
    lines += ["## Chapters", ""]
    for entry in entries:
        if (site / f"{entry.name}.html").is_file():
            about = f": {entry.about}" if entry.about else ""
            lines.append(f"- [{numbered(entry.title, entry.name)}]({entry.name}.html){about}")
    for head, files in (
        ("Reference", {f"{name}.html": about for name, about in PAGES.items()}),
        ("Data", {f"data/{file}": about for file, about in DATA.items()}),
    ):
        there = {file: about for file, about in files.items() if (site / file).is_file()}
        listed = [f"- [{file.rpartition('.')[0]}]({file}): {about}" for file, about in there.items()]
        lines += ["", f"## {head}", "", *listed]
    return "\n".join(lines) + "\n"


def _field(value: Any) -> Any:
    """A field's value as JSON has it: a record within a row as its fields."""
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


def _record(kind: str, row: Record, uses: Uses) -> dict[str, Any]:
    texts = {
        f.name: _field(getattr(row, f.name))
        for f in fields(row)
        if f.name not in ("key", "data") and "unit" not in f.metadata and getattr(row, f.name)
    }
    values = {name: _datum(datum) for name, datum in row.data.items()}
    page = f"specs.html#{anchor(kind, row.key)}"
    return {**texts, "page": page, "values": values, "used_in": _used(uses, Thing(kind, row.key))}


def _datum(datum: Datum) -> dict[str, Any]:
    known = datum._asdict() | {"also": list(datum.also)}
    return {name: value for name, value in known.items() if value not in ("", []) or name == "value"}


def _used(uses: Uses, thing: Thing) -> list[str]:
    return [use.href for use in uses.get(thing, ())]


def _formulas(uses: Uses) -> dict[str, Any]:
    from hwlib.formula import REGISTRY

    return {name: _formula(formula, uses) for name, formula in sorted(REGISTRY.items()) if _of_library(formula)}


def _of_library(formula: Formula) -> bool:
    return formula.__module__.partition(".")[0] == "hwlib"


def _formula(formula: Formula, uses: Uses) -> dict[str, Any]:
    from hwlib.notation import NOTATION

    return {
        "name": formula.name,
        "module": formula.__module__,
        "signature": f"{formula.name}({', '.join(formula.args)})",
        "arguments": list(formula.args),
        "defaults": dict(formula.defaults),
        "result": formula.result,
        "unit": NOTATION[formula.result].unit,
        "latex": formula.tex if "tex" in formula.readings else None,
        "source": formula.cite,
        "doc": formula.__doc__ or "",
        "used_in": _used(uses, Thing("formulas", formula.qualname)),
    }


def _notation() -> dict[str, Any]:
    from hwlib.notation import NOTATION

    return {
        name: {"latex": symbol.tex, "unit": symbol.unit, "meaning": symbol.meaning, "domain": str(symbol.domain)}
        for name, symbol in NOTATION.items()
    }


def _exercises(chapters: Sequence[Chapter]) -> dict[str, Any]:
    return {
        one.id: {"number": one.number, "chapter": one.chapter.name, "page": one.href, **_plain(one.exercise.public())}
        for one in asked_in(chapters)
    }


def _plain(value: Any) -> Any:
    """A record without what JSON has no word for."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, str | int | float | bool) or value is None else encoding.encode(value)


def _measurements() -> dict[str, Any]:
    from hwlib.specs.table import csv_rows

    tables_written = {}
    for table in measurements():
        rows = list(csv_rows(table.file))
        about = " ".join((table.record.__doc__ or "").split("\n\n")[0].split())
        sources = sorted({row["source"] for row in rows})
        tables_written[table.file] = {"about": about, "rows": len(rows), "columns": list(rows[0]), "sources": sources}
    return tables_written


__all__ = ["DATA", "llms_txt", "registries", "write"]
