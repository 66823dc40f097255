"""Layers of experts: against measurements, by hand, and in the limits."""

from types import SimpleNamespace

import numpy as np
import pytest

from hwlib.calibrated import grouped_time
from hwlib.calibrated.grouped import grouped_seconds, power_law_loads
from hwlib.calibrated.sheet import RateSheet

LAYER = {"tokens": 4096, "hidden": 4096, "width": 2048, "experts": 128, "topk": 8}


# aiconfigurator 095f58a51c4c, moe_perf of TensorRT-LLM: tokens, hidden, width, k, experts, here, skew, us.
@pytest.mark.parametrize(
    ("chip", "dtype", "shape", "us"),
    [
        ("a100-80gb-sxm", "bf16", (6144, 4096, 3584, 2, 8, 8, 1.01), 7263.0),
        ("h100-sxm", "bf16", (16384, 4096, 14336, 2, 8, 8, 1.01), 15907.8),
        ("h100-sxm", "fp8_block", (1024, 7168, 1024, 8, 256, 256, 1.2), 2746.3),
        ("h200-sxm", "bf16", (768, 6144, 768, 4, 128, 128, 0), 954.1),
        ("b200-sxm", "bf16", (96, 2048, 512, 8, 256, 256, 1.2), 222.0),
    ],
)
def test_layers_as_measured(chip, dtype, shape, us):
    names = ("tokens", "hidden", "width", "topk", "experts", "local_experts", "skew")
    assert grouped_time(chip, dtype, **dict(zip(names, shape, strict=True))) == pytest.approx(us * 1e-6, rel=0.3)


def blank(**given):
    start = {"t0": 0.0, "eta_C": 1.0, "t_tile": 0.0, "eta_W": 1.0, "eta_move": 1e30}
    return SimpleNamespace(**start | given)


def test_many_tokens_cost_their_operations():
    # 8 experts of 4,096 x 1,024, 1,024 tokens each: 2 x 3 x 8,192 x 4,096 x 1,024 operations at 1e14 FLOP/s.
    time = grouped_seconds(blank(), RateSheet(1e14, 1e30, 1), 2, 2, [1024], 4096, 4096, 1024, 8, 2, 8, 3)
    assert time == pytest.approx(2 * 3 * 8192 * 4096 * 1024 / 1e14)


def test_few_tokens_read_the_weights_of_the_experts_they_touch():
    # 2 tokens with 2 experts each touch 4 of 64: 3 matrices of 4,096 x 1,024 in bfloat16, at 1 TB/s.
    time = grouped_seconds(blank(), RateSheet(1e30, 1e12, 100), 2, 2, [4 / 64], 2, 4096, 1024, 64, 2, 64, 3)
    assert time == pytest.approx(4 * 3 * 4096 * 1024 * 2 / 1e12)


def test_a_tile_that_is_not_full_costs_as_much_as_a_full_one():
    times = [
        grouped_seconds(blank(), RateSheet(1e14, 1e30, 1), 2, 2, [load], load * 8, 4096, 1024, 8, 1, 8, 3)
        for load in (129, 144, 128)
    ]
    assert times[0] == pytest.approx(times[1])
    assert times[0] == pytest.approx(times[2] * 144 / 128)  # tiles of 16 rows are the next size


def test_a_tile_hides_a_part_of_its_start():
    # A tile of 16 x 128 x 4,096 takes 16.8 us at 1e12 FLOP/s, one of 16 x 128 x 128 takes 0.5 us; one SM, 2 + 32 tiles.
    given = (RateSheet(1e12, 1e30, 1), 2, 2, [16], 16, 4096, 128, 1, 1, 1, 3)
    products = 2 * 16 * 128 * (2 * 4096 + 32 * 128) / 1e12
    assert grouped_seconds(blank(), *given) == pytest.approx(products)
    starts = 34 * 1e-5
    assert max(starts, products) < grouped_seconds(blank(t_tile=1e-5), *given) < starts + products


def test_the_last_sum_goes_over_pairs_of_experts_elsewhere_too():
    # 64 tokens, 8 experts each, of 4,096 in bfloat16, at 1 GB/s: pairs and tokens twice; no expert here has any.
    time = grouped_seconds(blank(eta_move=1.0), RateSheet(1e30, 1e9, 1), 0, 2, [0], 64, 4096, 1024, 64, 8, 1e-12, 3)
    assert time == pytest.approx((64 * 8 + 2 * 64) * 4096 * 2 / 1e9, rel=1e-6)


def test_fewer_bits_cost_a_pass_over_the_activations():
    # Written and read at 8 bits instead of 16 (2 bytes less), after a pass that reads 2 and writes 1 byte: 1 byte more
    # for each of the 512 x (4,096 + 1,024) elements that enter a product.
    sheet = RateSheet(1e30, 1e9, 1)
    bf16, fp8 = (
        grouped_seconds(blank(eta_move=1.0), sheet, 0, activation, [8], 64, 4096, 1024, 64, 8, 64, 3)
        for activation in (2, 1)
    )
    assert fp8 - bf16 == pytest.approx(64 * 8 * (4096 + 1024) / 1e9)


@pytest.mark.parametrize(("tokens", "experts", "topk"), [(4096, 128, 8), (16384, 8, 2), (12288, 16, 1), (64, 256, 8)])
def test_loads_of_a_power_law_add_up_and_stay_within_the_tokens(tokens, experts, topk):
    for skew in (1.0, 1.01, 1.2, 2.0):
        loads = power_law_loads(tokens, experts, topk, skew)
        assert loads == sorted(loads)
        assert max(loads) <= tokens
        assert sum(loads) / len(loads) == pytest.approx(tokens * topk / experts)


def test_loads_that_the_tokens_cap_fill_up_the_least():
    # Of 8 experts with two a token one would have more than all tokens; what it cannot take goes to the idle ones.
    loads = power_law_loads(16384, 8, 2, 1.2)
    assert max(loads) == 16384
    assert loads[0] == loads[len(loads) // 2] > 1000
    assert power_law_loads(np.array([64.0, 16384.0]), 8, 2, 1.2)[0][1] == pytest.approx(loads[0])


def test_loads_of_a_power_law_are_a_power_law():
    assert power_law_loads(4096, 128, 8, 0.0) == [256]
    assert max(power_law_loads(1, 256, 8, 1.2)) < 1
    spread = [max(power_law_loads(4096, 128, 8, skew)) for skew in (0.5, 1.01, 1.2)]
    assert spread == sorted(spread)


def test_more_of_anything_takes_longer():
    least = grouped_time("h100-sxm", "bf16", **LAYER)
    for name in ("tokens", "hidden", "width", "topk"):
        assert grouped_time("h100-sxm", "bf16", **LAYER | {name: 2 * LAYER[name]}) > least, name
    assert grouped_time("h100-sxm", "bf16", **LAYER, gated=False) < least
    assert grouped_time("h100-sxm", "bf16", **LAYER, local_experts=16) < least / 4


def test_a_few_tokens_cost_as_much_as_one_tile_of_each_expert():
    few, some = (grouped_time("h100-sxm", "bf16", **LAYER | {"tokens": n}) for n in (32, 128))
    assert some < 1.4 * few
    assert grouped_time("h100-sxm", "bf16", **LAYER | {"tokens": 1}) < few / 4


def test_arrays_broadcast():
    tokens = np.array([1, 64, 4096])
    for skew in (0.0, 1.2):
        many = grouped_time("b200-sxm", "fp8", **LAYER | {"tokens": tokens}, skew=skew)
        one_by_one = [grouped_time("b200-sxm", "fp8", **LAYER | {"tokens": int(n)}, skew=skew) for n in tokens]
        assert many == pytest.approx(one_by_one)


def test_skewed_loads_never_take_less_than_even_ones():
    for tokens, experts, topk in ((4096, 128, 8), (16384, 8, 2)):
        layer = LAYER | {"tokens": tokens, "experts": experts, "topk": topk, "local_experts": experts}
        even, skewed = (grouped_time("h100-sxm", "bf16", **layer, skew=skew) for skew in (0.0, 1.2))
        assert skewed > 0.99 * even


def test_a_named_kernel_has_its_own_constants():
    usual = grouped_time("h100-sxm", "bf16", **LAYER, software="sglang")
    assert grouped_time("h100-sxm", "bf16", **LAYER, software="sglang", kernel="triton") == usual
    narrow = LAYER | {"width": 128}
    other = grouped_time("h100-sxm", "bf16", **narrow, software="sglang", kernel="flashinfer-cutlass")
    assert other > 2 * grouped_time("h100-sxm", "bf16", **narrow, software="sglang")
    # A kernel that only another software ran on the chip.
    assert grouped_time("h100-sxm", "bf16", **narrow, software="vllm", kernel="flashinfer-cutlass") == other


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"tokens": 0}, ValueError, "tokens is at least 1, got 0"),
        ({"topk": 129}, ValueError, "experts - topk is at least 0, got -1"),
        ({"local_experts": 256}, ValueError, "experts - local_experts is at least 0, got -128"),
        ({"skew": -1.0}, ValueError, "skew is at least 0"),
        ({"width": None}, ValueError, "width is at least 1, got None"),
        ({"software": "megablocks"}, KeyError, "unknown fitted grouped"),
        ({"kernel": "deepgemm"}, KeyError, "unknown fitted grouped"),
    ],
)
def test_bad_input_is_named(given, error, message):
    with pytest.raises(error, match=message):
        grouped_time("h100-sxm", "bf16", **LAYER | given)
