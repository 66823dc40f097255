"""A training step on one GPU, written in plain torch, beside `step_time` and `footprint`."""

from collections.abc import Iterator
from dataclasses import replace
from statistics import median
from typing import Any

import click

from benchmarks.gpu.measurement import Row
from hwlib.footprint import States, footprint
from hwlib.specs import models
from hwlib.steptime import step_time
from hwlib.strategy import Strategy

LAYERS = 8  # of Llama 3 8B's: its states in 16 bits, and what 16,384 tokens keep, fit on a card of 80 GB
STEPS, WARM = 6, 3
NODES = {"h100-sxm": "dgx-h100", "h200-sxm": "dgx-h200"}
BF16_ADAM = States(2, 2, 4)  # bytes of a parameter: all of it in bfloat16


def steps(key: str) -> Iterator[Row]:
    """Seconds of a step, and bytes at its peak, of some batches, eager and compiled."""
    model = replace(models["llama3-8b"], layers=LAYERS, published_parameters=0)
    for compiled, batches in ((False, ((1, 4096), (2, 4096), (4, 2048), (1, 8192))), (True, ((2, 4096), (1, 8192)))):
        for sequences, T in batches:
            times, peak = _measured(model, sequences, T, compiled)
            how, shape = "compiled" if compiled else "eager", f"{LAYERS} layers, {sequences} x {T} tokens"
            plan = Strategy.of(micro=sequences)
            stack = "torchtitan-h100" if compiled else "torchtitan-eager-h100"
            said = step_time(model, stack, NODES[key], plan, B=sequences * T, T=T)
            click.echo(f"{how}, {shape}: {median(times):.3f} s of {float(said.total):.3f} s, {peak / 1e9:.2f} GB")
            yield Row(f"{how} step", shape, min(times), median(times), max(times), float(said.total))
            held = footprint(model, plan, T=T, states=BF16_ADAM, framework="torchtune")
            yield Row(f"{how} memory", shape, peak, peak, peak, float(held.total) - 3e9, "B")


def _measured(model: Any, sequences: int, T: int, compiled: bool) -> tuple[list[float], float]:
    import torch

    torch.cuda.empty_cache()
    net = _llama(model).to(device="cuda", dtype=torch.bfloat16)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-5, fused=True)
    loss_of = torch.compile(net) if compiled else net
    tokens = torch.randint(model.vocab, (sequences, T + 1), device="cuda")
    times = []
    for turn in range(WARM + STEPS):
        if turn == WARM:
            torch.cuda.reset_peak_memory_stats()
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        loss_of(tokens).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) * 1e-3)
    peak = float(torch.cuda.max_memory_allocated())
    del net, optimizer, loss_of
    torch.compiler.reset()
    return times[WARM:], peak


def _llama(model: Any) -> Any:
    """A decoder of this shape: RMSNorm, rotary embedding, grouped-query attention, a gated MLP, two tables."""
    import torch
    from torch import nn
    from torch.nn import functional as F

    D, n_q, K, H = model.width, model.heads, model.kv_heads, model.head_dim

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm, self.norm2 = nn.RMSNorm(D), nn.RMSNorm(D)
            self.q, self.o = nn.Linear(D, n_q * H, bias=False), nn.Linear(n_q * H, D, bias=False)
            self.k, self.v = (nn.Linear(D, K * H, bias=False) for _ in range(2))
            self.gate, self.up = (nn.Linear(D, model.ffn, bias=False) for _ in range(2))
            self.down = nn.Linear(model.ffn, D, bias=False)

        def forward(self, x: Any, cos: Any, sin: Any) -> Any:
            B, T, _ = x.shape
            y = self.norm(x)
            q = _turned(self.q(y).view(B, T, n_q, H).transpose(1, 2), cos, sin)
            k = _turned(self.k(y).view(B, T, K, H).transpose(1, 2), cos, sin)
            v = self.v(y).view(B, T, K, H).transpose(1, 2)
            a = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
            x = x + self.o(a.transpose(1, 2).reshape(B, T, n_q * H))
            y = self.norm2(x)
            return x + self.down(F.silu(self.gate(y)) * self.up(y))

    class Decoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.Embedding(model.vocab, D)
            self.blocks = nn.ModuleList(Block() for _ in range(model.layers))
            self.norm, self.out = nn.RMSNorm(D), nn.Linear(D, model.vocab, bias=False)
            turns = torch.outer(torch.arange(8192.0), 500000 ** -(torch.arange(0, H, 2) / H))
            self.register_buffer("cos", turns.cos().repeat(1, 2), persistent=False)
            self.register_buffer("sin", turns.sin().repeat(1, 2), persistent=False)

        def forward(self, tokens: Any) -> Any:
            x, T = self.table(tokens[:, :-1]), tokens.shape[1] - 1
            cos, sin = self.get_buffer("cos"), self.get_buffer("sin")
            for block in self.blocks:
                x = block(x, cos[:T], sin[:T])
            logits = self.out(self.norm(x)).float()
            return F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())

    return Decoder()


def _turned(x: Any, cos: Any, sin: Any) -> Any:
    import torch

    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin
