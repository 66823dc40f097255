import re
from fractions import Fraction

import pytest

from autograder.values import slips


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (8.0, "bits"),
        (1 / 8, "bits"),
        (2.0, "factor-two"),
        (0.5, "factor-two"),
        (1000.0, "prefix"),
        (1e-3, "prefix"),
        (1e6, "prefix"),
        (1e9, "prefix"),
        (1e15, "prefix"),
        (1024.0, "kib-for-bytes"),
        (2.0**20, "mib-for-bytes"),
        (2.0**-30, "gib-for-bytes"),
        (2**30 / 1e9, "gib"),
        (1e9 / 2**30, "gib"),
        (-1.0, "sign"),
    ],
)
def test_each_slip_is_told_in_both_directions(answer, reason):
    assert slips.find(answer * 3.7, 3.7, 0.01).reason == reason


UNITS = {"1": ("1",)}  # of the slips that only such answers have


def test_a_share_in_per_cent_is_a_slip_of_pure_numbers():
    assert [slips.find(x, 1.0, 0.01, "1").reason for x in (100.0, 0.01, 100.9)] == ["percent"] * 3
    assert slips.find(100.0, 1.0, 0.01, "1").say != slips.find(0.01, 1.0, 0.01, "1").say
    assert [slips.find(100.0, 1.0, 0.01, unit) for unit in ("s", "token", "FLOP/B")] == [None] * 3
    assert slips.find(101.1, 1.0, 0.01, "1") is None


def test_a_slip_asks_for_its_cause_and_names_its_factor():
    assert "bits" in slips.find(8.0, 1.0, 0.01).say
    said = [
        slips.find(float(slip.ratio), 1.0, 0.01, unit).say
        for slip in slips.SLIPS
        for unit in UNITS.get(slip.of, ("B", "FLOP/B"))
    ]
    assert all(re.search(r"\d|size", say) for say in said)


@pytest.mark.parametrize("answer", [1.0, 1.5, 3.0, 100.0, 0.0, 7.8])
def test_another_ratio_is_no_slip(answer):
    assert slips.find(answer, 1.0, 0.01) is None


@pytest.mark.parametrize("answer", [8.0, 2**30 / 1e9])
@pytest.mark.parametrize("unit", ["Hz", "s", "1", "FLOP/s", "token"])
def test_bytes_are_blamed_only_where_the_answer_has_some(answer, unit):
    assert slips.find(answer, 1.0, 0.01, unit) is None
    assert slips.find(answer, 1.0, 0.01, "B/s").reason in ("bits", "gib")


@pytest.mark.parametrize(
    ("about", "things"),
    [
        ("a spine of 1,024 GPUs at 50 GB/s", True),
        ("4 units of 256 GPUs at 50 GB/s", True),
        ("1,024 GPUs with 4 KiB each", False),
        ("a buffer of 1024 B on 8 ranks", False),
        ("4 ranks of 10,256 send 2.56 GB", False),
    ],
)
def test_things_of_the_prompt_are_named_before_kib(about, things):
    said = slips.find(1024.0, 1.0, 0.01, "token", about).say
    assert ("one counted for 1,024" in said) is things


@pytest.mark.parametrize(("ratio", "within"), [(2**30 / 10**9, 0.1), (2**40 / 10**12, 0.1), (8, 1), (1024, 1)])
def test_a_ratio_near_one_is_recognised_more_narrowly(ratio, within):
    for side in (-1, 1):
        assert slips.find(ratio * (1 + side * 0.9 * within * 0.01), 1.0, 0.01) is not None
        assert slips.find(ratio * (1 + side * 1.1 * within * 0.01), 1.0, 0.01) is None


def test_one_thing_more_or_less_is_no_gib():
    assert slips.find(15.0, 14.0, 0.01) is None


def test_a_slip_within_tolerance_of_right_is_not_looked_for():
    assert slips.find(1.0737, 1.0, 0.05) is None
    gib = Fraction(2**30, 10**9)  # 7.4 %: three tolerances of 2.4 %, not of 2.5 %
    assert slips.find(gib, 1, 0.024).reason == "gib"
    assert slips.find(gib, 1, 0.025) is None


@pytest.mark.parametrize(
    ("unit", "reason"), [("FLOP/s", "sparse"), ("FLOP/B", "sparse"), ("B/s", "factor-two"), ("1", "factor-two")]
)
def test_a_factor_of_two_is_explained_by_what_the_unit_can_have(unit, reason):
    assert slips.find(2.0, 1.0, 0.01, unit).reason == reason


@pytest.mark.parametrize("unit", ["s", "1", "token"])
@pytest.mark.parametrize(
    ("about", "bytes_"),
    [
        ("A copy of 4 GB", True),
        ("A copy of 512 B", True),
        ("at 450 GB/s", True),
        ("two bytes an element", True),
        ("at 400 Gbit/s", True),
        ("x: [B × D] of 3 layers", False),
        ("at a clock of 2 GHz", False),
    ],
)
def test_bytes_are_blamed_in_a_time_where_the_exercise_has_some(unit, about, bytes_):
    for ratio, reason in ((8.0, "bits"), (1 / 8, "bits"), (2**30 / 1e9, "gib"), (2.0**20, "mib-for-bytes")):
        slip = slips.find(ratio, 1.0, 0.01, unit, about)
        assert (slip and slip.reason) == (reason if bytes_ else None)


@pytest.mark.parametrize(
    ("about", "blamed", "not_blamed"),
    [
        ("a ring all-reduce of 1 GB", "phase", "direction"),
        ("the port of a switch", "direction", "phase"),
        ("a product in bf16", "element", "direction"),
        ("989 TFLOP/s", "sparse", "phase"),
        ("how long?", "direction", "sparse"),
    ],
)
def test_a_factor_of_two_is_blamed_on_what_the_exercise_has(about, blamed, not_blamed):
    say = slips.find(2.0, 1.0, 0.01, "s", about).say
    assert blamed in say
    assert not_blamed not in say


def test_a_factor_of_eight_may_be_eight_of_something():
    assert "eight" in slips.find(8.0, 1.0, 0.01, "B/s", "nodes of 8 GPUs").say
    assert "eight" in slips.find(8.0, 1.0, 0.01, "B/s", "nodes of many GPUs").say  # as nodes mostly have


@pytest.mark.parametrize(
    ("a", "b", "near"),
    [
        (1.009, 1.0, True),
        (1.011, 1.0, False),
        (0, 0, True),
        (1e-300, 0, False),
        (Fraction(10**400), Fraction(10**400), True),
        (-1.0, 1.0, False),
    ],
)
def test_close_is_relative_to_the_right_one_and_exact(a, b, near):
    assert slips.close(a, b, 0.01) is near


@pytest.mark.parametrize("answer", [100.0, 0.01])
def test_per_cent_without_its_sign_is_looked_for_where_an_answer_has_no_unit(answer):
    assert slips.find(answer * 0.37, 0.37, 0.01, "1").reason == "percent"
    assert slips.find(answer * 0.37, 0.37, 0.01, "s") is None


@pytest.mark.parametrize(
    ("unit", "answer", "word"), [("s", 1000.0, "ms"), ("h", 3600.0, "in s"), ("year", 365.0, "days")]
)
def test_a_number_in_another_unit_is_recognised(unit, answer, word):
    assert word in slips.scale(answer * 1.7, 1.7, 0.01, unit).say
    assert slips.scale(answer * 1.7 * 1.011, 1.7, 0.01, unit) is None
    assert slips.scale(0.0, 1.7, 0.01, unit) is None
