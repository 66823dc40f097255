"""Seconds of each transfer of a plan on a stack: one collective of one microbatch and layer, and those of a step.

The bytes are those of `hwlib.parallel.transfers`, the bandwidth that of the levels that an axis crosses; each call has
a latency beside it, which grows with the ranks of a node and with each doubling of the nodes.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from hwlib.calibrated.nccl import ring_step
from hwlib.collectives import Routing, axis_time
from hwlib.columns import is_one
from hwlib.formula import log2, maximum, minimum, where
from hwlib.parallel import exposed_time
from hwlib.parallel.transfers import sizes_of
from hwlib.specs import Accelerator, Level, Stack
from hwlib.steptime.job import Job
from hwlib.transformer import parameter_groups

FULL = 8  # ranks of the node in which a stack's alpha_in is meant
ELEMENT = 2  # bytes of an activation or a weight on its way, and of a gradient unless the job says otherwise

exposed = exposed_time.function  # without the checks of a call, which cost more than it does


class Sends(NamedTuple):
    """Seconds of one microbatch in one layer: tensor-parallel, forward and backward; keys and values of all ranks that
    share a sequence, one way; to experts and back; of one message between stages; and of all states of a rank: its
    weights gathered, its gradients scattered (or reduced, where every rank keeps all), and these summed over copies.
    """

    tp_forward: Any
    tp_backward: Any
    cp: Any
    ep: Any
    pp: Any
    gather: Any
    scatter: Any
    copies: Any


def scaled(levels: Sequence[Level], stack: Stack) -> tuple[Level, ...]:
    """The levels with the bandwidth that the stack reaches."""
    eta = [stack.eta_in] + [stack.eta_out] * (len(levels) - 1)
    return tuple(
        Level(name, size, bandwidth * share) for (name, size, bandwidth), share in zip(levels, eta, strict=True)
    )


def call_seconds(stack: Stack, node: Any, collective: str, ranks: Any, inner: Any = 1) -> Any:
    """Seconds of a call before its bytes count, among `ranks` of which each stands for `inner` neighbours, in nodes of
    `node` ranks.

    >>> from hwlib.specs import stacks
    >>> round(call_seconds(stacks["megatron-core-h100"], 8, "all_gather", 256) * 1e6)
    165
    """
    if collective == "send":
        return where(ranks * inner > node, stack.alpha_in + stack.alpha_out, stack.alpha_in)
    step = minimum(ring_step(stack.chip), stack.alpha_in / FULL)  # a call of two ranks takes some time too
    near = minimum(maximum(node / inner, 1.0), ranks)  # ranks of a group in a node
    return where(ranks > 1, (stack.alpha_in + step * (near - FULL)) + stack.alpha_out * log2(ranks / near), 0.0)


def mesh_share(chip: Accelerator, node: Any, collective: str, ranks: Any, inner: Any = 1) -> Any:
    """The share of a chip's links that lead to the others of its group, where each chip of a node has a link of its own
    to every other: groups of few ranks leave the rest idle. 1 behind switches, and for groups of several nodes, which
    the network bounds.

    >>> from hwlib.specs import accelerators
    >>> [float(mesh_share(accelerators["mi300x"], 8, "all_gather", n)) for n in (8, 2)]
    [1.0, 0.14285714285714285]
    """
    if chip.scaleup_switches != 0 or not chip.scaleup_links or chip.scaleup_links < node - 1:
        return 1.0
    others = 1.0 if collective == "send" else maximum(ranks - 1, 1)
    return where(ranks * inner > node, 1.0, minimum(others / chip.scaleup_links, 1.0))


def sends_of(job: Job) -> Sends:
    """The transfers of a plan as times."""
    model, stack, plan = job.model, job.stack, job.strategy
    reached, node = scaled(job.levels, stack), job.levels[0].size
    tp, cp, ep, dp, sp, zero = plan.tp, plan.cp, plan.ep, plan.dp, plan.sp, plan.zero
    size, etp = sizes_of(model, plan.micro * job.T / cp, tp, plan.pp, cp, ep, plan.etp), plan.expert_tp

    def rate(collective: str, ranks: Any, inner: Any, routing: Routing | None = None) -> tuple[Any, Any]:
        """Seconds of an element, and of a call: nothing for a single rank."""
        an_element = axis_time(collective, float(ELEMENT), reached, ranks, inner, routing)
        an_element = an_element / mesh_share(stack.accelerator, node, collective, ranks, inner)
        if not (stack.alpha_in or stack.alpha_out):
            return an_element, 0.0
        call = call_seconds(stack, node, collective, ranks, inner)
        return an_element, where(ranks > 1, call, 0.0) if collective == "send" else call

    t, latency = rate("all_gather", tp, 1)
    hidden = size.hidden * t
    # an all-reduce is a gather and a scatter in one call; with sequence parallelism two inputs are gathered again
    tp_forward = 4 * hidden + (2 + 2 * sp) * latency
    tp_backward = (4 + 2 * sp) * hidden + (2 + 4 * sp) * latency
    if plan.etp is not None and model.moe:  # of two blocks of a layer one, with its experts, is of another degree
        t, latency = rate("all_gather", etp, 1)
        half, own = model.moe_layers / model.layers / 2, size.hidden * etp / tp * t
        tp_forward = (1 - half) * tp_forward + half * (4 * own + (2 + 2 * sp) * latency)
        tp_backward = (1 - half) * tp_backward + half * ((4 + 2 * sp) * own + (2 + 4 * sp) * latency)
    keys: Any = 0.0
    if not is_one(cp):
        t, latency = rate("all_gather", cp, tp)
        keys = size.keys * t + latency
    experts: Any = 0.0
    if model.moe and not is_one(ep):
        routing = Routing(model.experts_per_token, model.experts) if job.dedup_dispatch else None
        t, latency = rate("all_to_all", ep, etp, routing)
        experts = 2 * (size.copies * t + latency)
    message: Any = 0.0
    if not is_one(plan.pp):
        t, latency = rate("send", plan.pp, tp * cp * dp)
        message = size.hidden / tp * t + latency
    gather: Any = 0.0
    scatter: Any = 0.0
    copies: Any = 0.0
    wide = job.gradient_bytes / ELEMENT
    for P, replicas, inner in ((size.dense, dp * cp, tp), (size.experts, plan.expert_ranks, etp * ep)):
        if P is size.experts and not model.moe:
            continue
        t, latency = rate("all_gather", replicas, inner)
        reduced = 2 * wide * P * t + latency  # ZeRO-0: scattered and gathered, in one call
        shared, summed = P * t + latency, wide * P * t + latency
        if plan.hybrid is not False:
            ranks = plan.state_ranks(replicas)
            t, latency = rate("all_gather", ranks, inner)
            shared, summed = P * t + latency, wide * P * t + latency
            t, latency = rate("all_reduce", replicas / ranks, inner * ranks)
            copies = copies + where(zero > 0, wide * P / ranks * t + latency, 0.0)
        scatter = scatter + where(zero > 0, summed, reduced)
        gather = gather + where(zero > 0, shared, 0.0)
    return Sends(tp_forward, tp_backward, keys, experts, message, gather, scatter, copies)


def exposed_data_time(job: Job, sends: Sends, forward: Any, backward: Any, loss: Any) -> Any:
    """What of the data-parallel transfers of a step nothing hides.

    Gathers run beside the layers' forward pass of a microbatch (of the first, unless it is ZeRO-3, which gathers for
    every one, and all but the output layer again for the backward pass), sums beside the layers' backward pass (of
    the last, or with ZeRO-2 and ZeRO-3 of each). One layer is gathered ahead, so the loss has no more to run beside.
    Embedding and first layer are gathered before anything else, and their gradients summed after all else.
    """
    model, plan, m, hide = job.model, job.strategy, job.m, job.stack.hide_dp
    zero, gather, scatter = plan.zero, sends.gather, sends.scatter
    groups = parameter_groups(model)
    rows = groups.embedding + groups.positions
    layer = plan.pp * (groups.total - groups.head - rows) / (model.layers * groups.total)
    again = (1 - groups.head / groups.total) * gather
    if hide:
        first = layer + rows / groups.total
        again = again - minimum(layer * gather, loss)
        ahead = maximum(exposed(gather, forward, hide), first * gather)
        behind = maximum(exposed(where(zero == 3, scatter + again, scatter), backward, hide), first * scatter)
    else:
        ahead, behind = gather, where(zero == 3, scatter + again, scatter)
    return where(zero == 3, m, 1.0) * ahead + where(zero >= 2, m, 1.0) * behind + sends.copies
