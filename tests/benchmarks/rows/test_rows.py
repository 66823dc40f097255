"""The measured rows of the project: each has a reader, a source of known extent, and a use."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.rows.published import READERS, ROWS, case_of, read_rows, rows_to_fit
from benchmarks.rows.published_row import COLUMNS, HELD_OUT, DataError
from benchmarks.rows.reader_names import reader_of
from benchmarks.rows.sources import EXTENTS, RowSource, source_of, sources
from benchmarks.score.predictions import predict
from benchmarks.score.scores import UNSEEN, report
from tests.benchmarks.rows.test_published import GEMM, NCCL

SAMPLES = ("published", "memory", "serving", "unfitted")


def cells_of(path):
    lines = path.read_text("utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


@pytest.fixture(scope="module")
def rows():
    return [row for table in sorted(ROWS.glob("*.csv")) for row in cells_of(table)]


def table(path, *rows):
    """A table with the column `reader`; cells of a row that it lacks are those of a product."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [*COLUMNS, "reader"])
        writer.writeheader()
        writer.writerows(rows)
    return path


PRODUCT = GEMM | {"config": '{"op": "gemm", "dtype": "bfloat16", "M": 128, "N": 4096, "K": 8192}', "reader": "product"}


def test_every_row_has_a_reader_a_use_and_an_id_of_its_own(rows):
    assert len(rows) > 6000
    assert {row["reader"] for row in rows} <= set(READERS)
    assert {row["use"] for row in rows} == {"fit", HELD_OUT, "context only, never scored"}
    counted = Counter(row["id"] for row in rows)
    assert [name for name, count in counted.items() if count > 1] == []


def test_every_source_of_a_row_is_known_and_every_known_source_has_a_row(rows):
    texts = {row["source"] for row in rows}
    assert {source_of(text) for text in texts} == set(sources())
    assert {source.extent for source in sources()} == set(EXTENTS)


@pytest.mark.parametrize("text", ["", "a page of nobody", "stas00"])
def test_a_source_that_no_one_knows_is_refused(text):
    with pytest.raises(DataError, match=r"sources\.csv"):
        source_of(text)


def test_the_longest_source_that_fits_is_meant():
    known = [RowSource(text, "sample", "2026-11-28", "") for text in ("a page", "a page, table 2", "another")]
    assert source_of("a page, table 2, row 4", known).source == "a page, table 2"
    assert source_of("a page, table 1", known).source == "a page"


def test_an_extent_that_is_none_is_refused(tmp_path):
    path = tmp_path / "sources.csv"
    path.write_text("source,extent,date,note\na page,most,2026-11-28,\n")
    with pytest.raises(ValueError, match="'a page' is 'most'"):
        sources(path)
    path.write_text("source,extent,date,note\na page,sample,2026-11-28,\na page,complete,2026-11-28,\n")
    with pytest.raises(ValueError, match="twice"):
        sources(path)


def test_what_was_recalled_is_never_fitted(rows):
    for row in rows:
        assert row["use"].startswith("context only") or "recalled from memory" not in row["confidence"]


def test_the_samples_for_quick_tests_are_of_these_rows():
    found, _ = read_rows(ROWS)
    assert [row.fault for row in found if row.fault] == []
    known = {(row.cells["id"], row.value, row.cells["config"], row.source) for row in found}
    for name in SAMPLES:
        sample, _ = read_rows(Path(ROWS.parent / f"{name}.csv"))
        assert {(row.cells["id"], row.value, row.cells["config"], row.source) for row in sample} <= known, name


def test_the_column_chooses_the_reader_and_not_the_id(tmp_path):
    path = table(tmp_path / "rows.csv", PRODUCT | {"id": "anything at all"}, PRODUCT | {"reader": "none"})
    named, nobodys = read_rows(path)[0]
    assert case_of(named, path).shape == (128, 4096, 8192, 32e-6)
    assert case_of(nobodys, path) is None


@pytest.mark.parametrize("reader", ["", None])
def test_without_a_name_the_id_chooses_it(tmp_path, reader):
    path = table(tmp_path / "rows.csv", PRODUCT | {"reader": reader}, PRODUCT | {"reader": reader, "id": "thing-1"})
    known, unknown = read_rows(path)[0]
    assert (known.reader, unknown.reader) == ("product", "kernel")
    assert case_of(known, path) == case_of(unknown, path)


def test_a_reader_that_there_is_not_is_refused(tmp_path):
    path = table(tmp_path / "rows.csv", PRODUCT, PRODUCT | {"reader": "products"})
    assert read_rows(path)[0][1].fault.startswith("line 3: reader is 'products', none of ")
    with pytest.raises(DataError, match=r"rows\.csv, line 3: reader is 'products', none of .*product"):
        rows_to_fit(path)


def test_every_name_that_an_id_gives_is_a_readers():
    kinds = ("train-step", "train-memory", "memory", "allreduce", "inference-serving", "grouped-gemm", "kernel", "new")
    for kind in kinds:
        for name in ("", GEMM["id"], NCCL["id"], "bloom-1", "ao-1", "mbridge-2", "ar-b200x32-8"):
            assert reader_of(kind, name, {}) in READERS


def test_a_folder_is_read_as_one_table_and_its_files_are_named(tmp_path):
    table(tmp_path / "a.csv", PRODUCT)
    table(tmp_path / "b.csv", PRODUCT, PRODUCT | {"unit": "ms"})
    found, _ = read_rows(tmp_path)
    assert [row.file for row in found] == ["a.csv", "b.csv", "b.csv"]
    with pytest.raises(DataError, match=r"b\.csv, line 3: the unit"):
        case_of(found[-1], tmp_path)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(DataError, match="no tables"):
        read_rows(empty)


def test_rows_held_out_are_scored_apart_and_not_fitted(tmp_path):
    held = PRODUCT | {"id": "aic-gemm-h100_sxm-bfloat16-9", "use": HELD_OUT}
    path = table(tmp_path / "rows.csv", PRODUCT | {"use": "fit"}, PRODUCT, held)
    scores = {s.set: s.rows for s in report(path).scores}
    assert scores == {"aic-gemm-h100_sxm-bfloat16": 2, "aic-gemm-h100_sxm-bfloat16" + UNSEEN: 1}
    assert [row.cells["id"] for row in rows_to_fit(path)] == [PRODUCT["id"]] * 2


@pytest.mark.slow
def test_every_row_can_be_read():
    """None stops the reading; most have a model."""
    found, _ = read_rows(ROWS)
    predicted = [row for row in found if hasattr(predict(case_of(row, ROWS)), "time")]
    assert len(predicted) > 0.8 * len(found)


def test_what_was_measured_on_a_card_of_our_own_stands_as_it_was_printed(rows):
    """Seconds of own_h200.csv and own_h200_steps.csv; products and attention are in microseconds among the rows."""
    printed = cells_of(ROWS.parent / "own_h200.csv")
    seconds = {float(row["middle"]) for row in printed if row["kind"] in ("bf16 product", "fp8 product", "attention")}
    seconds |= {float(row["step"]) for row in cells_of(ROWS.parent / "own_h200_steps.csv")}
    own = [row for row in rows if row["id"].startswith("own-h200") and row["kind"] != "train-memory"]
    values = {round(float(row["measured_value"]) * (1e-6 if row["unit"] == "us" else 1.0), 12) for row in own}
    assert values == {round(value, 12) for value in seconds}
    assert {row["use"] for row in own} == {HELD_OUT}
    peaks = {float(row["peak_reserved"]) / 1e9 for row in cells_of(ROWS.parent / "own_h200_steps.csv")}
    reserved = [row for row in rows if row["id"].startswith("own-h200") and row["kind"] == "train-memory"]
    assert {float(row["measured_value"]) for row in reserved} == peaks
