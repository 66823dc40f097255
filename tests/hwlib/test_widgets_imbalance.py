"""The live charts of experts, evaluated as the browser does, against the formulas."""

from math import hypot

import pytest

from hwlib import widgets
from hwlib.parallel import drawn_spread, ep_critical_width, ep_limited_critical_width
from hwlib.specs import models
from hwlib.widgets.imbalance import SHOWN
from tests.hwlib.test_widgets_collectives import evaluated


@pytest.mark.parametrize(("ranks", "k", "preference"), [(32, 8, 0.2), (2, 1, 0.0), (256, 4, 0.6)])
def test_chance_and_preference_add_up_in_squares(ranks, k, preference):
    spec = widgets.imbalance_explorer(ranks, k, preference).spec
    rows, title = evaluated(spec, spec["layer"][0]["transform"])
    for row in rows:
        chance = drawn_spread(ranks * row["tokens"], k, ranks)
        expected = {"by chance": chance, "the router's preference": preference}
        assert row["spread"] == pytest.approx(expected.get(row["part"], hypot(chance, preference)))
    assert title.startswith("chance alone" if preference == 0 else "chance and preference weigh the same")


@pytest.mark.parametrize(("k", "limit"), [(8, 16), (8, 4), (2, 16)])
def test_widths_are_those_of_the_formulas(k, limit):
    spec = widgets.expert_width_explorer(k, limit).spec
    curve = spec["layer"][0]
    rows, _ = evaluated(spec | {"data": curve["data"]}, curve["transform"])
    copies = min(k, limit)
    for row in rows:
        full = ep_critical_width(copies, row["nodes"], 989.4e12, 50e9) * copies / k
        assert row["width"] == pytest.approx(full)
    far = ep_limited_critical_width(k, limit, 989.4e12, 50e9)
    assert rows[-1]["width"] == pytest.approx(far * 63 / 64)
    assert {row["width"] for row in spec["layer"][1]["data"]["values"]} == {models[key].expert_ffn for key in SHOWN}


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match=r"got 1, 8 and 0\.2"):
        widgets.imbalance_explorer(1)
    with pytest.raises(ValueError, match="got 0 and 16"):
        widgets.expert_width_explorer(0)
