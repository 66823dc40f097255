"""Bytes on one rank, for a model and a plan; numbers or whole arrays of plans."""

from collections.abc import Collection
from dataclasses import dataclass, fields
from math import inf
from typing import Any, NamedTuple, overload

from hwlib.columns import bounded, by_blocks, choose, choose_by, is_one
from hwlib.constraints import demand, demand_within
from hwlib.footprint.layer_bytes import LayerFootprint, layer_on_rank
from hwlib.footprint.loss_bytes import LOSSES, loss_bytes
from hwlib.footprint.stage_layers import StageLayers, stage_layers
from hwlib.footprint.state_bytes import MEGATRON_ADAM, States
from hwlib.footprint.trained import BASES, MATRICES, Trained, layer_matrices, moment_bytes
from hwlib.formula import ceil, maximum, minimum, where
from hwlib.specs import Framework, Model, frameworks, models
from hwlib.strategy import RECOMPUTED, SCHEDULES, Strategy, strategy_of
from hwlib.training_task import TrainingTask, is_task
from hwlib.transformer import norm_parameters, parameter_count, with_mtp
from hwlib.units import show

WIDE, CAST = 4, 2  # bytes of a weight in 32 bits, and of autocast's copy
OFFLOAD = ("activations", "optimizer")
"""What may be kept in the host's memory."""
FULL = RECOMPUTED.index("full")
_GPIPE, _1F1B, _, _ZBV, _DUALPIPE = range(len(SCHEDULES))


@dataclass(frozen=True, repr=False)
class Footprint:
    """Bytes of one rank: a number each, or an array of them for an array of plans.

    `activations` are what the layers keep from forward to backward, for every microbatch in flight; `logits` are
    those of the loss, with what else the two ends of the model keep: the mask after the embedding, the input of
    the last norm and of the output layer, and the gradient of the output layer where it comes before the others;
    `buffers` are what one layer needs while it is worked on: its weights gathered by ZeRO, its gradients before they
    are divided, what is recomputed of it.

    With a framework the parts add up to what a GPU reports: `buffers` are then only what a layer needs beyond the
    room that the logits leave, which are gone when the first layer's backward pass begins; and `overhead` is what
    the allocator reserves and does not use, and what the context and NCCL take.
    """

    weights: Any
    gradients: Any
    optimizer: Any
    activations: Any
    logits: Any
    buffers: Any
    overhead: Any = 0.0

    @property
    def states(self) -> Any:
        """What does not depend on the batch: weights, gradients and optimizer."""
        return self.weights + self.gradients + self.optimizer

    @property
    def total(self) -> Any:
        """All of it: of the formulas alone, or, with a framework, what a GPU reports."""
        return self.states + self.activations + self.logits + self.buffers + self.overhead

    def __repr__(self) -> str:
        if getattr(self.total, "ndim", 0):
            return f"<Footprint of {self.total.size} plans>"
        named = [f.name for f in fields(self) if f.name != "overhead" or self.overhead]
        parts = [f"{name} {show(float(getattr(self, name)), 'B')}" for name in named]
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
    held: StageLayers
    kinds: tuple[LayerFootprint, ...]
    kept: tuple[Any, ...]
    """Bytes that a layer of each kind keeps of a microbatch; and of those that recompute nothing."""
    whole: tuple[Any, ...]
    recompute_layers: Any
    state_bytes: tuple[tuple[Any, Any], ...]
    """Bytes of a parameter as weight, gradient and in the optimizer: of what experts are not, and of experts."""
    tables: Any
    """Bytes of a parameter of the two tables beside that: FSDP keeps them gathered; 4-bit weights leave them out."""
    unsharded: Any
    """Whether weights and gradients stay unsharded from microbatch to microbatch."""
    pool: Any
    """Bytes of the buffers into which FSDP gathers: two layers' weights, or a table's."""
    mask: Any
    loss: Any
    hole: Any
    layer_hole: Any
    """Bytes of the loss, and those that the allocator reserves beside them: of the logits, and of layers."""
    buffers: Any
    step_copy: Any
    """Bytes of a parameter that the update of all together makes."""
    embedding_sum: Any
    """Bytes of the embedding's gradient in 32 bits, beside that in 16, where it is summed up so."""
    boundary: Any
    """Bytes that a microbatch takes between two stages; and the logits of all microbatches, in 16 bits."""
    outputs: Any
    framework: Framework | None
    tuned: bool
    offload: Collection[str]
    mtp: int
    """Modules for multi-token prediction."""


@overload
def footprint(task: TrainingTask, strategy: Strategy, /, *, m: Any = None, stage: Any = "worst") -> Footprint: ...


@overload
def footprint(
    model: Model | str,
    /,
    strategy: Strategy | None = None,
    *,
    T: Any,
    m: Any = None,
    stage: Any = "worst",
    states: States | None = None,
    fused: bool = True,
    framework: Framework | str | None = None,
    trainable: Any = None,
    frozen: float = 2.0,
    trained: Trained | None = None,
    offload: Collection[str] = (),
    mtp: bool = False,
    loss: str = "full",
    dtype: str = "bf16",
    **degrees: Any,
) -> Footprint: ...


def footprint(subject: Any, /, strategy: Strategy | None = None, **options: Any) -> Footprint:
    """Bytes on a rank of pipeline stage `stage`: a number, 0 the first; or "last"; or "worst", which needs most.

    Of a task, which has all that the strategy does not say; or of a model and what is given of the rest, where the
    strategy may be plain keywords, too.

    `strategy.micro` sequences of T tokens are a microbatch and m microbatches a step: if not given, those of the task,
    or enough to fill the pipeline. ZeRO divides the states among the strategy's shards, and those of experts among an
    ep-th of that. `fused` attention keeps no scores; without it "selective" recomputes them. 1F1B is interleaved where
    v > 1; DualPipe keeps its stage's weights twice, and in it and ZB-V the first rank has the last stage too.
    `states` are by default those of the framework, or MEGATRON_ADAM, with gradients in 32 bits: 18 bytes a parameter,
    where papers of ZeRO, and the formulas in their letters, have 16 (MIXED_ADAM).

    `framework` is a record or a key of `frameworks`: what its loss, its FSDP and its allocator take is then counted
    too, as a GPU reports it; without one, only what formulas count. Of a model that is fine-tuned by adapters (LoRA),
    `trainable` parameters have gradients and optimizer states, in `states`; the model's own are `frozen` bytes each
    (0.5 in 4 bits, tables excepted), and their matrices keep no input but those of queries, keys and values, unless
    they are stored in fewer bits than 16. `trained`
    says all this in one record, with the rank of the adapters and the matrices beside which they stand. `offload` is
    what the host keeps, of OFFLOAD: of activations two layers' stay. With `mtp` the modules for multi-token prediction
    are on the last stage, with logits of their own, and a copy of the embedding where that is on another rank. `loss`
    is one of LOSSES: of all logits at once, as the framework computes it; of chunks of them; fused with the output
    layer. `dtype` is the precision of products: in 8 or 4 bits a framework's matrices may keep their inputs so.

    Where layers do not divide, a stage has the next whole number, and the last, or both ends, are the short ones
    (`stage_layers`).
    The strategy may be columns of many plans; T, m and stage may be arrays beside them. What breaks a rule of
    `hwlib.constraints` raises RuleError with the values that would do: of a model, rules on the strategy itself (heads
    that tp divides); of a task all that a plan must obey. `unchecked_footprint` asks no rule. Raises ValueError.

    >>> one = footprint("llama3-8b", Strategy.of(dp=8, zero=3, recompute="full"), T=8192)
    >>> show(one.states, "B"), show(one.activations, "B"), show(one.logits, "B")
    ('18.07 GB', '2.147 GB', '4.337 GB')
    >>> footprint("llama3-8b", dp=8, zero=3, recompute="full", T=8192) == one
    True
    """
    if is_task(subject):
        strategy = strategy_of(strategy, {})
        demand(subject.setting, strategy)
        return _of_task(subject, strategy, **options)
    return _of_model(subject, strategy, True, **options)


def unchecked_footprint(subject: Any, /, strategy: Strategy | None = None, **options: Any) -> Footprint:
    """The same of strategies that no rule is asked about: those that a search has left, and runs that were measured,
    whose software knew a way (a width that tp does not divide is padded).
    """
    if is_task(subject):
        return _of_task(subject, strategy_of(strategy, {}), **options)
    return _of_model(subject, strategy, False, **options)


def _of_task(task: TrainingTask, strategy: Strategy, *, m: Any = None, stage: Any = "worst") -> Footprint:
    uses = task.software
    states = States(*task.states) if task.trained is None else None
    return _of_model(
        task.model,
        strategy,
        False,
        T=task.T,
        m=strategy.microbatches(task.B, task.T) if m is None else m,
        stage=stage,
        states=states,
        trained=task.trained,
        fused=uses.fused,
        framework=task.framework,
        offload=uses.offload,
        mtp=bool(uses.mtp),
        loss=uses.loss,
        dtype=uses.dtype,
    )


def _of_model(
    model: Model | str,
    strategy: Strategy | None,
    checked: bool,
    *,
    T: Any,
    m: Any = None,
    stage: Any = "worst",
    states: States | None = None,
    fused: bool = True,
    framework: Framework | str | None = None,
    trainable: Any = None,
    frozen: float = 2.0,
    trained: Trained | None = None,
    offload: Collection[str] = (),
    mtp: bool = False,
    loss: str = "full",
    dtype: str = "bf16",
    **degrees: Any,
) -> Footprint:
    strategy = strategy_of(strategy, degrees)
    model = with_mtp(model) if mtp else models.of(model)
    framework = frameworks.of(framework) if framework is not None else None
    if trained is not None and (trainable is not None or states is not None):
        raise ValueError("footprint: trained has states and adapters; give no states and no trainable with it")
    states = _states_of(trained.states if trained is not None else states, framework)
    if isinstance(stage, str):
        if stage not in ("last", "worst"):
            raise ValueError(f"footprint: stage is a number, 'last' or 'worst', got {stage!r}")
    else:
        stage = bounded("footprint: stage", stage, 0)
    if odd := [x for x in offload if x not in OFFLOAD] or ([offload] if isinstance(offload, str) else []):
        raise ValueError(f"footprint: offload is of {', '.join(OFFLOAD)}, got {odd[0]!r}")
    if loss not in LOSSES:
        raise ValueError(f"footprint: loss is one of {', '.join(LOSSES)}, got {loss!r}")
    tuned = None if trained is None else _tuned(model, trained)
    if trainable is not None:
        tuned = _frozen_base(bounded("footprint: trainable", trainable, 0), bounded("footprint: frozen", frozen, 0))
    columns = {
        **strategy.degrees,
        "T": bounded("footprint: T", T, 1),
        "stage": stage,
        "m": bounded("footprint: m", inf if m is None else m, 1),
    }

    if checked:
        demand_within(model, strategy, columns["T"], None if m is None else columns["m"])

    def one(block: dict[str, Any]) -> Footprint:
        T, m, stage = (block.pop(name) for name in ("T", "m", "stage"))
        plan = strategy.unchecked(block)
        modules = model.mtp_layers if mtp else 0
        job = _job(model, states, fused, plan, T, m, framework, tuned, offload, modules, loss, dtype)
        return _footprint(job, stage)

    return by_blocks(Footprint, one, columns)


def _states_of(states: States | None, framework: Framework | None) -> States:
    """The bytes of a parameter: as given, the framework's own, or Megatron's."""
    if states is None:
        states = States(*framework.states) if framework else MEGATRON_ADAM
    if not isinstance(states, tuple) or len(states) != 3:
        raise ValueError(f"footprint: states are bytes of a weight, of a gradient and in the optimizer, got {states!r}")
    return States(*states)


class _Tuned(NamedTuple):
    """Fine-tuning by adapters: their parameters, the bytes of one of the model's own, the matrices that keep their
    inputs, and the parameters of the matrix that is made again in 16 bits before it is used.
    """

    trainable: Any
    frozen: float
    matrices: tuple[str, ...] = ("q", "k", "v")
    made_again: int = 0


def _frozen_base(trainable: Any, frozen: float) -> _Tuned:
    """So many trainable parameters beside a model whose own take `frozen` bytes each."""
    return _Tuned(trainable, frozen, MATRICES) if frozen < BASES["bf16"] else _Tuned(trainable, frozen)


def _tuned(model: Model, trained: Trained) -> _Tuned | None:
    adapters = trained.adapters
    if adapters is None:
        return None
    return _Tuned(
        adapters.parameters(model),
        adapters.frozen_bytes,
        adapters.reading,
        _largest_matrix(model) if adapters.quantised else 0,
    )


def _largest_matrix(model: Model) -> int:
    """Parameters of the largest matrix of a layer."""
    layers = [layer_matrices(model, moe) for moe in (False, True) if moe <= model.moe]
    sides = [pair for layer in layers for shapes in layer.values() for pair in shapes]
    return max(rows * columns for rows, columns in sides)


def _footprint(job: _Job, stage: Any) -> Footprint:
    if stage == "last":
        return _on_stage(job, job.pp - 1)
    if not isinstance(stage, str):
        return _on_stage(job, minimum(stage, job.pp - 1))
    worst = _on_stage(job, 0.0)
    if not is_one(job.pp):
        others = [1.0, job.pp - 1]
        if len(job.kinds) > 1:  # a stage of experts only may come late, and its experts outweigh what the others keep
            others.append(ceil((job.model.layers - job.model.moe_layers) / (job.held.chunk * job.v)))
        for other in others:
            worst = _larger(worst, _on_stage(job, minimum(other, job.pp - 1)))
    return worst


def _job(
    model: Model,
    states: States,
    fused: bool,
    strategy: Strategy,
    T: Any,
    m: Any,
    framework: Framework | None,
    tuned: _Tuned | None,
    offload: Collection[str],
    mtp: int,
    loss: str,
    dtype: str,
) -> _Job:
    tp, pp, ep, v, sp, zero = (getattr(strategy, name) for name in ("tp", "pp", "ep", "v", "sp", "zero"))
    shards = strategy.shard_ranks
    expert_shards = maximum(strategy.beside_experts(shards / ep), 1.0)
    tokens = strategy.micro * T / strategy.cp
    outside = tokens / (sp * tp + (1 - sp))
    moes = [moe for moe, there in ((False, model.layers > model.moe_layers), (True, model.moe)) if there]
    adapted = tuned.matrices if tuned is not None else None
    wide_base = framework is not None and framework.wide_base and tuned is not None
    autocast = wide_base or _casts(framework, states, tuned)
    element = framework.input_bytes(dtype) if framework is not None else CAST
    kinds = tuple(
        layer_on_rank(model, moe, strategy, tokens, T, fused, framework, adapted, autocast, element) for moe in moes
    )
    recompute = strategy.recompute_code
    tables = unsharded = pool = 0.0
    gathered, logit, summed = states.weight, 4.0, 0.0
    if framework is not None:
        gathered, logit = framework.gathered, where(tp > 1, framework.shared_logit, framework.logit)
    logits = model.vocab * tokens / tp
    own_gradient = _table_gradient(model, framework, states, tuned, pp, m) / tp
    at_loss = loss_bytes(loss, logits, logit, model.width / model.vocab, own_gradient)
    if autocast and tuned is None:
        states = states._replace(weight=states.weight + CAST)
    if tuned is not None:
        share = tuned.trainable / parameter_count(model)
        states = States(tuned.frozen + share * states.weight, share * states.gradient, share * states.optimizer)
        gathered = framework.gathered if framework is not None else BASES["bf16"]
        tables = max((WIDE if wide_base else gathered) - tuned.frozen, 0.0) / where(zero >= 3, shards, 1.0)
        summed = BASES["bf16"] * tuned.made_again / tp
    if framework is not None:
        if framework.gathered_inputs:
            summed = summed + where(tp > 1, 4 * model.width * tokens, 0.0)
        if framework.unsharded_in_pipeline:
            unsharded = where((zero >= 3) & (pp > 1) & (shards > 1), 1.0, 0.0)
        a_parameter = where((zero >= 3) & (shards > 1), gathered, 0.0)
        tables = tables + a_parameter * (1 - unsharded)
        if framework.own_pools:
            largest = kinds[0].parameters if len(kinds) == 1 else maximum(kinds[0].parameters, kinds[1].parameters)
            pool = a_parameter * maximum(2 * largest, model.vocab * model.width / tp)
    return _Job(
        model=model,
        pp=pp,
        v=v,
        m=m,
        tp=tp,
        schedule=strategy.schedule_code,
        held=stage_layers(model, pp, v),
        kinds=kinds,
        kept=tuple(choose_by(recompute, x.kept_with) for x in kinds),
        whole=tuple(x.kept + x.scores for x in kinds),
        recompute_layers=strategy.recompute_layers,
        state_bytes=tuple(
            (b / where(zero >= stage, shards, 1.0), b / where(zero >= stage, expert_shards, 1.0))
            for stage, b in ((3, states.weight), (2, states.gradient), (1, states.optimizer))
        ),
        tables=tables,
        unsharded=unsharded,
        pool=pool,
        mask=model.dropout * model.width * outside,
        loss=(1 + mtp) * (4 * model.width * outside + at_loss.peak)
        + wide_base * CAST * model.vocab * model.width / tp  # the output layer's cast
        + mtp * 8 * model.width * outside,  # state and embedding, before their norms and joined
        hole=framework.logit_hole * logits if framework is not None and loss == "full" else 0.0,
        layer_hole=_layer_hole(framework, kinds, strategy),
        buffers=summed + _buffers(kinds, states, gathered, zero, shards, expert_shards, recompute, unsharded),
        step_copy=0.0
        if framework is None or tuned is not None
        else framework.moments * moment_bytes(states) / where(zero >= 1, shards, 1.0),
        embedding_sum=_embedding_sum(model, framework, states, tuned) / tp,
        boundary=2 * model.width * outside,
        outputs=2 * model.vocab * tokens / tp * where(m == inf, pp, m),
        framework=framework,
        tuned=tuned is not None,
        offload=offload,
        mtp=mtp,
    )


def _layer_hole(framework: Framework | None, kinds: tuple[LayerFootprint, ...], strategy: Strategy) -> Any:
    """Bytes that stay reserved of the first pass of layers that are recomputed as a whole: in blocks of a layer, each
    too small for the loss, which comes then.
    """
    if framework is None or not framework.layer_hole:
        return 0.0
    passes = kinds[0].first_pass if len(kinds) == 1 else maximum(kinds[0].first_pass, kinds[1].first_pass)
    return framework.layer_hole * where(strategy.recompute_code == FULL, passes, 0.0)


def _casts(framework: Framework | None, states: States, tuned: _Tuned | None) -> bool:
    """Whether all of a model is trained in 32 bits under autocast."""
    return framework is not None and framework.autocast and tuned is None and states.weight == WIDE


def _table_gradient(
    model: Model, framework: Framework | None, states: States, tuned: _Tuned | None, pp: Any, m: Any
) -> Any:
    """Bytes of the output layer's gradient, which is the first to come, where gradients take memory only then. It has
    the precision of the weight, also where the optimizer takes each gradient away at once.
    """
    if framework is None or not framework.late_gradients or tuned is not None:
        return 0.0
    return where((m == 1) & (pp == 1), states.weight * model.vocab * model.width, 0.0)


def _embedding_sum(model: Model, framework: Framework | None, states: States, tuned: _Tuned | None) -> float:
    """Bytes in which a compiled embedding sums up its gradient, beside the one in 16 bits that comes of it."""
    apart = framework is not None and framework.compiled and tuned is None and states.gradient < WIDE
    return float(WIDE * model.vocab * model.width) if apart else 0.0


def _buffers(
    kinds: Any,
    states: States,
    gathered: Any,
    zero: Any,
    shards: Any,
    expert_shards: Any,
    recompute: Any,
    unsharded: Any,
) -> Any:
    """Two layers' weights gathered, one to use and one to come; gradients of one, and of its activations; and what is
    recomputed of one.
    """
    a_parameter = where(zero >= 3, 2 * gathered, 0.0) + where(zero >= 2, states.gradient, 0.0)
    a_parameter = a_parameter * (1 - unsharded)
    result: Any = 0.0
    for x in kinds:
        whole = where(shards > 1, x.parameters, 0.0) + where(expert_shards > 1, x.experts, 0.0)
        result = maximum(result, a_parameter * whole + choose_by(recompute, x.again_with) + x.gradients)
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
    first = table + model.positions * model.width + model.embedding_norm * norm_parameters(model)
    dense = start * first + end * (table + norm_parameters(model) + model.head_bias * model.vocab / job.tp)
    if model.tied:
        dense = dense - start * end * table
    if job.mtp:
        joined = 2 * model.width**2 / job.tp + 3 * norm_parameters(model)
        dense = dense + end * (job.mtp * joined + (1 - start) * table)
    tables = dense
    if job.framework is not None and job.framework.embedding_apart:
        tables = end * (table + norm_parameters(model))
    experts: Any = 0.0
    a_microbatch: Any = 0.0
    layers = _layers(job, at_start, at_end, i)
    share = None if job.recompute_layers is None else minimum(job.recompute_layers / sum(layers), 1.0)
    for count, layer, kind_bytes, whole in zip(layers, job.kinds, job.kept, job.whole, strict=True):
        if share is not None:
            kind_bytes = share * kind_bytes + (1 - share) * whole
        held = where(dual, 2.0, 1.0) * count
        dense = dense + held * layer.parameters
        experts = experts + held * layer.experts
        a_microbatch = a_microbatch + count * kind_bytes
    flight = _in_flight(job, i)
    ends = end * where(schedule == _GPIPE, job.m, 1.0) * job.loss
    if model.dropout:
        ends = ends + start * where((schedule == _1F1B) & (job.v > 1), minimum(2 * pp - 1, job.m), flight) * job.mask
    weights, gradients, optimizer = (one * dense + other * experts for one, other in job.state_bytes)
    counted = Footprint(weights, gradients, optimizer, flight * a_microbatch, ends, job.buffers)
    if job.framework is None and not job.offload and not job.tuned:
        return counted
    return _reported(job, counted, tables, dense + experts, flight, end)


def _reported(job: _Job, counted: Footprint, tables: Any, parameters: Any, flight: Any, end: Any) -> Footprint:
    """What a GPU reports: with what FSDP leaves gathered, at the higher of the peaks that a step has, and with what the
    allocator and the context take.
    """
    by, weights, gradients = job.framework, counted.weights + job.tables * tables, counted.gradients
    optimizer = 0.0 * counted.optimizer if "optimizer" in job.offload else counted.optimizer
    activations, logits = counted.activations, counted.logits
    if "activations" in job.offload:
        largest = job.kept[0] if len(job.kept) == 1 else maximum(*job.kept)
        activations = minimum(activations, 2 * largest)
    if by is None:
        return Footprint(weights, gradients, optimizer, activations, logits, counted.buffers)
    if by.unsharded_in_pipeline:  # and of gradients, those of one chunk at a time
        weights = weights + job.unsharded * by.gathered * parameters
        whole = by.gradient * parameters / job.v
        gradients = gradients + job.unsharded * (whole if by.own_pools else maximum(whole - gradients, 0.0))
        staged = where(job.pp > 1, 1.0, 0.0)
        activations = activations + staged * 2 * flight * job.v * job.boundary
        logits = logits + staged * end * job.outputs
    layer_hole = end * job.layer_hole
    beyond = maximum(counted.buffers - logits - layer_hole, 0.0) + job.pool
    passing = activations + logits + beyond
    if by.late_gradients:  # they are whole when the first layer is done, with nothing beside them but its buffers
        room = passing + layer_hole
        late = maximum(gradients + counted.buffers + job.pool + job.embedding_sum - room, 0.0)
        gradients = where((job.m == 1) & (job.pp == 1), late, gradients)
    step = counted.gradients + job.step_copy * parameters  # when all else has gone
    holes = by.fragmentation * passing + end * job.hole + layer_hole
    overhead = maximum(holes, step - gradients - passing) + by.reserve
    return Footprint(weights, gradients, optimizer, activations, logits, beyond, overhead)


def _layers(job: _Job, at_start: Any, at_end: Any, i: Any) -> list[Any]:
    """Layers of each kind on stage i: the dense ones of a model with experts are the first."""
    layers = job.held.full - where(at_end, job.held.last, 0.0) - where(at_start, job.held.first, 0.0)
    if len(job.kinds) == 1:
        return [layers]
    dense = minimum(maximum(job.model.layers - job.model.moe_layers - i * layers, 0.0), layers)
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
