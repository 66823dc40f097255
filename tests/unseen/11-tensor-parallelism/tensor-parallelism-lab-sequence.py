# %% right: by hand, hidden units computed again
def sp_mlps(rank, n, x, A, B, dy):
    def gather(part):
        whole = part.new_empty(n*part.shape[0], part.shape[1])
        dist.all_gather_into_tensor(whole, part.contiguous())
        return whole
    def scatter(whole):
        part = whole.new_empty(whole.shape[0]//n, whole.shape[1])
        dist.reduce_scatter_tensor(part, whole.contiguous())
        return part
    inputs = []
    for a, b in zip(A, B):
        inputs.append(x)
        x = scatter(torch.relu(gather(x) @ a) @ b)
    dA, dB = [None]*len(A), [None]*len(B)
    for i in range(len(A) - 1, -1, -1):
        whole, back = gather(inputs.pop()), gather(dy)
        h = torch.relu(whole @ A[i])
        dB[i] = h.T @ back
        dh = (back @ B[i].T)*(h > 0)
        dA[i] = whole.T @ dh
        del whole, back
        dy = scatter(dh @ A[i].T)
    return x, dy, dA, dB
# %% right: recursion, lists of tensors, async handles
def sp_mlps(rank, n, x, A, B, dy):
    def gather(part):
        parts = [torch.empty_like(part) for _ in range(n)]
        dist.all_gather(parts, part, async_op=True).wait()
        return torch.cat(parts)
    def scatter(whole):
        part = torch.empty_like(x)
        dist.reduce_scatter(part, list(whole.chunk(n)), async_op=True).wait()
        return part
    last = {}
    def layer(i, mine):
        if i == len(A):
            last["y"] = mine
            return dy, [], []
        out = scatter((gather(mine) @ A[i]).relu() @ B[i])
        grad, dA, dB = layer(i + 1, out)
        del out
        grad, whole = gather(grad), gather(mine)
        h = (whole @ A[i]).relu()
        dB.insert(0, h.t() @ grad)
        h = (grad @ B[i].t()).masked_fill_(h <= 0, 0)
        del grad
        dA.insert(0, whole.t() @ h)
        del whole
        return scatter(h @ A[i].t()), dA, dB
    dx, dA, dB = layer(0, x)
    return last["y"], dx, dA, dB
# %% right: autograd of one layer at a time, forward again in the backward pass
def sp_mlps(rank, n, x, A, B, dy):
    rows, d = x.shape
    def gather(part):
        whole = part.new_empty(n*rows, d)
        dist.all_gather_into_tensor(whole, part)
        return whole
    def scatter(whole):
        part = whole.new_empty(rows, d)
        dist.reduce_scatter_tensor(part, whole)
        return part
    kept = [x]
    with torch.no_grad():
        for a, b in zip(A, B):
            kept.append(scatter(torch.relu(gather(kept[-1]) @ a) @ b))
    y = kept.pop()
    dA, dB = [], []
    for a, b in zip(reversed(A), reversed(B)):
        whole = gather(kept.pop()).requires_grad_()
        a, b = a.detach().requires_grad_(), b.detach().requires_grad_()
        out = torch.relu(whole @ a) @ b
        dwhole, da, db = torch.autograd.grad(out, (whole, a, b), gather(dy))
        del out, whole
        dy = scatter(dwhole)
        del dwhole
        dA.append(da)
        dB.append(db)
    return y, dy, dA[::-1], dB[::-1]
# %% right: an autograd function for the layer that saves shares
def sp_mlps(rank, n, x, A, B, dy):
    def gather(part):
        whole = part.new_empty(n*len(part), part.shape[1])
        dist.all_gather_into_tensor(whole, part.contiguous())
        return whole
    def scatter(whole):
        part = whole.new_empty(len(whole)//n, whole.shape[1])
        dist.reduce_scatter_tensor(part, whole)
        return part
    class Layer(torch.autograd.Function):
        @staticmethod
        def forward(ctx, share, a, b):
            ctx.save_for_backward(share, a, b)
            return scatter((gather(share) @ a).relu() @ b)
        @staticmethod
        def backward(ctx, grad):
            share, a, b = ctx.saved_tensors
            whole, grad = gather(share), gather(grad)
            h = (whole @ a).relu()
            dh = (grad @ b.T)*(h > 0)
            return scatter(dh @ a.T), whole.T @ dh, h.T @ grad
    x.requires_grad_()
    for t in (*A, *B):
        t.requires_grad_()
    y = x
    for a, b in zip(A, B):
        y = Layer.apply(y, a, b)
    y.backward(dy)
    return y.detach(), x.grad, [a.grad for a in A], [b.grad for b in B]
# %% right: hidden units in place, dict of results, a group of its own
def sp_mlps(rank, n, x, A, B, dy):
    group = dist.new_group(list(range(n)))
    b, d = n*x.shape[0], x.shape[1]
    whole = x.new_empty(b, d)
    other = x.new_empty(b, d)
    shares = [x]
    for first, second in zip(A, B):
        dist.all_gather_into_tensor(whole, shares[-1], group=group)
        torch.mm((whole @ first).clamp_(min=0), second, out=other)
        out = torch.empty_like(x)
        dist.reduce_scatter_tensor(out, other, group=group)
        shares.append(out)
    found = {"y": shares.pop(), "dA": [], "dB": []}
    grad = dy.clone()
    while shares:
        i = len(shares) - 1
        dist.all_gather_into_tensor(whole, shares.pop(), group=group)
        dist.all_gather_into_tensor(other, grad, group=group)
        h = (whole @ A[i]).clamp_(min=0)
        found["dB"].insert(0, h.t() @ other)
        on = h.gt_(0)
        h = (other @ B[i].t()).mul_(on)
        found["dA"].insert(0, whole.t() @ h)
        torch.mm(h, A[i].t(), out=other)
        dist.reduce_scatter_tensor(grad, other, group=group)
    found["dx"] = grad
    return found
# %% right: gathers the gradient while the hidden units are computed again
def sp_mlps(rank, n, x, A, B, dy):
    def start(part):
        whole = part.new_empty(n*part.shape[0], part.shape[1])
        return whole, dist.all_gather_into_tensor(whole, part, async_op=True)
    def scatter(whole):
        part = torch.zeros_like(dy)
        dist.reduce_scatter_tensor(part, whole)
        return part
    seen = []
    for a, b in zip(A, B):
        seen += [x]
        whole, work = start(x)
        work.wait()
        whole = torch.relu(whole @ a) @ b
        x = scatter(whole)
        del whole
    dA, dB = {}, {}
    for i in reversed(range(len(A))):
        whole, first = start(seen[i])
        grad, second = start(dy)
        first.wait()
        h = torch.relu(whole @ A[i])
        second.wait()
        dB[i] = h.T @ grad
        h = torch.where(h > 0, grad @ B[i].T, h)
        del grad
        dA[i] = whole.T @ h
        del whole
        dy = scatter(h @ A[i].T)
        seen[i] = None
    order = range(len(A))
    return x, dy, [dA[i] for i in order], [dB[i] for i in order]
# %% wrong: keeps the gathered inputs
def sp_mlps(rank, n, x, A, B, dy):
    def gather(part):
        whole = part.new_empty(n*len(part), part.shape[1])
        dist.all_gather_into_tensor(whole, part)
        return whole
    def scatter(whole):
        part = torch.empty_like(dy)
        dist.reduce_scatter_tensor(part, whole)
        return part
    kept = []
    for a, b in zip(A, B):
        kept.append(gather(x))
        x = scatter(torch.relu(kept[-1] @ a) @ b)
    dA, dB = [], []
    for a, b, whole in zip(A[::-1], B[::-1], kept[::-1]):
        grad = gather(dy)
        h = torch.relu(whole @ a)
        dh = (grad @ b.T)*(h > 0)
        dA.insert(0, whole.T @ dh)
        dB.insert(0, h.T @ grad)
        dy = scatter(dh @ a.T)
    return x, dy, dA, dB
# %% wrong: whole autograd through gather and scatter, all saved
def sp_mlps(rank, n, x, A, B, dy):
    def gather(part):
        whole = part.new_empty(n*len(part), part.shape[1])
        dist.all_gather_into_tensor(whole, part.contiguous())
        return whole
    def scatter(whole):
        part = whole.new_empty(len(whole)//n, whole.shape[1])
        dist.reduce_scatter_tensor(part, whole.contiguous())
        return part
    class Gather(torch.autograd.Function):
        @staticmethod
        def forward(ctx, part):
            return gather(part)
        @staticmethod
        def backward(ctx, grad):
            return scatter(grad)
    class Scatter(torch.autograd.Function):
        @staticmethod
        def forward(ctx, whole):
            return scatter(whole)
        @staticmethod
        def backward(ctx, grad):
            return gather(grad)
    x.requires_grad_()
    for t in (*A, *B):
        t.requires_grad_()
    y = x
    for a, b in zip(A, B):
        y = Scatter.apply(torch.relu(Gather.apply(y) @ a) @ b)
    y.backward(dy)
    return y.detach(), x.grad, [a.grad for a in A], [b.grad for b in B]
# %% wrong: own rows of the own partial sum, nothing added
def sp_mlps(rank, n, x, A, B, dy):
    mine = slice(rank*len(x), (rank + 1)*len(x))
    def gather(part):
        whole = part.new_empty(n*len(part), part.shape[1])
        dist.all_gather_into_tensor(whole, part.contiguous())
        return whole
    kept = []
    for a, b in zip(A, B):
        kept.append(x)
        x = (torch.relu(gather(x) @ a) @ b)[mine]
    dA, dB = [], []
    for a, b, part in zip(A[::-1], B[::-1], kept[::-1]):
        whole, grad = gather(part), gather(dy)
        h = torch.relu(whole @ a)
        dh = (grad @ b.T)*(h > 0)
        dA.insert(0, whole.T @ dh)
        dB.insert(0, h.T @ grad)
        dy = (dh @ a.T)[mine]
    return x, dy, dA, dB
# %% wrong: the gradient of B the wrong way round
def sp_mlps(rank, n, x, A, B, dy):
    def gather(part):
        whole = part.new_empty(n*len(part), part.shape[1])
        dist.all_gather_into_tensor(whole, part)
        return whole
    def scatter(whole):
        part = torch.empty_like(dy)
        dist.reduce_scatter_tensor(part, whole)
        return part
    kept = []
    for a, b in zip(A, B):
        kept.append(x)
        x = scatter(torch.relu(gather(x) @ a) @ b)
    dA, dB = [], []
    for a, b, part in zip(A[::-1], B[::-1], kept[::-1]):
        whole, grad = gather(part), gather(dy)
        h = torch.relu(whole @ a)
        dh = (grad @ b.T)*(h > 0)
        dA.insert(0, whole.T @ dh)
        dB.insert(0, grad.T @ h)
        dy = scatter(dh @ a.T)
    return x, dy, dA, dB
# %% wrong: lists in the order of the backward pass
def sp_mlps(rank, n, x, A, B, dy):
    def gather(part):
        whole = part.new_empty(n*len(part), part.shape[1])
        dist.all_gather_into_tensor(whole, part)
        return whole
    def scatter(whole):
        part = torch.empty_like(dy)
        dist.reduce_scatter_tensor(part, whole)
        return part
    kept = []
    for a, b in zip(A, B):
        kept.append(x)
        x = scatter(torch.relu(gather(x) @ a) @ b)
    dA, dB = [], []
    for a, b, part in zip(A[::-1], B[::-1], kept[::-1]):
        whole, grad = gather(part), gather(dy)
        h = torch.relu(whole @ a)
        dh = (grad @ b.T)*(h > 0)
        dA.append(whole.T @ dh)
        dB.append(h.T @ grad)
        dy = scatter(dh @ a.T)
    return x, dy, dA, dB
# %% wrong: gradients averaged over the ranks
def sp_mlps(rank, n, x, A, B, dy):
    def gather(part):
        whole = part.new_empty(n*len(part), part.shape[1])
        dist.all_gather_into_tensor(whole, part)
        return whole
    def scatter(whole, by=1):
        part = torch.empty_like(dy)
        dist.reduce_scatter_tensor(part, whole)
        return part/by
    kept = []
    for a, b in zip(A, B):
        kept.append(x)
        x = scatter(torch.relu(gather(x) @ a) @ b)
    dA, dB = [], []
    for a, b, part in zip(A[::-1], B[::-1], kept[::-1]):
        whole, grad = gather(part), gather(dy)
        h = torch.relu(whole @ a)
        dh = (grad @ b.T)*(h > 0)
        dA.insert(0, whole.T @ dh)
        dB.insert(0, h.T @ grad)
        dy = scatter(dh @ a.T, n)
    return x, dy, dA, dB
# %% wrong: an all-reduce, of which a rank takes its rows
def sp_mlps(rank, n, x, A, B, dy):
    def gather(part):
        whole = part.new_empty(n*len(part), part.shape[1])
        dist.all_gather_into_tensor(whole, part)
        return whole
    def scatter(whole):
        dist.all_reduce(whole)
        return whole[rank*len(dy):(rank + 1)*len(dy)].clone()
    kept = []
    for a, b in zip(A, B):
        kept.append(x)
        x = scatter(torch.relu(gather(x) @ a) @ b)
    dA, dB = [], []
    for a, b, part in zip(A[::-1], B[::-1], kept[::-1]):
        whole, grad = gather(part), gather(dy)
        h = torch.relu(whole @ a)
        dh = (grad @ b.T)*(h > 0)
        dA.insert(0, whole.T @ dh)
        dB.insert(0, h.T @ grad)
        dy = scatter(dh @ a.T)
    return x, dy, dA, dB
# %% wrong: every rank returns the whole output and gradient
def sp_mlps(rank, n, x, A, B, dy):
    def gather(part):
        whole = part.new_empty(n*len(part), part.shape[1])
        dist.all_gather_into_tensor(whole, part)
        return whole
    def scatter(whole):
        part = whole.new_empty(len(whole)//n, whole.shape[1])
        dist.reduce_scatter_tensor(part, whole)
        return part
    kept = []
    for a, b in zip(A, B):
        kept.append(x)
        x = scatter(torch.relu(gather(x) @ a) @ b)
    dA, dB = [], []
    for a, b, part in zip(A[::-1], B[::-1], kept[::-1]):
        whole, grad = gather(part), gather(dy)
        h = torch.relu(whole @ a)
        dh = (grad @ b.T)*(h > 0)
        dA.insert(0, whole.T @ dh)
        dB.insert(0, h.T @ grad)
        dy = scatter(dh @ a.T)
    return gather(x), gather(dy), dA, dB
# %% wrong: sums by gathering the partial sums of all
def sp_mlps(rank, n, x, A, B, dy):
    rows = len(x)
    def gather(part):
        whole = part.new_empty(n*len(part), part.shape[1])
        dist.all_gather_into_tensor(whole, part)
        return whole
    def scatter(whole):
        all_parts = gather(whole).view(n, n, rows, -1)
        return all_parts[:, rank].sum(0)
    kept = []
    for a, b in zip(A, B):
        kept.append(x)
        x = scatter(torch.relu(gather(x) @ a) @ b)
    dA, dB = [], []
    for a, b, part in zip(A[::-1], B[::-1], kept[::-1]):
        whole, grad = gather(part), gather(dy)
        h = torch.relu(whole @ a)
        dh = (grad @ b.T)*(h > 0)
        dA.insert(0, whole.T @ dh)
        dB.insert(0, h.T @ grad)
        dy = scatter(dh @ a.T)
    return x, dy, dA, dB
# %% wrong: relu's mask left out, backward
def sp_mlps(rank, n, x, A, B, dy):
    def gather(part):
        whole = part.new_empty(n*len(part), part.shape[1])
        dist.all_gather_into_tensor(whole, part)
        return whole
    def scatter(whole):
        part = torch.empty_like(dy)
        dist.reduce_scatter_tensor(part, whole)
        return part
    kept = []
    for a, b in zip(A, B):
        kept.append(x)
        x = scatter(torch.relu(gather(x) @ a) @ b)
    dA, dB = [], []
    for a, b, part in zip(A[::-1], B[::-1], kept[::-1]):
        whole, grad = gather(part), gather(dy)
        h = torch.relu(whole @ a)
        dh = grad @ b.T
        dA.insert(0, whole.T @ dh)
        dB.insert(0, h.T @ grad)
        dy = scatter(dh @ a.T)
    return x, dy, dA, dB
# %% wrong: gathers the input once for each weight, six collectives
def sp_mlps(rank, n, x, A, B, dy):
    def gather(part):
        whole = part.new_empty(n*len(part), part.shape[1])
        dist.all_gather_into_tensor(whole, part)
        return whole
    def scatter(whole):
        part = torch.empty_like(dy)
        dist.reduce_scatter_tensor(part, whole)
        return part
    kept = []
    for a, b in zip(A, B):
        kept.append(x)
        x = scatter(torch.relu(gather(x) @ a) @ b)
    dA, dB = [], []
    for a, b, part in zip(A[::-1], B[::-1], kept[::-1]):
        h = torch.relu(gather(part) @ a)
        grad = gather(dy)
        dB.insert(0, h.T @ grad)
        dh = (grad @ b.T)*(h > 0)
        dA.insert(0, gather(part).T @ dh)
        dy = scatter(dh @ a.T)
    return x, dy, dA, dB
# %% wrong: the gradients of all layers stacked to one tensor
def sp_mlps(rank, n, x, A, B, dy):
    def gather(part):
        whole = part.new_empty(n*len(part), part.shape[1])
        dist.all_gather_into_tensor(whole, part)
        return whole
    def scatter(whole):
        part = torch.empty_like(dy)
        dist.reduce_scatter_tensor(part, whole)
        return part
    kept = []
    for a, b in zip(A, B):
        kept.append(x)
        x = scatter(torch.relu(gather(x) @ a) @ b)
    dA, dB = [], []
    for a, b, part in zip(A[::-1], B[::-1], kept[::-1]):
        whole, grad = gather(part), gather(dy)
        h = torch.relu(whole @ a)
        dh = (grad @ b.T)*(h > 0)
        dA.insert(0, whole.T @ dh)
        dB.insert(0, h.T @ grad)
        dy = scatter(dh @ a.T)
    return x, dy, torch.stack(dA), torch.stack(dB)
# %% wrong: the last output's gradient in every layer
def sp_mlps(rank, n, x, A, B, dy):
    def gather(part):
        whole = part.new_empty(n*len(part), part.shape[1])
        dist.all_gather_into_tensor(whole, part)
        return whole
    def scatter(whole):
        part = torch.empty_like(dy)
        dist.reduce_scatter_tensor(part, whole)
        return part
    kept = []
    for a, b in zip(A, B):
        kept.append(x)
        x = scatter(torch.relu(gather(x) @ a) @ b)
    dA, dB = [], []
    grad = gather(dy)
    for a, b, part in zip(A[::-1], B[::-1], kept[::-1]):
        whole = gather(part)
        h = torch.relu(whole @ a)
        dh = (grad @ b.T)*(h > 0)
        dA.insert(0, whole.T @ dh)
        dB.insert(0, h.T @ grad)
        dx = scatter(dh @ a.T)
    return x, dx, dA, dB
# %% wrong: dx not added over the ranks
def sp_mlps(rank, n, x, A, B, dy):
    def gather(part):
        whole = part.new_empty(n*len(part), part.shape[1])
        dist.all_gather_into_tensor(whole, part.contiguous())
        return whole
    def scatter(whole):
        part = torch.empty_like(dy)
        dist.reduce_scatter_tensor(part, whole)
        return part
    kept = []
    for a, b in zip(A, B):
        kept.append(x)
        x = scatter(torch.relu(gather(x) @ a) @ b)
    dA, dB = [], []
    for a, b, part in zip(A[::-1], B[::-1], kept[::-1]):
        whole, grad = gather(part), gather(dy)
        h = torch.relu(whole @ a)
        dh = (grad @ b.T)*(h > 0)
        dA.insert(0, whole.T @ dh)
        dB.insert(0, h.T @ grad)
        dy = (dh @ a.T).chunk(n)[rank]
    return x, dy, dA, dB
# %% right: keeps its own hidden units, which are no gathered input
def sp_mlps(rank, n, x, A, B, dy):
    def gather(part):
        whole = part.new_empty(n*len(part), part.shape[1])
        dist.all_gather_into_tensor(whole, part)
        return whole
    def scatter(whole):
        part = torch.empty_like(dy)
        dist.reduce_scatter_tensor(part, whole)
        return part
    kept = []
    for a, b in zip(A, B):
        h = torch.relu(gather(x) @ a)
        kept.append((x, h))
        x = scatter(h @ b)
    del h
    dA, dB = [], []
    for a, b in zip(A[::-1], B[::-1]):
        part, h = kept.pop()
        grad = gather(dy)
        dB.insert(0, h.T @ grad)
        dh = (grad @ b.T).mul_(h > 0)
        del grad, h
        dA.insert(0, gather(part).T @ dh)
        dy = scatter(dh @ a.T)
    return x, dy, dA, dB
