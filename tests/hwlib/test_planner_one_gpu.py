"""One GPU: the software that times it by default, what is said where a model does not fit, and sweeps."""

import pytest

from hwlib.launch import emit_training
from hwlib.planner import PlanError, SoftwareSettings, pareto, plan
from hwlib.planner.allowed import Allowed
from hwlib.planner.rejections import less_words
from hwlib.planner.task import machine_of, task_of

ASK = {"model": "llama3-8b", "B": 8192}


def task(cluster="dgx-h200", gpus=1, **settings):
    return task_of("llama3-8b", cluster, B=8192, gpus=gpus, software=SoftwareSettings(**settings))


def refusal(**asked):
    with pytest.raises(PlanError) as error:
        plan(**ASK | asked)
    assert error.value.field == "memory"
    return str(error.value)


@pytest.mark.parametrize(
    ("cluster", "stack"),
    [
        ("dgx-h200", "pytorch-h200"),
        ("dgx-h100", "pytorch-h100"),
        ("dgx-a100", "pytorch-a100"),
        ("dgx-b200", "pytorch-b200"),
        ("1x1 l40s", "pytorch-l40s"),
    ],
)
def test_one_gpu_is_timed_kernel_by_kernel_and_the_first_line_says_by_what(cluster, stack):
    alone = task(cluster)
    assert alone.stack.key == stack
    assert "PyTorch" in alone.title
    assert "2026" in alone.title
    assert alone.caveat


def test_several_gpus_other_vendors_and_narrow_products_keep_their_software():
    assert task(gpus=2).stack.key == "typical-h200-sxm"
    assert not task("1x8 mi300x").stack.kernels
    assert not task(dtype="fp8").stack.kernels
    assert task("dgx-h100", stack="megatron-core-h100").stack.key == "megatron-core-h100"
    assert task("dgx-h100", stack="pytorch").stack.key == "pytorch-h100"
    assert task("dgx-h100", stack="pytorch-compiled-h100").stack.key == "pytorch-compiled-h100"
    with pytest.raises(PlanError) as error:
        task("dgx-h100", stack="pytorch-b200")
    assert error.value.field == "stack"
    with pytest.raises(PlanError) as error:
        task("dgx-h100", gpus=2, stack="pytorch")
    assert error.value.field == "stack"


def test_a_refusal_says_what_fits():
    text = refusal(cluster="dgx-h100", gpus=1)
    assert "16 bytes a parameter" in text
    assert "--states bf16 (8 bytes a parameter) it fits" in text
    assert "--lora 16 (2, adapters aside) it fits" in text
    assert plan(**ASK, cluster="dgx-h100", gpus=1, states="bf16")[0].memory.total < 72e9
    assert "--" not in refusal(model="llama3-405b", cluster="dgx-h200", gpus=1)  # nor does it fit in fewer bytes


def test_what_was_asked_for_is_not_offered():
    assert "--states bf16" not in refusal(model="llama3-405b", cluster="dgx-h200", gpus=1, states="bf16")
    assert less_words(task("dgx-h100", lora=16), Allowed()) == ""
    assert less_words(task("dgx-h100"), Allowed())


def test_the_smallest_cluster_has_the_software_of_several():
    text = refusal(cluster="dgx-h100", gpus=1)
    assert "Smallest cluster that holds it: 4 x H100" in text
    named = refusal(cluster="dgx-h100", gpus=1, stack="pytorch")
    assert "Smallest cluster" not in named
    assert "one GPU alone" in named


def test_a_task_takes_the_software_of_the_machine_that_it_moves_to():
    alone, eight = task("dgx-h100"), machine_of("dgx-h100", 8)
    assert alone.moved(eight).stack.key == "megatron-core-h100"
    assert alone.moved(eight).moved(machine_of("dgx-h100", 1)).stack.key == "pytorch-h100"
    assert task("dgx-h100", gpus=2).moved(eight).stack.key == "megatron-core-h100"
    named = task("dgx-h100", stack="pytorch")
    assert named.moved(eight).stack.key == "pytorch-h100"
    assert named.needs_one_gpu
    assert not alone.needs_one_gpu
    assert not task("dgx-h100", gpus=2).needs_one_gpu


def test_a_plan_that_may_not_fit_says_what_does():
    unsure = plan(**ASK, cluster="dgx-h200", gpus=1)
    assert "It may not fit" in unsure.explain()
    assert "With --states bf16 (8 bytes a parameter) it fits" in unsure.explain()
    sure = plan(**ASK, cluster="dgx-h200", gpus=1, states="bf16")
    assert "--states" not in sure.explain()


def test_several_numbers_of_gpus_are_timed_by_one_software():
    both = pareto("qwen3-1.7b", "dgx-h100", B=2**16, gpus=(1, 8), of=("time", "gpus"))
    alone = pareto("qwen3-1.7b", "dgx-h100", B=2**16, gpus=1)
    one = next(best for best in both if best.gpus == 1)
    assert both.task.stack.key == "megatron-core-h100"
    assert alone.task.stack.key == "pytorch-h100"
    megatron = plan("qwen3-1.7b", "dgx-h100", B=2**16, gpus=1, stack="megatron-core-h100")[0]
    assert one.seconds == pytest.approx(megatron.seconds)
    named = pareto("qwen3-1.7b", "dgx-h100", B=2**16, gpus=(1,), stack="megatron-core-h100")
    assert named.task.stack.key == "megatron-core-h100"


@pytest.mark.parametrize(("stack", "compiled"), [("pytorch", False), ("pytorch-compiled", True)])
def test_a_launch_is_compiled_where_the_times_are(stack, compiled):
    found = plan("llama3-8b", "dgx-h200", B=8192, gpus=1, states="bf16", stack=stack)
    text = emit_training(found.task, found[0], "torchtitan").text
    assert f"config.compile.enable = {compiled}" in text


def test_adapters_are_quicker_and_a_narrow_base_slower():
    seconds = {}
    for settings in ({"states": "bf16"}, {"lora": 16}, {"lora": 16, "base": "nf4"}, {"lora": "16@q+v"}):
        found = plan(**ASK, cluster="dgx-h200", gpus=1, recompute="full", **settings)
        seconds[str(settings)] = found[0].seconds
    full, lora, narrow, few = seconds.values()
    assert few < lora < narrow
    assert lora < full


def test_modules_that_are_recomputed_can_be_asked_for():
    way = {"cluster": "dgx-h200", "gpus": 1, "states": "bf16"}
    times = [plan(**ASK, **way, recompute=how)[0].seconds for how in ("none", "op", "mlp", "full")]
    assert times[0] < times[1] < times[3]
    assert times[0] < times[2] < times[3]
