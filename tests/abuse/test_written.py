"""Answers in words that are not what they seem: who has written nothing waits for nobody, and all else is a text."""

import copy
from itertools import pairwise

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell, new_notebook

from autograder.answers.written import STUB, untouched
from autograder.book.source import notebook
from autograder.declaration import load_bank
from autograder.grading.restore import grade_cell, read_notebook, restore
from autograder.grading.results import written_result
from tests.autograder.grading.test_attachments import base, png

DECLARED = """
from autograder.answers import Written
from autograder.declaration import Exercise
WHY = Exercise(id="abuse-why", prompt="Why?", answer=Written(rubric=(("Says why.", 2),)), solution="Because.")
"""
NOTHING = {
    "as it was": STUB,
    "nothing": "",
    "spaces": " \n\t\u00a0\u2003\u3000",
    "zero-width characters": "\u200b\u200c\u200d\u2060\ufeff",
    "the stub with some in it": "*Your\u200b ans\u2060wer*\u200e",
    "letters without ink": "\u2800\u3164\u115f\u1160\uffa0",
    "a soft hyphen": "\u00ad",
    "marks of direction": "\u202e\u2066\u2069",
}


@pytest.mark.parametrize("text", NOTHING, ids=lambda name: name.replace(" ", "-"))
def test_what_cannot_be_seen_is_no_answer(text):
    assert untouched(NOTHING[text])
    assert not untouched(NOTHING[text] + "42")


@pytest.fixture
def release(tmp_path):
    (tmp_path / "exercises.py").write_text(DECLARED)
    cell = nbformat.v4.new_code_cell("# written", metadata={"exercise": "abuse-why"})
    nb = new_notebook(cells=[cell], metadata={"kernelspec": notebook.KERNEL})
    nb.cells[0].id = "cell-0"
    made = notebook.expand(nb, load_bank(tmp_path), chapter="06-abuse")
    answer = next(c for c in made.cells if _written(c))
    answer.source = STUB
    return made


def _written(cell):
    role = grade_cell(cell)
    return role is not None and role.part == "written"


def _answers(nb):
    return [cell for cell in nb.cells if _written(cell)]


def _with(release, *texts, **more):
    """Handed in with a copy of the written cell for each text."""
    nb = copy.deepcopy(release)
    (answer,) = _answers(nb)
    at = nb.cells.index(answer)
    copies = [
        nbformat.from_dict({**copy.deepcopy(answer), "source": text, "id": f"c{k}"} | more)
        for k, text in enumerate(texts)
    ]
    nb.cells[at : at + 1] = copies
    return nb


@pytest.mark.parametrize(
    ("texts", "counts"),
    [
        (["mine", STUB], "mine"),
        ([STUB, "mine"], "mine"),
        (["first", "second"], "second"),
        (["first", "\u200b", "second", ""], "second"),
        ([STUB, STUB], STUB),
        ([], STUB),
    ],
)
def test_of_several_copies_the_last_with_something_in_it_counts(release, texts, counts):
    back = restore(_with(release, *texts), release)
    (answer,) = _answers(back)
    assert answer.source == counts
    assert written_result(answer, grade_cell(answer)).kind == ("empty" if counts == STUB else "waiting")
    assert restore(back, release).cells == back.cells


EDITS = {
    "made code": {"cell_type": "code", "outputs": [], "execution_count": None},
    "made raw": {"cell_type": "raw"},
    "with attachments": {"attachments": {"x.svg": {"image/svg+xml": "<svg onload='alert(1)'/>"}}},
    "with an SVG for a PNG": {"attachments": {"x.png": {"image/png": "PHN2ZyBvbmxvYWQ9J2FsZXJ0KDEpJy8+"}}},
    "with a page for a PNG": {"attachments": {"x.png": {"image/png": "<script>alert(1)</script>"}}},
    "with a picture of too many pixels": {"attachments": {"x.png": {"image/png": base(png(10**5, 10**5))}}},
    "with points": {"metadata": {"nbgrader": {"grade": True, "grade_id": None, "points": 100, "locked": False}}},
}


@pytest.mark.parametrize("edit", EDITS, ids=lambda name: name.replace(" ", "-"))
def test_the_release_says_what_a_written_cell_is(release, tmp_path, edit):
    (original,) = _answers(release)
    changes = copy.deepcopy(EDITS[edit])
    if "metadata" in changes:
        changes["metadata"]["nbgrader"]["grade_id"] = original.metadata.nbgrader.grade_id
    path = tmp_path / "week1.ipynb"
    nbformat.write(_with(release, "print(1)", **changes), path)
    (answer,) = _answers(restore(read_notebook(path), release))
    assert (answer.cell_type, answer.source, answer.metadata) == ("markdown", "print(1)", original.metadata)
    assert "attachments" not in answer


def test_pictures_come_with_a_written_answer_and_with_nothing_else(release, tmp_path):
    """Of a locked cell those of the release, of a learner's own cell none, of an answer those that are pictures."""
    red, blue = ({"x.png": {"image/png": base(png(colour=c))}} for c in (b"\xff\x00\x00", b"\x00\x00\xff"))
    prompt = next(cell for cell in release.cells if grade_cell(cell) and not _written(cell))
    prompt.attachments = nbformat.from_dict(red)
    nb = _with(release, "![x](attachment:x.png)", attachments={**blue, "y.svg": {"image/svg+xml": "<svg/>"}})
    for cell in nb.cells:
        if cell.id == prompt.id:
            cell.attachments = nbformat.from_dict(blue)
    nb.cells.append(new_markdown_cell("![x](attachment:x.png)", attachments=blue))
    for name, made in (("mine", nb), ("release", release)):
        nbformat.write(made, tmp_path / f"{name}.ipynb")
    given = read_notebook(tmp_path / "release.ipynb")
    for submitted in (read_notebook(tmp_path / "mine.ipynb"), nb):  # nbgrader's own command reads it by itself
        back = restore(submitted, given)
        (answer,) = _answers(back)
        assert answer.attachments == blue
        assert next(cell for cell in back.cells if cell.id == prompt.id).attachments == red
        assert "attachments" not in back.cells[-1]
        assert restore(back, given).cells == back.cells
        assert written_result(answer, grade_cell(answer)).kind == "waiting"
        assert ".png`" not in written_result(answer, grade_cell(answer)).say
    assert ": `x.png`; " in written_result(back.cells[-1], grade_cell(answer)).say


@pytest.mark.parametrize("kind", ["markdown", "raw"])
def test_a_cell_of_code_that_is_graded_by_hand_takes_no_picture(release, kind):
    (answer,) = _answers(release)
    answer.cell_type = "code"
    answer.update(outputs=[], execution_count=None)
    changes = {"cell_type": kind, "attachments": {"x.png": {"image/png": base(png())}}}
    (back,) = _answers(restore(_with(release, "mine", **changes), release))
    assert (back.source, "attachments" in back) == ("mine", False)


def test_moved_behind_other_text_it_stays_one_answer(release):
    nb = _with(release, "mine")
    nb.cells.append(nb.cells.pop(nb.cells.index(_answers(nb)[0])))
    nb.cells.append(new_markdown_cell("x" * 10_000))
    back = restore(nb, release)
    assert [cell.source for cell in _answers(back)] == ["mine"]
    assert all(a.id != b.id for a, b in pairwise(back.cells))
