"""Where a computed number of the text comes from: the formulas, values of tables and measurements behind it.

An expression is read in the chapter's namespace: an attribute of a record is a value with what its source printed, an
attribute of a measured row has the row's source, a formula its equation and citation, with its arguments read in turn;
a name of exercises.py is what it was assigned, a function of exercises.py what it returns. The page keeps every entry
and every source once, in one JSON script, and docs/_static/provenance.js shows them.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import math
import re
import textwrap
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

from hwlib import units
from hwlib.formula import Formula, ops
from hwlib.notation import NOTATION
from hwlib.specs.reader import Datum, Record
from hwlib.units import COUNTS, UnitError, scale, show

from ..bibliography import Bibliography
from .javascript import Compiler, NotCompiled

DEPTH = 2  # formulas whose arguments are shown below one another
INLINED = 4  # functions of a chapter that are read inside one another
LITERAL = 90  # letters of an assignment that is shown as it stands
SOURCES = 3  # of a set of measured rows that are named
UNITS = {  # of what a name says last: an attribute of a measured row, a function
    "time": "s",
    "latency": "s",
    "bandwidth": "B/s",
    "reached": "B/s",
    "line": "B/s",
    "bytes": "B",
    "memory": "B",
    "flops": "FLOP/s",
    "intensity": "FLOP/B",
}
FORMATTING = {**vars(units), **vars(math), **vars(builtins), **ops.OPS}
Entries = list[int]


def has_origin(expression: str, namespace: Mapping[str, Any], quantities: Mapping[str, Any]) -> bool:
    """Whether there is something to say of a number: more than that it was typed where it stands."""
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except SyntaxError:
        return False
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    known = {name for name in names if name in namespace and namespace[name] is not FORMATTING.get(name)}
    return bool(known - set(quantities))


@cache
def _assigned(path: Path, _changed: int) -> dict[str, ast.expr]:
    """What the names of a file of exercises are assigned at its top."""
    values_of = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        match node:
            case ast.Assign([ast.Name(name)], value):
                values_of[name] = value
            case ast.Assign([ast.Tuple(names)], ast.Tuple(values)) if len(names) == len(values):
                values_of |= {
                    one.id: value for one, value in zip(names, values, strict=True) if isinstance(one, ast.Name)
                }
            case ast.Assign([ast.Tuple(names)], value):  # each is a part of it
                values_of |= {one.id: value for one in names if isinstance(one, ast.Name)}
    return values_of


class Origins:
    """The origins of the numbers of one page, each entry once.

    `follows` are functions in JavaScript, of the values that change with a dragged quantity; an entry names one by its
    place.
    """

    def __init__(
        self,
        namespace: Mapping[str, Any],
        files: Sequence[Path],
        bibliography: Bibliography,
        indexed: Collection[str],
        compiler: Compiler | None = None,
    ):
        self.namespace, self.bibliography, self.indexed = namespace, bibliography, indexed
        self.assigned = {
            name: value for file in files for name, value in _assigned(file, file.stat().st_mtime_ns).items()
        }
        self.entries: list[list[Any]] = []
        self.sources: dict[str, list[str]] = {}
        self._places: dict[str, int] = {}
        self.follows: list[str] = []
        self._compiler = compiler
        self._following = self._left_behind = False

    def of(self, expression: str, quantities: Mapping[str, Any]) -> Entries:
        """The entries of a number."""
        tree = ast.parse(expression.strip(), mode="eval").body
        return self._trace(tree, {**self.namespace, **quantities}, 0, ())

    def following(self, expression: str, quantities: Mapping[str, Any]) -> Entries | None:
        """The entries of a number, all of which follow the quantities; None where some cannot."""
        before = len(self.entries), len(self.follows), dict(self._places)
        self._following, self._left_behind = True, False
        behind = self.of(expression, quantities)
        self._following = False
        if not self._left_behind:
            return behind
        entries, follows, self._places = before
        del self.entries[entries:], self.follows[follows:]
        return None

    def _moves(self, node: Any, unit: str, inside: tuple[str, ...]) -> list[int]:
        """The place of the function that gives a value which follows, as a list; no place where it does not."""
        if not self._following or self._compiler is None or inside or not self._compiler.depends(node):
            return []
        try:
            written = self._compiler.shown(node, *_unit_and_whole(unit))
        except NotCompiled:
            self._left_behind = True
            return []
        if written not in self.follows:
            self.follows.append(written)
        return [self.follows.index(written)]

    def _leaves_behind(self, node: ast.AST) -> None:
        """What is said of this stays that of the book."""
        self._left_behind |= self._compiler is not None and self._compiler.depends(node)

    def _add(self, entry: list[Any]) -> Entries:
        key = repr(entry)
        if key not in self._places:
            self._places[key] = len(self.entries)
            self.entries.append(entry)
        return [self._places[key]]

    def _all(self, nodes: Sequence[ast.AST], names: Mapping[str, Any], depth: int, inside: tuple[str, ...]) -> Entries:
        entries = [one for node in nodes for one in self._trace(node, names, depth, inside)]
        return list(dict.fromkeys(entries))

    def _trace(self, node: ast.AST, names: Mapping[str, Any], depth: int, inside: tuple[str, ...]) -> Entries:
        match node:
            case ast.Name(name):
                return self._name(name, names, depth, inside)
            case ast.Attribute(base, name):
                entries = self._attribute(_value(base, names), name, node, names)
                if entries is not None:
                    return entries
            case ast.Call(ast.Attribute(base, "datum"), [ast.Constant(str(name))]):
                record = _value(base, names)
                if isinstance(record, Record) and name in record.data:
                    return self._datum(record, record.data[name])
            case ast.Call():
                entries = self._call(node, names, depth, inside)
                if entries is not None:
                    return entries
        return self._all(list(ast.iter_child_nodes(node)), names, depth, inside)

    def _name(self, name: str, names: Mapping[str, Any], depth: int, inside: tuple[str, ...]) -> Entries:
        value, made = names.get(name), self.assigned.get(name)
        if name in inside or made is None or value is not self.namespace.get(name):
            return []
        if isinstance(value, Datum | Record) or callable(value):
            return []
        entries = self._trace(made, names, depth, (*inside, name))
        if not entries and len(text := ast.unparse(made)) <= LITERAL:
            return self._add(["c", name, text, _plain(value) if isinstance(value, int | float) else ""])
        return entries

    def _attribute(self, base: Any, name: str, node: ast.AST, names: Mapping[str, Any]) -> Entries | None:
        if isinstance(base, Record):
            if name in base.data:
                return self._datum(base, base.data[name])
            value = _value(node, names)
            if isinstance(value, int | float) and isinstance(made := getattr(type(base), name, None), property):
                return self._add(["p", base.name, base.key, name, _by_name(name, value), _said(made.fget)])
            return [] if isinstance(value, str | Record) else None
        if (
            isinstance(base, tuple)
            and not isinstance(base, Datum)
            and isinstance(source := getattr(base, "source", None), str)
        ):
            value = getattr(base, name, None)
            if isinstance(value, int | float):
                what = [str(one) for one in base if isinstance(one, str) and one and one != source][:3]
                return self._add(["r", ", ".join(what), name, _by_name(name, value), self._source(source)])
            return []
        return None

    def _datum(self, record: Record, datum: Datum) -> Entries:
        more = [datum.factor if datum.factor != 1 else 0, datum.confidence, datum.note]
        value, source = _in_unit(datum.value, datum.unit), self._source(datum.source)
        return self._add(["d", record.name, record.key, datum.meaning, value, datum.printed, source, *more])

    def _source(self, text: str) -> list[str]:
        """The key of a source, whose entry the page gets, and what is said after it."""
        key, _, rest = text.partition(" ")
        key = key.rstrip(",;:")
        if key in self.bibliography:
            self.sources.setdefault(key, [*self.bibliography.described(key)])
            return [key, rest]
        return ["", text]

    def _call(self, node: ast.Call, names: Mapping[str, Any], depth: int, inside: tuple[str, ...]) -> Entries | None:
        target = _value(node.func, names)
        if isinstance(target, Formula):
            return self._formula(node, target, names, depth, inside)
        if isinstance(target, type) or not callable(target):
            return None
        plain = inspect.unwrap(target)
        if not isinstance(plain, FunctionType):
            return None
        if plain.__module__.startswith("gpubook_") and plain.__name__ not in inside and len(inside) < INLINED:
            entries = self._inlined(node, plain, names, depth, inside)
            if entries:
                self._leaves_behind(node)
                return entries
        elif not plain.__module__.startswith(("hwlib.", "gpubook_")) or plain.__module__ == "hwlib.units":
            return None
        value = _value(node, names)
        if isinstance(value, tuple) and hasattr(value, "source"):  # a row, whose attribute says more
            return self._all([*node.args, *node.keywords], names, depth, inside)
        if rows := [one for one in value if hasattr(one, "source")] if isinstance(value, list | tuple) else []:
            sources = list(dict.fromkeys(one.source for one in rows if isinstance(one.source, str)))
            named_sources = [self._source(one) for one in sources[:SOURCES]]
            self._leaves_behind(node)
            return self._add(["m", plain.__name__, _said(plain), len(rows), named_sources])
        shown = _by_name(plain.__name__, value) if isinstance(value, int | float) else ""
        moves = self._moves(node, _unit_of(plain.__name__), inside) if shown else []
        own = self._add(["x", plain.__name__, _said(plain), shown, *moves])
        return list(dict.fromkeys([*own, *self._all([*node.args, *node.keywords], names, depth, inside)]))

    def _formula(
        self, node: ast.Call, target: Formula, names: Mapping[str, Any], depth: int, inside: tuple[str, ...]
    ) -> Entries:
        keywords = {str(one.arg): one.value for one in node.keywords}
        try:
            bound = target.__signature__.bind(*node.args, **keywords).arguments
        except TypeError:
            return self._all([*node.args, *node.keywords], names, depth, inside)
        result = _value(node, names)
        rows = []
        for letter in target.args:
            symbol = NOTATION[letter]
            value = _value(bound[letter], names) if letter in bound else target.defaults[letter]
            deeper = letter in bound and depth < DEPTH
            own = self._trace(bound[letter], names, depth + 1, inside) if deeper else []
            shown = _in_unit(value, symbol.unit)
            moves = self._moves(bound[letter], symbol.unit, inside) if shown and letter in bound else []
            rows.append([symbol.tex, symbol.meaning, shown, own, *moves])
        tex = target.tex if "tex" in target.readings else ""
        name = [target.name, int(target.name in self.indexed)]
        unit = NOTATION[target.result].unit
        value = _in_unit(result, unit)
        moves = self._moves(node, unit, inside) if value else []
        return self._add(["f", *name, tex, self._source(target.cite), rows, value, *moves])

    def _inlined(
        self, node: ast.Call, plain: FunctionType, names: Mapping[str, Any], depth: int, inside: tuple[str, ...]
    ) -> Entries:
        """The origins of what a function of the chapter returns, by its assignments and what it returns."""
        try:
            body = ast.parse(textwrap.dedent(inspect.getsource(plain))).body[0]
            arguments = [_value(one, names) for one in node.args]
            named = {str(one.arg): _value(one.value, names) for one in node.keywords}
            bound = inspect.signature(plain).bind(*arguments, **named)
        except (OSError, TypeError, SyntaxError):
            return []
        bound.apply_defaults()
        local = {**plain.__globals__, **bound.arguments}
        entries = self._all([*node.args, *node.keywords], names, depth, inside)
        for step in getattr(body, "body", ()):
            if isinstance(step, ast.Assign) and len(step.targets) == 1 and isinstance(step.targets[0], ast.Name):
                entries += self._trace(step.value, local, depth, (*inside, plain.__name__))
                local[step.targets[0].id] = _value(step.value, local)
            elif isinstance(step, ast.Return) and step.value is not None:
                entries += self._trace(step.value, local, depth, (*inside, plain.__name__))
        return list(dict.fromkeys(entries))


def _value(node: Any, names: Mapping[str, Any]) -> Any:
    """The value of a part of an expression; None where it has none by itself, as in a loop."""
    try:
        return eval(compile(ast.fix_missing_locations(ast.Expression(node)), "<origin>", "eval"), dict(names))
    except Exception:
        return None


def _plain(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def _by_name(name: str, value: float) -> str:
    return _in_unit(value, unit) if (unit := _unit_of(name)) else _plain(value)


def _unit_of(name: str) -> str:
    return UNITS.get(name.rpartition("_")[2], "")


def _in_unit(value: Any, unit: str) -> str:
    if not isinstance(value, int | float):
        return ""
    name, whole = _unit_and_whole(unit)
    if whole and float(value).is_integer():
        return f"{int(value):,}"
    return show(value, name) if name else _plain(value)


def _unit_and_whole(unit: str) -> tuple[str, bool]:
    """The unit in which a value is shown, "" where there is none to show it in, and whether whole numbers have none."""
    name = {"1/s": "Hz", "J/s": "W"}.get(unit, unit)
    try:
        scale(name)
    except UnitError:
        name = ""
    return name, unit in ("1", *COUNTS)


def _said(function: Any) -> str:
    """The first sentence of a function's docstring."""
    text = " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split())
    return re.split(r"(?<=[.:;])\s", text)[0]
