"""The machine whose GPUs a log of nccl-tests names."""

from typing import NamedTuple

from hwlib.calibrated.nccl_table import LogError
from hwlib.specs import Node, nodes
from hwlib.specs.card import CARDS, card_of

__all__ = ["LoggedGpu", "logged_gpu", "logged_node", "usual_node"]


class LoggedGpu(NamedTuple):
    """The chip of a name, and the machine that it is usually part of, by their keys."""

    chip: str
    node: str


SAME_BOARD = {"a100-40gb-sxm": "a100-80gb-sxm"}
"""Chips whose machine has a row with another memory."""


def logged_gpu(name: str) -> LoggedGpu | None:
    """The chip of a name in a log, None if it is not known as a whole.

    >>> logged_gpu("NVIDIA H100 80GB HBM3").node, logged_gpu("NVIDIA H100 NVL").node, logged_gpu("NVIDIA H100 64GB")
    ('dgx-h100', 'h100-nvl-pair', None)
    """
    chip = card_of(name)
    node = usual_node(chip.key) if chip else None
    return LoggedGpu(chip.key, node.key) if chip and node else None


def usual_node(chip: str) -> Node | None:
    """The machine that a chip is usually part of: the first of the tables; None where there is none."""
    board = SAME_BOARD.get(chip, chip)
    return next((node for node in nodes.values() if node.accelerator == board), None)


def logged_node(name: str) -> Node:
    """The usual machine of a name. Raises LogError for one that is not known, and for none."""
    if gpu := logged_gpu(name):
        return nodes[gpu.node]
    if name:
        raise LogError(
            f"the log's GPU is {name!r}; known names, with or without NVIDIA before them: {', '.join(CARDS)}"
        )
    raise LogError("the log does not name its GPU")
