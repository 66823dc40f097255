"""Whose work there is for an assignment, by the folders in submitted/."""

from autograder.course import submissions
from autograder.course.class_result import ClassResult


def made(folder, *paths):
    """A course with two released assignments, and what was submitted."""
    for path in ("release/hw1", "release/hw2", *(f"submitted/{one}" for one in paths)):
        (folder / path).mkdir(parents=True)
    return folder


def collected(folder, students=None):
    """The learners with a folder for hw2, and by name the problems of all who are reported."""
    result = ClassResult("hw2", {})
    found = submissions.collect(folder, "hw2", students, result)
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
