"""What each learner has, over a gradebook in memory: points, deadlines, comments, what waits."""

import json
from contextlib import contextmanager
from datetime import timedelta

import pytest

from autograder.book.course_error import CourseError
from autograder.course.gradebook import AssignmentScore, GradebookLearner, full_name, learner_scores, question_points
from tests.autograder.course.gradebook.in_memory import DUE, fill, new_engine, opened_book, submit

DAY = timedelta(days=1)


@pytest.fixture
def book(monkeypatch):
    with opened_book(new_engine()) as made:

        @contextmanager
        def opened(*_):
            made.db.flush()
            yield made

        for module, name in (
            (learner_scores, "opened"),
            (learner_scores, "opened_course"),
            (question_points, "opened"),
        ):
            monkeypatch.setattr(module, name, opened)
        monkeypatch.setattr(question_points, "url_of", lambda _: "")
        monkeypatch.setattr(learner_scores, "granted_for", lambda *_: {})
        yield fill(made)


def by_learner(name="hw"):
    return {score.person.id: score for score in learner_scores.scores(".", [name])[name]}


def test_the_roster_is_in_the_order_of_its_ids(book):
    book.add_student("al", first_name="Al", last_name="Lee", email="al@x.org", lms_user_id="7")
    assert learner_scores.learners(".") == ["al", "ann", "bob", "cy"]
    made = learner_scores.scores(".")["hw"]
    assert made[0].person == GradebookLearner("al", "Al", "Lee", "al@x.org", "7")
    assert made[1].person == GradebookLearner("ann")
    assert [score.person.id for score in made] == ["al", "ann", "bob", "cy"]


def test_assignments_are_all_or_those_that_are_named_in_their_order(book):
    assert list(learner_scores.scores(".")) == ["other", "hw"]  # without a deadline first
    assert list(learner_scores.scores(".", ["hw", "other", "hw"])) == ["hw", "other"]
    with pytest.raises(CourseError, match=r"'none', 'nor'.*it has other, hw"):
        learner_scores.scores(".", ["none", "hw", "nor"])


def test_points_extra_credit_and_the_penalty_add_up(book):
    submit(book, "ann", scores={"q-grade": 1.5, "r": 0.25}, timestamp=DUE + 2 * DAY, extension=DAY)
    submit(book, "ann", "other", scores={"q-grade": 9.0})
    submit(book, "bob", "other", scores={"q-grade": 4.0})
    book.find_grade("r", "hw", "hw", "ann").extra_credit = 0.5
    book.find_submission_notebook("hw", "hw", "ann").late_submission_penalty = 0.75
    made = by_learner()
    ann, bob = made["ann"], made["bob"]
    assert (ann.raw, ann.extra_credit, ann.late_penalty, ann.score) == (2.25, 0.5, 0.75, 1.5)
    assert (ann.max_score, ann.due, ann.submitted, ann.late) == (5.0, DUE + DAY, DUE + 2 * DAY, True)
    assert (ann.graded, bob.graded, bob.raw, bob.due) == (True, False, 0.0, DUE)
    other = by_learner("other")
    assert (other["ann"].raw, other["bob"].raw, other["bob"].due, other["bob"].late) == (9.0, 4.0, None, False)
    assert other["ann"].comments == ()


def test_who_has_submitted_nothing_has_the_deadline_of_the_terms(book, monkeypatch):
    more = {"ann": 2 * DAY, "bob": DAY}
    monkeypatch.setattr(learner_scores, "granted_for", lambda _folder, _name, due: more if due else {})
    submit(book, "bob", timestamp=DUE)
    made = by_learner()
    assert (made["ann"].due, made["bob"].due, made["cy"].due) == (DUE + 2 * DAY, DUE, DUE)
    assert by_learner("other")["ann"].due is None


def test_what_waits_is_counted_by_learner_and_by_question(book):
    for who in ("ann", "bob"):
        submit(book, who, scores={"q-grade": 1.0})
        book.find_grade("r", "hw", "hw", who).needs_manual_grade = True
    book.find_grade("q-grade", "hw", "hw", "ann").needs_manual_grade = True
    submit(book, "cy", scores={"q-grade": 1.0})
    submit(book, "cy", "other")
    book.find_grade("q-grade", "other", "other", "cy").needs_manual_grade = True
    made = by_learner()
    assert {who: score.waiting for who, score in made.items()} == {"ann": 2, "bob": 1, "cy": 0}
    assert (made["bob"].needs_manual_grade, made["cy"].needs_manual_grade) == (True, False)
    assert learner_scores.waiting(".", "hw") == {"ann": 2, "bob": 1}
    assert learner_scores.waiting_by_cell(".", "hw") == {"q-grade": 1, "r": 2}


def test_comments_are_the_teachers_in_the_order_of_their_cells(book):
    submit(book, "ann")
    submit(book, "bob")
    for cell, text in (("r", "second"), ("q-grade", "first")):
        book.find_comment(cell, "hw", "hw", "ann").manual_comment = text
    book.find_comment("r", "hw", "hw", "bob").auto_comment = "No response."
    made = by_learner()
    assert (made["ann"].comments, made["bob"].comments) == (("first", "second"), ())


def test_grades_by_hand_are_those_that_a_teacher_has_given_and_left(book):
    assert learner_scores.by_hand("", "hw") == {}
    for who in ("ann", "bob", "cy"):
        submit(book, who, scores={"q-grade": 1.0})
    for who, points in (("ann", 2.5), ("bob", 1.0)):
        book.find_grade("r", "hw", "hw", who).manual_score = points
        book.find_comment("r", "hw", "hw", who).manual_comment = f"Dear {who}" if who == "ann" else ""
    waits = book.find_grade("r", "hw", "hw", "cy")
    waits.manual_score, waits.needs_manual_grade = 3.0, True
    submit(book, "cy", "other").notebooks[0].grades[0].manual_score = 8.0
    assert learner_scores.by_hand("", "hw") == {("ann", "r"): (2.5, "Dear ann"), ("bob", "r"): (1.0, "")}
    assert learner_scores.by_hand("", "other") == {("cy", "q-grade"): (8.0, "")}


def test_points_by_question_are_those_of_the_assignment(book, tmp_path):
    submit(book, "ann", scores={"q-grade": 1.5, "r": 0.5})
    for who, more in (("bob", {}), ("cy", {"manual_score": 0.0})):
        submit(book, who, scores={"q-grade": 1.0, "r": 0.0})
        for key, value in ({"needs_manual_grade": True} | more).items():
            setattr(book.find_grade("r", "hw", "hw", who), key, value)
    submit(book, "ann", "other", scores={"q-grade": 9.0})
    book.add_grade_cell("a", "hw", "hw", max_score=1.0, cell_type="code")
    (tmp_path / "release" / "hw").mkdir(parents=True)
    cells = [{"metadata": {"nbgrader": {"grade_id": name}}, "source": []} for name in ("r", "q-grade")]
    (tmp_path / "release" / "hw" / "hw.ipynb").write_text(json.dumps({"cells": cells}))
    made = question_points.by_question(tmp_path, "hw")
    assert list(made.most.items()) == [("r", 3.0), ("q", 2.0), ("a", 1.0)]  # as released, what is not there last
    assert made.of == {"ann": {"q": 1.5, "r": 0.5}, "bob": {"q": 1.0, "r": None}, "cy": {"q": 1.0, "r": 0.0}}


def test_an_answer_to_be_looked_at_again_has_its_points(book, tmp_path):
    submit(book, "ann", scores={"q-grade": 1.0, "r": 1.0})
    book.find_grade("r", "hw", "hw", "ann").needs_manual_grade = True
    assert question_points.by_question(tmp_path, "hw").of["ann"]["r"] == 1.0
    points = question_points.QuestionPoints({"r": 1.0, "q": 2.0}, {"ann": {"r": 0.5}})
    assert points.cells("ann", "0") == {"r (1 point)": "0.5", "q (2 points)": ""}
    assert points.cells("bob", "0") == {"r (1 point)": "0", "q (2 points)": "0"}


@pytest.mark.parametrize(
    ("first", "last", "name", "turned"),
    [("Ann", "Lee", "Ann Lee", "Lee, Ann"), ("Ann", "", "Ann", "Ann"), ("", "Lee", "Lee", "Lee"), ("", "", "a", "a")],
)
def test_a_full_name_is_what_is_known_of_it(first, last, name, turned):
    who = GradebookLearner("a", first, last)
    assert (full_name(who), full_name(who, last_first=True)) == (name, turned)


@pytest.mark.parametrize(
    ("submitted", "due", "late"),
    [(DUE, DUE, False), (DUE + DAY, DUE, True), (DUE - DAY, DUE, False), (None, DUE, False), (DUE, None, False)],
)
def test_late_is_after_the_deadline(submitted, due, late):
    assert AssignmentScore(GradebookLearner("a"), "hw", 1.0, due, submitted=submitted).late is late


@pytest.mark.parametrize(("raw", "penalty", "score"), [(2.0, 0.5, 1.5), (2.0, 2.0, 0.0), (1.0, 2.0, 0.0)])
def test_a_penalty_takes_no_more_than_there_is(raw, penalty, score):
    made = AssignmentScore(GradebookLearner("a"), "hw", 3.0, raw=raw, late_penalty=penalty)
    assert made.score == score
