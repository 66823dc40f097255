"""Memory as a GPU reports it: each framework's own bytes, recomputation by parts of a layer, adapters, offload."""

import numpy as np
import pytest

from hwlib.footprint import ADAM_8BIT, FP8_MOMENTS_ADAM, MUON, Footprint, States, Trained, adapters_of, footprint
from hwlib.specs import SpecError, framework_of, frameworks, models, stacks
from hwlib.specs.framework import read_frameworks
from hwlib.strategy import BY_OP, MODULES, RECOMPUTED, Strategy, StrategyError, recomputed_modules
from hwlib.transformer import parameter_count
from hwlib.units import GB, GiB

LLAMA = models["llama3-8b"]
TITAN = frameworks["torchtitan-2024"]


def held(model="llama3-8b", T=8192, m=1, **others):
    named = ("framework", "states", "trainable", "frozen", "offload", "stage", "fused", "dtype", "trained")
    rest = {name: others.pop(name) for name in named if name in others}
    return footprint(model, Strategy.of(**others), T=T, m=m, **rest)


# Recomputation by parts of a layer


def test_what_a_layer_keeps_by_operator():
    """Of Llama 3 8B, by hand, in two bytes: its input, queries, values, attention's output, the gate; and a number of
    four bytes for each head.
    """
    token = 2 * (4096 + 4096 + 1024 + 4096 + 14336) + 4 * 32
    assert token == 55424
    assert held(recompute=BY_OP).activations == 32 * 8192 * token
    eager = held(recompute=BY_OP, framework=TITAN.replace(eager=True, fragmentation=0.0))
    assert eager.activations == 32 * 8192 * (token + 2 * 4096)  # the last product, which nothing needs


@pytest.mark.parametrize(
    ("modules", "token"),
    [
        ("layernorm", 4 * 4096),
        ("mlp", 2 * 3 * 14336),
        (("mlp", "layernorm"), 4 * 4096 + 2 * 3 * 14336),
        ("mla_up_proj", 0),
        ("moe", 0),
        ("core_attn", 0),
    ],
)
def test_what_a_module_gives_back(modules, token):
    none, some = held(), held(recompute=modules)
    assert none.activations - some.activations == 32 * 8192 * token
    assert some.buffers == 8192 * token  # of the layer that is recomputed it is there again


def test_the_recipe_of_deepseek():
    """DeepSeek-V3 recomputes norms and the up-projections of latent attention: 576 compressed numbers stay of the
    128*(192 + 192 + 128) of queries, keys and values, and 1536 of the queries.
    """
    model = models["deepseek-v3"]
    none, some = held(model, T=4096, ep=8, dp=8), held(model, T=4096, ep=8, dp=8, recompute="mla_up_proj+layernorm")
    token = 2 * 128 * (192 + 192 + 128) + 2 * (1536 + 512) + 4 * 7168
    assert none.activations - some.activations == 61 * 4096 * token


@pytest.mark.parametrize("model", ["llama3-8b", "deepseek-v3", "mixtral-8x7b"])
def test_more_recomputed_is_less_kept(model):
    kept = [held(model, T=2048, fused=False, recompute=MODULES[:n]).activations for n in range(len(MODULES) + 1)]
    assert kept == sorted(kept, reverse=True)
    assert kept[0] > kept[-1] > held(model, T=2048, fused=False, recompute="full").activations > 0
    whole = held(model, T=2048, recompute=("moe", "moe_act", "shared_experts"))
    assert whole.activations == held(model, T=2048, recompute="moe").activations  # each is counted once


def test_the_plan_of_deepseek_fits_its_gpus():
    """PP 16, EP 64, DualPipe, ZeRO-1, no tensor parallelism, norms, up-projections and activations recomputed (section
    3.2 and 3.3.3 of the report): 80 GB of an H800 have it, and would not without recomputation and 8 bits.
    """
    plan = {"ep": 64, "pp": 16, "dp": 128, "zero": 1, "schedule": "dualpipe", "T": 4096, "m": 120}
    recipe = held("deepseek-v3", **plan, recompute="mla_up_proj+layernorm+moe_act", framework="hai-llm")
    assert 60 * GB < recipe.total < 80 * GB
    assert held("deepseek-v3", **plan, framework="hai-llm").total > 80 * GB
    assert held("deepseek-v3", **plan, recompute="layernorm", framework="megatron-core").total > 80 * GB


@pytest.mark.parametrize("model", ["llama3-8b", "deepseek-v3"])
def test_elements_of_8_bits(model):
    """Half of what a norm gives and of what an MLP keeps; and what experts give is not kept where it need not be."""
    by = frameworks["megatron-core"]
    whole = held(model, T=2048, framework=by.replace(weighted_inside=False))
    inside = held(model, T=2048, framework=by)
    small = held(model, T=2048, framework=by.replace(kept=1.0))
    shape = models[model]
    outputs = shape.moe_layers * 2 * shape.experts_per_token * shape.width
    assert whole.activations - inside.activations == 2048 * outputs
    dense = (shape.layers - shape.moe_layers) * 3 * shape.ffn
    experts = shape.moe_layers * 3 * shape.expert_ffn * (shape.experts_per_token + shape.shared_experts)
    assert inside.activations - small.activations == 2048 * (
        dense + (experts if shape.moe else 0) + outputs / 2 + shape.layers * 2 * shape.width
    )
    one = held(model, T=2048, recompute=("layernorm", "mlp", "moe"), framework=by)
    other = held(model, T=2048, recompute=("layernorm", "mlp", "moe"), framework=by.replace(kept=1.0))
    assert one.activations == other.activations  # nothing of it is kept


NARROW = {"fp8": 1.0, "fp4": 0.5625}
ADAPTED = Trained(States(2, 2, 12), adapters=adapters_of("16@q+v"))


def kept_in(dtype, model="llama3-8b", framework="megatron-core", **options):
    return held(model, T=2048, framework=framework, dtype=dtype, **options).activations


@pytest.mark.parametrize("dtype", NARROW)
def test_matrices_keep_their_inputs_quantised(dtype):
    """Of a Llama what both norms give and the input of the last product; attention's output and that of the first
    products stay in 16 bits. Of experts tokens as they were sent, and their last inputs; the router reads 16 bits.
    """
    spared = 2 - NARROW[dtype]
    assert kept_in("bf16") - kept_in(dtype) == 2048 * 32 * spared * (2 * 4096 + 14336)
    mixtral = models["mixtral-8x7b"]
    chosen = mixtral.experts_per_token * (mixtral.expert_ffn + mixtral.width)
    assert kept_in("bf16", mixtral) - kept_in(dtype, mixtral) == 2048 * 32 * spared * (4096 + chosen)


def test_two_matrices_that_compress_have_a_copy_each():
    deepseek = models["deepseek-v3"]
    experts = 58 * (8 * 7168 + 9 * 2048)
    latent = 61 * (1536 + 512)
    dense = 3 * (7168 + 18432)
    assert kept_in("bf16", deepseek) - kept_in("fp8", deepseek) == 2048 * (experts + latent + dense)
    spared = kept_in("bf16", deepseek) - kept_in("fp4", deepseek)
    assert spared == 2048 * (1.4375 * (experts + latent + dense) + 61 * 7168 * (2 - 2 * 0.5625))


@pytest.mark.parametrize("dtype", ["bf16", *NARROW])
@pytest.mark.parametrize("model", ["llama3-8b", "mixtral-8x7b", "deepseek-v3"])
def test_what_is_recomputed_is_kept_in_no_precision(model, dtype):
    modules = ("layernorm", "mlp", "moe", "mla_up_proj")
    wide = kept_in("bf16", model, recompute=modules)
    assert kept_in(dtype, model, recompute=modules) == pytest.approx(wide, rel=1e-12)
    assert kept_in(dtype, model, recompute="full") == kept_in("bf16", model, recompute="full")


@pytest.mark.parametrize("dtype", NARROW)
def test_the_input_of_experts_last_product_goes_with_their_activation(dtype):
    mixtral, b = models["mixtral-8x7b"], NARROW[dtype]
    spared = kept_in(dtype, mixtral) - kept_in(dtype, mixtral, recompute="moe_act")
    assert spared == 2048 * 32 * b * 2 * mixtral.expert_ffn
    norms = kept_in(dtype, mixtral) - kept_in(dtype, mixtral, recompute="layernorm")
    assert norms == 2048 * 32 * (b + 2) * 4096
    deepseek = models["deepseek-v3"]
    shared = kept_in(dtype, deepseek) - kept_in(dtype, deepseek, recompute="shared_experts")
    assert shared == pytest.approx(2048 * 58 * (4 + b) * 2048)


def test_other_software_and_adapters_keep_16_bits():
    for framework in ("torchtitan", "llm-foundry", "hai-llm"):
        assert kept_in("fp8", framework=framework) == kept_in("bf16", framework=framework)
    assert kept_in("fp8", trained=ADAPTED) == kept_in("bf16", trained=ADAPTED)


@pytest.mark.parametrize("key", ["nemo-2024", "nemo-2025"])
def test_software_of_before_has_a_copy_of_attentions_output_too(key):
    assert kept_in("fp8", framework=key) - kept_in("fp8") == 2048 * 32 * 4096
    assert kept_in("bf16", framework=key) == kept_in("bf16")


def test_some_of_the_layers():
    some = [held(pp=4, m=8, stage=0, recompute="full", recompute_layers=n).activations for n in (0, 2, 4, 8, 99)]
    assert some[0] == held(pp=4, m=8, stage=0).activations
    assert some[3] == some[4] == held(pp=4, m=8, stage=0, recompute="full").activations
    assert some[0] - some[1] == pytest.approx(some[1] - some[2]) == pytest.approx((some[0] - some[3]) / 4)
    assert str(Strategy.of(recompute="mlp", recompute_layers=3)) == "one GPU, mlp recomputation of 3 layers"


def test_words_and_modules():
    assert Strategy.of(recompute=("mlp", "layernorm")).recompute == "layernorm+mlp"
    assert Strategy.of(recompute=()).recompute == "none"
    assert Strategy.of(recompute=("mlp", "layernorm")) == Strategy.of(recompute="mlp+layernorm")
    assert recomputed_modules(RECOMPUTED.index("full")) == ("full",)
    assert recomputed_modules(RECOMPUTED.index("layernorm+mlp")) == ("layernorm", "mlp")
    with pytest.raises(StrategyError, match="mla_up_proj"):
        Strategy.of(recompute=("mlp", "attention"))
    with pytest.raises(StrategyError, match="core_attn"):
        Strategy.of(recompute="everything")


def test_columns_of_words_are_those_plans():
    words = ["none", "selective", "full", BY_OP, "layernorm+mlp", "mla_up_proj"]
    many = footprint(LLAMA, Strategy.of(dp=8, zero=3, recompute=np.array(words)), T=4096, m=1, framework=TITAN)
    for i, word in enumerate(words):
        one = held(T=4096, dp=8, zero=3, recompute=word, framework=TITAN)
        assert many.total[i] == pytest.approx(one.total, rel=1e-12)


# Frameworks


def test_a_loss_of_pytorch():
    """32768 tokens of Llama 3 on 8 GPUs, everything recomputed: 14 bytes of 128256 logits a token are 58.8 GB."""
    found = held(T=32768, dp=8, zero=3, recompute="full", framework=TITAN)
    assert found.logits == 32768 * (14 * 128256 + 4 * 4096)
    assert found.activations == 32 * 32768 * 4096 * 2
    assert found.buffers == 2 * 128256 * 4096  # those into which a table was gathered; a layer's come later
    tables = 2 * 128256 * 4096 + 4096
    assert found.weights == pytest.approx(4 * 8030261248 / 8 + 2 * tables)
    passing = found.activations + found.logits + found.buffers
    assert found.overhead == pytest.approx(TITAN.fragmentation * passing + TITAN.reserve)
    assert (found.total - TITAN.reserve) / GiB == pytest.approx(83.9, rel=0.03)  # torchtitan's table of long contexts


def test_without_a_framework_nothing_is_added():
    found = held(dp=8, zero=3, recompute="full")
    assert found.overhead == 0
    assert "overhead" not in repr(found)
    assert found.logits == 8192 * 4 * (128256 + 4096)
    assert found.total == found.states + found.activations + found.logits + found.buffers


def test_fsdp_with_a_pipeline_keeps_weights_and_gradients_whole():
    sharded = held("llama3-70b", dp=8, pp=4, tp=8, zero=3, m=8, stage=1, framework=TITAN)
    single = held("llama3-70b", dp=8, pp=1, tp=8, zero=3, m=8, framework=TITAN)
    layers = 20 * (parameter_count("llama3-70b") - 2 * 128256 * 8192 - 8192) / 80 / 8
    assert sharded.weights == pytest.approx((4 / 8 + 2) * layers, rel=1e-3)
    assert sharded.gradients == pytest.approx((4 + 4 / 8) * layers, rel=1e-3)  # and the share, from another pool
    assert single.gradients == pytest.approx(4 * parameter_count("llama3-70b") / 64, rel=1e-3)
    chunks = held("llama3-70b", dp=8, pp=4, tp=8, zero=3, m=8, v=2, stage=1, framework=TITAN)
    assert chunks.gradients == pytest.approx((4 / 2 + 4 / 8) * layers, rel=1e-3)


def test_gradients_that_come_when_activations_go():
    late = frameworks["torchtune"]
    for T in (512, 65536):
        whole = held(T=T, framework=late.replace(late_gradients=False))
        found = held(T=T, framework=late)
        assert found.total < whole.total
        assert found.total >= max(whole.total - whole.gradients, whole.states)
    twice = held(m=2, framework=late)
    assert twice.gradients == 2 * parameter_count("llama3-8b")  # the first microbatch's are there in the second


def test_what_is_unfused_keeps_more():
    eager = held(framework=frameworks["torchtune"].replace(eager=True)).activations
    fused = held(framework=frameworks["torchtune"]).activations
    assert eager - fused == 32 * 8192 * (8 * 4096 + 2 * 14336)


def test_reserve_and_waste_are_added():
    by = frameworks["megatron-core"]
    least = held(dp=8, zero=1, framework=by.replace(reserve=0.0))
    assert held(dp=8, zero=1, framework=by.replace(reserve=2 * GB)).total == least.total + 2 * GB
    more = held(dp=8, zero=1, framework=by.replace(reserve=0.0, fragmentation=0.1))
    assert more.total == pytest.approx(least.total + 0.1 * (least.total - least.states))


@pytest.mark.parametrize("key", list(frameworks))
def test_a_framework_says_where_it_comes_from(key, sources):
    one = frameworks[key]
    assert one.source in sources
    assert set(one.fitted) <= {"reserve", "fragmentation"}
    assert bool(one.fitted) == bool(one.rows) == bool(one.error)
    assert one.name in repr(one)
    found = held(dp=8, zero=3, framework=key)
    assert isinstance(found, Footprint)
    parts = found.states + found.activations + found.logits + found.buffers + found.overhead
    assert found.total == pytest.approx(parts)
    plain = held(dp=8, zero=3, states=one.states and tuple(one.states), framework=one)
    assert plain.total == pytest.approx(found.total)


def test_every_stack_has_a_framework():
    assert framework_of("torchtitan-h100").key == "torchtitan"
    assert framework_of("torchtitan-2024-h100").key == "torchtitan-2024"
    assert framework_of(stacks["megatron-deepspeed-a100"]).key == "megatron-deepspeed"
    assert framework_of(stacks["megatron-core-gb200"]).key == "megatron-core"
    own = stacks["llm-foundry-h100"].replace(key="mine", like="llm-foundry-h100")
    assert framework_of(own).key == "llm-foundry"
    assert framework_of("mine").key == "megatron-core"


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("reserve = -1.0", "reserve"),
        ("logits = 4", "logits"),
        ('fitted = ["reserve"]', "fitted"),
        ('like = "nobody"', "nobody"),
        ("fragmentation = 1.5", "fragmentation"),
        ("eager = 1", "eager"),
    ],
)
def test_a_bad_row_is_named(row, reason):
    with pytest.raises(SpecError, match=reason):
        list(read_frameworks("f.toml", f'[one.memory]\nname = "one"\nsource = "s"\n{row}\n'))


# Adapters, offload, states


def test_only_what_is_trained_has_states():
    full, lora = held(recompute="full"), held(recompute="full", trainable=1e6)
    P = parameter_count("llama3-8b")
    assert lora.weights == pytest.approx(2 * P + 2 * 1e6)
    assert (lora.gradients, lora.optimizer) == pytest.approx((4e6, 12e6))
    assert lora.activations == full.activations
    tables = 2 * 128256 * 4096 + 4096
    four = held(trainable=0, frozen=0.5)
    assert four.weights == pytest.approx(0.5 * (P - tables) + 2 * tables)
    inputs = 2 * 4096 + 2 * 14336  # of gate and up, and of down
    assert held().activations - held(trainable=0).activations == 32 * 8192 * inputs
    assert four.activations == held().activations  # for products in few bits keep what they take in


def test_what_the_host_keeps():
    whole, away = held(recompute="full"), held(recompute="full", offload=("activations", "optimizer"))
    assert away.optimizer == 0
    assert away.activations == whole.activations / 16  # two layers' of 32
    assert away.weights == whole.weights
    for wrong in ("activations", ("weights",)):
        with pytest.raises(ValueError, match="activations, optimizer"):
            held(offload=wrong)


def test_states_of_other_optimizers():
    assert [x.total for x in (ADAM_8BIT, FP8_MOMENTS_ADAM, MUON)] == [6, 12, 14]
    with pytest.raises(ValueError, match="trainable"):
        held(trainable=-1)
    with pytest.raises(KeyError, match="framework"):
        held(framework="torch")


@pytest.mark.parametrize(("dp", "zero", "share"), [(1, 0, 1), (1, 3, 1), (8, 0, 1), (8, 1, 1 / 8)])
def test_an_update_of_shared_states_copies_a_share(dp, zero, share):
    """Two moments of 4 bytes a parameter, and of the few tokens next to nothing beside them."""
    by = frameworks["internevo"].replace(fragmentation=0.0)
    counted, without = (
        float(held("llama3-8b", T=16, m=4, dp=dp, zero=zero, framework=by.replace(moments=moments)).total)
        for moments in (2.0, 0.0)
    )
    assert counted - without == pytest.approx(8 * share * parameter_count(LLAMA), rel=0.02)


def test_a_layer_holds_gradients_of_activations_on_its_way_back():
    """By hand, of a long sequence whose loss takes nothing: 4 bytes of the width and 2 of the MLP's, times tokens."""
    by = frameworks["pytorch"].replace(eager=False, layer_hole=0.0, fragmentation=0.0, logit_hole=0.0)
    model, T = models["llama3-8b"], 262144
    plan = {"T": T, "strategy": Strategy(recompute="full"), "loss": "fused", "m": 2, "offload": ("activations",)}
    without = footprint(model, **plan, framework=by.replace(layer_gradients=False))
    counted = footprint(model, **plan, framework=by)
    assert float(counted.total - without.total) == pytest.approx(T * (4 * model.width + 2 * model.ffn), rel=1e-6)
    apart = footprint(model, **plan, framework=by.replace(eager=True))
    eager = footprint(model, **plan, framework=by.replace(eager=True, layer_gradients=False))
    assert float(apart.total - eager.total) == pytest.approx(T * (4 * model.width + 4 * model.ffn), rel=1e-6)


def test_scores_of_kernels_apart_are_in_32_bits_too():
    """Four bytes a score more than a fused softmax keeps; ten more of gradients in the backward pass of a layer."""
    by, model, T = frameworks["pytorch"], models["llama2-7b"], 2048
    scores = T * T * model.heads
    plan = {"T": T, "m": 1, "fused": False}
    kept = [
        float(footprint(model, **plan, framework=by.replace(eager=eager)).activations)
        - float(footprint(model, **plan | {"fused": True}, framework=by.replace(eager=eager)).activations)
        for eager in (False, True)
    ]
    assert kept[1] - kept[0] == pytest.approx(model.layers * 4 * scores)
    long = {"T": 16384, "m": 2, "fused": False, "strategy": Strategy(recompute="full"), "loss": "fused"}
    without = footprint(model, **long, framework=by.replace(layer_gradients=False, fragmentation=0.0))
    counted = footprint(model, **long, framework=by.replace(fragmentation=0.0))
    gradients = 16384 * (10 * 16384 * model.heads + 4 * model.width)
    assert float(counted.total - without.total) == pytest.approx(gradients, rel=1e-6)


@pytest.mark.parametrize(("recompute", "blocks"), [("none", 0), ("selective", 0), ("full", 1)])
def test_the_first_pass_of_recomputed_layers_leaves_a_hole(recompute, blocks):
    """Where layers are kept their blocks are in use, and where logits outweigh what is recomputed no layer fills it."""
    model, T = models["llama3-8b"], 8192
    plan = {"T": T, "m": 2, "strategy": Strategy(recompute=recompute)}
    without = footprint(model, **plan, framework=frameworks["pytorch"].replace(layer_hole=0.0))
    counted = footprint(model, **plan, framework="pytorch")
    hole = blocks * T * (4 * model.width + 6 * model.ffn)
    assert float(counted.total - without.total) == pytest.approx(hole, rel=1e-6, abs=1)
    no_loss = {**plan, "loss": "fused", "T": 262144}
    spared = footprint(model, **no_loss, framework=frameworks["pytorch"].replace(layer_hole=0.0))
    assert float(footprint(model, **no_loss, framework="pytorch").total) == pytest.approx(float(spared.total), rel=0.03)
