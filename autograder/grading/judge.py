"""The judge: a separate program that holds the key, reads answers as plain data and never runs a learner's code.

`Judge` starts it, as `python -m autograder.grading.judge FD FILE...`, from the files that declare the exercises. It
forks a limited process per submission, and another if judging an answer exceeds time or memory: that costs one verdict,
not the session.
"""

import contextlib
import gc
import importlib
import json
import math
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from ..declaration.bank import Bank, load_bank
from ..declaration.verdict import AnswerError, Verdict
from ..declaration.withholding import Withheld
from ..ranks import seeds
from ..sandbox import wire
from ..sandbox.forking import end_with, settle
from ..sandbox.program import SandboxedProgram
from ..values import encoding

SECONDS = 20.0  # of CPU, for one answer
MEMORY = 3 << 30
NEEDED = ("numpy.random", "sympy", "hwlib.simulate", "autograder.ranks.network")  # loaded once, and not after each fork
TOO_LONG = "The answer could not be judged in the time and memory there is for one: it is too large or too involved."


class JudgeFailed(ValueError):
    """The exercise itself is at fault: its own code raised; the message is for the teacher."""


class JudgeGone(OSError):
    """The judge's process is gone, and no answer caused it: each is judged in a separate process."""


RemoteCall = Callable[[Any], dict[str, Any]]  # from encoded arguments to the reply


@dataclass(frozen=True)
class JudgeRequest:
    """Which exercise, whose numbers (None: the book's), and the answer as `encoding.encode` wrote it."""

    exercise: str
    owner: str | None
    message: Any
    seed: str = ""  # of the numbers that it is asked with, see `ranks.seeds`


class Judge(SandboxedProgram):
    """A running judge over the exercises declared in `paths`; any thread may ask it. Use it as a context
    manager."""

    def __init__(self, paths: Sequence[Path | str]):
        super().__init__("autograder.grading.judge", os.environ, [str(Path(path).resolve()) for path in paths])
        started = self.said or {"error": "the judge did not start; its message is above"}
        if "error" in started:
            self.close()
            raise JudgeFailed(started["error"])

    def ask(self, question: JudgeRequest, call: RemoteCall | None = None, patience: float = 0.0) -> Verdict:
        """The verdict on one answer, as `JudgeSession.ask`, in a process of its own."""
        with self.session() as session:
            return session.ask(question, call, patience)

    def session(self) -> "JudgeSession":
        """For the answers of one submission, one after another."""
        return JudgeSession(self)


class JudgeSession:
    """The answers of one submission, judged in a process forked for it; another takes over if an answer exhausts its
    limits. Used by one thread. A context manager."""

    def __init__(self, judge: Judge):
        self.judge = judge
        self._channel: socket.socket | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def _end(self) -> None:
        if self._channel is not None:
            self._channel.close()
            self._channel = None

    def _begin(self) -> socket.socket:
        channel, theirs = socket.socketpair()
        try:
            with theirs:
                self.judge.request({}, [theirs.fileno()])
        except OSError as error:
            channel.close()
            raise JudgeGone(f"the judge is gone: {error}") from None
        self._channel = channel
        return channel

    def ask(self, question: JudgeRequest, call: RemoteCall | None = None, patience: float = 0.0) -> Verdict:
        """The verdict; `call` takes encoded arguments to the learner's function and returns `value` or
        `problem` (with its `reason`, and `withheld`, what of it was used).

        `patience`: seconds that the learner's calls may take in all, on top of the judge's own limit.
        """
        while True:
            used, answered = self._channel is not None, False
            channel = self._channel or self._begin()
            deadline = time.monotonic() + 2 * SECONDS + patience
            try:
                wire.send(channel, vars(question))
                while "call" in (reply := wire.receive(channel, deadline)):
                    answered = True
                    if call is None:
                        raise JudgeFailed(f"{question.exercise}: the judge calls an answer that is not a function")
                    wire.send(channel, call(reply["call"]))
            except (wire.WireError, TimeoutError) as error:
                self._end()
                if used and not answered and isinstance(error, wire.WireClosed):
                    continue  # an earlier answer may have left it little memory
                if not self.judge.alive:
                    raise JudgeGone("the judge is gone") from None
                return Verdict(0.0, TOO_LONG, "unreadable", "too-slow")
            except BaseException:
                self._end()
                raise
            if "failed" in reply:
                raise JudgeFailed(reply["failed"])
            return Verdict(**{**reply, "mistakes": tuple(reply["mistakes"])})


def judge_answer(bank: Bank, question: JudgeRequest, call: Callable[[tuple], Any] | None = None) -> dict[str, Any]:
    """The verdict as a message, field by field, `score` clamped to 0..1 as a builtin float; or `failed`, for the
    teacher."""
    if question.exercise not in bank:
        return {"failed": f"no exercise {question.exercise!r} is declared"}
    exercise = bank[question.exercise]
    try:
        with seeds.seeded(question.seed):
            verdict = exercise.judge_message(question.message, exercise.variant(question.owner), call)
        score = float(verdict.score)
    except MemoryError:  # which the answer filled, not the exercise
        raise
    except Exception as error:
        where = f"{bank.path}: " if bank.path else ""
        return {"failed": f"{where}the exercise {question.exercise!r} failed: {type(error).__name__}: {error}"}
    score = min(max(score, 0.0), 1.0) if score == score else 0.0
    return {
        "score": score,
        "say": str(verdict.say),
        "kind": str(verdict.kind),
        "reason": str(verdict.reason),
        "wants_hint": bool(verdict.wants_hint),
        "mistakes": [str(name) for name in verdict.mistakes],
    }


def _limit() -> None:
    sys.set_int_max_str_digits(10_000)  # more than an answer's integers have: a sentence may quote one
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if os.path.exists("/proc/self/statm") else 1 << 21
    for what, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_AS, pages * resource.getpagesize() + MEMORY),
    ):
        hard = resource.getrlimit(what)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(what, (value, value))


def _serve_session(channel: socket.socket, bank: Bank) -> None:
    """In the forked process: one answer after another, until the grader hangs up."""
    _limit()

    def call(arguments: tuple) -> Any:
        wire.send(channel, {"call": encoding.encode(tuple(arguments))})
        reply = wire.receive(channel)
        if "problem" in reply:
            if reply.get("withheld"):
                raise Withheld(reply["withheld"])
            raise AnswerError(str(reply["problem"]), str(reply.get("reason", "")))
        try:
            return encoding.decode(reply["value"])
        except encoding.BadMessage as error:
            raise AnswerError(f"its result could not be read: {error}", error.reason) from None

    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    while True:
        request = wire.receive(channel)
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time() + SECONDS), hard))
        wire.send(channel, judge_answer(bank, JudgeRequest(**request), call))


def _load(bank: Bank) -> None:
    """What these exercises need, as far as it is installed: once, and not in every process forked from here."""
    for name in dict.fromkeys(name for exercise in bank.values() for name in exercise.answer.loads(exercise)):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)  # threads that wait for each other do not survive a fork


def _warm(bank: Bank) -> None:
    """Judge a wrong answer to each exercise of a kind that gains by it (an Expression: its trees are then there, and
    what reads them is loaded), for every process forked from here. Other kinds would have a teacher's functions run,
    which may start threads: what is forked beside those hangs."""
    for name, exercise in bank.items():
        if exercise.answer.warms_judge:
            judge_answer(bank, JudgeRequest(name, None, encoding.encode(0)))


def main() -> None:
    """Load the exercises, then fork a process per submission until the supervisor hangs up."""
    control = socket.socket(fileno=int(sys.argv[1]))
    gc.disable()  # a fifth of the time to start
    bank = Bank()
    try:
        for path in sys.argv[2:]:
            bank.update(load_bank(Path(path)))
    except Exception as error:
        control.send(json.dumps({"error": str(error)[:30_000]}).encode())
        return
    for name in NEEDED:
        importlib.import_module(name)
    _load(bank)
    _warm(bank)
    settle()
    with contextlib.suppress(BrokenPipeError):  # where the grader has ended meanwhile, the next look says so
        control.send(json.dumps({"exercises": len(bank)}).encode())
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    me = os.getpid()
    while True:
        message, fds, _, _ = socket.recv_fds(control, 100, 1)
        if not message:
            os._exit(0)
        if os.fork() == 0:
            end_with(me)
            gc.enable()
            control.close()
            try:
                _serve_session(socket.socket(fileno=fds[0]), bank)
            finally:
                os._exit(0)
        for fd in fds:
            os.close(fd)


if __name__ == "__main__":
    main()
