"""Quantised checkpoints: read from every form that their files have, and never planned in 16 bits without a word."""

import json
import random
from contextlib import suppress
from pathlib import Path

import pytest

from hwlib.planner import PlanError, SoftwareSettings
from hwlib.planner.task import task_of
from hwlib.serving_planner import question_of
from hwlib.specs import Model, SpecError, read_config
from tests.each import each
from tests.hwlib.test_hf_config import LLAMA, TOLD

FILES = Path(__file__).parent / "data" / "configs"
OSS, V3, LITE = "gpt-oss-120b.json", "deepseek-v3.json", TOLD["DeepSeek-V2-Lite"][1]
LOAD = {"prompt": 512, "output": 64}
FP8 = {"quant_method": "fp8", "fmt": "e4m3", "activation_scheme": "dynamic", "weight_block_size": [128, 128]}
AWQ = {"quant_method": "awq", "bits": 4, "group_size": 128, "modules_to_not_convert": None, "zero_point": True}


def tensors(bits, kind="int", **others):
    """A group of compressed-tensors."""
    return {"num_bits": bits, "type": kind, "group_size": 128, **others}


# The configuration of a method, its bits, and the precisions of a server that come nearest, as on B200 and on A100
METHODS = [
    (AWQ, 4, "int4w", "int4w"),
    ({"quant_method": "gptq", "bits": 4, "desc_act": False, "sym": True}, 4, "int4w", "int4w"),
    ({"quant_method": "gptq", "bits": 8}, 8, "int8w", "int8w"),
    ({"quant_method": "gptq", "bits": 3}, 3, "int4w", "int4w"),
    ({"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}, 4, "int4w", "int4w"),
    ({"quant_method": "bitsandbytes", "load_in_8bit": True, "load_in_4bit": False, "bnb_4bit_quant_type": "fp4"},
     8, "int8w", "int8w"),
    (FP8, 8, "fp8", "int8w"),
    ({"quant_method": "fbgemm_fp8", "activation_scale_ub": 1200.0}, 8, "fp8", "int8w"),
    ({"quant_method": "compressed-tensors", "format": "float-quantized", "ignore": ["lm_head"],
      "config_groups": {"group_0": {"weights": tensors(8, "float"), "input_activations": tensors(8, "float")}}},
     8, "fp8", "int8w"),
    ({"quant_method": "compressed-tensors", "format": "pack-quantized",
      "config_groups": {"group_0": {"weights": tensors(4), "input_activations": None}}}, 4, "int4w", "int4w"),
    ({"quant_method": "compressed-tensors", "format": "nvfp4-pack-quantized",
      "config_groups": {"group_0": {"weights": tensors(4, "float"), "input_activations": tensors(4, "float")}}},
     4, "fp4", "int4w"),
    ({"quant_method": "compressed-tensors", "format": "nvfp4-pack-quantized",
      "config_groups": {"group_0": {"weights": tensors(4, "float"), "input_activations": None}}}, 4, "int4w", "int4w"),
    ({"quant_method": "modelopt", "quant_algo": "NVFP4", "producer": {"name": "modelopt", "version": "0.29"}},
     4, "fp4", "int4w"),
    ({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION",
      "quantized_layers": {"a": {"quant_algo": "FP8"}, "b": {"quant_algo": "NVFP4"}}}, None, "", ""),
    ({"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp8_e4m3"}, "input_tensors":
      {"dtype": "fp8_e4m3"}, "output_tensors": None}, "exclude": ["lm_head"]}, 8, "fp8", "int8w"),
    ({"quant_method": "hqq", "quant_config": {"weight_quant_params": {"nbits": 4, "group_size": 64},
      "scale_quant_params": {"nbits": 8}}}, 4, "int4w", "int4w"),
    ({"quant_method": "eetq", "weights": "int8"}, 8, "int8w", "int8w"),
    ({"quant_method": "quanto", "weights": "int4", "activations": None}, 4, "int4w", "int4w"),
    ({"quant_method": "aqlm", "in_group_size": 8, "nbits_per_codebook": 16}, None, "", ""),
    ({"quant_method": "torchao", "quant_type": "int4_weight_only"}, 4, "int4w", "int4w"),
    ({"quant_method": "torchao", "quant_type": {"default": {"_type": "Int8DynamicActivationInt4WeightConfig",
      "_data": {"group_size": 32}}}}, 4, "int4w", "int4w"),
    ({"quant_method": "torchao", "quant_type": {"default": {
      "_type": "Float8DynamicActivationFloat8WeightConfig"}}}, 8, "fp8", "int8w"),
    ({"quant_method": "auto-round", "bits": 4, "extra_config": {"lm_head": {"bits": 16}}}, 4, "int4w", "int4w"),
    ({"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]}, 4, "fp4", "int4w"),
    ({"group_size": 64, "bits": 4}, 4, "int4w", "int4w"),  # MLX names no method
    ({"quant_method": "torchao", "quant_type": {"default": {"_type": "Int8DynamicActivationIntxWeightConfig", "_data":
      {"weight_dtype": {"_data": "int4", "_type": "torch.dtype"}}}}}, 4, "int4w", "int4w"),
    ({"quant_method": "torchao", "quant_type": {"default": {"_type": "Float8DynamicActivationFloat8WeightConfig",
      "_data": {"activation_dtype": {"_data": "float8_e4m3fn", "_type": "torch.dtype"}, "weight_dtype": {"_data":
      "float8_e4m3fn", "_type": "torch.dtype"}}}}}, 8, "fp8", "int8w"),
    ({"quant_method": "w4afp8"}, 4, "int4w", "int4w"),
    ({"quant_method": "modelopt", "quant_algo": "W4A8_AWQ"}, 4, "int4w", "int4w"),
    ({"quant_method": "modelopt", "quant_algo": "W4A8_NVFP4_FP8"}, 4, "fp4", "int4w"),
    ({"quant_method": "auto-round", "bits": 4, "data_type": "mx_fp", "act_bits": 4}, 4, "fp4", "int4w"),
    ({"quant_method": "auto-round", "bits": 4, "data_type": "mx_fp", "act_bits": 16}, 4, "int4w", "int4w"),
    ({"quant_method": "auto-round", "bits": 8, "data_type": "fp8_sym", "act_bits": 8}, 8, "fp8", "int8w"),
    ({"quant_method": "auto-round", "bits": 4, "data_type": "int", "act_bits": 16}, 4, "int4w", "int4w"),
    ({"quant_method": "compressed-tensors", "format": "dense", "config_groups": {}, "kv_cache_scheme":
      {"num_bits": 8, "type": "float"}}, None, "bf16", "bf16"),
    ({"quant_method": "modelopt", "quant_algo": None, "kv_cache_quant_algo": "FP8"}, None, "bf16", "bf16"),
    ({"quant_method": "compressed-tensors", "format": "dense", "config_groups": {}, "sparsity_config":
      {"format": "sparse-24-bitmask"}}, None, "", ""),
]  # fmt: skip


def of(config, field="quantization_config", **others):
    return Model.of_config(LLAMA | {field: config} | others, "mine")


@each("method", METHODS)
def test_a_method_is_read_and_planned_in_the_precision_that_comes_nearest(method):
    config, bits, on_b200, on_a100 = method
    model = of(config)
    assert (bool(model.quantisation), model.quantisation.bits) == (True, bits)
    assert config.get("quant_method", "") in str(model.quantisation)
    for node, nearest in (("dgx-b200", on_b200), ("dgx-a100", on_a100)):
        if not nearest:
            with pytest.raises(PlanError) as error:
                question_of(model, node, **LOAD)
            assert error.value.field == "dtype"
            assert str(model.quantisation) in error.value.problem
        for asked in (nearest or "bf16", None if nearest else "bf16"):
            question = question_of(model, node, dtype=asked, **LOAD)
            assert question.dtype == (nearest or "bf16")
            assert f"{model.quantisation}; planned in {question.dtype}" in str(question)


@each(
    "unknown",
    [
        ({"quant_method": "of tomorrow"}, "quant_method"),
        ({"quant_method": "modelopt", "quant_algo": "FP6"}, "quant_algo"),
        (AWQ | {"bits": 9}, "bits"),
        (AWQ | {"rank_of_correction": 32}, "rank_of_correction"),
        (FP8 | {"weight_block_size": [128]}, "weight_block_size"),
        (FP8 | {"fmt": "e2m1"}, "fmt"),
        (FP8 | {"modules_to_not_convert": "lm_head, gate", "ignored_layers": 3}, "ignored_layers"),
        ({"quant_method": "modelopt", "quant_algo": "FP8", "kv_cache_quant_algo": "vector"}, "kv_cache_quant_algo"),
        (
            {"quant_method": "compressed-tensors", "config_groups": {"g": {"weights": {"num_bits": 4, "twist": 2}}}},
            "twist",
        ),
        ({"quant_method": "compressed-tensors", "config_groups": [1]}, "config_groups"),
        ({"quant_method": "torchao", "quant_type": "ternary"}, "quant_type"),
        ({"quant_method": "compressed-tensors", "ignore": ["re:(a+)+$"]}, "regular expression"),
        ({"quant_method": "compressed-tensors", "ignore": ["re:("]}, "regular expression"),
        ({"some": "thing"}, "the method"),
    ],
)
def test_what_is_not_known_is_refused_and_names_its_field(unknown):
    config, name = unknown
    with pytest.raises(SpecError, match=name):
        of(config)


MODELOPT = {
    "quant_method": "modelopt",
    "quant_algo": "NVFP4",
    "ignore": ["lm_head"],
    "kv_cache_scheme": {"num_bits": 8, "type": "float"},
}
BESIDE = {"quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8", "group_size": 16, "exclude_modules": ["lm_head"]}


def test_two_files_that_agree_are_one_and_two_that_differ_are_refused():
    def both(**changed):
        beside = {"producer": {"name": "modelopt"}, "quantization": BESIDE | changed}
        return of(MODELOPT, **{"hf_quant_config.json": beside}).quantisation

    assert both() == both(kv_cache_quant_algo=None)  # what the one leaves open, the other says
    assert both().whence == "quantization_config and hf_quant_config.json"
    assert both().reading.cache == "fp8"
    for changed, what in (
        ({"quant_algo": "FP8"}, "bits"),
        ({"kv_cache_quant_algo": "NVFP4"}, "type of the cache"),
        ({"exclude_modules": ["lm_head", "*self_attn*"]}, "modules left out"),
        ({"quant_algo": "W4A16_NVFP4"}, "format of weights"),
        ({"group_size": 32}, "format of weights"),
    ):
        with pytest.raises(SpecError, match=rf"hf_quant_config\.json: expected the same {what}"):
            both(**changed)


@each("field", ["compression_config", "quantization"])
def test_older_fields_say_the_same(field):
    assert of(AWQ, field).quantisation == of(AWQ).quantisation


def test_a_checkpoint_may_say_it_in_the_part_of_its_text_or_by_the_type_of_its_weights():
    from hwlib.specs.config_fields import Config
    from hwlib.specs.quantisation import quantisation_of

    text = {"text_config": LLAMA | {"quantization_config": AWQ}, "model_type": "llava"}
    for fields in (text, {"text_config": LLAMA, "model_type": "llava", "quantization_config": AWQ}):
        assert Model.of_config(fields, "mine").quantisation == of(AWQ).quantisation
    with pytest.raises(SpecError, match="quantization_config"):
        Model.of_config(text | {"quantization_config": FP8}, "mine")
    assert quantisation_of(Config("x", {"torch_dtype": "float8_e4m3fn"})).bits == 8
    assert not quantisation_of(Config("x", {"torch_dtype": "bfloat16", "dtype": "float16"}))
    assert not quantisation_of(Config("x", {"torch_dtype": "float32"}))


@each(
    "nothing",
    [
        None,
        {},
        {"quant_method": "compressed-tensors", "format": "dense", "config_groups": {}},
        {"quant_method": None},
        {"load_in_4bit": False, "load_in_8bit": False, "quant_method": "bitsandbytes"},
        {"quantization": {"quant_algo": None, "kv_cache_quant_algo": None}, "producer": {"name": "modelopt"}},
    ],
)
def test_a_configuration_that_says_nothing_is_of_a_checkpoint_in_16_bits(nothing):
    for model in (of(nothing), Model.of_config(LLAMA, "mine")):
        assert model.quantisation is not None
        assert not model.quantisation
        question = question_of(model, "dgx-h100", **LOAD)
        assert (question.dtype, "quantised" in str(question)) == ("bf16", False)
        assert "quantised" not in str(task_of(model, "dgx-h100", B=2**20))


@each("wrong", ["awq", [AWQ], 4, True])
def test_a_configuration_that_is_no_object_is_an_error_that_names_the_field(wrong):
    with pytest.raises(SpecError, match="quantization_config: expected an object of fields"):
        of(wrong)


def test_a_file_beside_the_config_says_it_too(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(LLAMA), "utf-8")
    assert not read_config(tmp_path).quantisation
    beside = tmp_path / "hf_quant_config.json"
    algorithm = {"quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8", "exclude_modules": ["lm_head"]}
    beside.write_text(json.dumps({"producer": {"name": "modelopt"}, "quantization": algorithm}), "utf-8")
    for path in (tmp_path, tmp_path / "config.json"):
        assert str(read_config(path).quantisation) == "modelopt NVFP4, 4 bit, cache in FP8"
    (tmp_path / "config.json").rename(tmp_path / "other.json")
    assert not read_config(tmp_path / "other.json").quantisation  # of whatever lies in that folder
    (tmp_path / "other.json").rename(tmp_path / "config.json")
    beside.write_text(json.dumps({"quantization": {"quant_algo": None, "kv_cache_quant_algo": None}}), "utf-8")
    assert not read_config(tmp_path).quantisation
    beside.write_text("{", "utf-8")
    with pytest.raises(SpecError, match=r"hf_quant_config\.json"):
        read_config(tmp_path)
    beside.unlink()
    (tmp_path / "quantize_config.json").write_text(json.dumps({"bits": 4, "group_size": 128}), "utf-8")
    assert read_config(tmp_path).quantisation.bits == 4


def test_what_is_modelled_as_published_needs_no_word():
    for name, dtype in ((OSS, "mxfp4"), (V3, "fp8")):
        question = question_of(read_config(FILES / name), "16xdgx-h200", **LOAD)
        assert (question.dtype, "quantised" in str(question)) == (dtype, False)
        other = question_of(read_config(FILES / name), "16xdgx-h200", dtype="bf16", **LOAD)
        assert "planned in bf16" in str(other)
        older = question_of(read_config(FILES / name), "16xdgx-a100", **LOAD)
        assert (older.dtype, "planned in bf16" in str(older)) == ("bf16", True)


def test_only_the_published_form_of_such_a_model_is_timed_as_its_kernels_are():
    v3, oss = (json.loads((FILES / name).read_text("utf-8")) for name in (V3, OSS))
    for fields, config, dtype in (
        (v3, {"quant_method": "modelopt", "quant_algo": "NVFP4"}, "int4w"),
        (v3, AWQ, "int4w"),
        (v3, FP8 | {"weight_block_size": None}, "fp8"),
        (v3, FP8 | {"modules_to_not_convert": ["model.layers.0.mlp"]}, "fp8"),
        (oss, AWQ, "int4w"),
        (LLAMA, FP8, "fp8"),
    ):
        model = Model.of_config(fields | {"quantization_config": config}, "m")
        question = question_of(model, "16xdgx-h200", **LOAD)
        assert (question.dtype, bool(question.precisions.get("stored"))) == (dtype, True)
        assert f"planned in {dtype}" in str(question)
    lite = Model.of_config(LITE | {"quantization_config": {"quant_method": "mxfp4"}}, "m")
    assert question_of(lite, "16xdgx-h200", **LOAD).precisions["expert_dtype"] == "int4w"
    for fields in (v3, oss, LITE):  # put into 16 bits by somebody, or published so
        model = Model.of_config(fields | {"quantization_config": None}, "m")
        assert question_of(model, "16xdgx-h200", **LOAD).dtype == "bf16"


def test_training_from_a_quantised_checkpoint_says_the_precision_of_the_plan():
    for model in (of(AWQ), read_config(FILES / V3)):
        task = task_of(model, "4xdgx-h100", B=2**20, T=2048)
        assert f"{model.quantisation}; planned in bf16" in str(task)
    assert "planned in fp8" in str(task_of(of(AWQ), "dgx-h100", B=2**20, software=SoftwareSettings(dtype="fp8")))


def test_models_of_the_tables_and_of_ones_own_are_no_checkpoints():
    assert Model.small().quantisation is None
    assert question_of("deepseek-v3", "16xdgx-h200", **LOAD).dtype == "fp8"
    assert question_of("gpt-oss-120b", "dgx-h100", **LOAD).dtype == "mxfp4"
    assert of(AWQ).replace(layers=2).quantisation == of(AWQ).quantisation


def changed(rng, content):
    """The same configuration with some fields of other kinds, however deep."""
    odd = [
        None,
        True,
        -1,
        2**70,
        float("nan"),
        "x" * 999,
        [],
        {},
        ["a"],
        ["re:("],
        [1],
        {"a": {}},
        "FP8",
        4.5,
        [128, 0],
    ]
    copy = json.loads(json.dumps(content))
    waiting = [copy]
    while waiting:
        fields = waiting.pop()
        for _ in range(rng.randint(0, 2)):
            fields[rng.choice([*fields, "bits", "ignore", "config_groups", "quant_algo"])] = rng.choice(odd)
        waiting += [value for value in fields.values() if isinstance(value, dict) and value]
    return copy


def test_a_hostile_configuration_ends_in_a_sentence():
    rng = random.Random(5)
    for config, *_ in METHODS * 12:
        with suppress(SpecError):
            quantisation = of(changed(rng, config)).quantisation
            assert isinstance(str(quantisation), str)
