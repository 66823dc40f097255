"""Which names of a notebook a cell uses, binds and changes: what says which other cells it needs."""

from __future__ import annotations

import ast
import re
import symtable
import warnings
from collections.abc import Iterator
from typing import NamedTuple


class CellNames(NamedTuple):
    """The names of the notebook that a cell uses, that it binds anew (`imports` are among them), and whose values it
    changes."""

    uses: set[str]
    binds: set[str]
    changes: set[str]
    imports: set[str]


def names_of(source: str) -> CellNames | None:
    """The names of a cell; None where they cannot be told: a syntax error, a magic, an import of everything."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree, table = ast.parse(source), symtable.symtable(source, "cell", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in ast.walk(tree)):
        return None
    uses: set[str] = set()
    binds: set[str] = set()
    imports: set[str] = set()
    tables = [table]
    while tables:
        scope = tables.pop()
        tables += scope.get_children()
        for symbol in scope.get_symbols():
            if scope is table or symbol.is_global():
                uses |= {symbol.get_name()} if symbol.is_referenced() else set()
                binds |= {symbol.get_name()} if symbol.is_assigned() or symbol.is_imported() else set()
                imports |= {symbol.get_name()} if symbol.is_imported() else set()
    return CellNames(uses, binds, set(_changed(tree)), imports)


def sets(source: str, name: str) -> bool:
    """Whether a cell sets the variable `name`; of one that Python cannot read, whether a line of it would."""
    own = names_of(source)
    if own is not None:
        return name in own.binds
    line = rf"^[ \t]*(?:%\w+[ \t]+)?(?:{re.escape(name)}[ \t]*=(?!=)|(?:async[ \t]+)?def[ \t]+{re.escape(name)}\b)"
    return re.search(line, source, re.MULTILINE) is not None


def _changed(tree: ast.Module) -> Iterator[str]:
    """Names at the beginning of what a cell's own lines assign to or call a method of: `a` of `a.b[0] = 1` and
    `a.append(1)`."""
    inner = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    for node in (node for line in tree.body if not isinstance(line, inner) for node in ast.walk(line)):
        inside: ast.AST | None = None
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            inside = node
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            inside = node.value.func
        while isinstance(inside, ast.Attribute | ast.Subscript):
            inside = inside.value
            if isinstance(inside, ast.Name):
                yield inside.id
