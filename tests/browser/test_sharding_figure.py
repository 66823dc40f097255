"""Letters go onto the matrices by mouse and by keyboard, in a page without a kernel."""

import pytest

from hwlib import widgets
from tests.browser.test_chip_figures import figure
from tests.browser.test_figures import no_kernel_page

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_letters_are_dragged_and_picked(page, watch, tmp_path):
    page.goto(no_kernel_page(tmp_path, [figure(widgets.sharding_explorer("X", "Y", "Y", ""))]))
    page.wait_for_selector(".gpubook-figure .product")

    def titles():
        return [title.inner_text() for title in page.locator(".product .title").all()]

    def drag(source, goal):
        boxes = [page.locator(one).bounding_box() for one in (source, goal)]
        (x, y), end = ((box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes)
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 20, y + 5)
        page.mouse.move(*end)
        page.mouse.up()

    assert titles()[:2] == ["A[I_X, J_Y]", "B[J_Y, K]"]
    drag("[data-letter=X]", "[data-slot=BK]")
    assert titles()[:2] == ["A[I_X, J_Y]", "B[J_Y, K_X]"]
    drag("[data-slot=AI]", "[data-slot=AJ]")
    assert titles()[:2] == ["A[I, J_XY]", "B[J_Y, K_X]"]
    drag("[data-slot=BK]", "select[name=cluster]")  # no place for a letter: it is taken away
    assert titles()[:2] == ["A[I, J_XY]", "B[J_Y, K]"]
    page.locator("[data-letter=Y]").focus()
    page.keyboard.press("Enter")
    page.locator("[data-slot=BK]").focus()
    page.keyboard.press("Enter")
    assert titles()[:2] == ["A[I, J_XY]", "B[J, K_Y]"]
    assert "X: case 2; Y: case 4" in page.locator(".gpubook-readout").inner_text()
    assert watch.errors == []
    assert watch.foreign == []
