"""What threads of a virtual cluster get from each collective is what torch's own backend gives, and when."""

import json
from itertools import pairwise

import pytest
import torch
import torch.distributed as dist
from torch import nn

from hwlib.collectives import ring_allreduce_time
from hwlib.units import us
from hwlib.virtual import play_ranks

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")
n = 4


def mine(rank, size=8):
    return torch.arange(size, dtype=torch.float32) + 100 * rank


def all_of(fn):
    return [fn(rank) for rank in range(n)]


def all_reduce(rank, op):
    x = mine(rank)
    dist.all_reduce(x, op=op)
    return x


def reduce(rank):
    x = mine(rank)
    dist.reduce(x, 1)
    return x if rank == 1 else torch.zeros(8)


def all_gather(rank):
    lists = [torch.empty(8) for _ in range(n)]
    dist.all_gather(lists, mine(rank))
    whole = torch.empty(n, 8)
    dist.all_gather_single(whole, mine(rank))
    return torch.cat([torch.stack(lists), whole])


def gather(rank):
    lists = [torch.empty(8) for _ in range(n)] if rank == 2 else None
    dist.gather(mine(rank), lists, dst=2)
    return torch.stack(lists) if lists else torch.zeros(n, 8)


def reduce_scatter(rank):
    part, other = torch.empty(2), torch.empty(2)
    dist.reduce_scatter_single(part, mine(rank))
    dist.reduce_scatter(other, list(mine(rank).chunk(n)), op=dist.ReduceOp.MAX)
    return torch.cat([part, other])


def scatter(rank):
    into = torch.empty(2)
    dist.scatter(into, [mine(7, 2) + i for i in range(n)] if rank == 3 else None, src=3)
    return into


def broadcast(rank):
    x = mine(rank)
    dist.broadcast(x, 2)
    return x


def all_to_all(rank):
    into = [torch.empty(2) for _ in range(n)]
    dist.all_to_all(into, list(mine(rank).chunk(n)))
    whole = torch.empty(8)
    dist.all_to_all_single(whole, mine(rank))
    return torch.stack([torch.cat(into), whole])


def uneven(rank):
    """Rank i sends j + 1 elements to rank j."""
    given, into = mine(rank, sum(range(1, n + 1))), torch.empty(n * (rank + 1))
    dist.all_to_all_single(into, given, [rank + 1] * n, list(range(1, n + 1)))
    return into


ROWS = torch.stack(all_of(mine))
ZERO = torch.zeros(8)
BLOCKS = ROWS.view(n, n, 2).transpose(0, 1).reshape(n, 8)


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        (dist.ReduceOp.SUM, ROWS.sum(0)),
        (dist.ReduceOp.AVG, ROWS.mean(0)),
        (dist.ReduceOp.PRODUCT, ROWS.prod(0)),
        (dist.ReduceOp.MIN, ROWS[0]),
        (dist.ReduceOp.MAX, ROWS[-1]),
    ],
    ids=["sum", "avg", "product", "min", "max"],
)
def test_reductions(op, expected):
    for result in play_ranks(lambda rank: all_reduce(rank, op), n).results:
        torch.testing.assert_close(result, expected)


@pytest.mark.parametrize("op", ["BAND", "BOR", "BXOR"])
def test_reductions_of_bits(op):
    def program(rank):
        x = torch.tensor([1 << rank, 7])
        dist.all_reduce(x, op=getattr(dist.ReduceOp, op))
        return x.tolist()

    expected = {"BAND": [0, 7], "BOR": [15, 7], "BXOR": [15, 0]}[op]
    assert play_ranks(program, n).results == (expected,) * n


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (reduce, [ZERO, ROWS.sum(0), ZERO, ZERO]),
        (all_gather, [torch.cat([ROWS, ROWS])] * n),
        (gather, [torch.zeros(n, 8), torch.zeros(n, 8), ROWS, torch.zeros(n, 8)]),
        (reduce_scatter, [torch.cat([ROWS.sum(0)[2 * r : 2 * r + 2], ROWS[-1][2 * r : 2 * r + 2]]) for r in range(n)]),
        (scatter, [mine(7, 2) + r for r in range(n)]),
        (broadcast, [ROWS[2]] * n),
        (all_to_all, [torch.stack([BLOCKS[r]] * 2) for r in range(n)]),
        (uneven, [torch.cat([mine(i, 10).split([1, 2, 3, 4])[r] for i in range(n)]) for r in range(n)]),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_collectives_give_what_they_should(program, expected):
    for result, right in zip(play_ranks(program, n).results, expected, strict=True):
        torch.testing.assert_close(result, right)


def test_a_collective_that_nobody_waits_for_yet_is_hidden():
    def program(rank):
        x, y = torch.ones(1000), torch.ones(10)
        work = dist.all_reduce(x, async_op=True)
        for _ in range(3):
            y = y + rank
        assert work is not None
        work.wait()
        return y + x[0]

    run = play_ranks(program, n, kernel_time=lambda name, *_: 1 * us * (name == "add"), latency=1 * us)
    took = ring_allreduce_time(n, 4000, 1 * us, 450e9)
    assert run.step_time == pytest.approx(took + 1 * us)
    assert run.steps[0].exposed == pytest.approx(took - 3 * us)


def test_collectives_may_start_before_a_message_that_others_wait_for():
    """Rank 0 sums before it sends, rank 1 receives before it sums: who comes to a sum does not wait there."""

    def program(rank):
        x, message = torch.ones(4), torch.full((1,), 7.0)
        if rank == 0:
            work = dist.all_reduce(x, async_op=True)
            dist.send(message, 1)
        else:
            dist.recv(message, 0)
            work = dist.all_reduce(x, async_op=True)
        assert work is not None
        work.wait()
        return x[0].item(), message.item()

    assert play_ranks(program, 2).results == ((2.0, 7.0), (2.0, 7.0))


def test_messages_of_one_way_arrive_in_order_whichever_is_waited_for_first():
    def program(rank):
        x, y = torch.ones(2), torch.full((2,), 2.0)
        if rank == 0:
            dist.send(x, 1)
            dist.send(y, 1)
            return None
        a, b = torch.empty(2), torch.empty(2)
        first, second = dist.irecv(a, 0), dist.irecv(b, 0)
        assert first is not None
        assert second is not None
        second.wait()
        first.wait()
        return a.tolist(), b.tolist()

    assert play_ranks(program, 2).results[1] == ([1.0, 1.0], [2.0, 2.0])


def test_what_a_program_returns_is_its_step_and_only_the_last_is_timed():
    called = []

    def program(rank):
        x = torch.ones(1000)
        dist.all_reduce(x)

        def step():
            called.append(rank)
            dist.all_reduce(x)
            return x[0].item()

        return step

    run = play_ranks(program, n, warm=2, latency=1 * us, kernel_time=lambda *_: 0.0)
    assert len(called) == 3 * n
    assert run.results == (4.0**4,) * n
    assert all(step.of("all_reduce").number == 1 for step in run.steps)
    assert run.step_time == pytest.approx(ring_allreduce_time(n, 4000, 1 * us, 450e9))


def test_a_step_that_not_all_begin_is_told():
    def program(rank):
        return (lambda: None) if rank else None

    with pytest.raises(RuntimeError, match=r"TimeoutError: .*begin"):
        play_ranks(program, 2, timeout=3)


def test_ddp_on_threads_sums_gradients_beside_its_backward_pass():
    """The last bucket has nothing to hide behind; the gradients are the mean of all ranks'."""
    layers, D = 6, 64
    nets: list[nn.Sequential] = []

    def program(rank):
        net = nn.Sequential(*[nn.Linear(D, D, bias=False) for _ in range(layers)])
        nets.append(net)
        model = nn.parallel.DistributedDataParallel(net, bucket_cap_mb=4 * D * D / 2**20)

        def step():
            model.zero_grad()
            model(torch.full((2, D), float(rank))).sum().backward()
            return [p.grad.clone() for p in net.parameters() if p.grad is not None]

        return step

    run = play_ranks(
        program,
        n,
        warm=2,
        kernel_time=lambda _name, flops, _bytes: float(flops > 0),
        call_time=lambda call, *_: 0.5 * (call == "all_reduce"),
    )
    sums = run.steps[0].of("all_reduce")
    assert sums.number == layers
    assert sums.bytes == 4 * layers * D * D
    assert run.steps[0].exposed == pytest.approx(0.5)
    net = nets[0]  # they are equal: each began with the weights of the first rank
    net.zero_grad()
    net(torch.full((2, D), (n - 1) / 2)).sum().backward()
    for gradients in run.results:
        for gradient, p in zip(gradients, net.parameters(), strict=True):
            torch.testing.assert_close(gradient, p.grad)


def test_fsdp2_on_threads_gathers_beside_its_forward_pass_and_its_trace_has_every_stream(tmp_path):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    layers, D = 4, 64

    def program(rank):
        net = nn.Sequential(*[nn.Linear(D, D, bias=False) for _ in range(layers)])
        mesh = init_device_mesh("cpu", (n,))
        for layer in net:
            fully_shard(layer, mesh=mesh)
        fully_shard(net, mesh=mesh)
        x = torch.full((2, D), float(rank), requires_grad=True)
        return lambda: net(x).sum().backward()

    run = play_ranks(program, n, kernel_time=lambda _name, flops, _bytes: float(flops > 0), call_time=lambda *_: 0.5)
    step = run.steps[0]
    assert step.compute == pytest.approx(3 * layers)
    assert step.exposed == pytest.approx(0.5 + 0.5)  # the first gather and the last scatter
    trace = run.chrome_trace(tmp_path / "run.json")
    assert json.loads((tmp_path / "run.json").read_text("utf-8")) == trace
    rows = {(e["pid"], e["args"]["name"]) for e in trace["traceEvents"] if e["name"] == "thread_name"}
    assert rows == {(rank, row) for rank in range(n) for row in ("compute", "stream 1", "stream 2", "group 0")}
    for rank in range(n):
        for tid in range(4):
            slices = [e for e in trace["traceEvents"] if e["ph"] == "X" and (e["pid"], e["tid"]) == (rank, tid)]
            assert all(b["ts"] >= a["ts"] + a["dur"] - 1e-6 for a, b in pairwise(slices))
