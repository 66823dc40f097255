"""The ranks of a graded algorithm: a confined process each, which has run the learner's cells and knows no other rank.

They share no memory, folder, network or process: the learner's code runs again in each, so nothing that one made before
the ranks were told apart lies in another. The only channels left are those of any two programs on one machine: time and
load.
"""

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

from ..declaration.exercise import Exercise
from ..sandbox import Child, ChildLost
from ..values.cell_names import names_of

# Characters that are parsed, of a cell and of all: a dotted name takes Python time in the square of its length.
MAX_CELL, MAX_CELLS = 10_000, 100_000
MISSING = ("NameError", "AttributeError", "KeyError")


class RankProcesses:
    """The `call` of `Judge.ask` for an exercise that asks ranks, and a context manager, which ends their processes.

    `spawn` makes the process of one of so many ranks. Their calls have `limit` seconds in all, from when they are all
    there.
    """

    def __init__(self, exercise: Exercise, limit: float, spawn: Callable[[int], Child]):
        self.exercise, self.limit, self.spawn = exercise, limit, spawn
        self.children: list[Child] = []
        self.deadline, self.lost = 0.0, ""
        self.missed = False  # whether a rank lacked a name: that of a cell that was left out, perhaps

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for child in self.children:
            child.kill()

    def __call__(self, request: dict[str, Any]) -> dict[str, Any]:
        """The reply to an encoded request, ("prepare", ranks) or (what, rank, ...): `value`, or `problem`."""
        what, rank = request["v"][:2]
        if not self.lost:
            try:
                if what == "prepare":
                    self._prepare(rank)
                    return {"value": None}
                return self._ask(self.children[rank], request)
            except ChildLost as lost:
                self.lost = str(lost)
        return {"problem": self.lost}

    def _prepare(self, count: int) -> None:
        with ThreadPoolExecutor(max_workers=min(count, len(os.sched_getaffinity(0)))) as pool:
            started = [pool.submit(self._start, count) for _ in range(count)]
        lost = [error for future in started if (error := future.exception())]
        self.children += [future.result() for future in started if not future.exception()]
        if lost:
            raise lost[0]
        self.deadline = time.monotonic() + self.limit

    def _start(self, count: int) -> Child:
        child = self.spawn(count)
        try:
            answer = self.exercise.answer
            child.rank(self.exercise.id, self.exercise.answer_name, self.exercise.withholds, answer.plays)
        except ChildLost:
            child.kill()
            raise
        return child

    def _ask(self, child: Child, request: dict[str, Any]) -> dict[str, Any]:
        left = self.deadline - time.monotonic()
        reply = child.call(self.exercise.id, request, left) if left > 0 else {"expired": True}
        if reply.get("expired"):
            raise ChildLost(f"the ranks did not end within {self.limit:g} s", "time-limit")
        if "value" in reply:
            self.missed |= _lacks(reply["value"])
            return {"value": reply["value"]}
        message = reply.get("said") or ": ".join(str(reply[k]) for k in ("problem", "message") if reply.get(k))
        return {"problem": str(message)[:400]}


def _lacks(reply: Any) -> bool:
    """Whether an encoded reply of `generators.Rank` says that a name was not there."""
    parts = reply.get("v") if isinstance(reply, dict) else None
    if not isinstance(parts, list) or len(parts) != 3:
        return False
    return parts[0] == "failed" and parts[1] in ("raises", "silent") and str(parts[2]).startswith(MISSING)


def needed_cells(sources: Sequence[str], requested: Sequence[bool]) -> set[int]:
    """Which cells to run again: those that are `requested`, and those that bind or change a name that one of these
    uses. A cell that cannot be read (it has a magic, or is too long to be parsed here) is one of them. What a cell
    changes inside a function that it calls is not seen.

    In chapter 6, with four exercises of ranks, they are 2 or 3 of the 11 to 23 cells before an answer: a right
    submission takes a quarter less time than with all cells again in every rank (20 s for 28, on busy cores).
    """
    if not sources:
        return set()
    left, names = MAX_CELLS, []
    for source in sources:
        short = len(source) <= min(MAX_CELL, left)
        left -= len(source) if short else 0
        names.append(names_of(source) if short else None)
    needed = {i for i, wanted in enumerate(requested) if wanted or names[i] is None}
    while True:
        used = set().union(*(own.uses for i in needed if (own := names[i]) is not None))
        more = {i for i, own in enumerate(names) if i not in needed and own and (own.binds | own.changes) & used}
        if not more:
            return needed
        needed |= more
