import re

import nbformat
import pytest

from autograder.book.source.release import CourseError
from autograder.course.banks import bank_of, checked_name
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
