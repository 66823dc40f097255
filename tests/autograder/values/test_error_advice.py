"""What fails in a cell by a beginner's slip is told with what to write instead."""

import math

import numpy as np
import pytest

from autograder.answers import Algorithm, Expression, Function, Kernel, integers, positive
from autograder.answers.kernel import Launch
from autograder.declaration import Exercise
from autograder.values import encoding
from autograder.values.error_advice import LARGER, NUMBERS, POWER, TEXT, TIMES, ErrorContext, advice, advice_on
from autograder.values.parsing import parse
from hwlib import tl
from tests.autograder import lab

LETTERS = Expression({"p": positive("1", 0.01, 0.9), "n": integers(2, 64)})
SLIPS = {
    "p^2": POWER, "2.5^n": POWER, "1 - p^n": POWER, "1 - (1 - p)^(n - 1)": POWER, "(p^n)*2": POWER, "-(p^n)": POWER,
    "max(p, 1/n)": LARGER, "min(1, p*n)": LARGER, "p if p > 1/n else n": LARGER, "np.maximum(p, n)": LARGER,
    "math.log2(n)": NUMBERS, "math.ceil(n/p)": NUMBERS, "np.log2(n)": NUMBERS, "np.sqrt(p*n)": NUMBERS,
    "int(n)": NUMBERS, "1/0": "", "p + None": "", "len(p)": "", "undeclared": "", "np.sqrt(None)": "",
    "n(p + 1)": TIMES, "(n*p)(p + 1)": TIMES, "two(n)": TIMES, "'3 ms'/2": TEXT, "'3 ms'*2.5": TEXT,
}  # fmt: skip


def letters():
    return {name: domain.symbol(name) for name, domain in LETTERS.symbols.items()}


@pytest.mark.parametrize("typed", SLIPS)
def test_an_error_is_told_by_what_sympy_and_python_say_of_it(typed):
    with pytest.raises(Exception) as raised:  # noqa: PT011  any
        eval(typed, {"math": math, "np": np, "two": 2.5}, letters())
    assert advice(type(raised.value).__name__, str(raised.value)) == SLIPS[typed]


def test_what_is_advised_can_be_written():
    import sympy

    from autograder.values.trees import from_sympy
    from hwlib import formula

    scope = letters() | vars(sympy) | {name: getattr(formula, name) for name in ("maximum", "minimum")}
    larger = ("maximum(p, n)", "minimum(p, n)", "Piecewise((p, p > n), (n, True))")
    for typed in ("p**n", *larger, "ceiling(log(n)/sqrt(p))"):
        assert from_sympy(eval(typed, {}, scope))
    assert parse("max(p, n)", LETTERS.symbols).head == "max"


NUMBERED = ErrorContext("t-time", given=("n", "W"))
LETTERED = ErrorContext("t-late", letters=("p", "n"))
CHOSEN = ErrorContext("t-pick", options=("up", "down"))
CODED = ErrorContext("t-fun", "f", "f(n, W=1)")


def test_a_function_that_does_not_take_all_of_the_given_is_told_what_to_leave_out():
    def time(n):
        return n

    with pytest.raises(TypeError) as raised:
        time(**{"n": 1, "W": 2})
    said = advice("TypeError", str(raised.value), 'answer = time(**given("t-time"))', NUMBERED)
    assert said.startswith('`time` takes no `W`, which `given("t-time")` has beside its numbers: name those')
    assert advice("TypeError", str(raised.value), "answer = time(n=1, W=2)", NUMBERED) == ""
    assert advice("TypeError", str(raised.value), "answer = time(**other)", LETTERED) == ""


@pytest.mark.parametrize(
    ("asked", "name", "parts"),
    [
        (NUMBERED, "W", ('given("t-time")', '`g["W"]`')),
        (NUMBERED, "w", ("`W`",)),
        (LETTERED, "n", ('`p, n = symbols("t-late")`',)),
        (CHOSEN, "up", ('`answer = "up"`',)),
        (CODED, "W", ("`f(n, W=1)`",)),
        (LETTERED, "sqrt", ("from sympy import sqrt",)),
        (LETTERED, "ceil", ("from sympy import ceiling",)),
        (LETTERED, "log2", ("from hwlib.formula import log2",)),
        (NUMBERED, "sqrt", ("from math import sqrt",)),
        (CODED, "ceiling", ("from sympy import ceiling",)),
        (LETTERED, "Max", ("from sympy import Max",)),
        (ErrorContext(), "maximum", ("from hwlib.formula import maximum",)),
        (ErrorContext(), "np", ("import numpy as np",)),
        (ErrorContext(), "dist", ("import torch.distributed as dist",)),
        (ErrorContext(), "solution", ("from autograder import solution",)),
        (NUMBERED, "ms", ("from hwlib.units import ms",)),
        (NUMBERED, "GiB", ("from hwlib.units import GiB",)),
    ],
)
def test_a_name_that_is_not_defined_is_told_where_it_comes_from(asked, name, parts):
    with pytest.raises(NameError) as raised:
        eval(name, {})
    say = advice("NameError", str(raised.value), name, asked)
    for part in parts:
        assert part in say


def test_every_import_that_is_named_exists():
    from autograder.values import error_advice

    names = {*error_advice.LIBRARIES, *error_advice.OF_SYMPY, *error_advice.OF_MATH, *error_advice.VERBS, "GiB", "us"}
    for asked in (NUMBERED, LETTERED):
        for name in names - {"torch", "dist"}:
            say = advice("NameError", f"name '{name}' is not defined", "", asked)
            statement = next(part for part in say.split("`") if part.startswith(("import ", "from ")))
            exec(statement, {})


@pytest.mark.parametrize("name", ["undeclared", "B", "s", "x" * 99, "ä", "`<b>`"])
def test_of_any_other_name_nothing_is_said(name):
    assert advice("NameError", f"name '{name}' is not defined", "", NUMBERED) == ""


@pytest.mark.parametrize(
    ("asked", "source", "part"),
    [
        (NUMBERED, "answer = 3.85 ms", '`answer = "3.85 ms"`'),
        (NUMBERED, "answer = 3.85ms  # measured", '`answer = "3.85ms"`'),
        (NUMBERED, "g = 1\nanswer = 450 GB/s", '`answer = "450 GB/s"`'),
        (NUMBERED, "answer = 2.29x", '`answer = "2.29x"`'),
        (NUMBERED, "answer = 12 %", '`answer = "12 %"`'),
        (LETTERED, "answer = 2n", "`2*n`"),
        (LETTERED, "answer = 1 - (1 - p)*2 n", "`2*n`"),
        (LETTERED, "answer = p × n", "`*`"),
        (LETTERED, "answer = (", ""),
        (NUMBERED, "answer = 3 apples", ""),
        (NUMBERED, "answer = 3 <b>`", ""),
    ],
)
def test_what_python_cannot_read_is_told_how_to_write(asked, source, part):
    with pytest.raises(SyntaxError) as raised:
        compile(source, "<cell>", "exec")
    say = advice("SyntaxError", str(raised.value), source, asked)
    assert part in say
    assert bool(say) is bool(part)


def test_numbers_are_taken_by_their_names():
    assert '`g["W"]`' in advice("AttributeError", "'dict' object has no attribute 'W'", "g.W", NUMBERED)
    assert advice("AttributeError", "'dict' object has no attribute 'V'", "g.V", NUMBERED) == ""
    assert "`n`, `W`" in advice("KeyError", "'N'", 'given("t-time")["N"]', NUMBERED)
    assert advice("KeyError", "'N'", 'table["N"]', NUMBERED) == ""


def test_a_package_of_an_extra_is_told_with_the_command_that_installs_it():
    for package, extra in (("torch", "labs"), ("cloudpickle", "labs"), ("torch.distributed", "labs")):
        assert f"'gpubook[{extra}]'" in advice("ModuleNotFoundError", f"No module named '{package}'")
    assert advice("ModuleNotFoundError", "No module named 'torchy'") == ""


def test_a_wrong_number_of_arguments_is_told_with_those_asked_for():
    for function, args in ((lambda n: n, (1, 2)), (lambda n, W: n, (1,)), (lambda: 1, (1, 2))):
        function.__name__ = function.__qualname__ = "f"
        with pytest.raises(TypeError) as raised:
            function(*args)
        assert "`f(n, W=1)`, with 2 arguments" in advice("TypeError", str(raised.value), asked=CODED)
    assert advice("TypeError", "other() takes 1 positional argument but 2 were given", asked=CODED) == ""


def test_what_the_judge_called_is_advised_too():
    said = "NameError: name 'sqrt' is not defined, in line 2: return sqrt(n)"
    assert "from math import sqrt" in advice_on(said, CODED)
    assert advice_on("ZeroDivisionError: division by zero, in line 3: x/0", CODED) == ""
    assert advice_on("", CODED) == ""


def test_every_kind_that_is_code_says_so():
    function = Exercise(
        id="t-fun", prompt="?", answer=Function("f", "f(n, W)", cases=[(1, 2)]), solution=lambda n, W: n
    )
    one = Exercise(
        id="t-ring", prompt="?", answer=Algorithm("mine", cases=[(2, 8)], collective="all_reduce"), solution=lab.ring
    )
    run = Launch(1, {"x_ptr": (8,), "out_ptr": tl.empty(8)})
    copy = Exercise(
        id="t-copy",
        prompt="?",
        answer=Kernel("copy", "copy(x_ptr, out_ptr)", cases=[run]),
        solution=lambda x_ptr, out_ptr: tl.store(out_ptr + tl.arange(0, 8), tl.load(x_ptr + tl.arange(0, 8))),
    )
    for exercise, wrong in ((function, lambda n: n), (one, lambda rank: rank), (copy, lambda x_ptr: x_ptr)):
        wrong.__name__ = wrong.__qualname__ = exercise.answer_name
        kind = exercise.answer
        verdict = exercise.judge(encoding.decode(encoding.encode(wrong)), call=kind.local_call(wrong))
        assert (verdict.kind, verdict.score) == ("wrong", 0.0)
        assert f"`{kind.signature}`, with" in verdict.say


@pytest.mark.parametrize("source", ["answer = “3.85 ms”", "answer = ‘a’", "answer = „a“", "answer = «a»"])
def test_quotes_of_a_word_processor_are_named(source):
    with pytest.raises(SyntaxError) as raised:
        compile(source, "cell", "exec")
    assert "straight" in advice("SyntaxError", str(raised.value), source)


def test_straight_quotes_are_not_blamed():
    assert "straight" not in advice("SyntaxError", "invalid syntax", 'answer = "3.85 ms" ms')


def test_nobody_types_while_a_notebook_is_judged():
    assert "set the value" in advice("EOFError", "EOF when reading a line", "n = input()")
    assert advice("EOFError", "EOF when reading a line", "pickle.load(file)") == ""


def test_what_is_colabs_own_is_said_to_be_so():
    assert "Colab" in advice("ModuleNotFoundError", "No module named 'google'", "from google.colab import drive")
    assert advice("ModuleNotFoundError", "No module named 'googlemaps'") == ""
