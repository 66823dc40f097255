"""What counts of a kernel's operations, as FLOPs and as tiles: all but what an address or a mask is made of.

An operation is free where its result is not a float, where it is one of `OF_ADDRESSES`, and where all its operands are
free: then it comes from `arange`, from program ids and numbers, or from a table of integers that no program has
written. Whatever a float, or anything made of floats, has gone into counts, of whichever type it is: a truth value or
an integer computes as a float does. An operation that this module does not name counts.
"""

from operator import index
from typing import Any

OF_ADDRESSES = frozenset(
    {
        *("arange", "full", "load", "reshape", "transpose", "to", "where", "sum", "max", "min", "maximum", "minimum"),
        *("add", "subtract", "multiply", "floor_divide", "remainder", "bitwise_and", "bitwise_or", "invert"),
        *("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"),
    }
)
MOVES = frozenset({"arange", "full", "load", "store", "reshape", "transpose"})  # their results are no new numbers
REDUCTIONS = frozenset({"sum", "max", "min"})
FREE_SCALARS = 256  # bytes of single numbers alive at once that are no tile: a row's sum, its maximum, a scale


def is_free(name: str, result: Any, of_data: bool, from_table: bool) -> bool:
    """Whether an operation may be part of an address or a mask. `of_data`: one of its operands counts; `from_table`: it
    loads from integers that were there before the kernel began."""
    if result.dtype.kind == "f" or of_data or name not in OF_ADDRESSES:
        return False
    return name != "load" or from_table


def flops(name: str, inputs: list, result: Any, of_data: list[bool], axis: int | None = None) -> int:
    """The operations on numbers behind a result that counts; `of_data` says of each operand whether it counts.

    2MNK of a dot; one for each summand of a reduction, or of a running sum along `axis`, after the first; none where
    numbers are only moved, chosen by a mask that is free, or written as another type of number (a truth value is a
    comparison with 0); one for each element of any other result.
    """
    if name == "dot":
        return 2 * inputs[0].shape[0] * inputs[0].shape[1] * inputs[1].shape[1]
    if name in REDUCTIONS:
        return inputs[0].size - result.size
    if name == "cumsum":
        return result.size - result.size // max(1, result.shape[index(axis or 0)])
    if name in MOVES or (name == "where" and not of_data[0]):
        return 0
    if name == "to" and (not of_data[0] or result.dtype.kind != "b" or inputs[0].dtype.kind == "b"):
        return 0
    return result.size


class KernelTally:
    """Counts one program: FLOPs, and the most bytes of tiles that were alive; of single numbers those beyond
    `FREE_SCALARS`."""

    def __init__(self) -> None:
        self.flops = self.tile_bytes = 0
        self._counted: set[int] = set()  # results that are no part of an address or a mask
        self._tiles = self._scalars = 0

    def begin(
        self,
        number: int,
        name: str,
        operands: tuple,
        inputs: list,
        result: Any,
        from_table: bool,
        axis: int | None = None,
    ) -> None:
        """An operation of this number has been done; its operands are numbers of results, or constants in lists."""
        of_data = [not isinstance(operand, list) and operand in self._counted for operand in operands]
        if result is None or is_free(name, result, any(of_data), from_table):
            return
        self._counted.add(number)
        self.flops += flops(name, inputs, result, of_data, axis)
        self._add(result, result.nbytes)
        self.tile_bytes = max(self.tile_bytes, self._tiles + max(0, self._scalars - FREE_SCALARS))

    def end(self, number: int, result: Any) -> None:
        """Nothing uses a result any more."""
        if number in self._counted:
            self._add(result, -result.nbytes)

    def _add(self, result: Any, size: int) -> None:
        if result.ndim:
            self._tiles += size
        else:
            self._scalars += size
