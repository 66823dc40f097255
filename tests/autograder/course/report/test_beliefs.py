"""Which mistakes a class makes, which answers nobody declared, and whose numbers an answer is for."""

from types import SimpleNamespace

import pytest

from autograder.answers import Quantity
from autograder.answers.undeclared import product, ratio_to
from autograder.course.class_results.class_result import Learner
from autograder.course.report import beliefs as believed
from autograder.course.report.beliefs import beliefs, borrowed, pairs, unexplained
from autograder.course.report.gathered_answers import Answered, Gathered
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


def test_the_most_frequent_mistake_of_an_exercise_is_first_and_of_two_the_one_whose_name_is():
    found = Class(asked=(STEPS.id,))
    for who, value in {"a": 7, "b": 8, "c": 8, "d": 7}.items():
        found.answer(who, STEPS, value)
    assert [(one.key, len(one.learners)) for one in beliefs(found.gathered())] == [
        ("made-steps#1", 2),
        ("made-steps#2", 2),
    ]
    found.answer("e", STEPS, 8)
    assert [one.key for one in beliefs(found.gathered())] == ["made-steps#2", "made-steps#1"]


def test_where_learners_have_other_numbers_a_sentence_has_letters():
    for variants, say in ((True, "Not *S* three times."), (False, "Not 100 MB three times.")):
        found = Class(variants=variants, asked=(COPY.id,))
        given = COPY.variant("ann" if variants else None)
        found.answer("ann", COPY, 3 * given["S"] / given["W"])
        (one,) = beliefs(found.gathered())
        assert one.say.replace("$", "*") == say


def test_a_sentence_that_was_not_said_is_that_of_the_verdict():
    found = Class(asked=(STEPS.id,))
    found.wrote(
        "ann", STEPS, "", Result(STEPS.id, 0.0, 1.0, "Once said so.", kind="mistake", mistakes=("made-steps#1",))
    )
    assert [one.say for one in beliefs(found.gathered())] == ["Once said so."]


@pytest.mark.parametrize(
    ("count", "of", "frequent"), [(1, 1, False), (2, 2, True), (2, 66, True), (2, 67, False), (3, 67, True)]
)
def test_an_answer_is_frequent_from_two_learners_and_three_in_a_hundred_on(monkeypatch, count, of, frequent):
    assert (believed.FEWEST, believed.SHARE) == (2, 0.03)
    found = Class(asked=(STEPS.id,))
    for number in range(of):
        found.answer(f"l{number}", STEPS, 31 if number < count else 14)
    assert bool(unexplained(found.gathered())) == frequent


def test_of_unexplained_answers_the_most_frequent_is_first_and_right_ones_are_none():
    found = Class(asked=(STEPS.id,))
    for number, value in enumerate([31, 31, 44, 44, 44, 14, 14, 14, 14, 7, 7]):
        found.answer(f"l{number}", STEPS, value)
    assert [one.shown for one in unexplained(found.gathered())] == ["44", "31"]


@pytest.mark.parametrize(("other", "groups"), [(1.0, 1), (1.25, 1), (1.2501, 2)])
def test_numbers_are_alike_within_twice_the_tolerance(other, groups):
    given = {"S": 1.0}
    exercise = Exercise(
        id="made-near", prompt="{S:B}?", given={"S": 1.0}, answer=Quantity("B", rtol=0.125), solution=8.0
    )
    made = [
        Answered(who, Result("made-near", 0.0, 1.0, "No."), given, value) for who, value in (("a", 1.0), ("b", other))
    ]
    assert len(believed._alike(Class().gathered(), exercise, made)) == groups


def test_what_is_right_for_other_numbers_is_not_grouped():
    made = [Answered("a", Result(STEPS.id, 0.0, 1.0, "No.", kind="variant"), {"n": 8}, 3)]
    assert believed._alike(Class().gathered(), STEPS, made) == []


def test_what_was_not_kept_counts_by_its_sentence_and_an_unreadable_value_too():
    result = Result(STEPS.id, 0.0, 1.0, "No.")
    assert believed._counted_as(STEPS, Answered("a", result, {"n": 8})) == "No."
    assert believed._counted_as(STEPS, Answered("a", result, {"n": 8}, "3 apples")) == "No."
    assert believed._counted_as(STEPS, Answered("a", result, {"n": 8}, 3)) != "No."


class Formulas:
    """An answer kind whose formulas are those of a table."""

    def __init__(self, table):
        self.table = table

    def formulas(self, _exercise, wrong):
        return [self.table[value] for value, _ in wrong]


def grouped(table, rows):
    exercise = SimpleNamespace(answer=Formulas(table))
    made = [Answered(f"l{at}", None, {"S": row}, value) for at, (value, row) in enumerate(rows)]
    return [[one.learner for one in group] for group in believed._by_formula(exercise, made)]


def test_one_formula_has_to_come_to_the_answers_for_two_rows_of_numbers():
    assert grouped({1: {"S": 1}}, [(1, 10), (1, 10)]) == []
    assert grouped({1: {"S": 1}, 2: {"S": 1}}, [(1, 10), (2, 20)]) == [["l0", "l1"]]
    assert grouped({1: {}}, [(1, 10), (1, 20)]) == []
    assert grouped({}, []) == []


def test_the_formula_of_most_comes_first_and_of_several_the_simplest():
    table = {1: {"S*W": 2, "S": 1}, 2: {"S*W": 2, "S": 1}, 3: {"S*W": 2}, 4: {"n": 1}, 5: {"n": 1}}
    rows = [(1, 10), (2, 20), (3, 30), (4, 10), (5, 20)]
    assert grouped(table, rows) == [["l0", "l1", "l2"], ["l3", "l4"]]


def test_sixty_answers_are_tried(monkeypatch):
    tried = []
    exercise = SimpleNamespace(
        answer=SimpleNamespace(formulas=lambda _, wrong: tried.append(len(wrong)) or [{}] * len(wrong))
    )
    made = [Answered(f"l{at}", None, {}, at) for at in range(61)] + [Answered("none", None, {})]
    assert believed._by_formula(exercise, made) == []
    assert tried == [60]
    declared = []
    kind = SimpleNamespace(declared_as=lambda _, wrong: declared.append(len(wrong)) or "1")
    assert believed.declaration(SimpleNamespace(answer=kind), made) == f'Mistake(1, "{believed.PLACE}"),'
    assert declared == [60]
    kind.declared_as = lambda *_: ""
    assert believed.declaration(SimpleNamespace(answer=kind), made) == ""


def test_an_owner_is_named_up_to_five():
    made = [believed.Borrowed("q1", "bob", tuple("hgfedca"))]
    assert [owner for _, owner, _, _ in pairs(made)] == list("acdef")
    several = [*made, believed.Borrowed("q1", "al", ("zoe",)), believed.Borrowed("q2", "al", ("zoe",))]
    assert pairs(several)[0] == ("al", "zoe", 2, 2)


@pytest.mark.parametrize(("count", "shown"), [(119, 119), (120, 120), (121, 120)])
def test_a_long_answer_is_cut(count, shown):
    kind = SimpleNamespace(as_read=lambda value: value, relation=lambda *_: "", declared_as=lambda *_: "")
    made = [Answered("a", Result("e", 0.0, 1.0, "No. Not yet."), {}, "x" * count)]
    one = believed._unexplained(SimpleNamespace(answer=kind, id="e"), made)
    assert (len(one.shown), one.told) == (shown, "No.")


def test_where_numbers_differ_an_answer_is_that_for_the_first():
    kind = SimpleNamespace(as_read=str, relation=lambda *_: "", declared_as=lambda *_: "")
    result = Result("e", 0.0, 1.0, "No.")
    exercise = SimpleNamespace(answer=kind, id="e")
    same = [Answered("a", result, {"S": 1}, 5), Answered("b", result, {"S": 1}, 5)]
    assert believed._unexplained(exercise, same).shown == "5"
    other = [same[0], Answered("b", result, {"S": 2}, 10)]
    assert believed._unexplained(exercise, other).shown.startswith("5 for those numbers")
    nothing = [Answered("a", result, {"S": 1}), Answered("b", result, {"S": 2})]
    assert believed._unexplained(exercise, nothing).shown == ""


def test_who_answered_most_with_somebodys_numbers_is_first():
    made = [believed.Borrowed(f"q{at}", "al", (owner,)) for at, owner in enumerate(("x", "x", "y", "z", "w"))]
    made += [believed.Borrowed(f"q{at}", "bob", ("x",)) for at in range(3)]
    assert pairs(made) == [("bob", "x", 3, 3), ("al", "x", 2, 5)]
