# %% right: hands on what came in
def ring_allgather(rank, n, x):
    mine = blocks(x, n)
    last = mine[rank]
    for k in range(1, n):
        last = yield Step(last, to=(rank + 1) % n, frm=(rank - 1) % n)
        mine[(rank - k) % n][:] = last
    return x
# %% right: the other way round
def ring_allgather(rank, n, x):
    b = blocks(x, n)
    for k in range(n - 1):
        b[(rank + k + 1) % n][:] = yield Step(b[(rank + k) % n], (rank - 1) % n, (rank + 1) % n)
    return x
# %% right: negative indices instead of a remainder
def ring_allgather(rank, n, x):
    b = blocks(x, n)
    for i in range(rank, rank - n + 1, -1):
        got = yield Step(send=b[i], frm=rank - 1 if rank else n - 1, to=rank + 1 if rank < n - 1 else 0)
        b[i - 1][...] = got
    return x
# %% right: a send and a receive as two steps at once
def ring_allgather(rank, n, x):
    b = blocks(x, n)
    after, before = (rank + 1) % n, (rank - 1) % n
    for k in range(n - 1):
        _, got = yield [Step(b[(rank - k) % n], to=after), Step(frm=before)]
        b[(rank - k - 1) % n][:] = got
    return x
# %% right: recursion, with yield from
def ring_allgather(rank, n, x, k=0):
    if k < n - 1:
        parts = blocks(x, n)
        got = yield Step(parts[(rank - k) % n], (rank + 1) % n, (rank - 1) % n)
        parts[(rank - k - 1) % n][:] = got
        yield from ring_allgather(rank, n, x, k + 1)
    return x
# %% right: slices of x, sizes by hand
def ring_allgather(rank, n, x):
    size = -(-len(x)//n)
    def part(i):
        i %= n
        return slice(i*size, min((i + 1)*size, len(x)))
    have, rounds = rank, 0
    while rounds < n - 1:
        x[part(have - 1)] = yield Step(x[part(have)], to=(rank + 1) % n, frm=(rank + n - 1) % n)
        have -= 1
        rounds += 1
    return x
# %% right: collects all messages in a list first
def ring_allgather(rank, n, x):
    parts, came = blocks(x, n), [blocks(x, n)[rank]]
    while len(came) < n:
        came.append((yield Step(came[-1], (rank + 1) % n, (rank - 1) % n)))
    for k, data in enumerate(came):
        parts[(rank - k) % n][:] = data
    return x
# %% right: a helper generator that returns what it has seen
def passed_on(data, after, before, hops):
    seen = []
    for _ in range(hops):
        data = yield Step(data, after, before)
        seen.append(data)
    return seen

def ring_allgather(rank, n, x):
    parts = blocks(x, n)
    seen = yield from passed_on(parts[rank], (rank + 1) % n, (rank - 1) % n, n - 1)
    for back, data in enumerate(seen, 1):
        parts[(rank - back) % n][:] = data
    return x
# %% wrong: n rounds, the own block comes back
def ring_allgather(rank, n, x):
    b = blocks(x, n)
    for k in range(n):
        b[(rank - k - 1) % n][:] = yield Step(b[(rank - k) % n], (rank + 1) % n, (rank - 1) % n)
    return x
# %% wrong: sends its own block every time
def ring_allgather(rank, n, x):
    b = blocks(x, n)
    for k in range(n - 1):
        b[(rank - k - 1) % n][:] = yield Step(b[rank], (rank + 1) % n, (rank - 1) % n)
    return x
# %% wrong: whole arrays in every round
import numpy as np
def ring_allgather(rank, n, x):
    for _ in range(n - 1):
        got = yield Step(x, (rank + 1) % n, (rank - 1) % n)
        missing = np.isnan(x)
        x[missing] = got[missing]
    return x
# %% wrong: writes what came over the block that it has just sent
def ring_allgather(rank, n, x):
    b = blocks(x, n)
    for k in range(n - 1):
        b[(rank - k) % n][:] = yield Step(b[(rank - k) % n], (rank + 1) % n, (rank - 1) % n)
    return x
# %% wrong: waits for the rank that it sends to
def ring_allgather(rank, n, x):
    b = blocks(x, n)
    for k in range(n - 1):
        b[(rank - k - 1) % n][:] = yield Step(b[(rank - k) % n], to=(rank + 1) % n, frm=(rank + 1) % n)
    return x
# %% wrong: one round too few
def ring_allgather(rank, n, x):
    b = blocks(x, n)
    for k in range(n - 2):
        b[(rank - k - 1) % n][:] = yield Step(b[(rank - k) % n], (rank + 1) % n, (rank - 1) % n)
    return x
# %% wrong: everything at once to all
def ring_allgather(rank, n, x):
    b = blocks(x, n)
    others = [r for r in range(n) if r != rank]
    came = yield [Step(b[rank], to=r, frm=r) for r in others]
    for r, data in zip(others, came):
        b[r][:] = data
    return x
# %% wrong: the last rank has no neighbour
def ring_allgather(rank, n, x):
    b = blocks(x, n)
    for k in range(n - 1):
        b[(rank - k - 1) % n][:] = yield Step(b[(rank - k) % n], rank + 1, rank - 1)
    return x
# %% wrong: adds to what is not yet a number
def ring_allgather(rank, n, x):
    b = blocks(x, n)
    for k in range(n - 1):
        b[(rank - k - 1) % n][:] += yield Step(b[(rank - k) % n], (rank + 1) % n, (rank - 1) % n)
    return x
# %% wrong: forgets to return
def ring_allgather(rank, n, x):
    b = blocks(x, n)
    for k in range(n - 1):
        b[(rank - k - 1) % n][:] = yield Step(b[(rank - k) % n], (rank + 1) % n, (rank - 1) % n)
# %% wrong: returns the own block
def ring_allgather(rank, n, x):
    b = blocks(x, n)
    for k in range(n - 1):
        b[(rank - k - 1) % n][:] = yield Step(b[(rank - k) % n], (rank + 1) % n, (rank - 1) % n)
    return b[rank]
# %% wrong: puts names on what came instead of writing it into x
def ring_allgather(rank, n, x):
    b = blocks(x, n)
    for k in range(n - 1):
        b[(rank - k - 1) % n] = yield Step(b[(rank - k) % n], (rank + 1) % n, (rank - 1) % n)
    return x
# %% wrong: sends in one round and receives in the next
def ring_allgather(rank, n, x):
    b = blocks(x, n)
    for k in range(n - 1):
        yield Step(b[(rank - k) % n], to=(rank + 1) % n)
        b[(rank - k - 1) % n][:] = yield Step(frm=(rank - 1) % n)
    return x
# %% wrong: the blocks in the order in which they came
import numpy as np
def ring_allgather(rank, n, x):
    came = [blocks(x, n)[rank]]
    for k in range(n - 1):
        came.append((yield Step(came[-1], (rank + 1) % n, (rank - 1) % n)))
    x[:] = np.concatenate(came)
    return x
