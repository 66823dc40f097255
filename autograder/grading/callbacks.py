"""The judge's calls of a function that was an answer, where the learner's code is."""

import re
import time
from collections.abc import Callable
from typing import Any, Self

from ..declaration.exercise import Exercise
from ..sandbox import WAITED, Child, ChildLost


class FunctionCalls:
    """The `call` of `Judge.ask` for an exercise that asks a function; a context manager.

    `child` is the process in which the function was defined. The calls have `limit` seconds in all, from the first one,
    and end when the process is lost. Where the exercise withholds something, they are made in a process that `spawn`
    makes: without it, and with the same cells run.
    """

    def __init__(self, exercise: Exercise, limit: float, child: Child, spawn: Callable[[], Child]):
        self.exercise, self.limit, self.child, self.spawn = exercise, limit, child, spawn
        self.separate: Child | None = None
        self.deadline, self.lost = 0.0, ""
        self.withheld = ""  # what the cells cannot do without
        self.reason = ""  # of `AnswerError`, for why it is lost

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.separate is not None:
            self.separate.kill()

    def _begin(self) -> None:
        """Before the first call."""
        if self.exercise.withholds:
            withheld = ", ".join(self.exercise.withholds)
            try:
                self.child = self.separate = self.spawn()
                reply = self.child.answer(self.exercise.id, self.exercise.answer_name, False)
                if "callable" not in str(reply.get("value"))[:40]:
                    self.lost = f"without {withheld} your cells do not define it"
                    self.withheld = self.exercise.withholds[0]
            except ChildLost as lost:
                self.lost, self.reason = f"your cells were stopped when they ran again: {lost}", lost.reason
        self.deadline = time.monotonic() + self.limit

    def __call__(self, arguments: Any) -> dict[str, Any]:
        """The reply to encoded arguments: `value`, or a `problem` with its `reason`, and what was used of what is
        `withheld`."""
        if not self.deadline:
            self._begin()
        left = self.deadline - time.monotonic()
        if not self.lost and left <= 0:
            self.lost, self.reason = f"its calls took longer than {self.limit:g} s", "time-limit"
        if self.lost:
            return {"problem": self.lost, "reason": self.reason, "withheld": self.withheld}
        try:
            exercise = self.exercise
            reply = self.child.call(exercise.id, arguments, left, exercise.withholds, exercise.answer.plays)
        except ChildLost as lost:
            self.lost, self.reason = f"your function was stopped: {lost}", lost.reason
            return {"problem": self.lost, "reason": self.reason}
        if reply.get("expired"):
            waited = WAITED if self.child.waited else ""
            self.lost, self.reason = f"your function did not return within {self.limit:g} s{waited}", "time-limit"
            return {"problem": self.lost, "reason": self.reason}
        if "value" in reply:
            return {"value": reply["value"]}
        message = reply.get("said") or ": ".join(str(reply[k]) for k in ("problem", "message") if reply.get(k))
        withheld = str(reply.get("withheld", ""))[:200]
        return {"problem": str(message)[:400], "reason": problem_reason(reply), "withheld": withheld}


def problem_reason(reply: dict[str, Any]) -> str:
    """Why a reply of the learner's process has no value: time-limit, no-plain-data, the reason that an error of the
    library has; "" for the code's own errors."""
    if reply.get("expired"):
        return "time-limit"
    if reply.get("problem") == "NotEncodable":
        return "no-plain-data"
    reason = str(reply.get("reason", ""))
    return reason if re.fullmatch(r"[a-z-]{1,40}", reason) else ""
