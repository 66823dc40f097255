"""The columns of a table of plans: those that say nothing are left out."""

from types import SimpleNamespace

import pytest

from hwlib.planner.tables import columns, rows
from hwlib.strategy import Strategy


def planned(gpus=64, cost=0.0, seconds=2.0, **degrees):
    strategy = Strategy.of(gpus=gpus, **degrees)
    time = SimpleNamespace(bubble=0.5)
    memory = SimpleNamespace(total=1e9)
    return SimpleNamespace(
        strategy=strategy, gpus=gpus, m=4, seconds=seconds, mfu=0.5, memory=memory, time=time, cost=cost
    )


@pytest.fixture(autouse=True)
def no_transfers(monkeypatch):
    monkeypatch.setattr("hwlib.planner.tables.waits", lambda plan: 0.25 * plan.seconds)


USUAL = [
    "",
    "tp",
    "pp",
    "dp",
    "schedule",
    "microbatches",
    "micro size",
    "ZeRO",
    "step",
    "MFU",
    "memory",
    "bubble",
    "comm",
]


@pytest.mark.parametrize(
    ("plans", "more", "cells"),
    [
        ([planned()], [], []),
        ([planned(), planned(gpus=32)], ["GPUs"], ["64", "32"]),
        ([planned(), planned(cp=2)], ["cp"], ["1", "2"]),
        ([planned(), planned(ep=8)], ["ep"], ["1", "8"]),
        ([planned(tp=4), planned(tp=4, etp=2)], ["etp"], ["4", "2"]),
        ([planned(), planned(recompute="full")], ["recompute"], ["none", "full"]),
        ([planned(), planned(cost=2.5)], ["$/step"], ["0.00", "2.50"]),
    ],
)
def test_a_column_is_there_where_it_says_something(plans, more, cells):
    found = dict(columns(plans))
    assert len(found) == len(columns(plans))  # each once
    assert [name for name in found if name not in USUAL] == more
    assert [name for name in found if name in USUAL] == USUAL
    assert all(found[name] == cells for name in more)
    assert found["bubble"][0] == "25.0%"
    assert found["comm"][0] == "25.0%"


def test_a_line_a_plan_with_its_number():
    head, *lines = rows([planned(), planned(tp=8)], [("more", ["a", "b"])])
    assert len({len(line) for line in (head, *lines)}) == 1
    assert [line.split()[0] for line in lines] == ["1", "2"]
    assert head.endswith("more")
    assert lines[1].endswith("b")
