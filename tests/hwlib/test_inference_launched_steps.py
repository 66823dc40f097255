"""What a step takes beside its bytes: published rows that gave the terms, and limits."""

import pytest

from hwlib.inference import (
    drafted_speedup,
    host_step_time,
    launched_step_time,
    reached_step_time,
    speculative_speedup,
    step_bytes,
)
from hwlib.specs import accelerators, measured_decodes, models

A100 = accelerators["a100-80gb-sxm"].hbm_bandwidth


def test_two_rows_of_7b_tell_the_rows_of_70b():
    """gpt-fast's README: 21.32, 38.01 and 62.50 tokens/s of Llama 2 70B on 2, 4 and 8 A100, from 7B on 1 and 8."""
    one, eight = (measured_decodes("llama2-7b", tp=n, dtype="bf16")[0].time for n in (1, 8))
    small, large = models["llama2-7b"], models["llama2-70b"]
    head, whole = (2 * m.vocab * m.width for m in (small, large))  # every GPU reads the output matrix
    eta = (step_bytes(small, 1) - head) / ((one - eight) / (1 - 1 / 8)) / A100
    t_layer = (one - step_bytes(small, 1) / (eta * A100)) / small.layers
    for n, rate in ((2, 21.32), (4, 38.01), (8, 62.50)):
        cut = step_bytes(large, 1) - whole
        told = reached_step_time(cut, n, A100, eta, large.layers, t_layer, 1, whole)
        assert -0.065 < told * rate - 1 < -0.05


def test_a_matrix_that_is_not_cut_does_not_shrink():
    assert reached_step_time(8e9, 8, A100, 1, 32, 0, 2, 1e9) == pytest.approx(4e9 / A100)


def test_a_step_of_many_ranks_is_its_layers():
    assert reached_step_time(7e9, 1e12, A100, 0.9, 32, 66e-6) == pytest.approx(32 * 66e-6)
    assert reached_step_time(7e9, 1, A100, 1, 32, 0) == pytest.approx(14e9 / A100)


def test_the_slower_of_host_and_device_decides():
    """13 kernels at the 8.2 us of a published profile take 107 us a layer: less than a device that needs 142."""
    host = host_step_time(80, 13, 8.2e-6)
    assert host == pytest.approx(8.528e-3)
    assert launched_step_time(11.3e-3, host) == 11.3e-3
    assert launched_step_time(0, host) == host


@pytest.mark.parametrize("B", [1, 10, 60])
def test_drafts_in_a_small_batch_are_leviathans_speedup(B):
    """Leviathan et al., theorem 3.8: (1 - a^(k+1))/((1 - a)(kc + 1)), whatever the batch, while checking is free."""
    assert drafted_speedup(0.8, 4, 0.05, B, 300) == speculative_speedup(0.8, 4, 0.05)


def test_drafts_in_a_large_batch_are_work():
    """Where both steps are bound by arithmetic, k + 1 tokens are checked for each that would be computed."""
    gain = drafted_speedup(0.8, 4, 0, 600, 300)
    assert gain == pytest.approx(speculative_speedup(0.8, 4, 0) / 5)
    assert gain < 1
