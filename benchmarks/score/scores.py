"""Scoring a file of measurements, set by set: what every report prints."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

from benchmarks.rows.allreduce_rows import LARGE
from benchmarks.rows.published import HELD_OUT, TRAINING, PublishedRow, case_of, read_rows, sets
from benchmarks.rows.published_row import DataError
from benchmarks.rows.reader_names import NONE
from benchmarks.rows.training_step import Unmodelled
from benchmarks.score.calculon import MEANS
from benchmarks.score.predictions import Prediction, predict

UNSEEN = ", not fitted"
"""At the end of the name of a set: its rows are of a table that constants are fitted to, but not among those."""
LISTED = ("kernel", "collective")  # kinds of which a set without a model is named
TOGETHER = (
    ("mbridge, Blackwell, Llama 3", r"mbridge-g?b\d00-llama3"),
    ("mbridge, Blackwell, others", r"mbridge-g?b\d00-others"),
    ("mosaic, all", r"mosaic-[^,]*"),
    ("vtrain, all", r"vtrain-[^,]*"),
    ("attention-context, all", r"attn-ctx-[^,]*"),
    ("attention-decode, all", r"attn-dec-[^,]*"),
    ("grouped-gemm, all", r"moe-[^,]*"),
)


class Score(NamedTuple):
    """The errors of one set, as fractions: 0.08 reads "off by 8 %".

    `peer_mean` is Calculon's mean error: over the same rows, or, where `peer_all`, over all rows of the table. `worst`
    is the id of the row with the largest error, and `worst_error` that error, positive where the model is too slow.
    `too_large` are the steps whose plan, as it was read, needs more memory than the chip has. `kind` is the rows', and
    `typical` says that no constant was fitted to this software on this chip. `read` is the share of the set's rows that
    have a prediction, with constants of their own or with typical ones: an error speaks of no others.
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
    worst: str = ""
    worst_error: float = math.nan
    too_large: int = 0
    kind: str = ""
    typical: bool = False
    read: float = math.nan


class ReadRows(NamedTuple):
    """How many of some rows have a prediction."""

    read: int
    rows: int

    def __add__(self, others: "ReadRows") -> "ReadRows":  # type: ignore[override]
        return ReadRows(self.read + others.read, self.rows + others.rows)

    @property
    def share(self) -> float:
        """The part that has; NaN of no rows."""
        return self.read / self.rows if self.rows else math.nan


class Report(NamedTuple):
    """The scored sets; training runs and memory, and what several of their tables are together; apart from these,
    steps predicted with typical constants; the rows without a model by set or kind, with the reason; how many rows
    are context only; each row without a prediction by its place, with the reason, but for those whose column `reader`
    says that they have none; and how many rows of each kind have one.
    """

    scores: list[Score]
    trees: list[Score]
    training: list[Score]
    together: list[Score]
    typical: list[Score]
    unmodelled: Counter[str]
    context: int
    unpredicted: list[str]
    read: dict[str, ReadRows]


def score(name: str, predicted: Mapping[PublishedRow, Prediction], read: float = math.nan) -> Score:
    """Mean, median and maximum error of a set's predictions, of which such a share was read."""
    errors = {row: p.error for row, p in predicted.items()}
    worst = max(errors, key=errors.__getitem__)
    peers = fmean(p.peer_error for p in predicted.values())
    known = MEANS.get(name, math.nan) if math.isnan(peers) else peers
    return Score(
        set=name,
        rows=len(errors),
        mean_abs_error=fmean(errors.values()),
        median_abs_error=median(errors.values()),
        max_abs_error=errors[worst],
        plain_mean=fmean(p.plain_error for p in predicted.values()),
        constants=max(p.constants for p in predicted.values()),
        peer_mean=known,
        peer_all=math.isnan(peers) and not math.isnan(known),
        worst=worst.cells["id"],
        worst_error=predicted[worst].time / predicted[worst].measured - 1,
        too_large=sum(p.memory > 1 for p in predicted.values()),
        kind=worst.kind,
        typical=any(p.typical for p in predicted.values()),
        read=read,
    )


def report(path: Path) -> Report:
    """Score every set of a file. A row at fault is listed, with its line. Raises DataError for a file that is no
    table.
    """
    rows, context = read_rows(path)
    result = Report([], [], [], [], [], Counter(), context, [], {})
    runs: dict[str, tuple[dict[PublishedRow, Prediction], ReadRows]] = {}
    for name, members in sets(rows):
        for seen in (True, False):
            of_use = [row for row in members if (row.cells["use"] != HELD_OUT) is seen]
            predicted, guessed = _predictions(name, of_use, path, result)
            title = name if seen else name + UNSEEN
            kind, taken = members[0].kind, {*predicted, *(row for some in guessed.values() for row in some)}
            counted = ReadRows(len(taken), len(of_use))
            for row in of_use:
                result.read[row.kind] = result.read.get(row.kind, ReadRows(0, 0)) + ReadRows(row in taken, 1)
            if predicted:
                into = result.training if kind in TRAINING else result.scores
                into.append(score(title, predicted, counted.share))
                runs[title] = predicted, counted
                result.trees.extend(part._replace(read=counted.share) for part in _parts(title, predicted))
            result.typical.extend(score(f"{title}: {key}", some, counted.share) for key, some in guessed.items())
    result.scores.sort()
    result.training.sort()
    result.typical.sort()
    result.together.extend(_together(runs))
    return result


def _predictions(
    name: str, rows: Sequence[PublishedRow], path: Path, result: Report
) -> tuple[dict[PublishedRow, Prediction], dict[str, dict[PublishedRow, Prediction]]]:
    """The rows of a set with constants of their own, and those with typical ones, by whose; the others are listed."""
    predicted: dict[PublishedRow, Prediction] = {}
    guessed: dict[str, dict[PublishedRow, Prediction]] = {}
    for row in rows:
        prediction = _prediction(row, path)
        if isinstance(prediction, Prediction):
            (guessed.setdefault(prediction.typical, {}) if prediction.typical else predicted)[row] = prediction
        else:
            _list(name, row, prediction, result)
    return predicted, guessed


def _prediction(row: PublishedRow, path: Path) -> Prediction | Unmodelled | None:
    """What is predicted of a row; one that lacks what its kind needs has no prediction, and stops no others'."""
    try:
        return predict(case_of(row, path))
    except DataError as error:
        return Unmodelled(re.sub(r".*?, line \d+: ", "", str(error), count=1))
    except (ArithmeticError, KeyError, TypeError, ValueError) as error:  # a cell that holds what none of its name does
        return Unmodelled(f"config holds what the model cannot take: {error}")


def _list(name: str, row: PublishedRow, prediction: Unmodelled | None, result: Report) -> None:
    """Count and name a row of a set that has no prediction."""
    reason = prediction.reason if prediction else f"no model speaks about this {row.kind}"
    place = f"{row.file + ', ' if row.file else ''}line {row.line}, {row.cells['id']}"
    line = f"{place}: {reason.removeprefix(f'line {row.line}: ')}"
    if prediction:
        result.unmodelled[f"{name}: {reason}"] += 1
    else:
        result.unmodelled[name if row.kind in LISTED else f"kind {row.kind}"] += 1
    if row.cells.get("reader") != NONE and line not in result.unpredicted:  # a step and its memory are a line
        result.unpredicted.append(line)


def _together(runs: Mapping[str, tuple[dict[PublishedRow, Prediction], ReadRows]]) -> Iterator[Score]:
    """What several sets are together, those that constants are fitted to apart from the others."""
    for title, pattern in TOGETHER:
        for end in ("", UNSEEN):
            found = [run for name, run in runs.items() if re.fullmatch(pattern + end, name)]
            if len(found) > 1:
                counted = sum((counted for _, counted in found), ReadRows(0, 0))
                yield score(title + end, dict(item for some, _ in found for item in some.items()), counted.share)


def _parts(name: str, predicted: dict[PublishedRow, Prediction]) -> Iterator[Score]:
    """All-reduces on several nodes by how many GPUs, and by size."""
    nvlstree = name.removesuffix(UNSEEN) == "nvlstree"
    if nvlstree:
        yield from _by_gpus(name, predicted)
    if nvlstree or next(iter(predicted)).kind == "allreduce":
        yield from _by_size(name, predicted)


def _by_gpus(name: str, predicted: dict[PublishedRow, Prediction]) -> Iterator[Score]:
    for gpus in sorted({row.gpus for row in predicted}):
        yield score(f"{name}, {gpus} GPUs", {row: p for row, p in predicted.items() if row.gpus == gpus})


def _by_size(name: str, predicted: dict[PublishedRow, Prediction]) -> Iterator[Score]:
    for words, large in (("below 64 MiB", False), ("64 MiB and more", True)):
        if some := {row: p for row, p in predicted.items() if (row.config["bytes"] >= LARGE) == large}:
            yield score(f"{name}, {words}", some)
