"""What is true of a formula that nothing else explains: where it is right, what it is off by, and which way it goes.

Reasons: right-where-equal, right-at-first, some-letters, amount-of-letters, wrong-direction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from ..values.evaluation import compare, real, same
from ..values.finding import Finding
from .domains import DomainSpace, Point

POINTS = 5  # at which a relation must hold
FEW = 3  # of them at least, with a value
STEP = Fraction(101, 100)  # a letter's change that tells which way a formula goes
FAR = (30, 90)  # halvings, or doublings: so far out what is of second order counts nothing beside the first
FIRST_ORDER = 1e-6  # how exactly a ratio of changes is known there
MULTIPLES = ((2, "twice"), (0.5, "half"), (3, "three times"), (4, "four times"))
Value = Callable[[Point], Any]


@dataclass(frozen=True)
class Relations:
    """A wrong formula beside the right one: the values of both, or None, at a point."""

    space: DomainSpace
    mine: Value
    right: Value
    points: Sequence[Point]

    def find(self, moved: Sequence[str]) -> Finding | None:
        """The first that holds; `moved` are the letters on which the ratio of the two depends."""
        steps = (self._where_equal, self._at_first, lambda: self._of_some(moved), self._amount, self._direction)
        return next((finding for step in steps if (finding := step())), None)

    def _holds(self, points: Sequence[Point | None]) -> bool:
        """Whether the two are the same at these points, of which there are a few."""
        pairs = [(self.mine(p), self.right(p)) for p in points if p is not None and self.space.has(p)]
        pairs = [(mine, right) for mine, right in pairs if right is not None]
        return len(pairs) >= FEW and all(mine is not None and same(mine, right) for mine, right in pairs)

    def _where_equal(self) -> Finding | None:
        domains = self.space.domains
        for name, other in combinations(domains, 2):
            alike = domains[name].unit == domains[other].unit and domains[name].kind == domains[other].kind
            if alike and self._holds([p | {other: p[name]} for p in self.points[: 2 * POINTS]]):
                say = f"Not yet: yours is right where {name} = {other}, and wrong elsewhere."
                return Finding(say, "right-where-equal")
        return None

    def _at_first(self) -> Finding | None:
        """Right at the first value of a letter that counts."""
        for name, domain in self.space.domains.items():
            if domain.kind == "positive" or domain.letters:
                continue
            first = domain.ends()[0]
            if self._holds([self.space.moved(p, name, first) for p in self.points[:POINTS]]):
                say = f"yours is right for {name} = {float(first):g}, and wrong for more: what changes with {name}?"
                return Finding(f"Not yet: {say}", "right-at-first")
        return None

    def _of_some(self, moved: Sequence[str]) -> Finding | None:
        others = [name for name in self.space.domains if name not in moved]
        if not moved or not others:
            return None
        say = f"yours is off by a factor that depends on {_and(moved)}; with {_and(others)} it goes as it should"
        return Finding(f"Not yet: {say}.", "some-letters")

    def _amount(self) -> Finding | None:
        """Off by an amount on which some letters have no effect."""
        names = list(self.space.domains)
        still = [name for name in names if self._same_amount(name)]
        moved = [name for name in names if name not in still]
        if not still or not moved:
            return None
        say = f"what yours lacks, or has too much, depends on {_and(moved)} and not on {_and(still)}"
        return Finding(f"Not yet: {say}: which term is that?", "amount-of-letters")

    def _off(self, point: Point) -> Any:
        mine, right = self.mine(point), self.right(point)
        return None if mine is None or right is None else real(mine) - real(right)

    def _same_amount(self, name: str) -> bool:
        count = 0
        for point in self.points[:POINTS]:
            for end in self.space.domains[name].ends(point):
                here, there = self._off(point), self._off(self.space.moved(point, name, end))
                if here is None or there is None:
                    continue
                if not same(here, there, Fraction(1, 10**12)):
                    return False
                count += 1
        return count >= FEW

    def _direction(self) -> Finding | None:
        """Falls with a letter with which the right one rises, or the other way round."""
        for name, domain in self.space.domains.items():
            if domain.kind != "positive":
                continue
            everywhere = (self._signs(point, name) for point in self.points[:POINTS])
            signs = {pair for pair in everywhere if pair is not None}
            if len(signs) == 1:
                mine, right = next(iter(signs))
                if mine * right < 0:
                    ways = ("falls", "rises") if mine < 0 else ("rises", "falls")
                    say = f"yours {ways[0]} with {name}, where the answer {ways[1]}"
                    return Finding(f"Not yet: {say}.", "wrong-direction")
        return None

    def _signs(self, point: Point, name: str) -> tuple[int, int] | None:
        there = self.space.moved(point, name, point[name] * STEP)
        values = [(of(point), of(there)) for of in (self.mine, self.right)]
        if any(value is None for pair in values for value in pair):
            return None
        mine, right = (compare(after, before) for before, after in values)
        return mine, right

    def first_effect(self, name: str, way: int) -> str:
        """What is said of a formula that is right in a letter's limit: how its first deviation from there compares with
        the right one's; "" where that has no clear answer."""
        everywhere = [self._first_ratio(point, name, way) for point in self.points[:POINTS]]
        ratios = [ratio for ratio in everywhere if ratio is not None]
        if len(ratios) < FEW:
            return ""
        effect = f"near that limit, the first effect of {name} is"
        if all(abs(ratio) < FIRST_ORDER for ratio in ratios):
            return f"{effect} missing"
        if all(ratio < 0 for ratio in ratios):
            return f"{effect} of the wrong sign"
        if all(abs(ratio - 1) < FIRST_ORDER for ratio in ratios):
            return f"{effect} right too, and only higher orders are wrong"
        for size, words in MULTIPLES:
            if all(abs(ratio - size) < FIRST_ORDER for ratio in ratios):
                return f"{effect} {words} as large as it should be"
        if all(ratio > 1 for ratio in ratios):
            return f"{effect} too large"
        return f"{effect} too small" if all(ratio < 1 for ratio in ratios) else ""

    def _first_ratio(self, point: Point, name: str, way: int) -> Any:
        near, far = (self.space.beyond(point, name, point[name] * Fraction(2) ** (way * k)) for k in FAR)
        if near is None or far is None:
            return None
        values = [(of(near), of(far)) for of in (self.mine, self.right)]
        if any(value is None for pair in values for value in pair):
            return None
        mine, right = (real(there) - real(end) for there, end in values)
        # Behind the limit itself both may still grow: then there is no deviation to compare.
        small = abs(right) < abs(real(values[1][1])) / 100 if values[1][1] else False
        return mine / right if right and small else None


def _and(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
