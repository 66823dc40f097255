"""What is said of a wrong number that no mistake and no slip explains is true of it."""

import math
from dataclasses import replace

import pytest

from autograder.answers import Count, Quantity, recognised
from autograder.answers.prompt_numbers import numbers_of
from autograder.answers.recognised import how_far, recognise
from autograder.answers.wrong_ways import TIMES
from autograder.declaration import Exercise
from hwlib import units
from hwlib.formula import ceil, maximum
from hwlib.units import GB, us

RING = Exercise(
    id="a-ring-time",
    prompt="{n} GPUs pass on {S:B} at {W:B/s}; a step costs {alpha:s}, and 12 cables are spare. How long?",
    given={"n": [6], "S": [3.7 * GB], "W": [50 * GB], "alpha": [5000 * us]},
    answer=Quantity("s"),
    solution=lambda n, S, W, alpha: (n - 1) * (alpha + S / n / W),
)
ROOF = Exercise(
    id="a-roof-time",
    prompt="{S:B} are read at {W:B/s} while arithmetic takes {t:s}. How long?",
    given={"S": [3.7 * GB], "W": [50 * GB], "t": [0.031]},
    answer=Quantity("s"),
    solution=lambda S, W, t: maximum(S / W, t),
)
TILES = Exercise(
    id="a-number-of-tiles",
    prompt="How many tiles of {m} rows cover {M} rows?",
    given={"m": [128], "M": [10_050]},
    answer=Count(),
    solution=lambda m, M: ceil(M / m),
)
SHARE = Exercise(
    id="a-share",
    prompt="Of {D} and {F} columns, which share has the second?",
    given={"D": [4100], "F": [13_000]},
    answer=Quantity("1"),
    solution=lambda D, F: F / (D + F),
)
STREAM = Exercise(
    id="a-batch",
    prompt="Weights come in at {W:B/s}, and {C:FLOP/s} are done. From how many tokens on does it cost nothing?",
    given={"C": [989.4e12], "W": [450 * GB]},
    answer=Quantity("token"),
    solution=lambda C, W: C / W,
)
CACHE = Exercise(
    id="a-cache",
    prompt="An H100 has {n} SMs. How much do their caches hold?",
    given={"n": [132]},
    answer=Quantity("B"),
    solution=lambda n: n * 256 * units.KiB,
)
LOSS = Exercise(
    id="a-loss",
    prompt="Of {n} GPUs each pauses a share {p} of the time. What is the square of the mean of those that do?",
    given={"n": [7.0], "p": [0.013]},
    answer=Quantity("1"),
    solution=lambda p, n: (p * n) ** 2,
)


@pytest.mark.parametrize(
    ("exercise", "answer", "reason"),
    [
        (RING, lambda n, S, W, alpha: n * (alpha + S / n / W), "wrong-way"),  # all n steps
        (RING, lambda n, S, W, alpha: (n - 1) * S / n / W, "number-left-out"),  # no latency
        (RING, lambda n, S, W, alpha: S / W, "number-of-prompt"),
        (RING, lambda n, S, W, alpha: alpha, "number-of-prompt"),
        (RING, lambda n, S, W, alpha: n * (n - 1) * (alpha + S / n / W), "factor-of-prompt"),
        (RING, lambda n, S, W, alpha: 12 * (n - 1) * (alpha + S / n / W), "factor-of-prompt"),
        (RING, lambda n, S, W, alpha: 3 * (n - 1) * (alpha + S / n / W), "multiple"),
        (RING, lambda n, S, W, alpha: 1.7 * (n - 1) * (alpha + S / n / W), "too-large"),
        (RING, lambda n, S, W, alpha: 0.3 * (n - 1) * (alpha + S / n / W), "too-small"),
        (ROOF, lambda S, W, t: S / W + t, "wrong-way"),
        (ROOF, lambda S, W, t: t, "wrong-way"),
        (SHARE, lambda D, F: D / (D + F), "number-exchanged"),  # F for D
        (SHARE, lambda D, F: F / (F + F), "number-exchanged"),  # F in place of D
        (STREAM, lambda C, W: 66.9e12 / W, "number-exchanged"),  # the row of float32 for that of bfloat16
        (CACHE, lambda n: 50 * units.MiB, "number-of-table"),  # its L2
        (LOSS, lambda p, n: 1 / (p * n) ** 2, "turned-over"),
        (TILES, lambda m, M: M // m - 10, "too-small"),
        (TILES, lambda m, M: M, "number-of-prompt"),
        (TILES, lambda m, M: 5 * ceil(M / m), "multiple"),
    ],
)
def test_a_wrong_number_is_told_what_it_is(exercise, answer, reason):
    given = exercise.variant()
    verdict = exercise.judge(answer(**given), given)
    assert (verdict.score, verdict.kind, verdict.reason, verdict.wants_hint) == (0.0, "wrong", reason, True), verdict


def test_it_is_said_of_the_learners_own_numbers():
    given = {"n": 8, "S": 1.3 * GB, "W": 25 * GB, "alpha": 7000 * us}
    found = recognise(RING, 7 * 1.3 / 8 / 25, RING.solution(**given), given)
    assert found.reason == "number-left-out"
    assert "7 ms" in found.say


def test_numbers_of_a_prompt_are_the_given_ones_and_the_typed_ones():
    found = {one.shown: one.value for one in numbers_of(RING, RING.variant())}
    assert found == {"6": 6.0, "3.7 GB": 3.7 * GB, "50 GB/s": 50 * GB, "5 ms": 5e-3, "12": 12.0}


def test_a_number_typed_with_four_digits_is_recognised_and_one_by_chance_is_not():
    given, want = RING.variant(), RING.expected(RING.variant())
    near = 3 * want
    assert recognise(RING, float(f"{near:.4g}"), want, given).reason == "multiple"
    assert recognise(RING, near * 1.01, want, given) is None


@pytest.mark.parametrize("exercise", [RING, ROOF, TILES], ids=lambda e: e.id)
def test_every_finite_number_gets_a_sentence_in_no_time(exercise):
    given, want = exercise.variant(), float(exercise.expected(exercise.variant()))
    for power in range(-300, 300, 37):
        assert (recognise(exercise, 10.0**power, want, given) or how_far(10.0**power, want)).say
    assert recognise(exercise, 0.0, want, given) is None
    assert how_far(0.0, want).say == ""
    assert how_far(math.nextafter(want, math.inf) * 1.3, want).say


def slow(n, S, W):
    """Seconds for n steps, one by one."""
    return sum([S / n / W for _ in range(int(n))])


def test_a_solution_that_takes_long_is_not_tried_again_and_again():
    few, many = ({"n": n, "S": 3.7 * GB, "W": 50 * GB} for n in (10, 10**5))
    ring = replace(RING, given={name: [value] for name, value in few.items()}, solution=slow)
    assert recognise(ring, slow(**few) * 8, slow(**few), few).reason == "multiple"
    assert recognise(ring, slow(**many) * 8, slow(**many), many) is None


@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize(
    ("off", "reason"), [(0.02, "multiple"), (-0.02, "multiple"), (0.04, "wrong-way"), (-0.04, "wrong-way")]
)
def test_a_way_that_comes_near_a_multiple_of_the_answer_is_told_as_that(monkeypatch, times, off, reason):
    given, want = RING.variant(), RING.expected(RING.variant())
    monkeypatch.setattr(recognised, "ways_from", lambda *_: [("with another number", times * want * (1 + off))])
    first = next(recognised._known(RING, want, given, "s"))
    assert first.reason == reason
    assert (TIMES[times][0] in first.say) == (reason == "multiple")


@pytest.mark.parametrize(("answer", "want", "reason"), [(-113.0, 43.0, "other-sign"), (113.0, -43.0, "other-sign")])
def test_a_number_on_the_other_side_of_zero_is_not_too_large(answer, want, reason):
    assert how_far(answer, want).reason == reason
    assert how_far(-answer, want).reason == "too-large"


@pytest.mark.parametrize(("unit", "told"), [("1", True), ("B", False), ("B/s", False)])
def test_a_quotient_of_the_prompts_numbers_has_the_unit_of_the_answer(unit, told):
    exercise = Exercise(
        id="t-quotient",
        prompt="{S:B} of {M:B} in {t:s}.",
        given={"S": [7e9], "M": [3e9], "t": [0.9]},
        answer=Quantity(unit),
        solution=lambda S: 31 * S,
    )
    finding = recognise(exercise, 7 / 3, 31 * 7e9, exercise.variant(), unit=unit)
    assert (finding is not None and finding.reason == "number-of-prompt") is told


@pytest.mark.parametrize(("answer", "reason"), [(7 / 3, "number-of-prompt"), (7 / 3 * 1.0005, "orders-of-magnitude")])
def test_a_number_of_many_digits_is_recognised_by_all_of_them(answer, reason):
    exercise = Exercise(
        id="t-quotient",
        prompt="{S:B} of {M:B} in {t:s}.",
        given={"S": [7e9], "M": [3e9], "t": [0.9]},
        answer=Quantity("1"),
        solution=lambda S: 31 * S,
    )
    assert exercise.judge(answer, exercise.variant()).reason == reason
