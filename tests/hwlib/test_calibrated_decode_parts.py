"""Parts of a decode step, whose constants come from single kernels, against whole published steps."""

import pytest

from hwlib.calibrated import decode_parts, nccl_time, step_constants
from hwlib.specs import measured_decodes, models

KNOWN = [row for row in measured_decodes(dtype="bf16") if row.source == "gpt-fast"]
ODD = ("llama3-70b", 2)  # slower than half of its own row on four GPUs


def error(row):
    return decode_parts(row.model, row.chip, tp=row.tp, T_kv=105).total / row.time - 1


def test_published_steps_are_met_by_constants_that_know_of_none():
    errors = {(row.model, row.tp): error(row) for row in KNOWN}
    odd = errors.pop(ODD)
    assert len(errors) == 13
    assert odd < -0.2
    assert max(map(abs, errors.values())) < 0.26
    assert sum(map(abs, errors.values())) / len(errors) < 0.06
    assert all(abs(e) < 0.03 for (_, tp), e in errors.items() if tp == 1)


def test_the_sums_are_those_of_nccl_at_both_ends():
    for chip in ("a100-80gb-sxm", "h100-sxm", "b200-sxm"):
        for n in (2, 8):
            c = step_constants(chip, n)
            time = lambda S, n=n, c=c: 2 * (c.alpha + (n - 1) / n * S / c.W_sum)
            assert time(8 * 2**20) == pytest.approx(float(nccl_time(chip, "all_reduce", n, 8 * 2**20)), rel=0.01)
            assert time(16384) == pytest.approx(float(nccl_time(chip, "all_reduce", n, 16384)), rel=0.1)


def test_parts_follow_what_they_are_of():
    one = decode_parts("llama3-70b", "h100-sxm", tp=8, T_kv=8192)
    many = decode_parts("llama3-70b", "h100-sxm", tp=8, B=64, T_kv=8192)
    assert many.weights == one.weights
    assert many.kernels == one.kernels
    assert many.cache == pytest.approx(64 * one.cache)
    assert many.arithmetic == 0 < decode_parts("llama3-70b", "h100-sxm", tp=8, B=512, T_kv=128).arithmetic
    assert decode_parts("llama3-70b", "h100-sxm", tp=1, T_kv=8192).collectives == 0
    half = decode_parts("llama3-70b", "h100-sxm", tp=8, T_kv=8192, b_w=1, b_kv=1)
    assert (half.weights, half.cache) == pytest.approx((one.weights / 2, one.cache / 2))


def test_a_host_adds_only_what_the_device_does_not_hide():
    fast, slow = (decode_parts("llama3-70b", "h100-sxm", tp=8, T_kv=8192, t_launch=t) for t in (1e-6, 24e-6))
    graph = decode_parts("llama3-70b", "h100-sxm", tp=8, T_kv=8192)
    assert fast == graph
    assert slow.total == pytest.approx(models["llama3-70b"].layers * 14 * 24e-6)
    assert slow.waiting == pytest.approx(slow.total - graph.total)
    assert f"waiting {slow.waiting * 1e3:.1f} ms" in repr(slow)


def test_a_chip_without_constants_is_named():
    with pytest.raises(KeyError):
        decode_parts("llama3-8b", "tpu-v5e", T_kv=128)
