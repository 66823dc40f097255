"""The index of the book's search: sections, exercises, formulas, terms, symbols and rows of tables, with what they say.

It is read from the finished pages, so it holds what a reader sees: what is folded (a hint, a solution, the code of a
figure) is left out in either edition. `_static/search-data.js` is loaded when a reader first searches.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..build_cache import kept, key_of
from ..finishing.page_files import pages_of

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

FILE = "_static/search-data.js"
FOLDED = "details, script, style, template, form, textarea, button, .headerlink, .notebook-link, noscript"
"""What a page does not show at once, and what is not its text."""
CODE = "div.cell_input, div.highlight, div.cell_output, table, .MathJax, div.math"
"""What would fill an excerpt with code and numbers."""
GENERATED = ("specs", "disagreements", "exercises", "notation", "formulas", "glossary", "bibliography")
"""Pages of rows, each of which is found by itself."""
UNLISTED = ("search", "genindex")
LONGEST = 6000  # letters of a section: beyond them, what is searched for stands at the beginning too
ARTICLE = re.compile(r'<article class="bd-article".*</article>', re.DOTALL)
MATH = re.compile(r"\\[()\[\]]")
COMMAND = re.compile(r"\\(?:mathrm|text|operatorname|left|right|frac|,|;|quad)\b|\\[,;! ]|[{}]")


class SearchEntry(NamedTuple):
    """What can be found: its title, its kind, where it is, the words before it (its chapter), its text, and the terms
    that this sets in bold.
    """

    title: str
    kind: str
    href: str
    place: str
    text: str
    terms: str = ""


def write(site: Path, work: Path) -> None:
    """Write the index of a finished book; what was read of each page is kept in the folder `work`."""
    pages = [path for path in pages_of(site) if path.stem not in UNLISTED]
    rows = [row for path in pages for row in _kept(path, path.relative_to(site).as_posix(), work)]
    text = json.dumps(rows, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    (site / FILE).write_text(
        f"window.gpubook = window.gpubook || {{}};\ngpubook.searchData = {text};\n", encoding="utf-8"
    )


def entries(site: Path) -> Iterator[SearchEntry]:
    """Everything in a finished book that can be found."""
    for path in pages_of(site):
        if path.stem not in UNLISTED:
            yield from entries_of(path, path.relative_to(site).as_posix())


def entries_of(path: Path, page: str) -> Iterator[SearchEntry]:
    """What can be found on a page; `page` is its address in the site."""
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(_article(path), "html.parser")
    article = soup.article
    if article is None:
        return
    own = {"specs": _specs, "formulas": _formulas, "glossary": _terms, "notation": _symbols}
    if page_table := own.get(page.removesuffix(".html")):
        yield from page_table(page, soup)
    yield from _page(page, article, rows=page.removesuffix(".html") in GENERATED)


def _kept(path: Path, page: str, work: Path) -> list[list[str]]:
    """The entries of a page, read once for each state of it."""

    def make(fresh: Path) -> None:
        fresh.write_text(json.dumps([list(entry) for entry in entries_of(path, page)]), encoding="utf-8")

    key = key_of(_article(path), Path(__file__).read_bytes())
    name = page.removesuffix(".html").replace("/", "-")
    return list(json.loads(kept(work, name, key, ".json", make).read_text(encoding="utf-8")))


def _article(path: Path) -> str:
    """What of a page is its own."""
    match = ARTICLE.search(path.read_text(encoding="utf-8"))
    return match[0] if match else ""


def _page(page: str, article: Tag, rows: bool) -> Iterator[SearchEntry]:
    """A page's exercises and sections; of a page of rows only that it is there."""
    heading = article.find("h1")
    title = said(heading) if heading else page
    if rows:
        first = article.find("p")
        yield SearchEntry(title, "page", page, "", said(first) if first else "")
        return
    for card in article.select("div.exercise"):
        yield _exercise(page, title, card)
        card.decompose()
    for folded in article.select(FOLDED):
        folded.decompose()
    for code in article.select(CODE):
        code.decompose()
    sections = article.select("section[id]")
    # From the inside out: what is read of a section is not read again with the one around it.
    entries = []
    for section in reversed(sections):
        head = section.find(["h1", "h2", "h3", "h4"], recursive=False)
        name = said(head) if head else ""
        if head:
            head.decompose()
        top = section.parent is None or section.parent.name != "section"
        href = page if top else f"{page}#{section['id']}"
        kind, name, place = ("page", title, "") if top else ("section", name, title)
        entries.append(
            SearchEntry(name, kind, href, place, said(section), ", ".join(map(said, section.select("strong"))))
        )
        section.decompose()
    yield from reversed(entries)


def _exercise(page: str, title: str, card: Tag) -> SearchEntry:
    number, name = card.select_one(".exercise-number"), card.select_one(".exercise-name")
    words = " ".join(said(part) for part in (number, name) if part)
    for folded in card.select(f"{FOLDED}, .exercise-head, {CODE}"):
        folded.decompose()
    return SearchEntry(words, "exercise", f"{page}#{card['id']}", title, said(card))


def _specs(page: str, soup: BeautifulSoup) -> Iterator[SearchEntry]:
    for row in soup.select("details.spec"):
        name, key = row.select_one(".spec-name"), row.select_one("summary code")
        values = [f"{line['data-field']} {said(line.select('td')[0])}" for line in row.select("tr[data-field]")]
        words = [*(said(one) for one in row.select(".spec-said")), *values]
        title = f"{said(name)} ({said(key)})" if name and key else str(row["id"])
        yield SearchEntry(title, "numbers", f"{page}#{row['id']}", "Numbers and their sources", ", ".join(words))


def _formulas(page: str, soup: BeautifulSoup) -> Iterator[SearchEntry]:
    for mark in soup.select("p > span[id]"):
        paragraph = mark.parent
        description = paragraph.find_next_sibling("p") if paragraph else None
        name = str(mark["id"])
        text = f"{name.replace('_', ' ')}. {said(description) if description else ''}"
        yield SearchEntry(name, "formula", f"{page}#{name}", "Formulas", text)


def _terms(page: str, soup: BeautifulSoup) -> Iterator[SearchEntry]:
    for term in soup.select("dl.glossary > dt[id]"):
        told = term.find_next_sibling("dd")
        yield SearchEntry(said(term), "term", f"{page}#{term['id']}", "Glossary", said(told) if told else "")


def _symbols(page: str, soup: BeautifulSoup) -> Iterator[SearchEntry]:
    for mark in soup.select("td span[id^='symbol-']"):
        row = mark.find_parent("tr")
        cells = row.find_all("td") if row else []
        if len(cells) > 3:
            name = str(mark["id"]).removeprefix("symbol-")
            yield SearchEntry(f"{name}: {said(cells[2])}", "symbol", f"{page}#{mark['id']}", "Notation", said(cells[3]))


def said(tag: Tag) -> str:
    """The text of an element on one line, its mathematics without the marks of LaTeX."""
    text = MATH.sub("", tag.get_text(" " if tag.name not in ("h1", "h2", "h3", "h4", "code") else ""))
    text = COMMAND.sub("", text.removesuffix("#")) if "\\" in text else text.removesuffix("#")
    text = re.sub(r"\s+", " ", text).strip()
    return re.sub(r" ([.,;:?!)])", r"\1", text)[:LONGEST]


__all__ = ["FILE", "SearchEntry", "entries", "write"]
