"""Caches of 8 and 4 bits: bytes with their scales, which software and chips have them, and what a checkpoint says."""

import pytest

from hwlib.calibrated.cache_formats import CACHE_FORMATS, cache_element_bytes, cache_formats_of
from hwlib.calibrated.serving import step_time
from hwlib.calibrated.serving_kernels import LayerAttention, cache_least, cache_time, kernel_chip
from hwlib.calibrated.serving_step import Server
from hwlib.launch import emit
from hwlib.planner import PlanError
from hwlib.serving_planner import plan_serving
from hwlib.serving_planner.cache_precision import SOFTWARE_CACHES, cache_words, check_cache, stored_format
from hwlib.serving_planner.question import question_of
from hwlib.specs import Model, accelerators, models
from hwlib.specs.serving_stack import USUAL, ServingStack, serving_stacks
from tests.hwlib.test_hf_config import LLAMA

LENGTHS = {"prompt": 512, "output": 64}


def test_bytes_of_a_token_are_those_of_elements_and_scales():
    model = models["llama3-70b"]
    each = {name: Server(model, accelerators["b200-sxm"], kv_dtype=name).token_bytes() for name in CACHE_FORMATS}
    vectors = 2 * model.layers * model.kv_heads
    assert each == {
        "bf16": vectors * 128 * 2,
        "fp8": vectors * 128,
        "int8": vectors * (128 + 4),
        "fp4": vectors * (64 + 8),
        "int4": vectors * (64 + 4),
    }
    assert cache_element_bytes(models["deepseek-v3"], "fp4") == 0.5625


def test_a_narrower_cache_is_read_in_less_time():
    model, chip = models["llama3-70b"], accelerators["b200-sxm"]
    times = [
        step_time(serving_stacks[USUAL], Server(model, chip, tp=4, kv_dtype=name).step(256, 16_384))
        for name in ("bf16", "fp8", "fp4", "int4")
    ]
    assert times == sorted(times, reverse=True)
    assert len(set(times)) == 4


def test_chips_and_models_have_some_formats():
    llama, deepseek = models["llama3-8b"], models["deepseek-v3"]
    assert cache_formats_of(llama, accelerators["b200-sxm"]) == list(CACHE_FORMATS)
    assert cache_formats_of(llama, accelerators["h100-sxm"]) == ["bf16", "fp8", "int8", "int4"]
    assert cache_formats_of(deepseek, accelerators["b200-sxm"]) == ["bf16", "fp8", "fp4"]
    with pytest.raises(ValueError, match="cache"):
        Server(deepseek, accelerators["b200-sxm"], kv_dtype="int8")


def test_software_has_some_formats_and_says_who_has_the_others():
    for program, formats in SOFTWARE_CACHES.items():
        for name in CACHE_FORMATS:
            if name in formats:
                check_cache(program, name)
            else:
                with pytest.raises(PlanError, match="vllm") as refused:
                    check_cache(program, name)
                assert refused.value.field == "kv_dtype"
    check_cache("", "int4")
    check_cache("gpt-fast", "fp16")
    with pytest.raises(PlanError):
        check_cache("gpt-fast", "int8")
    own = ServingStack.ideal()
    assert question_of("llama3-8b", "dgx-h100", kv_dtype="int4", stack=own, **LENGTHS).kv_dtype == "int4"


def test_programs_of_the_table_are_those_of_stacks():
    assert set(SOFTWARE_CACHES) <= {stack.program for stack in serving_stacks.values()}
    assert serving_stacks[USUAL].typical("mi300x").program == serving_stacks[USUAL].program


@pytest.mark.parametrize(
    ("word", "chip", "stack", "kv_dtype"),
    [
        ("NVFP4", "dgx-b200", None, "fp4"),
        ("NVFP4", "dgx-h100", None, "fp8"),
        ("INT8", "dgx-h100", "vllm-0.6", "int8"),
        ("INT8", "dgx-h100", None, "fp8"),
        ("FP8", "dgx-h100", None, "fp8"),
        ("FP8", "dgx-a100", None, "bf16"),
        (None, "dgx-h100", None, "bf16"),
    ],
)
def test_the_cache_of_a_checkpoint_is_taken_where_it_can_be_and_said(word, chip, stack, kv_dtype):
    config = {"quant_method": "modelopt", "quant_algo": "FP8", "kv_cache_quant_algo": word}
    model = Model.of_config(LLAMA | {"quantization_config": config}, "m")
    question = question_of(model, chip, stack=stack, **LENGTHS)
    assert question.kv_dtype == kv_dtype
    assert ("file says" in question.cache) == bool(word)
    same = bool(word) and stored_format(word, tuple(CACHE_FORMATS)) == kv_dtype
    assert question.cache.endswith("as the checkpoint's file says") == same
    asked = question_of(model, "dgx-h100", kv_dtype="bf16", **LENGTHS)
    assert asked.kv_dtype == "bf16"


def test_an_answer_says_the_bytes_and_that_no_kernel_was_timed():
    found = plan_serving("llama3-8b", "dgx-b200", gpus=1, kv_dtype="fp4", **LENGTHS)
    assert "cache in fp4 of 0.5625 B an element" in found.table()
    assert "no kernel of a cache in fp4" in found.explain()
    assert found.json()["cache"] == cache_words(models["llama3-8b"], "fp4")
    assert cache_words(models["llama3-8b"], "fp8") == "fp8"


def test_vllm_is_told_of_every_format():
    for kv_dtype, word in (("int8", "int8_per_token_head"), ("int4", "int4_per_token_head"), ("fp8", "fp8")):
        plan = plan_serving("llama3-8b", "dgx-h100", gpus=1, kv_dtype=kv_dtype, stack="vllm-0.6", **LENGTHS)[0].plan
        launch = emit(plan, "vllm")
        assert launch.commands[0].value("--kv-cache-dtype") == word
        assert not any("a cache in" in line for line in launch.not_expressed)


def test_no_format_is_read_in_less_than_its_bytes_take():
    for key in ("b200-sxm", "h100-sxm", "mi300x"):
        chip = accelerators[key]
        for model in (models["llama3-70b"], models["deepseek-v3"]):
            for name in cache_formats_of(model, chip):
                layer = LayerAttention(model, kernel_chip(chip), 1, name, "trtllm")
                for batch, context in ((1, 1000.0), (64, 8192.0), (256, 65_536.0)):
                    assert cache_time(layer, batch, context) >= cache_least(layer, batch, context), (key, name, batch)
