"""What the check service does in an exam: it notes when a learner opens it, and keeps copies of the work."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any

from ...book.course_error import CourseError
from ...values.own_file import loaded
from ..agreements import exams
from ..terms import agreed_terms
from .requests import BadRequest, checked_request_name

THREADS = 2  # copies are written one after another, beside answers that are judged


class ExamDesk:
    """The exams of the course in `folder`, without the network. `answer` is for one event loop."""

    def __init__(self, folder: Path, clock: Callable[[], datetime] = exams.now_utc):
        self.folder, self.clock = folder, clock
        self._pool = ThreadPoolExecutor(THREADS)

    def close(self) -> None:
        """Wait for what is being written."""
        self._pool.shutdown()

    async def answer(self, learner: str, body: bytes) -> dict[str, Any]:
        """Open an exam or tell how it stands (`{"assignment": NAME}`), with a notebook keep a copy of it as well;
        raises BadRequest for what is not a question of an exam."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._answer, learner, body)

    def is_exam(self, name: str) -> bool:
        """Whether an assignment is an exam, in which no answer is judged before the grading."""
        return agreed_terms.read(self.folder, name).exam is not None

    def _answer(self, learner: str, body: bytes) -> dict[str, Any]:
        name, text = read(body)
        if not self.is_exam(name):
            raise BadRequest("that assignment is not an exam")
        now = self.clock()
        try:
            sitting = exams.open_for(self.folder, name, learner, now)
        except CourseError as error:
            raise BadRequest(str(error)) from None
        reply = {"start": _iso(sitting.start), "end": _iso(sitting.end), "now": _iso(now), "minutes": sitting.minutes}
        if text is not None:
            reply["kept"] = exams.keep_copy(self.folder, name, learner, text, now)
        return reply


def read(body: bytes) -> tuple[str, str | None]:
    """The assignment, and the text of the notebook where there is one; BadRequest for anything else."""
    try:
        data = loaded(body)
    except ValueError as error:
        raise BadRequest(f"JSON was expected ({error})") from None
    if not isinstance(data, dict) or not {"assignment"} <= data.keys() <= {"assignment", "notebook"}:
        raise BadRequest("an object with assignment, and perhaps a notebook, was expected")
    name, notebook = checked_request_name(data["assignment"]), data.get("notebook")
    if notebook is not None and not (isinstance(notebook, dict) and isinstance(notebook.get("cells"), list)):
        raise BadRequest("a notebook with cells was expected")
    return name, None if notebook is None else json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _iso(time: datetime) -> str:
    return time.isoformat(timespec="seconds") + "Z"
