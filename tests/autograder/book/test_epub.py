"""The EPUB of a small book: an archive as readers want it, well-formed, with everything that its pages name."""

import zipfile
from pathlib import PurePosixPath
from xml.etree import ElementTree

import pytest

from autograder.book.print import epub
from tests.autograder import small_book

pytestmark = pytest.mark.slow
XHTML, OPF = "{http://www.w3.org/1999/xhtml}", "{http://www.idpf.org/2007/opf}"
MATH = "{http://www.w3.org/1998/Math/MathML}math"


@pytest.fixture(scope="module")
def site():
    return small_book.built()


@pytest.fixture(scope="module", params=["with Chromium", "without"])
def book(request, site, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "without":
            patch.setattr(epub, "find_chromium", lambda: None)
        elif epub.find_chromium() is None:
            pytest.skip("no Chromium or Chrome found")
        written = epub.write_epub(site, tmp_path_factory.mktemp("epub") / "small.epub", "A small book")
    with zipfile.ZipFile(written) as archive:
        yield archive


def test_the_archive_begins_with_its_type_uncompressed(book):
    first = book.infolist()[0]
    assert (first.filename, first.compress_type, book.read(first)) == (
        "mimetype",
        zipfile.ZIP_STORED,
        b"application/epub+zip",
    )


def test_the_manifest_lists_all_files_and_the_pages_name_no_others(book):
    names = {name.removeprefix("book/") for name in book.namelist() if name.startswith("book/")} - {"package.opf"}
    package = ElementTree.fromstring(book.read("book/package.opf"))
    items = {item.get("href"): item for item in package.iter(f"{OPF}item")}
    assert set(items) == names
    assert [href for href, item in items.items() if item.get("properties") == "nav"] == ["nav.xhtml"]
    spine = {ref.get("idref") for ref in package.iter(f"{OPF}itemref")}
    assert spine == {item.get("id") for href, item in items.items() if href.endswith(".xhtml")}
    ids = {}
    pages = {
        name: ElementTree.fromstring(book.read(f"book/{name}")) for name in names if name.endswith((".xhtml", ".svg"))
    }
    for name, page in pages.items():
        found = [e.get("id") for e in page.iter() if e.get("id")]
        assert len(found) == len(set(found)), name
        ids[name] = set(found)
        assert items[name].get("properties") == (
            "mathml" if page.find(f".//{MATH}") is not None else items[name].get("properties")
        )
    for name, page in pages.items():
        for element in page.iter():
            assert element.tag not in (f"{XHTML}script", f"{XHTML}form", f"{XHTML}button"), name
            if element.tag == f"{XHTML}img":
                assert element.get("src") in names
                assert element.get("alt")
            target = element.get("href", "") if element.tag == f"{XHTML}a" else ""
            if target and "://" not in target:
                file, _, place = target.partition("#")
                assert not place or place in ids[file or name], f"{name}: {target}"
                assert str(PurePosixPath(file or name)) in names


def test_a_chapter_has_its_formulas_options_hints_and_solutions(book):
    page = ElementTree.fromstring(book.read("book/07-links.xhtml"))
    text = " ".join("".join(page.itertext()).split())
    assert page.find(f".//{MATH}") is not None
    assert r"\(" not in text
    assert "It doubles." in text  # an option
    questions, _, worked = text.partition("Hints and solutions")
    assert ("Bytes over bytes per second." in questions, "Bytes over bytes per second." in worked) == (False, True)
    assert ("The explanation-of-time." in questions, "The explanation-of-time." in worked) == (False, True)


def test_a_live_figure_is_a_picture_or_its_description(book, request):
    page = ElementTree.fromstring(book.read("book/07-links.xhtml"))
    live = [figure for figure in page.iter(f"{XHTML}figure") if figure.get("class") == "live"]
    assert len(live) == 2
    drawn = [figure for figure in live if figure.find(f"{XHTML}img") is not None]
    assert all(
        figure.find(f"{XHTML}img") is not None or "A figure that moves" in "".join(figure.itertext()) for figure in live
    )
    assert bool(drawn) == ("without" not in request.node.name)
