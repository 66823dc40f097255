"""The value of a tree at a point, exact where possible, within bounds on size and time."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

from .trees import Tree, TreeError

DIGITS = 40
NEAR = Fraction(1, 10**25)
MAX_BITS = 20_000
MAX_LOG2 = 1e6
Point = Mapping[str, Fraction]


class Undefined(ArithmeticError):
    """No real value: a division by zero, the logarithm of zero, a number beyond the bounds."""


class TooSlow(Exception):
    """The time for one answer is used up."""


class Clock:
    """A deadline that is checked during evaluation."""

    def __init__(self, seconds: float):
        self.end = time.monotonic() + seconds

    def look(self) -> None:
        """Raise TooSlow when the time is over."""
        if time.monotonic() > self.end:
            raise TooSlow


class Effort(Clock):
    """A limit that is the same on every machine, however busy it is: so many nodes of trees are evaluated at most."""

    def __init__(self, nodes: int):
        self.left = nodes

    def look(self) -> None:
        """Count a node, and raise TooSlow when there were too many."""
        self.left -= 1
        if self.left < 0:
            raise TooSlow


@lru_cache(maxsize=1)
def context() -> Any:
    """The 40-digit arithmetic, separate from mpmath's global context."""
    import mpmath

    ctx = mpmath.MPContext()
    ctx.dps = DIGITS
    return ctx


def value(tree: Tree, point: Point, clock: Clock | None = None) -> Any:
    """The tree at `point`: a Fraction, or a 40-digit float; a bool for a condition. Raises Undefined, TooSlow
    or TreeError."""
    if clock is not None:
        clock.look()
    head, args = tree.head, tree.args
    if head == "num":
        return args[0]
    if head == "dec":
        return Fraction(args[0])
    if head == "sym":
        if args[0] not in point:
            raise TreeError(f"{args[0]} has no value")
        return point[args[0]]
    if head == "where":
        return _cases(args, point, clock)
    if head in ("and", "or"):
        truths = (value(a, point, clock) for a in args)
        return all(truths) if head == "and" else any(truths)
    if head in ("true", "false"):
        return head == "true"
    return bounded(_apply(head, [value(a, point, clock) for a in args]))


def _cases(args: tuple[Tree, ...], point: Point, clock: Clock | None) -> Any:
    for then, condition in zip(args[::2], args[1::2], strict=True):
        if value(condition, point, clock):
            return value(then, point, clock)
    raise Undefined("no case holds")


def _apply(head: str, v: list[Any]) -> Any:
    if head == "add":
        return _fold(v, lambda a, b: a + b)
    if head == "mul":
        return _fold(v, lambda a, b: a * b)
    if head == "pow":
        return power(v[0], v[1])
    if head in ("max", "min"):
        best = v[0]
        for x in v[1:]:
            if compare(x, best) == (1 if head == "max" else -1):
                best = x
        return best
    if head in ("lt", "le", "gt", "ge", "eq", "ne"):
        sign = compare(v[0], v[1])
        return sign in {"lt": (-1,), "le": (-1, 0), "gt": (1,), "ge": (1, 0), "eq": (0,), "ne": (-1, 1)}[head]
    if head == "not":
        return not v[0]
    if head == "abs":
        return abs(v[0])
    if head in ("ceil", "floor"):
        return _whole(head, v[0])
    if head == "mod":
        if compare(v[1], Fraction(0)) == 0:
            raise Undefined("a remainder by zero")
        whole = _whole("floor", _over(v[0], v[1]))
        return _fold([v[0], -_fold([v[1], whole], lambda a, b: a * b)], lambda a, b: a + b)
    if head in ("log", "log2"):
        return _logarithm(head, v[0])
    if head == "exp":
        return power(context().e, v[0])
    return {"pi": +context().pi, "e": +context().e}[head]


def _fold(values: list[Any], operation: Any) -> Any:
    if not all(type(x) is Fraction for x in values):
        values = [real(x) for x in values]
    total = values[0]
    for x in values[1:]:
        total = bounded(operation(total, x))
    return total


def _over(a: Any, b: Any) -> Any:
    return a / b if type(a) is Fraction and type(b) is Fraction else real(a) / real(b)


def real(x: Any) -> Any:
    """A Fraction as a 40-digit float."""
    return context().mpf(x.numerator) / x.denominator if type(x) is Fraction else x


def bounded(x: Any) -> Any:
    """`x`, rounded to 40 digits if its fraction is long. Raises Undefined beyond the bounds."""
    if type(x) is bool:
        return x
    if type(x) is Fraction:
        if max(x.numerator.bit_length(), x.denominator.bit_length()) <= MAX_BITS:
            return x
        x = real(x)
    if not context().isfinite(x) or (x and abs(context().mag(x)) > MAX_LOG2):
        raise Undefined("a number beyond all bounds")
    return x


def compare(a: Any, b: Any) -> int:
    """-1, 0 or 1; floats that agree in 25 digits are equal."""
    if type(a) is Fraction and type(b) is Fraction:
        return (a > b) - (a < b)
    if same(a, b):
        return 0
    return 1 if real(a) > real(b) else -1


def same(a: Any, b: Any, rtol: Fraction | None = None) -> bool:
    """Equal: exactly between fractions, to 25 digits between floats, or within `rtol`."""
    if type(a) is Fraction and type(b) is Fraction:
        return a == b if rtol is None else abs(a - b) <= rtol * max(abs(a), abs(b))
    a, b = real(a), real(b)
    limit = real(NEAR if rtol is None else max(rtol, NEAR))
    return bool(abs(a - b) <= limit * max(abs(a), abs(b)))


def power(base: Any, exponent: Any) -> Any:
    """base ** exponent over the reals."""
    zero = Fraction(0)
    if type(exponent) is Fraction and exponent.denominator == 1 and type(base) is Fraction:
        n = exponent.numerator
        if not base and n < 0:
            raise Undefined("a division by zero")
        size = max(base.numerator.bit_length(), base.denominator.bit_length())
        if size * abs(n) <= MAX_BITS:
            return base**n
    if compare(base, zero) == 0:
        if compare(exponent, zero) < 0:
            raise Undefined("a division by zero")
        return Fraction(1) if compare(exponent, zero) == 0 else zero
    negative = compare(base, zero) < 0
    whole = exponent.denominator == 1 if type(exponent) is Fraction else False
    if negative and not whole:
        raise Undefined("a root of a negative number")
    if type(base) is Fraction and type(exponent) is Fraction and exponent.denominator in (2, 3):
        root = _root(base, exponent.denominator)
        if root is not None:
            return power(root, Fraction(exponent.numerator))
    size = abs(real(base))
    ctx = context()
    log2 = ctx.log(size, 2)
    if abs(log2 * real(exponent)) > MAX_LOG2:
        raise Undefined("a number beyond all bounds")
    result = ctx.power(size, real(exponent))
    return -result if negative and exponent.numerator % 2 else result


def _root(x: Fraction, degree: int) -> Fraction | None:
    """The exact root of a positive fraction, or None."""
    parts = []
    for n in (x.numerator, x.denominator):
        guess = math.isqrt(n) if degree == 2 else round(n ** (1 / 3)) if n.bit_length() < 150 else 0
        if guess**degree != n:
            return None
        parts.append(guess)
    return Fraction(parts[0], parts[1])


def _whole(head: str, x: Any) -> Any:
    if type(x) is Fraction:
        return Fraction(math.ceil(x) if head == "ceil" else math.floor(x))
    if context().mag(x) > 120:
        return x  # beyond 40 digits every float is whole
    nearest = Fraction(int(context().nint(x)))
    if same(x, nearest):
        return nearest
    return Fraction(int(context().ceil(x) if head == "ceil" else context().floor(x)))


def _logarithm(head: str, x: Any) -> Any:
    if compare(x, Fraction(0)) <= 0:
        raise Undefined("a logarithm of zero or less")
    if type(x) is Fraction:
        if x == 1:
            return Fraction(0)
        n, d = x.numerator, x.denominator
        if head == "log2" and n & (n - 1) == 0 and d & (d - 1) == 0:
            return Fraction(n.bit_length() - d.bit_length())
    return context().log(real(x), 2) if head == "log2" else context().log(real(x))


def constant(tree: Tree) -> Fraction:
    """The value of a tree without symbols, as a fraction; TreeError where it has symbols or no value."""
    if names := tree.names():
        say = f"an expression in {', '.join(sorted(names)[:5])}; a number was expected"
        raise TreeError(say, "letters")
    if tree.head in ("true", "false", "lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not"):
        raise TreeError("a truth value; a number was expected", "truth-value")
    try:
        result = value(tree, {}, Clock(1.0))
    except (Undefined, TooSlow) as error:
        raise TreeError(f"an expression without a value ({error})", "no-value") from None
    if type(result) is Fraction:
        return result
    if result and abs(context().mag(result)) > MAX_BITS:
        raise TreeError("a number beyond all bounds", "not-finite")
    return Fraction(context().nstr(result, 30))
