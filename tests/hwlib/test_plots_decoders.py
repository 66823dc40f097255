"""Figures of decoders: areas are parameters, shares are shares, and bars end where the next begins."""

import pytest

from hwlib import plots
from hwlib.specs import models
from hwlib.transformer import active_parameters, layer_params, parameter_groups


def test_the_areas_of_a_layer_are_its_parameters():
    one = models["llama3-8b"]
    (axes,) = plots.layer_matrices(one).axes
    areas = sum(patch.get_width() * patch.get_height() for patch in axes.patches)
    assert areas == layer_params(one.width, one.ffn, one.heads, one.kv_heads, one.head_dim)
    (axes,) = plots.layer_matrices(models["gptj-6b"]).axes
    assert len(axes.patches) == 6, "no gate"


def test_the_three_products_have_three_arrays_each():
    (axes,) = plots.three_products().axes
    assert len(axes.patches) == 9


def test_shares_add_up_to_one_but_for_routers_norms_and_positions():
    found = {key: parameter_groups(key) for key in ("llama3-8b", "deepseek-v3")}
    (axes,) = plots.parameter_shares(found, {key: active_parameters(key) for key in found}).axes
    widths = [patch.get_width() for patch in axes.patches if patch.get_width()]
    assert sum(widths) == pytest.approx(2, abs=0.002)
    assert any("active" in text.get_text() for text in axes.texts)


def test_lines_points_and_bars_are_the_numbers():
    (axes,) = plots.beyond_six({"a": [(1024, 1.0), (2048, 1.5)]}).axes
    assert axes.lines[0].get_ydata().tolist() == [1.0, 1.5]
    (axes,) = plots.day_steps([("6ND", 24.0), ("more", 2.0)], 31.0).axes
    bars = [(patch.get_x(), patch.get_width()) for patch in axes.patches]
    assert bars == [(0, 24), (24, 2), (0, 31)]
    (axes,) = plots.days_against_log({"one": {"6ND": 0.7, "more": 1.0}, "two": {"6ND": 0.8}}).axes
    assert axes.lines[0].get_xdata().tolist() == [0.7, 0.8]
    figure = plots.rounded_block([("title", [0.1, 0.3], 0.1, [0.1, 0.3])])
    assert figure.axes[0].get_title(loc="left") == "title"


@pytest.mark.parametrize(
    "call",
    [
        lambda: plots.beyond_six({}),
        lambda: plots.parameter_shares({}, {}),
        lambda: plots.day_steps([], 1),
        lambda: plots.days_against_log({}),
        lambda: plots.rounded_block([]),
    ],
)
def test_nothing_to_draw_is_said(call):
    with pytest.raises(ValueError, match="at least one"):
        call()
