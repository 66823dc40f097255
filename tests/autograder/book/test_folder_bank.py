"""Exercises in a folder, a file a section: released, checked and graded as those of one file."""

import sys
from types import SimpleNamespace

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder import check
from autograder.book.outputs import executed
from autograder.book.source import chapters, notebook
from autograder.course.banks import bank_of
from autograder.course.run import dask_cluster
from autograder.declaration import load_bank
from autograder.grading.judge import Judge
from autograder.grading.submission import RunSettings, grade_notebook
from autograder.sandbox import Limits
from tests.autograder.book.test_chapters import digests
from tests.autograder.small_book import lay_out, write_folder

RIGHT = {
    "links-time": "answer = '2 ms'",
    "links-count": "import os\nanswer = 24 if not os.path.exists(KEY) else 'the key is in sight'",
    "links-guess": "answer = 'same'",
    "links-half": "def half(x):\n    return x / 2",
}


@pytest.fixture
def book(tmp_path, root):
    made = lay_out(tmp_path, root)
    write_folder(made / "solutions" / "07-links")
    return made


def test_what_is_released_is_the_same(book, tmp_path_factory, root):
    one_file = lay_out(tmp_path_factory.mktemp("one"), root)
    assert chapters.build(book) == chapters.build(one_file)
    assert digests(book / "chapters") == digests(one_file / "chapters")
    assert not list((book / "chapters").rglob("*.py"))


def test_a_check_in_the_learners_kernel_finds_them(book, monkeypatch):
    for name in ("GPUBOOK_SOLUTIONS", "GPUBOOK_EXERCISES", "NBGRADER_EXECUTION"):
        monkeypatch.delenv(name, raising=False)
    chapters.build(book)
    monkeypatch.chdir(book / "chapters" / "07-links")
    monkeypatch.setenv("GPUBOOK_PROGRESS", str(book / "progress.json"))
    assert check("links-time", "2 ms").kind == "right"
    assert check("links-half", lambda x: 2 * x).kind == "mistake"


def written(bank, answers):
    """A notebook with the answers, an exercise a cell."""
    cells = [new_code_cell("from autograder import grade")]
    for name, answer in answers.items():
        cells.append(new_code_cell(f"### BEGIN SOLUTION\n{answer}\n### END SOLUTION", metadata={"exercise": name}))
    nb = new_notebook(cells=cells, metadata={"kernelspec": notebook.KERNEL})
    for number, cell in enumerate(nb.cells):
        cell.id = f"cell-{number}"
    return notebook.expand(nb, bank, chapter="07-links")


@pytest.mark.skipif(sys.platform != "linux", reason="the sandbox needs Linux namespaces")
def test_the_grader_judges_by_them_and_shows_them_to_nobody(book, monkeypatch, zygotes):
    monkeypatch.setenv("GPUBOOK_SOLUTIONS", str(book / "solutions"))
    release_nb = new_notebook(metadata={"gpubook": {"chapter": "07-links"}})
    bank = bank_of(book / "course", release_nb, book / "x.ipynb")
    assert bank.paths == [(book / "solutions" / "07-links" / "exercises").resolve()]
    answers = {name: source.replace("KEY", repr(str(bank.paths[0]))) for name, source in RIGHT.items()}
    release = written(bank, dict.fromkeys(RIGHT, "pass"))
    with Judge(bank.paths) as judge:
        done = grade_notebook(
            written(bank, answers), release, bank, "ann", RunSettings(Limits(cell=5.0)), zygote=zygotes(), judge=judge
        )
    assert done.problems == []
    said = {result.exercise: (result.points, result.kind) for result in done.results}
    assert said == {
        "links-time": (2.0, "right"),
        "links-count": (1.0, "right"),
        "links-guess": (1.0, "predicted"),
        "links-half": (1.0, "right"),
    }


def test_a_worker_of_a_cluster_gets_all_files(book):
    bank = load_bank(book / "solutions" / "07-links")
    work = SimpleNamespace(bank=SimpleNamespace(paths=[bank.path]), release={}, settings=RunSettings())
    with dask_cluster._key(dask_cluster.task_spec(work)) as (path,):
        assert path != bank.path
        assert list(load_bank(path)) == list(bank)


def test_a_page_is_run_again_when_a_section_changes(book, monkeypatch):
    runs = []
    monkeypatch.setattr(executed, "_run", lambda nb, chapter, root, scratch: runs.append(chapter.name))
    monkeypatch.setattr(executed, "_full_marks", lambda nb, chapter: None)
    section = book / "solutions" / "07-links" / "exercises" / "b_halves.py"
    for change in ("", "", "# another\n"):
        section.write_text(section.read_text() + change)
        executed.execute(chapters.load(book, "07-links"), book, book / ".build")
    assert runs == ["07-links"] * 2
