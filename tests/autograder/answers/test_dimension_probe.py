import re

import pytest

from autograder.answers.dimension_probe import dimension_of, scaled, wrong_dimension
from hwlib.units import GB, us

UNITS = {"n": "1", "S": "B", "alpha": "s", "W": "B/s"}
HERE = (8, 1 * GB, 2 * us, 450 * GB)


def test_arguments_are_rewritten_in_the_smaller_unit():
    assert scaled(HERE, list(UNITS.values()), "B") == (8, 2 * GB, 2 * us, 900 * GB)
    assert scaled(HERE, list(UNITS.values()), "s") == (8, 1 * GB, 4 * us, 225 * GB)


@pytest.mark.parametrize(
    ("function", "found"),
    [
        (lambda n, S, alpha, W: 2 * (n - 1) * alpha + 2 * (n - 1) / n * S / W, {"s": 1}),
        (lambda n, S, alpha, W: max(alpha, S / W), {"s": 1}),
        (lambda n, S, alpha, W: S / n, {"B": 1}),
        (lambda n, S, alpha, W: S * W, {"B": 2, "s": -1}),
        (lambda n, S, alpha, W: n, {}),
        (lambda n, S, alpha, W: -S / W**2, {"B": -1, "s": 2}),
        (lambda n, S, alpha, W: 1e15 * alpha + S, None),
        (lambda n, S, alpha, W: n * alpha + 1, None),
    ],
)
def test_the_dimension_is_found_by_asking(function, found):
    assert dimension_of(lambda args: function(*args), HERE, list(UNITS.values())) == found


@pytest.mark.parametrize("result", ["2 us", None, 0, float("inf"), True])
def test_a_result_without_a_size_has_no_dimension_to_find(result):
    with pytest.raises(ValueError, match=rf"^{re.escape(repr(result))} .*\b0\b"):
        dimension_of(lambda args: result, HERE, list(UNITS.values()))
    assert wrong_dimension(lambda args: result, HERE, UNITS, "s") is None


@pytest.mark.parametrize(
    ("function", "reason", "units"),
    [
        (lambda n, S, alpha, W: W / S, "other-unit", {"s", "1/s"}),
        (lambda n, S, alpha, W: S, "other-unit", {"s", "B"}),
        (lambda n, S, alpha, W: 3 * n, "plain-number", {"s"}),
        (lambda n, S, alpha, W: S / W + n, "mixed-units", {"s"}),
    ],
)
def test_a_wrong_dimension_is_found_and_both_units_are_named(function, reason, units):
    found = wrong_dimension(lambda args: function(*args), HERE, UNITS, "s")
    assert found.reason == reason
    assert units <= set(re.findall(r"[\w/^]+", found.say))


def test_a_right_dimension_is_no_finding():
    assert wrong_dimension(lambda args: 3 * args[1] / args[3], HERE, UNITS, "s") is None


@pytest.mark.parametrize(("share", "found"), [(5e-7, {"s": 1}), (5e-6, None)])
def test_a_dimension_is_a_whole_power_up_to_rounding(share, found):
    """A power of two that is off by less than 1e-6 is rounding, and by more a second term."""
    assert dimension_of(lambda args: args[2] ** (1 + share), HERE, list(UNITS.values())) == found
    assert dimension_of(lambda args: args[2] ** (1 - share), HERE, list(UNITS.values())) == found


@pytest.mark.parametrize(
    ("value", "unit"), [(True, "B"), ("2 GB", "B"), (None, "B"), ([1, 2], "B"), (3, "1"), ("ring", "1")]
)
def test_what_is_no_number_or_has_no_such_unit_is_left_as_it_is(value, unit):
    (rewritten,) = scaled([value], [unit], "B")
    assert rewritten is value


def test_a_unit_that_all_arguments_share_is_tried_too():
    assert dimension_of(lambda args: args[0] * args[1], (3.0, 5.0), ["B", "B"]) == {"B": 2}
    assert dimension_of(lambda args: args[0] / args[1], (3.0, 5.0), ["B", "B"]) == {}
