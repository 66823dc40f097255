"""The typed rate of Mamba-2 against the published steps of Nemotron 3, in folds by model."""

import pytest

from benchmarks.fit.state_rates import (
    KIND,
    SHARES,
    StateStep,
    fitted_share,
    folds_by_model,
    mean_error,
    state_seconds,
    state_steps,
)
from benchmarks.rows.published import ROWS, steps
from hwlib.steptime.state_times import TRAINED_SHARE

KEPT = TRAINED_SHARE[KIND]


@pytest.fixture(scope="module")
def measured():
    return state_steps()


def test_a_share_is_found_where_steps_agree():
    for share in (0.1, 0.4, 0.9):
        truth = [StateStep("a", 5.0, 1.0 + i, 5.0 + (1.0 + i) * (KEPT / share - 1), True) for i in range(4)]
        assert fitted_share(truth) == pytest.approx(share)
        assert mean_error(truth, share) == pytest.approx(0)
    assert min(SHARES) < KEPT < max(SHARES)


def test_states_take_what_the_step_loses_without_them(monkeypatch):
    cases = {case.model.key: case for _, case in steps(ROWS, every=True) if case.model.mixer}
    assert len(cases) == 3
    kept = [(case.time(), state_seconds(case)) for case in cases.values()]
    monkeypatch.setattr("hwlib.steptime.state_times.TRAINED_SHARE", {KIND: 2 * KEPT})
    for case, (before, states) in zip(cases.values(), kept, strict=True):
        assert before - case.time() == pytest.approx(states / 2, rel=0.15)  # some of it hides transfers


def test_no_share_holds_of_two_models(measured):
    folds = {fold.model: fold for fold in folds_by_model(measured)}
    assert {name: fold.rows for name, fold in folds.items()} == {
        "nemotron-3-nano": 20,
        "nemotron-3-super": 15,
        "nemotron-3-ultra": 2,
    }
    assert folds["nemotron-3-super"].share > 1.5 * folds["nemotron-3-nano"].share  # from Nano; from Super
    assert all(fold.error > fold.kept for fold in folds.values())
    assert mean_error(measured, KEPT) < 0.13
