"""The architectures of Hugging Face's `config.json`: what the fields of each mean, as fields of `hwlib.specs.Model`.

Each is one function, named after the file's `model_type`. Which matrices have biases, where norms stand, and what a
field has that a file leaves out are what the classes of that name in Transformers do.

>>> sorted(ARCHITECTURES)[:4]
['RefinedWeb', 'RefinedWebModel', 'bloom', 'cohere']
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from hwlib.specs.config_fields import Config

TRAINED = 2048
"""Tokens of BLOOM's sequences in training (bloom), whose file need not say a length: positions have no table."""
Shape = dict[str, Any]


# What several architectures share


def usual(
    c: Config, *, tied: bool = False, head_dim: int | None = None, needs_kv: bool = False, ffn: int | None = None
) -> Shape:
    """The shape of a decoder as Llama's file tells it; `tied`, `head_dim` and `ffn` are what it has where the file says
    nothing, and `needs_kv` whether the number of key-value heads must be said.
    """
    width, heads = c.count("hidden_size"), c.count("num_attention_heads")
    return {
        "layers": c.count("num_hidden_layers"),
        "width": width,
        "ffn": c.count("intermediate_size", default=ffn),
        "heads": heads,
        "kv_heads": c.count("num_key_value_heads", default=None if needs_kv else heads),
        "head_dim": _head_dim(c, "hidden_size", heads, head_dim),
        "vocab": c.count("vocab_size"),
        "context": c.count("max_position_embeddings"),
        "tied": c.flag("tie_word_embeddings", tied),
    }


def _head_dim(c: Config, width: str, heads: int, usually: int | None = None) -> int:
    head_dim = c.count("head_dim", default=usually or 0, low=1)
    return head_dim or c.divided(width, heads)


def gpt(c: Config, *, tied: bool = True) -> Shape:
    """The shape of a decoder of GPT's kind: as many key-value heads as heads, norms with offsets, no gate."""
    width, heads = c.count("hidden_size", "n_embd", "n_embed", "d_model"), _heads(c)
    name = c.get("hidden_size", "n_embd", "n_embed", "d_model")[0]
    return {
        "layers": c.count("num_hidden_layers", "n_layer", "n_layers"),
        "width": width,
        "heads": heads,
        "kv_heads": heads,
        "head_dim": c.divided(name, heads),
        "vocab": c.count("vocab_size"),
        "ffn": c.count("intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size", default=4 * width),
        "norm": "layer",
        "gated": False,
        "tied": c.flag("tie_word_embeddings", tied),
    }


def _heads(c: Config) -> int:
    return c.count("num_attention_heads", "n_head", "n_heads")


def attention_biases(c: Config, biases: str = "attention") -> Shape:
    """The biases that `attention_bias` asks for; none where it does not."""
    return {"biases": biases} if c.flag("attention_bias", False) else {}


def llama_biases(c: Config) -> Shape:
    """Biases of attention's four matrices, of the MLP's three, or of both."""
    biases = c.flag("attention_bias", False), c.flag("mlp_bias", False)
    return {"biases": {(True, True): "all", (True, False): "attention", (False, True): "mlp"}.get(biases, "none")}


def windows(c: Config, layers: int, windowed: int | None) -> Shape:
    """The layers with a window: those that `layer_types` names, else `windowed` of them, if the file has a window.
    None: the file must name them.
    """
    window = c.count("sliding_window", "sliding_window_size", default=0, low=0)
    _, kinds = c.get("layer_types")
    if kinds is None:
        if window and windowed is None:
            raise c.wrong("layer_types", "the kind of each layer, as the file has a sliding_window")
        return {"window": window, "window_layers": windowed} if window and windowed else {}
    known = ("full_attention", "sliding_attention")
    if not isinstance(kinds, list) or len(kinds) != layers or any(kind not in known for kind in kinds):
        raise c.wrong("layer_types", f"{layers} of {', '.join(known)}")
    count = kinds.count("sliding_attention")
    return {"window": c.count("sliding_window", "sliding_window_size"), "window_layers": count} if count else {}


def qwen_windows(c: Config, layers: int) -> Shape:
    """Windows from `max_window_layers` on, where `use_sliding_window` asks for them."""
    first = c.count("max_window_layers", default=layers, low=0)
    if not c.flag("use_sliding_window", False):
        c.get("sliding_window")
        c.get("layer_types")
        return {}
    return windows(c, layers, max(layers - first, 0))


def every(c: Config, layers: int, usually: int) -> Shape:
    """Windows in all layers but every n-th."""
    n = c.count("sliding_window_pattern", "_sliding_window_pattern", default=usually)
    return windows(c, layers, layers - layers // n)


def experts(c: Config, number: str, width: str, *, token: tuple[str, ...] = ("num_experts_per_tok",)) -> Shape:
    """Routed experts, their width, and how many a token takes."""
    return {"experts": c.count(number), "experts_per_token": c.count(*token), "expert_ffn": c.count(width)}


def sparse_layers(c: Config, layers: int) -> Shape:
    """Qwen's choice of layers without experts."""
    step = c.count("decoder_sparse_step", default=1)
    _, dense = c.get("mlp_only_layers")
    if not isinstance(dense or [], list) or not all(isinstance(i, int) and 0 <= i < layers for i in dense or []):
        raise c.wrong("mlp_only_layers", f"a list of layers from 0 to {layers - 1}")
    return {"dense_layers": sum(i in (dense or []) or (i + 1) % step > 0 for i in range(layers))}


def first_dense(c: Config, layers: int) -> Shape:
    """DeepSeek's choice of layers without experts: the first, and of the others all but every n-th."""
    first, step = c.count("first_k_dense_replace", default=0, low=0), c.count("moe_layer_freq", default=1)
    c.only("decoder_sparse_step", 1)
    dense = sum(i < first or i % step > 0 for i in range(layers))
    _, kinds = c.get("mlp_layer_types")
    if kinds is None:
        return {"dense_layers": dense}
    if not isinstance(kinds, list) or len(kinds) != layers or any(kind not in ("dense", "sparse") for kind in kinds):
        raise c.wrong("mlp_layer_types", f"{layers} of dense, sparse")
    if dense not in (0, kinds.count("dense")):
        raise c.wrong("mlp_layer_types", f"{dense} dense layers, as first_k_dense_replace says")
    return {"dense_layers": kinds.count("dense")}


# Architectures


def _llama(c: Config) -> Shape:
    return usual(c) | llama_biases(c)


def _mistral(c: Config) -> Shape:
    shape = usual(c, needs_kv=True)
    return shape | windows(c, shape["layers"], shape["layers"])


def _mixtral(c: Config) -> Shape:
    return _mistral(c) | experts(c, "num_local_experts", "intermediate_size")


def _qwen2(c: Config) -> Shape:
    shape = usual(c, needs_kv=True)
    c.only("attention_bias", True)
    return shape | {"biases": "qkv"} | qwen_windows(c, shape["layers"])


def _qwen2_moe(c: Config) -> Shape:
    shape = _qwen2(c) | experts(c, "num_experts", "moe_intermediate_size")
    shared = c.count("shared_expert_intermediate_size")
    if shared % shape["expert_ffn"]:
        raise c.wrong("shared_expert_intermediate_size", f"a multiple of the experts' width, {shape['expert_ffn']}")
    shape |= {"shared_experts": shared // shape["expert_ffn"], "shared_gate": True}
    return shape | sparse_layers(c, shape["layers"])


def _qwen3(c: Config) -> Shape:
    c.only("use_qk_norm", True)
    shape = usual(c, head_dim=128, needs_kv=True) | {"qk_norm": True}
    return shape | attention_biases(c) | qwen_windows(c, shape["layers"])


def _qwen3_moe(c: Config) -> Shape:
    c.only("use_qk_norm", True)
    shape = usual(c, needs_kv=True) | {"qk_norm": True} | attention_biases(c)
    shape |= qwen_windows(c, shape["layers"]) | experts(c, "num_experts", "moe_intermediate_size")
    return shape | sparse_layers(c, shape["layers"])


def _mimo(c: Config) -> Shape:
    return _qwen2(c) | {"mtp_layers": c.count("num_nextn_predict_layers", default=0, low=0)}


def _gemma(c: Config) -> Shape:
    return usual(c, tied=True, head_dim=256, needs_kv=True) | attention_biases(c)


def _gemma2(c: Config) -> Shape:
    shape = _gemma(c) | {"layer_norms": 4}
    return shape | windows(c, shape["layers"], -(-shape["layers"] // 2))


def _gemma3(c: Config) -> Shape:
    shape = _gemma(c) | {"layer_norms": 4, "qk_norm": True}
    return shape | every(c, shape["layers"], 6)


def _phi3(c: Config) -> Shape:
    shape = usual(c)
    c.only("attention_bias", False)
    return shape | windows(c, shape["layers"], shape["layers"])


def _smollm3(c: Config) -> Shape:
    shape = usual(c, tied=True, needs_kv=True) | llama_biases(c)
    return shape | qwen_windows(c, shape["layers"])


def _granite_moe(c: Config) -> Shape:
    return usual(c) | attention_biases(c) | experts(c, "num_local_experts", "intermediate_size")


def _olmo(c: Config) -> Shape:
    return usual(c) | attention_biases(c) | {"norm": "bare"}


def _olmo2(c: Config) -> Shape:
    return usual(c) | attention_biases(c) | {"qk_norm": True, "qk_norm_full": True}


def _olmo3(c: Config) -> Shape:
    shape = _olmo2(c)
    return shape | every(c, shape["layers"], 4)


def _olmoe(c: Config) -> Shape:
    return _olmo2(c) | experts(c, "num_experts", "intermediate_size")


def _exaone4(c: Config) -> Shape:
    shape = usual(c, needs_kv=True) | {"qk_norm": True}
    c.get("sliding_window_pattern")  # said again by layer_types
    return shape | windows(c, shape["layers"], None)


def _glm4_moe(c: Config) -> Shape:
    shape = usual(c, needs_kv=True) | attention_biases(c, "qkv") | {"qk_norm": c.flag("use_qk_norm", False)}
    return shape | routed(c, shape["layers"]) | {"router_bias": True}


def routed(c: Config, layers: int) -> Shape:
    """Experts as DeepSeek's file tells them."""
    shape = experts(c, "n_routed_experts", "moe_intermediate_size")
    c.get("n_routed_experts", "num_experts")  # some files say it twice
    shape["shared_experts"] = c.count("n_shared_experts", default=0, low=0)
    shape["mtp_layers"] = c.count("num_nextn_predict_layers", default=0, low=0)
    return shape | first_dense(c, layers)


def latent(c: Config, tied: bool = False) -> Shape:
    """A decoder with latent attention (MLA), without what its layers have for an MLP."""
    heads = _heads(c)
    c.only("attention_bias", False)
    c.count("num_key_value_heads", default=heads)  # every head has a key and a value of its own, unfolded
    inner = {
        "q_lora": c.count("q_lora_rank", default=0),
        "kv_lora": c.count("kv_lora_rank"),
        "rope_dim": c.count("qk_rope_head_dim"),
        "nope_dim": c.count("qk_nope_head_dim"),
        "v_dim": c.count("v_head_dim"),
    }
    c.get("head_dim")  # of the part with the position, of a key, or of a value: files differ
    c.get("qk_head_dim")
    return {
        "layers": c.count("num_hidden_layers"),
        "width": c.count("hidden_size"),
        "ffn": c.count("intermediate_size"),
        "heads": heads,
        "kv_heads": heads,
        "head_dim": inner["v_dim"],
        "vocab": c.count("vocab_size"),
        "context": c.count("max_position_embeddings", default=c.count("model_max_length", default=0) or None),
        "tied": c.flag("tie_word_embeddings", tied),
        **inner,
    }


def _deepseek(c: Config) -> Shape:
    shape = latent(c)
    return shape | routed(c, shape["layers"])


def _deepseek_v2(c: Config) -> Shape:
    c.only("topk_method", "greedy", "group_limited_greedy")
    return _deepseek(c)


def deepseek_v3(c: Config) -> Shape:
    """DeepSeek-V3, and what begins as it does."""
    c.only("topk_method", "noaux_tc")
    return _deepseek(c) | {"router_bias": True}


def _gpt_oss(c: Config) -> Shape:
    shape = usual(c, head_dim=64, needs_kv=True) | {"biases": "all", "sinks": True, "rotary_scaled": True}
    c.only("attention_bias", True)
    shape |= experts(c, "num_local_experts", "intermediate_size", token=("num_experts_per_tok", "experts_per_token"))
    return shape | windows(c, shape["layers"], -(-shape["layers"] // 2))


def _cohere(c: Config) -> Shape:
    shape = usual(c, tied=True) | attention_biases(c)
    qk_norm = c.flag("use_qk_norm", False)
    return shape | {"norm": "gain", "parallel": True, "layer_norms": 1, "qk_norm": qk_norm, "qk_norm_full": qk_norm}


def _cohere2(c: Config) -> Shape:
    shape = _cohere(c)
    return shape | every(c, shape["layers"], 4)


def _stablelm(c: Config) -> Shape:
    parallel = c.flag("use_parallel_residual", False)
    c.only("qk_layernorm", False)
    shape = usual(c) | {"norm": "layer", "parallel": parallel, "layer_norms": 1 if parallel else 2}
    return shape | ({"biases": "qkv"} if c.flag("use_qkv_bias", False) else {})


def _starcoder2(c: Config) -> Shape:
    shape = usual(c, tied=True, needs_kv=True) | {"norm": "layer", "gated": False}
    c.only("mlp_type", "default")
    c.only("norm_type", "layer_norm")
    shape["biases"] = "all" if c.flag("use_bias", True) else "none"
    return shape | windows(c, shape["layers"], shape["layers"])


def _phi(c: Config) -> Shape:
    c.only("qk_layernorm", False)
    c.get("attention_bias")  # the class has biases whatever is said
    return usual(c) | {
        "norm": "layer",
        "biases": "all",
        "head_bias": True,
        "gated": False,
        "parallel": True,
        "layer_norms": 1,
    }


def _gpt2(c: Config) -> Shape:
    positions = c.count("n_positions", "n_ctx")
    dropout = any(
        isinstance(c.fields.get(name), float) and c.fields[name] > 0 for name in ("attn_pdrop", "resid_pdrop")
    )
    return gpt(c) | {"biases": "all", "positions": positions, "context": positions, "dropout": dropout}


def _gptj(c: Config) -> Shape:
    shape = gpt(c, tied=False) | {"biases": "mlp", "head_bias": True, "parallel": True, "layer_norms": 1}
    return shape | {"context": c.count("n_positions")}


def _gpt_neox(c: Config) -> Shape:
    c.only("attention_bias", True)
    parallel = c.flag("use_parallel_residual", True)
    context = c.count("max_position_embeddings")
    return gpt(c, tied=False) | {"biases": "all", "parallel": parallel, "context": context}


def _opt(c: Config) -> Shape:
    c.only("do_layer_norm_before", True)
    c.only("enable_bias", True)
    c.only("layer_norm_elementwise_affine", True)
    c.only("word_embed_proj_dim", c.fields.get("hidden_size"))
    context = c.count("max_position_embeddings")
    return gpt(c) | {"biases": "all", "context": context, "positions": context + 2}  # two rows before the first


def _bloom(c: Config) -> Shape:
    context = c.count("seq_length", default=TRAINED)
    return gpt(c) | {"biases": "all", "embedding_norm": True, "context": context}


def _falcon(c: Config) -> Shape:
    shape = gpt(c)
    new = c.flag("new_decoder_architecture", c.fields["model_type"] == "RefinedWeb")
    if new:
        norms = c.count("num_ln_in_parallel_attn", default=2)
        kv_heads = c.count("num_kv_heads", "n_head_kv", default=shape["heads"])
    else:
        norms = 1 if c.flag("parallel_attn", True) else 2
        c.get("num_kv_heads", "n_head_kv")
        kv_heads = 1 if c.flag("multi_query", True) else shape["heads"]
    c.get("multi_query")
    c.get("alibi")  # of either kind, positions have no parameters
    parallel = new or c.flag("parallel_attn", True)
    c.get("parallel_attn")
    shape["biases"] = "all" if c.flag("bias", False) else "none"
    context = c.count("max_position_embeddings", default=2048)  # what the class has (falcon)
    return shape | {"kv_heads": kv_heads, "parallel": parallel, "layer_norms": norms, "context": context}


def _mpt(c: Config) -> Shape:
    shape = gpt(c) | {"ffn": c.count("expansion_ratio", default=4) * c.count("d_model")}
    attention = c.inner("attn_config")
    kinds = {"multihead_attention": shape["heads"], "multiquery_attention": 1, "grouped_query_attention": None}
    _, kind = attention.get("attn_type")
    if kind not in (None, *kinds):
        raise attention.wrong("attn_type", f"one of {', '.join(kinds)}")
    grouped = attention.count("kv_n_heads", default=shape["heads"])
    attention.only("qk_ln", False)
    attention.get("attn_impl")
    attention.get("attn_uses_sequence_id")
    learned = (
        c.flag("learned_pos_emb", True) and not attention.flag("alibi", False) and not attention.flag("rope", False)
    )
    attention.finished()
    c.only("norm_type", "low_precision_layernorm", "layernorm")
    c.only("embedding_fraction", 1.0, 1)
    bare = c.flag("no_bias", True)
    context = c.count("max_seq_len")
    return shape | {
        "kv_heads": kinds.get(kind) or grouped,
        "norm": "gain" if bare else "layer",
        "context": context,
        "biases": "none" if bare else "all",
        "positions": context if learned else 0,
    }


ARCHITECTURES: Mapping[str, Callable[[Config], Shape]] = MappingProxyType(
    {
        "llama": _llama, "granite": _llama, "mistral": _mistral, "mixtral": _mixtral, "qwen2": _qwen2,
        "qwen2_moe": _qwen2_moe, "qwen3": _qwen3, "qwen3_moe": _qwen3_moe, "mimo": _mimo, "gemma": _gemma,
        "gemma2": _gemma2, "gemma3_text": _gemma3, "phi": _phi, "phi3": _phi3, "smollm3": _smollm3,
        "granitemoe": _granite_moe, "olmo": _olmo, "olmo2": _olmo2, "olmo3": _olmo3, "olmoe": _olmoe,
        "exaone4": _exaone4, "glm4_moe": _glm4_moe, "deepseek_v2": _deepseek_v2, "deepseek_v3": deepseek_v3,
        "kimi_k2": deepseek_v3, "gpt_oss": _gpt_oss, "cohere": _cohere, "cohere2": _cohere2, "stablelm": _stablelm,
        "starcoder2": _starcoder2, "gpt2": _gpt2, "gptj": _gptj, "gpt_neox": _gpt_neox, "opt": _opt, "bloom": _bloom,
        "falcon": _falcon, "RefinedWeb": _falcon, "RefinedWebModel": _falcon, "mpt": _mpt,
    }
)  # fmt: skip
"""The architectures that are understood, by `model_type`."""
