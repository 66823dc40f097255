"""What a report on an assignment and on a term has: points, names, deadlines, bins, from made-up reports."""

from datetime import datetime, timedelta
from types import SimpleNamespace

import pytest

from autograder.book.course_error import CourseError
from autograder.course.class_results.class_result import ClassResult, Learner
from autograder.course.gradebook import AssignmentScore, GradebookLearner
from autograder.course.report import of_class
from autograder.course.report.beliefs import Belief
from autograder.course.report.of_class import AssignmentReport, Term, histogram, summary
from autograder.grading.results import Result
from tests.autograder.course.report.made import COPY, Class

DUE = datetime(2030, 1, 1)


def score(who, raw=0.0, **more):
    return AssignmentScore(GradebookLearner(who), "hw", 10.0, raw=raw, **more)


def report(name="hw", points=(), scores=(), names=(), beliefs=(), problems=()):
    learners = [Learner(who, [Result("e", value, 10.0, "")]) for who, value in dict(points).items()]
    learners += [Learner(who, problem=problem) for who, problem in dict(problems).items()]
    by_id = {one.person.id: one for one in scores}
    result = ClassResult(name, {"e": 10.0}, learners)
    return AssignmentReport(name, result, by_id, dict(names), [], list(beliefs), [], [], [], [])


def test_points_are_the_gradebooks_less_what_late_work_loses_else_the_results():
    made = report(points={"ann": 4.0, "bob": 5.0}, scores=[score("ann", 6.0, late_penalty=1.5)], problems={"cy": "No."})
    assert made.points == {"ann": 4.5, "bob": 5.0}
    assert made.problems == {"cy": "No."}


@pytest.mark.parametrize(
    ("names", "called"), [({"ann": "Ann Lee"}, "Ann Lee (ann)"), ({"ann": "ann"}, "ann"), ({}, "ann")]
)
def test_a_learner_is_called_by_name_with_the_id(names, called):
    made = report(names=names)
    assert made.called("ann") == called
    assert Term("course", [made]).called("ann") == called


def test_a_term_has_the_points_of_each_assignment_and_none_without_a_submission():
    first = report("a", points={"ann": 1.0}, names={"ann": "Ann", "bob": "Bob"})
    second = report("b", points={"ann": 2.0, "bob": 3.0}, names={"bob": "Bob", "cy": "Cy"})
    term = Term("course", [first, second])
    assert term.names == {"ann": "Ann", "bob": "Bob", "cy": "Cy"}
    assert term.table == {"ann": [1.0, 2.0], "bob": [None, 3.0], "cy": [None, None]}


def test_misconceptions_that_recur_are_counted_by_learner_and_by_answer(monkeypatch):
    named = {key: SimpleNamespace(did=f"You {key}.") for key in ("flip", "twice", "late", "alone")}
    monkeypatch.setattr(of_class, "misconceptions", lambda _: named)

    def belief(key, *learners):
        return Belief("e", key, "", "", learners)

    first = report(beliefs=[belief("twice", "ann"), belief("late", "ann", "bob"), belief("alone", "cy")])
    second = report(beliefs=[belief("twice", "ann"), belief("flip", "bob", "cy"), belief("made-copy#2", "ann", "bob")])
    third = report(beliefs=[belief("late", "ann")])
    assert Term("course", [first, second, third]).recurring == [
        ("late", "You late.", 2, 3),
        ("flip", "You flip.", 2, 2),
        ("twice", "You twice.", 1, 2),
        ("alone", "You alone.", 1, 1),
    ]
    tie = report(beliefs=[belief("twice", "ann"), belief("alone", "ann")])
    assert [row[0] for row in Term("course", [tie]).recurring] == ["alone", "twice"]


def test_an_assignment_counts_the_learners_whose_answers_no_journal_has(monkeypatch, tmp_path):
    made = Class(asked=(COPY.id,))
    for who in ("ann", "bob"):
        made.answer(who, COPY, 1.0)
    made.learners["cy"] = Learner("cy", problem="none")
    gathered = made.gathered()
    monkeypatch.setattr(of_class, "Gathered", SimpleNamespace(of=lambda *_: gathered))
    monkeypatch.setattr(of_class.gradebook, "waiting_by_cell", lambda *_: {"q": 2})
    assert of_class.of_assignment(tmp_path, "hw").unkept == 0
    del gathered.entries["bob"], gathered.entries["cy"]
    made = of_class.of_assignment(tmp_path, "hw")
    assert (made.unkept, made.waiting, made.missing) == (1, {"q": 2}, [])


def test_a_term_is_in_the_order_of_its_deadlines(monkeypatch, tmp_path):
    with pytest.raises(CourseError, match="no results yet"):
        of_class.of_term(tmp_path)
    (tmp_path / ".gpubook").mkdir()
    dues = {"a": DUE + timedelta(1), "b": DUE, "c": None, "d": None, "gone": DUE}
    for name in dues:
        (tmp_path / ".gpubook" / f"{name}.results.json").touch()
    monkeypatch.setattr(of_class.gradebook, "scores", lambda _: dict.fromkeys(set(dues) - {"gone"}))
    monkeypatch.setattr(of_class, "of_assignment", lambda _, name: report(name, scores=[score("ann", due=dues[name])]))
    assert [one.name for one in of_class.of_term(tmp_path).reports] == ["b", "a", "c", "d"]


@pytest.mark.parametrize(
    ("scores", "due"),
    [
        ([], None),
        ([score("ann")], None),
        ([score("ann", due=DUE, graded=True), score("bob", due=DUE + timedelta(1), graded=True)], DUE),
        ([score("ann", due=DUE, graded=True), score("bob", due=DUE + timedelta(1))], DUE + timedelta(1)),
        ([score("ann", graded=False), score("bob", due=DUE, graded=True)], DUE),
    ],
)
def test_an_assignments_deadline_is_that_of_a_learner_without_an_extension(scores, due):
    """One who has submitted may have one of one's own; of those the first counts."""
    assert of_class._due(report(scores=scores)) == due


@pytest.mark.parametrize(
    ("most", "width", "count"),
    [
        (10, 1, 10),
        (10.1, 2, 6),
        (20, 2, 10),
        (20.5, 2.5, 9),
        (25, 2.5, 10),
        (26, 5, 6),
        (50, 5, 10),
        (51, 10, 6),
        (1, 0.1, 10),
        (0.3, 0.05, 6),
        (100, 10, 10),
        (3, 0.5, 6),
    ],
)
def test_a_histogram_has_at_most_ten_bins_of_a_round_width(most, width, count):
    bins = histogram([], most)
    assert len(bins) == count
    assert bins[0] == (0, pytest.approx(width), 0)
    assert bins[-1][:2] == (pytest.approx(width * (count - 1)), pytest.approx(width * count))


def test_a_score_on_a_bound_is_in_the_bin_above_it_and_the_highest_in_the_last():
    counts = [number for _, _, number in histogram([0, 1, 0.3 / 0.1, 9.999, 10, -1], 10)]
    assert counts == [2, 1, 0, 1, 0, 0, 0, 0, 0, 2]
    assert len(histogram([0, 12], 10)) == 6
    assert histogram([0.0], 0.0) == []
    assert len(histogram([], 0.01)) == 10


def test_a_summary_has_mean_median_and_range():
    assert summary([1.0, 2.0, 6.0], 10.0) == "mean 3 of 10 (30 %), median 2, from 1 to 6"
    assert summary([1.0, 2.0, 6.0], 0.0) == "mean 3 of 0, median 2, from 1 to 6"
