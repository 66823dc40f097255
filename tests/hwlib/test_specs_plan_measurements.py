"""Published plans that mix parallelisms: their keys, what their sources say of them, and the times that follow."""

from statistics import median

import pytest

from hwlib.specs import accelerators, measured_plans
from hwlib.steptime import peak_time, predicted_step, published_strategy, published_time
from hwlib.transformer import parameter_count
from tests.each import each


@each("run", measured_plans())
def test_every_row_mixes_degrees_that_make_its_gpus(run):
    assert run.gpus == published_strategy(run).gpus
    assert run.dp > 1 < sum(degree > 1 for degree in (run.tp, run.pp, run.cp))


def test_ten_are_asked_for_and_no_other_row_has_their_plan():
    asked, shown = measured_plans(asked=True), measured_plans(asked=False)
    assert len(asked) == 10
    plan = lambda run: (run.stack, run.shape.layers, run.shape.width, published_strategy(run), run.gpus, run.dtype)
    assert not {plan(run) for run in asked} & {plan(run) for run in shown}


def test_a_trillion_parameters_train_in_the_days_that_their_authors_say():
    """Narayanan et al., 5.1: 450 billion tokens, 3,072 GPUs at 163 TFLOP/s: about 84 days."""
    (run,) = (run for run in measured_plans(source="narayanan2021") if run.gpus == 3072)
    assert parameter_count(run.shape) == pytest.approx(1008e9, rel=0.001)
    days = 450e9 / run.B * published_time(run) / 86400
    assert days == pytest.approx(84, rel=0.02)


def test_a_rate_in_tokens_and_one_in_operations_agree():
    """Megatron Bridge prints both: 311 token/s and 784 TFLOP/s of a GPU, for 405B on 1,024 H100."""
    (run,) = (run for run in measured_plans(source="megatron-bridge") if run.key == "mbridge-02208")
    assert run.B / (run.gpus * published_time(run)) == pytest.approx(311, rel=0.003)
    assert published_time(run._replace(value=311, unit="tokens/s")) == pytest.approx(published_time(run), rel=0.003)


def test_a_share_of_the_peak_counts_every_key():
    """Korthikanti et al., abstract: MFU of 54.2 % and 42.1 %, so 29 % faster, as it says."""
    least, most = sorted(published_time(run) for run in measured_plans(source="korthikanti2022"))
    assert most / least == pytest.approx(1.29, abs=0.005)


def test_no_step_is_as_short_as_the_data_sheet_says_and_the_model_is_near():
    runs = measured_plans()
    assert all(0.15 < peak_time(run) / published_time(run) < 0.6 for run in runs)
    errors = [abs(float(predicted_step(run).total) / published_time(run) - 1) for run in runs]
    assert median(errors) < 0.025
    assert sum(error > 0.15 for error in errors) == 1


def test_levels_are_the_domains_that_the_gpus_fill():
    for run in measured_plans():
        inner, outer = run.levels
        assert inner.size * outer.size == run.gpus
        assert inner.bandwidth == accelerators[run.chip].scaleup_bandwidth
