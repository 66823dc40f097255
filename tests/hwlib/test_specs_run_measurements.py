"""Published runs: every row has its source, and numbers that two columns print agree."""

import pytest

from hwlib.specs import accelerators, measured_run, measured_runs
from hwlib.training import utilization_of_run
from hwlib.transformer import active_parameters, gpt_recompute_training_flops, parameter_count, step_flops
from tests.each import each

RUNS = measured_runs()


@each("run", [run for run in RUNS if run.time and run.tokens])
def test_no_run_uses_more_than_its_peak(run):
    peak = accelerators[run.chip].bf16_flops
    assert 0.1 < utilization_of_run(active_parameters(run.model), run.tokens, 1, peak, run.time) < 0.6


def test_what_the_papers_say_of_their_own_rows():
    llama, bloom = measured_run("llama3-405b"), measured_run("bloom-176b")
    assert 6 * parameter_count("llama3-405b") * llama.tokens == pytest.approx(3.8e25, rel=0.01)
    assert llama.rate / accelerators["h100-sxm"].bf16_flops == pytest.approx(0.41, abs=0.01)
    assert bloom.wall_time / 86400 / 30.4 == pytest.approx(3.5, rel=0.12), "about three and a half months"
    assert parameter_count("bloom-176b") == 176_247_271_424 - 2 * 14336


def test_hours_that_are_tokens_over_rate():
    small, large = measured_run("llama-65b"), measured_run("deepseek-v3")
    assert small.tokens / small.token_rate == pytest.approx(small.time, rel=0.002)
    flops = step_flops("deepseek-v3", large.tokens, large.length, causal=False)
    assert flops / large.rate == pytest.approx(large.time, rel=0.01)
    bloom = measured_run("bloom-176b")
    counted = gpt_recompute_training_flops(bloom.tokens, bloom.length, 70, 14336, 250880)
    assert counted / bloom.rate == pytest.approx(0.9 * bloom.time, rel=0.01), "a tenth was not training"


def test_what_is_not_published_is_said():
    with pytest.raises(ValueError, match=r"llama2-70b: .*number of GPUs"):
        _ = measured_run("llama2-70b").wall_time
