"""The machine whose GPUs a log of nccl-tests names.

Names that begin alike are different boards: an H100 NVL sits in PCIe and is bridged to one other, a MIG slice has no
NVLink, an H100 of 64 GB is another product. So a name is known as a whole or not at all.
"""

from typing import NamedTuple

from hwlib.calibrated.nccl_table import LogError
from hwlib.specs import Node, nodes

__all__ = ["LoggedGpu", "logged_gpu", "logged_node"]


class LoggedGpu(NamedTuple):
    """The chip of a name, and the machine that it is usually part of, by their keys."""

    chip: str
    node: str


GPUS = {
    "a100-sxm4-80gb": LoggedGpu("a100-80gb-sxm", "dgx-a100"),
    "a100-sxm-80gb": LoggedGpu("a100-80gb-sxm", "dgx-a100"),
    "a100-sxm4-40gb": LoggedGpu("a100-40gb-sxm", "dgx-a100"),
    "h100 80gb hbm3": LoggedGpu("h100-sxm", "dgx-h100"),
    "h200": LoggedGpu("h200-sxm", "dgx-h200"),
    "b200": LoggedGpu("b200-sxm", "dgx-b200"),
    "b300": LoggedGpu("b300-sxm", "dgx-b300"),
    "b300 sxm6 ac": LoggedGpu("b300-sxm", "dgx-b300"),
    "gb200": LoggedGpu("gb200-nvl72", "gb200-nvl72"),
    "gb300": LoggedGpu("gb300-nvl72", "gb300-nvl72"),
}
"""By what NVIDIA's driver prints, in lower case and without the vendor."""


def logged_gpu(name: str) -> LoggedGpu | None:
    """The chip of a name in a log, None if it is not known as a whole.

    >>> logged_gpu("NVIDIA H100 80GB HBM3").node, logged_gpu("NVIDIA H100 NVL")
    ('dgx-h100', None)
    """
    return GPUS.get(" ".join(name.lower().split()).removeprefix("nvidia "))


def logged_node(name: str) -> Node:
    """The usual machine of a name. Raises LogError for one that is not known, and for none."""
    if gpu := logged_gpu(name):
        return nodes[gpu.node]
    if name:
        raise LogError(f"the log's GPU is {name!r}; known names, with or without NVIDIA before them: {', '.join(GPUS)}")
    raise LogError("the log does not name its GPU")
