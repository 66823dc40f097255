"""Fit the constants of kernels and collectives anew: fitted.toml (`make fit`, or `benchmarks.fidelity --fit` to print).

The mean error of an entry is given twice: of the fit itself, and of rows that a fit to the other four fifths
had not seen. The fifths are dealt in the order of size, so each holds small and large ones.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import MISSING, fields, replace
from datetime import date
from pathlib import Path
from statistics import fmean, median
from typing import Any, NamedTuple, TypeVar

from benchmarks.fit.kernels import kernel_entries
from benchmarks.fit.measured_ranges import Row, Time, bands, growths, held_back, spans
from benchmarks.fit.trees import TREES, FitTree, rows_of
from benchmarks.rows.kernel_rows import TimedKernel
from benchmarks.rows.published import OPERATIONS, Case, Collective, Product, PublishedRow, ReachedShare, case_of
from hwlib.calibrated import (
    GemmModel,
    Shape,
    Timed,
    collective_time,
    fit_alpha_beta,
    fit_collective,
    fit_gemm,
    model_of,
    tree_time,
)
from hwlib.calibrated.gemm import BOUNDS
from hwlib.calibrated.kernel import SOFT
from hwlib.calibrated.nccl_expected import RCCL, RCCL_PAIR
from hwlib.collectives import bus_factor
from hwlib.specs import accelerators
from hwlib.specs.fitted import (
    KINDS,
    CollectiveConstants,
    Fitted,
    GemmConstants,
    ShareConstants,
    TreeConstants,
    all_fitted,
)
from hwlib.specs.reader import quantities

FOLDS = 5
FEW = 12  # rows from which on some are held back: two for each of six constants
SAME_DIE = {"h100-sxm": ("h200-sxm", "h800-sxm")}  # whose links differ, not the products
LIKE = {
    "h100-sxm": ("h200-sxm",),
    "b200-sxm": ("gb200-nvl72", "b300-sxm", "gb300-nvl72"),
    "mi300x": ("mi325x",),
    "mi355x": ("mi350x",),
}
RING = ("alpha_low", "alpha_hop", "W_low", "alpha", "W")
PLATEAUS = {"h100_sxm": ("ar-h200-n",), "b200_sxm": ("ar-b200-n",)}
SHARES = ("stream init", "stream read", "stream scale", "stream triad", "best bf16", "best fp8")
TIMED_PRODUCTS = ("aic-gemm", "deepgemm", "aiter-gemm")
KERNEL_ONLY = ("t0", "eta_C", "eta_W")  # DeepGEMM's ten rows fix no more than these
SEARCHED = "mamf"  # the best product of a search over shapes, where no other product in 16 bits was timed
SEARCHED_LIKE = "mi355x"  # whose other constants it takes
SEARCHED_NOTE = "one row fixes the share of the peak alone: the rest is that of the same products on {}"
KERNEL_NOTE = (
    "ten rows fix no more than the start and the shares: the rest are round values of the order of Hopper's fits"
)

T = TypeVar("T")
F = TypeVar("F", bound=Fitted)
GAIN = 1e-3  # share of its loss by which a fit has to be better than the constants that stand


class Sweep(NamedTuple):
    """What one entry of a collective is fitted to: rows by their sets' names; and which constants are free."""

    chip: str
    op: str
    software: str
    sets: tuple[str, ...]
    free: tuple[str, ...]
    flow: str = "chunks"


def sweeps() -> Iterator[Sweep]:
    """Every collective that the project keeps constants of."""
    for system, chip in (
        ("a100_sxm", "a100-80gb-sxm"),
        ("h100_sxm", "h100-sxm"),
        ("b200_sxm", "b200-sxm"),
        ("gb200", "gb200-nvl72"),
    ):
        for op in OPERATIONS:
            name = op.replace("all_to_all", "alltoall")
            rows, free, flow = (f"aic-nccl-{system}-{name}",), (*RING, "W_copy"), "chunks"
            if op == "all_to_all":
                flow = "direct"
            elif op == "all_reduce":
                # In place: nothing is copied. Where the sweep holds few large buffers on eight ranks, the
                # plateaus of the same chip tell the ring's rate from the switch's.
                free = (*RING, "W_switch") if system in PLATEAUS else RING
                rows += PLATEAUS.get(system, ())
            elif system in ("b200_sxm", "gb200"):
                flow = "steps"
            yield Sweep(chip, op, "nccl-tests", rows, free, flow)
    # One number of ranks cannot tell hops from other latency.
    one = tuple(name for name in RING if name != "alpha_low")
    yield Sweep("a100-80gb-sxm", "all_reduce", "nccl-tests, one process", ("ar-a100x8",), one)
    yield Sweep("h200-sxm", "all_reduce", "torch", ("ar-h200", "all_reduce-h200"), (*one, "W_switch"))
    yield Sweep("b200-sxm", "all_reduce", "torch", ("ar-b200x8", "ar-b200-n"), (*one, "W_switch"))
    yield Sweep("a100-80gb-sxm", "all_reduce", "nccl-tests, two nodes", ("ar-aws-p4de",), one)
    yield Sweep("mi300x", "all_reduce", RCCL, ("ar-mi300x-rccl",), one)
    yield Sweep("mi355x", "all_reduce", "torch", ("ar-mi355x-primus",), RING)
    yield Sweep("mi300x", "all_reduce", RCCL_PAIR, ("ar-mi300x-cx7",), one)
    yield Sweep("mi355x", "all_reduce", RCCL_PAIR, ("ar-mi355x-pollara",), one)


Cases = Sequence[tuple[PublishedRow, Case]]


def fit_all(rows: Sequence[PublishedRow], path: Path) -> Iterator[Fitted]:
    """Every entry that the rows suffice for, kernels first."""
    for part in PARTS:
        yield from fit_part(part, rows, path)


def fit_part(part: str, rows: Sequence[PublishedRow], path: Path, folded: bool = True) -> Iterator[Fitted]:
    """The entries of one part of the file, a name of `PARTS`; unless `folded`, without the errors of held-back rows."""
    yield from PARTS[part]([(row, case_of(row, path)) for row in rows if row.kind in KIND_OF[part]], folded)


def _products(cases: Cases, folded: bool) -> Iterator[Fitted]:
    products = [(row, case) for row, case in cases if isinstance(case, Product)]
    keys = {(c.chip, c.dtype, r.set): r.source for r, c in products if r.set.startswith(TIMED_PRODUCTS)}
    done: dict[tuple[str, str], GemmConstants] = {}
    for (chip, dtype, name), source in sorted(keys.items()):
        shapes = [c.shape for r, c in products if r.set == name]
        if len(shapes) >= len(KERNEL_ONLY) + 2:
            done[chip, dtype] = _gemm(chip, dtype, name, source, shapes, folded)
            yield done[chip, dtype]
    for row, case in products:
        if row.set.startswith(SEARCHED) and (case.chip, case.dtype) not in done and (SEARCHED_LIKE, case.dtype) in done:
            yield _searched(row, case, done[SEARCHED_LIKE, case.dtype])


def _searched(row: PublishedRow, case: Product, entry: GemmConstants) -> GemmConstants:
    """An entry of one row, with all but the share of the peak as in that of the same dtype on another chip. The share
    is the row's, so that no product is quicker than the best.
    """
    note, origin = SEARCHED_NOTE.format(entry.chip), _from(row.source)
    typed = tuple(name for name in BOUNDS if name != "eta_C")
    blank = replace(
        entry,
        chip=case.chip,
        dtype=case.dtype,
        rows=row.set,
        count=1,
        held_out=math.nan,
        date=date.today().isoformat(),
        like=(),
        typed=typed,
        note=note,
        source=origin["source"],
        software=origin["software"],
    )
    s, sheet = case.shape, model_of(blank, case.chip).C
    model = model_of(replace(blank, eta_C=2 * s.M * s.N * s.K / s.time / sheet), case.chip)
    return replace(model.constants, error=round(abs(model.time(s.M, s.N, s.K) / s.time - 1), 6))


def _shares(cases: Cases, _: bool) -> Iterator[Fitted]:
    for op in SHARES:
        of_op = [(r, c) for r, c in cases if isinstance(c, ReachedShare) and c.op == op and not c.typical]
        found = [(r, c) for r, c in of_op if r.set.startswith(("stream", "mamf"))]
        if found:
            yield _share(op, [c.rate / c.sheet for _, c in found], found[0][0].source)


def _collectives(cases: Cases, folded: bool) -> Iterator[Fitted]:
    for sweep in sweeps():
        found = [
            (r, c) for r, c in cases if isinstance(c, Collective) and not c.typical and r.set.startswith(sweep.sets)
        ]
        timed = [(c.timed, c.switch) for _, c in found]
        if len(timed) >= len(sweep.free):
            measured = spans([(row, c.timed) for row, c in found])
            yield _collective(sweep, timed, _from(found[0][0].source)["source"], measured, folded)


def _trees(cases: Cases, folded: bool) -> Iterator[Fitted]:
    for tree in TREES:
        found = list(rows_of(tree, cases))
        if len(found) > len(tree.free):
            yield _tree(tree, [(t, True) for _, t in found], _from(found[0][0].source)["source"], spans(found), folded)


def _kernels(cases: Cases, folded: bool) -> Iterator[Fitted]:
    """Chips of different makers share no constants."""
    seen = [(r.source, c) for r, c in cases if isinstance(c, TimedKernel) and "seen" in r.cells["confidence"]]
    for vendor in dict.fromkeys(accelerators[case.chip].vendor for _, case in seen):
        yield from kernel_entries([pair for pair in seen if accelerators[pair[1].chip].vendor == vendor], folded)


PARTS: dict[str, Callable[[Cases, bool], Iterator[Fitted]]] = {
    "gemm": _products,
    "share": _shares,
    "collective": _collectives,
    "tree": _trees,
    "attention": _kernels,
    "decode": _kernels,
    "grouped": _kernels,
}
"""How the entries of each name in the file are fitted."""
KIND_OF = {
    "gemm": ("kernel",),
    "share": ("kernel",),
    "collective": ("collective",),
    "tree": ("collective", "allreduce"),
    "attention": ("attention-context",),
    "decode": ("attention-decode",),
    "grouped": ("grouped-gemm",),
}
"""The kinds of rows that they rest on."""


def _from(source: str) -> dict[str, str]:
    """The published file, and the software that its path names."""
    file = source.split(" (")[0]
    found = re.search(r"/(?:gemm|nccl)/(.*)/", file)
    return {"source": file, "software": found[1] if found else file.split(" ")[0]}


def folds(rows: Sequence[T], size: Callable[[T], Any]) -> Iterator[tuple[list[T], list[T]]]:
    """The rows to fit and the rows held back, `FOLDS` times."""
    ordered = sorted(rows, key=size)
    for k in range(FOLDS):
        yield [r for i, r in enumerate(ordered) if i % FOLDS != k], ordered[k::FOLDS]


def _validated(
    rows: Sequence[T],
    size: Callable[[T], Any],
    fit: Callable[[list[T]], Any],
    errors: Callable[[Any, list[T]], list],
    folded: bool,
) -> tuple[Any, float]:
    """The fit to all rows, and the mean error of the held-back rows (NaN where there are too few)."""
    full = fit(sorted(rows, key=size))
    held = math.nan
    if folded and len(rows) >= FEW:
        held = fmean(e for train, test in folds(rows, size) for e in errors(fit(train), test))
    return full, held


def _blank(kind: type[Fitted], rows: str, count: int, **values: Any) -> Any:
    start = {f.name: 1.0 for f in fields(kind) if "unit" in f.metadata and f.default is MISSING}
    today = date.today().isoformat()
    return kind(rows=rows, count=count, error=0.0, held_out=math.nan, date=today, **{**start, **values})


def _plain(op: str, rows: Sequence[Timed]) -> dict[str, float]:
    """The single alpha-beta line through the same rows."""
    line = fit_alpha_beta([bus_factor(op, t.n) * t.S for t in rows], [t.time for t in rows])
    return {"plain_alpha": line.alpha, "plain_W": line.W}


def _gemm(chip: str, dtype: str, name: str, source: str, shapes: list[Shape], folded: bool) -> GemmConstants:
    alone = name.startswith("deepgemm")
    values: dict[str, Any] = {"t_tile": 1e-7, "W_L2": 1.5e13, "t_join": 2e-6} if alone else {}
    if alone:
        values |= {"typed": tuple(values), "note": KERNEL_NOTE}
    blank = _blank(
        GemmConstants,
        name,
        len(shapes),
        chip=chip,
        dtype=dtype,
        **_from(source),
        like=SAME_DIE.get(chip, LIKE.get(chip, ())),
        quantises=dtype != "bf16" and name.startswith("aic-gemm"),
        **values,
    )
    start, free = model_of(blank, chip), KERNEL_ONLY if alone else tuple(BOUNDS)

    def errors(model: GemmModel, some: list[Shape]) -> list[float]:
        return [abs(model.time(s.M, s.N, s.K) / s.time - 1) for s in some]

    def ratios(constants: GemmConstants) -> list[float]:
        model = replace(start, constants=constants)
        return [model.time(s.M, s.N, s.K) / s.time for s in shapes]

    model, held = _validated(
        shapes, lambda s: (s.M * s.N * s.K, s), lambda some: fit_gemm(start, some, free), errors, folded
    )
    return replace(kept_unless_better(model.constants, free, ratios), held_out=held)


def loss(ratios: Iterable[float]) -> float:
    """What a fit makes small, of the predicted over the measured seconds of its rows: see
    `hwlib.calibrated.kernel.fit_logarithms`.
    """
    return sum(math.sqrt(1 + (math.log(ratio) / SOFT) ** 2) - 1 for ratio in ratios)


def kept_unless_better(made: F, free: Sequence[str], ratios: Callable[[F], list[float]]) -> F:
    """A fit with its mean error; where it is not better by `GAIN`, the constants that stand. A search on another kind
    of processor ends elsewhere in a flat valley, where rows hardly tell a constant: that is no reason to change it.
    """
    for standing in all_fitted():
        if _identity(standing) == _identity(made):
            as_it_was = replace(made, **{name: getattr(standing, name) for name in free})
            if loss(ratios(as_it_was)) <= (1 + GAIN) * loss(ratios(made)):
                made = as_it_was
            error = fmean(abs(ratio - 1) for ratio in ratios(made))
            same = math.isclose(error, standing.error, rel_tol=GAIN)  # constants stand with four digits
            return replace(made, error=standing.error if same else error)
    return replace(made, error=fmean(abs(ratio - 1) for ratio in ratios(made)))


def _identity(entry: Fitted) -> tuple[Any, ...]:
    """What an entry is of, and how many rows it rests on."""
    return (
        type(entry),
        entry.chip,
        entry.software,
        getattr(entry, "dtype", getattr(entry, "op", "")),
        entry.rows,
        entry.count,
    )


def _share(op: str, shares: list[float], source: str) -> ShareConstants:
    rows = "mamf" if op.startswith("best") else "stream"
    blank = _blank(ShareConstants, f"{rows}-*", len(shares), chip="any", op=op, **_from(source))
    eta = median(shares)
    return replace(blank, eta=eta, error=fmean(abs(s / eta - 1) for s in shares))


def _collective(
    sweep: Sweep, rows: list[Row], source: str, measured: dict[str, Any], folded: bool
) -> CollectiveConstants:
    blank = _blank(
        CollectiveConstants,
        ", ".join(sweep.sets),
        len(rows),
        chip=sweep.chip,
        op=sweep.op,
        source=source,
        software=sweep.software,
        flow=sweep.flow,
        like=LIKE.get(sweep.chip, ()),
        **measured,
        **UNKNOWN,
        **_plain(sweep.op, [t for t, _ in rows]),
    )

    def time(c: CollectiveConstants, row: Row) -> float:
        return float(collective_time(c, row[0].n, row[0].S, row[1]))

    return _with_bands(blank, rows, sweep.free, time, folded)


def _tree(tree: FitTree, rows: list[Row], source: str, measured: dict[str, Any], folded: bool) -> TreeConstants:
    rates = {name: 0.0 for name in ("alpha_level", "S_stage") if name not in (*tree.free, *tree.typed)}
    blank = _blank(
        TreeConstants,
        ", ".join(tree.sets),
        len(rows),
        chip=tree.chip,
        software=tree.network,
        op="all_reduce",
        node=tree.node,
        stages=tree.stages,
        inside=tree.inside,
        typed=tuple(tree.typed),
        note=tree.note,
        like=tree.like,
        source=source,
        **measured,
        **UNKNOWN,
        **rates,
        **tree.typed,
        **_plain("all_reduce", [t for t, _ in rows]),
    )

    def time(c: TreeConstants, row: Row) -> float:
        return float(tree_time(c, row[0].n, row[0].S))

    return _with_bands(blank, rows, tree.free, time, folded)


UNKNOWN = dict.fromkeys(("band_latency", "band_filling", "band_wires", "growth_ranks", "growth_bytes"), math.nan)


def _with_bands(blank: Any, rows: list[Row], free: Sequence[str], time: Time, folded: bool) -> Any:
    """The fit, with its errors, and with the bands and the growth of those of rows that are held back."""

    def fit(some: list[Row]) -> Any:
        return fit_collective(blank, [t for t, _ in some], free, [on for _, on in some])

    def size(row: Row) -> Any:
        return row[0].n, row[0].S, row

    def ratios(constants: Any) -> list[float]:
        return [time(constants, row) / row[0].time for row in rows]

    full = kept_unless_better(fit(sorted(rows, key=size)), free, ratios)
    if not folded or any(len(train) < len(free) for train, _ in folds(rows, size)):
        return full
    held = [row for train, test in folds(rows, size) for row in held_back(fit(train), test, time)]
    held_out = fmean(abs(1 / row.ratio - 1) for row in held) if len(rows) >= FEW else math.nan
    return replace(full, held_out=held_out, **bands(held), **growths(rows, fit, time))


HEAD = """# Constants of the models of hwlib, in SI, fitted to published measurements; hwlib/specs/fitted.py says what
# each means. Written by `make fit` from the rows of benchmarks/data/rows that an entry names: `source` is the
# published file, `rows` the prefix of their ids, `count` how many there were. `error` is the fit's own mean error,
# `held_out` that of rows held back (five folds; of attention, decode and grouped two, by shape; nan: too few rows).
# Those three share constants: each kind's fit takes all chips together. `ranks` to `growth_bytes` of a collective say
# where its constants hold, and how far a sound run may be from them. What has no rows is named in `typed`, and
# `note` says why it is what it is.
"""


def _item(value: str | int) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def toml(entry: Fitted) -> str:
    """One entry as it stands in the table: texts as they are, numbers with four digits."""
    name = {kind: name for name, kind in KINDS.items()}
    lines = [f"[[{name[type(entry)]}]]"]
    named = quantities(type(entry))
    for f in fields(entry):
        value = getattr(entry, f.name)
        if value == f.default or (isinstance(value, float) and math.isinf(value)):
            continue
        if isinstance(value, bool):
            value = str(value).lower()
        elif isinstance(value, float):
            value = "nan" if math.isnan(value) else f"{value:.4g}"
            value = value if set(value) & set(".en") else f"{value}.0"
        elif isinstance(value, tuple):
            value = "[" + ", ".join(map(_item, value)) + "]"
        elif isinstance(value, str):
            value = f'"{value}"'
        lines.append(f"{f.name} = {value}" + (f"  # {named[f.name][0]}" if f.name in named else ""))
    return "\n".join(lines)
