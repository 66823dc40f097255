"""A teacher's own exercises test themselves: what is wrong ends with 1, what could be better does not."""

import re

import pytest
from click.testing import CliRunner

from autograder.cli import commands
from autograder.course import layout

HEAD = "from autograder.answers import Function, Quantity; from autograder.declaration import Exercise, Mistake\n"
ONE_MISTAKE = """
COPY = Exercise(
    id="mine-copy", points=2, prompt="{S:B} at {W:B/s}: how long?", given=dict(S=[1e8, 4e8], W=[5e10, 3e11]),
    answer=Quantity("s"), solution=lambda S, W: S/W,
    mistakes=(Mistake(lambda S, W: W/S, "Turn it over."),))
"""
WRONG = ONE_MISTAKE.replace("lambda S, W: W/S", "lambda S, W: S/W")


@pytest.fixture
def folder(tmp_path):
    layout.init(tmp_path / "course")
    return tmp_path / "course"


def checked(folder, declared, *options):
    (folder / "exercises" / "mine.py").write_text(HEAD + declared)
    return CliRunner().invoke(commands.main, ["course", "check", str(folder), *options])


def test_advice_is_said_and_is_no_error(folder):
    done = checked(folder, ONE_MISTAKE)
    assert done.exit_code == 0, done.output
    assert "mine.py:4: advice: mine-copy: 1 mistake; at least two were expected" in done.output
    assert "mine-copy: ok" in done.output.splitlines()
    strict = checked(folder, ONE_MISTAKE, "--strict")
    assert strict.exit_code == 1
    assert "0 problems and 1 piece of advice" in strict.output


def test_what_makes_verdicts_wrong_is_an_error(folder):
    done = checked(folder, WRONG)
    assert done.exit_code == 1
    assert re.search(r"Error: [1-9] problems and \d pieces of advice in", done.output)
    assert "mine-copy: ok" not in done.output


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        ('Function(args=("x",))', "Function takes no `args`; it takes `name`, `signature`, "),
        ('Quantity("s", rtoll=0.1)', "Quantity takes no `rtoll`, perhaps `rtol` was meant; it takes `unit`, "),
        ("Exercise()", "Exercise lacks `id`, "),
    ],
)
def test_a_wrong_keyword_is_told_what_there_is(folder, call, sentence):
    done = checked(folder, f"A = {call}\n")
    assert done.exit_code == 1
    assert f"mine.py:2: {sentence}" in done.output
    assert "TypeError" not in done.output


def test_another_error_stays_what_it_is(folder):
    assert (
        "mine.py:2: TypeError: can only concatenate"
        in checked(folder, "A = '1' + 1\n".replace("'1' + 1", "[] + 1")).output
    )
