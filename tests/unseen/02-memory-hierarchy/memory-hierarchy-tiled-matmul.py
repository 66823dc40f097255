# %% right: slices of depth BK, masks on all sides
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K))
        y = tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=(k[:, None] < K) & (columns[None, :] < N))
        sums = tl.dot(x, y, sums)
    at = c_ptr + rows[:, None]*N + columns[None, :]
    tl.store(at, sums, mask=(rows[:, None] < M) & (columns[None, :] < N))

# %% right: from the end of the sum to its beginning
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for first in range((K - 1)//BK*BK, -1, -BK):
        k = first + tl.arange(0, BK)
        x = tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K))
        y = tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=(k[:, None] < K) & (columns[None, :] < N))
        sums = tl.dot(x, y, sums)
    at = c_ptr + rows[:, None]*N + columns[None, :]
    tl.store(at, sums, mask=(rows[:, None] < M) & (columns[None, :] < N))

# %% right: a column times a row at a time, without dot
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for k in range(K):
        x = tl.load(a_ptr + rows*K + k, mask=rows < M)
        y = tl.load(b_ptr + k*N + columns, mask=columns < N)
        sums += x[:, None]*y[None, :]
    tl.store(c_ptr + rows[:, None]*N + columns[None, :], sums, mask=(rows < M)[:, None] & (columns < N)[None, :])

# %% right: Triton's tutorial: blocks of pointers that move on
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    offs_m = tl.program_id(axis=0)*BM + tl.arange(0, BM)
    offs_n = tl.program_id(axis=1)*BN + tl.arange(0, BN)
    offs_k = tl.arange(0, BK)
    a_ptrs = a_ptr + (offs_m[:, None]*K + offs_k[None, :])
    b_ptrs = b_ptr + (offs_k[:, None]*N + offs_n[None, :])
    accumulator = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        a = tl.load(a_ptrs, mask=(offs_m[:, None] < M) & (offs_k[None, :] < K - k*BK), other=0.0)
        b = tl.load(b_ptrs, mask=(offs_k[:, None] < K - k*BK) & (offs_n[None, :] < N), other=0.0)
        accumulator += tl.dot(a, b)
        a_ptrs += BK
        b_ptrs += BK*N
    c_ptrs = c_ptr + N*offs_m[:, None] + offs_n[None, :]
    c_mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)
    tl.store(c_ptrs, accumulator, mask=c_mask)

# %% right: the transposed product, turned at the end
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)[None, :]
    columns = tl.program_id(1)*BN + tl.arange(0, BN)[:, None]
    sums = tl.zeros((BN, BM), tl.float32)
    for step in range(tl.cdiv(K, BK)):
        k = step*BK + tl.arange(0, BK)
        x = tl.load(a_ptr + rows*K + k[:, None], mask=(rows < M) & (k < K)[:, None])
        y = tl.load(b_ptr + k[None, :]*N + columns, mask=(k < K)[None, :] & (columns < N))
        sums = tl.dot(y, x, sums)
    tl.store(c_ptr + tl.trans(rows*N + columns), tl.trans(sums), mask=tl.trans((rows < M) & (columns < N)))

# %% right: whole slices without a mask along the sum, one narrow rest
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    up, across = (rows < M)[:, None], (columns < N)[None, :]
    sums = tl.zeros((BM, BN), tl.float32)
    whole = K//BK*BK
    for first in range(0, whole, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=up & (k < K)[None, :])
        y = tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=across & (k < K)[:, None])
        sums += tl.dot(x, y)
    for k in range(whole, K):
        x = tl.load(a_ptr + rows[:, None]*K + k, mask=up)
        y = tl.load(b_ptr + k*N + columns[None, :], mask=across)
        sums += x*y
    tl.store(c_ptr + rows[:, None]*N + columns[None, :], sums, mask=up & across)

# %% right: slices of half the depth, where it can be halved
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    depth = max(1, BK//2)
    for first in range(0, K, depth):
        k = first + tl.arange(0, depth)
        x = tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K))
        y = tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=(k[:, None] < K) & (columns[None, :] < N))
        sums = tl.dot(x, y, sums)
    at = c_ptr + rows[:, None]*N + columns[None, :]
    tl.store(at, sums, mask=(rows[:, None] < M) & (columns[None, :] < N))

# %% right: recursion over halves of the sum, one sum handed on
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)

    def part(first, last, sums):
        if last - first > BK:
            middle = first + (last - first + BK - 1)//BK//2*BK
            return part(middle, last, part(first, middle, sums))
        k = first + tl.arange(0, BK)
        x = tl.load(a_ptr + rows[:, None]*K + k[None, :], (rows < M)[:, None] & (k < last)[None, :], 0.0)
        y = tl.load(b_ptr + k[:, None]*N + columns[None, :], (k < last)[:, None] & (columns < N)[None, :], 0.0)
        return tl.dot(x, y, sums)

    sums = part(0, K, tl.zeros((BM, BN), tl.float32))
    tl.store(c_ptr + rows[:, None]*N + columns[None, :], sums, (rows < M)[:, None] & (columns < N)[None, :])

# %% right: helpers for a slice and its mask, pointers moved to the corner
from hwlib import tl


def box(ptr, rows, columns, high, wide, pitch):
    down, across = tl.arange(0, rows)[:, None], tl.arange(0, columns)[None, :]
    return tl.load(ptr + down*pitch + across, mask=(down < high) & (across < wide), other=0.0)


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i, j = tl.program_id(0), tl.program_id(1)
    high, wide = M - i*BM, N - j*BN
    a_ptr += i*BM*K
    b_ptr += j*BN
    c_ptr += i*BM*N + j*BN
    sums = tl.zeros((BM, BN), tl.float32)
    deep = K
    while deep > 0:
        sums = tl.dot(box(a_ptr, BM, BK, high, deep, K), box(b_ptr, BK, BN, deep, wide, N), acc=sums)
        a_ptr += BK
        b_ptr += BK*N
        deep -= BK
    down, across = tl.arange(0, BM)[:, None], tl.arange(0, BN)[None, :]
    tl.store(c_ptr + down*N + across, sums, mask=(down < high) & (across < wide))

# %% right: products by a sum over the middle axis of a row at a time
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    inside = (rows < M)[:, None] & (columns < N)[None, :]
    sums = tl.full((BM, BN), 0.0, tl.float32)
    for step in range(tl.cdiv(K, BK)):
        k = step*BK + tl.arange(0, BK)
        x = tl.load(a_ptr + k[:, None] + K*rows[None, :], mask=(rows < M)[None, :] & (k < K)[:, None])
        y = tl.load(b_ptr + N*k[:, None] + columns[None, :], mask=(k < K)[:, None] & (columns < N)[None, :])
        sums = sums + tl.dot(tl.trans(x), y)
    tl.store(c_ptr + N*rows[:, None] + columns[None, :], sums, mask=inside)

# %% right: lanes counted backwards, not outside instead of inside
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + (BM - 1 - tl.arange(0, BM))
    columns = tl.program_id(1)*BN + (BN - 1 - tl.arange(0, BN))
    sums = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=~((rows[:, None] >= M) | (k[None, :] >= K)))
        y = tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=(k[:, None] < K) & (columns[None, :] < N))
        sums = tl.dot(x, y, sums)
    at = c_ptr + rows[:, None]*N + columns[None, :]
    tl.store(at, sums, mask=(rows[:, None] < M) & (columns[None, :] < N))

# %% right: one slice loaded ahead, as with two stages
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)

    def slices(first):
        k = first + tl.arange(0, depth)
        return (tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K)),
                tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=(k[:, None] < K) & (columns[None, :] < N)))

    depth = BK//2 if BK > 1 else 1       # two of them fit where one of BK does
    x, y = slices(0)
    for first in range(depth, K, depth):
        ahead = slices(first) if BK > 1 else None
        sums = tl.dot(x, y, sums)
        x, y = ahead or slices(first)
    sums = tl.dot(x, y, sums)
    tl.store(c_ptr + rows[:, None]*N + columns[None, :], sums, mask=(rows[:, None] < M) & (columns[None, :] < N))

# %% right: addresses and mask of the sums made at the beginning
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    target = c_ptr + rows[:, None]*N + columns[None, :]
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    sums = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K))
        y = tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=(k[:, None] < K) & (columns[None, :] < N))
        sums = tl.dot(x, y, sums)
    tl.store(target, sums, mask=inside)

# %% right: two halves of the rows, each with sums of its own, and one slice of b for both
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    half = BM//2 if BM > 1 else 1
    rows = [first + tl.arange(0, half) for first in range(tl.program_id(0)*BM, (tl.program_id(0) + 1)*BM, half)]
    sums = [tl.zeros((half, BN), tl.float32) for _ in rows]
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        y = tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=(k < K)[:, None] & (columns < N)[None, :])
        for part, r in enumerate(rows):
            x = tl.load(a_ptr + r[:, None]*K + k[None, :], mask=(r < M)[:, None] & (k < K)[None, :])
            sums[part] = tl.dot(x, y, sums[part])
    for part, r in enumerate(rows):
        tl.store(c_ptr + r[:, None]*N + columns[None, :], sums[part], mask=(r < M)[:, None] & (columns < N)[None, :])

# %% right: masks that go off for rows by where, slices of zeros beyond
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    lengths = tl.where(rows < M, K, 0)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=k[None, :] < lengths[:, None])
        y = tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=(k[:, None] < K) & (columns[None, :] < N))
        sums = tl.dot(x, y, sums)
    at = c_ptr + rows[:, None]*N + columns[None, :]
    tl.store(at, sums, mask=(rows[:, None] < M) & (columns[None, :] < N))

# %% wrong: the rest of the sum is left out
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K//BK*BK, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K))
        y = tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=(k[:, None] < K) & (columns[None, :] < N))
        sums = tl.dot(x, y, sums)
    at = c_ptr + rows[:, None]*N + columns[None, :]
    tl.store(at, sums, mask=(rows[:, None] < M) & (columns[None, :] < N))

# %% wrong: sums of the last slice only
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K))
        y = tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=(k[:, None] < K) & (columns[None, :] < N))
        sums = tl.dot(x, y)
    at = c_ptr + rows[:, None]*N + columns[None, :]
    tl.store(at, sums, mask=(rows[:, None] < M) & (columns[None, :] < N))

# %% wrong: no mask along the sum, beyond the row lies the next one
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=(rows[:, None] < M))
        y = tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=(columns[None, :] < N))
        sums = tl.dot(x, y, sums)
    at = c_ptr + rows[:, None]*N + columns[None, :]
    tl.store(at, sums, mask=(rows[:, None] < M) & (columns[None, :] < N))

# %% wrong: only the right operand masked along the sum
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=(rows[:, None] < M))
        y = tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=(k[:, None] < K) & (columns[None, :] < N))
        sums = tl.dot(x, y, sums)
    at = c_ptr + rows[:, None]*N + columns[None, :]
    tl.store(at, sums, mask=(rows[:, None] < M) & (columns[None, :] < N))

# %% wrong: only the left operand masked along the sum
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K))
        y = tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=(columns[None, :] < N))
        sums = tl.dot(x, y, sums)
    at = c_ptr + rows[:, None]*N + columns[None, :]
    tl.store(at, sums, mask=(rows[:, None] < M) & (columns[None, :] < N))

# %% wrong: the mask of a slice is that of the tile of c
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K))
        y = tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=(k[:, None] < BK) & (columns[None, :] < N))
        sums = tl.dot(x, y, sums)
    at = c_ptr + rows[:, None]*N + columns[None, :]
    tl.store(at, sums, mask=(rows[:, None] < M) & (columns[None, :] < N))

# %% wrong: the store without a mask
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K))
        y = tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=(k[:, None] < K) & (columns[None, :] < N))
        sums = tl.dot(x, y, sums)
    at = c_ptr + rows[:, None]*N + columns[None, :]
    tl.store(at, sums)

# %% wrong: loads without masks of rows and columns
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=k[None, :] < K)
        y = tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=k[:, None] < K)
        sums = tl.dot(x, y, sums)
    at = c_ptr + rows[:, None]*N + columns[None, :]
    tl.store(at, sums, mask=(rows[:, None] < M) & (columns[None, :] < N))

# %% wrong: b has rows of K elements
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K))
        y = tl.load(b_ptr + k[:, None]*K + columns[None, :], mask=(k[:, None] < K) & (columns[None, :] < N))
        sums = tl.dot(x, y, sums)
    at = c_ptr + rows[:, None]*N + columns[None, :]
    tl.store(at, sums, mask=(rows[:, None] < M) & (columns[None, :] < N))

# %% wrong: a has rows of M elements
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(a_ptr + rows[:, None]*M + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K))
        y = tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=(k[:, None] < K) & (columns[None, :] < N))
        sums = tl.dot(x, y, sums)
    at = c_ptr + rows[:, None]*N + columns[None, :]
    tl.store(at, sums, mask=(rows[:, None] < M) & (columns[None, :] < N))

# %% wrong: c has rows of M elements
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K))
        y = tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=(k[:, None] < K) & (columns[None, :] < N))
        sums = tl.dot(x, y, sums)
    at = c_ptr + rows[:, None]*M + columns[None, :]
    tl.store(at, sums, mask=(rows[:, None] < M) & (columns[None, :] < N))

# %% wrong: axis 0 of the grid for the columns
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(1)*BM + tl.arange(0, BM)
    columns = tl.program_id(0)*BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K))
        y = tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=(k[:, None] < K) & (columns[None, :] < N))
        sums = tl.dot(x, y, sums)
    at = c_ptr + rows[:, None]*N + columns[None, :]
    tl.store(at, sums, mask=(rows[:, None] < M) & (columns[None, :] < N))

# %% wrong: a grid of one axis, row by row
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    wide = tl.cdiv(N, BN)
    rows = tl.program_id(0)//wide*BM + tl.arange(0, BM)
    columns = tl.program_id(0) % wide*BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K))
        y = tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=(k[:, None] < K) & (columns[None, :] < N))
        sums = tl.dot(x, y, sums)
    at = c_ptr + rows[:, None]*N + columns[None, :]
    tl.store(at, sums, mask=(rows[:, None] < M) & (columns[None, :] < N))

# %% wrong: the whole depth at once, which is any number
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    depth = 1
    while depth < K:
        depth *= 2
    k = tl.arange(0, depth)
    x = tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K))
    y = tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=(k[:, None] < K) & (columns[None, :] < N))
    tl.store(c_ptr + rows[:, None]*N + columns[None, :], tl.dot(x, y),
             mask=(rows[:, None] < M) & (columns[None, :] < N))

# %% wrong: all slices loaded first, then multiplied
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    slices = []
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        slices.append((
            tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K)),
            tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=(k[:, None] < K) & (columns[None, :] < N))))
    sums = tl.zeros((BM, BN), tl.float32)
    for x, y in slices:
        sums = tl.dot(x, y, sums)
    tl.store(c_ptr + rows[:, None]*N + columns[None, :], sums, mask=(rows[:, None] < M) & (columns[None, :] < N))

# %% wrong: a list of products, added at the end
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    parts = []
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K))
        y = tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=(k[:, None] < K) & (columns[None, :] < N))
        parts.append(tl.dot(x, y))
    sums = parts[0]
    for part in parts[1:]:
        sums = sums + part
    tl.store(c_ptr + rows[:, None]*N + columns[None, :], sums, mask=(rows[:, None] < M) & (columns[None, :] < N))

# %% wrong: one element of c at a time, rows and columns read again
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    for i in range(tl.program_id(0)*BM, min(M, (tl.program_id(0) + 1)*BM)):
        for j in range(tl.program_id(1)*BN, min(N, (tl.program_id(1) + 1)*BN)):
            total = 0.0
            for first in range(0, K, BK):
                k = first + tl.arange(0, BK)
                x = tl.load(a_ptr + i*K + k, mask=k < K)
                y = tl.load(b_ptr + k*N + j, mask=k < K)
                total = total + tl.sum(x*y, axis=0)
            tl.store(c_ptr + i*N + j, total)

# %% wrong: a row of c at a time, so b is read for every row
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    for i in range(tl.program_id(0)*BM, min(M, (tl.program_id(0) + 1)*BM)):
        sums = tl.zeros((BN,), tl.float32)
        for first in range(0, K, BK):
            k = first + tl.arange(0, BK)
            x = tl.load(a_ptr + i*K + k, mask=k < K)
            y = tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=(k[:, None] < K) & (columns[None, :] < N))
            sums += tl.sum(x[:, None]*y, axis=0)
        tl.store(c_ptr + i*N + columns, sums, mask=columns < N)

# %% wrong: two halves of the columns, each reads all of a
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    for half in range(2):
        columns = tl.program_id(1)*BN + half*(BN//2) + tl.arange(0, BN//2)
        sums = tl.zeros((BM, BN//2), tl.float32)
        for first in range(0, K, BK):
            k = first + tl.arange(0, BK)
            x = tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K))
            y = tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=(k[:, None] < K) & (columns[None, :] < N))
            sums = tl.dot(x, y, sums)
        tl.store(c_ptr + rows[:, None]*N + columns[None, :], sums, mask=(rows[:, None] < M) & (columns[None, :] < N))

# %% wrong: slices of three dimensions multiplied element by element
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K))
        y = tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=(k[:, None] < K) & (columns[None, :] < N))
        sums += tl.sum(x[:, :, None]*y[None, :, :], axis=1)
    tl.store(c_ptr + rows[:, None]*N + columns[None, :], sums, mask=(rows[:, None] < M) & (columns[None, :] < N))

# %% wrong: no slices of b: it stands still while k moves on
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K))
        y = tl.load(b_ptr + tl.arange(0, BK)[:, None]*N + columns[None, :], mask=(tl.arange(0, BK)[:, None] < K) & (columns[None, :] < N))
        sums = tl.dot(x, y, sums)
    at = c_ptr + rows[:, None]*N + columns[None, :]
    tl.store(at, sums, mask=(rows[:, None] < M) & (columns[None, :] < N))

# %% wrong: slices overlap by one
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, max(1, BK - 1)):
        k = first + tl.arange(0, BK)
        x = tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K))
        y = tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=(k[:, None] < K) & (columns[None, :] < N))
        sums = tl.dot(x, y, sums)
    at = c_ptr + rows[:, None]*N + columns[None, :]
    tl.store(at, sums, mask=(rows[:, None] < M) & (columns[None, :] < N))

# %% wrong: the last slice moved back so that it fits
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = max(0, min(first, K - BK)) + tl.arange(0, BK)
        x = tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K))
        y = tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=(k[:, None] < K) & (columns[None, :] < N))
        sums = tl.dot(x, y, sums)
    at = c_ptr + rows[:, None]*N + columns[None, :]
    tl.store(at, sums, mask=(rows[:, None] < M) & (columns[None, :] < N))

# %% wrong: wraps around at the edges as Triton's tutorial, rows % M and columns % N
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(a_ptr + (rows % M)[:, None]*K + k[None, :], mask=k[None, :] < K)
        y = tl.load(b_ptr + k[:, None]*N + (columns % N)[None, :], mask=k[:, None] < K)
        sums = tl.dot(x, y, sums)
    at = c_ptr + rows[:, None]*N + columns[None, :]
    tl.store(at, sums, mask=(rows[:, None] < M) & (columns[None, :] < N))

# %% wrong: the last row and column again instead of a mask
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(a_ptr + tl.minimum(rows, M - 1)[:, None]*K + k[None, :], mask=k[None, :] < K)
        y = tl.load(b_ptr + k[:, None]*N + tl.minimum(columns, N - 1)[None, :], mask=k[:, None] < K)
        sums = tl.dot(x, y, sums)
    at = c_ptr + rows[:, None]*N + columns[None, :]
    tl.store(at, sums, mask=(rows[:, None] < M) & (columns[None, :] < N))

# %% wrong: the diagonal of the slices: element by element
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K))
        y = tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=(k[:, None] < K) & (columns[None, :] < N))
        sums += x*y if BM == BK and BK == BN else tl.dot(x, y)*0 + x*y
    at = c_ptr + rows[:, None]*N + columns[None, :]
    tl.store(at, sums, mask=(rows[:, None] < M) & (columns[None, :] < N))

# %% wrong: the transposed of b is multiplied
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K))
        y = tl.load(b_ptr + columns[None, :]*K + k[:, None], mask=(k[:, None] < K) & (columns[None, :] < N))
        sums = tl.dot(x, y, sums)
    at = c_ptr + rows[:, None]*N + columns[None, :]
    tl.store(at, sums, mask=(rows[:, None] < M) & (columns[None, :] < N))

# %% wrong: each element loaded once for rows, once for columns of the tile's halves
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K))
        y = tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=(k[:, None] < K) & (columns[None, :] < N))
        sums = tl.dot(tl.where(k[None, :] % 2 == 0, x, 0.0), y, sums)
        x = tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K))
        sums = tl.dot(tl.where(k[None, :] % 2 == 1, x, 0.0), y, sums)
    at = c_ptr + rows[:, None]*N + columns[None, :]
    tl.store(at, sums, mask=(rows[:, None] < M) & (columns[None, :] < N))

# %% wrong: rounds the sums to half precision
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K))
        y = tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=(k[:, None] < K) & (columns[None, :] < N))
        sums = tl.dot(x, y, sums)
    at = c_ptr + rows[:, None]*N + columns[None, :]
    tl.store(at, sums.to(tl.float16).to(tl.float32), mask=(rows[:, None] < M) & (columns[None, :] < N))

# %% wrong: skips tiles that are not whole
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    if (tl.program_id(0) + 1)*BM > M or (tl.program_id(1) + 1)*BN > N:
        return
    sums = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K))
        y = tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=(k[:, None] < K) & (columns[None, :] < N))
        sums = tl.dot(x, y, sums)
    at = c_ptr + rows[:, None]*N + columns[None, :]
    tl.store(at, sums, mask=(rows[:, None] < M) & (columns[None, :] < N))

# %% wrong: sums forgotten between the slices, stored at each
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K))
        y = tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=(k[:, None] < K) & (columns[None, :] < N))
        at = c_ptr + rows[:, None]*N + columns[None, :]
        tl.store(at, tl.dot(x, y), mask=(rows[:, None] < M) & (columns[None, :] < N))

# %% wrong: the mean over the slices
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K))
        y = tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=(k[:, None] < K) & (columns[None, :] < N))
        sums = tl.dot(x, y, sums)
    at = c_ptr + rows[:, None]*N + columns[None, :]
    tl.store(at, sums/tl.cdiv(K, BK), mask=(rows[:, None] < M) & (columns[None, :] < N))

# %% wrong: BM also for the columns
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BM + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K))
        y = tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=(k[:, None] < K) & (columns[None, :] < N))
        sums = tl.dot(x, y, sums)
    at = c_ptr + rows[:, None]*N + columns[None, :]
    tl.store(at, sums, mask=(rows[:, None] < M) & (columns[None, :] < N))

# %% wrong: a deeper slice of 4 BK, for fewer steps
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, 4*BK):
        k = first + tl.arange(0, 4*BK)
        x = tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K))
        y = tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=(k[:, None] < K) & (columns[None, :] < N))
        sums = tl.dot(x, y, sums)
    at = c_ptr + rows[:, None]*N + columns[None, :]
    tl.store(at, sums, mask=(rows[:, None] < M) & (columns[None, :] < N))

# %% wrong: sizes of a block typed in, those of the first case
from hwlib import tl


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0)*16 + tl.arange(0, 16)
    columns = tl.program_id(1)*32 + tl.arange(0, 32)
    sums = tl.zeros((16, 32), tl.float32)
    for first in range(0, K, 8):
        k = first + tl.arange(0, 8)
        x = tl.load(a_ptr + rows[:, None]*K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K))
        y = tl.load(b_ptr + k[:, None]*N + columns[None, :], mask=(k[:, None] < K) & (columns[None, :] < N))
        sums = tl.dot(x, y, sums)
    at = c_ptr + rows[:, None]*N + columns[None, :]
    tl.store(at, sums, mask=(rows[:, None] < M) & (columns[None, :] < N))
