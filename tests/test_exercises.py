"""Every exercise of the book tests itself, and none asks for what the library hands over."""

from pathlib import Path

import pytest

from autograder.declaration import load_bank
from autograder.selftest import library_overlap, selftest

SOLUTIONS = Path(__file__).resolve().parent.parent / "solutions"
BANKS = [load_bank(path) for path in sorted(SOLUTIONS.glob("*/exercises.py"))]
EXERCISES = [exercise for bank in BANKS for exercise in bank.values()]


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.id)
def test_the_exercise_tests_itself(exercise):
    assert selftest(exercise) == []


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.id)
def test_the_library_is_not_the_answer(exercise):
    assert library_overlap(exercise) == []


def test_ids_are_one_of_a_kind_in_the_whole_book():
    assert len({e.id for e in EXERCISES}) == len(EXERCISES) > 0
