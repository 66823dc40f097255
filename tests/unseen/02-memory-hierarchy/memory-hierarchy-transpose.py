# %% right: offsets of the turned tile at once, so nothing is turned
from hwlib import tl


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    row = (tl.program_id(0)*BM + tl.arange(0, BM))[None, :]
    column = (tl.program_id(1)*BN + tl.arange(0, BN))[:, None]
    inside = (row < M) & (column < N)
    tl.store(out_ptr + column*M + row, tl.load(x_ptr + row*N + column, mask=inside), mask=inside)

# %% right: row by row into an accumulator of zeros, one store at the end
from hwlib import tl


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    i, j = tl.program_id(0), tl.program_id(1)
    lane = tl.arange(0, BM)
    rows = i*BM + lane
    columns = j*BN + tl.arange(0, BN)
    turned = tl.zeros((BN, BM), tl.float32)
    for k in range(BM):
        if i*BM + k >= M:
            break
        row = tl.load(x_ptr + (i*BM + k)*N + columns, mask=columns < N)
        turned = tl.where(lane[None, :] == k, row[:, None], turned)
    mask = (columns[:, None] < N) & (rows[None, :] < M)
    tl.store(out_ptr + columns[:, None]*M + rows[None, :], turned, mask=mask)

# %% right: quarters of 8 by 8 without any mask, since both sides are multiples of 8
from hwlib import tl


def turn(x_ptr, out_ptr, top, left, M, N):
    a = tl.arange(0, 8)
    part = tl.load(x_ptr + (top + a[:, None])*N + left + a[None, :])
    tl.store(out_ptr + (left + a[:, None])*M + top + a[None, :], part.T)


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    for top in range(tl.program_id(0)*BM, min(M, (tl.program_id(0) + 1)*BM), 8):
        for left in range(tl.program_id(1)*BN, min(N, (tl.program_id(1) + 1)*BN), 8):
            turn(x_ptr, out_ptr, top, left, M, N)

# %% right: strips of 8 columns, which are whole sectors
from hwlib import tl


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    first = tl.program_id(1)*BN
    for strip in range(0, BN, 8):
        columns = first + strip + tl.arange(0, 8)
        mask = (rows[:, None] < M) & (columns[None, :] < N)
        part = tl.load(x_ptr + rows[:, None]*N + columns[None, :], mask=mask, other=0.0)
        tl.store(out_ptr + columns[:, None]*M + rows[None, :], tl.trans(part), mask=tl.trans(mask))

# %% right: one flat tile of 256 elements, places by division and remainder
from hwlib import tl


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    k = tl.arange(0, BM*BN)
    r = tl.program_id(0)*BM + k % BM
    c = tl.program_id(1)*BN + k//BM
    m = (r < M) & (c < N)
    tl.store(out_ptr + (c*M + r), tl.load(x_ptr + (r*N + c), m), m)

# %% right: pointers moved to the corner first, masks by what is left
from hwlib import tl


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    top, left = tl.program_id(0)*BM, tl.program_id(1)*BN
    x_ptr += top*N + left
    out_ptr += left*M + top
    a, b = tl.arange(0, BM), tl.arange(0, BN)
    here = ~((a[:, None] >= M - top) | (b[None, :] >= N - left))
    tile = tl.load(x_ptr + (N*a)[:, None] + b[None, :], mask=here)
    tl.store(out_ptr + (M*b)[:, None] + a[None, :], tile.T, mask=here.T)

# %% right: a smaller tile at the edge instead of a mask
from hwlib import tl


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    top, left = tl.program_id(0)*BM, tl.program_id(1)*BN
    height, width = min(BM, M - top), min(BN, N - left)    # 16, or 8
    rows, columns = top + tl.arange(0, height), left + tl.arange(0, width)
    tile = tl.load(x_ptr + (rows*N)[:, None] + columns[None, :])
    tl.store(out_ptr + rows[None, :] + (columns*M)[:, None], tl.trans(tile))

# %% right: names imported one by one, helper for offsets, everything in a last line
from hwlib.tl import arange, constexpr, load, program_id, store, trans


def lanes(axis, size):
    return size*program_id(axis) + arange(0, size)


def grid(down, across, pitch):
    return down[:, None]*pitch + across[None, :]


def transpose(x_ptr, out_ptr, M, N, BM: constexpr, BN: constexpr):
    r, c = lanes(0, BM), lanes(1, BN)
    keep = (r < M)[:, None] & (c < N)[None, :]
    store(out_ptr + grid(c, r, M), trans(load(x_ptr + grid(r, c, N), mask=keep)), mask=trans(keep))

# %% right: the load stays inside by a minimum, in sectors that the tile has anyway; the store has a mask
from hwlib import tl


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    r, c = tl.minimum(rows, M - 1), tl.minimum(columns, N - 1)
    tile = tl.load(x_ptr + r[:, None]*N + c[None, :])
    tl.store(out_ptr + columns[:, None]*M + rows[None, :], tl.trans(tile),
             mask=(columns[:, None] < N) & (rows[None, :] < M))

# %% right: lanes counted backwards, one mask by where, nothing turned
from hwlib import tl


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    pid_m = tl.program_id(axis=0)
    pid_n = tl.program_id(axis=1)
    rm = pid_m*BM + (BM - 1 - tl.arange(0, BM))
    rn = pid_n*BN + (BN - 1 - tl.arange(0, BN))
    source = x_ptr + rm[:, None]*N + rn[None, :]
    target = out_ptr + rm[:, None] + rn[None, :]*M
    mask = tl.where(rm[:, None] < M, rn[None, :], N) < N
    tl.store(target, tl.load(source, mask=mask), mask=mask)

# %% wrong: a row at a time, stored down a column of out: strided stores
from hwlib import tl


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    i, j = tl.program_id(0), tl.program_id(1)
    columns = j*BN + tl.arange(0, BN)
    for row in range(i*BM, min((i + 1)*BM, M)):
        line = tl.load(x_ptr + row*N + columns, mask=columns < N)
        tl.store(out_ptr + columns*M + row, line, mask=columns < N)

# %% wrong: a column of x at a time, so that out is written along its rows: strided loads
from hwlib import tl


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    i, j = tl.program_id(0), tl.program_id(1)
    rows = i*BM + tl.arange(0, BM)
    for column in range(j*BN, min((j + 1)*BN, N)):
        line = tl.load(x_ptr + rows*N + column, mask=rows < M)
        tl.store(out_ptr + column*M + rows, line, mask=rows < M)

# %% wrong: forgets both masks at the edge
from hwlib import tl


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    tile = tl.load(x_ptr + rows[:, None]*N + columns[None, :])
    tl.store(out_ptr + columns[:, None]*M + rows[None, :], tl.trans(tile))

# %% wrong: masks the load and thinks that the store then knows
from hwlib import tl


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tile = tl.load(x_ptr + rows[:, None]*N + columns[None, :], mask=mask, other=0.0)
    tl.store(out_ptr + columns[:, None]*M + rows[None, :], tl.trans(tile))

# %% wrong: a flat mask, offset below M*N, lets a tile run on into the next row
from hwlib import tl


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    source = rows[:, None]*N + columns[None, :]
    target = columns[:, None]*M + rows[None, :]
    tile = tl.load(x_ptr + source, mask=source < M*N)
    tl.store(out_ptr + target, tl.trans(tile), mask=target < M*N)

# %% wrong: the mask of the store is not turned with the tile
from hwlib import tl


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tile = tl.load(x_ptr + rows[:, None]*N + columns[None, :], mask=mask)
    tl.store(out_ptr + columns[:, None]*M + rows[None, :], tl.trans(tile), mask=mask)

# %% wrong: off by one in the mask, at most M and at most N
from hwlib import tl


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    mask = (rows[:, None] <= M) & (columns[None, :] <= N)
    tile = tl.load(x_ptr + rows[:, None]*N + columns[None, :], mask=mask)
    tl.store(out_ptr + columns[:, None]*M + rows[None, :], tl.trans(tile), mask=tl.trans(mask))

# %% wrong: strips of 4 columns, so each sector of x is loaded twice
from hwlib import tl


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    for strip in range(0, BN, 4):
        columns = tl.program_id(1)*BN + strip + tl.arange(0, 4)
        mask = (rows[:, None] < M) & (columns[None, :] < N)
        part = tl.load(x_ptr + rows[:, None]*N + columns[None, :], mask=mask)
        tl.store(out_ptr + columns[:, None]*M + rows[None, :], tl.trans(part), mask=tl.trans(mask))

# %% wrong: loads the tile again for the second half of the stores
from hwlib import tl


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    mask = (rows[None, :] < M) & (columns[:, None] < N)
    for half in range(2):
        mine = mask & (columns[:, None]//8 % 2 == half)
        tile = tl.load(x_ptr + rows[None, :]*N + columns[:, None], mask=mask)
        tl.store(out_ptr + columns[:, None]*M + rows[None, :], tile, mask=mine)

# %% wrong: takes axis 0 of the grid for the columns
from hwlib import tl


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(1)*BM + tl.arange(0, BM)
    columns = tl.program_id(0)*BN + tl.arange(0, BN)
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tile = tl.load(x_ptr + rows[:, None]*N + columns[None, :], mask=mask)
    tl.store(out_ptr + columns[:, None]*M + rows[None, :], tl.trans(tile), mask=tl.trans(mask))

# %% wrong: takes the grid for one of a single axis
from hwlib import tl


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    wide = tl.cdiv(N, BN)
    i, j = tl.program_id(0)//wide, tl.program_id(0) % wide
    rows = i*BM + tl.arange(0, BM)
    columns = j*BN + tl.arange(0, BN)
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tile = tl.load(x_ptr + rows[:, None]*N + columns[None, :], mask=mask)
    tl.store(out_ptr + columns[:, None]*M + rows[None, :], tl.trans(tile), mask=tl.trans(mask))

# %% wrong: out has rows of N elements like x
from hwlib import tl


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tile = tl.load(x_ptr + rows[:, None]*N + columns[None, :], mask=mask)
    tl.store(out_ptr + columns[:, None]*N + rows[None, :], tl.trans(tile), mask=tl.trans(mask))

# %% wrong: puts the tile where it belongs and forgets to turn it
from hwlib import tl


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tile = tl.load(x_ptr + rows[:, None]*N + columns[None, :], mask=mask)
    tl.store(out_ptr + columns[:, None]*M + rows[None, :], tile, mask=tl.trans(mask))

# %% wrong: turns each tile but leaves it where it was
from hwlib import tl


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    at = rows[:, None]*N + columns[None, :]
    tl.store(out_ptr + at, tl.trans(tl.load(x_ptr + at, mask=mask)), mask=mask)

# %% wrong: just a copy, since the bytes are the same
from hwlib import tl


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    at = rows[:, None]*N + columns[None, :]
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=mask), mask=mask)

# %% wrong: skips the tiles at the edge that are not whole
from hwlib import tl


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    i, j = tl.program_id(0), tl.program_id(1)
    if (i + 1)*BM > M or (j + 1)*BN > N:
        return
    rows, columns = i*BM + tl.arange(0, BM), j*BN + tl.arange(0, BN)
    tile = tl.load(x_ptr + rows[:, None]*N + columns[None, :])
    tl.store(out_ptr + columns[:, None]*M + rows[None, :], tl.trans(tile))

# %% wrong: only the first 8 columns of each tile, rest of out never stored
from hwlib import tl


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, 8)
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tile = tl.load(x_ptr + rows[:, None]*N + columns[None, :], mask=mask)
    tl.store(out_ptr + columns[:, None]*M + rows[None, :], tl.trans(tile), mask=tl.trans(mask))

# %% wrong: moves the last tile back so that it fits, and two programs store the overlap
from hwlib import tl


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    top = max(0, min(tl.program_id(0)*BM, M - BM))
    left = max(0, min(tl.program_id(1)*BN, N - BN))
    rows, columns = top + tl.arange(0, BM), left + tl.arange(0, BN)
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tile = tl.load(x_ptr + rows[:, None]*N + columns[None, :], mask=mask)
    tl.store(out_ptr + columns[:, None]*M + rows[None, :], tl.trans(tile), mask=tl.trans(mask))

# %% wrong: clears the tile of x after it is read
from hwlib import tl


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    source = x_ptr + rows[:, None]*N + columns[None, :]
    tile = tl.load(source, mask=mask)
    tl.store(out_ptr + columns[:, None]*M + rows[None, :], tl.trans(tile), mask=tl.trans(mask))
    tl.store(source, tl.zeros((BM, BN), tl.float32), mask=mask)

# %% wrong: turns x in place and forgets out
from hwlib import tl


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tile = tl.load(x_ptr + rows[:, None]*N + columns[None, :], mask=mask)
    tl.store(x_ptr + columns[:, None]*M + rows[None, :], tl.trans(tile), mask=tl.trans(mask))

# %% wrong: narrows the numbers to float16 on the way, to save bytes
from hwlib import tl


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tile = tl.load(x_ptr + rows[:, None]*N + columns[None, :], mask=mask).to(tl.float16)
    tl.store(out_ptr + columns[:, None]*M + rows[None, :], tl.trans(tile), mask=tl.trans(mask))

# %% wrong: keeps whole numbers only
from hwlib import tl


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tile = tl.load(x_ptr + rows[:, None]*N + columns[None, :], mask=mask).to(tl.int32)
    tl.store(out_ptr + columns[:, None]*M + rows[None, :], tl.trans(tile), mask=tl.trans(mask))

# %% wrong: divides with one slash, so the offsets are floats
from hwlib import tl


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    k = tl.arange(0, BM*BN)
    r = tl.program_id(0)*BM + k/BN
    c = tl.program_id(1)*BN + k % BN
    m = (r < M) & (c < N)
    tl.store(out_ptr + c*M + r, tl.load(x_ptr + r*N + c, mask=m), mask=m)

# %% wrong: offsets in bytes, four times too far
from hwlib import tl


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tile = tl.load(x_ptr + 4*(rows[:, None]*N + columns[None, :]), mask=mask)
    tl.store(out_ptr + 4*(columns[:, None]*M + rows[None, :]), tl.trans(tile), mask=tl.trans(mask))

# %% wrong: both ranges along the same axis, only a diagonal
from hwlib import tl


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    mask = (rows < M) & (columns < N)
    tl.store(out_ptr + columns*M + rows, tl.load(x_ptr + rows*N + columns, mask=mask), mask=mask)

# %% wrong: reads the rows of the next tile as well and drops them
from hwlib import tl


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, 2*BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    mine = mask & (rows[:, None] < (tl.program_id(0) + 1)*BM)
    tile = tl.load(x_ptr + rows[:, None]*N + columns[None, :], mask=mask)
    tl.store(out_ptr + columns[:, None]*M + rows[None, :], tl.trans(tile), mask=tl.trans(mine))

# %% wrong: stores out twice, zeros first and then the tile
from hwlib import tl


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    mask = (rows[None, :] < M) & (columns[:, None] < N)
    target = out_ptr + columns[:, None]*M + rows[None, :]
    tl.store(target, tl.zeros((BN, BM), tl.float32), mask=mask)
    tl.store(target, tl.load(x_ptr + rows[None, :]*N + columns[:, None], mask=mask), mask=mask)

# %% wrong: every program does the whole matrix
from hwlib import tl


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    for top in range(0, M, BM):
        for left in range(0, N, BN):
            rows, columns = top + tl.arange(0, BM), left + tl.arange(0, BN)
            mask = (rows[:, None] < M) & (columns[None, :] < N)
            tile = tl.load(x_ptr + rows[:, None]*N + columns[None, :], mask=mask)
            tl.store(out_ptr + columns[:, None]*M + rows[None, :], tl.trans(tile), mask=tl.trans(mask))

# %% wrong: returns the tile instead of storing it
from hwlib import tl


def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0)*BM + tl.arange(0, BM)
    columns = tl.program_id(1)*BN + tl.arange(0, BN)
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    return tl.trans(tl.load(x_ptr + rows[:, None]*N + columns[None, :], mask=mask))
