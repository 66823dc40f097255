"""Where a wrong result is right is said as it is."""

import numpy as np
import pytest

from autograder.ranks import whereabouts
from autograder.ranks.resemblance import Resemblance

RIGHT = np.random.default_rng(7).normal(size=(4, 6))
X = np.random.default_rng(8).normal(size=(4, 6))


def _wrong(*places, shape=(6, 4)):
    wrong = np.zeros(shape, bool)
    for place in places:
        wrong[place] = True
    return wrong


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (_wrong(slice(None)), " None of its 24 elements is right."),
        (_wrong(slice(2, 6)), " It is right at 0 to 1 of the 6 along axis 0, and the others are wrong."),
        (_wrong(3), " It is right at 0 to 2 and 4 to 5 of the 6 along axis 0, and the others are wrong."),
        (_wrong((3, 1)), " It is right at 0 to 2 and 4 to 5 of the 6 along axis 0, and some of the others are wrong."),
        (_wrong((slice(None), 3)), " It is right at 0 to 2 of the 4 along axis 1, and the others are wrong."),
        (np.eye(4, dtype=bool), " 12 of its 16 elements are right."),
        (np.array([True, False, False, False]), " It is right at 1 to 3 of the 4, and the others are wrong."),
        (np.array(True), ""),
    ],
)
def test_where_elements_are_right_is_told_by_axis(wrong, said):
    assert whereabouts.of_elements(wrong) == said


@pytest.mark.parametrize(
    ("right", "said"),
    [
        ({"y": False}, ""),
        ({"y": False, "dx": True}, " Its dx is right."),
        ({"y": False, "dx": False}, " Nor is any other of its 2 results right."),
        ({"y": False, "dx": True, "dA": False}, " Of its other results dx is right, and no more."),
        ({"y": False} | {f"g[{i}]": True for i in range(9)}, " All of its other 9 results are right."),
        ({"y": False} | {f"g[{i}]": i < 5 for i in range(10)}, " 5 of its other 10 results are right."),
        (
            {"y": False, "a": True, "b": False, "c": True, "d": True},
            " Of its other results b is wrong too, and no more.",
        ),
    ],
)
def test_the_other_results_are_told(right, said):
    assert whereabouts.of_results(right, "y") == said


@pytest.mark.parametrize(
    ("right", "said"),
    [
        ([False], ""),
        ([False, False], " It is wrong on both ranks."),
        ([False, False, False], " It is wrong on every rank."),
        ([False, True], " On the other rank it is right."),
        ([False, True, True], " On all other ranks it is right."),
        ([False, True, True, False], " On ranks 1 to 2 it is right."),
        ([False, *([True, False] * 4)], " It is right on 4 of 9 ranks."),
    ],
)
def test_the_other_ranks_are_told(right, said):
    assert whereabouts.of_ranks(right, 0) == said


@pytest.mark.parametrize(
    ("got", "reason"),
    [
        (2 * X - RIGHT, "too-far"),
        (X + 0.5 * (RIGHT - X), "too-far"),
        (RIGHT + 0.01 * X, "with-another"),
        (RIGHT - 3 * X, "with-another"),
        (RIGHT + 0.7, "all-shifted"),
        (RIGHT + np.arange(4)[:, None], "rows-shifted"),
        (RIGHT * np.arange(1, 7), "rows-multiplied"),
        (1 - RIGHT, "ones-complement"),
        (RIGHT**2, "squared"),
        (np.tanh(RIGHT), None),
        (RIGHT + 1e-6 * X * X, None),
    ],
)
def test_a_combination_is_recognised_where_it_holds_of_all_elements(got, reason):
    resemblance = Resemblance(got, RIGHT, {"x": X}, {"n": 2}, 1e-9)
    finding = next(resemblance.combined({}), None)
    assert (finding and finding.reason) == reason
