"""The page of a course: counts from folders and gradebook, the next step, and nothing of a learner's as markup."""

from datetime import datetime
from types import SimpleNamespace

import pytest

from autograder.book.course_error import CourseError
from autograder.course import gradebook, layout
from autograder.course.by_hand import server
from autograder.course.class_results import class_result
from autograder.course.class_results.class_result import ClassResult, Learner
from autograder.course.class_results.stored_results import results_path
from autograder.course.course_page import page, status
from autograder.course.gradebook_url import opened
from tests.autograder.course.by_hand.test_by_hand_server import request
from tests.autograder.course.made_class import make_class

NOW, DUE = datetime(2030, 1, 1), datetime(2030, 1, 2)
WORDS = {"mine-why": "Because.", "mine-secret": ""}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Ann and bob graded with an answer in words each to grade, cy handed in since, dan refused."""
    folder = make_class(tmp_path_factory.mktemp("page") / "a course", {"ann": WORDS, "bob": WORDS})
    for who in ("ann", "bob", "cy", "dan"):
        (folder / "submitted" / who / "hw").mkdir(parents=True)
    problem = Learner("dan", [], "<script>alert(1)</script>: not a notebook")
    class_result.save(ClassResult("hw", {}, [Learner("ann"), problem]), results_path(folder, "hw"))
    return folder


def due(folder, when):
    with opened(gradebook.url_of(folder)) as book:
        book.update_or_create_assignment("hw", duedate=when)


def test_counts_and_the_next_steps(folder):
    due(folder, DUE)
    course = status.of(folder, NOW)
    (hw,) = course.assignments
    assert (course.learners, hw.submitted, hw.graded, hw.ungraded, hw.waiting) == (2, 4, 2, 1, 2)
    assert hw.due == DUE
    assert hw.mean == 0
    assert list(hw.problems) == ["dan"]
    assert [step.page for step in hw.steps if step.page] == ["gpubook/by_hand"]
    assert hw.steps[0].command == f"gpubook grade '{folder}' hw --resume", "quoted for a shell"
    assert hw.steps[0].say == "Grade 1 submission."


@pytest.mark.parametrize(
    ("when", "submitted", "first"),
    [
        (DUE, 1, "It is open"),
        (NOW, 0, "Nothing was submitted yet"),
        (NOW, 1, "See what the class believes"),
        (None, 1, "See what the class believes"),
    ],
)
def test_with_nothing_to_grade_the_deadline_decides(when, submitted, first):
    counts = {"ungraded": 0, "waiting": 0, "submitted": submitted, "graded": submitted}
    steps = status._next(status.Path("c"), "hw", when, NOW, counts, 0)
    assert steps[0].say.startswith(first)


def test_the_page_has_no_script_and_quotes_what_came_from_learners(folder):
    html = page.of(status.of(folder, NOW), "/base/", "/base/static")
    assert "<script" not in html
    assert "&lt;script&gt;alert(1)" in html
    assert 'href="/base/gpubook/by_hand"' in html
    assert "2 learners in the roster, 1 assignment." in html
    assert 'href="/base/static/by_hand.css"' in html


def test_a_new_course_is_told_how_to_begin(tmp_path):
    layout.init(tmp_path / "course")
    course = status.of(tmp_path / "course")
    assert [step.command.split()[0] for step in course.steps] == ["gpubook", "nbgrader"]
    assert "No learners in the roster, no assignments." in page.of(course, "/", "/s")
    with pytest.raises(CourseError, match="not a course"):
        status.of(tmp_path)


def test_the_server_has_it_beside_formgrader(folder):
    coursedir = SimpleNamespace(root=str(folder))
    made = request(server.CourseOverview, user=object(), nbgrader_formgrader=SimpleNamespace(coursedir=coursedir))
    made.get()
    assert "<h1>a course</h1>" in made.answered
