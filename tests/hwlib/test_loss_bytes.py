"""What a loss holds of tokens times vocabulary: full, in chunks, fused with the output layer; and who asks for it."""

import pytest

from hwlib.footprint import BFLOAT16_ADAM, LOSSES, Trained, adapters_of, footprint
from hwlib.footprint.loss_bytes import CHUNKS, UNFUSED, LossBytes, loss_bytes
from hwlib.launch import emit_training
from hwlib.planner import SoftwareSettings, plan
from hwlib.planner.plan_error import PlanError
from hwlib.planner.tables import record
from hwlib.planner.task import task_of
from hwlib.specs import Model, frameworks
from hwlib.strategy import Strategy

LLAMA = Model.small(layers=2, width=512, heads=8, ffn=1024, vocab=32000, tied=False)
EAGER = frameworks["pytorch"].replace(reserve=0.0, fragmentation=0.0)
TABLE = 2 * 32000 * 512


def held(T=4096, framework=EAGER, trained=None, **options):
    trained = trained or Trained(BFLOAT16_ADAM)
    return footprint(LLAMA, Strategy(), T=T, m=1, framework=framework, trained=trained, **options)


def logits(T=4096, **options):
    """Bytes of the loss alone, without the inputs of the last norm and of the output layer."""
    return float(held(T, **options).logits) - 4 * 512 * T


def test_the_peak_is_that_of_the_loss_or_of_the_product_after_it():
    assert LossBytes(3, 2).peak == 3
    assert LossBytes(2, 3).peak == 3


def test_chunks_keep_logarithms_unless_the_loss_is_compiled():
    compiled, eager = (float(loss_bytes("chunked", 1, x, 0.1, 0).loss) for x in (UNFUSED, UNFUSED + 1))
    assert compiled == 2 + UNFUSED / CHUNKS
    assert eager == 6 + (UNFUSED + 1 - 4) / CHUNKS


def test_a_fused_loss_holds_as_many_logits_as_hidden_states_and_never_more_than_all():
    assert loss_bytes("fused", 1000, 12, 0.1, 0).peak == 1200
    assert loss_bytes("fused", 1000, 12, 2, 0).peak == 12000


def test_a_loss_of_all_logits_holds_the_copies_of_its_software():
    assert logits() == 12 * 4096 * 32000
    assert logits(framework=frameworks["pytorch-compiled"]) == 2 * 4096 * 32000 + TABLE


def test_where_tokens_are_few_the_gradient_of_the_output_layer_is_the_peak():
    assert logits(T=64) == 2 * 64 * 32000 + TABLE
    edge = TABLE // (10 * 32000)  # tokens whose softmax is as large
    assert logits(T=edge + 1) == 12 * (edge + 1) * 32000
    assert logits(T=edge - 1) == 2 * (edge - 1) * 32000 + TABLE


def test_adapters_make_no_gradient_of_the_output_layer():
    adapted = Trained(BFLOAT16_ADAM, adapters=adapters_of("8"))
    assert logits(T=64, trained=adapted) == 12 * 64 * 32000
    assert logits(trained=adapted, loss="fused") == 12 * 4096 * 512


def test_several_microbatches_have_the_gradient_of_the_output_layer_among_the_others():
    whole = footprint(LLAMA, Strategy(), T=64, m=2, framework=EAGER, trained=Trained(BFLOAT16_ADAM))
    assert float(whole.logits) == (12 * 32000 + 4 * 512) * 64


def test_chunked_and_fused_losses_take_less_and_leave_no_hole():
    full, chunked, fused = (held(loss=kind) for kind in LOSSES)
    assert full.total > chunked.total > fused.total
    assert full.overhead == 2 * 4096 * 32000  # where the logits in 16 bits were
    assert chunked.overhead == fused.overhead == 0


def test_a_loss_of_another_name_is_refused():
    with pytest.raises(ValueError, match="loss"):
        held(loss="liger")
    with pytest.raises(PlanError) as error:
        SoftwareSettings(loss="liger")
    assert error.value.field == "loss"


def test_an_answer_names_a_loss_that_is_not_the_usual_one():
    def found(loss):
        return plan("llama3-8b", "dgx-h100", B=2**20, software=SoftwareSettings(loss=loss))

    for kind in LOSSES:
        result = found(kind)
        named = kind != "full"
        assert (f"{kind} loss" in result.task.choices) == named
        assert record(result)["loss"] == kind
        lost = emit_training(result.task, result[0], "megatron").not_expressed
        assert any(f"{kind} loss" in words for words in lost) == named


def test_a_task_is_asked_for_its_loss():
    def fullest(loss):
        software = SoftwareSettings(stack="pytorch-h200", loss=loss, states="bf16")
        task = task_of("llama3-8b", "dgx-h200", B=8192, gpus=1, software=software)
        return float(footprint(task, Strategy()).total)

    assert fullest("full") > fullest("chunked") > fullest("fused")
