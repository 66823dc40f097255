"""The cells of a row that its reader reads; one with any other is refused: it may say what a prediction leaves out.

A cell that explains others (`SAID`) is never read, and one that says no, or nothing, changes nothing.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

NO = ("false", "no", "off", "0", "0.0", "none", "null", "n/a", "na", "-", "")
SAID = re.compile(
    r"(.*_)?notes?|source|section|software|version|framework|date|size|params(_b)?|flops|mfu.*|hfu.*|tflops.*|.*_logged|"
    r"mem|nodes|system|nccl|backend|days(_.*)?|minutes|tokens_s(_.*)?|peak_reserved.*|cores|theory"
)
"""Names of cells that tell where a row is from, or print what follows from the others; most readers read some."""

DEGREES = {"tp", "pp", "cp", "ep", "etp", "dp", "vp", "v", "sp"}
BATCH = {"gbs", "mbs", "micro", "ga", "seq", "sequence_length"}
SHAPE = {"model", "hidden", "layers", "heads", "kv", "ff", "vocab"}
MEGATRON = DEGREES | BATCH | SHAPE | {"dtype", "precision", "recompute", "model_parallel"}
PYTORCH = SHAPE | BATCH | {"tp", "pp", "cp", "vp", "dp", "fsdp", "replicas", "zero", "ac", "dtype", "compile"}
MEASURED = {"train_tokens", "total_tokens", "tokens", "tokens_s_gpu"}  # what a figure in another unit is read with
TUNED = {"stage", "task", "fp8", "float8", "release"}
ADAPTED = {"stage", "rank", "targets", "base_weights"}
STORED = {
    "states",
    "optimizer",
    "optimizer_in_backward",
    "amp",
    "update",
    "norms",
    "loss",
    "upcast",
    "activation_offload",
}
ONE_GPU = ADAPTED | STORED | {"attention", "measure", "lengths", "grad_accum", "packed"}
"""What is read of a row of one GPU beside its shape, batch and recomputation."""
UNKNOWN = MEGATRON | TUNED | ONE_GPU | {"zero", "fsdp", "ac", "compile", "lora_rank"}
TRAINING = {
    "megatron": MEGATRON,
    "bloom": MEGATRON | {"zero"},
    "mosaic": BATCH | {"model", "precision", "strategy", "act_ckpt"},
    "nvidia": MEGATRON | TUNED | {"fsdp"},
    "titan": PYTORCH | {"fp8", "async_tp", "schedule"},
    "one-gpu": SHAPE | BATCH | ONE_GPU | {"tp", "pp", "dp", "zero", "ac", "recompute", "dtype", "precision", "compile"},
    "fms": PYTORCH | {"sharding"},
    "internevo": PYTORCH | {"zero_group", "micro_num", "packed"},
    "unknown": UNKNOWN | {"batch_per_dp", "tokens_per_batch"},
    "rocm": MEGATRON | ADAPTED | {"fsdp", "recompute_layers"},
    "mlperf": UNKNOWN | {"samples", "train_samples", "steps"},
}
"""What each reader of training steps reads."""
ATTENTION = {"op", "heads", "kv_heads", "head_dim", "batch", "causal", "dtype", "kv_dtype", "window", "kernel"}
EXPERTS = {"tokens", "hidden", "width", "ff", "topk", "experts", "local_experts", "tokens_per_expert", "tp", "ep"}
KERNELS = {
    "attention-context": ATTENTION | {"seq"},
    "attention-decode": ATTENTION | {"cached"},
    "grouped-gemm": EXPERTS | {"op", "dtype", "distribution", "gated", "kernel"},
}
"""What is read of a timed kernel."""
ALLREDUCE = {"op", "bytes", "time_us", "network", "racks", "ranks_per_node", "nvls", "algo", "dtype", "in_place"}
PRODUCT = {"op", "dtype", "M", "N", "K", "MxNxK", "GBps", "theory", "clock_mhz"}
FIGURE = {"model", "what", "mode", "tp", "pp", "vp", "mbs"}


def unread(config: Mapping[str, Any], read: Iterable[str]) -> str:
    """Why a row is refused: the first cell that says something and that nothing reads; empty if there is none."""
    known = set(read)
    for name, x in config.items():
        if name not in known and not SAID.fullmatch(name.lower()) and str(x).strip().lower() not in NO:
            return f"{name} = {x!r} is not read"
    return ""
