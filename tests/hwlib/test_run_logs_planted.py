"""Logs of small real runs with one planted cause each (`python -m benchmarks.planted` wrote them)."""

from pathlib import Path

import pytest

from hwlib.run_logs.facts import facts_of
from hwlib.run_logs.finding import POSSIBLE
from hwlib.run_logs.findings import findings_of
from hwlib.run_logs.pace import pace_of
from hwlib.run_logs.reader import read_run_log

FOLDER = Path(__file__).parent / "data" / "run_logs" / "planted"
LOGS = {path.stem: path.read_text("utf-8") for path in sorted(FOLDER.glob("*.log"))}
PLANTED = [name for name in LOGS if not name.startswith("hidden")]
TOLD = {"batch_nanogpt": {"asked_batch_tokens": 768}}
PROGRAMS = (
    "_megatron",
    "_torchtitan",
    "_nanogpt",
    "_neox",
    "_trainer",
    "_listed",
    "_deepspeed",
    "_torchtune",
    "_composer",
)
PATTERNS = {"irregular", "drift", "shift", "periodic", "outside", "warmup"}
"""What only says how the steps look, and names no cause; a busy machine makes each of them."""


def cause_of(name):
    for program in PROGRAMS:
        name = name.removesuffix(program)
    return name


def found(name):
    log = read_run_log(LOGS[name])
    facts = facts_of(log, TOLD.get(name, {}))
    return findings_of(log, facts, pace_of(log, facts))


@pytest.mark.parametrize("name", PLANTED)
def test_the_planted_cause_is_named_and_no_other(name):
    kinds = {finding.kind for finding in found(name)}
    assert cause_of(name) in kinds
    assert kinds - PATTERNS <= {cause_of(name)}


def test_there_are_twenty_runs_of_many_causes():
    assert len(PLANTED) == 20
    assert len({cause_of(name) for name in PLANTED}) >= 12


@pytest.mark.parametrize(("name", "kind"), [("hidden_composer", "periodic"), ("hidden_torchtitan", "irregular")])
def test_what_a_log_cannot_show_is_not_asserted(name, kind):
    findings = [finding for finding in found(name) if finding.kind != "warmup"]
    assert kind in {finding.kind for finding in findings}
    assert {finding.sure for finding in findings} == {POSSIBLE}


def test_the_period_of_a_checkpoint_is_that_of_the_run():
    saving = next(finding for finding in found("save_nanogpt") if finding.kind == "save")
    assert "every 10 steps" in saving.sentence
    assert saving.steps[:3] == (11, 21, 31)
