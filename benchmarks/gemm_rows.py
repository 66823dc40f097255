"""Published matrix products: reading a table of them, and choosing the few that the book keeps.

The table is a CSV with at least the columns system, config (JSON with M, N, K and dtype), measured_value,
unit ("us" or "TFLOP/s") and source; rows without a shape are no matrix products and are passed over.
"""

import csv
import json
import math
from collections.abc import Sequence
from pathlib import Path

from hwlib.specs import MeasuredGemm

COLUMNS = ("system", "config", "measured_value", "unit", "source")
CHIPS = {"a100_sxm": "a100-80gb-sxm", "h100_sxm": "h100-sxm", "b200_sxm": "b200-sxm", "H800": "h800-sxm"}
DTYPES = {"bfloat16": "bf16", "bf16": "bf16", "fp8": "fp8", "fp8->bf16": "fp8", "nvfp4": "fp4"}
KEPT = (
    ("a100-80gb-sxm", "bf16"), ("h100-sxm", "bf16"), ("h100-sxm", "fp8"),
    ("b200-sxm", "bf16"), ("b200-sxm", "fp8"),
)  # fmt: skip
BINS = 4


class DataError(ValueError):
    """A file that is no such table; the message names the file, the line, and what was expected."""


def read_gemms(path: Path) -> dict[tuple[str, str], list[MeasuredGemm]]:
    """The products of a table by chip and dtype, without those marked "context only" (recollections, never
    scored).
    """
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read {path}: {error}") from None
    reader = csv.DictReader(lines)
    if missing := [c for c in COLUMNS if c not in (reader.fieldnames or ())]:
        raise DataError(f"{path} has no column {', '.join(missing)}; expected {', '.join(COLUMNS)}")
    sets: dict[tuple[str, str], list[MeasuredGemm]] = {}
    for row in reader:
        try:
            gemm = _gemm(row)
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"{path}, line {reader.line_num}: {type(error).__name__}: {error}") from None
        if gemm:
            sets.setdefault((gemm.chip, gemm.dtype), []).append(gemm)
    if not sets:
        raise DataError(f"{path} has no matrix product of {', '.join(CHIPS)}")
    return sets


def _gemm(row: dict[str, str]) -> MeasuredGemm | None:
    config = json.loads(row["config"])
    if "M" not in config or row["system"] not in CHIPS or row.get("use", "").startswith("context only"):
        return None
    M, N, K, value = int(config["M"]), int(config["N"]), int(config["K"]), float(row["measured_value"])
    if row["unit"] not in ("us", "TFLOP/s"):
        raise ValueError(f"the unit is us or TFLOP/s, not {row['unit']!r}")
    time = value * 1e-6 if row["unit"] == "us" else 2 * M * N * K / (value * 1e12)
    dtype = DTYPES[config["dtype"]]
    return MeasuredGemm(CHIPS[row["system"]], dtype, M, N, K, time, config.get("backend", ""), row["source"])


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
