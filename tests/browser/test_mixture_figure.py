"""The chart of two axes in a page without a kernel: curves are drawn, menu and sliders move them by keyboard."""

import pytest

from hwlib import widgets
from tests.browser.test_figures import no_kernel_page, press, title, vendor  # noqa: F401  (a fixture)

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PATHS = "() => [...document.querySelectorAll('.mark-line path')].map((p) => p.getAttribute('d'))"


@pytest.mark.usefixtures("vendor")
def test_curves_follow_the_keyboard_and_the_menu(page, watch, tmp_path):
    page.goto(no_kernel_page(tmp_path, [("vega", {"spec": widgets.mixture_explorer("v5p", 512).spec})]))
    page.wait_for_selector(".mark-line path")
    drawn = page.evaluate(PATHS)
    assert len(drawn) == 4
    assert "512 tokens of a rank" in title(page)
    press(page, "input[type=range]", "ArrowRight", 1)
    page.wait_for_function("() => document.querySelector('.role-title text').textContent.includes('1,024 tokens')")
    assert page.evaluate(PATHS) != drawn
    page.select_option("select", "h100")
    page.wait_for_function("() => document.querySelector('.role-title').textContent.includes('2,474')")
    page.set_viewport_size({"width": 390, "height": 800})
    page.reload()
    page.wait_for_selector(".mark-line path")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    assert watch.errors == []
    assert watch.foreign == []
