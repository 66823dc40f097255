"""The live figures of pipelines, computed by their own scripts, against the player and the formulas."""

import json

import pytest

from hwlib import widgets
from hwlib.pipeline import bubble_overhead, interleaved_bubble_fraction, play
from hwlib.widgets.live import module_source
from hwlib.widgets.pipelines import MICROBATCHES, PRESETS, STAGES
from tests.hwlib.test_widgets import node, state_of
from tests.hwlib.test_widgets_collectives import evaluated


def editor(body, given):
    return node(module_source("schedule_editor", ()) + f"\nprocess.stdout.write(JSON.stringify({body}));", given)


def state(preset="1f1b", **changes):
    one = state_of(widgets.schedule_editor(preset)) | changes
    return one | {"layout": one["presets"][preset]}


@pytest.mark.parametrize("times", [(1.0, 1.0, 1.0), (1.2, 1.5, 0.7)])
def test_the_editor_plays_what_the_player_plays(times):
    t_F, t_I, t_W = times
    found = editor("given.map(compute)", [state(key, t_F=t_F, t_I=t_I, t_W=t_W) for key in PRESETS])
    for (_, made), now in zip(PRESETS.values(), found, strict=True):
        schedule = made(STAGES, MICROBATCHES)
        alone = type(schedule)(
            schedule.name,
            schedule.stages,
            schedule.microbatches,
            schedule.v,
            tuple(tuple(op._replace(paired=False) for op in ops) for ops in schedule.ops),
            schedule.route,
        )
        run = play(alone, t_F, t_I + t_W, t_W)
        assert now["time"] == pytest.approx(run.time)
        assert now["bubble"] == pytest.approx(run.bubble_fraction)
        assert now["high"] == pytest.approx(run.in_flight)
        for spans, ours in zip(run.spans, now["spans"], strict=True):
            assert [(s.op.kind, s.op.chunk, s.op.microbatch) for s in spans] == [
                (s["kind"], s["chunk"], s["i"]) for s in ours
            ]


def test_what_cannot_be_played_is_named():
    rows = state()["rows"]
    wrong = ["BFFFFBFBFBFBFBBB", *rows[1:]], [*rows[:3], "FFFFFFFFBBBBBBBB"], [*rows[:3], "FFBFBFBFBFBFBFBB"]
    found = editor("given.map(compute)", [state(rows=one) for one in wrong])
    assert found[0]["stuck"] == "Rank 0: B0 cannot come before F0."
    assert found[1]["stuck"].startswith("The ranks wait for each other: rank 0 cannot begin B0")
    assert "stuck" not in found[2]


def test_a_pass_is_moved_within_its_row():
    assert editor("given.map(([row, a, b]) => moved(row, a, b))", [["FFB", 2, 0], ["FFB", 0, 2]]) == ["BFF", "FBF"]


def test_the_state_is_json_and_presets_are_named():
    widget = widgets.schedule_editor("zbv")
    assert set(json.loads(json.dumps(state_of(widget)))["presets"]) == set(PRESETS)
    with pytest.raises(Exception, match=r"preset 'zb'; .*dualpipe"):
        widget.preset = "zb"
    with pytest.raises(KeyError, match="'zb'; known: gpipe"):
        widgets.schedule_editor("zb")


@pytest.mark.parametrize(("pp", "v"), [(2, 1), (8, 1), (16, 4)])
def test_the_bubbles_of_the_chart_are_the_formulas(pp, v):
    spec = widgets.bubble_explorer(pp, v).spec
    rows, title = evaluated(spec, spec["layer"][0]["transform"])
    formulas = {"of the step": interleaved_bubble_fraction, "of the work": bubble_overhead}
    for row in rows:
        assert row["bubble"] == pytest.approx(formulas[row["convention"]](pp, row["m"], v), rel=1e-12)
    assert title.startswith("as many microbatches as ranks: ")


@pytest.mark.parametrize(("pp", "N", "share"), [(12, 512, 0.25), (2, 16, 1.0)])
def test_the_parts_of_a_step_add_up(pp, N, share):
    spec = widgets.microbatch_explorer(pp, N, share).spec
    rows, _ = evaluated(spec, spec["layer"][0]["transform"])
    for row in rows:
        b = row["b"]
        step = (N / b + pp - 1) * (share + b) / N
        expected = {"step": step, "bubble": (pp - 1) * (share + b) / N, "fixed time of each microbatch": share / b}
        assert row["time"] == pytest.approx(expected[row["part"]])
        assert step == pytest.approx(1 + expected["bubble"] + expected["fixed time of each microbatch"])


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match="got 1 and 1"):
        widgets.bubble_explorer(1)
    with pytest.raises(ValueError, match="got 1, 512"):
        widgets.microbatch_explorer(1)
