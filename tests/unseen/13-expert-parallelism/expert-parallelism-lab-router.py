# %% right: counts, rows, and back, sorted by expert
def moe_layer(rank, n, x, router, w_in, w_out, k):
    own, E = len(w_in), router.shape[1]
    best, chosen = (x @ router).topk(k, dim=1)
    weights = best.softmax(1)
    flat = chosen.flatten()
    order = flat.argsort(stable=True)
    leaving = torch.bincount(flat, minlength=E)
    coming = torch.empty_like(leaving)
    dist.all_to_all_single(coming, leaving)
    out, into = leaving.view(n, own).sum(1).tolist(), coming.view(n, own).sum(1).tolist()
    rows = x.new_empty(sum(into), x.shape[1])
    dist.all_to_all_single(rows, x[order//k].contiguous(), into, out)
    pieces = list(rows.split(coming.tolist()))
    done = [torch.relu(piece @ w_in[i % own]) @ w_out[i % own] for i, piece in enumerate(pieces)]
    arrived = x.new_empty(len(order), x.shape[1])
    dist.all_to_all_single(arrived, torch.cat(done), out, into)
    back = torch.empty_like(arrived)
    back[order] = arrived
    return (back.view(len(x), k, -1)*weights[..., None]).sum(1)
# %% right: lists of tensors, the counts as a list too
def moe_layer(rank, n, x, router, w_in, w_out, k):
    m, d = w_in.shape[:2]
    logits = x @ router
    best, chosen = logits.topk(k, dim=1)
    gate = torch.softmax(best, dim=1)
    token, slot, out = [], [], []
    for r in range(n):
        for e in range(r*m, (r + 1)*m):
            t, s = (chosen == e).nonzero(as_tuple=True)
            token.append(t)
            slot.append(s)
            out.append(len(t))
    sizes = [torch.tensor(out[r*m:(r + 1)*m]) for r in range(n)]
    got = [torch.empty(m, dtype=torch.int64) for _ in range(n)]
    dist.all_to_all(got, sizes)
    send = [torch.cat([x[t] for t in token[r*m:(r + 1)*m]]) for r in range(n)]
    recv = [x.new_empty(int(one.sum()), d) for one in got]
    dist.all_to_all(recv, send)
    for r in range(n):
        at = 0
        for e, c in enumerate(got[r].tolist()):
            recv[r][at:at + c] = torch.relu(recv[r][at:at + c] @ w_in[e]) @ w_out[e]
            at += c
    home = [torch.empty_like(one) for one in send]
    dist.all_to_all(home, recv)
    y = torch.zeros_like(x)
    for r in range(n):
        t, s = torch.cat(token[r*m:(r + 1)*m]), torch.cat(slot[r*m:(r + 1)*m])
        y.index_add_(0, t, home[r]*gate[t, s, None])
    return y
# %% right: own experts at home, only the others' rows travel
def moe_layer(rank, n, x, router, w_in, w_out, k):
    m, d = len(w_in), x.shape[1]
    values, chosen = torch.topk(x @ router, k)
    exps = (values - values[:, :1]).exp()
    gate = exps/exps.sum(1, keepdim=True)
    def expert(e, t):
        return (t @ w_in[e]).clamp(min=0) @ w_out[e]
    out = torch.zeros_like(x)
    for e in range(m):
        t, s = (chosen == rank*m + e).nonzero(as_tuple=True)
        out.index_add_(0, t, gate[t, s, None]*expert(e, x[t]))
    flat = chosen.reshape(-1)
    away = (flat//m != rank).nonzero().flatten()
    away = away[flat[away].argsort(stable=True)]
    counts = torch.bincount(flat[away], minlength=n*m).to(torch.int32)
    theirs = torch.zeros_like(counts)
    dist.all_to_all_single(theirs, counts)
    a, b = (one.view(n, m).sum(1).tolist() for one in (counts, theirs))
    rows = x.new_zeros(sum(b), d)
    dist.all_to_all_single(rows, x[away//k], output_split_sizes=b, input_split_sizes=a)
    which = torch.arange(n*m).remainder(m).repeat_interleave(theirs.long())
    result = torch.zeros_like(rows)
    for e in range(m):
        result[which == e] = expert(e, rows[which == e])
    home = x.new_zeros(len(away), d)
    dist.all_to_all_single(home, result, output_split_sizes=a, input_split_sizes=b)
    return out.index_add(0, away//k, gate.reshape(-1, 1)[away]*home)
# %% right: asynchronous, in a group of its own
def moe_layer(rank, n, x, router, w_in, w_out, k):
    group = dist.new_group(list(range(n)))
    m, d = len(w_in), x.shape[1]
    logits = x @ router
    chosen = logits.argsort(dim=1, descending=True)[:, :k]
    weights = logits.gather(1, chosen).softmax(-1)
    order = torch.sort(chosen.reshape(-1), stable=True).indices
    leaving = torch.zeros(n*m, dtype=torch.int64).index_add_(0, chosen.reshape(-1), torch.ones(chosen.numel(),
                                                             dtype=torch.int64))
    coming = torch.zeros_like(leaving)
    work = dist.all_to_all_single(coming, leaving, group=group, async_op=True)
    rows = x.repeat_interleave(k, 0)[order]
    work.wait()
    a, b = leaving.view(n, m).sum(1).tolist(), coming.view(n, m).sum(1).tolist()
    got = x.new_empty(sum(b), d)
    dist.all_to_all_single(got, rows, b, a, group=group, async_op=True).wait()
    parts = []
    for i, part in enumerate(got.split(coming.tolist())):
        parts.append(torch.nn.functional.relu(part.mm(w_in[i % m])).mm(w_out[i % m]))
    back = x.new_empty(len(rows), d)
    dist.all_to_all_single(back, torch.cat(parts, 0), a, b, group=group, async_op=True).wait()
    inverse = torch.empty_like(order)
    inverse[order] = torch.arange(len(order))
    return torch.einsum("tkd,tk->td", back[inverse].view(-1, k, d), weights)
# %% right: the weights travel, and the results come weighted
def moe_layer(rank, n, x, router, w_in, w_out, k):
    m, d = len(w_in), x.shape[1]
    logits, chosen = (x @ router).topk(k)
    gates = torch.zeros(len(x), n*m, dtype=x.dtype).scatter(1, chosen, logits.softmax(1))
    mask = torch.zeros(len(x), n*m, dtype=torch.bool).scatter(1, chosen, True)
    expert, token = mask.T.nonzero(as_tuple=True)
    leaving = mask.sum(0)
    coming = torch.empty_like(leaving)
    dist.all_to_all_single(coming, leaving)
    a, b = leaving.view(n, -1).sum(1).tolist(), coming.view(n, -1).sum(1).tolist()
    def carried(t, to, of):
        got = t.new_empty(sum(to), *t.shape[1:])
        dist.all_to_all_single(got, t.contiguous(), to, of)
        return got
    rows = carried(x[token], b, a)
    gate = carried(gates[token, expert], b, a)
    done, at = torch.empty_like(rows), 0
    for i, c in enumerate(coming.tolist()):
        piece = slice(at, at + c)
        done[piece] = gate[piece, None]*(torch.relu(rows[piece] @ w_in[i % m]) @ w_out[i % m])
        at += c
    y = torch.zeros_like(x)
    return y.index_add_(0, token, carried(done, a, b))
# %% right: one batched product over padded rows, on the rank that has come by them
def moe_layer(rank, n, x, router, w_in, w_out, k):
    m, d = len(w_in), x.shape[1]
    best, chosen = (x @ router).topk(k)
    flat = chosen.flatten()
    order = flat.argsort(stable=True)
    leaving = flat.bincount(minlength=n*m)
    coming = torch.empty_like(leaving)
    dist.all_to_all_single(coming, leaving)
    a, b = leaving.view(n, m).sum(1).tolist(), coming.view(n, m).sum(1).tolist()
    rows = x.new_empty(sum(b), d)
    dist.all_to_all_single(rows, x[order//k], b, a)
    expert = torch.arange(m).repeat(n).repeat_interleave(coming)
    place = torch.zeros_like(expert)
    for e in range(m):
        place[expert == e] = torch.arange(int((expert == e).sum()))
    room = int(place.max()) + 1 if len(place) else 1
    padded = x.new_zeros(m, room, d)
    padded[expert, place] = rows
    result = torch.bmm(torch.bmm(padded, w_in).relu(), w_out)[expert, place]
    arrived = x.new_empty(len(order), d)
    dist.all_to_all_single(arrived, result, a, b)
    weights = best.softmax(1).flatten()[order]
    return torch.zeros_like(x).index_add(0, order//k, weights[:, None]*arrived)
# %% wrong: softmax over all experts
def moe_layer(rank, n, x, router, w_in, w_out, k):
    m, d = len(w_in), x.shape[1]
    logits = x @ router
    chosen = logits.topk(k).indices
    weights = logits.softmax(1).gather(1, chosen)
    flat = chosen.flatten()
    order = flat.argsort(stable=True)
    leaving = flat.bincount(minlength=n*m)
    coming = torch.empty_like(leaving)
    dist.all_to_all_single(coming, leaving)
    a, b = leaving.view(n, m).sum(1).tolist(), coming.view(n, m).sum(1).tolist()
    rows = x.new_empty(sum(b), d)
    dist.all_to_all_single(rows, x[order//k], b, a)
    done = [torch.relu(t @ w_in[i % m]) @ w_out[i % m] for i, t in enumerate(rows.split(coming.tolist()))]
    arrived = x.new_empty(len(order), d)
    dist.all_to_all_single(arrived, torch.cat(done), a, b)
    return torch.zeros_like(x).index_add(0, order//k, weights.flatten()[order, None]*arrived)
# %% wrong: results added up without weights
def moe_layer(rank, n, x, router, w_in, w_out, k):
    m, d = len(w_in), x.shape[1]
    logits = x @ router
    chosen = logits.topk(k).indices
    weights = torch.ones_like(chosen, dtype=x.dtype)
    flat = chosen.flatten()
    order = flat.argsort(stable=True)
    leaving = flat.bincount(minlength=n*m)
    coming = torch.empty_like(leaving)
    dist.all_to_all_single(coming, leaving)
    a, b = leaving.view(n, m).sum(1).tolist(), coming.view(n, m).sum(1).tolist()
    rows = x.new_empty(sum(b), d)
    dist.all_to_all_single(rows, x[order//k], b, a)
    done = [torch.relu(t @ w_in[i % m]) @ w_out[i % m] for i, t in enumerate(rows.split(coming.tolist()))]
    arrived = x.new_empty(len(order), d)
    dist.all_to_all_single(arrived, torch.cat(done), a, b)
    return torch.zeros_like(x).index_add(0, order//k, weights.flatten()[order, None]*arrived)
# %% wrong: the mean of the k results
def moe_layer(rank, n, x, router, w_in, w_out, k):
    m, d = len(w_in), x.shape[1]
    logits = x @ router
    chosen = logits.topk(k).indices
    weights = torch.full_like(chosen, 1, dtype=x.dtype)/k
    flat = chosen.flatten()
    order = flat.argsort(stable=True)
    leaving = flat.bincount(minlength=n*m)
    coming = torch.empty_like(leaving)
    dist.all_to_all_single(coming, leaving)
    a, b = leaving.view(n, m).sum(1).tolist(), coming.view(n, m).sum(1).tolist()
    rows = x.new_empty(sum(b), d)
    dist.all_to_all_single(rows, x[order//k], b, a)
    done = [torch.relu(t @ w_in[i % m]) @ w_out[i % m] for i, t in enumerate(rows.split(coming.tolist()))]
    arrived = x.new_empty(len(order), d)
    dist.all_to_all_single(arrived, torch.cat(done), a, b)
    return torch.zeros_like(x).index_add(0, order//k, weights.flatten()[order, None]*arrived)
# %% wrong: logits over their sum, no softmax
def moe_layer(rank, n, x, router, w_in, w_out, k):
    m, d = len(w_in), x.shape[1]
    logits = x @ router
    chosen = logits.topk(k).indices
    weights = logits.gather(1, chosen)
    weights = weights/weights.sum(1, keepdim=True)
    flat = chosen.flatten()
    order = flat.argsort(stable=True)
    leaving = flat.bincount(minlength=n*m)
    coming = torch.empty_like(leaving)
    dist.all_to_all_single(coming, leaving)
    a, b = leaving.view(n, m).sum(1).tolist(), coming.view(n, m).sum(1).tolist()
    rows = x.new_empty(sum(b), d)
    dist.all_to_all_single(rows, x[order//k], b, a)
    done = [torch.relu(t @ w_in[i % m]) @ w_out[i % m] for i, t in enumerate(rows.split(coming.tolist()))]
    arrived = x.new_empty(len(order), d)
    dist.all_to_all_single(arrived, torch.cat(done), a, b)
    return torch.zeros_like(x).index_add(0, order//k, weights.flatten()[order, None]*arrived)
# %% wrong: sigmoids over their sum
def moe_layer(rank, n, x, router, w_in, w_out, k):
    m, d = len(w_in), x.shape[1]
    logits = x @ router
    chosen = logits.topk(k).indices
    weights = logits.gather(1, chosen).sigmoid()
    weights = weights/weights.sum(1, keepdim=True)
    flat = chosen.flatten()
    order = flat.argsort(stable=True)
    leaving = flat.bincount(minlength=n*m)
    coming = torch.empty_like(leaving)
    dist.all_to_all_single(coming, leaving)
    a, b = leaving.view(n, m).sum(1).tolist(), coming.view(n, m).sum(1).tolist()
    rows = x.new_empty(sum(b), d)
    dist.all_to_all_single(rows, x[order//k], b, a)
    done = [torch.relu(t @ w_in[i % m]) @ w_out[i % m] for i, t in enumerate(rows.split(coming.tolist()))]
    arrived = x.new_empty(len(order), d)
    dist.all_to_all_single(arrived, torch.cat(done), a, b)
    return torch.zeros_like(x).index_add(0, order//k, weights.flatten()[order, None]*arrived)
# %% wrong: the smallest logits
def moe_layer(rank, n, x, router, w_in, w_out, k):
    m, d = len(w_in), x.shape[1]
    logits = x @ router
    chosen = logits.topk(k, largest=False).indices
    weights = logits.gather(1, chosen).softmax(1)
    flat = chosen.flatten()
    order = flat.argsort(stable=True)
    leaving = flat.bincount(minlength=n*m)
    coming = torch.empty_like(leaving)
    dist.all_to_all_single(coming, leaving)
    a, b = leaving.view(n, m).sum(1).tolist(), coming.view(n, m).sum(1).tolist()
    rows = x.new_empty(sum(b), d)
    dist.all_to_all_single(rows, x[order//k], b, a)
    done = [torch.relu(t @ w_in[i % m]) @ w_out[i % m] for i, t in enumerate(rows.split(coming.tolist()))]
    arrived = x.new_empty(len(order), d)
    dist.all_to_all_single(arrived, torch.cat(done), a, b)
    return torch.zeros_like(x).index_add(0, order//k, weights.flatten()[order, None]*arrived)
# %% wrong: the largest logits by their size, whatever the sign
def moe_layer(rank, n, x, router, w_in, w_out, k):
    m, d = len(w_in), x.shape[1]
    logits = x @ router
    chosen = logits.abs().topk(k).indices
    weights = logits.gather(1, chosen).softmax(1)
    flat = chosen.flatten()
    order = flat.argsort(stable=True)
    leaving = flat.bincount(minlength=n*m)
    coming = torch.empty_like(leaving)
    dist.all_to_all_single(coming, leaving)
    a, b = leaving.view(n, m).sum(1).tolist(), coming.view(n, m).sum(1).tolist()
    rows = x.new_empty(sum(b), d)
    dist.all_to_all_single(rows, x[order//k], b, a)
    done = [torch.relu(t @ w_in[i % m]) @ w_out[i % m] for i, t in enumerate(rows.split(coming.tolist()))]
    arrived = x.new_empty(len(order), d)
    dist.all_to_all_single(arrived, torch.cat(done), a, b)
    return torch.zeros_like(x).index_add(0, order//k, weights.flatten()[order, None]*arrived)
# %% wrong: softmax over the tokens
def moe_layer(rank, n, x, router, w_in, w_out, k):
    m, d = len(w_in), x.shape[1]
    logits = x @ router
    chosen = logits.topk(k).indices
    weights = logits.gather(1, chosen).softmax(0)
    flat = chosen.flatten()
    order = flat.argsort(stable=True)
    leaving = flat.bincount(minlength=n*m)
    coming = torch.empty_like(leaving)
    dist.all_to_all_single(coming, leaving)
    a, b = leaving.view(n, m).sum(1).tolist(), coming.view(n, m).sum(1).tolist()
    rows = x.new_empty(sum(b), d)
    dist.all_to_all_single(rows, x[order//k], b, a)
    done = [torch.relu(t @ w_in[i % m]) @ w_out[i % m] for i, t in enumerate(rows.split(coming.tolist()))]
    arrived = x.new_empty(len(order), d)
    dist.all_to_all_single(arrived, torch.cat(done), a, b)
    return torch.zeros_like(x).index_add(0, order//k, weights.flatten()[order, None]*arrived)
# %% wrong: no relu
def moe_layer(rank, n, x, router, w_in, w_out, k):
    m, d = len(w_in), x.shape[1]
    logits = x @ router
    chosen = logits.topk(k).indices
    weights = logits.gather(1, chosen).softmax(1)
    flat = chosen.flatten()
    order = flat.argsort(stable=True)
    leaving = flat.bincount(minlength=n*m)
    coming = torch.empty_like(leaving)
    dist.all_to_all_single(coming, leaving)
    a, b = leaving.view(n, m).sum(1).tolist(), coming.view(n, m).sum(1).tolist()
    rows = x.new_empty(sum(b), d)
    dist.all_to_all_single(rows, x[order//k], b, a)
    done = [(t @ w_in[i % m]) @ w_out[i % m] for i, t in enumerate(rows.split(coming.tolist()))]
    arrived = x.new_empty(len(order), d)
    dist.all_to_all_single(arrived, torch.cat(done), a, b)
    return torch.zeros_like(x).index_add(0, order//k, weights.flatten()[order, None]*arrived)
# %% wrong: relu after the second product too
def moe_layer(rank, n, x, router, w_in, w_out, k):
    m, d = len(w_in), x.shape[1]
    logits = x @ router
    chosen = logits.topk(k).indices
    weights = logits.gather(1, chosen).softmax(1)
    flat = chosen.flatten()
    order = flat.argsort(stable=True)
    leaving = flat.bincount(minlength=n*m)
    coming = torch.empty_like(leaving)
    dist.all_to_all_single(coming, leaving)
    a, b = leaving.view(n, m).sum(1).tolist(), coming.view(n, m).sum(1).tolist()
    rows = x.new_empty(sum(b), d)
    dist.all_to_all_single(rows, x[order//k], b, a)
    done = [torch.relu(torch.relu(t @ w_in[i % m]) @ w_out[i % m]) for i, t in enumerate(rows.split(coming.tolist()))]
    arrived = x.new_empty(len(order), d)
    dist.all_to_all_single(arrived, torch.cat(done), a, b)
    return torch.zeros_like(x).index_add(0, order//k, weights.flatten()[order, None]*arrived)
# %% wrong: results not put back into their order
def moe_layer(rank, n, x, router, w_in, w_out, k):
    m, d = len(w_in), x.shape[1]
    logits = x @ router
    chosen = logits.topk(k).indices
    weights = logits.gather(1, chosen).softmax(1)
    flat = chosen.flatten()
    order = flat.argsort(stable=True)
    leaving = flat.bincount(minlength=n*m)
    coming = torch.empty_like(leaving)
    dist.all_to_all_single(coming, leaving)
    a, b = leaving.view(n, m).sum(1).tolist(), coming.view(n, m).sum(1).tolist()
    rows = x.new_empty(sum(b), d)
    dist.all_to_all_single(rows, x[order//k], b, a)
    done = [torch.relu(t @ w_in[i % m]) @ w_out[i % m] for i, t in enumerate(rows.split(coming.tolist()))]
    arrived = x.new_empty(len(order), d)
    dist.all_to_all_single(arrived, torch.cat(done), a, b)
    return torch.zeros_like(x).index_add(0, torch.arange(len(order))//k, weights.flatten()[:, None]*arrived)
# %% wrong: weights in the order of tokens, results in that of experts
def moe_layer(rank, n, x, router, w_in, w_out, k):
    m, d = len(w_in), x.shape[1]
    logits = x @ router
    chosen = logits.topk(k).indices
    weights = logits.gather(1, chosen).softmax(1)
    flat = chosen.flatten()
    order = flat.argsort(stable=True)
    leaving = flat.bincount(minlength=n*m)
    coming = torch.empty_like(leaving)
    dist.all_to_all_single(coming, leaving)
    a, b = leaving.view(n, m).sum(1).tolist(), coming.view(n, m).sum(1).tolist()
    rows = x.new_empty(sum(b), d)
    dist.all_to_all_single(rows, x[order//k], b, a)
    done = [torch.relu(t @ w_in[i % m]) @ w_out[i % m] for i, t in enumerate(rows.split(coming.tolist()))]
    arrived = x.new_empty(len(order), d)
    dist.all_to_all_single(arrived, torch.cat(done), a, b)
    return torch.zeros_like(x).index_add(0, order//k, weights.flatten()[:, None]*arrived)
# %% wrong: tokens as if one for each copy, order % T
def moe_layer(rank, n, x, router, w_in, w_out, k):
    m, d = len(w_in), x.shape[1]
    logits = x @ router
    chosen = logits.topk(k).indices
    weights = logits.gather(1, chosen).softmax(1)
    flat = chosen.flatten()
    order = flat.argsort(stable=True)
    leaving = flat.bincount(minlength=n*m)
    coming = torch.empty_like(leaving)
    dist.all_to_all_single(coming, leaving)
    a, b = leaving.view(n, m).sum(1).tolist(), coming.view(n, m).sum(1).tolist()
    rows = x.new_empty(sum(b), d)
    dist.all_to_all_single(rows, x[order % len(x)], b, a)
    done = [torch.relu(t @ w_in[i % m]) @ w_out[i % m] for i, t in enumerate(rows.split(coming.tolist()))]
    arrived = x.new_empty(len(order), d)
    dist.all_to_all_single(arrived, torch.cat(done), a, b)
    return torch.zeros_like(x).index_add(0, order//k, weights.flatten()[order, None]*arrived)
# %% wrong: experts dealt out in turn, e % n
def moe_layer(rank, n, x, router, w_in, w_out, k):
    m, d = len(w_in), x.shape[1]
    logits = x @ router
    chosen = logits.topk(k).indices
    weights = logits.gather(1, chosen).softmax(1)
    flat = (chosen % n*m + chosen//n).flatten()
    order = flat.argsort(stable=True)
    leaving = flat.bincount(minlength=n*m)
    coming = torch.empty_like(leaving)
    dist.all_to_all_single(coming, leaving)
    a, b = leaving.view(n, m).sum(1).tolist(), coming.view(n, m).sum(1).tolist()
    rows = x.new_empty(sum(b), d)
    dist.all_to_all_single(rows, x[order//k], b, a)
    done = [torch.relu(t @ w_in[i % m]) @ w_out[i % m] for i, t in enumerate(rows.split(coming.tolist()))]
    arrived = x.new_empty(len(order), d)
    dist.all_to_all_single(arrived, torch.cat(done), a, b)
    return torch.zeros_like(x).index_add(0, order//k, weights.flatten()[order, None]*arrived)
# %% wrong: counts are not exchanged: as many rows come as leave
def moe_layer(rank, n, x, router, w_in, w_out, k):
    m, d = len(w_in), x.shape[1]
    logits = x @ router
    chosen = logits.topk(k).indices
    weights = logits.gather(1, chosen).softmax(1)
    flat = chosen.flatten()
    order = flat.argsort(stable=True)
    leaving = flat.bincount(minlength=n*m)
    coming = leaving
    a, b = leaving.view(n, m).sum(1).tolist(), coming.view(n, m).sum(1).tolist()
    rows = x.new_empty(sum(b), d)
    dist.all_to_all_single(rows, x[order//k], b, a)
    done = [torch.relu(t @ w_in[i % m]) @ w_out[i % m] for i, t in enumerate(rows.split(coming.tolist()))]
    arrived = x.new_empty(len(order), d)
    dist.all_to_all_single(arrived, torch.cat(done), a, b)
    return torch.zeros_like(x).index_add(0, order//k, weights.flatten()[order, None]*arrived)
# %% wrong: counts by rank only, all rows to the first expert
def moe_layer(rank, n, x, router, w_in, w_out, k):
    m, d = len(w_in), x.shape[1]
    logits = x @ router
    chosen = logits.topk(k).indices
    weights = logits.gather(1, chosen).softmax(1)
    flat = chosen.flatten()
    order = flat.argsort(stable=True)
    leaving = flat.bincount(minlength=n*m)
    coming = torch.empty_like(leaving)
    dist.all_to_all_single(coming, leaving)
    a, b = leaving.view(n, m).sum(1).tolist(), coming.view(n, m).sum(1).tolist()
    rows = x.new_empty(sum(b), d)
    dist.all_to_all_single(rows, x[order//k], b, a)
    first = sum(([c] + [0]*(m - 1) for c in b), [])
    done = [torch.relu(t @ w_in[i % m]) @ w_out[i % m] for i, t in enumerate(rows.split(first))]
    arrived = x.new_empty(len(order), d)
    dist.all_to_all_single(arrived, torch.cat(done), a, b)
    return torch.zeros_like(x).index_add(0, order//k, weights.flatten()[order, None]*arrived)
# %% wrong: the lists of sizes do not change places on the way back
def moe_layer(rank, n, x, router, w_in, w_out, k):
    m, d = len(w_in), x.shape[1]
    logits = x @ router
    chosen = logits.topk(k).indices
    weights = logits.gather(1, chosen).softmax(1)
    flat = chosen.flatten()
    order = flat.argsort(stable=True)
    leaving = flat.bincount(minlength=n*m)
    coming = torch.empty_like(leaving)
    dist.all_to_all_single(coming, leaving)
    a, b = leaving.view(n, m).sum(1).tolist(), coming.view(n, m).sum(1).tolist()
    rows = x.new_empty(sum(b), d)
    dist.all_to_all_single(rows, x[order//k], b, a)
    done = [torch.relu(t @ w_in[i % m]) @ w_out[i % m] for i, t in enumerate(rows.split(coming.tolist()))]
    arrived = x.new_empty(len(order), d)
    dist.all_to_all_single(arrived, torch.cat(done), b, a)
    return torch.zeros_like(x).index_add(0, order//k, weights.flatten()[order, None]*arrived)
# %% wrong: a capacity of 1.25 of the mean, what is beyond is dropped
def moe_layer(rank, n, x, router, w_in, w_out, k):
    m, d = len(w_in), x.shape[1]
    logits = x @ router
    chosen = logits.topk(k).indices
    weights = logits.gather(1, chosen).softmax(1)
    flat = chosen.flatten()
    order = flat.argsort(stable=True)
    leaving = flat.bincount(minlength=n*m)
    coming = torch.empty_like(leaving)
    dist.all_to_all_single(coming, leaving)
    a, b = leaving.view(n, m).sum(1).tolist(), coming.view(n, m).sum(1).tolist()
    rows = x.new_empty(sum(b), d)
    dist.all_to_all_single(rows, x[order//k], b, a)
    done = [torch.relu(t @ w_in[i % m]) @ w_out[i % m] for i, t in enumerate(rows.split(coming.tolist()))]
    arrived = x.new_empty(len(order), d)
    dist.all_to_all_single(arrived, torch.cat(done), a, b)
    place = torch.arange(len(order)) - (leaving.cumsum(0) - leaving)[flat[order]]
    arrived[place >= 1.25*len(order)/(n*m)] = 0
    return torch.zeros_like(x).index_add(0, order//k, weights.flatten()[order, None]*arrived)
# %% wrong: dropped from the weights: only experts of other ranks
def moe_layer(rank, n, x, router, w_in, w_out, k):
    m, d = len(w_in), x.shape[1]
    logits = x @ router
    chosen = logits.topk(k).indices
    weights = logits.gather(1, chosen).softmax(1)
    flat = chosen.flatten()
    order = flat.argsort(stable=True)
    leaving = flat.bincount(minlength=n*m)
    coming = torch.empty_like(leaving)
    dist.all_to_all_single(coming, leaving)
    a, b = leaving.view(n, m).sum(1).tolist(), coming.view(n, m).sum(1).tolist()
    rows = x.new_empty(sum(b), d)
    dist.all_to_all_single(rows, x[order//k], b, a)
    done = [torch.relu(t @ w_in[i % m]) @ w_out[i % m] for i, t in enumerate(rows.split(coming.tolist()))]
    arrived = x.new_empty(len(order), d)
    dist.all_to_all_single(arrived, torch.cat(done), a, b)
    arrived[flat[order]//m == rank] = 0
    return torch.zeros_like(x).index_add(0, order//k, weights.flatten()[order, None]*arrived)
# %% wrong: the token is added, a residual
def moe_layer(rank, n, x, router, w_in, w_out, k):
    m, d = len(w_in), x.shape[1]
    logits = x @ router
    chosen = logits.topk(k).indices
    weights = logits.gather(1, chosen).softmax(1)
    flat = chosen.flatten()
    order = flat.argsort(stable=True)
    leaving = flat.bincount(minlength=n*m)
    coming = torch.empty_like(leaving)
    dist.all_to_all_single(coming, leaving)
    a, b = leaving.view(n, m).sum(1).tolist(), coming.view(n, m).sum(1).tolist()
    rows = x.new_empty(sum(b), d)
    dist.all_to_all_single(rows, x[order//k], b, a)
    done = [torch.relu(t @ w_in[i % m]) @ w_out[i % m] for i, t in enumerate(rows.split(coming.tolist()))]
    arrived = x.new_empty(len(order), d)
    dist.all_to_all_single(arrived, torch.cat(done), a, b)
    return x.index_add(0, order//k, weights.flatten()[order, None]*arrived)
# %% wrong: one expert only, the best
def moe_layer(rank, n, x, router, w_in, w_out, k):
    m, d = len(w_in), x.shape[1]
    logits = x @ router
    chosen = logits.topk(k).indices
    weights = logits.gather(1, chosen).softmax(1)
    flat = chosen.flatten()
    order = flat.argsort(stable=True)
    leaving = flat.bincount(minlength=n*m)
    coming = torch.empty_like(leaving)
    dist.all_to_all_single(coming, leaving)
    a, b = leaving.view(n, m).sum(1).tolist(), coming.view(n, m).sum(1).tolist()
    rows = x.new_empty(sum(b), d)
    dist.all_to_all_single(rows, x[order//k], b, a)
    done = [torch.relu(t @ w_in[i % m]) @ w_out[i % m] for i, t in enumerate(rows.split(coming.tolist()))]
    arrived = x.new_empty(len(order), d)
    dist.all_to_all_single(arrived, torch.cat(done), a, b)
    return torch.zeros_like(x).index_add(0, order//k, (weights*(torch.arange(k) == 0)).flatten()[order, None]*arrived)
# %% wrong: every rank gathers all tokens
def moe_layer(rank, n, x, router, w_in, w_out, k):
    m, d = len(w_in), x.shape[1]
    most = torch.zeros(n, dtype=torch.int64)
    dist.all_gather_into_tensor(most, torch.tensor([len(x)]))
    room = int(most.max())
    mine = x.new_zeros(room, d)
    mine[:len(x)] = x
    everything = x.new_zeros(n*room, d)
    dist.all_gather_into_tensor(everything, mine)
    logits = everything @ router
    best, chosen = logits.topk(k)
    gate = torch.zeros_like(logits).scatter(1, chosen, best.softmax(1))
    part = torch.zeros_like(everything)
    for e in range(m):
        part += gate[:, rank*m + e, None]*(torch.relu(everything @ w_in[e]) @ w_out[e])
    got = torch.empty_like(part)
    dist.all_to_all_single(got, part)
    return got.view(n, room, d).sum(0)[:len(x)]
# %% wrong: the weights of all experts are gathered, no token travels
def moe_layer(rank, n, x, router, w_in, w_out, k):
    first = [torch.empty_like(w_in) for _ in range(n)]
    second = [torch.empty_like(w_out) for _ in range(n)]
    dist.all_gather(first, w_in.contiguous())
    dist.all_gather(second, w_out.contiguous())
    first, second = torch.cat(first), torch.cat(second)
    best, chosen = (x @ router).topk(k)
    weights, y = best.softmax(1), torch.zeros_like(x)
    for e in range(len(first)):
        t, s = (chosen == e).nonzero(as_tuple=True)
        y.index_add_(0, t, weights[t, s, None]*(torch.relu(x[t] @ first[e]) @ second[e]))
    return y
# %% wrong: blocks padded to a size that always suffices
def moe_layer(rank, n, x, router, w_in, w_out, k):
    m, d = len(w_in), x.shape[1]
    sizes = torch.zeros(n, dtype=torch.int64)
    dist.all_gather_into_tensor(sizes, torch.tensor([len(x)]))
    room = int(sizes.max())
    best, chosen = (x @ router).topk(k)
    gate = torch.zeros(len(x), n*m, dtype=x.dtype).scatter(1, chosen, best.softmax(1))
    send = x.new_zeros(n*m, room, d)
    for e in range(n*m):
        send[e, :len(x)] = x*(gate[:, e, None] != 0)
    got = torch.empty_like(send)
    dist.all_to_all_single(got, send)
    for i in range(n*m):
        got[i] = torch.relu(got[i] @ w_in[i % m]) @ w_out[i % m]
    back = torch.empty_like(got)
    dist.all_to_all_single(back, got)
    return sum(gate[:, e, None]*back[e, :len(x)] for e in range(n*m))
# %% wrong: an exchange for each of the k choices
def moe_layer(rank, n, x, router, w_in, w_out, k):
    m, d = len(w_in), x.shape[1]
    best, chosen = (x @ router).topk(k)
    weights, y = best.softmax(1), torch.zeros_like(x)
    for j in range(k):
        order = chosen[:, j].argsort(stable=True)
        leaving = chosen[:, j].bincount(minlength=n*m)
        coming = torch.empty_like(leaving)
        dist.all_to_all_single(coming, leaving)
        a, b = leaving.view(n, m).sum(1).tolist(), coming.view(n, m).sum(1).tolist()
        rows = x.new_empty(sum(b), d)
        dist.all_to_all_single(rows, x[order], b, a)
        done = [torch.relu(t @ w_in[i % m]) @ w_out[i % m] for i, t in enumerate(rows.split(coming.tolist()))]
        back = x.new_empty(len(x), d)
        dist.all_to_all_single(back, torch.cat(done), a, b)
        y.index_add_(0, order, weights[order, j, None]*back)
    return y
# %% wrong: with the helper that is not for use
def moe_layer(rank, n, x, router, w_in, w_out, k):
    from hwlib.labs import exchange_rows
    m = len(w_in)
    best, chosen = (x @ router).topk(k)
    flat = chosen.flatten()
    rows, back = exchange_rows(torch.cat((x.repeat_interleave(k, 0), (flat % m)[:, None].to(x)), 1), flat//m)
    done = torch.zeros_like(rows[:, :-1])
    for e in range(m):
        at = rows[:, -1].round() == e
        done[at] = torch.relu(rows[at, :-1] @ w_in[e]) @ w_out[e]
    return (back(done).view(len(x), k, -1)*best.softmax(1)[..., None]).sum(1)
# %% wrong: the rank's own experts alone, nothing is sent
def moe_layer(rank, n, x, router, w_in, w_out, k):
    m = len(w_in)
    best, chosen = (x @ router[:, rank*m:(rank + 1)*m]).topk(min(k, m))
    weights, y = best.softmax(1), torch.zeros_like(x)
    for e in range(m):
        t, s = (chosen == e).nonzero(as_tuple=True)
        y.index_add_(0, t, weights[t, s, None]*(torch.relu(x[t] @ w_in[e]) @ w_out[e]))
    return y
