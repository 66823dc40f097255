# %% right: both laps in one loop
def ring_allreduce(rank, n, x):
    b = blocks(x, n)
    after, before = (rank + 1) % n, (rank - 1) % n
    for k in range(2*(n - 1)):
        got = yield Step(b[(rank - k) % n], after, before)
        into = b[(rank - k - 1) % n]
        into[:] = into + got if k < n - 1 else got
    return x
# %% right: owner is the next rank, two loops
def ring_allreduce(rank, n, x):
    b = blocks(x, n)
    for k in range(n - 1):
        b[(rank - k - 1) % n][:] += yield Step(b[(rank - k) % n], (rank + 1) % n, (rank - 1) % n)
    for k in range(n - 1):
        b[(rank - k) % n][:] = yield Step(b[(rank + 1 - k) % n], (rank + 1) % n, (rank - 1) % n)
    return x
# %% right: two generators of the learner's own and yield from
def _scatter(rank, n, x):
    b = blocks(x, n)
    for k in range(1, n):
        b[(rank - k - 1) % n][:] += yield Step(b[(rank - k) % n], (rank + 1) % n, (rank - 1) % n)

def _gather(rank, n, x):
    b = blocks(x, n)
    for k in range(n - 1):
        b[(rank - k - 1) % n][:] = yield Step(b[(rank - k) % n], (rank + 1) % n, (rank - 1) % n)

def ring_allreduce(rank, n, x):
    yield from _scatter(rank, n, x)
    yield from _gather(rank, n, x)
    return x
# %% right: first lap one way round, second the other
def ring_allreduce(rank, n, x):
    b = blocks(x, n)
    nxt, prv = (rank + 1) % n, (rank - 1) % n
    for k in range(n - 1):
        b[(rank - k - 2) % n][:] += yield Step(b[(rank - k - 1) % n], nxt, prv)
    for k in range(n - 1):
        b[(rank + k + 1) % n][:] = yield Step(b[(rank + k) % n], prv, nxt)
    return x
# %% right: both laps against the ranks' order
def ring_allreduce(rank, n, x):
    size = -(-len(x)//n)
    cut = lambda i: slice(i % n*size, (i % n + 1)*size)
    hop = dict(to=(rank - 1) % n, frm=(rank + 1) % n)
    for k in range(n - 1):
        x[cut(rank + k + 1)] += yield Step(x[cut(rank + k)], **hop)
    for k in range(n - 1):
        x[cut(rank + k)] = yield Step(x[cut(rank + k - 1)], **hop)
    return x
# %% right: a partial sum in the hand, written where it is complete
def ring_allreduce(rank, n, x):
    b = blocks(x, n)
    hand, at = b[rank].copy(), rank
    for k in range(2*n - 2):
        hand = yield Step(hand, to=(rank + 1) % n, frm=(rank - 1) % n)
        at = (at - 1) % n
        if k < n - 1:
            hand = hand + b[at]
        if k >= n - 2:
            b[at][:] = hand
    return x
# %% right: one helper with the operation as an argument
import numpy as np
def lap(rank, n, b, first, combine):
    for i in range(first, first - n + 1, -1):
        got = yield Step(b[i % n], (rank + 1) % n, (rank - 1) % n)
        b[(i - 1) % n][:] = combine(b[(i - 1) % n], got)

def ring_allreduce(rank, n, x):
    b = blocks(x, n)
    yield from lap(rank, n, b, rank - 1, np.add)
    yield from lap(rank, n, b, rank, lambda old, new: new)
    return x
# %% right: send and receive as two steps at once
def ring_allreduce(rank, n, x):
    b = blocks(x, n)
    for add in (True, False):
        for k in range(n - 1):
            i = rank - k - add
            _, got = yield [Step(b[i % n], to=(rank + 1) % n), Step(frm=(rank - 1) % n)]
            b[(i - 1) % n][:] = got + b[(i - 1) % n]*add
    return x
# %% wrong: only the first lap
def ring_allreduce(rank, n, x):
    b = blocks(x, n)
    for k in range(n - 1):
        b[(rank - k - 2) % n][:] += yield Step(b[(rank - k - 1) % n], (rank + 1) % n, (rank - 1) % n)
    return x
# %% wrong: the second lap begins with a block that is not complete
def ring_allreduce(rank, n, x):
    b = blocks(x, n)
    for k in range(n - 1):
        b[(rank - k - 1) % n][:] += yield Step(b[(rank - k) % n], (rank + 1) % n, (rank - 1) % n)
    for k in range(n - 1):
        b[(rank - k - 1) % n][:] = yield Step(b[(rank - k) % n], (rank + 1) % n, (rank - 1) % n)
    return x
# %% wrong: adds in the second lap too
def ring_allreduce(rank, n, x):
    b = blocks(x, n)
    for k in range(2*(n - 1)):
        b[(rank - k - 1) % n][:] += yield Step(b[(rank - k) % n], (rank + 1) % n, (rank - 1) % n)
    return x
# %% wrong: whole arrays, n - 1 rounds
def ring_allreduce(rank, n, x):
    got = x.copy()
    for _ in range(n - 1):
        got = yield Step(got, (rank + 1) % n, (rank - 1) % n)
        x += got
    return x
# %% wrong: whole arrays to rank 0 and back along the line
def ring_allreduce(rank, n, x):
    if rank < n - 1:
        x += yield Step(frm=rank + 1)
    if rank > 0:
        yield Step(x, to=rank - 1)
        x[:] = yield Step(frm=rank - 1)
    if rank < n - 1:
        yield Step(x, to=rank + 1)
    return x
# %% wrong: calls the second generator without yield from
def ring_allreduce(rank, n, x):
    b = blocks(x, n)
    def gather():
        for k in range(n - 1):
            b[(rank - k - 1) % n][:] = yield Step(b[(rank - k) % n], (rank + 1) % n, (rank - 1) % n)
        return x
    for k in range(n - 1):
        b[(rank - k - 2) % n][:] += yield Step(b[(rank - k - 1) % n], (rank + 1) % n, (rank - 1) % n)
    gather()
    return x
# %% wrong: returns the mean
def ring_allreduce(rank, n, x):
    b = blocks(x, n)
    for k in range(2*(n - 1)):
        got = yield Step(b[(rank - k) % n], (rank + 1) % n, (rank - 1) % n)
        into = b[(rank - k - 1) % n]
        into[:] = into + got if k < n - 1 else got
    x /= n
    return x
# %% wrong: n rounds in each lap
def ring_allreduce(rank, n, x):
    b = blocks(x, n)
    for k in range(n):
        got = yield Step(b[(rank - k - 1) % n], (rank + 1) % n, (rank - 1) % n)
        if k < n - 1:
            b[(rank - k - 2) % n][:] += got
    for k in range(n):
        got = yield Step(b[(rank - k) % n], (rank + 1) % n, (rank - 1) % n)
        if k < n - 1:
            b[(rank - k - 1) % n][:] = got
    return x
# %% wrong: the second lap sends whole arrays
def ring_allreduce(rank, n, x):
    b = blocks(x, n)
    for k in range(n - 1):
        b[(rank - k - 2) % n][:] += yield Step(b[(rank - k - 1) % n], (rank + 1) % n, (rank - 1) % n)
    for k in range(n - 1):
        got = yield Step(x, (rank + 1) % n, (rank - 1) % n)
        i = (rank - k - 1) % n
        b[i][:] = blocks(got, n)[i]
    return x
# %% wrong: names instead of writing, so x stays half done
def ring_allreduce(rank, n, x):
    b = blocks(x, n)
    for k in range(2*(n - 1)):
        got = yield Step(b[(rank - k) % n], (rank + 1) % n, (rank - 1) % n)
        i = (rank - k - 1) % n
        b[i] = b[i] + got if k < n - 1 else got
    return x
# %% wrong: all blocks at once, in two rounds
def ring_allreduce(rank, n, x):
    b = blocks(x, n)
    others = [r for r in range(n) if r != rank]
    for got in (yield [Step(b[r], r, r) for r in others]):
        b[rank][:] += got
    for r, got in zip(others, (yield [Step(b[rank], r, r) for r in others])):
        b[r][:] = got
    return x
# %% wrong: returns the block that it owns
def ring_allreduce(rank, n, x):
    b = blocks(x, n)
    for k in range(2*(n - 1)):
        got = yield Step(b[(rank - k) % n], (rank + 1) % n, (rank - 1) % n)
        into = b[(rank - k - 1) % n]
        into[:] = into + got if k < n - 1 else got
    return b[rank]
# %% wrong: the second lap goes to the neighbour but waits for the same one
def ring_allreduce(rank, n, x):
    b = blocks(x, n)
    for k in range(n - 1):
        b[(rank - k - 2) % n][:] += yield Step(b[(rank - k - 1) % n], (rank + 1) % n, (rank - 1) % n)
    for k in range(n - 1):
        b[(rank - k - 1) % n][:] = yield Step(b[(rank - k) % n], (rank + 1) % n, (rank + 1) % n)
    return x
