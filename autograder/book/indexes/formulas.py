"""The index of formulas: what the chapters introduce, each with its equation, its symbols and where it is used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..render import render
from ..source import concept_order
from ..source.contents import numbered
from .places import escape, link, title_of
from .uses import Thing, Uses, by_chapter

if TYPE_CHECKING:
    from hwlib.formula import Formula

    from ..source.chapters import Chapter


def formula_index(chapters: Sequence[Chapter], uses: Uses) -> str:
    """The page of the formulas that the chapters introduce, with their symbols. Its anchors are the formulas' names."""
    from hwlib.notation import NOTATION

    text = (
        "Every formula that a chapter shows or names: call it in a notebook by the name that stands here.\n"
        "Its symbols are listed [at the end](#symbols), those of the whole book [apart](notation.md)."
    )
    lines, known, letters = ["# Formulas", "", text, ""], set[str](), set[str]()
    for chapter in chapters:
        own = [(formula, place) for formula, place in introduced(chapter) if formula.qualname not in known]
        known |= {formula.qualname for formula, _ in own}
        if own:
            lines += [f"## {numbered(title_of(chapter), chapter.name)}", ""]
        for formula, place in own:
            letters |= {formula.result, *formula.args}
            head = f'<span id="{formula.name}"></span>**`{formula.name}`**'
            lines += [f"{head} ({link(chapter, place)}; {chapter.roles.source_of(formula)})", ""]
            lines += [escape(" ".join((formula.__doc__ or "").split("\n\n")[0].split())), ""]
            lines += [f"$$\n{formula.tex}\n$$", ""]
            if places := by_chapter(uses.get(Thing("formulas", formula.qualname), ())):
                lines += [render("used.html.j2", places=places), ""]
    lines += ["(symbols)=", "## Symbols", "", "| symbol | meaning | unit |", "|---|---|---|"]
    for letter in sorted(letters, key=lambda letter: (NOTATION[letter].tex.strip("\\").casefold(), letter)):
        symbol = NOTATION[letter]
        lines.append(f"| ${symbol.tex}$ | {escape(symbol.meaning)} | {'' if symbol.unit == '1' else symbol.unit} |")
    return "\n".join(lines) + "\n"


def introduced(chapter: Chapter) -> Iterator[tuple[Formula, concept_order.Place]]:
    """The formulas with an equation that a chapter introduces, in its order."""
    from hwlib.formula import Formula

    text, values = (
        concept_order.text_of(chapter.source.path),
        chapter.bank.namespace | concept_order.imported(chapter.source.path),
    )
    for name, place in sorted(text.names.items(), key=lambda item: item[1].line):
        value = values.get(name)
        if isinstance(value, Formula) and "tex" in value.readings:
            yield value, place
