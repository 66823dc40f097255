"""A strategy: checked once, scalar or columns, and the same numbers with and without numpy."""

import copy
import json
import pickle
import random
import subprocess
import sys
from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import numpy as np
import pytest

from hwlib.footprint import Footprint, unchecked_footprint
from hwlib.parallel import axis_times, transfers
from hwlib.specs import clusters, models
from hwlib.steptime import StepTime, step_time
from hwlib.strategy import RECOMPUTE, SCHEDULES, Strategy, StrategyError

NAMES = [f.name for f in fields(Strategy)]


def test_a_strategy_is_one_rank_unless_more_is_said():
    one = Strategy()
    assert one.gpus == 1
    assert str(one) == "one GPU"
    assert repr(Strategy.of(dp=8, tp=4)) == "Strategy(dp=8, tp=4)"
    assert (
        str(Strategy.of(tp=8, pp=4, v=2, zero=1, recompute="full")) == "tp 8 pp 4, 1f1b v2, ZeRO-1, full recomputation"
    )
    with pytest.raises(FrozenInstanceError):
        one.dp = 2


def test_dp_is_what_the_gpus_leave():
    assert Strategy.of(gpus=256, tp=8, pp=4).dp == 8
    assert Strategy.of(Strategy.of(tp=8, dp=3), gpus=64).dp == 8
    for wrong in ({"gpus": 10, "tp": 4}, {"gpus": 8, "dp": 8}, {"gpus": "8"}):
        with pytest.raises(StrategyError) as caught:
            Strategy.of(**wrong)
        assert caught.value.field == "gpus"


NO_NUMBERS = ("recompute", "schedule", "sp", "shards", "recompute_layers", "etp")


@pytest.mark.parametrize("name", [name for name in NAMES if name not in NO_NUMBERS])
@pytest.mark.parametrize(
    "wrong", ["8", None, -1, float("nan"), float("inf"), [4], np.array([1.0, -1.0]), np.array(["8"])]
)
def test_a_number_that_cannot_be_is_named(name, wrong):
    with pytest.raises(StrategyError) as caught:
        Strategy.of(**{name: wrong})
    assert caught.value.field == name
    assert caught.value.got is wrong
    assert repr(wrong) in str(caught.value)
    assert pickle.loads(pickle.dumps(caught.value)).field == name


@pytest.mark.parametrize("name", ["dp", "tp", "pp", "cp", "ep", "v", "zero", "shards", "recompute_layers"])
def test_what_is_counted_is_whole(name):
    for wrong in (1.5, np.array([1.0, 1.5]), True):
        with pytest.raises(StrategyError):
            Strategy.of(**{name: wrong})
    assert Strategy.of(**{name: 2.0}) == Strategy.of(**{name: np.int64(2)}) == Strategy.of(**{name: 2})


def test_a_microbatch_may_be_a_mean():
    assert Strategy.of(micro=9.6).micro == 9.6


@pytest.mark.parametrize(
    "wrong",
    [
        {"recompute": ("mlp", "full")},
        {"recompute": "mlp+mlps"},
        {"sp": 2},
        {"sp": "yes"},
        {"zero": 4},
        {"recompute": "some"},
        {"recompute": 999},
        {"schedule": None},
        {"ways": 2},
        {"schedule": np.array(["1f1b", "2f2b"])},
    ],
    ids=str,
)
def test_words_and_stages_are_those_there_are(wrong):
    with pytest.raises(StrategyError) as caught:
        Strategy.of(**wrong)
    assert caught.value.field == next(iter(wrong))


def test_positions_are_words():
    assert [Strategy.of(schedule=i).schedule for i in range(5)] == list(SCHEDULES)
    columns = Strategy.of(
        dp=4, recompute=np.array(["full", "none"]), schedule=np.array([1, 4]), sp=np.array([True, False])
    )
    assert columns.size == 2
    assert [(one.recompute, one.schedule, one.sp) for one in (columns[0], columns[1])] == [
        ("full", "1f1b", True),
        ("none", "dualpipe", False),
    ]
    assert columns[np.array([False, True])].size == 1
    assert columns[1:][0] == columns[1]
    assert repr(columns) == "<Strategy: columns of 2 plans>"


def test_columns_have_one_length():
    table = Strategy.of(dp=np.arange(1, 4)[:, None], micro=np.array([1, 2]))
    assert table.size == 6
    with pytest.raises(StrategyError, match="columns"):
        Strategy.of(dp=np.array([1, 2]), tp=np.array([1, 2, 4]))


def test_strategies_can_be_compared_copied_and_kept():
    one, columns = Strategy.of(dp=8, zero=3), Strategy.of(dp=np.array([2, 4]))
    assert one != Strategy.of(dp=8)
    assert one != 8
    assert len({one, Strategy.of(dp=8, zero=3)}) == 1
    for made in (one, columns):
        assert copy.copy(made) == pickle.loads(pickle.dumps(made)) == made
    assert columns != Strategy.of(dp=np.array([2, 8]))


def test_microbatches_of_a_step():
    assert Strategy.of(dp=8, micro=2).microbatches(2**20, 8192) == 8
    with pytest.raises(StrategyError, match=r"^micro: "):
        Strategy.of(dp=8, micro=3).microbatches(2**20, 8192)


# One body, two readings

B, T, POD, STACK = 2**22, 4096, "superpod-h100-4su", "megatron-core-h100"
MODELS = ("llama3-70b", "mixtral-8x7b", "deepseek-v3")


def some_strategies(count, seed=11):
    rng = random.Random(seed)
    pick = lambda *values: rng.choice(values)
    return [
        {
            "dp": 8 * pick(1, 2),
            "tp": pick(1, 2, 4),
            "pp": pick(1, 2, 4),
            "cp": pick(1, 2),
            "ep": pick(1, 2, 8),
            "v": pick(1, 2),
            "micro": pick(1, 2),
            "zero": pick(0, 1, 2, 3),
            "sp": pick(True, False),
            "recompute": pick(*RECOMPUTE),
            "schedule": pick(*SCHEDULES),
            "shards": pick(4, 8),
        }
        for _ in range(count)
    ]


PROGRAM = """
import json, sys
sys.modules["numpy"] = None
from dataclasses import fields
from hwlib.footprint import unchecked_footprint
from hwlib.parallel import axis_times, hiding_times, transfers
from hwlib.steptime import step_time
from hwlib.strategy import Strategy
asked = json.load(sys.stdin)
B, T = asked["B"], asked["T"]
found = []
for model, strategies in asked["cases"]:
    for degrees in strategies:
        one = Strategy.of(**degrees)
        m = one.microbatches(B, T)
        held = unchecked_footprint(model, one, T=T, m=m)
        step = step_time(model, asked["stack"], asked["machine"], one, B=B, T=T)
        sent = axis_times(transfers(model, one, B=B, m=m), asked["machine"])
        assert hiding_times(model, one, 989e12, B=B, T=T, m=m)["dp"] > 0
        record = lambda x: {f.name: getattr(x, f.name) for f in fields(x)}
        found.append([record(held), record(step), sent])
assert sys.modules["numpy"] is None
json.dump(found, sys.stdout)
"""


def test_a_single_strategy_is_weighed_and_timed_in_plain_python():
    """Where numpy cannot be imported; and the numbers are those of the columns."""
    spread = some_strategies(12)
    cases = [(model, spread if models[model].moe else [one | {"ep": 1} for one in spread]) for model in MODELS]
    asked = {"cases": cases, "B": B, "T": T, "stack": STACK, "machine": POD}
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=json.dumps(asked), capture_output=True, text=True, cwd=root, check=False
    )
    assert done.returncode == 0, done.stderr
    plain = json.loads(done.stdout)
    for i, (model, degrees) in enumerate(cases):
        columns = Strategy(**{name: np.array([one[name] for one in degrees]) for name in degrees[0]})
        m = columns.microbatches(B, T)
        held = unchecked_footprint(model, columns, T=T, m=m)
        step = step_time(model, STACK, POD, columns, B=B, T=T)
        sent = axis_times(transfers(model, columns, B=B, m=m), POD)
        for j in range(len(degrees)):
            weights, seconds, axes = plain[i * len(degrees) + j]
            for record, kind, many in ((weights, Footprint, held), (seconds, StepTime, step)):
                assert set(record) == {f.name for f in fields(kind)}
                for name, x in record.items():
                    assert x == pytest.approx(getattr(many, name)[j], rel=1e-12, abs=1e-15), (model, name, degrees[j])
            assert {axis: t[j] for axis, t in sent.items() if t[j]} == pytest.approx(axes, rel=1e-12)


def test_columns_of_a_plan_are_that_plan():
    columns = Strategy(**{name: np.array([one[name] for one in some_strategies(5)]) for name in some_strategies(1)[0]})
    many = step_time(models["llama3-70b"], STACK, clusters[POD], columns, B=B, T=T).total
    for i in range(5):
        assert many[i] == pytest.approx(step_time("llama3-70b", STACK, POD, columns[i], B=B, T=T).total, rel=1e-12)


def test_a_choice_is_compared_as_a_number_and_told_in_words():
    plain, folded = Strategy.of(dp=16, tp=8, ep=4), Strategy.of(dp=16, tp=8, ep=4, etp=2)
    same, hybrid = Strategy.of(dp=16, tp=8, etp=8), Strategy.of(dp=16, tp=8, zero=3, shards=8)
    assert (plain.folded, same.folded, folded.folded) == (False, False, True)
    assert (plain.hybrid, hybrid.hybrid, Strategy.of(dp=8, zero=3, shards=8).hybrid) == (False, True, False)
    assert [one.departs("etp") for one in (plain, same, folded)] == [False, True, True]
    assert (plain.departs("ep"), same.departs("ep"), plain.degree("etp"), folded.degree("etp")) == (True, False, 8, 2)
    assert plain.choice("etp") == same.choice("etp") != folded.choice("etp")
    assert plain.choice("shards") != hybrid.choice("shards")
    piped, deeper = Strategy.of(pp=4), Strategy.of(pp=4, v=2)
    assert piped.choice("form") != deeper.choice("form")
    assert (plain.choice_words("form"), deeper.choice_words("form")) == ("no pipeline", "1f1b v2")
    assert (plain.choice_words("shards"), hybrid.choice_words("shards")) == ("no HSDP", "HSDP")
    assert (plain.told("shards"), hybrid.told("shards"), plain.told("sp")) == ("all", "8", "True")


def test_what_ranks_share_is_counted_for_experts():
    plain, folded = Strategy.of(dp=16, tp=8, ep=4), Strategy.of(dp=16, tp=8, ep=4, etp=2)
    assert (plain.within_experts(4), folded.within_experts(4)) == (4, 1)
    assert (plain.beside_experts(4), folded.beside_experts(4)) == (4, 16)
    assert (plain.expert_ranks, folded.expert_ranks) == (4, 16)


def test_ranks_of_each_kind_by_hand():
    s = Strategy.of(dp=2, tp=3, pp=5, cp=7, ep=2)
    assert (s.gpus, s.shard_ranks, s.expert_tp, s.expert_ranks) == (210, 14, 3, 7)
    assert (s.beside_experts(5), s.within_experts(5), s.folded, s.hybrid) == (5, 5, False, False)
    folded = Strategy.of(dp=4, tp=6, cp=2, ep=2, etp=3, zero=1, shards=4)
    assert (folded.shard_ranks, folded.expert_tp, folded.expert_ranks) == (4, 3, 4 * 6 / 3)
    assert (folded.beside_experts(5), folded.within_experts(5), folded.folded, folded.hybrid) == (10, 2.5, True, True)
    same = Strategy.of(dp=4, tp=6, cp=2, etp=6, shards=8)
    assert (same.folded, same.hybrid) == (False, False)
    assert [folded.degree(name) for name in ("etp", "tp", "dp")] == [3, 6, 4]
    assert Strategy.of(tp=8).degree("etp") == 8
    assert [folded.departs(name) for name in ("etp", "tp", "ep", "pp")] == [True, True, True, False]
    assert not Strategy.of(tp=8).departs("etp")


def test_a_choice_is_equal_where_two_plans_choose_the_same():
    usual, other = Strategy.of(dp=8, tp=2), Strategy.of(dp=8, tp=2, etp=1, shards=4, zero=1, recompute="full")
    assert [usual.choice(name) for name in ("etp", "shards", "tp", "zero", "recompute")] == [False, False, 2, 0, 0]
    assert [other.choice(name) for name in ("etp", "shards", "zero")] == [True, True, 1]
    assert Strategy.of(dp=8, tp=2, etp=2, shards=8).choice("etp") is False
    assert Strategy.of(dp=8, tp=2, etp=2, shards=8).choice("shards") is False
    forms = {Strategy.of(pp=2, schedule=word, v=v).choice("form") for word in SCHEDULES for v in range(1, 20)}
    assert len(forms) == 19 * len(SCHEDULES)
    assert [usual.choice_words(name) for name in ("form", "shards", "etp")] == ["no pipeline", "no HSDP", "etp 2"]
    assert Strategy.of(pp=2, v=3).choice_words("form") == "1f1b v3"


def test_words_of_a_schedule_and_of_zero():
    assert [
        Strategy.of(pp=pp, v=v, schedule=word).schedule_name
        for pp, v, word in ((1, 1, "1f1b"), (2, 1, "1f1b"), (2, 2, "1f1b"), (2, 2, "zbv"), (1, 2, "1f1b"))
    ] == ["", "1f1b", "1f1b v2", "zbv", ""]
    assert [Strategy.of(dp=8, zero=zero, shards=n).zero_name for zero, n in ((0, None), (1, None), (3, 4))] == [
        "",
        "ZeRO-1",
        "ZeRO-3 over 4",
    ]


def test_columns_are_as_many_as_their_plans():
    assert Strategy.of(tp=8).size == 1
    assert Strategy(dp=np.arange(1.0, 8), tp=2).size == 7
    assert Strategy(dp=np.ones(0)).size == 0


@pytest.mark.parametrize(("name", "known"), [("recompute", "selective"), ("schedule", "dualpipe")])
def test_a_word_that_is_none_is_told_those_that_are(name, known):
    with pytest.raises(StrategyError, match=known) as caught:
        Strategy.of(**{name: "sometimes"})
    assert ("core_attn" in str(caught.value)) == (name == "recompute")
    assert ("zb_h1" in str(caught.value)) == (name == "schedule")


def test_columns_and_a_single_plan_are_not_equal():
    columns = Strategy(dp=np.array([2.0, 2.0]))
    assert columns == Strategy(dp=np.array([2.0, 2.0]))
    assert columns != Strategy(dp=np.array([2.0, 3.0]))
    assert columns != Strategy(dp=2)
    assert Strategy(dp=2) != columns
    assert columns != Strategy(dp=np.array([2.0, 2.0, 2.0]))
    assert columns != Strategy(dp=np.array([2.0]))
    assert Strategy.of(dp=2) != "dp 2"


@pytest.mark.parametrize(
    ("shards", "replicas", "ranks", "copies"),
    [
        (None, 16, 16, 1),
        (None, 4, 4, 1),
        (16, 16, 16, 1),
        (8, 16, 8, 2),
        (8, 4, 2, 2),  # of experts, which fewer ranks share: the same part of them divides the states
        (2, 4, 1, 8),  # not less than a rank
        (1, 16, 1, 16),
    ],
)
def test_states_are_divided_among_the_same_part_of_any_ranks(shards, replicas, ranks, copies):
    single = Strategy.of(dp=8, cp=2, zero=1, shards=shards)
    assert (single.state_ranks(replicas), single.copies) == (ranks, copies)
    assert single.without_copies() == Strategy.of(dp=8, cp=2, zero=1)
    columns = Strategy.of(dp=np.array([8.0, 8.0]), cp=2, zero=1, shards=shards)
    assert np.broadcast_to(columns.state_ranks(replicas), 2).tolist() == [ranks, ranks]
    assert columns.without_copies().shards is None
