"""Answers of one submission are judged in one process: none of them has a say in what becomes of the next."""

import base64

import pytest

from autograder.grading.judge import Judge, JudgeRequest
from autograder.values import encoding

GREEDY = """
from autograder.answers import Count
from autograder.declaration import Exercise, Mistake

def greedy(n):
    return len(bytearray(1 << 45))

ALL = Exercise(id="abuse-all", prompt="?", given=dict(n=[8]), answer=Count(), solution=greedy,
    mistakes=(Mistake(lambda n: n - 1, "One."), Mistake(lambda n: 2*n, "Two.")))
ONE = Exercise(id="abuse-one", prompt="?", given=dict(n=[8]), answer=Count(), solution=lambda n: n,
    mistakes=(Mistake(lambda n: n - 1, "One."), Mistake(lambda n: 2*n, "Two.")))
"""


def _nested(head, depth):
    tree = ["sym", "n"]
    for _ in range(depth):
        tree = [head, tree, ["sym", "S"]]
    return {"$": "tree", "v": tree}


HOSTILE = {
    "nested trees": _nested("pow", 58),
    "a tree too deep": _nested("add", 400),
    "a tower": {"$": "tree", "v": ["pow", ["num", "9" * 1000], ["pow", ["num", "9" * 1000], ["sym", "n"]]]},
    "switches": {"$": "tree", "v": ["max", *(["mul", ["sym", "n"], ["num", str(k)]] for k in range(50))]},
    "logarithms of nothing": {"$": "tree", "v": ["log", ["add", ["sym", "n"], ["mul", ["num", "-1"], ["sym", "n"]]]]},
    "a long integer": {"$": "int", "v": "0x" + "f" * 4000},
    "nan": {"$": "float", "v": "nan"},
    "a text of units": " ".join(["2 s/s**99"] * 10_000),
    "open brackets": "(" * 100_000,
    "an array": {"$": "array", "t": "float64", "s": [1 << 20], "v": base64.b64encode(bytes(8 << 20)).decode()},
    "many values": {"$": "list", "v": [0.0] * 150_000},
    "keys of one hash": {
        "$": "dict",
        "v": [[{"$": "int", "v": hex(at * (2**61 - 1))}, 0] for at in range(1, 60_000)],
    },
    "lists in lists": [[[[]]]],
    "no message": {"$": {"$": {}}},
}
RIGHT = {
    "abuse-time": 2.0,
    "abuse-form": {
        "$": "tree",
        "v": [
            "mul",
            ["num", "2"],
            ["add", ["sym", "n"], ["num", "-1"]],
            ["pow", ["sym", "n"], ["num", "-1"]],
            ["sym", "S"],
            ["pow", ["sym", "W"], ["num", "-1"]],
        ],
    },
    "abuse-guess": "y",
}


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda name: name.replace(" ", "-"))
def test_a_hostile_answer_changes_no_other_verdict(classroom, hostile):
    judge = classroom[3]
    wrong = {"abuse-time": 0.5, "abuse-form": "S/W", "abuse-guess": "x"}
    alone = {name: judge.ask(JudgeRequest(name, None, encoding.encode(value))) for name, value in wrong.items()}
    with judge.session() as session:
        for name, answer in RIGHT.items():
            for other in RIGHT:
                assert session.ask(JudgeRequest(other, None, HOSTILE[hostile])).score == 0
            assert session.ask(JudgeRequest(name, None, wrong[name])) == alone[name]
            assert session.ask(JudgeRequest(name, None, answer)).score == 1


def test_an_answer_for_which_memory_runs_out_is_a_verdict_and_the_next_is_judged(tmp_path):
    (tmp_path / "exercises.py").write_text(GREEDY)
    with Judge([tmp_path / "exercises.py"]) as judge, judge.session() as session:
        for _ in range(2):
            assert session.ask(JudgeRequest("abuse-one", None, 8)).score == 1
            assert session.ask(JudgeRequest("abuse-all", None, 8)).reason == "too-slow"
