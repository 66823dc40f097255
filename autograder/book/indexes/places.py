"""Where something stands in the book: the sections of a chapter with their anchors, and links to them."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, NamedTuple

from ..source import concept_order
from ..source.contents import ContentsEntry, numbered

if TYPE_CHECKING:
    from ..source.chapters import Chapter

HEADING = re.compile(r"^(#{1,3}) (.+?)\s*$")
PLAIN = re.compile(r"[\w ,.:;'’?!/()-]+")


class Section(NamedTuple):
    """A heading of a chapter: its line in the source, its text, and its anchor on the page, "" if it has none."""

    line: int
    title: str
    anchor: str


def link(chapter: Chapter, place: concept_order.Place) -> str:
    """A link to the section of a chapter in which something stands."""
    label = label_of(chapter)
    section = section_of(chapter, place.line)
    if section is None:
        return f"[{label}]({chapter.name}.ipynb)"
    at = f"#{section.anchor}" if section.anchor else ""
    return f"[{label}, *{section.title}*]({chapter.name}.ipynb{at})"


def label_of(chapter: Chapter) -> str:
    """ "chapter 6"; the title of a chapter without a number."""
    return ContentsEntry(chapter.name, title_of(chapter), "", "").label


def section_of(chapter: Chapter, line: int) -> Section | None:
    """The section in which a line of the source stands; None above the first."""
    return next((s for s in reversed(sections(chapter)) if s.line <= line), None)


def sections(chapter: Chapter) -> list[Section]:
    """The headings below the title, with the anchors that Sphinx gives them."""
    from mdit_py_plugins.anchors.index import slugify, unique_slug

    seen: set[str] = set()
    made = []
    for place in concept_order.text_of(chapter.source.path).prose:
        if not (match := HEADING.match(place.text)):
            continue
        level, title = len(match[1]), match[2]
        # The anchor of a heading with mathematics, code or a number comes from what these become.
        plain = PLAIN.fullmatch(title) is not None
        anchor = unique_slug(slugify(numbered(title, chapter.name) if level == 1 else title), seen) if plain else ""
        if level > 1:
            made.append(Section(place.line, chapter.roles.quoted(title), anchor))
    return made


def title_of(chapter: Chapter) -> str:
    """The title of a chapter, without its number."""
    matches = (HEADING.match(place.text) for place in concept_order.text_of(chapter.source.path).prose)
    return next((match[2] for match in matches if match and len(match[1]) == 1), chapter.name)


def escape(text: str) -> str:
    """Text as Markdown shows it, letter for letter."""
    return re.sub(r"([\\*_<>\[\]|$])", r"\\\1", text)


def plain_title(title: str) -> str:
    """A section's title as plain text: without the marks of Markdown, HTML and mathematics."""
    return html.unescape(re.sub(r"<[^<>]+>|[$*`\\]", "", title))
