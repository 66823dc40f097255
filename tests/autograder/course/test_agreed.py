"""A class with what was agreed: extensions before there is a submission, a group, an exercise that counts for nobody or
for everybody, and no cell that runs again for it."""

import json
import sys
import warnings
from contextlib import contextmanager
from datetime import datetime

import nbformat
import pytest
from click.testing import CliRunner
from nbgrader.api import Gradebook

from autograder import course
from autograder.book.course_error import CourseError
from autograder.cli import commands
from autograder.course import gradebook
from autograder.course.agreements import extensions, learner_groups
from autograder.course.assigning import marked_exercises
from autograder.course.by_hand.answers import answers, enter
from autograder.course.by_hand.questions import questions
from autograder.course.terms.agreed_terms import Extension
from autograder.grading import submission
from autograder.grading.results import FULL
from tests.autograder import tiny
from tests.autograder.course.test_operations import hand_in
from tests.autograder.exchange import submitted_at

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="grading others' work needs Linux")
WHY = """
from autograder.answers import Written

WHY = Exercise(id="tiny-why", prompt="Why?", answer=Written(rubric=(("Names it.", 2),)), solution="Model.")
"""
ASKED = ["tiny-steps", "tiny-time", "tiny-why"]
DAY_LATE = "2030-01-01 12:00:00 UTC"


@pytest.fixture(scope="module")
def folder(tmp_path_factory, zygotes):
    """A class, not graded yet: ann in time, for bob too; cy a day late, with half a day more; dan without anything."""
    folder = tmp_path_factory.mktemp("agreed") / "course"
    course.init(folder)
    (folder / "exercises" / "tiny.py").write_text(tiny.EXERCISES + WHY)
    config = folder / "nbgrader_config.py"
    config.write_text(config.read_text().replace("# c.AssignLate", "c.AssignLate").replace("# c.Late", "c.Late"))
    assign(folder)
    with Gradebook(gradebook.url_of(folder)) as book:
        for who in ("ann", "bob", "cy", "dan"):
            book.add_student(who)
    extensions.extend(folder, "hw", ["cy", "bob", "dan"], Extension(days=0.5))
    assert learner_groups.form(folder, "hw", {"A": ["ann", "bob"]})
    with pytest.MonkeyPatch.context() as patch:
        tiny.lend(patch, zygotes())
        yield folder


def assign(folder):
    return course.assign(folder, "hw", exercises=ASKED, due=datetime(2030, 1, 1))


def submit(folder, who, when, **answers):
    nb = tiny.fill(nbformat.read(folder / "release" / "hw" / "hw.ipynb", as_version=4), tiny.RIGHT | answers)
    for cell in nb.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "tiny-why":
            cell.source = f"Because, says {who}."
    hand_in(folder, who, nb, name="hw")
    submitted_at(folder, who, "hw", when)


@contextmanager
def book(folder):
    with warnings.catch_warnings(), Gradebook(gradebook.url_of(folder)) as opened:
        warnings.simplefilter("ignore")
        yield opened
        opened.db.commit()


def give(folder, who, points):
    with book(folder) as opened:
        grade = opened.find_grade("tiny-why", "hw", "hw", who)
        grade.manual_score, grade.needs_manual_grade = points, False
        opened.find_comment("tiny-why", "hw", "hw", who).manual_comment = f"{points:g} it is."


def scores(folder):
    """By learner: raw score, late penalty, maximum."""
    found = gradebook.scores(folder, ["hw"])["hw"]
    return {one.person.id: (one.raw, round(one.late_penalty, 3), one.max_score) for one in found if one.graded}


def page(folder, who):
    return (folder / "feedback" / who / "hw" / "hw.html").read_text()


def test_extensions_and_groups_are_agreed_before_anything_is_submitted(folder):
    due = {one.person.id: one.due for one in gradebook.scores(folder, ["hw"])["hw"]}
    assert due == {"ann": datetime(2030, 1, 1)} | dict.fromkeys(("bob", "cy", "dan"), datetime(2030, 1, 1, 12))
    for refused in (
        lambda: extensions.extend(folder, "hw", ["bobb"], Extension(days=1)),
        lambda: learner_groups.form(folder, "hw", {"A": ["ann", "bobb"]}),
    ):
        with pytest.raises(CourseError, match=r"bobb: not in the roster .*did you mean bob\? "):
            refused()
    with pytest.raises(CourseError, match=r"'\.\./ann' is not a learner's id"):
        learner_groups.form(folder, "hw", {"A": ["../ann", "bob"]})
    with pytest.raises(CourseError, match="ann: in more than one group"):
        learner_groups.form(folder, "hw", {"A": ["ann"], "B": ["ann"]})
    with pytest.raises(CourseError, match="not after the deadline"):
        extensions.extend(folder, "hw", ["ann"], Extension(until=datetime(2029, 1, 1)))
    said = CliRunner().invoke(commands.main, ["course", "extend", str(folder), "hw", "--list"])
    assert "dan: until 2030-01-01 12:00 UTC (0.5 days); nothing submitted yet\n" in said.output
    said = CliRunner().invoke(commands.main, ["course", "groups", str(folder), "hw"])
    assert said.output == "A: ann, bob\n"
    said = CliRunner().invoke(commands.main, ["course", "list", str(folder), "--json"])
    (listed,) = json.loads(said.output)["assignments"]
    assert (listed["due"], listed["extensions"], listed["groups"]) == ("2030-01-01 00:00 UTC", "3", "1")
    assert [(one["id"], one["kind"], one["points"]) for one in listed["exercises"]] == [
        ("tiny-steps", "Count", 2),
        ("tiny-time", "Quantity", 3),
        ("tiny-why", "Written", 2),
    ]


@pytest.mark.slow
def test_all_of_it_holds_when_the_class_is_graded_and_afterwards(folder, monkeypatch):
    submit(folder, "ann", DAY_LATE)
    submit(folder, "cy", "2030-01-01 13:00:00 UTC", **{"tiny-steps": "answer = 1"})
    result = course.grade(folder, "hw")
    assert [(one.name, one.submitted_by) for one in result.learners] == [("ann", ""), ("bob", "ann"), ("cy", "")]
    # each one's own extension, from the group's one time
    assert scores(folder) == {"ann": (5.0, 0.5, 7.0), "bob": (5.0, 0.0, 7.0), "cy": (3.0, 0.3, 7.0)}
    assert "Submitted by ann" in page(folder, "bob")
    assert "Submitted by" not in page(folder, "ann")

    def runs(*_args, **_more):
        raise AssertionError("a cell ran again")

    monkeypatch.setattr(submission, "grade_notebook", runs)
    give(folder, "bob", 1.0)  # either of them is the group's
    give(folder, "cy", 2.0)
    course.show_feedback(folder, "hw")
    assert scores(folder) == {"ann": (6.0, 0.6, 7.0), "bob": (6.0, 0.0, 7.0), "cy": (5.0, 0.5, 7.0)}
    assert "1 it is." in page(folder, "ann")
    (why,) = questions(folder, "hw")
    (found,) = answers(folder, why, "ann")
    enter(folder, why, "ann", [2.0], "", found.revision)
    course.show_feedback(folder, "hw")
    assert scores(folder)["bob"] == (7.0, 0.0, 7.0)
    for who in ("ann", "bob"):
        assert "✓ Names it. — 2 of 2" in page(folder, who)
    give(folder, "bob", 0.5)  # a teacher's word on him alone
    give(folder, "ann", 1.5)
    course.show_feedback(folder, "hw")
    assert [scores(folder)[who][0] for who in ("ann", "bob")] == [6.5, 5.5]
    before = scores(folder)

    course.drop(folder, "hw", "tiny-time")
    course.full_marks(folder, "hw", "tiny-why")
    course.full_marks(folder, "hw", "tiny-steps")
    changed = {"ann": (4.0, 0.4, 4.0), "bob": (4.0, 0.0, 4.0), "cy": (4.0, 0.4, 4.0)}
    assert scores(folder) == changed
    result = course.grade(folder, "hw", resume=True)
    assert scores(folder) == changed
    assert result.exercises == {"tiny-steps": 2.0, "tiny-time": 0.0, "tiny-why": 2.0}
    assert [one.points for one in result.learner("cy").results] == [2.0, 0.0, 2.0]
    assert result.learner("cy").results[0].say.startswith(f"{FULL} ")
    assert gradebook.waiting(folder, "hw") == {}
    for said in (marked_exercises.DROPPED, marked_exercises.FULL):
        assert said.strip("*") in page(folder, "bob")
    with pytest.raises(CourseError, match="tiny-time was dropped"):
        course.full_marks(folder, "hw", "tiny-time")

    assign(folder)  # which takes nothing back
    assert scores(folder) == changed
    course.drop(folder, "hw", "tiny-time", undo=True)
    for exercise in ("tiny-why", "tiny-steps"):  # and all of it counts as before, at once and after the next run
        course.full_marks(folder, "hw", exercise, undo=True)
    assert scores(folder) == before
    result = course.grade(folder, "hw", resume=True)
    assert scores(folder) == before
    assert [one.points for one in result.learner("cy").results] == [0.0, 3.0, 2.0]
    assert FULL not in result.learner("cy").results[0].say

    extensions.remove(folder, "hw", ["bob"])
    extensions.extend(folder, "hw", ["cy"], Extension(until=datetime(2030, 1, 2)))
    assert [scores(folder)[who][1] for who in ("bob", "cy")] == [0.55, 0.0]
    learner_groups.form(folder, "hw", {})
    result = course.grade(folder, "hw", resume=True)
    assert sorted(scores(folder)) == ["ann", "cy"]
    assert [line for line in result.problems if "bob no longer shares the submission of ann" in line]
    assert not (folder / "feedback" / "bob" / "hw").exists()
    course.assign(folder, "hw", exercises=ASKED, no_due=True)
    assert {penalty for _, penalty, _ in scores(folder).values()} == {0.0}
