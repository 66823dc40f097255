# %% right: autograd on detached copies, shapes by name
def tp_mlp(rank, n, x, A, B, dy):
    xin, first, second = (t.detach().clone().requires_grad_() for t in (x, A, B))
    out = torch.relu(xin @ first) @ second
    out.backward(dy)
    whole = out.detach()
    dist.all_reduce(whole)
    dist.all_reduce(xin.grad)
    return {"y": whole, "dx": xin.grad, "dA": first.grad, "dB": second.grad}
# %% right: by hand
def tp_mlp(rank, n, x, A, B, dy):
    z = x @ A
    h = z.clamp(min=0)
    y = h @ B
    dist.all_reduce(y)
    dB = h.T @ dy
    dz = (dy @ B.T)*(z > 0)
    dA = x.T @ dz
    dx = dz @ A.T
    dist.all_reduce(dx)
    return y, dx, dA, dB
# %% right: Megatron's f and g as autograd functions
def tp_mlp(rank, n, x, A, B, dy):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, t):
            return t.view_as(t)
        @staticmethod
        def backward(ctx, grad):
            grad = grad.clone()
            dist.all_reduce(grad)
            return grad
    class G(torch.autograd.Function):
        @staticmethod
        def forward(ctx, t):
            t = t.clone()
            dist.all_reduce(t)
            return t
        @staticmethod
        def backward(ctx, grad):
            return grad
    for t in (x, A, B):
        t.requires_grad_()
    y = G.apply(torch.relu(F.apply(x) @ A) @ B)
    y.backward(dy)
    return y.detach(), x.grad, A.grad, B.grad
# %% right: the first sum on its way during the backward pass
def tp_mlp(rank, n, x, A, B, dy):
    h = torch.nn.functional.relu(x @ A)
    y = torch.mm(h, B)
    first = dist.all_reduce(y, async_op=True)
    dh = torch.where(h > 0, dy @ B.t(), torch.zeros_like(h))
    dx = dh @ A.t()
    second = dist.all_reduce(dx, async_op=True)
    dA, dB = x.t() @ dh, h.t() @ dy
    first.wait()
    second.wait()
    return y, dx, dA, dB
# %% right: torch.autograd.grad, in a group of its own
def tp_mlp(rank, n, x, A, B, dy):
    everyone = dist.new_group(list(range(n)))
    leaves = [t.requires_grad_(True) for t in (x, A, B)]
    y = torch.einsum("bf,fd->bd", torch.einsum("bd,df->bf", x, A).relu(), B)
    dx, dA, dB = torch.autograd.grad(y, leaves, grad_outputs=dy)
    dx, y = dx.contiguous(), y.detach().clone()
    for t in (dx, y):
        dist.all_reduce(t, group=everyone)
    return [y, dx, dA, dB]
# %% right: a hook on x, and the loss as a scalar
def tp_mlp(rank, n, x, A, B, dy):
    x.requires_grad_(); A.requires_grad_(); B.requires_grad_()
    def add(grad):
        grad = grad.clone()
        dist.all_reduce(grad, op=dist.ReduceOp.SUM)
        return grad
    x.register_hook(add)
    y = torch.relu(x @ A) @ B
    (y*dy).sum().backward()
    total = y.detach()
    dist.all_reduce(total)
    return total, x.grad, A.grad, B.grad
# %% right: einsum with transposed factors and a float mask
def tp_mlp(rank, n, x, A, B, dy):
    z = torch.einsum("bi,ij->bj", x, A)
    on = (z > 0).to(z.dtype)
    y = torch.einsum("bj,jo->bo", z*on, B).contiguous()
    back = torch.einsum("bo,jo->bj", dy, B)*on
    dx = torch.einsum("bj,ij->bi", back, A).contiguous()
    dA, dB = torch.einsum("bi,bj->ij", x, back), torch.einsum("bj,bo->jo", z*on, dy)
    [dist.all_reduce(t) for t in (y, dx)]
    return y, dx, dA, dB
# %% wrong: dx is not summed
def tp_mlp(rank, n, x, A, B, dy):
    x.requires_grad_(), A.requires_grad_(), B.requires_grad_()
    y = torch.relu(x @ A) @ B
    y.backward(dy)
    y = y.detach()
    dist.all_reduce(y)
    return y, x.grad, A.grad, B.grad
# %% wrong: y is not summed
def tp_mlp(rank, n, x, A, B, dy):
    x.requires_grad_(), A.requires_grad_(), B.requires_grad_()
    y = torch.relu(x @ A) @ B
    y.backward(dy)
    dist.all_reduce(x.grad)
    return y.detach(), x.grad, A.grad, B.grad
# %% wrong: mean in the place of a sum
def tp_mlp(rank, n, x, A, B, dy):
    x.requires_grad_(), A.requires_grad_(), B.requires_grad_()
    y = torch.relu(x @ A) @ B
    y.backward(dy)
    y = y.detach()
    dist.all_reduce(y)
    dist.all_reduce(x.grad)
    return y/n, x.grad/n, A.grad, B.grad
# %% wrong: only the gradient is averaged, as in data parallelism
def tp_mlp(rank, n, x, A, B, dy):
    x.requires_grad_(), A.requires_grad_(), B.requires_grad_()
    y = torch.relu(x @ A) @ B
    y.backward(dy)
    y = y.detach()
    dist.all_reduce(y)
    dist.all_reduce(x.grad)
    x.grad /= n
    return y, x.grad, A.grad, B.grad
# %% wrong: sums the gradients of the weights too
def tp_mlp(rank, n, x, A, B, dy):
    x.requires_grad_(), A.requires_grad_(), B.requires_grad_()
    y = torch.relu(x @ A) @ B
    y.backward(dy)
    y = y.detach()
    for t in (y, x.grad, A.grad, B.grad):
        dist.all_reduce(t)
    return y, x.grad, A.grad, B.grad
# %% wrong: dy summed, as if it were a part
def tp_mlp(rank, n, x, A, B, dy):
    h = torch.relu(x @ A)
    y = h @ B
    dist.all_reduce(y)
    dist.all_reduce(dy)
    dh = (dy @ B.T)*(h > 0)
    return y, dh @ A.T, x.T @ dh, h.T @ dy
# %% wrong: dy summed and dx summed
def tp_mlp(rank, n, x, A, B, dy):
    h = torch.relu(x @ A)
    y = h @ B
    dist.all_reduce(y)
    dist.all_reduce(dy)
    dh = (dy @ B.T)*(h > 0)
    dx = dh @ A.T
    dist.all_reduce(dx)
    return y, dx, x.T @ dh, h.T @ dy
# %% wrong: relu forgotten in the backward pass
def tp_mlp(rank, n, x, A, B, dy):
    h = torch.relu(x @ A)
    y = h @ B
    dist.all_reduce(y)
    dh = dy @ B.T
    dx = dh @ A.T
    dist.all_reduce(dx)
    return y, dx, x.T @ dh, h.T @ dy
# %% wrong: relu behind the sum
def tp_mlp(rank, n, x, A, B, dy):
    h = torch.relu(x @ A)
    y = h @ B
    dist.all_reduce(y)
    y = torch.relu(y)
    dh = (dy @ B.T)*(h > 0)
    dx = dh @ A.T
    dist.all_reduce(dx)
    return y, dx, x.T @ dh, h.T @ dy
# %% wrong: a hook sums dx, and then it is summed again
def tp_mlp(rank, n, x, A, B, dy):
    x.requires_grad_(), A.requires_grad_(), B.requires_grad_()
    def add(grad):
        grad = grad.clone()
        dist.all_reduce(grad)
        return grad
    x.register_hook(add)
    y = torch.relu(x @ A) @ B
    y.backward(dy)
    y = y.detach()
    dist.all_reduce(y)
    dist.all_reduce(x.grad)
    return y, x.grad, A.grad, B.grad
# %% wrong: gradient of B from what stood before the relu
def tp_mlp(rank, n, x, A, B, dy):
    z = x @ A
    y = torch.relu(z) @ B
    dist.all_reduce(y)
    dz = (dy @ B.T)*(z > 0)
    dx = dz @ A.T
    dist.all_reduce(dx)
    return y, dx, x.T @ dz, z.T @ dy
# %% wrong: gradients of the weights transposed
def tp_mlp(rank, n, x, A, B, dy):
    h = torch.relu(x @ A)
    y = h @ B
    dist.all_reduce(y)
    dh = (dy @ B.T)*(h > 0)
    dx = dh @ A.T
    dist.all_reduce(dx)
    return y, dx, dh.T @ x, dy.T @ h
# %% wrong: dA and dB exchanged in what is returned
def tp_mlp(rank, n, x, A, B, dy):
    h = torch.relu(x @ A)
    y = h @ B
    dist.all_reduce(y)
    dh = (dy @ B.T)*(h > 0)
    dx = dh @ A.T
    dist.all_reduce(dx)
    return y, dx, h.T @ dy, x.T @ dh
# %% wrong: both sums started and never waited for
def tp_mlp(rank, n, x, A, B, dy):
    h = torch.relu(x @ A)
    y = h @ B
    dist.all_reduce(y, async_op=True)
    dh = (dy @ B.T)*(h > 0)
    dx = dh @ A.T
    dist.all_reduce(dx, async_op=True)
    return y, dx, x.T @ dh, h.T @ dy
# %% wrong: weights of all ranks returned, put together by sums
def tp_mlp(rank, n, x, A, B, dy):
    h = torch.relu(x @ A)
    y = h @ B
    dist.all_reduce(y)
    dh = (dy @ B.T)*(h > 0)
    dx = dh @ A.T
    dist.all_reduce(dx)
    w = A.shape[1]
    dA, dB = x.new_zeros(len(A), n*w), x.new_zeros(n*w, len(A))
    dA[:, rank*w:(rank + 1)*w] = x.T @ dh
    dB[rank*w:(rank + 1)*w] = h.T @ dy
    dist.all_reduce(dA)
    dist.all_reduce(dB)
    return y, dx, dA, dB
# %% wrong: the output summed again with the gradient, a third sum
def tp_mlp(rank, n, x, A, B, dy):
    h = torch.relu(x @ A)
    y = h @ B
    dist.all_reduce(y)
    back = dy.clone()
    dist.all_reduce(back)
    back /= n
    dh = (back @ B.T)*(h > 0)
    dx = dh @ A.T
    dist.all_reduce(dx)
    return y, dx, x.T @ dh, h.T @ back
# %% wrong: sums a copy of dx and returns the other
def tp_mlp(rank, n, x, A, B, dy):
    h = torch.relu(x @ A)
    y = h @ B
    total = y.clone()
    dist.all_reduce(total)
    dh = (dy @ B.T)*(h > 0)
    dx = dh @ A.T
    dist.all_reduce(dx.clone())
    return total, dx, x.T @ dh, h.T @ dy
