"""What constants fitted to one fold of the rows say of the other: `python -m benchmarks.fidelity --folds`.

A kind of rows is dealt into two folds by its groups (`benchmarks.fit.folds`), and every constant of the kind is fitted
anew to each of them. `FOLDS` has one function a kind; it takes the rows of a file and gives one `FoldScore`, or none
where the file has no such rows.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from benchmarks.fit.kernels import fit_kernels, kernel_folds
from benchmarks.fit.serving import MANY, servings_of, together, unseen
from benchmarks.rows.kernel_rows import LENGTHS, TimedKernel
from benchmarks.rows.published import PublishedRow, case_of, rows_to_fit

HEADS = ("fold 0 on 1", "rows", "fold 1 on 0", "rows")
FOLD_HEAD = f"{'kind':28}{'rows':>6}{'constants':>11}" + "{:>14}{:>8}{:>14}{:>8}".format(*HEADS) + f"{'both':>8}"


class FoldScore(NamedTuple):
    """One kind: its rows, how many constants a fit to all of them has, and the errors of each fold's rows under the
    fit to the other. Rows that the library would not score with the constants of that fold are in neither.
    """

    kind: str
    rows: int
    constants: int
    second: Sequence[float]
    first: Sequence[float]


def _kernels(kind: str) -> Callable[[Sequence[PublishedRow], Path], Iterator[FoldScore]]:
    def score(rows: Sequence[PublishedRow], path: Path) -> Iterator[FoldScore]:
        cases = [case_of(row, path) for row in rows if row.kind == kind and "seen" in row.cells["confidence"]]
        kernels = [case for case in cases if isinstance(case, TimedKernel)]
        if kernels:
            yield FoldScore(kind, len(kernels), fit_kernels(kind, kernels).count, *kernel_folds(kind, kernels))

    return score


def _serving(rows: Sequence[PublishedRow], path: Path) -> Iterator[FoldScore]:
    """Serving stacks of 20 rows and more: rows whose batch is printed, and all."""
    many = [one for one in unseen(servings_of(rows, path)) if one.rows >= MANY]
    constants = sum(len(one.stack.fitted) for one in many)
    for title, known in (("serving, batch known", True), ("serving, all", False)):
        first, second = together(many, known)
        if first or second:
            count = len(first) + len(second)
            yield FoldScore(title, count, constants, [e for _, e in second], [e for _, e in first])


FOLDS: dict[str, Callable[[Sequence[PublishedRow], Path], Iterator[FoldScore]]] = {
    **{kind: _kernels(kind) for kind in LENGTHS},
    "inference-serving": _serving,
}


def fold_lines(path: Path) -> Iterator[str]:
    """The report, one line a kind. Raises DataError for a bad file."""
    rows = rows_to_fit(path)
    yield FOLD_HEAD
    for score in FOLDS.values():
        for s in score(rows, path):
            means = [f"{fmean(e):14.1%}{len(e):8}" if e else f"{'-':>14}{0:8}" for e in (s.second, s.first)]
            both = [*s.second, *s.first]
            yield f"{s.kind:28}{s.rows:6}{s.constants:11}{''.join(means)}" + (f"{fmean(both):8.1%}" if both else "")
