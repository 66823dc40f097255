"""How fast the planner is, and how good its choice: `python -m benchmarks.planner`.

Plans a second on one core: with their memory, with memory and time, and in a search, which times only what fits; how
long a question takes from the start of Python; and the same beside other tools, installed into an environment that is
thrown away (see `benchmarks.planner.peers`). Seconds are of processor time, but for the start; each line has the
minimum, the median and the maximum of the repeats.

With `--data FILE`, a table as for `benchmarks.fidelity`: regret. Runs of one model, batch and number of GPUs that
differ in their plan are a group; of the group's plans the planner advises one, and its measured time is set against
the best measured one. Beside it stands the plan that is quickest by the model, without a thought for what is noise.
What counts as simple is one of a few orders: the last lines have the one that each half of the groups would choose,
and its regret on the other half.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any

import click
import numpy as np

from benchmarks.fit.folds import fold_of
from benchmarks.planner.peers import PUBLISHED, NoPeer, install_mlsysim, measure_calculon, measure_mlsysim
from benchmarks.rows.published import case_of, read_rows
from benchmarks.rows.training_step import TrainingStep, parted
from benchmarks.score.predictions import Prediction, predict_step
from hwlib.footprint import unchecked_footprint
from hwlib.planner.advice import Order, choose, closeness, complexity, typed, worse
from hwlib.planner.allowed import Allowed, axes_of
from hwlib.planner.software_settings import SoftwareSettings
from hwlib.planner.space import Space, space
from hwlib.planner.task import Task, task_of
from hwlib.specs import Stack, stacks
from hwlib.steptime import step_time
from hwlib.strategy import MESH, Strategy

WIDE: dict[str, Any] = {
    "micro": tuple(range(1, 17)),
    "zero": (0, 1, 2, 3),
    "recompute": ("none", "selective", "full"),
    "sp": (True, False),
    "schedule": ("gpipe", "1f1b", "zb_h1", "zbv", "dualpipe"),
}
MODELS = ("llama3-405b", "gpt3-175b", "deepseek-v3")
QUESTION = "from hwlib.planner import plan; plan('llama3-405b', 'h100-superpod-16k', B=2**24)"
COMMAND = ["-m", "autograder", "plan", "llama3-405b", "--cluster", "h100-superpod-16k", "--batch", "16M"]


def wide_task(model: str) -> Task:
    """15,360 GPUs and as many sequences, numbers with many divisors, so with many plans; a software that has all."""
    everything = SoftwareSettings(features="any")
    return task_of(model, "h100-superpod-16k", B=15360 * 2048, T=2048, gpus=15360, software=everything)


def rates(task: Task) -> tuple[Space, dict[str, float]]:
    """The space of a task with every choice there is, and plans a second: of each step, and of all."""
    started = time.process_time()
    found = space(task, axes_of(task, Allowed(**WIDE)))
    listed = time.process_time()
    memory = unchecked_footprint(task, found.strategy, m=found.m).total
    held = time.process_time()
    fits = memory <= task.memory
    step_time(task, found.strategy[fits])
    searched = time.process_time()
    step_time(task, found.strategy)
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
class PlanGroup:
    """The plans of one model, batch and number of GPUs: columns of predicted seconds, of what typed constants could add
    to them, of measured seconds (the mean of a plan's repeats), and of the plans.
    """

    name: str
    fold: int
    error: float
    seconds: Any
    risk: Any
    measured: Any
    strategy: Strategy
    m: Any

    def regret(self, order: Order) -> float:
        """Over the best measured time, less 1, that of the plan that the planner advises with this order."""
        chosen = choose(self.seconds, self.risk, self.strategy, self.m, self.error, order)
        return float(self.measured[chosen] / self.measured.min() - 1)

    @property
    def quickest(self) -> float:
        """That of the plan that is quickest by the model; of equals the slowest."""
        equal = self.seconds <= self.seconds.min() * (1 + 1e-9)
        return float(self.measured[equal].max() / self.measured.min() - 1)

    @property
    def random(self) -> float:
        """The mean of all plans."""
        return float(self.measured.mean() / self.measured.min() - 1)


def stages_first(s: Strategy, m: Any) -> tuple[Any, ...]:
    """The fewest pipeline stages, then pieces."""
    return m * s.v, s.pp, s.recompute_code


def kinds_first(s: Strategy, m: Any) -> tuple[Any, ...]:
    """The fewest kinds of parallelism, then pieces."""
    hybrid, ranks, kinds, pieces, *rest = complexity(s, m)
    return hybrid, ranks, pieces, kinds, *rest


def ranks_first(s: Strategy, m: Any) -> tuple[Any, ...]:
    """The fewest ranks of a replica, then pieces."""
    hybrid, ranks, kinds, pieces, *rest = complexity(s, m)
    return hybrid, kinds, pieces, ranks, *rest


def time_alone(_s: Strategy, _m: Any) -> tuple[Any, ...]:
    """Nothing: the quickest."""
    return ()


ORDERS: Mapping[str, Order] = {
    "pieces": complexity,
    "kinds": kinds_first,
    "ranks": ranks_first,
    "stages": stages_first,
    "time alone": time_alone,
}
"""What a simple plan could have few of, first of all; the first is what the planner takes."""


def groups_of(paths: Iterable[Path], sets: Sequence[str]) -> tuple[list[PlanGroup], list[str]]:
    """The groups of tables' rows that have two plans or more, and what kept rows out."""
    found: dict[tuple[Any, ...], dict[str, list[TrainingStep]]] = defaultdict(lambda: defaultdict(list))
    left_out: list[str] = []
    for case in (case_of(row, path) for path in paths for row in read_rows(path)[0]):
        if not isinstance(case, TrainingStep) or case.group not in sets:
            continue
        if not isinstance(prediction := predict_step(case), Prediction):
            left_out.append(prediction.reason)
            continue
        model, plan = case.model, case.plan
        stack = case.typical or stacks[case.stack]
        key = case.group, stack.key, model.layers, model.width, model.heads, case.gpus, plan["B"], plan["T"]
        found[key][repr(sorted(plan.items()))].append(case)
    return [_group(key, plans) for key, plans in found.items() if len(plans) > 1], left_out


def _group(key: tuple[Any, ...], plans: Mapping[str, Sequence[TrainingStep]]) -> PlanGroup:
    cases = [repeats[0] for repeats in plans.values()]
    stack = cases[0].typical or stacks[cases[0].stack]
    seconds = np.array([predicted(case) for case in cases])
    risk = np.zeros(seconds.shape)
    for name in typed(stack):
        if other := worse(stack, name):
            slower = [predicted(case, other.replace(chip=case.chip)) for case in cases]
            risk = np.maximum(risk, np.array(slower) / seconds - 1)
    strategies = [parted(case.plan)[0] for case in cases]
    columns = {name: np.array([getattr(s, name) for s in strategies]) for name in (*MESH, "v", "micro", "zero")}
    m = np.array([s.microbatches(c.plan["B"], c.plan["T"]) for s, c in zip(strategies, cases, strict=True)])
    measured = np.array([mean(case.seconds for case in repeats) for repeats in plans.values()])
    group = repr(key[2:])  # the model, its batch and GPUs: never the software's release
    quickest = int(np.argmin(seconds))
    error = closeness(cases[quickest].task(), strategies[quickest])
    return PlanGroup(key[0], fold_of(group), error, seconds, risk, measured, Strategy(**columns), m)


def predicted(case: TrainingStep, stack: Stack | None = None) -> float:
    """Seconds of a step that the model can predict."""
    found = predict_step(case, stack)
    assert isinstance(found, Prediction)
    return found.time


def print_regret(paths: Sequence[Path], sets: Sequence[str]) -> None:
    """One line a set and fold, and for each fold the order that the other would have chosen."""
    found, left_out = groups_of(paths, sets)
    print(f"\nRegret of the plan that is advised ({', '.join(path.name for path in paths)})")
    print(
        f"{'set':<16}{'fold':>5}{'groups':>8}{'plans':>7}{'mean':>9}{'median':>9}{'max':>9}{'quickest':>11}{'random':>9}"
    )
    for name in sets:
        here = [one for one in found if one.name == name]
        if not here:
            print(f"{name:<16} no group with two plans")
        for fold in (0, 1, None) if here else ():
            if of := [one for one in here if fold in (one.fold, None)]:
                chosen = [one.regret(complexity) for one in of]
                cells = f"{'all' if fold is None else fold:>5}{len(of):>8}{sum(one.m.size for one in of):>7}"
                cells += f"{mean(chosen):>9.2%}{median(chosen):>9.2%}{max(chosen):>9.2%}"
                print(f"{name:<16}{cells}{mean(o.quickest for o in of):>11.2%}{mean(o.random for o in of):>9.1%}")
    for fold in (0, 1):
        other = [one for one in found if one.fold != fold]
        if other and len(other) < len(found):
            order = chosen_on([one for one in found if one.fold == fold])
            said = ", ".join(f"{name} {x:.2%}" for name, x in by_set(other, ORDERS[order]).items())
            print(f"order chosen on fold {fold}: {order}; on the other fold: {said}")
    for reason in sorted(set(left_out)):
        print(f"  left out, {left_out.count(reason)} rows: {reason}")


def by_set(groups: Sequence[PlanGroup], order: Order) -> dict[str, float]:
    """The mean regret of each set."""
    names = dict.fromkeys(one.name for one in groups)
    return {name: mean(one.regret(order) for one in groups if one.name == name) for name in names}


def chosen_on(groups: Sequence[PlanGroup]) -> str:
    """The order of least regret, with as much weight for each set; of equals the first."""
    return min(ORDERS, key=lambda name: round(mean(by_set(groups, ORDERS[name]).values()), 6))


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


def print_peers(repeats: int, calculon: Path | None, python: Path | None) -> None:
    """Other tools, if they are to be had."""
    print(f"\n{'others, plans a second and core':<40}{'min':>12} {'median':>12} {'max':>12}")
    with tempfile.TemporaryDirectory() as folder:
        peers: list[tuple[str, Callable[[], list[float]]]] = [
            ("mlsysim", lambda: measure_mlsysim(install_mlsysim(Path(folder) / "mlsysim"), repeats)),
            ("calculon", lambda: measure_calculon(Path(folder), calculon, repeats, python)),
        ]
        for name, measured in peers:
            try:
                print(f"{name:<40}{spread(measured())}")
            except NoPeer as error:
                print(f"{name:<40}not measured: {error}")
                print(f"{'':<40}{PUBLISHED[name]}")


@click.command()
@click.option(
    "--data",
    type=click.Path(dir_okay=False, exists=True, path_type=Path),
    multiple=True,
    help="Published runs, for regret; several tables may be given.",
)
@click.option("--sets", default="vtrain-multi,vtrain-single,bloom", show_default=True, help="Of these tables.")
@click.option("--repeats", type=click.IntRange(1), default=5, show_default=True)
@click.option("--only", type=click.Choice(["speed", "start", "peers", "regret"]), multiple=True)
@click.option("--calculon", type=click.Path(file_okay=False, exists=True, path_type=Path), help="A checkout of it.")
@click.option(
    "--calculon-python",
    type=click.Path(dir_okay=False, exists=True, path_type=Path),
    help="A Python that has what it imports.  [default: that of a new environment]",
)
def main(
    data: tuple[Path, ...],
    sets: str,
    repeats: int,
    only: tuple[str, ...],
    calculon: Path | None,
    calculon_python: Path | None,
) -> None:
    """Measure the planner: speed, start, peers and regret."""
    parts = only or ("speed", "start", "peers", "regret")
    if "speed" in parts:
        print_speed(repeats)
    if "start" in parts:
        print_start(repeats)
    if "peers" in parts:
        print_peers(repeats, calculon, calculon_python)
    if "regret" in parts and data:
        print_regret(data, [name.strip() for name in sets.split(",")])
