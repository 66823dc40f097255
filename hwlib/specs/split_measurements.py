"""What splitting a model among GPUs gave others: requests on tp GPUs, training with collectives beside products.

Two small tables: measured_requests.csv (the time of whole requests against the tensor-parallel degree) and
measured_splits.csv (training rates of plans that differ in one thing).
"""

from typing import NamedTuple

from hwlib.specs.measured import Measurements, of
from hwlib.units import TFLOP, ms


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


RATES = {"tokens/s": (1.0, "token/s"), "TFLOP/s": (TFLOP, "FLOP/s"), "%": (1e-2, "1")}

REQUESTS = Measurements("request", "measured_requests.csv", MeasuredRequest, "and", time=of("ms", ms))
SPLITS = Measurements(
    "plan",
    "measured_splits.csv",
    MeasuredSplit,
    "of",
    rate=lambda row: float(row["rate"]) * RATES[row["unit"]][0],
    unit=lambda row: RATES[row["unit"]][1],
)


def measured_requests(tp: int | None = None, batch: int | None = None) -> tuple[MeasuredRequest, ...]:
    """The measured requests, all or of one degree and batch. Raises ValueError, listing the known ones, if none is."""
    return REQUESTS.where(tp=tp, batch=batch)


def measured_splits(how: str | None = None, chip: str | None = None) -> tuple[MeasuredSplit, ...]:
    """The measured plans, all or of one comparison and chip. Raises ValueError, listing the known ones, if none is."""
    return SPLITS.where(how=how, chip=chip)
