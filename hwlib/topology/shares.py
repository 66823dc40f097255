"""Shared cables: flows that a hash assigns to the same one, and the bandwidth left after switch failures.

A network that does not block has a cable for every flow; whether each flow gets its own is up to the routing.
"""

from typing import Any

from hwlib.arguments import as_int
from hwlib.formula import floor, formula, maximum, minimum

__all__ = [
    "allreduce_left_fraction",
    "allreduce_spare_switches",
    "alltoall_left_fraction",
    "alltoall_spare_switches",
    "busiest_cable_flows",
    "idle_cable_fraction",
    "spines_left_fraction",
]


@formula("idle", cite="gangidi2024")
def idle_cable_fraction(flows, up):
    """Each flow picks one of the cables up by a hash, as good as at random: some are picked by none."""
    return (1 - 1 / up) ** flows


def busiest_cable_flows(flows: int, up: int) -> float:
    """How many flows share the busiest of `up` cables, in expectation, if each picks one at random.

    The slowest flow gets the reciprocal of that share, and a collective waits for it. Exact: the flows are taken
    as independent Poisson counts a cable, given their sum. A plain function, since its sum has no closed form.
    Raises ValueError for anything but a count.
    """
    import numpy as np

    flows, up = as_int("busiest_cable_flows: flows", flows), as_int("busiest_cable_flows: up (cables)", up)
    rate = flows / up
    steps = np.log(np.arange(1, flows + 1))
    terms = np.exp(np.arange(flows + 1) * np.log(rate) - np.concatenate([[0.0], np.cumsum(steps)]) - rate)
    total = np.exp(flows * np.log(flows) - steps.sum() - flows)  # the sum is Poisson, too
    expected = 0.0
    for most in range(flows):
        below = 1.0 - _power(np.where(np.arange(flows + 1) <= most, terms, 0.0), up)[flows] / total
        expected += below
        if below < 1e-12:
            break
    return float(expected)


def _power(row: Any, times: int) -> Any:
    """The row convolved with itself, cut to its length."""
    import numpy as np

    result = None
    while times:
        if times & 1:
            result = row if result is None else np.convolve(result, row)[: len(row)]
        row, times = np.convolve(row, row)[: len(row)], times >> 1
    return result


@formula("left", cite="alfares2008")
def spines_left_fraction(switches, dead):
    """Of the cut through the top tier, what the switches that still work carry."""
    return maximum(0, 1 - dead / switches)


@formula("left", cite="scaling-book")
def alltoall_left_fraction(d, switches, dead, omega):
    """Of what the network cards could send: of it all 1 - 1/d is for the other groups (2 or more), over the top tier.

    To first order: there are many ranks in each group, so nearly everything leaves its own node.
    """
    return minimum(1, spines_left_fraction(switches, dead) / (maximum(omega, 1) * (1 - 1 / maximum(d, 2))))


@formula("left", cite="scaling-book")
def allreduce_left_fraction(d, n_out, switches, dead, omega):
    """Of what the network cards allow: n_out nodes of a group add up among themselves before anything leaves it.

    A group sends its 2(d - 1)/d of S over the top tier, where it is n_out nodes wide; a node sends 2(n_out - 1)/n_out.
    Two or more of each.
    """
    return minimum(
        1,
        (maximum(n_out, 2) - 1) * spines_left_fraction(switches, dead) / (maximum(omega, 1) * (1 - 1 / maximum(d, 2))),
    )


@formula("switches", cite="scaling-book")
def alltoall_spare_switches(d, switches, omega):
    """So many spines may fail before less gets over the top than an all-to-all sends there: with d groups, 1 - 1/d."""
    return maximum(0, floor(switches - switches * maximum(omega, 1) * (maximum(d, 2) - 1) / maximum(d, 2)))


@formula("switches", cite="scaling-book")
def allreduce_spare_switches(d, n_out, switches, omega):
    """So many may fail before the group, n_out nodes wide, is slower over the top than each of its nodes is below."""
    return maximum(
        0,
        floor(
            switches - switches * maximum(omega, 1) * (maximum(d, 2) - 1) / (maximum(d, 2) * (maximum(n_out, 2) - 1))
        ),
    )
