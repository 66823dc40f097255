"""The page of measured and predicted rows: a number leads to its rows, drawn and listed, on a telephone too."""

import pytest

from tests.browser.served import LOOKS, checked
from tests.browser.test_every_page import SCROLLS_SIDEWAYS
from tests.conftest import ROOT
from tests.kept import built

pytestmark = [pytest.mark.browser, pytest.mark.slow]
SHOWN = "section.cell-shown"


def address():
    return (built(ROOT) / "cells.html").as_uri()


def test_a_number_draws_its_rows_and_lists_them_and_has_an_address(page, watch):
    page.goto(address())
    link = page.locator("table a.cell-rows[id]").nth(5)
    count, key = int(link.inner_text()), link.get_attribute("id")
    link.focus()
    page.keyboard.press("Enter")
    shown = page.locator(SHOWN)
    shown.wait_for()
    points = shown.locator("svg[role=img] :is(.fitted, .unseen, .typical)")
    assert points.count() == count
    assert shown.locator("tbody tr").count() == count
    assert "measured" in points.first.locator("title").text_content()
    page.locator("table a.cell-rows[id]").nth(7).click()
    assert page.locator(SHOWN).count() == 1
    page.goto(f"{address()}#{key}")
    page.reload()
    shown.wait_for()
    assert shown.locator("tbody tr").count() == count
    assert watch.errors == []
    assert watch.foreign == []


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_it_is_accessible_and_fits(chromium, watch, theme, width):
    context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=theme)
    page = watch.attach(context.new_page())
    page.goto(address())
    page.locator("table a.cell-rows").first.click()
    page.locator(SHOWN).wait_for()
    assert page.evaluate(SCROLLS_SIDEWAYS) == 0
    checked(page, SHOWN)
    assert watch.errors == []
    context.close()
