"""Functions of numpy's that ask an array or a type what it is, or are methods of arrays too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any

from hwlib.plain.arrays import asarray, broadcast_to, flat, made, ndarray
from hwlib.plain.dtypes import BOOL, FLOAT64, dtype, generic, limits, promoted, with_weak


def shape(x: Any) -> tuple[int, ...]:
    """The shape of an array or a number."""
    return asarray(x).shape


def ndim(x: Any) -> int:
    """The number of axes."""
    return asarray(x).ndim


def size(x: Any, axis: int | None = None) -> int:
    """The number of elements, or of those along an axis."""
    return asarray(x).size if axis is None else asarray(x).shape[axis]


def reshape(x: Any, shape: Any) -> ndarray:
    """The elements in another shape."""
    return asarray(x).reshape(shape)


def ravel(x: Any) -> ndarray:
    """The elements along one axis."""
    return asarray(x).reshape(-1)


def transpose(x: Any, axes: Any = ()) -> ndarray:
    """The axes in another order, or in reverse."""
    return asarray(x).transpose(axes if axes is not None else ())


def squeeze(x: Any, axis: int | None = None) -> ndarray:
    """Without the axes of one element."""
    return asarray(x).squeeze(axis)


def swapaxes(x: Any, one: int, other: int) -> ndarray:
    """With two axes exchanged."""
    return asarray(x).swapaxes(one, other)


def copyto(to: ndarray, x: Any, where: Any = True) -> None:
    """Write an array into another, where the mask is true."""
    if where is True:
        to[...] = x
    else:
        mask = broadcast_to(where, to.shape)
        to[mask] = broadcast_to(x, to.shape)[mask]


def iscomplex(x: Any) -> Any:
    """False, for there are no complex numbers here."""
    return made([False] * asarray(x).size, shape(x), BOOL) if shape(x) else False


def isscalar(x: Any) -> bool:
    """Whether it is a number or a text and not an array."""
    return isinstance(x, (generic, bool, int, float, str))


def result_type(*given: Any) -> dtype:
    """The type of what is made of arrays, types and Python's numbers."""
    strong, weak = None, []
    for operand in given:
        if type(operand) in (int, float):
            weak.append(type(operand))
        else:
            kind = dtype(operand) if not isinstance(operand, (list, tuple, bool)) else asarray(operand).dtype
            strong = kind if strong is None else promoted(strong, kind)
    for operand in weak:
        strong = dtype(operand) if strong is None else with_weak(strong, operand)
    return strong or FLOAT64


def promote_types(one: Any, other: Any) -> dtype:
    """The smallest type that holds the numbers of both."""
    return promoted(dtype(one), dtype(other))


def issubdtype(kind: Any, of: Any) -> bool:
    """Whether a type is one of a kind, as `np.floating`."""
    base = of if isinstance(of, type) and issubclass(of, generic) else dtype(of).type
    return issubclass(dtype(kind).type, base)


class finfo:
    """What a type of floats holds."""

    def __init__(self, kind: Any):
        self.dtype = dtype(kind)
        self.bits, self.nmant = 8 * self.dtype.itemsize, {2: 10, 4: 23, 8: 52}[self.dtype.itemsize]
        top = {2: 16, 4: 128, 8: 1024}[self.dtype.itemsize]
        make = self.dtype.type
        self.eps = make(2.0**-self.nmant)
        self.max = make((2 - 2.0**-self.nmant) * 2.0 ** (top - 1))
        self.min, self.tiny = make(-float(self.max)), make(2.0 ** (2 - top))


class iinfo:
    """What a type of whole numbers holds."""

    def __init__(self, kind: Any):
        self.dtype = dtype(kind)
        self.bits = 8 * self.dtype.itemsize
        self.min, self.max = limits(self.dtype)


@contextmanager
def errstate(**_: str) -> Iterator[None]:
    """Nothing: no function here warns."""
    yield


def seterr(**_: str) -> dict[str, str]:
    """Nothing: no function here warns."""
    return {}


@contextmanager
def printoptions(**_: Any) -> Iterator[None]:
    """Nothing: arrays are printed in one way."""
    yield


def set_printoptions(**_: Any) -> None:
    """Nothing: arrays are printed in one way."""


def ndenumerate(x: Any) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Places and elements."""
    of = asarray(x)
    return zip(ndindex(of.shape), map(of.dtype.type, flat(of)), strict=True)


def ndindex(*sizes: Any) -> Iterator[tuple[int, ...]]:
    """The places of a shape."""
    shape = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], tuple) else sizes
    return product(*map(range, shape))
