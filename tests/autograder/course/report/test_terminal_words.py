"""What a report in a terminal says of each number, on both sides of where its words change."""

from types import SimpleNamespace

import pytest

from autograder.course.report import terminal_report
from autograder.course.report.copies import Copy
from autograder.course.report.items import ItemStatistics
from autograder.course.report.terminal_report import assignment_row, hardest, how_alike


@pytest.mark.parametrize(
    ("share", "book", "usual", "words"),
    [
        (1.0, False, False, "the same"),
        (0.996, False, False, "alike by 100 % or more"),
        (0.55, False, False, "alike by 55 % or more"),
        (1.0, True, False, "the solution"),
        (0.75, True, False, "nearly the solution, alike by 75 % or more"),
        (1.0, False, True, "the same; so many have it that it may be the usual way to write it"),
        (0.6, False, True, "alike by 60 % or more; so many have it that it may be the usual way to write it"),
    ],
)
def test_a_group_of_copies_in_words(share, book, usual, words):
    assert how_alike(Copy("mean", ("ann", "bob"), share, book, usual)) == words


@pytest.mark.parametrize(("value", "shown"), [(None, "–"), (0.0, "0"), (0.125, "12"), (1.0, "100")])
def test_shares_are_in_percent(value, shown):
    assert terminal_report._share(value) == shown


def test_a_line_names_at_most_twelve_learners():
    names = [f"l{number}" for number in range(14)]
    assert terminal_report._names(names[:12]) == ", ".join(names[:12])
    assert terminal_report._names(names[:13]) == ", ".join(names[:12]) + " and 1 more"
    assert terminal_report._names(names) == ", ".join(names[:12]) + " and 2 more"
    assert terminal_report._line(" a \n b\t c ") == "a b c"


def report(points, most=10.0, missing=(), waiting=None, items=()):
    result = SimpleNamespace(max_points=most)
    return SimpleNamespace(
        name="hw", points=points, result=result, missing=list(missing), waiting=waiting or {}, items=list(items)
    )


def test_the_row_of_an_assignment():
    made = report({"ann": 3.0, "bob": 4.0, "cy": 8.0}, missing=["dan"], waiting={"why": 2, "how": 1})
    assert assignment_row(made) == ["3", "1", "10", "5", "50", "4", "3"]
    assert assignment_row(report({})) == ["0", "0", "10", "–", "–", "–", ""]
    assert assignment_row(report({"ann": 0.0}, most=0.0)) == ["1", "0", "0", "0", "–", "0", ""]


def item(name, right, discrimination=None):
    outcomes = {} if right is None else {"right": round(100 * right), "wrong": 100 - round(100 * right)}
    return ItemStatistics(1, name, "", 1.0, outcomes, right, discrimination)


def test_the_exercises_to_look_at_are_few_right_or_below_zero():
    items = [
        item("easy", 0.9, 0.5),
        item("odd", 0.7, -0.6),
        item("hard", 0.2),
        item("none", None),
        item("half", 0.5, 0.9),
    ]
    names = [one.exercise for _, one in hardest(SimpleNamespace(reports=[report({}, items=items)]))]
    assert names == ["odd", "hard", "half", "easy"]


@pytest.mark.parametrize(("count", "shown"), [(9, 9), (10, 10), (11, 10)])
def test_at_most_ten_exercises_are_to_look_at(count, shown):
    items = [item(f"e{number}", number / 20) for number in range(count)]
    rows = hardest(SimpleNamespace(reports=[report({}, items=items)]))
    assert [(name, one.exercise) for name, one in rows] == [("hw", f"e{number}") for number in range(shown)]
