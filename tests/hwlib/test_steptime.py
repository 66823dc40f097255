"""Step times: what remains of them on an ideal machine, against operations, transfers and played schedules."""

import random
from dataclasses import fields

import numpy as np
import pytest

from hwlib import pipeline
from hwlib.calibrated import ring_step
from hwlib.parallel import axis_times, transfers
from hwlib.pipeline import play
from hwlib.specs import Level, Model, Stack, accelerators, clusters, models, nodes, stacks
from hwlib.steptime import StepTime, levels_of, step_time
from hwlib.strategy import StrategyError
from hwlib.topology import node
from hwlib.transformer import attention_step_flops, matmul_parameters, parameter_groups, step_flops

H100 = accelerators["h100-sxm"]
C = H100.bf16_flops
IDEAL = Stack.ideal("h100-sxm")
LEVELS = clusters["superpod-h100-4su"].levels
SLOW = tuple(Level(name, size, bandwidth / 100) for name, size, bandwidth in LEVELS)
LLAMA = models["llama3-70b"]
EVEN = Model.small(layers=32, width=4096, heads=32, vocab=1, context=4096)  # the output layer is next to nothing
MOE = Model.small(layers=8, width=1024, heads=16, experts=16, experts_per_token=4, expert_ffn=512, vocab=4096)
T = 4096


def ideal(model, levels=LEVELS, **plan):
    return step_time(model, IDEAL, levels, T=T, **plan)


# An ideal machine: operations over peak, transfers at full bandwidth, bubbles as played


def test_one_rank_takes_its_operations_at_peak():
    found = ideal(LLAMA, B=16 * T, dp=1)
    assert found.total == pytest.approx(step_flops(LLAMA, 16 * T, T) / C, rel=1e-9)
    assert found.mfu(LLAMA, 16 * T, T, 1, C) == pytest.approx(1, rel=1e-9)
    assert found.compute == found.total
    assert found.hfu(step_flops(LLAMA, 16 * T, T), 1, C) == pytest.approx(1, rel=1e-9)


@pytest.mark.parametrize("model", [LLAMA, MOE, models["deepseek-v3"], models["gpt-oss-20b"]], ids=lambda m: m.key)
def test_operations_are_those_of_the_model(model):
    found = ideal(model, B=64 * T, dp=4, micro=2)
    assert found.compute == pytest.approx(step_flops(model, 16 * T, T) / C, rel=1e-9)


def test_without_a_fused_kernel_nothing_of_the_mask_is_skipped():
    found = ideal(LLAMA, B=16 * T, dp=1, fused=False)
    assert found.total == pytest.approx(step_flops(LLAMA, 16 * T, T, causal=False) / C, rel=1e-9)


def test_recomputation_pays_the_forward_pass_of_the_layers_again():
    found = ideal(LLAMA, B=16 * T, dp=1, recompute="full")
    layers = step_flops(LLAMA, 16 * T, T) - 6 * LLAMA.width * LLAMA.vocab * 16 * T
    assert found.recomputed == pytest.approx(layers / 3 / C, rel=1e-9)
    scores = ideal(LLAMA, B=16 * T, dp=1, recompute="selective", fused=False)
    assert scores.recomputed == pytest.approx(attention_step_flops(LLAMA, 16 * T, T, causal=False) / C, rel=1e-9)
    assert ideal(LLAMA, B=16 * T, dp=1, recompute="selective").recomputed == 0


@pytest.mark.parametrize("sp", [False, True])
@pytest.mark.parametrize("tp", [2, 8, 16])
def test_tensor_parallel_transfers_are_waited_for(tp, sp):
    plan = {"B": 16 * T, "dp": 2, "tp": tp, "sp": sp}
    expected = axis_times(transfers(LLAMA, m=8, **plan), LEVELS)["tp"]
    found = ideal(LLAMA, **plan)
    assert found.tp == pytest.approx(expected, rel=1e-9)
    assert found.compute == pytest.approx(step_flops(LLAMA, 16 * T, T) / (2 * tp * C), rel=1e-9)
    again = ideal(LLAMA, **plan, recompute="full").tp
    assert again == pytest.approx(expected * (14 / 10 if sp else 6 / 4), rel=1e-9)


@pytest.mark.parametrize("dedup", [False, True])
def test_expert_transfers_are_waited_for(dedup):
    plan = {"B": 64 * T, "dp": 16, "ep": 16}
    found = ideal(MOE, **plan, dedup_dispatch=dedup)
    assert found.ep == pytest.approx(
        axis_times(transfers(MOE, m=4, dedup_dispatch=dedup, **plan), LEVELS)["ep"], rel=1e-9
    )
    assert ideal(MOE, **plan, dedup_dispatch=dedup, expert_imbalance=2).ep == pytest.approx(2 * found.ep, rel=1e-9)
    assert ideal(MOE, **plan, expert_imbalance=2).compute > found.compute
    assert ideal(MOE, **plan, dedup_dispatch=dedup, recompute="full").ep == pytest.approx(1.5 * found.ep, rel=1e-9)


def test_keys_and_values_move_beside_attention():
    plan = {"B": 16 * T, "dp": 2, "cp": 4}
    sent = axis_times(transfers(LLAMA, m=8, **plan), SLOW)["cp"]
    attention = 3 * attention_step_flops(LLAMA, 8 * T, T) / (4 * C)
    assert sent > attention
    assert ideal(LLAMA, SLOW, **plan).cp == pytest.approx(sent - attention, rel=1e-9)
    assert ideal(LLAMA, **plan).cp == 0


@pytest.mark.parametrize("zero", [0, 1, 2, 3])
def test_data_parallel_transfers_run_beside_the_passes(zero):
    """ZeRO-3 gathers for every microbatch, twice, and sums for every one; ZeRO-1 once a step."""
    plan = {"B": 128 * T, "dp": 32, "zero": zero}
    found = {x.collective: x.time(SLOW) for x in transfers(EVEN, m=4, **plan)}
    gather = found.get("all_gather", 0) / (8 if zero == 3 else 1)
    total = found.get("reduce_scatter", 0) / (4 if zero >= 2 else 1) + found.get("all_reduce", 0)
    forward = step_flops(EVEN, T, T) / 3 / C
    ahead = max(gather - forward, gather / 32)
    behind = max(total + (gather if zero == 3 else 0) - 2 * forward, total / 32)
    expected = (4 if zero == 3 else 1) * ahead + (4 if zero >= 2 else 1) * behind
    assert ideal(EVEN, SLOW, **plan).dp == pytest.approx(expected, rel=1e-5)
    lone = IDEAL.replace(hide_dp=0.0)
    assert step_time(EVEN, lone, SLOW, T=T, **plan).dp == pytest.approx(sum(found.values()), rel=1e-6)


def test_the_ends_of_a_sharded_model():
    """Nothing to run beside: the first gather and the last sum, of embedding and first layer. The output layer stays
    gathered for the backward pass, and the loss hides one layer's gather.
    """
    model = models["llama3-8b"]
    groups = parameter_groups(model)
    layer = (groups.total - groups.embedding - groups.head) / 32
    plan = {"B": 64 * T, "dp": 64, "zero": 3}
    found = {x.collective: x.time(LEVELS) for x in transfers(model, m=1, **plan)}
    first = (groups.embedding + layer) / groups.total
    expected = first * (found["all_gather"] / 2 + found["reduce_scatter"])
    assert ideal(model, **plan).dp == pytest.approx(expected, rel=1e-9)
    slow = {x.collective: x.time(SLOW) for x in transfers(model, m=1, **plan)}
    gather, loss = slow["all_gather"] / 2, 6 * model.width * model.vocab * T / C
    again = (1 - groups.head / groups.total) * gather - min(gather * layer / groups.total, loss)
    passes = step_flops(model, T, T) / C - loss
    assert ideal(model, SLOW, **plan).dp == pytest.approx(gather + slow["reduce_scatter"] + again - passes, rel=1e-9)


def test_hybrid_sharding_sums_over_copies_once_a_step():
    plan = {"B": 128 * T, "dp": 32, "zero": 3, "shards": 8}
    lone = IDEAL.replace(hide_dp=0.0)
    expected = axis_times(transfers(EVEN, m=4, **plan), LEVELS)["dp"]
    assert step_time(EVEN, lone, LEVELS, T=T, **plan).dp == pytest.approx(expected, rel=1e-6)
    assert step_time(EVEN, lone, LEVELS, T=T, **plan | {"shards": 32}).dp == pytest.approx(
        step_time(EVEN, lone, LEVELS, T=T, **plan | {"shards": None}).dp
    )


def stage(model, pp):
    """Forward and backward time of a microbatch in a middle stage, and of both in the output layer."""
    loss = 6 * model.width * model.vocab * T / C
    layers = step_flops(model, T, T) / C - loss
    return layers / 3 / pp, 2 * layers / 3 / pp, loss


@pytest.mark.parametrize(("pp", "m"), [(2, 2), (4, 8), (8, 8), (8, 32)])
@pytest.mark.parametrize("model", [EVEN, LLAMA], ids=["even", "logits"])
def test_one_f_one_b_takes_what_a_played_schedule_takes(model, pp, m):
    """With a last stage that has the output layer too."""
    t_F, t_B, t_loss = stage(model, pp)
    forward = [t_F] * (pp - 1) + [t_F + t_loss / 3]
    backward = [t_B] * (pp - 1) + [t_B + 2 * t_loss / 3]
    far = tuple(Level(name, size, 1e30) for name, size, _ in LEVELS)
    expected = play(pipeline.one_f_one_b(pp, m), forward, backward).time
    assert ideal(model, far, B=m * T, dp=1, pp=pp).total == pytest.approx(expected, rel=1e-9)
    if model is EVEN:
        assert ideal(model, far, B=m * T, dp=1, pp=pp, schedule="gpipe").total == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("pp", "m", "v"), [(2, 4, 2), (4, 8, 2), (4, 16, 4), (8, 32, 2)])
def test_interleaved_takes_what_a_played_schedule_takes(pp, m, v):
    t_F, t_B, _ = stage(EVEN, pp)
    found = ideal(EVEN, B=m * T, dp=1, pp=pp, v=v)
    message = transfers(EVEN, B=m * T, dp=1, pp=pp, v=v, m=m)[0]
    t_comm = message.time(LEVELS) / message.calls
    expected = play(pipeline.interleaved(pp, m, v), t_F, t_B, t_comm=t_comm).time
    assert found.total == pytest.approx(expected, rel=1e-5)
    blocking = step_time(EVEN, IDEAL.replace(hide_pp=0.0), LEVELS, T=T, B=m * T, dp=1, pp=pp, v=v)
    assert blocking.pp == pytest.approx(message.time(LEVELS), rel=1e-9)


@pytest.mark.parametrize(("pp", "m"), [(2, 4), (4, 16), (8, 32)])
def test_messages_of_one_f_one_b_are_waited_for_as_played(pp, m):
    t_F, t_B, _ = stage(EVEN, pp)
    message = transfers(EVEN, B=m * T, dp=1, pp=pp, m=m)[0]
    expected = play(pipeline.one_f_one_b(pp, m), t_F, t_B, t_comm=message.time(LEVELS) / message.calls).time
    assert ideal(EVEN, B=m * T, dp=1, pp=pp).total == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("v", [1, 2])
@pytest.mark.parametrize("m", [8, 16, 64, 256])
def test_software_that_hides_no_message_waits_at_least_as_long(m, v):
    """Where microbatches are few, filling and draining the pipeline takes more messages than a stage sends."""
    plan = {"T": T, "B": m * T, "dp": 1, "pp": 8, "v": v}
    hides, waits = (step_time(EVEN, IDEAL.replace(hide_pp=x), LEVELS, **plan).pp for x in (1.0, 0.0))
    assert waits >= hides > 0


@pytest.mark.parametrize(
    ("name", "schedule"), [("zb_h1", pipeline.zb_h1), ("zbv", pipeline.zbv), ("dualpipe", pipeline.dualpipe)]
)
def test_schedules_without_bubbles_have_those_that_played_ones_have(name, schedule):
    """Attention's backward pass has no gradients of weights: a model whose sequences are short has next to none."""
    model = EVEN.replace(width=8192, ffn=32768, heads=64)
    plan = {"B": 32 * 64, "T": 64, "dp": 1, "pp": 8, "schedule": name}
    far = tuple(Level(name, size, 1e30) for name, size, _ in LEVELS)
    one = step_time(model, IDEAL, far, B=64, T=64, dp=1).compute / 8
    played = play(schedule(8, 32), one / 3, 2 * one / 3, one / 3)
    assert step_time(model, IDEAL, far, **plan).bubble == pytest.approx(played.time - 32 * one, rel=0.01)


# Arrays, and a machine that is not ideal

CHOICES = {
    "dp": (1, 2, 8), "tp": (1, 2, 4, 8), "pp": (1, 2, 4), "cp": (1, 2), "v": (1, 2), "zero": (0, 1, 2, 3),
    "sp": (False, True), "micro": (1, 2), "recompute": ("none", "selective", "full"), "expert_imbalance": (1.0, 1.5),
    "schedule": ("gpipe", "1f1b", "zb_h1", "zbv", "dualpipe"),
}  # fmt: skip


def some_plans(count, seed=7):
    rng = random.Random(seed)
    return [{name: rng.choice(values) for name, values in CHOICES.items()} for _ in range(count)]


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize(("model", "ep"), [(LLAMA, 1), (MOE, 1), (MOE, 2)], ids=["dense", "moe", "ep"])
def test_an_array_of_plans_is_each_of_them(model, ep, fused):
    plans = some_plans(40)
    if ep > 1:
        plans = [plan | {"dp": 2 * plan["dp"]} for plan in plans]
    columns = {name: np.array([plan[name] for plan in plans]) for name in CHOICES}
    stack, same = stacks["megatron-core-h100"], {"B": 256 * T, "T": T, "ep": ep, "fused": fused}
    many = step_time(model, stack, LEVELS, **same, **columns)
    for i, plan in enumerate(plans):
        one = step_time(model, stack, LEVELS, **same, **plan)
        for f in fields(StepTime):
            assert getattr(many, f.name)[i] == pytest.approx(getattr(one, f.name), rel=1e-9, abs=1e-15), (f.name, plan)
    assert repr(many) == "<StepTime of 40 plans>"


def test_arrays_keep_their_shape_where_all_plans_are_alike():
    found = step_time(LLAMA, IDEAL, LEVELS, B=64 * T, T=T, dp=np.full((2, 3), 4), tp=8)
    assert found.total.shape == found.ep.shape == (2, 3)
    assert np.ptp(found.total) == 0


def test_blocks_of_plans_join():
    tp = np.tile([1.0, 2, 4, 8], 10_000)
    found = step_time(LLAMA, "megatron-core-h100", LEVELS, B=64 * T, T=T, dp=4, tp=tp).total
    assert found.shape == tp.shape
    assert np.array_equal(found, np.tile(found[:4], 10_000))


@pytest.mark.parametrize("key", stacks)
def test_real_stacks_take_longer_than_ideal_ones_and_never_nan(key):
    stack = stacks[key]
    perfect, plans = Stack.ideal(stack.chip), some_plans(60, seed=3)
    columns = {name: np.array([plan[name] for plan in plans]) for name in CHOICES}
    real, least = (step_time(LLAMA, one, LEVELS, B=256 * T, T=T, **columns) for one in (stack, perfect))
    for f in fields(StepTime):
        assert np.all(np.isfinite(getattr(real, f.name)))
        assert np.all(getattr(real, f.name) >= 0)
    assert np.all(real.total > least.total)


@pytest.mark.parametrize(
    ("change", "slower"),
    [
        ({"recompute": "full"}, True),
        ({"tp": 16}, False),
        ({"fused": False}, True),
        ({"dtype": "fp8"}, False),
        ({"B": 512 * T}, True),
        ({"v": 2, "pp": 8}, False),
        ({"pp": 8}, False),
        ({"sp": False}, True),
    ],
    ids=str,
)
def test_what_makes_a_step_longer(change, slower):
    plan = {"B": 256 * T, "T": T, "dp": 4, "tp": 8, "pp": 4, "zero": 1}
    base = step_time(LLAMA, "megatron-core-h100", LEVELS, **plan).total
    changed = step_time(LLAMA, "megatron-core-h100", LEVELS, **plan | change).total
    assert (changed > base) is slower


def test_mixtral_as_nvidia_ran_it():
    """NVIDIA's mapping of Mixtral 8x7B on 64 H100, and the 468 TFLOP/s that its documentation of Megatron Core's
    mixtures gives (docs/references.bib: megatron-core-moe), operations counted as if attention had no mask.
    """
    mixtral, H100 = models["mixtral-8x7b"], stacks["megatron-core-h100"]
    plan = {"B": 256 * 4096, "T": 4096, "dp": 16, "pp": 4, "ep": 8, "v": 8, "zero": 1, "dedup_dispatch": True}
    step = step_time(mixtral, H100, "superpod-h100-1su", **plan)
    assert step_flops(mixtral, plan["B"], 4096, causal=False) / step.total / 64 == pytest.approx(468e12, rel=0.075)


def test_products_of_experts_are_slower_for_few_tokens_and_for_narrow_slices():
    """By hand, without traffic: half the rate at n_E tokens of an expert, and half of that at a width of w_E."""
    stack = IDEAL.replace(n_E=1024, w_E=1024)
    moe = Model.small(layers=1, width=64, heads=1, ffn=64, vocab=1, experts=8, experts_per_token=2, expert_ffn=1024)
    node, plan = (Level("node", 8, 300e9),), {"B": 4096, "T": 4096, "dp": 1}
    loss = step_time(moe, IDEAL, node, **plan).compute
    slow = step_time(moe, stack, node, **plan).compute
    experts = 3 * 2 * 4096 * 2 * 3 * 64 * 1024 / IDEAL.accelerator.flops("bf16")  # 1,024 tokens an expert
    assert slow - loss == pytest.approx(3 * experts)


def test_attention_is_slower_over_short_sequences_and_in_small_heads():
    """By hand: half the rate at T_A tokens; and with heads of 64 of 128/192 where d_A is 64 elements."""
    stack = IDEAL.replace(T_A=4096)
    small = Model.small(layers=1, width=1024, heads=8, vocab=1)
    node, plan = (Level("node", 8, 300e9),), {"B": 4096, "T": 4096, "dp": 1}
    whole = step_time(small, IDEAL, node, **plan).compute
    attention = 3 * attention_step_flops(small, 4096, 4096) / IDEAL.accelerator.flops("bf16")
    assert step_time(small, stack, node, **plan).compute - whole == pytest.approx(attention)
    heads = Model.small(layers=1, width=1024, heads=16, vocab=1)
    more = step_time(heads, IDEAL.replace(d_A=64), node, **plan).compute
    assert more - whole == pytest.approx(attention / 3)  # (64/128) / (128/192) = 3/4 of the rate


def test_gradients_are_summed_beside_a_share_of_the_product_that_gives_them():
    """By hand: 8 bytes a weight, beside a quarter of a product of 128 tokens, or nothing; the rest does not change."""
    wide = Model.small(layers=1, width=4096, heads=32, vocab=1)
    node, plan = (Level("node", 8, 300e9),), {"B": 128, "T": 128, "dp": 1}
    W, weights = 10 * H100.hbm_bandwidth, parameter_groups(wide)
    product = 2 * 128 * matmul_parameters(wide) / C
    added = 8 * (weights.total - weights.embedding - weights.head) / W
    assert product / 4 < added < product
    fast = IDEAL.replace(eta_W=10)
    hidden, quarter, alone = (step_time(wide, fast.replace(hide_sum=x), node, **plan).compute for x in (1, 0.25, 0))
    assert alone - hidden == pytest.approx(added, rel=0.01)
    assert quarter - hidden == pytest.approx(added - product / 4, rel=0.02)
    assert step_time(wide, fast.replace(hide_sum=0), node, frozen=True, **plan).compute < hidden


@pytest.mark.parametrize(
    ("tp", "pp", "micro", "heads", "seconds"),
    [
        (8, 6, 4, 96, (124.8, 162.7)),
        (4, 12, 2, 96, (107.1, 147.4)),
        (4, 12, 4, 96, (110.3, 153.9)),
    ],
)
def test_heads_of_108_elements_cost_what_bloom_lost(tp, pp, micro, heads, seconds):
    """BLOOM's trials: 78 layers of width 13,824 on 384 A100, 2,048 sequences, seconds with 96 heads of 144 elements and
    with 128 of 108, which tensor cores do not take (bloom-chronicles). FlashAttention would pad them.
    """
    node = (Level("node", 8, 300e9), Level("network", 64, 50e9))
    plan = {"B": 2048 * 2048, "T": 2048, "dp": 8, "tp": tp, "pp": pp, "micro": micro, "zero": 1, "recompute": "full"}

    def time(heads, fused):
        model = Model.small(
            layers=78,
            width=13824,
            heads=heads,
            ffn=4 * 13824,
            vocab=51200,
            context=2048,
            gated=False,
            tied=True,
            biases="all",
            norm="layer",
            dropout=True,
        )
        return step_time(model, "megatron-deepspeed-a100", node, fused=fused, sp=False, **plan).total

    assert time(128, fused=False) / time(heads, fused=False) == pytest.approx(seconds[1] / seconds[0], rel=0.04)
    assert time(128, fused=True) / time(heads, fused=True) < 1.1


@pytest.mark.parametrize(
    ("key", "model", "dtype"),
    [
        ("nemo-2024-h100", "llama2-7b", "fp8"),
        ("nemo-2025-b200", "llama3-8b", "fp8"),
        ("megatron-core-h100", "llama3-8b", "bf16"),
    ],
)
def test_context_parallelism_is_quicker_than_none_at_128k(key, model, dtype):
    """NeMo's table: 128 H100, 131,072 tokens, the best plan with it 555 TFLOP/s a GPU, the best without 424; and on 32
    B200 1,588 against 1,438 (nemo-performance). Without it, a GPU keeps the whole sequence and recomputes its layers.
    """
    node = (Level("node", 8, 450e9), Level("network", 64, 400e9))
    plan = {"B": 64 * 131072, "T": 131072, "zero": 1, "dtype": dtype}
    with_it = step_time(model, key, node, dp=8, tp=4, cp=4, **plan).total
    without = step_time(model, key, node, dp=16, tp=8, recompute="full", **plan).total
    assert with_it < without


def test_interleaving_is_quicker_by_as_much_as_torchtitan_printed():
    """Llama 3.1 405B in fp8 on 512 H100, 8 microbatches of 4 sequences in 8 stages: 100 tokens a second and GPU with
    1F1B, 128 interleaved (torchtitan, benchmarks of December 2024; two chunks of a rank assumed).
    """
    node = (Level("node", 8, 450e9), Level("network", 64, 400e9))
    plan = {"B": 256 * 8192, "T": 8192, "dp": 8, "tp": 8, "pp": 8, "micro": 4, "zero": 3, "recompute": "full"}
    once, twice = (
        step_time("llama3-405b", "torchtitan-eager-h100", node, v=v, dtype="fp8", **plan).total for v in (1, 2)
    )
    assert once / twice == pytest.approx(1.28, rel=0.05)


def test_all_to_alls_run_beside_another_chunk_of_a_stage():
    moe = models["deepseek-v3"]
    hides = stacks["megatron-core-h100"].replace(hide_ep=1.0)
    plan = {"B": 2**22, "T": 4096, "dp": 64, "pp": 4, "ep": 64}
    node = (Level("node", 8, 450e9), Level("network", 64, 400e9))
    alone, beside = (step_time(moe, hides, node, v=v, **plan).ep for v in (1, 2))
    assert beside < alone
    assert step_time(moe, hides, node, schedule="dualpipe", **plan).ep < alone


@pytest.mark.parametrize(
    ("m", "beside"),
    [(1, 0), (2, 0.5), (8, 0.875), ([1, 2, 8], [0, 0.5, 0.875])],
)
def test_without_a_pipeline_another_microbatch_hides_all_but_one_pass_of_each_transfer(m, beside):
    """The first forward pass and the last backward pass have none beside them."""
    waits = stacks["megatron-core-gb200"].replace(hide_ep=1.0)
    hides = waits.replace(overlap_alone=True)

    def ep(stack, **degrees):
        plan = {"ep": 8, "zero": 1, "micro": 1, "T": 4096, "dtype": "fp8"} | degrees
        return step_time("qwen3-30b-a3b", stack, "8xgb200-nvl72", **plan).ep

    B = np.multiply(m, 8 * 4096)
    assert np.all(ep(waits, dp=8, B=B) > 0)
    assert ep(hides, dp=8, B=B) == pytest.approx(ep(waits, dp=8, B=B) * (1 - np.asarray(beside)))
    staged = {"dp": 8, "pp": 4, "B": B}
    assert ep(hides, **staged) == pytest.approx(ep(waits, **staged))
    assert np.all(ep(hides, **staged, v=2) < ep(hides, **staged))
    assert ep(waits.replace(hide_ep=0.0, overlap_alone=True), dp=8, B=B) == pytest.approx(ep(waits, dp=8, B=B))


OSS = models["gpt-oss-120b"]


def extra(model=OSS, dedup=False, **switches):
    """What kernels apart add to a step, in bytes of a token and layer, on a machine whose memory is its only limit."""
    fused = IDEAL.replace(eta_W=0.45)
    plan = {"dp": 8, "ep": 8, "B": 8 * 4096, "T": 4096, "zero": 1, "micro": 1, "dedup_dispatch": dedup}
    slow, quick = (step_time(model, stack, LEVELS, **plan).compute for stack in (fused.replace(**switches), fused))
    return (slow - quick) * 0.45 * H100.hbm_bandwidth / (4096 * model.layers)


@pytest.mark.parametrize(("dedup", "each"), [(False, 12 + 16), (True, 28 + 40)])
def test_biases_of_experts_that_are_added_apart_move_what_experts_give(dedup, each):
    assert extra(dedup=dedup, biases_apart=True) == pytest.approx(each * 4 * 2880)
    assert extra(OSS.replace(biases="mlp"), biases_apart=True) == pytest.approx(28 * 4 * 2880)
    for without in (OSS.replace(biases="qkv"), OSS.replace(biases="none"), models["mixtral-8x7b"]):
        assert extra(without, biases_apart=True) == pytest.approx(0, abs=1e-3)


def test_rotary_embeddings_with_a_factor_move_queries_and_keys():
    assert extra(rotary_apart=True) == pytest.approx((24 + 26) * (64 + 8) * 64)
    assert extra(OSS.replace(rotary_scaled=False), rotary_apart=True) == pytest.approx(0, abs=1e-3)
    both = extra(biases_apart=True, rotary_apart=True)
    assert both == pytest.approx(extra(biases_apart=True) + extra(rotary_apart=True))


def test_megatron_has_both_apart_until_its_experts_are_one_kernel():
    old, new = (
        {(stack.biases_apart, stack.rotary_apart) for key, stack in stacks.items() if key.startswith(name)}
        for name in ("megatron-core-h", "megatron-core-2606")
    )
    assert (old, new) == ({(True, True)}, {(False, True)})
    assert not any(stacks[key].rotary_apart for key in ("torchtitan-h100", "pytorch-h200"))


def test_frozen_matrices_have_no_gradients():
    """Two thirds of the products of a step, and no states to update."""
    small = Model.small(layers=1, width=4096, heads=32, vocab=1)
    node, plan = (Level("node", 8, 300e9),), {"B": 2**20, "T": 128, "dp": 1}
    full, lora = (step_time(small, IDEAL, node, frozen=x, **plan) for x in (False, True))
    assert lora.compute / full.compute == pytest.approx(2 / 3, abs=0.01)
    assert lora.optimizer == 0


@pytest.mark.parametrize("words", [("mla_up_proj",), ("mla_up_proj", "mlp"), ("moe",), ("op",)])
def test_parts_of_a_layer_are_recomputed_in_less_time_than_all(words):
    plan = {"B": 2**22, "T": 4096, "dp": 64, "pp": 4, "ep": 64}
    node = (Level("node", 8, 450e9), Level("network", 64, 400e9))
    some, every, half = (
        step_time("deepseek-v3", "megatron-core-h100", node, recompute=x, recompute_layers=n, **plan).recomputed
        for x, n in (("+".join(words), None), ("full", None), ("+".join(words), 7))
    )
    assert 0 < some < every
    assert half == pytest.approx(some * 7 * 4 / 61)


def test_small_layers_wait_for_the_host():
    small = Model.small(layers=24, width=1024, heads=16, vocab=1)
    found = step_time(small, "vtrain-a100", (Level("node", 8, 300e9),), B=1024, T=1024, dp=1)
    stack = stacks["vtrain-a100"]
    assert found.compute + found.tp == pytest.approx(2 * 24 * stack.t_layer, rel=0.05)


def test_a_pass_through_a_layer_has_its_gap_and_a_microbatch_its_loss():
    """By hand: 24 layers, 4 microbatches; forward and backward, and once more forward where all is recomputed."""
    small = Model.small(layers=24, width=1024, heads=16, vocab=1000)
    plan = {"B": 4 * 1024, "T": 1024, "dp": 1}
    node = (Level("node", 8, 300e9),)
    gap, loss = IDEAL.replace(t_gap=1e-3), IDEAL.replace(t_loss=1e-3)
    for again, passes in (("none", 2), ("full", 3)):
        bare = step_time(small, IDEAL, node, recompute=again, **plan).total
        assert step_time(small, gap, node, recompute=again, **plan).total - bare == pytest.approx(0.096 * passes)
        assert step_time(small, loss, node, recompute=again, **plan).total - bare == pytest.approx(0.004)


def test_logits_have_a_share_of_the_memory_bandwidth_of_their_own():
    """By hand: logits in 16 and in 32 bits, 6 bytes each, move twice on the way there and twice as often back."""
    few, many = (Model.small(layers=2, width=64, heads=2, vocab=v) for v in (1000, 101_000))
    plan = {"B": 1024, "T": 1024, "dp": 1}
    half, quarter = IDEAL.replace(eta_W=0.5), IDEAL.replace(eta_W=0.5, eta_V=0.5)
    lost = [step_time(m, quarter, LEVELS, **plan).total - step_time(m, half, LEVELS, **plan).total for m in (few, many)]
    W = IDEAL.accelerator.hbm_bandwidth
    assert lost[1] - lost[0] == pytest.approx(3 * 2 * 6 * 1024 * 100_000 / W * (1 / 0.25 - 1 / 0.5))


# What comes in


def test_levels_of_machines():
    assert levels_of("superpod-h100-4su") == LEVELS == levels_of(clusters["superpod-h100-4su"])
    assert levels_of("dgx-h100") == (Level("node", 8, nodes["dgx-h100"].scaleup_bandwidth),)
    assert levels_of([("node", 8, 1e9)]) == (Level("node", 8, 1e9),)
    assert levels_of(node("dgx-h100"))[0].size == 8


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"levels": "superpod-h1000"}, KeyError, "superpod-h100"),
        ({"levels": "tpu-v4-pod"}, ValueError, "torus"),
        ({"levels": ()}, ValueError, "levels"),
        ({"levels": 8}, ValueError, "levels"),
        ({"stack": "megatron"}, KeyError, "stack"),
        ({"dtype": "fp4"}, ValueError, "fp4"),
        ({"dp": 3}, StrategyError, "^micro: "),
        ({"dp": 0}, StrategyError, "^dp: "),
        ({"dp": float("nan")}, StrategyError, "^dp: "),
        ({"tp": np.array([1.0, float("nan")])}, StrategyError, "^tp: "),
        ({"dp": 2**14}, ValueError, "microbatches|ranks"),
        ({"dp": 256, "tp": 8}, ValueError, "1024 ranks"),
        ({"zero": 4}, StrategyError, "zero"),
        ({"recompute": "some"}, StrategyError, "recompute"),
        ({"schedule": "2f2b"}, StrategyError, "schedule"),
        ({"expert_imbalance": 0.5}, ValueError, "expert_imbalance"),
    ],
    ids=lambda x: str(x) if isinstance(x, dict) else "",
)
def test_what_cannot_be_is_refused(change, error, message):
    given = {"stack": IDEAL, "levels": LEVELS, "B": 256 * T, "T": T, "dp": 4} | change
    with pytest.raises(error, match=message):
        step_time(LLAMA, given.pop("stack"), given.pop("levels"), **given)


# Latency of collectives


def test_a_call_takes_longer_with_each_rank_of_a_node_and_each_doubling_of_the_nodes():
    quick = IDEAL.replace(hide_dp=0.0)
    slow = quick.replace(alpha_in=20e-6, alpha_out=30e-6)

    def latency(dp, tp=1):
        with_and_without = (step_time(LLAMA, s, LEVELS, T=T, B=dp * T, dp=dp, tp=tp).total for s in (slow, quick))
        return -np.diff(list(with_and_without)).item()

    ring = ring_step("h100-sxm")
    assert latency(1) == pytest.approx(0, abs=1e-9)
    assert latency(8) == pytest.approx(20e-6, rel=1e-3)  # what alpha_in says: a node of eight
    assert latency(8) - latency(2) == pytest.approx(6 * ring, rel=1e-2)
    assert latency(16) - latency(8) == pytest.approx(30e-6, rel=1e-2)
    assert latency(128) - latency(16) == pytest.approx(3 * 30e-6, rel=1e-2)
    # a node's worth of another axis inside: one rank of this axis in each node
    alone = latency(4, tp=8) - latency(1, tp=8)
    assert alone == pytest.approx(20e-6 - 7 * ring + 2 * 30e-6, rel=1e-2)


def test_the_latency_of_a_call_is_never_negative():
    small = IDEAL.replace(alpha_in=1e-6)  # below eight steps of the measured ring
    times = [step_time(LLAMA, small, LEVELS, T=T, B=128 * T, tp=tp).total for tp in (1, 2, 4, 8)]
    ideal_times = [step_time(LLAMA, IDEAL, LEVELS, T=T, B=128 * T, tp=tp).total for tp in (1, 2, 4, 8)]
    gaps = np.subtract(times, ideal_times)
    assert gaps[0] == 0
    assert (np.diff(gaps) > 0).all()


def test_columns_of_plans_have_the_latencies_of_each():
    stack = IDEAL.replace(alpha_in=20e-6, alpha_out=30e-6, hide_dp=0.0)
    degrees = [1, 2, 8, 16, 128]
    together = step_time(LLAMA, stack, LEVELS, T=T, B=128 * T, dp=np.array(degrees)).total
    each_alone = [step_time(LLAMA, stack, LEVELS, T=T, B=128 * T, dp=dp).total for dp in degrees]
    assert together == pytest.approx(np.array(each_alone))
