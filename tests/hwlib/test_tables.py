import doctest
import math
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import NamedTuple

import numpy as np
import pytest

from hwlib import table, tables
from hwlib.units import GiB, UnitError, us


class Memory(NamedTuple):
    name: str
    bytes: float


@dataclass(frozen=True)
class Row:
    name: str
    bytes: float


def test_the_examples_print_what_they_say():
    assert doctest.testmod(tables).failed == 0


@pytest.mark.parametrize(
    "rows",
    [
        [("L2", 2 * GiB)],
        [["L2", 2 * GiB]],
        [{"name": "L2", "bytes": 2 * GiB}],
        [Memory("L2", 2 * GiB)],
        [Row("L2", 2 * GiB)],
        {"L2": 2 * GiB},
        {"L2": (2 * GiB,)},
        iter([("L2", 2 * GiB)]),
    ],
    ids=["tuple", "list", "dict", "named tuple", "dataclass", "dict of values", "dict of tuples", "iterator"],
)
def test_a_row_is_a_record_of_any_kind(rows):
    made = table(rows, ["memory", ("size", "GiB")])
    assert (made.heads, made.rows) == (("memory", "size (GiB)"), (("L2", "2"),))


@pytest.mark.parametrize(
    ("values", "column", "head", "cells"),
    [
        ([0.001, 0.0025], ("t", "us"), "t (us)", ["1,000", "2,500"]),
        ([0.001, 0.0025], ("t", "s"), "t (ms)", ["1", "2.5"]),
        ([0.001, 2.5], ("t", "s"), "t", ["1 ms", "2.5 s"]),
        ([1 / 3], ("t", "ms", 2), "t (ms)", ["333"]),
        ([1 / 3], ("error", "%", 2), "error (%)", ["33"]),
        ([1, 8], ("size", "GPU"), "size (GPUs)", ["1", "8"]),
        ([1024, 1_048_576], "n", "n", ["1,024", "1,048,576"]),
        ([2 / 3, 1536.0, 12345.678], "x", "x", ["0.6667", "1,536", "12,346"]),
        ([1.5e9, 1e-7], "x", "x", ["1.5e9", "100e-9"]),
        ([None, math.nan, math.inf, -2.0], ("t", "s"), "t (s)", ["–", "–", "∞", "-2"]),
        ([True, np.False_], "fits", "fits", ["yes", "no"]),
        ([np.float64(3.35e12), np.int64(2)], ("rate", "TB/s"), "rate (TB/s)", ["3.35", "2e-12"]),
        (["12 of 30", 31 * us], ("t", "us"), "t (us)", ["12 of 30", "31"]),
        ([(0, 1, 2)], "ranks", "ranks", ["0, 1, 2"]),
        ([], ("t", "us"), "t (us)", []),
    ],
)
def test_a_column_is_shown_in_its_unit(values, column, head, cells):
    made = table([(value,) for value in values], [column])
    assert made.heads == (head,)
    assert [row[0] for row in made.rows] == cells


def test_a_row_of_another_length_is_rejected_with_its_columns():
    with pytest.raises(ValueError, match=r"row 2 .* 2 were expected: size, time"):
        table([(1, 2), (1, 2, 3)], ["size", ("time", "us")])
    with pytest.raises(UnitError):
        table([(1,)], [("time", "uss")])


class Cells(HTMLParser):
    """The tags of a piece of HTML with their attributes, and its text."""

    def __init__(self, html: str):
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.text: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text.append(data)


def test_the_html_names_columns_and_rows_for_a_screen_reader():
    made = table({"a < b": (1.5, "x & y")}, ["case", ("time", "s"), "note"], caption="Two & one.")
    read = Cells(made._repr_html_())
    assert read.text == ["Two & one.", "case", "time (s)", "note", "a < b", "1.5", "x & y"]
    assert [attrs["scope"] for tag, attrs in read.tags if tag == "th"] == ["col", "col", "col", "row"]
    assert ["right" in attrs["style"] for tag, attrs in read.tags if tag in ("th", "td")] == [
        False,
        True,
        False,
        False,
        True,
        False,
    ]


def test_the_text_is_aligned_and_has_no_space_at_the_end():
    lines = repr(table([("ring", 1.0), ("halving", 128.25)], ["algorithm", ("time", "s")])).split("\n")
    assert len({len(line) for line in lines}) == 1
    assert all(line == line.rstrip() for line in lines)
