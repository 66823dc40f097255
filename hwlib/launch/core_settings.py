"""A training plan in the words of Megatron Core: the fields of its configuration, which Megatron-LM's options and the
overrides of a recipe of Megatron-Bridge both set.
"""

from collections.abc import Collection
from typing import Any, NamedTuple

from hwlib.constraints import lacking
from hwlib.footprint import LOSSES, MEGATRON_ADAM, States
from hwlib.launch.layouts import even, layout_text
from hwlib.planner.costs import Plan
from hwlib.planner.task import Task
from hwlib.specs import Model, features, models
from hwlib.strategy import recomputed_modules
from hwlib.units import plural

FEATURES = "megatron-core"
USUAL = ("hidden_dropout", "attention_dropout")
DEEPEP_NODE = 8  # GPUs of the largest node for which NVIDIA's recipes take DeepEP; in racks they take HybridEP


class CoreSettings(NamedTuple):
    """Fields by name: of the model's shape, and of how it is divided; and what no field says."""

    shape: dict[str, Any]
    parallel: dict[str, Any]
    not_expressed: tuple[str, ...]


def core_settings(task: Task, plan: Plan) -> CoreSettings:
    """The settings of a plan."""
    lost = [*lacking(features[FEATURES], plan.strategy), *shape_losses(task.model)]
    lost += software_losses(task, ("megatron", "nemo"))
    lost += state_losses(task)
    if task.model.mtp_layers and not task.software.mtp:
        lost.append(f"{task.model.mtp_layers} module for multi-token prediction: the plan does not train it (--mtp)")
    shape = shape_fields(task.model, task.T)
    if task.software.mtp:
        shape["mtp_num_layers"] = task.model.mtp_layers
    parallel = {**degree_fields(task, plan), **recompute_fields(plan), **overlap_fields(task, plan, lost)}
    if task.model.moe and task.software.dedup_dispatch:
        backend = "hybridep" if task.machine.full_node > DEEPEP_NODE else "deepep"
        parallel |= {"moe_token_dispatcher_type": "flex", "moe_flex_dispatcher_backend": backend}
    return CoreSettings(shape, parallel, tuple(lost))


def shape_fields(model: Model, T: int) -> dict[str, Any]:
    """The model's shape."""
    fields: dict[str, Any] = {
        "num_layers": model.layers,
        "hidden_size": model.width,
        "ffn_hidden_size": model.ffn,
        "num_attention_heads": model.heads,
        "num_query_groups": model.heads if model.mla else model.kv_heads,
        "kv_channels": model.head_dim,
        "vocab_size": model.vocab,
        "max_position_embeddings": model.positions or max(model.context, T),
        "position_embedding_type": "learned_absolute" if model.positions else "rope",
        "normalization": "RMSNorm" if model.norm == "rms" else "LayerNorm",
        "add_bias_linear": model.biases == "all",
        "add_qkv_bias": model.biases in ("qkv", "attention"),
        "gated_linear_unit": model.gated,
        "share_embeddings_and_output_weights": model.tied,
        "qk_layernorm": model.qk_norm or model.mla,
    }
    if not model.dropout:
        fields |= dict.fromkeys(USUAL, 0.0)
    if model.sinks:
        fields["softmax_type"] = "learnable"
    if model.window_layers:
        fields["window_size"] = (model.window - 1, 0)
        if model.window_layers < model.layers:
            fields["window_attn_skip_freq"] = window_frequency(model)
    return {**fields, **(mla_fields(model) if model.mla else {}), **(expert_fields(model) if model.moe else {})}


def key_of(model: Model, keys: Collection[str]) -> str:
    """The one of some keys of the table of models that is this model, by its name or by its shape; empty for none."""
    if model.key in keys:
        return model.key
    ours = {**shape_fields(model, 1), "max_position_embeddings": 0}
    same = (key for key in keys if {**shape_fields(models[key], 1), "max_position_embeddings": 0} == ours)
    return next(same, "")


def window_frequency(model: Model) -> int | str:
    """Which layers see a window only: all but one of so many, or, if that does not come out, the first ones."""
    whole = model.layers - model.window_layers
    if model.layers % whole == 0:
        return model.layers // whole
    return f"([1]*{model.window_layers}+[0]*{whole})"


def mla_fields(model: Model) -> dict[str, Any]:
    """Latent attention."""
    return {
        "multi_latent_attention": True,
        "q_lora_rank": model.q_lora or None,
        "kv_lora_rank": model.kv_lora,
        "qk_head_dim": model.nope_dim,
        "qk_pos_emb_head_dim": model.rope_dim,
        "v_head_dim": model.v_dim,
    }


def expert_fields(model: Model) -> dict[str, Any]:
    """Experts and their router."""
    fields: dict[str, Any] = {
        "num_moe_experts": model.experts,
        "moe_router_topk": model.experts_per_token,
        "moe_ffn_hidden_size": model.expert_ffn,
        "moe_grouped_gemm": True,
        "moe_token_dispatcher_type": "alltoall",
    }
    if model.experts_per_token == 1:  # the weight of one expert after the softmax over it would be 1
        fields["moe_router_pre_softmax"] = True
    if model.dense_layers:
        fields["moe_layer_freq"] = f"([0]*{model.dense_layers}+[1]*{model.moe_layers})"
    if model.shared_experts:
        fields["moe_shared_expert_intermediate_size"] = model.shared_experts * model.expert_ffn
        fields["moe_shared_expert_gate"] = bool(vars(model).get("shared_gate", False))
    if model.router_bias:
        fields |= {"moe_router_enable_expert_bias": True, "moe_router_score_function": "sigmoid"}
    return fields


def unknown_shape(model: Model) -> tuple[str, ...]:
    """What the table of models does not have, and a model has."""
    unknown = [f"the activation, where it is not {'SiLU' if model.gated else 'GELU'}"]
    if not model.positions:
        unknown.append("the base of rotary positions, and its scaling for long contexts")
    if model.moe:
        unknown.append("how the router balances experts: its loss and coefficient")
    return tuple(unknown)


def shape_losses(model: Model) -> list[str]:
    """What a model has of a shape and no field says."""
    has = vars(model).get
    others = {
        f"norms of kind {model.norm!r}": model.norm not in ("rms", "layer"),
        f"biases of kind {model.biases!r}, but those of queries, keys and values": model.biases in ("attention", "mlp"),
        "gains of queries and keys that all heads have their own of": has("qk_norm_full", False),
        f"{has('layer_norms', 2)} norms a layer": has("layer_norms", 2) != 2,
        "a norm after the embedding": has("embedding_norm", False),
        "biases of the output layer": has("head_bias", False),
        "a gate of what attention gives": has("attention_gate", False),
        "one matrix for keys and values": has("shared_values", False),
        "other heads in layers without a window": model.full_heads is not None,
        "MLPs of several widths": model.wider > 0,
        "experts of a width of their own": model.expert_width > 0,
        "gains beside those of norms": model.gains > 0,
    }
    lost = [f"of {model.name}, in the table of models: {model.note}"] if model.note else []
    lost += [f"{what}: no field of Megatron Core has them" for what, there in others.items() if there]
    if model.parallel:
        lost.append("attention and MLP side by side in a layer: Megatron Core has them one after the other")
    if model.window_layers and model.layers % (model.layers - model.window_layers or 1):
        lost.append("which layers have a window: the table has their number only; the first ones are taken")
    return lost


def degree_fields(task: Task, plan: Plan) -> dict[str, Any]:
    """The degrees, and how layers are divided among chunks."""
    strategy, model = plan.strategy, task.model
    fields: dict[str, Any] = {
        "tensor_model_parallel_size": strategy.tp,
        "pipeline_model_parallel_size": strategy.pp,
        "context_parallel_size": strategy.cp,
        "sequence_parallel": bool(strategy.sp and strategy.tp > 1),
    }
    if model.moe:
        fields |= {"expert_model_parallel_size": strategy.ep, "expert_tensor_parallel_size": strategy.expert_tp}
    if strategy.pp > 1:
        if not even(model, strategy.pp, strategy.v):
            mtp = model.mtp_layers if task.software.mtp else 0
            fields["pipeline_model_parallel_layout"] = layout_text(model, strategy.pp, strategy.v, mtp)
        elif strategy.v > 1:
            fields["virtual_pipeline_model_parallel_size"] = strategy.v
    return fields


def recompute_fields(plan: Plan) -> dict[str, Any]:
    """What is recomputed."""
    strategy = plan.strategy
    if strategy.recompute == "full":
        method = {"recompute_method": "uniform", "recompute_num_layers": 1}
        if strategy.recompute_layers is not None:
            method = {"recompute_method": "block", "recompute_num_layers": strategy.recompute_layers}
        return {"recompute_granularity": "full", **method}
    names = recomputed_modules(strategy.recompute_code)
    if not names or strategy.recompute == "op":
        return {}
    return {"recompute_granularity": "selective", "recompute_modules": tuple(names)}


def overlap_fields(task: Task, plan: Plan, lost: list[str]) -> dict[str, Any]:
    """Transfers that run beside arithmetic, where the plan's time counts on it; what cannot goes to `lost`."""
    strategy, stack = plan.strategy, task.stack
    fields: dict[str, Any] = {}
    if stack.hide_tp and strategy.tp > 1 and strategy.sp:
        fields["tp_comm_overlap"] = True
    if stack.hide_ep and strategy.ep > 1:
        if strategy.recompute == "full" or "moe" in recomputed_modules(strategy.recompute_code):
            lost.append("transfers to experts beside another microbatch: not with what this plan recomputes")
        elif strategy.pp > 1 and strategy.v == 1:
            lost.append("transfers to experts beside another microbatch: with a pipeline only if it is interleaved")
        else:
            fields["overlap_moe_expert_parallel_comm"] = True
    return fields


def software_losses(task: Task, families: tuple[str, ...]) -> list[str]:
    """Settings of the software that the plan assumes and no field says; `families` are beginnings of the names of
    software whose constants are those of what is started.
    """
    lost = []
    if not task.stack.features.startswith(families):
        lost.append(f"the plan's times: they are of {task.stack.key} ({task.stack.software}), another software")
    if task.software.dtype in ("fp8", "fp4"):
        lost.append(f"the recipe of scaling in {task.software.dtype}: a plan knows the rate of products only")
    if task.trained and (task.trained.adapters or task.trained.optimizer != "adamw"):
        lost.append(f"what is trained: {task.trained}")
    if task.software.loss != LOSSES[0]:
        lost.append(f"a {task.software.loss} loss: the plan's memory counts on one")
    if task.software.expert_imbalance > 1:
        lost.append(f"experts with {task.software.expert_imbalance:g} times the mean load: training makes it")
    return lost


def state_losses(task: Task) -> list[str]:
    """Bytes of a parameter, where the plan counts on others than Adam with a copy in 32 bits has."""
    usual, states = States(*MEGATRON_ADAM), task.states
    if states == usual:
        return []
    of = f"{states.weight:g} bytes of weight, {states.gradient:g} of gradient, {states.optimizer:g} in the optimizer"
    return [f"{of} for a parameter: it has {usual.weight:g}, {usual.gradient:g} and {usual.optimizer:g} here"]


def optimizer_copies(plan: Plan, lost: list[str]) -> int | None:
    """HSDP's copies of the states; None without it, and where dp cannot be cut so."""
    strategy = plan.strategy
    if not (strategy.hybrid and strategy.zero):
        return None
    copies, over = strategy.copies, plural(strategy.shard_ranks, "rank")
    if strategy.dp % copies:
        lost.append(f"states over {over}: {copies} copies do not divide dp {strategy.dp}")
        return None
    return copies


def offloaded_layers(task: Task, plan: Plan, lost: list[str]) -> int | None:
    """Layers whose activations the host keeps, all but the last; None without, and where Megatron Core cannot."""
    if not task.software.host_keeps("activations"):
        return None
    if plan.strategy.pp > 1 or plan.strategy.recompute != "none":
        lost.append("activations in the host's memory: not with a pipeline or recomputation")
        return None
    return max(task.model.layers - 1, 1)
