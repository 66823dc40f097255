# %% right: scatter, step, gather into the weights
def zero1(rank, n, w, g, v, lr):
    part = torch.empty_like(v)
    dist.reduce_scatter_tensor(part, g)
    v = 0.9*v + part/n
    size = len(v)
    mine = w[rank*size:(rank + 1)*size] - lr*v
    dist.all_gather_into_tensor(w, mine)
    return w, v
# %% right: lists of views, all in place
def zero1(rank, n, w, g, v, lr):
    mean = torch.zeros_like(v)
    dist.reduce_scatter(mean, list(g.chunk(n)))
    v.mul_(0.9).add_(mean, alpha=1/n)
    parts = list(w.chunk(n))
    mine = parts[rank].sub(v, alpha=lr)
    dist.all_gather(parts, mine)
    return {"w": w, "v": v}
# %% right: gathers the steps, and each takes them off its weights
def zero1(rank, n, w, g, v, lr):
    g /= n
    total = g.new_empty(g.numel()//n)
    dist.reduce_scatter_tensor(total, g)
    v = total.add_(v, alpha=0.9)
    steps = g                                  # no longer needed
    dist.all_gather_into_tensor(steps, lr*v)
    w -= steps
    return w, v
# %% right: asynchronous, a group of its own, a matrix of parts
def zero1(rank, n, w, g, v, lr):
    group = dist.new_group([r for r in range(n)])
    s = torch.empty_like(v)
    dist.reduce_scatter_tensor(s, g, group=group, async_op=True).wait()
    v.copy_(torch.lerp(s/n*10, v, 0.9))
    rows = w.view(n, -1)
    rows[rank].add_(v, alpha=-lr)
    dist.all_gather_into_tensor(w, rows[rank].clone(), group=group, async_op=True).wait()
    return [w, v]
# %% right: in small pieces of the part, one after the other
def zero1(rank, n, w, g, v, lr):
    length = v.shape[0]
    low, high = rank*length, (rank + 1)*length
    inbox = v.new_zeros(length)
    dist.reduce_scatter(inbox, [g[r*length:(r + 1)*length] for r in range(n)], op=dist.ReduceOp.SUM)
    for i in range(length):
        v[i] = 0.9*v[i] + inbox[i]/n
        inbox[i] = w[low + i] - lr*v[i]
    out = [w[r*length:(r + 1)*length] for r in range(n)]
    dist.all_gather(out, inbox)
    return w, v
# %% right: gathers into a new array
def zero1(rank, n, w, g, v, lr):
    k = w.numel()//n
    reduced = torch.empty(k, dtype=g.dtype)
    dist.reduce_scatter_tensor(reduced, g)
    momentum = torch.add(reduced/n, v, alpha=0.9)
    updated = torch.sub(w.narrow(0, rank*k, k), momentum, alpha=lr)
    whole = torch.empty_like(w)
    dist.all_gather_into_tensor(whole, updated)
    return whole, momentum
# %% wrong: a sum and no mean
def zero1(rank, n, w, g, v, lr):
    part = torch.empty_like(v)
    dist.reduce_scatter_tensor(part, g)
    v = 0.9*v + part
    size = len(v)
    mine = w[rank*size:(rank + 1)*size] - lr*v
    dist.all_gather_into_tensor(w, mine)
    return w, v
# %% wrong: all-reduce where a scatter does
def zero1(rank, n, w, g, v, lr):
    dist.all_reduce(g)
    part = g.chunk(n)[rank]
    v = 0.9*v + part/n
    size = len(v)
    mine = w[rank*size:(rank + 1)*size] - lr*v
    dist.all_gather_into_tensor(w, mine)
    return w, v
# %% wrong: all-reduce and no gather, other parts stay old
def zero1(rank, n, w, g, v, lr):
    dist.all_reduce(g)
    part = g.chunk(n)[rank]
    v = 0.9*v + part/n
    size = len(v)
    mine = w[rank*size:(rank + 1)*size] - lr*v
    w[rank*size:(rank + 1)*size] = mine
    return w, v
# %% wrong: the other parts of the weights stay old
def zero1(rank, n, w, g, v, lr):
    part = torch.empty_like(v)
    dist.reduce_scatter_tensor(part, g)
    v = 0.9*v + part/n
    size = len(v)
    mine = w[rank*size:(rank + 1)*size] - lr*v
    w[rank*size:(rank + 1)*size] = mine
    return w, v
# %% wrong: returns its part of the weights only
def zero1(rank, n, w, g, v, lr):
    part = torch.empty_like(v)
    dist.reduce_scatter_tensor(part, g)
    v = 0.9*v + part/n
    size = len(v)
    mine = w[rank*size:(rank + 1)*size] - lr*v
    return mine, v
# %% wrong: own gradients of the part, nothing scattered
def zero1(rank, n, w, g, v, lr):
    part = g.chunk(n)[rank]
    v = 0.9*v + part
    size = len(v)
    mine = w[rank*size:(rank + 1)*size] - lr*v
    dist.all_gather_into_tensor(w, mine)
    return w, v
# %% wrong: a running mean, as in Adam
def zero1(rank, n, w, g, v, lr):
    part = torch.empty_like(v)
    dist.reduce_scatter_tensor(part, g)
    v = 0.9*v + 0.1*part/n
    size = len(v)
    mine = w[rank*size:(rank + 1)*size] - lr*v
    dist.all_gather_into_tensor(w, mine)
    return w, v
# %% wrong: weights take the old momentum
def zero1(rank, n, w, g, v, lr):
    part = torch.empty_like(v)
    dist.reduce_scatter_tensor(part, g)
    size = len(v)
    mine = w[rank*size:(rank + 1)*size] - lr*v
    v = 0.9*v + part/n
    dist.all_gather_into_tensor(w, mine)
    return w, v
# %% wrong: momentum of Nesterov
def zero1(rank, n, w, g, v, lr):
    part = torch.empty_like(v)
    dist.reduce_scatter_tensor(part, g)
    v = 0.9*v + part/n
    size = len(v)
    mine = w[rank*size:(rank + 1)*size] - lr*(0.9*v + part/n)
    dist.all_gather_into_tensor(w, mine)
    return w, v
# %% wrong: plain gradient descent, momentum only kept
def zero1(rank, n, w, g, v, lr):
    part = torch.empty_like(v)
    dist.reduce_scatter_tensor(part, g)
    v = 0.9*v + part/n
    size = len(v)
    mine = w[rank*size:(rank + 1)*size] - lr*part/n
    dist.all_gather_into_tensor(w, mine)
    return w, v
# %% wrong: learning rate inside the momentum
def zero1(rank, n, w, g, v, lr):
    part = torch.empty_like(v)
    dist.reduce_scatter_tensor(part, g)
    v = 0.9*v + lr*part/n
    size = len(v)
    mine = w[rank*size:(rank + 1)*size] - v
    dist.all_gather_into_tensor(w, mine)
    return w, v
# %% wrong: uphill
def zero1(rank, n, w, g, v, lr):
    part = torch.empty_like(v)
    dist.reduce_scatter_tensor(part, g)
    v = 0.9*v + part/n
    size = len(v)
    mine = w[rank*size:(rank + 1)*size] + lr*v
    dist.all_gather_into_tensor(w, mine)
    return w, v
# %% wrong: the next rank's part of the weights
def zero1(rank, n, w, g, v, lr):
    part = torch.empty_like(v)
    dist.reduce_scatter_tensor(part, g)
    v = 0.9*v + part/n
    size = len(v)
    mine = w.chunk(n)[(rank + 1) % n] - lr*v
    dist.all_gather_into_tensor(w, mine)
    return w, v
# %% wrong: every n-th weight is its part
def zero1(rank, n, w, g, v, lr):
    part = torch.empty_like(v)
    dist.reduce_scatter_tensor(part, g)
    v = 0.9*v + part/n
    size = len(v)
    mine = w[rank::n] - lr*v
    dist.all_gather_into_tensor(w, mine)
    return w, v
# %% wrong: momentum divided by the ranks, too
def zero1(rank, n, w, g, v, lr):
    part = torch.empty_like(v)
    dist.reduce_scatter_tensor(part, g)
    v = (0.9*v + part)/n
    size = len(v)
    mine = w[rank*size:(rank + 1)*size] - lr*v
    dist.all_gather_into_tensor(w, mine)
    return w, v
# %% wrong: gathers the gradients, and each updates its part
def zero1(rank, n, w, g, v, lr):
    every = g.new_empty(n*len(g))
    dist.all_gather_into_tensor(every, g)
    part = every.view(n, n, -1)[:, rank].sum(0)
    v = 0.9*v + part/n
    size = len(v)
    mine = w[rank*size:(rank + 1)*size] - lr*v
    dist.all_gather_into_tensor(w, mine)
    return w, v
# %% wrong: gathers the momentum beside the weights and returns it whole
def zero1(rank, n, w, g, v, lr):
    part = torch.empty_like(v)
    dist.reduce_scatter_tensor(part, g)
    v = 0.9*v + part/n
    size = len(v)
    mine = w[rank*size:(rank + 1)*size] - lr*v
    dist.all_gather_into_tensor(w, mine)
    whole = torch.empty_like(w)
    dist.all_gather_into_tensor(whole, v)
    return w, whole
# %% wrong: averages the new weights by an all-reduce
def zero1(rank, n, w, g, v, lr):
    part = torch.empty_like(v)
    dist.reduce_scatter_tensor(part, g)
    v = 0.9*v + part/n
    size = len(v)
    mine = w[rank*size:(rank + 1)*size] - lr*v
    w = torch.zeros_like(w)
    w[rank*size:(rank + 1)*size] = mine
    dist.all_reduce(w)
    return w, v
# %% wrong: keeps gradient, momentum and step as whole arrays
def zero1(rank, n, w, g, v, lr):
    part = torch.empty_like(v)
    dist.reduce_scatter_tensor(part, g)
    size, own = len(v), slice(rank*len(v), (rank + 1)*len(v))
    mean, momentum = torch.zeros_like(w), torch.zeros_like(w)
    mean[own], momentum[own] = part/n, v
    momentum = 0.9*momentum + mean
    step = lr*momentum
    new = w - step
    gathered = torch.empty_like(w)
    dist.all_gather_into_tensor(gathered, new[own].clone())
    w, v = gathered, momentum[own].clone()
    return w, v
