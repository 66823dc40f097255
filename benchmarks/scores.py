"""Scoring a file of measurements, set by set: what every report prints."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

from benchmarks.calculon import MEANS
from benchmarks.predictions import Prediction, predict
from benchmarks.published import Row, case_of, read_rows, sets
from benchmarks.training_step import Unmodelled

LISTED = ("kernel", "collective")  # kinds of which a set without a model is named
TRAINING = ("train-step", "memory")


class Score(NamedTuple):
    """The errors of one set, as fractions: 0.08 reads "off by 8 %".

    `peer_mean` is Calculon's mean error: over the same rows, or, where `peer_all`, over all rows of the table.
    """

    set: str
    rows: int
    mean_abs_error: float
    median_abs_error: float
    max_abs_error: float
    plain_mean: float
    constants: int
    peer_mean: float = math.nan
    peer_all: bool = False


class Report(NamedTuple):
    """The scored sets, training runs and memory apart; the rows without a model by set or kind, with the reason;
    and how many rows are context only.
    """

    scores: list[Score]
    trees: list[Score]
    training: list[Score]
    unmodelled: Counter[str]
    context: int


def score(name: str, predictions: Sequence[Prediction]) -> Score:
    """Mean, median and maximum error of a set's predictions."""
    errors = [p.error for p in predictions]
    peers = fmean(p.peer_error for p in predictions)
    known = MEANS.get(name, math.nan) if math.isnan(peers) else peers
    return Score(
        name, len(errors), fmean(errors), median(errors), max(errors), fmean(p.plain_error for p in predictions),
        max(p.constants for p in predictions), known, math.isnan(peers) and not math.isnan(known),
    )  # fmt: skip


def report(path: Path) -> Report:
    """Score every set of a file. Raises DataError, naming the file and the line at fault."""
    rows, context = read_rows(path)
    result = Report([], [], [], Counter(), context)
    for name, members in sets(rows):
        predicted: dict[Row, Prediction] = {}
        for row in members:
            prediction = predict(case_of(row, path))
            if isinstance(prediction, Prediction):
                predicted[row] = prediction
            elif isinstance(prediction, Unmodelled):
                result.unmodelled[f"{name}: {prediction.reason}"] += 1
            else:
                result.unmodelled[name if row.kind in LISTED else f"kind {row.kind}"] += 1
        if predicted:
            into = result.training if members[0].kind in TRAINING else result.scores
            into.append(score(name, list(predicted.values())))
        if name == "nvlstree":
            result.trees.extend(_by_gpus(predicted))
    result.scores.sort()
    result.training.sort()
    return result


def _by_gpus(predicted: dict[Row, Prediction]) -> Iterator[Score]:
    for gpus in sorted({row.gpus for row in predicted}):
        yield score(f"nvlstree, {gpus} GPUs", [p for row, p in predicted.items() if row.gpus == gpus])
