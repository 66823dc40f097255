"""How well three constants predict measured matrix products: `python -m benchmarks.fidelity --data FILE`.

For each chip and dtype in the table (see `benchmarks.gemm_rows` for its columns), the kernel model is fitted
on one half of the rows and scored on the other. Beside it, on the same rows, stand the plain roofline (two
constants, those of the data sheet) and the peak rate alone. `--choose` prints instead the rows that the book
keeps, as CSV.
"""

import sys
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

import click

from benchmarks.gemm_rows import DataError, halves, read_gemms, table_lines
from hwlib.roofline import (
    KernelModel,
    compute_time,
    fit_kernel_model,
    gemm_samples,
    relative_errors,
    roofline_time,
)
from hwlib.specs import MeasuredGemm, accelerators

ENOUGH = 8  # four rows to fit three constants, four to score


class Score(NamedTuple):
    """Absolute relative errors on rows that a model has not seen: 0.08 reads "off by 8 %"."""

    mean: float
    median: float
    max: float


class Fidelity(NamedTuple):
    """One set of rows: the fitted model, and the scores of three predictions on the same held-out rows."""

    chip: str
    dtype: str
    fitted: int
    scored: int
    model: KernelModel
    kernel: Score
    roofline: Score
    peak: Score


def score(predicted: list[float], measured: list[float]) -> Score:
    """Mean, median and maximum of |predicted - measured|/measured."""
    errors = [abs(e) for e in relative_errors(predicted, measured)]
    return Score(fmean(errors), median(errors), max(errors))


def fidelity(gemms: list[MeasuredGemm]) -> Fidelity:
    """Fit on one half of the rows of one chip and dtype, score on the other."""
    chip, dtype = gemms[0].chip, gemms[0].dtype
    C, W = accelerators[chip].flops(dtype), accelerators[chip].hbm_bandwidth
    train, test = map(gemm_samples, halves(gemms))
    model = fit_kernel_model(train, C, W)
    times = [s.time for s in test]
    return Fidelity(
        chip, dtype, len(train), len(test), model,
        score([model.time(s.flops, s.bytes) for s in test], times),
        score([roofline_time(s.flops, s.bytes, C, W) for s in test], times),
        score([compute_time(s.flops, C) for s in test], times),
    )  # fmt: skip


def lines(results: list[Fidelity]) -> list[str]:
    """The table: per set the constants, the model's errors, and how many times larger the others' mean error
    is.
    """
    head = f"{'chip':14}{'dtype':6}{'fit':>5}{'score':>6}{'eta_C':>7}{'eta_W':>7}{'t0 [us]':>9}"
    head += f"{'mean':>8}{'median':>8}{'max':>8}{'roofline':>18}{'peak only':>18}"
    out = [head]
    for r in results:
        m, k = r.model, r.kernel
        out.append(
            f"{r.chip:14}{r.dtype:6}{r.fitted:5}{r.scored:6}{m.eta_C:7.2f}{m.eta_W:7.2f}{m.t0 * 1e6:9.2f}"
            f"{k.mean:8.1%}{k.median:8.1%}{k.max:8.1%}"
            + "".join(f"{s.mean:10.1%} ({s.mean / k.mean:4.1f}x)" for s in (r.roofline, r.peak))
        )
    out.append("Errors are |predicted - measured|/measured, on rows that the fit has not seen; in brackets")
    out.append("how many times larger the mean error is of the data sheet's roofline, and of its peak alone.")
    return out


@click.command(help=__doc__)
@click.option("--data", type=click.Path(path_type=Path), required=True, help="a CSV of measurements")
@click.option("--choose", is_flag=True, help="print the rows that the book keeps")
def main(data: Path, choose: bool) -> None:
    """Print the table of fidelity."""
    try:
        sets = read_gemms(data)
    except DataError as error:
        sys.exit(str(error))
    if choose:
        print("\n".join(table_lines(sets)))
        return
    print("\n".join(lines([fidelity(rows) for _, rows in sorted(sets.items()) if len(rows) >= ENOUGH])))
    for (chip, dtype), rows in sorted(sets.items()):
        if len(rows) < ENOUGH:
            print(f"{chip} {dtype}: {len(rows)} rows, at least {ENOUGH} are needed")


if __name__ == "__main__":
    main()
