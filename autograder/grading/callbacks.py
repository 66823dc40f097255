"""The judge's calls of a function that was an answer, where the learner's code is."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Self

from ..declaration.exercise import Exercise
from ..sandbox import WAITED, Child, ChildLost

if TYPE_CHECKING:
    from .submission import _Run


class Calls:
    """Calls of the function that was the answer, until their time is up or the process is lost; a context manager.

    Where an exercise withholds something, they are made in another process, without it, that has run the same cells.
    """

    def __init__(self, run: _Run, exercise: Exercise, number: int):
        self.run, self.exercise, self.number, self.lost = run, exercise, number, ""
        self.withheld = ""  # what the cells cannot do without
        self.own: Child | None = None  # of an exercise that withholds something
        self.patience = max(0.0, run.deadline - time.monotonic()) if exercise.withholds else 0.0
        self.deadline = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.own is not None:
            self.own.kill()

    def _begin(self) -> None:
        """Before the first call."""
        if self.exercise.withholds:
            withheld = ", ".join(self.exercise.withholds)
            try:
                self.own = self.run.apart(self.number, self.exercise)
                reply = self.own.answer(self.exercise.id, self.exercise.answer_name, False)
                if "callable" not in str(reply.get("value"))[:40]:
                    self.lost = f"without {withheld} your cells do not define it"
                    self.withheld = self.exercise.withholds[0]
            except ChildLost as lost:
                self.lost = f"your cells were stopped when they ran again: {lost}"
        self.deadline = time.monotonic() + self.run.limits.cell

    def __call__(self, arguments: Any) -> dict[str, Any]:
        """The reply to encoded arguments: `value`, or `problem` and what was used of what is `withheld`."""
        if not self.deadline:
            self._begin()
        left = self.deadline - time.monotonic()
        child = self.own if self.exercise.withholds else self.run.child
        if not self.lost and (child is None or left <= 0):
            self.lost = f"its calls took longer than {self.run.limits.cell:g} s"
        if self.lost or child is None:
            return {"problem": self.lost, "withheld": self.withheld}
        try:
            reply = child.call(self.exercise.id, arguments, left, self.exercise.withholds)
        except ChildLost as lost:
            if child is self.run.child:
                self.run.stop()
            self.lost = f"your function was stopped: {lost}"
            return {"problem": self.lost}
        if reply.get("expired"):
            waited = WAITED if child.waited else ""
            self.lost = f"your function did not return within {self.run.limits.cell:g} s{waited}"
            return {"problem": self.lost}
        if "value" in reply:
            return {"value": reply["value"]}
        said = reply.get("said") or ": ".join(str(reply[k]) for k in ("problem", "message") if reply.get(k))
        return {"problem": str(said)[:400], "withheld": str(reply.get("withheld", ""))[:200]}
