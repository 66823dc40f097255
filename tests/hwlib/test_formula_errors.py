import pytest

from hwlib.formula import DimensionError, FormulaError, formula, sum_of
from tests.hwlib.readings import define


@formula("I", cite="williams2009")
def ridge(C, W):
    """Where both take the same time."""
    return C / W


@formula("t", cite="williams2009")
def total(S, W):
    """A sum over a sequence."""
    return sum_of(x / W for x in S)


@pytest.mark.parametrize(
    ("body", "syntax", "named"),
    [
        ("for i in range(3): pass", "For", "sum_of.*in 'for i in range"),
        ("while n: pass", "While", "in 'while n:'"),
        ("if n > 1: return S", "If", r"where\("),
        ("x = n; return x", "Assign", "in 'x = n'"),
        ("pass", "Pass", "in 'pass'"),
        ("return", "Return", "in 'return'"),
        ("return S if n > 1 else W", "IfExp", r"where\("),
        ("return S*tokens", "Name", "'tokens'.* n, S, alpha, W"),
        ("return S//n", "BinOp", r"floor\(a/b\).*in 'S // n'"),
        ("return S % n", "BinOp", r"%.* a - b\*floor\(a/b\)"),
        ("return S ^ n", "BinOp", "BitXor"),
        ("return +S", "UnaryOp", r"in '\+S'"),
        ("return not S", "UnaryOp", "in 'not S'"),
        ("return n > 1", "Compare", "where.*in 'n > 1'"),
        ("return n and S", "BoolOp", r"and/or.*where\("),
        ("return 'S'", "Constant", " 'S'"),
        ("return True*S", "Constant", "True"),
        ("return 2j*S", "Constant", "2j"),
        ("return [S]", "List", r"in '\[S\]'"),
        ("return S.real", "Attribute", r"in 'S\.real'"),
        ("return S[0]", "Subscript", r"in 'S\[0\]'"),
        ("return (lambda: S)()", "Call", "lambda: S"),
        ("return max(S, W)", "Call", "max: .*maximum"),
        ("return round(S)", "Call", "round: .*floor"),
        ("return print(S)", "Call", "print: "),
        ("return nowhere(S)", "Call", "nowhere: "),
        ("return math.log(S)", "Call", r"math\.log: "),
        ("return log2(S, 2)", "Call", "log2 .*positional arguments"),
        ("return minimum(S)", "Call", "minimum .*'b'"),
        ("return minimum(*S)", "Call", "minimum .*'b'"),
        ("return ridge(S)", "Call", "ridge .*'W'"),
        ("return ridge(S, W, q=1)", "Call", "ridge .*'q'"),
        ("return where(n, S, W)", "Name", "<, <=, > or >=.*in 'n'"),
        ("return where(n == 1, S, W)", "Compare", " one <, <=, > or >=.*in 'n == 1'"),
        ("return where(1 < n < 3, S, W)", "Compare", " one <, <=, > or >=.*in '1 < n < 3'"),
        ("return const(n, 'B')", "Call", r"const\(16, "),
        ("return minimum(a=S, b=W)", "Call", r"in 'minimum\(a=S, b=W\)'"),
        ("return ridge(*S, W)", "Starred", r"in '\*S'"),
        ("return ridge(S, **W)", "Call", "ridge .*'W'"),
        ("return sum_of(x/W for x in S) + S", "BinOp", "'S' "),
        ("return total(2*S, W)", "Call", r"in 'total\(2 \* S, W\)'"),
        ("return total(S, W) + S", "BinOp", "'S' "),
        ("return sum_of(S)", "Call", "generator, .*max_of"),
        ("return sum_of([x for x in S])", "Call", "generator, .*max_of"),
        ("return sum_of(x for x in S if x > 1)", "Call", "generator, .*max_of"),
        ("return sum_of(x for x in range(3))", "Call", "generator, .*max_of"),
        ("return sum_of(n for n in S)", "Call", " n, S, alpha, W"),
        ("return sum_of(x for x in q)", "Call", " n, S, alpha, W"),
        ("return sum_of(x for x in S) + x", "Name", "'x'; "),
        ("return sum_of(x * y for x, y in zip(S, W))", "Call", "generator, .*max_of"),
        ("return sum_of(x * y for x, y in zip(S, W, strict=False))", "Call", "generator, .*max_of"),
        ("return sum_of(x * y for x, y in zip(S, strict=True))", "Call", "generator, .*max_of"),
        ("return sum_of(x * x for x, x in zip(S, W, strict=True))", "Call", " n, S, alpha, W"),
        ("return sum_of(x * y for x, y in zip(S, range(3), strict=True))", "Call", "generator, .*max_of"),
    ],
)
def test_a_body_that_is_no_formula_is_refused_where_it_is_defined(body, syntax, named):
    with pytest.raises(FormulaError, match=rf"^__main__\.made: .*{named}") as error:
        define(body, ridge=ridge, total=total)
    assert error.value.syntax == syntax


def test_a_loop_is_refused_in_a_file_too():
    with pytest.raises(FormulaError, match=r"looped: .*in 'total = 0'") as error:

        @formula("t", cite="williams2009")
        def looped(n, alpha):
            """Why."""
            total = 0
            for _ in range(n):
                total += alpha
            return total

    assert error.value.syntax == "Assign"


@pytest.mark.parametrize(
    ("args", "result", "sentence"),
    [
        ("n, ranks", "t", "made: 'ranks' .*hwlib.notation; "),
        ("n, alfa", "t", "made: 'alfa' .* alpha, "),
        ("n", "tme", "made: 'tme' "),
        ("*n", "t", r"\* and /"),
        ("n, *, S", "t", r"\* and /"),
        ("n, /", "t", r"\* and /"),
        ("n='2'", "t", "made: .*defaults"),
        ("n=None", "t", "made: .*defaults"),
    ],
)
def test_unknown_letters_are_refused(args, result, sentence):
    with pytest.raises(FormulaError, match=sentence):
        define("return n", args, result)


def test_an_unknown_reading_is_refused():
    with pytest.raises(FormulaError, match=r"'latex'.* dim, expr, js, tex, vega"):
        formula("t", cite="x", readings={"latex"})(ridge.function)


def test_a_lambda_is_refused():
    with pytest.raises(FormulaError, match=": def, "):
        formula("t", cite="williams2009")(lambda n: n)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("return S + 1", r"S \[B\] and 1 \[1\], in S \+ 1"),
        ("return 1 - S", r"1 \[1\] and S \[B\]"),
        ("return alpha + S*W", r"alpha \[s\] and S \* W \[B\^2/s\]"),
        ("return n*alpha + S", r"n \* alpha \[s\] and S \[B\]"),
        ("return maximum(alpha, S/W, S)", r"alpha \[s\] and S \[B\]"),
        ("return where(S > alpha, 1, 2)", r"S \[B\] and alpha \[s\]"),
        ("return where(n > 1, S, alpha)", r"S \[B\] and alpha \[s\]"),
        ("return ceil(S)", r"S \[B\] .*, in ceil\(S\)"),
        ("return log2(S/W)", r"S / W \[s\] .*, in log2\(S / W\)"),
        ("return 2**S", r"S \[B\] .*, in 2 \*\* S"),
        ("return S**n", r"S \[B\] .*, in S \*\* n"),
        ("return const(16, 'B') + n", r"const\(16, 'B'\) \[B\] and n \[1\]"),
        ("return sum_of(x + alpha for x in S)", r"x \[B\] and alpha \[s\]"),
        ("return ridge(S, W) + n", r"S / W \[s\] and n \[1\]"),
    ],
)
def test_dimensions_that_do_not_fit_name_both_sides(body, sentence):
    f = define(body, ridge=ridge)
    with pytest.raises(DimensionError, match=sentence):
        _ = f.dim


@pytest.mark.parametrize(
    ("body", "powers"),
    [
        ("return n", {}),
        ("return n + 1", {}),
        ("return n*alpha + S/W", {"s": 1}),
        ("return S**2/W", {"B": 1, "s": 1}),
        ("return sqrt(S*S)", {"B": 1}),
        ("return sqrt(S)**2", {"B": 1}),
        ("return S**0.5*S**-0.5", {}),
        ("return S**0", {}),
        ("return 1/W", {"B": -1, "s": 1}),
        ("return const(34, 'B')*n/W", {"s": 1}),
        ("return maximum(0, alpha - S/W)", {"s": 1}),  # nothing has any dimension
        ("return where(n > 1, alpha, 0)", {"s": 1}),
        ("return where(S > 0, -alpha, 0*S)", {"s": 1}),
        ("return max_of(x/W for x in S)", {"s": 1}),
        ("return ceil(log2(n))*alpha", {"s": 1}),
        ("return 0", {}),
    ],
)
def test_dimensions_that_fit(body, powers):
    assert define(body).dim == powers


def test_a_default_has_the_unit_of_its_letter():
    width = define("return b*n", "n, b=2", "bytes")
    assert define("return width(n)", "n", "bytes", width=width).dim == {"B": 1}


def test_const_takes_base_units_and_says_so():
    with pytest.raises(ValueError, match=r"const .* B, s or B/s, .*'KB'"):
        define("return const(16, 'KB')*n")
    with pytest.raises(ValueError, match="'apple'"):
        define("return const(16, 'apple')*n")
