from fractions import Fraction

import pytest
import sympy

from autograder.values import trees
from autograder.values.evaluation import value
from autograder.values.trees import Tree, TreeError

n, S, W = sympy.symbols("n S W", positive=True)
POINT = {"n": Fraction(8), "S": Fraction(3), "W": Fraction(7, 2)}
EXPRESSIONS = [
    n,
    sympy.Integer(3),
    sympy.Rational(1, 3),
    sympy.Float(0.1),
    2 * (n - 1) / n * S / W,
    sympy.Max(S, W, n),
    sympy.Min(S, W),
    sympy.ceiling(n / 3),
    sympy.floor(-n / 3),
    sympy.Abs(S - W),
    sympy.sqrt(n),
    n**S,
    sympy.log(n, 2),
    sympy.exp(S),
    sympy.pi * n,
    sympy.E * n,
    sympy.Piecewise((S, n > 9), (W, sympy.And(n >= 8, S < W)), (n, True)),
    sympy.Mod(n, 3),
    sympy.Piecewise((S, sympy.Or(sympy.Ne(n, 8), sympy.Eq(S, 3))), (W, True)),
]


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=str)
def test_a_tree_has_the_value_that_sympy_gives_and_survives_json(expression):
    tree = trees.from_sympy(expression)
    assert trees.from_json(trees.to_json(tree)) == tree
    want = expression.subs({n: 8, S: 3, W: sympy.Rational(7, 2)}).evalf(30)
    assert float(value(tree, POINT)) == pytest.approx(float(want), rel=1e-15)


def test_symbols_are_matched_by_name_whatever_they_assume():
    assert trees.from_sympy(sympy.Symbol("n")) == trees.from_sympy(sympy.Symbol("n", integer=True, positive=True))


def test_a_float_is_the_decimal_that_was_typed():
    assert value(trees.from_sympy(sympy.Float(0.1)), {}) == Fraction(1, 10)
    assert trees.from_sympy(sympy.Float(1 / 3) * n).rounding == Fraction(1, 10**12)
    assert trees.from_sympy(1.25992 * n + 0.5).rounding == Fraction(1, 2 * 125992)
    assert trees.from_sympy(2.5 * n).rounding is None


def test_many_decimals_are_off_by_no_more_than_a_few():
    many = sympy.Add(*(sympy.Float("1.0001") for _ in range(400)), evaluate=False)
    assert trees.from_sympy(sympy.Mul(0, many, evaluate=False)).rounding == trees.MOST_ROUNDING


def test_a_sum_is_worked_out():
    i = sympy.Symbol("i")
    assert value(trees.from_sympy(sympy.Sum(i, (i, 1, n))), POINT) == 36


@pytest.mark.parametrize(
    ("expression", "reason", "named"),
    [
        (sympy.I * n, "letter-of-sympy", "imaginary"),
        (sympy.oo, "not-finite", "oo"),
        (sympy.zoo, "not-finite", "zoo"),
        (sympy.nan, "not-finite", "nan"),
        (sympy.sin(n), "unknown-operation", "sin"),
        (sympy.Function("f")(n), "unknown-operation", "f"),
        (sympy.Symbol("x y"), "not-an-expression", "3"),
        (sympy.Matrix([1]), "unknown-operation", "MutableDenseMatrix"),
        (sympy.Integer(10) ** 5000, "too-large", str(trees.MAX_DIGITS)),
    ],
)
def test_what_has_no_place_in_a_tree_is_named(expression, reason, named):
    with pytest.raises(TreeError, match=rf"\b{named}") as refused:
        trees.from_sympy(expression)
    assert refused.value.reason == reason


def test_size_and_depth_are_bounded():
    with pytest.raises(TreeError) as refused:
        trees.from_sympy(sympy.Add(*(sympy.Symbol(f"x{i}") ** 2 for i in range(1500))))
    assert refused.value.reason == "too-large"
    deep = n
    for _ in range(100):
        deep = sympy.sqrt(deep + 1)
    with pytest.raises(TreeError) as refused:
        trees.from_sympy(deep)
    assert refused.value.reason == "too-large"


@pytest.mark.parametrize(
    "message",
    [
        None,
        [],
        [3],
        ["nothing"],
        ["add", ["num", "1"]],
        ["num"],
        ["num", 3],
        ["num", "1/0"],
        ["num", "1e5"],
        ["num", "9" * 2000],
        ["dec", "nan"],
        ["dec", "1e9999"],
        ["dec", "٠٠٠٠1"],
        ["num", "٣"],
        ["sym", "a b"],
        ["sym", "x" * 100],
        ["pow", ["true"], ["num", "1"]],
        ["and", ["num", "1"]],
        ["where", ["num", "1"]],
        ["where", ["num", "1"], ["num", "2"]],
        ["true", ["num", "1"]],
        ("add",),
        ["sym", "__import__('os')"],
    ],
)
def test_a_message_that_is_no_tree_is_refused(message):
    with pytest.raises(TreeError):
        trees.from_json(message)


def test_a_deep_message_is_refused():
    message = ["sym", "n"]
    for _ in range(500):
        message = ["abs", message]
    with pytest.raises(TreeError) as refused:
        trees.from_json(message)
    assert refused.value.reason == "too-large"


def test_names_and_walk():
    tree = trees.from_sympy(sympy.Max(S / W, n))
    assert tree.names() == {"S", "W", "n"}
    assert Tree("sym", ("W",)) in tree.walk()


def test_a_sum_that_is_worked_out_in_part_only_is_named():
    w, p, k = sympy.Symbol("w", positive=True), sympy.Symbol("p", positive=True), sympy.Symbol("k", integer=True)
    with pytest.raises(TreeError) as error:
        trees.from_sympy(sympy.Sum(sympy.binomial(w, k) * p**k * (1 - p) ** (w - k), (k, 1, w)))
    assert error.value.reason == "unknown-operation"


def test_a_step_function_is_a_case():
    a, b = sympy.symbols("a b", positive=True)
    step = trees.from_sympy(a * sympy.Heaviside(a - b, 0))
    assert [value(step, {"a": Fraction(x), "b": Fraction(2)}) for x in (1, 2, 3)] == [0, 0, 3]
