"""Published layers of experts: their keys, and what the sources print beside them."""

import pytest

from hwlib.specs import measured_exchanges, measured_experts, measured_loads, models


def test_experts_are_those_of_the_layer_and_slots_hold_all_of_them():
    assert all(1 <= row.topk <= row.experts >= row.local for row in measured_experts())
    assert all(models[row.model].experts == 256 <= row.slots for k in (256, 288) for row in measured_loads(k))


@pytest.mark.parametrize("inside", ["nvlink", "card"])
@pytest.mark.parametrize("what", ["dispatch", "combine"])
def test_the_printed_rates_are_the_printed_bytes_over_the_printed_times(what, inside):
    """128 tokens of 7,168 elements to 8 experts: fp8, a scale of 4 bytes for every 128, and 16 bytes; or bf16."""
    size = 128 * 8 * (7168 + 7168 / 128 * 4 + 16 if what == "dispatch" else 2 * 7168)
    rows = measured_exchanges("low latency", what, inside)
    assert [row.ranks for row in rows] == [8, 16, 32, 64, 128, 256]
    for row in rows:
        assert size / row.time == pytest.approx(row.rate, rel=0.025)


def test_normal_kernels_print_no_time():
    rows = measured_exchanges("normal")
    assert [row.time for row in rows] == [None] * 8
    assert {row.tokens for row in rows} == {4096}


def test_the_loads_are_those_that_the_page_speaks_of():
    """On average the hottest rank is 1.56 above the mean before, 0.11 to 0.12 after; a step has 128 tokens a rank."""
    before, after = measured_loads(256)[-1], measured_loads(288)[-1]
    assert (before.layer, after.layer) == (0, 0)
    assert round(before.ratio, 2) == 1.56
    assert before.imbalance == pytest.approx(2.56, abs=0.01)
    assert after.imbalance == pytest.approx(1.115, abs=0.001)
    assert all(row.mean * row.ranks / 8 == 128 * row.ranks for row in (before, after))
