"""Seconds of each transfer of a plan on a stack: one collective of one microbatch and layer, and those of a step."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from hwlib.collectives import axis_time
from hwlib.formula import maximum, where
from hwlib.parallel import exposed_time, transfers
from hwlib.specs import Level, Model, Stack
from hwlib.steptime.inputs import Plan


class Sends(NamedTuple):
    """Seconds of one microbatch in one layer: tensor-parallel, forward and backward; context-parallel; experts' (one
    way of a pass is half of `ep`); of one message between stages; and of the states of a rank, where the gathers
    beside forward and backward, the sums beside the backward, and the sums over copies once a step stand apart.
    """

    tp_forward: Any
    tp_backward: Any
    cp_forward: Any
    cp_backward: Any
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


def sends_of(model: Model, stack: Stack, levels: Sequence[Level], plan: Plan, merge: bool) -> Sends:
    """The transfers of a plan as times: bandwidth of the levels, and the latency of a call."""
    reached, node = scaled(levels, stack), levels[0].size
    found = transfers(
        model, B=plan.B, dp=plan.dp, tp=plan.tp, pp=plan.pp, cp=plan.cp, ep=plan.ep, v=plan.v, m=plan.m,
        zero=plan.zero, sp=plan.sp, shards=plan.shards, merge=merge,
    )  # fmt: skip
    known: dict[Any, Any] = {}

    def call(axis: str, collective: str, what: str = "") -> Any:
        """Seconds of one call of the first such transfer, or 0 where the plan has none."""
        total: Any = 0.0
        for x in found:
            if x.axis == axis and x.collective == collective and x.what.startswith(what):
                kind = "all_gather" if collective == "reduce_scatter" else collective
                key = (kind, id(x.ranks), id(x.inner))
                if key not in known:
                    latency = stack.alpha_in + where(x.ranks * x.inner > node, stack.alpha_out, 0.0)
                    known[key] = x, axis_time(kind, 1.0, reached, x.ranks, x.inner, x.merged), latency * (x.ranks > 1)
                _, rate, latency = known[key]
                total = total + (x.calls > 0) * (x.S * rate + latency)
        return total

    gather, scatter, reduce = (call("tp", kind) for kind in ("all_gather", "reduce_scatter", "all_reduce"))
    keys, gradients = call("cp", "all_gather"), call("cp", "reduce_scatter")
    return Sends(
        tp_forward=2 * (gather + scatter + reduce), tp_backward=4 * gather + 2 * (scatter + reduce),
        cp_forward=keys, cp_backward=keys + gradients, ep=call("ep", "all_to_all"), pp=call("pp", "send"),
        gather=call("dp", "all_gather"),
        scatter=call("dp", "reduce_scatter") + call("dp", "all_reduce", "gradients"),
        copies=call("dp", "all_reduce", "sums"),
    )  # fmt: skip


def exposed_data_time(sends: Sends, stack: Stack, plan: Plan, layers: Any, forward: Any, backward: Any) -> Any:
    """What of the data-parallel transfers of a step nothing hides.

    Gathers run beside the forward pass of a microbatch (of the first, unless it is ZeRO-3, which gathers for every
    one and again for the backward pass), sums beside the backward pass (of the last, or with ZeRO-2 and ZeRO-3 of
    each). The first layer's gather and the last layer's sum have nothing to run beside.
    """
    ahead = _exposed(sends.gather, stack.hide_dp, forward, layers)
    again = where(plan.zero == 3, sends.gather, 0.0)
    behind = _exposed(sends.scatter + again, stack.hide_dp, backward, layers)
    m = plan.m
    return where(plan.zero == 3, m, 1.0) * ahead + where(plan.zero >= 2, m, 1.0) * behind + sends.copies


def _exposed(t: Any, hide: float, beside: Any, layers: Any) -> Any:
    return maximum(exposed_time(t, beside, hide), t / layers)
