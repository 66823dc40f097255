"""A computed number of the text as JavaScript, so that it follows in the page when a quantity is dragged.

What does not depend on a dragged quantity is folded into a number. Arithmetic, conditions, the functions of a
formula, `show` and the formats of an f-string are translated; a formula is called by its own JavaScript. Anything
else (an attribute of a chip, a search in a table, an algorithm) becomes a list with its value for each value of the
quantity, since a quantity has few; of several quantities, for each combination.

The JavaScript sees `v`, the values of the quantities by name, `at`, their places in their lists, `f`, the formulas,
`u`, the units, and `N`, docs/_static/numbers.js.
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Mapping
from itertools import product
from typing import Any

from hwlib.formula import Formula, NoReading, ops
from hwlib.units import scale, show

from .dragged import Dragged

LARGEST = 4096  # combinations of values that a list may hold
SPEC = re.compile(r"\+?,?(?:\.\d+)?[dfge%]?")
_PLAIN = {
    math.ceil: "Math.ceil", math.floor: "Math.floor", math.sqrt: "Math.sqrt", math.log2: "Math.log2",
    math.log: "Math.log", math.log10: "Math.log10", math.exp: "Math.exp", ops.ceil: "Math.ceil",
    ops.floor: "Math.floor", ops.sqrt: "Math.sqrt", ops.log2: "Math.log2", ops.ln: "Math.log",
    ops.minimum: "Math.min", ops.maximum: "Math.max", min: "Math.min", max: "Math.max", abs: "Math.abs",
    int: "Math.trunc", float: "Number",
}  # fmt: skip
_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_ORDERS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "===", ast.NotEq: "!=="}


class NotCompiled(ValueError):
    """An expression that cannot follow a dragged quantity."""


class Compiler:
    """Writes the numbers of one page; `formulas` and `units` are what they call and name, with their JavaScript."""

    def __init__(self, namespace: Mapping[str, Any], quantities: Mapping[str, Dragged]):
        self.namespace, self.quantities = namespace, quantities
        self.formulas: dict[str, str] = {}
        self.units: dict[str, dict[str, Any]] = {}

    def text(self, expression: str) -> str:
        """An arrow function that gives the text of `{n}`. Raises NotCompiled."""
        tree = ast.parse(expression.strip(), mode="eval").body
        for name in self._used(tree):
            for value in (self.quantities[name].values[0], self.quantities[name].values[-1]):
                self._value(tree, {name: value})
        return f"(v, at) => N.number({self._js(tree)}, {self._kind(tree)!r})"

    def value(self, expression: str) -> str:
        """An arrow function that gives the value. Raises NotCompiled."""
        return f"(v, at) => {self._js(ast.parse(expression.strip(), mode='eval').body)}"

    def shown(self, node: ast.expr, unit: str, whole: bool) -> str:
        """An arrow function that gives the value in a unit; without one, as `{n}` writes it. If `whole`, a whole number
        has none."""
        if not unit:
            return f"(v, at) => N.number({self._js(node)}, {self._kind(node)!r})"
        self.units.setdefault(unit, unit_steps(unit))
        return f"(v, at) => N.inUnit({self._js(node)}, u[{_literal(unit)}], {_literal(whole)})"

    def depends(self, node: ast.AST) -> bool:
        """Whether an expression has a quantity in it."""
        return bool(self._used(node))

    def _used(self, node: ast.AST) -> list[str]:
        mentioned = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
        return [name for name in self.quantities if name in mentioned]

    def _value(self, node: ast.expr, given: Mapping[str, Any] | None = None) -> Any:
        values = {name: one.value for name, one in self.quantities.items()} | dict(given or {})
        code = compile(ast.fix_missing_locations(ast.Expression(node)), "<number>", "eval")
        try:
            return eval(code, {**self.namespace, **values})
        except Exception as error:
            at = ", ".join(f"{name} = {value!r}" for name, value in (given or {}).items())
            raise NotCompiled(f"it fails with {type(error).__name__}{f' at {at}' if at else ''}: {error}") from error

    def _kind(self, node: ast.expr) -> str:
        """ "s" for a text, "i" for a whole number, "f" for a float: at the book's values."""
        value = self._value(node)
        if isinstance(value, str):
            return "s"
        return "i" if isinstance(value, int) and not isinstance(value, bool) else "f"

    def _js(self, node: ast.expr) -> str:
        if not self._used(node):
            return _literal(self._value(node))
        try:
            return self._translated(node)
        except NotCompiled:
            return self._list(node)

    def _translated(self, node: ast.expr) -> str:
        match node:
            case ast.Name(name):
                if not isinstance(self.quantities[name].value, int | float):
                    raise NotCompiled(name)
                return f"v.{name}"
            case ast.UnaryOp(ast.USub(), operand):
                return f"(-({self._js(operand)}))"
            case ast.UnaryOp(ast.Not(), operand):
                return f"(!({self._js(operand)}))"
            case ast.BinOp(left, ast.Add(), right) if self._kind(left) != "s" or self._kind(right) == "s":
                return f"({self._js(left)} + {self._js(right)})"
            case ast.BinOp(left, sign, right) if type(sign) in _SIGNS and "s" not in self._kind(left) + self._kind(
                right
            ):
                return f"({self._js(left)} {_SIGNS[type(sign)]} {self._js(right)})"
            case ast.BinOp(left, ast.Pow(), right):
                return f"Math.pow({self._js(left)}, {self._js(right)})"
            case ast.BinOp(left, ast.FloorDiv(), right):
                return f"Math.floor({self._js(left)}/{self._js(right)})"
            case ast.Compare(left, signs, rights) if all(type(sign) in _ORDERS for sign in signs):
                sides = [self._js(side) for side in (left, *rights)]
                pairs = zip(sides, (_ORDERS[type(sign)] for sign in signs), sides[1:], strict=False)
                return "(" + " && ".join(f"{a} {sign} {b}" for a, sign, b in pairs) + ")"
            case ast.BoolOp(sign, sides):
                return "(" + (" && " if isinstance(sign, ast.And) else " || ").join(map(self._js, sides)) + ")"
            case ast.IfExp(condition, a, b):
                return f"({self._js(condition)} ? {self._js(a)} : {self._js(b)})"
            case ast.JoinedStr(parts):
                return "(" + " + ".join(['""', *map(self._part, parts)]) + ")"
            case ast.Call():
                return self._call(node)
        raise NotCompiled(ast.unparse(node))

    def _part(self, part: ast.expr) -> str:
        if isinstance(part, ast.Constant):
            return _literal(part.value)
        assert isinstance(part, ast.FormattedValue)
        spec = self._value(part.format_spec) if part.format_spec else ""
        if part.conversion != -1 or not SPEC.fullmatch(spec):
            raise NotCompiled(ast.unparse(part.value))
        return f"N.format({self._js(part.value)}, {_literal(spec)}, {self._kind(part.value)!r})"

    def _call(self, node: ast.Call) -> str:
        if self._used(node.func):
            raise NotCompiled(ast.unparse(node))
        target = self._value(node.func)
        if isinstance(target, Formula):
            return self._formula(node, target)
        if target is show:
            return self._show(node)
        if node.keywords or any(isinstance(one, ast.Starred) for one in node.args):
            raise NotCompiled(ast.unparse(node))
        if target is ops.where and len(node.args) == 3:
            condition, a, b = map(self._js, node.args)
            return f"({condition} ? {a} : {b})"
        if target is round:
            return f"N.round({', '.join(map(self._js, node.args))})"
        name = _PLAIN.get(target) if getattr(target, "__hash__", None) else None
        if name is None or (target in (min, max) and len(node.args) < 2) or (target is math.log and len(node.args) > 1):
            raise NotCompiled(ast.unparse(node))
        return f"{name}({', '.join(map(self._js, node.args))})"

    def _formula(self, node: ast.Call, target: Formula) -> str:
        try:
            js = target.js
        except NoReading as error:
            raise NotCompiled(str(error)) from error
        keywords = {str(one.arg): one.value for one in node.keywords}
        bound = target.__signature__.bind(*node.args, **keywords).arguments
        name = target.qualname.replace(".", "_")
        self.formulas[name] = js
        arguments = [self._js(bound[letter]) if letter in bound else "undefined" for letter in target.args]
        return f"f.{name}({', '.join(arguments)})"

    def _show(self, node: ast.Call) -> str:
        keywords = {str(one.arg): one.value for one in node.keywords}
        x, unit, digits = [*node.args, *(None,) * (3 - len(node.args))][:3]
        unit, digits = unit or keywords.get("unit"), digits or keywords.get("digits")
        if x is None or (unit and self._used(unit)) or (digits and self._used(digits)):
            raise NotCompiled(ast.unparse(node))
        name = self._value(unit) if unit else "1"
        self.units.setdefault(name, unit_steps(name))
        more = f", {self._js(digits)}" if digits else ""
        return f"N.show({self._js(x)}, u[{_literal(name)}]{more})"

    def _list(self, node: ast.expr) -> str:
        """The values of an expression as nested lists, one level a quantity."""
        used = self._used(node)
        if math.prod(len(self.quantities[name].values) for name in used) > LARGEST:
            raise NotCompiled(f"`{ast.unparse(node)}` has more than {LARGEST} values: {' times '.join(used)}")
        every = product(*(self.quantities[name].values for name in used))
        values = iter([_literal(self._value(node, dict(zip(used, one, strict=True)))) for one in every])

        def nested(names: list[str]) -> str:
            inner = (nested(names[1:]) if names[1:] else next(values) for _ in self.quantities[names[0]].values)
            return f"[{','.join(inner)}]"

        return nested(used) + "".join(f"[at.{name}]" for name in used)


def _literal(value: Any) -> str:
    """A number, a text or a truth value in JavaScript."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=True).replace("<", "\\u003c")
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, int | float):
        raise NotCompiled(f"{value!r} is neither a number nor a text")
    if value != value or value in (math.inf, -math.inf):
        return "NaN" if value != value else "Infinity" if value > 0 else "(-Infinity)"
    return repr(value) if value >= 0 else f"({value!r})"


def unit_steps(unit: str) -> dict[str, Any]:
    """What numbers.js needs to write a unit as `show` does, found by asking `show`: a step for each power of 1000 that
    it writes as 1 of something; of seconds also minutes, hours, days and years."""
    size = scale(unit)
    steps = []
    for power in range(-12, 25, 3):
        least = float(f"1e{power}")
        if unit == "s" and power > 0:
            break
        number, unit_text = _split(show(least * size, unit))
        if number == "1":
            steps.append([least, least, unit_text, _split(show(2 * least * size, unit))[1]])
    steps_of: dict[str, Any] = {
        "scale": size,
        "steps": steps,
        "none": _split("1" + show(math.inf, unit).removeprefix("inf"))[1],
    }
    if unit == "s":
        longer = (31557600.0, 86400.0, 3600.0, 60.0)
        steps_of["long"] = [[unit_text, _split(show(3 * unit_text, "s"))[1]] for unit_text in longer]
    return steps_of


def _split(text: str) -> tuple[str, str]:
    number = re.match(r"[-\d.]+(?:e-?\d+)?(?![A-Za-z])", text)
    assert number is not None, text
    return number[0], text[number.end() :]
