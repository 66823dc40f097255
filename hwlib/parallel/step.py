"""What one plan sends in one step: every collective of every axis, in bytes and as time on a machine of levels.

Ranks are numbered from the inside out: tensor, context, data, pipeline; the ranks that share experts are
neighbours among those of context and data. Times are bandwidth only, and every axis is counted as if alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from hwlib.arguments import whole
from hwlib.collectives import axis_levels, bus_factor, destination_fraction, level_times
from hwlib.parallel.data import dp_critical_batch, dp_exact_critical_batch
from hwlib.parallel.mixed import exposed_time
from hwlib.parallel.tensor import tp_limit
from hwlib.specs import Model
from hwlib.specs.cluster import Level
from hwlib.transformer import parameter_groups
from hwlib.units import show

AXES = ("tp", "cp", "ep", "pp", "dp")


@dataclass(frozen=True, repr=False)
class Transfer:
    """`calls` times a step, a collective of `ranks` ranks with `inner` ranks of other axes between neighbours.

    `S` is the full array of one call, as in `hwlib.collectives`; of a send, what one rank sends. In an all-to-all of
    `merged` copies of each token, those that go to one rank, or to one node, travel once; 0 where none are merged.
    """

    axis: str
    what: str
    collective: str
    ranks: int
    inner: int
    S: float
    calls: int
    merged: int = 0

    def __repr__(self) -> str:
        name = self.collective.replace("_", "-")
        return f"<{self.axis}: {self.what}, {self.calls} x {name} of {show(self.S, 'B')} over {self.ranks} ranks>"

    @property
    def sent_bytes(self) -> float:
        """Bytes that one rank sends for it in a step."""
        full = self.S / self.ranks if self.collective == "all_to_all" else self.S
        return self.calls * bus_factor(self.collective, self.ranks) * full * self._kept(self.ranks)

    def _kept(self, places: float) -> float:
        """Share of the copies that is left if each of so many places gets a token once."""
        return places * destination_fraction(places, self.merged) / self.merged if self.merged else 1.0

    def time(self, levels: Sequence[Level]) -> float:
        """Its time in a step, all groups of the axis at once. Raises ValueError for an axis that the levels do not
        hold, or whose groups cut a node in unequal parts.
        """
        crossed = axis_levels(levels, self.ranks, self.inner)
        below, slowest = 1, 0.0
        for t, level in zip(level_times(self.collective, self.S * self.inner, crossed), crossed, strict=True):
            slowest = max(slowest, t * self._kept(self.ranks / below))
            below *= level.size
        return self.calls * slowest


def transfers(
    model: Model, *, B: int, dp: int, tp: int = 1, pp: int = 1, cp: int = 1, ep: int = 1, v: int = 1, m: int = 1,
    zero: int = 0, sp: bool = True, b: float = 2, b_g: float = 2, b_disp: float = 2, b_comb: float = 2,
    merge: bool = False,
) -> tuple[Transfer, ...]:  # fmt: skip
    """The collectives of one step of B tokens on a rank in the middle of the pipeline, with ceil(L/pp) layers.

    A replica does its B/dp tokens in m microbatches. Gradients are summed once a step, but with ZeRO-2 and ZeRO-3
    once a microbatch. A token goes to the ranks of its k experts in k copies, or, with `merge`, once to each node and
    rank that has one of them. Not counted: the loss, the norm of
    the gradients, and what a recomputed layer gathers again. Raises ValueError for degrees that cannot be.

    >>> from hwlib.specs import models
    >>> transfers(models["llama3-405b"], B=2**24, dp=128, tp=8, pp=16, m=16)[-1]
    <dp: gradients, 1 x all-reduce of 6.341 GB over 128 ranks>
    """
    given = {"dp": dp, "tp": tp, "pp": pp, "cp": cp, "ep": ep, "v": v, "m": m}
    dp, tp, pp, cp, ep, v, m = (whole(f"transfers: {name}", x) for name, x in given.items())
    if zero not in (0, 1, 2, 3):
        raise ValueError(f"transfers: zero is 0, 1, 2 or 3, got {zero!r}")
    if dp * cp % ep or model.experts % ep:
        raise ValueError(f"transfers: ep divides dp*cp = {dp * cp} and the {model.experts} experts, got {ep}")
    if pp * v > model.layers:
        raise ValueError(f"transfers: pp*v is at most the {model.layers} layers, got {pp * v}")
    layers = ceil(model.layers / pp)
    moe_layers = min(model.moe_layers, layers)
    tokens = B / (dp * cp * m)
    hidden = b * tokens * model.width
    found: list[Transfer] = []

    def add(axis: str, what: str, collective: str, ranks: int, inner: int, S: float, calls: int) -> None:
        if ranks > 1 and S > 0 and calls:
            merged = model.experts_per_token if merge and axis == "ep" else 0
            found.append(Transfer(axis, what, collective, ranks, inner, S, calls, merged))

    if sp:
        add("tp", "activations", "all_gather", tp, 1, hidden, 6 * layers * m)
        add("tp", "activations", "reduce_scatter", tp, 1, hidden, 4 * layers * m)
    else:
        add("tp", "activations", "all_reduce", tp, 1, hidden, 4 * layers * m)
    heads = model.kv_heads * (model.key_dim + model.value_dim) / tp
    add("cp", "keys and values", "all_gather", cp, tp, b * tokens * cp * heads, 2 * layers * m)
    add("cp", "their gradients", "reduce_scatter", cp, tp, b_g * tokens * cp * heads, layers * m)
    copies = model.experts_per_token * tokens * ep * model.width / tp
    add("ep", "dispatch", "all_to_all", ep, tp, b_disp * copies, 2 * moe_layers * m)
    add("ep", "combine", "all_to_all", ep, tp, b_comb * copies, 2 * moe_layers * m)
    add("pp", "activations", "send", pp, tp * cp * dp, hidden / tp, 2 * v * m)
    groups = parameter_groups(model)
    for what, P, ranks, inner in (
        ("", (groups.total - groups.experts) / (tp * pp), dp * cp, tp),
        (" of experts", groups.experts / (tp * pp * ep), dp * cp // ep, tp * ep),
    ):
        scatters = m if zero >= 2 else 1
        if zero:
            add("dp", f"gradients{what}", "reduce_scatter", ranks, inner, b_g * P, scatters)
            add("dp", f"weights{what}", "all_gather", ranks, inner, b * P, 2 * m if zero == 3 else 1)
        else:
            add("dp", f"gradients{what}", "all_reduce", ranks, inner, b_g * P, 1)
    return tuple(found)


def axis_bytes(found: Sequence[Transfer]) -> dict[str, float]:
    """Bytes that a rank sends in a step, by axis; axes that send nothing are left out."""
    return {axis: sum(x.sent_bytes for x in found if x.axis == axis) for axis in _axes(found)}


def axis_times(found: Sequence[Transfer], levels: Sequence[Level]) -> dict[str, float]:
    """Seconds of communication in a step, by axis, on a machine of these levels."""
    return {axis: sum(x.time(levels) for x in found if x.axis == axis) for axis in _axes(found)}


def exposed_times(times: Mapping[str, float], math: Mapping[str, float]) -> dict[str, float]:
    """What of each axis stays exposed, if `math` gives the seconds of arithmetic beside which it may run.

    An axis that `math` does not name is exposed in full.

    >>> exposed_times({"tp": 0.5, "dp": 0.75}, {"dp": 0.5})
    {'tp': 0.5, 'dp': 0.25}
    """
    return {axis: exposed_time(t, math.get(axis, 0.0)) for axis, t in times.items()}


def _axes(found: Sequence[Transfer]) -> list[str]:
    return [axis for axis in AXES if any(x.axis == axis for x in found)]


def critical_batches(levels: Sequence[Level], C: float, b_g: float = 2, exact: bool = False) -> dict[str, Any]:
    """Tokens a rank from which data parallelism over all ranks up to a level hides, by the level's name.

    Gradients are summed inside a child first, so they cross its port once, however many ranks share it: the bound
    is that of the port. The worst level so far decides. `exact` takes (d - 1)/d of it, for d children.
    """
    worst, found = 0.0, {}
    for level in levels:
        if level.size > 1:
            W = level.bandwidth
            bound = dp_exact_critical_batch(level.size, C, W, b_g) if exact else dp_critical_batch(C, W, b_g)
            worst = max(worst, bound)
        found[level.name] = worst
    return found


def critical_degrees(levels: Sequence[Level], F: int, C: float, b: float = 2, matrices: int = 2) -> dict[str, float]:
    """The tensor-parallel degree up to which a level alone allows it, to first order, by the level's name."""
    return {level.name: tp_limit(F, C, level.bandwidth, b, matrices) for level in levels}
