"""The judge apart, and one notebook through both processes: what counts, what it says, and what a crash
costs."""

import copy
import sys

import psutil
import pytest
from nbformat.v4 import new_code_cell, writes
from nbgrader.utils import determine_grade

from autograder.declaration import load_bank
from autograder.grading.judge import Judge, JudgeFailed, JudgeGone, JudgeRequest, judge_answer
from autograder.grading.submission import RunSettings, grade_notebook
from autograder.sandbox import Limits
from autograder.values import encoding
from autograder.values.error_advice import POWER
from tests.autograder import tiny

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox needs Linux namespaces")
LIMITS = Limits(cell=1.0, grace=1.0, total=60.0)
FULL = sum(tiny.POINTS.values())


@pytest.fixture(scope="module")
def chapter(tmp_path_factory, zygotes):
    root = tmp_path_factory.mktemp("tiny")
    bank = tiny.write_bank(root)
    with Judge([bank.path]) as judge:
        yield bank, tiny.released(root, bank), zygotes(), judge


@pytest.fixture
def grade(chapter):
    bank, release, zygote, judge = chapter

    def run(answers, edit=None, **options):
        nb = tiny.fill(copy.deepcopy(release), answers)
        if edit is not None:
            edit(nb)
        done = grade_notebook(
            nb, release, bank, "ann", RunSettings(options.pop("limits", LIMITS), **options), zygote=zygote, judge=judge
        )
        for cell in done.nb.cells:  # nbgrader reads exactly the points that we decided
            if cell.metadata.get("nbgrader", {}).get("grade"):
                name = cell.metadata["gpubook"]["exercise"]
                assert determine_grade(cell)[0] == next(r.points for r in done.results if r.exercise == name)
        return {r.exercise: r for r in done.results}, done

    return run


def points(results):
    return {name: result.points for name, result in results.items()}


def cell(nb, name, part):
    return next(c for c in nb.cells if c.metadata.get("gpubook") == {"exercise": name, "part": part})


@pytest.fixture
def judge(chapter):
    return chapter[3]


@pytest.mark.parametrize(
    ("value", "score", "kind"),
    [
        (2.0, 1.0, "right"),
        ("2000 ms", 1.0, "right"),
        ("2 GB", 0.0, "unit"),
        (0.5, 0.0, "mistake"),
        (..., 0.0, "empty"),
        (float("nan"), 0.0, "unreadable"),
        ([1, 2], 0.0, "unreadable"),
    ],
)
def test_a_verdict_is_a_score_a_sentence_and_a_kind(judge, value, score, kind):
    verdict = judge.ask(JudgeRequest("tiny-time", None, encoding.encode(value)))
    assert (verdict.score, verdict.kind) == (score, kind)
    assert verdict.say
    assert "2 s" not in verdict.say


def test_the_owner_has_numbers_of_their_own(chapter, judge):
    exercise = chapter[0]["tiny-time"]
    owners = {exercise.variant(name)["S"]: name for name in "abcdefgh"}
    assert set(owners) == {4e9, 8e9}
    assert judge.ask(JudgeRequest("tiny-time", owners[8e9], 4.0)).score == 1.0
    assert judge.ask(JudgeRequest("tiny-time", owners[8e9], 2.0)).kind == "slip"  # of 2, before the other one's numbers


@pytest.mark.parametrize(
    "message",
    [
        {"$": "tree", "v": ["Pow"] * 50},
        {"$": "pickle", "v": "gASV"},
        {"score": 1.0},
        [1],
        {"$": "int", "v": "0x" + "f" * 10**6},
        {"$": "array", "t": "object", "s": [1], "v": ""},
        {"$": "callable", "v": "__import__('os')"},
    ],
)
def test_a_hostile_message_is_a_verdict(judge, message):
    assert judge.ask(JudgeRequest("tiny-time", None, message)).score == 0.0


def test_a_function_is_asked_and_answered(judge):
    asked = []

    def call(arguments):
        asked.append(encoding.decode(arguments))
        return {"value": 2 * asked[-1][0]}

    assert judge.ask(JudgeRequest("tiny-double", None, {"$": "callable", "v": "twice"}), call).score == 1.0
    assert (2.5,) in asked
    problem = {"problem": "it raised E", "reason": "time-limit"}
    failing = judge.ask(JudgeRequest("tiny-double", None, {"$": "callable", "v": "twice"}), lambda a: problem)
    assert (failing.score, failing.reason) == (0.0, "time-limit")
    assert "it raised E" in failing.say


def session_process(judge):
    """The process that judges a submission's answers."""
    (process,) = psutil.Process(judge._process.pid).children()
    return process


def kill_session(judge):
    process = session_process(judge)
    process.kill()
    process.wait(5)  # until then it is still a child, and the next one is not the only one


def test_one_process_judges_a_submissions_answers_and_ends_with_them(judge):
    right, wrong = JudgeRequest("tiny-time", None, 2.0), JudgeRequest("tiny-time", None, 0.5)
    with judge.session() as session:
        assert [session.ask(question).score for question in (right, wrong, right)] == [1.0, 0.0, 1.0]
        process = session_process(judge)
        with pytest.raises(JudgeFailed):
            session.ask(JudgeRequest("tiny-nowhere", None, 1))
        assert session.ask(right).score == 1.0
        assert session_process(judge) == process
    process.wait(5)


def test_what_an_earlier_answer_did_to_it_costs_the_next_one_nothing(judge):
    with judge.session() as session:
        assert session.ask(JudgeRequest("tiny-steps", None, 14)).score == 1.0
        kill_session(judge)
        assert session.ask(JudgeRequest("tiny-time", None, 2.0)).score == 1.0


def test_an_answer_that_its_process_does_not_survive_is_one_verdict(judge):
    function = JudgeRequest("tiny-double", None, {"$": "callable", "v": "twice"})

    def call(arguments):
        kill_session(judge)
        return {"value": 1}

    with judge.session() as session:
        assert session.ask(JudgeRequest("tiny-time", None, 2.0)).score == 1.0
        assert session.ask(function, call).kind == "unreadable"
        assert session.ask(JudgeRequest("tiny-time", None, 2.0)).score == 1.0


def test_a_judge_that_is_stopped_takes_its_processes_with_it(chapter):
    with Judge([chapter[0].path]) as judge, judge.session() as session:
        assert session.ask(JudgeRequest("tiny-time", None, 2.0)).score == 1.0
        process = session_process(judge)
        judge.stop()
        process.wait(5)
        with pytest.raises(JudgeGone):
            session.ask(JudgeRequest("tiny-time", None, 2.0))


def test_a_failing_declaration_is_told_to_the_teacher(tmp_path, judge):
    path = tmp_path / "exercises.py"
    path.write_text(tiny.EXERCISES.replace("solution=lambda n: 2*(n - 1)", "solution=lambda n: 1/0"))
    said = judge_answer(load_bank(path), JudgeRequest("tiny-steps", None, 14))
    assert str(path) in said["failed"]
    assert "ZeroDivisionError" in said["failed"]
    with pytest.raises(JudgeFailed, match="no exercise 'tiny-nowhere'"):
        judge.ask(JudgeRequest("tiny-nowhere", None, 1))


def test_a_judge_does_not_start_on_what_is_no_declaration(tmp_path):
    (tmp_path / "exercises.py").write_text("1/0")
    with pytest.raises(JudgeFailed, match=r"exercises\.py.*ZeroDivisionError"):
        Judge([tmp_path / "exercises.py"])


def test_right_answers_score_full_and_none_scores_nothing(grade):
    results, done = grade(tiny.RIGHT)
    assert points(results) == tiny.POINTS
    assert done.problems == []
    results, done = grade({})
    assert points(results) == dict.fromkeys(tiny.POINTS, 0.0)
    assert {r.kind for r in results.values()} == {"empty"}
    assert not [o for c in done.nb.cells if c.cell_type == "code" for o in c.outputs if o.output_type == "error"]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("answer = 1/0", "`ZeroDivisionError`"),
        ("answer = (", "`SyntaxError`"),
        ("answer = 2.5^3", f"for ^: 'float' and 'int'`. {POWER}"),
        ("answer = 2*(n - 1)", '`g = given("tiny-steps")`, then `g["n"]`'),
        ("answer = 3.85 ms", '`answer = "3.85 ms"`'),
        ("while True: pass", " 1 s "),
        ("import os; os._exit(3)", "exit status 3"),
        ("import ctypes; ctypes.string_at(0)", "SIGSEGV"),
        ("x = 3**(10**9)", "1 s"),
    ],
)
def test_a_crash_costs_its_own_question(grade, source, said):
    results, _ = grade(tiny.RIGHT | {"tiny-steps": source})
    assert points(results) == tiny.POINTS | {"tiny-steps": 0.0}
    assert said in results["tiny-steps"].say


def test_an_answer_whose_cell_failed_does_not_count(grade):
    results, _ = grade(tiny.RIGHT | {"tiny-steps": "answer = 14\nraise KeyError('late')"})
    assert points(results) == tiny.POINTS | {"tiny-steps": 0.0}
    assert (results["tiny-steps"].kind, results["tiny-steps"].reason) == ("empty", "cell-failed")
    assert "`KeyError`" in results["tiny-steps"].say


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def twice(x):\n    import os; os._exit(0)", "process-ended"),
        ("def twice(x):\n    while True: pass", "time-limit"),
        ("def twice(x): return x*x", ""),
        ("def twice(x): raise ValueError('no')", "raises"),
        ("twice = 5", "not-a-function"),
        ("class twice:\n    def __new__(cls, x): return 2*x", "no-plain-data"),
        ("def twice(x): return type('F', (float,), {})(2*x)", "no-plain-data"),
    ],
)
def test_a_function_that_fails_costs_its_own_question(grade, source, reason):
    results, _ = grade(tiny.RIGHT | {"tiny-double": source})
    assert points(results) == tiny.POINTS | {"tiny-double": 0.0}
    assert results["tiny-double"].reason == reason, results["tiny-double"].say


def test_a_lost_process_is_replayed_without_its_culprit(grade):
    def edit(nb):
        nb.cells.insert(2, new_code_cell("log = []", id="own-a"))
        nb.cells.insert(3, new_code_cell("log.append(1)", id="own-b"))

    spread = "answer = 1e9 if log == [1] else None"
    results, _ = grade(
        tiny.RIGHT | {"tiny-steps": "log.append(2)\nimport os; os._exit(1)", "tiny-spread": spread}, edit
    )
    assert points(results) == tiny.POINTS | {"tiny-steps": 0.0}


def test_an_answer_does_not_serve_the_next_exercise(grade):
    results, _ = grade(tiny.RIGHT | {"tiny-time": "answer = 14", "tiny-steps": ""})
    assert results["tiny-steps"].points == 0.0


def test_grade_cells_are_the_releases_wherever_they_went(grade):
    def edit(nb):
        cell(nb, "tiny-time", "grade").source = "3.0"
        nb.cells.remove(cell(nb, "tiny-steps", "grade"))
        twin = copy.deepcopy(cell(nb, "tiny-spread", "grade"))
        twin.source = "raise SystemExit"
        nb.cells.insert(0, twin)
        cell(nb, "tiny-double", "grade").metadata["nbgrader"] = {
            "grade": True,
            "points": "x",
            "grade_id": ["a"],
        }
        nb.cells[0].metadata["nbgrader"] = {"grade": True, "grade_id": "tiny-guess-grade", "points": -7}

    results, done = grade(tiny.RIGHT, edit)
    assert points(results) == tiny.POINTS
    sources = [c.source for c in done.nb.cells if c.metadata.get("nbgrader", {}).get("grade")]
    assert sorted(sources) == sorted(f'grade("{n}", {"twice" if n == "tiny-double" else "answer"})' for n in tiny.IDS)
    assert sum(r.max_points for r in results.values()) == FULL


def test_a_cell_tagged_measured_is_left_unrun_unless_the_learner_changed_it(chapter):
    bank, release, zygote, judge = chapter
    release = copy.deepcopy(release)
    lab = new_code_cell("answer = 1/0", id="lab", metadata={"tags": ["measured"]})
    release.cells.insert(2, lab)
    for source, errors in (("answer = 1/0", 0), ("answer = 1/0  # mine", 1)):
        nb = tiny.fill(copy.deepcopy(release), tiny.RIGHT)
        nb.cells[2].source = source
        done = grade_notebook(nb, release, bank, "ann", RunSettings(LIMITS), zygote=zygote, judge=judge)
        assert sum(r.points for r in done.results) == FULL
        assert sum(o.output_type == "error" for c in done.nb.cells for o in c.get("outputs", [])) == errors


def test_an_exercise_that_nobody_declares_is_named_and_the_rest_is_graded(chapter):
    bank, release, zygote, judge = chapter
    release = copy.deepcopy(release)
    for c in release.cells:
        if c.metadata.get("gpubook", {}).get("exercise") == "tiny-steps":
            c.metadata["gpubook"]["exercise"] = "tiny-gone"
    done = grade_notebook(
        tiny.fill(release, tiny.RIGHT), release, bank, "ann", RunSettings(LIMITS), zygote=zygote, judge=judge
    )
    assert [r.points for r in done.results] == [3.0, 0.0, 1.0, 2.0, 2.0]
    assert "'tiny-gone'" in done.problems[0]
    assert "tiny-spread" in done.problems[0]


FORGED = """
import struct
from autograder.sandbox import wire
def send(channel, message):
    if "value" in message:
        body = ('{"number": %d, "value": VALUE}' % message["number"]).encode()
        channel.sendall(struct.pack(">I", len(body)) + body)
    else:
        honest(channel, message)
honest, wire.send = wire.send, send
answer = 1
"""


@pytest.mark.parametrize("value", ["1e999", "[" * 900 + "]" * 900])
def test_a_forged_value_costs_no_more_than_what_it_stands_for(grade, value):
    forged = FORGED.replace("VALUE", value)
    honest = "wire.send = honest\n" + tiny.RIGHT["tiny-steps"]
    results, _ = grade(tiny.RIGHT | {"tiny-time": forged, "tiny-steps": honest})
    assert points(results) == {**tiny.POINTS, "tiny-time": 0.0}


def test_a_process_that_lifts_its_own_limit_fills_no_disk(grade):
    def edit(nb):
        lift = "import sys\nsys.stdout._capture.limit = 10**9\nprint('x' * 1_000_000)"
        many = "sys.stdout._capture.outputs += [{'output_type': 'stream', 'text': ''}] * 50_000"
        nb.cells[2:2] = [new_code_cell(source) for source in (lift, lift, lift, many)]

    results, done = grade(tiny.RIGHT, edit)
    assert points(results) == tiny.POINTS
    assert len(writes(done.nb)) < 3_000_000
    assert sum(len(c.outputs) for c in done.nb.cells if c.cell_type == "code") < 100


def test_a_submission_has_a_time_of_its_own(grade):
    slow = dict.fromkeys(tiny.IDS, "import time; time.sleep(0.8)")
    results, _ = grade(slow, limits=Limits(cell=1.0, total=1.5))
    assert results["tiny-spread"].reason == "out-of-time"


def test_a_learners_words_are_inert_in_the_verdict(grade):
    results, _ = grade({"tiny-steps": "raise type('<b>', (Exception,), {})('<script>alert(1)</script>`*x*')"})
    assert "<" not in results["tiny-steps"].say
