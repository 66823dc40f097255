"""Expression answers: a formula in named symbols, equal to the solution over the whole domains of its symbols.

Identity is tested by evaluation, never by simplifying: at random points, at the ends of every range, and on
both sides of every threshold of the solution's and the learner's max, min, ceil and cases.

Reasons: those of `values.trees.TreeError`, `values.numbers.Unreadable` and `expression_diagnosis`; several-expressions,
comparison, unknown-letter, too-slow.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ..declaration.answer import Answer, Box, Call
from ..declaration.given import Given, call_with
from ..declaration.verdict import DeclarationError, Verdict, unreadable
from ..values import encoding
from ..values.evaluation import Clock, TooSlow, Undefined, compare, real, same, value
from ..values.numbers import Unreadable, named, number
from ..values.parsing import completed, parse, typed
from ..values.texts import quoted
from ..values.tree_latex import latex
from ..values.tree_python import python
from ..values.trees import CONDITIONS, Tree, TreeError, from_json, number_tree, switches, to_json
from . import rounded_exponents
from .domains import Domain, DomainSpace, Point, check_domains, domains_from
from .rival_ways import WHICH

if TYPE_CHECKING:
    from ..declaration.exercise import Exercise

SECONDS = 3.0
RANDOM_POINTS = 24
DEPENDENT = 4  # points around which small values are tried of a letter that depends on others
COUNTED_AT = 6  # points at which wrong answers of a class are compared
MOST_TEXT = 2000  # letters of a tree that takes too long to evaluate
SAMPLES = 12  # points to compare a formula of the library at


@dataclass(frozen=True)
class Expression(Answer):
    """An expression in `symbols` (name to domain), given as a sympy expression or as text; `unit` is that of
    its value."""

    symbols: Mapping[str, Domain]
    unit: str = "1"
    _memory: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    warms_judge: ClassVar[bool] = True
    in_a_chapter: ClassVar[tuple[int, int | None]] = (1, None)
    shows_stub: ClassVar[bool] = True

    @property
    def space(self) -> DomainSpace:
        """The points that the domains allow together."""
        return DomainSpace(self.symbols)

    @property
    def how(self) -> str:
        """An expression in these symbols."""
        return "`answer` is an expression in " + ", ".join(f"`{name}`" for name in self.symbols)

    def declare(self, exercise: Exercise) -> None:
        """Symbols and domains must be given, and the solution must be callable."""
        if not self.symbols or not all(
            isinstance(d, Domain) and name.isidentifier() for name, d in self.symbols.items()
        ):
            raise DeclarationError(f"{exercise.id}: symbols are {self.symbols!r}; names with domains were expected")
        try:
            check_domains(self.symbols)
        except DeclarationError as error:
            raise DeclarationError(f"{exercise.id}: {error}") from None
        if not callable(exercise.solution):
            raise DeclarationError(f"{exercise.id}: the solution of an Expression is a function of its symbols")

    def public(self) -> dict[str, Any]:
        """The letters with their domains, and the unit."""
        return {
            "unit": self.unit,
            "symbols": {name: domain.public() for name, domain in self.symbols.items()},
        }

    @classmethod
    def from_public(cls, public: Mapping[str, Any]) -> Self:
        """The letters with their domains, and the unit."""
        return cls(domains_from(public["symbols"]), public["unit"])

    def stub(self, exercise: Exercise) -> str:
        """The answer cell: the letters, and no answer yet."""
        letters = ", ".join(self.symbols)
        return f'{letters} = symbols("{exercise.id}")\nanswer = ...  # an expression in {letters}'

    def read(self, answer: Any) -> Tree:
        """The tree of an answer of plain data, in the exercise's letters; Unreadable for anything else."""
        if type(answer) is encoding.Callable:
            raise Unreadable(
                f"{quoted(answer.name)} is a function; an expression in {', '.join(self.symbols)} was expected",
                reason="function",
            )
        try:
            if type(answer) is Tree:
                tree = answer
            elif type(answer) is str:
                tree = parse(answer, self.symbols)
            elif type(answer) in (list, tuple, dict):
                say = f"{named(answer)}; one expression in {', '.join(self.symbols)} was expected"
                raise Unreadable(say, reason="several-expressions")
            else:
                tree = number_tree(number(answer))
        except TreeError as error:
            raise Unreadable(str(error), reason=error.reason) from None
        if tree.head == "eq":
            raise Unreadable("an equation; its right-hand side alone was expected", reason="equation")
        if tree.head in CONDITIONS:
            raise Unreadable("a comparison; an expression was expected", reason="comparison")
        if "E" in self.symbols and any(t.head == "e" for t in tree.walk()):
            raise Unreadable(
                "sympy's own E, the number 2.718..., not the letter of the exercise; take it from symbols(...)",
                reason="letter-of-sympy",
            )
        if unknown := sorted(tree.names() - set(self.symbols)):
            raise Unreadable(
                f"{quoted(unknown[0])} is not one of the letters of this exercise: {', '.join(self.symbols)}",
                reason="unknown-letter",
            )
        return tree

    def readable(self, value: Any) -> str:
        """That it is an expression, and in which letters."""
        names = self.read(value).names()
        return (
            f"an expression in {', '.join(n for n in self.symbols if n in names)}"
            if names
            else "a number without letters"
        )

    def expected(self, exercise: Exercise, given: Given) -> Tree:
        """The tree of the solution."""
        return self.tree(exercise.solution)

    def tree(self, function: Callable[..., Any]) -> Tree:
        """The tree of a callable of the symbols (by name), read through sympy."""
        key = f"tree {id(function)}"
        if key not in self._memory:
            decoded = encoding.decode(encoding.encode(self._in_letters(function)))
            self._memory[key] = decoded if type(decoded) is Tree else number_tree(number(decoded))
            self._memory[f"kept {key}"] = function
        return self._memory[key]

    def _in_letters(self, function: Any) -> Any:
        return call_with(function, {name: domain.symbol(name) for name, domain in self.symbols.items()})

    def shown(self, exercise: Exercise, value: Any, given: Given) -> str:
        """The expression as a formula."""
        import sympy

        return rf"$\displaystyle {sympy.latex(self._in_letters(value))}$"

    def as_read(self, value: Any) -> str:
        """The expression as a line of Python, or, with cases, as a formula."""
        tree = self.read(value)
        return f"`{line}`" if (line := python(tree)) else f"${latex(tree)}$"

    def tolerance(self, exercise: Exercise, given: Given) -> str:
        """Everywhere."""
        return "equal at random points, at the ends of every range and on both sides of every switch"

    def counted_as(self, exercise: Exercise, value: Any, given: Given) -> str | float:
        """What it comes to at a few points: another form of it is the same."""
        tree, clock = self.read(value), Clock(SECONDS / 10)
        rng = random.Random("counted")
        try:
            return " ".join(_gist(tree, self.space.draw(rng), clock) for _ in range(COUNTED_AT))
        except (TooSlow, RecursionError):
            return repr(to_json(tree))[:MOST_TEXT]

    def declared_as(self, exercise: Exercise, wrong: Sequence[tuple[Any, Given]]) -> str:
        """A lambda of the letters."""
        line = python(self.read(wrong[0][0]))
        return f"lambda {', '.join(self.symbols)}: {line}" if line else ""

    def as_learner(self, exercise: Exercise, function: Any, given: Given) -> Any:
        """The expression in sympy's symbols."""
        return self._in_letters(function)

    def box(self, exercise: Exercise) -> Box:
        """A field for the expression as text, which is typeset while it is typed."""
        return Box(ask=f"Your expression in {', '.join(self.symbols)}", echo=True)

    def echo(self, entered: Any) -> str:
        """The expression as it was typed, as a formula."""
        return f"${latex(self.read(self.typed(entered)))}$"

    def heavy(self, exercise: Exercise) -> Any:
        """The trees of the solution and of the mistakes, which are read through sympy."""
        return [to_json(self.tree(value)) for value in (exercise.solution, *(m.value for m in exercise.mistakes))]

    def recall(self, exercise: Exercise, heavy: Any) -> None:
        """Take the trees over."""
        values = (exercise.solution, *(m.value for m in exercise.mistakes))
        for function, tree in zip(values, heavy, strict=True):
            key = f"tree {id(function)}"
            self._memory.update({key: from_json(tree), f"kept {key}": function})

    def problems(self, exercise: Exercise) -> list[str]:
        """Too few mistakes, and a case of the solution that the domain never reaches."""
        return [*self.unreached(exercise), *super().problems(exercise)]

    def samples(self, exercise: Exercise) -> Iterator[tuple[tuple[float, ...], float]]:
        """The solution at random points, its letters in the order of the prompt."""
        tree = self.tree(exercise.solution)
        points = self.points([tree])
        for point in random.Random(1).sample(points, min(SAMPLES, len(points))):
            try:
                yield tuple(float(point[name]) for name in self.symbols), float(real(value(tree, point)))
            except Undefined:
                continue

    def judge(self, exercise: Exercise, value: Any, given: Given, call: Call | None = None) -> Verdict:
        """Right if it equals the solution everywhere; else a mistake's sentence, or how it differs."""
        from .expression_diagnosis import constant_cause, diagnose

        try:
            answer = self.read(value)
        except Unreadable as error:
            return unreadable(str(error), error.reason)
        solution, clock = self.tree(exercise.solution), Clock(SECONDS)
        try:
            points = self.points([solution, answer], clock)
            where = difference(answer, solution, points, clock)
            if where is None:
                return exercise.right()
            for mistake in exercise.mistakes:
                wrong = self.tree(mistake.value)
                if difference(answer, wrong, points, clock) is None:
                    cause = constant_cause(self, mistake, solution, points, clock, exercise.prompt)
                    say = f"{mistake.say} Or {cause}? {WHICH}" if cause else mistake.say
                    return Verdict(0.0, say, "mistake")
            exact = rounded_exponents.with_simple_exponents(answer)
            if exact != answer and difference(exact, solution, points, clock) is None:
                return Verdict(0.0, rounded_exponents.SAID, "wrong", "rounded-exponent")
            finding = diagnose(self, answer, solution, points, where, clock, exercise.prompt)
            verdict = Verdict(0.0, finding.say, "wrong", finding.reason, wants_hint=True)
            return verdict.with_more(self._reading(value))
        except TooSlow:
            say = "The expression takes too long to compare; a simpler form was expected."
            return Verdict(0.0, say, "unreadable", "too-slow")
        except RecursionError:
            return unreadable("the expression is nested too deeply", "too-large")

    def _reading(self, value: Any) -> str:
        """How a text was read in which signs of products are missing; "" for any other."""
        if type(value) is not str or (read := completed(value, self.symbols)).count("*") == typed(value).count("*"):
            return ""
        return f"It was read as {quoted(read)}."

    def points(self, trees: list[Tree], clock: Clock | None = None) -> list[Point]:
        """Where two trees are compared: random points, the ends of every range, and both sides of every
        threshold."""
        rng, space = random.Random("points"), self.space
        base = [space.draw(rng) for _ in range(RANDOM_POINTS)]
        ends = [space.moved(base[0], name, x) for name, domain in self.symbols.items() for x in domain.ends(base[0])]
        corners = [space.corner(0), space.corner(-1)]
        small = []
        for name, domain in self.symbols.items():
            if domain.letters:
                small += [space.moved(p, name, x) for p in base[:DEPENDENT] for x in domain.special(p)]
            else:
                small += [space.moved(rng.choice(base), name, x) for x in domain.special()]
        points = base + ends + corners + small
        for tree in trees:
            points += self._thresholds(tree, base + ends + corners, rng, clock)
            points += self._steps(tree, base[:6], clock)
        return list({tuple(sorted(p.items())): p for p in points}.values())

    def unreached(self, exercise: Exercise) -> list[str]:
        """The switches of the solution of which the domain has one side only."""
        tree = self.tree(exercise.solution)
        points = self.points([tree])
        return [
            "one side of a max, min or case of the solution is never reached in the domain"
            for a, b in dict.fromkeys(switches(tree))
            if len({s for p in points if (s := _side(a, b, p, None))}) < 2
        ]

    def _thresholds(self, tree: Tree, base: list[Point], rng: random.Random, clock: Clock | None) -> list[Point]:
        """Points on both sides of each switch of `tree`, and next to it; found by bisection between points of
        either side."""
        out: list[Point] = []
        for a, b in list(dict.fromkeys(switches(tree)))[:20]:
            sides: dict[int, Point] = {}
            for point in chain(base, self._hunt(rng)):
                sign = _side(a, b, point, clock)
                if sign is not None and sign not in sides:
                    sides[sign] = point
                if 1 in sides and -1 in sides:
                    break
            if 1 in sides and -1 in sides:
                out += self._bisect(a, b, sides[-1], sides[1], clock)
            out += sides.values()
        return out

    def _hunt(self, rng: random.Random) -> Iterator[Point]:
        for _ in range(60):
            yield self.space.point(lambda d, at: rng.choice([*d.ends(at), d.draw(rng, at), d.draw(rng, at)]))

    def _bisect(self, a: Tree, b: Tree, low: Point, high: Point, clock: Clock | None) -> list[Point]:
        """Walk from `low` to `high` one letter at a time, and halve the step that crosses."""
        space, current = self.space, dict(low)
        for name, domain in space.ordered:
            following = space.moved(current, name, high[name])
            if _side(a, b, following, clock) != 1:
                current = following
                continue
            below, above = current[name], following[name]
            for _ in range(60):
                middle = domain.nearest(
                    math.sqrt(float(below) * float(above)) if below and above else (below + above) / 2, current
                )
                if middle in (below, above):
                    middle = domain.nearest((below + above) / 2, current)
                if middle in (below, above):
                    break
                if _side(a, b, space.moved(current, name, middle), clock) == 1:
                    above = middle
                else:
                    below = middle
            beside = [*domain.neighbours(below, current), *domain.neighbours(above, current)]
            return [space.moved(current, name, x) for x in dict.fromkeys((below, above, *beside))]
        return []

    def _steps(self, tree: Tree, base: list[Point], clock: Clock | None) -> list[Point]:
        """Points where the argument of a ceil or floor is whole, which a random point never is."""
        out: list[Point] = []
        for arg in list(dict.fromkeys(t.args[0] for t in tree.walk() if t.head in ("ceil", "floor")))[:10]:
            for point, name in ((p, n) for p in base for n in self.symbols):
                out += self._whole(arg, point, name, clock)
        return out

    def _whole(self, arg: Tree, point: Point, name: str, clock: Clock | None) -> list[Point]:
        domain = self.symbols[name]
        try:
            now = value(arg, point, clock)
            if type(now) is not Fraction or now <= 0:
                return []
            ratio = max(1, round(now)) / now
            for x in (point[name] * ratio, point[name] / ratio):
                moved = self.space.beyond(point, name, x)
                if moved is None or moved[name] != x or not domain.within(x, point):
                    continue
                if value(arg, moved, clock) == max(1, round(now)):
                    return [moved]
        except (Undefined, TreeError):
            pass
        return []


def _gist(tree: Tree, point: Point, clock: Clock) -> str:
    """What a tree comes to, with as many digits as tell two trees apart."""
    try:
        return f"{float(real(value(tree, point, clock))):.9g}"
    except (Undefined, TreeError, OverflowError, ValueError):
        return "-"


def _side(a: Tree, b: Tree, point: Point, clock: Clock | None) -> int | None:
    try:
        return compare(value(a, point, clock), value(b, point, clock))
    except (Undefined, TreeError):
        return None


def difference(answer: Tree, solution: Tree, points: list[Point], clock: Clock | None = None) -> Point | None:
    """The first point where `answer` is not `solution`, or None; points where the solution has no value do
    not count."""
    rtol = max(filter(None, (answer.rounding, solution.rounding)), default=None)
    for point in points:
        try:
            want = value(solution, point, clock)
        except Undefined:
            continue
        try:
            if not same(value(answer, point, clock), want, rtol):
                return point
        except Undefined:
            return point
    return None
