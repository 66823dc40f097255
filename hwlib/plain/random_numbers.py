"""Random numbers: the names of numpy's generator, and Python's numbers, which differ from numpy's for the same seed."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any

from hwlib.plain.arrays import asarray, broadcast_to, flat, made, ndarray
from hwlib.plain.creation import shape_of
from hwlib.plain.dtypes import FLOAT64, INT64, dtype
from hwlib.plain.strided import broadcast_shapes


class Generator:
    """What `default_rng` returns."""

    def __init__(self, seed: Any = None):
        self._random = Random(None if seed is None else str(seed))

    def _drawn(self, draw: Callable[..., Any], size: Any, *given: Any, kind: dtype = FLOAT64) -> Any:
        """So many numbers, each drawn with the parameters at its place."""
        shapes = [asarray(one).shape for one in given]
        if size is None and not any(shapes):
            return kind.type(draw(*given)) if kind is not FLOAT64 else draw(*given)
        shape = broadcast_shapes(*shapes) if size is None else shape_of(size)
        if any(shapes):
            values = [draw(*at) for at in zip(*(flat(broadcast_to(one, shape)) for one in given), strict=True)]
        else:
            values = [draw(*given) for _ in range(math.prod(shape))]
        return made(values, shape, kind)

    def random(self, size: Any = None, dtype: Any = float) -> Any:
        """Between 0 and 1."""
        return self._typed(self._drawn(self._random.random, size), dtype)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Between two bounds."""
        return self._drawn(lambda a, b: a + (b - a) * self._random.random(), size, low, high)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """From a normal distribution."""
        return self._drawn(self._random.gauss, size, loc, scale)

    def standard_normal(self, size: Any = None, dtype: Any = float) -> Any:
        """From the normal distribution of mean 0 and deviation 1."""
        return self._typed(self._drawn(lambda: self._random.gauss(0.0, 1.0), size), dtype)

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        """Waiting times of this mean."""
        return self._drawn(lambda by: by * self._random.expovariate(1.0), size, scale)

    def lognormal(self, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Any:
        """Numbers whose logarithm is normal."""
        return self._drawn(self._random.lognormvariate, size, mean, sigma)

    def poisson(self, lam: Any = 1.0, size: Any = None) -> Any:
        """Counts of this mean."""
        return self._drawn(self._count, size, lam, kind=INT64)

    def _count(self, mean: float) -> int:
        count, rest = 0, mean
        while (rest := rest - self._random.expovariate(1.0)) > 0:
            count += 1
        return count

    def integers(self, low: Any, high: Any = None, size: Any = None, dtype: Any = int, endpoint: bool = False) -> Any:
        """Whole numbers from `low` to below `high`, or from 0 to below `low`."""
        low, high = (0, low) if high is None else (low, high)
        draw = lambda a, b: self._random.randrange(int(a), int(b) + endpoint)
        return self._typed(self._drawn(draw, size, low, high, kind=INT64), dtype)

    def _typed(self, x: Any, kind: Any) -> Any:
        to = dtype(kind)
        return x.astype(to) if isinstance(x, ndarray) else x if to in (INT64, FLOAT64) else to.type(x)

    def choice(self, a: Any, size: Any = None, replace: bool = True, p: Any = None) -> Any:
        """Elements of an array, or numbers below one."""
        of = asarray(range(int(a)) if hasattr(a, "__index__") else a)
        count = 1 if size is None else math.prod(shape_of(size))
        if not replace and count > len(of):
            raise ValueError("Cannot take a larger sample than population when replace is False")
        weights = None if p is None else flat(asarray(p, float))
        if replace:
            places = self._random.choices(range(len(of)), weights, k=count)
        elif weights is None:
            places = self._random.sample(range(len(of)), count)
        else:  # the largest of these keys are a sample by weight (Efraimidis and Spirakis 2006)
            keys = [self._random.random() ** (1 / w) if w else -1.0 for w in weights]
            places = sorted(range(len(of)), key=keys.__getitem__, reverse=True)[:count]
        return of[places[0]] if size is None else of[asarray(places, int).reshape(shape_of(size))]

    def permutation(self, x: Any) -> ndarray:
        """A copy in another order, along the first axis; or of the numbers below one."""
        of = asarray(range(int(x)) if hasattr(x, "__index__") else x)
        return of[asarray(self._random.sample(range(len(of)), len(of)), int)]

    def shuffle(self, x: Any) -> None:
        """Bring an array or a list into another order, in place."""
        if isinstance(x, list):
            self._random.shuffle(x)
        else:
            x[...] = self.permutation(x)

    def bytes(self, length: int) -> bytes:
        """Random bytes."""
        return self._random.randbytes(length)


default_rng = Generator
_common = Generator()


def seed(value: Any = None) -> None:
    """Begin the module's own numbers anew."""
    _common._random.seed(value)


def rand(*shape: int) -> Any:
    """Between 0 and 1, of this shape."""
    return _common.random(shape or None)


def randn(*shape: int) -> Any:
    """From the normal distribution of mean 0 and deviation 1, of this shape."""
    return _common.standard_normal(shape or None)


def randint(low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> Any:
    """Whole numbers from `low` to below `high`, or from 0 to below `low`."""
    return _common.integers(low, high, size, dtype)


random, uniform, normal, choice = _common.random, _common.uniform, _common.normal, _common.choice
permutation, shuffle, standard_normal = _common.permutation, _common.shuffle, _common.standard_normal


def __getattr__(name: str) -> Any:
    raise AttributeError(f"the page's small numpy has no random.{name}; open the notebook for it")
