"""An answer as HTML: what it was read as and why, the verdict, and the reader's text with its tables and lists."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from itertools import groupby
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from .held_file import HeldFile
from .kinds import KINDS

ITEM, NUMBERED = re.compile(r"- "), re.compile(r"[0-9]{1,4}\. ")
START = re.compile(r"- |[0-9]{1,4}\. | +")
GOES_ON = re.compile(r"[\w,]$")  # how a line ends whose sentence goes on in the next
LONGEST_LINK = 12_000  # characters of an address
TABLE_BOX = Markup('<div class="wide-table" role="region" tabindex="0" aria-label="Table"><pre>{}</pre></div>')
TABLE, BELOW = re.compile(r"\S {2,}\S"), re.compile(r" {2,}\S")


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


def planner_links(file: HeldFile) -> Markup:
    """The pages that plan, with a configuration in their field; nothing of one that is too long for an address."""
    text = quote(" ".join(file.text().split()), safe="")
    if len(text) > LONGEST_LINK:
        return Markup("")
    pages = (("plan", "train it"), ("fill", "what fills a GPU"), ("serve", "serve it"))
    links = (Markup('<a data-address="{}.html#config={}">{}</a>').format(page, text, words) for page, words in pages)
    return Markup("<p>With this model, in the page: {}.</p>").format(Markup(", ").join(links))


def _also(record: Mapping[str, Any]) -> str:
    others = "; ".join(KINDS[name].title for name in record["also"])
    return f"It may also be: {others}. Choose the kind above to read it as that."


def _style(line: str) -> str:
    if ITEM.match(line):
        return "ul"
    if NUMBERED.match(line):
        return "ol"
    if TABLE.search(line):
        return "table"
    return "ul" if BELOW.match(line) else "prose"


def _block(style: str, lines: list[str]) -> Markup:
    if style in ("ul", "ol"):
        items = Markup("").join(Markup("<li>{}</li>").format(START.sub("", line, count=1)) for line in lines)
        return Markup("<{0}>{1}</{0}>").format(style, items)
    if style == "table":
        text = "\n".join(lines)
        return Markup(
            '<div class="wide-table" role="region" tabindex="0" aria-label="Table"><pre>{}</pre></div>'
        ).format(text)
    return Markup("").join(_paragraph(line) for line in _sentences(lines) if line.strip())


def _sentences(lines: list[str]) -> list[str]:
    """Lines, those joined in which a sentence goes on."""
    joined: list[str] = []
    for line in lines:
        if joined and line.strip() and GOES_ON.search(joined[-1]):
            joined[-1] += f" {line.strip()}"
        else:
            joined.append(line)
    return joined


def _paragraph(text: str, style: str = "") -> Markup:
    return Markup('<p class="{}">{}</p>').format(style, text) if style else Markup("<p>{}</p>").format(text)


def _command(record: Mapping[str, Any], command: str) -> Markup:
    words = ["gpubook", command, "FILE"]
    if record["kind"] == "config":
        words = ["gpubook", command, "config.json", "--cluster", "dgx-h100", "--batch", "4M"]
    for name, text in record["options"].items():
        words += [f"--{name}", text]
    return Markup("<p>From the command line: <code>{}</code></p>").format(shlex.join(words))
