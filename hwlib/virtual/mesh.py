"""The mesh of a strategy on a simulated cluster: torch's axes, in the order in which `hwlib.parallel` numbers ranks."""

from typing import Any

from hwlib.strategy import Strategy

AXES = ("pp", "dp", "cp", "tp")
"""From the outside in: the ranks of a tensor-parallel group are neighbours."""


def device_mesh(strategy: Strategy) -> Any:
    """A DeviceMesh over all ranks with the axes AXES of a strategy, those of one rank among them.

    In `virtual.cluster`, and in a program that `play_ranks` plays. Raises ValueError if the number of ranks differs.

    >>> from hwlib import virtual
    >>> with virtual.cluster("superpod-h100-4su"):
    ...     mesh = device_mesh(Strategy.of(dp=32, tp=8, pp=4))
    ...     mesh.size(), mesh["tp"].size()
    (1024, 8)
    """
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh

    if strategy.gpus != dist.get_world_size():
        raise ValueError(f"device_mesh: {strategy!r} is of {strategy.gpus} ranks, got {dist.get_world_size()}")
    return init_device_mesh("cpu", tuple(getattr(strategy, name) for name in AXES), mesh_dim_names=AXES)
