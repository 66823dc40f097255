"""How a table of measurements is read: cells by the fields of a record, empty ones, and rows that are wrong."""

from typing import NamedTuple

import pytest

from hwlib.specs import SpecError, measured
from hwlib.specs.measured import Measurements, of
from hwlib.units import GB, GiB, ms


class Run(NamedTuple):
    key: str
    n: int | None
    time: float
    memory: float | None
    rate: float
    source: str


def runs(monkeypatch, *lines):
    head = "key,n,ms,memory,rate,source"
    rows = [dict(zip(head.split(","), line.split(","), strict=True)) for line in lines]
    monkeypatch.setattr(measured, "csv_rows", lambda file: iter(rows))
    units = {"GB": GB, "GiB": GiB}
    return Measurements("run", "runs.csv", Run, time=of("ms", ms), memory=of("memory", units))


def test_cells_are_read_as_the_fields_say_and_come_in_si(monkeypatch):
    table = runs(monkeypatch, "a,8,2.5,82.5 GiB,7,x2020 table 1", "b,,,,,y2021")
    assert table.rows == (
        Run("a", 8, 2.5e-3, 82.5 * GiB, 7.0, "x2020 table 1"),
        Run("b", None, 0.0, None, 0.0, "y2021"),
    )
    assert table["b"].memory is None


def test_rows_are_chosen_by_any_field_or_property_and_a_miss_lists_what_there_is(monkeypatch):
    table = runs(monkeypatch, "a,8,2,1 GB,7,x2020", "b,8,1,,7,y2021", "c,4,1,,7,y2021")
    assert [r.key for r in table.where(n=8, source=None)] == ["a", "b"]
    with pytest.raises(ValueError, match="no measured run of 4 x2020; known: 8 x2020, 8 y2021, 4 y2021"):
        table.where(n=4, source="x2020")
    with pytest.raises(KeyError, match="unknown measured run 'd'; known: a, b, c"):
        table["d"]


@pytest.mark.parametrize(
    ("line", "where"),
    [
        ("a,8.5,1,,7,x", "row 1, n: "),
        ("a,8,1,3 TB,7,x", "row 1, memory: "),
        ("a,8,1,3,7,x", "row 1, memory: "),
        ("a,8,1,,fast,x", "row 1, rate: "),
    ],
)
def test_a_wrong_cell_is_named_by_file_row_and_field(monkeypatch, line, where):
    table = runs(monkeypatch, line)
    with pytest.raises(SpecError, match=f"runs.csv, {where}"):
        _ = table.rows
