"""Ranks with tensors by name through the sandbox: a confined process each, whose memory is measured there, and a judge
that runs the declaration's own functions."""

import inspect
import sys
import textwrap
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.book.source import notebook
from autograder.declaration import load_bank
from autograder.grading.judge import Judge
from autograder.grading.submission import RunSettings, grade_notebook
from autograder.sandbox import Limits
from tests.autograder import training_labs as labs

pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox needs Linux namespaces")

PRELOAD = "all"  # torch, before the fork
LIMITS = Limits(cell=20.0, grace=1.0, total=120.0)
IMPORTS = "import torch\nimport torch.distributed as dist"


def body(exercise, function=None, **changes):
    """The function of a declaration as a learner's cell."""
    function = function or exercise.solution
    text = inspect.getsource(function).replace(f"def {function.__name__}(", f"def {exercise.answer.name}(", 1)
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    return text


ZERO3 = body(labs.ZERO3)
KEEPS = ZERO3.replace("keep=False", "keep=True")
SCRATCH = ZERO3.replace("    kept = []", "    kept = []\n    scratch = torch.zeros(4096, dtype=x.dtype)")
RESIZED = body(labs.ZERO3, labs.zero3_resized)
FILES = """
import pathlib
def zero3(rank, n, x, shards):
    numbers = torch.cat(shards)
    pathlib.Path(f"/tmp/shared-{rank}").write_bytes(numbers.numpy().tobytes())
    for r in range(n):
        pathlib.Path(f"/tmp/shared-{r}").read_bytes()
    return x
"""
QUIET_FILES = """
import pathlib
def product(rank, n, A, B):
    c = A @ B
    pathlib.Path(f"/tmp/shared-{rank}").write_bytes(c.numpy().tobytes())
    parts = [pathlib.Path(f"/tmp/shared-{r}").read_bytes() for r in range(n)]
    return sum(torch.frombuffer(bytearray(part), dtype=c.dtype).reshape(c.shape) for part in parts).chunk(n)[rank]
"""
REMEMBERS = """
seen = {}
def product(rank, n, A, B):
    seen[rank] = A @ B
    while len(seen) < n: dist.reduce_scatter_tensor(B.new_empty(0), B.new_empty(0))
    return sum(seen.values()).chunk(n)[rank]
"""
EMPTY_MESSAGES = """
def product(rank, n, A, B):
    c = A @ B
    for r in range(n):
        dist.reduce_scatter_tensor(c.new_empty(0), c.new_empty(0))
    return c.chunk(n)[rank].clone()
"""
CASES = {
    "right": ("t-zero3", ZERO3, "right", "", ""),
    "one buffer": ("t-zero3", RESIZED, "right", "", ""),
    "a mistake of memory": ("t-zero3", KEEPS, "mistake", "", "In the end you hold the whole model."),
    "too much memory": ("t-zero3", SCRATCH, "wrong", "too-much-memory", "at most 3.84 KB were expected"),
    "numbers out of tensors": ("t-zero3", FILES, "wrong", "raises", "takes numbers out of their tensor"),
    "hooks": ("t-ddp", body(labs.DDP), "right", "", ""),
    "a mistake of values": ("t-ddp", body(labs.DDP, labs.ddp_without_wait), "mistake", "", "Nobody waits"),
    "autograd": ("t-mlp", body(labs.MLP), "right", "", ""),
    "a pipeline": ("t-pipe", body(labs.PIPE), "right", "", ""),
    "files": ("t-product", QUIET_FILES, "wrong", "raises", "FileNotFoundError"),
    "what a process remembers": ("t-product", REMEMBERS, "wrong", "endless-steps", "does a loop never end?"),
    "empty messages": ("t-product", EMPTY_MESSAGES, "mistake", "", "the rank's own products"),
}


@pytest.fixture(scope="module")
def bank(tmp_path_factory):
    root = tmp_path_factory.mktemp("labs")
    (root / "exercises.py").write_text(Path(labs.__file__).read_text())
    return load_bank(root)


@pytest.fixture(scope="module")
def grade(bank, zygotes):
    def written(name, answer):
        source = f"### BEGIN SOLUTION\n{textwrap.dedent(answer)}\n### END SOLUTION"
        cells = [new_code_cell(IMPORTS), new_code_cell(source, metadata={"exercise": name})]
        nb = new_notebook(cells=cells, metadata={"kernelspec": notebook.KERNEL})
        for number, cell in enumerate(nb.cells):
            cell.id = f"cell-{number}"
        return notebook.expand(nb, bank, chapter="06-lab")

    with Judge([bank.path]) as judge:

        def run(name, answer):
            done = grade_notebook(
                written(name, answer),
                written(name, "pass"),
                bank,
                "ann",
                RunSettings(LIMITS),
                zygote=zygotes(),
                judge=judge,
            )
            assert done.problems == []
            return done.results[0]

        yield run


@pytest.mark.parametrize(("name", "answer", "kind", "reason", "said"), CASES.values(), ids=CASES)
def test_a_grade_through_the_sandbox(grade, bank, name, answer, kind, reason, said):
    result = grade(name, answer)
    points = bank[name].points * (kind == "right")
    assert (result.points, result.kind, result.reason) == (points, kind, reason), result.say
    assert said in result.say
