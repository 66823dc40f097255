"""A formula refuses a number that its letter cannot be, and says which, wherever the number hides."""

import math
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import sympy

from hwlib.formula import formula, max_of, sum_of
from tests.hwlib.readings import define


@formula("t", cite="thakur2005")
def ring_time(n, S, alpha, W):
    """Steps of latency, and bytes."""
    return 2 * (n - 1) * alpha + 2 * (n - 1) / n * (S / W)


@formula("t", cite="thakur2005")
def rest_time(n, S, alpha, W):
    """A ring of the others: the inner call may be of no rank at all."""
    return ring_time(n - 1, S, alpha, W)


@formula("t", cite="williams2009")
def uneven_time(S, W, alpha):
    """Over a sequence, twice."""
    return sum_of(x / W for x in S) + max_of(alpha + x / W for x in S)


GOOD = {"n": 8, "S": 1e9, "alpha": 1e-6, "W": 50e9}
RANKS = r"ring_time: n \(ranks in the group\) is at least 1, got "
BYTES = r"ring_time: S \(size of the full buffer\) is at least 0 B, got "
RATE = r"ring_time: W \(bandwidth, one direction\) is above 0 B/s, got "


@pytest.mark.parametrize(
    ("letter", "value", "sentence"),
    [
        ("n", 0, RANKS + "0$"),
        ("n", -3, RANKS + "-3$"),
        ("n", 0.5, RANKS + r"0\.5$"),
        ("n", math.nan, RANKS + "nan$"),
        ("n", False, RANKS + "False$"),
        ("n", np.int64(0), RANKS + r"0\.0$"),
        ("n", np.array([4, 2, 0, -1]), RANKS + r"0\.0$"),
        ("n", np.array([[4.0, 2], [-7, 3]]), RANKS + r"-7\.0$"),
        ("n", np.array(0.0), RANKS + r"0\.0$"),
        ("n", np.array([1, Fraction(1, 2)], object), RANKS + "1/2$"),
        ("S", -1, BYTES + "-1$"),
        ("S", -math.inf, BYTES + "-inf$"),
        ("S", np.float32("nan"), BYTES + "nan$"),
        ("S", np.array([1.0, math.nan]), BYTES + "nan$"),
        ("S", Decimal("nan"), BYTES + "NaN$"),
        ("S", np.array([1j]), BYTES + "1j$"),
        ("W", 0, RATE + "0$"),
        ("W", math.nan, RATE + "nan$"),
        ("alpha", -1e-6, r"ring_time: alpha .* -1e-06$"),
    ],
)
def test_a_number_outside_its_domain_is_named(letter, value, sentence):
    with pytest.raises(ValueError, match=sentence):
        ring_time(**{**GOOD, letter: value})


@pytest.mark.parametrize(
    ("sizes", "got"),
    [
        ([1e6, -2.0, 3], r"-2\.0"),
        ((1e6, math.nan), "nan"),
        (np.array([1, -2]), r"-2\.0"),
        ([np.array([1.0, -4.0]), 2.0], r"-4\.0"),
        ([1e6, "2 MB"], "'2 MB'"),
        (iter([1e6, -2]), "-2"),
    ],
)
def test_an_element_of_a_sequence_is_named(sizes, got):
    with pytest.raises(ValueError, match=rf"uneven_time: S .* 0 B, .*{got}$"):
        uneven_time(sizes, 50e9, 0)


def test_an_iterator_is_read_once_and_used_twice():
    assert uneven_time((x for x in (1.0, 3.0)), 2.0, 1.0) == uneven_time([1.0, 3.0], 2.0, 1.0) == 4.5


def test_a_complex_number_is_no_number_of_this_book():
    with pytest.raises(TypeError, match=r"ring_time: n .*\[rank\], .*2j \(complex\)"):
        ring_time(**{**GOOD, "n": 2j})


@pytest.mark.parametrize("value", [1, 1.0, math.inf, 10**400, Fraction(3, 2), Decimal(3), np.float32(2)])
def test_limits_and_every_kind_of_number_are_allowed(value):
    define("return n*1", "n", "n")(value)


def test_a_buffer_of_nothing_costs_the_steps_and_an_endless_link_costs_nothing_more():
    assert ring_time(8, 0, 1e-6, 50e9) == ring_time(8, 1e9, 1e-6, math.inf) == pytest.approx(14e-6)


def test_symbols_are_not_judged():
    n = sympy.Symbol("n")
    assert ring_time(n, 0, 1, 1) == 2 * n - 2
    assert list(define("return n*1", "n", "n")(np.array([n, 2], object))) == [n, 2]


def test_only_the_outermost_call_checks():
    assert rest_time(1.5, 1e9, 1e-6, 50e9) == ring_time.function(0.5, 1e9, 1e-6, 50e9)
    with pytest.raises(ValueError, match=r"^rest_time: n "):
        rest_time(0, 1e9, 1e-6, 50e9)


def test_after_an_error_inside_the_next_call_checks_again():
    with pytest.raises(ZeroDivisionError, match=r"^rest_time .* n=1, S=8, alpha=0, W=2$"):
        rest_time(1, 8, 0, 2)
    with pytest.raises(ValueError, match=r"^ring_time: n "):
        ring_time(**{**GOOD, "n": 0})


def test_a_call_is_checked_in_every_thread():
    def refusal(n):
        with pytest.raises(ValueError, match="ring_time: n ") as error:
            ring_time(n, 1, 0, 1)
        return int(str(error.value).rpartition(" ")[2])

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(refusal, range(0, -50, -1))) == list(range(0, -50, -1))


def test_a_torch_tensor_is_checked_as_a_whole():
    torch = pytest.importorskip("torch")
    with pytest.raises(ValueError, match="ring_time: n "):
        ring_time(**{**GOOD, "n": torch.tensor([[8.0, 2.0], [0.5, 1.0]])})
    assert ring_time(**{**GOOD, "n": torch.tensor([8.0])}).item() == pytest.approx(ring_time(**GOOD))
