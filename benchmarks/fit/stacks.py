"""Fit the constants of training stacks to published steps: `make fit`, or `benchmarks.fidelity --fit-stacks` to print.

The constants that a stack's section of software.toml names as `fitted` are searched; one that is `like` another takes
the rest from that one. Where several stacks of one source are like each other (a software on several chips), the
constants that they share are searched on the rows of all. The plans fall into two folds (`benchmarks.fit.folds`): each
is held back once, and the mean error of rows that the fit had not seen is printed beside that of the fit.

A search begins at the constants that are kept, in valleys that are flat: where it ends depends on where it began. So
`kept_or_better` takes its end only where that is better by more than `GAIN`.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.fit.folds import folds
from benchmarks.fit.toml_values import table_name
from benchmarks.rows.published import steps
from benchmarks.rows.training_step import TrainingStep, own_constants, parted
from hwlib.specs.stack import CONSTANTS, Stack, stacks
from hwlib.steptime import step_time

if TYPE_CHECKING:
    from benchmarks.rows.published_row import PublishedRow

# Of a plan, what is the same for an array.
SINGLE = ("dtype", "fused", "dedup_dispatch", "frozen", "trained", "recompute", "mtp")
ROUNDS = 4  # of the search, each from the best point so far, with steps half as large
PRIOR = 0.003  # error that a constant's move by a factor e must save: what rows do not fix stays where it was
EXPERTS = ("eta_E", "w_E", "t_moe")  # what models with experts decide, and no other
GAIN = 0.002  # mean error by which a fit must be better than what is kept: a third of the third digit that is printed
LATENCY = 10e-6  # where a search for a time begins that is 0 so far


@dataclass(frozen=True)
class Alike:
    """Steps of one model, stack, machine and dtype, whose plans are arrays."""

    case: TrainingStep
    plans: Mapping[str, Any]
    seconds: Any

    def errors(self, stack: Stack) -> Any:
        """Predicted over measured, less 1."""
        case = self.case
        strategy, rest = parted(self.plans)
        stack = stack if stack.chip == case.chip else stack.replace(chip=case.chip)
        return step_time(case.model, stack, case.levels, strategy, **rest).total / self.seconds - 1


class StackFit(NamedTuple):
    """Constants, the mean error with them, and that of rows held back (NaN where there are too few)."""

    stack: Stack
    free: tuple[str, ...]
    rows: int
    error: float
    held_out: float


def alike(cases: Sequence[TrainingStep]) -> list[Alike]:
    """The steps in as few arrays as can be."""
    import numpy as np

    found: dict[Any, list[TrainingStep]] = {}
    for case in cases:
        plan = case.plan
        fixed = (*(plan.get(name) for name in SINGLE), tuple(sorted(plan)))
        shape = repr(case.model) + case.model.key
        found.setdefault((shape, case.model.context, case.levels, case.chip, case.stack, fixed), []).append(case)
    result = []
    for members in found.values():
        first = members[0].plan
        plans = {k: first[k] if k in SINGLE else np.array([c.plan[k] for c in members]) for k in first}
        result.append(Alike(members[0], plans, np.array([c.seconds for c in members])))
    return result


def mean_error(stack: Stack, groups: Sequence[Alike]) -> float:
    """The mean of |predicted - measured|/measured."""
    import numpy as np

    return float(np.abs(np.concatenate([g.errors(_own(stack, g.case)) for g in groups])).mean())


def _own(stack: Stack, case: TrainingStep) -> Stack:
    """The stack of a step that is like this one: with the constants that it does not share."""
    own = stacks.get(case.stack)
    if own is None or own.key == stack.key or not _shares(own, stack.key):
        return stack
    kept = stacks[stack.key]
    return stack.replace(**{x: getattr(own, x) for x in CONSTANTS if getattr(own, x) != getattr(kept, x)})


def _shares(own: Stack, key: str) -> bool:
    """Whether a stack takes constants from the one with this key, directly or not, and is of the same source. One that
    follows another decides nothing of that: it is fitted after it, to rows of its own releases.
    """
    if own.follows and not stacks[key].follows:
        return False
    while own.like in stacks and stacks[own.like].source == own.source:
        own = stacks[own.like]
        if own.key == key:
            return True
    return False


def plan_of(case: TrainingStep) -> str:
    """The group of a step: its model, GPUs, degrees, batch, length and dtype; never the software's release."""
    named = {name: x for name, x in case.plan.items() if name not in ("sp", "fused", "dedup_dispatch", "mtp")}
    return f"{case.model.key} {case.model.layers} {case.model.width} {case.gpus} {sorted(named.items())}"


def rows_of(stack: Stack, pairs: Sequence[tuple["PublishedRow", TrainingStep]]) -> list[TrainingStep]:
    """The steps that a stack's constants rest on: `rows` are beginnings of their ids. Models with experts are among
    them only where a constant of experts is fitted.
    """
    return [
        case
        for row, case in pairs
        if (case.stack == stack.key or (case.stack in stacks and _shares(stacks[case.stack], stack.key)))
        and row.cells["id"].startswith(stack.rows + (stacks[case.stack].rows if case.stack != stack.key else ()))
        and "inferred" not in row.cells["confidence"]
        and not case.open
        and (not case.model.moe or set(EXPERTS) & set(stack.fitted) or not _dense(stack, pairs))
    ]


def _dense(stack: Stack, pairs: Sequence[tuple["PublishedRow", TrainingStep]]) -> bool:
    return any(case.stack == stack.key and not case.model.moe for _, case in pairs)


def fit_stack(stack: Stack, cases: Sequence[TrainingStep], free: Sequence[str], least: float = 0.0) -> Stack:
    """The stack with the constants `free` fitted: to dense models, and then that of experts to models that have them,
    so that these decide nothing else; among those every row counts alike, for chips have few plans each. A fit that
    is not better than the stack by more than `least` is not taken.
    """
    dense = [case for case in cases if not case.model.moe]
    sparse = [replace(case, group=EXPERTS[0]) for case in cases if case.model.moe]
    experts = [name for name in free if name in EXPERTS]
    if not dense:
        return _fit(stack, sparse, free, least)
    if not experts or not sparse:
        return _fit(stack, cases, free, least)
    stack = _fit(stack, dense, [name for name in free if name not in EXPERTS], least)
    return _fit(stack, sparse, experts, least)


def _fit(stack: Stack, cases: Sequence[TrainingStep], free: Sequence[str], least: float) -> Stack:
    """The stack with the constants `free` at the least mean error, searched one by one and then together.

    Each table of rows counts alike, however many it has: 50 steps on many nodes no less than 480 on one.
    A constant moves by factors; a share stays below 1. A move must pay for itself (`PRIOR`).
    """
    from scipy.optimize import minimize

    tables = [alike([case for case in cases if case.group == name]) for name in dict.fromkeys(c.group for c in cases)]
    start = {name: getattr(stack, name) or LATENCY for name in free}

    def at(x: Sequence[float]) -> Stack:
        values = {}
        for name, moved in zip(free, x, strict=True):
            value = start[name] * math.exp(moved)
            values[name] = min(value, 1.0) if CONSTANTS[name][0] == "1" else value
        return stack.replace(**values)

    def loss(x: Sequence[float]) -> float:
        return fmean(mean_error(at(x), table) for table in tables) + PRIOR * sum(abs(moved) for moved in x)

    best, reach = [0.0] * len(free), 0.5
    for _ in range(ROUNDS):
        best = _one_by_one(loss, best, reach)
        found = minimize(loss, best, method="Nelder-Mead", options={"maxfev": 150 * len(free), "xatol": 1e-4})
        best = [float(x) for x in found.x] if found.fun < loss(best) else best
        reach /= 2
    return at(best) if loss([0.0] * len(free)) - loss(best) > least else stack


def _one_by_one(loss: Callable[[Sequence[float]], float], best: list[float], reach: float) -> list[float]:
    least = loss(best)
    for i in range(len(best)):
        for move in (-2 * reach, -reach, -reach / 4, reach / 4, reach, 2 * reach):
            point = [*best[:i], best[i] + move, *best[i + 1 :]]
            if (found := loss(point)) < least:
                best, least = point, found
    return best


def fit_stacks(path: Path, keys: Sequence[str] = ()) -> Iterator[StackFit]:
    """Every fitted stack, or those named, anew. Raises DataError for a bad file."""
    pairs = steps(path)
    fitted: dict[str, Stack] = {}
    for key, stack in stacks.items():
        if (keys and key not in keys) or not stack.rows:
            continue
        free = stack.fitted
        stack = _inherit(stack, fitted)
        cases = rows_of(stack, pairs)
        if len(cases) < max(2, len(free)) or not free:
            continue
        held = math.nan
        if len(cases) >= 2 * len(free) + 2:
            halves = folds(cases, plan_of)
            if all(len(half) >= len(free) for half in halves):
                held = fmean(mean_error(fit_stack(stack, a, free), alike(b)) for a, b in (halves, halves[::-1]))
        found = fit_stack(stack, cases, free)
        dense = [case for case in cases if not case.model.moe]
        fitted[key] = found.replace(error=mean_error(found, alike(dense or cases)))
        yield StackFit(fitted[key], free, len(cases), mean_error(fitted[key], alike(cases)), held)


def kept_or_better(pairs: Sequence[tuple["PublishedRow", TrainingStep]], keys: Sequence[str] = ()) -> Iterator[Stack]:
    """Every fitted stack, or those named, as it stands in the table, or with a fit that is better by more than `GAIN`;
    and with the mean error of its own steps, if it is another than what stands by as much. Its parent is the one that
    this gave before, or else the kept one.
    """
    done: dict[str, Stack] = {}
    for key, kept in stacks.items():
        if not kept.rows or (keys and key not in keys):
            continue
        free = kept.fitted
        stack = _inherit(kept, done)
        cases = rows_of(stack, pairs)
        if free and len(cases) >= max(2, len(free)):
            stack = fit_stack(stack, cases, free, GAIN)
        error = own_error(stack, cases, done)
        done[key] = stack if abs(error - kept.error) < GAIN else stack.replace(error=error)
        yield done[key]


def _inherit(stack: Stack, done: Mapping[str, Stack]) -> Stack:
    """The stack with what it takes from the one that it is like, as that was just fitted."""
    if stack.like not in done:
        return stack
    kept, like = stacks[stack.like], done[stack.like]
    same = [name for name in CONSTANTS if getattr(stack, name) == getattr(kept, name) and name not in stack.fitted]
    return stack.replace(**{name: getattr(like, name) for name in same})


def own_error(stack: Stack, cases: Sequence[TrainingStep], done: Mapping[str, Stack] = stacks) -> float:
    """The mean error of the steps of dense models on the stack's chip, and of what is like it there; where there are
    none, that of the stack that it follows, or is like.
    """
    dense = [case for case in cases if not case.model.moe and case.chip == stack.chip]
    other = stack.follows or stack.like
    if stack.one_gpu:  # `benchmarks.fit.one_gpu` fits it
        return stack.error
    return mean_error(stack, alike(dense)) if dense else done.get(other, stacks[other]).error


def folds_report(path: Path, keys: Sequence[str] = ()) -> Iterator[tuple[str, int, float, int, float, int]]:
    """For every fitted stack, or those named: its name, and for the steps of each fold how many there are and the mean
    error with constants fitted to the other fold; and how many constants are the stack's own, fitted or typed.

    Models with experts, and the chips that share a stack's constants, stand in lines of their own. A fold that has
    fewer rows than there are constants gives NaN for the other. Raises DataError for a bad file.
    """
    pairs = steps(path)
    for key, stack in stacks.items():
        cases = rows_of(stack, pairs) if stack.rows and (not keys or key in keys) else []
        halves = folds(cases, plan_of)
        if not cases or not all(halves):
            continue
        fits = [fit_stack(stack, half, stack.fitted) if len(half) >= len(stack.fitted) else None for half in halves]
        kinds = dict.fromkeys((case.stack, bool(case.model.moe)) for case in cases)
        for of, moe in kinds:
            found: list[Any] = []
            for seen, half in zip(fits[::-1], halves, strict=True):
                scored = [case for case in half if (case.stack, bool(case.model.moe)) == (of, moe)]
                found += [len(scored), mean_error(seen, alike(scored)) if seen and scored else math.nan]
            name = key + (f", {of}" if of != key else "") + (", experts" if moe else "")
            yield (name, *found, own_constants(stack))


def toml(fit: StackFit) -> str:
    """A section as it stands in software.toml: its error, and fitted constants with three digits, but no typed ones."""
    held = "" if math.isnan(fit.held_out) else f", {fit.held_out:.1%} where held back"
    lines = [f"# {fit.rows} rows: mean error {fit.error:.1%}{held}", f"[{table_name(fit.stack)}]"]
    texts = ("name", "software", "source", "like", "note")
    lines += [f'{name} = "{value}"' for name in texts if (value := getattr(fit.stack, name))]
    lines += [
        f"{name} = [" + ", ".join(f'"{x}"' for x in getattr(fit.stack, name)) + "]" for name in ("rows", "fitted")
    ]
    lines.append(f"error = {fit.stack.error:.3f}")
    return "\n".join(lines + [f"{name} = {getattr(fit.stack, name):.3g}" for name in fit.free])
