"""The serving engine against queueing theory, conservation laws, the models of its step, and other models."""

import math
import random
from itertools import pairwise

import pytest

from hwlib.calibrated import decode_parts, prefill_attention_time, serve
from hwlib.engine import (
    POLICIES,
    Lengths,
    Request,
    StepCost,
    cache_room,
    chunked,
    decode_first,
    draw_requests,
    pairs_of,
    prefill_first,
    run_apart,
    run_engine,
    run_engines,
    step_cost,
)
from hwlib.inference import first_token_time, largest_batch
from hwlib.specs import models
from hwlib.transformer import kv_bytes_per_token

COST = step_cost("llama3-70b", "h100-sxm", tp=8)
MIX = {500: 0.9, 8000: 0.1}
CHAT = Lengths(1730, 5696, 8192)


def served(count=150, rate=3.0, policy=chunked, seed=1, output=60, **how):
    requests = draw_requests(rate, count, prompt=MIX, output=output, seed=seed)
    return requests, run_engine(requests, COST, policy, **how)


@pytest.mark.slow
def test_one_request_at_a_time_is_the_queue_of_pollaczek_and_khinchine():
    """M/D/1: prompts of one length, no answer after the first token, one seat."""
    cost = StepCost(fixed=0.1, weights=0, token=0, sent=0, cached=0, pair=0)
    for load in (0.3, 0.7):
        requests = draw_requests(load / 0.1, 20_000, prompt=100, output=1, seed=3)
        run = run_engine(requests, cost, prefill_first, seats=1)
        mean = sum(one.ttft for one in run.outcomes) / len(run.outcomes)
        assert mean == pytest.approx(float(first_token_time(0.1, load / 0.1)), rel=0.04)
        assert run.busy == pytest.approx(load, rel=0.03)


@pytest.mark.parametrize("name", POLICIES)
def test_tokens_are_conserved_and_little_s_law_holds(name):
    requests, run = served(policy=POLICIES[name], budget=1024)
    assert [len(one.times) for one in run.outcomes] == [one.output for one in requests]
    assert [sum(part.tokens for part in one.chunks) for one in run.outcomes] == [one.prompt for one in requests]
    assert sum(step.read for step in run.steps) == sum(one.prompt for one in requests)
    assert sum(step.decoding for step in run.steps) == sum(one.output - 1 for one in requests)
    assert all(a.end <= b.start for a, b in pairwise(run.steps))
    # who is in the system at the start of each step, counted from the steps, against rate times stay
    ends = sorted(one.end for one in run.outcomes)
    events = sorted([(one.arrival, 1) for one in requests] + [(end, -1) for end in ends])
    area = inside = before = 0.0
    for at, change in events:
        area += inside * (at - before)
        inside, before = inside + change, at
    rate, stay = len(requests) / ends[-1], sum(one.end - one.arrival for one in run.outcomes) / len(requests)
    assert area / ends[-1] == pytest.approx(rate * stay)


def test_a_decode_step_is_that_of_the_library_and_a_prompt_has_its_attention():
    for model, chip, tp in (("llama3-70b", "h100-sxm", 8), ("llama3-8b", "a100-80gb-sxm", 1)):
        cost = step_cost(model, chip, tp=tp)
        for B, T in ((1, 100), (64, 2000), (600, 500)):
            assert cost.decode(B, T) == pytest.approx(decode_parts(model, chip, tp=tp, B=B, T_kv=T).total)
    whole, halves = COST.prompt(8192), COST.prompt(4096) + COST.prompt(4096, before=4096)
    assert halves - whole == pytest.approx(COST.fixed + 4096 * COST.cached)
    attention = prefill_attention_time("h100-sxm", "bf16", heads=8, kv_heads=1, head_dim=128, batch=1, seq=8192)
    assert COST.pair * pairs_of(8192) == pytest.approx(80 * attention)
    assert cache_room("llama3-70b", "h100-sxm", tp=8) == largest_batch(
        "llama3-70b", "h100-sxm", n=8, T_kv=1, reserve=0.1
    )
    with pytest.raises(ValueError, match="experts"):
        step_cost("deepseek-v3", "h100-sxm", tp=8)


@pytest.mark.parametrize(
    ("B", "prompt", "output"),
    [
        (64, 1000, 1000),
        pytest.param(16, 1000, 1000, marks=pytest.mark.xfail(strict=True, reason="16 %: a layer costs more since")),
        (64, 2000, 200),
    ],
)
def test_a_closed_load_is_near_what_software_reaches(B, prompt, output):
    """`serve` is fitted to TensorRT-LLM's published rows; the engine has kernels alone, so it is 5 to 15 % above."""
    run = run_engine([Request(0, prompt, output)] * (4 * B), COST, budget=1024, seats=B)
    known = serve("llama3-70b", "h100-sxm", stack="tensorrt-llm-1.1", tp=8, batch=B, input=prompt, output=output)
    assert 1.0 < run.tokens_per_second / known.tokens_per_second < 1.15


def test_a_long_prompt_stalls_who_generates_unless_it_is_cut():
    requests = [Request(0, 200, 200) for _ in range(8)] + [Request(1.0, 16_000, 1)]
    whole = run_engine(requests, COST, prefill_first, budget=16_384)
    cut = run_engine(requests, COST, chunked, budget=512)
    stall = max(gap for one in whole.outcomes for gap in one.gaps)
    assert stall == pytest.approx(COST.prompt(16_000) + COST.decode(8, 290), rel=0.01)
    bound = COST.seconds(512, 16_000 + 8 * 400, pairs_of(504, 16_000 - 504))
    assert max(gap for one in cut.outcomes for gap in one.gaps) <= bound < stall / 20
    assert cut.outcomes[-1].ttft > whole.outcomes[-1].ttft  # what it costs the one with the long prompt
    alone = run_engine(requests, COST, decode_first)
    assert alone.outcomes[-1].first > max(one.end for one in alone.outcomes[:8])


def test_no_step_is_over_its_budget():
    _, run = served(rate=8.0, budget=256)
    assert max(step.read + step.decoding for step in run.steps) == 256


def test_the_cache_is_never_too_full_and_who_loses_it_is_read_again():
    requests = [Request(0.0, 100, 100) for _ in range(20)]
    room = 1000  # ten prompts, and no token more
    run = run_engine(requests, COST, budget=4096, room=room)
    assert run.again > 0
    assert [len(one.times) for one in run.outcomes] == [100] * 20
    read = sum(part.tokens for one in run.outcomes for part in one.chunks)
    assert read == sum(step.read for step in run.steps) > 20 * 100
    for step in run.steps:  # all that run hold a prompt at least
        held = sum(
            one.request.prompt + sum(time < step.end for time in one.times) - 1
            for one in run.outcomes
            if any(part.end <= step.start for part in one.chunks)
            and one.first <= step.start < one.end
            and not one.again
        )
        assert held <= room
    with pytest.raises(ValueError, match="cache holds"):
        run_engine(requests, COST, room=150)


def test_the_same_seed_is_the_same_traffic_closer_together_and_bursts_are_as_wide_as_asked():
    slow, fast = (draw_requests(rate, 4000, prompt=CHAT, output=CHAT, burst=2.0, seed=5) for rate in (1, 4))
    assert all(a.arrival == pytest.approx(4 * b.arrival) and a[1:] == b[1:] for a, b in zip(slow, fast, strict=True))
    gaps = [b.arrival - a.arrival for a, b in pairwise(slow)]
    mean = sum(gaps) / len(gaps)
    assert math.sqrt(sum((gap - mean) ** 2 for gap in gaps) / len(gaps)) / mean == pytest.approx(2.0, rel=0.1)
    lengths = sorted(one.prompt for one in slow)
    assert lengths[2000] == pytest.approx(1730, rel=0.06)
    assert lengths[3600] == pytest.approx(5696, rel=0.08)
    assert lengths[-1] == 8192


def test_engines_apart_never_stall_and_send_each_prompt_s_cache_once():
    requests, mixed = served(count=120, policy=prefill_first, budget=8192)
    S_kv = kv_bytes_per_token(models["llama3-70b"], 2)
    near = run_apart(requests, COST, prefill=1, decode=1, W=400e9, S_kv=S_kv, gpus=8)
    far = run_apart(requests, COST, prefill=1, decode=1, W=5e9, S_kv=S_kv, gpus=8)
    assert [len(one.times) for one in near.outcomes] == [one.output for one in requests]
    assert near.tbt(0.99) < 1.2 * COST.decode(16, 9000) < mixed.tbt(0.999)
    for one in far.outcomes:
        sent = one.request.prompt * S_kv / 5e9
        assert one.times[1] - one.times[0] >= sent
    assert [one.ttft for one in far.outcomes] == [one.ttft for one in near.outcomes]
    assert near.gpus == 16
    both = run_engines(requests, COST, 2, chunked, gpus=8)
    assert (both.gpus, len(both.outcomes)) == (16, 120)
    assert 0 < both.busy <= 1


def test_a_cached_prefix_is_not_read_again():
    cold = run_engine([Request(0, 8000, 2)], COST, budget=8192)
    warm = run_engine([Request(0, 8000, 2, cached=7000)], COST, budget=8192)
    assert warm.steps[0].read == 1000
    assert warm.outcomes[0].ttft == pytest.approx(COST.prompt(1000, before=7000))
    assert warm.outcomes[0].ttft < cold.outcomes[0].ttft / 4


def test_a_policy_that_asks_for_what_is_not_there_is_told():
    requests = [Request(0, 10, 2)]
    for wrong, words in (
        (lambda *_: [(3, 1)], "request 3"),
        (lambda *_: [(0, 11)], "11 tokens"),
        (lambda *_: [], "does nothing"),
        (lambda *_: [(0, 1), (0, 1)], "twice"),
    ):
        with pytest.raises(ValueError, match=words):
            run_engine(requests, COST, wrong)


def test_any_policy_that_grants_something_ends():
    rng = random.Random(7)

    def wild(wait, run, budget):
        ready = [*run, *wait]
        return [(number, rng.randint(1, left or 1)) for number, left in ready if rng.random() < 0.5] or [
            (ready[0][0], 1)
        ]

    requests = draw_requests(20, 60, prompt={40: 0.5, 300: 0.5}, output=12, seed=2)
    run = run_engine(requests, COST, wild, room=700, seats=9)
    assert [len(one.times) for one in run.outcomes] == [12] * 60


def test_goodput_counts_who_keeps_the_objective_and_money_follows_tokens():
    _, run = served()
    assert run.attained() == 1.0
    assert run.attained(ttft=run.ttft(0.5)) == pytest.approx(0.5, abs=0.01)
    assert run.goodput(ttft=run.ttft(0.5)) == pytest.approx(0.5 * 150 / run.duration, rel=0.02)
    run8 = served(gpus=8)[1]
    assert run8.dollars_per_million(2.0) == pytest.approx(8 * 2.0 * run8.duration / 3600 / (run8.tokens / 1e6))
