"""What the pages' scripts are told about the book."""

import json
from types import SimpleNamespace

import pytest

from autograder.book import memory
from autograder.book.contents import contents
from tests.conftest import ROOT
from tests.kept import loaded

ROOMY = "03-rooflines"


def cells_of(chapter):
    """The prompts of a learner's notebook, as far as they matter here."""
    return SimpleNamespace(cells=[cell for cell in chapter.instructor.cells if "gpubook" in cell.metadata])


@pytest.fixture(scope="module")
def book():
    chapter = loaded(ROOT, ROOMY)
    script = memory.book_js([(chapter, cells_of(chapter))], contents(ROOT))
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
        assert one.keys() == {"id", "number", "title", "kind", "points", "predict"}
        assert (one["kind"], one["points"], one["predict"]) == (exercise.kind, exercise.points, exercise.predict)
