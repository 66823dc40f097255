"""FSDP2 over tensor parallelism, as one writes it for `torchrun --nproc-per-node 8`."""

import os
import sys

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import Replicate
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, loss_parallel, parallelize_module

D, FFN, HEADS, VOCAB, T, H = 4096, 11008, 32, 32000, 4096, 128
LAYERS, TP = int(sys.argv[1]), int(sys.argv[2])


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm_1, self.qkv, self.out = nn.RMSNorm(D), nn.Linear(D, 3 * D, bias=False), nn.Linear(D, D, bias=False)
        self.norm_2, self.up, self.down = (
            nn.RMSNorm(D),
            nn.Linear(D, 2 * FFN, bias=False),
            nn.Linear(FFN, D, bias=False),
        )

    def forward(self, x):
        q, k, v = self.qkv(self.norm_1(x)).unflatten(-1, (-1, 3, H)).permute(3, 0, 2, 1, 4)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        gate, up = self.up(self.norm_2(x)).unflatten(-1, (-1, 2)).unbind(-1)
        return x + self.down(F.silu(gate) * up)


dist.init_process_group("nccl")
device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
torch.cuda.set_device(device)
mesh = init_device_mesh("cuda", (dist.get_world_size() // TP, TP), mesh_dim_names=("dp", "tp"))
with device:
    model = nn.Sequential(nn.Embedding(VOCAB, D), *[Block() for _ in range(LAYERS)], nn.Linear(D, VOCAB, bias=False))
cut = {"0": RowwiseParallel(input_layouts=Replicate()), f"{LAYERS + 1}": ColwiseParallel(use_local_output=False)}
for i in range(1, LAYERS + 1):
    cut |= {f"{i}.qkv": ColwiseParallel(), f"{i}.out": RowwiseParallel()}
    cut |= {f"{i}.up": ColwiseParallel(), f"{i}.down": RowwiseParallel()}
parallelize_module(model, mesh["tp"], cut)
mixed = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.bfloat16)
for layer in [*model, model]:
    fully_shard(layer, mesh=mesh["dp"], mp_policy=mixed, reshard_after_forward=layer is not model[-1])
adam = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
for step in range(3):
    tokens = torch.randint(VOCAB, (8, T + 1), device=device)
    with loss_parallel():
        loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1).float(), tokens[:, 1:].flatten())
        loss.backward()
    adam.step()
    adam.zero_grad()
    if dist.get_rank() == 0 and torch.isfinite(loss):
        print(f"step {step}: loss {loss.item():.3f}", flush=True)
dist.destroy_process_group()
