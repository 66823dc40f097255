"""The figure of a decode step, in a page without a kernel: by keyboard, by mouse and by touch, narrow and wide."""

import pytest

from hwlib import widgets
from hwlib.calibrated import decode_parts
from tests.browser.test_figures import no_kernel_page, press, readout
from tests.hwlib.test_widgets import state_of

pytestmark = [pytest.mark.browser, pytest.mark.slow]
READY = "figure.live[data-ready=true]"


def explorer(**how):
    widget = widgets.decode_explorer(**how)
    return "anywidget", {"esm": widget._esm, "css": widget._css, "state": state_of(widget)}


def test_a_step_follows_keys_lists_and_what_was_published(page, watch, tmp_path):
    page.goto(no_kernel_page(tmp_path, [explorer(graph=False)]))
    page.wait_for_selector(READY)
    assert readout(page, "waiting") > 0.01
    page.locator("select[name=host]").select_option("graph")
    assert readout(page, "waiting") == 0
    assert page.locator("input[name=launch]").is_disabled()
    one = readout(page, "step")
    press(page, "input[name=B]", "ArrowRight", 6)
    told = decode_parts("llama3-70b", "h100-sxm", tp=8, B=64, T_kv=8192)
    assert readout(page, "step") == pytest.approx(told.total)
    assert told.total > one
    press(page, "input[name=tp]", "ArrowLeft", 3)
    assert "does not hold" in page.locator(".gpubook-readout").inner_text()
    row = page.locator("select[name=published] option", has_text="Llama 3.1 70B, 8").first.get_attribute("value")
    page.locator("select[name=published]").select_option(row)
    assert "59 tokens/s" in page.locator(".gpubook-readout").inner_text()
    assert page.locator(".gpubook-figure path.seen").count() == 2  # beside the strip, and in the chart
    assert watch.errors == []
    assert watch.foreign == []


def test_it_fits_a_telephone_and_is_touched(chromium, tmp_path):
    context = chromium.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = context.new_page()
    page.goto(no_kernel_page(tmp_path, [explorer()]))
    page.wait_for_selector(READY)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    before = readout(page, "step")
    box = page.locator("input[name=B]").bounding_box()
    page.touchscreen.tap(box["x"] + 0.9 * box["width"], box["y"] + box["height"] / 2)
    assert readout(page, "step") > 2 * before
    small = page.locator(".gpubook-figure svg text").evaluate_all(
        "all => Math.min(...all.map(e => e.getBoundingClientRect().height))"
    )
    assert small >= 10
    context.close()
