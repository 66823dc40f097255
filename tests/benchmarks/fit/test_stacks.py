"""Fitting stacks to steps: made-up steps give back the constants that they were made with."""

import csv
import json
import math
from dataclasses import replace

import pytest
from click.testing import CliRunner

from benchmarks.fit.stacks import alike, fit_stack, mean_error, rows_of
from benchmarks.fit.stacks import toml as stack_toml
from benchmarks.fit.toml_values import table_name
from benchmarks.rows.kept_rows import KEPT as DATA
from benchmarks.rows.published import COLUMNS, ROWS, read_rows, steps
from benchmarks.score.fidelity import main
from benchmarks.score.kept_scores import (
    SCORES,
    HeldOut,
    held_out,
    held_out_table,
    kept_held_out,
    kept_repeats,
    kept_scores,
    repeats,
    repeats_table,
    scores_table,
)
from benchmarks.score.scores import report
from hwlib.specs import Stack, stacks
from hwlib.specs.stack import read_stacks


@pytest.fixture(scope="module")
def made():
    """Every kept step of A100s, with the seconds that a stack of our own gives."""
    truth = Stack.ideal("a100-80gb-sxm").replace(eta_C=0.7, eta_W=0.8, eta_in=0.6, t_layer=5e-4)
    cases = [c for _, c in steps(DATA) if c.chip == truth.chip]
    seconds = [c.time(truth) for c in cases]
    return truth, [replace(c, seconds=s) for c, s in zip(cases, seconds, strict=True)]


def test_steps_of_one_model_and_machine_are_one_array(made):
    truth, cases = made
    groups = alike(cases)
    assert sum(len(g.seconds) for g in groups) == len(cases) > len(groups)
    assert mean_error(truth, groups) < 1e-9


def test_a_fit_finds_the_constants_again(made):
    truth, cases = made
    start = truth.replace(eta_C=0.5, t_layer=2e-4)
    found = fit_stack(start, cases, ("eta_C", "t_layer"))
    assert found.eta_C == pytest.approx(0.7, rel=0.02)
    assert mean_error(found, alike(cases)) < 0.01
    assert fit_stack(truth, cases, ("eta_out",)).eta_out <= 1.0  # a share, and its rows say little about it


def test_a_share_stays_a_share(made):
    truth, cases = made
    faster = [replace(c, seconds=c.seconds / 10) for c in cases]
    assert fit_stack(truth, faster, ("eta_C",)).eta_C == 1.0


def test_each_table_counts_alike_however_many_rows_it_has(made):
    """Two tables of one slow step each outvote a large one, and are outvoted where all is one table."""
    truth, cases = made
    slower = truth.replace(eta_C=0.5)
    slow = [replace(c, seconds=c.time(slower), group=f"slow {i}") for i, c in enumerate(cases[:2])]
    large = [replace(c, group="large") for c in cases]
    assert fit_stack(truth, large + slow, ("eta_C",)).eta_C == pytest.approx(0.5, rel=0.05)
    one = [replace(c, group="one") for c in large + slow]
    assert fit_stack(truth, one, ("eta_C",)).eta_C == pytest.approx(0.7, rel=0.05)


def test_models_with_experts_decide_their_own_constant_only(made):
    truth, cases = made
    moe = replace(cases[0].model, experts=8, experts_per_token=2, expert_ffn=2880, dense_layers=0)
    slow = [replace(c, model=moe, seconds=100 * c.seconds, group="experts") for c in cases[:4]]
    found = fit_stack(truth.replace(eta_E=0.5), cases + slow, ("eta_C", "eta_E"))
    assert found.eta_C == fit_stack(truth, cases, ("eta_C",)).eta_C
    assert found.eta_E < 0.5


def test_models_with_experts_count_each_row_alike_where_no_others_are(made):
    """Two tables of one step each do not outvote a large one."""
    truth, cases = made
    moe = replace(cases[0].model, experts=8, experts_per_token=2, expert_ffn=2880, dense_layers=0)
    cases = [replace(c, model=moe, group="large") for c in cases[:8]]
    large = [replace(c, seconds=c.time(truth)) for c in cases]
    slower = truth.replace(eta_C=0.4)
    few = [replace(c, seconds=c.time(slower), group=f"few {i}") for i, c in enumerate(cases[:2])]
    assert fit_stack(truth, large + few, ("eta_C",)).eta_C == pytest.approx(0.7, rel=0.05)


def test_a_stack_that_follows_decides_no_constants_of_the_one_before_it():
    pairs = list(steps(ROWS, every=True))
    newer = {"megatron-core-2606-gb200", "megatron-core-2606-gb300", "megatron-core-2606-b300"}
    assert not newer & {case.stack for case in rows_of(stacks["megatron-core-h100"], pairs)}
    assert not newer & {case.stack for case in rows_of(stacks["megatron-core-gb200"], pairs)}
    assert {case.stack for case in rows_of(stacks["megatron-core-2606-gb200"], pairs)} == newer


# Stacks of one GPU are fitted and scored by `benchmarks.fit.one_gpu`, whose tests hold them to their steps
PUBLISHED = [key for key in stacks if stacks[key].rows and not stacks[key].one_gpu]


@pytest.mark.parametrize("key", PUBLISHED)
def test_what_a_stack_errs_by_is_what_its_steps_of_dense_models_did(key):
    """The means of all rows, as benchmarks/data/scores.csv keeps them; without any, those of the one it is like."""
    stack, chip = stacks[key], key.rpartition("-")[2]
    begins = {
        "mosaic": f"mosaic-{chip}",
        "mbridge-": f"mbridge-{chip}-llama3",
        "nemo-long-DGX-H100": "nemo-long",
        "nemo2-b200": "nemo-b200",
        "nemo-long-DGX-B200": "nemo-b200",
        "titan": "torchtitan",
        "ao-": "torchao",
        "mlperf50-amd": f"megatron-rocm-{chip}",
        "mlperf51-amd": f"megatron-rocm-{chip}",
    }
    tables = tuple(begins.get(name, name.removesuffix("-apr")) for name in stack.rows)
    scores = [s for s in kept_scores() if s.set.startswith(tables) and "," not in s.set]
    dense = [s for s in scores if not s.set.endswith("others")]
    if not dense:
        assert stack.error == stacks[stack.like].error
        return
    mean = sum(s.rows * s.mean_abs_error for s in dense) / sum(s.rows for s in dense)
    assert stack.error == pytest.approx(mean, abs=0.002)


@pytest.mark.parametrize("key", [key for key in stacks if stacks[key].rows])
def test_each_stack_rests_on_rows_that_ask_for_it(key):
    """Its own, or those of stacks that are like it, with which it is fitted together."""
    stack, alike = stacks[key], {key}
    for other in stacks.values():  # a stack stands after the one that it is like
        alike |= {other.key} if other.like in alike else set()
    assert {case.stack for case in rows_of(stack, steps(DATA))} <= alike
    assert stack.fitted


def test_the_kept_rows_of_training_are_predicted():
    result = report(DATA)
    assert not result.unmodelled
    assert {"kor-t5", "meg21", "vtrain-multi", "vtrain-single", "mosaic-a100", "kor-f7"} <= {
        s.set for s in result.training
    }
    assert all(s.mean_abs_error < s.plain_mean for s in result.training)


def write(path, rows):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.mark.slow
def test_what_is_printed_is_a_table_that_the_reader_takes(tmp_path):
    cells = [row.cells for row in read_rows(DATA)[0] if row.set.startswith("mosaic-a100")]
    path = write(tmp_path / "few.csv", cells)
    key = "llm-foundry-a100"
    ran = CliRunner().invoke(main, ["--fit-stacks", "--stack", key, "--data", str(path)])
    assert ran.exit_code == 0, ran.output
    kept = stacks[key]
    assert f"[{table_name(kept)}]" in ran.output
    text = ran.output.replace(f'like = "{kept.like}"', "")
    [entry] = read_stacks("printed", text)
    assert entry.rows == kept.rows
    assert 0 < entry.error < 0.2


def test_repeats_are_the_same_plan_measured_again(tmp_path):
    [row] = [row.cells for row in read_rows(DATA)[0] if row.set == "kor-t5"][:1]
    other = json.loads(row["config"]) | {"gbs": 128}
    again = row | {"id": row["id"] + "-again", "measured_value": str(1.1 * float(row["measured_value"]))}
    rows = [row, again, row | {"id": "kor-t5-other", "config": json.dumps(other)}]
    [found] = repeats(write(tmp_path / "rows.csv", rows))
    assert (found.set, found.plans) == ("kor-t5", 1)
    assert found.median_spread == found.max_spread == pytest.approx(0.1)


def test_what_is_kept_reads_back(tmp_path):
    result = report(DATA)
    path = tmp_path / "scores.csv"
    path.write_text(scores_table(result))
    for kept, score in zip(kept_scores(path), result.training + result.together, strict=True):
        assert kept[:2] == score[:2]
        assert kept.worst == score.worst
        assert kept.mean_abs_error == pytest.approx(score.mean_abs_error, rel=1e-3, abs=1e-9)
    path.write_text(held_out_table([HeldOut("x", 9, 2, 0.5, math.nan)]))
    assert kept_held_out(path)[0][:4] == ("x", 9, 2, 0.5)
    path.write_text(repeats_table(kept_repeats()))
    assert kept_repeats(path) == kept_repeats()


def test_the_kept_scores_are_of_the_stacks_that_are_kept():
    names = {h.stack for h in kept_held_out()}
    assert names == {*PUBLISHED}
    sets = {s.set for s in kept_scores()}
    assert {s.set for s in report(DATA).training} <= sets


@pytest.mark.slow
def test_half_of_the_rows_held_back(tmp_path):
    cells = [row.cells for row in read_rows(DATA)[0] if row.set.startswith("vtrain")]
    found = list(held_out(write(tmp_path / "rows.csv", cells)))
    assert {h.stack for h in found} <= set(stacks)
    assert all(h.error < 0.5 for h in found)


def test_the_page_of_limits_is_what_the_command_prints(root):
    page = (root / "docs/limits.md").read_text("utf-8")
    printed = CliRunner().invoke(main, ["--limits"]).output.rstrip("\n")
    assert printed in page
    assert "\nlimits\n" in (root / "docs/index.md").read_text("utf-8")


def test_stacks_print_as_they_are_written():
    from benchmarks.fit.stacks import StackFit

    stack = Stack.ideal("h100-sxm").replace(eta_C=0.5, error=0.031, rows=("a", "b"), fitted=("eta_C",))
    [back] = read_stacks("printed", stack_toml(StackFit(stack, ("eta_C",), 3, 0.1, math.nan)))
    assert (back.eta_C, back.error, back.rows) == (0.5, 0.031, ("a", "b"))


def test_steps_with_extra_predictions_and_folded_experts_are_alike_to_their_kind(tmp_path):
    """Arrays of plans err as each plan does, whatever else a row trains and however its experts lie."""
    from tests.benchmarks.rows.test_training_rows import EXPERTS, training_case, write

    def step(**config):
        path = write(tmp_path / "rows.csv", EXPERTS | {"config": EXPERTS["config"] | config})
        return training_case(read_rows(path)[0][0])

    deepseek = {"model": "DeepSeekV3", "tp": "1", "vp": "2", "ep": "32", "tokens_s_gpu": 900.0}
    without = deepseek | {"model": "DeepSeekV3 (w/o MTP)"}
    cases = [step(), step(ep="16"), step(**deepseek), step(**deepseek, mbs="2"), step(**without)]
    groups = alike(cases)
    assert sorted(len(group.seconds) for group in groups) == [1, 1, 1, 2]
    stack = stacks["megatron-core-h100"]
    found = sorted(float(error) for group in groups for error in group.errors(stack))
    assert found == pytest.approx(sorted(case.time(stack) / case.seconds - 1 for case in cases), rel=1e-12)


@pytest.mark.slow
def test_the_kept_scores_are_those_of_the_rows():
    printed = scores_table(report(ROWS))
    assert printed == SCORES.read_text("utf-8")


def test_steps_of_different_stacks_share_no_array(made):
    """Each errs by the constants of its own stack, which are the case's: one compiled, one not."""
    _, cases = made
    other = replace(cases[0], stack="another")
    assert [len(group.seconds) for group in alike([cases[0], other])] == [1, 1]
    assert [len(group.seconds) for group in alike([cases[0], cases[0]])] == [2]
