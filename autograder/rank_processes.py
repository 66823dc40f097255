"""The ranks of a graded algorithm: a confined process each, which has run the learner's cells and knows no other rank.

They share no memory, folder, network or process: the learner's code runs anew in each, so nothing that one made
before the ranks were told apart lies in another. What is left to them is what any two programs on one machine can
see of each other: time, and how busy it is.
"""

import ast
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

from .declaration import Exercise
from .sandbox import Child, ChildLost


class Ranks:
    """The `call` of `Judge.ask` for an exercise that asks ranks; `spawn` makes the process of one. A context manager.

    Their calls have `limit` seconds in all, from when they are all there.
    """

    def __init__(self, exercise: Exercise, limit: float, spawn: Callable[[], Child]):
        self.exercise, self.limit, self.spawn = exercise, limit, spawn
        self.children: list[Child] = []
        self.deadline, self.lost = 0.0, ""

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
            started = [pool.submit(self._start) for _ in range(count)]
        lost = [error for future in started if (error := future.exception())]
        self.children += [future.result() for future in started if not future.exception()]
        if lost:
            raise lost[0]
        self.deadline = time.monotonic() + self.limit

    def _start(self) -> Child:
        child = self.spawn()
        try:
            child.rank(self.exercise.id, self.exercise.answer_name, self.exercise.withholds)
        except ChildLost:
            child.kill()
            raise
        return child

    def _ask(self, child: Child, request: dict[str, Any]) -> dict[str, Any]:
        left = self.deadline - time.monotonic()
        reply = child.call(self.exercise.id, request, left) if left > 0 else {"expired": True}
        if reply.get("expired"):
            raise ChildLost(f"the ranks did not end within {self.limit:g} s")
        if "value" in reply:
            return {"value": reply["value"]}
        said = reply.get("said") or ": ".join(str(reply[k]) for k in ("problem", "message") if reply.get(k))
        return {"problem": str(said)[:400]}


def needed_cells(sources: Sequence[str], own: Sequence[bool]) -> set[int]:
    """Which cells to run again for a learner's code: the learner's `own`, and those of the chapter's that bind or
    change a name that one of these uses. A cell that cannot be read (it has a magic) is one of them."""
    uses, binds = zip(*(_names(source) for source in sources), strict=True) if sources else ((), ())
    needed = {i for i, mine in enumerate(own) if mine or binds[i] is None}
    while True:
        used = set().union(*(uses[i] for i in needed))
        more = {i for i, bound in enumerate(binds) if i not in needed and bound & used}
        if not more:
            return needed
        needed |= more


def _names(source: str) -> tuple[set[str], set[str] | None]:
    """The names that a cell uses, and those that it binds or may change: None where that cannot be told."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set(), None
    uses: set[str] = set()
    binds: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (uses if isinstance(node.ctx, ast.Load) else binds).add(node.id)
    for name in _changed(tree):
        if name == "*":
            return uses, None
        binds.add(name)
    return uses, binds


def _changed(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            yield from _base(node)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield from _base(node.value.func)


def _base(node: ast.AST) -> Iterator[str]:
    """The name at the beginning of `a.b[0].c`, where it is longer than the name."""
    inside = node
    while isinstance(inside, ast.Attribute | ast.Subscript):
        inside = inside.value
    if isinstance(inside, ast.Name) and inside is not node:
        yield inside.id
