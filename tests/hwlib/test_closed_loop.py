"""The first token of a closed loop: prompts that come at once, and those that come when others have ended."""

from itertools import accumulate
from statistics import fmean

import pytest

from hwlib.calibrated.closed_loop import READ_TOKENS, burst_first, mean_first
from hwlib.calibrated.serving import run_of, served_time, step_time
from hwlib.calibrated.serving_step import Server
from hwlib.specs import accelerators, models
from hwlib.specs.serving_stack import serving_stacks

SERVER = Server(models["llama3-8b"], accelerators["h200-sxm"])
SGLANG, MIXING = serving_stacks["sglang"], serving_stacks["tensorrt-llm-server"]
LENGTHS = {"input": 1024, "output": 256}


def first(batch, requests, stack=SGLANG):
    return served_time(stack, mean_first(SERVER, stack, batch=batch, requests=requests, **LENGTHS))


def lone(stack=SGLANG, batch=1):
    return served_time(stack, run_of(SERVER, stack, "closed", batch=batch, **LENGTHS).first)


@pytest.mark.parametrize("requests", [1, 10])
def test_a_user_alone_waits_for_nobody(requests):
    assert first(1, requests) == pytest.approx(lone())


@pytest.mark.parametrize(("prompts", "steps"), [(1, [1]), (16, [16]), (17, [16, 1]), (32, [16, 16]), (40, [16, 16, 8])])
def test_prompts_that_come_at_once_wait_for_the_steps_before_their_own(prompts, steps):
    """A step reads 16 prompts of 1,024 tokens; played prompt by prompt."""
    assert 16 * LENGTHS["input"] == READ_TOKENS
    ends = accumulate(step_time(SGLANG, SERVER.step(0, 0.0, count, LENGTHS["input"])) for count in steps)
    played = [end for end, count in zip(ends, steps, strict=True) for _ in range(count)]
    assert served_time(SGLANG, burst_first(SERVER, prompts, LENGTHS["input"])) == pytest.approx(fmean(played))


@pytest.mark.parametrize(("tokens", "each"), [(READ_TOKENS, 1), (READ_TOKENS + 1, 1), (READ_TOKENS // 2, 2)])
def test_a_step_reads_whole_prompts_and_one_at_least(tokens, each):
    (count, work), *rest = burst_first(SERVER, 2, tokens)
    assert work == SERVER.step(0, 0.0, each, tokens)
    assert (count, rest) == ((1.0, []) if each == 2 else (1.5, []))


def test_of_as_many_requests_as_users_all_come_at_once():
    burst = served_time(SGLANG, burst_first(SERVER, 64, LENGTHS["input"]))
    assert first(64, 64) == first(64, 32) == pytest.approx(burst)
    assert first(64, 65) < burst


def test_later_requests_wait_for_half_of_the_step_under_way():
    """Of very many requests those of the start do not count. A mixed step is met as often as it lasts."""
    (decode_count, decode), (read_count, read) = run_of(SERVER, SGLANG, "closed", batch=64, **LENGTHS).token
    times = [decode_count * step_time(SGLANG, decode), read_count * step_time(SGLANG, read)]
    met = (times[0] * step_time(SGLANG, decode) + times[1] * step_time(SGLANG, read)) / sum(times)
    assert first(64, 1e9) - lone(batch=64) == pytest.approx(63 / 64 * met / 2, rel=1e-3)
    assert 0 < first(2, 1e9) - lone(batch=2) < first(64, 1e9) - lone(batch=64)
    assert lone(MIXING, 64) < first(64, 1e9, MIXING) < first(64, 640, MIXING)


@pytest.mark.parametrize("requests", [0, -1, float("nan")])
def test_a_run_without_requests_is_refused(requests):
    with pytest.raises(ValueError, match="at least 1 request"):
        first(2, requests)
