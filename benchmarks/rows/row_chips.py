"""The chip that the words of a row name: one of the library's, or one that only rows have.

A chip that constants were fitted on is named by the readers themselves; this is of all others, for which the data sheet
stands. Rows of several sources name a chip differently, so its name is searched in the words.
"""

import re
from dataclasses import replace
from typing import Any

from hwlib.specs import Accelerator, accelerators

NAMES = (
    (r"\bMI300X\b", "mi300x"),
    (r"\bMI325X\b", "mi325x"),
    (r"\bMI350X\b", "mi350x"),
    (r"\bMI355X\b", "mi355x"),
    (r"\bMI250X\b", "mi250x-gcd"),
    (r"\bGH200\b", "gh200"),
    (r"\bGB10\b", "gb10"),
    (r"\bA800\b", "a800-80gb-sxm"),
    (r"A100[ -]?40 ?GB[ -]?PCIe|A100[ -]?PCIe[ -]?40", "a100-40gb-pcie"),
    (r"Inferentia2|\binf2\b", "inferentia2"),
    (r"Trainium3|\btrn3", "trainium3"),
    (r"Trainium2|\btrn2", "trainium2"),
    (r"Trainium|\btrn1", "trainium1"),
    (r"\bv4\b", "tpu-v4"),
    (r"\bv5e\b", "tpu-v5e"),
    (r"\bv5p\b", "tpu-v5p"),
    (r"\bv6e\b", "tpu-v6e"),
    (r"\b(v7x|7x)\b", "tpu-v7x"),
    (r"A100[ -]?PCIe", "a100-80gb-pcie"),
    (r"H100[ -]?PCIe", "h100-pcie"),
    (r"\bH100[ -]NVL\b", "h100-nvl"),
    (r"\bH200[ -]NVL\b", "h200-nvl"),
    (r"\bL40S\b", "l40s"),
    (r"\bRTX ?PRO ?6000\b", "rtx-pro-6000"),
    (r"\bRTX ?4090\b", "rtx-4090"),
    (r"\bRTX ?5090\b", "rtx-5090"),
    (r"\bL40\b", "l40"),
    (r"\bL4\b", "l4"),
    (r"\bA10\b", "a10"),
    (r"\bA40\b", "a40"),
    (r"\bH20\b", "h20-sxm"),
    (r"\bGB300\b", "gb300-nvl72"),
    (r"\bGB200\b", "gb200-nvl72"),
    (r"\bB300\b", "b300-sxm"),
    (r"\bB200\b", "b200-sxm"),
    (r"\bH200\b", "h200-sxm"),
    (r"\bH800\b", "h800-sxm"),
    (r"\bH100\b", "h100-sxm"),
    (r"\bA100[-_ ]?40", "a100-40gb-sxm"),
    (r"\bA100\b", "a100-80gb-sxm"),
    (r"\bV100\b", "v100-sxm2"),
)
"""The first that the words of a row hold, so that a longer name stands before one that it has in it."""
FURTHER: dict[str, tuple[str, str, dict[str, Any]]] = {
    "inferentia2": ("Inferentia2", "trainium1", {}),
    "gh200": ("GH200", "h100-sxm", {"hbm_bytes": 96e9, "hbm_bandwidth": 4e12}),
    "mi250x-gcd": (
        "MI250X (one die)",
        "mi300x",
        {"bf16_flops": 191.5e12, "fp8_flops": None, "hbm_bytes": 64e9, "hbm_bandwidth": 1.6384e12, "sms": 110},
    ),
}
"""Chips of rows that the library has not, each by name, the chip that it has all else of, and what is its own.

The manuals of Inferentia2 and of Trainium print the same rates and memory. GH200 of 96 GB has 4 TB/s (NVIDIA's data
sheet of the superchip). Half of an MI250X's 383 TFLOP/s, 128 GB and 3.2768 TB/s are of a die (AMD's data sheet).
"""


def chip_of_words(words: str) -> Accelerator:
    """The chip that some words name. Raises ValueError, naming the words, for any that are of none."""
    plain = words.replace("_", " ")
    key = next((key for pattern, key in NAMES if re.search(pattern, plain, re.IGNORECASE)), "")
    if key in accelerators or key in FURTHER:
        return _chip(key)
    raise ValueError(f"system is {words!r}, which names no chip with a data sheet here")


def _chip(key: str) -> Accelerator:
    if key in accelerators:
        return accelerators[key]
    name, like, own = FURTHER[key]
    return replace(accelerators[like], key=key, name=name, **own)
