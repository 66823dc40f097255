"""Why a verdict is what it is: each part of an explanation, and how it is shown, without a course or a judge."""

import io
import json
from dataclasses import replace
from types import SimpleNamespace
from typing import ClassVar

import pytest
from rich.console import Console

from autograder.course.report import explanation
from autograder.course.report.explanation import MOST_READ, MOST_SOURCE, Explanation
from autograder.course.report.gathered_answers import Answered
from autograder.declaration.formula_text import Declared
from autograder.declaration.verdict import Verdict
from autograder.grading.fingerprints import Fingerprint
from autograder.grading.judge import JudgeFailed, judge_answer
from autograder.grading.results import Result
from tests.autograder.course.report.made import BANK, COPY, MEAN, STEPS, TERM, WHICH, WHY, Class


class JudgeHere:
    """The judge, in this process."""

    questions: ClassVar[list] = []

    def __init__(self, _paths):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def ask(self, question):
        self.questions.append(question)
        reply = judge_answer(BANK, question)
        return Verdict(**{**reply, "mistakes": tuple(reply["mistakes"])})


@pytest.fixture
def explained(monkeypatch):
    """`explained(made, what)`: the explanation of a result of a class that is made up."""
    monkeypatch.setattr(explanation, "Judge", JudgeHere)
    monkeypatch.setattr(JudgeHere, "questions", [])

    def of(made, what, **changes):
        gathered = made.gathered()
        for name, value in changes.items():
            setattr(gathered, name, value)
        monkeypatch.setattr(explanation, "Gathered", SimpleNamespace(of=lambda *_, **__: gathered))
        return explanation.of(gathered.folder, "hw", what)

    return of


def answered(value, exercise=COPY, who="ann", **about):
    made = Class(**about)
    made.answer(who, exercise, value)
    return made


def test_a_wrong_answer_is_set_beside_what_was_expected_and_its_mistakes(explained):
    made = explained(answered(5e10 / 1e8), "ann/made-copy")
    assert (made.learner, made.called, made.exercise.id) == ("ann", "ann", COPY.id)
    assert made.numbers == "S = 100 MB, W = 50 GB/s, n = 3"
    assert (made.whose, made.read, made.expected) == ("the book's, which all have", "8.333 min", "2 ms")
    assert made.tolerance.startswith("within 1 %")
    assert [(one.key, one.comes_to, one.matches) for one in made.mistakes] == [
        ("upside-down", "8.333 min", True),
        ("made-copy#2", "6 ms", False),
    ]
    assert made.mistakes[1].say == "Not 100 MB three times."
    assert (made.now.points, made.now.kind, made.why_not, made.problems) == (0.0, "mistake", "", [])
    assert JudgeHere.questions[0].owner is None


@pytest.mark.parametrize("what", ["ann/made-steps", "ann/steps", "ann/2"])
def test_an_exercise_goes_by_its_id_its_short_name_or_its_number(explained, what):
    made = answered(2e-3)
    made.answer("ann", STEPS, 14)
    assert explained(made, what).exercise is STEPS


@pytest.mark.parametrize(
    ("what", "known"),
    [
        ("ann", "LEARNER/EXERCISE"),
        ("/made-copy", "LEARNER/EXERCISE"),
        ("ann/", "LEARNER/EXERCISE"),
        ("", "LEARNER/EXERCISE"),
        ("ann/0", "known: made-copy, made-steps"),
        ("ann/3", "known: made-copy"),
        ("ann/none", "known: made-copy"),
        ("bob/made-copy", "known: ann"),
    ],
)
def test_what_is_not_there_is_refused_with_what_is(explained, what, known):
    made = answered(2e-3, asked=(COPY.id, STEPS.id))
    with pytest.raises(KeyError, match=known):
        explained(made, what)


def test_a_learner_who_was_not_graded_and_an_exercise_without_a_key_are_refused(explained):
    made = answered(2e-3)
    with pytest.raises(KeyError, match="not declared"):
        explained(made, "ann/made-copy", bank={})
    made.learners["ann"].problem = "no notebook"
    with pytest.raises(ValueError, match="no notebook"):
        explained(made, "ann/made-copy")


def test_the_relation_is_said_of_wrong_answers_only(explained):
    assert explained(answered(5e-4), "ann/1").relation == "1/4 of the right answer"
    assert explained(answered(2e-3), "ann/1").relation == ""
    assert explained(answered("3 apples"), "ann/1").relation == ""  # nor of what cannot be read
    lost = answered(5e-4)
    lost.answers.clear()
    assert explained(lost, "ann/1").relation == ""


def test_what_was_read_of_an_answer(explained):
    assert explained(answered(...), "ann/1").read == "no answer"
    assert explained(answered("3 apples"), "ann/1").read.startswith("not readable: ")
    lost = answered(5e-4)
    lost.answers.clear()
    assert explained(lost, "ann/1").read == ""
    echo = SimpleNamespace(answer=SimpleNamespace(blank=lambda _: False, as_read=lambda value: value))
    for count in (399, 400, 401):
        assert len(explanation._read(echo, Answered("ann", None, {}, "x" * count))) == min(count, 400)
    assert MOST_READ == 400


def test_whose_numbers_an_answer_is_for(explained):
    first, last = (
        next(who for who in map("l{}".format, range(999)) if COPY.variant(who) == COPY.drawn()[at]) for at in (0, -1)
    )
    for who, number in ((first, 1), (last, 8)):
        made = explained(answered(1.0, who=who, variants=True), f"{who}/1")
        assert made.whose == f"drawn for {who}, number {number} of 8"
        assert JudgeHere.questions[-1].owner == who
    team = answered(1.0, who=first, variants=True)
    team.learners[first].submitted_by = last
    assert explained(team, f"{first}/1").whose == f"drawn for {last}, who submitted for the group, number 8 of 8"
    assert explained(answered(1, STEPS, variants=True), "ann/2").whose == "the book's, which all have"
    assert explained(answered("2*S/W", TERM, variants=True), "ann/3").whose == "the exercise has none"


def test_a_mistake_matches_by_its_key_and_its_sentence(explained):
    def matches(say, mistakes):
        made = Class()
        made.wrote("ann", COPY, "", Result(COPY.id, 0.0, 2.0, say, kind="mistake", mistakes=mistakes))
        return [one.matches for one in explained(made, "ann/1").mistakes]

    assert matches("Turn the quotient over.", ("upside-down",)) == [True, False]
    assert matches("Turn the quotient over.", ()) == [True, False]  # of an earlier version
    assert matches("Turn the quotient over.", ("another",)) == [False, False]
    assert matches("Other words.", ("upside-down",)) == [False, False]


def test_why_an_answer_is_not_judged_now(explained):
    made = Class()
    made.answer("ann", WHY, "Because.")
    made.answer("ann", MEAN, lambda xs: 0.0, call=lambda arguments: 0.0)
    made.answer("ann", COPY, 1.0)
    del made.answers["ann"][COPY.id]
    for exercise, reason in ((WHY, "a teacher grades it"), (MEAN, explanation.LATER), (COPY, "was not kept")):
        one = explained(made, f"ann/{exercise.id}")
        assert one.now is None
        assert reason in one.why_not
        assert one.problems == []
    assert "was not kept" in explained(made, "ann/1", entries={}).why_not
    assert JudgeHere.questions == []


def test_a_key_that_fails_now_is_a_problem_and_no_points(explained, monkeypatch):
    def fails(*_):
        raise JudgeFailed("mine.py: it divides by zero")

    monkeypatch.setattr(JudgeHere, "ask", fails)
    made = explained(answered(2e-3), "ann/1")
    assert (made.now.kind, made.now.points, made.problems) == ("failed", 0.0, ["mine.py: it divides by zero"])


def test_a_value_that_cannot_be_computed_says_so():
    def broken(*_):
        raise ZeroDivisionError("division by zero")

    exercise = SimpleNamespace(answer=SimpleNamespace(shown=broken))
    assert explanation._shown(exercise, 1, {}) == "no value with these numbers (ZeroDivisionError: division by zero)"


def test_the_cell_is_cut(explained, tmp_path):
    made = Class()
    made.answer("ann", MEAN, lambda xs: 0.0, call=lambda arguments: 0.0)
    gathered = made.gathered()
    entry = replace(gathered.entries["ann"], notebook="n.ipynb")
    path = tmp_path / ".gpubook" / "hw.graded" / "n.ipynb"
    path.parent.mkdir(parents=True)
    for count in (3999, 4000, 4001):
        cell = {"metadata": {"gpubook": {"part": "answer", "exercise": MEAN.id}}, "source": ["x"] * count}
        path.write_text(json.dumps({"cells": [cell]}))
        one = explained(made, "ann/mean", folder=tmp_path, entries={"ann": entry})
        assert len(one.source) == min(count, 4000)
    assert MOST_SOURCE == 4000


def test_a_changed_key_is_told(explained):
    made = answered(1.0)
    entry = replace(made.gathered().entries["ann"], fingerprint=Fingerprint("", "", {COPY.id: "k"}))
    changed = explained(made, "ann/1", entries={"ann": entry}, keys={COPY.id: "k"})
    assert not changed.key_changed
    assert explained(made, "ann/1", entries={"ann": entry}, keys={COPY.id: "other"}).key_changed


RECORDED = Result(COPY.id, 0.5, 2.0, "So.", kind="mistake", reason="half")
MADE = Explanation(
    "ann",
    "ann",
    COPY,
    "mine.py:7",
    "S = 1 B",
    "the book's",
    "answer = 5",
    "5 s",
    "2 s",
    Declared("S/W", "mine.py:9"),
    "within 1 %",
    "",
    [],
    RECORDED,
    RECORDED,
)


def shown(**changes):
    out = io.StringIO()
    explanation.show(replace(MADE, **changes), Console(file=out, width=999))
    return out.getvalue().splitlines()


def rows(**changes):
    """What stands behind each label."""
    return {line[:11].strip(): line[11:] for line in shown(**changes)[1:] if line[:11].strip()}


def test_an_explanation_is_shown_in_rows():
    assert shown()[0] == "ann / made-copy: 0.5 of 2 points"
    assert shown(called="Ann Lee")[0] == "ann (Ann Lee) / made-copy: 0.5 of 2 points"
    assert rows() == {
        "declared": "mine.py:7",
        "numbers": "S = 1 B  [the book's]",
        "answer": "5 s",
        "expected": "2 s  [S/W, mine.py:9]",
        "tolerance": "within 1 %",
        "verdict": "So.  [mistake, half]",
        "key": "is the same since it was judged",
        "judged now": "the same",
    }
    assert rows(recorded=replace(RECORDED, reason=""))["verdict"] == "So.  [mistake]"
    assert rows(relation="1/4 of it")["relation"] == "1/4 of it"
    assert rows(numbers="")["numbers"] == "–  [the book's]"
    assert rows(read="")["answer"] == "not kept as a value"
    assert rows(key_changed=True)["key"] == "has changed since"
    assert rows(problems=["Too bad."])["problem"] == "Too bad."


@pytest.mark.parametrize(
    ("expected", "text"), [("2 s", "2 s  [S/W, mine.py:9]"), ("$2$ s", "S/W, mine.py:9"), ("", "S/W, mine.py:9")]
)
def test_a_formula_that_a_terminal_cannot_show_is_left_out(expected, text):
    assert rows(expected=expected)["expected"] == text


def test_the_cell_is_shown_where_the_value_does_not_say_it_all():
    assert "cell" not in rows()
    assert rows(read="")["cell"] == "answer = 5"
    assert rows(exercise=MEAN)["cell"] == "answer = 5"
    assert "cell" not in rows(read="", source=" \n")
    assert "cell" not in rows(exercise=MEAN, source="")


def test_an_answer_in_words_has_no_tolerance_and_says_who_grades_it():
    made = rows(exercise=WHY, read="")
    assert "tolerance" not in made
    assert "teacher" in made["answer"]
    assert "tolerance" in rows(read="")


@pytest.mark.parametrize(("comes_to", "equals"), [("9 s", " = 9 s"), ("$9$", ""), ("", "")])
def test_a_mistake_is_shown_with_what_it_comes_to(comes_to, equals):
    mistake = explanation.Matched("key", Declared("W/S", "mine.py:11"), comes_to, "Turn it over.", False)
    assert rows(mistakes=[mistake])["mistake"] == f"W/S{equals}  [mine.py:11]"
    matched = replace(mistake, matches=True, formula=Declared("W/S"))
    lines = shown(mistakes=[matched])
    assert f"matched    W/S{equals}" in lines
    assert f"{'':11}Turn it over." in lines
    assert f"{'':11}Turn it over." not in shown(mistakes=[mistake])


@pytest.mark.parametrize("changed", [{"points": 2.0}, {"max_points": 3.0}, {"kind": "right"}, {"say": "No."}])
def test_another_verdict_now_is_told_with_what_enters_it(changed):
    lines = shown(now=replace(RECORDED, **changed))
    assert not any(line.startswith("judged now the same") for line in lines)
    assert f"{'':11}`gpubook grade --resume` enters it" in lines
    assert rows(now=replace(RECORDED, reason="another"))["judged now"] == "the same"
    assert rows(now=None, why_not="nobody knows")["judged now"] == "nobody knows"


def test_a_long_formula_is_cut_and_its_place_stays():
    assert explanation._inline(Declared("x" * 400, "a.py:1")) == "x" * 400 + ", a.py:1"
    assert explanation._inline(Declared("x" * 401)) == "x" * 400 + "…"
    assert explanation._inline(Declared("x", "a.py:1"), place=False) == "x"


def test_what_a_learner_wrote_is_shown_line_by_line_and_obeyed_by_nobody():
    lines = shown(read="", source="def f():\n\treturn '\x1b[2J'")
    at = lines.index("cell       def f():")
    assert lines[at + 1] == f"{'':15}return '\N{REPLACEMENT CHARACTER}[2J'"


def test_a_prediction_has_no_relation(explained):
    assert explained(answered("compute", WHICH), "ann/4").relation == ""
