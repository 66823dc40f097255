"""Every chapter's page, read from the disk: its figures draw, turn and say what they show; it fits a telephone."""

import pytest

from autograder.book.chapters import chapter_names
from tests.browser.conftest import Watch
from tests.conftest import ROOT
from tests.kept import built

pytestmark = [pytest.mark.browser, pytest.mark.slow]
READY = "() => !document.querySelector('figure.live:not([data-ready])')"
TOO_WIDE = """() => [...document.querySelectorAll('article *')]
    .filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('pre, .math, .output, table, svg'))
    .map(e => e.outerHTML.slice(0, 120))"""
SCROLLS_SIDEWAYS = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module", params=chapter_names(ROOT))
def chapter(request, chromium):
    """A chapter's page, opened once: drawing its figures takes longer than all that is asked of them."""
    context, watch = chromium.new_context(viewport={"width": 1280, "height": 1000}), Watch()
    page = watch.attach(context.new_page())
    page.goto((built(ROOT) / f"{request.param}.html").as_uri())
    page.wait_for_function(READY, timeout=60_000)
    yield page
    context.close()
    assert watch.foreign == []
    assert watch.errors == []


def test_every_figure_has_a_caption_and_an_alternative_text(chapter):
    images = chapter.locator("main img").evaluate_all("all => all.map(e => e.getAttribute('alt') || '')")
    assert [alt for alt in images if len(alt.split()) < 6] == []
    live = chapter.locator("figure.live")
    assert live.count() >= 2
    for at in range(live.count()):
        figure = live.nth(at)
        described = figure.evaluate("e => Boolean(e.closest('[aria-label]') || e.querySelector('[aria-label]'))")
        assert described, figure.inner_text()
        assert figure.evaluate("e => e.querySelector('svg, canvas') !== null")
    captions = chapter.locator("main figcaption").all_inner_texts()
    assert len(captions) >= live.count()
    assert [text for text in captions if not text.startswith("Figure ")] == []


def test_every_live_figure_turns_by_the_keyboard(chapter):
    live = chapter.locator("figure.live")
    for at in range(live.count()):
        figure = live.nth(at)
        before = figure.inner_html()
        sliders = figure.locator("input[type=range]")
        if sliders.count():
            value = sliders.first.input_value()
            sliders.first.focus()
            chapter.keyboard.press("End")
            if sliders.first.input_value() == value:
                chapter.keyboard.press("Home")
        else:
            options = figure.locator("select").first
            last = options.locator("option").last.get_attribute("value")
            first = options.locator("option").first.get_attribute("value")
            options.select_option(last if options.input_value() != last else first)
        chapter.wait_for_function("([e, html]) => e.innerHTML !== html", arg=[figure.element_handle(), before])


def test_the_page_fits_a_telephone(chapter):
    chapter.set_viewport_size({"width": 390, "height": 844})
    chapter.wait_for_timeout(300)
    assert chapter.evaluate(TOO_WIDE) == []


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "docs").glob("*.md")))
def test_a_page_beside_the_chapters_does_not_scroll_sideways_on_a_telephone(page, name):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto((built(ROOT) / f"{name}.html").as_uri())
    assert page.evaluate(SCROLLS_SIDEWAYS) == 0
