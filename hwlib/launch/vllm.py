"""A serving plan as commands of vLLM: vllm serve."""

from typing import Any

from hwlib.calibrated.serving_drafts import Drafting
from hwlib.launch.hosts import hosts_of
from hwlib.launch.launch import Argument, Command, Launch, LaunchError
from hwlib.launch.megatron import NO_GPUS, maker
from hwlib.launch.serving_plan import (
    copies,
    format_losses,
    group_batch,
    longest,
    pool_losses,
    prompt_tokens,
    replica_gpus,
    to_know,
)
from hwlib.serving_planner.plan import Pool, ServingPlan
from hwlib.units import plural

WEIGHTS = {"bf16": {}, "fp16": {"--dtype": "float16"}, "fp8": {"--quantization": "fp8"}}
"""bf16 is what a checkpoint has; fp8 is made of one in bf16 when it is loaded, and of one in fp8 it is its own."""
OWN_FORMAT = ("fp4", "mxfp4", "int8", "int4", "int8w", "int4w")
CACHE = {"bf16": "auto", "fp16": "auto", "fp8": "fp8", "fp4": "nvfp4"} | {
    name: f"{name}_per_token_head" for name in ("int8", "int4")
}
LATENT = {"fp4": "nvfp4_ds_mla"}
CONNECTOR = "NixlConnector"


def emit_vllm(plan: ServingPlan) -> Launch:
    """The commands: one server, or one that reads prompts and one that generates. Raises LaunchError for chips that
    vLLM does not run on by itself.
    """
    chip = plan.machine.chip
    if maker(chip) in NO_GPUS:
        raise LaunchError(f"emit: vllm is written for GPUs of NVIDIA and AMD here, and the cluster has {chip.name}")
    lost = [*to_know(plan, "vLLM", "GPUs of NVIDIA and AMD here")]
    lost += format_losses(plan, "vLLM", OWN_FORMAT, CACHE)
    if plan.prefill is None:
        commands = pool_commands(plan, plan.decode, "servers", "", lost)
    else:
        commands = pool_commands(plan, plan.prefill, "servers that read prompts", "kv_producer", lost)
        commands += pool_commands(plan, plan.decode, "servers that generate", "kv_consumer", lost)
    lost.append("how much memory the cache gets: --gpu-memory-utilization is vLLM's own, of all that a GPU has")
    add = ["$MODEL: the name of the checkpoint, or its folder", longest(plan, "--max-model-len")]
    if plan.drafting and plan.drafting.method == "eagle3":
        add.append("$DRAFT: the name of the EAGLE-3 head's checkpoint, or its folder")
    if WEIGHTS.get(plan.dtype):
        (word, value), *_ = WEIGHTS[plan.dtype].items()
        add.append(
            f"a checkpoint in bfloat16, of which {word} {value} makes one; of one that is quantized, leave it out"
        )
    if any(one.value("--master-addr") or one.value("--data-parallel-address") for one in commands):
        add.append("$HEAD_ADDRESS: the first host of a server; $NODE_RANK: 0 on it, 1 on the next, and so on")
    if plan.prefill is not None:
        add.append("a router that sends a request to a server of prompts, and then to one that generates")
    elif plan.decode.replicas > 1:
        add.append("a router that shares requests among the servers")
    return Launch("vllm", tuple(commands), (), tuple(dict.fromkeys(lost)), tuple(add))


def _cache_type(plan: ServingPlan) -> str:
    own = LATENT if plan.model.latent_key else {}
    return own.get(plan.kv_dtype, CACHE.get(plan.kv_dtype, "auto"))


def pool_commands(plan: ServingPlan, pool: Pool, what: str, role: str, lost: list[str]) -> list[Command]:
    """The command of the servers of a pool; of one on several hosts, that of the others too."""
    lost += pool_losses(pool)
    options: dict[str, Any] = {"--tensor-parallel-size": pool.tp}
    if pool.attention_dp > 1:
        options["--data-parallel-size"] = pool.attention_dp
        if not plan.model.moe:
            lost.append("groups of a dense model that share its MLPs: in vLLM each has all of its weights")
    options |= expert_options(plan, pool, lost)
    options |= {
        "--max-num-seqs": group_batch(pool),
        "--max-num-batched-tokens": max(prompt_tokens(plan, pool, role != "kv_consumer"), group_batch(pool)),
        "--max-model-len": plan.prompt + plan.output,
        "--kv-cache-dtype": _cache_type(plan),
        **WEIGHTS.get(plan.dtype, {}),
    }
    options |= prefix_options(plan)
    if plan.drafting and role != "kv_producer":
        options["--speculative-config"] = speculative_config(plan.drafting)
    if plan.chunk and plan.prefill is None:
        options["--enable-chunked-prefill"] = None
    if role:
        options["--kv-transfer-config"] = {"kv_connector": CONNECTOR, "kv_role": role}
    return on_hosts(plan, pool, options, copies(pool, what))


def prefix_options(plan: ServingPlan) -> dict[str, Any]:
    """Whether beginnings of prompts are reused, and where states are kept for it; of a plan that says nothing of them,
    what vLLM does by itself.
    """
    if plan.prefix is None:
        return {}
    if not plan.prefix.reused:
        return {"--no-enable-prefix-caching": None}
    every = {"--mamba-cache-mode": "align", "--mamba-block-size": plan.prefix.state_every}
    return {"--enable-prefix-caching": None} | (every if plan.prefix.state_every else {})


def speculative_config(drafting: Drafting) -> dict[str, Any]:
    """What vLLM is told of drafts: a model's own modules are in its checkpoint, a head is one of its own."""
    config: dict[str, Any] = {"method": drafting.method, "num_speculative_tokens": drafting.drafts}
    return config | ({"model": "$DRAFT"} if drafting.method == "eagle3" else {})


def expert_options(plan: ServingPlan, pool: Pool, lost: list[str]) -> dict[str, Any]:
    """Experts are divided over all GPUs of a server, or each is cut among them."""
    if not plan.model.moe or pool.ep == 1:
        return {}
    if pool.ep < replica_gpus(pool):
        lost.append(
            f"experts over {pool.ep} of a server's {plural(replica_gpus(pool), 'GPU')}: vLLM divides them over all"
        )
    return {"--enable-expert-parallel": None}


def on_hosts(plan: ServingPlan, pool: Pool, options: dict[str, Any], said: str) -> list[Command]:
    """The command on each of a server's hosts: groups are spread over them, or a group that is larger than one."""
    hosts = hosts_of(plan.machine, replica_gpus(pool))
    words = ("vllm", "serve", "$MODEL")
    if hosts.number > 1 and pool.tp > hosts.gpus:
        options |= {"--nnodes": hosts.number, "--node-rank": "$NODE_RANK", "--master-addr": "$HEAD_ADDRESS"}
        return [Command(words, _arguments(options), f"{said}; on each of its {hosts.number} hosts")]
    if hosts.number > 1:
        local = hosts.gpus // pool.tp
        options |= {"--data-parallel-size-local": local, "--data-parallel-address": "$HEAD_ADDRESS"}
        other = options | {"--data-parallel-start-rank": f"$((NODE_RANK*{local}))", "--headless": None}
        return [
            Command(words, _arguments(options), f"{said}; on the first of its {hosts.number} hosts"),
            Command(words, _arguments(other), "on the others"),
        ]
    return [Command(words, _arguments(options), said)]


def _arguments(options: dict[str, Any]) -> tuple[Argument, ...]:
    return tuple(Argument(name, value) for name, value in options.items())
