"""Fit the constants of serving stacks to published rows, by software and release.

The kernels of a row's steps are computed once; the constants only say what a step makes of them. Rows whose
`confidence` says that something was inferred are left out. A fold is a set of pairs of model and chip.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.fit.folds import folds
from benchmarks.fit.toml_values import table_name
from benchmarks.rows.published import case_of, rows_to_fit
from benchmarks.rows.serving_rows import Serving
from hwlib.calibrated.serving import part_times
from hwlib.calibrated.serving_step import Work
from hwlib.specs.serving_stack import ServingStack, serving_stacks

if TYPE_CHECKING:
    from benchmarks.rows.published_row import PublishedRow

SOFT = 0.05  # an error below this counts by its square, one above it by itself
TYPICAL = {"t_layer": 5e-5, "t_prompt": 3e-4, "eta": 1.0, "eta_E": 1.0, "eta_net": 1.0}
PULL = 0.05  # error that moving a constant by a factor e from its typical value must save
NEAR = 0.3  # the same for a release, from the constants of all of them together
MANY = 20  # rows of a stack that is among those scored together
PRINTED = "seen verbatim"  # the confidence of a row that nobody inferred a part of


class ServingFit(NamedTuple):
    """A stack with fitted constants, its rows, and their mean error."""

    stack: ServingStack
    rows: int
    error: float


def servings(path: Path) -> list[tuple[PublishedRow, Serving]]:
    """The rows of serving of a file, and their cases. Raises DataError, as `read_rows` does."""
    return servings_of(rows_to_fit(path), path)


def servings_of(rows: Sequence[PublishedRow], path: Path) -> list[tuple[PublishedRow, Serving]]:
    """Those of some rows of a file."""
    cases = ((row, case_of(row, path)) for row in rows if row.kind == "inference-serving")
    return [(row, case) for row, case in cases if isinstance(case, Serving)]


def rows_of(stack: ServingStack, pairs: Sequence[tuple[PublishedRow, Serving]]) -> list[Serving]:
    """The rows that a stack's constants rest on."""
    return [
        case
        for row, case in pairs
        if case.stack == stack.key
        and not case.typical
        and row.cells["id"].startswith(stack.rows)
        and row.cells["confidence"] == PRINTED
    ]


def mean_error(stack: ServingStack, cases: Sequence[Serving]) -> float:
    """The mean of |predicted - measured|/measured."""
    errors = [abs(case.time(stack) / case.seconds - 1) for case in cases]
    return sum(errors) / len(errors) if errors else math.nan


def fit(
    stack: ServingStack, cases: Sequence[Serving], centre: Mapping[str, float] = TYPICAL, pull: float = PULL
) -> ServingStack:
    """The stack with its `fitted` constants at the least mean error of some rows, the rest as they are.

    Searched on a logarithmic scale around `centre`, with a soft absolute loss: an outlier weighs less.
    """
    import numpy as np
    from scipy.optimize import least_squares

    free = stack.fitted
    counts = [len(case.steps) for case in cases]
    parts = np.array([[count / case.seconds, *work] for case in cases for count, work in case.steps])
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    weight = parts[:, 0]
    columns = Work(*parts[:, 1:].T)

    def at(x: Any) -> ServingStack:
        moved = {name: float(centre[name] * math.exp(value)) for name, value in zip(free, x, strict=True)}
        return stack.replace(**moved)

    def misfit(x: Any) -> Any:
        errors = np.add.reduceat(weight * step_times(at(x), columns), starts) - 1
        return np.concatenate([errors, pull * np.asarray(x)])

    found = [
        least_squares(misfit, [move] * len(free), loss="soft_l1", f_scale=SOFT, bounds=(-4, 4))
        for move in (0.0, -0.5, 0.5)
    ]
    return at(min(found, key=lambda one: one.cost).x)


def centre_of(stack: ServingStack, cases: Mapping[str, Sequence[Serving]]) -> dict[str, float]:
    """The constants of all releases of a stack's software together (of all software, where that has one release): what
    a release's few rows do not decide stays near them. Software on chips of another maker says nothing of it.
    """
    alike = [key for key in cases if serving_stacks[key].vendor == stack.vendor]
    same = [key for key in alike if maker(key) == maker(stack.key)]
    chosen = same if len(same) > 1 else alike
    rows = [case for key in chosen for case in cases[key]]
    if not rows:
        return TYPICAL
    names = tuple(TYPICAL)
    return {name: getattr(fit(ServingStack.ideal().replace(fitted=names), rows), name) for name in names}


def maker(key: str) -> str:
    """The software of a stack's key, without its release."""
    return re.sub(r"-(\d.*|server)$", "", key)


def step_times(stack: ServingStack, work: Work) -> Any:
    """`step_time` of many steps."""
    import numpy as np

    device = sum(part_times(stack, work)) + stack.t_layer * (work.layers + work.prompt_layers)
    return np.maximum(device, stack.t_prompt * work.prompt_layers)


def fit_servings(path: Path, keys: Sequence[str] = ()) -> Iterator[ServingFit]:
    """Every stack, or those named, anew, each after the one that it is like. Raises DataError for a bad file."""
    pairs = servings(path)
    all_cases = {key: rows_of(stack, pairs) for key, stack in serving_stacks.items()}
    done: dict[str, ServingStack] = {}
    for key, stack in serving_stacks.items():
        if keys and key not in keys:
            continue
        stack = inherit(stack, done)
        cases = all_cases[key]
        if stack.fitted and len(cases) >= 2 * len(stack.fitted):
            stack = fit(stack, cases, centre_of(stack, all_cases), NEAR)
        done[key] = stack.replace(error=mean_error(stack, cases) if cases else stack.error)
        yield ServingFit(done[key], len(cases), done[key].error)


def inherit(stack: ServingStack, done: dict[str, ServingStack]) -> ServingStack:
    """The stack with what it takes from the one that it is like, as that was just fitted."""
    if stack.like not in done:
        return stack
    parent, kept = done[stack.like], serving_stacks[stack.like]
    same = [name for name in kept.constants if getattr(stack, name) == getattr(kept, name)]
    return stack.replace(**{name: getattr(parent, name) for name in same if name not in stack.fitted})


class Unseen(NamedTuple):
    """A stack, the number of its rows, and of each fold's rows whether the batch was printed and the error under the
    fit to the other fold; nothing where that has too few rows for a fit.
    """

    stack: ServingStack
    rows: int
    errors: tuple[list[tuple[bool, float]], list[tuple[bool, float]]]


def unseen(pairs: Sequence[tuple[PublishedRow, Serving]]) -> Iterator[Unseen]:
    """Each stack fitted to one fold of the pairs of model and chip and scored on the other, both ways."""
    everything = {key: rows_of(stack, pairs) for key, stack in serving_stacks.items()}
    dealt = {key: folds(cases, lambda case: case.group) for key, cases in everything.items()}
    done: tuple[dict[str, ServingStack], dict[str, ServingStack]] = ({}, {})
    for key, stack in serving_stacks.items():
        errors: tuple[list[tuple[bool, float]], list[tuple[bool, float]]] = ([], [])
        for held in (0, 1):
            own, rest = inherit(stack, done[held]), dealt[key][1 - held]
            if rest and len(rest) >= 2 * len(own.fitted):
                seen = {other: halves[1 - held] for other, halves in dealt.items()}
                own = fit(own, rest, centre_of(own, seen), NEAR)
                held_out = ((case.known, abs(case.time(own) / case.seconds - 1)) for case in dealt[key][held])
                errors[held].extend(held_out)
            done[held][key] = own
        if everything[key]:
            yield Unseen(stack, len(everything[key]), errors)


def folds_report(path: Path) -> Iterator[tuple[str, int, float, int, float, int]]:
    """Of each stack, and of stacks of 20 rows and more together: name, n and mean error of each fold's rows with the
    constants fitted to the other fold, and how many constants.

    Where all rows are of one fold, nothing is scored on it: its n is 0 and its error NaN.
    """
    scored = list(unseen(servings(path)))
    for one in scored:
        yield f"serving, {one.stack.name}", *_means(one.errors), len(one.stack.fitted)
    many = [one for one in scored if one.rows >= MANY]
    constants = sum(len(one.stack.fitted) for one in many)
    for title, known in (("batch known", True), ("all", False)):
        yield f"serving, {MANY} rows and more, {title}", *_means(together(many, known)), constants


def together(scored: Sequence[Unseen], known: bool) -> tuple[list[tuple[bool, float]], list[tuple[bool, float]]]:
    """The errors of some stacks, by fold; if `known`, only of rows whose batch was printed."""
    first, second = ([e for one in scored for e in one.errors[held] if e[0] or not known] for held in (0, 1))
    return first, second


def _means(errors: tuple[list[tuple[bool, float]], list[tuple[bool, float]]]) -> tuple[int, float, int, float]:
    (n0, mean0), (n1, mean1) = ((len(e), sum(x for _, x in e) / len(e) if e else math.nan) for e in errors)
    return n0, mean0, n1, mean1


def toml(fit: ServingFit) -> str:
    """One section as it stands in software.toml: fitted constants with three digits, typed ones as they are."""
    kept = serving_stacks[fit.stack.key]
    lines = [f"# {fit.rows} rows", f"[{table_name(fit.stack)}]"]
    texts = {name: getattr(kept, name) for name in ("name", "software", "source", "like")}
    lines += [f'{name} = "{value}"' for name, value in texts.items() if value]
    for name in ("rows", "fitted"):
        lines.append(f"{name} = [" + ", ".join(f'"{x}"' for x in getattr(kept, name)) + "]")
    lines += [f"error = {fit.error:.3f}"] + ([f'note = "{kept.note}"'] if kept.note else [])
    lines += [] if kept.mixed else ["mixed = false"]
    lines += [] if kept.kernels == "trtllm" else [f'kernels = "{kept.kernels}"']
    parent = serving_stacks[kept.like] if kept.like else ServingStack.ideal()
    for name, value in fit.stack.constants.items():
        if name in kept.fitted:
            lines.append(f"{name} = {value:.3g}")
        elif getattr(kept, name) != getattr(parent, name):
            lines.append(f"{name} = {getattr(kept, name):g}")
    return "\n".join(lines)
