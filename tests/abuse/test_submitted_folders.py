"""Submitted folders with more in them than a notebook: each is refused by name, and the others are graded."""

import errno
import json
import os
import socket
import stat

import pytest

from autograder import course
from autograder.course.run import gradebook_writer
from autograder.course.submissions import submission_folders
from autograder.grading.restore import SubmissionError
from tests.autograder import tiny
from tests.autograder.course.test_operations import NAME, hand_in, make_course, run_nbgrader, scores

from .course import SECRET


def link(folder):
    (folder / "notes.txt").symlink_to(folder.parent.parent.parent / "gradebook.db")


def link_to_a_folder(folder):
    (folder / "data").symlink_to("/etc")


def pipe(folder):
    os.mkfifo(folder / "timestamp.txt")


def notebook_pipe(folder):
    (folder / f"{NAME}.ipynb").unlink()
    os.mkfifo(folder / f"{NAME}.ipynb")


def sock(folder):
    here = os.getcwd()
    os.chdir(folder)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("data.sock")
    os.chdir(here)


def device(folder):
    try:
        os.mknod(folder / "data", 0o600 | stat.S_IFCHR, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("only root makes devices")


def deep(folder):
    for _ in range(60):
        folder /= "a"
    folder.mkdir(parents=True)


def many(folder):
    for number in range(submission_folders.MAX_FILES + 1):
        (folder / str(number)).touch()


def large(folder):
    with open(folder / "archive.zip", "wb") as file:
        file.truncate(1 << 40)  # holds nothing, but says it is a terabyte


def large_notebook(folder):
    (folder / f"{NAME}.ipynb").write_text(json.dumps({"nbformat": 4, "cells": [], "metadata": {"x": "x" * (21 << 20)}}))


def odd_name(folder):
    os.symlink("/etc/passwd", os.fsencode(folder / "a") + b"\xff\n\x1b[31m<script>")


def deep_json(folder):
    (folder / f"{NAME}.ipynb").write_text('{"nbformat": 4, "cells": ' + "[" * 10**6)


def brackets(folder):
    (folder / f"{NAME}.ipynb").write_text('{"nbformat": 4, "cells": [' + "[]," * 700_000 + "[]]}")


def long_number(folder):
    (folder / f"{NAME}.ipynb").write_text('{"nbformat": ' + "4" * 10**6 + ', "cells": []}')


FOLDERS = [link, link_to_a_folder, pipe, notebook_pipe, sock, device, deep, many, large, large_notebook, odd_name,
           deep_json, brackets, long_number]  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "submitted" / "mallory" / NAME
    made.mkdir(parents=True)
    (tmp_path / "gradebook.db").write_text(SECRET)
    (made / f"{NAME}.ipynb").write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "cells": [], "metadata": {}}))
    return made


def test_a_notebook_and_its_files_are_read(folder):
    (folder / "data" / "inner").mkdir(parents=True)
    (folder / "data" / "inner" / "x.csv").write_text("1,2")
    (folder / "timestamp.txt").write_text("2027-02-01 22:00:00 UTC")
    assert submission_folders.read(folder)["cells"] == []


@pytest.mark.parametrize("odd", FOLDERS, ids=lambda odd: odd.__name__)
def test_what_is_odd_is_refused_by_name(folder, odd):
    odd(folder)
    with pytest.raises(SubmissionError, match=r"expected|beyond the limits") as refused:
        submission_folders.read(folder)
    said = str(refused.value)
    assert str(folder)[-50:] in said or odd is deep
    assert said.isprintable()
    assert len(said) < 1000
    assert SECRET not in said


def files_are_inert(folder):
    assert (folder / "page.html.txt").read_text() == "<script>"
    assert (folder / "figure.svg").read_text() == "the teacher's"
    assert not (folder / "page.html").exists()


def test_a_class_with_all_of_them_is_graded(tmp_path, monkeypatch, zygotes):
    """With `gpubook grade`, and with `nbgrader autograde`: who is honest has what is due, nobody else anything."""
    root, release = make_course(tmp_path)
    honest = tiny.fill(release, tiny.RIGHT)
    for odd in FOLDERS:
        hand_in(root, odd.__name__, honest)
        odd(root / "submitted" / odd.__name__ / NAME)
    hand_in(root, "ann", honest)
    (root / "submitted" / "ann" / NAME / "page.html").write_text("<script>")
    (root / "submitted" / "ann" / NAME / "figure.svg").write_text("<script>")
    (root / "source" / NAME / "figure.svg").write_text("the teacher's")
    tiny.lend(monkeypatch, zygotes())
    result = course.grade(root, NAME)
    files_are_inert(root / "autograded" / "ann" / NAME)
    assert "page.html.txt" in (root / "feedback" / "ann" / NAME / f"{NAME}.html").read_text()
    problems = {learner.name: learner.problem for learner in result.learners}
    assert {name for name, problem in problems.items() if not problem} == {"ann"}
    assert scores(root) == {"ann": 10.0}
    assert not list((root / "autograded").rglob("notes.txt"))
    for odd in FOLDERS:
        assert not (root / "feedback" / odd.__name__).exists()
    done = run_nbgrader(root, "autograde", NAME, "--create", "--force")
    assert done.returncode != 0
    files_are_inert(root / "autograded" / "ann" / NAME)
    assert scores(root).get("ann") == 10.0
    assert sum(scores(root).values()) == 10.0
    assert f"{NAME}.ipynb" in [path.name for path in (root / "autograded" / "ann").rglob("*")]
    assert not list((root / "autograded").rglob("notes.txt"))


def files(folder, *names):
    """`folder` with the notebook and these files, and nothing else."""
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.name != f"{NAME}.ipynb":
            path.unlink() if path.is_file() else path.rmdir()
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)


def test_a_file_of_holes_takes_no_more_place_as_a_copy(tmp_path):
    for name, pieces in {
        "holes": [(3 << 20, b"x"), (40 << 20, b"y" * 5000)],
        "full": [(0, os.urandom(3 << 20))],
    }.items():
        with open(tmp_path / name, "wb") as file:
            for at, data in pieces:
                file.seek(at)
                file.write(data)
        if name == "holes":
            os.truncate(tmp_path / name, 64 << 20)
        gradebook_writer.copy_file(tmp_path / name, tmp_path / "copy")
        assert (tmp_path / "copy").read_bytes() == (tmp_path / name).read_bytes()
        assert (tmp_path / "copy").stat().st_blocks <= (tmp_path / name).stat().st_blocks + 16
    (tmp_path / "empty").touch()
    gradebook_writer.copy_file(tmp_path / "empty", tmp_path / "copy")
    assert (tmp_path / "copy").stat().st_size == 0


def as_long_as_can_be(folder):
    """A file whose path has all characters that a path may have here, and one too many in autograded/."""
    while len(str(folder)) < 3840:
        folder /= "a" * 240
    folder.mkdir(parents=True)
    (folder / ("b" * (4094 - len(str(folder))))).touch()


def test_files_that_change_their_kind_stop_nobody(tmp_path, monkeypatch, zygotes):
    """What is copied beside the graded notebook replaces what was there: a folder a file, a file a folder."""
    root, release = make_course(tmp_path)
    honest = tiny.fill(release, tiny.RIGHT)
    graded = ("ann", "folders", "hidden", "teachers")
    homes = {name: root / "submitted" / name / NAME for name in (*graded, "long")}
    for name in homes:
        hand_in(root, name, honest)
    (root / "source" / NAME / "data").mkdir()
    (root / "source" / NAME / "data" / "given.csv").write_text("the teacher's")
    files(homes["folders"], "x/y/z.txt", "u")
    files(homes["hidden"], f".{NAME}.ipynb.new/x.txt", f".{NAME}.html.new/x.txt", f"{NAME}.html/x.txt")
    files(homes["teachers"], "data")
    as_long_as_can_be(homes["long"])
    copied = root / "autograded" / "folders" / NAME
    tiny.lend(monkeypatch, zygotes())
    first = course.grade(root, NAME)
    assert (copied / "x/y/z.txt").read_text() == "x/y/z.txt"
    files(homes["folders"], "x", "u/v.txt")
    again = course.grade(root, NAME)
    for result in (first, again):
        assert {one.name for one in result.learners if one.problem} == {"long"}
        assert os.strerror(errno.ENAMETOOLONG) in result.learner("long").problem
    assert (copied / "x").read_text() == "x"
    assert (copied / "u/v.txt").read_text() == "u/v.txt"
    assert {name: scores(root)[name] for name in graded} == dict.fromkeys(graded, 10.0)
    for name in graded:
        assert (root / "autograded" / name / NAME / "data/given.csv").read_text() == "the teacher's"
