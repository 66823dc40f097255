"""The input and the expected result of each rank of a collective, by the collective's definition.

Blocks are those of `hwlib.algorithms.blocks`: ceil(length/n) elements each, the last ones shorter or empty. The
numbers are drawn with a seed that no rank has (see `seeds`): a rank that knew it could compute the numbers of the
others without a message.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

MAX_RANKS, MAX_LENGTH = 64, 1 << 16


@dataclass(frozen=True)
class Case:
    """One run: n ranks, each with an array of `length` elements of `dtype`, and the algorithm's `options`.

    Where the ranks have several arrays, `sizes` are the numbers that their shapes are made of, instead of a length:
    `case["d"]` is the size d, or the option of that name.
    """

    n: int
    length: int = -1
    dtype: str = "float64"
    options: dict[str, Any] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self):
        if not (type(self.n) is int and 1 <= self.n <= MAX_RANKS):
            raise ValueError(f"n of a case is {self.n!r}; 1 to {MAX_RANKS} ranks were expected")
        if self.length == -1 and self.sizes:
            object.__setattr__(self, "length", 0)
        if not (type(self.length) is int and 0 <= self.length <= MAX_LENGTH):
            raise ValueError(f"length of a case is {self.length!r}; 0 to {MAX_LENGTH} elements were expected")
        if self.dtype not in HIGHEST:
            raise ValueError(f"dtype of a case is {self.dtype!r}; one of {', '.join(HIGHEST)} was expected")
        if not all(type(size) is int and size >= 0 for size in self.sizes.values()):
            raise ValueError(f"sizes of a case are {dict(self.sizes)!r}; whole numbers were expected")

    def __getitem__(self, name: str) -> Any:
        """The size or the option of this name."""
        for known in (self.sizes, self.options):
            if name in known:
                return known[name]
        raise KeyError(f"the case has no {name!r}: it has {', '.join((*self.sizes, *self.options)) or 'no sizes'}")

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return 8 if self.dtype.endswith("64") else 4

    @property
    def root(self) -> int:
        """The rank that a broadcast, reduce, gather or scatter starts or ends at."""
        return int(self.options.get("root", 0))

    @property
    def size(self) -> int:
        """Bytes of one rank's array."""
        return self.length * self.itemsize

    def block(self, rank: int) -> slice:
        """Where the block of a rank lies."""
        step = math.ceil(self.length / self.n)
        return slice(min(rank * step, self.length), min((rank + 1) * step, self.length))

    def __str__(self) -> str:
        ranks = f"{self.n} rank{'' if self.n == 1 else 's'}"
        if not self.sizes:
            return f"{ranks} of {elements(self.length)}"
        numbers = {**self.sizes, **{name: value for name, value in self.options.items() if type(value) in (int, float)}}
        return ", ".join([ranks, *(f"{name} = {value}" for name, value in numbers.items())])


def elements(count: int) -> str:
    """ "1 element", "8 elements"."""
    return f"{count} element{'' if count == 1 else 's'}"


HIGHEST = {"float64": 2.0, "float32": 2.0, "int64": 1 << 55, "int32": 1 << 24}  # a sum over all ranks still fits


def drawn(case: Case, generator: Any) -> list[Any]:
    """Numbers for every rank, at least 1, that use every bit of the mantissa, so that they cannot be compressed."""
    import numpy as np

    if case.dtype.startswith("float"):
        return [generator.uniform(1, 2, case.length).astype(case.dtype) for _ in range(case.n)]
    return [generator.integers(1, HIGHEST[case.dtype], case.length).astype(np.dtype(case.dtype)) for _ in range(case.n)]


def before(collective: str, case: Case, generator: Any) -> list[Any]:
    """Each rank's array: what is not yet there is nan, or -1 for integers."""
    arrays = drawn(case, generator)
    absent = math.nan if case.dtype.startswith("float") else -1
    for rank, x in enumerate(arrays):
        if collective in ("all_gather", "gather"):
            own = x[case.block(rank)].copy()
            x[:] = absent
            x[case.block(rank)] = own
        elif collective in ("broadcast", "scatter") and rank != case.root:
            x[:] = absent
    return arrays


def _gathered(case: Case, inputs: Sequence[Any]) -> Any:
    import numpy as np

    return np.concatenate([x[case.block(rank)] for rank, x in enumerate(inputs)])


def _summed(inputs: Sequence[Any]) -> Any:
    return sum(inputs[1:], inputs[0])


def _at(case: Case, rank: int, value: Any) -> list[Any]:
    return [value if r == rank else None for r in range(case.n)]


def _exchanged(case: Case, inputs: Sequence[Any]) -> list[Any]:
    import numpy as np

    return [np.concatenate([x[case.block(rank)] for x in inputs]) for rank in range(case.n)]


AFTER: dict[str, Callable[[Case, Sequence[Any]], list[Any]]] = {
    "all_reduce": lambda case, inputs: [_summed(inputs)] * case.n,
    "reduce_scatter": lambda case, inputs: [_summed(inputs)[case.block(rank)] for rank in range(case.n)],
    "all_gather": lambda case, inputs: [_gathered(case, inputs)] * case.n,
    "all_to_all": _exchanged,
    "broadcast": lambda case, inputs: [inputs[case.root]] * case.n,
    "reduce": lambda case, inputs: _at(case, case.root, _summed(inputs)),
    "gather": lambda case, inputs: _at(case, case.root, _gathered(case, inputs)),
    "scatter": lambda case, inputs: [inputs[case.root][case.block(rank)] for rank in range(case.n)],
}
"""Each rank's result by collective; None where any will do."""
REDUCTIONS = ("all_reduce", "reduce", "reduce_scatter")
