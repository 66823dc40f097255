"""The pages that plan, read from the disk: computed in the page, opened by an address, by keyboard, on a telephone."""

import re
from html import unescape
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from autograder.planned import FORMS, answered
from tests.browser.served import checked
from tests.conftest import ROOT
from tests.kept import built

pytestmark = [pytest.mark.browser, pytest.mark.slow]
ANSWER = 120_000  # milliseconds until it is there, the start of Python included
TOML = "nodes = 1  # of one's own & mine\nchips = 8\nchip = 'h100-sxm'"
ASKED = {
    "model": "llama3-8b",
    "cluster": "dgx-a100",
    "batch": "1M",
    "dtype": "bf16",
    "tp": "2",
    "zero": "1",
    "described": TOML,
    "sp": "no",
    "offload": "optimizer",
}


def open_page(page, name, fragment=""):
    page.goto((built(ROOT) / f"{name}.html").as_uri() + fragment)


def words(html):
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def test_a_plan_is_computed_in_the_page_and_is_its_address(page, watch):
    open_page(page, "fill", "#" + "&".join(f"{name}={quote(value)}" for name, value in ASKED.items()))
    shown, said = page.locator("#answer-of-fill"), page.locator(".planned-error")
    best = shown.locator(".planned-best")
    expect(best).to_contain_text("It fits", timeout=ANSWER)
    assert words(shown.inner_html()) == words(answered("fill", ASKED)["html"]), "as plain Python has it, with numpy"
    assert page.get_by_label("Cluster's file", exact=True).input_value() == TOML
    opened = page.locator("form.planned details[open] > summary").all_inner_texts()
    assert opened == ["A cluster or a chip of your own", "Advanced"], "what is asked is in view"
    first = page.url
    field = page.get_by_label("micro", exact=True)
    field.fill("16")
    field.press("Enter")
    expect(best).to_contain_text("It does not fit", timeout=ANSWER)
    assert "micro=16" in page.url
    page.go_back()
    expect(best).to_contain_text("It fits", timeout=ANSWER)
    assert (page.url, field.input_value()) == (first, "")
    field = page.get_by_label("tp", exact=True)
    field.fill("3")
    field.press("Enter")
    expect(said).to_have_text(answered("fill", ASKED | {"tp": "3"})["error"], timeout=ANSWER)
    assert field.get_attribute("aria-invalid") == "true"
    assert shown.inner_text() == ""
    assert (watch.foreign, watch.errors) == ([], [])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", FORMS)
def test_the_page_opens_with_an_answer_and_is_accessible_on_a_telephone(page, watch, name, scheme):
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 390, "height": 800})
    open_page(page, name)
    page.locator("form.planned[data-ready]").wait_for()
    assert words(page.locator(f"#answer-of-{name}").inner_html()) == words(answered(name, FORMS[name].first)["html"])
    page.evaluate("document.querySelectorAll('form.planned details').forEach((one) => { one.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    checked(page, "article.bd-article")
    assert (watch.foreign, watch.errors) == ([], [])
