"""The whole book as one PDF: the built pages in one document, which Chromium prints.

Its figures are drawn in their first state by the pages' own scripts; docs/_static/print.css says how paper looks.
"""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from markupsafe import Markup

from ..finishing.policy import with_policy
from ..render import render
from .assembly import BookPage, joined, link, parts, prefix_ids, worked_section
from .chromium import chromium_output

if TYPE_CHECKING:
    from bs4 import Tag
    from pypdf import PdfReader, PdfWriter

PATIENCE = 600_000  # milliseconds of a page's own time, which passes as fast as its scripts run
ABOUT = "Printed from the book's pages, where its figures move and its exercises are answered."
OPTIONS = (
    "--no-pdf-header-footer",
    "--generate-pdf-document-outline",
    f"--virtual-time-budget={PATIENCE}",
    "--window-size=1100,1400",
)


def print_book(site: Path, out: Path, title: str, *, solutions: bool = False) -> Path:
    """Print the built book in `site` into the file `out`, with the solutions at the end if asked for.

    On which page each section begins is known when it is printed: the numbers of the contents are printed then, and
    laid over their pages. BookError where there is no built book, ChromiumError where there is no Chromium to print it.
    """
    from pypdf import PdfReader, PdfWriter

    site, out = site.resolve(), out.resolve()
    whole = document(parts(site), title, solutions=solutions)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="gpubook-print-") as scratch:
        book, numbers = Path(scratch) / "book.pdf", Path(scratch) / "numbers.pdf"
        _print(site, whole.html(), book)
        writer = PdfWriter(clone_from=book)
        pages = _pages(PdfReader(book))
        _print(site, whole.numbers(pages), numbers)
        for page, over in zip(writer.pages, PdfReader(numbers).pages, strict=False):
            page.merge_page(over)
        _add_outline(writer, whole, pages)
        writer.add_metadata({"/Title": title})
        writer.write(out)
        writer.close()
    return out


def _print(site: Path, text: str, out: Path) -> None:
    with in_site(site, text) as page:
        chromium_output(page, *OPTIONS, f"--print-to-pdf={out}")


def _pages(reader: PdfReader) -> dict[str, int]:
    """On which page, counted from 1, each place begins that a link leads to."""
    numbers = {}
    for name, place in reader.named_destinations.items():
        page = reader.get_destination_page_number(place)
        if page is not None:
            numbers[unquote(name.removeprefix("/"))] = page + 1
    return numbers


def _add_outline(writer: PdfWriter, whole: Whole, pages: dict[str, int]) -> None:
    """The bookmarks: each part, and below it its sections; in the place of Chromium's, which repeat what is wrapped."""
    writer.root_object.pop("/Outlines", None)
    for part in whole.parts:
        above = writer.add_outline_item(title=part.title, page_number=pages[part.name] - 1)
        for anchor, text in part.sections:
            writer.add_outline_item(title=text, page_number=pages[anchor] - 1, parent=above)
    if whole.solutions:
        writer.add_outline_item(title="Solutions", page_number=pages["solutions"] - 1)


class Whole(NamedTuple):
    """The book as one page of HTML, to be read in the folder of the built pages."""

    title: str
    sheets: list[str]
    parts: list[Printed]
    solutions: list[Markup]

    def html(self) -> str:
        """The page."""
        return render("whole_book.html.j2", about=ABOUT, pages={}, **self._asdict())

    def numbers(self, pages: dict[str, int]) -> str:
        """Its contents again, of which only the numbers of pages are to be seen, where they stand."""
        return render("whole_book.html.j2", about=ABOUT, pages=pages, **self._asdict())


class Printed(NamedTuple):
    """A part as the template wants it: its pages have a name, for CSS, and a head, as a text of CSS."""

    name: str
    title: str
    page: str
    head: Markup
    sections: list[tuple[str, str]]
    text: Markup


def document(found: list[BookPage], title: str, *, solutions: bool = False) -> Whole:
    """The parts of a built book as one document."""
    collected = _collected(found) if solutions else []
    included = {part.name for part in found}
    for part in found:
        link(part, included, lambda name, place: f"#{joined(name, place)}")
        prefix_ids(part)
        for head in part.article.select(".exercise-head"):  # it is not a section of the book
            del head["role"], head["aria-level"]
    for section in collected:
        section.extract()
    return Whole(
        title,
        sheets=[str(sheet["href"]) for sheet in found[0].soup.select("head link[rel=stylesheet]")],
        parts=[_printed(part) for part in found],
        solutions=[Markup(section) for section in collected],
    )


def _collected(found: list[BookPage]) -> list[Tag]:
    """The solutions of each part that has some, at its end, so that their links and ids are changed with its own."""
    sections = [(part, worked_section(part, hints=False, title=part.title)) for part in found]
    for part, section in sections:
        if section is not None:
            part.article.append(section)
    return [section for _, section in sections if section is not None]


def _printed(part: BookPage) -> Printed:
    head = part.title.replace("\\", "\\\\").replace('"', '\\"')
    return Printed(
        part.name,
        part.title,
        re.sub(r"[^A-Za-z0-9]", "-", f"part-{part.name}"),
        Markup(head.replace("<", "\\3c ")),
        [
            (str(h.parent["id"]), h.get_text(" ", strip=True))
            for h in part.article.select("section[id] > h2")
            if h.parent
        ],
        Markup(part.article.decode_contents()),
    )


@contextlib.contextmanager
def in_site(site: Path, text: str) -> Iterator[Path]:
    """A page beside those of the book, whose pictures and scripts it needs, as long as it is needed."""
    page = site / f"_print-{os.getpid()}.html"
    page.write_text(with_policy(text), encoding="utf-8")
    try:
        yield page
    finally:
        page.unlink(missing_ok=True)
