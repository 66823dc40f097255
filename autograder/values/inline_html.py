"""A sentence in Markdown as HTML."""

from __future__ import annotations

import html
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

if TYPE_CHECKING:
    from markdown_it import MarkdownIt


def inline_html(markdown: str) -> Markup:
    """A sentence in Markdown as HTML, with its formulas as MathJax reads them."""
    return Markup(_markdown()(markdown).strip())


@cache
def _markdown() -> Callable[[str], str]:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    def math_html(text: str, options: dict[str, Any]) -> str:
        left, right = (r"\[", r"\]") if options.get("display_mode") else (r"\(", r"\)")
        return f"{left}{html.escape(text.strip(), quote=False)}{right}"

    reader: MarkdownIt = MarkdownIt("commonmark").use(dollarmath_plugin, renderer=math_html)
    return reader.renderInline
