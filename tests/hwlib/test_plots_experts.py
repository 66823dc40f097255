import pytest

from hwlib import plots
from hwlib.specs import measured_exchanges, measured_loads


def bars(axes):
    return [patch.get_height() for patch in axes.patches]


def test_a_mark_stands_for_a_choice_and_a_bar_for_a_rank():
    above, below = plots.routed_tokens([[0, 3], [1, 3], [2, 3]], E=4, ranks=2).axes
    assert sum(len(one.get_offsets()) for one in above.collections) == 6
    assert bars(below)[-2:] == [2, 4]
    with pytest.raises(ValueError, match="E = 4, a multiple of 3 ranks"):
        plots.routed_tokens([[0]], E=4, ranks=3)
    with pytest.raises(ValueError, match="choices below E = 4"):
        plots.routed_tokens([[4]], E=4, ranks=2)


def test_trials_and_formula_share_an_axis():
    (axes,) = plots.by_chance({1: (1.7, 1.5, 2), 4: (1.3, 1.2, 1.5)}, {1: 1.9, 4: 1.4}, marked=1.6).axes
    assert [list(line.get_ydata()) for line in axes.lines[:2]] == [[1.7, 1.3], [1.9, 1.4]]


def test_layers_stand_beside_what_the_model_says():
    before, after = measured_loads(256)[:-1], measured_loads(288)[:-1]
    predicted = {row.layer: (1.5, 1.3, 1.7) for row in before}
    (axes,) = plots.measured_imbalance(before, after, 1.08, predicted).axes
    series = {line.get_label(): list(line.get_ydata()) for line in axes.lines}
    assert series["as numbered"] == [row.imbalance for row in before]
    assert series["copied and placed"] == [row.imbalance for row in after]
    assert next(label.get_text() for label in axes.get_xticklabels()) == "layer 3"


def test_traces_shares_and_skews_are_drawn_as_given():
    (axes,) = plots.balancing({"a": [3, 2, 1.5]}, 1.1).axes
    assert list(axes.lines[0].get_ydata()) == [3, 2, 1.5]
    (axes,) = plots.room_for_tokens([1, 2], {"dropped": [0.2, 0]}).axes
    assert list(axes.lines[0].get_ydata()) == [20, 0]
    (axes,) = plots.skew_on_a_gpu({"a layer": (1.1, 1.05)}).axes
    assert [list(line.get_xdata()) for line in axes.lines[:2]] == [[1.1], [1.05]]
    with pytest.raises(ValueError, match="got none"):
        plots.skew_on_a_gpu({})


def test_exchanges_are_in_microseconds_and_have_a_time():
    rows = measured_exchanges("low latency", "dispatch")
    (axes,) = plots.exchange_times({"dispatch": rows}, {"dispatch": {8: 77e-6, 256: 194e-6}}).axes
    assert list(axes.lines[0].get_ydata()) == pytest.approx([77, 118, 155, 173, 192, 194])
    assert list(axes.lines[1].get_ydata()) == pytest.approx([77, 194])
    with pytest.raises(ValueError, match="'normal' has some without"):
        plots.exchange_times({"normal": measured_exchanges("normal", "dispatch")}, {})
