"""Whether a plan fits: its predicted bytes and the budget, with the margin by which measured memory exceeds them."""

from typing import Any

from hwlib.planner.task import Task
from hwlib.units import show

FITS, MAY_NOT_FIT, DOES_NOT_FIT = "fits", "may not fit", "does not fit"
"""What a plan does: it fits even if a GPU reports more than predicted, by the margin of its software's memory; only if
the prediction is right; not at all."""
EASY = 2
"""Margins that are free of a plan with headroom."""


def surely(task: Task, total: Any) -> Any:
    """Whether a plan of so many bytes fits, margin included; for columns of plans, of each."""
    return total * (1 + task.margin) <= task.memory


def tight(task: Task, total: Any) -> Any:
    """Whether a plan of so many bytes has no headroom: twice the margin is more than is free."""
    return total * (1 + EASY * task.margin) > task.memory


def fit_of(task: Task, total: float) -> str:
    """What a plan of so many bytes does.

    >>> from hwlib.planner.task import task_of
    >>> task = task_of("llama3-8b", "dgx-h100", B=2**20)
    >>> [fit_of(task, total) for total in (70e9, 75e9, 86e9)]
    ['fits', 'may not fit', 'does not fit']
    """
    if total > task.memory:
        return DOES_NOT_FIT
    return FITS if surely(task, total) else MAY_NOT_FIT


def fit_words(task: Task, total: float) -> str:
    """The same with its reason, a sentence."""
    errs = f"of ten measured peaks nine are at most {task.margin:.1%} above the predicted ones{_whose(task)}"
    most = show(float(total * (1 + task.margin)), "B", 3)
    return {
        FITS: f"It fits, for {errs}: {most}.",
        MAY_NOT_FIT: f"It may not fit, for {errs}: {most}.",
        DOES_NOT_FIT: "It does not fit.",
    }[fit_of(task, total)]


def _whose(task: Task) -> str:
    return "" if task.own_margin else ", those of other software, for of this one too few are known"
