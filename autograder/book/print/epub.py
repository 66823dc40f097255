"""The whole book as an EPUB 3: its pages as XHTML with MathML and pictures, without a script.

Hints and solutions stand at the end of their chapter. Live figures are pictures in their first state where Chromium is
installed to draw them, and else their captions.
"""

from __future__ import annotations

import re
import uuid
import zipfile
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from ..render import TEMPLATES, render
from .assembly import BookPage, link, parts, worked_section
from .chromium import find_chromium
from .drawing import Place, drawn

if TYPE_CHECKING:
    from bs4 import Tag

MIME = "application/epub+zip"
MEDIA = {
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".css": "text/css",
    ".woff": "font/woff",
    ".xhtml": "application/xhtml+xml",
}
ALWAYS = (1980, 1, 1, 0, 0, 0)  # the time of each file in the archive, so that the same book is the same archive
LIGHT = re.compile(r'^html\[data-theme="light"\] (.*)$', re.M)
CONTAINER = """\
<?xml version="1.0" encoding="UTF-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="book/package.opf" media-type="application/oebps-package+xml"/></rootfiles>
</container>
"""


class Item(NamedTuple):
    """A file of the book: its path, its content, and what a reader is told of it."""

    path: str
    content: bytes
    properties: str = ""

    @property
    def id(self) -> str:
        """Its id in the package."""
        return "f-" + re.sub(r"[^A-Za-z0-9.-]", "-", self.path)

    @property
    def media(self) -> str:
        """Its media type."""
        return MEDIA[Path(self.path).suffix]


def write_epub(site: Path, out: Path, title: str) -> Path:
    """Write the built book in `site` as the file `out`. BookError where there is no built book."""
    every = parts(site)
    pictures = drawn(site, every) if find_chromium() else {}
    pages = [_page(part, {part.name for part in every}, pictures) for part in every]
    files = [*_pictures(site, every, pictures), *_look(site)]
    head = [_front(title), _nav(every)]
    out.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(out, "w") as archive:
        _put(archive, "mimetype", MIME.encode(), zipfile.ZIP_STORED)
        _put(archive, "META-INF/container.xml", CONTAINER.encode())
        _put(archive, "book/package.opf", _package(site, title, [*head, *pages], files))
        for item in [*head, *pages, *files]:
            _put(archive, f"book/{item.path}", item.content)
    return out


def _put(archive: zipfile.ZipFile, path: str, content: bytes, how: int = zipfile.ZIP_DEFLATED) -> None:
    archive.writestr(zipfile.ZipInfo(path, ALWAYS), content, compress_type=how)


def _page(part: BookPage, found: set[str], pictures: dict[Place, list[str]]) -> Item:
    """A page as XHTML."""
    _still(part, pictures)
    if section := worked_section(part, hints=True, title="Hints and solutions"):
        part.article.append(section)
        _lead_to(part, section)
    link(part, found, lambda name, place: f"{name}.xhtml" + (f"#{place}" if place else ""))
    for image in part.article.select("img[src]"):
        image["src"] = f"images/{Path(str(image['src'])).name}"
    for number in part.article.select("span.n[title]"):
        del number["title"]
    _strict_mathml(part)
    for table in part.article.select("table, td, th, col"):
        for gone in ("align", "valign", "border", "width"):
            del table[gone]
    body = Markup(part.article.decode_contents(formatter="minimal"))
    return _xhtml(part.name, part.title, body, "mathml" if "<math" in body else "")


def _strict_mathml(part: BookPage) -> None:
    """The size of a script on an element of its own: MathML 3, which readers check, has it there only."""
    for sized in part.article.select("math [scriptlevel]:not(mstyle)"):
        style = part.soup.new_tag("mstyle", attrs={"scriptlevel": str(sized["scriptlevel"])})
        del sized["scriptlevel"]
        if "displaystyle" in sized.attrs and sized.name not in ("mtable", "math"):
            style["displaystyle"] = str(sized["displaystyle"])
            del sized["displaystyle"]
        sized.wrap(style)


def _still(part: BookPage, pictures: dict[Place, list[str]]) -> None:
    """Put pictures in the place of live figures."""
    for at, figure in enumerate(part.article.select("figure.live")):
        alternative = str(figure.get("aria-label", "")) or "A figure."
        caption = figure.find("figcaption")
        figure.clear()
        figure.attrs = {"class": "live"}
        shown = pictures.get((part.name, at), [])
        for number in range(len(shown)):
            source = f"images/{_picture(part.name, at, number)}"
            figure.append(part.soup.new_tag("img", attrs={"src": source, "alt": alternative}))
        if not shown:
            note = part.soup.new_tag("p", attrs={"class": "interactive"})
            note.string = f"A figure that moves, in the book's pages. {alternative}"
            figure.append(note)
        if caption is not None:
            figure.append(caption)


def _picture(name: str, at: int, number: int) -> str:
    return f"live-{name}-{at + 1}-{number + 1}.svg"


def _lead_to(part: BookPage, section: Tag) -> None:
    """A link from each exercise to its hints and its solution, and the places where they lead."""
    for block in section.select(".worked-exercise"):
        anchor = str(block.select("a")[0]["href"]).removeprefix("#")
        block["id"] = f"worked-{anchor}"
        exercise = part.article.find(id=anchor)
        if exercise is not None:
            line = part.soup.new_tag("p", attrs={"class": "to-worked"})
            to = part.soup.new_tag("a", attrs={"href": f"#{block['id']}"})
            to.string = "Hints and solution" if block.select_one(".worked-label") else "Solution"
            line.append(to)
            exercise.append(line)


def _pictures(site: Path, found: list[BookPage], pictures: dict[Place, list[str]]) -> Iterator[Item]:
    """Every picture that a page shows, once."""
    for (name, at), shown in pictures.items():
        for number, svg in enumerate(shown):
            yield Item(f"images/{_picture(name, at, number)}", svg.encode())
    made = {_picture(name, at, number) for (name, at), shown in pictures.items() for number in range(len(shown))}
    names = {Path(str(image["src"])).name for part in found for image in part.article.select("img[src]")}
    for name in sorted(names - made):
        path = next(path for folder in ("_images", "_static", "files") if (path := site / folder / name).is_file())
        content = path.read_bytes()
        yield Item(f"images/{name}", _strict_svg(content.decode()).encode() if path.suffix == ".svg" else content)


def _strict_svg(svg: str) -> str:
    """A picture of matplotlib without its document type, which names remote files; a space gets its empty outline."""
    svg = re.sub(r"<!DOCTYPE[^>]*>|<metadata>.*?</metadata>", "", svg, flags=re.S)
    return re.sub(r"<path(?![^>]*\sd=)", '<path d=""', svg)


def _look(site: Path) -> Iterator[Item]:
    static, here = site / "_static", TEMPLATES
    code = "\n".join(LIGHT.findall((static / "pygments.css").read_text(encoding="utf-8")))
    yield Item("epub.css", ((here / "epub.css").read_text(encoding="utf-8") + code + "\n").encode())
    yield Item("math.woff", (static / "vendor" / "stix-two-math" / "math.woff").read_bytes())


def _front(title: str) -> Item:
    return _xhtml("title", title, Markup("<h1>{}</h1>").format(title), "")


def _nav(found: Iterable[BookPage]) -> Item:
    entries = [
        (
            f"{part.name}.xhtml",
            part.title,
            [
                (f"{part.name}.xhtml#{heading.parent['id']}", heading.get_text(" ", strip=True))
                for heading in part.article.select("section[id] > h2")
                if heading.parent is not None
            ],
        )
        for part in found
    ]
    return _xhtml("nav", "Contents", render("epub_nav.html.j2", entries=entries), "nav")


def _xhtml(name: str, title: str, body: Markup, properties: str) -> Item:
    return Item(f"{name}.xhtml", render("epub_page.xhtml.j2", title=title, body=body).encode(), properties)


def _package(site: Path, title: str, pages: list[Item], files: list[Item]) -> bytes:
    built = datetime.fromtimestamp((site / "searchindex.js").stat().st_mtime, UTC)
    return render(
        "epub_package.opf.j2",
        title=title,
        identifier=uuid.uuid5(uuid.NAMESPACE_URL, f"gpubook:{title}").urn,
        modified=built.strftime("%Y-%m-%dT%H:%M:%SZ"),
        pages=pages,
        files=files,
    ).encode()
