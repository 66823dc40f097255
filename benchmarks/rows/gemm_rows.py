"""Which measured matrix products the book keeps: hwlib/specs/measured_gemm.csv, a few for each chip and dtype.

`python -m benchmarks.fidelity --choose` writes that table anew.
"""

import math
from collections.abc import Sequence
from pathlib import Path

from benchmarks.rows.published import Product, case_of, rows_to_fit
from hwlib.specs import MeasuredGemm

KEPT = (
    ("a100-80gb-sxm", "bf16"),
    ("h100-sxm", "bf16"),
    ("h100-sxm", "fp8"),
    ("b200-sxm", "bf16"),
    ("b200-sxm", "fp8"),
)
BINS = 4


def read_gemms(path: Path) -> dict[tuple[str, str], list[MeasuredGemm]]:
    """The products of a table by chip and dtype. Raises DataError, as `read_rows` and `case_of` do."""
    sets: dict[tuple[str, str], list[MeasuredGemm]] = {}
    for row in rows_to_fit(path):
        case = case_of(row, path)
        if isinstance(case, Product):
            gemm = MeasuredGemm(case.chip, case.dtype, *case.shape, row.config.get("backend", ""), row.source)
            sets.setdefault((case.chip, case.dtype), []).append(gemm)
    return sets


def choose(gemms: Sequence[MeasuredGemm]) -> list[MeasuredGemm]:
    """A few rows spread over shapes: in each cell of a 4 x 4 log grid over M and N*K, the row nearest its
    centre.

    Times play no part in the choice. A cell without a row gives none.
    """
    points = [(math.log(g.M), math.log(g.N * g.K)) for g in gemms]
    low = [min(axis) for axis in zip(*points, strict=True)]
    width = [(max(axis) - l) / BINS or 1.0 for axis, l in zip(zip(*points, strict=True), low, strict=True)]
    best: dict[tuple[int, ...], tuple[float, MeasuredGemm]] = {}
    for g, point in sorted(zip(gemms, points, strict=True)):
        place = [(x - l) / w for x, l, w in zip(point, low, width, strict=True)]
        cell = tuple(min(int(p), BINS - 1) for p in place)
        far = sum((p - c - 0.5) ** 2 for p, c in zip(place, cell, strict=True))
        if cell not in best or far < best[cell][0]:
            best[cell] = (far, g)
    return [best[cell][1] for cell in sorted(best)]


def table_lines(sets: dict[tuple[str, str], list[MeasuredGemm]]) -> list[str]:
    """The lines of hwlib/specs/measured_gemm.csv."""
    lines = ["chip,dtype,M,N,K,time_us,backend,source"]
    for key in KEPT:
        for g in choose(sets.get(key, [])) if key in sets else []:
            source = "aiconfigurator " + g.source.split(" ")[1]
            lines.append(f"{g.chip},{g.dtype},{g.M},{g.N},{g.K},{g.time * 1e6:.6g},{g.backend},{source}")
    return lines
