"""What chapter 14 says of vTrain's runs, against all of them: the whole of the published table is in the project's."""

import pytest

from hwlib.planner import retrodicted
from hwlib.specs import measured_mixtures
from tests.banks import names_of

VTRAIN = measured_mixtures("vtrain")
JOB = [run for run in VTRAIN if (run.layers, run.width) == (48, 8192)]
SAID = {run: float(retrodicted(run).total) for run in VTRAIN}


@pytest.fixture(scope="module")
def sure():
    """The names with which the chapter's last section computes its numbers."""
    return names_of("14-mixed-strategies", "sure")


def test_the_table_is_whole():
    """data/ground_truth_multi.csv of VIA-Research/vTrain numbers its runs from 0 to 108."""
    assert [run.run for run in VTRAIN] == [f"vtrain-multi-{k:04}" for k in range(109)]
    assert len(JOB) == 47


def test_at_equal_microbatches_the_model_prefers_tp_4_pp_8_and_the_clock_does_not(sure):
    times = {(run.tp, run.pp, run.micro): (SAID[run], run.time) for run in JOB}
    assert times[4, 8, 2][1] == pytest.approx(16.07, abs=0.005)
    (four_said, four), (eight_said, eight) = times[4, 8, 2], times[8, 4, 2]
    assert sure.EQUAL[2] == pytest.approx((eight_said / four_said - 1, four / eight - 1))
    assert sure.EQUAL[2] == pytest.approx((0.088, 0.092), abs=5e-4)
    assert list(sure.EQUAL) == [2, 3, 4, 6, 12]
    assert [micro for micro, gap in sure.EQUAL.items() if gap.said > 0] == [2, 3, 4]
    assert min(gap.measured for gap in sure.EQUAL.values()) > 0.05


def test_the_two_of_the_question_are_level_by_the_model_and_not_by_the_clock(sure):
    assert abs(sure.GAP) < 0.004
    assert sure.REAL_GAP > 0.1
    (right,) = [
        key
        for key, words in sure.PREDICT_PAIR.answer.options.items()
        if words.startswith("TP 8 PP 4") and "ten" in words
    ]
    assert sure.PREDICT_PAIR.solution == right


def test_the_planners_pick_is_the_quickest_run_and_the_next_of_its_list_are_late(sure):
    first = min(JOB, key=lambda run: SAID[run])
    assert sure.LIST[0] == first == min(JOB, key=lambda run: run.time)
    assert (first.tp, first.pp, first.micro) == (4, 4, 2)
    assert SAID[first] / first.time - 1 == pytest.approx(-0.047, abs=5e-4)
    following = sure.LIST[1:5]
    assert min(run.time / SAID[run] for run in following) > 1.18
    assert min(run.time for run in following) > sure.TEAM.time
    assert {(run.tp, run.pp) for run in following} >= {(4, 8), (2, 8)}


def test_errors_by_tensor_ranks_are_those_that_the_text_tells(sure):
    """All runs with two ranks are far too quick; those with four are of two kinds; those with eight are near."""
    assert {tp: len(sure.errors_of(tp)) for tp in (1, 2, 4, 8)} == {1: 1, 2: 6, 4: 14, 8: 26}
    assert max(sure.errors_of(2)) < -0.16
    assert max(map(abs, sure.errors_of(8))) < 0.04
    far = [error for error in sure.errors_of(4) if 1 / (1 + error) - 1 > sure.VTRAIN_STACK.error]
    assert sure.FOURS_SLOW == len(far) == 8
    assert min(error for error in sure.errors_of(4) if error not in far) > -0.05


def test_regret_over_the_whole_table_is_what_the_page_of_limits_says(root):
    """Of four groups of plans: how much longer the model's pick took than the best measured run."""
    jobs = {run.job: [other for other in VTRAIN if other.job == run.job] for run in VTRAIN}
    lost = {}
    for runs in jobs.values():
        pick = min(runs, key=lambda run: SAID[run])
        lost[runs[0].width] = pick.time / min(run.time for run in runs) - 1
    assert lost == pytest.approx({3072: 0, 6144: 0.045, 8192: 0, 12288: 0.006}, abs=5e-4)
    page = (root / "docs/limits.md").read_text("utf-8")
    assert "0, 4.5, 0 and 0.6 %" in page
    assert "109 runs" in page


def test_no_run_of_the_job_has_microbatches_of_one_sequence(sure):
    assert min(run.micro for run in JOB) == 2
    assert sure.UNTRIED.micro == 1
    assert sure.predicted(sure.UNTRIED) < SAID[sure.LIST[0]]
