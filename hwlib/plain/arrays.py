"""The array: a shape over a list of numbers, of which slices, transposes and reshapes are views."""

from __future__ import annotations

from array import array as memory
from collections.abc import Iterator, Sequence
from itertools import compress, repeat
from math import prod
from typing import Any

from hwlib.plain.dtypes import BOOL, INT64, OF_KIND, cast, dtype, fitting, of_numbers
from hwlib.plain.indexing import Picked, Places, View, inside, pick
from hwlib.plain.strided import (
    Shape,
    broadcast_shapes,
    is_contiguous,
    read,
    reshaped,
    restrided,
    stretched,
    strides_of,
    write,
)

SEQUENCES = (list, tuple, range, memory)


class ndarray:
    """An array of any number of dimensions, as numpy's: made by `array`, `zeros` and the like."""

    __slots__ = ("_data", "_offset", "_strides", "_whole", "_writable", "dtype", "shape", "size")
    __hash__ = None  # type: ignore[assignment]

    _data: list[Any]
    _offset: int
    _strides: Shape | None
    _whole: bool
    _writable: bool
    dtype: dtype
    shape: Shape
    size: int

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.dtype.itemsize

    @property
    def T(self) -> ndarray:
        """The array with its axes in reverse."""
        return view(self, self._offset, self.shape[::-1], strides(self)[::-1])

    @property
    def flat(self) -> ndarray:
        """All elements along one axis."""
        return self.reshape(-1)

    @property
    def strides(self) -> Shape:
        """Bytes from an element to the next along each axis."""
        return tuple(by * self.dtype.itemsize for by in strides(self))

    @property
    def flags(self) -> dict[str, bool]:
        """Whether the elements lie one after another, and may be written."""
        return {"C_CONTIGUOUS": is_contiguous(self.shape, strides(self)), "WRITEABLE": self._writable}

    def setflags(self, write: bool = True) -> None:
        """Allow or forbid writing."""
        self._writable = write

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        if len(self.shape) == 1:
            return map(self.dtype.type, flat(self))
        return (self[i] for i in range(self.shape[0]))

    def __getitem__(self, index: Any) -> Any:
        kind = type(index)
        if len(self.shape) == 1:
            if kind is ndarray and index.dtype.kind in "iu":
                places = inside(flat(index), self.size)
                return made(list(map(flat(self).__getitem__, places)), index.shape, self.dtype)
            if kind is ndarray and index.dtype is BOOL and index.shape == self.shape:
                chosen = list(compress(flat(self), flat(index)))
                return made(chosen, (len(chosen),), self.dtype)
        elif kind is ndarray and index.dtype is BOOL and index.shape == self.shape:
            chosen = list(compress(flat(self), flat(index)))
            return made(chosen, (len(chosen),), self.dtype)
        picked = self._picked(index)
        if isinstance(picked, Picked):
            return made([self._data[place] for place in picked.places], picked.shape, self.dtype)
        if not picked.shape and not (kind is tuple and Ellipsis in [part for part in index if part is Ellipsis]):
            return self.dtype.type(self._data[picked.offset])
        return view(self, picked.offset, picked.shape, picked.strides)

    def __setitem__(self, index: Any, value: Any) -> None:
        if not self._writable:
            raise ValueError("assignment destination is read-only")
        data = self._data
        if type(index) is ndarray and self._whole and index.dtype is BOOL and index.shape == self.shape:
            places: Sequence[int] = list(compress(range(self.size), flat(index)))
            shape: Shape = (len(places),)
        elif type(index) is ndarray and self._whole and len(self.shape) == 1 and index.dtype.kind in "iu":
            places, shape = inside(flat(index), self.size), index.shape
        else:
            picked = self._picked(index)
            if isinstance(picked, View):
                values = self._values(value, picked.shape)
                write(data, picked.offset, picked.shape, picked.strides, values)
                return
            places, shape = picked.places, picked.shape
        for place, element in zip(places, self._values(value, shape), strict=True):
            data[place] = element

    def _values(self, value: Any, shape: Shape) -> list[Any]:
        """The elements of what is assigned to a part of that shape."""
        kind = type(value)
        if kind in (bool, int, float):
            if kind is int and self.dtype.kind in "iu":
                fitting(value, self.dtype)
            return cast([value], of_numbers([value]), self.dtype) * prod(shape)
        array = value if kind is ndarray else from_nested(value)
        while len(array.shape) > len(shape) and array.shape[0] == 1:
            array = array[0] if len(array.shape) > 1 else array.reshape(())
        if array.shape != shape:
            array = broadcast_to(array, shape)
        values = flat(array)
        if array.dtype is self.dtype:
            return values[:] if array._data is self._data else values
        return cast(values, array.dtype, self.dtype)

    def _picked(self, index: Any) -> View | Picked:
        parts = index if type(index) is tuple else (index,)
        return pick(self._offset, self.shape, strides(self), [_part(one) for one in parts])

    def reshape(self, *shape: Any, order: str = "C") -> ndarray:
        """The elements in another shape: a view where they lie one after another."""
        if order != "C":
            raise NotImplementedError(
                "the page's small numpy has one order of elements, C; open the notebook for others"
            )
        to = shape[0] if len(shape) == 1 and not hasattr(shape[0], "__index__") else shape
        to = reshaped(self.size, tuple(int(one) for one in to))
        by = strides_of(to) if self._whole else restrided(self.shape, strides(self), to)
        return made(flat(self), to, self.dtype) if by is None else view(self, self._offset, to, by)

    def ravel(self) -> ndarray:
        """The elements along one axis."""
        return self.reshape(-1)

    def flatten(self) -> ndarray:
        """A copy of the elements along one axis."""
        return made(flat(self)[:], (self.size,), self.dtype)

    def transpose(self, *axes: Any) -> ndarray:
        """A view with the axes in another order, or in reverse."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        if not order:
            return self.T
        order = [axis + self.ndim if axis < 0 else axis for axis in order]
        if sorted(order) != list(range(self.ndim)):
            raise ValueError("axes don't match array")
        by = strides(self)
        return view(self, self._offset, tuple(self.shape[i] for i in order), tuple(by[i] for i in order))

    def swapaxes(self, one: int, other: int) -> ndarray:
        """A view with two axes exchanged."""
        order = list(range(self.ndim))
        order[one], order[other] = order[other], order[one]
        return self.transpose(order)

    def squeeze(self, axis: int | None = None) -> ndarray:
        """A view without the axes of one element, or without that axis."""
        gone = {axis % self.ndim} if axis is not None else {i for i, size in enumerate(self.shape) if size == 1}
        if any(self.shape[i] != 1 for i in gone):
            raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
        keep = [i for i in range(self.ndim) if i not in gone]
        by = strides(self)
        return view(self, self._offset, tuple(self.shape[i] for i in keep), tuple(by[i] for i in keep))

    def astype(self, kind: Any, copy: bool = True) -> ndarray:
        """A copy in another type; the array itself where it has that type and `copy` is false."""
        to = dtype(kind)
        if to is self.dtype and not copy:
            return self
        values = flat(self)
        return made(cast(values, self.dtype, to) if to is not self.dtype else values[:], self.shape, to)

    def copy(self, order: str = "C") -> ndarray:  # noqa: ARG002
        """A copy that shares nothing."""
        return made(flat(self)[:], self.shape, self.dtype)

    def fill(self, value: Any) -> None:
        """Set every element."""
        self[...] = value

    def tolist(self) -> Any:
        """The numbers as Python's, in nested lists."""
        values = flat(self)
        if not self.shape:
            return values[0]
        for axis in range(len(self.shape) - 1, 0, -1):
            size = self.shape[axis]
            values = [values[i * size : (i + 1) * size] for i in range(prod(self.shape[:axis]))]
        return values[:] if len(self.shape) == 1 else values

    def item(self, *at: int) -> Any:
        """The one element, or the one at a place, as a Python number."""
        if at:
            return (flat(self)[at[0]] if len(at) == 1 else self[at].item()) if self.shape else flat(self)[0]
        if self.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return flat(self)[0]

    def tobytes(self) -> bytes:
        """The elements one after another, each with its lowest byte first."""
        from struct import pack

        return pack(f"<{self.size}{self.dtype.char}", *flat(self))

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
                if self.size
                else "The truth value of an empty array is ambiguous. Use `array.size > 0` to check that"
            )
        return bool(flat(self)[0])

    def __float__(self) -> float:
        return float(self._only())

    def __int__(self) -> int:
        return int(self._only())

    def __index__(self) -> int:
        if self.dtype.kind not in "iu" or self.shape:
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return self._only()

    def _only(self) -> Any:
        if self.size != 1:
            raise TypeError("only length-1 arrays can be converted to Python scalars")
        return flat(self)[0]

    def __copy__(self) -> ndarray:
        return self.copy()

    def __deepcopy__(self, _: Any) -> ndarray:
        return self.copy()

    def __reduce__(self) -> tuple:
        return made, (flat(self)[:], self.shape, self.dtype)


ndarray.__module__ = "numpy"  # as those that ask what a value is expect


def made(values: list[Any], shape: Shape, kind: dtype) -> ndarray:
    """An array over this list, which has as many numbers of that type as the shape says: nothing is checked."""
    new = object.__new__(ndarray)
    new._data, new._offset, new._strides, new._whole, new._writable = values, 0, None, True, True
    new.dtype, new.shape, new.size = kind, shape, len(values)
    return new


def view(of: ndarray, offset: int, shape: Shape, by: Shape) -> ndarray:
    """Other elements of an array's memory, or in another order."""
    new = object.__new__(ndarray)
    new._data, new._offset, new._strides, new._writable = of._data, offset, by, of._writable
    new.dtype, new.shape, new.size = of.dtype, shape, prod(shape)
    new._whole = offset == 0 and new.size == len(of._data) and is_contiguous(shape, by)
    return new


def strides(x: ndarray) -> Shape:
    """The strides, in elements."""
    if x._strides is None:
        x._strides = strides_of(x.shape)
    return x._strides


def flat(x: ndarray) -> list[Any]:
    """The elements in order; not to be changed, for it may be the array's own list."""
    return x._data if x._whole else read(x._data, x._offset, x.shape, strides(x))


def broadcast_to(given: Any, shape: int | Sequence[int]) -> ndarray:
    """A view that repeats the elements along axes of one element and along new ones; it is not to be written."""
    x = asarray(given)
    to = (shape,) if isinstance(shape, int) else tuple(shape)
    if x.shape == to:
        return x
    new = view(x, x._offset, to, stretched(x.shape, strides(x), to))
    new._whole = new._writable = False
    return new


def from_nested(given: Any, kind: dtype | None = None) -> ndarray:
    """An array of a number, or of nested sequences of numbers and arrays; ValueError where they are uneven."""
    if isinstance(given, ndarray):
        values, shape, of = flat(given), given.shape, given.dtype
    else:
        values, shape = _nested(given)
        of = of_numbers(values)
        if set(map(type, values)) != {python := OF_KIND[of.kind]}:
            values = list(map(python, values))
        if of is INT64 and values:
            within = kind if kind is not None and kind.kind in "iu" else of
            fitting(min(values), within)
            fitting(max(values), within)
    new = values[:] if kind is None or kind is of else cast(values, of, kind)
    return made(new if new is not values else values[:], shape, kind or of)


def _nested(given: Any) -> tuple[list[Any], Shape]:
    """The numbers, and the shape."""
    if isinstance(given, ndarray):
        return (list(map(given.dtype.type, flat(given))) if given.dtype.kind != "b" else flat(given)), given.shape
    if not isinstance(given, SEQUENCES):
        return [given], ()
    if not len(given):
        return [], (0,)
    if not any(issubclass(kind, (*SEQUENCES, ndarray)) for kind in set(map(type, given))):
        return list(given), (len(given),)
    parts = [_nested(one) for one in given]
    if len({shape for _, shape in parts}) > 1:
        raise ValueError("setting an array element with a sequence. The requested array has an inhomogeneous shape")
    return [one for values, _ in parts for one in values], (len(parts), *parts[0][1])


def asarray(given: Any, dtype: Any = None) -> ndarray:
    """The array itself where it is one of that type, else a new one."""
    kind = None if dtype is None else _dtype(dtype)
    if isinstance(given, ndarray) and (kind is None or given.dtype is kind):
        return given
    return from_nested(given, kind)


_dtype = dtype


def lists_of(*arrays: ndarray) -> tuple[Shape, list[Any]]:
    """The shape that arrays stretch to, and the elements of each in it: a list, or one that repeats without end
    beside a list."""
    first = arrays[0].shape
    shape = first if all(x.shape == first for x in arrays) else broadcast_shapes(*(x.shape for x in arrays))
    lists: list[Any] = []
    for x in arrays:
        if x.shape == shape:
            lists.append(flat(x))
        elif x.size == 1:
            lists.append(repeat(flat(x)[0]))
        else:
            lists.append(read(x._data, x._offset, shape, stretched(x.shape, strides(x), shape)))
    return shape, lists


def _part(one: Any) -> Any:
    """One part of an index, as `pick` takes it."""
    if type(one) is int:
        return one
    if one is None or one is Ellipsis or isinstance(one, slice):
        return one if not isinstance(one, slice) else slice(*map(_whole, (one.start, one.stop, one.step)))
    if not isinstance(one, bool) and isinstance(one, int) and getattr(one, "dtype", None) is not BOOL:
        return int(one)
    if isinstance(one, (ndarray, list, tuple, bool, int)):
        at = asarray(one)
        if at.dtype.kind in "biu" or not at.size:
            return Places(flat(at), at.shape, at.dtype is BOOL)
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    raise IndexError(
        "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are "
        "valid indices"
    )


def _whole(at: Any) -> Any:
    return at.__index__() if at is not None else None
