"""A function takes so many lines and no more."""

import sys

import pytest

from autograder.values.step_limit import TooManySteps, limited


def three_lines():
    total = 1
    total += 1
    return total


@pytest.mark.parametrize(("steps", "enough"), [(2, False), (3, True), (4, True)])
def test_a_line_is_a_step_and_as_many_as_allowed_are_taken(steps, enough):
    if enough:
        assert limited(three_lines, steps) == 2
        return
    with pytest.raises(TooManySteps) as raised:
        limited(three_lines, steps)
    assert raised.value.args == (steps,)


def test_lines_of_what_it_calls_count_too():
    def twice():
        three_lines()
        return three_lines()

    assert limited(twice, 8) == 2
    with pytest.raises(TooManySteps):
        limited(twice, 7)


def test_the_limit_ends_with_the_function():
    before = sys.gettrace()
    with pytest.raises(TooManySteps):
        limited(three_lines, 0)
    assert sys.gettrace() is before
