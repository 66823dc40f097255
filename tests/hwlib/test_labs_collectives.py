"""Collectives timed on real gloo ranks: sizes, counts and shapes are exact, times only above zero."""

from types import SimpleNamespace

import pytest

from hwlib.calibrated import Timed, fit_alpha_beta
from hwlib.labs import collectives


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(collectives, "SECONDS", 0.01)
    monkeypatch.setattr(collectives, "BATCHES", 3)


@pytest.mark.parametrize("name", collectives.NAMES)
def test_each_collective_is_timed_at_each_size(name):
    found = collectives.measure_collective(name, n=2, sizes=(1, 260, 64_000))
    assert [(row.S, row.n) for row in found] == [(8, 2), (256, 2), (64_000, 2)]
    assert all(isinstance(row, Timed) and 0 < row.time < 10 for row in found)


@pytest.mark.parametrize("name", collectives.NAMES)
def test_no_call_is_one_that_torch_is_giving_up(name):
    assert not hasattr(collectives._call(name, None, None).func, "__deprecated__")


def test_a_line_goes_through_what_was_measured():
    found = collectives.measure_collective(n=2, sizes=(64, 2**20, 2**22))
    model = fit_alpha_beta([row.S for row in found], [row.time for row in found])
    assert model.alpha > 0
    assert model.W > 0


def test_the_slowest_rank_and_the_median_batch_count(monkeypatch):
    ran = SimpleNamespace(results=[[[1.0, 5.0, 2.0], [7.0, 7.0, 7.0]], [[3.0, 4.0, 9.0], [6.0, 6.0, 6.0]]])
    monkeypatch.setattr("hwlib.labs.ranks.run_ranks", lambda *_, **__: ran)
    assert collectives.measure_collective(n=2, sizes=(8, 16)) == [Timed(8, 2, 5.0), Timed(16, 2, 7.0)]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: collectives.measure_collective("all_sum"), "one of all_reduce, all_gather"),
        (lambda: collectives.measure_collective(sizes=()), "sizes .*bytes"),
        (lambda: collectives.measure_collective(sizes=(0,)), "sizes .*bytes"),
    ],
)
def test_what_cannot_be_measured_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()
