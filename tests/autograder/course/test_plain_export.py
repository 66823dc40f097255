"""A gradebook as rows: what stands in each column of the plain table and of Canvas's."""

from datetime import datetime
from types import SimpleNamespace

import pytest

from autograder.book.course_error import CourseError
from autograder.course import export
from autograder.course.gradebook import AssignmentScore, GradebookLearner
from autograder.course.gradebook.question_points import QuestionPoints
from autograder.course.report.tables import _term_points

ANN = GradebookLearner("ann", "Ann", "=A", "ann@x.org", "4711")
BOB = GradebookLearner("bob", lms_id="x1")
DUE = datetime(2030, 1, 1)
POINTS = QuestionPoints({"q": 2.0, "r": 1.0}, {"ann": {"q": 1.5, "r": None}})


def score(person, **more):
    return AssignmentScore(person, "hw", 3.0, DUE, **({"graded": True, "raw": 1.5} | more))


def rows(table):
    head, *lines = table.rows
    return [dict(zip(head, line, strict=True)) for line in lines]


@pytest.mark.parametrize("blank", ["", "0"])
def test_the_plain_table_has_a_row_a_learner_with_the_points_by_question(blank):
    scores = {"hw": [score(ANN, submitted=DUE, late_penalty=0.5), score(BOB, graded=False, raw=0.0)]}
    ann, bob = rows(export._plain(scores, {"hw": POINTS}, blank))
    assert list(ann) == [*export.PLAIN, "q (2 points)", "r (1 point)"]
    assert (ann["submitted"], ann["due"]) == ("2030-01-01T00:00:00Z", "2030-01-01T00:00:00Z")
    assert (ann["raw_score"], ann["score"], ann["max_score"]) == ("1.5", "1", "3")
    assert (ann["last_name"], ann["q (2 points)"], ann["r (1 point)"]) == ("'=A", "1.5", "")
    assert [bob[key] for key in ("submitted", "score", "q (2 points)", "needs_manual_grade")] == ["", blank, blank, ""]


def test_a_question_of_one_assignment_is_empty_in_the_rows_of_another():
    others = QuestionPoints({"s": 1.0}, {"ann": {"s": 1.0}})
    first, second = rows(
        export._plain({"hw": [score(ANN)], "other": [score(ANN)]}, {"hw": POINTS, "other": others}, "")
    )
    assert (first["q (2 points)"], first["s (1 point)"]) == ("1.5", "")
    assert (second["q (2 points)"], second["s (1 point)"]) == ("", "1")


def test_canvas_has_a_column_an_assignment_and_an_id_that_is_a_number():
    scores = {"hw": [score(ANN), score(BOB, graded=False)]}
    made = export._canvas(scores, "", {})
    assert made.rows[:2] == [[*export.CANVAS, "hw"], ["    Points Possible", "", "", "", "", "3"]]
    assert made.rows[2:] == [["'=A, Ann", "4711", "", "ann", "", "1.5"], ["bob", "", "x1", "bob", "", ""]]
    assert "hw" in made.notes[0]
    named = export._canvas(scores, "0", {"hw": 7})
    assert (named.rows[0][-1], named.rows[3][-1], named.notes) == ("hw (7)", "0", [])
    with pytest.raises(CourseError, match="its own totals"):
        export._canvas({"Final Score": []}, "", {})


def test_a_learner_called_as_canvas_calls_its_maxima_is_no_maximum():
    made = export._canvas({"hw": [score(GradebookLearner("x", "Points Possible"))]}, "", {})
    assert made.rows[2][0] == "Points-Possible"


@pytest.mark.parametrize(("count", "said"), [(1, "1 answer is"), (0, "0 answers are"), (2, "2 answers are")])
def test_answers_are_counted_in_words(count, said):
    assert export.counted(count) == said


def test_a_term_has_an_empty_cell_where_nothing_was_graded():
    reports = [SimpleNamespace(name=name, result=SimpleNamespace(max_points=2.0)) for name in ("a", "b")]
    term = SimpleNamespace(
        reports=reports, names={"ann": "Ann", "bob": "Bob"}, table={"bob": [None, 0.5], "ann": [2.0, 0.0]}
    )
    assert _term_points(term) == [
        ["learner", "name", "a", "b", "total"],
        ["ann", "Ann", "2", "0", "2"],
        ["bob", "Bob", "", "0.5", "0.5"],
        ["of", "", "2", "2", "4"],
    ]
