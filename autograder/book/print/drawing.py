"""The live figures of a built book as pictures: each in its first state, as Chromium draws it."""

from __future__ import annotations

import json
import re
from pathlib import Path

from markupsafe import Markup

from ..render import render
from .assembly import BookPage
from .chromium import chromium_output
from .printing import PATIENCE, in_site

DRAWN = re.compile(r'<script type="application/json" id="drawn">(.*?)</script>', re.S)
Place = tuple[str, int]  # a page's name, and which of its live figures


def drawn(site: Path, found: list[BookPage]) -> dict[Place, list[str]]:
    """The SVG pictures that each live figure of these parts consists of. ChromiumError where they cannot be drawn."""
    places = [(part.name, at) for part in found for at in range(len(part.article.select("figure.live")))]
    if not places:
        return {}
    figures = [Markup(figure) for part in found for figure in part.article.select("figure.live")]
    sheets = [str(sheet["href"]) for sheet in found[0].soup.select("head link[rel=stylesheet]")]
    with in_site(site, render("drawing.html.j2", figures=figures, sheets=sheets)) as page:
        dom = chromium_output(page, "--dump-dom", f"--virtual-time-budget={PATIENCE}", "--window-size=1100,1400")
    made = DRAWN.search(dom)
    if made is None:
        raise RuntimeError(f"{site}: Chromium drew no live figure of {len(places)}")
    return dict(zip(places, json.loads(made[1]), strict=True))
