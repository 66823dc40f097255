"""Conditions of designs that decide, and those that may be dropped without a change of the best record."""

from dataclasses import replace

import pytest

from autograder.answers import Condition, Design, Field, Known, Par
from autograder.answers.own_numbers import own_numbers
from autograder.answers.selftest import selftest
from autograder.declaration import Exercise, Mistake, load_bank
from tests.banks import SOLUTIONS

FIELDS = {
    "ranks": Field("the ranks", 1, 64, whole=True),
    "order": Field("their order", options=("ring", "tree")),
    "time": Field("the time that you promise", 0.001, 100, unit="s"),
}
MEMORY = Condition("the memory", lambda S, ranks: S / ranks, at_most=lambda S: S / 8)
LETTER = Condition(
    "the error of the letter", lambda S, ranks, order, time: abs(time / seconds(S, ranks, order) - 1), at_most=0.03
)
PRESENT = Condition("the ranks that there are", lambda ranks: ranks, at_most=64)  # as many as the field allows
DEADLINE = Condition("the deadline", lambda S, ranks, order: seconds(S, ranks, order), at_most=lambda S: S / 4)


def seconds(S, ranks, order):
    return S / ranks * (1 if order == "ring" else 2)


def rent(S, ranks, order):
    """The time of the ranks, and a little for each."""
    return ranks * (seconds(S, ranks, order) + 0.01)


def design(*conditions, solution=None, given=({"S": 10.0},)):
    return Exercise(
        id="t-plan",
        prompt="Rent ranks for {S:s}.",
        given=list(given),
        points=2,
        answer=Design(
            FIELDS,
            objective=rent,
            measure="the rent",
            conditions=conditions,
            pars=[Par(1, lambda best: 2 * best), Par(2, lambda best: best)],
            known=[Known(lambda S: rent(S, 8, "ring"), "a search")],
        ),
        solution=solution or (lambda S: {"ranks": 8, "order": "ring", "time": seconds(S, 8, "ring")}),
        mistakes=(Mistake({"ranks": 64, "order": "tree", "time": 1}, "All of them?"),),
    )


def undecided(*conditions, **changes):
    """What the self-test says of conditions that never decide."""
    exercise = design(*conditions, **changes)
    built = exercise.answer.with_built(exercise.answer.build(exercise))
    lines = selftest(replace(exercise, answer=built))
    return [line for line in lines if "never decides" in line]


def test_a_learners_prediction_is_what_the_measure_does_not_take():
    assert own_numbers(FIELDS, rent) == ["time"]


def test_a_letters_own_number_decides_and_follows_what_else_is_changed():
    # Fewer ranks break the memory and make the letter wrong as well, unless its number is brought along.
    assert undecided(MEMORY, LETTER) == []


@pytest.mark.parametrize("condition", [PRESENT, DEADLINE], ids=lambda one: one.name)
def test_a_condition_that_never_decides_is_named(condition):
    (line,) = undecided(MEMORY, LETTER, condition)
    assert condition.name in line


def test_a_condition_that_decides_in_one_variant_is_enough():
    early = Condition(
        "the deadline",
        lambda S, ranks, order: seconds(S, ranks, order),
        at_most=lambda S: 1.25 if S < 20 else 100,
    )
    both = [{"S": 10.0}, {"S": 20.0}]
    assert undecided(MEMORY, early, given=both) != []  # the memory asks for as many ranks
    assert undecided(early, given=both[:1]) == []


def test_a_record_that_the_search_misses_may_be_named():
    odd = Condition("no thirteen", lambda ranks, time: float(time == 77.25 and ranks == 8), at_most=0)
    named = Condition("no thirteen", odd.of, at_most=0, without={"ranks": 8, "order": "ring", "time": 77.25})
    wrong = Condition("no thirteen", odd.of, at_most=0, without={"ranks": 8, "order": "ring", "time": 77.5})
    assert len(undecided(MEMORY, odd)) == len(undecided(MEMORY, wrong)) == 1
    assert undecided(MEMORY, named) == []


def test_what_a_domain_has_inside_decides_which_machine_is_rented():
    exercise = load_bank(SOLUTIONS / "17-machines")["machines-scenario"]
    names = exercise.solution.__globals__
    offers, given = names["_OFFERS"], exercise.variant()
    before = exercise.solution(**given)
    rates = {machine: (*row[:3], row[3] * 1000000.0, *row[4:]) for machine, row in offers.items()}
    saved = dict(offers)
    try:
        offers.update(rates)
        assert exercise.solution(**given)["machine"] != before["machine"]
    finally:
        offers.update(saved)
