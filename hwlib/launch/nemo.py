"""A training plan as a recipe of NeMo's Megatron-Bridge, with overrides of the recipe's fields."""

from typing import Any

from hwlib.launch.core_settings import (
    CoreSettings,
    core_settings,
    key_of,
    offloaded_layers,
    optimizer_copies,
    unknown_shape,
)
from hwlib.launch.hosts import hosts_of
from hwlib.launch.launch import Argument, Command, Launch
from hwlib.launch.megatron import SHARDING, alignment, environment, on_nvidia, padding, torchrun, whole_micro
from hwlib.planner.costs import Plan
from hwlib.planner.task import Task
from hwlib.specs import Model

RECIPES = {
    "llama2-7b": "llama2_7b", "llama3-8b": "llama31_8b", "llama3-70b": "llama31_70b", "llama3-405b": "llama31_405b",
    "qwen2.5-0.5b": "qwen25_500m", "qwen2.5-1.5b": "qwen25_1p5b", "qwen2.5-7b": "qwen25_7b",
    "qwen2.5-14b": "qwen25_14b", "qwen2.5-32b": "qwen25_32b", "qwen2.5-72b": "qwen25_72b",
    "qwen3-0.6b": "qwen3_600m", "qwen3-1.7b": "qwen3_1p7b", "qwen3-4b": "qwen3_4b", "qwen3-8b": "qwen3_8b",
    "qwen3-14b": "qwen3_14b", "qwen3-32b": "qwen3_32b", "qwen3-30b-a3b": "qwen3_30b_a3b",
    "qwen3-235b-a22b": "qwen3_235b_a22b", "gpt-oss-20b": "gpt_oss_20b", "gpt-oss-120b": "gpt_oss_120b",
    "deepseek-v3": "deepseek_v3",
}  # fmt: skip
"""The recipe of a model, without its last words."""
PRECISION = {
    "bf16": "bf16_mixed",
    "fp16": "fp16_mixed",
    "fp8": "bf16_with_fp8_current_scaling_mixed",
    "fp4": "bf16_with_nvfp4_mixed",
}


def emit_nemo(task: Task, plan: Plan) -> Launch:
    """The command. Raises LaunchError for chips that it does not run on."""
    on_nvidia(task.machine.chip, "nemo")
    core = core_settings(task, plan)
    lost = [*core.not_expressed]
    recipe, same = recipe_of(task.model)
    if task.model.positions not in (0, task.T):
        lost.append(f"a table of {task.model.positions:,} positions: it has those of a sequence, {task.T:,}")
    if not same:
        lost.append(f"the name of the model: no recipe is of {task.model.name}; the shape is written into {recipe}")
    overrides = {
        **model_fields(task, plan, core, same),
        "dataset.seq_length": task.T,
        "train.micro_batch_size": whole_micro(plan, lost),
        "train.global_batch_size": task.sequences,
        **data_parallel(plan, lost),
        **kept_by_host(task, plan, lost),
    }
    if task.software.dtype in PRECISION:
        overrides["mixed_precision"] = PRECISION[task.software.dtype]
    else:
        lost.append(f"products in {task.software.dtype}: the recipes mix precisions")
    if rows := padding(task.model.vocab, plan.strategy.tp):
        lost.append(f"a vocabulary of {task.model.vocab:,} rows, which tp does not divide: {rows} are added")
    words = (
        Argument("--recipe", recipe),
        Argument("--mode", "pretrain"),
        *(Argument(name, value) for name, value in overrides.items()),
    )
    head = torchrun(hosts_of(task.machine), "scripts/training/run_recipe.py")
    command = Command(head, words, environment=environment(task, plan, "ddp.use_megatron_fsdp" in overrides))
    add = (
        "data: --dataset mock to try it, or megatron-indexed with dataset.data_path; tokenizer.* of the model",
        "the run: train.train_iters, optimizer.lr and scheduler.*, which are the recipe's; checkpoint.save and load",
        *(() if same else unknown_shape(task.model)),
    )
    return Launch("nemo", (command,), (), tuple(lost), add)


def recipe_of(model: Model) -> tuple[str, bool]:
    """The recipe of a model, and whether it is of this model and not of one of its kind only."""
    if key := key_of(model, RECIPES):
        return f"{RECIPES[key]}_pretrain_config", True
    kind = "deepseek_v3" if model.mla else "qwen3_30b_a3b" if model.moe else "llama3_8b"
    return f"{kind}_pretrain_config", False


def model_fields(task: Task, plan: Plan, core: CoreSettings, same: bool) -> dict[str, Any]:
    """Overrides of the model: all of its shape and division, for a recipe has another one; its activation only where
    the recipe is of another model.
    """
    fields = {
        **{name: value for name, value in core.shape.items() if name != "max_position_embeddings"},
        **({} if same else {"activation_func": "silu" if task.model.gated else "gelu"}),
        "seq_length": task.T,
        "make_vocab_size_divisible_by": alignment(task.model.vocab, plan.strategy.tp),
        "should_pad_vocab": True,
        "pipeline_model_parallel_layout": None,
        "virtual_pipeline_model_parallel_size": None,
        "recompute_granularity": None,
        "recompute_method": None,
        "recompute_num_layers": None,
        **core.parallel,
    }
    if task.model.moe and task.model.dense_layers:
        fields["moe_layer_freq"] = (0,) * task.model.dense_layers + (1,) * task.model.moe_layers
    if isinstance(fields.get("window_attn_skip_freq"), str):
        whole = task.model.layers - task.model.window_layers
        fields["window_attn_skip_freq"] = (1,) * task.model.window_layers + (0,) * whole
    return {f"model.{name}": value for name, value in fields.items()}


def data_parallel(plan: Plan, lost: list[str]) -> dict[str, Any]:
    """ZeRO, as for Megatron-LM, but that a recipe may have it on."""
    strategy = plan.strategy
    fields: dict[str, Any] = {
        "ddp.use_distributed_optimizer": strategy.zero > 0,
        "optimizer.use_distributed_optimizer": strategy.zero > 0,
        "ddp.overlap_grad_reduce": strategy.dp * strategy.cp > 1,
        "ddp.overlap_param_gather": strategy.zero > 0 and strategy.dp * strategy.cp > 1,
    }
    if strategy.zero in SHARDING:
        fields |= {
            "ddp.use_megatron_fsdp": True,
            "dist.use_megatron_fsdp": True,
            "ddp.data_parallel_sharding_strategy": SHARDING[strategy.zero],
            "checkpoint.ckpt_format": "fsdp_dtensor",
        }
    if (copies := optimizer_copies(plan, lost)) is not None:
        fields["ddp.num_distributed_optimizer_instances"] = copies
    return fields


def kept_by_host(task: Task, plan: Plan, lost: list[str]) -> dict[str, Any]:
    """What the host keeps."""
    fields: dict[str, Any] = {}
    if task.software.host_keeps("optimizer"):
        fields |= {"optimizer.optimizer_cpu_offload": True, "optimizer.use_precision_aware_optimizer": True}
    if (layers := offloaded_layers(task, plan, lost)) is not None:
        fields |= {"model.cpu_offloading": True, "model.cpu_offloading_num_layers": layers}
    return fields
