"""Steps of pipelines whose stages hold different layers, against played schedules; and a model's extra predictions."""

import numpy as np
import pytest

from hwlib import pipeline
from hwlib.footprint.stage_layers import stage_layers
from hwlib.pipeline import play
from hwlib.specs import Level, Model, Stack, accelerators, models
from hwlib.transformer import step_flops
from tests.hwlib.keywords import step_time

C = accelerators["h100-sxm"].bf16_flops
IDEAL = Stack.ideal("h100-sxm")
FAR = (Level("node", 8, 1e30), Level("network", 512, 1e30))
T = 4096


def layers_of(layers, pp):
    """The layers of each stage without interleaving."""
    held = stage_layers(layers, pp, 1)
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
    for held in layers_of(model.layers, pp):
        forward.append(full * held - (full - dense) * min(left, held))
        left = max(left - held, 0)
    backward = [2 * t for t in forward]
    forward[-1] += loss / 3
    backward[-1] += 2 * loss / 3
    return forward, backward


@pytest.mark.parametrize(
    ("layers", "pp", "expected"),
    [
        (64, 16, [4] * 16), (63, 16, [4] * 15 + [3]), (126, 16, [7] + [8] * 14 + [7]),
        (61, 16, [3] + [4] * 14 + [2]), (61, 2, [31, 30]), (9, 8, [1, 2, 1, 1, 1, 1, 1, 1]), (5, 1, [5]),
    ],
)  # fmt: skip
def test_every_layer_is_on_some_stage(layers, pp, expected):
    assert layers_of(layers, pp) == expected
    assert sum(expected) == layers


def test_chunks_at_the_ends_may_be_without_a_layer():
    """126 layers on 16 stages with 8 chunks: 128 chunks of which two have none (llama3, section 3.3.2)."""
    held = stage_layers(126, 16, 8)
    assert (held.chunk, held.full, held.first, held.last, held.others) == (1, 8, 1, 1, 0)


@pytest.mark.parametrize("schedule", ["1f1b", "gpipe"])
@pytest.mark.parametrize(
    ("layers", "dense", "pp", "m", "vocab"),
    [
        (61, 0, 16, 32, 1), (61, 0, 16, 32, 40_000), (61, 0, 16, 32, 400_000), (61, 3, 16, 32, 40_000),
        (62, 3, 4, 16, 1), (13, 2, 5, 16, 100_000), (63, 0, 8, 16, 1), (126, 0, 16, 64, 100_000), (9, 0, 8, 16, 1),
    ],
)  # fmt: skip
def test_uneven_stages_take_what_a_played_schedule_takes(layers, dense, pp, m, vocab, schedule):
    """61 layers on 16 stages, the first ones dense, with an output layer that is next to nothing, less than a layer,
    or more than the last stage is short of.
    """
    model = shape(layers, dense, vocab)
    order = pipeline.one_f_one_b if schedule == "1f1b" else pipeline.gpipe
    expected = play(order(pp, m), *passes(model, pp)).time
    found = step_time(model, IDEAL, FAR, T=T, B=m * T, pp=pp, schedule=schedule)
    assert found.total == pytest.approx(expected, rel=1e-9)


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
