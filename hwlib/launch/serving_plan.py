"""What the writers of serving commands share: the steps and the batches of a pool of servers."""

from collections.abc import Container

from hwlib.launch.megatron import maker
from hwlib.serving_planner.plan import Pool, ServingPlan
from hwlib.units import plural


def replica_gpus(pool: Pool) -> int:
    """GPUs of one server."""
    return pool.tp * pool.attention_dp


def group_batch(pool: Pool) -> int:
    """Sequences at once of each group that has sequences of its own."""
    return -(-pool.batch // pool.attention_dp)


def prompt_tokens(plan: ServingPlan, pool: Pool, reads: bool) -> int:
    """Most tokens of a step of each group: those of prompts (a chunk, or one whole prompt), and one of each other
    sequence.
    """
    prompts = plan.chunk if plan.chunk and plan.prefill is None else plan.prompt
    return (prompts if reads else 0) + group_batch(pool)


def pool_losses(pool: Pool) -> list[str]:
    """What no server can be told of a plan, whatever its software."""
    lost = []
    if pool.batch % pool.attention_dp:
        lost.append(
            f"{plural(pool.batch, 'sequence')} over {pool.attention_dp} groups: each may have {group_batch(pool)}"
        )
    return lost


def longest(plan: ServingPlan, setting: str) -> str:
    """That lengths of requests are means."""
    return (
        f"{setting} of the longest request: {plan.prompt + plan.output:,} is that of one with the plan's mean lengths"
    )


def to_know(plan: ServingPlan, name: str, chips: str) -> list[str]:
    """What is to be known of a chip by its owner's description: whether a software of this name runs on it."""
    chip = plan.machine.chip
    if maker(chip) != "own":
        return []
    return [f"that {name} runs on {chip.name}: it is written for {chips}, and no table says whose chip that is"]


def copies(pool: Pool, what: str) -> str:
    """How often a command is run, as its comment."""
    many = f"{pool.replicas} of these, behind a router" if pool.replicas > 1 else "one of these"
    return f"{what}: {many}, on {plural(replica_gpus(pool), 'GPU')} each"


def format_losses(plan: ServingPlan, name: str, own: Container[str], cache: Container[str]) -> list[str]:
    """What a software of this name is not told of weights, in formats that are the checkpoint's `own`, and of a cache
    in one that it has not.
    """
    lost = []
    if plan.dtype in own:
        lost.append(f"weights in {plan.dtype}: they are the checkpoint's, which {name} finds out by itself")
    if plan.kv_dtype not in cache:
        lost.append(f"a cache in {plan.kv_dtype}: {name} has no such format of this name; its default is taken")
    return lost
