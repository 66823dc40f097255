"""In a notebook a beginner's error is told below its traceback with what to write instead."""

import re
import subprocess
import sys

import pytest

import autograder
from autograder.learner import verbs
from tests.autograder.learner.declared import publish

SOURCE = """
from autograder.answers import Expression, Quantity, integers, positive
from autograder.declaration import Exercise
LATE = Exercise(id="t-late", prompt="?", solution=lambda p, n: 1 - (1 - p)**n,
                answer=Expression({"p": positive("1", 0.01, 0.9), "n": integers(2, 64)}))
TIME = Exercise(id="t-time", prompt="?", answer=Quantity("s"), given={"N": [4]}, solution=lambda N: N/2)
"""
NOTEBOOK = """
import sys
from IPython.core.interactiveshell import InteractiveShell as S

s = S.instance()
shown, traces = [], []
s.display_pub.publish = lambda data, **k: shown.append(data["text/plain"])
s._showtraceback = lambda kind, *_: traces.append(kind.__name__)
for cell_id, cell in {cells!r}:
    shown.clear()
    traces.clear()
    s.run_cell(cell, store_history=False, cell_id=cell_id)
    print("said:", *traces, "|", *shown)
"""


@pytest.fixture
def chapter(book):
    (book / "solutions" / "01-t" / "exercises.py").write_text(SOURCE)
    publish(book)
    return book / "chapters" / "01-t"


def said(chapter, cells):
    """Of each cell, with its id: the class of its error, and what stands below the traceback."""
    code = NOTEBOOK.format(cells=[("setup", "from autograder import check, given, symbols"), *cells])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        cwd=chapter,
        check=False,
        env={"PYTHONPATH": ":".join(p for p in sys.path if p), "HOME": str(chapter), "IPYTHONDIR": str(chapter)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    lines = [line.removeprefix("said:") for line in done.stdout.splitlines() if line.startswith("said:")]
    return [tuple(part.strip() for part in line.split("|")) for line in lines][1:]


def test_letters_alone_make_a_formula_of_logic_which_is_no_power(chapter):
    p, n = verbs.symbols("t-late")
    verdict = autograder.check("t-late", p ^ n)
    assert (verdict.kind, verdict.reason) == ("unreadable", "power-sign")
    assert re.search(r"\^ .*p\*\*w\b", verdict.say)


def test_below_the_traceback_stands_what_to_write(chapter):
    cells = [
        ("t-late", 'p, n = symbols("t-late")\nanswer = 2*(1 - (1 - p)^n)'),
        ("x", "max(p, n)"),
        ("t-late", "answer = n(p + 1)"),
        ("t-late", "answer = p*k"),
        ("t-time", "answer = 3.85 ms"),
        ("t-time", "answer = 3*N"),
        ("x", 'g = given("t-time"); g["M"]'),
        ("x", "1/0"),
        ("x", "2"),
    ]
    found = said(chapter, cells)
    assert [error for error, _ in found] == [
        "TypeError",
        "TypeError",
        "TypeError",
        "NameError",
        "SyntaxError",
        "NameError",
        "KeyError",
        "ZeroDivisionError",
        "",
    ]
    parts = ("p**w", "maximum(a, b)", "n*(a + b)", "", '"3.85 ms"', '`g["N"]`', "`N`", "", "")
    for (_, say), part in zip(found, parts, strict=True):
        assert part in say
        assert bool(say) is bool(part)


def test_whatever_fails_beside_it_the_traceback_stays_and_nothing_else_is_printed(chapter):
    hostile = "class Odd(Exception):\n    def __str__(self): raise RuntimeError\nraise Odd"
    (chapter / "exercises.json").write_text("{")
    broken = [("x", hostile), ("t-time", "answer = 3*N"), ("x", "check('nowhere', q)")]
    assert said(chapter, broken) == [("Odd", ""), ("NameError", ""), ("NameError", "")]


def test_it_is_said_once_however_often_the_verbs_are_imported(chapter):
    again = "import importlib, autograder.learner.verbs as v; importlib.reload(v); symbols('t-late')"
    ((_, _), (_, say)) = said(chapter, [("x", again), ("t-time", "answer = 3*N")])
    assert say.count("given(") == 1
