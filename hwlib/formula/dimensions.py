"""Dimensional analysis: a formula's powers of B, s, J and USD, from the units of its symbols."""

import ast
from collections.abc import Mapping
from fractions import Fraction

from hwlib.formula.source import paired
from hwlib.units import dimension, spell

Powers = Mapping[str, int | Fraction]
PLAIN: Powers = {}


class DimensionError(ValueError):
    """A sum or a choice mixes dimensions, or a function such as log2 is applied to bytes or seconds."""


def dim_of(expr: ast.expr, units: Mapping[str, str]) -> dict[str, int | Fraction]:
    """The dimension of an inlined expression whose symbols have these units."""
    powers = _Walk({letter: dimension(unit) for letter, unit in units.items()}).of(expr) or PLAIN
    return {unit: int(p) if p == int(p) else p for unit, p in sorted(powers.items())}


class _Walk:
    def __init__(self, letters: Mapping[str, Powers]):
        self.letters = letters

    def of(self, node: ast.expr) -> Powers | None:
        """The powers of a node; None for a literal 0, which is compatible with every dimension."""
        match node:
            case ast.Constant(value):
                return PLAIN if value else None
            case ast.Name(letter):
                return self.letters[letter]
            case ast.UnaryOp(_, operand):
                return self.of(operand)
            case ast.BinOp(left, ast.Mult() | ast.Div() as sign, right):
                return _times(self.of(left), self.of(right), 1 if isinstance(sign, ast.Mult) else -1)
            case ast.BinOp(base, ast.Pow(), exponent):
                return self.power(node, base, exponent)
            case ast.BinOp(left, sign, right):
                return self.same(node, "add" if isinstance(sign, ast.Add) else "subtract", left, right)
            case ast.Call(ast.Name("const"), [_, ast.Constant(unit)]):
                return dimension(str(unit))
            case ast.Call(ast.Name("sum_of" | "max_of"), [ast.GeneratorExp(term, [loop])]):
                elements = {element: self.of(sequence) or PLAIN for element, sequence in paired(loop)}
                return _Walk({**self.letters, **elements}).of(term)
            case ast.Call(ast.Name("where"), [ast.Compare(left, _, [right]) as condition, a, b]):
                self.same(condition, "compare", left, right)
                return self.same(node, "choose between", a, b)
            case ast.Call(ast.Name("minimum" | "maximum"), sides):
                return self.same(node, "compare", *sides)
            case ast.Call(ast.Name("sqrt"), [x]):
                return _raised(self.of(x), Fraction(1, 2))
            case ast.Call(_, [x]):
                return self.plain(node, x)
        raise AssertionError(ast.dump(node))

    def same(self, node: ast.expr, verb: str, *sides: ast.expr) -> Powers | None:
        """The dimension that all sides share."""
        known = [(side, powers) for side in sides if (powers := self.of(side)) is not None]
        for side, powers in known[1:]:
            if powers != known[0][1]:
                a, b = (f"{ast.unparse(x)} [{spell(p)}]" for x, p in (known[0], (side, powers)))
                raise DimensionError(f"cannot {verb} {a} and {b}" + _within(node))
        return known[0][1] if known else None

    def plain(self, node: ast.expr, part: ast.expr) -> Powers:
        """The dimension of a function of `part`: both must be plain numbers."""
        if powers := self.of(part):
            raise DimensionError(f"{ast.unparse(part)} [{spell(powers)}] is not a plain number" + _within(node))
        return PLAIN

    def power(self, node: ast.expr, base: ast.expr, exponent: ast.expr) -> Powers | None:
        self.plain(node, exponent)
        powers = self.of(base)
        if not powers:
            return powers
        try:
            return _raised(powers, Fraction(ast.literal_eval(exponent)))
        except ValueError:
            what = f"{ast.unparse(base)} [{spell(powers)}] to a power that is not a written number"
            raise DimensionError(what + _within(node)) from None


def _within(node: ast.expr) -> str:
    return f", in {ast.unparse(node)}"


def _times(a: Powers | None, b: Powers | None, sign: int) -> Powers | None:
    if a is None or b is None:
        return None
    powers = {unit: a.get(unit, 0) + sign * b.get(unit, 0) for unit in {**a, **b}}
    return {unit: p for unit, p in powers.items() if p}


def _raised(powers: Powers | None, exponent: Fraction) -> Powers | None:
    return powers and {unit: p * exponent for unit, p in powers.items() if exponent}
