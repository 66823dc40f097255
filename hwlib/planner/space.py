"""Every plan of the grid, as columns, and why most of them are invalid.

The plans are the points of a grid: tp, pp, cp, ep, micro, schedule with v, ZeRO, recomputation, sp, and the ranks that
ZeRO divides states among; dp is what the GPUs leave over. What the software lacks is rejected like what cannot be.
Rules are cheap and come first, axis by axis, so that points that share what is wrong are never
listed one by one; they count all the same, so that what is rejected and what is left add up to the grid.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import prod
from typing import Any

from hwlib.planner.allowed import ENDS, TWO_CHUNKS, WHOLE, Axes, even_chunks
from hwlib.planner.task import Task
from hwlib.specs import Features, Model
from hwlib.specs.feature import DEGREES
from hwlib.strategy import RECOMPUTED, SCHEDULES, Strategy

INDIVISIBLE_GPUS = "tp*cp*pp does not divide the GPUs"
INDIVISIBLE_BATCH = "dp does not divide the batch"
UNEVEN_NODES = "a group splits a node unevenly"


@dataclass
class Space:
    """The valid plans, as columns, with the microbatches `m` of a replica; `rejected` ones by their reason."""

    strategy: Strategy
    m: Any
    considered: int
    rejected: dict[str, int] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Number of plans left."""
        return self.strategy.size


def space(task: Task, axes: Axes) -> Space:
    """The plans of the grid that are valid, memory aside, and how many are rejected for which reason."""
    import numpy as np

    found = _Sieve(considered=prod(len(axis) for axis in axes))
    model, gpus, T, sequences = task.model, task.gpus, task.T, task.sequences
    found.expand(tp=axes.tp, pp=axes.pp, cp=axes.cp, ep=axes.ep)
    folded = axes.etp != (WHOLE,)
    if folded:
        found.expand(etp=axes.etp)
        found.keep(lambda f: f["tp"] % f["etp"] == 0, "etp does not divide tp")
    if has := task.features:
        for name in ("tp", "pp", "cp", "ep"):
            if name not in has.degrees:
                found.keep(found[name] == 1, has.without(DEGREES[name]))
    tp = found["tp"]
    heads = (model.heads % tp == 0) & ((model.kv_heads % tp == 0) | (tp % model.kv_heads == 0) | model.mla)
    found.keep(heads, "tp does not divide the heads")
    widths = _mlps(model, "etp" if folded else "tp")
    found.keep(lambda f: np.logical_and.reduce([n % f[by] == 0 for n, by in widths]), "tp does not divide the MLP")
    found.keep(lambda f: f["pp"] <= model.layers, "more stages than layers")
    found.keep(lambda f: (f["cp"] == 1) | (T % (2 * f["cp"]) == 0), "2*cp does not divide the sequence")
    found.keep(lambda f: gpus % (f["tp"] * f["pp"] * f["cp"]) == 0, INDIVISIBLE_GPUS)
    found.columns["dp"] = dp = gpus // (found["tp"] * found["pp"] * found["cp"])
    found.keep(sequences % dp == 0, INDIVISIBLE_BATCH)
    found.keep(lambda f: model.experts % f["ep"] == 0, "ep does not divide the experts")
    if folded:
        found.keep(lambda f: f["dp"] * f["cp"] * f["tp"] % (f["etp"] * f["ep"]) == 0, "etp*ep does not divide dp*cp*tp")
    else:
        found.keep(lambda f: f["dp"] * f["cp"] % f["ep"] == 0, "ep does not divide dp*cp")
    found.keep(lambda f: whole_nodes(task, f.columns), UNEVEN_NODES)
    found.expand(micro=axes.micro)
    found.keep(lambda f: sequences % (f["dp"] * f["micro"]) == 0, "micro does not divide a replica's batch")
    found.columns["m"] = sequences // (found["dp"] * found["micro"])
    found.expand(form=range(len(axes.forms)))
    codes = np.array([SCHEDULES.index(word) for word, _ in axes.forms])
    found.columns["schedule"] = codes[found["form"]]
    found.columns["v"] = np.array([v for _, v in axes.forms])[found.columns.pop("form")]
    if has:
        _keep_features(found, has, axes)
    _keep_schedules(found, model.layers, first=axes.forms[0])
    found.expand(zero=axes.zero)
    if has:
        _keep_stages(found, has, axes.zero)
    found.expand(recompute=[RECOMPUTED.index(word) for word in axes.recompute], sp=axes.sp)
    for word in axes.recompute if has else ():
        if has and not has.recomputes(word):
            found.keep(found["recompute"] != RECOMPUTED.index(word), has.without(f"{word} recomputation"))
    if has and "sp" not in has.degrees:
        found.keep(~found["sp"] | (found["tp"] == 1), has.without(DEGREES["sp"]))
    alone = (found["dp"] * found["cp"] == 1) & (found["zero"] > min(axes.zero))
    found.keep(~alone, "ZeRO without another rank to share with")
    idle = found["sp"] & (found["tp"] == 1) if len(axes.sp) > 1 else np.zeros(found["tp"].size, bool)
    found.keep(~idle, "sequence parallelism without tensor parallelism")
    _share_states(found, task, axes.shards)
    strategy = Strategy(**{f.name: found[f.name] for f in fields(Strategy) if f.name in found.columns})
    return Space(strategy, found["m"].astype(float), found.considered, found.rejected)


def _mlps(model: Model, expert_degree: str) -> list[tuple[int, str]]:
    """The widths of MLPs and of experts, and the degrees that divide them."""
    dense = [(model.ffn, "tp")] if model.layers > model.moe_layers else []
    return dense + ([(model.expert_ffn, expert_degree)] if model.moe else [])


def _keep_schedules(found: "_Sieve", layers: int, first: tuple[str, int]) -> None:
    """The rules of schedules. Without a pipeline there is one schedule, the first of the forms."""
    import numpy as np

    word, chunks = first
    usable = word in TWO_CHUNKS or chunks == 1  # chunks that were asked for want a pipeline
    alone = usable & (found["schedule"] == SCHEDULES.index(word)) & (found["v"] == chunks)
    found.keep((found["pp"] > 1) | alone, "a schedule without a pipeline")
    found.columns["v"] = np.where(found["pp"] == 1, 1, found["v"])
    found.columns["schedule"] = np.where(found["pp"] == 1, SCHEDULES.index("1f1b"), found["schedule"])
    interleaved = (found["schedule"] == SCHEDULES.index("1f1b")) & (found["v"] > 1)
    chunks, most = found["pp"] * found["v"], np.where(interleaved, layers + ENDS, layers)
    found.keep((found["pp"] == 1) | (chunks <= most), "more chunks than layers")
    found.keep(lambda f: even_chunks(layers, f["pp"], f["v"]), "chunks with unequal layers")
    interleaved = (found["schedule"] == SCHEDULES.index("1f1b")) & (found["v"] > 1)
    good = ~interleaved | (found["m"] % found["pp"] == 0)
    found.keep(good, "interleaving needs microbatches in multiples of pp")
    filled = (found["schedule"] != SCHEDULES.index("zb_h1")) | (found["m"] >= found["pp"])
    found.keep(filled, "ZB-H1 needs at least pp microbatches")
    zbv = found["schedule"] == SCHEDULES.index("zbv")
    found.keep(~zbv | (found["m"] >= 2 * found["pp"] - 1), "ZB-V needs at least 2*pp - 1 microbatches")
    dual = found["schedule"] == SCHEDULES.index("dualpipe")
    even = (found["pp"] % 2 == 0) & (found["m"] % 2 == 0) & (found["m"] >= 2 * found["pp"])
    found.keep(~dual | even, "DualPipe needs even pp and m, and at least 2*pp microbatches")


def _keep_features(found: "_Sieve", has: Features, axes: Axes) -> None:
    """The schedules and chunks that the software has."""
    for word in dict(axes.forms):
        if word not in has.schedules:
            good = (found["pp"] == 1) | (found["schedule"] != SCHEDULES.index(word))
            found.keep(good, has.without(f"schedule {word}"))
    alone = found["pp"] == 1
    found.keep(alone | (found["v"] <= has.most_chunks), has.without(f"more than {has.most_chunks} chunks a rank"))


def _keep_stages(found: "_Sieve", has: Features, stages: Sequence[int]) -> None:
    """The stages of ZeRO that the software has, without a pipeline and with one."""
    for zero in stages:
        for piped, known in ((False, has.zero), (True, has.piped_zero)):
            if zero not in known:
                lost = (found["zero"] == zero) & ((found["pp"] > 1) == piped)
                found.keep(~lost, has.without(f"ZeRO-{zero}" + " with a pipeline" * (piped and zero in has.zero)))


def _share_states(found: "_Sieve", task: Task, shards: Sequence[int]) -> None:
    """Every plan with all its ranks as shards, and with each number of them that can be (HSDP).

    The usual ones fill a node, or a level above: the states are gathered where it is quick, and summed beyond.
    """
    import numpy as np

    if tuple(shards) == (WHOLE,):
        return
    usual, sizes, below = WHOLE in shards, [], 1
    for level in task.machine.levels:
        below *= level.size
        sizes.append(below)
    found.rest //= len(shards)
    parts: list[tuple[Any, Any]] = []
    for n in shards:
        at = np.arange(found["tp"].size)
        if n != WHOLE:
            at = _sharded(found, task, n, at, sizes if usual else [])
        parts.append((at, found["dp"][at] * found["cp"][at] if n == WHOLE else np.full(at.size, n)))
    rows = np.concatenate([at for at, _ in parts])
    found.columns = {name: column[rows] for name, column in found.columns.items()}
    found.columns["shards"] = np.concatenate([n for _, n in parts])


def _sharded(found: "_Sieve", task: Task, n: int, at: Any, sizes: Sequence[int]) -> Any:
    """Of the plans at these positions those whose states n ranks may divide; with `sizes` these must fill one."""
    import numpy as np

    def of(name: str) -> Any:
        return found.columns.get(name, found["tp"])[at]

    rules: list[tuple[Callable[[], Any], str]] = [
        (lambda: np.isin(of("tp") * n, sizes) if sizes else at >= 0, "shards that fill no node"),
        (lambda: of("zero") > 0, "HSDP without ZeRO"),
        (lambda: of("dp") * of("cp") % n == 0, "shards do not divide dp*cp"),
        (lambda: (of("dp") * of("cp") > n) | (not sizes), "shards do not divide dp*cp"),
        (lambda: np.maximum(of("ep"), n) % np.minimum(of("ep"), n) == 0, "ep does not divide the shards"),
        (lambda: _in_levels(task, _shard_groups(task.model, of, n)), UNEVEN_NODES),
    ]
    if (has := task.features) and not has.hsdp:
        rules.insert(0, (lambda: of("dp") * of("cp") <= n, has.without("HSDP")))
    for good, reason in rules:
        kept = at[good()]
        found.reject(at.size - kept.size, reason)
        at = kept
    return at


def _shard_groups(model: Model, of: Callable[[str], Any], n: int) -> list[tuple[Any, Any]]:
    """The groups of ranks that divide states among n, and those that sum the copies: their sizes and what is inside."""
    import numpy as np

    tp, ep, ranks = of("tp"), of("ep"), of("dp") * of("cp")
    groups = [(n + 0 * tp, tp), (ranks // n, tp * n)]
    if model.moe:
        etp = of("etp")
        each = np.maximum(n * tp // (etp * ep), 1)
        groups += [(each, etp * ep), (ranks * tp // (etp * ep) // each, etp * ep * each)]
    return groups


def whole_nodes(task: Task, columns: Mapping[str, Any]) -> Any:
    """Whether the groups of all axes divide every level that they cross, as `axis_levels` of the collectives asks."""
    import numpy as np

    tp, cp, ep, pp, dp = (columns[name] for name in ("tp", "cp", "ep", "pp", "dp"))
    shared = dp * cp
    axes = [(tp, 1 + 0 * tp), (cp, tp), (shared, tp), (pp, shared * tp)]
    if task.model.moe:
        etp = columns.get("etp", tp)
        axes += [(ep, etp), (shared * tp // np.maximum(etp * ep, 1), etp * ep)]
    return _in_levels(task, axes)


def _in_levels(task: Task, axes: Sequence[tuple[Any, Any]]) -> Any:
    """Whether groups of these sizes, each of whose members stands for so many ranks, divide every level they cross."""
    import numpy as np

    good: Any = np.ones(axes[0][0].shape, bool)
    # 32 bits hold any number of ranks, and divide sooner than 64
    ends = [(np.asarray(first, np.int32), np.asarray(first * size, np.int32)) for size, first in axes]
    below = 1
    for level in task.machine.levels:
        above = below * level.size
        for first, end in ends:
            low, high = np.clip(first, below, above), np.clip(end, below, above)
            good &= (high % low == 0) & (above % high == 0)
            if below > 1:
                good &= low % below == 0
        below = above
    return good


class _Sieve:
    """Columns that grow by an axis and shrink by a rule, with what each rule took away."""

    def __init__(self, considered: int):
        self.columns: dict[str, Any] = {}
        self.considered = self.rest = considered
        self.rejected: dict[str, int] = {}

    def __getitem__(self, name: str) -> Any:
        return self.columns[name]

    def expand(self, **axes: Any) -> None:
        """Every plan so far with every value of these axes."""
        import numpy as np

        for name, values in axes.items():
            values = np.asarray(values)
            size = next(iter(self.columns.values())).size if self.columns else 1
            self.columns = {key: np.repeat(column, values.size) for key, column in self.columns.items()}
            self.columns[name] = np.tile(values, size)
            self.rest //= values.size

    def reject(self, count: int, reason: str) -> None:
        """So many points count as rejected."""
        if count:
            self.rejected[reason] = self.rejected.get(reason, 0) + count

    def keep(self, good: Any, reason: str) -> None:
        """Only the plans that are `good`; the others, times all values of the remaining axes, count as rejected."""
        good = good(self) if callable(good) else good
        lost = int(good.size - good.sum())
        if lost:
            self.reject(lost * self.rest, reason)
            self.columns = {key: column[good] for key, column in self.columns.items()}
