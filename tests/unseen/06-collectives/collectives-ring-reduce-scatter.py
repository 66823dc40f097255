# %% right: a partial sum of its own, x stays as it was
def ring_reduce_scatter(rank, n, x):
    mine = blocks(x, n)
    part = mine[(rank - 1) % n].copy()
    for k in range(2, n + 1):
        got = yield Step(part, to=(rank + 1) % n, frm=(rank - 1) % n)
        part = got + mine[(rank - k) % n]
    return part
# %% right: the other way round
def ring_reduce_scatter(rank, n, x):
    b = blocks(x, n)
    left, right = (rank + n - 1) % n, (rank + 1) % n
    for k in range(n - 1):
        b[(rank + k + 2) % n][:] += yield Step(b[(rank + k + 1) % n], left, right)
    return b[rank]
# %% right: negative indices of a list
def ring_reduce_scatter(rank, n, x):
    b = blocks(x, n)
    for k in range(1, n):
        b[rank - k - 1 + n*(k >= rank)][:] += yield Step(b[rank - k], (rank + 1) % n, rank - 1 if rank else n - 1)
    return b[rank]
# %% right: two steps at once
def ring_reduce_scatter(rank, n, x):
    b = blocks(x, n)
    for k in range(n - 1):
        came = yield [Step(frm=(rank - 1) % n), Step(b[(rank - k - 1) % n], to=(rank + 1) % n)]
        b[(rank - k - 2) % n][:] += came[0]
    return b[rank]
# %% right: slices by hand, a countdown
def ring_reduce_scatter(rank, n, x):
    size = -(-len(x)//n)
    def cut(i):
        return slice(i % n*size, (i % n + 1)*size)
    owner = rank + n - 1
    while owner > rank:
        x[cut(owner - 1)] += yield Step(x[cut(owner)], to=(rank + 1) % n, frm=(rank - 1) % n)
        owner -= 1
    return x[cut(rank)]
# %% right: recursion over the partial sum
def ring_reduce_scatter(rank, n, x):
    b = blocks(x, n)
    def on(part, owner):
        if owner == rank:
            return part
        got = yield Step(part, (rank + 1) % n, (rank - 1) % n)
        nxt = (owner - 1) % n
        return (yield from on(b[nxt] + got, nxt))
    return (yield from on(b[(rank - 1) % n] if n > 1 else b[0], (rank - 1) % n))
# %% right: the order of the blocks as a list, rolled by numpy
import numpy as np
def ring_reduce_scatter(rank, n, x):
    b = blocks(x, n)
    order = np.roll(np.arange(n)[::-1], rank).tolist()    # rank - 1, rank - 2, ..., rank
    for send, add in zip(order, order[1:]):
        b[add] += yield Step(b[send], (rank + 1) % n, (rank - 1) % n)
    return b[order[-1]].copy()
# %% right: numpy's add with an output
import numpy as np
def ring_reduce_scatter(rank, n, x):
    b = blocks(x, n)
    to, frm = (rank + 1) % n, (rank - 1) % n
    for step in range(n - 1):
        out, into = (frm - step) % n, (frm - step - 1) % n
        received = yield Step(b[out], to, frm)
        np.add(b[into], received, out=b[into])
    return b[rank]
# %% wrong: starts with its own block, so the sum ends one rank before
def ring_reduce_scatter(rank, n, x):
    b = blocks(x, n)
    for k in range(n - 1):
        b[(rank - k - 1) % n][:] += yield Step(b[(rank - k) % n], (rank + 1) % n, (rank - 1) % n)
    return b[rank]
# %% wrong: the block that is complete belongs to the next rank
def ring_reduce_scatter(rank, n, x):
    b = blocks(x, n)
    for k in range(n - 1):
        b[(rank - k - 1) % n][:] += yield Step(b[(rank - k) % n], (rank + 1) % n, (rank - 1) % n)
    return b[(rank + 1) % n]
# %% wrong: overwrites instead of adding
def ring_reduce_scatter(rank, n, x):
    b = blocks(x, n)
    for k in range(n - 1):
        b[(rank - k - 2) % n][:] = yield Step(b[(rank - k - 1) % n], (rank + 1) % n, (rank - 1) % n)
    return b[rank]
# %% wrong: forgets its own share at the end
def ring_reduce_scatter(rank, n, x):
    b = blocks(x, n)
    got = b[rank]
    for k in range(n - 1):
        got = yield Step(b[(rank - k - 1) % n], (rank + 1) % n, (rank - 1) % n)
        if k < n - 2:
            b[(rank - k - 2) % n][:] += got
    return got
# %% wrong: whole arrays around the ring, then the block
def ring_reduce_scatter(rank, n, x):
    got = x.copy()
    for _ in range(n - 1):
        got = yield Step(got, (rank + 1) % n, (rank - 1) % n)
        x += got
    return blocks(x, n)[rank]
# %% wrong: each block straight to its owner, past the neighbours
def ring_reduce_scatter(rank, n, x):
    b = blocks(x, n)
    for k in range(1, n):
        to, frm = (rank + k) % n, (rank - k) % n
        b[rank][:] += yield Step(b[to], to, frm)
    return b[rank]
# %% wrong: the mean instead of the sum
def ring_reduce_scatter(rank, n, x):
    b = blocks(x, n)
    for k in range(n - 1):
        b[(rank - k - 2) % n][:] += yield Step(b[(rank - k - 1) % n], (rank + 1) % n, (rank - 1) % n)
    return b[rank]/n
# %% wrong: one round too many, the own block goes on
def ring_reduce_scatter(rank, n, x):
    b = blocks(x, n)
    for k in range(n):
        b[(rank - k - 2) % n][:] += yield Step(b[(rank - k - 1) % n], (rank + 1) % n, (rank - 1) % n)
    return b[rank]
# %% wrong: returns the whole array
def ring_reduce_scatter(rank, n, x):
    b = blocks(x, n)
    for k in range(n - 1):
        b[(rank - k - 2) % n][:] += yield Step(b[(rank - k - 1) % n], (rank + 1) % n, (rank - 1) % n)
    return x
# %% wrong: one round too few
def ring_reduce_scatter(rank, n, x):
    b = blocks(x, n)
    for k in range(n - 2):
        b[(rank - k - 2) % n][:] += yield Step(b[(rank - k - 1) % n], (rank + 1) % n, (rank - 1) % n)
    return b[rank]
# %% wrong: everything to everybody at once
def ring_reduce_scatter(rank, n, x):
    b = blocks(x, n)
    others = [r for r in range(n) if r != rank]
    for data in (yield [Step(b[r], to=r, frm=r) for r in others]):
        b[rank][:] += data
    return b[rank]
# %% wrong: waits for the rank that it sends to
def ring_reduce_scatter(rank, n, x):
    b = blocks(x, n)
    for k in range(n - 1):
        b[(rank - k - 2) % n][:] += yield Step(b[(rank - k - 1) % n], (rank + 1) % n, (rank + 1) % n)
    return b[rank]
# %% wrong: passes on what it began with, not the partial sum
def ring_reduce_scatter(rank, n, x):
    b = blocks(x.copy(), n)
    mine = blocks(x, n)
    for k in range(n - 1):
        b[(rank - k - 2) % n][:] += yield Step(mine[(rank - k - 1) % n], (rank + 1) % n, (rank - 1) % n)
    return b[rank]
# %% wrong: adds its share twice
def ring_reduce_scatter(rank, n, x):
    b = blocks(x, n)
    for k in range(n - 1):
        i = (rank - k - 2) % n
        b[i][:] += b[i] + (yield Step(b[(rank - k - 1) % n], (rank + 1) % n, (rank - 1) % n))
    return b[rank]
