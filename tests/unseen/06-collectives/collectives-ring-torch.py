# %% right: isend, recv, wait
import torch
import torch.distributed as dist
def ring_reduce_scatter_torch(rank, n, x):
    b = blocks(x, n)
    after, before = (rank + 1) % n, (rank - 1) % n
    for k in range(n - 1):
        out, into = b[(rank - k - 1) % n], b[(rank - k - 2) % n]
        got = torch.empty_like(into)
        sending = dist.isend(out, after)
        dist.recv(got, before)
        sending.wait()
        into += got
    return b[rank]
# %% right: irecv first, then send
import torch
import torch.distributed as dist
def ring_reduce_scatter_torch(rank, n, x):
    b = blocks(x, n)
    for k in range(1, n):
        got = torch.empty_like(b[(rank - k - 1) % n])
        coming = dist.irecv(got, src=(rank - 1) % n)
        dist.send(b[(rank - k) % n], dst=(rank + 1) % n)
        coming.wait()
        b[(rank - k - 1) % n].add_(got)
    return b[rank]
# %% right: a batch of both
import torch
import torch.distributed as dist
def ring_reduce_scatter_torch(rank, n, x):
    b = list(blocks(x, n))
    for owner in range(rank - 1, rank - n, -1):
        got = torch.empty_like(b[(owner - 1) % n])
        ops = [dist.P2POp(dist.isend, b[owner % n], (rank + 1) % n),
               dist.P2POp(dist.irecv, got, (rank - 1) % n)]
        for request in dist.batch_isend_irecv(ops):
            request.wait()
        b[(owner - 1) % n] += got
    return b[rank]
# %% right: the other way round, with a partial sum of its own
import torch
import torch.distributed as dist
def ring_reduce_scatter_torch(rank, n, x):
    mine = blocks(x, n)
    part = mine[(rank + 1) % n].clone()
    for k in range(2, n + 1):
        share = mine[(rank + k) % n]
        got = torch.zeros_like(share)
        requests = [dist.isend(part, (rank - 1) % n), dist.irecv(got, (rank + 1) % n)]
        [r.wait() for r in requests]
        part = got + share
    return part
# %% right: a helper that exchanges, tags for each round
import torch
import torch.distributed as dist
def exchange(out, like, to, frm, tag):
    into = torch.empty_like(like)
    jobs = (dist.irecv(into, frm, tag=tag), dist.isend(out, to, tag=tag))
    for job in jobs:
        job.wait()
    return into

def ring_reduce_scatter_torch(rank, n, x):
    b = blocks(x, n)
    for k in range(n - 1):
        i, j = (rank - k - 1) % n, (rank - k - 2) % n
        b[j][:] += exchange(b[i], b[j], (rank + 1) % n, (rank - 1) % n, k)
    return b[rank].clone()
# %% right: recursion
import torch
import torch.distributed as dist
def ring_reduce_scatter_torch(rank, n, x, k=0):
    b = blocks(x, n)
    if k == n - 1:
        return b[rank]
    got = b[(rank - k - 2) % n].new_empty(len(b[(rank - k - 2) % n]))
    work = dist.isend(tensor=b[(rank - k - 1) % n], dst=(rank + 1) % n)
    dist.recv(tensor=got, src=(rank - 1) % n)
    work.wait()
    b[(rank - k - 2) % n] += got
    return ring_reduce_scatter_torch(rank, n, x, k + 1)
# %% right: slices by hand and its own imports
import torch
import torch.distributed as dist
def ring_reduce_scatter_torch(rank, n, x):
    size = -(-x.numel()//n)
    def cut(i):
        i = i % n
        return x[i*size:(i + 1)*size]
    for k in range(n - 1):
        send, add = cut(rank - k - 1), cut(rank - k - 2)
        buffer = torch.empty(add.shape, dtype=x.dtype, device=x.device)
        receive = dist.irecv(buffer, (rank + n - 1) % n)
        dist.isend(send, (rank + 1) % n).wait()
        receive.wait()
        torch.add(add, buffer, out=add)
    return cut(rank)
# %% wrong: all send first and then receive
import torch
import torch.distributed as dist
def ring_reduce_scatter_torch(rank, n, x):
    b = blocks(x, n)
    for k in range(n - 1):
        got = torch.empty_like(b[(rank - k - 2) % n])
        dist.send(b[(rank - k - 1) % n], (rank + 1) % n)
        dist.recv(got, (rank - 1) % n)
        b[(rank - k - 2) % n] += got
    return b[rank]
# %% wrong: all receive first and then send
import torch
import torch.distributed as dist
def ring_reduce_scatter_torch(rank, n, x):
    b = blocks(x, n)
    for k in range(n - 1):
        got = torch.empty_like(b[(rank - k - 2) % n])
        dist.recv(got, (rank - 1) % n)
        dist.send(b[(rank - k - 1) % n], (rank + 1) % n)
        b[(rank - k - 2) % n] += got
    return b[rank]
# %% wrong: isend that is waited for before the receive
import torch
import torch.distributed as dist
def ring_reduce_scatter_torch(rank, n, x):
    b = blocks(x, n)
    for k in range(n - 1):
        got = torch.empty_like(b[(rank - k - 2) % n])
        dist.isend(b[(rank - k - 1) % n], (rank + 1) % n).wait()
        dist.recv(got, (rank - 1) % n)
        b[(rank - k - 2) % n] += got
    return b[rank]
# %% wrong: even ranks send first, so every step takes two rounds
import torch
import torch.distributed as dist
def ring_reduce_scatter_torch(rank, n, x):
    b = blocks(x, n)
    for k in range(n - 1):
        got = torch.empty_like(b[(rank - k - 2) % n])
        if rank % 2 == 0:
            dist.send(b[(rank - k - 1) % n], (rank + 1) % n)
            dist.recv(got, (rank - 1) % n)
        else:
            dist.recv(got, (rank - 1) % n)
            dist.send(b[(rank - k - 1) % n], (rank + 1) % n)
        b[(rank - k - 2) % n] += got
    return b[rank]
# %% wrong: receives into the block and loses its own share
import torch
import torch.distributed as dist
def ring_reduce_scatter_torch(rank, n, x):
    b = blocks(x, n)
    for k in range(n - 1):
        sending = dist.isend(b[(rank - k - 1) % n], (rank + 1) % n)
        dist.recv(b[(rank - k - 2) % n], (rank - 1) % n)
        sending.wait()
    return b[rank]
# %% wrong: starts with its own block and returns an unfinished one
import torch
import torch.distributed as dist
def ring_reduce_scatter_torch(rank, n, x):
    b = blocks(x, n)
    for k in range(n - 1):
        got = torch.empty_like(b[(rank - k - 1) % n])
        sending = dist.isend(b[(rank - k) % n], (rank + 1) % n)
        dist.recv(got, (rank - 1) % n)
        sending.wait()
        b[(rank - k - 1) % n] += got
    return b[rank]
# %% wrong: passes whole arrays
import torch
import torch.distributed as dist
def ring_reduce_scatter_torch(rank, n, x):
    total, last = x.clone(), x.clone()
    for k in range(n - 1):
        got = torch.empty_like(x)
        sending = dist.isend(last, (rank + 1) % n)
        dist.recv(got, (rank - 1) % n)
        sending.wait()
        total += got
        last = got
    return blocks(total, n)[rank]
# %% wrong: the library's collective
import torch
import torch.distributed as dist
def ring_reduce_scatter_torch(rank, n, x):
    dist.all_reduce(x)
    return blocks(x, n)[rank]
# %% wrong: straight to the owners, all at once
import torch
import torch.distributed as dist
def ring_reduce_scatter_torch(rank, n, x):
    b = blocks(x, n)
    others = [r for r in range(n) if r != rank]
    got = {r: torch.empty_like(b[rank]) for r in others}
    ops = [dist.P2POp(dist.isend, b[r], r) for r in others]
    ops += [dist.P2POp(dist.irecv, got[r], r) for r in others]
    if ops:
        for request in dist.batch_isend_irecv(ops):
            request.wait()
    return b[rank] + sum(got.values())
# %% wrong: one round too many
import torch
import torch.distributed as dist
def ring_reduce_scatter_torch(rank, n, x):
    b = blocks(x, n)
    for k in range(n):
        got = torch.empty_like(b[(rank - k - 2) % n])
        sending = dist.isend(b[(rank - k - 1) % n], (rank + 1) % n)
        dist.recv(got, (rank - 1) % n)
        sending.wait()
        if k < n - 1:
            b[(rank - k - 2) % n] += got
    return b[rank]
# %% wrong: mean instead of sum
import torch
import torch.distributed as dist
def ring_reduce_scatter_torch(rank, n, x):
    b = blocks(x, n)
    for k in range(n - 1):
        got = torch.empty_like(b[(rank - k - 2) % n])
        sending = dist.isend(b[(rank - k - 1) % n], (rank + 1) % n)
        dist.recv(got, (rank - 1) % n)
        sending.wait()
        b[(rank - k - 2) % n] += got
    return b[rank]/n
# %% wrong: forgets to return
import torch
import torch.distributed as dist
def ring_reduce_scatter_torch(rank, n, x):
    b = blocks(x, n)
    for k in range(n - 1):
        got = torch.empty_like(b[(rank - k - 2) % n])
        sending = dist.isend(b[(rank - k - 1) % n], (rank + 1) % n)
        dist.recv(got, (rank - 1) % n)
        sending.wait()
        b[(rank - k - 2) % n] += got
# %% wrong: returns the whole tensor
import torch
import torch.distributed as dist
def ring_reduce_scatter_torch(rank, n, x):
    b = blocks(x, n)
    for k in range(n - 1):
        got = torch.empty_like(b[(rank - k - 2) % n])
        sending = dist.isend(b[(rank - k - 1) % n], (rank + 1) % n)
        dist.recv(got, (rank - 1) % n)
        sending.wait()
        b[(rank - k - 2) % n] += got
    return x
# %% wrong: adds its own block where what came in belongs
import torch
import torch.distributed as dist
def ring_reduce_scatter_torch(rank, n, x):
    b = blocks(x, n)
    for k in range(n - 1):
        got = torch.empty_like(b[(rank - k - 2) % n])
        sending = dist.isend(b[(rank - k - 1) % n], (rank + 1) % n)
        dist.recv(got, (rank - 1) % n)
        sending.wait()
        b[(rank - k - 2) % n] += b[(rank - k - 2) % n]
    return b[rank]
