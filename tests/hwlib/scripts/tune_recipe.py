"""A recipe that fine-tunes all parameters, in the way of torchtune's: a configuration, `setup` and `train`; bf16
parameters, FSDP2, recomputed layers, a loss in chunks, padded labels, gradients scaled by the tokens of all ranks."""

import argparse
import os
import time
from functools import partial
from types import SimpleNamespace

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed._composable.fsdp import CPUOffloadPolicy, fully_shard
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import (
    apply_activation_checkpointing,
    checkpoint_wrapper,
)
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp.wrap import ModuleWrapPolicy
from torch.utils.data import DataLoader, Dataset, DistributedSampler

IGNORE = -100
CHUNKS = 8


class PackedDataset(Dataset):
    def __init__(self, vocab_size, max_seq_len, packs):
        self.vocab_size, self.max_seq_len, self.packs = vocab_size, max_seq_len, packs

    def __len__(self):
        return self.packs

    def __getitem__(self, index):
        drawn = torch.Generator().manual_seed(index)
        tokens = torch.randint(0, self.vocab_size, (self.max_seq_len,), generator=drawn)
        labels = tokens.clone()
        labels[-16:] = IGNORE
        return {"tokens": tokens, "labels": labels}


class MultiHeadAttention(nn.Module):
    def __init__(self, dim, heads, kv_heads):
        super().__init__()
        self.head_dim = dim // heads
        self.q_proj = nn.Linear(dim, dim, bias=False)
        self.k_proj = nn.Linear(dim, kv_heads * self.head_dim, bias=False)
        self.v_proj = nn.Linear(dim, kv_heads * self.head_dim, bias=False)
        self.output_proj = nn.Linear(dim, dim, bias=False)

    def forward(self, x):
        b, s, _ = x.shape
        q, k, v = (w(x).view(b, s, -1, self.head_dim).transpose(1, 2) for w in (self.q_proj, self.k_proj, self.v_proj))
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.output_proj(out.transpose(1, 2).reshape(b, s, -1))


class FeedForward(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.w1, self.w2, self.w3 = (
            nn.Linear(dim, hidden, bias=False),
            nn.Linear(hidden, dim, bias=False),
            nn.Linear(dim, hidden, bias=False),
        )

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class TransformerSelfAttentionLayer(nn.Module):
    def __init__(self, dim, heads, kv_heads, hidden):
        super().__init__()
        self.sa_norm, self.attn = nn.RMSNorm(dim), MultiHeadAttention(dim, heads, kv_heads)
        self.mlp_norm, self.mlp = nn.RMSNorm(dim), FeedForward(dim, hidden)

    def forward(self, x):
        h = x + self.attn(self.sa_norm(x))
        return h + self.mlp(self.mlp_norm(h))


class TransformerDecoder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.tok_embeddings = nn.Embedding(cfg.vocab_size, cfg.dim)
        layers = [
            TransformerSelfAttentionLayer(cfg.dim, cfg.heads, cfg.kv_heads, cfg.hidden) for _ in range(cfg.layers)
        ]
        self.layers = nn.ModuleList(layers)
        self.norm, self.output = nn.RMSNorm(cfg.dim), nn.Linear(cfg.dim, cfg.vocab_size, bias=False)

    def forward(self, tokens):
        h = self.tok_embeddings(tokens)
        for layer in self.layers:
            h = layer(h)
        h = self.norm(h)
        return [self.output(chunk) for chunk in h.chunk(CHUNKS, dim=1)]


def chunked_cross_entropy(logits, labels):
    total = 0.0
    for part, wanted in zip(logits, labels.chunk(CHUNKS, dim=1), strict=True):
        total = total + F.cross_entropy(
            part.reshape(-1, part.size(-1)).float(), wanted.reshape(-1), ignore_index=IGNORE, reduction="sum"
        )
    return total / (labels != IGNORE).sum()


def scale_grads(model, scaler):
    for parameter in model.parameters():
        if parameter.grad is not None:
            parameter.grad *= scaler.to(parameter.grad.device)


class FullFinetuneRecipeDistributed:
    def __init__(self, cfg):
        self.cfg = cfg
        dist.init_process_group(backend="cuda:nccl,cpu:gloo")
        self.world_size, self.rank = dist.get_world_size(), dist.get_rank()
        self.device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(self.device)

    def setup(self):
        cfg = self.cfg
        mesh = init_device_mesh("cuda", mesh_shape=(self.world_size,), mesh_dim_names=("dp",))
        torch.set_default_dtype(torch.bfloat16)
        with torch.device("meta"):
            self.model = TransformerDecoder(cfg)
        apply_activation_checkpointing(
            self.model,
            checkpoint_wrapper_fn=partial(checkpoint_wrapper, preserve_rng_state=False),
            auto_wrap_policy=ModuleWrapPolicy({TransformerSelfAttentionLayer}),
        )
        options = {"mesh": mesh} | ({"offload_policy": CPUOffloadPolicy()} if cfg.offload else {})
        for layer in self.model.layers:
            fully_shard(layer, **options)
        fully_shard(self.model, **options)
        self.model.to_empty(device=self.device)
        torch.set_default_dtype(torch.float32)
        dist.barrier()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=2e-5, fused=True)
        self.lr_scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, lambda step: min(1.0, (step + 1) / 10))
        packs = cfg.steps * cfg.accumulate * cfg.batch * self.world_size
        data = PackedDataset(cfg.vocab_size, cfg.seq_len, packs)
        self.sampler = DistributedSampler(data, num_replicas=self.world_size, rank=self.rank, shuffle=True, seed=0)
        self.loader = DataLoader(data, batch_size=cfg.batch, sampler=self.sampler, drop_last=True)

    def train(self):
        self.optimizer.zero_grad(set_to_none=True)
        began, running_loss, num_tokens, step = time.perf_counter(), 0, 0, 0
        self.sampler.set_epoch(0)
        for index, batch in enumerate(self.loader):
            batch = {name: value.to(self.device, non_blocking=True) for name, value in batch.items()}
            current = (batch["labels"] != IGNORE).sum()
            num_tokens += current
            labels = torch.hstack((batch["labels"][..., 1:], torch.full_like(batch["labels"][..., :1], IGNORE)))
            loss = chunked_cross_entropy(self.model(batch["tokens"]), labels) * current
            running_loss += loss.detach()
            loss.backward()
            if (index + 1) % self.cfg.accumulate == 0:
                dist.all_reduce(num_tokens)
                dist.all_reduce(running_loss)
                scale_grads(self.model, self.world_size / num_tokens)
                norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), max_norm=1.0).full_tensor()
                self.optimizer.step()
                self.optimizer.zero_grad(set_to_none=True)
                self.lr_scheduler.step()
                step += 1
                if self.rank == 0:
                    rate = num_tokens / ((time.perf_counter() - began) * self.world_size)
                    words = f"loss:{(running_loss / num_tokens).item()} tokens_per_second_per_gpu:{rate.item()}"
                    print(f"Step {step} | {words} grad_norm:{norm.item()}", flush=True)
                running_loss, num_tokens, began = 0, 0, time.perf_counter()


def recipe_main():
    parser = argparse.ArgumentParser()
    for name, default in (("layers", 32), ("seq_len", 4096), ("batch", 1), ("steps", 2), ("accumulate", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--offload", action="store_true")
    shape = {"dim": 4096, "heads": 32, "kv_heads": 8, "hidden": 14336, "vocab_size": 128256}
    recipe = FullFinetuneRecipeDistributed(SimpleNamespace(**vars(parser.parse_args()), **shape))
    recipe.setup()
    recipe.train()
    dist.destroy_process_group()


if __name__ == "__main__":
    recipe_main()
