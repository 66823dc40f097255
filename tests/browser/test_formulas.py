"""Formulas of a page are MathML, without JavaScript too, and those of a verdict become so; a page stays light."""

import pytest

from benchmarks.speed.page_weight import served, visit
from tests.conftest import ROOT
from tests.kept import built

pytestmark = [pytest.mark.browser, pytest.mark.slow]
CHAPTER = "03-rooflines"
LIGHT = 2_000_000  # bytes, of a chapter with all that it loads before its reader runs anything
TEX = r"""() => [...document.querySelectorAll('main p, main li, main td, main div.math')]
    .filter(e => !e.closest('pre, code') && /\\[([]/.test(e.textContent)).map(e => e.textContent.slice(0, 80))"""


def test_without_javascript_formulas_are_mathematics(chromium):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((built(ROOT) / f"{CHAPTER}.html").as_uri())
    formulas = page.locator("article math")
    assert formulas.count() > 20
    displayed = page.locator("div.math math").first
    assert displayed.is_visible()
    assert displayed.locator("mfrac").count() > 0
    assert displayed.bounding_box()["height"] > 30  # a fraction is drawn as one
    assert "\\frac" not in page.locator("article").inner_text()
    context.close()


def test_no_formula_of_a_chapter_is_left_as_it_was_typed(page, watch):
    page.goto((built(ROOT) / f"{CHAPTER}.html").as_uri())
    assert page.evaluate(TEX) == []
    assert watch.errors == []


def test_the_formulas_of_a_verdict_are_set_when_it_comes(page, watch):
    page.goto((built(ROOT) / f"{CHAPTER}.html").as_uri())
    page.evaluate(
        r"""async () => {
            const verdict = document.createElement("p");
            verdict.id = "said";
            verdict.innerHTML = String.raw`For \(F &gt; B\): <code>\(x\)</code>, \[t = \frac{S}{W}\] or \(\nosuch\).`;
            document.querySelector("article").prepend(verdict);
            await gpubook.typeset(verdict);
        }"""
    )
    said = page.locator("#said")
    assert said.locator("math").count() == 2
    assert said.locator("math[display=block] mfrac").count() == 1
    assert said.locator("code").inner_text() == r"\(x\)"
    assert r"\(\nosuch\)" in said.inner_text()  # what cannot be read stays
    assert said.inner_text().endswith(".")
    assert [error for error in watch.errors if "nosuch" not in error] == []
    assert watch.foreign == []


def test_a_page_without_formulas_in_verdicts_does_not_load_the_converter(page):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((built(ROOT) / f"{CHAPTER}.html").as_uri(), wait_until="networkidle")
    assert [url for url in asked if "temml" in url or "mathjax" in url.lower() or "fontawesome" in url] == []
    assert [url for url in asked if "vega" in url] == []  # the first chart is far below


def test_a_chapter_weighs_two_megabytes_at_most(chromium):
    with served(built(ROOT)) as address:
        files = visit(chromium, f"{address}/{CHAPTER}.html").files
    largest = sorted(files.items(), key=lambda item: -item[1])[:10]
    assert sum(files.values()) <= LIGHT, largest
    assert len(files) > 10


def test_the_buttons_of_the_theme_have_their_icons(page, watch):
    """In both themes: a glyph of the icons' font is as wide as an icon, and not a missing one."""
    page.goto((built(ROOT) / f"{CHAPTER}.html").as_uri())
    page.evaluate("document.fonts.ready")
    icons = page.locator("i[class*=fa-], span[class*=fa-]")
    shown = [icon for icon in icons.all() if icon.is_visible()]
    assert len(shown) >= 4
    for icon in shown:
        drawn = icon.evaluate(
            "e => [getComputedStyle(e, '::before').content, getComputedStyle(e, '::before').fontFamily]"
        )
        assert drawn[0] not in ("none", '""')
        assert "Font Awesome" in drawn[1]
    assert page.evaluate("document.fonts.check('900 16px \"Font Awesome 7 Free\"', '\\uf185')")
    assert watch.errors == []
