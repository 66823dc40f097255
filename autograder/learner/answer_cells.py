"""The source of an answer that is code: of the cells that ran, the one that defines it and those that it needs.

Each cell counts as it ran last. Of a name that is used, the last cell before the use that binds it counts, and the last
one of all, which is what a function finds when it is called; and the cells that change its value in between.
"""

from __future__ import annotations

import inspect
import textwrap
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..values.cell_names import CellNames, names_of
from . import cell_history


@dataclass(frozen=True)
class AnswerCells:
    """Cells in the order in which they ran, and which of them is the answer's."""

    cells: tuple[str, ...]
    answer: int

    @property
    def message(self) -> dict[str, Any]:
        """As plain data."""
        return {"cells": list(self.cells), "answer": self.answer}


def of(name: str, answer: Any) -> AnswerCells | None:
    """The cells that make `answer`, the variable `name`; outside a notebook its function's own source. None where
    neither is known."""
    if (cells := needed(cell_history.ran(name, answer), name)) is not None:
        return cells
    try:
        source = textwrap.dedent(inspect.getsource(answer)) if isinstance(answer, types.FunctionType) else ""
    except (OSError, TypeError):
        source = ""
    return needed([source], name)


def needed(cells: Sequence[str], name: str) -> AnswerCells | None:
    """Those of the `cells` that ran, the first one first, which the variable `name` needs; None where none binds it."""
    ran = list(dict.fromkeys(cell for cell in reversed(cells) if cell.strip()))[::-1]  # each where it ran last
    known = {at: own for at, cell in enumerate(ran) if (own := names_of(cell)) is not None}
    last = max((at for at, own in known.items() if name in own.binds), default=None)
    if last is None:
        return None
    wanted, waiting = {last}, [last]
    while waiting:
        at = waiting.pop()
        for used in known[at].uses:
            more = {*_of(used, known, at), *_of(used, known, len(ran))} - wanted
            wanted |= more
            waiting += more
    wanted |= {at for at, cell in enumerate(ran) if _takes_all(cell)}
    order = sorted(wanted)
    return AnswerCells(tuple(ran[at] for at in order), order.index(last))


def _of(name: str, known: dict[int, CellNames], before: int) -> Iterator[int]:
    """The cell before that place which binds a name last, and those since then that change its value; what is called of
    a module changes nothing in it."""
    binder = max((at for at, own in known.items() if at < before and name in own.binds), default=None)
    if binder is None:
        return
    yield binder
    if name not in known[binder].imports:
        yield from (at for at, own in known.items() if binder < at < before and name in own.changes)


def _takes_all(cell: str) -> bool:
    """Whether a cell imports everything of a module, so that nobody can tell what it binds."""
    return " import *" in cell and cell_history.is_code(cell)
