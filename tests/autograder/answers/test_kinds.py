import math
import re
from fractions import Fraction

import numpy as np
import pytest
import sympy

from autograder.answers import Choice, Count, Quantity, answer_from
from autograder.answers.selftest import junk
from autograder.declaration import DeclarationError, Exercise, Mistake
from autograder.values import encoding
from autograder.values.numbers import Unreadable
from tests.each import each

RIDGE = Exercise(
    id="t-ridge",
    prompt="Ridge of {C:FLOP/s} and {W:B/s}?",
    answer=Quantity("FLOP/B"),
    given=[{"C": 9.9e14, "W": 3.35e12}, {"C": 2.25e15, "W": 8e12}],
    solution=lambda C, W: C / W,
    mistakes=(
        Mistake(lambda C, W: W / C, "Upside down."),
        Mistake(lambda C: C / 1e12, "Divide by the bandwidth."),
    ),
)
TIME = Exercise(id="t-time", prompt="How long?", answer=Quantity("s"), solution=lambda: 2e-3)
BATCH = Exercise(id="t-batch", prompt="From which batch on?", answer=Quantity("token"), solution=lambda: 295.0)
PURE = Exercise(id="t-share", prompt="Which share?", answer=Quantity("1"), solution=lambda: 0.25)
WAVES = Exercise(
    id="t-waves",
    prompt="How many waves?",
    answer=Count(),
    given={"n": [1000, 2000]},
    solution=lambda n: math.ceil(n / 132),
    mistakes=(Mistake(lambda n: n / 132, "Round up."), Mistake(lambda n: n // 132, "The last one counts.")),
)
SHIFT = Exercise(id="t-shift", prompt="?", given={"n": [1000, 2500, 3000]}, answer=Count(), solution=lambda n: n)
BOUND = Exercise(
    id="t-bound",
    prompt="Bound?",
    answer=Choice({"memory": "Memory-bound", "compute": "Compute-bound"}),
    solution="memory",
    mistakes=(Mistake("compute", "Look at the ridge."),),
)


def judge(exercise, value, **more):
    verdict = exercise.judge_message(encoding.encode(value), **more)
    assert verdict.say.strip()  # a learner is told something, whatever it is
    return verdict


@pytest.mark.parametrize(
    "value",
    [
        295.5,
        "295.5",
        "295.5 FLOP/B",
        "0.2955 kFLOP/B",
        "295.5 FLOPs/B",
        "37 FLOP/bit".replace("37", "36.94"),
        np.float32(295.5),
        np.array(295.5),
        np.array([295.5]),
        Fraction(591, 2),
        sympy.Rational(591, 2),
        sympy.Float(295.5),
        297.0,
    ],
)
def test_a_quantity_is_right_in_any_form(value):
    verdict = judge(RIDGE, value)
    assert (verdict.score, verdict.kind) == (1.0, "right"), verdict


@pytest.mark.parametrize(
    ("exercise", "value", "units"),
    [
        (TIME, "2e9 B/s", {"s", "B/s"}),
        (TIME, "3 FLOP", {"s", "FLOP"}),
        (RIDGE, "295 1/B", {"FLOP/B", "1/B"}),
        (RIDGE, "295 token/B", {"FLOP/B", "tokens/B"}),
        (BATCH, "295 FLOP", {"tokens", "FLOP"}),
        (PURE, "0.25 s", {"s"}),
        (TIME, "50 %", {"s"}),
    ],
)
def test_a_wrong_unit_or_label_is_named_beside_the_right_one(exercise, value, units):
    verdict = judge(exercise, value)
    assert (verdict.score, verdict.kind, verdict.reason) == (0.0, "unit", "other-unit")
    named = set(re.findall(r"[\w/]+", verdict.say))
    assert units <= named
    assert named & {"s", "B/s", "1/B", "FLOP", "FLOP/B", "tokens", "tokens/B"} == units


def test_the_words_for_a_wrong_unit():
    assert judge(TIME, "50 %").say == "The answer is in s, yours has no unit."


@pytest.mark.parametrize(
    ("exercise", "value"),
    [
        (BATCH, "295 tokens"),
        (BATCH, "295"),
        (PURE, "25 %"),
        (PURE, "0.25"),
        (TIME, "2000 us"),
        (TIME, "2e-3"),
        (TIME, " 2 ms "),
        (TIME, 0.002),
        (TIME, sympy.Rational(1, 500)),
    ],
)
def test_units_are_converted(exercise, value):
    assert judge(exercise, value).score == 1


@pytest.mark.parametrize(
    ("factor", "reason"),
    [(8, "bits"), (1 / 8, "bits"), (1000, "prefix"), (2, "sparse"), (2**30 / 1e9, "gib"), (-1, "sign")],
)
def test_a_slip_is_told_by_its_ratio_and_never_gives_the_number(factor, reason):
    verdict = judge(RIDGE, 9.9e14 / 3.35e12 * factor)
    assert (verdict.score, verdict.kind, verdict.reason) == (0.0, "slip", reason)
    assert "295" not in verdict.say


@pytest.mark.parametrize(
    ("value", "unit"),
    [("2", "ms"), (2.0, "ms"), ("2000", "us"), (2e6, "ns"), ("1 + 1", "ms"), ("2e3", "us")],
)
def test_a_number_that_lacks_its_unit_is_told_how_it_is_read(value, unit):
    verdict = judge(TIME, value)
    assert (verdict.kind, verdict.reason) == ("slip", "prefix")
    assert "without a unit is read in `s`" in verdict.say
    assert f"right in `{unit}`" in verdict.say


@pytest.mark.parametrize("value", ["2 s", "2000 s", "2e-6", 2e-9, "2 ns", 2000 * (1 + 1e-9)])
def test_one_that_has_a_unit_or_is_computed_or_whose_unit_nobody_uses_is_told_of_a_prefix(value):
    verdict = judge(TIME, value)
    assert (verdict.kind, verdict.reason) == ("slip", "prefix")
    assert "without a unit" not in verdict.say


@pytest.mark.parametrize(
    ("value", "reason", "read"),
    [
        (3.7e7, "orders-of-magnitude", ["428.2 days"]),
        (-4.0, "not-above-zero", ["-4 s"]),
        (0, "not-above-zero", ["0 s"]),
        (0.05, "too-large", []),
    ],
)
def test_an_absurd_answer_is_told_what_it_was_read_as(value, reason, read):
    verdict = judge(TIME, value)
    assert (verdict.score, verdict.kind, verdict.reason) == (0.0, "wrong", reason)
    assert re.findall("`(.*?)`", verdict.say) == read


ROUNDED = Exercise(
    id="t-rounded-time",
    prompt="How long does a copy of 1 GB take?",
    answer=Quantity("s"),
    solution=5.15e-3,
    mistakes=(Mistake(3.85e-3, "Once."), Mistake(1.15e-3, "A third.")),
)


@pytest.mark.parametrize(
    ("value", "kind", "reason"),
    [
        ("3.85 ms", "mistake", ""),
        ("3.8 ms", "mistake", ""),
        ("3.9 ms", "mistake", ""),
        ("3.7 ms", "wrong", "too-small"),
        ("3.79 ms", "wrong", "too-small"),  # not rounded
        ("5.1 ms", "right", ""),
        ("5.3 ms", "wrong", "close"),
        ("1.1 ms", "mistake", ""),
        ("1.2 ms", "mistake", ""),
        ("10 ms", "slip", "factor-two"),  # 10.3
        ("10.0001 ms", "wrong", "too-large"),
    ],
)
def test_a_rounded_answer_keeps_its_diagnosis(value, kind, reason):
    verdict = judge(ROUNDED, value)
    assert (verdict.kind, verdict.reason) == (kind, reason)


def test_the_unit_of_a_plain_number_is_not_blamed():
    verdict = judge(PURE, 7.7e7)
    assert verdict.reason == "orders-of-magnitude"
    assert verdict.say.startswith("Yours is `77e6`, off ")
    assert "unit" not in verdict.say


def test_a_mistake_comes_before_everything_else():
    assert judge(RIDGE, 3.35e12 / 9.9e14).say == "Upside down."
    assert judge(RIDGE, 3.35e12 / 9.9e14).kind == "mistake"


def test_right_for_another_learners_numbers():
    own, other = RIDGE.variants()
    verdict = judge(RIDGE, RIDGE.expected(own), given=other)
    assert (verdict.score, verdict.kind) == (0.0, "variant")


@pytest.mark.parametrize(("rtol", "within"), [(0.001, 1e-4), (0.01, 1e-3), (0.05, 1e-3)])
def test_another_learners_answer_is_recognised_by_all_of_its_digits(rtol, within):
    """A tenth of the tolerance, and at most 0.1 %: a number near it is more likely another error."""
    exercise = Exercise(
        id="t-other", prompt="?", given={"n": [1.0, 3.7]}, answer=Quantity("1", rtol=rtol), solution=lambda n: n
    )
    for side in (-1, 1):
        assert judge(exercise, 1 + side * 0.9 * within, given={"n": 3.7}).kind == "variant"
        assert judge(exercise, 1 + side * 1.1 * within, given={"n": 3.7}).kind == "wrong"


def test_mistakes_that_an_answer_could_be_both_of_collide():
    """Within one tolerance of each of two mistakes lies an answer where they are two tolerances apart."""

    def found(second, rtol=0.01):
        mistakes = (Mistake(lambda: 3.0, "One."), Mistake(lambda: second, "Other."))
        exercise = Exercise(
            id="t-alike", prompt="?", answer=Quantity("1", rtol=rtol), solution=lambda: 1.0, mistakes=mistakes
        )
        return exercise.answer.collisions(exercise, {})

    for side in (-1, 1):
        assert len(found(3.0 * (1 + side * 0.019))) == 1
        assert found(3.0 * (1 + side * 0.021)) == []
        assert len(found(1 + side * 0.009)) == 1
        assert found(1 + side * 0.011) == []


@pytest.mark.parametrize(("exercise", "other"), [(RIDGE, 2.25e15 / 8e12), (SHIFT, 3000)])
def test_with_the_books_numbers_there_are_no_others(exercise, other):
    assert judge(exercise, other).kind == "wrong"
    mine = next(row for row in map(exercise.variant, map(str, range(99))) if row == exercise.variant())
    assert judge(exercise, other, given=mine).kind == "variant"  # where they were drawn, others have others


@pytest.mark.parametrize(("value", "kind"), [(1000, "variant"), (5000, "slip"), (1250, "slip"), (2499, "slip")])
def test_a_count_is_looked_at_for_slips_before_the_numbers_of_others(value, kind):
    assert judge(SHIFT, value, given={"n": 2500}).kind == kind


@pytest.mark.parametrize(
    ("value", "reason"),
    [(999, "off-by-one"), (1001, "off-by-one"), (2000, "factor-two"), (500, "factor-two"), (-1000, "sign")],
)
def test_a_slip_of_a_count_does_not_tell_it(value, reason):
    verdict = judge(SHIFT, value)
    assert (verdict.score, verdict.kind, verdict.reason) == (0.0, "slip", reason)
    assert "1000" not in verdict.say


def test_eight_times_a_count_is_no_slip_of_bits():
    verdict = judge(SHIFT, 8000)
    assert (verdict.score, verdict.kind, verdict.reason) == (0.0, "wrong", "multiple")


def test_a_mistake_of_a_count_comes_before_a_slip():
    mistakes = (Mistake(9, "Itself too."), Mistake(16, "Both ways."))
    exercise = Exercise(id="t-pairs", prompt="?", answer=Count(), solution=8, mistakes=mistakes)
    assert [judge(exercise, value).kind for value in (9, 16, 7)] == ["mistake", "mistake", "slip"]


@pytest.mark.parametrize("value", [1, 2, 4, 6])
def test_among_few_every_count_is_off_by_one(value):
    exercise = Exercise(id="t-few", prompt="?", answer=Count(), solution=3)
    assert judge(exercise, value).kind == "wrong"


@pytest.mark.parametrize(
    "value",
    [
        True,
        "nan",
        math.nan,
        math.inf,
        "-inf",
        [],
        {},
        [295.5],
        np.array([1, 2]),
        "3 apples",
        "10**3 s",
        1j,
        sympy.Symbol("x"),
        sympy.oo,
        len,
        "1e999",
        "295,5 FLOP/B",
    ],
)
def test_what_is_no_number_is_unreadable_and_scores_nothing(value):
    try:
        verdict = judge(RIDGE, value)
    except encoding.NotEncodable:
        return
    assert verdict.score == 0
    assert verdict.kind in ("unreadable", "unit")


def test_a_zero_answer_is_matched_by_zero_only():
    e = Exercise(id="t-zero", prompt="?", answer=Quantity("s"), solution=lambda: 0.0)
    assert [judge(e, v).score for v in (0, 0.0, "0 s", 1e-9)] == [1, 1, 1, 0]


@pytest.mark.parametrize(
    "value", [8, 8.0, "8", "8.0", " 8 ", np.int64(8), np.float32(8), Fraction(8), sympy.Integer(8), "0.8e1", "2^3"]
)
def test_a_count_is_one_number_in_any_form(value):
    assert judge(WAVES, value).score == 1, judge(WAVES, value)


@pytest.mark.parametrize(
    ("value", "kind", "reason", "named"),
    [
        (8.5, "unreadable", "not-an-integer", "8.5"),
        ("8.5", "unreadable", "not-an-integer", "8.5"),
        (7, "mistake", "", "The last one counts."),
        (1000 / 132, "mistake", "", "Round up."),
        (9, "slip", "off-by-one", ""),
        (16, "slip", "factor-two", ""),
        (64, "wrong", "multiple", ""),
        (True, "unreadable", "truth-value", "True"),
        ("eight", "unreadable", "not-an-integer", "`eight`"),
        (10**400, "wrong", "too-large", ""),
        ("1" * 400, "unreadable", "not-an-integer", "111"),
        ("8 GPUs", "unreadable", "number-and-word", "`8 GPUs`"),
        ("8.5tokens", "unreadable", "number-and-word", "`8.5tokens`"),
        ("1000/132", "mistake", "", "Round up."),
        ("1000/0", "unreadable", "calculation", "a division by zero"),
        ("2 GB * 4", "unreadable", "other-unit", "`2 GB * 4`"),
    ],
)
def test_a_count_that_is_not_right(value, kind, reason, named):
    verdict = judge(WAVES, value)
    assert (verdict.score, verdict.kind, verdict.reason) == (0.0, kind, reason), verdict
    assert named in verdict.say


def test_a_count_of_thousands_of_digits_is_no_count():
    assert judge(WAVES, 10**5000).reason == "too-many-digits"


@pytest.mark.parametrize("text", ["2**3", "1056/132", "2 * (3 + 1)", "1,056 / 132"])
def test_a_count_may_be_a_calculation(text):
    assert judge(WAVES, text).score == 1


@pytest.mark.parametrize(
    ("value", "score"),
    [
        ("memory", 1),
        ("MEMORY", 1),
        (" memory) ", 1),
        ("Memory-bound", 1),
        ("a", 0),
        ("compute", 0),
        ("b", 0),
        ("c", 0),
        ("", 0),
        (1, 0),
        (None, 0),
        (True, 0),
        ("mem", 0),
    ],
)
def test_a_choice_is_a_key_or_the_text(value, score):
    assert judge(BOUND, value).score == score


def test_each_wrong_option_has_its_sentence_and_a_stranger_hears_the_options():
    assert judge(BOUND, "compute").say == "Look at the ridge."
    stranger = judge(BOUND, "both")
    assert (stranger.kind, stranger.reason) == ("unreadable", "not-an-option")
    assert '"memory"' in stranger.say
    assert '"compute"' in stranger.say


def test_a_key_goes_before_a_letter():
    e = Exercise(id="t-keys", prompt="?", answer=Choice({"b": "first", "a": "second"}, ordered=True), solution="b")
    assert judge(e, "b").score == 1
    assert judge(e, "a").score == 0


@pytest.mark.parametrize("exercise", [RIDGE, TIME, WAVES, BOUND], ids=lambda e: e.id)
@each("value", junk())
def test_junk_scores_nothing_and_never_raises(exercise, value):
    try:
        message = encoding.encode(value)
    except encoding.NotEncodable:
        return
    assert exercise.judge_message(message).score == 0


@pytest.mark.parametrize(
    "value", ["<img src=x onerror=alert(1)>", "`</code><script>", "5 <b>s</b>", "1 [x](javascript:alert(1))"]
)
@pytest.mark.parametrize("exercise", [RIDGE, WAVES, BOUND], ids=lambda e: e.id)
def test_a_learners_text_never_comes_back_live(exercise, value):
    assert "<" not in exercise.judge(value).say


@pytest.mark.parametrize("exercise", [RIDGE, WAVES, BOUND], ids=lambda e: e.id)
def test_the_public_record_reads_answers_without_a_key(exercise):
    kind = answer_from(exercise.public())
    assert kind.readable({"t-ridge": "295 FLOP/B", "t-waves": 8, "t-bound": "MEMORY"}[exercise.id]) in (
        "295 FLOP/B",
        "8",
        "Memory-bound",
    )


@pytest.mark.parametrize(("factor", "close"), [(1.02, True), (0.96, True), (1.06, False), (0.94, False)])
def test_an_answer_just_outside_the_tolerance_is_told_that_it_is_close(factor, close):
    assert (judge(RIDGE, 9.9e14 / 3.35e12 * factor).reason == "close") is close


@pytest.mark.parametrize("value", ["Memory - bound", " memory-bound ", "MEMORY", "(memory)"])
def test_spaces_and_case_do_not_hide_an_option(value):
    assert judge(BOUND, value).kind == "right"


def test_a_number_is_an_option_where_one_is_called_so():
    ratio = Exercise(id="t-ratio", prompt="?", answer=Choice({"1.3": "more", "0.85": "less"}), solution="0.85")
    assert judge(ratio, 0.85).kind == "right"
    assert judge(ratio, 1.3).kind == "wrong"
    assert judge(ratio, 0.9).kind == "unreadable"


@pytest.mark.parametrize("value", [19, 20, 19.05, 19.06, "20"])
def test_a_mistake_that_is_no_integer_is_known_rounded(value):
    count = Exercise(
        id="t-rounded",
        prompt="?",
        answer=Count(),
        solution=lambda: 42,
        mistakes=(Mistake(lambda: 19.05, "Twice."), Mistake(lambda: 21.5, "Thrice.")),
    )
    assert judge(count, value).say == "Twice."


def test_a_quantity_may_be_a_calculation_with_units():
    assert judge(TIME, "2*10^3 us").score == 1
    assert judge(TIME, "900 MB / (450 GB/s)").score == 1
    assert judge(TIME, "900 MB / 450 GB").reason == "other-unit"
    assert judge(TIME, "5760000/32 kB/(90 GB/s)").score == 1
    assert "a bracket is not closed" in judge(TIME, "(900 MB / 450 GB/s").say


def test_a_text_that_could_be_read_in_two_ways_is_shown_as_it_was_read():
    quotient, of_divisor = judge(TIME, "900/450 GB/s"), judge(TIME, "900 MB/450 GB")
    assert [verdict.reason for verdict in (quotient, of_divisor)] == ["other-unit"] * 2
    assert "`(900/450) GB/s`" in quotient.say
    assert "`900 MB/(450 GB)`" in of_divisor.say
    assert "read as" not in judge(TIME, "2*(900 MB)").say


def test_a_calculation_that_cannot_be_read_is_quoted_safely():
    assert "a division by zero" in judge(RIDGE, "132*128/0").say
    assert "<" not in judge(RIDGE, "132*<b>2</b>").say


@pytest.mark.parametrize(
    ("text", "count"), [("1,000", 1000), ("12,345,678", 12345678), ("1_000", 1000), ("1,000.0", 1000)]
)
def test_commas_part_thousands(text, count):
    assert Count().read(text) == count


@pytest.mark.parametrize(
    ("of", "text", "count"),
    [
        ("GPU", "21 GPUs", 21),
        ("GPU", "21gpus", 21),
        ("GPU", "1 GPU", 1),
        ("parameter", "8,030,261,248 params", 8030261248),
        ("piece", "2^10 pieces", 1024),
        ("batch", "1e3 batches", 1000),
        ("GPU", "1e3", 1000),
        ("copy", "3 copies", 3),
        ("pod", "15 pods", 15),
        ("FLOP", "512 FLOP/cycle", 512),
        ("FLOP", "512 FLOPs per cycle", 512),
    ],
)
def test_what_is_counted_may_stand_behind_a_count(of, text, count):
    assert Count(of=of).read(text) == count


@pytest.mark.parametrize(
    ("of", "text", "reason"),
    [
        ("GPU", "21 nodes", "other-unit"),
        ("GPU", "21 GPU nodes", "not-an-integer"),
        ("GPU", "GPUs", "not-an-integer"),
        ("GPU", "21.5 GPUs", "not-an-integer"),
        ("", "21 GPUs", "number-and-word"),
    ],
)
def test_another_word_behind_a_count_is_refused(of, text, reason):
    with pytest.raises(Unreadable) as error:
        Count(of=of).read(text)
    assert error.value.reason == reason


def test_a_count_may_be_per_what_the_prompt_asks_it_for():
    def verdict(prompt, text):
        return judge(Exercise(id="t-per", prompt=prompt, answer=Count(of="FLOP"), solution=512), text)

    assert verdict("How many FLOP does a unit do a cycle?", "512 FLOP/cycle").score == 1
    assert verdict("How many FLOP does a unit do?", "512 FLOP/cycle").reason == "other-unit"


PER_TOKEN = Exercise(
    id="t-per-token", prompt="How many bytes are kept for a token?", answer=Quantity("B"), solution=64500.0
)
PER_GPU = Exercise(id="t-per-gpu", prompt="What does each GPU send a second?", answer=Quantity("B/s"), solution=5e10)
IN_ALL = Exercise(id="t-in-all", prompt="How many bytes have all tokens?", answer=Quantity("B"), solution=64500.0)


@pytest.mark.parametrize(
    ("exercise", "text", "score"),
    [
        (PER_TOKEN, "64.5 kB/token", 1),
        (PER_TOKEN, "64.5 kB per token", 1),
        (PER_TOKEN, "2*32.25 kB/token", 1),
        (PER_TOKEN, "64.5 kB/GPU", 0),
        (PER_TOKEN, "64.5 kB*token", 0),
        (PER_TOKEN, "64.5 kB/token^2", 0),
        (PER_GPU, "50 GB/s/GPU", 1),
        (PER_GPU, "50 GB/s/token", 0),
        (IN_ALL, "64.5 kB/token", 0),
    ],
)
def test_a_unit_may_be_per_what_the_prompt_asks_for(exercise, text, score):
    verdict = judge(exercise, text)
    assert verdict.score == score
    assert verdict.reason == ("" if score else "other-unit")


@pytest.mark.parametrize(
    ("exercise", "value", "reason"),
    [
        (PURE, 25, "percent"),
        (PURE, "25", "percent"),
        (PURE, "2500 %", "percent"),
        (PURE, "0.25 %", "percent"),
        (PURE, 25.24, "percent"),
        (PURE, 25.26, ""),
        (PURE, 2.5, ""),
        (TIME, 0.2, ""),
        (BATCH, 29500, ""),
    ],
)
def test_a_share_in_per_cent_without_its_sign_is_told(exercise, value, reason):
    verdict = judge(exercise, value)
    assert verdict.score == 0
    assert (verdict.reason == "percent") is (reason == "percent")


def test_a_wrong_calculation_says_how_its_unit_was_read():
    assert "`(5760000/16) kB/(90 GB/s)`" in judge(TIME, "5760000/16 kB/(90 GB/s)").say
    assert "read as" not in judge(TIME, "5760000/32 kB/(90 GB/s)").say
    assert "read as" not in judge(TIME, "4 ms").say


def test_what_is_counted_is_one_word():
    with pytest.raises(DeclarationError, match="one word"):
        Exercise(id="t-of", prompt="?", answer=Count(of="two words"), solution=3)


@pytest.mark.parametrize(("unit", "text", "number"), [("token", "38,087", 38087), ("param", "-38,087 params", -38087)])
def test_one_comma_parts_thousands_where_things_are_counted(unit, text, number):
    assert Quantity(unit).read(text) == number


@pytest.mark.parametrize("unit", ["s", "1", "token/s"])
def test_a_comma_before_three_digits_parts_thousands_everywhere(unit):
    assert Quantity(unit).read("38,087") == 38087


@pytest.mark.parametrize(("unit", "text"), [("s", "38,08"), ("1", "1,5"), ("token", "3,5"), ("s", "0,850")])
def test_any_other_comma_is_asked_about(unit, text):
    with pytest.raises(Unreadable, match="two ways"):
        Quantity(unit).read(text)


@pytest.mark.parametrize("text", ["4,0", "1,00", "1,0000", ",8", "8,", "1,,000", "1,000,00"])
def test_a_comma_anywhere_else_is_no_count(text):
    with pytest.raises(Unreadable, match=re.escape(text)) as error:
        Count().read(text)
    assert error.value.reason == "not-an-integer"
