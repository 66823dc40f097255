"""A chapter's notebook with some of its exercises: what needs an exercise that is left out goes with it.

A figure that draws a learner's own function, the cell that reveals a prediction, and what is computed from either
cannot stand without the exercise. The syntax trees of the cells say which do. Of a cell that goes, those statements
stay that others need and that need nothing left out themselves, such as an import. An exercise whose solution uses what
another asks for gets it as the book has it. Text stays as it is.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from ...declaration.worked import solution_of
from .captions import caption_id
from .output_dependence import SPOILER, given, given_by, read_by

if TYPE_CHECKING:
    from nbformat import NotebookNode

SUPPLIED = "# As the book has it: the exercise that asks for it is not part of this assignment."
AT_ONCE = (ast.Assign, ast.AnnAssign, ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


def without(nb: NotebookNode, left_out: Collection[str]) -> list[NotebookNode]:
    """The cells of an instructor's notebook that stay without the exercises of these ids."""
    supplied: set[str] = set()
    while True:
        reading = _Reading(left_out, supplied)
        for cell in nb.cells:
            reading.read(cell)
        if reading.used <= supplied:
            return reading.staying()
        supplied |= reading.used


@dataclass(frozen=True)
class _Part:
    """The statements of a cell that share lines, mostly one: what they give, and what they read, in functions that
    they define too. A text that is no name may be the id of an exercise, and counts as read."""

    text: str  # with the empty lines and comments above it
    gives: frozenset[str]
    reads: frozenset[str]
    defines: bool  # a function, which reads when it is called
    at_once: bool  # it gives its names whatever happens


class _Step(NamedTuple):
    """A part as it stands in its notebook: all that it needs, and the exercises left out without which it fails."""

    part: _Part
    needs: frozenset[str]
    fails: frozenset[str]


@dataclass
class _Reading:
    """A notebook read from its beginning: which names are `lost` so far, each with the exercises on which it depends;
    what the functions defined so far read; and the exercises left out that others `used`."""

    left_out: Collection[str]
    supplied: Collection[str]
    lost: dict[str, frozenset[str]] = field(default_factory=dict)
    behind: dict[str, frozenset[str]] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    cells: list[tuple[NotebookNode, list[_Step], bool]] = field(default_factory=list)  # and whether it goes

    def __post_init__(self) -> None:
        self.lost.update({key: frozenset([key]) for key in self.left_out})

    def read(self, cell: NotebookNode) -> None:
        """The next cell."""
        own = cell.metadata.get("gpubook", {})
        key, stub = own.get("exercise"), own.get("stub", "") if cell.cell_type == "code" else ""
        if key in self.supplied and stub:
            cell = _supplied(key, cell.source)
        elif key in self.left_out:
            self.lost.update(dict.fromkeys(given(stub), frozenset([key])))  # no cell needs more of an exercise
            return
        parts = _parts(f"{stub}\n{cell.source}" if stub else cell.source) if cell.cell_type == "code" else ()
        steps = [self._run(part) for part in parts]
        fails = [step for step in steps if step.fails]
        if key is not None:
            self.used.update(*(step.fails for step in fails))
        self.cells.append((cell, steps, key is None and bool(fails)))

    def _run(self, part: _Part) -> _Step:
        """The next part: what it gives is there, or lost where it fails."""
        needs, waiting = set[str](), set(part.reads)
        while waiting:
            needs.add(name := waiting.pop())
            waiting |= self.behind.get(name, frozenset()) - needs
        fails = frozenset[str]().union(*(self.lost.get(name, ()) for name in needs))
        for name in part.gives:
            self.lost.pop(name, None)
            self.behind[name] = part.reads if part.defines else frozenset()
        self.lost.update(dict.fromkeys(part.gives, fails) if fails else {})
        return _Step(part, frozenset(needs), fails)

    def staying(self) -> list[NotebookNode]:
        """The cells that stay, and of those that go what others need."""
        gone = {caption_id(cell) for cell, _, goes in self.cells if goes}
        needed: set[str] = set()
        found = []
        for cell, steps, goes in reversed(self.cells):
            stay = []
            for part, needs, fails in reversed(steps):
                if goes and (fails or not part.gives & needed):
                    continue
                stay.append(part)
                needed = (needed - part.gives if part.at_once else needed) | needs
            if goes and stay:
                found.append(_cut(cell, stay[::-1]))
            elif not goes and cell.id not in gone:
                found.append(cell)
        return found[::-1]


def _supplied(key: str, source: str) -> NotebookNode:
    """The cell that defines what an exercise asks for."""
    from nbformat.v4 import new_code_cell

    return new_code_cell(f"{SUPPLIED}\n{solution_of(source)}", id=f"{key}-supplied")


def _cut(cell: NotebookNode, parts: list[_Part]) -> NotebookNode:
    """A cell that keeps these of its parts, and shows nothing any more."""
    from nbformat import from_dict

    cut = from_dict(cell)
    cut.source = "\n".join(part.text for part in parts).strip("\n")
    cut.metadata.pop("alt", None)
    if SPOILER in (tags := cut.metadata.get("tags", [])):
        tags.remove(SPOILER)
    return cut


@lru_cache(4096)
def _parts(source: str) -> tuple[_Part, ...]:
    try:
        statements = ast.parse(source).body
    except SyntaxError:  # a magic command of IPython
        return ()
    return tuple(_read_parts(statements, source.splitlines()))


def _read_parts(statements: list[ast.stmt], lines: list[str]) -> Iterator[_Part]:
    together: list[list[ast.stmt]] = []
    for statement in statements:
        if together and statement.lineno <= (together[-1][-1].end_lineno or 0):
            together[-1].append(statement)
        else:
            together.append([statement])
    begin = 0
    for some in together:
        inside = [node for statement in some for node in ast.walk(statement)]
        texts = {node.value for node in inside if isinstance(node, ast.Constant) and type(node.value) is str}
        end = some[-1].end_lineno or 0
        yield _Part(
            "\n".join(lines[begin:end]),
            frozenset(name for statement in some for name in given_by(statement)),
            frozenset(name for statement in some for name in read_by(statement))
            | {text for text in texts if not text.isidentifier()},
            any(isinstance(node, (ast.FunctionDef, ast.Lambda)) for node in inside),
            all(isinstance(statement, AT_ONCE) for statement in some),
        )
        begin = end
