"""A step kernel by kernel: products, attention, what moves and launches, each against numbers by hand."""

import math

import numpy as np
import pytest

from hwlib.calibrated import prefill_attention_time
from hwlib.calibrated.gemm import gemm_model, product_model
from hwlib.footprint import BFLOAT16_ADAM, Adapters, Trained
from hwlib.footprint.state_bytes import FULL_ADAM
from hwlib.footprint.trained import layer_matrices
from hwlib.specs import (
    Accelerator,
    Model,
    Stack,
    accelerators,
    models,
    release_of,
    stack_for,
    stack_named,
    stack_on,
    stacks,
)
from hwlib.steptime import step_time
from hwlib.steptime.kernel_moves import adapter_launches, layer_moves
from hwlib.strategy import Strategy

LLAMA = models["llama3-8b"]
H200 = accelerators["h200-sxm"]
W = H200.hbm_bandwidth
PRODUCTS = gemm_model("h200-sxm", "bf16")
BARE = Stack.ideal("h200-sxm").replace(one_gpu=True, kernels="eager")  # memory takes no time, nor do launches
T = 4096
BF16 = Trained(BFLOAT16_ADAM)


def step(stack=BARE, model=LLAMA, trained=BF16, sequences=1, dtype="bf16", fused=True, **degrees):
    plan = Strategy(dp=1, **degrees)
    return step_time(model, stack, "dgx-h200", plan, B=sequences * T, T=T, trained=trained, dtype=dtype, fused=fused)


def sides(model=LLAMA):
    return [shape for shapes in layer_matrices(model, False).values() for shape in shapes]


def products(model=LLAMA, tokens=T, frozen=False):
    """Seconds forward and backward, layers and output layer."""
    every = [side for side in sides(model) for _ in range(model.layers)] + [(model.width, model.vocab)]
    forward = sum(PRODUCTS.time(tokens, out, into) for into, out in every)
    inputs = sum(PRODUCTS.time(tokens, into, out) for into, out in every)
    weights = 0 if frozen else sum(PRODUCTS.time(into, out, tokens) for into, out in every)
    return forward, inputs + weights


def attention(batch=1):
    sizes = {"heads": 32, "kv_heads": 8, "head_dim": 128, "batch": batch, "seq": T}
    return LLAMA.layers * float(prefill_attention_time("h200-sxm", "bf16", software="vllm", **sizes))


def test_a_step_is_its_products_and_attention():
    assert step().compute == pytest.approx(sum(products()) + 3.5 * attention())
    both = BARE.replace(eta_P=0.9, eta_F=0.8)
    assert step(both).compute == pytest.approx(sum(products()) / 0.9 + 3.5 * attention() / 0.8)
    assert step(sequences=2, micro=2).compute == pytest.approx(sum(products(tokens=2 * T)) + 3.5 * attention(2))


def test_recomputation_does_the_forward_pass_of_layers_again():
    layers = products()[0] - PRODUCTS.time(T, LLAMA.vocab, LLAMA.width)
    assert step(recompute="full").recomputed == pytest.approx(layers + attention())
    assert step(recompute="selective").recomputed == 0  # a fused attention keeps no scores
    assert 0 < step(recompute="op").recomputed < step(recompute="full").recomputed / 2
    some = step(recompute="full", recompute_layers=8).recomputed
    assert some == pytest.approx(8 / 32 * step(recompute="full").recomputed)


def test_frozen_matrices_have_no_gradients():
    adapters = Trained(BFLOAT16_ADAM, adapters=Adapters(16))
    stack = BARE.replace(eta_W=1.0)
    frozen = step(stack, trained=adapters).compute
    assert sum(products(frozen=True)) + 3.5 * attention() < frozen < step(stack).compute
    narrow = step(stack, trained=Trained(BFLOAT16_ADAM, adapters=Adapters(16, base="nf4"))).compute
    again = 2 * (2 + 4.127 / 8) / W  # forward and backward each matrix is made in 16 bits out of 4
    layers = LLAMA.layers * sum(into * out for into, out in sides())
    assert narrow - frozen == pytest.approx(again * layers, rel=0.01)


def test_a_base_that_kernels_apart_unpack_moves_more():
    stack = BARE.replace(eta_W=1.0, b_unpack=16.0)
    layers = LLAMA.layers * sum(into * out for into, out in sides())

    def compute(base):
        return step(stack, trained=Trained(BFLOAT16_ADAM, adapters=Adapters(16, base=base))).compute

    bits = (4 + 20 / 128 - 4.127) / 8
    assert compute("int4") - compute("nf4") == pytest.approx(2 * (16 + bits) * layers / W, rel=0.01)
    alone = adapter_launches(Adapters(16, ("q", "v")), LLAMA, False)
    assert alone == (2 * 6, 2 * 9)
    fused = adapter_launches(Adapters(16, ("q", "v"), "nf4"), LLAMA, False)
    assert fused == (alone[0] + 7, alone[1] + 7)
    apart = adapter_launches(Adapters(16, ("q", "v"), "int4"), LLAMA, False)
    assert apart == (alone[0] + 42, alone[1] + 42)


def test_adapters_in_32_bits_cast_what_they_read():
    stack = BARE.replace(eta_W=1.0)
    wide, narrow = (
        step(stack, trained=Trained(states, adapters=Adapters(8))).compute for states in (FULL_ADAM, BFLOAT16_ADAM)
    )
    into = LLAMA.layers * sum(rows for rows, _ in sides())
    assert wide - narrow == pytest.approx(2 * 6 * 2 * T * into / W)  # forward and backward, in elements of 2 bytes
    compiled = stack.replace(kernels="compiled")
    assert step(compiled, trained=Trained(FULL_ADAM, adapters=Adapters(8))).compute == pytest.approx(
        step(compiled, trained=Trained(BFLOAT16_ADAM, adapters=Adapters(8))).compute
    )


def test_what_moves_takes_its_bytes_and_kernels():
    stack = BARE.replace(eta_W=0.5, t_kernel=1e-6)
    moves = layer_moves(LLAMA, False, "eager", wide=False, frozen=False)
    layers = LLAMA.layers * (T * (moves.forward + moves.backward) / (0.5 * W))
    kernels = LLAMA.layers * (moves.launches + moves.launches_back) * 1e-6
    logits = LLAMA.vocab * (T * 52 + LLAMA.width * 2) / (0.5 * W)
    assert step(stack).compute - step().compute == pytest.approx(layers + kernels + logits)


def test_moves_of_a_layer_by_hand():
    small = Model.small(layers=1, width=64, heads=4, ffn=256)  # with a rotary embedding and a gate
    eager = layer_moves(small, False, "eager", wide=False, frozen=False)
    assert eager.forward == 64 * (2 * 4 + 2 * 6) + 2 * (10 * 128 + 5 * 256)
    assert eager.backward == 64 * (2 * 6 + 2 * 6 + 3 * 6) + 2 * (10 * 128 + 9 * 256)
    assert eager.launches == 1 + 7 + 4 + 10 + 2
    compiled = layer_moves(small, False, "compiled", wide=False, frozen=False)
    assert compiled.forward < eager.forward / 2
    assert compiled.launches < eager.launches
    wide = layer_moves(small, False, "eager", wide=True, frozen=False)
    assert wide.forward == 64 * (2 * 8 + 2 * 10 + 5 * 6) + 2 * (10 * 128 + 5 * 256)
    assert wide.launches == eager.launches + 5 + 7
    frozen = layer_moves(small, False, "eager", wide=False, frozen=True)
    assert frozen.launches_back == eager.launches_back - 7
    biased = small.replace(biases="all")
    sums = layer_moves(biased, False, "eager", wide=False, frozen=False).backward - eager.backward
    assert sums == 2 * (3 * 64 + 256 + 2 * 64)
    assert layer_moves(biased, False, "eager", wide=False, frozen=True).backward == frozen.backward


def test_a_pass_takes_no_less_than_its_launches():
    small = LLAMA.replace(width=512, ffn=512, heads=4, kv_heads=4, head_dim=128)
    moves = layer_moves(small, False, "eager", wide=False, frozen=False)
    waits = step(BARE.replace(t_launch=1e-3), small).compute - step(BARE.replace(t_launch=1e-12), small).compute
    launched = small.layers * 1e-3 * (moves.launches + moves.launches_back)
    assert 0.98 * launched < waits < launched
    assert step(BARE.replace(t_launch=1e-9)).compute == step().compute


def test_the_host_waits_for_the_rows_of_experts():
    experts = models["qwen3-30b-a3b"].replace(layers=2)
    moves = layer_moves(experts, True, "eager", wide=False, frozen=False)
    waits = step(BARE.replace(t_launch=1e-9), experts).compute - step(model=experts).compute
    assert waits == pytest.approx(2 * 1e-9 * moves.launches)
    uneven = step_time(experts, BARE, "dgx-h200", Strategy(dp=1), B=T, T=T, trained=BF16, expert_imbalance=2.0)
    assert uneven.compute > step(model=experts).compute


def test_gradients_of_later_microbatches_are_added_up():
    stack = BARE.replace(eta_W=1.0)
    two, once = step(stack, sequences=2).compute, step(stack).compute
    layers = LLAMA.layers * sum(into * out for into, out in sides())
    tables = 2 * LLAMA.width * LLAMA.vocab
    assert two - 2 * once == pytest.approx(3 * 2 * (layers + tables) / W, rel=0.001)


def test_scores_go_through_memory_where_attention_is_not_fused():
    scores = LLAMA.layers * LLAMA.heads * T * T / W
    for kernels, ahead, back in (("eager", 32, 38), ("compiled", 8, 12)):
        stack = BARE.replace(kernels=kernels, eta_W=1.0)
        apart, bare = step(stack, fused=False), step(stack.replace(eta_W=math.inf), fused=False)
        moved = step(stack).compute - step(stack.replace(eta_W=math.inf)).compute
        assert apart.compute - bare.compute == pytest.approx(moved + (ahead + back) * scores)
        again = step(stack, fused=False, recompute="selective").recomputed
        products = step(stack.replace(eta_W=math.inf), fused=False, recompute="selective").recomputed
        assert again - products == pytest.approx(ahead * scores)


def test_a_window_shortens_attention():
    windowed = LLAMA.replace(window=512, window_layers=16)
    everywhere = LLAMA.replace(window=512, window_layers=32)
    assert step(model=everywhere).compute < step(model=windowed).compute < step().compute


def test_columns_are_timed_as_numbers_are():
    micro = np.array([1, 2, 4])
    column = step(stacks["pytorch-h200"], sequences=4, micro=micro, recompute="full")
    for i, size in enumerate(micro.tolist()):
        alone = step(stacks["pytorch-h200"], sequences=4, micro=size, recompute="full")
        assert column.total[i] == pytest.approx(alone.total)
    assert PRODUCTS.times(np.array([64, 4096]), 4096, 4096)[1] == PRODUCTS.times(4096, 4096, 4096)


def test_a_chip_without_measured_products_has_the_shares_of_the_usual_one():
    assert product_model(H200, "bf16") == product_model(H200, "fp16") == PRODUCTS
    assert product_model(H200, "fp8") == gemm_model("h200-sxm", "fp8")
    usual = gemm_model("h100-sxm", "bf16")
    for key in ("rtx-pro-6000", "l40s", "a40"):
        of = product_model(accelerators[key], "bf16")
        assert of.typed
        assert (accelerators[key].bf16_flops, accelerators[key].hbm_bandwidth) == (of.C, of.W)
        assert of.constants.eta_C == usual.constants.eta_C
        assert pytest.approx(usual.constants.W_L2 * min(of.C / usual.C, 1)) == of.constants.W_L2
    with pytest.raises(ValueError, match="bf16"):
        product_model(accelerators["v100-sxm2"], "bf16")


def test_a_stack_of_kernels_is_of_any_chip():
    for key in ("h100-sxm", "a100-80gb-sxm", "b200-sxm", "l40s"):
        there = stack_on(stacks["pytorch-h200"], accelerators[key])
        assert (there.chip, there.row, there.constants) == (key, "pytorch", stacks["pytorch-h200"].constants)
        assert not there.fitted
        assert there.error >= 0.09
        assert there.origin("eta_P") == "pytorch-h200"
        assert accelerators[key].name in there.caveat
        step = step_time("llama3-8b", there, "dgx-h100", Strategy(dp=1), B=T, T=T, trained=BF16)
        chip = accelerators[key]
        assert 0.2 < step.mfu("llama3-8b", T, T, 1, chip.bf16_flops) < 0.8
    assert stack_on(stacks["pytorch-h200"], H200) is stacks["pytorch-h200"]


def test_a_stack_of_kernels_is_named_by_its_software_or_on_a_chip():
    h100 = accelerators["h100-sxm"]
    for name in ("pytorch", "pytorch-h100", "pytorch-h200"):
        assert stack_on(stack_named(name, h100), h100).key == "pytorch-h100"
    assert stack_named("pytorch-compiled", h100).key == "pytorch-compiled-h200"
    assert stack_named("megatron-core-h100", h100).key == "megatron-core-h100"
    for name in ("pytorch-b200", "megatron-core", "torch"):
        with pytest.raises(KeyError):
            stack_named(name, h100)


def test_the_usual_stack_of_one_gpu_is_timed_kernel_by_kernel():
    assert stack_for("h200-sxm", gpus=1).key == "pytorch-h200"
    assert stack_for("b200-sxm", gpus=1).key == "pytorch-b200"
    card = Accelerator(**{**vars(accelerators["l40s"]), "key": "own-card", "vendor": "own", "sms": None})
    there = stack_for(card, gpus=1)
    assert there.kernels == "eager"
    assert there.accelerator is card
    for gpus in (None, 2, 8):
        assert not stack_for("h200-sxm", gpus=gpus).kernels
    for key in ("mi300x", "tpu-v6e"):
        assert not stack_for(key, gpus=1).kernels
    assert not stack_for("h200-sxm", gpus=1, dtype="fp8").kernels
    assert not stack_for("h200-sxm", gpus=1, release=release_of("26.02")).kernels
    assert stack_for("h200-sxm", gpus=1, release=release_of("26.03")).kernels


def test_autocast_is_of_all_that_is_trained_in_32_bits():
    wide = layer_moves(LLAMA, False, "eager", wide=True, frozen=False)
    narrow = layer_moves(LLAMA, False, "eager", wide=False, frozen=False)
    stack = BARE.replace(eta_W=1.0)
    more = step(stack, trained=Trained(FULL_ADAM)).compute - step(stack).compute
    moved = LLAMA.layers * T * (wide.forward + wide.backward - narrow.forward - narrow.backward) / W
    casts = 12 * 8.03e9 / W  # weights forward, gradients backward
    assert more == pytest.approx(moved + casts + 2 * LLAMA.vocab * LLAMA.width / W, rel=0.01)
