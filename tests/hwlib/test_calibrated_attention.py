"""Attention over a prompt and of one new token: against measurements, by hand, and in the limits."""

from types import SimpleNamespace

import numpy as np
import pytest

from hwlib.calibrated import decode_attention_time, kernel_software, prefill_attention_time
from hwlib.calibrated.attention import decode_seconds, prefill_seconds
from hwlib.calibrated.sheet import RateSheet, sheet_of
from hwlib.specs import accelerators

PROMPT = {"heads": 32, "kv_heads": 8, "head_dim": 128, "batch": 4, "seq": 4096}
TOKEN = {"heads": 32, "kv_heads": 8, "head_dim": 128, "batch": 64, "cached": 4095}


# aiconfigurator 095f58a51c4c, TensorRT-LLM: heads, K/V heads, head size, batch, tokens, us.
PROMPTS = (  # context_attention_perf
    ("h100-sxm", "bf16", (96, 8, 128, 4, 12288), 32357.6),
    ("h200-sxm", "bf16", (16, 4, 128, 2, 256), 19.1),
    ("h100-sxm", "fp8", (48, 4, 256, 1, 16384), 7496.2),
    ("a100-80gb-sxm", "bf16", (32, 8, 128, 8, 3072), 4805.3),
    ("b200-sxm", "bf16", (16, 16, 256, 4, 16384), 7238.7),
)
TOKENS = (  # generation_attention_perf
    ("h100-sxm", "bf16", (16, 2, 128, 16, 65535), 373.5),
    ("h100-sxm", "fp8", (16, 1, 128, 4, 1023), 10.3),
    ("a100-80gb-sxm", "bf16", (16, 16, 128, 8, 65535), 2507.8),
    ("b200-sxm", "bf16", (8, 8, 128, 8, 32767), 157.9),
    ("h200-sxm", "bf16", (128, 1, 64, 32, 4095), 638.4),
)


@pytest.mark.parametrize(
    ("call", "length", "rel", "row"),
    [(prefill_attention_time, "seq", 0.2, row) for row in PROMPTS]
    + [(decode_attention_time, "cached", 0.25, row) for row in TOKENS],
)
def test_layers_as_measured(call, length, rel, row):
    chip, dtype, shape, us = row
    names = ("heads", "kv_heads", "head_dim", "batch", length)
    assert call(chip, dtype, **dict(zip(names, shape, strict=True))) == pytest.approx(us * 1e-6, rel=rel)


def test_a_long_prompt_by_hand():
    # One head of 128 over 128,000 tokens, on one multiprocessor of 1e12 FLOP/s: half the square of the length, twice
    # 2 x 128 operations each. The longest tile adds 0.5 x 128 / 64,000 of that; memory and exponentials cost nothing.
    c = SimpleNamespace(eta_C=1.0, R_exp=1e30, t_tile=0.0, eta_W=1.0, t0=0.0, splits=False)
    T = 128_000
    time = prefill_seconds(c, RateSheet(1e12, 1e30, 1), 2.0, 1, 1, 128, 1, T, 0)
    assert time == pytest.approx(0.5 * T**2 * 4 * 128 / 1e12, rel=4e-3)


def test_a_long_cache_by_hand():
    # 8 heads x 128 x 2 bytes, keys and values, of 64 x 4,096 tokens, at 1 TB/s.
    c = SimpleNamespace(eta_C=1e9, t_block=0.0, t_join=0.0, eta_W=1.0, t0=0.0, packs=np.inf, R_L2=np.inf)
    time = decode_seconds(c, RateSheet(1e15, 1e12, 100), 2.0, 8, 8, 128, 64, 4095, 0)
    assert time == pytest.approx(64 * 4096 * 8 * 128 * 2 * 2 / 1e12, rel=1e-3)


@pytest.mark.parametrize("name", ["heads", "head_dim", "batch", "seq"])
def test_more_of_a_prompt_takes_longer(name):
    assert prefill_attention_time("h100-sxm", "bf16", **PROMPT | {name: 2 * PROMPT[name]}) > prefill_attention_time(
        "h100-sxm", "bf16", **PROMPT
    )


@pytest.mark.parametrize("name", ["kv_heads", "head_dim", "batch", "cached"])
def test_more_of_a_cache_takes_longer(name):
    assert decode_attention_time("h100-sxm", "fp8", **TOKEN | {name: 2 * TOKEN[name]}) > decode_attention_time(
        "h100-sxm", "fp8", **TOKEN
    )


def share_of_peak(seq, **given):
    s = PROMPT | {"seq": seq} | given
    flops = 2 * s["batch"] * s["heads"] * s["head_dim"] * seq**2
    return flops / prefill_attention_time("h100-sxm", "bf16", **s) / accelerators["h100-sxm"].flops("bf16")


def test_the_share_of_the_peak_grows_with_length_and_head_size_and_saturates():
    shares = [share_of_peak(seq) for seq in (256, 1024, 4096, 16384, 65536)]
    assert shares == sorted(shares)
    assert shares[0] < 0.15
    assert shares[4] / shares[3] < 1.15
    assert share_of_peak(16384, head_dim=64) < 0.9 * shares[3]


def test_a_window_caps_the_cost_of_length():
    full, seen = (prefill_attention_time("h100-sxm", "bf16", **PROMPT | {"seq": 32768}, window=w) for w in (0, 1024))
    assert seen < full / 6
    far, near = (decode_attention_time("h100-sxm", "bf16", **TOKEN | {"cached": n}, window=512) for n in (8192, 1024))
    assert far == near
    wide = prefill_attention_time("h100-sxm", "bf16", **PROMPT, window=10**6)
    assert wide == prefill_attention_time("h100-sxm", "bf16", **PROMPT)


def test_heads_that_share_a_cache_read_it_once_until_a_tile_is_full():
    times = [decode_attention_time("h100-sxm", "bf16", **TOKEN | {"heads": heads}) for heads in (8, 32, 512)]
    assert times[1] < 1.2 * times[0]
    assert times[2] > 3 * times[1]


def test_an_unfitted_chip_keeps_its_own_memory():
    slow, fast = (decode_attention_time(chip, "bf16", **TOKEN) for chip in ("h100-sxm", "h200-sxm"))
    assert 1.2 < slow / fast < 4.8 / 3.35
    assert accelerators["a100-80gb-sxm"].bf16_flops == sheet_of("a100-80gb-sxm", "fp8", "a100-80gb-sxm").C


def test_arrays_broadcast_and_numbers_are_numbers():
    batches = np.array([1, 8, 64])
    assert isinstance(decode_attention_time("b200-sxm", "bf16", **TOKEN), float)
    for call, given in ((prefill_attention_time, PROMPT), (decode_attention_time, TOKEN)):
        many = call("b200-sxm", "bf16", **given | {"batch": batches})
        assert many == pytest.approx([call("b200-sxm", "bf16", **given | {"batch": int(b)}) for b in batches])


def test_software_is_listed_and_asked_for():
    assert set(kernel_software("attention")) == {"trtllm", "vllm", "sglang"}
    assert "trtllm" in kernel_software("decode", "b300-sxm")
    assert kernel_software("decode", "v100-sxm2") == ()
    times = {s: prefill_attention_time("h100-sxm", "bf16", **PROMPT, software=s) for s in kernel_software("attention")}
    assert len(set(times.values())) == 3
    with pytest.raises(ValueError, match="known: attention, decode, grouped"):
        kernel_software("gemm")


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"heads": 0}, ValueError, "heads is at least 1, got 0"),
        ({"seq": float("nan")}, ValueError, "seq is at least 1, got nan"),
        ({"batch": "4"}, ValueError, "batch is at least 1, got '4'"),
        ({"window": -1}, ValueError, "window is at least 0, got -1"),
        ({"batch": np.array([4, 0])}, ValueError, "batch is at least 1"),
        ({"software": "tgi"}, KeyError, "unknown fitted attention 'h100-sxm bf16 tgi'"),
    ],
)
def test_bad_input_is_named(given, error, message):
    with pytest.raises(error, match=message):
        prefill_attention_time("h100-sxm", "bf16", **PROMPT | given)
