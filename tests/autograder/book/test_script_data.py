"""What the pages' scripts are told about the book."""

import json
from types import SimpleNamespace

import pytest

from autograder.book.site import script_data
from autograder.book.site.misconceptions import misconceptions
from autograder.book.source.contents import contents
from tests.conftest import ROOT
from tests.kept import loaded

ROOMY = "03-rooflines"


def cells_of(chapter):
    """The prompts of a learner's notebook, as far as they matter here."""
    return SimpleNamespace(cells=[cell for cell in chapter.instructor.cells if "gpubook" in cell.metadata])


@pytest.fixture(scope="module")
def book():
    chapter = loaded(ROOT, ROOMY)
    script = script_data.book_js([(chapter, cells_of(chapter))], contents(ROOT))
    head, tail = "window.gpubook = Object.assign(window.gpubook ?? {}, { book: ", " });\n"
    assert script.startswith(head)
    assert script.endswith(tail)
    return json.loads(script.removeprefix(head).removesuffix(tail)), chapter


def test_every_exercise_is_listed_in_the_order_in_which_it_is_asked(book):
    (listed,) = book[0]["chapters"]
    assert (listed["name"], listed["number"]) == (ROOMY, "3")
    assert [one["id"] for one in listed["exercises"]] == book[1].exercises
    assert [one["number"] for one in listed["exercises"]] == [f"3.{n + 1}" for n in range(len(listed["exercises"]))]


def test_an_exercise_is_told_by_what_its_card_shows_and_no_more(book):
    for one in book[0]["chapters"][0]["exercises"]:
        exercise = book[1].bank[one["id"]]
        predicts = {"predict"} if exercise.predict else set()
        assert one.keys() == {"id", "number", "title", "kind", "points", "judged"} | predicts
        assert (one["kind"], one["points"], one.get("predict", False)) == (
            exercise.kind,
            exercise.points,
            exercise.predict,
        )
        assert one["judged"] == (exercise.kind != "Written")


@pytest.mark.parametrize("course", [True, False])
def test_only_the_open_edition_is_told_of_mistakes(tmp_path, course):
    chapter = loaded(ROOT, ROOMY)
    script_data.write(tmp_path, ROOT, [(chapter, cells_of(chapter))], contents(ROOT), course=course)
    assert (tmp_path / "book-data.js").stat().st_size > 100
    text = "".join(path.read_text() for path in tmp_path.iterdir())
    told = [name for name, one in misconceptions(ROOT).items() if one.did in text]
    assert bool(told) is not course
    assert ((tmp_path / "misconceptions.js").read_text() == "") is course
