"""An answer as HTML: what it was read as and why, the verdict, and the reader's text with its tables and lists."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import groupby
from typing import Any

from markupsafe import Markup

from .kinds import KINDS

ITEM = re.compile(r"(?:- |[0-9]{1,4}\. )")
TABLE_BOX = Markup('<div class="wide-table" role="region" tabindex="0" aria-label="Table"><pre>{}</pre></div>')
TABLE = re.compile(r"\S {2,}\S|^ {2,}\S")


def answer_html(record: Mapping[str, Any]) -> Markup:
    """The record of a `ReadAnswer`; all that comes from the text is text."""
    kind = KINDS[record["kind"]]
    verdict = "Nothing to look at." if record["fine"] else "There is something to look at."
    parts = [_paragraph(f"Read as {record['title']}: {record['why']}.")]
    if record["also"]:
        parts.append(_paragraph(_also(record)))
    if record["unused"]:
        parts.append(_paragraph(f"Not used, for this reader does not take it: {', '.join(record['unused'])}."))
    if kind.name != "config":
        parts.append(_paragraph(verdict, "planned-best" if record["fine"] else "planned-best planned-wrong"))
    parts += [_block(style, list(lines)) for style, lines in groupby(record["text"].splitlines(), _style)]
    return Markup("").join([*parts, _command(record, kind.command)])


def _also(record: Mapping[str, Any]) -> str:
    others = "; ".join(KINDS[name].title for name in record["also"])
    return f"It may also be: {others}. Choose the kind above to read it as that."


def _style(line: str) -> str:
    if ITEM.match(line):
        return "item"
    return "table" if TABLE.search(line) else "prose"


def _block(style: str, lines: list[str]) -> Markup:
    if style == "item":
        items = Markup("").join(Markup("<li>{}</li>").format(ITEM.sub("", line, count=1)) for line in lines)
        return Markup("<ul>{}</ul>").format(items)
    if style == "table":
        text = "\n".join(lines)
        return Markup(
            '<div class="wide-table" role="region" tabindex="0" aria-label="Table"><pre>{}</pre></div>'
        ).format(text)
    return Markup("").join(_paragraph(line) for line in lines if line.strip())


def _paragraph(text: str, style: str = "") -> Markup:
    return Markup('<p class="{}">{}</p>').format(style, text) if style else Markup("<p>{}</p>").format(text)


def _command(record: Mapping[str, Any], command: str) -> Markup:
    file = "config.json --cluster dgx-h100 --batch 4M" if record["kind"] == "config" else "FILE"
    return Markup("<p>From the command line: <code>gpubook {} {}</code></p>").format(command, file)
