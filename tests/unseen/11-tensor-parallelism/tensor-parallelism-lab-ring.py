# %% right: running maximum, keys and values as one message
def ring_attention(rank, n, q, k, v):
    p, root = len(q)//2, q.shape[1]**0.5
    def places(r):
        return torch.cat([torch.arange(r*p, (r + 1)*p), torch.arange((2*n - 1 - r)*p, (2*n - r)*p)])
    mine = places(rank)[:, None]
    top = q.new_full((len(q), 1), float("-inf"))
    total, out = torch.zeros_like(top), torch.zeros_like(q)
    kv = torch.stack([k, v])
    for step in range(n):
        s = q @ kv[0].T/root
        s = s.masked_fill(places((rank - step) % n)[None] > mine, float("-inf"))
        new = torch.maximum(top, s.max(1, keepdim=True).values)
        w, scale = torch.exp(s - new), torch.exp(top - new)
        total = total*scale + w.sum(1, keepdim=True)
        out = out*scale + w @ kv[1]
        top = new
        if step < n - 1:
            got = torch.empty_like(kv)
            works = [dist.isend(kv, (rank + 1) % n), dist.irecv(got, (rank - 1) % n)]
            for work in works:
                work.wait()
            kv = got
    return out/total
# %% right: merged by log-sum-exp, k and v apart in a batch, started before the arithmetic
def ring_attention(rank, n, q, k, v):
    T, d = q.shape
    piece = T//2
    index = torch.arange(T)
    def position(r):
        return torch.where(index < piece, r*piece + index, (2*n - 1 - r)*piece + index - piece)
    lse, out = None, None
    for step in range(n):
        reqs = []
        if step + 1 < n:
            k2, v2 = torch.empty_like(k), torch.empty_like(v)
            reqs = dist.batch_isend_irecv([
                dist.P2POp(dist.isend, k, (rank + 1) % n), dist.P2POp(dist.isend, v, (rank + 1) % n),
                dist.P2POp(dist.irecv, k2, (rank - 1) % n), dist.P2POp(dist.irecv, v2, (rank - 1) % n)])
        seen = position(rank)[:, None] >= position((rank - step) % n)[None, :]
        scores = torch.where(seen, (q @ k.t())/d**0.5, torch.full((), -1e30, dtype=q.dtype))
        part = torch.logsumexp(scores, 1, keepdim=True)
        mean = torch.softmax(scores, 1) @ v
        if lse is None:
            lse, out = part, mean
        else:
            both = torch.logaddexp(lse, part)
            out = out*(lse - both).exp() + mean*(part - both).exp()
            lse = both
        for req in reqs:
            req.wait()
        if step + 1 < n:
            k, v = k2, v2
    return out
# %% right: half blocks, only those that are not masked away
def ring_attention(rank, n, q, k, v):
    half, d = len(q)//2, q.shape[1]
    state = []                     # for each half of the queries: maximum, sum, output
    for _ in range(2):
        state.append([q.new_full((half,), -float("inf")), q.new_zeros(half), q.new_zeros(half, d)])
    number = lambda r: (r, 2*n - 1 - r)
    block = torch.cat([k, v], 1)
    for step in range(n):
        for i, mine in enumerate(number(rank)):
            for j, other in enumerate(number((rank - step) % n)):
                if other > mine:
                    continue
                keys, values = block[j*half:(j + 1)*half].split(d, 1)
                s = torch.einsum("td,sd->ts", q[i*half:(i + 1)*half], keys)/d**0.5
                if other == mine:
                    s = s + torch.full((half, half), -float("inf"), dtype=s.dtype).triu(1)
                m, l, o = state[i]
                new = torch.maximum(m, s.amax(1))
                w, fix = (s - new[:, None]).exp(), (m - new).exp()
                state[i] = [new, l*fix + w.sum(1), o*fix[:, None] + w @ values]
        if step < n - 1:
            fresh = torch.empty_like(block)
            going = dist.isend(block, dst=(rank + 1) % n)
            dist.recv(fresh, src=(rank - 1) % n)
            going.wait()
            block = fresh
    return torch.cat([o/l[:, None] for _, l, o in state])
# %% right: two buffers in turns, the output corrected at the end of each step
def ring_attention(rank, n, q, k, v):
    b = len(q)//2
    t = torch.arange(b)
    rows = torch.cat((t + rank*b, t + (2*n - 1 - rank)*b))
    buffers = [torch.cat((k, v)), q.new_empty(2*len(k), k.shape[1])]
    peak = torch.full((len(q),), float("-inf"), dtype=q.dtype)
    denominator = torch.zeros(len(q), dtype=q.dtype)
    numerator = torch.zeros_like(q)
    owner = rank
    for turn in range(n):
        here, there = buffers[turn % 2], buffers[1 - turn % 2]
        works = []
        if turn != n - 1:
            works.append(dist.irecv(there, src=(rank + n - 1) % n))
            works.append(dist.isend(here, dst=(rank + 1) % n))
        columns = torch.cat((t + owner*b, t + (2*n - 1 - owner)*b))
        scores = (q/q.shape[1]**0.5) @ here[:len(k)].T
        scores[rows[:, None] < columns[None, :]] = float("-inf")
        old, peak = peak, torch.max(peak, scores.amax(dim=1))
        e = torch.exp(scores - peak[:, None])
        correction = torch.exp(old - peak)
        denominator = denominator*correction + e.sum(dim=1)
        numerator = numerator*correction[:, None] + e @ here[len(k):]
        owner = (owner - 1) % n
        [w.wait() for w in works]
    return numerator/denominator[:, None]
# %% right: a row of queries at a time, in plain loops
def ring_attention(rank, n, q, k, v):
    p = len(q)//2
    where = lambda r, i: r*p + i if i < p else (2*n - 1 - r)*p + i - p
    tops, sums = [float("-inf")]*len(q), [0.0]*len(q)
    out = torch.zeros_like(q)
    src, dst = (rank - 1) % n, (rank + 1) % n
    for s in range(n):
        owner = (rank - s) % n
        for i in range(len(q)):
            seen = [j for j in range(len(k)) if where(owner, j) <= where(rank, i)]
            if not seen:
                continue
            scores = k[seen] @ q[i]/len(q[i])**0.5
            new = max(tops[i], scores.max().item())
            w = torch.exp(scores - new)
            old = torch.exp(scores.new_tensor(tops[i] - new))
            out[i] = out[i]*old + w @ v[seen]
            sums[i] = sums[i]*old + w.sum()
            tops[i] = new
        if s < n - 1:
            nk, nv = torch.empty_like(k), torch.empty_like(v)
            works = [dist.isend(k, dst), dist.isend(v, dst), dist.irecv(nk, src), dist.irecv(nv, src)]
            for w in works:
                w.wait()
            k, v = nk, nv
    for i in range(len(q)):
        out[i] /= sums[i]
    return out
# %% wrong: no causal mask
def ring_attention(rank, n, q, k, v):
    p, root = len(q)//2, q.shape[1]**0.5
    def places(r):
        return torch.cat([torch.arange(r*p, (r + 1)*p), torch.arange((2*n - 1 - r)*p, (2*n - r)*p)])
    mine = places(rank)[:, None]
    top = q.new_full((len(q), 1), float("-inf"))
    total, out = torch.zeros_like(top), torch.zeros_like(q)
    kv = torch.stack([k, v])
    for step in range(n):
        s = q @ kv[0].T/root
        new = torch.maximum(top, s.max(1, keepdim=True).values)
        w, scale = torch.exp(s - new), torch.exp(top - new)
        total = total*scale + w.sum(1, keepdim=True)
        out = out*scale + w @ kv[1]
        top = new
        if step < n - 1:
            got = torch.empty_like(kv)
            works = [dist.isend(kv, (rank + 1) % n), dist.irecv(got, (rank - 1) % n)]
            for work in works:
                work.wait()
            kv = got
    return out/total
# %% wrong: mask of a sequence in order
def ring_attention(rank, n, q, k, v):
    p, root = len(q)//2, q.shape[1]**0.5
    def places(r):
        return torch.arange(2*r*p, 2*(r + 1)*p)
    mine = places(rank)[:, None]
    top = q.new_full((len(q), 1), float("-inf"))
    total, out = torch.zeros_like(top), torch.zeros_like(q)
    kv = torch.stack([k, v])
    for step in range(n):
        s = q @ kv[0].T/root
        s = s.masked_fill(places((rank - step) % n)[None] > mine, float("-inf"))
        new = torch.maximum(top, s.max(1, keepdim=True).values)
        w, scale = torch.exp(s - new), torch.exp(top - new)
        total = total*scale + w.sum(1, keepdim=True)
        out = out*scale + w @ kv[1]
        top = new
        if step < n - 1:
            got = torch.empty_like(kv)
            works = [dist.isend(kv, (rank + 1) % n), dist.irecv(got, (rank - 1) % n)]
            for work in works:
                work.wait()
            kv = got
    return out/total
# %% wrong: mask of an own block in every step
def ring_attention(rank, n, q, k, v):
    p, root = len(q)//2, q.shape[1]**0.5
    def places(r):
        return torch.cat([torch.arange(r*p, (r + 1)*p), torch.arange((2*n - 1 - r)*p, (2*n - r)*p)])
    mine = places(rank)[:, None]
    top = q.new_full((len(q), 1), float("-inf"))
    total, out = torch.zeros_like(top), torch.zeros_like(q)
    kv = torch.stack([k, v])
    for step in range(n):
        s = q @ kv[0].T/root
        s = s.masked_fill(places(rank)[None] > mine, float("-inf"))
        new = torch.maximum(top, s.max(1, keepdim=True).values)
        w, scale = torch.exp(s - new), torch.exp(top - new)
        total = total*scale + w.sum(1, keepdim=True)
        out = out*scale + w @ kv[1]
        top = new
        if step < n - 1:
            got = torch.empty_like(kv)
            works = [dist.isend(kv, (rank + 1) % n), dist.irecv(got, (rank - 1) % n)]
            for work in works:
                work.wait()
            kv = got
    return out/total
# %% wrong: block taken for that of the rank to the right
def ring_attention(rank, n, q, k, v):
    p, root = len(q)//2, q.shape[1]**0.5
    def places(r):
        return torch.cat([torch.arange(r*p, (r + 1)*p), torch.arange((2*n - 1 - r)*p, (2*n - r)*p)])
    mine = places(rank)[:, None]
    top = q.new_full((len(q), 1), float("-inf"))
    total, out = torch.zeros_like(top), torch.zeros_like(q)
    kv = torch.stack([k, v])
    for step in range(n):
        s = q @ kv[0].T/root
        s = s.masked_fill(places((rank + step) % n)[None] > mine, float("-inf"))
        new = torch.maximum(top, s.max(1, keepdim=True).values)
        w, scale = torch.exp(s - new), torch.exp(top - new)
        total = total*scale + w.sum(1, keepdim=True)
        out = out*scale + w @ kv[1]
        top = new
        if step < n - 1:
            got = torch.empty_like(kv)
            works = [dist.isend(kv, (rank + 1) % n), dist.irecv(got, (rank - 1) % n)]
            for work in works:
                work.wait()
            kv = got
    return out/total
# %% wrong: pieces r and n + r
def ring_attention(rank, n, q, k, v):
    p, root = len(q)//2, q.shape[1]**0.5
    def places(r):
        return torch.cat([torch.arange(r*p, (r + 1)*p), torch.arange((n + r)*p, (n + r + 1)*p)])
    mine = places(rank)[:, None]
    top = q.new_full((len(q), 1), float("-inf"))
    total, out = torch.zeros_like(top), torch.zeros_like(q)
    kv = torch.stack([k, v])
    for step in range(n):
        s = q @ kv[0].T/root
        s = s.masked_fill(places((rank - step) % n)[None] > mine, float("-inf"))
        new = torch.maximum(top, s.max(1, keepdim=True).values)
        w, scale = torch.exp(s - new), torch.exp(top - new)
        total = total*scale + w.sum(1, keepdim=True)
        out = out*scale + w @ kv[1]
        top = new
        if step < n - 1:
            got = torch.empty_like(kv)
            works = [dist.isend(kv, (rank + 1) % n), dist.irecv(got, (rank - 1) % n)]
            for work in works:
                work.wait()
            kv = got
    return out/total
# %% wrong: a token does not see itself, but the first
def ring_attention(rank, n, q, k, v):
    p, root = len(q)//2, q.shape[1]**0.5
    def places(r):
        return torch.cat([torch.arange(r*p, (r + 1)*p), torch.arange((2*n - 1 - r)*p, (2*n - r)*p)])
    mine = places(rank)[:, None]
    top = q.new_full((len(q), 1), float("-inf"))
    total, out = torch.zeros_like(top), torch.zeros_like(q)
    kv = torch.stack([k, v])
    for step in range(n):
        s = q @ kv[0].T/root
        s = s.masked_fill(places((rank - step) % n)[None] >= mine.clamp(min=1), float("-inf"))
        new = torch.maximum(top, s.max(1, keepdim=True).values)
        w, scale = torch.exp(s - new), torch.exp(top - new)
        total = total*scale + w.sum(1, keepdim=True)
        out = out*scale + w @ kv[1]
        top = new
        if step < n - 1:
            got = torch.empty_like(kv)
            works = [dist.isend(kv, (rank + 1) % n), dist.irecv(got, (rank - 1) % n)]
            for work in works:
                work.wait()
            kv = got
    return out/total
# %% wrong: not divided by the root of the width
def ring_attention(rank, n, q, k, v):
    p, root = len(q)//2, q.shape[1]**0.5
    def places(r):
        return torch.cat([torch.arange(r*p, (r + 1)*p), torch.arange((2*n - 1 - r)*p, (2*n - r)*p)])
    mine = places(rank)[:, None]
    top = q.new_full((len(q), 1), float("-inf"))
    total, out = torch.zeros_like(top), torch.zeros_like(q)
    kv = torch.stack([k, v])
    for step in range(n):
        s = q @ kv[0].T
        s = s.masked_fill(places((rank - step) % n)[None] > mine, float("-inf"))
        new = torch.maximum(top, s.max(1, keepdim=True).values)
        w, scale = torch.exp(s - new), torch.exp(top - new)
        total = total*scale + w.sum(1, keepdim=True)
        out = out*scale + w @ kv[1]
        top = new
        if step < n - 1:
            got = torch.empty_like(kv)
            works = [dist.isend(kv, (rank + 1) % n), dist.irecv(got, (rank - 1) % n)]
            for work in works:
                work.wait()
            kv = got
    return out/total
# %% wrong: divided by the width
def ring_attention(rank, n, q, k, v):
    p, root = len(q)//2, q.shape[1]
    def places(r):
        return torch.cat([torch.arange(r*p, (r + 1)*p), torch.arange((2*n - 1 - r)*p, (2*n - r)*p)])
    mine = places(rank)[:, None]
    top = q.new_full((len(q), 1), float("-inf"))
    total, out = torch.zeros_like(top), torch.zeros_like(q)
    kv = torch.stack([k, v])
    for step in range(n):
        s = q @ kv[0].T/root
        s = s.masked_fill(places((rank - step) % n)[None] > mine, float("-inf"))
        new = torch.maximum(top, s.max(1, keepdim=True).values)
        w, scale = torch.exp(s - new), torch.exp(top - new)
        total = total*scale + w.sum(1, keepdim=True)
        out = out*scale + w @ kv[1]
        top = new
        if step < n - 1:
            got = torch.empty_like(kv)
            works = [dist.isend(kv, (rank + 1) % n), dist.irecv(got, (rank - 1) % n)]
            for work in works:
                work.wait()
            kv = got
    return out/total
# %% wrong: output not scaled when the maximum rises
def ring_attention(rank, n, q, k, v):
    p, root = len(q)//2, q.shape[1]**0.5
    def places(r):
        return torch.cat([torch.arange(r*p, (r + 1)*p), torch.arange((2*n - 1 - r)*p, (2*n - r)*p)])
    mine = places(rank)[:, None]
    top = q.new_full((len(q), 1), float("-inf"))
    total, out = torch.zeros_like(top), torch.zeros_like(q)
    kv = torch.stack([k, v])
    for step in range(n):
        s = q @ kv[0].T/root
        s = s.masked_fill(places((rank - step) % n)[None] > mine, float("-inf"))
        new = torch.maximum(top, s.max(1, keepdim=True).values)
        w, scale = torch.exp(s - new), torch.exp(top - new)
        total = total*scale + w.sum(1, keepdim=True)
        out = out + w @ kv[1]
        top = new
        if step < n - 1:
            got = torch.empty_like(kv)
            works = [dist.isend(kv, (rank + 1) % n), dist.irecv(got, (rank - 1) % n)]
            for work in works:
                work.wait()
            kv = got
    return out/total
# %% wrong: sum not scaled when the maximum rises
def ring_attention(rank, n, q, k, v):
    p, root = len(q)//2, q.shape[1]**0.5
    def places(r):
        return torch.cat([torch.arange(r*p, (r + 1)*p), torch.arange((2*n - 1 - r)*p, (2*n - r)*p)])
    mine = places(rank)[:, None]
    top = q.new_full((len(q), 1), float("-inf"))
    total, out = torch.zeros_like(top), torch.zeros_like(q)
    kv = torch.stack([k, v])
    for step in range(n):
        s = q @ kv[0].T/root
        s = s.masked_fill(places((rank - step) % n)[None] > mine, float("-inf"))
        new = torch.maximum(top, s.max(1, keepdim=True).values)
        w, scale = torch.exp(s - new), torch.exp(top - new)
        total = total + w.sum(1, keepdim=True)
        out = out*scale + w @ kv[1]
        top = new
        if step < n - 1:
            got = torch.empty_like(kv)
            works = [dist.isend(kv, (rank + 1) % n), dist.irecv(got, (rank - 1) % n)]
            for work in works:
                work.wait()
            kv = got
    return out/total
# %% wrong: last block left out
def ring_attention(rank, n, q, k, v):
    p, root = len(q)//2, q.shape[1]**0.5
    def places(r):
        return torch.cat([torch.arange(r*p, (r + 1)*p), torch.arange((2*n - 1 - r)*p, (2*n - r)*p)])
    mine = places(rank)[:, None]
    top = q.new_full((len(q), 1), float("-inf"))
    total, out = torch.zeros_like(top), torch.zeros_like(q)
    kv = torch.stack([k, v])
    for step in range(n - 1):
        s = q @ kv[0].T/root
        s = s.masked_fill(places((rank - step) % n)[None] > mine, float("-inf"))
        new = torch.maximum(top, s.max(1, keepdim=True).values)
        w, scale = torch.exp(s - new), torch.exp(top - new)
        total = total*scale + w.sum(1, keepdim=True)
        out = out*scale + w @ kv[1]
        top = new
        if step < n - 1:
            got = torch.empty_like(kv)
            works = [dist.isend(kv, (rank + 1) % n), dist.irecv(got, (rank - 1) % n)]
            for work in works:
                work.wait()
            kv = got
    return out/total
# %% wrong: keys and values go around whole, n steps
def ring_attention(rank, n, q, k, v):
    p, root = len(q)//2, q.shape[1]**0.5
    def places(r):
        return torch.cat([torch.arange(r*p, (r + 1)*p), torch.arange((2*n - 1 - r)*p, (2*n - r)*p)])
    mine = places(rank)[:, None]
    top = q.new_full((len(q), 1), float("-inf"))
    total, out = torch.zeros_like(top), torch.zeros_like(q)
    kv = torch.stack([k, v])
    for step in range(n):
        s = q @ kv[0].T/root
        s = s.masked_fill(places((rank - step) % n)[None] > mine, float("-inf"))
        new = torch.maximum(top, s.max(1, keepdim=True).values)
        w, scale = torch.exp(s - new), torch.exp(top - new)
        total = total*scale + w.sum(1, keepdim=True)
        out = out*scale + w @ kv[1]
        top = new
        if True:
            got = torch.empty_like(kv)
            works = [dist.isend(kv, (rank + 1) % n), dist.irecv(got, (rank - 1) % n)]
            for work in works:
                work.wait()
            kv = got
    return out/total
# %% wrong: sends to the left
def ring_attention(rank, n, q, k, v):
    p, root = len(q)//2, q.shape[1]**0.5
    def places(r):
        return torch.cat([torch.arange(r*p, (r + 1)*p), torch.arange((2*n - 1 - r)*p, (2*n - r)*p)])
    mine = places(rank)[:, None]
    top = q.new_full((len(q), 1), float("-inf"))
    total, out = torch.zeros_like(top), torch.zeros_like(q)
    kv = torch.stack([k, v])
    for step in range(n):
        s = q @ kv[0].T/root
        s = s.masked_fill(places((rank + step) % n)[None] > mine, float("-inf"))
        new = torch.maximum(top, s.max(1, keepdim=True).values)
        w, scale = torch.exp(s - new), torch.exp(top - new)
        total = total*scale + w.sum(1, keepdim=True)
        out = out*scale + w @ kv[1]
        top = new
        if step < n - 1:
            got = torch.empty_like(kv)
            works = [dist.isend(kv, (rank - 1) % n), dist.irecv(got, (rank + 1) % n)]
            for work in works:
                work.wait()
            kv = got
    return out/total
# %% wrong: always sends its own block
def ring_attention(rank, n, q, k, v):
    p, root = len(q)//2, q.shape[1]**0.5
    def places(r):
        return torch.cat([torch.arange(r*p, (r + 1)*p), torch.arange((2*n - 1 - r)*p, (2*n - r)*p)])
    mine = places(rank)[:, None]
    top = q.new_full((len(q), 1), float("-inf"))
    total, out = torch.zeros_like(top), torch.zeros_like(q)
    kv = torch.stack([k, v])
    for step in range(n):
        s = q @ kv[0].T/root
        s = s.masked_fill(places((rank - step) % n)[None] > mine, float("-inf"))
        new = torch.maximum(top, s.max(1, keepdim=True).values)
        w, scale = torch.exp(s - new), torch.exp(top - new)
        total = total*scale + w.sum(1, keepdim=True)
        out = out*scale + w @ kv[1]
        top = new
        if step < n - 1:
            got = torch.empty_like(kv)
            works = [dist.isend(torch.stack([k, v]), (rank + 1) % n), dist.irecv(got, (rank - 1) % n)]
            for work in works:
                work.wait()
            kv = got
    return out/total
# %% wrong: values stay at home
def ring_attention(rank, n, q, k, v):
    p, root = len(q)//2, q.shape[1]**0.5
    def places(r):
        return torch.cat([torch.arange(r*p, (r + 1)*p), torch.arange((2*n - 1 - r)*p, (2*n - r)*p)])
    mine = places(rank)[:, None]
    top = q.new_full((len(q), 1), float("-inf"))
    total, out = torch.zeros_like(top), torch.zeros_like(q)
    kv = torch.stack([k, v])
    for step in range(n):
        s = q @ kv[0].T/root
        s = s.masked_fill(places((rank - step) % n)[None] > mine, float("-inf"))
        new = torch.maximum(top, s.max(1, keepdim=True).values)
        w, scale = torch.exp(s - new), torch.exp(top - new)
        total = total*scale + w.sum(1, keepdim=True)
        out = out*scale + w @ v
        top = new
        if step < n - 1:
            got = torch.empty_like(kv)
            works = [dist.isend(kv, (rank + 1) % n), dist.irecv(got, (rank - 1) % n)]
            for work in works:
                work.wait()
            kv = got
    return out/total
# %% wrong: values stay at home and are not sent
def ring_attention(rank, n, q, k, v):
    p, root = len(q)//2, q.shape[1]**0.5
    def places(r):
        return torch.cat([torch.arange(r*p, (r + 1)*p), torch.arange((2*n - 1 - r)*p, (2*n - r)*p)])
    mine = places(rank)[:, None]
    top = q.new_full((len(q), 1), float("-inf"))
    total, out = torch.zeros_like(top), torch.zeros_like(q)
    kv = k[None].clone()
    for step in range(n):
        s = q @ kv[0].T/root
        s = s.masked_fill(places((rank - step) % n)[None] > mine, float("-inf"))
        new = torch.maximum(top, s.max(1, keepdim=True).values)
        w, scale = torch.exp(s - new), torch.exp(top - new)
        total = total*scale + w.sum(1, keepdim=True)
        out = out*scale + w @ v
        top = new
        if step < n - 1:
            got = torch.empty_like(kv)
            works = [dist.isend(kv, (rank + 1) % n), dist.irecv(got, (rank - 1) % n)]
            for work in works:
                work.wait()
            kv = got
    return out/total
# %% wrong: mean of the softmaxes of the blocks
def ring_attention(rank, n, q, k, v):
    p, root = len(q)//2, q.shape[1]**0.5
    def places(r):
        return torch.cat([torch.arange(r*p, (r + 1)*p), torch.arange((2*n - 1 - r)*p, (2*n - r)*p)])
    mine = places(rank)[:, None]
    top = q.new_full((len(q), 1), float("-inf"))
    total, out = torch.zeros_like(top), torch.zeros_like(q)
    kv = torch.stack([k, v])
    for step in range(n):
        s = q @ kv[0].T/root
        s = s.masked_fill(places((rank - step) % n)[None] > mine, float("-inf"))
        w = torch.nan_to_num(torch.softmax(s, 1))
        total = total + (w.sum(1, keepdim=True) > 0)
        out = out + w @ kv[1]
        if step < n - 1:
            got = torch.empty_like(kv)
            works = [dist.isend(kv, (rank + 1) % n), dist.irecv(got, (rank - 1) % n)]
            for work in works:
                work.wait()
            kv = got
    return out/total
# %% wrong: masked scores are zero and not minus infinity
def ring_attention(rank, n, q, k, v):
    p, root = len(q)//2, q.shape[1]**0.5
    def places(r):
        return torch.cat([torch.arange(r*p, (r + 1)*p), torch.arange((2*n - 1 - r)*p, (2*n - r)*p)])
    mine = places(rank)[:, None]
    top = q.new_full((len(q), 1), float("-inf"))
    total, out = torch.zeros_like(top), torch.zeros_like(q)
    kv = torch.stack([k, v])
    for step in range(n):
        s = q @ kv[0].T/root
        s = s.masked_fill(places((rank - step) % n)[None] > mine, 0.0)
        new = torch.maximum(top, s.max(1, keepdim=True).values)
        w, scale = torch.exp(s - new), torch.exp(top - new)
        total = total*scale + w.sum(1, keepdim=True)
        out = out*scale + w @ kv[1]
        top = new
        if step < n - 1:
            got = torch.empty_like(kv)
            works = [dist.isend(kv, (rank + 1) % n), dist.irecv(got, (rank - 1) % n)]
            for work in works:
                work.wait()
            kv = got
    return out/total
# %% wrong: not divided by the sum
def ring_attention(rank, n, q, k, v):
    p, root = len(q)//2, q.shape[1]**0.5
    def places(r):
        return torch.cat([torch.arange(r*p, (r + 1)*p), torch.arange((2*n - 1 - r)*p, (2*n - r)*p)])
    mine = places(rank)[:, None]
    top = q.new_full((len(q), 1), float("-inf"))
    total, out = torch.zeros_like(top), torch.zeros_like(q)
    kv = torch.stack([k, v])
    for step in range(n):
        s = q @ kv[0].T/root
        s = s.masked_fill(places((rank - step) % n)[None] > mine, float("-inf"))
        new = torch.maximum(top, s.max(1, keepdim=True).values)
        w, scale = torch.exp(s - new), torch.exp(top - new)
        total = total*scale + w.sum(1, keepdim=True)
        out = out*scale + w @ kv[1]
        top = new
        if step < n - 1:
            got = torch.empty_like(kv)
            works = [dist.isend(kv, (rank + 1) % n), dist.irecv(got, (rank - 1) % n)]
            for work in works:
                work.wait()
            kv = got
    return out
# %% wrong: one rank sends after the other
def ring_attention(rank, n, q, k, v):
    p, root = len(q)//2, q.shape[1]**0.5
    def places(r):
        return torch.cat([torch.arange(r*p, (r + 1)*p), torch.arange((2*n - 1 - r)*p, (2*n - r)*p)])
    mine = places(rank)[:, None]
    top = q.new_full((len(q), 1), float("-inf"))
    total, out = torch.zeros_like(top), torch.zeros_like(q)
    kv = torch.stack([k, v])
    for step in range(n):
        s = q @ kv[0].T/root
        s = s.masked_fill(places((rank - step) % n)[None] > mine, float("-inf"))
        new = torch.maximum(top, s.max(1, keepdim=True).values)
        w, scale = torch.exp(s - new), torch.exp(top - new)
        total = total*scale + w.sum(1, keepdim=True)
        out = out*scale + w @ kv[1]
        top = new
        if step < n - 1:
            got = torch.empty_like(kv)
            if rank == 0:
                dist.send(kv, (rank + 1) % n)
                dist.recv(got, (rank - 1) % n)
            else:
                dist.recv(got, (rank - 1) % n)
                dist.send(kv, (rank + 1) % n)
            kv = got
    return out/total
# %% wrong: what comes in is used before it is there
def ring_attention(rank, n, q, k, v):
    p, root = len(q)//2, q.shape[1]**0.5
    def places(r):
        return torch.cat([torch.arange(r*p, (r + 1)*p), torch.arange((2*n - 1 - r)*p, (2*n - r)*p)])
    mine = places(rank)[:, None]
    top = q.new_full((len(q), 1), float("-inf"))
    total, out = torch.zeros_like(top), torch.zeros_like(q)
    kv = torch.stack([k, v])
    for step in range(n):
        s = q @ kv[0].T/root
        s = s.masked_fill(places((rank - step) % n)[None] > mine, float("-inf"))
        new = torch.maximum(top, s.max(1, keepdim=True).values)
        w, scale = torch.exp(s - new), torch.exp(top - new)
        total = total*scale + w.sum(1, keepdim=True)
        out = out*scale + w @ kv[1]
        top = new
        if step < n - 1:
            got = torch.empty_like(kv)
            works = [dist.isend(kv, (rank + 1) % n), dist.irecv(got, (rank - 1) % n)]
            works[0].wait()
            kv = got
    return out/total
# %% wrong: collects all keys and values, then attends
def ring_attention(rank, n, q, k, v):
    p = len(q)//2
    places = lambda r: torch.cat([torch.arange(r*p, (r + 1)*p), torch.arange((2*n - 1 - r)*p, (2*n - r)*p)])
    blocks = [torch.stack([k, v])]
    for step in range(n - 1):
        got = torch.empty_like(blocks[-1])
        works = [dist.isend(blocks[-1], (rank + 1) % n), dist.irecv(got, (rank - 1) % n)]
        for work in works:
            work.wait()
        blocks.append(got)
    keys, values = torch.cat(blocks, 1)
    at = torch.cat([places((rank - step) % n) for step in range(n)])
    s = (q @ keys.T/q.shape[1]**0.5).masked_fill(at[None] > places(rank)[:, None], float("-inf"))
    return torch.softmax(s, 1) @ values
# %% wrong: keeps all scores and values until the end
def ring_attention(rank, n, q, k, v):
    p = len(q)//2
    places = lambda r: torch.cat([torch.arange(r*p, (r + 1)*p), torch.arange((2*n - 1 - r)*p, (2*n - r)*p)])
    scores, values = [], []
    for step in range(n):
        s = q @ k.T/q.shape[1]**0.5
        scores.append(s.masked_fill(places((rank - step) % n)[None] > places(rank)[:, None], float("-inf")))
        values.append(v)
        if step < n - 1:
            nk, nv = torch.empty_like(k), torch.empty_like(v)
            for work in [dist.isend(k, (rank + 1) % n), dist.isend(v, (rank + 1) % n),
                         dist.irecv(nk, (rank - 1) % n), dist.irecv(nv, (rank - 1) % n)]:
                work.wait()
            k, v = nk, nv
    return torch.softmax(torch.cat(scores, 1), 1) @ torch.cat(values)
# %% wrong: only its own block
def ring_attention(rank, n, q, k, v):
    s = q @ k.T/q.shape[1]**0.5
    s = s + torch.full_like(s, float("-inf")).triu(1)
    return torch.softmax(s, 1) @ v
