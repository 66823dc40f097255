"""Programs of torch.distributed on a virtual cluster, against closed forms."""

import json
import sys
from itertools import pairwise
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard

from hwlib import virtual
from hwlib.collectives import ring_allreduce_time
from hwlib.roofline import matmul_flops
from hwlib.strategy import Strategy
from hwlib.transformer import attention_forward_flops
from hwlib.units import GB, us

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
bf16 = torch.bfloat16
H = 128


class Block(nn.Module):
    """A layer of a transformer without its norms: nothing but what the closed forms count."""

    def __init__(self, D, F):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(D, D, bias=False, dtype=bf16) for _ in range(4))
        self.up, self.down = nn.Linear(D, F, bias=False, dtype=bf16), nn.Linear(F, D, bias=False, dtype=bf16)

    def forward(self, x):
        q, k, v = (lin(x).unflatten(-1, (-1, H)).transpose(1, 2) for lin in (self.q, self.k, self.v))
        a = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(a.transpose(1, 2).flatten(2))
        return x + self.down(nn.functional.gelu(self.up(x)))


def test_a_strategy_has_its_mesh():
    """Tensor-parallel ranks are neighbours, stages are furthest apart."""
    with virtual.cluster("superpod-h100-1su", rank=9):
        mesh = virtual.device_mesh(Strategy.of(dp=4, tp=8, pp=4, cp=2))
        groups = {axis: dist.get_process_group_ranks(mesh[axis].get_group())[:2] for axis in ("tp", "cp", "dp", "pp")}
        assert groups == {"tp": [8, 9], "cp": [1, 9], "dp": [9, 25], "pp": [9, 73]}
        with pytest.raises(ValueError, match=r"8 ranks, .*256"):
            virtual.device_mesh(Strategy.of(dp=8))


def program(world, L, D, T, tp):
    """FSDP2 over tensor parallelism, as torch's tutorials write it; what it returns is a step."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    mesh = init_device_mesh("cpu", (world.ranks // tp, tp), mesh_dim_names=("dp", "tp"))
    with world.shapes():
        model = nn.Sequential(*[Block(D, 4 * D) for _ in range(L)])
        x = torch.randn(1, T, D, dtype=bf16, requires_grad=True)
    if tp > 1:
        ways: dict[str, Any] = {name: ColwiseParallel() for name in ("q", "k", "v", "up")}
        ways |= {name: RowwiseParallel() for name in ("o", "down")}
        parallelize_module(model, mesh["tp"], {f"{i}.{name}": way for i in range(L) for name, way in ways.items()})
    for block in model:
        fully_shard(block, mesh=mesh["dp"])
    fully_shard(model, mesh=mesh["dp"])
    return lambda: model(x).sum().backward()


@pytest.fixture(scope="module")
def mixed():
    L, D, T, tp = 3, 2048, 1024, 8
    with virtual.cluster("superpod-h100-4su") as world:
        return world.step(program(world, L, D, T, tp)), L, D, T, tp


def test_fsdp_and_tensor_parallelism_on_1024_ranks_move_exactly_the_bytes_of_the_closed_forms(mixed):
    step, L, D, T, tp = mixed
    P, b = 12 * D**2 * L, 2
    assert step.ranks == 1024
    assert step.of("all_gather", 128)[2:5] == ("spine", 2 * L, 2 * b * P / tp)  # the weights, forward and backward
    assert step.of("reduce_scatter", 128)[2:5] == ("spine", L, b * P / tp)
    # Two sums forward; backward one for each product that is cut by columns: torch sums Q's, K's and V's one by one
    assert step.of("all_reduce", 8)[2:5] == ("node", 6 * L, 6 * L * b * T * D)
    assert len(step.calls) == 3


def test_they_do_exactly_the_operations_of_the_closed_forms(mixed):
    step, L, D, T, tp = mixed
    products = 3 * 12 * matmul_flops(T, D, D)  # forward, and twice backward
    attention = attention_forward_flops(T, T, D // H, H) * (1 + 2.5)  # backward computes the scores again
    assert step.flops == L * (products + attention) / tp


def test_a_step_is_its_kernels_and_what_they_wait_for(mixed):
    step = mixed[0]
    assert step.step_time == step.compute + step.exposed
    assert 0 < step.exposed < step.communication
    assert "all_reduce of 8 ranks over node" in repr(step)
    with pytest.raises(KeyError, match="all_gather of 128"):
        step.of("all_to_all")


def test_its_trace_is_json_whose_rows_never_overlap(mixed, tmp_path):
    step = mixed[0]
    trace = step.chrome_trace(tmp_path / "step.json")
    assert json.loads((tmp_path / "step.json").read_text("utf-8")) == trace
    rows: dict[int, list[tuple[float, float]]] = {}
    named: dict[int, str] = {}
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            rows.setdefault(event["tid"], []).append((event["ts"], event["ts"] + event["dur"]))
        elif event["name"] == "thread_name":
            named[event["tid"]] = event["args"]["name"]
    assert set(rows) == set(named)
    assert {"compute", "stream 1", "stream 2"} < set(named.values())
    assert sum(name.startswith("group") for name in named.values()) == 2
    for spans in rows.values():
        assert all(after[0] >= before[1] - 1e-6 for before, after in pairwise(sorted(spans)))


def matmuls_alone(rate):
    return lambda _name, flops, _bytes: flops / rate


@pytest.mark.parametrize("slow", [1.0, 1.5])
def test_fsdp_on_a_slow_chip_hides_all_but_what_has_nothing_to_hide_behind(slow):
    """Waited for: the first weights and the last gradients. The last block's weights come again during forward."""
    L, D, T, n = 4, 512, 256, 64
    with virtual.cluster(n, kernel_time=matmuls_alone(1e10), slow={5: slow}) as world:
        step = world.step(program(world, L, D, T, 1))
        assert step.rank == world.rank == 5
    gathered, scattered = step.of("all_gather"), step.of("reduce_scatter")
    block = gathered.time / gathered.number
    assert (gathered.number, scattered.number) == (2 * L, L)
    assert step.compute == pytest.approx(slow * step.flops / 1e10)
    assert step.exposed == pytest.approx(block + scattered.time / L)


def test_fsdp_on_a_fast_chip_is_its_communication():
    with virtual.cluster(64, kernel_time=matmuls_alone(1e30)) as world:
        step = world.step(program(world, 4, 512, 256, 1))
    assert step.exposed == pytest.approx(step.communication)


def test_hybrid_sharding_gathers_in_nodes_and_sums_across_them():
    """HSDP: a node holds the weights once; what its ranks have summed is summed again with their like elsewhere."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    L, D, copies, shards = 4, 512, 128, 8
    with virtual.cluster("superpod-h100-4su", kernel_time=matmuls_alone(1e30)) as world:
        mesh = init_device_mesh("cpu", (copies, shards), mesh_dim_names=("out", "in"))
        with world.shapes():
            model = nn.Sequential(*[nn.Linear(D, D, bias=False, dtype=bf16) for _ in range(L)])
            x = torch.randn(16, D, dtype=bf16, requires_grad=True)
        for layer in model:
            fully_shard(layer, mesh=mesh)
        fully_shard(model, mesh=mesh)
        step = world.step(lambda: model(x).sum().backward())
    P, b = L * D**2, 2
    assert step.of("all_gather", shards)[2:5] == ("node", 2 * L, 2 * b * P)
    assert step.of("reduce_scatter", shards)[2:5] == ("node", L, b * P)
    assert step.of("all_reduce", copies)[2:5] == ("spine", L, b * P / shards)
    inside = step.of("all_gather").time + step.of("reduce_scatter").time
    longest = max(inside, step.of("all_reduce").time)
    assert longest < step.exposed <= inside + step.of("all_reduce").time  # two groups, which work at once


@pytest.mark.parametrize(("fused", "times"), [(True, 7), (False, 21)], ids=["fused", "one by one"])
def test_an_optimizer_step_moves_the_states_of_a_rank_and_sends_nothing(fused, times):
    """AdamW on FSDP2's shards. Fused it reads weight, gradient and two moments, and writes three of these."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    D, n = 1024, 64
    with virtual.cluster(n) as world:
        with world.shapes():
            model, x = nn.Linear(D, D, bias=False), torch.randn(1, D)
        fully_shard(model, mesh=init_device_mesh("cpu", (n,)))
        adam = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=fused)

        def train(optimize):
            model(x).sum().backward()
            if optimize:
                adam.step()

        alone, step = (world.step(lambda: train(optimize)) for optimize in (False, True))  # noqa: B023
    moved, without = (sum(span.bytes for span in taken.spans if not span.ranks) for taken in (step, alone))
    assert moved - without == pytest.approx(times * 4 * D**2 / n, rel=1e-3)
    assert step.calls == alone.calls
    assert step.step_time > alone.step_time


def test_a_slow_level_slows_what_crosses_it_alone():
    def step(**more):
        with virtual.cluster((("node", 8, 450 * GB), ("leaf", 2, 400 * GB)), latency=0.0, **more) as world:
            return world.step(program(world, 1, 1024, 128, 8))

    fast, slow = step(), step(slow_levels={"leaf": 4.0})
    assert slow.of("all_gather").time == pytest.approx(4 * fast.of("all_gather").time)
    assert slow.of("all_reduce").time == pytest.approx(fast.of("all_reduce").time)


def test_ddp_on_1024_ranks_sums_every_gradient_once_and_waits_at_the_end():
    with virtual.cluster(1024, data=True, kernel_time=matmuls_alone(1e30)) as world:
        model = nn.parallel.DistributedDataParallel(
            nn.Sequential(*[nn.Linear(256, 256) for _ in range(6)]), bucket_cap_mb=1
        )
        x = torch.randn(8, 256)
        step = world.step(lambda: model(x).sum().backward(), warm=2)
    sums = step.of("all_reduce", 1024)
    assert sums.bytes == 4 * 6 * (256**2 + 256)
    assert sums.number > 1
    assert step.exposed == pytest.approx(sums.time)


def test_ddp_gives_the_gradients_of_one_rank():
    x, plain = torch.randn(4, 16), nn.Linear(16, 16)
    plain(x).sum().backward()
    with virtual.cluster(16, data=True) as world:
        copy = nn.Linear(16, 16)
        copy.load_state_dict(plain.state_dict())
        model = nn.parallel.DistributedDataParallel(copy)
        world.step(lambda: model(x).sum().backward(), warm=0)
    torch.testing.assert_close(copy.weight.grad, plain.weight.grad)


def test_calls_with_data_give_what_equal_peers_would():
    found: dict[str, torch.Tensor] = {}

    def calls():
        x = torch.ones(64)
        dist.all_reduce(x)
        whole = torch.empty(8 * 64)
        dist.all_gather_single(whole, x)
        part = torch.empty(64)
        dist.reduce_scatter_single(part, whole, op=dist.ReduceOp.AVG)
        dist.all_to_all_single(torch.empty_like(whole), whole)
        dist.broadcast(x, 0)
        dist.barrier()
        found.update(sum=x, whole=whole, part=part)

    with virtual.cluster(8, data=True) as world:
        step = world.step(calls, warm=0)
    assert all((value == 8).all() for value in found.values())
    assert [(c.call, c.bytes) for c in step.calls] == [
        ("all_reduce", 256),
        ("all_gather", 2048),
        ("reduce_scatter", 2048),
        ("all_to_all", 8 * 2048),
        ("broadcast", 256),
        ("barrier", 0),
    ]


@pytest.mark.parametrize("data", [True, False])
def test_a_functional_call_counts_once_and_is_waited_for_when_used(data):
    from torch.distributed._functional_collectives import all_reduce

    with virtual.cluster(8, data=data, kernel_time=lambda *_: 1 * us, latency=1 * us) as world:
        with world.shapes():
            x = torch.ones(1000)

        def overlapped():
            y = all_reduce(x, "sum", list(range(8)))
            z = x * 2  # while it runs
            return y + z

        step = world.step(overlapped)
    S, W = 4000, world.chip.scaleup_bandwidth
    sums = step.of("all_reduce")
    assert (sums.number, sums.bytes) == (1, S)
    assert sums.time == pytest.approx(ring_allreduce_time(8, S, 1 * us, W))
    assert step.compute == pytest.approx(2 * us)
    assert step.exposed == pytest.approx(sums.time - 1 * us)


def test_other_times_may_be_given():
    with virtual.cluster(4, data=True, kernel_time=lambda *_: 0.0, call_time=lambda call, S, ranks: 3.0) as world:
        step = world.step(lambda: dist.all_reduce(torch.ones(4)))
    assert step.step_time == 3.0


def test_what_one_rank_cannot_stand_for_is_refused():
    with virtual.cluster(4, data=True) as world:
        with pytest.raises(NotImplementedError, match=r"\bsend\b"):
            world.step(lambda: dist.send(torch.ones(4), 1))
        with pytest.raises(RuntimeError, match="already"), virtual.cluster(2):
            pass
    assert not dist.is_initialized()


@pytest.mark.parametrize("more", [{"slow": {9: 2.0}}, {"slow": {0: 0.0}}, {"rank": 8}])
def test_a_rank_that_is_not_there_is_refused(more):
    with pytest.raises(ValueError, match="cluster: "), virtual.cluster(8, **more):
        pass


def patched() -> tuple[Any, ...]:
    from torch.distributed import _functional_collectives as functional

    calls: Any = functional
    cpu = torch.cpu
    streams = cpu.Stream.wait_stream, cpu.Event.record, cpu.StreamContext.__enter__, cpu.current_stream
    return (*streams, calls._maybe_wrap_tensor, sys.excepthook, sys.getswitchinterval(), dist.distributed_c10d._world)


def test_all_is_torchs_and_pythons_own_again_after_a_step():
    before = patched()
    with virtual.cluster(2, data=True) as world:
        world.step(lambda: torch.ones(2) + 1)
    virtual.play_ranks(lambda _rank: dist.all_reduce(torch.ones(2)), 2)
    with pytest.raises(RuntimeError, match="rank 0"):
        virtual.play_ranks(lambda rank: 1 / rank, 1)
    assert patched() == before


def summed_product(groups_before: int) -> float:
    """Seconds of a product sharded along its inner dimension, on a mesh that is made after so many groups."""
    with virtual.cluster("superpod-h100-1su", 64) as world:
        for _ in range(groups_before):
            dist.new_group(list(range(64)))
        mesh = init_device_mesh("cpu", (8, 8), mesh_dim_names=("dp", "tp"))["tp"]
        with world.shapes():
            a = DTensor.from_local(torch.empty(64, 64), mesh, [Shard(1)], run_check=False)
            b = DTensor.from_local(torch.empty(64, 64), mesh, [Shard(0)], run_check=False)
        return world.step(lambda: (a @ b).redistribute(mesh, [Replicate()])).step_time


def test_a_cluster_knows_nothing_of_the_meshes_of_one_before():
    """DTensor keeps the results of operators by mesh, and equal meshes of two clusters name different groups."""
    assert summed_product(50) == summed_product(0) == summed_product(3) > 0
