"""An array without data: it has a length, a size in bytes and views, so that a simulation of terabytes is free.

x = Phantom(10**12, itemsize=2)
block = x[: len(x) // 1024]
block[:] += block            # checks the lengths, computes nothing
"""

import math
from collections.abc import Sequence
from typing import Any


class Phantom:
    """`count` elements of `itemsize` bytes each (0.5 for four-bit numbers), none of which exist.

    A slice is a view with its own length; assigning and adding check the lengths as numpy would, without
    broadcasting. Raises ValueError for an invalid count or size, and for lengths that differ.
    """

    __slots__ = ("count", "itemsize", "nbytes")

    def __init__(self, count: int, itemsize: float = 1):
        if isinstance(count, bool) or not hasattr(count, "__index__") or count < 0:
            raise ValueError(f"count: a whole number of elements, at least 0, got {count!r}")
        if isinstance(itemsize, bool) or not isinstance(itemsize, int | float) or not 0 < itemsize < math.inf:
            raise ValueError(f"itemsize: bytes per element, above 0, got {itemsize!r}")
        self.count, self.itemsize = count, itemsize
        self.nbytes: float = count * itemsize

    def _like(self, count: int) -> "Phantom":
        new = object.__new__(Phantom)
        new.count, new.itemsize, new.nbytes = count, self.itemsize, count * self.itemsize
        return new

    def __len__(self) -> int:
        return self.count

    @property
    def shape(self) -> tuple[int]:
        """As of a numpy array in one dimension."""
        return (self.count,)

    def __getitem__(self, part: slice) -> "Phantom":
        return self._like(self._length(part))

    def __setitem__(self, part: slice, value: "Phantom") -> None:
        self._same(self._length(part), value)

    def __iadd__(self, other: "Phantom") -> "Phantom":
        self._same(self.count, other)
        return self

    def __add__(self, other: "Phantom") -> "Phantom":
        self._same(self.count, other)
        return self

    def copy(self) -> "Phantom":
        """Itself: there is no data that could be overwritten."""
        return self

    def joined(self, parts: Sequence["Phantom"]) -> "Phantom":
        """One array as long as the parts together."""
        return self._like(sum(len(part) for part in parts))

    def __repr__(self) -> str:
        return f"Phantom({self.count}, itemsize={self.itemsize})"

    def _length(self, part: slice) -> int:
        if not isinstance(part, slice):
            raise TypeError(f"an array without data has slices, such as x[2:5], but no element x[{part!r}]")
        start, stop, step = part.indices(self.count)
        if step == 1:
            return stop - start if stop > start else 0
        return len(range(start, stop, step))

    @staticmethod
    def _same(count: int, value: Any) -> None:
        if (got := len(value)) != count:
            raise ValueError(f"an array of {got} elements does not fit into {count}")
