"""A learner's kernel, where its code is: each call gives what one program of the grid does, as plain data.

No number of an array reaches the learner's process and no result comes from it, so what a kernel loads, stores and
computes is counted by the judge, who does it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any


class Traced:
    """Calls of a kernel: `traced(at, grid, values, types)` is the list of operations of the program at `at`."""

    def __init__(self, kernel: Callable[..., None]):
        self.kernel = kernel

    def __call__(
        self, at: Iterable[int], grid: Iterable[int], values: Mapping[str, Any], types: Mapping[str, str]
    ) -> list[list[Any]]:
        """Run the kernel as one program. Raises KernelError, and whatever its code raises."""
        from hwlib import tl

        pointers = {name: tl.Pointer(name, tl.DTYPES[dtype]) for name, dtype in types.items()}
        (i, j, k), (x, y, z) = at, grid
        program = tl.record(self.kernel, (i, j, k), (x, y, z), {**pointers, **values})
        return [[name, list(operands), options] for name, operands, options in program.operations]


def programs(
    call: Callable[[tuple], Any], grid: tuple[int, int, int], values: Mapping[str, Any], types: Mapping[str, str]
) -> Iterator[Any]:
    """The programs of a grid, from calls of `Traced` in another process. KernelError for what is not a record."""
    from hwlib import tl

    for at in tl.places(grid):
        operations = call((list(at), list(grid), dict(values), dict(types)))
        program = tl.Program(at, grid)
        if type(operations) is not list or len(operations) > tl.MOST_OPERATIONS:
            raise tl.KernelError("what a kernel does is no list of operations", "no-record")
        for number, operation in enumerate(operations):
            if not _is_operation(operation, number):
                raise tl.KernelError(f"operation {number} of program {program.place} is none", "no-record")
            program.operations.append((operation[0], tuple(operation[1]), operation[2]))
        yield program


def _is_operation(one: Any, number: int) -> bool:
    if type(one) is not list or [type(part) for part in one] != [str, list, dict]:
        return False
    known = lambda operand: type(operand) is int and 0 <= operand < number
    constant = lambda operand: type(operand) is list and len(operand) == 1 and type(operand[0]) in (bool, int, float)
    return all(known(operand) or constant(operand) for operand in one[1])
