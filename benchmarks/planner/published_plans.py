"""NVIDIA's published plans, asked back: `python -m benchmarks.planner.published_plans [--data FILE ...]`.

Each plan of the tables is asked of `gpubook plan` with its degrees fixed, in the words that one would type; what no
table prints, the recomputation, is left to the search, for a recipe that recomputes a module or two prints the same
line; `--recipes` fixes what NVIDIA's recipes say of it for models with experts, and of gradients, which they sum up in
16 bits. The first table has, by model, how many are answered, and each that is refused with the command's reason: a
plan that was measured must not be called impossible.

The second table asks for the same tasks (model, chip, GPUs, batch, precision) with nothing fixed. Of each it has the
best measured step and the time of the plan that the command advises: where that is longer, the search does not find or
does not believe what people run; where it is shorter, it promises what nobody has reached.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any

import click

from autograder.cli.plan import PlanQuery
from autograder.cli.plan import plan as command
from benchmarks.planner.one_path import cluster_line, software_words, words_of
from benchmarks.rows.published import ROWS, steps
from benchmarks.rows.training_step import TrainingStep, parted
from hwlib.planner import PlanError, Plans, plan
from hwlib.specs import models
from hwlib.strategy import Strategy

CLOSE = 0.1  # of the best measured step: advice within it is good
UNPRINTED = ("recompute",)
"""Degrees that no row prints, whatever its recipe has: they are left to the search."""
ADAPTERS = (
    "16@q+k+v"  # of every recipe for LoRA of Llama 3 70B: scripts/performance and perf_recipes of megatron-bridge
)
GRADIENTS = ("--states", "mixed")
"""Of every such recipe: grad_reduce_in_fp32 is off in megatron-bridge, scripts/performance/configs and perf_recipes."""
SETTINGS = ("dedup_dispatch", "mtp", "dtype")
"""What of a row is not of its plan."""
TASK = ("B", "T", "dtype")


@dataclass(frozen=True)
class AskedPlan:
    """A published plan and the runs that had it; what the command answers, or why it refuses. With `recipes` what no
    table prints, and a recipe does, is fixed too.
    """

    runs: tuple[TrainingStep, ...]
    recipes: bool = False

    @property
    def case(self) -> TrainingStep:
        """The quickest of its runs."""
        return min(self.runs, key=lambda run: run.seconds)

    @cached_property
    def answer(self) -> Plans | str:
        """What the command answers."""
        words = words_of(self.case, left=() if self.recipes and self.case.model.moe else UNPRINTED)
        if self.case.plan.get("frozen"):
            return answered(self.case, (*words, "--lora", ADAPTERS))
        return answered(self.case, (*words, *GRADIENTS) if self.recipes else words)

    @property
    def refused(self) -> bool:
        """Whether there is no plan."""
        return isinstance(self.answer, str)

    def __str__(self) -> str:
        return f"{task_words(self.case)}: {_strategy(self.case)}"


@dataclass(frozen=True)
class AdvisedTask:
    """A task that was measured: its runs; and what the command advises, asked with the release of the best, or with
    the newest.
    """

    runs: tuple[TrainingStep, ...]
    release: bool

    @property
    def best(self) -> TrainingStep:
        """The quickest run."""
        return min(self.runs, key=lambda run: run.seconds)

    @cached_property
    def answer(self) -> Plans | str:
        """What the command answers."""
        case = self.best
        shape = f"{case.plan['B'] // case.plan['T']}x{case.plan['T']}"
        words = [case.model.key, "--cluster", cluster_line(case), "--batch", shape, "--dtype", case.plan["dtype"]]
        return answered(case, (*words, *software_words(case, self.release)))

    @property
    def error(self) -> float:
        """The time of the advised plan over the best measured one, less 1."""
        assert isinstance(self.answer, Plans)
        return float(self.answer.advised.seconds / self.best.seconds - 1)

    def line(self) -> str:
        """The task as a row of a Markdown table."""
        best, task = self.best, task_words(self.best)
        run = f"{_strategy(best)}, {best.software.release}"
        if isinstance(self.answer, str):
            return f"| {task} | {best.seconds:.3g} s | {run} | refused: {self.answer} | | |"
        advised = self.answer.advised
        return f"| {task} | {best.seconds:.3g} s | {run} | {advised} | {advised.seconds:.3g} s | {self.error:+.0%} |"


def task_words(case: TrainingStep) -> str:
    """What a run trains, on what, in which precision."""
    sequences, T, dtype = case.plan["B"] // case.plan["T"], case.plan["T"], case.plan["dtype"]
    return f"{case.model.name}, {case.gpus:,} {case.chip}, {sequences:,} x {T:,}, {dtype}"


def answered(case: TrainingStep, words: Sequence[str]) -> Plans | str:
    """What the command answers to words about a run, or its sentence of refusal. A shape that no key names is given as
    a config.json would be.
    """
    options: dict[str, Any] = command.make_context("plan", list(words), help_option_names=[]).params
    options.pop("as_json")
    query = PlanQuery.of(**options)
    model = query.model if models.find(query.model) == case.model else case.model
    try:
        return plan(model, query.cluster, **query.asked)
    except PlanError as error:
        return str(error)


def _strategy(case: TrainingStep) -> Strategy:
    return parted(case.plan)[0]


def published_cases(paths: Iterable[Path], sets: Sequence[str]) -> Iterator[TrainingStep]:
    """The steps of tables whose rows' ids begin so. Raises DataError."""
    for path in paths:
        for row, case in steps(path, every=True):
            if row.cells["id"].startswith(tuple(sets)) and not case.open:
                yield case


def _grouped(cases: Iterable[TrainingStep], names: Sequence[str]) -> list[tuple[TrainingStep, ...]]:
    """Runs of one model, chip and number of GPUs that have the same of these."""
    groups: dict[tuple[Any, ...], list[TrainingStep]] = defaultdict(list)
    for case in cases:
        values = [(name, case.plan.get(name)) for name in names]
        groups[(case.model.key, case.chip, case.gpus, bool(case.plan.get("frozen")), *values)].append(case)
    return [tuple(group) for group in groups.values()]


def asked_plans(cases: Sequence[TrainingStep], recipes: bool = False) -> list[AskedPlan]:
    """The distinct plans of runs, whatever their precision and release: the first precision stands for all."""
    names = sorted({name for case in cases for name in case.plan} - {*SETTINGS})
    return [AskedPlan(runs, recipes) for runs in _grouped(cases, names)]


def advised_tasks(cases: Iterable[TrainingStep], release: bool = True) -> list[AdvisedTask]:
    """The distinct tasks of runs that train everything."""
    whole = [case for case in cases if not case.plan.get("frozen")]
    return [AdvisedTask(runs, release) for runs in _grouped(whole, TASK)]


def answers_table(plans: Sequence[AskedPlan]) -> list[str]:
    """How many plans of each model are answered, as Markdown, and the others with their reasons."""
    lines = ["| model | plans | answered | refused |", "|:--|--:|--:|--:|"]
    by_model: Mapping[str, list[AskedPlan]] = _by_model(plans)
    for name, some in by_model.items():
        refused = sum(asked.refused for asked in some)
        lines.append(f"| {name} | {len(some)} | {len(some) - refused} | {refused} |")
    refused = sum(asked.refused for asked in plans)
    lines.append(f"| all | {len(plans)} | {len(plans) - refused} | {refused} |")
    return [*lines, "", *(f"- {asked}: {asked.answer}" for asked in plans if asked.refused)]


def _by_model(plans: Iterable[AskedPlan]) -> dict[str, list[AskedPlan]]:
    groups: dict[str, list[AskedPlan]] = defaultdict(list)
    for asked in plans:
        groups[asked.case.model.name].append(asked)
    return dict(sorted(groups.items()))


def summary(tasks: Sequence[AdvisedTask]) -> list[str]:
    """The median of the errors by kind of model, and how many promise too much, or too little."""
    lines = []
    for kind, moe in (("dense", False), ("experts", True)):
        errors = [task.error for task in tasks if task.best.model.moe == moe and not isinstance(task.answer, str)]
        if errors:
            size = f"{kind}: {len(errors)} tasks, median {median(map(abs, errors)):.1%}, bias {median(errors):+.1%}"
            over, under = sum(error > CLOSE for error in errors), sum(error < -CLOSE for error in errors)
            lines.append(f"{size}; {over} longer by more than {CLOSE:.0%}, {under} shorter")
    return lines


def advice_table(tasks: Sequence[AdvisedTask]) -> list[str]:
    """The tasks as Markdown."""
    head = ["| task | measured | by | advised | its time | over the measured |", "|:--|--:|:--|:--|--:|--:|"]
    return [*head, *(task.line() for task in tasks)]


@click.command(help=__doc__)
@click.option("--data", type=click.Path(path_type=Path), multiple=True, default=(ROWS,), help="CSVs, or folders")
@click.option("--sets", default="mbridge", show_default=True, help="What the rows' ids begin with, with commas.")
@click.option("--recipes", is_flag=True, help="Fix what NVIDIA's recipes say and no table prints.")
@click.option("--newest", is_flag=True, help="Ask for advice with the newest release, not that of the best run.")
def main(data: tuple[Path, ...], sets: str, recipes: bool, newest: bool) -> None:
    """Print the tables."""
    cases = [*published_cases(data, sets.split(","))]
    tasks = advised_tasks(cases, release=not newest)
    lines = [*answers_table(asked_plans(cases, recipes)), "", *advice_table(tasks), "", *summary(tasks)]
    click.echo("\n".join(lines))


if __name__ == "__main__":
    main()
