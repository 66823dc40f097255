"""What fits: the margin that memory's error asks for, the order of plans by it, and headroom in the advice."""

from types import SimpleNamespace

import numpy as np
import pytest

from hwlib.planner import SoftwareSettings, decide, pareto, plan
from hwlib.planner.advice import choose
from hwlib.planner.fits import DOES_NOT_FIT, EASY, FITS, MAY_NOT_FIT, fit_of, fit_words, surely, tight
from hwlib.planner.tables import fit_column
from hwlib.planner.task import task_of
from hwlib.specs import frameworks
from hwlib.specs.framework import usual_margin
from hwlib.strategy import Strategy
from hwlib.units import GB

TASK = task_of("llama3-8b", "dgx-h100", B=2**20, memory=70 * GB)
SURE = 70 * GB / (1 + TASK.margin)


@pytest.mark.parametrize(
    ("total", "word"),
    [
        (SURE * (1 - 1e-9), FITS),
        (SURE * (1 + 1e-9), MAY_NOT_FIT),
        (70 * GB, MAY_NOT_FIT),
        (70 * GB * (1 + 1e-9), DOES_NOT_FIT),
    ],
)
def test_a_plan_fits_may_not_or_does_not(total, word):
    assert fit_of(TASK, total) == word
    assert surely(TASK, total) == (word == FITS)


def test_a_plan_is_tight_where_twice_the_margin_is_not_free():
    edge = 70 * GB / (1 + EASY * TASK.margin)
    assert tight(TASK, np.array([edge * (1 - 1e-9), edge * (1 + 1e-9)])).tolist() == [False, True]


def test_a_margin_is_of_the_software_or_of_others():
    own = task_of(
        "gpt3-175b", "8 x dgx-a100", B=2**20, T=2048, software=SoftwareSettings(stack="megatron-deepspeed-a100")
    )
    assert own.margin == frameworks["megatron-deepspeed"].margin < TASK.margin == usual_margin()
    assert (own.own_margin, TASK.own_margin) == (True, False)
    assert "other software" in fit_words(TASK, 1.0)
    assert "other software" not in fit_words(own, 1.0)
    assert frameworks["llm-foundry"].margin == usual_margin()  # like one that has few rows
    assert task_of("llama3-8b", "dgx-h100", B=2**20, software=SoftwareSettings(features="any")).margin == usual_margin()


def test_plans_that_may_not_fit_stand_behind_and_are_named():
    found = plan("llama2-7b", "16xdgx-h100", B=32 * 2**17, T=2**17, dtype="fp8")
    unsure = found.quicker_unsure
    assert unsure.seconds < found[0].seconds
    assert fit_of(found.task, float(unsure.memory.total)) == MAY_NOT_FIT
    assert str(unsure) in found.explain()
    record = found.json()
    assert record["plans"][0]["fit"] == record["advised"]["fit"] == FITS
    assert record["quicker_unsure"]["fit"] == MAY_NOT_FIT
    assert record["may_not_fit"] == found.timed - found.fitting > 0


def test_a_mesh_of_which_no_plan_surely_fits_is_listed_last():
    found = plan("llama3-8b", "dgx-h100", B=2**20, memory=28 * GB, count=500)
    words = [fit_of(found.task, float(one.memory.total)) for one in found]
    behind = words.index(MAY_NOT_FIT)
    assert set(words[:behind]) == {FITS}
    assert set(words[behind:]) == {MAY_NOT_FIT}
    assert [*dict(fit_column(found.task, found))] == ["fit"]
    assert fit_column(found.task, found[:1]) == ()


def test_where_nothing_surely_fits_what_may_is_still_an_answer():
    """The plan of least memory fits just, or just not."""
    least = float(plan("llama3-8b", "dgx-h100", B=2**20).costed.memory.min())
    ask = ("llama3-8b", "dgx-h100")
    sure = plan(*ask, B=2**20, memory=least * (1 + TASK.margin) * (1 + 1e-9))
    unsure = plan(*ask, B=2**20, memory=least * (1 + TASK.margin) * (1 - 1e-9))
    assert (sure.fitting >= 1, unsure.fitting) == (True, 0)
    assert unsure.quicker_unsure is None
    assert fit_of(unsure.task, float(unsure.advised.memory.total)) == MAY_NOT_FIT
    assert unsure.json()["plans"][0]["fit"] == MAY_NOT_FIT


def test_a_front_has_what_may_not_fit_last():
    front = pareto("llama3-8b", "dgx-h100", B=2**20, gpus=(2, 4, 8), of=("time", "gpus"), memory=60 * GB)
    words = [fit_of(front.task, float(one.memory.total)) for one in front]
    assert words == sorted(words)  # "fits" before "may not fit"


def test_headroom_is_simpler_and_a_lower_stage_of_zero_is_not():
    plans = Strategy(dp=np.array([8.0, 8.0]), zero=np.array([0.0, 1.0]))
    times, risk, m = np.array([1.001, 1.0]), np.zeros(2), np.ones(2)
    assert choose(times, risk, plans, m, 0.02) == 1
    again = Strategy(dp=np.array([8.0, 8.0]), recompute=np.array([0, 2]))
    assert choose(np.array([1.0, 1.01]), risk, again, m, 0.02) == 0
    assert choose(np.array([1.0, 1.01]), risk, again, m, 0.02, tight=np.array([True, False])) == 1
    assert choose(np.array([1.0, 1.03]), risk, again, m, 0.02, tight=np.array([True, False])) == 0


def test_the_rule_of_thumb_keeps_the_margin():
    found = decide("llama3-405b", "h100-superpod-16k", B=2**24)
    assert found.numbers["bytes"] * (1 + usual_margin()) <= found.numbers["room"]


@pytest.mark.parametrize(
    ("total", "sure", "without_headroom"),
    [(8.0, True, False), (8.5, True, True), (10.0, True, True), (10.5, False, True)],
)
def test_a_margin_is_free_of_a_plan_that_fits_and_two_of_one_with_headroom(total, sure, without_headroom):
    """Of 12.5 bytes, with a margin of a quarter of the plan's: 10 are the most that fit, and 12.5/1.5 leave two."""
    task = SimpleNamespace(margin=0.25, memory=12.5)
    assert (surely(task, total), tight(task, total)) == (sure, without_headroom)


def test_headroom_of_exactly_two_margins_is_enough():
    assert not tight(SimpleNamespace(margin=0.25, memory=12.0), 8.0)
    assert tight(SimpleNamespace(margin=0.25, memory=11.5), 8.0)
