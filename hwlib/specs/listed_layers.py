"""Which software lists models whose layers keep a state or pick their keys: by kind of layer, as its lists have it."""

from collections.abc import Mapping
from types import MappingProxyType

from hwlib.specs.model import Model

INDEXED, COMPRESSED = "sparse attention", "compressed sparse attention"
VLLM, TRTLLM, MEGATRON = "vllm", "trtllm", "megatron"
LISTED: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        VLLM: {
            "gated-delta": "Qwen3NextForCausalLM",
            "mamba2": "NemotronHForCausalLM",
            "mamba1": "JambaForCausalLM",
            "kimi-delta": "KimiLinearForCausalLM",
            "lightning": "MiniMaxM1ForCausalLM",
            "short-conv": "Lfm2ForCausalLM",
            INDEXED: "DeepseekV32ForCausalLM",
            COMPRESSED: "DeepseekV4ForCausalLM",
        },
        TRTLLM: {
            "gated-delta": "Qwen3NextForCausalLM",
            "mamba2": "NemotronHForCausalLM",
            INDEXED: "DeepseekV32ForCausalLM",
            COMPRESSED: "DeepseekV4ForCausalLM",
        },
        MEGATRON: {
            "gated-delta": "Qwen3-Next",
            "mamba2": "Nemotron-H",
            "kimi-delta": "Kimi K3",
            INDEXED: "GLM-5",
        },
    }
)
"""Of each software and kind of layer a model that it lists: vLLM in vllm/model_executor/models/registry.py (commit
0002bff0b6cb), TensorRT-LLM in docs/source/models/supported-models.md (commit 00b6d5a25c30), Megatron Core by
src/megatron/bridge/models of Megatron-Bridge (commit 067f987df), read in November 2026."""
LISTS: Mapping[str, str] = MappingProxyType(
    {
        VLLM: "vLLM's registry at commit 0002bff0b6cb",
        TRTLLM: "TensorRT-LLM's list at commit 00b6d5a25c30",
        MEGATRON: "Megatron-Bridge at commit 067f987df",
    }
)
NEWER_LISTS: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        (VLLM, COMPRESSED): "vLLM's API pages of November 2026 (vllm.models.deepseek_v4)",
        (TRTLLM, COMPRESSED): "TensorRT-LLM's examples at commit 3699edadb4b7, for Blackwell alone,",
    }
)
"""What lists a kind of layer that the lists above have not yet."""
PROGRAMS: Mapping[str, str] = MappingProxyType(
    {"vllm": VLLM, "tensorrt-llm": TRTLLM, "megatron-core": MEGATRON, "nemo": MEGATRON}
)
"""The lists of programs, by what the keys of their releases begin with; of the others none was read."""


def kinds_of(model: Model) -> list[str]:
    """The kinds of a model's layers that are not attention on every key."""
    kinds = [model.mixer.kind] if model.mixer else []
    if model.compression:
        return [*kinds, COMPRESSED]
    return kinds + ([INDEXED] if model.indexer else [])


def unlisted_words(model: Model, program: str) -> str:
    """That a program, such as "tensorrt-llm" or "megatron-core-2606", lists no model with layers of a kind that this
    one has; empty where it does, and where no list of it was read.
    """
    software = next((key for begin, key in PROGRAMS.items() if program.startswith(begin)), None)
    if software is None:
        return ""
    missing = [kind for kind in kinds_of(model) if kind not in LISTED[software]]
    if not missing:
        return ""
    return f"{LISTS[software]} has no model with layers of {' or '.join(missing)}: timed as if it had"
