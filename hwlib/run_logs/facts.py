"""What ran: the numbers of a run that its log says, that follow from what it says, or that the reader is told."""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from hwlib.run_logs.records import LoggedStep, RunLog

DEGREES = ("tp", "pp", "cp", "ep", "dp")
REPLICAS = {"tp": 1, "pp": 1, "cp": 1}
USUAL: Mapping[str, Mapping[str, Any]] = {
    "trainer": REPLICAS,
    "deepspeed": REPLICAS,
    "nanogpt": {**REPLICAS, "zero": 0, "recompute": "none"},
    "torchtune": {**REPLICAS, "zero": 3},
    "composer": {**REPLICAS, "zero": 3},
}
"""What programs do unless their user says otherwise: replicas, whose states some divide."""
PROJECTIONS: Mapping[str, str] = {
    **{f"{name}_proj": name for name in ("q", "k", "v", "gate", "up", "down")},
    **{"o_proj": "o", "output_proj": "o"},
}
"""Matrices by the names of projections, which torchtune and PEFT give them."""
GATED_MLP = ("gate", "up", "down")
FALSE = ("none", "false", "no", "null", "0")
OPTION, DERIVED, USUALLY = "option", "derived", "usual"


@dataclass(frozen=True)
class RunFact:
    """A value, and where it comes from: the number of a line of the log, OPTION, DERIVED of others, or USUALLY of this
    program.
    """

    value: Any
    origin: int | str

    def __str__(self) -> str:
        where = f"line {self.origin}" if isinstance(self.origin, int) else self.origin
        return f"{self.value} ({where})"


Facts = Mapping[str, RunFact]


def value_of(facts: Facts, name: str) -> Any:
    """The value of a fact; None if nobody says it."""
    return facts[name].value if name in facts else None


def facts_of(log: RunLog, options: Mapping[str, Any]) -> dict[str, RunFact]:
    """Everything that is known of a run by name: gpus, tp, pp, cp, ep, dp, v, sequence, batch (sequences of a step),
    batch_tokens, micro, zero, recompute, dtype, model, chip and others. What the reader tells counts more than the log.

    >>> from hwlib.run_logs import read_run_log
    >>> log = read_run_log("tokens per iteration will be: 262,144\\niter 340: loss 5.4983, time 33785.52ms, mfu 0.96%")
    >>> facts_of(log, {"gpus": 2})["batch_tokens"].value
    262144.0
    """
    facts: dict[str, RunFact] = {}
    for setting in log.settings:
        facts.setdefault(setting.name, RunFact(setting.value, setting.line))
    facts |= {name: RunFact(value, OPTION) for name, value in options.items() if value is not None}
    _batch_of_steps(log, facts)
    _derive(facts, (*_degrees(facts), *_batch(facts), *_words(log, facts)))
    _fitting_micro(log, facts)
    for name, value in USUAL.get(log.program, {}).items():
        facts.setdefault(name, RunFact(value, USUALLY))
    if "accumulation" in facts:
        _derive(facts, _degrees(facts))
        _derive(facts, _batch(facts))
    return facts


def _derive(facts: dict[str, RunFact], pairs: Iterable[tuple[str, Any]]) -> None:
    for name, value in pairs:
        if value is not None:
            facts.setdefault(name, RunFact(value, DERIVED))


def _product(facts: Facts, *names: str) -> float | None:
    total = 1.0
    for name in names:
        value = value_of(facts, name)
        if not isinstance(value, int | float) or value <= 0:
            return None
        total *= value
    return total


def _batch_of_steps(log: RunLog, facts: dict[str, RunFact]) -> None:
    """The batch of the steps themselves, which the last line has: it may have ramped up since the start."""
    last = next((step for step in reversed(log.steps) if step.batch), None)
    if last and facts.get("batch", RunFact(None, 0)).origin != OPTION:
        facts["batch"] = RunFact(last.batch, last.line)
    for name, derived in (("samples", "batch"), ("tokens", "batch_tokens")):
        if derived not in facts and (rise := rise_of(log.steps, name)):
            facts[derived] = RunFact(rise, DERIVED)
    tokens = [step.tokens / step.samples for step in log.steps if step.tokens and step.samples]
    if tokens:
        facts.setdefault("sequence", RunFact(median(tokens), DERIVED))


def rise_of(steps: tuple[LoggedStep, ...], name: str) -> float | None:
    """By how much a count grows in a step, in the median; None where fewer than two lines have it."""
    rises = []
    for before, step in itertools.pairwise(steps):
        low, high = getattr(before, name), getattr(step, name)
        if low is not None and high is not None and high > low and step.step > before.step:
            rises.append((high - low) / (step.step - before.step))
    return median(rises) if rises else None


def _degrees(facts: Facts) -> list[tuple[str, Any]]:
    """The number of GPUs from the degrees, and the one degree that is missing."""
    of_mesh = _product(facts, "copies", "shards")
    dp = value_of(facts, "dp") or of_mesh
    known = {name: value_of(facts, name) for name in ("tp", "pp", "cp")}
    gpus = value_of(facts, "gpus")
    others = 1.0
    for value in known.values():
        others *= value or 1.0
    stages = value_of(facts, "stages")
    pp = known["pp"] or 1.0
    return [
        ("dp", of_mesh),
        ("gpus", dp * others if dp and (of_mesh or any(known.values())) else None),
        ("dp", gpus / others if gpus and any(known.values()) and gpus % others == 0 else None),
        ("v", stages / pp if stages and stages > pp and stages % pp == 0 else None),
    ]


def _batch(facts: Facts) -> list[tuple[str, Any]]:
    """The tokens of a step, from sequences, or the sequences from tokens."""
    dp, micro = value_of(facts, "dp"), value_of(facts, "micro") or value_of(facts, "local_batch")
    batch = value_of(facts, "batch")
    padded = "packed" in facts and not is_true(value_of(facts, "packed"))
    if not batch and micro and dp:
        batch = micro * dp * (value_of(facts, "accumulation") or 1.0)
    tokens = value_of(facts, "batch_tokens")
    T = value_of(facts, "sequence")
    if not tokens and batch and T and not padded:
        tokens = batch * T
    if not batch and tokens and T and tokens % T == 0:
        batch = tokens / T
    return [("batch", batch), ("batch_tokens", tokens), ("micro", value_of(facts, "local_batch"))]


def _fitting_micro(log: RunLog, facts: dict[str, RunFact]) -> None:
    """Composer takes the whole batch of a device where a microbatch is longer."""
    batch, gpus, micro = (value_of(facts, name) for name in ("batch", "gpus", "micro"))
    if log.program == "composer" and batch and gpus and micro and micro > batch / gpus >= 1:
        facts["micro"] = RunFact(batch // gpus, DERIVED)


def is_true(text: Any) -> bool:
    """Whether the words of a setting switch something on."""
    return isinstance(text, str) and text.strip().lower() not in FALSE


def _words(log: RunLog, facts: Facts) -> list[tuple[str, Any]]:
    """Precision and recomputation, in the words of the planner."""
    precision = str(value_of(facts, "precision") or "")
    dtype = "fp8" if is_true(value_of(facts, "fp8")) or "fp8" in precision else None
    dtype = dtype or ("fp4" if "fp4" in precision else None)
    dtype = dtype or ("bf16" if is_true(value_of(facts, "bf16")) or "bf16" in precision else None)
    dtype = dtype or ("bf16" if log.program == "torchtitan" else None)
    checkpointing = value_of(facts, "checkpointing")
    recompute = None
    if isinstance(checkpointing, str):
        recompute = "full" if is_true(checkpointing) else "none"
    zero = 3 if value_of(facts, "sharding") in ("FSDP", "HSDP", "FULL_SHARD", "HYBRID_SHARD") else None
    if zero is None and "zero1" in facts:
        zero = 1 if is_true(value_of(facts, "zero1")) else 0
    zeros = [("zero", zero), ("zero", _fsdp(log, facts))]
    return [("dtype", dtype), ("recompute", recompute), *zeros, ("lora", _lora(log, facts))]


def _lora(log: RunLog, facts: Facts) -> str | None:
    """Adapters by what a log says of their rank and matrices, in the words of the planner."""
    rank = value_of(facts, "lora_rank")
    if not rank:
        return None
    names = [
        PROJECTIONS[str(row.value)] for row in log.settings if row.name == "lora_matrix" and row.value in PROJECTIONS
    ]
    names += GATED_MLP if is_true(value_of(facts, "lora_mlp")) else ()
    return f"{int(rank)}@{'+'.join(dict.fromkeys(names))}" if names else str(int(rank))


def _fsdp(log: RunLog, facts: Facts) -> int | None:
    """What torchtitan does where it divides states and has no pipeline: it frees weights after each pass."""
    shards, pp = value_of(facts, "shards"), value_of(facts, "pp") or 1
    return 3 if log.program == "torchtitan" and shards and shards > 1 and pp == 1 else None
