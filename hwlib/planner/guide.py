"""The decision guide: which kinds of parallelism a job needs, from its bounds alone, in one sentence with its numbers.

No plan is timed. Data parallelism serves as long as each GPU has the tokens that hide its gradients, a sequence, and
memory. Tensor parallelism shares sequences and memory within the node, up to the degree at which its own transfers no
longer hide; what leaves a node it does not change. Pipeline stages, across nodes, cut what a GPU's gradients need and
what it holds, if there are microbatches to fill them. Sequences are cut where activations still do not fit. Experts are
spread within a node, or wider if they are wide. The first of these that serves is taken, and layers are recomputed if
nothing else does. What breaks a rule of `hwlib.constraints`, or what the software lacks or has no memory for, is passed
over: a strategy that is returned is one that `plan` takes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import ceil
from typing import Any

from hwlib.collectives import axis_levels
from hwlib.constraints import broken, plan_rules
from hwlib.footprint import unchecked_footprint
from hwlib.parallel import dp_critical_batch, dp_moe_critical_batch, ep_far_critical_width, tp_limit
from hwlib.pipeline import pipeline_bubble_fraction
from hwlib.planner.allowed import SHORTEST_CUT, Allowed, divisors
from hwlib.planner.fits import surely, tight
from hwlib.planner.keywords import settings_of
from hwlib.planner.plan_error import PlanError
from hwlib.planner.software_settings import SoftwareSettings
from hwlib.planner.task import Machine, Task, task_of
from hwlib.specs import Model
from hwlib.specs.cluster import Place
from hwlib.strategy import LAYOUT, Strategy
from hwlib.transformer import parameter_count
from hwlib.units import plural, show

DECIDED = (*LAYOUT, "zero", "recompute")
"""Degrees that the rule of thumb chooses; if one is given, its advice would contradict the question."""
FEWEST = 2  # microbatches a stage: fewer leave the pipeline idle for a third of the step


@dataclass(frozen=True, repr=False)
class Decision:
    """The strategy that follows from the bounds, the sentence that says why, and the numbers in it."""

    strategy: Strategy
    sentence: str
    numbers: dict[str, float]

    def __repr__(self) -> str:
        return self.sentence

    def _repr_markdown_(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class _Bounds:
    """What the choice follows from: `tokens` that a GPU has of a step; `need` and `need_experts`, those that hide the
    gradients over `level`; `limit`, the tensor-parallel degree that hides within the node; `far`, the width of an
    expert from which all-to-alls between nodes hide.
    """

    task: Task
    tokens: float
    need: float
    need_experts: float
    level: str
    limit: float
    far: float

    @property
    def model(self) -> Model:
        """The task's model."""
        return self.task.model

    @property
    def machine(self) -> Machine:
        """The task's GPUs."""
        return self.task.machine

    def outside(self, degree: int) -> float:
        """By how much a degree within the node, or beyond, cuts what goes over the level."""
        return degree if self.level == "node" else max(degree / self.machine.node, 1)

    def hidden(self, tokens: float, tp: int, pp: int, ep: int) -> bool:
        """Whether this many tokens per GPU hide the gradients of its parameters."""
        dense = tokens * self.outside(tp) * pp >= self.need
        return dense and (not self.model.moe or tokens * self.outside(tp * ep) * pp >= self.need_experts)

    def bytes(self, d: Strategy) -> float:
        """Bytes of the fullest GPU, as the search counts them."""
        return float(unchecked_footprint(self.task, d, m=self.task.sequences // d.dp).total)

    def fits(self, d: Strategy) -> bool:
        """Whether a plan fits, with the margin that the error of its memory asks for."""
        return bool(surely(self.task, self.bytes(d)))

    def has_headroom(self, d: Strategy) -> bool:
        """Whether room is left beside that: more chunks on a stage take it, and shorten a pipeline's bubble."""
        return not tight(self.task, self.bytes(d))


def decide(
    model: Model | str,
    cluster: Place | str,
    *,
    B: Any,
    T: Any = None,
    gpus: int | None = None,
    software: SoftwareSettings | None = None,
    memory: float | None = None,
    **keywords: Any,
) -> Decision:
    """A rule of thumb for training `model` with batches of B tokens on a cluster, from bounds alone. Raises PlanError.

    Fields of the software's settings may be plain keywords.

    >>> found = decide("llama3-405b", "h100-superpod-16k", B=2**24)
    >>> found.strategy
    Strategy(dp=64, tp=8, pp=16, cp=2, zero=1)
    """
    software = settings_of(software, keywords)
    return decide_task(task_of(model, cluster, B=B, T=T, gpus=gpus, software=software, memory=memory))


def decide_task(task: Task) -> Decision:
    """The rule of thumb for a task that was checked before. Raises PlanError where nothing serves."""
    b = _bounds(task)
    chosen = next(filter(b.fits, _in_order(b)), None)
    if chosen is not None and chosen.pp > 1:
        chosen = next(filter(b.has_headroom, _in_order(b)), chosen)
    states = parameter_count(task.model) * sum(task.states)
    if chosen is None:
        least = max(ceil(states / task.memory), 1)
        raise PlanError(
            "memory",
            f"{task.model.name} does not fit on {task.gpus:,} x {task.machine.chip.name} with this batch: its states "
            f"alone, {show(states, 'B')}, fill {least:,}",
        )
    numbers = {
        "tokens": b.tokens,
        "need": b.need,
        "need_experts": b.need_experts,
        "tp_limit": b.limit,
        "far": b.far,
        "states": states,
        "room": task.memory,
        "bytes": b.bytes(chosen),
    }
    return Decision(chosen, _sentence(b, chosen), numbers)


def rule_of_thumb(task: Task, allowed: Allowed) -> str:
    """The sentence of `decide` on a task; empty where a degree that it chooses is given, where the choice is not among
    the values that are allowed, where adapters alone are trained, and where nothing serves.
    """
    adapters = task.trained is not None and task.trained.adapters is not None  # no gradients of weights are summed
    if adapters or allowed.given.keys() & set(DECIDED):
        return ""
    try:
        decision = decide_task(task)
    except PlanError:  # it tries fewer plans than the search
        return ""
    chosen = decision.strategy.degrees
    return decision.sentence if all(chosen[name] in values for name, values in allowed.given.items()) else ""


def _bounds(task: Task) -> _Bounds:
    model, machine, C = task.model, task.machine, task.machine.chip.flops(task.software.dtype)
    crossed = axis_levels(machine.levels, machine.gpus)
    W, level = min(((level.bandwidth, level.name) for level in crossed), default=(float("inf"), "node"))
    own, below = machine.levels[0].bandwidth, 1
    for tier in machine.levels:
        own, below = min(own, tier.bandwidth / below), below * tier.size
    matrices, node = model.matrices, machine.levels[0].bandwidth
    experts = float(dp_moe_critical_batch(model.experts, model.experts_per_token, C, W, 2))
    limit, far = tp_limit(model.expert_ffn, C, node, 2, matrices), ep_far_critical_width(C, own, 2, 2, matrices)
    need, tokens = float(dp_critical_batch(C, W, 2)), task.B / machine.gpus
    return _Bounds(task, tokens, need, experts, level, float(limit), float(far))


def _in_order(b: _Bounds) -> Iterator[Strategy]:
    """What could serve and obeys every rule, the simplest first: gradients hide, or at last they, and then also the
    gathers of ZeRO-3, need not.
    """
    setting = b.task.setting
    rules = plan_rules(setting, ("none", "full"))
    for must_hide, any_gathers in ((True, False), (False, False), (False, True)):
        for recompute in ("none", "full"):
            for mesh in _meshes(b, must_hide):
                for stages in _stages(b, mesh, any_gathers):
                    each = (Strategy.of(mesh, zero=zero, recompute=recompute) for zero in stages)
                    can = next((one for one in each if broken(setting, one, rules) is None), None)
                    if can is not None:
                        yield can


def _meshes(b: _Bounds, must_hide: bool) -> Iterator[Strategy]:
    """Degrees whose tokens hide the gradients, if they must, with enough microbatches for the stages."""
    task, model, n = b.task, b.model, b.machine.gpus
    has = task.features
    sp = has is None or "sp" in has.degrees
    most = n if model.expert_ffn >= b.far else b.machine.node
    eps = [d for d in divisors(model.experts) if d <= most]
    if has is not None and "ep" not in has.degrees:
        eps = [1]
    tps = [t for t in divisors(b.machine.node) if t <= max(b.limit, 1) and n % t == 0]
    cps = [1, *(2**i for i in range(1, 10) if task.T % 2 ** (i + 1) == 0 and task.T >> i >= SHORTEST_CUT)]
    for cp, pp, tp in product(cps, divisors(n), tps):
        if pp > model.layers or n % (tp * pp * cp):
            continue
        dp = n // (tp * pp * cp)
        few = pp > 1 and task.sequences // dp < FEWEST * pp
        if task.sequences % dp or few or (must_hide and not b.hidden(b.tokens, tp, pp, eps[-1])):
            continue
        ep = max(d for d in eps if dp * cp % d == 0)
        yield Strategy(dp, tp, pp, cp, ep, sp=sp)


def _stages(b: _Bounds, d: Strategy, any_gathers: bool) -> Iterator[tuple[int, ...]]:
    """Stages of ZeRO to try, of each group the first that the software has: those that gather no weights; and all of
    it, where its gathers for every microbatch hide too.
    """
    yield (1, 2, 0) if d.dp * d.cp > 1 else (0, 1, 2)
    hidden = d.pp == 1 and b.hidden(min(b.tokens, b.task.T / (d.tp * d.cp)), d.tp, d.pp, d.ep)
    if hidden or any_gathers:
        yield (3,)


def _sentence(b: _Bounds, d: Strategy) -> str:
    model, n = b.model, b.machine.gpus
    clauses = [f"a GPU has {plural(round(b.tokens), 'token')} per step{_against(b, d)}"]
    if d.ep > 1:
        word = "narrower than" if model.expert_ffn < b.far else "at least as wide as"
        clauses.append(
            f"expert parallelism of {d.ep}, as experts of {model.expert_ffn:,} are {word} the {b.far:,.0f} that "
            "hide all-to-alls between nodes"
        )
    if d.tp > 1:
        clauses.append(f"tensor parallelism of {d.tp} within the node, where it hides up to {b.limit:.0f}")
    if d.pp > 1:
        m = b.task.sequences // d.dp
        bubble = float(pipeline_bubble_fraction(d.pp, m))
        across = " across nodes" if n > b.machine.node else ""
        clauses.append(
            f"{d.pp} pipeline stages{across}, for which {b.need / d.pp:,.0f} tokens are enough (the bubble is "
            f"{bubble:.0%} with {plural(m, 'microbatch')}, less if interleaved)"
        )
    if d.cp > 1:
        whole = Strategy.of(d, cp=1, dp=d.dp * d.cp)
        fits = b.task.sequences % whole.dp == 0
        without = f"{show(b.bytes(whole), 'B', 3)} without" if fits else f"{whole.dp:,} replicas are too many"
        clauses.append(f"context parallelism of {d.cp} ({without})")
    how = "fully sharded data" if d.zero == 3 else "data"
    if d.dp > 1 or n == 1:
        clauses.append(f"{how} parallelism of {d.dp}" + (" alone" if d.dp == n > 1 else ""))
    again = "" if d.recompute == "none" else ", full recomputation"
    zero = f" with ZeRO-{d.zero}" if d.zero else ""
    holds = f"{show(b.bytes(d), 'B', 3)} of {show(b.task.memory, 'B', 3)} on the fullest GPU"
    return f"{model.name} on {n:,} x {b.machine.chip.name}: {'; '.join(clauses)}{zero}{again}, {holds}."


def _against(b: _Bounds, d: Strategy) -> str:
    """The tokens that a GPU needs, beside those it has; and sequences, where there are few."""
    if b.machine.gpus == 1:
        return ""
    enough = b.tokens >= b.need
    text = f", {'enough for' if enough else 'fewer than'} the {b.need:,.0f} that hide gradients over the {b.level}"
    if b.model.moe:
        experts = b.need_experts / b.outside(d.tp * d.ep)
        if b.tokens >= experts:
            word = "and for" if enough else "but enough for"
        else:
            word = "but not for" if enough else "and than"
        text += f" ({word} the {experts:,.0f} that hide those of experts)"
    if b.task.sequences < b.machine.gpus:
        verb = "is" if b.task.sequences == 1 else "are"
        text += f", and {plural(b.task.sequences, 'sequence')} {verb} fewer than the GPUs"
    return text
