"""What stands where in a course: its configuration, its releases and the texts beside them."""

import pytest

from autograder.book.course_error import CourseError
from autograder.course import layout
from autograder.course.agreements import extensions
from autograder.course.gradebook_url import driver, first_line, location


def test_texts_beside_a_release_are_those_that_its_cells_may_read(tmp_path):
    release = tmp_path / "hw.ipynb"
    kept = {
        "data.csv": b"a,b\n",
        "more/own.py": b"x = 1\n",
        "full.txt": b"x" * layout.MOST_TEXT,
        "a.exercises.json": b"{}",
    }
    others = {
        "hw.ipynb": b"{}",
        "other.ipynb": b"{}",
        "exercises.json": b"{}",
        ".hidden": b"x",
        ".git/config": b"x",
        "binary": b"\xff\xfe",
        "large.txt": b"x" * (layout.MOST_TEXT + 1),
    }
    for name, content in (kept | others).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    assert layout.texts_beside(release) == {name: content.decode() for name, content in kept.items()}


def test_a_release_that_never_was_lists_those_that_were(tmp_path):
    with pytest.raises(CourseError, match="assignments: none"):
        layout.released(tmp_path, "hw")
    (tmp_path / "release" / "hw1").mkdir(parents=True)
    (tmp_path / "release" / "hw1" / "hw1.ipynb").write_text("{}")
    (tmp_path / "release" / "notes.txt").write_text("")
    assert layout.released(tmp_path, "hw1").name == "hw1.ipynb"
    with pytest.raises(CourseError, match=r"assignments: hw1\)"):
        layout.released(tmp_path, "hw")


def test_a_folder_without_a_configuration_is_no_course(tmp_path):
    with pytest.raises(CourseError, match="is not a course"):
        layout.read_config(tmp_path)
    (tmp_path / layout.CONFIG_FILE).write_text("c = get_config()\n")
    assert layout.read_config(tmp_path).CourseDirectory.root == str(tmp_path)


@pytest.mark.parametrize(
    ("roster", "submitted", "asked", "unknown"),
    [
        ({"ann"}, {"bob"}, ["ann", "bob"], ""),
        ({"ann"}, {"bob"}, ["ann", "cy"], "cy"),
        ({"ann"}, set(), ["ana"], "did you mean ann"),
        (set(), {"bob"}, ["cy"], ""),  # a course without a roster takes anybody
    ],
)
def test_a_course_knows_its_roster_and_who_has_submitted(tmp_path, monkeypatch, roster, submitted, asked, unknown):
    monkeypatch.setattr(extensions, "known_learners", lambda _: (roster, submitted))
    if not unknown:
        assert extensions.check_learners(tmp_path, asked) is bool(roster)
        return
    with pytest.raises(CourseError, match=unknown):
        extensions.check_learners(tmp_path, asked)


def test_a_database_is_shown_without_its_password():
    assert driver("postgres://ada@host/db") == driver("postgresql://ada@host/db") == "postgresql+psycopg://ada@host/db"
    assert driver("sqlite:///x.db") == "sqlite:///x.db"
    assert location("sqlite:////course/gradebook.db") == "/course/gradebook.db"
    assert "secret" not in location("postgresql+psycopg://ada:secret@host/db")
    wrapped = ValueError("outer\nstatement")
    assert first_line(wrapped) == "outer"
    wrapped.orig = OSError("inner\nmore")
    assert first_line(wrapped) == "inner"
