"""A systolic array played register by register, so that the formulas of `systolic` can be compared with a run.

Weights stay: each multiplier holds one. In every cycle its operand moves one place to the right and the partial sum one
place down, so that what enters row r is delayed by r cycles, and results leave skewed at the bottom.
"""

from collections.abc import Sequence
from typing import NamedTuple

Matrix = Sequence[Sequence[float]]


class SystolicRun(NamedTuple):
    """A product on an array of `side` x `side` multipliers: the result, all cycles, and what was where.

    `places[t]` is {(row, column): (tile, row of the left operand)} of cycle t, of the multipliers that had an operand.
    `useful` counts the multiplications that are of the product and not of its padding.
    """

    product: list[list[float]]
    cycles: int
    places: list[dict[tuple[int, int], tuple[int, int]]]
    useful: int
    side: int

    @property
    def share(self) -> float:
        """Of the multipliers' cycles, those in which they did work of the product."""
        return self.useful / (self.side**2 * self.cycles)


def play_systolic(A: Matrix, W: Matrix, side: int) -> SystolicRun:
    """The product of A, M x K, and weights W, K x N, in tiles of `side` x `side` weights, cycle by cycle.

    The weights of the first tile shift in, a row a cycle; those of the next do so while the rows of A pass, into a
    second register of each multiplier, and are used from the first row on that arrives after they are all there. Sums
    of tiles that share columns of the result are added below the array. Raises ValueError for shapes that do not fit.

    >>> play_systolic([[1, 2], [3, 4]], [[5, 6], [7, 8]], side=2).product
    [[19.0, 22.0], [43.0, 50.0]]
    """
    M, K, N = len(A), len(W), len(W[0]) if W else 0
    if side < 1 or not (M and K and N) or any(len(row) != K for row in A) or any(len(row) != N for row in W):
        raise ValueError(f"play_systolic: A of M x K and W of K x N, got {M} x {len(A[0]) if A else 0} and {K} x {N}")
    tiles = [(k, n) for n in range(0, N, side) for k in range(0, K, side)]
    starts = [side]
    while len(starts) < len(tiles):  # the array is free after M cycles, and the next weights are there after `side`
        starts.append(starts[-1] + max(M, side))
    entering = {start + m: (tile, m) for tile, start in enumerate(starts) for m in range(M)}
    product = [[0.0] * N for _ in range(M)]
    places: list[dict[tuple[int, int], tuple[int, int]]] = []
    operand: dict[tuple[int, int], tuple[int, int, float]] = {}
    sums: dict[tuple[int, int], float] = {}
    useful = left = 0
    while left < len(tiles) * M * side:
        t = len(places)
        moved = {(r, c + 1): x for (r, c), x in operand.items() if c + 1 < side}
        for r in range(side):
            if t - r in entering:
                tile, m = entering[t - r]
                k = tiles[tile][0] + r
                moved[r, 0] = (tile, m, A[m][k] if k < K else 0.0)
        operand, above, sums = moved, sums, {}
        for (r, c), (tile, m, x) in operand.items():
            k, n = tiles[tile][0] + r, tiles[tile][1] + c
            inside = k < K and n < N
            useful += inside
            sums[r, c] = above.get((r - 1, c), 0.0) + (x * W[k][n] if inside else 0.0)
            if r == side - 1:
                left += 1
                if n < N:
                    product[m][n] += sums[r, c]
        places.append({at: (tile, m) for at, (tile, m, _) in operand.items()})
    return SystolicRun(product, len(places), places, useful, side)
