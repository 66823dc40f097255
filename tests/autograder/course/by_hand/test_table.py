"""A table of answers that somebody filled in: which files and cells are taken, and what stands in the line at fault."""

from types import SimpleNamespace

import pytest

from autograder.book.course_error import CourseError
from autograder.course.by_hand import table

HEAD = "learner,name,state,answer,1: Names it. (2),2: Says why. (1.5),comment,revision\n"
ROW = "ann,Ann A,waiting,Because.,2,1.5,Fine.,r1\n"
QUESTION = SimpleNamespace(rubric=(("Names it.", 2.0), ("Says why.", 1.5)))


def rows(folder, text):
    path = folder / "t.csv"
    path.write_text(text, encoding="utf-8", newline="")
    return table._rows(path, 2)


def test_rows_have_their_line_whatever_cuts_the_cells(tmp_path):
    (row,) = rows(tmp_path, HEAD + ROW)
    assert row == (2, ["ann", "Ann A", "waiting", "Because.", "2", "1.5", "Fine.", "r1"])
    assert rows(tmp_path, (HEAD + ROW).replace(",", ";")) == [row]
    assert rows(tmp_path, "\ufeff" + HEAD + ROW) == [row]
    assert rows(tmp_path, HEAD + ",,,,,,, \n" + ROW) == [(3, row[1])]
    assert rows(tmp_path, HEAD + ROW.replace("Because.", '"two\nlines"'))[0][0] == 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the columns are none"),
        (HEAD.replace(",2: Says why. (1.5)", ""), "1: …, 2: …, comment"),
        (HEAD.replace("2: ", "3: "), "were expected"),
        (HEAD.replace("learner", "who"), "were expected"),
        (HEAD + ROW.replace(",r1", ""), "line 2: 7 cells; 8 were"),
        (HEAD + ROW + ROW, "line 3: a second row for 'ann'"),
        (HEAD + 'ann,"x' + "y" * 200_000, "a CSV file"),
    ],
)
def test_another_file_is_refused_at_its_line(tmp_path, text, said):
    with pytest.raises(CourseError, match=said):
        rows(tmp_path, text)


def test_a_file_is_utf_8_and_as_large_as_may_be(tmp_path, monkeypatch):
    assert table.MOST_BYTES == 20 * 2**20
    monkeypatch.setattr(table, "MOST_BYTES", len(HEAD + ROW))
    assert len(rows(tmp_path, HEAD + ROW)) == 1
    with pytest.raises(CourseError, match="bytes; at most"):
        rows(tmp_path, HEAD + ROW + "\n")
    (tmp_path / "t.csv").write_bytes(b"\xff")
    with pytest.raises(CourseError, match="not UTF-8"):
        table._rows(tmp_path / "t.csv", 2)


@pytest.mark.parametrize(
    ("cells", "points"),
    [
        (["2", "1.5"], (2.0, 1.5)),
        (["", " "], (None, None)),
        (["0", ".25"], (0.0, 0.25)),
        (["1,5", "1."], (1.5, 1.0)),
        (["0.33333", "0"], (0.3333, 0.0)),
    ],
)
def test_points_are_read_as_a_spreadsheet_writes_them(tmp_path, cells, points):
    assert table._points(tmp_path, 2, cells, QUESTION) == points


@pytest.mark.parametrize("cell", ["2.01", "-1", "x", "1e0", "1 2", "nan", "+1", "0" * 7, "."])
def test_other_points_are_refused_at_their_line(tmp_path, cell):
    with pytest.raises(CourseError, match=r"line 7: .* 'Names it\.'"):
        table._points(tmp_path, 7, [cell, "1"], QUESTION)


@pytest.mark.parametrize(
    ("cell", "before", "comment"),
    [
        (" New. ", "Old.", "New."),
        ("'=Old", "=Old", "=Old"),  # as the table wrote it
        ("'=New", "", "=New"),
        ("'new'", "", "'new'"),
        ("", "Old.", ""),
    ],
)
def test_a_comment_is_read_without_what_keeps_a_spreadsheet_from_computing_it(cell, before, comment):
    assert table._comment(cell, SimpleNamespace(comment=before)) == comment
