"""The table of the planners' errors is what the rows give, and intervals hold as many unseen rows as they say."""

import pytest

from benchmarks.paths import SPECS
from benchmarks.rows.published import ROWS
from benchmarks.score import error_rows
from benchmarks.score.error_rows import chosen, errors, serving_errors, table_of, training_errors
from benchmarks.score.error_scores import (
    BEGIN,
    END,
    EVERY,
    MANY,
    PAGE,
    evidence,
    scores,
    table,
    thinned,
    unmeasured_errors,
    unseen_errors,
    written,
)
from hwlib.expected_error import FIRST
from hwlib.specs.prediction_errors import FILE, TRAINING, Basis, PredictionError, prediction_errors
from tests.benchmarks.tables import written as row_file


def row(key, basis=Basis.FITTED, stack="here", error=0.1):
    return PredictionError(key, TRAINING, stack, "h100-sxm", "dense", 8, 4096, 8, 9, basis, error, "source")


def test_the_rows_of_one_table_are_what_the_library_has():
    made = {found.key: found for _, found in training_errors(ROWS / "steps_internevo.csv")}
    kept = [found for found in prediction_errors(TRAINING) if found.stack == "internevo-a100"]
    assert len(kept) == error_rows.MOST
    assert [made[found.key] for found in kept] == kept


def test_a_first_token_is_another_figure_than_a_rate(tmp_path):
    config = {
        "model": "llama3-8b",
        "dtype": "fp8",
        "tp": 1,
        "input": 1000,
        "output": 100,
        "concurrency": 4,
        "load": "closed loop",
        "software": "SGLang",
    }
    cells = {"kind": "inference-serving", "system": "H200", "gpus": "1", "config": config, "measured_value": "50"}
    more = {"source": "s", "confidence": "seen verbatim", "use": "test"}
    for unit, first in (("ms first token", True), ("ms per output token", False), ("output tokens/s", False)):
        path = row_file(tmp_path / "rows.csv", {"id": "row", "unit": unit} | cells | more)
        [(_, found)] = serving_errors(path)
        assert (FIRST in found.words) is first


def test_rows_are_chosen_at_even_steps_of_each_stack(monkeypatch):
    monkeypatch.setattr(error_rows, "MOST", 3)
    rows = [row(str(i)) for i in range(6)] + [row("other", stack="there")]
    assert [found.key for found in chosen(rows)] == ["0", "2", "4", "other"]
    assert len(chosen(rows[:3])) == 3


def test_a_row_is_asked_of_fitted_rows_and_of_other_documents():
    pairs = [("a", row("1")), ("a", row("2", Basis.UNSEEN)), ("b", row("3", Basis.UNSEEN)), ("b", row("4"))]
    assert [found.key for found in evidence(pairs, "a", TRAINING)] == ["1", "3", "4"]
    assert [found.key for found in evidence(pairs, "b", TRAINING)] == ["1", "2", "4"]


@pytest.mark.parametrize(("count", "left"), [(MANY, MANY), (MANY + 1, -(-(MANY + 1) // EVERY))])
def test_documents_with_very_many_rows_are_thinned(count, left):
    assert len(list(thinned([("a", row(str(i))) for i in range(count)]))) == left


def test_a_page_gets_its_block():
    assert written(f"head {BEGIN} old {END} tail", f"{BEGIN} new {END}") == f"head {BEGIN} new {END} tail"


@pytest.mark.slow
def test_the_table_and_its_scores_are_what_the_rows_give(monkeypatch):
    pairs = errors(ROWS)
    monkeypatch.setattr(error_rows, "errors", lambda path: pairs)
    assert (SPECS / FILE).read_text("utf-8") == table_of(ROWS)
    found = scores([*unseen_errors(pairs), *unmeasured_errors(ROWS)])
    page = PAGE.read_text("utf-8")
    assert page[page.index(BEGIN) : page.index(END) + len(END)] == table(found)
    for kind in found:
        if kind.rows >= 20:  # of fewer one row is too much; of these one more or less is
            assert 0.75 * kind.rows - 1 <= kind.within * kind.rows <= 0.88 * kind.rows + 1, kind
