"""What a wrong array resembles, beside the expected one: looked for before two bare numbers are shown.

A sentence holds for all elements, whatever led to them, and ends with a question about the cause.

Reasons: of numbers, nearly-right, n-times, nth-part, other-multiple, twice, half, same-multiple, other-sign,
some-signs; of an order, transposed, reversed, rolled, rows-exchanged, elements-exchanged; of a part, input-added,
input-missing, negatives-lost, only-zeros-wrong; of a combination, too-far, with-another, all-shifted, rows-shifted,
rows-multiplied, ones-complement, squared.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Any

from ..values.finding import Finding

if TYPE_CHECKING:
    from .buffers import Case

CLOSE = 1e-9  # relative to the largest number: what adding in another order may change
SINGLE = 1e-5  # the same of float32
NEARLY = 1e-3  # as close as that everywhere is an epsilon, or numbers of 16 bits
SMALL = 1e-2  # of the largest number: below it, an element is measured by that
WHOLE = 1 << 24  # from which on float32 rounds whole numbers
NEARLY_WHOLE = 1e-6
FEW = 3  # elements that a multiple which is no size of the case must explain
FEWEST = 6  # elements of an array that may be a combination of two
ALIKE = 1e-6  # of two arrays of which one is nearly a multiple of the other, no share can be told
SLIGHT = 1e-4  # a share that rounding explains
PLANE = 2  # axes of an array of rows and columns
MOST_AXES = 4
MOST_NAMED = 3  # sizes that are named for one factor
MOST_SHIFTS = 8  # places from where a row may have been rolled
NEVER_SIZES = ("root",)


@dataclass(frozen=True)
class Resemblance:
    """An array of numbers and the expected one, of the same shape and not the same, with what the rank was given by
    name, and the sizes of the case."""

    got: Any
    want: Any
    inputs: Mapping[str, Any]
    sizes: Mapping[str, int]
    tolerance: float

    @classmethod
    def of(cls, case: Case, got: Any, want: Any, inputs: Any, rtol: float) -> Resemblance:
        """That of one result of a rank in a run; `inputs` is its array, or its arrays by name."""
        single = "float32" in (case.dtype, got.dtype.name, want.dtype.name)
        named = inputs if type(inputs) is dict else {"x": inputs}
        return cls(_plain(got), _plain(want), named, _sizes(case), max(rtol, SINGLE if single else CLOSE))

    def numbers(self) -> Iterator[Finding]:
        """Whether it is nearly the expected one, or a multiple of it."""
        import numpy as np

        if not self._finite():
            return
        with np.errstate(all="ignore"):
            yield from self._nearly()
            yield from self._multiple()
            if self._same(np.abs(self.got), np.abs(self.want)):
                yield Finding(": every number has the right size, but some have the other sign", "some-signs")

    def order(self) -> Iterator[Finding]:
        """Whether it has the right numbers in another order, or others in some places only."""
        import numpy as np

        if not self._finite() or not self.got.ndim:
            return
        with np.errstate(all="ignore"):
            yield from self._turned()
            yield from self._rolled()
            yield from self._exchanged()
            yield from self._partly()

    def combined(self, others: Mapping[str, Any]) -> Iterator[Finding]:
        """Whether it is the expected one with another array, of its inputs or of `others` by name, mixed in, shifted by
        a number, or with each row multiplied by one."""
        import numpy as np

        if not self._finite() or self.got.size < FEWEST:
            return
        with np.errstate(all="ignore"):
            for name, other in (*self._inputs(), *self._of_one_shape(others)):
                yield from self._mixed(name, other)
            yield from self._shifted()
            yield from self._row_by_row()
            yield from self._of_each()

    def _of_one_shape(self, others: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        import numpy as np

        for name, array in others.items():
            if _is_numbers(array) and array.shape == self.got.shape and np.isfinite(array).all():
                yield name, _plain(array)

    def _mixed(self, name: str, other: Any) -> Iterator[Finding]:
        """Some share of the expected one and some of another: of both the same multiple at every element."""
        first, second, mine = (array.reshape(-1) for array in (self.want, other, self.got))
        aa, ab, bb = (float((x * y).sum()) for x, y in ((first, first), (first, second), (second, second)))
        am, bm = float((first * mine).sum()), float((second * mine).sum())
        alike = aa * bb - ab * ab
        if alike <= ALIKE * aa * bb:
            return
        share, its = (am * bb - bm * ab) / alike, (bm * aa - am * ab) / alike
        if not self._same(self.got, share * self.want + its * other):
            return
        if min(abs(share), abs(its)) <= SLIGHT:
            return
        if math.isclose(share + its, 1, rel_tol=0, abs_tol=SLIGHT):
            way = "in the other direction" if share < 0 else f"{share:.4g} times as far"
            say = f": from {name} to what was expected, it goes {way}: a sign, a rate or a mean?"
            yield Finding(say, "too-far")
        else:
            part = "what was expected" if math.isclose(share, 1, abs_tol=SLIGHT) else f"{share:.4g} times that"
            say = (
                f": it is {part}, {'plus' if its > 0 else 'less'} {abs(its):.4g} times {name}: does that belong in it?"
            )
            yield Finding(say, "with-another")

    def _shifted(self) -> Iterator[Finding]:
        import numpy as np

        off = self.got - self.want
        if self._same(off - off.flat[0] + self.want, self.want):
            yield Finding(": all of it is off by the same number: is something added once too often?", "all-shifted")
        for axis in range(self.got.ndim) if self.got.ndim > 1 else ():
            if self.got.shape[axis] > 1 and self._same(off - np.take(off, [0], axis) + self.want, self.want):
                line = self._line(axis)
                say = f": each {line} is off by one number, another for each {line}: what is added or taken off there?"
                yield Finding(say, "rows-shifted")

    def _line(self, axis: int) -> str:
        """What the elements along an axis are together."""
        return "row" if axis == self.got.ndim - 1 else "column" if self.got.ndim == PLANE else "slice"

    def _row_by_row(self) -> Iterator[Finding]:
        import numpy as np

        for axis in range(self.got.ndim) if self.got.ndim > 1 else ():
            if self.got.shape[axis] < FEW:
                continue
            over = (self.want * self.want).sum(axis=axis, keepdims=True)
            factor = np.where(over > 0, (self.got * self.want).sum(axis=axis, keepdims=True) / over, 0.0)
            if self._same(self.got, factor * self.want) and (np.abs(factor) > SLIGHT).all():
                line = self._line(axis)
                say = f": each {line} is a multiple of what it should be, by a factor of its own: "
                yield Finding(f"{say}is the sum, the norm or the scale of a {line} wrong?", "rows-multiplied")

    def _of_each(self) -> Iterator[Finding]:
        import numpy as np

        if self._same(self.got, 1 - self.want):
            yield Finding(": each element is one less what was expected: the other part?", "ones-complement")
        if self._same(self.got, self.want * self.want):
            yield Finding(": each element is the square of what was expected", "squared")
        if (self.want >= 0).all() and self._same(self.got, np.sqrt(self.want)):
            yield Finding(": each element is the root of what was expected", "squared")

    def _finite(self) -> bool:
        import numpy as np

        return bool(self.got.size and np.isfinite(self.got).all() and np.isfinite(self.want).all())

    def _same(self, mine: Any, other: Any) -> bool:
        import numpy as np

        largest = np.abs(other).max()
        return bool(np.isfinite(largest) and (np.abs(mine - other) <= self.tolerance * largest).all())

    def _nearly(self) -> Iterator[Finding]:
        import numpy as np

        sizes = np.abs(self.want)
        largest = sizes.max()
        whole = all(bool((array == np.floor(array)).all()) for array in (self.got, self.want))
        if whole and largest < WHOLE:
            return
        within = (NEARLY_WHOLE if whole else NEARLY) * np.maximum(sizes, SMALL * largest)
        if (np.abs(self.got - self.want) <= within).all():
            say = ": all of it is very close, but not exact: an epsilon, or a narrower type?"
            yield Finding(say, "nearly-right")

    def _multiple(self) -> Iterator[Finding]:
        import numpy as np

        at = int(np.abs(self.want).argmax())
        most = float(self.want.flat[at])
        ratio = float(self.got.flat[at]) / most if most else 0.0
        if not ratio or not math.isfinite(ratio) or not self._same(self.got, self.want * ratio):
            return
        turned = " and has the other sign" if ratio < 0 else ""
        factor = abs(ratio)
        if ratio < 0 and self._is(factor, 1):
            yield Finding(": all of it has the other sign: a plus for a minus?", "other-sign")
        elif words := self._named(factor):
            say = f": all of it is {self._times(factor)}{turned}, {' or '.join(words)}. "
            say += "A sum, where a mean is asked for?" if factor > 1 else "A mean, where a sum is asked for?"
            n = words[0].startswith("n =")
            yield Finding(say, ("n-times" if factor > 1 else "nth-part") if n else "other-multiple")
        elif self._is(factor, 2):
            yield Finding(f": all of it is twice as much{turned}: is something counted twice?", "twice")
        elif self._is(factor, 0.5):
            yield Finding(f": all of it is half as much{turned}: is something halved, or left out?", "half")
        elif int((np.abs(self.want) > SMALL * abs(most)).sum()) >= FEW:
            say = f": all of it is {factor:.6g} times as much{turned}: is a factor missing, or too many?"
            yield Finding(say, "same-multiple")

    def _is(self, factor: float, value: float) -> bool:
        return math.isclose(factor, value, rel_tol=self.tolerance)

    def _times(self, factor: float) -> str:
        return f"{factor:.0f} times as much" if factor > 1 else f"1/{1 / factor:.0f} of that"

    def _named(self, factor: float) -> list[str]:
        """The sizes of the case that make this factor, or its reciprocal: "n = 4", and products of two."""
        value = max(factor, 1 / factor)
        n = self.sizes["n"]
        singly = [*self.sizes.items(), *((f"n/{name}", n // size) for name, size in self.sizes.items() if not n % size)]
        products = [
            (f"{first} x {second}", size * other)
            for (first, size), (second, other) in combinations(self.sizes.items(), 2)
        ]
        rows = [(name, size) for name, size in (*singly, *products) if size > 1 and self._is(value, size)]
        return [f"{name} = {size:.0f}" for name, size in rows[:MOST_NAMED]]

    def _turned(self) -> Iterator[Finding]:
        import numpy as np

        axes = range(self.got.ndim)
        for order in [*permutations(axes)][1:] if len(axes) <= MOST_AXES else ():
            turned = self.want.transpose(order)
            if turned.shape == self.got.shape and self._same(self.got, turned):
                yield Finding(": it is the transposed", "transposed")
        for axis in axes:
            if self._same(self.got, np.flip(self.want, axis)):
                say = f": it has the right numbers in the reverse order{self._along(axis)}"
                yield Finding(say, "reversed")

    def _along(self, axis: int) -> str:
        return f" along axis {axis}" if self.got.ndim > 1 else ""

    def _rolled(self) -> Iterator[Finding]:
        import numpy as np

        for axis, length in enumerate(self.got.shape):
            first = np.take(self.got, [0], axis)
            away = np.abs(self.want - first)
            others = tuple(other for other in range(self.got.ndim) if other != axis)
            starts = (away <= self.tolerance * np.abs(self.want).max()).all(others).nonzero()[0]
            for start in map(int, starts[:MOST_SHIFTS]):
                if self._same(self.got, np.roll(self.want, -start, axis)):
                    places = min(start, length - start)
                    say = f": it has the right numbers, {places} place{'s' if places > 1 else ''} further on or back "
                    say += f"around{self._along(axis)}: the wrong direction, or an index that is off?"
                    yield Finding(say, "rolled")

    def _exchanged(self) -> Iterator[Finding]:
        import numpy as np

        for axis, length in enumerate(self.got.shape) if self.got.ndim > 1 else ():
            mine, its = (np.moveaxis(array, axis, 0).reshape(length, -1) for array in (self.got, self.want))
            weights = np.cos(np.arange(mine.shape[1]))  # each row then has a number of its own
            if self._same(mine[np.argsort(mine @ weights)], its[np.argsort(its @ weights)]):
                what = "rows" if axis == 0 else f"slices along axis {axis}"
                yield Finding(f": it has the right {what} in another order", "rows-exchanged")
        if self._same(np.sort(self.got, None), np.sort(self.want, None)):
            yield Finding(": it has the right numbers in another order", "elements-exchanged")

    def _partly(self) -> Iterator[Finding]:
        import numpy as np

        for name, value in self._inputs():
            if self._same(self.got, self.want + value):
                yield Finding(f": that is {name} added to what was expected", "input-added")
            if self._same(self.got, self.want - value):
                yield Finding(f": that is what was expected without {name}: is it not added?", "input-missing")
        if (self.want > 0).any() and self._same(self.got, np.maximum(self.want, 0)):
            yield Finding(": it has 0 for every negative number, and is right elsewhere", "negatives-lost")
        wrong = np.abs(self.got - self.want) > self.tolerance * np.abs(self.want).max()
        if not self.got[wrong].any() and self.got[~wrong].any():
            say = ": what is wrong is 0, all else is right: is something left out, or never written?"
            yield Finding(say, "only-zeros-wrong")

    def _inputs(self) -> Iterator[tuple[str, Any]]:
        """Those of the same shape, by name."""
        import numpy as np

        for name, array in self.inputs.items():
            if _is_numbers(array) and array.shape == self.got.shape:
                value = _plain(array)
                if np.isfinite(value).all() and value.any():
                    yield name, value


def _is_numbers(value: Any) -> bool:
    return type(value).__name__ == "ndarray" and value.dtype.kind in "biuf"


def _plain(array: Any) -> Any:
    """Its numbers as float64, in which two arrays of other types can be subtracted."""
    import numpy as np

    with np.errstate(all="ignore"):
        return array.astype(np.float64)


def _sizes(case: Case) -> dict[str, int]:
    """The numbers of a case that a factor may be made of, above all n."""
    numbers = {**case.sizes, **case.options}
    return {"n": case.n} | {
        name: value for name, value in numbers.items() if type(value) is int and value > 1 and name not in NEVER_SIZES
    }
