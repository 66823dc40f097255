"""Plans as a cloud: what is drawn are plans of the search, thinned, beside published runs of the same task."""

import numpy as np
import pytest

from hwlib.planner import CLOUDS, Allowed, plan_cloud
from hwlib.planner.cloud import SLOWEST
from hwlib.planner.search import search
from hwlib.specs import measured_plans
from hwlib.steptime import published_time


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
