"""What this package wrote itself is read as if anybody had changed it since: no link, no name in it leads elsewhere."""

import json
import os
from types import SimpleNamespace

import pytest

from autograder.book.course_error import CourseError
from autograder.course.run.gradebook_writer import GradebookWriter
from autograder.course.run.journal import Journal, finished_entries
from autograder.course.terms import group_shares
from autograder.learner import notebook_file
from autograder.values import own_folder
from autograder.values.atomic_write import write_whole
from autograder.values.own_folder import LinkInTheWay, own, refuse_links

ELSEWHERE = ("../../thesis.ipynb", "/etc/passwd", "..", "a/b.ipynb", ".hidden.ipynb", "", "a\0.ipynb", 3, None)


def everything(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture
def course(tmp_path):
    """A course's folder, and a thesis beside it."""
    (tmp_path / "thesis.ipynb").write_text("years")
    (tmp_path / "course" / ".gpubook").mkdir(parents=True)
    return tmp_path / "course"


def journal_line(notebook, learner="ann"):
    fingerprint = {"submission": "", "release": "", "keys": {}}
    line = {"learner": learner, "fingerprint": fingerprint, "results": [], "problems": [], "notebook": notebook}
    return json.dumps(line) + "\n"


@pytest.mark.parametrize("notebook", ELSEWHERE)
def test_a_journal_names_no_notebook_elsewhere(course, notebook):
    path = course / ".gpubook" / "week1.journal"
    path.write_text(journal_line(notebook))
    before = everything(course.parent)
    for read in (lambda: Journal.open(course, "week1"), lambda: finished_entries(course, "week1")):
        with pytest.raises(CourseError, match=r"week1\.journal: .*move it away"):
            read()
    assert everything(course.parent) == before


def test_a_journal_names_the_notebooks_that_it_wrote(course):
    (course / ".gpubook" / "week1.journal").write_text(journal_line("0a1f.ipynb"))
    assert finished_entries(course, "week1")["ann"].notebook == "0a1f.ipynb"


@pytest.mark.parametrize("learner", ["../../..", "/etc", "..", "a/b", ""])
@pytest.mark.parametrize("part", ["who", "by"])
def test_what_was_shared_names_no_folder_elsewhere(course, learner, part):
    names = {"who": "ann", "by": "bob"} | {part: learner}
    share = {"by": names["by"], "notebook": "", "given": {}, "lateness": None}
    (course / ".gpubook" / "week1.shared.json").write_text(json.dumps({names["who"]: share}))
    with pytest.raises(CourseError, match=r"week1\.shared\.json|learner"):
        group_shares.read(course, "week1")


WRITES = {
    "write_whole": lambda path: write_whole(path, "ours"),
    "notebook_file.write": lambda path: notebook_file.write(path, b"ours"),
    "opened": lambda path: os.close(own_folder.opened(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)),
    "remove": own_folder.remove,
}


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("level", ["", "a", "a/b"])
def test_a_link_that_is_put_there_after_the_look_is_not_followed(course, name, level):
    elsewhere = course.parent / "elsewhere"
    inside = own(course, level) if level else own(course)
    path = own(course, "a", "b", "thesis.json")
    for home in (path.parent, elsewhere / path.parent.relative_to(inside)):
        home.mkdir(parents=True)
        (home / "thesis.json").write_text("years")
    os.rename(inside, course.parent / "moved")
    inside.symlink_to(elsewhere)
    before = everything(elsewhere)
    with pytest.raises(LinkInTheWay) as raised:
        WRITES[name](path)
    assert raised.value.link == inside
    assert everything(elsewhere) == before


@pytest.mark.parametrize("name", WRITES)
def test_a_link_in_the_place_of_a_file_keeps_what_it_leads_to(course, name):
    path = own(course, "a.json")
    path.symlink_to(course.parent / "thesis.ipynb")
    if name == "opened":
        with pytest.raises(LinkInTheWay):
            WRITES[name](path)
    else:
        WRITES[name](path)
    assert (course.parent / "thesis.ipynb").read_text() == "years"


@pytest.mark.parametrize("inside", ["a", "editions/03-rooflines/exercises.json"])
def test_a_pipe_among_our_own_files_stops_nothing(course, inside):
    path = course / ".gpubook" / inside
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)
    with pytest.raises(LinkInTheWay, match="neither a file nor a folder"):
        refuse_links(course)


@pytest.mark.parametrize("link", ["vic", "vic/week1"])
def test_nothing_is_removed_behind_a_link_in_autograded_or_feedback(course, link):
    for part in ("autograded", "feedback"):
        (course / part / link).parent.mkdir(parents=True)
        (course / part / link).symlink_to(course.parent)
    before = everything(course.parent)
    writer = SimpleNamespace(
        folder=course, name="week1", _notebook=lambda learner: course / "autograded" / learner / "week1" / "week1.ipynb"
    )
    for write in (
        lambda: GradebookWriter._write(writer, "vic", "{}", "vic"),
        lambda: GradebookWriter._write_page(writer, "vic", None, {"nbgrader": {}}),
    ):
        with pytest.raises(LinkInTheWay):
            write()
    assert everything(course.parent) == before
