"""Grade one submission, plain data in and out: the unit of work of a class, on this machine or on others.

A `Grader` has the zygote that submissions are forked from and the judge that they share. It replaces either when it
dies, and the zygote when it has served long enough; a submission in progress is then graded again.
"""

import errno
import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from ..declaration.bank import Bank
from ..declaration.verdict import Verdict
from ..sandbox import NoSandbox, Zygote, ZygoteGone
from . import rejudging, restore, submission
from .found_cells import ALL_THERE, FoundCells
from .judge import Judge, JudgeGone, JudgeRequest
from .results import GradedNotebook, Result
from .submission import RunSettings

SERVED = 500  # submissions of one zygote, before another takes its place
STOPPED = "the run was stopped before it was graded"
MACHINE = (errno.EMFILE, errno.ENFILE)  # what no submission is to blame for: the files that may be open at once
TRIES = 3  # of one submission whose zygote or judge goes


@dataclass(frozen=True)
class GradingJob:
    """A submission to be graded: whose, the notebook's JSON, and of an earlier run the results that stay, the answers
    that it took, and the notebook that it executed where no cell needs to run again."""

    learner: str
    notebook: str
    kept: tuple[dict[str, Any], ...] = ()
    answers: Mapping[str, Any] = field(default_factory=dict)
    executed: str = ""
    notes: Mapping[str, str] = field(default_factory=dict)  # by exercise, what the executed cells came to
    only: str = ""  # the exercise to be graded, where the others of the release are not


@dataclass
class JobOutcome:
    """The outcome of a job: the executed notebook's JSON and the results, or the `problem` that prevented both."""

    notebook: str = ""
    results: list[Result] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)  # for the teacher
    problem: str = ""
    answers: dict[str, Any] = field(default_factory=dict)  # see `results.GradedNotebook`
    cells: FoundCells = ALL_THERE

    def as_plain(self) -> dict[str, Any]:
        """As JSON, for the journal or another machine."""
        return asdict(self)

    @classmethod
    def of(cls, plain: dict[str, Any]) -> Self:
        """From what `as_plain` made."""
        results = [Result(**one) for one in plain["results"]]
        return cls(**{**plain, "results": results, "cells": FoundCells.of_plain(plain.get("cells"))})


class Grader:
    """Grades submissions of one assignment, from any number of threads; `judges` starts a judge. A context manager."""

    def __init__(
        self, release: Any, bank: Bank, judges: Callable[[], Judge], settings: RunSettings, served: int = SERVED
    ):
        self.release, self.bank, self.settings = release, bank, settings
        self.judges, self.served = judges, served
        self._lock = threading.Lock()
        self._used: list[Zygote] = []  # one entry for each submission on its way
        self._over = False
        self._starter = ThreadPoolExecutor(1)
        judge = self._starter.submit(judges)
        self._zygote = _Served(Zygote())
        try:
            self._judge = judge.result()
            self._zygote.program.refuse_unless(settings.unsafe)
        except BaseException:
            self._zygote.program.close()
            if judge.done() and not judge.exception():
                judge.result().close()
            self._starter.shutdown()
            raise
        self._next: Future[Zygote] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def stop(self) -> None:
        """Abort all submissions in progress: each comes back as a problem. Any thread may; `close` follows."""
        self._over = True
        for program in [*self._used, self._zygote.program, self._judge]:
            program.stop()

    def close(self) -> None:
        self._starter.shutdown()
        if self._next is not None and not self._next.exception():
            self._next.result().close()
        self._zygote.program.close()
        self._judge.close()

    def grade(self, job: GradingJob) -> JobOutcome:
        """The outcome of one submission: a notebook that cannot be graded, whatever it does, is a `problem`.

        Raises NoSandbox where the system can no longer confine code, and OSError where no more files can be open: that
        concerns every submission.
        """
        gone: Exception = ZygoteGone("")
        for _ in range(TRIES):
            if self._over:
                return JobOutcome(problem=STOPPED)
            try:
                judge = self._judge
                if job.executed:
                    return _outcome(self._judge_again(job, judge))
                with self._zygotes() as zygote:
                    outcome = _outcome(self._run(job, zygote, judge))
                    outcome.problems += _unsafe(zygote)
                    return outcome
            except ZygoteGone as error:
                gone = error
                self._replace_zygote(zygote)
            except JudgeGone as error:
                gone = error
                self._replace_judge(judge)
            except NoSandbox:  # no other submission would fare better
                raise
            except Exception as error:
                if isinstance(error, OSError) and error.errno in MACHINE:
                    raise
                problem = f"the grader failed on this submission: {type(error).__name__}: {error}"
                return JobOutcome(problem=problem)
        return JobOutcome(problem=f"the grader failed on this submission, {TRIES} times over: {gone}")

    def ask(self, question: JudgeRequest) -> Verdict:
        """The verdict on one value, without a submission around it; JudgeGone where judge after judge dies."""
        gone = JudgeGone("the run was stopped")
        for _ in range(0 if self._over else TRIES):
            judge = self._judge
            try:
                return judge.ask(question)
            except JudgeGone as error:
                gone = error
                self._replace_judge(judge)
        raise gone

    def _run(self, job: GradingJob, zygote: Zygote, judge: Judge) -> GradedNotebook:
        from nbformat import from_dict

        return submission.grade_notebook(
            from_dict(json.loads(job.notebook)),
            restore.only(self.release, job.only) if job.only else self.release,
            self.bank,
            job.learner,
            self.settings,
            zygote=zygote,
            judge=judge,
            kept=[Result(**one) for one in job.kept],
            answers=job.answers,
        )

    def _judge_again(self, job: GradingJob, judge: Judge) -> GradedNotebook:
        from nbformat import from_dict

        return rejudging.judge_again(
            from_dict(json.loads(job.executed)),
            job.learner,
            self.settings.variants,
            judge,
            [Result(**one) for one in job.kept],
            job.answers,
            job.notes,
        )

    @contextmanager
    def _zygotes(self) -> Iterator[Zygote]:
        """The zygote of the moment, which is kept until the block ends."""
        with self._lock:
            if self._next is not None and self._next.done():
                self._take(self._next)
            mine = self._zygote
            mine.served += 1
            mine.users += 1
            self._used.append(mine.program)
            if mine.served >= self.served and self._next is None:
                self._next = self._starter.submit(Zygote)
        try:
            yield mine.program
        finally:
            with self._lock:
                self._used.remove(mine.program)
                mine.users -= 1
                over = mine is not self._zygote and not mine.users
            if over:
                mine.program.close()

    def _take(self, made: "Future[Zygote]") -> None:
        self._next = None
        if made.exception():
            return  # the old one serves on
        old, self._zygote = self._zygote, _Served(made.result())
        if not old.users:
            old.program.close()

    def _replace_zygote(self, dead: Zygote) -> None:
        with self._lock:
            if self._zygote.program is dead and not self._over:
                if self._next is not None and not self._next.exception():
                    self._zygote = _Served(self._next.result())
                else:
                    self._zygote = _Served(Zygote())
                self._next = None
                dead.close()

    def _replace_judge(self, dead: Judge) -> None:
        with self._lock:
            if self._judge is dead and not self._over:
                self._judge = self.judges()
                dead.close()


def _unsafe(zygote: Zygote) -> list[str]:
    """What the teacher is told of a submission that was graded without all of the sandbox."""
    if zygote.unconfined:
        harm = "learners' code could read and change your files, use the network and leave processes running"
        return [f"graded with --unsafe, and nothing was confined ({zygote.unconfined}): {harm}"]
    return [f"graded with --unsafe: {zygote.unmeasured}"] if zygote.unmeasured else []


def _outcome(graded: GradedNotebook) -> JobOutcome:
    notebook = json.dumps(graded.nb, ensure_ascii=False)
    return JobOutcome(notebook, graded.results, graded.problems, answers=graded.answers, cells=graded.cells)


@dataclass
class _Served:
    """A zygote, how many submissions it has had, and how many are at it."""

    program: Zygote
    served: int = 0
    users: int = 0


def cores() -> int:
    """How many submissions to grade at once: one for each core that this process may use."""
    return len(os.sched_getaffinity(0))
