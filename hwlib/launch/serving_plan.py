"""What the writers of serving commands read of a serving plan, and what they share."""

from typing import Protocol

from hwlib.planner.task import Machine
from hwlib.specs import Model


class Pool(Protocol):
    """Servers that are alike, as `hwlib.serving_planner.plan.Pool` says."""

    @property
    def tp(self) -> int:
        """GPUs that share each layer's attention."""

    @property
    def ep(self) -> int:
        """GPUs of a replica over which experts are divided whole."""

    @property
    def attention_dp(self) -> int:
        """Groups of a replica with sequences of their own."""

    @property
    def replicas(self) -> int:
        """Such servers."""

    @property
    def batch(self) -> int:
        """Sequences of a replica at once."""


class ServingPlan(Protocol):
    """How a model is served, as `hwlib.serving_planner.plan.ServingPlan` says."""

    @property
    def model(self) -> Model:
        """The model."""

    @property
    def machine(self) -> Machine:
        """The GPUs, and how they are joined."""

    @property
    def decode(self) -> Pool:
        """Servers that generate."""

    @property
    def prefill(self) -> Pool | None:
        """Servers that only read prompts."""

    @property
    def dtype(self) -> str:
        """Format of the weights' products."""

    @property
    def kv_dtype(self) -> str:
        """Format of the cache."""

    @property
    def prompt(self) -> int:
        """Tokens of a prompt."""

    @property
    def output(self) -> int:
        """Tokens of an answer."""

    @property
    def chunk(self) -> int | None:
        """Most tokens of prompts in a step of each group, where the same servers do both."""


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
    found = []
    if pool.batch % pool.attention_dp:
        found.append(f"{pool.batch} sequences over {pool.attention_dp} groups: each may have {group_batch(pool)}")
    return found


def longest(plan: ServingPlan, setting: str) -> str:
    """That lengths of requests are means."""
    return (
        f"{setting} of the longest request: {plan.prompt + plan.output:,} is that of one with the plan's mean lengths"
    )


def copies(pool: Pool, what: str) -> str:
    """How often a command is run, as its comment."""
    many = f"{pool.replicas} of these, behind a router" if pool.replicas > 1 else "one of these"
    return f"{what}: {many}, on {replica_gpus(pool)} GPUs each"
