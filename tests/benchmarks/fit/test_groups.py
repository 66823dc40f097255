"""`make fit` in a clean tree changes nothing; a constant that was moved by hand is put back where its rows want it."""

import re
from dataclasses import replace

import pytest
from click.testing import CliRunner

from benchmarks.fit import groups as fit
from benchmarks.fit import stacks as fit_stacks
from benchmarks.fit.constants import fit_part, kept_unless_better
from benchmarks.fit.groups import GROUPS, PASSING, SPECS, with_entries
from benchmarks.fit.stacks import GAIN, kept_or_better, own_error, rows_of
from benchmarks.fit.toml_values import changed_lines, with_more, with_rows, with_values
from benchmarks.rows.published import ROWS, rows_to_fit, steps
from hwlib.specs import frameworks, stacks
from hwlib.specs.fitted import KINDS, GemmConstants, all_fitted
from hwlib.specs.serving_stack import serving_stacks

TABLE = """# a head

# 12 rows
[a]
name = "A"
error = 0.020  # of what
eta = 0.50
t = 60e-6

# of b
["b.1"]
eta = 0.5
"""


def test_a_number_is_changed_where_it_stands_and_nothing_else():
    made = with_values(TABLE, "a", {"error": "0.021", "eta": "0.5", "t": "6e-05"})
    assert list(changed_lines(TABLE, made)) == ["-error = 0.020  # of what", "+error = 0.021  # of what"]
    assert with_values(TABLE, '"b.1"', {"eta": "0.6"}) == TABLE.replace('"]\neta = 0.5', '"]\neta = 0.6')


def test_a_number_that_a_table_lacks_becomes_its_last_line():
    made = with_more(TABLE, "a", "margin", "0.3")
    assert list(changed_lines(TABLE, made)) == ["+margin = 0.3"]
    assert made == TABLE.replace("t = 60e-6\n", "t = 60e-6\nmargin = 0.3\n")
    assert with_more(made, "a", "margin", "0.2") == made.replace("margin = 0.3", "margin = 0.2")
    assert with_more(TABLE, '"b.1"', "margin", "0.3") == TABLE + "margin = 0.3\n"


def test_the_number_of_rows_is_that_of_the_table_below():
    assert with_rows(TABLE, "a", 13) == TABLE.replace("12 rows", "13 rows")
    assert with_rows(TABLE, '"b.1"', 13) == TABLE


@pytest.mark.parametrize(("key", "name"), [("c", "eta"), ("a", "et"), ('"b.1"', "t")])
def test_a_number_that_does_not_stand_there_is_refused(key, name):
    with pytest.raises(ValueError, match=rf"\[{re.escape(key)}\]"):
        with_values(TABLE, key, {name: "1"})


def test_an_entry_keeps_its_day_unless_it_changes():
    text = (SPECS / "fitted.toml").read_text("utf-8")
    shares = list(fit_part("share", rows_to_fit(ROWS), ROWS))
    assert with_entries(text, "share", shares, folded=True) == text
    moved = with_entries(text.replace("eta = 0.9582", "eta = 0.9"), "share", shares, folded=True)
    assert PASSING.sub("", moved) == PASSING.sub("", text)
    assert moved != text


@pytest.mark.parametrize(
    ("group", "change"),
    [
        pytest.param("memory", ("fragmentation = 0.16", "fragmentation = 0.2"), marks=pytest.mark.slow),
        pytest.param("memory", ("margin = 0.066", "margin = 0.1"), marks=pytest.mark.slow),
        pytest.param("memory", ("margin = 0.206", "margin = 0.2"), marks=pytest.mark.slow),
        ("share", ("eta = 0.8746", "eta = 0.9")),
    ],
)
def test_the_command_puts_back_what_was_moved(tmp_path, monkeypatch, group, change):
    path = SPECS / GROUPS[group].file
    text = path.read_text("utf-8")
    moved = tmp_path / path.name
    moved.write_text(text.replace(*change))
    monkeypatch.setattr(fit, "SPECS", tmp_path)
    checked = CliRunner().invoke(fit.main, ["--check", group])
    assert checked.exit_code == 1
    assert f"-{change[1]}" in checked.output
    assert moved.read_text() == text.replace(*change)
    assert CliRunner().invoke(fit.main, [group]).exit_code == 0
    assert PASSING.sub("", moved.read_text()) == PASSING.sub("", text)
    assert CliRunner().invoke(fit.main, ["--check", group]).exit_code == 0


@pytest.mark.slow
@pytest.mark.parametrize("group", ["share", "tree", "memory", "one-gpu"])
def test_constants_that_are_quick_to_fit_are_those_of_the_rows(group):
    assert_standing(group)


@pytest.mark.slow
@pytest.mark.parametrize("group", ["serving", "attention", "decode", "grouped", "gemm", "collective"])
def test_constants_are_those_that_the_rows_give(group):
    assert_standing(group)


def assert_standing(group):
    """The table as it stands, the errors of held-back rows aside."""
    text = (SPECS / GROUPS[group].file).read_text("utf-8")
    assert list(changed_lines(text, GROUPS[group].renewed(text, ROWS, False))) == []


@pytest.fixture(scope="module")
def timed():
    return steps(ROWS)


DEAR = ("vtrain-a100",)
FITTED = [key for key, stack in stacks.items() if stack.fitted]


@pytest.mark.slow
@pytest.mark.parametrize("key", [pytest.param(key, marks=pytest.mark.nightly if key in DEAR else ()) for key in FITTED])
def test_no_fit_of_a_stack_is_better_than_what_stands(timed, key):
    [found] = kept_or_better(timed, [key])
    assert found == stacks[key]


@pytest.mark.slow
@pytest.mark.parametrize("key", FITTED)
def test_the_error_of_a_stack_is_that_of_its_rows(timed, key):
    stack = stacks[key]
    assert own_error(stack, rows_of(stack, timed)) == pytest.approx(stack.error, abs=GAIN)


@pytest.mark.slow
def test_a_constant_of_a_stack_moved_by_hand_is_put_back(timed, monkeypatch):
    key = "megatron-2022-a100"
    moved = stacks[key].replace(eta_C=stacks[key].eta_C * 1.04)
    monkeypatch.setattr(fit_stacks, "stacks", dict(stacks.items()) | {key: moved})
    [found] = kept_or_better(timed, [key])
    assert found.eta_C == pytest.approx(stacks[key].eta_C, rel=0.01)


def test_what_is_not_fitted_says_why_it_is_what_it_is():
    """A record without rows has a note, or is like one with; in fitted.toml typed constants are named."""
    for record in (*stacks.values(), *frameworks.values(), *serving_stacks.values()):
        assert record.rows or record.note, record.key
        assert bool(record.rows) == bool(record.fitted), record.key
    for entry in all_fitted():
        assert type(entry) in KINDS.values()
        assert not getattr(entry, "typed", ()) or entry.note


@pytest.mark.parametrize(("moved", "kept"), [(1.0, True), (1.0046, True), (1.0047, False)])
def test_constants_stand_until_others_are_better(moved, kept):
    standing = next(one for one in all_fitted() if isinstance(one, GemmConstants))
    made = replace(standing, eta_C=standing.eta_C * moved)

    def ratios(constants):  # rows that want what was made
        return [constants.eta_C / made.eta_C, 1.3]

    assert kept_unless_better(made, ["eta_C"], ratios).eta_C == (standing if kept else made).eta_C
    fewer = replace(made, count=made.count - 1)
    assert kept_unless_better(fewer, ["eta_C"], ratios) == replace(fewer, error=pytest.approx(0.15))
