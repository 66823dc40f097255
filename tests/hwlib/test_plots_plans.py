"""The static cloud of plans draws each plan once, and the runs where they were measured."""

import pytest

from hwlib import plots
from hwlib.planner import plan_cloud


@pytest.mark.parametrize(("key", "colour"), [("bloom", "tp"), ("llama3-405b", "pp")])
def test_every_plan_and_every_run_is_a_point(key, colour):
    cloud = plan_cloud(key)
    axes = plots.plan_cloud(cloud, colour).axes[0]
    groups = [collection for collection in axes.collections if len(collection.get_offsets())]
    runs = [group for group in groups if len(group.get_paths()[0].vertices) < 15]
    drawn = sum(len(group.get_offsets()) for group in groups) - len(runs)
    assert (drawn, len(runs)) == (len(cloud.plans), len(cloud.runs))
    assert {float(group.get_offsets()[0][1]) for group in runs} == {run.measured for run in cloud.runs}
    assert "too close to call" in axes.texts[1].get_text()


def test_an_unknown_degree_is_named():
    with pytest.raises(KeyError, match="no degree 'hue'"):
        plots.plan_cloud(plan_cloud("bloom"), "hue")
