"""The charts of decoding on a telephone, in a page without a kernel: every line is drawn, and sliders move them."""

import pytest

from hwlib import widgets
from tests.browser.test_figures import no_kernel_page, press, vendor  # noqa: F401  (a fixture)

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PATHS = "() => [...document.querySelectorAll('.mark-line path')].map((p) => p.getAttribute('d'))"


@pytest.mark.usefixtures("vendor")
@pytest.mark.parametrize(
    ("chart", "lines", "before", "after"),
    [
        (widgets.fit_explorer(), 3, "141 GB of weights, 435 GB for caches", "141 GB of weights, 1,011 GB for caches"),
        (widgets.drafts_explorer(), 4, "70% accepted", "75% accepted"),
        (widgets.wait_explorer(), 3, "one server at 60%: 1.05 s", "one server at 60%: 1.20 s"),
    ],
    ids=["fit", "drafts", "wait"],
)
def test_every_line_is_drawn_and_follows_the_keyboard(page, watch, tmp_path, chart, lines, before, after):
    page.set_viewport_size({"width": 390, "height": 900})
    page.goto(no_kernel_page(tmp_path, [("vega", {"spec": chart.spec})]))
    page.wait_for_selector(".mark-line path")
    drawn = page.evaluate(PATHS)
    assert len(drawn) == lines
    assert before in page.locator(".live-title").inner_text()
    press(page, "input[type=range]", "ArrowRight", 1)
    page.wait_for_function(f"() => document.querySelector('.live-title').textContent.includes('{after}')")
    assert page.evaluate(PATHS) != drawn
    assert watch.errors == []
    assert watch.foreign == []
