"""`gpubook plan --tokens`: the whole run on the command line."""

import json

import pytest
from click.testing import CliRunner

from autograder.cli import commands
from hwlib.goodput import published
from hwlib.planner import plan
from hwlib.planner.run import run_of
from hwlib.units import day, minute

SMALL = ["llama3-8b", "--cluster", "dgx-h100", "--batch", "1M", "--tp", "2", "--pp", "1"]


def run(*words):
    return CliRunner().invoke(commands.main, ["plan", *words])


def test_a_run_is_told_beside_the_plans():
    done = run(*SMALL, "--tokens", "1T", "--price", "2")
    assert done.exit_code == 0, done.output
    head = done.output.splitlines()[4]
    assert head.split()[-4:] == ["goodput", "spares", "$", "run"]
    assert "The whole run, 1T tokens in 953,675 steps:" in done.output
    assert "It rests on" in done.output
    assert "The cluster has no node left for" in run(*SMALL, "--tokens", "1T", "--spares", "2").output


def test_without_it_nothing_is_said_of_a_run():
    done = run(*SMALL)
    assert "goodput" not in done.output
    assert "whole run" not in done.output


def test_options_are_what_the_run_is_computed_with():
    words = "--tokens 300B --mtbf 100days --restart 20min --checkpoint-every 2h --repair 6h --blocking --spares 0"
    more = "--checkpoint-bandwidth 10GB/s --spread 2% --json --count 1"
    record = json.loads(run(*SMALL, *words.split(), *more.split()).output)
    given = published().given(
        t_gpu=800 * day,
        t_back=20 * minute,
        interval=7200.0,
        t_repair=6 * 3600.0,
        storage=1e10,
        blocking=True,
        spares=0,
        spread=0.02,
    )
    found = plan("llama3-8b", "dgx-h100", B=2**20)
    best = next(one for one in found if (one.strategy.tp, one.strategy.pp, one.strategy.cp) == (2, 1, 1))
    want = run_of(found.task, best, tokens=300e9, reliability=given)
    (one,) = record["plans"]
    assert one["run"]["seconds"] == pytest.approx(want.time)
    assert one["run"]["parts"] == pytest.approx(want.parts)
    assert one["run"]["checkpoint"]["how"] == "blocking"
    assert {x["source"] for x in one["run"]["constants"].values()} > {"given"}


def test_several_numbers_of_gpus_are_compared_by_their_runs():
    words = ["llama3-8b", "--cluster", "4xdgx-h100", "--batch", "1M", "--tp", "2", "--pp", "1", "--gpus", "16,32"]
    listed = json.loads(run(*words, "--days", "3", "--json").output)
    assert [one["gpus"] for one in listed] == [32, 16]
    assert listed[0]["run"]["tokens"] > listed[1]["run"]["tokens"]
    assert "tokens  goodput  spares  GPU hours" in run(*words, "--days", "3").output
    done = run(*words, "--tokens", "1T", "--mtbf", "9h", "--restart", "4h", "--repair", "1s")
    assert "No plan on 32 GPUs: dominated" in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--tokens 1T --days 3", "expected --tokens or --days, one of them, got --tokens, --days"),
        ("--mtbf 3days", "expected --tokens or --days, one of them, got --mtbf"),
        ("--tokens 3Q", "'3Q' is not a number"),
        ("--tokens 0", "'0' is not a number"),
        ("--tokens 1T --mtbf 3", "'3' has no unit"),
        ("--tokens 1T --restart 10", "'10' has no unit"),
        ("--tokens 1T --checkpoint-every 30", "'30' has no unit"),
        ("--tokens 1T --checkpoint-bandwidth 2", "'2' has no unit"),
        ("--tokens 1T --spread 1.5", "'1.5' has no unit"),
        ("--tokens 1T --restart 0", "'0' is not a time above 0"),
        ("--tokens 1T --mtbf megascale", "'megascale' is not a time, e.g. 264days"),
        ("--tokens 1T --spares x", "'x': expected a number of nodes, price or time"),
        ("--tokens 1T --repair 3GB", "'3GB' is not a time, e.g. 24h"),
        ("--tokens 1T --mtbf 1min", "hardly ever fit between"),
    ],
)
def test_what_cannot_be_asked_of_a_run_says_why(words, message):
    done = run(*SMALL, *words.split())
    assert done.exit_code == 2
    assert message in done.output
