"""Where torch is not installed, every check gives a verdict, and one that needs torch says how to get it."""

import json
import os
import subprocess
import sys

import pytest

from tests.autograder.learner.test_cell_errors import said

BLOCKED = """
import sys


class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "cloudpickle"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Blocked())
"""
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


@pytest.fixture
def blocked(tmp_path, monkeypatch):
    """Python's own processes from here on, and theirs, find neither torch nor cloudpickle."""
    (tmp_path / "blocked").mkdir()
    (tmp_path / "blocked" / "sitecustomize.py").write_text(BLOCKED)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "blocked"), *sys.path])
    return os.pathsep.join(path for path in sys.path if path)


@pytest.mark.slow
def test_every_check_of_the_book_gives_a_verdict(blocked, root, tmp_path):
    settings = {"GPUBOOK_SOLUTIONS": str(root / "solutions"), "GPUBOOK_PROGRESS": str(tmp_path / "progress.json")}
    done = subprocess.run(
        [sys.executable, "-c", CHECKS], capture_output=True, text=True, cwd=tmp_path, check=False,
        env={**settings, "PYTHONPATH": blocked, "HOME": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    need = {name for name, (plays, *_) in found.items() if plays == "torch.distributed"}
    assert need
    for name in need:
        _, kind, reason, say = found.pop(name)
        assert (kind, reason) == ("unreadable", "not-installed")
        assert "pip install 'gpubook[labs]'" in say
    assert {kind for _, kind, _, _ in found.values()} == {"right", "recorded"}


def test_a_cell_that_needs_torch_says_how_to_get_it(blocked, book):
    cells = [("x", "import torch.distributed as dist"), ("x", "from hwlib.labs import run_ranks; run_ranks(print, 2)")]
    for error, say in said(book / "chapters" / "01-t", cells):
        assert error == "ModuleNotFoundError"
        assert "pip install 'gpubook[labs]'" in say
