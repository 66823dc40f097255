"""The page at the top of a study folder: it shows the record of now, and keeps what a learner writes into it."""

import json

import pytest

from autograder.learner import start_page
from autograder.learner.editions import LearnerCopy
from autograder.learner.notebook_file import written
from autograder.learner.progress import Progress, mark
from autograder.learner.shown import START
from tests.autograder.learner.test_notebook_merge import Q, cell, exercise, notebook, of, plain, text
from tests.autograder.learner.test_overview import RIGHT, asked


@pytest.fixture
def copied(tmp_path):
    """A copy of a book of one chapter."""
    folder = tmp_path / "chapters" / "03-t"
    folder.mkdir(parents=True)
    head = cell("head", "# 3. Testing\n\n*“Is it right?”*\n\nSo it begins.")
    (folder / "03-t.ipynb").write_bytes(written(notebook(head, plain("a"), *exercise("x-ring", Q))))
    (folder / "exercises.json").write_text(json.dumps({"exercises": {"x-ring": asked("x-ring")}}))
    made = LearnerCopy(tmp_path / "study", tmp_path / "chapters")
    made.update()
    mark(made.folder)
    return made


def renew(copied):
    again = LearnerCopy(copied.folder, copied.book)
    start_page.renew(again)
    return again.report


def table(copied):
    (output,) = of(json.loads((copied.folder / START).read_text()), start_page.TABLE_ID)["outputs"]
    return "".join(output["data"]["text/html"])


def test_the_table_is_there_before_anything_runs_and_follows_the_record(copied):
    assert [path.name for path in renew(copied).new] == [START]
    assert "Begin here: 3. Testing" in table(copied)
    before = (copied.folder / START).read_bytes()
    assert renew(copied).updated == []
    assert (copied.folder / START).read_bytes() == before
    Progress.below(copied.folder).attempt("x-ring", "answer = 1", RIGHT)
    report = renew(copied)
    assert "1 of 1" in table(copied)
    assert (report.said, report.backup) == ([], None)


def test_what_a_learner_wrote_stays_and_a_table_that_they_ran_is_renewed(copied):
    renew(copied)
    own = json.loads((copied.folder / START).read_text())
    own["cells"].insert(1, cell("own", "my plan"))
    of(own, "start-how")["source"] = ["mine"]
    ran = {"output_type": "execute_result", "execution_count": 3, "data": {"text/html": ["old"]}, "metadata": {}}
    of(own, start_page.TABLE_ID).update(outputs=[ran], execution_count=3)
    own["metadata"]["language_info"]["version"] = "3.11"  # as JupyterLab saves it
    (copied.folder / START).write_bytes(written(own))
    report = renew(copied)
    now = json.loads((copied.folder / START).read_text())
    assert [text(one) for one in now["cells"][1:3]] == ["my plan", "mine"]
    assert "Begin here" in table(copied)
    assert (report.said, report.backup) == ([], None)


def test_a_new_edition_of_the_page_is_merged_and_a_cell_that_they_changed_gets_no_table(copied, monkeypatch):
    renew(copied)
    own = json.loads((copied.folder / START).read_text())
    of(own, "start-how")["source"] = ["mine"]
    of(own, start_page.TABLE_ID).update(source=["progress().last"], outputs=[])
    (copied.folder / START).write_bytes(written(own))
    monkeypatch.setattr(start_page, "ABOUT", "# Another beginning")
    report = renew(copied)
    now = json.loads((copied.folder / START).read_text())
    assert [text(one) for one in now["cells"]] == ["# Another beginning", "mine", "progress().last"]
    assert now["cells"][2]["outputs"] == []
    assert report.said == [f"{START}: cells: 1 changed"]


def test_a_page_that_cannot_be_read_is_told_and_left_alone(copied):
    (copied.folder / START).write_text("no JSON")
    (line,) = renew(copied).said
    assert line.startswith(f"{START} is not a notebook")
    assert (copied.folder / START).read_text() == "no JSON"


def test_it_is_a_valid_notebook(copied):
    import nbformat

    renew(copied)
    nbformat.validate(nbformat.read(copied.folder / START, as_version=4))
