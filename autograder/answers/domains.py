"""The domains of an expression's symbols, and the values that are tried."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..declaration.verdict import DeclarationError

Point = dict[str, Fraction]
# Where a positive quantity lies, by its unit: what occurs in the book, so that terms in S, W and alpha are of
# a size.
RANGES = {"B": (1.0, 1e12), "B/s": (1e6, 1e14), "s": (1e-9, 1.0), "FLOP/s": (1e9, 1e16), "FLOP": (1.0, 1e18),
          "FLOP/B": (1e-2, 1e4), "token": (1.0, 1e7)}  # fmt: skip


@dataclass(frozen=True)
class Domain:
    """The domain of a symbol: `kind` is "integers", "positive" or "powers_of_two", between `lo` and `hi`, in
    `unit`."""

    kind: str
    lo: float
    hi: float
    unit: str = "1"

    def __post_init__(self):
        if (
            self.kind not in ("integers", "positive", "powers_of_two")
            or not 0 <= self.lo < self.hi < math.inf
            or (self.kind != "integers" and self.lo == 0)
        ):
            raise DeclarationError(f"{self.kind} from {self.lo} to {self.hi}: a range of positive numbers was expected")

    def draw(self, rng: random.Random) -> Fraction:
        """A value, log-uniformly."""
        lo = max(self.lo, 0.5) if self.kind == "integers" else self.lo
        x = math.exp(rng.uniform(math.log(lo), math.log(self.hi)))
        return self.nearest(Fraction(f"{x:.3g}"))

    def nearest(self, x: float | Fraction) -> Fraction:
        """The value of the domain's kind nearest to `x`, within its range."""
        x = min(max(Fraction(x), Fraction(self.lo)), Fraction(self.hi))
        if self.kind == "integers":
            return Fraction(min(max(round(x), math.ceil(self.lo)), math.floor(self.hi)))
        if self.kind == "powers_of_two":
            return Fraction(2) ** round(math.log2(x))
        return Fraction(f"{float(x):.6g}")

    def ends(self) -> list[Fraction]:
        """The first values and the last."""
        first, last = self.nearest(self.lo), self.nearest(self.hi)
        second = first + 1 if self.kind == "integers" else 2 * first
        return list(dict.fromkeys([first, self.nearest(second), last]))

    def special(self) -> list[Fraction]:
        """Small whole numbers, and the powers of two with their neighbours, where the domain has them."""
        if self.kind != "integers":
            return []
        powers = [2**k + d for k in range(2, 14) for d in (-1, 0, 1)]
        first = math.ceil(self.lo)
        return [Fraction(n) for n in sorted({*range(first, first + 6), *powers}) if self.lo <= n <= self.hi]

    def symbol(self, name: str) -> Any:
        """The sympy symbol, with the assumptions that hold in the domain."""
        import sympy

        if self.kind == "positive":
            return sympy.Symbol(name, positive=True)
        return sympy.Symbol(name, integer=True, **{"positive" if self.lo > 0 else "nonnegative": True})

    def public(self) -> dict[str, Any]:
        """The domain as JSON."""
        return {"kind": self.kind, "lo": self.lo, "hi": self.hi, "unit": self.unit}


def integers(lo: int, hi: int, unit: str = "1") -> Domain:
    """Whole numbers from `lo` to `hi`."""
    return Domain("integers", lo, hi, unit)


def powers_of_two(lo: int, hi: int, unit: str = "1") -> Domain:
    """The powers of two from `lo` to `hi`."""
    return Domain("powers_of_two", lo, hi, unit)


def positive(unit: str = "1", lo: float | None = None, hi: float | None = None) -> Domain:
    """Positive real numbers; without bounds, the usual range for the unit."""
    usual = RANGES.get(unit, (1e-3, 1e6))
    return Domain("positive", usual[0] if lo is None else lo, usual[1] if hi is None else hi, unit)


def domains_from(public: Mapping[str, Any]) -> dict[str, Domain]:
    """The domains of a public record."""
    return {name: Domain(d["kind"], d["lo"], d["hi"], d["unit"]) for name, d in public.items()}
