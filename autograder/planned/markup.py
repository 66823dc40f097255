"""Parts of an answer as HTML: tables, bars, lines of text, addresses of other pages."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote

from markupsafe import Markup

from hwlib.options import SERVING, TRAINING


class Bar(NamedTuple):
    """A part of a whole: its name, its amount as text, its share, and what it is."""

    name: str
    amount: str
    share: float
    about: str = ""


def bars(caption: str, heads: tuple[str, str, str], parts: Iterable[Bar]) -> Markup:
    """A table of parts, each with a bar as long as its share."""
    rows = Markup("").join(
        Markup(
            '<tr><th scope="row">{}{}</th><td>{}</td>'
            '<td class="planned-bar">{:.1%}<span style="inline-size: {:.2f}%"></span></td></tr>'
        ).format(
            one.name,
            Markup('<span class="meaning">{}</span>').format(one.about) if one.about else "",
            one.amount,
            one.share,
            100 * min(one.share, 1.0),
        )
        for one in parts
    )
    head = Markup("").join(Markup('<th scope="col">{}</th>').format(text) for text in heads)
    return _boxed(caption, Markup("<thead><tr>{}</tr></thead>").format(head), rows, "planned-bars")


def table(caption: str, heads: Sequence[tuple[str, str]], rows: Iterable[Sequence[str | Markup]]) -> Markup:
    """A table; each head has a meaning, which stands below it. The first cell of a row is its head."""
    head = Markup("").join(
        Markup('<th scope="col">{}<span class="meaning">{}</span></th>').format(text, about) for text, about in heads
    )
    body = Markup("").join(
        Markup('<tr><th scope="row">{}</th>{}</tr>').format(
            first, Markup("").join(Markup("<td>{}</td>").format(cell) for cell in rest)
        )
        for first, *rest in rows
    )
    return _boxed(caption, Markup("<thead><tr>{}</tr></thead>").format(head), body, "planned-table")


def _boxed(caption: str, head: Markup, body: Markup, kind: str) -> Markup:
    return Markup(
        '<div class="wide-table" role="region" tabindex="0" aria-label="{}"><table class="reference {}">'
        "<caption><span>{}</span></caption>{}<tbody>{}</tbody></table></div>"
    ).format(caption, kind, caption, head, body)


def lines(title: str, said: Iterable[str]) -> Markup:
    """Lines of text below a heading; nothing where there are none."""
    items = Markup("").join(Markup("<li>{}</li>").format(one) for one in said)
    return Markup("<h3>{}</h3><ul>{}</ul>").format(title, items) if items else Markup("")


def paragraph(text: str, kind: str = "") -> Markup:
    """A paragraph."""
    return Markup('<p class="{}">{}</p>').format(kind, text) if kind else Markup("<p>{}</p>").format(text)


def address(page: str, asked: Mapping[str, object]) -> str:
    """The address of a page with these fields, as its script reads it."""
    return f"{page}.html#" + "&".join(f"{name}={quote(str(value), safe=',:')}" for name, value in asked.items())


def link(text: str, to: str) -> Markup:
    """A link to an `address`, which the page's script makes one: without it none would read the fields."""
    return Markup('<a data-address="{}">{}</a>').format(to, text)


DENIED = {option.name: option.denied for option in (*TRAINING, *SERVING)}
"""What the command calls the contrary of an option; of others it is to leave them out."""


def command(name: str, asked: Mapping[str, str], values: Mapping[str, object], usual: Mapping[str, str]) -> Markup:
    """The command line that asks the same, without what is `usual`."""
    words = ["gpubook", name, "config.json" if asked.get("config") else asked["model"]]
    for field in values:
        option = f"--{field.replace('_', '-')}"
        if isinstance(values[field], bool):
            words += filter(None, [option if values[field] else DENIED.get(field)])
        elif field == "cluster" and asked.get("described"):
            words += [option, "cluster.toml"]
        elif field != "model" and asked[field] != usual.get(field):
            words += [option, asked[field]]
    return Markup("<p>From the command line: <code>{}</code></p>").format(shlex.join(words))
