"""The page of the notation: every symbol of the book, with its unit, its meaning, and where it comes in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..render import render
from ..source import concept_order
from .formulas import introduced
from .places import escape, link

if TYPE_CHECKING:
    from hwlib.formula import Formula

    from ..source.chapters import Chapter


class Symbolic(NamedTuple):
    """Where a symbol comes in: the link to the section, and the formulas of the index that have it."""

    place: str
    formulas: list[Formula]


def notation_page(chapters: Sequence[Chapter]) -> str:
    """Every symbol of `hwlib.notation` in a table; its anchor is "symbol-" and its name in code."""
    from hwlib.notation import NOTATION

    text = (
        "Every symbol that the book's formulas are written in, under the name that it has in code: "
        "a symbol has one meaning in all chapters.\n"
        "Units are of the SI; a count such as FLOP or token has no dimension and tells what is counted. "
        "The formulas themselves are in [their index](formulas.md)."
    )
    lines = ["# Notation", "", text, "", "| symbol | in code | meaning | unit | domain | comes in | formulas |"]
    lines.append("|---|---|---|---|---|---|---|")
    introduced = _found(chapters)
    for name, symbol in sorted(NOTATION.items(), key=lambda one: (one[1].tex.strip("\\").casefold(), one[0])):
        where = introduced.get(name) or Symbolic(_in_text(chapters, symbol.tex), [])
        unit = "" if symbol.unit == "1" else symbol.unit
        code = f'<span id="symbol-{name}"></span>`{name}`'
        formulas = str(render("formula_links.html.j2", formulas=where.formulas))
        cells = [f"${symbol.tex}$", code, escape(symbol.meaning), unit, str(symbol.domain), where.place, formulas]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _found(chapters: Sequence[Chapter]) -> dict[str, Symbolic]:
    """The symbols of the formulas that the chapters introduce, each from its first formula on."""
    by_letter: dict[str, Symbolic] = {}
    known: set[str] = set()
    for chapter in chapters:
        for formula, place in introduced(chapter):
            if formula.qualname not in known:
                known.add(formula.qualname)
                for letter in dict.fromkeys((formula.result, *formula.args)):
                    by_letter.setdefault(letter, Symbolic(link(chapter, place), [])).formulas.append(formula)
    return by_letter


def _in_text(chapters: Sequence[Chapter], tex: str) -> str:
    """Where a symbol of no introduced formula first stands in a text, as it is written; "" if it does nowhere."""
    for chapter in chapters:
        for place in concept_order.text_of(chapter.source.path).prose:
            if f"${tex}$" in place.text:
                return link(chapter, place)
    return ""
