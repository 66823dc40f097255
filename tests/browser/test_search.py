"""The search in a real browser, from the disk and over http: what is typed finds sections, exercises, formulas, terms
and numbers, in the dialog and on its page, by keyboard alone."""

import re

import pytest

from tests.browser.served import LOOKS, checked, served
from tests.conftest import ROOT
from tests.kept import built

pytestmark = [pytest.mark.browser, pytest.mark.slow]
FIND = "text => gpubook.search(text).then(found => found.map(one => [one.kind, one.href]))"
QUERIES = [
    ("all_reduce", 8, "section", r"06-collectives.html#"),
    ("all_reduce", 8, "formula", r"formulas.html#\w*allreduce"),
    ("allreduce", 8, "formula", r"formulas.html#ring_allreduce_time"),
    ("bank conflict", 2, "term", r"glossary.html#term-bank-conflict"),
    ("bank conflict", 4, "section", r"02-memory-hierarchy.html#"),
    ("bank conflicts", 4, "section", r"02-memory-hierarchy.html#"),
    ("MoE", 4, "section", r"(09-transformer-math|13-expert-parallelism).html#"),
    ("ECMP", 1, "term", r"glossary.html#term-ECMP"),
    ("ECMP", 6, "section", r"05-cluster-networking.html#"),
    ("pipeline buble", 6, "section", r"12-pipeline-parallelism.html#"),
    ("ring_allreduce_time", 1, "formula", r"formulas.html#ring_allreduce_time"),
    ("h100-sxm", 2, "numbers", r"specs.html#h100-sxm"),
    ("NVSwitch", 3, "numbers", r"specs.html#nvswitch"),
    ("speculat", 4, "section", r"15-inference.html#"),
    ("KV cache", 8, "section", r"15-inference.html#"),
    ("find the error", 8, "exercise", r"#exercise-"),
    ("latency of one step", 3, "symbol", r"notation.html#symbol-alpha"),
]


@pytest.fixture(scope="module")
def base():
    with served(built(ROOT)) as url:
        yield {"file": built(ROOT).as_uri(), "http": url}


@pytest.fixture(scope="module")
def found(chromium):
    """What the queries find, asked on one page."""
    page = chromium.new_page()
    page.goto((built(ROOT) / "data.html").as_uri())
    yield {text: page.evaluate(FIND, text) for text, *_ in QUERIES}
    page.close()


@pytest.mark.parametrize(("text", "within", "kind", "href"), QUERIES)
def test_a_query_finds_the_place_that_is_meant(found, text, within, kind, href):
    first = found[text][:within]
    assert [one for one in first if one[0] == kind and re.search(href, one[1])], first


@pytest.mark.parametrize("way", ["file", "http"])
def test_typing_shows_results_in_the_dialog_and_the_keyboard_opens_one(page, watch, base, way):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{base[way]}/03-rooflines.html")
    assert not [url for url in asked if re.search("search-data|minisearch|searchindex|searchtools", url)]
    page.keyboard.press("Control+k")
    page.keyboard.type("bank conflict")
    results = page.locator("#pst-search-dialog .search-results")
    results.locator("li").first.wait_for()
    assert re.match(r"\d+ found", results.get_by_role("status").inner_text())
    section = results.locator("li", has_text="Memory hierarchy").first
    assert section.locator("mark").count() >= 1
    assert "section" in section.locator(".search-kind").inner_text()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.closest('li') === document.querySelectorAll('.search-results li')[1]")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.type") == "search"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/glossary.html#term-bank-conflict")
    assert watch.errors == []
    assert watch.foreign == []


def test_enter_opens_the_first_result_and_escape_closes_the_dialog(page, base):
    page.goto(f"{base['file']}/index.html")
    page.locator(".search-button__button").first.click()
    page.keyboard.type("ECMP")
    page.locator("#pst-search-dialog li").first.wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    assert not page.locator("#pst-search-dialog").is_visible()
    page.keyboard.press("Control+k")
    page.keyboard.press("Enter")
    page.wait_for_url("**/glossary.html#term-ECMP")


def test_nothing_found_is_said(page, base):
    page.goto(f"{base['file']}/index.html")
    page.keyboard.press("Control+k")
    page.keyboard.type("xyzzyplugh")
    page.get_by_text("Nothing found.").wait_for()


@pytest.mark.parametrize("way", ["file", "http"])
def test_the_page_of_the_search_takes_its_question_from_the_address(page, watch, base, way):
    page.goto(f"{base[way]}/search.html?q=bank+conflict")
    page.locator("#book-search li").first.wait_for()
    assert page.locator("#book-search input").input_value() == "bank conflict"
    assert page.locator("#book-search li", has_text="What a warp asks for").count() == 1
    assert watch.errors == []


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_the_results_are_accessible_and_fit(chromium, base, theme, width):
    context = chromium.new_context(viewport={"width": width, "height": 844}, color_scheme=theme)
    page = context.new_page()
    page.goto(f"{base['file']}/search.html?q=roofline")
    page.locator("#book-search li").first.wait_for()
    checked(page, "#book-search")
    page.goto(f"{base['file']}/data.html")
    page.keyboard.press("Control+k")
    page.keyboard.type("roofline")
    page.locator("#pst-search-dialog li").first.wait_for()
    checked(page, "#pst-search-dialog")
    field, icon = (page.locator(f"#pst-search-dialog form {one}") for one in ("input", "i, form svg"))
    text = field.evaluate("one => one.getBoundingClientRect().left + parseFloat(getComputedStyle(one).paddingLeft)")
    assert text > icon.first.evaluate("one => one.getBoundingClientRect().right")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    context.close()


def test_the_index_of_the_course_edition_holds_prompts_and_no_box():
    text = (built(ROOT, course=True) / "_static" / "search-data.js").read_text(encoding="utf-8")
    assert "#exercise-rooflines-vector-add" in text
    for trace in ("Common mistakes", "answer-box", '"digest"'):
        assert trace not in text
