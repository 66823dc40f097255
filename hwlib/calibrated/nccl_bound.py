"""What the wires of a machine allow a collective at best: the data sheet's rates, where no constants were fitted.

No latency is in it, and no share of a rate that is lost, so a sound run may take half as long again; but none takes
less.
"""

from hwlib.collectives import bus_factor
from hwlib.formula import maximum, minimum
from hwlib.specs import Node

__all__ = ["between_nodes", "bound_time", "switch_reduces"]

REDUCES = ("nvswitch3", "nvswitch4")
"""Switches that add up what passes through them (NVLS): not yet those of the A100."""
SHARP = "SHARP"
WHOLE = ("broadcast", "reduce", "send")
"""What takes all of the buffer into each node, or out of it."""


def switch_reduces(node: Node) -> bool:
    """Whether the switches inside a node take part in an all-reduce."""
    return node.switch in REDUCES


def bound_time(node: Node, collective: str, n: int, S: float, network: str = "") -> float:
    """The least seconds of a collective of S bytes (the full buffer) on n chips, whole nodes or less than one.

    Inside a node a ring carries 2(n - 1)/n of an all-reduce through each port, and switches that reduce (n + 1)/n.
    Between m nodes the cards of each carry 2(m - 1)/m of it, once all of a node's chips have added up; with a network
    that reduces all of it once.

    >>> from hwlib.specs import nodes
    >>> round(bound_time(nodes["dgx-h100"], "all_reduce", 8, 1e9) * 1e6)
    2500
    """
    near = min(n, node.chips)
    W = _port(node, near)
    inside = _inside(node, collective, near) * S / W if W else 0.0
    if n <= node.chips or not node.egress_bandwidth:
        return inside
    return float(
        maximum(inside, between_nodes(collective, n / node.chips, node.chips, network) * S / node.egress_bandwidth)
    )


def _port(node: Node, n: int) -> float:
    """What a chip sends to n - 1 others: in a mesh only the links to these count."""
    if node.shape == "mesh" and n > 1:
        return node.scaleup_bandwidth * (n - 1) / (node.chips - 1)
    return node.scaleup_bandwidth


def _inside(node: Node, collective: str, n: int) -> float:
    """Bytes that cross a port of a chip, of each byte of the buffer."""
    ring = bus_factor(collective, n)
    if collective == "all_reduce" and switch_reduces(node):
        return float(minimum(ring, (n + 1) / n))
    return float(ring)


def between_nodes(collective: str, m: float, chips: int, network: str) -> float:
    """Bytes that leave a node, of each byte of the buffer."""
    if collective == "all_to_all":
        return chips * (m - 1) / m
    if collective in WHOLE:
        return 1.0
    once = (m - 1) / m
    if collective == "all_reduce":
        return 1.0 if SHARP in network else 2 * once
    return once
