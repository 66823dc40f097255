"""The charts of collectives in a page without a kernel: every curve is drawn, and sliders move them."""

import pytest

from hwlib import widgets
from hwlib.widgets.collectives import ALLREDUCES, COLOURS, FRACTIONS
from tests.browser.test_figures import no_kernel_page, press, title, vendor  # noqa: F401  (a fixture)

pytestmark = [pytest.mark.browser, pytest.mark.slow]
STROKES = "() => [...document.querySelectorAll('.mark-line path')].map((p) => p.getAttribute('stroke'))"
PATHS = "() => [...document.querySelectorAll('.mark-line path')].map((p) => p.getAttribute('d'))"


@pytest.mark.usefixtures("vendor")
@pytest.mark.parametrize(
    ("chart", "curves", "before", "after"),
    [
        (widgets.allreduce_explorer(), COLOURS[: len(ALLREDUCES)], "n = 8, α = 6 us", "n = 32, α = 6 us"),
        (widgets.destinations_explorer(), (*COLOURS[: len(FRACTIONS)], COLOURS[1]), "k = 8 experts", "k = 10 experts"),
    ],
    ids=["allreduce", "destinations"],
)
def test_every_curve_is_drawn_and_follows_the_keyboard(page, watch, tmp_path, chart, curves, before, after):
    page.goto(no_kernel_page(tmp_path, [("vega", {"spec": chart.spec})]))
    page.wait_for_selector(".mark-line path")
    assert page.evaluate(STROKES) == list(curves)
    assert before in title(page)
    drawn = page.evaluate(PATHS)
    press(page, "input[type=range]", "ArrowRight", 2)
    page.wait_for_function(f"() => document.querySelector('.role-title text').textContent.includes('{after}')")
    assert page.evaluate(PATHS) != drawn
    assert watch.errors == []
    assert watch.foreign == []
