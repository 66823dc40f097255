"""What a catalogue has: the teacher's own exercises that are released, each with the digest of its key."""

import logging
from types import SimpleNamespace

import pytest

from autograder.book.course_error import CourseError
from autograder.course.banks import CourseBank
from autograder.course.service import served_assignments
from autograder.course.service.served_assignments import Catalogue, Served, version_of
from autograder.grading.submission import RunSettings
from tests.autograder.course.service import small_course
from tests.autograder.course.service.small_course import NAME


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(small_course.gradebook, "set_due", lambda *_: None)
        return small_course.make(tmp_path_factory.mktemp("served"))[0]


def catalogue(**served):
    return Catalogue(served, CourseBank([]), None, RunSettings())


def test_an_exercise_is_there_where_its_assignment_asks_it(folder):
    made = served_assignments.read(folder)
    assert list(made.by_assignment) == [NAME]
    assert {name: one.allowed for name, one in made.exercises.items()} == {
        "mine-time": 4,
        "mine-double": 5,
        "mine-which": 2,
    }
    assert made.find(NAME, "mine-time").exercise.id == "mine-time"
    assert made.find("other", "mine-time") is None
    assert made.find(NAME, "mine-guess") is None
    assert (made.find(NAME, ["mine-time"]), made.find([NAME], "mine-time"), made.find(None, "x")) == (None,) * 3
    assert (made.runs_code, made.find(NAME, "mine-double").is_code, made.find(NAME, "mine-time").is_code) == (
        True,
        True,
        False,
    )
    assert (made.settings.variants, made.settings.limits.total, made.settings.unsafe) == (True, 120.0, False)
    assert served_assignments.read(folder, unsafe=True).settings.unsafe
    roles = [cell.metadata.gpubook.part for cell in made.release.cells if cell.metadata.gpubook.exercise == "mine-time"]
    assert {"answer", "grade"} <= set(roles)
    assert (made.release.nbformat, made.release.nbformat_minor) == (4, 5)
    ids = [cell.metadata.nbgrader.grade_id for cell in made.release.cells]
    assert len(ids) == len(set(ids))


def test_a_catalogue_of_values_runs_no_code():
    value = SimpleNamespace(is_code=False)
    assert not catalogue().runs_code
    assert not catalogue(w={"a": value}).runs_code
    assert catalogue(w={"a": value}, v={"b": SimpleNamespace(is_code=True)}).runs_code


def test_what_cannot_be_read_is_told_and_left_out(folder, caplog):
    (folder / "exercises" / "broken.py").write_text("1 +")
    (folder / "release" / "bad").mkdir()
    (folder / "release" / "bad" / "bad.ipynb").write_text("no notebook")
    (folder / "release" / NAME / "other.ipynb").write_text("of another name")
    try:
        with caplog.at_level(logging.ERROR):
            made = served_assignments.read(folder)
    finally:
        for path in ("exercises/broken.py", "release/bad/bad.ipynb", f"release/{NAME}/other.ipynb"):
            (folder / path).unlink()
        (folder / "release" / "bad").rmdir()
    assert list(made.by_assignment) == [NAME]
    assert "broken.py" in caplog.text
    assert "bad.ipynb" in caplog.text
    assert "other.ipynb" not in caplog.text


def test_without_a_course_there_is_no_catalogue(tmp_path):
    with pytest.raises(CourseError):
        served_assignments.read(tmp_path)


@pytest.mark.parametrize("name", ["nbgrader_config.py", f"release/{NAME}/{NAME}.ipynb", "exercises/mine.py"])
def test_a_changed_file_is_another_version(folder, name):
    path = folder / name
    before, text = version_of(folder), path.read_text()
    assert version_of(folder) == before
    try:
        path.write_text(text + "\n")
        assert version_of(folder) != before
    finally:
        path.write_text(text)


def test_a_file_that_is_gone_meanwhile_is_no_part_of_a_version(tmp_path):
    empty = version_of(tmp_path)
    (tmp_path / "nbgrader_config.py").touch()
    assert version_of(tmp_path) != empty


def test_code_is_what_is_not_read(folder):
    made = served_assignments.read(folder)
    assert isinstance(made.find(NAME, "mine-time"), Served)
    assert len({one.key for one in made.exercises.values()}) == 3
