"""A chapter of five exercises, one of each kind that matters to the grader, built in a folder of the test's
own."""

from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder import course
from autograder.book.source import notebook
from autograder.declaration import Bank, load_bank
from autograder.grading import worker

EXERCISES = """
from autograder.answers import Choice, Count, Function, Quantity
from autograder.declaration import Exercise, Mistake

TIME = Exercise(
    id="tiny-time", points=3, prompt="How long do {S:B} take at {W:B/s}?", given=dict(S=[4e9, 8e9], W=[2e9]),
    answer=Quantity("s"), solution=lambda S, W: S/W,
    mistakes=(Mistake(lambda S, W: W/S, "Turn the quotient over."),
              Mistake(lambda S, W: S*W, "Divide, do not multiply.")))
STEPS = Exercise(
    id="tiny-steps", points=2, prompt="How many steps has a ring of {n}?", given=dict(n=[8]), answer=Count(of="step"),
    solution=lambda n: 2*(n - 1),
    mistakes=(Mistake(lambda n: n - 1, "That is one phase."),
              Mistake(lambda n: 2*n, "The last step is not needed.")))
GUESS = Exercise(
    id="tiny-guess", points=1, prompt="Which limits?", predict=True, solution="memory",
    answer=Choice({"compute": "compute", "memory": "memory"}),
    mistakes=(Mistake("compute", "The arithmetic would be done long before the bytes are there."),))
DOUBLE = Exercise(
    id="tiny-double", points=2, prompt="Write twice.", solution=lambda x: 2*x,
    answer=Function(name="twice", signature="twice(x)", cases=[(1.0,), (2.5,), (-3.0,)]),
    mistakes=(Mistake(lambda x: x*x, "That is the square."),
              Mistake(lambda x: x + 2, "Twice is not two more.")))
SPREAD = Exercise(
    id="tiny-spread", points=2, prompt="Bytes a step of a ring?", given=dict(S=[8e9], n=[8]),
    answer=Quantity("B"), solution=lambda S, n: S/n,
    mistakes=(Mistake(lambda S, n: S, "A step moves a part."),
              Mistake(lambda S, n: S/(n - 1), "n parts.")))
"""
IDS = ("tiny-time", "tiny-steps", "tiny-guess", "tiny-double", "tiny-spread")
RIGHT = {
    "tiny-time": "answer = 4e9/2e9",
    "tiny-steps": "answer = 14",
    "tiny-guess": "answer = 'compute'",
    "tiny-double": "def twice(x):\n    return 2*x",
    "tiny-spread": "answer = '1 GB'",
}
POINTS = {"tiny-time": 3.0, "tiny-steps": 2.0, "tiny-guess": 1.0, "tiny-double": 2.0, "tiny-spread": 2.0}
NAME = "01-tiny"


def write_bank(root: Path) -> Bank:
    """root/solutions/01-tiny/exercises.py."""
    folder = root / "solutions" / NAME
    folder.mkdir(parents=True)
    (folder / "exercises.py").write_text(EXERCISES)
    return load_bank(folder)


def instructor(bank: Bank):
    """The instructor's notebook, as the chapter pipeline expands it."""
    cells = [
        new_markdown_cell("# Tiny"),
        new_code_cell("from autograder import check, given, grade, reveal, symbols\nimport numpy as np"),
    ]
    for name in IDS:
        source = f"### BEGIN SOLUTION\n{RIGHT[name]}\n### END SOLUTION"
        cells += [
            new_markdown_cell(f"On {name}."),
            new_code_cell(source, metadata={"exercise": name}),
            new_code_cell("seen = 1 + 1\nseen"),
        ]
    nb = new_notebook(cells=cells, metadata={"kernelspec": notebook.KERNEL})
    for number, cell in enumerate(nb.cells):
        cell.id = f"cell-{number}"
    out = notebook.expand(nb, bank, chapter=NAME)
    out.metadata["gpubook"] = {"chapter": NAME}
    return out


def released(root: Path, bank: Bank):
    """The learner's notebook, through nbgrader's release."""
    folder = root / "source" / NAME
    folder.mkdir(parents=True)
    nbformat.write(instructor(bank), folder / f"{NAME}.ipynb")
    return nbformat.read(course.release(root / "source", root / "release", NAME), as_version=4)


def fill(release, answers: dict[str, str]):
    """A submission: the release with these answer cells."""
    nb = nbformat.from_dict(release)
    for cell in nb.cells:
        if cell.metadata.get("gpubook", {}).get("part") == "answer" and cell.metadata["gpubook"]["exercise"] in answers:
            cell.source = answers[cell.metadata["gpubook"]["exercise"]]
    return nb


class Lent:
    """A zygote for a run that is not to end it: the tests of a file share one, for starting it takes seconds."""

    def __init__(self, running):
        self._running = running

    def __getattr__(self, name):
        return getattr(self._running, name)

    def close(self) -> None:
        pass

    def stop(self) -> None:
        pass


def lend(patch, running) -> None:
    """Have every run over a class use the zygote that runs."""
    patch.setattr(worker, "Zygote", lambda: Lent(running))
