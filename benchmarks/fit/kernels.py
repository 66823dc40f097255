"""Fit the constants of attention and of grouped products: a part of fitted.toml (`make fit`).

A constant is the same for all rows, or has a value for each chip, dtype or software, as `LEVELS` says; a group has a
value of its own only from `FEW` rows on. That value starts at the one of all rows, and moves away only as far as the
rows pay for (`PRIOR`): where rows say little, all chips are taken to be alike.

Of a layer of experts the chip and the dtype decide the rate, and the kernel what a tile costs to start; which software
ran it says nothing more.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from statistics import fmean
from types import SimpleNamespace
from typing import Any

from benchmarks.fit.folds import folds
from benchmarks.rows.kernel_rows import NAMES, TimedKernel
from hwlib.calibrated.attention import decode_seconds, prefill_seconds
from hwlib.calibrated.grouped import grouped_seconds, power_law_loads
from hwlib.calibrated.kernel import SOFT
from hwlib.calibrated.sheet import KERNEL_BYTES, RateSheet, sheet_of
from hwlib.specs.fitted import AttentionConstants, DecodeConstants, Fitted, GroupedConstants

FEW = 8  # rows of a group from which on it has a value of its own
# A value's move by a factor e costs as much as a misfit of so much of one row. Kernels of experts differ by more than
# those of attention: a tile of one starts in 1 us, of another in 15.
PRIOR = {"attention-context": 0.3, "attention-decode": 0.3, "grouped-gemm": 0.15}
FAMILY = {
    "a100-80gb-sxm": ("a100-80gb-sxm", ("a100-40gb-sxm",)),
    "h100-sxm": ("h100-sxm", ("h200-sxm", "h800-sxm", "h100-pcie")),
    "b200-sxm": ("b200-sxm", ("gb200-nvl72", "b300-sxm", "gb300-nvl72")),
    "mi300x": ("mi300x", ("mi325x",)),
    "mi355x": ("mi355x", ("mi350x",)),
}
FITTED_ON = {chip: first for first, like in FAMILY.values() for chip in (first, *like)}
CHIP, DTYPE, SOFTWARE, KERNEL = "chip", "dtype", "software", "kernel"
Levels = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Constant:
    """Where the search for a constant starts, its bounds, and what it may depend on, from the coarse to the fine."""

    start: float
    low: float
    high: float
    levels: Levels = ((),)


PER_STACK: Levels = ((), (CHIP, SOFTWARE))
PER_KERNEL: Levels = ((), (CHIP, KERNEL, DTYPE))
PER_SOFTWARE: Levels = ((), (SOFTWARE,))
CONSTANTS: dict[str, dict[str, Constant]] = {
    "attention-context": {
        "t0": Constant(1e-5, 1e-6, 1e-4, PER_STACK),
        "eta_C": Constant(0.6, 0.05, 1.0, ((), (CHIP, DTYPE), (CHIP, KERNEL, DTYPE))),
        "R_exp": Constant(3e10, 1e9, 5e11),
        "t_tile": Constant(3e-6, 1e-8, 1e-4, PER_SOFTWARE),
        "eta_W": Constant(0.7, 0.1, 1.0, PER_SOFTWARE),
    },
    "attention-decode": {
        "t0": Constant(9e-6, 1e-6, 1e-4, PER_KERNEL),
        "eta_W": Constant(0.8, 0.1, 1.0, ((), (CHIP, SOFTWARE, DTYPE))),
        "eta_C": Constant(0.2, 0.005, 1.0, ((), (CHIP,))),
        "t_block": Constant(2e-6, 1e-8, 1e-4, ((), (CHIP,))),
        "t_join": Constant(3e-6, 1e-8, 1e-4),
        "R_L2": Constant(2.5e10, 1e8, 1e12),
    },
    "grouped-gemm": {
        "t0": Constant(2e-5, 1e-6, 1e-4),
        "eta_C": Constant(0.6, 0.02, 1.0, ((), (DTYPE,), (CHIP,))),
        "t_tile": Constant(1e-6, 1e-9, 1e-4, ((), (KERNEL,))),
        "eta_W": Constant(0.8, 0.1, 1.0),
        "eta_move": Constant(0.8, 0.05, 4.0),
    },
}
KINDS: dict[str, type[Any]] = {
    "attention-context": AttentionConstants,
    "attention-decode": DecodeConstants,
    "grouped-gemm": GroupedConstants,
}


def typed(kind: str, chip: str, software: str) -> dict[str, Any]:
    """What of an entry is not fitted: what the measured call includes, and how many heads a kernel packs."""
    ours = software == "trtllm"
    if kind == "attention-context":
        return {"splits": ours}
    if kind == "grouped-gemm":
        return {}
    return {"packs": (64.0 if chip == "b200-sxm" else 32.0) if ours else math.inf}


@dataclass(frozen=True)
class KernelFit:
    """The logarithms of values by constant, level and group; a constant is the product along its levels, at most its
    upper bound: no share of a peak is above 1.
    """

    kind: str
    logs: Mapping[tuple[str, int, tuple[str, ...]], float]

    def value(self, name: str, of: Mapping[str, str]) -> float:
        """A constant for a chip, dtype and software."""
        levels = CONSTANTS[self.kind][name].levels
        keys = ((name, i, tuple(of[what] for what in level)) for i, level in enumerate(levels))
        return min(math.exp(sum(self.logs.get(key, 0.0) for key in keys)), CONSTANTS[self.kind][name].high)

    @property
    def count(self) -> int:
        """How many values were fitted; what all rows have in common is one only where no group differs."""
        finer = {name for name, i, _ in self.logs if i}
        return sum(i > 0 or name not in finer for name, i, _ in self.logs)


def _of(case: TimedKernel) -> dict[str, str]:
    """What levels are made of. vLLM and SGLang call the same kernels of attention: FlashAttention, or FlashInfer's."""
    kernel = case.kernel or ("trtllm" if case.software == "trtllm" else "open")
    return {CHIP: FITTED_ON[case.chip], DTYPE: case.dtype, SOFTWARE: case.software, KERNEL: kernel}


def _groups(kind: str, cases: Sequence[TimedKernel], few: int) -> list[tuple[str, int, tuple[str, ...]]]:
    found = []
    for name, constant in CONSTANTS[kind].items():
        for i, level in enumerate(constant.levels):
            counted = Counter(tuple(_of(case)[what] for what in level) for case in cases)
            found += [(name, i, key) for key, count in sorted(counted.items()) if not i or count >= few]
    return found


class Columns:
    """The rows of a kind as arrays, for one call of its formula."""

    def __init__(self, kind: str, cases: Sequence[TimedKernel]) -> None:
        import numpy as np

        self.kind, self.cases = kind, cases
        self.of = [_of(case) for case in cases]
        self.seconds = np.array([case.seconds for case in cases])
        bytes_of = [KERNEL_BYTES[case.dtype] for case in cases]
        product = ["bf16" if kind == "attention-decode" else of for _, _, of in bytes_of]
        sheets = [sheet_of(c.chip, of, FITTED_ON[c.chip]) for c, of in zip(cases, product, strict=True)]
        self.sheet = RateSheet(*(np.array(column, float) for column in zip(*sheets, strict=True)))
        self.weight, self.activation, _ = (np.array(column) for column in zip(*bytes_of, strict=True))
        self.sizes = {name: np.array([case.sizes[name] for case in cases], float) for name in cases[0].sizes}
        kept = [typed(kind, of[CHIP], of[SOFTWARE]) for of in self.of]
        self.typed = {name: np.array([one[name] for one in kept], float) for name in kept[0]}
        if kind == "grouped-gemm":
            loads = [_loads(case) for case in cases]
            self.loads = list(np.array(loads).T)

    def seconds_with(self, constants: Mapping[str, Any]) -> Any:
        """Predicted seconds, with an array a constant."""
        c, s = SimpleNamespace(**constants, **self.typed), self.sizes
        if self.kind == "grouped-gemm":
            return grouped_seconds(
                c,
                self.sheet,
                self.weight,
                self.activation,
                self.loads,
                s["tokens"],
                s["hidden"],
                s["width"],
                s["experts"],
                s["topk"],
                s["local_experts"],
                2 + s["gated"],
            )
        call, length = (decode_seconds, "cached") if self.kind == "attention-decode" else (prefill_seconds, "seq")
        names = ("heads", "kv_heads", "head_dim", "batch", length, "window")
        return call(c, self.sheet, self.weight, *(s[name] for name in names))


def _loads(case: TimedKernel) -> list[float]:
    s = case.sizes
    found = power_law_loads(s["tokens"], s["experts"], s["topk"], s["skew"])
    return found if len(found) > 1 else found * 32


def fit_kernels(kind: str, cases: Sequence[TimedKernel], few: int = FEW) -> KernelFit:
    """The constants of a kind that explain its rows best."""
    import numpy as np
    from scipy.optimize import least_squares

    columns, keys = Columns(kind, cases), _groups(kind, cases, few)
    place = {key: i for i, key in enumerate(keys)}
    where = {}  # which logarithms each row adds up, of each constant
    for name, constant in CONSTANTS[kind].items():
        rows = []
        for of in columns.of:
            named = ((name, i, tuple(of[what] for what in level)) for i, level in enumerate(constant.levels))
            rows.append([place[key] for key in named if key in place])
        matrix = np.zeros((len(cases), len(keys)))
        for row, indices in enumerate(rows):
            matrix[row, indices] = 1
        where[name] = matrix
    first = np.array([i == 0 for _, i, _ in keys])
    start = np.array([math.log(CONSTANTS[kind][name].start) if i == 0 else 0.0 for name, i, _ in keys])
    low = np.array([math.log(CONSTANTS[kind][name].low) if i == 0 else -3.0 for name, i, _ in keys])
    high = np.array([math.log(CONSTANTS[kind][name].high) if i == 0 else 3.0 for name, i, _ in keys])
    weight = np.where(first, 0.01, PRIOR[kind])
    top = {name: constant.high for name, constant in CONSTANTS[kind].items()}

    def misfit(x: Any) -> Any:
        constants = {name: np.minimum(np.exp(matrix @ x), top[name]) for name, matrix in where.items()}
        seconds = columns.seconds_with(constants)
        off = seconds / columns.seconds - 1
        soft = np.sign(off) * SOFT * np.sqrt(2 * (np.sqrt(1 + (off / SOFT) ** 2) - 1))
        return np.concatenate([soft, weight * (x - start)])

    found = least_squares(misfit, start, bounds=(low, high))
    return KernelFit(kind, {key: float(value) for key, value in zip(keys, found.x, strict=True)})


def errors(fit: KernelFit, cases: Sequence[TimedKernel]) -> list[float]:
    """|predicted - measured|/measured of each row, under any fit of its kind."""
    import numpy as np

    columns = Columns(fit.kind, cases)
    values = {name: np.array([fit.value(name, of) for of in columns.of]) for name in CONSTANTS[fit.kind]}
    return [float(e) for e in np.abs(columns.seconds_with(values) / columns.seconds - 1)]


def kernel_folds(kind: str, cases: Sequence[TimedKernel]) -> tuple[list[float], list[float]]:
    """The errors of the rows of fold 1 under the fit to fold 0, and the reverse.

    Rows of a dtype and software that the fit has too few of are left out, as they are not scored with the kept ones.
    """
    first, second = folds(cases, lambda case: case.group)
    return _seen(kind, first, second)[1], _seen(kind, second, first)[1]


def _seen(
    kind: str, fit_to: Sequence[TimedKernel], scored: Sequence[TimedKernel]
) -> tuple[list[TimedKernel], list[float]]:
    few = FEW // 2
    counted = Counter((case.dtype, case.software) for case in fit_to)
    kept = [case for case in scored if counted[case.dtype, case.software] >= few]
    return kept, errors(fit_kernels(kind, fit_to, few), kept) if kept else []


def _mean(values: Iterable[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return fmean(known) if known else math.nan


def _key(case: TimedKernel) -> tuple[str, str, str, str]:
    return FITTED_ON[case.chip], case.dtype, case.software, case.kernel


def kernel_entries(cases: Sequence[tuple[str, TimedKernel]], folded: bool = True) -> Iterator[Fitted]:
    """An entry for each kind, chip, dtype, software and kernel of the rows (their source and case); unless `folded`,
    without the errors of held-back rows.
    """
    for kind, entry in KINDS.items():
        found = [(source, case) for source, case in cases if case.kind == kind]
        if len(found) < 2 * FEW:
            continue
        full = fit_kernels(kind, [case for _, case in found])
        held = dict.fromkeys((case for _, case in found), math.nan)
        pairs = folds([case for _, case in found], lambda case: case.group)
        for fit_to, scored in (pairs, pairs[::-1]) if folded else ():
            held |= dict(zip(*_seen(kind, fit_to, scored), strict=True))
        own = dict(zip((case for _, case in found), errors(full, [case for _, case in found]), strict=True))
        counted = Counter((case.dtype, case.software) for _, case in found)
        for key in sorted({_key(c) for _, c in found}):
            chip, dtype, software, kernel = key
            members = [(s, c) for s, c in found if _key(c) == key]
            yield entry(
                chip=chip,
                software=software,
                release=members[0][1].release,
                dtype=dtype,
                source=members[0][0].split(" @")[0],
                rows=f"{NAMES[kind]}-*-{software}-*",
                count=len(members),
                error=fmean(own[c] for _, c in members),
                held_out=_mean(held[c] for _, c in members),
                date=date.today().isoformat(),
                like=FAMILY[chip][1],
                typical=counted[dtype, software] < FEW,
                **typed(kind, chip, software),
                **({"kernel": kernel} if kernel else {}),
                **{name: full.value(name, _of(members[0][1])) for name in CONSTANTS[kind]},
            )
