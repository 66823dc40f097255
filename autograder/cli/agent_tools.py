"""What agents ask the book by `gpubook mcp`: plain functions, each with its sources in its answer.

Quantities are in SI, bandwidth is that of one direction, FLOP/s are dense, GB is 1e9 bytes. What cannot be answered
raises an error whose message says what came in and what was expected.
"""

import math
import re
from functools import cache
from typing import Any

from hwlib.specs.shortened import short

from ..values.book_root import book_root
from .agent_answers import Answer, described, library, near, page, values_sources
from .agent_plans import plan, serve
from .agent_reading import read

FEW = 30  # formulas in one answer
LONGEST = 20_000  # characters of a page's section
KINDS = ("chips", "links", "switches", "nodes", "clusters", "models")
TABLES = "the tables of hwlib.specs, in which every value has a source: ask for one row by its key"


def formulas(search: str = "") -> Answer:
    """The formulas of the book whose name, description or symbols have all words of `search`; without one, the modules
    that hold them. Each has its arguments with units, its result, and the source it is taken from."""
    from hwlib.notation import NOTATION

    registry = _registry()
    if not search.strip():
        modules: dict[str, list[str]] = {}
        for name in sorted(registry):
            modules.setdefault(name.rpartition(".")[0], []).append(registry[name].name)
        return {"modules": modules, "sources": [library("each formula has a source: search for it by a word")]}
    words = list(dict.fromkeys(search.casefold().split()))
    matching = [one for name, one in sorted(registry.items()) if _has_all(_searched(one), words)]
    if not matching:
        raise LookupError(f"search: no formula has {short(search)}; without it, the names of all formulas are listed")
    listed = [
        {
            "name": one.qualname,
            "signature": f"{one.name}({', '.join(one.args)})",
            "arguments": {letter: _symbol(letter) for letter in one.args},
            "defaults": dict(one.defaults),
            "unit": NOTATION[one.result].unit,
            "doc": one.__doc__ or "",
            "source": one.cite,
        }
        for one in matching[:FEW]
    ]
    return {
        "formulas": listed,
        "left_off": max(0, len(matching) - FEW),
        "sources": described(one.cite for one in matching[:FEW]),
    }


def evaluate(formula: str, arguments: dict[str, Any]) -> Answer:
    """The value of a formula of the book, with its unit, equation and source.

    formula: its name, ring_allreduce_time or collectives.ring.ring_allreduce_time (see `formulas`). arguments: by
    symbol, each a number in SI or a text with a unit ("450 GB/s", "2 us"); a list for a sequence. Its unit is checked.
    """
    from hwlib.notation import NOTATION
    from hwlib.units import show

    named = _formula(formula)
    if unknown := sorted(set(arguments) - set(named.args)):
        raise ValueError(f"{named.name}({', '.join(named.args)}) has no argument {short(unknown[0])}")
    values = {letter: _value(named, letter, value) for letter, value in arguments.items()}
    result, unit = float(named(**values)), NOTATION[named.result].unit
    used = {**named.defaults, **values}
    return {
        "formula": named.qualname,
        "value": result if math.isfinite(result) else str(result),
        "unit": unit,
        "shown": show(result, unit),
        "arguments": {
            letter: {"value": used[letter], **_symbol(letter), "shown": _shown(used[letter], NOTATION[letter].unit)}
            for letter in named.args
        },
        "latex": named.tex if "tex" in named.readings else None,
        "doc": named.__doc__ or "",
        "sources": described([named.cite]),
    }


def specs(kind: str, key: str = "") -> Answer:
    """Hardware and models: every value with its unit, what its source printed, that source, and how surely it was seen.

    kind: chips, links, switches, nodes, clusters or models. key: a row, by key or name (h100-sxm, "Llama 3.1 70B");
    without one, all keys of the table.
    """
    from hwlib.specs.reader import given

    table = _table(kind)
    if not key:
        rows = [{"key": row.key, "name": row.name} for row in table.values()]
        return {"kind": kind, "rows": rows, "sources": [library(TABLES)]}
    row = table.of(key)
    texts = {f.name: getattr(row, f.name) for f in given(type(row)).values() if "unit" not in f.metadata}
    texts["quantisation"] = str(texts.get("quantisation") or "")  # of a model that was read from a checkpoint's files
    values = {
        name: {
            **{part: value for part, value in datum._asdict().items() if value not in ("", ())},
            "shown": datum.shown,
        }
        for name, datum in row.data.items()
    }
    return {
        "kind": kind,
        "key": row.key,
        "state": row.state,
        "texts": {name: value for name, value in texts.items() if value not in ("", (), None)},
        "values": values,
        "sources": described([*values_sources(row), *([texts["source"]] if texts.get("source") else [])]),
    }


def fidelity(section: str = "") -> Answer:
    """How well the book's models predict published measurements: errors by kind of work, machine and software.

    Without `section`, the summary, the names of the sections, and the mean error of step times for each training
    software; with one, its text.
    """
    answer = _section("fidelity.md", section)
    if section:
        return answer
    from hwlib.specs import stacks

    rows = [
        {
            "key": one.key,
            "software": one.software,
            "chip": one.chip,
            "error": one.error or None,
            "fitted": list(one.fitted),
            "source": one.source,
        }
        for one in stacks.values()
    ]
    sources = [*answer["sources"], *described(one.source for one in stacks.values())]
    return {**answer, "stacks": rows, "sources": sources}


def limits(section: str = "") -> Answer:
    """Where the book's models break: the worst predictions, their causes, and what the models leave out.

    Without `section`, the summary and the names of the sections; with one, its text. Read it before a decision rests on
    a prediction.
    """
    return _section("limits.md", section)


TOOLS = (plan, serve, read, formulas, evaluate, specs, fidelity, limits)


# Formulas


def _registry() -> dict[str, Any]:
    from hwlib.formula import REGISTRY

    from ..answers.library_overlap import load_library

    load_library()
    return REGISTRY


def _formula(name: str) -> Any:
    registry = _registry()
    if name in registry:
        return registry[name]
    alike = [one for one in registry.values() if one.name == name.strip().removesuffix("()")]
    if len(alike) == 1:
        return alike[0]
    if alike:
        raise LookupError(
            f"formula: {short(name)} may be {' or '.join(one.qualname for one in alike)}; give its full name"
        )
    raise LookupError(f"formula: unknown {short(name)}{near(name, [one.name for one in registry.values()])}")


def _has_all(text: str, words: list[str]) -> bool:
    return all(word in text for word in words)


@cache
def _searched(one: Any) -> str:
    from hwlib.notation import NOTATION

    meanings = (NOTATION[letter].meaning for letter in (one.result, *one.args))
    return " ".join([one.qualname, one.__doc__ or "", one.cite, *meanings]).casefold()


def _symbol(letter: str) -> Answer:
    from hwlib.notation import NOTATION

    symbol = NOTATION[letter]
    return {"unit": symbol.unit, "meaning": symbol.meaning, "domain": str(symbol.domain)}


def _value(one: Any, letter: str, value: Any) -> Any:
    """An argument as a number in SI, or as a list of them where the formula reduces over it."""
    if isinstance(value, list):
        if letter not in one.sequences:
            raise ValueError(f"{one.name}: {letter} is one number, got a list of {len(value)}")
        return [_number(one.name, letter, item) for item in value]
    if letter in one.sequences:
        raise ValueError(f"{one.name}: {letter} is a list of numbers, got {short(value)}")
    return _number(one.name, letter, value)


def _number(who: str, letter: str, value: Any) -> float:
    from hwlib.notation import NOTATION
    from hwlib.units import dimension, parse

    unit, meaning = NOTATION[letter].unit, NOTATION[letter].meaning
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    if not isinstance(value, str):
        raise ValueError(f"{who}: {letter} ({meaning}) is a number in {unit} or a text with a unit, got {short(value)}")
    try:
        measure = parse(value)
    except ValueError as error:
        raise ValueError(f"{who}: {letter} ({meaning}): {error}") from None
    if measure.unit == "1" and dimension(unit) and measure.value:
        raise ValueError(
            f"{who}: {letter} ({meaning}): {short(value)} has no unit; expected e.g. '{value.strip()} {unit}'"
        )
    if measure.unit != "1" and dimension(measure.unit) != dimension(unit):
        raise ValueError(f"{who}: {letter} ({meaning}) is in {unit}, got {short(value)}, which is in {measure.unit}")
    return measure.value


def _shown(value: Any, unit: str) -> Any:
    from hwlib.units import show

    return [show(one, unit) for one in value] if isinstance(value, list) else show(value, unit)


# Tables and pages


def _table(kind: str) -> Any:
    from hwlib.specs import accelerators, clusters, links, models, nodes, switches

    tables = dict(zip(KINDS, (accelerators, links, switches, nodes, clusters, models), strict=True))
    if kind not in tables:
        raise LookupError(f"kind: unknown {short(kind)}; known: {', '.join(KINDS)}")
    return tables[kind]


def _section(name: str, title: str) -> Answer:
    """The beginning of a page with the names of its sections, or the section whose name has `title` in it."""
    text = re.sub(r"<!--.*?-->\n?", "", (book_root() / "docs" / name).read_text(encoding="utf-8"), flags=re.DOTALL)
    head, *parts = re.split(r"^## ", text, flags=re.MULTILINE)
    sections = {part.partition("\n")[0].strip(): part.partition("\n")[2].strip() for part in parts}
    if not title:
        return {"text": head.strip(), "sections": list(sections), "sources": [page(name)]}
    matching = [one for one in sections if title.casefold() in one.casefold()]
    exact = [one for one in matching if one.casefold() == title.casefold()]
    if len(exact or matching) != 1:
        more = f"may be {' or '.join(matching)}" if matching else f"is none; known: {', '.join(sections)}"
        raise LookupError(f"section: {short(title)} {more}")
    (chosen,) = exact or matching
    body = sections[chosen]
    return {
        "section": chosen,
        "text": body[:LONGEST],
        "characters_left_off": max(0, len(body) - LONGEST),
        "sources": [page(name, chosen)],
    }
