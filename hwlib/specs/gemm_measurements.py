"""Measured matrix products: the small table measured_gemm.csv, chosen from published benchmark files."""

from typing import NamedTuple

from hwlib.specs.measured import Measurements, of
from hwlib.units import us


class MeasuredGemm(NamedTuple):
    """One timed product [M, K] x [K, N] -> [M, N] on one chip (a key of `accelerators`); `time` in seconds.

    Operands are of `dtype` ("bf16" or "fp8"), the output is bfloat16. `source` is a key of
    docs/references.bib and the file in it. In this book's letters of a matmul, M is B, K is D and N is F.
    """

    chip: str
    dtype: str
    M: int
    N: int
    K: int
    time: float
    backend: str
    source: str


GEMMS = Measurements("gemm", "measured_gemm.csv", MeasuredGemm, time=of("time_us", us))


def measured_gemms(chip: str | None = None, dtype: str | None = None) -> tuple[MeasuredGemm, ...]:
    """The measured products, all or of one chip and dtype.

    Raises ValueError, listing the known ones, when the table has none.
    """
    return GEMMS.where(chip=chip, dtype=dtype)
