"""Serving: the work of a step against counts by hand, loads, limits, and what cannot be."""

from dataclasses import replace

import pytest

from hwlib.calibrated import gemm_model
from hwlib.calibrated.serving import (
    LOADS,
    RESERVED,
    Server,
    cache_sequences,
    run_of,
    serve,
    served_time,
    step_time,
    times,
)
from hwlib.calibrated.serving_kernels import LayerAttention, cache_time, experts_time, kernel_chip, product_time
from hwlib.calibrated.serving_network import exchange_time, reduce_time, scaleup_rate
from hwlib.collectives import Routing
from hwlib.serving_planner import plan_serving
from hwlib.specs import accelerators, models
from hwlib.specs.serving_stack import ServingStack, build_for, serving_stacks
from hwlib.transformer import kv_cache_bytes, parameter_count

IDEAL = ServingStack.ideal()
PLAN = {"stack": "tensorrt-llm-1.0", "input": 1000, "output": 500, "dtype": "fp8"}


def server(model="llama3-70b", chip="h200-sxm", **plan):
    return Server(models[model], accelerators[chip], **plan)


# Memory


@pytest.mark.parametrize("model", ["llama3-8b", "llama3-70b", "mixtral-8x7b", "qwen2.5-0.5b", "gpt-oss-20b"])
def test_weights_in_two_bytes_are_the_models_parameters(model):
    """Norms, biases, routers and the rows of a table that are not read apart: below 1 %."""
    assert server(model).weight_bytes() == pytest.approx(2 * parameter_count(model), rel=0.01)


def test_ranks_divide_weights_and_each_of_attention_dp_has_attention_whole():
    whole = server("mixtral-8x7b").weight_bytes()
    assert server("mixtral-8x7b", tp=4).weight_bytes() == pytest.approx(whole / 4)
    assert server("mixtral-8x7b", tp=2, pp=2).weight_bytes() == pytest.approx(whole / 4)
    apart = server("mixtral-8x7b", tp=4, ep=4, attention_dp=True).weight_bytes()
    assert whole / 4 < apart < whole / 2


def test_the_cache_of_a_sequence_by_hand():
    """Llama 3 70B: 80 layers, 8 heads of 128, keys and values: 327,680 bytes a token in bfloat16."""
    assert server().sequence_bytes(1000) == 327_680_000 == kv_cache_bytes(models["llama3-70b"], 1000)
    assert server(kv_dtype="fp8", tp=2).sequence_bytes(1000) == 327_680_000 / 4
    assert server(tp=16).sequence_bytes(1000) == 327_680_000 / 8  # a head is not divided
    # DeepSeek-V3: 61 layers x (512 + 64) x 2, the same on every rank
    assert server("deepseek-v3", tp=8).sequence_bytes(1) == 70_272
    # gpt-oss 20b: 12 of 24 layers keep 128 tokens
    token = 24 * 2 * 8 * 64 * 2
    assert server("gpt-oss-20b").sequence_bytes(1128) == token * (128 + 1128) / 2


def test_sequences_that_fit_by_hand():
    """An H200 lists 143,771 MiB; Llama 3 70B in 8 bits leaves half of them."""
    s = server(dtype="fp8", kv_dtype="fp8")
    free = 141 * 2**30 - s.weight_bytes() - RESERVED
    assert cache_sequences(s, 2000, 0.9) == pytest.approx(0.9 * free / (163_840 * 2000))
    assert 180 < cache_sequences(s, 2000, 0.9) < 230
    assert cache_sequences(server(), 2000) < 12  # in bfloat16 nearly nothing is left
    assert cache_sequences(server("llama3-405b"), 2000) == 0


# Kernels and messages


@pytest.mark.parametrize(("chip", "dtype"), [("h100-sxm", "bf16"), ("a100-80gb-sxm", "bf16"), ("b200-sxm", "bf16")])
@pytest.mark.parametrize("shape", [(1, 4096, 4096), (100, 28672, 8192), (4096, 1024, 777)])
def test_a_product_is_that_of_the_gemm_model(chip, dtype, shape):
    """The quick form of the same formula."""
    mine = kernel_chip(accelerators[chip])
    assert product_time(mine, dtype, *shape) == pytest.approx(gemm_model(chip, dtype).time(*shape))


def test_weights_in_few_bits_are_read_quicker_but_not_multiplied():
    chip = kernel_chip(accelerators["a100-80gb-sxm"])
    few = [product_time(chip, dtype, 1, 8192, 8192) for dtype in ("bf16", "int8w", "int4w")]
    assert few[0] > 1.5 * few[1] > 1.5 * few[2]
    many = [product_time(chip, dtype, 8192, 8192, 8192) for dtype in ("bf16", "int4w")]
    assert many[1] > 0.9 * many[0]


def test_experts_in_few_bits_read_fewer_bytes():
    chip, kimi = kernel_chip(accelerators["h200-sxm"]), (7168, 2048, 384, 8, 48)
    few = [experts_time(chip, dtype, 32, kimi, 3, "trtllm") for dtype in ("bf16", "int8w", "int4w")]
    many = [experts_time(chip, dtype, 2**17, kimi, 3, "trtllm") for dtype in ("bf16", "int8w", "int4w")]
    assert few[0] > 1.5 * few[1] > 2 * few[2]
    assert many[2] > 0.9 * many[0]


def test_few_multiprocessors_ask_for_less_memory():
    """The H20 has 4.0 TB/s for 78 multiprocessors, which cannot ask for as much."""
    chips = (kernel_chip(accelerators[key]) for key in ("h200-sxm", "h20-sxm"))
    wide, narrow = (product_time(chip, "bf16", 1, 8192, 28672) for chip in chips)
    assert narrow / wide > 1.5 > 4.8 / 4.0


def test_an_allreduce_of_few_bytes_costs_its_latency_and_one_of_many_the_wire():
    chip = accelerators["h100-sxm"]
    assert reduce_time(chip, 8, 1e3) < 1.1 * reduce_time(chip, 2, 1e3)
    assert reduce_time(chip, 8, 1e9) == pytest.approx(2 * 7 / 8 * 1e9 / (0.75 * 450e9), rel=0.01)
    assert reduce_time(accelerators["l40s"], 8, 1e8) > 10 * reduce_time(chip, 8, 1e8)
    assert exchange_time(chip, 8, 64, 7168, Routing(8, 256)) > exchange_time(chip, 8, 64, 7168, Routing(2, 256))


def test_chips_without_switches_have_a_link_to_each_other():
    """All-reduces of 4 GiB on MI300X: a bus bandwidth of 47.7 GB/s on two of them, and of 312.9 on eight."""
    chip, S = accelerators["mi300x"], 2.0**32
    for n, measured in ((2, 47.671e9), (8, 312.912e9)):
        assert 2 * (n - 1) / n * S / reduce_time(chip, n, S) == pytest.approx(measured, rel=0.08)
    assert [scaleup_rate(chip, n) / chip.scaleup_link_bandwidth for n in (2, 4, 8)] == [1, 3, 7]


def test_parallel_blocks_are_summed_once_a_layer():
    """GPT-J and Falcon add attention and MLP before the all-reduce."""
    falcon = models["falcon-180b"]
    chip = accelerators["l40s"]
    works = [Server(model, chip, tp=8).step(64, 1000) for model in (falcon, falcon.replace(parallel=False))]
    assert works[1].network == pytest.approx(2 * works[0].network)
    assert works[0].network == pytest.approx(80 * reduce_time(chip, 8, 2 * 64 * 14848))


# Steps and loads


def test_a_decode_step_is_at_least_its_weights_and_caches():
    s = server(dtype="fp8", kv_dtype="fp8", tp=2)
    work = s.step(64, 2000)
    least = (s.weight_bytes() - 128256 * 8192 + 64 * s.sequence_bytes(2000)) / 4.8e12
    assert least < step_time(IDEAL, work) < 2 * least
    assert work.layers == 80
    assert work.prompt_layers == 0
    assert work.sheet < step_time(IDEAL, work)


def test_a_prompt_takes_at_least_its_operations():
    s = server(dtype="fp8", kv_dtype="fp8")
    work = s.step(0, 0, 1, 8192)
    flops = 2 * (parameter_count("llama3-70b") - 2 * 128256 * 8192) * 8192
    assert flops / 1.9789e15 < step_time(IDEAL, work) < 3 * flops / 1.9789e15
    assert work.prompt_layers == 80
    assert work.layers == 0


def test_a_step_grows_with_batch_context_and_prompts():
    s = server("mixtral-8x7b", tp=2)
    base = step_time(IDEAL, s.step(32, 1000))
    assert base < step_time(IDEAL, s.step(64, 1000)) < 2 * base
    assert base < step_time(IDEAL, s.step(32, 4000))
    assert base < step_time(IDEAL, s.step(32, 1000, 1, 500))


def test_a_step_with_prompts_waits_for_the_host_and_one_without_does_not():
    work = server().step(1, 100, 1, 100)
    slow = IDEAL.replace(t_prompt=1e-3)
    assert step_time(slow, work) == pytest.approx(80e-3)
    assert step_time(slow, server().step(1, 100)) == step_time(IDEAL, server().step(1, 100))
    assert step_time(IDEAL.replace(t_layer=1e-3), work) == pytest.approx(80e-3 + step_time(IDEAL, work))


def test_steps_add_up():
    work = server().step(8, 1000)
    assert served_time(IDEAL, times(((2.0, work),), 3)) == pytest.approx(6 * step_time(IDEAL, work))


def test_one_request_is_a_static_batch_of_one():
    """Its time is that of the prompt and of each further token."""
    run = run_of(server(), IDEAL, "static", input=1000, output=101, batch=1)
    first, token, whole = (served_time(IDEAL, steps) for steps in (run.first, run.token, run.whole))
    assert whole == pytest.approx(first + 100 * token)
    assert run.tokens == 101


def test_prompts_of_others_take_time_between_two_tokens():
    alone = serve("llama3-8b", "h100-sxm", stack=IDEAL, load="static", batch=64, input=2000, output=100)
    shared = serve("llama3-8b", "h100-sxm", stack=IDEAL, load="closed", batch=64, input=2000, output=100)
    assert shared.token_latency > 2 * alone.token_latency
    assert shared.tokens_per_second == pytest.approx(alone.tokens_per_second, rel=0.15)


def test_a_larger_batch_gives_more_tokens_and_each_more_slowly():
    served = [serve("llama3-70b", "h200-sxm", tp=4, batch=batch, **PLAN) for batch in (1, 8, 64, 512)]
    rates, waits = [s.tokens_per_second for s in served], [s.token_latency for s in served]
    assert rates == sorted(rates)
    assert waits == sorted(waits)
    assert served[0].tokens_per_second == pytest.approx(1 / served[0].token_latency, rel=0.02)


def test_the_cache_decides_the_batch_of_a_queue():
    full = serve("llama3-70b", "h200-sxm", tp=2, **PLAN)
    assert full.batch == int(cache_sequences(server(tp=2, dtype="fp8", kv_dtype="fp8"), 1500, 0.92))
    few = serve("llama3-70b", "h200-sxm", tp=2, requests=10, **PLAN)
    assert few.batch == 10
    assert few.tokens_per_second < full.tokens_per_second
    wide = serve("llama3-8b", "b200-sxm", tp=8, **PLAN, requests=30_000)
    assert wide.batch == 4096


def test_stages_divide_memory_and_pass_batches_on():
    """Two stages have half the weights each, so more than twice the sequences, and each token passes both."""
    one = serve("llama3-70b", "h200-sxm", **PLAN)
    two = serve("llama3-70b", "h200-sxm", pp=2, **PLAN)
    assert two.gpus == 2
    assert two.batch > 2 * one.batch
    assert 1.5 < two.tokens_per_second / one.tokens_per_second < 3


def test_the_docstrings_example_is_near_what_nvidia_prints():
    """2,587 tokens/s a GPU: TensorRT-LLM 1.1 or later, docs/source/developer-guide/perf-overview.md @03e27c7."""
    served = serve("llama3-70b", "h200-sxm", **PLAN | {"stack": "tensorrt-llm-1.1", "output": 1000}, tp=2)
    assert served.tokens_per_second / 2 == pytest.approx(2587, rel=0.2)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"batch": 0.5}, "batch"),
        ({"batch": 1, "load": "none"}, "load"),
        ({"batch": 1, "output": 0}, "output"),
        ({"batch": 1, "tp": 0}, "tp"),
        ({"batch": 1, "tp": 4, "ep": 3}, "ep"),
        ({"batch": 1, "pp": 100}, "pp"),
        ({"batch": 1, "dtype": "fp12"}, "fp12"),
        ({"batch": 1, "kv_dtype": "fp4"}, "cache"),
        ({"dtype": "bf16", "chip": "h100-sxm"}, "no sequence"),
    ],
)
def test_what_cannot_be_is_named(changes, named):
    given = {"model": "llama3-70b", "chip": "h200-sxm", **PLAN} | changes
    with pytest.raises(ValueError, match=named):
        serve(**given)


def test_unknown_names_are_key_errors():
    for changes in ({"model": "llama9"}, {"chip": "h1000"}, {"stack": "mystack"}):
        with pytest.raises(KeyError):
            serve(**{"model": "llama3-8b", "chip": "h100-sxm", "batch": 1, **PLAN} | changes)
    assert set(LOADS) == {"static", "closed", "queued"}


@pytest.mark.parametrize(("chip", "least", "most"), [("h20-sxm", 120e12, 130e12), ("h800-sxm", 580e12, 660e12)])
def test_latent_attention_reaches_what_flashmla_printed(chip, least, most):
    """128 sequences of 8,192 tokens, 64 heads and three new tokens each, as FlashMLA's own benchmark counts them."""
    silicon = kernel_chip(accelerators[chip])
    model = models["deepseek-v3"]
    seconds = cache_time(LayerAttention(model, silicon, 2, "bf16", "trtllm", queries=3), 128, 8192)
    flops = 2.0 * 128 * 8192 * 3 * model.heads / 2 * (2 * model.kv_lora + model.rope_dim)
    assert least < flops / seconds < most


def test_a_chip_of_another_maker_has_its_own_multiprocessors_where_they_are_many():
    counted = {key: kernel_chip(replace(accelerators[key], vendor="nobody")).n_SM for key in ("mi355x", "tpu-v5p")}
    assert counted == {"mi355x": 256, "tpu-v5p": 0}
    many = [replace(accelerators["mi355x"], vendor="nobody", sms=sms) for sms in (15, 16)]
    assert [kernel_chip(chip).n_SM for chip in many] == [0, 16]
    assert kernel_chip(many[0]).sheet("bf16", "h100-sxm").n_SM == accelerators["h100-sxm"].sms
    assert kernel_chip(many[1]).sheet("bf16", "h100-sxm").n_SM == 16


def test_rates_of_one_makers_kernels_are_not_carried_to_anothers():
    for key in ("sglang", "tensorrt-llm-1.1", "vllm-0.6"):
        typical = serving_stacks[key].typical("tpu-v5p")
        assert (typical.eta, typical.eta_E) == (min(serving_stacks[key].eta, 1.0), 1.0)
        assert typical.t_prompt == serving_stacks["sglang"].t_prompt


@pytest.mark.parametrize(
    ("stack", "chip", "moe", "build"),
    [
        ("sglang", "mi300x", True, "sglang-mi30x"),
        ("sglang-0.4", "mi355x", True, "sglang-mi35x"),
        ("sglang", "mi300x", False, "sglang"),
        ("vllm-0.6", "mi325x", False, "vllm-rocm"),
        ("vllm-0.6", "mi325x", True, "vllm-0.6"),
        ("sglang", "h200-sxm", True, "sglang"),
        ("sglang-mi30x", "mi300x", True, "sglang-mi30x"),
        ("atom", "mi300x", True, "atom"),
        ("tensorrt-llm-1.1", "mi300x", True, "tensorrt-llm-1.1"),
        ("sglang", "tpu-v5p", True, "sglang"),
        ("nothing", "mi300x", True, "nothing"),
    ],
)
def test_a_program_is_taken_in_the_build_that_was_timed_on_such_chips(stack, chip, moe, build):
    assert build_for(stack, accelerators[chip], moe) == build


def test_a_program_that_is_named_on_another_makers_chip_is_no_quicker_than_its_build():
    asked = {"prompt": 1024, "output": 1024, "fixed": {"tp": (8,), "ep": (1,)}}
    named, usual = (
        plan_serving("deepseek-v3", "mi300x-node", stack=stack, **asked).question.stack.key
        for stack in ("sglang", None)
    )
    assert named == usual == "sglang-mi30x"
