"""Whether the library already contains an exercise's solution: a formula or an algorithm of `hwlib`."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from ..declaration.answer import JudgedBy
from ..declaration.exercise import Exercise
from ..declaration.verdict import AnswerError
from ..declaration.withholding import withheld_name
from ..values import encoding

if TYPE_CHECKING:
    import numpy as np

    from hwlib.formula import Formula

FEW = 3  # that two functions agree in fewer points may be chance
ENOUGH = 8  # with fewer cases, points between them are compared too
PROBES = 20
NEAR = 1e-6  # relative; how far an array of orders may be from a number, for its orders to be tried one by one
Case = tuple[tuple[float, ...], float]  # numbers that a function takes, and what it gives


def library_overlap(exercise: Exercise, least: int = 0) -> list[str]:
    """The registered formulas that are the solution of an Expression or Function exercise, and the algorithms that
    would be right in an Algorithm exercise, and are not withheld.

    Letters are matched in every order, since a learner can call a formula with any; compared at random
    points. A formula of fewer operations than `least` is not told of: that is written sooner than it is found.
    """
    from hwlib.formula import REGISTRY

    load_library()
    if exercise.answer.judged_by is JudgedBy.RANKS:
        return list(_same_algorithms(exercise)) if exercise.answer.plays == "generator" else []
    cases = list(exercise.answer.samples(exercise))
    if len(cases) < FEW:
        return []
    if len(cases) < ENOUGH and callable(exercise.solution):
        cases += _between(exercise.solution, cases)
    return [
        f"{exercise.id}: hwlib.{name} is the solution; ask for a twist, or withhold hwlib.{name.rsplit('.', 1)[0]}"
        for name, formula in REGISTRY.items()
        if not withheld_name(f"hwlib.{name}", exercise.withholds)
        and _same(formula, cases)
        and (not least or formula.expr.count_ops() >= least)
    ]


def _between(solution: Callable[..., Any], cases: Sequence[Case]) -> Iterator[Case]:
    """More cases, inside the range of those that are declared: few may agree with anything."""
    drawn = random.Random(0)
    columns = [sorted(column) for column in zip(*(args for args, _ in cases), strict=True)]
    for _ in range(PROBES):
        args = tuple(
            drawn.randint(column[0], column[-1])
            if all(type(x) is int for x in column)
            else drawn.uniform(column[0], column[-1])
            for column in columns
        )
        try:
            want = solution(*args)
        except Exception:  # no case says that it is defined here
            continue
        if type(want) in (int, float) and math.isfinite(want):
            yield args, want


def _same_algorithms(exercise: Exercise) -> Iterator[str]:
    from hwlib.algorithms import ALGORITHMS

    from .algorithm import direct

    for name, record in ALGORITHMS.items():
        if not withheld_name(record.function, exercise.withholds):
            verdict = exercise.judge(encoding.Callable(name), call=direct(record.function))
            if verdict.score == 1:
                yield (
                    f"{exercise.id}: hwlib.algorithms.{name} is right; ask for a twist, or withhold hwlib.algorithms"
                )


def load_library() -> None:
    """Import every module of hwlib that holds formulas, so that the registry is complete."""
    import importlib
    import pkgutil

    import hwlib

    for module in pkgutil.iter_modules(hwlib.__path__):
        if module.name not in ("plots", "widgets", "labs", "virtual"):
            importlib.import_module(f"hwlib.{module.name}")


def _same(formula: Formula, cases: Sequence[Case]) -> bool:
    """Whether the formula gives the same, of the same numbers in some order (its defaults left or given)."""
    places = len(cases[0][0])
    letters = formula.args[:places]
    if places not in (len(formula.args), len(formula.args) - len(formula.defaults)):
        return False
    if set(letters) & set(formula.sequences):
        return False  # it takes no number there
    return any(
        all(_agrees(formula, [args[i] for i in order], want) for args, want in cases)
        for order in _plausible(formula, letters, *cases[0])
    )


def _plausible(
    formula: Formula, letters: Sequence[str], args: tuple[float, ...], want: float
) -> Iterator[Sequence[int]]:
    """The orders in which the formula may give `want`: all are computed at once, and those far off are left out."""
    import numpy as np

    from hwlib.notation import NOTATION

    orders = _orders(len(args))
    numbers = np.array(args, float)
    for place, letter in enumerate(letters):
        fits = np.array([bool(NOTATION[letter].domain.has(number)) for number in args])
        orders = orders[fits[orders[:, place]]]
    if not len(orders):
        return
    try:
        with np.errstate(all="ignore"):
            values = np.broadcast_to(formula(*(numbers[orders[:, place]] for place in range(len(args)))), len(orders))
        orders = orders[~np.isfinite(values) | np.isclose(values, want, rtol=NEAR, atol=0)]
    except (ArithmeticError, ValueError, TypeError, AnswerError):
        pass  # what fails in one order fails in an array of them
    yield from orders.tolist()


@cache
def _orders(places: int) -> np.ndarray:
    import numpy as np

    return np.array(list(itertools.permutations(range(places))), int).reshape(-1, places)


def _agrees(formula: Formula, args: list[float], want: float) -> bool:
    try:
        return math.isclose(float(formula(*args)), want, rel_tol=1e-9)
    except (ArithmeticError, ValueError, TypeError, AnswerError):
        return False
