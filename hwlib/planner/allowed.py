"""The values that a search may choose from, and those that are impossible whatever else is chosen."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from itertools import product
from math import inf, prod
from typing import Any, NamedTuple

from hwlib.planner.task import PlanError, Task, plural
from hwlib.specs import Model
from hwlib.strategy import RECOMPUTE, StrategyError, checked

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
    """The values of every axis; `forms` are schedules with their chunks per rank."""

    tp: tuple[int, ...]
    pp: tuple[int, ...]
    cp: tuple[int, ...]
    ep: tuple[int, ...]
    micro: tuple[int, ...]
    forms: tuple[tuple[str, int], ...]
    zero: tuple[int, ...]
    recompute: tuple[str, ...]
    sp: tuple[bool, ...]


def axes_of(task: Task, allowed: Allowed) -> Axes:
    """The axes for a task: the allowed values, or else the usual ones. Raises PlanError for values that are impossible
    whatever the other degrees are.
    """
    model, gpus, given = task.model, task.gpus, allowed.given
    pp = given.get("pp", tuple(n for n in range(1, model.layers + 1) if gpus % n == 0))
    cp = tuple(2**i for i in range(8) if task.T % 2 ** (i + 1) == 0 and task.T >> i >= SHORTEST_CUT)
    axes = Axes(
        tp=given.get("tp", usual_tp(model, task.machine.node)),
        pp=pp,
        cp=given.get("cp", cp or (1,)),
        ep=given.get("ep", divisors(model.experts)),
        micro=given.get("micro", MICRO),
        forms=_forms(model, pp, given.get("schedule", DEFAULT_SCHEDULES), given.get("v")),
        zero=given.get("zero", ZERO),
        recompute=given.get("recompute", ("none", "full") if task.software.fused else RECOMPUTE),
        sp=given.get("sp", (True,)),
    )
    _check(task, axes, set(given))
    return axes


def usual_tp(model: Model, node: int) -> tuple[int, ...]:
    """The tensor-parallel degrees within a node, except those that make experts too narrow."""
    return tuple(t for t in divisors(node) if t == 1 or not model.moe or model.expert_ffn >= t * NARROWEST_EXPERT)


def divisors(n: int) -> tuple[int, ...]:
    """Every number that divides n."""
    return tuple(d for d in range(1, n + 1) if n % d == 0)


def short_chunks(layers: int, chunks: int) -> float:
    """Chunks that have a layer less than the others; infinite if there are more chunks than layers."""
    return inf if chunks > layers else -(-layers // chunks) * chunks - layers


def _forms(model: Model, pp: Sequence[int], schedules: Sequence[str], v: Any) -> tuple[tuple[str, int], ...]:
    """Schedules with their chunks: 1F1B with any number that cuts the layers evenly, others with the one they have."""
    piped = [p for p in pp if p > 1]
    even = lambda c: any(short_chunks(model.layers, p * c) <= UNEVEN for p in piped)
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


def _check(task: Task, axes: Axes, asked: set[str]) -> None:
    model, gpus, T = task.model, task.gpus, task.T
    if "tp" in asked:
        could = (n for n in divisors(model.heads) if n <= gpus)
        problem = f"{{}} does not divide the {model.heads} heads of {model.name}"
        _require_some("tp", axes.tp, lambda n: model.heads % n == 0, problem, could)
    if "pp" in asked:
        problem = f"{{}} stages are more than the {model.layers} layers of {model.name}"
        _require_some("pp", axes.pp, lambda n: n <= model.layers, problem)
    if "v" in asked:
        _check_chunks(task, axes)
    if "cp" in asked:
        problem = f"{{}} does not cut {T:,} tokens into 2*cp equal pieces"
        _require_some("cp", axes.cp, lambda n: n == 1 or T % (2 * n) == 0, problem)
    if "ep" in asked:
        dense = f"{{}} does not apply to {model.name}: a dense model has no experts"
        problem = f"{{}} does not divide the {model.experts} experts of {model.name}" if model.moe else dense
        _require_some("ep", axes.ep, lambda n: model.experts % n == 0, problem)
    for name in ("tp", "pp", "cp"):
        if name in asked:
            _require_some(name, getattr(axes, name), lambda n: gpus % n == 0, f"{{}} does not divide {gpus:,} GPUs")
    if len(together := [name for name in ("tp", "pp", "cp") if name in asked]) > 1:
        products = sorted({prod(degrees) for degrees in product(*(getattr(axes, name) for name in together))})
        _require_some("*".join(together), products, lambda n: gpus % n == 0, f"{{}} does not divide {gpus:,} GPUs")
    if "micro" in asked:
        problem = f"{{}} does not divide the {plural(task.sequences, 'sequence')} of the batch"
        _require_some("micro", axes.micro, lambda n: task.sequences % n == 0, problem)


def _check_chunks(task: Task, axes: Axes) -> None:
    model = task.model
    if not axes.forms:
        raise PlanError("v", "only 1f1b can be interleaved")
    pp = min((n for n in axes.pp if n > 1), default=2)
    chunks = sorted({v for _, v in axes.forms})
    problem = f"{{}} chunks on each of {pp} stages or more are more than the {model.layers} layers of {model.name}"
    _require_some("v", chunks, lambda n: n * pp <= model.layers, problem)
    pipes = [n for n in axes.pp if n > 1]
    if not pipes:
        raise PlanError("v", f"{_joined(chunks)} chunks per rank need a pipeline, and pp is 1")
    even = lambda n: any(short_chunks(model.layers, n * p) <= UNEVEN for p in pipes)
    stages = f"pp {pipes[0]}" if len(pipes) == 1 else f"any pp that divides {task.gpus:,} GPUs"
    problem = f"{{}} does not cut the {model.layers} layers of {model.name} into equal chunks, with {stages}"
    _require_some("v", chunks, even, problem, (n for n in range(1, MOST_CHUNKS + 1) if even(n)))


def _require_some(
    field: str, values: Iterable[int], good: Callable[[int], bool], problem: str, could: Iterable[int] = ()
) -> None:  # fmt: skip
    """Raise PlanError if none of the values is good; `could` are some that would be."""
    values = tuple(values)
    if not any(map(good, values)):
        would = ", ".join(map(str, could))
        raise PlanError(field, problem.format(_joined(values)) + (f"; {would} would" if would else ""))


def _joined(values: Iterable[int]) -> str:
    return " or ".join(map(str, values))
