"""How the constants score on the rows of training that they are fitted to: benchmarks/data/scores.csv.

The scores are kept so that pages and quick tests need not predict thousands of rows; `python -m benchmarks.fidelity
--scores` prints them, and a test holds the two together. By the side of it are, of each stack, the error
of rows that a fit to the other half had not seen (`--held-out`, held_out.csv), and how far the measurements of one
and the same plan lie apart (`--repeats`, repeats.csv): no model of plans can do better.
"""

import csv
import io
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.fit.folds import folds
from benchmarks.fit.stacks import alike, fit_stack, mean_error, plan_of, rows_of
from benchmarks.paths import DATA
from benchmarks.rows.published import steps
from benchmarks.score.scores import UNSEEN, Report, Score
from hwlib.specs.stack import stacks

SCORES, HELD_OUT, REPEATS = (DATA / f"{name}.csv" for name in ("scores", "held_out", "repeats"))


class HeldOut(NamedTuple):
    """A stack: how many rows its constants were fitted to, how many are its own, and mean errors."""

    stack: str
    rows: int
    constants: int
    error: float
    held_out: float


class Repeats(NamedTuple):
    """Of a table: plans that were measured more than once, and the slowest over the fastest, less 1."""

    set: str
    plans: int
    median_spread: float
    max_spread: float


def repeats(path: Path) -> Iterator[Repeats]:
    """Every table with such plans. Raises DataError."""
    seconds: dict[tuple[str, str], list[float]] = {}
    for case in (case for _, case in steps(path) if not case.open):
        software = [getattr(case.software, name) for name in ("states", "optimizer", "lora", "base", "loss")]
        trained = f"{case.stack} {software}"
        plan = f"{case.model!r} {case.model.context} {case.gpus} {trained} {sorted(case.plan.items())}"
        seconds.setdefault((case.group, plan), []).append(case.seconds)
    spreads: dict[str, list[float]] = {}
    for (group, _), found in seconds.items():
        if len(found) > 1:
            spreads.setdefault(group, []).append(max(found) / min(found) - 1)
    for group, found in sorted(spreads.items()):
        yield Repeats(group, len(found), median(found), max(found))


def repeats_table(found: Iterable[Repeats]) -> str:
    """The same as text."""
    return _table(Repeats._fields, list(found))


def kept_repeats(path: Path = REPEATS) -> list[Repeats]:
    """What is kept of it."""
    with path.open(encoding="utf-8") as file:
        return [
            Repeats(r["set"], int(r["plans"]), float(r["median_spread"]), float(r["max_spread"]))
            for r in csv.DictReader(file)
        ]


def scores_table(result: Report) -> str:
    """The scores of training and its memory, as text; of rows that constants are fitted to."""
    return _table(Score._fields, [s for s in result.training + result.together if not s.set.endswith(UNSEEN)])


def kept_scores(path: Path = SCORES) -> list[Score]:
    """The scores as they are kept."""
    found = []
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            counts = {name: int(row[name]) for name in ("rows", "constants", "too_large")}
            texts = {name: row[name] for name in ("set", "worst", "kind")}
            texts |= {name: row[name] == "True" for name in ("peer_all", "typical")}
            rest = {k: float(v) for k, v in row.items() if k not in counts and k not in texts}
            found.append(Score(**counts, **texts, **rest))  # type: ignore[arg-type]
    return found


def held_out(path: Path) -> Iterator[HeldOut]:
    """Every fitted stack, its own constants fitted anew to each fold of its plans. Raises DataError."""
    pairs = steps(path)
    for stack in stacks.values():
        free = stack.fitted
        cases = rows_of(stack, pairs) if stack.rows else []
        if not cases or not free:
            continue
        error, held = mean_error(stack, alike(cases)), math.nan
        if len(cases) >= 2 * len(free) + 2:
            one, two = folds(cases, plan_of)
            if min(len(one), len(two)) >= len(free):
                seen = [(mean_error(fit_stack(stack, a, free), alike(b)), len(b)) for a, b in ((one, two), (two, one))]
                held = sum(e * n for e, n in seen) / len(cases)
        yield HeldOut(stack.key, len(cases), len(free), error, held)


def held_out_table(found: Iterable[HeldOut]) -> str:
    """The same as text."""
    return _table(HeldOut._fields, list(found))


def kept_held_out(path: Path = HELD_OUT) -> list[HeldOut]:
    """What is kept of it."""
    with path.open(encoding="utf-8") as file:
        return [
            HeldOut(r["stack"], int(r["rows"]), int(r["constants"]), float(r["error"]), float(r["held_out"]))
            for r in csv.DictReader(file)
        ]


def _table(names: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([f"{x:.4g}" if isinstance(x, float) else x for x in row] for row in rows)
    return out.getvalue()
