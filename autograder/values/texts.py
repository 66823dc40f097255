"""The texts of an exercise: fields filled with numbers in their unit, and a learner's text made inert."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

# A field of a prompt: {n}, {S:B}. A brace right behind a letter, a backslash word, _, ^ or } belongs to
# LaTeX.
FIELD = re.compile(r"(?<![\\\w}^])\{([A-Za-z_]\w*)(?::([^{}]*))?\}")


def quoted(text: str, limit: int = 60) -> str:
    """A learner's text as a code span: cut, on one line, and inert in Markdown and HTML."""
    text = (
        "".join(c if c.isprintable() else " " for c in text[: limit + 1])
        .replace("`", "'")
        .replace("<", "‹")
        .replace(">", "›")
        .replace("&", "+")
    )
    return f"`{text[:limit]}…`" if len(text) > limit else f"`{text}`"


def fill(text: str, given: Mapping[str, Any]) -> str:
    """`text` with its fields {n} and {S:B} replaced by the numbers of `given`, shown in their unit."""
    from hwlib.units import show

    def one(match: re.Match[str]) -> str:
        name, unit = match[1], match[2]
        if name not in given:
            return match[0]
        value = given[name]
        if isinstance(value, (str, bool)):
            return str(value)
        if unit is None and float(value).is_integer() and abs(value) < 1e15:
            return f"{int(value):,}"
        return show(value, unit or "1")

    return FIELD.sub(one, text)


def letter(name: str) -> str:
    """A given as a symbol: its LaTeX if the notation has it."""
    from hwlib.notation import NOTATION

    return f"${NOTATION[name].tex}$" if name in NOTATION else f"`{name}`"
