"""Values that are impossible whatever else is chosen, and those that would do instead."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import Any, NamedTuple

from hwlib.constraints import (
    CHUNKS_OF_LAYERS,
    GPUS,
    OWN_RULES,
    Rule,
    Setting,
    broken,
    candidates,
    degree_rules,
    even_chunks,
    shard_rules,
    would_words,
)
from hwlib.footprint import unchecked_footprint
from hwlib.planner.allowed import MOST_CHUNKS, WHOLE, Allowed, Axes, axes_of, divisors
from hwlib.planner.fits import DOES_NOT_FIT, FITS, MAY_NOT_FIT, fit_of, surely
from hwlib.planner.plan_error import PlanError
from hwlib.planner.space import space
from hwlib.planner.task import Task
from hwlib.specs import Features
from hwlib.strategy import Strategy
from hwlib.units import plural, show


def checked_axes(task: Task, allowed: Allowed) -> Axes:
    """The axes for a task. Raises PlanError for values that are impossible whatever the other degrees are; it names
    values that make a plan with everything else as it is, if there are any.
    """
    axes, fixed = axes_of(task, allowed), set(allowed.given)
    if not axes.forms:
        raise PlanError("v", "only 1f1b can be interleaved")
    if task.features:
        _check_features(task.setting, task.features, axes, fixed)
    for name, rules in OWN_RULES.items():
        if name in fixed:
            _check_own(task, allowed, name, rules)
    if "v" in fixed:
        _check_chunks(task, allowed, axes)
    if len(together := [name for name in ("tp", "pp", "cp") if name in fixed]) > 1:
        products = sorted({prod(degrees) for degrees in product(*(getattr(axes, name) for name in together))})
        good = lambda n: GPUS.holds(task.setting, _only("tp", n))
        if not any(map(good, products)):
            problem = f"{_joined(products)} does not divide {plural(task.gpus, 'GPU')}"
            raise PlanError("*".join(together), problem + ways_out(task, allowed, together))
    return axes


def _only(option: str, value: Any) -> Strategy:
    """A strategy with a value of one option, and all else as usual."""
    return _USUAL.unchecked({option: value})


def _check_own(task: Task, allowed: Allowed, option: str, rules: Sequence[Rule]) -> None:
    """Raise PlanError if each of the values of an option breaks a rule."""
    setting, values = task.setting, allowed.given[option]
    sentences: dict[str, None] = {}
    for value in values:
        alone = _only(option, value)
        rule = broken(setting, alone, rules)
        if rule is None:
            return
        sentences[rule.sentence(setting, alone)] = None
    would = [n for n in candidates(setting, option) if broken(setting, _only(option, n), rules) is None]
    raise PlanError(option, "; ".join([*sentences][:3]) + offer(task, allowed, option, would))


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
    for rule in shard_rules(has):
        if rule.option in asked and WHOLE not in getattr(axes, rule.option):
            raise PlanError(rule.option, rule.reason)


def _check_chunks(task: Task, allowed: Allowed, axes: Axes) -> None:
    model, setting = task.model, task.setting
    chunks = sorted({v for _, v in axes.forms})
    pipes = [n for n in axes.pp if n > 1]
    if not pipes and 1 in chunks:
        return
    pp = min(pipes, default=2)
    even = lambda n: any(even_chunks(model.layers, p, n) for p in pipes)
    if not any(CHUNKS_OF_LAYERS.holds(setting, _USUAL.unchecked({"pp": pp, "v": n})) for n in chunks):
        stages, layers = plural(pp, "stage"), plural(model.layers, "layer")
        problem = f"chunks on each of {stages} or more are more than the {layers} of {model.name}"
    elif not pipes:
        problem = "chunks per rank need a pipeline, and pp is 1"
    elif not any(map(even, chunks)):
        stages = f"pp {pipes[0]}" if len(pipes) == 1 else f"any pp that divides {plural(task.gpus, 'GPU')}"
        problem = f"does not cut the {plural(model.layers, 'layer')} of {model.name} into equal chunks, with {stages}"
    else:
        return
    would = [n for n in range(1, MOST_CHUNKS + 1) if even(n) or n == 1]
    raise PlanError("v", f"{_joined(chunks)} {problem}" + offer(task, allowed, "v", would))


def widened(task: Task, allowed: Allowed) -> Allowed:
    """The same with every tensor degree of a node where none is given: experts cut narrow, rather than no plan."""
    return allowed if "tp" in allowed.given else replace(allowed, tp=divisors(task.machine.full_node))


class Working(NamedTuple):
    """Values of an option with which a plan can be: those that fit in memory, margin included, if any do; else those
    that may fit, if any do. Where none surely fits, `needs` is the bytes of the plan that needs least. Without values
    the reason that rejects the last plans.
    """

    values: tuple[int, ...]
    needs: float = 0.0
    reason: str = ""


def working(task: Task, allowed: Allowed, option: str, values: Iterable[Any]) -> Working:
    """Of these values of an option those with which a plan can be, with everything else as it is allowed."""
    import numpy as np

    axes = axes_of(task, widened(task, replace(allowed, **{option: tuple(values)})))
    if not axes.forms:
        return Working((), reason="only 1f1b can be interleaved")
    possible = space(task, axes)
    if not possible.size:
        return Working((), reason=[*possible.rejected][-1])
    memory = np.broadcast_to(unchecked_footprint(task, possible.strategy, m=possible.m).total, (possible.size,))
    column = np.broadcast_to(getattr(possible.strategy, option), (possible.size,))
    if (fits := surely(task, memory)).any():
        return Working(_distinct(column[fits]))
    may_fit = memory <= task.memory
    return Working(_distinct(column[may_fit] if may_fit.any() else column), needs=float(memory.min()))


def _distinct(column: Any) -> tuple[int, ...]:
    return tuple(sorted(map(int, {*column.tolist()})))


def _fit(task: Task, way: Working) -> str:
    """What the plans of an offer do: fit, perhaps, or not."""
    return fit_of(task, way.needs) if way.needs else FITS


def _memory_words(task: Task, fit: str, needs: float) -> str:
    """The end of an offer: that it may not fit, or has no memory; empty where it fits."""
    has = f"{show(needs, 'B')} a GPU, of which {show(task.memory, 'B')} are there"
    errs = f"measured peaks are up to {task.margin:.1%} above the predicted ones"
    return {
        FITS: "",
        MAY_NOT_FIT: f", and may not fit: it would need {has}, and {errs}",
        DOES_NOT_FIT: f", and would need {has}",
    }[fit]


def offer(task: Task, allowed: Allowed, option: str, values: Sequence[int]) -> str:
    """The end of a sentence of refusal: which of these values would do and fit; which may fit, or
    would need more memory; or that they would do but for another rule.
    """
    if not values:
        return ""
    near = allowed.given[option][0]
    would = working(task, allowed, option, values)
    if would.values:
        return would_words(would.values, near) + _memory_words(task, _fit(task, would), would.needs)
    return f"{would_words(values, near)}, but for another rule: {would.reason}"


def ways_out(task: Task, allowed: Allowed, options: Iterable[str]) -> str:
    """The end of a sentence of refusal: of each of these options the values that would do with the others as they
    are, and fit; where none does, those that may; where none may, what the one that needs least would need.
    """
    could = {option: tuple(candidates(task.setting, option)) for option in options}
    would = {option: working(task, allowed, option, values) for option, values in could.items() if values}
    would = {option: way for option, way in would.items() if way.values}
    if not would:
        return ""
    fit = min((_fit(task, way) for way in would.values()), key=(FITS, MAY_NOT_FIT, DOES_NOT_FIT).index)
    needs = min(way.needs for way in would.values())
    ways = []
    for option, way in would.items():
        if _fit(task, way) == fit:
            words = would_words(way.values, allowed.given[option][0]).removeprefix("; ").removesuffix(" would")
            ways.append(f"{option} {words}")
    return f"; {' or '.join(ways)} would" + _memory_words(task, fit, needs)


def _joined(values: Iterable[object]) -> str:
    return " or ".join(map(str, values))
