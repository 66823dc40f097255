"""One answer judged as a submission's is: a value by the judge alone, code by the cells that were sent, in the sandbox.

Nothing is asked of the learner's machine, and what the cells print or show stays here. Code that was called has seen
the arguments, and can tell them by how long it takes: that costs an attempt, whatever it returns.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...declaration.verdict import CELL_FAILED, Verdict, no_answer
from ...grading.found_cells import normalised
from ...grading.judge import Judge, JudgeFailed, JudgeGone, JudgeRequest
from ...grading.restore import only
from ...grading.worker import TRIES, Grader, GradingJob
from ...ranks import seeds
from .served_assignments import Catalogue, Served

SOON = 5.0  # seconds: cells that end sooner, and leave nothing to be called, cost no attempt


class NotJudged(Exception):
    """The exercise, the judge or the sandbox is at fault, and no answer: the message is for the teacher."""


@dataclass(frozen=True)
class Code:
    """The cells of an answer, in the order in which they ran, and which of them is the answer's."""

    cells: Sequence[str]
    answer: int


@dataclass(frozen=True)
class JudgedRequest:
    """A verdict, and whether it costs an attempt: what is no answer costs none."""

    verdict: Verdict
    counts: bool


class Judging:
    """Judges the answers to what a catalogue has; any thread may ask. A context manager.

    The sandbox starts only where an exercise asks for code; NoSandbox where the system has none then.
    """

    def __init__(self, catalogue: Catalogue):
        self.catalogue = catalogue
        self._lock = threading.Lock()
        self._over = False
        self._judge: Judge | None = None
        self._grader: Grader | None = None
        if catalogue.runs_code:
            self._grader = Grader(catalogue.release, catalogue.bank, self._new_judge, catalogue.settings)
        elif catalogue.by_assignment:
            self._judge = self._new_judge()

    def _new_judge(self) -> Judge:
        return Judge(self.catalogue.bank.paths)

    def __enter__(self) -> Judging:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop what is being judged, and end all processes."""
        self._over = True
        if self._grader is not None:
            self._grader.stop()
            self._grader.close()
        if self._judge is not None:
            self._judge.close()

    def value(self, served: Served, learner: str, message: Any) -> JudgedRequest:
        """The verdict on a value, as `encoding.encode` wrote it."""
        settings, exercise = self.catalogue.settings, served.exercise
        seed = seeds.seed_of(settings.secret, learner, (exercise.id, json.dumps(message, sort_keys=True)))
        owner = learner if settings.variants else None
        verdict = self._ask(JudgeRequest(exercise.id, owner, message, seed))
        read = verdict.kind not in ("empty", "unreadable", "unit") or verdict.reason == "too-slow"
        return JudgedRequest(verdict, counts=read)

    def code(self, served: Served, learner: str, code: Code) -> JudgedRequest:
        """The verdict on the last value of the answer's variable, when the cells have run in the sandbox; an answer
        that is as it was released is none, and nothing runs."""
        if self._grader is None:
            raise NotJudged("no exercise of this course asked for code when the service started")
        name, began = served.exercise.id, time.monotonic()
        released = only(self.catalogue.release, name).cells[0]["source"]
        if normalised(code.cells[code.answer]) == normalised(released):
            return JudgedRequest(no_answer(), counts=False)
        notebook = json.dumps(_notebook(self.catalogue.release, name, code), ensure_ascii=False)
        outcome = self._grader.grade(GradingJob(learner, notebook, only=name))
        result = outcome.results[0] if outcome.results else None
        if result is None or result.kind == "failed":
            raise NotJudged("; ".join(filter(None, [outcome.problem, *outcome.problems])) or f"{name}: no result")
        score = result.points / result.max_points if result.max_points else 0.0
        was_called = result.kind != "empty" or result.reason not in ("", CELL_FAILED)
        counts = was_called or time.monotonic() - began >= SOON
        return JudgedRequest(Verdict(score, result.say, result.kind), counts=counts)

    def _ask(self, question: JudgeRequest) -> Verdict:
        try:
            return self._asked(question) if self._grader is None else self._grader.ask(question)
        except (JudgeFailed, JudgeGone) as error:
            raise NotJudged(str(error)) from None

    def _asked(self, question: JudgeRequest) -> Verdict:
        """By the judge that is there without a grader; another takes its place when it dies."""
        for _ in range(TRIES):
            judge = self._judge
            if judge is None or self._over:
                break
            try:
                return judge.ask(question)
            except JudgeGone:
                self._replace(judge)
        raise JudgeGone("the judge is gone")

    def _replace(self, dead: Judge) -> None:
        with self._lock:
            if self._judge is dead and not self._over:
                self._judge = self._new_judge()
                dead.close()


def _notebook(release: Any, exercise: str, code: Code) -> Mapping[str, Any]:
    """A submission of one exercise: its answer and its grade cell as they were released, the other cells the
    learner's."""
    answer, grade = only(release, exercise).cells
    cells = [_cell(source, number) for number, source in enumerate(code.cells)]
    cells[code.answer] = {**answer, "source": code.cells[code.answer]}
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [*cells, grade]}


def _cell(source: str, number: int) -> dict[str, Any]:
    plain: dict[str, Any] = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    return {**plain, "id": f"learner-{number}", "source": source}
