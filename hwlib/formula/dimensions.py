"""Dimension analysis: a formula's powers of B, s, J and USD, from the units of its letters."""

import ast
from collections.abc import Mapping
from fractions import Fraction

from hwlib.units import dimension, spell

Powers = Mapping[str, Fraction | int]
_NONE: Powers = {}


class DimensionError(ValueError):
    """Two things of different dimension are added or compared, or a function is taken of one that has a dimension."""


def dim_of(expr: ast.expr, units: Mapping[str, str]) -> dict[str, int | Fraction]:
    """The dimension of an inlined expression whose letters have these units; DimensionError where it has none."""
    powers = _walk(expr, {letter: dimension(unit) for letter, unit in units.items()}) or {}
    return {unit: int(p) if p == int(p) else p for unit, p in sorted(powers.items())}


def _walk(node: ast.expr, known: Mapping[str, Powers]) -> Powers | None:
    """The powers of one node. None is the dimension of a literal 0: whatever is asked for."""
    match node:
        case ast.Constant(value):
            return None if value == 0 else _NONE
        case ast.Name(letter):
            return known[letter]
        case ast.UnaryOp(operand=operand):
            return _walk(operand, known)
        case ast.BinOp(left, ast.Mult(), right):
            return _times(_walk(left, known), _walk(right, known), 1)
        case ast.BinOp(left, ast.Div(), right):
            return _times(_walk(left, known), _walk(right, known), -1)
        case ast.BinOp(left, ast.Pow(), right):
            return _power(node, _walk(left, known), right, known)
        case ast.BinOp(left, _, right):
            return _same(node, [left, right], "add" if isinstance(node.op, ast.Add) else "subtract", known)
        case ast.Call(ast.Name("const"), [_, ast.Constant(unit)]):
            return dimension(str(unit))
        case ast.Call(ast.Name("sum_of" | "max_of"), [ast.GeneratorExp(elt=term, generators=[loop])]):
            sequence, element = loop.iter, loop.target
            assert isinstance(sequence, ast.Name)
            assert isinstance(element, ast.Name)
            return _walk(term, {**known, element.id: known[sequence.id]})
        case ast.Call(ast.Name("where"), [ast.Compare(left, _, [right]) as condition, a, b]):
            _same(condition, [left, right], "compare", known)
            return _same(node, [a, b], "choose between", known)
        case ast.Call(ast.Name("minimum" | "maximum"), args):
            return _same(node, args, "compare", known)
        case ast.Call(ast.Name("sqrt"), [x]):
            return {u: Fraction(p) / 2 for u, p in (_walk(x, known) or _NONE).items()}
        case ast.Call(ast.Name(op), [x]):
            powers = _walk(x, known)
            if powers:
                raise DimensionError(f"{op} of {spell(powers)}, which is no plain number, in {ast.unparse(node)!r}")
            return _NONE
    raise AssertionError(ast.dump(node))


def _times(a: Powers | None, b: Powers | None, sign: int) -> Powers | None:
    if a is None or b is None:
        return None
    powers = {u: a.get(u, 0) + sign * b.get(u, 0) for u in {**a, **b}}
    return {u: p for u, p in powers.items() if p}


def _power(node: ast.expr, base: Powers | None, exponent: ast.expr, known: Mapping[str, Powers]) -> Powers | None:
    if powers := _walk(exponent, known):
        raise DimensionError(f"a power of {spell(powers)}, which is no plain number, in {ast.unparse(node)!r}")
    if not base:
        return base
    try:
        number = Fraction(ast.literal_eval(exponent))
    except ValueError:
        raise DimensionError(f"{spell(base)} to a power that is not a written number, in {ast.unparse(node)!r}") from None
    return {u: p * number for u, p in base.items() if number}


def _same(node: ast.expr, sides: list[ast.expr], verb: str, known: Mapping[str, Powers]) -> Powers | None:
    """The one dimension of all sides."""
    found = [(side, powers) for side in sides if (powers := _walk(side, known)) is not None]
    for side, powers in found[1:]:
        first, expected = found[0]
        if powers != expected:
            raise DimensionError(
                f"cannot {verb} {ast.unparse(first)} [{spell(expected)}] and {ast.unparse(side)} [{spell(powers)}]"
                f" in {ast.unparse(node)!r}"
            )
    return found[0][1] if found else None
