"""Plans as a cloud: what is drawn are plans of the search, thinned, beside published runs of the same task."""

import numpy as np
import pytest

from hwlib.planner import CLOUDS, Allowed, plan_cloud
from hwlib.planner import cloud as cloud_module
from hwlib.planner.cloud import SLOWEST, task_of_run
from hwlib.planner.costs import Costed
from hwlib.planner.search import search
from hwlib.specs import measured_plans
from hwlib.steptime import published_strategy, published_time
from hwlib.strategy import Strategy


@pytest.fixture(scope="module", params=CLOUDS)
def cloud(request):
    return plan_cloud(request.param)


def test_points_are_plans_of_the_search_the_quickest_first(cloud):
    costed = search(cloud.task, Allowed()).costed
    known = dict(zip(map(float, costed.seconds), map(float, costed.memory), strict=True))
    for point in cloud.plans:
        assert point.seconds in known
        assert sum(point.terms.values()) == pytest.approx(point.seconds)
    assert [point.seconds for point in cloud.plans] == sorted(point.seconds for point in cloud.plans)
    assert cloud.plans[0].seconds == np.nanmin(costed.seconds)
    assert cloud.fitting == np.count_nonzero(costed.memory <= cloud.task.memory)


def test_a_few_hundred_points_stand_for_all(cloud):
    assert 50 < len(cloud.plans) < 1500
    assert cloud.plans[-1].seconds <= SLOWEST * cloud.plans[0].seconds
    front = [cloud.plans[place] for place in cloud.front]
    for point in cloud.plans:
        assert any(one.seconds <= point.seconds and one.memory <= point.memory for one in front)
    assert 1 <= cloud.close <= cloud.fitting


def test_published_runs_are_of_the_task_and_not_those_that_are_asked_for(cloud):
    asked = {run.key for run in measured_plans(asked=True)}
    rows = {run.key: run for run in measured_plans()}
    assert cloud.runs
    for point in cloud.runs:
        run = rows[point.run]
        assert point.run not in asked
        assert point.measured == published_time(run)
        assert (run.gpus, run.B, run.stack) == (cloud.task.gpus, cloud.task.B, cloud.task.stack.key)
        assert point.modelled == (run.memory == 0)
        assert point.measured / point.seconds == pytest.approx(1, abs=0.11)


def test_the_best_trial_for_bloom_is_slower_than_the_best_plan_and_within_memory():
    """The log's quickest run of this shape took 110.42 s a step."""
    cloud = plan_cloud("bloom")
    assert min(point.measured for point in cloud.runs) == 110.42
    assert 100 < cloud.plans[0].seconds < 110.42
    assert max(point.memory for point in cloud.runs) < 80e9


def test_an_unknown_cloud_is_named():
    with pytest.raises(KeyError, match="no cloud of plans 'fog'; known: llama3-70b"):
        plan_cloud("fog")


def test_a_cloud_knows_how_many_of_its_plans_are_too_close_to_call(cloud):
    costed = search(cloud.task, Allowed()).costed
    seconds = costed.seconds[~np.isnan(costed.seconds)]
    assert cloud.fitting == seconds.size
    assert cloud.close == np.count_nonzero(seconds <= (1 + cloud.error) * seconds.min())
    assert cloud.close < cloud.fitting
    assert cloud.key in CLOUDS
    assert cloud.name == CLOUDS[cloud.key][0]


def test_the_run_of_a_cloud_is_among_those_of_its_task(cloud):
    rows = {run.key: run for run in measured_plans()}
    named = rows[CLOUDS[cloud.key][1]]
    assert named.key in {point.run for point in cloud.runs}
    for point in cloud.runs:
        run = rows[point.run]
        for name in ("stack", "gpus", "B", "T", "dtype", "network"):
            assert getattr(run, name) == getattr(named, name)
        assert (run.shape.layers, run.shape.width, run.shape.heads) == (
            named.shape.layers,
            named.shape.width,
            named.shape.heads,
        )
        assert (run.memory == point.memory) or point.modelled
        assert point.degrees == {name: getattr(published_strategy(run), name) for name in point.degrees}
        assert sum(point.terms.values()) == pytest.approx(point.seconds)
        assert f"{run.m} microbatch" in point.words
    for point in cloud.plans:
        assert (point.measured, point.run, point.modelled) == (0.0, "", True)


def thinned(plans, room=1.0):
    """The positions that are drawn of plans with (seconds, memory, tp)."""
    seconds, memory, tp = np.array(plans, float).T
    return cloud_module._thinned(Costed(Strategy(tp=tp), np.ones(len(plans)), memory, seconds), room)


@pytest.mark.parametrize(
    ("plans", "drawn"),
    [
        ([(1.0, 0.5, 1), (SLOWEST, 0.45, 1)], [0, 1]),
        ([(1.0, 0.5, 1), (SLOWEST + 0.001, 0.45, 1)], [0]),
        ([(1.0, 0.5, 1), (SLOWEST + 0.001, 0.1, 1)], [0]),  # on the front, and too slow
        ([(1.0, 0.1, 1), (1.503, 0.5, 1), (1.504, 0.501, 1)], [0, 1]),  # in one cell
        ([(1.0, 0.1, 1), (1.503, 0.5, 1), (1.504, 0.501, 2)], [0, 1, 2]),  # of another tensor degree
        ([(1.0, 0.1, 1), (1.503, 0.5, 1), (1.533, 0.501, 1)], [0, 1, 2]),  # in another cell of time
        ([(1.0, 0.1, 1), (1.503, 0.5, 1), (1.504, 0.53, 1)], [0, 1, 2]),  # and of memory
        ([(1.0, 0.5, 1), (1.503, 0.2, 1), (1.504, 0.199, 1)], [0, 1, 2]),  # on the front
        ([(np.nan, 0.1, 1), (1.2, 0.5, 1), (1.0, 0.6, 1)], [2, 1]),
    ],
)
def test_of_the_plans_in_a_cell_the_quickest_is_drawn(plans, drawn):
    assert thinned(plans) == drawn
    assert thinned([(4 * t, 8 * memory, tp) for t, memory, tp in plans], room=8.0) == drawn


def test_the_task_of_a_run_is_all_that_its_plan_does_not_say():
    run = next(run for run in measured_plans() if run.key == CLOUDS["bloom"][1])
    task = task_of_run(run)
    assert (task.gpus, task.B, task.T) == (run.gpus, run.B, run.T)
    assert (task.stack.key, task.dtype, task.software.fused) == (run.stack, run.dtype, run.fused)
    assert task.machine.chip.key == run.chip
    assert task.memory == task.machine.chip.seen_bytes
