"""Another number in the place of one: which rows of a data sheet are named, and which numbers change places."""

import math

import pytest

from autograder.answers import Quantity
from autograder.answers.exchanged import FEWEST, exchanged, rows_named
from autograder.answers.prompt_numbers import numbers_of
from autograder.declaration import Exercise
from hwlib.specs import accelerators

H100 = accelerators["h100-sxm"]


def exercise(prompt, **given):
    return Exercise(
        id="t-x",
        prompt=prompt,
        answer=Quantity("s"),
        given={name: [value] for name, value in given.items()},
        solution=(lambda S, W: S / W) if len(given) == 2 else 1.0,
    )


def named(prompt, unit):
    return {value for _, value in rows_named(exercise(prompt), {}, unit)}


def test_the_rows_of_a_chip_that_the_prompt_names_are_those_in_the_unit():
    assert H100.hbm_bandwidth in named("How long on an H100?", "B/s")
    assert H100.hbm_bandwidth in named("How long on H100s?", "B/s")
    assert H100.hbm_bytes not in named("How long on an H100?", "B/s")
    assert named("How long on an H1000?", "B/s") == set()
    assert all(name.endswith(")") and "H100" in name for name, _ in rows_named(exercise("An H100?"), {}, "B"))


def test_counts_that_are_small_or_a_power_of_two_are_not_named():
    counts = named("How many on an H100?", "1")
    assert H100.sms in counts
    assert all(count > FEWEST and not math.log2(count).is_integer() for count in counts)


def test_numbers_of_one_dimension_change_places():
    one = exercise("{S:B} at {W:B/s}, and 8 GB?", S=6e9, W=3e9)
    given = one.variant()
    told = dict(exchanged(one, given, numbers_of(one, given)))
    values = [value for say, value in told.items() if "in place of 6 GB" in say and "8 GB" in say]
    assert values == [pytest.approx(8e9 / 3e9)]
    assert not any("exchanged" in say for say in told)  # bytes and bytes a second


def test_what_is_a_power_of_two_from_the_right_answer_has_likelier_causes():
    one = exercise("{S:B} at {W:B/s}, and 12 GB?", S=6e9, W=3e9)
    given = one.variant()
    assert not any("12 GB" in say for say, _ in exchanged(one, given, numbers_of(one, given)))
