"""Features: what a software has, and plans that need more."""

import pytest

from hwlib.constraints import lacking
from hwlib.planner import Allowed, PlanError, SoftwareSettings, plan
from hwlib.planner.allowed import axes_of
from hwlib.planner.space import space
from hwlib.planner.task import task_of
from hwlib.specs import SpecError, features, stack_for, stacks
from hwlib.specs.feature import read_features
from hwlib.strategy import RECOMPUTED, SCHEDULES, Strategy

ROW = '[a.features]\nname = "A"\nsource = "s"\ndegrees = ["tp"]\nschedules = ["1f1b"]\nzero = [0]\npiped_zero = [0]\n'


@pytest.mark.parametrize("key", features)
def test_a_software_has_what_there_is_and_a_source(key, sources):
    one = features[key]
    assert one.source in sources
    assert set(one.schedules) <= set(SCHEDULES)
    assert set(one.recompute) <= {*RECOMPUTED, "modules"}
    assert set(one.piped_zero) <= set(one.zero) or "pp" not in one.degrees
    assert one.note, "what does the source say?"


BASED = {"megatron-deepspeed": ("vtrain",), "megatron-core": ("megatron-rocm",)}
"""Rows of software that have the features of another's."""


def test_every_stack_names_its_software():
    """A stack that is like another of another software gives its own row: its key begins with that of the row."""
    for key, stack in stacks.items():
        assert key.startswith((*BASED.get(stack.features, ()), stack.features)), key
    assert stack_for("h200-sxm").features == "megatron-core"


@pytest.mark.parametrize(
    ("key", "needs", "said"),
    [
        ("megatron-core", {"pp": 4, "schedule": "zb_h1"}, "Megatron Core has no schedule zb_h1"),
        ("megatron-core", {"pp": 4, "v": 24, "cp": 2, "ep": 8, "zero": 1, "shards": 8}, ""),
        ("megatron-core", {"zero": 3, "pp": 1}, ""),
        ("megatron-core", {"recompute": "layernorm+mlp"}, ""),
        ("megatron-core", {"recompute": "op"}, "Megatron Core has no op recomputation"),
        ("megatron-2022", {"cp": 2}, "Megatron-LM of 2022 has no context parallelism"),
        ("megatron-2021", {"tp": 8, "sp": True}, "Megatron-LM of 2021 has no sequence parallelism"),
        ("megatron-2021", {"recompute": "selective"}, "Megatron-LM of 2021 has no selective recomputation"),
        ("megatron-deepspeed", {"pp": 2, "v": 2}, "Megatron-DeepSpeed has no more than 1 chunk a rank"),
        ("megatron-deepspeed", {"pp": 2, "zero": 2}, "Megatron-DeepSpeed has no ZeRO-2 with a pipeline"),
        ("megatron-deepspeed", {"zero": 2}, ""),
        ("nemo-2024", {"zero": 1, "shards": 8}, "NeMo 24.07 has no HSDP"),
        ("llm-foundry", {"tp": 2}, "LLM Foundry has no tensor parallelism"),
        ("llm-foundry", {"zero": 1}, "LLM Foundry has no ZeRO-1"),
        ("torchtitan", {"pp": 4, "zero": 2, "schedule": "zbv", "v": 2, "recompute": "op"}, ""),
    ],
)
def test_what_a_plan_needs_and_a_software_lacks(key, needs, said):
    usual = {"zero": min(features[key].zero), "sp": False, "dp": 64}
    assert lacking(features[key], Strategy.of(**{**usual, **needs})) == ((said,) if said else ())


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (ROW.replace("[0]", "[4]"), "a.features.zero.*0 to 3, got \\[4\\]"),
        (ROW.replace('["tp"]', '["dp"]'), "a.features.degrees.*tp, sp, pp, cp, ep, got \\['dp'\\]"),
        (ROW.replace('schedules = ["1f1b"]\n', ""), "a.features: expected at least one schedule"),
        (ROW + "most_chunks = 0\n", "a.features: expected at least one schedule, and one chunk"),
        (ROW.replace("piped_zero = [0]\n", ""), "piped_zero missing"),
    ],
)
def test_a_row_that_cannot_be_is_named(row, says):
    with pytest.raises(SpecError, match=says):
        list(read_features("f.toml", row))


@pytest.mark.parametrize("key", ["megatron-core-h100", "nemo-2024-h100", "llm-foundry-h100"])
def test_no_plan_needs_what_its_software_lacks_and_others_are_counted_with_the_reason(key):
    everything = {
        "schedule": ("1f1b", "zb_h1", "zbv"),
        "zero": (0, 1, 2, 3),
        "recompute": ("none", "selective", "full"),
    }
    task = task_of("llama3-8b", "superpod-h100-1su", B=2**22, software=SoftwareSettings(stack=key))
    found = space(task, axes_of(task, Allowed(**everything)))
    assert sum(found.rejected.values()) + found.size == found.considered
    has = features[stacks[key].features]
    assert any(reason.startswith(f"{has.name} has no ") for reason in found.rejected)
    for i in range(found.size):
        assert lacking(has, found.strategy[i]) == ()


def test_a_software_is_asked_for_by_name_or_everything_is():
    ask = {"B": 2**22, "pp": 4}
    assert plan("llama3-8b", "superpod-h100-1su", **ask, features="torchtitan")[0].strategy.zero in (0, 2, 3)
    assert "zb_h1" in {
        one.strategy.schedule for one in plan("llama3-8b", "superpod-h100-1su", **ask, features="any", schedule="zb_h1")
    }
    wrong = {
        "schedule": ({"schedule": "zb_h1"}, "schedule zb_h1; it has 1f1b"),
        "features": ({"features": "x"}, "'x'"),
        "zero": ({"zero": 1, "features": "torchtitan"}, "ZeRO-1; it has 0 or 2 or 3"),
        "cp": ({"cp": 2, "features": "megatron-2022"}, "no context parallelism"),
        "shards": ({"shards": 8, "features": "nemo-2024"}, "no HSDP"),
        "recompute": ({"recompute": "selective", "features": "megatron-2021"}, "no selective recomputation"),
    }
    for field, (given, says) in wrong.items():
        with pytest.raises(PlanError, match=says) as caught:
            plan("llama3-8b", "superpod-h100-1su", B=2**22, **given)
        assert caught.value.field == field
    with pytest.raises(PlanError, match="features"):
        plan("llama3-8b", "superpod-h100-1su", B=2**22, features=3)
