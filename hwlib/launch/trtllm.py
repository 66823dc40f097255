"""A serving plan as commands of TensorRT-LLM: trtllm-serve, with files of its LLM API."""

from typing import Any

from hwlib.launch.hosts import hosts_of
from hwlib.launch.launch import Argument, Command, File, Launch, written
from hwlib.launch.megatron import on_nvidia
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

CACHE = {"bf16": "auto", "fp16": "auto", "fp8": "fp8", "fp4": "nvfp4"}
OWN_FORMAT = ("fp8", "fp4", "mxfp4", "int8", "int4", "int8w", "int4w")
PORTS = {"context": 8100, "generation": 8200}  # of the servers behind the one that requests come to


def emit_trtllm(plan: ServingPlan) -> Launch:
    """The commands and their files: one server, or one of each kind and the one before them. Raises LaunchError for
    chips that TensorRT-LLM does not run on.
    """
    on_nvidia(plan.machine.chip, "trtllm")
    lost = [*to_know(plan, "TensorRT-LLM", "GPUs of NVIDIA alone")]
    lost += format_losses(plan, "TensorRT-LLM", OWN_FORMAT, CACHE)
    if plan.prefill is None:
        files = [server_file(plan, plan.decode, "server", lost)]
        commands = [serve("server", 0, copies(plan.decode, "servers"))]
    else:
        pools = {"context": plan.prefill, "generation": plan.decode}
        meaning = {"context": "servers that read prompts", "generation": "servers that generate"}
        files = [server_file(plan, pool, kind, lost) for kind, pool in pools.items()]
        commands = [
            serve(kind, PORTS[kind], f"{copies(pool, meaning[kind])}; on ports from {PORTS[kind]} on")
            for kind, pool in pools.items()
        ]
        files.append(router_file(pools))
        router = (Argument("--config", "disaggregated.yaml"),)
        commands.append(Command(("trtllm-serve", "disaggregated"), router, "the server that requests come to"))
    if plan.prefix:
        lost.append("what of prompts is in the cache: TensorRT-LLM reuses blocks by itself")
    if plan.drafting:
        lost.append("drafts: TensorRT-LLM's speculative_config, which is not written here")
    lost.append("how much memory the cache gets: free_gpu_memory_fraction is TensorRT-LLM's own, of what weights leave")
    add = ["$MODEL: the name of the checkpoint, or its folder", longest(plan, "max_seq_len")]
    if plan.prefill is not None:
        add.append("the hosts of the servers in disaggregated.yaml, in place of localhost")
    elif plan.decode.replicas > 1:
        add.append("a router that shares requests among the servers")
    if max(replica_gpus(pool) for pool in (plan.decode, plan.prefill) if pool) > plan.machine.full_node:
        add.append("a launcher of MPI for a server on several hosts: mpirun or srun trtllm-llmapi-launch before it")
    return Launch("trtllm", tuple(commands), tuple(files), tuple(dict.fromkeys(lost)), tuple(add))


def server_settings(plan: ServingPlan, pool: Pool, kind: str, lost: list[str]) -> dict[str, Any]:
    """The settings of a server's file. Its tensor-parallel ranks are all its GPUs: with attention_dp each of them has
    sequences of its own.
    """
    lost += pool_losses(pool)
    gpus = replica_gpus(pool)
    if pool.attention_dp > 1 and pool.tp > 1:
        lost.append(
            f"groups of {plural(pool.tp, 'GPU')} with sequences of their own: with attention_dp each GPU has its own"
        )
    each = -(-pool.batch // gpus) if pool.attention_dp > 1 else pool.batch
    tokens = prompt_tokens(plan, pool, kind != "generation") - group_batch(pool) + each
    settings: dict[str, Any] = {
        "tensor_parallel_size": gpus,
        "enable_attention_dp": pool.attention_dp > 1,
        "max_batch_size": each,
        "max_num_tokens": tokens,
        "max_seq_len": plan.prompt + plan.output,
        "enable_chunked_prefill": bool(plan.chunk) and plan.prefill is None,
        "kv_cache_config.dtype": CACHE.get(plan.kv_dtype, "auto"),
    }
    if plan.dtype == "fp16":
        settings["dtype"] = "float16"
    if plan.model.moe:
        settings |= {"moe_expert_parallel_size": pool.ep, "moe_tensor_parallel_size": gpus // pool.ep}
    if gpus > (hosts := hosts_of(plan.machine, gpus)).gpus:
        settings["gpus_per_node"] = hosts.gpus
    if plan.prefill is not None:
        settings["cache_transceiver_config.backend"] = "DEFAULT"
        settings["cache_transceiver_config.max_tokens_in_buffer"] = plan.prompt
    return settings


def server_file(plan: ServingPlan, pool: Pool, kind: str, lost: list[str]) -> File:
    """The file of a server."""
    settings = server_settings(plan, pool, kind, lost)
    return File(f"{kind}.yaml", yaml(settings), tuple(Argument(*one) for one in settings.items()))


def router_file(pools: dict[str, Pool]) -> File:
    """The file of the server before the others: where they are."""
    settings: dict[str, Any] = {"disaggregated.hostname": "localhost", "disaggregated.port": 8000}
    for kind, pool in pools.items():
        urls = tuple(f"localhost:{PORTS[kind] + i}" for i in range(pool.replicas))
        settings[f"disaggregated.{kind}_servers.num_instances"] = pool.replicas
        settings[f"disaggregated.{kind}_servers.urls"] = urls
    text = yaml({name.removeprefix("disaggregated."): value for name, value in settings.items()})
    return File("disaggregated.yaml", text, tuple(Argument(*one) for one in settings.items()))


def serve(kind: str, port: int, said: str) -> Command:
    """The command of a server; behind another its port too, from which its copies count on."""
    words = [Argument("--config", f"{kind}.yaml")]
    words += [Argument("--port", port)] if port else []
    return Command(("trtllm-serve", "$MODEL"), tuple(words), said)


def yaml(settings: dict[str, Any]) -> str:
    """Settings with dots in their names, as YAML."""
    tree: dict[str, Any] = {}
    for name, value in settings.items():
        at = tree
        *above, last = name.split(".")
        for word in above:
            at = at.setdefault(word, {})
        at[last] = value
    return "\n".join(_lines(tree, "")) + "\n"


def _lines(tree: dict[str, Any], indent: str) -> list[str]:
    lines = []
    for name, value in tree.items():
        if isinstance(value, dict):
            lines += [f"{indent}{name}:", *_lines(value, indent + "  ")]
        elif isinstance(value, tuple):
            lines += [f"{indent}{name}:", *(f'{indent}  - "{one}"' for one in value)]
        else:
            lines.append(f"{indent}{name}: {written(value)}")
    return lines
