"""A submission, read with care: what cannot be a notebook, or is too large to be one, is named; and brought back to the
form of its release."""

import copy
import errno
import json
import os
from pathlib import Path

import pytest
from nbconvert import HTMLExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, new_raw_cell

from autograder.grading import restore


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"nbformat": 4, "cells": [], "metadata": {"x": [' + "{}," * 600_000 + "0]}}", "600004 values in it"),
        ('{"nbformat": 4, "cells": [{"cell_type": "raw", "source": "%s"}]}' % ("x" * 2_000_001), "2000001 characters"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_a_notebook_that_would_fill_the_memory_is_not_read(tmp_path, text, said):
    (tmp_path / "n.ipynb").write_text(text)
    with pytest.raises(restore.SubmissionError, match=said):
        restore.read_notebook(tmp_path / "n.ipynb")


def test_a_mark_of_its_encoding_before_a_notebook_is_read_over(tmp_path):
    (tmp_path / "n.ipynb").write_text(json.dumps({"nbformat": 4, "metadata": {}, "cells": []}), encoding="utf-8-sig")
    assert restore.read_notebook(tmp_path / "n.ipynb").cells == []


WHOLE = json.dumps({"nbformat": 4, "metadata": {}, "cells": []}, indent=1)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        (b"<!DOCTYPE html><html></html>", "web page"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "Git LFS"),
        (b"PK\x03\x04rest", "archive"),
        (b"%PDF-1.7", "PDF"),
        (WHOLE.replace("{\n", "{\n<<<<<<< HEAD\n").encode(), "merge"),
        (WHOLE[:-20].encode(), "cut"),
        (b"\x93NUMPY", "not JSON"),
    ],
)
def test_what_is_at_a_notebooks_place_is_named_by_its_kind(content, words):
    with pytest.raises(restore.SubmissionError, match="not JSON") as error:
        restore.notebook_in(content, "n.ipynb")
    assert words in str(error.value)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
def test_a_notebook_is_read_in_the_encodings_that_shells_write(encoding):
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    assert restore.notebook_in((mark + WHOLE).encode(encoding), "n.ipynb").cells == []


def test_a_notebook_that_is_too_large_by_one_byte_is_told_so(tmp_path):
    with open(tmp_path / "n.ipynb", "wb") as file:
        file.truncate(restore.MAX_BYTES + 1)
    with pytest.raises(restore.SubmissionError, match=f"{restore.MAX_BYTES + 1:,} .*{restore.MAX_BYTES:,} "):
        restore.read_notebook(tmp_path / "n.ipynb")


def test_a_file_that_cannot_be_read_is_named(tmp_path, monkeypatch):
    path = tmp_path / "n.ipynb"
    path.write_text("{}")

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(restore.SubmissionError, match=os.strerror(13)):
        restore.read_notebook(path)


def released(kind, name, source, **role):
    """A cell of the release, with its role as nbgrader has it."""
    own = {"grade_id": name, "grade": False, "solution": False, "locked": True, "points": 0} | role
    metadata = {"nbgrader": own, "gpubook": {"exercise": "q", "part": name.removeprefix("q-")}}
    return (new_code_cell if kind == "code" else new_markdown_cell)(source, metadata=metadata, id=name)


@pytest.fixture
def release():
    """An exercise with its answer, and one that a teacher reads."""
    cells = [
        new_markdown_cell("# A chapter", id="head"),
        released("markdown", "q-prompt", "How many?"),
        released("code", "q-answer", "answer = ...", solution=True),
        released("code", "q-grade", "grade('q')", grade=True, points=2),
        released("markdown", "q-written", "", grade=True, solution=True, points=3),
    ]
    return new_notebook(cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})


def copy_of(cell, source=None):
    """The same cell a second time, as one pastes it."""
    twin = copy.deepcopy(cell)
    twin.id += "-again"
    twin.source = twin.source if source is None else source
    return twin


def sources(nb):
    return [cell.source for cell in nb.cells]


def test_an_extra_copy_of_a_locked_cell_is_dropped_and_one_of_an_answer_becomes_the_learners(release):
    """Of several the last one keeps its role, as in nbgrader."""
    submitted = copy.deepcopy(release)
    answer, graded = submitted.cells[2], submitted.cells[3]
    answer.source = "answer = 1"
    submitted.cells[1:1] = [copy_of(graded, "grade('q', 100)"), copy_of(answer, "answer = 0")]
    restored = restore.restore(submitted, release)
    assert sources(restored) == ["# A chapter", "answer = 0", "How many?", "answer = 1", "grade('q')", ""]
    assert [restore.grade_id(cell) for cell in restored.cells] == [
        None,
        None,
        "q-prompt",
        "q-answer",
        "q-grade",
        "q-written",
    ]
    assert restore.restore(restored, release) == restored


def test_of_written_copies_the_last_with_something_written_counts(release):
    submitted = copy.deepcopy(release)
    submitted.cells[4].source = "Because."
    submitted.cells.append(copy_of(submitted.cells[4], "  \n"))
    restored = restore.restore(submitted, release)
    assert {restore.grade_id(c): c.source for c in restored.cells}["q-written"] == "Because."
    submitted.cells[-1].source = "No: because of that."
    restored = restore.restore(submitted, release)
    assert {restore.grade_id(c): c.source for c in restored.cells}["q-written"] == "No: because of that."


def test_a_locked_cell_is_as_it_was_released_wherever_it_was_changed_or_deleted(release):
    submitted = copy.deepcopy(release)
    submitted.cells[1].source, submitted.cells[3].source = "How many, about?", "answer = 14"
    del submitted.cells[0]
    restored = restore.restore(submitted, release)
    assert sources(restored) == ["How many?", "answer = ...", "grade('q')", ""]
    emptied = copy.deepcopy(release)
    emptied.cells = [new_markdown_cell("My own notes.", id="notes")]
    assert sources(restore.restore(emptied, release)) == ["How many?", "grade('q')", "", "My own notes."]


def test_a_raw_cell_is_plain_text_in_every_page_that_is_made_of_it(release):
    submitted = copy.deepcopy(release)
    html = new_raw_cell("<script>alert(1)</script>", metadata={"raw_mimetype": "text/html"}, id="mine")
    submitted.cells.append(html)
    restored = restore.restore(submitted, release)
    assert restored.cells[-1].source == html.source
    assert restored.cells[-1].metadata == {"raw_mimetype": "text/plain"}
    page, _ = HTMLExporter(template_name="basic").from_notebook_node(restored)
    assert "<script>alert(1)" not in page


def test_a_learners_own_cell_has_no_metadata_and_no_outputs(release):
    submitted = copy.deepcopy(release)
    mine = new_code_cell("1", metadata={"nbgrader": {"grade_id": "p-grade", "grade": True, "points": 9}}, id="head")
    mine.outputs, mine.execution_count = [new_output("stream", text="1")], 7
    submitted.cells.append(mine)
    last = restore.restore(submitted, release).cells[-1]
    assert (last.metadata, last.outputs, last.execution_count) == ({}, [], None)
    assert restore.grade_cell(last) is None


@pytest.mark.parametrize(
    ("name", "stays"),
    [("a", True), ("x" * 64, True), ("x" * 65, False), ("", False), ("a b", False), ("q-answer", False)],
)
def test_every_cell_has_a_name_of_its_own_that_a_notebook_may_have(release, name, stays):
    submitted = copy.deepcopy(release)
    submitted.cells += [new_code_cell("1", id="other"), new_code_cell("2", id="other")]
    submitted.cells[-2].id = name
    names = [cell.id for cell in restore.restore(submitted, release).cells]
    assert len(set(names)) == len(names) == 7
    assert (names[5] == name) is stays


@pytest.mark.parametrize(("name", "known"), [("ann", "ann"), (7, None), (None, None)])
def test_a_learners_name_is_taken_from_the_submission_where_it_is_one(release, name, known):
    submitted = copy.deepcopy(release)
    submitted.metadata["gpubook"] = {"learner": name, "chapter": "other"}
    assert restore.restore(submitted, release).metadata.get("gpubook", {}).get("learner") == known
    assert "gpubook" not in release.metadata


def nested(depth):
    """A list in a list, `depth` of them."""
    value = []
    for _ in range(depth - 1):
        value = [value]
    return value


def depth_of(value):
    depth = 0
    while isinstance(value, list):
        depth, value = depth + 1, value[0] if value else None
    return depth


@pytest.mark.parametrize(("depth", "left"), [(1, 1), (20, 20), (21, 20), (400, 20)])
def test_metadata_that_are_nested_deep_are_cut(depth, left):
    cell = {"cell_type": "markdown", "source": "", "metadata": {"x": nested(depth)}}
    data = {"nbformat": 4, "metadata": {"x": nested(depth)}, "cells": [cell]}
    nb = restore.notebook_in(json.dumps(data).encode(), "n.ipynb")
    assert depth_of(nb.metadata["x"]) == depth_of(nb.cells[0].metadata["x"]) == left


def notebook_of(cells):
    return json.dumps({"nbformat": 4, "metadata": {}, "cells": cells}).encode()


def raw(source="", **more):
    return {"cell_type": "raw", "source": source, "metadata": {}} | more


@pytest.mark.parametrize(
    ("name", "limit", "cells"),
    [
        ("MAX_CELLS", 3, [raw()] * 3),
        ("MAX_TEXT", 4, [raw("12"), raw(["3", "4"])]),
        ("MAX_VALUES", 8, [raw()]),  # the notebook and its three values, the cell and its three
    ],
)
def test_a_notebook_that_is_as_large_as_may_be_is_read(monkeypatch, name, limit, cells):
    data = notebook_of(cells)
    monkeypatch.setattr(restore, name, limit)
    assert len(restore.notebook_in(data, "n.ipynb").cells) == len(cells)
    monkeypatch.setattr(restore, name, limit - 1)
    with pytest.raises(restore.SubmissionError, match=rf"n\.ipynb: {limit} .*{limit - 1} "):
        restore.notebook_in(data, "n.ipynb")


def test_a_file_that_is_as_large_as_may_be_is_read(tmp_path, monkeypatch):
    path = tmp_path / "n.ipynb"
    path.write_bytes(notebook_of([]))
    monkeypatch.setattr(restore, "MAX_BYTES", path.stat().st_size)
    assert restore.read_notebook(path).cells == []


@pytest.mark.parametrize(
    "cell",
    [7, {}, raw() | {"cell_type": "heading"}, {"cell_type": "code"}, raw(7), raw(["a", 7])],
)
def test_what_is_no_cell_is_named_by_its_number(cell):
    with pytest.raises(restore.SubmissionError, match="cell 2 is not"):
        restore.notebook_in(notebook_of([raw(), cell]), "n.ipynb")


@pytest.mark.parametrize("text", ["[]", "{}", '{"nbformat": "4", "cells": []}', '{"nbformat": 4, "cells": {}}'])
def test_json_that_is_no_notebook_is_refused(text):
    with pytest.raises(restore.SubmissionError, match="not a notebook"):
        restore.notebook_in(text.encode(), "n.ipynb")


def test_what_stands_at_a_notebooks_place_is_named(tmp_path):
    path = tmp_path / "n.ipynb"
    with pytest.raises(restore.SubmissionError, match="missing"):
        restore.read_notebook(path)
    (tmp_path / "target").write_bytes(notebook_of([]))
    for target in ("target", "nowhere"):
        path.symlink_to(target)
        with pytest.raises(restore.SubmissionError, match="a link"):
            restore.read_notebook(path)
        path.unlink()
    path.mkdir()
    with pytest.raises(restore.SubmissionError, match="a folder"):
        restore.read_notebook(path)


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE])
def test_no_file_left_to_open_is_not_the_submissions_fault(tmp_path, monkeypatch, number):
    (tmp_path / "n.ipynb").write_text("{}")

    def refuse(*_, **__):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(OSError, match=os.strerror(number)) as caught:
        restore.read_notebook(tmp_path / "n.ipynb")
    assert not isinstance(caught.value, restore.SubmissionError)


def test_a_half_of_a_character_that_no_file_can_hold_is_replaced():
    cell = raw("a\ud800b", metadata={"k\udfff": ["\ud800"]})
    nb = restore.notebook_in(notebook_of([cell]), "n.ipynb")
    assert nb.cells[0].source == "a?b"
    assert nb.cells[0].metadata == {"k?": ["?"]}


QUESTION = {"exercise": "q"}


@pytest.mark.parametrize(
    ("nbgrader", "own", "role"),
    [
        ({}, QUESTION, None),
        ({"grade_id": "g", "grade": True}, QUESTION, ("q", "grade", 2.0, False)),
        ({"grade_id": "g", "grade": True}, {"full_marks": True}, ("", "grade", 2.0, True)),
        ({"grade_id": "g", "grade": True}, {"full_marks": 1}, ("", "grade", 2.0, False)),
        ({"grade_id": "g", "grade": True, "solution": True}, QUESTION, ("q", "written", 2.0, False)),
        ({"grade_id": "g", "grade": True, "solution": True}, {}, ("", "", 0.0, False)),
        ({"grade_id": "g", "solution": True}, QUESTION | {"part": "answer"}, ("q", "answer", 0.0, False)),
    ],
)
def test_the_role_of_a_cell(nbgrader, own, role):
    found = restore.grade_cell(new_code_cell("", metadata={"nbgrader": nbgrader | {"points": 2}, "gpubook": own}))
    assert found == (None if role is None else restore.GradeCell(*role))


def test_the_release_of_one_exercise_is_its_answer_and_its_grade_cell(release):
    other = copy_of(release.cells[3])
    other.metadata["gpubook"]["exercise"] = "p"
    release.cells.append(other)
    assert [cell.id for cell in restore.only(release, "q").cells] == ["q-answer", "q-grade"]


def test_the_bounds_of_a_notebook():
    assert (restore.MAX_BYTES, restore.MAX_CELLS) == (20 * 2**20, 2000)
    assert (restore.MAX_TEXT, restore.MAX_VALUES) == (2_000_000, 500_000)
