"""The calls of the page's worker, in plain Python: over a small book as it lies in the page's archive."""

import json

import pytest

from autograder.declaration import load_bank
from autograder.live import cells
from autograder.live.on_demand import Needs, OnDemand
from autograder.live.worker import call
from autograder.values.inline_html import inline_html
from tests.conftest import ROOT

CHAPTER, KERNELS, RANKS = "03-rooflines", "02-memory-hierarchy", "06-collectives"


@pytest.fixture(autouse=True)
def page(tmp_path, monkeypatch):
    """The folder that the worker unpacks: public exercises, declarations, and the cells' code."""
    for name in ("chapters", "solutions"):
        (tmp_path / name).mkdir()
        for chapter in (CHAPTER, KERNELS, RANKS):
            (tmp_path / name / chapter).symlink_to(ROOT / name / chapter)
    code = [
        ["imports", "from math import ceil\nfrom autograder import given\nfrom hwlib.roofline import *"],
        ["rooflines-ridge", ""],
    ]
    written = {CHAPTER: code}
    written |= {KERNELS: [["imports", "from hwlib import tl"]], RANKS: [["imports", "from hwlib.algorithms import *"]]}
    (tmp_path / "cells.json").write_text(json.dumps(written))
    monkeypatch.setenv("GPUBOOK_PAGE", str(tmp_path))
    monkeypatch.setenv("GPUBOOK_SOLUTIONS", str(tmp_path / "solutions"))
    monkeypatch.chdir(tmp_path)
    cells.book.cache_clear()
    cells.names_of.cache_clear()
    yield tmp_path
    cells.book.cache_clear()
    cells.names_of.cache_clear()


def asked(name, **given):
    return json.loads(call(json.dumps({"call": name, **given})))


def check(exercise, entered, **more):
    return asked("check", chapter=CHAPTER, exercise=exercise, entered=entered, **more)


def test_a_number_is_judged_as_the_notebook_judges_it():
    right = check("rooflines-vector-add", "3*2*2^30/8e12 s")["verdict"]
    assert (right["kind"], right["score"], right["points"], right["sign"]) == ("right", 1.0, 1.0, "✓")
    wrong = check("rooflines-vector-add", "2*2*2^30/8e12 s")["verdict"]
    assert (wrong["kind"], wrong["points"]) == ("mistake", 0.0)
    assert wrong["text"].startswith("Both inputs are read. And the result: where does it go? It was read as ")
    odd = check("rooflines-vector-add", "some seconds")["verdict"]
    assert odd["kind"] == "unreadable"


def test_a_sentence_is_html_with_its_formulas_for_the_page():
    said = check("rooflines-double-buffer", "n*t_W*t_C")["verdict"]
    assert said["score"] == 0
    assert "`" in said["text"] or "$" in said["text"] or said["say"] == said["text"]
    option = check("rooflines-erratum-link", "same")["verdict"]
    assert (option["kind"], option["sign"]) == ("mistake", "✗")


def test_a_prediction_is_told_without_the_explanation_that_unfolds_below_it():
    guess = load_bank(ROOT / "solutions" / CHAPTER)["rooflines-predict-batch"]
    right, wrong = guess.expected(guess.variant()), guess.mistakes[0].value
    told = [check(guess.id, option)["verdict"] for option in (right, wrong)]
    assert [(one["kind"], one["points"]) for one in told] == [("predicted", float(guess.points))] * 2
    assert [(one["reason"], one["sign"]) for one in told] == [("as-predicted", "✓"), ("", "→")]
    assert told[0]["say"] == "You predicted right."
    assert len(told[0]["text"]) > len(told[0]["say"])
    whole = inline_html(told[1]["text"])
    assert whole.startswith(told[1]["say"])
    assert whole != told[1]["say"]


def test_code_runs_and_is_judged():
    wrong = check("rooflines-moe-bytes", "def expert_bytes(B, E, k, D, F, b):\n    print('seen')\n    return E*3*D*F*b")
    assert wrong["verdict"]["score"] == 0
    assert "seen" in wrong["printed"]
    failing = check("rooflines-moe-bytes", "def expert_bytes(B, E, k, D, F, b)\n    return 1")
    assert "SyntaxError" in failing["error"]
    assert "verdict" not in failing
    ended = check("rooflines-moe-bytes", "def expert_bytes(B, E, k, D, F, b):\n    return E*3*D*F*b\n1/0")
    assert "ZeroDivisionError" in ended["error"]
    assert "verdict" not in ended
    stub = check("rooflines-moe-bytes", "def expert_bytes(B, E, k, D, F, b):\n    ...")
    assert stub["verdict"]["kind"] == "empty"
    missing = check("rooflines-moe-bytes", "x = 1")
    assert missing["verdict"]["kind"] == "empty"


def test_an_answer_is_not_the_one_of_an_earlier_check():
    good = "def expert_bytes(B, E, k, D, F, b):\n    return 1"
    check("rooflines-moe-bytes", good)
    assert check("rooflines-moe-bytes", "pass")["verdict"]["kind"] == "empty"


def test_a_cell_shows_its_value_and_what_it_prints():
    shown = asked("run", chapter=CHAPTER, source="print('hello')\nceil(2.5)", place="rooflines-ridge")
    assert (shown["printed"], shown["value"], shown["error"]) == ("hello\n", "3", "")
    table = asked("run", chapter=CHAPTER, source="from hwlib import table\ntable([('a', 1)], ['x', 'y'])")
    assert "<table" in table["html"]


SCATTER = """\
def ring_reduce_scatter(rank, n, x):
    block = blocks(x, n)
    for k in range(1, n):
        got = yield Step(block[(rank - k) % n], to=(rank + 1) % n, frm=(rank - 1) % n)
        block[(rank - k - 1) % n][:] += got
    return block[rank]
"""


def tried(source, exercise="collectives-ring-reduce-scatter", chapter=RANKS):
    shown = asked("run", chapter=chapter, source=source, place=exercise)
    assert shown["error"] == ""
    return shown


def test_ranks_that_are_run_show_what_they_send_and_return():
    shown = tried(SCATTER)["html"]
    for cell in ("0 → 1", "block 3 of rank 0", "block 1 of ranks 0+2+3", "block 2 of ranks 0+1+2+3"):
        assert f">{cell}<" in shown
    assert "Right" not in shown


def test_wrong_ranks_show_what_they_do_and_not_what_is_right():
    shown = tried(SCATTER.replace("] += got", "] = got"))["html"]
    assert ">block 0 of rank 1<" in shown
    assert "0+1" not in shown
    assert "expected" not in shown


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("frm=(rank - 1)", "frm=(rank + 1)", "deadlock: rank 0, step 0, waits for rank 1"),
        ("(rank + 1) % n", "rank + 1", "rank 3, step 0"),
        ("block[rank]", "block[rnk]", "NameError"),
        (
            "    return",
            "    while True:\n        yield Step(x, (rank + 1) % n, (rank - 1) % n)\n    return",
            "never end",
        ),
        ("    return", "    while True:\n        pass\n    return", "does not end"),
        ("yield Step", "Step", "yield"),
    ],
)
def test_ranks_that_do_not_finish_are_told_why_in_the_words_of_the_check(old, new, said):
    assert said in tried(SCATTER.replace(old, new))["html"]


def test_a_function_that_is_run_shows_a_value():
    name = "rooflines-moe-bytes"
    shown = tried("def expert_bytes(B, E, k, D, F, b):\n    print('seen')\n    return 2*E", name, CHAPTER)
    assert shown["printed"] == "seen\n"
    assert "gives <code>14 B</code>" in shown["html"]
    assert "returns nothing" in tried("def expert_bytes(B, E, k, D, F, b):\n    ...", name, CHAPTER)["html"]
    failing = tried("def expert_bytes(B, E, k, D, F, b):\n    return 1/0", name, CHAPTER)
    assert "ZeroDivisionError" in failing["html"]
    assert "function was expected" in tried("expert_bytes = 3", name, CHAPTER)["html"]


def test_a_kernel_that_is_run_shows_what_it_loads_and_stores():
    head = "def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):\n    "
    shown = tried(f"{head}tl.load(x_ptr + tl.arange(0, BM))", "memory-hierarchy-transpose", KERNELS)["html"]
    assert ">192<" in shown, "3 programs load 16 elements of 4 bytes"
    beyond = tried(f"{head}tl.load(x_ptr + M*N + tl.arange(0, BM))", "memory-hierarchy-transpose", KERNELS)["html"]
    assert "loads element 320 of x_ptr" in beyond


def test_a_cell_that_shows_something_else_is_not_tried():
    shown = tried(SCATTER + "3")
    assert (shown["value"], "html" in shown) == ("3", False)
    assert "html" not in tried("def another():\n    pass")


def test_an_error_is_told_from_the_readers_own_line_on():
    said = asked("run", chapter=CHAPTER, source="def f():\n    return 1/0\n\nf()")["error"]
    assert "Your code, line 2" in said
    assert "autograder" not in said
    assert "ZeroDivisionError" in said
    ended = asked("run", chapter=CHAPTER, source="import sys\nsys.exit()")["error"]
    assert "SystemExit" in ended


def test_what_a_page_has_not_is_said_with_the_way_out(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "torch", None)
    said = asked("run", chapter=CHAPTER, source="import torch")["error"]
    assert "notebook" in said


def test_a_text_is_echoed_while_it_is_typed():
    assert "3.85 ms" in asked("echo", chapter=CHAPTER, exercise="rooflines-vector-add", entered="3850 us")["html"]
    formula = asked("echo", chapter=CHAPTER, exercise="rooflines-double-buffer", entered="t_W/n")["html"]
    assert r"\frac" in formula
    assert r"\(" in formula
    assert asked("echo", chapter=CHAPTER, exercise="rooflines-vector-add", entered="3 apples")["error"]


def test_other_numbers_are_asked_for_and_judged(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # before any answer the worker is in no chapter
    prompt = asked("variant", chapter=CHAPTER, exercise="rooflines-vector-add", number=1)["prompt"]
    assert prompt != asked("variant", chapter=CHAPTER, exercise="rooflines-vector-add", number=0)["prompt"]
    assert check("rooflines-vector-add", "3*2*2^30/8e12 s", variant=1)["verdict"]["kind"] != "right"


def test_the_course_has_no_declarations_and_records(page):
    (page / "solutions" / CHAPTER).unlink()
    said = check("rooflines-vector-add", "3850 us")["verdict"]
    assert (said["kind"], said["score"]) == ("recorded", 0.0)
    assert "error" in asked("variant", chapter=CHAPTER, exercise="rooflines-vector-add", number=1)


def test_a_package_on_demand_is_asked_for_and_no_cell_can_catch_that():
    with pytest.raises(Needs, match="sympy"):
        OnDemand().find_spec("sympy", None)
    assert OnDemand().find_spec("sympy.core", ["x"]) is None
    assert OnDemand().find_spec("os", None) is None
    assert not issubclass(Needs, Exception)


def test_a_cell_that_needs_a_package_says_which(monkeypatch):
    import sys

    for name in [key for key in sys.modules if key.partition(".")[0] == "networkx"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [OnDemand()])
    assert asked("run", chapter=CHAPTER, source="try:\n    import networkx\nexcept Exception:\n    pass") == {
        "needs": "networkx"
    }
