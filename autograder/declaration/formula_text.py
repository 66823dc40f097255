"""What a formula of a declaration says, as it is written there, and where that is: for whoever asks why it matched."""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import types
from pathlib import Path
from typing import Any, NamedTuple

MOST_LINES = 12  # of a function that is shown


class Declared(NamedTuple):
    """The text of a formula, and the file with the line where it stands; "" where it stands nowhere."""

    text: str
    place: str = ""


def declared(value: Any) -> Declared:
    """The solution or a mistake as it is declared: a lambda's text, the head of a function, a plain value."""
    if isinstance(value, functools.partial):
        options = [f"{name}={getattr(one, '__name__', repr(one))}" for name, one in value.keywords.items()]
        inner = declared(value.func)
        return Declared(f"{getattr(value.func, '__name__', 'a function')} with {', '.join(options)}", inner.place)
    function = getattr(value, "function", value)  # of a formula of the library
    if not isinstance(function, types.FunctionType):
        return Declared(repr(value))
    code = function.__code__
    place = f"{Path(code.co_filename).name}:{code.co_firstlineno}"
    if function.__name__ == "<lambda>":
        return Declared(_lambda(code) or "a lambda", place)
    try:
        lines = inspect.cleandoc("\n" + inspect.getsource(function)).splitlines()
    except (OSError, TypeError):
        return Declared(function.__name__, place)
    more = ["…"] if len(lines) > MOST_LINES else []
    return Declared("\n".join(lines[:MOST_LINES] + more), place)


def _lambda(code: types.CodeType) -> str:
    """The text of the lambda of that code."""
    text = "".join(linecache.getlines(code.co_filename))
    here = [node for node in _lambdas(text) if node.lineno == code.co_firstlineno]
    if len(here) > 1:
        seen = {(line, column) for line, _, column, _ in code.co_positions()}
        here = [node for node in here if (node.body.lineno, node.body.col_offset) in seen] or here
    found = ast.get_source_segment(text, here[0]) if here else None
    return " ".join((found or "").split())


@functools.cache
def _lambdas(text: str) -> list[ast.Lambda]:
    try:
        return [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Lambda)]
    except SyntaxError:  # changed since it was loaded
        return []
