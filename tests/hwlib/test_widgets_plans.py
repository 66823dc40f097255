"""The figure of plans, read by its own script, against the clouds that it draws."""

import json
from pathlib import Path

import pytest

from hwlib import widgets
from hwlib.options import TRAINING, named
from hwlib.planner import CLOUDS, plan_cloud
from hwlib.planner.explain import WORDS
from hwlib.plots import plan_cloud as plan_cloud_figure
from hwlib.widgets import plans
from hwlib.widgets.live import module_source
from tests.hwlib.test_widgets import node, state_of


def explored(body, *given):
    source = module_source("plan_explorer", ())
    return node(f"{source}\nprocess.stdout.write(JSON.stringify({body}));", [state_of(one) for one in given])


@pytest.fixture(scope="module")
def found():
    """For each cloud its points, its axes, the kinds of tp, and what is told of the first plan and of the first run."""
    body = """Object.values(given[0].clouds).map((cloud) => {
      const all = points(cloud), { x, y, least, most, low, high } = scales(cloud), run = all.findIndex((p) => p.run);
      const inside = all.every((p) => p.memory <= most && p.memory >= least && p.at <= high && p.at >= low);
      return { count: all.length, inside, kinds: kinds(cloud, "tp"), run: all[run], first: all[0],
        told: [tell(cloud, all[0]), tell(cloud, all[run])], right: x(most) > x(least) && y(low) > y(high),
        walk: ["ArrowUp", "ArrowRight", "ArrowLeft", "ArrowDown", "x"].map((key) => step(all, 3, key, () => true)),
        few: step(all, 0, "ArrowUp", (p) => p.run) };
    })"""
    return dict(zip(CLOUDS, explored(body, widgets.plan_explorer()), strict=True))


@pytest.mark.parametrize("key", CLOUDS)
def test_every_point_is_drawn_where_it_is(found, key):
    cloud, seen = plan_cloud(key), found[key]
    assert seen["count"] == len(cloud.plans) + len(cloud.runs)
    assert seen["inside"]
    assert seen["right"]
    assert seen["kinds"] == sorted({point.degrees["tp"] for point in (*cloud.plans, *cloud.runs)})
    first, run = cloud.plans[0], cloud.runs[0]
    assert seen["first"]["time"] == pytest.approx(first.seconds, rel=1e-3)
    assert seen["first"]["memory"] == pytest.approx(first.memory / 1e9, rel=1e-3)
    assert sum(seen["first"]["terms"].values()) == pytest.approx(first.seconds, rel=2e-3)
    assert (seen["run"]["name"], seen["run"]["at"]) == (run.run, pytest.approx(run.measured, rel=1e-3))


def test_the_sentences_say_the_plan_its_rank_and_where_its_time_goes(found):
    plan, run = found["llama3-70b"]["told"]
    best = plan_cloud("llama3-70b").plans[0]
    assert plan[0] == f"{best.words}."
    assert "the quickest" in plan[1]
    assert plan[2].startswith("By the model: arithmetic 14.7 s (84 %)")
    assert run[0].startswith("Published (mbridge-02074): tp 4 pp 8 dp 2")
    assert run[1].startswith("Measured 19.7 s a step; the model says 20.1 s (+1.9 %).")
    assert "no memory was printed" in run[1]
    assert "as printed" in found["bloom"]["told"][1][1]


def test_arrows_lead_to_the_next_point_in_time_or_memory(found):
    for key, seen in found.items():
        cloud = plan_cloud(key)
        at = [point.seconds for point in cloud.plans] + [point.measured for point in cloud.runs]
        memory = [point.memory for point in (*cloud.plans, *cloud.runs)]
        up, right, left, down, none = seen["walk"]
        assert at[up] >= at[3] >= at[down]
        assert memory[right] >= memory[3] >= memory[left]
        assert sum(at[3] < one < at[up] for one in at) == 0
        assert none == 3
        assert seen["few"] >= len(cloud.plans)


def test_state_is_json_of_some_hundred_kilobytes_and_what_there_is_not_is_named():
    widget = widgets.plan_explorer("bloom", "pp")
    assert len(json.dumps(state_of(widget))) < 400_000
    with pytest.raises(KeyError, match="no cloud of plans 'fog'"):
        widgets.plan_explorer("fog")
    with pytest.raises(KeyError, match="no degree 'hue'"):
        widgets.plan_explorer(colour="hue")
    with pytest.raises(Exception, match="unknown cloud 'fog'"):
        widget.cloud = "fog"


def test_the_words_of_the_degrees_are_those_of_the_options():
    """No word of an option is typed in the figure: one that changes in the table changes there."""
    colours = state_of(widgets.plan_explorer())["colours"]
    options = named(TRAINING)
    assert [*colours] == ["tp", "pp", "dp", "cp", "zero"]
    assert colours["zero"] == ["ZeRO stage", "ZeRO"]
    for name in ("tp", "pp", "cp"):
        assert colours[name] == [options[name].single.about, name]
    assert colours["dp"] == ["replicas", "dp"]
    source = (Path(plans.__file__).parent / "plan_explorer.js").read_text()
    assert [words for words, _ in colours.values() if f'"{words}"' in source] == []
    assert "ZeRO" not in source
    for cloud in state_of(widgets.plan_explorer())["clouds"].values():
        assert {name: words for name, (words, _) in cloud["parts"].items()} == {x: WORDS[x] for x in cloud["terms"]}
    assert [words for words in WORDS.values() if words in source] == []
    titles = [plan_cloud_figure(plan_cloud("bloom"), name).legends[0].get_title().get_text() for name in ("pp", "zero")]
    assert titles == [colours["pp"][0], colours["zero"][0]]
