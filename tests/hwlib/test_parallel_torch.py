"""Formulas of parallel training against what torch's own DDP, FSDP2 and HSDP send, counted on a virtual cluster."""

import pytest
import torch
from torch import nn

from hwlib import parallel, virtual

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
LAYERS, D = 3, 256
P = LAYERS * D**2


def run(ranks, shard):
    """Forward and backward of a few square matrices in bfloat16, sharded by `shard(layers, model)`."""
    with virtual.cluster(ranks) as world:
        with world.shapes():
            layers = [nn.Linear(D, D, bias=False, dtype=torch.bfloat16) for _ in range(LAYERS)]
            model = nn.Sequential(*layers)
            x = torch.randn(32, D, dtype=torch.bfloat16)
        model = shard(layers, model)
        return world.step(lambda: model(x).sum().backward())


def fully_sharded(shape, **options):
    """FSDP2 over a mesh: the last axis holds the shards, one before it the copies."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    def shard(layers, model):
        mesh = init_device_mesh("cpu", shape, mesh_dim_names=("out", "in")[-len(shape) :])
        for layer in layers:
            fully_shard(layer, mesh=mesh, **options)
        return fully_shard(model, mesh=mesh, **options)

    return shard


def sent(step):
    return sum(calls.sent_bytes for calls in step.calls)


def test_ddp_sends_the_bytes_of_data_parallelism():
    with virtual.cluster(8, data=True) as world:
        layers = [nn.Linear(D, D, bias=False, dtype=torch.bfloat16) for _ in range(LAYERS)]
        model = nn.parallel.DistributedDataParallel(nn.Sequential(*layers))
        x = torch.randn(32, D, dtype=torch.bfloat16)
        step = world.step(lambda: model(x).sum().backward(), warm=2)
    assert step.of("all_reduce", 8).sent_bytes == pytest.approx(parallel.dp_bytes(P, 8))


def test_fsdp2_sends_the_bytes_of_zero_3():
    step = run(8, fully_sharded((8,), reshard_after_forward=True))
    assert sent(step) == pytest.approx(parallel.zero3_bytes(P, 8))


def test_fsdp2_that_keeps_weights_sends_no_more_than_data_parallelism():
    step = run(8, fully_sharded((8,), reshard_after_forward=False))
    assert sent(step) == pytest.approx(parallel.fsdp_kept_bytes(P, 8))


def test_hybrid_sharding_sends_shards_inside_and_sums_outside():
    step = run(16, fully_sharded((2, 8), reshard_after_forward=True))
    assert step.of("all_reduce", 2).sent_bytes == pytest.approx(parallel.hsdp_out_bytes(P, 8, 2))
    inside = step.of("all_gather", 8).sent_bytes + step.of("reduce_scatter", 8).sent_bytes
    assert inside == pytest.approx(parallel.hsdp_in_bytes(P, 8))
