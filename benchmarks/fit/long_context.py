"""What slows long sequences, attention's own kernels or the ring of ranks that share one: `python -m
benchmarks.fit.long_context`.

Rows with context parallelism alone cannot tell the two apart. NVIDIA printed, of one model, batch and machine, the best
plan with it and the best without; of the latter the degrees are not printed, so the quickest plan that surely fits
stands in its place. The table has, for T_A and `eta_cp` (hwlib.specs.stack), the mean error of three kinds of rows with
`eta_A` fitted to the first two: with a ring, without, and best plans without. Kernels that ran long enough to meet the
chip's limit of power (`sustained_half_length`) say T_A by themselves.
"""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import click

from benchmarks.rows.published import ROWS, steps
from benchmarks.rows.training_step import TrainingStep
from hwlib.planner import plan
from hwlib.planner.fits import surely
from hwlib.specs import MeasuredSplit, Stack, measured_splits, stacks

PLACES = {"h100-sxm": "dgx-h100", "b200-sxm": "dgx-b200"}
SOFTWARE = {"h100-sxm": "nemo-2024-h100", "b200-sxm": "nemo-2025-b200"}
"""The stacks of the releases whose pairs were measured, by chip."""
LONGEST = 2**17
"""Tokens of a sequence beyond which the plans without a ring were none that the planner has (tensor parallelism over
nodes), or recompute in a way that nobody printed."""
LENGTHS, SHARES = (0, 200, 400, 1000), (0.82, 0.88, 0.94, 1.0)
RATES = [0.25 + 0.005 * i for i in range(50)]


class SplitPair(NamedTuple):
    """The best measured plan with context parallelism, and the best without."""

    ring: MeasuredSplit
    alone: MeasuredSplit


class LongErrors(NamedTuple):
    """Mean errors of a stack: of rows with a ring, of rows without, and of the best plans without."""

    ring: float
    alone: float
    best: float


def split_pairs(chip: str = "") -> list[SplitPair]:
    """The measured pairs, of all chips or of one."""
    alone = {(row.chip, row.seq): row for row in measured_splits("no cp") if chip in ("", row.chip)}
    rings = [row for row in measured_splits("cp") if (row.chip, row.seq) in alone]
    return [SplitPair(row, alone[row.chip, row.seq]) for row in rings]


def machine_of_split(row: MeasuredSplit) -> str:
    """The nodes of a measured plan, in the planner's words."""
    node = PLACES[row.chip]
    return node if row.gpus <= 8 else f"{row.gpus // 8} x {node}"


def quickest_alone(row: MeasuredSplit, stack: Stack) -> float:
    """Seconds of the quickest plan without context parallelism that surely fits."""
    import numpy as np

    searched = plan(
        row.model,
        machine_of_split(row),
        B=row.gbs * row.seq,
        T=row.seq,
        gpus=row.gpus,
        dtype=row.dtype,
        stack=stack,
        cp=1,
    )
    return float(np.nanmin(np.where(surely(searched.task, searched.costed.memory), searched.costed.seconds, np.nan)))


def steps_of_software(path: Path = ROWS) -> dict[str, list[TrainingStep]]:
    """The steps of each chip's software, held-out ones too."""
    cases: dict[str, list[TrainingStep]] = {chip: [] for chip in SOFTWARE}
    for _, case in steps(path, every=True):
        if SOFTWARE.get(case.chip) == case.stack and not case.open:
            cases[case.chip].append(case)
    return cases


def row_errors(stack: Stack, cases: Sequence[TrainingStep]) -> tuple[float, float]:
    """Mean errors of the rows with a ring and without."""
    rings = [abs(case.time(stack) / case.seconds - 1) for case in cases if case.plan.get("cp", 1) > 1]
    alone = [abs(case.time(stack) / case.seconds - 1) for case in cases if case.plan.get("cp", 1) == 1]
    return fmean(rings), fmean(alone)


def errors_of(stack: Stack, cases: Sequence[TrainingStep]) -> LongErrors:
    """All three errors of a stack. A best plan's seconds are those of the row with a ring, times the printed gap."""
    measured = {case.plan["T"]: case.seconds for case in cases if case.plan.get("cp", 1) > 1}
    best = [
        abs(quickest_alone(ring, stack) / (measured[ring.seq] * ring.rate / alone.rate) - 1)
        for ring, alone in split_pairs(stack.chip)
        if ring.seq <= LONGEST
    ]
    return LongErrors(*row_errors(stack, cases), fmean(best))


def refitted(stack: Stack, cases: Sequence[TrainingStep]) -> Stack:
    """The stack with the rate of attention at which rows with a ring and without err least, both alike."""
    return min((stack.replace(eta_A=rate) for rate in RATES), key=lambda tried: sum(row_errors(tried, cases)))


def grid() -> Iterator[tuple[int, float, str, float, LongErrors]]:
    """T_A, eta_cp, chip, eta_A and errors, for all of both constants."""
    cases = steps_of_software()
    for length in LENGTHS:
        for share in SHARES:
            for chip, key in SOFTWARE.items():
                stack = refitted(stacks[key].replace(T_A=float(length), eta_cp=share), cases[chip])
                yield length, share, chip, stack.eta_A, errors_of(stack, cases[chip])


def sustained_rates(path: Path, shortest: int = 8192) -> dict[int, float]:
    """FLOP/s of causal attention over single sequences of at least so many tokens, by their length: of the slowest
    repeat, for by then the chip has met its limit of power. The file is one of `benchmarks.gpu`.
    """
    lines = [line for line in path.read_text("utf-8").splitlines() if not line.startswith("#")]
    rates = {}
    for row in csv.DictReader(lines):
        if row["kind"] == "attention":
            heads, dim, batch, length = _shape(row["shape"])
            if batch == 1 and length >= shortest:
                rates[length] = 2 * heads * dim * length**2 / float(row["high"])
    return rates


def _shape(text: str) -> tuple[int, int, int, int]:
    """Heads, their size, sequences and tokens, of "32/8 heads of 128, 1 x 1024"."""
    heads, sequences = text.split(", ")
    many, _, size = heads.partition(" heads of ")
    batch, length = sequences.split(" x ")
    return int(many.partition("/")[0]), int(size), int(batch), int(length)


def sustained_half_length(path: Path) -> float:
    """T_A by least squares: 1/rate is a straight line in 1/length, whose slope over its value at 0 it is."""
    import numpy as np

    rates = sustained_rates(path)
    lengths, reached = np.array(list(rates)), np.array(list(rates.values()))
    slope, at_zero = np.polyfit(1 / lengths, 1 / reached, 1)
    return float(slope / at_zero)


@click.command(help=__doc__)
def main() -> None:
    """Print the table, as Markdown."""
    print("| T_A | eta_cp | chip | eta_A | with a ring | without | best plans without |\n|--:|--:|:--|--:|--:|--:|--:|")
    for length, share, chip, rate, errors in grid():
        cells = " | ".join(f"{error:.1%}" for error in errors)
        print(f"| {length} | {share:.2f} | {chip} | {rate:.3f} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
