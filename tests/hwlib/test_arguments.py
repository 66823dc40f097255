import re

import numpy as np
import pytest

from hwlib.arguments import as_int, is_number


@pytest.mark.parametrize("value", [3, 3.0, np.int64(3), np.float32(3)], ids=repr)
def test_what_counts_is_an_int_whatever_it_came_as(value):
    assert type(as_int("n", value)) is int
    assert as_int("n", value) == 3


@pytest.mark.parametrize(
    "value", [0, -1, 2.5, 7, float("nan"), float("inf"), True, "3", None, [3], np.arange(2), 3 + 0j], ids=repr
)
def test_what_does_not_count_is_named(value):
    with pytest.raises(ValueError, match=rf"^ring: n .*1 to 6, .*{re.escape(repr(value))}$"):
        as_int("ring: n", value, 1, 6)


def test_a_truth_value_is_no_number():
    assert is_number(np.float64(1))
    assert not is_number(True)
    assert not is_number("1")
