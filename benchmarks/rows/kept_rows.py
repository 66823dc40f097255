"""A sample of the published rows, benchmarks/data/published.csv, for quick tests, and how it was chosen.

From each large set a few rows at even steps in the order of GPUs and size; from the single figures, those of
the chips whose sweeps are kept. Measured values play no part in the choice. `python -m benchmarks.fidelity
--keep --data FILE` writes the table anew.
"""

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

from benchmarks.paths import DATA
from benchmarks.rows.published import COLUMNS, PublishedRow, rows_to_fit, sets

KEPT = DATA / "published.csv"
# Rows to keep of a set by its name, the first pattern that fits; a set that none fits is not kept.
QUOTA = (
    (r"aic-gemm-", 7), (r"aic-nccl-", 4), (r"nvlstree$", 15), (r"ar-(a100|h200|b200)x8$", 4),
    (r"ar-aws-p4de$", 3), (r"ar2-p5-2x8$", 6), (r"ar2-(b200-4x8|gb200)$", 5), (r"deepgemm$", 3),
    (r"stream-(A100-80|H100 PCIe)-(read|triad)$", 1),
    (r"mamf-(A100|H100|B200)-SXM-bf16$", 1), (r"ar-(h200|b200)-n[58]$", 1),
    (r"kor-t5$", 2), (r"kor-f1-", 2), (r"kor-f7$", 5), (r"meg2[014]$", 2), (r"vtrain-multi$", 4),
    (r"vtrain-single$", 6), (r"mosaic-(a100|h100)$", 3), (r"mbridge-h100-llama3$", 3), (r"mbridge-\w+-llama3$", 2),
    (r"nemo2407$", 3), (r"attn-(ctx|dec)-(a100|h100|b200)_sxm-(trtllm|vllm|sglang)$", 1), (r"moe-\w+_sxm-trtllm$", 2),
    (r"moe-h100_sxm-(vllm|sglang)$", 1),
)  # fmt: skip
HEAD = """# A few published measurements, each with its source, chosen by sets and sizes alone: see
# benchmarks/rows/kept_rows.py. Times, rates and configurations are as printed there.
"""


def kept(rows: list[PublishedRow]) -> Iterator[PublishedRow]:
    """The rows to keep, set by set."""
    for name, members in sets(rows):
        quota = next((count for pattern, count in QUOTA if re.match(pattern, name)), 0)
        ordered = sorted(members, key=_size)
        count = min(quota, len(ordered))
        yield from (ordered[int((i + 0.5) * len(ordered) / count)] for i in range(count))


def _size(row: PublishedRow) -> tuple[float, ...]:
    if "M" in row.config:
        M, N, K = (float(row.config[letter]) for letter in "MNK")
        return (M * N * K, M, N, K)
    return (row.gpus, float(row.config.get("bytes", 0)), float(row.config.get("gbs") or 0), float(row.line))


def kept_table(path: Path) -> str:
    """The table of kept rows, as text. Raises DataError for a bad file."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(row.cells for row in sorted(kept(rows_to_fit(path)), key=lambda row: row.line))
    return HEAD + out.getvalue()
