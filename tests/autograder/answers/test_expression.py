import random
import time
from fractions import Fraction

import pytest
import sympy

from autograder.answers import Expression, answer_from, integers, multiples, positive, powers_of_two
from autograder.answers.domains import DomainSpace
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


def test_decimals_that_add_nothing_do_not_make_it_nearly_right():
    answer = RING.solution(n, S, alpha, W)
    nothing = ["mul", ["num", "0"], ["add", *[["dec", "1.0001"]] * 450]]
    for factor, score in (("1", 1), ("1.001", 0)):
        right = encoding.encode(answer)["v"]
        message = {"$": "tree", "v": ["add", ["mul", ["dec", factor], right], nothing, nothing, nothing]}
        assert RING.judge_message(message).score == score


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
        ("S/n(n-1)", "multiplication-sign", "`n*(n-1)`"),
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


def test_a_wrong_formula_says_how_its_products_were_read():
    assert judge(RING, "2(n-1)α + 2(n-1)S/(n W)").score == 1
    assert "read as `(n-1)*S/(n*W)`" in judge(RING, "(n-1)S/(n W)").say
    assert "read as" not in judge(RING, "(n-1)*S/(n*W)").say


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
    [
        integers(0, 5),
        integers(2, 4096),
        integers(3, 512, step=2),
        positive("B"),
        positive("s", 1e-6, 1e-3),
        powers_of_two(1, 1024),
    ],
)
def test_a_domain_draws_within_itself(domain):
    rng = random.Random(5)
    for value in [*(domain.draw(rng) for _ in range(200)), *domain.ends(), *domain.special()]:
        assert domain.lo <= value <= domain.hi
        if domain.kind == "integers":
            assert (value - domain.lo) % domain.step == 0
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


@pytest.mark.parametrize(
    "symbols",
    [
        lambda: {"n": integers(2, 9, step=0)},
        lambda: {"r": multiples("", 1, 9)},
        lambda: {"r": multiples("p +", 1, 9), "p": integers(1, 9)},
        lambda: {"r": multiples("q", 1, 9), "p": integers(1, 9)},
        lambda: {"k": integers(1, 9, most="q")},
        lambda: {"r": multiples("p", 1, 9), "p": multiples("q", 1, 9), "q": integers(1, 9)},
    ],
)
def test_a_condition_that_is_none(symbols):
    with pytest.raises(DeclarationError):
        Exercise(id="t-bad", prompt="?", answer=Expression(symbols()), solution=lambda: 1)


READS = Exercise(  # r is a multiple of p
    id="t-reads",
    prompt="Derive it.",
    answer=Expression({"r": multiples("p", 1, 512, "B"), "p": positive("B", 32, 4096), "h": positive("B", 4, 128)}),
    solution=lambda r, p, h: r / (r + h * r / p + h),
)
MESH = Exercise(  # n is even
    id="t-mesh",
    prompt="Derive it.",
    answer=Expression({"n": integers(2, 512, step=2), "W": positive("B/s")}, "B/s"),
    solution=lambda n, W: n**2 * W / (4 * (n - 1)),
)
LEAVES = Exercise(  # p is a multiple of 1 + r, and k at most r
    id="t-leaves",
    prompt="Derive it.",
    answer=Expression({"p": multiples("1 + r", 1, 40), "r": integers(1, 12), "k": integers(1, 20, most="r")}),
    solution=lambda p, r, k: k * p / (1 + r) + sympy.Min(p, 5 * k),
)


@pytest.mark.parametrize(
    ("exercise", "answer", "score"),
    [
        (READS, "r/(r + h*ceil(r/p) + h)", 1),
        (READS, "r/(r + h*(r//p) + h)", 1),
        (READS, "r/(r + h*(r//p + 1))", 1),
        (READS, "r/(r + h*r/p + h*(1 + r % p))", 1),
        (READS, "r/(r + h*floor(r/p))", 0),
        (READS, "r/(r + h*ceil(r/(2*p)) + h)", 0),
        (MESH, "(n//2)**2*W/(n - 1)", 1),
        (MESH, "floor(n/2)*ceil(n/2)*W/(n - 1)", 1),
        (MESH, "where(n % 2 == 0, n**2*W/(4*(n - 1)), 0)", 1),
        (MESH, "((n + 1)//2)*((n - 1)//2)*W/(n - 1)", 0),
        (MESH, "(n//4)*n*W/(2*(n - 1))", 0),
        (LEAVES, "k*(p//(1 + r)) + min(p, 5*k)", 1),
        (LEAVES, "min(k, r)*ceil(p/(1 + r)) + min(p, 5*k)", 1),
        (LEAVES, "k*(p//(2 + r)) + min(p, 5*k)", 0),
    ],
)
def test_a_condition_of_the_prompt_may_be_relied_on(exercise, answer, score):
    verdict = judge(exercise, answer)
    assert verdict.score == score, verdict.say


@pytest.mark.parametrize("exercise", [READS, MESH, LEAVES], ids=lambda e: e.id)
def test_every_point_meets_the_conditions(exercise):
    kind = exercise.answer
    others = [kind.read(answer) for answer in ("min(p, 3*r)", "max(40, p*(r//7))") if "r" in kind.symbols]
    trees = [kind.tree(exercise.solution), *others, *([kind.read("max(n, 77)")] if exercise is MESH else [])]
    points = kind.points(trees)
    assert [p for p in points if not kind.space.has(p)] == []
    again = answer_from(exercise.public())
    assert again.symbols == kind.symbols
    assert again.points(trees) == points


def test_a_threshold_between_even_numbers_has_them_on_both_sides():
    found = {int(p["n"]) for p in MESH.answer.points([MESH.answer.read("max(n, 77)*W")])}
    assert {74, 76, 78, 80} <= found


def test_what_depends_on_a_letter_follows_it():
    space = DomainSpace(LEAVES.answer.symbols)
    point = {"p": Fraction(20), "r": Fraction(4), "k": Fraction(3)}
    assert space.moved(point, "r", 2) == {"p": 12, "r": 2, "k": 2}
    assert space.moved(point, "p", 23) == {"p": 25, "r": 4, "k": 3}
    assert space.moved(point, "k", 9)["k"] == 4
    assert space.beyond(point, "r", Fraction(2**60)) == {"p": 4 * (1 + 2**60), "r": 2**60, "k": 3}
    assert space.beyond(point, "k", Fraction(2**60)) is None


@pytest.mark.parametrize(
    ("exercise", "answer", "reason"),
    [
        (READS, "(r - h)/(r + h*r/p)", "limit-of-large"),
        (MESH, "n*W/4", "limit-of-large"),
        (MESH, "n**2*W/(2*(n - 1))", "constant-factor"),
        (READS, "r/(r + h*r/p + h) * (1 + p/r)", "term-too-many"),
        (READS, "r/(r + h*r/p + h) * r/p", "factors-swapped"),
    ],
)
def test_the_diagnosis_keeps_to_the_conditions(exercise, answer, reason):
    assert judge(exercise, answer).reason == reason


def test_the_letters_for_sympy_know_what_is_even():
    n, W = (domain.symbol(name) for name, domain in MESH.answer.symbols.items())
    assert n.is_even
    assert integers(3, 9, step=2).symbol("k").is_odd
    assert judge(MESH, (n // 2) ** 2 * W / (n - 1)).score == 1
    r, p, h = (domain.symbol(name) for name, domain in READS.answer.symbols.items())
    assert judge(READS, r / (r + h * (r // p) + h)).score == 1


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


GROUPS = Exercise(
    id="t-groups",
    prompt="Derive it.",
    solution=lambda g, n, t: n / g * t,
    answer=Expression({"t": positive("s", 0.1, 60), "g": integers(2, 16), "n": multiples("g", 2, 256)}, unit="s"),
    mistakes=(Mistake(lambda n, t: n * t, "n/g groups."),),
)


@pytest.mark.parametrize("wrong", ["floor(t/7.3)", "floor(g/7.3)*t", "floor(n/900)*t", "ceil(g/n)*t"])
def test_a_step_where_what_depends_on_a_letter_has_no_value_is_a_wrong_answer(wrong):
    assert not GROUPS.judge(wrong).score
    assert GROUPS.judge("n/g*t").score == 1


def test_beyond_its_range_a_letter_takes_with_it_what_depends_on_it():
    space = DomainSpace(GROUPS.answer.symbols)
    point = {"t": Fraction(1), "g": Fraction(4), "n": Fraction(40)}
    assert space.beyond(point, "g", Fraction(32)) == {**point, "g": 32, "n": 320}
    assert space.beyond(point, "g", Fraction(1)) == {**point, "g": 1, "n": 10}
    assert space.beyond(point, "g", Fraction(0)) is None
