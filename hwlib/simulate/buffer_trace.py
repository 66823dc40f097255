"""The contents of every rank's buffer, block by block, step by step: a run that can be checked by eye.

    watched = watch(ring_allgather, 4, "all_gather")
    watched.steps[0], watched.steps[-1]

Each rank's buffer has one element a block, and rank r's share in it is the number 10**r. So a number says by its
digits whose shares are in a block: of four ranks, 1000 is rank 3's, 1111 the sum of all, and 1112 has rank 0's twice.
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hwlib.algorithms.protocol import Program, RegisteredAlgorithm, found
from hwlib.simulate.lockstep_run import LockstepRun, lockstep
from hwlib.simulate.mailbox import SimulationError

BlockTable = list[list[float]]
"""A row for each rank, a column for each block: the shares that are in it, as digits; 0 is nothing."""

MOST = 15  # digits that a float64 holds exactly
PATIENCE = 100  # messages between every two ranks, after which a run counts as endless

BEGINS: dict[str, Callable[[int, int], Sequence[int]]] = {
    "all_gather": lambda rank, n: [10**rank if block == rank else 0 for block in range(n)],
    "reduce_scatter": lambda rank, n: [10**rank] * n,
    "all_reduce": lambda rank, n: [10**rank] * n,
    "all_to_all": lambda rank, n: [10**rank] * n,
    "broadcast": lambda rank, n: [0 if rank else 1] * n,
    "reduce": lambda rank, n: [10**rank] * n,
    "gather": lambda rank, n: [10**rank if block == rank else 0 for block in range(n)],
    "scatter": lambda rank, n: [0 if rank else 1] * n,
}
"""What rank of n ranks begins with, by collective; the root is rank 0."""


@dataclass(frozen=True)
class BufferTrace:
    """What each rank had before its first step, after it, after the second, and so on.

    `steps` are tables; a rank that has ended stays as it was. `run` is the run itself, or None where it
    failed, and then `failure` says why.
    """

    name: str
    collective: str
    steps: list[BlockTable]
    run: LockstepRun | None = None
    failure: str = ""


def watch(
    algorithm: Callable[..., Any] | RegisteredAlgorithm | str, n: int, collective: str = "", **options: Any
) -> BufferTrace:
    """Runs an algorithm in lockstep on n ranks, and records their buffers between the steps.

    `collective` says what the ranks begin with; a registered algorithm's is known. An algorithm that fails or is
    unfinished is traced up to that point, and one that does not end for a limited time. Raises ValueError for a
    collective or a number of ranks that cannot be watched, and KeyError for an unknown algorithm.
    """
    import numpy as np

    record, function = found(algorithm)
    collective = collective or (record.collective if record else "")
    if collective not in BEGINS:
        raise ValueError(f"watch: collective is one of {', '.join(BEGINS)}, got {collective!r}")
    if n not in range(1, MOST + 1):
        raise ValueError(f"watch: 1 to {MOST} ranks, got {n!r}")
    name = getattr(function, "__name__", "the algorithm")
    inputs = [np.array(BEGINS[collective](rank, n), float) for rank in range(n)]
    seen: list[list[Any]] = [[] for _ in range(n)]
    if not inspect.isgeneratorfunction(inspect.unwrap(function)):
        failure = f"{name} has no `yield Step(...)` yet: no rank sends anything"
        return BufferTrace(name, collective, [_table(inputs)], failure=failure)
    try:
        run = lockstep(_watching(function, seen), inputs, **{"limit": PATIENCE * n * n, **options})
    except SimulationError as error:
        return BufferTrace(name, collective, _steps(seen, inputs), failure=str(error))
    except Exception as error:  # the program's own: any
        where = "; ".join(getattr(error, "__notes__", []))
        failure = f"{type(error).__name__}: {error}" + (f" ({where})" if where else "")
        return BufferTrace(name, collective, _steps(seen, inputs), failure=failure)
    steps = _steps(seen, inputs)
    return BufferTrace(name, collective, _ended(steps, run, n), run)


def _watching(function: Callable[..., Program], seen: list[list[Any]]) -> Callable[..., Program]:
    """The same algorithm, of which every rank's buffer is copied before each step and at the end."""

    def program(rank: int, n: int, x: Any, **options: Any) -> Program:
        inner, got = function(rank, n, x, **options), None
        while True:
            try:
                step = inner.send(got)
            except StopIteration as end:
                seen[rank].append(x.copy())
                return end.value
            seen[rank].append(x.copy())
            got = yield step

    return program


def _steps(seen: list[list[Any]], inputs: list[Any]) -> list[BlockTable]:
    count = max(map(len, seen)) or 1
    rows = [states or [x] for states, x in zip(seen, inputs, strict=True)]
    return [_table([states[min(k, len(states) - 1)] for states in rows]) for k in range(count)]


def _ended(steps: list[BlockTable], run: LockstepRun, n: int) -> list[BlockTable]:
    """The steps, with what was returned in the place of the last buffer where that is a whole array of its own."""
    last = [
        [float(v) for v in out] if getattr(out, "shape", None) == (n,) else row
        for out, row in zip(run.outputs, steps[-1], strict=True)
    ]
    return [*steps[:-1], last]


def _table(buffers: Sequence[Any]) -> BlockTable:
    return [[float(value) for value in buffer] for buffer in buffers]
