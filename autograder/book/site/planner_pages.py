"""The pages that plan: in docs/ each has a mark, where its form and the answer to its first question come to stand."""

from __future__ import annotations

import re
from pathlib import Path

from markupsafe import Markup

from ..render import render

MARK = re.compile(r"^<!-- planned: (\w+) -->$", re.MULTILINE)


def write(pages: Path) -> None:
    """Fill the marks of the pages in the folder of Sphinx' source. KeyError for a form that is not there."""
    for path in sorted(pages.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        if MARK.search(text):
            path.write_text(MARK.sub(lambda found: _raw(found[1]), text), encoding="utf-8")


def _raw(page: str) -> str:
    from ...planned import FORMS, answered

    form = FORMS[page]
    answer = answered(page, form.first)
    if "error" in answer:
        raise ValueError(f"the first question of the page {page}: {answer['error']}")
    html = render("planned.html.j2", form=form, answer=Markup(answer["html"]))
    return f"``````{{raw}} html\n{html}\n``````"
