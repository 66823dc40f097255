"""What an agent asks takes no longer than its text is long, and repeats little of it."""

import time

import pytest

from autograder.cli import agent_tools

LONG = 100_000


@pytest.mark.parametrize(
    ("ask", "error"),
    [
        (lambda: agent_tools.formulas(" ".join(f"word{k}" for k in range(LONG))), LookupError),
        (lambda: agent_tools.formulas("all-reduce " * LONG), None),
        (lambda: agent_tools.formulas("a" * LONG), LookupError),
        (lambda: agent_tools.evaluate("a" * LONG, {}), LookupError),
        (lambda: agent_tools.specs("models", "a" * LONG), LookupError),
        (lambda: agent_tools.specs("a" * LONG), LookupError),
        (lambda: agent_tools.limits("a" * LONG), LookupError),
    ],
    ids=["words", "one-word-again", "a-long-word", "a-formula", "a-key", "a-kind", "a-section"],
)
def test_a_long_text_is_answered_at_once(ask, error):
    agent_tools.formulas("all-reduce")  # what is loaded once
    began = time.process_time()
    if error is None:
        assert ask()["formulas"]
    else:
        with pytest.raises(error) as caught:
            ask()
        assert len(str(caught.value)) < 5000
    assert time.process_time() - began < 1
