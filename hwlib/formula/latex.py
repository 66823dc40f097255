"""LaTeX of a formula, printed from its own source: what you wrote is what you read."""

import ast

from hwlib.notation import NOTATION

_SUM, _PRODUCT, _POWER, _ATOM = 1, 2, 3, 4
_OPEN = 0  # a reduction: it reaches as far to the right as it can
_SIGNS = {ast.Lt: "<", ast.LtE: r"\le", ast.Gt: ">", ast.GtE: r"\ge"}
_CALLS = {
    "ceil": r"\left\lceil {} \right\rceil",
    "floor": r"\left\lfloor {} \right\rfloor",
    "sqrt": r"\sqrt{{{}}}",
    "log2": r"\log_2\left({}\right)",
}


def tex_of(expr: ast.expr, elements: tuple[tuple[str, str], ...] = ()) -> str:
    """LaTeX of an expression of letters, numbers, arithmetic and ops."""
    return _Printer(dict(elements)).visit(expr)


def _level(node: ast.expr) -> int:
    """How tightly a node holds together: what is looser than its place asks for gets parentheses."""
    match node:
        case ast.BinOp(op=ast.Add() | ast.Sub()) | ast.UnaryOp():
            return _SUM
        case ast.BinOp(op=ast.Mult()):
            return _PRODUCT
        case ast.BinOp(op=ast.Pow()):
            return _POWER
        case ast.Constant(value) if "e" in repr(value):
            return _PRODUCT
        case ast.Call(ast.Name("const"), [value, _]):
            return _level(value)
        case ast.Call(ast.Name("sum_of" | "max_of")):
            return _OPEN
        case ast.BinOp(op=ast.Div()):
            return _ATOM
    return _ATOM


class _Printer(ast.NodeVisitor):
    def __init__(self, elements: dict[str, str]):
        self.elements = elements

    def within(self, node: ast.expr, level: int) -> str:
        text = self.visit(node)
        return text if _level(node) >= level else rf"\left({text}\right)"

    def visit_Name(self, node: ast.Name) -> str:
        return self.elements.get(node.id) or NOTATION[node.id].tex

    def visit_Constant(self, node: ast.Constant) -> str:
        mantissa, _, exponent = repr(node.value).partition("e")
        if not exponent:
            return mantissa.removesuffix(".0")
        power = f"10^{{{int(exponent)}}}"
        return power if mantissa == "1" else rf"{mantissa} \cdot {power}"

    def visit_UnaryOp(self, node: ast.UnaryOp) -> str:
        return "-" + self.within(node.operand, _PRODUCT)

    def visit_BinOp(self, node: ast.BinOp) -> str:
        left, right = node.left, node.right
        match node.op:
            case ast.Div():
                return rf"\frac{{{self.visit(left)}}}{{{self.visit(right)}}}"
            case ast.Pow():
                base = self.visit(left)
                plain = isinstance(left, ast.Name) or (isinstance(left, ast.Constant) and _level(left) == _ATOM)
                return (base if plain else rf"\left({base}\right)") + f"^{{{self.visit(right)}}}"
            case ast.Mult():
                digit = self.visit(right)[:1].isdigit()
                return self.within(left, _PRODUCT) + (r" \cdot " if digit else r" \, ") + self.within(right, _PRODUCT)
        sign = "+" if isinstance(node.op, ast.Add) else "-"
        tight = sign == "-" or isinstance(right, ast.UnaryOp)
        return f"{self.within(left, _SUM)} {sign} {self.within(right, _PRODUCT if tight else _SUM)}"

    def visit_Compare(self, node: ast.Compare) -> str:
        return f"{self.visit(node.left)} {_SIGNS[type(node.ops[0])]} {self.visit(node.comparators[0])}"

    def visit_Call(self, node: ast.Call) -> str:
        match node:
            case ast.Call(ast.Name("const"), [value, _]):
                return self.visit(value)
            case ast.Call(ast.Name("where"), [condition, a, b]):
                rows = rf"{self.visit(a)} & \text{{if }} {self.visit(condition)} \\ {self.visit(b)} & \text{{otherwise}}"
                return rf"\begin{{cases}} {rows} \end{{cases}}"
            case ast.Call(ast.Name("sum_of" | "max_of" as op), [ast.GeneratorExp() as terms]):
                return self.reduction(op, terms)
        assert isinstance(node.func, ast.Name)
        args = ", ".join(map(self.visit, node.args))
        if node.func.id in ("minimum", "maximum"):
            return rf"\{node.func.id[:3]}\left({args}\right)"
        if node.func.id in _CALLS:
            return _CALLS[node.func.id].format(args)
        return rf"{NOTATION[node.func.id].tex}\left({args}\right)"

    def reduction(self, op: str, terms: ast.GeneratorExp) -> str:
        element, sequence = terms.generators[0].target, terms.generators[0].iter
        assert isinstance(element, ast.Name)
        index = "ijklm"[len(self.elements)]
        inside = _Printer({**self.elements, element.id: f"{{{self.visit(sequence)}}}_{index}"})
        sign = r"\sum" if op == "sum_of" else r"\max"
        return rf"{sign}_{index} {inside.within(terms.elt, _PRODUCT)}"
