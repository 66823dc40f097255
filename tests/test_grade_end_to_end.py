"""The sample class, from the chapter's source to the gradebook and the feedback; every score follows from the
declarations."""

import json
import re
import sys
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder import course
from autograder.course import gradebook
from tests.sample_class import LEARNERS
from tests.sample_class.layout import CHAPTER, book_of, hand_in, lay_out

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="grading others' work needs Linux"),
]


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """The course, the chapter, the results; two more learners hand in what cannot be graded."""
    folder = lay_out(tmp_path_factory.mktemp("sample") / "course")
    hand_in(folder, "not_json", "this is no notebook")
    hand_in(folder, "other_chapter", "{}", chapter="99-nowhere")
    return folder, book_of(folder), course.grade(folder, CHAPTER, cell_limit=6.0)


def expected(book) -> dict[str, dict[str, float]]:
    """The points of each learner in each exercise, from kinds and predictions alone; a written one waits for them."""
    full = {e.id: 0.0 if e in book.written else float(e.points) for e in book.exercises}
    none = dict.fromkeys(full, 0.0)
    predicted = {e.id: float(e.points) if e.predict else 0.0 for e in book.exercises}  # for predicting at all
    crashed = [e.id for e in book.judged[:4]]  # an exception, a loop, a dead kernel, an error behind the answer
    return {
        "all_right": full,
        "other_units_and_forms": full,
        "declared_mistakes": predicted,
        "nothing": none,
        "crashes": full | dict.fromkeys(crashed, 0.0),
        "cheat": none,
    }


def test_every_learner_has_the_score_of_each_cell(sample):
    _, book, result = sample
    assert set(expected(book)) == set(LEARNERS)
    for name, points in expected(book).items():
        assert {r.exercise: r.points for r in result.learner(name).results} == points, name
    assert result.problems == [p for p in result.problems if "99-nowhere" in p]
    assert result.max_points == sum(e.points for e in book.exercises)


def test_the_gradebook_says_the_same(sample):
    folder, book, _ = sample
    with Gradebook(f"sqlite:///{folder}/gradebook.db") as opened:
        scores = {s.student.id: s.score for s in opened.assignment_submissions(CHAPTER)}
        most = {s.student.id: s.max_score for s in opened.assignment_submissions(CHAPTER)}
    assert scores == {name: sum(points.values()) for name, points in expected(book).items()}
    assert most == dict.fromkeys(LEARNERS, sum(e.points for e in book.exercises))


def test_who_has_written_waits_for_a_teacher_and_nobody_else(sample):
    folder, book, result = sample
    assert book.written
    blank = {"declared_mistakes", "nothing"}
    for name in LEARNERS:
        kinds = {r.exercise: r.kind for r in result.learner(name).results}
        assert {kinds[e.id] for e in book.written} == {"empty" if name in blank else "waiting"}, name
        assert [id for id, kind in kinds.items() if kind == "waiting" and book.bank[id] not in book.written] == []
    assert gradebook.waiting(folder, CHAPTER) == dict.fromkeys(set(LEARNERS) - blank, len(book.written))


def test_a_mistake_gets_its_own_sentence_and_a_crash_its_name(sample):
    _, book, result = sample
    mistakes = {r.exercise: r for r in result.learner("declared_mistakes").results}
    assert {mistakes[e.id].kind for e in book.judged} == {"mistake"}
    assert {mistakes[e.id].kind for e in book.exercises if e.predict} == {"predicted"}
    crashes = [r.say for r in result.learner("crashes").results if r.exercise in {e.id for e in book.judged[:4]}]
    assert [
        any(word in say for say in crashes) for word in ("ZeroDivisionError", " 6 s", "exit status 3", "RuntimeError")
    ] == [True] * 4


def test_the_empty_notebook_has_no_error_anywhere(sample):
    folder, _, result = sample
    nb = json.loads((folder / "autograded" / "nothing" / CHAPTER / f"{CHAPTER}.ipynb").read_text())
    outputs = [o for c in nb["cells"] for o in c.get("outputs", [])]
    assert [o for o in outputs if o["output_type"] == "error" or o.get("name") == "stderr"] == []
    assert {r.kind for r in result.learner("nothing").results} <= {"empty", "unreadable"}


def test_submissions_that_cannot_be_graded_are_named(sample):
    _, _, result = sample
    assert "not JSON" in result.learner("not_json").problem
    assert "'99-nowhere'" in result.learner("other_chapter").problem


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


@pytest.mark.parametrize("name", LEARNERS)
def test_feedback_shows_neither_answers_nor_another_host(sample, name):
    _, book, result = sample
    page = Path(result.learner(name).feedback).read_text()
    assert "points.</em>" in page
    assert "<script" not in page
    assert 'src="http' not in page
    assert "BEGIN SOLUTION" not in page
    assert "HIDDEN TESTS" not in page
    for exercise in book.written:  # the model answer is shown to whoever handed it in
        shown = " ".join(words(book.solution(exercise.id))[:8]) in " ".join(words(page))
        assert shown is (name in ("all_right", "crashes")), exercise.id
    if name in ("nothing", "cheat"):
        for exercise in book.judged:
            assert book.solution(exercise.id).strip() not in page, exercise.id
            assert not any(m.say in page for m in exercise.mistakes), exercise.id
