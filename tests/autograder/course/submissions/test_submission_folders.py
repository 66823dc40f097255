"""Whose work there is for an assignment, by the folders in submitted/."""

import errno
import os

import pytest

from autograder.course.class_results.class_result import ClassResult
from autograder.course.submissions import submission_folders
from autograder.grading.restore import SubmissionError


def made(folder, *paths):
    """A course with two released assignments, and what was submitted."""
    for path in ("release/hw1", "release/hw2", *(f"submitted/{one}" for one in paths)):
        (folder / path).mkdir(parents=True)
    return folder


def collected(folder, students=None):
    """The learners with a folder for hw2, and by name the problems of all who are reported."""
    result = ClassResult("hw2", {})
    found = submission_folders.collect(folder, "hw2", students, result)
    return sorted(found), {one.name: one.problem for one in result.learners}, result.problems


def test_who_has_submitted_other_assignments_alone_is_no_problem_but_missing(tmp_path):
    folder = made(tmp_path, "ann/hw1", "ann/hw2", "bob/hw1", "cy/hw2")
    assert collected(folder) == (["ann", "cy"], {"ann": "", "cy": ""}, [])
    found, problems, _ = collected(folder, ["bob"])  # who was asked for by name is told of
    assert (found, problems) == (["bob"], {"bob": ""})


def test_a_folder_under_another_name_and_one_without_anything_are_told(tmp_path):
    folder = made(tmp_path, "ann/hw1", "ann/hw-2", "bob")
    (folder / "submitted" / "cy").mkdir()
    (folder / "submitted" / "cy" / "hw2").symlink_to(folder / "release")
    found, problems, notes = collected(folder)
    assert found == ["bob", "cy"]  # which are looked into, and told to hold nothing that can be read
    assert "unknown assignment 'hw-2'" in problems["ann"]
    assert notes == [problems["ann"]]


def test_a_submission_without_its_notebook_names_those_that_it_has(tmp_path):
    folder = tmp_path / "ann" / "hw"
    folder.mkdir(parents=True)
    with pytest.raises(SubmissionError, match=r"hw\.ipynb: missing; the submitted"):
        submission_folders.read(folder)
    for at in range(11):
        (folder / f"n{at:02}.ipynb").write_text("{}")
    with pytest.raises(SubmissionError, match=r"missing, found n00\.ipynb, .* n09\.ipynb; the submitted"):
        submission_folders.read(folder)


@pytest.mark.parametrize(("name", "most"), [("MAX_FILES", 3), ("MAX_SIZE", 6), ("MAX_DEPTH", 1)])
def test_a_submitted_folder_is_as_large_as_may_be(tmp_path, monkeypatch, name, most):
    (tmp_path / "hw" / "a").mkdir(parents=True)
    for path in ("x", "a/y"):
        (tmp_path / "hw" / path).write_text("abc")
    size = (tmp_path / "hw" / "a").stat().st_size if name == "MAX_SIZE" else 0
    monkeypatch.setattr(submission_folders, name, most + size)
    submission_folders.check_folder(tmp_path / "hw")
    monkeypatch.setattr(submission_folders, name, most + size - 1)
    with pytest.raises(SubmissionError, match="beyond the limits"):
        submission_folders.check_folder(tmp_path / "hw")


def test_a_link_in_place_of_a_submitted_folder_is_refused(tmp_path):
    (tmp_path / "ann" / "hw").mkdir(parents=True)
    (tmp_path / "bob").symlink_to(tmp_path / "ann")
    (tmp_path / "ann" / "other").symlink_to(tmp_path / "ann" / "hw")
    for path in ("bob/hw", "ann/other"):
        with pytest.raises(SubmissionError, match="a link"):
            submission_folders.check_folder(tmp_path / path)
    submission_folders.check_folder(tmp_path / "ann" / "hw")


def test_a_submission_is_copied_and_kept_for_years_so_it_has_limits():
    limits = (submission_folders.MAX_FILES, submission_folders.MAX_SIZE, submission_folders.MAX_DEPTH)
    assert limits == (2000, 2**29, 20)


def test_a_folder_within_all_limits_but_one_is_beyond_them(tmp_path, monkeypatch):
    (tmp_path / "hw").mkdir()
    for name in "ab":
        (tmp_path / "hw" / name).write_text("abc")
    monkeypatch.setattr(submission_folders, "MAX_FILES", 2)
    monkeypatch.setattr(submission_folders, "MAX_SIZE", 6)
    monkeypatch.setattr(submission_folders, "MAX_DEPTH", 0)
    submission_folders.check_folder(tmp_path / "hw")
    (tmp_path / "hw" / "b").write_text("abcd")
    with pytest.raises(SubmissionError, match=r"b: beyond the limits|a: beyond the limits"):
        submission_folders.check_folder(tmp_path / "hw")
    (tmp_path / "hw" / "b").write_text("")
    (tmp_path / "hw" / "c").write_text("")
    with pytest.raises(SubmissionError, match="beyond the limits"):
        submission_folders.check_folder(tmp_path / "hw")


def test_a_pipe_in_a_submission_is_named(tmp_path):
    (tmp_path / "hw" / "a").mkdir(parents=True)
    os.mkfifo(tmp_path / "hw" / "a" / "data.csv")
    with pytest.raises(SubmissionError, match=r"data\.csv: a pipe; files were"):
        submission_folders.check_folder(tmp_path / "hw")


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.EACCES])
def test_a_folder_that_cannot_be_read_is_its_learners_problem_unless_the_machine_is_full(tmp_path, monkeypatch, number):
    def failing(_):
        raise OSError(number, os.strerror(number))

    (tmp_path / "hw").mkdir()
    monkeypatch.setattr(submission_folders.os, "scandir", failing)
    expected = SubmissionError if number == errno.EACCES else OSError
    with pytest.raises(expected, match=os.strerror(number)) as caught:
        submission_folders.check_folder(tmp_path / "hw")
    assert isinstance(caught.value, SubmissionError) == (number == errno.EACCES)


def test_a_name_is_shown_without_control_characters_and_its_end_where_it_is_long():
    assert submission_folders.printable("a\x1b[2Jb\n") == "a?[2Jb?"
    assert submission_folders.printable("x" + "y" * 300) == "y" * 300
    assert submission_folders.printable("x" + "y" * 299) == "x" + "y" * 299


def test_only_folders_that_are_not_hidden_are_learners(tmp_path):
    folder = made(tmp_path, "ann/hw2", ".git/hw2")
    (folder / "submitted" / "notes.txt").write_text("")
    (folder / "submitted" / "ann" / "readme.txt").write_text("")
    assert collected(folder) == (["ann"], {"ann": ""}, [])


def test_who_is_asked_for_and_has_no_folder_is_told_who_has_one(tmp_path):
    folder = made(tmp_path, "ann/hw2", "bob/hw2")
    learners, problems, _ = collected(folder, ["zoe", "ann", "zoe"])
    assert (learners, list(problems)) == (["ann"], ["zoe", "ann"])
    assert "zoe is missing; submissions are there from: ann, bob" in problems["zoe"]
    assert "from: nobody" in collected(made(tmp_path / "empty"), ["zoe"])[1]["zoe"]


def test_a_folder_whose_name_is_not_utf_8_is_named_with_its_bytes(tmp_path):
    folder = made(tmp_path, "ann/hw2")
    os.mkdir(os.fsencode(folder / "submitted") + b"/b\xff")
    learners, problems, _ = collected(folder)
    assert learners == ["ann"]
    assert "the folder's name is not UTF-8" in problems["b\\xff"]


def test_a_strange_folder_beside_the_submission_is_noted_and_the_first_is_the_problem_without_one(tmp_path):
    folder = made(tmp_path, "ann/hw2", "ann/notes", "bob/a", "bob/b")
    learners, problems, notes = collected(folder)
    assert learners == ["ann"]
    assert problems["ann"] == ""
    assert "unknown assignment 'a'; released are: hw1, hw2" in problems["bob"]
    assert [line.split("'")[1] for line in notes] == ["notes", "a", "b"]


@pytest.mark.parametrize("others", [["hw1"], ["hw1", "hw3"], []])
def test_a_file_called_as_the_assignment_is_one_that_cannot_be_read(tmp_path, others):
    folder = made(tmp_path, *(f"ann/{name}" for name in others))
    (folder / "release" / "hw3").mkdir()
    (folder / "submitted" / "ann").mkdir(parents=True, exist_ok=True)
    (folder / "submitted" / "ann" / "hw2").write_text("")
    assert collected(folder)[0] == ["ann"]
    (folder / "submitted" / "ann" / "hw2").unlink()
    assert collected(folder)[0] == ([] if others else ["ann"])
