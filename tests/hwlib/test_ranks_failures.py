"""Real ranks that fail or hang: who is named, where the others stand, and that none is left."""

import os
import pickle
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
import torch.distributed as dist

from hwlib.labs import RankError, RankTimeout, run_ranks
from hwlib.labs.ranks import launch
from hwlib.labs.ranks.collect import GONE
from hwlib.labs.ranks.process import packed

ROOT = Path(__file__).resolve().parent.parent.parent


def test_a_function_that_names_modules_of_a_class_of_their_own_can_be_sent():
    """`torch.ops` is no file, and its operators are found below it."""

    def positive(x):
        return torch.ops.aten.relu(x), ops.relu(x)

    ops = torch.ops.aten
    sent = pickle.loads(packed(positive))
    assert all(torch.equal(result, torch.tensor([0.0, 2.0])) for result in sent(torch.tensor([-1.0, 2.0])))


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
    def work(rank, n):
        dist.barrier()
        nowhere()  # noqa: F821

    said = str(failed(work))  # those that say so in time
    assert re.match(r"rank \d raised NameError( \(and so did ranks? \d(, \d)?\))?\nTraceback", said)
    assert said.count("NameError: name 'nowhere' is not defined") == 1


def test_a_rank_that_raises_in_a_library_is_shown_with_the_line_that_called_it():
    error = failed(lambda rank, n: dist.send(torch.ones(2), 17), n=2)
    assert "dist.send(torch.ones(2), 17)" in error.traceback


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("os._exit(3)", r"rank 1 .*\b3\)"),
        ("os.kill(os.getpid(), 9)", "rank 1 .*SIGKILL"),
    ],
)
def test_a_rank_that_dies(end, said):
    def work(rank, n):
        print("so far", rank)  # noqa: T201
        if rank == 1:
            exec(end, {"os": os})
        dist.barrier()

    error = failed(work)
    assert re.fullmatch(rf"{said}\n.*printed.*\nso far 1", str(error))
    assert (error.rank, error.error) == (1, "RankDied")


@pytest.mark.skipif(sys.platform != "linux", reason="a segmentation fault by any other name")
def test_a_rank_that_falls_says_where():
    def work(rank, n):
        import ctypes

        if rank:
            ctypes.string_at(0)  # nothing is there

    said = str(failed(work, n=2))
    assert re.match(r"rank 1 .*SIGSEGV; .* line \d", said)
    assert said.endswith("in work: ctypes.string_at(0)  # nothing is there")


def test_a_rank_that_exits_has_failed():
    assert failed(lambda rank, n: sys.exit(3)).error == "SystemExit"


def test_what_cannot_be_sent_says_so():
    error = failed(lambda rank, n: (i for i in [rank]), n=2)
    assert (error.error, "a generator" in str(error)) == ("TypeError", True)
    numbers = (i for i in [1, 2])
    with pytest.raises(TypeError, match=r"^fn\b"):
        run_ranks(lambda rank, n: next(numbers), 2)


@pytest.mark.parametrize(
    ("fn", "n", "options", "said"),
    [
        (3, 2, {}, "^fn: .* 3$"),
        (print, 1, {}, "^n: 2 to 16 ranks, .* 1$"),
        (print, 17, {}, "^n: 2 to 16 ranks, .* 17$"),
        (print, 2.0, {}, "^n: 2 to 16 ranks, .* 2.0$"),
        (print, 2, {"timeout": 0}, "^timeout: .* 0$"),
        (print, 2, {"backend": "mpi"}, "^backend: gloo or nccl, .*'mpi'$"),
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
    assert "dist.recv at line " in error.places[1]
    assert error.places[1].endswith("test_ranks_failures.py, in work: dist.recv(x, 0)")
    assert re.match(r"2 of 3 ranks .* wait\n  rank 0 .*returned\n", str(error))
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
    assert re.match(r"1 of 2 ranks .* 1 s\n  rank 0 .*returned\n  rank 1 .*line \d", str(error))


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
    interruptible = lambda: signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever started the tests
    with subprocess.Popen(
        [sys.executable, script, told], env=environment, stdout=subprocess.PIPE, text=True, preexec_fn=interruptible
    ) as parent:
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
    assert GONE in str(error)
    again = run_ranks(lambda rank, n: os.getppid(), 2).results
    assert again[0] == again[1] != first[0] == first[1]
    assert launch.launcher().alive()


def test_requests_that_come_at_once_are_handled_one_by_one():
    """An interrupt right after a look at the ranks sends the end of the run behind it, before the server has read."""
    server = launch.launcher()
    with server.lock:
        server.control.sendall(b'{"do": "signal"}\n{"do": "end"}\n')
        assert "idle" in server.hear(time.monotonic() + 10)
    assert run_ranks(lambda rank, n: rank, 2).results == [0, 1]
    assert launch.launcher() is server
