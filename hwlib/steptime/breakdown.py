"""The time of a step, for a model, a stack and a plan; numbers or whole arrays of plans."""

from collections.abc import Collection
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, overload

from hwlib.columns import bounded, by_blocks, choose, is_column, is_one
from hwlib.footprint.trained import Trained, newton_schulz_flops
from hwlib.formula import maximum, where
from hwlib.pipeline import dualpipe_played_bubble_time, one_f_one_b_bubble_time, zb_h1_played_bubble_time
from hwlib.specs import Model, Stack, levels_of, models, stacks
from hwlib.steptime.cast_times import cast_time, recast_time
from hwlib.steptime.compute_times import Passes, logits_passes, recomputed_share
from hwlib.steptime.job import Job, rates_of
from hwlib.steptime.offload_times import activation_time, host_link, optimizer_time
from hwlib.steptime.stages import Slowest, slowest_stage
from hwlib.steptime.transfer_times import Sends, exposed, exposed_data_time, sends_of
from hwlib.strategy import RECOMPUTE, SCHEDULES, Strategy, strategy_of
from hwlib.training import hardware_utilization, model_utilization
from hwlib.training_task import TrainingTask, is_task
from hwlib.transformer import parameter_groups, step_flops, with_mtp
from hwlib.units import show

DUALPIPE = SCHEDULES.index("dualpipe")
OPTIMIZER_BYTES = 30  # Adam reads and writes a 32-bit copy and two moments, reads a gradient, writes 16-bit weights


def _words(words: str, about: str) -> dict[str, str]:
    """What a part of a step is called, and what it is in more words."""
    return {"words": words, "about": about}


@dataclass(frozen=True, repr=False)
class StepTime:
    """Seconds of one step on the busiest rank: a number each, or an array of them for an array of plans.

    `compute` is forward and backward, `recomputed` the forward work done again; `tp`, `cp`, `ep`, `pp` and `dp` are
    waits for transfers, and `offload` those for the host's memory; `bubble` is the wait for other stages; `other` does
    not depend on the plan.
    """

    compute: Any = field(metadata=_words("arithmetic", "forward and backward passes of the fullest stage"))
    recomputed: Any = field(metadata=_words("recomputation", "forward work that is done again"))
    tp: Any = field(metadata=_words("tensor-parallel transfers", "collectives of a layer, not hidden"))
    cp: Any = field(metadata=_words("context-parallel transfers", "keys and values of other ranks, not hidden"))
    ep: Any = field(metadata=_words("expert-parallel transfers", "tokens sent to experts and back"))
    pp: Any = field(metadata=_words("messages between stages", "activations from stage to stage, waited for"))
    bubble: Any = field(metadata=_words("bubble", "waits for other stages"))
    dp: Any = field(metadata=_words("data-parallel transfers", "gradients and weights, not hidden"))
    optimizer: Any = field(metadata=_words("optimizer", "states read and written"))
    other: Any = field(metadata=_words("fixed time", "the same for every plan"))
    offload: Any = field(default=0.0, metadata=_words("transfers to the host", "over the link to the host, waited for"))

    @property
    def total(self) -> Any:
        """The step."""
        rest = self.pp + self.bubble + self.dp + self.optimizer + self.other + self.offload
        return self.compute + self.recomputed + self.tp + self.cp + self.ep + rest

    def mfu(self, model: Model | str, B: Any, T: Any, n: Any, C: float, causal: bool = True) -> Any:
        """MFU on n ranks of peak rate C: the operations that the model asks for, over those that could be done."""
        return model_utilization(step_flops(model, B, T, causal), self.total, n, C)

    def hfu(self, flops: Any, n: Any, C: float) -> Any:
        """HFU on n ranks of peak rate C, for the operations that all ranks do, recomputed ones too."""
        return hardware_utilization(flops, self.total, n, C)

    def __repr__(self) -> str:
        if getattr(self.total, "ndim", 0):
            return f"<StepTime of {self.total.size} plans>"
        parts = [f"{f.name} {show(float(x), 's')}" for f in fields(self) if (x := getattr(self, f.name))]
        return f"<StepTime: {', '.join(parts)}, total {show(float(self.total), 's')}>"


@overload
def step_time(task: TrainingTask, strategy: Strategy, /, *, stack: Stack | None = None) -> StepTime: ...


@overload
def step_time(
    model: Model | str,
    /,
    stack: Stack | str,
    machine: Any,
    strategy: Strategy | None = None,
    *,
    B: Any,
    T: Any,
    fused: bool = True,
    dtype: str = "bf16",
    expert_imbalance: Any = 1.0,
    dedup_dispatch: bool = False,
    frozen: bool = False,
    mtp: bool = False,
    offload: Collection[str] = (),
    host: float | None = None,
    gradient_bytes: float = 2.0,
    trained: Trained | None = None,
    **degrees: Any,
) -> StepTime: ...


def step_time(subject: Any, /, *args: Any, **options: Any) -> StepTime:
    """Seconds of a step of B tokens in sequences of T, on the strategy's ranks, each a chip of the stack.

    Of a task, which has all that the strategy does not say, with its stack or another; or of a model, a stack, a
    machine and what is given of the rest, where the strategy may be plain keywords, too.

    `model` and `stack` may be keys; `machine` a cluster, a node, a topology, levels, or a key. A replica does its B/dp
    tokens in microbatches of `strategy.micro` sequences. Where attention is not `fused` its scores go through memory
    and nothing of the mask is skipped. Matrix products of the layers are in `dtype`, all else in bfloat16; the busiest
    experts see `expert_imbalance` times the mean tokens, and with `dedup_dispatch` a token goes once to each rank and
    node that has one of its experts. With `frozen` matrices (LoRA) no gradients of weights are computed or summed, and
    no states updated; the adapters' own work is left out. `trained` says what is trained in one record, with all of
    that work: products of adapters, matrices that are made again out of 4 or 8 bits, and the update. Whether a plan can
    be (heads that tp divides, a batch that dp does) is the planner's question. The strategy may be columns of many
    plans; B, T and expert_imbalance may be arrays beside them.

    Data-parallel transfers run beside the passes, context-parallel ones beside attention, all others are waited for,
    but for the share that the stack hides. Raises ValueError for what cannot be and KeyError for an unknown key.

    >>> strategy = Strategy.of(dp=2, tp=4, pp=8, v=5, zero=1)
    >>> step = step_time(
    ...     "llama3-70b", "megatron-core-h100", "superpod-h100-4su", strategy, B=2**20, T=8192, dtype="fp8"
    ... )
    >>> 9 < step.total < 12
    True
    """
    return (_of_task if is_task(subject) else _of_model)(subject, *args, **options)


def _of_task(task: TrainingTask, strategy: Strategy, *, stack: Stack | None = None) -> StepTime:
    """Plans whose states are divided among all ranks are timed apart from HSDP's, which have one more transfer."""
    hybrid = strategy.hybrid
    if not is_column(hybrid):
        return _of_plans(task, strategy, stack)
    import numpy as np

    times: dict[str, Any] = {}
    for mask, part in ((~hybrid, strategy[~hybrid].without_copies()), (hybrid, strategy[hybrid])):
        if not mask.any():
            continue
        of_part = _of_plans(task, part, stack)
        for f in fields(StepTime):
            column = times.setdefault(f.name, np.empty(hybrid.size))
            column[mask] = getattr(of_part, f.name)
    return StepTime(**times)


def _of_plans(task: TrainingTask, strategy: Strategy, stack: Stack | None) -> StepTime:
    uses = task.software
    return _of_model(
        task.model,
        stack or task.stack,
        task.machine.levels,
        strategy,
        B=task.B,
        T=task.T,
        fused=uses.fused,
        dtype=uses.dtype,
        expert_imbalance=uses.expert_imbalance,
        dedup_dispatch=bool(uses.dedup_dispatch),
        mtp=bool(uses.mtp),
        offload=uses.offload,
        host=task.machine.host,
        trained=task.trained,
    )


def _of_model(
    model: Model | str,
    stack: Stack | str,
    machine: Any,
    strategy: Strategy | None = None,
    *,
    B: Any,
    T: Any,
    fused: bool = True,
    dtype: str = "bf16",
    expert_imbalance: Any = 1.0,
    dedup_dispatch: bool = False,
    frozen: bool = False,
    mtp: bool = False,
    offload: Collection[str] = (),
    host: float | None = None,
    gradient_bytes: float = 2.0,
    trained: Trained | None = None,
    **degrees: Any,
) -> StepTime:
    strategy = strategy_of(strategy, degrees)
    model, stack, levels = with_mtp(model) if mtp else models.of(model), stacks.of(stack), levels_of(machine)
    link = host_link(machine, host, offload)
    numbers = {"B": B, "T": T, "expert_imbalance": expert_imbalance}
    columns = {**strategy.degrees, **{name: bounded(f"step_time: {name}", x, 1) for name, x in numbers.items()}}

    rates = rates_of(stack, dtype)
    if not gradient_bytes > 0:
        raise ValueError(f"step_time: gradient_bytes is above 0, got {gradient_bytes!r}")

    def one(block: dict[str, Any]) -> StepTime:
        B, T, imbalance = (block.pop(name) for name in numbers)
        part = strategy.unchecked(block)
        m = part.microbatches(B, T)
        modules = model.mtp_layers if mtp else 0
        job = Job(
            model,
            stack,
            levels,
            part,
            T,
            m,
            rates,
            fused,
            imbalance,
            dedup_dispatch,
            frozen or bool(trained and trained.adapters),
            modules,
            gradient_bytes=gradient_bytes,
            trained=trained,
            dtype=dtype,
        )
        return _step_time(job._replace(host=link) if link else job)

    return by_blocks(StepTime, one, columns)


def _step_time(job: Job) -> StepTime:
    model, stack, plan, m = job.model, job.stack, job.strategy, job.m
    sends = sends_of(job)
    loss = logits_passes(job)
    t_loss = loss.forward + loss.backward + (1 + job.mtp) * stack.t_loss
    dual = plan.schedule_code == DUALPIPE  # a rank has both ends, each for half of m
    t_loss = where(dual, t_loss / 2, t_loss)
    stages = slowest_stage(job, t_loss)
    mean, moe, whole, last = stages.layer, stages.moe, stages.held.full, stages.held.last
    last = where(dual, (stages.held.first + last) / 2, last)
    done, t_F, t_B = _layer(job, sends, mean, moe)
    out = last * (t_F + t_B) - stages.quicker <= t_loss  # the output layer makes the last stage the slowest
    layers, t_end = where(out, whole - last, whole), where(out, t_loss, 0.0)
    turns = m * layers
    bubble: Any = 0.0
    messages: Any = 0.0
    if not is_one(plan.pp):
        messages = maximum(_messages(job), 0.0) * sends.pp
        lighter = 0.0 if stages.lighter is None else stages.lighter * (stages.less + done.ep / maximum(moe, 1e-9))
        bubble = _bubble(job, stages, (t_F, t_B, mean.weight), t_loss, out, lighter)
    waits_dp = exposed_data_time(job, sends, layers * t_F, layers * t_B, t_end)
    if job.frozen:  # only weights that are divided are gathered
        waits_dp = where(plan.zero == 3, waits_dp, 0.0)
    update = _optimizer(job)
    offload: Any = 0.0
    if job.host and job.host.activations:
        offload = turns * activation_time(job, job.host, moe, t_F, t_B)
    if job.host and job.host.optimizer and not job.frozen:
        offload = offload + optimizer_time(job.host, _updated(model, plan), update)
    return StepTime(
        compute=turns * done.compute + m * (t_end + cast_time(job)),
        recomputed=turns * done.recomputed + m * recast_time(job),
        tp=turns * done.tp,
        cp=turns * done.cp,
        ep=turns * done.ep,
        pp=messages,
        bubble=bubble,
        dp=waits_dp,
        optimizer=update,
        other=stack.t_step,
        offload=offload,
    )


class _Done(NamedTuple):
    """Seconds of one layer and microbatch, both passes, as the parts of a step."""

    compute: Any
    recomputed: Any
    tp: Any
    cp: Any
    ep: Any


def _layer(job: Job, sends: Sends, mean: Passes, moe: Any) -> tuple[_Done, Any, Any]:
    """One layer of a microbatch: its parts, and the time of the forward and of the backward pass.

    Tensor-parallel collectives run beside a share of all but attention, keys and values beside attention, and while
    the chip waits for the host, which launches the kernels of a pass in no less than `t_layer`. Small kernels
    leave gaps, which a pass has besides its work (`t_gap`). A layer that is recomputed sends again what its forward
    pass sends.
    """
    stack, plan = job.stack, job.strategy
    full = plan.recompute_code == RECOMPUTE.index("full")
    forward, backward, again = mean.forward + stack.t_gap, mean.backward + stack.t_gap, mean.again
    tp_ahead, tp_back = sends.tp_forward, sends.tp_backward
    if stack.hide_tp:
        tp_ahead = exposed(tp_ahead, forward - mean.attention, stack.hide_tp)
        tp_back = exposed(tp_back, backward - 2 * mean.attention, stack.hide_tp)
    t_host = stack.t_layer + moe * stack.t_moe
    if stack.t_layer or stack.t_moe:
        forward = maximum(forward, t_host - tp_ahead)
        backward = maximum(backward, t_host - tp_back)
    share = recomputed_share(job.model, plan)
    twice = where(full, 1.0 + share, 1.0)
    cp: Any = 0.0
    cp_ahead: Any = 0.0
    if not is_one(plan.cp):
        idle, idle_back = forward - mean.forward, backward - mean.backward
        cp_ahead = exposed(sends.cp, mean.attention + idle, 1)
        cp = twice * cp_ahead + exposed(2 * sends.cp, 2 * mean.attention + idle_back, 1)
    again = where(full, maximum(again, share * forward), again)
    ep: Any = 0.0
    if job.model.moe and not is_one(plan.ep):
        ep = _experts_wait(job, moe * sends.ep * job.expert_imbalance, forward)
    done = _Done(forward + backward, again, twice * tp_ahead + tp_back, cp, (twice + 1) * ep)
    t_F = forward + tp_ahead + cp_ahead + ep
    return done, t_F, sum(done) - t_F


def _experts_wait(job: Job, ep: Any, forward: Any) -> Any:
    """What of the transfers to experts, `ep` seconds in a layer and pass, is waited for.

    They run beside a layer of another microbatch: in chunks of an interleaved pipeline, and with some software where
    there is no pipeline, too. There the first microbatch's forward pass and the last one's backward pass have nothing
    to run beside them, which is a pass and its transfers of every m.
    """
    stack, plan = job.stack, job.strategy
    if not stack.hide_ep:
        return ep
    beside = exposed(ep, forward, stack.hide_ep)
    chunks = (plan.v > 1) | (plan.schedule_code == DUALPIPE)
    if not stack.overlap_alone:
        return where(chunks, beside, ep)
    alone = beside + (ep - beside) / maximum(job.m, 1.0)
    return where(chunks, beside, where(plan.pp == 1, alone, ep))


def _bubble(job: Job, stages: Slowest, layer: tuple[Any, Any, Any], t_loss: Any, out: Any, lighter: Any) -> Any:
    """What the first microbatch and the last keep the slowest stage waiting.

    `layer` are the times of one: forward, backward, and of that for gradients of weights. `out` says
    whether the output layer, which takes `t_loss`, makes the last stage the slowest. By `lighter` the other stages take
    less for their dense layers.

    In 1F1B the slowest stage waits once for each stage before it. For those after it, of which n are short and take A
    together, it waits A - n t_F while the pipeline fills, and A - n t_B while it drains: what it is not waiting for, it
    would have to do itself. GPipe waits once for each. Of other schedules the share of a stage that is waited for is
    that of equal stages, which is first-order.
    """
    plan, held = job.strategy, stages.held
    each, others = layer[0] + layer[1], maximum(plan.pp - 1, 1)
    t_F, t_B, t_all = held.full * layer[0], held.full * layer[1], held.full * each
    share = maximum(_even_bubble(plan, t_F, t_B, held.full * layer[2]), 0.0) / (others * t_all)
    n = held.others + 1
    after = n * t_all - (held.others + held.last) * each + t_loss
    waits = maximum(after - n * t_F, 0.0) + maximum(after - n * t_B, 0.0)
    waits = where(plan.schedule_code == SCHEDULES.index("gpipe"), after, waits)
    between = (others - n) * t_all - held.first * each + waits
    others_alone = (job.model.layers - held.full + held.last) * each
    return share * maximum(where(out, others_alone, between) - lighter, 0.0)


def _even_bubble(plan: Strategy, t_F: Any, t_B: Any, t_W: Any) -> Any:
    """The bubble of equal stages."""
    pp = plan.pp
    one_f_one_b = one_f_one_b_bubble_time.function
    return choose(
        plan.schedule_code,
        (
            lambda: one_f_one_b(pp, t_F, t_B),
            lambda: one_f_one_b(pp, t_F, t_B) / plan.v,
            lambda: zb_h1_played_bubble_time.function(pp, t_F, t_B - t_W, t_W),
            lambda: (pp - 1) * (t_F + t_B) / 6,
            lambda: dualpipe_played_bubble_time.function(pp, t_F, t_B - t_W, t_W),
        ),
    )


def _messages(job: Job) -> Any:
    """Messages between stages that a step waits for: all of a rank, or those that a played schedule waits for.

    In 1F1B a stage waits for both ends of each turn; interleaved stages have other chunks to work on, and only the
    first and last messages stand in the way. Software that hides none waits for all that a stage sends, and where
    microbatches are few for the first and last ones, which are then more.
    """
    plan, m, hidden = job.strategy, job.m, job.stack.hide_pp
    pp, v = plan.pp, plan.v
    ends = pp * v - 1
    least = where((plan.schedule_code == SCHEDULES.index("1f1b")) & (v == 1), m - m / pp + pp - 2, ends)
    return 2 * (least if hidden == 1 else hidden * least + (1 - hidden) * maximum(v * m, least))


def _optimizer(job: Job) -> Any:
    """The states of a rank, read and written once, of Adam where nothing else is asked for; and the products of Muon,
    whole matrices of which are dealt out where states are.
    """
    model, plan, trained = job.model, job.strategy, job.trained
    if trained is None:
        return 0.0 if job.frozen else OPTIMIZER_BYTES * _updated(model, plan) / job.rates.W
    share = trained.parameters(model) / parameter_groups(model).total
    updated, t_param = share * _updated(model, plan), job.stack.t_param
    W = (job.stack.accelerator.hbm_bandwidth or 0.0) if t_param else job.rates.W
    seconds = trained.update_bytes * updated / W + t_param * updated
    if trained.optimizer != "muon" or trained.adapters:
        return seconds
    ranks = plan.tp * plan.pp * where(plan.zero > 0, plan.shard_ranks, 1.0)
    return seconds + newton_schulz_flops(model) / ranks / job.rates.C_logits


def _updated(model: Model, plan: Strategy) -> Any:
    """The parameters whose states a rank has."""
    groups = parameter_groups(model)
    ranks = plan.shard_ranks
    dense = (groups.total - groups.experts) / where(plan.zero > 0, ranks, 1.0)
    shared = plan.within_experts(plan.ep)
    experts = groups.experts / shared / where(plan.zero > 0, maximum(ranks / shared, 1.0), 1.0)
    return (dense + experts) / (plan.tp * plan.pp)
