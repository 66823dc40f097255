# %% right: masks, gates of a node in the row
def node_layer(rank, n, x, scores, w, k, n_lim, inner):
    T, d = x.shape
    m, nodes, E = len(w), n//inner, scores.shape[1]
    by_node = scores.view(T, nodes, -1)
    near = by_node.topk(k//n_lim, dim=2).values.sum(2).topk(n_lim, dim=1).indices
    open_to = torch.zeros(T, nodes, dtype=torch.bool).scatter(1, near, True)
    masked = (by_node*open_to[..., None]).view(T, E)
    best, chosen = masked.topk(k, dim=1)
    gates = torch.zeros_like(scores).scatter(1, chosen, best/best.sum(1, keepdim=True))
    token, node = gates.view(T, nodes, -1).any(2).nonzero(as_tuple=True)
    block = gates.view(T, nodes, -1)[token, node]
    rows, back = exchange_rows(torch.cat((x[token], block), 1), node*inner + rank % inner)
    row, place = rows[:, d:].view(-1, inner, m).any(2).nonzero(as_tuple=True)
    here = torch.cat((rows[row, :d], rows[:, d:].view(-1, inner, m)[row, place]), 1)
    parts, home = exchange_rows(here, rank - rank % inner + place)
    done = torch.zeros(len(parts), d, dtype=x.dtype)
    for e in range(m):
        at = parts[:, d + e] != 0
        done[at] += parts[at, d + e, None]*torch.tanh(parts[at, :d] @ w[e])
    merged = torch.zeros(len(rows), d, dtype=x.dtype).index_add(0, row, home(done))
    return torch.zeros_like(x).index_add(0, token, back(merged))
# %% right: token by token in lists, the weights in an exchange of their own
def node_layer(rank, n, x, scores, w, k, n_lim, inner):
    T, d = x.shape
    m = len(w)
    each = m*inner
    token, to, gate = [], [], []
    for t in range(T):
        s = scores[t].tolist()
        def value(node):
            return sum(sorted(s[node*each:(node + 1)*each], reverse=True)[:k//n_lim])
        nodes = sorted(range(n//inner), key=value, reverse=True)[:n_lim]
        pool = [e for node in nodes for e in range(node*each, (node + 1)*each)]
        pool = sorted(pool, key=lambda e: s[e], reverse=True)[:k]
        total = sum(s[e] for e in pool)
        for node in sorted({e//each for e in pool}):
            token.append(t)
            to.append(node*inner + rank % inner)
            gate.append([s[e]/total if e in pool else 0.0 for e in range(node*each, (node + 1)*each)])
    token, to = torch.tensor(token, dtype=torch.int64), torch.tensor(to, dtype=torch.int64)
    gate = torch.tensor(gate, dtype=x.dtype).view(-1, each)
    rows, back = exchange_rows(x[token], to)
    gates, _ = exchange_rows(gate, to)
    first = rank//inner*inner
    index, place = [], []
    for i, line in enumerate(gates.tolist()):
        for j in range(inner):
            if any(line[j*m:(j + 1)*m]):
                index.append(i)
                place.append(j)
    index, place = torch.tensor(index, dtype=torch.int64), torch.tensor(place, dtype=torch.int64)
    some, home = exchange_rows(rows[index], first + place)
    their, _ = exchange_rows(gates.view(-1, inner, m)[index, place], first + place)
    result = torch.zeros_like(some)
    for e in range(m):
        use = their[:, e].nonzero().flatten()
        result[use] = result[use] + their[use, e, None]*torch.tanh(some[use] @ w[e])
    total = torch.zeros_like(rows).index_add(0, index, home(result))
    return torch.zeros_like(x).index_add(0, token, back(total))
# %% right: groups of their own, across the nodes and inside
def node_layer(rank, n, x, scores, w, k, n_lim, inner):
    nodes, m, d = n//inner, len(w), x.shape[1]
    rails = [dist.new_group(list(range(i, n, inner))) for i in range(inner)]
    houses = [dist.new_group(list(range(i*inner, (i + 1)*inner))) for i in range(nodes)]
    rail, house = rails[rank % inner], houses[rank//inner]
    cut = torch.stack(scores.chunk(nodes, dim=1), 1)
    value = cut.sort(dim=2, descending=True).values[:, :, :k//n_lim].sum(2)
    allowed = value.argsort(1, descending=True).argsort(1) < n_lim
    free = torch.where(allowed[:, :, None], cut, torch.zeros_like(cut)).flatten(1)
    last = free.topk(k, 1).values[:, -1:]
    gates = torch.where(free >= last, free, torch.zeros_like(free))
    gates = (gates/gates.sum(1, keepdim=True)).view(len(x), nodes, inner*m)
    token, node = (gates > 0).any(2).nonzero(as_tuple=True)
    rows, back = exchange_rows(torch.hstack((x[token], gates[token, node])), node, group=rail)
    t, g = rows.split([d, inner*m], 1)
    g = g.reshape(-1, inner, m)
    row, place = (g > 0).any(2).nonzero(as_tuple=True)
    got, home = exchange_rows(torch.hstack((t[row], g[row, place])), place, group=house)
    y = sum(got[:, d + e:d + e + 1]*torch.tanh(got[:, :d] @ w[e]) for e in range(m))
    merged = torch.zeros_like(t).index_add_(0, row, home(y))
    return torch.zeros_like(x).index_add_(0, token, back(merged))
# %% right: copies of the own node do not take the first way
def node_layer(rank, n, x, scores, w, k, n_lim, inner):
    T, d = x.shape
    m, nodes, mine = len(w), n//inner, rank//inner
    cut = scores.view(T, nodes, inner*m)
    sums = cut.topk(k//n_lim, 2)[0].sum(2)
    gates = torch.zeros(T, nodes*inner*m, dtype=x.dtype)
    bar = sums.topk(n_lim, 1)[0][:, -1:]
    pool = scores.masked_fill((sums < bar).repeat_interleave(inner*m, 1), -1)
    value, index = pool.topk(k, 1)
    gates.scatter_(1, index, value/value.sum(1, keepdim=True))
    gates = gates.view(T, nodes, inner*m)
    need = gates.ne(0).any(2)
    own = need[:, mine].nonzero().flatten()
    need[:, mine] = False
    token, node = need.nonzero(as_tuple=True)
    came, back = exchange_rows(torch.cat([x[token], gates[token, node]], 1), node*inner + rank % inner)
    rows = torch.cat([torch.cat([x[own], gates[own, mine]], 1), came])
    g = rows[:, d:].reshape(len(rows), inner, m)
    row, place = g.ne(0).any(2).nonzero(as_tuple=True)
    here, home = exchange_rows(torch.cat([rows[row, :d], g[row, place]], 1), mine*inner + place)
    y = torch.einsum("tef,te->tf", torch.tanh(torch.einsum("td,edf->tef", here[:, :d], w)), here[:, d:])
    merged = torch.zeros(len(rows), d, dtype=x.dtype).index_add(0, row, home(y))
    out = torch.zeros_like(x).index_add(0, own, merged[:len(own)])
    return out.index_add(0, token, back(merged[len(own):]))
# %% right: with all_to_all_single of one's own, no helper
def node_layer(rank, n, x, scores, w, k, n_lim, inner):
    T, d = x.shape
    m, nodes = len(w), n//inner
    def travel(rows, to):
        order = to.argsort(stable=True)
        sizes = torch.tensor([int((to == r).sum()) for r in range(n)])
        sizes_in = torch.zeros_like(sizes)
        dist.all_to_all_single(sizes_in, sizes)
        a, b = sizes.tolist(), sizes_in.tolist()
        got = rows.new_zeros(sum(b), rows.shape[1])
        dist.all_to_all_single(got, rows[order].contiguous(), b, a)
        def home(y):
            z = y.new_zeros(len(order), y.shape[1])
            dist.all_to_all_single(z, y.contiguous(), a, b)
            return z[order.argsort()]
        return got, home
    cut = scores.reshape(T, nodes, -1)
    chosen_nodes = cut.topk(k//n_lim).values.sum(-1).topk(n_lim).indices
    keep = torch.nn.functional.one_hot(chosen_nodes, nodes).sum(1)
    value, index = (cut*keep[:, :, None].to(x.dtype)).flatten(1).topk(k)
    gates = torch.zeros(T, n*m, dtype=x.dtype).scatter_add(1, index, value/value.sum(1, True)).view(T, nodes, -1)
    token, node = gates.abs().amax(2).nonzero(as_tuple=True)
    rows, back = travel(torch.cat((x[token], gates[token, node]), 1), node*inner + rank % inner)
    sums = torch.zeros(len(rows), d, dtype=x.dtype)
    row, place = rows[:, d:].reshape(-1, inner, m).amax(2).nonzero(as_tuple=True)
    columns = place[:, None]*m + torch.arange(m)
    there = torch.cat((rows[row, :d],
                       rows[row[:, None], d + columns]), 1)
    came, home = travel(there, rank//inner*inner + place)
    result = came.new_zeros(len(came), d)
    for e in range(m):
        result += came[:, d + e].unsqueeze(1)*(came[:, :d] @ w[e]).tanh()
    sums.index_add_(0, row, home(result))
    y = torch.zeros(T, d, dtype=x.dtype)
    y.index_add_(0, token, back(sums))
    return y
# %% right: unweighted way there, each expert's own results weighted by a product of matrices
def node_layer(rank, n, x, scores, w, k, n_lim, inner):
    T, d = x.shape
    m = len(w)
    house, seat = divmod(rank, inner)
    cut = scores.unflatten(1, (n//inner, inner*m))
    limit = cut.topk(k//n_lim, dim=-1).values.sum(-1).sort(descending=True).values[:, n_lim - 1:n_lim]
    inside = cut.topk(k//n_lim, dim=-1).values.sum(-1) >= limit
    pool = cut.where(inside[..., None], cut.new_tensor(0.0)).flatten(1)
    top = pool.sort(dim=1, descending=True)
    gates = torch.zeros_like(pool)
    gates[torch.arange(T)[:, None], top.indices[:, :k]] = top.values[:, :k]
    gates = torch.nn.functional.normalize(gates, p=1, dim=1).unflatten(1, (n//inner, inner*m))
    where = torch.nonzero(gates.sum(2) > 0)
    packed_rows = torch.cat([x.index_select(0, where[:, 0]), gates[where[:, 0], where[:, 1]]], dim=-1)
    rows, back = exchange_rows(packed_rows, where[:, 1]*inner + seat)
    split = rows[:, d:].unflatten(1, (inner, m))
    pairs = torch.nonzero(split.sum(2) > 0)
    got, home = exchange_rows(torch.cat([rows[pairs[:, 0], :d], split[pairs[:, 0], pairs[:, 1]]], -1),
                              house*inner + pairs[:, 1])
    results = torch.tanh(torch.matmul(got[None, :, :d], w)).transpose(0, 1)      # rows, experts, d
    mixed = torch.bmm(got[:, None, d:], results)[:, 0]
    back_here = home(mixed)
    merged = torch.zeros_like(rows[:, :d])
    merged.index_put_((pairs[:, 0],), back_here, accumulate=True)
    out = torch.zeros_like(x)
    out.index_put_((where[:, 0],), back(merged), accumulate=True)
    return out
# %% wrong: nodes by their best single score
def node_layer(rank, n, x, scores, w, k, n_lim, inner):
    T, d = x.shape
    m, nodes, E = len(w), n//inner, scores.shape[1]
    by_node = scores.view(T, nodes, -1)
    near = by_node.amax(2).topk(n_lim, dim=1).indices
    open_to = torch.zeros(T, nodes, dtype=torch.bool).scatter(1, near, True)
    masked = (by_node*open_to[..., None]).view(T, E)
    best, chosen = masked.topk(k, dim=1)
    gates = torch.zeros_like(scores).scatter(1, chosen, best/best.sum(1, keepdim=True))
    token, node = gates.view(T, nodes, -1).any(2).nonzero(as_tuple=True)
    block = gates.view(T, nodes, -1)[token, node]
    rows, back = exchange_rows(torch.cat((x[token], block), 1), node*inner + rank % inner)
    row, place = rows[:, d:].view(-1, inner, m).any(2).nonzero(as_tuple=True)
    here = torch.cat((rows[row, :d], rows[:, d:].view(-1, inner, m)[row, place]), 1)
    parts, home = exchange_rows(here, rank - rank % inner + place)
    done = torch.zeros(len(parts), d, dtype=x.dtype)
    for e in range(m):
        at = parts[:, d + e] != 0
        done[at] += parts[at, d + e, None]*torch.tanh(parts[at, :d] @ w[e])
    merged = torch.zeros(len(rows), d, dtype=x.dtype).index_add(0, row, home(done))
    return torch.zeros_like(x).index_add(0, token, back(merged))
# %% wrong: nodes by the sum of all their scores
def node_layer(rank, n, x, scores, w, k, n_lim, inner):
    T, d = x.shape
    m, nodes, E = len(w), n//inner, scores.shape[1]
    by_node = scores.view(T, nodes, -1)
    near = by_node.sum(2).topk(n_lim, dim=1).indices
    open_to = torch.zeros(T, nodes, dtype=torch.bool).scatter(1, near, True)
    masked = (by_node*open_to[..., None]).view(T, E)
    best, chosen = masked.topk(k, dim=1)
    gates = torch.zeros_like(scores).scatter(1, chosen, best/best.sum(1, keepdim=True))
    token, node = gates.view(T, nodes, -1).any(2).nonzero(as_tuple=True)
    block = gates.view(T, nodes, -1)[token, node]
    rows, back = exchange_rows(torch.cat((x[token], block), 1), node*inner + rank % inner)
    row, place = rows[:, d:].view(-1, inner, m).any(2).nonzero(as_tuple=True)
    here = torch.cat((rows[row, :d], rows[:, d:].view(-1, inner, m)[row, place]), 1)
    parts, home = exchange_rows(here, rank - rank % inner + place)
    done = torch.zeros(len(parts), d, dtype=x.dtype)
    for e in range(m):
        at = parts[:, d + e] != 0
        done[at] += parts[at, d + e, None]*torch.tanh(parts[at, :d] @ w[e])
    merged = torch.zeros(len(rows), d, dtype=x.dtype).index_add(0, row, home(done))
    return torch.zeros_like(x).index_add(0, token, back(merged))
# %% wrong: nodes by the sum of their k best scores
def node_layer(rank, n, x, scores, w, k, n_lim, inner):
    T, d = x.shape
    m, nodes, E = len(w), n//inner, scores.shape[1]
    by_node = scores.view(T, nodes, -1)
    near = by_node.topk(min(k, by_node.shape[2]), dim=2).values.sum(2).topk(n_lim, dim=1).indices
    open_to = torch.zeros(T, nodes, dtype=torch.bool).scatter(1, near, True)
    masked = (by_node*open_to[..., None]).view(T, E)
    best, chosen = masked.topk(k, dim=1)
    gates = torch.zeros_like(scores).scatter(1, chosen, best/best.sum(1, keepdim=True))
    token, node = gates.view(T, nodes, -1).any(2).nonzero(as_tuple=True)
    block = gates.view(T, nodes, -1)[token, node]
    rows, back = exchange_rows(torch.cat((x[token], block), 1), node*inner + rank % inner)
    row, place = rows[:, d:].view(-1, inner, m).any(2).nonzero(as_tuple=True)
    here = torch.cat((rows[row, :d], rows[:, d:].view(-1, inner, m)[row, place]), 1)
    parts, home = exchange_rows(here, rank - rank % inner + place)
    done = torch.zeros(len(parts), d, dtype=x.dtype)
    for e in range(m):
        at = parts[:, d + e] != 0
        done[at] += parts[at, d + e, None]*torch.tanh(parts[at, :d] @ w[e])
    merged = torch.zeros(len(rows), d, dtype=x.dtype).index_add(0, row, home(done))
    return torch.zeros_like(x).index_add(0, token, back(merged))
# %% wrong: no limit of nodes
def node_layer(rank, n, x, scores, w, k, n_lim, inner):
    T, d = x.shape
    m, nodes, E = len(w), n//inner, scores.shape[1]
    by_node = scores.view(T, nodes, -1)
    near = by_node.topk(k//n_lim, dim=2).values.sum(2).topk(n_lim, dim=1).indices
    open_to = torch.zeros(T, nodes, dtype=torch.bool).scatter(1, near, True)
    masked = scores
    best, chosen = masked.topk(k, dim=1)
    gates = torch.zeros_like(scores).scatter(1, chosen, best/best.sum(1, keepdim=True))
    token, node = gates.view(T, nodes, -1).any(2).nonzero(as_tuple=True)
    block = gates.view(T, nodes, -1)[token, node]
    rows, back = exchange_rows(torch.cat((x[token], block), 1), node*inner + rank % inner)
    row, place = rows[:, d:].view(-1, inner, m).any(2).nonzero(as_tuple=True)
    here = torch.cat((rows[row, :d], rows[:, d:].view(-1, inner, m)[row, place]), 1)
    parts, home = exchange_rows(here, rank - rank % inner + place)
    done = torch.zeros(len(parts), d, dtype=x.dtype)
    for e in range(m):
        at = parts[:, d + e] != 0
        done[at] += parts[at, d + e, None]*torch.tanh(parts[at, :d] @ w[e])
    merged = torch.zeros(len(rows), d, dtype=x.dtype).index_add(0, row, home(done))
    return torch.zeros_like(x).index_add(0, token, back(merged))
# %% wrong: the limit is one node more
def node_layer(rank, n, x, scores, w, k, n_lim, inner):
    T, d = x.shape
    m, nodes, E = len(w), n//inner, scores.shape[1]
    by_node = scores.view(T, nodes, -1)
    near = by_node.topk(k//n_lim, dim=2).values.sum(2).topk(min(n_lim + 1, nodes), dim=1).indices
    open_to = torch.zeros(T, nodes, dtype=torch.bool).scatter(1, near, True)
    masked = (by_node*open_to[..., None]).view(T, E)
    best, chosen = masked.topk(k, dim=1)
    gates = torch.zeros_like(scores).scatter(1, chosen, best/best.sum(1, keepdim=True))
    token, node = gates.view(T, nodes, -1).any(2).nonzero(as_tuple=True)
    block = gates.view(T, nodes, -1)[token, node]
    rows, back = exchange_rows(torch.cat((x[token], block), 1), node*inner + rank % inner)
    row, place = rows[:, d:].view(-1, inner, m).any(2).nonzero(as_tuple=True)
    here = torch.cat((rows[row, :d], rows[:, d:].view(-1, inner, m)[row, place]), 1)
    parts, home = exchange_rows(here, rank - rank % inner + place)
    done = torch.zeros(len(parts), d, dtype=x.dtype)
    for e in range(m):
        at = parts[:, d + e] != 0
        done[at] += parts[at, d + e, None]*torch.tanh(parts[at, :d] @ w[e])
    merged = torch.zeros(len(rows), d, dtype=x.dtype).index_add(0, row, home(done))
    return torch.zeros_like(x).index_add(0, token, back(merged))
# %% wrong: k/n_lim experts from each of the nodes
def node_layer(rank, n, x, scores, w, k, n_lim, inner):
    T, d = x.shape
    m, nodes, E = len(w), n//inner, scores.shape[1]
    by_node = scores.view(T, nodes, -1)
    near = by_node.topk(k//n_lim, dim=2).values.sum(2).topk(n_lim, dim=1).indices
    open_to = torch.zeros(T, nodes, dtype=torch.bool).scatter(1, near, True)
    masked = (by_node*open_to[..., None]).view(T, E)
    cut = masked.view(T, nodes, -1).topk(k//n_lim, dim=2)
    found = (cut.indices + torch.arange(nodes)[:, None]*by_node.shape[2]).flatten(1)
    pick = cut.values.flatten(1).topk(k//n_lim*n_lim, dim=1)
    best, chosen = pick.values, found.gather(1, pick.indices)
    gates = torch.zeros_like(scores).scatter(1, chosen, best/best.sum(1, keepdim=True))
    token, node = gates.view(T, nodes, -1).any(2).nonzero(as_tuple=True)
    block = gates.view(T, nodes, -1)[token, node]
    rows, back = exchange_rows(torch.cat((x[token], block), 1), node*inner + rank % inner)
    row, place = rows[:, d:].view(-1, inner, m).any(2).nonzero(as_tuple=True)
    here = torch.cat((rows[row, :d], rows[:, d:].view(-1, inner, m)[row, place]), 1)
    parts, home = exchange_rows(here, rank - rank % inner + place)
    done = torch.zeros(len(parts), d, dtype=x.dtype)
    for e in range(m):
        at = parts[:, d + e] != 0
        done[at] += parts[at, d + e, None]*torch.tanh(parts[at, :d] @ w[e])
    merged = torch.zeros(len(rows), d, dtype=x.dtype).index_add(0, row, home(done))
    return torch.zeros_like(x).index_add(0, token, back(merged))
# %% wrong: weights by softmax
def node_layer(rank, n, x, scores, w, k, n_lim, inner):
    T, d = x.shape
    m, nodes, E = len(w), n//inner, scores.shape[1]
    by_node = scores.view(T, nodes, -1)
    near = by_node.topk(k//n_lim, dim=2).values.sum(2).topk(n_lim, dim=1).indices
    open_to = torch.zeros(T, nodes, dtype=torch.bool).scatter(1, near, True)
    masked = (by_node*open_to[..., None]).view(T, E)
    best, chosen = masked.topk(k, dim=1)
    gates = torch.zeros_like(scores).scatter(1, chosen, best.softmax(1))
    token, node = gates.view(T, nodes, -1).any(2).nonzero(as_tuple=True)
    block = gates.view(T, nodes, -1)[token, node]
    rows, back = exchange_rows(torch.cat((x[token], block), 1), node*inner + rank % inner)
    row, place = rows[:, d:].view(-1, inner, m).any(2).nonzero(as_tuple=True)
    here = torch.cat((rows[row, :d], rows[:, d:].view(-1, inner, m)[row, place]), 1)
    parts, home = exchange_rows(here, rank - rank % inner + place)
    done = torch.zeros(len(parts), d, dtype=x.dtype)
    for e in range(m):
        at = parts[:, d + e] != 0
        done[at] += parts[at, d + e, None]*torch.tanh(parts[at, :d] @ w[e])
    merged = torch.zeros(len(rows), d, dtype=x.dtype).index_add(0, row, home(done))
    return torch.zeros_like(x).index_add(0, token, back(merged))
# %% wrong: scores as weights, not divided
def node_layer(rank, n, x, scores, w, k, n_lim, inner):
    T, d = x.shape
    m, nodes, E = len(w), n//inner, scores.shape[1]
    by_node = scores.view(T, nodes, -1)
    near = by_node.topk(k//n_lim, dim=2).values.sum(2).topk(n_lim, dim=1).indices
    open_to = torch.zeros(T, nodes, dtype=torch.bool).scatter(1, near, True)
    masked = (by_node*open_to[..., None]).view(T, E)
    best, chosen = masked.topk(k, dim=1)
    gates = torch.zeros_like(scores).scatter(1, chosen, best)
    token, node = gates.view(T, nodes, -1).any(2).nonzero(as_tuple=True)
    block = gates.view(T, nodes, -1)[token, node]
    rows, back = exchange_rows(torch.cat((x[token], block), 1), node*inner + rank % inner)
    row, place = rows[:, d:].view(-1, inner, m).any(2).nonzero(as_tuple=True)
    here = torch.cat((rows[row, :d], rows[:, d:].view(-1, inner, m)[row, place]), 1)
    parts, home = exchange_rows(here, rank - rank % inner + place)
    done = torch.zeros(len(parts), d, dtype=x.dtype)
    for e in range(m):
        at = parts[:, d + e] != 0
        done[at] += parts[at, d + e, None]*torch.tanh(parts[at, :d] @ w[e])
    merged = torch.zeros(len(rows), d, dtype=x.dtype).index_add(0, row, home(done))
    return torch.zeros_like(x).index_add(0, token, back(merged))
# %% wrong: weights over the sum of all scores
def node_layer(rank, n, x, scores, w, k, n_lim, inner):
    T, d = x.shape
    m, nodes, E = len(w), n//inner, scores.shape[1]
    by_node = scores.view(T, nodes, -1)
    near = by_node.topk(k//n_lim, dim=2).values.sum(2).topk(n_lim, dim=1).indices
    open_to = torch.zeros(T, nodes, dtype=torch.bool).scatter(1, near, True)
    masked = (by_node*open_to[..., None]).view(T, E)
    best, chosen = masked.topk(k, dim=1)
    gates = torch.zeros_like(scores).scatter(1, chosen, best/scores.sum(1, keepdim=True))
    token, node = gates.view(T, nodes, -1).any(2).nonzero(as_tuple=True)
    block = gates.view(T, nodes, -1)[token, node]
    rows, back = exchange_rows(torch.cat((x[token], block), 1), node*inner + rank % inner)
    row, place = rows[:, d:].view(-1, inner, m).any(2).nonzero(as_tuple=True)
    here = torch.cat((rows[row, :d], rows[:, d:].view(-1, inner, m)[row, place]), 1)
    parts, home = exchange_rows(here, rank - rank % inner + place)
    done = torch.zeros(len(parts), d, dtype=x.dtype)
    for e in range(m):
        at = parts[:, d + e] != 0
        done[at] += parts[at, d + e, None]*torch.tanh(parts[at, :d] @ w[e])
    merged = torch.zeros(len(rows), d, dtype=x.dtype).index_add(0, row, home(done))
    return torch.zeros_like(x).index_add(0, token, back(merged))
# %% wrong: weights over the scores of the allowed nodes
def node_layer(rank, n, x, scores, w, k, n_lim, inner):
    T, d = x.shape
    m, nodes, E = len(w), n//inner, scores.shape[1]
    by_node = scores.view(T, nodes, -1)
    near = by_node.topk(k//n_lim, dim=2).values.sum(2).topk(n_lim, dim=1).indices
    open_to = torch.zeros(T, nodes, dtype=torch.bool).scatter(1, near, True)
    masked = (by_node*open_to[..., None]).view(T, E)
    best, chosen = masked.topk(k, dim=1)
    gates = torch.zeros_like(scores).scatter(1, chosen, best/masked.sum(1, keepdim=True))
    token, node = gates.view(T, nodes, -1).any(2).nonzero(as_tuple=True)
    block = gates.view(T, nodes, -1)[token, node]
    rows, back = exchange_rows(torch.cat((x[token], block), 1), node*inner + rank % inner)
    row, place = rows[:, d:].view(-1, inner, m).any(2).nonzero(as_tuple=True)
    here = torch.cat((rows[row, :d], rows[:, d:].view(-1, inner, m)[row, place]), 1)
    parts, home = exchange_rows(here, rank - rank % inner + place)
    done = torch.zeros(len(parts), d, dtype=x.dtype)
    for e in range(m):
        at = parts[:, d + e] != 0
        done[at] += parts[at, d + e, None]*torch.tanh(parts[at, :d] @ w[e])
    merged = torch.zeros(len(rows), d, dtype=x.dtype).index_add(0, row, home(done))
    return torch.zeros_like(x).index_add(0, token, back(merged))
# %% wrong: the mean of the k results
def node_layer(rank, n, x, scores, w, k, n_lim, inner):
    T, d = x.shape
    m, nodes, E = len(w), n//inner, scores.shape[1]
    by_node = scores.view(T, nodes, -1)
    near = by_node.topk(k//n_lim, dim=2).values.sum(2).topk(n_lim, dim=1).indices
    open_to = torch.zeros(T, nodes, dtype=torch.bool).scatter(1, near, True)
    masked = (by_node*open_to[..., None]).view(T, E)
    best, chosen = masked.topk(k, dim=1)
    gates = torch.zeros_like(scores).scatter(1, chosen, torch.ones_like(best)/k)
    token, node = gates.view(T, nodes, -1).any(2).nonzero(as_tuple=True)
    block = gates.view(T, nodes, -1)[token, node]
    rows, back = exchange_rows(torch.cat((x[token], block), 1), node*inner + rank % inner)
    row, place = rows[:, d:].view(-1, inner, m).any(2).nonzero(as_tuple=True)
    here = torch.cat((rows[row, :d], rows[:, d:].view(-1, inner, m)[row, place]), 1)
    parts, home = exchange_rows(here, rank - rank % inner + place)
    done = torch.zeros(len(parts), d, dtype=x.dtype)
    for e in range(m):
        at = parts[:, d + e] != 0
        done[at] += parts[at, d + e, None]*torch.tanh(parts[at, :d] @ w[e])
    merged = torch.zeros(len(rows), d, dtype=x.dtype).index_add(0, row, home(done))
    return torch.zeros_like(x).index_add(0, token, back(merged))
# %% wrong: relu for tanh
def node_layer(rank, n, x, scores, w, k, n_lim, inner):
    T, d = x.shape
    m, nodes, E = len(w), n//inner, scores.shape[1]
    by_node = scores.view(T, nodes, -1)
    near = by_node.topk(k//n_lim, dim=2).values.sum(2).topk(n_lim, dim=1).indices
    open_to = torch.zeros(T, nodes, dtype=torch.bool).scatter(1, near, True)
    masked = (by_node*open_to[..., None]).view(T, E)
    best, chosen = masked.topk(k, dim=1)
    gates = torch.zeros_like(scores).scatter(1, chosen, best/best.sum(1, keepdim=True))
    token, node = gates.view(T, nodes, -1).any(2).nonzero(as_tuple=True)
    block = gates.view(T, nodes, -1)[token, node]
    rows, back = exchange_rows(torch.cat((x[token], block), 1), node*inner + rank % inner)
    row, place = rows[:, d:].view(-1, inner, m).any(2).nonzero(as_tuple=True)
    here = torch.cat((rows[row, :d], rows[:, d:].view(-1, inner, m)[row, place]), 1)
    parts, home = exchange_rows(here, rank - rank % inner + place)
    done = torch.zeros(len(parts), d, dtype=x.dtype)
    for e in range(m):
        at = parts[:, d + e] != 0
        done[at] += parts[at, d + e, None]*torch.relu(parts[at, :d] @ w[e])
    merged = torch.zeros(len(rows), d, dtype=x.dtype).index_add(0, row, home(done))
    return torch.zeros_like(x).index_add(0, token, back(merged))
# %% wrong: no tanh
def node_layer(rank, n, x, scores, w, k, n_lim, inner):
    T, d = x.shape
    m, nodes, E = len(w), n//inner, scores.shape[1]
    by_node = scores.view(T, nodes, -1)
    near = by_node.topk(k//n_lim, dim=2).values.sum(2).topk(n_lim, dim=1).indices
    open_to = torch.zeros(T, nodes, dtype=torch.bool).scatter(1, near, True)
    masked = (by_node*open_to[..., None]).view(T, E)
    best, chosen = masked.topk(k, dim=1)
    gates = torch.zeros_like(scores).scatter(1, chosen, best/best.sum(1, keepdim=True))
    token, node = gates.view(T, nodes, -1).any(2).nonzero(as_tuple=True)
    block = gates.view(T, nodes, -1)[token, node]
    rows, back = exchange_rows(torch.cat((x[token], block), 1), node*inner + rank % inner)
    row, place = rows[:, d:].view(-1, inner, m).any(2).nonzero(as_tuple=True)
    here = torch.cat((rows[row, :d], rows[:, d:].view(-1, inner, m)[row, place]), 1)
    parts, home = exchange_rows(here, rank - rank % inner + place)
    done = torch.zeros(len(parts), d, dtype=x.dtype)
    for e in range(m):
        at = parts[:, d + e] != 0
        done[at] += parts[at, d + e, None]*(parts[at, :d] @ w[e])
    merged = torch.zeros(len(rows), d, dtype=x.dtype).index_add(0, row, home(done))
    return torch.zeros_like(x).index_add(0, token, back(merged))
# %% wrong: tanh of the weighted sum of products
def node_layer(rank, n, x, scores, w, k, n_lim, inner):
    T, d = x.shape
    m, nodes, E = len(w), n//inner, scores.shape[1]
    by_node = scores.view(T, nodes, -1)
    near = by_node.topk(k//n_lim, dim=2).values.sum(2).topk(n_lim, dim=1).indices
    open_to = torch.zeros(T, nodes, dtype=torch.bool).scatter(1, near, True)
    masked = (by_node*open_to[..., None]).view(T, E)
    best, chosen = masked.topk(k, dim=1)
    gates = torch.zeros_like(scores).scatter(1, chosen, best/best.sum(1, keepdim=True))
    token, node = gates.view(T, nodes, -1).any(2).nonzero(as_tuple=True)
    block = gates.view(T, nodes, -1)[token, node]
    rows, back = exchange_rows(torch.cat((x[token], block), 1), node*inner + rank % inner)
    row, place = rows[:, d:].view(-1, inner, m).any(2).nonzero(as_tuple=True)
    here = torch.cat((rows[row, :d], rows[:, d:].view(-1, inner, m)[row, place]), 1)
    parts, home = exchange_rows(here, rank - rank % inner + place)
    done = torch.zeros(len(parts), d, dtype=x.dtype)
    for e in range(m):
        at = parts[:, d + e] != 0
        done[at] += parts[at, d + e, None]*(parts[at, :d] @ w[e])
    done = torch.tanh(done)
    merged = torch.zeros(len(rows), d, dtype=x.dtype).index_add(0, row, home(done))
    return torch.zeros_like(x).index_add(0, token, back(merged))
# %% wrong: handed on inside to all ranks of the node
def node_layer(rank, n, x, scores, w, k, n_lim, inner):
    T, d = x.shape
    m, nodes, E = len(w), n//inner, scores.shape[1]
    by_node = scores.view(T, nodes, -1)
    near = by_node.topk(k//n_lim, dim=2).values.sum(2).topk(n_lim, dim=1).indices
    open_to = torch.zeros(T, nodes, dtype=torch.bool).scatter(1, near, True)
    masked = (by_node*open_to[..., None]).view(T, E)
    best, chosen = masked.topk(k, dim=1)
    gates = torch.zeros_like(scores).scatter(1, chosen, best/best.sum(1, keepdim=True))
    token, node = gates.view(T, nodes, -1).any(2).nonzero(as_tuple=True)
    block = gates.view(T, nodes, -1)[token, node]
    rows, back = exchange_rows(torch.cat((x[token], block), 1), node*inner + rank % inner)
    row, place = torch.ones(len(rows), inner).nonzero(as_tuple=True)
    here = torch.cat((rows[row, :d], rows[:, d:].view(-1, inner, m)[row, place]), 1)
    parts, home = exchange_rows(here, rank - rank % inner + place)
    done = torch.zeros(len(parts), d, dtype=x.dtype)
    for e in range(m):
        at = parts[:, d + e] != 0
        done[at] += parts[at, d + e, None]*torch.tanh(parts[at, :d] @ w[e])
    merged = torch.zeros(len(rows), d, dtype=x.dtype).index_add(0, row, home(done))
    return torch.zeros_like(x).index_add(0, token, back(merged))
# %% wrong: copies to all allowed nodes and to the others
def node_layer(rank, n, x, scores, w, k, n_lim, inner):
    T, d = x.shape
    m, nodes, E = len(w), n//inner, scores.shape[1]
    by_node = scores.view(T, nodes, -1)
    near = by_node.topk(k//n_lim, dim=2).values.sum(2).topk(n_lim, dim=1).indices
    open_to = torch.zeros(T, nodes, dtype=torch.bool).scatter(1, near, True)
    masked = (by_node*open_to[..., None]).view(T, E)
    best, chosen = masked.topk(k, dim=1)
    gates = torch.zeros_like(scores).scatter(1, chosen, best/best.sum(1, keepdim=True))
    token, node = torch.ones(T, nodes).nonzero(as_tuple=True)
    block = gates.view(T, nodes, -1)[token, node]
    rows, back = exchange_rows(torch.cat((x[token], block), 1), node*inner + rank % inner)
    row, place = rows[:, d:].view(-1, inner, m).any(2).nonzero(as_tuple=True)
    here = torch.cat((rows[row, :d], rows[:, d:].view(-1, inner, m)[row, place]), 1)
    parts, home = exchange_rows(here, rank - rank % inner + place)
    done = torch.zeros(len(parts), d, dtype=x.dtype)
    for e in range(m):
        at = parts[:, d + e] != 0
        done[at] += parts[at, d + e, None]*torch.tanh(parts[at, :d] @ w[e])
    merged = torch.zeros(len(rows), d, dtype=x.dtype).index_add(0, row, home(done))
    return torch.zeros_like(x).index_add(0, token, back(merged))
# %% wrong: the weights of all experts travel with each copy
def node_layer(rank, n, x, scores, w, k, n_lim, inner):
    T, d = x.shape
    m, nodes, E = len(w), n//inner, scores.shape[1]
    by_node = scores.view(T, nodes, -1)
    near = by_node.topk(k//n_lim, dim=2).values.sum(2).topk(n_lim, dim=1).indices
    open_to = torch.zeros(T, nodes, dtype=torch.bool).scatter(1, near, True)
    masked = (by_node*open_to[..., None]).view(T, E)
    best, chosen = masked.topk(k, dim=1)
    gates = torch.zeros_like(scores).scatter(1, chosen, best/best.sum(1, keepdim=True))
    token, node = gates.view(T, nodes, -1).any(2).nonzero(as_tuple=True)
    block = gates.view(T, nodes, -1)[token, node]
    full, back = exchange_rows(torch.cat((x[token], block, gates[token]), 1), node*inner + rank % inner)
    rows = full[:, :d + inner*m]
    row, place = rows[:, d:].view(-1, inner, m).any(2).nonzero(as_tuple=True)
    here = torch.cat((rows[row, :d], rows[:, d:].view(-1, inner, m)[row, place]), 1)
    parts, home = exchange_rows(here, rank - rank % inner + place)
    done = torch.zeros(len(parts), d, dtype=x.dtype)
    for e in range(m):
        at = parts[:, d + e] != 0
        done[at] += parts[at, d + e, None]*torch.tanh(parts[at, :d] @ w[e])
    merged = torch.zeros(len(rows), d, dtype=x.dtype).index_add(0, row, home(done))
    return torch.zeros_like(x).index_add(0, token, back(merged))
# %% wrong: all copies come in through the first rank of a node
def node_layer(rank, n, x, scores, w, k, n_lim, inner):
    T, d = x.shape
    m, nodes, E = len(w), n//inner, scores.shape[1]
    by_node = scores.view(T, nodes, -1)
    near = by_node.topk(k//n_lim, dim=2).values.sum(2).topk(n_lim, dim=1).indices
    open_to = torch.zeros(T, nodes, dtype=torch.bool).scatter(1, near, True)
    masked = (by_node*open_to[..., None]).view(T, E)
    best, chosen = masked.topk(k, dim=1)
    gates = torch.zeros_like(scores).scatter(1, chosen, best/best.sum(1, keepdim=True))
    token, node = gates.view(T, nodes, -1).any(2).nonzero(as_tuple=True)
    block = gates.view(T, nodes, -1)[token, node]
    rows, back = exchange_rows(torch.cat((x[token], block), 1), torch.where(node == rank//inner, rank, node*inner))
    row, place = rows[:, d:].view(-1, inner, m).any(2).nonzero(as_tuple=True)
    here = torch.cat((rows[row, :d], rows[:, d:].view(-1, inner, m)[row, place]), 1)
    parts, home = exchange_rows(here, rank - rank % inner + place)
    done = torch.zeros(len(parts), d, dtype=x.dtype)
    for e in range(m):
        at = parts[:, d + e] != 0
        done[at] += parts[at, d + e, None]*torch.tanh(parts[at, :d] @ w[e])
    merged = torch.zeros(len(rows), d, dtype=x.dtype).index_add(0, row, home(done))
    return torch.zeros_like(x).index_add(0, token, back(merged))
# %% wrong: tokens travel in half precision
def node_layer(rank, n, x, scores, w, k, n_lim, inner):
    T, d = x.shape
    m, nodes, E = len(w), n//inner, scores.shape[1]
    by_node = scores.view(T, nodes, -1)
    near = by_node.topk(k//n_lim, dim=2).values.sum(2).topk(n_lim, dim=1).indices
    open_to = torch.zeros(T, nodes, dtype=torch.bool).scatter(1, near, True)
    masked = (by_node*open_to[..., None]).view(T, E)
    best, chosen = masked.topk(k, dim=1)
    gates = torch.zeros_like(scores).scatter(1, chosen, best/best.sum(1, keepdim=True))
    token, node = gates.view(T, nodes, -1).any(2).nonzero(as_tuple=True)
    block = gates.view(T, nodes, -1)[token, node]
    half, back = exchange_rows(torch.cat((x[token], block), 1).bfloat16(), node*inner + rank % inner)
    rows = half.to(x.dtype)
    row, place = rows[:, d:].view(-1, inner, m).any(2).nonzero(as_tuple=True)
    here = torch.cat((rows[row, :d], rows[:, d:].view(-1, inner, m)[row, place]), 1)
    parts, home = exchange_rows(here, rank - rank % inner + place)
    done = torch.zeros(len(parts), d, dtype=x.dtype)
    for e in range(m):
        at = parts[:, d + e] != 0
        done[at] += parts[at, d + e, None]*torch.tanh(parts[at, :d] @ w[e])
    merged = torch.zeros(len(rows), d, dtype=x.dtype).index_add(0, row, home(done))
    return torch.zeros_like(x).index_add(0, token, back(merged))
# %% wrong: ranks of a node lie n/inner apart
def node_layer(rank, n, x, scores, w, k, n_lim, inner):
    T, d = x.shape
    m, nodes, E = len(w), n//inner, scores.shape[1]
    by_node = scores.view(T, nodes, -1)
    near = by_node.topk(k//n_lim, dim=2).values.sum(2).topk(n_lim, dim=1).indices
    open_to = torch.zeros(T, nodes, dtype=torch.bool).scatter(1, near, True)
    masked = (by_node*open_to[..., None]).view(T, E)
    best, chosen = masked.topk(k, dim=1)
    gates = torch.zeros_like(scores).scatter(1, chosen, best/best.sum(1, keepdim=True))
    token, node = gates.view(T, nodes, -1).any(2).nonzero(as_tuple=True)
    block = gates.view(T, nodes, -1)[token, node]
    rows, back = exchange_rows(torch.cat((x[token], block), 1), node + rank//nodes*nodes)
    row, place = rows[:, d:].view(-1, inner, m).any(2).nonzero(as_tuple=True)
    here = torch.cat((rows[row, :d], rows[:, d:].view(-1, inner, m)[row, place]), 1)
    parts, home = exchange_rows(here, rank % nodes + place*nodes)
    done = torch.zeros(len(parts), d, dtype=x.dtype)
    for e in range(m):
        at = parts[:, d + e] != 0
        done[at] += parts[at, d + e, None]*torch.tanh(parts[at, :d] @ w[e])
    merged = torch.zeros(len(rows), d, dtype=x.dtype).index_add(0, row, home(done))
    return torch.zeros_like(x).index_add(0, token, back(merged))
# %% wrong: only the best expert of a token in each node
def node_layer(rank, n, x, scores, w, k, n_lim, inner):
    T, d = x.shape
    m, nodes, E = len(w), n//inner, scores.shape[1]
    by_node = scores.view(T, nodes, -1)
    near = by_node.topk(k//n_lim, dim=2).values.sum(2).topk(n_lim, dim=1).indices
    open_to = torch.zeros(T, nodes, dtype=torch.bool).scatter(1, near, True)
    masked = (by_node*open_to[..., None]).view(T, E)
    best, chosen = masked.topk(k, dim=1)
    gates = torch.zeros_like(scores).scatter(1, chosen, best/best.sum(1, keepdim=True))
    token, node = gates.view(T, nodes, -1).any(2).nonzero(as_tuple=True)
    block = gates.view(T, nodes, -1)[token, node]
    block = block*(block == block.amax(1, keepdim=True))
    rows, back = exchange_rows(torch.cat((x[token], block), 1), node*inner + rank % inner)
    row, place = rows[:, d:].view(-1, inner, m).any(2).nonzero(as_tuple=True)
    here = torch.cat((rows[row, :d], rows[:, d:].view(-1, inner, m)[row, place]), 1)
    parts, home = exchange_rows(here, rank - rank % inner + place)
    done = torch.zeros(len(parts), d, dtype=x.dtype)
    for e in range(m):
        at = parts[:, d + e] != 0
        done[at] += parts[at, d + e, None]*torch.tanh(parts[at, :d] @ w[e])
    merged = torch.zeros(len(rows), d, dtype=x.dtype).index_add(0, row, home(done))
    return torch.zeros_like(x).index_add(0, token, back(merged))
# %% wrong: results of the last copy, not their sum
def node_layer(rank, n, x, scores, w, k, n_lim, inner):
    T, d = x.shape
    m, nodes, E = len(w), n//inner, scores.shape[1]
    by_node = scores.view(T, nodes, -1)
    near = by_node.topk(k//n_lim, dim=2).values.sum(2).topk(n_lim, dim=1).indices
    open_to = torch.zeros(T, nodes, dtype=torch.bool).scatter(1, near, True)
    masked = (by_node*open_to[..., None]).view(T, E)
    best, chosen = masked.topk(k, dim=1)
    gates = torch.zeros_like(scores).scatter(1, chosen, best/best.sum(1, keepdim=True))
    token, node = gates.view(T, nodes, -1).any(2).nonzero(as_tuple=True)
    block = gates.view(T, nodes, -1)[token, node]
    rows, back = exchange_rows(torch.cat((x[token], block), 1), node*inner + rank % inner)
    row, place = rows[:, d:].view(-1, inner, m).any(2).nonzero(as_tuple=True)
    here = torch.cat((rows[row, :d], rows[:, d:].view(-1, inner, m)[row, place]), 1)
    parts, home = exchange_rows(here, rank - rank % inner + place)
    done = torch.zeros(len(parts), d, dtype=x.dtype)
    for e in range(m):
        at = parts[:, d + e] != 0
        done[at] += parts[at, d + e, None]*torch.tanh(parts[at, :d] @ w[e])
    merged = torch.zeros(len(rows), d, dtype=x.dtype).index_add(0, row, home(done))
    return torch.zeros_like(x).index_copy(0, token, back(merged))
# %% wrong: the other nodes only, not the own
def node_layer(rank, n, x, scores, w, k, n_lim, inner):
    T, d = x.shape
    m, nodes, E = len(w), n//inner, scores.shape[1]
    by_node = scores.view(T, nodes, -1)
    near = by_node.topk(k//n_lim, dim=2).values.sum(2).topk(n_lim, dim=1).indices
    open_to = torch.zeros(T, nodes, dtype=torch.bool).scatter(1, near, True)
    masked = (by_node*open_to[..., None]).view(T, E)
    best, chosen = masked.topk(k, dim=1)
    gates = torch.zeros_like(scores).scatter(1, chosen, best/best.sum(1, keepdim=True))
    token, node = gates.view(T, nodes, -1).any(2).mul(torch.arange(nodes) != rank//inner).nonzero(as_tuple=True)
    block = gates.view(T, nodes, -1)[token, node]
    rows, back = exchange_rows(torch.cat((x[token], block), 1), node*inner + rank % inner)
    row, place = rows[:, d:].view(-1, inner, m).any(2).nonzero(as_tuple=True)
    here = torch.cat((rows[row, :d], rows[:, d:].view(-1, inner, m)[row, place]), 1)
    parts, home = exchange_rows(here, rank - rank % inner + place)
    done = torch.zeros(len(parts), d, dtype=x.dtype)
    for e in range(m):
        at = parts[:, d + e] != 0
        done[at] += parts[at, d + e, None]*torch.tanh(parts[at, :d] @ w[e])
    merged = torch.zeros(len(rows), d, dtype=x.dtype).index_add(0, row, home(done))
    return torch.zeros_like(x).index_add(0, token, back(merged))
# %% wrong: a copy for each expert, straight to its rank
def node_layer(rank, n, x, scores, w, k, n_lim, inner):
    T, d = x.shape
    m, nodes = len(w), n//inner
    cut = scores.view(T, nodes, -1)
    near = cut.topk(k//n_lim, dim=2).values.sum(2).topk(n_lim, dim=1).indices
    keep = torch.zeros(T, nodes, dtype=x.dtype).scatter(1, near, 1.0)
    best, chosen = (cut*keep[..., None]).flatten(1).topk(k)
    flat = chosen.flatten()
    rows, back = exchange_rows(torch.cat((x.repeat_interleave(k, 0), (flat % m)[:, None].to(x)), 1), flat//m)
    done = torch.zeros(len(rows), d, dtype=x.dtype)
    for e in range(m):
        at = rows[:, d].round() == e
        done[at] = torch.tanh(rows[at, :d] @ w[e])
    return (back(done).view(T, k, d)*(best/best.sum(1, keepdim=True))[..., None]).sum(1)
# %% wrong: a copy for each rank, straight to it
def node_layer(rank, n, x, scores, w, k, n_lim, inner):
    T, d = x.shape
    m, nodes = len(w), n//inner
    cut = scores.view(T, nodes, -1)
    near = cut.topk(k//n_lim, dim=2).values.sum(2).topk(n_lim, dim=1).indices
    keep = torch.zeros(T, nodes, dtype=x.dtype).scatter(1, near, 1.0)
    best, chosen = (cut*keep[..., None]).flatten(1).topk(k)
    gates = torch.zeros_like(scores).scatter(1, chosen, best/best.sum(1, keepdim=True)).view(T, n, m)
    token, to = gates.any(2).nonzero(as_tuple=True)
    rows, back = exchange_rows(torch.cat((x[token], gates[token, to]), 1), to)
    done = sum(rows[:, d + e, None]*torch.tanh(rows[:, :d] @ w[e]) for e in range(m))
    return torch.zeros_like(x).index_add(0, token, back(done))
# %% wrong: each rank of the other node answers by itself
def node_layer(rank, n, x, scores, w, k, n_lim, inner):
    T, d = x.shape
    m, nodes = len(w), n//inner
    cut = scores.view(T, nodes, -1)
    near = cut.topk(k//n_lim, dim=2).values.sum(2).topk(n_lim, dim=1).indices
    keep = torch.zeros(T, nodes, dtype=x.dtype).scatter(1, near, 1.0)
    best, chosen = (cut*keep[..., None]).flatten(1).topk(k)
    gates = torch.zeros_like(scores).scatter(1, chosen, best/best.sum(1, keepdim=True)).view(T, nodes, -1)
    token, node = gates.any(2).nonzero(as_tuple=True)
    tag = torch.stack((token, torch.full_like(token, rank)), 1).to(x)
    rows, _ = exchange_rows(torch.cat((x[token], gates[token, node], tag), 1), node*inner + rank % inner)
    row, place = rows[:, d:-2].reshape(-1, inner, m).any(2).nonzero(as_tuple=True)
    here = torch.cat((rows[row, :d], rows[:, d:-2].reshape(-1, inner, m)[row, place], rows[row, -2:]), 1)
    parts, _ = exchange_rows(here, rank//inner*inner + place)
    done = sum(parts[:, d + e, None]*torch.tanh(parts[:, :d] @ w[e]) for e in range(m))
    back, _ = exchange_rows(torch.cat((done, parts[:, -2:-1]), 1), parts[:, -1].round().long())
    return torch.zeros_like(x).index_add(0, back[:, -1].round().long(), back[:, :d])
