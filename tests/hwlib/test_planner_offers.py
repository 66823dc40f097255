"""What a refusal of a plan offers instead: every value makes a plan, with everything else as it was."""

import re
from dataclasses import replace

import numpy as np
import pytest

from hwlib.footprint import unchecked_footprint
from hwlib.planner import Allowed, PlanError, SoftwareSettings, plan
from hwlib.planner.allowed import axes_of
from hwlib.planner.checked import widened, working
from hwlib.planner.fits import FITS, MAY_NOT_FIT, fit_of
from hwlib.planner.rejections import smallest
from hwlib.planner.space import space
from hwlib.planner.task import task_of
from hwlib.specs import Model
from hwlib.strategy import StrategyError
from hwlib.units import show
from tests.each import each

DENSE = Model.small(layers=32, width=2560, heads=40, kv_heads=10, ffn=3072, vocab=32000, head_dim=64, context=8192)
EXPERTS = Model.small(
    layers=24, width=1792, heads=28, kv_heads=4, ffn=1111, vocab=32000, head_dim=64, experts=60, experts_per_token=2,
    expert_ffn=512, context=8192,
)  # fmt: skip
WIDE = DENSE.replace(width=6144, heads=96, kv_heads=12)
T = 2048


def cluster(nodes, node):
    return f"{nodes}x{node} b200, node 300 GB/s" + ", network 400 Gbit/s" * (nodes > 1)


def refused(model, where, sequences, allowed, features="any", gpus=None):
    software = SoftwareSettings(features=features)
    with pytest.raises(PlanError) as error:
        plan(model, where, B=sequences * T, T=T, gpus=gpus, allowed=Allowed(**allowed), software=software)
    return error.value


def smallest_bytes(task, allowed):
    """Bytes of the plan that needs least on these GPUs."""
    tps = allowed if "tp" in allowed.given else widened(task, allowed)
    possible = space(task, axes_of(task, tps))
    return float(np.min(unchecked_footprint(task, possible.strategy, m=possible.m).total))


def numbers(text):
    return [int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*\d|\d", text)]


@each(
    "case",
    [
        (DENSE, 3, 4, 96, {"pp": 16}),  # of the divisors of 12 GPUs 2 and 4 would split nodes of 4
        (DENSE, 8, 8, 96, {"tp": 7}),
        (EXPERTS, 8, 8, 512, {"tp": 12, "etp": 2}),
        (EXPERTS, 4, 6, 72, {"ep": 7}),
        (DENSE, 3, 4, 12, {"micro": 5}),
        (DENSE, 4, 8, 64, {"v": 5, "pp": 4}),
        (DENSE, 2, 8, 64, {"cp": 1000}),
        (EXPERTS, 4, 6, 72, {"shards": 5}),
        (DENSE, 8, 8, 64, {"shards": 1000}),
    ],
)
def test_every_value_that_is_offered_makes_a_plan(case):
    model, nodes, node, sequences, allowed = case
    error = refused(model, cluster(nodes, node), sequences, allowed)
    option = error.field
    assert option in allowed
    offered = numbers(re.search(r"; (?:\w+ )?([\d, ]+) would$", error.problem)[1].replace(", ", " "))
    assert offered
    for value in offered:
        others = Allowed(**allowed | {option: value})
        assert len(
            plan(
                model,
                cluster(nodes, node),
                B=sequences * T,
                T=T,
                allowed=others,
                software=SoftwareSettings(features="any"),
            )
        )


@each(
    "case",
    [
        (DENSE, 3, 4, 96, {"tp": 12, "pp": 5}, "tp", "tp*cp*pp does not divide the GPUs"),
        (DENSE, 16, 6, 100, {"micro": 8}, "micro", "a group splits a node unevenly"),
        (DENSE, 1, 8, 64, {"schedule": "dualpipe", "pp": 3, "v": 2}, "pp", ""),
    ],
)
def test_a_value_that_another_rule_forbids_too_is_offered_with_that_rule(case):
    model, nodes, node, sequences, allowed, field, reason = case
    error = refused(model, cluster(nodes, node), sequences, allowed)
    assert error.field == field
    assert ("but for another rule" in error.problem) == bool(reason)
    assert error.problem.endswith(reason)


@each(
    "case",
    [(8, 6, 128, {"cp": 1, "pp": 1}), (2, 6, 32, {"cp": 1, "pp": 1, "micro": (2, 4)}), (1, 6, 1, {"pp": (1, 2)})],
)
def test_every_batch_that_is_offered_makes_a_plan(case):
    nodes, node, sequences, allowed = case
    where = cluster(nodes, node)
    error = refused(DENSE, where, sequences, allowed)
    assert error.field == "batch"
    offered = re.findall(r"([\d,]+) \(([\d,]+) tokens\)", error.problem)
    assert offered
    for batch, tokens in offered:
        (count,), (B,) = numbers(batch), numbers(tokens)
        assert count * T == B
        assert len(plan(DENSE, where, B=B, T=T, allowed=Allowed(**allowed), software=SoftwareSettings(features="any")))


@each("case", [(EXPERTS, 8, 72, 512, {"tp": 4}), (WIDE, 3, 8, 500, {"tp": 12})])
def test_as_many_gpus_of_uneven_nodes_as_are_offered_make_a_plan(case):
    model, nodes, node, sequences, allowed = case
    where = cluster(nodes, node)
    error = refused(model, where, sequences, allowed)
    assert error.field == "gpus"
    (gpus,) = numbers(re.search(r"\(([\d,]+) in all\)", error.problem)[1])
    asked = {"gpus": gpus, "allowed": Allowed(**allowed), "software": SoftwareSettings(features="any")}
    assert len(plan(model, where, B=sequences * T, T=T, **asked))
    for _, tokens in re.findall(r"([\d,]+) \(([\d,]+) tokens\)", error.problem):
        (B,) = numbers(tokens)
        assert len(plan(model, where, B=B, T=T, **(asked | {"gpus": None})))


@each("case", [(EXPERTS, 8, 72, 512, {"tp": 4}), (WIDE, 3, 8, 500, {"tp": 12})])
def test_fewer_gpus_are_offered_with_whether_a_plan_fits_on_them(case):
    model, nodes, node, sequences, allowed = case
    where, degrees = cluster(nodes, node), Allowed(**allowed)
    asked = {"B": sequences * T, "T": T, "software": SoftwareSettings(features="any")}
    (gpus,) = numbers(re.search(r"\(([\d,]+) in all\)", refused(model, where, sequences, allowed).problem)[1])
    found = plan(model, where, gpus=gpus, allowed=degrees, **asked)
    least, margin = smallest_bytes(found.task, degrees), found.task.margin
    for share, fit in (
        (0.999, ", which does not fit"),
        (1.001, ", which may not fit"),
        (0.999 * (1 + margin), ", which may not fit"),
        (1.001 * (1 + margin), ""),
    ):
        with pytest.raises(PlanError) as error:
            plan(model, where, allowed=degrees, memory=share * least, **asked)
        assert f"({gpus:,} in all{fit})" in error.value.problem


def test_what_a_software_lacks_for_every_plan_names_the_option_and_what_would_do():
    error = refused(DENSE, cluster(1, 8), 17, {"zero": 2}, "megatron-core")
    assert error.field == "zero"
    assert error.problem.endswith("ZeRO-2 with a pipeline; zero 0, 1 would")


@each("option", ["tp", "pp", "cp", "ep", "etp", "v", "micro", "shards"])
def test_a_degree_beyond_any_cluster_is_refused_beside_others(option):
    assert Allowed(**{option: 2**20 - 1}).given
    for value in (2**20, 2**62, 10**23):
        with pytest.raises(StrategyError, match="whole numbers below") as error:
            Allowed(**{option: (1, value)})
        assert error.value.field == option


@pytest.mark.parametrize(("model", "gpus"), [("llama3-70b", 8), ("llama3-8b", 1), ("llama3-405b", 120)])
def test_on_the_fewest_gpus_that_hold_a_model_there_is_a_plan_and_on_the_last_before_none(model, gpus):
    software = SoftwareSettings(features="any")
    task = task_of(model, "dgx-h100", B=2**20, T=4096, gpus=min(gpus, 8), software=software)
    n, strategy, held = smallest(task, Allowed())
    assert strategy.gpus == n
    assert held <= task.memory
    before = n // 2 if n <= 8 else n - 8

    def on(count):
        where, some = ("dgx-h100", count) if count <= 8 else (f"{count // 8} x dgx-h100", None)
        return plan(model, where, B=2**20, T=4096, gpus=some, software=software)

    assert on(n).fitting
    assert on(before).fitting == 0
    far = n // 4 if n <= 8 else n // 2
    with pytest.raises(PlanError) as error:
        on(far)
    assert error.value.field == "memory"
    assert f"{n:,}" in error.value.problem


@pytest.mark.parametrize(("allowed", "field"), [({"zero": 2}, "zero"), ({"zero": 2, "micro": 1}, "allowed")])
def test_what_cannot_be_names_the_option_where_there_is_one(allowed, field):
    assert refused(DENSE, cluster(1, 8), 17, allowed, "megatron-core").field == field


def test_batches_next_to_one_that_no_plan_divides_are_offered():
    """Eight replicas at least, each of one sequence or more."""
    error = refused(DENSE, cluster(1, 8), 12, {"tp": 1, "pp": 1, "cp": 1})
    assert error.field == "batch"
    assert "12 sequences cannot be divided among the replicas, of which 8 GPUs have at least 8; " in error.problem
    assert error.problem.endswith("; 8 (16,384 tokens) or 16 (32,768 tokens) can")
    assert refused(DENSE, cluster(1, 8), 3, {"pp": 1, "cp": 1, "tp": (1, 2)}).problem.endswith(
        "have at least 4; 4 (8,192 tokens) can"
    )


LARGE = Model.small(layers=16, width=8192, heads=64, kv_heads=8, ffn=28672, vocab=128_000, context=8192)
ONE_PLAN = {"pp": 1, "cp": 1, "ep": 1, "micro": 1, "v": 1, "schedule": "1f1b", "recompute": "none", "sp": True}


@pytest.mark.slow
@each(
    "case",
    [
        (LARGE, 1, {"tp": 7, "pp": 1, "zero": 0, "recompute": "none"}, (2, 4, 8), (1,)),
        (LARGE, 1, {"pp": 3, "tp": 1, "zero": 0}, (2, 4, 8), (1,)),
        (LARGE, 1, ONE_PLAN | {"tp": 7, "zero": 0}, (2, 4, 8), (1,)),
        (DENSE, 1, {"tp": 7, "pp": 1, "zero": 0, "recompute": "full"}, (1, 2), ()),
    ],
)
def test_what_is_offered_fits_in_memory(case):
    """Values that obey all rules and need more memory than there is are not named beside one that fits."""
    model, nodes, allowed, fitting, others = case
    software = SoftwareSettings(features="any")
    asked = {"B": 64 * T, "T": T, "software": software}
    option = next(iter(allowed)) if allowed.get("tp") != 7 else "tp"
    problem = refused(model, cluster(nodes, 8), 64, allowed).problem
    offered = numbers(re.search(r"; (?:\w+ )?([\d, ]+) would$", problem)[1].replace(", ", " "))
    assert {*fitting} <= {*offered}
    assert not {*offered} & {*others}
    for value in offered:
        assert len(plan(model, cluster(nodes, 8), allowed=Allowed(**allowed | {option: value}), **asked))
    for value in others:
        with pytest.raises(PlanError) as error:
            plan(model, cluster(nodes, 8), allowed=Allowed(**allowed | {option: value}), **asked)
        assert error.value.field == "memory"


def least_bytes(asked, **allowed):
    found = plan(DENSE, cluster(1, 8), allowed=Allowed(**allowed), **asked)
    return float(found.costed.memory.min())


@each("case", [({"tp": 7, "zero": 0}, "tp", (1, 2)), ({"tp": 2, "pp": 8, "zero": 0}, "tp*pp", ())])
def test_an_offer_says_whether_it_fits_may_not_fit_or_needs_more_memory(case):
    """Of one value, and of several options; at both sides of the budget and of the margin."""
    allowed, field, tps = case
    asked = {"B": 64 * T, "T": T, "software": SoftwareSettings(features="any")}
    ways = [{"tp": tp} for tp in tps] or [{"tp": 1, "pp": 8}, *({"tp": 2, "pp": pp} for pp in (1, 2, 4))]
    least = min(least_bytes(asked, zero=0, **way) for way in ways)
    margin = task_of(DENSE, cluster(1, 8), **asked).margin
    assert margin > 0.01
    for share, may_not, short in (
        (0.999, False, True),
        (1.001, True, False),
        (0.999 * (1 + margin), True, False),
        (1.001 * (1 + margin), False, False),
    ):
        with pytest.raises(PlanError) as error:
            plan(DENSE, cluster(1, 8), allowed=Allowed(**allowed), memory=share * least, **asked)
        problem = error.value.problem
        assert error.value.field == field
        assert "would" in problem
        assert ("and may not fit" in problem) == may_not
        assert ("and would need" in problem) == short
        assert (show(least, "B") in problem) == (may_not or short)


def test_values_that_surely_fit_are_offered_without_those_that_may_not():
    """Of two degrees the wider surely fits, the narrower only if the prediction is right."""
    asked = {"B": 64 * T, "T": T, "software": SoftwareSettings(features="any")}
    task = task_of(DENSE, cluster(1, 8), **asked)
    narrow, wide = (working(task, Allowed(zero=0), "tp", (tp,)) for tp in (1, 2))
    assert narrow.values == (1,)
    assert (narrow.needs, wide.needs) == (0, 0)
    least = {tp: least_bytes(asked, tp=tp, zero=0) for tp in (1, 2)}
    assert least[2] * (1 + task.margin) < least[1] * (1 + task.margin / 2)
    budgets = {"1, 2": 1.001 * (1 + task.margin) * least[1], "2": (1 + task.margin / 2) * least[1]}
    for offered, memory in budgets.items():
        within = working(replace(task, memory=memory), Allowed(zero=0), "tp", (1, 2))
        assert (", ".join(map(str, within.values)), within.needs) == (offered, 0)


@each(
    "case",
    [
        ("llama2-13b", "dgx-h200", 1, {"--states bf16": FITS, "--lora 16": FITS}),
        ("llama3-8b", "dgx-h100", 1, {"--states bf16": FITS, "--lora 16": FITS}),
        ("llama3-70b", "dgx-h100", 8, {"--states bf16": MAY_NOT_FIT, "--lora 16": FITS}),
        ("llama3-70b", "dgx-h100", 4, {"--lora 16": FITS}),
        ("llama3-405b", "dgx-h100", 8, {}),
        ("mixtral-8x22b", "dgx-h100", 1, {}),
    ],
)
def test_fewer_bytes_of_a_parameter_are_offered_where_a_plan_then_fits(case):
    model, where, gpus, expected = case
    asked = {"model": model, "cluster": where, "gpus": gpus, "B": 8192 * gpus}
    with pytest.raises(PlanError) as error:
        plan(**asked)
    assert error.value.field == "memory"
    assert dict(re.findall(r"[Ww]ith (--\w+ \w+) \([^)]*\) it ([a-z ]+)", error.value.problem)) == expected
    assert error.value.problem.count("--") == len(expected)
    for option, more in (("--states bf16", {"states": "bf16"}), ("--lora 16", {"lora": 16})):
        if option in expected:
            found = plan(**asked, **more)
            assert fit_of(found.task, float(found.costed.memory.min())) == expected[option]
        else:
            with pytest.raises(PlanError):
                plan(**asked, **more)


@each("asked", [{"states": "bf16"}, {"lora": 16}, {"optimizer": "lion"}])
def test_where_something_was_asked_for_no_other_bytes_are_offered(asked):
    with pytest.raises(PlanError) as error:
        plan("llama3-405b", "dgx-h100", B=2**20, **asked)
    assert error.value.field == "memory"
    assert "--" not in error.value.problem
