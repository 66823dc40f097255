"""Several numbers of GPUs at once: which are taken, and what is said of the others."""

import pytest

from hwlib.planner import PlanError, pareto

ASK = {"model": "llama3-8b", "cluster": "dgx-h100", "B": 2**19}


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"gpus": 8, "of": "speed"}, "of"),
        ({"gpus": 8, "of": ("time", "speed")}, "of"),
        ({"gpus": "8"}, "gpus"),
        ({"gpus": [8, "4"]}, "gpus"),
        ({"gpus": []}, "gpus"),
        ({"gpus": [8, 0]}, "gpus"),
        ({"gpus": [8, 9]}, "gpus"),
        ({"gpus": [8, 1.5]}, "gpus"),
    ],
)
def test_what_is_asked_of_no_number_of_gpus_is_refused(asked, field):
    with pytest.raises(PlanError) as caught:
        pareto(**ASK, **asked)
    assert caught.value.field == field


def test_one_that_does_not_fit_is_skipped_with_its_reason_and_all_of_them_refused():
    front = pareto(**ASK, gpus=[1, 8, 8], of="time")
    assert {plan.gpus for plan in front} == {8}
    assert list(front.skipped) == [1]
    assert front.skipped[1].startswith("memory: ")
    with pytest.raises(PlanError) as caught:
        pareto(**ASK, gpus=1)
    assert caught.value.field == "memory"


def test_plans_that_need_less_memory_are_on_the_front_where_memory_counts():
    quick, small = (pareto(**ASK, gpus=8, of=of, stack="megatron-core-h100") for of in ("time", ("time", "memory")))
    assert len(quick) == 1
    assert len(small) > 1
    assert small[0].seconds == quick[0].seconds
    assert [float(one.memory.total) for one in small] == sorted(
        (float(one.memory.total) for one in small), reverse=True
    )


def test_a_number_that_no_nodes_have_evenly_is_skipped():
    front = pareto("llama3-8b", "2 x dgx-h100", B=2**19, gpus=[9, 16], of="time")
    assert {plan.gpus for plan in front} == {16}
    assert "8 or 16 can" in front.skipped[9]
