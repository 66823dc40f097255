"""Pairs of plans that were both measured: how often the order that the model predicts is the measured one.

A planner needs no times, it needs an order. So its error is best asked of pairs: of two plans of one model, batch and
machine, the model calls one the quicker, by a certain gap; the measurement says whether it is.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import combinations, pairwise
from statistics import mean
from typing import NamedTuple

from hwlib.specs import Level, MeasuredMixture, Model, accelerators, stacks
from hwlib.steptime import StepTime, step_time
from hwlib.strategy import Strategy

T = 2048  # tokens of a sequence in all of these runs


class Pair(NamedTuple):
    """Two plans of one job. `quicker` is the one that the model calls so: the other's step is longer by `gap`, a share,
    as predicted, and by `measured`, which is negative where the model has the order wrong.
    """

    quicker: MeasuredMixture
    slower: MeasuredMixture
    gap: float
    measured: float

    @property
    def right(self) -> bool:
        """Whether the order is the measured one."""
        return self.measured > 0


def model_of_run(run: MeasuredMixture) -> Model:
    """The decoder that a run trained, a GPT without gates. Of the two sources, vTrain's learns its positions."""
    return Model.small(
        name=f"GPT of {run.layers} layers", layers=run.layers, width=run.width, heads=run.heads, vocab=run.vocab,
        context=T, gated=False, tied=True, biases="all", norm="layer", dropout=True,
        positions=T if run.source == "vtrain" else 0,
    )  # fmt: skip


@cache  # a bank of exercises asks for each run several times
def retrodicted(run: MeasuredMixture, **changed: object) -> StepTime:
    """What the model says of a measured run, with the constants of its software; or of one with a changed plan.

    >>> from hwlib.specs import measured_mixtures
    >>> run = measured_mixtures("vtrain")[0]
    >>> float(retrodicted(run).total) < float(retrodicted(run, tp=16, dp=4).total)
    True
    """
    stack = stacks[run.stack]
    degrees = {"tp": run.tp, "pp": run.pp, "dp": run.dp, "micro": run.micro, "zero": run.zero} | changed
    plan = Strategy.of(**degrees, sp=False, recompute="full")
    inside = accelerators[stack.chip].scaleup_bandwidth
    assert inside is not None  # both sources ran on chips with NVLink
    levels = Level("node", 8, inside), Level("network", run.gpus // 8, run.W_out)
    dtype = "fp16" if run.source == "vtrain" else "bf16"
    return step_time(model_of_run(run), stack, levels, plan, B=run.sequences * T, T=T, fused=False, dtype=dtype)


def pairs(runs: Iterable[MeasuredMixture]) -> tuple[Pair, ...]:
    """All pairs of different plans of one job, in the order of the runs; repeats of a plan count once, as a mean."""
    jobs: dict[object, dict[object, list[MeasuredMixture]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        jobs[run.job][run.plan].append(run)
    every = []
    for plans in jobs.values():
        timed = [(same[0], float(retrodicted(same[0]).total), mean(r.time for r in same)) for same in plans.values()]
        for a, b in combinations(timed, 2):
            (quicker, t_q, s_q), (slower, t_s, s_s) = sorted((a, b), key=lambda x: x[1])
            every.append(Pair(quicker, slower, t_s / t_q - 1, s_s / s_q - 1))
    return tuple(every)


def share_right(found: Sequence[Pair], edges: Sequence[float]) -> Mapping[tuple[float, float], tuple[int, float]]:
    """By the predicted gap, between each edge and the next: how many pairs there are, and the share in right order.

    A bin without pairs is left out.
    """
    bins = {}
    for low, high in pairwise(edges):
        inside = [pair.right for pair in found if low <= pair.gap < high]
        if inside:
            bins[low, high] = len(inside), mean(inside)
    return bins
