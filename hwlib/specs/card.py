"""Cards by the names that drivers print: nvidia-smi, torch and the header of nccl-tests all have the same.

Names that begin alike are different boards: an H100 NVL sits in PCIe and is bridged to one other, a MIG slice has no
NVLink, an H100 of 64 GB is another product. So a name is known as a whole or not at all.
"""

from hwlib.specs.accelerator import Accelerator, accelerators

__all__ = ["CARDS", "card_of"]

MAKERS = ("nvidia ", "amd ", "instinct ", "tesla ")
"""What stands before a card's own name, in this order, or is left out."""
CARDS = {
    "v100-sxm2-32gb": "v100-sxm2",
    "a10": "a10",
    "a40": "a40",
    "a100-sxm4-40gb": "a100-40gb-sxm",
    "a100-sxm4-80gb": "a100-80gb-sxm",
    "a100-sxm-80gb": "a100-80gb-sxm",
    "a100-pcie-40gb": "a100-40gb-pcie",
    "a100 80gb pcie": "a100-80gb-pcie",
    "a800-sxm4-80gb": "a800-80gb-sxm",
    "l4": "l4",
    "l40s": "l40s",
    "geforce rtx 4090": "rtx-4090",
    "geforce rtx 5090": "rtx-5090",
    "rtx pro 6000 blackwell server edition": "rtx-pro-6000",
    "rtx pro 6000 blackwell workstation edition": "rtx-pro-6000-workstation",
    "h100 80gb hbm3": "h100-sxm",
    "h100 pcie": "h100-pcie",
    "h100 nvl": "h100-nvl",
    "h200": "h200-sxm",
    "h200 nvl": "h200-nvl",
    "h20": "h20-sxm",
    "h800": "h800-sxm",
    "gh200 120gb": "gh200",
    "gh200 480gb": "gh200",
    "gb10": "gb10",
    "b200": "b200-sxm",
    "b300": "b300-sxm",
    "b300 sxm6 ac": "b300-sxm",
    "gb200": "gb200-nvl72",
    "gb300": "gb300-nvl72",
    "mi300x": "mi300x",
    "mi300x oam": "mi300x",
    "mi325x": "mi325x",
    "mi325x oam": "mi325x",
    "mi350x": "mi350x",
    "mi350x oam": "mi350x",
    "mi355x": "mi355x",
    "mi355x oam": "mi355x",
}
"""Keys of chips, by what drivers print, in lower case and without the maker."""


def card_of(name: str) -> Accelerator | None:
    """The chip of a card's name, None if it is not known as a whole.

    >>> card_of("NVIDIA H100 80GB HBM3").key, card_of("NVIDIA H100 80GB HBM3 MIG 1g.10gb")
    ('h100-sxm', None)
    """
    bare = " ".join(name.lower().split())
    for maker in MAKERS:
        bare = bare.removeprefix(maker)
    return accelerators[CARDS[bare]] if bare in CARDS else None
