# %% right: isend, recv, wait
def ring_product(rank, n, A, B):
    rows = A.shape[0]//n
    def term(k):
        k %= n
        return A[k*rows:(k + 1)*rows] @ B
    block = term(rank - 1)
    for step in range(2, n + 1):
        got = torch.empty_like(block)
        work = dist.isend(block, (rank + 1) % n)
        dist.recv(got, (rank - 1) % n)
        work.wait()
        block = got + term(rank - step)
    return block
# %% right: multiplies between start and wait
def ring_product(rank, n, A, B):
    parts = A.chunk(n)
    passing = parts[(rank - 1) % n] @ B
    for step in range(1, n):
        arriving = torch.empty_like(passing)
        works = [dist.irecv(arriving, (rank - 1) % n), dist.isend(passing, (rank + 1) % n)]
        mine = parts[(rank - 1 - step) % n] @ B
        for work in works:
            work.wait()
        passing = arriving.add_(mine)
    return passing
# %% right: batched sends and receives
def ring_product(rank, n, A, B):
    after, before = (rank + 1) % n, (rank + n - 1) % n
    I, K = A.size(0)//n, B.size(1)
    send = A.view(n, I, -1)[before] @ B
    recv = A.new_zeros(I, K)
    for owner in [(rank - k) % n for k in range(2, n + 1)]:
        ops = [dist.P2POp(dist.isend, send, after), dist.P2POp(dist.irecv, recv, before)]
        for work in dist.batch_isend_irecv(ops):
            work.wait()
        torch.addmm(recv, A.view(n, I, -1)[owner], B, out=send)
    return send
# %% right: blocks counted from one's own, two buffers in turn
def ring_product(rank, n, A, B):
    I = len(A)//n
    buffers = [torch.zeros((I, B.shape[1]), dtype=A.dtype, device=A.device) for _ in range(2)]
    first = (rank - 1) % n
    torch.matmul(A.narrow(0, first*I, I), B, out=buffers[0])
    for t in range(n - 1):
        out, into = buffers[t % 2], buffers[(t + 1) % 2]
        receiving = dist.irecv(into, src=(rank - 1) % n)
        sending = dist.isend(out, dst=(rank + 1) % n)
        sending.wait()
        receiving.wait()
        k = (first - t - 1) % n
        into += torch.matmul(A.narrow(0, k*I, I), B)
    return buffers[(n - 1) % 2]
# %% right: the library's blocks of A, einsum
def ring_product(rank, n, A, B):
    from hwlib.algorithms import blocks
    rows = blocks(A, n)
    term = lambda owner: torch.einsum("ij,jk->ik", rows[owner % n], B)
    held = term(rank - 1)
    for hops in range(1, n):
        new = torch.empty_like(held)
        send = dist.isend(held.contiguous(), (rank + 1) % n)
        recv = dist.irecv(new, (rank - 1) % n)
        recv.wait(), send.wait()
        held = new
        held += term(rank - 1 - hops)
    return held
# %% wrong: the whole term first, then a ring
def ring_product(rank, n, A, B):
    C = (A @ B).chunk(n)
    block = C[(rank - 1) % n].clone()
    for step in range(2, n + 1):
        got = torch.empty_like(block)
        work = dist.isend(block, (rank + 1) % n)
        dist.recv(got, (rank - 1) % n)
        work.wait()
        block = got + C[(rank - step) % n]
    return block
# %% wrong: all terms block by block, kept in a list
def ring_product(rank, n, A, B):
    terms = [part @ B for part in A.chunk(n)]
    block = terms[(rank - 1) % n]
    for step in range(2, n + 1):
        got = torch.empty_like(block)
        work = dist.isend(block, (rank + 1) % n)
        dist.recv(got, (rank - 1) % n)
        work.wait()
        block = got + terms[(rank - step) % n]
    return block
# %% wrong: the product, then PyTorch's reduce-scatter
def ring_product(rank, n, A, B):
    C = A @ B
    out = C.new_empty(len(C)//n, C.shape[1])
    dist.reduce_scatter_tensor(out, C)
    return out
# %% wrong: each block summed by an all-reduce
def ring_product(rank, n, A, B):
    for k, part in enumerate(A.chunk(n)):
        C = part @ B
        dist.all_reduce(C)
        if k == rank:
            mine = C
    return mine
# %% wrong: terms straight to their owners, all at once
def ring_product(rank, n, A, B):
    parts = A.chunk(n)
    outs = {k: parts[k] @ B for k in range(n)}
    ins = {k: torch.empty_like(outs[rank]) for k in range(n) if k != rank}
    works = [dist.isend(outs[k], k) for k in ins] + [dist.irecv(ins[k], k) for k in ins]
    for work in works:
        work.wait()
    return outs[rank] + sum(ins.values())
# %% wrong: ends one block too early, with the block of the rank before
def ring_product(rank, n, A, B):
    parts = A.chunk(n)
    block = parts[rank] @ B
    for step in range(1, n):
        got = torch.empty_like(block)
        work = dist.isend(block, (rank + 1) % n)
        dist.recv(got, (rank - 1) % n)
        work.wait()
        block = got + parts[(rank - step) % n] @ B
    return block
# %% wrong: around the ring the other way
def ring_product(rank, n, A, B):
    parts = A.chunk(n)
    block = parts[(rank - 1) % n] @ B
    for step in range(2, n + 1):
        got = torch.empty_like(block)
        work = dist.isend(block, (rank - 1) % n)
        dist.recv(got, (rank + 1) % n)
        work.wait()
        block = got + parts[(rank - step) % n] @ B
    return block
# %% wrong: the term of the block that has just left
def ring_product(rank, n, A, B):
    parts = A.chunk(n)
    block = parts[(rank - 1) % n] @ B
    for step in range(1, n):
        got = torch.empty_like(block)
        work = dist.isend(block, (rank + 1) % n)
        dist.recv(got, (rank - 1) % n)
        work.wait()
        block = got + parts[(rank - step) % n] @ B
    return block
# %% wrong: one round more, and the block has moved on
def ring_product(rank, n, A, B):
    parts = A.chunk(n)
    block = parts[(rank - 1) % n] @ B
    for step in range(2, n + 2):
        got = torch.empty_like(block)
        work = dist.isend(block, (rank + 1) % n)
        dist.recv(got, (rank - 1) % n)
        work.wait()
        block = got + parts[(rank - step) % n] @ B
    return block
# %% wrong: the owner adds no term of its own
def ring_product(rank, n, A, B):
    parts = A.chunk(n)
    block = parts[(rank - 1) % n] @ B
    for step in range(2, n + 1):
        got = torch.empty_like(block)
        work = dist.isend(block, (rank + 1) % n)
        dist.recv(got, (rank - 1) % n)
        work.wait()
        block = got + parts[(rank - step) % n] @ B if step < n else got
    return block
# %% wrong: a missing wait for what is received
def ring_product(rank, n, A, B):
    parts = A.chunk(n)
    block = parts[(rank - 1) % n] @ B
    for step in range(2, n + 1):
        got = torch.zeros_like(block)
        send = dist.isend(block, (rank + 1) % n)
        recv = dist.irecv(got, (rank - 1) % n)
        send.wait()
        block = got + parts[(rank - step) % n] @ B
        recv.wait()
    return block
# %% wrong: passes on what came, without its term
def ring_product(rank, n, A, B):
    parts = A.chunk(n)
    out = parts[(rank - 1) % n] @ B
    for step in range(2, n + 1):
        got = torch.empty_like(out)
        work = dist.isend(out, (rank + 1) % n)
        dist.recv(got, (rank - 1) % n)
        work.wait()
        out = got
    return out + parts[rank] @ B
# %% wrong: even ranks send first, then the odd ones
def ring_product(rank, n, A, B):
    parts = A.chunk(n)
    block = parts[(rank - 1) % n] @ B
    for step in range(2, n + 1):
        got = torch.empty_like(block)
        if rank % 2 == 0:
            dist.send(block, (rank + 1) % n)
            dist.recv(got, (rank - 1) % n)
        else:
            dist.recv(got, (rank - 1) % n)
            dist.send(block, (rank + 1) % n)
        block = got + parts[(rank - step) % n] @ B
    return block
# %% wrong: rank 0 sends first and the others wait
def ring_product(rank, n, A, B):
    parts = A.chunk(n)
    block = parts[(rank - 1) % n] @ B
    for step in range(2, n + 1):
        got = torch.empty_like(block)
        if rank == 0:
            dist.send(block, 1)
            dist.recv(got, n - 1)
        else:
            dist.recv(got, rank - 1)
            dist.send(block, (rank + 1) % n)
        block = got + parts[(rank - step) % n] @ B
    return block
# %% wrong: the mean of the terms
def ring_product(rank, n, A, B):
    parts = A.chunk(n)
    block = parts[(rank - 1) % n] @ B
    for step in range(2, n + 1):
        got = torch.empty_like(block)
        work = dist.isend(block, (rank + 1) % n)
        dist.recv(got, (rank - 1) % n)
        work.wait()
        block = got + parts[(rank - step) % n] @ B
    return block/n
# %% wrong: blocks of columns instead of rows
def ring_product(rank, n, A, B):
    parts = B.chunk(n, dim=1)
    block = A @ parts[(rank - 1) % n]
    for step in range(2, n + 1):
        got = torch.empty_like(block)
        work = dist.isend(block, (rank + 1) % n)
        dist.recv(got, (rank - 1) % n)
        work.wait()
        block = got + A @ parts[(rank - step) % n]
    return block
# %% wrong: passes the inputs around, not the sums
def ring_product(rank, n, A, B):
    parts = A.chunk(n)
    left, right = A.contiguous(), B.contiguous()
    total = 0
    for step in range(n):
        rows = len(A)//n
        total = total + left[rank*rows:(rank + 1)*rows] @ right
        if step < n - 1:
            a, b = torch.empty_like(left), torch.empty_like(right)
            works = [dist.isend(left, (rank + 1) % n), dist.isend(right, (rank + 1) % n)]
            dist.recv(a, (rank - 1) % n), dist.recv(b, (rank - 1) % n)
            for work in works:
                work.wait()
            left, right = a, b
    return total
# %% wrong: all blocks of C travel together
def ring_product(rank, n, A, B):
    rows = len(A)//n
    C = A @ B
    passing = C.clone()
    for step in range(n - 1):
        got = torch.empty_like(passing)
        work = dist.isend(passing, (rank + 1) % n)
        dist.recv(got, (rank - 1) % n)
        work.wait()
        passing = got
        C += got
    return C[rank*rows:(rank + 1)*rows]
