"""The chart of waiting, evaluated as vega does, against the Python library."""

import pytest

from hwlib import widgets
from hwlib.inference import pooled_wait
from tests.hwlib.test_widgets_collectives import evaluated
from tests.hwlib.test_widgets_decoding import chosen


@pytest.mark.parametrize("cv2_gap", [1, 8])
def test_the_wait_is_the_formula(cv2_gap):
    spec = chosen(widgets.wait_explorer(), chosen=0.5, t_srv=0.4, cv2=3, cv2_gap=cv2_gap)
    line = spec["layer"][0]
    rows, title = evaluated({**spec, "data": line["data"]}, line["transform"])
    assert {row["n_srv"] for row in rows} == {1, 2, 8}
    for row in rows[::17]:
        want = pooled_wait(row["load"], 0.4, cv2_gap, 3, row["n_srv"])
        assert row["wait"] == pytest.approx(want, rel=1e-9)
    assert "one server at" in title


@pytest.mark.parametrize(
    "name", ["wait_explorer", "goodput_explorer", "critical_batch_explorer", "drafts_explorer", "fit_explorer"]
)
def test_colours_and_dashes_of_a_chart_share_a_domain(name):
    """Otherwise the vega-lite of JupyterLab draws a legend for each."""
    spec = getattr(widgets, name)().spec
    coded = spec["encoding"] if "encoding" in spec else spec["layer"][0]["encoding"]
    colour, dash = coded["color"], coded["strokeDash"]
    names = colour["scale"]["domain"]
    assert dash["scale"]["domain"] == names
    assert len({tuple(each) for each in dash["scale"]["range"]}) == len(names)
