"""Bytes on one rank, for a model and a plan; numbers or whole arrays of plans."""

from dataclasses import dataclass, fields
from math import inf
from typing import Any

from hwlib.columns import bounded, by_blocks, choose, choose_by, is_one
from hwlib.footprint.layer_bytes import Layer, layer_on_rank
from hwlib.footprint.state_bytes import MEGATRON_ADAM, States
from hwlib.formula import ceil, maximum, minimum, where
from hwlib.specs import Model, models
from hwlib.strategy import SCHEDULES, Strategy
from hwlib.transformer import norm_parameters
from hwlib.units import show

_GPIPE, _1F1B, _, _ZBV, _DUALPIPE = range(len(SCHEDULES))


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
    """What is the same on every stage of a plan."""

    model: Model
    pp: Any
    v: Any
    m: Any
    tp: Any
    schedule: Any
    chunk_layers: Any
    """Layers of a chunk, rounded up, and how many chunks have one less."""
    short_chunks: Any
    kinds: tuple[Layer, ...]
    kept: tuple[Any, ...]
    """Bytes that a layer of each kind keeps of a microbatch; and of those that recompute nothing."""
    whole: tuple[Any, ...]
    recompute_layers: Any
    state_bytes: tuple[tuple[Any, Any], ...]
    """Bytes of a parameter as weight, gradient and in the optimizer: of what experts are not, and of experts."""
    mask: Any
    loss: Any
    buffers: Any


def footprint(
    model: Model | str, strategy: Strategy, *, T: Any, m: Any = None, stage: Any = "worst",
    states: States = MEGATRON_ADAM, fused: bool = True,
) -> Footprint:  # fmt: skip
    """Bytes on a rank of pipeline stage `stage`: a number, 0 the first; or "last"; or "worst", which needs most.

    `strategy.micro` sequences of T tokens are a microbatch and m microbatches a step, enough to fill the pipeline if
    not given. ZeRO divides the states among the strategy's shards, and those of experts among an ep-th of that.
    `fused` attention keeps no scores; without it "selective" recomputes them. 1F1B is interleaved where v > 1;
    DualPipe keeps its stage's weights twice, and in it and ZB-V the first rank has the last stage too.
    `states` are by default those of the planner, with gradients in 32 bits: 18 bytes a parameter, where papers of
    ZeRO, and the formulas in their letters, have 16 (MIXED_ADAM).

    Where layers do not divide, a stage has the next whole number, and the last and the first are the short ones.
    Whether a plan can be (heads that tp divides, a batch that dp does) is the planner's question. The strategy may be
    columns of many plans; T, m and stage may be arrays beside them. Raises ValueError.

    >>> one = footprint("llama3-8b", Strategy.of(dp=8, zero=3, recompute="full"), T=8192)
    >>> show(one.states, "B"), show(one.activations, "B"), show(one.logits, "B")
    ('18.07 GB', '2.147 GB', '4.337 GB')
    """
    model = models.of(model)
    if not isinstance(states, tuple) or len(states) != 3:
        raise ValueError(f"footprint: states are bytes of a weight, of a gradient and in the optimizer, got {states!r}")
    states = States(*states)
    if isinstance(stage, str):
        if stage not in ("last", "worst"):
            raise ValueError(f"footprint: stage is a number, 'last' or 'worst', got {stage!r}")
    else:
        stage = bounded("footprint: stage", stage, 0)
    given = {
        **strategy.degrees, "T": bounded("footprint: T", T, 1), "stage": stage,
        "m": bounded("footprint: m", inf if m is None else m, 1),
    }  # fmt: skip

    def one(block: dict[str, Any]) -> Footprint:
        T, m, stage = (block.pop(name) for name in ("T", "m", "stage"))
        return _footprint(_job(model, states, fused, strategy.unchecked(block), T, m), stage)

    return by_blocks(Footprint, one, given)


def _footprint(job: _Job, stage: Any) -> Footprint:
    if stage == "last":
        return _on_stage(job, job.pp - 1)
    if not isinstance(stage, str):
        return _on_stage(job, minimum(stage, job.pp - 1))
    worst = _on_stage(job, 0.0)
    if not is_one(job.pp):
        others = [1.0, job.pp - 1]
        if len(job.kinds) > 1:  # a stage of experts only may come late, and its experts outweigh what the others keep
            others.append(ceil(job.model.dense_layers / (job.chunk_layers * job.v)))
        for other in others:
            worst = _larger(worst, _on_stage(job, minimum(other, job.pp - 1)))
    return worst


def _job(model: Model, states: States, fused: bool, strategy: Strategy, T: Any, m: Any) -> _Job:
    tp, pp, ep, v, sp, zero = (getattr(strategy, name) for name in ("tp", "pp", "ep", "v", "sp", "zero"))
    shards = strategy.shard_ranks
    expert_shards = maximum(shards / ep, 1.0)
    tokens = strategy.micro * T / strategy.cp
    outside = tokens / (sp * tp + (1 - sp))
    moes = [moe for moe, there in ((False, model.layers > model.moe_layers), (True, model.moe)) if there]
    kinds = tuple(layer_on_rank(model, moe, tp, ep, sp, tokens, T, fused) for moe in moes)
    chunk_layers = ceil(model.layers / (pp * v))
    recompute = strategy.recompute_code
    return _Job(
        model=model, pp=pp, v=v, m=m, tp=tp, schedule=strategy.schedule_code,
        chunk_layers=chunk_layers, short_chunks=chunk_layers * pp * v - model.layers, kinds=kinds,
        kept=tuple(choose_by(recompute, x.kept_with) for x in kinds),
        whole=tuple(x.kept + x.scores for x in kinds), recompute_layers=strategy.recompute_layers,
        state_bytes=tuple(
            (b / where(zero >= stage, shards, 1.0), b / where(zero >= stage, expert_shards, 1.0))
            for stage, b in ((3, states.weight), (2, states.gradient), (1, states.optimizer))
        ),
        mask=model.dropout * model.width * outside,
        loss=4 * model.width * outside + 4 * model.vocab * tokens / tp,
        buffers=_buffers(kinds, states, zero, shards, expert_shards, recompute),
    )  # fmt: skip


def _buffers(kinds: Any, states: States, zero: Any, shards: Any, expert_shards: Any, recompute: Any) -> Any:
    """Two layers' weights gathered, one to use and one to come; gradients of one; and what is recomputed of one."""
    a_parameter = where(zero >= 3, 2 * states.weight, 0.0) + where(zero >= 2, states.gradient, 0.0)
    result: Any = 0.0
    for x in kinds:
        gathered = where(shards > 1, x.parameters, 0.0) + where(expert_shards > 1, x.experts, 0.0)
        result = maximum(result, a_parameter * gathered + choose_by(recompute, x.again_with))
    return result


def _larger(a: Footprint, b: Footprint) -> Footprint:
    """Of two footprints the one with the larger total, plan by plan."""
    keep = a.total >= b.total
    return Footprint(*(where(keep, getattr(a, f.name), getattr(b, f.name)) for f in fields(a)))


def _on_stage(job: _Job, i: Any) -> Footprint:
    model, pp, schedule = job.model, job.pp, job.schedule
    at_start, at_end = i < 1, i >= pp - 1
    dual = schedule == _DUALPIPE
    start = where(at_start | dual & at_end, 1.0, 0.0)
    end = where(at_end & (schedule != _ZBV) | at_start & (dual | (schedule == _ZBV)), 1.0, 0.0)
    table = model.vocab * model.width / job.tp
    dense = start * (table + model.positions * model.width) + end * (table + norm_parameters(model))
    if model.tied:
        dense = dense - start * end * table
    experts: Any = 0.0
    a_microbatch: Any = 0.0
    layers = _layers(job, at_start, at_end, i)
    share = None if job.recompute_layers is None else minimum(job.recompute_layers / sum(layers), 1.0)
    for count, layer, kept, whole in zip(layers, job.kinds, job.kept, job.whole, strict=True):
        if share is not None:
            kept = share * kept + (1 - share) * whole
        held = where(dual, 2.0, 1.0) * count
        dense = dense + held * layer.parameters
        experts = experts + held * layer.experts
        a_microbatch = a_microbatch + count * kept
    flight = _in_flight(job, i)
    ends = end * where(schedule == _GPIPE, job.m, 1.0) * job.loss
    if model.dropout:
        ends = ends + start * where((schedule == _1F1B) & (job.v > 1), minimum(2 * pp - 1, job.m), flight) * job.mask
    weights, gradients, optimizer = (one * dense + other * experts for one, other in job.state_bytes)
    return Footprint(weights, gradients, optimizer, flight * a_microbatch, ends, job.buffers)


def _layers(job: _Job, at_start: Any, at_end: Any, i: Any) -> list[Any]:
    """Layers of each kind on stage i: the dense ones of a model with experts are the first."""
    less = where((job.short_chunks > 0) & at_end, 1.0, 0.0) + where((job.short_chunks > 1) & at_start, 1.0, 0.0)
    layers = minimum(job.chunk_layers * job.v - less, job.model.layers)
    if len(job.kinds) == 1:
        return [layers]
    dense = minimum(maximum(job.model.dense_layers - i * layers, 0.0), layers)
    return [dense, layers - dense]


def _in_flight(job: _Job, i: Any) -> Any:
    """Microbatches of which stage i keeps activations, at most; a chunk of a rank with several counts as 1/v."""
    pp, v, m = job.pp, job.v, job.m

    def one_f_one_b() -> Any:
        plain = minimum(pp - i, m)
        if is_one(v):
            return plain
        return where(v > 1, minimum((v - 1) * pp + 2 * (pp - 1 - i) + 1, m * v) / v, plain)

    up_to = lambda most: lambda: minimum(most, m)
    return choose(job.schedule, (lambda: m, one_f_one_b, up_to(pp), up_to(pp), up_to(pp + 1)))
