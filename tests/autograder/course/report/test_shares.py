"""How much two pieces of work have in common, at each bound from which they count as alike."""

import pytest

from autograder.course.report.likeness import (
    LEAST_WORDS,
    MOST_CODE,
    SimilarWork,
    WorkTrace,
    code_trace,
    groups,
    of_others,
    shared,
    stub_trace,
    text_trace,
)


def trace(digest, *runs):
    return WorkTrace(digest, frozenset(runs), len(runs))


A = trace("a", 1, 2, 3, 4)
HALF = trace("b", 3, 4)  # all of it is in A: half of what either has
THIRD = trace("c", 3, 4, 5, 6)
APART = trace("d", 7)


def test_shares_are_of_all_that_either_has_or_of_the_shorter_one():
    assert shared([A, HALF, APART]) == [[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]]
    assert shared([A, HALF, APART], of_shorter=True) == [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    assert shared([]) == []
    assert shared([trace("e"), trace("f")]) == [[0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize(
    ("alike", "expected"),
    [(0.5, [SimilarWork(("ann", "bob"), 0.5)]), (0.51, []), (0.49, [SimilarWork(("ann", "bob"), 0.5)])],
)
def test_a_share_equal_to_the_bound_is_alike(alike, expected):
    assert groups({"bob": A, "ann": HALF}, alike) == expected


def test_the_shorter_ones_runs_count_where_asked_for():
    assert groups({"ann": A, "bob": HALF}, 0.9) == []
    assert groups({"ann": A, "bob": HALF}, 0.9, of_shorter=True) == [SimilarWork(("ann", "bob"), 1.0)]


def test_groups_are_joined_by_the_middle_one_and_the_largest_comes_first():
    work = {"eve": APART, "dan": APART, "cy": A, "bob": HALF, "ann": THIRD}
    assert groups(work, 0.5) == [SimilarWork(("ann", "bob", "cy"), 0.5), SimilarWork(("dan", "eve"), 1.0)]
    assert groups({"ann": A, "bob": APART}, 0.5) == []


def test_groups_of_one_size_are_in_the_order_of_their_members():
    work = {"dan": A, "cy": A, "bob": APART, "ann": APART}
    assert [one.members for one in groups(work, 0.5)] == [("ann", "bob"), ("cy", "dan")]


@pytest.mark.parametrize(("alike", "who"), [(0.5, {"ann": 1.0, "bob": 0.5}), (0.51, {"ann": 1.0})])
def test_work_is_that_of_a_known_piece_from_the_bound_on(alike, who):
    assert of_others({"ann": A, "bob": HALF, "cy": APART}, A, alike) == who


def test_a_known_piece_is_compared_by_the_shorter_one_and_by_its_digest():
    assert of_others({"bob": HALF}, A, 0.9, of_shorter=True) == {"bob": 1.0}
    assert of_others({"bob": trace("a", 9)}, A, 0.9) == {"bob": 1.0}
    assert of_others({"bob": trace("e")}, trace("f"), 0.1) == {}
    assert of_others({"bob": A}, None, 0.1) == {}


def test_a_text_is_compared_from_25_words_on():
    words = [f"word{number}" for number in range(25)]
    assert LEAST_WORDS == 25
    assert text_trace(" ".join(words[:24])) is None
    made = text_trace(" ".join(words))
    assert (made.size, len(made.runs)) == (25, 22)  # runs of four
    assert text_trace("** " + ", ".join(words).upper() + "!").digest == made.digest


def test_code_is_compared_up_to_the_most_letters():
    code = "\n".join(f"a{number} = b{number} + {number}" for number in range(20))
    assert code_trace(code + "#" * (MOST_CODE - len(code))) is not None
    assert code_trace(code + "#" * (MOST_CODE - len(code) + 1)) is None
    assert MOST_CODE == 20_000


def test_the_stub_counts_for_nothing():
    stub = stub_trace("def f(x):\n    ...")
    code = "def f(x):\n" + "\n".join(f"    y{number} = x + {number}" for number in range(20))
    whole, own = code_trace(code), code_trace(code, stub)
    assert own.size == whole.size - stub.size
    assert own.runs == whole.runs - stub.runs
    assert own.digest == whole.digest
    long_stub = stub_trace(code)
    assert code_trace(code, long_stub) is None
    assert stub_trace("def f(") is None
