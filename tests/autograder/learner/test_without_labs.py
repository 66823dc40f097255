"""Where torch is not installed, every check gives a verdict, and one that needs torch says how to get it."""

import json
import os
import subprocess
import sys

import pytest

from tests.autograder.learner.test_cell_errors import said
from tests.blocked_packages import block
from tests.conftest import ROOT

CHECKS = """
import json
import autograder
from autograder.declaration.answer import JudgedBy
from autograder.declaration.bank import declared_below, load_bank
from autograder.learner.lookup import solutions_folders

found = {}
for path in declared_below(solutions_folders()[0]):
    for name, exercise in load_bank(path).items():
        answer = exercise.answer
        if answer.judged_by is not JudgedBy.TEACHER:
            verdict = autograder.check(name, answer.as_learner(exercise, exercise.solution, exercise.variant()))
            found[name] = [answer.plays, verdict.kind, verdict.reason, verdict.say]
print(json.dumps(found))
"""

FIRST_CELLS = """
import json, sys, traceback

for path in sys.argv[1:]:
    with open(path) as file:
        cells = json.load(file)["cells"]
    try:
        exec("".join(next(cell for cell in cells if cell["cell_type"] == "code")["source"]), {})
    except Exception:
        print(path, traceback.format_exc())
"""
REMEDY = "pip install 'gpubook[labs]'"


@pytest.fixture
def blocked(tmp_path, monkeypatch):
    """Python's own processes from here on, and theirs, find none of what the extras bring."""
    monkeypatch.setattr(sys, "path", [str(block(tmp_path / "blocked")), *sys.path])
    return os.pathsep.join(path for path in sys.path if path)


@pytest.mark.slow
def test_every_check_of_the_book_gives_a_verdict(blocked, root, tmp_path):
    settings = {"GPUBOOK_SOLUTIONS": str(root / "solutions"), "GPUBOOK_PROGRESS": str(tmp_path / "progress.json")}
    done = subprocess.run(
        [sys.executable, "-c", CHECKS],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
        env={**settings, "PYTHONPATH": blocked, "HOME": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    need = {name for name, (plays, *_) in found.items() if plays == "torch.distributed"}
    assert need
    for name in need:
        _, kind, reason, say = found.pop(name)
        assert (kind, reason) == ("unreadable", "not-installed")
        assert REMEDY in say
    assert {kind for _, kind, _, _ in found.values()} == {"right", "recorded"}


def test_a_cell_that_needs_torch_says_how_to_get_it(blocked, book):
    cells = [("x", "import torch.distributed as dist"), ("x", "from hwlib.labs import run_ranks; run_ranks(print, 2)")]
    for error, say in said(book / "chapters" / "01-t", cells):
        assert error == "ModuleNotFoundError"
        assert REMEDY in say


def test_the_first_cell_of_every_chapter_runs(blocked, tmp_path):
    notebooks = sorted((ROOT / "chapters").glob("*/*.ipynb"))
    assert notebooks
    done = subprocess.run(
        [sys.executable, "-c", FIRST_CELLS, *map(str, notebooks)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PYTHONPATH": blocked, "HOME": str(tmp_path)},
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_cell_that_needs_what_such_a_cell_would_have_set_says_the_same(blocked, book):
    before = "early = 1\nimport torch\nlate, shape = torch.ones(2), (2, 3)\ndef run(x):\n    inner = x"
    cells = [
        ("x", before),
        ("x", "early"),
        ("x", "late.sum()"),
        ("x", "total = run(3)"),
        ("x", "total + 1"),
        ("x", "inner"),
        ("x", "torch.ones(3)"),
        ("x", "late = 3"),
        ("x", "late"),
        ("x", "from triton import language"),
        ("x", "language.load"),
    ]
    found = said(book / "chapters" / "01-t", cells)
    assert [error for error, _ in found] == [
        "ModuleNotFoundError",
        "",
        "NameError",
        "NameError",
        "NameError",
        "NameError",
        "NameError",
        "",
        "",
        "ModuleNotFoundError",
        "NameError",
    ]
    labs, kernels = REMEDY, REMEDY.replace("labs", "kernels")
    parts = (labs, "", labs, labs, labs, "", labs, "", "", kernels, kernels)
    for (_, say), part in zip(found, parts, strict=True):
        assert part in say
        assert bool(say) is bool(part)
