"""Steps of pipelines whose stages hold different layers, against played schedules; and a model's extra predictions."""

import numpy as np
import pytest

from hwlib import pipeline
from hwlib.footprint import footprint
from hwlib.footprint.stage_layers import stage_layers
from hwlib.launch.layouts import chunk_layers
from hwlib.pipeline import play
from hwlib.planner import PlanError, plan
from hwlib.specs import Level, Model, Stack, accelerators, models
from hwlib.steptime import step_time
from hwlib.transformer import mtp_parameters, step_flops, with_mtp

C = accelerators["h100-sxm"].bf16_flops
IDEAL = Stack.ideal("h100-sxm")
FAR = (Level("node", 8, 1e30), Level("network", 512, 1e30))
T = 4096


def layers_of(model, pp):
    """The layers of each stage without interleaving."""
    held = stage_layers(model, pp, 1)
    found = [held.full] * pp
    found[0] -= held.first
    found[-1] -= held.last
    for i in range(held.others):
        found[-2 - i] -= 1
    return found


def shape(layers, dense, vocab):
    """A model whose first `dense` layers have no experts; all are dense where that is 0."""
    experts = {"experts": 16, "experts_per_token": 4, "expert_ffn": 1024, "dense_layers": dense} if dense else {}
    return Model.small(layers=layers, width=1024, heads=16, ffn=1024, vocab=vocab, context=T, **experts)


def passes(model, pp):
    """Forward and backward time of each stage on an ideal machine, with the output layer on the last."""
    loss = 6 * model.width * model.vocab * T / C

    def layer(dense):
        one = model.replace(layers=1, dense_layers=dense)
        return (step_flops(one, T, T) / C - loss) / 3

    dense = layer(1 if model.moe else 0)
    full = layer(0) if model.moe else dense
    forward, left = [], model.dense_layers
    for held in layers_of(model, pp):
        forward.append(full * held - (full - dense) * min(left, held))
        left = max(left - held, 0)
    backward = [2 * t for t in forward]
    forward[-1] += loss / 3
    backward[-1] += 2 * loss / 3
    return forward, backward


@pytest.mark.parametrize(
    ("layers", "pp", "dense", "light"),
    [
        (64, 16, [4] * 16, [4] * 16),
        (63, 16, [4] * 15 + [3], [4] * 15 + [3]),
        (126, 16, [7] + [8] * 14 + [7], [8] * 15 + [6]),
        (61, 16, [3] + [4] * 14 + [2], [4] * 15 + [1]),
        (61, 2, [31, 30], [31, 30]),
        (9, 8, [1, 2, 1, 1, 1, 1, 1, 1], [2] + [1] * 6 + [1]),
        (5, 1, [5], [5]),
    ],
)
def test_every_layer_is_on_some_stage(layers, pp, dense, light):
    """The ends lack a layer each, and the last stage what is missing more; or all, where the first layers are light."""
    for first, expected in ((0, dense), (1, light)):
        assert layers_of(shape(layers, first, 4096), pp) == expected
        assert sum(expected) == layers


def test_chunks_at_the_ends_may_be_without_a_layer():
    """126 layers on 16 stages with 8 chunks: 128 chunks of which two have none (llama3, section 3.3.2)."""
    held = stage_layers(models["llama3-405b"], 16, 8)
    assert (held.chunk, held.full, held.first, held.last, held.others) == (1, 8, 1, 1, 0)


def test_deepseek_is_laid_out_as_nvidia_does():
    """Megatron-Bridge's layouts: 16 chunks are fifteen of four layers and one, beside the prediction's and the loss."""
    for pp, v in ((16, 1), (8, 2), (4, 4), (2, 8)):
        held = stage_layers(with_mtp("deepseek-v3"), pp, v)
        assert (held.chunk, held.first, held.last, held.others) == (4, 0, 2, 0)


@pytest.mark.parametrize("schedule", ["1f1b", "gpipe"])
@pytest.mark.parametrize(
    ("layers", "dense", "pp", "m", "vocab"),
    [
        (61, 0, 16, 32, 1),
        (61, 0, 16, 32, 40_000),
        (61, 0, 16, 32, 400_000),
        (61, 3, 16, 32, 40_000),
        (62, 3, 4, 16, 1),
        (13, 2, 5, 16, 100_000),
        (63, 0, 8, 16, 1),
        (126, 0, 16, 64, 100_000),
        (9, 0, 8, 16, 1),
    ],
)
def test_uneven_stages_take_what_a_played_schedule_takes(layers, dense, pp, m, vocab, schedule):
    """61 layers on 16 stages, the first ones dense, with an output layer that is next to nothing, less than a layer,
    or more than the last stage is short of.
    """
    model = shape(layers, dense, vocab)
    order = pipeline.one_f_one_b if schedule == "1f1b" else pipeline.gpipe
    expected = play(order(pp, m), *passes(model, pp)).time
    found = step_time(model, IDEAL, FAR, T=T, B=m * T, pp=pp, schedule=schedule)
    assert found.total == pytest.approx(expected, rel=1e-9)


def played_chunks(model, pp, v, m):
    """Seconds of an interleaved schedule whose chunks have their own layers, the last one the output layer too: each op
    starts when its rank is free and the chunk before it, or behind it in the backward pass, is done.
    """
    loss = 6 * model.width * model.vocab * T / C
    dense, layer = (
        (step_flops(model.replace(layers=1, dense_layers=count), T, T) / C - loss) / 3 for count in (int(model.moe), 0)
    )
    forward, left = [], model.dense_layers
    for count in chunk_layers(model, pp, v):
        forward.append(layer * count - (layer - dense) * min(left, count))
        left = max(left - count, 0)
    forward[-1] += loss / 3
    schedule = pipeline.interleaved(pp, m, v)
    ops = {rank: [slot[0] for slot in schedule.slots(rank)] for rank in range(pp)}
    done, clock, last = {}, [0.0] * pp, schedule.depth - 1
    while any(ops.values()):
        for rank, left in ops.items():
            while left:
                op, part = left[0], schedule.part(rank, left[0].chunk)
                need = (op.kind, part - 1 if op.kind == "F" else part + 1, op.microbatch)
                if need not in done and part != (0 if op.kind == "F" else last):
                    break
                took = forward[part] * (1 if op.kind == "F" else 2)
                clock[rank] = max(clock[rank], done.get(need, 0.0)) + took
                done[op.kind, part, op.microbatch] = clock[rank]
                left.pop(0)
    return max(clock)


@pytest.mark.parametrize("vocab", [1, 20_000, 60_000, 200_000])
@pytest.mark.parametrize(
    ("layers", "dense", "pp", "v"),
    [
        (80, 0, 4, 5),
        (80, 0, 4, 7),
        (36, 0, 2, 4),
        (32, 0, 4, 3),
        (80, 0, 2, 3),
        (37, 0, 4, 5),
        (61, 0, 2, 8),
        (61, 3, 2, 8),  # the one full stage has all dense layers; the last stage may be slower by its output layer
        (61, 3, 2, 4),
        (61, 3, 4, 4),
    ],
)
def test_uneven_chunks_take_what_a_played_schedule_takes(layers, dense, pp, v, vocab):
    """Where chunks lack layers some ranks wait a little less than the formula has it, for the first pass is shorter."""
    model = shape(layers, dense, vocab)
    found = step_time(model, IDEAL, FAR, T=T, B=16 * T, pp=pp, v=v).total
    even = layers % (pp * v) == 0
    played = played_chunks(model, pp, v, 16)
    assert found == pytest.approx(played, rel=1e-9 if even else 0.03)
    assert found >= played * (1 - 1e-9)


def test_the_slowest_stage_has_experts_only():
    """Three dense layers of 61 are on the first stage; the others do four layers with experts for each microbatch."""
    model = models["deepseek-v3"]
    found = step_time(model, IDEAL, FAR, T=T, B=1024 * T, pp=16)
    loss = 6 * model.width * model.vocab * T
    layer = step_flops(model.replace(layers=1, dense_layers=0), T, T) - loss
    assert found.compute == pytest.approx(1024 * 4 * layer / C, rel=1e-9)


def test_columns_of_uneven_plans_are_each_of_them():
    model, pp = models["deepseek-v3"], np.array([1, 2, 4, 8, 16, 4])
    v = np.array([1, 1, 2, 1, 2, 4])
    found = step_time(model, "megatron-core-h100", FAR, T=T, B=256 * T, pp=pp, v=v, ep=1)
    plans = [{"pp": int(a), "v": int(b)} for a, b in zip(pp, v, strict=True)]
    each = [step_time(model, "megatron-core-h100", FAR, T=T, B=256 * T, **plan) for plan in plans]
    assert found.total == pytest.approx([one.total for one in each], rel=1e-12)
    assert found.bubble == pytest.approx([one.bubble for one in each], rel=1e-12)


# Multi-token prediction


@pytest.mark.parametrize(("mtp", "published"), [(True, 259.8e9), (False, 249.1e9)])
def test_operations_of_extra_predictions_are_those_that_nvidia_counts(mtp, published):
    """DeepSeek-V3's operations a token, from pairs of TFLOP/s and tokens/s a GPU (megatron-bridge): 1,090 and 4,193
    with the module, 782 and 3,139 without.
    """
    assert step_flops("deepseek-v3", 1, 4096, mtp=mtp) == pytest.approx(published, rel=0.006)


def test_extra_predictions_take_their_operations():
    model = models["deepseek-v3"]
    found = step_time(model, IDEAL, FAR, T=T, B=8 * T, dp=1, mtp=True)
    assert found.compute == pytest.approx(step_flops(model, 8 * T, T, mtp=True) / C, rel=1e-9)
    assert with_mtp(model).layers == 62


@pytest.mark.parametrize("pp", [1, 4, 16])
def test_extra_predictions_take_time_and_memory(pp):
    model, plan = models["deepseek-v3"], {"T": T, "pp": pp, "ep": 8, "dp": 8, "zero": 1}
    with_, without = (step_time(model, "megatron-core-h100", FAR, B=512 * T, mtp=mtp, **plan).total for mtp in (1, 0))
    assert without < with_ < 1.1 * without
    last, plain = (footprint(model, m=64, stage="last", mtp=mtp, **plan) for mtp in (True, False))
    assert last.logits > 2 * plain.logits


def test_the_prediction_module_has_the_parameters_that_are_published():
    """11.5B (deepseek-v3's README: 14B with the two tables that it shares), of which a rank without a copy of the
    embedding holds all.
    """
    one, two = (footprint("deepseek-v3", T=T, mtp=mtp).weights for mtp in (False, True))
    assert (two - one) / 2 == pytest.approx(mtp_parameters("deepseek-v3"), rel=1e-6)
    tables = 2 * 129280 * 7168
    assert (two - one) / 2 + tables == pytest.approx(14e9, rel=0.04)


def test_a_model_without_modules_is_refused():
    with pytest.raises(ValueError, match="8B, which has none"):
        step_time("llama3-8b", IDEAL, FAR, T=T, B=T, dp=1, mtp=True)
    with pytest.raises(ValueError, match="mtp"):
        footprint("llama3-8b", T=T, mtp=True)


def test_a_plan_may_have_extra_predictions():
    task = {"B": 2**24, "T": T, "gpus": 1024, "dtype": "fp8", "pp": 16, "ep": 64, "schedule": "1f1b", "v": 1}
    without, with_ = (plan("deepseek-v3", "superpod-h100-4su", mtp=mtp, **task) for mtp in (False, True))
    assert without[0].seconds < with_[0].seconds
    with pytest.raises(PlanError, match="8B has no modules"):
        plan("llama3-8b", "dgx-h100", B=2**20, mtp=True)


def test_a_rank_of_dualpipe_has_both_ends():
    """Half of the microbatches pass the last stage on it, half the first: half the output layer for each of them."""
    model, plan_ = shape(64, 0, 400_000), {"T": T, "B": 64 * T, "pp": 8}
    one, dual = (step_time(model, IDEAL, FAR, schedule=word, **plan_).compute for word in ("1f1b", "dualpipe"))
    loss = 64 * 6 * model.width * model.vocab * T / C
    assert one - dual == pytest.approx(loss / 2, rel=1e-9)
    both = step_time(model, IDEAL, FAR, **plan_ | {"schedule": np.array([1.0, 4.0])}).compute
    assert both == pytest.approx([one, dual], rel=1e-12)
