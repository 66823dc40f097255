"""Whatever determines a grade, the notebook or anything beside it: once it has changed, `--resume` gives what a run
from nothing gives, and where no answer is concerned no cell runs."""

import re
import shutil
import sys
from datetime import datetime

import nbformat
import pytest
from click.testing import CliRunner
from nbgrader.api import Gradebook

from autograder import course
from autograder.cli import commands
from autograder.course import gradebook
from autograder.course.agreements import extensions, learner_groups
from autograder.course.terms.agreed_terms import Extension
from autograder.grading import worker
from tests.autograder import tiny
from tests.autograder.course.test_operations import hand_in
from tests.autograder.exchange import submitted_at

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="grading others' work needs Linux"),
]
ASKED = ["tiny-steps", "tiny-time"]
DUE = datetime(2030, 1, 1)
IN_TIME, DAY_LATE, TWO_LATE = (f"20{day} 12:00:00.000000 UTC" for day in ("29-12-31", "30-01-01", "30-01-02"))
LATE = ("corrected", "unknown", "longer", "one", "alone")
CLASS = ("again", "known", "corrected", "unknown", "trusted", "by-hand", "longer", "one", "other", "alone")


@pytest.fixture(scope="module")
def graded(tmp_path_factory, zygotes):
    """A class that was graded: every learner is a case, named by what will change for the learner."""
    folder = tmp_path_factory.mktemp("resumed") / "course"
    course.init(folder)
    (folder / "exercises" / "tiny.py").write_text(tiny.EXERCISES)
    config = folder / "nbgrader_config.py"
    config.write_text(config.read_text().replace("# c.AssignLate", "c.AssignLate").replace("# c.Late", "c.Late"))
    course.assign(folder, "hw", exercises=ASKED, due=DUE)
    with Gradebook(gradebook.url_of(folder)) as book:
        for who in CLASS:
            book.add_student(who)
    for who in CLASS:
        submit(folder, who)
    for who in ("corrected", "unknown", "longer", "one", "alone"):
        submitted_at(folder, who, "hw", DAY_LATE)
    submitted_at(folder, "other", "hw", IN_TIME)
    stamp(folder, "trusted").write_text(DAY_LATE)
    with pytest.MonkeyPatch.context() as patch:
        tiny.lend(patch, zygotes())
        course.grade(folder, "hw")
        yield folder


@pytest.fixture
def folder(graded, tmp_path):
    """A copy of it, to change."""
    copy = tmp_path / "course"
    shutil.copytree(graded, copy)
    config = copy / "nbgrader_config.py"
    config.write_text(config.read_text().replace(str(graded), str(copy)))
    return copy


@pytest.fixture
def ran(monkeypatch):
    """The learners whose cells run, or whose answers are judged, from now on."""
    learners: list[str] = []
    grade = worker.Grader.grade

    def counting(self, job):
        learners.append(job.learner)
        return grade(self, job)

    monkeypatch.setattr(worker.Grader, "grade", counting)
    return learners


def submit(folder, who, **answers):
    release = nbformat.read(folder / "release" / "hw" / "hw.ipynb", as_version=4)
    hand_in(folder, who, tiny.fill(release, tiny.RIGHT | answers), name="hw")


def stamp(folder, who):
    return folder / "submitted" / who / "hw" / "timestamp.txt"


def standing(folder):
    """By learner: time, points, penalty, score, the points of each exercise, and the feedback page."""
    result = course.results(folder, "hw")
    each = {one.name: [(r.exercise, r.points, r.max_points, r.say) for r in one.results] for one in result.learners}
    pages = folder / "feedback"
    return {
        one.person.id: (
            one.submitted,
            one.raw,
            one.max_score,
            round(one.late_penalty, 6),
            one.due,
            each[one.person.id],
            (pages / one.person.id / "hw" / "hw.html").read_text(),
        )
        for one in gradebook.scores(folder, ["hw"])["hw"]
        if one.graded
    }


def from_nothing(folder, **how):
    """The same course, of which nothing is graded: what a run over it gives."""
    fresh = folder.with_name("fresh")
    shutil.copytree(folder, fresh)
    config = fresh / "nbgrader_config.py"
    config.write_text(config.read_text().replace(str(folder), str(fresh)))
    for part in ("journal", "results.json", "shared.json"):
        (fresh / ".gpubook" / f"hw.{part}").unlink(missing_ok=True)
    for part in ("autograded", "feedback", ".gpubook/hw.graded"):
        shutil.rmtree(fresh / part, ignore_errors=True)
    with Gradebook(gradebook.url_of(fresh)) as book:
        for one in book.assignment_submissions("hw"):
            book.remove_submission("hw", one.student.id)
    course.grade(fresh, "hw", **how)
    return standing(fresh)


def is_as_from_nothing(folder, **how):
    now, expected = standing(folder), from_nothing(folder, **how)
    assert {who for who in now.keys() | expected.keys() if now.get(who) != expected.get(who)} == set()


def late(result):
    """Who loses other points for being late than after the run before."""
    return {one.learner: (round(one.before, 6), round(one.after, 6)) for one in result.late_changes}


def test_what_concerns_one_learner(folder, ran):
    submit(folder, "again", **{"tiny-steps": "answer = 1"})
    submitted_at(folder, "known", "hw", DAY_LATE)
    submitted_at(folder, "corrected", "hw", TWO_LATE)
    stamp(folder, "unknown").unlink()
    stamp(folder, "by-hand").write_text(TWO_LATE)  # the teacher, who trusts it from now on
    extensions.extend(folder, "hw", ["longer"], Extension(days=1))
    learner_groups.form(folder, "hw", {"A": ["one", "other"]})
    result = course.grade(folder, "hw", resume=True, trust_timestamps=True)
    assert ran == ["again"]
    assert late(result) == {
        "known": (0.0, 0.5),
        "corrected": (0.5, 1.0),
        "unknown": (0.5, 0.0),
        "trusted": (0.0, 0.5),
        "by-hand": (0.0, 1.0),
        "longer": (0.5, 0.0),
        "other": (0.0, 0.5),
    }
    assert {one.learner for one in result.changes} == {"again"}
    is_as_from_nothing(folder, trust_timestamps=True)
    now = standing(folder)
    assert points_off(folder) == {who: one[3] for who, one in now.items() if one[3]}  # the trust is remembered
    again = course.grade(folder, "hw", resume=True, trust_timestamps=True)
    assert (late(again), standing(folder)) == ({}, now)
    untrusted = course.grade(folder, "hw", resume=True)
    assert late(untrusted) == {"trusted": (0.5, 0.0), "by-hand": (1.0, 0.0)}


def points_off(folder, *how):
    """By learner, as `gpubook course late` says them."""
    done = CliRunner().invoke(commands.main, ["course", "late", str(folder), "hw", *how], catch_exceptions=False)
    lines = [line.removesuffix(" points off").split(": ") for line in done.stdout.splitlines()]
    return {who: float(points) for who, points in lines}


def test_late_work_is_read_anew_without_a_run(folder, ran):
    before = points_off(folder)
    assert before == dict.fromkeys(LATE, 0.5)
    submitted_at(folder, "known", "hw", DAY_LATE)
    submitted_at(folder, "corrected", "hw", TWO_LATE)
    stamp(folder, "unknown").unlink()
    submitted_at(folder, "longer", "hw", "2030-01-32")  # which is no time
    done = CliRunner().invoke(commands.main, ["course", "late", str(folder), "hw"])
    assert re.search(r"^Note: .*longer/hw/timestamp\.txt: '2030-01-32'", done.stderr, re.M)
    assert re.search(r"^Note: .* of trusted: .*--trust-timestamps", done.stderr, re.M)
    after = before | {"known": 0.5, "corrected": 1.0}
    del after["unknown"]
    assert points_off(folder) == after
    assert points_off(folder, "--trust-timestamps") == after | {"trusted": 0.5}
    submitted_at(folder, "again", "hw", DAY_LATE)
    course.show_feedback(folder, "hw")
    assert "Handed in late" in (folder / "feedback" / "again" / "hw" / "hw.html").read_text()
    assert ran == []


def set_rule(folder, before, after):
    config = folder / "nbgrader_config.py"
    assert before in config.read_text()
    config.write_text(config.read_text().replace(before, after))


def correct_the_key(folder):
    declared = folder / "exercises" / "tiny.py"
    declared.write_text(declared.read_text().replace("solution=lambda n: 2*(n - 1)", "solution=lambda n: 2*n - 1"))


@pytest.mark.parametrize(
    ("change", "judged", "after"),
    [
        (lambda f: set_rule(f, "fraction = 0.1", "fraction = 0.2"), set(), dict.fromkeys(LATE, (0.5, 1.0))),
        (lambda f: set_rule(f, "grace = 15.0", "grace = 720.0"), set(), dict.fromkeys(LATE, (0.5, 0.0))),
        (lambda f: set_rule(f, "c.AssignLatePenalties.plugin_class", "# "), set(), dict.fromkeys(LATE, (0.5, 0.0))),
        (
            lambda f: gradebook.set_due(gradebook.url_of(f), "hw", datetime(2029, 12, 31, 1)),
            set(),
            dict.fromkeys(LATE, (0.5, 1.0)) | {"other": (0.0, 0.5)},
        ),
        (
            lambda f: course.assign(f, "hw", exercises=ASKED, points={"tiny-steps": 7}),
            set(),
            dict.fromkeys(LATE, (0.5, 1.0)),
        ),
        (correct_the_key, set(CLASS), dict.fromkeys(LATE, (0.5, 0.3))),
        (lambda f: None, set(), {}),
    ],
    ids=["fraction", "grace", "no-rule", "deadline", "points", "key", "nothing"],
)
def test_what_concerns_everybody(folder, ran, change, judged, after):
    change(folder)
    result = course.grade(folder, "hw", resume=True)
    assert set(ran) == judged
    assert late(result) == after
    is_as_from_nothing(folder)
