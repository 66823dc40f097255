"""Parameters and operations of decoders that torch builds and runs: on the meta device, and very small ones."""

import pytest

from hwlib.specs import Model, models
from hwlib.transformer import matmul_parameters, parameter_count, parameter_groups, step_flops

pytest.importorskip("torch")


def decoder(model, device):
    """The model as torch modules: attention, MLP or experts, norms and tables, with the biases that it has."""
    import torch
    from torch import nn

    bias = model.biases == "all"

    def linear(rows, columns, bias=bias):
        return nn.Linear(rows, columns, bias=bias, device=device)

    def norm(width):
        return (nn.LayerNorm if model.norm == "layer" else nn.RMSNorm)(width, device=device)

    def attention():
        D, n, K, H = model.width, model.heads, model.kv_heads, model.head_dim
        if model.mla:
            keys, values = model.nope_dim + model.rope_dim, model.v_dim
            return nn.ModuleList(
                [
                    linear(D, model.q_lora),
                    norm(model.q_lora),
                    linear(model.q_lora, n * keys),
                    linear(D, model.kv_lora + model.rope_dim),
                    norm(model.kv_lora),
                    linear(model.kv_lora, n * (model.nope_dim + values)),
                    linear(n * values, D),
                ]
            )
        parts = [linear(D, n * H), linear(D, K * H), linear(D, K * H), linear(n * H, D)]
        if model.qk_norm:
            parts += [norm(H), norm(H)]
        if model.sinks:
            parts.append(nn.ParameterList([nn.Parameter(torch.empty(n, device=device))]))
        return nn.ModuleList(parts)

    def mlp(width):
        return nn.ModuleList(
            [linear(model.width, width) for _ in range(model.matrices - 1)] + [linear(width, model.width)]
        )

    def layer(i):
        parts = [norm(model.width), attention(), norm(model.width)]
        if not model.moe or i < model.dense_layers:
            return nn.ModuleList([*parts, mlp(model.ffn)])
        experts = [mlp(model.expert_ffn) for _ in range(model.experts + model.shared_experts)]
        return nn.ModuleList([*parts, linear(model.width, model.experts, bias or model.router_bias), *experts])

    tables = [nn.Embedding(model.vocab, model.width, device=device)]
    if model.positions:
        tables.append(nn.Embedding(model.positions, model.width, device=device))
    if not model.tied:
        tables.append(linear(model.width, model.vocab, bias=False))
    return nn.ModuleList([*tables, *(layer(i) for i in range(model.layers)), norm(model.width)])


KEYS = ("gpt3-175b", "llama3-405b", "qwen3-32b", "mixtral-8x7b")
SMALL = {
    "plain": Model.small(),
    "gqa": Model.small(layers=2, width=64, kv_heads=2, qk_norm=True),
    "gpt": Model.small(
        layers=2, width=64, norm="layer", biases="all", gated=False, tied=True, positions=512, dropout=True
    ),
    "gpt-oss": models["gpt-oss-20b"].replace(layers=4, window_layers=2, width=64, ffn=64, expert_ffn=64, vocab=100),
    "deepseek": models["deepseek-v3"].replace(
        layers=5, width=64, ffn=96, expert_ffn=32, vocab=100, experts=16, q_lora=24, kv_lora=16
    ),
    "shared": Model.small(
        experts=8, experts_per_token=2, expert_ffn=64, shared_experts=2, dense_layers=1, biases="all"
    ),
}


def numel(module):
    return sum(parameter.numel() for parameter in module.parameters())


@pytest.mark.parametrize("model", [models[key] for key in KEYS] + list(SMALL.values()), ids=[*KEYS, *SMALL])
def test_torch_builds_as_many_parameters(model):
    assert numel(decoder(model, "meta")) == parameter_count(model)


@pytest.mark.parametrize("key", ["gqa", "gpt"])
def test_torch_counts_the_operations(key):
    import torch
    from torch.nn import functional as fn
    from torch.utils.flop_counter import FlopCounterMode

    model, T, batch = SMALL[key], 64, 2
    parts = decoder(model, "cpu")
    layers, tables = list(parts)[-model.layers - 1 : -1], list(parts)[: -model.layers - 1]
    head = tables[0] if model.tied else tables[-1]

    def forward(tokens):
        x = tables[0](tokens)
        for first, attention, second, mlp in layers:
            q, k, v, out = list(attention)[:4]
            h = first(x)
            q, k, v = (w(h).view(batch, T, -1, model.head_dim).transpose(1, 2) for w in (q, k, v))
            k, v = (y.repeat_interleave(model.heads_per_kv_head, dim=1) for y in (k, v))
            x = x + out((torch.softmax(q @ k.transpose(-1, -2), -1) @ v).transpose(1, 2).flatten(2))
            *ups, down = mlp
            hidden = fn.silu(ups[0](second(x)))
            x = x + down(hidden * ups[1](second(x)) if model.gated else hidden)
        return fn.linear(x, head.weight).sum()

    with FlopCounterMode(display=False) as counter:
        forward(torch.zeros(batch, T, dtype=torch.long)).backward()
    counted, B = counter.get_total_flops(), batch * T
    assert step_flops(model, B, T, causal=False) == counted
    masked = 3 * 4 * B * (T - 1) / 2 * model.heads * model.head_dim * model.layers
    assert step_flops(model, B, T) == counted - masked


def test_where_six_operations_a_parameter_fail():
    # Tables that are looked up, experts that a token does not meet, and attention over a long context.
    def ratio(model, T):
        return step_flops(model, 1, T) / (6 * parameter_count(model))

    assert ratio(models["llama3-405b"], 8192) == pytest.approx(1.036, abs=0.001)
    assert ratio(models["llama3-8b"], 131072) > 2.5
    assert ratio(models["mixtral-8x7b"], 4096) < 0.3
    assert ratio(Model.small(vocab=128256), 128) == pytest.approx(0.5, abs=0.05)
    gpt = models["gpt3-175b"]
    assert matmul_parameters(gpt) < parameter_count(gpt) == parameter_groups(gpt).total
