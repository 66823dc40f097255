"""The pages of a built book as the parts of one book that is read from front to back: for paper, and for a reader.

What only a page can do is left out: buttons, fields, links to the page itself. Of an exercise the question and the
options stay; its hints and its solution are taken out, to be collected, or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..site.html import BookError

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

LEFT_OUT = ("licences", "search", "genindex", "contribute", "plan", "fill", "serve", "read")  # the last four compute
FRONT = "index"
# What belongs to a page in a browser: links to headings, the notebook, scripts, verdicts, what a prediction unlocks.
OF_THE_PAGE = (
    "a.headerlink, .notebook-link, noscript, button, textarea, select, .verdict, .toctree-wrapper, "
    "details.reveal, details.scratch, .scratch-here, "
    "script:not(figure.live > script), [data-chapter-progress], [data-book-progress], [data-continue], [data-repeat]"
)
REFERENCES = ("for", "aria-describedby", "aria-labelledby", "headers")
Target = Callable[[str, str], str | None]  # of a page's name and an id on it: the address, None for none


class Worked(NamedTuple):
    """What an exercise folds: its id on the page, "Exercise 3.1", its title, its hints and its solution."""

    anchor: str
    label: str
    title: str
    hints: list[Tag]
    solution: Tag | None


class BookPage(NamedTuple):
    """A page of the book: its name, its title, its text, and what its exercises fold."""

    name: str
    title: str
    article: Tag
    worked: list[Worked]
    soup: BeautifulSoup


def parts(site: Path) -> list[BookPage]:
    """The pages of the built book in `site`, in the order of its contents. BookError where there is no book."""
    return [part(site, name) for name in names(site)]


def names(site: Path) -> list[str]:
    """The names of the pages, in the order of the contents beside each."""
    front = site / f"{FRONT}.html"
    if not front.is_file() or not (site / "searchindex.js").is_file():
        raise BookError(f"{site} does not hold a built book; build it with: gpubook book")
    links = _read(front).select("nav.bd-links a.reference.internal")
    files = dict.fromkeys(str(link["href"]).partition("#")[0] for link in links)
    pages = [file.removesuffix(".html") for file in files if file.endswith(".html")]
    return [page for page in pages if page not in LEFT_OUT and "/" not in page]  # in folders: how the book is made


def part(site: Path, name: str) -> BookPage:
    """One page, without what belongs to a page only."""
    from bs4 import Comment

    soup = _read(site / f"{name}.html")
    article = soup.select_one("article.bd-article")
    heading = article.find("h1") if article else None
    if article is None or heading is None:
        raise BookError(f"{site / name}.html: a page with a title was expected")
    for box in article.select("form.answer-box"):
        _keep_options(soup, box)
    for only in article.select(OF_THE_PAGE):
        only.decompose()
    for words in article.select("summary > p:first-of-type"):  # one for the folded, one for the open
        summary = words.parent
        if summary is not None:
            summary.string = words.get_text()
    for comment in article.find_all(string=lambda text: isinstance(text, Comment)):
        comment.extract()
    return BookPage(name, heading.get_text(" ", strip=True), article, list(_taken_out(article)), soup)


def link(part: BookPage, found: set[str], target: Target) -> None:
    """Lead each link of a part to its `target`: one to another page of `found`, or within this one. A link to a file
    that is not in the book becomes text."""
    for anchor in part.article.select("a[href]"):
        page, _, place = str(anchor["href"]).partition("#")
        if "://" in page or page.startswith("mailto:"):
            continue
        name = page.removesuffix(".html") or part.name
        address = target(name, place) if name in found else None
        if address is None:
            anchor.unwrap()
        else:
            anchor["href"] = address


def prefix_ids(part: BookPage) -> None:
    """Make the ids of a part its own, so that parts can stand in one document."""
    for tag in part.article.select("[id]"):
        tag["id"] = joined(part.name, str(tag["id"]))
    for attribute in REFERENCES:
        for tag in part.article.select(f"[{attribute}]"):
            values: Any = tag[attribute]
            values = values if isinstance(values, list) else str(values).split()
            tag[attribute] = " ".join(joined(part.name, value) for value in values)


def joined(name: str, place: str) -> str:
    """The id in the whole book of a place on a page; the page itself without one."""
    return f"{name}--{place}" if place else name


def worked_section(part: BookPage, hints: bool, title: str) -> Tag | None:
    """The solutions of a part's exercises, and with `hints` these too, as one section; None if there are none."""
    soup = part.soup
    section = soup.new_tag("section", attrs={"id": "worked", "class": "worked"})
    heading = soup.new_tag("h2")
    heading.string = title
    section.append(heading)
    for exercise in part.worked:
        if exercise.solution is None and not (hints and exercise.hints):
            continue
        block = soup.new_tag("div", attrs={"class": "worked-exercise"})
        head = soup.new_tag("h3")
        anchor = soup.new_tag("a", attrs={"href": f"#{exercise.anchor}"})
        anchor.string = exercise.label
        head.extend([anchor, f" {exercise.title}" if exercise.title else ""])
        block.append(head)
        for number, hint in enumerate(exercise.hints if hints else [], start=1):
            label = soup.new_tag("p", attrs={"class": "worked-label"})
            label.string = f"Hint {number}" if len(exercise.hints) > 1 else "Hint"
            block.append(label)
            block.extend(list(hint.children))
        if exercise.solution is not None:
            if hints and exercise.hints:
                label = soup.new_tag("p", attrs={"class": "worked-label"})
                label.string = "Solution"
                block.append(label)
            block.extend(list(exercise.solution.children))
        section.append(block)
    return section if len(section.contents) > 1 else None


def _read(path: Path) -> BeautifulSoup:
    from bs4 import BeautifulSoup

    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def _keep_options(soup: BeautifulSoup, box: Tag) -> None:
    """An answer box becomes the list of its options, or the code to complete, or nothing."""
    options = box.select("fieldset label:has(input[type=radio]) span")
    if code := box.select_one("textarea.code"):
        stub = soup.new_tag("pre")
        stub.string = code.get_text().strip("\n")
        box.replace_with(stub)
        return
    if not options:
        box.decompose()
        return
    made = soup.new_tag("ul", attrs={"class": "options"})
    for option in options:
        item = soup.new_tag("li")
        item.extend(list(option.children))
        made.append(item)
    box.replace_with(made)


def _taken_out(article: Tag) -> Iterator[Worked]:
    for exercise in article.select(".exercise[id]"):
        hints = [hint.extract() for hint in exercise.select("details.hint")]
        solution = exercise.select_one("details.solution")
        for folded in [*hints, *([solution.extract()] if solution else [])]:
            if summary := folded.find("summary"):
                summary.decompose()
        label, title = exercise.select_one(".exercise-number"), exercise.select_one(".exercise-name")
        yield Worked(
            str(exercise["id"]),
            label.get_text() if label else "Exercise",
            title.get_text() if title else "",
            hints,
            solution,
        )
