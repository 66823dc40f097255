"""What splitting a model among GPUs gave others: requests on tp GPUs, training with collectives beside products.

Two small tables: measured_requests.csv (the time of whole requests against the tensor-parallel degree) and
measured_splits.csv (training rates of plans that differ in one thing).
"""

from functools import cache
from typing import NamedTuple

from hwlib.specs.table import csv_rows


class MeasuredRequest(NamedTuple):
    """`batch` prompts of `input` tokens read at once, and `output` tokens of each: `time` in seconds for the whole.

    `chip` is a key of `accelerators`, `tp` the GPUs that share each layer. `source` begins with a key of
    docs/references.bib.
    """

    chip: str
    tp: int
    batch: int
    input: int
    output: int
    time: float
    source: str


class MeasuredSplit(NamedTuple):
    """A training rate per GPU, as printed: in tokens/s, or in FLOP/s as the source counts them. Or a share of memory.

    `model` is a key of `models`, `gbs` the sequences of `seq` tokens of a step. `how` is "tp" or "async tp" (one plan
    with its tensor-parallel collectives alone, and beside the products), "cp" or "no cp" (the best plan with context
    parallelism, and the best without, whose other degrees are not printed: 0), or "kept, " and what was done to keep
    fewer activations, as a share of those of tensor parallelism alone. `source` as above.
    """

    chip: str
    model: str
    dtype: str
    seq: int
    gpus: int
    tp: int
    cp: int
    pp: int
    dp: int
    gbs: int
    how: str
    rate: float
    unit: str
    source: str


RATES = {"tokens/s": (1.0, "token/s"), "TFLOP/s": (1e12, "FLOP/s"), "%": (1e-2, "1")}
COUNTS = ("seq", "gpus", "tp", "cp", "pp", "dp", "gbs")


@cache
def _requests() -> tuple[MeasuredRequest, ...]:
    return tuple(
        MeasuredRequest(
            r["chip"], int(r["tp"]), int(r["batch"]), int(r["input"]), int(r["output"]), float(r["ms"]) * 1e-3,
            r["source"],
        )
        for r in csv_rows("measured_requests.csv")
    )  # fmt: skip


@cache
def _splits() -> tuple[MeasuredSplit, ...]:
    found = []
    for r in csv_rows("measured_splits.csv"):
        scale, unit = RATES[r["unit"]]
        seq, gpus, tp, cp, pp, dp, gbs = (int(r[name]) for name in COUNTS)
        rate = scale * float(r["rate"])
        plan = (seq, gpus, tp, cp, pp, dp, gbs)
        found.append(MeasuredSplit(r["chip"], r["model"], r["dtype"], *plan, r["how"], rate, unit, r["source"]))
    return tuple(found)


def measured_requests(tp: int | None = None, batch: int | None = None) -> tuple[MeasuredRequest, ...]:
    """The measured requests, all or of one degree and batch. Raises ValueError, listing the known ones, if none is."""
    rows = tuple(r for r in _requests() if tp in (None, r.tp) and batch in (None, r.batch))
    if not rows:
        known = ", ".join(dict.fromkeys(f"{r.tp} and {r.batch}" for r in _requests()))
        raise ValueError(f"no measured request of tp and batch {tp} and {batch}; known: {known}")
    return rows


def measured_splits(how: str | None = None, chip: str | None = None) -> tuple[MeasuredSplit, ...]:
    """The measured plans, all or of one comparison and chip. Raises ValueError, listing the known ones, if none is."""
    rows = tuple(r for r in _splits() if how in (None, r.how) and chip in (None, r.chip))
    if not rows:
        known = ", ".join(dict.fromkeys(f"{r.how} of {r.chip}" for r in _splits()))
        raise ValueError(f"no measured plan {how} of {chip}; known: {known}")
    return rows
