"""The chip figures answer to the keyboard and the pointer, in a page without a kernel."""

import pytest

from hwlib import widgets
from hwlib.specs import accelerators
from tests.browser.test_figures import no_kernel_page, press

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def figure(widget):
    state = widget.get_state()
    hidden = ("layout", "tabbable", "tooltip")
    own = {k: v for k, v in state.items() if not k.startswith("_") and k not in hidden}
    return "anywidget", {"esm": state["_esm"], "css": state["_css"], "state": own}


def test_a_chip_is_reached_by_keyboard_pointer_and_menu(page, watch, tmp_path):
    page.goto(no_kernel_page(tmp_path, [figure(widgets.chip_explorer("tdp", "matmul_bf16_flops"))]))
    page.wait_for_selector(".gpubook-figure .chip")
    told = page.locator(".gpubook-readout")
    assert told.get_attribute("data-chip") == "h100-sxm"
    page.locator("select[name=x]").focus()
    for _ in range(3):  # past the menus of vendor and chip, to the first mark
        page.keyboard.press("Tab")
    assert told.get_attribute("data-chip") == "a100-40gb-sxm"
    page.locator("[data-chip=mi300x] .ring").hover(force=True)
    assert told.inner_text().startswith("MI300X, CDNA 3 (AMD)")
    assert "668.4 TFLOP/s. Printed “668.4 TFLOPS” (bekman-ml-engineering" in told.inner_text()
    page.mouse.move(0, 0)  # or what is drawn anew under the pointer is pointed at
    page.locator("select[name=y]").select_option("sms")
    page.locator("select[name=vendor]").select_option("Google")
    assert page.locator(".gpubook-figure .chip").count() == 1  # one TPU whose power is known
    assert "multiprocessors: 304" in told.inner_text()
    assert watch.errors == []
    assert watch.foreign == []


def test_a_peak_follows_its_sliders_and_a_new_chip_brings_its_own(page, watch, tmp_path):
    page.goto(no_kernel_page(tmp_path, [figure(widgets.peak_explorer())]))
    page.wait_for_selector(".gpubook-figure svg rect")

    def dense():
        return float(page.locator(".gpubook-readout").get_attribute("data-dense"))

    assert dense() == 132 * 4096 * 1.83e9
    press(page, "input[name=clock]", "ArrowLeft", 3)
    assert dense() == pytest.approx(132 * 4096 * 1.80e9)
    press(page, "input[name=ops]", "ArrowRight", 1)
    assert dense() == pytest.approx(132 * 8192 * 1.80e9)
    page.locator("select[name=chip]").select_option("a100-80gb-sxm")
    assert dense() == pytest.approx(accelerators["a100-80gb-sxm"].bf16_flops, rel=1e-3)
    page.locator("select[name=sparsity]").select_option("2:4")
    assert "counted" in page.locator(".gpubook-readout").inner_text()
    assert watch.errors == []
