"""What torch itself takes: the copies of the logits that its loss makes, and what an unfused layer keeps."""

import pytest
import torch
from torch.nn import functional as fn
from torch.profiler import ProfilerActivity, profile

from hwlib.footprint import BFLOAT16_ADAM, FULL_ADAM, Trained, footprint
from hwlib.specs import Model, frameworks
from hwlib.strategy import Strategy
from tests.hwlib.test_transformer_activations import kept_by_torch

LOGITS = 256 * 8192


def traffic(step):
    """What a step allocates, above 0, and frees, in its order, in bytes a logit; what is small is left out."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
        step()
    events = [e for e in profiled.profiler.kineto_results.events() if e.name() == "[memory]"]
    sizes = [e.nbytes() / LOGITS for e in sorted(events, key=lambda e: e.start_ns())]
    return [round(size) for size in sizes if abs(size) > 0.5]


def loss(compute=lambda pred, labels: fn.cross_entropy(pred.float(), labels)):
    torch.manual_seed(0)
    output = torch.randn(256, 8192, dtype=torch.bfloat16, requires_grad=True)
    labels = torch.randint(0, 8192, (256,))

    def step():
        pred = output * 1  # as the output layer gives it
        value = compute(pred, labels)
        del pred  # as torchtitan does
        value.backward()

    return step


def highest_address(sizes):
    """Where an allocator ends that takes the smallest hole which is large enough; what is freed is the oldest block of
    its size.
    """
    blocks, end = [], 0
    for size in sizes:
        if size < 0:
            blocks.remove(next(block for block in blocks if block[1] == -size))
            continue
        holes, at = [], 0
        for start, length in sorted(blocks):
            holes.append((start - at, at))
            at = start + length
        fits = [hole for hole in holes if hole[0] >= size]
        blocks.append((min(fits)[1] if fits else at, size))
        end = max(end, blocks[-1][0] + size)
    return end


def test_the_copies_of_the_logits():
    """12 bytes are there at once; 14 are reserved, for the 2 of the logits in 16 bits are a hole too small for more."""
    sizes = traffic(loss())
    there = [sum(sizes[: i + 1]) for i in range(len(sizes))]
    assert max(there) == 12
    assert sizes[:7] == [2, 4, 4, -4, -2, 4, 4]  # logits; in 32 bits; log-softmax; two gone; two gradients
    assert highest_address(sizes[:7]) == 14 == frameworks["torchtitan-2024"].logit


def test_the_copies_that_ranks_make_which_share_the_vocabulary():
    """The backward pass of torch's loss_parallel in its own words, with one rank's logits: 16 bytes at once, and the
    hole.
    """

    class Shared(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            shifted = x - torch.amax(x, -1, keepdim=True)
            result = shifted - torch.log(torch.sum(torch.exp(shifted), -1, keepdim=True))
            ctx.save_for_backward(result)
            return result.sum()

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            return (torch.zeros_like(x) + torch.exp(x)) * gradient

    sizes = traffic(loss(lambda pred, labels: Shared.apply(pred.float())))
    there = [sum(sizes[: i + 1]) for i in range(len(sizes))]
    assert max(there) == 16
    assert frameworks["torchtitan-2024"].shared_logit == 18


def parameters_of(one):
    """The matrices of a layer with two heads of keys, from queries on, and the gains of its norms."""
    D, F, H = one.width, one.ffn, one.head_dim
    shapes = [(D, D), (2 * H, D), (2 * H, D), (D, D), (F, D), (F, D), (D, F)]
    weights = [torch.nn.Parameter(torch.randn(shape, dtype=torch.bfloat16) / D**0.5) for shape in shapes]
    return weights, torch.nn.Parameter(torch.ones(D, dtype=torch.bfloat16))


@pytest.mark.parametrize("eager", [False, True])
def test_a_layer_whose_kernels_are_apart(eager):
    torch.manual_seed(0)
    T, one = 128, Model.small(layers=1, width=128, heads=4, kv_heads=2, ffn=320)
    D, F, H = one.width, one.ffn, one.head_dim
    weights, gains = parameters_of(one)
    x = torch.randn(1, T, D, dtype=torch.bfloat16, requires_grad=True) * 1

    def norm(y):
        if not eager:
            return fn.layer_norm(y, (D,), gains)  # which is fused on a CPU too
        single = y.float()
        return (single * torch.rsqrt(single.pow(2).mean(-1, keepdim=True) + 1e-6)).type_as(y) * gains

    def layer():
        h = norm(x)
        q, k, v = (fn.linear(h, w).view(1, T, -1, H).transpose(1, 2) for w in weights[:3])
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.FLASH_ATTENTION):
            a = fn.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        y = x + fn.linear(a.transpose(1, 2).reshape(1, T, D), weights[3])
        h = norm(y)
        return y + fn.linear(fn.silu(fn.linear(h, weights[4])) * fn.linear(h, weights[5]), weights[6])

    by = frameworks["torchtune"].replace(eager=eager)
    ours = float(footprint(one, Strategy(), T=T, m=1, framework=by).activations)
    again = 0 if eager else 2 * T * F  # silu(gate), which a fused kernel computes again
    kept = kept_by_torch(layer, (*weights, gains))
    assert kept == pytest.approx(ours + again, abs=T * 16)


def test_a_layer_recomputed_by_operator():
    """torchtitan's policy: outputs of attention and of every second product are saved, from the first on."""
    from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

    torch.manual_seed(0)
    T, one = 4096, Model.small(layers=1, width=256, heads=4, kv_heads=2, ffn=640)
    D, H = one.width, one.head_dim
    weights, gains = parameters_of(one)
    x = torch.randn(1, T, D, dtype=torch.bfloat16, requires_grad=True)
    products = {"count": 0}

    def policy(ctx, op, *args, **kwargs):
        products["count"] += op == torch.ops.aten.mm.default
        saved = op == torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default
        saved = saved or (op == torch.ops.aten.mm.default and products["count"] % 2 == 1)
        return CheckpointPolicy.MUST_SAVE if saved else CheckpointPolicy.PREFER_RECOMPUTE

    def layer(x):
        h = fn.layer_norm(x, (D,), gains)
        q, k, v = (fn.linear(h, w).view(1, T, -1, H).transpose(1, 2) for w in weights[:3])
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.FLASH_ATTENTION):
            a = fn.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        y = x + fn.linear(a.transpose(1, 2).reshape(1, T, D), weights[3])
        h = fn.layer_norm(y, (D,), gains)
        return y + fn.linear(fn.silu(fn.linear(h, weights[4])) * fn.linear(h, weights[5]), weights[6])

    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
        contexts = lambda: create_selective_checkpoint_contexts(policy)
        out = checkpoint(layer, x, use_reentrant=False, context_fn=contexts)
    kept = sum(e.nbytes() for e in profiled.profiler.kineto_results.events() if e.name() == "[memory]")
    assert products["count"] == 7
    assert out.shape == x.shape  # the layer's output is there in the place of its input
    by = frameworks["torchtitan-2024"].replace(eager=True)
    ours = float(footprint(one, Strategy(recompute="op"), T=T, m=1, framework=by).activations)
    assert kept == pytest.approx(ours, rel=0.01)


def test_a_layer_under_autocast():
    """What runs through it has 32 bits, and each matrix that reads a norm keeps a cast of its own."""
    T, one = 128, Model.small(layers=1, width=128, heads=4, kv_heads=2, ffn=320)
    D, H = one.width, one.head_dim
    weights, gains = parameters_of(one)
    wide = [torch.nn.Parameter(w.detach().float()) for w in (*weights, gains)]
    x = torch.randn(1, T, D, requires_grad=True) * 1

    def layer():
        h = fn.layer_norm(x, (D,), wide[7])
        q, k, v = (fn.linear(h, w).view(1, T, -1, H).transpose(1, 2) for w in wide[:3])
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.FLASH_ATTENTION):
            a = fn.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        y = x + fn.linear(a.transpose(1, 2).reshape(1, T, D), wide[3])
        h = fn.layer_norm(y, (D,), wide[7])
        return y + fn.linear(fn.silu(fn.linear(h, wide[4])) * fn.linear(h, wide[5]), wide[6])

    kept = {}
    owned = {w.untyped_storage().data_ptr() for w in wide}

    def pack(tensor):
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = tensor  # held, so that no other takes its place
        return tensor

    with (
        torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor),
        torch.autocast("cpu", torch.bfloat16),
    ):
        layer()
    casts = sum(w.numel() for w in wide[:7]) * 2  # of the weights, which are counted with these
    saved = sum(t.untyped_storage().nbytes() for address, t in kept.items() if address not in owned) - casts
    trained, by = Trained(FULL_ADAM), frameworks["pytorch"]
    ours = float(footprint(one, Strategy(), T=T, m=1, framework=by, trained=trained).activations)
    assert saved == pytest.approx(ours, abs=T * 32)
    narrow = footprint(one, Strategy(), T=T, m=1, framework=by, trained=Trained(BFLOAT16_ADAM)).activations
    assert ours - float(narrow) == T * D * (2 * 2 + 2 * (5 - 2))
    again = Strategy(recompute="full")
    inputs = [footprint(one, again, T=T, m=1, framework=by, trained=Trained(s)) for s in (FULL_ADAM, BFLOAT16_ADAM)]
    assert [float(found.activations) for found in inputs] == [4 * T * D, 2 * T * D]


def test_a_compiled_model_keeps_attention_twice_and_sums_the_embedding_in_32_bits():
    one = Model.small(layers=1, width=128, heads=4, kv_heads=2, ffn=320, vocab=1000, tied=False)
    by = frameworks["pytorch-compiled"]

    def held(compiled, states=BFLOAT16_ADAM, T=8):
        framework = by.replace(compiled=compiled)
        return footprint(one, Strategy(), T=T, m=1, framework=framework, trained=Trained(states))

    assert held(True).activations - held(False).activations == 2 * 128 * 8
    more, less = (held(flag, T=8) for flag in (True, False))
    passing = 2 * 128 * 8  # attention's second copy, in whose place late gradients come
    assert more.gradients - less.gradients == 4 * 1000 * 128 - passing
    wide = [held(flag, FULL_ADAM).gradients for flag in (True, False)]
    assert wide[1] - wide[0] == passing  # gradients in 32 bits need no other sum
