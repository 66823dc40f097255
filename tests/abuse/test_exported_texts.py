"""A learner's texts in a table that a spreadsheet opens, whatever its language takes for a separator."""

import csv
import io

import pytest

from autograder.course.spreadsheet import FORMULA, SheetContents, inert

TEXTS = ("x;{}1+1", "x; {}1", 'x";{}HYPERLINK("http://e")', "a &lt;{}1", ";{}1", "x;;{}1", "x;\t{}1", "{0}1;{0}1")


@pytest.mark.parametrize("separator", ";,\t")
@pytest.mark.parametrize("sign", FORMULA)
def test_no_cell_begins_as_a_formula(separator, sign):
    text = SheetContents([["week1", inert(text.format(sign))] for text in TEXTS]).text
    rows = csv.reader(io.StringIO(text), delimiter=separator)
    assert [cell for row in rows for cell in row if cell.strip(' "').startswith(tuple(FORMULA))] == []


@pytest.mark.parametrize("text", ["a; b", "1 - 2", "a;b-c", "&amp; x", "-"])
def test_other_texts_are_as_they_were(text):
    assert inert(text) == text
