"""A rubric changed midway: which grades follow, and which wait for another look."""

from dataclasses import replace

import pytest

from autograder.book.course_error import CourseError
from autograder.course.by_hand import marks, rubric_change
from autograder.course.by_hand.answers import answers
from autograder.course.by_hand.marks import Mark
from tests.autograder.course.by_hand.test_by_hand_page import answer, question

OLD = (("Names it.", 2.0), ("Says why.", 1.0))
NEW = (("Names it.", 3.0), ("Says how.", 1.0))


class Grade:
    def __init__(self, score, waits):
        self.manual_score, self.needs_manual_grade = score, waits


@pytest.fixture
def graded(tmp_path, monkeypatch):
    """Five answers in a gradebook that is made up: decided, decided, a draft, without criteria, waiting."""
    scores = {"ann": (3.0, False), "bob": (1.0, False), "cy": (None, True), "dora": (2.5, False), "emil": (None, True)}
    grades = {learner: Grade(*row) for learner, row in scores.items()}
    known = {
        "ann": Mark((2.0, 1.0), OLD, 3.0, "tina", "2030"),
        "bob": Mark((1.0, 0.0), OLD, 1.0, "tom", "2030"),
        "cy": Mark((2.0, None), OLD, None, "tom", "2030"),
        "dora": Mark((2.0, 0.0), OLD, 2.0, "tom", "2030"),  # formgrader has changed it to 2.5
    }
    with marks.alone(tmp_path, "hw", "t-why"):
        marks.save(tmp_path, "hw", "t-why", known)

    def now(folder, asked, learner=None):
        held = marks.load(folder, "hw", "t-why")
        rows = [
            answer(who, at, score=grade.manual_score, waits=grade.needs_manual_grade, mark=held.get(who))
            for at, (who, grade) in enumerate(grades.items(), start=1)
        ]
        return [replace(row, rubric=asked.rubric, scale=asked.scale) for row in rows]

    def write(folder, asked, before, change):
        for row in before:
            change(row, grades[row.learner], None)

    monkeypatch.setattr(rubric_change, "answers", now)
    monkeypatch.setattr(rubric_change, "write", write)
    return tmp_path, grades, now


def test_a_grade_follows_where_each_criterion_is_known_and_waits_elsewhere(graded):
    folder, grades, now = graded
    asked = question(rubric=NEW, max_score=4.0)
    rows = {row.learner: row for row in rubric_change.preview(folder, asked)}
    assert rows.keys() == {"ann", "bob", "cy", "dora"}
    assert (rows["ann"].after, rows["ann"].given, rows["ann"].why) == (None, (3.0, None), "criterion 2 is not decided")
    assert rows["dora"].why == "graded without criteria"
    assert grades["ann"].manual_score == 3.0  # nothing was changed
    done = {row.learner: row for row in rubric_change.follow(folder, asked, {2: 2})}
    assert {who: row.after for who, row in done.items()} == {"ann": 4.0, "bob": 1.5, "cy": None, "dora": None}
    assert {who: (one.manual_score, one.needs_manual_grade) for who, one in grades.items()} == {
        "ann": (4.0, False),
        "bob": (1.5, False),
        "cy": (None, True),
        "dora": (2.5, True),
        "emil": (None, True),
    }
    held = marks.load(folder, "hw", "t-why")
    assert (held["ann"].by, held["ann"].given, held["ann"].rubric) == ("tina", (3.0, 1.0), NEW)
    assert held["cy"].given == (3.0, None)
    assert [row.state for row in now(folder, asked)] == ["graded", "graded", "waiting", "review", "waiting"]
    assert rubric_change.follow(folder, asked) == []


def test_what_cannot_follow_keeps_its_points_as_a_draft_and_waits(graded):
    folder, grades, now = graded
    rubric_change.follow(folder, question(rubric=NEW, max_score=4.0))
    assert (grades["ann"].manual_score, grades["ann"].needs_manual_grade) == (3.0, True)
    first = now(folder, question(rubric=NEW, max_score=4.0))[0]
    assert (first.state, first.given) == ("review", (3.0, None))


@pytest.mark.parametrize(("new", "old"), [(1, 1), (2, 2)])
def test_a_criterion_in_other_words_is_one_of_both_rubrics(graded, new, old):
    assert rubric_change.checked_same({new: old}, question(), graded[0]) == {new: old}


@pytest.mark.parametrize(("new", "old"), [(0, 1), (3, 1), (1, 0), (1, 3)])
def test_any_other_is_refused(graded, new, old):
    with pytest.raises(CourseError, match="were expected"):
        rubric_change.checked_same({new: old}, question(), graded[0])


def test_the_real_gradebook_is_asked():
    assert rubric_change.answers is answers
