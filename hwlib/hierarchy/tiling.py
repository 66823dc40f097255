"""The traffic of a tiled matmul: a product of M rows and N_col columns, summed over K_sum.

An output tile of b_m x b_n needs its rows of one operand and its columns of the other, in steps of depth
b_k. The fast memory limits the tile, and the tile determines the traffic. An element of the operands has b bytes,
of the result b_out, of the accumulator b_acc.
"""

from typing import NamedTuple

from hwlib.formula import ceil, floor, formula, sqrt


@formula("bytes", cite="nvidia-matmul-guide")
def naive_matmul_bytes(M, N_col, K_sum, b=2, b_out=2):
    """Without any reuse: every multiply-add fetches both operands; sums stay in a register."""
    return 2 * b * M * N_col * K_sum + b_out * M * N_col


@formula("bytes", cite="nvidia-matmul-guide")
def tiled_matmul_bytes(M, N_col, K_sum, b_m, b_n, b=2, b_out=2):
    """The left operand is read once for each column of tiles, the right one once for each row of tiles.

    Exact, including ragged tiles at the edges. One tile as large as the product reads everything once.
    """
    return b * K_sum * (M * ceil(N_col / b_n) + N_col * ceil(M / b_m)) + b_out * M * N_col


@formula("I", cite="nvidia-matmul-guide")
def tile_intensity(b_m, b_n, b=2):
    """Operations per byte of one tile over a long sum: in 2-byte elements b_m*b_n/(b_m + b_n).

    A square tile of side a has a/b, so traffic falls as tiles grow. To first order: the result is left out.
    """
    return 2 * b_m * b_n / (b * (b_m + b_n))


@formula("I", cite="nvidia-matmul-guide")
def tiled_matmul_intensity(M, N_col, K_sum, b_m, b_n, b=2, b_out=2):
    """Operations per byte of the whole tiled product. Exact."""
    return 2 * M * N_col * K_sum / tiled_matmul_bytes(M, N_col, K_sum, b_m, b_n, b, b_out)


@formula("S_fast", cite="nvidia-matmul-guide")
def tile_bytes(b_m, b_n, b_k, b=2, stages=1, b_acc=0):
    """Fast memory of a tile: its input tiles, `stages` times so that some load while one is used, and its sums.

    b_acc is 0 where the sums are kept elsewhere: in registers, or on Blackwell in tensor memory.
    """
    return stages * b * b_k * (b_m + b_n) + b_acc * b_m * b_n


@formula("side", cite="nvidia-matmul-guide")
def largest_square_tile(S_fast, b=2):
    """Largest side of three square tiles, two inputs and the output, that fit in the fast memory together."""
    return floor(sqrt(S_fast / (3 * b)))


# Tiles over the multiprocessors, and their reuse in L2


@formula("tiles", cite="nvidia-matmul-guide")
def output_tiles(M, N_col, b_m, b_n):
    """Tiles that cover the output; those at the edges may be ragged."""
    return ceil(M / b_m) * ceil(N_col / b_n)


@formula("waves", cite="nvidia-matmul-guide")
def wave_rounds(tiles, n_SM):
    """Each multiprocessor takes one tile at a time; a partial last wave takes as long as a full one."""
    return ceil(tiles / n_SM)


@formula("eta_C", cite="nvidia-matmul-guide")
def wave_fraction(tiles, n_SM):
    """Fraction of the multiprocessors' time that the waves fill; one tile more than a full wave nearly halves it."""
    return tiles / (n_SM * wave_rounds(tiles, n_SM))


@formula("bytes", cite="nvidia-matmul-guide")
def wave_matmul_bytes(M, N_col, K_sum, b_m, b_n, g_m, g_n, b=2, b_out=2):
    """HBM traffic when a wave of g_m x g_n tiles steps along the sum together: for the L2 cache it is one large tile.

    A row of tiles (g_m = 1) shares only its one row panel; a square wave shares most. Exact while the L2 cache
    keeps what the wave is reading and nothing of the wave before.
    """
    return tiled_matmul_bytes(M, N_col, K_sum, g_m * b_m, g_n * b_n, b, b_out)


class OutputTile(NamedTuple):
    """An output tile and the depth of its input tiles, in elements; its bytes of fast memory."""

    b_m: int
    b_n: int
    b_k: int
    bytes: float


def largest_tile(
    S_fast: float, b_k: int = 64, b: float = 2, stages: int = 1, b_acc: float = 0, step: int = 16
) -> OutputTile:
    """The tile of highest intensity that fits in S_fast bytes, its sides multiples of `step`; ties go to the square.

    Raises ValueError if not even a tile of step x step fits, and for sizes that are not above 0.
    """
    for name, value in {"S_fast": S_fast, "b_k": b_k, "b": b, "stages": stages, "step": step}.items():
        if not 0 < value < float("inf"):
            raise ValueError(f"largest_tile: {name} is above 0 and finite, got {value!r}")
    if not 0 <= b_acc < float("inf"):
        raise ValueError(f"largest_tile: b_acc is at least 0 and finite, got {b_acc!r}")
    candidates = []
    for b_m in range(step, _most(S_fast, step, b_k, b, stages, b_acc) + 1, step):
        room = S_fast - stages * b * b_k * b_m
        b_n = int(room / (stages * b * b_k + b_acc * b_m)) // step * step
        if b_n >= step:
            candidates.append((tile_intensity(b_m, b_n, b), -abs(b_m - b_n), b_m, b_n))
    if not candidates:
        least = tile_bytes(step, step, b_k, b, stages, b_acc)
        raise ValueError(f"largest_tile: S_fast is at least {least:g} B for one tile, got {S_fast!r}")
    _, _, b_m, b_n = max(candidates)
    return OutputTile(b_m, b_n, b_k, tile_bytes(b_m, b_n, b_k, b, stages, b_acc))


def _most(S_fast: float, step: int, b_k: int, b: float, stages: int, b_acc: float) -> int:
    """The most rows of a tile that fits: besides its own input rows it has at least `step` columns."""
    return int((S_fast - stages * b * b_k * step) / (stages * b * b_k + b_acc * step))
