"""The small book on paper: what a printed page shows and hides, and the whole of it as one PDF."""

import io

import pytest
from pypdf import PdfReader

from autograder.book.print import chromium, printing
from autograder.book.print.assembly import parts
from tests.autograder import small_book

pytestmark = [pytest.mark.browser, pytest.mark.slow]
FEW = {"07-links", "answers", "glossary"}


@pytest.fixture(scope="module")
def site():
    return small_book.built()


@pytest.fixture(scope="module", params=["few pages", pytest.param("all pages", marks=pytest.mark.nightly)])
def which(request):
    """Which pages are printed: the reference pages alone are a hundred on paper, in a minute."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "few pages":
            patch.setattr(printing, "parts", lambda site: [part for part in parts(site) if part.name in FEW])
        yield


@pytest.fixture(scope="module")
def printed(site, which, tmp_path_factory):
    """The PDF without and with solutions, each read."""
    folder = tmp_path_factory.mktemp("pdf")
    return [
        PdfReader(printing.print_book(site, folder / f"{solutions}.pdf", "A small book", solutions=solutions))
        for solutions in (False, True)
    ]


def words(reader):
    return " ".join(" ".join(page.extract_text() for page in reader.pages).split())


def test_a_printed_page_has_the_options_and_no_controls(page, site):
    page.goto((site / "07-links.html").as_uri())
    page.evaluate("gpubook.mountAll()")
    page.emulate_media(media="print")
    assert page.locator(".answer-box fieldset label").first.is_visible()
    shown = "all => all.filter((e) => e.checkVisibility()).map((e) => e.outerHTML.slice(0, 80))"
    controls = "article :is(button, textarea, select, input:not([type=radio]), details:not([open]), .verdict)"
    assert page.locator(controls).evaluate_all(shown) == []
    page.locator("details.hint").first.evaluate("e => { e.open = true; e.hidden = false }")
    assert page.locator("details.hint").first.is_visible()


def test_paper_is_white_whatever_the_theme(page, site):
    page.emulate_media(color_scheme="dark")
    page.goto((site / "07-links.html").as_uri())
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_a_page_that_is_printed_has_the_figures_that_were_not_near(page, site):
    page.goto((site / "07-links.html").as_uri())
    page.wait_for_load_state("networkidle")
    text = words(PdfReader(io.BytesIO(page.pdf())))
    assert "It doubles." in text
    assert "The explanation-of-time." not in text


def test_the_book_has_its_options_and_its_solutions_if_asked_for(printed):
    without, whole = map(words, printed)
    assert "It doubles." in without
    assert ("The explanation-of-time." in without, "The explanation-of-time." in whole) == (False, True)
    assert "Bytes over bytes per second." not in whole  # a hint
    assert r"\(" not in whole
    assert "could not start" not in whole


def test_the_book_has_bookmarks_and_numbers_in_its_contents(printed):
    reader = printed[1]
    titles = [entry.title for entry in reader.outline if not isinstance(entry, list)]
    assert titles[0] == "7. Links"
    assert titles[-1] == "Solutions"
    number = reader.get_destination_page_number(reader.outline[0]) + 1
    contents = reader.pages[1].extract_text().split()
    assert "Links" in contents
    assert str(number) in contents
    assert "7. Links" in reader.pages[number - 1].extract_text()


def test_without_chromium_it_says_what_to_install(site, which, tmp_path, monkeypatch):
    monkeypatch.setattr(chromium, "find_chromium", lambda: None)
    with pytest.raises(chromium.ChromiumError, match="apt-get install chromium"):
        printing.print_book(site, tmp_path / "none.pdf", "A small book")
