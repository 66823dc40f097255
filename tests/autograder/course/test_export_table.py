"""A gradebook as a table in each form: what is refused, what is noted, and what Moodle shows beside a grade."""

import csv
from datetime import datetime
from types import SimpleNamespace

import pytest

from autograder.book.course_error import CourseError
from autograder.course import export
from autograder.course.class_results.class_result import ClassResult, Learner
from autograder.course.gradebook import AssignmentScore, GradebookLearner
from autograder.course.gradebook.question_points import QuestionPoints
from autograder.grading.results import Result

DUE = datetime(2030, 1, 1)
POINTS = QuestionPoints({"q": 2.0, "r": 1.0}, {"ann": {"q": 1.5, "r": None}, "bob": {"q": 2.0, "r": 1.0}})


def score(who, raw=1.5, name="hw", **more):
    person = GradebookLearner(who, email=f"{who}@x.org")
    return AssignmentScore(person, name, 3.0, DUE, **({"graded": True, "raw": raw} | more))


@pytest.fixture
def course(monkeypatch):
    """The scores by assignment, and the results of the last run, or None."""
    made = SimpleNamespace(scores={"hw": [score("ann"), score("bob", 3.0)]}, results=None)

    def results(*_):
        if made.results is None:
            raise FileNotFoundError
        return made.results

    monkeypatch.setattr(export.gradebook, "scores", lambda *_: made.scores)
    monkeypatch.setattr(export, "by_question", lambda *_: POINTS)
    monkeypatch.setattr(export, "results", results)
    return made


@pytest.fixture
def worksheet(tmp_path):
    path = tmp_path / "w.csv"
    head = ["Identifier", "Email address", "Grade", "Last modified (grade)", "Feedback comments"]
    lines = [[f"Participant {at}", f"{who}@x.org", "", "", ""] for at, who in enumerate(("ann", "bob", "cy"))]
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([head, *lines])
    return path


def rows(table):
    head, *lines = table.rows
    return [dict(zip(head, line, strict=True)) for line in lines]


def test_a_form_that_is_not_known_is_refused_with_those_that_are(course):
    with pytest.raises(ValueError, match="canvas, moodle, csv"):
        export.table(".", form="excel")


def test_a_worksheet_is_for_moodle_alone(course, worksheet):
    for form in ("csv", "canvas"):
        with pytest.raises(CourseError, match="Moodle's"):
            export.table(".", form=form, worksheet=worksheet)
    assert len(export.table(".", form="moodle", worksheet=worksheet).rows) == 4
    with pytest.raises(CourseError, match="Download grading worksheet"):
        export.table(".", form="moodle")


@pytest.mark.parametrize(
    ("form", "ids", "taken"),
    [
        ("canvas", {"hw": 7}, True),
        ("canvas", {}, True),
        ("csv", {}, True),
        ("canvas", {"hw": 7, "none": 8}, False),
        ("csv", {"hw": 7}, False),
    ],
)
def test_canvas_ids_are_those_of_assignments_that_are_exported_to_canvas(course, form, ids, taken):
    if taken:
        assert export.table(".", form=form, canvas_ids=ids).rows
    else:
        with pytest.raises(CourseError, match="Canvas ids"):
            export.table(".", form=form, canvas_ids=ids)


def test_canvas_has_the_points_by_question_in_a_table_beside(course):
    made = export.table(".", form="canvas", missing_as_zero=True)
    assert made.rows[0][-1] == "hw"
    assert made.beside.rows[0][-2:] == ["q (2 points)", "r (1 point)"]
    assert getattr(export.table("."), "beside", None) is None


@pytest.mark.parametrize(("zero", "blank"), [(True, "0"), (False, "")])
def test_without_a_submission_a_score_is_empty_or_zero(course, worksheet, zero, blank):
    course.scores["hw"].append(score("cy", 0.0, graded=False))
    for form, column, sheet in (("csv", "score", None), ("canvas", "hw", None), ("moodle", "Grade", worksheet)):
        made = export.table(".", form=form, missing_as_zero=zero, worksheet=sheet)
        assert rows(made)[-1][column] == blank


@pytest.mark.parametrize("names", [[], ["hw", "other"]])
def test_moodle_reads_one_assignment(course, worksheet, names):
    course.scores = {name: [score("ann", name=name)] for name in names}
    with pytest.raises(CourseError, match="one assignment a file"):
        export.table(".", form="moodle", worksheet=worksheet)


@pytest.mark.parametrize(("raw", "noted"), [(3.0, False), (3.5, True)])
def test_more_than_the_maximum_is_noted_for_moodle(course, worksheet, raw, noted):
    course.scores["hw"][1] = score("bob", raw)
    course.scores["hw"].append(score("cy", 9.0, graded=False))
    notes = [note for note in export.table(".", form="moodle", worksheet=worksheet).notes if "maximum of 3" in note]
    assert [note.endswith(": bob") for note in notes] == [True] * noted


def test_answers_to_be_graded_by_hand_are_noted(course):
    assert export.table(".").notes == []
    course.scores["hw"] = [score("ann", waiting=2), score("bob"), score("cy", waiting=1)]
    (note,) = export.table(".").notes
    assert note.startswith("3 answers are still to be graded by hand")
    assert note.endswith(": ann (hw), cy (hw)")
    course.scores["hw"] = [score(f"l{number}", waiting=1) for number in range(export.MOST_NAMED)]
    assert " more" not in export.table(".").notes[0]
    course.scores["hw"].append(score("zoe", waiting=1))
    assert export.table(".").notes[0].endswith("l11 (hw) and 1 more")


def test_the_row_of_a_learner_says_what_waits():
    (yes, no, none) = (
        export._plain_row(made, "") for made in (score("a", waiting=2), score("b"), score("c", graded=False))
    )
    assert [row[-2:] for row in (yes, no, none)] == [["yes", "2"], ["no", "0"], ["", ""]]
    whole = export._plain_row(score("a", 2.5, extra_credit=0.5, late_penalty=1.0, submitted=DUE), "")
    assert whole[5:12] == ["2030-01-01T00:00:00Z", "2030-01-01T00:00:00Z", "2.5", "0.5", "1", "1.5", "3"]
    assert export._plain_row(score("c", graded=False), "0")[7:12] == ["0", "0", "0", "0", "3"]


def test_moodle_shows_points_sentences_comments_and_what_being_late_cost(course, worksheet):
    course.scores["hw"] = [score("ann", 1.5, late_penalty=0.5, comments=("Good <b>",)), score("bob", 3.0), score("cy")]
    course.results = ClassResult("hw", {}, [Learner("ann", [Result("q", 1.5, 2.0, "a < b", kind="partial")])])
    comments = {
        row["Identifier"][-1]: row["Feedback comments"]
        for row in rows(export.table(".", form="moodle", worksheet=worksheet))
    }
    assert comments == {
        "0": "q (1.5 of 2): a &lt; b<br>r (to be graded)<br>Good &lt;b&gt;<br>Late: 0.5 of 1.5 points are taken off.",
        "1": "q (2 of 2)<br>r (1 of 1)",
        "2": "",
    }


def test_without_results_of_a_run_there_are_points_alone(course):
    made = export._comments(None or export.Path(), "hw", course.scores["hw"], POINTS)
    assert made["bob"] == "q (2 of 2)<br>r (1 of 1)"


@pytest.mark.parametrize("lms", ["4711", "x1", "", "٣"])
def test_canvas_takes_a_number_of_its_own_and_else_that_of_the_school(lms):
    person = GradebookLearner("ann", lms_id=lms)
    made = export._canvas({"hw": [AssignmentScore(person, "hw", 3.0)]}, "", {})
    own = lms if lms == "4711" else ""
    assert made.rows[2][1:4] == [own, "" if own else lms, "ann"]


def test_a_table_of_nobody_has_no_maximum():
    assert export._canvas({"hw": []}, "", {}).rows[1][-1] == ""
