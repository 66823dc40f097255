"""Constraints: each rule on both sides of its edge, one body for numbers and columns, and who filters by it."""

import re
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hwlib import constraints
from hwlib.constraints import RULES_WITHIN, Setting, broken, candidates, in_levels, lacking, plan_rules, refusal
from hwlib.planner import Allowed, PlanError, SoftwareSettings, decide, plan
from hwlib.planner.allowed import Axes
from hwlib.planner.checked import checked_axes
from hwlib.planner.guide import rule_of_thumb
from hwlib.planner.space import space
from hwlib.planner.task import machine_of, task_of
from hwlib.serving_planner import plan_serving
from hwlib.serving_planner.layouts import Layout, broken_rule, layouts
from hwlib.serving_planner.question import question_of
from hwlib.specs import Features, Level, features, models
from hwlib.specs.state_mixer import StateMixer
from hwlib.strategy import RECOMPUTE, SCHEDULES, Strategy

LLAMA = models["llama3-8b"]
PHI = LLAMA.replace(key="phi", name="Phi", heads=40, kv_heads=10, width=5120, layers=40, ffn=17920, vocab=32064)
NARROW = LLAMA.replace(key="narrow", name="Narrow", heads=96, kv_heads=12, width=12288, ffn=28672)
STATEFUL = LLAMA.replace(pattern="SA" * 16, mixer=StateMixer("gated-delta", 4, 2, 64, 64, conv=4))
MIXTRAL = models["mixtral-8x7b"]
EVEN = (Level("node", 8, 450e9), Level("network", 8, 400e9))
WITHOUT = Features(
    key="x",
    name="X",
    source="s",
    degrees=(),
    schedules=("1f1b",),
    recompute=(),
    most_chunks=2,
    zero=(0, 1),
    piped_zero=(0,),
)


def setting(model=LLAMA, gpus=64, T=8192, sequences=64, **more):
    return Setting(model, gpus, T, sequences, **more)


def one(**degrees):
    """A strategy of 64 GPUs with more sequences than they need, but for what is asked."""
    return Strategy.of(**{"gpus": 64, **degrees})


EDGES = [
    # what obeys the rule, and the nearest that does not
    (constraints.ETP_DIVIDES_TP, setting(MIXTRAL), one(tp=4, etp=2), one(tp=4, etp=3)),
    (constraints.HEADS, setting(LLAMA.replace(heads=24, kv_heads=8)), one(tp=8), one(tp=16)),
    (constraints.KV_HEADS, setting(PHI), one(tp=2), one(tp=8)),
    (constraints.KV_HEADS, setting(PHI, gpus=40), one(gpus=40, tp=20), one(gpus=40, tp=4)),
    (constraints.KV_HEADS, setting(NARROW), one(tp=4), one(tp=8)),
    (constraints.STATE_HEADS, setting(STATEFUL), one(tp=4), one(tp=8)),
    (constraints.MLP_WIDTH, setting(LLAMA.replace(ffn=14340)), one(tp=4), one(tp=8)),
    (constraints.EXPERT_WIDTH, setting(MIXTRAL.replace(expert_ffn=1404)), one(tp=4), one(tp=8)),
    (constraints.EXPERT_WIDTH, setting(MIXTRAL.replace(expert_ffn=1404)), one(tp=8, etp=4), one(tp=8, etp=8)),
    (constraints.STAGES_OF_LAYERS, setting(gpus=33), one(gpus=32, pp=32), one(gpus=33, pp=33)),
    (constraints.SEQUENCE_PIECES, setting(T=32), one(cp=16), one(cp=32)),
    (constraints.SEQUENCE_PIECES, setting(T=33), one(cp=1), one(cp=2)),
    (constraints.EXPERTS, setting(MIXTRAL), one(ep=8), one(ep=16)),
    (constraints.EXPERTS, setting(LLAMA), one(), one(ep=2)),
    (constraints.EXPERT_DEGREE, setting(LLAMA), one(tp=2), one(tp=2, etp=2)),
    (constraints.GPUS, setting(), one(tp=8, pp=4), one(gpus=96, tp=8, pp=12)),
    (constraints.BATCH, setting(sequences=32), one(tp=2), one()),
    (constraints.EXPERT_RANKS, setting(MIXTRAL), one(ep=8, tp=8), one(ep=8, tp=16)),
    (constraints.EXPERT_RANKS, setting(MIXTRAL), one(ep=8, tp=16, etp=8), one(ep=8, tp=16, etp=16)),
    (constraints.WHOLE_NODES, setting(levels=EVEN), one(tp=8), one(gpus=48, tp=6)),
    (constraints.WHOLE_NODES, setting(MIXTRAL, levels=EVEN), one(tp=2, ep=4), one(gpus=60, tp=2, ep=5)),
    (constraints.MICROBATCH, setting(sequences=128), one(micro=2), one(micro=4)),
    (constraints.CHUNKS_NEED_A_PIPELINE, setting(), one(pp=2, v=2), one(v=2)),
    (constraints.CHUNKS_NEED_A_PIPELINE, setting(), one(schedule="zbv", v=2), one(schedule="1f1b", v=2)),
    (constraints.CHUNKS_OF_LAYERS, setting(LLAMA.replace(layers=30)), one(pp=8, v=4), one(pp=8, v=5)),
    (constraints.CHUNKS_OF_LAYERS, setting(LLAMA.replace(layers=15)), one(pp=8, v=2), one(pp=8, v=2, schedule="zbv")),
    (constraints.EVEN_CHUNKS, setting(LLAMA.replace(layers=61)), one(pp=2, v=8), one(pp=2, v=16)),
    (constraints.INTERLEAVED_ROUNDS, setting(), one(pp=4, v=2), one(pp=8, v=2, micro=2)),
    (constraints.ZB_H1_FILLED, setting(), one(pp=8, schedule="zb_h1"), one(pp=8, micro=2, schedule="zb_h1")),
    (constraints.ZB_H1_FILLED, setting(sequences=56), one(gpus=56, pp=8, schedule="zb_h1"),
     one(pp=8, schedule="zb_h1")),  # 8 microbatches, 7
    (constraints.ZBV_FILLED, setting(sequences=112), one(pp=4, schedule="zbv"), one(pp=8, micro=2, schedule="zbv")),
    (constraints.ZBV_FILLED, setting(sequences=112), one(pp=4, schedule="zbv"), one(pp=8, schedule="zbv")),  # 7, 14
    (constraints.DUALPIPE_FILLED, setting(sequences=128), one(pp=8, schedule="dualpipe"),
     one(pp=8, micro=2, schedule="dualpipe")),
    (constraints.DUALPIPE_FILLED, setting(sequences=112), one(gpus=56, pp=8, schedule="dualpipe"),
     one(pp=8, schedule="dualpipe")),  # 16 microbatches, 14
    (constraints.DUALPIPE_FILLED, setting(sequences=272), one(pp=8, schedule="dualpipe"),
     one(gpus=128, pp=8, schedule="dualpipe")),  # 34 microbatches, 17
    (constraints.DUALPIPE_FILLED, setting(sequences=112), one(gpus=56, pp=8, schedule="dualpipe"),
     one(gpus=56, pp=7, schedule="dualpipe")),  # an odd number of stages
    (constraints.SHARDS_NEED_ZERO, setting(), one(zero=1, shards=8), one(zero=0, shards=8)),
    (constraints.SHARDS_DIVIDE, setting(), one(zero=1, shards=32), one(zero=1, shards=48)),
    (constraints.SHARDS_OF_EXPERTS, setting(MIXTRAL), one(zero=1, ep=8, shards=4), one(zero=1, ep=8, shards=12)),
    (constraints.SHARDS_IN_NODES, setting(levels=EVEN), one(zero=1, shards=8), one(gpus=48, zero=1, shards=6)),
    (constraints.REPLICA_NODES, setting(levels=EVEN), one(gpus=16, tp=16), one(gpus=12, tp=12)),
    (constraints.REPLICA_NODES, setting(levels=EVEN), one(gpus=6, tp=6), one(gpus=9, tp=9)),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "place", "obeys", "breaks"), EDGES)
def test_a_rule_holds_up_to_its_edge_and_says_why_beyond(rule, place, obeys, breaks):
    assert rule.holds(place, obeys)
    assert not rule.holds(place, breaks)
    sentence = rule.sentence(place, breaks)
    assert any(letter.isdigit() for letter in sentence)
    assert sentence[0] == sentence[0].strip()


LACKING = [
    ("tp", {"tp": 2, "sp": False}, {}),
    ("pp", {"pp": 2}, {}),
    ("cp", {"cp": 2}, {}),
    ("ep", {"ep": 2}, {}),
    ("tp", {"tp": 2, "sp": True}, {}),
    ("etp", {"tp": 2, "sp": False, "etp": 1}, {"tp": 2, "sp": False, "etp": 2}),
    ("schedule", {"pp": 2, "schedule": "zb_h1"}, {"schedule": "zb_h1"}),
    ("v", {"pp": 2, "v": 3}, {"pp": 2, "v": 2}),
    ("zero", {"zero": 2}, {"zero": 1}),
    ("zero", {"zero": 1, "pp": 2}, {"zero": 1}),
    ("recompute", {"recompute": "full"}, {"recompute": "none"}),
    ("shards", {"zero": 1, "shards": 8}, {"zero": 1, "shards": 64}),
]


@pytest.mark.parametrize(("option", "needs", "without"), LACKING)
def test_what_a_software_lacks_is_the_rule_of_its_option(option, needs, without):
    rules = [rule for rule in constraints.software_rules(WITHOUT) if rule.option == option]
    assert not all(rule.holds(setting(), one(**needs)) for rule in rules)
    assert all(rule.holds(setting(), one(**without)) for rule in rules)
    assert any(line.startswith("X has no ") for line in lacking(WITHOUT, one(**needs)))


def test_a_software_with_everything_has_no_rules():
    assert constraints.software_rules(None) == ()
    assert lacking(features["megatron-core"], one(tp=8, zero=1)) == ()


def test_a_refusal_names_what_would_do_with_everything_else():
    why = refusal(setting(PHI), one(tp=8))
    assert why.rule is constraints.KV_HEADS
    assert why.would == (1, 2)
    assert "8 divides the 40 heads of Phi" in str(why)
    assert "10 key-value heads" in str(why)
    assert refusal(setting(PHI), one(tp=2)) is None
    for value in why.would:
        assert refusal(setting(PHI), one(tp=value)) is None


@pytest.mark.parametrize(
    ("values", "near", "said"),
    [((), 1, ""), ((4,), 1, "; 4 would"), (range(1, 30), 20, "; 16, 17, 18, 19, 20, 21, 22, 23 would")],
)
def test_of_many_values_those_near_the_refused_one_are_named(values, near, said):
    assert constraints.would_words(tuple(values), near=near) == said


def test_groups_divide_every_level_that_they_cross():
    assert in_levels(EVEN, [(8, 1), (8, 8)])
    assert not in_levels(EVEN, [(6, 1)])
    assert not in_levels(EVEN, [(2, 3)])
    assert not in_levels(EVEN, [(3, 8)])
    assert in_levels((), [(3, 7)])


MESHES = st.sampled_from([1, 2, 3, 4, 5, 6, 8, 10, 12, 16])
STRATEGIES = st.builds(
    Strategy,
    dp=MESHES,
    tp=MESHES,
    pp=MESHES,
    cp=MESHES,
    ep=MESHES,
    v=st.integers(1, 5),
    micro=st.integers(1, 4),
    zero=st.integers(0, 3),
    sp=st.booleans(),
    recompute=st.sampled_from(RECOMPUTE),
    schedule=st.sampled_from(SCHEDULES),
)
SHARED = st.tuples(MESHES, MESHES)


@given(
    st.lists(st.tuples(STRATEGIES, SHARED), min_size=2, max_size=8),
    st.sampled_from([LLAMA, PHI, NARROW, MIXTRAL, models["deepseek-v3"]]),
    st.booleans(),
    st.sampled_from([None, WITHOUT, features["torchtitan"]]),
)
@settings(max_examples=40, deadline=None)
def test_a_rule_says_the_same_of_a_plan_and_of_columns(drawn, model, folded, has):
    place = setting(model, gpus=960, sequences=960, levels=EVEN, features=has)
    changed = [Strategy.of(one, shards=n, etp=etp if folded else None) for one, (n, etp) in drawn]
    names = Strategy().degrees
    columns = Strategy(
        **{
            name: np.array([getattr(one, f"{name}_code", getattr(one, name)) for one in changed])
            for name in names
            if name != "recompute_layers" and (folded or name != "etp")
        }
    )
    for rule in plan_rules(place):
        together = np.broadcast_to(rule.holds(place, columns), len(changed))
        alone = [bool(rule.holds(place, one)) for one in changed]
        assert together.tolist() == alone, rule.reason


def shape(heads, kv_heads, layers, width, experts, model=LLAMA):
    """A model of this shape, dense or with experts."""
    dense = model.replace(heads=heads, kv_heads=kv_heads, layers=layers, width=heads * model.head_dim, ffn=width)
    if experts == 1:
        return dense
    return dense.replace(experts=experts, experts_per_token=2, expert_ffn=width)


SHAPES = st.builds(
    lambda kv_heads, group, layers, width, experts: shape(kv_heads * group, kv_heads, layers, 128 * width, experts),
    st.sampled_from([1, 2, 3, 4, 5, 8, 10, 12]),
    st.sampled_from([1, 3, 4, 8]),
    st.integers(2, 60),
    st.integers(8, 120),
    st.sampled_from([1, 1, 4, 6, 8, 16]),
)
CLUSTERS = st.sampled_from(
    ["dgx-h100", "2 x dgx-h100", "5 x dgx-h100", "12 x dgx-a100", "32 x dgx-h100", "6 x dgx-b200"]
)


@given(SHAPES, CLUSTERS, st.integers(1, 4096), st.sampled_from([None, "megatron-core", "torchtitan", "llm-foundry"]))
@settings(max_examples=40, deadline=None)
def test_the_rule_of_thumb_is_a_plan_that_the_search_takes(model, cluster, sequences, software):
    asked = {"B": sequences * 8192, "T": 8192, "software": SoftwareSettings(features=software)}
    try:
        chosen = decide(model, cluster, **asked).strategy
    except PlanError:
        return  # nothing fits
    degrees = {name: x for name, x in chosen.degrees.items() if name != "dp" and x is not None}
    costed = plan(model, cluster, **asked, allowed=Allowed(**degrees)).costed
    fitting = [costed.strategy[i] for i in np.flatnonzero(~np.isnan(costed.seconds))]
    assert chosen in fitting


@given(SHAPES, CLUSTERS, st.integers(1, 512), st.sampled_from(["any", "megatron-core", "torchtitan"]))
@settings(max_examples=15, deadline=None)
def test_the_search_keeps_what_obeys_every_rule_and_nothing_else(model, cluster, sequences, software):
    task = task_of(model, cluster, B=sequences * 8192, T=8192, software=SoftwareSettings(features=software))
    grid = Axes(
        tp=(1, 2, 6, 8),
        pp=(1, 2, 3),
        cp=(1, 2),
        ep=(1, 2, 4),
        micro=(1, 3),
        forms=(("1f1b", 1), ("1f1b", 2), ("zb_h1", 1)),
        zero=(0, 1, 3),
        recompute=("none", "full"),
        sp=(True,),
    )
    found = space(task, grid)
    kept = {found.strategy[i] for i in range(found.size)}
    rules = plan_rules(task.setting, RECOMPUTE)
    for candidate in kept:
        assert broken(task.setting, candidate, rules) is None
    for tp, pp, cp, ep, micro, zero in np.ndindex(4, 3, 2, 3, 2, 3):
        degrees = {
            "tp": grid.tp[tp],
            "pp": grid.pp[pp],
            "cp": grid.cp[cp],
            "ep": grid.ep[ep],
            "micro": grid.micro[micro],
        }
        ranks = degrees["tp"] * degrees["pp"] * degrees["cp"]
        stage = grid.zero[zero]
        if task.gpus % ranks or (stage and task.gpus // ranks * degrees["cp"] == 1):
            continue  # without another rank ZeRO is the same plan
        candidate = Strategy.of(gpus=task.gpus, zero=stage, **degrees)
        assert (broken(task.setting, candidate, rules) is None) == (candidate in kept)


def test_command_page_and_python_say_the_same_of_phi():
    task = task_of(PHI, "32 x dgx-h100", B=2**18)
    said = rule_of_thumb(task, Allowed())
    assert "tensor parallelism of 8" not in said
    assert decide(PHI, "32 x dgx-h100", B=2**18).strategy.tp in (1, 2)
    for model, would in ((PHI, "1, 2 would"), (NARROW, "1, 2, 4 would")):
        with pytest.raises(PlanError, match=would) as caught:
            checked_axes(task_of(model, "32 x dgx-h100", B=2**18), Allowed(tp=8))
        assert caught.value.field == "tp"
        assert "does not suit" in caught.value.problem


def test_a_rule_of_thumb_is_left_out_where_it_would_contradict():
    task = task_of(LLAMA, "dgx-h100", B=2**20)
    assert rule_of_thumb(task, Allowed(micro=1))
    assert not rule_of_thumb(task, Allowed(micro=2))
    assert not rule_of_thumb(task, Allowed(tp=1))
    assert not rule_of_thumb(replace(task, memory=1.0), Allowed())


def test_one_chunk_needs_no_pipeline_and_two_do():
    assert plan(LLAMA, "dgx-h100", B=2**20, allowed=Allowed(pp=1, v=1))[0].strategy.v == 1
    with pytest.raises(PlanError, match="need a pipeline"):
        plan(LLAMA, "dgx-h100", B=2**20, allowed=Allowed(pp=1, v=2))


def test_a_grid_of_one_plan_is_refused_by_its_rule():
    one_plan = Allowed(
        tp=8, pp=4, cp=1, ep=1, v=2, micro=2, zero=0, recompute="none", schedule="1f1b", shards=2, sp=True
    )
    with pytest.raises(PlanError, match="interleaved 1F1B needs microbatches in multiples of pp, and on 4 stages"):
        plan(LLAMA, "8 x dgx-h100", B=72 * 8192, allowed=one_plan)


@pytest.mark.parametrize("model", [PHI, NARROW, MIXTRAL, models["deepseek-v3"]])
def test_a_server_obeys_the_same_rules(model):
    question = question_of(model, "4 x dgx-h100", prompt=512, output=64)
    for layout in layouts(question):
        rule = broken_rule(question, layout)
        suits = model.heads % layout.tp == 0 and refusal(setting(model), one(tp=layout.tp)) is None
        if layout == Layout(layout.tp, 1, 1) and layout.tp <= 8:
            assert (rule is None) == suits


def test_a_server_is_refused_with_the_true_reason():
    with pytest.raises(PlanError, match=r"8 divides the 40 heads .* 10 key-value heads.*tp 1 or 2 would do"):
        plan_serving(PHI, "dgx-h100", prompt=512, output=64, fixed={"tp": (8,)})


@pytest.mark.parametrize(
    ("model", "where", "fixed"),
    [
        (PHI, "dgx-h100", {"tp": (3,)}),
        (PHI, "dgx-h100", {"tp": (8,)}),
        (MIXTRAL, "2 x dgx-h100", {"attention_dp": (16,)}),
        (MIXTRAL, "dgx-h100", {"ep": (3,), "tp": (8,)}),
        (MIXTRAL, "dgx-h100", {"ep": (3,), "tp": (5,)}),
        (PHI, "dgx-h100", {"ep": (8,), "attention_dp": (3,), "tp": (16,)}),
    ],
)
def test_every_degree_of_a_server_that_is_offered_breaks_no_rule(model, where, fixed):
    with pytest.raises(PlanError) as error:
        plan_serving(model, where, prompt=512, output=64, dtype="fp8", fixed=fixed)
    together, ways = re.search(r"; (together )?([^;]*) would do$", error.value.problem).groups()
    offered = []
    for way in ways.split(", or "):
        named = re.findall(r"([a-z-]+) (\d+(?:, \d+)*(?: or \d+)?)", way)
        assert len(named) == (len(fixed) if together else 1)
        values = {name.replace("-", "_"): [int(n) for n in re.findall(r"\d+", text)] for name, text in named}
        offered += [
            {**fixed, **dict(zip(values, ((n,) for n in one), strict=True))} for one in product(*values.values())
        ]
    for degrees in offered:
        assert set(degrees) == set(fixed)
        assert plan_serving(model, where, prompt=512, output=64, dtype="fp8", fixed=degrees, count=1)


def test_candidates_reach_the_last_value_that_could_do():
    assert max(candidates(setting(), "pp")) == LLAMA.layers
    assert list(candidates(setting(), "zero")) == [0, 1, 2, 3]
    assert list(candidates(setting(), "gpus")) == []
    assert max(candidates(setting(), "cp")) == 64
    assert machine_of("dgx-h100").gpus == 8


COUNTED = ("GPUs", "heads", "layers", "experts", "ranks", "shards", "sequences", "tokens", "stages")
SINGULAR = re.compile(rf"(?<![\d.,])1 (key-value )?({'|'.join(COUNTED)})\b")
OF_SEVERAL = (constraints.STAGES_OF_LAYERS, constraints.SHARDS_IN_NODES)  # which one stage, or one shard, obeys


def test_what_is_counted_is_singular_where_there_is_one_of_it():
    """Every sentence in a setting with one of everything, whether its rule holds there or not."""
    small = MIXTRAL.replace(key="small", name="Small", heads=1, kv_heads=1, layers=1, experts=1, experts_per_token=1)
    alone = setting(small, gpus=1, T=1, sequences=1, levels=(Level("node", 1, 1e9),))
    rules = [rule for rule in (*plan_rules(alone), *constraints.SERVER_RULES) if rule not in OF_SEVERAL]
    sentences = [rule.sentence(alone, Strategy.of(shards=1, etp=1)) for rule in rules]
    assert not [sentence for sentence in sentences if SINGULAR.search(sentence)]
    several = " ".join(rule.sentence(setting(MIXTRAL, levels=EVEN), one(shards=8, pp=2)) for rule in rules)
    assert {*COUNTED} <= {*re.findall(r"\w+", several)}
    rules = constraints.schedule_rules(replace(WITHOUT, most_chunks=1))
    assert rules[-1].reason.endswith("more than 1 chunk a rank")


@pytest.mark.parametrize(
    "asked",
    [{"B": 1}, {"B": 2**13, "gpus": 1, "allowed": Allowed(micro=2)}, {"B": 2**20, "gpus": 1, "allowed": Allowed(tp=2)}],
)
def test_what_a_refusal_counts_is_singular_where_there_is_one_of_it(asked):
    with pytest.raises(PlanError) as caught:
        plan("llama3-8b", "dgx-h100", **asked)
    assert re.search(r"\b1 (token does|sequence|GPU)\b", str(caught.value))
    assert not SINGULAR.search(str(caught.value))


@pytest.mark.parametrize(
    ("model", "degrees", "mesh", "shards"),
    [
        # (size, ranks within one member) of tp, cp, dp*cp, pp and then of experts; and of the shards and their copies
        (LLAMA, {}, [(2, 1), (2, 2), (16, 2), (3, 32)], [(4, 2), (4, 8)]),
        (MIXTRAL, {"ep": 4}, [(2, 1), (2, 2), (16, 2), (3, 32), (4, 2), (4, 8)], [(4, 2), (4, 8), (1, 8), (4, 8)]),
        (MIXTRAL, {"ep": 2}, [(2, 1), (2, 2), (16, 2), (3, 32), (2, 2), (8, 4)], [(4, 2), (4, 8), (2, 4), (4, 8)]),
        (
            MIXTRAL,
            {"ep": 2, "etp": 1},
            [(2, 1), (2, 2), (16, 2), (3, 32), (2, 1), (16, 2)],
            [(4, 2), (4, 8), (4, 2), (4, 8)],
        ),
        (MIXTRAL, {"ep": 8}, [(2, 1), (2, 2), (16, 2), (3, 32), (8, 2), (2, 16)], [(4, 2), (4, 8), (1, 16), (2, 16)]),
    ],
)
def test_groups_of_a_mesh_by_hand(model, degrees, mesh, shards):
    s = Strategy.of(dp=8, tp=2, cp=2, pp=3, zero=1, shards=4, **degrees)
    assert constraints.mesh_groups(model, s) == mesh
    assert constraints.shard_groups(model, s) == shards


@pytest.mark.parametrize(
    ("rule", "place", "breaks", "sentence"),
    [
        (constraints.EXPERT_RANKS, setting(MIXTRAL), one(ep=8, tp=16), "ep = 8 does not divide the 4 ranks of dp*cp"),
        (
            constraints.EXPERT_RANKS,
            setting(MIXTRAL),
            one(ep=8, tp=16, etp=16),
            "etp*ep = 128 does not divide the 64 ranks of dp*cp*tp",
        ),
        (constraints.GPUS, setting(), one(gpus=96, tp=8, pp=3, cp=4), "tp*cp*pp = 96 does not divide 64 GPUs"),
        (constraints.BATCH, setting(sequences=32), one(), "64 replicas do not divide the 32 sequences of the batch"),
        (constraints.MICROBATCH, setting(sequences=128), one(micro=4), "dp*micro = 256 does not divide the batch"),
        (constraints.EXPERTS, setting(), one(ep=2), "2 does not apply to Llama 3.1 8B: a dense model has no experts"),
        (constraints.EXPERTS, setting(MIXTRAL), one(ep=3), "3 does not divide the 8 experts of Mixtral 8x7B"),
        (
            constraints.ZBV_FILLED,
            setting(sequences=112),
            one(pp=8, schedule="zbv"),
            "ZB-V needs at least 2*pp - 1 microbatches, and on 8 stages a replica has 14",
        ),
        (
            constraints.REPLICA_NODES,
            setting(levels=EVEN),
            one(gpus=12, tp=12),
            "a replica of 12 GPUs neither fits in a node of 8 nor fills nodes",
        ),
        (constraints.SHARDS_DIVIDE, setting(), one(zero=1, cp=2, shards=48), "48 does not divide the 64 ranks of dp"),
    ],
)
def test_a_sentence_has_the_numbers_of_its_rule(rule, place, breaks, sentence):
    assert rule.sentence(place, breaks).startswith(sentence)


def test_latent_attention_has_no_heads_that_are_shared():
    latent = models["deepseek-v3"]
    assert latent.mla
    for tp in (1, 2, 3, 5, 128):
        assert constraints.KV_HEADS.holds(setting(latent), Strategy.of(tp=tp))


@pytest.mark.parametrize("schedule", ["zb_h1", "zbv", "dualpipe"])
def test_a_schedule_without_a_pipeline_needs_no_microbatches(schedule):
    rule = {"zb_h1": constraints.ZB_H1_FILLED, "zbv": constraints.ZBV_FILLED, "dualpipe": constraints.DUALPIPE_FILLED}
    assert rule[schedule].holds(setting(sequences=64), one(schedule=schedule))
    assert not rule[schedule].holds(setting(sequences=32), one(pp=2, schedule=schedule))


def test_states_on_all_ranks_are_no_hsdp():
    for cp, shards in ((1, 64), (2, 64), (4, 64)):
        assert constraints.SHARDS_NEED_ZERO.holds(setting(), one(cp=cp, zero=0, shards=shards))
        assert not constraints.SHARDS_NEED_ZERO.holds(setting(), one(cp=cp, zero=0, shards=shards // 2))


def test_a_replica_fills_nodes_of_the_first_level():
    uneven = setting(levels=(Level("node", 4, 1.0), Level("network", 16, 1.0)))
    assert [bool(constraints.REPLICA_NODES.holds(uneven, one(gpus=n, tp=n))) for n in (3, 4, 6, 8, 12)] == [
        True,
        True,
        False,
        True,
        True,
    ]
    assert constraints.REPLICA_NODES.holds(setting(), one(gpus=7, tp=7))


@pytest.mark.parametrize(
    ("option", "values"),
    [("tp", 32), ("pp", 32), ("cp", 64), ("ep", 1), ("etp", 32), ("micro", 96), ("v", 32), ("shards", 64), ("gpus", 0)],
)
def test_candidates_are_all_that_could_be(option, values):
    assert list(candidates(setting(sequences=96), option)) == list(range(1, values + 1))
    assert list(candidates(setting(), "zero")) == [0, 1, 2, 3]
    assert list(candidates(setting(T=16), "cp")) == list(range(1, 17))


@pytest.mark.parametrize(
    ("layers", "pp", "v", "even"),
    [
        (8, 4, 2, True),
        (7, 4, 1, True),
        (5, 4, 2, False),
        (6, 4, 2, True),
        (30, 8, 4, True),
        (29, 8, 4, False),
        (24, 8, 4, False),
        (9, 4, 2, False),
        (13, 4, 2, True),
        (12, 4, 2, True),
        (11, 4, 2, False),
    ],
)
def test_chunks_are_even_but_for_the_last_and_fewer_stages_than_all(layers, pp, v, even):
    """Of 30 layers in 32 chunks two are empty, of 29 three; of 12 in 8 chunks the last has none and two one less."""
    assert bool(constraints.even_chunks(layers, pp, v)) is even


@pytest.mark.parametrize(("v", "m", "holds"), [(1, 6, True), (2, 6, False), (2, 8, True)])
def test_only_an_interleaved_pipeline_needs_whole_rounds_of_microbatches(v, m, holds):
    setting = Setting(models["llama3-8b"], 4, 4096, m=m)
    assert (broken(setting, Strategy.of(pp=4, v=v), RULES_WITHIN) is None) == holds


@pytest.mark.parametrize(
    ("pp", "v", "holds"), [(32, 1, True), (33, 1, False), (34, 1, False), (17, 2, True), (18, 2, False)]
)
def test_only_an_interleaved_pipeline_may_have_two_chunks_without_a_layer(pp, v, holds):
    """Of 32 layers."""
    setting = Setting(models["llama3-8b"], pp, 4096, m=4 * pp)
    assert (broken(setting, Strategy.of(pp=pp, v=v), RULES_WITHIN) is None) == holds


@pytest.mark.parametrize(
    ("schedule", "pp", "v", "holds"),
    [
        ("1f1b", 32, 1, True),
        ("1f1b", 33, 1, False),  # a rule on stages alone refuses it first: here this one is asked
        ("1f1b", 17, 2, True),
        ("1f1b", 18, 2, False),
        ("zbv", 16, 2, True),
        ("zbv", 17, 2, False),
        ("gpipe", 33, 1, False),
    ],
)
def test_chunks_without_a_layer_are_an_interleaved_pipelines_alone(schedule, pp, v, holds):
    """Of 32 layers, by the rule itself: a rule for more stages than layers would hide what it does without chunks."""
    setting = Setting(models["llama3-8b"], pp, 4096, m=4 * pp)
    strategy = Strategy.of(pp=pp, v=v, schedule=schedule)
    assert bool(constraints.CHUNKS_OF_LAYERS.holds(setting, strategy)) is holds
