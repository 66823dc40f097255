"""Runs each idiom of `data/idioms.toml` by itself, and writes what became of it: `idioms.py OUT [NAME...]`."""

import json
import os
import sys
import tomllib
from pathlib import Path

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

TABLE = Path(__file__).parent.parent / "data" / "idioms.toml"


def model():
    return nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 64))


class Net(nn.Module):
    """A table of words, a norm and a product."""

    def __init__(self):
        super().__init__()
        self.words, self.norm, self.out = nn.Embedding(100, 32), nn.LayerNorm(32), nn.Linear(32, 10)

    def forward(self, x):
        return self.out(self.norm(self.words(x))).mean(1)


def outcome(code, names):
    """Of one idiom: "works", or the class and the sentence of what it raised."""
    try:
        exec(compile(code, "idiom", "exec"), names)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "works"


def main(out, *wanted):
    dist.init_process_group("nccl")
    rank, world = int(os.environ["LOCAL_RANK"]), dist.get_world_size()
    shared = {"torch": torch, "dist": dist, "nn": nn, "F": F, "DDP": DDP, "model": model, "Net": Net}
    modules = {name: __import__(name) for name in ("copy", "io", "math", "os", "random", "tempfile", "time")}
    outcomes = {}
    for idiom in tomllib.loads(TABLE.read_text())["idiom"]:
        if not wanted or idiom["name"] in wanted:
            outcomes[idiom["name"]] = outcome(idiom["code"], shared | modules | {"rank": rank, "world": world})
    torch.randn(64, 64, device="cuda") @ torch.randn(64, 64, device="cuda")
    Path(out).write_text(json.dumps(outcomes))


main(*sys.argv[1:])
