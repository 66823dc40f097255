"""The plan to take: what it rests on, HSDP, uneven layers, and plans that were published."""

import numpy as np
import pytest

from hwlib.constraints import even_chunks
from hwlib.footprint import footprint
from hwlib.planner import PlanError, SoftwareSettings, machine_of, plan
from hwlib.planner.advice import NOISE, advised, choose, closeness, complexity, rests, rests_of, typed, worse
from hwlib.planner.certainty import plan_errors
from hwlib.planner.fits import surely, tight
from hwlib.planner.task import task_of
from hwlib.specs import Stack, stacks
from hwlib.specs.stack import CONSTANTS, read_stacks
from hwlib.specs.table import SpecError
from hwlib.steptime import step_time
from hwlib.strategy import Strategy

H100 = stacks["megatron-core-h100"]
TYPED = H100.replace(
    hide_dp=0.8, **{name: tuple({*getattr(H100, name)} - {"hide_dp"}) for name in ("fitted", "checked")}
)
"""How much of the gathers hides is here nobody's measurement."""


# What a plan rests on


@pytest.mark.parametrize("key", stacks)
def test_a_constant_was_fitted_or_checked_here_or_elsewhere_or_typed(key):
    stack = stacks[key]
    assert set(stack.checked) <= set(CONSTANTS) - set(stack.fitted)
    origins = {name: stack.origin(name) for name in CONSTANTS}
    assert {name for name, origin in origins.items() if origin == "fitted"} == set(stack.fitted)
    assert {name for name, origin in origins.items() if origin == "checked"} == set(stack.checked)
    for name, origin in origins.items():
        if origin not in ("fitted", "checked", "typed"):
            assert name in (*stacks[origin].fitted, *stacks[origin].checked)
            assert getattr(stacks[origin], name) == getattr(stack, name)


def test_a_value_of_its_own_is_not_the_one_that_was_fitted_elsewhere():
    row = 'software = "S"\nsource = "s"\n'
    first = f'[a.time.h100-sxm]\nname = "A"\n{row}fitted = ["eta_C"]\neta_C = 0.7\n'
    others = (
        f'[{key}.time.h100-sxm]\nname = "B"\n{row}like = "a-h100"\n{more}'
        for key, more in (("b", ""), ("c", "eta_C = 0.6\n"))
    )
    [_, same, other] = read_stacks("f", first + "".join(others))
    assert (same.like, other.eta_C) == ("a-h100", 0.6)
    assert H100.replace(eta_low=0.5, fitted=(), checked=(), like=H100.key).origin("eta_low") == "typed"
    with pytest.raises(SpecError, match=r"a\.time\.h100-sxm\.checked: 'eta_X' is not a constant"):
        list(read_stacks("f", first + 'checked = ["eta_X"]\n'))


def test_a_constant_at_its_worse_half():
    assert worse(H100, "eta_in").eta_in == H100.eta_in / 2
    assert worse(H100, "alpha_in").alpha_in == 2 * H100.alpha_in
    assert worse(H100, "hide_pp").hide_pp == 0.5
    assert worse(H100.replace(hide_dp=0.0), "hide_dp") is None  # nothing is left to lose
    assert worse(Stack.ideal("h100-sxm"), "eta_W") is None
    assert typed(Stack.ideal("h100-sxm")) == ()


def test_zero_3_between_nodes_rests_on_how_gathers_hide_and_a_pipeline_does_not():
    task = task_of("llama3-70b", "superpod-h100-1su", B=2**22, gpus=64, software=SoftwareSettings(stack=TYPED))
    [one, *_] = rests(task, Strategy.of(gpus=64, tp=4, zero=3))
    other = TYPED.replace(hide_dp=0.4)
    seconds = [step_time(task, Strategy.of(gpus=64, tp=4, zero=3), stack=stack).total for stack in (TYPED, other)]
    assert one.constant == "hide_dp"
    assert one.share == pytest.approx(seconds[1] / seconds[0] - 1)
    assert str(one) == f"hide_dp, typed (half as good: +{one.share:.0%})"
    piped = rests(task, Strategy.of(gpus=64, tp=4, pp=8, v=5, zero=1))
    assert "hide_dp" not in [rest.constant for rest in piped]
    assert rests_of(task_of("llama3-8b", "dgx-h100", B=2**20), Strategy.of(dp=8))["alpha_out"] == 0


def test_a_founded_plan_within_the_error_is_preferred():
    plans = Strategy(dp=np.array([8.0, 4.0, 4.0]), tp=np.array([1.0, 2.0, 2.0]))
    m = np.ones(3)

    def position(seconds, risk, error=0.05):
        return choose(np.array(seconds), np.array(risk), plans, m, error)

    assert position([1.0, 1.2, 1.5], [0.3, 0.0, 0.0]) == 1  # the quickest may err by 30 %
    assert position([1.0, 1.2, 1.5], [0.1, 0.0, 0.0]) == 0  # by less than what the others cost
    assert position([1.0, 1.2, 1.5], [0.3, 0.2, 0.0]) == 0  # founded, but beyond the error
    assert position([1.0, 1.04, 1.5], [0.04, 0.0, 0.0]) == 0  # within the error all count as founded
    assert position([1.0, 1.01, 1.02], [0.3, 0.2, 0.1]) == 0  # none is: the simplest


def test_the_advice_on_70b_is_a_pipeline_and_says_why():
    found = plan("llama3-70b", "superpod-h100-1su", B=2**22, gpus=64, stack=TYPED)
    best, advised = found[0].strategy, found.advised.strategy
    assert (best.pp, best.zero) == (1, 3)
    assert advised.pp > 1
    assert advised.zero == 1
    text = found.explain()
    assert "It rests on hide_dp, typed (half as good: +" in text
    assert "Simplest plan that rests on nothing typed or unmeasured, by which the best may err as much:" in text
    record = found.json()
    assert record["plans"][0]["rests_on"]["hide_dp"] > closeness(found.task, best)
    assert "hide_dp" not in record["advised"]["rests_on"]
    assert record["features"] == "megatron-core"


# HSDP


@pytest.mark.parametrize("model", ["llama3-8b", "mixtral-8x7b"])
def test_shards_are_those_of_a_node_and_cost_what_the_library_says(model):
    found = plan(model, "superpod-h100-1su", B=2**22, T=4096, gpus=64, zero=3, tp=1, pp=1, cp=1, micro=1, count=99)
    hybrid = [one for one in map(found.costed.strategy.__getitem__, range(len(found.costed.m))) if one.shards]
    assert {one.shards for one in hybrid} == {8}
    for one in hybrid[:4]:
        i = next(i for i in range(len(found.costed.m)) if found.costed.strategy[i] == one)
        time = step_time(model, H100, found.task.machine.levels, one, B=2**22, T=4096)
        assert found.costed.seconds[i] == pytest.approx(float(time.total)) or np.isnan(found.costed.seconds[i])
        held = footprint(model, one, T=4096, m=found.costed.m[i], framework=found.task.framework)
        assert found.costed.memory[i] == pytest.approx(held.total)
    whole = [one for one in map(found.costed.strategy.__getitem__, range(len(found.costed.m))) if not one.shards]
    assert len(whole) >= len(hybrid) > 0


def test_shards_that_are_asked_for_are_kept():
    found = plan("llama3-8b", "superpod-h100-1su", B=2**22, T=4096, gpus=64, zero=3, shards=16)
    assert {one.strategy.shards or one.strategy.dp * one.strategy.cp for one in found} == {16}
    assert "ZeRO-3 over 16" in found.table() or "3 over 16" in found.table()
    assert "HSDP without ZeRO" in plan("llama3-8b", "superpod-h100-1su", B=2**22, gpus=64).rejected


# Layers that do not divide


@pytest.mark.parametrize(
    ("layers", "pp", "v", "can"),
    [
        (61, 16, 2, True),  # DeepSeek-V3 on NVIDIA's software: 29 chunks of two layers, three of one
        (126, 16, 8, True),
        (126, 16, 4, True),
        (126, 16, 1, True),  # Llama 3 405B: both ends have one less
        (126, 8, 8, True),
        (80, 8, 5, True),
        (33, 2, 16, False),
        (61, 2, 8, True),  # and on two stages: 15 of four, one of one
        (61, 2, 4, True),
        (61, 2, 16, False),
        (62, 2, 16, True),  # the last chunk of two layers has none
        (37, 4, 5, True),  # 20 chunks of two: the last lacks both, and two stages one, so that one is full
        (36, 4, 5, True),
        (35, 4, 5, False),
        (30, 16, 2, True),
        (29, 16, 2, False),
    ],
)
def test_chunks_may_lack_layers_while_one_stage_is_full(layers, pp, v, can):
    assert bool(even_chunks(layers, pp, v)) is can
    assert bool(even_chunks(layers, np.array([pp]), np.array([v]))[0]) is can


def test_deepseeks_plan_is_a_plan():
    degrees = {"pp": 16, "ep": 64, "zero": 1, "schedule": "dualpipe", "micro": 1}
    ask = {"B": 15360 * 4096, "T": 4096, "dtype": "fp8", "dedup_dispatch": True, "features": "hai-llm"}
    one = plan("deepseek-v3", "256 x hgx-h800", **degrees, **ask)[0].strategy
    assert (one.tp, one.pp, one.ep, one.zero, one.dp, one.schedule) == (1, 16, 64, 1, 128, "dualpipe")
    published = {**degrees, "v": 2, "recompute": "layernorm+mla_up_proj"}
    held = plan("deepseek-v3", "256 x hgx-h800", **published, **ask, mtp=True)
    assert held.task.framework.key == "hai-llm"  # whose states take 13 bytes, not 18
    assert held[0].memory.total < 80e9
    with pytest.raises(PlanError, match="no schedule dualpipe"):
        plan("deepseek-v3", "256 x hgx-h800", **degrees, **{**ask, "features": None})


def test_metas_plan_is_a_plan_without_recomputation():
    degrees = {"tp": 8, "cp": 1, "pp": 16, "v": 8, "recompute": "none"}
    found = plan("llama3-405b", "h100-superpod-16k", B=2**24, features="llama3", **degrees)
    assert (found[0].strategy.dp, found[0].strategy.zero) == (128, 2)
    assert found[0].memory.total < 80e9
    assert 0.35 < found[0].mfu < 0.5  # 41 % with all that slows a job of this size


# A cluster of one's own


def test_so_many_nodes_are_a_cluster():
    levels = machine_of("128 x dgx-a100").levels
    assert [(level.size, level.bandwidth) for level in levels] == [(8, 300e9), (128, 200e9)]
    assert machine_of("1xdgx-a100").levels == machine_of("dgx-a100").levels
    assert machine_of("128xDGX A100", 512).gpus == 512
    for wrong, says in (("4 x dgx-z100", "dgx-z100"), ("0 x dgx-a100", "got 0"), ("9999999 x dgx-a100", "1,048,576")):
        with pytest.raises(PlanError, match=says) as caught:
            machine_of(wrong)
        assert caught.value.field == "cluster"


@pytest.mark.parametrize(("model", "cluster"), [("llama3-8b", "dgx-h100"), ("mixtral-8x7b", "4xdgx-h100")])
def test_the_plan_to_take_is_the_one_that_the_risks_of_all_plans_choose(model, cluster):
    """Those that are examined are few: no other can be chosen."""
    found = plan(model, cluster, B=2**20)
    costed, fits = found.costed, np.flatnonzero(surely(found.task, found.costed.memory))
    plans = costed.strategy[fits]
    risk = np.max([*rests_of(found.task, plans).values(), plan_errors(found.task, plans)], axis=0)
    quickest = plans[int(np.nanargmin(costed.seconds[fits]))]
    room, error = tight(found.task, costed.memory[fits]), closeness(found.task, quickest)
    taken = choose(costed.seconds[fits], risk, plans, costed.m[fits], error, tight=room)
    assert advised(found.task, costed) == fits[taken]


def test_what_a_plan_should_have_little_of():
    """HSDP, the ranks of a replica, kinds of parallelism, pieces, uneven chunks, recomputation, folding: by hand."""
    assert complexity(Strategy.of(dp=8), 4) == (0, 1, 0, 4, 0, 0, 0)
    wide = Strategy.of(dp=8, tp=2, cp=3, pp=4, ep=5, v=6, zero=3, recompute="full")
    assert complexity(wide, 7) == (0, 2 * 3 * 4 * 5, 5, 7 * 6, 0, 2, 0)
    assert complexity(Strategy.of(dp=8, tp=2, zero=1, recompute="selective"), 1) == (0, 2, 1, 1, 0, 1, 0)
    assert complexity(Strategy.of(dp=8, cp=2, zero=2), 1)[:3] == (0, 2, 1)
    assert complexity(Strategy.of(dp=8, pp=2), 1)[1:4] == (2, 1, 1)
    assert complexity(Strategy.of(dp=8, ep=8), 1)[1:4] == (8, 1, 1)
    assert complexity(Strategy.of(dp=16, zero=3, shards=8), 1)[0] == 1
    assert complexity(Strategy.of(dp=16, tp=2, ep=4, etp=1), 1)[2:] == (2, 1, 0, 0, 1)


@pytest.mark.parametrize(("pp", "v", "uneven"), [(4, 5, 0), (4, 3, 1), (16, 1, 0), (3, 1, 0), (2, 3, 1), (2, 4, 0)])
def test_chunks_that_divide_the_layers_are_simpler(pp, v, uneven):
    """Of 80 layers; stages of one chunk that differ by a layer the software takes by itself."""
    assert complexity(Strategy.of(pp=pp, v=v), 8, 80)[4] == uneven


def test_the_advice_divides_the_layers_where_that_costs_nothing():
    found = plan("llama3-70b", "8xdgx-h100", B=128 * 8192, T=8192)
    best = found.advised.strategy
    assert best.pp > 1
    assert found.task.model.layers % (best.pp * best.v) == 0


@pytest.mark.parametrize(
    ("seconds", "risk", "position"),
    [
        # all rest on something: those within a quarter count, the quarter included
        ([1.0, 1.25], [0.5, 0.5], 1),
        ([1.0, 1.2501], [0.5, 0.5], 0),
        ([4.0, 5.0], [0.5, 0.5], 1),
        # the second alone is founded: it may be slower by what the first may err by, that included
        ([1.0, 1.5], [0.5, 0.25], 1),
        ([1.0, 1.5001], [0.5, 0.25], 0),
        ([1.0, 1.5], [0.5, 0.2501], 0),
        # both are: those within a quarter of the quickest
        ([1.0, 1.25], [0.25, 0.25], 1),
        ([1.0, 1.2501], [0.25, 0.25], 0),
        ([4.0, 5.0], [0.25, 0.25], 1),
        ([4.0, 6.0], [0.25, 0.25], 0),
    ],
)
def test_the_error_is_within_itself(seconds, risk, position):
    """The second plan is the simpler one, so it is taken where it counts."""
    plans = Strategy(dp=np.array([4.0, 8.0]), tp=np.array([2.0, 1.0]))
    assert choose(np.array(seconds), np.array(risk), plans, np.ones(2), 0.25) == position


def test_of_the_founded_the_quickest_counts():
    """The second is founded, and the third too, but it is slower than that by more than the error."""
    plans = Strategy(dp=np.array([2.0, 4.0, 8.0]), tp=np.array([4.0, 2.0, 1.0]))
    assert choose(np.array([4.0, 5.0, 6.5]), np.array([0.75, 0.0, 0.0]), plans, np.ones(3), 0.25) == 1
    assert choose(np.array([4.0, 5.0, 6.25]), np.array([0.75, 0.0, 0.0]), plans, np.ones(3), 0.25) == 2


def test_constants_that_move_a_step_by_less_than_noise_are_not_named(monkeypatch):
    from hwlib.planner import advice

    shares = {"a": NOISE, "b": NOISE + 1e-9, "c": 0.5}
    monkeypatch.setattr(advice, "rests_of", lambda task, strategy: shares)
    assert [(one.constant, one.share) for one in rests(None, None)] == [("c", 0.5), ("b", NOISE + 1e-9)]
    assert str(rests(None, None)[0]) == "c, typed (half as good: +50%)"


def test_a_plan_rests_on_each_typed_constant_by_what_half_of_it_would_add():
    task = task_of("llama3-8b", "dgx-h100", B=2**17, T=8192, software=SoftwareSettings(stack=TYPED))
    strategy = Strategy.of(dp=4, tp=2)
    base = step_time(task, strategy).total
    shares = rests_of(task, strategy)
    for name, share in shares.items():
        assert share == pytest.approx(step_time(task, strategy, stack=worse(task.stack, name)).total / base - 1)
    assert {name for name in typed(TYPED) if worse(TYPED, name)} == shares.keys()
    ideal = SoftwareSettings(stack=Stack.ideal("h100-sxm"))
    assert rests_of(task_of("llama3-8b", "dgx-h100", B=2**17, software=ideal), strategy) == {}
