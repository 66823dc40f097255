"""A file for a spreadsheet: what its cells may hold, and that it is written whole or not at all."""

import os

import pytest

from autograder.book.course_error import CourseError
from autograder.course.spreadsheet import FORMULA, SheetContents, inert, number, write


@pytest.mark.parametrize("sign", FORMULA)
def test_what_a_spreadsheet_would_compute_has_an_apostrophe_before_it(sign):
    assert inert(f"{sign}1+1") == f"'{sign}1+1"
    assert inert(f" \n{sign}1") == f"'{sign}1"
    assert inert(f"1{sign}1") == f"1{sign}1"


@pytest.mark.parametrize(
    ("text", "shown"), [("-", "-"), ("+", "'+"), ("--", "'--"), ("", ""), ("a\r\n\tb\x00c", "a b c")]
)
def test_a_cell_is_one_line_and_a_hyphen_alone_is_no_formula(text, shown):
    assert inert(text) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0"), (0.0, "0"), (2.5, "2.5"), (0.1 + 0.2, "0.3"), (10, "10"), (1 / 3, "0.3333"), (-1.5, "-1.5")],
)
def test_points_are_written_without_noise(value, shown):
    assert number(value) == shown


SHEET = SheetContents([["a", "b,c"], ["1", 'say "x"']])


def test_a_file_is_written_for_its_owner_alone_in_place_of_an_older(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("older")
    write(SHEET, path)
    assert path.read_bytes() == b'a,"b,c"\r\n1,"say ""x"""\r\n'
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_where_no_file_can_be_written_nothing_is(tmp_path):
    with pytest.raises(CourseError, match="is a folder; a file was expected"):
        write(SHEET, tmp_path)
    with pytest.raises(CourseError, match=r"nowhere is missing; the folder for out\.csv"):
        write(SHEET, tmp_path / "nowhere" / "out.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_the_older_file(tmp_path, monkeypatch):
    def full(handle):
        raise OSError(28, "full")

    path = tmp_path / "out.csv"
    path.write_text("older")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="full"):
        write(SHEET, path)
    assert path.read_text() == "older"
    assert list(tmp_path.iterdir()) == [path]
