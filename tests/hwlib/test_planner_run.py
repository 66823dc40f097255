"""Plans as whole runs: time for tokens and tokens for days, their order, and where fewer GPUs are better."""

import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from hwlib.goodput import Job, expected_run, published
from hwlib.planner import PlanError, pareto, plan
from hwlib.planner.run import CANDIDATES, fastest_runs, fitted_gpus, rests_of_run, run_of, undominated_runs
from hwlib.planner.run_query import RunQuery
from hwlib.planner.run_words import (
    SHOWN,
    TOLD,
    columns,
    constants,
    interruptions,
    losses,
    rounded,
    run_record,
    run_text,
    run_words,
    tokens,
)
from hwlib.transformer import parameter_count
from hwlib.units import day, hour, show


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


@pytest.mark.parametrize("asked", [{"tokens": 1e30}, {"days": 1e30}, {"days": 0}, {"tokens": -1}, {"tokens": True}])
def test_tokens_and_days_are_numbers_above_zero_and_below_1e30(found, asked):
    with pytest.raises(PlanError, match="expected a number above 0") as caught:
        run_of(found.task, found[0], **asked)
    assert caught.value.field == next(iter(asked))


def test_a_job_is_busy_with_arithmetic_and_with_the_bubbles_of_others(found):
    plan, time = found[0], found[0].time
    run = run_of(found.task, plan, tokens=1e12)
    assert run.job.busy == pytest.approx(float(time.compute + time.recomputed + time.bubble) / plan.seconds)
    full = replace(
        plan,
        time=replace(
            time,
            compute=2.0,
            recomputed=1.0,
            bubble=1.0,
            dp=4.0,
            **dict.fromkeys(("tp", "cp", "ep", "pp", "optimizer", "other", "offload"), 0.0),
        ),
    )
    assert run_of(found.task, full, tokens=1e9).job.busy == 0.5
    assert run_of(found.task, full, tokens=1e9).ideal == 8 * run_of(found.task, full, tokens=1e9).job.steps
    assert (run.job.node, run.job.gpus, run.job.fitted, run.job.price) == (8, 256, 64, found.task.price)


def made(ideal=1000.0, **parts):
    """A run of 16 GPUs in two nodes whose parts, and all else that is looked at, are given."""
    run = expected_run(Job(10, 100.0, 16, 8, 1e12, 0.5, 1.0, 0.0), published())
    none = dict.fromkeys(("stragglers", "saving", "again", "restarting", "waiting"), 0.0)
    return replace(run, ideal=ideal, **none | parts)


TASK = SimpleNamespace(B=10**8)


def test_what_is_lost_is_named_the_largest_first_and_no_trace_of_it():
    text = losses(made(900.0, saving=90.0, again=9.9, waiting=0.051, restarting=0.049))
    assert text == "waiting for checkpoints 90 s (9.0%), work done again 9.9 s (1.0%), waiting for repairs 51 ms (0.0%)"
    assert losses(made()) == "nothing"
    assert SHOWN == 5e-5


@pytest.mark.parametrize(("x", "text"), [(1234.0, "1,230"), (0.4, "0"), (1235.1, "1,240"), (1e6, "1,000,000")])
def test_numbers_have_three_figures(x, text):
    assert rounded(x) == text


@pytest.mark.parametrize(
    ("B", "text"), [(10**8, "1B"), (1234 * 10**5, "1.23B"), (10**11, "1T"), (10**5, "1M"), (1, "10")]
)
def test_tokens_are_counted_in_thousands_and_billions(B, text):
    assert tokens(made(), SimpleNamespace(B=B)) == text


def test_columns_of_runs_have_tokens_where_days_were_given_and_hours_without_a_price():
    run = replace(made(3600.0), spares=1)
    assert columns([run], TASK, days=False) == [
        ("run", ["60 min"]),
        ("goodput", ["100.0%"]),
        ("spares", ["1"]),
        ("GPU hours", ["24"]),
    ]
    assert columns([run], TASK, days=True)[0] == ("tokens", ["1B"])


def test_as_many_spares_as_a_cluster_lacks_are_told():
    """Two nodes and three spares are 40 GPUs."""
    run = replace(made(), spares=3)
    for whole, lacking in ((40, None), (48, None), (39, None), (33, None), (32, 1), (24, 2), (16, 3)):
        lines, _ = run_text(run, TASK, whole)
        told = [line for line in lines if "no node left" in line]
        assert told == ([f"  The cluster has no node left for {lacking} of the spares."] if lacking else [])
        assert not lacking or lines.index(told[0]) == 2


def test_what_a_run_waits_for_is_said_with_its_times():
    run = replace(made(), mtbf=3600.0, every=7, interval=70.0, t_save=2.0, t_write=3.0, t_back=5.0)
    text = interruptions(replace(run, ideal=36000.0))
    assert text == (
        "Interrupted every 60 min, 10 times. A checkpoint of 1 TB every 7 steps (70 s): training waits 2 s for it, and "
        "it is written in 3 s. A restart takes 5 s."
    )
    assert "written" not in interruptions(replace(run, t_write=0.0))
    assert "every 60 min, 0.28 times" in interruptions(run)
    assert ", 1 times" in interruptions(replace(run, ideal=3600.0))


def test_a_typed_number_that_could_add_a_thousandth_is_named(monkeypatch):
    shares = {"t_repair": TOLD, "spread": TOLD - 1e-9}
    monkeypatch.setattr("hwlib.planner.run_words.rests_of_run", lambda run: shares)
    text = run_words(made(), TASK)[-1]
    assert text == "  It rests on repair of a node (24 h), typed (twice: +0.1%)."
    shares |= {"t_repair": TOLD - 1e-9}
    assert "rests" not in run_words(made(), TASK)[-1]


def test_the_whole_run_in_words():
    lines = run_words(replace(made(3600.0, again=360.0), spares=1), TASK)
    assert lines[0] == "The whole run, 1B tokens in 10 steps:"
    assert lines[1] == (
        "  Undisturbed 60 min; expected 66 min (+10.0%), goodput 90.9%; 16 GPUs and 1 spare node, 26 GPU hours."
    )
    assert lines[2] == "  Beside the steps: work done again 6 min (9.1%)."
    priced = replace(made(3600.0), job=made().job._replace(price=1.0), spares=0)
    assert ", 57,600 dollars." in run_words(priced, TASK)[1]


@pytest.mark.parametrize(
    ("changed", "absent"),
    [
        ({}, set()),
        ({"t_back": 60.0}, {"t_detect", "read"}),
        ({"storage": 1e12}, {"read", "write"}),
        ({"blocking": True}, {"copy"}),
        ({"t_back": 60.0, "storage": 1e12}, {"t_detect", "read", "write"}),
    ],
)
def test_a_constant_that_another_stands_for_is_not_told(changed, absent):
    job = Job(10, 100.0, 16, 8, 1e9, 0.5, 1.0, 0.0)
    record = run_record(expected_run(job, published().given(**changed)), TASK)
    usual = {"t_gpu", "broken", "t_detect", "t_repair", "copy", "write", "read", "spread"}
    assert record["constants"].keys() == usual - absent | changed.keys() - {"blocking"}
    assert all(record["constants"][name]["source"] == "given" for name in changed.keys() - {"blocking"})
    assert (record["tokens"], record["steps"], record["cost"]) == (10**9, 10, None)
    assert record["checkpoint"]["how"] == ("blocking" if "blocking" in changed else "async")


def test_a_constant_is_told_with_its_unit():
    lines = constants(made())
    assert f"interruptions of a GPU: every {show(published().t_gpu, 's', 3)} ({published().sources['t_gpu']})" in lines
    assert any(line.startswith("repair of a node: 24 h (") for line in lines)
    assert any(line.startswith(f"writing of it, a GPU: {show(published().write, 'B/s', 3)} (") for line in lines)
    assert any(re.match(r"share of interruptions that take a node out: [\d.]+ ?% \(", line) for line in lines)


def test_twice_of_what_nobody_published_makes_a_run_longer():
    run = made()
    whole = expected_run(run.job, run.reliability)
    for name, share in rests_of_run(whole).items():
        worse = replace(run.reliability, spares=whole.spares, **{name: 2 * getattr(run.reliability, name)})
        assert share == pytest.approx(expected_run(run.job, worse).time / whole.time - 1)


# What is asked


@pytest.mark.parametrize(
    ("options", "query"),
    [
        ({}, None),
        ({"tokens": None, "blocking": False, "other": 3}, None),
        ({"tokens": 1e12}, RunQuery(1e12)),
        ({"days": 3.0, "mtbf": 60.0}, RunQuery(None, 3.0, 60.0)),
        ({"days": 3.0, "blocking": True, "spares": 0}, RunQuery(None, 3.0, None, {"blocking": True, "spares": 0})),
        (
            {"tokens": 1.0, "restart": 1.0, "checkpoint_every": 2.0, "checkpoint_bandwidth": 3.0},
            RunQuery(1.0, None, None, {"t_back": 1.0, "interval": 2.0, "storage": 3.0}),
        ),
        ({"tokens": 1.0, "repair": 4.0, "spread": 0.5}, RunQuery(1.0, None, None, {"t_repair": 4.0, "spread": 0.5})),
    ],
)
def test_what_is_asked_of_a_run(options, query):
    assert RunQuery.of(options) == query


@pytest.mark.parametrize("options", [{"tokens": 1.0, "days": 1.0}, {"mtbf": 60.0}, {"spares": 0}, {"blocking": True}])
def test_a_run_is_of_tokens_or_of_days(options):
    with pytest.raises(PlanError) as caught:
        RunQuery.of(options, named="--{}".format)
    assert caught.value.field == "tokens"
    assert (
        caught.value.problem == f"expected --tokens or --days, one of them, got {', '.join(f'--{n}' for n in options)}"
    )


def test_the_time_between_interruptions_is_that_of_a_node_or_of_a_published_run():
    asked = RunQuery(tokens=1.0, mtbf=3600.0, given={"spread": 0.5}).asked(8)
    assert (asked["tokens"], asked["days"]) == (1.0, None)
    assert (asked["reliability"].t_gpu, asked["reliability"].spread) == (8 * 3600.0, 0.5)
    assert RunQuery(days=1.0).asked(8)["reliability"].t_gpu == published().t_gpu
    assert RunQuery(days=1.0, mtbf="rsc-1").asked(8)["reliability"].t_gpu == published("rsc-1").t_gpu


def test_an_answer_has_as_many_runs_as_asked_for(found, front):
    best, runs = RunQuery(tokens=1e12).answered(found, 2)
    assert (len(best), len(runs)) == (2, 2)
    several, more = RunQuery(tokens=1e12).answered(front, 1)
    assert len(several) == len(more) == 2
