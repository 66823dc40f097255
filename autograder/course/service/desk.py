"""What the service does with a question of a learner who is known: the rules, whatever carries it.

An attempt is counted before its answer is judged, and given back where there is no verdict on it. Beyond the verdict's
sentence, kind and score, and how many attempts are used and allowed, nothing is told.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from ...declaration.verdict import Verdict
from ...grading.worker import cores
from .attempts import Ledger
from .deadlines import Deadlines
from .exam_desk import ExamDesk
from .generations import Generations
from .judging import JudgedRequest, Judging, NotJudged
from .limits import Later, OneAtATime, Queue, Rate
from .requests import BadRequest, CheckRequest
from .served_assignments import Served

log = logging.getLogger("gpubook.service")
BURST, INTERVAL = 40, 2.0  # requests of a learner at once, as Run All makes them, and seconds for each one more
WAITING = 400  # answers that wait or are judged at once, of each kind
USED_UP, OVER, EXAM = "used-up", "over", "exam"  # why an answer is recorded, and not judged
Reply = dict[str, Any]


class Desk:
    """The service of the course in `folder`, without the network. A context manager; `answer` is for one event loop."""

    def __init__(self, folder: Path, *, unsafe: bool = False, workers: int | None = None, rate: Rate | None = None):
        self.generations = Generations(folder, unsafe)
        self._closed = False
        self.ledger, self.deadlines = Ledger(folder), Deadlines(folder)
        self.exams = ExamDesk(folder)
        self.rate, self.one = rate or Rate(BURST, INTERVAL), OneAtATime()
        count = workers or cores()
        self.pools = {code: ThreadPoolExecutor(count) for code in (False, True)}  # values do not wait for code
        self.queues = {False: Queue(WAITING, 5.0), True: Queue(WAITING, 15.0)}

    def __enter__(self) -> Desk:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop; what is counted and not judged yet is judged when the same answer is given again. Twice is once."""
        if self._closed:
            return
        self._closed = True
        for pool in self.pools.values():
            pool.shutdown(wait=False, cancel_futures=True)
        self.generations.close()
        for pool in self.pools.values():
            pool.shutdown()
        self.exams.close()
        self.ledger.close()

    async def answer(self, learner: str, asked: CheckRequest, gone: Callable[[], bool] = lambda: False) -> Reply:
        """The reply to a question; `gone` says whether nobody waits for it any more. Raises Later where there is no
        time for it now, BadRequest for what is not served."""
        if self.generations.catalogue.find(asked.assignment, asked.exercise) is None:  # released a moment ago, maybe
            await asyncio.get_running_loop().run_in_executor(self.pools[False], self.generations.renew)
        served = self._served(asked)
        queue, pool = self.queues[served.is_code], self.pools[served.is_code]
        queue.begin()
        try:
            return await asyncio.get_running_loop().run_in_executor(pool, self._judge, learner, asked, gone)
        finally:
            queue.end()

    def _served(self, asked: CheckRequest) -> Served:
        served = self.generations.catalogue.find(asked.assignment, asked.exercise)
        if served is None:
            raise BadRequest("that exercise is not judged here")
        if served.is_code != (asked.code is not None):
            raise BadRequest("code was expected" if served.is_code else "a value was expected")
        return served

    def _judge(self, learner: str, asked: CheckRequest, gone: Callable[[], bool]) -> Reply:
        if gone():
            return {}
        with self.generations.judging() as judging:
            served = judging.catalogue.find(asked.assignment, asked.exercise)
            if served is None or served.is_code != (asked.code is not None):  # changed since
                raise Later(503, "The course has just changed", 2)
            if self.exams.is_exam(asked.assignment):
                return {"recorded": EXAM}
            if self.deadlines.over(asked.assignment, learner):
                return {"recorded": OVER}
            mine = (learner, served.exercise.id, asked.digest)
            taken = self.ledger.take(*mine, allowed=served.allowed, key=served.key, assignment=asked.assignment)
            if taken is None:
                return {"recorded": USED_UP, "used": served.allowed, "allowed": served.allowed}
            if taken.verdict is not None:
                return {"verdict": taken.verdict, "used": taken.used, "allowed": served.allowed, "again": True}
            return self._decide(judging, served, asked, mine, taken.used)

    def _decide(
        self, judging: Judging, served: Served, asked: CheckRequest, mine: tuple[str, str, str], used: int
    ) -> Reply:
        try:
            judged = self._judged(judging, served, mine[0], asked)
        except Exception as error:
            self.ledger.give_back(*mine)
            log.error("%s: an answer could not be judged, and costs nothing: %s", served.exercise.id, error)
            raise Later(503, "This answer could not be judged, which is not your fault", 60) from None
        verdict = _told(judged.verdict)
        if judged.counts:
            self.ledger.keep(*mine, key=served.key, verdict=verdict)
        else:
            used -= self.ledger.give_back(*mine)
        return {"verdict": verdict, "used": used, "allowed": served.allowed}

    def _judged(self, judging: Judging, served: Served, learner: str, asked: CheckRequest) -> JudgedRequest:
        try:
            if asked.code is not None:
                return judging.code(served, learner, asked.code)
            return judging.value(served, learner, asked.value)
        except (NotJudged, OSError):
            raise
        except Exception as error:
            raise NotJudged(f"{type(error).__name__}: {error}") from error


def _told(verdict: Verdict) -> Mapping[str, Any]:
    """What a learner gets to know of a verdict."""
    score = min(max(float(verdict.score), 0.0), 1.0)
    return {"say": verdict.say, "kind": verdict.kind, "score": score, "wants_hint": verdict.wants_hint}
