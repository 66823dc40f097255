"""Real ranks: what they give, what they send, how they fail, and that none is left."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
import torch.distributed as dist

from autograder.network import AS
from hwlib.labs import RankError, RankTimeout, run_ranks
from hwlib.labs.ranks import launch
from hwlib.simulate.calls import call_cost, exchange_cost

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
        torch.tensor(3.5), torch.empty(0, 4), torch.ones(2, 3, dtype=torch.bfloat16), torch.arange(6)[::2],
        torch.ones(2, dtype=torch.bool), torch.ones(3, dtype=torch.complex64).conj(), torch.ones(4_000_000),
        torch.ones(2, requires_grad=True), torch.nn.Parameter(torch.ones(2)), torch.ones(2).to_sparse(),
    ],
    ids=["scalar", "empty", "bfloat16", "strided", "bool", "conjugate", "large", "leaf", "parameter", "sparse"],
)  # fmt: skip
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
    assert set(CALLS) == set(AS)
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


# -- how they fail


def failed(fn, n=3, **options):
    with pytest.raises(RankError) as caught:
        run_ranks(fn, n, **options)
    return caught.value


def test_the_culprit_is_named_with_its_line_not_those_who_wait_for_it():
    def work(rank, n):
        x = torch.zeros(4)
        if rank == 2:
            x[7] = 1  # the culprit's
        dist.all_reduce(x)

    error = failed(work)
    assert (error.rank, error.error) == (2, "IndexError")
    assert "x[7] = 1  # the culprit's" in error.traceback
    assert "in work" in error.traceback
    assert str(error).startswith("rank 2 raised IndexError\n")
    assert "hwlib" not in str(error)


def test_all_that_raise_the_same_are_one_failure():
    assert str(failed(lambda rank, n: nowhere)).splitlines()[0] in {  # noqa: F821
        f"rank {a} raised NameError (and so did ranks {b})" for a, b in [(0, "1, 2"), (1, "0, 2"), (2, "0, 1")]
    }


def test_a_rank_that_raises_in_a_library_is_shown_with_the_line_that_called_it():
    error = failed(lambda rank, n: dist.send(torch.ones(2), 17), n=2)
    assert "dist.send(torch.ones(2), 17)" in error.traceback


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("os._exit(3)", "rank 1 ended its process (exit status 3)"),
        ("os.kill(os.getpid(), 9)", "rank 1 was ended by SIGKILL"),
    ],
)
def test_a_rank_that_dies(end, said):
    def work(rank, n):
        print("so far", rank)  # noqa: T201
        if rank == 1:
            exec(end, {"os": os})
        dist.barrier()

    error = failed(work)
    assert str(error) == f"{said}\nit had printed:\nso far 1"
    assert (error.rank, error.error) == (1, "RankDied")


@pytest.mark.skipif(sys.platform != "linux", reason="a segmentation fault by any other name")
def test_a_rank_that_falls_says_where():
    def work(rank, n):
        import ctypes

        if rank:
            ctypes.string_at(0)  # nothing is there

    said = str(failed(work, n=2))
    assert said.startswith("rank 1 was ended by SIGSEGV; it is at line ")
    assert said.endswith("in work: ctypes.string_at(0)  # nothing is there")


def test_a_rank_that_exits_has_failed():
    assert failed(lambda rank, n: sys.exit(3)).error == "SystemExit"


def test_what_cannot_be_sent_says_so():
    said = "what rank 0 returns, a generator, cannot be sent to another process"
    assert said in str(failed(lambda rank, n: (i for i in [rank]), n=2))
    numbers = (i for i in [1, 2])
    with pytest.raises(TypeError, match="fn, or something that it uses, cannot be sent to another process"):
        run_ranks(lambda rank, n: next(numbers), 2)


@pytest.mark.parametrize(
    ("fn", "n", "options", "said"),
    [
        (3, 2, {}, r"fn: a function of \(rank, n, ...\), got a int: 3"),
        (print, 1, {}, "n: 2 to 16 ranks, got 1"),
        (print, 17, {}, "n: 2 to 16 ranks, got 17"),
        (print, 2.0, {}, "n: 2 to 16 ranks, got 2.0"),
        (print, 2, {"timeout": 0}, "timeout: seconds, above 0, got 0"),
        (print, 2, {"backend": "mpi"}, "backend: gloo or nccl, or None for what the machine has, got 'mpi'"),
    ],
)
def test_what_cannot_be_run(fn, n, options, said):
    with pytest.raises((TypeError, ValueError), match=said):
        run_ranks(fn, n, **options)


# -- those that do not end


def test_ranks_that_wait_for_each_other_are_found_out_before_their_time():
    def work(rank, n):
        print("hello from", rank)  # noqa: T201
        x = torch.zeros(4)
        if rank == 0:
            return "done"
        dist.recv(x, 0)

    begun = time.monotonic()
    error = failed(work, timeout=60)
    assert time.monotonic() - begun < 30
    assert isinstance(error, RankTimeout)
    assert list(error.places) == [1, 2]
    assert error.places[1].startswith("waits in dist.recv at line ")
    assert error.places[1].endswith("test_ranks.py, in work: dist.recv(x, 0)")
    assert str(error).startswith(
        "2 of 3 ranks did not end: none of them can go on, for all wait\n  rank 0 has returned\n"
    )
    assert "hello from" in str(error)


def test_who_only_takes_long_is_not_stuck():
    def work(rank, n):
        if rank == 0:
            time.sleep(3.5)
        dist.barrier()
        return rank

    assert run_ranks(work, 2).results == [0, 1]


def test_a_loop_ends_with_its_time():
    def work(rank, n):
        while rank:
            pass

    begun = time.monotonic()
    error = failed(work, n=2, timeout=1.0)
    assert time.monotonic() - begun < 10
    assert str(error).startswith(
        "1 of 2 ranks did not end: not done after 1 s\n  rank 0 has returned\n  rank 1 is at line"
    )


def test_output_is_by_rank_and_bounded():
    def talk(rank, n):
        print("rank", rank)  # noqa: T201
        os.write(2, b"beside the streams\n")
        if rank:
            print("x" * 1_000_000)  # noqa: T201

    run = run_ranks(talk, 2)
    assert run.output[0] == "rank 0\nbeside the streams\n"
    assert 20_000 < len(run.output[1]) < 20_100
    assert run.output[1].endswith("[cut after 20000 characters]")
    assert "[rank 0] rank 0" in repr(run)


def test_a_run_is_a_small_table():
    lines = repr(run_ranks(CALLS["all_reduce"], 2)).splitlines()
    assert lines[0].startswith("2 ranks (gloo), ")
    assert lines[0].endswith("2 rounds; 2 all_reduce")
    assert [line.split() for line in lines[1:]] == [
        ["rank", "sent", "received", "result"], *([rank, "48", "B", "48", "B", "None"] for rank in "01"),
    ]  # fmt: skip


# -- and none is left


def alive(pids):
    def runs(pid):
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            return False

    return [pid for pid in pids if runs(pid)]


def gone(pids, seconds=10.0):
    until = time.monotonic() + seconds
    while (left := alive(pids)) and time.monotonic() < until:
        time.sleep(0.05)
    return not left


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_nothing_of_a_run_is_left_not_even_what_ranks_start():
    def work(rank, n):
        away = subprocess.Popen(["sleep", "600"], start_new_session=True)
        files = [os.path.realpath(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")]
        return os.getpid(), away.pid, [file for file in files if "hwlib-ranks-" in file]

    for mine, child, files in run_ranks(work, 2).results:
        assert alive([mine, child]) == []
        assert len(files) == 1
        assert not Path(files[0]).parent.exists()


SCRIPT = """
import os, sys, time
from hwlib.labs import run_ranks
def hang(rank, n):
    import subprocess
    child = subprocess.Popen(["sleep", "600"])
    os.write(out, f"{os.getpid()} {os.getppid()} {child.pid} ".encode())
    time.sleep(600)
out = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
def work(rank, n, path):
    global out
    out = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    hang(rank, n)
try:
    run_ranks(work, 2, sys.argv[1], timeout=300)
except KeyboardInterrupt:
    print("interrupted", run_ranks(lambda rank, n: rank, 2).results, flush=True)  # noqa: T201
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda how: how.name)
def test_ranks_end_with_who_started_them(how, tmp_path):
    script, told = tmp_path / "script.py", tmp_path / "pids"
    script.write_text(SCRIPT)
    told.touch()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, script, told], env=environment, stdout=subprocess.PIPE, text=True) as parent:
        until = time.monotonic() + 60
        while len(pids := told.read_text().split()) < 6 and time.monotonic() < until:
            time.sleep(0.05)
        parent.send_signal(how)
        said = parent.communicate(timeout=60)[0]
    assert len(pids) == 6
    assert gone(pids), alive(pids)
    assert said == ("interrupted [0, 1]\n" if how is signal.SIGINT else "")


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_server_that_was_killed_is_replaced():
    first = run_ranks(lambda rank, n: os.getppid(), 2).results
    error = failed(lambda rank, n: os.kill(os.getppid(), signal.SIGKILL) or time.sleep(60), n=2)
    assert "the process that the ranks are forked from has ended" in str(error)
    again = run_ranks(lambda rank, n: os.getppid(), 2).results
    assert again[0] == again[1] != first[0] == first[1]
    assert launch.launcher().alive()


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
