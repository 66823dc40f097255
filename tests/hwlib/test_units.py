import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hwlib import units
from hwlib.units import (
    COUNTS,
    GB,
    MAX_LENGTH,
    GiB,
    Measure,
    UnitError,
    dimension,
    known_units,
    labels,
    parse,
    scale,
    show,
    spell,
)


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("3.35e12", 3.35e12, "1"),
        ("0.5", 0.5, "1"),
        (" 12 ", 12, "1"),
        ("7:1", 7, "1"),
        ("6.125 : 1", 6.125, "1"),
        (".5 s", 0.5, "s"),
        ("5. s", 5, "s"),
        ("1_000_000 B", 1e6, "B"),
        ("-3 us", -3e-6, "s"),
        ("−3 us", -3e-6, "s"),  # a minus sign as typeset
        ("+2 GB", 2e9, "B"),
        ("31.9 us", 31.9e-6, "s"),
        ("31.9µs", 31.9e-6, "s"),  # the micro sign
        ("31.9 μs", 31.9e-6, "s"),  # the Greek letter
        ("2 ns", 2e-9, "s"),
        ("3 ms", 3e-3, "s"),
        ("4 sec", 4, "s"),
        ("90 min", 5400, "s"),
        ("1.5 hours", 5400, "s"),
        ("2 days", 172800, "s"),
        ("1 GB", 1e9, "B"),
        ("1 GiB", 2**30, "B"),
        ("1 KB", 1e3, "B"),
        ("1 kB", 1e3, "B"),
        ("1 KiB", 1024, "B"),
        ("1 PB", 1e15, "B"),
        ("1 Gb", 1e9 / 8, "B"),  # networks count bits
        ("1 Gbit", 1e9 / 8, "B"),
        ("8 bits", 1, "B"),
        ("3 bytes", 3, "B"),
        ("3 Gbytes", 3e9, "B"),
        ("400 Gbit/s", 5e10, "B/s"),
        ("400 Gbps", 5e10, "B/s"),
        ("50 GBps", 5e10, "B/s"),
        ("50 GB per second", 5e10, "B/s"),
        ("3.35 TB / s", 3.35e12, "B/s"),
        ("3.35 TB*s^-1", 3.35e12, "B/s"),
        ("295 FLOP/B", 295, "FLOP/B"),
        ("295 FLOPs per byte", 295, "FLOP/B"),
        ("989 TFLOP/s", 989e12, "FLOP/s"),
        ("989 TFLOPS", 989e12, "FLOP/s"),  # as vendors write the rate
        ("989 TFLOPs", 989e12, "FLOP"),  # the plural of the count
        ("1979 TOPS", 1979e12, "OP/s"),
        ("1.755 GHz", 1.755e9, "1/s"),
        ("700 W", 700, "J/s"),
        ("1 kWh", 3.6e6, "J"),
        ("0.5 pJ/FLOP", 0.5e-12, "J/FLOP"),
        ("2 USD/h", 2 / 3600, "USD/s"),
        ("2 $/h", 2 / 3600, "USD/s"),
        ("15 Ttokens", 15e12, "token"),
        ("15e12 tokens", 15e12, "token"),
        ("8 GPUs", 8, "GPU"),
        ("2 batches", 2, "batch"),
        ("2 B/param", 2, "B/param"),
        ("1 B/param/s", 1, "B/param/s"),
        ("3 B·s", 3, "B*s"),
        ("3 1/s", 3, "1/s"),
        ("4 B^2/s^2", 4, "B^2/s^2"),
        ("4 B/B", 4, "1"),
        ("85 %", 0.85, "1"),
        ("85%", 0.85, "1"),
        ("0e5 s", 0, "s"),
        ("3 GByte/s", 3e9, "B/s"),
        ("3 Gbytes/s", 3e9, "B/s"),
        ("400 GBit/s", 5e10, "B/s"),
        ("295 FLOP/Byte", 295, "FLOP/B"),
        ("295 Tokens", 295, "token"),
        ("2 Batches", 2, "batch"),
        ("2.11 Ghz", 2.11e9, "1/s"),
        ("3 teraflops", 3e12, "FLOP"),
        ("450,000,000,000 B/s", 4.5e11, "B/s"),
        ("-1,234,567.5", -1234567.5, "1"),
        ("1,024.5 s", 1024.5, "s"),
        ("2.29x", 2.29, "1"),
        ("2.29 times", 2.29, "1"),
        ("2.29 ×", 2.29, "1"),
    ],
)
def test_parse_reads_what_people_write(text, value, unit):
    assert parse(text) == Measure(pytest.approx(value, rel=1e-14), unit)


@pytest.mark.parametrize(
    ("text", "fault", "named"),
    [
        ("", "number", "''"),
        ("   ", "number", "'   '"),
        ("GB", "number", "'GB'"),
        ("fast", "number", "'fast'"),
        ("nan", "number", "'nan'"),
        ("inf s", "number", "'inf s'"),
        ("-inf", "number", "'-inf'"),
        ("0x10 B", "unit", "'x10' in 'x10 B'"),
        ("1.2.3 s", "number", "'1.2.3 s'"),
        ("--3 s", "number", "'--3 s'"),
        ("1,5 s", "comma", "'1,5 s'"),
        ("2,000 B", "comma", "'2,000 B'"),
        ("2,000,00 B", "comma", "'2,000,00 B'"),
        ("0,000,001 B", "comma", "'0,000,001 B'"),
        ("2,000,000,0 B", "comma", "'2,000,000,0 B'"),
        ("3 x 5", "calculation", "'3 x 5'"),
        ("3 x/s", "unit", "'x'"),
        ("3 mhz", "unit", "'mhz'; did you mean MHz?"),
        ("3 m", "unit", "'m'"),  # no metres
        ("3 apples", "unit", "'apples'"),
        ("3 gb", "unit", "'gb'; did you mean GB?"),
        ("3 kiB", "unit", "'kiB'; did you mean KiB?"),
        ("3 mB", "unit", "'mB'"),  # no thousandths of a byte
        ("3 GB/apple", "unit", "'apple' in 'GB/apple'"),
        ("3 kmin", "unit", "'kmin'"),
        ("1e400 s", "range", "'1e400 s'"),
        ("1e300 PB", "range", "'1e300 PB'"),
        ("1e-400 s", "range", "'1e-400 s'"),
        ("3 B//s", "factor", "'B//s'"),
        ("3 B/", "factor", "'B/'"),
        ("10**10**10 m", "calculation", "'10**10**10 m'"),
        ("10^10 m", "calculation", "'10^10 m'"),
        ("3.846*10^-3 s", "calculation", "'3.846*10^-3 s'"),
        ("3.846 x 10^-3 s", "calculation", "'3.846 x 10^-3 s'"),
        ("12*2**30/3.35e12", "calculation", "'12*2**30/3.35e12'"),
        ("3 s^99", "power", "12"),
        ("3 s^999999999", "unit", "'s^999999999'"),
        ("3 (B/s)", "unit", "'(B'"),
        ("3 GB 4 MB", "unit", "'4'"),
        ("__import__('os').system('true')", "number", "__import__"),
        ("1" * (MAX_LENGTH + 1), "length", "81"),
        (None, "type", "NoneType"),
        (3.5, "type", "float"),
    ],
)
def test_parse_says_what_is_wrong(text, fault, named):
    with pytest.raises(UnitError) as error:
        parse(text)
    assert error.value.fault == fault
    assert named in str(error.value)


def test_a_near_miss_is_named():
    with pytest.raises(UnitError, match=r"'GiBs'; .* GiB"):
        parse("3 GiBs")


@pytest.mark.parametrize(
    ("x", "unit", "text"),
    [
        (3.35e12, "B/s", "3.35 TB/s"),
        (5e10, "bit/s", "400 Gbit/s"),
        (295.3233, "FLOP/B", "295.3 FLOP/B"),
        (8192, "FLOP/B", "8192 FLOP/B"),  # an intensity has no prefix
        (989.4e12, "FLOP/s", "989.4 TFLOP/s"),
        (16384, "1", "16384"),  # a whole number is not rounded
        (16384.25, "1", "16384"),
        (70.6e9, "param", "70.6e9 params"),
        (15e12, "token", "15e12 tokens"),
        (1, "token", "1 token"),
        (8, "GPU", "8 GPUs"),
        (235, "token/s", "235 tokens/s"),
        (160e3, "B/token", "160 KB/token"),
        (0, "B/s", "0 B/s"),
        (0.0, "s", "0 s"),
        (3.19e-5, "s", "31.9 us"),
        (1.5, "s", "1.5 s"),
        (119, "s", "119 s"),
        (3600, "s", "60 min"),
        (5 * 3600, "s", "5 h"),
        (44 * 86400, "s", "44 days"),
        (435 * 365.25 * 86400, "s", "435 years"),
        (5e-12, "J/B", "5 pJ/B"),
        (700, "W", "700 W"),
        (1.755e9, "Hz", "1.755 GHz"),
        (85899345920, "GiB", "80 GiB"),
        (80e9, "GiB", "74.51 GiB"),
        (2e-6, "us", "2 us"),
        (0.0123456, "1", "0.01235"),
        (1.2e-5, "1", "12e-6"),
        (0.5, "%", "50%"),
        (-2e9, "B", "-2 GB"),
        (999.94, "B", "999.9 B"),
        (999.96, "B", "1 KB"),  # the prefix is chosen after rounding
        (999999.9, "B", "1 MB"),
        (5e-324, "1", "4.941e-324"),
        (-1.5e-323, "B", "-14.82e-324 B"),
        (float("nan"), "s", "nan s"),
        (float("inf"), "1", "inf"),
    ],
)
def test_show_writes_as_a_person_does(x, unit, text):
    assert show(x, unit) == text


def test_show_never_drops_digits_before_the_point():
    assert show(312.4e12, "FLOP/s", digits=2) == "312 TFLOP/s"


def test_show_refuses_an_unknown_unit():
    with pytest.raises(UnitError, match="'furlong'"):
        show(1, "furlong")


SHOWN = ["1", "B", "B/s", "s", "FLOP", "FLOP/s", "FLOP/B", "bit/s", "GB", "GiB", "us", "J", "J/B", "W", "USD"]
SHOWN += ["Hz", "%", "token", "B/token", "token/s", "1/s", "USD/h", "B^2/s", "OP/s", "kWh", *COUNTS]


@pytest.mark.slow
@settings(derandomize=True, max_examples=500)
@given(
    x=st.floats(1e-20, 1e26) | st.floats(-1e26, -1e-20) | st.integers(-(10**9), 10**9),
    unit=st.sampled_from(SHOWN),
    digits=st.integers(1, 15),
)
def test_parse_reads_back_what_show_writes(x, unit, digits):
    value, base = parse(show(x, unit, digits))
    assert base == spell({**dimension(unit), **labels(unit)})
    assert value == pytest.approx(x, rel=0.5 * 10.0 ** (1 - digits) * (1 + 1e-9) + 1e-14, abs=0)


@pytest.mark.slow
@settings(derandomize=True, max_examples=500)
@given(st.text(max_size=90) | st.from_regex(r"[0-9.eE_+-]{1,8} ?[A-Za-zµ/^*$%0-9 ]{0,12}", fullmatch=True))
def test_parse_gives_a_finite_measure_or_a_unit_error(text):
    try:
        value, unit = parse(text)
    except UnitError:
        return
    assert math.isfinite(value)
    assert scale(unit) == 1


@pytest.mark.parametrize(
    ("unit", "powers", "counts"),
    [
        ("1", {}, {}),
        ("", {}, {}),
        ("B/s", {"B": 1, "s": -1}, {}),
        ("Gbit/s", {"B": 1, "s": -1}, {}),
        ("FLOP/B", {"B": -1}, {"FLOP": 1}),
        ("token", {}, {"token": 1}),
        ("W", {"J": 1, "s": -1}, {}),
        ("USD/kWh", {"USD": 1, "J": -1}, {}),
        ("B*s/s", {"B": 1}, {}),
        ("tokens/s", {"s": -1}, {"token": 1}),
    ],
)
def test_dimensions_are_bytes_seconds_joules_and_money_and_the_rest_is_counted(unit, powers, counts):
    assert dimension(unit) == powers
    assert labels(unit) == counts


def test_what_dimension_returns_may_be_changed():
    dimension("B/s")["B"] = 7
    assert dimension("B/s") == {"B": 1, "s": -1}


def test_the_constants_agree_with_the_texts():
    sizes = ("KB", "MB", "GB", "TB", "PB", "EB", "KiB", "MiB", "GiB", "TiB", "PiB", "bit", "Gbit", "Tbit")
    others = ("ns", "us", "ms", "minute", "hour", "day", "FLOP", "TFLOP", "PFLOP", "GHz", "kW", "MW", "USD")
    for name in sizes + others:
        assert getattr(units, name) == parse(f"1 {name}").value
    assert (GB, GiB) == (1e9, 2**30)


def test_spell_puts_counts_first():
    assert spell({"s": -1, "B": -1, "FLOP": 1}) == "FLOP/B/s"
    assert spell({}) == "1"


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("3.8 milliseconds", "3.8 ms"),
        ("1 microsecond", "1 us"),
        ("400 gigabits per second", "400 Gbit/s"),
        ("3 terabytes/second", "3 TB/s"),
        ("700 kilowatts", "700 kW"),
        ("2 gigabyte", "2 GB"),
    ],
)
def test_units_may_be_spelled_out(said, meant):
    assert parse(said) == pytest.approx(parse(meant))


@pytest.mark.parametrize("text", ["3 kmilliseconds", "3 kilokB", "3 millitokens", "3 gigaseconds"])
def test_only_what_people_say_is_spelled_out(text):
    with pytest.raises(UnitError):
        parse(text)


def test_every_known_unit_is_read_as_it_says():
    known = known_units()
    assert {"B", "GB", "GiB", "Gbit", "us", "ms", "TFLOP", "TFLOPS", "tokens", "GPUs", "W", "Hz", "USD"} <= set(known)
    for name, (size, powers) in known.items():
        measure = parse(f"1 {name}")
        assert (measure.value, measure.unit) == (size, spell(powers))
    assert "furlong" not in known
