"""The table of what is done: which chapters, where one goes on, what one repeats, and where its links lead."""

import json
import re

import pytest

import autograder
from autograder.declaration import misconceptions
from autograder.declaration.misconceptions import Misconception
from autograder.learner import overview as overviews
from autograder.learner.editions import LearnerCopy
from autograder.learner.notebook_file import written
from autograder.learner.overview import overview
from autograder.learner.progress import Progress, mark
from tests.autograder.learner.test_notebook_merge import OTHER, Q, cell, exercise, notebook, plain

RIGHT = {"kind": "right", "reason": "", "mistakes": [], "score": 1.0, "points": 1, "say": ""}
WRONG = {**RIGHT, "kind": "mistake", "score": 0.0, "points": 0}


def asked(name, **more):
    return {"id": name, "kind": "Quantity", "points": 2, "unit": "s", "answer_name": "answer", "given": {}, **more}


def head(number, title, more=""):
    return cell("head", f"# {number}. {title}\n\n*“Why is *{title}* slow?”*\n\nSo.{more}")


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A study folder of two chapters, with two exercises and one."""
    monkeypatch.delenv("GPUBOOK_PROGRESS", raising=False)
    book = tmp_path / "chapters"
    for name, cells, names in (
        ("01-a", (head(1, "Firsts"), *exercise("a-x", Q, number="1.1"), *exercise("a-y", OTHER, number="1.2")), "xy"),
        ("02-b", (head(2, "Seconds", "\n\n## One way\n\nOr two."), *exercise("b-x", Q, number="2.1")), "x"),
    ):
        (book / name).mkdir(parents=True)
        (book / name / f"{name}.ipynb").write_bytes(written(notebook(*cells)))
        ids = [f"{name[3:]}-{one}" for one in names]
        (book / name / "exercises.json").write_text(json.dumps({"exercises": {one: asked(one) for one in ids}}))
    LearnerCopy(tmp_path / "study", book).update()
    mark(tmp_path / "study")
    return tmp_path / "study"


def attempt(folder, name, verdict, time):
    """Record an attempt at a time of the same minute."""
    progress = Progress.below(folder)
    data = progress.data()
    stamp = f"2026-03-01T12:00:{time:02}.000Z"
    entry = data["exercises"].setdefault(name, {})
    entry.setdefault("attempts", {})[stamp] = {key: verdict[key] for key in ("kind", "reason", "mistakes", "score")}
    if verdict["score"]:
        entry["best"] = {"score": verdict["score"], "time": stamp}
    progress.merge(data)


def rows(html):
    lines = [re.sub(r"(<[^>]+>)+", "|", line) for line in html.splitlines()]
    return [line for line in lines if " of " in line]


def test_a_beginner_sees_every_chapter_with_its_question_and_where_to_begin(study):
    html = overview(study)._repr_html_()
    assert '<a href="01-a/01-a.ipynb">Begin here: 1. Firsts</a>' in html
    assert "Why is <em>Firsts</em> slow?" in html
    assert rows(html) == ["|0 of 2|", "|0 of 4|", "|0 of 1|", "|0 of 2|", "|All chapters|0 of 3|0 of 6|"]
    assert "repeat" not in html
    assert html.count('scope="row"') == 3
    assert "<caption" in html


def test_it_goes_on_at_the_exercise_of_the_last_attempt(study):
    attempt(study, "b-x", RIGHT, 1)
    attempt(study, "a-y", WRONG, 2)
    shown = overview(study)
    assert shown.last[1] == "a-y"
    html = shown._repr_html_()
    assert '<a href="01-a/01-a.ipynb#cell-id=a-y-prompt">Continue here: Exercise 1.2: A title</a>' in html
    assert rows(html)[-1] == "|All chapters|1 of 3|2 of 6|"
    assert str(shown).splitlines()[-1] == "In all: 1 of 3 exercises done, 2 of 6 points"


@pytest.mark.parametrize(
    ("answered", "onward"),
    [
        (["a-x"], "a-y"),
        (["a-x", "a-y"], "b-x"),
        (["b-x"], "a-x"),
        (["a-x", "a-y", "b-x"], None),
        ([], None),
    ],
)
def test_after_a_right_answer_it_goes_on_at_the_next_open_exercise(study, answered, onward):
    for at, name in enumerate(answered):
        attempt(study, name, RIGHT, at + 1)
    found = overview(study).onward
    assert (found and found[1]) == onward


def test_in_a_chapter_its_row_is_first_and_links_lead_out_of_its_folder(study, monkeypatch):
    (study / overviews.START).write_text("{}")
    monkeypatch.chdir(study / "02-b")
    attempt(study, "a-y", WRONG, 2)
    html = autograder.progress()._repr_html_()
    assert next(line for line in html.splitlines() if 'scope="row"' in line).count("2. Seconds") == 1
    assert 'href="02-b.ipynb"' in html
    assert 'href="../01-a/01-a.ipynb#cell-id=a-y-prompt"' in html
    assert 'href="../00-start.ipynb"' in html


def test_what_was_missed_last_is_first_and_says_what_one_did_and_where_that_is_explained(study, monkeypatch):
    named = {"halved": Misconception("took *both* ways for one", "02-b", "One way")}
    monkeypatch.setattr(misconceptions, "misconceptions", lambda root: named)
    attempt(study, "a-x", WRONG, 1)
    attempt(study, "b-x", {**WRONG, "mistakes": ["halved", "b-x#1"]}, 2)
    attempt(study, "a-y", WRONG, 3)
    attempt(study, "a-y", RIGHT, 4)
    shown = overview(study)
    assert [one.exercise for one in shown.missed] == ["b-x", "a-x"]
    html = shown._repr_html_()
    assert "you took <em>both</em> ways for one" in html
    assert 'see <a href="02-b/02-b.ipynb#cell-id=head">One way</a>' in html


def test_outside_of_a_study_folder_it_is_about_the_exercises_beside_the_notebook(tmp_path, monkeypatch):
    monkeypatch.setenv("GPUBOOK_PROGRESS", str(tmp_path / "progress.json"))
    folder = tmp_path / "week3"
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert str(autograder.progress()) == "In all: 0 of 0 exercises done, 0 of 0 points"
    (folder / "week3.ipynb").write_bytes(written(notebook(head(3, "Thirds"), plain("a"), *exercise("c-x", Q))))
    (folder / "exercises.json").write_text(json.dumps({"exercises": {"c-x": asked("c-x")}}))
    Progress.here().attempt("c-x", "answer = 1", WRONG)
    html = autograder.progress()._repr_html_()
    assert 'href="week3.ipynb#cell-id=c-x-prompt"' in html
    assert rows(html) == ["|0 of 1|", "|0 of 2|"]
    Progress.here().attempt("c-x", "answer = 2", RIGHT)
    assert "All exercises are done." in autograder.progress()._repr_html_()


def test_a_record_that_cannot_be_read_is_said(study):
    Progress.below(study).path.write_text('{"format": 99}')
    shown = overview(study)
    assert "format 99" in shown._repr_html_()
    assert "format 99" in str(shown)
    assert "Begin here" in shown._repr_html_()


def test_the_books_own_chapters_all_have_a_title_and_a_question(root):
    chapters = [overviews._chapter(path) for path in sorted((root / "chapters").iterdir())]
    assert [one.name for one in chapters if not one.question or one.title == one.name] == []
    assert [one.name for one in chapters if set(one.prompts) != {exercise["id"] for exercise in one.exercises}] == []
