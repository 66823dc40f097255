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


@pytest.mark.parametrize("there", [False, True])
def test_a_course_is_a_folder_with_a_configuration_for_its_teacher_alone(tmp_path, there):
    folder = tmp_path / "term" / "gpu"
    if there:
        folder.mkdir(parents=True, mode=0o755)
        folder.chmod(0o755)
    new = layout.init(folder)
    assert new == [*(folder / name for name in layout.FOLDERS), folder / layout.CONFIG_FILE]
    assert {path.stat().st_mode & 0o777 for path in new[:-1]} == {0o700}
    assert folder.stat().st_mode & 0o777 == (0o755 if there else 0o700)  # a teacher's own rights stay
    config = layout.read_config(folder)
    assert config.CourseDirectory.course_id == "gpu"
    assert "db_url" not in config.CourseDirectory
    assert (folder / layout.CONFIG_FILE).stat().st_mode & 0o111 == 0


def test_a_course_may_be_completed_and_keeps_what_is_there(tmp_path):
    layout.init(tmp_path)
    (tmp_path / "exercises").rmdir()
    config = tmp_path / layout.CONFIG_FILE
    config.write_text(f"{config.read_text()}# mine\n")
    assert layout.init(tmp_path) == [tmp_path / "exercises"]
    assert config.read_text().endswith("# mine\n")
    assert layout.init(tmp_path) == []


def test_a_course_is_no_file(tmp_path):
    (tmp_path / "course").write_text("")
    with pytest.raises(CourseError, match="course is a file; a folder"):
        layout.init(tmp_path / "course")


def test_a_gradebook_may_be_elsewhere_and_its_url_is_the_teachers_alone(tmp_path):
    url = f"sqlite:///{tmp_path}/elsewhere.db"
    layout.init(tmp_path / "course", url)
    path = tmp_path / "course" / layout.CONFIG_FILE
    assert layout.read_config(tmp_path / "course").CourseDirectory.db_url == url
    assert path.stat().st_mode & 0o777 == 0o600
    before = path.read_text()
    with pytest.raises(CourseError, match="already exists: set"):
        layout.init(tmp_path / "course", url)
    assert path.read_text() == before


def test_a_gradebook_that_cannot_be_opened_leaves_no_course(tmp_path):
    with pytest.raises(CourseError, match="URL is invalid"):
        layout.init(tmp_path / "course", "no url")
    assert not (tmp_path / "course").exists()


def test_a_cell_reads_a_text_of_a_mebibyte_at_most():
    assert layout.MOST_TEXT == 2**20
