"""The figure of traces, in a page without a kernel: by keyboard and by mouse, wide and narrow."""

import pytest

from hwlib import widgets
from hwlib.traces import draw_traces, read_trace, waits_between
from tests.browser.test_figures import no_kernel_page, press, readout
from tests.hwlib.test_widgets import state_of

pytestmark = [pytest.mark.browser, pytest.mark.slow]
READY = "figure.live[data-ready=true]"


def explorer(**how):
    widget = widgets.trace_explorer(**how)
    return "anywidget", {"esm": widget._esm, "css": widget._css, "state": state_of(widget)}


def test_a_job_is_chosen_zoomed_and_read(page, watch, tmp_path):
    page.goto(no_kernel_page(tmp_path, [explorer()]))
    page.wait_for_selector(READY)
    healthy = readout(page, "step")
    assert page.locator("g.wait").count() == 0
    page.locator("select[name=job]").select_option("data stall")
    assert readout(page, "step") > healthy + 10_000
    waits = waits_between([read_trace(raw) for raw in draw_traces("data stall", 2)])
    assert readout(page, "wait") == pytest.approx(1e6 * next(iter(waits.values())), abs=1)
    assert readout(page, "whom") == 2
    assert page.locator("g.wait").count() > 3
    bars = page.locator(".gpubook-figure svg rect.third").count()
    assert page.locator("input[name=place]").is_disabled()
    press(page, "input[name=zoom]", "ArrowRight", 3)
    press(page, "input[name=place]", "ArrowRight", 50)
    assert 0 < page.locator(".gpubook-figure svg rect.third").count() < bars
    assert readout(page, "wait") == pytest.approx(1e6 * next(iter(waits.values())), abs=1)
    page.locator("select[name=arrows]").select_option("no")
    assert page.locator("g.wait").count() == 0
    assert watch.errors == []
    assert watch.foreign == []


def test_it_fits_a_telephone(chromium, tmp_path):
    context = chromium.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = context.new_page()
    page.goto(no_kernel_page(tmp_path, [explorer(job="clock cap")]))
    page.wait_for_selector(READY)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    small = page.locator(".gpubook-figure svg text").evaluate_all(
        "all => Math.min(...all.map(e => e.getBoundingClientRect().height))"
    )
    assert small >= 10
    context.close()
