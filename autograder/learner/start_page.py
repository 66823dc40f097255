"""The notebook at the top of a study folder: what the book is, how one works in it, and what one has done.

It is brought to a new edition as a chapter is, so what a learner writes into it stays; only the table is always that of
the record at the last `gpubook start`, until its cell is run.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .edition_cells import text
from .editions import LearnerCopy
from .notebook_file import Notebook, written
from .overview import ProgressOverview, overview
from .shown import MARK, START

ABOUT = """\
# Start here

This book explains what limits a language model that is trained or served on GPUs: the arithmetic and memory of one \
chip, the networks between chips, and the parallelism that splits a model over thousands of them.
Each chapter opens with a question that an engineer has asked, answers it with a model of a few lines and a published \
measurement, and has you compute, predict and build things that are judged here, on your own machine."""
HOW = """\
**Shift+Enter runs a cell** and goes to the next one; in a chapter run them from the top, since later cells use what \
earlier ones define.

| in an exercise | |
|---|---|
| the cell under the question | is yours: write the answer there and run it |
| `grade("…", answer)`, the locked cell below | says whether it is right, or what went wrong, and records it |
| `check("…", answer)` | says the same, for a draft in a cell of your own |
| `card("…")` | is the exercise as a form: what to choose or type, Check, Hint and Solution |
| `hint("…")` | shows one more hint with each call |
| `solution("…")` | shows the answer and how one gets there, once the hints are used up |

Nothing has to be done in order, and nothing is sent anywhere.
Labs that measure this machine, or start ranks, need torch: `%pip install 'gpubook[labs]'`.
On Linux pip may fetch several GB of CUDA with it, unless the CPU build that pytorch.org names (about 200 MB) is \
there already.
The book's pages keep the same record: *Progress* there writes it to a file and reads it from one, and so do \
`gpubook progress --export FILE` and `--import FILE` in a terminal in this folder.
**The cell below shows what you have done as it was when it ran: run it again.**"""
TABLE = "from autograder import progress\n\nprogress()"
TABLE_ID = "start-progress"


def renew(copy: LearnerCopy) -> None:
    """Write the start page of a copy of the book, or bring it up to date; the table shows the record as it is now."""
    copy.renew(Path(START), written(page()), OverviewTable(overview(copy.folder)))


def page() -> Notebook:
    """The page without an output."""
    return {
        "cells": [
            {"cell_type": "markdown", "id": "start-about", "metadata": {}, "source": ABOUT.splitlines(keepends=True)},
            {"cell_type": "markdown", "id": "start-how", "metadata": {}, "source": HOW.splitlines(keepends=True)},
            _table([]),
        ],
        "metadata": {
            "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


@dataclass(frozen=True)
class OverviewTable:
    """The output of the page's cell of code: no edition has it, and it is not the learner's either."""

    shown: ProgressOverview

    def is_in(self, _notebook: bytes) -> bool:
        """Never known without looking."""
        return False

    def put(self, notebook: Notebook, _edition: Notebook) -> Notebook:
        """The page with the table of now, where its cell is as the book has it."""
        both = {"text/html": self.shown._repr_html_(), "text/plain": str(self.shown)}
        data = {kind: said.splitlines(keepends=True) for kind, said in both.items()}  # as Jupyter saves them
        return _with_outputs(notebook, [{"output_type": "display_data", "data": data, "metadata": MARK}])

    def taken_out(self, notebook: Notebook) -> Notebook:
        """The page without a table, whoever ran the cell."""
        return _with_outputs(notebook, [])


def _table(outputs: list[Any]) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": TABLE_ID,
        "metadata": {},
        "outputs": outputs,
        "source": TABLE.splitlines(keepends=True),
    }


def _with_outputs(notebook: Notebook, outputs: list[Any]) -> Notebook:
    more = {"outputs": outputs, "execution_count": None}
    cells = [{**cell, **more} if _is_table(cell) else cell for cell in notebook["cells"]]
    return {**notebook, "cells": cells}


def _is_table(cell: dict[str, Any]) -> bool:
    return cell.get("id") == TABLE_ID and cell["cell_type"] == "code" and text(cell) == TABLE
