"""A wrong key is corrected: only its exercise is judged again, and where the answer is a value no cell runs."""

import json
import sys
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from types import SimpleNamespace

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.api import Gradebook

from autograder import course
from autograder.answers import Count, Function, Quantity, Written
from autograder.course import gradebook
from autograder.declaration import Exercise
from autograder.declaration.bank import Bank
from autograder.declaration.verdict import Verdict
from autograder.grading import rejudging, submission
from autograder.grading.fingerprints import Fingerprint
from autograder.grading.judge import JudgeFailed, JudgeRequest, judge_answer
from autograder.grading.results import Result
from tests.autograder import tiny
from tests.autograder.course.test_operations import hand_in
from tests.autograder.exchange import submitted_at

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="grading others' work needs Linux")
MORE = """
from autograder.answers import Expression, Written, positive

RATIO = Exercise(
    id="tiny-ratio", prompt="How long?", answer=Expression({"S": positive("B"), "W": positive("B/s")}, "s"),
    solution=lambda S, W: S/W,
    mistakes=(Mistake(lambda S, W: W/S, "Upside down."), Mistake(lambda S, W: S*W, "Divide.")))
WHY = Exercise(id="tiny-why", prompt="Why?", answer=Written(rubric=(("Names it.", 2),)), solution="Model.")
"""
ASKED = ["tiny-time", "tiny-steps", "tiny-guess", "tiny-double", "tiny-ratio", "tiny-why"]
RIGHT = tiny.RIGHT | {"tiny-ratio": "S, W = symbols('tiny-ratio')\nanswer = S/W", "tiny-why": "Because."}
STEPS = ("solution=lambda n: 2*(n - 1)", "solution=lambda n: 2*n - 1")
RATIO = ('"s"),\n    solution=lambda S, W: S/W', '"s"),\n    solution=lambda S, W: 2*S/W')
GUESS = ('solution="memory"', 'solution="compute"')
DOUBLE = ("solution=lambda x: 2*x", "solution=lambda x: 2*x + 1")


@pytest.fixture(scope="module")
def zygote(zygotes):
    with pytest.MonkeyPatch.context() as patch:
        tiny.lend(patch, zygotes())
        yield zygotes()


@pytest.fixture
def folder(tmp_path, zygote):
    folder = tmp_path / "course"
    course.init(folder)
    (folder / "exercises" / "tiny.py").write_text(tiny.EXERCISES + MORE)
    config = folder / "nbgrader_config.py"
    config.write_text(config.read_text().replace("# c.AssignLate", "c.AssignLate").replace("# c.Late", "c.Late"))
    released = course.assign(folder, "hw", exercises=ASKED, due=datetime(2030, 1, 1))
    for who, answers, when in (
        ("ann", RIGHT, "2029-12-31 00:00:00 UTC"),
        (
            "bob",
            RIGHT | {"tiny-steps": "answer = 15", "tiny-double": "def twice(x):\n    return 2*x + 1"},
            "2030-01-01 12:00:00 UTC",
        ),
        ("cy", {"tiny-steps": "answer = 1/0"}, "2029-12-31 00:00:00 UTC"),
    ):
        hand_in(folder, who, filled(released, answers), name="hw")
        submitted_at(folder, who, "hw", when)
    return folder


def filled(released, answers):
    nb = nbformat.read(released, as_version=4)
    for cell in nb.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if name in answers:
            cell.source = answers[name]
    return nb


def change(folder, *changes):
    path = folder / "exercises" / "tiny.py"
    text = path.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)


def runs(monkeypatch):
    """The learners whose cells are run from now on, and with how many results that stay."""
    found, run = [], submission.grade_notebook

    def counting(*args, **more):
        found.append((args[3], len(more["kept"])))
        return run(*args, **more)

    monkeypatch.setattr(submission, "grade_notebook", counting)
    return found


def points(result):
    return {learner.name: {r.exercise: r.points for r in learner.results} for learner in result.learners}


def rows(folder):
    """What the gradebook has of each grade cell: what formgrader shows."""
    with opened(folder) as book:
        return {
            (s.student.id, g.name): (g.auto_score, g.manual_score, g.extra_credit, bool(g.needs_manual_grade))
            for s in book.assignment_submissions("hw")
            for notebook in s.notebooks
            for g in notebook.grades
        }


@contextmanager
def opened(folder):
    with Gradebook(gradebook.url_of(folder)) as book:
        yield book
        book.db.commit()


@pytest.mark.slow
def test_value_answers_are_judged_again_without_running_a_cell(folder, monkeypatch):
    before = course.grade(folder, "hw")
    was = rows(folder)
    ran = runs(monkeypatch)
    change(folder, STEPS, RATIO, GUESS)
    after = course.grade(folder, "hw", resume=True)
    assert ran == []
    old, new = points(before), points(after)
    changed = {(w, name) for w in old for name in old[w] if old[w][name] != new[w][name]}
    assert changed == {("ann", "tiny-steps"), ("bob", "tiny-steps"), ("ann", "tiny-ratio"), ("bob", "tiny-ratio")}
    assert [new[who]["tiny-steps"] for who in new] == [0.0, 2.0, 0.0]
    assert new["ann"]["tiny-guess"] == 1.0  # for predicting at all
    said = {r.exercise: r for r in after.learner("cy").results}["tiny-steps"]
    assert "ZeroDivisionError" in said.say
    now = rows(folder)
    assert {key for key in now if now[key] != was[key]} == {(who, f"{name}-grade") for who, name in changed}
    course.grade(folder, "hw")  # all anew: the same
    assert rows(folder) == now
    assert len(ran) == 3


@pytest.mark.slow
def test_the_page_and_the_notebook_are_those_of_a_run(folder):
    course.grade(folder, "hw")
    change(folder, STEPS, RATIO)

    def files():
        paths = [p for part in ("feedback", "autograded") for p in sorted((folder / part).rglob("hw.*"))]
        return {str(path.relative_to(folder)): path.read_text() for path in paths}

    course.grade(folder, "hw", resume=True)
    again = files()
    course.grade(folder, "hw")
    assert again == files()
    assert len(again) == 6


@pytest.mark.slow
def test_a_function_is_asked_again_in_the_sandbox_and_nothing_else_is(folder, monkeypatch):
    before = points(course.grade(folder, "hw"))
    ran = runs(monkeypatch)
    change(folder, DOUBLE)
    after = points(course.grade(folder, "hw", resume=True))
    assert sorted(ran) == [("ann", 5), ("bob", 5), ("cy", 5)]
    assert [after[who]["tiny-double"] for who in after] == [0.0, 2.0, 0.0]
    for who in before:
        assert {k: v for k, v in before[who].items() if k != "tiny-double"} == {
            k: v for k, v in after[who].items() if k != "tiny-double"
        }
    change(folder, STEPS)  # what was kept then can still be judged without a run
    assert [p["tiny-steps"] for p in points(course.grade(folder, "hw", resume=True)).values()] == [0.0, 2.0, 0.0]
    assert len(ran) == 3


@pytest.mark.slow
def test_numbers_of_the_question_that_changed_need_a_run(folder, monkeypatch):
    course.grade(folder, "hw")
    ran = runs(monkeypatch)
    change(folder, ("given=dict(n=[8])", "given=dict(n=[9])"))
    course.grade(folder, "hw", resume=True)
    assert sorted(who for who, _ in ran) == ["ann", "bob", "cy"]


@pytest.mark.slow
def test_what_a_teacher_gave_stays_and_late_penalties_follow(folder):
    course.grade(folder, "hw")
    with opened(folder) as book:
        for who, cell, given in (("ann", "tiny-why", 1.5), ("bob", "tiny-why", 2.0), ("bob", "tiny-time-grade", 1.0)):
            grade = book.find_grade(cell, "hw", "hw", who)
            grade.manual_score, grade.needs_manual_grade = given, False
        book.find_grade("tiny-steps-grade", "hw", "hw", "bob").extra_credit = 0.5
    course.drop(folder, "hw", "tiny-guess")
    course.grade(folder, "hw", resume=True)  # the release is another: all anew
    change(folder, STEPS)
    result = course.grade(folder, "hw", resume=True)
    now = rows(folder)
    assert now["bob", "tiny-steps-grade"] == (2.0, None, 0.5, False)
    assert now["bob", "tiny-time-grade"] == (3.0, 1.0, None, False)
    assert now["ann", "tiny-why"] == (None, 1.5, None, False)
    assert now["ann", "tiny-guess-grade"] == (0.0, None, None, False)
    found = {score.person.id: score for score in gradebook.scores(folder, ["hw"])["hw"]}
    assert found["bob"].raw == 1.0 + 2.0 + 0.5 + 0.0 + 1.0 + 2.0  # time by hand, steps, its extra, double, ratio, why
    assert found["bob"].late_penalty == pytest.approx(0.1 * found["bob"].raw)
    assert (found["ann"].raw, found["ann"].late_penalty) == (3.0 + 2.0 + 1.0 + 1.5, 0.0)
    assert found["ann"].max_score == 3 + 2 + 2 + 1 + 2
    assert result.learner("ann").points == found["ann"].raw


def test_only_bounded_values_are_kept():
    quantity = Exercise(id="t-q", prompt="?", answer=Quantity("s"), solution=1.0, given={"n": [1]})
    assert rejudging.to_save(quantity, False, "x" * 30_000) is None
    kept = rejudging.to_save(quantity, False, 1.5)
    assert json.loads(json.dumps(kept)) == kept
    assert rejudging.still_valid(kept, quantity, False)
    function = Exercise(id="t-f", prompt="?", answer=Function("f", "f(x)", cases=[(1.0,)]), solution=lambda x: x)
    assert rejudging.to_save(function, False, {"$": "callable", "v": "f"}) is None
    for changed in (
        replace(quantity, answer=Quantity("B")),
        replace(quantity, given={"n": [2]}),
        replace(quantity, answer=Count(), solution=1),
        replace(quantity, withholds=("hwlib.network",)),
    ):
        assert not rejudging.still_valid(kept, changed, False)
    other = replace(quantity, prompt="!", solution=2.0, hints=("?",), points=3)
    assert rejudging.still_valid(kept, other, False)
    assert not rejudging.still_valid(None, quantity, False)


NUMBER = Exercise(id="t-number", prompt="?", answer=Quantity("s"), solution=1.0)
TWICE = Exercise(id="t-twice", prompt="?", answer=Function("f", "f(x)", cases=[(1.0,)]), solution=lambda x: 2 * x)
TEXT = Exercise(id="t-text", prompt="?", answer=Written(rubric=(("Names it.", 2),)), solution="Model.")
OWN_BANK = Bank([NUMBER, TWICE, TEXT])
RESULTS = tuple(Result(name, 1.0, 1.0, "Right.") for name in OWN_BANK)


def earlier(**changes):
    """What an earlier run left of a submission with three exercises, and the fingerprint that it has now."""
    now = Fingerprint("submission", "release", dict.fromkeys([*OWN_BANK, "t-gone"], "key"))
    left = {
        "fingerprint": now,
        "results": RESULTS,
        "problems": (),
        "answers": {"t-number": rejudging.to_save(NUMBER, False, 1.0)},
    }
    return SimpleNamespace(**left | changes), now


def counting(asked=tuple(OWN_BANK), keys=(), **changes):
    """What still counts where the exercises `keys` have another key now."""
    left, now = earlier(**changes)
    return rejudging.reuse(left, replace(now, keys=now.keys | dict.fromkeys(keys, "new")), asked, OWN_BANK, False)


def test_an_unchanged_run_counts_as_a_whole():
    assert counting() == rejudging.Reuse(RESULTS, True, True)
    assert counting(["t-number"]) == rejudging.Reuse(RESULTS, True, True)


def test_nothing_counts_of_a_run_in_which_an_exercise_failed():
    assert counting(problems=["the exercise failed"]) is None


@pytest.mark.parametrize("part", ["submission", "release"])
def test_nothing_counts_of_another_submission_or_release(part):
    assert counting(fingerprint=replace(earlier()[1], **{part: "other"})) is None


def test_an_exercise_whose_key_changed_is_judged_again_where_its_answer_was_saved():
    assert counting(keys=["t-number"]) == rejudging.Reuse(RESULTS[1:], False, True)
    assert counting(keys=["t-text"]) == rejudging.Reuse(RESULTS[:2], False, True)  # a teacher reads it
    assert counting(keys=["t-number"], answers={}) == rejudging.Reuse(RESULTS[1:], False, False)
    assert counting(keys=["t-twice"]) == rejudging.Reuse((RESULTS[0], RESULTS[2]), False, False)
    assert counting(keys=["t-number", "t-twice"]) == rejudging.Reuse(RESULTS[2:], False, False)


def test_an_exercise_without_a_result_is_not_there_already():
    assert counting(results=RESULTS[1:]) == rejudging.Reuse(RESULTS[1:], False, True)


def test_an_exercise_that_is_declared_no_more_cannot_be_judged_again():
    assert counting([*OWN_BANK, "t-gone"]) == rejudging.Reuse(RESULTS, False, False)


def test_an_answer_is_saved_up_to_its_bounds(monkeypatch):
    monkeypatch.setattr(rejudging, "MAX_TEXT", 10)
    assert rejudging.to_save(NUMBER, False, "x" * 8) is not None  # and two quotes
    assert rejudging.to_save(NUMBER, False, "x" * 9) is None
    monkeypatch.setattr(rejudging, "MAX_TEXT", 1000)
    monkeypatch.setattr(rejudging, "MAX_DEPTH", 3)
    assert rejudging.to_save(NUMBER, False, [[1]]) is not None
    assert rejudging.to_save(NUMBER, False, {"a": [{}]}) is None
    assert rejudging.to_save(NUMBER, False, [[["a"]]]) is None
    assert rejudging.to_save(TWICE, False, 1.0) is None


class OwnJudge:
    """The judge without a process, which notes what it is asked."""

    def __init__(self):
        self.questions = []

    @contextmanager
    def session(self):
        yield self

    def ask(self, question):
        self.questions.append(question)
        told = judge_answer(OWN_BANK, question)
        if "failed" in told:
            raise JudgeFailed(told["failed"])
        return Verdict(**told)


def executed(*names):
    """A graded notebook with an answer and a grade cell for each of these."""
    cells = []
    for at, (name, part) in enumerate((name, part) for name in names for part in ("answer", "grade")):
        own = {"grade_id": f"{name}-{part}", "grade": part == "grade", "points": 3, "solution": part == "answer"}
        metadata = {"nbgrader": own, "gpubook": {"exercise": name, "part": part}}
        cells.append(new_code_cell("", metadata=metadata, execution_count=at))
    return new_notebook(cells=cells)


@pytest.mark.parametrize("variants", [False, True])
def test_results_that_stay_are_not_judged_and_the_others_are(variants):
    nb, judge = executed("t-number", "t-twice"), OwnJudge()
    stays = Result("t-twice", 1.0, 3.0, "As before.", score=1 / 3)
    saved = {"t-number": rejudging.to_save(NUMBER, variants, 1.0)}
    notes = {"t-number": "It took long."}
    done = rejudging.judge_again(nb, "ann", variants, judge, [stays], saved, notes)
    assert [(result.exercise, result.points, result.max_points) for result in done.results] == [
        ("t-number", 3.0, 3.0),
        ("t-twice", 1.0, 3.0),
    ]
    assert done.results[1] is stays
    assert "It took long." in done.results[0].say
    assert judge.questions == [JudgeRequest("t-number", "ann" if variants else None, 1.0)]
    assert [cell.outputs[-1].execution_count for cell in nb.cells if cell.outputs] == [1]
    assert (done.answers, done.problems) == (saved, [])


def test_an_exercise_that_fails_when_it_is_judged_again_is_the_teachers_problem():
    nb = executed("t-gone")
    done = rejudging.judge_again(nb, "ann", False, OwnJudge(), [], {"t-gone": {"message": 1}}, {})
    assert (done.results[0].kind, done.results[0].points) == ("failed", 0.0)
    assert "t-gone" in done.problems[0]


def test_a_written_answer_waits_again():
    metadata = {
        "nbgrader": {"grade_id": "w", "grade": True, "solution": True, "points": 2},
        "gpubook": {"exercise": "t-text"},
    }
    nb = new_notebook(cells=[new_code_cell("Because.", metadata=metadata), new_code_cell("mine")])
    done = rejudging.judge_again(nb, "ann", False, OwnJudge(), [], {}, {})
    assert [(result.exercise, result.kind) for result in done.results] == [("t-text", "waiting")]


def test_the_bounds_of_an_answer_that_is_saved():
    assert (rejudging.MAX_TEXT, rejudging.MAX_DEPTH) == (20_000, 200)
