"""Reading and writing a list as an array of some shape: along each axis it goes on by a stride, counted in elements."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

Shape = tuple[int, ...]


class AxisError(ValueError, IndexError):
    """An axis that an array does not have."""


def axis_of(axis: int, axes: int) -> int:
    """The axis, a negative one counted from the end; AxisError where an array of so many axes lacks it."""
    if not -axes <= axis < axes:
        raise AxisError(f"axis {axis} is out of bounds for array of dimension {axes}")
    return axis % axes


def strides_of(shape: Shape) -> Shape:
    """The strides of an array whose elements lie one after another, the last axis fastest."""
    steps, step = [], 1
    for size in reversed(shape):
        steps.append(step)
        step *= size
    return tuple(reversed(steps))


def is_contiguous(shape: Shape, strides: Shape) -> bool:
    """Whether the elements lie one after another; an axis of one element may have any stride."""
    step = 1
    for size, by in zip(reversed(shape), reversed(strides), strict=True):
        if size != 1 and by != step:
            return False
        step *= size
    return True


def read(data: Sequence[Any], offset: int, shape: Shape, strides: Shape) -> list[Any]:
    """The elements in a list of their own, the last axis fastest."""
    if not shape:
        return [data[offset]]
    count = prod(shape)
    if count == 0:
        return []
    if is_contiguous(shape, strides):
        return list(data[offset : offset + count])
    (size, *rest), (by, *steps) = shape, strides
    if not rest:
        return list(_line(data, offset, size, by))
    if by == 0:
        return read(data, offset, tuple(rest), tuple(steps)) * size
    if len(rest) == 1:
        ((wide,), (step,)) = rest, steps
        if step == 0:
            return [one for one in _line(data, offset, size, by) for _ in range(wide)]
        out: list[Any] = []
        for at in range(offset, offset + size * by, by):
            out += _line(data, at, wide, step)
        return out
    inner, across = tuple(rest), tuple(steps)
    return [one for at in range(offset, offset + size * by, by) for one in read(data, at, inner, across)]


def write(data: list[Any], offset: int, shape: Shape, strides: Shape, values: list[Any]) -> None:
    """Put as many values there, the last axis fastest."""
    if not values:
        return
    if is_contiguous(shape, strides):
        data[offset : offset + len(values)] = values
    elif len(shape) == 1:
        by = strides[0]
        stop: int | None = offset + shape[0] * by
        data[offset : (None if stop is not None and stop < 0 else stop) : by] = values
    else:
        inner, size = shape[1:], len(values) // shape[0]
        for i in range(shape[0]):
            write(data, offset + i * strides[0], inner, strides[1:], values[i * size : (i + 1) * size])


def _line(data: Sequence[Any], offset: int, size: int, by: int) -> Sequence[Any]:
    if by == 0:
        return [data[offset]] * size
    stop: int | None = offset + size * by
    return data[offset : (None if stop is not None and stop < 0 else stop) : by]


def broadcast_shapes(*shapes: int | Shape) -> Shape:
    """The shape of what is made of arrays of these shapes: axes of one element stretch. ValueError where they do not
    go together."""
    tuples: list[Shape] = [(shape,) if isinstance(shape, int) else tuple(shape) for shape in shapes]
    axes = max(map(len, tuples), default=0)
    out = [1] * axes
    for shape in tuples:
        for at, size in enumerate(shape, axes - len(shape)):
            if size != 1 and out[at] != size:
                if out[at] != 1:
                    texts = " ".join(str(one).replace(" ", "") for one in tuples)
                    raise ValueError(f"operands could not be broadcast together with shapes {texts}")
                out[at] = size
    return tuple(out)


def stretched(shape: Shape, strides: Shape, to: Shape) -> Shape:
    """The strides of an array seen in a larger shape; ValueError where it does not stretch to it."""
    if len(shape) > len(to) or any(
        size not in (1, wide) for size, wide in zip(reversed(shape), reversed(to), strict=False)
    ):
        raise ValueError(f"could not broadcast input array from shape {shape} into shape {to}".replace(", ", ","))
    steps = (0 if size == 1 else by for size, by in zip(shape, strides, strict=True))
    return (0,) * (len(to) - len(shape)) + tuple(steps)


def restrided(shape: Shape, strides: Shape, to: Shape) -> Shape | None:
    """The strides of a view in another shape of as many elements; None where no strides reach them in order."""
    if 0 in shape or is_contiguous(shape, strides):
        return strides_of(to)
    axes = [(size, by) for size, by in zip(shape, strides, strict=True) if size != 1]
    new: list[int] = []
    while axes:
        (size, by), *axes = axes
        while axes and by == axes[0][0] * axes[0][1]:  # two axes that go on as one
            size, by = size * axes[0][0], axes[0][1]
            axes = axes[1:]
        part: list[int] = []
        while (count := prod(part)) < size and len(new) + len(part) < len(to):
            part.append(to[len(new) + len(part)])
        if count != size:
            return None
        new += [by * step for step in strides_of(tuple(part))]
    return (*new, *(1,) * (len(to) - len(new)))


def reshaped(size: int, shape: Shape) -> Shape:
    """The shape with its -1 worked out; ValueError where it has another number of elements."""
    if -1 in shape:
        rest = -prod(shape)
        if shape.count(-1) > 1:
            raise ValueError("can only specify one unknown dimension")
        if rest > 0 and size % rest == 0:
            shape = tuple(size // rest if one == -1 else one for one in shape)
    if prod(shape) != size or min(shape, default=0) < 0:
        raise ValueError(f"cannot reshape array of size {size} into shape {shape}".replace(", ", ","))
    return shape
