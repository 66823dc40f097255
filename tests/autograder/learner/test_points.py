"""The points of `grade` in words, where IPython shows them."""

from types import SimpleNamespace

import IPython
import pytest
from IPython.core.formatters import DisplayFormatter

from autograder.declaration import Verdict
from autograder.learner.points import in_words

RECORDED, RIGHT = Verdict(0.0, "Recorded: 6 ms.", "recorded"), Verdict(1.0, "Right.", "right")
WORDS = "Its points come with the grading."


@pytest.fixture
def shown(monkeypatch):
    """A function that shows a value as a shell with these active types does."""

    def show(value, *types):
        shell.display_formatter.active_types = list(types)
        return shell.display_formatter.format(value)[0]

    shell = SimpleNamespace(display_formatter=DisplayFormatter())
    monkeypatch.setattr(IPython, "get_ipython", lambda: shell)
    shell.display_formatter.active_types = ["text/plain"]
    return show


def test_a_terminal_prints_words_and_other_numbers_as_it_did(shown):
    value = in_words(0.0, RECORDED, None)
    assert type(value) is float
    assert shown(value, "text/plain") == {"text/plain": WORDS}
    assert shown(0.0, "text/plain") == {"text/plain": "0.0"}
    plain = IPython.get_ipython().display_formatter.formatters["text/plain"]
    plain.float_precision = "2"
    assert shown(1.5, "text/plain") == {"text/plain": "1.50"}
    assert shown(in_words(2.0, RIGHT, 2.0), "text/plain") == {"text/plain": "2 of 2 points"}


def test_a_notebook_has_the_number_for_nbgrader_beside_the_words(shown):
    types = ("text/plain", "text/html")
    IPython.get_ipython().display_formatter.active_types = list(types)
    data = shown(in_words(0.0, RECORDED, None), *types)
    assert data["text/plain"] == "0.0"
    assert f">{WORDS}<" in data["text/html"]
    assert shown(0.0, *types) == {"text/plain": "0.0"}
