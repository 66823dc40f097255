"""A class at once: runs that are killed go on, nothing is lost or doubled, and the same class has the same results."""

import errno
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import psutil
import pytest
from nbgrader.api import Gradebook

from autograder import course
from autograder.book.source.release import CourseError
from autograder.course.feedback import releasable
from autograder.course.gradebook import grade_entry
from autograder.course.report import explanation
from autograder.course.run import gradebook_writer, journal
from autograder.course.run.journal import Journal
from autograder.grading import worker
from tests.autograder import tiny
from tests.autograder.course.test_operations import hand_in, make_course, run_nbgrader

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="grading others' work needs Linux")
NAME = tiny.NAME
ROOT = Path(course.__file__).resolve().parent.parent.parent
RUN = """
import sys
from autograder import course
course.grade(sys.argv[1], sys.argv[2], cell_limit=5.0, workers=2, resume=True)
"""
WRONG = ("tiny-steps", "answer = 7"), ("tiny-time", "answer = 0.5"), ("tiny-double", "def twice(x):\n    return x*x")


def submission(release, number: int):
    """One of the class: right, wrong in one exercise or more, with errors, or hardly begun."""
    answers = dict(tiny.RIGHT)
    for at, (name, wrong) in enumerate(WRONG):
        if number >> at & 1:
            answers[name] = wrong
    if number % 7 == 3:
        answers["tiny-spread"] = "answer = undefined_name"
    if number % 7 == 5:
        del answers["tiny-guess"]
    return tiny.fill(release, answers)


def make_class(root: Path, learners: int) -> Path:
    folder, release = make_course(root)
    for number in range(learners):
        hand_in(folder, f"learner{number:02d}", submission(release, number))
    return folder


def rows(folder: Path) -> list[tuple]:
    """Every row of the gradebook that a run writes, by learner and cell."""
    found = []
    with Gradebook(f"sqlite:///{folder}/gradebook.db") as gradebook:
        for sub in gradebook.assignment_submissions(NAME):
            for notebook in sub.notebooks:
                grades = [(g.name, g.auto_score, g.manual_score, g.needs_manual_grade) for g in notebook.grades]
                found += [(sub.student.id, *grade) for grade in grades]
                found += [(sub.student.id, c.name, c.auto_comment) for c in notebook.comments]
                found.append((sub.student.id, sub.score, notebook.late_submission_penalty))
    assert len(found) == len({row[:2] for row in found}), "a row is doubled"
    return sorted(found, key=str)


def written(journal: Path) -> int:
    """The lines of a journal that may not be there yet."""
    return journal.read_bytes().count(b"\n") if journal.is_file() else 0


def everything(folder: Path) -> dict[str, object]:
    """All that a run leaves: results without times, rows, notebooks, pages; not what is beside these for nbgrader's
    release, which has a secret of the course's own."""
    kept = json.loads((folder / ".gpubook" / f"{NAME}.results.json").read_text())
    for name in ("seconds", "folder", "gradebook"):
        del kept[name]
    for learner in kept["learners"]:
        del learner["feedback"]
    files = {
        str(path.relative_to(folder)): path.read_bytes()
        for part in ("autograded", "feedback")
        for path in sorted((folder / part).rglob("*"))
        if path.is_file() and not (part == "feedback" and path.name in (releasable.TIME, releasable.SECRET))
    }
    return {"results": kept, "rows": rows(folder), "files": files}


@pytest.fixture(scope="module", autouse=True)
def one_zygote(zygotes):
    with pytest.MonkeyPatch.context() as patch:
        tiny.lend(patch, zygotes())
        yield zygotes()


class Unordered(list):
    """Equal to what has the same elements."""

    __hash__ = None

    def __eq__(self, other):
        return sorted(self) == sorted(other)


def counted(monkeypatch) -> list[str]:
    """The learners who are graded from now on, with the number of results that stay."""
    graded = Unordered()
    grade = worker.Grader.grade

    def counting(self, job):
        graded.append(f"{job.learner}:{len(job.kept)}" if job.kept else job.learner)
        return grade(self, job)

    monkeypatch.setattr(worker.Grader, "grade", counting)
    return graded


def lines_of(folder: Path) -> int:
    """The lines of the run's journal: the first says that it began, then two a learner."""
    return written(folder / ".gpubook" / f"{NAME}.journal")


def kill_when(folder: Path, ready, wait: float = 0.0) -> None:
    """Start or resume a run over the class, and kill it `wait` seconds after it is `ready()`."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    run = subprocess.Popen([sys.executable, "-c", RUN, str(folder), NAME], env=environment, cwd=folder.parent)
    while run.poll() is None and not ready():
        time.sleep(0.002)
    time.sleep(wait)
    assert run.poll() is None, "it ended before it could be killed"
    run.send_signal(signal.SIGKILL)
    run.wait()


def autograded(folder: Path) -> set[str]:
    """The learners whose notebook is written."""
    return {path.parent.parent.name for path in (folder / "autograded").glob("*/*/*.ipynb")}


def goes_on_as_if_nothing_had_been(killed: Path, whole: Path, learners: int) -> None:
    with Journal.open(killed, NAME) as interrupted:
        assert not interrupted.finished
        assert 0 < len(interrupted.entries) < learners
    course.grade(killed, NAME, cell_limit=5.0, workers=2, resume=True)
    assert everything(killed) == everything(whole)


@pytest.mark.slow
def test_a_run_killed_at_its_start_amid_its_work_and_while_recording_is_the_run_that_was_not(tmp_path):
    whole, killed = make_class(tmp_path / "whole", 12), make_class(tmp_path / "killed", 12)
    course.grade(whole, NAME, cell_limit=5.0, workers=2)
    kill_when(killed, lambda: lines_of(killed) >= 1)  # it has begun, and nobody is graded
    kill_when(killed, lambda: lines_of(killed) >= 6, wait=0.1)
    before = autograded(killed)

    def recording() -> bool:
        """A learner's notebook is written, and the journal does not say yet that all of theirs is."""
        said = (killed / ".gpubook" / f"{NAME}.journal").read_text()
        return any(f'"recorded": "{learner}"' not in said for learner in autograded(killed) - before)

    kill_when(killed, recording)
    goes_on_as_if_nothing_had_been(killed, whole, 12)


@pytest.mark.nightly
@pytest.mark.slow
def test_a_run_killed_ten_times_is_the_run_that_was_not(tmp_path):
    whole, killed = make_class(tmp_path / "whole", 40), make_class(tmp_path / "killed", 40)
    course.grade(whole, NAME, cell_limit=5.0, workers=2)
    rng = random.Random(4)
    for _ in range(10):
        upto = lines_of(killed) + rng.randint(2, 7)  # then up to 0.3 s more: any step of any submission
        kill_when(killed, lambda upto=upto: lines_of(killed) >= upto, wait=rng.uniform(0, 0.3))
    goes_on_as_if_nothing_had_been(killed, whole, 40)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])
def test_a_run_that_is_stopped_ends_at_once_and_goes_on_later(tmp_path, number):
    folder, release = make_course(tmp_path)
    hand_in(folder, "ann", tiny.fill(release, tiny.RIGHT))
    loops = tiny.fill(release, tiny.RIGHT | {"tiny-steps": "print('here')\nwhile True:\n    pass"})
    hand_in(folder, "bob", loops)
    command = [sys.executable, "-m", "autograder", "grade", str(folder), NAME, "--cell-limit", "60", "--workers", "2"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    interruptible = lambda: signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever started the tests
    run = subprocess.Popen(
        command, env=environment, cwd=tmp_path, stderr=subprocess.PIPE, text=True, preexec_fn=interruptible
    )
    started: list[psutil.Process] = []
    while written(folder / ".gpubook" / f"{NAME}.journal") < 3:  # begun, ann's line, and that she is entered
        time.sleep(0.05)
        assert run.poll() is None
    started = psutil.Process(run.pid).children(recursive=True)
    assert len(started) >= 4  # zygote, judge, and bob's keeper and loop
    began = time.monotonic()
    run.send_signal(number)
    _, said = run.communicate(timeout=30)
    assert time.monotonic() - began < 10  # of the loop's 60
    assert run.returncode == 128 + number
    assert said.splitlines()[-1].endswith(f": gpubook grade {folder} {NAME} --resume")
    assert psutil.wait_procs(started, timeout=5)[1] == []
    with Journal.open(folder, NAME) as stopped:
        assert (set(stopped.entries), stopped.finished) == ({"ann"}, False)
    hand_in(folder, "bob", tiny.fill(release, tiny.RIGHT))
    result = course.grade(folder, NAME, cell_limit=60.0, resume=True)
    assert [learner.problem for learner in result.learners] == ["", ""]


@pytest.mark.slow
def test_two_runs_and_nbgrader_itself_give_the_same(tmp_path):
    folder = make_class(tmp_path, 6)
    course.grade(folder, NAME, cell_limit=5.0, workers=2)
    first = everything(folder)
    course.grade(folder, NAME, cell_limit=5.0, workers=1)
    assert everything(folder) == first
    (folder / "gradebook.db").unlink()
    course.release(folder / "source", folder / "release", NAME, f"sqlite:///{folder}/gradebook.db")
    for command in (["autograde", NAME, "--create", "--force"], ["generate_feedback", NAME, "--force"]):
        done = run_nbgrader(folder, *command)
        assert done.returncode == 0, done.stderr
    assert everything(folder) == first


def test_what_stands_is_not_graded_again(tmp_path, monkeypatch):
    folder = make_class(tmp_path, 3)
    course.grade(folder, NAME, cell_limit=5.0)
    before = everything(folder)
    graded = counted(monkeypatch)
    said: list[tuple[int, str]] = []
    course.grade(folder, NAME, cell_limit=5.0, resume=True, started=lambda *what: said.append(what))
    assert (list(graded), said) == ([], [(3, "")])
    assert everything(folder) == before

    release = nbformat.read(folder / "release" / NAME / f"{NAME}.ipynb", as_version=4)
    hand_in(folder, "learner01", submission(release, 0))
    changed = course.grade(folder, NAME, cell_limit=5.0, resume=True).changes
    assert graded == ["learner01"]
    assert {(one.learner, one.resubmitted) for one in changed} == {("learner01", True)}
    assert course.results(folder, NAME).learner("learner01").points == 10.0

    graded.clear()
    course.grade(folder, NAME, cell_limit=6.0, resume=True)  # other terms
    assert graded == ["learner00", "learner01", "learner02"]
    graded.clear()
    course.grade(folder, NAME, students=["learner02"], cell_limit=6.0)
    assert graded == ["learner02"]
    graded.clear()
    course.grade(folder, NAME, cell_limit=6.0)  # without --resume: anew
    assert len(graded) == 3


def test_a_changed_key_is_judged_again_and_nothing_else(tmp_path, monkeypatch):
    folder = make_class(tmp_path, 2)
    course.grade(folder, NAME, cell_limit=5.0)
    before = course.results(folder, NAME)
    key = folder / "exercises" / "tiny.py"
    key.write_text(tiny.EXERCISES.replace("solution=lambda n: 2*(n - 1)", "solution=lambda n: 2*n - 1"))
    explained = explanation.of(folder, NAME, "learner00/tiny-steps")
    assert (explained.key_changed, explained.recorded.points, explained.now.points) == (True, 2.0, 0.0)
    graded = counted(monkeypatch)
    changed = course.grade(folder, NAME, cell_limit=5.0, resume=True).changes
    assert graded == ["learner00:4", "learner01:4"]  # four exercises keep their results
    told = [(one.learner, one.after.exercise, one.before.points, one.after.points, one.resubmitted) for one in changed]
    assert told == [("learner00", "tiny-steps", 2.0, 0.0, False)]
    now = course.results(folder, NAME)
    for learner in now.learners:
        assert {r.exercise: r.points for r in learner.results}["tiny-steps"] == 0.0
        others = [r for r in before.learner(learner.name).results if r.exercise != "tiny-steps"]
        assert [r for r in learner.results if r.exercise != "tiny-steps"] == others
    with Gradebook(f"sqlite:///{folder}/gradebook.db") as gradebook:
        assert gradebook.find_submission(NAME, "learner00").score == now.learner("learner00").points == 8.0


def test_an_earlier_run_that_was_cut_short_is_mentioned(tmp_path, monkeypatch):
    folder = make_class(tmp_path, 3)
    said: list[str] = []

    def stop(name):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        course.grade(folder, NAME, progress=stop, cell_limit=5.0, workers=1)
    assert not (folder / ".gpubook" / f"{NAME}.results.json").exists()
    graded = counted(monkeypatch)
    course.grade(folder, NAME, cell_limit=5.0, resume=True, started=lambda _, remark: said.append(remark))
    assert len(said) == 1
    assert f"{NAME} " in said[0]
    assert "1 graded" in said[0]
    assert "--resume" not in said[0]
    assert len(graded) == 2
    with pytest.raises(KeyboardInterrupt):
        course.grade(folder, NAME, progress=stop, cell_limit=5.0, workers=1)
    course.grade(folder, NAME, cell_limit=5.0, started=lambda _, remark: said.append(remark))
    assert re.search("1 graded.*--resume", said[-1])
    course.grade(folder, NAME, cell_limit=5.0, resume=True, started=lambda _, remark: said.append(remark))
    assert said[-1] == ""


def test_one_run_at_a_time(tmp_path):
    folder = make_class(tmp_path, 1)
    with Journal.open(folder, NAME), pytest.raises(CourseError, match=f"{NAME} .*another run"):
        course.grade(folder, NAME)


def test_a_locked_database_loses_nothing(tmp_path, monkeypatch):
    folder = make_class(tmp_path, 2)
    monkeypatch.setattr(grade_entry, "PATIENCE", 0.3)
    record = gradebook_writer.GradebookWriter.record
    other = sqlite3.connect(folder / "gradebook.db")

    def locked(self, learner, text):
        if learner == "learner01":
            other.execute("BEGIN EXCLUSIVE")
        return record(self, learner, text)

    monkeypatch.setattr(gradebook_writer.GradebookWriter, "record", locked)
    with pytest.raises(CourseError, match=r"gradebook\.db: database is locked.* --resume"):
        course.grade(folder, NAME, cell_limit=5.0, workers=1)
    other.rollback()
    other.close()
    monkeypatch.setattr(gradebook_writer.GradebookWriter, "record", record)
    graded = counted(monkeypatch)
    result = course.grade(folder, NAME, cell_limit=5.0, resume=True)
    assert list(graded) == []
    assert [learner.problem for learner in result.learners] == ["", ""]
    assert len([row for row in rows(folder) if len(row) == 5]) == 2 * len(tiny.IDS)


@pytest.mark.parametrize("where", ["notebook", "line"])
def test_a_full_disk_is_named_and_loses_nothing(tmp_path, monkeypatch, where):
    folder = make_class(tmp_path, 3)
    keep, write = Journal.keep, os.write
    full: list[str] = []

    def filling(self, learner, fingerprint, outcome):
        if learner == "learner01":
            full.append(learner)
        return keep(self, learner, fingerprint, outcome)

    def no_room(handle, data):
        if full and data.startswith(b'{"learner"'):
            write(handle, data[:50])
            raise OSError(28, "No space left on device")
        return write(handle, data)

    def no_file(path, text, mode=0o600):
        if full:
            raise OSError(28, "No space left on device", str(path))
        return whole(path, text, mode)

    whole = journal.write_whole
    with monkeypatch.context() as patch:
        patch.setattr(Journal, "keep", filling)
        if where == "line":
            patch.setattr(os, "write", no_room)
        else:
            patch.setattr(journal, "write_whole", no_file)
        with pytest.raises(CourseError, match=rf"{os.strerror(errno.ENOSPC)}.*--resume"):
            course.grade(folder, NAME, cell_limit=5.0, workers=1)
    graded = counted(monkeypatch)
    result = course.grade(folder, NAME, cell_limit=5.0, resume=True)
    assert graded == ["learner01", "learner02"]
    assert all(learner.results and not learner.problem for learner in result.learners)


def test_a_line_that_was_cut_short_is_none(tmp_path):
    folder = make_class(tmp_path, 2)
    course.grade(folder, NAME, cell_limit=5.0)
    path = folder / ".gpubook" / f"{NAME}.journal"
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"learner": "learner00", "fingerprint": {"subm')
    with Journal.open(folder, NAME) as read:
        assert set(read.entries) == set(read.recorded) == {"learner00", "learner01"}
    assert path.read_bytes() == whole
