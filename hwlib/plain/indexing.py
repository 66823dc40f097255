"""What an index picks of an array: a view, or places in its memory."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from math import prod
from typing import Any, NamedTuple

from hwlib.plain.strided import Shape, broadcast_shapes, read, stretched, strides_of

PLAIN = {int, slice}


class Places(NamedTuple):
    """An array as an index: its elements are whole numbers, or truth values."""

    flat: Sequence[Any]
    shape: Shape
    truths: bool


class View(NamedTuple):
    """Where the elements of a view lie."""

    offset: int
    shape: Shape
    strides: Shape


class Picked(NamedTuple):
    """Elements at any places of the memory."""

    places: Sequence[int]
    shape: Shape


def pick(offset: int, shape: Shape, strides: Shape, index: Sequence[Any]) -> View | Picked:
    """What an index picks of an array that lies so; its parts are ints, slices, None, ... and `Places`. IndexError
    where it does not fit."""
    if len(index) <= len(shape) and {*map(type, index)} <= PLAIN:
        return _sliced(offset, shape, strides, index)
    parts = _expanded(index, shape)
    advanced = any(isinstance(part, Places) for part in parts)
    axes: list[tuple[int, int]] = []  # (size, stride) of each axis of the view
    at: list[tuple[int, Places]] = []  # (axis of the view before which it belongs, elements)
    spread: list[int] = []  # strides of what `at` picks along
    sizes, axis = [], 0
    for part in parts:
        if part is None:
            axes.append((1, 0))
            continue
        size, by = shape[axis], strides[axis]
        axis += 1
        if isinstance(part, slice):
            start, stop, step = part.indices(size)
            axes.append((len(range(start, stop, step)), by * step))
            offset += start * by if axes[-1][0] else 0
        elif isinstance(part, Places) or advanced:
            at.append((len(axes), part if isinstance(part, Places) else Places([part], (), False)))
            spread.append(by)
            sizes.append((size, axis - 1))
        else:
            offset += _inside(part, size, axis - 1) * by
    view = View(offset, tuple(size for size, _ in axes), tuple(by for _, by in axes))
    return _picked(view, at, spread, sizes) if advanced else view


def _sliced(offset: int, shape: Shape, strides: Shape, index: Sequence[int | slice]) -> View:
    """The same of ints and slices alone, as most indices are: quicker."""
    sizes, steps = [], []
    for axis, part in enumerate(index):
        size, by = shape[axis], strides[axis]
        if isinstance(part, slice):
            start, stop, step = part.indices(size)
            sizes.append(len(range(start, stop, step)))
            steps.append(by * step)
            offset += start * by if sizes[-1] else 0
        else:
            offset += _inside(part, size, axis) * by
    used = len(index)
    return View(offset, (*sizes, *shape[used:]), (*steps, *strides[used:]))


def _expanded(index: Sequence[Any], shape: Shape) -> list[Any]:
    """The parts with ... written out and truth values replaced by the places where they hold."""
    widths = [
        0 if part is None or part is Ellipsis else len(part.shape) if isinstance(part, Places) and part.truths else 1
        for part in index
    ]
    axes, used = len(shape), sum(widths)
    if used > axes:
        raise IndexError(f"too many indices for array: array is {axes}-dimensional, but {used} were indexed")
    if sum(part is Ellipsis for part in index) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    rest: list[Any] = [slice(None)] * (axes - used)
    parts: list[Any] = []
    axis = 0
    for part, width in zip(index, widths, strict=True):
        if part is Ellipsis:
            parts += rest
            axis += len(rest)
        elif isinstance(part, Places) and part.truths:
            parts += _where(part, shape[axis : axis + width], axis)
        else:
            parts.append(part)
        axis += width
    return parts if any(part is Ellipsis for part in index) else parts + rest


def _where(part: Places, shape: Shape, axis: int) -> list[Places]:
    for at, (size, wide) in enumerate(zip(shape, part.shape, strict=True), axis):
        if size != wide:
            raise IndexError(
                f"boolean index did not match indexed array along axis {at}; size of axis is {size} but "
                f"size of corresponding boolean axis is {wide}"
            )
    flat_places = list(compress(range(len(part.flat)), part.flat))
    return [
        Places([one // by % size for one in flat_places], (len(flat_places),), False)
        for size, by in zip(part.shape, strides_of(part.shape), strict=True)
    ]


def _inside(at: int, size: int, axis: int) -> int:
    if not -size <= at < size:
        raise IndexError(f"index {at} is out of bounds for axis {axis} with size {size}")
    return at + size if at < 0 else at


def _picked(view: View, at: list[tuple[int, Places]], spread: list[int], sizes: list[tuple[int, int]]) -> Picked:
    try:
        shape = broadcast_shapes(*(part.shape for _, part in at))
    except ValueError as error:
        raise IndexError(f"shape mismatch: indexing arrays: {error}") from None
    inner = [0] * prod(shape)
    for (_, part), by, (size, axis) in zip(at, spread, sizes, strict=True):
        whole = inside(part.flat, size, axis)
        if part.shape != shape:
            whole = read(whole, 0, shape, stretched(part.shape, strides_of(part.shape), shape))
        inner = [sofar + one * by for sofar, one in zip(inner, whole, strict=True)]
    first = at[0][0] if len({axis for axis, _ in at}) == 1 else 0
    before = _places(view.offset, view.shape[:first], view.strides[:first])
    after = _places(0, view.shape[first:], view.strides[first:])
    places = [a + b for a in before for b in inner] if len(before) > 1 or before[0:1] != [0] else inner
    if after != [0]:
        places = [a + b for a in places for b in after]
    return Picked(places, view.shape[:first] + shape + view.shape[first:])


def inside(places: Sequence[int], size: int, axis: int = 0) -> Sequence[int]:
    """The places, negative ones counted from the end; IndexError for one beyond."""
    if not places:
        return places
    low, high = min(places), max(places)
    if low < -size or high >= size:
        _inside(low if low < -size else high, size, axis)
    return [one + size if one < 0 else one for one in places] if low < 0 else places


def _places(offset: int, shape: Shape, strides: Shape) -> list[int]:
    places = [offset]
    for size, by in zip(shape, strides, strict=True):
        places = [one + i * by for one in places for i in range(size)]
    return places
