"""The cells of rows by chip, kind, software and release: what a row counts for, and what the page prints of them."""

import functools
import json
import re
from statistics import fmean

import pytest

from benchmarks.rows.published import ROWS, case_of, read_rows
from benchmarks.score import cells as scored
from benchmarks.score.cells import FEW, CellRow, RowCell, cell_line, cell_of, furthest, interval, reason_of
from hwlib.specs.prediction_errors import Basis

CELL = RowCell("training step", "H100 SXM5", "dense", "torchtitan", "2024-12")


def rows(*ratios, basis=Basis.UNSEEN):
    return [CellRow(f"row-{n}", 2.0, 2.0 * ratio, basis, "a table") for n, ratio in enumerate(ratios)]


@functools.cache
def row_named(name):
    return next(row for row in table() if row.cells["id"].startswith(name))


@functools.cache
def table():
    return read_rows(ROWS)[0]


def drawn():
    """The cells of the page's script, by their keys."""
    text = scored.SCRIPT.read_text("utf-8")
    return {cell[0]: cell for cell in json.loads(text[text.index("[") : text.rindex("]") + 1])}


def printed():
    """Each line of the page's tables, by its key: rows, error, bias."""
    pattern = r'<a class="cell-rows" id="([^"]+)"[^>]*>(\d+)</a> \| ([\d.]+)% \| ([+-][\d.]+)% \|'
    found = re.findall(pattern, scored.PAGE.read_text("utf-8"))
    return {key: (int(count), float(error), float(bias)) for key, count, error, bias in found}


def test_the_page_prints_what_its_rows_give():
    page, script = printed(), drawn()
    assert page.keys() == script.keys()
    assert len(page) > 300
    for key, cell in script.items():
        off = [100 * (predicted / measured - 1) for _, measured, predicted, _ in cell[-1]]
        count, error, bias = page[key]
        assert count == len(off)
        assert (error, bias) == (pytest.approx(fmean(map(abs, off)), abs=0.15), pytest.approx(fmean(off), abs=0.15))


@pytest.mark.nightly
def test_the_page_is_what_the_tables_of_rows_give():
    groups = scored.cells()
    assert scored.SCRIPT.read_text("utf-8") == scored.data(groups)
    assert "\n".join(scored.table(groups)) in scored.PAGE.read_text("utf-8")
    assert "\n".join(scored.furthest_list(groups, planned=True)) in scored.PAGE.read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("titan2-00-tps", ("training step", "H100 SXM5", "dense", "torchtitan", "2024-12")),
        (
            "mbridge-02068",
            ("training step", "GB300 NVL72, one GPU", "dense", "Megatron-Core 2026 (Megatron-Bridge)", "26.04.01"),
        ),
        ("kor-f1-22B-paramopt", ("memory of training", "any", "dense", "formulas alone", "not printed")),
    ],
)
def test_a_row_is_in_the_cell_that_its_words_name(name, cell):
    row = row_named(name)
    found = cell_of(row, case_of(row, ROWS))
    assert (found.work, found.kind, found.release) == (cell[0], cell[2], cell[4])
    assert found.chip == cell[1]


def test_a_release_behind_a_stroke_is_one():
    row = row_named("attn-ctx-h100_sxm-trtllm")
    found = cell_of(row, case_of(row, ROWS))
    assert (found.software, found.release) == ("trtllm", "1.3.0rc20")


def test_an_interval_needs_five_rows_and_leaves_out_a_tenth_at_each_end():
    assert interval(rows(*[1.0] * (FEW - 1))) is None
    ten = rows(0.1, 0.9, *[1.0] * 7, 1.2, 9.0)
    assert interval(ten) == (pytest.approx(-0.1), pytest.approx(0.2))


def test_a_line_says_error_bias_and_what_was_fitted():
    mixed = [*rows(1.1, basis=Basis.FITTED), *rows(0.9, 0.9)]
    assert cell_line(CELL, mixed).endswith("| 10.0% | -3.3% |  | 1 of 3 |")
    assert cell_line(CELL, rows(1.1)).endswith("| no |")
    assert cell_line(CELL, rows(1.1, basis=Basis.TYPICAL)).endswith("| nothing |")


def test_the_furthest_row_of_a_cell_is_named_whichever_way_it_is_off():
    other = CELL._replace(work="products")
    groups = {CELL: rows(1.5, 0.5), other: rows(1.1)}
    assert [row.name for _, row in furthest(groups, planned=True)] == ["row-1"]
    assert [cell.work for cell, _ in furthest(groups, planned=False)] == ["products"]
    many = {CELL._replace(release=str(n)): rows(1.1) for n in range(scored.WORST + 1)}
    assert len(furthest(many, planned=True)) == scored.WORST


def test_a_reason_is_the_first_whose_pattern_fits(tmp_path):
    path = tmp_path / "reasons.toml"
    path.write_text('[[reason]]\nrows = "a-.*-b"\nwhy = "First."\n[[reason]]\nrows = "a"\nwhy = "Second."\n')
    assert [reason_of(name, path) for name in ("a-1-b", "a-1", "b-a")] == ["First.", "Second.", "Not known."]
