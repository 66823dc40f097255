"""The values that a search may choose from, and those that are impossible whatever else is chosen."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import product
from math import prod
from typing import Any, NamedTuple

from hwlib.constraints import (
    CHUNKS_OF_LAYERS,
    EXPERT_DEGREE,
    EXPERTS,
    GPUS,
    HEADS,
    KV_HEADS,
    MICROBATCH,
    MLP_WIDTH,
    SEQUENCE_PIECES,
    STAGES_OF_LAYERS,
    TWO_CHUNKS,
    Rule,
    Setting,
    broken,
    candidates,
    degree_rules,
    even_chunks,
    would_words,
)
from hwlib.planner.task import PlanError, Task
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
    found = tuple(dict.fromkeys(checked(name, one) for one in (x if several else (x,))))
    if not found:
        raise StrategyError(name, x, "at least one value to choose from")
    if any(isinstance(one, float) for one in found):
        raise StrategyError(name, x, "whole numbers")
    return found if isinstance(found[0], str | bool) else tuple(sorted(found))


class Axes(NamedTuple):
    """The values of every axis; `forms` are schedules with their chunks per rank; `shards` may be WHOLE, and
    `etp` too: then it is tp.
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


def axes_of(task: Task, allowed: Allowed) -> Axes:
    """The axes for a task: the allowed values, or else the usual ones. Raises PlanError for values that are impossible
    whatever the other degrees are.
    """
    model, gpus, given, has = task.model, task.gpus, allowed.given, task.features
    schedules = DEFAULT_SCHEDULES + tuple(word for word in (has.schedules if has else ()) if word != "gpipe")
    folded = "etp" in given and model.moe
    tp = given.get("tp", divisors(task.machine.node) if folded else usual_tp(model, task.machine.node))
    pp = given.get("pp", tuple(n for n in range(1, model.layers + 1) if gpus % n == 0))
    cp = tuple(2**i for i in range(8) if task.T % 2 ** (i + 1) == 0 and task.T >> i >= SHORTEST_CUT)
    axes = Axes(
        tp=tp,
        pp=pp,
        cp=given.get("cp", cp or (1,)),
        ep=given.get("ep", divisors(model.experts)),
        micro=given.get("micro", MICRO),
        forms=_forms(model, pp, given.get("schedule", dict.fromkeys(schedules)), given.get("v")),
        zero=given.get("zero", tuple(sorted({*ZERO, *(has.zero if has else ())}))),
        recompute=given.get("recompute", ("none", "full") if task.software.fused else RECOMPUTE),
        sp=given.get("sp", (not has or "sp" in has.degrees,)),
        shards=given.get("shards", usual_shards(task, tp) if not has or has.hsdp else (WHOLE,)),
        etp=given.get("etp", (WHOLE,)),
    )
    _check(task, axes, set(given))
    return axes


def usual_shards(task: Task, tp: Sequence[int]) -> tuple[int, ...]:
    """All ranks, or those that fill a node, or a level above it that is not the last."""
    sizes, below = [], 1
    for level in task.machine.levels[:-1]:
        below *= level.size
        sizes.append(below)
    return (WHOLE, *sorted({size // t for size in sizes for t in tp if size % t == 0 and size > t}))


def usual_tp(model: Model, node: int) -> tuple[int, ...]:
    """The tensor-parallel degrees within a node, except those that make experts too narrow."""
    return tuple(t for t in divisors(node) if t == 1 or not model.moe or model.expert_ffn >= t * NARROWEST_EXPERT)


def divisors(n: int) -> tuple[int, ...]:
    """Every number that divides n."""
    return tuple(d for d in range(1, n + 1) if n % d == 0)


def _forms(model: Model, pp: Sequence[int], schedules: Sequence[str], v: Any) -> tuple[tuple[str, int], ...]:
    """Schedules with their chunks: 1F1B with any number that cuts the layers, others with the one they have."""
    piped = [p for p in pp if p > 1]
    even = lambda c: any(even_chunks(model.layers, p, c) for p in piped)
    usual = [c for c in range(1, MOST_CHUNKS + 1) if c == 1 or even(c)]
    found: list[tuple[str, int]] = []
    for schedule in schedules:
        if schedule == "1f1b":
            found += [(schedule, c) for c in (v or usual)]
        else:
            found.append((schedule, 2 if schedule in TWO_CHUNKS else 1))
    if v:
        found = [form for form in found if form[1] in v]
    return tuple(dict.fromkeys(found))


_OWN_RULES: Mapping[str, tuple[Rule, ...]] = {
    "tp": (HEADS, KV_HEADS, MLP_WIDTH, GPUS),
    "pp": (STAGES_OF_LAYERS, GPUS),
    "cp": (SEQUENCE_PIECES, GPUS),
    "ep": (EXPERTS,),
    "etp": (EXPERT_DEGREE,),
    "micro": (MICROBATCH,),
}
"""Rules that a value of an option breaks whatever the other degrees are."""


def _check(task: Task, axes: Axes, asked: set[str]) -> None:
    if not axes.forms:
        raise PlanError("v", "only 1f1b can be interleaved")
    if task.features:
        _check_features(task.setting, task.features, axes, asked)
    if "v" in asked:
        _check_chunks(task, axes)
    for name, rules in _OWN_RULES.items():
        if name in asked:
            _check_own(task.setting, name, getattr(axes, name), rules)
    if len(together := [name for name in ("tp", "pp", "cp") if name in asked]) > 1:
        products = sorted({prod(degrees) for degrees in product(*(getattr(axes, name) for name in together))})
        good = lambda n: GPUS.holds(task.setting, _only("tp", n))
        _require_some("*".join(together), products, good, f"{{}} does not divide {task.gpus:,} GPUs")


def _only(option: str, value: Any) -> Strategy:
    """A strategy with a value of one option, and all else as usual."""
    return _USUAL.unchecked({option: value})


def _check_own(setting: Setting, option: str, values: Sequence[int], rules: Sequence[Rule]) -> None:
    """Raise PlanError if each of the values of an option breaks a rule; it names values that break none."""
    sentences: dict[str, None] = {}
    for value in values:
        one = _only(option, value)
        rule = broken(setting, one, rules)
        if rule is None:
            return
        sentences[rule.sentence(setting, one)] = None
    would = [n for n in candidates(setting, option) if broken(setting, _only(option, n), rules) is None]
    raise PlanError(option, "; ".join([*sentences][:3]) + would_words(would, near=values[0]))


_USUAL = Strategy()


def _check_features(setting: Setting, has: Features, axes: Axes, asked: set[str]) -> None:
    """Raise PlanError for a value that was asked for and that the software lacks whatever the others are."""
    for rule in degree_rules(has):
        if rule.option in asked and rule.option != "sp":
            values = getattr(axes, rule.option)
            if not any(rule.holds(setting, _only(rule.option, value)) for value in values):
                raise PlanError(rule.option, rule.reason)
    kinds = {
        "schedule": (dict(axes.forms), has.schedules, "schedule {}"),
        "zero": (axes.zero, {*has.zero, *has.piped_zero}, "ZeRO-{}"),
    }
    for name, (values, known, what) in kinds.items():
        if name in asked and not any(value in known for value in values):
            problem = has.without(what.format(_joined(values)))
            raise PlanError(name, f"{problem}; it has {_joined(sorted(known, key=str))}" if known else problem)
    if "recompute" in asked and not any(map(has.recomputes, axes.recompute)):
        raise PlanError("recompute", has.without(f"{_joined(axes.recompute)} recomputation"))
    if "shards" in asked and not has.hsdp and WHOLE not in axes.shards:
        raise PlanError("shards", has.without("HSDP"))


def _check_chunks(task: Task, axes: Axes) -> None:
    model, setting = task.model, task.setting
    pp = min((n for n in axes.pp if n > 1), default=2)
    chunks = sorted({v for _, v in axes.forms})
    problem = f"{{}} chunks on each of {pp} stages or more are more than the {model.layers} layers of {model.name}"
    _require_some("v", chunks, lambda n: CHUNKS_OF_LAYERS.holds(setting, _USUAL.unchecked({"pp": pp, "v": n})), problem)
    pipes = [n for n in axes.pp if n > 1]
    if not pipes and 1 in chunks:
        return
    if not pipes:
        raise PlanError("v", f"{_joined(chunks)} chunks per rank need a pipeline, and pp is 1")
    even = lambda n: any(even_chunks(model.layers, p, n) for p in pipes)
    stages = f"pp {pipes[0]}" if len(pipes) == 1 else f"any pp that divides {task.gpus:,} GPUs"
    problem = f"{{}} does not cut the {model.layers} layers of {model.name} into equal chunks, with {stages}"
    _require_some("v", chunks, even, problem, (n for n in range(1, MOST_CHUNKS + 1) if even(n)))


def _require_some(
    field: str, values: Iterable[int], good: Callable[[int], bool], problem: str, could: Iterable[int] = ()
) -> None:
    """Raise PlanError if none of the values is good; `could` are some that would be."""
    values = tuple(values)
    if not any(map(good, values)):
        raise PlanError(field, problem.format(_joined(values)) + would_words(tuple(could), near=values[0]))


def _joined(values: Iterable[object]) -> str:
    return " or ".join(map(str, values))
