"""Architectures of `config.json` whose layers are not all attention on every key: states, and keys that are picked.

As in `hwlib.specs.architectures`, each is one function named after the file's `model_type`, and what a file leaves out
is what the class of that name in Transformers has. The kind of each layer becomes a letter of `Model.pattern`.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from hwlib.specs.architectures import (
    Shape,
    attention_biases,
    deepseek_v3,
    experts,
    first_dense,
    sparse_layers,
    usual,
)
from hwlib.specs.config_fields import Config
from hwlib.specs.state_mixer import Compression, Indexer, StateMixer
from hwlib.specs.table import SpecError

ELEMENTS = {"float32": 4, "bfloat16": 2, "float16": 2}
"""Bytes of an element of the state, by the word of a file."""
FULL, LINEAR = "full_attention", "linear_attention"


def _state_bytes(c: Config, *names: str) -> int:
    """Bytes of an element of the state: in 32 bits where the file does not say."""
    name, word = c.get(*names)
    if word is None:
        return ELEMENTS["float32"]
    if word not in ELEMENTS:
        raise c.wrong(name, f"one of {', '.join(ELEMENTS)}")
    return ELEMENTS[word]


def layer_letters(c: Config, name: str, layers: int, letters: Mapping[Any, str]) -> str | None:
    """The letter of each layer, of a list of words; None where there is no such list."""
    _, kinds = c.get(name)
    if kinds is None:
        return None
    if not isinstance(kinds, list) or len(kinds) != layers or any(kind not in letters for kind in kinds):
        raise c.wrong(name, f"{layers} of {', '.join(map(str, letters))}")
    return "".join(letters[kind] for kind in kinds)


def _every(layers: int, step: int) -> str:
    """The letters of layers that keep a state, but for each last of `step`."""
    return "".join("SA"[(i + 1) % step == 0] for i in range(layers))


def state_mixer(c: Config, kind: str, **numbers: Any) -> StateMixer:
    """The record of the layers with a state. Raises SpecError for heads that do not divide."""
    try:
        return StateMixer(kind, **numbers)
    except ValueError as error:
        raise SpecError(f"{c.where}: {error}") from None


def with_states(pattern: str, mixer: StateMixer) -> Shape:
    """The fields of a model for such a pattern; a file may have no layer with a state."""
    return {"pattern": pattern, "mixer": mixer} if "s" in pattern.lower() else {}


def _shared(c: Config, name: str, width: int) -> int:
    """How many shared experts of the routed ones' width a shared MLP is."""
    whole = c.count(name, default=0, low=0)
    if whole % width:
        raise c.wrong(name, f"a multiple of the experts' width, {width}")
    return whole // width


# Qwen: three layers of Gated DeltaNet, and one with attention


def _gated_delta(c: Config, layers: int) -> Shape:
    step = c.count("full_attention_interval", default=4)
    usually = _every(layers, step)
    mixer = state_mixer(
        c,
        "gated-delta",
        heads=c.count("linear_num_value_heads", default=32),
        key_heads=c.count("linear_num_key_heads", default=16),
        key_dim=c.count("linear_key_head_dim", default=128),
        value_dim=c.count("linear_value_head_dim", default=128),
        conv=c.count("linear_conv_kernel_dim", default=4),
        state_bytes=_state_bytes(c, "mamba_ssm_dtype"),
    )
    return with_states(layer_letters(c, "layer_types", layers, {LINEAR: "S", FULL: "A"}) or usually, mixer)


def _qwen3_next(c: Config) -> Shape:
    """Qwen3-Next, and Qwen3.5 with experts: attention with a gate, and a shared expert with one."""
    width = c.count("moe_intermediate_size")
    shape = usual(c, head_dim=256, needs_kv=True, ffn=width) | {"qk_norm": True, "attention_gate": True}
    shape |= attention_biases(c) | _gated_delta(c, shape["layers"])
    c.only("attn_output_gate", True)
    c.only("mtp_use_dedicated_embeddings", False)
    shape |= experts(c, "num_experts", "moe_intermediate_size")
    shape |= {"shared_experts": _shared(c, "shared_expert_intermediate_size", width), "shared_gate": True}
    shape |= sparse_layers(c, shape["layers"])
    return shape | {"mtp_layers": c.count("mtp_num_hidden_layers", default=0, low=0)}


def _qwen3_5(c: Config) -> Shape:
    """Qwen3.5 without experts."""
    shape = usual(c, head_dim=256, needs_kv=True) | {"qk_norm": True, "attention_gate": True}
    c.only("attn_output_gate", True)
    c.only("mtp_use_dedicated_embeddings", False)
    c.get("mlp_only_layers")  # without experts all are
    shape |= attention_biases(c) | _gated_delta(c, shape["layers"])
    return shape | {"mtp_layers": c.count("mtp_num_hidden_layers", default=0, low=0)}


# NVIDIA and IBM: Mamba-2


BLOCKS = {"mamba": "M", "attention": "*", "mlp": "-", "moe": "E"}
"""Nemotron's blocks: a state, attention, an MLP, or experts by itself."""


def _blocks(c: Config) -> str:
    """A letter for each of Nemotron's blocks: of a text, or of a list of words."""
    name, text = c.get("hybrid_override_pattern")
    if text is None:
        name, words = c.get("layers_block_type")
        text = layer_letters(c, name, len(words) if isinstance(words, list) else 1, BLOCKS)
    blocks = c.count("num_hidden_layers", default=len(text or "?"))
    if not isinstance(text, str) or not text or len(text) != blocks or set(text) - set(BLOCKS.values()):
        raise c.wrong(name, f"a letter of {''.join(BLOCKS.values())} for each of the {blocks} blocks")
    return text


def _paired(c: Config, blocks: str) -> str:
    """Nemotron's blocks as layers: a mixer and the MLP that follows it are one."""
    letters: list[str] = []
    for block in blocks:
        if block in "M*":
            letters.append("s" if block == "M" else "a")
        elif letters and letters[-1].islower():
            letters[-1] = letters[-1].upper()
        else:
            raise SpecError(f"{c.where}: expected an MLP or experts after a mixer only, got {blocks}")
    return "".join(letters)


def _nemotron_h(c: Config) -> Shape:
    blocks = _blocks(c)
    pattern = _paired(c, blocks)
    for name in ("attention_bias", "mlp_bias", "use_bias", "mamba_proj_bias"):
        c.only(name, False)
    c.only("use_conv_bias", True)
    c.get("expand")  # said again by the number of heads
    shape: Shape = {
        "layers": len(pattern),
        "width": c.count("hidden_size"),
        "heads": c.count("num_attention_heads"),
        "kv_heads": c.count("num_key_value_heads"),
        "head_dim": c.count("head_dim", "attention_head_dim"),
        "vocab": c.count("vocab_size"),
        "context": c.count("max_position_embeddings"),
        "tied": c.flag("tie_word_embeddings", False),
        "gated": False,
        "naming": "blocks",
        "note": f"{len(blocks)} blocks of a mixer or an MLP each, counted as {len(pattern)} layers",
    }
    mixer = state_mixer(
        c,
        "mamba2",
        heads=c.count("mamba_num_heads"),
        key_heads=c.count("n_groups"),
        key_dim=c.count("ssm_state_size"),
        value_dim=c.count("mamba_head_dim"),
        conv=c.count("conv_kernel"),
        state_bytes=_state_bytes(c, "mamba_ssm_cache_dtype"),
        chunk=c.count("chunk_size"),
    )
    shape |= with_states(pattern, mixer)
    width = c.count("moe_intermediate_size", default=0)
    shape["ffn"] = c.count("intermediate_size", default=width or None)
    if "E" not in blocks:
        return shape
    shape |= experts(c, "n_routed_experts", "moe_intermediate_size")
    shape |= {"router_bias": True, "dense_layers": blocks.count("-")}
    c.count("n_shared_experts", default=1)
    shape["shared_experts"] = _shared(c, "moe_shared_expert_intermediate_size", shape["expert_ffn"])
    shape["expert_width"] = c.count("moe_latent_size", default=0)
    c.only("mtp_hybrid_override_pattern", "*E")
    c.only("mtp_layers_block_type", ["attention", "moe"])
    return shape | {"mtp_layers": c.count("num_nextn_predict_layers", default=0, low=0)}


def _granite_hybrid(c: Config) -> Shape:
    """Granite 4: every layer has experts and a shared MLP, or the shared MLP alone."""
    number = c.count("num_local_experts", default=0, low=0)
    ffn = "intermediate_size" if number else "shared_intermediate_size"
    shape = usual(c, needs_kv=True, ffn=c.count(ffn)) | attention_biases(c)
    shape["ffn"] = c.count(ffn)
    c.get("intermediate_size")
    c.only("mamba_conv_bias", True)
    c.only("mamba_proj_bias", False)
    c.get("mamba_expand")  # said again by the number of heads
    pattern = layer_letters(c, "layer_types", shape["layers"], {"mamba": "S", "attention": "A"})
    mixer = state_mixer(
        c,
        "mamba2",
        heads=c.count("mamba_n_heads"),
        key_heads=c.count("mamba_n_groups"),
        key_dim=c.count("mamba_d_state"),
        value_dim=c.count("mamba_d_head"),
        conv=c.count("mamba_d_conv"),
        chunk=c.count("mamba_chunk_size", default=256),
    )
    shape |= with_states(pattern or "A" * shape["layers"], mixer)
    if not number:
        c.get("num_experts_per_tok")
        return shape
    shape |= experts(c, "num_local_experts", "intermediate_size")
    return shape | {"shared_experts": _shared(c, "shared_intermediate_size", shape["expert_ffn"])}


def _jamba(c: Config) -> Shape:
    """Jamba: Mamba's first form, whose channels each have a state of their own; every other layer has experts."""
    shape = usual(c) | {"context": c.count("max_position_embeddings", default=262144)}
    layers, width = shape["layers"], shape["width"]
    c.only("mamba_conv_bias", True)
    c.only("mamba_proj_bias", False)
    step, first = c.count("attn_layer_period", default=8), c.count("attn_layer_offset", default=4, low=0)
    pattern = "".join("SA"[i % step == first] for i in range(layers))
    rank = c.fields.get("mamba_dt_rank", "auto")
    low = -(-width // 16) if rank == "auto" else c.count("mamba_dt_rank")
    c.get("mamba_dt_rank")
    mixer = state_mixer(
        c,
        "mamba1",
        heads=c.count("mamba_expand", default=2) * width,
        key_heads=1,
        key_dim=c.count("mamba_d_state", default=16),
        value_dim=1,
        conv=c.count("mamba_d_conv", default=4),
        low_rank=low,
    )
    shape |= with_states(pattern, mixer)
    if c.count("num_experts", "num_local_experts", default=16) == 1:
        for name in ("num_experts_per_tok", "expert_layer_period", "expert_layer_offset"):
            c.get(name)
        return shape
    step, first = c.count("expert_layer_period", default=2), c.count("expert_layer_offset", default=1, low=0)
    shape |= experts(c, "num_experts", "intermediate_size")
    return shape | {"dense_layers": sum(i % step != first for i in range(layers))}


# DeepSeek and GLM: an indexer picks the keys


def _indexed(c: Config) -> Shape:
    shape = deepseek_v3(c)
    c.get("n_routed_experts", "num_experts")  # said twice in some files
    layers = shape["layers"]
    own = layer_letters(c, "indexer_types", layers, {"full": "f", "shared": "s"}) or "f" * layers
    for name in ("index_topk_freq", "index_skip_topk_offset", "index_topk_pattern"):
        c.get(name)  # said again by the list
    layer_letters(c, "layer_types", layers, {"deepseek_sparse_attention": "A"})
    indexer = Indexer(c.count("index_n_heads"), c.count("index_head_dim"), c.count("index_topk"), own.count("f"))
    dense = layer_letters(c, "mlp_layer_types", layers, {"dense": "d", "sparse": "e"})
    if dense is not None and dense.count("d") != shape["dense_layers"]:
        raise c.wrong("mlp_layer_types", f"{shape['dense_layers']} dense layers, as first_k_dense_replace says")
    return shape | {"indexer": indexer}


# DeepSeek-V4: keys that are compressed over time, and hyper-connections


ONLY_WINDOW, SPARSE, HEAVY = "sliding_attention", "compressed_sparse_attention", "heavily_compressed_attention"
USUAL_RATES: Mapping[str, int] = MappingProxyType({SPARSE: 4, HEAVY: 128})


def _compression_rates(c: Config) -> dict[str, int]:
    """Tokens that one entry stands for, of each kind of layer: in an object, or in fields of their own."""
    rates = c.inner("compress_rates")
    known = {name: rates.count(name, default=usually) for name, usually in USUAL_RATES.items()}
    rates.finished()
    known[SPARSE] = c.count("compress_rate_csa", default=known[SPARSE])
    known[HEAVY] = c.count("compress_rate_hca", default=known[HEAVY])
    if known[SPARSE] == known[HEAVY]:
        raise c.wrong("compress_rates", f"two rates that differ, got {known[SPARSE]} twice")
    return known


def _strides(c: Config, layers: int, rates: Mapping[str, int]) -> tuple[int, ...]:
    """The stride of each layer: by its kind, or by a list of strides, which goes on with that of modules for
    multi-token prediction; else two heavily compressed layers, and then both kinds in turn.
    """
    by_kind = {ONLY_WINDOW: 0, **rates}
    _, kinds = c.get("layer_types")
    _, ratios = c.get("compress_ratios")
    if kinds is not None:
        if not isinstance(kinds, list) or len(kinds) != layers or any(kind not in by_kind for kind in kinds):
            raise c.wrong("layer_types", f"{layers} of {', '.join(by_kind)}")
        return tuple(by_kind[kind] for kind in kinds)
    if ratios is None:
        in_turn = (rates[HEAVY], rates[SPARSE])
        return tuple(in_turn[i > 1 and i % 2] for i in range(layers))
    known = tuple(by_kind.values())
    if not isinstance(ratios, list) or len(ratios) < layers or any(ratio not in known for ratio in ratios):
        raise c.wrong("compress_ratios", f"at least {layers} of {', '.join(map(str, known))}")
    return tuple(ratios[:layers])


def _hashed(c: Config, layers: int) -> int:
    """Layers whose experts a table of tokens chooses."""
    _, kinds = c.get("mlp_layer_types")
    number = c.count("num_hash_layers", default=3 if kinds is None else 0, low=0)
    if kinds is None:
        return min(number, layers)
    return (layer_letters(c, "mlp_layer_types", layers, {"hash_moe": "h", "moe": "e"}) or "").count("h")


def _deepseek_v4(c: Config) -> Shape:
    layers, heads = c.count("num_hidden_layers"), c.count("num_attention_heads")
    c.only("num_key_value_heads", 1)
    for name in ("attention_bias", "mlp_bias"):
        c.only(name, False)
    c.only("topk_method", "noaux_tc")
    for name in ("hc_eps", "hc_sinkhorn_iters", "compress_rope_theta", "qk_rope_head_dim"):
        c.get(name)  # positions, and how streams are mixed, have no parameters
    c.only("expert_dtype", "fp4", "fp8")  # the form of the files' experts: `hwlib.specs.quantisation`
    rates = _compression_rates(c)
    strides = _strides(c, layers, rates)
    groups = c.count("o_groups")
    if heads % groups:
        raise c.wrong("o_groups", f"a divisor of the {heads} heads")
    expert = c.count("moe_intermediate_size", "intermediate_size")
    index = c.count("index_n_heads"), c.count("index_head_dim"), c.count("index_topk")
    sparse = strides.count(rates[SPARSE])
    return {
        "layers": layers,
        "width": c.count("hidden_size"),
        "ffn": expert,
        "heads": heads,
        "kv_heads": 1,
        "head_dim": c.count("head_dim"),
        "vocab": c.count("vocab_size"),
        "context": c.count("max_position_embeddings"),
        "tied": c.flag("tie_word_embeddings", False),
        "q_lora": c.count("q_lora_rank"),
        "sinks": True,
        "shared_values": True,
        "window": c.count("sliding_window"),
        "window_layers": strides.count(0),
        "compression": Compression(strides, rates[SPARSE], groups, c.count("o_lora_rank")),
        **({"indexer": Indexer(*index, sparse)} if sparse else {}),
        "streams": c.count("hc_mult"),
        **experts(c, "n_routed_experts", "moe_intermediate_size"),
        "shared_experts": c.count("n_shared_experts", default=1, low=0),
        "router_bias": True,
        "hashed_layers": _hashed(c, layers),
        "mtp_layers": c.count("num_nextn_predict_layers", default=0, low=0),
    }


# Kimi: KDA beside latent attention; MiniMax: lightning attention


def _numbered(c: Config, name: str, layers: int) -> set[int]:
    """Layers of a list that begins to count at 1."""
    _, numbers = c.get(name)
    if not isinstance(numbers, list) or not all(isinstance(i, int) and 1 <= i <= layers for i in numbers):
        raise c.wrong(name, f"a list of layers from 1 to {layers}")
    return set(numbers)


def _kimi_linear(c: Config) -> Shape:
    layers, heads = c.count("num_hidden_layers"), c.count("num_attention_heads")
    linear = c.inner("linear_attn_config")
    full, states = (_numbered(linear, name, layers) for name in ("full_attn_layers", "kda_layers"))
    if len(full) + len(states) != layers or full & states:
        raise linear.wrong("kda_layers", f"all of the {layers} layers that are not in full_attn_layers")
    size = linear.count("head_dim")
    number = linear.count("num_heads")
    conv = linear.count("short_conv_kernel_size")
    gate = linear.flag("use_full_rank_gate", False)
    linear.get("gate_lower_bound")  # of a decay, which is bounded
    mixer = StateMixer("kimi-delta", number, number, size, size, conv, full_gate=gate)
    linear.finished()
    c.count("num_key_value_heads", default=heads)
    c.get("head_dim")
    shape: Shape = {
        "layers": layers,
        "width": c.count("hidden_size"),
        "ffn": c.count("intermediate_size"),
        "heads": heads,
        "kv_heads": heads,
        "head_dim": c.count("v_head_dim"),
        "vocab": c.count("vocab_size"),
        "context": c.count("max_position_embeddings", "model_max_length"),
        "tied": c.flag("tie_word_embeddings", False),
        "q_lora": c.count("q_lora_rank", default=0),
        "kv_lora": c.count("kv_lora_rank"),
        "rope_dim": c.count("qk_rope_head_dim"),
        "nope_dim": c.count("qk_nope_head_dim"),
        "v_dim": c.count("v_head_dim"),
        "router_bias": True,
        "mtp_layers": c.count("num_nextn_predict_layers", default=0, low=0),
    }
    c.only("topk_method", "noaux_tc")
    for name in ("mla_use_nope", "activation_situ_beta", "activation_situ_linear_beta"):
        c.get(name)  # positions and activations have no parameters
    shape["attention_gate"] = c.flag("mla_use_output_gate", False)
    shape |= experts(c, "num_experts", "moe_intermediate_size", token=("num_experts_per_token",))
    shape["shared_experts"] = c.count("num_shared_experts", default=0, low=0)
    pattern = "".join("SA"[i + 1 in full] for i in range(layers))
    return _kimi_residuals(c, shape | first_dense(c, layers)) | with_states(pattern, mixer)


def _kimi_residuals(c: Config, shape: Shape) -> Shape:
    """What Kimi K3 has beside: experts of a width of their own, with a norm, and residual streams that are weighed by a
    norm and a vector each, two pairs a layer and one at the end.
    """
    shape["expert_width"] = c.count("routed_expert_hidden_size", default=0)
    normed = c.flag("latent_moe_use_norm", False)
    gains = shape["expert_width"] * (shape["layers"] - shape["dense_layers"]) if normed else 0
    if c.count("attn_res_block_size", default=0):
        return shape | {"layer_norms": 6, "gains": gains + 2 * shape["width"]}
    return shape | {"gains": gains}


def _minimax(c: Config) -> Shape:
    """MiniMax-Text-01 and M1: their own files number the kinds of layers, 0 for lightning attention."""
    shape = usual(c, needs_kv=True) | experts(c, "num_local_experts", "intermediate_size")
    layers, heads, size = shape["layers"], shape["heads"], shape["head_dim"]
    usually = _every(layers, 2)
    pattern = layer_letters(c, "layer_types", layers, {LINEAR: "S", FULL: "A"})
    pattern = pattern or layer_letters(c, "attn_type_list", layers, {0: "S", 1: "A"}) or usually
    c.only("shared_intermediate_size", 0)
    c.only("postnorm", True)
    for name in ("full_attention", "linear_attention", "mlp"):  # how much of the stream a sum keeps
        c.get(f"layernorm_{name}_alpha")
        c.get(f"layernorm_{name}_beta")
    block = c.count("block_size", default=256)
    return shape | with_states(pattern, StateMixer("lightning", heads, heads, size, size, chunk=block))


def _minimax_m3(c: Config) -> Shape:
    """MiniMax-M3: in most layers an index picks blocks of keys for each group of queries."""
    routed_width = c.count("intermediate_size", "moe_intermediate_size")
    shape = usual(c, needs_kv=True) | attention_biases(c) | {"ffn": c.count("dense_intermediate_size")}
    shape |= {"qk_norm": c.flag("use_qk_norm", True), "router_bias": c.flag("use_routing_bias", True)}
    c.only("qk_norm_type", "per_head")
    c.only("attention_output_gate", False)
    for name in ("use_gemma_norm", "swiglu_alpha"):
        c.get(name)
    layers = shape["layers"]
    shape |= {"experts": c.count("num_local_experts"), "experts_per_token": c.count("num_experts_per_tok")}
    shape |= {"expert_ffn": routed_width, "shared_experts": c.count("n_shared_experts", default=0, low=0)}
    c.only("shared_intermediate_size", routed_width)
    shape["dense_layers"] = (layer_letters(c, "moe_layer_freq", layers, {0: "d", 1: "e"}) or "").count("d")
    c.only("first_k_dense_replace", shape["dense_layers"])
    modules = c.count("num_mtp_modules", default=0, low=0)
    shape["mtp_layers"] = c.count("num_nextn_predict_layers", default=modules, low=0)
    return shape | _block_indexer(c.inner("sparse_attention_config"), layers)


def _block_indexer(sparse: Config, layers: int) -> Shape:
    """The index of blocks of keys, of the fields that tell it; none where it is not used."""
    used = sparse.flag("use_sparse_attention", False)
    own = (layer_letters(sparse, "sparse_attention_freq", layers, {0: "f", 1: "s"}) or "s" * layers).count("s")
    for name in ("sparse_disable_index_value", "sparse_score_type", "sparse_init_block", "sparse_local_block"):
        sparse.get(name)
    blocks, each = sparse.count("sparse_topk_blocks", default=1), sparse.count("sparse_block_size", default=1)
    heads, dim = sparse.count("sparse_num_index_heads", default=1), sparse.count("sparse_index_dim", default=1)
    sparse.finished()
    return {"indexer": Indexer(heads, dim, blocks * each, own, weighted=False)} if used and own else {}


MIXED: Mapping[str, Callable[[Config], Shape]] = MappingProxyType(
    {
        "qwen3_next": _qwen3_next,
        "qwen3_5_moe_text": _qwen3_next,
        "qwen3_5_text": _qwen3_5,
        "nemotron_h": _nemotron_h,
        "granitemoehybrid": _granite_hybrid,
        "jamba": _jamba,
        "deepseek_v32": _indexed,
        "glm_moe_dsa": _indexed,
        "deepseek_v4": _deepseek_v4,
        "kimi_linear": _kimi_linear,
        "minimax": _minimax,
        "minimax_m3": _minimax_m3,
        "minimax_m3_text": _minimax_m3,
        "minimax_m1": _minimax,
        "minimax_text_01": _minimax,
    }
)
"""The architectures of mixed layers that are understood, by `model_type`."""
