"""The parts of an algorithm: the steps it yields, the blocks of its buffer, groups, and the registry.

An algorithm is a generator that plays one rank:

    def ring_allgather(rank, n, x):
        block = blocks(x, n)
        for k in range(n - 1):
            block[rank - k - 1][:] = yield Step(block[rank - k], to=(rank + 1) % n, frm=(rank - 1) % n)
        return x

It owns its buffer x and works in place. Of an array it uses `len`, slices, `x[a:b] = got`, `x[a:b] += got` and
`.nbytes`, so x may be a numpy array, a torch tensor, or an array without data. Who runs it is the driver's
matter: see `hwlib.simulate`.
"""

import inspect
import sys
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

from hwlib.notation import COLLECTIVES

Array = Any
"""A numpy array, a torch tensor, or a `Phantom`: this layer loads none of them."""


class Step(NamedTuple):
    """One message out, one message in, or both at once; what comes in is the value of the `yield`.

    `yield [Step(...), Step(...)]` does all of them at once, and its value is a list, with None for a step
    that only sends. What is sent is copied at that moment: it may be overwritten afterwards. A step with
    neither message takes no time.
    """

    send: Array | None = None
    to: int | None = None
    frm: int | None = None


Program = Generator[Step | list[Step], Any, Any]
"""One rank of an algorithm, running: yields steps, is sent what arrived, returns its result."""


def blocks(x: Array, n: int) -> list[Array]:
    """n views of x, of ceil(len(x)/n) elements each; the last ones are shorter, or empty."""
    if n < 1:
        raise ValueError(f"an array is cut into at least 1 block, got {n}")
    size = -(-len(x) // n)
    return [x[i * size : (i + 1) * size] for i in range(n)]


def parts_of_blocks(x: Array, n: int, m: int) -> list[list[Array]]:
    """Each of the n blocks of x cut into m parts: list k has part k of every block."""
    return [list(part) for part in zip(*(blocks(block, m) for block in blocks(x, n)), strict=True)]


def run_of(x: Array, n: int, first: int, count: int) -> Array:
    """A view of `count` of the n blocks of x that follow one another, from block `first` on."""
    size = -(-len(x) // n)
    return x[first * size : (first + count) * size]


def pieces(x: Array, counts: Sequence[int]) -> list[Array]:
    """Consecutive views of x with these numbers of elements. Raises ValueError if x is not that long."""
    if sum(counts) != len(x):
        raise ValueError(f"counts: {list(counts)} add up to {sum(counts)}, but the buffer has {len(x)} elements")
    return [x[end - count : end] for end, count in zip(accumulate(counts), counts, strict=True)]


def checked_root(root: int, n: int) -> int:
    """The root, if it is a rank. Raises ValueError."""
    if not 0 <= root < n:
        raise ValueError(f"root: a rank, 0 to {n - 1}, got {root!r}")
    return root


def copied(x: Array) -> Array:
    """A copy of an array's data, of the array's own kind."""
    return x.clone() if hasattr(x, "clone") else x.copy()


def joined(parts: Sequence[Array]) -> Array:
    """One new array, the parts after one another: so blocks that lie apart travel in one message.

    An array of a kind of its own joins by its method `joined`, which takes the list of parts.
    """
    first = parts[0]
    if hasattr(first, "joined"):
        return first.joined(parts)
    package = sys.modules[type(first).__module__.partition(".")[0]]  # numpy or torch, which made it
    return package.concatenate(list(parts))


def spread(data: Array, views: Sequence[Array], add: bool = False) -> None:
    """Writes data that was joined into the views that it belongs to, or adds it to them."""
    for view, part in zip(views, pieces(data, [len(view) for view in views]), strict=True):
        if add:
            view[:] += part
        else:
            view[:] = part


def at_once(programs: Sequence[Program]) -> Program:
    """Several programs of one rank side by side, step by step; returns the list of their results.

    Between two ranks the programs must send in the same order at both ends, as messages stay in order.
    """
    results: list[Any] = [None] * len(programs)
    got: dict[int, Any] = dict.fromkeys(range(len(programs)))
    while True:
        steps: dict[int, list[Step]] = {}
        alone: set[int] = set()
        for i, value in got.items():
            try:
                yielded = programs[i].send(value)
            except StopIteration as done:
                results[i] = done.value
                continue
            steps[i] = [yielded] if isinstance(yielded, Step) else yielded
            if isinstance(yielded, Step):
                alone.add(i)
        if not steps:
            return results
        values = iter((yield [step for some in steps.values() for step in some]))
        got = {i: [next(values) for _ in some] for i, some in steps.items()}
        got |= {i: got[i][0] for i in alone}


def within(group: Sequence[int], program: Program) -> Program:
    """The same program among the ranks of a group: its rank i is `group[i]`. So algorithms are composed:

    yield from within(row, ring_reduce_scatter(row.index(rank), len(row), x))
    """
    got = None
    while True:
        try:
            steps = program.send(got)
        except StopIteration as done:
            return done.value
        got = yield _translated(steps, group) if isinstance(steps, Step) else [_translated(s, group) for s in steps]


def _translated(step: Step, group: Sequence[int]) -> Step:
    to, frm = (None if rank is None else group[rank] for rank in (step.to, step.frm))
    return Step(step.send, to, frm)


@dataclass(frozen=True)
class RegisteredAlgorithm:
    """The record of a registered algorithm.

    `collective` names what it computes. `time` names the formula of `hwlib.collectives` that gives its time
    exactly, where there is one. `wires` says what a message occupies: the rank's one "port", or the "link"
    between the two ranks. `switch` is the program of the switch, where the network computes too.
    """

    name: str
    collective: str
    function: Callable[..., Program]
    time: str | None = None
    wires: str = "port"
    switch: Callable[..., Program] | None = None

    @property
    def options(self) -> dict[str, Any]:
        """The options beside rank, n and x, with their defaults."""
        extra = list(inspect.signature(self.function).parameters.values())[3:]
        return {p.name: None if p.default is p.empty else p.default for p in extra}

    def __call__(self, rank: int, n: int, x: Array, **options: Any) -> Program:
        return self.function(rank, n, x, **options)


class Registry(dict[str, RegisteredAlgorithm]):
    """Algorithms by name; the error for an unknown name lists similar ones."""

    def __missing__(self, name: object) -> RegisteredAlgorithm:
        raise self.none_called(name)

    def none_called(self, name: object) -> KeyError:
        """The error for an unknown name."""
        from hwlib.specs.table import unknown  # with all tables, which an algorithm has no use for

        return KeyError(unknown("algorithm", name, self))


ALGORITHMS = Registry()
"""Every algorithm of hwlib by its name."""

WIRES = ("port", "link")


def algorithm(
    collective: str,
    time: str | None = None,
    wires: str = "port",
    switch: Callable[..., Program] | None = None,
) -> Callable[[Callable[..., Program]], Callable[..., Program]]:
    """Registers a generator function under its name, in `ALGORITHMS`; the function stays what it is."""
    if collective not in COLLECTIVES or wires not in WIRES:
        raise ValueError(
            f"an algorithm does one of {', '.join(COLLECTIVES)} over wires of {' or '.join(WIRES)}, "
            f"not {collective!r} over {wires!r}"
        )

    def register(function: Callable[..., Program]) -> Callable[..., Program]:
        name = function.__name__
        ALGORITHMS[name] = RegisteredAlgorithm(name, collective, function, time, wires, switch)
        return function

    return register


def record_of(function: Any) -> RegisteredAlgorithm | None:
    """The record of a registered algorithm, given as the function, its name or the record; else None."""
    if isinstance(function, RegisteredAlgorithm):
        return function
    record = ALGORITHMS.get(function if isinstance(function, str) else getattr(function, "__name__", ""))
    return record if record and (isinstance(function, str) or record.function is function) else None


def found(algorithm: Any) -> tuple[RegisteredAlgorithm | None, Callable[..., Program]]:
    """The record, if there is one, and the function of an algorithm, given in any of these ways.

    Raises KeyError for an unknown name.
    """
    record = record_of(algorithm)
    if record is None and not callable(algorithm):
        raise ALGORITHMS.none_called(algorithm)
    return record, record.function if record else algorithm
