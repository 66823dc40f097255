"""Expressions as our own trees: read out of sympy, sent as JSON, evaluated exactly; nothing of it is ever
evaluated as code.

A tree is a head and its arguments. `HEADS` is the allow-list: nothing else is allowed in an expression.
Evaluation uses exact fractions, and 40-digit floats for irrational logarithms and roots.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .finding import Explained

MAX_NODES = 2000
MAX_DEPTH = 60
MAX_DIGITS = 1200
MAX_NAME = 40
ROUNDED_DIGITS = 5  # from so many on, a decimal may have been read off a calculator
FLOAT_ROUNDING = Fraction(1, 10**12)  # of a few operations with floats
MOST_ROUNDING = Fraction(1, 10**4)  # of all decimals together: who adds decimals does not widen the tolerance
# head -> least and most number of arguments
HEADS = {
    "add": (2, 500), "mul": (2, 500), "pow": (2, 2), "max": (1, 50), "min": (1, 50), "mod": (2, 2),
    "log": (1, 1), "log2": (1, 1), "exp": (1, 1), "abs": (1, 1), "ceil": (1, 1), "floor": (1, 1),
    "where": (2, 40),
    "lt": (2, 2), "le": (2, 2), "gt": (2, 2), "ge": (2, 2), "eq": (2, 2), "ne": (2, 2),
    "and": (1, 20), "or": (1, 20), "not": (1, 1), "true": (0, 0), "false": (0, 0), "pi": (0, 0), "e": (0, 0),
}  # fmt: skip
CONDITIONS = {"lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not", "true", "false"}
DECIMAL = re.compile(r"-?\d{1,60}(?:\.\d{1,60})?(?:[eE][-+]?\d{1,3})?", re.ASCII)
RATIO = re.compile(rf"-?\d{{1,{MAX_DIGITS}}}(?:/\d{{1,{MAX_DIGITS}}})?", re.ASCII)
NAME = re.compile(rf"[^\W\d]\w{{0,{MAX_NAME}}}")


class TreeError(Explained, ValueError):
    """Not an expression that can be judged; the message is for the learner.

    Reasons: too-large, not-finite, letter-of-sympy, power-sign, multiplication-sign, brackets, equation,
    unknown-operation, arguments, character, letters, truth-value, no-value; or not-an-expression.
    """

    reason = "not-an-expression"


@dataclass(frozen=True, slots=True)
class Tree:
    """A head with its arguments. Leaves: "num" (a Fraction), "dec" (a decimal as it was typed), "sym" (a
    name)."""

    head: str
    args: tuple[Any, ...] = ()

    def walk(self) -> Iterator[Tree]:
        """The tree and every tree below it."""
        yield self
        for arg in self.args:
            if isinstance(arg, Tree):
                yield from arg.walk()

    def names(self) -> set[str]:
        """The symbols in it."""
        return {t.args[0] for t in self.walk() if t.head == "sym"}

    @property
    def rounding(self) -> Fraction | None:
        """The relative error that its decimals may bring, where one has so many digits that it looks like the rounding
        of a number that no short decimal is (0.3333333333333333, 1.25992); None where none does. It is at most
        MOST_ROUNDING, however many they are."""
        digits = [_digits(t.args[0]) for t in self.walk() if t.head == "dec"]
        halves = [Fraction(1, 2 * int(one)) for one in digits if len(one) >= ROUNDED_DIGITS]
        return min(max(sum(halves, Fraction(0)), FLOAT_ROUNDING), MOST_ROUNDING) if halves else None


def number_tree(value: int | Fraction) -> Tree:
    """A number as a tree."""
    return Tree("num", (Fraction(value),))


def float_tree(value: float) -> Tree:
    """A float as the exact decimal that it prints as: 0.1 is one tenth."""
    text = repr(float(value))
    if not DECIMAL.fullmatch(text):
        raise TreeError(f"{text} in an expression; finite numbers were expected", "not-finite")
    return Tree("dec", (text,))


def _digits(text: str) -> str:
    return re.split("[eE]", text)[0].replace(".", "").lstrip("-0").rstrip("0")


@dataclass
class _Size:
    nodes: int = MAX_NODES

    def spend(self, depth: int) -> None:
        self.nodes -= 1
        if self.nodes < 0 or depth > MAX_DEPTH:
            raise TreeError(
                f"the expression is too large: at most {MAX_NODES} terms, nested {MAX_DEPTH} deep, were expected",
                "too-large",
            )


def to_json(tree: Tree) -> list[Any]:
    """The tree as nested lists of texts."""
    if tree.head == "num":
        return ["num", str(tree.args[0])]
    if tree.head in ("dec", "sym"):
        return [tree.head, tree.args[0]]
    return [tree.head, *(to_json(arg) for arg in tree.args)]


def from_json(obj: Any) -> Tree:
    """The tree that `to_json` wrote, checked node by node; TreeError for anything else."""
    return _from_json(obj, 0, _Size())


def _from_json(obj: Any, depth: int, size: _Size) -> Tree:
    size.spend(depth)
    if type(obj) is not list or not obj or type(obj[0]) is not str:
        raise TreeError("a tree is a list that starts with its head")
    head, rest = obj[0], obj[1:]
    if head in ("num", "dec", "sym"):
        if len(rest) != 1 or type(rest[0]) is not str:
            raise TreeError(f"{head} holds one text")
        return _leaf(head, rest[0])
    return node(head, tuple(_from_json(arg, depth + 1, size) for arg in rest))


def _leaf(head: str, text: str) -> Tree:
    pattern = {"num": RATIO, "dec": DECIMAL, "sym": NAME}[head]
    if not pattern.fullmatch(text):
        raise TreeError(f"{head} holds something else")
    if head != "num":
        return Tree(head, (text,))
    over, _, under = text.partition("/")
    if under and not int(under):
        raise TreeError("a fraction over zero")
    return number_tree(Fraction(int(over), int(under or 1)))


def node(head: str, args: tuple[Tree, ...]) -> Tree:
    """A checked inner node: a known head, as many arguments as it takes, conditions where conditions
    belong."""
    if head not in HEADS:
        raise TreeError("an operation that the book's expressions do not have", "unknown-operation")
    least, most = HEADS[head]
    if not least <= len(args) <= most or (head == "where" and len(args) % 2):
        raise TreeError(f"{head} of {len(args)} arguments", "arguments")
    for index, arg in enumerate(args):
        wanted = head in ("and", "or", "not") or (head == "where" and index % 2 == 1)
        if (arg.head in CONDITIONS) != wanted:
            raise TreeError(f"a {'condition' if wanted else 'number'} was expected in {head}")
    return Tree(head, args)


def from_sympy(expression: Any) -> Tree:
    """A sympy expression as a tree. Raises TreeError that names the first part that is not allowed."""
    return _from_sympy(expression, 0, _Size())


def _from_sympy(e: Any, depth: int, size: _Size) -> Tree:
    import sympy

    size.spend(depth)
    kind = type(e)
    if e is sympy.S.ImaginaryUnit:
        raise TreeError(
            "sympy's own I, the imaginary unit, not a letter of the exercise; take your letters from symbols(...)",
            "letter-of-sympy",
        )
    if isinstance(e, sympy.Symbol):
        name = str(e.name)
        if not NAME.fullmatch(name):
            raise TreeError(f"a symbol's name of {len(name)} characters; letters and digits were expected")
        return Tree("sym", (name,))
    if isinstance(e, sympy.Rational):
        if max(abs(e.p), e.q).bit_length() > 3 * MAX_DIGITS:
            raise TreeError(f"a number of more than {MAX_DIGITS} digits", "too-large")
        return number_tree(Fraction(int(e.p), int(e.q)))
    if isinstance(e, sympy.Float):
        return float_tree(float(e))
    if e in (sympy.pi, sympy.E, sympy.true, sympy.false):
        return Tree({sympy.pi: "pi", sympy.E: "e", sympy.true: "true", sympy.false: "false"}[e])
    if e is sympy.oo or e is -sympy.oo or e is sympy.zoo or e is sympy.nan:
        raise TreeError(f"{e} in the expression; a finite one was expected", "not-finite")
    if kind in (sympy.Limit, sympy.Sum, sympy.Product, sympy.Derivative, sympy.Integral):
        done = e.doit()
        if done.has(kind):
            say = f"a {kind.__name__} that sympy does not work out; write it without"
            raise TreeError(say, "unknown-operation")
        return _from_sympy(done, depth, size)
    if kind is sympy.Heaviside:
        return _from_sympy(e.rewrite(sympy.Piecewise), depth, size)
    if kind is sympy.Piecewise:
        args = tuple(_from_sympy(part, depth + 1, size) for pair in e.args for part in pair.args)
        return node("where", args)
    heads = {
        sympy.Add: "add",
        sympy.Mul: "mul",
        sympy.Pow: "pow",
        sympy.Max: "max",
        sympy.Min: "min",
        sympy.Mod: "mod",
        sympy.log: "log",
        sympy.exp: "exp",
        sympy.Abs: "abs",
        sympy.ceiling: "ceil",
        sympy.floor: "floor",
        sympy.StrictLessThan: "lt",
        sympy.LessThan: "le",
        sympy.StrictGreaterThan: "gt",
        sympy.GreaterThan: "ge",
        sympy.Equality: "eq",
        sympy.Unequality: "ne",
        sympy.And: "and",
        sympy.Or: "or",
        sympy.Not: "not",
    }
    if kind is sympy.Xor:
        say = "^ in the expression, which is not a power in Python; one such as p**w was expected"
        raise TreeError(say, "power-sign")
    if kind not in heads:
        name = re.sub(r"\W", " ", kind.__name__)[:40]
        raise TreeError(
            f"{name} is not among the operations of the book's expressions (arithmetic, powers, "
            "log, max, min, ceil, cases)",
            "unknown-operation",
        )
    return node(heads[kind], tuple(_from_sympy(arg, depth + 1, size) for arg in e.args))


def switches(tree: Tree) -> Iterator[tuple[Tree, Tree]]:
    """The pairs whose order decides: the sides of every comparison, and the arguments of every max and
    min."""
    for t in tree.walk():
        if t.head in ("max", "min"):
            yield from ((x, y) for i, x in enumerate(t.args) for y in t.args[i + 1 :])
        elif t.head in ("lt", "le", "gt", "ge", "eq", "ne"):
            yield t.args[0], t.args[1]
        elif t.head == "abs":
            yield t.args[0], number_tree(0)
