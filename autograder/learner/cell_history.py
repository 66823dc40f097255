"""Evidence from the notebook's history: untouched stubs, and cells that ended in an error."""

from __future__ import annotations

import ast
import contextlib
import difflib
import dis
import inspect
import reprlib
import sys
import types
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..declaration.verdict import CELL_FAILED, Verdict
from ..values.cell_names import sets
from .lookup import published


@dataclass(frozen=True)
class FailedCell:
    """A cell that ended in an error: its text, and its own id, which for an answer cell is its exercise's."""

    source: str
    cell_id: str


_failed: dict[int, FailedCell] = {}  # by their number


def remember_failed(number: int | None, cell_id: str = "") -> None:
    """Keep that the cell with this number ended in an error."""
    if number is not None and number < len(texts := _texts()):
        _failed[number] = FailedCell(texts[number], cell_id)


def failed(exercise: str, name: str, answer: Any) -> Verdict | None:
    """The verdict on an answer that is what it was before the cell that is to set it failed (cell-failed): the last
    cell that sets the variable `name`, or the answer cell of the exercise; else None."""
    shell = _shell()
    if shell is None or shell.user_ns.get(name, shell) is not answer:
        return None
    problem = _problem(exercise, name)
    say = f"No answer yet: the last cell for `{name}` {problem}, and what it was before does not count."
    return Verdict(0.0, f"{say} Mend that cell and run it again.", "empty", CELL_FAILED) if problem else None


def stub(name: str, answer: Any) -> Verdict | None:
    """The verdict on a function that is its stub still (untouched-stub), with the name that the cell gave the
    learner's (other-name); else None."""
    if not isinstance(answer, types.FunctionType) or answer.__name__ != name or _steps(answer) != _steps(_stub):
        return None
    other = _defined_instead(name)
    instead = f" The cell before defines `{other}`; the one that is asked for is `{name}`." if other else ""
    say = f"No answer yet: `{name}` is still the untouched stub.{instead}"
    return Verdict(0.0, say, "empty", "other-name" if other else "untouched-stub")


def source(name: str, answer: Any) -> str:
    """What the learner wrote for this answer: the last cell that sets `name`, or the text alone where it sets it to
    one; where no cell is known, the function's source, or the value as Python writes it, in short."""
    shell = _shell()
    if shell is not None and shell.user_ns.get(name, shell) is answer:
        for cell in _cells():
            tree = _read(cell)
            if tree is not None and any(_name_set(node) == name for node in ast.walk(tree)):
                return written_in(cell)
    if isinstance(answer, str):
        return answer
    with contextlib.suppress(Exception):  # of a learner's own __repr__, and a source that is not at hand
        return inspect.getsource(answer) if isinstance(answer, types.FunctionType) else reprlib.repr(answer)
    return ""


def ran(name: str, answer: Any) -> list[str]:
    """The code of the cells that ran, the first one first, where the variable `name` is this answer; else []."""
    shell = _shell()
    return _cells()[::-1] if shell is not None and shell.user_ns.get(name, shell) is answer else []


def is_code(cell: str) -> bool:
    """Whether Python can read a cell."""
    return _read(cell) is not None


def written_in(cell: str) -> str:
    """What the learner wrote in an answer's cell: the text or number alone where it sets one, else the whole cell."""
    tree = _read(cell)
    return (_literal(tree) if tree is not None else "") or cell.strip()


def _literal(tree: ast.Module) -> str:
    """The text or number that a cell of one line sets, as it would be typed into a field; else ""."""
    match tree.body:
        case [ast.Assign(value=ast.Constant(value=str() as text))]:
            return text
        case [ast.Assign(value=ast.Constant(value=int() | float()) as number)]:
            return ast.unparse(number)
    return ""


def _stub() -> None: ...


def _steps(function: Callable[..., Any]) -> list[tuple[str, Any]]:
    return [(step.opname, step.argval) for step in dis.get_instructions(function)]


def _shell() -> Any:
    """IPython's, in a notebook; else None."""
    ipython = sys.modules.get("IPython")
    return None if ipython is None else ipython.get_ipython()


def _texts() -> list[str]:
    """The cells that ran as they are written, by their number: the first one has number 1."""
    shell = _shell()
    return [] if shell is None else shell.history_manager.input_hist_raw


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


def _problem(exercise: str, name: str) -> str:
    """What is wrong with the last cell that sets `name`, or with the answer cell if it ran since then; else ""."""
    for number, text in reversed([*enumerate(_texts())]):
        failure = _failed.get(number)
        ended = failure is not None and failure.source == text
        if sets(text, name) or (ended and failure is not None and failure.cell_id == exercise):
            if not ended:
                return ""
            return "ended in an error" if is_code(_cells()[-1 - number]) else "has a syntax error"
    return ""


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
