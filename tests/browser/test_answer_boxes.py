"""A small book in a real browser, over http and from file://: its boxes and its live figures."""

import functools
import http.server
import re
import threading

import pytest
from playwright.sync_api import expect

from autograder.book.site import vendor
from tests.autograder import small_book

pytestmark = [pytest.mark.browser, pytest.mark.slow]
VERDICT = 120_000  # milliseconds until it is there, the start of Python included


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def small():
    return small_book.built()


@pytest.fixture(params=["http", "file"])
def url(small, request):
    if request.param == "file":
        yield small.as_uri()
        return
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=small)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def chapter(page, url, watch):
    page.goto(f"{url}/07-links.html")
    page.evaluate("gpubook.mountAll()")
    page.wait_for_function("document.querySelectorAll('figure.live[data-ready]').length === 2")
    yield page
    assert watch.foreign == []
    assert watch.errors == []


def answer(page, exercise, text):
    """Type an answer and press Enter, as one does from the keyboard; the card, when the verdict has come."""
    form = page.locator(f"form[data-exercise={exercise}]")
    form.get_by_role("textbox").fill(text)
    form.get_by_role("textbox").press("Enter")
    return judged(form)


def judged(form):
    expect(form).to_have_attribute("data-verdict", re.compile("^(?!busy$)"), timeout=VERDICT)
    return form


def test_a_formula_in_a_sentence_is_typeset_and_a_prediction_unfolds_what_comes_out(chapter):
    said = answer(chapter, "links-time", "500 s").get_by_role("status")
    assert "mistake-sentence-two" in said.inner_text()
    said.locator("math").wait_for()
    reveal = chapter.locator("details.reveal")
    assert reveal.get_attribute("open") is None
    form = chapter.locator("form[data-exercise=links-guess]")
    form.get_by_label("It halves.").check()
    form.get_by_role("button", name="Predict").click()
    assert "mistake-sentence-five" in judged(form).get_by_role("status").inner_text()
    assert reveal.get_attribute("open") is not None
    assert "It doubles" in reveal.inner_text()
    said = form.get_by_role("status").inner_text()
    assert form.get_by_role("radio").evaluate_all("fields => fields.every((field) => field.disabled)")
    form.locator("[type=submit]").click(force=True)
    assert form.get_by_role("status").inner_text() == said


def test_live_figures_compute_in_the_page(chapter):
    widget, vega = chapter.locator("figure.live").nth(0), chapter.locator("figure.live").nth(1)
    assert "twice is 42" in widget.inner_text()
    widget.get_by_label("x").press("ArrowRight")
    assert "twice is 44" in widget.inner_text()
    ticks = vega.locator("svg .role-axis-label").last
    before = ticks.text_content()
    vega.get_by_role("slider").press("End")
    expect(ticks).not_to_have_text(before)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["index", "07-links", "bibliography", "platforms"])
def test_pages_are_accessible_and_fit_a_phone(page, small, watch, root, name, scheme):
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(f"{small.as_uri()}/{name}.html")
    page.wait_for_load_state("networkidle")
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    if name == "07-links":
        answer(page, "links-time", "6 ms")
        answer(page, "links-count", "24")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert watch.foreign == []
    assert watch.errors == []
    folder = vendor.fetch(root / "docs" / "vendor.json", root / ".build" / "vendor", ["axe-core"])
    page.evaluate((folder / "axe-core" / "axe.min.js").read_text())  # the page has a policy, which refuses the tag
    found = page.evaluate("axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'], preload: false})")
    assert [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in found["violations"]] == []
