"""A small decoder over data, pipeline, context and tensor parallelism at once, written by hand as picotron is: groups
by enumeration of a grid, autograd functions around collectives, a ring of keys and values, sends between stages, hooks
that average gradients. Its gradients are those of one process.
"""

import pytest
import torch
import torch.distributed as dist
from torch.nn import functional as F

from hwlib.virtual import play_ranks

DP, PP, CP, TP = 2, 2, 2, 2
V, D, HEADS, H, FFN, T, MICRO = 24, 16, 4, 4, 32, 8, 2
SCALE = H**-0.5
SHAPES = {"embed": (V, D), "head": (V, D)}
for layer in range(PP):
    SHAPES |= {f"{layer}.q": (D, D), f"{layer}.k": (D, D), f"{layer}.v": (D, D), f"{layer}.out": (D, D)}
    SHAPES |= {f"{layer}.up": (FFN, D), f"{layer}.down": (D, FFN)}
ROWS = ("out", "down")  # cut along what goes in; all others along what comes out


def weights():
    drawn = torch.Generator().manual_seed(0)
    return {name: torch.randn(shape, generator=drawn) * 0.3 for name, shape in SHAPES.items()}


def batches():
    drawn = torch.Generator().manual_seed(1)
    return torch.randint(V, (DP, MICRO, T + 1), generator=drawn)


class Manager:
    """The rank's place in the grid, and its groups."""

    def __init__(self):
        rank = dist.get_rank()
        grid = torch.arange(DP * PP * CP * TP).view(DP, PP, CP, TP)
        self.dp, self.pp, self.cp, self.tp = (int(i[0]) for i in (grid == rank).nonzero(as_tuple=True))
        self.tp_group = self.group(grid, 3)
        self.cp_group = self.group(grid, 2)
        self.ring = grid[self.dp, self.pp, :, self.tp].tolist()
        self.stages = grid[self.dp, :, self.cp, self.tp].tolist()
        both = [grid[:, p, :, t].flatten().tolist() for p in range(PP) for t in range(TP)]
        self.cp_dp_group = dist.new_subgroups_by_enumeration(both)[0]

    def group(self, grid, axis):
        lines = grid.movedim(axis, -1).reshape(-1, grid.shape[axis]).tolist()
        return dist.new_subgroups_by_enumeration(lines)[0]


class CopyToTensorRanks(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return x

    @staticmethod
    def backward(ctx, grad):
        grad = grad.contiguous()
        dist.all_reduce(grad, group=ctx.group)
        return grad, None


class ReduceFromTensorRanks(torch.autograd.Function):
    @staticmethod
    def forward(_ctx, x, group):
        x = x.contiguous()
        dist.all_reduce(x, group=group)
        return x

    @staticmethod
    def backward(_ctx, grad):
        return grad, None


class GatherFromTensorRanks(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, manager):
        ctx.manager = manager
        parts = [torch.empty_like(x) for _ in range(TP)]
        dist.all_gather(parts, x.contiguous(), group=manager.tp_group)
        return torch.cat(parts, -1)

    @staticmethod
    def backward(ctx, grad):
        return grad.chunk(TP, -1)[ctx.manager.tp].contiguous(), None


def passed_on(tensors, manager):
    """Send to the next of the ring, and receive from the one before."""
    after, before = manager.ring[(manager.cp + 1) % CP], manager.ring[(manager.cp - 1) % CP]
    arrived = [torch.zeros_like(tensor) for tensor in tensors]
    calls = [dist.P2POp(dist.isend, tensor.contiguous(), after) for tensor in tensors]
    calls += [dist.P2POp(dist.irecv, tensor, before) for tensor in arrived]
    for request in dist.batch_isend_irecv(calls):
        request.wait()
    return arrived


def scores(q, k, causal):
    s = q @ k.transpose(-1, -2) * SCALE
    later = torch.ones(s.shape[-2:], dtype=torch.bool).triu(1)
    return s.masked_fill(later, float("-inf")) if causal else s


class RingAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, manager):
        out, lse, keys, values = None, None, k, v
        for step in range(CP):
            if step <= manager.cp:
                s = scores(q, keys, causal=step == 0)
                block_lse = s.logsumexp(-1, keepdim=True)
                block = (s - block_lse).exp() @ values
                if out is None:
                    out, lse = block, block_lse
                else:
                    total = torch.logaddexp(lse, block_lse)
                    out, lse = (lse - total).exp() * out + (block_lse - total).exp() * block, total
            if step + 1 < CP:
                keys, values = passed_on([keys, values], manager)
        ctx.manager = manager
        ctx.save_for_backward(q, k, v, out, lse)
        return out

    @staticmethod
    def backward(ctx, grad):
        q, k, v, out, lse = ctx.saved_tensors
        dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
        inner = (grad * out).sum(-1, keepdim=True)
        for step in range(CP):
            if step <= ctx.manager.cp:
                p = (scores(q, k, causal=step == 0) - lse).exp()
                ds = p * (grad @ v.transpose(-1, -2) - inner) * SCALE
                dq = dq + ds @ k
                dk, dv = dk + ds.transpose(-1, -2) @ q, dv + p.transpose(-1, -2) @ grad
            k, v, dk, dv = passed_on([k, v, dk, dv], ctx.manager)
        return dq, dk, dv, None


def of_rank(name, whole, manager):
    axis = 1 if name.rpartition(".")[2] in ROWS else 0
    return whole.chunk(TP, axis)[manager.tp].clone().requires_grad_()


class Stage:
    """The layers of a pipeline rank, with its part of every matrix."""

    def __init__(self, manager):
        self.manager = manager
        names = [name for name in SHAPES if name.startswith(f"{manager.pp}.")]
        names += ["embed"] * (manager.pp == 0) + ["head"] * (manager.pp == PP - 1)
        self.parameters = {name: of_rank(name, weights()[name], manager) for name in names}
        for parameter in self.parameters.values():
            parameter.main_grad = torch.zeros_like(parameter)
            parameter.register_post_accumulate_grad_hook(self.accumulate)

    def accumulate(self, parameter):
        parameter.main_grad += parameter.grad
        parameter.grad = None

    def product(self, x, name):
        return F.linear(x, self.parameters[f"{self.manager.pp}.{name}"])

    def forward(self, x):
        m = self.manager
        if m.pp == 0:
            first = m.tp * (V // TP)
            outside = (x < first) | (x >= first + V // TP)
            rows = F.embedding((x - first).masked_fill(outside, 0), self.parameters["embed"])
            x = ReduceFromTensorRanks.apply(rows.masked_fill(outside[..., None], 0.0), m.tp_group)
        inner = CopyToTensorRanks.apply(x, m.tp_group)
        q, k, v = (self.product(inner, name).unflatten(-1, (-1, H)).transpose(-2, -3) for name in "qkv")
        attended = RingAttention.apply(q, k, v, m).transpose(-2, -3).flatten(-2)
        x = x + ReduceFromTensorRanks.apply(self.product(attended, "out"), m.tp_group)
        inner = F.silu(self.product(CopyToTensorRanks.apply(x, m.tp_group), "up"))
        x = x + ReduceFromTensorRanks.apply(self.product(inner, "down"), m.tp_group)
        if m.pp < PP - 1:
            return x
        logits = F.linear(CopyToTensorRanks.apply(x, m.tp_group), self.parameters["head"])
        return GatherFromTensorRanks.apply(logits, m)


def all_forward_all_backward(stage, tokens, targets):
    m, inputs, outputs, losses = stage.manager, [], [], []
    for ids, wanted in zip(tokens, targets, strict=True):
        x = ids
        if m.pp > 0:
            x = torch.empty(T // CP, D, requires_grad=True)
            with torch.no_grad():
                dist.recv(x, m.stages[m.pp - 1])
        y = stage.forward(x)
        if m.pp < PP - 1:
            dist.send(y.detach(), m.stages[m.pp + 1])
        else:
            y = F.cross_entropy(y, wanted) / MICRO
            losses.append(y.item())
        inputs.append(x)
        outputs.append(y)
    for x, y in zip(inputs, outputs, strict=True):
        grad = None
        if m.pp < PP - 1:
            grad = torch.empty_like(y)
            dist.recv(grad, m.stages[m.pp + 1])
        torch.autograd.backward(y, grad_tensors=grad)
        if m.pp > 0:
            dist.send(x.grad, m.stages[m.pp - 1])
    return losses


def program(_rank):
    manager = Manager()
    stage = Stage(manager)
    own = batches()[manager.dp].unfold(-1, T // CP + 1, T // CP)[:, manager.cp]
    losses = all_forward_all_backward(stage, own[:, :-1], own[:, 1:])
    for parameter in stage.parameters.values():
        dist.all_reduce(parameter.main_grad, group=manager.cp_dp_group)
        parameter.main_grad /= DP * CP
    gradients = {name: parameter.main_grad for name, parameter in stage.parameters.items()}
    return manager.tp, losses, gradients


def one_process():
    parameters = {name: whole.requires_grad_() for name, whole in weights().items()}
    tokens = batches().flatten(0, 1)
    x = F.embedding(tokens[:, :-1], parameters["embed"])
    for layer in range(PP):
        q, k, v = (F.linear(x, parameters[f"{layer}.{n}"]).unflatten(-1, (HEADS, H)).transpose(1, 2) for n in "qkv")
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
        x = x + F.linear(attended, parameters[f"{layer}.out"])
        x = x + F.linear(F.silu(F.linear(x, parameters[f"{layer}.up"])), parameters[f"{layer}.down"])
    loss = F.cross_entropy(F.linear(x, parameters["head"]).flatten(0, 1), tokens[:, 1:].flatten())
    loss.backward()
    return loss.item(), {name: parameter.grad for name, parameter in parameters.items()}


@pytest.mark.nightly
def test_four_axes_by_hand_have_the_gradients_of_one_process():
    run = play_ranks(program, DP * PP * CP * TP, timeout=120)
    loss, gradients = one_process()
    assert run.step_time > 0
    last = [sum(losses) for _, losses, _ in run.results if losses]
    assert sum(last) / len(last) == pytest.approx(loss, rel=1e-5)
    names = set()
    for tp, _, parts in run.results:
        for name, part in parts.items():
            names.add(name)
            axis = 1 if name.rpartition(".")[2] in ROWS else 0
            assert torch.allclose(part, gradients[name].chunk(TP, axis)[tp], rtol=1e-4, atol=1e-6), name
    assert names == set(SHAPES)
