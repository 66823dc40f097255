"""Architectures of `config.json` whose layers differ in heads or widths: mostly those with a window from those without.

As in `hwlib.specs.architectures`, each is one function named after the file's `model_type`. The heads of a model are
those of its layers with a window, and `Model.full_heads` those of the others.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from hwlib.specs.architectures import Shape, attention_biases, experts, first_dense, usual, windows
from hwlib.specs.config_fields import Config
from hwlib.specs.state_mixer import HeadShape
from hwlib.specs.table import SpecError


def heads_of(c: Config, heads: int, kv_heads: int, head_dim: int, v_dim: int = 0, **flags: bool) -> HeadShape:
    """The record of some layers' heads. Raises SpecError for heads that do not divide."""
    try:
        return HeadShape(heads, kv_heads, head_dim, v_dim, **flags)
    except ValueError as error:
        raise SpecError(f"{c.where}: {error}") from None


def _with_full(shape: Shape, full: HeadShape) -> Shape:
    """A shape with the heads of layers without a window, where there are both kinds of layers."""
    windowed = shape.get("window_layers", 0)
    if not windowed:
        return shape | vars(full)
    return shape if windowed == shape["layers"] else shape | {"full_heads": full}


def _zeros(c: Config, name: str, layers: int) -> int:
    """How many layers a list of zeros and ones leaves out."""
    _, numbers = c.get(name)
    if not isinstance(numbers, list) or len(numbers) != layers or not set(numbers) <= {0, 1}:
        raise c.wrong(name, f"{layers} numbers, 0 or 1")
    return numbers.count(0)


def _gemma4(c: Config) -> Shape:
    """Gemma 4: full attention has heads of its own, and may make values of keys; experts stand beside an MLP that every
    token takes, counted as shared experts of the routed ones' width. A scalar of each layer is not counted.
    """
    for name in ("hidden_size_per_layer_input", "num_kv_shared_layers"):
        if c.count(name, low=0):
            raise c.wrong(name, "0: embeddings of each layer, and keys of other layers, are not counted here")
    c.only("use_double_wide_mlp", False)
    c.only("use_bidirectional_attention", "vision")
    c.get("vocab_size_per_layer_input")
    shape = usual(c, tied=True, head_dim=256, needs_kv=True) | attention_biases(c) | {"layer_norms": 4, "qk_norm": True}
    shape |= windows(c, shape["layers"], None)
    one_matrix = c.flag("attention_k_eq_v", False)
    own = c.count("num_global_key_value_heads", default=shape["kv_heads"])
    full = heads_of(
        c,
        shape["heads"],
        own if one_matrix else shape["kv_heads"],
        c.count("global_head_dim", default=512),
        shared_values=one_matrix,
    )
    return _with_full(shape, full) | _gemma4_experts(c, shape)


def _gemma4_experts(c: Config, shape: Shape) -> Shape:
    """The experts of Gemma 4: the router weighs each of them, and scales its input."""
    names = ("num_experts", "top_k_experts", "moe_intermediate_size", "expert_intermediate_size")
    if not c.flag("enable_moe_block", False):
        for name in names:
            c.get(name)
        return {}
    routed = experts(c, "num_experts", "moe_intermediate_size", token=("top_k_experts",))
    c.get("expert_intermediate_size")
    whole, rest = divmod(shape["ffn"], routed["expert_ffn"])
    if rest:
        raise c.wrong("intermediate_size", f"a multiple of the experts' width, {routed['expert_ffn']}")
    own = {"shared_gate": True, "router_bias": True, "layer_norms": 7, "naming": "experts beside"}
    return routed | {"shared_experts": whole} | own


def _mimo_v2(c: Config) -> Shape:
    """MiMo-V2-Flash: keys wider than values, and a logit of each head's own in layers with a window."""
    layers = c.count("num_hidden_layers")
    full_layers = _zeros(c, "hybrid_layer_pattern", layers)
    heads, kv_heads, size = c.count("num_attention_heads"), c.count("num_key_value_heads"), c.count("head_dim")
    values = c.count("v_head_dim", default=size)
    c.only("attention_bias", False)
    c.only("topk_method", "noaux_tc")
    for name in ("attention_chunk_size", "attention_value_scale", "swa_rope_theta"):
        c.get(name)  # the window again, what values are multiplied with, and how positions are turned
    full = heads_of(c, heads, kv_heads, size, values, sinks=c.flag("add_full_attention_sink_bias", False))
    shape: Shape = {
        "layers": layers,
        "width": c.count("hidden_size"),
        "ffn": c.count("intermediate_size"),
        "heads": c.count("swa_num_attention_heads", default=heads),
        "kv_heads": c.count("swa_num_key_value_heads", default=kv_heads),
        "head_dim": c.count("swa_head_dim", default=size),
        "v_dim": c.count("swa_v_head_dim", default=values),
        "sinks": c.flag("add_swa_attention_sink_bias", False),
        "vocab": c.count("vocab_size"),
        "context": c.count("max_position_embeddings"),
        "tied": c.flag("tie_word_embeddings", False),
        "window": c.count("sliding_window", "sliding_window_size"),
        "window_layers": layers - full_layers,
        "router_bias": True,
        "dense_layers": _zeros(c, "moe_layer_freq", layers),
        "shared_experts": c.count("n_shared_experts", default=0, low=0),
        "mtp_layers": c.count("num_nextn_predict_layers", default=0, low=0),
    }
    return _with_full(shape, full) | experts(c, "n_routed_experts", "moe_intermediate_size")


def _step3(c: Config) -> Shape:
    """Step 3.5 and 3.7: layers with a window may have more heads, which `attention_other_setting` tells."""
    shape = usual(c, needs_kv=True) | {"qk_norm": True, "router_bias": True}
    c.only("use_head_wise_attn_gate", False)
    c.only("use_moe_router_bias", True)
    c.get("moe_router_scaling_factor")
    full = heads_of(c, shape["heads"], shape["kv_heads"], shape["head_dim"])
    shape |= windows(c, shape["layers"], None)
    other = c.inner("attention_other_setting")
    if other.fields:
        other.only("attention_type", "sliding_attention")
        shape["heads"] = other.count("num_attention_heads")
        shape["kv_heads"] = other.count("num_attention_groups")
        shape["head_dim"] = other.count("head_dim", default=shape["head_dim"])
        other.finished()
    shape |= {"experts": c.count("num_experts", "n_routed_experts"), "expert_ffn": c.count("moe_intermediate_size")}
    shape |= {"experts_per_token": c.count("num_experts_per_tok")} | first_dense(c, shape["layers"])
    c.only("share_expert_dim", shape["expert_ffn"])
    shape["shared_experts"] = c.count("n_shared_experts", default=1)
    shape["mtp_layers"] = c.count("num_nextn_predict_layers", default=0, low=0)
    return _with_full(shape, full) if other.fields else shape


def _nemotron_nas(c: Config) -> Shape:
    """Nemotron of an architecture search: Llama's layers, some without attention, and MLPs of several widths, which are
    timed by their mean.
    """
    _, blocks = c.get("block_configs")
    layers, width, heads = c.count("num_hidden_layers"), c.count("hidden_size"), c.count("num_attention_heads")
    if not isinstance(blocks, list) or len(blocks) != layers or not all(isinstance(block, Mapping) for block in blocks):
        raise c.wrong("block_configs", f"{layers} objects with attention and ffn")
    parts = [Config(f"{c.where}, block_configs {i}", block) for i, block in enumerate(blocks)]
    groups = [_searched_group(part.inner("attention")) for part in parts]
    widths = [_searched_width(part.inner("ffn"), width) for part in parts]
    sizes = set(groups) - {0}
    if len(sizes) != 1 or heads % max(sizes):
        raise c.wrong("block_configs", f"one n_heads_in_group that divides the {heads} heads, in all layers")
    c.only("attention_bias", False)
    c.only("mlp_bias", False)
    mean, rest = divmod(sum(widths), layers)
    return {
        "layers": layers,
        "width": width,
        "ffn": mean,
        "wider": rest,
        "pattern": "".join("MA"[group > 0] for group in groups),
        "heads": heads,
        "kv_heads": heads // max(sizes),
        "head_dim": c.count("head_dim", default=0) or c.divided("hidden_size", heads),
        "vocab": c.count("vocab_size"),
        "context": c.count("max_position_embeddings"),
        "tied": c.flag("tie_word_embeddings", False),
        "note": f"MLPs of {min(widths):,} to {max(widths):,} columns, timed by their mean; "
        f"{groups.count(0)} of {layers} layers have no attention",
    }


def _searched_group(attention: Config) -> int:
    """Query heads that share a key and a value in a layer; 0 of one without attention."""
    for name in ("replace_with_linear", "unshifted_sink", "use_prefill_window_in_sink_attention"):
        attention.only(name, False)
    attention.only("window_length", None)
    attention.only("num_sink_tokens", None)
    attention.only("sparsify", None)
    without = attention.flag("no_op", False)
    attention.get("n_heads_in_group")
    attention.finished()
    return 0 if without else attention.count("n_heads_in_group")


def _searched_width(ffn: Config, width: int) -> int:
    """Columns of a layer's MLP: so many times two thirds of the width, rounded up to whole blocks of 256."""
    for name in ("no_op", "replace_with_linear"):
        ffn.only(name, False)
    ffn.only("sparsify", None)
    _, times = ffn.get("ffn_mult")
    ffn.finished()
    if isinstance(times, bool) or not isinstance(times, int | float) or not 0 < times < 100:
        raise ffn.wrong("ffn_mult", "a number above 0")
    return -(-int(2 * times * width / 3) // 256) * 256


WINDOWED: Mapping[str, Callable[[Config], Shape]] = MappingProxyType(
    {
        "gemma4_text": _gemma4,
        "mimo_v2_flash": _mimo_v2,
        "nemotron-nas": _nemotron_nas,
        "step3p5": _step3,
        "step3p7": _step3,
    }
)
"""The architectures of two shapes of heads that are understood, by `model_type`."""
