"""A training plan as a configuration of torchtitan: a function in Python that changes one of its own, and torchrun."""

import re
from itertools import groupby
from typing import Any, NamedTuple

from hwlib.constraints import lacking
from hwlib.footprint import OFFLOAD
from hwlib.launch.core_settings import key_of, software_losses
from hwlib.launch.hosts import hosts_of
from hwlib.launch.launch import Argument, Command, File, Launch, LaunchError
from hwlib.launch.layouts import chunk_layers
from hwlib.launch.megatron import NO_GPUS, torchrun, whole_micro
from hwlib.planner.costs import Plan
from hwlib.planner.task import Task
from hwlib.specs import Model, features
from hwlib.units import plural

FEATURES = "torchtitan"
SCHEDULES = {"gpipe": "GPipe", "1f1b": "1F1B", "zb_h1": "1F1B", "zbv": "ZBVZeroBubble", "dualpipe": "DualPipeV"}
POLICIES = {"full": "FullAC", "op": "SelectiveAC"}


class Flavor(NamedTuple):
    """A model of torchtitan's: its module, the function whose configuration is changed, and its size there."""

    module: str
    function: str
    size: str


FLAVORS = {
    "llama3-8b": Flavor("llama3", "llama3_8b", "8B"),
    "llama3-70b": Flavor("llama3", "llama3_70b", "70B"),
    "llama3-405b": Flavor("llama3", "llama3_405b", "405B"),
    "qwen3-0.6b": Flavor("qwen3", "qwen3_0_6b", "0.6B"),
    "qwen3-1.7b": Flavor("qwen3", "qwen3_1_7b", "1.7B"),
    "qwen3-4b": Flavor("qwen3", "qwen3_14b", "4B"),
    "qwen3-8b": Flavor("qwen3", "qwen3_14b", "8B"),
    "qwen3-14b": Flavor("qwen3", "qwen3_14b", "14B"),
    "qwen3-32b": Flavor("qwen3", "qwen3_32b", "32B"),
    "qwen3-30b-a3b": Flavor("qwen3", "qwen3_30b_a3b", "30B-A3B"),
    "qwen3-235b-a22b": Flavor("qwen3", "qwen3_30b_a3b", "235B-A22B"),
    "gpt-oss-20b": Flavor("gpt_oss", "gpt_oss_20b", "20b"),
    "gpt-oss-120b": Flavor("gpt_oss", "gpt_oss_120b", "120b"),
    "deepseek-v3": Flavor("deepseek_v3", "deepseek_v3_671b", "671B"),
}
OWN = Flavor("llama3", "llama3_8b", "")  # whose loss, optimizer and data a model of one's own begins with
STAGES = '''
def stages(layers: list[int]) -> list[list[str]]:
    """The modules of every chunk of the pipeline, which have so many layers."""
    ends = [sum(layers[: i + 1]) for i in range(len(layers))]
    parts = [[f"layers.{i}" for i in range(end - n, end)] for n, end in zip(layers, ends)]
    parts[0].insert(0, "tok_embeddings")
    parts[-1] += ["norm", "lm_head"]
    return parts

'''


def emit_torchtitan(task: Task, plan: Plan) -> Launch:
    """The configuration's file, and the command. Raises LaunchError for chips that are no GPUs."""
    if task.machine.chip.vendor in NO_GPUS:
        raise LaunchError(f"emit: torchtitan runs on GPUs, and the cluster has {task.machine.chip.name}")
    lost = [*lacking(features[FEATURES], plan.strategy), *software_losses(task, ("torchtitan",))]
    settings = {
        **batch(task, plan, lost),
        **degrees(task, plan, lost),
        **pipeline(task, plan, lost),
        **precision(task, lost),
        **compiled(task, plan),
        "activation_checkpoint.policy": policy(plan, lost),
    }
    flavor = FLAVORS.get(key_of(task.model, FLAVORS))
    if task.software.mtp and flavor and flavor.module != "deepseek_v3":
        lost.append("modules for multi-token prediction: torchtitan's model has none")
    moved = "torchtitan moves parameters, gradients and optimizer together"
    lost += [f"{what} in the host's memory: {moved}" for what in OFFLOAD if task.software.host_keeps(what)]
    name = re.sub(r"\W+", "_", f"run_{task.model.key}_{task.gpus}_gpus")
    module = "gpubook_run"
    file = File(f"{module}.py", code(task, name, flavor, settings), tuple(Argument(*item) for item in settings.items()))
    head = torchrun(hosts_of(task.machine), "-m torchtitan.train")
    command = Command(head, (Argument("--module", module), Argument("--config", name)), environment=("PYTHONPATH=.",))
    return Launch("torchtitan", (command,), (file,), tuple(lost), to_add(task, flavor))


def batch(task: Task, plan: Plan, lost: list[str]) -> dict[str, Any]:
    """Batches: a rank's is all of its microbatches with a pipeline, and one, with gradients summed, without."""
    micro = whole_micro(plan, lost)
    settings: dict[str, Any] = {
        "training.seq_len": task.T,
        "training.disable_cuda_graphs": plan.strategy.pp > 1 or plan.strategy.ep > 1,  # they are for neither
        "training.local_batch_size": micro * plan.m if plan.strategy.pp > 1 else micro,
        "training.global_batch_size": task.sequences,
    }
    if plan.strategy.pp > 1:
        settings["parallelism.pipeline_parallel_microbatch_size"] = micro
    return settings


def degrees(task: Task, plan: Plan, lost: list[str]) -> dict[str, Any]:
    """The mesh: FSDP divides states over dp_shard * cp ranks, and dp_replicate has copies."""
    strategy = plan.strategy
    shard = 1 if not strategy.zero else strategy.dp
    if strategy.zero:
        if strategy.shard_ranks % strategy.cp or strategy.dp % max(strategy.shard_ranks // strategy.cp, 1):
            lost.append(
                f"states over {plural(strategy.shard_ranks, 'rank')}: "
                f"torchtitan has a part of dp {strategy.dp} times cp {strategy.cp}"
            )
        else:
            shard = strategy.shard_ranks // strategy.cp
    if strategy.zero == 1:
        lost.append("gradients that every rank has all of: FSDP divides them; weights stay gathered in a step")
    if strategy.cp > 1 and not strategy.zero:
        lost.append("states that are not divided: torchtitan divides them over context-parallel ranks")
    settings: dict[str, Any] = {
        "parallelism.data_parallel_replicate_degree": strategy.dp // shard,
        "parallelism.data_parallel_shard_degree": shard,
        "parallelism.fsdp_reshard_after_forward": {3: "always", 0: "default"}.get(strategy.zero, "never"),
        "parallelism.tensor_parallel_degree": strategy.tp,
        "parallelism.enable_sequence_parallel": bool(strategy.sp),
        "parallelism.context_parallel_degree": strategy.cp,
        "parallelism.pipeline_parallel_degree": strategy.pp,
    }
    if task.model.moe:
        settings["parallelism.expert_parallel_degree"] = strategy.ep
        if strategy.expert_tp > 1:
            lost.append(f"experts cut among {strategy.expert_tp} ranks: torchtitan leaves them whole")
        ranks = shard * strategy.cp * strategy.tp
        if ranks % strategy.ep:
            lost.append(f"experts over {strategy.ep} ranks: they do not divide the {ranks} of FSDP, cp and tp")
    return settings


def pipeline(task: Task, plan: Plan, lost: list[str]) -> dict[str, Any]:
    """The schedule and the layers of every chunk."""
    strategy = plan.strategy
    if strategy.pp == 1:
        return {}
    word = "Interleaved1F1B" if strategy.schedule == "1f1b" and strategy.v > 1 else SCHEDULES[strategy.schedule]
    if strategy.schedule in ("zb_h1", "dualpipe"):
        lost.append(f"schedule {strategy.schedule}: {word} is the nearest that torch has")
    runs = [(count, len([*same])) for count, same in groupby(chunk_layers(task.model, strategy.pp, strategy.v))]
    chunks = ", ".join(f"*[{count}] * {many}" if many > 2 else ", ".join([str(count)] * many) for count, many in runs)
    return {
        "parallelism.pipeline_parallel_schedule": word,
        "parallelism.module_fqns_per_model_part": f"stages([{chunks}])",
    }


def precision(task: Task, lost: list[str]) -> dict[str, Any]:
    """Weights in 32 bits, gathered and multiplied in 16; formats of 8 and 4 bits are converters of the model."""
    dtype = task.software.dtype
    if dtype == "fp16":
        lost.append("products in fp16: torchtitan has bfloat16 and float32")
    return {"training.mixed_precision_param": "float32" if dtype == "fp32" else "bfloat16"}


def compiled(task: Task, plan: Plan) -> dict[str, Any]:
    """torch.compile, unless the plan's times are those of a run without it; async TP where they count on it."""
    enable = "eager" not in (task.stack.kernels, *task.stack.key.split("-"))
    overlap = enable and task.stack.features == FEATURES and bool(task.stack.hide_tp) and plan.strategy.tp > 1
    return {"compile.enable": enable, "compile.enable_async_tensor_parallel": overlap}


def policy(plan: Plan, lost: list[str]) -> str | None:
    """The class of what is recomputed; None for nothing."""
    strategy = plan.strategy
    if strategy.recompute == "none":
        return None
    if strategy.recompute_layers is not None:
        lost.append(f"recomputation of {plural(strategy.recompute_layers, 'layer')}: it is of all layers, or of none")
    return POLICIES.get(strategy.recompute)


def code(task: Task, name: str, flavor: Flavor | None, settings: dict[str, Any]) -> str:
    """The text of the file."""
    module, function, size = flavor or OWN
    policy_name = settings["activation_checkpoint.policy"]
    model = f'model_registry("{size}"{_model_arguments(task)})' if flavor else "my_model_spec()"
    lines = ["from torchtitan.trainer import Trainer"]
    if task.software.dtype in ("fp8", "fp4"):
        used = ["Float8LinearConverter"] if task.software.dtype == "fp8" else ["NVFP4LinearConverter"]
        used += ["Float8GroupedExpertsConverter"] if task.model.moe and task.software.dtype == "fp8" else []
        lines.append(f"from torchtitan.components.quantization import {', '.join(used)}")
    if policy_name:
        lines.append(f"from torchtitan.distributed.activation_checkpoint import {policy_name}")
    if flavor:
        lines.append(f"from torchtitan.models.{module} import model_registry")
    lines.append(f"from torchtitan.models.{module}.config_registry import {function}")
    body = [f"    config = {function}()", f"    config.model_spec = {model}"]
    body += [f"    config.activation_checkpoint = {f'{policy_name}.Config()' if policy_name else None}"]
    for key, value in settings.items():
        if key != "activation_checkpoint.policy":
            calls = isinstance(value, str) and value.startswith("stages(")
            body.append(f"    config.{key} = {value if calls else repr(value)}")
    helper = STAGES if "parallelism.module_fqns_per_model_part" in settings else ""
    imports = "\n".join(sorted(lines))
    return f"{imports}\n\n{helper}\ndef {name}() -> Trainer.Config:\n" + "\n".join([*body, "    return config"]) + "\n"


def _model_arguments(task: Task) -> str:
    """What the model is made with beside its size: formats of 8 or 4 bits, how tokens are sent, further layers."""
    arguments = _converters(task)
    if task.software.dedup_dispatch and task.model.moe:
        arguments += ', moe_comm_backend="deepep"'
    if task.software.mtp and task.model.mla:
        arguments += f", num_mtp_layers={task.model.mtp_layers}"
    return arguments


def _converters(task: Task) -> str:
    """The converters of a model's matrices, as an argument."""
    if task.software.dtype == "fp8":
        unconverted = '["lm_head", "router.gate"]' if task.model.moe else '["lm_head"]'
        converters = [f"Float8LinearConverter.Config(filter_fqns={unconverted}, model_compile_enabled=True)"]
        if task.model.moe:
            converters.append("Float8GroupedExpertsConverter.Config(model_compile_enabled=True)")
    elif task.software.dtype == "fp4":
        converters = ['NVFP4LinearConverter.Config(fqns=["layers"], model_compile_enabled=True)']
    else:
        return ""
    return f", converters=[{', '.join(converters)}]"


def to_add(task: Task, flavor: Flavor | None) -> tuple[str, ...]:
    """What the user knows and the plan does not."""
    missing = [
        "data: config.dataloader and config.hf_assets_path, the folder of the model's tokenizer",
        "the run: config.training.steps, config.optimizer, config.lr_scheduler, config.checkpoint",
    ]
    if not flavor:
        sizes = ", ".join(sorted({one.module for one in FLAVORS.values()}))
        beside = ", ".join(beside_its_sizes(task.model))
        shape = f"{task.model!r}, with {beside}" if beside else f"{task.model!r}"
        missing.insert(0, f"my_model_spec(), of {shape}: torchtitan has models of {sizes} only")
    return tuple(missing)


def beside_its_sizes(model: Model) -> list[str]:
    """What parameters a model has beside those that its sizes tell, in words."""
    heads = "all heads" if model.qk_norm_full else "a head"
    there = {
        f"gains of queries and keys for {heads}": model.qk_norm,
        f"{model.layer_norms} norms a layer": model.layer_norms != 2,
        f"norms of kind {model.norm!r}": model.norm != "rms",
        "a norm after the embedding": model.embedding_norm,
        f"biases of kind {model.biases!r}": model.biases != "none",
        "biases of the output layer": model.head_bias,
        "a bias of the router": model.router_bias,
        "a gate of the shared experts": model.shared_gate,
        "a sink for each head": model.sinks,
        "a gate of what attention gives": model.attention_gate,
        "one matrix for keys and values": model.shared_values,
        "other heads in layers without a window": model.full_heads is not None,
        "MLPs of several widths": model.wider > 0,
        "experts of a width of their own": model.expert_width > 0,
        "gains beside those of norms": model.gains > 0,
        f"a window of {model.window:,} keys in {plural(model.window_layers, 'layer')}": model.window_layers > 0,
    }
    return [words for words, has in there.items() if has]
