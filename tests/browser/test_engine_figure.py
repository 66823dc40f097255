"""The figure of a serving engine, in a page without a kernel: by keyboard and list, on a screen and on a telephone."""

import pytest

from hwlib import widgets
from tests.browser.test_figures import no_kernel_page, press, readout
from tests.hwlib.test_widgets import state_of

pytestmark = [pytest.mark.browser, pytest.mark.slow]
READY = "figure.live[data-ready=true]"


def explorer(**how):
    widget = widgets.engine_explorer(**how)
    return "anywidget", {"esm": widget._esm, "css": widget._css, "state": state_of(widget)}


def test_a_run_follows_the_policy_the_budget_and_the_load(page, watch, tmp_path):
    page.goto(no_kernel_page(tmp_path, [explorer(policy="prefill first", budget=8192)]))
    page.wait_for_selector(READY)
    stall, slow = readout(page, "longest"), readout(page, "ttft")
    whole = page.locator(".gpubook-figure rect.memory").count()
    page.locator("select[name=policy]").select_option("chunked")
    press(page, "input[name=budget]", "ArrowLeft", 4)
    assert readout(page, "longest") < stall / 8
    assert page.locator(".gpubook-figure rect.memory").count() < whole
    assert page.locator(".gpubook-figure rect.compute").count() > 40
    page.locator("select[name=policy]").select_option("decode first")
    assert readout(page, "ttft") > 3 * slow
    assert page.locator("input[name=budget]").is_disabled()
    money = readout(page, "money")
    press(page, "input[name=price]", "ArrowRight", 2)
    assert readout(page, "money") == pytest.approx(1.5 * money)
    assert watch.errors == []
    assert watch.foreign == []


def test_it_fits_a_telephone(chromium, tmp_path):
    context = chromium.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = context.new_page()
    page.goto(no_kernel_page(tmp_path, [explorer()]))
    page.wait_for_selector(READY)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    small = page.locator(".gpubook-figure svg text").evaluate_all(
        "all => Math.min(...all.map(e => e.getBoundingClientRect().height))"
    )
    assert small >= 10
    context.close()
