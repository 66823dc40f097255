"""The reference pages in a real browser, from the disk: filtered, sorted, compared, by keyboard, on a telephone, and
without JavaScript; and the way from an exercise to its cell in JupyterLab."""

import pytest

from tests.browser.conftest import Watch
from tests.browser.served import LOOKS, checked, served
from tests.conftest import ROOT
from tests.kept import built

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PAGES = ("specs", "exercises", "disagreements", "notation", "data")
SHOWN = "rows => rows.filter(row => !row.hidden && row.offsetParent).length"
FIRST = "rows => rows.filter(row => !row.hidden).map(row => row.cells[0].textContent.trim())[0]"


@pytest.fixture(scope="module")
def opened(chromium):
    """Open a page of the built book, at a width."""
    contexts = []

    def go(name, fragment="", width=1440, **options):
        context, watch = chromium.new_context(viewport={"width": width, "height": 900}, **options), Watch()
        contexts.append((context, watch))
        page = watch.attach(context.new_page())
        page.goto((built(ROOT) / f"{name}.html").as_uri() + fragment)
        return page

    yield go
    for context, watch in contexts:
        context.close()
        assert watch.foreign == []
        assert watch.errors == []


def chips(page):
    return page.locator("table[data-explore=chips] > tbody > tr")


def test_rows_are_filtered_by_text_table_and_vendor(opened):
    page = opened("specs")
    status = page.locator(".reference-tools [role=status]")
    assert status.inner_text() == "208 rows"
    page.get_by_label("Filter", exact=True).fill("hopper")
    assert chips(page).evaluate_all(SHOWN) == 8
    assert page.locator("details#h100-sxm").is_visible()
    assert not page.locator("details#mi300x").is_visible()
    page.get_by_label("Filter", exact=True).fill("")
    page.get_by_label("Vendor", exact=True).select_option("AMD")
    assert chips(page).evaluate_all(SHOWN) == 4
    assert status.inner_text() == "4 of 208 rows"
    page.get_by_label("Vendor", exact=True).select_option("")
    page.get_by_label("Table", exact=True).select_option("switches")
    assert not page.get_by_role("heading", name="Chips", level=2).is_visible()
    assert page.get_by_role("heading", name="Switches", level=2).is_visible()


def test_a_column_sorts_by_its_values_with_the_unknown_last(opened):
    page = opened("specs")
    button = page.locator("table[data-explore=chips] th[data-column=hbm_bandwidth] button")
    button.focus()
    page.keyboard.press("Enter")
    assert page.locator("th[data-column=hbm_bandwidth][aria-sort=ascending]").count() == 1
    numbers = "rows => rows.map(row => Number(row.cells[6].dataset.sort || Infinity))"
    found = chips(page).evaluate_all(numbers)
    assert found == sorted(found)
    page.keyboard.press("Enter")
    assert "Rubin" in chips(page).evaluate_all(FIRST)


def test_columns_are_chosen(opened):
    page = opened("specs")
    head = page.locator("table[data-explore=chips] th[data-column=l2_bytes]")
    assert not head.is_visible()
    page.locator("#chips details.reference-columns > summary").click()
    page.locator("#chips .reference-choices").get_by_label("l2 bytes").check()
    assert head.is_visible()


def test_two_chips_are_compared_side_by_side_by_keyboard(opened):
    page = opened("specs")
    for name in ("H100 SXM5", "H200 SXM"):
        page.get_by_label(f"Compare {name}", exact=True).focus()
        page.keyboard.press("Space")
    table = page.locator("#chips .reference-compared table")
    assert [head.strip() for head in table.locator("thead th").all_inner_texts()] == ["field", "H100 SXM5", "H200 SXM"]
    line = table.locator("tr", has=page.locator("th", has_text="hbm_bandwidth"))
    assert line.locator("td").all_inner_texts() == ["3.35 TB/s", "4.8 TB/s"]
    assert "differs" in line.get_attribute("class")
    page.locator("#chips .reference-compared button").click()
    assert table.count() == 0


def test_an_address_with_a_key_unfolds_its_row_wherever_it_was_filtered(opened):
    page = opened("specs", "#dgx-h100")
    assert page.locator("details#dgx-h100").get_attribute("open") is not None
    page.get_by_label("Filter", exact=True).fill("mi300x")
    page.locator("table[data-explore=nodes]").get_by_role("link", name="8x MI300X").click()
    assert page.locator("details#mi300x-node").get_attribute("open") is not None
    page.evaluate("location.hash = '#h100-sxm'")
    page.locator("details#h100-sxm[open]").wait_for()
    assert page.locator("details#h100-sxm").is_visible()


def test_exercises_are_filtered_by_chapter_kind_and_text_and_lead_to_their_cards(opened):
    page = opened("exercises")
    rows = page.locator("table[data-explore=exercises] tbody tr")
    everything = rows.evaluate_all(SHOWN)
    page.get_by_label("Chapter", exact=True).select_option("3. Rooflines")
    here = rows.evaluate_all(SHOWN)
    assert 10 < here < everything
    page.get_by_label("Kind", exact=True).select_option("Prediction")
    assert 0 < rows.evaluate_all(SHOWN) < here
    page.get_by_label("Kind", exact=True).select_option("")
    page.get_by_label("Filter", exact=True).fill("simplest kernel")
    assert rows.evaluate_all(SHOWN) == 1
    page.get_by_role("link", name="The simplest kernel").click()
    page.wait_for_url("**/03-rooflines.html#exercise-rooflines-vector-add")
    assert page.locator("#exercise-rooflines-vector-add").is_visible()


def test_without_javascript_everything_is_there(opened):
    page = opened("specs", java_script_enabled=False)
    assert chips(page).count() == 41
    assert page.locator("table[data-explore=chips] th[data-column=l2_bytes]").is_visible()
    page.locator("details#h100-sxm > summary").click()
    assert page.locator("details#h100-sxm").get_by_text("900 GB/s × 0.5").is_visible()


@pytest.mark.parametrize(("width", "theme"), LOOKS)
@pytest.mark.parametrize("name", PAGES)
def test_a_reference_page_is_accessible_and_fits(opened, name, width, theme):
    page = opened(name, width=width, color_scheme=theme)
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
    if name == "specs":
        page.evaluate("location.hash = '#h100-sxm'")
        for chip in ("H100 SXM5", "H200 SXM"):
            page.get_by_label(f"Compare {chip}", exact=True).check()
    checked(page, "article.bd-article")
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0


def test_a_card_leads_to_its_cell_in_the_readers_jupyterlab(chromium):
    with served(built(ROOT)) as url:
        context = chromium.new_context()
        page = context.new_page()
        page.goto(f"{url}/03-rooflines.html")
        link = page.locator("#exercise-rooflines-vector-add .card-link a")
        path = "03-rooflines/03-rooflines.ipynb#cell-id=rooflines-vector-add-prompt"
        assert link.get_attribute("href") == f"http://localhost:8888/lab/tree/{path}"
        page.get_by_label("yours runs at").fill("http://hub.example:1234/lab")
        page.get_by_label("yours runs at").press("Tab")
        assert link.get_attribute("href") == f"http://hub.example:1234/lab/tree/{path}"
        page.goto(f"{url}/06-collectives.html")
        kept = page.locator(".card-link a").first.get_attribute("href")
        assert kept.startswith("http://hub.example:1234/lab/tree/06-collectives/06-collectives.ipynb#cell-id=")
        page.get_by_label("yours runs at").fill("http://localhost:8888/lab/tree/course")
        page.get_by_label("yours runs at").press("Tab")
        kept = page.locator(".card-link a").first.get_attribute("href")
        assert kept.startswith("http://localhost:8888/lab/tree/course/06-collectives/06-collectives.ipynb#")
        checked(page, "article.bd-article .notebook-link")
        context.close()


def test_jupyterlab_goes_to_the_cell_of_such_a_link_and_stays_there(page, lab):
    address = f"{lab[0]}/lab/tree/03-rooflines/03-rooflines.ipynb"
    in_the_upper_half = """name => {
        const cells = [...document.querySelectorAll(".jp-NotebookPanel .jp-Cell")];
        const top = cells.find((one) => one.innerText.includes(name))?.getBoundingClientRect().top;
        return 0 <= top && top < innerHeight/2;
    }"""
    page.goto(f"{lab[0]}/lab?token=t")
    for exercise, title in (
        ("rooflines-matmul-time", "One layer of a decoder"),
        ("rooflines-vector-add", "The simplest kernel"),
    ):
        page.goto(f"{address}#cell-id={exercise}-prompt")  # the first opens the notebook, the next finds it open
        page.wait_for_function(in_the_upper_half, arg=title, timeout=90_000)
    page.get_by_text("| Idle").wait_for(timeout=60_000)
    page.wait_for_timeout(2000)
    assert page.evaluate(in_the_upper_half, "The simplest kernel")
    assert page.locator(".jp-Cell.jp-mod-selected").count() == 1
