import json
import math
import sys

import pytest
from click.testing import CliRunner

from autograder.answers.selftest import selftest
from autograder.declaration import load_bank
from benchmarks.grading import costs as grading
from benchmarks.grading.classroom import BANK, LAB, NO_LAB, RANKS, draw, points, scores_of
from benchmarks.grading.runs import Failed, run


@pytest.mark.parametrize("name", sorted(points()))
def test_the_questions_test_themselves(name):
    assert selftest(load_bank(BANK)[name]) == []


def test_a_class_is_right_partly_right_and_wrong_and_the_same_each_time():
    learners = draw(LAB, 50, 2)
    assert learners == draw(LAB, 50, 2)
    totals = [sum(scores.values()) for scores in scores_of(learners).values()]
    assert 0 in totals
    assert sum(points()[q.name] for q in LAB) in totals
    assert len(set(totals)) > 5
    assert sorted({who[:2] for who in learners}) == ["w0", "w1"]


def test_a_run_counts_what_is_left_behind_and_ends_it(tmp_path):
    left = f"import subprocess, sys; subprocess.Popen([{sys.executable!r}, '-c', 'import time; time.sleep(60)'])"
    ran = run([[sys.executable, "-c", left]], tmp_path)
    assert ran.left == 1
    assert ran.seconds > 0
    assert ran.cpu > 0 or math.isnan(ran.cpu)
    with pytest.raises(Failed, match="of no use"):
        run([[sys.executable, "-c", "raise SystemExit('of no use')"]], tmp_path)


def figures_of(tmp_path, *options):
    """What the benchmark writes; both sides have given the scores of the plan, else it fails."""
    output = tmp_path / "figures.json"
    done = CliRunner().invoke(grading.main, [*options, "--json", str(output)])
    assert done.exit_code == 0, (done.output, done.exception)
    assert "equal scores" in done.output
    return json.loads(output.read_text())


@pytest.mark.nightly
@pytest.mark.slow
def test_both_sides_give_the_scores_of_the_plan(tmp_path):
    figures = figures_of(tmp_path, "--size", "2", "--workers", "2", "--repeats", "1", "--only", "no-lab")
    assert figures["no-lab"]["size"] == 2
    assert len(figures["no-lab"]["ratios"]["throughput"]) == 1


@pytest.mark.nightly
@pytest.mark.slow
def test_a_quick_look_at_both_sides_with_a_lab_and_at_check(tmp_path):
    figures = figures_of(tmp_path, "--quick")
    for part in ("no-lab", "lab"):
        assert figures[part]["size"] == 5
        assert len(figures[part]["ratios"]["throughput"]) == 1
    assert {"Quantity", "Count", "Choice", "Expression", "Function"} <= set(figures["check"])


def test_the_lab_is_one_question_more():
    assert LAB[:-1] == RANKS[:-1] == NO_LAB
