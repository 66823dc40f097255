"""Names of architectures that stand for a known one, and what the legacy ones among them call their fields.

`ALIASES` are types whose language model has the layers of another; `READERS` adds to the architectures of
`hwlib.specs.architectures`, `hwlib.specs.mixed_architectures`, `hwlib.specs.windowed_architectures` and
`hwlib.specs.newer_architectures` those that are read here.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from hwlib.specs.architectures import (
    ARCHITECTURES,
    Shape,
    attention_biases,
    experts,
    gpt,
    usual,
)
from hwlib.specs.config_fields import Config
from hwlib.specs.mixed_architectures import MIXED
from hwlib.specs.newer_architectures import NEWER
from hwlib.specs.windowed_architectures import WINDOWED

ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "qwen3_vl_text": "qwen3",
        "qwen3_vl_moe_text": "qwen3_moe",
        "qwen3_omni_moe_text": "qwen3_moe",
        "qwen2_vl": "qwen2",
        "qwen2_vl_text": "qwen2",
        "qwen2_5_vl": "qwen2",
        "qwen2_5_vl_text": "qwen2",
        "qwen2_5_omni_text": "qwen2",
        "llava_llama": "llama",
        "llava_qwen": "qwen2",
        "llava_mistral": "mistral",
        "ministral3": "mistral",
        "glm4v_moe_text": "glm4_moe",
        "Yi": "llama",
        "deepseek_ref": "deepseek_v4",
    }
)
"""The type that each of these names is of, by the layers of its language model."""
SEEING = ("qwen2_vl", "qwen2_5_vl", "llava_llama", "llava_qwen", "llava_mistral")
"""Types that stand beside their vision part in one object, without a field for the language model."""


def _phi_msft(c: Config) -> Shape:
    """Phi as it was published first, with the names of GPT-2's fields."""
    shape = gpt(c, tied=False) | {"biases": "all", "head_bias": True, "parallel": True, "layer_norms": 1}
    kv_heads = c.count("n_head_kv", "num_key_value_heads", default=shape["heads"])
    return shape | {"kv_heads": kv_heads, "context": c.count("n_positions", "max_position_embeddings")}


def _minimax_m2(c: Config) -> Shape:
    """Mixtral's layers; gains of queries and keys over all heads, and a bias that steers the router."""
    shape = usual(c, needs_kv=True) | attention_biases(c)
    shape |= experts(c, "num_local_experts", "intermediate_size")
    shape |= {"qk_norm": c.flag("use_qk_norm", False), "router_bias": c.flag("use_routing_bias", True)}
    c.only("qk_norm_type", "per_layer")
    c.only("shared_intermediate_size", 0)
    c.only("attn_type_list", [1] * shape["layers"])
    modules = c.count("num_mtp_modules", default=0, low=0) * c.count("mtp_transformer_layers", default=1)
    mtp = modules if c.flag("use_mtp", False) else 0
    return shape | {"qk_norm_full": shape["qk_norm"], "mtp_layers": mtp}


def _llama4(c: Config) -> Shape:
    """Llama 4: experts in every n-th layer, beside one that every token takes, and attention within chunks in three
    layers of four. Its norm of queries and keys has no gains. A chunk is read as a window: what a token sees at most.
    """
    shape = usual(c, needs_kv=True) | attention_biases(c)
    layers, step = shape["layers"], c.count("interleave_moe_layer_step", default=1)
    routed = experts(c, "num_local_experts", "intermediate_size") | {"shared_experts": 1}
    shape["ffn"] = c.count("intermediate_size_mlp")
    c.flag("use_qk_norm", True)
    chunk = c.count("attention_chunk_size", default=0, low=0)
    _, listed = c.get("moe_layers")
    with_experts = len(listed) if isinstance(listed, list) and listed else layers // step
    windows = {"window": chunk, "window_layers": layers - layers // 4} if chunk else {}
    c.get("layer_types")
    return shape | routed | windows | {"dense_layers": max(layers - with_experts, 0)}


OWN: Mapping[str, Callable[[Config], Shape]] = MappingProxyType(
    {"phi-msft": _phi_msft, "minimax_m2": _minimax_m2, "llama4_text": _llama4}
)
READERS: Mapping[str, Callable[[Config], Shape]] = MappingProxyType(
    {
        **ARCHITECTURES,
        **MIXED,
        **WINDOWED,
        **NEWER,
        **{kind: read for kind, read in OWN.items() if kind not in ARCHITECTURES},
    }
)
"""All architectures that are read, by `model_type`; where two have one, not the one that is read here."""


def known_kind(kind: str) -> str:
    """The architecture that a `model_type` is of: itself where it is read, else what it is an alias of."""
    return kind if kind in READERS else ALIASES.get(kind, kind)
