"""What `gpubook bandwidth` says of sound machines and of faults: `python -m benchmarks.score.bandwidth_scores`.

Every published table of a collective that the models speak about is written as nccl-tests prints it and judged. Of its
rows as few as possible may be called slow, and of faults that are planted in it as many as possible have to be found: a
fault is found where the largest size is slow and a cause names it. A table of a run with NVLS off is a fault of itself.
"""

from collections.abc import Iterable, Iterator, Sequence
from math import isnan, nan
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import click

from benchmarks.rows.published import ROWS
from benchmarks.score.sound_tables import CAUSES, NO_NVLS, SoundTable, faults, sound_tables

MOST_SLOW = 1 / 20
LEAST_FOUND = 19 / 20


class SoundScore(NamedTuple):
    """A sound table: how many rows are slow, fast or of unknown verdict, the error of each, and how many constants they
    are held against, which had a mean error of `held_out` on rows that were held back.
    """

    table: SoundTable
    slow: int
    fast: int
    unknown: int
    errors: tuple[float, ...]
    constants: int
    held_out: float

    @property
    def rows(self) -> int:
        return len(self.table.rows)


class FaultScore(NamedTuple):
    """A fault in a table, and whether it is seen; `costs` is how many times the largest size takes as long."""

    table: SoundTable
    fault: str
    costs: float
    seen: bool


def score_sound(table: SoundTable) -> SoundScore:
    """What is said of a sound table."""
    verdict = table.judged()
    kinds = [row.verdict for row in verdict.rows]
    errors = tuple(abs(row.share - 1) for row in verdict.rows)
    c = table.expected.constants
    counts = (kinds.count("slow"), kinds.count("fast"), kinds.count("unknown"))
    return SoundScore(table, *counts, errors, len(c.constants) if c else 0, c.held_out if c else nan)


def score_faults(table: SoundTable) -> Iterator[FaultScore]:
    """What is said of a table with each fault that can be in it."""
    for fault, faulty in faults(table):
        yield FaultScore(table, fault, faulty.rows[-1].time / table.rows[-1].time, is_found(faulty, fault))
    if not table.switch and table.node.chip.key != "a100-80gb-sxm":
        yield from _published_without_switch(table)


def _published_without_switch(table: SoundTable) -> Iterator[FaultScore]:
    """A run with NVLS off, where the switch would have been quicker."""
    expected, last = table.expected, table.rows[-1]
    if expected.ring and expected.ring(last.S) > 1.05 * expected.time(last.S):
        yield FaultScore(table, NO_NVLS, last.time / expected.time(last.S), is_found(table, NO_NVLS))


def is_found(table: SoundTable, fault: str) -> bool:
    """Whether the largest size is slow, and a cause names the fault."""
    verdict = table.judged()
    return verdict.rows[-1].verdict == "slow" and bool(CAUSES[fault] & {cause.kind for cause in verdict.causes})


def page(tables: Iterable[SoundTable]) -> Iterator[str]:
    """The report, line by line."""
    tables = list(tables)
    sound = [score_sound(table) for table in tables if table.switch]
    yield f"{'sound tables':<46}{'ranks':>6}{'rows':>6}{'slow':>6}{'fast':>6}{'unknown':>9}{'error':>8}  constants"
    for score in sound:
        name = f"{score.table.name}{'' if score.table.rests else ' (not fitted)'}"
        counts = f"{score.table.n:>6}{score.rows:>6}{score.slow:>6}{score.fast:>6}{score.unknown:>9}"
        yield f"{name[:46]:<46}{counts}{fmean(score.errors):>8.1%}{score.constants:>11}"
    for words, some in (
        ("all rows", sound),
        ("rows that constants rest on", [score for score in sound if score.table.rests]),
        ("rows that they do not", [score for score in sound if not score.table.rests]),
    ):
        if some:
            yield share(words, sum(score.slow for score in some), sum(score.rows for score in some), "slow")
    yield share("tables", sum(score.slow == 0 for score in sound), len(sound), "without a slow row")
    yield from systems([score for score in sound if score.table.collective == "all_reduce"])
    planted = [fault for table in tables for fault in score_faults(table)]
    for fault in CAUSES:
        of_kind = [score for score in planted if score.fault == fault]
        yield share(fault, sum(score.seen for score in of_kind), len(of_kind), "found")
    yield share("all faults", sum(score.seen for score in planted), len(planted), "found")
    for score in planted:
        if not score.seen:
            where = f"{score.table.name}, {score.table.n} ranks"
            yield f"  not found: {score.fault} in {where}, {score.costs:.2f} times as long"


def systems(sound: Iterable[SoundScore]) -> Iterator[str]:
    """All-reduces by system: the fit's rows under constants that had not seen them, and rows of other sources or other
    numbers of ranks, which no constant was fitted to.
    """
    by_system: dict[str, list[SoundScore]] = {}
    for score in sound:
        by_system.setdefault(score.table.system, []).append(score)
    yield f"{'all-reduce':<46}{'constants':>10}{'rows':>6}{'held out':>10}{'other rows':>12}{'error':>8}"
    for system, some in sorted(by_system.items()):
        rests = [score for score in some if score.table.rests]
        others = [error for score in some if not score.table.rests for error in score.errors]
        held = [score.held_out for score in rests for _ in score.errors]
        counts = f"{max(score.constants for score in some):>10}{len(held):>6}"
        yield f"{system:<46}{counts}{mean(held):>10}{len(others):>12}{mean(others):>8}"


def mean(errors: Sequence[float]) -> str:
    """The mean of errors in words, a dash where there are none, or none is known."""
    return f"{fmean(errors):.1%}" if errors and not isnan(fmean(errors)) else "-"


def share(words: str, part: int, whole: int, verdict: str) -> str:
    """A line of the report."""
    return f"{words}: {part} of {whole} {verdict} ({part / max(whole, 1):.1%})"


@click.command(help=__doc__)
@click.option(
    "--data", type=click.Path(path_type=Path, exists=True), default=ROWS, help="other rows than the project's"
)
def main(data: Path) -> None:
    """Print the report."""
    print("\n".join(page(sound_tables(data))))


if __name__ == "__main__":
    main()
