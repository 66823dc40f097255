"""Published shares of effective training time, which no constant was fitted to, beside those expected."""

import pytest

from benchmarks.planner.goodput_cases import bloom_goodput, cases, scaling, table
from benchmarks.planner.page import PAGE

CASES = {case.title: case for case in cases()}


def test_the_table_is_the_pages():
    assert table() in PAGE.read_text("utf-8"), "run python -m benchmarks.planner.page"


@pytest.mark.parametrize("title", ["Llama 3 405B", "MegaScale"])
def test_a_bound_is_kept(title):
    assert CASES[title].share < CASES[title].run.goodput < 0.97


@pytest.mark.parametrize(
    "title", ["ByteRobust, three months", "RSC-1, as its paper estimates", "the same with a quieter cluster"]
)
def test_a_share_of_automatic_restarts_is_right_within_two_points(title):
    assert CASES[title].run.goodput == pytest.approx(CASES[title].share, abs=0.021)


def test_runs_that_people_restarted_lost_more_than_failures_explain():
    assert bloom_goodput() == pytest.approx(0.90, abs=0.005)
    for title in ("BLOOM 176B", "OPT-175B"):
        assert CASES[title].run.goodput > CASES[title].share + 0.05
    opt = CASES["OPT-175B"]
    by_hand = type(opt)(**{**vars(opt), "given": {"t_back": 7 * 3600.0}})
    assert by_hand.run.goodput == pytest.approx(0.59, abs=0.01), "restarts of seven hours"


def test_the_slowest_gpu_costs_no_more_than_weak_scaling_lost():
    expected, megatron, megascale = scaling()
    assert megascale == 0 < expected < megatron
    assert (round(expected, 3), round(megatron, 3)) == (0.006, 0.021), "as the page says"


def test_the_published_number_of_restarts_agrees():
    mega = CASES["MegaScale"].run
    assert 100 * mega.mtbf / 86400 == pytest.approx(21, abs=1), "over 100 restarts in several weeks: three"
