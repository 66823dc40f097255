"""A source on the reference pages: its author and year, a link to its entry in the bibliography, and its address."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ..bibliography import Bibliography

KEY = re.compile(r"[\w.:-]+")
LINKED = re.compile(r"\[(?P<text>.+)\]\((?P<url>\S+)\)")


class NamedSource(NamedTuple):
    """A source as a page names it. What is not in the bibliography has its key alone; `rest` is where in the source."""

    key: str
    text: str
    url: str = ""
    anchor: str = ""
    rest: str = ""


def source_of(bibliography: Bibliography | None, text: str) -> NamedSource:
    """The source of a row: "llama3", or "llama3 table 5"."""
    from docutils.nodes import make_id

    match = KEY.match(text)
    key = match[0] if match else text
    rest = text[len(key) :].strip(" ,")
    if bibliography is None or key not in bibliography:
        return NamedSource(key, key, rest=rest)
    cited = bibliography.cite(key)
    link = LINKED.fullmatch(cited)
    anchor = f"bibliography.html#{make_id(f'cite-{key}')}"
    return NamedSource(key, link["text"] if link else cited, link["url"] if link else "", anchor, rest)
