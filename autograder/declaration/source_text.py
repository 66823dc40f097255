"""The source of a declared function as a reader may see it: a definition, or the one expression of a lambda."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from functools import lru_cache
from typing import Any


def definition(function: Any, name: str) -> str:
    """A function's definition; a lambda's is written out under `name`. "" where its source is not at hand."""
    if (parts := of_lambda(function)) is not None:
        letters, body = parts
        return f"def {name}({letters}):\n    return {body}"
    try:
        return inspect.cleandoc("\n" + inspect.getsource(function))
    except (OSError, TypeError):
        return ""


def expression(function: Any) -> str:
    """What a lambda computes, as it is declared; "" for any other function."""
    parts = of_lambda(function)
    return "" if parts is None else parts[1]


@lru_cache(1024)  # a class has it on each page
def of_lambda(function: Callable[..., Any]) -> tuple[str, str] | None:
    """The parameters of a lambda and its expression; None for what is not one, or has no source."""
    code = getattr(function, "__code__", None)
    if code is None or code.co_name != "<lambda>":
        return None
    try:
        text = "".join(inspect.findsource(function)[0])
        every = _lambdas(text)
    except (OSError, SyntaxError):
        return None
    spans = [((a, c), (b, d)) for a, b, c, d in code.co_positions() if None not in (a, b, c, d) and (a, c) != (b, d)]
    if not spans:  # a Python that was told to keep none
        return None
    begin, end = min(one for one, _ in spans), max(one for _, one in spans)
    lambdas = [node for node in every if node.lineno == code.co_firstlineno]
    around = {_first(node.body): node for node in lambdas if _first(node.body) <= begin and end <= _last(node.body)}
    if not around:
        return None
    node = around[max(around)]
    body = ast.get_source_segment(text, node.body) if node.body.lineno == node.body.end_lineno else None
    return ast.unparse(node.args), body or ast.unparse(node.body)


@lru_cache(64)  # a file of declarations has hundreds
def _lambdas(text: str) -> list[ast.Lambda]:
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Lambda)]


def _first(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _last(node: ast.expr) -> tuple[int, int]:
    return node.end_lineno or 0, node.end_col_offset or 0
