"""The archive of a chapter's outputs: none that depends on an answer, on the key or on the machine; the same bytes."""

import gzip
import json

import nbformat
import pytest
from nbformat.v4 import new_output

from autograder.book.outputs import executed, prerun_outputs
from autograder.book.source import chapters
from tests.autograder.small_book import SOURCE, lay_out
from tests.conftest import ROOT
from tests.kept import loaded

VIEW = "application/vnd.jupyter.widget-view+json"
CELLS = {
    "free = 3": "free",
    "free + 1": "free",
    "half(3)": "an answer",
    "third = half(3)/3\nfree + 1": "an answer",
    "third + 1": "what an answer gave",
    "answer": "an answer",
    'given("links-count")': "the key",
    "took = 3  # measured": "the machine",
    "took + 1": "what the machine gave",
}


@pytest.fixture(scope="module")
def chapter(tmp_path_factory, root):
    """The small book's chapter with those cells at its end."""
    cells = []
    for source in CELLS:
        tags = ":tags: [measured]\n\n" if "measured" in source else ""
        cells.append(f"\n```{{code-cell}} ipython3\n{tags}{source}\n```\n")
    book = lay_out(tmp_path_factory.mktemp("book"), root, source=SOURCE + "".join(cells))
    return chapters.load(book, "07-links")


@pytest.fixture
def archive(chapter, tmp_path):
    """The archive of a run in which each cell of code put out these outputs."""

    def made(*outputs, state=None, name="run"):
        ran = nbformat.from_dict(chapter.instructor)
        for cell in ran.cells:
            if cell.cell_type == "code":
                cell.outputs = list(outputs)
        if state:
            ran.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": state}}
        nbformat.write(ran, tmp_path / f"{name}.ipynb")
        path = prerun_outputs.keep(tmp_path / "shown", chapter, chapter.instructor, tmp_path / f"{name}.ipynb")
        return json.loads(gzip.decompress(path.read_bytes())), path

    return made


def display(data, **metadata):
    return new_output("display_data", data=data, metadata=metadata)


def test_only_what_depends_on_no_answer_no_key_and_no_machine_is_kept(archive, chapter):
    data, _ = archive(display({"text/plain": "out"}))
    cells = {cell.id: cell for cell in chapter.instructor.cells}
    kept = [cells[name].source for name in data["outputs"]]
    assert {source: source in kept for source in CELLS} == {source: why == "free" for source, why in CELLS.items()}
    assert [name for name in data["outputs"] if cells[name].metadata.get("gpubook", {}).get("part")] == []
    assert not any("reveal(" in source or "table(" in source for source in kept)
    assert any("Doubler(x=21)" in source for source in kept)


def test_the_archive_is_the_same_bytes_for_the_same_run_and_anew_for_another(archive):
    _, path = archive(display({"text/plain": "out"}))
    before, name = path.read_bytes(), path.name
    path.unlink()
    _, path = archive(display({"text/plain": "out"}))
    assert (path.read_bytes(), path.name) == (before, name)
    _, other = archive(display({"text/plain": "other"}), name="another")
    assert other.name != name
    assert not path.exists()


def test_what_is_printed_is_shown_and_what_went_wrong_is_not(archive):
    printed = [new_output("stream", name=name, text=name) for name in ("stdout", "stderr")]
    data, _ = archive(*printed, new_output("execute_result", data={"text/plain": "3"}, execution_count=7))
    outputs = next(iter(data["outputs"].values()))
    assert outputs == [
        {"output_type": "display_data", "data": {"text/plain": text}, "metadata": {}} for text in ("stdout", "3")
    ]


def test_a_figure_is_kept_once_and_a_widget_with_its_models_under_names_of_its_cell(archive):
    figure = {"image/svg+xml": "<svg/>", "text/html": '<img src="data:image/svg+xml;base64,PHN2Zy8+">'}
    view = {VIEW: {"model_id": "0a1b", "version_major": 2, "version_minor": 1}, "text/plain": "<at 0x7f>"}
    state = {
        "0a1b": {"model_name": "M", "state": {"layout": "IPY_MODEL_2c3d"}},
        "2c3d": {"model_name": "L", "state": {}},
        "4e5f": {"model_name": "nobody's", "state": {}},
    }
    data, _ = archive(display(figure), display(view, embed={"a": 1}), state=state)
    name, (drawn, moves) = next(iter(data["outputs"].items()))
    assert drawn["data"]["text/html"] == '<img src="data:image/svg+xml;base64,{svg in base64}">'
    assert moves["data"] == {VIEW: {"model_id": f"book-{name}-0", "version_major": 2, "version_minor": 1}}
    assert moves["metadata"] == {"embed": {"a": 1}}
    assert data["models"][f"book-{name}-0"]["state"] == {"layout": f"IPY_MODEL_book-{name}-1"}
    assert "nobody's" not in json.dumps(data)


@pytest.mark.nightly
@pytest.mark.parametrize("name", chapters.chapter_names(ROOT))
def test_a_learner_who_answered_nothing_gets_the_same_outputs(tmp_path, name):
    """So none of them depends on an answer, whatever the rules that choose them say."""
    chapter = loaded(ROOT, name)
    learner = nbformat.read(ROOT / "chapters" / name / f"{name}.ipynb", as_version=4)
    path = prerun_outputs.keep(tmp_path, chapter, learner, executed.run(chapter, ROOT, ROOT / ".build"))
    kept = json.loads(gzip.decompress(path.read_bytes()))
    ran = nbformat.from_dict(learner)
    executed._run(ran, chapter, ROOT, tmp_path)
    own = json.loads(gzip.decompress(prerun_outputs._archive("", chapter, learner, ran)))
    assert own["outputs"].keys() == kept["outputs"].keys()
    assert [name for name, outputs in kept["outputs"].items() if own["outputs"][name] != outputs] == []
    assert own["models"] == kept["models"]
