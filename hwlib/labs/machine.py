"""This machine: its `nvidia-smi topo -m`, which GPUs have peer access, and the bandwidth of copies."""

import shutil
import subprocess
from functools import partial
from typing import Any

from hwlib.labs.measure import time_kernel
from hwlib.topology import TopologyError, TopoTable, read_topo

SECONDS = 60.0  # a driver that loads first takes a while


def own_table() -> TopoTable | None:
    """The matrix that `nvidia-smi topo -m` prints here; None without nvidia-smi or without a GPU."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return None
    try:
        done = subprocess.run([tool, "topo", "-m"], capture_output=True, text=True, timeout=SECONDS, check=True)
        return read_topo(done.stdout)
    except (subprocess.SubprocessError, OSError, TopologyError):
        return None


SLOTS = "index,pcie.link.gen.current,pcie.link.gen.max,pcie.link.width.current,pcie.link.width.max"


def own_slots() -> str:
    """What `nvidia-smi` prints of the slots here: a line a GPU with generation and lanes, now and at most; empty
    without nvidia-smi or without a GPU.
    """
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return ""
    command = [tool, f"--query-gpu={SLOTS}", "--format=csv,noheader"]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True).stdout
    except (subprocess.SubprocessError, OSError):
        return ""


def peer_access() -> list[list[bool]]:
    """Whether each GPU can read the memory of each other one itself; empty where there is no GPU."""
    import torch

    gpus = range(torch.cuda.device_count())
    return [[one == other or torch.cuda.can_device_access_peer(one, other) for other in gpus] for one in gpus]


def copy_bandwidths(size: int = 2**28) -> dict[tuple[str, str], float]:
    """B/s of one copy at a time, by its two ends: host and each GPU, each two GPUs; empty where there is no GPU.

    The host's memory is pinned. What comes out is payload over time, to be held against the line rate.
    """
    import torch

    host = torch.empty(size, dtype=torch.uint8, pin_memory=True) if torch.cuda.is_available() else None
    ends: dict[str, Any] = {"host": host} if host is not None else {}
    for i in range(torch.cuda.device_count()):
        ends[f"GPU{i}"] = torch.empty(size, dtype=torch.uint8, device=f"cuda:{i}")
    bandwidths = {}
    for end, source in ends.items():
        for other, target in ends.items():
            if end != other:
                device = source.device if source.is_cuda else target.device
                bandwidths[end, other] = size / time_kernel(partial(target.copy_, source, non_blocking=True), device)
    return bandwidths
