"""How far the planners' predictions are from the measured rows: `python -m benchmarks.score.error_rows [--check]`.

It writes hwlib/specs/prediction_errors.csv, from which the library says how far an answer may be off: every row of
training and of serving that has a prediction, with its features and amounts as the planners see them; of a stack on a
chip, `MOST` rows at even steps in the order of the tables. Steps of adapters beside frozen matrices are left out: their
features are those of a run that trains everything.
"""

import csv
import io
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import log
from pathlib import Path

import click

from benchmarks.fit.one_gpu import MODELS, OneGpuStep, measured_steps
from benchmarks.paths import DATA, SPECS
from benchmarks.rows.published import ROWS, case_of, read_rows, steps
from benchmarks.rows.published_row import HELD_OUT, PublishedRow
from benchmarks.rows.serving_rows import Serving, unfitted_case
from benchmarks.rows.training_step import parted
from benchmarks.score.predictions import Prediction, predict
from hwlib.expected_error import FIRST, Situation
from hwlib.planner import SoftwareSettings, Task
from hwlib.planner.situation import situation
from hwlib.planner.task import task_of
from hwlib.serving_planner.situation import server_situation
from hwlib.specs import accelerators, stacks
from hwlib.specs.prediction_errors import FILE, TRAINING, Basis, PredictionError
from hwlib.specs.serving_stack import USUAL, serving_stacks
from hwlib.steptime import step_time

MOST = 24
"""Rows of a stack on a chip that the table has."""
UNFITTED = DATA / "unfitted.csv"
OWN = "measured for this project"
OTHER = "megatron-core-h100"  # whose constants are typical of an H200
HEAD = """\
# Errors of the planners' predictions on measured training steps and servers, written by benchmarks/score/error_rows.py:
# `error` is the natural logarithm of measured over predicted; `basis` 0: constants were fitted to the row among others;
# 1: to others of its software on its chip; 2: to none of these. hwlib/specs/prediction_errors.py says what else is.
"""


def training_errors(path: Path) -> Iterator[tuple[str, PredictionError]]:
    """The timed steps of a folder, with the documents that they are from. Raises DataError."""
    for row, case in steps(path, every=True):
        predicted = predict(case)
        if isinstance(predicted, Prediction) and not case.plan.get("frozen"):
            basis = Basis.TYPICAL if predicted.typical else _basis(row)
            there = situation(case.task(), parted(case.plan)[0])
            yield row.source, record(row.cells["id"], there, basis, predicted.measured / predicted.time, row.source)


def one_gpu_errors() -> Iterator[tuple[str, PredictionError]]:
    """The steps of plain PyTorch on one H200, to all of whose dense models its constants were fitted, with these and
    with those of other software.
    """
    for number, step in enumerate(measured_steps(), 1):
        for stack in (f"{step.software}-h200", OTHER):
            task = one_gpu_task(step, stack)
            basis = Basis.UNSEEN if task.model.moe else Basis.FITTED
            ratio = step.seconds / float(step_time(task, step.plan).total)
            there, basis = situation(task, step.plan), Basis.TYPICAL if stack == OTHER else basis
            yield OWN, record(f"own-h200-{step.name}-{number}", there, basis, ratio, OWN)


def one_gpu_task(step: OneGpuStep, stack: str | None) -> Task:
    """What the planner is asked for one of these steps."""
    software = SoftwareSettings(stack=stack, states=step.trained.states)
    B = step.sequences * step.tokens
    return task_of(MODELS[step.name], "dgx-h200", B=B, T=step.tokens, gpus=1, software=software)


def serving_errors(path: Path) -> Iterator[tuple[str, PredictionError]]:
    """The servers of a folder, with the documents that they are from. Raises DataError."""
    for row in read_rows(path)[0]:
        case = case_of(row, path) if row.kind == "inference-serving" and not row.fault else None
        if isinstance(case, Serving) and case.server.chip.key in accelerators and not case.bound:
            predicted = predict(case)
            assert isinstance(predicted, Prediction)
            basis = Basis.TYPICAL if case.typical else _basis(row)
            there = serving_situation(row, case)
            yield row.source, record(row.cells["id"], there, basis, predicted.measured / predicted.time, row.source)


def unfitted_errors(path: Path) -> Iterator[tuple[str, PredictionError]]:
    """The servers of a file whose chips no constant was fitted to, with the usual constants. Raises DataError."""
    for row in read_rows(path)[0]:
        case = unfitted_case(row, serving_stacks[USUAL])
        ratio = case.seconds / case.time(serving_stacks[USUAL].typical(case.server.chip))
        there = serving_situation(row, case)
        yield row.source, record(row.cells["id"], there, Basis.TYPICAL, ratio, row.source)


def serving_situation(row: PublishedRow, case: Serving) -> Situation:
    """What the planner of servers would be asked for a row; of a first token, that it is one."""
    steady = row.config["load"] in ("max", "closed loop")
    apart = bool(row.config.get("disaggregated"))
    tokens = row.config["input"] + row.config["output"]
    there = server_situation(case.server, serving_stacks[case.stack], tokens, case.requests, steady, apart)
    return replace(there, features=there.features | {FIRST}) if row.unit.startswith("ms first") else there


def _basis(row: PublishedRow) -> Basis:
    return Basis.UNSEEN if row.cells["use"] == HELD_OUT else Basis.FITTED


def record(key: str, there: Situation, basis: Basis, ratio: float, source: str) -> PredictionError:
    """A row of the table; one of a software that another's named stack predicted is of all software on the chip."""
    named = there.stack.partition(" on ")[0] in (stacks if there.work == TRAINING else serving_stacks)
    stack = f"typical-{there.chip}" if basis == Basis.TYPICAL and named else there.stack
    ranks, tokens, parameters, load = map(round, there.amounts)
    features = " ".join(sorted(there.features))
    error = float(f"{log(ratio):.4f}")
    name = source.split()[0]
    amounts = (ranks, tokens, int(float(f"{parameters:.4g}")), max(load, 1))
    return PredictionError(key, there.work, stack, there.chip, features, *amounts, int(basis), error, name)


def errors(path: Path) -> list[tuple[str, PredictionError]]:
    """All rows, with the documents that they are from. Raises DataError."""
    return [*training_errors(path), *one_gpu_errors(), *serving_errors(path), *unfitted_errors(UNFITTED)]


def chosen(rows: Iterable[PredictionError]) -> list[PredictionError]:
    """Of each stack and chip at most `MOST`, at even steps in the order of the rows."""
    groups: dict[tuple[str, str], list[PredictionError]] = {}
    for row in rows:
        groups.setdefault((row.stack, row.chip), []).append(row)
    return [row for group in groups.values() for row in _even(group)]


def _even(rows: Sequence[PredictionError]) -> Iterator[PredictionError]:
    count = min(len(rows), MOST)
    for i in range(count):
        yield rows[i * len(rows) // count]


def table_of(path: Path) -> str:
    """The table, as text. Raises DataError."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(PredictionError._fields)
    writer.writerows(chosen(row for _, row in errors(path)))
    return HEAD + out.getvalue()


@click.command(help=__doc__)
@click.option("--check", is_flag=True, help="write nothing, and fail where the table would change")
def main(check: bool) -> None:
    """Write the table, or check it."""
    target, text = SPECS / FILE, table_of(ROWS)
    if not check:
        target.write_text(text, "utf-8")
    elif target.read_text("utf-8") != text:
        sys.exit(f"{FILE} is not what the rows give; python -m benchmarks.score.error_rows writes it")


if __name__ == "__main__":
    main()
