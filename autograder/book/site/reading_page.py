"""The page that reads what somebody holds: in docs/ it has a mark, where its form comes to stand."""

from __future__ import annotations

from pathlib import Path

from ..render import render

MARK = "<!-- reading -->"


def write(pages: Path) -> None:
    """Fill the mark in the pages of the folder of Sphinx' source."""
    for path in sorted(pages.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        if MARK in text:
            path.write_text(text.replace(MARK, _raw()), encoding="utf-8")


def _raw() -> str:
    from ...reading import KINDS, READING_OPTIONS

    html = render("reading.html.j2", kinds=KINDS.values(), options=READING_OPTIONS)
    return f"``````{{raw}} html\n{html}\n``````"
