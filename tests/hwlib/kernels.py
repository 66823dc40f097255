"""Kernels as a book on Triton has them; the tests run them under hwlib.tl and, where it is, under Triton."""

from hwlib import tl


def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_ptr + at, mask=mask)
    y = tl.load(y_ptr + at, mask=mask)
    tl.store(out_ptr + at, x + y, mask=mask)


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tile = tl.load(x_ptr + rows[:, None] * N + columns[None, :], mask=inside)
    turned = (columns[:, None] < N) & (rows[None, :] < M)
    tl.store(out_ptr + columns[:, None] * M + rows[None, :], tl.trans(tile), mask=turned)


def by_rows(x_ptr, out_ptr, M, N, BLOCK: tl.constexpr):
    """A transpose that loads along rows, and stores each element into a sector of its own."""
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(out_ptr + at * M + row, tl.load(x_ptr + row * N + at))


def by_columns(x_ptr, out_ptr, M, N, BLOCK: tl.constexpr):
    """A transpose that loads each element out of a sector of its own, and stores along rows."""
    column, at = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(out_ptr + column * M + at, tl.load(x_ptr + at * N + column))


def softmax(x_ptr, out_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + at, mask=at < N, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * N + at, e / tl.sum(e, axis=0), mask=at < N)


def online_softmax(x_ptr, out_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    most = tl.full((1,), -float("inf"), tl.float32)
    total = tl.zeros((1,), tl.float32)
    for start in range(0, N, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * N + at, mask=at < N, other=-float("inf"))
        larger = tl.maximum(most, tl.max(x, axis=0))
        total = total * tl.exp(most - larger) + tl.sum(tl.exp(x - larger), axis=0)
        most = larger
    for start in range(0, N, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * N + at, mask=at < N, other=-float("inf"))
        tl.store(out_ptr + row * N + at, tl.exp(x - most) / total, mask=at < N)


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        inner = start + tl.arange(0, BK)
        a = tl.load(
            a_ptr + rows[:, None] * K + inner[None, :], mask=(rows[:, None] < M) & (inner[None, :] < K), other=0.0
        )
        b = tl.load(
            b_ptr + inner[:, None] * N + columns[None, :], mask=(inner[:, None] < K) & (columns[None, :] < N), other=0.0
        )
        acc += tl.dot(a, b)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], acc, mask=inside)


def grouped_matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr
):
    """The tiles of GROUP rows go together, column by column, as in Triton's tutorial; sizes are multiples of a tile."""
    in_group = GROUP * (N // BN)
    top = tl.program_id(0) // in_group * GROUP
    high = min(M // BM - top, GROUP)
    place = tl.program_id(0) % in_group
    rows = (top + place % high) * BM + tl.arange(0, BM)
    columns = place // high * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        inner = start + tl.arange(0, BK)
        a = tl.load(a_ptr + rows[:, None] * K + inner[None, :])
        b = tl.load(b_ptr + inner[:, None] * N + columns[None, :])
        acc += tl.dot(a, b)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], acc)


def attention(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + rows[:, None] * D + d[None, :], mask=rows[:, None] < T, other=0.0)
    most = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, T, BN):
        columns = start + tl.arange(0, BN)
        k = tl.load(k_ptr + columns[:, None] * D + d[None, :], mask=columns[:, None] < T, other=0.0)
        v = tl.load(v_ptr + columns[:, None] * D + d[None, :], mask=columns[:, None] < T, other=0.0)
        s = tl.where(columns[None, :] < T, tl.dot(q, tl.trans(k)) * scale, -float("inf"))
        larger = tl.maximum(most, tl.max(s, axis=1))
        p = tl.exp(s - larger[:, None])
        shrink = tl.exp(most - larger)
        total = total * shrink + tl.sum(p, axis=1)
        acc = acc * shrink[:, None] + tl.dot(p, v)
        most = larger
    tl.store(out_ptr + rows[:, None] * D + d[None, :], acc / total[:, None], mask=rows[:, None] < T)
