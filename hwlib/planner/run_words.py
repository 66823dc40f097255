"""What `gpubook plan --tokens` says of runs: columns of the table, sentences, and JSON data."""

from collections.abc import Sequence
from typing import Any

from hwlib.goodput import GIVEN, ExpectedRun
from hwlib.planner.run import rests_of_run
from hwlib.planner.task import Task
from hwlib.units import hour, plural, show

PART_WORDS = {
    "stragglers": "slow GPUs",
    "saving": "waiting for checkpoints",
    "again": "work done again",
    "restarting": "restarts",
    "waiting": "waiting for repairs",
}
CONSTANT_WORDS = {
    "t_gpu": "interruptions of a GPU",
    "broken": "share of interruptions that take a node out",
    "t_detect": "from an interruption to the start of the job",
    "t_back": "a restart",
    "t_repair": "repair of a node",
    "copy": "copy of a checkpoint to the host, a GPU",
    "write": "writing of it, a GPU",
    "read": "reading of it, a GPU",
    "storage": "storage, all GPUs together",
    "interval": "training between checkpoints",
    "spread": "standard deviation of a GPU's time",
}
UNITS = {"broken": "%", "spread": "%", "copy": "B/s", "write": "B/s", "read": "B/s", "storage": "B/s"}
SHOWN = 5e-5  # of the time: a part below it is not named
TOLD = 1e-3  # of the time: what a typed number could add less than is not named


def columns(runs: Sequence[ExpectedRun], task: Task, days: bool) -> list[tuple[str, list[str]]]:
    """The columns of the table that a run adds."""
    heads = [
        ("tokens" if days else "run", [tokens(run, task) if days else show(run.time, "s", 3) for run in runs]),
        ("goodput", [f"{run.goodput:.1%}" for run in runs]),
        ("spares", [f"{run.spares}" for run in runs]),
    ]
    if any(run.cost for run in runs):
        return [*heads, ("$ run", [rounded(run.cost) for run in runs])]
    return [*heads, ("GPU hours", [rounded(run.gpu_time / hour) for run in runs])]


def tokens(run: ExpectedRun, task: Task) -> str:
    """The tokens of a run, in decimal thousands."""
    number, unit = show(run.job.steps * task.B, "B", 3).split(" ")  # the prefixes of bytes are those of tokens
    return number + {"GB": "B"}.get(unit, unit.removesuffix("B"))


def rounded(x: float) -> str:
    """Three significant figures, in full."""
    return f"{float(f'{x:.3g}'):,.0f}"


def run_words(run: ExpectedRun, task: Task) -> list[str]:
    """What a run is expected to take, where its time goes, and on which constants that rests: a line each."""
    job, r = run.job, run.reliability
    held = f"{plural(job.gpus, 'GPU')} and {plural(run.spares, 'spare node')}"
    paid = f"{rounded(run.gpu_time / hour)} GPU hours" + (f", {rounded(run.cost)} dollars" if run.cost else "")
    more = run.time / run.ideal - 1
    lines = [
        f"The whole run, {tokens(run, task)} tokens in {plural(int(job.steps), 'step')}:",
        f"  Undisturbed {show(run.ideal, 's', 3)}; expected {show(run.time, 's', 3)} ({more:+.1%}), goodput "
        f"{run.goodput:.1%}; {held}, {paid}.",
        f"  Beside the steps: {losses(run)}.",
        f"  {interruptions(run)}",
    ]
    if typed := {name: share for name, share in rests_of_run(run).items() if share >= TOLD}:
        constants = [
            f"{CONSTANT_WORDS[name]} ({_value(r, name)}), typed (twice: {share:+.1%})" for name, share in typed.items()
        ]
        lines.append(f"  It rests on {' and '.join(constants)}.")
    return lines


def run_text(run: ExpectedRun, task: Task, whole: int) -> tuple[list[str], list[str]]:
    """What a run takes on a cluster of `whole` GPUs, and its constants with their sources: a line each."""
    lines = run_words(run, task)
    if lacking := max(run.gpus - whole, 0) // run.job.node:
        lines.insert(2, f"  The cluster has no node left for {lacking} of the spares.")
    return lines, constants(run)


def losses(run: ExpectedRun) -> str:
    """The parts of a run beside its steps, the largest first."""
    most = sorted(((t, name) for name, t in run.parts.items() if name != "ideal"), reverse=True)
    parts_named = [
        f"{PART_WORDS[name]} {show(t, 's', 3)} ({t / run.time:.1%})" for t, name in most if t / run.time >= SHOWN
    ]
    return ", ".join(parts_named) or "nothing"


def interruptions(run: ExpectedRun) -> str:
    """How often a run is interrupted, when it saves, and how long it takes to go on."""
    often = f"every {show(run.mtbf, 's', 3)}, {rounded(run.failures) if run.failures >= 1 else f'{run.failures:.2g}'}"
    waits = f"training waits {show(run.t_save, 's', 3)} for it"
    written = f", and it is written in {show(run.t_write, 's', 3)}" if run.t_write else ""
    return (
        f"Interrupted {often} times. A checkpoint of {show(run.job.state, 'B', 3)} every {plural(run.every, 'step')} "
        f"({show(run.interval, 's', 3)}): {waits}{written}. A restart takes {show(run.t_back, 's', 3)}."
    )


def constants(run: ExpectedRun) -> list[str]:
    """The constants of a run with their sources, a line each."""
    r = run.reliability
    used = [name for name in CONSTANT_WORDS if name in r.sources and _counts(run, name)]
    return [f"{CONSTANT_WORDS[name]}: {_value(r, name)} ({r.sources[name]})" for name in used]


def _counts(run: ExpectedRun, name: str) -> bool:
    """Whether a constant has a part in the run: another may stand in its place."""
    r = run.reliability
    replaced = {
        "t_detect": r.t_back is not None,
        "read": r.t_back is not None or r.storage is not None,
        "write": r.storage is not None,
        "copy": r.blocking,
    }
    return getattr(r, name) is not None and not replaced.get(name, False)


def _value(r: Any, name: str) -> str:
    value, unit = getattr(r, name), UNITS.get(name, "s")
    return ("every " if name == "t_gpu" else "") + show(value, unit, 3)


def run_record(run: ExpectedRun, task: Task) -> dict[str, Any]:
    """A run as JSON data, in SI."""
    r = run.reliability
    return {
        "tokens": run.job.steps * task.B, "steps": run.job.steps, "seconds": run.time, "parts": run.parts,
        "goodput": run.goodput, "gpus": run.gpus, "spares": run.spares, "gpu_seconds": run.gpu_time,
        "cost": run.cost or None, "mtbf": run.mtbf, "failures": run.failures,
        "checkpoint": {
            "bytes": run.job.state, "steps": run.every, "interval": run.interval, "blocked": run.t_save,
            "written": run.t_write, "how": "blocking" if r.blocking else "async",
        },
        "restart": run.t_back, "rests_on": dict(rests_of_run(run)),
        "constants": {
            name: {"value": getattr(r, name), "source": r.sources.get(name, GIVEN)}
            for name in CONSTANT_WORDS if _counts(run, name)
        },
    }  # fmt: skip
