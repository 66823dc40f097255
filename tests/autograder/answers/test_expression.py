import random
import time

import pytest
import sympy

from autograder.answers import Expression, answer_from, integers, positive, powers_of_two
from autograder.answers.expression import difference
from autograder.declaration import DeclarationError, Exercise, Mistake, unreadable
from autograder.values import encoding
from tests.conftest import stable_id

RING = Exercise(
    id="t-ring",
    prompt="Derive it.",
    solution=lambda n, S, alpha, W: 2 * (n - 1) * alpha + 2 * (n - 1) / n * S / W,
    answer=Expression(
        {"n": integers(2, 4096), "S": positive("B"), "alpha": positive("s"), "W": positive("B/s")}, unit="s"
    ),
    mistakes=(
        Mistake(lambda S, W: S / W, "Each byte crosses a link about twice."),
        Mistake(lambda n, S, alpha, W: 2 * (n - 1) * (alpha + S / W), "A step moves S/n bytes."),
    ),
)
ROOF = Exercise(
    id="t-roof",
    prompt="Derive it.",
    solution=lambda F, M, C, W: sympy.Max(F / C, M / W),
    answer=Expression(
        {"F": positive("FLOP"), "M": positive("B"), "C": positive("FLOP/s"), "W": positive("B/s")}, unit="s"
    ),
    mistakes=(Mistake(lambda F, M, C, W: F / C + M / W, "They overlap."),),
)
TREE = Exercise(
    id="t-tree",
    prompt="Derive it.",
    solution=lambda n, alpha: sympy.ceiling(sympy.log(n, 2)) * alpha,
    answer=Expression({"n": integers(2, 4096), "alpha": positive("s")}, unit="s"),
)
TILES = Exercise(
    id="t-tiles",
    prompt="Derive it.",
    solution=lambda n, k: sympy.ceiling(n / k),
    answer=Expression({"n": integers(1, 100_000), "k": integers(1, 64)}),
)
CASES = Exercise(
    id="t-cases",
    prompt="Derive it.",
    answer=Expression({"Y": integers(1, 512), "S": positive("B")}),
    solution=lambda Y, S: sympy.Piecewise((S / 400, Y <= 8), (S / (50 * Y), True)),
)


def judge(exercise, answer):
    return exercise.judge_message(encoding.encode(answer))


n, S, alpha, W = sympy.symbols("n S alpha W")
np_, Sp = sympy.Symbol("n", integer=True, positive=True), sympy.Symbol("S", real=True)


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        (RING, 2 * (n - 1) * alpha + 2 * (n - 1) / n * S / W),
        (RING, "2*(n-1)*(alpha + S/(n*W))"),
        (RING, "(n-1)*2*α + 2*(S - S/n)/W"),
        (RING, 2 * (np_ - 1) * (alpha + Sp / (np_ * W))),
        (RING, 2.0 * (n - 1) * alpha + 2.0 * (n - 1) / n * S / W),
        (RING, "0.1*20*(n-1)*alpha + 2*(n-1)/n*S/W"),
        (RING, (2 / 3) * 3 * (n - 1) * (alpha + S / n / W)),
        (RING, sympy.expand(2 * (n - 1) * (alpha + S / (n * W)))),
        (RING, sympy.simplify(2 * (n - 1) * (alpha + S / (n * W)))),
        (ROOF, "max(F/C, M/W)"),
        (ROOF, "(F/C + M/W + abs(F/C - M/W))/2"),
        (ROOF, "F/C if F/C > M/W else M/W"),
        (ROOF, "max(F*W, M*C)/(C*W)"),
        (ROOF, "where(F/M > C/W, F/C, M/W)"),
        (ROOF, "-min(-F/C, -M/W)"),
        (TREE, "ceil(log2(n))*alpha"),
        (TREE, "ceil(log(n)/log(2))*alpha"),
        (TREE, sympy.ceiling(sympy.log(n, 2)) * alpha),
        (TREE, "ceil(ln(n**2)/ln(4))*alpha"),
        (TILES, "ceil(n/k)"),
        (TILES, "(n + k - 1)//k"),
        (TILES, "-((-n)//k)"),
        (TILES, "(n - 1)//k + 1"),
        (TILES, "n//k + where(n % k > 0, 1, 0)"),
        (CASES, "S/400 if Y < 9 else S/(50*Y)"),
        (CASES, "where(Y > 8, S/50/Y, S/400)"),
    ],
    ids=stable_id,
)
def test_the_same_expression_in_another_form_is_right(exercise, answer):
    verdict = judge(exercise, answer)
    assert (verdict.score, verdict.kind) == (1.0, "right"), verdict


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        (RING, "2*(n-1)*alpha + 2*S/W"),
        (RING, "(2*(n-1)*alpha + 2*(n-1)/n*S/W)*1.000000001"),
        (RING, "2*(n-1)*alpha + 2*(n-1)/n*S/W + alpha/10**9"),
        (RING, "2*(n-1)*alpha + 2*(n-1)/n*S/W + where(n == 2, alpha, 0)"),
        (RING, "2*(n-1)*alpha + 2*(n-1)/n*S/W + where(n > 4000, alpha, 0)"),
        (RING, "2*(n-1)*alpha + 2*(n-1)/n*S/W + where(n == 1777, alpha, 0)"),
        (RING, "where(S > 10**11, 0, 1)*(2*(n-1)*alpha + 2*(n-1)/n*S/W)"),
        (RING, "2*(n-1)*alpha + 2*(n-1)/n*S/W/where(n > 1, 1, 0*n) + 1/(n-2)*0*alpha"),
        (ROOF, "F/C"),
        (ROOF, "M/W"),
        (ROOF, "min(F/C, M/W)"),
        (ROOF, "where(F/M > 2*C/W, F/C, M/W)"),
        (TREE, "log2(n)*alpha"),
        (TREE, "(floor(log2(n)) + 1)*alpha"),
        (TREE, "floor(log2(n))*alpha"),
        (TILES, "n//k"),
        (TILES, "n//k + 1"),
        (TILES, "n/k"),
        (TILES, "floor(n/k + 1/2)"),
        (CASES, "S/400 if Y < 7 else S/(50*Y)"),
        (CASES, "S/400 if Y <= 9 else S/(50*Y)"),
        (CASES, "S/400"),
        (CASES, "S/(50*Y)"),
    ],
    ids=stable_id,
)
def test_nearly_the_same_is_wrong(exercise, answer):
    verdict = judge(exercise, answer)
    assert verdict.score == 0.0, verdict


def test_declared_mistakes_come_first():
    assert judge(RING, "S/W").say == "Each byte crosses a link about twice."
    assert judge(ROOF, "M/W + F/C").kind == "mistake"


@pytest.mark.parametrize(
    ("answer", "reason", "named"),
    [
        ("x + S/W", "unknown-letter", "`x`"),
        (sympy.S, "letter-of-sympy", " S, "),
        (sympy.N, "letter-of-sympy", " N, "),
        (n * sympy.I, "letter-of-sympy", " I, "),
        ("S < W", "comparison", ""),
        (sympy.Lt(S, W), "comparison", ""),
        (sympy.Eq(S, W), "equation", ""),
        ((S, W), "several-expressions", "tuple"),
        (sympy.oo, "not-finite", "oo"),
        ([S], "several-expressions", "list"),
        (True, "truth-value", "True"),
        (len, "function", "`len`"),
        ("2(n-1)", "multiplication-sign", "2*n"),
        ("S ** ", "not-an-expression", "2*(n - 1)/n * S/W"),
        (float("nan"), "not-finite", "nan"),
        ({"S": 1}, "several-expressions", "dict"),
    ],
    ids=stable_id,
)
def test_what_is_no_expression_is_told_so(answer, reason, named):
    try:
        verdict = judge(RING, answer)
    except encoding.NotEncodable as refused:
        verdict = unreadable(str(refused), refused.reason)
    assert (verdict.score, verdict.kind, verdict.reason) == (0.0, "unreadable", reason)
    assert named in verdict.say


def test_an_empty_text_is_no_answer_yet():
    assert judge(RING, "").kind == "empty"


def test_the_words_for_an_equation():
    assert judge(RING, sympy.Eq(S, W)).say == (
        "The answer could not be read: an equation; its right-hand side alone was expected."
    )


def test_sympys_number_e_for_the_letter_has_its_own_sentence():
    experts = Exercise(
        id="t-experts",
        prompt="?",
        answer=Expression({"E": integers(1, 512), "k": integers(1, 8)}),
        solution=lambda E, k: E / k,
    )
    verdict = judge(experts, sympy.E / sympy.Symbol("k"))
    assert verdict.reason == "letter-of-sympy"
    assert "2.718" in verdict.say
    assert judge(experts, "E/k").score == 1
    assert judge(experts, sympy.Symbol("E") / sympy.Symbol("k")).score == 1


def test_a_number_is_an_expression_too():
    e = Exercise(
        id="t-half",
        prompt="?",
        answer=Expression({"n": integers(1, 9)}),
        solution=lambda n: sympy.Rational(1, 2) + 0 * n,
    )
    assert [judge(e, v).score for v in (0.5, "1/2", sympy.Rational(1, 2), 1)] == [1, 1, 1, 0]


@pytest.mark.parametrize(
    "answer",
    [
        "+".join(f"(n+{i})**40" for i in range(40)),
        "*".join(f"log(n+{i}*S)" for i in range(1, 30)),
        "((((n**n)**n)**n)**n)*alpha",
        "max(" + ",".join(f"S*{i}-n" for i in range(1, 40)) + ")",
    ],
)
def test_a_heavy_expression_is_judged_in_bounded_time(answer):
    start = time.monotonic()
    assert judge(RING, answer).score == 0
    assert time.monotonic() - start < 6


def test_a_message_made_by_hand_scores_nothing():
    for message in (
        {"$": "tree", "v": ["pow", ["num", "10"], ["pow", ["num", "10"], ["num", "99"]]]},
        {"$": "tree", "v": ["sym", "__class__"]},
        {"$": "tree", "v": [["add"]]},
        {"$": "tree", "v": ["exec", ["num", "1"]]},
    ):
        assert RING.judge_message(message).score == 0


def test_points_lie_in_the_domains_and_on_both_sides_of_every_switch():
    kind, tree = ROOF.answer, ROOF.answer.tree(ROOF.solution)
    points = kind.points([tree])
    assert all(d.lo <= p[name] <= d.hi for p in points for name, d in kind.symbols.items())
    sides = {p["F"] / p["C"] > p["M"] / p["W"] for p in points}
    assert sides == {True, False}
    ratios = [float(p["F"] * p["W"] / (p["C"] * p["M"])) for p in points]
    assert any(0.9999 < r <= 1 for r in ratios)
    assert any(1 <= r < 1.0001 for r in ratios)
    assert points == kind.points([tree])


def test_a_case_outside_the_domain_is_reported():
    never = Exercise(
        id="t-never",
        prompt="?",
        answer=Expression({"n": integers(1, 100)}),
        solution=lambda n: sympy.Piecewise((1, n < 500), (n, True)),
    )
    assert never.answer.unreached(never)
    assert not ROOF.answer.unreached(ROOF)
    assert not CASES.answer.unreached(CASES)


@pytest.mark.parametrize(
    "domain",
    [integers(0, 5), integers(2, 4096), positive("B"), positive("s", 1e-6, 1e-3), powers_of_two(1, 1024)],
)
def test_a_domain_draws_within_itself(domain):
    rng = random.Random(5)
    for value in [*(domain.draw(rng) for _ in range(200)), *domain.ends(), *domain.special()]:
        assert domain.lo <= value <= domain.hi
        if domain.kind == "integers":
            assert value.denominator == 1
        if domain.kind == "powers_of_two":
            assert value.numerator & (value.numerator - 1) == 0


@pytest.mark.parametrize(
    "make",
    [
        lambda: integers(5, 2),
        lambda: positive("B", 0, 1),
        lambda: positive("B", 1, float("inf")),
        lambda: integers(-3, 4),
    ],
)
def test_a_domain_that_is_none(make):
    with pytest.raises(DeclarationError, match=r" from .* to .*positive"):
        make()


def test_the_stub_and_the_public_record_name_the_letters():
    assert RING.stub() == 'n, S, alpha, W = symbols("t-ring")\nanswer = ...  # an expression in n, S, alpha, W'
    kind = answer_from(RING.public())
    assert kind.symbols == RING.answer.symbols
    assert kind.readable("S/W") == "an expression in S, W"


def test_the_letters_for_sympy_carry_the_domains_assumptions():
    assert RING.answer.symbols["n"].symbol("n").is_integer
    assert RING.answer.symbols["S"].symbol("S").is_positive
    assert integers(0, 4).symbol("k").is_positive is None


def test_difference_ignores_points_where_the_solution_has_no_value():
    kind = TILES.answer
    one, other = kind.read("n/(n-1)"), kind.read("1 + 1/(n-1)")
    assert difference(one, other, kind.points([one])) is None
