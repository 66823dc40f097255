"""Measured speculative decoding: measured_drafts.csv, the tokens of a step by model and kind of drafts, by source."""

from typing import NamedTuple

from hwlib.specs.measured import Measurements
from hwlib.specs.table import unknown

METHODS = ("mtp", "eagle3")
"""Where drafts come from: the model's own modules for multi-token prediction (deepseek-v3), or a head beside it that
reads states of several of its layers (eagle3)."""


class MeasuredDrafts(NamedTuple):
    """Steps with drafts: `tokens` that a step gives on average, its own included, with so many `drafts` in a chain; 0
    of drafts in a tree. `before` and `after` are tokens a second without and with them, with so many `requests` at once
    on `gpus`; None where they were not measured.

    `target` is a key of `models`, or the name of a model that it has not; `system` is one of `accelerators`, or empty;
    and `source` begins with a key of docs/references.bib.
    """

    target: str
    method: str
    drafts: int
    data: str
    temperature: float | None
    tokens: float
    system: str
    gpus: int | None
    requests: int | None
    before: float | None
    after: float | None
    software: str
    date: str
    source: str

    @property
    def acceptance(self) -> float:
        """The chance of a draft after accepted ones, the same for all, that gives as many tokens: of a chain."""
        return chain_acceptance(self.tokens, self.drafts)


DRAFTS = Measurements("drafts", "measured_drafts.csv", MeasuredDrafts)


def chain_acceptance(tokens: float, drafts: int) -> float:
    """The chance that each draft of a chain is accepted, if all before it were, where a step gives so many tokens.

    >>> round(chain_acceptance(1.85, 1), 3), round(chain_acceptance(2.44, 3), 3)
    (0.85, 0.675)

    Raises ValueError for a tree, and for tokens that so many drafts cannot give.
    """
    if drafts < 1 or not 1 <= tokens <= drafts + 1:
        raise ValueError(f"a chain of {drafts} drafts gives 1 to {drafts + 1} tokens a step, got {tokens!r}")
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if sum(middle**i for i in range(drafts + 1)) < tokens:
            low = middle
        else:
            high = middle
    return high


def measured_drafts(model: str | None = None, method: str | None = None) -> tuple[MeasuredDrafts, ...]:
    """The measured steps with drafts of a model and a method, or all; empty where there is none. Raises ValueError for
    an unknown method.

    >>> [row.tokens for row in measured_drafts("kimi-k2.6")]
    [2.62, 2.67]
    """
    if method is not None and method not in METHODS:
        raise ValueError(unknown("method of speculation", method, METHODS))
    rows = DRAFTS.rows
    return tuple(row for row in rows if model in (None, row.target) and method in (None, row.method))
