"""Models with fitted constants: a chip's kernels (products, attention, experts), NCCL's collectives, and serving.

The formulas give the terms; a few constants per chip, fitted to published measurements and kept in
`hwlib.specs.fitted`, give their sizes. `docs/fidelity.md` has the errors of each model.

>>> from hwlib.units import show
>>> show(gemm_model("h100-sxm", "bf16").time(4096, 4096, 4096), "s")
'183.1 us'
>>> show(nccl_time("h100-sxm", "all_reduce", n=8, S=1e9), "s")
'3.818 ms'
"""

from hwlib.calibrated.attention import decode_attention_time, prefill_attention_time
from hwlib.calibrated.decode_parts import StepParts, decode_parts, step_constants
from hwlib.calibrated.gemm import TILINGS, GemmModel, Shape, Tiling, fit_gemm, gemm_model, model_of
from hwlib.calibrated.grouped import grouped_time
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
    rank_doublings,
    ring_step,
    size_region,
    tree_time,
)
from hwlib.calibrated.serving import ServingRates, serve
from hwlib.calibrated.sheet import kernel_software

__all__ = [
    "ELEMENT_BYTES",
    "OUTPUT_BYTES",
    "TILINGS",
    "AlphaBeta",
    "GemmModel",
    "KernelModel",
    "Sample",
    "ServingRates",
    "Shape",
    "StepParts",
    "Tiling",
    "Timed",
    "collective_time",
    "decode_attention_time",
    "decode_parts",
    "fit_alpha_beta",
    "fit_collective",
    "fit_gemm",
    "fit_kernel_model",
    "gemm_model",
    "gemm_samples",
    "grouped_time",
    "kernel_software",
    "mean_abs_relative_error",
    "model_of",
    "nccl_latency",
    "nccl_time",
    "nodes_allreduce_time",
    "pipelined_time",
    "plain_time",
    "prefill_attention_time",
    "rank_doublings",
    "relative_errors",
    "ring_step",
    "serve",
    "size_region",
    "step_constants",
    "tree_time",
]
