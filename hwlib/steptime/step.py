"""The time of a step, for a model, a stack and a plan; numbers or whole arrays of plans."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from itertools import zip_longest
from math import prod
from typing import Any

from hwlib.footprint import RECOMPUTE, SCHEDULES
from hwlib.footprint.inputs import choose, code
from hwlib.footprint.rank import BLOCK
from hwlib.formula import ceil, maximum, minimum, where
from hwlib.parallel import exposed_time
from hwlib.pipeline import dualpipe_played_bubble_time, one_f_one_b_bubble_time, zb_h1_played_bubble_time
from hwlib.specs import Level, Model, Stack, stacks
from hwlib.steptime.inputs import Plan, checked, levels_of
from hwlib.steptime.sends import Sends, exposed_data_time, sends_of
from hwlib.steptime.work import layer_passes, logits_passes, rates_of
from hwlib.training import hardware_utilization, model_utilization
from hwlib.transformer import parameter_groups, step_flops
from hwlib.units import show

OPTIMIZER_BYTES = 30  # Adam reads and writes a 32-bit copy and two moments, reads a gradient, writes 16-bit weights


@dataclass(frozen=True, repr=False)
class StepTime:
    """Seconds of one step on the busiest rank: a number each, or an array of them for an array of plans.

    `compute` is forward and backward, `recomputed` what is done again; `tp`, `cp`, `ep`, `pp` and `dp` are what
    transfers are waited for; `bubble` is what the rank waits for other stages; `other` does not depend on the plan.
    """

    compute: Any
    recomputed: Any
    tp: Any
    cp: Any
    ep: Any
    pp: Any
    bubble: Any
    dp: Any
    optimizer: Any
    other: Any

    @property
    def total(self) -> Any:
        """The step."""
        rest = self.pp + self.bubble + self.dp + self.optimizer + self.other
        return self.compute + self.recomputed + self.tp + self.cp + self.ep + rest

    def mfu(self, model: Model, B: Any, T: Any, n: Any, C: float, causal: bool = True) -> Any:
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


def step_time(
    model: Model, stack: Stack | str, levels: Any, *, B: Any, T: Any, dp: Any, tp: Any = 1, pp: Any = 1,
    cp: Any = 1, ep: Any = 1, v: Any = 1, zero: Any = 0, sp: Any = True, micro: Any = 1, recompute: Any = "none",
    schedule: Any = "1f1b", fused: bool = True, shards: Any = None, dtype: str = "bf16", imbalance: Any = 1.0,
    merge: bool = False,
) -> StepTime:  # fmt: skip
    """Seconds of a step of B tokens in sequences of T, on dp*tp*pp*cp ranks of the stack's chip.

    `stack` is a Stack or its key; `levels` a cluster, a node, a topology, levels, or a key. The plan is that of
    `footprint`: `micro` sequences are a microbatch, of which there are B/(T*dp*micro); ZeRO's stage `zero` shares
    states among dp*cp ranks or `shards` of them. Where attention is not `fused` its scores go through memory and
    nothing of the mask is skipped. Matrix products of the layers are in `dtype`, all else in bfloat16;
    the busiest experts see `imbalance` times the mean tokens, and with `merge` a token goes once to each rank and
    node that has one of its experts. Whether a plan can be (heads that tp divides, a batch
    that dp does) is the planner's question. Any number may be an array; words may be arrays too, or their positions.

    Data-parallel transfers run beside the passes, context-parallel ones beside attention, all others are waited for,
    but for the share that the stack hides. Raises ValueError for what cannot be and KeyError for an unknown key.

    >>> from hwlib.specs import models
    >>> plan = dict(B=2**20, T=8192, dp=2, tp=4, pp=8, v=5, zero=1, dtype="fp8")
    >>> step = step_time(models["llama3-70b"], "megatron-core-h100", "superpod-h100-4su", **plan)
    >>> 9 < step.total < 12
    True
    """
    stack, levels = stacks[stack] if isinstance(stack, str) else stack, levels_of(levels)
    given = {
        "B": B, "T": T, "dp": dp, "tp": tp, "pp": pp, "cp": cp, "ep": ep, "v": v, "zero": zero, "sp": sp,
        "micro": micro, "recompute": code("recompute", recompute, RECOMPUTE),
        "schedule": code("schedule", schedule, SCHEDULES), "shards": shards, "imbalance": imbalance,
    }  # fmt: skip
    arrays = {name: x for name, x in given.items() if getattr(x, "ndim", 0)}
    one = lambda block: _step_time(model, stack, levels, checked(block), fused, dtype, merge)
    if prod(max(sizes) for sizes in zip_longest(*(x.shape[::-1] for x in arrays.values()), fillvalue=1)) <= BLOCK:
        return one(given)
    return _in_blocks(one, given, arrays)


def _in_blocks(one: Callable[[dict[str, Any]], StepTime], given: dict[str, Any], arrays: dict[str, Any]) -> StepTime:
    """The times of many plans, block by block; what is given as arrays stands in `arrays` too."""
    import numpy as np

    shape = np.broadcast_shapes(*(x.shape for x in arrays.values()))
    flat = {name: np.broadcast_to(x, shape).reshape(-1) for name, x in arrays.items()}
    names = [f.name for f in fields(StepTime)]
    result = np.empty((len(names), int(np.prod(shape))))
    for start in range(0, result.shape[1], BLOCK):
        part = slice(start, start + BLOCK)
        block = one(given | {name: x[part] for name, x in flat.items()})
        for row, name in zip(result, names, strict=True):
            row[part] = getattr(block, name)
    return StepTime(*result.reshape(-1, *shape))


def _step_time(
    model: Model, stack: Stack, levels: Sequence[Level], plan: Plan, fused: bool, dtype: str, merge: bool
) -> StepTime:
    rates, m = rates_of(stack, dtype), plan.m
    sends = sends_of(model, stack, levels, plan, merge)
    whole = ceil(model.layers / (plan.pp * plan.v)) * plan.v
    whole = minimum(whole, model.layers)
    last = whole - where(whole * plan.pp > model.layers, 1.0, 0.0)
    logits = logits_passes(model, plan, rates)
    forward = backward = weight = 0.0
    kinds = []
    for moe, share in ((False, 1 - model.moe_layers / model.layers), (True, model.moe_layers / model.layers)):
        if share:
            kinds.append((share, layer_passes(model, moe, plan, rates, fused)))
    mean = [sum(share * passes[i] for share, passes in kinds) for i in range(5)]
    moe_share = model.moe_layers / model.layers
    tp, cp = _waited(sends, stack, mean, plan)
    ep = moe_share * sends.ep * plan.imbalance
    mean[0] = maximum(mean[0], stack.t_layer - tp[0])
    mean[1] = maximum(mean[1], stack.t_layer - sends.tp_backward)
    mean[3] = where(plan.recompute == 2, maximum(mean[3], stack.t_layer - tp[0]), mean[3])
    forward = mean[0] + tp[0] + cp[0] + ep
    backward = mean[1] + mean[3] + tp[1] + cp[1] + ep
    weight = mean[2]
    middle, end = whole * (forward + backward), last * (forward + backward) + logits.forward + logits.backward
    ends = end >= middle
    layers, out = where(ends, last, whole), where(ends, 1.0, 0.0)
    t_F, t_B, t_W = whole * forward, whole * backward, whole * weight
    bubble = maximum(_bubble(plan, t_F, t_B, t_W) - maximum(middle - end, 0.0) / plan.v, 0.0) * (plan.pp > 1)
    ones = out * logits.forward, out * logits.backward
    return StepTime(
        compute=m * (layers * (mean[0] + mean[1]) + ones[0] + ones[1]),
        recomputed=m * layers * mean[3],
        tp=m * layers * (tp[0] + tp[1]),
        cp=m * layers * (cp[0] + cp[1]),
        ep=m * layers * 2 * ep,
        pp=_messages(plan, stack) * sends.pp,
        bubble=bubble,
        dp=exposed_data_time(sends, stack, plan, layers, layers * forward + ones[0], layers * backward + ones[1]),
        optimizer=_optimizer(model, plan, rates.W),
        other=stack.t_step + 0.0 * m,
    )


def _waited(sends: Sends, stack: Stack, mean: Sequence[Any], plan: Plan) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Of one layer: tensor- and context-parallel transfers, forward and backward, less what they run beside."""
    again = where(plan.recompute == 2, sends.tp_forward, 0.0)
    tp = (
        exposed_time(sends.tp_forward, mean[0], stack.hide_tp),
        exposed_time(sends.tp_backward + again, mean[1] + mean[3], stack.hide_tp),
    )
    cp = exposed_time(sends.cp_forward, mean[4]), exposed_time(sends.cp_backward, 2 * mean[4])
    return tp, cp


def _bubble(plan: Plan, t_F: Any, t_B: Any, t_W: Any) -> Any:
    """What the first microbatch and the last keep the others waiting, for equal stages."""
    pp = plan.pp
    return choose(plan.schedule, (
        lambda: one_f_one_b_bubble_time(pp, t_F, t_B),
        lambda: one_f_one_b_bubble_time(pp, t_F, t_B) / plan.v,
        lambda: zb_h1_played_bubble_time(pp, t_F, t_B - t_W, t_W),
        lambda: (pp - 1) * (t_F + t_B) / 6,
        lambda: dualpipe_played_bubble_time(pp, t_F, t_B - t_W, t_W),
    ))  # fmt: skip


def _messages(plan: Plan, stack: Stack) -> Any:
    """Messages between stages that a step waits for: all of a rank, or those that a played schedule waits for.

    In 1F1B a stage waits for both ends of each turn; interleaved stages have other chunks to work on, and only the
    first and last messages stand in the way.
    """
    pp, v, m = plan.pp, plan.v, plan.m
    least = where((plan.schedule == 1) & (v == 1), 2 * ((pp - 1) / pp * m + pp - 2), 2 * (pp * v - 1))
    return (stack.hide_pp * least + (1 - stack.hide_pp) * 2 * v * m) * (pp > 1)


def _optimizer(model: Model, plan: Plan, W: float) -> Any:
    """Adam's states of a rank, read and written once."""
    groups = parameter_groups(model)
    ranks = plan.dp * plan.cp if plan.shards is None else plan.shards
    dense = (groups.total - groups.experts) / where(plan.zero > 0, ranks, 1.0)
    experts = groups.experts / plan.ep / where(plan.zero > 0, maximum(ranks / plan.ep, 1.0), 1.0)
    return OPTIMIZER_BYTES * (dense + experts) / (plan.tp * plan.pp) / W
