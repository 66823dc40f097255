"""Hybrid and sparse models beside what was measured of them: the rows, and the table of the page."""

import pytest
from click.testing import CliRunner

from benchmarks.rows.published import ROWS
from benchmarks.score.mixed_scores import (
    BEGIN,
    END,
    FIRST,
    PAGE,
    RATE,
    TOKEN,
    MixedError,
    figure_of,
    main,
    mixed_errors,
    table,
    written,
)
from hwlib.specs import models


@pytest.fixture(scope="module")
def measured():
    return list(mixed_errors(ROWS))


def test_there_are_twenty_measurements_of_three_hybrids_and_two_sparse_models(measured):
    served = [error for error in measured if error.figure in (FIRST, TOKEN, RATE)]
    assert len(served) >= 20
    assert len({error.source.split()[0] for error in served}) >= 5
    assert len([key for key in {error.model for error in served} if models[key].mixer]) >= 3
    assert len([key for key in {error.model for error in served} if models[key].indexer]) >= 2
    assert {error.model for error in measured} >= {"nemotron-3-nano", "nemotron-3-super", "nemotron-3-ultra"}


@pytest.mark.parametrize(
    ("unit", "figure"), [("ms first token", FIRST), ("ms per output token", TOKEN), ("output tokens/s/GPU", RATE)]
)
def test_a_unit_is_of_a_figure(unit, figure):
    assert figure_of(unit) == figure


def test_a_line_has_the_mean_error_and_the_median_ratio():
    errors = [MixedError("glm-5", TOKEN, "h200-sxm", source, ratio) for source, ratio in (("a", 0.5), ("b", 1.25))]
    lines = table(errors).splitlines()
    assert lines[4] == f"| {TOKEN} | {models['glm-5'].name} | 2 | 2 | H200 SXM | 37.5% | 0.88 |"
    assert lines[5].startswith(f"| {TOKEN} | **all** | 2 |")


def test_the_page_has_the_table_of_the_rows(measured):
    page, block = PAGE.read_text("utf-8"), table(measured)
    assert page == written(page, block), "python -m benchmarks.score.mixed_scores --write"
    assert written(f"a{BEGIN}old{END}b", block) == f"a{block}b"
    assert CliRunner().invoke(main).output.strip() == block
