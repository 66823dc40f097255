"""The modules of `hwlib.labs.decoders`, written to be read: attention, latent attention, an MLP, experts, the model."""

from typing import Any

import torch
from torch import nn

Numbers = dict[str, int]


def linear(rows: int, columns: int) -> nn.Linear:
    return nn.Linear(rows, columns, bias=False)


def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """[..., heads, T, width] of queries, keys and values: scores, their softmax, and the sum of the values.

    The mask is applied to all scores after they were computed, so nothing is saved by it.
    """
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).tril()
    return torch.softmax(scores.masked_fill(~mask, float("-inf")), -1) @ v


class Attention(nn.Module):
    """Queries in n_q heads, keys and values in K; a token sees its own chunk of T_win tokens."""

    def __init__(self, c: Numbers):
        super().__init__()
        self.c = c
        self.q, self.k, self.v = (linear(c["D"], heads * c["H"]) for heads in (c["n_q"], c["K"], c["K"]))
        self.out = linear(c["n_q"] * c["H"], c["D"])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        chunks = x.unflatten(0, (-1, min(self.c["T_win"], len(x))))
        q, k, v = (w(chunks).unflatten(-1, (-1, self.c["H"])).transpose(1, 2) for w in (self.q, self.k, self.v))
        k, v = (y.repeat_interleave(self.c["n_q"] // self.c["K"], 1) for y in (k, v))
        return self.out(attend(q, k, v).transpose(1, 2).flatten(2).flatten(0, 1))


class LatentAttention(nn.Module):
    """Queries, keys and values are compressed first; one part of the key, for the position, all heads share."""

    def __init__(self, c: Numbers):
        super().__init__()
        self.c = c
        keys = c["d_nope"] + c["d_rope"]
        self.q_down, self.q_up = linear(c["D"], c["r_q"]), linear(c["r_q"], c["n_q"] * keys)
        self.kv_down = linear(c["D"], c["r_kv"] + c["d_rope"])
        self.kv_up = linear(c["r_kv"], c["n_q"] * (c["d_nope"] + c["d_v"]))
        self.out = linear(c["n_q"] * c["d_v"], c["D"])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        c = self.c
        q = self.q_up(self.q_down(x)).unflatten(-1, (c["n_q"], -1)).transpose(0, 1)
        latent, rope = self.kv_down(x).split([c["r_kv"], c["d_rope"]], -1)
        nope, v = self.kv_up(latent).unflatten(-1, (c["n_q"], -1)).transpose(0, 1).split([c["d_nope"], c["d_v"]], -1)
        k = torch.cat([nope, rope.expand(c["n_q"], -1, -1)], -1)
        return self.out(attend(q, k, v).transpose(0, 1).flatten(1))


class Mlp(nn.Module):
    """SwiGLU: two matrices up, one of them a gate, and one down."""

    def __init__(self, D: int, F: int):
        super().__init__()
        self.gate, self.up, self.down = linear(D, F), linear(D, F), linear(F, D)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(nn.functional.silu(self.gate(x)) * self.up(x))


class Experts(nn.Module):
    """A router that gives each token k of E experts, and experts that all tokens take."""

    def __init__(self, c: Numbers):
        super().__init__()
        self.k, self.router = c["k"], linear(c["D"], c["E"])
        self.experts = nn.ModuleList(Mlp(c["D"], c["F"]) for _ in range(c["E"]))
        self.shared = nn.ModuleList(Mlp(c["D"], c["F"]) for _ in range(c["shared"]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        score = torch.softmax(self.router(x), -1)
        best = score.topk(self.k, -1)
        weight = torch.zeros_like(score).scatter(-1, best.indices, best.values)
        y = torch.stack([expert(x) for expert in self.experts], -1)
        return (y * weight[:, None]).sum(-1) + sum(expert(x) for expert in self.shared)


class Layer(nn.Module):
    def __init__(self, c: Numbers):
        super().__init__()
        self.norms = nn.ModuleList(nn.RMSNorm(c["D"]) for _ in range(2))
        self.attention = LatentAttention(c) if c["r_kv"] else Attention(c)
        self.mlp = Experts(c) if c["E"] > 1 else Mlp(c["D"], c["F"])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.norms[0](x))
        return x + self.mlp(self.norms[1](x))


class Decoder(nn.Module):
    """[T] tokens in, [T, V] logits out; with one table the output layer is the embedding again."""

    def __init__(self, c: Numbers):
        super().__init__()
        self.vocab = c["V"]
        self.embedding = nn.Embedding(c["V"], c["D"])
        self.layers = nn.Sequential(*(Layer(c) for _ in range(c["L"])))
        self.norm = nn.RMSNorm(c["D"])
        self.head = linear(c["D"], c["V"])
        if c["tables"] == 1:
            self.head.weight = self.embedding.weight

    def forward(self, tokens: torch.Tensor) -> Any:
        return self.head(self.norm(self.layers(self.embedding(tokens))))
