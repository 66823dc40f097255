"""Values that are impossible whatever else is chosen: each refusal, and the nearest value that is none."""

import pytest

from hwlib.planner.allowed import Allowed
from hwlib.planner.checked import Working, checked_axes, widened, working
from hwlib.planner.plan_error import PlanError
from hwlib.planner.software_settings import SoftwareSettings
from hwlib.planner.task import task_of
from hwlib.specs import Features, models

LLAMA = models["llama3-8b"]
SMALL = Features(
    key="x",
    name="X",
    source="s",
    degrees=("tp", "pp"),
    schedules=("1f1b",),
    recompute=("full",),
    most_chunks=2,
    zero=(0, 1),
    piped_zero=(0,),
)


def task(features="any", model=LLAMA, gpus=None):
    return task_of(model, "dgx-h100", B=64 * 8192, gpus=gpus, software=SoftwareSettings(features=features))


REFUSED = [
    # of the 32 layers at most 34 chunks, of which two are without a layer
    ({"v": 33}, "v", "33 chunks on each of 2 stages or more are more than the 32 layers of Llama 3.1 8B"),
    ({"v": 18, "pp": 1}, "v", "18 chunks on each of 2 stages or more are more than the 32 layers of Llama 3.1 8B"),
    ({"v": 17, "pp": 1}, "v", "17 chunks per rank need a pipeline, and pp is 1"),
    ({"v": 9, "pp": (4, 8)}, "v", "9 chunks on each of 4 stages or more are more than the 32 layers of Llama 3.1 8B"),
    ({"v": 2, "pp": 1}, "v", "2 chunks per rank need a pipeline, and pp is 1"),
    ({"v": (2, 3), "pp": 1}, "v", "2 or 3 chunks per rank need a pipeline, and pp is 1"),
    ({"v": 5, "pp": 4}, "v", "5 does not cut the 32 layers of Llama 3.1 8B into equal chunks, with pp 4"),
    ({"v": 5}, "v", "5 does not cut the 32 layers of Llama 3.1 8B into equal chunks, with any pp that divides 8 GPUs"),
    ({"v": 2, "schedule": "zb_h1"}, "v", "only 1f1b can be interleaved"),
    ({"tp": 7}, "tp", "7 does not divide the 32 heads of Llama 3.1 8B"),
    ({"tp": (3, 5, 6, 7)}, "tp", "3 does not divide the 32 heads of Llama 3.1 8B; 5 does not divide"),
    ({"tp": 16}, "tp", "tp*cp*pp = 16 does not divide 8 GPUs"),
    ({"pp": 33}, "pp", "33 stages are more than the 32 layers of Llama 3.1 8B"),
    ({"cp": 3}, "cp", "3 does not cut 8,192 tokens into 2*cp equal pieces"),
    ({"ep": 2}, "ep", "2 does not apply to Llama 3.1 8B"),
    ({"micro": 3}, "micro", ""),
    ({"tp": 4, "pp": 4}, "tp*pp", "16 does not divide 8 GPUs"),
    ({"tp": (2, 4), "cp": 8}, "tp*cp", "16 or 32 does not divide 8 GPUs"),
    ({"tp": 2, "pp": 4, "cp": 2}, "tp*pp*cp", "16 does not divide 8 GPUs"),
]


@pytest.mark.parametrize(("allowed", "field", "problem"), REFUSED, ids=str)
def test_what_cannot_be_is_refused(allowed, field, problem):
    with pytest.raises(PlanError) as caught:
        checked_axes(task(), Allowed(**allowed))
    assert caught.value.field == field
    assert caught.value.problem.startswith(problem)


@pytest.mark.parametrize(
    "allowed",
    [
        {},
        {"v": (1, 5), "pp": 1},
        {"v": (3, 4), "pp": 4},
        {"v": 8, "pp": 4},
        {"v": 17, "pp": (1, 2)},
        {"v": 16},
        {"tp": (3, 8)},
        {"pp": 8},
        {"tp": 4, "pp": 2},
        {"tp": (2, 4), "cp": (8, 4)},
        {"micro": (3, 64)},
        {"ep": 1},
        {"v": (2, 3), "schedule": "zbv"},
    ],
    ids=str,
)
def test_what_one_value_can_be_is_not(allowed):
    assert checked_axes(task(), Allowed(**allowed)).forms


LACKED = [
    ({"cp": 2}, "cp", "X has no "),
    ({"ep": 2}, "ep", "X has no "),
    ({"schedule": "zb_h1"}, "schedule", "X has no schedule zb_h1; it has 1f1b"),
    ({"schedule": ("zb_h1", "zbv")}, "schedule", "X has no schedule zb_h1 or zbv; it has 1f1b"),
    ({"zero": 2}, "zero", "X has no ZeRO-2; it has 0 or 1"),
    ({"zero": (2, 3)}, "zero", "X has no ZeRO-2 or 3; it has 0 or 1"),
    ({"recompute": "selective"}, "recompute", "X has no selective recomputation"),
    ({"shards": 4, "zero": 1}, "shards", "X has no HSDP"),
]


@pytest.mark.parametrize(("allowed", "field", "problem"), LACKED, ids=str)
def test_what_a_software_lacks_for_all_values_is_refused(allowed, field, problem):
    with pytest.raises(PlanError) as caught:
        checked_axes(task(SMALL), Allowed(**allowed))
    assert caught.value.field == field
    assert caught.value.problem.startswith(problem)
    if "ep" not in allowed:
        checked_axes(task(), Allowed(**allowed))


@pytest.mark.parametrize(
    "allowed",
    [
        {},
        {"cp": (1, 2)},
        {"schedule": ("zb_h1", "1f1b")},
        {"zero": (1, 2)},
        {"recompute": ("selective", "full")},
        {"tp": 2, "pp": 2},
        {"zero": 0},
    ],
    ids=str,
)
def test_what_it_has_for_one_value_is_not(allowed):
    checked_axes(task(SMALL), Allowed(**allowed))


def test_a_refusal_names_three_values_at_most():
    with pytest.raises(PlanError) as caught:
        checked_axes(task(), Allowed(tp=(3, 5, 6, 7)))
    assert caught.value.problem.count("does not divide the 32 heads") == 3


@pytest.mark.parametrize(
    ("allowed", "would"),
    [
        ({"tp": 7}, "; 1, 2, 4, 8 would"),
        ({"v": 5, "pp": 4}, "; 1, 2, 3, 4, 8 would"),
        ({"v": 5}, "; 1, 2, 3, 4, 8, 16 would"),
        ({"v": 2, "pp": 1}, "; 1 would"),
        ({"tp": 4, "pp": 4}, "; tp 1, 2 or pp 1, 2 would"),
        ({"tp": (2, 4), "cp": 8}, "; tp 1 or cp 1, 2, 4 would"),
        ({"tp": 4, "pp": 3}, "; 1, 2 would"),
    ],
    ids=str,
)
def test_a_refusal_offers_what_would_do(allowed, would):
    with pytest.raises(PlanError) as caught:
        checked_axes(task(), Allowed(**allowed))
    assert caught.value.problem.endswith(would)


def test_values_that_work_and_the_reason_why_others_do_not():
    assert working(task(), Allowed(pp=4), "v", (1, 2, 3, 5)) == Working((1, 2, 3))
    assert working(task(), Allowed(v=2), "schedule", ("zb_h1",)) == Working((), reason="only 1f1b can be interleaved")
    assert working(task(), Allowed(), "tp", (7,)).values == ()
    assert working(task(), Allowed(), "tp", (7,)).reason == "tp does not divide the heads"
    assert working(task(), Allowed(tp=2), "pp", (8,)) == Working((), reason="tp*cp*pp does not divide the GPUs")
    assert widened(task(), Allowed(tp=2)) == Allowed(tp=2)
    assert widened(task(gpus=4), Allowed(pp=2)) == Allowed(tp=(1, 2, 4, 8), pp=2)
