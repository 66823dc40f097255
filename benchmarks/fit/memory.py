"""Fit the constants of frameworks' memory to published peaks: what hwlib/specs/software.toml keeps.

A framework's `fitted` constants are searched on a grid, at the least mean error of its rows and of those that are
`like` it. Rows that leave something open are never fitted.

A framework's `margin` is no constant of its memory: it says how far above the predicted bytes a measured peak may lie,
by the rows that constants may be fitted to. That of a software with few rows is that of all software to which nothing
was fitted, which the row `unmeasured` has: the rows that are held out of fits say as much of it. They are predicted
without what was learnt of their programs with their figures in view, which nobody has of another software.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from benchmarks.fit.folds import folds
from benchmarks.fit.toml_values import table_name
from benchmarks.rows.memory_rows import Peak, peak_case
from benchmarks.rows.published import read_rows, rows_to_fit
from benchmarks.rows.published_row import PublishedRow
from hwlib.specs import Framework, frameworks
from hwlib.specs.framework import UNMEASURED

GRID = {"reserve": [i * 0.25e9 for i in range(41)], "fragmentation": [i / 100 for i in range(31)]}

WITHIN = 0.9
"""Of measured peaks, those that a margin covers."""
ENOUGH = 20
"""Peaks of a software from which on its margin is its own."""


class MemoryFit(NamedTuple):
    """A framework with its constants fitted anew, how many rows they rest on, and the mean error of those."""

    framework: Framework
    rows: int
    error: float


def peaks(path: Path) -> list[Peak]:
    """The peaks of a file that constants may be fitted to. Raises DataError for a bad file."""
    return [case for case in _all_peaks(rows_to_fit(path)) if not (case.inferred or case.typical)]


def _all_peaks(rows: Sequence[PublishedRow]) -> list[Peak]:
    """The peaks of rows, also those that leave something open, or of whose software no figure was fitted."""
    peaked = [row for row in rows if row.kind == "train-memory" and not row.fault]
    return [case for row in peaked if isinstance(case := peak_case(row), Peak) and not case.open]


def margin(cases: Sequence[Peak], fits: Mapping[str, Framework] = frameworks) -> float:
    """The share of the predicted bytes by which nine of ten of the measured peaks exceed them at most, with the fitted
    constants of these frameworks.
    """
    shares = sorted(
        case.measured / case.predicted(_with_fit(case.unstudied or case.framework, fits)) - 1 for case in cases
    )
    return shares[ceil(WITHIN * len(shares)) - 1]


def margins(path: Path, fits: Mapping[str, Framework] = frameworks) -> Iterator[tuple[str, int, float]]:
    """For each framework with enough peaks its key, how many they are and their margin; under the key UNMEASURED those
    of software to which nothing was fitted. Raises DataError for a bad file.
    """
    own: defaultdict[str, list[Peak]] = defaultdict(list)
    own[UNMEASURED] = [case for case in _all_peaks(read_rows(path)[0]) if case.typical]
    for case in _all_peaks(rows_to_fit(path)):
        if not case.typical:
            own[case.framework.key].append(case)
    for key in frameworks:
        if len(own[key]) >= ENOUGH:
            yield key, len(own[key]), margin(own[key], fits)


def _with_fit(framework: Framework, fits: Mapping[str, Framework]) -> Framework:
    """The framework with the constants that were fitted to it, or to the one that it is like."""
    fit = fits.get(framework.like) or fits.get(framework.key)
    return framework.replace(**{name: getattr(fit, name) for name in fit.fitted}) if fit else framework


def of_framework(cases: Sequence[Peak], key: str) -> list[Peak]:
    """Those of the framework, and of the ones that take its constants."""
    return [case for case in cases if key in (case.framework.key, case.framework.like)]


def mean_error(cases: Sequence[Peak], constants: dict[str, float]) -> float:
    """The mean of |predicted - measured|/measured with these constants."""
    return fmean(abs(c.predicted(c.framework.replace(**constants)) / c.measured - 1) for c in cases)


def fitted(cases: Sequence[Peak], names: Sequence[str]) -> dict[str, float]:
    """The constants on the grid with the least mean error, the smallest of equals.

    What is predicted grows in a straight line with each of them, so that three predictions of a row give all.
    """
    none = dict.fromkeys(GRID, 0.0)
    lines = []
    for c in cases:
        plain = c.predicted(c.framework.replace(**none))
        slopes = [c.predicted(c.framework.replace(**none | {name: 1.0})) - plain for name in names]
        lines.append((plain, slopes, c.measured))

    def error(point: tuple[float, ...]) -> float:
        return fmean(
            abs((plain + sum(s * x for s, x in zip(slopes, point, strict=True))) / measured - 1)
            for plain, slopes, measured in lines
        )

    best = min(itertools.product(*(GRID[name] for name in names)), key=error)
    return dict(zip(names, best, strict=True))


def fit_memory(path: Path) -> Iterator[MemoryFit]:
    """Every framework with fitted constants, anew. Raises DataError for a bad file."""
    found = peaks(path)
    for key, framework in frameworks.items():
        if framework.fitted and (cases := of_framework(found, key)):
            constants = fitted(cases, framework.fitted)
            error = mean_error(cases, constants)
            yield MemoryFit(framework.replace(**constants, error=round(error, 3)), len(cases), error)


def folds_report(path: Path) -> Iterator[tuple[str, int, float, int, float, int]]:
    """For each fitted framework its key; of fold 0, fitted to fold 1, how many rows and their mean error; the same of
    fold 1, fitted to fold 0; and how many constants were fitted.
    """
    found = peaks(path)
    for key, framework in frameworks.items():
        parts = folds(of_framework(found, key), lambda case: case.plan)
        if framework.fitted and all(parts):
            errors = [mean_error(parts[i], fitted(parts[1 - i], framework.fitted)) for i in (0, 1)]
            yield key, len(parts[0]), errors[0], len(parts[1]), errors[1], len(framework.fitted)


def toml(fit: MemoryFit) -> str:
    """The lines of an entry that a fit gives anew."""
    lines = [
        f"# {fit.rows} rows: mean error {fit.error:.1%}",
        f"[{table_name(fit.framework)}]",
        f"error = {fit.error:.3f}",
    ]
    return "\n".join(lines + [f"{name} = {getattr(fit.framework, name):.3g}" for name in fit.framework.fitted])
