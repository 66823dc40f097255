"""A formula's own source as a syntax tree: checked against the short list of what a formula may contain, and inlined.

Every printed or analysed reading (dimension, LaTeX, JavaScript) is a walk over this tree. After `inline` it holds only
letters, numbers, arithmetic and ops, so that a walk needs to know nothing else.
"""

import ast
import copy
import inspect
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from hwlib.formula.ops import OPS, REDUCTIONS

_ADVICE = {
    "For": "a loop: use sum_of or max_of, or make it a plain function",
    "While": "a loop: make it a plain function",
    "If": "an if: use where(condition, a, b)",
    "IfExp": "an if: use where(condition, a, b)",
    "Assign": "an assignment: it is one return",
    "FloorDiv": "//: use floor(a/b)",
    "Mod": "%",
    "Compare": "a comparison, except one <, <=, > or >= as the condition of where",
    "GeneratorExp": "a generator, except as the one argument of sum_of or max_of: sum_of(S_i/W for S_i in S)",
    "ListComp": "a list: write sum_of(S_i/W for S_i in S)",
    "BoolOp": "and/or: nest where(condition, a, b)",
}
_INSTEAD = {"max": "maximum", "min": "minimum", "sum": "sum_of", "round": "floor or ceil", "abs": "maximum(x, -x)"}


class FormulaError(TypeError):
    """A function that is no formula: it holds more than one expression of letters, numbers, ops and formulas."""


class Body(NamedTuple):
    """The returned expression, what its calls refer to, and which parameters are sequences to reduce over."""

    expr: ast.expr
    calls: Mapping[str, Any]
    sequences: frozenset[str]


def read(function: Callable, args: tuple[str, ...]) -> Body | None:
    """The checked body of a function; None where Python no longer has its source."""
    try:
        text = inspect.getsource(function)
    except (OSError, TypeError):
        return None
    definition = ast.parse(textwrap.dedent(text)).body[0]
    if not isinstance(definition, ast.FunctionDef):
        raise FormulaError("a formula is a function: def, a docstring and one return")
    statements = definition.body[bool(ast.get_docstring(definition, clean=False)) :]
    for statement in statements[:-1]:
        raise _refusal(statement)
    last = statements[-1] if statements else ast.Pass()
    if not isinstance(last, ast.Return) or last.value is None:
        raise _refusal(last)
    scope = inspect.getclosurevars(function)
    checker = _Checker(args, {**scope.builtins, **scope.globals, **scope.nonlocals})
    checker.visit(last.value)
    return Body(last.value, checker.calls, frozenset(checker.sequences))


def _refusal(node: ast.AST, advice: str | None = None) -> FormulaError:
    what = advice or _ADVICE.get(type(node).__name__, type(node).__name__)
    shown = ast.unparse(node).split("\n")[0] if isinstance(node, ast.stmt | ast.expr) else ""
    return FormulaError(f"a formula may not contain {what}" + (f" (in {shown!r})" if shown else ""))


class _Checker(ast.NodeVisitor):
    """Visits an expression and refuses whatever a formula may not contain."""

    def __init__(self, letters: tuple[str, ...], scope: Mapping[str, Any]):
        self.letters, self.scope = letters, scope
        self.elements: set[str] = set()
        self.calls: dict[str, Any] = {}
        self.sequences: set[str] = set()

    def visit_Name(self, node: ast.Name) -> None:
        if node.id not in self.letters and node.id not in self.elements:
            raise _refusal(node, f"the name {node.id!r}; its letters are {', '.join(self.letters)}")

    def visit_Constant(self, node: ast.Constant) -> None:
        if type(node.value) not in (int, float):
            raise _refusal(node, f"{node.value!r}, only numbers")

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if not isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div | ast.Pow):
            name = type(node.op).__name__
            raise _refusal(node, _ADVICE.get(name, name))
        self.visit(node.left)
        self.visit(node.right)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if not isinstance(node.op, ast.USub):
            raise _refusal(node, type(node.op).__name__)
        self.visit(node.operand)

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
        target = self.scope.get(name)
        op = next((key for key, known in OPS.items() if known is target), None)
        if op is None and not hasattr(target, "body"):
            hint = f"use {_INSTEAD[name]}" if name in _INSTEAD else "it is neither a formula nor an op"
            raise _refusal(node, f"a call of {name!r}: {hint}")
        if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            raise _refusal(node, "* or ** in a call")
        try:
            inspect.signature(target).bind(*node.args, **{str(k.arg): k.value for k in node.keywords})  # type: ignore[arg-type]
        except TypeError as error:
            raise _refusal(node, f"a wrong call of {name!r}: {error}") from None
        self.calls[name] = op or target
        if op in REDUCTIONS:
            self.visit_reduction(node)
        elif op == "where":
            self.visit_condition(node.args[0])
            for side in node.args[1:]:
                self.visit(side)
        elif op == "const":
            if not all(isinstance(a, ast.Constant) for a in node.args):
                raise _refusal(node, 'a const that is not written out, as in const(16, "B")')
            target(*(a.value for a in node.args))  # type: ignore[misc, attr-defined]
        else:
            for value in (*node.args, *(k.value for k in node.keywords)):
                self.visit(value)
            if op is None:
                bound = inspect.signature(target).bind(*node.args, **{str(k.arg): k.value for k in node.keywords})  # type: ignore[arg-type]
                self.sequences |= {v.id for p, v in bound.arguments.items() if p in target.sequences and isinstance(v, ast.Name)}  # type: ignore[union-attr]

    def visit_condition(self, node: ast.expr) -> None:
        ordered = isinstance(node, ast.Compare) and len(node.ops) == 1
        if not ordered or not isinstance(node.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE):  # type: ignore[attr-defined]
            raise _refusal(node, "a condition other than one <, <=, > or >=")
        self.visit(node.left)  # type: ignore[attr-defined]
        self.visit(node.comparators[0])  # type: ignore[attr-defined]

    def visit_reduction(self, node: ast.Call) -> None:
        terms = node.args[0] if node.args else None
        match terms:
            case ast.GeneratorExp(elt=term, generators=[ast.comprehension(ast.Name(x), ast.Name(xs), [], 0)]):
                if xs not in self.letters or x in (*self.letters, *self.elements):
                    raise _refusal(node, f"a reduction but over one of {', '.join(self.letters)}, in a new name")
                self.sequences.add(xs)
                self.elements.add(x)
                self.visit(term)
                self.elements.discard(x)
            case _:
                raise _refusal(node, "a reduction but of a generator over one letter: sum_of(S_i/W for S_i in S)")

    def generic_visit(self, node: ast.AST) -> None:
        raise _refusal(node)


def inline(body: Body, values: Mapping[str, ast.expr], keep: Callable[[Any], bool] = lambda _: False, name="") -> ast.expr:
    """The body with its letters replaced by `values` and every called formula written out, but for those to `keep`.

    A kept call becomes the letter of its result, with its arguments where they are not simply its own letters.
    """
    return _Inline(body, values, keep, name).visit(copy.deepcopy(body.expr))


class _Inline(ast.NodeTransformer):
    def __init__(self, body: Body, values: Mapping[str, ast.expr], keep: Callable[[Any], bool], name: str):
        self.body, self.values, self.keep, self.name = body, dict(values), keep, name

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.values.get(node.id, node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        loop = node.generators[0]
        element = loop.target
        assert isinstance(element, ast.Name)
        # An inlined element is renamed, or it could capture a letter of the caller.
        renamed = ast.Name(f"{self.name}_{element.id}".lstrip("_"))
        loop.iter = self.visit(loop.iter)
        outer, self.values = self.values, {**self.values, element.id: renamed}
        loop.target, node.elt = renamed, self.visit(node.elt)
        self.values = outer
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        assert isinstance(node.func, ast.Name)
        target = self.body.calls[node.func.id]
        args = [self.visit(a) for a in node.args]
        if isinstance(target, str):
            return ast.Call(ast.Name(target), args, [])
        keywords = {str(k.arg): self.visit(k.value) for k in node.keywords}
        bound = inspect.signature(target).bind(*args, **keywords).arguments
        bound = {a: bound.get(a) or ast.Constant(target.defaults[a]) for a in target.args}
        if not self.keep(target):
            return inline(target.body, bound, self.keep, target.name)
        same = all(isinstance(v, ast.Name) and v.id == a for a, v in bound.items())
        return ast.Name(target.result) if same else ast.Call(ast.Name(target.result), list(bound.values()), [])
