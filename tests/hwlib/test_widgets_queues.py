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
