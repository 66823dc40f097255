import re

import nbformat
import pytest

from autograder.book.source.release import CourseError
from autograder.course import banks
from autograder.course.banks import CourseBank, bank_of, checked_name, load_own
from autograder.declaration import load_bank
from autograder.declaration.verdict import DeclarationError
from tests.autograder import tiny


def released(chapter):
    return nbformat.v4.new_notebook(metadata={"gpubook": {"chapter": chapter}})


@pytest.mark.parametrize("name", ["week3", "03-rooflines", "Übung 2", "ps1.b"])
def test_a_name_is_kept(name):
    assert checked_name(name) == name


@pytest.mark.parametrize("name", ["", "..", "a/b", "/a", ".a", "a.", "a ", "a\nb", "-a"])
def test_what_would_be_a_path_is_refused(name):
    with pytest.raises(CourseError, match=f"^{re.escape(repr(name))} "):
        checked_name(name)


def test_the_teachers_own_stand_beside_the_chapters(tmp_path, monkeypatch):
    bank = tiny.write_bank(tmp_path)
    monkeypatch.setenv("GPUBOOK_SOLUTIONS", str(tmp_path / "solutions"))
    own = tmp_path / "course" / "exercises"
    own.mkdir(parents=True)
    (own / "mine.py").write_text(tiny.EXERCISES.replace('id="tiny-', 'id="mine-'))
    found = bank_of(tmp_path / "course", released(tiny.NAME), tmp_path / "x.ipynb")
    assert list(found) == [*tiny.IDS, *(name.replace("tiny", "mine") for name in tiny.IDS)]
    assert found.paths == [bank.path, own / "mine.py"]


def test_a_chapter_without_declarations_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("GPUBOOK_SOLUTIONS", str(tmp_path))
    with pytest.raises(CourseError, match=r"x\.ipynb: .*'99-nowhere'.*99-nowhere/exercises\.py"):
        bank_of(tmp_path, released("99-nowhere"), tmp_path / "x.ipynb")


MINE = """
from autograder.answers import Count
from autograder.declaration import Exercise, Mistake

ONE = Exercise(
    id="mine-one", points=1, prompt="?", answer=Count(), solution=4,
    mistakes=(Mistake(5, "One less."), Mistake(3, "One more.")))
"""


def asking(*ids, chapter=tiny.NAME):
    nb = released(chapter)
    nb.cells = [nbformat.v4.new_markdown_cell("?", metadata={"gpubook": {"exercise": key}}) for key in ids]
    nb.cells.append(nbformat.v4.new_markdown_cell("Read."))
    return nb


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course beside the tiny chapter, with one exercise and a file that fails."""
    tiny.write_bank(tmp_path)
    monkeypatch.setenv("GPUBOOK_SOLUTIONS", str(tmp_path / "solutions"))
    own = tmp_path / "course" / "exercises"
    own.mkdir(parents=True)
    (own / "mine.py").write_text(MINE)
    (own / "bad.py").write_text('1/0  # "mine-two"')
    return tmp_path / "course"


def test_a_file_that_fails_is_left_out_where_nothing_of_it_is_asked(course):
    bank = bank_of(course, asking("mine-one", "tiny-time"), course / "x.ipynb")
    assert {"mine-one", "tiny-time"} <= bank.keys()
    assert ["bad.py" in line for line in bank.left_out] == [True]
    assert bank.path is not None
    assert bank.path.name in ("01-tiny", "exercises.py")


def test_a_file_that_fails_stops_what_it_declares_or_may_declare(course):
    with pytest.raises(DeclarationError):
        bank_of(course, asking("mine-one", "mine-two"), course / "x.ipynb")
    with pytest.raises(CourseError, match=r"bad\.py.*; it may declare mine-three, for which x\.ipynb asks"):
        bank_of(course, asking("mine-three", "mine-one"), course / "x.ipynb")
    (course / "exercises" / "bad.py").unlink()
    assert bank_of(course, asking("mine-three", "mine-one"), course / "x.ipynb").left_out == []


def test_a_chapter_is_the_notebooks_name_where_it_names_none(course):
    assert "tiny-time" in bank_of(course, asking(chapter=""), course / f"{tiny.NAME}.ipynb")
    assert "tiny-time" not in bank_of(course, asking(chapter=""), course / "x.ipynb")
    assert "tiny-time" in bank_of(course, asking(), course / "x.ipynb")


def test_the_books_own_declarations_are_read_where_no_others_are_named(course, monkeypatch):
    monkeypatch.delenv("GPUBOOK_SOLUTIONS")
    monkeypatch.setattr(banks, "book_root", lambda: course.parent)
    assert "tiny-time" in bank_of(course, asking(), course / "x.ipynb")


def test_an_exercise_is_where_it_is_declared(course):
    bank = bank_of(course, asking(), course / "x.ipynb")
    assert "mine.py:" in bank.where("mine-one")
    assert "exercises.py:" in bank.where("tiny-time")
    assert bank.where("nowhere") == str(bank.path)
    assert CourseBank([]).path is None


@pytest.mark.parametrize(("asked", "fails"), [(None, True), ((), False), (["mine-two"], True), (["mine"], False)])
def test_of_files_that_fail_those_stop_in_which_an_id_stands(course, asked, fails):
    files = sorted((course / "exercises").glob("*.py"))
    if fails:
        with pytest.raises(DeclarationError):
            load_own(files, load_bank, asked)
        return
    loaded, left_out = load_own(files, load_bank, asked)
    assert [list(bank) for bank in loaded] == [["mine-one"]]
    assert len(left_out) == 1
