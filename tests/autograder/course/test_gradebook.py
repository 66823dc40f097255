"""What a teacher does to the gradebook: late penalties, grades by hand, extra credit, a dropped exercise, a
changed key, exercises and texts of their own."""

import re
import warnings
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner
from nbgrader.api import Gradebook

from autograder import course
from autograder.book.source.notebook import ChapterError
from autograder.book.source.release import CourseError
from autograder.cli import commands
from autograder.course import gradebook
from autograder.course.assigning import instructor_notebook, marked_exercises
from tests.autograder import tiny
from tests.autograder.course.test_operations import hand_in
from tests.autograder.exchange import submitted_at

ROOT = Path(__file__).resolve().parents[3]
HEAD = "---\njupytext:\n  text_representation:\n    extension: .md\n    format_name: myst\n---\n\n# Mine\n\n"
ASK = """```{code-cell} ipython3
:exercise: %s

### BEGIN SOLUTION
answer = 1
### END SOLUTION
```

"""
ESSAY = """+++ {"nbgrader": {"grade": true, "solution": true, "locked": false, "task": false, "grade_id": "essay", \
"points": 4, "schema_version": 3}}

Explain, on {n}`4e9/2e9` lines.

### BEGIN SOLUTION
One reason, and another.
### END SOLUTION
"""


# the examples of docs/teaching.md: a number, and an answer in words
OWN = "".join(re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "teaching.md").read_text(), re.DOTALL))


@pytest.fixture
def folder(tmp_path):
    """A course with the declarations of the tiny chapter as the teacher's own."""
    course.init(tmp_path / "course")
    (tmp_path / "course" / "exercises" / "tiny.py").write_text(tiny.EXERCISES)
    return tmp_path / "course"


@pytest.fixture(scope="module")
def zygote(zygotes):
    with pytest.MonkeyPatch.context() as patch:
        tiny.lend(patch, zygotes())
        yield zygotes()


@contextmanager
def book(folder):
    with warnings.catch_warnings(), Gradebook(gradebook.url_of(folder)) as opened:
        warnings.simplefilter("ignore")
        yield opened
        opened.db.commit()


def written(folder, *ids):
    (folder / "mine.md").write_text(HEAD + "".join(ASK % name for name in ids) + ESSAY)
    return course.assign(folder, "hw", text=folder / "mine.md", due=datetime(2030, 1, 1))


def submit(folder, who, answers, when="2029-12-31 00:00:00 UTC"):
    nb = nbformat.read(folder / "release" / "hw" / "hw.ipynb", as_version=4)
    nb = tiny.fill(nb, answers)
    for cell in nb.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "essay" and "essay" in answers:
            cell.source = answers["essay"]
    hand_in(folder, who, nb, name="hw")
    submitted_at(folder, who, "hw", when)


def score_of(folder, who):
    return next(score for score in gradebook.scores(folder, ["hw"])["hw"] if score.person.id == who)


@pytest.mark.parametrize(
    ("days", "fraction", "grace", "penalty"),
    [
        (0.0, 0.1, 0, 0.0),
        (0.01, 0.1, 0, 1.0),
        (1.0, 0.1, 0, 1.0),
        (1.001, 0.1, 0, 2.0),
        (30, 0.1, 0, 10.0),
        (0.01, 0.1, 15, 0.0),
        (1.01, 0.1, 15, 1.0),
        (2.5, 0.0, 0, 0.0),
        (0.5, 1.0, 0, 10.0),
    ],
)
def test_late_per_day(days, fraction, grace, penalty):
    plugin = gradebook.LatePerDay(fraction=fraction, grace=grace)
    assert plugin.late_submission_penalty("ann", 10.0, timedelta(days=days).total_seconds()) == pytest.approx(penalty)


def test_own_exercises_stand_alone_or_behind_a_chapters(folder):
    nb = nbformat.read(course.assign(folder, "a", exercises=["tiny-steps", "tiny-double"]), as_version=4)
    parts = [(c.metadata.gpubook.exercise, c.metadata.gpubook.part) for c in nb.cells if "gpubook" in c.metadata]
    assert [name for name, part in parts if part == "grade"] == ["tiny-steps", "tiny-double"]
    assert "BEGIN SOLUTION" not in nbformat.v4.writes(nb)
    exec("\n".join(c.source for c in nb.cells if c.cell_type == "code" and "grade(" not in c.source), {})
    chosen = ["rooflines-ridge", "tiny-steps"]
    nb = nbformat.read(course.assign(folder, "b", chapter="03-rooflines", exercises=chosen), as_version=4)
    asked = [c.metadata.gpubook.exercise for c in nb.cells if c.metadata.get("gpubook", {}).get("part") == "grade"]
    assert asked == chosen
    public = (folder / "release" / "b" / "exercises.json").read_text()
    assert all(f'"{name}"' in public for name in chosen)
    assert "That is one phase" not in public
    assert [p.name for p in (folder / "source").iterdir() if p.name.startswith(".")] == []


def test_a_text_of_ones_own_asks_exercises_and_written_answers(folder):
    nb = nbformat.read(written(folder, "tiny-steps"), as_version=4)
    text = nbformat.v4.writes(nb)
    assert "Explain, on 2 lines." in text
    assert "One reason" not in text
    with book(folder) as opened:
        assert opened.find_assignment("hw").max_score == 6.0
        assert opened.find_assignment("hw").duedate == datetime(2030, 1, 1)


def test_what_cannot_be_assigned_is_named(folder):
    with pytest.raises(CourseError, match="chapter, exercises or a text"):
        course.assign(folder, "a")
    with pytest.raises(CourseError, match=r"tiny-none; .*tiny-time, .*tiny-spread"):
        course.assign(folder, "a", exercises=["tiny-none"])
    (folder / "mine.md").write_text(HEAD + ASK % "tiny-none")
    with pytest.raises(ChapterError, match=r"mine\.md:\d+: unknown exercise 'tiny-none'"):
        course.assign(folder, "a", text=folder / "mine.md")
    with pytest.raises(CourseError, match=r"mine\.md .*exercises; "):
        course.assign(folder, "a", text=folder / "mine.md", exercises=["tiny-time"])
    assert not (folder / "source" / "a").exists()
    (folder / "mine.md").write_text(HEAD + ASK % "tiny-time" + ESSAY + "\n=== BEGIN MARK SCHEME ===\n")
    with pytest.raises(CourseError, match=r"a\.ipynb: RuntimeError: .*ark scheme") as caught:
        course.assign(folder, "a", text=folder / "mine.md")
    assert "\n" not in str(caught.value)
    (folder / "exercises" / "zz.py").write_text(tiny.EXERCISES)
    with pytest.raises(CourseError, match=r"zz\.py: .*'tiny-time' .*/tiny\.py "):
        instructor_notebook.own_bank(folder)


@pytest.mark.slow
def test_grades_by_hand_outlive_a_run_and_are_reviewed_again_only_where_something_changed(folder, zygote):
    written(folder, "tiny-steps", "tiny-time")
    for who in ("ann", "bob", "cy"):
        submit(folder, who, tiny.RIGHT | {"essay": f"Because, says {who}."})
    course.grade(folder, "hw")
    assert gradebook.waiting(folder, "hw") == {"ann": 1, "bob": 1, "cy": 1}
    with book(folder) as opened:
        for who, cell, points in (("ann", "essay", 3.0), ("bob", "essay", 2.0), ("cy", "tiny-time-grade", 1.0)):
            grade = opened.find_grade(cell, "hw", "hw", who)
            grade.manual_score, grade.needs_manual_grade = points, False
        opened.find_grade("essay", "hw", "hw", "ann").extra_credit = 0.5
    course.grade(folder, "hw")
    assert gradebook.waiting(folder, "hw") == {"cy": 1}  # whose essay has no grade yet
    assert [score_of(folder, who).raw for who in ("ann", "bob", "cy")] == [8.5, 7.0, 3.0]
    submit(folder, "bob", tiny.RIGHT | {"essay": "Something else."})
    submit(folder, "cy", tiny.RIGHT | {"essay": "Because, says cy.", "tiny-time": "answer = 7"})
    course.grade(folder, "hw")
    assert gradebook.waiting(folder, "hw") == {"bob": 1, "cy": 2}
    with book(folder) as opened:
        assert opened.find_grade("tiny-time-grade", "hw", "hw", "cy").needs_manual_grade  # other points than before
    assert [score_of(folder, who).raw for who in ("ann", "bob")] == [8.5, 7.0]
    assert score_of(folder, "ann").extra_credit == 0.5


@pytest.mark.slow
def test_late_penalties_follow_grades_by_hand_and_extensions(folder, zygote):
    config = folder / "nbgrader_config.py"
    config.write_text(config.read_text().replace("# c.AssignLate", "c.AssignLate").replace("# c.Late", "c.Late"))
    written(folder, "tiny-steps")
    submit(folder, "ann", tiny.RIGHT | {"essay": "Two days late."}, "2030-01-02 12:00:00 UTC")
    submit(folder, "bob", tiny.RIGHT | {"essay": "In time."})
    own = folder / "submitted" / "bob" / "hw" / "timestamp.txt"
    own.write_text("2030-01-09 12:00:00 UTC")
    assert [one for one in course.grade(folder, "hw").problems if "timestamp.txt of bob: " in one]
    assert score_of(folder, "ann").late_penalty == pytest.approx(0.4)
    assert score_of(folder, "bob").late_penalty == 0.0
    with book(folder) as opened:
        grade = opened.find_grade("essay", "hw", "hw", "ann")
        grade.manual_score, grade.needs_manual_grade = 3.0, False
    assert gradebook.update_late_penalties(folder, "hw") == [("ann", pytest.approx(1.0))]
    assert score_of(folder, "ann").score == pytest.approx(4.0)
    with book(folder) as opened:
        opened.grant_extension("hw", "ann", days=1)
    said = CliRunner().invoke(commands.main, ["course", "late", str(folder), "hw"])
    assert said.stdout == "ann: 0.5 points off\n"
    with book(folder) as opened:
        opened.grant_extension("hw", "ann", days=2)
    assert gradebook.update_late_penalties(folder, "hw") == []
    with pytest.raises(CourseError, match="no assignment 'nothing'"):
        gradebook.update_late_penalties(folder, "nothing")
    course.grade(folder, "hw", ["bob"], trust_timestamps=True)
    assert score_of(folder, "bob").late_penalty > 0.0


@pytest.mark.slow
def test_a_dropped_exercise_counts_for_nobody(folder, zygote):
    written(folder, "tiny-steps", "tiny-time")
    submit(folder, "ann", tiny.RIGHT)
    submit(folder, "bob", {"tiny-time": "answer = 2"})
    course.grade(folder, "hw")
    with book(folder) as opened:
        opened.find_grade("tiny-steps-grade", "hw", "hw", "bob").manual_score = 1.0
    course.drop(folder, "hw", "tiny-steps")
    now = [(s.raw, s.max_score) for s in gradebook.scores(folder, ["hw"])["hw"]]
    assert now == [(3.0, 7.0), (3.0, 7.0)]
    submit(folder, "cy", tiny.RIGHT)
    result = course.grade(folder, "hw")
    assert [(s.raw, s.max_score) for s in gradebook.scores(folder, ["hw"])["hw"]] == [*now, (3.0, 7.0)]
    assert marked_exercises.DROPPED.strip("*") in (folder / "feedback" / "cy" / "hw" / "hw.html").read_text()
    assert result.exercises == {"tiny-steps": 0.0, "tiny-time": 3.0}
    course.drop(folder, "hw", "tiny-steps")
    prompt = nbformat.read(folder / "source" / "hw" / "hw.ipynb", as_version=4).cells[1]
    assert prompt.source.count(marked_exercises.DROPPED) == 1
    with pytest.raises(CourseError, match=r"'tiny-x'; .*tiny-steps, tiny-time$"):
        course.drop(folder, "hw", "tiny-x")
    course.drop(folder, "hw", "tiny-steps", undo=True)
    course.grade(folder, "hw")
    assert score_of(folder, "ann").raw == 5.0


@pytest.mark.slow
def test_an_assignment_that_cannot_be_changed_stays_as_it_was(folder, zygote):
    written(folder, "tiny-steps")
    submit(folder, "ann", tiny.RIGHT)
    course.grade(folder, "hw")
    parts = [folder / "source" / "hw", folder / "release" / "hw"]
    before = [{path.name: path.read_bytes() for path in part.iterdir()} for part in parts]
    with pytest.raises(CourseError, match=r"notebook 'hw' .*subm"):
        written(folder, "tiny-steps", "tiny-time")
    assert [{path.name: path.read_bytes() for path in part.iterdir()} for part in parts] == before
    assert course.grade(folder, "hw").learner("ann").points == 2.0


@pytest.mark.slow
def test_a_changed_key_changes_only_its_exercise(folder, zygote):
    written(folder, "tiny-steps", "tiny-time")
    submit(folder, "ann", tiny.RIGHT)
    submit(folder, "bob", tiny.RIGHT | {"tiny-steps": "answer = 15"})
    before = {learner.name: learner.results for learner in course.grade(folder, "hw").learners}
    declared = folder / "exercises" / "tiny.py"
    declared.write_text(declared.read_text().replace("solution=lambda n: 2*(n - 1)", "solution=lambda n: 2*n - 1"))
    after = {learner.name: learner.results for learner in course.grade(folder, "hw").learners}
    assert [r.points for r in before["ann"] + before["bob"]] == [2.0, 3.0, 0.0, 3.0]
    assert [r.points for r in after["ann"] + after["bob"]] == [0.0, 3.0, 2.0, 3.0]
    assert [rs[1] for rs in after.values()] == [rs[1] for rs in before.values()]
    assert [score_of(folder, who).raw for who in ("ann", "bob")] == [3.0, 5.0]


def test_own_exercises_test_themselves(folder):
    (folder / "exercises" / "tiny.py").write_text(tiny.EXERCISES.replace("lambda S, W: W/S", "lambda S, W: S/W"))
    said = CliRunner().invoke(commands.main, ["course", "check", str(folder)])
    assert said.exit_code == 1
    assert re.search(r"/exercises/tiny\.py:\d+: tiny-time: .*'Turn the quotient over\.'", said.output)
    assert {"tiny-steps: ok", "tiny-spread: ok"} < set(said.output.splitlines())
    assert "tiny-time: ok" not in said.output
    (folder / "exercises" / "tiny.py").write_text(OWN)
    said = CliRunner().invoke(commands.main, ["course", "check", str(folder)])
    assert (said.exit_code, said.output) == (0, "mine-copy: ok\nmine-slower: ok\n")
    (folder / "exercises" / "tiny.py").unlink()
    said = CliRunner().invoke(commands.main, ["course", "check", str(folder)])
    assert said.exit_code == 1
    assert said.output.startswith("Error: ")
    assert f"{folder}/exercises/*.py" in said.output


@pytest.mark.slow
def test_an_exercise_of_the_books_is_judged_by_the_courses_own_key(folder, zygote):
    course.assign(folder, "hw", chapter="03-rooflines", exercises=["rooflines-ridge"])
    submit(folder, "ann", {"rooflines-ridge": "answer = 99"})
    assert course.grade(folder, "hw").learner("ann").points == 0.0
    (folder / "exercises" / "corrected.py").write_text(
        "from dataclasses import replace\n"
        "from autograder.declaration import load_bank\n"
        "from autograder.values.book_root import book_root\n"
        "book = load_bank(book_root() / 'solutions' / '03-rooflines')\n"
        "RIDGE = replace(book['rooflines-ridge'], solution=lambda **g: 99, mistakes=())\n"
    )
    assert course.grade(folder, "hw").learner("ann").points == 1.0
