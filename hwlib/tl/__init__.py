"""Kernels in a subset of Triton's language, which run anywhere and whose every byte is counted.

    from hwlib import tl

    def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
        at = tl.program_id(0)*BLOCK + tl.arange(0, BLOCK)
        mask = at < n
        tl.store(out_ptr + at, tl.load(x_ptr + at, mask=mask) + tl.load(y_ptr + at, mask=mask), mask=mask)

    run = tl.launch(add, 4, x, y, tl.empty(1000), 1000, 256)
    run.arrays["out_ptr"], run.bytes, run.sectors, run.flops

The same source is a kernel of Triton: `import triton.language as tl`, and `@triton.jit` above it. Names and meanings
are Triton's (Tillet, Kung and Cox 2019; the reference of triton.language); `launch`, `empty`, `Run` and `L2` are ours.
"""

from typing import Any

from hwlib.tl import math
from hwlib.tl.l2 import L2, SECTOR
from hwlib.tl.language import (
    abs,
    arange,
    assume,
    cdiv,
    constexpr,
    cumsum,
    dot,
    exp,
    exp2,
    full,
    load,
    log,
    log2,
    max,
    max_contiguous,
    maximum,
    min,
    minimum,
    multiple_of,
    num_programs,
    program_id,
    range,
    rsqrt,
    sigmoid,
    sqrt,
    static_assert,
    static_range,
    store,
    sum,
    trans,
    where,
    zeros,
)
from hwlib.tl.launch import MOST_PROGRAMS, dtype_of, empty, launch, places, record, trace
from hwlib.tl.memory import Empty, Run, Touch, Traffic, play
from hwlib.tl.tile import (
    DTYPES,
    MOST_OPERATIONS,
    DType,
    KernelError,
    Pointer,
    Program,
    Tile,
    float16,
    float32,
    float64,
    int1,
    int32,
    int64,
)

# What a kernel may use, by what it is for.
OPERATIONS = {
    "Where a program stands": ("program_id", "num_programs", "cdiv"),
    "Tiles": ("arange", "full", "zeros", "where", "trans", "dot"),
    "Memory": ("load", "store"),
    "Of each element": (
        "exp",
        "exp2",
        "log",
        "log2",
        "sqrt",
        "rsqrt",
        "sigmoid",
        "abs",
        "maximum",
        "minimum",
    ),
    "Along an axis": ("sum", "max", "min", "cumsum"),
    "Loops": ("range", "static_range"),
    "For the compiler": ("constexpr", "static_assert", "assume", "multiple_of", "max_contiguous"),
}
INSTEAD = {  # of what published kernels use
    "atomic_add": "the order in which programs add is not determined, so let each program store its own sum, and add "
    "these in a second kernel",
    "make_block_ptr": "add offsets to a pointer, `x_ptr + rows[:, None]*stride + columns[None, :]`, and mask what lies "
    "beyond",
    "bfloat16": "numpy has no such type; take `tl.float16` or `tl.float32`",
}
INSTEAD |= dict.fromkeys(("atomic_cas", "atomic_xchg", "atomic_max", "atomic_min"), INSTEAD["atomic_add"])
INSTEAD |= dict.fromkeys(("advance", "make_tensor_descriptor"), INSTEAD["make_block_ptr"])


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    known = ", ".join([*(each for names in OPERATIONS.values() for each in names), *DTYPES])
    raise AttributeError(f"tl has no {name} here: {INSTEAD.get(name) or f'there are {known}'}")


__all__ = [
    "DTYPES",
    "INSTEAD",
    "L2",
    "MOST_OPERATIONS",
    "MOST_PROGRAMS",
    "OPERATIONS",
    "SECTOR",
    "DType",
    "Empty",
    "KernelError",
    "Pointer",
    "Program",
    "Run",
    "Tile",
    "Touch",
    "Traffic",
    "abs",
    "arange",
    "assume",
    "cdiv",
    "constexpr",
    "cumsum",
    "dot",
    "dtype_of",
    "empty",
    "exp",
    "exp2",
    "float16",
    "float32",
    "float64",
    "full",
    "int1",
    "int32",
    "int64",
    "launch",
    "load",
    "log",
    "log2",
    "math",
    "max",
    "max_contiguous",
    "maximum",
    "min",
    "minimum",
    "multiple_of",
    "num_programs",
    "places",
    "play",
    "program_id",
    "range",
    "record",
    "rsqrt",
    "sigmoid",
    "sqrt",
    "static_assert",
    "static_range",
    "store",
    "sum",
    "trace",
    "trans",
    "where",
    "zeros",
]
