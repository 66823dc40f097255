"""Random expressions: every reading of each gives one value, so no reading loses a parenthesis."""

import random

import pytest
import sympy

from tests.hwlib.readings import define, under_node, value_of_tex

LETTERS = ("n", "S", "W")
POINTS = [(2, 3.5, 0.75), (8, 0.3, 5.0), (1, 1.25, 2.0)]


def expression(rng: random.Random, depth: int) -> str:
    """A random body whose value is tame: roots of what is positive, no division by a difference."""
    if depth == 0 or rng.random() < 0.1:
        return rng.choice([*LETTERS, *LETTERS, "2", "3", "0.5", "1e6", "10"])
    a, b, c = (expression(rng, depth - 1) for _ in range(3))
    return rng.choice(
        [
            f"({a}) + ({b})",
            f"({a}) - ({b})",
            f"({a})*({b})",
            f"({a})*({b})",
            f"({a})/(1 + ({b})**2)",
            f"-({a})",
            f"({a})/({rng.choice(LETTERS)})",
            f"minimum({a}, {b})",
            f"maximum({a}, {b}, {c})",
            f"({a})**2",
            f"sqrt(1 + ({a})**2)",
            f"log2(2 + ({a})**2)",
            f"ln(2 + ({a})**2)",
            f"ceil(({a})/7.3)",
            f"floor(({a})/7.3)",
            f"2**minimum(3, -({rng.choice(LETTERS)}))",
        ]
    )


def bodies(count: int) -> list[str]:
    rng = random.Random(20240521)
    return [expression(rng, rng.randint(1, 4)) for _ in range(count)]


@pytest.fixture(scope="module")
def made():
    formulas = [define(f"return {body}", "n, S, W") for body in bodies(300)]
    return [(f, [f(*p) for p in POINTS]) for f in formulas]


def test_javascript_and_vega(made):
    for (f, values), answer in zip(made, under_node([(f, POINTS) for f, _ in made]), strict=True):
        assert answer["js"] == pytest.approx(values, rel=1e-9, abs=1e-9), f.js
        assert answer["vega"] == pytest.approx(values, rel=1e-9, abs=1e-9), f.vega


def test_latex(made):
    for f, values in made:
        read = [value_of_tex(f.tex.removeprefix("t = "), dict(zip(LETTERS, p, strict=True))) for p in POINTS]
        assert read == pytest.approx(values, rel=1e-9, abs=1e-9), f.tex


def test_sympy(made):
    for f, values in made[:120]:
        for point, value in zip(POINTS, values, strict=True):
            exact = f(*(sympy.Rational(x) for x in point))
            assert float(exact) == pytest.approx(value, rel=1e-9, abs=1e-9), f.expr
