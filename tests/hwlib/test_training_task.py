"""Time, memory and traffic of a task's plan, and of the same with everything as a plain keyword."""

from dataclasses import fields
from types import SimpleNamespace

import numpy as np
import pytest

from hwlib.footprint import footprint
from hwlib.parallel import transfers
from hwlib.planner import SoftwareSettings
from hwlib.planner.task import task_of
from hwlib.specs import Stack
from hwlib.steptime import StepTime, step_time
from hwlib.strategy import Strategy, StrategyError
from hwlib.training_task import is_task

TASKS = {
    "dense": (("llama3-70b", "superpod-h100-1su"), {}, {"tp": 8, "pp": 4, "v": 2, "zero": 1}),
    "experts": (
        ("deepseek-v3", "8xdgx-h100"),
        {"dtype": "fp8", "expert_imbalance": 1.5, "states": "mixed"},
        {"ep": 8, "pp": 4, "zero": 1},
    ),
    "offload": (("llama3-8b", "dgx-h100"), {"offload": ("optimizer",), "fused": False}, {"tp": 2, "zero": 2}),
    "hsdp": (("llama3-8b", "8xdgx-h100"), {"stack": "torchtitan-h100"}, {"zero": 3, "shards": 8}),
}


def made(name):
    """A task, the settings of its software, and a plan of all its GPUs by degrees."""
    where, settings, degrees = TASKS[name]
    task = task_of(*where, B=2**21, T=4096, software=SoftwareSettings(**settings))
    degrees = Strategy.of(gpus=task.gpus, **degrees).degrees
    return task, task.software, degrees


@pytest.mark.parametrize("name", TASKS)
def test_a_task_has_all_that_plain_keywords_say(name):
    task, uses, degrees = made(name)
    plan = Strategy.of(**degrees)
    m = plan.microbatches(task.B, task.T)
    experts = {"expert_imbalance": uses.expert_imbalance, "dedup_dispatch": uses.dedup_dispatch}
    both = {"fused": uses.fused, "mtp": uses.mtp, "offload": uses.offload}
    timed = {**both, **experts, "dtype": uses.dtype, "host": task.machine.host, "B": task.B, "T": task.T}
    held = {**both, "T": task.T, "m": m, "states": task.states, "framework": task.framework, "dtype": uses.dtype}
    for positional, keywords in (((plan,), {}), ((), degrees)):
        model = (task.model, *positional)
        on_machine = (task.model, task.stack, task.machine.levels, *positional)
        assert step_time(task, plan) == step_time(*on_machine, **timed, **keywords)
        assert footprint(task, plan) == footprint(*model, **held, **keywords)
        assert transfers(task, plan) == transfers(*model, B=task.B, m=m, **experts, **keywords)


def test_another_stack_stage_or_number_of_microbatches_may_be_asked_for():
    task, _, degrees = made("dense")
    plan = Strategy.of(**degrees)
    ideal = Stack.ideal("h100-sxm")
    assert step_time(task, plan, stack=ideal).total < step_time(task, plan).total
    assert footprint(task, plan, stage=0).activations > footprint(task, plan, stage="last").activations
    assert footprint(task, plan, m=1).activations < footprint(task, plan).activations


def test_columns_of_a_task_are_its_plans():
    """With HSDP among them, and plans whose states are divided among all ranks, which it is not."""
    task, _, degrees = made("hsdp")
    many = Strategy(**degrees | {"shards": np.array([64.0, 8.0, 64.0, 16.0])})
    times, memory = step_time(task, many), footprint(task, many)
    for i, shards in enumerate((None, 8, None, 16)):
        one = Strategy(**degrees | {"shards": shards})
        alone = step_time(task, one)
        for f in fields(StepTime):
            assert getattr(times, f.name)[i] == pytest.approx(getattr(alone, f.name), rel=1e-12)
        assert memory.total[i] == pytest.approx(footprint(task, one).total, rel=1e-12)


MODELLED = {
    "step_time": lambda *strategy, **more: step_time(
        "llama3-8b", "megatron-core-h100", "dgx-h100", *strategy, B=2**20, T=8192, **more
    ),
    "footprint": lambda *strategy, **more: footprint("llama3-8b", *strategy, T=8192, **more),
    "transfers": lambda *strategy, **more: transfers("llama3-8b", *strategy, B=2**20, **more),
}


@pytest.mark.parametrize("name", MODELLED)
def test_a_strategy_is_a_record_or_its_fields_and_not_both(name):
    asked = MODELLED[name]
    assert asked(tp=8) == asked(Strategy.of(tp=8))
    assert asked() == asked(Strategy())
    with pytest.raises(StrategyError) as error:
        asked(Strategy.of(tp=8), dp=2)
    assert error.value.field == "dp"
    with pytest.raises(TypeError, match="'pt'"):
        asked(pt=8)
    with pytest.raises(TypeError, match="'pt'"):
        asked(Strategy(), pt=8)


@pytest.mark.parametrize("function", [step_time, footprint, transfers])
def test_what_a_task_says_is_not_said_beside_it(function):
    task, _, degrees = made("dense")
    with pytest.raises(TypeError):
        function(task, Strategy.of(**degrees), B=2**20)


def test_a_task_is_told_from_a_model():
    task, *_ = made("dense")
    assert is_task(task)
    assert not is_task(task.model)
    assert not is_task("llama3-70b")
    assert not is_task(SimpleNamespace(machine=task.machine))
    assert not is_task(SimpleNamespace(software=task.software))
    for other in (3, None):
        with pytest.raises(TypeError, match="model"):
            footprint(other, T=8192)
