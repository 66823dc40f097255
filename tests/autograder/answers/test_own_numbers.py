"""A learner's own numbers in a record, and the slips that are looked for in them."""

from dataclasses import replace

import pytest

from autograder.answers import Condition, Design, Field, Known, Par
from autograder.answers.own_numbers import own_numbers
from autograder.declaration import Exercise, Mistake

UNITS = {"s": 2.5, "h": 700.0, "day": 45.0, "B": 3e8, "USD": 2e6, "1": 0.25}
FAR_OFF = 2  # times: where no slip is


def letter(unit, name="own", off=None):
    """A design that asks for one rank and a number, which is to be right within 3 %."""
    right = UNITS[unit if name == "own" else {"hours": "h", "days": "day"}[name]]
    of = off or (lambda **names: abs(names[name] / right - 1))
    field = Field("your number", 1e-12, 1e18, unit=unit)
    exercise = Exercise(
        id="t-letter",
        prompt="Say how much.",
        answer=Design(
            {"ranks": Field("ranks", 1, 8, whole=True), name: field},
            objective=lambda ranks: ranks,
            conditions=[Condition("the error", namely(of, name), at_most=0.03)],
            pars=[Par(1, lambda best: best)],
            known=[Known(1, "counting")],
        ),
        solution={"ranks": 1, name: right},
        mistakes=(Mistake({"ranks": 8, name: right}, "All of them?"),),
    )
    return replace(exercise, answer=exercise.answer.with_built(exercise.answer.build(exercise))), right


def namely(of, name):
    """A function of one number, under this name."""
    names = {"own": lambda own: of(own=own), "hours": lambda hours: of(hours=hours), "days": lambda days: of(days=days)}
    return names[name]


def told(unit, factor, name="own", off=None):
    exercise, right = letter(unit, name, off)
    return exercise.judge({"ranks": 1, name: right * factor})


@pytest.mark.parametrize(
    ("unit", "name", "factor", "reason", "word"),
    [
        ("s", "own", 1e3, "prefix", "in ms"),
        ("s", "own", 1e6, "prefix", "in us"),
        ("s", "own", 1 / 60, "prefix", "in minutes"),
        ("s", "own", 1 / 3600, "prefix", "in hours"),
        ("h", "own", 1 / 24, "prefix", "in days"),
        ("h", "own", 24, "prefix", "factor of 24"),
        ("day", "own", 24, "prefix", "in hours"),
        ("1", "hours", 1 / 24, "prefix", "in days"),
        ("1", "days", 24, "prefix", "in hours"),
        ("1", "own", 100, "percent", "per cent"),
        ("USD", "own", 1e-3, "prefix", "thousands"),
        ("B", "own", 8, "bits", "bits"),
        ("B", "own", 2, "factor-two", "factor of 2"),
        ("B", "own", 1e-9, "prefix", "1e9"),
    ],
)
def test_a_slip_in_a_letters_own_number_is_named(unit, name, factor, reason, word):
    verdict = told(unit, factor, name)
    assert (verdict.score, verdict.kind, verdict.reason) == (0, "slip", reason)
    assert f"`{name}`" in verdict.say
    assert word in verdict.say
    assert "Infeasible" in verdict.say


@pytest.mark.parametrize(("unit", "factor"), [("s", 8), ("s", 100), ("s", 24), ("1", 8), ("day", 1.0737), ("B", 1.3)])
def test_another_factor_is_only_infeasible(unit, factor):
    verdict = told(unit, factor)
    assert (verdict.kind, verdict.reason) == ("wrong", "over-limit")


@pytest.mark.parametrize(
    "off", [lambda own: own / 2.5 - 1 if own > 2.5 else 1 - own / 2.5, lambda own: own / 2.5 - 0.98]
)
def test_a_condition_may_give_an_error_or_nearly_a_ratio(off):
    assert told("s", 1e3, off=off).reason == "prefix"


def test_a_right_number_is_left_alone():
    assert told("s", 1.02).score == 1


def test_a_number_out_of_range_is_told_in_what_it_is_read():
    field = Field("the time", 0, 10, unit="s")
    for value, read in ((11, True), ("11", True), ("11 s", False)):
        with pytest.raises(ValueError, match="10 s was expected") as error:
            field.read(value, "time")
        assert ("read in s" in str(error.value)) is read


def test_what_the_measure_takes_is_not_a_learners_own():
    exercise, _ = letter("s")
    assert own_numbers(exercise.answer.fields, exercise.answer.objective) == ["own"]
