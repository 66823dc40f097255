"""Each measured table says by source whether it is complete or a sample."""

import pytest

from hwlib.specs.extents import checked, extent_of, extents, is_whole
from hwlib.specs.table import SpecError, csv_rows
from tests.conftest import ROOT

TABLES = sorted(path.name for path in (ROOT / "hwlib" / "specs").glob("measured_*.csv"))
LINE = {"table": "t.csv", "source": "a", "extent": "sample", "note": ""}


def test_every_source_of_every_table_has_an_extent_and_no_line_is_left_over():
    named = {(file, extent_of(file, row["source"]).source) for file in TABLES for row in csv_rows(file)}
    assert named == {(extent.table, extent.source) for extent in extents()}


def test_a_sample_says_of_what():
    assert [extent for extent in extents() if not extent.note] == []


def test_the_longest_line_is_meant():
    assert extent_of("measured_decode.csv", "gpt-fast-blog").note != extent_of("measured_decode.csv", "gpt-fast").note
    with pytest.raises(SpecError, match="begins the source 'vllm'"):
        extent_of("measured_decode.csv", "vllm")


def test_a_table_is_whole_where_each_source_is():
    assert is_whole("measured_lengths.csv")
    assert not is_whole("measured_mixtures.csv")  # one of its two sources is a sample


@pytest.mark.parametrize(
    ("rows", "says"),
    [([LINE | {"extent": "part"}], "got 'part'"), ([LINE, LINE | {"extent": "complete"}], "row 2: 'a' of t.csv")],
)
def test_a_line_that_is_wrong_is_named(rows, says):
    with pytest.raises(SpecError, match=says):
        checked(rows)


def test_other_sources_and_other_tables_may_have_a_line_each():
    assert len(checked([LINE, LINE | {"source": "b"}, LINE | {"table": "u.csv"}])) == 3
