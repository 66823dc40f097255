"""What there is to assign, as a teacher chooses it: chapters, own exercises, and what was assigned."""

import copy
import json
import shutil
import warnings
from datetime import datetime
from types import SimpleNamespace

import nbformat
import pytest

from autograder.book.course_error import CourseError
from autograder.course import gradebook
from autograder.course.assigning import course_catalogue, marked_exercises
from autograder.course.assigning.course_catalogue import CataloguePart, Listed
from autograder.course.terms import agreed_terms
from autograder.course.terms.agreed_terms import Extension
from tests.autograder.course.made_class import make_class

RECORD = {"predict": False, "kind": "count", "points": 2.0, "title": "Steps"}
BOOK = {
    "b-one": {**RECORD, "id": "b-one", "chapter": "02-b"},
    "a-one": {**RECORD, "id": "a-one", "chapter": "01-a", "predict": True},
    "b-two": {**RECORD, "id": "b-two", "chapter": "02-b", "points": 3.5},
}


@pytest.fixture
def book(monkeypatch):
    """A book of two chapters, in which a point is four minutes."""
    entries = [SimpleNamespace(name=name, title=f"Title of {name}") for name in ("01-a", "02-b", "03-c")]

    def priced(record):
        return SimpleNamespace(minutes=4.0 * record["points"])

    made = SimpleNamespace(exercises=copy.deepcopy(BOOK), entries=entries, priced=priced)
    monkeypatch.setattr(course_catalogue, "_book", lambda: made)
    return made


def test_a_chapter_has_its_exercises_with_their_sums(book):
    b, a = course_catalogue.chapters()
    assert (b.name, b.title, [exercise.id for exercise in b.exercises]) == ("02-b", "Title of 02-b", ["b-one", "b-two"])
    assert (b.points, b.minutes) == (5.5, 22.0)
    assert [(exercise.kind, exercise.title) for exercise in a.exercises] == [("prediction", "Steps")]
    assert b.exercises[0].kind == "count"
    assert b.as_plain() == {
        "name": "02-b",
        "title": "Title of 02-b",
        "points": 5.5,
        "minutes": 22.0,
        "exercises": [
            {"id": "b-one", "kind": "count", "points": 2.0, "minutes": 8.0, "title": "Steps", "note": ""},
            {"id": "b-two", "kind": "count", "points": 3.5, "minutes": 14.0, "title": "Steps", "note": ""},
        ],
    }


def test_a_chapter_is_known_by_its_name(book):
    assert course_catalogue.chapter("01-a").name == "01-a"
    with pytest.raises(CourseError, match="no chapter '03-c' with exercises; it has 02-b, 01-a"):
        course_catalogue.chapter("03-c")


def test_facts_are_part_of_what_is_plain():
    part = CataloguePart("hw", "", (Listed("x", "count", 1.0, 2.0, "X"),), {"due": "tomorrow"})
    assert part.as_plain()["due"] == "tomorrow"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made") / "course"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        make_class(folder, {"ann": {"mine-why": "Because."}})
    return folder


@pytest.fixture
def course(made, tmp_path, book):
    return shutil.copytree(made, tmp_path / "course")


def test_ones_own_exercises_are_listed_and_what_cannot_be_loaded(course):
    (course / "exercises" / "bad.py").write_text("1/0")
    own, left_out = course_catalogue.own(course)
    assert (own.name, own.title) == ("exercises", "Your own exercises")
    assert {(exercise.id, exercise.points) for exercise in own.exercises} == {
        ("mine-why", 3),
        ("mine-secret", 2),
        ("mine-steps", 2),
    }
    assert ["bad.py" in line for line in left_out] == [True]
    with pytest.raises(CourseError, match="is not a course"):
        course_catalogue.own(course / "exercises")


def test_an_assignment_has_its_exercises_with_the_points_that_they_have_there(course):
    (hw,) = course_catalogue.assignments(course)
    assert (hw.name, hw.title, dict(hw.facts)) == ("hw", "", {})
    assert [(item.id, item.points, item.note) for item in hw.exercises] == [
        ("mine-why", 3.0, ""),
        ("mine-secret", 2.0, ""),
    ]
    assert hw.points == 5.0
    path = course / "release" / "hw" / "hw.ipynb"
    marked_exercises.mark(path, "mine-why", False, 4)
    marked_exercises.mark(path, "mine-secret", True, 2)
    hw = course_catalogue.assignment(course, "hw")
    assert [(item.id, item.points, item.note) for item in hw.exercises] == [
        ("mine-why", 0.0, "dropped"),
        ("mine-secret", 2.0, "full marks for all"),
    ]


def test_other_points_in_an_assignment_make_no_other_work(course):
    path = course / "release" / "hw" / "hw.ipynb"
    nb = nbformat.read(path, as_version=4)
    cell = next(c for c in nb.cells if c.metadata.get("nbgrader", {}).get("grade_id") == "mine-why")
    cell.metadata.nbgrader.points = 30
    nbformat.write(nb, path)
    public = json.loads((path.parent / "exercises.json").read_text())
    public["exercises"]["mine-why"]["points"] = 30
    (path.parent / "exercises.json").write_text(json.dumps(public))
    why = course_catalogue.assignment(course, "hw").exercises[0]
    assert (why.points, why.minutes) == (30.0, 12.0)


def test_an_exercise_without_a_cell_has_the_points_that_it_declares(course):
    path = course / "release" / "hw" / "hw.ipynb"
    nb = nbformat.read(path, as_version=4)
    nb.cells = [c for c in nb.cells if c.metadata.get("nbgrader", {}).get("grade_id") != "mine-why"]
    nbformat.write(nb, path)
    why = course_catalogue.assignment(course, "hw").exercises[0]
    assert (why.id, why.points, why.note) == ("mine-why", 3, "")


def test_what_is_agreed_about_an_assignment_is_told(course):
    gradebook.set_due(gradebook.url_of(course), "hw", datetime(2030, 1, 1))
    with agreed_terms.changing(course, "hw") as terms:
        terms.extensions["ann"] = Extension(days=1)
        terms.groups |= {"red": ["ann", "bob"], "blue": ["cy"]}
    facts = dict(course_catalogue.assignment(course, "hw").facts)
    assert facts == {"due": "2030-01-01 00:00 UTC", "extensions": "1", "groups": "2"}


def test_a_folder_without_its_notebook_is_no_assignment(course):
    (course / "release" / "empty").mkdir()
    (course / "release" / "other").mkdir()
    (course / "release" / "other" / "another.ipynb").write_text("{}")
    assert [part.name for part in course_catalogue.assignments(course)] == ["hw"]
    with pytest.raises(CourseError, match="never released"):
        course_catalogue.assignment(course, "empty")
