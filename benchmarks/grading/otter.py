"""The same submissions through `otter run`, in an environment of its own that is thrown away."""

import json
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

import hwlib
from benchmarks.grading.classroom import KERNEL, SETUP, Class, GradedQuestion, points, scores_of
from benchmarks.grading.runs import run

TEST = """OK_FORMAT = False
from otter.test_files import test_case
name, points = {name!r}, {points}

@test_case(hidden=True)
def hidden(env):
    exec({test!r}, env)
"""


class NoOtter(RuntimeError):
    """It cannot be installed here, and why."""


def install(folder: Path) -> Path:
    """`otter` in a new environment that also sees the packages of this one; NoOtter where pip fails."""
    made = subprocess.run([sys.executable, "-m", "venv", str(folder)], capture_output=True, text=True)
    if made.returncode:
        raise NoOtter(f"no environment for it: {(made.stderr or made.stdout).strip()[-300:]}")
    python = folder / "bin" / "python"
    own = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], capture_output=True, text=True
    )
    outer = f"{sysconfig.get_path('purelib')}\n{Path(hwlib.__file__).resolve().parent.parent}\n"
    (Path(own.stdout.strip()) / "outer.pth").write_text(outer)
    done = subprocess.run([python, "-m", "pip", "install", "-q", "otter-grader"], capture_output=True, text=True)
    if done.returncode:
        raise NoOtter(f"pip could not install otter-grader: {done.stderr.strip()[-300:]}")
    return folder / "bin" / "otter"


def measure(
    folder: Path, otter: Path, questions: Sequence[GradedQuestion], learners: Class, limit: float
) -> dict[str, Any]:
    """Seconds and peak memory of `otter run`, a submission at a time; the scores are those of the plan."""
    tests = folder / "tests"
    tests.mkdir(parents=True)
    full = points()
    for q in questions:
        (tests / f"{q.name}.py").write_text(TEST.format(name=q.name, points=full[q.name], test=q.test))
    (folder / "otter_config.json").write_text(json.dumps({"seconds_per_cell": limit}))
    made = run([[str(otter), "generate", "-t", "tests", "-o", "autograder.zip", "--no-requirements"]], folder)
    seconds, peaks = [], []
    for who, wanted in scores_of(learners).items():
        notebook, results = folder / f"{who}.ipynb", folder / who
        results.mkdir()
        nbformat.write(_notebook(questions, learners[who]), notebook)
        command = [str(otter), "run", "-a", "autograder.zip", "-o", str(results), "--no-logo", str(notebook)]
        ran = run([command], folder, memory=True)
        report = results / "results.json"
        if not report.is_file():
            raise NoOtter(f"otter run wrote no results: {(made.said + ran.said)[-600:]}")
        got = {t["name"]: t.get("score") for t in json.loads(report.read_text())["tests"]}
        if any(got.get(name) != score for name, score in wanted.items()):
            raise AssertionError(f"{who}: otter gives {got}, the plan {wanted}")
        seconds.append(ran.seconds)
        peaks.append(ran.peak)
    return {"seconds": seconds, "peak": max(peaks), "median": median(seconds)}


def _notebook(questions: Sequence[GradedQuestion], answers: Any) -> Any:
    cells = [new_code_cell(f"{SETUP}\nimport otter\ngrader = otter.Notebook()")]
    for q in questions:
        cells += [new_code_cell(answers[q.name][0]), new_code_cell(f"grader.check({q.name!r})")]
    return new_notebook(cells=cells, metadata=KERNEL)
