"""Every chapter's page, read from the disk: its figures draw, turn and say what they show; it fits a telephone."""

import re

import pytest

from autograder.book.source.chapters import chapter_names
from tests.browser.conftest import Watch
from tests.browser.served import checked
from tests.conftest import ROOT
from tests.kept import built

pytestmark = [pytest.mark.browser, pytest.mark.slow]
READY = """() => { window.gpubook?.mountAll?.(); return !document.querySelector('figure.live:not([data-ready])') }"""
TOO_WIDE = """() => [...document.querySelectorAll('article *')]
    .filter(e => e.getBoundingClientRect().right > innerWidth + 1)
    .filter(e => !e.closest('pre, .math, .output, table, svg, code-input'))
    .map(e => e.outerHTML.slice(0, 120))"""
# What of a formula is outside the nearest box that cuts off what overflows it, with all that folds unfolded.
CUT = """() => {
    const folded = [...document.querySelectorAll('details:not([open])')];
    for (const details of folded) details.open = true;
    const locked = [...document.querySelectorAll('.prediction-locked')];
    for (const part of locked) part.removeAttribute('hidden');
    const cut = [...document.querySelectorAll('article math')].filter((math) => {
        const parts = [math, ...math.querySelectorAll('*')].map(e => e.getBoundingClientRect()).filter(r => r.height);
        const top = Math.min(...parts.map((r) => r.top)), bottom = Math.max(...parts.map((r) => r.bottom));
        let box = math.parentElement;
        while (box && getComputedStyle(box).overflowY === 'visible') box = box.parentElement;
        if (!box || box === document.documentElement || box === document.body) return false;
        const around = box.getBoundingClientRect();
        return top < around.top - 0.5 || bottom > around.bottom + 0.5;
    });
    for (const details of folded) details.open = false;
    for (const part of locked) part.setAttribute('hidden', 'until-found');
    return cut.map((math) => math.parentElement.outerHTML.slice(0, 200));
}"""
ROOM_AND_TEXT = """() => [...document.querySelectorAll('figure.live')].map(f => [f.scrollWidth - f.clientWidth,
    Math.min(...[...f.querySelectorAll('svg text')].filter(t => t.textContent.trim())
        .map(t => t.getBoundingClientRect().height).filter(Boolean))])"""
DRAWN = """() => [...document.querySelectorAll('div.cell_output img[src$=".svg"]')]
    .map(e => [e.src.split('/').pop(), e.getBoundingClientRect().width, e.naturalWidth])"""
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
    captions = [text.strip() for text in chapter.locator("main figcaption").all_text_contents()]
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


def test_an_equation_is_shown_whole(chapter):
    """At one pixel a pixel, where a box that scrolls cuts off what a fraction has above it: in the text, in tables, in
    the cards of exercises and in what they fold."""
    assert chapter.evaluate("devicePixelRatio") == 1
    assert chapter.locator("div.math math").count() > 3
    assert chapter.evaluate(CUT) == []
    flat = chapter.add_style_tag(content="div.math { padding-block: 0; max-height: 1.2em; }")
    assert chapter.evaluate(CUT) != []  # so it would be noticed
    flat.evaluate("style => style.remove()")


def test_imports_and_calls_of_figures_are_folded(chapter):
    folded = chapter.locator("details.hide > summary").all_inner_texts()
    assert folded[0].startswith("Imports")
    assert "Code of this figure" in folded
    assert not chapter.get_by_text("from autograder import").first.is_visible()


def test_a_printed_choice_has_its_options(chapter):
    chapter.emulate_media(media="print")
    options, button = chapter.locator(".answer-box fieldset label").first, chapter.locator(".answer-box button").first
    assert options.is_visible()
    assert not button.is_visible()
    chapter.emulate_media(media="screen")


def test_a_drawn_figure_has_the_ground_of_the_page_in_the_dark(chapter):
    look = "e => [getComputedStyle(e).filter, getComputedStyle(e).mixBlendMode]"
    image = chapter.locator("div.cell_output img").first
    before = chapter.evaluate("document.documentElement.dataset.theme")
    chapter.evaluate("document.documentElement.dataset.theme = 'light'")
    assert image.evaluate(look) == ["none", "normal"]
    chapter.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert image.evaluate(look) == ["invert(1) hue-rotate(180deg)", "screen"]
    chapter.evaluate("theme => { document.documentElement.dataset.theme = theme }", before)


def test_the_page_fits_a_telephone(chapter):
    """Its live figures too, which are drawn for the width that they find: no bar to scroll by, and text of 9 pixels."""
    chapter.set_viewport_size({"width": 390, "height": 844})
    chapter.reload()
    chapter.wait_for_function(READY, timeout=60_000)
    assert chapter.evaluate(TOO_WIDE) == []
    assert chapter.evaluate(CUT) == []
    for hidden, least in chapter.evaluate(ROOM_AND_TEXT):
        assert hidden <= 1
        assert least >= 9
    for source, width, natural in chapter.evaluate(DRAWN):
        drawn = (built(ROOT) / "_images" / source).read_text()
        sizes = [float(scale) * 100 * 96 / 72 for scale in re.findall(r"scale\(([\d.]+) -[\d.]+\)", drawn)]
        assert min(sizes, default=9) * width / natural >= 9, source


# Whatever a reader can unfold: the folds, the predictions' locks, hints and solutions.
UNFOLD = """() => {
    for (const lock of document.querySelectorAll('.prediction-lock')) lock.hidden = true;
    const hidden = '[hidden="until-found"], details[hidden], .actions [hidden]';
    for (const folded of document.querySelectorAll(hidden)) folded.hidden = false;
    for (const details of document.querySelectorAll('article details')) details.open = true;
    for (const fading of document.getAnimations()) fading.finish();
}"""


@pytest.mark.nightly
@pytest.mark.parametrize(("width", "theme"), [(1440, "light"), (1440, "dark"), (390, "light"), (390, "dark")])
def test_the_page_is_accessible_with_everything_unfolded(chapter, width, theme):
    chapter.set_viewport_size({"width": width, "height": 1000})
    chapter.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
    chapter.evaluate(UNFOLD)
    checked(chapter, "article.bd-article")


BESIDE = sorted(path.relative_to(ROOT / "docs").with_suffix("").as_posix() for path in (ROOT / "docs").rglob("*.md"))


@pytest.mark.parametrize("name", [*BESIDE, "glossary", "formulas"])
def test_a_page_beside_the_chapters_does_not_scroll_sideways_on_a_telephone(page, name):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto((built(ROOT) / f"{name}.html").as_uri())
    assert page.evaluate(SCROLLS_SIDEWAYS) == 0
