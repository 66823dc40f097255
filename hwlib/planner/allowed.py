"""The values that a search may choose from."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from hwlib.constraints import TWO_CHUNKS, even_chunks
from hwlib.planner.task import Task
from hwlib.specs import Features, Model
from hwlib.strategy import RECOMPUTE, Strategy, StrategyError, checked

DEFAULT_SCHEDULES = ("1f1b", "zb_h1")
MICRO = (1, 2, 4, 8, 16)
ZERO = (0, 1, 3)
MOST_CHUNKS = 16
WHOLE = 0  # in place of a number of shards: all ranks that data and context parallelism have
NARROWEST_EXPERT = 768
"""Columns of an expert that tensor parallelism leaves a rank at the least, unless it is asked to leave less: the width
of the narrowest experts that the constants of the stacks rest on, all of which were whole. Products of narrower slices
reach less, which no constant knows; NVIDIA too says to spread experts before cutting them (megatron-core-moe)."""
MODULAR = {
    "experts": ("moe_act", "layernorm+moe_act"),
    "latent": ("mla_up_proj", "mla_up_proj+moe_act", "mla_up_proj+layernorm+moe_act"),
}
"""Modules that a search recomputes in layers of experts, beside latent attention or not: those of NVIDIA's recipes and
of DeepSeek (megatron-bridge, deepseek-v3), which cost a few per cent where whole layers cost a third. Those of dense
layers must be asked for: with them plans without context parallelism seem to hold long sequences, and to be quicker
than the plans with it, where NVIDIA measured the opposite (measured_splits.csv).
"""
WIDEST_FOLD = 4
"""Tensor-parallel ranks over which experts too narrow to be cut are folded at the most, unless it is asked for: twice
as many as in published plans (megatron-bridge).
"""
LARGEST = 2**20  # of a degree; so products of three, and of the columns of many plans, are exact
SHORTEST_CUT = 1024  # tokens of a sequence that context parallelism leaves a rank at the least, unless it is asked to

Numbers = int | Iterable[int] | None
Words = str | Iterable[str] | None


@dataclass(frozen=True)
class Allowed:
    """The values that each field of a strategy may take: one, which fixes it, or several; None for the usual ones.

    Kept as sorted tuples. dp is what the GPUs leave. Raises StrategyError for an invalid value.

    >>> Allowed(tp=8, zero=(3, 1)).zero
    (1, 3)
    """

    tp: Numbers = None
    pp: Numbers = None
    cp: Numbers = None
    ep: Numbers = None
    v: Numbers = None
    micro: Numbers = None
    zero: Numbers = None
    sp: bool | Iterable[bool] | None = None
    recompute: Words = None
    schedule: Words = None
    shards: Numbers = None
    etp: Numbers = None

    def __post_init__(self) -> None:
        self.__dict__.update({name: _values(name, x) for name, x in self.given.items()})

    @property
    def given(self) -> dict[str, Any]:
        """The fields that are given, by name."""
        return {f.name: x for f in fields(self) if (x := getattr(self, f.name)) is not None}


def _values(name: str, x: Any) -> tuple[Any, ...]:
    several = isinstance(x, Iterable) and not isinstance(x, str)
    values = tuple(dict.fromkeys(checked(name, one) for one in (x if several else (x,))))
    if not values:
        raise StrategyError(name, x, "at least one value to choose from")
    if any(isinstance(one, float) for one in values):
        raise StrategyError(name, x, "whole numbers")
    if any(not isinstance(one, str) and one >= LARGEST for one in values):
        raise StrategyError(name, x, f"whole numbers below {LARGEST:,}")
    return values if isinstance(values[0], str | bool) else tuple(sorted(values))


class Axes(NamedTuple):
    """The values of every axis; `forms` are schedules with their chunks per rank; `shards` may be WHOLE, and
    `etp` too: then it is tp, if that is none of `narrow`, which make experts too narrow.
    """

    tp: tuple[int, ...]
    pp: tuple[int, ...]
    cp: tuple[int, ...]
    ep: tuple[int, ...]
    micro: tuple[int, ...]
    forms: tuple[tuple[str, int], ...]
    zero: tuple[int, ...]
    recompute: tuple[str, ...]
    sp: tuple[bool, ...]
    shards: tuple[int, ...] = (WHOLE,)
    etp: tuple[int, ...] = (WHOLE,)
    narrow: tuple[int, ...] = ()

    @property
    def sides(self) -> tuple[tuple[Any, ...], ...]:
        """The values of each axis; the points of the grid have one of each."""
        return tuple(self[: self._fields.index("narrow")])

    @property
    def mesh(self) -> dict[str, tuple[int, ...]]:
        """The axes of the mesh, by name, but for that of experts where it is tp."""
        own = {} if self.etp == (WHOLE,) else {"etp": self.etp}
        return {"tp": self.tp, "pp": self.pp, "cp": self.cp, "ep": self.ep, **own}

    def first(self, gpus: int) -> Strategy:
        """The strategy of the first value of every axis, on so many GPUs."""
        schedule, v = self.forms[0]
        degrees: dict[str, Any] = {name: values[0] for name, values in self.mesh.items()}
        if degrees.get("etp") == WHOLE:
            del degrees["etp"]
        shards = None if self.shards == (WHOLE,) else self.shards[0]
        dp = gpus // (degrees["tp"] * degrees["pp"] * degrees["cp"])
        return Strategy(
            dp=dp,
            schedule=schedule,
            v=v,
            micro=self.micro[0],
            zero=self.zero[0],
            sp=self.sp[0],
            recompute=self.recompute[0],
            shards=shards,
            **degrees,
        )

    def least(self, has: Features | None) -> "Axes":
        """The same with one value of each axis, of which more only needs more memory."""
        forms = [form for form in self.forms if not has or form[0] in has.schedules] or self.forms
        return self._replace(micro=self.micro[:1], forms=tuple(forms[:1]), shards=self.shards[:1])


def axes_of(task: Task, allowed: Allowed) -> Axes:
    """The axes for a task: the allowed values, or else the usual ones, whether they are possible or not."""
    model, gpus, fixed, has = task.model, task.gpus, allowed.given, task.features
    schedules = DEFAULT_SCHEDULES + tuple(word for word in (has.schedules if has else ()) if word != "gpipe")
    etp, node = fixed.get("etp", usual_etp(task)), task.machine.node
    tp = fixed.get("tp", divisors(node) if "etp" in fixed and model.moe else usual_tp(model, node, etp))
    pp = fixed.get("pp", tuple(n for n in range(1, model.layers + 1) if gpus % n == 0))
    cp = tuple(2**i for i in range(8) if task.T % 2 ** (i + 1) == 0 and task.T >> i >= SHORTEST_CUT)
    return Axes(
        tp=tp,
        pp=pp,
        cp=fixed.get("cp", cp or (1,)),
        ep=fixed.get("ep", divisors(model.experts)),
        micro=fixed.get("micro", MICRO),
        forms=_forms(model, pp, fixed.get("schedule", dict.fromkeys(schedules)), fixed.get("v")),
        zero=fixed.get("zero", tuple(sorted({*ZERO, *(has.zero if has else ())}))),
        recompute=fixed.get("recompute", usual_recompute(task)),
        sp=fixed.get("sp", (not has or "sp" in has.degrees,)),
        shards=fixed.get("shards", usual_shards(task, tp) if not has or has.hsdp else (WHOLE,)),
        etp=etp,
        narrow=() if "tp" in fixed else tuple(t for t in tp if t not in usual_tp(model, node)),
    )


def usual_etp(task: Task) -> tuple[int, ...]:
    """An expert is cut like other matrices; or it is whole, where the software can fold experts over tensor parallelism
    (megatron-core-moe), as in NVIDIA's plans of Qwen3 235B on H100.
    """
    folds = task.model.moe and (not task.features or task.features.folded)
    return (WHOLE, 1) if folds else (WHOLE,)


def usual_recompute(task: Task) -> tuple[str, ...]:
    """Nothing, attention's scores where they are kept, whole layers; and of experts, where the software recomputes
    modules, those of MODULAR.
    """
    usual = ("none", "full") if task.software.fused else RECOMPUTE
    if not (task.model.moe and task.features and task.features.recomputes("moe_act")):
        return usual
    return (*usual, *MODULAR["latent" if task.model.mla else "experts"])


def usual_shards(task: Task, tp: Sequence[int]) -> tuple[int, ...]:
    """All ranks, or those that fill a node, or a level above it that is not the last."""
    sizes, below = [], 1
    for level in task.machine.levels[:-1]:
        below *= level.size
        sizes.append(below)
    return (WHOLE, *sorted({size // t for size in sizes for t in tp if size % t == 0 and size > t}))


def usual_tp(model: Model, node: int, etp: Sequence[int] = (WHOLE,)) -> tuple[int, ...]:
    """The tensor-parallel degrees within a node, except those that make experts too narrow; of whole experts, where
    `etp` has them, those up to WIDEST_FOLD too.
    """
    folded = WIDEST_FOLD if 1 in etp else 1
    return tuple(t for t in divisors(node) if t <= folded or not model.moe or model.expert_ffn >= t * NARROWEST_EXPERT)


def divisors(n: int) -> tuple[int, ...]:
    """Every number that divides n."""
    return tuple(d for d in range(1, n + 1) if n % d == 0)


def _forms(model: Model, pp: Sequence[int], schedules: Sequence[str], v: Any) -> tuple[tuple[str, int], ...]:
    """Schedules with their chunks: 1F1B with any number that cuts the layers, others with the one they have."""
    piped = [p for p in pp if p > 1]
    even = lambda c: any(even_chunks(model.layers, p, c) for p in piped)
    usual = [c for c in range(1, MOST_CHUNKS + 1) if c == 1 or even(c)]
    forms: list[tuple[str, int]] = []
    for schedule in schedules:
        if schedule == "1f1b":
            forms += [(schedule, c) for c in (v or usual)]
        else:
            forms.append((schedule, 2 if schedule in TWO_CHUNKS else 1))
    if v:
        forms = [form for form in forms if form[1] in v]
    return tuple(dict.fromkeys(forms))
