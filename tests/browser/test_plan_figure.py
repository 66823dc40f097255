"""The figure of plans answers to pointer and keyboard, in a page without a kernel, on a wide screen and a phone."""

import pytest

from hwlib import widgets
from hwlib.planner import plan_cloud
from tests.browser.test_chip_figures import figure
from tests.browser.test_figures import no_kernel_page

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.mark.parametrize("width", [1280, 390])
def test_a_plan_is_pointed_at_walked_to_and_filtered(page, watch, tmp_path, width):
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(no_kernel_page(tmp_path, [figure(widgets.plan_explorer("bloom"))]))
    page.wait_for_selector("svg.plans .star")
    cloud, told = plan_cloud("bloom"), page.locator(".gpubook-readout")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("svg.plans .plan").count() == len(cloud.plans)
    assert float(told.get_attribute("data-seconds")) == pytest.approx(cloud.plans[0].seconds, rel=1e-3)

    page.get_by_role("button", name="next published run").click()
    assert told.get_attribute("data-run") == cloud.runs[0].run
    assert "Measured 143.3 s" in told.inner_text()
    page.locator("svg.plans .star").nth(2).hover(force=True)
    assert told.get_attribute("data-run") in {run.run for run in cloud.runs}
    page.mouse.move(1, 1)
    assert told.get_attribute("data-run") == cloud.runs[0].run

    page.locator("svg.plans").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowUp")
    times = sorted([*(p.seconds for p in cloud.plans), *(r.measured for r in cloud.runs)])
    assert float(told.get_attribute("data-seconds")) == pytest.approx(times[1], rel=1e-3)

    page.locator(".legend [data-degree='4']").click()
    four = sum(point.degrees["tp"] == 4 for point in cloud.plans)
    assert page.locator("svg.plans .plan:not(.faint)").count() == four
    page.locator("select[name=cloud]").select_option("llama3-70b")
    assert page.locator("svg.plans .plan").count() == len(plan_cloud("llama3-70b").plans)
    assert watch.errors == []
    assert watch.foreign == []
