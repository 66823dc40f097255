"""One level of a network of switches."""

from typing import NamedTuple


class Level(NamedTuple):
    """One level of a tree: `size` children, each with `bandwidth` (B/s, one direction) into it."""

    name: str
    size: int
    bandwidth: float
