"""What an answer counts as, and what is read of a graded course, without a run or a gradebook."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from autograder.course.banks import CourseBank
from autograder.course.class_results.class_result import Learner
from autograder.course.report import gathered_answers
from autograder.course.report.gathered_answers import NOTHING, OUTCOMES, Answered, Gathered
from autograder.declaration.verdict import AS_PREDICTED
from autograder.grading.fingerprints import Fingerprint
from autograder.grading.results import Result
from tests.autograder.course.report.made import BANK, COPY, MEAN, STEPS, WHY, Class


def answer(points, kind, most=2.0, mistakes=(), **about):
    return Answered("ann", Result("e", points, most, "", kind=kind, **about), {}, mistakes=mistakes)


@pytest.mark.parametrize(
    ("made", "right"),
    [
        (answer(2.0, "wrong"), True),
        (answer(1.999, "wrong"), False),
        (answer(2.5, "wrong"), True),
        (answer(0.5, "wrong", most=0.5), True),
        (answer(0.0, "wrong", most=0.0), False),
        (answer(0.0, "right", most=0.0), True),
        (answer(2.0, "predicted"), False),
        (answer(2.0, "predicted", reason=AS_PREDICTED), True),
    ],
)
def test_right_is_all_points_or_a_prediction_that_came_true(made, right):
    assert made.right == right


@pytest.mark.parametrize(
    ("made", "outcome"),
    [
        (answer(2.0, "waiting"), "waiting"),
        (answer(2.0, "partial"), "right"),
        (answer(0.1, "partial"), "partial"),
        (answer(0.0, "partial"), "wrong"),
        (answer(1.0, "predicted"), "wrong"),
        (answer(1.0, "predicted", mistakes=("m",)), "mistake"),
        (answer(0.0, "wrong", reason="time-limit"), "crashed"),
        (answer(0.0, "wrong", reason="another"), "wrong"),
        (answer(0.0, "empty"), "empty"),
        (answer(0.0, "empty", note="It raised."), "crashed"),
        (answer(0.0, "lost", note="It raised."), "crashed"),
        (answer(0.0, "unreadable", note="It raised."), "crashed"),
        (answer(0.0, "wrong", note="It raised."), "wrong"),
        (answer(0.0, "lost"), "lost"),
        (answer(0.0, "failed"), "failed"),
        (answer(0.0, "unreadable"), "unread"),
        (answer(0.0, "unit"), "unread"),
        (answer(0.0, "mistake", mistakes=("m",)), "mistake"),
        (answer(0.0, "mistake"), "wrong"),
    ],
)
def test_each_answer_has_one_outcome(made, outcome):
    assert made.outcome == outcome
    assert outcome in OUTCOMES


def test_of_a_group_the_submission_is_that_of_who_submitted():
    made = Class(variants=True)
    made.answer("ann", COPY, 1.0)
    made.learners["bob"] = Learner("bob", made.learners["ann"].results, submitted_by="ann")
    gathered = made.gathered()
    assert (gathered.submitter("bob"), gathered.submitter("ann"), gathered.submitter("zed")) == ("ann", "ann", "zed")
    assert gathered.entry_of("bob") is gathered.entries["ann"]
    assert gathered.given_to(COPY, "bob") == COPY.variant("ann")
    assert replace(gathered, variants=False).given_to(COPY, "bob") == COPY.variant()
    assert [(one.learner, one.value) for one in gathered.answers[COPY.id]] == [("ann", 1.0), ("bob", 1.0)]


def test_names_are_the_rosters_and_who_submitted_nothing_is_missing():
    made = Class()
    made.answer("ann", COPY, 1.0)
    made.answer("eve", COPY, 1.0)
    made.enrolled("ann", "Ann", "Lee")
    made.enrolled("bob", "Bob")
    made.enrolled("cy", graded=True)  # by hand
    made.enrolled("al")
    gathered = made.gathered()
    assert gathered.names == {"ann": "Ann Lee", "eve": "eve", "bob": "Bob", "cy": "cy", "al": "al"}
    assert gathered.missing == ["al", "bob"]


def test_an_answer_has_its_mistakes_its_numbers_and_what_was_kept():
    made = Class(asked=(COPY.id,))
    made.answer("ann", COPY, 5e10 / 1e8)
    gathered = made.gathered()
    gathered.result.learner("ann").results.append(Result("made-gone", 0.0, 1.0, "", kind="mistake"))
    (copy,), (gone,) = gathered.answers.values()
    assert (copy.given, copy.value, copy.mistakes) == (COPY.variant(), 500.0, ("upside-down",))
    assert (gone.given, gone.value, gone.mistakes) == ({}, NOTHING, ())
    say = "Turn the quotient over."
    for kind, mistakes in (("mistake", ("upside-down",)), ("wrong", ())):
        one = gathered.answered("ann", Result(COPY.id, 0.0, 2.0, say, kind=kind))
        assert one.mistakes == mistakes
    kept = gathered.answered("ann", Result(COPY.id, 0.0, 2.0, say, kind="mistake", mistakes=("other",)))
    assert kept.mistakes == ("other",)


def test_what_was_not_kept_or_cannot_be_read_is_nothing():
    made = Class()
    made.answer("ann", COPY, 1.0)
    made.answers["ann"][COPY.id] = {"message": {"$": "nonsense"}}
    gathered = made.gathered()
    assert gathered._value("ann", COPY.id) is NOTHING
    assert gathered._value("ann", STEPS.id) is NOTHING
    assert gathered._value("zed", COPY.id) is NOTHING


def test_a_key_has_changed_where_its_digest_is_another():
    made = Class()
    made.answer("ann", COPY, 1.0)
    gathered = made.gathered()
    gathered.entries["ann"] = replace(gathered.entries["ann"], fingerprint=Fingerprint("", "", {COPY.id: "k"}))
    gathered.keys = {COPY.id: "k", STEPS.id: "s"}
    assert not gathered.key_changed("ann", COPY.id)
    assert gathered.key_changed("ann", STEPS.id)
    assert not gathered.key_changed("zed", COPY.id)  # of whom nothing is kept


def cell(exercise, source, part="answer"):
    return {"metadata": {"gpubook": {"part": part, "exercise": exercise}}, "source": source}


def written(path, *cells):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"cells": [*cells, {"metadata": {}, "source": ["text"]}]}))
    return path


def test_the_answer_cells_of_a_notebook_are_read_by_exercise(tmp_path):
    path = written(
        tmp_path / "n.ipynb",
        cell(COPY.id, ["a\n", "b"]),
        cell(STEPS.id, ["c"], part="prompt"),
        {"metadata": {"gpubook": {"part": "answer"}}, "source": ["none"]},
    )
    assert list(gathered_answers._answer_cells(path)) == [(COPY.id, "a\nb")]


def test_the_solutions_are_the_instructors_code_or_words(tmp_path):
    path = written(
        tmp_path / "source.ipynb",
        cell(MEAN.id, ["def mean(xs):\n    return 1\n"]),
        cell("made-gone", ["x"]),
        cell(WHY.id, ["**Because.**"]),
    )
    made = dict(gathered_answers._solutions(path, BANK))
    assert made.keys() == {MEAN.id, WHY.id}
    assert "return" in made[MEAN.id]
    assert "ecause" in made[WHY.id]
    assert dict(gathered_answers._solutions(tmp_path / "none.ipynb", BANK)) == {}


def test_the_cells_of_a_learner_are_those_that_were_graded(tmp_path):
    made = Class()
    made.answer("ann", COPY, 1.0)
    gathered = replace(made.gathered(), folder=tmp_path)
    assert gathered.cells_of("ann") == {}  # an entry without its notebook
    gathered.entries["ann"] = replace(gathered.entries["ann"], notebook="n.ipynb")
    written(tmp_path / ".gpubook" / "hw.graded" / "n.ipynb", cell(COPY.id, ["answer = 1"]))
    assert gathered.cells_of("ann") == {COPY.id: "answer = 1"}
    assert gathered.cells_of("zed") == {}


@pytest.mark.parametrize("with_cells", [True, False])
def test_a_graded_course_is_gathered(tmp_path, monkeypatch, with_cells):
    """With its cells where these are asked for: of a group, those of who submitted."""
    release = written(tmp_path / "release" / "hw" / "hw.ipynb", cell(COPY.id, ["answer = ..."]), cell("gone", [""]))
    written(tmp_path / "source" / "hw" / "hw.ipynb", cell(WHY.id, ["Because."]))
    written(tmp_path / ".gpubook" / "hw.graded" / "n.ipynb", cell(COPY.id, ["answer = 1"]))
    made = Class()
    made.answer("ann", COPY, 1.0)
    made.enrolled("ann", "Ann")
    gathered = made.gathered()
    gathered.result.learners.append(Learner("bob", [], submitted_by="ann"))
    gathered.entries["ann"] = replace(gathered.entries["ann"], notebook="n.ipynb")
    config = SimpleNamespace(GradeInSandbox={"variants": True})
    for name, value in {
        "read_config": lambda _: config,
        "results": lambda *_: gathered.result,
        "read_notebook": lambda _: None,
        "bank_of": lambda *_: CourseBank([BANK]),
        "finished_entries": lambda *_: gathered.entries,
    }.items():
        monkeypatch.setattr(gathered_answers, name, value)
    monkeypatch.setattr(gathered_answers.gradebook, "scores", lambda _, names: {names[0]: list(made.scores.values())})
    whole = Gathered.of(release.parent.parent.parent, "hw", with_cells=with_cells)
    assert (whole.variants, whole.scores.keys(), whole.name) == (True, {"ann"}, "hw")
    assert whole.stubs == ({COPY.id: "answer = ..."} if with_cells else {})
    assert whole.solutions.keys() == ({WHY.id} if with_cells else set())
    assert whole.sources == ({COPY.id: {"ann": "answer = 1"}} if with_cells else {})
    config.GradeInSandbox = {}
    assert Gathered.of(tmp_path, "hw", with_cells=False).variants is False


@pytest.fixture
def read(monkeypatch):
    """`read(made, learner, exercise)`: what a learner has answered."""

    def of(made, learner, exercise):
        gathered = made.gathered()
        monkeypatch.setattr(gathered_answers, "Gathered", SimpleNamespace(of=lambda *_, **__: gathered))
        return gathered_answers.reader(gathered.folder, "hw")(learner, Result(exercise.id, 0.0, 1.0, ""))

    return of


def test_an_answer_is_read_where_it_can_be(read):
    made = Class()
    for who, value in {"ann": 2e-3, "bob": "3 apples", "cy": ...}.items():
        made.answer(who, COPY, value)
    assert [read(made, who, COPY) for who in ("ann", "bob", "cy", "zed")] == ["2 ms", "", "", ""]


def test_a_long_answer_is_cut(monkeypatch):
    kind = SimpleNamespace(blank=lambda _: False, as_read=lambda value: value)
    made = SimpleNamespace(
        bank={COPY.id: SimpleNamespace(answer=kind)}, answered=lambda who, _: Answered(who, None, {}, who * 40)
    )
    monkeypatch.setattr(gathered_answers, "Gathered", SimpleNamespace(of=lambda *_, **__: made))
    read = gathered_answers.reader(None, "hw")
    result = Result(COPY.id, 0.0, 1.0, "")
    assert [read(who, result) for who in ("ann", "anna")] == ["ann" * 40, "anna" * 30]


def test_there_is_no_reader_without_a_key(monkeypatch):
    def fails(*_, **__):
        raise ValueError("no declaration")

    monkeypatch.setattr(gathered_answers, "Gathered", SimpleNamespace(of=fails))
    assert gathered_answers.reader(None, "hw") is None
