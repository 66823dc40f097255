"""Cycles of a product on a systolic array: a square of `side` x `side` multipliers that hold a tile of the weights.

Rows of the left operand enter one a cycle, skewed, and partial sums move on by one multiplier a cycle. While the rows
of one tile pass, the weights of the next shift in, a row a cycle.
"""

from hwlib.formula import ceil, formula, maximum


@formula("cycles", cite="samajdar2020")
def systolic_tile_cycles(M, side):
    """One tile of weights alone: `side` cycles to load it, M rows, and 2*side - 2 for the last to cross the square."""
    return side + M + 2 * side - 2


@formula("cycles", cite="jouppi2017")
def systolic_cycles(M, N_col, K_sum, side):
    """M rows through all tiles of a K_sum x N_col matrix: the loads but the first hide if there are `side` rows.

    No load follows the last tile, so that it takes its rows alone.
    """
    return (ceil(K_sum / side) * ceil(N_col / side) - 1) * maximum(M, side) + systolic_tile_cycles(M, side)


@formula("eta_C", cite="jouppi2017")
def systolic_fraction(M, N_col, K_sum, side):
    """Share of the multipliers' cycles that are multiplications of the product: what padding and filling leave."""
    return M * N_col * K_sum / (side**2 * systolic_cycles(M, N_col, K_sum, side))
