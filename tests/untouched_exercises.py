"""The exercises of a chapter in its untouched notebook, with the cells that depend on them, graded as one submission.

The other cells, most of the minutes that a notebook takes, run the same whether or not anything was answered: a book is
built of them. No course is made and no gradebook, so a change in `autograder/course` runs none of these again.
"""

import ast
import json
from pathlib import Path

import nbformat

from autograder.book.source.output_dependence import DependentNames, given_by, read_by
from autograder.course.layout import texts_beside
from autograder.declaration import Bank, load_bank
from autograder.grading.judge import Judge
from autograder.grading.submission import RunSettings, grade_notebook
from autograder.sandbox import Zygote

ROOT = Path(__file__).parents[1]
ANY = "0.0"  # the number of an exercise, where it does not matter of which
_zygotes: list[Zygote] = []


def begin() -> None:
    """Have the submissions of this process share a zygote, which takes seconds to start."""
    _zygotes.append(Zygote())


def grade(folder: Path, chapter: str) -> None:
    """Grade the untouched exercises of a chapter; `folder` has the executed notebook then, and the results."""
    bank, path = load_bank(ROOT / "solutions" / chapter), ROOT / "chapters" / chapter / f"{chapter}.ipynb"
    nb = nbformat.read(path, as_version=4)
    nb.cells = with_what_they_need(nb.cells, depending(nb.cells, bank))
    with Judge([bank.path]) as judge:
        settings = RunSettings(files=texts_beside(path))
        done = grade_notebook(nb, nb, bank, "nothing", settings, zygote=_zygotes[0], judge=judge)
    nbformat.write(done.nb, folder / "executed.ipynb")
    results = {result.exercise: (result.points, result.kind) for result in done.results}
    (folder / "results.json").write_text(json.dumps(results), encoding="utf-8")


def depending(cells: list[nbformat.NotebookNode], bank: Bank) -> set[int]:
    """The places of the code cells that belong to exercises, name one, or depend on an answer."""
    names, places = DependentNames(), set()
    for place, cell in enumerate(cells):
        if cell.cell_type != "code":
            continue
        own = cell.metadata.get("gpubook", {})
        if own.get("part") == "answer":
            names.asked(bank[own["exercise"]].answer_name, ANY)
        if "exercise" in own or any(f'"{key}"' in cell.source for key in bank) or names.ran(cell.source):
            places.add(place)
    return places


def with_what_they_need(cells: list[nbformat.NotebookNode], places: set[int]) -> list[nbformat.NotebookNode]:
    """The cells at these places, each code cell before one of them that gives a name which it reads, and the texts of
    the exercises, some of which ask for a text."""
    needed, staying = set[str](), []
    for place in reversed(range(len(cells))):
        if cells[place].cell_type != "code":
            if "exercise" in cells[place].metadata.get("gpubook", {}):
                staying.append(cells[place])
            continue
        statements = ast.parse(cells[place].source).body
        gives = {name for statement in statements for name in given_by(statement)}
        if place in places or gives & needed:
            staying.append(cells[place])
            needed.update(*map(read_by, statements))
    return staying[::-1]
