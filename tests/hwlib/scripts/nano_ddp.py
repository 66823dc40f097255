"""GPT-2 with DistributedDataParallel, autocast and gradient accumulation, in the style of small training scripts."""

import argparse
import os
import time
from contextlib import nullcontext

import numpy as np
import torch
from torch import nn
from torch.distributed import destroy_process_group, init_process_group
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

parser = argparse.ArgumentParser()
parser.add_argument("--layers", type=int, default=12)
parser.add_argument("--heads", type=int, default=12)
parser.add_argument("--width", type=int, default=768)
parser.add_argument("--batch", type=int, default=12)
parser.add_argument("--accumulate", type=int, default=4)
parser.add_argument("--steps", type=int, default=2)
args = parser.parse_args()
block_size, vocab_size, dtype = 1024, 50304, "bfloat16"


class CausalSelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_attn = nn.Linear(args.width, 3 * args.width)
        self.c_proj = nn.Linear(args.width, args.width)
        self.dropout = 0.1

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = (t.view(B, T, args.heads, C // args.heads).transpose(1, 2) for t in self.c_attn(x).split(C, dim=2))
        dropout = self.dropout if self.training else 0
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=dropout, is_causal=True)
        return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.attn, self.ln_2 = nn.LayerNorm(args.width), CausalSelfAttention(), nn.LayerNorm(args.width)
        self.mlp = nn.Sequential(
            nn.Linear(args.width, 4 * args.width), nn.GELU(), nn.Linear(4 * args.width, args.width)
        )

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocab_size, args.width), nn.Embedding(block_size, args.width)
        self.h, self.ln_f = nn.ModuleList(Block() for _ in range(args.layers)), nn.LayerNorm(args.width)
        self.lm_head = nn.Linear(args.width, vocab_size, bias=False)
        self.wte.weight = self.lm_head.weight
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.normal_(p, mean=0.0, std=0.02)

    def forward(self, idx, targets):
        x = self.wte(idx) + self.wpe(torch.arange(idx.size(1), dtype=torch.long, device=idx.device))
        for block in self.h:
            x = block(x)
        logits = self.lm_head(self.ln_f(x))
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1)


init_process_group(backend="nccl")
rank, local_rank = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
device = f"cuda:{local_rank}"
torch.cuda.set_device(device)
torch.manual_seed(1337 + rank)
torch.backends.cuda.matmul.allow_tf32 = True
torch.backends.cudnn.allow_tf32 = True
device_type = "cuda" if "cuda" in device else "cpu"
ctx = (
    nullcontext() if device_type == "cpu" else torch.amp.autocast(device_type=device_type, dtype=getattr(torch, dtype))
)
data = np.random.default_rng(0).integers(0, 50257, 100_000, dtype=np.uint16)


def get_batch():
    ix = torch.randint(len(data) - block_size, (args.batch,))
    x = torch.stack([torch.from_numpy(data[i : i + block_size].astype(np.int64)) for i in ix])
    y = torch.stack([torch.from_numpy(data[i + 1 : i + 1 + block_size].astype(np.int64)) for i in ix])
    return (x.pin_memory().to(device, non_blocking=True), y.pin_memory().to(device, non_blocking=True))


model = GPT()
model.to(device)
scaler = torch.cuda.amp.GradScaler(enabled=(dtype == "float16"))
decayed = [p for p in model.parameters() if p.dim() >= 2]
others = [p for p in model.parameters() if p.dim() < 2]
optimizer = torch.optim.AdamW(
    [{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}],
    lr=6e-4,
    betas=(0.9, 0.95),
    fused=True,
)
model = torch.compile(model)
model = DDP(model, device_ids=[local_rank])
X, Y = get_batch()
t0 = time.time()
for step in range(args.steps):
    for param_group in optimizer.param_groups:
        param_group["lr"] = 6e-4 * (step + 1) / 100
    for micro_step in range(args.accumulate):
        model.require_backward_grad_sync = micro_step == args.accumulate - 1
        with ctx:
            logits, loss = model(X, Y)
            loss = loss / args.accumulate
        X, Y = get_batch()
        scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad(set_to_none=True)
    if rank == 0:
        dt, t0 = time.time() - t0, time.time()
        lossf = loss.item() * args.accumulate
        print(f"iter {step}: loss {lossf:.4f}, memory {torch.cuda.max_memory_allocated() / 1e9:.1f} GB")
destroy_process_group()
