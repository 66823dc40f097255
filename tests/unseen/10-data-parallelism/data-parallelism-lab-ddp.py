# %% right: hooks behind the accumulation, async
def ddp(rank, n, x, weights, bucket):
    full, works = [], []
    def flush():
        flat = torch.cat([p.grad.flatten() for p in full])/n
        works.append((dist.all_reduce(flat, async_op=True), flat, list(full)))
        full.clear()
    def ready(p):
        full.append(p)
        if len(full) == bucket:
            flush()
    for w in weights:
        w.requires_grad_()
        w.register_post_accumulate_grad_hook(ready)
    for w in weights:
        x = torch.tanh(x @ w)
    x.square().mean().backward()
    if full:
        flush()
    for work, flat, params in works:
        work.wait()
        for p, part in zip(params, flat.split([p.numel() for p in params])):
            p.grad = part.view_as(p)
    return [w.grad for w in weights]
# %% right: by hand, without autograd
def ddp(rank, n, x, weights, bucket):
    acts = [x]
    for w in weights:
        acts.append(torch.tanh(acts[-1] @ w))
    d = 2*acts[-1]/acts[-1].numel()/n
    grads, pending, works = [None]*len(weights), [], []
    for i in reversed(range(len(weights))):
        d = d*(1 - acts[i + 1]**2)
        grads[i] = acts[i].T @ d
        d = d @ weights[i].T
        pending.append(i)
        if len(pending) == bucket or i == 0:
            flat = torch.cat([grads[j].reshape(-1) for j in pending])
            works.append((pending, flat, dist.all_reduce(flat, async_op=True)))
            pending = []
    for ids, flat, work in works:
        work.wait()
        at = 0
        for j in ids:
            size = weights[j].numel()
            grads[j] = flat[at:at + size].reshape(weights[j].shape)
            at += size
    return grads
# %% right: gradients live in views of buckets, filled in by tensor hooks
def ddp(rank, n, x, weights, bucket):
    params = [w.detach().requires_grad_() for w in weights]
    order = list(range(len(params)))[::-1]
    buckets = [order[i:i + bucket] for i in range(0, len(order), bucket)]
    where, views, flats = {}, {}, []
    for b, ids in enumerate(buckets):
        flats.append(x.new_empty(sum(params[i].numel() for i in ids)))
        start = 0
        for i in ids:
            views[i] = flats[b][start:start + params[i].numel()].view(params[i].shape)
            where[i] = b
            start += params[i].numel()
    missing = [len(ids) for ids in buckets]
    handles = []
    def hook(i):
        def arrived(grad):
            views[i].copy_(grad)
            missing[where[i]] -= 1
            if not missing[where[i]]:
                handles.append(dist.all_reduce(flats[where[i]], async_op=True))
        return arrived
    for i, p in enumerate(params):
        p.register_hook(hook(i))
    for p in params:
        x = torch.tanh(x @ p)
    x.square().mean().backward()
    for handle in handles:
        handle.wait()
    for flat in flats:
        flat.mul_(1/n)
    return [views[i] for i in range(len(params))]
# %% right: loss over n, torch's own flattening, a group of its own
from torch._utils import _flatten_dense_tensors, _unflatten_dense_tensors
def ddp(rank, n, x, weights, bucket):
    group = dist.new_group(list(range(n)))
    waiting, sent = [], []
    def ship():
        grads = [w.grad for w in waiting]
        flat = _flatten_dense_tensors(grads)
        sent.append((dist.all_reduce(flat, group=group, async_op=True), flat, grads))
        waiting[:] = []
    def hook(w):
        waiting.append(w)
        if len(waiting) >= bucket or w is weights[0]:
            ship()
    for w in weights:
        w.requires_grad_(True).register_post_accumulate_grad_hook(hook)
    h = x
    for w in weights:
        h = (h @ w).tanh()
    (h.pow(2).mean()/n).backward()
    for work, flat, grads in sent:
        work.wait()
        for g, total in zip(grads, _unflatten_dense_tensors(flat, grads)):
            g.copy_(total)
    return tuple(w.grad for w in weights)
# %% right: an autograd function before each weight
def ddp(rank, n, x, weights, bucket):
    got, buckets, works = {}, [[]], []
    def launch(ids):
        flat = torch.hstack([got[i].ravel() for i in ids])
        works.append((dist.all_reduce(flat, op=dist.ReduceOp.SUM, async_op=True), flat, ids))
    class Watch(torch.autograd.Function):
        @staticmethod
        def forward(ctx, w, i):
            ctx.i = i
            return w.view_as(w)
        @staticmethod
        def backward(ctx, grad):
            got[ctx.i] = grad.clone()
            buckets[-1].append(ctx.i)
            if len(buckets[-1]) == bucket:
                launch(buckets[-1])
                buckets.append([])
            return grad, None
    for i, w in enumerate(weights):
        x = torch.tanh(x @ Watch.apply(w.requires_grad_(), i))
    torch.square(x).mean().backward()
    if buckets[-1]:
        launch(buckets[-1])
    out = [None]*len(weights)
    for work, flat, ids in works:
        work.wait()
        flat /= n
        for i in ids:
            out[i], flat = flat[:weights[i].numel()].reshape_as(weights[i]), flat[weights[i].numel():]
    return out
# %% right: one layer at a time by torch.autograd.grad
def ddp(rank, n, x, weights, bucket):
    inputs, outputs = [], []
    for w in weights:
        x = x.detach().requires_grad_()
        w.requires_grad_()
        inputs.append(x)
        x = torch.tanh(x @ w)
        outputs.append(x)
    top = outputs[-1].detach().requires_grad_()
    upper, = torch.autograd.grad(top.square().mean(), top)
    parts, ids, works, result = [], [], [], {}
    for i in range(len(weights) - 1, -1, -1):
        upper, g = torch.autograd.grad(outputs[i], (inputs[i], weights[i]), upper)
        parts.append(g.reshape(-1)/n)
        ids.append(i)
        if len(parts) == bucket or i == 0:
            whole = torch.cat(parts)
            works.append((dist.all_reduce(whole, async_op=True), whole, ids))
            parts, ids = [], []
    for work, whole, ids in works:
        work.wait()
        for i, piece in zip(ids, torch.split(whole, [weights[i].numel() for i in ids])):
            result[i] = piece.reshape(weights[i].shape)
    return [result[i] for i in range(len(weights))]
# %% wrong: a sum and no mean
def ddp(rank, n, x, weights, bucket):
    full, works = [], []
    def flush():
        flat = torch.cat([p.grad.flatten() for p in full])
        works.append((dist.all_reduce(flat, async_op=True), flat, list(full)))
        full.clear()
    def ready(p):
        full.append(p)
        if len(full) == bucket:
            flush()
    for w in weights:
        w.requires_grad_()
        w.register_post_accumulate_grad_hook(ready)
    for w in weights:
        x = torch.tanh(x @ w)
    x.square().mean().backward()
    if full:
        flush()
    for work, flat, params in works:
        work.wait()
        for p, part in zip(params, flat.split([p.numel() for p in params])):
            p.grad = part.view_as(p)
    return [w.grad for w in weights]
# %% wrong: divided by the ranks twice
def ddp(rank, n, x, weights, bucket):
    full, works = [], []
    def flush():
        flat = torch.cat([p.grad.flatten() for p in full])/n
        works.append((dist.all_reduce(flat, async_op=True), flat, list(full)))
        full.clear()
    def ready(p):
        full.append(p)
        if len(full) == bucket:
            flush()
    for w in weights:
        w.requires_grad_()
        w.register_post_accumulate_grad_hook(ready)
    for w in weights:
        x = torch.tanh(x @ w)
    x.square().mean().backward()
    if full:
        flush()
    for work, flat, params in works:
        work.wait()
        for p, part in zip(params, flat.split([p.numel() for p in params])):
            p.grad = part.view_as(p)/n
    return [w.grad for w in weights]
# %% wrong: a message for each weight
def ddp(rank, n, x, weights, bucket):
    full, works = [], []
    def flush():
        flat = torch.cat([p.grad.flatten() for p in full])/n
        works.append((dist.all_reduce(flat, async_op=True), flat, list(full)))
        full.clear()
    def ready(p):
        full.append(p)
        if True:
            flush()
    for w in weights:
        w.requires_grad_()
        w.register_post_accumulate_grad_hook(ready)
    for w in weights:
        x = torch.tanh(x @ w)
    x.square().mean().backward()
    if full:
        flush()
    for work, flat, params in works:
        work.wait()
        for p, part in zip(params, flat.split([p.numel() for p in params])):
            p.grad = part.view_as(p)
    return [w.grad for w in weights]
# %% wrong: everything in one message at the end
def ddp(rank, n, x, weights, bucket):
    full, works = [], []
    def flush():
        flat = torch.cat([p.grad.flatten() for p in full])/n
        works.append((dist.all_reduce(flat, async_op=True), flat, list(full)))
        full.clear()
    def ready(p):
        full.append(p)
    for w in weights:
        w.requires_grad_()
        w.register_post_accumulate_grad_hook(ready)
    for w in weights:
        x = torch.tanh(x @ w)
    x.square().mean().backward()
    if full:
        flush()
    for work, flat, params in works:
        work.wait()
        for p, part in zip(params, flat.split([p.numel() for p in params])):
            p.grad = part.view_as(p)
    return [w.grad for w in weights]
# %% wrong: waits for each bucket in the hook
def ddp(rank, n, x, weights, bucket):
    full, works = [], []
    def flush():
        flat = torch.cat([p.grad.flatten() for p in full])/n
        works.append((dist.all_reduce(flat, async_op=True), flat, list(full)))
        works[-1][0].wait()
        full.clear()
    def ready(p):
        full.append(p)
        if len(full) == bucket:
            flush()
    for w in weights:
        w.requires_grad_()
        w.register_post_accumulate_grad_hook(ready)
    for w in weights:
        x = torch.tanh(x @ w)
    x.square().mean().backward()
    if full:
        flush()
    for work, flat, params in works:
        work.wait()
        for p, part in zip(params, flat.split([p.numel() for p in params])):
            p.grad = part.view_as(p)
    return [w.grad for w in weights]
# %% wrong: blocking all-reduce in the hook
def ddp(rank, n, x, weights, bucket):
    full, works = [], []
    def flush():
        flat = torch.cat([p.grad.flatten() for p in full])/n
        dist.all_reduce(flat)
        works.append((None, flat, list(full)))
        full.clear()
    def ready(p):
        full.append(p)
        if len(full) == bucket:
            flush()
    for w in weights:
        w.requires_grad_()
        w.register_post_accumulate_grad_hook(ready)
    for w in weights:
        x = torch.tanh(x @ w)
    x.square().mean().backward()
    if full:
        flush()
    for work, flat, params in works:
        for p, part in zip(params, flat.split([p.numel() for p in params])):
            p.grad = part.view_as(p)
    return [w.grad for w in weights]
# %% wrong: the last, half-full bucket stays at home
def ddp(rank, n, x, weights, bucket):
    full, works = [], []
    def flush():
        flat = torch.cat([p.grad.flatten() for p in full])/n
        works.append((dist.all_reduce(flat, async_op=True), flat, list(full)))
        full.clear()
    def ready(p):
        full.append(p)
        if len(full) == bucket:
            flush()
    for w in weights:
        w.requires_grad_()
        w.register_post_accumulate_grad_hook(ready)
    for w in weights:
        x = torch.tanh(x @ w)
    x.square().mean().backward()
    for work, flat, params in works:
        work.wait()
        for p, part in zip(params, flat.split([p.numel() for p in params])):
            p.grad = part.view_as(p)
    return [w.grad for w in weights]
# %% wrong: gradients in the order of the backward pass
def ddp(rank, n, x, weights, bucket):
    full, works = [], []
    def flush():
        flat = torch.cat([p.grad.flatten() for p in full])/n
        works.append((dist.all_reduce(flat, async_op=True), flat, list(full)))
        full.clear()
    def ready(p):
        full.append(p)
        if len(full) == bucket:
            flush()
    for w in weights:
        w.requires_grad_()
        w.register_post_accumulate_grad_hook(ready)
    for w in weights:
        x = torch.tanh(x @ w)
    x.square().mean().backward()
    if full:
        flush()
    for work, flat, params in works:
        work.wait()
        for p, part in zip(params, flat.split([p.numel() for p in params])):
            p.grad = part.view_as(p)
    return [w.grad for w in weights[::-1]]
# %% wrong: nobody waits
def ddp(rank, n, x, weights, bucket):
    full, works = [], []
    def flush():
        flat = torch.cat([p.grad.flatten() for p in full])/n
        works.append((dist.all_reduce(flat, async_op=True), flat, list(full)))
        full.clear()
    def ready(p):
        full.append(p)
        if len(full) == bucket:
            flush()
    for w in weights:
        w.requires_grad_()
        w.register_post_accumulate_grad_hook(ready)
    for w in weights:
        x = torch.tanh(x @ w)
    x.square().mean().backward()
    if full:
        flush()
    for work, flat, params in works:
        for p, part in zip(params, flat.split([p.numel() for p in params])):
            p.grad = part.view_as(p)
    return [w.grad for w in weights]
# %% wrong: copied back before the wait
def ddp(rank, n, x, weights, bucket):
    full, works = [], []
    def flush():
        flat = torch.cat([p.grad.flatten() for p in full])/n
        works.append((dist.all_reduce(flat, async_op=True), flat, list(full)))
        full.clear()
    def ready(p):
        full.append(p)
        if len(full) == bucket:
            flush()
    for w in weights:
        w.requires_grad_()
        w.register_post_accumulate_grad_hook(ready)
    for w in weights:
        x = torch.tanh(x @ w)
    x.square().mean().backward()
    if full:
        flush()
    for work, flat, params in works:
        for p, part in zip(params, flat.split([p.numel() for p in params])):
            p.grad = part.view_as(p).clone()
        work.wait()
    return [w.grad for w in weights]
# %% wrong: sums are never copied back
def ddp(rank, n, x, weights, bucket):
    full, works = [], []
    def flush():
        flat = torch.cat([p.grad.flatten() for p in full])/n
        works.append((dist.all_reduce(flat, async_op=True), flat, list(full)))
        full.clear()
    def ready(p):
        full.append(p)
        if len(full) == bucket:
            flush()
    for w in weights:
        w.requires_grad_()
        w.register_post_accumulate_grad_hook(ready)
    for w in weights:
        x = torch.tanh(x @ w)
    x.square().mean().backward()
    if full:
        flush()
    for work, flat, params in works:
        work.wait()
        for p, part in zip(params, flat.split([p.numel() for p in params])):
            pass
    return [w.grad for w in weights]
# %% wrong: a sum of squares as the loss
def ddp(rank, n, x, weights, bucket):
    full, works = [], []
    def flush():
        flat = torch.cat([p.grad.flatten() for p in full])/n
        works.append((dist.all_reduce(flat, async_op=True), flat, list(full)))
        full.clear()
    def ready(p):
        full.append(p)
        if len(full) == bucket:
            flush()
    for w in weights:
        w.requires_grad_()
        w.register_post_accumulate_grad_hook(ready)
    for w in weights:
        x = torch.tanh(x @ w)
    x.square().sum().backward()
    if full:
        flush()
    for work, flat, params in works:
        work.wait()
        for p, part in zip(params, flat.split([p.numel() for p in params])):
            p.grad = part.view_as(p)
    return [w.grad for w in weights]
# %% wrong: one weight too many in a bucket
def ddp(rank, n, x, weights, bucket):
    full, works = [], []
    def flush():
        flat = torch.cat([p.grad.flatten() for p in full])/n
        works.append((dist.all_reduce(flat, async_op=True), flat, list(full)))
        full.clear()
    def ready(p):
        full.append(p)
        if len(full) > bucket:
            flush()
    for w in weights:
        w.requires_grad_()
        w.register_post_accumulate_grad_hook(ready)
    for w in weights:
        x = torch.tanh(x @ w)
    x.square().mean().backward()
    if full:
        flush()
    for work, flat, params in works:
        work.wait()
        for p, part in zip(params, flat.split([p.numel() for p in params])):
            p.grad = part.view_as(p)
    return [w.grad for w in weights]
# %% wrong: bucket is taken as the number of buckets
def ddp(rank, n, x, weights, bucket):
    full, works = [], []
    def flush():
        flat = torch.cat([p.grad.flatten() for p in full])/n
        works.append((dist.all_reduce(flat, async_op=True), flat, list(full)))
        full.clear()
    def ready(p):
        full.append(p)
        if len(full) == -(-len(weights)//bucket):
            flush()
    for w in weights:
        w.requires_grad_()
        w.register_post_accumulate_grad_hook(ready)
    for w in weights:
        x = torch.tanh(x @ w)
    x.square().mean().backward()
    if full:
        flush()
    for work, flat, params in works:
        work.wait()
        for p, part in zip(params, flat.split([p.numel() for p in params])):
            p.grad = part.view_as(p)
    return [w.grad for w in weights]
# %% wrong: weights of a bucket in the other order when unpacked
def ddp(rank, n, x, weights, bucket):
    full, works = [], []
    def flush():
        flat = torch.cat([p.grad.flatten() for p in full])/n
        works.append((dist.all_reduce(flat, async_op=True), flat, list(full)))
        full.clear()
    def ready(p):
        full.append(p)
        if len(full) == bucket:
            flush()
    for w in weights:
        w.requires_grad_()
        w.register_post_accumulate_grad_hook(ready)
    for w in weights:
        x = torch.tanh(x @ w)
    x.square().mean().backward()
    if full:
        flush()
    for work, flat, params in works:
        work.wait()
        for p, part in zip(params[::-1], flat.split([p.numel() for p in params[::-1]])):
            p.grad = part.view_as(p)
    return [w.grad for w in weights]
# %% wrong: weights of a bucket sent one by one
def ddp(rank, n, x, weights, bucket):
    full, works = [], []
    def flush():
        for p in full:
            flat = p.grad.flatten()/n
            works.append((dist.all_reduce(flat, async_op=True), flat, [p]))
        full.clear()
    def ready(p):
        full.append(p)
        if len(full) == bucket:
            flush()
    for w in weights:
        w.requires_grad_()
        w.register_post_accumulate_grad_hook(ready)
    for w in weights:
        x = torch.tanh(x @ w)
    x.square().mean().backward()
    if full:
        flush()
    for work, flat, params in works:
        work.wait()
        for p, part in zip(params, flat.split([p.numel() for p in params])):
            p.grad = part.view_as(p)
    return [w.grad for w in weights]
# %% wrong: no tanh in the model
def ddp(rank, n, x, weights, bucket):
    full, works = [], []
    def flush():
        flat = torch.cat([p.grad.flatten() for p in full])/n
        works.append((dist.all_reduce(flat, async_op=True), flat, list(full)))
        full.clear()
    def ready(p):
        full.append(p)
        if len(full) == bucket:
            flush()
    for w in weights:
        w.requires_grad_()
        w.register_post_accumulate_grad_hook(ready)
    for w in weights:
        x = x @ w
    x.square().mean().backward()
    if full:
        flush()
    for work, flat, params in works:
        work.wait()
        for p, part in zip(params, flat.split([p.numel() for p in params])):
            p.grad = part.view_as(p)
    return [w.grad for w in weights]
# %% wrong: own gradients, nothing sent
def ddp(rank, n, x, weights, bucket):
    full, works = [], []
    def flush():
        flat = torch.cat([p.grad.flatten() for p in full])/n
        pass
        full.clear()
    def ready(p):
        full.append(p)
        if len(full) == bucket:
            flush()
    for w in weights:
        w.requires_grad_()
        w.register_post_accumulate_grad_hook(ready)
    for w in weights:
        x = torch.tanh(x @ w)
    x.square().mean().backward()
    if full:
        flush()
    for work, flat, params in works:
        work.wait()
        for p, part in zip(params, flat.split([p.numel() for p in params])):
            p.grad = part.view_as(p)
    return [w.grad for w in weights]
# %% wrong: divided by the weights of the bucket
def ddp(rank, n, x, weights, bucket):
    full, works = [], []
    def flush():
        flat = torch.cat([p.grad.flatten() for p in full])/len(full)
        works.append((dist.all_reduce(flat, async_op=True), flat, list(full)))
        full.clear()
    def ready(p):
        full.append(p)
        if len(full) == bucket:
            flush()
    for w in weights:
        w.requires_grad_()
        w.register_post_accumulate_grad_hook(ready)
    for w in weights:
        x = torch.tanh(x @ w)
    x.square().mean().backward()
    if full:
        flush()
    for work, flat, params in works:
        work.wait()
        for p, part in zip(params, flat.split([p.numel() for p in params])):
            p.grad = part.view_as(p)
    return [w.grad for w in weights]
# %% wrong: a mean and no squares as the loss
def ddp(rank, n, x, weights, bucket):
    full, works = [], []
    def flush():
        flat = torch.cat([p.grad.flatten() for p in full])/n
        works.append((dist.all_reduce(flat, async_op=True), flat, list(full)))
        full.clear()
    def ready(p):
        full.append(p)
        if len(full) == bucket:
            flush()
    for w in weights:
        w.requires_grad_()
        w.register_post_accumulate_grad_hook(ready)
    for w in weights:
        x = torch.tanh(x @ w)
    x.mean().backward()
    if full:
        flush()
    for work, flat, params in works:
        work.wait()
        for p, part in zip(params, flat.split([p.numel() for p in params])):
            p.grad = part.view_as(p)
    return [w.grad for w in weights]
# %% wrong: the largest gradient and not the sum
def ddp(rank, n, x, weights, bucket):
    full, works = [], []
    def flush():
        flat = torch.cat([p.grad.flatten() for p in full])/n
        works.append((dist.all_reduce(flat, op=dist.ReduceOp.MAX, async_op=True), flat, list(full)))
        full.clear()
    def ready(p):
        full.append(p)
        if len(full) == bucket:
            flush()
    for w in weights:
        w.requires_grad_()
        w.register_post_accumulate_grad_hook(ready)
    for w in weights:
        x = torch.tanh(x @ w)
    x.square().mean().backward()
    if full:
        flush()
    for work, flat, params in works:
        work.wait()
        for p, part in zip(params, flat.split([p.numel() for p in params])):
            p.grad = part.view_as(p)
    return [w.grad for w in weights]
