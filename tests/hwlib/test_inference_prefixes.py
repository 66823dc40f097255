"""Shared beginnings of prompts, and prices: what DeepSeek and Mooncake print, and limits."""

import pytest

from hwlib.inference import (
    cache_copy_time,
    cost_margin,
    hit_prefill_time,
    prefill_time,
    prefix_hits,
    prompt_time,
    recompute_bandwidth,
    request_cost,
)
from hwlib.specs import accelerators, models
from hwlib.transformer import matmul_parameters


def test_copying_at_the_break_even_takes_as_long_as_computing():
    P, S_kv, n, C, mfu = 70e9, 327_680, 8, 989e12, 0.4
    W = recompute_bandwidth(P, S_kv, n, C, mfu)
    for T in (100, 100_000):
        assert cache_copy_time(T, S_kv, W) == pytest.approx(prefill_time(P, T, n, C, mfu))


def test_a_prompt_that_is_found_whole_costs_nothing():
    assert hit_prefill_time(70e9, 8192, 1, 80, 64, 128, 8, 989e12, 0.4) == 0


def test_tokens_that_were_not_found_attend_to_those_that_were():
    """Counted key by key: of 400 tokens with 100 found, the others see 101 to 400 keys, 4 FLOP an element each."""
    T, found, P, C = 400, 100, 1e3, 1e12
    keys = sum(range(found + 1, T + 1))
    counted = (2 * P * (T - found) + 3 * 4 * 8 * 16 * keys) / C
    assert hit_prefill_time(P, T, found / T, 3, 8, 16, 1, C, 1) == pytest.approx(counted, rel=3e-3)
    blind = (2 * P * (T - found) + 3 * 4 * 8 * 16 * 0.75 * T * T / 2) / C
    assert hit_prefill_time(P, T, found / T, 3, 8, 16, 1, C, 1) > 1.2 * blind


@pytest.mark.parametrize("model", ["llama3-70b", "llama3-8b"])
def test_with_nothing_found_a_prompt_takes_what_it_took(model):
    T, shape = 30_000, models[model]
    whole = prompt_time(model, "h100-sxm", n=8, T_in=T)
    C = accelerators["h100-sxm"].bf16_flops
    P = matmul_parameters(shape)
    found = hit_prefill_time(P, T, 0, shape.layers, shape.heads, shape.head_dim, 8, C, 0.4)
    assert found == pytest.approx(whole, rel=1e-4)


def test_only_a_common_beginning_is_found():
    assert prefix_hits([[1, 2, 3], [1, 9, 3]], 100) == (1, 6)
    assert prefix_hits([[1, 2], [3, 4], [1, 2]], 100) == (2, 6)
    assert prefix_hits([[1, 2], [3, 4], [1, 2]], 2) == (0, 6)  # the first two were dropped


def test_deepseek_day_costs_and_earns_what_it_prints():
    """87,072 dollars for 226.75 nodes, and 562,027 for the tokens: a margin of 545 %, from tokens that are rounded."""
    assert 226.75 * 8 * 24 * 2 == 87_072
    revenue = 342e9 * 0.14e-6 + (608e9 - 342e9) * 0.55e-6 + 168e9 * 2.19e-6
    assert revenue == pytest.approx(562_027, rel=2e-4)
    assert cost_margin(revenue, 87_072) == pytest.approx(5.45, abs=0.01)


def test_deepseek_nodes_follow_from_tokens_and_rates():
    """608 billion tokens in and 168 out in a day, at 73.7k and 14.8k tokens a second of a node: 226.75 nodes."""
    per_second = 2 / 3600
    day = request_cost(608e9, 168e9, 73.7e3 / 8, 14.8e3 / 8, per_second)
    assert day == pytest.approx(87_072, rel=2e-3)
