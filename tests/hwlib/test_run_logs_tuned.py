"""Logs of runs that train adapters, or pack their sequences: typed in the forms of torchtune, and of TRL with PEFT.

41,943,040 parameters are those of rank 16 beside all seven matrices of Llama 3.1 8B, as PEFT prints them.
"""

from pathlib import Path

import pytest

from hwlib.footprint.trained import adapters_of
from hwlib.run_logs import RunLogError, read_run_log
from hwlib.run_logs.explain import explain_run
from hwlib.run_logs.facts import facts_of, value_of
from hwlib.run_logs.modelled import ModelledStep
from hwlib.run_logs.run_text import run_log_text
from hwlib.run_logs.tuned import adapters_in, book_flops, counting_notes
from hwlib.specs import models
from hwlib.transformer import matmul_parameters, step_flops

FOLDER = Path(__file__).parent / "data" / "run_logs"
LLAMA = models["llama3-8b"]
PEFT = {"on": "h100-sxm", "gpus": 1, "model": "llama3-8b", "sequence": 2048}


def text(name):
    return (FOLDER / f"{name}.log").read_text("utf-8")


@pytest.fixture(scope="module")
def tuned():
    return explain_run(text("torchtune_lora"), on="dgx-h100", gpus=2)


def test_torchtunes_configuration_says_what_is_trained(tuned):
    values = {name: value_of(tuned.facts, name) for name in ("lora", "micro", "batch", "batch_tokens", "recompute")}
    assert values == {
        **{"lora": "8@q+v+o+gate+up+down", "micro": 2, "batch": 2 * 8 * 2},
        **{"batch_tokens": 32 * 4096, "recompute": "full"},
    }
    assert tuned.model.task.model is LLAMA
    assert tuned.model.task.trained.adapters == adapters_of("8@q+v+o+gate+up+down")


def test_a_quantised_base_is_its_component_and_counts_in_the_model():
    qlora = text("torchtune_lora").replace("lora_llama3_1_8b", "qlora_llama3_1_8b")
    answer = explain_run(qlora, on="dgx-h100", gpus=2)
    assert answer.model.task.trained.adapters.base == "nf4"


def test_the_mfu_leaves_out_gradients_of_frozen_weights(tuned):
    T = 4096
    full = float(step_flops(LLAMA, T, T)) / T
    adapters = tuned.model.task.trained.adapters.parameters(LLAMA)
    flops = full - 2 * matmul_parameters(LLAMA) + 6 * adapters
    assert tuned.utilisation.flops == pytest.approx(flops * 32 * T)
    assert tuned.utilisation.mfu == pytest.approx(flops * tuned.utilisation.gpu_token_rate / 989.4e12, rel=1e-3)
    assert tuned.utilisation.mfu == pytest.approx(tuned.model.plan.mfu * tuned.model.plan.seconds / tuned.pace.mean)


def test_documents_shorten_attention(tuned):
    short = explain_run(text("torchtune_lora"), on="dgx-h100", gpus=2, document=512)
    less = float(step_flops(LLAMA, 4096, 4096)) / 4096 - float(step_flops(LLAMA, 512, 512)) / 512
    assert tuned.utilisation.flops - short.utilisation.flops == pytest.approx(less * 32 * 4096)
    assert "within documents of 512 tokens" in run_log_text(short)
    assert "--document" in run_log_text(tuned)


@pytest.mark.parametrize(("packed", "tokens"), [("true", 131072), ("True", 131072), ("false", None), ("False", None)])
def test_padded_sequences_are_not_counted_as_full(packed, tokens):
    log = read_run_log(text("torchtune_lora").replace("packed: true", f"packed: {packed}"))
    assert value_of(facts_of(log, {"gpus": 2}), "batch_tokens") == tokens


def test_tokens_of_trl_are_those_without_padding():
    answer = explain_run(text("trainer_peft"), **PEFT)
    assert value_of(answer.facts, "batch_tokens") == 30_000
    assert answer.utilisation.token_rate == pytest.approx(30_000 / 6)
    assert isinstance(answer.model, ModelledStep)
    assert answer.model.task.B == 15 * 2048  # the nearest number of full sequences
    assert "micro" in answer.model.assumed


def test_adapters_are_told_by_their_number_of_parameters():
    facts = facts_of(read_run_log(text("trainer_peft")), PEFT)
    assert adapters_in(LLAMA, facts) == adapters_of("16")
    attention = adapters_of("16@attention").parameters(LLAMA)
    facts = facts_of(read_run_log(text("trainer_peft").replace("41,943,040", f"{attention:,}")), PEFT)
    assert adapters_in(LLAMA, facts) == adapters_of("16@attention")


def test_adapters_that_nothing_fits_are_asked_for():
    facts = facts_of(read_run_log(text("trainer_peft").replace("41,943,040", "41,943,041")), PEFT)
    assert adapters_in(LLAMA, facts) is None
    assert "--lora" in " ".join(counting_notes(LLAMA, facts))
    assert book_flops(LLAMA, facts) == pytest.approx(float(step_flops(LLAMA, 2048, 2048)) / 2048)


@pytest.mark.parametrize(("trained", "adapted"), [(4_036_102_143, True), (4_036_102_144, False)])
def test_half_of_the_parameters_are_no_adapters(trained, adapted):
    facts = facts_of(read_run_log(text("trainer_peft").replace("41,943,040", f"{trained:,}")), PEFT)
    assert bool(counting_notes(LLAMA, facts)) is adapted


def test_what_is_told_counts_more_than_the_log():
    facts = facts_of(read_run_log(text("torchtune_lora")), {"lora": "64@q+v", "base": "int8", "gpus": 2})
    assert adapters_in(LLAMA, facts) == adapters_of("64@q+v", "int8")


def test_adapters_that_are_none_are_refused():
    with pytest.raises(RunLogError, match="--lora: expected RANK"):
        explain_run(text("torchtune_lora"), lora="nonsense")
