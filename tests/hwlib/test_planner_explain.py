"""What is said of two plans, of plans made by hand: every threshold from both sides."""

from dataclasses import fields, replace
from types import SimpleNamespace

import numpy as np
import pytest

from hwlib.planner import SoftwareSettings, explain
from hwlib.planner.costs import Costed, Plan, costed_plan, parts
from hwlib.planner.explain import (
    advice_words,
    alternatives,
    changes,
    difference,
    explanation,
    memory_words,
    rests_words,
    versus,
    where_time_goes,
)
from hwlib.planner.fits import fit_words
from hwlib.planner.front import CRITERIA, time_memory_front, undominated
from hwlib.planner.tables import columns, counted, front_task, rejected, waits
from hwlib.planner.task import task_of
from hwlib.specs import Stack
from hwlib.steptime import StepTime
from hwlib.strategy import Strategy

STACK = Stack.ideal("h100-sxm").replace(key="test", error=0.1)
TASK = task_of("llama3-8b", "dgx-h100", B=2**17, T=8192, software=SoftwareSettings(stack=STACK))
HELD = costed_plan(TASK, Strategy.of(dp=8), 2).memory
NOTHING = dict.fromkeys((f.name for f in fields(HELD)), 0.0)


def made(bytes=8e9, m=2, cost=0.0, degrees=None, **seconds):
    """A plan of 8 GPUs with seconds by their cause, all bytes of which are weights."""
    time = StepTime(**dict.fromkeys((f.name for f in fields(StepTime)), 0.0) | seconds)
    memory = type(HELD)(**NOTHING | {"weights": bytes})
    return Plan(Strategy.of(**degrees or {"dp": 8}), m, time, memory, mfu=0.5, token_rate=1234.5, cost=cost)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (made(compute=10.0049), "equally fast, with the same memory"),
        (made(compute=10.0051), "+5.1 ms (+0.1%): arithmetic 100.0% -> 100.0%, +5.1 ms"),
        (made(compute=9.9951), "equally fast, with the same memory"),
        (made(compute=10, bytes=8.003e9), "equally fast, with the same memory"),
        (made(compute=10, bytes=8.005e9), "equally fast, with 5 MB more on the fullest GPU"),
        (made(compute=10, bytes=7.9e9), "equally fast, with 100 MB less on the fullest GPU"),
        (made(compute=11), "+1 s (+10.0%): arithmetic 100.0% -> 100.0%, +1 s"),
        (made(compute=8), "-2 s (-20.0%): arithmetic 100.0% -> 100.0%, -2 s"),
        # of what shrank, more than a fifth of what grew is named, and nothing that stays
        (
            made(compute=9.79, bubble=1),
            "+790 ms (+7.9%): bubble 0.0% -> 9.3%, +1 s; arithmetic 100.0% -> 90.7%, -210 ms",
        ),
        (made(compute=9.81, bubble=1), "+810 ms (+8.1%): bubble 0.0% -> 9.3%, +1 s"),
        # the largest, until four fifths of what grew are named
        (
            made(compute=10, bubble=0.81, tp=0.19),
            "+1 s (+10.0%): bubble 0.0% -> 7.4%, +810 ms",
        ),
        (
            made(compute=10, bubble=0.79, tp=0.21),
            "+1 s (+10.0%): bubble 0.0% -> 7.2%, +790 ms; tensor-parallel transfers 0.0% -> 1.9%, +210 ms",
        ),
    ],
    ids=str,
)
def test_a_difference_names_what_grew_and_what_shrank(other, words):
    assert difference(made(compute=10), other) == words


def test_four_fifths_are_enough():
    """Of 5 s that were added, 4 s are."""
    words = difference(made(compute=10), made(compute=10, bubble=4, tp=1))
    assert words == "+5 s (+50.0%): bubble 0.0% -> 26.7%, +4 s"


def test_changes_are_those_of_the_other_plan():
    best = made(compute=10)
    other = made(compute=11, degrees={"tp": 2, "pp": 4, "v": 2, "recompute": "full"})
    assert changes(best, best) == "the same degrees"
    words = changes(best, other)
    for change in ("tp 2 instead of 1", "pp 4 instead of 1", "1f1b v2 instead of no pipeline"):
        assert change in words
    assert words.endswith("recompute full instead of none")
    assert "no pipeline instead of 1f1b v2" in changes(other, best)
    assert versus(best, other) == f"{words}: {difference(best, other)}"


def test_where_time_goes_names_the_longest_first_and_no_trace():
    """A twentieth of a percent is named, less is not."""
    text = where_time_goes(made(compute=9, bubble=0.89, tp=0.1, dp=0.0051, pp=0.0049))
    assert text.partition(": ")[2] == (
        "arithmetic 90.0%, bubble 8.9%, tensor-parallel transfers 1.0%, data-parallel transfers 0.1%."
    )
    assert "MFU 50.0%, 1,230 tokens/s" in text


def test_memory_in_words_is_all_of_it():
    held = {name: 1e9 * (i + 1.25) for i, name in enumerate(NOTHING)}
    plan = replace(made(compute=1), memory=type(HELD)(**held))
    found = SimpleNamespace(task=TASK)
    text = memory_words(found, plan)
    memory = plan.memory
    assert f"holds {memory.total / 1e9:.3g} GB of a budget of {TASK.memory / 1e9:.3g} GB" in text
    assert f"activations {(memory.activations + memory.logits) / 1e9:.3g} GB" in text
    assert "gradients 2.25 GB" in text
    assert memory_words(found, made(compute=1)).endswith(f": weights 8 GB. {fit_words(TASK, 8e9)}")


def column(plans, name):
    """A degree of plans, of words their positions."""
    code = f"{name}_code" if name in ("schedule", "recompute") else name
    return np.array([getattr(plan.strategy, code) for plan in plans])


class Found(list):
    """A search of which only the plans and the columns are looked at."""

    def __init__(self, plans, advised=None):
        super().__init__(plans)
        self.task, self.advised = TASK, advised or plans[0]
        names = [f.name for f in fields(Strategy) if f.name not in ("shards", "etp", "recompute_layers")]
        columns = {name: column(plans, name) for name in names}
        self.costed = Costed(
            Strategy(**columns),
            np.array([plan.m for plan in plans]),
            np.array([plan.memory.total for plan in plans]),
            np.array([plan.seconds for plan in plans]),
        )
        self.rejected, self.considered = {"few": 2, "many": 30}, len(plans) + 32
        self.fitting = self.timed = len(plans)
        self.quicker_unsure = None

    def plan(self, i):
        return self[i]


TP = [made(compute=10 + n, degrees={"tp": 2**n, "dp": 8 // 2**n}) for n in range(4)]


def test_an_explanation_compares_each_plan_with_the_best():
    lines = explanation(Found(TP[:3]), choices=False).splitlines()
    assert lines[0] == f"Best plan for {TASK}:"
    assert lines[1] == f"  {TP[0]}"
    assert lines[-3:] == [
        "The next plans, compared with the best:",
        f"  2. {versus(TP[0], TP[1])}",
        f"  3. {versus(TP[0], TP[2])}",
    ]
    alone = explanation(Found(TP[:1]), choices=False)
    assert "The next plans" not in alone
    assert "Simplest" not in alone
    assert "rests on" not in alone  # the constants of an ideal stack are nobody's
    two = explanation(Found(TP[:2]), choices=False).splitlines()
    assert two[-1] == f"  2. {versus(TP[0], TP[1])}"


def test_the_advised_plan_is_named_where_it_is_another():
    text = explanation(Found(TP[:2], advised=TP[1]), choices=False)
    assert f"  {TP[1]}: {difference(TP[0], TP[1])}" in text.splitlines()
    assert "Simplest plan" in text


@pytest.mark.parametrize(("seconds", "within"), [(10, True), (10.5, True), (10.51, False)])
def test_advice_is_within_half_the_error_or_rests_on_nothing_typed(seconds, within):
    words = advice_words(Found(TP), made(compute=seconds))
    assert words.startswith(
        "Simplest plan within half the expected error (5%)" if within else "Simplest plan that rests"
    )


def test_what_a_plan_rests_on_is_said_with_each_constant(monkeypatch):
    monkeypatch.setattr(explain, "rests", lambda task, strategy: ("a, typed", "b, typed"))
    assert rests_words(Found(TP), TP[0]) == "It rests on a, typed, b, typed."
    monkeypatch.setattr(explain, "rests", lambda task, strategy: ())
    assert rests_words(Found(TP), TP[0]) == ""


def test_other_choices_are_told_unless_they_stand_in_the_first_two():
    """The best other tp is the second plan, which was compared already; of other ZeRO stages there is one."""
    zero = made(compute=12, degrees={"dp": 8, "zero": 1})
    assert alternatives(Found(TP)) == []
    assert alternatives(Found([TP[0], TP[1], zero])) == [f"zero 1: {difference(TP[0], zero)}"]
    other = made(compute=13, degrees={"tp": 2, "dp": 4, "zero": 1})
    (line,) = [line for line in alternatives(Found([TP[0], zero, other])) if line.startswith("tp 2")]
    assert line == f"tp 2: with dp 4 instead of 8, zero 1 instead of 0, {difference(TP[0], other)}"


def test_a_choice_that_never_fits_is_told_with_the_least_that_it_needs():
    found = Found(TP[:3])
    found.costed.seconds[1:] = np.nan
    found.costed.memory[1:] = [91.25e9, 90.25e9]
    assert alternatives(found) == ["without tp 1: none fits; the smallest needs 90.2 GB per GPU"]


# Fronts, and columns of costs


def columns_of(*plans):
    strategy = Strategy(dp=np.full(len(plans), 8))
    seconds, memory = np.array(plans, float).T
    return Costed(strategy, np.ones(len(plans)), memory, seconds)


@pytest.mark.parametrize(
    ("plans", "front"),
    [
        ([(1, 5), (2, 4), (3, 4), (4, 3)], [0, 1, 3]),
        ([(2, 4), (1, 5)], [1, 0]),
        ([(1, 5), (1, 4), (2, 5)], [1]),
        ([(np.nan, 1), (1, 5)], [1]),
        ([(np.nan, 1)], []),
    ],
)
def test_a_front_of_time_and_memory(plans, front):
    assert time_memory_front(columns_of(*plans)) == front


@pytest.mark.parametrize(
    ("plans", "fastest"),
    [
        ([(2, 1), (1, 5)], 1),
        ([(1, 5), (1, 4)], 1),
        ([(1, 5), (1 + 5e-10, 4)], 1),
        ([(1, 5), (1 * (1 + 1e-9), 4)], 1),
        ([(1, 5), (1 + 2e-9, 4)], 0),
        ([(np.nan, 1), (3, 3)], 1),
        ([(np.nan, 1)], -1),
    ],
)
def test_of_equally_quick_plans_the_one_with_the_least_memory(plans, fastest):
    costed = columns_of(*plans)
    assert costed.fastest(np.full(len(plans), True)) == fastest
    assert costed.fastest(np.full(len(plans), False)) == -1


def test_what_may_be_small():
    plan = made(compute=2.5, bytes=3e9)
    values = {name: criterion(plan) for name, criterion in CRITERIA.items()}
    assert values == {"time": 2.5, "memory": 3e9, "gpus": 8, "cost": 20}
    assert CRITERIA["cost"](made(compute=2.5, cost=0.7)) == 0.7


def test_whom_another_equals_in_all_is_dominated_by_the_quicker():
    quick, slow = made(compute=1, bytes=3e9), made(compute=2, bytes=3e9)
    assert undominated([slow, quick], ("memory",)) == (quick,)
    assert undominated([slow, quick], ("gpus", "memory")) == (quick,)
    small = made(compute=3, bytes=2e9)
    assert undominated([small, slow, quick], ("time", "memory")) == (quick, small)


def test_parts_are_never_less_than_nothing():
    assert str(parts(made(compute=-0.0).time)["compute"]) == "0.0"
    assert parts(made(compute=1.5, dp=0.5).time)["compute"] == 1.5


# Tables


def test_waits_are_transfers():
    plan = made(compute=10, recomputed=1, bubble=2, optimizer=3, other=4, tp=0.1, cp=0.2, ep=0.3, pp=0.4, dp=0.5)
    assert waits(plan) == pytest.approx(1.5)


def test_columns_that_say_nothing_are_left_out():
    cells = dict(columns(TP[:2]))
    assert list(cells) == [
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
    assert (cells[""], cells["tp"], cells["dp"], cells["schedule"]) == (["1", "2"], ["1", "2"], ["8", "4"], ["-", "-"])
    assert (cells["step"], cells["ZeRO"]) == (["10 s", "11 s"], ["0", "0"])
    digits = dict(columns([made(compute=1.23456, bytes=12.3456e9)]))
    assert (digits["step"], digits["memory"], digits["microbatches"]) == (["1.23 s"], ["12.3 GB"], ["2"])
    wide = made(compute=8, bubble=2, cost=1234.5, degrees={"dp": 2, "pp": 2, "cp": 2, "recompute": "full", "zero": 3})
    more = dict(columns([wide, made(compute=8, dp=2, degrees={"dp": 1024})]))
    assert (more["GPUs"], more["cp"], more["recompute"]) == (["8", "1,024"], ["2", "1"], ["full", "none"])
    assert (more["bubble"], more["comm"], more["$/step"]) == (
        ["20.0%", "0.0%"],
        ["0.0%", "20.0%"],
        ["1,234.50", "0.00"],
    )
    assert (more["schedule"], more["ZeRO"]) == (["1f1b", "-"], ["3", "0"])


def test_counts_in_words():
    assert counted(Found(TP)).startswith("36 configurations, of which 4 are valid and fit in ")
    assert counted(Found(TP[:1])).startswith("33 configurations, of which 1 is valid and fits in ")
    assert rejected(Found(TP)) == ["          30  many", "           2  few"]


def test_a_front_is_for_all_numbers_of_gpus_that_were_asked_for():
    assert "on 8 x H100" in front_task(TP[:1], TASK, ())
    assert "on 4, 8 or 1,024 x H100" in front_task(TP[:1], TASK, (1024, 4))
    assert "on 4 or 8 x H100" in front_task(TP[:1], TASK, (4,))
