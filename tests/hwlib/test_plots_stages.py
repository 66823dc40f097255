import pytest

from hwlib import plots
from hwlib.footprint import footprint
from hwlib.pipeline import dualpipe, one_f_one_b, play
from hwlib.specs import measured_pipelines
from hwlib.strategy import Strategy
from hwlib.units import GB

PLAN = Strategy.of(dp=8, tp=8, pp=4, zero=1)
HELD = [footprint("llama3-8b", PLAN, T=2048, m=8, stage=stage) for stage in range(4)]


def test_a_stage_is_a_column_of_its_layers():
    (axes,) = plots.model_on_stages([2, 3], head=1.5).axes
    boxes = [(patch.get_x(), patch.get_height()) for patch in axes.patches if hasattr(patch, "get_height")]
    assert sum(x == 0.2 for x, _ in boxes) == 2 + 1  # the embedding too
    assert sum(x == 1.2 for x, _ in boxes) == 3 + 1  # the output layer too
    with pytest.raises(ValueError, match="got 9"):
        plots.model_on_stages([1] * 9)


def test_the_parts_of_a_stage_stand_on_each_other():
    (axes,) = plots.stage_memory({"a plan": HELD}, 80e9).axes
    tops = [max(bar.get_y() + bar.get_height() for bar in axes.patches if bar.get_x() == r - 0.4) for r in range(4)]
    assert tops == pytest.approx([(one.total - one.buffers - one.overhead) / GB for one in HELD])
    assert [line.get_ydata()[0] for line in axes.lines] == [80.0]


def test_a_schedule_is_a_point_of_its_memory_and_its_bubble():
    runs = {"1F1B": (play(one_f_one_b(4, 8)), 1), "DualPipe": (play(dualpipe(4, 8)), 2)}
    (axes,) = plots.time_and_memory(runs).axes
    points = [(line.get_xdata()[0], line.get_ydata()[0], line.get_markerfacecolor()) for line in axes.lines]
    assert [(x, y) for x, y, _ in points] == [
        pytest.approx((max(run.in_flight), 100 * run.bubble_fraction)) for run, _ in runs.values()
    ]
    assert [face == "white" for *_, face in points] == [False, True]


def test_measured_steps_are_points_and_models_lines():
    rows = [run for run in measured_pipelines("Megatron-DeepSpeed") if run.layers == 72]
    (axes,) = plots.steps_against_micro(rows, {"a model": {1: 140.0, 8: 130.0}}).axes
    drawn = {(x, y) for line in axes.lines[:2] for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)}
    assert drawn == {(run.micro, run.time) for run in rows}
    assert list(axes.lines[2].get_ydata()) == [140.0, 130.0]
    with pytest.raises(ValueError, match="got none"):
        plots.steps_against_micro([], {})
