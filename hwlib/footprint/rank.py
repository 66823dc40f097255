"""Bytes on one rank, for a model and a plan; numbers or whole arrays of plans."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from hwlib.footprint.inputs import RECOMPUTE, SCHEDULES, choose, code, number
from hwlib.footprint.layers import Layer, layer_on_rank
from hwlib.footprint.states import MIXED_ADAM, States
from hwlib.formula import ceil, maximum, minimum, where
from hwlib.specs import Model
from hwlib.transformer import norm_parameters
from hwlib.units import show

_GPIPE, _ONE_F_ONE_B, _, _ZBV, _DUALPIPE = range(len(SCHEDULES))
BLOCK = 8192  # plans at a time: what is computed on the way stays in the cache of a core


@dataclass(frozen=True, repr=False)
class Footprint:
    """Bytes of one rank: a number each, or an array of them for an array of plans.

    `activations` are what the layers keep from forward to backward, for every microbatch in flight; `logits` are
    those of the loss, with what else the two ends of the model keep: the mask after the embedding, the input of
    the last norm and of the output layer; `buffers` are what one layer needs while it is worked on: its weights
    gathered by ZeRO, its gradients before they are divided, what is recomputed of it.
    """

    weights: Any
    gradients: Any
    optimizer: Any
    activations: Any
    logits: Any
    buffers: Any

    @property
    def states(self) -> Any:
        """What does not depend on the batch: weights, gradients and optimizer."""
        return self.weights + self.gradients + self.optimizer

    @property
    def total(self) -> Any:
        """All of it. A framework adds its own: kernels, communication buffers, what the allocator wastes."""
        return self.states + self.activations + self.logits + self.buffers

    def __repr__(self) -> str:
        if getattr(self.total, "ndim", 0):
            return f"<Footprint of {self.total.size} plans>"
        parts = [f"{f.name} {show(float(getattr(self, f.name)), 'B')}" for f in fields(self)]
        return f"<Footprint: {', '.join(parts)}, total {show(float(self.total), 'B')}>"


@dataclass(frozen=True)
class _Job:
    """What is the same on every stage of a plan. `outside` are the tokens outside the matrices, split or not."""

    model: Model
    states: States
    kinds: tuple[Layer, ...]
    pp: Any
    v: Any
    m: Any
    tp: Any
    tokens: Any
    outside: Any
    zero: Any
    shards: Any
    expert_shards: Any
    recompute: Any
    schedule: Any


def footprint(
    model: Model, *, dp: Any, T: Any, tp: Any = 1, pp: Any = 1, cp: Any = 1, ep: Any = 1, v: Any = 1, zero: Any = 0,
    sp: Any = True, micro: Any = 1, m: Any = None, recompute: Any = "none", schedule: Any = "1f1b",
    stage: Any = "worst", states: States = MIXED_ADAM, fused: bool = True, shards: Any = None,
) -> Footprint:  # fmt: skip
    """Bytes on a rank of pipeline stage `stage`: a number, 0 the first; or "last"; or "worst", which needs most.

    The ranks are dp*tp*pp*cp; ep of each dp*cp share the experts. `micro` sequences of T tokens are a
    microbatch and m microbatches a step, enough to fill the pipeline if not given. ZeRO's stage `zero` divides
    the states among dp*cp ranks, or `shards` of them (HSDP), and those of experts among an ep-th of that.
    `fused` attention keeps no scores; without it "selective" recomputes them. 1F1B is interleaved where v > 1;
    DualPipe keeps its stage's weights twice, and in it and ZB-V the first rank has the last stage too.

    Where layers do not divide, a stage has the next whole number, and the last and the first are the short ones.
    Whether a plan can be (heads that tp divides, a batch that dp does) is the planner's question. Any number may
    be an array; words may be arrays too, or their positions in RECOMPUTE and SCHEDULES. Raises ValueError.

    >>> from hwlib.specs import models
    >>> one = footprint(models["llama3-8b"], dp=8, zero=3, T=8192, recompute="full")
    >>> show(one.states, "B"), show(one.activations, "B"), show(one.logits, "B")
    ('16.06 GB', '2.147 GB', '4.337 GB')
    """
    plan = {
        "dp": dp, "T": T, "tp": tp, "pp": pp, "cp": cp, "ep": ep, "v": v, "zero": zero, "sp": sp, "micro": micro,
        "m": float("inf") if m is None else m, "recompute": code("recompute", recompute, RECOMPUTE),
        "schedule": code("schedule", schedule, SCHEDULES), "shards": 0 if shards is None else shards, "stage": stage,
    }  # fmt: skip
    if not any(getattr(x, "size", 1) > BLOCK for x in plan.values()):
        return _footprint(model, states, fused, plan)
    return _in_blocks(lambda block: _footprint(model, states, fused, block), plan)


def _in_blocks(one: Callable[[dict[str, Any]], Footprint], plan: dict[str, Any]) -> Footprint:
    """The footprints of many plans, block by block."""
    import numpy as np

    arrays = {name: x for name, x in plan.items() if getattr(x, "ndim", 0)}
    shape = np.broadcast_shapes(*(x.shape for x in arrays.values()))
    flat = {name: np.broadcast_to(x, shape).reshape(-1) for name, x in arrays.items()}
    names = [f.name for f in fields(Footprint)]
    result = np.empty((len(names), int(np.prod(shape))))
    for start in range(0, result.shape[1], BLOCK):
        part = slice(start, start + BLOCK)
        block = one(plan | {name: x[part] for name, x in flat.items()})
        for row, name in zip(result, names, strict=True):
            row[part] = getattr(block, name)
    return Footprint(*result.reshape(-1, *shape))


def _footprint(model: Model, states: States, fused: bool, plan: dict[str, Any]) -> Footprint:
    dp, tp, pp, cp, ep, v, micro, m, T = (
        number(name, plan[name], 1) for name in ("dp", "tp", "pp", "cp", "ep", "v", "micro", "m", "T")
    )
    sp, shards, stage = number("sp", plan["sp"], 0, 1), number("shards", plan["shards"], 0), plan["stage"]
    shards = where(shards > 0, shards, dp * cp)
    tokens = micro * T / cp
    kinds = [moe for moe, there in ((False, model.layers > model.moe_layers), (True, model.moe)) if there]
    job = _Job(
        model=model, states=states, pp=pp, v=v, m=m, tp=tp, tokens=tokens, outside=tokens / (sp * tp + (1 - sp)),
        kinds=tuple(layer_on_rank(model, moe, tp, ep, sp, tokens, T, fused) for moe in kinds),
        zero=code("zero", plan["zero"], "0123"), shards=shards, expert_shards=maximum(shards / ep, 1.0),
        recompute=plan["recompute"], schedule=plan["schedule"],
    )  # fmt: skip
    if not isinstance(stage, str):
        return _on_stage(job, number("stage", stage, 0))
    if stage == "last":
        return _on_stage(job, pp - 1)
    if stage != "worst":
        raise ValueError(f"footprint: stage is a number, 'last' or 'worst', got {stage!r}")
    worst = _on_stage(job, 0.0)
    for other in (minimum(1.0, pp - 1), pp - 1):
        worst = _larger(worst, _on_stage(job, other))
    return worst


def _larger(a: Footprint, b: Footprint) -> Footprint:
    """Of two footprints the one with the larger total, plan by plan."""
    keep = a.total >= b.total
    return Footprint(*(where(keep, getattr(a, f.name), getattr(b, f.name)) for f in fields(a)))


def _on_stage(job: _Job, i: Any) -> Footprint:
    model, states, pp = job.model, job.states, job.pp
    start = where((i < 1) | (job.schedule == _DUALPIPE) & (i >= pp - 1), 1.0, 0.0)
    folded = (job.schedule == _ZBV) | (job.schedule == _DUALPIPE)
    end = where((i >= pp - 1) & (job.schedule != _ZBV) | folded & (i < 1), 1.0, 0.0)
    counts = _layers(job, i)
    copies = where(job.schedule == _DUALPIPE, 2.0, 1.0)
    table = model.vocab * model.width / job.tp
    tables = start * (table + model.positions * model.width) + end * table * (1 - model.tied * start)
    dense = tables + end * norm_parameters(model)
    experts: Any = 0.0
    a_microbatch: Any = 0.0
    for count, layer in zip(counts, job.kinds, strict=True):
        dense = dense + copies * count * layer.parameters
        experts = experts + copies * count * layer.experts
        a_microbatch = a_microbatch + count * _kept(job, layer)
    flight = _in_flight(job, i)
    masks = where((job.schedule == _ONE_F_ONE_B) & (job.v > 1), minimum(2 * pp - 1, job.m), flight)
    losses = where(job.schedule == _GPIPE, job.m, 1.0)
    loss = 4 * model.width * job.outside + 4 * model.vocab * job.tokens / job.tp
    return Footprint(
        weights=states.weight * _share(job, 3, dense, experts),
        gradients=states.gradient * _share(job, 2, dense, experts),
        optimizer=states.optimizer * _share(job, 1, dense, experts),
        activations=flight * a_microbatch,
        logits=start * masks * model.dropout * model.width * job.outside + end * losses * loss,
        buffers=_buffers(job),
    )


def _layers(job: _Job, i: Any) -> list[Any]:
    """Layers of each kind on stage i: the dense ones of a model with experts are the first."""
    whole = ceil(job.model.layers / (job.pp * job.v))
    lacking = whole * job.pp * job.v - job.model.layers
    short = where((lacking > 0) & (i >= job.pp - 1), 1.0, 0.0) + where((lacking > 1) & (i < 1), 1.0, 0.0)
    layers = minimum(whole * job.v - short, job.model.layers)
    if len(job.kinds) == 1:
        return [layers]
    dense = minimum(maximum(job.model.dense_layers - i * layers, 0.0), layers)
    return [dense, layers - dense]


def _in_flight(job: _Job, i: Any) -> Any:
    """Microbatches of which stage i keeps activations, at most; a chunk of a rank with several counts as 1/v."""
    chunks = minimum((job.v - 1) * job.pp + 2 * (job.pp - 1 - i) + 1, job.m * job.v) / job.v
    return choose(
        job.schedule,
        (
            lambda: job.m,
            lambda: where(job.v > 1, chunks, minimum(job.pp - i, job.m)),
            lambda: minimum(job.pp, job.m),
            lambda: minimum(job.pp, job.m),
            lambda: minimum(job.pp + 1, job.m),
        ),
    )


def _kept(job: _Job, layer: Layer) -> Any:
    """Bytes that a layer keeps of one microbatch."""
    return choose(job.recompute, (lambda: layer.kept + layer.scores, lambda: layer.kept, lambda: layer.input))


def _share(job: _Job, stage: int, dense: Any, experts: Any) -> Any:
    """Parameters whose states a rank keeps: all of its own, or from this stage of ZeRO on its share of them."""
    divided = job.zero >= stage
    return dense / where(divided, job.shards, 1.0) + experts / where(divided, job.expert_shards, 1.0)


def _again(layer: Layer) -> tuple[Callable[[], Any], ...]:
    """Bytes that recomputing brings back of a layer, in the order of RECOMPUTE."""
    return (lambda: 0.0, lambda: layer.scores, lambda: layer.kept + layer.scores)


def _buffers(job: _Job) -> Any:
    """Two layers' weights gathered, one to use and one to come; gradients of one; and what is recomputed of one."""
    result: Any = 0.0
    for layer in job.kinds:
        gathered = where(job.shards > 1, layer.parameters, 0.0) + where(job.expert_shards > 1, layer.experts, 0.0)
        states = where(job.zero >= 3, 2 * job.states.weight, 0.0) + where(job.zero >= 2, job.states.gradient, 0.0)
        again = choose(job.recompute, _again(layer))
        result = maximum(result, states * gathered + again)
    return result
