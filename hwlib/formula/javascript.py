"""JavaScript of a formula: an arrow function for our own widgets, an expression for vega-lite.

Both write `+ - * /` and parentheses as Python does, so a tree is turned into text node by node where they differ, and
`ast.unparse` writes the rest. vega has no log2, no `**` and no functions of one's own; its log2 is rounded to
12 decimals, because `log(8)/LN2` may come out above 3, which a `ceil` would make 4.
"""

import ast
import re
from collections.abc import Mapping

_JS = {
    **{op: f"Math.{op}({{}})" for op in ("ceil", "floor", "log2", "sqrt")},
    "minimum": "Math.min({})",
    "maximum": "Math.max({})",
    "power": "Math.pow({})",
    "sum_of": "{}.map(({}) => {}).reduce((a, b) => a + b, 0)",
    "max_of": "Math.max(...{}.map(({}) => {}))",
}
_VEGA = {
    **{op: f"{op}({{}})" for op in ("ceil", "floor", "sqrt")},
    "log2": "(round(log({})/LN2*1e12)/1e12)",
    "minimum": "min({})",
    "maximum": "max({})",
    "power": "pow({})",
}
VEGA_CONSTANTS = frozenset("NaN E LN10 LN2 LOG10E LOG2E PI SQRT1_2 SQRT2 MIN_VALUE MAX_VALUE".split())


def js_of(expr: ast.expr, args: tuple[str, ...], defaults: Mapping[str, object]) -> str:
    """`(n, S, b = 2) => ...`: a function of plain numbers that needs nothing around it."""
    parameters = ", ".join(f"{a} = {defaults[a]}" if a in defaults else a for a in args)
    return f"({parameters}) => {_write(expr, _JS, {})}"


def vega_of(expr: ast.expr, names: Mapping[str, str]) -> str:
    """An expression of the vega language, with each letter written as `names` has it (`{"n": "datum.n"}`)."""
    return _write(expr, _VEGA, names)


def _write(expr: ast.expr, dialect: Mapping[str, str], names: Mapping[str, str]) -> str:
    return ast.unparse(_Writer(dialect, names).visit(expr))


class _Writer(ast.NodeTransformer):
    """Replaces each node that Python writes otherwise by a name that is its text."""

    def __init__(self, dialect: Mapping[str, str], names: Mapping[str, str]):
        self.dialect, self.names = dialect, names

    def text(self, node: ast.expr) -> str:
        return ast.unparse(self.visit(node))

    def visit_Name(self, node: ast.Name) -> ast.expr:
        text = self.names.get(node.id, node.id)
        return ast.Name(text if re.fullmatch(r"[\w.$]+", text) else f"({text})")

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        left, right = self.visit(node.left), self.visit(node.right)
        if isinstance(node.op, ast.Pow):
            return ast.Name(self.dialect["power"].format(f"{ast.unparse(left)}, {ast.unparse(right)}"))
        return ast.BinOp(left, node.op, right)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        return ast.Name(f"(-({self.text(node.operand)}))")

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        return ast.Compare(self.visit(node.left), node.ops, [self.visit(c) for c in node.comparators])

    def visit_Call(self, node: ast.Call) -> ast.expr:
        match node:
            case ast.Call(ast.Name("const"), [value, _]):
                return value
            case ast.Call(ast.Name("where"), [condition, a, b]):
                return ast.Name(f"({self.text(condition)} ? {self.text(a)} : {self.text(b)})")
            case ast.Call(ast.Name(op), [ast.GeneratorExp(elt=term, generators=[loop])]):
                inside = map(self.text, (loop.iter, loop.target, term))
                return ast.Name(self.dialect[op].format(*inside))
        assert isinstance(node.func, ast.Name)
        return ast.Name(self.dialect[node.func.id].format(", ".join(map(self.text, node.args))))
