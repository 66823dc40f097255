"""Tokens travel to experts, by mouse, keyboard and finger, in a page without a kernel, and stand still where asked."""

import pytest

from hwlib import widgets
from tests.browser.test_chip_figures import figure
from tests.browser.test_figures import no_kernel_page, press

pytestmark = [pytest.mark.browser, pytest.mark.slow]
DRAWN = "svg.experts path"
MOMENTS = """(tokens) => new Promise((resolve) => {
  const figure = document.querySelector("svg.experts"), seen = {};
  const look = () => {
    const places = [...figure.querySelectorAll("circle")].map((el) => el.getAttribute("cx")).join();
    const now = (seen[figure.dataset.token] ??= []);
    if (!now.includes(places)) now.push(places);
    if (Object.keys(seen).length > tokens) {
      delete seen[figure.dataset.token];
      resolve(seen);
    } else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})"""
"""Where the dots of each of so many tokens were seen, by the page's own clock, from one picture to the next: the next
token leaves while a slow machine still answers the first question."""


def told(page):
    data = page.locator(".gpubook-readout").evaluate("(el) => ({...el.dataset})")
    return {name: float(value) for name, value in data.items()}


def token(page):
    return page.locator("svg.experts").evaluate("(el) => ({...el.dataset})")


def dots(page):
    return page.locator("svg.experts circle").evaluate_all("(all) => all.map((el) => el.getAttribute('cx'))")


@pytest.fixture
def explorer(page, tmp_path):
    page.goto(no_kernel_page(tmp_path, [figure(widgets.expert_explorer(tokens=16, skew=1.0))]))
    page.wait_for_selector(DRAWN)
    return page


def test_what_saves_copies_and_bytes_is_seen(explorer, watch):
    plain = told(explorer)
    explorer.locator("select[name=copies]").select_option("node")
    once = told(explorer)
    assert once["crossings"] < plain["crossings"]
    press(explorer, "input[name=limit]", "ArrowLeft", 1)
    limited = told(explorer)
    assert limited["crossings"] <= 4
    assert limited["crossings"] < once["crossings"]
    explorer.locator("input[name=fp8]").check()
    assert told(explorer)["dispatch"] == pytest.approx(limited["dispatch"] * (1 + 4 / 128) / 2)
    explorer.locator("input[name=redundant]").focus()
    explorer.keyboard.press("Space")
    assert told(explorer)["imbalance"] < limited["imbalance"]
    press(explorer, "input[name=nodes]", "ArrowLeft", 1)
    assert "node 3" in explorer.locator("svg.experts").text_content()
    assert "node 4" not in explorer.locator("svg.experts").text_content()
    assert watch.errors == []
    assert watch.foreign == []


def test_a_token_is_followed_from_the_rank_that_is_chosen(explorer, watch):
    said = explorer.locator("p.token")
    assert said.inner_text().startswith("Token 0 of rank 27: 8 experts on ")
    explorer.get_by_role("button", name="Next token").click()
    assert said.inner_text().startswith("Token 1 of rank 27")
    box = explorer.locator('svg.experts rect[data-rank="60"]').first.bounding_box()
    explorer.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert said.inner_text().startswith("Token 1 of rank 60")
    assert explorer.locator("svg.experts circle").count() == int(token(explorer)["copies"])
    press(explorer, "input[name=rank]", "ArrowRight", 2)
    assert said.inner_text().startswith("Token 1 of rank 62")
    assert watch.errors == []


def test_tokens_travel_until_they_are_stopped(explorer, watch):
    button = explorer.get_by_role("button", name="Play")
    button.focus()
    explorer.keyboard.press("Enter")
    explorer.wait_for_function("Number(document.querySelector('svg.experts').dataset.token) > 1")
    places = "[...document.querySelectorAll('svg.experts circle')].map((el) => el.getAttribute('cx'))"
    moved = f"(old) => old !== {places}.join()"
    explorer.wait_for_function(moved, arg=",".join(dots(explorer)))
    explorer.get_by_role("button", name="Pause").click()
    there = dots(explorer), token(explorer)
    explorer.wait_for_timeout(300)
    assert (dots(explorer), token(explorer)) == there
    assert watch.errors == []


def test_a_phone_and_a_reader_who_wants_no_motion(chromium, watch, tmp_path):
    context = chromium.new_context(viewport={"width": 390, "height": 800}, reduced_motion="reduce", has_touch=True)
    page = watch.attach(context.new_page())
    url = no_kernel_page(tmp_path, [figure(widgets.expert_explorer(tokens=8))], "margin: 8px")
    text = (tmp_path / "page.html").read_text()
    (tmp_path / "page.html").write_text(
        text.replace("<title>", '<meta name="viewport" content="width=device-width"><title>')
    )
    page.goto(url)
    page.wait_for_selector(DRAWN)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    box = page.locator('svg.experts rect[data-rank="2"]').first.bounding_box()
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + 4)
    assert page.locator("p.token").inner_text().startswith("Token 0 of rank 2:")
    page.get_by_role("button", name="Play").tap()
    moments = page.evaluate(MOMENTS, 3)
    assert [len(places) for places in moments.values()] == [1] * 3  # they stand at the ranks that they have reached
    assert watch.errors == []
    context.close()
