"""PyTorch on one GPU: the constants against the measured steps, and each part of its own against numbers by hand."""

from statistics import fmean

import pytest

from benchmarks.fit.one_gpu import (
    MODELS,
    UNPACK_START,
    BothStacks,
    fit,
    fit_unpack,
    folds,
    kept,
    mean_error,
    measured_steps,
    memory_error,
    resting,
    time_error,
    unpack_error,
    unpacked_steps,
    with_errors,
)
from benchmarks.rows.published import ROWS
from benchmarks.rows.published import steps as published_steps
from hwlib.footprint import BFLOAT16_ADAM, Adapters, Trained, footprint
from hwlib.footprint.state_bytes import FULL_ADAM
from hwlib.planner import PlanError, SoftwareSettings
from hwlib.planner.task import task_of
from hwlib.specs import Stack, frameworks, stack_for, stacks
from hwlib.steptime import step_time
from hwlib.strategy import Strategy
from hwlib.transformer import parameter_count

LLAMA = MODELS["llama3.2-1b"]
BARE = Stack.ideal("h200-sxm").replace(one_gpu=True)
W = BARE.accelerator.hbm_bandwidth


def seconds(stack, states, **degrees):
    plan = Strategy(dp=1, **degrees)
    return step_time(LLAMA, stack, "dgx-h200", plan, B=4 * 2048, T=2048, trained=Trained(states))


def test_the_shapes_are_those_that_were_measured():
    sizes = {step.name: parameter_count(MODELS[step.name]) for step in measured_steps()}
    assert sizes["gpt2-124m"] == pytest.approx(124_475_904)
    assert sizes["llama3.2-1b"] == 1_235_814_400
    assert sizes["llama3-8b-8layers"] == 2_795_573_248
    assert sizes["qwen3-30b-a3b-6layers"] == pytest.approx(4_361_054_208, rel=1e-4)


def test_steps_are_within_a_tenth_and_memory_within_an_eighth():
    steps = measured_steps()
    dense = [step for step in steps if not MODELS[step.name].moe]
    assert mean_error(steps, kept()) < 0.04
    assert max(abs(time_error(step, kept())) for step in steps) < 0.12
    assert fmean(abs(memory_error(step)) for step in steps) < 0.03
    eager = [step for step in dense if step.software == "pytorch"]
    assert max(abs(memory_error(step)) for step in eager) < 0.03


def test_a_fit_to_two_models_times_the_two_others():
    assert len(folds()) == 6
    seen, unseen = folds()[1]
    fitted = fit([step for step in measured_steps() if step.name in seen])
    assert mean_error([step for step in measured_steps() if step.name in unseen], fitted) < 0.12


def test_a_fit_does_not_begin_at_what_is_kept():
    """What rows do not decide stays at the start of the fit, never at constants that other rows decided."""
    dense = [step for step in measured_steps() if step.name == "gpt2-124m" and not step.compiled]
    assert fit(dense).compiled.eta_W == pytest.approx(0.8, rel=0.01) != kept().compiled.eta_W


def test_an_error_is_that_of_its_own_steps():
    worse = BothStacks(*(stack.replace(eta_P=0.6) for stack in kept()))
    eager, compiled = with_errors(worse)
    own = [step for step in measured_steps() if not step.compiled]
    assert eager.error == pytest.approx(mean_error(own, worse))
    assert with_errors(kept()) == kept()
    assert compiled.error != eager.error


def test_typed_constants_are_counted_where_they_move_a_step():
    counted = resting()
    assert not counted["pytorch-h200"]["t_launch"]
    assert counted["pytorch-h200"]["t_kernel"] > 0
    assert counted["pytorch-h200"]["eta_P"] == counted["pytorch-compiled-h200"]["eta_P"]  # the eager one fitted it


def test_steps_with_an_unpacked_base_are_those_of_one_source():
    cases = unpacked_steps()
    assert len(cases) == 14
    assert {case.chip for case in cases} == {"a100-80gb-sxm"}
    assert unpack_error(cases, kept().eager) < 0.08
    assert unpack_error(cases, kept().eager.replace(b_unpack=0.0)) > 0.2


def test_the_bytes_of_unpacking_without_a_model_time_that_model():
    cases = unpacked_steps()
    own, others = ([case for case in cases if ("14" in case.model.key) == same] for same in (True, False))
    constants = fit_unpack(others, kept().eager)
    assert constants["b_unpack"] == pytest.approx(kept().eager.b_unpack, rel=0.1)
    assert constants["t_launch"] == pytest.approx(kept().eager.t_launch, rel=0.1)  # the smallest model is among these
    assert unpack_error(own, kept().eager.replace(**constants)) < 0.05


def test_what_a_launch_takes_times_steps_of_other_tables():
    """Fitted to a base in four bits; adapters beside 16 bits and the steps of another machine were not seen."""
    before, after = (kept().eager.replace(t_launch=t_launch) for t_launch in (1e-5, kept().eager.t_launch))
    cases = [case for row, case in published_steps(ROWS / "steps_others.csv", every=True) if row.set == "qwen-tuned"]
    adapters = [case for case in cases if isinstance(case.software.lora, Adapters) and not case.software.lora.quantised]
    assert unpack_error(adapters, after) < 0.07 < unpack_error(adapters, before)
    steps = measured_steps()
    launched = [BothStacks(stack, kept().compiled.replace(t_launch=stack.t_launch)) for stack in (before, after)]
    assert mean_error(steps, launched[1]) < mean_error(steps, launched[0])


def test_a_constant_that_no_step_decides_stays_at_its_start():
    large = [case for case in unpacked_steps() if "72" in case.model.key]
    assert fit_unpack(large, kept().eager)["t_launch"] == pytest.approx(UNPACK_START["t_launch"], rel=0.01)


def test_an_update_takes_its_bytes_and_a_time_of_its_own():
    P = parameter_count(LLAMA)
    stack = BARE.replace(t_param=3e-12)
    assert seconds(stack, BFLOAT16_ADAM).optimizer == pytest.approx(P * (14 / W + 3e-12))
    assert seconds(stack, FULL_ADAM).optimizer == pytest.approx(P * (28 / W + 3e-12))
    assert seconds(BARE, FULL_ADAM).optimizer == 0  # memory takes no time


def test_autocast_casts_weights_and_gradients_of_each_microbatch():
    P = parameter_count(LLAMA)

    def more(**degrees):
        return seconds(BARE, FULL_ADAM, **degrees), seconds(BARE, BFLOAT16_ADAM, **degrees)

    for micro, m in ((4, 1), (1, 4)):
        wide, narrow = more(micro=micro)
        assert wide.compute - narrow.compute == pytest.approx(m * 12 * P / W)
        assert wide.recomputed == narrow.recomputed == 0
    wide, narrow = more(micro=4, recompute="full")
    assert wide.recomputed - narrow.recomputed == pytest.approx(6 * P / W)
    several = BARE.replace(one_gpu=False)
    assert seconds(several, FULL_ADAM).compute == seconds(several, BFLOAT16_ADAM).compute


def test_autocast_keeps_a_copy_of_weights_in_32_bits_alone():
    by, plan = frameworks["pytorch"], Strategy(dp=1)
    P = parameter_count(LLAMA)

    def weights(states, framework):
        return footprint(LLAMA, plan, T=2048, m=1, trained=Trained(states), framework=framework).weights

    assert weights(FULL_ADAM, by) == (4 + 2) * P
    assert weights(FULL_ADAM, by.replace(autocast=False)) == 4 * P
    assert weights(BFLOAT16_ADAM, by) == 2 * P


@pytest.mark.parametrize("key", ["pytorch-h200", "pytorch-compiled-h200"])
def test_a_stack_of_one_gpu_times_one_and_is_asked_for_by_name(key):
    def task(gpus):
        software = SoftwareSettings(stack=key)
        return task_of("llama3-8b", "dgx-h200", B=8192, gpus=gpus, software=software)

    assert task(1).stack.key == key
    assert "16 bytes a parameter" in task(1).title
    assert stacks[key].caveat
    with pytest.raises(PlanError) as error:
        task(2)
    assert error.value.field == "stack"
    assert not stack_for("h200-sxm").one_gpu
