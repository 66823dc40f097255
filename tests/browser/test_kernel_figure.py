"""The figure of a kernel steps, plays and changes kernels, in a page without a kernel of its own."""

import numpy as np
import pytest

from hwlib import tl, widgets
from tests.browser.test_chip_figures import figure
from tests.browser.test_figures import no_kernel_page, press

pytestmark = [pytest.mark.browser, pytest.mark.slow]
N = 32


def copied(step, stride):
    def copy(x_ptr, out_ptr):
        at = tl.program_id(0) * stride + step * tl.arange(0, N)
        tl.store(out_ptr + at, tl.load(x_ptr + at))

    return tl.launch(copy, N, np.zeros((N, N), np.float32), tl.empty((N, N)), touches=True)


def test_it_steps_and_plays(page, watch, tmp_path):
    page.goto(
        no_kernel_page(tmp_path, [figure(widgets.kernel_explorer({"rows": copied(1, N), "columns": copied(N, 1)}))])
    )
    page.wait_for_selector(".gpubook-figure svg rect.load")
    told = page.locator(".gpubook-readout")

    def now():
        return {key: int(told.get_attribute(f"data-{key}")) for key in ("now", "asked", "moved")}

    assert now() == {"now": 1, "asked": 256, "moved": 256}
    press(page, "input[name=program]", "ArrowRight", 3)
    assert now() == {"now": 4, "asked": 4 * 256, "moved": 4 * 256}
    page.locator("select[name=run]").select_option("columns")
    assert now() == {"now": 4, "asked": 4 * 256, "moved": 4 * 256 * 8}
    assert page.locator("svg rect.load-along").count() > 0
    press(page, "input[name=program]", "End", 1)
    press(page, "input[name=program]", "ArrowLeft", 2)
    page.get_by_role("button", name="Play").click()
    page.get_by_role("button", name="Pause").wait_for()
    page.wait_for_function(f"document.querySelector('.gpubook-readout').dataset.now === '{N}'")
    page.get_by_role("button", name="Play").wait_for()  # it has stopped at the last
    assert now() == {"now": N, "asked": N * 256, "moved": N * 256 * 8}
    assert watch.errors == []
    assert watch.foreign == []
