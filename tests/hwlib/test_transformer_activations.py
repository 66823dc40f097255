"""What a layer keeps for its backward pass: the paper's formulas, and what torch really keeps."""

import pytest

from hwlib.specs import Model, accelerators, models
from hwlib.transformer import (
    best_segments,
    checkpoint_bytes,
    full_activation_bytes,
    layer_activation_bytes,
    least_checkpoint_bytes,
    logit_bytes,
    parameter_count,
    scores_bytes,
    selective_activation_bytes,
    sequence_activation_bytes,
    swiglu_layer_activation_bytes,
    tensor_activation_bytes,
    tensor_selective_activation_bytes,
)
from hwlib.units import GB

# Korthikanti 2022, Figure 7, as Calculon stores it (docs/references.bib: calculon): activations in percent of what
# tensor parallelism alone keeps, without recomputation.
FIGURE_7 = [
    ("22b", 66.84, 49.42, 16.18, 7.64),
    ("175b", 62.04, 56.53, 18.49, 8.71),
    ("530b", 58.31, 62.04, 20.27, 9.42),
    ("1t", 58.31, 62.04, 20.27, 9.42),
]


@pytest.mark.parametrize(("size", "sp", "selective", "both", "full"), FIGURE_7)
def test_what_each_technique_leaves(size, sp, selective, both, full):
    one = models[f"korthikanti-{size}"]
    T, D, tp = one.context, one.width, 8
    none = tensor_activation_bytes(T, 1, D, one.heads, tp) / 100
    assert sequence_activation_bytes(T, 1, D, one.heads, tp) / none == pytest.approx(sp, rel=0.012)
    assert tensor_selective_activation_bytes(T, 1, D, tp) / none == pytest.approx(selective, rel=0.012)
    assert selective_activation_bytes(T, 1, D, tp) / none == pytest.approx(both, rel=0.012)
    assert full_activation_bytes(T, 1, D) / none == pytest.approx(full, rel=0.012)


@pytest.mark.parametrize(("key", "share"), [("gpt3-175b", 80), ("megatron-530b", 64)])
def test_the_scores_of_gpt3_and_of_530b_are_what_selective_saves(key, share):
    # The paper: 5as/h is 80 for GPT-3 and 64 for MT-NLG, so that 70 % and 65 % of the memory need no keeping.
    one = models[key]
    T, D = one.context, one.width
    assert scores_bytes(T, 1, one.heads) == share * T * D
    saved = 1 - selective_activation_bytes(T, 1, D) / layer_activation_bytes(T, 1, D, one.heads)
    assert saved == pytest.approx({80: 0.70, 64: 0.65}[share], abs=0.005)


def test_the_42_terabytes_of_the_scaling_book():
    # N2: Llama 2 13B, 16M tokens, three checkpoints a layer of two bytes: D + 2F elements a token and layer.
    one = models["llama2-13b"]
    kept = 2 * 16e6 * one.layers * (one.width + 2 * one.ffn)
    assert kept == pytest.approx(42e12, rel=0.01)


def test_the_117_chips_of_the_scaling_book():
    # Llama 3 70B, batches of 4M tokens, two checkpoints a layer; weights and Adam's two moments, of 4 bytes each.
    one, chip = models["llama3-70b"], accelerators["tpu-v5p"]
    checkpoints = 2 * one.layers * full_activation_bytes(4e6, 1, one.width)
    states = (2 + 8) * parameter_count(one)
    assert checkpoints == pytest.approx(10.5e12, rel=0.01)
    assert (checkpoints + states) / chip.hbm_bytes == pytest.approx(117, abs=1)


def test_one_rank_needs_no_sharing():
    for T, D, heads in ((2048, 6144, 64), (8192, 4096, 32)):
        alone = layer_activation_bytes(T, 2, D, heads)
        assert tensor_activation_bytes(T, 2, D, heads, 1) == sequence_activation_bytes(T, 2, D, heads, 1) == alone
        assert alone - scores_bytes(T, 2, heads) == selective_activation_bytes(T, 2, D)
        assert tensor_selective_activation_bytes(T, 2, D, 1) == selective_activation_bytes(T, 2, D, 1)


def test_llamas_logits_outweigh_a_layer():
    layer = swiglu_layer_activation_bytes(8192, 1, 4096, 14336, 32, 8, 128)
    assert logit_bytes(8192, 1, 128256) / layer == pytest.approx(3.7, abs=0.05)
    assert logit_bytes(8192, 1, 128256) == pytest.approx(4.2 * GB, rel=0.01)


def test_the_best_segments_are_the_best():
    L, keep, layer = 96, 3.0, 57.0
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(lambda n: checkpoint_bytes(L, n, keep, layer), bounds=(1, L), method="bounded")
    assert best_segments(L, keep, layer) == pytest.approx(found.x, rel=1e-4)
    assert least_checkpoint_bytes(L, keep, layer) == pytest.approx(found.fun, rel=1e-12)
    # Chen et al.: a chain of n layers in sqrt(n) segments, where what is kept of a layer is its input alone.
    assert best_segments(L=100, S_keep=1, S_layer=1) == 10
    assert least_checkpoint_bytes(L=100, S_keep=1, S_layer=1) == 20


# What torch keeps


def kept_by_torch(step, weights):
    """Bytes that autograd keeps between the forward and the backward pass, each storage once, without the weights."""
    import torch

    theirs = {weight.untyped_storage().data_ptr() for weight in weights}
    seen = {}

    def keep(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in theirs:
            seen[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        out = step()
    kept = sum(seen.values())
    del out
    return kept


def drop(x):
    """Dropout that keeps a mask of one byte an element."""
    import torch

    return torch.native_dropout(x, 0.1, train=True)[0]


@pytest.mark.slow  # to import torch takes two seconds
def test_torch_keeps_what_korthikanti_counts():
    import torch
    from torch.nn import functional as fn

    torch.manual_seed(0)
    T, micro, D, heads = 64, 2, 128, 4
    matrix = lambda rows, columns: torch.nn.Parameter(torch.randn(rows, columns, dtype=torch.bfloat16) / D**0.5)
    qkv, out, up, down = matrix(3 * D, D), matrix(D, D), matrix(4 * D, D), matrix(D, 4 * D)
    gains = torch.nn.Parameter(torch.ones(D, dtype=torch.bfloat16))
    x = torch.randn(micro, T, D, dtype=torch.bfloat16, requires_grad=True) * 1

    def layer():
        h = fn.layer_norm(x, (D,), gains)
        q, k, v = (y.view(micro, T, heads, D // heads).transpose(1, 2) for y in fn.linear(h, qkv).split(D, dim=-1))
        scores = drop(torch.softmax(q @ k.transpose(-1, -2) * (D / heads) ** -0.5, dim=-1))
        y = x + drop(fn.linear((scores @ v).transpose(1, 2).reshape(micro, T, D), out))
        return y + drop(fn.linear(fn.gelu(fn.linear(fn.layer_norm(y, (D,), gains), up)), down))

    ours = layer_activation_bytes(T, micro, D, heads)
    statistics = 2 * 2 * micro * T * 4  # the mean and the spread of two norms, in single precision
    assert kept_by_torch(layer, (qkv, out, up, down, gains)) == pytest.approx(ours, abs=statistics)


def test_torch_keeps_what_we_count_of_a_llama():
    import torch
    from torch.nn import functional as fn

    torch.manual_seed(0)
    T, micro, one = 64, 2, Model.small(width=128, heads=4, kv_heads=2, ffn=320)
    D, F, H, K = one.width, one.ffn, one.head_dim, one.kv_heads
    matrix = lambda rows, columns: torch.nn.Parameter(torch.randn(rows, columns, dtype=torch.bfloat16) / D**0.5)
    q_, k_, v_, out = matrix(D, D), matrix(K * H, D), matrix(K * H, D), matrix(D, D)
    gate, up, down = matrix(F, D), matrix(F, D), matrix(D, F)
    gains = torch.nn.Parameter(torch.ones(D, dtype=torch.bfloat16))
    x = torch.randn(micro, T, D, dtype=torch.bfloat16, requires_grad=True) * 1

    def norm(y):  # the RMS norm of a CPU is not fused, and keeps single precision
        return fn.layer_norm(y, (D,), gains)

    def layer():
        h = norm(x)
        q, k, v = (fn.linear(h, w).view(micro, T, -1, H).transpose(1, 2) for w in (q_, k_, v_))
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.FLASH_ATTENTION):
            a = fn.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        y = x + fn.linear(a.transpose(1, 2).reshape(micro, T, D), out)
        h = norm(y)
        return y + fn.linear(fn.silu(fn.linear(h, gate)) * fn.linear(h, up), down)

    ours = swiglu_layer_activation_bytes(T, micro, D, F, one.heads, K, H)
    again = 2 * T * micro * F  # torch keeps silu(gate) too; a fused kernel computes it again
    statistics = T * micro * 4 * (2 * 2 + one.heads)
    kept = kept_by_torch(layer, (q_, k_, v_, out, gate, up, down, gains))
    assert kept == pytest.approx(ours + again, abs=statistics)
