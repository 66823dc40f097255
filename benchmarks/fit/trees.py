"""All-reduces on several nodes: what each entry of hwlib's table is fitted to, and its errors fold by fold.

Two constants are fitted where there are rows enough, at least eight for each: the latency of a doubling of the nodes,
and the bandwidth; of a ring through all racks the bandwidth alone. The others are known: a call's latency inside a node
is that of the sweep in the node, and what a stage holds is channels x ranks of a node x chunk, as NCCL's source sets
them (16 channels on Hopper, 32 on Blackwell; 64 KiB from four nodes on), or Amazon's plugin for p5 (512 KiB). On
p6-b200 the plugin's chunk would be a third too slow: NCCL seems to take another algorithm there, so that its own chunk
stands.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from benchmarks.fit.folds import folds
from benchmarks.rows.allreduce_rows import LARGE, NodesAllReduce
from benchmarks.rows.published import Case, Collective, PublishedRow, case_of, rows_to_fit
from hwlib.calibrated import Timed, fit_collective, tree_time
from hwlib.specs.fitted import TreeConstants, tree_constants

ROWS_EACH = 8
MOST = 512  # GPUs of the NVLSTree rows that are fitted: larger machines are predicted, never fitted
KiB, MiB = 2.0**10, 2.0**20


class FitTree(NamedTuple):
    """What one entry is fitted to: rows by their sets' names; which constants are free, and the values of the rest."""

    chip: str
    network: str
    sets: tuple[str, ...]
    node: int
    inside: str
    free: tuple[str, ...]
    typed: dict[str, Any]
    note: str
    stages: str = "doublings"
    like: tuple[str, ...] = ()
    least: int = 0  # ranks of the rows, at least and at most
    most: int = MOST


TREES = (
    FitTree(
        "h100-sxm", "NVLSTree", ("nvlstree",), 8, "nccl-tests", ("alpha_level", "W"),
        {"S_stage": 16 * 8 * 64 * KiB}, "S_stage: 16 channels x 8 ranks x 64 KiB (nccl-enqueue)", like=("h200-sxm",),
    ),
    FitTree(
        "h100-sxm", "EFA", ("ar2-p5-2x8",), 8, "nccl-tests", ("alpha_level", "W"),
        {"S_stage": 16 * 8 * 512 * KiB}, "S_stage: 16 channels x 8 ranks x 512 KiB (aws-ofi-nccl, for p5)",
        like=("h200-sxm",),
    ),
    FitTree(
        "b200-sxm", "EFA", ("ar2-b200-4x8", "ar-b200x32"), 8, "torch", ("alpha_level",),
        {"S_stage": 32 * 8 * 64 * KiB, "W": 400e9},
        "S_stage: 32 channels x 8 ranks x 64 KiB (nccl-enqueue); W: the eight cards of a node, 400 Gbit/s each",
        like=("b300-sxm",),
    ),
    FitTree(
        "gb200-nvl72", "InfiniBand SHARP", ("ar2-gb200", "ar2-gb200-in"), 72, "nccl-tests", ("W",),
        {"S_stage": 32 * 72 * 64 * KiB, "alpha_level": 46e-6},
        "S_stage: 32 channels x 72 ranks x 64 KiB (nccl-enqueue); alpha_level: that of NVLSTree on H100",
        stages="one", like=("gb300-nvl72",),
    ),
    FitTree(
        "gb200-nvl72", "InfiniBand SHARP, ring", ("ar2-gb200", "ar2-gb200-in"), 72, "nccl-tests", ("W",), {},
        "the start of a call grows as that of a ring through all ranks, by the steps of the sweep inside a rack",
        stages="ring", like=("gb300-nvl72",), least=MOST + 1, most=1440,
    ),
)  # fmt: skip


def rows_of(tree: FitTree, cases: Iterable[tuple[PublishedRow, Case]]) -> Iterator[tuple[PublishedRow, Timed]]:
    """The rows that an entry is fitted to: none whose values were inferred, and none beyond its ranks."""
    for row, case in cases:
        if not isinstance(case, NodesAllReduce | Collective) or row.set not in tree.sets:
            continue
        if tree.least <= case.timed.n <= tree.most and "inferred" not in row.cells["confidence"]:
            yield row, case.timed


def tree_errors(c: TreeConstants, rows: Iterable[Timed]) -> list[float]:
    """|predicted - measured|/measured of each row."""
    return [abs(tree_time(c, t.n, t.S) / t.time - 1) for t in rows]


def fit_tree(tree: FitTree, rows: Iterable[Timed]) -> TreeConstants:
    """The entry with its free constants fitted to these rows."""
    kept = tree_constants()[tree.chip, tree.network]
    return fit_collective(replace(kept, **tree.typed), rows, tree.free)


class Held(NamedTuple):
    """Errors of each of two folds under the constants fitted to the other: rows and mean error, then constants."""

    name: str
    n0: int
    error0: float
    n1: int
    error1: float
    constants: int


def folds_report(path: Path) -> Iterator[Held]:
    """The folds of every entry that a file has rows for, dealt by machine, ranks and bytes; large and small apart."""
    rows = rows_to_fit(path)
    cases = [(row, case_of(row, path)) for row in rows]
    for tree in TREES:
        found = list(rows_of(tree, cases))
        if len(found) >= ROWS_EACH:
            yield from _held(tree, folds(found, lambda pair: f"{pair[0].set} {pair[1].n} {pair[1].S:.0f}"))


def growth_report(path: Path) -> Iterator[Held]:
    """NVLSTree fitted to at most 128 GPUs and scored on 256 and 512; then fitted to 256, scored on 512 only."""
    rows = rows_to_fit(path)
    tree = TREES[0]
    timed = [t for _, t in rows_of(tree, [(row, case_of(row, path)) for row in rows if row.set in tree.sets])]
    for most in (128, 256):
        seen = [t for t in timed if t.n <= most]
        if len(seen) < ROWS_EACH * len(tree.free):
            continue
        c = fit_tree(tree, seen)
        scored = [[t for t in timed if t.n == n and n > most] for n in (256, 512)]
        means = [(len(some), fmean(tree_errors(c, some)) if some else float("nan")) for some in scored]
        (n0, error0), (n1, error1) = means
        yield Held(f"NVLSTree: 256, 512 GPUs from {most} or fewer", n0, error0, n1, error1, len(c.constants))


def _held(tree: FitTree, parts: tuple[list[tuple[PublishedRow, Timed]], ...]) -> Iterator[Held]:
    """The folds' errors for all sizes, and for large and small messages."""
    fitted = [fit_tree(tree, [t for _, t in part]) for part in parts]
    sizes: dict[str, Callable[[Any], bool]] = {
        "": lambda _: True,
        ", 64 MiB and more": lambda S: S >= LARGE,
        ", below 64 MiB": lambda S: S < LARGE,
    }
    for words, inside in sizes.items():
        scored = [[t for _, t in part if inside(t.S)] for part in parts]
        if not all(scored):
            continue
        error0, error1 = (fmean(tree_errors(c, some)) for c, some in zip(reversed(fitted), scored, strict=True))
        name = f"{', '.join(tree.sets)}{words}"
        yield Held(name, len(scored[0]), error0, len(scored[1]), error1, len(fitted[0].constants))
