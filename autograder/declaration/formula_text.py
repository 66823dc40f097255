"""What a formula of a declaration says, as it is written there, and where that is: for whoever asks why it matched."""

from __future__ import annotations

import functools
import inspect
import types
from pathlib import Path
from typing import Any, NamedTuple

from .source_text import of_lambda

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
        letters, body = of_lambda(function) or ("", "")
        return Declared(f"lambda {letters}: {body}".replace("lambda :", "lambda:") if body else "a lambda", place)
    try:
        lines = inspect.cleandoc("\n" + inspect.getsource(function)).splitlines()
    except (OSError, TypeError):
        return Declared(function.__name__, place)
    more = ["…"] if len(lines) > MOST_LINES else []
    return Declared("\n".join(lines[:MOST_LINES] + more), place)
