"""Which software serves models whose layers keep a state or pick their keys: by kind of layer, as its lists have it."""

from hwlib.launch.launch import LaunchError
from hwlib.specs import Model

INDEXED, COMPRESSED = "sparse attention", "compressed sparse attention"
SERVED = {
    "vllm": {
        "gated-delta": "Qwen3NextForCausalLM",
        "mamba2": "NemotronHForCausalLM",
        "mamba1": "JambaForCausalLM",
        "kimi-delta": "KimiLinearForCausalLM",
        "lightning": "MiniMaxM1ForCausalLM",
        "short-conv": "Lfm2ForCausalLM",
        INDEXED: "DeepseekV32ForCausalLM",
        COMPRESSED: "DeepseekV4ForCausalLM",
    },
    "trtllm": {
        "gated-delta": "Qwen3NextForCausalLM",
        "mamba2": "NemotronHForCausalLM",
        INDEXED: "DeepseekV32ForCausalLM",
        COMPRESSED: "DeepseekV4ForCausalLM",
    },
}
"""Of each software and kind of layer a model that it lists: vLLM in vllm/model_executor/models/registry.py (commit
0002bff0b6cb), TensorRT-LLM in docs/source/models/supported-models.md (commit 00b6d5a25c30), read in November 2026."""
LISTS = {"vllm": "vLLM's registry at commit 0002bff0b6cb", "trtllm": "TensorRT-LLM's list at commit 00b6d5a25c30"}
NEWER_LISTS = {
    ("vllm", COMPRESSED): "vLLM's API pages of November 2026 (vllm.models.deepseek_v4)",
    ("trtllm", COMPRESSED): "TensorRT-LLM's examples at commit 3699edadb4b7, for Blackwell alone,",
}
"""What lists a kind of layer that the lists above have not yet."""


def kinds_of(model: Model) -> list[str]:
    """The kinds of a model's layers that are not attention on every key."""
    kinds = [model.mixer.kind] if model.mixer else []
    if model.compression:
        return [*kinds, COMPRESSED]
    return kinds + ([INDEXED] if model.indexer else [])


def served_words(model: Model, software: str) -> tuple[str, ...]:
    """What is to be known of a software that serves such a model; nothing of a model with plain attention. Raises
    LaunchError where the software lists none with such layers.
    """
    lines = []
    for kind in kinds_of(model):
        if kind not in SERVED[software]:
            having = " or ".join(name for name, kinds in SERVED.items() if kind in kinds)
            raise LaunchError(f"emit: {LISTS[software]} has no model with layers of {kind}; expected {having}")
        like, listed = SERVED[software][kind], NEWER_LISTS.get((software, kind), LISTS[software])
        lines.append(f"a release that reads this model: of layers of {kind} {listed} has {like}")
    return tuple(lines)
