"""What chapter 16 says of MLPerf's rows, against all that the table has."""

import pytest

from hwlib.inference import mm1_load, queue_stays
from hwlib.specs import measured_services
from tests.banks import names_of

KEPT = {row.key: row.server / row.offline for row in measured_services()}
QUEUE = {row.key: mm1_load(row.output / row.offline, 0.99, row.ttft) for row in measured_services()}


def off(key):
    """Points of a hundred by which a machine keeps more than the queue says."""
    return round(100 * (KEPT[key] - QUEUE[key]))


@pytest.fixture(scope="module")
def text():
    return names_of("16-serving", "text")


def test_the_queue_errs_on_both_sides_for_the_largest_dense_model(text):
    rows = [row.key for row in measured_services("llama3-405b")]
    assert {key.removeprefix("mlperf51-llama3-405b-"): off(key) for key in rows} == {
        "b200-x8": 7,
        "gb200-x4": 28,
        "gb200-x72": -18,
        "gb300-x72": -21,
        "h200-x8": 42,
    }
    assert text.GIANT_SLOW.key.endswith("h200-x8")
    assert text.GIANT_QUICK.key.endswith("gb300-x72")


def test_deepseek_r1_loses_half_on_eight_gpus_as_on_a_rack(text):
    shares = {row.gpus: [] for row in text.REASONING}
    for row in text.REASONING:
        shares[row.gpus].append(KEPT[row.key])
    assert sorted(shares) == [8, 72]
    assert all(0.46 < share < 0.58 for each in shares.values() for share in each)


def test_short_answers_are_near_the_queue_but_for_two_and_nearer_to_one_share(text):
    assert {row.model for row in text.BRIEF} == {"llama2-70b", "llama3-8b", "mixtral-8x7b"}
    assert len(text.BRIEF) == 33
    assert sorted(row.key for row in text.BRIEF_FAR) == ["mlperf51-llama3-8b-h200-nvl-x8", "mlperf51-llama3-8b-h200-x8"]
    assert off("mlperf51-llama3-8b-h200-x8") == -29
    assert sum(off(row.key) < 0 for row in text.BRIEF) > 0.8 * len(text.BRIEF)
    assert text.typical_error(text.BRIEF) < text.queue_error(text.BRIEF)


def test_a_hit_of_37_percent_shortens_the_wait_by_less_than_its_tokens_say(text):
    """Reckoned apart, of 80 layers with 64 heads of 128 elements: 2.83 times, and 3.92 without attention."""
    matrices = [2 * 69_501_714_432 * T / (8 * 0.4 * 1979e12) for T in text.TOKENS]
    attention = [2 * 80 * 64 * 128 * T * T / (8 * 0.4 * 1979e12) for T in text.TOKENS]
    left = [0.63 * m + (1 - 0.37**2) * a for m, a in zip(matrices, attention, strict=True)]
    assert text.left_of(0.37) == pytest.approx(left, rel=2e-3)
    assert text.WAIT / text.found_wait(0.37) == pytest.approx(2.83, abs=0.01)
    assert text.WAIT / text.blind_wait(0.37) == pytest.approx(3.92, abs=0.01)
    assert pytest.approx(0.236, abs=1e-3) == text.ATTENTION_SHARE


def test_a_prefix_cache_brings_the_tail_of_the_opening_to_four_and_a_half_seconds(text):
    left = dict(zip(text.READS, text.left_of(0.37), strict=True))
    stays = queue_stays(text.ARRIVALS, [left[read] for read in text.SERVICES])
    assert sum(stays) / len(stays) == pytest.approx(0.614, abs=1e-3)
    assert text.at(stays, 0.99) == pytest.approx(4.51, abs=0.01)
