"""Estimates: several numbers that are judged by their median error, and predictions row by row."""

import json

import numpy as np
import pytest

from autograder.answers import Estimates, answer_from
from autograder.answers.selftest import judged, selftest
from autograder.declaration import DeclarationError, Exercise, Mistake
from tests.each import each

ROWS = {"run a": "small", "run b": "large", "run c": "huge"}
WANT = [1.0, 20.0, 200.0]


def make(**changes):
    answer = Estimates(ROWS, "s", rtol=0.1, truth="measured", beside={"a model": lambda: [1.1, 20.0, 160.0]})
    mistakes = Mistake([0.5, 10, 100], "Half of it."), Mistake([3, 60, 600], "Three times.")
    fields = {"answer": answer, "solution": lambda: WANT, "mistakes": mistakes, **changes}
    return Exercise(id="t-runs", prompt="How long? *Exact*.", hints=("Think.",), **fields)


def test_it_tests_itself_as_an_answer_and_as_a_prediction():
    assert selftest(make()) == selftest(make(predict=True)) == []


@each(
    "value",
    [
        WANT,
        tuple(WANT),
        np.array(WANT),
        ["1 s", "20 s", 200],
        {"run c": 200, "run a": "1000 ms", "run b": 20},
        "1 s; 20; 200 s",
        "1, 20, 200",
        "1,20,200",
        "[1, 20, 200]",
        [1.05, 20, 999],
        [1, 1, 200],
    ],
)
def test_half_of_them_must_be_near(value):
    assert judged(make(), value, {}).kind == "right"


@pytest.mark.parametrize(
    ("value", "kind", "reason"),
    [
        ([1.2, 26, 200], "wrong", "median-error"),
        (7, "unreadable", "not-a-list"),
        ([1, 20], "unreadable", "another-count"),
        ("1; 20", "unreadable", "another-count"),
        ([1, 20, ...], "unreadable", "missing-row"),
        ({"run a": 1, "run b": 2}, "unreadable", "missing-row"),
        ([1, 20, "200 B"], "unit", "other-unit"),
        ({**dict(zip(ROWS, WANT, strict=True)), "x": 1}, "unreadable", "unknown-row"),
        ([1, 0, 200], "unreadable", "not-above-zero"),
        ([1, -2, 200], "unreadable", "not-above-zero"),
        ([1, True, 200], "unreadable", "truth-value"),
        ([1, [2], 200], "unreadable", "not-a-number"),
        (np.ones((3, 3)), "unreadable", "not-a-list"),
        ([..., ..., ...], "empty", "empty"),
        ([0.5, 10, 100], "mistake", ""),
    ],
)
def test_what_else_is_told(value, kind, reason):
    verdict = judged(make(), value, {})
    assert (verdict.score, verdict.kind) == (0.0, kind)
    assert reason in (verdict.reason, "empty")


def test_a_wrong_one_says_on_which_side_and_where_but_no_number():
    say = judged(make(), [2, 30, 201], {}).say
    assert "off by 50 % or more" in say
    assert "3 of 3 are too high; furthest off are `run a` (too high) and `run b`" in say
    assert not any(text in say for text in ("20 s", "200 s", "20.0"))


def test_a_prediction_is_shown_row_by_row():
    guess = make(predict=True)
    assert judged(guess, [2, 40, 401], {}).score == 1
    table = guess.answer.compared(guess, [2, 40, 401], {}).splitlines()
    assert table[0] == "| name | yours | off | a model | off | measured |"
    assert table[2] == "| run a | 2 s | +100 % | 1.1 s | +10 % | 1 s |"
    assert table[4] == "| run c | 401 s | +100 % | 160 s | −20 % | 200 s |"
    assert table[5] == "| median error |  | 100 % |  | 10 % |  |"
    assert (
        "In the median yours are 2 times what came out; with that factor taken out, half are within 0 %." in table[-1]
    )
    alone = guess.answer.compared(guess, None, {})
    assert "yours" not in alone
    assert "| run b | 20 s | +0 % | 20 s |" in alone


def test_learners_get_the_rows_and_no_number():
    public = json.loads(json.dumps(make(predict=True).public(variants=True)))
    assert not any(str(number) in json.dumps(public) for number in (200, 160, 1.1))
    again = answer_from(public)
    assert (type(again), again.public()) == (Estimates, make().answer.public())
    assert again.recorded(json.loads(json.dumps({"$": "list", "v": [1, 20, 200]}))).say == "Recorded: 1 s; 20 s; 200 s."


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"answer": Estimates({"one": "row"}, "s")}, "1 rows"),
        ({"answer": Estimates({"a|b": "", "c": ""}, "s")}, "one line of words"),
        ({"answer": Estimates(ROWS, "s", rtol=2)}, "tolerance between 0 and 1"),
        ({"solution": [1, 2]}, "a number above 0 for each"),
        ({"mistakes": (Mistake([1, 0, 2], "Zero."),)}, "a number above 0 for each"),
        ({"answer": Estimates(ROWS, "s", beside={"a model": [1]})}, "a number above 0 for each"),
    ],
)
def test_a_declaration_is_checked(changes, said):
    with pytest.raises(DeclarationError, match=said):
        make(**changes)


def test_mistakes_that_are_right_or_alike_are_found():
    assert (
        "within tolerance"
        in make(mistakes=(Mistake([1, 20, 600], "One."),)).answer.collisions(
            make(mistakes=(Mistake([1, 20, 600], "One."),)), {}
        )[0]
    )
    alike = make(mistakes=(Mistake([2, 40, 400], "One."), Mistake([2.01, 40, 400], "Two.")))
    assert "look alike" in alike.answer.collisions(alike, {})[0]


def test_the_page_asks_for_a_number_a_line_and_shows_them_beside_what_came_out():
    exercise = make(predict=True)
    box = exercise.answer.box(exercise)
    assert (box.input, box.lines) == ("lines", 3)
    assert exercise.answer.asked_with() == box.above
    for text in ("2; 30 s; 0.1 min", "2, 30, 6", "2,30,6"):
        assert exercise.judge(exercise.answer.typed(text)).kind == "predicted"
    for text in ("1; 2", "1; 2; 3 B", "1; ; 3", "1; 0; 3"):
        assert exercise.judge(exercise.answer.typed(text)).kind in ("unreadable", "unit"), text
    beside = exercise.answer.compared(exercise, [2, 30, 6], exercise.variant())
    assert "+100 %" in beside
