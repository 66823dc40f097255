"""The generated part of docs/fidelity.md: what the kept rows score, and what is known of every fit."""

import math
from collections.abc import Iterable

from benchmarks.scores import Report, Score
from hwlib.specs import accelerators
from hwlib.specs.fitted import Fitted, all_fitted

BEGIN, END = "<!-- generated: python -m benchmarks.fidelity --markdown -->", "<!-- end of the generated part -->"


def page(result: Report) -> list[str]:
    """Two tables in Markdown, between the marks that the page has around them."""
    return [BEGIN, "", *kept(result.scores + result.trees), "", *fits(all_fitted()), "", END]


def kept(scores: Iterable[Score]) -> list[str]:
    """The kept rows, predicted with the kept constants."""
    head = ["## The rows that the project carries", ""]
    table = ["| set | rows | mean | median | max | constants | simple model |", "|:--|--:|--:|--:|--:|--:|--:|"]
    for s in scores:
        errors = (s.mean_abs_error, s.median_abs_error, s.max_abs_error)
        cells = [s.set, s.rows, *(f"{e:.1%}" for e in errors), s.constants, f"{s.plain_mean:.1%}"]
        table.append("| " + " | ".join(map(str, cells)) + " |")
    return head + table


def fits(entries: Iterable[Fitted]) -> list[str]:
    """All rows that the constants were fitted to, and what rows held back said."""
    head = ["## All the rows that the constants were fitted to", ""]
    table = [
        "| chip | what | software | rows | constants | mean | held out |",
        "|:--|:--|:--|--:|--:|--:|--:|",
    ]  # fmt: skip
    for e in entries:
        chip = accelerators[e.chip].name if e.chip in accelerators else e.chip
        what: str = getattr(e, "dtype", "") or getattr(e, "op", "")
        held = "" if math.isnan(e.held_out) else f"{e.held_out:.1%}"
        cells = [chip, what.replace("_", " "), e.software, e.count, len(e.constants), f"{e.error:.1%}", held]
        table.append("| " + " | ".join(map(str, cells)) + " |")
    return head + table
