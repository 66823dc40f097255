"""The language model within the `config.json` of a model that also sees, hears or speaks.

Such a file wraps the fields of its language model in a field of their own, sometimes twice. They are taken by
themselves; the parts beside them are named, with their size where the file tells it. A field of the wrapper that is
neither part of that nor harmless is refused like any other.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from hwlib.specs.config_fields import HARMLESS, NOTHING, Config
from hwlib.specs.table import SpecError

LANGUAGE = (
    "text_config",
    "llm_config",
    "language_config",
    "thinker_config",
    "language_model_config",
    "text_model_config",
    "lm_config",
)
"""Fields that hold the language model of a larger one, or what wraps it in turn."""
DEEPEST = 4  # wrappers within wrappers that are opened
SENSES = (
    "vision|visual|image|img|video|audio|speech|sound|media|pixel|patch|vit|tts|talker|code2wav|token2wav|vocoder|mm|"
    "multimodal|projector|encoder|connector|resampler|perceiver|abstractor|merger|adapter|codec|dac"
)
"""Words that name a part for other senses than text in the name of a field."""
BESIDE = re.compile(rf"(\w*_)?({SENSES})(s?_?\w*)")
OF_WRAPPERS = re.compile(
    r"(boi|eoi|boa|eoa|bov|eov)_token\w*|ignore_index|spatial_merge_size|scale_factor|downsample_ratio|"
    r"(min|max)_dynamic_\w+|dynamic_\w+|ps_version|select_layer|template|use_(backbone|llm)_lora|use_thumbnail|"
    r"pad2square|tile_tag|global_view_pos|candidate_resolutions|position_id_per_seconds|seconds_per_chunk|"
    r"user_token\w*|system_token\w*|assistant_token\w*|enable_talker|num_reward_heads|language_model_only|"
    r"projection_(hidden_size|layer_norm_eps)|conversation_formatter_class|disable_tie_weight"
)
"""Names of a wrapper's fields that say how other senses reach the language model, and nothing of its parameters."""
HANDED_DOWN = ("tie_word_embeddings", "vocab_size", "torch_dtype", "dtype")
"""Fields of a wrapper that hold of the language model within it."""
STORED = ("quantization_config", "compression_config", "quantization")
"""Fields that say how all weights are stored, the language model's among them."""
USUAL_TEXT = MappingProxyType(
    {
        "llava": "llama",
        "llava_next": "llama",
        "llava_next_video": "llama",
        "llava_onevision": "qwen2",
        "paligemma": "gemma",
        "gemma3": "gemma3_text",
        "mistral3": "mistral",
        "pixtral": "mistral",
        "llama4": "llama4_text",
        "qwen2_vl": "qwen2_vl_text",
        "qwen2_5_vl": "qwen2_5_vl_text",
        "qwen3_vl": "qwen3_vl_text",
        "qwen3_vl_moe": "qwen3_vl_moe_text",
        "qwen3_5": "qwen3_5_text",
        "qwen3_5_moe": "qwen3_5_moe_text",
        "minimax_m3_vl": "minimax_m3",
        "gemma4": "gemma4_text",
        "glm4v_moe": "glm4v_moe_text",
        "idefics3": "llama",
        "smolvlm": "llama",
    }
)
"""The type of the language model of a wrapper whose file does not name it, as Transformers has it."""
ABSENT: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        "gemma3_text": {
            "num_attention_heads": 8,
            "num_key_value_heads": 4,
            "head_dim": 256,
            "vocab_size": 262208,
            "max_position_embeddings": 131072,
        },
        "llama": {
            "hidden_size": 4096,
            "intermediate_size": 11008,
            "num_hidden_layers": 32,
            "num_attention_heads": 32,
            "vocab_size": 32000,
        },
    }
)
"""What a part has that its wrapper leaves out, as the classes in Transformers, which write only what differs."""
DEPTH = ("num_hidden_layers", "depth", "vt_num_hidden_layers", "encoder_layers", "n_layers", "layers")
# beside embed_dim a hidden size is that of the output
WIDTH = ("embed_dim", "hidden_size", "vt_hidden_size", "d_model", "width")
INNER = ("intermediate_size", "vt_intermediate_size", "encoder_ffn_dim", "ffn_dim")
RATIO = "mlp_ratio"


def language_part(config: Config) -> tuple[Config, tuple[str, ...]]:
    """The fields of the language model, and what stands beside it, in words; of a file without a wrapper its own.

    Raises SpecError, which names the field.
    """
    beside: list[str] = []
    for _ in range(DEEPEST):
        part = _part_of(config)
        if part is None:
            return config, tuple(beside)
        beside += _others(config, part)
        config = _opened(config, part)
    raise SpecError(f"{config.where}: expected a language model within {DEEPEST} wrappers, got one more")


def _part_of(config: Config) -> str | None:
    """The field that holds the language model, if one does."""
    parts = [name for name in LANGUAGE if config.fields.get(name) not in NOTHING]
    for name in parts:
        if not isinstance(config.fields[name], Mapping):
            raise config.wrong(name, "an object of fields, those of a language model")
    if len(parts) > 1:
        raise config.wrong(parts[1], f"one language model, and there is {parts[0]} too")
    return parts[0] if parts else None


def _opened(config: Config, part: str) -> Config:
    """The fields within a wrapper, with those of the wrapper that hold there."""
    inner = dict(config.fields[part])
    where = f"{config.where}, {part}"
    for name in (*HANDED_DOWN, *STORED):
        outer = config.fields.get(name)
        if outer is None:
            continue
        if name in inner and inner[name] is not None and inner[name] != outer and name not in ("torch_dtype", "dtype"):
            raise Config(where, inner).wrong(name, f"{_short(outer)} as beside it")
        if inner.get(name) is None:
            inner[name] = outer
    kind = config.fields.get("model_type")
    if inner.get("model_type") is None and isinstance(kind, str):
        inner["model_type"] = USUAL_TEXT.get(kind, kind)
    absent = ABSENT.get(str(inner.get("model_type")), {})
    inner |= {name: value for name, value in absent.items() if inner.get(name) is None}
    inner |= {name: value for name, value in config.fields.items() if name.endswith(".json")}
    return Config(where, inner)


def _others(config: Config, part: str) -> list[str]:
    """The parts beside the language model, each with its size where the file tells it. Refuses other fields."""
    known = {part, "model_type", "architectures", *HANDED_DOWN, *STORED}
    beside = []
    for name, value in config.fields.items():
        if name in known or name.endswith(".json") or value in NOTHING:
            continue
        if _is_part(name, value):
            beside.append(size_words(name, value))
        elif not (is_beside(name) or re.fullmatch(HARMLESS, name)):
            raise SpecError(
                f"{config.where}: {name} = {_short(value)} is not understood beside {part}, and the parameters of the "
                f"language model might depend on it; it would have to be of images, sound or tokens alone"
            )
    return beside


def is_beside(name: str) -> bool:
    """Whether a field is of other senses than text, by its name."""
    return bool(BESIDE.fullmatch(name) or OF_WRAPPERS.fullmatch(name))


def _is_part(name: str, value: object) -> bool:
    """Whether a field holds a part of the model with parameters of its own."""
    return isinstance(value, Mapping) and bool(BESIDE.fullmatch(name))


def size_words(name: str, part: Mapping[str, Any]) -> str:
    """A part that is not counted: its layers and width, and the parameters of their matrices at least."""
    layers, width = _number(part, DEPTH), _number(part, WIDTH)
    if not layers or not width:
        return name
    ffn = _number(part, INNER) or round(width * _ratio(part))
    least = layers * (4 * width**2 + 2 * width * ffn)
    return f"{name} ({layers} layers of width {width:,}, at least {least:,} parameters)"


def _ratio(part: Mapping[str, Any]) -> float:
    ratio = part.get(RATIO)
    return ratio if isinstance(ratio, (int, float)) and not isinstance(ratio, bool) and 0 < ratio < 100 else 0.0


def _number(part: Mapping[str, Any], names: tuple[str, ...]) -> int:
    """The first of these fields that is a whole number above 0, and 0 without one."""
    values = (part.get(name) for name in names)
    return next((x for x in values if isinstance(x, int) and not isinstance(x, bool) and 0 < x < 2**31), 0)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
