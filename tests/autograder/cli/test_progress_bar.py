"""The progress of a run: a bar on a terminal, plain lines elsewhere."""

import io

import pytest
from rich.console import Console

from autograder.cli import progress_bar


@pytest.fixture
def clock(monkeypatch):
    """Seconds that pass when they are told to."""
    now = [0.0]
    monkeypatch.setattr(progress_bar.time, "monotonic", lambda: now[0])
    return now


def test_no_terminal_gets_a_line_now_and_then(clock):
    console = Console(file=io.StringIO(), width=100)
    with progress_bar.ProgressMeter(console) as made:
        made.started(40, "The last run ended early.")
        for number in range(40):
            clock[0] += 0.5
            made.progress(f"l{number}")
    lines = console.file.getvalue().splitlines()
    assert lines[:2] == ["The last run ended early.", "20 of 40 graded, 2.0 a second, 10 s left"]
    assert lines[2:] == ["40 of 40 graded, 2.0 a second, 0 s left"]
    assert "\x1b" not in console.file.getvalue()


def test_a_terminal_gets_a_bar_with_rate_and_time():
    console = Console(file=io.StringIO(), width=100, force_terminal=True)
    with progress_bar.ProgressMeter(console) as made:
        made.started(3, "")
        made.progress("ann")
        made._bar.refresh()
        shown = console.file.getvalue()
    assert "1/3" in shown
    assert "left" in shown
    assert " a second" in shown or " a minute" in shown


def test_slow_runs_count_by_the_minute(clock):
    made = progress_bar.ProgressMeter(Console(file=io.StringIO()))
    made.started(2, "")
    clock[0] += 30.0
    made.progress("ann")
    assert made.rate == "2.0 a minute"


def test_no_submissions_are_no_error():
    console = Console(file=io.StringIO())
    with progress_bar.ProgressMeter(console) as made:
        made.started(0, "")
    assert console.file.getvalue() == ""
