"""The subset of Triton's language in which kernels are written here, under Triton's own names."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import Any

from hwlib.tl.tile import (
    DType,
    KernelError,
    Pointer,
    Program,
    Tile,
    binary,
    broadcast,
    common,
    float32,
    float64,
    int1,
    int32,
)

_running: list[Program] = []


class constexpr:
    """Marks an argument that is fixed when the kernel is compiled: `BLOCK: tl.constexpr`."""

    def __new__(cls, value: Any) -> Any:
        return value


@contextmanager
def running(program: Program):
    """The program whose operations are written down in this block."""
    _running.append(program)
    try:
        yield
    finally:
        _running.pop()


def _program() -> Program:
    if not _running:
        raise KernelError("this works inside a kernel only; run it with `tl.launch`", "outside-a-kernel")
    return _running[-1]


def program_id(axis: int) -> int:
    """Where this program stands in the grid."""
    return _program().at[axis]


def num_programs(axis: int) -> int:
    """How many programs the grid has."""
    return _program().grid[axis]


def cdiv(x: int, div: int) -> int:
    """x / div, rounded up."""
    return -(-x // div)


def arange(start: int, end: int) -> Tile:
    """start, start + 1, ... end - 1. Triton takes only powers of two for their number, and so do we."""
    count = end - start
    if count <= 0 or count & (count - 1):
        raise KernelError(
            f"arange({start}, {end}) has {count} elements; a power of two was expected: take the next larger one, and "
            "mask what is too much",
            "no-power-of-two",
        )
    return _program().add("arange", [], (count,), int32, {"start": start, "end": end})


def full(shape: Sequence[int], value: float, dtype: DType) -> Tile:
    """A tile of one value."""
    shape = tuple(shape)
    return _program().add("full", [], shape, dtype, {"shape": list(shape), "value": value, "dtype": dtype.name})


def zeros(shape: Sequence[int], dtype: DType) -> Tile:
    """A tile of zeros."""
    return full(shape, 0, dtype)


def load(
    pointer: Pointer,
    mask: Tile | None = None,
    other: float | None = None,
    *,
    cache_modifier: str = "",  # noqa: ARG001
    eviction_policy: str = "",  # noqa: ARG001
) -> Tile:
    """What is in memory; where the mask is false nothing is read, and `other` (else 0) stands there. What tells a GPU's
    caches how to treat it changes nothing here."""
    _check(pointer, mask)
    shape = pointer.offset.shape if isinstance(pointer.offset, Tile) else ()
    if mask is not None:
        shape = broadcast(shape, mask.shape)
    operands = [pointer.offset, *([] if mask is None else [mask])]
    return _program().add("load", operands, shape, pointer.dtype, {"array": pointer.array, "other": other or 0})


def store(pointer: Pointer, value: Any, mask: Tile | None = None) -> None:
    """Write to memory, where the mask is true."""
    _check(pointer, mask)
    shape = pointer.offset.shape if isinstance(pointer.offset, Tile) else ()
    if isinstance(value, Tile) and broadcast(shape, value.shape) != shape:
        raise KernelError(
            f"a tile of shape {value.shape} is stored where {shape or 'one element'} is pointed to", "other-shape"
        )
    operands = [pointer.offset, value, *([] if mask is None else [mask])]
    _program().add("store", operands, shape, pointer.dtype, {"array": pointer.array})


def _check(pointer: Any, mask: Any) -> None:
    if not isinstance(pointer, Pointer):
        raise KernelError(f"{pointer!r} is no pointer: `x_ptr + offsets` was expected", "no-pointer")
    if mask is not None and not (isinstance(mask, Tile) and mask.dtype is int1):
        raise KernelError(f"the mask is {mask!r}; a comparison, such as `offsets < n`, was expected", "other-type")


def dot(a: Tile, b: Tile, acc: Tile | None = None) -> Tile:
    """The product of two matrices, summed in float32, on top of `acc`."""
    if len(a.shape) != 2 or len(b.shape) != 2 or a.shape[1] != b.shape[0]:
        raise KernelError(f"dot of {a.shape} and {b.shape}: (M, K) and (K, N) were expected", "other-shape")
    if not (a.dtype.is_float and b.dtype.is_float):
        raise KernelError(f"dot of {a.dtype.name} and {b.dtype.name}: floats were expected", "other-type")
    product = _program().add("dot", [a, b], (a.shape[0], b.shape[1]), float64 if a.dtype is float64 else float32)
    return product if acc is None else acc + product


def trans(x: Tile) -> Tile:
    """The tile turned over its diagonal."""
    return x.T


def where(condition: Tile, x: Any, y: Any) -> Tile:
    """x where the condition is true, else y, element by element; both are computed everywhere."""
    shape = broadcast(*(one.shape for one in (condition, x, y) if isinstance(one, Tile)))
    return _program().add("where", [condition, x, y], shape, common(x, y))


def maximum(x: Any, y: Any) -> Tile:
    """The larger one, element by element."""
    return binary("maximum", x, y)


def minimum(x: Any, y: Any) -> Tile:
    """The smaller one, element by element."""
    return binary("minimum", x, y)


def _of_floats(name: str) -> Callable[[Tile], Tile]:
    def function(x: Tile) -> Tile:
        if x.dtype not in (float32, float64):
            raise KernelError(f"{name} of {x.dtype.name}: float32 was expected, `x.to(tl.float32)`", "other-type")
        return _program().add(name, [x], x.shape, x.dtype)

    function.__name__ = name
    function.__doc__ = f"{name} of each element, which is a float32 or float64."
    return function


exp, log, sqrt, exp2, log2 = (_of_floats(name) for name in ("exp", "log", "sqrt", "exp2", "log2"))


def rsqrt(x: Tile) -> Tile:
    """1/sqrt(x), and as many operations."""
    return 1.0 / sqrt(x)


def sigmoid(x: Tile) -> Tile:
    """1/(1 + exp(-x)), and as many operations."""
    return 1.0 / (1.0 + exp(-x))


def abs(x: Tile) -> Tile:
    """The size of each element."""
    return _program().add("absolute", [x], x.shape, x.dtype)


def cumsum(x: Tile, axis: int = 0) -> Tile:
    """The sums of the elements so far, along an axis."""
    if not -len(x.shape) <= axis < len(x.shape):
        raise KernelError(f"cumsum along axis {axis} of a tile of shape {x.shape}", "other-shape")
    if x.dtype is int1:
        x = x.to(int32)
    return _program().add("cumsum", [x], x.shape, x.dtype, {"axis": axis % len(x.shape)})


def range(*args: int, **_hints: Any) -> builtins.range:
    """Python's range; what tells Triton's compiler how to overlap its turns, as `num_stages`, changes nothing here."""
    return builtins.range(*args)


def static_range(*args: int) -> builtins.range:
    """Python's range, of which Triton unrolls the loop."""
    return builtins.range(*args)


def static_assert(condition: bool, message: str = "") -> None:
    """Refuse a kernel whose fixed arguments do not fit."""
    if not condition:
        raise KernelError(f"static_assert failed: {message or 'the condition is false'}", "bad-argument")


def multiple_of(x: Any, _values: Any) -> Any:
    """x: what it tells Triton's compiler about alignment changes nothing here."""
    return x


max_contiguous = multiple_of


def assume(_condition: Any) -> None:
    """Nothing: it helps Triton's compiler only."""


def _reduction(name: str) -> Callable[..., Tile]:
    def function(x: Tile, axis: int | None = None) -> Tile:
        if axis is not None and not -len(x.shape) <= axis < len(x.shape):
            raise KernelError(f"{name} along axis {axis} of a tile of shape {x.shape}", "other-shape")
        at = None if axis is None else axis % len(x.shape)
        shape = () if at is None else tuple(size for i, size in enumerate(x.shape) if i != at)
        return _program().add(name, [x], shape, x.dtype, {"axis": at})

    function.__name__ = name
    function.__doc__ = f"The {name} along an axis, or of all elements."
    return function


sum, max, min = (_reduction(name) for name in ("sum", "max", "min"))
inf = math.inf
