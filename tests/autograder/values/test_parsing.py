import gc
import time
from fractions import Fraction

import pytest

from autograder.values.evaluation import Clock, Undefined, value
from autograder.values.parsing import completed, parse
from autograder.values.trees import Tree, TreeError
from hwlib.notation import NOTATION

POINT = {"n": Fraction(8), "S": Fraction(3), "W": Fraction(2), "alpha": Fraction(1, 2)}


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("2*(n - 1)/n * S/W", Fraction(21, 8)),
        ("2^n", 256),
        ("2×n − S ÷ W · 1", Fraction(29, 2)),
        ("α*n", 4),
        ("Max(S, W)", 3),
        ("ceiling(n/3)", 3),
        ("ln(1)", 0),
        ("log(n, 2)", 3),
        ("S if n ≥ 8 else W", 3),
        ("Piecewise((S, n < 8), (W, True))", 2),
        ("where(n > 1 and S > W, 1, 0)", 1),
        ("  n ", 8),
        ("1_000*n", 8000),
        ("1.5e1*n", 120),
        ("+n", 8),
        ("maximum(S, minimum(n, W))", 3),
    ],
)
def test_what_learners_type(text, want):
    assert value(parse(text, POINT), POINT) == pytest.approx(want, abs=1e-20)


def test_a_letter_of_the_exercise_goes_before_a_constant():
    assert parse("pi", {"pi"}) == Tree("sym", ("pi",))
    assert parse("pi", ()).head == "pi"


HOSTILE = [
    "__import__('os').system('id')",
    "n.__class__",
    "n[0]",
    "[n]",
    "{n: 1}",
    "lambda: 1",
    "(n for n in n)",
    "n := 3",
    "f'{n}'",
    "'n'",
    "eval(n)",
    "exec(n)",
    "open(n)",
    "n; n",
    "n\nn",
    "n = 3",
    "print(n)",
    "max(*n)",
    "max(key=n)",
    "n @ n",
    "n & 1",
    "n << 3",
    "~n",
    "n is n",
    "n in n",
    "(n, n)",
    "()",
    "",
    "1/2(n)",
    "1/2n",
    "n 2",
    "1j",
    "None",
    "...",
    "\\",
    "#",
    "`n`",
    "$n",
    "n?",
    "max()",
    "log2(n, 2, 3)",
    "sqrt",
    "where(1, 2, 3)",
    "n < 3 + where(n, 1, 2)",
    "9" * 200,
    "x" * 100,
    "n" + "+n" * 400,
    "-" * 400 + "n",
    "1e99999",
    "not n",
    "n and 1",
    "Piecewise(n)",
    "Piecewise((n, n))",
    "n\0",
    "<script>",
    "await n",
    "yield",
    "True + 1",
]


@pytest.fixture
def uncollected():
    """No garbage collection meanwhile: it takes longer than all that is timed, the more the tests before have left."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_everything_else_is_refused_quickly_with_a_sentence(text):
    start = time.process_time()
    with pytest.raises(TreeError) as refused:
        parse(text, POINT)
    assert time.process_time() - start < 0.5
    assert len(str(refused.value)) > 10
    assert "<" not in str(refused.value)


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("text", ["9**9**9**9", "(n**99)**99**9", "2**(2**(2**n))", "exp(exp(exp(exp(n))))"])
def test_numbers_beyond_bounds_stop_at_evaluation(text):
    start = time.process_time()
    tree = parse(text, POINT)
    with pytest.raises(Undefined):
        value(tree, POINT, Clock(2))
    assert time.process_time() - start < 0.5


@pytest.mark.parametrize(
    ("text", "reason", "named"),
    [
        ("t = n + 1", "equation", ""),
        ("1/2 n", "multiplication-sign", ": `2*n`"),
        ("n.real", "unknown-operation", "attribute"),
        ("[n]", "character", "'['"),
        ("max", "arguments", "max"),
        ("log2(n, 2)", "arguments", "log2"),
        ("n*" * 300 + "n", "too-large", " 500 "),
    ],
)
def test_what_learners_type_by_habit_has_its_own_sentence(text, reason, named):
    with pytest.raises(TreeError) as refused:
        parse(text, POINT)
    assert refused.value.reason == reason
    assert named in str(refused.value)


@pytest.mark.parametrize(
    ("text", "read", "write"),
    [
        ("S/2W", "between `2` and `W`", "`2*W`"),
        ("S/nW", "between `n` and `W`", "`n*W`"),
        ("S/W n", "between `W` and `n`", "`W*n`"),
        ("S//W n", "between `W` and `n`", "`W*n`"),
        ("S/W^2 n", "between `2` and `n`", "`2*n`"),
        ("S/(n - 1) W", "between `(n - 1)` and `W`", "`(n - 1)*W`"),
        ("2^nS", "between `n` and `S`", "`n*S`"),
        ("n^2S", "between `2` and `S`", "`2*S`"),
        ("n 2", "between `n` and `2`", "`n*2`"),
        ("2 foo", "between `2` and `foo`", "`2*foo`"),
    ],
)
def test_a_product_that_may_be_meant_in_two_ways_is_told_what_to_write(text, read, write):
    with pytest.raises(TreeError) as refused:
        parse(text, POINT)
    assert refused.value.reason == "multiplication-sign"
    assert read in str(refused.value)
    assert write in str(refused.value)


@pytest.mark.parametrize(
    ("text", "names"), [("aab", ["a", "aa", "b"]), ("aaa", ["a", "aa"]), ("HN", ["H", "N"]), ("2E3 D", ["E", "D"])]
)
def test_a_name_that_may_be_several_products_or_is_one_of_the_book_is_asked_about(monkeypatch, text, names):
    monkeypatch.setitem(NOTATION, "HN", NOTATION["alpha"])
    with pytest.raises(TreeError) as refused:
        parse(text, names)
    assert refused.value.reason == "multiplication-sign"


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("2 n", "2*n"),
        ("nW", "n*W"),
        ("2nSW", "2*n*S*W"),
        ("2 n S W", "2*n*S*W"),
        ("S/(nW)", "S/(n*W)"),
        ("αW", "alpha*W"),
        ("nα", "n*alpha"),
        ("alpha W n", "alpha*W*n"),
        ("α + n S", "alpha + n*S"),
        ("n(n - 1)", "n*(n - 1)"),
        ("(n - 1)W", "(n - 1)*W"),
        ("(n - 1)(n + 1)", "(n - 1)*(n + 1)"),
        ("2(n)", "2*(n)"),
        ("2n^2", "2*n**2"),
        ("n^2 S", "n**2*S"),
        ("2^n S W", "2**n*S*W"),
        ("2 n S/W", "2*n*S/W"),
        ("1/2*n S", "1/2*n*S"),
        ("log2(n)S", "log2(n)*S"),
        ("n log2(n)", "n*log2(n)"),
        ("max(n S, W)", "max(n*S, W)"),
        ("n S if n > 2 else 3 W", "n*S if n > 2 else 3*W"),
    ],
)
def test_a_product_needs_no_sign_where_it_can_be_meant_in_one_way(text, read):
    assert completed(text, POINT) == read
    assert parse(text, POINT) == parse(read, POINT)


@pytest.mark.parametrize(
    ("text", "names"), [("μ n", ["mu", "n"]), ("µ n", ["mu", "n"]), ("β", ["beta"]), ("ρ_x", ["rho_x"])]
)
def test_a_greek_letter_is_its_name_where_the_exercise_has_it(text, names):
    assert parse(text, names).names() == {*names}
    assert parse("λ", names) == Tree("sym", ("λ",))


@pytest.mark.parametrize("text", ["n_W", "nWx", "tW"])
def test_a_name_that_is_not_made_of_letters_of_the_exercise_is_left_to_the_answer_kind(text):
    assert parse(text, POINT) == Tree("sym", (text,))


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("2*(n - 1/n*S", "`(n - 1/n*S`"),
        ("(n + (S - 1)", "`(n + (S - 1)`"),
        ("2*n)/W", "right after `2*n`"),
        (")*n", "at the beginning"),
        ("n)*(S", "right after `n`"),
        ("max(n, S", "`(n, S`"),
    ],
)
def test_a_bracket_too_many_or_too_few_is_told_with_its_place(text, place):
    with pytest.raises(TreeError) as refused:
        parse(text, POINT)
    assert refused.value.reason == "brackets"
    assert place in str(refused.value)


def test_a_function_without_brackets_is_told_so():
    with pytest.raises(TreeError, match=r"`log2` is a function; write its argument in brackets") as refused:
        parse("log2 n", POINT)
    assert refused.value.reason == "arguments"


@pytest.mark.parametrize("text", ["n if n > 2 else 2", "2 if n > 2 else n", "where(n > 2 and n < 9, 3, n)"])
def test_a_word_of_python_after_a_number_is_no_lacking_multiplication(text):
    assert parse(text, POINT).names() == {"n"}
