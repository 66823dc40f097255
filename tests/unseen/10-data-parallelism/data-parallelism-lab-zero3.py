# %% right: gathers in both passes
def zero3(rank, n, x, shards, dy):
    def gather(shard):
        w = shard.new_empty(n*shard.shape[0], shard.shape[1])
        dist.all_gather_into_tensor(w, shard)
        return w
    inputs = []
    for shard in shards:
        inputs.append(x)
        x = x @ gather(shard)
    grads = [None]*len(shards)
    for i in reversed(range(len(shards))):
        grads[i] = torch.empty_like(shards[i])
        dist.reduce_scatter_tensor(grads[i], inputs[i].T @ dy)
        grads[i] /= n
        dy = dy @ gather(shards[i]).T
    return x, grads
# %% right: the last layer stays for the backward pass, the first is not gathered again
def zero3(rank, n, x, shards, dy):
    acts = [x]
    for shard in shards:
        w = torch.empty(len(shard)*n, shard.size(1), dtype=shard.dtype)
        dist.all_gather_into_tensor(w, shard)
        acts.append(acts[-1] @ w)
    y, grads = acts.pop(), []
    for i in range(len(shards) - 1, -1, -1):
        mine = torch.zeros_like(shards[i])
        dist.reduce_scatter_tensor(mine, acts.pop().t().contiguous() @ dy/n)
        grads.insert(0, mine)
        if i < len(shards) - 1 and i > 0:
            dist.all_gather_into_tensor(w, shards[i])
        if i > 0:
            dy = dy @ w.t()
    return y, grads
# %% right: an autograd function that keeps no weights
def zero3(rank, n, x, shards, dy):
    class Linear(torch.autograd.Function):
        @staticmethod
        def whole(shard):
            parts = [torch.empty_like(shard) for _ in range(n)]
            dist.all_gather(parts, shard)
            return torch.cat(parts)
        @staticmethod
        def forward(ctx, x, shard):
            ctx.save_for_backward(x, shard)
            return x @ Linear.whole(shard)
        @staticmethod
        def backward(ctx, dy):
            x, shard = ctx.saved_tensors
            dx = dy @ Linear.whole(shard).T
            mine = torch.empty_like(shard)
            dist.reduce_scatter(mine, [part.contiguous() for part in (x.T @ dy).chunk(n)])
            return dx, mine/n
    x = x.requires_grad_()
    leaves = [shard.requires_grad_() for shard in shards]
    y = x
    for leaf in leaves:
        y = Linear.apply(y, leaf)
    y.backward(dy)
    return y.detach(), [leaf.grad for leaf in leaves]
# %% right: recursion, the mean taken before the scatter
def zero3(rank, n, x, shards, dy):
    def whole(shard):
        out = shard.new_zeros(n*shard.shape[0], shard.shape[1])
        dist.all_gather_into_tensor(out, shard)
        return out
    result = {}
    def go(x, i):
        if i == len(shards):
            result["y"] = x
            return dy, []
        back, later = go(torch.mm(x, whole(shards[i])), i + 1)
        part = torch.empty_like(shards[i])
        dist.reduce_scatter_tensor(part, torch.mm(x.t(), back/n))
        return torch.mm(back, whole(shards[i]).t()), [part] + later
    _, result["grads"] = go(x, 0)
    return result
# %% right: one buffer for all layers, dict of results
def zero3(rank, n, x, shards, dy):
    rows = max(shard.shape[0] for shard in shards)*n
    cols = max(shard.shape[1] for shard in shards)
    buffer = x.new_empty(rows*cols)
    def gather(shard):
        view = buffer[:n*shard.numel()].view(n*shard.shape[0], shard.shape[1])
        dist.all_gather_into_tensor(view, shard)
        return view
    inputs = [x]
    for shard in shards:
        inputs.append(torch.einsum("bi,io->bo", inputs[-1], gather(shard)))
    y = inputs.pop()
    grads = {}
    for i in range(len(shards))[::-1]:
        a = inputs.pop()
        new = torch.einsum("bo,io->bi", dy, gather(shards[i])) if i else None
        full = buffer[:n*shards[i].numel()].view(n*shards[i].shape[0], shards[i].shape[1])
        torch.mm(a.t(), dy, out=full)
        grads[i] = torch.empty_like(shards[i])
        dist.reduce_scatter_tensor(grads[i], full)
        grads[i].div_(n)
        dy = new
    return {"y": y, "grads": [grads[i] for i in range(len(shards))]}
# %% right: the next layer on its way while one is used
def zero3(rank, n, x, shards, dy):
    def start(i):
        w = shards[i].new_empty(n*shards[i].shape[0], shards[i].shape[1])
        return w, dist.all_gather_into_tensor(w, shards[i], async_op=True)
    L, kept = len(shards), []
    coming = start(0)
    for i in range(L):
        w, work = coming
        work.wait()
        coming = start(i + 1) if i + 1 < L else None
        kept.append(x)
        x = x @ w
        del w
    grads = [torch.empty_like(s) for s in shards]
    for i in reversed(range(L)):
        w, work = start(i)
        g = kept.pop().T @ dy
        g /= n
        work.wait()
        dy = dy @ w.T
        del w, work
        dist.reduce_scatter_tensor(grads[i], g)
        del g
    return x, grads
# %% wrong: keeps the gathered weights for the backward pass
def zero3(rank, n, x, shards, dy):
    def gather(shard):
        w = shard.new_empty(n*shard.shape[0], shard.shape[1])
        dist.all_gather_into_tensor(w, shard)
        return w
    inputs, kept = [], []
    for shard in shards:
        inputs.append(x)
        kept.append(gather(shard))
        x = x @ kept[-1]
    grads = [None]*len(shards)
    for i in reversed(range(len(shards))):
        grads[i] = torch.empty_like(shards[i])
        dist.reduce_scatter_tensor(grads[i], inputs[i].T @ dy)
        grads[i] /= n
        dy = dy @ kept[i].T
    return x, grads
# %% wrong: gathers all layers before it begins
def zero3(rank, n, x, shards, dy):
    def gather(shard):
        w = shard.new_empty(n*shard.shape[0], shard.shape[1])
        dist.all_gather_into_tensor(w, shard)
        return w
    inputs, whole = [], [gather(shard) for shard in shards]
    for i in range(len(shards)):
        inputs.append(x)
        x = x @ whole[i]
    grads = [None]*len(shards)
    for i in reversed(range(len(shards))):
        grads[i] = torch.empty_like(shards[i])
        dist.reduce_scatter_tensor(grads[i], inputs[i].T @ dy)
        grads[i] /= n
        dy = dy @ whole[i].T
    return x, grads
# %% wrong: autograd over gathered weights, which keeps them
def zero3(rank, n, x, shards, dy):
    def gather(shard):
        w = shard.new_empty(n*shard.shape[0], shard.shape[1])
        dist.all_gather_into_tensor(w, shard)
        return w
    whole = [gather(shard).requires_grad_() for shard in shards]
    for w in whole:
        x = x @ w
    x.backward(dy)
    grads = [torch.empty_like(shard) for shard in shards]
    for mine, w in zip(grads, whole):
        dist.reduce_scatter_tensor(mine, w.grad/n)
    return x.detach(), grads
# %% wrong: scatters whole gradients at the end only
def zero3(rank, n, x, shards, dy):
    def gather(shard):
        w = shard.new_empty(n*shard.shape[0], shard.shape[1])
        dist.all_gather_into_tensor(w, shard)
        return w
    inputs = []
    for shard in shards:
        inputs.append(x)
        x = x @ gather(shard)
    grads, full = [None]*len(shards), [None]*len(shards)
    for i in reversed(range(len(shards))):
        full[i] = inputs[i].T @ dy
        dy = dy @ gather(shards[i]).T
    for i, whole in enumerate(full):
        grads[i] = torch.empty_like(shards[i])
        dist.reduce_scatter_tensor(grads[i], whole/n)
    return x, grads
# %% wrong: a sum and no mean
def zero3(rank, n, x, shards, dy):
    def gather(shard):
        w = shard.new_empty(n*shard.shape[0], shard.shape[1])
        dist.all_gather_into_tensor(w, shard)
        return w
    inputs = []
    for shard in shards:
        inputs.append(x)
        x = x @ gather(shard)
    grads = [None]*len(shards)
    for i in reversed(range(len(shards))):
        grads[i] = torch.empty_like(shards[i])
        dist.reduce_scatter_tensor(grads[i], inputs[i].T @ dy)
        dy = dy @ gather(shards[i]).T
    return x, grads
# %% wrong: dy averaged in every layer
def zero3(rank, n, x, shards, dy):
    def gather(shard):
        w = shard.new_empty(n*shard.shape[0], shard.shape[1])
        dist.all_gather_into_tensor(w, shard)
        return w
    inputs = []
    for shard in shards:
        inputs.append(x)
        x = x @ gather(shard)
    grads = [None]*len(shards)
    for i in reversed(range(len(shards))):
        grads[i] = torch.empty_like(shards[i])
        dist.reduce_scatter_tensor(grads[i], inputs[i].T @ dy)
        grads[i] /= n
        dy = dy @ gather(shards[i]).T/n
    return x, grads
# %% wrong: all-reduce where a scatter does
def zero3(rank, n, x, shards, dy):
    def gather(shard):
        w = shard.new_empty(n*shard.shape[0], shard.shape[1])
        dist.all_gather_into_tensor(w, shard)
        return w
    inputs = []
    for shard in shards:
        inputs.append(x)
        x = x @ gather(shard)
    grads = [None]*len(shards)
    for i in reversed(range(len(shards))):
        full = inputs[i].T @ dy
        dist.all_reduce(full)
        grads[i] = full.chunk(n)[rank].clone()
        grads[i] /= n
        dy = dy @ gather(shards[i]).T
    return x, grads
# %% wrong: own part of the own gradient, nothing added
def zero3(rank, n, x, shards, dy):
    def gather(shard):
        w = shard.new_empty(n*shard.shape[0], shard.shape[1])
        dist.all_gather_into_tensor(w, shard)
        return w
    inputs = []
    for shard in shards:
        inputs.append(x)
        x = x @ gather(shard)
    grads = [None]*len(shards)
    for i in reversed(range(len(shards))):
        grads[i] = (inputs[i].T @ dy).chunk(n)[rank].clone()
        dy = dy @ gather(shards[i]).T
    return x, grads
# %% wrong: a layer's output in the place of its input
def zero3(rank, n, x, shards, dy):
    def gather(shard):
        w = shard.new_empty(n*shard.shape[0], shard.shape[1])
        dist.all_gather_into_tensor(w, shard)
        return w
    inputs = []
    for shard in shards:
        x = x @ gather(shard)
        inputs.append(x)
    grads = [None]*len(shards)
    for i in reversed(range(len(shards))):
        grads[i] = torch.empty_like(shards[i])
        dist.reduce_scatter_tensor(grads[i], inputs[i].T @ dy)
        grads[i] /= n
        dy = dy @ gather(shards[i]).T
    return x, grads
# %% wrong: gradient taken after dy has moved on
def zero3(rank, n, x, shards, dy):
    def gather(shard):
        w = shard.new_empty(n*shard.shape[0], shard.shape[1])
        dist.all_gather_into_tensor(w, shard)
        return w
    inputs = []
    for shard in shards:
        inputs.append(x)
        x = x @ gather(shard)
    grads = [None]*len(shards)
    for i in reversed(range(len(shards))):
        grads[i] = torch.empty_like(shards[i])
        dy = dy @ gather(shards[i]).T
        dist.reduce_scatter_tensor(grads[i], inputs[i].T @ dy)
        grads[i] /= n
    return x, grads
# %% wrong: not transposed on the way back
def zero3(rank, n, x, shards, dy):
    def gather(shard):
        w = shard.new_empty(n*shard.shape[0], shard.shape[1])
        dist.all_gather_into_tensor(w, shard)
        return w
    inputs = []
    for shard in shards:
        inputs.append(x)
        x = x @ gather(shard)
    grads = [None]*len(shards)
    for i in reversed(range(len(shards))):
        grads[i] = torch.empty_like(shards[i])
        dist.reduce_scatter_tensor(grads[i], inputs[i].T @ dy)
        grads[i] /= n
        dy = dy @ gather(shards[i])
    return x, grads
# %% wrong: the last gathered weights in the whole backward pass
def zero3(rank, n, x, shards, dy):
    def gather(shard):
        w = shard.new_empty(n*shard.shape[0], shard.shape[1])
        dist.all_gather_into_tensor(w, shard)
        return w
    inputs, w = [], None
    for shard in shards:
        inputs.append(x)
        w = gather(shard)
        x = x @ w
    grads = [None]*len(shards)
    for i in reversed(range(len(shards))):
        grads[i] = torch.empty_like(shards[i])
        dist.reduce_scatter_tensor(grads[i], inputs[i].T @ dy)
        grads[i] /= n
        dy = dy @ w.T
    return x, grads
# %% wrong: gradients in the order of the backward pass
def zero3(rank, n, x, shards, dy):
    def gather(shard):
        w = shard.new_empty(n*shard.shape[0], shard.shape[1])
        dist.all_gather_into_tensor(w, shard)
        return w
    inputs = []
    for shard in shards:
        inputs.append(x)
        x = x @ gather(shard)
    grads = [None]*len(shards)
    for i in reversed(range(len(shards))):
        grads[i] = torch.empty_like(shards[i])
        dist.reduce_scatter_tensor(grads[i], inputs[i].T @ dy)
        grads[i] /= n
        dy = dy @ gather(shards[i]).T
    return x, grads[::-1]
# %% wrong: whole gradients returned
def zero3(rank, n, x, shards, dy):
    def gather(shard):
        w = shard.new_empty(n*shard.shape[0], shard.shape[1])
        dist.all_gather_into_tensor(w, shard)
        return w
    inputs = []
    for shard in shards:
        inputs.append(x)
        x = x @ gather(shard)
    grads = [None]*len(shards)
    for i in reversed(range(len(shards))):
        grads[i] = inputs[i].T @ dy
        dist.all_reduce(grads[i])
        grads[i] /= n
        dy = dy @ gather(shards[i]).T
    return x, grads
# %% wrong: row-parallel, own rows of the weights and a sum of outputs
def zero3(rank, n, x, shards, dy):
    def gather(shard):
        w = shard.new_empty(n*shard.shape[0], shard.shape[1])
        dist.all_gather_into_tensor(w, shard)
        return w
    inputs = []
    for shard in shards:
        inputs.append(x)
        x = x.chunk(n, 1)[rank] @ shard
        dist.all_reduce(x)
    grads = [None]*len(shards)
    for i in reversed(range(len(shards))):
        grads[i] = torch.empty_like(shards[i])
        dist.reduce_scatter_tensor(grads[i], inputs[i].T @ dy)
        grads[i] /= n
        dy = dy @ gather(shards[i]).T
    return x, grads
# %% wrong: the same dy for every layer
def zero3(rank, n, x, shards, dy):
    def gather(shard):
        w = shard.new_empty(n*shard.shape[0], shard.shape[1])
        dist.all_gather_into_tensor(w, shard)
        return w
    inputs = []
    for shard in shards:
        inputs.append(x)
        x = x @ gather(shard)
    grads = [None]*len(shards)
    for i in reversed(range(len(shards))):
        grads[i] = torch.empty_like(shards[i])
        dist.reduce_scatter_tensor(grads[i], inputs[i].T @ dy)
        grads[i] /= n
    return x, grads
# %% wrong: layers backward from the first one
def zero3(rank, n, x, shards, dy):
    def gather(shard):
        w = shard.new_empty(n*shard.shape[0], shard.shape[1])
        dist.all_gather_into_tensor(w, shard)
        return w
    inputs = []
    for shard in shards:
        inputs.append(x)
        x = x @ gather(shard)
    grads = [None]*len(shards)
    for i in range(len(shards)):
        grads[i] = torch.empty_like(shards[i])
        dist.reduce_scatter_tensor(grads[i], inputs[i].T @ dy)
        grads[i] /= n
        dy = dy @ gather(shards[i]).T
    return x, grads
# %% wrong: the next rank's rows of the gradient
def zero3(rank, n, x, shards, dy):
    def gather(shard):
        w = shard.new_empty(n*shard.shape[0], shard.shape[1])
        dist.all_gather_into_tensor(w, shard)
        return w
    inputs = []
    for shard in shards:
        inputs.append(x)
        x = x @ gather(shard)
    grads = [None]*len(shards)
    for i in reversed(range(len(shards))):
        grads[i] = torch.empty_like(shards[i])
        dist.reduce_scatter_tensor(grads[i], (inputs[i].T @ dy).roll(-len(shards[i]), 0))
        grads[i] /= n
        dy = dy @ gather(shards[i]).T
    return x, grads
# %% wrong: gathers weights twice in the backward pass
def zero3(rank, n, x, shards, dy):
    def gather(shard):
        w = shard.new_empty(n*shard.shape[0], shard.shape[1])
        dist.all_gather_into_tensor(w, shard)
        return w
    inputs = []
    for shard in shards:
        inputs.append(x)
        x = x @ gather(shard)
    grads = [None]*len(shards)
    for i in reversed(range(len(shards))):
        grads[i] = torch.empty_like(shards[i])
        dist.reduce_scatter_tensor(grads[i], inputs[i].T @ dy)
        grads[i] /= n
        inputs[i] = dy @ gather(shards[i]).T
        dy = dy @ gather(shards[i]).T
    return x, grads
# %% wrong: every layer gathered in the backward pass before the first is used
def zero3(rank, n, x, shards, dy):
    def gather(shard):
        w = shard.new_empty(n*shard.shape[0], shard.shape[1])
        dist.all_gather_into_tensor(w, shard)
        return w
    inputs = []
    for shard in shards:
        inputs.append(x)
        x = x @ gather(shard)
    grads, back = [None]*len(shards), [gather(shard) for shard in shards]
    for i in reversed(range(len(shards))):
        grads[i] = torch.empty_like(shards[i])
        dist.reduce_scatter_tensor(grads[i], inputs[i].T @ dy)
        grads[i] /= n
        dy = dy @ back[i].T
    return x, grads
