"""What the planner says: explanations whose figures are true, fronts, the guide, tables."""

import copy
import json
import re

import numpy as np
import pytest

from hwlib.planner import PlanError, decide, pareto, plan
from hwlib.planner.advice import choose, tolerance
from hwlib.planner.costs import parts
from hwlib.planner.explain import WORDS, changes, difference, versus, where_time_goes
from hwlib.planner.front import BEATEN, CRITERIA, undominated
from hwlib.planner.tables import rejected, waits
from hwlib.specs import Stack, models
from hwlib.strategy import Strategy
from hwlib.units import GB, parse

H100 = Stack.ideal("h100-sxm").replace(key="test", eta_C=0.7, eta_W=0.8, eta_in=0.7, eta_out=0.8, alpha_in=1e-5)
ASK = {"B": 2**22, "stack": H100}


@pytest.fixture(scope="module")
def found():
    return plan("llama3-70b", "superpod-h100-1su", count=8, **ASK)


# Explanations


def test_the_parts_are_the_whole_step(found):
    for one in found:
        assert sum(parts(one.time).values()) == pytest.approx(one.seconds)
        assert set(parts(one.time)) == set(WORDS)
        assert waits(one) < one.seconds


def test_shares_in_words_are_those_of_the_step(found):
    text = where_time_goes(found[0])
    for name, share in re.findall(r"([a-z][a-z -]+) ([\d.]+)%", text.partition(": ")[2]):
        part = next(key for key, word in WORDS.items() if word == name)
        assert parts(found[0].time)[part] / found[0].seconds == pytest.approx(float(share) / 100, abs=6e-4)


@pytest.mark.parametrize("i", range(1, 8))
def test_what_is_said_of_two_plans_is_so(found, i):
    best, other = found[0], found[i]
    text = versus(best, other)
    for name, there, here in re.findall(r"\b(tp|cp|ep|pp|dp|micro|zero) (\d+) instead of (\d+)", text):
        assert (getattr(other.strategy, name), getattr(best.strategy, name)) == (int(there), int(here))
    for name in ("tp", "cp", "ep", "pp", "dp", "micro", "zero"):
        here, there = getattr(best.strategy, name), getattr(other.strategy, name)
        assert (f"{name} {there} instead of" in text) == (here != there)
    if "equally" in text:
        assert other.seconds == pytest.approx(best.seconds, rel=6e-4)
        return
    more = parse(re.search(r": \+([\d.e-]+ \w+) \(", text)[1]).value
    assert more == pytest.approx(other.seconds - best.seconds, rel=6e-3)
    told = re.findall(r"([a-z][a-z -]+) ([\d.]+)% -> ([\d.]+)%, ([+-][\d.e-]+ \w+)", text)
    assert told
    sums = {"+": 0.0, "-": 0.0}
    for name, here, there, delta in told:
        part = next(key for key, word in WORDS.items() if word == name.strip())
        assert parts(best.time)[part] / best.seconds == pytest.approx(float(here) / 100, abs=6e-4)
        assert parts(other.time)[part] / other.seconds == pytest.approx(float(there) / 100, abs=6e-4)
        seconds = parse(delta[1:]).value
        assert abs(parts(other.time)[part] - parts(best.time)[part]) == pytest.approx(seconds, rel=6e-3)
        assert (parts(other.time)[part] > parts(best.time)[part]) == (delta[0] == "+")
        sums[delta[0]] += seconds
    grew = sum(max(parts(other.time)[p] - parts(best.time)[p], 0) for p in WORDS)
    assert sums["+"] >= 0.79 * grew


def test_nothing_is_less_than_nothing():
    plain = plan("llama3-8b", "dgx-h100", pp=(1, 2), **ASK)
    assert "-0.0%" not in plain.explain()
    assert not any(str(t).startswith("-") for one in plain for t in parts(one.time).values())


def test_equal_plans_are_called_equal(found):
    assert difference(found[0], found[0]) == "equally fast, with the same memory"
    assert changes(found[0], found[0]) == "the same degrees"


def test_of_the_quick_plans_the_simplest_is_advised(found):
    advised = found.advised
    assert advised.seconds <= 1.02 * found[0].seconds
    for i in np.flatnonzero(found.costed.seconds <= 1.02 * found[0].seconds):
        assert advised.m * advised.strategy.v <= found.costed.m[i] * found.costed.strategy[i].v
    assert (str(advised) in found.explain()) or advised.strategy == found[0].strategy


def test_the_simplest_has_the_fewest_pieces_then_kinds_then_ranks_and_no_stage_of_zero():
    def position(seconds=(1.0, 1.0), m=(4, 4), **columns):
        plans = Strategy(**{name: np.array(x) for name, x in columns.items()})
        return choose(np.array(seconds), np.zeros(2), plans, np.array(m), error=2.0)

    assert position(dp=[1, 1], pp=[8, 1], m=[2, 4]) == 0  # fewer microbatches, in spite of the stages
    assert position(dp=[1, 1], tp=[2, 4], pp=[2, 1]) == 1
    assert position(dp=[8, 8], tp=[1, 2], zero=[3, 1]) == 0  # gathers are a kind of parallelism too
    assert position(dp=[1, 1], tp=[8, 4]) == 1
    assert position(dp=[8, 8], ep=[1, 8]) == position(dp=[8, 8], cp=[1, 2]) == 0
    assert position(dp=[8, 8], zero=[2, 1]) == 0  # a lower stage is no simpler, but leaves less memory
    assert position(dp=[16, 16], zero=[3, 3], shards=[8, 16]) == 1
    assert position(dp=[8, 8], seconds=(2.0, 1.0)) == 1  # else the quickest


def test_plans_are_equals_within_half_of_what_a_stack_errs_by_and_within_noise():
    assert tolerance(0.0) == tolerance(0.04) == 0.02
    assert tolerance(0.05) == 0.025
    ask = {"B": 2**22, "pp": (2, 4, 8), "cp": 1}
    narrow, wide = (
        plan("llama3-70b", "superpod-h100-1su", stack=H100.replace(key="of my own", error=x), **ask) for x in (0, 0.2)
    )
    pieces = [one.advised.m * one.advised.strategy.v for one in (wide, narrow)]
    assert pieces[0] < pieces[1]
    assert "Simplest plan within half the expected error (10%):" in wide.explain()


def test_an_explanation_names_the_best_the_next_and_other_choices(found):
    text = found.explain()
    assert text.startswith("Best plan for Llama 3.1 70B on 256 x H100 SXM5, 512 sequences of 8,192 tokens per step:")
    assert str(found[0]) in text
    assert f"  {len(found)}. " in text
    other = text.partition("Best plan for each other choice:\n")[2].splitlines()
    assert other
    for line in other:
        assert re.match(r"  (tp|cp|pp|micro|zero|recompute) \w+: |  (1f1b|zb_h1|1f1b v\d+|no pipeline|HSDP): ", line)


def test_the_best_of_another_choice_is_the_best_of_all_that_choose_so(found):
    costed, best = found.costed, found[0]
    i = costed.fastest(costed.strategy.tp != best.strategy.tp)
    others = np.where(costed.strategy.tp != best.strategy.tp, costed.seconds, np.nan)
    assert costed.seconds[i] == pytest.approx(np.nanmin(others))
    assert costed.fastest(costed.strategy.tp == 77) == -1


def test_a_choice_that_never_fits_is_told_with_what_it_takes():
    found = plan("llama3-405b", "h100-superpod-16k", B=2**24, tp=8, pp=16, cp=1, zero=1, stack=H100)
    assert found[0].strategy.recompute == "full"
    line = next(line for line in found.explain().splitlines() if line.strip().startswith("without recompute full"))
    least = found.costed.memory[found.costed.strategy.recompute == 0].min()
    assert float(re.search(r"([\d.]+) GB", line)[1]) == pytest.approx(least / GB, rel=6e-3)


# Fronts


def test_none_on_the_front_is_beaten_and_all_others_are(found):
    front = found.pareto()
    assert front[0].seconds == found[0].seconds
    seconds, memory = [p.seconds for p in front], [float(p.memory.total) for p in front]
    assert seconds == sorted(seconds)
    assert memory == sorted(memory, reverse=True)
    for s, m in zip(found.costed.seconds, found.costed.memory, strict=True):
        if not np.isnan(s):
            assert any(a <= s * (1 + 1e-12) and b <= m * (1 + 1e-12) for a, b in zip(seconds, memory, strict=True))


def test_a_front_over_numbers_of_gpus():
    front = pareto("llama3-70b", "superpod-h100-4su", gpus=(256, 512, 1024), of=("time", "gpus", "cost"), **ASK)
    assert {one.gpus for one in front} == {256, 512, 1024}
    assert [one.seconds for one in front] == sorted(one.seconds for one in front)
    gpu_seconds = [one.gpus * one.seconds for one in front]
    assert gpu_seconds == sorted(gpu_seconds, reverse=True)  # more GPUs are quicker and cost more
    memory = pareto("llama3-70b", "superpod-h100-4su", gpus=(256, 512), of=("time", "memory", "gpus"), **ASK)
    for a in memory:
        for b in memory:
            values = [(CRITERIA[name](a), CRITERIA[name](b)) for name in ("time", "memory", "gpus")]
            assert a is b or not all(x <= y for x, y in values)


def test_where_a_few_gpus_hold_nothing_the_others_are_there():
    front = pareto("llama3-70b", "superpod-h100-4su", gpus=(8, 256), of=("time", "cost"), **ASK)
    assert {one.gpus for one in front} == {256}
    assert list(front.skipped) == [8]
    assert front.skipped[8].startswith("memory: Llama 3.1 70B ")


@pytest.mark.parametrize(
    ("asked", "field", "named"),
    [
        ({"gpus": (8,)}, "memory", " 8 x H100"),
        ({"gpus": (256, 2048)}, "gpus", "1,024 .* 2048"),
        ({"gpus": None}, "gpus", " None"),
        ({"gpus": "256"}, "gpus", " '256'"),
        ({"gpus": (256, 256.5)}, "gpus", "1,024 .* 256.5"),
        ({"gpus": ()}, "gpus", "."),
        ({"gpus": (256,), "of": ("money",)}, "of", "time, memory, gpus, cost, .*'money'$"),
        ({"gpus": (256,), "of": 3}, "of", "time, memory, gpus, cost, .* 3$"),
    ],
)
def test_a_front_of_nothing_is_refused(asked, field, named):
    with pytest.raises(PlanError) as error:
        pareto("llama3-70b", "superpod-h100-4su", **asked, **ASK)
    assert error.value.field == field
    assert re.search(named, error.value.problem)


def test_a_front_of_one_number_or_of_an_iterator():
    of = ("time", "gpus")
    alone, several = (pareto("llama3-8b", "dgx-h100", gpus=gpus, of=of, B=2**20) for gpus in (8, iter([8, 8])))
    assert pareto("llama3-8b", "dgx-h100", gpus=8, of="time", B=2**20) == alone
    assert alone == several[:1]
    assert [one.gpus for one in alone] == [8]
    assert not alone.skipped


def test_a_number_of_gpus_that_is_beaten_is_named(monkeypatch):
    monkeypatch.setitem(CRITERIA, "gpus", lambda one: 0.0)
    front = pareto("llama3-8b", "dgx-h100", gpus=(4, 8), of=("time", "gpus"), B=2**20)
    assert front.skipped == {4: BEATEN}


def test_a_front_can_be_copied_and_has_a_number_given_twice_once():
    ask = {"B": 2**18, "stack": H100}
    front = pareto("llama3-8b", "dgx-h100", gpus=[2, 8, 8], **ask)
    assert list(front) == list(pareto("llama3-8b", "dgx-h100", gpus=[2, 8], **ask))
    copied = copy.copy(front)
    assert copied == front
    assert (copied.task, copied.skipped) == (front.task, front.skipped)


def test_one_plan_is_its_own_front(found):
    assert undominated([found[0]], ("time",)) == (found[0],)
    assert undominated(list(found), ("time",)) == (found[0],)


# The guide


@pytest.mark.parametrize(
    ("model", "cluster", "B", "T", "degrees"),
    [
        ("llama3-8b", "dgx-h100", 2**20, 8192, {"tp": 1, "pp": 1, "dp": 8, "zero": 3}),
        ("llama3-8b", "superpod-h100-1su", 2**22, 8192, {"tp": 1, "pp": 1, "dp": 256}),
        ("llama3-70b", "superpod-h100-4su", 2**22, 8192, {"tp": 8, "pp": 2, "dp": 64}),
        ("llama3-405b", "h100-superpod-16k", 2**24, 8192, {"tp": 8, "pp": 16, "cp": 2, "dp": 64, "zero": 1}),
        ("gpt3-175b", "superpod-h100-4su", 1536 * 2048, 2048, {"tp": 8, "pp": 4, "dp": 32}),
        ("mixtral-8x7b", "superpod-h100-1su", 2**22, 8192, {"pp": 1, "ep": 8}),
        ("deepseek-v3", "superpod-h100-8su", 15360 * 4096, 4096, {"tp": 1, "ep": 8}),
    ],
)
def test_the_guide(model, cluster, B, T, degrees):
    found = decide(model, cluster, B=B, T=T)
    assert {name: getattr(found.strategy, name) for name in degrees} == degrees
    assert str(found) == found.sentence
    assert found.sentence.count(".") >= 1
    assert found.sentence.startswith(f"{models[model].name} on ")
    assert found.numbers["bytes"] <= found.numbers["room"]


def test_the_guides_numbers_are_the_bounds():
    found = decide("llama3-405b", "h100-superpod-16k", B=2**24)
    n = found.numbers
    assert n["tokens"] == 2**24 / 16384
    assert n["need"] == pytest.approx(989.5e12 / 400e9, rel=1e-3)  # C/W of a node's egress
    assert n["tp_limit"] == pytest.approx(3 * 53248 * 450e9 / (2 * 989.5e12), rel=1e-3)
    assert f"{n['tokens']:,.0f} tokens per step, fewer than the {n['need']:,.0f}" in found.sentence
    moe = decide("deepseek-v3", "superpod-h100-8su", B=15360 * 4096, T=4096)
    assert moe.numbers["need_experts"] == pytest.approx(32 * n["need"])
    assert "narrower than the" in moe.sentence


@pytest.mark.parametrize(
    ("model", "B", "T", "said"),
    [
        ("mixtral-8x7b", 2**22, 8192, r"enough for the \S+ that hide gradients over the leaf \(and for the"),
        ("mixtral-8x7b", 2**22, 8192, "are at least as wide as the"),
        ("deepseek-v3", 2**22, 8192, r"enough for the \S+ that hide gradients over the leaf \(but not for the"),
        ("mixtral-8x7b", 2**19, 2048, r"fewer than the \S+ that hide gradients over the leaf \(and than the"),
        ("mixtral-8x7b", 2**19, 8192, r"fewer than the \S+ that hide gradients over the leaf \(but enough for the"),
    ],
)
def test_the_guide_says_whether_tokens_are_enough_for_experts_too(model, B, T, said):
    assert re.search(said, decide(model, "superpod-h100-1su", B=B, T=T).sentence)


def test_the_guide_is_within_reach_of_the_search():
    for model, cluster, B in (
        ("llama3-8b", "superpod-h100-1su", 2**22),
        ("llama3-405b", "h100-superpod-16k", 2**24),
    ):
        guide = decide(model, cluster, B=B).strategy
        best = plan(model, cluster, B=B, stack=H100)[0]
        ours = plan(model, cluster, B=B, stack=H100, **{name: getattr(guide, name) for name in ("tp", "pp", "cp")})[0]
        assert ours.seconds < 1.25 * best.seconds


def test_the_guide_says_what_does_not_fit():
    with pytest.raises(PlanError, match=r"405B .* 8 x H100 SXM5 .*7.305 TB") as error:
        decide("llama3-405b", "dgx-h100", B=2**20)
    assert error.value.field == "memory"


def test_one_gpu_needs_nothing():
    small = models["llama3-8b"].replace(layers=4)
    assert decide(small, "dgx-h100", B=2**14, gpus=1).strategy.dp == 1


# Tables


def test_a_table_has_a_line_for_each_plan(found):
    lines = found.table().splitlines()
    assert lines[0] == "Llama 3.1 70B on 256 x H100 SXM5, 512 sequences of 8,192 tokens per step"
    assert lines[1] == (
        f"{found.considered:,} configurations, of which {found.fitting:,} are valid and fit "
        f"({found.timed - found.fitting:,} more may not) in 85.9 GB on each GPU; stack test, bf16"
    )
    assert len(lines) == 4 + len(found)
    assert "$/step" not in lines[3]
    head, first = lines[3].split(), lines[4]
    assert head[:3] == ["tp", "cp", "pp"] or head[:2] == ["tp", "pp"]
    assert f"{found[0].mfu:.1%}" in first
    assert repr(found) == found.table()
    assert repr(found[0]).startswith("<Plan: ")


def test_one_plan_is_counted_as_one_and_more_memory_than_there_is_is_not_of_it():
    degrees = {"tp": 8, "pp": 1, "cp": 1, "micro": 1, "zero": 1, "recompute": "full", "schedule": "1f1b"}
    alone = plan("llama3-8b", "dgx-h100", **ASK, memory=86.5 * GB, **degrees | {"zero": 0})
    assert "1 configuration, of which 1 is valid and fits in 86.5 GB on each GPU; stack test" in alone.table()


def test_a_front_says_what_it_is_for():
    ask = {"gpus": (2, 8, 4), "of": ("time", "gpus"), "B": 2**20, "stack": H100}
    front = pareto("llama3-8b", "dgx-h100", memory=60 * GB, **ask)
    head, terms, _, *rows = front.table().splitlines()
    assert head == "Llama 3.1 8B on 2, 4 or 8 x H100 SXM5, 128 sequences of 8,192 tokens per step"
    assert terms == "Pareto-optimal plans that fit in 60 GB of each GPU's 85.9 GB; stack test, bf16"
    assert len(rows) == 1 + len(front)


def test_prices_have_a_column():
    priced = plan("llama3-8b", "dgx-h100", B=2**20, stack=H100, price=2 / 3600)
    assert "$/step" in priced.table()
    assert f"{priced[0].cost:,.2f}" in priced.table()


def test_what_programs_get_is_json(found):
    record = json.loads(json.dumps(found.json()))
    assert record["gpus"] == 256
    assert record["considered"] == record["fitting"] + record["may_not_fit"] + sum(record["rejected"].values())
    assert record["advised"]["pp"] == found.advised.strategy.pp
    first = record["plans"][0]
    assert first["cost"] is None  # no price was asked for
    assert first["seconds"] == found[0].seconds == pytest.approx(sum(first["time"].values()))
    held = first["bytes"].pop("total")
    assert held == pytest.approx(sum(first["bytes"].values()))
    assert len(rejected(found)) == len(found.rejected)
