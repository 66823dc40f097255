"""Programs whose ranks differ, a thread for each, against closed forms and played schedules."""

import inspect
from functools import partial

import pytest
import torch
import torch.distributed as dist
from torch import nn

from hwlib.collectives import ring_allgather_time, ring_allreduce_time
from hwlib.pipeline import gpipe, one_f_one_b, pipeline_bubble_fraction, play
from hwlib.specs import accelerators
from hwlib.units import GB, us
from hwlib.virtual import cluster, play_ranks

W = accelerators["h100-sxm"].scaleup_bandwidth
nightly = partial(pytest.param, marks=pytest.mark.nightly)
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")


def test_every_rank_waits_for_the_straggler_and_the_sum_is_right():
    def program(rank):
        x = torch.full((1000,), float(rank)) + 0
        dist.all_reduce(x)
        return x[0].item()

    run = play_ranks(program, 8, kernel_time=lambda name, *_: 1 * us * (name == "add"), latency=1 * us, slow={3: 5.0})
    assert set(run.results) == {28.0}
    time = 5 * us + ring_allreduce_time(8, 4000, 1 * us, W)
    assert [step.step_time for step in run.steps] == pytest.approx([time] * 8)
    assert run.steps[3].exposed == pytest.approx(time - 5 * us)


@pytest.mark.parametrize(("where", "n"), [("superpod-h100-1su", 256), nightly("superpod-h100-4su", 1024)])
def test_many_ranks_sum_over_nodes_and_across_them(where, n):
    """As a mesh of two axes: groups of neighbours, then 8 groups of ranks with the same place in their node."""
    from torch.distributed.device_mesh import init_device_mesh

    def program(rank):
        mesh = init_device_mesh("cpu", (n // 8, 8), mesh_dim_names=("out", "in"))
        x = torch.full((1000,), float(rank))
        for axis in ("in", "out"):
            dist.all_reduce(x, group=mesh[axis].get_group())
        return x[0].item()

    run = play_ranks(program, where, kernel_time=lambda *_: 0.0, latency=0.0, timeout=300)
    assert set(run.results) == {(n - 1) * n / 2}
    inside = ring_allreduce_time(8, 4000, 0, 450 * GB)
    across = ring_allreduce_time(32, 8 * 4000, 0, 400 * GB)
    if n > 256:
        across = max(across, ring_allreduce_time(4, 8 * 4000, 0, 12.8e12))
    assert [step.step_time for step in run.steps] == pytest.approx([inside + across] * n)


def test_a_ring_written_by_hand_takes_what_the_formula_says():
    n, N = 8, 4096

    def program(rank):
        blocks = [torch.full((N,), float(rank))] * n
        for turn in range(n - 1):
            into = torch.empty(N)
            sent = dist.isend(blocks[(rank - turn) % n], (rank + 1) % n)
            dist.recv(into, (rank - 1) % n)
            assert sent is not None
            sent.wait()
            blocks[(rank - turn - 1) % n] = into
        return [block[0].item() for block in blocks]

    run = play_ranks(program, n, kernel_time=lambda *_: 0.0, latency=2 * us)
    assert all(result == list(range(n)) for result in run.results)
    assert run.step_time == pytest.approx(ring_allgather_time(n, 4 * N * n, 2 * us, W))
    assert {(c.call, c.number) for step in run.steps for c in step.calls} == {("send", n - 1)}


@pytest.mark.parametrize(("name", "ours"), [("Schedule1F1B", one_f_one_b), ("ScheduleGPipe", gpipe)])
def test_torchs_pipelines_have_the_bubble_of_the_closed_form(name, ours):
    from torch.distributed import pipelining

    pp, m, D = 4, 8, 8

    def program(rank):
        stage = pipelining.PipelineStage(
            nn.Linear(D, D, bias=False),
            rank,
            pp,
            torch.device("cpu"),
            input_args=(torch.zeros(2, D, requires_grad=rank > 0),),
            output_args=(torch.zeros(2, D, requires_grad=True),),
        )
        schedule = getattr(pipelining, name)(stage, m, loss_fn=lambda y, target: ((y - target) ** 2).sum())
        given = (torch.randn(2 * m, D, requires_grad=True),) if rank == 0 else ()
        schedule.step(*given, **({"target": torch.zeros(2 * m, D)} if rank == pp - 1 else {}))

    run = play_ranks(program, pp, kernel_time=lambda _name, flops, _bytes: float(flops > 0), call_time=lambda *_: 0.0)
    played = play(ours(stages=pp, microbatches=m), t_F=1, t_B=2)
    assert run.step_time == pytest.approx(played.time)
    assert run.idle_fraction == pytest.approx(pipeline_bubble_fraction(pp=pp, m=m))


def test_its_arguments_are_those_of_a_cluster():
    one, all_ = (inspect.signature(f).parameters for f in (cluster, play_ranks))
    assert set(one) - set(all_) == {"data", "rank"}  # every rank is played, and has data
    assert set(all_) - set(one) == {"program", "warm", "timeout"}
    for name in set(one) & set(all_):
        assert str(one[name]) == str(all_[name])


def test_the_error_of_a_rank_is_told():
    def program(rank):
        if rank == 1:
            raise KeyError("mine")
        dist.barrier()

    with pytest.raises(RuntimeError, match="rank 1: KeyError: 'mine'"):
        play_ranks(program, 2)


def test_a_message_that_nobody_sends_is_told():
    with pytest.raises(RuntimeError, match=r"rank 0: TimeoutError: .*message .*rank 1\b"):
        play_ranks(lambda rank: dist.recv(torch.empty(1), 1) if rank == 0 else None, 2, timeout=3)


def test_a_collective_that_one_rank_leaves_out_ends_with_an_error():
    with pytest.raises(RuntimeError, match=r"rank 0: TimeoutError: .*barrier .*1 .*ranks 0, 1"):
        play_ranks(lambda rank: dist.barrier() if rank == 0 else None, 2, timeout=3)
    assert play_ranks(lambda rank: dist.get_world_size(), 2).results == (2, 2)
