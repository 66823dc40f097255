"""A decoder in torch for a `Model`, cut over ranks as torch's own tutorials do it: for programs on virtual clusters.

Queries, keys and values are one matrix, gate and up another, as in Megatron, so that a rank sums the gradient of their
input once. Attention is written out, so that its backward pass does twice what its forward pass does.
"""

from typing import Any

import torch
from torch import nn

bf16 = torch.bfloat16


class Block(nn.Module):
    """A layer: attention with grouped keys, and a gated MLP."""

    def __init__(self, model: Any, dtype: torch.dtype = bf16):
        super().__init__()
        D, H = model.width, model.head_dim
        self.group, self.H = model.heads_per_kv_head, H
        self.norm_1, self.norm_2 = nn.RMSNorm(D, dtype=dtype), nn.RMSNorm(D, dtype=dtype)
        self.qkv = nn.Linear(D, (model.heads + 2 * model.kv_heads) * H, bias=False, dtype=dtype)
        self.out = nn.Linear(model.heads * H, D, bias=False, dtype=dtype)
        self.gate_up = nn.Linear(D, 2 * model.ffn, bias=False, dtype=dtype)
        self.down = nn.Linear(model.ffn, D, bias=False, dtype=dtype)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        heads = self.qkv(self.norm_1(x)).unflatten(-1, (-1, self.group + 2, self.H)).permute(0, 2, 3, 1, 4)
        q, k, v = heads.split([self.group, 1, 1], 2)
        scores = torch.softmax(q @ k.transpose(-1, -2), -1)
        x = x + self.out((scores @ v).permute(0, 3, 1, 2, 4).flatten(2))
        gate, up = self.gate_up(self.norm_2(x)).unflatten(-1, (-1, 2)).unbind(-1)
        return x + self.down(nn.functional.silu(gate) * up)


class Decoder(nn.Module):
    """Layers from one number to another, with the embedding before the first and the output layer behind the last."""

    def __init__(self, model: Any, first: int = 0, end: int | None = None, dtype: torch.dtype = bf16):
        super().__init__()
        end = model.layers if end is None else end
        D, last = model.width, end == model.layers
        self.embedding = nn.Embedding(model.vocab, D, dtype=dtype) if first == 0 else None
        self.blocks = nn.ModuleList(Block(model, dtype) for _ in range(first, end))
        self.norm = nn.RMSNorm(D, dtype=dtype) if last else None
        self.head = nn.Linear(D, model.vocab, bias=False, dtype=dtype) if last else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.embedding is not None:
            x = self.embedding(x)
        for block in self.blocks:
            x = block(x)
        return x if self.norm is None or self.head is None else self.head(self.norm(x))


def tensor_parallel(decoder: Decoder, mesh: Any, sp: bool = False) -> Decoder:
    """Cut by columns and rows over a mesh; with `sp`, what lies between is cut by tokens."""
    from torch.distributed.tensor import Replicate, Shard
    from torch.distributed.tensor.parallel import (
        ColwiseParallel,
        RowwiseParallel,
        SequenceParallel,
        parallelize_module,
    )

    between = Shard(1) if sp else Replicate()
    ways: dict[str, Any] = {}
    for i in range(len(decoder.blocks)):
        ways |= {f"blocks.{i}.{name}": ColwiseParallel(input_layouts=between) for name in ("qkv", "gate_up")}
        ways |= {f"blocks.{i}.{name}": RowwiseParallel(output_layouts=between) for name in ("out", "down")}
        if sp:
            ways |= {f"blocks.{i}.{name}": SequenceParallel(use_local_output=True) for name in ("norm_1", "norm_2")}
    if decoder.embedding is not None:
        ways["embedding"] = RowwiseParallel(input_layouts=Replicate(), output_layouts=between)
    if decoder.head is not None:
        ways["head"] = ColwiseParallel(input_layouts=between)
        if sp:
            ways["norm"] = SequenceParallel(use_local_output=True)
    parallelize_module(decoder, mesh, ways)
    return decoder


def fully_sharded(decoder: Decoder, mesh: Any) -> Decoder:
    """FSDP2 of each layer, of the embedding, and of the output layer with the norm before it."""
    from torch.distributed.fsdp import fully_shard

    if decoder.embedding is not None:
        fully_shard(decoder.embedding, mesh=mesh)
    for block in decoder.blocks:
        fully_shard(block, mesh=mesh)
    if decoder.norm is not None and decoder.head is not None:
        fully_shard([decoder.norm, decoder.head], mesh=mesh, reshard_after_forward=False)
    fully_shard(decoder, mesh=mesh)
    return decoder


class ExpertBlock(nn.Module):
    """A layer whose experts are divided among a group's ranks, with as many tokens for each: attention, a router;
    tokens sorted by expert, sent, sorted by the rank's own, and all the way back.
    """

    def __init__(self, model: Any, ranks: int):
        super().__init__()
        D, H, E = model.width, model.head_dim, model.experts // ranks
        self.model, self.ranks, self.E = model, ranks, E
        self.norm_1, self.norm_2 = nn.RMSNorm(D, dtype=bf16), nn.RMSNorm(D, dtype=bf16)
        self.qkv = nn.Linear(D, (model.heads + 2 * model.kv_heads) * H, bias=False, dtype=bf16)
        self.out = nn.Linear(model.heads * H, D, bias=False, dtype=bf16)
        self.router = nn.Linear(D, model.experts, bias=False, dtype=bf16)
        self.gate_up = nn.Parameter(torch.empty(E, D, 2 * model.expert_ffn, dtype=bf16))
        self.down = nn.Parameter(torch.empty(E, model.expert_ffn, D, dtype=bf16))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        from torch.distributed._functional_collectives import all_to_all_single_autograd
        from torch.distributed.distributed_c10d import _get_default_group

        model, k = self.model, self.model.experts_per_token
        heads = self.qkv(self.norm_1(x)).unflatten(-1, (-1, model.head_dim)).transpose(1, 2)
        q, key, value = heads.split([model.heads, model.kv_heads, model.kv_heads], 1)
        a = nn.functional.scaled_dot_product_attention(q, key, value, is_causal=True, enable_gqa=True)
        x = x + self.out(a.transpose(1, 2).flatten(2))
        y = self.norm_2(x).flatten(0, 1)
        weights, experts = torch.softmax(self.router(y).float(), -1).topk(k, -1)
        order = experts.flatten().argsort()
        parts = [order.numel() // self.ranks] * self.ranks

        def sent(tokens: torch.Tensor) -> torch.Tensor:
            return all_to_all_single_autograd(tokens, parts, parts, _get_default_group())

        mine = sent(y.index_select(0, order // k)).index_select(0, order)
        ends = torch.zeros(self.E, dtype=torch.int32)
        gate, up = torch._grouped_mm(mine, self.gate_up, ends).chunk(2, -1)
        given = torch._grouped_mm(nn.functional.silu(gate) * up, self.down, ends).index_select(0, order)
        back = sent(given).index_select(0, order).unflatten(0, (-1, k))
        return x + (back * weights[..., None].to(bf16)).sum(1).view_as(x)
