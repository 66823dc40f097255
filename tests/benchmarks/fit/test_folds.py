"""Folds of a table go by what was measured, and nothing else."""

import hashlib

from benchmarks.fit.folds import fold_of, folds


def test_a_group_is_in_the_fold_of_its_digests_low_bit():
    groups = [f"plan {n}" for n in range(200)]
    for group in groups:
        assert fold_of(group) == int(hashlib.sha256(group.encode()).hexdigest(), 16) % 2
    assert 60 < sum(map(fold_of, groups)) < 140


def test_rows_of_one_group_stay_together_in_their_order():
    rows = [(plan, release) for release in range(3) for plan in "abcdefgh"]
    parts = folds(rows, lambda row: row[0])
    assert not {plan for plan, _ in parts[0]} & {plan for plan, _ in parts[1]}
    assert all(part and part == sorted(part, key=rows.index) for part in parts)
    assert sorted(parts[0] + parts[1]) == sorted(rows)
