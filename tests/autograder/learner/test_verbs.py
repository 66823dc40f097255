import errno
import os
import subprocess
import sys

import pytest
import sympy

import autograder
from autograder.declaration import draw, load_bank
from autograder.learner import verbs
from autograder.learner.lookup import NotFound
from hwlib.algorithms import ring_allreduce
from tests.autograder import lab
from tests.autograder.learner.declared import publish


@pytest.fixture
def course(open_book, monkeypatch):
    """The course edition: exercises.json, and no key anywhere."""
    publish(open_book)
    (open_book / "none").mkdir()
    monkeypatch.setenv("GPUBOOK_SOLUTIONS", str(open_book / "none"))
    return open_book


@pytest.fixture
def varied(course):
    publish(course, variants=True)
    return course


def test_with_the_key_answers_are_judged(open_book):
    assert "10 steps of 2 us?" in autograder.exercise("t-time").text
    assert autograder.given("t-time") == {"n": 10, "a": 2e-6}
    assert autograder.check("t-time", "20 us").kind == "right"
    assert autograder.check("t-time", 2e-6).say == "Every step takes that long."
    assert autograder.check("t-time").kind == "empty"
    n, S = autograder.symbols("t-ring")
    assert autograder.check("t-ring", S - S / n).score == 1
    assert autograder.check("t-fun", lambda x: 5 * x / 2).score == 1
    assert "ZeroDivisionError" in autograder.check("t-fun", lambda x: x / 0).say


@pytest.mark.parametrize(
    ("answer", "points"),
    [("20 us", 3.0), (20e-6, 3.0), ("2 us", 0.0), (..., 0.0), (object(), 0.0), (sympy.Float(2e-5), 3.0)],
)
def test_grade_ends_in_a_builtin_float(open_book, answer, points):
    value = autograder.grade("t-time", answer)
    assert type(value) is float
    assert value == points


def test_an_answer_left_over_from_another_exercise_is_asked_about(open_book, monkeypatch):
    shown = []
    monkeypatch.setattr(verbs, "_show", shown.append)
    answer = "2 us"
    autograder.grade("t-time", answer)
    autograder.grade("t-ring", answer)
    autograder.grade("t-ring", answer)
    autograder.grade("t-ring", None)
    autograder.grade("t-time", None)
    assert ["t-time" in verdict.say for verdict in shown] == [False, True, True, False, False]


@pytest.mark.parametrize(
    ("name", "answer", "kind", "reason", "named"),
    [
        ("t-time", 20e-6, "recorded", "", "20 us"),
        ("t-time", "3 B", "unit", "other-unit", "B."),
        ("t-time", "x", "unreadable", "not-a-number", "'x'"),
        ("t-ring", "S/n", "recorded", "", "an expression in n, S."),
        ("t-ring", "x", "unreadable", "unknown-letter", "n, S"),
        ("t-fun", len, "recorded", "", "`len`"),
        ("t-fun", 3, "unreadable", "not-a-function", "`def "),
        ("t-predict", "UP", "recorded", "", "It rises"),
        ("t-time", ..., "empty", "", ""),
    ],
)
def test_without_a_key_answers_are_recorded_and_score_zero(course, name, answer, kind, reason, named):
    verdict = autograder.check(name, answer)
    assert (verdict.score, verdict.kind, verdict.reason) == (0.0, kind, reason)
    assert named in verdict.say
    value = autograder.grade(name, answer)
    assert (type(value), value) == (float, 0.0)


def test_the_course_edition_has_prompt_numbers_hints_and_symbols(course):
    assert "**A time**" in autograder.exercise("t-time").text
    assert "10 steps of 2 us?" in autograder.exercise("t-time").text
    assert '`"up"`: It rises' in autograder.exercise("t-predict").text
    assert autograder.given("t-time") == {"n": 10, "a": 2e-6}
    assert [s.name for s in autograder.symbols("t-ring")] == ["n", "S"]
    first, second = autograder.hint("t-time").text, autograder.hint("t-time").text
    assert "How many steps?" in first
    assert "And each?" not in first
    assert "And each?" in second
    assert "last hint" in second
    assert "last hint" not in first
    assert "no hint" in autograder.hint("t-ring").text


def test_a_hint_is_offered_and_never_shown_unasked(open_book):
    offers = []
    for _ in range(3):
        verdict = autograder.check("t-time", "77 s")
        assert verdict.wants_hint
        assert "How many steps?" not in verdict.say
        offers.append(verdict.say.partition('hint("t-time")` has ')[2])
        autograder.hint("t-time")
    assert offers == ["two hints.", "one more.", ""]


@pytest.mark.parametrize(("name", "answer"), [("t-time", "2 us"), ("t-time", "20 B"), ("t-ring", "S/n")])
def test_no_hint_is_offered_where_none_is_or_more_is_known(open_book, name, answer):
    assert "hint(" not in autograder.check(name, answer).say


def test_variants_are_the_owners(varied, monkeypatch):
    with pytest.raises(NotFound, match="gpubook whoami"):
        autograder.given("t-time")
    monkeypatch.setenv("GPUBOOK_OWNER", "ada")
    mine = autograder.given("t-time")
    bank = load_bank(varied / "solutions" / "01-t")
    assert mine == bank["t-time"].variant("ada") == draw("t-time", "ada", bank["t-time"].drawn())
    assert f"{mine['n']} steps" in autograder.exercise("t-time").text
    monkeypatch.setenv("GPUBOOK_SOLUTIONS", str(varied / "solutions"))
    assert autograder.check("t-time", mine["n"] * mine["a"]).kind == "right"


def test_only_a_prediction_is_revealed(open_book):
    assert "t-time" in autograder.reveal("t-time").text


def test_a_prediction_is_kept_and_revealed(open_book):
    assert "First predict" in autograder.reveal("t-predict").text
    assert "Predicted: It rises" in autograder.check("t-predict", "up").say
    assert autograder.grade("t-predict", "up") == 2.0
    assert "It rises" in autograder.check("t-predict", "down").say
    shown = autograder.reveal("t-predict").text
    for words in (
        "You predicted **It rises**",
        "It comes out as **It falls**",
        "Only if links were free.",
        "Latency wins.",
    ):
        assert words in shown
    assert "**It falls**" in autograder.reveal("t-predict", "down").text
    assert (open_book / "chapters" / "01-t" / ".gpubook" / "progress.json").is_file()


RUNS = """
from autograder.answers import Estimates
from autograder.declaration import Exercise, Mistake
P = Exercise(
    id="t-runs", prompt="?", predict=True, solution=[4.0, 50.0], explain="So it was.",
    answer=Estimates({"a": "one", "b": "two"}, "s", truth="measured", beside={"a model": [5.0, 50.0]}),
    mistakes=(Mistake([1, 2], "One."), Mistake([9, 99], "Two.")),
)
"""


def test_several_predictions_are_revealed_row_by_row_and_a_course_has_none(open_book, monkeypatch):
    (open_book / "solutions" / "01-t" / "exercises.py").write_text(RUNS)
    publish(open_book)
    assert "Predicted: 8 s; 50 s" in autograder.check("t-runs", [8, "50 s"]).say
    shown = autograder.reveal("t-runs").text
    for words in ("| a | 8 s | +100 % | 5 s | +25 % | 4 s |", "| median error |  | 50 % |  | 12 % |  |", "So it was."):
        assert words in shown
    assert "It comes out as" not in shown
    (open_book / "none").mkdir()
    monkeypatch.setenv("GPUBOOK_SOLUTIONS", str(open_book / "none"))
    shown = autograder.reveal("t-runs").text
    assert "You predicted **8 s; 50 s**" in shown
    assert not any(words in shown for words in ("measured", "a model", "4 s", "5 s", "+25"))


def test_no_prediction_no_points_and_nothing_is_recorded(open_book):
    assert autograder.grade("t-predict", ...) == 0.0
    assert autograder.grade("t-predict", "sideways") == 0.0
    assert "First predict" in autograder.reveal("t-predict").text


def test_a_course_reveals_the_measured_result_and_no_sentence(course):
    autograder.check("t-predict", "up")
    shown = autograder.reveal("t-predict", "down").text
    assert "**It falls**" in shown
    assert "free" not in shown
    assert "comes out" not in autograder.reveal("t-predict").text


def test_a_folder_without_room_for_progress_does_not_lose_the_answer(open_book, monkeypatch):
    (open_book / "file").write_text("")
    monkeypatch.setenv("GPUBOOK_PROGRESS", str(open_book / "file" / "progress.json"))
    assert os.strerror(errno.EEXIST) in autograder.check("t-predict", "up").say
    assert autograder.grade("t-predict", "up") == 2.0
    assert "First predict" in autograder.reveal("t-predict").text
    assert "2." in autograder.hint("t-time").text


def test_a_hostile_answer_is_a_verdict(open_book):
    class Hostile(float):
        __repr__ = __str__ = __float__ = __eq__ = lambda self, *_: 1 / 0
        __hash__ = None

    for name in ("t-time", "t-ring", "t-fun", "t-predict"):
        assert autograder.check(name, Hostile(2)).kind == "unreadable"
        assert autograder.grade(name, Hostile(2)) == 0.0


def test_everything_shows_itself_in_a_notebook_and_as_text(open_book):
    assert autograder.check("t-time", "20 us")._repr_markdown_() == "✓ Right."
    assert str(autograder.check("t-time", "2 us")) == "✗ Every step takes that long."
    assert autograder.exercise("t-time")._repr_markdown_() == repr(autograder.exercise("t-time"))


@pytest.mark.parametrize(
    ("declared", "points", "sign", "words"),
    [
        (True, 3.0, "✓", "3 of 3 points"),
        (False, 0.0, "…", "Its points come with the grading."),
    ],
)
def test_a_notebook_shows_a_verdict_and_points_in_words_over_the_number(open_book, declared, points, sign, words):
    publish(open_book)
    code = (
        "from IPython.core.interactiveshell import InteractiveShell as S; s = S.instance()\n"
        "shown = []; s.display_pub.publish = lambda data, **k: shown.append(data)\n"
        "results = []; s.displayhook.write_format_data = lambda data, *_: results.append(data)\n"
        'r = s.run_cell(\'from autograder import grade; grade("t-time", "20 us")\', store_history=False)\n'
        f"assert r.result == {points} and type(r.result) is float, r\n"
        f"assert shown[0]['text/markdown'].startswith('{sign} '), shown\n"
        f"assert '<strong>{sign}</strong>' in shown[0]['text/html'], shown\n"
        "s.run_cell('1.5')\n"
        f"assert results[0]['text/plain'] == '{points}' and '>{words}<' in results[0]['text/html'], results\n"
        "assert results[1] == {'text/plain': '1.5'}, results\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        cwd=open_book / "chapters" / "01-t",
        env={
            "PYTHONPATH": ":".join(p for p in sys.path if p),
            "HOME": str(open_book),
            "IPYTHONDIR": str(open_book),
            **({} if declared else {"GPUBOOK_SOLUTIONS": str(open_book / "none")}),
        },
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_importing_loads_nothing_heavy():
    heavy = ("numpy", "sympy", "torch", "nbgrader", "mpmath", "IPython")
    code = f"import autograder, sys; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_symbols_of_another_kind_is_an_error_that_says_so(open_book):
    with pytest.raises(ValueError, match=r"t-time .*symbols"):
        verbs.symbols("t-time")


def test_an_algorithm_is_checked_and_graded_here_with_a_key_and_recorded_without(open_book, monkeypatch):
    assert verbs.check("t-all-reduce", lambda rank, n, x: ...).kind == "empty"
    assert verbs.check("t-all-reduce", lab.ring).kind == "right"
    assert verbs.grade("t-all-reduce", lab.ring) == 4.0
    withheld = verbs.check("t-all-reduce", ring_allreduce)
    assert withheld.reason == "withheld"
    assert "hwlib.algorithms" in withheld.say
    assert verbs.check("t-all-reduce", lab.whole_ring).reason == "sent-whole-array-to-all"
    publish(open_book)
    (open_book / "none").mkdir()
    monkeypatch.setenv("GPUBOOK_SOLUTIONS", str(open_book / "none"))
    assert verbs.check("t-all-reduce", lab.ring).say == "Recorded: the algorithm `ring`."
    assert verbs.grade("t-all-reduce", lab.ring) == 0.0


def test_a_check_is_recorded_with_what_was_written(open_book, monkeypatch):
    from autograder.learner.progress import Progress

    autograder.check("t-time", "2 us")
    autograder.check("t-time", ...)
    entry = Progress.here().entry("t-time")
    assert entry["answer"]["source"] == "2 us"
    assert entry["answer"]["verdict"]["kind"] == "mistake"
    assert "that long." in entry["answer"]["verdict"]["say"]
    assert autograder.grade("t-time", 2e-5) == 3.0
    entry = Progress.here().entry("t-time")
    assert entry["best"]["score"] == 1
    assert entry["answer"]["verdict"]["points"] == 3
    assert len(entry["attempts"]) == 2
    publish(open_book)
    for name in ("NBGRADER_EXECUTION", "GPUBOOK_GRADING"):
        with monkeypatch.context() as graded:
            graded.setenv(name, "1")
            autograder.check("t-time", "9 us")
    assert len(Progress.here().entry("t-time")["attempts"]) == 2


def test_a_check_is_a_verdict_where_nothing_can_be_recorded(open_book, monkeypatch):
    (open_book / "file").write_text("")
    monkeypatch.setenv("GPUBOOK_PROGRESS", str(open_book / "file" / "progress.json"))
    assert autograder.check("t-time", 2e-5).kind == "right"
    newer = open_book / "progress.json"
    newer.write_text('{"format": 3}')
    monkeypatch.setenv("GPUBOOK_PROGRESS", str(newer))
    assert autograder.check("t-time", 2e-5).kind == "right"
    assert newer.read_text() == '{"format": 3}'
