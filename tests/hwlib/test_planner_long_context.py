"""Whether the advice agrees with NVIDIA's measured pairs: long sequences with context parallelism, and the best plan
without. In all of them context parallelism was quicker."""

import pytest

from hwlib.planner import plan
from hwlib.specs import measured_splits

PAIRS = [
    (row, other)
    for row in measured_splits("cp")
    for other in measured_splits("no cp")
    if (row.chip, row.seq) == (other.chip, other.seq)
]
NODES = {"h100-sxm": "dgx-h100", "b200-sxm": "dgx-b200"}
MISSED = [("h100-sxm", 32768), ("b200-sxm", 32768), ("b200-sxm", 65536), ("b200-sxm", 131072)]
"""Pairs of 3 to 10 % in which memory does not decide: the quickest plan without context parallelism takes two thirds of
the budget at most, and is timed 3 to 13 % quicker than the quickest with it."""


def advised(row):
    place = NODES[row.chip] if row.gpus <= 8 else f"{row.gpus // 8} x {NODES[row.chip]}"
    return plan(row.model, place, B=row.gbs * row.seq, T=row.seq, gpus=row.gpus, dtype=row.dtype).advised


def test_context_parallelism_was_quicker_in_every_pair():
    assert len(PAIRS) == 11
    assert all(row.rate > other.rate and row.cp > 1 for row, other in PAIRS)


def test_the_advice_takes_context_parallelism_where_memory_decides():
    wrong = [(row.chip, row.seq) for row, _ in PAIRS if advised(row).strategy.cp == 1]
    assert wrong == MISSED


@pytest.mark.parametrize("length", [2**17, 2**18])
def test_what_would_be_quicker_without_it_may_not_fit(length):
    """Of a length that NVIDIA measured at 1.3 to 1.4 times the rate with it."""
    row = next(row for row, _ in PAIRS if row.chip == "h100-sxm" and row.seq == length)
    assert row.cp > 1
    assert advised(row).strategy.cp == row.cp
