"""A tree printed as Python is the tree again."""

import pytest

from autograder.values.evaluation import value
from autograder.values.parsing import parse
from autograder.values.tree_python import python

POINT = {"n": 5, "S": 7, "W": 3}


@pytest.mark.parametrize(
    "text",
    ["S/W", "2*(n - 1)*S/(n*W)", "S - (W - n)", "-S + W", "S/(W/n)", "(S + W)/(n - 1)", "2**-n", "(-S)**2", "-S**2",
     "max(S, W/2)", "ceil(S/W)*n", "log2(n) + 1/3", "1.5e3*S", "S - 2*W", "S*(W + n)", "min(S, n)**2", "(S/W)**n"],
)  # fmt: skip
def test_what_is_printed_is_the_same_expression(text):
    tree = parse(text, POINT)
    again = parse(python(tree).replace("maximum", "max").replace("minimum", "min"), POINT)
    assert float(value(again, POINT)) == pytest.approx(float(value(tree, POINT)), rel=1e-12)


def test_what_has_cases_is_not_one_line():
    from autograder.values.trees import from_sympy

    sympy = pytest.importorskip("sympy")
    n = sympy.Symbol("n")
    assert python(from_sympy(sympy.Piecewise((n, n > 2), (1, True)))) == ""
