"""Whose program a figure or table of a page shows: its outputs come from the instructor's run.

A cell that reads a function which an exercise asks for runs the learner's own in the notebook. On the page it ran
the book's solution, beside an editor that is still empty, so the page says so below the outputs. Where they would give
the answer away, the chapter tags the cell with `spoiler`, and the page folds them; the course edition leaves them out.
"""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nbformat import NotebookNode

SPOILER = "spoiler"
KEYED = {"check", "exercise", "given", "grade", "hint", "reveal", "solution"}
"""What calls of these show depends on the key; the course edition leaves their outputs out."""


@dataclass
class DependentNames:
    """The names that depend on an exercise's answer so far, each with the numbers of these exercises: "6.3"."""

    names: dict[str, list[str]] = field(default_factory=dict)

    def asked(self, name: str, number: str) -> None:
        """An exercise asks for a function of this name."""
        self.names[name] = [number]

    def ran(self, source: str) -> list[str]:
        """A cell of the chapter ran: the numbers of the exercises on whose answers it depends, in their order."""
        numbers: list[str] = []
        for statement in _body(source):
            found = [number for name in read_by(statement) for number in self.names.get(name, ())]
            for name in given_by(statement):
                if found:
                    self.names[name] = found
                else:
                    self.names.pop(name, None)
            numbers += found
        return sorted(set(numbers), key=_place)


def given(source: str) -> list[str]:
    """The names that a cell defines, assigns or imports."""
    return [name for statement in _body(source) for name in given_by(statement)]


def calls(source: str) -> dict[str, str]:
    """The functions that a cell calls by name, each with its first argument where that is a text."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return {}
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    return {ast.unparse(n.func): _text(n.args) for n in calls}


def _text(args: list[ast.expr]) -> str:
    value = args[0].value if args and isinstance(args[0], ast.Constant) else ""
    return value if isinstance(value, str) else ""


def folds(cell: NotebookNode) -> bool:
    """Whether a cell's outputs are behind a fold, since they give an answer away."""
    return SPOILER in cell.metadata.get("tags", [])


def line(numbers: Sequence[str]) -> str:
    """The sentence below the outputs of a cell that depends on these exercises."""
    return f"With {solutions(numbers)}; the notebook runs your own."


def solutions(numbers: Sequence[str]) -> str:
    """ "the book's solution of exercise 6.3", "the book's solutions of exercises 8.5 and 8.6"."""
    if len(numbers) == 1:
        return f"the book's solution of exercise {numbers[0]}"
    return f"the book's solutions of exercises {', '.join(numbers[:-1])} and {numbers[-1]}"


def _place(number: str) -> list[int]:
    return [int(part) for part in number.split(".")]


def _body(source: str) -> list[ast.stmt]:
    try:
        return ast.parse(source).body
    except SyntaxError:  # a magic command of IPython
        return []


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for child in table.get_children():
        yield from _tables(child)


def read_by(statement: ast.stmt) -> list[str]:
    """The chapter's names that a statement reads, in functions and comprehensions too, but not their own names."""
    top, *inner = _tables(symtable.symtable(ast.unparse(statement), "a cell", "exec"))
    found = [one.get_name() for one in top.get_symbols() if one.is_referenced()]
    found += [one.get_name() for table in inner for one in table.get_symbols() if one.is_global()]
    return sorted(set(found))


def given_by(statement: ast.stmt) -> list[str]:
    """The chapter's names that a statement defines, assigns or imports."""
    top = symtable.symtable(ast.unparse(statement), "a cell", "exec")
    return [one.get_name() for one in top.get_symbols() if one.is_assigned() or one.is_imported()]
