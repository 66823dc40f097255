"""Which meshes the rule of thumb considers: enough microbatches for the stages, and tokens that hide the gradients."""

from dataclasses import replace
from math import ceil

import pytest

from hwlib.planner import Allowed, PlanError, decide, guide
from hwlib.planner.allowed import SHORTEST_CUT, axes_of
from hwlib.planner.task import task_of
from hwlib.specs import models
from hwlib.strategy import Strategy
from hwlib.transformer import parameter_count
from hwlib.units import show


def bounds(model, cluster, sequences):
    return guide._bounds(task_of(model, cluster, B=sequences * 8192, T=8192))


@pytest.mark.parametrize("model", ["llama3-70b", "mixtral-8x7b"])
@pytest.mark.parametrize("sequences", [8, 64, 256, 2048])
def test_a_mesh_has_microbatches_for_its_stages_and_hides_what_it_must(model, sequences):
    b = bounds(model, "superpod-h100-1su", sequences)
    every, hiding = list(guide._meshes(b, False)), list(guide._meshes(b, True))
    widest = max(d for d in range(1, b.model.experts + 1) if b.model.experts % d == 0 and d <= 8)
    assert every
    for mesh in every:
        assert mesh.gpus == 256
        assert sequences % mesh.dp == 0
        assert mesh.pp == 1 or sequences // mesh.dp >= guide.FEWEST * mesh.pp
        assert mesh.tp <= max(b.limit, 1)
        assert (mesh in hiding) == bool(b.hidden(b.tokens, mesh.tp, mesh.pp, widest))


def test_few_tokens_hide_little_and_many_hide_all():
    few, many = bounds("llama3-70b", "superpod-h100-1su", 8), bounds("llama3-70b", "superpod-h100-1su", 2048)
    assert len(list(guide._meshes(few, True))) < len(list(guide._meshes(few, False)))
    assert list(guide._meshes(many, True)) == list(guide._meshes(many, False))


def test_as_few_microbatches_as_may_be_are_enough():
    b = bounds("llama3-70b", "dgx-h100", guide.FEWEST * 2)
    meshes = [(mesh.pp, mesh.dp) for mesh in guide._meshes(b, False)]
    assert (2, 1) in meshes
    assert (2, 2) not in meshes
    assert (4, 1) not in meshes


@pytest.mark.parametrize(("less", "cp"), [(0, (1, 2, 4)), (16, (1, 2))])
def test_a_sequence_is_cut_into_pieces_of_so_many_tokens_and_no_shorter(less, cp):
    T = 4 * SHORTEST_CUT - less
    assert axes_of(task_of("llama3-70b", "superpod-h100-1su", B=256 * T, T=T), Allowed()).cp == cp
    b = guide._bounds(task_of("llama3-70b", "superpod-h100-1su", B=256 * T, T=T))
    assert {mesh.cp for mesh in guide._meshes(b, False)} == set(cp)


def bound(model="llama3-8b", cluster="superpod-h100-1su", sequences=256, gpus=None, **changed):
    """Bounds with some of their numbers changed."""
    return replace(guide._bounds(task_of(model, cluster, B=sequences * 8192, T=8192, gpus=gpus)), **changed)


def test_what_leaves_a_node_is_cut_by_degrees_beyond_it_and_what_is_within_by_all():
    inside, beyond = bound(level="node"), bound(level="leaf")
    assert [inside.outside(degree) for degree in (1, 4, 16)] == [1, 4, 16]
    assert [beyond.outside(degree) for degree in (1, 4, 8, 16)] == [1, 1, 1, 2]


@pytest.mark.parametrize(
    ("tokens", "tp", "pp", "hides"),
    [(25, 4, 1, True), (24.9, 4, 1, False), (12.5, 4, 2, True), (12.4, 4, 2, False), (100, 1, 1, True)],
)
def test_as_many_tokens_as_are_needed_hide_the_gradients(tokens, tp, pp, hides):
    dense = bound(need=100.0, need_experts=1e9, level="node")
    assert dense.hidden(tokens, tp, pp, 8) is hides


@pytest.mark.parametrize(("tokens", "ep", "hides"), [(50, 4, True), (50, 2, False), (49, 4, False), (49.9, 8, False)])
def test_those_of_experts_are_to_hide_too(tokens, ep, hides):
    """Twice as many tensor-parallel ranks, so that 50 tokens are 100, and of experts 50 x 2 x ep."""
    experts = bound("mixtral-8x7b", need=100.0, need_experts=400.0, level="node")
    assert experts.hidden(tokens, 2, 1, ep) is hides
    assert experts.hidden(tokens, 2, 2, ep) is (tokens * 4 * ep >= 400)


@pytest.mark.parametrize(
    ("need", "degrees", "stages"),
    [
        (1e9, {}, [(0, 1, 2)]),
        (1e9, {"dp": 2}, [(1, 2, 0)]),
        (1e9, {"cp": 2}, [(1, 2, 0)]),
        (1e9, {"dp": 2, "cp": 2}, [(1, 2, 0)]),
        (1e9, {"dp": 4, "tp": 2, "pp": 2}, [(1, 2, 0)]),
        (8192.0, {"dp": 2}, [(1, 2, 0), (3,)]),  # a microbatch is one sequence of 8192 tokens
        (8193.0, {"dp": 2}, [(1, 2, 0)]),
        (8192.0, {"dp": 2, "pp": 2}, [(1, 2, 0)]),
        (4096.0, {"dp": 2, "cp": 2}, [(1, 2, 0), (3,)]),
        (4097.0, {"dp": 2, "cp": 2}, [(1, 2, 0)]),
        (4096.0, {"dp": 2, "tp": 2}, [(1, 2, 0), (3,)]),
        (4097.0, {"dp": 2, "tp": 2}, [(1, 2, 0)]),
    ],
)
def test_all_is_sharded_where_the_gathers_for_each_microbatch_hide(need, degrees, stages):
    b = bound(need=need, tokens=1e6, level="leaf")
    assert list(guide._stages(b, Strategy.of(**degrees), False)) == stages
    assert list(guide._stages(b, Strategy.of(**degrees), True)) == [stages[0], (3,)]
    few = bound(need=100.0, tokens=99.0, level="leaf")
    assert list(guide._stages(few, Strategy.of(dp=2), False)) == [(1, 2, 0)]


def clauses(b, **degrees):
    return guide._sentence(b, Strategy.of(gpus=b.machine.gpus, **degrees))


def test_a_sentence_says_only_what_is_there():
    b = bound("mixtral-8x7b")
    alone = clauses(b)
    assert "; data parallelism of 256 alone, " in alone
    for word in ("expert parallelism", "tensor parallelism", "pipeline", "context", "fully", "ZeRO", "recomputation"):
        assert word not in alone
    every = clauses(b, tp=2, pp=2, cp=2, ep=2, zero=1, recompute="full")
    for part in (
        "; expert parallelism of 2, as experts of 14,336 are ",
        "; tensor parallelism of 2 within the node, ",
        f"; 2 pipeline stages across nodes, for which {b.need / 2:,.0f} tokens are enough (the bubble is 11% with 8 ",
        "; context parallelism of 2 (",
        "; data parallelism of 32 with ZeRO-1, full recomputation, ",
    ):
        assert part in every
    assert " alone" not in every
    assert "; fully sharded data parallelism of 256 alone with ZeRO-3, " in clauses(b, zero=3)
    assert "; data parallelism of 256 alone with ZeRO-2, " in clauses(b, zero=2)
    assert "across nodes" not in clauses(bound(cluster="dgx-h100"), pp=8)
    assert "data parallelism" not in clauses(bound(cluster="dgx-h100"), tp=8)
    assert "; data parallelism of 2, " in clauses(bound(cluster="dgx-h100"), tp=4)
    assert "; data parallelism of 2 alone, " in clauses(bound(cluster="dgx-h100", gpus=2))
    assert "; data parallelism of 1, " in clauses(bound(cluster="dgx-h100", gpus=1))


@pytest.mark.parametrize(("far", "word"), [(14336.0, "at least as wide as"), (14337.0, "narrower than")])
def test_experts_are_as_wide_as_what_hides(far, word):
    assert f"are {word} the {far:,.0f} that" in clauses(bound("mixtral-8x7b", far=far), ep=2)


def test_context_parallelism_is_for_memory_or_for_few_sequences():
    b = bound()
    whole = Strategy.of(gpus=256)
    assert f"context parallelism of 2 ({show(b.bytes(whole), 'B', 3)} without)" in clauses(b, cp=2)
    assert "context parallelism of 4 (256 replicas are too many)" in clauses(bound(sequences=64), cp=4)


@pytest.mark.parametrize(
    ("tokens", "need", "experts", "words"),
    [
        (100.0, 100.0, 100.0, "enough for the 100 that hide gradients over the leaf (and for the 100 that"),
        (100.0, 100.0, 101.0, "enough for the 100 that hide gradients over the leaf (but not for the 101 that"),
        (100.0, 101.0, 100.0, "fewer than the 101 that hide gradients over the leaf (but enough for the 100 that"),
        (100.0, 101.0, 102.0, "fewer than the 101 that hide gradients over the leaf (and than the 102 that"),
    ],
)
def test_the_tokens_of_a_gpu_beside_those_it_needs(tokens, need, experts, words):
    b = bound("mixtral-8x7b", tokens=tokens, need=need, need_experts=experts, level="leaf")
    assert words in guide._against(b, Strategy.of(gpus=256))
    dense = bound(tokens=tokens, need=need, need_experts=experts, level="leaf")
    assert guide._against(dense, Strategy.of(gpus=256)) == ", " + words.partition(" (")[0]


@pytest.mark.parametrize(
    ("sequences", "says"),
    [(1, ", and 1 sequence is fewer than the GPUs"), (7, ", and 7 sequences are fewer than the GPUs"), (8, "")],
)
def test_few_sequences_are_told(sequences, says):
    text = guide._against(bound(cluster="dgx-h100", sequences=sequences), Strategy.of(gpus=8))
    assert text.endswith(says)
    assert ("sequence" in text) == bool(says)
    assert guide._against(bound(cluster="dgx-h100", gpus=1, sequences=1), Strategy.of(gpus=1)) == ""
    assert "that hide" in guide._against(bound(cluster="dgx-h100", gpus=2), Strategy.of(gpus=2))


def test_what_does_not_fit_is_told_how_many_gpus_its_states_fill():
    """Eighteen bytes of a parameter, over what a GPU may hold."""
    fill = ceil(18 * parameter_count(models["llama3-405b"]) / 50e9)
    with pytest.raises(PlanError, match=rf"fill {fill}$"):
        decide("llama3-405b", "dgx-h100", B=2**20, memory=50e9)
    with pytest.raises(PlanError, match=r"fill 1$"):
        decide(models["llama3-8b"].replace(layers=1), "dgx-h100", B=2**20, T=2**20, gpus=1)


def test_experts_are_spread_over_a_node_or_wider_where_they_are_wide():
    """DeepSeek-V3's 256 experts."""
    narrow, wide = (bound("deepseek-v3", far=far) for far in (2049.0, 2048.0))
    assert {mesh.ep for mesh in guide._meshes(narrow, False) if mesh.dp == 256} == {8}
    assert {mesh.ep for mesh in guide._meshes(wide, False) if mesh.dp == 256} == {256}
