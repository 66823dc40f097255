"""A chapter as its rules read it: the cells of the source, each with its line, and the exercises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..source.captions import FIGURE
from ..source.notebook import ChapterSource, parse

if TYPE_CHECKING:
    from ...declaration.bank import Bank


@dataclass(frozen=True)
class Cell:
    """A cell of a chapter's source: the line on which its text begins, its kind, text and options."""

    line: int
    code: bool
    text: str
    options: Mapping[str, Any]


@dataclass(frozen=True)
class ChapterReading:
    """A chapter as its rules read it: the source with its cells, and the exercises. Paths are shown from `root` on."""

    name: str
    root: Path
    source: ChapterSource
    bank: Bank

    @classmethod
    def of(cls, root: Path, name: str) -> ChapterReading:
        """Read solutions/NAME; ChapterError and DeclarationError name file and line."""
        from ...declaration.bank import Bank, declared_in, load_bank

        folder = root.resolve() / "solutions" / name
        bank = load_bank(folder) if declared_in(folder) else Bank()
        return cls(name, root.resolve(), ChapterSource.read(folder / f"{name}.md"), bank)

    @cached_property
    def cells(self) -> list[Cell]:
        """The cells of the source, in order."""
        made, at = [], 0
        for cell in parse(self.source).cells:
            at = max(at, self.source.text.find(cell.source, at))
            line = self.source.text.count("\n", 0, at) + 1
            made.append(Cell(line, cell.cell_type == "code", cell.source, cell.metadata))
            at += len(cell.source)
        return made

    @property
    def code(self) -> list[Cell]:
        """Those that hold code."""
        return [cell for cell in self.cells if cell.code]

    @property
    def prose(self) -> list[Cell]:
        """Those that hold text."""
        return [cell for cell in self.cells if not cell.code]

    @property
    def figures(self) -> list[Cell]:
        """Those that draw."""
        return [cell for cell in self.cells if FIGURE.search(cell.text)]

    def at(self, line: int = 1) -> str:
        """`file:line` of the text."""
        return f"{self.shown(str(self.source.path))}:{line}"

    def where(self, exercise_id: str) -> str:
        """`file:line` of an exercise's declaration."""
        return self.shown(self.bank.where(exercise_id))

    def shown(self, place: str) -> str:
        """A path in the book, from its root on."""
        return place.removeprefix(f"{self.root}/")
