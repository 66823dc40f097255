# %% right: norm stored first, the sum of the residual after it
from hwlib import tl


def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    at = tl.program_id(0)*N + tl.arange(0, BLOCK)
    mask = at < (tl.program_id(0) + 1)*N
    h = tl.load(r_ptr + at, mask=mask, other=0.0) + tl.load(x_ptr + at, mask=mask, other=0.0)
    tl.store(out_ptr + at, h/tl.sqrt(tl.sum(h*h, axis=0)/N), mask=mask)
    tl.store(h_ptr + at, h, mask=mask)

# %% right: pointers moved to the row, other left to its default of 0
from hwlib import tl


def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    start = tl.program_id(0)*N
    x_ptr += start
    r_ptr += start
    h_ptr += start
    out_ptr += start
    lane = tl.arange(0, BLOCK)
    inside = lane < N
    h = tl.load(x_ptr + lane, inside) + tl.load(r_ptr + lane, inside)
    tl.store(h_ptr + lane, h, inside)
    m = tl.sum(h*h)/N
    tl.store(out_ptr + lane, h*(1/tl.sqrt(m)), inside)

# %% right: a tile of two axes with one row, summed along the second
from hwlib import tl


def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0) + tl.zeros((1,), tl.int32)
    column = tl.arange(0, BLOCK)
    at = row[:, None]*N + column[None, :]
    mask = (column < N)[None, :]
    h = tl.load(x_ptr + at, mask=mask, other=0.0) + tl.load(r_ptr + at, mask=mask, other=0.0)
    m = tl.sum(h*h, axis=1)/N
    tl.store(h_ptr + at, h, mask=mask)
    tl.store(out_ptr + at, h/tl.sqrt(m)[:, None], mask=mask)

# %% right: in pieces of at most 32 lanes, kept in a list till the sum is known
from hwlib import tl


def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    piece = min(BLOCK, 32)
    first = tl.program_id(0)*N
    kept, total = [], 0.0
    for start in range(0, N, piece):
        lane = start + tl.arange(0, piece)
        mask = lane < N
        h = tl.load(x_ptr + first + lane, mask=mask, other=0.0)
        h = h + tl.load(r_ptr + first + lane, mask=mask, other=0.0)
        tl.store(h_ptr + first + lane, h, mask=mask)
        total = total + tl.sum(h*h, axis=0)
        kept.append((lane, mask, h))
    for lane, mask, h in kept:
        tl.store(out_ptr + first + lane, h/tl.sqrt(total/N), mask=mask)

# %% right: where instead of other, and the mean as a sum of shares
from hwlib import tl


def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    at = lane + N*tl.program_id(0)
    x = tl.load(x_ptr + at, mask=lane < N, other=7.0)
    r = tl.load(r_ptr + at, mask=lane < N, other=-3.0)
    h = tl.where(lane < N, x + r, 0.0)
    mean_square = tl.sum(h*h/N, axis=0)
    tl.store(out_ptr + at, h/tl.sqrt(mean_square), mask=lane < N)
    tl.store(h_ptr + at, h, mask=lane < N)

# %% right: helper functions for row and norm
from hwlib import tl


def row(pointer, at, mask):
    return tl.load(pointer + at, mask=mask, other=0.0)


def rms(tile, count):
    return tl.sqrt(tl.sum(tile*tile, axis=0)/count)


def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    at, mask = tl.program_id(0)*N + lane, lane < N
    h = row(x_ptr, at, mask) + row(r_ptr, at, mask)
    for pointer, value in ((h_ptr, h), (out_ptr, h/rms(h, N))):
        tl.store(pointer + at, value, mask=mask)

# %% right: accumulates in an array of zeros, one array after the other
from hwlib import tl


def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    mask = lane <= N - 1
    h = tl.zeros((BLOCK,), tl.float32)
    for pointer in (x_ptr, r_ptr):
        h += tl.load(pointer + tl.program_id(0)*N + lane, mask=mask, other=0.0)
    m = tl.sum(tl.where(mask, h*h, 0.0), axis=-1)/N
    tl.store(h_ptr + tl.program_id(0)*N + lane, h, mask=mask)
    tl.store(out_ptr + tl.program_id(0)*N + lane, h/tl.sqrt(m), mask=mask)

# %% right: sums in float64 and comes back
from hwlib import tl


def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    mask = ~(lane >= N)
    at = tl.program_id(0)*N + lane
    h = tl.load(x_ptr + at, mask=mask, other=0.0) + tl.load(r_ptr + at, mask=mask, other=0.0)
    wide = h.to(tl.float64)
    scale = 1.0/tl.sqrt(tl.sum(wide*wide, axis=0)/N)
    tl.store(h_ptr + at, h, mask=mask)
    tl.store(out_ptr + at, (wide*scale).to(tl.float32), mask=mask)

# %% right: the root of N goes on top
from hwlib import tl


def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < N
    base = tl.program_id(0)*N
    h = tl.load(r_ptr + (base + offsets), mask=mask, other=0) + tl.load(x_ptr + (base + offsets), mask=mask, other=0)
    length = tl.sqrt(tl.sum(h*h))
    tl.store(h_ptr + (base + offsets), h, mask=mask)
    tl.store(out_ptr + (base + offsets), h*N**0.5/length, mask=mask)

# %% wrong: mean over the block, masked lanes counted
from hwlib import tl


def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    at, mask = tl.program_id(0)*N + lane, lane < N
    h = tl.load(x_ptr + at, mask=mask, other=0.0) + tl.load(r_ptr + at, mask=mask, other=0.0)
    tl.store(h_ptr + at, h, mask=mask)
    tl.store(out_ptr + at, h/tl.sqrt(tl.sum(h*h, axis=0)/BLOCK), mask=mask)

# %% wrong: forgets the mask, since a block is large enough
from hwlib import tl


def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    at = tl.program_id(0)*N + tl.arange(0, BLOCK)
    h = tl.load(x_ptr + at) + tl.load(r_ptr + at)
    tl.store(h_ptr + at, h)
    tl.store(out_ptr + at, h/tl.sqrt(tl.sum(h*h, axis=0)/N))

# %% wrong: masks the loads only
from hwlib import tl


def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    at, mask = tl.program_id(0)*N + lane, lane < N
    h = tl.load(x_ptr + at, mask=mask, other=0.0) + tl.load(r_ptr + at, mask=mask, other=0.0)
    tl.store(h_ptr + at, h)
    tl.store(out_ptr + at, h/tl.sqrt(tl.sum(h*h, axis=0)/N))

# %% wrong: the second half of the job loads h again, like two kernels in one
from hwlib import tl


def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    at, mask = tl.program_id(0)*N + lane, lane < N
    x, r = tl.load(x_ptr + at, mask=mask, other=0.0), tl.load(r_ptr + at, mask=mask, other=0.0)
    tl.store(h_ptr + at, x + r, mask=mask)
    h = tl.load(h_ptr + at, mask=mask, other=0.0)
    tl.store(out_ptr + at, h/tl.sqrt(tl.sum(h*h, axis=0)/N), mask=mask)

# %% wrong: two passes, x and r are loaded for the sum and again for the norm
from hwlib import tl


def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    at, mask = tl.program_id(0)*N + lane, lane < N

    def h():
        return tl.load(x_ptr + at, mask=mask, other=0.0) + tl.load(r_ptr + at, mask=mask, other=0.0)

    first = h()
    m = tl.sum(first*first, axis=0)/N
    second = h()
    tl.store(h_ptr + at, second, mask=mask)
    tl.store(out_ptr + at, second/tl.sqrt(m), mask=mask)

# %% wrong: does not keep the sum h
from hwlib import tl


def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    at, mask = tl.program_id(0)*N + lane, lane < N
    h = tl.load(x_ptr + at, mask=mask, other=0.0) + tl.load(r_ptr + at, mask=mask, other=0.0)
    tl.store(out_ptr + at, h/tl.sqrt(tl.sum(h*h, axis=0)/N), mask=mask)

# %% wrong: keeps the sum in r, where the residual was
from hwlib import tl


def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    at, mask = tl.program_id(0)*N + lane, lane < N
    h = tl.load(x_ptr + at, mask=mask, other=0.0) + tl.load(r_ptr + at, mask=mask, other=0.0)
    tl.store(r_ptr + at, h, mask=mask)
    tl.store(out_ptr + at, h/tl.sqrt(tl.sum(h*h, axis=0)/N), mask=mask)

# %% wrong: updates r too, besides h
from hwlib import tl


def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    at, mask = tl.program_id(0)*N + lane, lane < N
    h = tl.load(x_ptr + at, mask=mask, other=0.0) + tl.load(r_ptr + at, mask=mask, other=0.0)
    tl.store(r_ptr + at, h, mask=mask)
    tl.store(h_ptr + at, h, mask=mask)
    tl.store(out_ptr + at, h/tl.sqrt(tl.sum(h*h, axis=0)/N), mask=mask)

# %% wrong: the sum of squares instead of their mean
from hwlib import tl


def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    at, mask = tl.program_id(0)*N + lane, lane < N
    h = tl.load(x_ptr + at, mask=mask, other=0.0) + tl.load(r_ptr + at, mask=mask, other=0.0)
    tl.store(h_ptr + at, h, mask=mask)
    tl.store(out_ptr + at, h/tl.sqrt(tl.sum(h*h, axis=0)), mask=mask)

# %% wrong: divides by the mean and forgets the root
from hwlib import tl


def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    at, mask = tl.program_id(0)*N + lane, lane < N
    h = tl.load(x_ptr + at, mask=mask, other=0.0) + tl.load(r_ptr + at, mask=mask, other=0.0)
    tl.store(h_ptr + at, h, mask=mask)
    tl.store(out_ptr + at, h/(tl.sum(h*h, axis=0)/N), mask=mask)

# %% wrong: a layer norm, which subtracts the mean first
from hwlib import tl


def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    at, mask = tl.program_id(0)*N + lane, lane < N
    h = tl.load(x_ptr + at, mask=mask, other=0.0) + tl.load(r_ptr + at, mask=mask, other=0.0)
    centred = tl.where(mask, h - tl.sum(h, axis=0)/N, 0.0)
    tl.store(h_ptr + at, h, mask=mask)
    tl.store(out_ptr + at, centred/tl.sqrt(tl.sum(centred*centred, axis=0)/N), mask=mask)

# %% wrong: normalises by x alone
from hwlib import tl


def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    at, mask = tl.program_id(0)*N + lane, lane < N
    x, r = tl.load(x_ptr + at, mask=mask, other=0.0), tl.load(r_ptr + at, mask=mask, other=0.0)
    tl.store(h_ptr + at, x + r, mask=mask)
    tl.store(out_ptr + at, (x + r)/tl.sqrt(tl.sum(x*x, axis=0)/N), mask=mask)

# %% wrong: x is normalised before it is added
from hwlib import tl


def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    at, mask = tl.program_id(0)*N + lane, lane < N
    x, r = tl.load(x_ptr + at, mask=mask, other=0.0), tl.load(r_ptr + at, mask=mask, other=0.0)
    tl.store(h_ptr + at, x + r, mask=mask)
    tl.store(out_ptr + at, r + x/tl.sqrt(tl.sum(x*x, axis=0)/N), mask=mask)

# %% wrong: m is the square of the mean
from hwlib import tl


def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    at, mask = tl.program_id(0)*N + lane, lane < N
    h = tl.load(x_ptr + at, mask=mask, other=0.0) + tl.load(r_ptr + at, mask=mask, other=0.0)
    mean = tl.sum(h, axis=0)/N
    tl.store(h_ptr + at, h, mask=mask)
    tl.store(out_ptr + at, h/tl.sqrt(mean*mean), mask=mask)

# %% wrong: rows are BLOCK apart
from hwlib import tl


def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    at, mask = tl.program_id(0)*BLOCK + lane, lane < N
    h = tl.load(x_ptr + at, mask=mask, other=0.0) + tl.load(r_ptr + at, mask=mask, other=0.0)
    tl.store(h_ptr + at, h, mask=mask)
    tl.store(out_ptr + at, h/tl.sqrt(tl.sum(h*h, axis=0)/N), mask=mask)

# %% wrong: takes the second axis of the grid, so all do row 0
from hwlib import tl


def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    at, mask = tl.program_id(1)*N + lane, lane < N
    h = tl.load(x_ptr + at, mask=mask, other=0.0) + tl.load(r_ptr + at, mask=mask, other=0.0)
    tl.store(h_ptr + at, h, mask=mask)
    tl.store(out_ptr + at, h/tl.sqrt(tl.sum(h*h, axis=0)/N), mask=mask)

# %% wrong: sums along the axis of the rows, so each number is divided by itself
from hwlib import tl


def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)[None, :]
    at, mask = tl.program_id(0)*N + lane, lane < N
    h = tl.load(x_ptr + at, mask=mask, other=0.0) + tl.load(r_ptr + at, mask=mask, other=0.0)
    tl.store(h_ptr + at, h, mask=mask)
    tl.store(out_ptr + at, h/tl.sqrt(tl.sum(h*h, axis=0)/N), mask=mask)

# %% wrong: other is 1, and the masked lanes join the sum
from hwlib import tl


def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    at, mask = tl.program_id(0)*N + lane, lane < N
    h = tl.load(x_ptr + at, mask=mask, other=1.0) + tl.load(r_ptr + at, mask=mask, other=1.0)
    tl.store(h_ptr + at, h, mask=mask)
    tl.store(out_ptr + at, h/tl.sqrt(tl.sum(h*h, axis=0)/N), mask=mask)

# %% wrong: loads up to the end of the array and drops the rest: right values, too many bytes
from hwlib import tl


def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    mask = lane < N
    all_of_it = tl.num_programs(0)*N
    at = tl.program_id(0)*N + lane
    x = tl.load(x_ptr + at, mask=at < all_of_it, other=0.0)
    r = tl.load(r_ptr + at, mask=at < all_of_it, other=0.0)
    h = tl.where(mask, x + r, 0.0)
    tl.store(h_ptr + at, h, mask=mask)
    tl.store(out_ptr + at, h/tl.sqrt(tl.sum(h*h, axis=0)/N), mask=mask)

# %% wrong: stores h in out first and overwrites it: right values, too many bytes
from hwlib import tl


def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    at, mask = tl.program_id(0)*N + lane, lane < N
    h = tl.load(x_ptr + at, mask=mask, other=0.0) + tl.load(r_ptr + at, mask=mask, other=0.0)
    for pointer in (h_ptr, out_ptr):
        tl.store(pointer + at, h, mask=mask)
    tl.store(out_ptr + at, h/tl.sqrt(tl.sum(h*h, axis=0)/N), mask=mask)

# %% wrong: h is kept normalised as well
from hwlib import tl


def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    at, mask = tl.program_id(0)*N + lane, lane < N
    h = tl.load(x_ptr + at, mask=mask, other=0.0) + tl.load(r_ptr + at, mask=mask, other=0.0)
    h = h/tl.sqrt(tl.sum(h*h, axis=0)/N)
    tl.store(h_ptr + at, h, mask=mask)
    tl.store(out_ptr + at, h, mask=mask)

# %% wrong: h and out the wrong way round
from hwlib import tl


def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    at, mask = tl.program_id(0)*N + lane, lane < N
    h = tl.load(x_ptr + at, mask=mask, other=0.0) + tl.load(r_ptr + at, mask=mask, other=0.0)
    tl.store(out_ptr + at, h, mask=mask)
    tl.store(h_ptr + at, h/tl.sqrt(tl.sum(h*h, axis=0)/N), mask=mask)

# %% wrong: every program goes through all rows
from hwlib import tl


def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    for row in range(tl.num_programs(0)):
        at, mask = row*N + lane, lane < N
        h = tl.load(x_ptr + at, mask=mask, other=0.0) + tl.load(r_ptr + at, mask=mask, other=0.0)
        tl.store(h_ptr + at, h, mask=mask)
        tl.store(out_ptr + at, h/tl.sqrt(tl.sum(h*h, axis=0)/N), mask=mask)

# %% wrong: works in float16 to halve the bytes
from hwlib import tl


def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    at, mask = tl.program_id(0)*N + lane, lane < N
    x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float16)
    h = x + tl.load(r_ptr + at, mask=mask, other=0.0).to(tl.float16)
    m = tl.sum((h*h).to(tl.float32), axis=0)/N
    tl.store(h_ptr + at, h, mask=mask)
    tl.store(out_ptr + at, h/tl.sqrt(m), mask=mask)

# %% wrong: whole numbers only
from hwlib import tl


def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    at, mask = tl.program_id(0)*N + lane, lane < N
    h = (tl.load(x_ptr + at, mask=mask, other=0.0) + tl.load(r_ptr + at, mask=mask, other=0.0)).to(tl.int32)
    tl.store(h_ptr + at, h, mask=mask)
    tl.store(out_ptr + at, h/tl.sqrt((tl.sum(h*h, axis=0)/N).to(tl.float32)), mask=mask)

# %% wrong: arange up to N, which is rarely a power of two
from hwlib import tl


def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    at = tl.program_id(0)*N + tl.arange(0, N)
    h = tl.load(x_ptr + at) + tl.load(r_ptr + at)
    tl.store(h_ptr + at, h)
    tl.store(out_ptr + at, h/tl.sqrt(tl.sum(h*h, axis=0)/N))

# %% wrong: normalises each half of the block by itself
from hwlib import tl


def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    half = max(BLOCK//2, 1)
    for start in range(0, N, half):
        lane = start + tl.arange(0, half)
        at, mask = tl.program_id(0)*N + lane, lane < N
        h = tl.load(x_ptr + at, mask=mask, other=0.0) + tl.load(r_ptr + at, mask=mask, other=0.0)
        tl.store(h_ptr + at, h, mask=mask)
        tl.store(out_ptr + at, h/tl.sqrt(tl.sum(h*h, axis=0)/min(half, N - start)), mask=mask)

# %% wrong: the last column is masked away, N - 1 instead of N
from hwlib import tl


def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    at, mask = tl.program_id(0)*N + lane, lane < N - 1
    h = tl.load(x_ptr + at, mask=mask, other=0.0) + tl.load(r_ptr + at, mask=mask, other=0.0)
    tl.store(h_ptr + at, h, mask=mask)
    tl.store(out_ptr + at, h/tl.sqrt(tl.sum(h*h, axis=0)/N), mask=mask)
