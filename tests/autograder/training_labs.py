"""Exercises on ranks with tensors by name, one for each use in training: a tensor-parallel MLP, DDP from hooks, ZeRO-1
and ZeRO-3, ring attention, a pipeline, a sharded product. The declarations' functions are what learners would write."""

from functools import partial

from autograder.answers import Case, Distributed, at_most, exactly
from autograder.declaration import Exercise, Mistake
from hwlib.algorithms import summed


def drawn(case, generator, *shape):
    return generator.normal(size=shape).astype(case.dtype)


# A tensor-parallel MLP


def mlp_inputs(case, generator):
    b, d, f, n = case["b"], case["d"], case["f"], case.n
    x, dy, a, b_ = (drawn(case, generator, *shape) for shape in ((b, d), (b, d), (d, f), (f, d)))
    w = f // n
    return [{"x": x, "A": a[:, r * w : (r + 1) * w], "B": b_[r * w : (r + 1) * w], "dy": dy} for r in range(n)]


def tp_mlp(rank, n, x, A, B, dy, forget=False, twice=False):
    import torch
    import torch.distributed as dist

    for tensor in (x, A, B):
        tensor.requires_grad_()
    y = torch.relu(x @ A) @ B
    y.backward(dy)
    y = y.detach()
    dist.all_reduce(y)
    if not forget:
        dist.all_reduce(x.grad)
    if twice:
        dist.all_reduce(x.grad.clone())
    return y, x.grad, A.grad, B.grad


MLP = Exercise(
    id="t-mlp",
    points=3,
    prompt="A tensor-parallel MLP, *exact*.",
    solution=tp_mlp,
    answer=Distributed(
        "tp_mlp",
        signature="tp_mlp(rank, n, x, A, B, dy)",
        inputs=mlp_inputs,
        returns=("y", "dx", "dA", "dB"),
        cases=[Case(2, sizes={"b": 4, "d": 6, "f": 8}), Case(4, dtype="float32", sizes={"b": 2, "d": 8, "f": 16})],
        calls=("all_reduce",),
        rank_bytes=exactly(lambda case: 4 * (case.n - 1) * case["b"] * case["d"] * case.itemsize / case.n),
    ),
    mistakes=(
        Mistake(partial(tp_mlp, forget=True), "Every rank has only its share of dx."),
        Mistake(partial(tp_mlp, twice=True), "What is the third sum for?"),
    ),
)


# The same by a generator on arrays


def mlp_generator(rank, n, x, A, B, dy, forget=False):
    h = x @ A
    y = yield from summed(rank, n, (h * (h > 0)) @ B)
    dh = (dy @ B.T) * (h > 0)
    dx = dh @ A.T
    if not forget:
        dx = yield from summed(rank, n, dx)
    return y, dx, x.T @ dh, (h * (h > 0)).T @ dy


def mlp_whole(rank, n, x, A, B, dy):
    y, dx, da, db = yield from mlp_generator(rank, n, x, A, B, dy)
    yield from summed(rank, n, dx)
    return y, dx, da, db


MLP_GENERATOR = Exercise(
    id="t-mlp-generator",
    points=3,
    prompt="A tensor-parallel MLP, *exact*.",
    solution=mlp_generator,
    answer=MLP.answer,
    mistakes=(
        Mistake(partial(mlp_generator, forget=True), "Every rank has only its share of dx."),
        Mistake(mlp_whole, "What is the third sum for?"),
    ),
)


# DDP from hooks, with buckets


def ddp_inputs(case, generator):
    d = case["d"]
    weights = [drawn(case, generator, d, d) for _ in range(case["layers"])]
    return [{"x": drawn(case, generator, case["b"], d), "weights": weights} for _ in range(case.n)]


def ddp(rank, n, x, weights, per_bucket=2, mean=True):
    import torch.distributed as dist
    from torch._utils import _flatten_dense_tensors, _unflatten_dense_tensors

    bucket, works = [], []

    def ready(p):
        bucket.append(p)
        if len(bucket) == per_bucket:
            flush()

    def flush():
        whole = _flatten_dense_tensors([p.grad for p in bucket]) / (n if mean else 1)
        works.append((dist.all_reduce(whole, async_op=True), whole, list(bucket)))
        bucket.clear()

    for w in weights:
        w.requires_grad_().register_post_accumulate_grad_hook(ready)
    for w in weights:
        x = (x @ w).tanh()
    x.sum().backward()
    if bucket:
        flush()
    for work, whole, parameters in works:
        work.wait()
        for p, grad in zip(parameters, _unflatten_dense_tensors(whole, parameters), strict=True):
            p.grad.copy_(grad)
    return [p.grad for p in weights]


def ddp_without_wait(rank, n, x, weights):
    import torch.distributed as dist

    for w in weights:
        w.requires_grad_().register_post_accumulate_grad_hook(lambda p: dist.all_reduce(p.grad, async_op=True))
    for w in weights:
        x = (x @ w).tanh()
    x.sum().backward()
    return [w.grad / n for w in weights]


DDP = Exercise(
    id="t-ddp",
    points=3,
    prompt="DDP from hooks, *exact*.",
    solution=ddp,
    answer=Distributed(
        "ddp",
        signature="ddp(rank, n, x, weights)",
        inputs=ddp_inputs,
        returns=("grads",),
        calls=("all_reduce",),
        cases=[Case(2, sizes={"b": 4, "d": 4, "layers": 3}), Case(4, sizes={"b": 2, "d": 8, "layers": 4})],
        rounds=None,
    ),
    mistakes=(
        Mistake(partial(ddp, mean=False), "The sum, where the mean is asked for."),
        Mistake(ddp_without_wait, "Nobody waits for the sums."),
    ),
)


# ZeRO


def zero1_inputs(case, generator):
    size, n = case["p"], case.n
    w, part = drawn(case, generator, size), size // n
    m = drawn(case, generator, size)
    return [{"w": w, "g": drawn(case, generator, size), "m": m[r * part : (r + 1) * part]} for r in range(n)]


def zero1(rank, n, w, g, m, everything=False):
    import torch
    import torch.distributed as dist

    if everything:
        dist.all_reduce(g)
        grad = g.chunk(n)[rank]
    else:
        grad = torch.empty_like(m)
        dist.reduce_scatter_tensor(grad, g)
    m.mul_(0.9).add_(grad / n)
    mine = w.chunk(n)[rank]
    mine -= 0.1 * m
    dist.all_gather_into_tensor(w, mine.clone())
    return w, m


ZERO1 = Exercise(
    id="t-zero1",
    points=3,
    prompt="ZeRO-1, *exact*.",
    solution=zero1,
    answer=Distributed(
        "zero1",
        signature="zero1(rank, n, w, g, m)",
        inputs=zero1_inputs,
        returns=("w", "m"),
        cases=[Case(2, sizes={"p": 16}), Case(4, dtype="float32", sizes={"p": 32})],
        calls=("reduce_scatter", "all_gather", "all_reduce"),
        memory=at_most(lambda case: 3 * case["p"] * case.itemsize),
    ),
    mistakes=(
        Mistake(partial(zero1, everything=True), "Every rank gets all of the sum."),
        Mistake(lambda rank, n, w, g, m: (w, m), "No step is made."),
    ),
)


def zero3_inputs(case, generator):
    d, n = case["d"], case.n
    weights, rows = [drawn(case, generator, d, d) for _ in range(case["layers"])], d // n
    return [
        {"x": drawn(case, generator, case["b"], d), "shards": [w[r * rows : (r + 1) * rows] for w in weights]}
        for r in range(n)
    ]


def zero3(rank, n, x, shards, keep=False):
    import torch
    import torch.distributed as dist

    kept = []
    with torch.no_grad():
        for shard in shards:
            w = shard.new_empty(n * shard.shape[0], shard.shape[1])
            dist.all_gather_into_tensor(w, shard)
            x = (x @ w).tanh()
            kept += [w] if keep else []
            del w
    return x


def zero3_resized(rank, n, x, shards):
    """The same with one buffer, whose storage is freed and filled again."""
    import torch
    import torch.distributed as dist

    w = torch.empty(n * shards[0].shape[0], shards[0].shape[1], dtype=x.dtype)
    size = w.untyped_storage().nbytes()
    with torch.no_grad():
        for shard in shards:
            w.untyped_storage().resize_(size)
            dist.all_gather(list(w.chunk(n)), shard)
            x = torch.tanh(x @ w)
            w.untyped_storage().resize_(0)
    return x


ZERO3 = Exercise(
    id="t-zero3",
    points=3,
    prompt="ZeRO-3, *exact*.",
    solution=zero3,
    answer=Distributed(
        "zero3",
        signature="zero3(rank, n, x, shards)",
        inputs=zero3_inputs,
        calls=("all_gather",),
        cases=[Case(2, sizes={"b": 2, "d": 8, "layers": 5}), Case(4, sizes={"b": 2, "d": 16, "layers": 6})],
        memory=at_most(lambda case: 1.5 * (case["d"] + 2 * case["b"]) * case["d"] * case.itemsize),
    ),
    mistakes=(
        Mistake(partial(zero3, keep=True), "In the end you hold the whole model."),
        Mistake(lambda rank, n, x, shards: x, "Nothing is computed."),
    ),
)


# Ring attention


def qkv_inputs(case, generator):
    size = case["T"] // case.n, case["d"]
    return [{name: drawn(case, generator, *size) for name in "qkv"} for _ in range(case.n)]


def ring_attention(rank, n, q, k, v, rescale=True):
    import torch
    import torch.distributed as dist

    top = q.new_full((len(q), 1), float("-inf"))
    total, out = torch.zeros_like(top), torch.zeros_like(q)
    for step in range(n):
        scores = q @ k.T / q.shape[1] ** 0.5
        new = torch.maximum(top, scores.amax(1, keepdim=True))
        p, scale = (scores - new).exp(), (top - new).exp() if rescale else 1.0
        total, out, top = total * scale + p.sum(1, keepdim=True), out * scale + p @ v, new
        if step < n - 1:
            kv = torch.stack((k, v))
            got = torch.empty_like(kv)
            works = [dist.isend(kv, (rank + 1) % n), dist.irecv(got, (rank - 1) % n)]
            for work in works:
                work.wait()
            k, v = got
    return out / total


def gathered_attention(rank, n, q, k, v):
    """Everything at once, passed around the ring: right, and T by T/n scores are held."""
    import torch
    import torch.distributed as dist

    kv = [torch.stack((k, v))]
    for _ in range(n - 1):
        got = torch.empty_like(kv[0])
        for work in [dist.isend(kv[-1], (rank + 1) % n), dist.irecv(got, (rank - 1) % n)]:
            work.wait()
        kv.append(got)
    k, v = torch.cat(kv, 1)
    return torch.softmax(q @ k.T / q.shape[1] ** 0.5, 1) @ v


RING = Exercise(
    id="t-ring-attention",
    points=3,
    prompt="Ring attention, *exact*.",
    solution=ring_attention,
    answer=Distributed(
        "ring_attention",
        signature="ring_attention(rank, n, q, k, v)",
        inputs=qkv_inputs,
        calls=("send", "recv"),
        cases=[Case(2, sizes={"T": 8, "d": 4}), Case(4, sizes={"T": 64, "d": 8})],
        neighbours=True,
        rounds=exactly(lambda case: case.n - 1),
        memory=at_most(times=1.4),
        rank_bytes=exactly(lambda case: (case.n - 1) / case.n * 2 * case["T"] * case["d"] * case.itemsize),
    ),
    mistakes=(
        Mistake(partial(ring_attention, rescale=False), "What was added before has another maximum."),
        Mistake(gathered_attention, "In the end you hold all keys and all values."),
    ),
)


# A pipeline


def pipe_inputs(case, generator):
    d, m, b = case["d"], case["m"], case["b"]
    xs = drawn(case, generator, m, b, d)
    return [{"w": drawn(case, generator, d, d) / d, "xs": xs if r == 0 else xs[:0]} for r in range(case.n)]


def one_f_one_b(rank, n, w, xs, m, b, warm=None):
    """dW of a stage, y = tanh(x @ w); the loss is the sum of all that the last one computes."""
    import torch
    import torch.distributed as dist

    w.requires_grad_()
    alive, sends = [], []

    def forward(i):
        x = xs[i].clone() if rank == 0 else torch.empty(b, len(w), dtype=w.dtype)
        if rank:
            dist.recv(x, rank - 1)
        x.requires_grad_()
        y = (x @ w).tanh()
        alive.append((x, y))
        if rank < n - 1:
            sends.append(dist.isend(y.detach(), rank + 1))

    def backward():
        x, y = alive.pop(0)
        dy = torch.ones_like(y)
        if rank < n - 1:
            dist.recv(dy, rank + 1)
        if sends:
            sends.pop(0).wait()
        y.backward(dy)
        if rank:
            dist.send(x.grad, rank - 1)

    ahead = min(m, n - rank - 1 if warm is None else warm)
    for i in range(ahead):
        forward(i)
    for i in range(ahead, m):
        forward(i)
        backward()
    for _ in range(ahead):
        backward()
    return w.grad


PIPE = Exercise(
    id="t-pipe",
    points=3,
    prompt="1F1B, *exact*.",
    solution=one_f_one_b,
    answer=Distributed(
        "pipe",
        signature="pipe(rank, n, w, xs, m, b)",
        inputs=pipe_inputs,
        calls=("send", "recv"),
        neighbours=True,
        cases=[Case(n, sizes={"d": 4}, options={"m": 4 * n, "b": 4 * n}) for n in (2, 4)],
        rounds=None,
        memory=at_most(
            lambda case, rank: case.itemsize * case["d"] * (2 * case["b"] * (case.n - rank + 3) + 4 * case["d"])
        ),
    ),
    mistakes=(
        Mistake(partial(one_f_one_b, warm=10**6), "All microbatches are alive at once."),
        Mistake(lambda rank, n, w, xs, m, b: w.detach(), "Nothing is done."),
    ),
)


# A sharded product


def product_inputs(case, generator):
    i, j, k, n = case["I"], case["J"], case["K"], case.n
    a, b, part = drawn(case, generator, i, j), drawn(case, generator, j, k), j // n
    return [(a[:, r * part : (r + 1) * part], b[r * part : (r + 1) * part]) for r in range(n)]


def product(rank, n, A, B, whole=False):
    import torch.distributed as dist

    c = A @ B
    if whole:
        dist.all_reduce(c)
        return c.chunk(n)[rank].clone()
    mine = c.new_empty(len(c) // n, c.shape[1])
    dist.reduce_scatter_tensor(mine, c)
    return mine


PRODUCT = Exercise(
    id="t-product",
    points=2,
    prompt="C, sharded by rows, *exact*.",
    solution=product,
    answer=Distributed(
        "product",
        signature="product(rank, n, A, B)",
        inputs=product_inputs,
        calls=("all_reduce", "reduce_scatter"),
        cases=[Case(2, sizes={"I": 4, "J": 6, "K": 3}), Case(4, sizes={"I": 8, "J": 4, "K": 5})],
    ),
    mistakes=(
        Mistake(partial(product, whole=True), "Every rank gets the whole sum and keeps a part."),
        Mistake(lambda rank, n, A, B: (A @ B).chunk(n)[rank].clone(), "These are the rank's own products."),
    ),
)

LABS = (MLP, MLP_GENERATOR, DDP, ZERO1, ZERO3, RING, PIPE, PRODUCT)
