"""How sure the time of a plan is: its features, the nearest rows, what is missing, and other software."""

import numpy as np
import pytest

from hwlib.expected_error import TYPICAL, WORDS
from hwlib.planner import SoftwareSettings, plan
from hwlib.planner.certainty import (
    NAMED,
    beyond_collectives,
    certainty_record,
    certainty_words,
    error_record,
    other_times,
    plan_error,
    plan_errors,
    row_words,
)
from hwlib.planner.situation import kin_of, plan_features, situation, situations, task_features
from hwlib.planner.task import task_of
from hwlib.specs import Stack, stack_for, stacks
from hwlib.specs.prediction_errors import prediction_errors
from hwlib.steptime import step_time
from hwlib.strategy import Strategy


def task(model="llama3-70b", cluster="8xdgx-h100", **software):
    return task_of(model, cluster, B=2**20, T=8192, software=SoftwareSettings(**software))


H100 = task()


def has(strategy, of=H100):
    return {name for name, holds in plan_features(of, strategy).items() if holds}


@pytest.mark.parametrize(
    ("degrees", "features"),
    [
        ({"dp": 64, "zero": 1}, set()),
        ({"dp": 8, "tp": 8}, {"tp"}),
        ({"dp": 4, "tp": 16}, {"tp", "tp-out"}),
        ({"dp": 8, "tp": 4, "cp": 2}, {"tp", "cp"}),
        ({"dp": 4, "tp": 4, "cp": 4}, {"tp", "cp", "cp-out"}),
        ({"dp": 64, "ep": 8}, {"ep"}),
        ({"dp": 64, "ep": 16}, {"ep", "ep-out"}),
        ({"dp": 32, "tp": 2, "ep": 8, "etp": 1}, {"tp", "ep"}),
        ({"dp": 32, "pp": 2}, {"pp"}),
        ({"dp": 32, "pp": 2, "v": 2}, {"pp", "v"}),
        ({"dp": 32, "pp": 2, "schedule": "zb_h1"}, {"pp", "schedule"}),
        ({"dp": 8, "pp": 8, "zero": 3}, {"pp", "zero3"}),
        ({"dp": 16, "pp": 4, "zero": 3}, {"pp", "zero3", "zero3-out"}),
        ({"dp": 8, "tp": 8, "zero": 3}, {"tp", "zero3", "zero3-out"}),
        ({"dp": 64, "zero": 3, "shards": 8}, {"zero3", "hsdp"}),
        ({"dp": 64, "zero": 2}, set()),
    ],
)
def test_a_plan_has_features(degrees, features):
    assert has(Strategy.of(**degrees)) - {"kept"} == features


@pytest.mark.parametrize(
    ("recompute", "feature"), [("none", "kept"), ("full", "full"), ("selective", "part"), ("op", "part")]
)
def test_one_of_three_ways_to_recompute(recompute, feature):
    assert has(Strategy.of(dp=64, recompute=recompute)) == {feature}


@pytest.mark.parametrize(
    ("asked", "features"),
    [
        (task(), {"dense", "16bit", "nodes"}),
        (task(dtype="fp8"), {"dense", "fp8", "nodes"}),
        (task("deepseek-v3"), {"experts", "latent", "16bit", "nodes"}),
        (task("deepseek-v3.2"), {"experts", "latent", "sparse", "16bit", "nodes"}),
        (task("minimax-m3"), {"experts", "sparse", "16bit", "nodes"}),
        (task("nemotron-3-super"), {"experts", "state", "16bit", "nodes"}),
        (task("kimi-linear-48b-a3b"), {"experts", "latent", "state", "16bit", "nodes"}),
        (task("mixtral-8x7b", "dgx-h100"), {"experts", "16bit", "one-node"}),
        (task(fused=False, lora=16), {"dense", "16bit", "nodes", "scores", "adapters"}),
        (task(offload=("optimizer",)), {"dense", "16bit", "nodes", "offload"}),
        (task_of("llama3-8b", "dgx-h100", B=2**20, T=8192, gpus=1), {"dense", "16bit", "one-gpu"}),
    ],
)
def test_a_task_has_features(asked, features):
    assert task_features(asked) == features
    assert features <= WORDS.keys()


def test_a_situation_has_all_of_them_and_the_amounts():
    of = situation(H100, Strategy.of(dp=8, tp=8, zero=1))
    assert of.features == {"dense", "16bit", "nodes", "tp", "kept"}
    assert of.amounts == (64, 8192, pytest.approx(70.6e9, rel=0.01), 2**14)
    assert (of.stack, of.chip) == ("megatron-core-h100", "h100-sxm")
    assert plan_features(H100, Strategy.of(dp=64)).keys() <= WORDS.keys()


def test_kin_is_the_same_software_with_other_constants():
    kin = kin_of(stacks["megatron-core-h100"])
    assert "megatron-core-2606-gb200" in kin
    assert not {"megatron-core-h100", "torchtitan-h100"} & set(kin)
    assert kin_of(stack_for("h200-sxm")) == ()
    assert kin_of(Stack.ideal("h100-sxm")) == ()
    assert kin_of(stacks["pytorch-h200"]) == ()


def test_columns_of_plans_have_the_errors_that_each_has():
    found = plan("llama3-70b", "8xdgx-h100", B=2**20, T=8192, dtype="fp8", tp=(1, 8), cp=1)
    kinds, place = situations(found.task, found.costed.strategy)
    errors = plan_errors(found.task, found.costed.strategy)
    assert len(kinds) < found.costed.strategy.size == len(place) == len(errors)
    for i in range(0, len(place), 97):
        single = found.costed.strategy[i]
        error = plan_error(found.task, single)
        assert kinds[place[i]] == situation(found.task, single)
        assert errors[i] in (0, pytest.approx(error.mean))
    assert 0 < np.count_nonzero(errors) < len(errors)


def test_what_a_whole_task_lacks_distinguishes_no_plan():
    on_v100 = task("llama3-8b", "8x8 v100-sxm2, network 100 GB/s", dtype="fp16")
    strategies = Strategy(dp=np.array([64, 32]), tp=np.array([1, 2]))
    assert plan_error(on_v100, Strategy.of(dp=64)).unseen
    assert list(plan_errors(on_v100, strategies)) == [0, 0]


def test_the_advice_of_a_plan_that_nobody_measured_says_so():
    strategy = Strategy.of(dp=64, micro=2, zero=3, recompute="full")
    fp8 = task(dtype="fp8")
    error = plan_error(fp8, strategy)
    assert {"ZeRO-3 across nodes", "full recomputation"} == set(error.missing)
    measured = plan_error(fp8, Strategy.of(dp=4, tp=4, pp=4, v=5, zero=1))
    assert measured.missing == ()
    assert measured.size < error.size < TYPICAL
    seconds = float(step_time(fp8, strategy).total)
    text = " ".join(certainty_words(fp8, strategy, seconds))
    assert "No measured step of megatron-core-h100 has ZeRO-3 across nodes; full recomputation." in text
    assert "torchtitan-h100 " in text
    assert text.count("parameters on ") == NAMED == 3


def test_other_software_on_the_chip_times_the_same_plan():
    strategy = Strategy.of(dp=64, micro=2, zero=3, recompute="full")
    others = {other.stack.key: other for other in other_times(H100, strategy)}
    assert {"torchtitan-h100", "llm-foundry-h100"} <= others.keys()
    assert not {key for key in others if key.startswith("megatron-core")}
    by = task(stack="torchtitan-h100")
    assert others["torchtitan-h100"].seconds == pytest.approx(float(step_time(by, strategy).total))
    piped = {other.stack.key for other in other_times(H100, Strategy.of(dp=8, tp=4, pp=2, v=2, zero=1))}
    assert "llm-foundry-h100" not in piped  # it has no pipeline
    assert other_times(task(cluster="8x8 mi300x, network 8 x 400 Gbit/s"), strategy) == ()


def test_typed_constants_err_as_measured_rows_of_them_do():
    mine = task(cluster="8x8 h20-sxm, network 8 x 400 Gbit/s")
    error = plan_error(mine, Strategy.of(dp=8, tp=8, zero=1))
    assert (error.rows, error.size, error.nearest) == (0, TYPICAL, ())
    assert error.missing == ("this chip",)
    h200 = task_of("llama3-8b", "dgx-h200", B=2**16, T=8192, gpus=8, software=SoftwareSettings(states="bf16"))
    assert h200.stack.software == "typical"
    assert plan_error(h200, Strategy.of(dp=8, recompute="full")).mean > 0.09


@pytest.mark.parametrize(("error", "mean"), [(0.0, 0.0), (0.1, 0.1)])
def test_a_stack_of_ones_own_says_how_far_it_errs(error, mean):
    own = task(stack=Stack.ideal("h100-sxm").replace(key="mine", error=error))
    assert plan_error(own, Strategy.of(dp=64)).mean == pytest.approx(mean)
    assert list(plan_errors(own, Strategy(dp=np.array([64, 64])))) == [0, 0]
    assert bool(certainty_words(own, Strategy.of(dp=64), 1.0)) is bool(error)


def test_the_record_has_the_interval_and_the_rows():
    strategy = Strategy.of(dp=8, tp=8, zero=1)
    record = certainty_record(H100, strategy, 10.0)
    assert record["low"] * record["high"] == pytest.approx(100)
    assert record["high"] == pytest.approx(10 * (1 + record["most"]))
    assert record["nearest"][0].keys() == {"row", "chip", "gpus", "off"}
    assert record["other_software"].keys() == {other.stack.key for other in other_times(H100, strategy)}
    assert error_record(plan_error(H100, strategy), 10.0).keys() == record.keys() - {
        "other_software",
        "beyond_collectives",
    }


@pytest.mark.parametrize(
    ("cluster", "gpus", "degrees", "beyond"),
    [
        ("8xdgx-h100", 64, {"dp": 8, "tp": 8}, False),
        ("1xgb200-nvl72", 72, {"dp": 2, "tp": 4, "pp": 9}, False),
        ("1xgb200-nvl72", 72, {"dp": 8, "pp": 9}, True),
        ("1xgb200-nvl72", 72, {"dp": 1, "tp": 8, "pp": 9}, True),
        ("1xgb200-nvl72", 72, {"dp": 1, "tp": 2, "cp": 4, "pp": 9}, False),
        ("1xgb200-nvl72", 72, {"dp": 1, "tp": 1, "cp": 8, "pp": 9}, True),
    ],
)
def test_calls_among_more_gpus_than_were_timed_are_named(cluster, gpus, degrees, beyond):
    """Among 2 to 4 GPUs of a rack of GB200, and among all 8 of a node of H100."""
    asked, strategy = task(cluster=cluster), Strategy.of(**degrees)
    assert asked.gpus == gpus
    assert bool(beyond_collectives(asked, strategy)) == beyond
    assert bool(certainty_record(asked, strategy, 1.0)["beyond_collectives"]) == beyond
    named = [line for line in certainty_words(asked, strategy, 1.0) if line.startswith("Not timed by themselves")]
    assert len(named) == beyond


def test_a_chip_without_timed_calls_is_named_and_a_single_gpu_calls_nobody():
    other = task(cluster="1xmi300x-node")
    assert "mi300x" in beyond_collectives(other, Strategy.of(dp=8))[0]
    assert beyond_collectives(task(cluster="1xdgx-h100"), Strategy.of(dp=1)) == ()


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (0.0953, "10% longer than predicted"),
        (-0.1054, "10% shorter than predicted"),
        (0.0052, "1% longer than predicted"),
        (-0.0052, "1% shorter than predicted"),
        (0.0048, "as predicted"),
        (-0.0048, "as predicted"),
        (0.0, "as predicted"),
    ],
)
def test_a_row_is_said_in_words(error, words):
    row = prediction_errors("training")[0]._replace(error=error, parameters=70_600_000_000, ranks=1024, chip="h100-sxm")
    assert row_words(row) == f"70.6B parameters on 1,024 x H100 SXM5 ({row.key}), {words}"


def small(cluster="dgx-h200", gpus=1, **software):
    settings = SoftwareSettings(states="bf16", **software)
    return task_of("llama3-8b", cluster, B=2**16, T=4096, gpus=gpus, software=settings)


def others_of(task):
    return {other.stack.key: other for other in other_times(task, Strategy.of(dp=task.gpus, recompute="full"))}


def test_on_one_gpu_other_software_of_one_gpu_is_listed_with_its_time():
    eager, compiled = small(), small(stack="pytorch-compiled")
    assert (eager.stack.key, others_of(eager).keys()) == ("pytorch-h200", {"pytorch-compiled-h200"})
    seconds = others_of(eager)["pytorch-compiled-h200"].seconds
    assert seconds == pytest.approx(float(step_time(compiled, Strategy.of(recompute="full")).total))
    assert others_of(compiled).keys() == {"pytorch-h200"}


def test_on_one_gpu_software_that_was_measured_on_several_alone_is_not_listed():
    assert others_of(small("dgx-h100")).keys() == set()
    assert {"torchtitan-h100", "llm-foundry-h100"} <= others_of(small("dgx-h100", gpus=2)).keys()
    assert others_of(small("dgx-a100")).keys() == {"megatron-2021-a100"}  # it has a row of one GPU


def test_on_several_gpus_software_of_one_is_not_listed():
    assert others_of(small(gpus=2)).keys() == set()
    h200 = [stack for stack in stacks.values() if stack.chip == "h200-sxm" and stack.fitted]
    assert h200
    assert all(stack.one_gpu for stack in h200)


def test_what_one_plan_lacks_and_another_has_is_no_feature_of_the_task():
    """Whichever comes first or last."""
    strategies = [Strategy.of(dp=64, zero=3), Strategy.of(dp=32, pp=2)]
    fp8 = task(dtype="fp8")
    for order in (strategies, strategies[::-1]):
        columns = Strategy(
            dp=np.array([one.dp for one in order]),
            pp=np.array([one.pp for one in order]),
            zero=np.array([one.zero for one in order]),
        )
        errors = dict(zip((one.zero for one in order), plan_errors(fp8, columns), strict=True))
        assert errors[3] == pytest.approx(plan_error(fp8, strategies[0]).mean)
