"""A training plan as a command of Megatron-LM: torchrun pretrain_gpt.py with its options."""

from typing import Any

from hwlib.launch.core_settings import core_settings, offloaded_layers, optimizer_copies, unknown_shape
from hwlib.launch.hosts import Hosts, hosts_of
from hwlib.launch.launch import Argument, Command, Launch, LaunchError
from hwlib.planner.costs import Plan
from hwlib.planner.task import Task
from hwlib.specs import Accelerator, Model, accelerators

RENAMED = {
    "num_moe_experts": "--num-experts",
    "virtual_pipeline_model_parallel_size": "--num-virtual-stages-per-pipeline-rank",
}
ALIGNED = 128  # what Megatron-LM makes the rows of its vocabulary a multiple of, for each rank of tensor parallelism
PRECISION: dict[str, dict[str, Any]] = {
    "bf16": {"--bf16": None},
    "fp16": {"--fp16": None},
    "fp32": {},
    "fp8": {"--bf16": None, "--fp8-format": "hybrid"},
    "fp4": {"--bf16": None, "--fp4-format": "e2m1"},
}
SHARDING = {2: "optim_grads", 3: "optim_grads_params"}
NO_GPUS = ("Google", "Amazon")  # vendors of chips that are none
NEWER = ("Blackwell", "Rubin")  # generations that do not need the variable below


def emit_megatron(task: Task, plan: Plan) -> Launch:
    """The command. Raises LaunchError for chips that Megatron-LM does not run on."""
    on_nvidia(task.machine.chip, "megatron")
    core = core_settings(task, plan)
    lost = [*core.not_expressed]
    options: dict[str, Any] = {}
    fields = {**core.shape, **core.parallel}
    if fields["num_query_groups"] == task.model.heads:  # the option is for fewer
        del fields["num_query_groups"]
    for name, value in fields.items():
        options |= option(name, value)
    options |= {
        "--make-vocab-size-divisible-by": alignment(task.model.vocab, plan.strategy.tp),
        "--micro-batch-size": whole_micro(plan, lost),
        "--global-batch-size": task.sequences,
        "--seq-length": task.T,
        **PRECISION[task.software.dtype],
        **data_parallel(plan, lost),
        **kept_by_host(task, plan, lost),
    }
    if rows := padding(task.model.vocab, plan.strategy.tp):
        lost.append(f"a vocabulary of {task.model.vocab:,} rows, which tp does not divide: {rows} are added")
    words = tuple(Argument(name, value) for name, value in options.items())
    fsdp = "--use-megatron-fsdp" in options
    head = torchrun(hosts_of(task.machine), "pretrain_gpt.py")
    command = Command(head, words, environment=environment(task, plan, fsdp))
    return Launch("megatron", (command,), (), tuple(lost), to_add(task.model))


def maker(chip: Accelerator) -> str:
    """Whose a chip is; one that its owner describes is of the maker of the chip of its name, or "own"."""
    known = accelerators.find(chip.name) if chip.vendor == "own" else chip
    return known.vendor if known else chip.vendor


def on_nvidia(chip: Accelerator, software: str) -> None:
    """Raise LaunchError for chips of others, on which software written for NVIDIA's GPUs does not run as it is."""
    if (vendor := maker(chip)) in ("AMD", *NO_GPUS):
        raise LaunchError(f"emit: {software} is written for NVIDIA's GPUs, and the cluster has {vendor}'s {chip.name}")


def torchrun(hosts: Hosts, *script: str) -> tuple[str, ...]:
    """How torchrun starts a rank on each GPU; run on every host."""
    words = ("torchrun", f"--nnodes {hosts.number}", f"--nproc-per-node {hosts.gpus}")
    if hosts.number > 1:
        words += ("--node-rank $NODE_RANK", "--master-addr $MASTER_ADDR", "--master-port $MASTER_PORT")
    return (*words, *script)


def option(name: str, value: Any) -> dict[str, Any]:
    """The option that sets a field of Megatron Core; none where the field has the option's default."""
    flags = {
        "add_bias_linear": {} if value else {"--disable-bias-linear": None},
        "gated_linear_unit": {"--swiglu": None} if value else {},
        "share_embeddings_and_output_weights": {} if value else {"--untie-embeddings-and-output-weights": None},
        "num_query_groups": {"--group-query-attention": None, "--num-query-groups": value},
        "window_size": {"--window-size": ",".join(map(str, value)) if isinstance(value, tuple) else value},
        "window_attn_skip_freq": {"--window-attn-skip-freq": str(value)},
    }
    if name in flags:
        return flags[name]
    if value is None or value is False:
        return {}
    return {RENAMED.get(name, "--" + name.replace("_", "-")): None if value is True else value}


def alignment(vocab: int, tp: int) -> int:
    """The largest multiple that Megatron-LM may round the vocabulary to without adding a row, of powers of two."""
    multiple = ALIGNED
    while multiple > 1 and vocab % (multiple * tp):
        multiple //= 2
    return multiple


def padding(vocab: int, tp: int) -> int:
    """Rows that are added to the vocabulary all the same."""
    return -vocab % (alignment(vocab, tp) * tp)


def whole_micro(plan: Plan, lost: list[str]) -> int:
    """Sequences of a microbatch; a mean of unequal ones is not a setting."""
    micro = plan.strategy.micro
    if int(micro) != micro:
        lost.append(f"microbatches of {micro:g} sequences in the mean: all have the same number")
    return max(1, int(micro))


def data_parallel(plan: Plan, lost: list[str]) -> dict[str, Any]:
    """ZeRO: the distributed optimizer is its first stage, Megatron-FSDP the others; several instances are HSDP."""
    strategy = plan.strategy
    arguments: dict[str, Any] = {}
    if strategy.dp * strategy.cp > 1:
        arguments["--overlap-grad-reduce"] = None
    if strategy.zero:
        arguments["--use-distributed-optimizer"] = None
        if strategy.dp * strategy.cp > 1:
            arguments["--overlap-param-gather"] = None
    if strategy.zero in SHARDING:
        arguments |= {
            "--use-megatron-fsdp": None,
            "--data-parallel-sharding-strategy": SHARDING[strategy.zero],
            "--ckpt-format": "fsdp_dtensor",
        }
    if (copies := optimizer_copies(plan, lost)) is not None:
        arguments["--num-distributed-optimizer-instances"] = copies
    return arguments


def kept_by_host(task: Task, plan: Plan, lost: list[str]) -> dict[str, Any]:
    """What the host keeps."""
    arguments: dict[str, Any] = {}
    if task.software.host_keeps("optimizer"):
        arguments |= {"--optimizer-cpu-offload": None, "--use-precision-aware-optimizer": None}
    if (layers := offloaded_layers(task, plan, lost)) is not None:
        arguments["--cpu-offloading-num-layers"] = layers
    return arguments


def environment(task: Task, plan: Plan, fsdp: bool) -> tuple[str, ...]:
    """The variable that Megatron-LM insists on before Blackwell, where it cuts layers or sequences."""
    old = not task.machine.chip.arch.startswith(NEWER)
    cut = plan.strategy.tp > 1 or plan.strategy.cp > 1
    return ("CUDA_DEVICE_MAX_CONNECTIONS=1",) if old and cut and not fsdp else ()


def to_add(model: Model) -> tuple[str, ...]:
    """What the user knows and the plan does not."""
    return (
        "data: --data-path and --split (or --mock-data), --tokenizer-type and --tokenizer-model (or NullTokenizer)",
        "the run: --train-iters, --lr and its schedule; --save, --save-interval and --load for checkpoints",
        *unknown_shape(model),
    )
