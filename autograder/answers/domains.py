"""The domains of an expression's symbols, and the values that are tried.

A condition of the prompt ("n is even", "r is a multiple of p", "k at most n") is part of a domain: an answer may rely
on it, and no other value is tried.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from ..declaration.verdict import DeclarationError
from ..values.evaluation import Undefined, value
from ..values.parsing import parse
from ..values.trees import Tree, TreeError

Point = dict[str, Fraction]
NOWHERE: Mapping[str, Fraction] = MappingProxyType({})  # for a domain that depends on no other symbol
KINDS = ("integers", "positive", "powers_of_two", "multiples")
# Where a positive quantity lies, by its unit: what occurs in the book, so that terms in S, W and alpha are of
# a size.
RANGES = {
    "B": (1.0, 1e12),
    "B/s": (1e6, 1e14),
    "s": (1e-9, 1.0),
    "FLOP/s": (1e9, 1e16),
    "FLOP": (1.0, 1e18),
    "FLOP/B": (1e-2, 1e4),
    "token": (1.0, 1e7),
}


@dataclass(frozen=True)
class Domain:
    """The domain of a symbol: its `kind`, one of `KINDS`, between `lo` and `hi`, in `unit`.

    Integers go from `lo` in steps of `step`, and not above `most`, if there is one; multiples are `lo` to `hi` times
    `of`. Both are expressions in other symbols, whose values are `at` the point where the symbol's own is asked for.
    """

    kind: str
    lo: float
    hi: float
    unit: str = "1"
    step: int = 1
    of: str = ""
    most: str = ""

    def __post_init__(self):
        if (
            self.kind not in KINDS
            or not 0 <= self.lo < self.hi < math.inf
            or (self.kind != "integers" and self.lo == 0)
        ):
            raise DeclarationError(f"{self.kind} from {self.lo} to {self.hi}: a range of positive numbers was expected")
        if type(self.step) is not int or self.step < 1:
            raise DeclarationError(f"{self.kind} in steps of {self.step!r}: a whole number above 0 was expected")
        if bool(self.of) != (self.kind == "multiples"):
            raise DeclarationError(f"{self.kind} of {self.of!r}: multiples are of an expression, and nothing else is")

    @property
    def letters(self) -> set[str]:
        """The other symbols on whose values it depends."""
        return {name for text in (self.of, self.most) if text for name in _tree(text).names()}

    def bounds(self, at: Mapping[str, Fraction] = NOWHERE) -> tuple[Fraction, Fraction]:
        """The least value and the largest."""
        unit = _value(self.of, at) if self.of else Fraction(1)
        low, high = Fraction(self.lo) * unit, Fraction(self.hi) * unit
        return low, max(low, min(high, _value(self.most, at))) if self.most else high

    def _grid(self, at: Mapping[str, Fraction] = NOWHERE) -> tuple[Fraction, Fraction]:
        """The first of equally spaced values, and their distance."""
        if self.of:
            unit = _value(self.of, at)
            return math.ceil(self.lo) * unit, self.step * unit
        return Fraction(math.ceil(self.lo)), Fraction(self.step)

    def draw(self, rng: random.Random, at: Mapping[str, Fraction] = NOWHERE) -> Fraction:
        """A value, log-uniformly."""
        low, high = map(float, self.bounds(at))
        if self.kind == "integers":
            low = max(low, 0.5)
        x = math.exp(rng.uniform(math.log(low), math.log(high)))
        return self.nearest(Fraction(f"{x:.3g}"), at)

    def nearest(self, x: float | Fraction, at: Mapping[str, Fraction] = NOWHERE) -> Fraction:
        """The value of the domain's kind nearest to `x`, within its range."""
        low, high = self.bounds(at)
        x = min(max(Fraction(x), low), high)
        if self.kind in ("positive", "powers_of_two"):
            return Fraction(f"{float(x):.6g}") if self.kind == "positive" else self.beyond(x, at)
        first, step = self._grid(at)
        return first + step * min(max(round((x - first) / step), 0), (high - first) // step)

    def beyond(self, x: Fraction, at: Mapping[str, Fraction] = NOWHERE) -> Fraction:
        """The value of the domain's kind nearest to `x`, wherever its range ends."""
        if self.kind == "positive":
            return x
        if self.kind == "powers_of_two":
            return Fraction(2) ** round(math.log2(x))
        first, step = self._grid(at)
        return first + step * round((x - first) / step)

    def within(self, x: Fraction, at: Mapping[str, Fraction] = NOWHERE) -> bool:
        """Whether it is in the range."""
        low, high = self.bounds(at)
        return low <= x <= high

    def has(self, x: Fraction, at: Mapping[str, Fraction] = NOWHERE) -> bool:
        """Whether it is one of the domain's values."""
        return self.within(x, at) and self.beyond(x, at) == x

    def ends(self, at: Mapping[str, Fraction] = NOWHERE) -> list[Fraction]:
        """The first values and the last."""
        first, last = (self.nearest(x, at) for x in self.bounds(at))
        second = 2 * first if self.kind in ("positive", "powers_of_two") else first + self._grid(at)[1]
        return list(dict.fromkeys([first, self.nearest(second, at), last]))

    def neighbours(self, x: Fraction, at: Mapping[str, Fraction] = NOWHERE) -> list[Fraction]:
        """The values next to one that is counted."""
        if self.kind in ("positive", "powers_of_two"):
            return []
        step = self._grid(at)[1]
        return [y for y in (x - step, x + step) if self.has(y, at)]

    def special(self, at: Mapping[str, Fraction] = NOWHERE) -> list[Fraction]:
        """Small whole numbers (of times, for multiples), and the powers of two with their neighbours, where the domain
        has them."""
        if self.kind in ("positive", "powers_of_two"):
            return []
        powers = [2**k + d for k in range(2, 14) for d in (-1, 0, 1)]
        first = math.ceil(self.lo)
        unit = _value(self.of, at) if self.of else 1
        counts = sorted({*range(first, first + 6 * self.step, self.step), *powers})
        return [x for n in counts if self.has(x := Fraction(n) * unit, at)]

    def symbol(self, name: str) -> Any:
        """The sympy symbol, with the assumptions that hold in the domain."""
        import sympy

        if self.kind in ("positive", "multiples"):
            return sympy.Symbol(name, positive=True)
        known = {"positive" if self.lo > 0 else "nonnegative": True}
        if self.step % 2 == 0:
            known["odd" if math.ceil(self.lo) % 2 else "even"] = True
        return sympy.Symbol(name, integer=True, **known)

    def public(self) -> dict[str, Any]:
        """The domain as JSON."""
        shown = {"kind": self.kind, "lo": self.lo, "hi": self.hi, "unit": self.unit}
        more = {"step": (self.step, 1), "of": (self.of, ""), "most": (self.most, "")}
        return shown | {name: own for name, (own, default) in more.items() if own != default}


@dataclass(frozen=True)
class DomainSpace:
    """The points that the domains of all symbols allow together."""

    domains: Mapping[str, Domain]

    @property
    def ordered(self) -> list[tuple[str, Domain]]:
        """The symbols with their domains; what depends on others comes after them."""
        return sorted(self.domains.items(), key=lambda item: bool(item[1].letters))

    def point(self, pick: Callable[[Domain, Point], Fraction]) -> Point:
        """A point of a value for each symbol."""
        at: Point = {}
        for name, domain in self.ordered:
            at[name] = pick(domain, at)
        return {name: at[name] for name in self.domains}

    def draw(self, rng: random.Random) -> Point:
        """A random point."""
        return self.point(lambda domain, at: domain.draw(rng, at))

    def corner(self, end: int) -> Point:
        """Every symbol at its first value (0), or at its last (-1)."""
        return self.point(lambda domain, at: domain.ends(at)[end])

    def has(self, point: Point) -> bool:
        """Whether all its values are allowed together."""
        return all(domain.has(point[name], point) for name, domain in self.domains.items())

    def moved(self, point: Point, name: str, x: float | Fraction) -> Point:
        """The point with `name` at the allowed value nearest to `x`. What depends on it follows: a multiple stays as
        many times as large."""
        return self._followed(point, name, self.domains[name].nearest(x, point), Domain.nearest)

    def beyond(self, point: Point, name: str, x: Fraction) -> Point | None:
        """The same with `name` at `x`, also outside its range; None where it cannot go so far alone, or what depends on
        it has no value there."""
        domain = self.domains[name]
        if domain.most and x > domain.bounds(point)[1]:
            return None
        try:
            return self._followed(point, name, domain.beyond(x, point), Domain.beyond)
        except DeclarationError:
            return None

    def leads(self, name: str) -> bool:
        """Whether others depend on that symbol."""
        return any(name in domain.letters for domain in self.domains.values())

    def _followed(self, point: Point, name: str, x: Fraction, fit: Callable[..., Fraction]) -> Point:
        there = {**point, name: x}
        for other, domain in self.domains.items():
            if name in domain.letters:
                times = _value(domain.of, there) / _value(domain.of, point) if domain.of else 1
                there[other] = fit(domain, point[other] * times, there)
                if domain.most:
                    there[other] = domain.nearest(there[other], there)
        return there


def integers(lo: int, hi: int, unit: str = "1", *, step: int = 1, most: str = "") -> Domain:
    """Whole numbers from `lo` to `hi` in steps: `integers(2, 512, step=2)` are even. `most="n"`: and not above `n`, an
    expression in other symbols."""
    return Domain("integers", lo, hi, unit, step, most=most)


def powers_of_two(lo: int, hi: int, unit: str = "1") -> Domain:
    """The powers of two from `lo` to `hi`."""
    return Domain("powers_of_two", lo, hi, unit)


def multiples(of: str, lo: int, hi: int, unit: str = "1") -> Domain:
    """The multiples of `of`, an expression in other symbols, from `lo` to `hi` times as large: `multiples("p", 1, 64)`.
    `unit` is that of the product."""
    return Domain("multiples", lo, hi, unit, of=of)


def positive(unit: str = "1", lo: float | None = None, hi: float | None = None) -> Domain:
    """Positive real numbers; without bounds, the usual range for the unit."""
    usual = RANGES.get(unit, (1e-3, 1e6))
    return Domain("positive", usual[0] if lo is None else lo, usual[1] if hi is None else hi, unit)


def domains_from(public: Mapping[str, Any]) -> dict[str, Domain]:
    """The domains of a public record."""
    return {name: Domain(**record) for name, record in public.items()}


def check_domains(domains: Mapping[str, Domain]) -> None:
    """Raises DeclarationError for a domain that depends on a symbol that is not there, or depends itself on others."""
    free = sorted(name for name, domain in domains.items() if not domain.letters)
    for name, domain in domains.items():
        if missing := sorted(domain.letters - set(free)):
            raise DeclarationError(
                f"the domain of {name} depends on {', '.join(missing)}; symbols that depend on none were expected, "
                f"of {', '.join(free) or 'which there are none'}"
            )


@lru_cache(maxsize=256)
def _tree(text: str) -> Tree:
    try:
        return parse(text, ())
    except TreeError as error:
        raise DeclarationError(f"the domain {text!r}: {error}") from None


def _value(text: str, at: Mapping[str, Fraction]) -> Fraction:
    try:
        bound = value(_tree(text), at)
    except (Undefined, TreeError) as error:
        raise DeclarationError(f"the domain {text!r} at {at}: {error}") from None
    if type(bound) is not Fraction or bound <= 0:
        raise DeclarationError(f"the domain {text!r} is {bound} at {at}; a positive fraction was expected")
    return bound
