"""Which reader reads a row of a table that has no column `reader`.

The project's own tables name the reader of each row. Of a table from elsewhere it follows from the kind of a row and
from the beginning of its id, or else from the software that the row names, and there is a reader of each kind for all
others, which goes by what the row says. `NONE` reads rows that no model speaks about.
"""

import re
from collections.abc import Mapping
from typing import Any

NONE = "none"
ASKED = {"measure", "rank", "stage"}
"""Cells by which a peak says what was trained, and needs no reader of its software."""
OF_KIND = {
    "memory": "memory-figures",
    "allreduce": "nodes",
    "inference-serving": "serving",
    "attention-context": "attention-context",
    "attention-decode": "attention-decode",
    "grouped-gemm": "grouped-gemm",
}
"""Kinds whose rows all have one reader."""
BY_CONTENT = ("kernel", "collective", "inference")
"""Kinds that have a reader of their name for rows that none was written for."""
TRAINING = (
    (r"kor-t5-", "kor-t5"), (r"kor-abs-", "kor-abs"), (r"meg21-", "meg21"), (r"meg20-", "meg20"), (r"meg24-", "meg24"),
    (r"vtrain-multi", "vtrain-multi"), (r"vtrain-single", "vtrain-single"), (r"vtrain", "vtrain"),
    (r"mosaic", "mosaic"), (r"bloom", "bloom"), (r"mbridge", "mbridge"), (r"nemo2407", "nemo2407"),
    (r"nemo-long.*B200", "nemo-b200"), (r"nemo-long", "nemo-long"), (r"nemo\d*-b200", "nemo-b200"),
    (r"nemo24", "nemo24"), (r"titan", "torchtitan"), (r"ao-", "torchao"), (r"fms-", "fms-fsdp"),
    (r"internevo", "internevo"), (r"megascale.*megatron", "megascale-megatron"), (r"megascale", "megascale"),
    (r"ultrascale", "ultrascale"), (r"nanotron", "nanotron"), (r"maxtext", "maxtext"),
    (r"(mlperf\d*-amd|primus)-", "megatron-rocm"), (r"mlperf", "mlperf"),
    (r"dsv3", "dsv3"),
)  # fmt: skip
MEMORY = (
    (r"ao-", r"torchao", "memory-torchao"),
    (r"titan", r"torchtitan", "memory-torchtitan"),
    (r"tune-", r"torchtune", "memory-torchtune"),
    (r"litgpt-", r"litgpt", "memory-litgpt"),
    (r"qwen-", r"qwen", "memory-qwen"),
    (r"internevo-", r"internevo", "memory-internevo"),
    (r"bloom-", r"bigscience", "memory-bloom"),
)
OTHERS = (
    (r"(aic-gemm|deepgemm|aiter-gemm)\b", "product"), (r"mamf-", "best-product"), (r"(stream|dram)-", "stream"),
    (r"aic-nccl-", "nccl-tests"), (r"nvlstree$", "nvlstree"), (r"ar-a100x8", "one-process-a100"),
    (r"ar-b200x\d\d", "nodes-efa"),  # ten GPUs or more: several nodes
    (r"ar-[a-z]+\d+x\d\d", "nodes"), (r"(ar|all_reduce)-h200", "torch-h200"), (r"ar-b200", "torch-b200"),
    (r"ar-aws-p4de", "two-nodes-a100"), (r"(all_gather|reduce_scatter)-h200", "nccl-tests-h200"),
    (r"mbook-h100-ag", "nccl-tests-h100"), (r"nccl2140-H100", "nccl-tests-h100"),
    (r"gtc24-NVLink3-A100", "one-process-a100"), (r"gtc24-NVLink4-H100", "nccl-tests-h100-ring"),
    (r"gtc24-NVLink4-SHARP-H100", "nccl-tests-h100"), (r"gtc25-ar-DGX-H100$", "nvlstree"),
    (r"gtc25-ar-GB200-NVL72-SHARP", "sharp-gb200"), (r"gtc25-ar-NVLink5-B200", "torch-b200-ring"),
    (r"gtc25-ar-NVLink5-SHARP-B200", "torch-b200"), (r"gtc25-a2a-NVLink3-A100", "nccl-tests-a100"),
    (r"gtc25-a2a-NVLink4-H100", "nccl-tests-h100"), (r"gtc25-a2a-NVLink5-B200", "nccl-tests-b200"),
)  # fmt: skip
"""By the id without the numbers at its end."""


def set_of(name: str) -> str:
    """An id without the numbers at its end."""
    return re.sub(r"(-\d+)+$", "", name)


def reader_of(kind: str, name: str, config: Mapping[str, Any]) -> str:
    """The name of the reader of a row with this kind, id and configuration."""
    if kind in OF_KIND:
        return OF_KIND[kind]
    if kind == "train-step":
        return _first(TRAINING, name) or ("one-gpu" if "rank" in config else "unknown")
    if kind == "train-memory":
        software = str(config.get("software", "")).lower()
        by_id = _first(tuple((pattern, reader) for pattern, _, reader in MEMORY), name)
        by_software = next((reader for _, pattern, reader in MEMORY if re.search(pattern, software)), "")
        return by_id or by_software or ("memory-one-gpu" if ASKED & set(config) else "memory-unknown")
    return _first(OTHERS, set_of(name)) or (kind if kind in BY_CONTENT else NONE)


def _first(patterns: tuple[tuple[str, str], ...], text: str) -> str:
    return next((reader for pattern, reader in patterns if re.match(pattern, text)), "")
