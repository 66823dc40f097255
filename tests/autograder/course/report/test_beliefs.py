"""Which mistakes a class makes, which answers nobody declared, and whose numbers an answer is for."""

import pytest

from autograder.answers import Quantity
from autograder.answers.undeclared import product, ratio_to
from autograder.course.class_results.class_result import Learner
from autograder.course.report import beliefs as believed
from autograder.course.report.beliefs import beliefs, borrowed, pairs, unexplained
from autograder.course.report.gathered_answers import Gathered
from autograder.declaration import Bank, Exercise, Mistake
from autograder.grading.results import Result
from tests.autograder.course.report.made import COPY, MEAN, STEPS, TERM, WHICH, Class


def test_mistakes_are_counted_with_their_sentences_and_names():
    found = Class(asked=(COPY.id, STEPS.id))
    for who in "abc":
        found.answer(who, COPY, 5e10 / 1e8)
    found.answer("d", COPY, 3 * 1e8 / 5e10)
    found.answer("a", STEPS, 7)
    first, second, third = beliefs(found.gathered())
    assert (first.key, first.learners, first.say) == ("upside-down", ("a", "b", "c"), "Turn the quotient over.")
    assert first.did == "You turned a ratio upside down."
    assert (second.key, second.say, second.did) == ("made-copy#2", "Not 100 MB three times.", "")
    assert (third.exercise, third.key) == (STEPS.id, "made-steps#1")


def test_results_of_an_earlier_version_have_their_mistakes_by_their_sentences():
    found = Class(asked=(STEPS.id,))
    found.wrote("ann", STEPS, "", Result(STEPS.id, 0.0, 1.0, "One phase.", kind="mistake"))
    assert [one.key for one in beliefs(found.gathered())] == ["made-steps#1"]


def test_a_prediction_that_fails_counts_by_its_sentence():
    found = Class(asked=(WHICH.id,))
    found.answer("ann", WHICH, "compute")
    (one,) = beliefs(found.gathered())
    assert (one.say, one.learners) == ("It waits for bytes.", ("ann",))


def test_equal_answers_that_no_mistake_explains_are_grouped_within_the_tolerance():
    found = Class(asked=(COPY.id,))
    for who, value in {"a": 5e-4, "b": 5.01e-4, "c": "0.5 ms", "d": 0.0137, "e": 2e-3}.items():
        found.answer(who, COPY, value)
    (one,) = unexplained(found.gathered())
    assert (set(one.learners), one.shown, one.relation) == (set("abc"), "500 us", "1/4 of the right answer")
    assert "Yours" in one.told


def test_the_declaration_to_paste_recognises_the_answer_in_every_variant():
    found = Class(variants=True, asked=(COPY.id,))
    for who in "abcdefgh":
        given = COPY.variant(who)
        found.answer(who, COPY, given["S"] / given["W"] / given["n"])
    (one,) = unexplained(found.gathered())
    assert len(one.learners) == 8
    names = {"Mistake": Mistake}
    (mistake,) = eval(one.declaration, names)  # as a teacher's file would have it
    for given in COPY.variants():
        assert mistake.value(**given) == pytest.approx(given["S"] / given["W"] / given["n"])


@pytest.mark.parametrize(
    ("answer", "formula"),
    [(4e8 / 2e9 * 7, "(n - 1)*S/W"), (16 * 4e8 / 2e9, None), (0.123, ""), (8 * 2e9 / 4e8, "")],
)
def test_a_product_is_found_only_where_its_units_are_those_of_the_answer(answer, formula):
    exercise = Exercise(
        id="made-product",
        prompt="{S:B} at {W:B/s}, {n} times?",
        given={"S": 4e8, "W": 2e9, "n": 8},
        answer=Quantity("s"),
        solution=lambda S, W: S / W,
    )
    written = product(exercise, [(answer, exercise.variant())], "s")
    if formula is None:
        assert eval(written, dict(exercise.variant())) == pytest.approx(answer)
    else:
        assert sorted(written) == sorted(formula)


def test_formulas_that_are_one_are_grouped_and_declared_as_python():
    found = Class(asked=(TERM.id,))
    for who, text in {"a": "2*S/W", "b": "(S + S)/W", "c": "S/(W/2)", "d": "3*S/W"}.items():
        found.answer(who, TERM, text)
    (one,) = unexplained(found.gathered())
    assert set(one.learners) == set("abc")
    (mistake,) = eval(one.declaration, {"Mistake": Mistake})
    assert mistake.value(S=6.0, W=4.0) == 3.0


def test_what_was_not_kept_is_grouped_by_what_was_told():
    found = Class(asked=(MEAN.id,))
    for who in "abc":
        found.wrote(who, MEAN, "", Result(MEAN.id, 0.0, 3.0, "`mean([2.0])` gives `5`."))
    (one,) = unexplained(found.gathered())
    assert (one.shown, one.told, len(one.learners)) == ("", "`mean([2.0])` gives `5`.", 3)
    assert one.declaration.startswith("Mistake(lambda xs: ...")


def test_an_answer_that_one_gave_is_not_frequent():
    found = Class(asked=(STEPS.id,))
    found.answer("ann", STEPS, 31)
    assert unexplained(found.gathered()) == []


@pytest.mark.parametrize(
    ("answer", "want", "said"),
    [
        (3.0, 2.0, "3/2 of the right answer"),
        (6.0, 2.0, "3 times the right answer"),
        (-1.0, 2.0, "-1/2 of the right"),
        (0.0, 2.0, ""),
        (2.0, 0.0, ""),
        (2.7182, 1.0, "2.72 times"),
        (1e300, 1e-300, ""),
    ],
)
def test_a_ratio_is_told_as_a_fraction_where_one_is_near(answer, want, said):
    assert ratio_to(answer, want).startswith(said)
    assert bool(ratio_to(answer, want)) == bool(said)


def test_an_answer_that_is_right_for_somebody_else_names_them():
    found = Class(variants=True, asked=(COPY.id,))
    ann = COPY.variant("ann")
    copycat = next(who for who in map("l{}".format, range(99)) if COPY.variant(who)["W"] != ann["W"])
    found.answer("ann", COPY, COPY.expected(ann))
    found.answer(copycat, COPY, COPY.expected(ann))
    found.enrolled("zoe")
    (one,) = borrowed(found.gathered())
    assert (one.learner, one.exercise) == (copycat, COPY.id)
    assert "ann" in one.owners
    assert copycat not in one.owners
    assert ("zoe" in one.owners) == (COPY.expected(COPY.variant("zoe")) == COPY.expected(ann))
    assert beliefs(found.gathered()) == unexplained(found.gathered()) == []


def test_without_numbers_of_ones_own_nothing_is_borrowed():
    found = Class(asked=(COPY.id,))
    found.answer("ann", COPY, 4e8 / 5e10)
    assert borrowed(found.gathered()) == []


def group(value) -> Gathered:
    """ann has submitted for bob, who has other numbers."""
    bob = next(who for who in map("l{}".format, range(99)) if COPY.variant(who)["S"] != COPY.variant("ann")["S"])
    found = Class(variants=True, asked=(COPY.id,))
    found.answer("ann", COPY, value)
    found.learners[bob] = Learner(bob, found.learners["ann"].results, submitted_by="ann")
    gathered = found.gathered()
    del gathered.entries[bob]  # a journal has who submitted
    return gathered


def test_the_answer_of_a_group_is_for_the_numbers_of_who_submitted():
    given = COPY.variant("ann")
    gathered = group(3 * given["S"] / given["W"])
    assert [(dict(one.given), one.value) for one in gathered.answers[COPY.id]] == [
        (given, 3 * given["S"] / given["W"])
    ] * 2
    (one,) = beliefs(gathered)
    assert len(one.learners) == 2


def test_a_group_has_one_answer_which_is_not_several():
    assert unexplained(group(17.0)) == []
    other = next(row for row in COPY.variants() if row["W"] != COPY.variant("ann")["W"])
    assert [one.learner for one in borrowed(group(COPY.expected(other)))] == ["ann"]


def test_pairs_name_the_owner_of_most_answers():
    made = [
        believed.Borrowed("q1", "bob", ("ann", "cy")),
        believed.Borrowed("q2", "bob", ("ann",)),
        believed.Borrowed("q1", "dee", ("cy",)),
    ]
    assert pairs(made) == [("bob", "ann", 2, 2), ("dee", "cy", 1, 1)]
    assert pairs([believed.Borrowed("q1", "bob", ())]) == []


def test_an_exercise_that_is_not_declared_any_more_still_counts():
    found = Class(asked=(MEAN.id,))
    found.wrote("ann", MEAN, "", Result(MEAN.id, 0.0, 1.0, "Said.", kind="mistake"))
    gathered = found.gathered()
    gathered.bank = Bank([STEPS])
    assert beliefs(gathered) == unexplained(gathered) == borrowed(gathered) == []
