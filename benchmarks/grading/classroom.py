"""The class of the grading benchmark: what is asked, what learners answer, and the same assignment twice, as a course
of ours and as an ordinary nbgrader one with hidden tests."""

import copy
import random
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder import course
from autograder.declaration import load_bank
from benchmarks.grading.runs import run

NAME = "week1"  # the assignment
BANK = Path(__file__).with_name("bank.py")
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
SETUP = (
    "import math\nimport numpy as np\nimport sympy\nimport torch\nimport torch.distributed as dist\n"
    "from hwlib.labs import run_ranks"
)
TEXT = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
---

# Week 1

```{code-cell} ipython3
from autograder import check, grade, symbols
%s
```
"""
LETTERS = "n, S, alpha, W = sympy.symbols('n S alpha W', positive=True)\nanswer = "
FIRST_HALF = """def allreduce(rank, n, x):
    mine, theirs = x.chunk(2)[rank], x.chunk(2)[1 - rank]
    got = torch.empty_like(mine)
    for work in [dist.isend(theirs, 1 - rank), dist.irecv(got, 1 - rank)]:
        work.wait()
    mine += got
"""
IN_TURN = """def allreduce(rank, n, x):
    got = torch.empty_like(x)
    if rank == 0:
        dist.send(x, 1)
        dist.recv(got, 1)
    else:
        dist.recv(got, 0)
        dist.send(x, 0)
"""
DEADLOCK = """def allreduce(rank, n, x):
    got = torch.empty_like(x)
    dist.recv(got, 1 - rank)
    dist.send(x, 1 - rank)
    return x + got"""
IN_RANKS = """def total(parts):
    def exchange(rank, n):
        x = torch.tensor(parts[rank], dtype=torch.float64)
        got = torch.empty_like(x)
%s
    return run_ranks(exchange, 2).results"""
BY_TURNS = """        if rank == 0:
            dist.send(x, 1)
            dist.recv(got, 1)
        else:
            dist.recv(got, 0)
            dist.send(x, 0)
"""
AT_ONCE = """        for work in [dist.isend(x, 1 - rank), dist.irecv(got, 1 - rank)]:
            work.wait()
"""
TOTAL = """
import random
rng = random.Random(1)
for length in (8, 1000):
    parts = [[rng.random() for _ in range(length)] for _ in range(2)]
    assert np.allclose(total(parts), [np.sum(parts, 0)] * 2, rtol=1e-9, atol=0)
"""
ON_TORCHRUN = """
import inspect, pathlib, subprocess, sys, tempfile
MAIN = '''
dist.init_process_group("gloo")
rank, n = dist.get_rank(), dist.get_world_size()
for length in (8, 1000):
    torch.manual_seed(length)
    parts = [torch.rand(length, dtype=torch.float64) for _ in range(n)]
    assert torch.allclose(allreduce(rank, n, parts[rank].clone()), sum(parts))
dist.destroy_process_group()
'''
with tempfile.TemporaryDirectory() as folder:
    script = pathlib.Path(folder) / "lab.py"
    script.write_text("import torch\\nimport torch.distributed as dist\\n" + inspect.getsource(allreduce) + MAIN)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(script)]
    ran = subprocess.run(command, capture_output=True, text=True)
assert ran.returncode == 0, ran.stderr[-2000:]
"""


@dataclass(frozen=True)
class GradedQuestion:
    """An exercise of the bank, the hidden test that stands for its judge in nbgrader, and what learners answer."""

    name: str
    test: str
    right: Sequence[str]
    wrong: Sequence[str]


NO_LAB = (
    GradedQuestion(
        "bench-seconds",
        "assert math.isclose(answer, 0.07, rel_tol=0.01)",
        ("answer = 2*7/8*4e9/100e9", "S, W = 4e9, 100e9\nanswer = 14*(S/8)/W"),
        ("answer = 4e9/100e9", "answer = 7/8*4e9/100e9", "answer = 8*0.07"),
    ),
    GradedQuestion(
        "bench-steps",
        "assert answer == 14",
        ("answer = 14", "answer = 2*(8 - 1)"),
        ("answer = 8", "answer = 7", "answer = len(range(8)) * 2"),
    ),
    GradedQuestion(
        "bench-bound",
        "assert answer.strip().lower() == 'memory'",
        ("answer = 'memory'",),
        ("answer = 'compute'", "answer = 'latency'"),
    ),
    GradedQuestion(
        "bench-formula",
        "n, S, alpha, W = sympy.symbols('n S alpha W', positive=True)\n"
        "assert sympy.simplify(answer - 2*(n - 1)*(alpha + S/(n*W))) == 0",
        (LETTERS + "2*(n - 1)*(alpha + S/(n*W))", LETTERS + "2*(n - 1)*alpha + 2*S/W - 2*S/(n*W)"),
        (LETTERS + "2*(n - 1)*(alpha + S/W)", LETTERS + "(n - 1)*(alpha + S/(n*W))", LETTERS + "2*S/W + n*alpha"),
    ),
    GradedQuestion(
        "bench-bubble",
        "import random\nrng = random.Random(1)\nfor _ in range(20):\n"
        "    p, m = rng.randint(1, 32), rng.randint(1, 256)\n"
        "    assert math.isclose(bubble(p, m), (p - 1)/(m + p - 1), rel_tol=1e-9)",
        (
            "def bubble(p, m):\n    return (p - 1)/(m + p - 1)",
            "def bubble(p, m):\n    busy, idle = m, p - 1\n    return idle/(busy + idle)",
        ),
        (
            "def bubble(p, m):\n    return (p - 1)/m",
            "def bubble(p, m):\n    return p/(m + p)",
            "def bubble(p, m):\n    return math.sqrt(-p)",
        ),
    ),
    GradedQuestion(
        "bench-torch",
        "import random\nrng = random.Random(1)\nfor shift in (0, 0, 0, 1000, -1000):\n"
        "    row = [rng.uniform(-3, 3) + shift for _ in range(16)]\n"
        "    weights = [math.exp(x - max(row)) for x in row]\n"
        "    assert np.allclose(softmax(row), [w/sum(weights) for w in weights], rtol=1e-6, atol=0)",
        (
            "def softmax(row):\n    return torch.softmax(torch.tensor(row, dtype=torch.float64), 0).tolist()",
            "def softmax(row):\n    x = torch.tensor(row, dtype=torch.float64)\n    w = torch.exp(x - x.max())\n"
            "    return (w/w.sum()).tolist()",
        ),
        (
            "def softmax(row):\n    w = torch.exp(torch.tensor(row, dtype=torch.float64))\n"
            "    return (w/w.sum()).tolist()",
            "def softmax(row):\n    x = torch.tensor(row)\n    return (x/x.sum()).tolist()",
        ),
    ),
)
LAB = (
    *NO_LAB,
    GradedQuestion(
        "bench-allreduce",
        ON_TORCHRUN,
        (
            FIRST_HALF + "    for work in [dist.isend(mine, 1 - rank), dist.irecv(theirs, 1 - rank)]:\n"
            "        work.wait()\n    return x",
            IN_TURN + "    return x + got",
        ),
        (FIRST_HALF + "    return x", IN_TURN + "    return (x + got)/n", IN_TURN + "    return got"),
    ),
)
RANKS = (
    *NO_LAB,
    GradedQuestion(
        "bench-total",
        TOTAL,
        (
            IN_RANKS % (BY_TURNS + "        return (x + got).tolist()"),
            IN_RANKS % (AT_ONCE + "        return (x + got).tolist()"),
        ),
        (
            IN_RANKS % (BY_TURNS + "        return ((x + got)/n).tolist()"),
            IN_RANKS % (BY_TURNS + "        return got.tolist()"),
            IN_RANKS % (AT_ONCE + "        return x.tolist()"),
        ),
    ),
)
Class = Mapping[str, Mapping[str, tuple[str, bool]]]  # learner -> question -> the answer, and whether it is right


def draw(questions: Sequence[GradedQuestion], size: int, workers: int, seed: int = 1) -> Class:
    """Learners who are right, partly right or wrong; the name begins with the worker that stock nbgrader gives
    them to."""
    rng, drawn = random.Random(f"{seed} {size}"), {}
    for number in range(size):
        kind = ("right", "partly", "partly", "wrong")[number % 4] if size > 1 else "right"
        marks = [kind == "right"] * len(questions)
        if kind == "partly":
            right = rng.sample(range(len(questions)), rng.randint(1, len(questions) - 1))
            marks = [k in right for k in range(len(questions))]
        drawn[f"w{number % workers}-{number:04}"] = {
            q.name: (rng.choice(q.right if mark else q.wrong), mark) for q, mark in zip(questions, marks, strict=True)
        }
    return drawn


def points() -> dict[str, float]:
    """Of each question."""
    return {name: float(exercise.points) for name, exercise in load_bank(BANK).items()}


def scores_of(learners: Class) -> dict[str, dict[str, float]]:
    """What each learner must get, by the plan."""
    full = points()
    return {who: {q: full[q] * mark for q, (_, mark) in answers.items()} for who, answers in learners.items()}


def ours(folder: Path, questions: Sequence[GradedQuestion], learners: Class) -> Path:
    """A course of `gpubook` in which the class has submitted its work."""
    course.init(folder)
    shutil.copy(BANK, folder / "exercises" / "bank.py")
    cells = [
        f"```{{code-cell}} ipython3\n:exercise: {q.name}\n\n### BEGIN SOLUTION\n{q.right[0]}\n### END SOLUTION\n```\n"
        for q in questions
    ]
    text = folder / "week1.md"
    text.write_text(TEXT % SETUP + "\n" + "\n".join(cells))
    hand_in(folder, nbformat.read(course.assign(folder, NAME, text=text), as_version=4), learners)
    return folder


def stock(folder: Path, questions: Sequence[GradedQuestion], learners: Class) -> Path:
    """The same class in a course of stock nbgrader, with a hidden test under each question."""
    (folder / "source" / NAME).mkdir(parents=True)
    (folder / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'peer'\n")
    bank = load_bank(BANK)
    cells = [new_code_cell(SETUP, id="setup")]
    for q in questions:
        exercise = bank[q.name]
        hidden = f"### BEGIN HIDDEN TESTS\n{q.test}\n### END HIDDEN TESTS"
        solution = f"### BEGIN SOLUTION\n{q.right[0]}\n### END SOLUTION"
        cells += [
            new_markdown_cell(exercise.fill(exercise.prompt, exercise.variant()), id=f"{q.name}-prompt"),
            new_code_cell(solution, id=q.name, metadata=_role(q.name, solution=True, locked=False)),
            new_code_cell(
                hidden, id=f"{q.name}-grade", metadata=_role(f"{q.name}-grade", grade=True, points=exercise.points)
            ),
        ]
    nbformat.write(new_notebook(cells=cells, metadata=KERNEL), folder / "source" / NAME / f"{NAME}.ipynb")
    run([[sys.executable, "-m", "nbgrader", "generate_assignment", NAME]], folder)
    released = folder / "release" / NAME / f"{NAME}.ipynb"
    hand_in(folder, nbformat.read(released, as_version=4), learners)
    return folder


def _role(name: str, **changes: Any) -> dict[str, Any]:
    base = {"schema_version": 3, "task": False, "grade": False, "solution": False, "locked": True}
    return {"nbgrader": base | {"grade_id": name} | changes}


def hand_in(folder: Path, release: Any, learners: Class) -> None:
    """Write what each learner makes of the released notebook."""
    for learner, answers in learners.items():
        nb = copy.deepcopy(release)
        for cell in nb.cells:
            name = cell.metadata.get("nbgrader", {}).get("grade_id")
            if name in answers:
                cell.source = answers[name][0]
        path = folder / "submitted" / learner / NAME / f"{NAME}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(nb, path)


def scores_in(folder: Path) -> dict[str, dict[str, float | None]]:
    """Each learner's points for each question, as the course's gradebook has them; None where it has none."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{folder}/gradebook.db") as gradebook:
        return {
            submission.student.id: {
                grade.cell.name.removesuffix("-grade"): grade.auto_score
                for notebook in submission.notebooks
                for grade in notebook.grades
            }
            for submission in gradebook.assignment_submissions(NAME)
        }
