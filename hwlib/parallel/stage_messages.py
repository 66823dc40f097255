"""Messages between pipeline stages, as formulas. When they wait for each other is in `hwlib.pipeline`."""

from hwlib.formula import formula


@formula("S_out", cite="narayanan2021")
def pp_bytes(B, D, tp=1, v=1, b=2):
    """What a rank in the middle sends in a step: B tokens of its replica forward, their gradients back.

    With v chunks a rank does that v times. The tp ranks of a stage hold the same, or a share each: 1/tp suffices.
    """
    return 2 * v * b * B * D / tp


@formula("t", cite="scaling-book")
def pp_forward_time(B, D, m, pp, W, b=2):
    """Forward pass with nothing hidden: m microbatches cross the first hop, and the last crosses pp - 2 more."""
    return b * B * D / (W * m) * (m + pp - 2)


@formula("t", cite="scaling-book")
def pp_layer_time(B, D, L, m, pp, W, b=2):
    """The same spread over the layers, to hold against what another strategy sends in each."""
    return pp_forward_time(B, D, m, pp, W, b) / L
