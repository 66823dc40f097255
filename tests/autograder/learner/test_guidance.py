"""A solution is shown when the hints are used up or it is asked for anyway, and never within a course."""

import json
from datetime import datetime

import pytest

import autograder
from autograder.course.assigning import instructor_notebook
from autograder.declaration import load_bank
from autograder.learner.progress import Progress
from tests.autograder.learner.declared import SEVERAL

CHAPTER = """
```{code-cell} ipython3
from autograder import check
```

````{code-cell} ipython3
:exercise: t-time

### BEGIN SOLUTION
g = given("t-time")
answer = g["n"]*g["a"]
### END SOLUTION
````
"""
WRITTEN = """
from autograder.answers import Written
W = Exercise(id="t-why", prompt="Why?", answer=Written(rubric=(("Names it.", 1),)), solution="The model answer.")
"""


@pytest.fixture
def study(open_book):
    folder = open_book / "solutions" / "01-t"
    (folder / "01-t.md").write_text(CHAPTER)
    explained = SEVERAL.replace('hints=("How many', 'explain="So many steps, each {a:s}.", hints=("How many')
    (folder / "exercises.py").write_text(explained + WRITTEN)
    return open_book / "chapters" / "01-t"


def assigned(study, **about):
    public = load_bank(study.parents[1] / "solutions" / "01-t").public()
    about = {"name": "week1", "due": "", "shows_solutions": False} | about
    (study / "exercises.json").write_text(json.dumps(public | {"assignment": about}))


def test_the_last_hint_leads_to_the_solution(study):
    first, second = autograder.hint("t-time").text, autograder.hint("t-time").text
    assert "solution(" not in first
    assert 'solution("t-time")' in second
    assert 'solution("t-time")' in autograder.check("t-time", "77 s").say


def test_the_solution_is_the_cell_its_result_and_why(study):
    autograder.hint("t-time")
    autograder.hint("t-time")
    shown = autograder.solution("t-time").text
    for part in ('answer = g["n"]*g["a"]', "20 us", "So many steps, each 2 us."):
        assert part in shown
    assert "BEGIN SOLUTION" not in shown


def test_before_the_hints_are_used_up_it_says_how_many_are_left(study):
    assert '`hint("t-time")` has two hints.' in autograder.solution("t-time").text
    autograder.hint("t-time")
    asked = autograder.solution("t-time").text
    assert '`hint("t-time")` has one more.' in asked
    assert 'solution("t-time", anyway=True)' in asked
    assert "20 us" not in asked
    assert "20 us" in autograder.solution("t-time", anyway=True).text
    assert "20 us" in autograder.solution("t-time").text


def test_progress_records_when_it_was_first_seen(study):
    progress = Progress.here()
    autograder.solution("t-time")
    assert progress.solution_seen("t-time") is None
    autograder.solution("t-time", anyway=True)
    first = progress.solution_seen("t-time")
    assert datetime.fromisoformat(first).tzinfo is not None
    with progress._changing() as data:
        data["exercises"]["t-time"]["solution"] = "2020-01-01T00:00:00.000Z"
    autograder.solution("t-time")
    assert progress.solution_seen("t-time").startswith("2020")


def test_it_is_shown_where_nothing_can_be_written_down(study, monkeypatch):
    (study / "file").write_text("")
    monkeypatch.setenv("GPUBOOK_PROGRESS", str(study / "file" / "progress.json"))
    assert "20 us" in autograder.solution("t-time", anyway=True).text


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("t-ring", r"\frac{S"),
        ("t-all-reduce", "def ring_allreduce"),
        ("t-why", "The model answer."),
        ("t-fun", "2.5*x"),
    ],
)
def test_every_kind_has_one(study, name, part):
    assert part in autograder.solution(name).text


def test_a_prediction_comes_first(study):
    asked = autograder.solution("t-predict", anyway=True).text
    assert "It falls" not in asked
    assert 'reveal("t-predict")' in asked
    autograder.check("t-predict", "up")
    assert "It falls" in autograder.solution("t-predict").text


@pytest.mark.parametrize(
    ("about", "due"),
    [
        ({"due": "2030-01-01 12:00 UTC", "shows_solutions": True}, True),
        ({"due": "2030-01-01 12:00 UTC"}, False),
        ({"shows_solutions": True}, False),
    ],
)
def test_a_course_shows_none_though_the_key_is_at_hand(study, about, due):
    assigned(study, **about)
    said = autograder.solution("t-time", anyway=True).text
    assert "20 us" not in said
    assert "`week1`" in said
    assert ("2030-01-01 12:00 UTC" in said) is due
    assert ("teacher" in said) is not due
    assert Progress.here().solution_seen("t-time") is None
    autograder.hint("t-time")
    assert "solution(" not in autograder.hint("t-time").text
    assert "solution(" not in autograder.check("t-time", "77 s").say


def test_without_a_key_there_is_none(study, monkeypatch):
    bank = load_bank(study.parents[1] / "solutions" / "01-t")
    (study / "exercises.json").write_text(json.dumps(bank.public()))
    monkeypatch.setenv("GPUBOOK_SOLUTIONS", str(study / "none"))
    assert "20 us" not in autograder.solution("t-time", anyway=True).text
    autograder.hint("t-time")
    assert "solution(" not in autograder.hint("t-time").text


def test_what_is_assigned_says_so(tmp_path):
    (tmp_path / "exercises").mkdir()
    (tmp_path / "exercises" / "mine.py").write_text(SEVERAL)
    for due, said in ((None, ""), (datetime(2030, 1, 1, 12), "2030-01-01 12:00 UTC")):
        staged = instructor_notebook.stage(tmp_path, "week1", exercises=["t-time"], due=due, shows_solutions=True)
        data = json.loads((staged.parent / "exercises.json").read_text())
        assert data["assignment"] == {"name": "week1", "due": said, "shows_solutions": True}
