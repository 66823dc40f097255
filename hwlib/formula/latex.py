"""LaTeX of a formula, printed from its own source."""

import ast
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from hwlib.formula.source import paired
from hwlib.notation import NOTATION

# Operator precedence: a node of lower precedence than its place requires gets parentheses.
_REACHING, _SUM, _PRODUCT, _TIGHT = range(4)
_ORDERS = {ast.Lt: "<", ast.LtE: r"\le", ast.Gt: ">", ast.GtE: r"\ge"}
_CALLS = {
    "ceil": r"\left\lceil {} \right\rceil",
    "floor": r"\left\lfloor {} \right\rfloor",
    "sqrt": r"\sqrt{{{}}}",
    "log2": r"\log_2\left({}\right)",
    "ln": r"\ln\left({}\right)",
    "minimum": r"\min\left({}\right)",
    "maximum": r"\max\left({}\right)",
}


def tex_of(expr: ast.expr) -> str:
    """LaTeX of an expression of symbols, numbers, arithmetic and ops."""
    return _Printer({}).visit(expr)


def _level(node: ast.expr) -> int:
    match node:
        case ast.Call(ast.Name("sum_of" | "max_of" | "where")):
            return _REACHING
        case ast.BinOp(op=ast.Add() | ast.Sub()) | ast.UnaryOp():
            return _SUM
        case ast.BinOp(op=ast.Mult()):
            return _PRODUCT
        case ast.Constant(value):
            return _PRODUCT if "^" in _number(value) else _TIGHT
        case ast.Call(ast.Name("const"), [value, _]):
            return _level(value)
    return _TIGHT


def _number(value: Any) -> str:
    """A number as written in the source; large and small floats as powers of ten."""
    if isinstance(value, int) or not value or 1e-3 <= value < 1e5:
        return repr(value).removesuffix(".0")
    mantissa, _, exponent = f"{Decimal(repr(value)).normalize():e}".partition("e")
    return rf"{mantissa} \cdot ".removeprefix(r"1 \cdot ") + f"10^{{{int(exponent)}}}"


def _indexed(sequence: str, index: str) -> str:
    return (f"{{{sequence}}}" if "_" in sequence else sequence) + f"_{index}"


class _Printer(ast.NodeVisitor):
    def __init__(self, elements: Mapping[str, str]):
        self.elements = elements  # the LaTeX of the elements of the reductions around

    def within(self, node: ast.expr, level: int) -> str:
        text = self.visit(node)
        return text if _level(node) >= level else rf"\left({text}\right)"

    def visit_Name(self, node: ast.Name) -> str:
        return self.elements.get(node.id) or NOTATION[node.id].tex

    def visit_Constant(self, node: ast.Constant) -> str:
        return _number(node.value)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> str:
        return "-" + self.within(node.operand, _PRODUCT)

    def visit_BinOp(self, node: ast.BinOp) -> str:
        left, right = node.left, node.right
        match node.op:
            case ast.Div():
                return rf"\frac{{{self.visit(left)}}}{{{self.visit(right)}}}"
            case ast.Pow():
                bare = isinstance(left, ast.Name | ast.Constant) and _level(left) == _TIGHT
                base = self.visit(left) if bare else rf"\left({self.visit(left)}\right)"
                return f"{base}^{{{self.visit(right)}}}"
            case ast.Mult():
                factor = self.within(right, _PRODUCT)
                return self.within(left, _PRODUCT) + (r" \cdot " if factor[0].isdigit() else r" \, ") + factor
            case ast.Add() if not isinstance(right, ast.UnaryOp):
                return f"{self.within(left, _SUM)} + {self.within(right, _SUM)}"
        sign = "+" if isinstance(node.op, ast.Add) else "-"
        return f"{self.within(left, _SUM)} {sign} {self.within(right, _PRODUCT)}"

    def visit_Compare(self, node: ast.Compare) -> str:
        return f"{self.visit(node.left)} {_ORDERS[type(node.ops[0])]} {self.visit(node.comparators[0])}"

    def visit_Call(self, node: ast.Call) -> str:
        match node:
            case ast.Call(ast.Name("const"), [value, _]):
                return self.visit(value)
            case ast.Call(ast.Name("where"), [condition, a, b]):
                first = rf"{self.visit(a)} & \text{{if }} {self.visit(condition)}"
                return rf"\begin{{cases}} {first} \\ {self.visit(b)} & \text{{otherwise}} \end{{cases}}"
            case ast.Call(ast.Name(op), [ast.GeneratorExp(term, [loop])]):
                index = "ijklm"[len({text[-1] for text in self.elements.values()})]
                elements = {element: _indexed(self.visit(sequence), index) for element, sequence in paired(loop)}
                printer = _Printer({**self.elements, **elements})
                return rf"\{op[:3]}_{index} {printer.within(term, _PRODUCT)}"
            case ast.Call(ast.Name(name), args):
                inside = ", ".join(map(self.visit, args))
                if name in _CALLS:
                    return _CALLS[name].format(inside)
                return rf"{NOTATION[name].tex}\left({inside}\right)"
        raise AssertionError(ast.dump(node))
