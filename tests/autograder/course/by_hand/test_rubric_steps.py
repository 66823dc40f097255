"""The notes below answers in words: for graders in formgrader, and the criteria reached in a learner's feedback."""

import json
from types import SimpleNamespace

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from traitlets.config import Configurable

from autograder.course import gradebook
from autograder.course.by_hand import marks, questions, rubric_steps
from autograder.course.by_hand.marks import Mark
from autograder.course.by_hand.rubric_steps import CriteriaInFeedback, RubricInFormgrader
from autograder.course.layout import CONFIG_FILE
from autograder.course.terms import group_shares
from autograder.course.terms.group_shares import GroupShare

RUBRIC = (("Names it.", 2.0), ("Says why.", 1.0))
FORMGRADER = {"submission_id": "s", "assignment_id": "hw", "student": "ann"}


def cell(make, part, exercise, **nbgrader):
    own = {"gpubook": {"exercise": exercise, "part": part}, "nbgrader": {"grade_id": f"{exercise}-{part}", **nbgrader}}
    return make("Text.", metadata=own)


def written(exercise, **more):
    return cell(new_markdown_cell, "written", exercise, grade=True, solution=True, points=3, **more)


def notebook(*cells):
    prompt = cell(new_markdown_cell, "prompt", "why")
    grade = cell(new_code_cell, "grade", "steps", grade=True, points=1)
    return new_notebook(cells=[new_markdown_cell("Read."), prompt, grade, *cells])


def notes(nb, kind):
    """By the cell above it, each note."""
    pairs = zip(nb.cells, nb.cells[1:], strict=False)
    return {
        above.metadata.gpubook.exercise: note.source
        for above, note in pairs
        if note.metadata.get("gpubook", {}).get("part") == kind
    }


@pytest.fixture
def folder(tmp_path):
    """A course whose learners read the first criterion of "why" alone."""
    (tmp_path / CONFIG_FILE).write_text("c = get_config()\n")
    release = tmp_path / "release" / "hw"
    release.mkdir(parents=True)
    public = {"exercises": {"why": {"rubric": [["Names it.", 2]]}}}
    (release / "exercises.json").write_text(json.dumps(public))
    return tmp_path


def mark(folder, exercise="why", learner="ann", given=(2.0, 0.5), points=2.5):
    with marks.alone(folder, "hw", exercise):
        known = marks.load(folder, "hw", exercise)
        marks.save(folder, "hw", exercise, known | {learner: Mark(given, RUBRIC, points)})


@pytest.fixture
def feedback(folder):
    """The notes in ann's feedback on a notebook."""

    class Exporter(Configurable):
        pass

    class Converter(Configurable):
        coursedir = SimpleNamespace(root=str(folder))

    def feedback(*cells, student="ann", hidden_too=False, **about):
        step = CriteriaInFeedback(parent=Exporter(parent=Converter()), hidden_too=hidden_too)
        about = {"assignment": "hw", "student": student, "db_url": "sqlite://", **about}
        made, resources = step.preprocess(notebook(*cells), {"nbgrader": about})
        assert resources == {"nbgrader": about}
        return notes(made, "criteria")

    return feedback


def test_the_criteria_stand_below_the_answer_whose_score_they_are(folder, feedback):
    mark(folder)
    mark(folder, "other")
    made = feedback(written("why", score=2.5), written("else", score=2.5), written("other", score=1.0, waits=True))
    assert list(made) == ["why"]
    assert made["why"].splitlines()[2:] == ["- ✓ Names it. — 2 of 2", "- ◐ Criterion 2 — 0.5 of 1"]


@pytest.mark.parametrize("more", [{"score": 2.5, "waits": True}, {"score": None}, {}])
def test_criteria_of_no_grade_are_not_shown(folder, feedback, more):
    mark(folder)
    assert feedback(written("why", **more)) == {}


@pytest.mark.parametrize(
    ("entered", "shown"),
    [({}, False), ({("ann", "why-written"): (2.5, "")}, True), ({("ann", "why-written"): (3.0, "")}, False)],
)
def test_a_score_with_extra_credit_is_the_criterias_where_the_gradebook_says_so(
    folder, feedback, monkeypatch, entered, shown
):
    monkeypatch.setattr(gradebook, "by_hand", lambda url, name: entered)
    mark(folder)
    assert bool(feedback(written("why", score=3.0))) is shown


@pytest.mark.parametrize("more", [{"hidden_too": True}, {"solutions_shown": True}])
def test_a_hidden_criterion_is_shown_where_that_is_wanted_or_the_solution_has_it(folder, feedback, more):
    mark(folder)
    assert "Says why." in feedback(written("why", score=2.5), **more)["why"]
    assert "Says why." not in feedback(written("why", score=2.5), solutions_shown=False)["why"]


def test_a_group_has_the_criteria_of_whoever_was_graded(folder, feedback):
    mark(folder, learner="zoe")
    assert feedback(written("why", score=2.5), student="ann") == {}
    group_shares.write(folder, "hw", {"ann": GroupShare("zoe")})
    assert list(feedback(written("why", score=2.5), student="ann")) == ["why"]


def test_without_marks_a_page_stays_as_it_is(folder, feedback):
    assert feedback(written("why", score=2.5)) == {}


@pytest.fixture
def formgrader(folder, monkeypatch):
    """What formgrader's page has below the cells of a notebook of the course."""

    def shown(asked_folder, name):
        assert (asked_folder, name) == (folder, "hw")
        return [SimpleNamespace(exercise="why"), SimpleNamespace(exercise="else")]

    monkeypatch.setattr(rubric_steps, "questions", shown)
    monkeypatch.setattr(rubric_steps, "graders_note", lambda question, owner: f"{question.exercise} for {owner}")
    (folder / "autograded" / "ann" / "hw").mkdir(parents=True)
    return {**FORMGRADER, "metadata": {"path": str(folder / "autograded" / "ann" / "hw")}}


def test_a_grader_sees_a_note_below_each_answer_in_words(formgrader):
    made, resources = RubricInFormgrader().preprocess(notebook(written("why"), written("other")), formgrader)
    assert notes(made, "graders") == {"why": "why for ann"}
    assert resources is formgrader


def test_the_course_is_found_from_where_formgrader_runs(folder, formgrader, monkeypatch):
    monkeypatch.chdir(folder)
    made, _ = RubricInFormgrader().preprocess(notebook(written("why")), FORMGRADER)
    assert list(notes(made, "graders")) == ["why"]


@pytest.mark.parametrize("missing", ["submission_id", "assignment_id", "student"])
def test_a_page_that_is_not_formgraders_stays_as_it_is(formgrader, missing):
    nb = notebook(written("why"))
    assert RubricInFormgrader().preprocess(nb, {k: v for k, v in formgrader.items() if k != missing})[0] is nb


def test_formgraders_own_resources_alone_are_enough(folder, formgrader, monkeypatch):
    monkeypatch.chdir(folder)
    nb = new_notebook(cells=[written("why")])
    assert list(notes(RubricInFormgrader().preprocess(nb, dict(FORMGRADER))[0], "graders")) == ["why"]


def test_a_notebook_without_answers_in_words_stays_as_it_is(formgrader):
    nb = notebook()
    assert RubricInFormgrader().preprocess(nb, formgrader)[0] is nb


def test_declarations_that_fail_are_told_below_each_answer(formgrader, monkeypatch):
    def failing(*_):
        raise ZeroDivisionError("declared so")

    monkeypatch.setattr(rubric_steps, "questions", failing)
    made, _ = RubricInFormgrader().preprocess(notebook(written("why"), written("other")), formgrader)
    assert {exercise: "declared so" in note for exercise, note in notes(made, "graders").items()} == {
        "why": True,
        "other": True,
    }


def test_an_assignment_is_a_folder_with_a_notebook_of_its_name(folder):
    for name in ("b/b", "a/a", "c/other"):
        (folder / "release" / name).parent.mkdir(exist_ok=True)
        (folder / "release" / f"{name}.ipynb").write_text("{}")
    assert questions.assignments(folder) == ["a", "b"]


def test_criteria_are_shown_that_stand_in_the_release(folder):
    assert questions.shown_criteria(folder, "hw", "why") == {"Names it."}
    assert questions.shown_criteria(folder, "hw", "else") == frozenset()
    assert questions.shown_criteria(folder, "other", "why") == frozenset()
