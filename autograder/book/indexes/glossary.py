"""The glossary: every term that the chapters define in bold, in the sentence that first uses it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..source import concept_order
from .places import link

if TYPE_CHECKING:
    from ..source.chapters import Chapter


class IntroducedName(NamedTuple):
    """Something that a chapter introduces, and where."""

    name: str
    chapter: Chapter
    place: concept_order.Place


def glossary(chapters: Sequence[Chapter]) -> str:
    """The page of the terms: each with the sentence that defines it, and a link to its section."""
    made: dict[str, IntroducedName] = {}
    for chapter in chapters:
        for term, place in concept_order.text_of(chapter.source.path).terms.items():
            made.setdefault(concept_order.key_of(term), IntroducedName(_inside(term, place.text), chapter, place))
    lines = ["# Glossary", "", "The terms of the field, each in the sentence that first uses it.", ""]
    if made:
        lines.append("```{glossary}")
        for key in sorted(made):
            term, chapter, place = made[key]
            sentence = chapter.roles.quoted(re.sub(r"^\s*(?:[-*]|\d+\.) ", "", place.text).strip())
            lines += [term, f"  {sentence} ({link(chapter, place)})", ""]
        lines.append("```")
    return "\n".join(lines) + "\n"


def _inside(term: str, line: str) -> str:
    """A term as it stands inside a sentence: without the capital of one that begins with it."""
    begins = re.match(r"[^\w*]*\*\*" + re.escape(term), line) and re.fullmatch(r"[A-Z][a-z][^A-Z]*", term)
    return term[0].lower() + term[1:] if begins else term
