"""How fast the planner is, and how good its choice: `python -m benchmarks.planner`.

Plans a second on one core: with their memory, with memory and time, and in a search, which times only what fits; how
long a question takes from the start of Python; and the same beside other tools, installed into an environment that is
thrown away (see `benchmarks.planner_peers`). Seconds are of processor time, but for the start; each line has the
minimum, the median and the maximum of the repeats.

With `--data FILE`, a table as for `benchmarks.fidelity`: regret. Runs of one model, batch and number of GPUs that
differ in their plan are a group; of the group's plans the planner advises one, and its measured time is set against
the best measured one. Beside it stands the plan that is quickest by the model, without a thought for what is noise.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any

import click
import numpy as np

from benchmarks.planner_peers import PUBLISHED, NoPeer, install_mlsysim, measure_calculon, measure_mlsysim
from benchmarks.predictions import Prediction, predict_step
from benchmarks.published import case_of, read_rows
from benchmarks.training_step import Step
from hwlib.planner.allowed import Allowed, axes_of
from hwlib.planner.costs import footprints, simplest, step_times
from hwlib.planner.space import Space, space
from hwlib.planner.task import Task, task_of
from hwlib.specs import Stack, stacks

WIDE: dict[str, Any] = {
    "micro": tuple(range(1, 17)), "zero": (0, 1, 2, 3), "recompute": ("none", "selective", "full"), "sp": (True, False),
    "schedule": ("gpipe", "1f1b", "zb_h1", "zbv", "dualpipe"),
}  # fmt: skip
MODELS = ("llama3-405b", "gpt3-175b", "deepseek-v3")
QUESTION = "from hwlib.planner import plan; plan('llama3-405b', 'h100-superpod-16k', B=2**24)"
COMMAND = ["-m", "autograder", "plan", "llama3-405b", "--cluster", "h100-superpod-16k", "--batch", "16M"]


def wide_task(model: str) -> Task:
    """15,360 GPUs and as many sequences: numbers with many divisors, so with many plans."""
    return task_of(model, "h100-superpod-16k", B=15360 * 2048, T=2048, gpus=15360)


def rates(task: Task) -> tuple[Space, dict[str, float]]:
    """The space of a task with every choice there is, and plans a second: of each step, and of all."""
    started = time.process_time()
    found = space(task, axes_of(task, Allowed(**WIDE)))
    listed = time.process_time()
    memory = footprints(task, found.strategy, found.m).total
    held = time.process_time()
    fits = memory <= task.memory
    step_times(task, found.strategy[fits])
    searched = time.process_time()
    step_times(task, found.strategy)
    timed = time.process_time()
    n = found.size
    return found, {
        "points of the grid, searched": found.considered / (searched - started),
        "plans that can be, searched": n / (searched - started),
        "plans with memory": n / (held - listed),
        "plans with memory and time": n / (held - listed + timed - searched),
    }


def spread(values: Sequence[float]) -> str:
    """Minimum, median and maximum."""
    return " ".join(f"{value:>12,.3g}" for value in (min(values), median(values), max(values)))


def run_time(arguments: Sequence[str]) -> tuple[float, float]:
    """Seconds from the start of a Python to its end, by the wall and of the processor."""
    started, before = time.perf_counter(), os.times()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, env=_one_thread())
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - started, used


def _one_thread() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Regret:
    """One group: its runs; over the best time, less 1, that of the advised one, of the quickest by the model (of equals
    the slowest), and the mean.
    """

    name: str
    runs: int
    chosen: float
    quickest: float
    random: float


def regrets(path: Path, sets: Sequence[str]) -> tuple[list[Regret], list[str]]:
    """The regret of each group of a table's rows, and what kept rows out."""
    rows, _ = read_rows(path)
    groups: dict[tuple[Any, ...], list[tuple[float, float, float, float]]] = {}
    used: dict[str, Stack] = {}
    left_out: list[str] = []
    for row in rows:
        case = case_of(row, path)
        if not isinstance(case, Step) or case.group not in sets:
            continue
        found = predict_step(case)
        if not isinstance(found, Prediction):
            left_out.append(found.reason)
            continue
        model = case.model
        B, T = case.plan["B"], case.plan["T"]
        stack = case.typical or stacks[case.stack]
        used[stack.key] = stack
        key = (case.group, stack.key, model.layers, model.width, model.heads, case.gpus, B, T)
        pieces = B / T / case.plan["dp"] / case.plan["micro"] * case.plan.get("v", 1)
        groups.setdefault(key, []).append((found.time, case.seconds, pieces, case.plan.get("pp", 1)))
    result = []
    for key, runs in groups.items():
        if len(runs) > 1:
            times, measured, pieces, stages = (np.array(column) for column in zip(*runs, strict=True))
            best, equal = measured.min(), times <= times.min() * (1 + 1e-9)
            chosen = measured[simplest(times, pieces, stages, used[key[1]])]
            over = (chosen / best - 1, measured[equal].max() / best - 1, measured.mean() / best - 1)
            result.append(Regret(key[0], len(runs), *map(float, over)))
    return result, left_out


def print_regret(path: Path, sets: Sequence[str]) -> None:
    """One line a set."""
    found, left_out = regrets(path, sets)
    print(f"\nRegret of the plan that is advised ({path.name})")
    print(f"{'set':<16}{'groups':>8}{'runs':>7}{'mean':>9}{'median':>9}{'max':>9}{'quickest':>11}{'at random':>11}")
    for name in (*sets, "all"):
        of = [one for one in found if name in (one.name, "all")]
        if not of:
            print(f"{name:<16} no group with two plans")
            continue
        chosen = [one.chosen for one in of]
        cells = f"{mean(chosen):>9.2%}{median(chosen):>9.2%}{max(chosen):>9.2%}"
        cells += f"{mean(o.quickest for o in of):>11.2%}{mean(o.random for o in of):>11.1%}"
        print(f"{name:<16}{len(of):>8}{sum(one.runs for one in of):>7}{cells}")
    for reason in sorted(set(left_out)):
        print(f"  left out, {left_out.count(reason)} rows: {reason}")


def print_speed(repeats: int) -> None:
    """Plans a second on one core."""
    for model in MODELS:
        task = wide_task(model)
        runs = [rates(task) for _ in range(repeats)]
        found = runs[0][0]
        print(f"{task}: {found.considered:,} points, {found.size:,} plans that can be")
        print(f"{'a second and core':<40}{'min':>12} {'median':>12} {'max':>12}")
        for name in runs[0][1]:
            print(f"{name:<40}{spread([rate[name] for _, rate in runs])}")


def print_start(repeats: int) -> None:
    """From nothing to an answer."""
    print(f"\n{'seconds, with the start of Python':<40}{'min':>12} {'median':>12} {'max':>12}")
    for name, arguments in (("plan 405B on 16,384 GPUs", ["-c", QUESTION]), ("gpubook plan, the same", COMMAND)):
        runs = [run_time(arguments) for _ in range(repeats)]
        print(f"{name:<40}{spread([wall for wall, _ in runs])}")
        print(f"{'  of the processor':<40}{spread([used for _, used in runs])}")


def print_peers(repeats: int, calculon: Path | None) -> None:
    """Other tools, if they are to be had."""
    print(f"\n{'others, plans a second and core':<40}{'min':>12} {'median':>12} {'max':>12}")
    with tempfile.TemporaryDirectory() as folder:
        peers: list[tuple[str, Callable[[], list[float]]]] = [
            ("mlsysim", lambda: measure_mlsysim(install_mlsysim(Path(folder) / "mlsysim"), repeats)),
            ("calculon", lambda: measure_calculon(Path(folder) / "calculon", calculon, repeats)),
        ]
        for name, measured in peers:
            try:
                print(f"{name:<40}{spread(measured())}")
            except NoPeer as error:
                print(f"{name:<40}not measured: {error}")
                print(f"{'':<40}{PUBLISHED[name]}")


@click.command()
@click.option(
    "--data", type=click.Path(dir_okay=False, exists=True, path_type=Path), help="Published runs, for regret."
)
@click.option("--sets", default="vtrain-multi,vtrain-single", show_default=True, help="Of these tables.")
@click.option("--repeats", type=click.IntRange(1), default=5, show_default=True)
@click.option("--only", type=click.Choice(["speed", "start", "peers", "regret"]), multiple=True)
@click.option("--calculon", type=click.Path(file_okay=False, exists=True, path_type=Path), help="A checkout of it.")
def main(data: Path | None, sets: str, repeats: int, only: tuple[str, ...], calculon: Path | None) -> None:
    """Measure the planner: speed, start, peers and regret."""
    parts = only or ("speed", "start", "peers", "regret")
    if "speed" in parts:
        print_speed(repeats)
    if "start" in parts:
        print_start(repeats)
    if "peers" in parts:
        print_peers(repeats, calculon)
    if "regret" in parts and data:
        print_regret(data, [name.strip() for name in sets.split(",")])


if __name__ == "__main__":
    main()
