"""The ten runs that readers predict: drawn by a rule, and as well predicted as the tables that they are drawn from."""

import csv
from collections import Counter
from dataclasses import replace
from statistics import median

import pytest

from benchmarks.rows import drawn_runs
from benchmarks.rows.published import steps
from benchmarks.rows.reader_names import reader_of
from benchmarks.rows.training_rows import training_group
from hwlib.specs import measured_plans
from hwlib.steptime import predicted_step, published_time


@pytest.fixture(scope="module")
def cases(root):
    """The training steps that the project keeps of the published ones."""
    return steps(root / "benchmarks" / "data" / "published.csv")


def test_one_row_is_drawn_of_each_table_and_its_measured_value_plays_no_part(cases):
    drawn = drawn_runs.drawn(cases)
    groups = Counter(case.group for _, case in drawn)
    assert len(groups) >= 6
    assert set(groups.values()) == {1}
    slower = [(replace(row, value=2 * row.value), replace(case, seconds=case.seconds / 2)) for row, case in cases]
    assert [row.cells["id"] for row, _ in drawn_runs.drawn(slower)] == [row.cells["id"] for row, _ in drawn]
    assert not {case.group for _, case in drawn} & {"nemo-long", "mosaic-a100"}


def test_rows_that_are_shown_have_no_plan_that_is_asked_for(cases):
    drawn = drawn_runs.drawn(cases)
    shown = list(drawn_runs.shown(cases, drawn))
    assert shown
    assert not {drawn_runs.plan_of(case) for _, case in shown} & {drawn_runs.plan_of(case) for _, case in drawn}


def test_a_row_of_the_table_is_what_the_benchmark_reads(cases):
    """`record` raises where the table's reader has another time, published or predicted."""
    for row, case in [*drawn_runs.drawn(cases), *drawn_runs.shown(cases, [])]:
        kept = [run for run in measured_plans() if run.key == row.cells["id"]]
        made = drawn_runs.record(row, case, asked=kept[0].asked if kept else False)
        for run in kept:
            assert predicted_step(run).total == pytest.approx(predicted_step(made).total)
            assert published_time(run) == pytest.approx(published_time(made))
            assert drawn_runs.line(run) == drawn_runs.line(made)


def test_the_model_errs_on_the_ten_as_on_their_tables(root):
    """docs/fidelity.md is written from scores.csv: no error is above its table's worst, and the median of the ten is
    that of the tables' medians, to a few parts in a thousand."""
    with (root / "benchmarks" / "data" / "scores.csv").open() as file:
        scores = {row["set"]: row for row in csv.DictReader(file)}
    readers = {run: reader_of("train-step", run.key, config_of(run)) for run in measured_plans(asked=True)}
    of = {run: training_group(reader, stack_system(run), config_of(run)) for run, reader in readers.items()}
    assert len(set(of.values())) == 10
    errors = {run: abs(float(predicted_step(run).total) / published_time(run) - 1) for run in of}
    for run, group in of.items():
        assert errors[run] <= float(scores[group]["max_abs_error"]) * 1.001, run.key
    medians = [float(scores[group]["median_abs_error"]) for group in of.values()]
    assert median(errors.values()) == pytest.approx(median(medians), abs=0.004)


def stack_system(run):
    """The system as its table names it."""
    return f"DGX-{run.chip.split('-')[0].upper()}"


def config_of(run):
    return {"model": "LLAMA3" if run.model.startswith("llama3") else run.model}
