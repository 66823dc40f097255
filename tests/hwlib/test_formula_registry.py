"""Every formula of hwlib, and a few awkward ones: all readings give one value, in the right unit."""

import importlib
import math
import pkgutil
import random
import re
from collections import Counter

import mpmath
import numpy as np
import pytest
import sympy

import hwlib
from hwlib.formula import ALL, REGISTRY, formula
from hwlib.formula.ops import ceil, const, floor, log2, max_of, maximum, minimum, sqrt, sum_of, where
from hwlib.notation import NOTATION
from hwlib.units import COUNTS, dimension
from tests.each import each
from tests.hwlib.readings import VEGA_WORDS, under_node

EXACT = 1  # points in exact numbers; the others have thirty digits
UPPER = {"algorithms", "simulate", "planner", "plots", "widgets", "labs", "virtual"}
for module in pkgutil.iter_modules(hwlib.__path__, "hwlib."):
    if module.name.removeprefix("hwlib.") not in UPPER:
        importlib.import_module(module.name)


@formula("t", cite="williams2009")
def ring(n, S, alpha, W):
    """Steps of latency, and bytes."""
    return 2 * (n - 1) * alpha + 2 * (n - 1) / n * (S / W)


@formula("t", cite="williams2009")
def tree(n, S, alpha, W=50e9):
    """Whole steps."""
    return where(n > 2, 2 * ceil(log2(n)) * (alpha + S / W), 0)


@formula("speedup", cite="williams2009")
def ring_over_tree(n, S, alpha, W):
    """Two calls that share a symbol, an argument by name and a default."""
    return ring(n, S, W=W, alpha=alpha) / (tree(n + 1, S, 2 * alpha) + tree(n + 2, S, alpha, W))


@formula("R", cite="williams2009")
def three_roofs(C, I, W, eta_C=0.5):
    """More than two sides, a power, a root and a sign."""
    # The double minus is one token, a decrement, to JavaScript.
    return minimum(C, I * W, -(-C)) * sqrt(eta_C**2) ** -3 * maximum(1, 2 - eta_C, floor(eta_C))  # noqa: B002


@formula("bytes", cite="williams2009")
def state_bytes(P, dp):
    """A constant that has a unit."""
    return const(16, "B") * P / dp + const(2.5e3, "B") * 1e-6


@formula("t", cite="williams2009")
def slowest(S, W, alpha):
    """Sums over a sequence."""
    return sum_of(S_i / W for S_i in S) + max_of(alpha + x / W for x in S)


@formula("t", cite="williams2009")
def two_slowest(S, W, alpha):
    """A called formula that reduces, in a reduction of one's own."""
    return slowest(S, W, alpha) * sum_of(x / maximum(x, const(1, "B")) for x in S) + slowest(S, 2 * W, alpha)


@formula("t", cite="williams2009")
def side_by_side(S, W, alpha):
    """Two sequences of one length, element by element, beside one of them alone."""
    return max_of(alpha + x / y for x, y in zip(S, W, strict=True)) + sum_of(alpha * w / w for w in W)


@formula("t", cite="williams2009")
def twice_side_by_side(S, W, alpha):
    """A called formula that pairs, inside and outside a pairing of one's own."""
    return sum_of(side_by_side(S, W, alpha) * x / (x + w * alpha) for x, w in zip(S, W, strict=True))


AWKWARD = [side_by_side, twice_side_by_side, ring, tree, ring_over_tree, three_roofs, state_bytes, slowest, two_slowest]
FORMULAS = [*REGISTRY.values(), *AWKWARD]


def draw(letter: str, rng: random.Random) -> float:
    """A value that the letter may have: a share, a whole count, or anything positive, over some decades."""
    if NOTATION[letter].domain.high == 1:
        return rng.uniform(0.05, 1)
    if letter in ("k", "ways", "width", "drafts", "flows"):
        return rng.choice([1, 2, 3, 8, 31, 64])  # an exponent or its base: sympy multiplies fractions out
    unit = NOTATION[letter].unit
    if unit in ("1", *COUNTS):
        return rng.choice([1, 2, 3, 8, 31, 64, 1000, 4096, 2**20, rng.randrange(1, 10**6)])
    return 10 ** rng.uniform(-3, 12)


def points_of(f, count=24):
    rng = random.Random(f.qualname)
    one = lambda a, size: [draw(a, rng) for _ in range(size)] if a in f.sequences else draw(a, rng)
    return [tuple(one(a, size) for a in f.args) for size in (rng.randint(1, 5) for _ in range(count))]


@pytest.fixture(scope="module")
def from_node():
    answers = under_node([(f, points_of(f)) for f in FORMULAS])
    return {f.qualname: answer for f, answer in zip(FORMULAS, answers, strict=True)}


def test_there_are_formulas_to_test():
    assert len(REGISTRY) >= 20
    assert all(f.readings == ALL for f in FORMULAS if not f.sequences), "hwlib leaves no reading out"


def test_no_name_stands_for_two_formulas():
    names = Counter(f.name for f in REGISTRY.values())
    assert not [name for name, times in names.items() if times > 1]


def test_its_source_is_in_the_bibliography(sources):
    assert {f.qualname: f.cite for f in FORMULAS if f.cite not in sources} == {}


CHECKS = []


def check(applies=lambda f: True):
    """What holds for each formula that it applies to: `check(f, node)`, where `node` is what JavaScript computes."""

    def add(function):
        CHECKS.append((function.__name__.replace("_", " "), applies, function))
        return function

    return add


@check()
def its_dimension_is_the_unit_of_its_result(f, node):
    assert f.dim == dimension(NOTATION[f.result].unit)


@check()
def numbers_stay_plain_numbers(f, node):
    for point in points_of(f):
        assert type(f(*point)) in (int, float)
        assert math.isfinite(f(*point))


@pytest.mark.slow  # as long as all other checks together
@each("f", [f for f in FORMULAS if "expr" in f.readings])
def test_sympy_gives_the_value(f):
    expr, letters, points = sympy.sympify(f.expr), [f.symbols[a] for a in f.args], points_of(f)[:8]

    def exactly(point):
        return float(expr.subs(dict(zip(letters, map(sympy.Rational, point), strict=True))).evalf(30))

    values = [math.nan] * len(points)
    if not expr.has(sympy.ITE):  # to print one of these takes seconds
        read = sympy.lambdify(letters, expr, "mpmath")
        with mpmath.workdps(30):
            values = [float(read(*map(mpmath.mpf, point))) for point in points]
    for number, (point, value) in enumerate(zip(points, values, strict=True)):
        expected = pytest.approx(f(*point), rel=1e-11)
        if number < EXACT or value != expected:  # thirty digits may miss a ceiling by one, exact numbers do not
            assert exactly(point) == expected


@check()
def javascript_gives_the_value(f, node):
    values = [f(*point) for point in points_of(f)]
    assert node["js"] == pytest.approx(values, rel=1e-12)


@check(lambda f: "vega" in f.readings)
def vega_gives_the_value_in_vegas_own_words(f, node):
    values = [f(*point) for point in points_of(f)]
    assert node["vega"] == pytest.approx(values, rel=1e-11)
    text = f.vega_with({a: f"datum.{a}" for a in f.args})
    words = set(re.findall(r"[A-Za-z_]\w*", re.sub(r"datum\.\w+|\d[\d.]*e[-+]?\d+", "", text)))
    assert words <= VEGA_WORDS
    assert "**" not in text


@check()
def arrays_give_the_values_of_their_elements(f, node):
    points = points_of(f)
    if f.sequences:
        values = [f(*([np.array(x) if isinstance(x, list) else x for x in point])) for point in points]
    else:
        values = f(*map(np.array, zip(*points, strict=True)))
        assert isinstance(values, np.ndarray)
        assert values.dtype == float
    assert values == pytest.approx([f(*point) for point in points], rel=1e-12)


@check()
def its_latex_is_balanced_and_names_its_letters(f, node):
    for tex in (f.tex, f.tex_expanded):
        assert tex.startswith(NOTATION[f.result].tex + " = ")
        assert tex.count("{") == tex.count("}")
        assert tex.count(r"\left") == tex.count(r"\right")
    assert [number for number in re.findall(r"[\d.]+", f.tex) if len(number.replace(".", "").strip("0")) > 6] == []
    missing = [a for a in f.args if NOTATION[a].tex not in f.tex_expanded]
    assert missing == []
    assert f.tex in f.equation
    assert f.cite in f.equation
    assert all(NOTATION[a].meaning in f.equation for a in (f.result, *f.args))


@check()
def its_name_ends_in_what_it_computes(f, node):
    allowed = {
        "time": {"s"},
        "bytes": {"B"},
        "flops": {"FLOP", "FLOP/s"},
        "bandwidth": {"B/s"},
        "intensity": {"FLOP/B"},
        "fraction": {"1"},
    }
    unit = NOTATION[f.result].unit
    assert unit in allowed.get(f.name.rpartition("_")[2], {unit})


@check(lambda f: f not in AWKWARD)
def it_says_why(f, node):
    assert f.__doc__
    assert REGISTRY[f.qualname] is f
    assert getattr(importlib.import_module(f"hwlib.{f.qualname.rpartition('.')[0]}"), f.name) is f


@check()
def it_takes_no_nan_and_names_where_it_came_in(f, node):
    ones = {a: [1.0] if a in f.sequences else 1.0 for a in f.args}
    for letter in f.args:
        bad = [math.nan] if letter in f.sequences else math.nan
        with pytest.raises(ValueError, match=rf"^{f.name}: {letter} \(.*, got nan$"):
            f(**{**ones, letter: bad})


@check()
def its_defaults_are_in_their_domains(f, node):
    assert all(NOTATION[letter].domain.has(value) for letter, value in f.defaults.items())


@each("f", FORMULAS)
def test_a_formula(f, from_node):
    for name, applies, holds in CHECKS:
        if applies(f):
            try:
                holds(f, from_node[f.qualname])
            except BaseException as failure:
                failure.add_note(f"{f.qualname}: {name}")
                raise


def test_all_checks_are_made():
    assert len(CHECKS) == 10
