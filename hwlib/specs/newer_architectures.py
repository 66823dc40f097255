"""Architectures of `config.json` of 2025 and 2026 whose layers are those of older ones with a few changes.

As in `hwlib.specs.architectures`, each is one function named after the file's `model_type`; what a file leaves out is
what the class of that name in Transformers 5.24 has.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from hwlib.specs.architectures import (
    Shape,
    attention_biases,
    deepseek_v3,
    every,
    experts,
    first_dense,
    latent,
    llama_biases,
    routed,
    usual,
    windows,
)
from hwlib.specs.config_fields import Config
from hwlib.specs.mixed_architectures import layer_letters, state_mixer, with_states
from hwlib.specs.windowed_architectures import heads_of

# Dense


def _two_matrices(c: Config) -> Shape:
    """Arcee: Llama's layers, and MLPs without a gate."""
    return usual(c) | llama_biases(c) | {"gated": False}


def _apertus(c: Config) -> Shape:
    """Apertus: two numbers of each layer's activation are learned."""
    for name, value in (("mlp_bias", False), ("post_norm", False), ("qk_norm", True)):
        c.only(name, value)
    shape = usual(c) | attention_biases(c) | {"gated": False, "qk_norm": True}
    return shape | {"gains": 2 * shape["layers"]}


def _nanochat(c: Config) -> Shape:
    """nanochat: norms without gains."""
    return usual(c) | attention_biases(c) | {"gated": False, "norm": "bare"}


def _seed_oss(c: Config) -> Shape:
    c.only("mlp_bias", False)
    c.only("attention_out_bias", False)
    return usual(c, needs_kv=True) | ({"biases": "qkv"} if c.flag("attention_bias", True) else {})


def _hunyuan_dense(c: Config) -> Shape:
    c.only("use_qk_norm", True)
    for name in ("use_cla", "mlp_bias"):
        c.only(name, False)
    return usual(c) | attention_biases(c) | {"qk_norm": True}


def _granite_windows(c: Config) -> Shape:
    """Granite with windows and sinks."""
    c.get("layer_rope_theta")
    shape = usual(c, tied=True) | llama_biases(c) | {"sinks": True}
    return shape | windows(c, shape["layers"], None)


def _youtu(c: Config) -> Shape:
    """Youtu: latent attention and dense MLPs."""
    c.get("embedding_initializer_range")
    return latent(c, tied=True)


# Experts


def _shared(c: Config, *names: str) -> Shape:
    """Experts that every token takes, which several names tell."""
    return {"shared_experts": c.count(*names, default=0, low=0)}


def _mtp(c: Config) -> Shape:
    return {"mtp_layers": c.count("num_nextn_predict_layers", default=0, low=0)}


def _granite_moe_windows(c: Config) -> Shape:
    c.get("layer_rope_theta")
    shape = usual(c) | attention_biases(c) | experts(c, "num_local_experts", "intermediate_size") | {"sinks": True}
    return shape | windows(c, shape["layers"], None)


def _afmoe(c: Config) -> Shape:
    """Trinity: a gate of what attention gives, four norms a layer, and windows in three layers of four."""
    shape = usual(c, needs_kv=True) | attention_biases(c) | {"qk_norm": True, "attention_gate": True, "layer_norms": 4}
    layers = shape["layers"]
    step = c.count("global_attn_every_n_layers", default=4)
    for name in ("mup_enabled", "route_scale", "route_norm", "score_func", "load_balance_coeff"):
        c.get(name)
    for name in ("num_expert_groups", "num_limited_groups"):
        c.get(name)
    shape |= windows(c, layers, layers - layers // step) | experts(c, "num_experts", "moe_intermediate_size")
    shape |= _shared(c, "num_shared_experts") | {"router_bias": True}
    return shape | {"dense_layers": c.count("num_dense_layers", default=1, low=0)}


def _axk1(c: Config) -> Shape:
    """A.X K1: one more norm after experts."""
    shape = deepseek_v3(c)
    return shape | {"gains": shape["width"] * (shape["layers"] - shape["dense_layers"])}


def _mistral4(c: Config) -> Shape:
    """Mistral 4: latent attention, and a router without a bias."""
    shape = latent(c)
    return shape | routed(c, shape["layers"])


def _glm_moe(c: Config) -> Shape:
    """Sarvam: GLM-4.5's layers."""
    shape = usual(c, needs_kv=True) | attention_biases(c, "qkv") | {"qk_norm": c.flag("use_qk_norm", True)}
    return shape | routed(c, shape["layers"]) | {"router_bias": True}


def _solar(c: Config) -> Shape:
    """Solar Open: experts in all layers, without norms of queries and keys."""
    c.only("use_qk_norm", False)
    shape = usual(c, needs_kv=True, ffn=c.count("moe_intermediate_size")) | attention_biases(c)
    return shape | routed(c, shape["layers"]) | {"router_bias": True}


def _dots(c: Config) -> Shape:
    """dots.llm1: norms of queries and keys beside DeepSeek's experts."""
    shape = usual(c) | attention_biases(c) | {"qk_norm": True, "router_bias": True}
    return shape | windows(c, shape["layers"], 0) | routed(c, shape["layers"])


def _hunyuan3(c: Config) -> Shape:
    """Hunyuan 3: norms of queries and keys, and a first layer without experts."""
    for name in ("mlp_bias", "use_cla"):
        c.only(name, False)
    for name in ("enable_attention_fp32_softmax", "use_grouped_mm", "enable_lm_head_fp32", "route_norm"):
        c.get(name)
    for name in ("enable_moe_fp32_combine", "router_scaling_factor"):
        c.get(name)
    for name in ("qk_norm", "moe_router_enable_expert_bias", "moe_router_use_sigmoid"):
        c.only(name, True)
    shape = usual(c, needs_kv=True) | attention_biases(c) | {"qk_norm": True, "router_bias": True}
    width = c.count("moe_intermediate_size", "expert_hidden_dim")
    c.get("expert_hidden_dim")
    shape |= {"experts": c.count("num_experts"), "experts_per_token": c.count("num_experts_per_tok")}
    shape |= {"expert_ffn": width} | _shared(c, "num_shared_experts") | _mtp(c)
    return shape | first_dense(c, shape["layers"])


def _exaone_moe(c: Config) -> Shape:
    """K-EXAONE: EXAONE 4's attention, and DeepSeek's experts."""
    c.get("sliding_window_pattern")
    shape = usual(c, needs_kv=True) | {"qk_norm": True, "router_bias": True}
    shape |= windows(c, shape["layers"], None) | experts(c, "num_experts", "moe_intermediate_size")
    return shape | _shared(c, "num_shared_experts") | _mtp(c) | first_dense(c, shape["layers"])


def _ernie_moe(c: Config) -> Shape:
    """ERNIE 4.5: experts from one layer to another, and every so many between."""
    c.only("use_bias", False)
    for name in ("moe_norm_min", "moe_gate", "moe_use_aux_free", "moe_capacity", "use_rmsnorm", "moe_gate_act"):
        c.get(name)
    shape = usual(c, tied=True, needs_kv=True) | experts(
        c, "moe_num_experts", "moe_intermediate_size", token=("moe_k", "num_experts_per_tok")
    )
    layers = shape["layers"]
    first, step = c.count("moe_layer_start_index", default=1, low=0), c.count("moe_layer_interval", default=1)
    last = c.count("moe_layer_end_index", default=layers - 1, low=-1)
    last = layers - 1 if last == -1 else last
    routed_layers = sum(first <= i <= last and (i + 1) % step == 0 for i in range(layers))
    shape |= {"shared_experts": c.count("moe_num_shared_experts", default=2, low=0), "router_bias": True}
    return shape | {"dense_layers": layers - routed_layers} | _mtp(c)


def _mellum(c: Config) -> Shape:
    """Mellum: Mixtral's experts, of a width of their own, and norms of queries and keys."""
    for name in ("mtp_layer_types", "mtp_mlp_layer_types"):
        c.get(name)
    shape = usual(c, needs_kv=True) | attention_biases(c) | {"qk_norm": True}
    shape |= windows(c, shape["layers"], 0) | experts(c, "num_local_experts", "moe_intermediate_size")
    return shape | _mtp(c) | first_dense(c, shape["layers"])


def _cohere_moe(c: Config) -> Shape:
    """Cohere's experts: attention and MLP side by side, and first layers that may have an MLP of a width of its own."""
    for name in ("expert_selection_fn", "shared_expert_combination_strategy", "prefix_dense_sliding_window_pattern"):
        c.get(name)
    c.only("use_qk_norm", False)
    wide = c.count("prefix_dense_intermediate_size", default=0)
    shape = usual(c, tied=True) | attention_biases(c) | {"norm": "gain", "parallel": True, "layer_norms": 1}
    shape |= every(c, shape["layers"], 4) | experts(c, "num_experts", "intermediate_size")
    shape |= _shared(c, "num_shared_experts") | first_dense(c, shape["layers"])
    return shape | {"ffn": wide or shape["ffn"]}


def _laguna(c: Config) -> Shape:
    """Laguna: a gate for each head, whose rows count as gains; layers with a window may have other heads."""
    shape = usual(c, needs_kv=True) | attention_biases(c) | {"qk_norm": True, "router_bias": True}
    layers, width = shape["layers"], shape["width"]
    for name in ("moe_routed_scaling_factor", "moe_router_logit_softcapping", "swa_rope_parameters"):
        c.get(name)
    shape |= windows(c, layers, 0) | experts(c, "num_experts", "moe_intermediate_size")
    shared = c.count("shared_expert_intermediate_size", default=0)
    if shared % shape["expert_ffn"]:
        raise c.wrong("shared_expert_intermediate_size", f"a multiple of the experts' width, {shape['expert_ffn']}")
    shape |= {"shared_experts": shared // shape["expert_ffn"]} | first_dense(c, layers)
    each = _heads_of_layers(c, shape)
    c.only("gating", True, False, "per-head")
    gated = c.fields.get("gating", True) is not False
    return shape | _two_kinds_of_heads(c, shape, each) | {"gains": gated * sum(each) * width}


def _heads_of_layers(c: Config, shape: Shape) -> list[int]:
    """The query heads of each layer."""
    _, each = c.get("num_attention_heads_per_layer")
    each = [shape["heads"]] * shape["layers"] if each is None else each
    whole = isinstance(each, list) and len(each) == shape["layers"]
    if not whole or not all(type(heads) is int and heads > 0 for heads in each):
        raise c.wrong("num_attention_heads_per_layer", f"{shape['layers']} whole numbers above 0")
    return each


def _two_kinds_of_heads(c: Config, shape: Shape, each: list[int]) -> Shape:
    """The heads of layers with a window, and those of the others, of as many as each layer has."""
    kinds = c.fields.get("layer_types") or ["full_attention"] * shape["layers"]  # which `windows` checked
    full = _one_number(c, each, kinds, "full_attention", shape["heads"])
    windowed = _one_number(c, each, kinds, "sliding_attention", full)
    if windowed == full:
        return {"heads": full}
    own = heads_of(c, full, shape["kv_heads"], shape["head_dim"])
    return {"heads": windowed, "full_heads": own}


def _one_number(c: Config, each: list[int], kinds: list[str], kind: str, otherwise: int) -> int:
    """The query heads of all layers of a kind."""
    numbers = {heads for heads, other in zip(each, kinds, strict=True) if other == kind}
    if len(numbers) > 1:
        raise c.wrong("num_attention_heads_per_layer", "one number for each kind of layer_types")
    return numbers.pop() if numbers else otherwise


# States


def _bamba(c: Config) -> Shape:
    """Bamba: Mamba-2, and attention in the layers that are listed."""
    c.only("mlp_bias", False)
    c.only("mamba_conv_bias", True)
    c.only("mamba_proj_bias", False)
    for name in ("mamba_expand", "time_step_limit", "z_loss_coefficient", "attn_rotary_emb"):
        c.get(name)
    shape = usual(c, needs_kv=True) | attention_biases(c)
    layers = shape["layers"]
    _, attended = c.get("attn_layer_indices")
    if not isinstance(attended or [], list) or not all(type(i) is int and 0 <= i < layers for i in attended or []):
        raise c.wrong("attn_layer_indices", f"a list of layers from 0 to {layers - 1}")
    pattern = "".join("SA"[i in (attended or [])] for i in range(layers))
    mixer = state_mixer(
        c,
        "mamba2",
        heads=c.count("mamba_n_heads", default=128),
        key_heads=c.count("mamba_n_groups", default=1),
        key_dim=c.count("mamba_d_state", default=256),
        value_dim=c.count("mamba_d_head"),
        conv=c.count("mamba_d_conv", default=4),
        chunk=c.count("mamba_chunk_size", default=256),
    )
    return shape | with_states(pattern, mixer)


def _olmo_hybrid(c: Config) -> Shape:
    """OLMo Hybrid: Gated DeltaNet in three layers of four, and OLMo 3's attention in the last."""
    for name in ("a_log_max", "a_log_min", "allow_neg_eigval", "dt_init_floor", "dt_max", "dt_min"):
        c.get(f"linear_{name}")
    shape = usual(c) | attention_biases(c) | {"qk_norm": True, "qk_norm_full": True}
    layers, heads = shape["layers"], shape["heads"]
    in_turn = "".join("SA"[(i + 1) % 4 == 0] for i in range(layers))
    listed = layer_letters(c, "layer_types", layers, {"linear_attention": "S", "full_attention": "A"})
    mixer = state_mixer(
        c,
        "gated-delta",
        heads=c.count("linear_num_value_heads", default=heads),
        key_heads=c.count("linear_num_key_heads", default=heads),
        key_dim=c.count("linear_key_head_dim"),
        value_dim=c.count("linear_value_head_dim"),
        conv=c.count("linear_conv_kernel_dim", default=4),
    )
    return shape | with_states(listed or in_turn, mixer)


def _ling(c: Config) -> Shape:
    """Ling 3.0: KDA, whose decay and gate have a matrix each, and in the last layer of a group latent attention, with a
    gate for each head, whose rows count as gains.
    """
    for name in ("kda_lower_bound", "kda_safe_gate", "moe_renormalize", "score_function", "group_norm_size"):
        c.get(name)
    for name in ("no_kda_lora", "moe_router_enable_expert_bias", "moe_router_enable_shared_expert"):
        c.only(name, True)
    for name in ("use_qk_norm", "moe_router_enable_routed_scaling"):
        c.get(name)
    c.only("gated_attention_proj_granularity_type", "head_wise")
    heads = c.count("num_attention_heads")
    shape = latent(c) | {"router_bias": True} | _mtp(c)
    layers, step = shape["layers"], c.count("layer_group_size", default=6)
    whole = layers // step * step
    in_turn = "".join("SA"[(i + 1) % step == 0 or i >= whole] for i in range(layers))
    kinds = {"linear_attention": "S", "full_attention": "A"}
    pattern = layer_letters(c, "layer_types", layers, kinds) or in_turn
    size = c.count("linear_head_dim", default=c.count("head_dim", default=128))
    number = c.count("linear_num_heads", default=heads)
    mixer = state_mixer(
        c,
        "kimi-delta",
        heads=number,
        key_heads=number,
        key_dim=size,
        value_dim=size,
        conv=c.count("linear_conv_kernel_dim", "short_conv_kernel_size", default=4),
        full_gate=True,
        full_decay=True,
    )
    shape |= {"experts": c.count("num_experts"), "expert_ffn": c.count("moe_intermediate_size")}
    shape |= {"experts_per_token": c.count("num_experts_per_token", "num_experts_per_tok")}
    shape |= _shared(c, "num_shared_experts") | first_dense(c, layers)
    c.only("moe_shared_expert_intermediate_size", shape["expert_ffn"])
    return shape | with_states(pattern, mixer) | {"gains": pattern.count("A") * heads * shape["width"]}


def _short_convolutions(c: Config, shape: Shape) -> Shape:
    """The letters of layers with a short convolution, and its record."""
    layers, width = shape["layers"], shape["width"]
    c.only("conv_bias", False)
    c.only("conv_dim", width)
    c.only("conv_dim_out", width)
    c.get("conv_use_xavier_init")
    kinds = {"conv": "S", "full_attention": "A", "sliding_attention": "A"}
    pattern = layer_letters(c, "layer_types", layers, kinds)
    _, attended = c.get("full_attn_idxs")
    if pattern is None:
        if not isinstance(attended, list) or not all(type(i) is int and 0 <= i < layers for i in attended):
            raise c.wrong("full_attn_idxs", f"a list of layers from 0 to {layers - 1}")
        pattern = "".join("SA"[i in attended] for i in range(layers))
    kernel = c.count("conv_L_cache", default=3)
    mixer = state_mixer(c, "short-conv", heads=width, key_heads=width, key_dim=1, value_dim=1, conv=kernel)
    return with_states(pattern, mixer)


def _lfm2(c: Config) -> Shape:
    """LFM2: short convolutions between layers with attention; its file gives three halves of the MLP's width."""
    for name in ("block_dim", "block_mlp_init_scale", "block_norm_eps", "block_out_init_scale", "block_use_swiglu"):
        c.get(name)
    for name in ("block_use_xavier_init", "num_heads", "use_pos_enc"):
        c.get(name)
    ffn = c.count("block_ff_dim", default=c.count("intermediate_size", default=1))
    c.only("block_ffn_dim_multiplier", 1.0, 1)
    step = c.count("block_multiple_of", default=256)
    if c.flag("block_auto_adjust_ff_dim", True):
        ffn = -(-(2 * ffn // 3) // step) * step
    tied = c.flag("tie_embedding", True)
    c.get("intermediate_size")
    shape = usual(c, tied=tied, needs_kv=True, ffn=ffn) | {"qk_norm": True, "ffn": ffn}
    return shape | _short_convolutions(c, shape)


def _lfm2_moe(c: Config) -> Shape:
    """LFM2 with experts behind its first layers."""
    tied = c.flag("tie_embedding", True)
    shape = usual(c, tied=tied, needs_kv=True) | {"qk_norm": True, "router_bias": c.flag("use_expert_bias", True)}
    shape |= experts(c, "num_experts", "moe_intermediate_size")
    shape |= {"dense_layers": c.count("num_dense_layers", default=2, low=0)}
    return shape | _short_convolutions(c, shape)


def _lfm3(c: Config) -> Shape:
    """LFM3: four norms a layer, windows in some, and a gate for each head, whose rows count as gains."""
    shape = usual(c, tied=True, needs_kv=True) | attention_biases(c) | {"qk_norm": True}
    shape["layer_norms"] = 4 if c.flag("use_sandwich_norm", True) else 2
    shape |= _short_convolutions(c, shape)
    pattern = shape.get("pattern", "A" * shape["layers"])
    kinds = c.fields.get("layer_types") or []
    if windowed := kinds.count("sliding_attention"):
        shape |= {"window": c.count("sliding_window"), "window_layers": windowed}
    c.get("sliding_window")
    gated = c.flag("use_attention_gate", True)
    return shape | {"gains": gated * pattern.count("A") * shape["heads"] * shape["width"]}


NEWER: Mapping[str, Callable[[Config], Shape]] = MappingProxyType(
    {
        "afmoe": _afmoe,
        "apertus": _apertus,
        "arcee": _two_matrices,
        "axk1": _axk1,
        "bailing_hybrid": _ling,
        "bamba": _bamba,
        "cohere2_moe": _cohere_moe,
        "dots1": _dots,
        "ernie4_5_moe": _ernie_moe,
        "exaone_moe": _exaone_moe,
        "glm4_moe_lite": deepseek_v3,
        "granite_swa": _granite_windows,
        "granitemoe_swa": _granite_moe_windows,
        "hunyuan_v1_dense": _hunyuan_dense,
        "hy_v3": _hunyuan3,
        "laguna": _laguna,
        "lfm2": _lfm2,
        "lfm2_moe": _lfm2_moe,
        "lfm3": _lfm3,
        "mellum": _mellum,
        "mistral4": _mistral4,
        "nanochat": _nanochat,
        "olmo_hybrid": _olmo_hybrid,
        "sarvam_mla": deepseek_v3,
        "sarvam_moe": _glm_moe,
        "seed_oss": _seed_oss,
        "solar_open": _solar,
        "youtu": _youtu,
    }
)
"""The architectures that are understood here, by `model_type`."""
