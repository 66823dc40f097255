"""The gradebook in PostgreSQL: the same grades, and a clear word where the database cannot be used."""

import os
import sys
import warnings
from datetime import datetime

import nbformat
import pytest

from autograder import course
from autograder.book.source.release import CourseError
from autograder.course import export, gradebook, gradebook_url, layout
from autograder.course.assigning import instructor_notebook
from tests.autograder import postgres, tiny
from tests.autograder.course.test_operations import hand_in, run_nbgrader
from tests.autograder.exchange import submitted_at

NAME = tiny.NAME


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("postgresql://u@h/d", "postgresql+psycopg://u@h/d"),
        ("postgres://u@h/d", "postgresql+psycopg://u@h/d"),
        ("postgresql+psycopg2://u@h/d", "postgresql+psycopg2://u@h/d"),
        ("sqlite:////tmp/x.db", "sqlite:////tmp/x.db"),
    ],
)
def test_the_driver_is_named(given, used):
    assert gradebook_url.driver(given) == used


def test_a_password_is_never_shown():
    assert gradebook_url.location("postgresql+psycopg://u:secret@h/d") == "postgresql+psycopg://u:***@h/d"
    assert gradebook_url.location("sqlite:////tmp/x.db") == "/tmp/x.db"


def test_a_database_that_cannot_be_opened_is_named_without_its_password(tmp_path):
    pytest.importorskip("psycopg", reason="the driver is not installed: pip install 'gpubook[postgres]'")
    url = f"postgresql://u:secret@/d?host={tmp_path}"
    with pytest.raises(CourseError, match=r"u:\*\*\*@/d.*: connection") as caught:
        layout.init(tmp_path / "course", url)
    assert "secret" not in str(caught.value)
    assert not (tmp_path / "course").exists()


@pytest.mark.parametrize("url", ["nonsense", "http://x", "postgresql+nodriver://u@h/d"])
def test_a_url_that_is_none_is_refused(tmp_path, url):
    with pytest.raises(CourseError, match=r"URL is invalid|Can.t load plugin"):
        layout.init(tmp_path / "course", url)


def test_without_the_driver_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(CourseError, match=r"pip install 'gpubook\[postgres\]'"):
        layout.init(tmp_path / "course", "postgresql://u@h/d")


def test_a_course_that_is_there_keeps_its_gradebook(tmp_path):
    layout.init(tmp_path)
    with pytest.raises(CourseError, match=r"nbgrader_config\.py .* c\.CourseDirectory\.db_url"):
        layout.init(tmp_path, "postgresql://u@h/d")


@pytest.fixture(scope="module")
def server():
    if why := postgres.missing():
        if os.environ.get("REQUIRE_POSTGRES") == "1":
            pytest.fail(f"REQUIRE_POSTGRES=1, but {why}")
        pytest.skip(why)
    with postgres.server() as url:
        yield url


def run_class(folder, db_url=None):
    """A course of one assignment, its class graded, one grade given by hand; what its gradebook holds."""
    layout.init(folder, db_url)
    (folder / "exercises" / "tiny.py").write_text(tiny.EXERCISES)
    released = course.assign(folder, NAME, exercises=list(tiny.IDS))
    config = folder / "nbgrader_config.py"
    config.write_text(config.read_text().replace("# c.AssignLate", "c.AssignLate").replace("# c.Late", "c.Late"))
    nb = nbformat.read(released, as_version=4)
    hand_in(folder, "ann", tiny.fill(nb, tiny.RIGHT))
    hand_in(folder, "Ōta, née =1", tiny.fill(nb, tiny.RIGHT | {"tiny-time": "answer = 0.5"}))
    hand_in(folder, "bob", nb)
    hand_in(folder, "dan", "{not json")
    submitted_at(folder, "ann", NAME, "2030-01-03 12:00:00 UTC")
    gradebook.set_due(gradebook.url_of(folder), NAME, datetime(2030, 1, 1, 13))
    result = course.grade(folder, NAME)
    with warnings.catch_warnings(), gradebook_url.opened(gradebook.url_of(folder)) as book:
        warnings.simplefilter("ignore")
        book.find_grade("tiny-steps-grade", NAME, NAME, "bob").manual_score = 1.5
        book.db.commit()
    course.drop(folder, NAME, "tiny-guess")
    return result, gradebook.scores(folder)


@pytest.mark.slow
def test_the_same_class_gets_the_same_grades(server, tmp_path, zygotes):
    with pytest.MonkeyPatch.context() as patch:
        tiny.lend(patch, zygotes())
        ours, in_file = run_class(tmp_path / "file")
        theirs, in_server = run_class(tmp_path / "server", postgres.new_database(server, "grades"))
    assert in_server == in_file
    assert [score.score for score in in_file[NAME]] == pytest.approx([7.2, 1.5, 6.0])
    assert in_file[NAME][0].late_penalty == pytest.approx(1.8)  # two days begun, a tenth of the score each
    assert theirs.learners[0].results == ours.learners[0].results
    assert theirs.gradebook.startswith("postgresql+psycopg://gpubook@/grades")
    assert ours.gradebook == str(tmp_path / "file" / "gradebook.db")
    assert not (tmp_path / "server" / "gradebook.db").exists()
    sheet = tmp_path / "sheet.csv"
    sheet.write_text("Identifier,ID number,Grade,Feedback comments\nParticipant 1,ann,,\nParticipant 2,bob,,\n")
    for form in export.FORMATS:
        worksheet = sheet if form == "moodle" else None
        file = export.table(tmp_path / "file", (), form, worksheet=worksheet)
        assert "7.2" in file.text
        assert export.table(tmp_path / "server", (), form, worksheet=worksheet).text == file.text


@pytest.mark.slow
def test_nbgraders_own_commands_use_the_same_database(server, tmp_path):
    folder = tmp_path / "course"
    layout.init(folder, postgres.new_database(server, "commands"))
    (folder / "exercises" / "tiny.py").write_text(tiny.EXERCISES)
    instructor_notebook.stage(folder, NAME, exercises=["tiny-time", "tiny-steps"])
    done = run_nbgrader(folder, "generate_assignment", NAME)
    assert done.returncode == 0, done.stderr
    release = nbformat.read(folder / "release" / NAME / f"{NAME}.ipynb", as_version=4)
    hand_in(folder, "ann", tiny.fill(release, {"tiny-steps": "answer = 14"}))
    done = run_nbgrader(folder, "autograde", NAME, "--create")
    assert done.returncode == 0, done.stderr
    assert [(s.person.id, s.score, s.max_score) for s in gradebook.scores(folder)[NAME]] == [("ann", 2.0, 5.0)]
