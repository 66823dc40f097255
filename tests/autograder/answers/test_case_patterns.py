"""What the right cases of a function have in common, and a relation that holds in all, is said as it is."""

import pytest

from autograder.answers.case_patterns import ENOUGH, numbers_in, off_by, right_where

ROWS = [{"`n`": n, "`k`": k} for n in (2, 3, 4, 8) for k in (1, 2, 4)]


@pytest.mark.parametrize(
    ("holds", "said"),
    [
        (lambda n, k: k == 1, "`k` is 1"),
        (lambda n, k: k != 4, "`k` is not 4"),
        (lambda n, k: n <= 3, "`n` is at most 3"),
        (lambda n, k: n > 3, "`n` is at least 4"),
        (lambda n, k: n > k, "`n` is more than `k`"),
        (lambda n, k: n % k == 0, "`n` is a multiple of `k`"),
        (lambda n, k: (n * k) % 3 == 1, ""),
        (lambda n, k: True, ""),
    ],
)
def test_a_condition_is_named_that_tells_all_cases_apart(holds, said):
    assert right_where(ROWS, [holds(*row.values()) for row in ROWS]) == said


@pytest.mark.parametrize(("right", "said"), [(ENOUGH, "`n` is at least 0"), (ENOUGH - 1, "")])
def test_a_few_cases_say_nothing(right, said):
    rows = [{"`n`": n} for n in range(-4, right)]
    assert right_where(rows, [row["`n`"] >= 0 for row in rows]) == said


@pytest.mark.parametrize(
    ("mine", "said"),
    [
        (lambda n, k: (n + k) * k, "In every case yours is what was expected times `k`."),
        (lambda n, k: (n + k) / n, "In every case yours is what was expected over `n`."),
        (lambda n, k: (n + k) * 2 * k, "In every case yours is what was expected times 2 times `k`."),
        (lambda n, k: n + k + 1, "In every case yours is 1 more than what was expected."),
        (lambda n, k: n + k - n * k, "In every case yours is `n` x `k` less than what was expected."),
        (lambda n, k: (n + k) * k / n, "In every case yours is what was expected over `n` over `k`."),
        (lambda n, k: (n + k) ** 1.5, ""),
        (lambda n, k: n + k, ""),
    ],
)
def test_a_relation_is_said_that_holds_in_every_case(mine, said):
    assert off_by(ROWS, [(mine(*row.values()), sum(row.values())) for row in ROWS]) == said


def test_numbers_are_found_in_lists_and_records():
    found = numbers_in(["W", "n", "c", "flag"], [[1, 2, 3], 4, {"K": 2, "x": "a"}, True])
    assert found == {"the length of `W`": 3, "`n`": 4, "`K`": 2}


SIZES = {
    "beyond floats": 10**6000,
    "below them": -(10**400),
    "at their end": 10**308,
    "tiny": 5e-324,
    "none": float("inf"),
}


@pytest.mark.parametrize("name", SIZES)
def test_results_of_any_size_are_related_or_not(name):
    size = SIZES[name]
    assert off_by(ROWS, [(size, sum(row.values())) for row in ROWS]) == ""
    assert numbers_in("n", [size]) == ({"`n`": size} if abs(size) < 10**309 else {})
