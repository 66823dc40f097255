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
