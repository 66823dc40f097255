# %% right: gradients by hand, isend forward, send back
import torch
import torch.distributed as dist
def train_stage(rank, n, w, xs, dys, m, b):
    d = w.shape[0]
    total = torch.zeros_like(w)
    kept, works = [], []
    def forward(i):
        if rank == 0:
            x = xs[i]
        else:
            x = w.new_empty(b, d)
            dist.recv(x, rank - 1)
        y = torch.tanh(x @ w)
        kept.append((x, y))
        if rank < n - 1:
            works.append(dist.isend(y, rank + 1))
    def backward(i):
        if rank == n - 1:
            dy = dys[i]
        else:
            dy = w.new_empty(b, d)
            dist.recv(dy, rank + 1)
            works.pop(0).wait()
        x, y = kept.pop(0)
        dz = dy*(1 - y*y)
        total.add_(x.T @ dz)
        if rank > 0:
            dist.send(dz @ w.T, rank - 1)
    ahead = min(n - 1 - rank, m)
    for i in range(ahead):
        forward(i)
    for i in range(m - ahead):
        forward(ahead + i)
        backward(i)
    for i in range(m - ahead, m):
        backward(i)
    return total
# %% right: autograd, a queue of graphs
import torch
import torch.distributed as dist
from collections import deque
def train_stage(rank, n, w, xs, dys, m, b):
    w = w.detach().requires_grad_()
    queue, sent = deque(), deque()
    done_F = done_B = 0
    warm = n - rank
    while done_B < m:
        if done_F < m and done_F - done_B < warm:
            if rank:
                x = torch.empty((b, w.shape[0]), dtype=w.dtype)
                dist.recv(x, src=rank - 1)
            else:
                x = xs[done_F].clone()
            x.requires_grad_(rank > 0)
            y = (x @ w).tanh()
            queue.append((x, y))
            if rank + 1 < n:
                sent.append(dist.isend(y.detach(), dst=rank + 1))
            done_F += 1
        else:
            if rank + 1 < n:
                g = torch.empty((b, w.shape[0]), dtype=w.dtype)
                dist.recv(g, src=rank + 1)
                sent.popleft().wait()
            else:
                g = dys[done_B]
            x, y = queue.popleft()
            y.backward(g)
            if rank:
                dist.send(x.grad, dst=rank - 1)
            del x, y, g
            done_B += 1
    return w.grad
# %% right: pairs of a send and a receive in one batch
import torch
import torch.distributed as dist
def train_stage(rank, n, w, xs, dys, m, b):
    first, last = rank == 0, rank == n - 1
    blank = lambda: torch.empty(b, w.shape[1], dtype=w.dtype)
    def exchange(*ops):
        if ops:
            for work in dist.batch_isend_irecv(list(ops)):
                work.wait()
    def get_x(i):
        if first:
            return xs[i]
        x = blank()
        exchange(dist.P2POp(dist.irecv, x, rank - 1))
        return x
    gw = torch.zeros_like(w)
    saved = []
    def F(x):
        y = torch.tanh(torch.mm(x, w))
        saved.append((x, y))
        return y
    def B(dy):
        x, y = saved.pop(0)
        dz = (1 - y.square()).mul_(dy)
        gw.addmm_(x.t(), dz)
        return dz.mm(w.t())
    warm = min(m, n - rank - 1)
    for i in range(warm):
        y = F(get_x(i))
        exchange(dist.P2POp(dist.isend, y, rank + 1))
        del y
    x = get_x(warm) if warm < m else None
    for i in range(m - warm):
        y = F(x)
        x = None
        if last:
            dy = dys[i]
        else:
            dy = blank()
            exchange(dist.P2POp(dist.isend, y, rank + 1), dist.P2POp(dist.irecv, dy, rank + 1))
        del y
        dx = B(dy)
        more = i < m - warm - 1
        if first:
            x = xs[warm + i + 1] if more else None
        else:
            ops = [dist.P2POp(dist.isend, dx, rank - 1)]
            if more:
                x = blank()
                ops.append(dist.P2POp(dist.irecv, x, rank - 1))
            exchange(*ops)
        del dx, dy
    for i in range(m - warm, m):
        dy = blank()
        exchange(dist.P2POp(dist.irecv, dy, rank + 1))
        dx = B(dy)
        if not first:
            exchange(dist.P2POp(dist.isend, dx, rank - 1))
    return gw
# %% right: the list of passes first, then carried out
import torch
import torch.distributed as dist
def train_stage(rank, n, w, xs, dys, m, b):
    lead = n - rank
    passes = []
    for i in range(m + lead):
        if i < m:
            passes.append(("F", i))
        if i >= lead - 1 and i - lead + 1 < m:
            passes.append(("B", i - lead + 1))
    act, out, grad = {}, {}, torch.zeros_like(w)
    for kind, i in passes:
        if kind == "F":
            if rank == 0:
                x = xs[i]
            else:
                x = torch.empty((b, len(w)), dtype=w.dtype)
                dist.irecv(x, rank - 1).wait()
            y = torch.tanh(x @ w)
            act[i] = x, y
            if rank != n - 1:
                out[i] = dist.isend(y, rank + 1)
            del x, y
        else:
            if rank == n - 1:
                dy = dys[i]
            else:
                dy = torch.empty((b, len(w)), dtype=w.dtype)
                dist.irecv(dy, rank + 1).wait()
                out.pop(i).wait()
            x, y = act.pop(i)
            delta = dy - dy*y**2
            del y, dy
            grad = grad + torch.einsum("bi,bj->ij", x, delta)
            if rank != 0:
                dist.isend(torch.einsum("bj,ij->bi", delta, w), rank - 1).wait()
            del x, delta
    return grad
# %% right: inputs only are kept, outputs computed again
import torch
import torch.distributed as dist
def train_stage(rank, n, w, xs, dys, m, b):
    inputs, works = [], []
    grad = w*0
    ahead = n - 1 - rank
    for k in range(m + ahead):
        if k < m:
            x = xs[k] if rank == 0 else w.new_zeros((b, w.shape[0]))
            if rank > 0:
                dist.recv(x, rank - 1)
            inputs.append(x)
            if rank < n - 1:
                works.append((y := (x @ w).tanh(), dist.isend(y, rank + 1)))
                del y
        if k >= ahead:
            i = k - ahead
            g = dys[i] if rank == n - 1 else w.new_zeros((b, w.shape[0]))
            if rank < n - 1:
                dist.recv(g, rank + 1)
                works.pop(0)[1].wait()
            x = inputs.pop(0)
            z = x @ w
            g = g/torch.cosh(z)**2
            grad += x.T @ g
            if rank > 0:
                dist.send(g @ w.T, rank - 1)
    return grad
# %% wrong: GPipe, all forward passes first
import torch
import torch.distributed as dist
def train_stage(rank, n, w, xs, dys, m, b):
    d = w.shape[0]
    total = torch.zeros_like(w)
    kept, works = [], []
    def forward(i):
        if rank == 0:
            x = xs[i]
        else:
            x = w.new_empty(b, d)
            dist.recv(x, rank - 1)
        y = torch.tanh(x @ w)
        kept.append((x, y))
        if rank < n - 1:
            works.append(dist.isend(y, rank + 1))
    def backward(i):
        if rank == n - 1:
            dy = dys[i]
        else:
            dy = w.new_empty(b, d)
            dist.recv(dy, rank + 1)
            works.pop(0).wait()
        x, y = kept.pop(0)
        dz = dy*(1 - y*y)
        total.add_(x.T @ dz)
        if rank > 0:
            dist.send(dz @ w.T, rank - 1)
    ahead = m
    for i in range(ahead):
        forward(i)
    for i in range(m - ahead):
        forward(ahead + i)
        backward(i)
    for i in range(m - ahead, m):
        backward(i)
    return total
# %% wrong: runs three times as far ahead
import torch
import torch.distributed as dist
def train_stage(rank, n, w, xs, dys, m, b):
    d = w.shape[0]
    total = torch.zeros_like(w)
    kept, works = [], []
    def forward(i):
        if rank == 0:
            x = xs[i]
        else:
            x = w.new_empty(b, d)
            dist.recv(x, rank - 1)
        y = torch.tanh(x @ w)
        kept.append((x, y))
        if rank < n - 1:
            works.append(dist.isend(y, rank + 1))
    def backward(i):
        if rank == n - 1:
            dy = dys[i]
        else:
            dy = w.new_empty(b, d)
            dist.recv(dy, rank + 1)
            works.pop(0).wait()
        x, y = kept.pop(0)
        dz = dy*(1 - y*y)
        total.add_(x.T @ dz)
        if rank > 0:
            dist.send(dz @ w.T, rank - 1)
    ahead = min(3*(n - rank) + 3, m)
    for i in range(ahead):
        forward(i)
    for i in range(m - ahead):
        forward(ahead + i)
        backward(i)
    for i in range(m - ahead, m):
        backward(i)
    return total
# %% wrong: one microbatch at a time
import torch
import torch.distributed as dist
def train_stage(rank, n, w, xs, dys, m, b):
    total = torch.zeros_like(w)
    for i in range(m):
        if rank == 0:
            x = xs[i]
        else:
            x = w.new_empty(b, w.shape[0])
            dist.recv(x, rank - 1)
        y = torch.tanh(x @ w)
        if rank < n - 1:
            dist.send(y, rank + 1)
            dy = w.new_empty(b, w.shape[0])
            dist.recv(dy, rank + 1)
        else:
            dy = dys[i]
        dz = dy*(1 - y*y)
        total += x.T @ dz
        if rank > 0:
            dist.send(dz @ w.T, rank - 1)
    return total
# %% wrong: the mean of the microbatches
import torch
import torch.distributed as dist
def train_stage(rank, n, w, xs, dys, m, b):
    d = w.shape[0]
    total = torch.zeros_like(w)
    kept, works = [], []
    def forward(i):
        if rank == 0:
            x = xs[i]
        else:
            x = w.new_empty(b, d)
            dist.recv(x, rank - 1)
        y = torch.tanh(x @ w)
        kept.append((x, y))
        if rank < n - 1:
            works.append(dist.isend(y, rank + 1))
    def backward(i):
        if rank == n - 1:
            dy = dys[i]
        else:
            dy = w.new_empty(b, d)
            dist.recv(dy, rank + 1)
            works.pop(0).wait()
        x, y = kept.pop(0)
        dz = dy*(1 - y*y)
        total.add_(x.T @ dz)
        if rank > 0:
            dist.send(dz @ w.T, rank - 1)
    ahead = min(n - 1 - rank, m)
    for i in range(ahead):
        forward(i)
    for i in range(m - ahead):
        forward(ahead + i)
        backward(i)
    for i in range(m - ahead, m):
        backward(i)
    return total/m
# %% wrong: the last microbatch's gradient only
import torch
import torch.distributed as dist
def train_stage(rank, n, w, xs, dys, m, b):
    d = w.shape[0]
    total = torch.zeros_like(w)
    kept, works = [], []
    def forward(i):
        if rank == 0:
            x = xs[i]
        else:
            x = w.new_empty(b, d)
            dist.recv(x, rank - 1)
        y = torch.tanh(x @ w)
        kept.append((x, y))
        if rank < n - 1:
            works.append(dist.isend(y, rank + 1))
    def backward(i):
        if rank == n - 1:
            dy = dys[i]
        else:
            dy = w.new_empty(b, d)
            dist.recv(dy, rank + 1)
            works.pop(0).wait()
        x, y = kept.pop(0)
        dz = dy*(1 - y*y)
        total.copy_(x.T @ dz)
        if rank > 0:
            dist.send(dz @ w.T, rank - 1)
    ahead = min(n - 1 - rank, m)
    for i in range(ahead):
        forward(i)
    for i in range(m - ahead):
        forward(ahead + i)
        backward(i)
    for i in range(m - ahead, m):
        backward(i)
    return total
# %% wrong: the newest microbatch goes back first
import torch
import torch.distributed as dist
def train_stage(rank, n, w, xs, dys, m, b):
    d = w.shape[0]
    total = torch.zeros_like(w)
    kept, works = [], []
    def forward(i):
        if rank == 0:
            x = xs[i]
        else:
            x = w.new_empty(b, d)
            dist.recv(x, rank - 1)
        y = torch.tanh(x @ w)
        kept.append((x, y))
        if rank < n - 1:
            works.append(dist.isend(y, rank + 1))
    def backward(i):
        if rank == n - 1:
            dy = dys[i]
        else:
            dy = w.new_empty(b, d)
            dist.recv(dy, rank + 1)
            works.pop(0).wait()
        x, y = kept.pop()
        dz = dy*(1 - y*y)
        total.add_(x.T @ dz)
        if rank > 0:
            dist.send(dz @ w.T, rank - 1)
    ahead = min(n - 1 - rank, m)
    for i in range(ahead):
        forward(i)
    for i in range(m - ahead):
        forward(ahead + i)
        backward(i)
    for i in range(m - ahead, m):
        backward(i)
    return total
# %% wrong: activations are never let go
import torch
import torch.distributed as dist
def train_stage(rank, n, w, xs, dys, m, b):
    d = w.shape[0]
    total = torch.zeros_like(w)
    kept, works = [], []
    def forward(i):
        if rank == 0:
            x = xs[i]
        else:
            x = w.new_empty(b, d)
            dist.recv(x, rank - 1)
        y = torch.tanh(x @ w)
        kept.append((x, y))
        if rank < n - 1:
            works.append(dist.isend(y, rank + 1))
    def backward(i):
        if rank == n - 1:
            dy = dys[i]
        else:
            dy = w.new_empty(b, d)
            dist.recv(dy, rank + 1)
            works.pop(0).wait()
        x, y = kept[i]
        dz = dy*(1 - y*y)
        total.add_(x.T @ dz)
        if rank > 0:
            dist.send(dz @ w.T, rank - 1)
    ahead = min(n - 1 - rank, m)
    for i in range(ahead):
        forward(i)
    for i in range(m - ahead):
        forward(ahead + i)
        backward(i)
    for i in range(m - ahead, m):
        backward(i)
    return total
# %% wrong: no derivative of tanh
import torch
import torch.distributed as dist
def train_stage(rank, n, w, xs, dys, m, b):
    d = w.shape[0]
    total = torch.zeros_like(w)
    kept, works = [], []
    def forward(i):
        if rank == 0:
            x = xs[i]
        else:
            x = w.new_empty(b, d)
            dist.recv(x, rank - 1)
        y = torch.tanh(x @ w)
        kept.append((x, y))
        if rank < n - 1:
            works.append(dist.isend(y, rank + 1))
    def backward(i):
        if rank == n - 1:
            dy = dys[i]
        else:
            dy = w.new_empty(b, d)
            dist.recv(dy, rank + 1)
            works.pop(0).wait()
        x, y = kept.pop(0)
        dz = dy
        total.add_(x.T @ dz)
        if rank > 0:
            dist.send(dz @ w.T, rank - 1)
    ahead = min(n - 1 - rank, m)
    for i in range(ahead):
        forward(i)
    for i in range(m - ahead):
        forward(ahead + i)
        backward(i)
    for i in range(m - ahead, m):
        backward(i)
    return total
# %% wrong: the derivative is 1 - y
import torch
import torch.distributed as dist
def train_stage(rank, n, w, xs, dys, m, b):
    d = w.shape[0]
    total = torch.zeros_like(w)
    kept, works = [], []
    def forward(i):
        if rank == 0:
            x = xs[i]
        else:
            x = w.new_empty(b, d)
            dist.recv(x, rank - 1)
        y = torch.tanh(x @ w)
        kept.append((x, y))
        if rank < n - 1:
            works.append(dist.isend(y, rank + 1))
    def backward(i):
        if rank == n - 1:
            dy = dys[i]
        else:
            dy = w.new_empty(b, d)
            dist.recv(dy, rank + 1)
            works.pop(0).wait()
        x, y = kept.pop(0)
        dz = dy*(1 - y)
        total.add_(x.T @ dz)
        if rank > 0:
            dist.send(dz @ w.T, rank - 1)
    ahead = min(n - 1 - rank, m)
    for i in range(ahead):
        forward(i)
    for i in range(m - ahead):
        forward(ahead + i)
        backward(i)
    for i in range(m - ahead, m):
        backward(i)
    return total
# %% wrong: back through w instead of its transpose
import torch
import torch.distributed as dist
def train_stage(rank, n, w, xs, dys, m, b):
    d = w.shape[0]
    total = torch.zeros_like(w)
    kept, works = [], []
    def forward(i):
        if rank == 0:
            x = xs[i]
        else:
            x = w.new_empty(b, d)
            dist.recv(x, rank - 1)
        y = torch.tanh(x @ w)
        kept.append((x, y))
        if rank < n - 1:
            works.append(dist.isend(y, rank + 1))
    def backward(i):
        if rank == n - 1:
            dy = dys[i]
        else:
            dy = w.new_empty(b, d)
            dist.recv(dy, rank + 1)
            works.pop(0).wait()
        x, y = kept.pop(0)
        dz = dy*(1 - y*y)
        total.add_(x.T @ dz)
        if rank > 0:
            dist.send(dz @ w, rank - 1)
    ahead = min(n - 1 - rank, m)
    for i in range(ahead):
        forward(i)
    for i in range(m - ahead):
        forward(ahead + i)
        backward(i)
    for i in range(m - ahead, m):
        backward(i)
    return total
# %% wrong: the gradient of the product is sent, not of the input
import torch
import torch.distributed as dist
def train_stage(rank, n, w, xs, dys, m, b):
    d = w.shape[0]
    total = torch.zeros_like(w)
    kept, works = [], []
    def forward(i):
        if rank == 0:
            x = xs[i]
        else:
            x = w.new_empty(b, d)
            dist.recv(x, rank - 1)
        y = torch.tanh(x @ w)
        kept.append((x, y))
        if rank < n - 1:
            works.append(dist.isend(y, rank + 1))
    def backward(i):
        if rank == n - 1:
            dy = dys[i]
        else:
            dy = w.new_empty(b, d)
            dist.recv(dy, rank + 1)
            works.pop(0).wait()
        x, y = kept.pop(0)
        dz = dy*(1 - y*y)
        total.add_(x.T @ dz)
        if rank > 0:
            dist.send(dz, rank - 1)
    ahead = min(n - 1 - rank, m)
    for i in range(ahead):
        forward(i)
    for i in range(m - ahead):
        forward(ahead + i)
        backward(i)
    for i in range(m - ahead, m):
        backward(i)
    return total
# %% wrong: sends on the product without tanh
import torch
import torch.distributed as dist
def train_stage(rank, n, w, xs, dys, m, b):
    d = w.shape[0]
    total = torch.zeros_like(w)
    kept, works = [], []
    def forward(i):
        if rank == 0:
            x = xs[i]
        else:
            x = w.new_empty(b, d)
            dist.recv(x, rank - 1)
        y = torch.tanh(x @ w)
        kept.append((x, y))
        if rank < n - 1:
            works.append(dist.isend(x @ w, rank + 1))
    def backward(i):
        if rank == n - 1:
            dy = dys[i]
        else:
            dy = w.new_empty(b, d)
            dist.recv(dy, rank + 1)
            works.pop(0).wait()
        x, y = kept.pop(0)
        dz = dy*(1 - y*y)
        total.add_(x.T @ dz)
        if rank > 0:
            dist.send(dz @ w.T, rank - 1)
    ahead = min(n - 1 - rank, m)
    for i in range(ahead):
        forward(i)
    for i in range(m - ahead):
        forward(ahead + i)
        backward(i)
    for i in range(m - ahead, m):
        backward(i)
    return total
# %% wrong: the gradient transposed
import torch
import torch.distributed as dist
def train_stage(rank, n, w, xs, dys, m, b):
    d = w.shape[0]
    total = torch.zeros_like(w)
    kept, works = [], []
    def forward(i):
        if rank == 0:
            x = xs[i]
        else:
            x = w.new_empty(b, d)
            dist.recv(x, rank - 1)
        y = torch.tanh(x @ w)
        kept.append((x, y))
        if rank < n - 1:
            works.append(dist.isend(y, rank + 1))
    def backward(i):
        if rank == n - 1:
            dy = dys[i]
        else:
            dy = w.new_empty(b, d)
            dist.recv(dy, rank + 1)
            works.pop(0).wait()
        x, y = kept.pop(0)
        dz = dy*(1 - y*y)
        total.add_(x.T @ dz)
        if rank > 0:
            dist.send(dz @ w.T, rank - 1)
    ahead = min(n - 1 - rank, m)
    for i in range(ahead):
        forward(i)
    for i in range(m - ahead):
        forward(ahead + i)
        backward(i)
    for i in range(m - ahead, m):
        backward(i)
    return total.T.contiguous()
# %% wrong: one buffer for all inputs
import torch
import torch.distributed as dist
def train_stage(rank, n, w, xs, dys, m, b):
    d = w.shape[0]
    total = torch.zeros_like(w)
    kept, works = [], []
    buffer = w.new_empty(b, d)
    def forward(i):
        if rank == 0:
            x = xs[i]
        else:
            x = buffer
            dist.recv(x, rank - 1)
        y = torch.tanh(x @ w)
        kept.append((x, y))
        if rank < n - 1:
            works.append(dist.isend(y, rank + 1))
    def backward(i):
        if rank == n - 1:
            dy = dys[i]
        else:
            dy = w.new_empty(b, d)
            dist.recv(dy, rank + 1)
            works.pop(0).wait()
        x, y = kept.pop(0)
        dz = dy*(1 - y*y)
        total.add_(x.T @ dz)
        if rank > 0:
            dist.send(dz @ w.T, rank - 1)
    ahead = min(n - 1 - rank, m)
    for i in range(ahead):
        forward(i)
    for i in range(m - ahead):
        forward(ahead + i)
        backward(i)
    for i in range(m - ahead, m):
        backward(i)
    return total
# %% wrong: room for all inputs and outputs from the start
import torch
import torch.distributed as dist
def train_stage(rank, n, w, xs, dys, m, b):
    d = w.shape[0]
    total = torch.zeros_like(w)
    kept, works = [], []
    room = w.new_empty(2, m, b, d)
    def forward(i):
        if rank == 0:
            x = xs[i]
        else:
            x = room[0, i]
            dist.recv(x, rank - 1)
        y = room[1, i].copy_(torch.tanh(x @ w))
        kept.append((x, y))
        if rank < n - 1:
            works.append(dist.isend(y, rank + 1))
    def backward(i):
        if rank == n - 1:
            dy = dys[i]
        else:
            dy = w.new_empty(b, d)
            dist.recv(dy, rank + 1)
            works.pop(0).wait()
        x, y = kept.pop(0)
        dz = dy*(1 - y*y)
        total.add_(x.T @ dz)
        if rank > 0:
            dist.send(dz @ w.T, rank - 1)
    ahead = min(n - 1 - rank, m)
    for i in range(ahead):
        forward(i)
    for i in range(m - ahead):
        forward(ahead + i)
        backward(i)
    for i in range(m - ahead, m):
        backward(i)
    return total
# %% wrong: the inputs of a batch are sent with the outputs
import torch
import torch.distributed as dist
def train_stage(rank, n, w, xs, dys, m, b):
    d = w.shape[0]
    total = torch.zeros_like(w)
    kept, works = [], []
    def forward(i):
        if rank == 0:
            x = xs[i]
        else:
            x = w.new_empty(b, d)
            got = w.new_empty(2*b, d)
            dist.recv(got, rank - 1)
            x = got[:b]
        y = torch.tanh(x @ w)
        kept.append((x, y))
        if rank < n - 1:
            works.append(dist.isend(torch.cat((y, x)), rank + 1))
    def backward(i):
        if rank == n - 1:
            dy = dys[i]
        else:
            dy = w.new_empty(b, d)
            dist.recv(dy, rank + 1)
            works.pop(0).wait()
        x, y = kept.pop(0)
        dz = dy*(1 - y*y)
        total.add_(x.T @ dz)
        if rank > 0:
            dist.send(dz @ w.T, rank - 1)
    ahead = min(n - 1 - rank, m)
    for i in range(ahead):
        forward(i)
    for i in range(m - ahead):
        forward(ahead + i)
        backward(i)
    for i in range(m - ahead, m):
        backward(i)
    return total
# %% wrong: does not wait for the input to come
import torch
import torch.distributed as dist
def train_stage(rank, n, w, xs, dys, m, b):
    d = w.shape[0]
    total = torch.zeros_like(w)
    kept, works = [], []
    def forward(i):
        if rank == 0:
            x = xs[i]
        else:
            x = w.new_empty(b, d)
            dist.irecv(x, rank - 1)
        y = torch.tanh(x @ w)
        kept.append((x, y))
        if rank < n - 1:
            works.append(dist.isend(y, rank + 1))
    def backward(i):
        if rank == n - 1:
            dy = dys[i]
        else:
            dy = w.new_empty(b, d)
            dist.recv(dy, rank + 1)
            works.pop(0).wait()
        x, y = kept.pop(0)
        dz = dy*(1 - y*y)
        total.add_(x.T @ dz)
        if rank > 0:
            dist.send(dz @ w.T, rank - 1)
    ahead = min(n - 1 - rank, m)
    for i in range(ahead):
        forward(i)
    for i in range(m - ahead):
        forward(ahead + i)
        backward(i)
    for i in range(m - ahead, m):
        backward(i)
    return total
# %% wrong: both neighbours send first and wait
import torch
import torch.distributed as dist
def train_stage(rank, n, w, xs, dys, m, b):
    d = w.shape[0]
    total = torch.zeros_like(w)
    kept, works = [], []
    def forward(i):
        if rank == 0:
            x = xs[i]
        else:
            x = w.new_empty(b, d)
            dist.recv(x, rank - 1)
        y = torch.tanh(x @ w)
        kept.append((x, y))
        if rank < n - 1:
            dist.send(y, rank + 1)
    def backward(i):
        if rank == n - 1:
            dy = dys[i]
        else:
            dy = w.new_empty(b, d)
            dist.recv(dy, rank + 1)
        x, y = kept.pop(0)
        dz = dy*(1 - y*y)
        total.add_(x.T @ dz)
        if rank > 0:
            dist.send(dz @ w.T, rank - 1)
    ahead = min(n - 1 - rank, m)
    for i in range(ahead):
        forward(i)
    for i in range(m - ahead):
        forward(ahead + i)
        backward(i)
    for i in range(m - ahead, m):
        backward(i)
    return total
# %% wrong: the gradients by the outputs in reverse order
import torch
import torch.distributed as dist
def train_stage(rank, n, w, xs, dys, m, b):
    d = w.shape[0]
    total = torch.zeros_like(w)
    kept, works = [], []
    def forward(i):
        if rank == 0:
            x = xs[i]
        else:
            x = w.new_empty(b, d)
            dist.recv(x, rank - 1)
        y = torch.tanh(x @ w)
        kept.append((x, y))
        if rank < n - 1:
            works.append(dist.isend(y, rank + 1))
    def backward(i):
        if rank == n - 1:
            dy = dys[m - 1 - i]
        else:
            dy = w.new_empty(b, d)
            dist.recv(dy, rank + 1)
            works.pop(0).wait()
        x, y = kept.pop(0)
        dz = dy*(1 - y*y)
        total.add_(x.T @ dz)
        if rank > 0:
            dist.send(dz @ w.T, rank - 1)
    ahead = min(n - 1 - rank, m)
    for i in range(ahead):
        forward(i)
    for i in range(m - ahead):
        forward(ahead + i)
        backward(i)
    for i in range(m - ahead, m):
        backward(i)
    return total
# %% wrong: the first pass ahead is not summed up
import torch
import torch.distributed as dist
def train_stage(rank, n, w, xs, dys, m, b):
    d = w.shape[0]
    total = torch.zeros_like(w)
    kept, works = [], []
    def forward(i):
        if rank == 0:
            x = xs[i]
        else:
            x = w.new_empty(b, d)
            dist.recv(x, rank - 1)
        y = torch.tanh(x @ w)
        kept.append((x, y))
        if rank < n - 1:
            works.append(dist.isend(y, rank + 1))
    def backward(i):
        if rank == n - 1:
            dy = dys[i]
        else:
            dy = w.new_empty(b, d)
            dist.recv(dy, rank + 1)
            works.pop(0).wait()
        x, y = kept.pop(0)
        dz = dy*(1 - y*y)
        if i > 0:
            total.add_(x.T @ dz)
        if rank > 0:
            dist.send(dz @ w.T, rank - 1)
    ahead = min(n - 1 - rank, m)
    for i in range(ahead):
        forward(i)
    for i in range(m - ahead):
        forward(ahead + i)
        backward(i)
    for i in range(m - ahead, m):
        backward(i)
    return total
# %% wrong: passes that drain are not summed up
import torch
import torch.distributed as dist
def train_stage(rank, n, w, xs, dys, m, b):
    d = w.shape[0]
    total = torch.zeros_like(w)
    kept, works = [], []
    def forward(i):
        if rank == 0:
            x = xs[i]
        else:
            x = w.new_empty(b, d)
            dist.recv(x, rank - 1)
        y = torch.tanh(x @ w)
        kept.append((x, y))
        if rank < n - 1:
            works.append(dist.isend(y, rank + 1))
    def backward(i):
        if rank == n - 1:
            dy = dys[i]
        else:
            dy = w.new_empty(b, d)
            dist.recv(dy, rank + 1)
            works.pop(0).wait()
        x, y = kept.pop(0)
        dz = dy*(1 - y*y)
        if i < m - ahead:
            total.add_(x.T @ dz)
        if rank > 0:
            dist.send(dz @ w.T, rank - 1)
    ahead = min(n - 1 - rank, m)
    for i in range(ahead):
        forward(i)
    for i in range(m - ahead):
        forward(ahead + i)
        backward(i)
    for i in range(m - ahead, m):
        backward(i)
    return total
# %% wrong: weights are stepped after each microbatch
import torch
import torch.distributed as dist
def train_stage(rank, n, w, xs, dys, m, b):
    d = w.shape[0]
    total = torch.zeros_like(w)
    kept, works = [], []
    def forward(i):
        if rank == 0:
            x = xs[i]
        else:
            x = w.new_empty(b, d)
            dist.recv(x, rank - 1)
        y = torch.tanh(x @ w)
        kept.append((x, y))
        if rank < n - 1:
            works.append(dist.isend(y, rank + 1))
    def backward(i):
        if rank == n - 1:
            dy = dys[i]
        else:
            dy = w.new_empty(b, d)
            dist.recv(dy, rank + 1)
            works.pop(0).wait()
        x, y = kept.pop(0)
        dz = dy*(1 - y*y)
        total.add_(x.T @ dz)
        if rank > 0:
            dist.send(dz @ w.T, rank - 1)
        w.sub_(0.1*(x.T @ dz))
    ahead = min(n - 1 - rank, m)
    for i in range(ahead):
        forward(i)
    for i in range(m - ahead):
        forward(ahead + i)
        backward(i)
    for i in range(m - ahead, m):
        backward(i)
    return total
# %% wrong: outputs that were sent are kept to the end
import torch
import torch.distributed as dist
def train_stage(rank, n, w, xs, dys, m, b):
    d = w.shape[0]
    total = torch.zeros_like(w)
    kept, works, outputs = [], [], []
    def forward(i):
        if rank == 0:
            x = xs[i]
        else:
            x = w.new_empty(b, d)
            dist.recv(x, rank - 1)
        y = torch.tanh(x @ w)
        kept.append((x, y))
        if rank < n - 1:
            works.append(dist.isend(y, rank + 1))
        outputs.append((x, y))
    def backward(i):
        if rank == n - 1:
            dy = dys[i]
        else:
            dy = w.new_empty(b, d)
            dist.recv(dy, rank + 1)
            works.pop(0).wait()
        x, y = kept.pop(0)
        dz = dy*(1 - y*y)
        total.add_(x.T @ dz)
        if rank > 0:
            dist.send(dz @ w.T, rank - 1)
    ahead = min(n - 1 - rank, m)
    for i in range(ahead):
        forward(i)
    for i in range(m - ahead):
        forward(ahead + i)
        backward(i)
    for i in range(m - ahead, m):
        backward(i)
    return total
# %% wrong: as many passes ahead with fewer microbatches than ranks
import torch
import torch.distributed as dist
def train_stage(rank, n, w, xs, dys, m, b):
    d = w.shape[0]
    total = torch.zeros_like(w)
    kept, works = [], []
    def forward(i):
        if rank == 0:
            x = xs[i]
        else:
            x = w.new_empty(b, d)
            dist.recv(x, rank - 1)
        y = torch.tanh(x @ w)
        kept.append((x, y))
        if rank < n - 1:
            works.append(dist.isend(y, rank + 1))
    def backward(i):
        if rank == n - 1:
            dy = dys[i]
        else:
            dy = w.new_empty(b, d)
            dist.recv(dy, rank + 1)
            works.pop(0).wait()
        x, y = kept.pop(0)
        dz = dy*(1 - y*y)
        total.add_(x.T @ dz)
        if rank > 0:
            dist.send(dz @ w.T, rank - 1)
    ahead = n - 1 - rank
    for i in range(ahead):
        forward(i)
    for i in range(m - ahead):
        forward(ahead + i)
        backward(i)
    for i in range(m - ahead, m):
        backward(i)
    return total
