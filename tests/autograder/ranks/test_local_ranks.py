"""A learner's own ranks come from the server of `run_ranks`, one run at a time, and leave nothing behind."""

import functools
import sys
import threading
import time

import numpy as np
import pytest
import torch
import torch.distributed as dist

from autograder.answers import Distributed
from autograder.declaration import Exercise, Mistake
from autograder.declaration.verdict import AnswerError
from autograder.ranks.local_ranks import IMPORTS, PRINTED, RUN, START, LocalRanks, imports_for
from autograder.values import encoding
from hwlib.algorithms import ring_allreduce
from hwlib.labs.ranks import run_ranks
from hwlib.labs.ranks.launch import launcher


def exercise():
    return Exercise(
        id="t-sum",
        points=1,
        prompt="Add up.",
        solution=ring_allreduce,
        answer=Distributed("allreduce", cases=[(2, 4)], collective="all_reduce", calls=("all_reduce", "barrier")),
        mistakes=(Mistake(ring_allreduce, "a"), Mistake(ring_allreduce, "b")),
    )


def starts(call, n=2):
    return [call(("start", rank, n, np.ones(4), {})) for rank in range(n)]


def allreduce(rank, n, x):
    dist.all_reduce(x)
    return x


def waits_alone(rank, n, x):
    if rank:
        dist.barrier()
    return x


def differentiates(loss, x):
    return gradient_of(loss, x)


def gradient_of(loss, x):
    return torch.autograd.grad(loss, x)[0] if loss.requires_grad else differentiates(loss, x)


def test_what_autograd_imports_is_there_before_ranks_are_forked_and_not_for_others():
    def by_itself(rank, n, x):
        for _ in (lambda: x.sum().backward(x),):
            return x

    wrapped = functools.wraps(by_itself)(lambda *_: None)
    uses = [
        imports_for(function) != IMPORTS
        for function in (by_itself, wrapped, differentiates, allreduce, waits_alone, 7, print)
    ]
    assert uses == [True, True, True, False, False, False, False]

    def program(rank, n, x):
        known = set(sys.modules)
        loss = (x.requires_grad_() * 2).sum()
        torch.autograd.grad(loss, x)
        loaded = {name.partition(".")[0] for name in set(sys.modules) - known}
        return torch.tensor([float("sympy" in loaded)])

    assert {tuple(run[1].tolist()) for run in starts(LocalRanks(program))} == {(0.0,)}


def test_what_transforms_of_functions_import_is_there_too():
    def program(rank, n, x):
        known = set(sys.modules)
        torch.func.vjp(lambda a: 2 * a, x)[1](x)
        return torch.tensor([float(len(set(sys.modules) - known))])

    assert {tuple(run[1].tolist()) for run in starts(LocalRanks(program))} == {(0.0,)}


@pytest.mark.slow
@pytest.mark.parametrize(("function", "kind"), [(allreduce, "right"), (waits_alone, "wrong")])
def test_after_a_verdict_the_server_is_free(function, kind):
    made = exercise()
    call = made.answer.local_call(function)
    verdict = made.judge(encoding.Callable("allreduce"), call=call)
    assert verdict.kind == kind, verdict.say
    assert not launcher().lock.locked()
    assert call.ranks == []
    assert run_ranks(lambda rank, n: dist.get_backend(), 2).results == ["gloo", "gloo"]


def test_each_run_has_new_processes():
    def program(rank, n, x):
        seen.append(rank)
        return len(seen)

    seen = []
    call = LocalRanks(program)
    assert [starts(call) for _ in range(2)] == [[("done", 1, False)] * 2] * 2
    assert seen == []
    call.close()


def test_what_ranks_print_is_shown_up_to_a_limit(capsys):
    def program(rank, n, x):
        sys.stdout.write(f"rank {rank} says" if rank else "." * 10 * PRINTED)
        sys.stdout.flush()

    call = LocalRanks(program)
    starts(call)
    call.close()
    said = capsys.readouterr().err
    assert "rank 1 says" in said
    assert said.count(".") <= PRINTED


class Slow:
    """Takes as long to reach a process as an import does."""

    def __reduce__(self):
        return slowly, (1.5,)


def slowly(seconds):
    time.sleep(seconds)
    return seconds


@pytest.mark.slow
def test_a_slow_start_is_not_counted():
    slow = Slow()
    call = LocalRanks(lambda rank, n, x: slow, seconds=1.0)
    assert starts(call) == [("done", 1.5, False)] * 2
    call.close()


@pytest.mark.slow
@pytest.mark.parametrize("pause", [0.0, 0.01])
def test_a_loop_that_never_ends_is_told_soon(pause):
    def program(rank, n, x):
        while True:
            time.sleep(pause)

    call = LocalRanks(program, seconds=1.0)
    begun = time.monotonic()
    assert starts(call, 1) == [("failed", "limit", "1 s")]
    assert time.monotonic() - begun < START
    assert call.ranks == []
    assert LocalRanks(program).seconds <= 5.0


@pytest.mark.slow
def test_a_run_that_never_ends_is_ended_too():
    def program(rank, n, x):
        while True:
            time.sleep(0.4)
            dist.isend(x, 1)

    call = LocalRanks(program, seconds=1.0)
    asked = call(("start", 0, 2, np.ones(4), {}))
    replies = [asked]
    while replies[-1][0] == "asks":
        replies.append(call(("send", 0, len(replies) - 1)))
    assert replies[-1] == ("failed", "limit", "1 s")
    assert 1 < len(replies) <= RUN / 0.4 + 1


def test_what_cannot_be_sent_to_a_process_is_said():
    lock = threading.Lock()
    with pytest.raises(AnswerError) as error:
        starts(LocalRanks(lambda rank, n, x: lock))
    assert error.value.reason == "cannot-be-sent"
