"""Which cells an answer in code needs: the same ones whatever else was run, so that the same answer stays the same."""

import pytest

from autograder.learner.answer_cells import needed

SETUP = "import numpy as np\nfrom autograder import check, grade"
CASES = {
    "alone": (["def f(x):\n    return x"], [0], 0),
    "with what it imports": ([SETUP, "y = 3", "def f(x):\n    return np.sin(x)"], [0, 2], 1),
    "with its helper, wherever it stands": (["def f(x):\n    return g(x)", "def g(x):\n    return x"], [0, 1], 0),
    "with what was changed": (["a = []", "a.append(1)", "b = 1", "def f(x):\n    return a[0]"], [0, 1, 3], 2),
    "as it ran last": (["def f(x): return 1", "def f(x): return 2", "def f(x): return 1"], [1], 0),
    "without what was there before": (
        ["def g(): return 1", "def g(): return 2", "def f(x):\n    return g()"],
        [1, 2],
        1,
    ),
    "with what its helper was made of": (["k = 1", "k = k + 1", "def f(x):\n    return k"], [0, 1, 2], 2),
    "without what calls a module": ([SETUP, "np.zeros(3)", "grade('x', f)", "def f(x):\n    return np.pi"], [0, 3], 1),
    "without a cell that is no code": (["def f(x", "def f(x):\n    return x"], [1], 0),
    "with everything of a module": (["from math import *", "def f(x):\n    return sin(x)"], [0, 1], 1),
}


@pytest.mark.parametrize(("cells", "kept", "answer"), CASES.values(), ids=CASES)
def test_an_answer_goes(cells, kept, answer):
    found = needed(cells, "f")
    unique = list(dict.fromkeys(reversed(cells)))[::-1]
    assert [unique.index(cell) for cell in found.cells] == kept
    assert found.answer == answer


def test_a_name_that_no_cell_binds_is_not_there():
    assert needed(["print(f)"], "f") is None
    assert needed([], "f") is None
