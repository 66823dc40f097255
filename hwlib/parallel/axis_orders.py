"""The order of a mesh's axes: which is innermost, on neighbouring ranks, and which spans racks.

`hwlib.parallel.transfers` numbers ranks in the usual order, tensor first and pipeline last. Here an axis may stand
anywhere, so that the usual order can be held against the others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from math import prod
from typing import Any

from hwlib.parallel.transfers import Transfer, axis_times


def reordered(found: Sequence[Transfer], sizes: Mapping[str, int], order: Sequence[str]) -> tuple[Transfer, ...]:
    """The same transfers with the axes from the inside out as in `order`; `sizes` has the ranks of each axis.

    Every transfer must span its whole axis: no context parallelism beside data, no experts, no HSDP. Raises ValueError.
    """
    if sorted(order) != sorted(sizes):
        raise ValueError(f"reordered: the order names {', '.join(order)}; the axes are {', '.join(sizes)}")
    inner = {axis: prod(sizes[transfer] for transfer in order[:place]) for place, axis in enumerate(order)}
    for transfer in found:
        if transfer.axis not in sizes or transfer.ranks != sizes[transfer.axis]:
            raise ValueError(f"reordered: {transfer} is not over a whole axis of {dict(sizes)}")
    return tuple(replace(transfer, inner=inner[transfer.axis]) for transfer in found)


def order_times(
    found: Sequence[Transfer], sizes: Mapping[str, int], levels: Any
) -> dict[tuple[str, ...], dict[str, float]]:
    """For every order of the axes, innermost first, the seconds that each axis takes in a step, if alone."""
    return {order: axis_times(reordered(found, sizes, order), levels) for order in permutations(sizes)}
