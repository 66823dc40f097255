"""JavaScript of a formula: an arrow function for our own widgets, an expression for vega-lite.

Both write `+ - * /`, comparisons and parentheses as Python does, so every other node is replaced by a name that is
its text, and `ast.unparse` writes the rest. Vega has no log2, no `**` and no user-defined functions. Its log2 is
rounded to 12 decimals: `log(2^29)/LN2` comes out above 29, which a ceil would make 30.
"""

import ast
import re
from collections.abc import Mapping

from hwlib.formula.source import paired

_JS = {
    **{op: f"Math.{op}({{}})" for op in ("ceil", "floor", "log2", "sqrt")},
    "ln": "Math.log({})",
    "minimum": "Math.min({})",
    "maximum": "Math.max({})",
    "power": "Math.pow({}, {})",
    "sum_of": "{}.map(({}) => {}).reduce((a, b) => a + b, 0)",
    "max_of": "Math.max(...{}.map(({}) => {}))",
}
_VEGA = {
    **{op: f"{op}({{}})" for op in ("ceil", "floor", "sqrt")},
    "log2": "(round(log({})/LN2*1e12)/1e12)",
    "ln": "log({})",
    "minimum": "min({})",
    "maximum": "max({})",
    "power": "pow({}, {})",
}
VEGA_CONSTANTS = frozenset(
    ("NaN", "E", "LN10", "LN2", "LOG10E", "LOG2E", "PI", "SQRT1_2", "SQRT2", "MIN_VALUE", "MAX_VALUE")
)


def js_of(expr: ast.expr, args: tuple[str, ...], defaults: Mapping[str, float]) -> str:
    """`(n, S, b = 2) => ...`: a function of plain numbers that needs nothing around it."""
    parameters = ", ".join(f"{a} = {defaults[a]!r}" if a in defaults else a for a in args)
    return f"({parameters}) => {_Writer(_JS, {}).text(expr)}"


def vega_of(expr: ast.expr, names: Mapping[str, str]) -> str:
    """A vega expression, each symbol replaced as `names` says: `{"n": "datum.n"}`."""
    return _Writer(_VEGA, names).text(expr)


class _Writer(ast.NodeTransformer):
    def __init__(self, dialect: Mapping[str, str], names: Mapping[str, str]):
        self.dialect, self.names = dialect, names

    def text(self, node: ast.expr) -> str:
        return ast.unparse(self.visit(node))

    def visit_Name(self, node: ast.Name) -> ast.expr:
        text = self.names.get(node.id, node.id)
        return ast.Name(text if re.fullmatch(r"[\w.$]+", text) else f"({text})")

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        operand = self.visit(node.operand)
        if isinstance(operand, ast.UnaryOp):
            operand = ast.Name(f"({ast.unparse(operand)})")  # `--x` would lower x
        return ast.UnaryOp(node.op, operand)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        if isinstance(node.op, ast.Pow):
            return ast.Name(self.dialect["power"].format(self.text(node.left), self.text(node.right)))
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_Call(self, node: ast.Call) -> ast.expr:
        match node:
            case ast.Call(ast.Name("const"), [value, _]):
                return value
            case ast.Call(ast.Name("where"), [condition, a, b]):
                return ast.Name(f"({self.text(condition)} ? {self.text(a)} : {self.text(b)})")
            case ast.Call(ast.Name(op), [ast.GeneratorExp(term, [loop])]):
                (first, sequence), *others = paired(loop)
                at = f"{first}_at"
                inside = {element: f"{self.text(other)}[{at}]" for element, other in others}
                parameters = f"{first}, {at}" if others else first
                body = _Writer(self.dialect, {**self.names, **inside}).text(term)
                return ast.Name(self.dialect[op].format(self.text(sequence), parameters, body))
            case ast.Call(ast.Name(op), args):
                return ast.Name(self.dialect[op].format(", ".join(map(self.text, args))))
        raise AssertionError(ast.dump(node))
