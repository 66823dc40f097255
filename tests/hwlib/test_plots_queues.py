"""Figures of queues: what they draw is what they were given."""

import pytest

from hwlib import plots


def bars(axes):
    return [p for p in axes.patches if p.get_width()]


def test_a_row_is_waiting_and_then_service():
    (axes,) = plots.queue_rows([0.0, 1.0], [3.0, 1.0], [3.0, 3.0]).axes
    read = [(p.get_x(), p.get_width()) for p in bars(axes)]
    assert read == [(0.0, 3.0), (1.0, 2.0), (3.0, 1.0)]


def test_waits_cross_the_mark_at_their_formula():
    (axes,) = plots.wait_curves({"a": 0, "b": 3}, mark=0.5).axes
    assert [line.get_ydata()[0] for line in axes.lines[1:4:2]] == pytest.approx([0.5, 2.0])


def test_a_tail_falls_and_ends_where_the_last_requests_are():
    (axes,) = plots.stay_tails({"a": [float(k) for k in range(1000)]}).axes
    times, shares = axes.lines[0].get_data()
    assert list(shares) == sorted(shares, reverse=True)
    assert times[0] == 0
    assert all(1 - share == pytest.approx(time / 1000) for time, share in zip(times, shares, strict=True))


def test_shares_prices_and_hits_are_drawn_as_given():
    (axes,) = plots.kept_shares({"x": [(0.9, 0.8), (0.1, 0.7)]}, {"half": lambda t: t / 2}).axes
    assert list(axes.lines[0].get_ydata()) == [t / 2 for t in axes.lines[0].get_xdata()]
    assert list(axes.lines[1].get_xdata()) == [0.9, 0.1]
    assert list(axes.lines[1].get_ydata()) == [0.8, 0.7]
    (axes,) = plots.token_prices({"x": [(10, 1.0), (20, 2.0)]}).axes
    assert list(axes.lines[0].get_ydata()) == [1.0, 2.0]
    (axes,) = plots.hit_curves({"x": {1e6: 0.3}}).axes
    assert list(axes.lines[0].get_xdata()) == [1e6]
    (axes,) = plots.copy_or_compute({"wire": 5e9}, {"m": 7e9}).axes
    assert [p.get_width() for p in bars(axes)] == [5e9]
    (axes,) = plots.token_lengths({"t": [3, 1, 2]}).axes
    assert list(axes.lines[0].get_xdata()) == [1, 2, 3]
