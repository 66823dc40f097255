"""What the cells of a real IPython tell of an answer: each list of cells is run, and the last one's verdict read."""

import json
import re
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
P = Exercise(id="t-guess", prompt="?", answer=Quantity("s"), solution=2.0, predict=True)
G = Exercise(id="t-other", prompt="?", answer=Function("count", "count(x)", cases=[(1.0,)]), solution=lambda x: x)
"""
RUN = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell._showtraceback = lambda *_: None
told = []
for cells in json.loads(sys.argv[1]):
    shell.reset()
    for cell in ["from autograder import check", *cells]:
        source, cell_id = cell if isinstance(cell, list) else (cell, None)
        result = shell.run_cell(source, store_history=True, cell_id=cell_id)
    told.append(vars(result.result))
print(json.dumps(told))
"""
STUB = "def ring_bytes(x):\n    ...  # about 2 lines"
FUNCTION, TIME = 'check("t-fun", ring_bytes)', 'check("t-time", answer)'
# The cells, the kind of the verdict and its reason, and the names in its sentence; the last one may be of a doubt.
TOLD = {
    "a stub": ([STUB, FUNCTION], "empty", "untouched-stub", ["ring_bytes"]),
    "renamed": ([STUB, "def unit():\n    return 2.5\n\ndef ring_byte(x):\n    return unit()*x", FUNCTION],
                "empty", "other-name", ["ring_bytes", "ring_byte", "ring_bytes"]),
    "renamed, and tried out": ([STUB, "def mine(x):\n    return 2.5*x", "mine(2)", FUNCTION],
                               "empty", "other-name", ["ring_bytes", "mine", "ring_bytes"]),
    "another cell since": ([STUB, "def mine(x): ...", "n = 2", FUNCTION], "empty", "untouched-stub", ["ring_bytes"]),
    "the stub of another exercise": ([STUB, "def count(x): ...", FUNCTION], "empty", "untouched-stub", ["ring_bytes"]),
    "no return": (["def ring_bytes(x):\n    x = 2", FUNCTION], "empty", "returns-nothing", ["return"]),
    "right": ([STUB, "def ring_bytes(x):\n    return 2.5*x", "def other(x): ...", FUNCTION], "right", "", []),
    "a function with a syntax error": ([STUB, "def ring_bytes(x)\n    return 2.5*x", FUNCTION],
                                       "empty", "cell-failed", ["ring_bytes"]),
    "a syntax error": (["answer = 2.0", "answer = 3*", TIME], "empty", "cell-failed", ["answer"]),
    "and asked twice": (["answer = 2.0", "answer = (3", TIME, TIME], "empty", "cell-failed", ["answer"]),
    "another error": (["answer = 2.0", "answer = tau", TIME], "empty", "cell-failed", ["answer"]),
    "another error, and asked twice": (["answer = 2.0", "answer = tau", TIME, TIME],
                                       "empty", "cell-failed", ["answer"]),
    "an error behind the answer": (["answer = 3.0", "answer = 2.0\ntau", TIME], "empty", "cell-failed", ["answer"]),
    "an error in a cell with a magic": (["answer = 2.0", "%time tau\nanswer = 2.0", TIME],
                                        "empty", "cell-failed", ["answer"]),
    "mended in a timed cell": (["answer = tau", "%%time\nanswer = 2.0", TIME], "right", "", []),
    "mended on a timed line": (["answer = tau", "%time answer = 2.0", TIME], "right", "", []),
    "an error in another function's own variable": (["answer = 2.0", "def g():\n    answer = 3\ntau", TIME],
                                                    "right", "", []),
    "the answer cell without its answer": ([("answer = 2.0", "t-time"), ("tau", "t-time"), TIME],
                                           "empty", "cell-failed", ["answer"]),
    "the answer cell of another exercise": ([("answer = 2.0", "t-time"), ("tau", "t-other"), TIME], "right", "", []),
    "the answer cell, and set since": ([("tau", "t-time"), "answer = 2.0", TIME], "right", "", []),
    "a failed function": (["def ring_bytes(x):\n    return 2.5*x", "def ring_bytes(x):\n    return x\ntau", FUNCTION],
                          "empty", "cell-failed", ["ring_bytes"]),
    "a prediction": (["answer = 2.0", "answer = tau", 'check("t-guess", answer)'], "empty", "cell-failed", ["answer"]),
    "a prediction, mended": (["answer = tau", "answer = 2.0", 'check("t-guess", answer)'], "recorded", "", []),
    "another error, mended": (["answer = tau", "answer = 2.0", TIME], "right", "", []),
    "another error elsewhere": (["answer = 2.0", "tau", TIME], "right", "", []),
    "mended": (["answer = 3*", "answer = 2.0", TIME], "right", "", []),
    "mended otherwise": (["answer = 3*", "if True:\n    one, answer = 1, 2.0", TIME], "right", "", []),
    "an error in a cell of no answer": (["answer = 2.0", "the_answer = answer == 3*", TIME], "right", "", []),
    "not what the cell set": (["answer = 2.0", "answer = 3*", 'check("t-time", 1 + 1.0)'], "right", "", []),
    "an await and a magic": (["import asyncio", "await asyncio.sleep(0)\nanswer = 2.0", "%time 1", TIME],
                             "right", "", []),
}  # fmt: skip


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    root = tmp_path_factory.mktemp("book")
    for folder in ("solutions", "chapters"):
        (root / folder / "01-t").mkdir(parents=True)
    (root / "solutions" / "01-t" / "exercises.py").write_text(SOURCE)
    public = load_bank(root / "solutions" / "01-t").public()
    (root / "chapters" / "01-t" / "exercises.json").write_text(json.dumps(public))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", RUN, json.dumps([ran for ran, *_ in TOLD.values()])],
        capture_output=True,
        text=True,
        cwd=root / "chapters" / "01-t",
        check=False,
        env={"PYTHONPATH": ":".join(p for p in sys.path if p), "HOME": str(root), "IPYTHONDIR": str(root)},
    )
    assert done.returncode == 0, done.stderr
    return dict(zip(TOLD, json.loads(done.stdout.splitlines()[-1]), strict=True))


@pytest.mark.parametrize("name", TOLD)
def test_a_verdict_knows_what_the_cells_before_did(told, name):
    _, kind, reason, names = TOLD[name]
    verdict = told[name]
    assert (verdict["kind"], verdict["reason"]) == (kind, reason)
    assert re.findall(r"`(\w+)`", verdict["say"]) == names


def test_the_words_for_another_name_and_for_a_cell_that_failed(told):
    assert told["renamed"]["say"] == (
        "No answer yet: `ring_bytes` is still the untouched stub. The cell before defines `ring_byte`; the one that is "
        "asked for is `ring_bytes`."
    )
    assert told["a syntax error"]["say"] == (
        "No answer yet: the last cell for `answer` has a syntax error, and what it was before does not count. "
        "Mend that cell and run it again."
    )
    assert "ended in an error" in told["another error"]["say"]


def test_outside_a_notebook_a_stub_is_known_by_what_it_does():
    def ring_bytes(x): ...

    def other(x):
        return "down"

    verdict = cell_history.stub("ring_bytes", ring_bytes)
    assert verdict is not None
    assert (verdict.kind, verdict.reason) == ("empty", "untouched-stub")
    assert cell_history.stub("other", other) is None
    assert cell_history.stub("answer", ring_bytes) is None
    assert cell_history.stub("answer", ...) is None
