"""A formula's own source as a syntax tree, checked against the short list of what a formula may contain.

Every reading that is printed or analysed (dimension, LaTeX, JavaScript) walks this tree after `inline`, which
leaves only symbols, numbers, arithmetic and ops, so that a walk needs to handle nothing else.
"""

import ast
import builtins
import copy
import inspect
import textwrap
from collections import ChainMap
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol, runtime_checkable

from hwlib.formula.ops import OPS
from hwlib.notation import NOTATION

_ADVICE = {
    "For": "a loop: use sum_of or max_of, or make it a plain function",
    "While": "a loop: make it a plain function",
    "If": "an if: use where(condition, a, b)",
    "IfExp": "an if: use where(condition, a, b)",
    "Assign": "an assignment: it is one return",
    "Pass": "nothing: it is one return",
    "FloorDiv": "//: use floor(a/b)",
    "Mod": "%: use a - b*floor(a/b)",
    "Compare": "a comparison, except a single <, <=, > or >= as the condition of where",
    "BoolOp": "and/or: nest where(condition, a, b)",
    "GeneratorExp": (
        "a generator, except in sum_of or max_of, over symbols: sum_of(S_i/W for S_i in S), or "
        "sum_of(S_i/W_i for S_i, W_i in zip(S, W, strict=True))"
    ),
    "ListComp": "a list: write sum_of(S_i/W for S_i in S)",
}
_INSTEAD = {"max": "maximum", "min": "minimum", "sum": "sum_of", "round": "floor", "abs": "maximum(x, -x)"}
_SIGNS = ast.Add | ast.Sub | ast.Mult | ast.Div | ast.Pow
_ORDERS = ast.Lt | ast.LtE | ast.Gt | ast.GtE


class FormulaError(TypeError):
    """A function that is not a formula: a single expression of symbols, numbers, ops and formulas.

    `syntax` is the kind of syntax that a formula may not contain there, as `ast` names it ("While"); empty if the
    body is not at fault.
    """

    def __init__(self, message: str, syntax: str = ""):
        super().__init__(message)
        self.syntax = syntax


class Body(NamedTuple):
    """The returned expression, the targets of its calls, and the symbols that are sequences."""

    expr: ast.expr
    calls: Mapping[str, "str | Called"]
    sequences: frozenset[str]


@runtime_checkable
class Called(Protocol):
    """The interface of a called formula that this module uses."""

    name: str
    args: tuple[str, ...]
    defaults: Mapping[str, float]
    result: str
    body: Body | None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Its value."""


def read(function: Callable, letters: tuple[str, ...]) -> Body | None:
    """The checked body of a function; None where Python does not have its source. Raises FormulaError."""
    try:
        definition = _definition(function)
    except (OSError, TypeError):
        return None
    if not isinstance(definition, ast.FunctionDef):
        raise FormulaError("a formula is a function: def, a docstring and one return")
    *before, last = definition.body
    if before and ast.get_docstring(definition) is not None:
        before = before[1:]
    if before or not isinstance(last, ast.Return) or last.value is None:
        raise _refusal(before[0] if before else last)
    nonlocals = inspect.getclosurevars(function).nonlocals
    checker = _Checker(letters, ChainMap(dict(nonlocals), function.__globals__, vars(builtins)))
    checker.visit(last.value)
    if both := checker.sequences & checker.scalars:
        raise _refusal(last.value, f"{min(both)!r} as a sequence and as a number")
    return Body(last.value, checker.calls, frozenset(checker.sequences))


def _definition(function: Callable) -> ast.stmt:
    """The statement that defines a function. Raises OSError and TypeError where Python does not have its source.

    `inspect.getsource` reads every token up to the end, a third of the time that importing the library takes: the end
    is tried where a line stands as far left as the first, which no string and no bracket that is open survives.
    """
    lines, first = inspect.findsource(inspect.unwrap(function))
    lines = lines[first:]
    try:
        return ast.parse(textwrap.dedent("".join(lines[: _end(lines)]))).body[0]
    except (SyntaxError, IndexError):
        return ast.parse(textwrap.dedent("".join(inspect.getblock(lines)))).body[0]


def _end(lines: list[str]) -> int:
    """The first line after a definition's head that stands as far left as the definition does."""
    left, head = len(lines[0]) - len(lines[0].lstrip()), True
    for number, line in enumerate(lines):
        text = line.strip()
        if not head and text and text[0] not in ")#" and len(line) - len(line.lstrip()) <= left:
            return number
        head = head and not text.startswith("def ")
    return len(lines)


def inline(body: Body, keep: Callable[[Called], bool] = lambda _: False) -> ast.expr:
    """The expression with every called formula written out, except those to `keep`.

    A kept call becomes the symbol of its result, followed by its arguments unless they are its own symbols.
    """
    return _Inline(body, {}, keep).visit(copy.deepcopy(body.expr))


def paired(loop: ast.comprehension) -> list[tuple[str, ast.expr]]:
    """Each element of a reduction's loop with its sequence; empty if the loop is not of this form.

    `x in S` is one pair; `x, y in zip(S, W, strict=True)` is two, and S and W have equal lengths.
    """
    match loop:
        case ast.comprehension(ast.Name(element), ast.Name() as sequence, []):
            return [(element, sequence)]
        case ast.comprehension(
            ast.Tuple(elements),
            ast.Call(ast.Name("zip"), sequences, [ast.keyword("strict", ast.Constant(True))]),
            [],
        ) if len(elements) == len(sequences) and all(isinstance(node, ast.Name) for node in (*elements, *sequences)):
            return [(ast.unparse(element), sequence) for element, sequence in zip(elements, sequences, strict=True)]
    return []


def bind(call: ast.Call, target: Callable) -> dict[str, Any]:
    """The syntax that a call passes to each parameter of its target. Raises TypeError if the arguments do not fit."""
    keywords = {str(k.arg): k.value for k in call.keywords}
    return dict(inspect.signature(target).bind(*call.args, **keywords).arguments)


def _default(formula: Called, letter: str) -> ast.expr:
    """The default of an argument, with the symbol's unit."""
    number, unit = formula.defaults[letter], NOTATION[letter].unit
    return ast.Call(ast.Name("const"), [ast.Constant(number), ast.Constant(unit)], [])


def _refusal(node: ast.AST, what: str = "") -> FormulaError:
    kind = type(node).__name__
    line = ast.unparse(node).split("\n")[0]
    return FormulaError(f"a formula may not contain {what or _ADVICE.get(kind, kind)} (in {line!r})", kind)


class _Checker(ast.NodeVisitor):
    """Visits an expression, rejects what a formula may not contain, and records its calls and sequences."""

    def __init__(self, letters: tuple[str, ...], scope: Mapping[str, Any]):
        self.letters, self.scope = letters, scope
        self.elements: set[str] = set()
        self.calls: dict[str, str | Called] = {}
        self.sequences: set[str] = set()
        self.scalars: set[str] = set()

    def generic_visit(self, node: ast.AST) -> None:
        raise _refusal(node)

    def visit_Name(self, node: ast.Name) -> None:
        if node.id not in (*self.letters, *self.elements):
            raise _refusal(node, f"the name {node.id!r}; its symbols are {', '.join(self.letters)}")
        self.scalars.add(node.id)

    def visit_Constant(self, node: ast.Constant) -> None:
        if type(node.value) not in (int, float):
            raise _refusal(node, f"{node.value!r}, which is not a number")

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if not isinstance(node.op, ast.USub):
            raise _refusal(node)
        self.visit(node.operand)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if not isinstance(node.op, _SIGNS):
            kind = type(node.op).__name__
            raise _refusal(node, _ADVICE.get(kind, kind))
        self.visit(node.left)
        self.visit(node.right)

    def visit_Call(self, node: ast.Call) -> None:
        name = ast.unparse(node.func)
        target = self.scope.get(name)
        op = next((op for op, function in OPS.items() if function is target), None)
        if not op and not isinstance(target, Called):
            hint = f"use {_INSTEAD[name]}" if name in _INSTEAD else "it is neither a formula nor an op"
            raise _refusal(node, f"a call of {name}: {hint}")
        try:
            arguments = bind(node, target)  # type: ignore[arg-type]
        except TypeError as error:
            raise _refusal(node, f"a call of {name} that does not fit: {error}") from None
        if op and node.keywords:
            raise _refusal(node, "an op with named arguments")
        self.calls[name] = op or target  # type: ignore[assignment]
        match op, node.args:
            case "sum_of" | "max_of", _:
                self.reduction(node)
            case "where", [condition, *sides]:
                self.condition(condition)
                for side in sides:
                    self.visit(side)
            case "const", [ast.Constant(value), ast.Constant(unit)]:
                OPS["const"](value, unit)
            case "const", _:
                raise _refusal(node, 'a const that is not written out: const(16, "B")')
            case None, _:
                self.call(node, target, arguments)  # type: ignore[arg-type]
            case _:
                for value in node.args:
                    self.visit(value)

    def call(self, node: ast.Call, target: Called, given: Mapping[str, ast.expr]) -> None:
        for letter, value in given.items():
            if not target.body or letter not in target.body.sequences:
                self.visit(value)
            elif isinstance(value, ast.Name) and value.id in self.letters:
                self.sequences.add(value.id)
            else:
                raise _refusal(node, "anything but a symbol where a called formula takes a sequence")

    def condition(self, node: ast.expr) -> None:
        match node:
            case ast.Compare(left, [sign], [right]) if isinstance(sign, _ORDERS):
                self.visit(left)
                self.visit(right)
            case _:
                raise _refusal(node, "a condition that is not one <, <=, > or >=")

    def reduction(self, node: ast.Call) -> None:
        match node.args:
            case [ast.GeneratorExp(term, [loop])] if pairs := paired(loop):
                new = [element for element, _ in pairs]
                over = [ast.unparse(sequence) for _, sequence in pairs]
                known = {*self.letters, *self.elements}
                fresh = known.isdisjoint(new) and len(set(new)) == len(new)
                if not fresh or not set(over) <= set(self.letters) or self.scope.get("zip") is not zip:
                    letters = ", ".join(self.letters)
                    raise _refusal(node, f"a reduction, except with a new element name over one of {letters}")
                self.sequences.update(over)
                self.elements.update(new)
                self.visit(term)
                self.elements.difference_update(new)
            case _:
                raise _refusal(node, _ADVICE["GeneratorExp"])


class _Inline(ast.NodeTransformer):
    """Replaces symbols by the values of a call, and calls of formulas by their bodies."""

    def __init__(self, body: Body, values: Mapping[str, ast.expr], keep: Callable, name: str = ""):
        self.body, self.values, self.keep, self.name = body, values, keep, name

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return copy.deepcopy(self.values.get(node.id, node))

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        # Renamed after its formula, or an element could capture a symbol of the caller.
        pairs = paired(node.generators[0])
        new = {element: ast.Name(f"{self.name}_{element}" if self.name else element) for element, _ in pairs}
        inside = _Inline(self.body, {**self.values, **new}, self.keep, self.name)
        targets, over = list(new.values()), [self.visit(sequence) for _, sequence in pairs]
        if len(pairs) == 1:
            loop = ast.comprehension(targets[0], over[0], [], 0)
        else:
            strict = ast.keyword("strict", ast.Constant(True))
            loop = ast.comprehension(ast.Tuple(list(targets)), ast.Call(ast.Name("zip"), over, [strict]), [], 0)
        return ast.GeneratorExp(inside.visit(node.elt), [loop])

    def visit_Call(self, node: ast.Call) -> ast.expr:
        target = self.body.calls[ast.unparse(node.func)]
        if isinstance(target, str):
            return ast.Call(ast.Name(target), [self.visit(a) for a in node.args], [])
        arguments = {letter: self.visit(value) for letter, value in bind(node, target).items()}
        values = {letter: arguments.get(letter) or _default(target, letter) for letter in target.args}
        if not self.keep(target):
            assert target.body is not None  # or this reading would not be there
            return _Inline(target.body, values, self.keep, target.name).visit(copy.deepcopy(target.body.expr))
        if all(isinstance(value, ast.Name) and value.id == letter for letter, value in values.items()):
            return ast.Name(target.result)
        return ast.Call(ast.Name(target.result), list(values.values()), [])
