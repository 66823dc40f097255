"""Measured matrix products: the small table measured_gemm.csv, chosen from published benchmark files."""

from functools import cache
from typing import NamedTuple

from hwlib.specs.table import csv_rows


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


@cache
def _table() -> tuple[MeasuredGemm, ...]:
    return tuple(
        MeasuredGemm(
            r["chip"], r["dtype"], int(r["M"]), int(r["N"]), int(r["K"]),
            float(r["time_us"]) * 1e-6, r["backend"], r["source"],
        )
        for r in csv_rows("measured_gemm.csv")
    )  # fmt: skip


def measured_gemms(chip: str | None = None, dtype: str | None = None) -> tuple[MeasuredGemm, ...]:
    """The measured products, all or of one chip and dtype.

    Raises ValueError, listing the known ones, when the table has none.
    """
    rows = tuple(r for r in _table() if chip in (None, r.chip) and dtype in (None, r.dtype))
    if not rows:
        sets = sorted({f"{r.chip} {r.dtype}" for r in _table()})
        raise ValueError(f"no measured gemm of {chip} {dtype}; known: {', '.join(sets)}")
    return rows
