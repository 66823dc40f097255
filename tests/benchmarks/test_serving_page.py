"""The page on serving is what its commands print, and its example in Python runs."""

import pytest

from benchmarks.serving_page import COMMANDS, PAGE, TABLES, block, page
from hwlib.serving_planner import Point


@pytest.mark.parametrize("name", [*COMMANDS, *TABLES])
def test_the_page_is_what_is_generated(name):
    assert block(name) in PAGE.read_text("utf-8"), "run python -m benchmarks.serving_page"


def test_the_commands_of_the_page_stand_on_it():
    text = PAGE.read_text("utf-8")
    for commands in COMMANDS.values():
        for command in commands:
            assert f"$ {command}" in text


@pytest.mark.slow
def test_making_the_page_anew_changes_nothing():
    text = PAGE.read_text("utf-8")
    assert page(text) == text


@pytest.mark.slow
def test_the_python_of_the_page_runs():
    head, _, rest = PAGE.read_text("utf-8").partition("```python\n")
    assert "## From Python" in head
    names = {}
    exec(rest.partition("```")[0], names)
    assert isinstance(names["best"], Point)
    assert names["run"].ttft(0.99) > names["best"].ttft / 4
