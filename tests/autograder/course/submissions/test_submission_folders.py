"""Whose work there is for an assignment, by the folders in submitted/."""

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
