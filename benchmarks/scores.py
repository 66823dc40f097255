"""Scoring a file of measurements, set by set: what every report prints."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

from benchmarks.predictions import Prediction, predict
from benchmarks.published import Row, case_of, read_rows, sets

LISTED = ("kernel", "collective")  # the kinds that models here speak about: sets without one are named


class Score(NamedTuple):
    """The errors of one set, as fractions: 0.08 reads "off by 8 %"."""

    set: str
    rows: int
    mean_abs_error: float
    median_abs_error: float
    max_abs_error: float
    plain_mean: float
    constants: int


class Report(NamedTuple):
    """The scored sets, the rows without a model by set or kind, and how many rows are context only."""

    scores: list[Score]
    trees: list[Score]
    unmodelled: Counter[str]
    context: int


def score(name: str, predictions: Sequence[Prediction]) -> Score:
    """Mean, median and maximum error of a set's predictions."""
    errors = [p.error for p in predictions]
    return Score(
        name, len(errors), fmean(errors), median(errors), max(errors), fmean(p.plain_error for p in predictions),
        max(p.constants for p in predictions),
    )  # fmt: skip


def report(path: Path) -> Report:
    """Score every set of a file. Raises DataError, naming the file and the line at fault."""
    rows, context = read_rows(path)
    result = Report([], [], Counter(), context)
    for name, members in sets(rows):
        predicted = {row: prediction for row in members if (prediction := predict(case_of(row, path)))}
        if predicted:
            result.scores.append(score(name, list(predicted.values())))
        for row in members:
            if row not in predicted:
                result.unmodelled[name if row.kind in LISTED else f"kind {row.kind}"] += 1
        if name == "nvlstree":
            result.trees.extend(_by_gpus(predicted))
    result.scores.sort()
    return result


def _by_gpus(predicted: dict[Row, Prediction]) -> Iterator[Score]:
    for gpus in sorted({row.gpus for row in predicted}):
        yield score(f"nvlstree, {gpus} GPUs", [p for row, p in predicted.items() if row.gpus == gpus])
