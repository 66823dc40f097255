"""Published training runs, asked of `gpubook plan`: `python -m benchmarks.planner.one_path [--data FILE ...]`.

A published plan must have the seconds and bytes that it is scored with when somebody asks the command for it. Each run
is put into the words that one would type, which the command's own reader reads; `--release` is what its row prints. The
table has, by kind of model and chip, the mean error of the score, of the command, and of the command without
`--release`, which takes the newest: there, runs of earlier releases are predicted as if they were run again today.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import click

from autograder.cli.plan import PlanQuery
from autograder.cli.plan import plan as command
from benchmarks.rows.published import ROWS, steps
from benchmarks.rows.training_step import TrainingStep, parted
from benchmarks.score.predictions import Prediction, predict
from hwlib.footprint import STATES, Adapters, unchecked_footprint
from hwlib.planner import SoftwareSettings, Task
from hwlib.planner.task import task_of
from hwlib.specs import Stack, models, stacks
from hwlib.steptime import step_time
from hwlib.strategy import Strategy

TASK = ("B", "T", "gpus", "software", "memory", "price")
DEGREES = ("tp", "pp", "cp", "ep", "micro", "zero", "recompute")
CLOSE = 1e-9  # of a time or of bytes: what rounding a number in a text may change


@dataclass(frozen=True)
class CommandPlan:
    """What the command makes of its words: a task and the one plan of it; `words` are those typed."""

    words: tuple[str, ...]
    task: Task
    strategy: Strategy

    @property
    def seconds(self) -> float:
        """Of a step."""
        return float(step_time(self.task, self.strategy).total)

    @property
    def memory(self) -> float:
        """Bytes of the fullest GPU."""
        return float(unchecked_footprint(self.task, self.strategy).total)


def unsaid(case: TrainingStep) -> str:
    """What of a run no option of the command says; empty where it can be asked."""
    if case.plan.get("frozen"):
        return "adapters beside frozen matrices"
    if case.plan["micro"] != int(case.plan["micro"]):
        return "microbatches of different sizes"
    if case.software.states is not None and case.software.states not in STATES.values():
        return "states that no name of the command has"
    if case.plan.get("recompute_layers") is not None:
        return "some layers of a rank recomputed, and others not"
    return ""


def words_of(case: TrainingStep, release: bool = True, left: Collection[str] = ()) -> tuple[str, ...]:
    """The words that ask the command for a published run, with or without its release; degrees that are `left` to the
    search are not among them.
    """
    strategy, _ = parted(case.plan)
    sequences = case.plan["B"] // case.plan["T"]
    words = [case.model.key, "--cluster", cluster_line(case), "--batch", f"{sequences}x{case.plan['T']}"]
    words += ["--dtype", case.plan["dtype"], "--sp" if strategy.sp else "--no-sp"]
    for name in (name for name in DEGREES if name not in left):
        words += [f"--{name}", str(getattr(strategy, name))]
    for name in ("etp", "shards"):
        if (degree := getattr(strategy, name)) is not None:
            words += [f"--{name}", str(degree)]
    if strategy.pp > 1:
        words += ["--v", str(strategy.v)]
    return (*words, *software_words(case, release))


def software_words(case: TrainingStep, release: bool) -> Iterator[str]:
    """What is said of a run's software."""
    asked = case.software
    if asked.stack is not None:
        assert isinstance(asked.stack, Stack)
        yield from ("--stack", asked.stack.key if asked.stack.key in stacks else asked.stack.like)
    if release and asked.release:
        yield from ("--release", str(asked.release))
    if not asked.fused:
        yield "--no-fused"
    yield from trained_words(asked)
    if asked.mtp is not None and case.model.mtp_layers:
        yield "--mtp" if asked.mtp else "--no-mtp"


def trained_words(asked: SoftwareSettings) -> Iterator[str]:
    """What is said of what is trained, and in which precision."""
    if asked.states is not None:
        yield from ("--states", next(name for name, states in STATES.items() if states == asked.states))
    if asked.lora:
        adapters = asked.lora
        assert isinstance(adapters, Adapters)
        yield from ("--lora", f"{adapters.rank}@{'+'.join(adapters.matrices)}", "--base", adapters.base)
    if asked.loss != "full":
        yield from ("--loss", asked.loss)
    for what in asked.offload:
        yield from ("--offload", what)


def cluster_line(case: TrainingStep) -> str:
    """A run's machine, as a line that describes it."""
    machine = case.task().machine
    node, *above = machine.levels
    nodes = machine.gpus // node.size
    network = f", network {above[0].bandwidth / 1e9:.12g} GB/s" if nodes > 1 else ""
    host = f", host {machine.host / 1e9:.12g} GB/s" if case.software.offload and machine.host else ""
    return f"{nodes}x{node.size} {case.chip}, node {node.bandwidth / 1e9:.12g} GB/s{network}{host}"


def ask(case: TrainingStep, release: bool = True) -> CommandPlan:
    """What the command reads in a run's words. A shape that no key names is given as a config.json would be. Raises
    ValueError, and click's error for words that it does not know.
    """
    words = words_of(case, release)
    options: dict[str, Any] = command.make_context("plan", list(words), help_option_names=[]).params
    options.pop("as_json")
    query = PlanQuery.of(**options)
    model = query.model if models.find(query.model) == case.model else case.model
    task = task_of(model, query.cluster, **{name: query.asked[name] for name in TASK})
    chosen = {name: values[0] for name, values in query.asked["allowed"].given.items()}
    return CommandPlan(words, task, Strategy.of(gpus=task.gpus, **chosen))


@dataclass(frozen=True)
class Compared:
    """One run: predicted over measured, less 1, by the score, the command, and the command without a release; and
    whether the first two are equal, and their bytes.
    """

    kind: str
    scored: float
    asked: float
    newest: float
    equal: bool


def compared(path: Path, prefix: str = "") -> Iterator[Compared | str]:
    """Every scored run of a file whose id begins so, or why it cannot be asked. Raises DataError."""
    for row, case in steps(path, every=True):
        score = predict(case)
        if not row.cells["id"].startswith(prefix) or case.open or not isinstance(score, Prediction):
            continue
        if reason := unsaid(case):
            yield reason
            continue
        told = ask(case)
        same = abs(told.seconds / score.time - 1) < CLOSE and abs(told.memory / case.memory() - 1) < CLOSE
        newest = ask(case, release=False)
        kind = f"experts, {case.chip.partition('-')[0].upper()}" if case.model.moe else "dense"
        yield Compared(
            kind,
            score.time / case.seconds - 1,
            told.seconds / case.seconds - 1,
            newest.seconds / case.seconds - 1,
            same,
        )


def table(rows: Sequence[Compared]) -> list[str]:
    """The rows by kind, as Markdown."""
    lines = [
        "| models | rows | scored | `gpubook plan --release` | `gpubook plan` | equal |",
        "|:--|--:|--:|--:|--:|--:|",
    ]
    for kind in sorted({row.kind for row in rows}):
        some = [row for row in rows if row.kind == kind]
        means = (fmean(abs(getattr(row, name)) for row in some) for name in ("scored", "asked", "newest"))
        equal = sum(row.equal for row in some)
        lines.append(f"| {kind} | {len(some)} | " + " | ".join(f"{x:.1%}" for x in means) + f" | {equal} |")
    return lines


@click.command(help=__doc__)
@click.option("--data", type=click.Path(path_type=Path), multiple=True, default=(ROWS,), help="CSVs, or folders")
@click.option("--set", "prefix", default="mbridge", show_default=True, help="what the rows' ids begin with")
def main(data: tuple[Path, ...], prefix: str) -> None:
    """Print the table, and what could not be asked."""
    found = [one for path in data for one in compared(path, prefix)]
    for line in table([one for one in found if isinstance(one, Compared)]):
        click.echo(line)
    for reason in sorted({one for one in found if isinstance(one, str)}):
        click.echo(f"Not asked, {reason}: {found.count(reason)}")


if __name__ == "__main__":
    main()
