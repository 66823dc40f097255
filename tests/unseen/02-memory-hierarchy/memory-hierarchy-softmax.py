# %% right: the row in one load, minus infinity beyond its end
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    mask = at < N
    row = tl.program_id(0)*N
    y = s*tl.load(x_ptr + row + at, mask=mask, other=-float("inf"))
    e = tl.exp(y - tl.max(y, axis=0))
    tl.store(out_ptr + row + at, e/tl.sum(e, axis=0), mask=mask)

# %% right: the largest x taken off before it is scaled, since s is above 0
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    here = tl.program_id(0)*N + at
    x = tl.load(x_ptr + here, mask=at < N, other=-1e30)
    e = tl.exp((x - tl.max(x, axis=0))*s)
    tl.store(out_ptr + here, e/tl.sum(e, axis=0), mask=at < N)

# %% right: zeros beyond the end, which where takes out twice
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < N
    x_ptr += tl.program_id(0)*N
    out_ptr += tl.program_id(0)*N
    y = tl.load(x_ptr + at, mask=inside)*s
    top = tl.max(tl.where(inside, y, -3e38), axis=0)
    e = tl.where(inside, tl.exp(tl.where(inside, y - top, 0.0)), 0.0)
    tl.store(out_ptr + at, e*(1.0/tl.sum(e, axis=0)), mask=inside)

# %% right: the logarithm of the sum is taken off, no quotient
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    y = tl.load(x_ptr + row*N + cols, mask=mask, other=float("-inf"))*s
    top = tl.max(y, axis=0)
    rest = y - top
    tl.store(out_ptr + row*N + cols, tl.exp(rest - tl.log(tl.sum(tl.exp(rest), axis=0))), mask=mask)

# %% right: two halves that stay, a maximum and a sum of both
from hwlib import tl


def half(x_ptr, first, at, N):
    return tl.load(x_ptr + first + at, mask=at < N, other=float("-inf"))


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    first = tl.program_id(0)*N
    if BLOCK == 1:
        parts = [tl.arange(0, 1)]
    else:
        parts = [tl.arange(0, BLOCK//2), tl.arange(BLOCK//2, BLOCK)]
    ys = [s*half(x_ptr, first, at, N) for at in parts]
    top = tl.max(ys[0], axis=0)
    for y in ys[1:]:
        top = tl.maximum(top, tl.max(y, axis=0))
    es = [tl.exp(y - top) for y in ys]
    total = tl.sum(es[0], axis=0)
    for e in es[1:]:
        total += tl.sum(e, axis=0)
    for at, e in zip(parts, es):
        tl.store(out_ptr + first + at, e/total, mask=at < N)

# %% right: an array of one row, with axes of two
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)[None, :]
    at = tl.program_id(0)*N + cols
    y = tl.load(x_ptr + at, mask=cols < N, other=float("-inf"))*s
    e = tl.exp(y - tl.max(y, axis=1)[:, None])
    tl.store(out_ptr + at, e/tl.sum(e, axis=1)[:, None], mask=cols < N)

# %% right: the row as a column, reduced down
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)[:, None]
    at = tl.program_id(0)*N + i
    y = tl.load(x_ptr + at, mask=i < N, other=float("-inf"))*s
    e = tl.exp(y - tl.max(y, axis=0)[None, :])
    tl.store(out_ptr + at, e/tl.sum(e, axis=0)[None, :], mask=i < N)

# %% right: lanes counted backwards, the smallest of what is negative
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    at = BLOCK - 1 - tl.arange(0, BLOCK)
    mask = at < N
    row = tl.program_id(axis=0)*N
    minus = -s*tl.load(x_ptr + row + at, mask=mask, other=-float("inf"))
    e = tl.exp(tl.min(minus, axis=0) - minus)
    tl.store(out_ptr + row + at, e/tl.sum(e, axis=0), mask=mask)

# %% right: names imported one by one, all that is beyond the row switched off
from hwlib.tl import arange, constexpr, exp, load, max, program_id, store, sum, where


def softmax(x_ptr, out_ptr, N, s, BLOCK: constexpr):
    offset = arange(0, BLOCK)
    on = offset <= N - 1
    at = offset + N*program_id(0)
    x = load(x_ptr + at, on)
    x = where(on, x, -float("inf"))
    x = s*(x - max(x))
    x = exp(x)
    store(out_ptr + at, x/sum(x), on)

# %% right: no masks where N is the whole block
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    mask = None if N == BLOCK else at < N
    place = tl.program_id(0)*N + at
    if mask is None:
        x = tl.load(x_ptr + place)
    else:
        x = tl.load(x_ptr + place, mask=mask, other=-1e38)
    e = tl.exp(s*(x - tl.max(x, axis=0)))
    tl.store(out_ptr + place, e/tl.sum(e, axis=0), mask=mask)

# %% right: stores e first into nothing, a quotient of one over the sum in two roots
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    mask = (at >= 0) & (at < N)
    row = tl.program_id(0)*N
    y = s*tl.load(x_ptr + row + at, mask=mask, other=-float("inf"))
    root = tl.exp(0.5*(y - tl.max(y, axis=0)))
    total = tl.sum(root*root, axis=0)
    unit = root/tl.sqrt(total)
    tl.store(out_ptr + row + at, unit*unit, mask=mask)

# %% right: exact powers of two of the length, piece by piece, without a mask
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    row = tl.program_id(0)*N
    pieces, first, size = [], 0, BLOCK
    while size >= 1:
        if first + size <= N:
            at = row + first + tl.arange(0, size)
            pieces.append((at, s*tl.load(x_ptr + at)))
            first += size
        size //= 2
    top = tl.max(pieces[0][1], axis=0)
    for _, y in pieces[1:]:
        top = tl.maximum(top, tl.max(y, axis=0))
    total = 0.0
    for _, y in pieces:
        total = total + tl.sum(tl.exp(y - top), axis=0)
    for at, y in pieces:
        tl.store(out_ptr + at, tl.exp(y - top)/total)

# %% wrong: nothing taken off, so large rows overflow
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0)*N
    e = tl.exp(s*tl.load(x_ptr + row + at, mask=at < N, other=-float("inf")))
    tl.store(out_ptr + row + at, e/tl.sum(e, axis=0), mask=at < N)

# %% wrong: zeros beyond the end count in the sum
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0)*N
    y = s*tl.load(x_ptr + row + at, mask=at < N, other=0.0)
    e = tl.exp(y - tl.max(y, axis=0))
    tl.store(out_ptr + row + at, e/tl.sum(e, axis=0), mask=at < N)

# %% wrong: the maximum of x is taken off s times x
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0)*N
    x = tl.load(x_ptr + row + at, mask=at < N, other=-float("inf"))
    e = tl.exp(s*x - tl.max(x, axis=0))
    tl.store(out_ptr + row + at, e/tl.sum(e, axis=0), mask=at < N)

# %% wrong: the scale is forgotten
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0)*N
    x = tl.load(x_ptr + row + at, mask=at < N, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row + at, e/tl.sum(e, axis=0), mask=at < N)

# %% wrong: three passes, as operations on arrays
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    mask = at < N
    row = tl.program_id(0)*N
    top = tl.max(s*tl.load(x_ptr + row + at, mask=mask, other=-float("inf")), axis=0)
    total = tl.sum(tl.exp(s*tl.load(x_ptr + row + at, mask=mask, other=-float("inf")) - top), axis=0)
    tl.store(out_ptr + row + at, tl.exp(s*tl.load(x_ptr + row + at, mask=mask) - top)/total, mask=mask)

# %% wrong: stores the exponentials and reads them back to divide
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    mask = at < N
    row = tl.program_id(0)*N
    y = s*tl.load(x_ptr + row + at, mask=mask, other=-float("inf"))
    e = tl.exp(y - tl.max(y, axis=0))
    tl.store(out_ptr + row + at, e, mask=mask)
    tl.store(out_ptr + row + at, tl.load(out_ptr + row + at, mask=mask)/tl.sum(e, axis=0), mask=mask)

# %% wrong: forgets to divide by the sum
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0)*N
    y = s*tl.load(x_ptr + row + at, mask=at < N, other=-float("inf"))
    tl.store(out_ptr + row + at, tl.exp(y - tl.max(y, axis=0)), mask=at < N)

# %% wrong: rows of BLOCK elements
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0)*BLOCK
    y = s*tl.load(x_ptr + row + at, mask=at < N, other=-float("inf"))
    e = tl.exp(y - tl.max(y, axis=0))
    tl.store(out_ptr + row + at, e/tl.sum(e, axis=0), mask=at < N)

# %% wrong: no mask on the store, so the next row is overwritten
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0)*N
    y = s*tl.load(x_ptr + row + at, mask=at < N, other=-float("inf"))
    e = tl.exp(y - tl.max(y, axis=0))
    tl.store(out_ptr + row + at, e/tl.sum(e, axis=0))

# %% wrong: no mask on the load, the next row counts too
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0)*N
    y = s*tl.load(x_ptr + row + at)
    e = tl.exp(y - tl.max(y, axis=0))
    tl.store(out_ptr + row + at, e/tl.sum(e, axis=0), mask=at < N)

# %% wrong: the last element again and again instead of a mask, then switched off
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0)*N
    y = s*tl.load(x_ptr + row + tl.minimum(at, N - 1))
    e = tl.where(at < N, tl.exp(y - tl.max(y, axis=0)), 0.0)
    tl.store(out_ptr + row + at, e/tl.sum(e, axis=0), mask=at < N)

# %% wrong: capped at 88 so that nothing overflows
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0)*N
    y = s*tl.load(x_ptr + row + at, mask=at < N, other=-float("inf"))
    e = tl.exp(tl.minimum(y, 80.0))
    tl.store(out_ptr + row + at, e/tl.sum(e, axis=0), mask=at < N)

# %% wrong: the mean instead of the maximum
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    mask = at < N
    row = tl.program_id(0)*N
    y = s*tl.load(x_ptr + row + at, mask=mask)
    e = tl.where(mask, tl.exp(y - tl.sum(y, axis=0)/N), 0.0)
    tl.store(out_ptr + row + at, e/tl.sum(e, axis=0), mask=mask)

# %% wrong: divides by the maximum instead of taking it off
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    mask = at < N
    row = tl.program_id(0)*N
    y = s*tl.load(x_ptr + row + at, mask=mask, other=-float("inf"))
    e = tl.where(mask, tl.exp(y/tl.max(y, axis=0)), 0.0)
    tl.store(out_ptr + row + at, e/tl.sum(e, axis=0), mask=mask)

# %% wrong: the softmax of x, scaled afterwards
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0)*N
    x = tl.load(x_ptr + row + at, mask=at < N, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row + at, s*e/tl.sum(e, axis=0), mask=at < N)

# %% wrong: its logarithm
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0)*N
    y = s*tl.load(x_ptr + row + at, mask=at < N, other=-float("inf"))
    y = y - tl.max(y, axis=0)
    tl.store(out_ptr + row + at, y - tl.log(tl.sum(tl.exp(y), axis=0)), mask=at < N)

# %% wrong: divides by the block's length times the mean, padding included
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    mask = at < N
    row = tl.program_id(0)*N
    y = s*tl.load(x_ptr + row + at, mask=mask)
    top = tl.max(tl.where(mask, y, -float("inf")), axis=0)
    e = tl.exp(y - top)
    tl.store(out_ptr + row + at, e/tl.sum(tl.where(mask, e, 1.0), axis=0), mask=mask)

# %% wrong: half of the elements, as if BLOCK were at most N
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK//2)
    row = tl.program_id(0)*N
    y = s*tl.load(x_ptr + row + at, mask=at < N, other=-float("inf"))
    e = tl.exp(y - tl.max(y, axis=0))
    tl.store(out_ptr + row + at, e/tl.sum(e, axis=0), mask=at < N)

# %% wrong: down the columns
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    rows = tl.num_programs(0)
    at = tl.program_id(0) + rows*i
    mask = i < N
    y = s*tl.load(x_ptr + at, mask=mask, other=-float("inf"))
    e = tl.exp(y - tl.max(y, axis=0))
    tl.store(out_ptr + at, e/tl.sum(e, axis=0), mask=mask)

# %% wrong: one program does all rows, and so does each
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    for row in range(tl.num_programs(0)):
        y = s*tl.load(x_ptr + row*N + at, mask=at < N, other=-float("inf"))
        e = tl.exp(y - tl.max(y, axis=0))
        tl.store(out_ptr + row*N + at, e/tl.sum(e, axis=0), mask=at < N)

# %% wrong: minus one beyond the end is not small enough
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0)*N
    x = tl.load(x_ptr + row + at, mask=at < N, other=-1.0)
    e = tl.exp(s*(x - tl.max(x, axis=0)))
    tl.store(out_ptr + row + at, e/tl.sum(e, axis=0), mask=at < N)

# %% wrong: the largest absolute value taken off, so small rows of large numbers underflow
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    mask = at < N
    row = tl.program_id(0)*N
    y = s*tl.load(x_ptr + row + at, mask=mask)
    size = tl.max(tl.maximum(y, -y), axis=0)
    e = tl.where(mask, tl.exp(y - size), 0.0)
    tl.store(out_ptr + row + at, e/tl.sum(e, axis=0), mask=mask)

# %% wrong: the smallest instead of the largest
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    mask = at < N
    row = tl.program_id(0)*N
    y = s*tl.load(x_ptr + row + at, mask=mask, other=float("inf"))
    e = tl.where(mask, tl.exp(y - tl.min(y, axis=0)), 0.0)
    tl.store(out_ptr + row + at, e/tl.sum(e, axis=0), mask=mask)

# %% wrong: a returned tile
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    y = s*tl.load(x_ptr + tl.program_id(0)*N + at, mask=at < N, other=-float("inf"))
    e = tl.exp(y - tl.max(y, axis=0))
    return e/tl.sum(e, axis=0)

# %% wrong: in place, out stays empty
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    here = x_ptr + tl.program_id(0)*N + at
    y = s*tl.load(here, mask=at < N, other=-float("inf"))
    e = tl.exp(y - tl.max(y, axis=0))
    tl.store(here, e/tl.sum(e, axis=0), mask=at < N)

# %% wrong: pieces with a running sum, but the older ones are not scaled anew
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    row = tl.program_id(0)*N
    size = BLOCK//2 if BLOCK > 1 else 1
    parts, top, total = [], -float("inf"), 0.0
    for first in range(0, BLOCK, size):
        at = first + tl.arange(0, size)
        y = s*tl.load(x_ptr + row + at, mask=at < N, other=-1e37)
        top = tl.maximum(tl.max(y, axis=0), top)
        e = tl.exp(y - top)
        total = total + tl.sum(e, axis=0)
        parts.append((at, e))
    for at, e in parts:
        tl.store(out_ptr + row + at, e/total, mask=at < N)

# %% wrong: minus a hundred beyond the end, before it is scaled: with a small s that is hardly below the row
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    mask = at < N
    row = tl.program_id(0)*N
    x = tl.load(x_ptr + row + at, mask=mask, other=-100.0)
    e = tl.exp(s*(x - tl.max(x, axis=0)))
    tl.store(out_ptr + row + at, e/tl.sum(e, axis=0), mask=mask)

# %% wrong: the zeros beyond the end are kept from the sum, but not from the maximum
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    mask = at < N
    row = tl.program_id(0)*N
    y = s*tl.load(x_ptr + row + at, mask=mask, other=0.0)
    e = tl.where(mask, tl.exp(y - tl.max(y, axis=0)), 0.0)
    tl.store(out_ptr + row + at, e/tl.sum(e, axis=0), mask=mask)

# %% wrong: a fixed bound taken off, as if no x were above 3
from hwlib import tl


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    mask = at < N
    row = tl.program_id(0)*N
    y = s*tl.load(x_ptr + row + at, mask=mask, other=-float("inf"))
    e = tl.exp(y - 3*s)
    tl.store(out_ptr + row + at, e/tl.sum(e, axis=0), mask=mask)
