"""How far a prediction may be off: by the errors of the measured rows that are most like what was asked.

A question has features (kinds of parallelism, precision, whether it spans nodes) and amounts (GPUs, tokens,
parameters). A measured row counts the less, the more it differs from these, and less still where the question has what
no row of its software has. As rows lose their weight, the error goes to that of constants that nobody fitted:

    error = (sum of weight x |error of a row| + ROWS x TYPICAL) / (sum of weight + ROWS)

over the `NEAREST` rows, with weight = exp(-distance). Of layers whose rates are typed (`TYPED`) no fit took an error
away that rows share: those of one source count together as one row, and the error that rows leave is not `TYPICAL` but
the mean of all sources that measured such layers, of any software, by the same figure. To a question without such
layers these rows say nothing.

A step that gives each of many GPUs less to do than any measured on half as many or more is further from all rows: no
constant costs for the number of ranks, for one that is fitted to all sources but one makes the steps of that one worse.
Errors are |ln(measured / predicted)|, so that half and twice the time are as far off. The constants are round values
near the likeliest; `benchmarks.score.error_scores` counts how many unseen rows lie in the intervals that follow from
them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf, log2
from statistics import fmean
from typing import NamedTuple

from hwlib.specs import Model
from hwlib.specs.prediction_errors import SERVING, TRAINING, Basis, PredictionError, prediction_errors

NEAREST = 8
"""Rows that decide."""
FEATURE, FURTHER, DOUBLING = 1 / 4, 1 / 8, 1 / 12
"""Distance of a feature that a row lacks (its chip is one), of one that the question lacks, and of a doubling of an
amount.
"""
KIN, OTHERS = 1.0, 2.0
"""Further distance of rows of the same software with other constants, of another chip or release; and, on a chip with
typed ones, of what was measured there of any software: both differ."""
UNSEEN = 1 / 2
"""Further distance of all rows, for each feature that none of them has: its constants were never checked for that."""
TYPICAL = 0.265
"""Mean error where constants were fitted to no step of a software on a chip, as of an average source."""
ROWS: Mapping[str, float] = {TRAINING: 0.3, SERVING: 1.0}
"""For how many near rows that counts."""
SAME = 1.01
"""An amount that exceeds another by no more is the same, rounded."""
HALF = 1.61
"""Four of five errors are below so many times their mean, if they are normal as well as if they are Laplace's."""
SHARE = 0.8
WORK = "parameters times tokens of a step and GPU, on so many GPUs"
"""What a GPU has to do between two meetings of all ranks; a doubling of the least that was measured counts as a feature
that no row has."""
MANY = 64
"""GPUs from which on that is asked."""

CHIP, FIRST = "chip", "first"
TYPED = frozenset({"state", "sparse"})
"""Layers whose rates are typed: no constant is fitted to a row that has them. A fitted row ends that."""
WORDS: Mapping[str, str] = {
    CHIP: "this chip",
    "dense": "a model without experts",
    "experts": "experts",
    "latent": "latent attention",
    "state": "layers that keep a state",
    "sparse": "sparse attention",
    "16bit": "products in 16 bits",
    "fp8": "products in 8 bits",
    "fp4": "products in 4 bits",
    "one-gpu": "a single GPU",
    "one-node": "a single node",
    "nodes": "several nodes",
    "tp": "tensor parallelism",
    "tp-out": "tensor parallelism across nodes",
    "cp": "context parallelism",
    "cp-out": "context parallelism across nodes",
    "ep": "expert parallelism",
    "ep-out": "experts across nodes",
    "pp": "a pipeline",
    "v": "an interleaved pipeline",
    "schedule": "a pipeline schedule other than 1F1B",
    "zero3": "ZeRO-3",
    "zero3-out": "ZeRO-3 across nodes",
    "hsdp": "HSDP",
    "kept": "no recomputation",
    "part": "recomputation of parts of a layer",
    "full": "full recomputation",
    "scores": "attention that keeps its scores",
    "adapters": "adapters beside frozen matrices",
    "offload": "states or activations on the host",
    "adp": "attention divided by sequences",
    "kv8": "a cache in 8 bits",
    "narrow": "weights in 8 or 4 bits with products in 16",
    "apart": "prompts read on GPUs of their own",
    "static": "batches that begin and end together",
    "steady": "requests that come and go",
    FIRST: "the time of a first token",
}
"""What a question or a row may have, in words."""
WIDER: Mapping[str, str] = {"tp-out": "tp", "cp-out": "cp", "ep-out": "ep", "zero3-out": "zero3", "v": "pp"}
"""Features that another implies: where both are new the wider is named, and counts once."""
AMOUNTS: Mapping[str, tuple[str, ...]] = {
    TRAINING: ("GPUs", "tokens a sequence", "parameters", "tokens of a step and GPU"),
    SERVING: ("GPUs of a server", "tokens a request", "parameters", "requests at once"),
}


@dataclass(frozen=True)
class Situation:
    """What is asked: TRAINING or SERVING by constants of `stack`, or `kin` of it, on a chip."""

    work: str
    stack: str
    chip: str
    features: frozenset[str]
    amounts: tuple[float, ...]
    kin: tuple[str, ...] = ()


class OutOfRange(NamedTuple):
    """An amount that no row of the software has: its name, what was asked, and what was measured."""

    name: str
    amount: float
    least: float
    most: float

    def __str__(self) -> str:
        words = (
            f"most measured: {count_words(self.most)}"
            if self.amount > self.most
            else f"least: {count_words(self.least)}"
        )
        name = self.name.replace("GPUs", "GPU") if self.amount == 1 else self.name
        return f"{count_words(self.amount)} {name} ({words})"

    @property
    def doublings(self) -> float:
        """How often the nearest measured amount is doubled, or halved."""
        return log2(max(self.amount / self.most, self.least / self.amount))


@dataclass(frozen=True)
class ExpectedError:
    """How far one answer may be off: `size` is the mean of |ln(measured / predicted)| that is to be expected, from the
    `nearest` rows. `rows` of the software were measured on the chip; none has a feature of `unseen`, words of WORDS, or
    an amount of `outside`.
    """

    size: float
    rows: int
    nearest: tuple[PredictionError, ...] = ()
    unseen: tuple[str, ...] = ()
    outside: tuple[OutOfRange, ...] = ()

    @property
    def mean(self) -> float:
        """The mean error that is to be expected, as a share of what is predicted."""
        return exp(self.size) - 1

    @property
    def most(self) -> float:
        """What SHARE of measurements are within, as a share of what is predicted."""
        return exp(HALF * self.size) - 1

    def interval(self, predicted: float) -> tuple[float, float]:
        """The interval in which SHARE of measurements lie."""
        factor = exp(HALF * self.size)
        return predicted / factor, predicted * factor

    @property
    def missing(self) -> tuple[str, ...]:
        """What of the question no measured row of the software has, in words."""
        return (*(WORDS[name] for name in self.unseen), *map(str, self.outside))


def expected_error(situation: Situation, rows: Sequence[PredictionError] | None = None) -> ExpectedError:
    """The error to expect of a prediction, from the rows of the table or others.

    >>> situation = Situation(TRAINING, "nobody", "h100-sxm", frozenset({"dense"}), (8, 4096, 8e9, 2**17))
    >>> f"{expected_error(situation).mean:.0%}"
    '30%'
    """
    table = prediction_errors(situation.work) if rows is None else rows
    typed_layers = _typed_layers(table)
    layers = situation.features & typed_layers
    every = [row for row in table if row.words & typed_layers <= layers]
    here = [row for row in every if row.stack == situation.stack]
    own = [row for row in here if row.basis != Basis.TYPICAL]
    kin = [row for row in every if row.stack in situation.kin]
    typed = [row for row in here if row.basis == Basis.TYPICAL]
    software = own or kin or typed
    unseen, outside = _unseen(situation, software), _outside(situation, software)
    new = len(unseen) + sum(amount.doublings for amount in outside if amount.name == WORK)
    away = [
        (further + distance(situation, row), row)
        for further, rows in ((0.0, own), (KIN, kin), (OTHERS, typed))
        for row in rows
    ]
    near = sorted(away, key=lambda pair: pair[0])[:NEAREST]
    sources = Counter(row.source for _, row in near)
    weights = [exp(-far - UNSEEN * new) / (sources[row.source] if layers else 1) for far, row in near]
    total = sum(weight * abs(row.error) for weight, (_, row) in zip(weights, near, strict=True))
    unfitted = _unfitted_error(situation, layers, every)
    size = (total + ROWS[situation.work] * unfitted) / (sum(weights) + ROWS[situation.work])
    return ExpectedError(size, len(own), tuple(row for _, row in near), unseen, outside)


def _typed_layers(rows: Sequence[PredictionError]) -> frozenset[str]:
    """Those of TYPED that no fitted row has."""
    return TYPED.difference(*(row.words for row in rows if row.basis == Basis.FITTED))


def _unfitted_error(situation: Situation, layers: frozenset[str], rows: Sequence[PredictionError]) -> float:
    """The mean error of constants that nobody fitted: of sources with rows of such layers, and of the same figure, if
    there are any.
    """
    first, sources = FIRST in situation.features, dict[str, list[float]]()
    for row in rows:
        if row.words & layers and (FIRST in row.words) is first:
            sources.setdefault(row.source, []).append(abs(row.error))
    return fmean(map(fmean, sources.values())) if sources else TYPICAL


def _unseen(situation: Situation, rows: Sequence[PredictionError]) -> tuple[str, ...]:
    """The features that no row has, without those that another implies."""
    seen: frozenset[str] = frozenset().union(*(row.words for row in rows))
    chip = frozenset() if any(row.chip == situation.chip for row in rows) else frozenset({CHIP})
    new = (situation.features | chip) - seen
    implied = {WIDER[name] for name in new if name in WIDER}
    return tuple(name for name in WORDS if name in new - implied) if rows else (CHIP,)


def _outside(situation: Situation, rows: Sequence[PredictionError]) -> tuple[OutOfRange, ...]:
    return tuple(_ranges(situation, rows)) if rows else ()


def _ranges(situation: Situation, rows: Sequence[PredictionError]) -> Iterator[OutOfRange]:
    for i, (name, amount) in enumerate(zip(AMOUNTS[situation.work], situation.amounts, strict=True)):
        measured = [row.amounts[i] for row in rows]
        least, most = min(measured), max(measured)
        if not least / SAME <= amount <= most * SAME:
            yield OutOfRange(name, amount, least, most)
    if situation.work == TRAINING and situation.amounts[0] >= MANY:
        yield from _little_work(situation.amounts, rows)


def _little_work(amounts: Sequence[float], rows: Sequence[PredictionError]) -> Iterator[OutOfRange]:
    """The work of a GPU, where no row has as little on at least half as many GPUs, or on the most of any row."""
    ranks, _, parameters, load = amounts
    many = min(ranks / 2, max(row.ranks for row in rows))
    least = min(row.parameters * row.load for row in rows if row.ranks >= many)
    if parameters * load * SAME < least:
        yield OutOfRange(WORK, parameters * load, least, inf)


def distance(situation: Situation, row: PredictionError) -> float:
    """How much a row differs from what is asked."""
    there = row.words
    lacked = len(situation.features - there) + (row.chip != situation.chip)
    features = FEATURE * lacked + FURTHER * len(there - situation.features)
    return features + DOUBLING * sum(abs(log2(x / y)) for x, y in zip(situation.amounts, row.amounts, strict=True))


def model_features(model: Model) -> frozenset[str]:
    """What a model has, in training as in serving: its MLPs and its kinds of layers."""
    has = {"latent": bool(model.mla), "state": bool(model.mixer), "sparse": bool(model.indexer)}
    return frozenset({"experts" if model.moe else "dense"} | {name for name, holds in has.items() if holds})


def count_words(x: float) -> str:
    """A number of anything in few characters: 70.6B, 8,192."""
    for size, letter in ((1e12, "T"), (1e9, "B"), (1e6, "M")):
        if x >= size:
            return f"{float(f'{x / size:.3g}'):g}{letter}"
    return f"{x:,.0f}"
