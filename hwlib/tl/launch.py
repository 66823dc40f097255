"""Run a kernel: write down what each program of the grid does, then do it and count."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

from hwlib.tl.l2 import L2
from hwlib.tl.language import running
from hwlib.tl.memory import Empty, Run, play
from hwlib.tl.tile import DTYPES, DType, KernelError, Pointer, Program

MOST_PROGRAMS = 4096
Kernel = Callable[..., None]


def empty(shape: int | tuple[int, ...], dtype: DType = DTYPES["float32"]) -> Empty:
    """An array for a kernel to write: `tl.launch(add, 4, x, y, tl.empty(n), n, 256)`."""
    return Empty((shape,) if isinstance(shape, int) else tuple(shape), dtype)


def launch(
    kernel: Kernel, grid: int | tuple[int, ...], *args: Any, touches: bool = False, l2: L2 | None = None, **named: Any
) -> Run:
    """Run a kernel of `tl` for each program of the grid, and count what it loads and stores.

    Arrays among the arguments (numpy's, nested lists, or `empty`) reach the kernel as pointers to their first
    elements; they are not changed: `Run.arrays` holds them as they are afterwards, by the names of the parameters.
    Numbers reach it as they are. With an `l2`, `Run.hbm` is what it exchanges with HBM. Raises KernelError.
    """
    arrays, values = _bound(kernel, args, named)
    types = {name: dtype_of(array) for name, array in arrays.items()}
    return play(trace(kernel, grid, values, types), arrays, touches, l2=l2)


def trace(
    kernel: Kernel, grid: int | tuple[int, ...], values: Mapping[str, Any], types: Mapping[str, DType]
) -> Iterator[Program]:
    """What each program of the grid does; `types` are those of the arrays, by name, and `values` the numbers."""
    sizes = grid if isinstance(grid, tuple) else (grid,)
    if not 1 <= len(sizes) <= 3 or not all(type(size) is int and size > 0 for size in sizes):
        raise KernelError(f"the grid is {grid!r}; one to three whole numbers were expected", "bad-argument")
    x, y, z = (*sizes, 1, 1)[:3]
    if x * y * z > MOST_PROGRAMS:
        raise KernelError(f"the grid has {x * y * z:,} programs; at most {MOST_PROGRAMS:,} were expected", "too-large")
    pointers = {name: Pointer(name, dtype) for name, dtype in types.items()}
    for at in places((x, y, z)):
        yield record(kernel, at, (x, y, z), {**pointers, **values})


def places(grid: tuple[int, int, int]) -> Iterator[tuple[int, int, int]]:
    """The places of a grid, in the order in which its programs are run."""
    return ((i, j, k) for k, j, i in product(*(range(size) for size in reversed(grid))))


def record(kernel: Kernel, at: tuple[int, int, int], grid: tuple[int, int, int], given: Mapping[str, Any]) -> Program:
    """What one program does; `given` are the arguments, arrays as pointers."""
    program = Program(at, grid)
    with running(program):
        kernel(**given)
    return program


def dtype_of(array: Any) -> DType:
    """The type of an array's elements; numbers in lists are float32, as the kernels of the book are."""
    if isinstance(array, Empty):
        return array.dtype
    if isinstance(array, list):
        return DTYPES["float32"]
    name = getattr(getattr(array, "dtype", None), "name", "")
    name = {"bool": "int1"}.get(name, name)
    if name not in DTYPES:
        raise KernelError(
            f"an array of {name or type(array).__name__}; one of {', '.join(DTYPES)} was expected", "other-type"
        )
    return DTYPES[name]


def _bound(kernel: Kernel, args: tuple, named: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    try:
        bound = inspect.signature(kernel).bind(*args, **named)
    except TypeError as error:
        raise KernelError(f"{kernel.__name__}{inspect.signature(kernel)}: {error}", "bad-argument") from None
    bound.apply_defaults()
    arrays = {
        name: one for name, one in bound.arguments.items() if isinstance(one, Empty | list) or hasattr(one, "dtype")
    }
    values = {name: one for name, one in bound.arguments.items() if name not in arrays}
    return arrays, values
