# %% right: messages between two, those to receive first
def heads_of(rank, n, p, heads):
    if rank < p:
        return rank*heads//p, (rank + 1)*heads//p
    j, d = rank - p, n - p
    return j*heads//d, -(-(j + 1)*heads//d)
def transfer(rank, n, x, p, heads):
    first, last = heads_of(rank, n, p, heads)
    parts, open_ones = [], []
    for other in range(p) if rank >= p else range(p, n):
        a, b = heads_of(other, n, p, heads)
        low, high = max(a, first), min(b, last)
        if low >= high:
            continue
        if rank < p:
            open_ones.append(dist.isend(x[..., low - first:high - first, :].contiguous(), other))
        else:
            parts.append(x.new_empty(*x.shape[:3], high - low, x.shape[4]))
            open_ones.append(dist.irecv(parts[-1], other))
    for one in open_ones:
        one.wait()
    return torch.cat(parts, dim=3) if parts else x
# %% right: one all-to-all of lists, most of them empty
import math
def transfer(rank, n, x, p, heads):
    d = n - p
    need = [range(j*heads//d, math.ceil((j + 1)*heads/d)) for j in range(d)]
    have = [range(r*heads//p, (r + 1)*heads//p) for r in range(p)]
    both = lambda r, j: [h for h in have[r] if h in need[j]]
    empty = lambda count: x.new_empty(x.shape[0], x.shape[1], x.shape[2], count, x.shape[4])
    send, recv = [empty(0) for _ in range(n)], [empty(0) for _ in range(n)]
    for other in range(n):
        if rank < p <= other:
            index = torch.tensor([h - have[rank][0] for h in both(rank, other - p)], dtype=torch.int64)
            send[other] = x.index_select(3, index)
        elif other < p <= rank:
            recv[other] = empty(len(both(other, rank - p)))
    dist.all_to_all(recv, send)
    return torch.cat(recv, 3)
# %% right: heads in front, one all_to_all_single with uneven rows
def transfer(rank, n, x, p, heads):
    d, own = n - p, heads//p
    low = torch.tensor([j*heads//d for j in range(d)])
    high = torch.tensor([((j + 1)*heads + d - 1)//d for j in range(d)])
    start = torch.arange(p)*own
    count = (torch.minimum(high, start[:, None] + own) - torch.maximum(low, start[:, None])).clamp(min=0)
    rows = x.movedim(3, 0)
    shape = rows.shape[1:]
    if rank < p:
        spans = [rows[max(int(a) - rank*own, 0):max(int(a) - rank*own, 0) + int(c)]
                 for a, c in zip(low, count[rank])]
        out = torch.cat(spans).contiguous()
        into, of = [0]*n, [0]*p + count[rank].tolist()
    else:
        out = rows.contiguous()
        into, of = count[:, rank - p].tolist() + [0]*d, [0]*n
    got = x.new_empty(sum(into), *shape)
    dist.all_to_all_single(got, out, into, of)
    return got.movedim(0, 3).contiguous()
# %% right: a batch of operations, in a group of its own
def transfer(rank, n, x, p, heads):
    group = dist.new_group(list(range(n)))
    d, own = n - p, heads//p
    ops, pieces = [], {}
    for r in range(p):
        for j in range(d):
            shared = sorted(set(range(r*own, r*own + own)) & set(range(j*heads//d, -(-(j + 1)*heads//d))))
            if not shared or rank not in (r, p + j):
                continue
            if rank == r:
                t = torch.stack([x[:, :, :, h - r*own] for h in shared], dim=3)
                ops.append(dist.P2POp(dist.isend, t, p + j, group))
            else:
                pieces[r] = torch.zeros(x.shape[:3] + (len(shared), x.shape[4]), dtype=x.dtype)
                ops.append(dist.P2POp(dist.irecv, pieces[r], r, group))
    for work in dist.batch_isend_irecv(ops) if ops else []:
        work.wait()
    if rank >= p:
        return torch.cat([pieces[r] for r in sorted(pieces)], 3)
# %% right: into the places of the result, heads first while they travel
def transfer(rank, n, x, p, heads):
    d, own = n - p, heads//p
    span = lambda j: (j*heads//d, -(-(j + 1)*heads//d))
    if rank < p:
        mine, waiting = x.permute(3, 0, 1, 2, 4).contiguous(), []
        for j in range(d):
            a, b = (min(max(h - rank*own, 0), own) for h in span(j))
            if a < b:
                waiting.append(dist.isend(mine[a:b], p + j))
        return [w.wait() for w in waiting] and None
    a, b = span(rank - p)
    result, waiting, at = x.new_empty(b - a, *x.shape[:3], x.shape[4]), [], a
    while at < b:
        source = at//own
        end = min(b, (source + 1)*own)
        waiting.append(dist.irecv(result[at - a:end - a], source))
        at = end
    for w in waiting:
        w.wait()
    return result.permute(1, 2, 3, 0, 4)
# %% right: blocking sends, in the order of the ranks
def transfer(rank, n, x, p, heads):
    d, own = n - p, heads//p
    parts = []
    for r in range(p):
        for j in range(d):
            low, high = max(r*own, j*heads//d), min(r*own + own, -(-(j + 1)*heads//d))
            if low < high and rank == r:
                dist.send(x[:, :, :, low - r*own:high - r*own].contiguous(), p + j)
            elif low < high and rank == p + j:
                parts.append(torch.empty(*x.shape[:3], high - low, x.shape[-1], dtype=x.dtype))
                dist.recv(parts[-1], r)
    return torch.cat(parts, 3) if parts else x
# %% right: layer by layer, as they are read
def transfer(rank, n, x, p, heads):
    d, own = n - p, heads//p
    a, b = (rank - p)*heads//d, -(-(rank - p + 1)*heads//d)
    result = x.new_empty(*x.shape[:3], max(b - a, 0) if rank >= p else 0, x.shape[4])
    for layer in range(len(x)):
        for r in range(p):
            for j in range(d):
                low, high = max(r*own, j*heads//d), min(r*own + own, -(-(j + 1)*heads//d))
                if low < high and rank == r:
                    dist.send(x[layer, :, :, low - r*own:high - r*own].contiguous(), p + j)
                elif low < high and rank == p + j:
                    part = x.new_empty(*x.shape[1:3], high - low, x.shape[4])
                    dist.recv(part, r)
                    result[layer, :, :, low - a:high - a] = part
    return result
# %% right: head by head, joined as they come
def transfer(rank, n, x, p, heads):
    d, own, parts = n - p, heads//p, []
    for h in range(heads):
        for j in range(d):
            if j*heads//d <= h < -(-(j + 1)*heads//d):
                if rank == h//own:
                    dist.send(x[:, :, :, h % own].contiguous(), p + j)
                elif rank == p + j:
                    parts.append(x.new_empty(*x.shape[:3], x.shape[4]))
                    dist.recv(parts[-1], h//own)
    return torch.stack(parts, 3) if parts else x
# %% wrong: each decode rank gets all heads
def transfer(rank, n, x, p, heads):
    d, own = n - p, heads//p
    if rank < p:
        for w in [dist.isend(x.contiguous(), j) for j in range(p, n)]:
            w.wait()
        return x
    parts = [x.new_empty(*x.shape[:3], own, x.shape[4]) for _ in range(p)]
    for w in [dist.irecv(parts[r], r) for r in range(p)]:
        w.wait()
    j = rank - p
    return torch.cat(parts, 3)[:, :, :, j*heads//d:-(-(j + 1)*heads//d)]
# %% wrong: the whole block of a rank goes to each who needs one of its heads
def transfer(rank, n, x, p, heads):
    d, own = n - p, heads//p
    parts, works, start = [], [], None
    for r in range(p):
        for j in range(d):
            a, b = j*heads//d, -(-(j + 1)*heads//d)
            if max(a, r*own) >= min(b, r*own + own):
                continue
            if rank == r:
                works.append(dist.isend(x.contiguous(), p + j))
            elif rank == p + j:
                start = r*own if start is None else start
                parts.append(x.new_empty(*x.shape[:3], own, x.shape[4]))
                works.append(dist.irecv(parts[-1], r))
    for w in works:
        w.wait()
    if rank >= p:
        j = rank - p
        return torch.cat(parts, 3)[:, :, :, j*heads//d - start:-(-(j + 1)*heads//d) - start]
# %% wrong: rounded down at both ends, a shared head goes to one only
def transfer(rank, n, x, p, heads):
    d, own = n - p, heads//p
    parts, works = [], []
    for r in range(p):
        for j in range(d):
            low, high = max(r*own, j*heads//d), min(r*own + own, (j + 1)*heads//d)
            if low < high and rank == r:
                works.append(dist.isend(x[:, :, :, low - r*own:high - r*own].contiguous(), p + j))
            elif low < high and rank == p + j:
                parts.append(x.new_empty(*x.shape[:3], high - low, x.shape[4]))
                works.append(dist.irecv(parts[-1], r))
    for w in works:
        w.wait()
    return torch.cat(parts, 3) if parts else x
# %% wrong: rounded up at both ends
def transfer(rank, n, x, p, heads):
    d, own = n - p, heads//p
    parts, works = [], []
    for r in range(p):
        for j in range(d):
            low, high = max(r*own, -(-j*heads//d)), min(r*own + own, -(-(j + 1)*heads//d))
            if low < high and rank == r:
                works.append(dist.isend(x[:, :, :, low - r*own:high - r*own].contiguous(), p + j))
            elif low < high and rank == p + j:
                parts.append(x.new_empty(*x.shape[:3], high - low, x.shape[4]))
                works.append(dist.irecv(parts[-1], r))
    for w in works:
        w.wait()
    return torch.cat(parts, 3) if parts else x
# %% wrong: from the last prefill rank to the first
def transfer(rank, n, x, p, heads):
    d, own = n - p, heads//p
    parts, works = [], []
    for r in reversed(range(p)):
        for j in range(d):
            low, high = max(r*own, j*heads//d), min(r*own + own, -(-(j + 1)*heads//d))
            if low < high and rank == r:
                works.append(dist.isend(x[:, :, :, low - r*own:high - r*own].contiguous(), p + j))
            elif low < high and rank == p + j:
                parts.append(x.new_empty(*x.shape[:3], high - low, x.shape[4]))
                works.append(dist.irecv(parts[-1], r))
    for w in works:
        w.wait()
    return torch.cat(parts, 3) if parts else x
# %% wrong: the number of a head as its place in the rank's own
def transfer(rank, n, x, p, heads):
    d, own = n - p, heads//p
    parts, works = [], []
    for r in range(p):
        for j in range(d):
            low, high = max(r*own, j*heads//d), min(r*own + own, -(-(j + 1)*heads//d))
            if low < high and rank == r:
                works.append(dist.isend(x[:, :, :, low:high].contiguous(), p + j))
            elif low < high and rank == p + j:
                parts.append(x.new_empty(*x.shape[:3], high - low, x.shape[4]))
                works.append(dist.irecv(parts[-1], r))
    for w in works:
        w.wait()
    return torch.cat(parts, 3) if parts else x
# %% wrong: heads travel first and are read as if they were fourth
def transfer(rank, n, x, p, heads):
    d, own = n - p, heads//p
    if rank < p:
        mine, waiting = x.permute(3, 0, 1, 2, 4).contiguous(), []
        for j in range(d):
            a, b = (min(max(h - rank*own, 0), own) for h in (j*heads//d, -(-(j + 1)*heads//d)))
            if a < b:
                waiting.append(dist.isend(mine[a:b], p + j))
        for w in waiting:
            w.wait()
        return None
    a, b = (rank - p)*heads//d, -(-(rank - p + 1)*heads//d)
    result, at = x.new_empty(b - a, *x.shape[:3], x.shape[4]), a
    while at < b:
        end = min(b, (at//own + 1)*own)
        dist.recv(result[at - a:end - a], at//own)
        at = end
    return result.reshape(*x.shape[:3], b - a, x.shape[4])
# %% wrong: through prefill rank 0, which gathers and deals out
def transfer(rank, n, x, p, heads):
    d, own = n - p, heads//p
    span = lambda j: (j*heads//d, -(-(j + 1)*heads//d))
    if 0 < rank < p:
        dist.send(x.contiguous(), 0)
    elif rank == 0:
        parts = [x] + [torch.empty_like(x) for _ in range(p - 1)]
        for r in range(1, p):
            dist.recv(parts[r], r)
        everything = torch.cat(parts, 3)
        for j in range(d):
            a, b = span(j)
            dist.send(everything[:, :, :, a:b].contiguous(), p + j)
    else:
        a, b = span(rank - p)
        got = x.new_empty(*x.shape[:3], b - a, x.shape[4])
        dist.recv(got, 0)
        return got
# %% wrong: the degrees divide each other, d//p ranks to each
def transfer(rank, n, x, p, heads):
    d, own = n - p, heads//p
    each = max(1, d//p)
    if rank < p:
        for i in range(each):
            if p + rank*each + i < n:
                dist.send(x[:, :, :, i*own//each:-(-(i + 1)*own//each)].contiguous(), p + rank*each + i)
        return x
    j = rank - p
    i, source = j % each, min(j//each, p - 1)
    part = x.new_empty(*x.shape[:3], -(-(i + 1)*own//each) - i*own//each, x.shape[4])
    dist.recv(part, source)
    return part
# %% wrong: only the keys
def transfer(rank, n, x, p, heads):
    d, own = n - p, heads//p
    parts, works = [], []
    for r in range(p):
        for j in range(d):
            low, high = max(r*own, j*heads//d), min(r*own + own, -(-(j + 1)*heads//d))
            if low < high and rank == r:
                works.append(dist.isend(x[:, :1, :, low - r*own:high - r*own].contiguous(), p + j))
            elif low < high and rank == p + j:
                parts.append(x.new_empty(x.shape[0], 1, x.shape[2], high - low, x.shape[4]))
                works.append(dist.irecv(parts[-1], r))
    for w in works:
        w.wait()
    return torch.cat(parts, 3) if parts else x
# %% wrong: an all-gather, then everybody cuts
def transfer(rank, n, x, p, heads):
    d, own = n - p, heads//p
    mine = x if rank < p else x.new_zeros(*x.shape[:3], own, x.shape[4])
    parts = [torch.empty_like(mine) for _ in range(n)]
    dist.all_gather(parts, mine.contiguous())
    j = rank - p
    return torch.cat(parts[:p], 3)[:, :, :, max(0, j*heads//d):-(-(j + 1)*heads//d)]
