"""The values that a search may choose from: those that are usual, by hand on small machines."""

import pytest

from hwlib.planner.allowed import (
    MICRO,
    MODULAR,
    NARROWEST_EXPERT,
    WHOLE,
    WIDEST_FOLD,
    Allowed,
    Axes,
    axes_of,
    divisors,
    usual_etp,
    usual_recompute,
    usual_shards,
    usual_tp,
)
from hwlib.planner.software_settings import SoftwareSettings
from hwlib.planner.task import task_of
from hwlib.specs import features, models
from hwlib.strategy import RECOMPUTE, RECOMPUTED, Strategy, StrategyError

LLAMA = models["llama3-8b"]
MIXTRAL = models["mixtral-8x7b"]


def task(model=LLAMA, cluster="dgx-h100", gpus=None, sequences=64, T=8192, **software):
    settings = SoftwareSettings(**{"features": "any"} | software)
    return task_of(model, cluster, B=sequences * T, T=T, gpus=gpus, software=settings)


AXES = Axes(
    tp=(2, 4),
    pp=(2, 1),
    cp=(2, 1),
    ep=(4, 1),
    micro=(2, 4),
    forms=(("zbv", 2), ("1f1b", 3)),
    zero=(1, 3),
    recompute=("full", "none"),
    sp=(False, True),
    shards=(4, 8),
    etp=(2, 1),
)


def test_the_first_strategy_has_the_first_value_of_every_axis():
    assert AXES.first(64) == Strategy.of(
        dp=8, tp=2, pp=2, cp=2, ep=4, micro=2, schedule="zbv", v=2, zero=1, recompute="full", sp=False, shards=4, etp=2
    )
    usual = AXES._replace(shards=(WHOLE,), etp=(WHOLE,)).first(64)
    assert (usual.shards, usual.etp) == (None, None)
    assert AXES._replace(shards=(WHOLE,), etp=(WHOLE,)).mesh == {"tp": (2, 4), "pp": (2, 1), "cp": (2, 1), "ep": (4, 1)}
    assert AXES.mesh["etp"] == (2, 1)


def test_the_least_axes_have_what_the_software_has_and_one_value_where_more_needs_more():
    least = AXES.least(None)
    assert (least.micro, least.forms, least.shards) == ((2,), (("zbv", 2),), (4,))
    assert least._replace(micro=AXES.micro, forms=AXES.forms, shards=AXES.shards) == AXES
    plain = features["megatron-core"]
    assert "zbv" not in plain.schedules
    assert AXES.least(plain).forms == (("1f1b", 3),)
    assert AXES._replace(forms=AXES.forms[:1]).least(plain).forms == (("zbv", 2),)


@pytest.mark.parametrize(
    ("cluster", "tp", "shards"),
    [
        ("dgx-h100", (1, 2), (WHOLE,)),
        ("superpod-h100-1su", (1,), (WHOLE, 8)),
        ("superpod-h100-1su", (1, 2, 8), (WHOLE, 4, 8)),
        ("superpod-h100-1su", (3, 8), (WHOLE,)),
        ("superpod-h100-4su", (1,), (WHOLE, 8, 256)),
        ("superpod-h100-4su", (8,), (WHOLE, 32)),
    ],
)
def test_shards_fill_a_node_or_a_level_above_it_that_is_not_the_last(cluster, tp, shards):
    assert usual_shards(task(cluster=cluster, sequences=1024), tp) == shards


@pytest.mark.parametrize(
    ("width", "tp"), [(NARROWEST_EXPERT - 1, (1,)), (2 * NARROWEST_EXPERT, (1, 2)), (10**6, (1, 2, 4))]
)
def test_experts_are_not_cut_too_narrow(width, tp):
    assert usual_tp(MIXTRAL.replace(expert_ffn=width), 4) == tp
    assert usual_tp(LLAMA, 4) == (1, 2, 4)
    assert usual_tp(MIXTRAL.replace(expert_ffn=width), 4, (WHOLE, 1)) == (1, 2, 4)


def test_whole_experts_are_folded_over_few_ranks():
    assert usual_tp(MIXTRAL.replace(expert_ffn=768), 16, (WHOLE, 1)) == (1, 2, WIDEST_FOLD)
    assert usual_tp(MIXTRAL.replace(expert_ffn=8 * 768), 16, (WHOLE, 1)) == (1, 2, 4, 8)
    assert axes_of(task(MIXTRAL.replace(expert_ffn=768)), Allowed(etp=1)).tp == (1, 2, 4, 8)


def test_divisors():
    assert divisors(1) == (1,)
    assert divisors(12) == (1, 2, 3, 4, 6, 12)


@pytest.mark.parametrize(
    ("layers", "pp", "v", "schedule", "forms"),
    [
        (
            8,
            (1, 2),
            None,
            ("1f1b", "zb_h1", "zbv"),
            (("1f1b", 1), ("1f1b", 2), ("1f1b", 4), ("1f1b", 5), ("zb_h1", 1), ("zbv", 2)),
        ),
        (8, 1, None, "1f1b", (("1f1b", 1),)),
        (8, 2, 3, "1f1b", (("1f1b", 3),)),
        (8, 2, (1, 2), ("zbv", "zb_h1"), (("zbv", 2), ("zb_h1", 1))),
        (8, 2, 2, ("1f1b", "zbv", "zb_h1", "dualpipe"), (("1f1b", 2), ("zbv", 2), ("dualpipe", 2))),
        (8, 2, 3, "zb_h1", ()),
    ],
)
def test_one_schedule_takes_any_chunks_that_cut_the_layers_and_others_have_their_own(layers, pp, v, schedule, forms):
    where = task(LLAMA.replace(layers=layers))
    assert axes_of(where, Allowed(pp=pp, v=v, schedule=schedule)).forms == forms


def test_there_are_at_most_sixteen_chunks():
    chunks = lambda layers: {v for _, v in axes_of(task(LLAMA.replace(layers=layers)), Allowed(pp=2)).forms}
    assert max(chunks(32)) == 16
    assert max(chunks(34)) < 17
    assert max(chunks(36)) < 17


def test_usual_values():
    axes = axes_of(task(sequences=64), Allowed())
    assert (axes.tp, axes.pp, axes.cp, axes.ep) == ((1, 2, 4, 8), (1, 2, 4, 8), (1, 2, 4, 8), (1,))
    assert (axes.micro, axes.zero, axes.sp, axes.etp) == (MICRO, (0, 1, 3), (True,), (WHOLE,))
    assert axes.recompute == ("none", "full")
    assert axes.shards == (WHOLE,)
    assert axes_of(task(LLAMA.replace(layers=4)), Allowed()).pp == (1, 2, 4)
    assert axes_of(task(T=1000), Allowed()).cp == (1,)
    assert axes_of(task(T=2**20, sequences=8), Allowed()).cp == tuple(2**i for i in range(8))
    assert axes_of(task(T=1023), Allowed()).cp == (1,)
    assert axes_of(task(MIXTRAL), Allowed(etp=1)).tp == (1, 2, 4, 8)
    narrow = axes_of(task(MIXTRAL.replace(expert_ffn=768)), Allowed())
    assert (narrow.tp, narrow.etp, narrow.narrow) == ((1, 2, 4), (WHOLE, 1), (2, 4))
    asked = axes_of(task(MIXTRAL.replace(expert_ffn=768)), Allowed(tp=(2, 4)))
    assert (asked.tp, asked.etp, asked.narrow) == ((2, 4), (WHOLE, 1), ())
    unfolded = axes_of(task(MIXTRAL.replace(expert_ffn=768), features="megatron-deepspeed"), Allowed())
    assert (unfolded.tp, unfolded.etp, unfolded.narrow) == ((1,), (WHOLE,), ())
    assert axes_of(task(LLAMA), Allowed(etp=1)).tp == (1, 2, 4, 8)
    given = axes_of(
        task(), Allowed(tp=2, cp=8, ep=3, micro=7, zero=2, sp=False, recompute="selective", shards=5, etp=1)
    )
    assert (given.tp, given.cp, given.ep, given.micro, given.zero, given.sp) == ((2,), (8,), (3,), (7,), (2,), (False,))
    assert (given.recompute, given.shards, given.etp) == (("selective",), (5,), (1,))


def test_experts_are_whole_or_cut_like_other_matrices():
    assert usual_etp(task()) == (WHOLE,)
    assert usual_etp(task(MIXTRAL)) == usual_etp(task(MIXTRAL, features="megatron-core")) == (WHOLE, 1)
    assert usual_etp(task(MIXTRAL, features="megatron-deepspeed")) == (WHOLE,)


def test_what_is_recomputed_usually():
    assert usual_recompute(task()) == ("none", "full")
    assert usual_recompute(task(fused=False)) == RECOMPUTE
    assert usual_recompute(task(MIXTRAL)) == ("none", "full")
    for model, kind in ((MIXTRAL, "experts"), ("deepseek-v3", "latent")):
        assert usual_recompute(task(model, features="megatron-core")) == ("none", "full", *MODULAR[kind])
        assert usual_recompute(task(model, features="torchtitan")) == ("none", "full")
    assert usual_recompute(task(features="megatron-core")) == ("none", "full")
    assert {*MODULAR["experts"], *MODULAR["latent"]} < {*RECOMPUTED}


@pytest.mark.parametrize("values", [(), 1.5, "8", (1, 2**20)])
def test_values_are_whole_numbers_and_at_least_one(values):
    with pytest.raises(StrategyError) as caught:
        Allowed(tp=values)
    assert caught.value.field == "tp"


def test_values_are_kept_sorted_and_once():
    allowed = Allowed(tp=(4, 1, 4), recompute=("full", "none"), sp=(True, False), micro=2**20 - 1)
    assert (allowed.tp, allowed.recompute, allowed.sp) == ((1, 4), ("full", "none"), (True, False))
    assert allowed.given.keys() == {"tp", "recompute", "sp", "micro"}
