"""Bytes of checkpoints of 2025 and 2026 in the precision that their files say, beside sizes printed in public."""

from typing import Any, NamedTuple

import pytest

from hwlib.specs import Model, SpecError
from hwlib.specs.model import CONFIGURED
from hwlib.specs.module_names import NamePatterns, names_in, names_in_module
from hwlib.specs.reader import rows_of
from hwlib.specs.table import file_text
from hwlib.transformer.stored_weights import formats, stored_weight_bytes
from tests.each import each
from tests.hwlib.test_stored_weights import LLAMA2, OSS, V3, packed
from tests.hwlib.test_stored_weights_mixed import encoder_bytes

CONFIGS = {key: row["config"] for key, row in rows_of(CONFIGURED, file_text(CONFIGURED)).items()}
LLAMA_8B = LLAMA2 | {
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "vocab_size": 128256,
}
EXO = "github.com/exo-explore/exo at b5375f8c, June 2026: total_size of the index of "
ATLAS = "github.com/0xBakeer/inference-atlas, pull request 151, August 2026: on disk"
LOADERS = "github.com/lyogavin/airllm, pull request 308, July 2026: "
GIB = 2**30


class Published(NamedTuple):
    """A checkpoint: the fields of its model and how these are stored, and bytes with the month of who printed them.

    `near` is how far both may be from each other, of all; `images` says that the encoder of images of Qwen3.5 and 3.6
    is among the bytes, `mtp` that modules for multi-token prediction are.
    """

    key: str
    stored: dict[str, Any] | None
    size: float
    source: str
    first: str
    near: float = 1e-5
    images: bool = False
    mtp: bool = False


def mlx(bits, group=64, **others):
    """What MLX writes."""
    return {"group_size": group, "bits": bits, **others}


def in_layers(layers, *paths, before="model.layers"):
    return [f"{before}.{i}{path}" for i in layers for path in paths]


def routers(layers, *names):
    """Routers that MLX keeps in 8 bits."""
    return dict.fromkeys(in_layers(range(layers), *names, before="language_model.model.layers"), mlx(8))


BLOCKS = {"quant_method": "fp8", "weight_block_size": [128, 128], "activation_scheme": "dynamic"}
NVFP4 = {"quant_method": "modelopt", "quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8", "group_size": 16}
NANO = [
    "lm_head",
    *in_layers((4, 11, 18, 25, 32, 41), ".mixer.in_proj", ".mixer.out_proj", before="backbone.layers"),
    *in_layers((5, 12, 19, 26, 33, 42), *[f".mixer.{x}_proj" for x in "qkvo"], before="backbone.layers"),
]
GLM = ["lm_head", "model.embed_tokens", "model.layers.0*", "model.layers.1.*", "model.layers.2.*", "model.layers.78*"]
GLM += in_layers(range(3, 78), ".self_attn*", ".mlp.shared_experts*")
FULL, HALF = {"quant_algo": "FP8"}, {"quant_algo": "W4A16_NVFP4", "group_size": 16}
STATES = [i for i in range(40) if (i + 1) % 4]
MIXED = {
    "quant_method": "modelopt",
    "quant_algo": "MIXED_PRECISION",
    "exclude_modules": ["mtp.layers.0*", "mtp*"],
    "quantized_layers": {"lm_head": HALF}
    | dict.fromkeys(in_layers(STATES, *[f".linear_attn.{x}" for x in ("out_proj", "in_proj_qkv", "in_proj_z")]), FULL)
    | dict.fromkeys(in_layers(range(3, 40, 4), *[f".self_attn.{x}_proj" for x in "qkvo"]), FULL)
    | dict.fromkeys(in_layers(range(40), ".mlp.experts"), HALF)
    | dict.fromkeys(in_layers(range(40), *[f".mlp.shared_expert.{x}_proj" for x in ("gate", "up", "down")]), HALF),
}
KIMI = packed(
    4,
    32,
    ignore=["lm_head", "re:.*self_attn.*", "re:.*shared_experts.*", r"re:.*mlp\.(gate|up|gate_up|down)_proj.*"],
)
NF4 = {
    "quant_method": "bitsandbytes",
    "load_in_4bit": True,
    "bnb_4bit_quant_type": "nf4",
    "bnb_4bit_use_double_quant": True,
}
NOT_EXPERTS = [*in_layers(range(36), *[f".self_attn.{x}_proj" for x in "qkvo"], ".mlp.router"), "lm_head"]
OSS_IN_MLX = mlx(4, 32, mode="mxfp4") | dict.fromkeys([*NOT_EXPERTS, "model.embed_tokens"], mlx(8, mode="affine"))
QWEN_35B = routers(40, ".mlp.gate", ".mlp.shared_expert_gate")
BESIDE = {"gpt-oss-120b": OSS, "llama-3.1-8b": LLAMA_8B}
PUBLISHED = [
    # compressed-tensors: integers of 4 bits for the experts; an encoder of images is among the bytes, 0.16 % of them
    Published("kimi-k2.5", KIMI, 595_148_192_736, EXO + "moonshotai/Kimi-K2.6", "2026-04", 2e-3),
    Published("kimi-k2.5", KIMI, 554.27 * GIB, LOADERS + "Kimi-K2.7-Code", "2026-06", 2e-3),
    # 8 bits in blocks; MiniMax's routers have 32 bits, 0.04 % of the bytes
    Published(
        "minimax-m2.5",
        BLOCKS | {"modules_to_not_convert": ["gate", "e_score_correction_bias", "lm_head"]},
        230_121_630_720,
        "github.com/alvarobartt/hf-mem at e9946791, June 2026: MiniMaxAI/MiniMax-M2, its safetensors",
        "2025-10",
        5e-4,
    ),
    Published("glm-5.2", BLOCKS, 703.72 * GIB, LOADERS + "GLM-5.2-FP8", "2026-06", mtp=True),
    # ModelOpt's NVFP4, alone and with 8 bits
    Published(
        "nemotron-3-nano",
        NVFP4 | {"exclude_modules": NANO},
        19_323_906_944,
        EXO + "mlx-community/NVIDIA-Nemotron-3-Nano-30B-A3B-NVFP4, which leaves out what NVIDIA's does",
        "2025-12",
    ),
    Published(
        "glm-5.2",
        NVFP4 | {"exclude_modules": GLM},
        464.8e9,
        "github.com/modal-projects/stitch, pull request 81, July 2026: nvidia/GLM-5.2-NVFP4",
        "2026-06",
        1.1e-4,
        mtp=True,
    ),
    Published("qwen3.6-35b-a3b", MIXED, 23.46e9, ATLAS, "2026-04", 2.5e-3, images=True, mtp=True),
    # bitsandbytes
    Published(
        "llama-3.1-8b",
        NF4,
        5.70e9,
        "the download of unsloth/llama-3-8b-Instruct-bnb-4bit, 5.70G, in a log of May 2025",
        "2024-04",
        9e-4,
    ),
    # MLX: groups of integers, and MXFP4 with 8 bits for what are no experts
    *[
        Published("qwen3.6-27b", mlx(bits), size, f"{EXO}mlx-community/Qwen3.6-27B-{bits}bit", "2026-04", 0, True)
        for bits, size in ((4, 16_054_262_240), (8, 29_500_938_720))
    ],
    *[
        Published(
            "qwen3.6-35b-a3b",
            mlx(bits) | QWEN_35B,
            size,
            f"{EXO}mlx-community/Qwen3.6-35B-A3B-{bits}bit; its routers' 8 bits are typed",
            "2026-04",
            images=True,
        )
        for bits, size in ((4, 20_401_929_952), (5, 24_731_729_632), (8, 37_721_128_672))
    ],
    *[
        Published("nemotron-3-nano", mlx(bits), size, f"{EXO}mlx-community's {bits} bits", "2025-12", 1e-6)
        for bits, size in ((4, 17_775_342_336), (5, 21_721_476_864), (8, 33_559_880_448))
    ],
    *[
        Published("glm-4.6", mlx(bits), size, f"{EXO}mlx-community/GLM-4.7-{bits}bit, of its shape", "2025-12", 1e-6)
        for bits, size in ((4, 198_556_925_568), (6, 286_737_579_648))
    ],
    Published("glm-5", mlx(8), 790_517_400_864, EXO + "mlx-community/GLM-5-8bit", "2026-02", 1e-6),
    Published("deepseek-v3.2", mlx(4), 378_086_226_621, EXO + "mlx-community/DeepSeek-V3.2-4bit", "2025-12", 2e-6),
    Published(
        "gpt-oss-120b",
        OSS_IN_MLX,
        63_414_972_073,
        "github.com/raullenchai/Rapid-MLX at 7222ca77, August 2026: mlx-community/gpt-oss-120b-MXFP4-Q8",
        "2025-08",
        3e-3,
    ),
    # without a quantiser
    Published("glm-5", None, 1_487_822_475_264, EXO + "mlx-community/GLM-5.1", "2026-04", 1e-6),
]


def model_of(checkpoint):
    fields = {
        name: value for name, value in (BESIDE | CONFIGS)[checkpoint.key].items() if name != "quantization_config"
    }
    return Model.of_config(fields | {"quantization_config": checkpoint.stored}, checkpoint.key)


@each("checkpoint", PUBLISHED)
def test_the_bytes_of_checkpoints_of_today_follow_from_their_files(checkpoint):
    model = model_of(checkpoint)
    images = encoder_bytes(model.width) if checkpoint.images else 0
    counted = stored_weight_bytes(model, mtp=checkpoint.mtp) + images
    assert counted == pytest.approx(checkpoint.size, rel=checkpoint.near, abs=0)


def test_the_rows_are_of_many_methods_and_of_models_of_today():
    exact = [row for row in PUBLISHED if row.near <= 5e-3]
    methods = {(row.stored or {}).get("quant_method", "mlx") for row in exact}
    today = {row.key for row in exact if row.first >= "2025-09"}
    assert len(exact) >= 8
    assert {"compressed-tensors", "fp8", "modelopt", "bitsandbytes", "mlx"} <= methods
    assert len(today) >= 4
    assert all(row.source for row in PUBLISHED)


@each(
    "others",
    ["mtp.layers.0*", "mtp*", "model.visual.layers.0", "vision_tower.encoder.layers.0*", "audio_tower.layers.0.mlp"],
)
def test_the_layers_of_another_part_are_none_of_the_language_model(others):
    patterns = NamePatterns([others])
    assert not patterns.match(names_in(0, "up"))
    assert patterns.match(names_in_module(0, 40, "up")) == others.startswith("mtp")
    for own in ("model.layers.0*", "language_model.model.layers.0.mlp", "model.language_model.layers.0"):
        assert NamePatterns([own]).match(names_in(0, "up"))


@each(
    "left_out",
    [
        (["model.layers.61*"], True),
        (["model.layers.61.mlp.experts"], True),
        (["mtp.*"], True),
        (["re:^mtp.*"], True),
        (["*mtp*"], True),
        (["model.layers.6*"], True),
        (["model.layers.0*"], False),
        (["model.layers.60*"], False),
        (["mtp.layers.1*"], False),
    ],
)
def test_a_module_for_the_tokens_after_the_next_is_left_out_by_its_own_number(left_out):
    names, plain = left_out
    model = Model.of_config(V3 | {"quantization_config": NVFP4 | {"exclude_modules": names}}, "m")
    experts = model.quantisation.in_module(0, model.layers, "expert up")
    assert experts.plain == plain
    assert stored_weight_bytes(model, mtp=True) > stored_weight_bytes(model)


def test_copies_of_both_tables_are_counted_where_they_are_asked_for():
    model = Model.of_config(V3, "m")
    tables = 2 * model.vocab * model.width * 2
    shared = stored_weight_bytes(model, mtp=True)
    assert stored_weight_bytes(model, mtp=True, copied_tables=True) - shared == tables
    assert stored_weight_bytes(model, copied_tables=True) == stored_weight_bytes(model)


@each(
    "listed",
    [
        ({"model.layers.0.mlp": False}, 16),
        ({"model.layers.0.mlp": True}, 4),
        ({"model.layers.0.mlp.gate_proj": mlx(8)}, 8),
        ({"model.layers.0.mlp.gate_proj": mlx(4, 32, mode="mxfp4")}, 4),
        ({"model.layers.0.mlp.gate_proj": mlx(8, 32, mode="mxfp8")}, 8),
        ({"model.layers.0.mlp.gate_proj": mlx(4, 16, mode="nvfp4")}, 4),
        ({"model.layers.1.mlp.gate_proj": mlx(8)}, 4),
        ({"model.layers.0.mlp": mlx(8)}, 8),
    ],
)
def test_mlx_lists_modules_of_other_formats(listed):
    modules, bits = listed
    model = Model.of_config(LLAMA_8B | {"quantization": mlx(4) | modules}, "m")
    assert model.quantisation.in_layer(0, "gate").bits == bits
    assert formats(model)["mlp"].bits == 4


@each(
    "wrong",
    [
        ({"model.layers.0.mlp": 3}, "layers.0.mlp"),
        ({"model.layers.0.mlp": {"bits": 9}}, "bits"),
        ({"model.layers.0.mlp": mlx(4, twist=2)}, "twist"),
        ({"mode": "ternary"}, "mode"),
        ({"mode": "mxfp4"}, "group_size"),
        ({"mode": "nvfp4", "group_size": 16, "bits": 8}, "bits"),
    ],
)
def test_what_mlx_does_not_write_is_refused_by_its_field(wrong):
    fields, name = wrong
    with pytest.raises(SpecError, match=name):
        Model.of_config(LLAMA_8B | {"quantization": mlx(4) | fields}, "m")
