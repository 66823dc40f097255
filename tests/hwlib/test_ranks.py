"""Real ranks: what they give, and what they send."""

from pathlib import Path

import pytest
import torch
import torch.distributed as dist

from hwlib.labs import run_ranks
from hwlib.simulate.call_costs import ALGORITHM_OF, call_cost, exchange_cost

ROOT = Path(__file__).resolve().parent.parent.parent
# Functions of a test module would be imported by each rank, with pytest: these are made inside a function, as a cell's
# are, and travel as they are.


def test_a_function_with_all_that_it_uses():
    scale = torch.arange(3.0)

    def total(rank, n, add, *, times=1):
        x = scale * (rank + add)
        dist.all_reduce(x)
        return x * times, {"rank": rank, "n": n}

    run = run_ranks(total, 3, 1, times=10)
    assert [r[1] for r in run.results] == [{"rank": k, "n": 3} for k in range(3)]
    assert all(torch.equal(r[0], scale * 60) for r in run.results)
    assert (run.backend, run.output) == ("gloo", [""] * 3)
    assert 0 < run.seconds < 20


@pytest.mark.parametrize(
    "value",
    [
        torch.tensor(3.5),
        torch.empty(0, 4),
        torch.ones(2, 3, dtype=torch.bfloat16),
        torch.arange(6)[::2],
        torch.ones(2, dtype=torch.bool),
        torch.ones(3, dtype=torch.complex64).conj(),
        torch.ones(4_000_000),
        torch.ones(2, requires_grad=True),
        torch.nn.Parameter(torch.ones(2)),
        torch.ones(2).to_sparse(),
    ],
    ids=["scalar", "empty", "bfloat16", "strided", "bool", "conjugate", "large", "leaf", "parameter", "sparse"],
)
def test_tensors_travel_both_ways(value):
    results = run_ranks(lambda rank, n, x: [x], 2, value).results
    for (got,) in results:
        assert (type(got), got.dtype, got.requires_grad) == (type(value), value.dtype, value.requires_grad)
        dense = (got.to_dense(), value.to_dense()) if value.is_sparse else (got, value)
        assert torch.equal(*dense)


def test_a_view_does_not_bring_what_it_is_a_view_of():
    (got, _) = run_ranks(lambda rank, n: torch.ones(1000)[:2], 2).results
    assert got.untyped_storage().nbytes() == 8
    got += 1  # it can be written to


def test_each_rank_draws_its_own_numbers_and_the_same_again():
    def draw(rank, n):
        import random

        import numpy as np

        return float(torch.rand(())), random.random(), np.random.rand()

    first, again = (run_ranks(draw, 2).results for _ in range(2))
    assert first == again
    assert all(a != b for a, b in zip(*first, strict=True))


# -- what they send


def ring(rank, n, x, steps):
    got = torch.empty_like(x)
    for _ in range(steps):
        work = dist.isend(x, (rank + 1) % n)
        dist.recv(got, (rank - 1) % n)
        work.wait()
        x = got.clone()
    return x


def test_messages_are_counted_and_so_is_their_chain():
    run = run_ranks(lambda rank, n: ring(rank, n, torch.ones(100), 3), 4)
    assert run.sent_bytes == run.received_bytes == [1200] * 4
    assert (run.rounds, run.calls) == (3, {"send": 12, "recv": 12})


def test_messages_at_once_are_one_round_and_a_chain_is_as_long_as_it_is():
    def star(rank, n):
        works = [dist.isend(torch.ones(2), k) for k in range(1, n)] if rank == 0 else [dist.irecv(torch.empty(2), 0)]
        for work in works:
            work.wait()

    def chain(rank, n):
        x = torch.ones(2)
        if rank:
            dist.recv(x, rank - 1)
        if rank < n - 1:
            dist.send(x, rank + 1)

    assert run_ranks(star, 4).rounds == 1
    assert run_ranks(chain, 4).rounds == 3


def test_who_takes_what_comes_first():
    def first(rank, n):
        x = torch.zeros(1)
        if rank:
            dist.send(torch.ones(1), 0)
            return None
        return [dist.recv(x) for _ in range(n - 1)]

    run = run_ranks(first, 3)
    assert sorted(run.results[0]) == [1, 2]
    assert (run.received_bytes, run.rounds) == ([8, 0, 0], 1)


def test_batched_messages():
    def exchange(rank, n):
        x, got = torch.ones(5), torch.empty(5)
        ops = [dist.P2POp(dist.isend, x, (rank + 1) % n), dist.P2POp(dist.irecv, got, (rank - 1) % n)]
        for work in dist.batch_isend_irecv(ops):
            work.wait()

    run = run_ranks(exchange, 3)
    assert (run.sent_bytes, run.received_bytes, run.rounds) == ([20] * 3, [20] * 3, 1)


def gathered(n):
    return [torch.empty(12 // n) for _ in range(n)]


CALLS = {
    "all_reduce": lambda rank, n: dist.all_reduce(torch.ones(12)),
    "all_gather": lambda rank, n: dist.all_gather(gathered(n), torch.ones(12 // n)),
    "reduce_scatter": lambda rank, n: dist.reduce_scatter_tensor(torch.empty(12 // n), torch.ones(12)),
    "broadcast": lambda rank, n: dist.broadcast(torch.ones(12), 1),
    "reduce": lambda rank, n: dist.reduce(torch.ones(12), 1),
    "gather": lambda rank, n: dist.gather(torch.ones(12 // n), gathered(n) if rank == 1 else None, 1),
    "scatter": lambda rank, n: dist.scatter(torch.empty(12 // n), gathered(n) if rank == 1 else None, 1),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_call_counts_as_the_algorithm_that_stands_for_it(call):
    assert set(CALLS) == set(ALGORITHM_OF)
    run = run_ranks(CALLS[call], 4)
    root = 1 if call in ("broadcast", "reduce", "gather", "scatter") else None
    cost = call_cost(call, 4, 12, 4, root)
    assert (run.sent_bytes, run.received_bytes) == (list(cost.sent_bytes), list(cost.received_bytes))
    assert (run.rounds, run.calls) == (cost.rounds, {call: 4})


def test_an_exchange_of_uneven_parts_and_a_barrier():
    def exchange(rank, n):
        dist.barrier()
        sends, gets = [[1, 2], [3, 4]][rank], [[1, 3], [2, 4]][rank]
        out = torch.empty(sum(gets))
        dist.all_to_all_single(out, torch.full((sum(sends),), float(rank)), gets, sends)
        return out

    run = run_ranks(exchange, 2)
    cost = exchange_cost([[4, 8], [12, 16]])
    assert (
        (run.sent_bytes, run.received_bytes) == (list(cost.sent_bytes), list(cost.received_bytes)) == ([8, 12], [12, 8])
    )
    assert [r.tolist() for r in run.results] == [[0.0] + [1.0] * 3, [0.0] * 2 + [1.0] * 4]


def test_groups_have_their_own_bytes():
    def pairs(rank, n):
        groups = [dist.new_group([0, 1]), dist.new_group([3, 2])]
        dist.all_reduce(torch.ones(4), group=groups[rank // 2])
        if rank > 1:
            dist.broadcast(torch.ones(4), 3, group=groups[1])

    run = run_ranks(pairs, 4)
    assert run.sent_bytes == [16, 16, 16, 32]
    assert run.leaving_bytes(2) == [0] * 4
    assert run.leaving_bytes(1) == run.sent_bytes
    assert (run.rounds, run.calls) == (3, {"all_reduce": 4, "broadcast": 2})


def test_calls_that_libraries_make_count_too():
    def step(rank, n, backward):
        model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(100, 100, bias=False))
        if backward:
            model(torch.ones(3, 100)).sum().backward()
            x = torch.distributed._functional_collectives.all_reduce(torch.ones(10), "sum", dist.group.WORLD)
            return float(x.sum())

    start, run = (run_ranks(step, 2, backward, timeout=60) for backward in (False, True))
    assert run.results == [20.0, 20.0]
    assert run.calls["all_reduce"] == 4
    assert run.sent_bytes[1] - start.sent_bytes[1] == 40_000 + 40


def test_a_run_is_a_small_table():
    lines = repr(run_ranks(CALLS["all_reduce"], 2)).splitlines()
    assert lines[0].startswith("2 ranks (gloo), ")
    assert lines[0].endswith("2 rounds; 2 all_reduce")
    assert [line.split() for line in lines[1:]] == [
        ["rank", "sent", "received", "result"],
        *([rank, "48", "B", "48", "B", "None"] for rank in "01"),
    ]


@pytest.mark.gpu
def test_nccl_where_there_is_a_gpu_for_each():
    if torch.cuda.device_count() < 2:
        pytest.skip("needs two GPUs")

    def work(rank, n):
        x = torch.ones(8, device="cuda")
        dist.all_reduce(x)
        return x, torch.cuda.current_device()

    run = run_ranks(work, 2, timeout=120)
    assert run.backend == "nccl"
    assert [device for _, device in run.results] == [0, 1]
    assert run.results[0][0].tolist() == [2.0] * 8
    assert run.sent_bytes == [32, 32]
