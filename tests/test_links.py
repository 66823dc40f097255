"""Every internal link and fragment of the built book leads somewhere, and every page has one title."""

from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup

from tests.kept import built

ATTRIBUTES = (("a", "href"), ("img", "src"), ("script", "src"), ("link", "href"), ("source", "src"))


def dead(folder):
    """(page, link) for each internal link that leads nowhere, and how many links were followed."""
    soups, bad, followed = {}, [], 0

    def soup(path):
        if path not in soups:
            soups[path] = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        return soups[path]

    for page in sorted(folder.glob("**/*.html")):
        if "_static" in page.relative_to(folder).parts:
            continue
        for tag, attribute in ATTRIBUTES:
            for element in soup(page).find_all(tag):
                link = element.get(attribute) or ""
                url = urlsplit(link)
                if url.scheme or url.netloc or not (url.path or url.fragment):
                    continue
                followed += 1
                target = (page.parent / unquote(url.path)).resolve() if url.path else page
                target = target / "index.html" if target.is_dir() else target
                lost = not target.is_file() or not target.is_relative_to(folder.resolve())
                if lost or (
                    url.fragment and target.suffix == ".html" and not soup(target).find(id=unquote(url.fragment))
                ):
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
    for page in sorted(built(root).glob("*.html")):
        soup = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
        assert soup.html["lang"] == "en"
        assert soup.title.get_text(strip=True)
        if page.name != "search.html":
            assert len(soup.select("article h1")) == 1, page.name
