"""What a wrong array resembles: each is recognised, what hardly differs from it is not, and nothing makes it fail."""

import sys

import numpy as np
import pytest

from autograder.ranks.buffers import Case
from autograder.ranks.outcomes import wrong_result
from autograder.ranks.resemblance import Resemblance
from hwlib import plain

WANT = np.array([[3.0, -1.5, 0.25, 7.0], [0.5, 2.0, -4.0, 1.0], [6.0, -2.5, 8.0, 5.5]])
X = np.linspace(-1, 1, 12).reshape(3, 4)
CASE = Case(4, sizes={"m": 12, "b": 3, "inner": 2})


def resembles(got, want=WANT, case=CASE, inputs=None):
    resemblance = Resemblance.of(case, np.asarray(got), np.asarray(want), inputs or {"x": X}, 1e-12)
    return next(iter((*resemblance.numbers(), *resemblance.order())), None)


def reason(*args, **options):
    found = resembles(*args, **options)
    return found and found.reason


def but(array, at, value):
    changed = np.array(array, dtype=float)
    changed[at] = value
    return changed


@pytest.mark.parametrize(
    ("got", "expected"),
    WHOLE := [
        (WANT * (1 + 9e-4), "nearly-right"),
        (WANT + 1e-4, "nearly-right"),
        (WANT * 4, "n-times"),
        (WANT / 4, "nth-part"),
        (-WANT / 4, "nth-part"),
        (WANT / 12, "other-multiple"),
        (WANT * 36, "other-multiple"),
        (WANT * 2, "other-multiple"),
        (WANT * 1.7, "same-multiple"),
        (-WANT, "other-sign"),
        (np.abs(WANT), "some-signs"),
        (WANT[::-1], "reversed"),
        (WANT[:, ::-1], "reversed"),
        (np.roll(WANT, 1, 0), "rolled"),
        (np.roll(WANT, -1, 1), "rolled"),
        (WANT[:, [1, 0, 2, 3]], "rows-exchanged"),
        (WANT.reshape(-1)[[1, 0, *range(2, 12)]].reshape(3, 4), "elements-exchanged"),
        (WANT + X, "input-added"),
        (WANT - X, "input-missing"),
        (np.maximum(WANT, 0), "negatives-lost"),
        (but(WANT, (slice(None), 2), 0), "only-zeros-wrong"),
    ],
)
def test_what_a_whole_array_is_has_a_name_and_one_element_off_has_none(got, expected):
    assert reason(got) == expected
    assert reason(but(got, (1, 1), 19.0)) is None


def test_the_page_with_its_small_numpy_recognises_the_same(monkeypatch):
    arrays = [(plain.array(got.tolist()), expected) for got, expected in WHOLE]
    want, x = plain.array(WANT.tolist()), plain.array(X.tolist())
    monkeypatch.setitem(sys.modules, "numpy", plain)
    for got, expected in arrays:
        resemblance = Resemblance.of(CASE, got, want, {"x": x}, 1e-12)
        assert next(iter((*resemblance.numbers(), *resemblance.order()))).reason == expected


def test_an_array_of_square_blocks_may_be_transposed():
    cube = np.arange(27.0).reshape(3, 3, 3) ** 1.5
    assert reason(WANT[:, :3].T, WANT[:, :3]) == "transposed"
    assert reason(cube.transpose(0, 2, 1), cube) == "transposed"


def test_the_sizes_of_a_factor_are_all_named():
    assert "m = 12" in resembles(WANT / 12).say
    say = resembles(WANT / 2).say
    assert all(size in say for size in ("inner = 2", "n/inner = 2")), say
    assert "b x m = 36" in resembles(WANT * 36).say.replace("m x b", "b x m")
    assert reason(WANT * 2, case=Case(3, sizes={"b": 5})) == "twice"
    assert reason(WANT / 2, case=Case(3, 6, options={"root": 2})) == "half"


def test_no_multiple_of_a_single_number_is_a_finding_but_that_of_a_size():
    assert reason([2.0 * 1.7], [2.0]) is None
    assert reason([2.0 / 12], [2.0]) == "other-multiple"
    assert reason([1.7, 0.0, 3.4], [1.0, 0.0, 2.0]) is None
    assert reason([1.7, 1.7, 3.4], [1.0, 1.0, 2.0]) == "same-multiple"


@pytest.mark.parametrize(("off", "expected"), [(9e-4, "nearly-right"), (1.1e-3, None)])
def test_the_edge_of_nearly(off, expected):
    wobble = 1 + off * np.array([1, -1, 1, -1])
    assert reason(WANT * wobble) == expected


def test_small_numbers_are_not_near_because_there_is_a_large_one():
    want = np.array([1000.0, 0.3, 0.2, 0.1])
    assert reason(but(want, 1, 0.309), want) == "nearly-right"
    assert reason(but(want, 1, 0.32), want) is None


def test_whole_numbers_are_near_where_a_narrower_type_rounds_them():
    large = np.array([(1 << 54) + 1, 1 << 53])
    assert reason(large - 1, large) == "nearly-right"
    assert reason(np.array([1000, 2001]), np.array([1000, 2000])) is None


def test_a_roll_by_half_of_two_is_a_reversal_and_of_equal_rows_nothing():
    assert reason([1.0, 2.5], [2.5, 1.0]) == "reversed"
    assert reason(np.ones(4), but(np.ones(4), 3, 4)) is None


@pytest.mark.parametrize("want", [WANT, np.zeros((3, 4)), np.full((3, 4), np.inf), np.full((3, 4), 1e308), WANT > 2])
@pytest.mark.parametrize(
    "got",
    [
        np.full((3, 4), np.nan),
        np.full((3, 4), -np.inf),
        but(WANT, 0, np.nan),
        np.full((3, 4), 1.7e308),
        np.full((3, 4), 5e-324),
        np.zeros((3, 4), dtype=bool),
        np.full((3, 4), np.iinfo("int64").min),
        np.full((3, 4), np.iinfo("uint64").max),
        np.ones((3, 4), dtype="float16") * 6e4,
    ],
)
def test_no_number_makes_it_fail_or_warn(got, want):
    resemblance = Resemblance.of(CASE, got, want, {"x": X, "odd": "x", "list": [1]}, 1e-12)
    for found in (*resemblance.numbers(), *resemblance.order()):
        assert found.say.startswith(": ")


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (1,), (1, 1, 1, 1, 1)])
def test_no_shape_makes_it_fail(shape):
    resemblance = Resemblance.of(CASE, np.full(shape, 2.0), np.full(shape, 3.0), np.full(shape, 1.0), 1e-12)
    assert [found.reason for found in (*resemblance.numbers(), *resemblance.order())] in ([], ["input-missing"])


# Of results that are one array

FLAT = Case(3, 6)
INPUTS = [np.array([1.5, 1.25, 1.75, 1.1, 1.9, 1.3]) * (1 + rank / 7) for rank in range(3)]


def wrong(outputs, wanted, collective=""):
    return wrong_result(FLAT, INPUTS, outputs, wanted, collective, 1e-12)


def test_a_mean_for_a_sum_and_another_ranks_result():
    total = sum(INPUTS)
    assert wrong([total / 3] * 3, [total] * 3, "all_reduce").reason == "nth-part"
    scattered = [total[FLAT.block(rank)] for rank in range(3)]
    assert wrong([*scattered[1:], scattered[0]], scattered, "reduce_scatter").reason == "other-rank"
    assert wrong(scattered, scattered, "reduce_scatter") is None


def test_numbers_that_differ_late_and_whole_numbers_of_many_digits():
    total = sum(INPUTS)
    finding = wrong([total * (1 + 1e-9)] * 3, [total] * 3, "all_reduce")
    assert finding.reason == "nearly-right"
    large = np.array([(1 << 54) + 1] * 6)
    finding = wrong([large - 1] * 3, [large] * 3)
    assert (str((1 << 54) + 1) in finding.say, str(1 << 54) in finding.say) == (True, True)
