import re
from dataclasses import replace

import pytest
import sympy

from autograder.answers import Expression, integers, multiples, positive
from autograder.declaration import Exercise
from autograder.values import encoding, slips
from tests.autograder.answers.test_expression import CASES, RING, ROOF

EXACT = "2*(n-1)*alpha + 2*(n-1)/n*S/W"
PARAMS = Exercise(
    id="t-params",
    prompt="?",
    answer=Expression({"P": positive("param", 1, 1e12), "n": integers(1, 512)}, unit="B"),
    solution=lambda P, n: 16 * P / n,
)

BYTES = replace(RING, prompt="How long do the ranks take for S bytes, links carrying W each way?")


def judge(exercise, answer):
    verdict = exercise.judge_message(encoding.encode(answer))
    assert (verdict.score, verdict.kind) == (0.0, "wrong")
    return verdict


def words(verdict):
    """What stands in the sentence between spaces: letters, units and numbers among them."""
    return {word.rstrip(".,;:") for word in verdict.say.split()}


@pytest.mark.parametrize(
    ("answer", "reason", "units"),
    [
        ("S", "other-unit", {"s", "B"}),
        ("n", "other-unit", {"s"}),
        ("S*W", "other-unit", {"s", "B^2/s"}),
        ("S + alpha", "adds-units", {"s", "B"}),
        ("max(S/W, S)", "compares-units", {"s", "B"}),
        ("log2(S)*alpha", "log2-of-unit", {"log2", "B"}),
        ("alpha**n", "unit-to-a-power", {"s"}),
        ("2**alpha", "unit-in-exponent", set()),
        ("where(S > alpha, alpha, alpha)", "compares-units", {"s", "B"}),
        ("where(n > 3, alpha, S)", "cases-of-units", {"s", "B"}),
        ("W/S", "other-unit", {"s", "1/s"}),
        ("sqrt(S)/W", "other-unit", {"s", "s/B^(1/2)"}),
    ],
)
def test_its_dimension(answer, reason, units):
    verdict = judge(RING, answer)
    assert verdict.reason == reason
    assert units <= words(verdict)


@pytest.mark.parametrize("answer", ["ceil(16*P/n)", "16*floor(P/n)", "16*ceil(P)/n"])
def test_rounding_what_is_a_real_number(answer):
    assert judge(PARAMS, answer).reason == "rounded"


def test_rounding_does_not_excuse_another_mistake():
    assert judge(PARAMS, "ceil(8*P/n)").reason != "rounded"


def test_the_words_for_a_wrong_dimension():
    assert judge(RING, "n").say == "Not yet: the answer is in s, yours is in plain numbers."


@pytest.mark.parametrize(
    ("factor", "slip"),
    [
        ("2", 2),
        ("1/2", 2),
        ("8", 8),
        ("1/8", 8),
        ("1000", 1000),
        ("7/2", 0),
        ("64", 0),
        ("1.07", 0),
        ("(1 - 1e-9)", 0),
        ("10**400", 0),
    ],
)
def test_a_constant_ratio(factor, slip):
    verdict = judge(BYTES, f"({EXACT})*{factor}")
    assert verdict.reason == "constant-factor"
    assert set(re.findall(r"\d+", verdict.say)) == ({str(slip)} if slip else set())


def test_a_factor_of_two_is_blamed_on_what_the_prompt_speaks_of():
    assert slips.twice(BYTES.prompt) in judge(BYTES, f"2*({EXACT})").say


def test_the_wrong_sign():
    assert judge(RING, f"-({EXACT})").reason == "sign"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (f"n*({EXACT})", "factor-too-many"),
        (f"({EXACT})/n", "factor-missing"),
        (f"({EXACT})*n**2", "factor-too-many"),
        (f"({EXACT})*sqrt(n)", "factor-too-many"),
        (f"3*n*({EXACT})", "factor-too-many-and-constant"),
        (f"({EXACT})/n/3", "factor-missing-and-constant"),
    ],
)
def test_a_factor_is_told_by_its_letter_alone(answer, reason):
    verdict = judge(RING, answer)
    assert verdict.reason == reason
    assert words(verdict) & {*RING.answer.symbols} == {"n"}
    assert not re.search(r"[\d^*/]|sqrt", verdict.say)


PRODUCT = Exercise(
    id="t-product",
    prompt="How many elements?",
    answer=Expression({"n": integers(2, 64), "d": integers(2, 4096), "k": positive("1")}),
    solution=lambda n, d, k: 12 * n * d**2,
)


@pytest.mark.parametrize(
    ("answer", "reason", "told"),
    [
        ("1", "factor-missing-and-constant", "does not depend on n, d,"),
        ("n", "factor-missing-and-constant", "does not depend on d,"),
        ("n*d", "factor-missing-and-constant", "grows too slowly with d,"),
        ("12*n*d**2*k", "factor-too-many", "depends on k,"),
        ("12*d**2*n/k", "factor-missing", "depends on k,"),
        ("n*d**2", "constant-factor", "too small"),
        ("12*n**2*d", "factors-swapped", "grows too fast with n; it grows too slowly with d"),
        (
            "12*n**2*d*k",
            "factors-swapped",
            "depends on k, and the answer does not; it grows too fast with n; it grows ",
        ),
    ],
)
def test_a_product_cannot_be_read_off_the_judge(answer, reason, told):
    verdict = judge(PRODUCT, answer)
    assert verdict.reason == reason
    assert told in verdict.say
    assert not re.search(r"[\d^*/]|sqrt|times", verdict.say)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("S + 1", "letter-missing"),
        ("S + 1/3", "letter-missing"),
        ("S + T", "letter-missing"),
        ("S", "letter-missing"),
        ("S*T*G + 1", "wrong-value"),
        ("0*S", "zero"),
        ("1/(S + 1)", "letter-missing"),
    ],
)
def test_a_letter_that_may_be_zero(answer, reason):
    attention = Exercise(
        id="t-attention",
        prompt="?",
        answer=Expression({"T": integers(1, 65536), "S": integers(0, 131072), "G": integers(1, 64)}),
        solution=lambda T, S, G: G * (T * S + T * (T + 1) / 2) / (T * G + S + T),
    )
    assert judge(attention, answer).reason == reason


def test_factors_of_several_letters():
    verdict = judge(ROOF, "max(F/C, M/W)*F/M*W/C")
    assert verdict.reason == "factors-swapped"
    assert re.search(r"fast with F, W\b.*slowly with M, C\b|fast with F, W\b.*slowly with C, M\b", verdict.say)


@pytest.mark.parametrize(
    ("answer", "reason", "letters"),
    [
        ("2*n*alpha + 2*S/W", "limit-of-large", {"n"}),
        ("2*n*alpha + 2*(n-1)**2/n**2*S/W", "limit-of-large", {"n"}),
    ],
)
def test_right_only_in_a_limit(answer, reason, letters):
    verdict = judge(RING, answer)
    assert verdict.reason == reason
    assert words(verdict) & {*RING.answer.symbols} == letters


FAILURES = Exercise(
    id="t-failures",
    prompt="?",
    answer=Expression({"n": integers(2, 4096), "p": positive("1", 1e-4, 0.1), "d": positive("s", 1e-3, 1.0)}, "s"),
    solution=lambda n, p, d: d * (1 - (1 - p) ** n),
)
SHARING = Exercise(
    id="t-sharing",
    prompt="?",
    answer=Expression({"f": integers(2, 512), "u": integers(2, 512)}),
    solution=lambda f, u: f * (1 - (1 - 1 / u) ** (f - 1)),
)
WIDTH = Exercise(
    id="t-width",
    prompt="?",
    answer=Expression({"B": integers(1024, 65536), "R": positive("1", 20, 900)}),
    solution=lambda B, R: 2 * B * R / (2 * B - R),
)


@pytest.mark.parametrize(
    ("exercise", "answer", "reason", "letter"),
    [
        (FAILURES, "d*(1 - exp(-n*p))", "limit-of-small", "p"),
        (FAILURES, "n*p*d*(1 - (n - 1)*p/2)", "limit-of-small", "p"),
        (FAILURES, "n*p*d", "limit-of-small", "p"),
        (SHARING, "f*(1 - exp(-(f - 1)/u))", "limit-of-large", "u"),
        (WIDTH, "2*B*R/(B - R)", "wrong-value", ""),  # right far beyond the largest R, behind the pole at B
        (WIDTH, "R", "limit-of-large", "B"),
    ],
)
def test_a_limit_is_told_where_the_domain_leads_to_it(exercise, answer, reason, letter):
    verdict = judge(exercise, answer)
    assert verdict.reason == reason
    assert not letter or letter in words(verdict)


def test_one_change_that_mends_it_is_told_before_a_limit():
    verdict = judge(RING, "2*(n-1)/n*S/W")
    assert verdict.reason == "term-missing"
    assert not words(verdict) & {*RING.answer.symbols}, "no letter, which would tell the term"


@pytest.mark.parametrize(("exercise", "answer"), [(ROOF, "F/C"), (ROOF, "M/W"), (CASES, "S/400"), (CASES, "S/(50*Y)")])
def test_right_in_one_case(exercise, answer):
    verdict = judge(exercise, answer)
    assert verdict.reason == "one-case"
    assert point(verdict) == [*exercise.answer.symbols]


def point(verdict):
    """The letters whose values a counterexample gives."""
    return re.findall(r"(\w+) = [\d.]", verdict.say)


def test_off_by_a_factor_of_one_letter_alone():
    verdict = judge(RING, f"({EXACT})*(n+1)/(n-1)*2")
    assert verdict.reason == "one-letter"
    assert words(verdict) & {*RING.answer.symbols} == {"n"}


def test_letters_that_are_missing():
    verdict = judge(RING, "(n-1)*(n-2)*alpha")
    assert verdict.reason == "letter-missing"
    assert words(verdict) & {*RING.answer.symbols} == {"S", "W"}


def test_a_counterexample_has_the_learners_own_value():
    verdict = judge(RING, "where(n>2, 3, 7)*alpha + S/W*n**2*5")
    assert verdict.reason == "wrong-value"
    assert point(verdict) == [*RING.answer.symbols]


def test_a_counterexample_does_not_give_the_solution_away():
    verdict = judge(ROOF, "min(F/C, 3*M/W)")
    assert verdict.reason == "wrong-value"
    assert point(verdict) == [*ROOF.answer.symbols]
    assert verdict.say.endswith("s, which is not right.")
    assert "expected" not in verdict.say


def test_a_formula_that_is_right_but_for_one_change_is_told_which_kind(monkeypatch):
    verdict = judge(ROOF, "min(F/C, M/W)")
    assert verdict.reason == "max-for-min"
    assert not re.search(r"[FCMW]\b|\d", verdict.say)
    monkeypatch.setattr("autograder.answers.expression_diagnosis.MOST_NODES", 0)
    assert judge(ROOF, "min(F/C, M/W)").reason == "wrong-value"


def test_no_value_where_the_solution_has_one():
    assert judge(CASES, "where(Y <= 8, S/400, S/(50*Y))*(Y - 9)/(Y - 9)").reason == "no-value"


def test_where_the_solution_holds_a_unit_itself_dimensions_are_not_held_against_the_learner():
    # 16 bytes a parameter: the number carries the unit.
    verdict = judge(PARAMS, "12*P/n")
    assert verdict.reason == "constant-factor"
    assert not re.search(r"\d", verdict.say)


def test_zero():
    assert judge(RING, sympy.Integer(0)).reason == "zero"


@pytest.mark.parametrize("answer", [f"2*({EXACT})", f"n*({EXACT})", "2*S/W", "S", "n*alpha", "7*alpha + S/W/n"])
def test_no_sentence_holds_the_solution(answer):
    assert "2*(n" not in judge(RING, answer).say


BRANCH = Exercise(
    id="t-branch",
    prompt="?",
    answer=Expression(
        {
            "p": positive("1", 0.001, 0.999),
            "a": positive("1", 1, 1000),
            "b": positive("1", 1, 1000),
            "w": integers(1, 64),
        }
    ),
    solution=lambda p, a, b, w: a * (1 - (1 - p) ** w) + b * (1 - p**w),
)


@pytest.mark.parametrize(("power", "p", "q"), [("0.33", 1, 3), ("0.3333", 1, 3), ("-0.667", -2, 3)])
def test_a_rounded_exponent_is_named_where_all_else_is_right(power, p, q):
    kind = Expression({"n": positive("1", 1, 100), "k": positive("1", 1, 100)})
    asked = Exercise(id="t-root", prompt="?", answer=kind, solution=lambda n, k: n * k ** sympy.Rational(p, q))
    assert judge(asked, f"n*k**({power})").reason == "rounded-exponent"
    assert judge(asked, f"2*n*k**({power})").reason != "rounded-exponent"
    assert judge(asked, "n*k**0.4").reason != "rounded-exponent"


@pytest.mark.parametrize("answer", ["2*(n-1)*alpha + 2*S/W", "2*(n-1)/n*S/W", "2*(n-1)*alpha"])
def test_a_term_that_is_missing_is_told_before_a_limit_in_which_it_vanishes(answer):
    assert judge(RING, answer).reason == "term-missing"


def test_a_share_is_never_said_to_be_large():
    verdict = judge(BRANCH, "a*(1 - (1 - p)**(w + 1)) + b*(1 - p**w) + 1")
    assert verdict.reason == "limit-of-large"
    assert "p" not in words(verdict)


def test_a_letter_that_is_missing_is_named_beside_a_limit_of_another():
    verdict = judge(BRANCH, "a*(1 - (1 - p)**32) + b*(1 - p**32)")
    assert verdict.reason == "limit-of-small"
    assert {"w", "p"} <= words(verdict)


def test_a_limit_is_told_of_the_letter_that_makes_it_and_not_of_another_that_follows():
    """E is so many times n, and grows with it."""
    exercise = Exercise(
        id="t-home",
        prompt="Of E experts, n groups of them?",
        answer=Expression({"n": integers(2, 256), "E": multiples("n", 2, 16), "T": positive("1")}, "1"),
        solution=lambda n, E, T: T * (E - 1) / n,
    )
    verdict = judge(exercise, "T*E/n")
    assert verdict.reason == "limit-of-large"
    assert "large E" in verdict.say
