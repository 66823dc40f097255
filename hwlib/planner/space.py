"""Every plan there could be, as arrays, and why most of them cannot be.

The plans are the points of a grid: tp, pp, cp, ep, micro, schedule with v, ZeRO, recomputation, sp; dp is what the
GPUs leave over. Rules are cheap and come first, axis by axis, so that points that share what is wrong are never
listed one by one; they count all the same, so that what is refused and what is left add up to the grid.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any, NamedTuple

from hwlib.arguments import is_number
from hwlib.planner.task import PlanError, Task, truth
from hwlib.specs import Model
from hwlib.strategy import RECOMPUTE, SCHEDULES

DEFAULT_SCHEDULES = ("1f1b", "zb_h1")
TWO_CHUNKS = ("zbv", "dualpipe")
MICRO = (1, 2, 4, 8, 16)
ZERO = (0, 1, 3)
MOST_CHUNKS = 16
UNEVEN = 2  # chunks that may have a layer less than the others, as those with the embedding and the output layer do
NARROWEST_EXPERT = 768
"""Columns of an expert that tensor parallelism leaves a rank at the least, unless it is asked to leave less: the width
of the narrowest experts that the constants of the stacks rest on, all of which were whole. Products of narrower slices
reach less, which no constant knows; NVIDIA too says to spread experts before cutting them (megatron-core-moe)."""
SHORTEST_CUT = 1024  # tokens of a sequence that context parallelism leaves a rank at the least, unless it is asked to
COLUMNS = ("dp", "tp", "pp", "cp", "ep", "v", "micro", "m", "zero", "sp", "recompute", "schedule")


class Axes(NamedTuple):
    """What may be chosen on every axis; `forms` are schedules with their chunks a rank."""

    tp: tuple[int, ...]
    pp: tuple[int, ...]
    cp: tuple[int, ...]
    ep: tuple[int, ...]
    micro: tuple[int, ...]
    forms: tuple[tuple[str, int], ...]
    zero: tuple[int, ...]
    recompute: tuple[str, ...]
    sp: tuple[bool, ...]


@dataclass
class Space:
    """The plans that can be: a column of numbers for each of COLUMNS, words as their positions."""

    columns: dict[str, Any]
    considered: int
    refused: dict[str, int] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """How many plans are left."""
        return int(self.columns["tp"].size)


def axes_of(task: Task, given: Mapping[str, Any]) -> Axes:
    """The axes for a task: what is given, a value or several, and elsewhere what is usual. Raises PlanError."""
    model, chips = task.model, task.chips
    sets = {name: _several(name, x) for name, x in given.items() if x is not None}
    schedules = sets.get("schedule", DEFAULT_SCHEDULES)
    for name, words in (("schedule", SCHEDULES), ("recompute", RECOMPUTE)):
        for word in sets.get(name, ()):
            if word not in words:
                raise PlanError(f"{name} is one of {', '.join(words)}, got {word!r}")
    for x in sets.get("zero", ()):
        if x not in (0, 1, 2, 3):
            raise PlanError(f"zero is 0, 1, 2 or 3, got {x}")
    pp = sets.get("pp", tuple(n for n in range(1, model.layers + 1) if chips % n == 0))
    cp = tuple(2**i for i in range(8) if task.T % 2 ** (i + 1) == 0 and task.T >> i >= SHORTEST_CUT)
    return Axes(
        tp=sets.get("tp", usual_tp(model, task.machine.node)),
        pp=pp,
        cp=sets.get("cp", cp or (1,)),
        ep=sets.get("ep", divisors(model.experts)),
        micro=sets.get("micro", MICRO),
        forms=_forms(model, pp, schedules, sets.get("v")),
        zero=sets.get("zero", ZERO),
        recompute=sets.get("recompute", ("none", "full") if task.fused else RECOMPUTE),
        sp=sets.get("sp", (True,)),
    )


def _several(name: str, x: Any) -> tuple[Any, ...]:
    found = tuple(x) if isinstance(x, Iterable) and not isinstance(x, str) else (x,)
    if not found:
        raise PlanError(f"{name}: no value is left to choose from")
    if name == "sp":
        return tuple(truth(name, one) for one in found)
    if name in ("schedule", "recompute"):
        return found
    least = 0 if name == "zero" else 1
    for one in found:
        if not is_number(one) or one < least or one != int(one):
            raise PlanError(f"{name} is a whole number of at least {least}, got {one!r}")
    return tuple(sorted({int(one) for one in found}))


def usual_tp(model: Model, node: int) -> tuple[int, ...]:
    """The tensor-parallel degrees within a node, but for those that cut experts too narrow."""
    return tuple(t for t in divisors(node) if t == 1 or not model.moe or model.expert_ffn >= t * NARROWEST_EXPERT)


def divisors(n: int) -> tuple[int, ...]:
    """Every number that divides n."""
    return tuple(d for d in range(1, n + 1) if n % d == 0)


def _forms(model: Model, pp: tuple[int, ...], schedules: tuple[str, ...], v: Any) -> tuple[tuple[str, int], ...]:
    """Schedules with their chunks: 1F1B with any number that cuts the layers evenly, others with the one they have."""
    piped = [p for p in pp if p > 1]
    usual = [c for c in range(1, MOST_CHUNKS + 1) if c == 1 or any(short(model.layers, p * c) <= UNEVEN for p in piped)]
    found: list[tuple[str, int]] = []
    for schedule in schedules:
        if schedule == "1f1b":
            found += [(schedule, c) for c in (v or usual)]
        else:
            found.append((schedule, 2 if schedule in TWO_CHUNKS else 1))
    if v:
        found = [form for form in found if form[1] in v]
    return tuple(dict.fromkeys(found))


def short(layers: int, chunks: int) -> float:
    """Chunks that have a layer less than the others; without end where there are more chunks than layers."""
    return float("inf") if chunks > layers else -(-layers // chunks) * chunks - layers


def space(task: Task, axes: Axes) -> Space:
    """The plans of the grid that can be, but for memory, and how many are refused for which reason."""
    import numpy as np

    found = _Sieve(considered=prod(len(axis) for axis in axes))
    model, chips, T, sequences = task.model, task.chips, task.T, task.sequences
    found.expand(tp=axes.tp, pp=axes.pp, cp=axes.cp, ep=axes.ep)
    tp = found["tp"]
    heads = (model.heads % tp == 0) & ((model.kv_heads % tp == 0) | (tp % model.kv_heads == 0) | model.mla)
    found.keep(heads, "tp does not divide the heads")
    found.keep(lambda f: np.logical_and.reduce([n % f["tp"] == 0 for n in _mlps(model)]), "tp does not divide the MLP")
    found.keep(lambda f: f["pp"] <= model.layers, "more stages than layers")
    found.keep(lambda f: (f["cp"] == 1) | (T % (2 * f["cp"]) == 0), "cp does not cut a sequence into 2*cp equal pieces")
    found.keep(lambda f: chips % (f["tp"] * f["pp"] * f["cp"]) == 0, "tp*cp*pp does not divide the GPUs")
    found.columns["dp"] = dp = chips // (found["tp"] * found["pp"] * found["cp"])
    found.keep(sequences % dp == 0, "dp does not divide the batch")
    found.keep(lambda f: model.experts % f["ep"] == 0, "ep does not divide the experts")
    found.keep(lambda f: f["dp"] * f["cp"] % f["ep"] == 0, "ep does not divide dp*cp")
    found.keep(lambda f: whole_nodes(task, f.columns), "a group cuts a node into unequal parts")
    found.expand(micro=axes.micro)
    found.keep(lambda f: sequences % (f["dp"] * f["micro"]) == 0, "micro does not divide the batch of a replica")
    found.columns["m"] = sequences // (found["dp"] * found["micro"])
    found.expand(form=range(len(axes.forms)))
    codes = np.array([SCHEDULES.index(word) for word, _ in axes.forms])
    found.columns["schedule"] = codes[found["form"]]
    found.columns["v"] = np.array([v for _, v in axes.forms])[found.columns.pop("form")]
    _keep_schedules(found, model.layers, first=axes.forms[0])
    found.expand(zero=axes.zero, recompute=[RECOMPUTE.index(word) for word in axes.recompute], sp=axes.sp)
    alone = (found["dp"] * found["cp"] == 1) & (found["zero"] > min(axes.zero))
    found.keep(~alone, "ZeRO has no rank to share with")
    idle = found["sp"] & (found["tp"] == 1) if len(axes.sp) > 1 else np.zeros(found["tp"].size, bool)
    found.keep(~idle, "sequence parallelism without tensor parallelism")
    return Space({name: found[name].astype(float) for name in COLUMNS}, found.considered, found.refused)


def _mlps(model: Model) -> list[int]:
    """The widths that tp divides."""
    dense = [model.ffn] if model.layers > model.moe_layers else []
    return dense + ([model.expert_ffn] if model.moe else [])


def _keep_schedules(found: "_Sieve", layers: int, first: tuple[str, int]) -> None:
    """The rules of schedules. Without a pipeline there is one schedule, the first of the forms."""
    import numpy as np

    word, chunks = first
    usable = word in TWO_CHUNKS or chunks == 1  # chunks that were asked for want a pipeline
    alone = usable & (found["schedule"] == SCHEDULES.index(word)) & (found["v"] == chunks)
    found.keep((found["pp"] > 1) | alone, "a schedule without a pipeline")
    found.columns["v"] = np.where(found["pp"] == 1, 1, found["v"])
    found.columns["schedule"] = np.where(found["pp"] == 1, SCHEDULES.index("1f1b"), found["schedule"])
    found.keep(lambda f: (f["pp"] == 1) | (f["pp"] * f["v"] <= layers), "more chunks than layers")
    chunks = found["pp"] * found["v"]
    found.keep((found["v"] == 1) | (-layers % chunks <= UNEVEN), "chunks with unequal layers")
    interleaved = (found["schedule"] == SCHEDULES.index("1f1b")) & (found["v"] > 1)
    good = ~interleaved | (found["m"] % found["pp"] == 0)
    found.keep(good, "interleaving takes microbatches by the pp")
    filled = (found["schedule"] != SCHEDULES.index("zb_h1")) | (found["m"] >= found["pp"])
    found.keep(filled, "ZB-H1 takes at least pp microbatches")
    zbv = found["schedule"] == SCHEDULES.index("zbv")
    found.keep(~zbv | (found["m"] >= 2 * found["pp"] - 1), "ZB-V takes at least 2*pp - 1 microbatches")
    dual = found["schedule"] == SCHEDULES.index("dualpipe")
    even = (found["pp"] % 2 == 0) & (found["m"] % 2 == 0) & (found["m"] >= 2 * found["pp"])
    found.keep(~dual | even, "DualPipe takes even pp and m, and at least 2*pp microbatches")


def whole_nodes(task: Task, columns: Mapping[str, Any]) -> Any:
    """Whether the groups of all axes divide every level that they cross, as `axis_levels` of the collectives asks."""
    import numpy as np

    tp, cp, ep, pp, dp = (columns[name] for name in ("tp", "cp", "ep", "pp", "dp"))
    shared = dp * cp
    axes = [(tp, 1), (cp, tp), (shared, tp), (pp, shared * tp)]
    if task.model.moe:
        axes += [(ep, tp), (shared // np.maximum(ep, 1), tp * ep)]
    good: Any = np.ones(tp.shape, bool)
    below = 1
    for level in task.machine.levels:
        above = below * level.size
        for size, inner in axes:
            low, high = np.clip(inner, below, above), np.clip(inner * size, below, above)
            good &= (low % below == 0) & (high % low == 0) & (above % high == 0)
        below = above
    return good


class _Sieve:
    """Columns that grow by an axis and shrink by a rule, with what each rule took away."""

    def __init__(self, considered: int):
        self.columns: dict[str, Any] = {}
        self.considered = self._rest = considered
        self.refused: dict[str, int] = {}

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
            self._rest //= values.size

    def keep(self, good: Any, reason: str) -> None:
        """Only the plans that are good; the others, with all values of axes to come, count as refused."""
        good = good(self) if callable(good) else good
        lost = int(good.size - good.sum())
        if lost:
            self.refused[reason] = self.refused.get(reason, 0) + lost * self._rest
            self.columns = {key: column[good] for key, column in self.columns.items()}
