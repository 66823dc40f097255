"""What a report's page and its tables have in each cell, from made-up reports."""

import pytest

from autograder.course.class_results.class_result import ClassResult, Learner
from autograder.course.gradebook import AssignmentScore, GradebookLearner
from autograder.course.report import page, tables
from autograder.course.report.beliefs import Belief
from autograder.course.report.copies import Copy
from autograder.course.report.items import ItemStatistics
from autograder.course.report.of_class import AssignmentReport, Term
from autograder.declaration.verdict import AS_PREDICTED
from autograder.grading.results import Result


def result(points, kind="wrong", **about):
    return Result("e", points, 2.0, "", kind=kind, **about)


@pytest.mark.parametrize(
    ("made", "cell"),
    [
        (None, ("–", "empty")),
        (result(0.0, "waiting"), ("…", "waiting")),
        (result(2.0), ("2", "right")),
        (result(0.5), ("0.5", "part")),
        (result(0.0), ("0", "wrong")),
        (result(0.0, "empty"), ("0", "empty")),
        (result(2.0, "predicted"), ("2", "part")),
        (result(2.0, "predicted", reason=AS_PREDICTED), ("2", "right")),
    ],
)
def test_a_cell_has_its_points_and_its_class(made, cell):
    assert page._cell(made) == cell


def report(penalty=0.0, raw=2.0, **parts):
    learners = [Learner("ann", [result(2.0)]), Learner("bob", problem="No file."), Learner("cy", [result(0.5)])]
    score = AssignmentScore(GradebookLearner("ann", "Ann"), "hw", 2.0, raw=raw, late_penalty=penalty)
    names = {"ann": "Ann", "bob": "bob", "cy": "cy", "dan": "Dan"}
    items = [ItemStatistics(1, "e", "", 2.0, {"right": 1, "wrong": 1, "waiting": 1}, None, None)]
    empty = {"beliefs": [], "unexplained": [], "borrowed": [], "copies": [], "missing": ["dan"]}
    result_ = ClassResult("hw", {"e": 2.0}, learners)
    return AssignmentReport("hw", result_, {"ann": score}, names, items, **(empty | parts))


def test_the_rows_of_the_page():
    made = page.view(report(penalty=0.5))
    assert [(row["id"], row["name"], row["total"], row["late"], row["grade"]) for row in made["rows"]] == [
        ("ann", "Ann", "2", "-0.5", "1.5"),
        ("bob", "", "none", "", ""),
        ("cy", "", "0.5", "", "0.5"),
    ]
    assert made["rows"][1]["problem"] == "No file."
    assert made["seen"] == ["right", "wrong", "waiting"]
    assert made["graded"] == {"e": 2}
    assert made["summary"].startswith("mean 1 of 2")


@pytest.mark.parametrize(
    ("penalty", "raw", "late"), [(0.0, 2.0, False), (0.5, 2.0, True), (0.0, 1.5, True), (0.5, 2.5, True)]
)
def test_the_page_has_a_grade_of_its_own_where_it_is_not_the_total(penalty, raw, late):
    assert page.view(report(penalty, raw))["late"] is late


def test_the_page_has_the_most_frequent_mistakes_first_and_the_rare_ones():
    beliefs = [
        Belief("e", key, "", "", learners) for key, learners in (("a", ("x",)), ("b", ("x", "y")), ("c", ("z",)))
    ]
    made = page.view(report(beliefs=beliefs))
    assert [one.key for one in made["beliefs"]] == ["b", "a", "c"]
    assert [one.key for one in made["rare"]] == ["a", "c"]


@pytest.mark.parametrize(("count", "shown"), [(3999, 3999), (4000, 4000), (4001, 4000)])
def test_a_long_sentence_is_cut(count, shown):
    assert page.MOST_SENTENCE == 4000
    assert page.sentence("x" * count).count("x") == shown


def rows(sheet):
    head, *lines = sheet.rows
    return [dict(zip(head, line, strict=True)) for line in lines]


def test_the_tables_of_a_report():
    made = tables.of(
        report(
            penalty=0.5, copies=[Copy("e", ("ann", "cy"), 1.0, book=True), Copy("e", ("ann", "cy"), 0.625, usual=True)]
        )
    )
    ann, bob, cy, dan = rows(made["points"])
    assert (ann["e"], ann["total"], ann["late_penalty"], ann["grade"]) == ("2", "2", "0.5", "1.5")
    assert (bob["e"], bob["total"], bob["problem"]) == ("", "", "No file.")
    assert (cy["late_penalty"], cy["grade"]) == ("0", "0.5")
    assert list(dan.values()) == [
        "Dan" if key == "name" else "dan" if key == "learner" else "nothing submitted" if key == "problem" else ""
        for key in dan
    ]
    (exercise,) = rows(made["exercises"])
    assert (exercise["graded"], exercise["n_right"], exercise["n_waiting"], exercise["n_empty"]) == ("2", "1", "1", "0")
    assert exercise["right_share"] == ""
    assert [(row["share"], row["is_the_solution"], row["may_be_usual"]) for row in rows(made["alike"])] == [
        ("1.00", "yes", "no"),
        ("0.62", "no", "yes"),
    ]
    assert "misconceptions" not in made
    assert rows(tables.of(Term("course", [report()]))["misconceptions"]) == []


def test_an_answer_that_waits_has_no_points_in_the_table():
    made = report()
    made.result.learners[0].results[0] = result(0.0, "waiting")
    assert rows(tables.of(made)["points"])[0]["e"] == ""
