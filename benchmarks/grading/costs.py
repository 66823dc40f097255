"""What grading costs, beside stock nbgrader and otter-grader: `python -m benchmarks.grading`.

A class of finishing, honest submissions (right, partly right, wrong) is graded by `gpubook grade` and, as an ordinary
nbgrader assignment with hidden tests, by `nbgrader autograde` and `nbgrader generate_feedback`: the same questions,
answers, workers and limits, in turn, and the scores must be equal. Parts:

\b
  no-lab     numbers, a choice, an expression, functions, one of them in torch
  lab        the same and an all-reduce between two ranks, which stock starts with torch.distributed.run
  run-ranks  the same with ranks that hwlib.labs.run_ranks forks, on both sides
  faults     a loop, a dead kernel, a deadlock: seconds over the limit
  memory     the most that one submission takes, with all processes
  check      how long `check` takes in a notebook
  otter      the same submissions by `otter run`, which is installed for it and thrown away
  scale      ours for 10, 100 and 1,000 submissions
  kills      1,000 submissions, killed (kill -9) at ten random moments and resumed, against the same without a kill

The last two take long and run only where asked for. Figures are minimum / median / maximum of the repeats.
"""

import io
import json
import math
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import click

from benchmarks.grading import check_times
from benchmarks.grading import otter as otter_grader
from benchmarks.grading.classroom import (
    DEADLOCK,
    LAB,
    NAME,
    NO_LAB,
    RANKS,
    Class,
    GradedQuestion,
    draw,
    ours,
    scores_in,
    scores_of,
    stock,
)
from benchmarks.grading.kills import measure, progress
from benchmarks.grading.runs import Ran, grade_ours, grade_stock

Grade = Callable[..., Ran]
BOTH: dict[str, Grade] = {"ours": grade_ours, "stock": grade_stock}
FAULTS = {
    "loop": (NO_LAB, "bench-steps", "while True:\n    pass"),
    "dead kernel": (NO_LAB, "bench-steps", "import os\nos._exit(3)"),
    "deadlock": (LAB, "bench-allreduce", DEADLOCK),
}
PARTS = ("no-lab", "lab", "run-ranks", "faults", "memory", "check", "otter", "scale", "kills")
LONG = ("scale", "kills")
SCALE = (10, 100, 1000)


@dataclass
class GradingSetting:
    """What holds for all parts."""

    size: int
    workers: int
    repeats: int
    limit: float
    seed: int
    folder: Path
    largest: int
    record: dict[str, Any] = field(default_factory=dict)
    made: int = 0

    def courses(self, questions: Sequence[GradedQuestion], learners: Class) -> dict[str, Path]:
        """The class in a course of each kind, ready to be copied."""
        self.made += 1
        root = self.folder / str(self.made)
        return {
            "ours": ours(root / "ours", questions, learners),
            "stock": stock(root / "stock", questions, learners),
        }

    def graded(self, side: str, course: Path, *, limit: float | None = None, memory: bool = False) -> tuple[Ran, Path]:
        """Grade a copy of a course, and return where it is."""
        self.made += 1
        copy = self.folder / f"{self.made}-{course.name}"
        shutil.copytree(course, copy)
        workers = min(self.workers, len(list((copy / "submitted").iterdir()))) if side == "stock" else self.workers
        return BOTH[side](copy, NAME, self.limit if limit is None else limit, workers, memory=memory), copy


def spread(values: Sequence[float], unit: float = 1.0) -> str:
    """Minimum, median and maximum."""
    return " / ".join(f"{value / unit:.3g}" for value in (min(values), median(values), max(values)))


def load() -> float:
    """How many processes wanted a processor in the last minute."""
    return os.getloadavg()[0]


def side_by_side(setting: GradingSetting, questions: Sequence[GradedQuestion], title: str) -> dict[str, Any]:
    """A class both ways, in turn; the scores must be those of the plan on both sides."""
    learners = draw(questions, setting.size, setting.workers, setting.seed)
    wanted, courses = scores_of(learners), setting.courses(questions, learners)
    seconds: dict[str, list[float]] = {"ours": [], "stock": []}
    cpu: dict[str, list[float]] = {"ours": [], "stock": []}
    loads = []
    for turn in range(setting.repeats):
        for side in ("ours", "stock") if turn % 2 == 0 else ("stock", "ours"):
            loads.append(load())
            ran, copy = setting.graded(side, courses[side])
            if (got := scores_in(copy)) != wanted:
                wrong = {who: (got.get(who), wanted[who]) for who in wanted if got.get(who) != wanted[who]}
                raise AssertionError(f"{side} does not give the scores of the plan: {wrong}\n{ran.said[-3000:]}")
            seconds[side].append(ran.seconds)
            cpu[side].append(ran.cpu)
            shutil.rmtree(copy)
    size = setting.size
    print(f"\n{title}: {size} submissions, {setting.workers} workers, equal scores; load before each {spread(loads)}")
    for side in BOTH:
        each = f"{spread(seconds[side], size)} s a submission"
        used = "" if math.isnan(cpu[side][0]) else f", {spread(cpu[side], size)} of processor time"
        print(f"  {side:5} {spread(seconds[side])} s, {each}{used}")
    ratios = {
        name: [theirs / mine for theirs, mine in zip(taken["stock"], taken["ours"], strict=True)]
        for name, taken in (("throughput", seconds), ("processor time", cpu))
    }
    for name, values in ratios.items():
        if not math.isnan(values[0]):
            print(f"  stock / ours, {name}: {spread(values)} times")
    return {"size": size, "seconds": seconds, "cpu": cpu, "ratios": ratios, "loads": loads}


def faults(setting: GradingSetting) -> dict[str, Any]:
    """What one learner's mishap costs beyond its limit: against the same submission without it."""
    found: dict[str, Any] = {}
    limit = min(setting.limit, 8.0)
    print(f"\nfaults: seconds beyond the limit of {limit:g} s a cell, against the same submission without the fault")
    for name, (questions, place, source) in FAULTS.items():
        honest = draw(questions, 1, 1, setting.seed)
        hurt = {who: {**answers, place: (source, False)} for who, answers in honest.items()}
        courses = {"honest": setting.courses(questions, honest), "hurt": setting.courses(questions, hurt)}
        found[name] = {}
        for side in BOTH:
            taken = {}
            for what, sides in courses.items():
                runs = [setting.graded(side, sides[side], limit=limit) for _ in range(setting.repeats)]
                taken[what] = [ran.seconds for ran, _ in runs]
                last, copy = runs[-1]
            got = next(iter(scores_in(copy).values()), {})
            kept = sum(value or 0.0 for value in got.values())
            extra = [t - min(taken["honest"]) - (0.0 if name == "dead kernel" else limit) for t in taken["hurt"]]
            full = sum(next(iter(scores_of(hurt).values())).values())
            found[name][side] = {"over": extra, "points": kept, "of": full, "left": last.left}
            print(
                f"  {name:11} {side:5} {spread(extra)} s; {kept:g} of the {full:g} points of the other answers; "
                f"{last.left} processes left behind"
            )
    return found


def memory(setting: GradingSetting) -> dict[str, Any]:
    """The most that grading one submission takes, and a class."""
    found: dict[str, Any] = {}
    print("\nmemory: the most that all processes hold at once, shared pages counted once")
    for title, questions in (("no-lab", NO_LAB), ("lab", LAB)):
        for size in (1, 2 * setting.workers):
            courses = setting.courses(questions, draw(questions, size, setting.workers, setting.seed))
            for side in BOTH:
                ran, _ = setting.graded(side, courses[side], memory=True)
                found[f"{title} {size} {side}"] = {"peak": ran.peak, "seconds": ran.seconds}
                print(f"  {title:6} {size} submissions {side:5} {ran.peak / 1e6:,.0f} MB, {ran.seconds:.1f} s")
    return found


def check(setting: GradingSetting) -> dict[str, Any]:
    """In a notebook."""
    folder = setting.folder / "check"
    folder.mkdir()
    print(f"\ncheck: milliseconds from sending a cell to its last output; load {load():.1f}")
    found = check_times.measure(folder, max(setting.repeats, 2))
    for kind, taken in found.items():
        later = taken["later"]
        target = check_times.TARGETS.get(kind)
        below = f"; {sum(t <= target for t in later)} of {len(later)} within {target * 1e3:g}" if target else ""
        print(f"  {kind:11} first {spread(taken['first'], 1e-3)}, later {spread(later, 1e-3)}{below}")
    return found


def otter(setting: GradingSetting) -> dict[str, Any]:
    """A right, a partly right and a wrong submission through `otter run`."""
    try:
        program = otter_grader.install(setting.folder / "otter-environment")
        learners = draw(LAB, 4, 1, setting.seed)
        chosen = {who: learners[who] for who in list(learners) if not who.endswith("2")}
        found = {}
        print("\notter run: a submission at a time, equal scores")
        for title, questions in (("no-lab", NO_LAB), ("lab", LAB)):
            part = {who: {q.name: answers[q.name] for q in questions} for who, answers in chosen.items()}
            found[title] = otter_grader.measure(
                setting.folder / f"otter-{title}", program, questions, part, setting.limit
            )
            print(f"  {title:6} {spread(found[title]['seconds'])} s, {found[title]['peak'] / 1e6:,.0f} MB")
        return found
    except otter_grader.NoOtter as error:
        print(f"\notter run: not measured, {error}")
        return {"skipped": str(error)}


def scale(setting: GradingSetting) -> dict[str, Any]:
    """Ours alone, for classes of several sizes."""
    found: dict[str, Any] = {}
    print(f"\nscale: ours, {setting.workers} workers, equal scores")
    for size in sorted({*(size for size in SCALE if size < setting.largest), setting.largest}):
        learners = draw(NO_LAB, size, setting.workers, setting.seed)
        course = ours(setting.folder / f"scale-{size}", NO_LAB, learners)
        before = load()
        ran = grade_ours(course, NAME, setting.limit, setting.workers, tell=partial(progress, course))
        if scores_in(course) != scores_of(learners):
            raise AssertionError(f"the scores of {size} submissions are not those of the plan\n{ran.said[-3000:]}")
        shutil.rmtree(course)
        found[str(size)] = {"seconds": ran.seconds, "cpu": ran.cpu, "load": before}
        each = f"{ran.seconds / size:.3f} s a submission, {ran.cpu / size:.3f} of processor time"
        print(f"  {size:5,} submissions {ran.seconds:.1f} s, {each}; load before {before:.1f}")
    return found


def kills(setting: GradingSetting) -> dict[str, Any]:
    """Ours, killed and resumed."""
    learners = draw(NO_LAB, setting.largest, setting.workers, setting.seed)
    print(f"\nkills: ours, {setting.workers} workers; load {load():.1f}")
    course = ours(setting.folder / "kills" / "course", NO_LAB, learners)
    return measure(course, setting.limit, setting.workers, setting.seed, lambda said: print(f"  {said}"))


def machine() -> dict[str, Any]:
    """Where and when it was measured."""
    model = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return {
        "date": datetime.now(UTC).isoformat(timespec="minutes"),
        "cores": len(os.sched_getaffinity(0)),
        "processor": model[0].partition(":")[2].strip() if model else "",
        "load": load(),
    }


def _stop(*_: object) -> None:
    raise SystemExit(128 + signal.SIGTERM)


@click.command(help=__doc__)
@click.option("--size", default=50, show_default=True, type=click.IntRange(1), help="Submissions of the class.")
@click.option("--workers", type=click.IntRange(1), help="On both sides.  [default: a core each]")
@click.option("--repeats", default=3, show_default=True, type=click.IntRange(1))
@click.option("--cell-limit", default=30.0, show_default=True, help="Seconds a cell may run, on both sides.")
@click.option("--seed", default=1, show_default=True, help="Of the class.")
@click.option("--largest", default=1000, show_default=True, type=click.IntRange(1), help="Class of scale and kills.")
@click.option("--only", "parts", multiple=True, type=click.Choice(PARTS), help="[default: all but scale and kills]")
@click.option("--quick", is_flag=True, help="5 submissions, once; no-lab, lab and check.")
@click.option("--json", "output", type=click.Path(dir_okay=False, path_type=Path), help="Write all figures there.")
def main(
    size: int,
    workers: int | None,
    repeats: int,
    cell_limit: float,
    seed: int,
    largest: int,
    parts: tuple[str, ...],
    quick: bool,
    output: Path | None,
) -> None:
    """Run the parts that were asked for."""
    if quick:
        size, repeats, parts = 5, 1, parts or ("no-lab", "lab", "check")
    signal.signal(signal.SIGTERM, _stop)  # what runs is ended, and what was written is removed, as with Ctrl-C
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    about = machine()
    print(f"{about['date']}, {about['cores']} cores of {about['processor'] or 'an unknown processor'}")
    print(f"minimum / median / maximum of {repeats}")
    with tempfile.TemporaryDirectory(prefix="gpubook-grading-") as scratch:
        setting = GradingSetting(size, workers or about["cores"], repeats, cell_limit, seed, Path(scratch), largest)
        setting.record["machine"] = about
        run: dict[str, Callable[[GradingSetting], dict[str, Any]]] = {
            "no-lab": lambda s: side_by_side(s, NO_LAB, "no lab"),
            "lab": lambda s: side_by_side(s, LAB, "a lab of two ranks"),
            "run-ranks": lambda s: side_by_side(s, RANKS, "two ranks by run_ranks on both sides"),
            "faults": faults,
            "memory": memory,
            "check": check,
            "otter": otter,
            "scale": scale,
            "kills": kills,
        }
        for part in parts or [part for part in PARTS if part not in LONG]:
            setting.record[part] = run[part](setting)
            if output is not None:
                output.write_text(json.dumps(setting.record, indent=1) + "\n", encoding="utf-8")
