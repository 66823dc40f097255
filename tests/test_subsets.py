"""Every exercise of the book alone in an assignment: no cell that stays needs what is left out.

Ruff, which knows nothing of how the cells are chosen, finds the names of each of these notebooks that nothing in it
defines. Whole chapters, without any exercise, run from top to bottom in the sandbox.
"""

import functools
import json
import subprocess
import sys

import pytest
from nbformat import from_dict

from autograder.book.source import chapters, notebook, subset
from autograder.course.layout import texts_beside
from autograder.declaration import load_bank
from autograder.grading.judge import Judge
from autograder.grading.submission import RunSettings, grade_notebook
from tests.conftest import ROOT

pytestmark = pytest.mark.slow
NAMES = chapters.chapter_names(ROOT)
IN_EVERY_RUN = ("06-collectives", "15-inference")  # whose cells read files, and where of a cell a part stays


@functools.cache
def expanded(name):
    """A chapter's declarations and its instructor's notebook, whose text keeps its roles."""
    bank = load_bank(ROOT / "solutions" / name)
    source = notebook.ChapterSource.read(ROOT / "solutions" / name / f"{name}.md")
    return bank, notebook.expand(notebook.read(source), bank, source=source)


def asking(name, kept, cells_of=subset.without):
    """The code of the untouched notebook of a chapter that asks these exercises only, by cell."""
    bank, nb = expanded(name)
    cells = cells_of(nb, [key for key in bank if key not in kept])
    return [cell.metadata.get("gpubook", {}).get("stub", cell.source) for cell in cells if cell.cell_type == "code"]


def without_their_own_cells(nb, left_out):
    """The cells without those of the exercises left out, and with all that need them."""
    return [cell for cell in nb.cells if cell.metadata.get("gpubook", {}).get("exercise") not in left_out]


def undefined(folder, notebooks):
    """What a notebook reads and does not define, by the notebook's name."""
    for name, sources in notebooks.items():
        about = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
        nb = {"cells": [about | {"source": text} for text in sources], "metadata": {}, "nbformat": 4}
        nb["nbformat_minor"] = 4
        (folder / f"{name}.ipynb").write_text(json.dumps(nb))
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--select", "F821"]
    done = subprocess.run(
        [*command, "--output-format", "json", str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1), done.stderr
    found = {}
    for one in json.loads(done.stdout):
        found.setdefault(one["filename"].rpartition("/")[2].removesuffix(".ipynb"), set()).add(one["message"])
    return found


def test_each_exercise_alone_defines_every_name_that_its_notebook_reads(tmp_path):
    notebooks, strangers = {}, {}
    for name in NAMES:
        every = list(expanded(name)[0])
        alone, others = [[key] for key in every], [[other for other in every if other != key] for key in every]
        for kept in [*alone, *others, []]:
            label = f"{name} {kept[0] if len(kept) == 1 else len(kept)} {len(notebooks)}"
            notebooks[label] = asking(name, kept)
            code = "\n".join(notebooks[label])
            if named := [key for key in every if key not in kept and f'"{key}"' in code]:
                strangers[label] = named
    assert len(notebooks) == sum(2 * len(expanded(name)[0]) + 1 for name in NAMES)
    assert strangers == {}
    assert undefined(tmp_path, notebooks) == {}


def test_an_exercise_is_not_left_out_by_its_own_cells_alone(tmp_path):
    sources = asking("06-collectives", ["collectives-ring-allgather"], without_their_own_cells)
    lost = "ring_reduce_scatter", "ring_allreduce", "ring_reduce_scatter_torch", "read_nccl_tests"
    assert undefined(tmp_path, {"06": sources}) == {"06": {f"Undefined name `{name}`" for name in lost}}


@pytest.mark.skipif(sys.platform != "linux", reason="grading others' work needs Linux")
@pytest.mark.parametrize(
    "name", [name if name in IN_EVERY_RUN else pytest.param(name, marks=pytest.mark.nightly) for name in NAMES]
)
def test_a_chapter_runs_without_its_exercises(name, zygotes):
    bank, nb = expanded(name)
    nb = from_dict({**nb, "cells": subset.without(nb, list(bank))})
    files = texts_beside(ROOT / "chapters" / name / f"{name}.ipynb")
    with Judge([bank.path]) as judge:
        done = grade_notebook(nb, nb, bank, "ann", RunSettings(files=files), zygote=zygotes(), judge=judge)
    assert [o for cell in done.nb.cells for o in cell.get("outputs", []) if o.output_type == "error"] == []
