"""The page that is opened first: it fits, it is accessible, it is light, and its ring breaks by keyboard; without
JavaScript it is read and leads on."""

import functools
import http.server
import threading

import pytest

from autograder.book.site import vendor
from autograder.book.source.chapters import chapter_names
from tests.browser.served import LOOKS
from tests.browser.test_every_page import READY, SCROLLS_SIDEWAYS, TOO_WIDE
from tests.conftest import ROOT
from tests.kept import built

pytestmark = [pytest.mark.browser, pytest.mark.slow]
MOST = 385_000  # bytes of a first visit, beside those of the theme
THEME = ("fontawesome", "/fa-", "pydata-sphinx-theme", "bootstrap", "mystnb", "searchindex")


def opened(page, course=False):
    page.goto((built(ROOT, course) / "index.html").as_uri())
    page.wait_for_function(READY, timeout=60_000)
    return page


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_it_is_accessible_and_fits(chromium, watch, theme, width):
    context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=theme)
    page = opened(watch.attach(context.new_page()))
    assert page.evaluate("document.documentElement.dataset.theme") == theme
    assert page.evaluate(SCROLLS_SIDEWAYS) == 0
    assert page.evaluate(TOO_WIDE) == []
    folder = vendor.fetch(ROOT / "docs" / "vendor.json", ROOT / ".build" / "vendor", ["axe-core"])
    page.evaluate((folder / "axe-core" / "axe.min.js").read_text())  # the page has a policy, which refuses the tag
    found = page.evaluate("axe.run('main', { preload: false })")  # of styles, which a page from the disk may not read
    assert [(v["id"], v["nodes"][0]["html"]) for v in found["violations"]] == []
    assert watch.errors == []
    assert watch.foreign == []
    context.close()


def test_the_ring_breaks_by_keyboard_and_is_named(page, watch):
    opened(page)
    page.get_by_role("button", name="All send first").press("Enter")
    page.wait_for_function("document.querySelector('.gpubook-readout').dataset.state === 'deadlock'", timeout=30_000)
    said = page.locator("figure.live").get_by_role("status")
    said.filter(has_text="rank 0 waits in send for rank 1 to receive").wait_for()
    assert page.locator("svg.ring .wait").count() == 6
    assert watch.errors == []


def test_a_card_leads_to_its_chapter_wherever_it_is_clicked(page):
    opened(page)
    question = page.locator("li.front-card").nth(2).locator(".front-question")
    question.scroll_into_view_if_needed()
    box = question.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)  # the link lies above it
    page.wait_for_url("**/03-rooflines.html")
    assert page.locator(".chapter-amount").inner_text().startswith("About ")


def test_places_for_progress_take_no_room_until_they_are_filled(page):
    opened(page)
    places = [page.locator(place) for place in ("[data-continue]", "[data-repeat]")]
    for place in places:
        assert place.is_hidden()
        place.evaluate("e => { e.innerHTML = '<a href=x>Continue with three exercises</a>'; e.hidden = false; }")
        assert place.get_by_role("link", name="Continue").is_visible()


@pytest.mark.parametrize("course", [False, True])
def test_it_is_read_without_javascript(chromium, course):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((built(ROOT, course) / "index.html").as_uri())
    links = page.locator("li.front-card h3 a")
    assert links.evaluate_all("all => all.map(e => e.getAttribute('href'))") == [
        f"{n}.html" for n in chapter_names(ROOT)
    ]
    assert page.locator(".front-question").first.is_visible()
    assert "points" in page.locator(".front-facts").inner_text()
    assert (page.locator("[data-chapter-progress]").count() == 0) == course
    links.first.click()
    page.wait_for_url("**/01-gpu-architecture.html")
    context.close()


def test_a_first_visit_is_light(page, watch):
    """Without what the theme brings to every page: the page and its figure, the book's own scripts and styles."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            """Nothing."""

    handler = functools.partial(Quiet, directory=str(built(ROOT)))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        sizes = {}
        page.on("response", lambda r: sizes.update({r.url: int(r.headers.get("content-length", 0))}))
        page.goto(f"http://127.0.0.1:{server.server_port}/index.html")
        page.wait_for_function(READY, timeout=60_000)
        page.wait_for_load_state("networkidle")
        server.shutdown()
    own = {url: size for url, size in sizes.items() if not any(part in url for part in THEME)}
    assert any("index.html" in url for url in own)
    assert sum(own.values()) < MOST, sorted(own.items(), key=lambda item: -item[1])[:4]
    assert watch.foreign == []
