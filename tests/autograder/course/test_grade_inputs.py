"""Every input of a grade, alone and two at once in either order: `--resume` gives what grading from nothing gives, to
the last number in gradebook, table, feedback and exports, does no more than is needed for it, and says what changed."""

import csv
import importlib
import itertools
import shutil
import sys
from collections.abc import Callable
from datetime import datetime
from io import StringIO
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner
from nbgrader.api import Gradebook
from rich.console import Console

from autograder import course
from autograder.cli import commands
from autograder.course import export, gradebook
from autograder.course.agreements import extensions, learner_groups
from autograder.course.class_results.results_table import print_changes, print_table
from autograder.course.run.grade_inputs import INPUTS, Least, as_table
from autograder.course.terms.agreed_terms import Extension
from autograder.grading import worker
from tests.autograder import tiny
from tests.autograder.course.test_operations import hand_in
from tests.autograder.exchange import submitted_at

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="grading others' work needs Linux"),
]
WHY = """
from autograder.answers import Written

WHY = Exercise(id="tiny-why", prompt="Why?", answer=Written(rubric=(("Names it.", 2),)), solution="Model.")
"""
ASKED = ["tiny-steps", "tiny-time", "tiny-why"]
LEARNERS = ("ann", "bob", "cy")
DAY_LATE, TWO_LATE = (f"20{day} 12:00:00.000000 UTC" for day in ("30-01-01", "30-01-02"))
HEAD = ["Identifier", "Full name", "Email address", "Grade", "Last modified (grade)", "Feedback comments", "ID number"]


def submit(folder, who, **answers):
    release = nbformat.read(folder / "release" / "hw" / "hw.ipynb", as_version=4)
    nb = tiny.fill(release, tiny.RIGHT | answers)
    for cell in nb.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "tiny-why":
            cell.source = f"Because, says {who}."
    hand_in(folder, who, nb, name="hw")


def assign(folder, **how):
    course.assign(folder, "hw", exercises=ASKED, **how)


def configure(folder, before, after):
    config = folder / "nbgrader_config.py"
    assert before in config.read_text()
    config.write_text(config.read_text().replace(before, after))


def add_setting(folder, line):
    with open(folder / "nbgrader_config.py", "a", encoding="utf-8") as config:
        config.write(f"\n{line}\n")


def declare(folder, before, after):
    declared = folder / "exercises" / "tiny.py"
    assert before in declared.read_text()
    declared.write_text(declared.read_text().replace(before, after))


def correct_the_wording(folder):
    declare(folder, "How many steps has", "How many rounds has")
    assign(folder)


def give(folder, who, cell, points, comment=""):
    with Gradebook(gradebook.url_of(folder)) as book:
        grade = book.find_grade(cell, "hw", "hw", who)
        grade.manual_score, grade.needs_manual_grade = points, False
        if comment:
            book.find_comment(cell, "hw", "hw", who).manual_comment = comment
        book.db.commit()


def write_beside(folder, part, text):
    path = folder / part / "hw" / "notes.txt"
    path.write_text(text)


# What changes each input of a grade, by its name in the list.
CHANGES: dict[str, Callable[[Path], object]] = {
    "notebook": lambda f: submit(f, "bob"),
    "files": lambda f: write_beside(f, "submitted/ann", "mine, anew"),
    "released files": lambda f: write_beside(f, "release", "of the course"),
    "time": lambda f: submitted_at(f, "bob", "hw", TWO_LATE),
    "trust": lambda f: add_setting(f, "c.SubmissionTime.trusted = True"),
    "deadline": lambda f: gradebook.set_due(gradebook.url_of(f), "hw", datetime(2029, 12, 31, 1)),
    "extension": lambda f: extensions.extend(f, "hw", ["bob"], Extension(days=1)),
    "group": lambda f: learner_groups.form(f, "hw", {"A": ["bob", "dan"]}),
    "late rule": lambda f: configure(f, "fraction = 0.1", "fraction = 0.2"),
    "points": lambda f: assign(f, points={"tiny-steps": 7}),
    "wording": correct_the_wording,
    "drop": lambda f: course.drop(f, "hw", "tiny-time"),
    "full marks": lambda f: course.full_marks(f, "hw", "tiny-steps"),
    "key": lambda f: declare(f, "solution=lambda n: 2*(n - 1)", "solution=lambda n: 2*n - 1"),
    "variants": lambda f: add_setting(f, "c.GradeInSandbox.variants = True"),
    "hand grade": lambda f: give(f, "ann", "tiny-why", 1.5, "Almost."),
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory, zygotes):
    """A class that was graded: ann in time, bob late, cy at a time that does not count; dan submits nothing."""
    folder = tmp_path_factory.mktemp("inputs") / "course"
    course.init(folder)
    (folder / "exercises" / "tiny.py").write_text(tiny.EXERCISES.replace("W=[2e9]", "W=[2e9, 5e9]") + WHY)
    config = folder / "nbgrader_config.py"
    config.write_text(config.read_text().replace("# c.AssignLate", "c.AssignLate").replace("# c.Late", "c.Late"))
    assign(folder, due=datetime(2030, 1, 1))
    with Gradebook(gradebook.url_of(folder)) as book:
        for who in (*LEARNERS, "dan"):
            book.add_student(who)
    submit(folder, "ann")
    submit(folder, "bob", **{"tiny-steps": "answer = 1"})
    submit(folder, "cy", **{"tiny-time": "answer = 4"})
    write_beside(folder, "submitted/ann", "mine")
    submitted_at(folder, "ann", "hw", "2029-12-31 12:00:00.000000 UTC")
    submitted_at(folder, "bob", "hw", DAY_LATE)
    (folder / "submitted" / "cy" / "hw" / "timestamp.txt").write_text(DAY_LATE)
    with open(folder / "worksheet.csv", "w", encoding="utf-8", newline="") as file:
        learners = enumerate((*LEARNERS, "dan"), start=1)
        csv.writer(file).writerows([HEAD, *([f"Participant {n}", who, "", "", "", "", who] for n, who in learners)])
    with pytest.MonkeyPatch.context() as patch:
        tiny.lend(patch, zygotes())
        course.grade(folder, "hw")
        yield folder


@pytest.fixture
def folder(graded, tmp_path):
    return copied(graded, tmp_path / "course")


def copied(folder, target):
    """A copy of a course, to change."""
    shutil.copytree(folder, target)
    configure(target, str(folder), str(target))
    return target


@pytest.fixture
def work(monkeypatch):
    """What is done from now on: the learners whose cells run, and those whose answers are judged without."""
    done = {Least.RUN: set(), Least.JUDGING: set()}
    grade = worker.Grader.grade

    def counting(self, job):
        done[Least.JUDGING if job.executed else Least.RUN].add(job.learner)
        return grade(self, job)

    monkeypatch.setattr(worker.Grader, "grade", counting)
    return done


def standing(folder):
    """All that a grade is read from: gradebook, results, the printed table, each export, the pages and their files."""
    shown, result = Console(file=StringIO(), width=200), course.results(folder, "hw")
    scores = {one.person.id: one for one in gradebook.scores(folder, ["hw"])["hw"]}
    result.problems.clear()
    print_table(result, shown, scores, gradebook.waiting_by_cell(folder, "hw"))
    read = {"table": shown.file.getvalue(), "gradebook": scores}
    read |= {
        ("results", one.name): (one.results, one.problem, one.submitted_by, one.late_penalty) for one in result.learners
    }
    for form in export.FORMATS:
        sheet = folder / "worksheet.csv" if form == "moodle" else None
        made = export.table(folder, ["hw"], form, worksheet=sheet)
        read[form] = (made.rows, made.notes, made.beside and made.beside.rows)
    for part in ("feedback", "autograded"):
        read |= {str(p.relative_to(folder)): p.read_bytes() for p in (folder / part).rglob("*") if p.is_file()}
    return read


def grade_from_nothing(folder):
    """Grade the course as if nothing of it were graded; what a teacher gave by hand is given again."""
    given = []
    with Gradebook(gradebook.url_of(folder)) as book:
        for one in book.assignment_submissions("hw"):
            (notebook,) = one.notebooks
            grades = {grade.name: grade for grade in notebook.grades if grade.manual_score is not None}
            comments = {comment.name: comment.manual_comment for comment in notebook.comments}
            given += [(one.student_id, cell, grade.manual_score, comments.get(cell)) for cell, grade in grades.items()]
            book.remove_submission("hw", one.student_id)
    for part in ("journal", "results.json", "shared.json"):
        (folder / ".gpubook" / f"hw.{part}").unlink(missing_ok=True)
    for part in ("autograded", "feedback", ".gpubook/hw.graded"):
        shutil.rmtree(folder / part, ignore_errors=True)
    result = course.grade(folder, "hw")
    for row in given:
        give(folder, *row)
    if given:
        course.show_feedback(folder, "hw")
        course.grade(folder, "hw", resume=True)
    return result


def differences(folder, expected):
    now = standing(folder)
    return sorted(str(name) for name in now.keys() | expected.keys() if now.get(name) != expected.get(name))


NO_WORK = {Least.RUN: set(), Least.JUDGING: set()}
EVERYBODY = set(LEARNERS)
WORK = {  # which learners' cells run, or answers are judged, and of whom the run says that something has changed
    "notebook": ({"bob"}, set(), {"bob"}),
    "files": (set(), set(), {"ann"}),
    "released files": (EVERYBODY, set(), set()),
    "time": (set(), set(), {"bob"}),
    "trust": (set(), set(), {"cy"}),
    "deadline": (set(), set(), {"ann", "bob"}),
    "extension": (set(), set(), {"bob"}),
    "group": (set(), set(), {"dan"}),
    "late rule": (set(), set(), {"bob"}),
    "points": (set(), set(), EVERYBODY),
    "wording": (set(), EVERYBODY, set()),
    "drop": (set(), set(), EVERYBODY),
    "full marks": (set(), set(), {"bob"}),
    "key": (set(), EVERYBODY, {"ann", "cy"}),
    "variants": (EVERYBODY, set(), EVERYBODY),
    "hand grade": (set(), set(), {"ann"}),
}
INPUT = {item.name: item for item in INPUTS}


def changed_in(result):
    """By learner, the lines in which the run says what changed and why."""
    shown = Console(file=StringIO(), width=300)
    print_changes(result.changes, shown, result.late_changes, result.entry_changes)
    lines = shown.file.getvalue().splitlines()[1:]
    return {who: [line for line in lines if line.split()[0] == who] for who in (line.split()[0] for line in lines)}


ALSO_RESUMED = {"deadline", "late rule", "points", "key"}  # of which test_resume has the numbers, each time
DEAREST = {"full marks", "wording", "released files"}  # of a kind with others here: drop, and variants
SINGLE = [pytest.param(name, marks=[pytest.mark.nightly] * (name in ALSO_RESUMED | DEAREST)) for name in CHANGES]


@pytest.mark.parametrize("name", SINGLE)
def test_each_input(folder, work, name):
    CHANGES[name](folder)
    result = course.grade(folder, "hw", resume=True)
    ran, judged, changed = WORK[name]
    assert work == {Least.RUN: ran, Least.JUDGING: judged}
    lines = changed_in(result)
    assert lines.keys() == changed, lines
    assert all(INPUT[name].reason in "".join(lines[who]) for who in changed)
    now = standing(folder)
    work.update(NO_WORK)
    assert changed_in(course.grade(folder, "hw", resume=True)) == {}
    assert work == NO_WORK
    assert differences(folder, now) == []
    grade_from_nothing(folder)
    assert differences(folder, now) == []


def test_assigning_anew_says_that_grades_are_of_the_assignment_before(folder):
    assign = ["course", "assign", str(folder), "hw", "--exercises", ",".join(ASKED), "--points", "tiny-steps=7"]
    done = CliRunner().invoke(commands.main, assign, catch_exceptions=False)
    assert "of 3 graded submissions 3 have the points" in done.stderr
    assert "--resume" in done.stderr
    with Gradebook(gradebook.url_of(folder)) as book:
        for who in LEARNERS:
            book.remove_submission("hw", who)
    assert "graded" not in CliRunner().invoke(commands.main, assign, catch_exceptions=False).stderr


def test_an_omission_is_refused_once_there_are_submissions(folder):
    before = standing(folder)
    with pytest.raises(course.CourseError):
        assign(folder, without=["tiny-time"])
    assert differences(folder, before) == []


def test_the_list_is_whole_and_is_what_the_documentation_says(root):
    assert {item.name for item in INPUTS} == {*CHANGES, "omission"}
    assert as_table() in (root / "docs" / "developers" / "grader.md").read_text(encoding="utf-8")
    for item in INPUTS:
        module, _, names = item.compared_by.partition(":")
        place = importlib.import_module(f"autograder.{module}")
        owner, _, field = names.partition(".")
        assert not field or field in getattr(place, owner).__dataclass_fields__, item


SAMPLE = [("drop", "hand grade")]
PAIRS = [pair for pair in itertools.permutations(CHANGES, 2) if pair not in SAMPLE]


def as_from_nothing(folder, again, first, second):
    """Whether two changes give it, with a run in between (in `again`) and without."""
    CHANGES[first](folder)
    copied(folder, again)
    course.grade(again, "hw", resume=True)
    for changed in (folder, again):
        CHANGES[second](changed)
        course.grade(changed, "hw", resume=True)
    once, twice = standing(folder), standing(again)
    grade_from_nothing(folder)
    assert (differences(folder, once), differences(folder, twice)) == ([], [])


@pytest.mark.parametrize(("first", "second"), SAMPLE)
def test_two_inputs(folder, tmp_path, first, second):
    as_from_nothing(folder, tmp_path / "again", first, second)


@pytest.mark.nightly
@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_any_two_inputs(folder, tmp_path, first, second):
    as_from_nothing(folder, tmp_path / "again", first, second)
