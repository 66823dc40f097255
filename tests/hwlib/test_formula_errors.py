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
    ("body", "sentence"),
    [
        ("for i in range(3): pass", "a formula may not contain a loop"),
        ("while n: pass", "a formula may not contain a loop"),
        ("if n > 1: return S", "a formula may not contain an if: use where"),
        ("x = n; return x", "an assignment: it is one return"),
        ("pass", "nothing: it is one return"),
        ("return", "Return"),
        ("return S if n > 1 else W", "an if: use where"),
        ("return S*tokens", "the name 'tokens'; its symbols are n, S, alpha, W"),
        ("return S//n", "//: use floor"),
        ("return S % n", "%: use a - b"),
        ("return S ^ n", "BitXor"),
        ("return +S", "UAdd|UnaryOp"),
        ("return not S", "UnaryOp"),
        ("return n > 1", "a comparison, except a single"),
        ("return n and S", "and/or"),
        ("return 'S'", "'S', which is not a number"),
        ("return True*S", "True, which is not a number"),
        ("return 2j*S", "2j, which is not a number"),
        ("return [S]", "List"),
        ("return S.real", "Attribute"),
        ("return S[0]", "Subscript"),
        ("return (lambda: S)()", "a call of"),
        ("return max(S, W)", "a call of max: use maximum"),
        ("return round(S)", "a call of round: use floor"),
        ("return print(S)", "a call of print: it is neither a formula nor an op"),
        ("return nowhere(S)", "a call of nowhere: it is neither"),
        ("return math.log(S)", r"a call of math\.log"),
        ("return log2(S, 2)", "a call of log2 that does not fit: too many positional arguments"),
        ("return minimum(S)", "a call of minimum that does not fit: missing a required argument: 'b'"),
        ("return minimum(*S)", "a call of minimum that does not fit|Starred"),
        ("return ridge(S)", "a call of ridge that does not fit: missing a required argument: 'W'"),
        ("return ridge(S, W, q=1)", "a call of ridge that does not fit: got an unexpected keyword"),
        ("return where(n, S, W)", "a condition that is not one"),
        ("return where(n == 1, S, W)", "a condition that is not one"),
        ("return where(1 < n < 3, S, W)", "a condition that is not one"),
        ("return const(n, 'B')", "a const that is not written out"),
        ("return minimum(a=S, b=W)", "an op with named arguments"),
        ("return ridge(*S, W)", "Starred"),
        ("return ridge(S, **W)", "a call of ridge that does not fit"),
        ("return sum_of(x/W for x in S) + S", "'S' as a sequence and as a number"),
        ("return total(2*S, W)", "anything but a symbol where a called formula takes a sequence"),
        ("return total(S, W) + S", "'S' as a sequence and as a number"),
        ("return sum_of(S)", "a generator, except in sum_of or max_of"),
        ("return sum_of([x for x in S])", "a generator, except in sum_of or max_of"),
        ("return sum_of(x for x in S if x > 1)", "a generator, except in"),
        ("return sum_of(x for x in range(3))", "a generator, except in"),
        ("return sum_of(n for n in S)", "a reduction, except with a new element name"),
        ("return sum_of(x for x in q)", "a reduction, except with a new element name over one of n, S, alpha, W"),
        ("return sum_of(x for x in S) + x", "the name 'x'"),
        ("return sum_of(x * y for x, y in zip(S, W))", "a generator, except in"),
        ("return sum_of(x * y for x, y in zip(S, W, strict=False))", "a generator, except in"),
        ("return sum_of(x * y for x, y in zip(S, strict=True))", "a generator, except in"),
        ("return sum_of(x * x for x, x in zip(S, W, strict=True))", "a reduction, except with a new element name"),
        ("return sum_of(x * y for x, y in zip(S, range(3), strict=True))", "a generator, except in"),
    ],
)
def test_a_body_that_is_no_formula_is_refused_where_it_is_defined(body, sentence):
    with pytest.raises(FormulaError, match=sentence) as error:
        define(body, ridge=ridge, total=total)
    assert str(error.value).startswith("__main__.made: a formula may not contain ")


def test_a_loop_is_refused_in_a_file_too():
    with pytest.raises(FormulaError, match=r"looped: .* may not contain an assignment.*in 'total = 0'"):

        @formula("t", cite="williams2009")
        def looped(n, alpha):
            """Why."""
            total = 0
            for _ in range(n):
                total += alpha
            return total


@pytest.mark.parametrize(
    ("args", "result", "sentence"),
    [
        ("n, ranks", "t", "'ranks' is not a symbol of hwlib.notation; close to it are"),
        ("n, alfa", "t", "close to it are alpha"),
        ("n", "tme", "'tme' is not a symbol"),
        ("*n", "t", "plain symbols"),
        ("n, *, S", "t", "plain symbols"),
        ("n, /", "t", "plain symbols"),
        ("n='2'", "t", "defaults are numbers"),
        ("n=None", "t", "defaults are numbers"),
    ],
)
def test_unknown_letters_are_refused(args, result, sentence):
    with pytest.raises(FormulaError, match=sentence):
        define("return n", args, result)


def test_an_unknown_reading_is_refused():
    with pytest.raises(FormulaError, match="unknown reading 'latex'; known: dim, expr, js, tex, vega"):
        formula("t", cite="x", readings={"latex"})(ridge.function)


def test_a_lambda_is_refused():
    with pytest.raises(FormulaError, match="a formula is a function: def"):
        formula("t", cite="williams2009")(lambda n: n)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("return S + 1", r"cannot add S \[B\] and 1 \[1\], in S \+ 1"),
        ("return 1 - S", r"cannot subtract 1 \[1\] and S \[B\]"),
        ("return alpha + S*W", r"cannot add alpha \[s\] and S \* W \[B\^2/s\]"),
        ("return n*alpha + S", r"cannot add n \* alpha \[s\] and S \[B\]"),
        ("return maximum(alpha, S/W, S)", r"cannot compare alpha \[s\] and S \[B\]"),
        ("return where(S > alpha, 1, 2)", r"cannot compare S \[B\] and alpha \[s\]"),
        ("return where(n > 1, S, alpha)", r"cannot choose between S \[B\] and alpha \[s\]"),
        ("return ceil(S)", r"S \[B\] is not a plain number, in ceil\(S\)"),
        ("return log2(S/W)", r"S / W \[s\] is not a plain number"),
        ("return 2**S", r"S \[B\] is not a plain number, in 2 \*\* S"),
        ("return S**n", r"S \[B\] to a power that is not a written number"),
        ("return const(16, 'B') + n", r"cannot add const\(16, 'B'\) \[B\] and n \[1\]"),
        ("return sum_of(x + alpha for x in S)", r"cannot add x \[B\] and alpha \[s\]"),
        ("return ridge(S, W) + n", r"cannot add S / W \[s\] and n \[1\]"),
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
    with pytest.raises(ValueError, match="const takes a unit of the SI base, such as B, s or B/s, not 'KB'"):
        define("return const(16, 'KB')*n")
    with pytest.raises(ValueError, match="unknown unit 'apple'"):
        define("return const(16, 'apple')*n")
