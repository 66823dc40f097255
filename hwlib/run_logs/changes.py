"""What to try on a run: what the log shows to be lost, and what the planner predicts of other plans."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hwlib.planner import PlanError
from hwlib.planner.certainty import plan_error
from hwlib.run_logs.finding import LIKELY, POSSIBLE, RunFinding
from hwlib.run_logs.gap import Gap
from hwlib.run_logs.modelled import ModelledStep, planned

COUNT, LEAST = 3, 0.01  # changes that are named, and the share of the time below which none is
REMEDIES = {
    "data": "load data ahead: more workers of the loader, or a prefetch of several batches",
    "save": "save asynchronously, or less often",
    "evaluate": "evaluate less often, or on fewer batches",
    "collect": "collect garbage less often, and on all ranks at once",
    "profile": "switch the profiler off",
    "host": "give the GPUs more at once: a longer batch, compilation or CUDA graphs",
    "slow_rank": "find the slow rank's GPU (clocks, temperature, errors of its links) and leave it out",
    "allocator": "take less memory: a shorter microbatch, or more recomputation",
}
EVERY = ("tp", "pp", "cp", "ep", "v", "micro", "zero", "recompute")
FREED = (
    (("micro",), "microbatches"),
    (("recompute",), "recomputation"),
    (("micro", "recompute"), "microbatches and recomputation"),
    (("zero", "shards"), "the stage of ZeRO"),
    (("v", "micro", "schedule"), "interleaving"),
    ((*EVERY, "shards", "schedule", "etp"), "everything"),
)
"""Degrees that are left to the planner together."""


@dataclass(frozen=True)
class RunChange:
    """A change worth trying: in words, the share of the time that it should save, within which shares, and how sure
    that is.
    """

    sentence: str
    gain: float
    low: float
    high: float
    sure: str


def changes_of(findings: Sequence[RunFinding], model: ModelledStep | None, gap: Gap | None) -> tuple[RunChange, ...]:
    """The most useful changes, at most `COUNT`. A plan saves a share of what the model explains of the measured step:
    of one that takes twice as long as predicted half as much, and no more than possibly.
    """
    explained = min(gap.predicted / gap.measured, 1.0) if gap else 1.0
    sure = gap is None or gap.explained
    changes = [*_remedies(findings), *(_other_plans(model, explained, sure) if model else ())]
    changes.sort(key=lambda change: -change.gain)
    return tuple(changes[:COUNT])


def _remedies(findings: Sequence[RunFinding]) -> Iterator[RunChange]:
    for finding in findings:
        share = finding.share or 0.0
        if finding.kind in REMEDIES and share > LEAST:
            yield RunChange(REMEDIES[finding.kind], share, 0.0, share, finding.sure)


def _other_plans(model: ModelledStep, explained: float, known: bool) -> Iterator[RunChange]:
    """Plans of the planner with some degrees free, and the rest as in the run."""
    seen: set[Any] = {model.plan.strategy}
    degrees = model.plan.strategy.degrees
    run = {name: degrees[name] for name in EVERY if name in degrees} | dict(model.pinned)
    for names, words in FREED:
        pinned = {name: value for name, value in run.items() if name not in names}
        try:
            plans = planned(model.arguments, pinned)
        except (PlanError, ValueError):
            continue
        best = plans[0]
        gain = 1 - best.seconds / model.plan.seconds
        if best.strategy in seen or gain * explained < LEAST:
            continue
        seen.add(best.strategy)
        error = plan_error(plans.task, best.strategy).mean
        sentence = f"choose {words} anew: {best} instead of {model.plan}"
        low, high = 1 - (1 - gain) * (1 + error), 1 - (1 - gain) / (1 + error)
        sure = LIKELY if known and gain > max(error, model.error) else POSSIBLE
        yield RunChange(sentence, gain * explained, low * explained, high * explained, sure)
