"""Plans as whole runs: time for tokens and tokens for days, their order, and where fewer GPUs are better."""

import re

import pytest

from hwlib.goodput import published
from hwlib.planner import PlanError, pareto, plan
from hwlib.planner.run import CANDIDATES, fastest_runs, fitted_gpus, rests_of_run, run_of, undominated_runs
from hwlib.planner.run_words import columns, constants, run_record, run_words
from hwlib.transformer import parameter_count
from hwlib.units import day, hour


@pytest.fixture(scope="module")
def found():
    return plan("llama3-70b", "superpod-h100-1su", B=2**22, count=CANDIDATES, price=2 / hour)


@pytest.fixture(scope="module")
def front():
    return pareto("llama3-8b", "superpod-h100-1su", B=2**22, gpus=[128, 256], of=("time", "gpus", "cost"))


def test_a_run_is_its_steps_and_what_is_lost_beside_them(found):
    run = run_of(found.task, found[0], tokens=1e12)
    assert run.job.steps == -(-(10**12) // 2**22)
    assert run.ideal == run.job.steps * found[0].seconds
    assert run.job.state == 14 * parameter_count(found.task.model)
    assert run.cost == pytest.approx(run.gpu_time * 2 / hour)
    assert 0 < run.job.busy < 1
    assert run.stragglers == pytest.approx(run.ideal * run.job.busy * 0.0148 * (2.83 - 2.35), rel=0.02), (
        "256 against 64"
    )


def test_so_many_days_hold_the_tokens_that_take_as_long(found):
    run = run_of(found.task, found[0], days=10)
    assert run.time == pytest.approx(10 * day, rel=1e-4)
    assert run.time <= 10 * day
    assert run_of(found.task, found[0], tokens=run.job.steps * found.task.B).time == pytest.approx(run.time)


def test_the_slowest_gpu_of_the_fitted_steps_is_that_of_the_stack_or_of_the_one_it_is_like():
    assert fitted_gpus("megatron-core-h100") == fitted_gpus("torchtitan-h100") > 1
    assert fitted_gpus("") == fitted_gpus("one-of-ones-own") == 1


def test_runs_come_fastest_first_and_as_many_as_asked_for(found):
    sorted_, runs = fastest_runs(found, 3, tokens=1e12)
    assert len(sorted_) == len(runs) == 3
    assert [run.time for run in runs] == sorted(run.time for run in runs)
    assert runs[0].time == min(run_of(found.task, one, tokens=1e12).time for one in found)
    assert sorted_.task is found.task


def test_slow_gpus_may_change_the_order(found):
    """A spread so large that the share of arithmetic decides alone."""
    steady, uneven = (
        fastest_runs(found, len(found), tokens=1e12, reliability=published().given(spread=spread))[0]
        for spread in (0.0, 1.0)
    )
    assert [one.seconds for one in steady] == sorted(one.seconds for one in found)
    assert [one.strategy for one in steady] != [one.strategy for one in uneven]


def test_fewer_gpus_are_better_where_more_are_interrupted_too_often(front):
    _, calm = undominated_runs(front, tokens=1e12)
    assert [run.job.gpus for run in calm] == [256, 128]
    restless = published().given(t_gpu=5 * day, t_back=3600.0, t_repair=0.0)
    kept, runs = undominated_runs(front, tokens=1e12, reliability=restless)
    assert [run.job.gpus for run in runs] == [one.gpus for one in kept] == [128]
    assert kept.skipped[256] == "dominated by a plan on another number of GPUs"
    with pytest.raises(PlanError, match="hardly ever fit"):
        undominated_runs(front, tokens=1e12, reliability=published().given(t_gpu=hour))


def test_what_a_run_rests_on_is_what_nobody_published(found):
    run = run_of(found.task, found[0], tokens=1e12)
    shares = rests_of_run(run)
    assert list(shares) == ["t_repair", "spread"]
    assert all(share > 0 for share in shares.values())
    assert rests_of_run(
        run_of(found.task, found[0], tokens=1e12, reliability=run.reliability.given(spread=0.0))
    ).keys() == {"t_repair"}


def test_all_parts_are_said_in_words_and_in_json(found):
    run = run_of(found.task, found[0], tokens=1e12)
    said = "\n".join([*run_words(run, found.task), *constants(run)])
    assert "1T tokens" in said
    longer = float(re.search(r"expected [^(]*\(([+-][\d.]+)%\)", said)[1])
    assert longer == pytest.approx(
        100 * sum(x for name, x in run_record(run, found.task)["parts"].items() if name != "ideal") / run.ideal,
        abs=0.051,
    )
    for word in ("restarts", "work done again", "waiting for checkpoints", "waiting for repairs", "slow GPUs"):
        assert word in said
    for source in ("llama3", "megascale", "bytecheckpoint", "typed"):
        assert source in said
    record = run_record(run, found.task)
    assert record["seconds"] == pytest.approx(sum(record["parts"].values()))
    assert record["constants"]["t_repair"] == {"value": day, "source": run.reliability.sources["t_repair"]}
    heads = [head for head, _ in columns([run], found.task, days=False)]
    assert heads == ["run", "goodput", "spares", "$ run"]
    free = run_of(found.task, found[0], tokens=1e12, reliability=published().given(t_back=60.0, storage=1e12))
    assert {"t_detect", "read", "write"}.isdisjoint(run_record(free, found.task)["constants"])


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "tokens: expected tokens or days, one of them"),
        ({"tokens": 1e9, "days": 3}, "tokens: .* one of them"),
        ({"tokens": 0}, "tokens: expected a number above 0, got 0"),
        ({"days": "3"}, "days: .* got '3'"),
        ({"days": 1e-9}, "days: a step is expected to take"),
        ({"tokens": 1e9, "reliability": published().given(interval=1.0)}, "run: interval: a checkpoint is written in"),
    ],
    ids=["neither", "both", "zero", "text", "short", "interval"],
)
def test_a_question_that_is_none_says_why(found, asked, message):
    with pytest.raises(PlanError, match=message):
        run_of(found.task, found[0], **asked)
