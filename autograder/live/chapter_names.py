"""The names that a chapter's cells give, on demand: a reader may use any that stands above, and runs nothing first.

A notebook defines its names as its cells run. In a page nothing has run, and much never does (figures, ranks, what
times the machine), so a name is made when a cell first reads it, by the last statement above that gives it, and that
statement's own names likewise.
"""

from __future__ import annotations

import ast
import builtins
import importlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

MOST = 500  # names that one cell may need made; a loop of definitions ends there


@dataclass
class ChapterNames:
    """The namespace of a chapter's cells. `cells` are the code of its page in order, each with its place: the id of
    its cell, or the exercise that stands there, which has no code."""

    cells: Sequence[tuple[str, str]]
    space: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})
    _made: set[int] = field(default_factory=set)

    def provide(self, source: str, place: str = "") -> None:
        """Make what `source`, at `place`, reads and nobody has made; what cannot be made here is left undefined."""
        for name in read_names(source):
            self._make(name, self._above(place), MOST)

    def _above(self, place: str) -> int:
        """How many cells stand above a place; all of them, where it is none of the chapter's."""
        return next((at for at, (name, _) in enumerate(self.cells) if name == place), len(self.cells))

    def _make(self, name: str, above: int, left: int) -> None:
        if name in self.space or hasattr(builtins, name) or not left:
            return
        for at in range(above - 1, -1, -1):
            for number, statement in reversed(list(enumerate(_body(self.cells[at][1])))):
                if name not in given_names(statement):
                    continue
                if (key := hash((at, number))) in self._made:
                    return
                self._made.add(key)
                text = ast.unparse(statement)
                for needed in read_names(text):
                    if needed != name:
                        self._make(needed, at + 1, left - 1)
                try:
                    exec(compile(text, f"<cell {self.cells[at][0]}>", "exec"), self.space)
                except Exception:
                    self._made.discard(key)  # a lab, a figure, a measurement: the name stays undefined
                return


def read_names(source: str) -> list[str]:
    """The names that a source reads, each once, in order; none for one that is not Python."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return []
    used = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    return list(dict.fromkeys(used))


def given_names(statement: ast.stmt) -> set[str]:
    """The names that a statement gives: imported, defined or assigned."""
    match statement:
        case ast.Import(names):
            return {(one.asname or one.name).partition(".")[0] for one in names}
        case ast.ImportFrom(module=module, names=[ast.alias(name="*")], level=0) if module:
            return set(_exported(module))
        case ast.ImportFrom(names=names):
            return {one.asname or one.name for one in names}
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
            return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and _stored(node)}
    return set()


def defined_names(source: str) -> set[str]:
    """The names that the statements of a source give."""
    return {name for statement in _body(source) for name in given_names(statement)}


def _stored(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _body(source: str) -> list[ast.stmt]:
    try:
        return ast.parse(source).body
    except (SyntaxError, ValueError):  # a magic command of IPython
        return []


def _exported(module: str) -> Iterator[str]:
    try:
        loaded = importlib.import_module(module)
    except ImportError:
        return
    yield from getattr(loaded, "__all__", None) or (name for name in vars(loaded) if not name.startswith("_"))
