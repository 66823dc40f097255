"""What fails in a cell because its numbers are letters is told with what to write instead."""

import math
import re
import subprocess
import sys

import numpy as np
import pytest

import autograder
from autograder.answers import Expression, integers, positive
from autograder.answers.symbol_errors import LARGER, NUMBERS, POWER, advice
from autograder.learner import verbs
from autograder.values.parsing import parse
from tests.autograder.learner.test_lookup import book  # noqa: F401  a fixture

LETTERS = Expression({"p": positive("1", 0.01, 0.9), "n": integers(2, 64)})
SOURCE = """
from autograder.answers import Expression, integers, positive
from autograder.declaration import Exercise
LATE = Exercise(id="t-late", prompt="?", solution=lambda p, n: 1 - (1 - p)**n,
                answer=Expression({"p": positive("1", 0.01, 0.9), "n": integers(2, 64)}))
"""
SLIPS = {
    "p^2": POWER, "2.5^n": POWER, "1 - p^n": POWER, "1 - (1 - p)^(n - 1)": POWER, "(p^n)*2": POWER, "-(p^n)": POWER,
    "max(p, 1/n)": LARGER, "min(1, p*n)": LARGER, "p if p > 1/n else n": LARGER, "np.maximum(p, n)": LARGER,
    "math.log2(n)": NUMBERS, "math.ceil(n/p)": NUMBERS, "np.log2(n)": NUMBERS, "np.sqrt(p*n)": NUMBERS,
    "int(n)": NUMBERS, "1/0": "", "p + None": "", "len(p)": "", "undeclared": "", "np.sqrt(None)": "",
}  # fmt: skip


def letters():
    return {name: domain.symbol(name) for name, domain in LETTERS.symbols.items()}


@pytest.mark.parametrize("typed", SLIPS)
def test_an_error_is_told_by_what_sympy_and_python_say_of_it(typed):
    with pytest.raises(Exception) as raised:  # noqa: PT011  any
        eval(typed, {"math": math, "np": np}, letters())
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


@pytest.fixture
def chapter(book):  # noqa: F811
    (book / "solutions" / "01-t" / "exercises.py").write_text(SOURCE)
    return book / "chapters" / "01-t"


def test_letters_alone_make_a_formula_of_logic_which_is_no_power(chapter):
    p, n = verbs.symbols("t-late")
    verdict = autograder.check("t-late", p ^ n)
    assert (verdict.kind, verdict.reason) == ("unreadable", "power-sign")
    assert re.search(r"\^ .*p\*\*w\b", verdict.say)


def test_a_cell_that_fails_on_letters_says_below_what_to_write(chapter):
    code = (
        "from IPython.core.interactiveshell import InteractiveShell as S; s = S.instance()\n"
        "shown = []; s.display_pub.publish = lambda data, **k: shown.append(data['text/plain'])\n"
        "s._showtraceback = lambda *_: None\n"
        "cells = ['from autograder import symbols', '(lambda: 1)^2', 'p, n = symbols(\"t-late\")'] * 2\n"
        "for cell in [*cells, 'answer = 2*(1 - (1 - p)^n)', '1/0', 'raise KeyError', 'x = p**n', 'max(p, n)']:\n"
        "    s.run_cell(cell, store_history=False)\n"
        "print(*(text.split('.')[0] for text in shown), sep='\\n')\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, cwd=chapter, check=False,
        env={"PYTHONPATH": ":".join(p for p in sys.path if p), "HOME": str(chapter), "IPYTHONDIR": str(chapter)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [line.split("`")[0] for line in done.stdout.splitlines()] == [
        "A power is written ", "A power is written ", "Python cannot tell which of two expressions in letters is larger"
    ]  # fmt: skip
