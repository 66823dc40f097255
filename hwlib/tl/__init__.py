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

from hwlib.tl.l2 import L2, SECTOR
from hwlib.tl.language import (
    arange,
    cdiv,
    constexpr,
    dot,
    exp,
    full,
    load,
    log,
    max,
    maximum,
    min,
    minimum,
    num_programs,
    program_id,
    sqrt,
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

__all__ = [
    "DTYPES",
    "L2",
    "MOST_OPERATIONS",
    "MOST_PROGRAMS",
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
    "arange",
    "cdiv",
    "constexpr",
    "dot",
    "dtype_of",
    "empty",
    "exp",
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
    "max",
    "maximum",
    "min",
    "minimum",
    "num_programs",
    "places",
    "play",
    "program_id",
    "record",
    "sqrt",
    "store",
    "sum",
    "trace",
    "trans",
    "where",
    "zeros",
]
