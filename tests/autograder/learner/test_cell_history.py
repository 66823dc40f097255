"""What the cells of a real IPython tell of an answer: each list of cells is run, and the last one's verdict read."""

import json
import subprocess
import sys

import pytest

from autograder.declaration import load_bank
from autograder.learner import cell_history

SOURCE = """
from autograder.answers import Function, Quantity
from autograder.declaration import Exercise
T = Exercise(id="t-time", prompt="?", answer=Quantity("s"), solution=2.0)
F = Exercise(id="t-fun", prompt="?", answer=Function("ring_bytes", "ring_bytes(x)", cases=[(1.0,), (2.0,)]),
             solution=lambda x: 2.5*x)
G = Exercise(id="t-other", prompt="?", answer=Function("count", "count(x)", cases=[(1.0,)]), solution=lambda x: x)
"""
RUN = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell._showtraceback = lambda *_: None
says = []
for cells in json.loads(sys.argv[1]):
    shell.reset()
    for cell in ["from autograder import check", *cells]:
        result = shell.run_cell(cell, store_history=True)
    says.append(result.result.say)
print(json.dumps(says))
"""
STUB = "def ring_bytes(x):\n    ...  # about 2 lines"
FUNCTION, TIME = 'check("t-fun", ring_bytes)', 'check("t-time", answer)'
ASKED = "; the one that is asked for is `ring_bytes`."
BEFORE = "(The last cell with `{}` has a syntax error, so this is what it was before.)"
TOLD = {
    "a stub": ([STUB, FUNCTION], "No answer yet: `ring_bytes` is still the untouched stub."),
    "renamed": ([STUB, "def unit():\n    return 2.5\n\ndef ring_byte(x):\n    return unit()*x", FUNCTION],
                f"No answer yet: `ring_bytes` is still the untouched stub. The cell before defines `ring_byte`{ASKED}"),
    "renamed, and tried out": ([STUB, "def mine(x):\n    return 2.5*x", "mine(2)", FUNCTION],
                               "No answer yet: `ring_bytes` is still the untouched stub. The cell before defines "
                               f"`mine`{ASKED}"),
    "another cell since": ([STUB, "def mine(x): ...", "n = 2", FUNCTION],
                           "No answer yet: `ring_bytes` is still the untouched stub."),
    "the stub of another exercise": ([STUB, "def count(x): ...", FUNCTION],
                                     "No answer yet: `ring_bytes` is still the untouched stub."),
    "no return": (["def ring_bytes(x):\n    x = 2", FUNCTION],
                  "No answer yet: ring_bytes returns nothing (is there a `return`?)."),
    "right": ([STUB, "def ring_bytes(x):\n    return 2.5*x", "def other(x): ...", FUNCTION], "Right."),
    "a function with a syntax error": ([STUB, "def ring_bytes(x)\n    return 2.5*x", FUNCTION],
                                       "No answer yet: `ring_bytes` is still the untouched stub. "
                                       + BEFORE.format("ring_bytes")),
    "a syntax error": (["answer = 2.0", "answer = 3*", TIME], "Right. " + BEFORE.format("answer")),
    "and asked twice": (["answer = 2.0", "answer = (3", TIME, TIME], "Right. " + BEFORE.format("answer")),
    "mended": (["answer = 3*", "answer = 2.0", TIME], "Right."),
    "mended otherwise": (["answer = 3*", "if True:\n    one, answer = 1, 2.0", TIME], "Right."),
    "an error in a cell of no answer": (["answer = 2.0", "the_answer = answer == 3*", TIME], "Right."),
    "not what the cell set": (["answer = 2.0", "answer = 3*", 'check("t-time", 1 + 1.0)'], "Right."),
    "an await and a magic": (["import asyncio", "await asyncio.sleep(0)\nanswer = 2.0", "%time 1", TIME], "Right."),
}  # fmt: skip


@pytest.fixture(scope="module")
def says(tmp_path_factory):
    root = tmp_path_factory.mktemp("book")
    for folder in ("solutions", "chapters"):
        (root / folder / "01-t").mkdir(parents=True)
    (root / "solutions" / "01-t" / "exercises.py").write_text(SOURCE)
    public = load_bank(root / "solutions" / "01-t").public()
    (root / "chapters" / "01-t" / "exercises.json").write_text(json.dumps(public))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", RUN, json.dumps([ran for ran, _ in TOLD.values()])],
        capture_output=True, text=True, cwd=root / "chapters" / "01-t", check=False,
        env={"PYTHONPATH": ":".join(p for p in sys.path if p), "HOME": str(root), "IPYTHONDIR": str(root)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return dict(zip(TOLD, json.loads(done.stdout.splitlines()[-1]), strict=True))


@pytest.mark.parametrize("name", TOLD)
def test_a_verdict_knows_what_the_cells_before_did(says, name):
    assert says[name] == TOLD[name][1]


def test_outside_a_notebook_a_stub_is_known_by_what_it_does():
    def ring_bytes(x): ...

    def other(x):
        return "down"

    verdict = cell_history.stub("ring_bytes", ring_bytes)
    assert verdict is not None
    assert verdict.kind == "empty"
    assert cell_history.stub("other", other) is None
    assert cell_history.stub("answer", ring_bytes) is None
    assert cell_history.stub("answer", ...) is None
