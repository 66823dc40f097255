"""Rows of sources that no reader was written for: read by what they say, or the cell that they lack is named.

The rows are the project's own, without their reader and under an id that says nothing.
"""

import re

import pytest

from benchmarks.rows.published import ROWS, case_of, read_rows
from benchmarks.rows.published_row import COLUMNS
from benchmarks.rows.read_keys import ALLREDUCE, KERNELS, PRODUCT, TRAINING
from benchmarks.rows.serving_rows import READ
from benchmarks.rows.training_step import Unmodelled
from benchmarks.score.predictions import Prediction, predict
from benchmarks.score.scores import report
from tests.benchmarks.tables import written

SOURCES = {
    "NVIDIA/JAX-Toolbox": ("train-step", 14, 0.55),
    "pytorch/torchtune": ("train-step", 9, 0.12),
    "InternLM/lmdeploy": ("inference-serving", 20, 0.25),
    "aws-neuron/aws-neuron-sdk": ("inference-serving", 79, 0.65),
    "deepseek-ai/DeepEP": ("collective", 20, 0.3),
    "stas00/ml-engineering network": ("collective", 85, 0.25),
    "coreweave/nccl-tests README.md @cb86553328f8 (64 H100": ("allreduce", 5, 0.6),
    "kipply": ("inference", 4, 0.2),
}
"""Public sources without a reader of their own: kind, how many rows at least are read, and their mean error at most."""
WORDS = {*READ, *ALLREDUCE, *PRODUCT, "system", "unit", "software", "ctx", "layers", "tflops_logged"}
WORDS |= {name for keys in (*TRAINING.values(), *KERNELS.values()) for name in keys}
"""The cells of a row."""


def names_a_cell(reason):
    return reason.endswith(" is not read") or bool(WORDS & set(re.findall(r"\w+", reason)))


@pytest.fixture(scope="module")
def own_rows():
    return read_rows(ROWS)[0]


@pytest.fixture(scope="module")
def read(own_rows, tmp_path_factory):
    """What is predicted for the rows of a source, and the reasons for those that are not."""

    def of_source(source, kind):
        cells = [row.cells for row in own_rows if row.source.startswith(source) and row.kind == kind]
        named = [{name: c[name] for name in COLUMNS} | {"id": f"elsewhere-{i}"} for i, c in enumerate(cells)]
        path = written(tmp_path_factory.mktemp("rows") / "rows.csv", *named)
        predicted = [predict(case_of(row, path)) for row in read_rows(path)[0] if row.kind == kind]
        return (
            [p for p in predicted if isinstance(p, Prediction)],
            [p.reason for p in predicted if isinstance(p, Unmodelled)],
        )

    return of_source


@pytest.mark.parametrize("source", SOURCES)
def test_a_source_without_a_reader_is_read_by_what_its_rows_say(read, source):
    kind, count, error = SOURCES[source]
    predicted, reasons = read(source, kind)
    assert len(predicted) >= count, reasons
    assert all(p.typical for p in predicted), "no constant was fitted to any of them"
    assert sum(p.error for p in predicted) / len(predicted) < error
    assert [reason for reason in reasons if not names_a_cell(reason)] == []


@pytest.mark.slow
def test_every_row_that_is_not_read_names_a_cell_and_nearly_all_are_read():
    result = report(ROWS)
    assert [text for text in result.unmodelled if not names_a_cell(text.partition(": ")[2])] == []
    read, rows = (sum(n) for n in zip(*result.read.values(), strict=True))
    assert read >= 0.95 * rows
