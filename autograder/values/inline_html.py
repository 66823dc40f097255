"""Markdown as HTML, with its formulas in TeX between \\( and \\) for the page to typeset."""

from __future__ import annotations

import html
from functools import cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

if TYPE_CHECKING:
    from markdown_it import MarkdownIt


def inline_html(markdown: str) -> Markup:
    """A sentence."""
    return Markup(_reader().renderInline(markdown).strip())


def block_html(markdown: str) -> Markup:
    """Paragraphs, tables, lists and code."""
    return Markup(_reader().render(markdown).strip())


@cache
def _reader() -> MarkdownIt:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    def math_html(text: str, options: dict[str, Any]) -> str:
        left, right = (r"\[", r"\]") if options.get("display_mode") else (r"\(", r"\)")
        return f"{left}{html.escape(text.strip(), quote=False)}{right}"

    return MarkdownIt("commonmark").enable("table").use(dollarmath_plugin, renderer=math_html)
