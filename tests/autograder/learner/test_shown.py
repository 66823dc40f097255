"""What a fresh notebook shows before it runs is put in and taken out again, and is never a learner's."""

import copy
import gzip
import json

import pytest

from autograder.learner.editions import BACKUP, LearnerCopy
from autograder.learner.notebook_file import written
from autograder.learner.progress import EDITIONS
from autograder.learner.shown import BACK, MARK, MODELS, WIDGETS, Shown
from autograder.values.digest import digest
from tests.autograder.learner.test_notebook_merge import Q, exercise, notebook, of, plain, text

NAME = "03-t"
FILE = f"{NAME}/{NAME}.ipynb"
VIEW = "application/vnd.jupyter.widget-view+json"
A, B = plain("a = 1"), plain("widget()")
TABLE = {"output_type": "display_data", "data": {"text/plain": "table"}, "metadata": {}}
OWN = {"output_type": "execute_result", "execution_count": 1, "data": {"text/plain": ["mine"]}, "metadata": {}}


@pytest.fixture
def book(tmp_path):
    """Write an edition and the archive of its outputs, by the cells' ids."""

    def write(*cells, outputs=None, models=None, key="0"):
        folder = tmp_path / "chapters" / NAME
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{NAME}.ipynb").write_bytes(written(notebook(*cells)))
        asked = {one["metadata"]["gpubook"]["exercise"]: {} for one in cells if one["metadata"]}
        (folder / "exercises.json").write_text(json.dumps({"exercises": asked}))
        code = digest(*(f"{one['id']}\n{text(one)}" for one in cells if one["cell_type"] == "code"))
        data = {"code": code, "outputs": outputs or {}, "models": models or {}}
        archive = tmp_path / f"{NAME}-{key * 20}.json.gz"
        archive.write_bytes(gzip.compress(json.dumps(data).encode()))
        return LearnerCopy(tmp_path / "study", tmp_path / "chapters", lambda name: Shown(archive))

    return write


@pytest.fixture
def mine(tmp_path):
    return tmp_path / "study" / FILE


def read(path):
    return json.loads(path.read_text())


def shown(path):
    """The ids of the cells with outputs, each with what these say."""
    cells = [one for one in read(path)["cells"] if one.get("outputs")]
    return {one["id"]: ["".join(o["data"].get("text/plain", "")) for o in one["outputs"]] for one in cells}


def test_a_fresh_notebook_shows_the_outputs_and_the_way_back_and_its_edition_has_neither(book, mine):
    copied = book(A, *exercise("x-ring", Q), outputs={A["id"]: [TABLE], "x-ring": [TABLE], "x-ring-grade": [TABLE]})
    copied.update()
    assert shown(mine) == {A["id"]: ["table"]}, "none of an exercise's cells"
    assert read(mine)["cells"][0]["id"] == BACK
    edition = copied.folder / EDITIONS / FILE
    assert edition.read_bytes() == (copied.book / FILE).read_bytes()
    assert read(edition)["cells"] == [
        {**one, "outputs": []} if "outputs" in one else one for one in read(mine)["cells"][1:]
    ]
    before = mine.read_bytes()
    copied.update()
    assert mine.read_bytes() == before


def test_they_come_into_a_notebook_with_answers_and_leave_what_ran_or_was_changed(book, mine):
    cells = (A, B, plain("c"), *exercise("x-ring", Q))
    book(*cells).update()
    own = read(mine)
    of(own, A["id"]).update(outputs=[OWN], execution_count=1)
    of(own, B["id"])["source"] = ["widget(2)"]
    of(own, "x-ring")["source"] = ["answer = 1"]
    mine.write_bytes(written(own))
    outputs = {one["id"]: [TABLE] for one in cells[:3]}
    copied = book(*cells, outputs=outputs, key="1")
    assert copied.update().said == []
    assert shown(mine) == {A["id"]: ["mine"], cells[2]["id"]: ["table"]}
    assert text(of(read(mine), "x-ring")) == "answer = 1"
    assert not (copied.folder / BACKUP).exists(), "nothing was replaced"


def test_a_new_edition_is_merged_as_if_they_were_not_there(book, mine):
    book(A, plain("b"), *exercise("x-ring", Q), outputs={A["id"]: [TABLE], plain("b")["id"]: [TABLE]}).update()
    new = {**TABLE, "data": {"text/plain": "new"}}
    report = book(A, *exercise("x-ring", Q), outputs={A["id"]: [new]}, key="1").update()
    assert (report.said, report.backup) == ([], None)
    assert shown(mine) == {A["id"]: ["new"]}
    assert [one["id"] for one in read(mine)["cells"]].count(BACK) == 1
    own = read(mine)
    of(own, "x-ring")["source"] = ["answer = 1"]
    of(own, A["id"]).update(outputs=[OWN], execution_count=1)
    mine.write_bytes(written(own))
    report = book(A, plain("c"), *exercise("x-ring", Q), outputs={A["id"]: [TABLE]}, key="2").update()
    assert report.said == [f"{NAME}: cells: 1 new"]
    assert shown(mine) == {A["id"]: ["mine"]}


def test_an_archive_of_other_code_is_left_out(book, mine):
    copied = book(A, outputs={A["id"]: [TABLE]})
    (copied.book / FILE).write_bytes(written(notebook(A, plain("more"))))
    copied.update()
    assert shown(mine) == {}
    assert read(mine)["cells"][0]["id"] == BACK


def test_a_figure_comes_as_html_and_a_widget_with_its_models(book, mine):
    figure = {"image/svg+xml": "<svg/>", "text/html": '<img src="data:image/svg+xml;base64,{svg in base64}">'}
    view = {VIEW: {"model_id": f"{MODELS}{B['id']}-0", "version_major": 2, "version_minor": 1}}
    outputs = {A["id"]: [{**TABLE, "data": figure}], B["id"]: [{**TABLE, "data": view}]}
    models = {f"{MODELS}{one['id']}-0": {"model_name": "M", "state": {}} for one in (A, B)}
    copied = book(A, B, outputs=outputs, models=models)
    copied.update()
    own = read(mine)
    assert of(own, A["id"])["outputs"][0]["data"] == {"text/html": '<img src="data:image/svg+xml;base64,PHN2Zy8+">'}
    assert own["metadata"]["widgets"][WIDGETS]["state"] == models
    assert all(one["metadata"] == MARK for name in (A, B) for one in of(own, name["id"])["outputs"])
    theirs = copy.deepcopy(own)
    theirs["metadata"]["widgets"][WIDGETS]["state"]["0a1b"] = {"model_name": "Mine", "state": {}}
    bare = Shown().taken_out(theirs)
    assert list(bare["metadata"]["widgets"][WIDGETS]["state"]) == ["0a1b"]
    assert "widgets" not in Shown().taken_out(own)["metadata"]


def test_a_notebook_of_nbformat_is_valid_with_them(book, mine):
    import nbformat

    book(A, outputs={A["id"]: [TABLE]}).update()
    nbformat.validate(nbformat.read(mine, as_version=4))


def test_without_an_archive_what_is_there_stays(book, mine):
    copied = book(A, outputs={A["id"]: [TABLE]})
    copied.update()
    LearnerCopy(copied.folder, copied.book, lambda name: Shown()).update()
    assert shown(mine) == {A["id"]: ["table"]}


def test_a_damaged_archive_is_none(book, mine, tmp_path):
    copied = book(A, outputs={A["id"]: [TABLE]})
    for path in tmp_path.glob("*.gz"):
        path.write_bytes(b"no gzip")
    copied.update()
    assert shown(mine) == {}
