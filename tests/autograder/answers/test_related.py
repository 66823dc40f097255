"""Numbers that are related to the right one, and what is said of them."""

import pytest

from autograder.answers.prompt_numbers import Number
from autograder.answers.related import related

TIMES = [Number("4 ms", 4e-3, "s"), Number("2.5 ms", 2.5e-3, "s"), Number("50 GB/s", 5e10, "B/s")]


def reasons(answer, want, unit, numbers=(), counts=()):
    every = related(want, numbers, unit, counts)
    return {reason for _, value, reason in every if value == pytest.approx(answer, rel=1e-6)}


@pytest.mark.parametrize(
    ("answer", "want", "unit", "reason"),
    [
        (250.0, 4e-3, "s", "turned-over"),
        (3.57, 2.57, "1", "off-by-one"),
        (1.57, 2.57, "1", "off-by-one"),
        (0.1, 0.9, "1", "other-part"),
        (197.0**2, 197.0, "1", "power-of-answer"),
        (20.0, 400.0, "1", "power-of-answer"),
        (384.0, 281.25, "FLOP/B", "rounded-to"),
        (16.0, 24.0, "1", "rounded-to"),
        (32.0, 24.0, "1", "rounded-to"),
        (2.1e-3, 4.6e-3, "s", "off-by-number"),
        (1.5e-3, 4.6e-3, "s", "number-of-prompt"),
        (7 * 4.6e-3, 4.6e-3, "s", "factor-of-prompt"),
    ],
)
def test_a_related_number_is_recognised(answer, want, unit, reason):
    assert reason in reasons(answer, want, unit, TIMES, [("8", 8.0)])


@pytest.mark.parametrize(("answer", "want", "unit"), [(4.0, 16.0, "1"), (5e10, 4e-3, "s"), (4.6e-3, 3e-3, "s")])
def test_another_number_is_not(answer, want, unit):
    assert not reasons(answer, want, unit, TIMES, [("8", 8.0)])


def test_of_nothing_there_is_no_relation():
    assert list(related(0.0, TIMES, "s", [])) == []
