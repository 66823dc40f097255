"""Explains in one sentence how an expression is wrong, without giving the right one away: no sentence says which factor
is missing, or what a wrong number should be, or else a product could be read off the judge by submitting 1.

The reasons, in the order in which they are looked for:

- other-unit; and of an expression that has no unit, adds-units, compares-units, cases-of-units, log-of-unit (or log2,
  exp), unit-in-exponent, unit-to-a-power.
- zero; rounded (right without its ceil and floor); sign, constant-factor.
- factor-too-many, factor-missing, factors-swapped (both); where a constant is wrong too, with "-and-constant".
- one-case, limit-of-large, limit-of-small (right only in that limit).
- the reasons of `repaired`: right but for one change.
- letter-missing, letter-too-many, one-letter (all else is right), wrong-value, no-value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from fractions import Fraction
from functools import cache
from itertools import permutations
from typing import TYPE_CHECKING, Any

from ..values import slips
from ..values.evaluation import Clock, Effort, TooSlow, Undefined, compare, context, real, same, value
from ..values.finding import Explained, Finding
from ..values.trees import Tree, TreeError, switches
from .domains import Domain, Point
from .expression_relations import Relations
from .repaired import one_change
from .rival_ways import other_cause

if TYPE_CHECKING:
    from ..declaration.exercise import Mistake
    from .expression import Expression

Dimension = dict[str, Fraction]
TO_ZERO, TO_INFINITY = -1, 1
NEAR = 0.1  # a ratio this near to 1 may be on its way there
ARRIVED = 1e-9  # a ratio that is as near to 1 as that far out tends to it
SHOWN = 12  # the largest denominator of a unit's exponent that is shown
FEW = 3  # points at which a ratio has a value: of fewer nothing is said
SLIPPED = 1e-9  # how near a constant ratio is to a slip's
MOST_NODES = 40_000  # of trees, evaluated for the changes of an answer: about half a second
SETTLED = 1e-15  # and one that is as near as that is 1, but for rounding


class Clash(Explained):
    """An expression whose units do not fit together; the message is for the learner."""


def diagnose(
    kind: Expression, answer: Tree, solution: Tree, points: list[Point], where: Point, clock: Clock, about: str = ""
) -> Finding:
    """The first of: its dimension, a constant ratio, a factor, a case, a limit, a letter, a counterexample; `about` is
    the prompt, which tells what a factor of 2 may come from."""
    finding = _wrong_dimension(kind, answer, solution) or _Ratio(kind, answer, solution, clock, about).find(points)
    if finding is not None:
        return finding
    counterexample = _counterexample(kind, answer, where)
    return Finding(f"Not yet. {counterexample.say}", counterexample.reason)


def constant_cause(
    kind: Expression, mistake: Mistake, solution: Tree, points: list[Point], clock: Clock, about: str
) -> str:
    """What else than a mistake its constant ratio to the solution may come from, as `rival_ways.other_cause` says it;
    "" where that ratio is no slip, or the mistake names all causes."""
    if mistake.names_all:
        return ""
    ratio = _Ratio(kind, kind.tree(mistake.value), solution, clock, about)
    ratios: list[Any] = []
    for there in filter(lambda each: each is not None, map(ratio.at, points)):
        ratios.append(there)
        if not ratio.same(there, ratios[0]):
            return ""  # as is most often so at the second point
    slip = ratio.slip(ratios[0]) if len(ratios) >= FEW else None
    return other_cause(slip.reason, about, mistake.say) if slip else ""


def dimension(tree: Tree, units: Mapping[str, Dimension]) -> Dimension | None:
    """The powers of B, s, J and USD; None for zero, which fits every unit. Raises Clash where it adds B to
    s."""
    head, args = tree.head, tree.args
    if head in ("num", "dec"):
        return {} if Fraction(args[0]) else None
    if head == "sym":
        return dict(units[args[0]])
    if head == "mul":
        return _product([dimension(a, units) for a in args])
    if head == "pow":
        return _power(dimension(args[0], units), args[1], units)
    if head == "where":
        for condition in args[1::2]:
            _check_condition(condition, units)
        return _alike([dimension(a, units) for a in args[::2]], "has cases in", "cases-of-units")
    if head in ("add", "max", "min", "mod"):
        adds = head == "add"
        parts = [dimension(a, units) for a in args]
        return _alike(parts, "adds" if adds else "compares", "adds-units" if adds else "compares-units")
    if head in ("log", "log2", "exp"):
        inner = dimension(args[0], units)
        if inner:
            raise Clash(f"takes {head} of something in {unit_of(inner)}", f"{head}-of-unit")
        return {}
    if head in ("abs", "ceil", "floor"):
        return dimension(args[0], units)
    return {}


def _check_condition(tree: Tree, units: Mapping[str, Dimension]) -> None:
    if tree.head in ("and", "or", "not"):
        for arg in tree.args:
            _check_condition(arg, units)
    elif tree.args:
        _alike([dimension(a, units) for a in tree.args], "compares", "compares-units")


def _product(parts: list[Dimension | None]) -> Dimension | None:
    total: Dimension = {}
    for part in parts:
        if part is None:
            return None
        for name, p in part.items():
            total[name] = total.get(name, Fraction(0)) + p
    return {name: p for name, p in total.items() if p}


def _power(base: Dimension | None, exponent: Tree, units: Mapping[str, Dimension]) -> Dimension | None:
    if dimension(exponent, units):
        raise Clash("has a unit in an exponent", "unit-in-exponent")
    if not base:
        return base
    if exponent.names():
        raise Clash(f"raises something in {unit_of(base)} to a power that is no number", "unit-to-a-power")
    power = value(exponent, {})
    if type(power) is not Fraction:
        raise Clash(f"raises something in {unit_of(base)} to an irrational power", "unit-to-a-power")
    return {name: p * power for name, p in base.items()} if power else {}


def _alike(parts: list[Dimension | None], verb: str, reason: str) -> Dimension | None:
    known = [p for p in parts if p is not None]
    for part in known[1:]:
        if part != known[0]:
            join = "to" if verb == "adds" else "and"
            raise Clash(f"{verb} something in {unit_of(known[0])} {join} something in {unit_of(part)}", reason)
    return known[0] if known else None


def unit_of(dim: Mapping[str, Fraction]) -> str:
    """The name of a dimension: "B/s"."""
    powers = {n: p.limit_denominator(SHOWN) for n, p in sorted(dim.items())}  # 0.3333 is shown as 1/3
    over = "*".join(_to_the(n, p) for n, p in powers.items() if p > 0)
    under = "".join(f"/{_to_the(n, -p)}" for n, p in powers.items() if p < 0)
    return (over or ("1" if under else "plain numbers")) + under


def _to_the(name: str, power: Fraction) -> str:
    return name if power == 1 else f"{name}^{power}" if power.denominator == 1 else f"{name}^({power})"


def _wrong_dimension(kind: Expression, answer: Tree, solution: Tree) -> Finding | None:
    from hwlib.units import dimension as of_unit

    def of(unit: str) -> Dimension:
        return {name: Fraction(p) for name, p in of_unit(unit).items()}

    units, wanted = {name: of(domain.unit) for name, domain in kind.symbols.items()}, of(kind.unit)
    try:
        if dimension(solution, units) != wanted:
            return None  # the solution holds a number that carries a unit: dimensions prove nothing here
    except (Clash, Undefined):
        return None
    try:
        actual = dimension(answer, units)
    except Clash as clash:
        return Finding(f"Not yet: the units do not fit. Yours {clash}.", clash.reason)
    except Undefined:
        return None
    if actual is None or actual == wanted:
        return None
    return Finding(f"Not yet: the answer is in {unit_of(wanted)}, yours is in {unit_of(actual)}.", "other-unit")


class _Ratio:
    """The answer over the solution, looked at as a function of each letter."""

    def __init__(self, kind: Expression, answer: Tree, solution: Tree, clock: Clock, about: str):
        self.kind, self.answer, self.solution, self.clock, self.about = kind, answer, solution, clock, about
        rounding = max(filter(None, (answer.rounding, solution.rounding)), default=None)
        self.tolerance = None if rounding is None else 10 * rounding

    def at(self, point: Point) -> Any:
        """The ratio, or None where either has no value or the solution is zero."""
        try:
            over, under = value(self.answer, point, self.clock), value(self.solution, point, self.clock)
            if compare(under, Fraction(0)) == 0:
                return None
            return over / under if type(over) is Fraction and type(under) is Fraction else real(over) / real(under)
        except Undefined:
            return None

    def same(self, a: Any, b: Any) -> bool:
        return same(a, b, self.tolerance)

    def is_right(self, point: Point) -> bool:
        """Whether the answer is the solution there, or that has no value."""
        return self.comes_to(_value(self.solution, point, self.clock), point)

    def comes_to(self, expected: Any, point: Point) -> bool:
        """Whether the answer is that there, or that is None."""
        mine = None if expected is None else _value(self.answer, point, self.clock)
        return expected is None or (mine is not None and self.same(mine, expected))

    def find(self, points: list[Point]) -> Finding | None:
        known = [(p, r) for p in points if (r := self.at(p)) is not None]
        if len(known) < 3:
            return None
        ratios = [r for _, r in known]
        if all(self.same(r, Fraction(1)) for r in ratios):
            return None  # right wherever it has a value
        if all(compare(r, Fraction(0)) == 0 for r in ratios):
            return Finding("Not yet: yours is zero.", "zero")
        steps: list[Callable[[], Finding | None]] = [
            lambda: self._rounded(points),
            lambda: self._constant(ratios),
            lambda: self._factor(known),
            lambda: self._case(known),
            lambda: self._limit(points),
            lambda: self._one_change(points),
            lambda: self._letters(known),
            lambda: self._related(known),
        ]
        return next((finding for step in steps if (finding := step())), None)

    def _rounded(self, points: list[Point]) -> Finding | None:
        """Right but for a ceil or floor, where nothing is to be rounded."""
        if not _rounds(self.answer) or _rounds(self.solution):
            return None
        ratio = _Ratio(self.kind, _unrounded(self.answer), self.solution, self.clock, self.about)
        ratios = [r for p in points if (r := ratio.at(p)) is not None]
        if len(ratios) < 3 or not all(ratio.same(r, Fraction(1)) for r in ratios):
            return None
        return Finding("Not yet: yours rounds, and a real number is asked for.", "rounded")

    def _constant(self, ratios: list[Any]) -> Finding | None:
        first = ratios[0]
        if not all(self.same(r, first) for r in ratios):
            return None
        if self.same(first, Fraction(-1)):
            return Finding("Not yet: the sign is wrong, all else is right.", "sign")
        slip = self.slip(first)
        how = slip.say if slip else f"Every letter enters as it should; a number makes yours too {_large(first)}."
        return Finding(f"Not yet: only a constant factor is wrong. {how}", "constant-factor")

    def slip(self, ratio: Any) -> slips.Slip | None:
        try:
            return slips.find(Fraction(float(ratio)), 1, SLIPPED, self.kind.unit, self.about)
        except (OverflowError, ValueError):  # too large for a float
            return None

    def _factor(self, known: list[tuple[Point, Any]]) -> Finding | None:
        """A ratio c * n^a * S^b ...: say with which letters the answer grows too fast or too slowly."""
        if any(compare(r, Fraction(0)) <= 0 for _, r in known):
            return None
        powers = {name: p for name in self.kind.symbols if (p := self._exponent(name, known[0][0]))}
        if not powers or None in powers.values():
            return None
        rest = []
        for point, ratio in ((p, r) for p, r in known if all(p[name] for name in powers)):
            for name, p in powers.items():
                ratio = real(ratio) / context().power(real(point[name]), real(p))
            rest.append(ratio)
        if not rest or not all(same(r, rest[0], Fraction(1, 10**11)) for r in rest):
            return None
        many, few = [n for n, p in powers.items() if p > 0], [n for n, p in powers.items() if p < 0]
        reason = "factors-swapped" if many and few else "factor-too-many" if many else "factor-missing"
        constant = ""
        if not same(rest[0], Fraction(1), Fraction(1, 10**11)):
            constant = ", and a constant factor is wrong too"
            reason += "-and-constant"
        return Finding(f"Not yet: yours {self._growth(many, few)}{constant}.", reason)

    def _growth(self, many: list[str], few: list[str]) -> str:
        """How it depends on letters of which it has a power too many or too few."""
        missing, extra = (
            [n for n in (*many, *few) if n in names - others]
            for names, others in permutations([self.solution.names(), self.answer.names()])
        )
        parts = [f"does not depend on {', '.join(missing)}, and the answer does"] if missing else []
        parts += [f"depends on {', '.join(extra)}, and the answer does not"] if extra else []
        for letters, how in ((many, "fast"), (few, "slowly")):
            if common := [n for n in letters if n not in (*missing, *extra)]:
                parts.append(f"grows too {how} with {', '.join(common)}")
        return "; it ".join(parts)

    def _exponent(self, name: str, base: Point) -> Fraction | None:
        """The power of `name` in the ratio, to the nearest half, or 0; the caller checks it at every
        point."""
        values = [base | {name: base[name] * k} for k in (1, 2)]
        ratios = [self.at(p) for p in values]
        if any(r is None or compare(r, Fraction(0)) <= 0 for r in ratios):
            return Fraction(0)
        slope = context().log(real(ratios[1]) / real(ratios[0]), 2)
        return Fraction(round(2 * float(slope)), 2)

    def _case(self, known: list[tuple[Point, Any]]) -> Finding | None:
        """Right on one side of a switch of the solution and wrong on the other."""

        right = [self.same(r, Fraction(1)) for _, r in known]
        if sum(right) < 3 or all(right):
            return None
        for a, b in dict.fromkeys(switches(self.solution)):
            signs = [self._side(a, b, p) for p, _ in known]
            for side in (1, -1):
                here = [ok for ok, s in zip(right, signs, strict=True) if s == side]
                if len(here) > 2 and all(here):
                    there = self._wrong_there(known, right).say
                    return Finding(f"Not yet: yours is right in one case and wrong in another. {there}", "one-case")
        return None

    def _side(self, a: Tree, b: Tree, point: Point) -> int:
        try:
            return compare(value(a, point, self.clock), value(b, point, self.clock))
        except (Undefined, TreeError):
            return 0

    def _wrong_there(self, known: list[tuple[Point, Any]], right: list[bool]) -> Finding:
        where = next(p for (p, _), ok in zip(known, right, strict=True) if not ok)
        return _counterexample(self.kind, self.answer, where)

    def _limit(self, points: list[Point]) -> Finding | None:
        """Right only where a letter is large, or negligible."""
        names = list(self.kind.symbols)
        absent = [n for n in names if n in self.solution.names() - self.answer.names()]
        counted = [n for n in names if self.kind.symbols[n].kind != "positive"]
        tries = [(n, TO_ZERO) for n in absent if n not in counted] + [(n, TO_INFINITY) for n in counted]
        tries += [(n, way) for n in names if n not in counted for way in (TO_INFINITY, TO_ZERO)]
        shares = [n for n in names if _is_share(self.kind.symbols[n])]  # a share is never large
        for name, way in tries:
            if way == TO_INFINITY and name in shares:
                continue
            if self._matters(name, points) and self._tends(name, way, points):
                lacks = f"there is no {', '.join(absent)} in it, and " if absent else ""
                if finding := self._one_change(points):
                    return finding  # then it is another letter than the one whose limit hides it
                effect = self._first_effect(points, name, way)
                if way == TO_INFINITY:
                    say = f"right in the limit of large {name}, and what is wrong counts less and less with it"
                    return Finding(f"Not yet: {lacks}yours is {say}{effect}.", "limit-of-large")
                say = f"right where {name} is negligible ({name} → 0), and what is wrong vanishes with it"
                return Finding(f"Not yet: {lacks}yours is {say}{effect}.", "limit-of-small")
        return None

    def _first_effect(self, points: list[Point], name: str, way: int) -> str:
        """How the answer goes there, behind a colon; "" too where looking takes too long."""
        with suppress(TooSlow):
            effect = self._relations(points).first_effect(name, way)
            return f": {effect}" if effect else ""
        return ""

    def _relations(self, points: list[Point]) -> Relations:
        clock = Effort(MOST_NODES)

        def of(tree: Tree) -> Callable[[Point], Any]:
            return lambda point: _value(tree, point, clock)

        return Relations(self.kind.space, of(self.answer), of(self.solution), points)

    def _tends(self, name: str, way: int, points: list[Point]) -> bool:
        """Whether the ratio tends to 1 as `name` goes to infinity or to zero, wherever the other letters are, and is on
        its way there within the domain."""
        return all(self._nears(name, way, point) and self._arrives(name, way, point) for point in points[:5])

    def _matters(self, name: str, points: list[Point]) -> bool:
        """Whether the letter alone changes the ratio: it may be another that grows with it which does."""
        if not self.kind.space.leads(name):
            return True
        for point in points[:5]:
            here = self._off(point)
            others = (self._off({**point, name: end}) for end in self.kind.symbols[name].ends(point))
            if here is not None and any(off is not None and abs(off - here) > SLIPPED for off in others):
                return True
        return False

    def _off(self, point: Point) -> Any:
        ratio = self.at(point)
        return None if ratio is None else abs(real(ratio) - 1)

    def _nears(self, name: str, way: int, point: Point) -> bool:
        """Whether it is near 1 at that end of the domain, or nearer than here. Beyond a letter's largest value the
        ratio may tend to 1 by chance, behind a pole."""
        ends = self.kind.symbols[name].ends(point)
        here = self._off(point)
        there = self._off(self.kind.space.moved(point, name, max(ends) if way == TO_INFINITY else min(ends)))
        return here is None or there is None or there <= max(here, NEAR)

    def _arrives(self, name: str, way: int, point: Point) -> bool:
        """Whether it comes nearer and nearer to 1 beyond all bounds."""
        last = None
        for k in (30, 60, 90):
            there = self.kind.space.beyond(point, name, point[name] * Fraction(2) ** (way * k))
            off = None if there is None else self._off(there)
            if off is None or (last is not None and off > last / 4 and off > SETTLED):
                return False
            if last is not None and off <= ARRIVED:  # and further out the digits of a difference cancel
                return True
            last = off
        return False

    def _one_change(self, points: list[Point]) -> Finding | None:
        """The one change that would make it right; None too where looking for it takes too long."""
        clock = Effort(MOST_NODES)

        @cache  # of hundreds of changes, most are compared at the first points only
        def expected(of_answer: bool, at: int) -> Any:
            return _value(self.answer if of_answer else self.solution, points[at], clock)

        def alike(tree: Tree, other: Tree) -> bool:
            ratio = _Ratio(self.kind, tree, other, clock, self.about)
            return all(ratio.comes_to(expected(other is self.answer, at), point) for at, point in enumerate(points))

        try:
            return one_change(self.answer, self.solution, list(self.kind.symbols), alike)
        except TooSlow:
            return None

    def _letters(self, known: list[tuple[Point, Any]]) -> Finding | None:
        missing = [n for n in self.kind.symbols if n in self.solution.names() - self.answer.names()]
        extra = [n for n in self.kind.symbols if n in self.answer.names() - self.solution.names()]
        moved = [n for n in self.kind.symbols if self._depends(n, known)]
        if missing:
            say = f"Not yet: yours does not depend on {', '.join(missing)}, and the answer does."
            return Finding(say, "letter-missing")
        if extra:
            return Finding(f"Not yet: yours depends on {', '.join(extra)}, and the answer does not.", "letter-too-many")
        if len(moved) == 1 and len(self.kind.symbols) > 1:
            say = f"Not yet: yours is off by a factor that depends on {moved[0]} alone; look at how {moved[0]} enters."
            return Finding(say, "one-letter")
        return None

    def _related(self, known: list[tuple[Point, Any]]) -> Finding | None:
        moved = [name for name in self.kind.symbols if self._depends(name, known)]
        with suppress(TooSlow):
            return self._relations([point for point, _ in known]).find(moved)
        return None

    def _depends(self, name: str, known: list[tuple[Point, Any]]) -> bool:
        domain, space = self.kind.symbols[name], self.kind.space
        for point, ratio in known[:6]:
            for x in domain.ends(point):
                for there in (space.moved(point, name, x), point | {name: x} if space.leads(name) else point):
                    other = self.at(there)
                    if other is not None and not self.same(other, ratio):
                        return True
        return False


def _rounds(tree: Tree) -> bool:
    return any(part.head in ("ceil", "floor") for part in tree.walk())


def _unrounded(tree: Tree) -> Tree:
    """The tree without its ceil and floor."""
    if tree.head in ("ceil", "floor"):
        return _unrounded(tree.args[0])
    return Tree(tree.head, tuple(_unrounded(arg) if isinstance(arg, Tree) else arg for arg in tree.args))


def _is_share(domain: Domain) -> bool:
    return domain.kind == "positive" and domain.unit == "1" and domain.hi <= 1


def _large(ratio: Any) -> str:
    return "large" if compare(abs(ratio), Fraction(1)) > 0 else "small"


def _counterexample(kind: Expression, answer: Tree, where: Point) -> Finding:
    from hwlib.units import show

    letters = ", ".join(f"{name} = {show(float(where[name]), domain.unit)}" for name, domain in kind.symbols.items())
    try:
        mine = show(float(value(answer, where)), kind.unit)
    except (Undefined, OverflowError) as error:
        return Finding(f"At {letters} yours has no value ({error}).", "no-value")
    return Finding(f"At {letters} yours gives {mine}, which is not right.", "wrong-value")


def _value(tree: Tree, point: Point, clock: Clock) -> Any:
    """What a formula comes to there; None where it has no value."""
    try:
        return value(tree, point, clock)
    except Undefined:
        return None
