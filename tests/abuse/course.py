"""The small course that is attacked: an exercise of every kind that the grader treats differently, the right answers,
and the notebooks that are submitted."""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbformat.v4 import new_code_cell, new_notebook

from autograder.book.source import notebook
from autograder.declaration import Bank, load_bank
from tests.autograder import lab
from tests.autograder.answers.test_distributed import RIGHT as TORCH_RING

# What only the key, the gradebook and other learners' folders hold. Nothing that a learner gets may have them in it.
SECRET = "9137 pelicans"
CONSTANT = 8.628137
EXERCISES = f"""
from autograder.answers import Algorithm, Choice, Distributed, Expression, Function, Quantity
from autograder.declaration import Exercise, Mistake
from autograder.answers.domains import integers, positive
from autograder.ranks.network import CALLS
from hwlib.algorithms import Step, blocks

{inspect.getsource(lab.ring)}
{inspect.getsource(lab.whole_ring)}
{inspect.getsource(lab.scattered)}

def two(value, other):
    return (Mistake(value, "That is one way."), Mistake(other, "That is the other way."))  # {SECRET}

TIME = Exercise(
    id="abuse-time", points=3, prompt="How long do {{S:B}} take at {{W:B/s}}?", given=dict(S=[4e9], W=[2e9]),
    answer=Quantity("s"), solution=lambda S, W: S/W, mistakes=two(lambda S, W: W/S, lambda S, W: S*W))
FORM = Exercise(
    id="abuse-form", points=3, prompt="The time?", solution=lambda n, S, W: 2*(n - 1)/n*S/W,
    answer=Expression({{"n": integers(2, 64), "S": positive("B"), "W": positive("B/s")}}, "s"),
    mistakes=two(lambda n, S, W: S/W, lambda n, S, W: (n - 1)*S/W))
GUESS = Exercise(
    id="abuse-guess", points=3, prompt="Which?", answer=Choice({{"x": "X", "y": "Y", "z": "Z"}}), solution="y",
    mistakes=two("x", "z"))
TWICE = Exercise(
    id="abuse-scaled", points=3, prompt="Write it.", solution=lambda x: {CONSTANT}*x,
    answer=Function("scaled", "scaled(x)", cases=lambda rng: [(rng.uniform(1, 2),) for _ in range(5)]),
    mistakes=two(lambda x: 2*x, lambda x: x/{CONSTANT}))
RIDGE = Exercise(
    id="abuse-ridge", points=3, prompt="Write it.", withholds=("hwlib.roofline",), solution=lambda C, W: C/W,
    answer=Function("ridge", "ridge(C, W)", cases=[(6.0, 3.0), (8.0, 2.0)]),
    mistakes=two(lambda C, W: C*W, lambda C, W: W/C))
RING = Exercise(
    id="abuse-ring", points=3, prompt="Write a ring.", withholds=("hwlib.algorithms",), solution=ring,
    answer=Algorithm("ring", cases=[(2, 8), (3, 7)], collective="all_reduce"), mistakes=two(whole_ring, scattered))
TORCH = Exercise(
    id="abuse-torch", points=3, prompt="Write a ring.", withholds=("hwlib.algorithms",), solution=ring,
    answer=Distributed("allreduce", cases=[(3, 9)], collective="all_reduce"), mistakes=two(whole_ring, scattered))
CALLS = Exercise(
    id="abuse-calls", points=3, prompt="With any call.", solution=ring,
    answer=Distributed("anyhow", cases=[(2, 8)], collective="all_reduce", calls=CALLS),
    mistakes=two(whole_ring, scattered))
"""
RIGHT = {
    "abuse-time": "answer = 2.0",
    "abuse-form": "n, S, W = symbols('abuse-form')\nanswer = 2*(n - 1)/n*S/W",
    "abuse-guess": "answer = 'y'",
    "abuse-scaled": f"def scaled(x): return {CONSTANT}*x",
    "abuse-ridge": "def ridge(C, W): return C/W",
    "abuse-ring": inspect.getsource(lab.ring),
    "abuse-torch": TORCH_RING,
    "abuse-calls": "def anyhow(rank, n, x):\n    dist.all_reduce(x)\n    return x",
}
WRONG = {
    "abuse-time": "answer = -1",
    "abuse-form": "answer = '1'",
    "abuse-guess": "answer = 'x'",
    "abuse-scaled": "def scaled(x): return 1.0",
    "abuse-ridge": "def ridge(C, W): return 1.0",
    "abuse-ring": "def ring(rank, n, x):\n    return x\n    yield",
    "abuse-torch": "def allreduce(rank, n, x): return x",
    "abuse-calls": "def anyhow(rank, n, x): return x",
}
QUICK = tuple(RIGHT)[:4]  # those without processes of their own
RANKS = ("abuse-ring", "abuse-torch")
IMPORTS = """
import math, os, sys
import numpy as np
import sympy, torch
import torch.distributed as dist
from hwlib.algorithms import Step, blocks
from autograder import check, given, grade, symbols
"""


@dataclass(frozen=True)
class Attack:
    """A hostile notebook: what it runs at its beginning (`setup`), and what its answer cells hold (`answers`).

    `asked` are the exercises of its assignment; those without an answer of the attack's have a wrong one. `earns` is
    what it may get, for its right answers among them; `edit` changes the notebook's cells; some verdict has this
    `reason`, and some names these `words`.
    """

    name: str
    setup: str = ""
    answers: dict[str, str] = field(default_factory=dict)
    asked: Sequence[str] = QUICK
    earns: float = 0.0
    edit: Any = None
    reason: str = ""
    words: str = ""

    def __str__(self) -> str:
        return self.name


def write_bank(root: Path) -> Bank:
    """root/exercises.py, the key."""
    (root / "exercises.py").write_text(EXERCISES)
    return load_bank(root)


def written(bank: Bank, answers: dict[str, str], setup: str = "") -> Any:
    """A notebook with these answers: first the chapter's own cell of imports, then one for the learner's tries."""
    cells = [new_code_cell(IMPORTS), new_code_cell(setup)]
    for name, answer in answers.items():
        source = f"### BEGIN SOLUTION\n{answer}\n### END SOLUTION"
        cells.append(new_code_cell(source, metadata={"exercise": name}))
    nb = new_notebook(cells=cells, metadata={"kernelspec": notebook.KERNEL})
    for number, cell in enumerate(nb.cells):
        cell.id = f"cell-{number}"
    return notebook.expand(nb, bank, chapter="06-abuse")


def submission_of(bank: Bank, attack: Attack) -> tuple[Any, Any]:
    """The attack's notebook, and the release that it was made of."""
    answers = {name: attack.answers.get(name, WRONG[name]) for name in attack.asked}
    nb = written(bank, answers, attack.setup)
    if attack.edit is not None:
        attack.edit(nb)
    return nb, written(bank, dict.fromkeys(attack.asked, "pass"))


def part(nb: Any, exercise: str, name: str) -> Any:
    """A cell of an exercise: its "answer" or its "grade"."""
    return next(c for c in nb.cells if c.metadata.get("gpubook") == {"exercise": exercise, "part": name})
