"""Calculations with units: worked out exactly by the rules of arithmetic, and refused in words where they are none."""

from fractions import Fraction

import pytest

from autograder.values.arithmetic import is_calculation, ungrouped, worked_out
from hwlib.units import UnitError


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("12*2^30/3.35e12 s", Fraction(12 * 2**30, 335 * 10**10), "s"),
        ("3.85 × 10^-3", Fraction(385, 10**5), "1"),
        ("3.846 x 10^-3 s", Fraction(3846, 10**6), "s"),
        ("4 GB / (450 GB/s)", Fraction(4, 450), "s"),
        ("4 GB/450 GB/s", Fraction(4, 450), "s"),
        ("4*GB/(450*GB/s)", Fraction(4, 450), "s"),
        ("2*(3 + 4) ms", Fraction(14, 1000), "s"),
        ("100 MB / 50 GB/s + 2 us * 7", Fraction(2014, 10**6), "s"),
        ("2^10 tokens", Fraction(1024), "token"),
        ("1,024 GPUs / 8", Fraction(128), "GPU"),
        ("2^3^2", Fraction(512), "1"),
        ("-2^2", Fraction(-4), "1"),
        ("6 - 2 - 1", Fraction(3), "1"),
        ("6*70e9*1e6 FLOP", Fraction(42 * 10**16), "FLOP"),
        ("7/2", Fraction(7, 2), "1"),
        ("64 KiB*3", Fraction(196608), "B"),
    ],
)
def test_what_a_calculation_comes_to(text, value, unit):
    assert is_calculation(text)
    worked = worked_out(text)
    assert (worked.value, worked.unit) == (value, unit)


@pytest.mark.parametrize(
    ("text", "value", "unit", "reading"),
    [
        # a unit after a quotient of plain numbers belongs to the quotient
        ("41943040/32 B/(90 GB/s)", Fraction(41943040, 32 * 90 * 10**9), "s", "(41943040/32) B/(90 GB/s)"),
        ("41943040/32 B/90 GB/s", Fraction(41943040, 32 * 90 * 10**9), "s", "(41943040/32) B/(90 GB/s)"),
        ("(41943040/32 B)/(90 GB/s)", Fraction(41943040, 32 * 90 * 10**9), "s", "((41943040/32) B)/(90 GB/s)"),
        ("41943040/2^5 B/(90 GB/s)", Fraction(41943040, 32 * 90 * 10**9), "s", "(41943040/2^5) B/(90 GB/s)"),
        ("5e6/(8*4) us*2", Fraction(5 * 10**6, 16 * 10**6), "s", "(5e6/(8*4)) us*2"),
        ("12/2/3 B*5", Fraction(10), "B", "(12/2/3) B*5"),
        ("1/3 GB + 1/6 GB", Fraction(5 * 10**8), "B", "(1/3) GB + (1/6) GB"),
        ("-6/2 B*2", Fraction(-6), "B", "(-6/2) B*2"),
        ("6/2 s^2*3", Fraction(9), "s^2", "(6/2) s^2*3"),
        ("1/2 GB", Fraction(5 * 10**8), "B", "(1/2) GB"),
        ("655.36/(8*4) us", Fraction(2048, 10**8), "s", "(655.36/(8*4)) us"),
        ("100/50 GB/s", Fraction(2 * 10**9), "B/s", "(100/50) GB/s"),
        ("3 + 4 GB", Fraction(7 * 10**9), "B", "(3 + 4) GB"),
        # once there is a unit in front, it belongs to the divisor
        ("5 GB/2 B", Fraction(25 * 10**8), "1", "5 GB/(2 B)"),
        ("8 B*4/2 B", Fraction(16), "1", "8 B*4/(2 B)"),
        ("10 GB/8/90 GB/s", Fraction(1, 72), "s", "10 GB/8/(90 GB/s)"),
        ("6/2 B*3/4 s", Fraction(9, 4), "B/s", "(6/2) B*3/(4 s)"),
        ("5 GB/2 GB/4 B", Fraction(5, 8), "1/B", "5 GB/(2 GB)/(4 B)"),
        ("(4 GB + 2 GB)/3 s", Fraction(2 * 10**9), "B/s", "(4 GB + 2 GB)/(3 s)"),
        # nothing to choose from
        ("3*4 B/2", Fraction(6), "B", ""),
        ("2*1 GB/(50 GB/s)", Fraction(2, 50), "s", ""),
        ("100 MB/(4 B)", Fraction(25 * 10**6), "1", ""),
        ("(41943040/32) B/(90 GB/s)", Fraction(41943040, 32 * 90 * 10**9), "s", ""),
        ("41943040/32*B/(90*GB/s)", Fraction(41943040, 32 * 90 * 10**9), "s", ""),
        ("6/(2 B)", Fraction(3), "1/B", ""),
        ("8/GB*2", Fraction(16, 10**9), "1/B", ""),
        ("2^30 B/(1 GB/s)", Fraction(2**30, 10**9), "s", ""),
        ("3*5 s**2", Fraction(15), "s^2", ""),
        ("(5 s)**2", Fraction(25), "s^2", ""),
        ("6*70e9*1e6 FLOP", Fraction(42 * 10**16), "FLOP", ""),
        ("1e-3*2 s", Fraction(2, 1000), "s", ""),
    ],
)
def test_to_which_numbers_a_unit_belongs(text, value, unit, reading):
    assert is_calculation(text)
    worked = worked_out(text)
    assert (worked.value, worked.unit, worked.reading) == (value, unit, reading)


@pytest.mark.parametrize(
    "text", ["3.85e-3", "31.9 us", "450 GB/s", "295 FLOP/B", "7:1", "2.29x", "12 %", "-5 ms", "1e+3", "80 GB per s"]
)
def test_one_number_with_a_unit_is_no_calculation(text):
    assert not is_calculation(text)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("10**10**10", "power"),
        ("9^9^9 s", "power"),
        ("2^400*2^400*2^400*2^400*2^400*2^400*2^400*2^400*2^400*2^400*2^400", "range"),
        ("(1 + 2", "bracket"),
        ("1 + 2)", "sign"),
        ("5 GB + 3 s", "sum"),
        ("1/0 s", "zero"),
        ("0^-1", "zero"),
        ("2 * parsecs", "unit"),
        ("3 *", "number"),
        ("1 + __import__('os')", "character"),
        ("(" * 30 + "1" + ")" * 30, "length"),
        ("1+" * 200 + "1", "length"),
        ("0,850*2 us", "character"),
    ],
)
def test_what_cannot_be_worked_out_is_refused_in_words(text, fault):
    with pytest.raises(UnitError) as refused:
        worked_out(text)
    assert refused.value.fault == fault, refused.value


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("3,850 us", "3850 us"),
        ("3 850 us", "3850 us"),
        ("450,000,000", "450000000"),
        ("1,024.5 B", "1024.5 B"),
        ("1,5 ms", "1,5 ms"),
        ("0,850 us", "0,850 us"),
        ("3,85 ms", "3,85 ms"),
        ("12,3456", "12,3456"),
        ("8 192", "8192"),
        ("4, 8", "4, 8"),
    ],
)
def test_groups_of_three_digits(text, bare):
    assert ungrouped(text) == bare
