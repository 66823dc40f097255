"""What else gives the number of a declared mistake, and the sentences that name it."""

import math

import pytest

from autograder.answers import Count, Expression, Quantity, positive, rival_ways
from autograder.answers.rival_ways import WHICH, other_cause, precision
from autograder.answers.selftest import selftest
from autograder.answers.wrong_ways import ways_of
from autograder.declaration import Exercise, Mistake
from autograder.declaration.given import call_with
from hwlib.units import GB
from tests.banks import banks

VARIANTS = 2  # of each exercise, whose pairs are looked for
ROWS = [{"S": 8 * GB, "W": 97 * GB, "n": n} for n in (6, 10)]
PROMPT = "A ring of {n} GPUs sums {S:B} over links of {W:B/s}, one way. How long does it take?"


def quantity(*mistakes, prompt=PROMPT, solution=lambda S, W, n: S * (n - 1) / W, rtol=0.01, given=ROWS):
    mistakes = (*mistakes, Mistake(lambda S: S * math.pi**5, "Far off."))
    return Exercise(
        id="t-time", prompt=prompt, given=given, answer=Quantity("s", rtol), solution=solution, mistakes=mistakes
    )


def judge(exercise, answer, row=0):
    given = exercise.variants()[row]
    return exercise.judge(answer(**given), given)


def half(S, W, n):
    return S * (n - 1) / W / 2


def test_a_factor_of_two_names_its_other_causes():
    verdict = judge(quantity(Mistake(half, "You divided a number of elements.")), half)
    assert verdict.kind == "mistake"
    assert verdict.say.startswith("You divided a number of elements. Or ")
    assert "both directions" in verdict.say
    assert verdict.say.endswith(WHICH)


def test_what_the_sentence_speaks_of_is_not_named_again():
    assert judge(quantity(Mistake(half, "You added both directions.")), half).say == "You added both directions."


def test_an_author_may_have_named_all():
    mistake = Mistake(half, "Elements, or one thing for two?", names_all=True)
    assert judge(quantity(mistake), half).say == "Elements, or one thing for two?"


@pytest.mark.parametrize(("factor", "word"), [(8, "bits"), (1000, "prefix"), (2**30 / 1e9, "GiB"), (1024, "KiB")])
def test_other_slips_are_named_beside_a_mistake(factor, word):
    def wrong(S, W, n):
        return factor * S * (n - 1) / W

    assert word in judge(quantity(Mistake(wrong, "That is all of them.")), wrong).say


def test_a_ratio_that_nothing_else_has_is_asserted():
    def wrong(S, W, n):
        return 3 * S * (n - 1) / W

    assert judge(quantity(Mistake(wrong, "Three of them.")), wrong).say == "Three of them."


def test_a_way_that_comes_to_the_same_by_chance_is_named_and_one_that_is_the_mistake_is_not():
    def chance(S, W, n):
        return S * n / W if n == 6 else S / W

    def whole(S, W, n):
        return S * n / W

    exercise = quantity(Mistake(chance, "Chance."))
    assert "Or is it what comes out if all 6 count" in judge(exercise, chance).say
    assert judge(exercise, chance, 1).say == "Chance."
    assert judge(quantity(Mistake(whole, "To first order.")), whole).say == "To first order."


def test_two_mistakes_within_tolerance_are_both_named_unless_the_number_tells():
    def near(S, W, n):
        return 3.015 * S * (n - 1) / W

    def far(S, W, n):
        return 3 * S * (n - 1) / W

    exercise = quantity(Mistake(near, "The one."), Mistake(far, "The other."))
    assert judge(exercise, near).say == "The one."
    assert judge(exercise, far).say == "The other."
    assert judge(exercise, lambda S, W, n: 3.0075 * S * (n - 1) / W).kind != "mistake"
    between = judge(exercise, lambda S, W, n: float(f"{3.0075 * S * (n - 1) / W:.3g}"))
    assert between.say == f"The one. Or: The other. {WHICH}"


@pytest.mark.parametrize(("off", "kind"), [(1.0005, "mistake"), (1.005, "wrong")])
def test_a_number_of_many_digits_that_is_only_near_is_not_asserted(off, kind):
    def wrong(S, W, n):
        return 3 * S * (n - 1) / W

    verdict = judge(quantity(Mistake(wrong, "Three of them.")), lambda S, W, n: off * wrong(S, W, n))
    assert verdict.kind == kind
    assert "chance" not in verdict.say


@pytest.mark.parametrize(("answer", "share"), [(2.0, 0.25), (2.1, 0.05 / 2.1), (2.13, 0.005 / 2.13), (2.1347, 1e-3)])
def test_a_number_is_as_precise_as_its_digits(answer, share):
    assert precision(answer) == pytest.approx(share)


def test_counts_name_the_other_causes_too():
    exercise = Exercise(
        id="t-count",
        prompt="How many messages do {n} ranks send?",
        given={"n": [8, 16]},
        answer=Count(),
        solution=lambda n: 3 * n,
        mistakes=(Mistake(lambda n: 6 * n, "Both phases."), Mistake(lambda n: n + 1, "One more.")),
    )
    assert judge(exercise, lambda n: 6 * n).say.startswith("Both phases. Or ")
    assert judge(exercise, lambda n: n + 1).say == "One more."


def test_expressions_name_the_other_causes_of_a_constant():
    exercise = Exercise(
        id="t-formula",
        prompt="How long does a ring of n ranks take for S bytes at W? The elements have two bytes.",
        answer=Expression({"n": positive("1", 2, 64), "S": positive("B"), "W": positive("B/s")}, "s"),
        solution=lambda n, S, W: S * (n - 1) / (n * W),
        mistakes=(
            Mistake(lambda n, S, W: 2 * S * (n - 1) / (n * W), "That is an all-reduce."),
            Mistake(lambda n, S, W: S / W, "To first order."),
        ),
    )
    assert "the bytes of an element" in exercise.judge("2*S*(n - 1)/(n*W)").say
    assert exercise.judge("S/W").say == "To first order."


def test_things_of_the_prompt_are_likelier_than_kib():
    assert other_cause("kib-for-bytes", "1,024 GPUs share 4 GB", "All.") == ""
    assert other_cause("kib-for-bytes", "8 GPUs share 4 GB", "All.") != ""


def test_the_selftest_takes_the_sentences():
    assert not any("Three of them" in line for line in selftest(quantity(Mistake(half, "Three of them."))))


def test_the_ways_of_a_row_are_computed_once(monkeypatch):
    rows = []
    monkeypatch.setattr(rival_ways, "ways_of", lambda exercise, row: rows.append(row) or ways_of(exercise, row))
    exercise = quantity(Mistake(half, "Half of it."), Mistake(lambda S, W, n: S * n / W, "All of them."))
    verdicts = [judge(exercise, half) for _ in range(3)]
    judge(exercise, lambda S, W, n: S * n / W)
    assert len({repr(verdict) for verdict in verdicts}) == 1
    assert rows == [ROWS[0], ROWS[1]], "the other one to see whether the way is the mistake itself"


def test_no_more_rows_are_kept_than_may_be(monkeypatch):
    monkeypatch.setattr(rival_ways, "MOST_KEPT", 2)
    exercise = quantity(Mistake(half, "Half of it."), given=[{"S": 8 * GB, "W": 97 * GB, "n": n} for n in range(6, 12)])
    verdicts = [judge(exercise, half, row).say for row in range(6)]
    assert verdicts == [judge(exercise, half, row).say for row in range(6)]
    assert len(exercise._memory["wrong ways"]) == 2


@pytest.mark.parametrize(("steps", "others"), [(10**6, True), (10, False)])
def test_a_solution_that_takes_too_many_steps_is_tried_once_and_its_mistake_told_alone(monkeypatch, steps, others):
    monkeypatch.setattr(rival_ways, "STEPS", steps)
    rows = []
    monkeypatch.setattr(rival_ways, "ways_of", lambda exercise, row: rows.append(row) or ways_of(exercise, row))
    exercise = quantity(Mistake(lambda S, W, n: S * n / W, "So it is."))
    verdicts = [judge(exercise, lambda S, W, n: S * n / W) for _ in range(2)]
    assert {verdict.kind for verdict in verdicts} == {"mistake"}
    assert rows.count(ROWS[0]) == 1
    assert bool(exercise._memory["wrong ways"][repr(sorted(ROWS[0].items()))]) is others


@pytest.mark.nightly
@pytest.mark.parametrize("chapter", sorted(banks()))
def test_every_mistake_of_the_book_to_which_another_way_comes_names_it(chapter):
    numeric = [exercise for exercise in banks()[chapter].values() if isinstance(exercise.answer, (Quantity, Count))]
    silent = []
    for exercise in numeric:
        for given in exercise.variants()[:VARIANTS]:
            for mistake, ways in rival_ways.pairs(exercise, given):
                verdict = exercise.judge(call_with(mistake.value, given), given)
                named = verdict.kind != "mistake" or "Or" in verdict.say or mistake.names_all
                silent += [] if named else [(exercise.id, given, verdict.say, ways)]
    assert not silent


def test_a_pair_is_listed_with_the_way_and_not_with_the_mistake_itself():
    def chance(S, W, n):
        return S * n / W if n == 6 else S / W

    exercise = quantity(Mistake(chance, "Chance."))
    first, other = exercise.variants()[:2]
    assert [(mistake.say, ways) for mistake, ways in rival_ways.pairs(exercise, first)] == [
        ("Chance.", ["if all 6 count where one does not"])
    ]
    assert rival_ways.pairs(exercise, other) == []
    assert rival_ways.pairs(quantity(Mistake(lambda S, W, n: S * n / W, "All.")), first) == []
