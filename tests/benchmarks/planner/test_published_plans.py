"""Published plans can be asked back, and what is advised for their tasks stands beside what was measured."""

from dataclasses import replace

import pytest
from click.testing import CliRunner

from benchmarks.planner.published_plans import (
    AdvisedTask,
    AskedPlan,
    advice_table,
    advised_tasks,
    answers_table,
    asked_plans,
    main,
    published_cases,
    summary,
)
from benchmarks.rows.published import ROWS
from benchmarks.rows.published_row import PublishedRow
from benchmarks.rows.reader_names import reader_of
from benchmarks.rows.training_rows import training_case
from hwlib.planner import Plans

CELLS = {"model": "LLAMA3_8B", "gbs": 128, "seq": 8192, "mbs": 1, "tp": 1, "pp": 1, "cp": 1, "vp": 1}
TABLE = "Megatron-Bridge"


def case(gpus=8, value=14000, **cells):
    """A run of NVIDIA's tables on H100."""
    config = CELLS | {"precision": "FP8", "release": "26.04", "fsdp": 0} | cells
    reader = reader_of("train-step", "mbridge-1", config)
    named = {"id": "mbridge-1", "confidence": "seen"}
    row = PublishedRow(
        1, "mbridge", "train-step", "DGX-H100", gpus, config, value, "tokens/s/GPU", TABLE, named, reader=reader
    )
    return training_case(row)


def refused(asked):
    return isinstance(asked.answer, str)


def test_recomputation_is_left_open_where_a_table_prints_none():
    plan = AskedPlan((case(mbs=2),))
    assert plan.answer[0].strategy.recompute != "none"
    fixed = plan.case
    full = AskedPlan((replace(fixed, plan={**fixed.plan, "micro": 1, "recompute": "full"}),))
    assert full.answer[0].strategy.recompute == "full"
    assert full.answer[0].strategy.micro == 1


def test_what_a_recipe_says_can_be_fixed():
    """Of experts the recomputation and of all the bytes of a gradient; of dense models no recipe tells the first."""
    dense, experts = case(mbs=2), case(model="QWEN3_30B_a3B", gpus=16, gbs=512, seq=4096, pp=2, ep=8, vp=4, value=6000)
    experts = replace(experts, plan={**experts.plan, "recompute": "moe_act"})
    for recipes in (False, True):
        one, other = asked_plans([dense, experts], recipes)
        assert one.answer.task.states.gradient == other.answer.task.states.gradient == (2 if recipes else 4)
        assert one.answer[0].strategy.recompute != "none"
        ways = {plan.strategy.recompute for plan in map(other.answer.plan, range(len(other.answer.costed.seconds)))}
        assert (ways == {"moe_act"}) is recipes


def test_a_plan_that_cannot_be_is_refused_with_its_reason():
    plan = AskedPlan((case(mbs=16, gbs=1024),))
    assert refused(plan)
    assert "memory" in plan.answer
    assert plan.refused
    lines = answers_table([plan, AskedPlan((case(),))])
    assert lines[2:4] == ["| Llama 3.1 8B | 2 | 1 | 1 |", "| all | 2 | 1 | 1 |"]
    assert "does not fit" in lines[-1]


def test_adapters_are_asked_for():
    lora = AskedPlan((case(model="LLAMA3_70B", stage="LoRA", gbs=32, seq=4096, tp=2, pp=4, vp=20, value=2643),))
    assert lora.answer.task.trained.adapters
    assert advised_tasks(lora.runs) == []


def test_a_plan_is_the_same_in_another_precision_and_a_task_with_another_plan():
    runs = [case(), case(value=13000), case(precision="BF16", value=9000), case(mbs=2), case(gbs=256)]
    assert [len(plan.runs) for plan in asked_plans(runs)] == [3, 1, 1]
    tasks = advised_tasks(runs)
    assert [len(task.runs) for task in tasks] == [3, 1, 1]
    assert tasks[0].best.seconds == min(run.seconds for run in tasks[0].runs)


def test_what_is_advised_stands_beside_the_best_measured_step():
    quick, slow = case(value=14000), case(value=7000)
    task = AdvisedTask((slow, quick), release=True)
    assert isinstance(task.answer, Plans)
    assert task.error == pytest.approx(task.answer.advised.seconds / quick.seconds - 1)
    assert "26.04" in task.line()
    late = AdvisedTask((slow,), release=False)
    small = AdvisedTask((case(model="LLAMA3_70B", gbs=128, tp=8, value=1000),), release=True)
    assert "refused: memory" in small.line()
    table = advice_table([task, late, small])
    assert {line.count("|") for line in table} == {7}
    assert summary([task, late, small]) == summary([task, late])
    assert summary([task, late])[0].startswith("dense: 2 tasks")


def test_the_command_prints_both_tables():
    printed = CliRunner().invoke(main, ["--sets", "nemo2407-GPT3-5B"])
    assert printed.exit_code == 0
    assert "| all | 1 | 1 | 0 |" in printed.output
    assert "dense: 1 tasks" in printed.output


@pytest.mark.slow
def test_what_nvidia_ran_can_be_asked():
    """But for one row, which has 70B on 64 GPUs with all weights and gradients on each, and no FSDP printed."""
    plans = asked_plans([*published_cases([ROWS], ["mbridge"])])
    assert len(plans) >= 72
    impossible = [plan for plan in plans if plan.refused]
    assert len(impossible) <= 1
    for plan in impossible:
        assert (plan.case.model.key, plan.case.plan["zero"], plan.case.plan["pp"]) == ("llama3-70b", 1, 1)
