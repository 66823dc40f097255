"""The transfers of one plan in one step: every collective of every axis, in bytes and as time on a machine of levels.

Ranks are numbered from the inside out: tensor, context, data, pipeline; the ranks that share experts are
neighbours among those of context and data. Times are bandwidth only, and every axis is counted as if alone.
Degrees may be arrays, one element a plan: a transfer then holds arrays, with no calls for plans that lack it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, overload

from hwlib.arguments import as_int, is_number
from hwlib.collectives import Routing, axis_levels, axis_time, bus_factor, level_times
from hwlib.columns import is_column
from hwlib.formula import ceil, maximum, minimum, where
from hwlib.parallel.mixed_parallel import exposed_time
from hwlib.specs import Level, Model, levels_of, models
from hwlib.strategy import MESH, Strategy, StrategyError, strategy_of
from hwlib.training_task import TrainingTask, is_task
from hwlib.transformer import kv_bytes_per_token, parameter_groups
from hwlib.units import show


@dataclass(frozen=True, repr=False)
class Transfer:
    """`calls` times a step, a collective of `ranks` ranks with `inner` ranks of other axes between neighbours.

    `S` is the full array of one call, as in `hwlib.collectives`; of a send, what one rank sends. In an all-to-all
    with a `routing`, those of a token's copies that go to one rank, or to one node, travel once, to the mean number of
    them; without it none are merged.
    """

    axis: str
    what: str
    collective: str
    ranks: Any
    inner: Any
    S: Any
    calls: Any
    routing: Routing | None = None

    def __repr__(self) -> str:
        name = self.collective.replace("_", "-")
        if plans := _size(self.ranks, self.inner, self.S, self.calls):
            return f"<{self.axis}: {self.what}, {name} of {plans} plans>"
        return f"<{self.axis}: {self.what}, {self.calls} x {name} of {show(self.S, 'B')} over {self.ranks} ranks>"

    @property
    def sent_bytes(self) -> Any:
        """Bytes that one rank sends for it in a step."""
        full = self.S / self.ranks if self.collective == "all_to_all" else self.S
        return self.calls * bus_factor(self.collective, self.ranks) * full * self._kept(self.ranks, False)

    def _kept(self, places: Any, limited: bool) -> Any:
        """Share of the copies that is left if each of so many places gets a token once."""
        return self.routing.share(places, limited) if self.routing else 1.0

    def time(self, levels: Sequence[Level]) -> Any:
        """Its time in a step, all groups of the axis at once. Raises ValueError for an axis that the levels do not
        hold, or whose groups cut a node in unequal parts; arrays of axes may do the latter.
        """
        if _size(self.ranks, self.inner, self.S, self.calls):
            return self.calls * axis_time(self.collective, self.S, levels, self.ranks, self.inner, self.routing)
        crossed = axis_levels(levels, self.ranks, self.inner)
        below, slowest = 1, 0.0
        for t, level in zip(level_times(self.collective, self.S * self.inner, crossed), crossed, strict=True):
            slowest = max(slowest, t * self._kept(self.ranks / below, level.name != levels[0].name))
            below *= level.size
        return self.calls * slowest


class Sizes(NamedTuple):
    """Elements of the array of one call: a microbatch between two blocks, its keys and values, its copies on the way
    to experts; and the parameters that a rank holds, those of experts apart.
    """

    hidden: Any
    keys: Any
    copies: Any
    dense: Any
    experts: Any


def sizes_of(model: Model, tokens: Any, tp: Any, pp: Any, cp: Any, ep: Any, etp: Any = None) -> Sizes:
    """The sizes in the mean layer for a microbatch, of which a rank has `tokens` tokens; etp is the experts' tensor
    degree where that is not tp. Key-value heads are copied beyond their number.
    """
    groups = parameter_groups(model)
    heads = model.attention_share * maximum(model.kv_heads, tp) * (model.key_dim + model.value_dim) / tp
    entries = kv_bytes_per_token(model, 1) / model.layers  # what is compressed over time is gathered compressed
    return Sizes(
        hidden=tokens * model.width,
        keys=tokens * cp * (entries if model.compression else heads),
        copies=model.experts_per_token * tokens * ep * (model.expert_width or model.width) / tp,
        dense=(groups.total - groups.experts) / (tp * pp),
        experts=groups.experts / ((tp if etp is None else etp) * pp * ep),
    )


@overload
def transfers(
    task: TrainingTask, strategy: Strategy, /, *, n_lim: int = 0, ulysses: bool = False
) -> tuple[Transfer, ...]: ...


@overload
def transfers(
    model: Model | str,
    /,
    strategy: Strategy | None = None,
    *,
    B: Any,
    m: Any = 1,
    b: float = 2,
    b_g: float = 2,
    b_disp: float = 2,
    b_comb: float = 2,
    expert_imbalance: float = 1,
    dedup_dispatch: bool = False,
    n_lim: int = 0,
    ulysses: bool = False,
    **degrees: Any,
) -> tuple[Transfer, ...]: ...


def transfers(subject: Any, /, strategy: Strategy | None = None, **options: Any) -> tuple[Transfer, ...]:
    """The collectives of one step of B tokens on a rank in the middle of the pipeline, with ceil(L/pp) layers.

    Of a task, which has all that the strategy does not say; or of a model and what is given of the rest, where the
    strategy may be plain keywords, too.

    A replica does its B/dp tokens in m microbatches. Gradients are summed once a step, but with ZeRO-2 and ZeRO-3
    once a microbatch. A token goes to the ranks of its k experts in k copies, or, with `dedup_dispatch`, once to each
    node and rank that has one of them (`mean_destinations`), of at most `n_lim` nodes if routing is limited; the
    busiest rank has `expert_imbalance` times the mean. Ranks that share sequences pass keys and values round, or, with
    `ulysses`, exchange heads for tokens. ZeRO divides among dp*cp ranks, or among fewer of them (HSDP), and
    what each has summed is then summed over the copies, once a step. Not counted: the loss, the norm of the gradients,
    and what a recomputed layer gathers again. Raises ValueError: StrategyError for degrees that the model cannot have.

    >>> transfers("llama3-405b", Strategy.of(dp=128, tp=8, pp=16), B=2**24, m=16)[-1]
    <dp: gradients, 1 x all-reduce of 6.341 GB over 128 ranks>
    """
    if is_task(subject):
        return _of_task(subject, strategy_of(strategy, {}), **options)
    return _of_model(subject, strategy, **options)


def _of_task(task: TrainingTask, strategy: Strategy, *, n_lim: int = 0, ulysses: bool = False) -> tuple[Transfer, ...]:
    uses, m = task.software, strategy.microbatches(task.B, task.T)
    return _of_model(
        task.model,
        strategy,
        B=task.B,
        m=m,
        expert_imbalance=uses.expert_imbalance,
        dedup_dispatch=bool(uses.dedup_dispatch),
        n_lim=n_lim,
        ulysses=ulysses,
    )


def _of_model(
    model: Model | str,
    strategy: Strategy | None = None,
    *,
    B: Any,
    m: Any = 1,
    b: float = 2,
    b_g: float = 2,
    b_disp: float = 2,
    b_comb: float = 2,
    expert_imbalance: float = 1,
    dedup_dispatch: bool = False,
    n_lim: int = 0,
    ulysses: bool = False,
    **degrees: Any,
) -> tuple[Transfer, ...]:
    strategy, model = strategy_of(strategy, degrees), models.of(model)
    m = m if is_column(m) else as_int("transfers: m (microbatches)", m)
    _check(model, strategy, B, expert_imbalance)
    dp, tp, pp, cp, ep, v = (getattr(strategy, name) for name in ("dp", "tp", "pp", "cp", "ep", "v"))
    zero, sp, etp = strategy.zero, strategy.sp, strategy.expert_tp
    layers = ceil(model.layers / pp)
    moe_layers = minimum(model.moe_layers, layers)
    tokens = B / (dp * cp * m)
    size = sizes_of(model, tokens, tp, pp, cp, ep, strategy.etp)
    hidden, keys, copies = b * size.hidden, size.keys, expert_imbalance * size.copies
    routing = Routing(model.experts_per_token, model.experts, n_lim) if dedup_dispatch else None
    sent: list[Transfer] = []

    def add(axis: str, what: str, collective: str, ranks: Any, inner: Any, S: Any, calls: Any) -> None:
        if _any((ranks > 1) & (S > 0) & (calls > 0)):
            sent.append(Transfer(axis, what, collective, ranks, inner, S, calls, routing if axis == "ep" else None))

    folded = 0 if strategy.etp is None else moe_layers / 2  # whose MLP has another degree
    for ranks, S, blocks in ((tp, hidden, layers - folded), (etp, hidden * etp / tp, folded)):
        add("tp", "activations", "all_gather", ranks, 1, S, 6 * blocks * m * sp)
        add("tp", "activations", "reduce_scatter", ranks, 1, S, 4 * blocks * m * sp)
        add("tp", "activations", "all_reduce", ranks, 1, S, 4 * blocks * m * (1 - sp))
    if ulysses:
        inputs, outputs = (tokens * cp * model.heads * width / tp for width in (model.key_dim, model.value_dim))
        add("cp", "heads for tokens", "all_to_all", cp, tp, b * (keys + inputs), 2 * layers * m)
        add("cp", "tokens for heads", "all_to_all", cp, tp, b * outputs, 2 * layers * m)
    else:
        add("cp", "keys and values", "all_gather", cp, tp, b * keys, 2 * layers * m)
        add("cp", "their gradients", "reduce_scatter", cp, tp, b_g * keys, layers * m)
    add("ep", "dispatch", "all_to_all", ep, etp, b_disp * copies, 2 * moe_layers * m)
    add("ep", "combine", "all_to_all", ep, etp, b_comb * copies, 2 * moe_layers * m)
    add("pp", "activations", "send", pp, tp * cp * dp, hidden * max(model.streams, 1) / tp, 2 * v * m)
    for what, P, replicas, inner in (
        ("", size.dense, dp * cp, tp),
        (" of experts", size.experts, dp * cp * (tp // etp) // ep, etp * ep),
    ):
        ranks = strategy.state_ranks(replicas)
        if strategy.hybrid is not False:
            sums = (replicas / ranks, inner * ranks, b_g * P / ranks)
            add("dp", f"sums{what}", "all_reduce", *sums, (zero > 0) * 1)
        scatters = where(zero >= 2, m, 1)
        add("dp", f"gradients{what}", "reduce_scatter", ranks, inner, b_g * P, scatters * (zero > 0))
        add("dp", f"weights{what}", "all_gather", ranks, inner, b * P, where(zero == 3, 2 * m, 1) * (zero > 0))
        add("dp", f"gradients{what}", "all_reduce", replicas, inner, b_g * P, (zero == 0) * 1)
    return tuple(sent)


def _check(model: Model, strategy: Strategy, B: Any, expert_imbalance: Any) -> None:
    """Raise ValueError for a plan that the model cannot have, or a number that is none of its kind."""
    ep, chunks = strategy.ep, strategy.pp * strategy.v
    if _any((strategy.expert_ranks % 1 != 0) | (model.experts % ep != 0)):
        ranks, of = strategy.dp * strategy.cp, "dp*cp"
        if strategy.etp is not None:
            ranks, of = ranks * strategy.tp / strategy.etp, "dp*cp*tp/etp"
        raise StrategyError("ep", ep, f"a divisor of {of} = {ranks} and of the {model.experts} experts")
    if not is_number(B) or _any(B <= 0):
        raise ValueError(f"transfers: B is tokens of a step, above 0, got {B!r}")
    if not is_number(expert_imbalance) or _any(expert_imbalance < 1):
        raise ValueError(
            f"transfers: expert_imbalance is the busiest rank over the mean, at least 1, got {expert_imbalance!r}"
        )
    if _any(chunks > model.layers + 2):  # the embedding and the output layer may be chunks of their own
        raise StrategyError("pp*v", chunks, f"at most the {model.layers} layers and two ends")


def _any(found: Any) -> bool:
    return bool(found.any()) if is_column(found) else bool(found)


def _size(*numbers: Any) -> int:
    """How many plans there are among arrays; 0 where all are plain numbers."""
    return max(x.size if is_column(x) else 0 for x in numbers)


def axis_bytes(found: Sequence[Transfer]) -> dict[str, float]:
    """Bytes that a rank sends in a step, by axis; axes that send nothing are left out."""
    return {axis: sum(x.sent_bytes for x in found if x.axis == axis) for axis in _axes(found)}


def axis_times(found: Sequence[Transfer], levels: Any) -> dict[str, float]:
    """Seconds of communication in a step, by axis, on a machine of these levels; `levels` as in `levels_of`."""
    levels = levels_of(levels)
    return {axis: sum(x.time(levels) for x in found if x.axis == axis) for axis in _axes(found)}


def exposed_times(times: Mapping[str, float], math: Mapping[str, float]) -> dict[str, float]:
    """What of each axis stays exposed, if `math` gives the seconds of arithmetic beside which it may run.

    An axis that `math` does not name is exposed in full.

    >>> exposed_times({"tp": 0.5, "dp": 0.75}, {"dp": 0.5})
    {'tp': 0.5, 'dp': 0.25}
    """
    return {axis: exposed_time(t, math.get(axis, 0.0)) for axis, t in times.items()}


def _axes(found: Sequence[Transfer]) -> list[str]:
    return [axis for axis in MESH if any(x.axis == axis for x in found)]
