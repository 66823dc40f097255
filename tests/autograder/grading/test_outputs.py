"""Outputs that a learner's process reports, of which a notebook's are made; and the cells that a rank runs again."""

import pytest

from autograder.grading import rank_processes
from autograder.grading.outputs import cell_outputs, error_output
from autograder.grading.rank_processes import needed_cells


def built(*outputs, fit=str):
    return [dict(one) for one in cell_outputs(list(outputs), fit)]


def test_outputs_are_rebuilt_of_text_alone():
    assert built(
        {"output_type": "stream", "name": "stderr", "text": "a", "more": 1},
        {"output_type": "stream", "name": "elsewhere"},
        {"output_type": "display_data", "data": {"text/plain": "b", "text/html": "<b>"}, "metadata": {"x": 1}},
        {"output_type": "error", "ename": "E`", "evalue": 7, "traceback": ["l"] * 201},
        {"output_type": "error", "traceback": "no list"},
    ) == [
        {"output_type": "stream", "name": "stderr", "text": "a"},
        {"output_type": "stream", "name": "stdout", "text": ""},
        {"output_type": "display_data", "data": {"text/plain": "b"}, "metadata": {}},
        {"output_type": "error", "ename": "E'", "evalue": "7", "traceback": ["l"] * 200},
        {"output_type": "error", "ename": "", "evalue": "", "traceback": []},
    ]


@pytest.mark.parametrize(
    "output",
    [
        7,
        None,
        {},
        {"output_type": "html"},
        {"output_type": "display_data", "data": "text"},
        {"output_type": "execute_result", "data": {}},
        {"output_type": "display_data", "data": {"image/png": "x"}},
    ],
)
def test_what_is_no_output_is_left_out(output):
    assert built(output) == []


def test_what_does_not_fit_is_left_out():
    every = [
        {"output_type": "stream", "text": "a"},
        {"output_type": "display_data", "data": {"text/plain": "b"}},
        {"output_type": "error", "evalue": "c"},
    ]
    assert built(*every, fit=lambda text: None) == []
    assert len(built(*every)) == 3
    assert error_output("Late", "too late")["traceback"] == ["Late: too late"]


CELLS = ["import numpy as np", "a = 1", "b = a + 1", "c = np.ones(3)", "c[0] = 2", "answer = b", "d = c"]


@pytest.mark.parametrize(
    ("asked", "needed"),
    [
        ({5}, {1, 2, 5}),  # what binds a name that is used, and what this needs
        ({1}, {1}),
        ({6}, {0, 3, 4, 6}),  # and what changes it
        ({4}, {0, 3, 4}),
        (set(), set()),
    ],
)
def test_a_rank_runs_the_cells_that_its_answer_needs(asked, needed):
    assert needed_cells(CELLS, [at in asked for at in range(len(CELLS))]) == needed


def test_a_cell_that_cannot_be_read_is_needed(monkeypatch):
    assert needed_cells([], []) == set()
    assert needed_cells(["%magic", "a = 1", "from x import *"], [False] * 3) == {0, 2}
    monkeypatch.setattr(rank_processes, "MAX_CELL", 5)
    assert needed_cells(["a = 1", "bc = 1"], [False] * 2) == {1}
    monkeypatch.setattr(rank_processes, "MAX_CELLS", 9)
    assert needed_cells(["a = 1", "b = 1"], [False] * 2) == {1}
    monkeypatch.setattr(rank_processes, "MAX_CELLS", 10)
    assert needed_cells(["a = 1", "b = 1"], [False] * 2) == set()


@pytest.mark.parametrize(
    ("reply", "lacks"),
    [
        (["failed", "raises", "NameError: x"], True),
        (["failed", "silent", "KeyError: 'x'"], True),
        (["failed", "raises", "ValueError: NameError"], False),
        (["failed", "stopped", "NameError: x"], False),
        (["done", "raises", "NameError: x"], False),
        (["failed", "raises"], False),
        (["failed", "raises", "NameError", 1], False),
        ("failed", False),
        (None, False),
    ],
)
def test_a_name_that_was_not_there_is_told_from_another_failure(reply, lacks):
    assert rank_processes._lacks({"v": reply}) is lacks
    assert not rank_processes._lacks(reply)
