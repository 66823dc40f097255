"""Evidence from the notebook's history: untouched stubs, and cells with syntax errors."""

from __future__ import annotations

import ast
import difflib
import dis
import re
import sys
import types
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..declaration.verdict import Verdict
from .lookup import published


def stub(name: str, answer: Any) -> Verdict | None:
    """The verdict on a function that is its stub still (untouched-stub), with the name that the cell gave the
    learner's (other-name); else None."""
    if not isinstance(answer, types.FunctionType) or answer.__name__ != name or _steps(answer) != _steps(_stub):
        return None
    other = _defined_instead(name)
    instead = f" The cell before defines `{other}`; the one that is asked for is `{name}`." if other else ""
    say = f"No answer yet: `{name}` is still the untouched stub.{instead}"
    return Verdict(0.0, say, "empty", "other-name" if other else "untouched-stub")


def with_doubt(name: str, answer: Any, verdict: Verdict) -> Verdict:
    """The verdict, with a word on it where the last cell that was to set `name` has a syntax error: then it still is
    what an earlier one made it."""
    shell = _shell()
    if shell is None or shell.user_ns.get(name, shell) is not answer or not _misread(name):
        return verdict
    say = f"{verdict.say} (The last cell with `{name}` has a syntax error, so this is what it was before.)"
    return replace(verdict, say=say)


def _stub() -> None: ...


def _steps(function: Callable[..., Any]) -> list[tuple[str, Any]]:
    return [(step.opname, step.argval) for step in dis.get_instructions(function)]


def _shell() -> Any:
    """IPython's, in a notebook; else None."""
    ipython = sys.modules.get("IPython")
    return None if ipython is None else ipython.get_ipython()


def _cells() -> list[str]:
    """The code of the cells that ran, the one that runs now first."""
    shell = _shell()
    return [] if shell is None else shell.history_manager.input_hist_parsed[::-1]


def _defined_instead(name: str) -> str:
    """The function that the last cell to do more than a call defines, if it is not an answer's; else ""."""
    answers = {name, *(public.get("answer_name") for public in published().values())}
    for cell in _cells():
        body = getattr(_read(cell), "body", [ast.Pass()])
        if all(isinstance(statement, ast.Expr) for statement in body):
            continue
        defined = [statement.name for statement in body if isinstance(statement, ast.FunctionDef)]
        return "" if answers & {*defined} else next(iter(difflib.get_close_matches(name, defined, 1, 0.0)), "")
    return ""


def _misread(name: str) -> bool:
    """Whether the last cell that sets `name` has a syntax error."""
    sets = re.compile(rf"^[ \t]*({name}[ \t]*=(?!=)|def[ \t]+{name}\b)", re.MULTILINE)
    for cell in _cells():
        tree = _read(cell)
        if tree is None and sets.search(cell):
            return True
        if tree is not None and any(_name_set(node) == name for node in ast.walk(tree)):
            return False
    return False


def _name_set(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id if isinstance(node.ctx, ast.Store) else ""
    if isinstance(node, ast.alias):
        return node.asname or node.name
    return getattr(node, "name", "") or "" if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else ""


def _read(cell: str) -> ast.Module | None:
    """The cell as Python reads it, which may await; None for a syntax error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(cell, "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
            return ast.parse(cell)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
