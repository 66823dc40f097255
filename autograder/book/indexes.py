"""What the book's last pages list, made from its chapters: the terms that they define in bold, and their formulas."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from . import order
from .contents import Entry, numbered

if TYPE_CHECKING:
    from hwlib.formula import Formula

    from .chapters import Chapter

HEADING = re.compile(r"^(#{1,3}) (.+?)\s*$")
PLAIN = re.compile(r"[\w ,.:;'’?!/()-]+")


class Section(NamedTuple):
    """A heading of a chapter: its line in the source, its text, and its anchor on the page, "" if it has none."""

    line: int
    title: str
    anchor: str


class Found(NamedTuple):
    """Something that a chapter introduces, and where."""

    name: str
    chapter: Chapter
    place: order.Place


def glossary(chapters: Sequence[Chapter]) -> str:
    """The page of the terms: each with the sentence that defines it, and a link to its section."""
    made: dict[str, Found] = {}
    for chapter in chapters:
        for term, place in order.text_of(chapter.source.path).terms.items():
            made.setdefault(order.key_of(term), Found(_inside(term, place.text), chapter, place))
    lines = ["# Glossary", "", "The terms of the field, each in the sentence that first uses it.", ""]
    if made:
        lines.append("```{glossary}")
        for key in sorted(made):
            term, chapter, place = made[key]
            sentence = chapter.roles.quoted(re.sub(r"^\s*(?:[-*]|\d+\.) ", "", place.text).strip())
            lines += [term, f"  {sentence} ({link(chapter, place)})", ""]
        lines.append("```")
    return "\n".join(lines) + "\n"


def formula_index(chapters: Sequence[Chapter]) -> str:
    """The page of the formulas that the chapters introduce, with their symbols."""
    from hwlib.notation import NOTATION

    text = (
        "Every formula that a chapter shows or names: call it in a notebook by the name that stands here.\n"
        "Its symbols are listed [at the end](#symbols)."
    )
    lines, known, letters = ["# Formulas", "", text, ""], set[str](), set[str]()
    for chapter in chapters:
        own = [(formula, place) for formula, place in introduced(chapter) if formula.qualname not in known]
        known |= {formula.qualname for formula, _ in own}
        if own:
            lines += [f"## {numbered(_title(chapter), chapter.name)}", ""]
        for formula, place in own:
            letters |= {formula.result, *formula.args}
            lines += [f"**`{formula.name}`** ({link(chapter, place)}; {chapter.roles.source_of(formula)})", ""]
            lines += [_escape(" ".join((formula.__doc__ or "").split("\n\n")[0].split())), ""]
            lines += [f"$$\n{formula.tex}\n$$", ""]
    lines += ["(symbols)=", "## Symbols", "", "| symbol | meaning | unit |", "|---|---|---|"]
    for letter in sorted(letters, key=lambda letter: (NOTATION[letter].tex.strip("\\").casefold(), letter)):
        symbol = NOTATION[letter]
        lines.append(f"| ${symbol.tex}$ | {_escape(symbol.meaning)} | {'' if symbol.unit == '1' else symbol.unit} |")
    return "\n".join(lines) + "\n"


def introduced(chapter: Chapter) -> Iterator[tuple[Formula, order.Place]]:
    """The formulas with an equation that a chapter introduces, in its order."""
    from hwlib.formula import Formula

    text, values = order.text_of(chapter.source.path), chapter.bank.namespace | order.imported(chapter.source.path)
    for name, place in sorted(text.names.items(), key=lambda item: item[1].line):
        value = values.get(name)
        if isinstance(value, Formula) and "tex" in value.readings:
            yield value, place


def link(chapter: Chapter, place: order.Place) -> str:
    """A link to the section of a chapter in which something stands."""
    label = Entry(chapter.name, _title(chapter), "", "").label
    section = next((s for s in reversed(sections(chapter)) if s.line <= place.line), None)
    if section is None:
        return f"[{label}]({chapter.name}.ipynb)"
    at = f"#{section.anchor}" if section.anchor else ""
    return f"[{label}, *{section.title}*]({chapter.name}.ipynb{at})"


def sections(chapter: Chapter) -> list[Section]:
    """The headings below the title, with the anchors that Sphinx gives them."""
    from mdit_py_plugins.anchors.index import slugify, unique_slug

    seen: set[str] = set()
    made = []
    for place in order.text_of(chapter.source.path).prose:
        if not (found := HEADING.match(place.text)):
            continue
        level, title = len(found[1]), found[2]
        # The anchor of a heading with mathematics, code or a number comes from what these become.
        plain = PLAIN.fullmatch(title) is not None
        anchor = unique_slug(slugify(numbered(title, chapter.name) if level == 1 else title), seen) if plain else ""
        if level > 1:
            made.append(Section(place.line, chapter.roles.quoted(title), anchor))
    return made


def _inside(term: str, line: str) -> str:
    """A term as it stands inside a sentence: without the capital of one that begins with it."""
    begins = re.match(r"[^\w*]*\*\*" + re.escape(term), line) and re.fullmatch(r"[A-Z][a-z][^A-Z]*", term)
    return term[0].lower() + term[1:] if begins else term


def _title(chapter: Chapter) -> str:
    found = (HEADING.match(place.text) for place in order.text_of(chapter.source.path).prose)
    return next((match[2] for match in found if match and len(match[1]) == 1), chapter.name)


def _escape(text: str) -> str:
    return re.sub(r"([\\*_<>\[\]|$])", r"\\\1", text)


def pages(chapters: Iterable[Chapter]) -> dict[str, str]:
    """The generated pages by their file name."""
    every = list(chapters)
    return {"glossary.md": glossary(every), "formulas.md": formula_index(every)}
