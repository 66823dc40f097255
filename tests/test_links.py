"""Every internal link and fragment of the built book leads somewhere, and every page has one title."""

import functools
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest

from autograder.book.finishing.page_files import pages_of
from tests.kept import built

LINKS = {"a": "href", "img": "src", "script": "src", "link": "href", "source": "src"}


class Page(HTMLParser):
    """What a page has of ids and links, its language, its title, and how many h1 stand in its article."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.language, self.title = set(), [], "", ""
        self.titles, self._article, self._in_title = 0, False, False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if identifier := given.get("id"):
            self.ids.add(identifier)
        if link := given.get(LINKS.get(tag, "")):
            self.links.append(link)
        if tag == "html":
            self.language = given.get("lang")
        self._in_title = tag == "title" and not self.title
        self._article |= tag == "article"
        self.titles += tag == "h1" and self._article

    def handle_endtag(self, tag):
        self._in_title = False
        self._article &= tag != "article"

    def handle_data(self, data):
        if self._in_title:
            self.title += data


@functools.cache
def read(path):
    return Page(path.read_text(encoding="utf-8"))


def dead(folder):
    """(page, link) for each internal link that leads nowhere, and how many links were followed."""
    bad, followed = [], 0
    for page in sorted(folder.glob("**/*.html")):
        if "_static" in page.relative_to(folder).parts:
            continue
        for link in read(page).links:
            url = urlsplit(link)
            if url.scheme or url.netloc or not (url.path or url.fragment):
                continue
            followed += 1
            target = (page.parent / unquote(url.path)).resolve() if url.path else page
            target = target / "index.html" if target.is_dir() else target
            lost = not target.is_file() or not target.is_relative_to(folder.resolve())
            if lost or (url.fragment and target.suffix == ".html" and unquote(url.fragment) not in read(target).ids):
                bad.append((page.name, link))
    return bad, followed


def test_a_dead_link_and_a_dead_fragment_are_found(tmp_path):
    (tmp_path / "a.html").write_text('<a href="b.html#here">1</a><a href="b.html#gone">2</a><a href="c.html">3</a>')
    (tmp_path / "b.html").write_text('<p id="here"></p><a href="https://example.org/">4</a><a href="../x.html">5</a>')
    assert dead(tmp_path) == ([("a.html", "b.html#gone"), ("a.html", "c.html"), ("b.html", "../x.html")], 4)


@pytest.mark.slow
@pytest.mark.parametrize("course", [False, True], ids=["open", "course"])
def test_every_link_of_the_book_leads_somewhere(root, course):
    bad, followed = dead(built(root, course))
    assert bad == []
    assert followed > 50


@pytest.mark.slow
def test_every_page_has_one_title_and_a_language(root):
    for page in pages_of(built(root)):
        found = read(page)
        assert found.language == "en"
        assert found.title.strip()
        if page.name != "search.html":
            assert found.titles == 1, page.name
