"""The ranks of a learner's algorithm, and the judge's side of them: the judge is the network between the ranks.

`Rank` runs in the learner's process and plays one rank: `start` it, then `send` it what arrived, and it replies
with its next steps or its result, as plain data. `Remote` is the judge's handle of that rank: a program that
`hwlib.simulate.run_programs` drives. Every message between two ranks passes through the judge, which checks
and counts it; only its numbers are forwarded, as a one-dimensional array of the exercise's own type, so
that neither a shape nor another type carries information that is not counted.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..declaration.calling import failure
from ..declaration.verdict import AnswerError
from ..declaration.withholding import Withheld, without
from ..values import encoding
from .arguments import numbers, positional

Call = Callable[[tuple], Any]
MAX_AT_ONCE = 4096  # steps in one yield

# How a rank fails: it is the stub; it is not a generator; it is not one and raises; it yields something other than a
# Step, sends something other than an array, or another dtype; raises; returns something that is not an answer; uses
# what is withheld; exceeds a limit; or its process is lost.
KINDS = ("empty", "generator", "silent", "step", "array", "dtype", "raises", "result", "withheld", "limit", "lost")


class RankFailed(Exception):
    """A rank cannot continue; `kind` is one of KINDS, `what` gives details from the learner's code."""

    def __init__(self, kind: str, what: str = "", rank: int = -1):
        super().__init__(f"{kind}: {what}")
        self.kind, self.what, self.rank = kind, what, rank


@dataclass
class Rank:
    """Plays one rank of a learner's generator function, in the learner's process. Call it with a request:

    ("start", rank, n, x, options) or ("send", rank, got); it replies ("steps", [(send, to,
    frm), ...], alone), ("done", result, changed) or ("failed", kind, what). x may be arrays by name.
    """

    function: Any
    withholds: Sequence[str] = ()
    program: Any = None
    x: Any = None
    before: Any = None  # what x held when it was given

    def __call__(self, what: str, *rest: Any) -> tuple:
        """The reply to a request."""
        try:
            with without(self.withholds, self.function):
                return self._start(*rest) if what == "start" else self._go_on(rest[1])
        except Withheld as used:
            return "failed", "withheld", used.name
        except RankFailed as failed:
            return "failed", failed.kind, failed.what
        except encoding.NotEncodable as error:
            return "failed", "result", str(error)
        except Exception as error:
            kind = "raises" if self.program is not None or _yields(self.function) else "silent"
            return "failed", kind, failure(error, self.function)

    def _start(self, rank: int, n: int, x: Any, options: dict[str, Any]) -> tuple:
        self.program, self.x, self.before = None, x, numbers(x)
        program = self.function(rank, n, *positional(x), **options)
        if type(program) is not types.GeneratorType:
            if program is None or program is ...:
                raise RankFailed("empty")
            raise RankFailed("generator", encoding.type_name(program))
        self.program = program
        return self._go_on(None)

    def _go_on(self, got: Any) -> tuple:
        from hwlib.algorithms import Step

        try:
            request = self.program.send(got)
        except StopIteration as end:
            self.program = None
            changed = numbers(self.x) != self.before
            return "done", encoding.plain(end.value), changed
        alone = type(request) is not list and type(request) is not tuple
        steps = [request] if alone else request
        for step in steps:
            if type(step) is not Step:
                raise RankFailed("step", encoding.type_name(step))
        if len(steps) > MAX_AT_ONCE:
            raise RankFailed("step", f"list of {len(steps)} steps")
        return "steps", [tuple(map(_part, step)) for step in steps], alone


def _yields(function: Any) -> bool:
    """Whether a function has a `yield`; True for a callable that is not a plain function, where this is unknown."""
    return not inspect.isfunction(function) or inspect.isgeneratorfunction(function)


def _part(value: Any) -> Any:
    """A part of a step as plain data; an array becomes one-dimensional."""
    try:
        value = encoding.plain(value)
    except encoding.NotEncodable:
        raise RankFailed("array", encoding.type_name(value)) from None
    return value.reshape(-1) if type(value).__name__ == "ndarray" else value


@dataclass
class Budget:
    """The total that the ranks of one run may request, so that every run ends, and the reason why one failed."""

    steps: int
    bytes: int
    failed: RankFailed | None = None
    first: Any = None  # the first number that a message held
    several: bool = False  # whether any message held another one

    def note(self, data: Any) -> None:
        """Look at the numbers of a message."""
        if self.several or not data.size:
            return
        self.first = data[0] if self.first is None else self.first
        self.several = bool((data != self.first).any())

    @property
    def only_number(self) -> Any:
        """What all messages held, and nothing else; None where there are others, or none."""
        return None if self.several else self.first

    def fail(self, kind: str, what: str, rank: int) -> RankFailed:
        """Keep the first failure: a driver may report it as its own."""
        failed = RankFailed(kind, what, rank)
        self.failed = self.failed or failed
        return failed


@dataclass
class Remote:
    """The judge's handle of a rank: `send` it what arrived, and it returns the next Step or raises StopIteration.

    Every reply is validated here, because a learner's process may reply anything. It sends numbers of `dtype` only, by
    default that of x.
    """

    call: Call
    rank: int
    n: int
    x: Any
    options: dict[str, Any]
    budget: Budget
    dtype: str = ""
    changed: bool = False
    started: bool = False

    def send(self, got: Any) -> Any:
        """The next Step, or a list of Steps. Raises RankFailed if there is none."""
        self.budget.steps -= 1
        if self.budget.steps < 0:
            raise self._failed("limit", "steps")
        request = ("send", self.rank, got) if self.started else self.start
        self.started = True
        try:
            reply = self.call(request)
        except AnswerError as error:
            raise self._failed("lost", str(error)) from None
        kind, *rest = reply if type(reply) is tuple and len(reply) == 3 else ("", "", "")
        if kind == "done":
            self.told(rest[1])
            raise StopIteration(rest[0])
        if kind == "failed" and rest[0] in KINDS and type(rest[1]) is str:
            raise self._failed(rest[0], rest[1])
        return self.step(kind, rest)

    @property
    def start(self) -> tuple:
        """What the rank is asked first."""
        return "start", self.rank, self.n, self.x, self.options

    def told(self, message: Any) -> None:
        """What a rank says of its run, beside its result: whether it has changed its arrays."""
        self.changed = message is True

    def step(self, kind: str, rest: Sequence[Any]) -> Any:
        """The Steps of a reply that is neither a result nor a failure."""
        if kind != "steps" or type(rest[0]) is not list or len(rest[0]) > MAX_AT_ONCE:
            raise self._failed("lost", "its reply could not be read")
        steps = [self._step(step) for step in rest[0]]
        return steps[0] if rest[1] is True and len(steps) == 1 else steps

    def _failed(self, kind: str, what: str) -> RankFailed:
        return self.budget.fail(kind, what, self.rank)

    def _step(self, parts: Any) -> Any:
        from hwlib.algorithms import Step

        if type(parts) is not tuple or len(parts) != 3:
            raise self._failed("step", encoding.type_name(parts))
        data, to, frm = parts
        for other in (to, frm):
            if other is not None and type(other) is not int:
                raise self._failed("step", f"Step to or from {str(other)[:40]!r}")
        if data is None:
            return Step(None, to, frm)
        if type(data).__name__ != "ndarray" or data.ndim != 1:
            raise self._failed("array", encoding.type_name(data))
        if data.dtype != (self.dtype or self.x.dtype):
            raise self._failed("dtype", str(data.dtype))
        self.budget.bytes -= data.nbytes
        if self.budget.bytes < 0:
            raise self._failed("limit", "bytes")
        self.budget.note(data)
        return Step(data, to, frm)


def remote_ranks(
    call: Call, inputs: Sequence[Any], options: dict[str, Any], budget: Budget, dtype: str = ""
) -> list[Remote]:
    """A `Remote` for each rank of a run, with `inputs[rank]` for its x, or its arrays by name."""
    return [Remote(call, rank, len(inputs), x, options, budget, dtype) for rank, x in enumerate(inputs)]
