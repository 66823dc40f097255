"""What NVIDIA's recipes of Megatron Bridge say of a run and its tables do not: how tokens reach experts, what is fused.

The recipes are scripts/performance/configs of NVIDIA-NeMo/Megatron-Bridge; nothing here is a measurement.
"""

from hwlib.specs import Model

FUSED = (
    "b300-sxm",
    "gb200-nvl72",
    "gb300-nvl72",
)  # chips whose 8-bit recipes have fused grouped products from 26.06 on


def copies_travel(model: Model, chip: str, release: str, dtype: str) -> bool:
    """Whether NVIDIA's recipe of a model sends every copy of a token by itself, and sorts them in memory: Megatron's
    "alltoall" dispatcher, where all others use HybridEP or DeepEP (Megatron-Bridge, scripts/performance/configs).

    gpt-oss does but for the 8-bit recipes from 26.06 on; of Qwen3 on nodes of eight the 235B does, and the 30B did.
    """
    if model.key.startswith("gpt-oss"):
        return release < "26.06" or dtype == "bf16"
    if chip.endswith("nvl72"):
        return False
    if model.key.startswith("qwen3-30b"):
        return release < "26.02" or (chip == "h100-sxm" and release == "26.02")
    return model.key.startswith("qwen3-235b")


def core_stack(model: Model, chip: str, release: str, dtype: str) -> str:
    """The stack of a run: from release 26.06 on, that of the recipes which fuse the experts' layers and launch a whole
    step as one graph, in 8 bits and less.
    """
    fused = model.moe and release >= "26.06" and dtype != "bf16" and chip in FUSED
    return f"megatron-core-{'2606-' if fused else ''}{chip.split('-')[0]}"
