"""Two ways to multiply replicated activations by a weight that is split along the sum, in letters."""

from hwlib.formula import formula, maximum


@formula("t", cite="scaling-book")
def gather_multiply_time(B, D, F, n, C, W, b=2):
    """Gather the weight, of which each device lacks (n - 1)/n, and let every device do all of the arithmetic."""
    return maximum(2 * B * D * F / C, (n - 1) / n * b * D * F / W)


@formula("t", cite="scaling-book")
def multiply_reduce_time(B, D, F, n, C, W, b=2):
    """Each device does an n-th of the arithmetic, on its own part of the sum, and the results are all-reduced."""
    return maximum(2 * B * D * F / (n * C), 2 * (n - 1) / n * b * B * F / W)
