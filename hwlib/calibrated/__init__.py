"""Models with fitted constants: a chip's kernels, its matrix products, and NCCL's collectives.

The formulas give the terms; a few constants per chip, fitted to published measurements and kept in
`hwlib.specs.fitted`, give their sizes. `docs/fidelity.md` has the errors of each model.

>>> from hwlib.units import show
>>> show(gemm_model("h100-sxm", "bf16").time(4096, 4096, 4096), "s")
'183.1 us'
>>> show(nccl_time("h100-sxm", "all_reduce", n=8, S=1e9), "s")
'3.818 ms'
"""

from hwlib.calibrated.gemm import TILINGS, GemmModel, Shape, Tiling, fit_gemm, gemm_model, model_of
from hwlib.calibrated.kernel import (
    ELEMENT_BYTES,
    OUTPUT_BYTES,
    KernelModel,
    Sample,
    fit_kernel_model,
    gemm_samples,
    mean_abs_relative_error,
    relative_errors,
)
from hwlib.calibrated.nccl import (
    AlphaBeta,
    Timed,
    collective_time,
    fit_alpha_beta,
    fit_collective,
    nccl_latency,
    nccl_time,
    nodes_allreduce_time,
    pipelined_time,
    plain_time,
    ring_step,
    tree_time,
)

__all__ = [
    "ELEMENT_BYTES", "OUTPUT_BYTES", "TILINGS", "AlphaBeta", "GemmModel", "KernelModel", "Sample", "Shape", "Tiling",
    "Timed", "collective_time", "fit_alpha_beta", "fit_collective", "fit_gemm", "fit_kernel_model", "gemm_model",
    "gemm_samples", "mean_abs_relative_error", "model_of", "nccl_latency", "nccl_time", "nodes_allreduce_time",
    "pipelined_time", "plain_time", "relative_errors", "ring_step", "tree_time",
]  # fmt: skip
