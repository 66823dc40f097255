"""The planner's space and search: every plan that can be and no other, the quickest first, and what cannot be, said."""

import pickle
import re
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise, product
from math import inf, prod

import numpy as np
import pytest

from hwlib.footprint import footprint
from hwlib.planner import Allowed, PlanError, SoftwareSettings, machine_of, plan
from hwlib.planner.allowed import MODULAR, WHOLE, axes_of, usual_tp
from hwlib.planner.rejections import smallest
from hwlib.planner.search import NO_ROOM, search
from hwlib.planner.space import space
from hwlib.planner.task import first_levels, task_of
from hwlib.specs import Level, Model, Stack, clusters, features, models, nodes
from hwlib.steptime import step_time
from hwlib.strategy import MESH, StrategyError
from hwlib.units import GB, GiB

IDEAL = Stack.ideal("h100-sxm")
SMALL = Model.small(layers=6, width=512, heads=12, kv_heads=4, ffn=1536, head_dim=64, context=8192)
EXPERTS = SMALL.replace(experts=4, experts_per_token=2, expert_ffn=1024)


def task(model="llama3-8b", cluster="dgx-h100", B=2**18, T=8192, gpus=None):
    return task_of(model, cluster, B=B, T=T, gpus=gpus, software=SoftwareSettings(stack=IDEAL))


def fills(node, size, inner):
    """Whether groups of `size`, each member of which stands for `inner` ranks, split no node unevenly."""
    inside, whole = min(inner, node), min(inner * size, node)
    return whole % inside == 0 and node % whole == 0 and (inner <= node or inner % node == 0)


def can_share(model, one, chips, node):
    """The rules of HSDP: None divides the states among all ranks."""
    tp, ep, n = one["tp"], one["ep"], one["shards"]
    if not n:
        return True
    ranks = chips // (tp * one["pp"])
    if not one["zero"] or tp * n not in (node, chips) or n >= ranks or ranks % n or max(ep, n) % min(ep, n):
        return False
    etp = one["etp"] or tp
    each = max(n * tp // (etp * ep), 1)
    groups = [(n, tp), (ranks // n, tp * n), (each, etp * ep), (ranks * tp // (etp * ep) // each, etp * ep * each)]
    return all(fills(node, *group) for group in groups[: 4 if model.moe else 2])


def can_be(model, one, chips, node, sequences, T):
    """The rules, plan by plan, as a person would check them."""
    tp, pp, cp, ep, micro = (one[name] for name in ("tp", "pp", "cp", "ep", "micro"))
    v, schedule, zero, etp = one["v"], one["schedule"], one["zero"], one["etp"] or tp
    if model.heads % tp or (model.kv_heads % tp and tp % model.kv_heads):
        return False
    if model.ffn % tp or (model.moe and model.expert_ffn % etp) or pp > model.layers or chips % (tp * pp * cp):
        return False
    if tp % etp:
        return False
    if cp > 1 and T % (2 * cp):
        return False
    dp = chips // (tp * pp * cp)
    if sequences % (dp * micro) or model.experts % ep or dp * cp * tp % (etp * ep):
        return False
    if etp == tp and dp * cp % ep:
        return False
    shared = dp * cp * tp // (etp * ep)
    groups = ((tp, 1), (cp, tp), (dp * cp, tp), (ep, etp), (shared, etp * ep), (pp, dp * cp * tp))
    if not all(fills(node, *group) for group in groups):
        return False
    m = sequences // (dp * micro)
    if pp == 1:
        return (schedule, v) == ("1f1b", 1) and not (zero and dp * cp == 1)
    if zero and dp * cp == 1:
        return False
    if schedule == "1f1b":
        chunks, most = pp * v, model.layers + (2 if v > 1 else 0)  # those of the two ends may be without a layer
        even = v == 1 or (-model.layers % chunks < max(pp, 3) and m % pp == 0)
        return chunks <= most and even
    return v == 1 and m >= pp


@pytest.mark.parametrize(
    ("model", "chips", "sequences", "etp"),
    [(SMALL, 8, 16, None), (SMALL, 16, 48, None), (SMALL, 24, 24, None), (SMALL, 4, 6, None), (EXPERTS, 16, 32, None),
     (EXPERTS, 8, 12, None), (EXPERTS, 16, 32, (1, 2, 8)), (EXPERTS, 8, 12, 1)],
)  # fmt: skip
def test_the_space_is_every_plan_that_can_be_and_no_other(model, chips, sequences, etp):
    T = 8192
    asked = task(model, "superpod-h100-1su", B=sequences * T, T=T, gpus=chips)
    axes = axes_of(asked, Allowed(etp=etp))
    found = space(asked, axes)
    listed = [found.strategy[i] for i in range(found.size)]
    words = [(p.tp, p.pp, p.cp, p.ep, p.micro, p.v, p.schedule, p.zero, p.recompute, p.shards, p.etp) for p in listed]
    assert len(set(words)) == len(words)
    expected = set()
    node = min(8, chips)
    for tp, pp, cp, ep, micro, (schedule, v), zero, recompute, _, n, etp in product(*axes.sides):
        one = {"tp": tp, "pp": pp, "cp": cp, "ep": ep, "micro": micro, "v": v, "schedule": schedule, "zero": zero}
        one["etp"] = etp
        if etp == WHOLE and tp in axes.narrow:
            continue
        if can_be(model, one, chips, node, sequences, T) and can_share(model, one | {"shards": n}, chips, node):
            expected.add(
                (tp, pp, cp, ep, micro, v, schedule, zero, recompute, n or None, None if etp in (0, tp) else etp)
            )
    assert set(words) == expected
    for p, m in zip(listed, found.m, strict=True):
        assert p.dp * p.tp * p.pp * p.cp == chips
        assert m * p.micro * p.dp == sequences


@pytest.mark.parametrize(
    "given",
    [{}, {"tp": (2, 4)}, {"pp": 2}, {"schedule": ("gpipe", "1f1b", "zb_h1", "zbv", "dualpipe")}, {"sp": (True, False)},
     {"v": 2}, {"zero": (0, 1, 2, 3), "micro": 1}, {"recompute": ("none", "selective", "full"), "cp": (1, 2)}],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("model", ["llama3-8b", "mixtral-8x7b"])
def test_what_is_refused_and_what_is_left_add_up(model, given):
    asked = task(model, "superpod-h100-1su", B=2**21)
    axes = axes_of(asked, Allowed(**given))
    found = space(asked, axes)
    assert found.considered == prod(map(len, axes.sides))
    assert sum(found.rejected.values()) + found.size == found.considered
    every = search(asked, Allowed(**given))
    assert sum(every.rejected.values()) + every.timed == every.considered


def test_the_best_is_the_best_of_all_taken_one_by_one():
    asked = task(B=2**19)
    every = search(asked, Allowed())
    best, quickest = None, inf
    for i in range(0, every.costed.memory.size):
        one = every.costed.strategy[i]
        total = float(footprint(asked, one, m=every.costed.m[i]).total)
        assert total == pytest.approx(every.costed.memory[i], rel=1e-12)
        if total <= asked.memory:
            seconds = float(step_time(asked, one).total)
            assert seconds == pytest.approx(every.costed.seconds[i], rel=1e-12)
            if seconds < quickest * (1 - 1e-9):
                best, quickest = one, seconds
        else:
            assert np.isnan(every.costed.seconds[i])
    found = plan("llama3-8b", "dgx-h100", B=2**19, T=8192, stack=IDEAL)
    assert found[0].seconds == pytest.approx(quickest, rel=1e-9)
    assert best is not None


def test_a_plan_costs_what_the_library_says_it_does():
    found = plan("llama3-70b", "superpod-h100-1su", B=2**22, stack=IDEAL, price=2 / 3600)
    one, model = found[0], models["llama3-70b"]
    assert found.task.memory == 80 * GiB
    levels = clusters["superpod-h100-1su"].levels
    time = step_time(model, IDEAL, levels, one.strategy, B=2**22, T=8192)
    assert one.seconds == float(time.total)
    assert one.mfu == pytest.approx(float(time.mfu("llama3-70b", 2**22, 8192, 256, 989.5e12)), rel=2e-3)
    assert one.token_rate == pytest.approx(2**22 / one.seconds)
    assert one.cost == pytest.approx(256 * one.seconds * 2 / 3600)
    held = footprint(model, one.strategy, T=8192, m=one.m)
    assert one.memory.total == held.total <= found.task.memory


def test_plans_can_be_kept():
    found = plan("llama3-8b", "dgx-h100", B=2**19, stack=IDEAL, price=1.0)
    sent = pickle.loads(pickle.dumps(found))
    assert (list(sent), sent.table()) == (list(found), found.table())


def test_plans_come_quickest_first_one_of_each_mesh():
    found = plan("llama3-70b", "superpod-h100-1su", B=2**22, stack=IDEAL, count=12)
    assert len(found) == 12
    assert all(a.seconds <= b.seconds * (1 + 1e-8) for a, b in pairwise(found))
    meshes = [tuple(getattr(one.strategy, name) for name in MESH) for one in found]
    assert len(set(meshes)) == len(meshes)
    assert list(found) == list(found[:12])
    assert found[1:3] == (found[1], found[2])
    for one in found:
        assert one.gpus == 256


@pytest.mark.parametrize(
    ("given", "holds"),
    [
        ({"tp": 4}, lambda p: p.tp == 4),
        ({"pp": (2, 4)}, lambda p: p.pp in (2, 4)),
        ({"zero": 3}, lambda p: p.zero == 3),
        ({"schedule": "zbv", "pp": 4}, lambda p: p.schedule == "zbv"),
        ({"micro": 2}, lambda p: p.micro == 2),
        ({"recompute": "full"}, lambda p: p.recompute == "full"),
        ({"cp": 2}, lambda p: p.cp == 2),
        ({"v": 4}, lambda p: p.v == 4 and p.pp > 1),
        ({"sp": False, "tp": 2}, lambda p: not p.sp),
    ],
    ids=lambda x: str(x) if isinstance(x, dict) else "",
)
def test_what_is_given_is_kept(given, holds):
    found = plan("llama3-8b", "superpod-h100-1su", B=2**22, stack=IDEAL, **given)
    assert all(holds(one.strategy) for one in found)


def test_copies_that_travel_once_make_experts_nearer():
    apart, merged = (
        plan(
            "deepseek-v3", "superpod-h100-8su", B=15360 * 4096, T=4096, stack=IDEAL, ep=32, tp=1, dedup_dispatch=merge
        )[0]
        for merge in (False, True)
    )
    assert merged.time.ep < apart.time.ep
    assert merged.seconds < apart.seconds


def test_copies_that_travel_once_have_plans_of_every_degree():
    every = {"B": 2**22, "stack": IDEAL, "dedup_dispatch": True}
    found = plan("mixtral-8x7b", "superpod-h100-1su", **every)
    assert {1, 2, 8} <= set(found.costed.strategy.ep)
    one = plan("mixtral-8x7b", "superpod-h100-1su", ep=8, tp=1, pp=1, micro=1, **every)[0]
    costed = found.costed
    alike = np.logical_and.reduce(
        [getattr(costed.strategy, name) == getattr(one.strategy, name) for name in (*MESH, "micro", "zero")]
    )
    assert one.seconds in costed.seconds[alike]


def test_experts_are_not_cut_narrower_than_was_ever_timed_unless_it_is_asked_for():
    assert usual_tp(models["deepseek-v3"], 8) == (1, 2)  # experts 2,048 wide
    assert usual_tp(models["mixtral-8x7b"], 8) == usual_tp(models["llama3-8b"], 8) == (1, 2, 4, 8)
    assert usual_tp(models["qwen3-30b-a3b"].replace(expert_ffn=512), 8) == (1,)
    ask = {"B": 2**24, "stack": IDEAL}
    columns = plan("deepseek-v3", "superpod-h100-4su", **ask).costed.strategy
    assert (set(columns.etp), set(columns.tp)) == ({1, 2}, {1, 2, 4})
    assert plan("deepseek-v3", "superpod-h100-4su", tp=8, **ask)[0].strategy.tp == 8
    unfolded = replace(features["megatron-core"], folded=False, piped_zero=(0, 1, 2, 3))
    tight = plan("deepseek-v3", "superpod-h100-4su", memory=14 * GB, features=unfolded, **ask)  # nothing else fits
    assert {one.strategy.expert_tp for one in tight} <= {4, 8}


def test_less_memory_never_makes_a_step_quicker():
    seconds = [
        plan("llama3-70b", "superpod-h100-1su", B=2**22, stack=IDEAL, memory=x * GB)[0].seconds
        for x in (76, 60, 45, 30)
    ]
    assert seconds == sorted(seconds)


def test_a_long_sequence_needs_context_parallelism():
    found = plan("llama3-8b", "superpod-h100-1su", B=4 * 2**20, T=2**20, stack=IDEAL)
    assert all(one.strategy.cp > 1 for one in found)


# Machines


@pytest.mark.parametrize(
    ("chips", "sizes"),
    [(1, [1]), (4, [4]), (8, [8]), (24, [8, 3]), (256, [8, 32]), (1024, [8, 32, 4]), (12288, [8, 32, 4, 12])],
)
def test_the_first_chips_of_a_cluster(chips, sizes):
    found = machine_of("h100-superpod-16k", chips)
    assert [level.size for level in found.levels] == sizes
    assert found.gpus == chips
    for ours, whole in zip(found.levels, clusters["h100-superpod-16k"].levels, strict=False):
        assert ours.bandwidth == whole.bandwidth


def test_nodes_that_fill_no_groups_keep_the_narrowest_of_them():
    tree = clusters["ethernet-oversubscribed"].levels
    node, network = first_levels(tree, 8 * 1000)
    assert (node.size, network.size) == (8, 1000)
    assert network.bandwidth == pytest.approx(400 * GB / 7)  # above the pods
    node, network = first_levels(tree, 8 * 15)
    assert network == Level("network", 15, 400 * GB)


def test_nodes_may_be_used_in_part():
    node, leaf = machine_of("nvl72-pod", 512).levels
    assert (node.size, leaf.size, leaf.bandwidth) == (64, 8, 3600 * GB)
    assert [level.size for level in machine_of("superpod-h100-1su", 12).levels] == [6, 2]
    ask = {"B": 8192 * 4096, "T": 4096, "stack": Stack.ideal("gb200-nvl72")}
    with pytest.raises(PlanError) as error:
        plan("deepseek-v3", "nvl72-pod", **ask)
    assert error.value.field == "gpus"
    assert re.findall(r"\d+", error.value.problem)[:3] == ["72", "64", "512"]
    assert plan("deepseek-v3", "nvl72-pod", gpus=512, **ask).fitting


def test_a_node_is_a_cluster_too():
    assert machine_of(nodes["dgx-h100"]).levels == (Level("node", 8, 450 * GB),)
    assert machine_of("DGX H100") == machine_of("dgx-h100")
    assert machine_of("gb200-nvl72").gpus == 72


# What cannot be


@pytest.mark.parametrize(
    ("asked", "field", "says"),
    [
        ({"model": "llama4-405b"}, "model", "llama3-405b"),
        ({"model": 3}, "model", "3"),
        ({"cluster": "superpod-16k"}, "cluster", "h100-superpod-16k"),
        ({"B": 10**6}, "batch", "999,424 tokens (122 sequences)"),
        ({"B": 1000, "T": 8192}, "batch", "8,192 tokens (1 sequence)"),
        ({"B": 0}, "batch", "0"),
        ({"B": 2**70}, "batch", "1180591620717411303424"),
        ({"B": "many"}, "batch", "'many'"),
        ({"B": float("nan")}, "batch", "nan"),
        ({"T": -1}, "sequence", "-1"),
        ({"model": "gpt3-175b", "T": 4096}, "sequence", "2,048"),
        ({"tp": 3}, "tp", "1, 2, 4, 8, 16, 32"),
        ({"pp": 33}, "pp", "32"),
        ({"pp": 3}, "pp", "256"),
        ({"pp": 2, "v": 18}, "v", "32"),
        ({"v": 5}, "v", "32"),
        ({"v": 2, "pp": 1}, "v", "pp is 1"),
        ({"v": 2, "schedule": "zb_h1"}, "v", "1f1b"),
        ({"ep": 2}, "ep", "dense"),
        ({"ep": 3, "model": "mixtral-8x7b"}, "ep", "8"),
        ({"cp": 3}, "cp", "8,192"),
        ({"pp": 32, "tp": 16}, "tp*pp", "512"),
        ({"pp": 5, "tp": 8, "cp": 1}, "pp", "256"),
        ({"micro": 3}, "micro", "512"),
        ({"dtype": "fp4"}, "dtype", "fp4"),
        ({"dtype": "bf17"}, "dtype", "'bf17'"),
        ({"dtype": "int8"}, "dtype", "int8"),
        ({"stack": "megatron"}, "stack", "'megatron'"),
        ({"stack": 3}, "stack", "3"),
        ({"stack": Stack.ideal("a100-80gb-sxm")}, "stack", "A100"),
        ({"memory": 0}, "memory", "0"),
        ({"memory": 200 * GB}, "memory", "85.9 GB"),
        ({"price": -1.0}, "price", "-1.0"),
        ({"price": inf}, "price", "inf"),
        ({"price": "2"}, "price", "'2'"),
        ({"expert_imbalance": "even"}, "expert_imbalance", "'even'"),
        ({"expert_imbalance": inf}, "expert_imbalance", "inf"),
        ({"expert_imbalance": 0.5}, "expert_imbalance", "0.5"),
        ({"dedup_dispatch": "x"}, "dedup_dispatch", "'x'"),
        ({"fused": 2}, "fused", "2"),
        ({"gpus": 0}, "gpus", "256"),
        ({"gpus": 512}, "gpus", "256"),
        ({"gpus": 100}, "gpus", "96 or 104"),
        ({"count": 2.5}, "count", "2.5"),
        ({"count": 0}, "count", "0"),
        ({"count": inf}, "count", "inf"),
    ],
)
def test_bad_input_is_named(asked, field, says):
    usual = {"model": "llama3-8b", "cluster": "superpod-h100-1su", "B": 2**22, "stack": IDEAL}
    with pytest.raises(PlanError) as caught:
        plan(**{**usual, **asked})
    assert caught.value.field == field
    assert says in caught.value.problem
    assert str(pickle.loads(pickle.dumps(caught.value))) == f"{field}: {caught.value.problem}"


@pytest.mark.parametrize(
    "allowed",
    [{"tp": 0}, {"tp": 2.5}, {"tp": "4"}, {"tp": (2, None)}, {"zero": 4}, {"schedule": "1f1c"}, {"recompute": "some"},
     {"micro": ()}, {"micro": 1.5}, {"sp": "x"}, {"sp": (True, None)}],
    ids=str,
)  # fmt: skip
def test_a_value_that_no_strategy_can_have_is_named(allowed):
    with pytest.raises(StrategyError) as caught:
        Allowed(**allowed)
    assert caught.value.field == next(iter(allowed))


def test_what_is_allowed_is_kept_sorted_and_once():
    allowed = Allowed(tp=(4, 2, 4), sp=(True, False), schedule="zbv", zero=3)
    assert allowed.given == {"tp": (2, 4), "sp": (True, False), "schedule": ("zbv",), "zero": (3,)}
    assert Allowed(**allowed.given) == allowed


def test_a_batch_that_no_plan_divides_is_told_the_next_one():
    with pytest.raises(PlanError) as error:
        plan("llama3-8b", "superpod-h100-1su", B=7 * 8192, tp=1, pp=1, cp=1, stack=IDEAL)
    assert error.value.field == "batch"
    assert {"7", "256", "2,097,152"} <= {*re.findall(r"\d[\d,]*", error.value.problem)}
    assert plan("llama3-8b", "superpod-h100-1su", B=256 * 8192, tp=1, pp=1, cp=1, stack=IDEAL)[0].strategy.dp == 256
    with pytest.raises(PlanError, match=r"\b72\b") as error:
        plan("qwen3-235b-a22b", "nvl72-pod", B=8192, T=8192, pp=3)
    assert error.value.field == "gpus"  # whatever the batch
    with pytest.raises(PlanError) as error:
        plan("llama3-8b", "h100-superpod-16k", B=3 * 8192, T=8192)
    least = int(re.search(r"\b(\d+); \1 \(", error.value.problem)[1])
    assert plan("llama3-8b", "h100-superpod-16k", B=least * 8192, T=8192).fitting


@pytest.mark.parametrize(("model", "chips"), [("llama3-405b", 16), ("deepseek-v3", 64)])
def test_a_model_that_fits_nowhere_is_told_the_smallest_cluster_that_holds_it(model, chips):
    ask = {"B": 2**23, "T": 4096, "stack": IDEAL}
    with pytest.raises(PlanError) as error:
        plan(model, "superpod-h100-4su", gpus=chips, **ask)
    assert error.value.field == "memory"
    assert " 85.9 GB. " in error.value.problem
    asked, n = (int(n.replace(",", "")) for n in re.findall(r"([\d,]+) x H100 SXM5", error.value.problem))
    assert asked == chips
    assert plan(model, "superpod-h100-4su", gpus=n, **ask).fitting
    with suppress(PlanError):  # on fewer a plan may fit at most
        assert not plan(model, "superpod-h100-4su", gpus=n - 8, **ask).fitting


def test_within_a_node_the_smallest_cluster_is_part_of_it():
    asked = task("llama3-8b", "dgx-h100", B=2**18, gpus=1)
    n, one, need = smallest(asked, Allowed())
    assert n in (2, 4)
    assert one.gpus == n
    assert need <= asked.memory


def test_a_node_of_72_is_taken_in_parts():
    asked = task_of(
        "llama3-405b", "gb200-nvl72", B=2**20, gpus=8, software=SoftwareSettings(Stack.ideal("gb200-nvl72"))
    )
    n, _, need = smallest(asked, Allowed())
    assert n == 64
    assert need <= asked.memory


def test_what_no_cluster_holds_is_said():
    with pytest.raises(PlanError, match=r"\b131,072\b"):
        plan("llama3-8b", "dgx-h100", B=2**23, T=2**20, tp=1, pp=1, cp=1, zero=0, stack=IDEAL)


def test_reasons_are_counted():
    found = plan("llama3-8b", "dgx-h100", B=2**19, stack=IDEAL)
    assert found.rejected[NO_ROOM] > 0
    assert all(count > 0 for count in found.rejected.values())


@pytest.mark.parametrize(
    ("model", "software", "ways"),
    [
        ("deepseek-v3", {}, ("none", "full", *MODULAR["latent"])),
        ("mixtral-8x7b", {}, ("none", "full", *MODULAR["experts"])),
        ("mixtral-8x7b", {"fused": False}, ("none", "selective", "full", *MODULAR["experts"])),
        ("mixtral-8x7b", {"stack": "torchtitan-h100"}, ("none", "full")),
        ("mixtral-8x7b", {"features": "any"}, ("none", "full")),
        ("llama3-8b", {}, ("none", "full")),
    ],
)
def test_modules_of_experts_are_recomputed_where_the_software_can(model, software, ways):
    task = task_of(model, "8xdgx-h100", B=2**20, T=4096, software=SoftwareSettings(**software))
    assert axes_of(task, Allowed()).recompute == ways
    assert axes_of(task, Allowed(recompute="full")).recompute == ("full",)
