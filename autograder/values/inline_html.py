"""Markdown as HTML, with its formulas in TeX between \\( and \\) for the page to typeset."""

from __future__ import annotations

import html
import re
from functools import cache
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

# What a sentence may have of HTML: as in docs/_static/markup.js.
TAGS = {
    "blockquote", "br", "code", "em", "li", "ol", "p", "pre", "s", "span", "strong", "sub", "sup", "table", "tbody",
    "td", "th", "thead", "tr", "ul",
}  # fmt: skip
LONGEST = 10_000  # characters of such a sentence: a parser of HTML may look at a text again at each of its signs
ALIGNED = r"text-align: ?(?:left|right|center)"
ATTRIBUTES = {"td": ("style", ALIGNED), "th": ("style", ALIGNED), "span": ("class", "math inline")}
"""The one attribute that a tag may have, and its values."""


def inline_html(markdown: str) -> Markup:
    """A sentence."""
    return Markup(_reader().renderInline(markdown).strip())


def block_html(markdown: str) -> Markup:
    """Paragraphs, tables, lists and code."""
    return Markup(_reader().render(markdown).strip())


def harmless(text: str) -> Markup:
    """HTML from a file that may be anybody's, with the tags and the attributes that a sentence needs, to `LONGEST`."""
    reader = _Harmless()
    reader.feed(str(text)[:LONGEST])  # a Markup escapes what replaces a part of it
    reader.close()
    return Markup("".join(reader.kept))


class _Harmless(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.kept: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        name, pattern = ATTRIBUTES.get(tag, ("", ""))
        value = dict(attrs).get(name) or ""
        attribute = f' {name}="{value}"' if value and re.fullmatch(pattern, value) else ""
        self.kept += [f"<{tag}{attribute}>"] * (tag in TAGS)

    def handle_endtag(self, tag: str) -> None:
        self.kept += [f"</{tag}>"] * (tag in TAGS - {"br"})

    def handle_data(self, data: str) -> None:
        self.kept.append(html.escape(data))


@cache
def _reader() -> MarkdownIt:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    def math_html(text: str, options: dict[str, Any]) -> str:
        left, right = (r"\[", r"\]") if options.get("display_mode") else (r"\(", r"\)")
        return f"{left}{html.escape(text.strip(), quote=False)}{right}"

    return MarkdownIt("commonmark").enable("table").use(dollarmath_plugin, renderer=math_html)
