# %% right: lists of caches, one loop for both phases
def generate(rank, n, x, wq, wk, wv, wo, steps):
    layers, d, g, c = wk.shape
    ks = [x.new_empty(0, g, c) for _ in range(layers)]
    vs = [x.new_empty(0, g, c) for _ in range(layers)]
    outs, rows = [], x
    for _ in range(steps):
        for i in range(layers):
            y = rows/rows.pow(2).mean(1, keepdim=True).sqrt()
            q = torch.einsum("td,dhc->thc", y, wq[i]).unflatten(1, (g, -1))
            ks[i] = torch.cat([ks[i], torch.einsum("td,dgc->tgc", y, wk[i])])
            vs[i] = torch.cat([vs[i], torch.einsum("td,dgc->tgc", y, wv[i])])
            t, T = len(rows), len(ks[i])
            s = torch.einsum("tgrc,ugc->grtu", q, ks[i])/c**0.5
            s = s.masked_fill(torch.ones(t, T).triu(T - t + 1).bool(), float("-inf"))
            o = torch.einsum("grtu,ugc->tgrc", s.softmax(-1), vs[i]).flatten(1, 2)
            part = torch.einsum("thc,hcd->td", o, wo[i])
            dist.all_reduce(part)
            rows = rows + part
        rows = rows[-1:]
        outs.append(rows)
    return torch.cat(outs)
# %% right: caches of full length, filled in place, torch's own attention
import torch.nn.functional as F
def generate(rank, n, x, wq, wk, wv, wo, steps):
    layers, d, h, c = wq.shape
    g, T = wk.shape[2], len(x)
    keys = torch.zeros(layers, g, T + steps - 1, c, dtype=x.dtype)
    values = torch.zeros_like(keys)
    out = torch.zeros(steps, d, dtype=x.dtype)
    new, begin = x, 0
    for step in range(steps):
        end = begin + len(new)
        for layer in range(layers):
            y = new*new.square().mean(-1, keepdim=True).rsqrt()
            q = (y @ wq[layer].flatten(1)).view(-1, h, c).transpose(0, 1)
            keys[layer, :, begin:end] = (y @ wk[layer].flatten(1)).view(-1, g, c).transpose(0, 1)
            values[layer, :, begin:end] = (y @ wv[layer].flatten(1)).view(-1, g, c).transpose(0, 1)
            a = F.scaled_dot_product_attention(q[None], keys[None, layer, :, :end], values[None, layer, :, :end],
                                               is_causal=step == 0, enable_gqa=True)[0]
            add = a.transpose(0, 1).reshape(-1, h*c) @ wo[layer].flatten(0, 1)
            dist.all_reduce(add)
            new = new + add
        new = new[-1:]
        out[step] = new[0]
        begin = end
    return out
# %% right: prefill and decode apart, a key-value head at a time
def generate(rank, n, x, wq, wk, wv, wo, steps):
    layers, d, h, c = wq.shape
    g = wk.shape[2]
    cache = [[None]*g for _ in range(layers)]

    def layer(i, rows, first):
        y = rows/(rows*rows).mean(1, keepdim=True)**0.5
        total = torch.zeros_like(rows)
        for j in range(g):
            k, v = y @ wk[i, :, j], y @ wv[i, :, j]
            if not first:
                k, v = torch.cat((cache[i][j][0], k)), torch.cat((cache[i][j][1], v))
            cache[i][j] = k, v
            for head in range(j*h//g, (j + 1)*h//g):
                s = (y @ wq[i, :, head]) @ k.T*c**-0.5
                if first:
                    s += torch.full_like(s, -torch.inf).triu(1)
                total += torch.softmax(s, 1) @ v @ wo[i, head]
        dist.all_reduce(total)
        return total.add_(rows)

    rows = x
    for i in range(layers):
        rows = layer(i, rows, True)
    outputs = [rows[-1].clone()]
    while len(outputs) < steps:
        rows = outputs[-1][None]
        for i in range(layers):
            rows = layer(i, rows, False)
        outputs.append(rows[0])
    return torch.stack(outputs)
# %% right: the rows themselves ride along, asynchronous, in a group of its own
def generate(rank, n, x, wq, wk, wv, wo, steps):
    everyone = dist.new_group(list(range(n)))
    layers, d, g, c = wk.shape
    cache, result, rows = {}, [], x
    for step in range(steps):
        for i in range(layers):
            y = rows/rows.norm(dim=1, keepdim=True)*d**0.5
            q = torch.tensordot(y, wq[i], 1)*c**-0.5
            kv = torch.stack([torch.tensordot(y, wk[i], 1), torch.tensordot(y, wv[i], 1)])
            cache[i] = torch.cat([cache[i], kv], 1) if i in cache else kv
            k, v = cache[i]
            old = k.shape[0] - y.shape[0]
            s = torch.einsum("tgrc,ugc->tugr", q.reshape(len(y), g, -1, c), k)
            seen = torch.arange(k.shape[0])[None, :] <= old + torch.arange(len(y))[:, None]
            s = torch.where(seen[:, :, None, None], s, -torch.inf).softmax(1)
            o = torch.einsum("tugr,ugc->tgrc", s, v).reshape(len(y), -1)
            rows = o @ wo[i].reshape(-1, d) + (rows if rank == 0 else 0)
            dist.all_reduce(rows, group=everyone, async_op=True).wait()
        rows = rows[len(rows) - 1:]
        result += [rows[0]]
    return torch.stack(result)
# %% right: batched products for each key, softmax in place
def generate(rank, n, x, wq, wk, wv, wo, steps):
    layers, d, h, c = wq.shape
    g, r = wk.shape[2], wq.shape[2]//wk.shape[2]
    K, V = [None]*layers, [None]*layers
    rows, answers = x.clone(), []
    for step in range(steps):
        for i in range(layers):
            t = rows.size(0)
            y = rows/torch.sqrt(torch.mean(rows**2, 1))[:, None]
            w = [a[i].permute(1, 0, 2) for a in (wq, wk, wv)]
            q, k, v = (torch.matmul(y, a) for a in w)
            K[i] = k if K[i] is None else torch.cat([K[i], k], dim=1)
            V[i] = v if V[i] is None else torch.cat([V[i], v], dim=1)
            scores = torch.bmm(q.reshape(g, r*t, c), K[i].mT).div_(c**0.5).view(g, r, t, -1)
            if t > 1:
                scores.masked_fill_(~torch.ones(t, t, dtype=torch.bool).tril(), float("-inf"))
            scores = scores.sub_(scores.amax(-1, keepdim=True)).exp_()
            scores /= scores.sum(-1, keepdim=True)
            o = torch.bmm(scores.view(g, r*t, -1), V[i]).view(h, t, c)
            part = o.transpose(0, 1).reshape(t, h*c) @ wo[i].reshape(h*c, d)
            dist.all_reduce(part, op=dist.ReduceOp.SUM)
            rows = rows + part
        rows = rows[-1].unsqueeze(0)
        answers.append(rows)
    return torch.vstack(answers)
# %% right: last layer's attention and sum for the last row only
def generate(rank, n, x, wq, wk, wv, wo, steps):
    layers, d, g, c = wk.shape
    ks = [x.new_empty(0, g, c) for _ in range(layers)]
    vs = [x.new_empty(0, g, c) for _ in range(layers)]
    outs, rows = [], x
    for _ in range(steps):
        for i in range(layers):
            y = rows/rows.pow(2).mean(1, keepdim=True).sqrt()
            q = torch.einsum("td,dhc->thc", y, wq[i]).unflatten(1, (g, -1))
            ks[i] = torch.cat([ks[i], torch.einsum("td,dgc->tgc", y, wk[i])])
            vs[i] = torch.cat([vs[i], torch.einsum("td,dgc->tgc", y, wv[i])])
            if i == layers - 1:
                rows, q = rows[-1:], q[-1:]
            t, T = len(rows), len(ks[i])
            s = torch.einsum("tgrc,ugc->grtu", q, ks[i])/c**0.5
            s = s.masked_fill(torch.ones(t, T).triu(T - t + 1).bool(), float("-inf"))
            o = torch.einsum("grtu,ugc->tgrc", s.softmax(-1), vs[i]).flatten(1, 2)
            part = torch.einsum("thc,hcd->td", o, wo[i])
            dist.all_reduce(part)
            rows = rows + part
        rows = rows[-1:]
        outs.append(rows)
    return torch.cat(outs)
# %% right: a generator of tokens, keys with the tokens behind
def generate(rank, n, x, wq, wk, wv, wo, steps):
    layers, d, g, c = wk.shape
    keys, values = {}, {}

    def layer(i, rows):
        y = rows*torch.rsqrt(rows.pow(2).mean(1))[:, None]
        k = torch.einsum("td,dgc->gct", y, wk[i])
        v = torch.einsum("td,dgc->gtc", y, wv[i])
        keys[i] = torch.cat([keys[i], k], -1) if i in keys else k
        values[i] = torch.cat([values[i], v], 1) if i in values else v
        q = torch.einsum("td,dhc->htc", y, wq[i]).unflatten(0, (g, -1))
        s = torch.matmul(q, keys[i][:, None])/c**0.5
        T = s.shape[-1]
        late = torch.arange(T) > torch.arange(T - len(rows), T)[:, None]
        o = torch.matmul(torch.softmax(s.masked_fill_(late, -torch.inf), -1), values[i][:, None]).flatten(0, 1)
        part = torch.einsum("htc,hcd->td", o, wo[i])
        dist.all_reduce(part)
        return rows + part

    def tokens(rows):
        while True:
            for i in range(layers):
                rows = layer(i, rows)
            rows = rows[-1:]
            yield rows

    stream = tokens(x)
    return torch.cat([next(stream) for _ in range(steps)])
# %% wrong: no cache, the whole sequence once more in every step
def generate(rank, n, x, wq, wk, wv, wo, steps):
    layers, d, g, c = wk.shape
    ks = [x.new_empty(0, g, c) for _ in range(layers)]
    vs = [x.new_empty(0, g, c) for _ in range(layers)]
    outs, seq = [], x
    for _ in range(steps):
        rows = seq
        for i in range(layers):
            y = rows/rows.pow(2).mean(1, keepdim=True).sqrt()
            q = torch.einsum("td,dhc->thc", y, wq[i]).unflatten(1, (g, -1))
            ks[i] = torch.einsum("td,dgc->tgc", y, wk[i])
            vs[i] = torch.einsum("td,dgc->tgc", y, wv[i])
            t, T = len(rows), len(ks[i])
            s = torch.einsum("tgrc,ugc->grtu", q, ks[i])/c**0.5
            s = s.masked_fill(torch.ones(t, T).triu(T - t + 1).bool(), float("-inf"))
            o = torch.einsum("grtu,ugc->tgrc", s.softmax(-1), vs[i]).flatten(1, 2)
            part = torch.einsum("thc,hcd->td", o, wo[i])
            dist.all_reduce(part)
            rows = rows + part
        rows = rows[-1:]
        outs.append(rows)
        seq = torch.cat([seq, rows])
    return torch.cat(outs)
# %% wrong: the prompt read token by token
def generate(rank, n, x, wq, wk, wv, wo, steps):
    layers, d, g, c = wk.shape
    ks = [x.new_empty(0, g, c) for _ in range(layers)]
    vs = [x.new_empty(0, g, c) for _ in range(layers)]
    outs, rows = [], x[:1]
    for turn in range(len(x) + steps - 1):
        for i in range(layers):
            y = rows/rows.pow(2).mean(1, keepdim=True).sqrt()
            q = torch.einsum("td,dhc->thc", y, wq[i]).unflatten(1, (g, -1))
            ks[i] = torch.cat([ks[i], torch.einsum("td,dgc->tgc", y, wk[i])])
            vs[i] = torch.cat([vs[i], torch.einsum("td,dgc->tgc", y, wv[i])])
            t, T = len(rows), len(ks[i])
            s = torch.einsum("tgrc,ugc->grtu", q, ks[i])/c**0.5
            s = s.masked_fill(torch.ones(t, T).triu(T - t + 1).bool(), float("-inf"))
            o = torch.einsum("grtu,ugc->tgrc", s.softmax(-1), vs[i]).flatten(1, 2)
            part = torch.einsum("thc,hcd->td", o, wo[i])
            dist.all_reduce(part)
            rows = rows + part
        outs.append(rows)
        rows = x[turn + 1:turn + 2] if turn + 1 < len(x) else rows
    return torch.cat(outs[len(x) - 1:])
# %% wrong: tokens of the prompt see those after them
def generate(rank, n, x, wq, wk, wv, wo, steps):
    layers, d, g, c = wk.shape
    ks = [x.new_empty(0, g, c) for _ in range(layers)]
    vs = [x.new_empty(0, g, c) for _ in range(layers)]
    outs, rows = [], x
    for _ in range(steps):
        for i in range(layers):
            y = rows/rows.pow(2).mean(1, keepdim=True).sqrt()
            q = torch.einsum("td,dhc->thc", y, wq[i]).unflatten(1, (g, -1))
            ks[i] = torch.cat([ks[i], torch.einsum("td,dgc->tgc", y, wk[i])])
            vs[i] = torch.cat([vs[i], torch.einsum("td,dgc->tgc", y, wv[i])])
            t, T = len(rows), len(ks[i])
            s = torch.einsum("tgrc,ugc->grtu", q, ks[i])/c**0.5
            o = torch.einsum("grtu,ugc->tgrc", s.softmax(-1), vs[i]).flatten(1, 2)
            part = torch.einsum("thc,hcd->td", o, wo[i])
            dist.all_reduce(part)
            rows = rows + part
        rows = rows[-1:]
        outs.append(rows)
    return torch.cat(outs)
# %% wrong: each rank for itself, nothing summed
def generate(rank, n, x, wq, wk, wv, wo, steps):
    layers, d, g, c = wk.shape
    ks = [x.new_empty(0, g, c) for _ in range(layers)]
    vs = [x.new_empty(0, g, c) for _ in range(layers)]
    outs, rows = [], x
    for _ in range(steps):
        for i in range(layers):
            y = rows/rows.pow(2).mean(1, keepdim=True).sqrt()
            q = torch.einsum("td,dhc->thc", y, wq[i]).unflatten(1, (g, -1))
            ks[i] = torch.cat([ks[i], torch.einsum("td,dgc->tgc", y, wk[i])])
            vs[i] = torch.cat([vs[i], torch.einsum("td,dgc->tgc", y, wv[i])])
            t, T = len(rows), len(ks[i])
            s = torch.einsum("tgrc,ugc->grtu", q, ks[i])/c**0.5
            s = s.masked_fill(torch.ones(t, T).triu(T - t + 1).bool(), float("-inf"))
            o = torch.einsum("grtu,ugc->tgrc", s.softmax(-1), vs[i]).flatten(1, 2)
            part = torch.einsum("thc,hcd->td", o, wo[i])
            rows = rows + part
        rows = rows[-1:]
        outs.append(rows)
    return torch.cat(outs)
# %% wrong: mean of the ranks and not the sum
def generate(rank, n, x, wq, wk, wv, wo, steps):
    layers, d, g, c = wk.shape
    ks = [x.new_empty(0, g, c) for _ in range(layers)]
    vs = [x.new_empty(0, g, c) for _ in range(layers)]
    outs, rows = [], x
    for _ in range(steps):
        for i in range(layers):
            y = rows/rows.pow(2).mean(1, keepdim=True).sqrt()
            q = torch.einsum("td,dhc->thc", y, wq[i]).unflatten(1, (g, -1))
            ks[i] = torch.cat([ks[i], torch.einsum("td,dgc->tgc", y, wk[i])])
            vs[i] = torch.cat([vs[i], torch.einsum("td,dgc->tgc", y, wv[i])])
            t, T = len(rows), len(ks[i])
            s = torch.einsum("tgrc,ugc->grtu", q, ks[i])/c**0.5
            s = s.masked_fill(torch.ones(t, T).triu(T - t + 1).bool(), float("-inf"))
            o = torch.einsum("grtu,ugc->tgrc", s.softmax(-1), vs[i]).flatten(1, 2)
            part = torch.einsum("thc,hcd->td", o, wo[i])
            dist.all_reduce(part)
            rows = rows + part/n
        rows = rows[-1:]
        outs.append(rows)
    return torch.cat(outs)
# %% wrong: the rows are summed over the ranks too
def generate(rank, n, x, wq, wk, wv, wo, steps):
    layers, d, g, c = wk.shape
    ks = [x.new_empty(0, g, c) for _ in range(layers)]
    vs = [x.new_empty(0, g, c) for _ in range(layers)]
    outs, rows = [], x
    for _ in range(steps):
        for i in range(layers):
            y = rows/rows.pow(2).mean(1, keepdim=True).sqrt()
            q = torch.einsum("td,dhc->thc", y, wq[i]).unflatten(1, (g, -1))
            ks[i] = torch.cat([ks[i], torch.einsum("td,dgc->tgc", y, wk[i])])
            vs[i] = torch.cat([vs[i], torch.einsum("td,dgc->tgc", y, wv[i])])
            t, T = len(rows), len(ks[i])
            s = torch.einsum("tgrc,ugc->grtu", q, ks[i])/c**0.5
            s = s.masked_fill(torch.ones(t, T).triu(T - t + 1).bool(), float("-inf"))
            o = torch.einsum("grtu,ugc->tgrc", s.softmax(-1), vs[i]).flatten(1, 2)
            part = torch.einsum("thc,hcd->td", o, wo[i])
            rows = rows + part
            dist.all_reduce(rows)
        rows = rows[-1:]
        outs.append(rows)
    return torch.cat(outs)
# %% wrong: rows not divided by their root mean square
def generate(rank, n, x, wq, wk, wv, wo, steps):
    layers, d, g, c = wk.shape
    ks = [x.new_empty(0, g, c) for _ in range(layers)]
    vs = [x.new_empty(0, g, c) for _ in range(layers)]
    outs, rows = [], x
    for _ in range(steps):
        for i in range(layers):
            y = rows
            q = torch.einsum("td,dhc->thc", y, wq[i]).unflatten(1, (g, -1))
            ks[i] = torch.cat([ks[i], torch.einsum("td,dgc->tgc", y, wk[i])])
            vs[i] = torch.cat([vs[i], torch.einsum("td,dgc->tgc", y, wv[i])])
            t, T = len(rows), len(ks[i])
            s = torch.einsum("tgrc,ugc->grtu", q, ks[i])/c**0.5
            s = s.masked_fill(torch.ones(t, T).triu(T - t + 1).bool(), float("-inf"))
            o = torch.einsum("grtu,ugc->tgrc", s.softmax(-1), vs[i]).flatten(1, 2)
            part = torch.einsum("thc,hcd->td", o, wo[i])
            dist.all_reduce(part)
            rows = rows + part
        rows = rows[-1:]
        outs.append(rows)
    return torch.cat(outs)
# %% wrong: divided by the length of the row, no mean
def generate(rank, n, x, wq, wk, wv, wo, steps):
    layers, d, g, c = wk.shape
    ks = [x.new_empty(0, g, c) for _ in range(layers)]
    vs = [x.new_empty(0, g, c) for _ in range(layers)]
    outs, rows = [], x
    for _ in range(steps):
        for i in range(layers):
            y = rows/rows.pow(2).sum(1, keepdim=True).sqrt()
            q = torch.einsum("td,dhc->thc", y, wq[i]).unflatten(1, (g, -1))
            ks[i] = torch.cat([ks[i], torch.einsum("td,dgc->tgc", y, wk[i])])
            vs[i] = torch.cat([vs[i], torch.einsum("td,dgc->tgc", y, wv[i])])
            t, T = len(rows), len(ks[i])
            s = torch.einsum("tgrc,ugc->grtu", q, ks[i])/c**0.5
            s = s.masked_fill(torch.ones(t, T).triu(T - t + 1).bool(), float("-inf"))
            o = torch.einsum("grtu,ugc->tgrc", s.softmax(-1), vs[i]).flatten(1, 2)
            part = torch.einsum("thc,hcd->td", o, wo[i])
            dist.all_reduce(part)
            rows = rows + part
        rows = rows[-1:]
        outs.append(rows)
    return torch.cat(outs)
# %% wrong: mean over the tokens
def generate(rank, n, x, wq, wk, wv, wo, steps):
    layers, d, g, c = wk.shape
    ks = [x.new_empty(0, g, c) for _ in range(layers)]
    vs = [x.new_empty(0, g, c) for _ in range(layers)]
    outs, rows = [], x
    for _ in range(steps):
        for i in range(layers):
            y = rows/rows.pow(2).mean(0, keepdim=True).sqrt()
            q = torch.einsum("td,dhc->thc", y, wq[i]).unflatten(1, (g, -1))
            ks[i] = torch.cat([ks[i], torch.einsum("td,dgc->tgc", y, wk[i])])
            vs[i] = torch.cat([vs[i], torch.einsum("td,dgc->tgc", y, wv[i])])
            t, T = len(rows), len(ks[i])
            s = torch.einsum("tgrc,ugc->grtu", q, ks[i])/c**0.5
            s = s.masked_fill(torch.ones(t, T).triu(T - t + 1).bool(), float("-inf"))
            o = torch.einsum("grtu,ugc->tgrc", s.softmax(-1), vs[i]).flatten(1, 2)
            part = torch.einsum("thc,hcd->td", o, wo[i])
            dist.all_reduce(part)
            rows = rows + part
        rows = rows[-1:]
        outs.append(rows)
    return torch.cat(outs)
# %% wrong: divided rows go on, the residual is lost
def generate(rank, n, x, wq, wk, wv, wo, steps):
    layers, d, g, c = wk.shape
    ks = [x.new_empty(0, g, c) for _ in range(layers)]
    vs = [x.new_empty(0, g, c) for _ in range(layers)]
    outs, rows = [], x
    for _ in range(steps):
        for i in range(layers):
            y = rows/rows.pow(2).mean(1, keepdim=True).sqrt()
            q = torch.einsum("td,dhc->thc", y, wq[i]).unflatten(1, (g, -1))
            ks[i] = torch.cat([ks[i], torch.einsum("td,dgc->tgc", y, wk[i])])
            vs[i] = torch.cat([vs[i], torch.einsum("td,dgc->tgc", y, wv[i])])
            t, T = len(rows), len(ks[i])
            s = torch.einsum("tgrc,ugc->grtu", q, ks[i])/c**0.5
            s = s.masked_fill(torch.ones(t, T).triu(T - t + 1).bool(), float("-inf"))
            o = torch.einsum("grtu,ugc->tgrc", s.softmax(-1), vs[i]).flatten(1, 2)
            part = torch.einsum("thc,hcd->td", o, wo[i])
            dist.all_reduce(part)
            rows = y + part
        rows = rows[-1:]
        outs.append(rows)
    return torch.cat(outs)
# %% wrong: no residual
def generate(rank, n, x, wq, wk, wv, wo, steps):
    layers, d, g, c = wk.shape
    ks = [x.new_empty(0, g, c) for _ in range(layers)]
    vs = [x.new_empty(0, g, c) for _ in range(layers)]
    outs, rows = [], x
    for _ in range(steps):
        for i in range(layers):
            y = rows/rows.pow(2).mean(1, keepdim=True).sqrt()
            q = torch.einsum("td,dhc->thc", y, wq[i]).unflatten(1, (g, -1))
            ks[i] = torch.cat([ks[i], torch.einsum("td,dgc->tgc", y, wk[i])])
            vs[i] = torch.cat([vs[i], torch.einsum("td,dgc->tgc", y, wv[i])])
            t, T = len(rows), len(ks[i])
            s = torch.einsum("tgrc,ugc->grtu", q, ks[i])/c**0.5
            s = s.masked_fill(torch.ones(t, T).triu(T - t + 1).bool(), float("-inf"))
            o = torch.einsum("grtu,ugc->tgrc", s.softmax(-1), vs[i]).flatten(1, 2)
            part = torch.einsum("thc,hcd->td", o, wo[i])
            dist.all_reduce(part)
            rows = part
        rows = rows[-1:]
        outs.append(rows)
    return torch.cat(outs)
# %% wrong: scores not divided by the root of the width
def generate(rank, n, x, wq, wk, wv, wo, steps):
    layers, d, g, c = wk.shape
    ks = [x.new_empty(0, g, c) for _ in range(layers)]
    vs = [x.new_empty(0, g, c) for _ in range(layers)]
    outs, rows = [], x
    for _ in range(steps):
        for i in range(layers):
            y = rows/rows.pow(2).mean(1, keepdim=True).sqrt()
            q = torch.einsum("td,dhc->thc", y, wq[i]).unflatten(1, (g, -1))
            ks[i] = torch.cat([ks[i], torch.einsum("td,dgc->tgc", y, wk[i])])
            vs[i] = torch.cat([vs[i], torch.einsum("td,dgc->tgc", y, wv[i])])
            t, T = len(rows), len(ks[i])
            s = torch.einsum("tgrc,ugc->grtu", q, ks[i])
            s = s.masked_fill(torch.ones(t, T).triu(T - t + 1).bool(), float("-inf"))
            o = torch.einsum("grtu,ugc->tgrc", s.softmax(-1), vs[i]).flatten(1, 2)
            part = torch.einsum("thc,hcd->td", o, wo[i])
            dist.all_reduce(part)
            rows = rows + part
        rows = rows[-1:]
        outs.append(rows)
    return torch.cat(outs)
# %% wrong: divided by the root of all heads' width
def generate(rank, n, x, wq, wk, wv, wo, steps):
    layers, d, g, c = wk.shape
    ks = [x.new_empty(0, g, c) for _ in range(layers)]
    vs = [x.new_empty(0, g, c) for _ in range(layers)]
    outs, rows = [], x
    for _ in range(steps):
        for i in range(layers):
            y = rows/rows.pow(2).mean(1, keepdim=True).sqrt()
            q = torch.einsum("td,dhc->thc", y, wq[i]).unflatten(1, (g, -1))
            ks[i] = torch.cat([ks[i], torch.einsum("td,dgc->tgc", y, wk[i])])
            vs[i] = torch.cat([vs[i], torch.einsum("td,dgc->tgc", y, wv[i])])
            t, T = len(rows), len(ks[i])
            s = torch.einsum("tgrc,ugc->grtu", q, ks[i])/(c*wq.shape[2])**0.5
            s = s.masked_fill(torch.ones(t, T).triu(T - t + 1).bool(), float("-inf"))
            o = torch.einsum("grtu,ugc->tgrc", s.softmax(-1), vs[i]).flatten(1, 2)
            part = torch.einsum("thc,hcd->td", o, wo[i])
            dist.all_reduce(part)
            rows = rows + part
        rows = rows[-1:]
        outs.append(rows)
    return torch.cat(outs)
# %% wrong: query heads that share a key lie g apart
def generate(rank, n, x, wq, wk, wv, wo, steps):
    layers, d, g, c = wk.shape
    ks = [x.new_empty(0, g, c) for _ in range(layers)]
    vs = [x.new_empty(0, g, c) for _ in range(layers)]
    outs, rows = [], x
    for _ in range(steps):
        for i in range(layers):
            y = rows/rows.pow(2).mean(1, keepdim=True).sqrt()
            q = torch.einsum("td,dhc->thc", y, wq[i]).unflatten(1, (-1, g)).transpose(1, 2)
            ks[i] = torch.cat([ks[i], torch.einsum("td,dgc->tgc", y, wk[i])])
            vs[i] = torch.cat([vs[i], torch.einsum("td,dgc->tgc", y, wv[i])])
            t, T = len(rows), len(ks[i])
            s = torch.einsum("tgrc,ugc->grtu", q, ks[i])/c**0.5
            s = s.masked_fill(torch.ones(t, T).triu(T - t + 1).bool(), float("-inf"))
            o = torch.einsum("grtu,ugc->tgrc", s.softmax(-1), vs[i]).transpose(1, 2).flatten(1, 2)
            part = torch.einsum("thc,hcd->td", o, wo[i])
            dist.all_reduce(part)
            rows = rows + part
        rows = rows[-1:]
        outs.append(rows)
    return torch.cat(outs)
# %% wrong: one cache for all layers
def generate(rank, n, x, wq, wk, wv, wo, steps):
    layers, d, g, c = wk.shape
    ks = [x.new_empty(0, g, c) for _ in range(layers)]
    vs = [x.new_empty(0, g, c) for _ in range(layers)]
    outs, rows = [], x
    for _ in range(steps):
        for i in range(layers):
            y = rows/rows.pow(2).mean(1, keepdim=True).sqrt()
            q = torch.einsum("td,dhc->thc", y, wq[i]).unflatten(1, (g, -1))
            ks[0] = torch.cat([ks[0], torch.einsum("td,dgc->tgc", y, wk[i])])
            vs[0] = torch.cat([vs[0], torch.einsum("td,dgc->tgc", y, wv[i])])
            t, T = len(rows), len(ks[0])
            s = torch.einsum("tgrc,ugc->grtu", q, ks[0])/c**0.5
            s = s.masked_fill(torch.ones(t, T).triu(T - t + 1).bool(), float("-inf"))
            o = torch.einsum("grtu,ugc->tgrc", s.softmax(-1), vs[0]).flatten(1, 2)
            part = torch.einsum("thc,hcd->td", o, wo[i])
            dist.all_reduce(part)
            rows = rows + part
        rows = rows[-1:]
        outs.append(rows)
    return torch.cat(outs)
# %% wrong: keys of the prompt only, new tokens leave none
def generate(rank, n, x, wq, wk, wv, wo, steps):
    layers, d, g, c = wk.shape
    ks = [x.new_empty(0, g, c) for _ in range(layers)]
    vs = [x.new_empty(0, g, c) for _ in range(layers)]
    outs, rows = [], x
    for _ in range(steps):
        for i in range(layers):
            y = rows/rows.pow(2).mean(1, keepdim=True).sqrt()
            q = torch.einsum("td,dhc->thc", y, wq[i]).unflatten(1, (g, -1))
            ks[i] = torch.cat([ks[i], torch.einsum("td,dgc->tgc", y, wk[i])])
            vs[i] = torch.cat([vs[i], torch.einsum("td,dgc->tgc", y, wv[i])])
            t, T = len(rows), len(ks[i])
            s = torch.einsum("tgrc,ugc->grtu", q, ks[i])/c**0.5
            s = s.masked_fill(torch.ones(t, T).triu(T - t + 1).bool(), float("-inf"))
            if len(outs):
                ks[i], V = ks[i][:-1], vs[i]
                vs[i] = V[:-1]
            else:
                V = vs[i]
            o = torch.einsum("grtu,ugc->tgrc", s.softmax(-1), V).flatten(1, 2)
            part = torch.einsum("thc,hcd->td", o, wo[i])
            dist.all_reduce(part)
            rows = rows + part
        rows = rows[-1:]
        outs.append(rows)
    return torch.cat(outs)
# %% wrong: the new token does not see itself, in decode
def generate(rank, n, x, wq, wk, wv, wo, steps):
    layers, d, g, c = wk.shape
    ks = [x.new_empty(0, g, c) for _ in range(layers)]
    vs = [x.new_empty(0, g, c) for _ in range(layers)]
    outs, rows = [], x
    for _ in range(steps):
        for i in range(layers):
            y = rows/rows.pow(2).mean(1, keepdim=True).sqrt()
            q = torch.einsum("td,dhc->thc", y, wq[i]).unflatten(1, (g, -1))
            ks[i] = torch.cat([ks[i], torch.einsum("td,dgc->tgc", y, wk[i])])
            vs[i] = torch.cat([vs[i], torch.einsum("td,dgc->tgc", y, wv[i])])
            t, T = len(rows), len(ks[i])
            s = torch.einsum("tgrc,ugc->grtu", q, ks[i])/c**0.5
            s = s.masked_fill(torch.ones(t, T).triu(T - t + (1 if len(outs) == 0 else 0)).bool(), float("-inf"))
            o = torch.einsum("grtu,ugc->tgrc", s.softmax(-1), vs[i]).flatten(1, 2)
            part = torch.einsum("thc,hcd->td", o, wo[i])
            dist.all_reduce(part)
            rows = rows + part
        rows = rows[-1:]
        outs.append(rows)
    return torch.cat(outs)
# %% wrong: the last row of the prompt goes in once more
def generate(rank, n, x, wq, wk, wv, wo, steps):
    layers, d, g, c = wk.shape
    ks = [x.new_empty(0, g, c) for _ in range(layers)]
    vs = [x.new_empty(0, g, c) for _ in range(layers)]
    outs, rows = [], x
    for _ in range(steps):
        for i in range(layers):
            y = rows/rows.pow(2).mean(1, keepdim=True).sqrt()
            q = torch.einsum("td,dhc->thc", y, wq[i]).unflatten(1, (g, -1))
            ks[i] = torch.cat([ks[i], torch.einsum("td,dgc->tgc", y, wk[i])])
            vs[i] = torch.cat([vs[i], torch.einsum("td,dgc->tgc", y, wv[i])])
            t, T = len(rows), len(ks[i])
            s = torch.einsum("tgrc,ugc->grtu", q, ks[i])/c**0.5
            s = s.masked_fill(torch.ones(t, T).triu(T - t + 1).bool(), float("-inf"))
            o = torch.einsum("grtu,ugc->tgrc", s.softmax(-1), vs[i]).flatten(1, 2)
            part = torch.einsum("thc,hcd->td", o, wo[i])
            dist.all_reduce(part)
            rows = rows + part
        outs.append(rows[-1:])
        rows = x[-1:] if len(outs) == 1 else rows[-1:]
    return torch.cat(outs)
# %% wrong: the first output is that after the prompt's own
def generate(rank, n, x, wq, wk, wv, wo, steps):
    layers, d, g, c = wk.shape
    ks = [x.new_empty(0, g, c) for _ in range(layers)]
    vs = [x.new_empty(0, g, c) for _ in range(layers)]
    outs, rows = [], x
    for _ in range(steps + 1):
        for i in range(layers):
            y = rows/rows.pow(2).mean(1, keepdim=True).sqrt()
            q = torch.einsum("td,dhc->thc", y, wq[i]).unflatten(1, (g, -1))
            ks[i] = torch.cat([ks[i], torch.einsum("td,dgc->tgc", y, wk[i])])
            vs[i] = torch.cat([vs[i], torch.einsum("td,dgc->tgc", y, wv[i])])
            t, T = len(rows), len(ks[i])
            s = torch.einsum("tgrc,ugc->grtu", q, ks[i])/c**0.5
            s = s.masked_fill(torch.ones(t, T).triu(T - t + 1).bool(), float("-inf"))
            o = torch.einsum("grtu,ugc->tgrc", s.softmax(-1), vs[i]).flatten(1, 2)
            part = torch.einsum("thc,hcd->td", o, wo[i])
            dist.all_reduce(part)
            rows = rows + part
        rows = rows[-1:]
        outs.append(rows)
    return torch.cat(outs[1:])
# %% wrong: the output is divided once more, as before a table of logits
def generate(rank, n, x, wq, wk, wv, wo, steps):
    layers, d, g, c = wk.shape
    ks = [x.new_empty(0, g, c) for _ in range(layers)]
    vs = [x.new_empty(0, g, c) for _ in range(layers)]
    outs, rows = [], x
    for _ in range(steps):
        for i in range(layers):
            y = rows/rows.pow(2).mean(1, keepdim=True).sqrt()
            q = torch.einsum("td,dhc->thc", y, wq[i]).unflatten(1, (g, -1))
            ks[i] = torch.cat([ks[i], torch.einsum("td,dgc->tgc", y, wk[i])])
            vs[i] = torch.cat([vs[i], torch.einsum("td,dgc->tgc", y, wv[i])])
            t, T = len(rows), len(ks[i])
            s = torch.einsum("tgrc,ugc->grtu", q, ks[i])/c**0.5
            s = s.masked_fill(torch.ones(t, T).triu(T - t + 1).bool(), float("-inf"))
            o = torch.einsum("grtu,ugc->tgrc", s.softmax(-1), vs[i]).flatten(1, 2)
            part = torch.einsum("thc,hcd->td", o, wo[i])
            dist.all_reduce(part)
            rows = rows + part
        rows = rows[-1:]
        outs.append(rows/rows.pow(2).mean(1, keepdim=True).sqrt())
    return torch.cat(outs)
# %% wrong: keys and values repeated for each query head and cached so
def generate(rank, n, x, wq, wk, wv, wo, steps):
    layers, d, g, c = wk.shape
    h = wq.shape[2]
    ks = [x.new_empty(0, h, c) for _ in range(layers)]
    vs = [x.new_empty(0, h, c) for _ in range(layers)]
    outs, rows = [], x
    for _ in range(steps):
        for i in range(layers):
            y = rows/rows.pow(2).mean(1, keepdim=True).sqrt()
            q = torch.einsum("td,dhc->thc", y, wq[i]).unflatten(1, (h, 1))
            ks[i] = torch.cat([ks[i], torch.einsum("td,dgc->tgc", y, wk[i]).repeat_interleave(h//g, 1)])
            vs[i] = torch.cat([vs[i], torch.einsum("td,dgc->tgc", y, wv[i]).repeat_interleave(h//g, 1)])
            t, T = len(rows), len(ks[i])
            s = torch.einsum("tgrc,ugc->grtu", q, ks[i])/c**0.5
            s = s.masked_fill(torch.ones(t, T).triu(T - t + 1).bool(), float("-inf"))
            o = torch.einsum("grtu,ugc->tgrc", s.softmax(-1), vs[i]).flatten(1, 2)
            part = torch.einsum("thc,hcd->td", o, wo[i])
            dist.all_reduce(part)
            rows = rows + part
        rows = rows[-1:]
        outs.append(rows)
    return torch.cat(outs)
# %% wrong: a sum for each head
def generate(rank, n, x, wq, wk, wv, wo, steps):
    layers, d, g, c = wk.shape
    ks = [x.new_empty(0, g, c) for _ in range(layers)]
    vs = [x.new_empty(0, g, c) for _ in range(layers)]
    outs, rows = [], x
    for _ in range(steps):
        for i in range(layers):
            y = rows/rows.pow(2).mean(1, keepdim=True).sqrt()
            q = torch.einsum("td,dhc->thc", y, wq[i]).unflatten(1, (g, -1))
            ks[i] = torch.cat([ks[i], torch.einsum("td,dgc->tgc", y, wk[i])])
            vs[i] = torch.cat([vs[i], torch.einsum("td,dgc->tgc", y, wv[i])])
            t, T = len(rows), len(ks[i])
            s = torch.einsum("tgrc,ugc->grtu", q, ks[i])/c**0.5
            s = s.masked_fill(torch.ones(t, T).triu(T - t + 1).bool(), float("-inf"))
            o = torch.einsum("grtu,ugc->tgrc", s.softmax(-1), vs[i]).flatten(1, 2)
            for j in range(o.shape[1]):
                part = o[:, j] @ wo[i, j]
                dist.all_reduce(part)
                rows = rows + part
        rows = rows[-1:]
        outs.append(rows)
    return torch.cat(outs)
# %% wrong: a sum for each row of the prompt
def generate(rank, n, x, wq, wk, wv, wo, steps):
    layers, d, g, c = wk.shape
    ks = [x.new_empty(0, g, c) for _ in range(layers)]
    vs = [x.new_empty(0, g, c) for _ in range(layers)]
    outs, rows = [], x
    for _ in range(steps):
        for i in range(layers):
            y = rows/rows.pow(2).mean(1, keepdim=True).sqrt()
            q = torch.einsum("td,dhc->thc", y, wq[i]).unflatten(1, (g, -1))
            ks[i] = torch.cat([ks[i], torch.einsum("td,dgc->tgc", y, wk[i])])
            vs[i] = torch.cat([vs[i], torch.einsum("td,dgc->tgc", y, wv[i])])
            t, T = len(rows), len(ks[i])
            s = torch.einsum("tgrc,ugc->grtu", q, ks[i])/c**0.5
            s = s.masked_fill(torch.ones(t, T).triu(T - t + 1).bool(), float("-inf"))
            o = torch.einsum("grtu,ugc->tgrc", s.softmax(-1), vs[i]).flatten(1, 2)
            part = torch.einsum("thc,hcd->td", o, wo[i])
            for row in part:
                dist.all_reduce(row)
            rows = rows + part
        rows = rows[-1:]
        outs.append(rows)
    return torch.cat(outs)
# %% wrong: sums the rows in half precision
def generate(rank, n, x, wq, wk, wv, wo, steps):
    layers, d, g, c = wk.shape
    ks = [x.new_empty(0, g, c) for _ in range(layers)]
    vs = [x.new_empty(0, g, c) for _ in range(layers)]
    outs, rows = [], x
    for _ in range(steps):
        for i in range(layers):
            y = rows/rows.pow(2).mean(1, keepdim=True).sqrt()
            q = torch.einsum("td,dhc->thc", y, wq[i]).unflatten(1, (g, -1))
            ks[i] = torch.cat([ks[i], torch.einsum("td,dgc->tgc", y, wk[i])])
            vs[i] = torch.cat([vs[i], torch.einsum("td,dgc->tgc", y, wv[i])])
            t, T = len(rows), len(ks[i])
            s = torch.einsum("tgrc,ugc->grtu", q, ks[i])/c**0.5
            s = s.masked_fill(torch.ones(t, T).triu(T - t + 1).bool(), float("-inf"))
            o = torch.einsum("grtu,ugc->tgrc", s.softmax(-1), vs[i]).flatten(1, 2)
            part = torch.einsum("thc,hcd->td", o, wo[i])
            part = part.to(torch.float16)
            dist.all_reduce(part)
            part = part.to(x.dtype)
            rows = rows + part
        rows = rows[-1:]
        outs.append(rows)
    return torch.cat(outs)
# %% wrong: a window of the prompt's length, the oldest token leaves
def generate(rank, n, x, wq, wk, wv, wo, steps):
    layers, d, g, c = wk.shape
    ks = [x.new_empty(0, g, c) for _ in range(layers)]
    vs = [x.new_empty(0, g, c) for _ in range(layers)]
    outs, rows = [], x
    for _ in range(steps):
        for i in range(layers):
            y = rows/rows.pow(2).mean(1, keepdim=True).sqrt()
            q = torch.einsum("td,dhc->thc", y, wq[i]).unflatten(1, (g, -1))
            ks[i] = torch.cat([ks[i], torch.einsum("td,dgc->tgc", y, wk[i])])
            vs[i] = torch.cat([vs[i], torch.einsum("td,dgc->tgc", y, wv[i])])
            ks[i], vs[i] = ks[i][-len(x):], vs[i][-len(x):]
            t, T = len(rows), len(ks[i])
            s = torch.einsum("tgrc,ugc->grtu", q, ks[i])/c**0.5
            s = s.masked_fill(torch.ones(t, T).triu(T - t + 1).bool(), float("-inf"))
            o = torch.einsum("grtu,ugc->tgrc", s.softmax(-1), vs[i]).flatten(1, 2)
            part = torch.einsum("thc,hcd->td", o, wo[i])
            dist.all_reduce(part)
            rows = rows + part
        rows = rows[-1:]
        outs.append(rows)
    return torch.cat(outs)
# %% wrong: all ranks know all keys, summed with zeros elsewhere
def generate(rank, n, x, wq, wk, wv, wo, steps):
    layers, d, g, c = wk.shape
    ks = [x.new_empty(0, g, c) for _ in range(layers)]
    vs = [x.new_empty(0, g, c) for _ in range(layers)]
    outs, rows = [], x
    for _ in range(steps):
        for i in range(layers):
            y = rows/rows.pow(2).mean(1, keepdim=True).sqrt()
            q = torch.einsum("td,dhc->thc", y, wq[i]).unflatten(1, (g, -1))
            ks[i] = torch.cat([ks[i], torch.einsum("td,dgc->tgc", y, wk[i])])
            vs[i] = torch.cat([vs[i], torch.einsum("td,dgc->tgc", y, wv[i])])
            every = x.new_zeros(n, *ks[i][-len(rows):].shape)
            every[rank] = ks[i][-len(rows):]
            dist.all_reduce(every)
            t, T = len(rows), len(ks[i])
            s = torch.einsum("tgrc,ugc->grtu", q, ks[i])/c**0.5
            s = s.masked_fill(torch.ones(t, T).triu(T - t + 1).bool(), float("-inf"))
            o = torch.einsum("grtu,ugc->tgrc", s.softmax(-1), vs[i]).flatten(1, 2)
            part = torch.einsum("thc,hcd->td", o, wo[i])
            dist.all_reduce(part)
            rows = rows + part
        rows = rows[-1:]
        outs.append(rows)
    return torch.cat(outs)
# %% wrong: all rows of a step returned
def generate(rank, n, x, wq, wk, wv, wo, steps):
    layers, d, g, c = wk.shape
    ks = [x.new_empty(0, g, c) for _ in range(layers)]
    vs = [x.new_empty(0, g, c) for _ in range(layers)]
    outs, rows = [], x
    for _ in range(steps):
        for i in range(layers):
            y = rows/rows.pow(2).mean(1, keepdim=True).sqrt()
            q = torch.einsum("td,dhc->thc", y, wq[i]).unflatten(1, (g, -1))
            ks[i] = torch.cat([ks[i], torch.einsum("td,dgc->tgc", y, wk[i])])
            vs[i] = torch.cat([vs[i], torch.einsum("td,dgc->tgc", y, wv[i])])
            t, T = len(rows), len(ks[i])
            s = torch.einsum("tgrc,ugc->grtu", q, ks[i])/c**0.5
            s = s.masked_fill(torch.ones(t, T).triu(T - t + 1).bool(), float("-inf"))
            o = torch.einsum("grtu,ugc->tgrc", s.softmax(-1), vs[i]).flatten(1, 2)
            part = torch.einsum("thc,hcd->td", o, wo[i])
            dist.all_reduce(part)
            rows = rows + part
        outs.append(rows)
        rows = rows[-1:]
    return torch.cat(outs)
# %% wrong: rows before the last layer are the output
def generate(rank, n, x, wq, wk, wv, wo, steps):
    layers, d, g, c = wk.shape
    ks = [x.new_empty(0, g, c) for _ in range(layers)]
    vs = [x.new_empty(0, g, c) for _ in range(layers)]
    outs, rows = [], x
    for _ in range(steps):
        for i in range(layers):
            y = rows/rows.pow(2).mean(1, keepdim=True).sqrt()
            q = torch.einsum("td,dhc->thc", y, wq[i]).unflatten(1, (g, -1))
            ks[i] = torch.cat([ks[i], torch.einsum("td,dgc->tgc", y, wk[i])])
            vs[i] = torch.cat([vs[i], torch.einsum("td,dgc->tgc", y, wv[i])])
            t, T = len(rows), len(ks[i])
            s = torch.einsum("tgrc,ugc->grtu", q, ks[i])/c**0.5
            s = s.masked_fill(torch.ones(t, T).triu(T - t + 1).bool(), float("-inf"))
            o = torch.einsum("grtu,ugc->tgrc", s.softmax(-1), vs[i]).flatten(1, 2)
            part = torch.einsum("thc,hcd->td", o, wo[i])
            dist.all_reduce(part)
            rows = rows + part
        rows = rows[-1:]
        outs.append(rows - part[-1:])
    return torch.cat(outs)
# %% wrong: scores of the prompt for all layers kept
def generate(rank, n, x, wq, wk, wv, wo, steps):
    layers, d, g, c = wk.shape
    ks = [x.new_empty(0, g, c) for _ in range(layers)]
    vs = [x.new_empty(0, g, c) for _ in range(layers)]
    outs, rows, kept = [], x, []
    for _ in range(steps):
        for i in range(layers):
            y = rows/rows.pow(2).mean(1, keepdim=True).sqrt()
            q = torch.einsum("td,dhc->thc", y, wq[i]).unflatten(1, (g, -1))
            ks[i] = torch.cat([ks[i], torch.einsum("td,dgc->tgc", y, wk[i])])
            vs[i] = torch.cat([vs[i], torch.einsum("td,dgc->tgc", y, wv[i])])
            t, T = len(rows), len(ks[i])
            s = torch.einsum("tgrc,ugc->grtu", q, ks[i])/c**0.5
            s = s.masked_fill(torch.ones(t, T).triu(T - t + 1).bool(), float("-inf"))
            kept += [s, s.softmax(-1), q, y]
            o = torch.einsum("grtu,ugc->tgrc", s.softmax(-1), vs[i]).flatten(1, 2)
            part = torch.einsum("thc,hcd->td", o, wo[i])
            dist.all_reduce(part)
            rows = rows + part
        rows = rows[-1:]
        outs.append(rows)
    return torch.cat(outs)
