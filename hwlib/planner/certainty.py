"""How sure the time of a plan is: its expected error, the nearest measured steps, and what other software's constants
say of the same plan.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import log1p
from typing import Any, NamedTuple

from hwlib.calibrated.nccl import ring_ranks
from hwlib.constraints import broken
from hwlib.expected_error import SHARE, ExpectedError, count_words, expected_error
from hwlib.planner.situation import ONE_GPU, situation, situations
from hwlib.planner.task import Task
from hwlib.specs import Features, Stack, accelerators, features, stacks
from hwlib.specs.prediction_errors import TRAINING, PredictionError, prediction_errors
from hwlib.steptime import step_time
from hwlib.strategy import Strategy
from hwlib.units import show

NAMED = 3
"""Measured steps that are named."""
LOW = ("fp8", "fp4")


class OtherTime(NamedTuple):
    """What the constants of another software on the same chip say of a plan: seconds, and how far these may be off."""

    stack: Stack
    seconds: float
    error: ExpectedError


def plan_error(task: Task, strategy: Strategy) -> ExpectedError:
    """The error to expect of a plan's time. A stack of one's own, which no table knows, says itself how far it errs."""
    if stated := _stated(task.stack):
        return stated
    return expected_error(situation(task, strategy))


def plan_errors(task: Task, strategy: Strategy) -> Any:
    """The mean error to expect of each of columns of plans, where it has something that no measured step has; else 0.

    What the whole task has does not count: it is the same for all plans.
    """
    import numpy as np

    if _stated(task.stack):
        return np.zeros(strategy.size)
    kinds, place = situations(task, strategy)
    errors = [expected_error(kind) for kind in kinds]
    every = kinds[0].features.intersection(*(kind.features for kind in kinds))
    means = np.array([error.mean * bool(set(error.unseen) - every) for error in errors])
    return np.broadcast_to(means[place], strategy.size)


def beyond_collectives(task: Task, strategy: Strategy) -> tuple[str, ...]:
    """What of a plan's calls inside a node was not timed: their latency is then that of fewer ranks, or of other chips.

    Where measured steps of the software have such calls, the expected error has them, too.
    """
    ranks, node = _calling(task, strategy), task.machine.full_node
    if ranks < 2 or not task.stack.alpha_in:
        return ()
    timed = ring_ranks(task.stack.chip)
    if not timed:
        return (f"calls inside a node on {task.stack.chip}, whose latency is the mean of other chips'",)
    if ranks <= max(timed):
        return ()
    return (f"calls among {ranks} of {node} GPUs of a node (on {task.stack.chip} {min(timed)} to {max(timed)} were)",)


def _calling(task: Task, strategy: Strategy) -> int:
    """The most GPUs of a node that call one another."""
    node, s = task.machine.full_node, strategy
    groups = ((s.tp, 1), (s.cp, s.tp), (s.ep, s.expert_tp), (s.dp, s.tp * s.cp))
    return max(int(min(max(node // inner, 1), ranks)) for ranks, inner in groups)


def _stated(stack: Stack) -> ExpectedError | None:
    if stack.key in stacks or stack.like:
        return None
    return ExpectedError(log1p(stack.error), 0)


def other_times(task: Task, strategy: Strategy) -> tuple[OtherTime, ...]:
    """The times of a plan by other software that was measured on the chip, and that can run it."""
    return tuple(_other_times(task, strategy))


def _other_times(task: Task, strategy: Strategy) -> Iterator[OtherTime]:
    here = task.stack
    for stack in stacks.values():
        if stack.chip != here.chip or stack.features in ("", here.features) or not stack.fitted or stack.follows:
            continue
        if not (_has_as_many(task, stack) and _can(task, strategy, stack)):
            continue
        other = _by(task, stack)
        error = plan_error(other, strategy)
        if error.rows:
            yield OtherTime(stack, float(step_time(other, strategy).total), error)


def _has_as_many(task: Task, stack: Stack) -> bool:
    """Whether constants may speak of so few GPUs, or so many: those of one GPU of no more, those of several of one
    alone only if a step was measured there. Their launches and gathers hide what the host and one GPU's bytes cost.
    """
    if task.gpus > 1:
        return not stack.one_gpu
    rows = prediction_errors(TRAINING)
    return stack.one_gpu or any(row.stack == stack.key and ONE_GPU in row.words for row in rows)


def _by(task: Task, stack: Stack) -> Task:
    """The task with another software."""
    software = replace(task.software, stack=stack, features=None, release=None, dedup_dispatch=None, mtp=None)
    return replace(task, software=software.on(task.machine.chip, task.model))


def _can(task: Task, strategy: Strategy, stack: Stack) -> bool:
    """Whether a software has what a plan asks for, and constants of its precision."""
    able: Features | None = features.get(stack.features)
    setting = replace(task.setting, features=able)
    known = task.dtype not in LOW or "eta_low" in stack.constants
    return known and stack.suits(task.model.moe, task.dtype, None) and broken(setting, strategy) is None


def certainty_words(task: Task, strategy: Strategy, seconds: float) -> list[str]:
    """The sentences on how sure a plan's time is; none of an ideal stack."""
    return [*filter(None, [interval_words(task, strategy, seconds)]), *nearest_words(task, strategy)]


def interval_words(task: Task, strategy: Strategy, seconds: float) -> str:
    """The first of these sentences: how far a plan's time may be off; empty of an ideal stack."""
    error = plan_error(task, strategy)
    low, high = (show(x, "s", 3) for x in error.interval(seconds))
    words = f"Expected error ±{error.most:.0%}: {SHARE:.0%} of measured steps like it take {low} to {high}."
    return words if error.size else ""


def nearest_words(task: Task, strategy: Strategy) -> list[str]:
    """The others: the nearest measured steps, what none of them has, and other software's times."""
    error = plan_error(task, strategy)
    if not error.size:
        return []
    lines = [*evidence_words(error, f"step of {task.stack.key}")]
    lines += [f"Not timed by themselves: {words}." for words in beyond_collectives(task, strategy)]
    if others := ", ".join(map(_other_words, other_times(task, strategy))):
        lines.append(f"By other software measured on this chip: {others}.")
    return lines


def evidence_words(error: ExpectedError, what: str) -> Iterator[str]:
    """The nearest rows, and what of a question no measured `what` has."""
    if error.nearest:
        named = "; ".join(row_words(row) for row in error.nearest[:NAMED])
        yield f"Nearest measured: {named}."
    if error.missing:
        yield f"No measured {what} has {'; '.join(error.missing)}."


def row_words(row: PredictionError) -> str:
    """A measured row, and how much longer or shorter it took than predicted."""
    chip = accelerators[row.chip].name
    return f"{count_words(row.parameters)} parameters on {row.ranks:,} x {chip} ({row.key}), {off_words(row.off)}"


def off_words(off: float) -> str:
    """How a measured time, longer than predicted by a share `off`, compares: in whole percents, of which 0 is none.

    >>> off_words(0.12), off_words(-0.004)
    ('12% longer than predicted', 'as predicted')
    """
    percents = f"{abs(off):.0%}"
    return "as predicted" if percents == "0%" else f"{percents} {'longer' if off > 0 else 'shorter'} than predicted"


def _other_words(other: OtherTime) -> str:
    return f"{other.stack.key} {show(other.seconds, 's', 3)} (±{other.error.most:.0%})"


def error_record(error: ExpectedError, predicted: float) -> dict[str, Any]:
    """An expected error as JSON data: shares of what is predicted, and the interval of SHARE of measurements."""
    low, high = error.interval(predicted)
    return {
        "mean": error.mean,
        "most": error.most,
        "low": low,
        "high": high,
        "measured_rows": error.rows,
        "nearest": [{"row": row.key, "chip": row.chip, "gpus": row.ranks, "off": row.off} for row in error.nearest],
        "missing": list(error.missing),
    }


def certainty_record(task: Task, strategy: Strategy, seconds: float) -> dict[str, Any]:
    """The same of a plan, with the times of other software."""
    others = {
        other.stack.key: {"seconds": other.seconds, "most": other.error.most} for other in other_times(task, strategy)
    }
    return error_record(plan_error(task, strategy), seconds) | {
        "beyond_collectives": list(beyond_collectives(task, strategy)),
        "other_software": others,
    }
