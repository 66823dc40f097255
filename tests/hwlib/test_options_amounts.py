"""Amounts as people write them: a number without a unit is refused where several units are usual."""

import re

import pytest

from hwlib.options.amounts import bytes_of, in_unit_of, run_tokens_of, seconds_of, tokens_of, whole_numbers_of
from hwlib.units import GB, MB, TB, GiB, day, hour, minute, ms
from tests.each import each

READERS = {
    "limit": seconds_of,
    "memory": bytes_of,
    "restart": lambda text: in_unit_of(text, "s", "12min"),
    "storage": lambda text: in_unit_of(text, "B/s", "2TB/s"),
    "spread": lambda text: in_unit_of(text, "1", "1.5%"),
}


@each("written", [
    ("limit", "50ms", 50 * ms), ("limit", "50 ms", 50 * ms), ("limit", "2s", 2), ("limit", "5e-2 s", 50 * ms),
    ("memory", "72GB", 72 * GB), ("memory", "67 GiB", 67 * GiB), ("memory", "72000000000 B", 72 * GB),
    ("memory", "500MB", 500 * MB), ("restart", "12min", 12 * minute), ("restart", "264 days", 264 * day),
    ("restart", "7h", 7 * hour), ("storage", "2TB/s", 2 * TB), ("storage", "400 Gbit/s", 50 * GB),
    ("spread", "1.5%", 0.015), ("spread", "1.5 percent", 0.015),
])  # fmt: skip
def test_a_number_with_a_unit_is_read(written):
    kind, text, value = written
    assert READERS[kind](text) == pytest.approx(value, rel=1e-12)


@each("bare", [
    ("limit", "50"), ("limit", "0.05"), ("limit", "2"), ("limit", "5e-2"), ("limit", "1,024.5"), ("limit", " 50 "),
    ("limit", ".05"), ("memory", "72"), ("memory", "72000000000"), ("memory", "8e10"), ("restart", "10"),
    ("restart", "600"), ("storage", "2"), ("storage", "2e12"), ("spread", "1.5"), ("spread", "0.015"),
])  # fmt: skip
def test_a_bare_number_is_refused_with_ways_to_write_it_that_are_read(bare):
    kind, text = bare
    with pytest.raises(ValueError, match="has no unit; expected") as error:
        READERS[kind](text)
    message = str(error.value)
    assert repr(text) in message
    offered = re.search(r"expected (?:e\.g\. )?(.*)$", message)[1].split(" or ")
    assert len(offered) == 2
    assert all(READERS[kind](way) > 0 for way in offered)
    assert all(way.startswith(text.strip()) for way in offered[:1])


@each("kind", READERS)
def test_nothing_is_nothing_in_every_unit_and_no_amount_of_anything(kind):
    for text in ("0", "0.0", "-50", "0 s" if kind in ("limit", "restart") else "0"):
        with pytest.raises(ValueError, match="above 0"):
            READERS[kind](text)


@each("other", [("limit", "20 GB"), ("memory", "72 s"), ("storage", "2TB"), ("spread", "2 s"), ("restart", "3GB"),
                ("limit", "soon"), ("memory", "lots"), ("limit", ""), ("limit", "50 tokens")])  # fmt: skip
def test_another_unit_is_refused_with_an_example(other):
    kind, text = other
    with pytest.raises(ValueError, match=r"e\.g\. ") as error:
        READERS[kind](text)
    assert repr(text) in str(error.value)


def test_tokens_have_no_other_unit():
    assert tokens_of("4194304") == tokens_of("4M") == (2**22, None)
    assert run_tokens_of("300000000000") == run_tokens_of("300B")


@each("reader", [tokens_of, run_tokens_of])
def test_a_comma_stands_between_groups_of_three_digits_and_is_never_dropped_elsewhere(reader):
    assert reader("4,194,304") == reader("4194304")
    assert reader("1,024") == reader("1024")
    letter = "M"
    for text in (f"4,5{letter}", f"1,536{letter}", "4,19,4", "4194,304", "0,512", "1,5e6", "512,", ","):
        with pytest.raises(ValueError, match="comma may be read in two ways") as error:
            reader(text)
        assert repr(text) in str(error.value)


@each("reader", [tokens_of, run_tokens_of])
def test_as_many_digits_as_anybody_writes_is_an_error_and_no_overflow(reader):
    assert reader("9" * 30)
    for text in ("9" * 31, "9" * 400, "9" * 400 + "M"):
        with pytest.raises(ValueError, match="is not a number of tokens"):
            reader(text)


def test_a_leading_zero_splits_no_number_without_a_comma():
    assert whole_numbers_of("08") == (8,)
    assert whole_numbers_of("08,16") == (8, 16)
    for text in ("1,024", "8, 016"):
        with pytest.raises(ValueError, match="comma separates"):
            whole_numbers_of(text)


@each("bits", [("72Gb", "72 GB"), ("72 Gbit", "72 GB"), ("8e9 bits", "8e9 B"), ("8 b", "8 B")])
def test_a_budget_in_bits_is_refused_with_that_in_bytes(bits):
    text, instead = bits
    with pytest.raises(ValueError, match="is in bits") as error:
        bytes_of(text)
    assert instead in str(error.value)
    assert bytes_of(instead)
    assert READERS["storage"]("400 Gb/s") == 50 * GB
