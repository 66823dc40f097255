"""An expression typed as text, read by an allow-list over Python's syntax tree; nothing of it is
evaluated."""

from __future__ import annotations

import ast
import re
import unicodedata
from collections.abc import Collection
from fractions import Fraction

from . import notation
from .trees import MAX_DEPTH, MAX_NODES, Tree, TreeError, float_tree, node, number_tree

MAX_LENGTH = 500
MAX_LITERAL = 40
FUNCTIONS = {
    "max": ("max", 1, 50), "Max": ("max", 1, 50), "maximum": ("max", 2, 2), "min": ("min", 1, 50),
    "Min": ("min", 1, 50), "minimum": ("min", 2, 2), "ceil": ("ceil", 1, 1), "ceiling": ("ceil", 1, 1),
    "floor": ("floor", 1, 1), "log2": ("log2", 1, 1), "ln": ("log", 1, 1), "log": ("log", 1, 2),
    "exp": ("exp", 1, 1), "abs": ("abs", 1, 1), "Abs": ("abs", 1, 1), "sqrt": ("sqrt", 1, 1),
    "where": ("where", 3, 3),
}  # fmt: skip
COMPARISONS = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}
TYPED = str.maketrans(
    {
        "×": "*",
        "·": "*",
        "−": "-",
        "÷": "/",
        "^": "**",
        "≤": "<=",
        "≥": ">=",
        "≠": "!=",
    }
)


def parse(text: str, names: Collection[str]) -> Tree:
    """The tree of `text` in the letters `names`; TreeError says what it cannot contain and what was
    expected."""
    source = completed(text, names)
    try:
        parsed = ast.parse(source, mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise TreeError("the expression cannot be read; a form such as 2*(n - 1)/n * S/W was expected") from None
    return _Reader(source, frozenset(names)).read(parsed.body, 0)


def completed(text: str, names: Collection[str]) -> str:
    """A text as it is read: in Python's signs, with those of its products, and Greek letters by their names."""
    if len(text) > MAX_LENGTH:
        say = f"an expression of {len(text)} characters; at most {MAX_LENGTH} were expected"
        raise TreeError(say, "too-large")
    source = _with_greek(typed(text), names)
    if re.search(rf"[\w.]{{{MAX_LITERAL},}}", source):
        raise TreeError(f"a number or name of more than {MAX_LITERAL} characters", "too-large")
    if odd := re.search(r"[^\w\s+\-*/%().,<>=!]", source):
        raise TreeError(
            f"the character {odd[0]!r} has no place in an expression"
            if odd[0].isprintable() and odd[0] not in "<>&`"
            else "a character that has no place in an expression",
            "character",
        )
    if re.match(r"\w+\s*=(?!=)", source):
        raise TreeError("an equation; its right-hand side alone was expected", "equation")
    return notation.completed(text.strip(), source, names, {*FUNCTIONS, "Piecewise"} - {*names})


def typed(text: str) -> str:
    """A text in Python's signs."""
    return text.strip().translate(TYPED)


def _with_greek(source: str, names: Collection[str]) -> str:
    """The source with each Greek letter spelled out that begins a letter of the exercise, as alpha does."""
    for character in {*re.findall("[\u00b5\u0370-\u03ff]", source)}:
        name = unicodedata.name(unicodedata.normalize("NFKC", character), "")
        spelled = name.split(" WITH ")[0].split(" ")[-1].lower()
        if any(name.startswith(spelled) for name in names):
            source = source.replace(character, spelled)
    return source


class _Reader:
    """Builds the tree of one text."""

    def __init__(self, source: str, names: frozenset[str]):
        self.source, self.names, self.nodes = source, names, MAX_NODES

    def read(self, x: ast.AST, depth: int) -> Tree:
        self.nodes -= 1
        if self.nodes < 0 or depth > MAX_DEPTH:
            raise TreeError("the expression is too large", "too-large")
        if isinstance(x, ast.Constant):
            return self._constant(x)
        if isinstance(x, ast.Name):
            return self._name(x.id)
        if isinstance(x, ast.UnaryOp):
            return self._unary(x, depth)
        if isinstance(x, ast.BinOp):
            return self._binary(x, depth)
        if isinstance(x, ast.IfExp):
            return self._where(x.test, x.body, x.orelse, depth)
        if isinstance(x, ast.Compare):
            return self._comparison(x, depth)
        if isinstance(x, ast.BoolOp):
            head = "and" if isinstance(x.op, ast.And) else "or"
            return node(head, tuple(self.read(v, depth + 1) for v in x.values))
        if isinstance(x, ast.Call):
            return self._call(x, depth)
        name = type(x).__name__.lower()
        say = f"{'an' if name[0] in 'aeiou' else 'a'} {name} has no place in an expression"
        raise TreeError(say, "unknown-operation")

    def _constant(self, x: ast.Constant) -> Tree:
        if type(x.value) is bool:
            return node(str(x.value).lower(), ())
        if type(x.value) is int:
            return number_tree(x.value)
        if type(x.value) is float:
            typed = (ast.get_source_segment(self.source, x) or "").replace("_", "")
            return (
                Tree("dec", (typed,)) if re.fullmatch(r"\d+(\.\d+)?([eE][-+]?\d{1,3})?", typed) else float_tree(x.value)
            )
        raise TreeError(f"a constant of type {type(x.value).__name__} has no place in an expression")

    def _name(self, name: str) -> Tree:
        if name in self.names:
            return Tree("sym", (name,))
        if name == "pi":
            return node("pi", ())
        if name in FUNCTIONS or name == "Piecewise":
            raise TreeError(f"{name} is a function; it needs its arguments in brackets", "arguments")
        # An unknown name is a symbol too: the answer kind decides which symbols are allowed.
        return Tree("sym", (name,))

    def _unary(self, x: ast.UnaryOp, depth: int) -> Tree:
        value = self.read(x.operand, depth + 1)
        if isinstance(x.op, ast.UAdd):
            return value
        if isinstance(x.op, ast.USub):
            return node("mul", (number_tree(-1), value))
        if isinstance(x.op, ast.Not):
            return node("not", (value,))
        raise TreeError("the operator ~ has no place in an expression", "unknown-operation")

    def _binary(self, x: ast.BinOp, depth: int) -> Tree:
        a, b = self.read(x.left, depth + 1), self.read(x.right, depth + 1)
        if isinstance(x.op, ast.Add):
            return node("add", (a, b))
        if isinstance(x.op, ast.Sub):
            return node("add", (a, node("mul", (number_tree(-1), b))))
        if isinstance(x.op, ast.Mult):
            return node("mul", (a, b))
        if isinstance(x.op, ast.Div):
            return node("mul", (a, node("pow", (b, number_tree(-1)))))
        if isinstance(x.op, ast.FloorDiv):
            return node("floor", (node("mul", (a, node("pow", (b, number_tree(-1))))),))
        if isinstance(x.op, ast.Mod):
            return node("mod", (a, b))
        if isinstance(x.op, ast.Pow):
            return node("pow", (a, b))
        say = f"the operator {type(x.op).__name__} has no place in an expression"
        raise TreeError(say, "unknown-operation")

    def _where(self, test: ast.AST, then: ast.AST, other: ast.AST, depth: int) -> Tree:
        values = [self.read(v, depth + 1) for v in (then, test, other)]
        return node("where", (*values, node("true", ())))

    def _comparison(self, x: ast.Compare, depth: int) -> Tree:
        sides = [self.read(v, depth + 1) for v in (x.left, *x.comparators)]
        parts = []
        for op, a, b in zip(x.ops, sides, sides[1:], strict=False):
            if type(op) not in COMPARISONS:
                say = f"the comparison {type(op).__name__} has no place in an expression"
                raise TreeError(say, "unknown-operation")
            parts.append(node(COMPARISONS[type(op)], (a, b)))
        return parts[0] if len(parts) == 1 else node("and", tuple(parts))

    def _call(self, x: ast.Call, depth: int) -> Tree:
        if not isinstance(x.func, ast.Name) or x.keywords or any(isinstance(a, ast.Starred) for a in x.args):
            say = "only a function's name and its arguments in brackets have a place in an expression"
            raise TreeError(say, "unknown-operation")
        name = x.func.id
        if name == "Piecewise":
            return self._piecewise(x, depth)
        if name not in FUNCTIONS:
            known = ", ".join(sorted(n for n in FUNCTIONS if n[0].islower()))
            say = f"{name} is not a known function; there are {known}"
            raise TreeError(say, "unknown-operation")
        head, least, most = FUNCTIONS[name]
        if not least <= len(x.args) <= most:
            raise TreeError(
                f"{name} of {len(x.args)} arguments; {least if least == most else f'{least} to {most}'} were expected",
                "arguments",
            )
        if head == "where":
            return self._where(x.args[0], x.args[1], x.args[2], depth)
        args = tuple(self.read(a, depth + 1) for a in x.args)
        if head == "sqrt":
            return node("pow", (args[0], number_tree(Fraction(1, 2))))
        if head == "log" and len(args) == 2:
            return node("mul", (node("log", args[:1]), node("pow", (node("log", args[1:]), number_tree(-1)))))
        return node(head, args)

    def _piecewise(self, x: ast.Call, depth: int) -> Tree:
        args: list[Tree] = []
        for pair in x.args:
            if not isinstance(pair, ast.Tuple) or len(pair.elts) != 2:
                raise TreeError("Piecewise takes pairs (value, condition)", "arguments")
            args += [self.read(v, depth + 1) for v in pair.elts]
        return node("where", tuple(args))
