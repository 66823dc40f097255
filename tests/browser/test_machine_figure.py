"""The figure of six machines, in a page without a kernel: chosen, dragged and typed, on a wide screen and a phone."""

import pytest

from hwlib import widgets
from hwlib.steptime import machine_bounds, machine_sheet, plan_demand
from tests.browser.test_chip_figures import figure
from tests.browser.test_figures import no_kernel_page, press, readout

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.mark.parametrize("width", [1280, 390])
def test_a_bound_moves_where_a_number_of_the_sheet_does(page, watch, tmp_path, width):
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(no_kernel_page(tmp_path, [figure(widgets.machine_explorer("moe-ep64"))]))
    page.wait_for_selector("svg.machines .column")
    told, asked = page.locator(".gpubook-readout"), plan_demand("moe-ep64")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("svg.machines .column").count() == 6
    assert told.get_attribute("data-holds") == "ep"

    page.locator("input[name=domain-typed]").fill("72")
    page.locator("input[name=domain-typed]").press("Enter")
    assert told.get_attribute("data-holds") == "math"
    assert "held" in told.inner_text()
    press(page, "input[name=flops]", "ArrowRight", 8)  # eight eighths of a doubling
    sheet = machine_sheet("dgx-h100")
    now = machine_bounds(sheet._replace(domain=72, flops=2 * sheet.flops), asked)
    assert readout(page, "math") == pytest.approx(now.math)
    assert readout(page, "ep") == pytest.approx(now.ep)

    page.locator("svg.machines [data-machine=tpu-v5p-pod]").click()
    assert told.get_attribute("data-machine") == "tpu-v5p-pod"
    assert readout(page, "math") == pytest.approx(machine_bounds("tpu-v5p-pod", asked).math)
    page.locator("select[name=plan]").select_option("dense-tp16")
    page.locator("select[name=machine]").select_option("dgx-h100")
    assert (
        told.get_attribute("data-holds")
        == machine_bounds(sheet._replace(domain=72, flops=2 * sheet.flops), plan_demand("dense-tp16")).holds
    )
    page.get_by_role("button", name="as printed").click()
    assert readout(page, "tp") == pytest.approx(machine_bounds("dgx-h100", plan_demand("dense-tp16")).tp)
    assert watch.errors == []
    assert watch.foreign == []
