# %% right: einsum and all_to_all_single
def ulysses(rank, n, q, k, v):
    t, h, d = q.shape
    def to_heads(a):
        out = a.reshape(t, n, h//n, d).transpose(0, 1).contiguous()
        got = torch.empty_like(out)
        dist.all_to_all_single(got, out)
        return got.reshape(n*t, h//n, d)
    def to_tokens(a):
        got = torch.empty(n, t, h//n, d, dtype=a.dtype)
        dist.all_to_all_single(got, a.reshape(n, t, h//n, d).contiguous())
        return got.transpose(0, 1).reshape(t, h, d)
    q, k, v = to_heads(q), to_heads(k), to_heads(v)
    s = torch.einsum("thd,shd->hts", q, k)/d**0.5
    s = s.masked_fill(torch.ones(n*t, n*t, dtype=torch.bool).triu(1), float("-inf"))
    return to_tokens(torch.einsum("hts,shd->thd", s.softmax(-1), v))
# %% right: lists of contiguous parts, a head at a time
def ulysses(rank, n, q, k, v):
    tokens, heads, width = q.shape
    per = heads//n
    def exchange(parts):
        parts = [part.contiguous() for part in parts]
        got = [torch.empty_like(part) for part in parts]
        dist.all_to_all(got, parts)
        return got
    Q, K, V = (torch.cat(exchange(a.split(per, dim=1)), dim=0) for a in (q, k, v))
    T = tokens*n
    late = torch.arange(T)[None, :] > torch.arange(T)[:, None]
    out = []
    for i in range(per):
        scores = Q[:, i] @ K[:, i].t()/width**0.5
        scores[late] = -float("inf")
        out.append(torch.softmax(scores, dim=1) @ V[:, i])
    mine = torch.stack(out, dim=1)
    return torch.cat(exchange(mine.split(tokens, dim=0)), dim=1)
# %% right: scaled_dot_product_attention, q, k and v in one exchange
import torch.nn.functional as F
def ulysses(rank, n, q, k, v):
    t, h, d = q.shape
    out = torch.stack((q, k, v)).view(3, t, n, h//n, d).permute(2, 0, 1, 3, 4).contiguous()
    got = torch.empty_like(out)
    dist.all_to_all_single(got, out)
    qs, ks, vs = got.permute(1, 3, 0, 2, 4).reshape(3, h//n, n*t, d)
    y = F.scaled_dot_product_attention(qs, ks, vs, is_causal=True)
    y = y.transpose(0, 1).contiguous()
    back = torch.empty_like(y)
    dist.all_to_all_single(back, y)
    return back.view(n, t, h//n, d).transpose(0, 1).reshape(t, h, d)
# %% right: three exchanges under way at once, a group of its own
def ulysses(rank, n, q, k, v):
    group = dist.new_group(range(n))
    T, heads, d = n*q.shape[0], q.shape[1]//n, q.shape[2]
    works, arrays = [], []
    for a in (q, k, v):
        send = torch.stack(a.chunk(n, 1))
        got = torch.empty_like(send)
        works.append((dist.all_to_all_single(got, send, group=group, async_op=True), send))
        arrays.append(got)
    for work, _ in works:
        work.wait()
    q, k, v = (a.flatten(0, 1).permute(1, 0, 2) for a in arrays)
    scores = torch.bmm(q*d**-0.5, k.mT)
    scores = torch.where(torch.tril(torch.ones(T, T)) > 0, scores, torch.tensor(-1e300 if scores.dtype == torch.float64 else -1e30, dtype=scores.dtype))
    weights = (scores - scores.amax(-1, keepdim=True)).exp()
    y = torch.bmm(weights, v)/weights.sum(-1, keepdim=True)
    send = y.permute(1, 0, 2).contiguous()
    got = torch.empty_like(send)
    dist.all_to_all_single(got, send, group=group)
    return torch.cat(list(got.view(n, T//n, heads, d)), dim=1)
# %% right: a token at a time over what it may see
def ulysses(rank, n, q, k, v):
    t, h, d = q.shape
    w = h//n
    swapped = []
    for a in (q, k, v):
        inbox = [a.new_zeros(t, w, d) for _ in range(n)]
        dist.all_to_all(inbox, [a[:, r*w:(r + 1)*w].clone() for r in range(n)])
        swapped.append(torch.cat(inbox))
    q, k, v = swapped
    y = torch.zeros_like(q)
    for i in range(n*t):
        s = (k[:i + 1]*q[i]).sum(-1)/d**0.5
        y[i] = (torch.softmax(s, 0)[..., None]*v[:i + 1]).sum(0)
    inbox = [y.new_zeros(t, w, d) for _ in range(n)]
    dist.all_to_all(inbox, [y[r*t:(r + 1)*t].clone() for r in range(n)])
    out = y.new_zeros(t, h, d)
    for r, part in enumerate(inbox):
        out[:, r*w:(r + 1)*w] = part
    return out
# %% wrong: no mask
def ulysses(rank, n, q, k, v):
    t, h, d = q.shape
    def to_heads(a):
        out = a.reshape(t, n, h//n, d).transpose(0, 1).contiguous()
        got = torch.empty_like(out)
        dist.all_to_all_single(got, out)
        return got.reshape(n*t, h//n, d)
    def to_tokens(a):
        got = torch.empty(n, t, h//n, d, dtype=a.dtype)
        dist.all_to_all_single(got, a.reshape(n, t, h//n, d).contiguous())
        return got.transpose(0, 1).reshape(t, h, d)
    q, k, v = to_heads(q), to_heads(k), to_heads(v)
    s = torch.einsum("thd,shd->hts", q, k)/d**0.5
    return to_tokens(torch.einsum("hts,shd->thd", s.softmax(-1), v))
# %% wrong: a token does not see itself, the first aside
def ulysses(rank, n, q, k, v):
    t, h, d = q.shape
    def to_heads(a):
        out = a.reshape(t, n, h//n, d).transpose(0, 1).contiguous()
        got = torch.empty_like(out)
        dist.all_to_all_single(got, out)
        return got.reshape(n*t, h//n, d)
    def to_tokens(a):
        got = torch.empty(n, t, h//n, d, dtype=a.dtype)
        dist.all_to_all_single(got, a.reshape(n, t, h//n, d).contiguous())
        return got.transpose(0, 1).reshape(t, h, d)
    q, k, v = to_heads(q), to_heads(k), to_heads(v)
    s = torch.einsum("thd,shd->hts", q, k)/d**0.5
    s = s.masked_fill(torch.arange(n*t)[None] >= torch.arange(n*t)[:, None].clamp(min=1), float("-inf"))
    return to_tokens(torch.einsum("hts,shd->thd", s.softmax(-1), v))
# %% wrong: sees those after it
def ulysses(rank, n, q, k, v):
    t, h, d = q.shape
    def to_heads(a):
        out = a.reshape(t, n, h//n, d).transpose(0, 1).contiguous()
        got = torch.empty_like(out)
        dist.all_to_all_single(got, out)
        return got.reshape(n*t, h//n, d)
    def to_tokens(a):
        got = torch.empty(n, t, h//n, d, dtype=a.dtype)
        dist.all_to_all_single(got, a.reshape(n, t, h//n, d).contiguous())
        return got.transpose(0, 1).reshape(t, h, d)
    q, k, v = to_heads(q), to_heads(k), to_heads(v)
    s = torch.einsum("thd,shd->hts", q, k)/d**0.5
    s = s.masked_fill(torch.ones(n*t, n*t, dtype=torch.bool).tril(-1), float("-inf"))
    return to_tokens(torch.einsum("hts,shd->thd", s.softmax(-1), v))
# %% wrong: mask of the own tokens only, repeated
def ulysses(rank, n, q, k, v):
    t, h, d = q.shape
    def to_heads(a):
        out = a.reshape(t, n, h//n, d).transpose(0, 1).contiguous()
        got = torch.empty_like(out)
        dist.all_to_all_single(got, out)
        return got.reshape(n*t, h//n, d)
    def to_tokens(a):
        got = torch.empty(n, t, h//n, d, dtype=a.dtype)
        dist.all_to_all_single(got, a.reshape(n, t, h//n, d).contiguous())
        return got.transpose(0, 1).reshape(t, h, d)
    q, k, v = to_heads(q), to_heads(k), to_heads(v)
    s = torch.einsum("thd,shd->hts", q, k)/d**0.5
    s = s.masked_fill(torch.ones(t, t, dtype=torch.bool).triu(1).repeat(n, n), float("-inf"))
    return to_tokens(torch.einsum("hts,shd->thd", s.softmax(-1), v))
# %% wrong: heads not brought to the front before they are sent
def ulysses(rank, n, q, k, v):
    t, h, d = q.shape
    def to_heads(a):
        out = a.reshape(n, t, h//n, d).contiguous()
        got = torch.empty_like(out)
        dist.all_to_all_single(got, out)
        return got.reshape(n*t, h//n, d)
    def to_tokens(a):
        got = torch.empty(n, t, h//n, d, dtype=a.dtype)
        dist.all_to_all_single(got, a.reshape(n, t, h//n, d).contiguous())
        return got.transpose(0, 1).reshape(t, h, d)
    q, k, v = to_heads(q), to_heads(k), to_heads(v)
    s = torch.einsum("thd,shd->hts", q, k)/d**0.5
    s = s.masked_fill(torch.ones(n*t, n*t, dtype=torch.bool).triu(1), float("-inf"))
    return to_tokens(torch.einsum("hts,shd->thd", s.softmax(-1), v))
# %% wrong: output put together without transposing
def ulysses(rank, n, q, k, v):
    t, h, d = q.shape
    def to_heads(a):
        out = a.reshape(t, n, h//n, d).transpose(0, 1).contiguous()
        got = torch.empty_like(out)
        dist.all_to_all_single(got, out)
        return got.reshape(n*t, h//n, d)
    def to_tokens(a):
        got = torch.empty(n, t, h//n, d, dtype=a.dtype)
        dist.all_to_all_single(got, a.reshape(n, t, h//n, d).contiguous())
        return got.reshape(t, h, d)
    q, k, v = to_heads(q), to_heads(k), to_heads(v)
    s = torch.einsum("thd,shd->hts", q, k)/d**0.5
    s = s.masked_fill(torch.ones(n*t, n*t, dtype=torch.bool).triu(1), float("-inf"))
    return to_tokens(torch.einsum("hts,shd->thd", s.softmax(-1), v))
# %% wrong: heads of the ranks interleaved in the output
def ulysses(rank, n, q, k, v):
    t, h, d = q.shape
    def to_heads(a):
        out = a.reshape(t, n, h//n, d).transpose(0, 1).contiguous()
        got = torch.empty_like(out)
        dist.all_to_all_single(got, out)
        return got.reshape(n*t, h//n, d)
    def to_tokens(a):
        got = torch.empty(n, t, h//n, d, dtype=a.dtype)
        dist.all_to_all_single(got, a.reshape(n, t, h//n, d).contiguous())
        return got.permute(1, 2, 0, 3).reshape(t, h, d)
    q, k, v = to_heads(q), to_heads(k), to_heads(v)
    s = torch.einsum("thd,shd->hts", q, k)/d**0.5
    s = s.masked_fill(torch.ones(n*t, n*t, dtype=torch.bool).triu(1), float("-inf"))
    return to_tokens(torch.einsum("hts,shd->thd", s.softmax(-1), v))
# %% wrong: output stays with its heads
def ulysses(rank, n, q, k, v):
    t, h, d = q.shape
    def to_heads(a):
        out = a.reshape(t, n, h//n, d).transpose(0, 1).contiguous()
        got = torch.empty_like(out)
        dist.all_to_all_single(got, out)
        return got.reshape(n*t, h//n, d)
    def to_tokens(a):
        got = torch.empty(n, t, h//n, d, dtype=a.dtype)
        dist.all_to_all_single(got, a.reshape(n, t, h//n, d).contiguous())
        return got.transpose(0, 1).reshape(t, h, d)
    q, k, v = to_heads(q), to_heads(k), to_heads(v)
    s = torch.einsum("thd,shd->hts", q, k)/d**0.5
    s = s.masked_fill(torch.ones(n*t, n*t, dtype=torch.bool).triu(1), float("-inf"))
    return torch.einsum("hts,shd->thd", s.softmax(-1), v)
# %% wrong: divided by the root of all heads' width
def ulysses(rank, n, q, k, v):
    t, h, d = q.shape
    def to_heads(a):
        out = a.reshape(t, n, h//n, d).transpose(0, 1).contiguous()
        got = torch.empty_like(out)
        dist.all_to_all_single(got, out)
        return got.reshape(n*t, h//n, d)
    def to_tokens(a):
        got = torch.empty(n, t, h//n, d, dtype=a.dtype)
        dist.all_to_all_single(got, a.reshape(n, t, h//n, d).contiguous())
        return got.transpose(0, 1).reshape(t, h, d)
    q, k, v = to_heads(q), to_heads(k), to_heads(v)
    s = torch.einsum("thd,shd->hts", q, k)/(h*d)**0.5
    s = s.masked_fill(torch.ones(n*t, n*t, dtype=torch.bool).triu(1), float("-inf"))
    return to_tokens(torch.einsum("hts,shd->thd", s.softmax(-1), v))
# %% wrong: not divided by the root of the width
def ulysses(rank, n, q, k, v):
    t, h, d = q.shape
    def to_heads(a):
        out = a.reshape(t, n, h//n, d).transpose(0, 1).contiguous()
        got = torch.empty_like(out)
        dist.all_to_all_single(got, out)
        return got.reshape(n*t, h//n, d)
    def to_tokens(a):
        got = torch.empty(n, t, h//n, d, dtype=a.dtype)
        dist.all_to_all_single(got, a.reshape(n, t, h//n, d).contiguous())
        return got.transpose(0, 1).reshape(t, h, d)
    q, k, v = to_heads(q), to_heads(k), to_heads(v)
    s = torch.einsum("thd,shd->hts", q, k)
    s = s.masked_fill(torch.ones(n*t, n*t, dtype=torch.bool).triu(1), float("-inf"))
    return to_tokens(torch.einsum("hts,shd->thd", s.softmax(-1), v))
# %% wrong: softmax over the queries
def ulysses(rank, n, q, k, v):
    t, h, d = q.shape
    def to_heads(a):
        out = a.reshape(t, n, h//n, d).transpose(0, 1).contiguous()
        got = torch.empty_like(out)
        dist.all_to_all_single(got, out)
        return got.reshape(n*t, h//n, d)
    def to_tokens(a):
        got = torch.empty(n, t, h//n, d, dtype=a.dtype)
        dist.all_to_all_single(got, a.reshape(n, t, h//n, d).contiguous())
        return got.transpose(0, 1).reshape(t, h, d)
    q, k, v = to_heads(q), to_heads(k), to_heads(v)
    s = torch.einsum("thd,shd->hts", q, k)/d**0.5
    s = s.masked_fill(torch.ones(n*t, n*t, dtype=torch.bool).triu(1), float("-inf"))
    return to_tokens(torch.einsum("hts,shd->thd", s.softmax(1), v))
# %% wrong: softmax over the heads
def ulysses(rank, n, q, k, v):
    t, h, d = q.shape
    def to_heads(a):
        out = a.reshape(t, n, h//n, d).transpose(0, 1).contiguous()
        got = torch.empty_like(out)
        dist.all_to_all_single(got, out)
        return got.reshape(n*t, h//n, d)
    def to_tokens(a):
        got = torch.empty(n, t, h//n, d, dtype=a.dtype)
        dist.all_to_all_single(got, a.reshape(n, t, h//n, d).contiguous())
        return got.transpose(0, 1).reshape(t, h, d)
    q, k, v = to_heads(q), to_heads(k), to_heads(v)
    s = torch.einsum("thd,shd->hts", q, k)/d**0.5
    s = s.masked_fill(torch.ones(n*t, n*t, dtype=torch.bool).triu(1), float("-inf"))
    return to_tokens(torch.einsum("hts,shd->thd", s.softmax(0), v))
# %% wrong: keys in the place of values
def ulysses(rank, n, q, k, v):
    t, h, d = q.shape
    def to_heads(a):
        out = a.reshape(t, n, h//n, d).transpose(0, 1).contiguous()
        got = torch.empty_like(out)
        dist.all_to_all_single(got, out)
        return got.reshape(n*t, h//n, d)
    def to_tokens(a):
        got = torch.empty(n, t, h//n, d, dtype=a.dtype)
        dist.all_to_all_single(got, a.reshape(n, t, h//n, d).contiguous())
        return got.transpose(0, 1).reshape(t, h, d)
    q, k, v = to_heads(q), to_heads(k), to_heads(k)
    s = torch.einsum("thd,shd->hts", q, k)/d**0.5
    s = s.masked_fill(torch.ones(n*t, n*t, dtype=torch.bool).triu(1), float("-inf"))
    return to_tokens(torch.einsum("hts,shd->thd", s.softmax(-1), v))
# %% wrong: output in the order of the other ranks, turned
def ulysses(rank, n, q, k, v):
    t, h, d = q.shape
    def to_heads(a):
        out = a.reshape(t, n, h//n, d).transpose(0, 1).contiguous()
        got = torch.empty_like(out)
        dist.all_to_all_single(got, out)
        return got.reshape(n*t, h//n, d)
    def to_tokens(a):
        got = torch.empty(n, t, h//n, d, dtype=a.dtype)
        dist.all_to_all_single(got, a.reshape(n, t, h//n, d).contiguous())
        return got.flip(0).transpose(0, 1).reshape(t, h, d)
    q, k, v = to_heads(q), to_heads(k), to_heads(v)
    s = torch.einsum("thd,shd->hts", q, k)/d**0.5
    s = s.masked_fill(torch.ones(n*t, n*t, dtype=torch.bool).triu(1), float("-inf"))
    return to_tokens(torch.einsum("hts,shd->thd", s.softmax(-1), v))
# %% wrong: the back exchange started and not waited for
def ulysses(rank, n, q, k, v):
    t, h, d = q.shape
    def to_heads(a):
        out = a.reshape(t, n, h//n, d).transpose(0, 1).contiguous()
        got = torch.empty_like(out)
        dist.all_to_all_single(got, out)
        return got.reshape(n*t, h//n, d)
    def to_tokens(a):
        got = torch.empty(n, t, h//n, d, dtype=a.dtype)
        dist.all_to_all_single(got, a.reshape(n, t, h//n, d).contiguous(), async_op=True)
        return got.transpose(0, 1).reshape(t, h, d)
    q, k, v = to_heads(q), to_heads(k), to_heads(v)
    s = torch.einsum("thd,shd->hts", q, k)/d**0.5
    s = s.masked_fill(torch.ones(n*t, n*t, dtype=torch.bool).triu(1), float("-inf"))
    return to_tokens(torch.einsum("hts,shd->thd", s.softmax(-1), v))
# %% wrong: every rank gets all keys and values, queries stay
def ulysses(rank, n, q, k, v):
    t, h, d = q.shape
    def everywhere(a):
        got = a.new_empty(n*t, h, d)
        dist.all_to_all_single(got, a.repeat(n, 1, 1))
        return got
    k, v = everywhere(k), everywhere(v)
    s = torch.einsum("thd,shd->hts", q, k)/d**0.5
    mine = torch.arange(rank*t, (rank + 1)*t)
    s = s.masked_fill(torch.arange(n*t)[None] > mine[:, None], float("-inf"))
    return torch.einsum("hts,shd->thd", s.softmax(-1), v)
# %% wrong: nothing exchanged, each attends to its own tokens
def ulysses(rank, n, q, k, v):
    t, h, d = q.shape
    s = torch.einsum("thd,shd->hts", q, k)/d**0.5
    s = s.masked_fill(torch.ones(t, t, dtype=torch.bool).triu(1), float("-inf"))
    return torch.einsum("hts,shd->thd", s.softmax(-1), v)
# %% wrong: output sent whole to every rank, which picks its tokens
def ulysses(rank, n, q, k, v):
    t, h, d = q.shape
    def to_heads(a):
        out = a.reshape(t, n, h//n, d).transpose(0, 1).contiguous()
        got = torch.empty_like(out)
        dist.all_to_all_single(got, out)
        return got.reshape(n*t, h//n, d)
    q, k, v = to_heads(q), to_heads(k), to_heads(v)
    s = torch.einsum("thd,shd->hts", q, k)/d**0.5
    s = s.masked_fill(torch.ones(n*t, n*t, dtype=torch.bool).triu(1), float("-inf"))
    y = torch.einsum("hts,shd->thd", s.softmax(-1), v).contiguous()
    got = [torch.empty_like(y) for _ in range(n)]
    dist.all_to_all(got, [y]*n)
    return torch.cat(got, 1)[rank*t:(rank + 1)*t]
