"""A trainer of components: a configuration, a mesh, a model on the meta device, FSDP2 or HSDP with compiled blocks, a
loader, a schedule, and metrics over all ranks."""

import argparse
import contextlib
import gc
import logging
import math
import os
from dataclasses import dataclass

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor
from torch.utils.data import DataLoader, IterableDataset

logging.basicConfig(level=logging.INFO, format="[titan] %(message)s")
logger = logging.getLogger()


@dataclass
class ModelArgs:
    dim: int = 4096
    n_layers: int = 32
    n_heads: int = 32
    n_kv_heads: int = 8
    hidden_dim: int = 14336
    vocab_size: int = 128256
    rope_theta: float = 500000
    max_seq_len: int = 8192


def precompute_freqs_cis(dim: int, end: int, theta: float) -> torch.Tensor:
    freqs = 1.0 / (theta ** (torch.arange(0, dim, 2)[: (dim // 2)].float() / dim))
    freqs = torch.outer(torch.arange(end, device=freqs.device), freqs).float()
    return torch.polar(torch.ones_like(freqs), freqs)


def apply_rotary_emb(xq, xk, freqs_cis):
    xq_, xk_ = (torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2)) for x in (xq, xk))
    freqs_cis = freqs_cis[: xq.shape[1]].view(1, xq.shape[1], 1, -1)
    out = (torch.view_as_real(x * freqs_cis).flatten(3) for x in (xq_, xk_))
    return tuple(x.type_as(xq) for x in out)


class Attention(nn.Module):
    def __init__(self, args: ModelArgs):
        super().__init__()
        self.n_heads, self.n_kv_heads, self.head_dim = args.n_heads, args.n_kv_heads, args.dim // args.n_heads
        self.wq = nn.Linear(args.dim, args.n_heads * self.head_dim, bias=False)
        self.wk = nn.Linear(args.dim, args.n_kv_heads * self.head_dim, bias=False)
        self.wv = nn.Linear(args.dim, args.n_kv_heads * self.head_dim, bias=False)
        self.wo = nn.Linear(args.n_heads * self.head_dim, args.dim, bias=False)

    def forward(self, x, freqs_cis):
        bs, seqlen, _ = x.shape
        xq, xk, xv = (w(x).view(bs, seqlen, -1, self.head_dim) for w in (self.wq, self.wk, self.wv))
        xq, xk = apply_rotary_emb(xq, xk, freqs_cis)
        xq, xk, xv = (t.transpose(1, 2) for t in (xq, xk, xv))
        output = F.scaled_dot_product_attention(xq, xk, xv, is_causal=True, enable_gqa=True)
        return self.wo(output.transpose(1, 2).contiguous().view(bs, seqlen, -1))


class FeedForward(nn.Module):
    def __init__(self, dim: int, hidden_dim: int):
        super().__init__()
        self.w1, self.w3 = nn.Linear(dim, hidden_dim, bias=False), nn.Linear(dim, hidden_dim, bias=False)
        self.w2 = nn.Linear(hidden_dim, dim, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class TransformerBlock(nn.Module):
    def __init__(self, args: ModelArgs):
        super().__init__()
        self.attention, self.feed_forward = Attention(args), FeedForward(args.dim, args.hidden_dim)
        self.attention_norm, self.ffn_norm = nn.RMSNorm(args.dim, eps=1e-5), nn.RMSNorm(args.dim, eps=1e-5)

    def forward(self, x, freqs_cis):
        h = x + self.attention(self.attention_norm(x), freqs_cis)
        return h + self.feed_forward(self.ffn_norm(h))


class Transformer(nn.Module):
    def __init__(self, args: ModelArgs):
        super().__init__()
        self.args = args
        self.tok_embeddings = nn.Embedding(args.vocab_size, args.dim)
        self.register_buffer("freqs_cis", self._freqs(), persistent=False)
        self.layers = nn.ModuleDict({str(i): TransformerBlock(args) for i in range(args.n_layers)})
        self.norm = nn.RMSNorm(args.dim, eps=1e-5)
        self.output = nn.Linear(args.dim, args.vocab_size, bias=False)

    def _freqs(self):
        return precompute_freqs_cis(self.args.dim // self.args.n_heads, self.args.max_seq_len, self.args.rope_theta)

    def init_weights(self, buffer_device):
        with torch.device(buffer_device):
            self.freqs_cis = self._freqs()
        nn.init.normal_(self.tok_embeddings.weight)
        for layer in self.layers.values():
            layer.attention_norm.reset_parameters()
            for linear in (layer.attention.wq, layer.attention.wo, layer.feed_forward.w2):
                nn.init.trunc_normal_(linear.weight, mean=0.0, std=0.02)
        nn.init.trunc_normal_(self.output.weight, std=self.args.dim**-0.5)

    def forward(self, tokens):
        h = self.tok_embeddings(tokens)
        for layer in self.layers.values():
            h = layer(h, self.freqs_cis)
        return self.output(self.norm(h))


class SyntheticTokens(IterableDataset):
    def __init__(self, vocab_size: int, seq_len: int, rank: int):
        self.vocab_size, self.seq_len, self.seed = vocab_size, seq_len, rank

    def __iter__(self):
        generator = torch.Generator().manual_seed(self.seed)
        while True:
            x = torch.randint(0, self.vocab_size, (self.seq_len + 1,), generator=generator)
            yield {"input": x[:-1]}, x[1:]


def dist_mean(x: torch.Tensor, mesh: DeviceMesh) -> float:
    x = x.full_tensor() if isinstance(x, DTensor) else x
    dist.all_reduce(x, group=mesh.get_group(), op=dist.ReduceOp.AVG)
    return x.item()


class Trainer:
    def __init__(self, job):
        self.job = job
        self.device = torch.device(f"cuda:{int(os.environ['LOCAL_RANK'])}")
        torch.cuda.set_device(self.device)
        dist.init_process_group("nccl", device_id=self.device)
        world_size, shard = dist.get_world_size(), job.shard or dist.get_world_size()
        logger.info(
            f"{torch.cuda.device_count()} x {torch.cuda.get_device_name(self.device)} a node, {world_size} ranks"
        )
        dims = (world_size // shard, shard) if shard < world_size else (world_size,)
        names = ("dp_replicate", "dp_shard")[-len(dims) :]
        self.mesh = init_device_mesh("cuda", dims, mesh_dim_names=names)
        args = ModelArgs(n_layers=job.layers, max_seq_len=job.seq_len)
        with torch.device("meta"):
            self.model = Transformer(args)
        policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
        config = {"mesh": self.mesh, "mp_policy": policy}
        for layer_id, block in self.model.layers.named_children():
            self.model.layers.register_module(layer_id, torch.compile(block, fullgraph=True))
        fully_shard(self.model.tok_embeddings, **config)
        for block in self.model.layers.values():
            fully_shard(block, **config)
        fully_shard([self.model.norm, self.model.output], **config, reshard_after_forward=False)
        fully_shard(self.model, **config)
        self.model.to_empty(device="cuda")
        with torch.no_grad():
            self.model.init_weights(buffer_device="cuda")
        self.model.train()
        dataset = SyntheticTokens(args.vocab_size, job.seq_len, dist.get_rank())
        self.loader = iter(DataLoader(dataset, batch_size=job.batch, num_workers=2, pin_memory=True))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=3e-4, betas=(0.9, 0.95), fused=True)
        warm = lambda step: min(1.0, (step + 1) / 200)
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, lr_lambda=warm)
        memory = torch.cuda.get_device_properties(self.device).total_memory
        logger.info(f"model size {sum(p.numel() for p in self.model.parameters()):,}, memory {memory / 2**30:.0f} GiB")

    def train_step(self, step: int) -> None:
        self.optimizer.zero_grad()
        inputs, labels = next(self.loader)
        inputs, labels = inputs["input"].to(self.device), labels.to(self.device)
        with torch.autograd.profiler.record_function("forward_backward"), contextlib.nullcontext():
            pred = self.model(inputs)
            loss = F.cross_entropy(pred.flatten(0, 1).float(), labels.flatten(0, 1))
            del pred
            loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0, foreach=True)
        norm = norm.full_tensor() if isinstance(norm, DTensor) else norm
        self.optimizer.step()
        self.scheduler.step()
        flat = self.mesh if self.mesh.ndim == 1 else self.mesh._flatten("dp")
        average = dist_mean(loss.detach().clone(), flat)
        peak = torch.cuda.memory_stats(self.device)["active_bytes.all.peak"]
        torch.cuda.reset_peak_memory_stats()
        lr = self.scheduler.get_last_lr()[0]
        if not math.isinf(average):
            logger.info(f"step: {step}  loss: {average:7.4f}  grad_norm: {norm.item():.4f}  lr {lr:.1e}  memory {peak}")

    def train(self) -> None:
        gc.disable()
        for step in range(1, self.job.steps + 1):
            self.train_step(step)
        if dist.get_rank() == 0:
            torch.save({"model": self.model.state_dict()}, "step.pt")
        gc.enable()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--layers", type=int, default=32)
    parser.add_argument("--seq_len", type=int, default=8192)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--shard", type=int, default=0)
    Trainer(parser.parse_args()).train()
    dist.destroy_process_group()
