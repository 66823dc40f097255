"""Timed attention and grouped products: what a row of the table measured, in the words of `hwlib.calibrated`."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from benchmarks.rows.published_row import PublishedRow
from benchmarks.rows.read_keys import KERNELS, NO, unread
from benchmarks.rows.training_step import Unmodelled
from hwlib.arguments import as_int

CHIPS = {
    "a100_sxm": "a100-80gb-sxm",
    "h100_sxm": "h100-sxm",
    "h200_sxm": "h200-sxm",
    "b200_sxm": "b200-sxm",
    "gb200": "gb200-nvl72",
    "gb200_sxm": "gb200-nvl72",
    "b300_sxm": "b300-sxm",
    "gb300": "gb300-nvl72",
    "gb300_sxm": "gb300-nvl72",
    "gfx942, 304 compute units (MI300X or MI325X)": "mi300x",
    "gfx950, 256 compute units (MI350X or MI355X)": "mi355x",
}
DTYPES = {
    "bfloat16": "bf16",
    "bf16": "bf16",
    "fp8": "fp8",
    "fp8_block": "fp8_block",
    "nvfp4": "fp4",
    "mxfp4": "fp4",
    "w4a16_mxfp4": "mxfp4",
    "w4a8_mxfp4_mxfp8": "mxfp4_fp8",
}
LENGTHS = {
    "attention-context": ("heads", "kv_heads", "head_dim", "batch", "seq"),
    "attention-decode": ("heads", "kv_heads", "head_dim", "batch", "cached"),
    "grouped-gemm": ("tokens", "hidden", "width", "experts", "topk", "local_experts"),
}
# What multiplies, by a part of the kernel's name as it was recorded; the first that fits.
MULTIPLIES = {
    "deepgemm": "deepgemm",
    "flashinfer_cutlass": "flashinfer-cutlass",
    "flashinfer_trtllm": "trtllm-gen",
    "min_latency": "trtllm-gen",
    "marlin": "marlin",
    "triton": "triton",
    "vllm_fused_moe": "triton",
    "moe_torch_flow": "cutlass",
    "aiter": "aiter",
}
NAMES = {"attention-context": "attn-ctx", "attention-decode": "attn-dec", "grouped-gemm": "moe"}


@dataclass(frozen=True, eq=False)
class TimedKernel:
    """A timed kernel: its kind, chip, dtype (of the cache, for a new token) and software, and what it was given.

    `sizes` are arguments of the kind's function in `hwlib.calibrated`; `group` is the shape that decides the fold: the
    layout of heads, or an expert's shape, whatever the chip, software and batch. `kernel` is what multiplies in a layer
    of experts, where the row says so.
    """

    kind: str
    chip: str
    dtype: str
    software: str
    release: str
    sizes: Mapping[str, Any]
    group: str
    seconds: float
    kernel: str = ""


def kernel_set(kind: str, system: str, config: Mapping[str, Any]) -> str:
    """The set of a row: one a kind, chip and software."""
    return f"{NAMES[kind]}-{system}-{str(config.get('software', '')).split('/')[0]}"


def kernel_case(row: PublishedRow) -> TimedKernel | Unmodelled | None:
    """What a row measured. Rows of a chip or a dtype without constants, and of a kernel that few rows show, are
    `Unmodelled`. Raises ValueError for a row that lacks what is needed.
    """
    config = row.config
    if odd := unread(config, KERNELS[row.kind]):
        return Unmodelled(odd)
    if row.unit != "us":
        raise ValueError(f"the unit of {row.kind} is us, not {row.unit!r}")
    missing = [name for name in (*LENGTHS[row.kind], "dtype", "software") if name not in config]
    if missing:
        raise ValueError(f"config has no {', '.join(missing)}")
    sizes: dict[str, Any] = {name: as_int(name, config[name]) for name in LENGTHS[row.kind]}
    software, _, release = str(config["software"]).partition("/")
    chip, dtype, kernel = CHIPS.get(row.system), DTYPES.get(str(config["dtype"])), ""
    if row.kind == "grouped-gemm":
        shape = ("hidden", "width", "experts", "topk", "local_experts")
        spread = str(config.get("distribution", "balanced"))
        if spread != "balanced" and not spread.startswith("power_law_"):
            return Unmodelled(f"loads {spread}")
        sizes |= {"gated": bool(config.get("gated", 1))}
        sizes |= {"skew": 0.0 if spread == "balanced" else float(spread.removeprefix("power_law_"))}
        kernel = expert_kernel(str(config.get("kernel", "")), chip or "", dtype or "")
    else:
        shape = ("heads", "kv_heads", "head_dim")
        sizes["window"] = as_int("window", config.get("window", 0), 0)
        if str(config.get("causal", 1)).lower() in NO:
            return Unmodelled("attention without a causal mask")
        if "triton" in str(config.get("kernel", "")):
            return Unmodelled(f"kernel is {config['kernel']!r}: no constants of {software}'s Triton kernel")
        if row.kind == "attention-decode":
            dtype = DTYPES.get(str(config.get("kv_dtype")))
    if chip is None or dtype is None:
        return Unmodelled(f"dtype is {config['dtype']!r}, without constants on {row.system}")
    group = " ".join(str(config[name]) for name in shape)
    return TimedKernel(
        row.kind, chip, dtype, software, release, MappingProxyType(sizes), group, row.value * 1e-6, kernel
    )


def expert_kernel(recorded: str, chip: str, dtype: str) -> str:
    """What multiplies, by the name that was recorded; empty where that says nothing.

    TensorRT-LLM records its default by one name: four-bit weights of MXFP4 go through Triton on Hopper and through its
    generated kernels on Blackwell (aiconfigurator, collector/trtllm/collect_moe.py). FlashInfer's CUTLASS kernels are
    kept apart from TensorRT-LLM's on Hopper alone, where rows show that they are slower.
    """
    hopper = chip.startswith(("h100", "h200", "h800"))
    if recorded == "moe_torch_flow" and dtype.startswith("mxfp4"):
        return "triton" if hopper else "trtllm-gen"
    found = next((kernel for part, kernel in MULTIPLIES.items() if part in recorded), "")
    return "cutlass" if found == "flashinfer-cutlass" and not hopper else found
