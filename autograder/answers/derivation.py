"""How a number follows from the numbers of its prompt: the declared solution, read as a formula of them."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from math import isclose
from typing import TYPE_CHECKING, Any

from hwlib.formula import Formula

from ..declaration.given import Given, call_with
from ..declaration.source_text import definition, expression
from ..values.texts import FIELD, fill, letter

if TYPE_CHECKING:
    from ..declaration.exercise import Exercise

ARITHMETIC = (
    ast.Expression,
    ast.BinOp,
    ast.UnaryOp,
    ast.operator,
    ast.unaryop,
    ast.Constant,
    ast.Name,
    ast.Attribute,
    ast.expr_context,
    ast.Call,
    ast.keyword,
)
OPERATIONS = 40  # of a formula that somebody reads
DIGITS = 6  # of a number in it: one with more was computed from those that are declared
COMPARED = 24  # variants on which it is compared with what is declared


def derivation(exercise: Exercise, given: Given) -> str:
    """In Markdown: the solution as a formula where it is one, or else its code, and the numbers that belong to its
    letters. "" for a solution that takes none."""
    if not callable(exercise.solution) or not given:
        return ""
    tex = _tex(exercise)
    text = f"$$\n{tex}\n$$" if tex else ""
    if not text and (code := _code(exercise.solution)):
        text = f"```python\n{code}\n```"
    return f"{text}\n\nwith {_numbers(exercise, given)}." if text else ""


def _numbers(exercise: Exercise, given: Given) -> str:
    """The letters with their numbers, in the units of the prompt."""
    fields = {found[1]: found[0] for found in FIELD.finditer(exercise.prompt)}
    numbers = [f"{letter(name)} = {fill(fields.get(name, f'{{{name}}}'), given)}" for name in given]
    return " and ".join(part for part in (", ".join(numbers[:-1]), numbers[-1]) if part)


def _code(solution: Any) -> str:
    return f"answer = {formula}" if (formula := expression(solution)) else definition(solution, "answer")


def _tex(exercise: Exercise) -> str:
    """The solution in LaTeX; "" where it is not one formula that can be read."""
    import sympy

    from hwlib.notation import NOTATION

    rows = exercise.variants()[:COMPARED]
    numbers = all(type(value) in (int, float) for row in rows for value in row.values())
    if not numbers or not _is_arithmetic(exercise.solution):
        return ""
    symbols = {name: sympy.Symbol(name, positive=True) for name in rows[0]}
    try:
        made = sympy.sympify(call_with(exercise.solution, symbols))
        computed = any(f"{float(one):.{DIGITS}g}" != f"{float(one):.15g}" for one in made.atoms(sympy.Float))
        if computed or not made.free_symbols or made.count_ops() > OPERATIONS:
            return ""
        if not all(_agrees(exercise, made, row) for row in rows):
            return ""
    except Exception:  # whatever a teacher's function does with what is not a number
        return ""
    names = {symbol: NOTATION[name].tex for name, symbol in symbols.items() if name in NOTATION}
    return str(sympy.latex(made, symbol_names=names, min=-4, max=5))


def _is_arithmetic(solution: Any) -> bool:
    """Whether it is a formula of the library, or a lambda of operations, numbers and such formulas: with symbols any
    other function may take for ever."""
    if isinstance(solution, Formula):
        return True
    body = expression(solution)
    nodes = list(ast.walk(ast.parse(body, mode="eval"))) if body else []
    called = [node.func for node in nodes if isinstance(node, ast.Call)]
    return (
        bool(body)
        and all(isinstance(node, ARITHMETIC) for node in nodes)
        and all(isinstance(one, ast.Name) and isinstance(solution.__globals__.get(one.id), Formula) for one in called)
    )


def _agrees(exercise: Exercise, made: Any, row: Mapping[str, Any]) -> bool:
    value = made.subs({symbol: row[symbol.name] for symbol in made.free_symbols})
    return isclose(float(value), float(call_with(exercise.solution, row)), rel_tol=1e-9)
