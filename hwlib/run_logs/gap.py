"""The gap between a measured step and the one that the model predicts, taken apart.

A part is only what the log shows, or what the model gives with its error. The rest is unknown: where it is smaller than
the error of the model there is nothing to explain.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from hwlib.run_logs.finding import RunFinding
from hwlib.run_logs.modelled import ModelledStep
from hwlib.run_logs.pace import RunPace

WITHIN = ("data", "save", "collect", "profile", "evaluate", "reloop", "allocator", "periodic", "irregular", "slow_rank")
"""Kinds of findings whose seconds are part of a mean step, beyond what the model predicts."""
NAMES = {"save": "checkpoint", "periodic": "unknown, every few steps", "irregular": "unknown, at times"}


@dataclass(frozen=True)
class GapPart:
    """Seconds of a mean step by a name; of the model, or of the log."""

    name: str
    seconds: float
    source: str


@dataclass(frozen=True)
class Gap:
    """Measured and predicted seconds of a step, the interval of the prediction, and the parts of the measured one; the
    last of them is what is unknown, below zero where the run is faster than predicted. `explained` says that it is
    within the model's error; `within` are the places of a server's unknown seconds that its log shows.
    """

    measured: float
    predicted: float
    low: float
    high: float
    parts: tuple[GapPart, ...]
    unknown: float
    explained: bool
    within: tuple[GapPart, ...] = ()


def gap_of(pace: RunPace, model: ModelledStep, findings: Sequence[RunFinding]) -> Gap:
    """The parts of the mean step after its warm-up."""
    time = model.plan.time
    modelled = {
        "compute": time.compute + time.recomputed,
        "exposed communication": time.tp + time.cp + time.ep + time.pp + time.dp,
        "bubble": time.bubble,
        "update of the weights": time.optimizer,
        "host": time.other + time.offload,
    }
    parts = [GapPart(name, float(seconds), "model") for name, seconds in modelled.items() if seconds]
    parts += [
        GapPart(NAMES.get(finding.kind, finding.kind), finding.seconds, "log")
        for finding in findings
        if finding.kind in WITHIN and finding.seconds and "the program's own times leave it out" not in finding.sentence
    ]
    unknown = pace.mean - sum(part.seconds for part in parts)
    of_log = sum(part.seconds for part in parts if part.source == "log")
    explained = model.low <= pace.mean - of_log <= model.high
    return Gap(pace.mean, model.plan.seconds, model.low, model.high, tuple(parts), unknown, explained)
