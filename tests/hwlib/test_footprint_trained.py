"""What is trained and in which precision: parameters, bytes, operations and seconds, against numbers by hand."""

import pytest

from hwlib.footprint import BASES, OPTIMIZERS, Adapters, Trained, adapters_of, footprint, with_optimizer
from hwlib.footprint.state_bytes import (
    ADAM_8BIT,
    BFLOAT16_ADAM,
    DEEPSEEK_ADAM,
    FULL_ADAM,
    MEGATRON_ADAM,
    MIXED_ADAM,
    MUON,
    States,
)
from hwlib.footprint.trained import MATRICES, layer_matrices, newton_schulz_flops
from hwlib.options import training
from hwlib.planner import PlanError, SoftwareSettings, plan
from hwlib.planner.task import task_of
from hwlib.specs import Stack, frameworks, models
from hwlib.steptime import step_time
from hwlib.strategy import Strategy
from hwlib.transformer import parameter_count

LLAMA = models["llama3-8b"]
ONE = Strategy.of(dp=1)
IDEAL = Stack.ideal("h200-sxm")


def trained_of(rank=16, base="bf16", states=BFLOAT16_ADAM, matrices=("q", "k", "v", "o")):
    return Trained(states, adapters=Adapters(rank, matrices, base))


@pytest.mark.parametrize(
    ("text", "matrices"),
    [
        ("8", ("q", "k", "v", "o", "gate", "up", "down")),
        ("8@attention", ("q", "k", "v", "o")),
        ("8@q,v", ("q", "v")),
        (" 8@q + mlp+q ", ("q", "gate", "up", "down")),
    ],
)
def test_adapters_are_asked_for_by_rank_and_matrices(text, matrices):
    assert adapters_of(text) == Adapters(8, matrices)


@pytest.mark.parametrize("text", ["", "0", "-1", "x", "8@", "8@z", "8.5", "@q"])
def test_adapters_that_cannot_be_are_refused(text):
    with pytest.raises(ValueError, match=r"rank|RANK|matrices"):
        adapters_of(text)
    with pytest.raises(PlanError) as error:
        SoftwareSettings(lora=text)
    assert error.value.field == "lora"


@pytest.mark.parametrize(
    ("model", "text", "reason"),
    [
        ("llama3-8b", "4096", ""),
        ("llama3-8b", "4097", "at most the width"),
        ("llama3-8b", "16@experts", "no experts"),
        ("llama3-8b", "16@q+experts", "no experts"),
        ("mixtral-8x7b", "16@experts", ""),
        ("gpt3-175b", "16@gate", "no matrix of gate"),
        ("gpt3-175b", "16@gate+up", ""),
    ],
)
def test_adapters_stand_beside_matrices_that_the_model_has(model, text, reason):
    def asked():
        return task_of(model, "dgx-h200", B=2**20, software=SoftwareSettings(lora=text))

    if not reason:
        assert asked().trained.parameters(models[model]) > 0
        return
    with pytest.raises(PlanError, match=reason) as error:
        asked()
    assert error.value.field == "lora"


def test_parameters_of_adapters_are_a_rank_for_each_row_and_column():
    # Llama 3 8B: q and o 4096 x 4096, k and v 4096 x 1024, gate, up and down 4096 x 14336; 32 layers
    attention = 2 * (4096 + 4096) + 2 * (4096 + 1024)
    assert adapters_of("16@attention").parameters(LLAMA) == 16 * 32 * attention == 13_631_488
    assert adapters_of("8").parameters(LLAMA) == 8 * 32 * (attention + 3 * (4096 + 14336)) == 20_971_520
    mixtral = models["mixtral-8x7b"]
    assert adapters_of("4@experts").parameters(mixtral) == 4 * 32 * 8 * 3 * (4096 + 14336)


@pytest.mark.parametrize("key", ["llama3-8b", "mixtral-8x7b", "deepseek-v3", "gpt3-175b"])
def test_the_matrices_of_all_layers_are_those_of_the_model(key):
    from hwlib.transformer import matmul_parameters

    model, active = models[key], 0
    for moe, layers in ((False, model.layers - model.moe_layers), (True, model.moe_layers)):
        for name, shapes in layer_matrices(model, moe).items() if layers else ():
            times = model.experts_per_token if name == "experts" else 1
            active += layers * times * sum(rows * columns for rows, columns in shapes)
    routers = model.moe_layers * model.experts * model.width
    assert active + routers + model.width * model.vocab == matmul_parameters(model)


@pytest.mark.parametrize(
    ("states", "optimizer", "total", "update"),
    [
        (MEGATRON_ADAM, "adamw", 18, 2 * 12 + 4 + 2),
        (MIXED_ADAM, "adamw", 16, 2 * 12 + 4 + 2),
        (FULL_ADAM, "adamw", 16, 2 * 8 + 4 + 2 * 4),
        (BFLOAT16_ADAM, "adamw", 8, 2 * 4 + 2 + 2 * 2),
        (ADAM_8BIT, "adamw", 6, 2 * 2 + 2 + 2 * 2),
        (DEEPSEEK_ADAM, "adamw", 13, 2 * 8 + 4 + 1),
        (MEGATRON_ADAM, "muon", 14, 2 * 8 + 4 + 2),
        (FULL_ADAM, "lion", 12, 2 * 4 + 4 + 2 * 4),
        (BFLOAT16_ADAM, "sgd", 6, 2 * 2 + 2 + 2 * 2),
        (DEEPSEEK_ADAM, "muon", 11, 2 * 6 + 4 + 1),
    ],
)
def test_an_optimizer_leaves_out_moments_as_wide_as_adams(states, optimizer, total, update):
    changed = with_optimizer(states, optimizer)
    assert changed.total == total
    assert Trained(changed, optimizer).update_bytes == update
    assert with_optimizer(MEGATRON_ADAM, "muon") == MUON


def test_states_of_adapters_and_of_their_base():
    def held(**more):
        return footprint("llama3-8b", ONE, T=2048, **more)

    P, adapters = 8_030_261_248, 13_631_488
    lora = held(trained=trained_of())
    assert lora.weights == pytest.approx(2 * P + 2 * adapters)
    assert (lora.gradients, lora.optimizer) == pytest.approx((2 * adapters, 4 * adapters))
    tables = 2 * 128256 * 4096 + 4096  # they stay in 16 bits
    four = held(trained=trained_of(base="nf4"))
    assert four.weights == pytest.approx(4.127 / 8 * (P - tables) + 2 * tables + 2 * adapters)
    assert four.buffers - lora.buffers == pytest.approx(2 * 4096 * 14336)  # the largest matrix, made again
    assert held(trained=Trained(BFLOAT16_ADAM)) == held(states=BFLOAT16_ADAM)
    assert trained_of(base="int8").state_bytes(LLAMA) == P + 8 * adapters
    with pytest.raises(ValueError, match="trained"):
        held(trained=trained_of(), trainable=1)
    with pytest.raises(ValueError, match="trained"):
        held(trained=trained_of(), states=MEGATRON_ADAM)


def test_frozen_matrices_keep_no_input_and_those_with_adapters_do():
    def kept(matrices=None):
        trained = trained_of(matrices=matrices) if matrices else None
        return footprint("llama3-8b", ONE, T=2048, trained=trained).activations / (32 * 2048)

    everything = kept()
    assert kept(("q", "k", "v", "o", "gate", "up", "down")) == everything
    assert everything - kept(("q", "gate", "down")) == 0
    assert everything - kept(("gate", "down")) == 2 * 4096  # the input of queries, keys and values
    assert everything - kept(("v", "down")) == 2 * 4096  # that of gate and up
    assert everything - kept(("v", "up")) == 2 * 14336  # that of down
    assert everything - kept(("o",)) == 2 * (4096 + 4096 + 14336)


def test_a_step_of_adapters_has_no_gradients_of_frozen_weights():
    def seconds(stack=IDEAL, **more):
        return step_time("llama3-8b", stack, "dgx-h200", ONE, B=8192, T=8192, **more)

    C = IDEAL.accelerator.flops("bf16")
    matrices = 32 * (2 * 4096**2 + 2 * 4096 * 1024 + 3 * 4096 * 14336) + 4096 * 128256
    whole, lora = seconds(trained=Trained(BFLOAT16_ADAM)), seconds(trained=trained_of())
    own = 3 * 2 * 8192 * 13_631_488 / C  # two products of an adapter, forward, and twice as much backward
    assert whole.compute - lora.compute == pytest.approx(2 * 8192 * matrices / C - own)
    spared = trained_of().spared_flops(LLAMA, 8192)
    assert spared == pytest.approx((whole.compute - lora.compute) * C)
    assert Trained(BFLOAT16_ADAM).spared_flops(LLAMA, 8192) == 0


def test_a_base_in_four_bits_is_made_again_in_each_pass():
    stack = IDEAL.replace(eta_W=1.0)

    def seconds(base, **more):
        plan = Strategy.of(dp=1, **more)
        trained = trained_of(base=base)
        return step_time("llama3-8b", stack, "dgx-h200", plan, B=2048, T=2048, trained=trained).total

    layer = 2 * 4096**2 + 2 * 4096 * 1024 + 3 * 4096 * 14336 + 2 * 4096
    once = 32 * layer / IDEAL.accelerator.hbm_bandwidth
    assert seconds("nf4") - seconds("bf16") == pytest.approx(2 * (4.127 / 8 + 2) * once)
    assert seconds("int8") - seconds("bf16") == pytest.approx(2 * (1 + 2) * once)
    assert seconds("int4") - seconds("bf16") == pytest.approx(2 * (BASES["int4"] + 2 + IDEAL.b_unpack) * once)
    again = seconds("nf4", recompute="full") - seconds("bf16", recompute="full")
    assert again == pytest.approx(3 * (4.127 / 8 + 2) * once)


def test_bytes_of_a_vector_decide_an_adapters_time_where_memory_is_slow():
    stack = IDEAL.replace(eta_W=1e-3)

    def layer(matrices):
        trained = trained_of(rank=1, matrices=matrices)
        return step_time("llama3-8b", stack, "dgx-h200", ONE, B=2048, T=2048, trained=trained).compute

    # without the input that a matrix with an adapter keeps: o's is kept either way; up's beside gate's is
    added = layer(("gate", "up")) - layer(("gate",))
    moved = 2 * 2048 * ((1 + 5) * 4096 + (4 + 2) * 14336) * 32
    assert added == pytest.approx(moved / (1e-3 * IDEAL.accelerator.hbm_bandwidth))


def test_muon_pays_for_five_iterations_of_three_products():
    small = models.get("gpt2", LLAMA)
    total = 0.0
    for shapes in layer_matrices(small, False).values():
        for rows, columns in shapes:
            m, n = min(rows, columns), max(rows, columns)
            total += 5 * (2 * m * n * m + 2 * m * m * m + 2 * m * m * n)
    assert newton_schulz_flops(small) == pytest.approx(small.layers * total)

    def update(optimizer, **degrees):
        states = with_optimizer(MEGATRON_ADAM, optimizer)
        plan, trained = Strategy.of(**degrees), Trained(states, optimizer)
        return step_time("llama3-8b", IDEAL, "dgx-h200", plan, B=2**17, T=8192, trained=trained).optimizer

    C = IDEAL.accelerator.flops("bf16")
    assert update("lion", dp=8) == 0  # memory takes no time
    assert update("muon", dp=8) == pytest.approx(newton_schulz_flops(LLAMA) / C)
    assert update("muon", dp=8, zero=1) == pytest.approx(newton_schulz_flops(LLAMA) / C / 8)


def task(gpus=2, **settings):
    return task_of("llama3-8b", "dgx-h200", B=8192, gpus=gpus, software=SoftwareSettings(**settings))


def test_a_task_says_in_its_first_line_what_is_trained():
    assert "bf16" in task(states="bf16").title
    assert "8 bytes" in task(states="bf16").title
    assert "rank 16" in task(lora=16).title
    assert "nf4" in task(lora=16, base="nf4").title
    assert "muon" in task(optimizer="muon").title
    assert task().title in task(states="bf16").title  # nothing asked for, nothing added
    assert task().trained is None
    assert "16 bytes" in task(gpus=1).title  # nothing asked for, but of one GPU the states are told
    assert task().state_bytes == 18 * 8_030_261_248
    assert task(states="bf16").states == task(states="bfloat16").states == BFLOAT16_ADAM


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"optimizer": "adam"}, "optimizer"),
        ({"optimizer": "lion", "states": "muon"}, "optimizer"),
        ({"base": "nf4"}, "base"),
        ({"base": "fp4", "lora": 8}, "base"),
        ({"lora": 0}, "lora"),
    ],
)
def test_what_cannot_be_trained_names_its_field(settings, field):
    with pytest.raises(PlanError) as error:
        SoftwareSettings(**settings)
    assert error.value.field == field


def test_a_refusal_by_memory_says_what_was_assumed():
    where = {"model": "llama3-8b", "cluster": "dgx-h100", "gpus": 1, "B": 8192}
    with pytest.raises(PlanError) as error:
        plan(**where)
    assert error.value.field == "memory"
    assert "16 bytes a parameter" in str(error.value)
    assert "--states bf16 (8 bytes a parameter) it fits" in str(error.value)
    best = plan(**where, states="bf16").best[0]
    lora = plan(**where, lora="16@q,v", base="nf4").best[0]
    assert lora.memory.total < best.memory.total < 72e9
    assert lora.seconds < best.seconds
    assert 0 < lora.mfu < 1
    with pytest.raises(PlanError) as error:
        plan("llama3-405b", "dgx-h200", gpus=1, B=8192, states="bf16")
    assert "8 bytes" in str(error.value)
    assert "--states" not in str(error.value)


def test_options_have_the_words_of_the_record():
    assert (*OPTIMIZERS,) == training.OPTIMIZERS
    assert (*BASES,) == training.BASES
    assert States(2, 2, 4) == BFLOAT16_ADAM


def test_adapters_stand_beside_something():
    with pytest.raises(ValueError, match="one matrix at least"):
        Adapters(16, ())


def test_matrices_in_few_bits_keep_their_inputs_frozen_or_not():
    def held(base):
        trained = Trained(BFLOAT16_ADAM, adapters=Adapters(8, ("q", "v"), base))
        return float(footprint("llama3-8b", Strategy(), T=4096, m=1, trained=trained).activations)

    frozen = 2 * (4096 + 14336) * 32 * 4096  # inputs of gate and up together, and of down
    assert held("nf4") - held("bf16") == held("int8") - held("bf16") == frozen
    assert Adapters(8, ("q",), "nf4").reading == MATRICES
    assert Adapters(8, ("q",)).reading == ("q",)


def test_an_update_of_all_parameters_together_copies_a_moment():
    by = frameworks["pytorch"].replace(reserve=0.0, fragmentation=0.0, logit_hole=0.0)
    states = BFLOAT16_ADAM

    def total(T, moments, m=1):
        framework = by.replace(moments=moments)
        found = footprint("llama3-8b", Strategy(), T=T, m=m, framework=framework, trained=Trained(states))
        return float(found.total)

    P = parameter_count("llama3-8b")
    assert total(128, 1.0) == (8 + 2) * P  # a moment of 2 bytes, where the step is the peak
    assert total(128, 1.0, m=2) == (8 + 2) * P
    assert total(32768, 1.0) == total(32768, 0.0)  # the backward pass is
    adapted = Trained(states, adapters=Adapters(8))
    with_copy, without = (
        footprint("llama3-8b", Strategy(), T=128, m=1, framework=by.replace(moments=n), trained=adapted).total
        for n in (1.0, 0.0)
    )
    assert with_copy == without


def test_a_base_in_few_bits_may_have_tables_and_layers_in_32():
    trained, T = trained_of(8, "nf4"), 4096

    def held(wide, recompute="full"):
        by = frameworks["pytorch"].replace(wide_base=wide)
        return footprint(LLAMA, Strategy(recompute=recompute), T=T, m=1, framework=by, trained=trained)

    table = LLAMA.vocab * LLAMA.width
    wide, narrow = held(True), held(False)
    assert wide.weights - narrow.weights == pytest.approx(2 * 2 * table, rel=1e-4)  # and the last norm
    assert wide.logits - narrow.logits == 2 * table
    assert wide.activations == 2 * narrow.activations
    kept = held(True, "none").activations - held(False, "none").activations
    assert kept == 32 * T * 4096 * (2 * 2 + 2 * 3)  # two norms' inputs, and three casts more than two
    whole = Trained(BFLOAT16_ADAM)
    by = frameworks["pytorch"]
    alike = [
        footprint(LLAMA, ONE, T=T, m=1, framework=by.replace(wide_base=wide), trained=whole) for wide in (True, False)
    ]
    assert alike[0] == alike[1]
