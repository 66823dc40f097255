"""Rounding to small floats: to the nearest number that a format has, ties to the even mantissa, too large to the end.

A float of e exponent bits and m mantissa bits has steps of 2^-m of a power of two; below its smallest normal number
the steps stay as they are there.

>>> [round_e2m1(x) for x in (0.2, 2.5, 5.0, -7.0)]
[0.0, 2.0, 4.0, -6.0]
>>> round_e4m3(0.3), round_e4m3(1000)
(0.3125, 448.0)
"""

from math import frexp

E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
"""All numbers of the four-bit float without their signs."""


def round_e2m1(x: float) -> float:
    """The nearest of the fifteen numbers of four bits: a sign, two bits of exponent, one of mantissa."""
    return _nearest(x, mantissa=1, least=0, largest=6.0)


def round_e4m3(x: float) -> float:
    """The nearest number of eight bits with four of exponent and three of mantissa, at most 448."""
    return _nearest(x, mantissa=3, least=-6, largest=448.0)


def _nearest(x: float, mantissa: int, least: int, largest: float) -> float:
    exponent = max(frexp(x)[1] - 1, least) if x else least
    step = 2.0 ** (exponent - mantissa)
    return float(max(min(round(x / step) * step, largest), -largest))
