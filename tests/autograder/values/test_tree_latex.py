"""A tree as LaTeX, as it was typed."""

import pytest

from autograder.values.parsing import parse
from autograder.values.tree_latex import latex


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("3", "3"),
        ("-3", "-3"),
        ("x", "x"),
        ("alpha", r"\alpha"),
        ("ab", r"\mathrm{ab}"),
        ("x_i", "x_i"),
        ("x_long_one", r"x_{\mathrm{long,one}}"),
        ("ab_cd", r"\mathrm{ab}_{\mathrm{cd}}"),
        ("1.5", "1.5"),
        ("1.5e3", r"1.5 \cdot 10^{3}"),
        ("2E-3", r"2 \cdot 10^{-3}"),
        ("x + y", "x + y"),
        ("x - y", "x - y"),
        ("-x + y", "-x + y"),
        ("x - 2", "x - 2"),
        ("x + (y + z)", "x + y + z"),
        ("x - (y + z)", r"x - \left(y + z\right)"),
        ("x - 2*y", r"x - 2 \, y"),
        ("x*y", r"x \, y"),
        ("x*2", r"x \cdot 2"),
        ("2*(x + 1)", r"2 \, \left(x + 1\right)"),
        ("x/y", r"\frac{x}{y}"),
        ("1/x", r"\frac{1}{x}"),
        ("x*y/z", r"\frac{x \, y}{z}"),
        ("x/(y*z)", r"\frac{x}{y \, z}"),
        ("x/y/z", r"\frac{x}{y \, z}"),
        ("(x + 1)/(y - 1)", r"\frac{x + 1}{y - 1}"),
        ("2*(x + 1)/y", r"\frac{2 \, \left(x + 1\right)}{y}"),
        ("1*x", r"1 \, x"),
        ("x**2", "x^{2}"),
        ("(-2)**x", r"\left(-2\right)^{x}"),
        ("(x + 1)**2", r"\left(x + 1\right)^{2}"),
        ("x**(y + 1)", "x^{y + 1}"),
        ("pi**2", r"\pi^{2}"),
        ("sqrt(x + 1)", r"\sqrt{x + 1}"),
        ("x**-1", r"x^{-1}"),
        ("x % y", r"x \bmod y"),
        ("(x + 1) % (y + 1)", r"\left(x + 1\right) \bmod \left(y + 1\right)"),
        ("2*(x % y)", r"2 \, \left(x \bmod y\right)"),
        ("max(x, y)", r"\max\left(x, y\right)"),
        ("min(x, y + 1)", r"\min\left(x, y + 1\right)"),
        ("ln(x)", r"\ln\left(x\right)"),
        ("log2(x)", r"\log_2\left(x\right)"),
        ("exp(x)", r"\exp\left(x\right)"),
        ("abs(x)", r"\left|x\right|"),
        ("ceil(x/2)", r"\left\lceil \frac{x}{2} \right\rceil"),
        ("floor(x)", r"\left\lfloor x \right\rfloor"),
        ("where(x < 2, 1, y)", r"\begin{cases} 1 & \text{if } x < 2 \\ y & \text{otherwise} \end{cases}"),
        (
            "where(x <= 2 and not y == 1, 1, 2)",
            r"\begin{cases} 1 & \text{if } x \le 2 \land \lnot \left(y = 1\right) \\ 2 & \text{otherwise} \end{cases}",
        ),
        ("x != 2 or x >= 5", r"x \ne 2 \lor x \ge 5"),
        ("x > 2", "x > 2"),
    ],
)
def test_an_expression_is_printed_as_it_was_typed(typed, shown):
    assert latex(parse(typed, ("x", "y", "z", "alpha"))) == shown
