import copy
import pickle
import sys

import numpy as np
import pytest
import sympy

from hwlib import formula as package
from hwlib.formula import ALL, Formula, NoReading, formula
from hwlib.formula.ops import ceil, floor, log2, max_of, maximum, minimum, sqrt, sum_of, where
from hwlib.units import GB, us
from tests.each import each
from tests.hwlib.readings import define


@formula("t", cite="thakur2005")
def ring_time(n, S, alpha, W):
    """Reduce-scatter, then all-gather: n - 1 steps each, S/n bytes a step."""
    return 2 * (n - 1) * alpha + 2 * (n - 1) / n * (S / W)


@formula("t", cite="thakur2005")
def two_rings_time(n, S, alpha, W=50 * 10**9):
    """Half each way round."""
    return ring_time(n, S / 2, alpha, W)


@formula("I", cite="williams2009")
def ridge(C, W):
    """Where both take the same time."""
    return C / W


@formula("B_crit", cite="williams2009")
def critical_batch(C, W, b_w=2):
    """From the ridge."""
    return ridge(C, W) * b_w / 2


def test_it_is_called_like_any_function():
    assert ring_time(8, 1 * GB, 2 * us, 50 * GB) == pytest.approx(14 * 2e-6 + 14 / 8 * 0.02)
    assert ring_time(8, alpha=2 * us, W=50 * GB, S=1 * GB) == ring_time(8, 1 * GB, 2 * us, 50 * GB)
    assert two_rings_time(8, 1 * GB, 0) == two_rings_time(8, 1 * GB, 0, 50 * GB)


@pytest.mark.parametrize(
    ("args", "kwargs", "sentence"),
    [
        ((8,), {"S": 1, "alpha": 0, "W": 1, "q": 2}, "argument 'q'"),
        ((8,), {}, "argument: 'S'"),
        ((8, 1, 0, 1, 5), {}, "positional"),
        ((8, "1 GB", 0, 1), {}, r"S .*\[B\], .*'1 GB' \(str\)"),
        (([2, 4], 1, 0, 1), {}, r"n .*\[rank\], .*\[2, 4\] \(list\)"),
        ((None, 1, 0, 1), {}, r"not None \(NoneType\)"),
        ((..., 1, 0, 1), {}, r"not Ellipsis \(ellipsis\)"),
    ],
)
def test_a_wrong_call_names_what_was_expected(args, kwargs, sentence):
    with pytest.raises(TypeError, match=sentence) as error:
        ring_time(*args, **kwargs)
    assert "ring_time" in str(error.value)


def test_a_wrong_argument_name_is_answered_with_the_right_ones():
    with pytest.raises(TypeError, match=r"ring_time\(n, S, alpha, W\)"):
        ring_time(q=1)


def test_integer_arrays_widen_so_that_nothing_overflows():
    product = define("return 6*P*B", "P, B", "flops")
    big = np.array([10**12, 10**13])
    assert product(big, np.int64(15 * 10**12)) == pytest.approx([9e25, 9e26])
    assert product(10**12, 15 * 10**12) == 90 * 10**24  # Python's own integers have no need


def test_it_knows_itself():
    assert (ring_time.name, ring_time.args, ring_time.result) == ("ring_time", ("n", "S", "alpha", "W"), "t")
    assert (ring_time.cite, ring_time.defaults) == ("thakur2005", {})
    assert two_rings_time.defaults == {"W": 50 * 10**9}
    assert ring_time.__doc__.startswith("Reduce-scatter")
    assert ring_time.qualname.endswith("test_formula.ring_time")
    assert repr(ring_time).endswith("ring_time(n, S, alpha, W) -> t [s]>")


def test_it_is_hashable_and_copies_and_pickles_by_name(monkeypatch):
    assert {ring_time: 1}[ring_time] == 1
    assert copy.deepcopy(ring_time) is ring_time
    monkeypatch.setitem(sys.modules, __name__, sys.modules[ring_time.__module__])
    assert pickle.loads(pickle.dumps(ring_time)) is ring_time


def test_only_formulas_of_hwlib_are_registered():
    assert not [f for f in package.REGISTRY.values() if not f.function.__module__.startswith("hwlib.")]
    assert ring_time not in package.REGISTRY.values()


def test_sympy_symbols_are_positive_and_named_as_the_arguments():
    n, S, alpha, W = (sympy.Symbol(name, positive=True) for name in ("n", "S", "alpha", "W"))
    assert sympy.simplify(ring_time.expr - (2 * (n - 1) * alpha + 2 * (n - 1) * S / (n * W))) == 0
    assert ring_time(n, S, alpha, W) == ring_time.expr
    assert sympy.limit(ring_time.expr.subs(alpha, 0), n, sympy.oo) == 2 * S / W


def test_it_prints_as_it_is_written():
    expected = r"2 \, \left(n - 1\right) \, \alpha + \frac{2 \, \left(n - 1\right)}{n} \, \frac{S}{W}"
    assert ring_time.tex == "t = " + expected


def test_a_called_formula_prints_as_its_symbol_or_written_out():
    assert critical_batch.tex == r"B^{*} = \frac{I \, b_w}{2}"
    assert critical_batch.tex_expanded == r"B^{*} = \frac{\frac{C}{W} \, b_w}{2}"
    assert "$I$ is arithmetic intensity [FLOP/B]" in critical_batch.equation


def test_a_called_formula_at_other_arguments_shows_them():
    f = define("return ridge(2*C, W)*b_w/2", "C, W, b_w", "B_crit", ridge=ridge)
    assert f.tex == r"B^{*} = \frac{I\left(2 \, C, W\right) \, b_w}{2}"


def test_a_symbol_that_would_mean_two_things_is_written_out():
    assert two_rings_time.tex == two_rings_time.tex_expanded
    assert r"\frac{\frac{S}{2}}{W}" in two_rings_time.tex
    f = define("return ridge(C, W)*I", "C, W, I", "speedup", ridge=ridge)
    assert f.tex == r"\mathrm{speedup} = \frac{C}{W} \, I"


@pytest.mark.parametrize(
    ("body", "tex"),
    [
        ("return S - (alpha - W)", r"S - \left(\alpha - W\right)"),
        ("return S - (alpha + W)", r"S - \left(\alpha + W\right)"),
        ("return S + (alpha - W)", r"S + \alpha - W"),
        ("return S + -alpha", r"S + \left(-\alpha\right)"),
        ("return -(S + W)", r"-\left(S + W\right)"),
        ("return (S/W)**2", r"\left(\frac{S}{W}\right)^{2}"),
        ("return 2**n", "2^{n}"),
        ("return S**(n - 1)", "S^{n - 1}"),
        ("return 2*3*S", r"2 \cdot 3 \, S"),
        ("return S*1e9", r"S \cdot 10^{9}"),
        ("return 2.5e-6*S", r"2.5 \cdot 10^{-6} \, S"),
        ("return 2.0*S", r"2 \, S"),
        ("return 1/2*S", r"\frac{1}{2} \, S"),
        ("return ceil(log2(n))", r"\left\lceil \log_2\left(n\right) \right\rceil"),
        ("return 2*ln(n)*S", r"2 \, \ln\left(n\right) \, S"),
        ("return floor(sqrt(n))", r"\left\lfloor \sqrt{n} \right\rfloor"),
        ("return maximum(S, W, n)", r"\max\left(S, W, n\right)"),
        ("return 2*minimum(S, W)", r"2 \, \min\left(S, W\right)"),
        ('return const(16, "B")*S', r"16 \, S"),
        (
            "return where(n <= 1, 0, S)",
            r"\begin{cases} 0 & \text{if } n \le 1 \\ S & \text{otherwise} \end{cases}",
        ),
        ("return sum_of(S_i/W for S_i in S)", r"\sum_i \frac{S_i}{W}"),
        ("return alpha*sum_of(x + W for x in S)", r"\alpha \, \left(\sum_i \left(S_i + W\right)\right)"),
        ("return max_of(sum_of(x*y for y in W) for x in S)", r"\max_i \left(\sum_j S_i \, W_j\right)"),
    ],
)
def test_latex_of_each_construct(body, tex):
    assert define(body).tex.removeprefix("t = ") == tex


def test_a_notebook_shows_the_equation_with_its_letters_and_its_source():
    assert ridge._repr_markdown_() == (
        "$$\nI = \\frac{C}{W}\n$$\n\nwhere $I$ is arithmetic intensity [FLOP/B]; $C$ is peak arithmetic "
        "rate, dense [FLOP/s]; $W$ is bandwidth, one direction [B/s] (williams2009)."
    )
    assert ridge.equation_citing("[Williams 2009](#x)").endswith("([Williams 2009](#x)).")


@pytest.mark.parametrize(
    ("body", "js", "vega"),
    [
        ("return 2*(n - 1)/n", "2 * (n - 1) / n", "2 * (n - 1) / n"),
        ("return S - (n - W)", "S - (n - W)", "S - (n - W)"),
        ("return -S**2", "-Math.pow(S, 2)", "-pow(S, 2)"),
        ("return 2**-n", "Math.pow(2, -n)", "pow(2, -n)"),
        ("return ceil(log2(n))", "Math.ceil(Math.log2(n))", "ceil((round(log(n)/LN2*1e12)/1e12))"),
        ("return ln(n)", "Math.log(n)", "log(n)"),
        ("return maximum(S, W, n)", "Math.max(S, W, n)", "max(S, W, n)"),
        ("return 2*where(n > 1, S, 0)", "2 * (n > 1 ? S : 0)", "2 * (n > 1 ? S : 0)"),
        ('return const(16, "B")*S', "16 * S", "16 * S"),
    ],
)
def test_javascript_of_each_construct(body, js, vega):
    f = define(body)
    assert f.js == f"(n, S, alpha, W) => {js}"
    assert f.vega == vega


def test_javascript_has_the_defaults_and_no_calls_of_ours():
    assert two_rings_time.js == (
        "(n, S, alpha, W = 50000000000) => 2 * (n - 1) * alpha + 2 * (n - 1) / n * (S / 2 / W)"
    )


def test_an_argument_used_twice_is_written_twice():
    square = define("return S*S", "S")
    f = define("return square(2**n + 1)", "n", square=square)
    assert f.js == "(n) => (Math.pow(2, n) + 1) * (Math.pow(2, n) + 1)"
    assert f.vega_with({"n": "x + 1"}) == "(pow(2, (x + 1)) + 1) * (pow(2, (x + 1)) + 1)"


def test_vega_takes_other_names_and_keeps_them_together():
    f = define("return 2*n*S", "n, S")
    assert f.vega_with({"n": "datum.n", "S": "a + b"}) == "2 * datum.n * (a + b)"
    with pytest.raises(TypeError, match=r"made\(n, S\) .*'q'"):
        f.vega_with({"q": "1"})


def test_vegas_own_constants_are_refused_as_names():
    f = define("return E*S", "E, S")
    with pytest.raises(NoReading, match=r"\bE\b.* vega"):
        _ = f.vega
    assert f.vega_with({"E": "datum.E"}) == "datum.E * S"


def test_a_reading_that_was_left_out_says_so():
    @formula("t", cite="thakur2005", readings=ALL - {"vega", "expr"})
    def left(n, alpha):
        """Why."""
        return n * alpha

    with pytest.raises(NoReading, match=r"left .* \.vega; .* \.dim, \.js, \.tex"):
        _ = left.vega
    with pytest.raises(NoReading, match=r"left .* \.expr; "):
        _ = left.expr
    assert not hasattr(left, "vega")
    assert left.js == "(n, alpha) => n * alpha"
    caller = define("return 2*left(n, alpha)", "n, alpha", left=left)
    assert caller.readings == left.readings


def test_without_source_it_can_still_be_called():
    namespace = {"formula": formula}
    exec('@formula("t", cite="x")\ndef made(n, alpha):\n    return n*alpha\n', namespace)
    made = namespace["made"]
    assert isinstance(made, Formula)
    assert made(2, 3) == 6
    assert str(made.expr) == "alpha*n"
    for reading in ("tex", "dim", "js", "vega", "equation"):
        with pytest.raises(NoReading, match=r"made .*Python.* source"):
            getattr(made, reading)
    assert "made" in made._repr_markdown_()


@pytest.mark.parametrize(
    ("values", "total"), [([1, 2, 4], 7 / 2 + 2), ((3.0,), 1.5 + 1.5), (np.array([1, 2, 4]), 5.5), ([], None)]
)
def test_a_sequence_is_summed_and_searched(values, total):
    f = define("return sum_of(x/W for x in S) + max_of(S_i/W for S_i in S)", "S, W")
    assert f.sequences == {"S"}
    if total is None:
        with pytest.raises(ValueError, match="max_of "):
            f(values, 2)
    else:
        assert f(values, 2) == pytest.approx(total)


def test_a_sequence_may_hold_symbols_but_has_no_expr():
    f = define("return sum_of(x/W for x in S)", "S, W")
    a, b, W = sympy.symbols("a b W", positive=True)
    assert f([a, b], W) == a / W + b / W
    with pytest.raises(NoReading, match=r"\.expr; "):
        _ = f.expr
    for wrong in (3, "abc"):
        with pytest.raises(TypeError, match=r"\bS .*sequence .*\[B\]"):
            f(wrong, 2)


def test_the_element_of_a_called_sum_does_not_capture_a_letter():
    inner = define("return sum_of(x/W for x in S)", "S, W")
    outer = define("return sum_of(inner(S, x) for x in T)", "S, T", inner=inner)
    assert outer.js == (
        "(S, T) => T.map((x) => S.map((made_x) => made_x / x).reduce((a, b) => a + b, 0)).reduce((a, b) => a + b, 0)"
    )
    assert outer.sequences == {"S", "T"}
    assert outer([1, 2], [1, 4]) == 3.75


@each("k", range(1, 53))
def test_log2_is_exact_at_powers_of_two(k):
    assert ceil(log2(2**k)) == k
    assert ceil(log2(np.array([2.0**k])))[0] == k
    assert log2(sympy.Integer(2) ** k) == k


def test_ops_on_numbers_are_plain_python():
    assert type(ceil(2.5)) is int
    assert type(floor(np.float64(2.5))) is np.float64
    assert ceil(float("inf")) == float("inf")
    assert (minimum(3, 1, 2), maximum(3, 1, 2), sqrt(9), sum_of([])) == (1, 3, 3, 0)
    assert max_of(x for x in [1, 5, 2]) == 5


def test_ops_mix_arrays_and_numbers():
    x = np.array([1.0, 3.0])
    assert minimum(2, x).tolist() == [1, 2]
    assert maximum(x, 2, 2.5).tolist() == [2.5, 3]
    assert where(x > 2, x, 0).tolist() == [0, 3]
    assert where(2 > 1, x, 0).tolist() == [1, 3]
    assert max_of([x, 2 * x, 3]).tolist() == [3, 6]


def test_where_is_a_case_split_to_sympy():
    f = define("return where(n > 1, S, 0)", "n, S")
    n, S = f.symbols["n"], f.symbols["S"]
    assert f.expr == sympy.Piecewise((S, n > 1), (0, True))
    assert (f.expr.subs(n, 1), f.expr.subs(n, 2)) == (0, S)
    always = define("return where(n > 0, S, 0)", "n, S")
    assert always.expr == always.symbols["S"]  # a count is positive
