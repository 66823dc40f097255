"""When worked solutions are shown and whose, and what is made beside a page, with nbgrader's parts made up."""

from datetime import datetime, timedelta
from types import SimpleNamespace

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.preprocessors import GetGrades
from traitlets.config import Config

from autograder.course.feedback import feedback_steps, releasable, worked_solutions
from autograder.course.feedback.feedback_steps import ShowGrades, WorkedSolutions
from autograder.ranks.seeds import secret_of

DUE = datetime(2030, 1, 1)
DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)


def about(learner="ann"):
    return {"nbgrader": {"assignment": "hw", "notebook": "hw", "student": learner, "db_url": ""}}


def cell(exercise, part, kind=new_code_cell, **own):
    return kind(
        "x", metadata={"gpubook": {"exercise": exercise, "part": part}, "nbgrader": {"grade_id": exercise} | own}
    )


@pytest.fixture
def step(monkeypatch, tmp_path):
    """`step(...)`: WorkedSolutions with these options; its `worked` has a solution of q and of why."""
    made = SimpleNamespace(due=DUE, period=DAY, owners=[], now=DUE, variants=False)
    (tmp_path / "source" / "hw").mkdir(parents=True)
    (tmp_path / "source" / "hw" / "hw.ipynb").touch()

    def solutions(_source, _bank, owner):
        made.owners.append(owner)
        return {"q": "How q.", "why": "Why."}

    monkeypatch.setattr(feedback_steps, "deadlines", lambda *_: (made.due, {"bob": 2 * DAY}))
    monkeypatch.setattr(feedback_steps, "late_period", lambda _: made.period)
    monkeypatch.setattr(feedback_steps.group_shares, "submitters", lambda *_: {"cy": "ann"})
    monkeypatch.setattr(feedback_steps, "read", lambda *_, **__: None)
    monkeypatch.setattr(feedback_steps, "bank_of", lambda *_: None)
    monkeypatch.setattr(worked_solutions, "solutions", solutions)
    monkeypatch.setattr(WorkedSolutions, "clock", staticmethod(lambda: made.now))
    course = SimpleNamespace(
        root=str(tmp_path),
        source_directory="source",
        format_path=lambda *parts: str(tmp_path.joinpath(*(part for part in (parts[0], parts[2])))),
    )

    class Step(WorkedSolutions):
        parent = SimpleNamespace(parent=SimpleNamespace(coursedir=course), _find_my_config=lambda _: Config())

    def new(**options):
        config = Config(
            {"WorkedSolutions": {"after_due": True} | options, "GradeInSandbox": {"variants": made.variants}}
        )
        return Step(config=config)

    new.about = made
    return new


def shown(step, learner="ann"):
    resources = about(learner)
    nb = new_notebook(
        cells=[
            cell("q", "answer"),
            cell("q", "answer", grade=True, solution=False),
            cell("why", "answer", new_markdown_cell, grade=True, solution=True),
            cell("none", "answer", grade=True, solution=False),
            new_markdown_cell("Text."),
        ]
    )
    made, same = step.preprocess(nb, resources)
    assert same is resources
    assert resources["nbgrader"].get("solutions_shown", False) == (len(made.cells) > 5)
    return [one.source for one in made.cells]


def test_solutions_stand_below_what_grades_them(step):
    step.about.now = DUE + DAY + SECOND
    assert shown(step()) == ["x", "x", "How q.", "x", "Why.", "x", "Text."]
    assert step.about.owners == [None]


@pytest.mark.parametrize(
    ("learner", "beyond", "over"),
    [("ann", DAY, False), ("ann", DAY + SECOND, True), ("bob", 3 * DAY, False), ("bob", 3 * DAY + SECOND, True)],
)
def test_time_is_over_after_the_deadline_the_extension_and_the_time_of_late_work(step, learner, beyond, over):
    step.about.now = DUE + beyond
    assert (len(shown(step(), learner)) > 5) == over


@pytest.mark.parametrize(
    ("days", "beyond", "over"),
    [(2.0, 2 * DAY, False), (2.0, 2 * DAY + SECOND, True), (0.0, SECOND, True), (0.0, timedelta(), False)],
)
def test_the_teacher_says_for_how_long_late_work_is_taken(step, days, beyond, over):
    step.about.now, step.about.period = DUE + beyond, None
    assert (len(shown(step(late_days=days))) > 5) == over


@pytest.mark.parametrize("change", [{"due": None}, {"period": None}])
def test_without_a_deadline_or_an_end_of_late_work_none_is_ever_shown(step, change):
    step.about.now = DUE + 9999 * DAY
    for name, value in change.items():
        setattr(step.about, name, value)
    assert len(shown(step())) == 5


def test_they_are_shown_where_that_was_asked_for(step):
    step.about.now = DUE + 9 * DAY
    assert len(shown(step(after_due=False))) == 5
    assert WorkedSolutions().after_due is False
    assert WorkedSolutions().late_days is None


def test_the_numbers_are_those_of_who_submitted(step):
    step.about.now, step.about.variants = DUE + 9 * DAY, True
    for learner in ("ann", "bob", "cy"):
        shown(step(), learner)
    assert step.about.owners == ["ann", "bob", "ann"]


def test_without_the_instructors_notebook_there_is_nothing_to_show(step, tmp_path):
    step.about.now = DUE + 9 * DAY
    (tmp_path / "source" / "hw" / "hw.ipynb").unlink()
    assert len(shown_cells(step())) == 5


def shown_cells(step):
    nb = new_notebook(cells=[cell("q", "answer", grade=True, solution=False) for _ in range(5)])
    return step.preprocess(nb, about())[0].cells


@pytest.mark.parametrize("waits", [True, False, None])
def test_a_page_says_which_grades_are_still_to_come(monkeypatch, waits):
    monkeypatch.setattr(GetGrades, "_get_score", lambda *_: None)
    step = ShowGrades()
    asked = []

    def find(*names):
        asked.append(names)
        return SimpleNamespace(needs_manual_grade=waits)

    step.gradebook = SimpleNamespace(find_grade=find)
    step.notebook_id, step.assignment_id, step.student_id = "nb", "hw", "ann"
    one = cell("q", "answer", grade=True)
    step._get_score(one, {})
    assert one.metadata["nbgrader"]["waits"] is bool(waits)
    assert asked == [("q", "nb", "hw", "ann")]


def test_solutions_are_of_the_answers_that_the_bank_declares(monkeypatch):
    monkeypatch.setattr(worked_solutions, "worked", lambda exercise, source, owner: f"{exercise} {source} {owner}")
    cells = [cell("q", "answer"), cell("q", "prompt"), cell("gone", "answer"), new_markdown_cell("Text.")]
    made = worked_solutions.solutions(new_notebook(cells=cells), {"q": "Q"}, "ann")
    assert made == {"q": "Q x ann"}
    assert worked_solutions.solutions(new_notebook(cells=[cell("q", "prompt")]), {"q": "Q"}, None) == {}


def test_what_is_missing_beside_a_page_is_made_and_the_same_at_every_run(tmp_path):
    page = tmp_path / "hw.html"
    releasable.complete(page, tmp_path, "ann")
    time, secret = tmp_path / "timestamp.txt", tmp_path / "submission_secret.txt"
    made = secret.read_text()
    assert (time.read_text(), len(made)) == ("", 64)
    secret.unlink()
    releasable.complete(page, tmp_path, "ann")
    assert secret.read_text() == made
    secret.unlink()
    releasable.complete(page, tmp_path, "bob")
    assert secret.read_text() != made
    assert secret_of(tmp_path) not in made


def test_what_is_there_stays_and_a_folder_in_the_way_goes(tmp_path):
    page = tmp_path / "hw.html"
    time, secret = tmp_path / "timestamp.txt", tmp_path / "submission_secret.txt"
    time.write_text("2030-01-01")
    (secret / "inner").mkdir(parents=True)
    releasable.complete(page, tmp_path, "ann")
    assert time.read_text() == "2030-01-01"
    assert secret.is_file()
    secret.unlink()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "mine").touch()
    secret.symlink_to(tmp_path / "elsewhere")
    releasable.complete(page, tmp_path, "ann")
    assert (tmp_path / "elsewhere" / "mine").exists()
